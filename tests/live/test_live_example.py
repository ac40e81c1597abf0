"""The example of real programs, as its file says to run it, in short."""

import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest
from live_scenarios import LiveRun

from anabranch import Scenario
from anabranch.live import Asked, HostProgram

EXAMPLE = Path(__file__).parents[2] / "examples" / "programs.toml"
SHORTER = {
    "--time 25": "--time 5",
    "in 1 2 3 4 5;": "in 1 2;",
    "sleep 4;": "sleep 1;",
    "head -c 1M": "head -c 100k",
}


def programs() -> tuple[HostProgram, ...]:
    """What the comment of the file has behind --exec, shorter."""
    text = EXAMPLE.read_text(encoding="utf-8")
    comment = "\n".join(line.removeprefix("#") for line in text.splitlines() if line.startswith("#"))
    command = comment[comment.index("sudo ") :].replace("\\\n", " ")
    for long, short in SHORTER.items():
        assert long in command
        command = command.replace(long, short)
    words = shlex.split(command)
    return tuple(HostProgram.read(words[place + 1]) for place, word in enumerate(words) if word == "--exec")


@pytest.mark.skipif(
    not all(map(shutil.which, ("iperf3", "curl"))), reason="not installed: iperf3 and curl, one or both"
)
def test_iperf3_and_curl_cross_abilene_while_a_link_fails(live_run: LiveRun, tmp_path: Path) -> None:
    scenario = Scenario.load(EXAMPLE).replace(
        {"run.duration": "14 s", "event[0].at": "3 s", "event[1].at": "5 s"}
    )
    before = sorted(Path("/mnt").iterdir())
    out = tmp_path / "out"
    result = live_run(scenario, asked=Asked(programs()), out=out, page=False, replace=True)
    programs_one = result.summary["live"]["programs"]
    said = [(out / program["output"]).read_text() for program in programs_one]
    # The server of iperf3 ends with its client, the web server with the run.
    assert [program["status"] for program in programs_one] == [0, 0, None, 0], said
    assert "iperf Done" in said[1]
    times = [float(seconds) for seconds in re.findall(r"([0-9.]+) s", said[3])]
    assert len(times) == 2
    # A request takes two round trips or more.
    assert min(times) > 0.02
    conversations = result.tables["conversations"]
    tested = conversations.filter(pl.col("destination_port") == 5201).sort("bytes_sent").row(-1, named=True)
    assert (tested["from"], tested["to"]) == ("Seattle", "Atlanta")
    assert tested["bytes_received"] > 2_000_000
    pages = conversations.filter(pl.col("destination_port") == 80)
    assert pages["back_bytes_received"].sum() > 2 * 100_000
    (failed,) = result.links.filter(pl.col("name") == "Denver->Kansas City")["link"].to_list()
    series = result.link_series.filter(pl.col("link") == failed)
    assert series.filter(pl.col("time_s").is_between(3.15, 4.95))["throughput_mbps"].sum() == 0
    assert series.filter(pl.col("time_s") < 2.95)["throughput_mbps"].max() > 5
    assert sorted(Path("/mnt").iterdir()) == before
