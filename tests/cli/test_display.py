"""Tables for people: what a terminal of 80 columns shows, and what a file gets."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from anabranch import Result, Scenario
from anabranch.media.terminal import show
from anabranch.report.views.loads import load_pieces
from anabranch.report.views.run import run_pieces

from .conftest import SMALL, Anabranch

SHORT_FLOWS = SMALL.replace(
    "[run]", 'flows = 4\ninter_arrival = "400 ms"\nsize = "10 kB"\ntransport = "linux-cubic"\n[run]'
)


@pytest.fixture(scope="module")
def short_flows() -> Result:
    """Four short transfers, one after another."""
    return Scenario.loads(SHORT_FLOWS).run()


def shown(result: Result, width: int) -> str:
    """What a terminal of so many columns shows."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    show(console, run_pieces("four transfers", result, Path("out")))
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def test_a_narrow_terminal_gets_fewer_columns_and_no_broken_word(short_flows: Result) -> None:
    narrow, wide = shown(short_flows, 80), shown(short_flows, 200)
    assert max(len(line) for line in narrow.splitlines()) <= 80
    for text in (narrow, wide):
        assert len(re.findall(r"^traffic\[0\]\.[0-3] ", text, re.MULTILINE)) == 4
        assert "goodput" in text
        assert "completion" in text
    said = re.sub(r"\s+", " ", narrow)
    assert "spurious" in wide
    assert "spurious" not in narrow[: narrow.index("traffic[0].0")]
    left_out = re.search(r"(\d+) columns left out at this width: ([^;]*); all of them in", said)
    assert left_out is not None
    assert int(left_out[1]) == len(left_out[2].split(", ")) >= 2
    assert "spurious" in left_out[2]
    assert "left out" not in wide


def test_a_column_without_a_value_is_not_shown(small: Path) -> None:
    unlimited = Scenario.load(small).run()
    assert unlimited.flows["completion_s"].to_list() == [None]
    assert "completion" not in shown(unlimited, 200)


def test_the_total_is_what_was_delivered_over_the_run(short_flows: Result) -> None:
    # Four times 10 kB in 2 s, however fast each of them was.
    assert "delivered in all 160 kbps over 2 s" in shown(short_flows, 200)


def test_a_file_gets_no_escapes_and_no_blanks_at_line_ends(anabranch: Anabranch, small: Path) -> None:
    for arguments in (["run", small], ["routes", small], ["topology", "list", "generator"]):
        printed = anabranch(*arguments).stdout
        assert printed.count("\n") >= 3
        assert "\x1b" not in printed
        assert re.findall(r"[ \t]+$", printed, re.MULTILINE) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="not here: a full device")
@pytest.mark.parametrize("arguments", [["topology", "list"], ["schema"], ["topology", "show", "grid"]])
def test_a_full_disk_below_standard_output_is_one_message(tmp_path: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "anabranch", *arguments],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "output cannot be written: No space left on device\n")


UNREACHABLE = """
[network]
topology = "dumbbell"
[network.links]
capacity = "100 Mbps"
delay = "1 ms"
[controller]
application = "forwarding"
[controller.links]
capacity = "100 Mbps"
delay = "1 ms"
[[traffic]]
from = "left1"
to = "right1"
flows = 3
[[event]]
at = "0 s"
node = "controller"
state = "down"
[run]
duration = "200 s"
flow_series = false
link_series = false
"""


def test_flows_that_were_given_up_are_told_with_the_reason() -> None:
    failed = shown(Scenario.loads(UNREACHABLE).run(), 80)
    assert "3 flows failed: the handshake was given up: the controller could not be reached" in " ".join(
        failed.split()
    )


def test_flows_that_still_wait_for_a_connection_are_told() -> None:
    waiting = " ".join(shown(Scenario.loads(UNREACHABLE.replace("200 s", "20 s")).run(), 80).split())
    assert "3 flows had no connection when the run ended" in waiting
    assert "packets of 3 of them were lost on the way to or from the controller" in waiting
    assert "failed" not in waiting


def test_flows_in_order_have_no_line_about_failures(short_flows: Result) -> None:
    text = shown(short_flows, 200)
    assert "failed" not in text
    assert "no connection" not in text


def test_a_load_above_the_capacity_is_marked_and_one_below_is_not() -> None:
    data = {
        "network": {"topology": "sndlib/nobel-us", "links": {"capacity": "500 Mbps"}},
        "routing": {"scheme": "shortest", "demand": {"ingress": "400 Mbps", "egress": "400 Mbps"}},
        "traffic": [{"from": "*", "to": "*"}],
        "run": {"duration": "1 s"},
    }
    loads = Scenario.from_data(data).worst_case()
    assert loads.max_load > 1 > min(link.load for link in loads.links)
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    show(console, load_pieces(loads, loads.worst.link))
    file = console.file
    assert isinstance(file, io.StringIO)
    text = file.getvalue()
    assert f"! {loads.max_load:.4f}" in text
    assert "! overload: more traffic than the link can carry" in text
    marked = re.findall(
        r"(! )?(\d\.\d{4}) +[+-]\d+\.\d%$", text.partition("Traffic that loads")[0].replace(" \n", "\n"), re.M
    )
    assert len(marked) == 15
    assert all(bool(mark) == (float(load) > 1) for mark, load in marked)


def test_latencies_have_a_table_and_flows_none_where_there_are_none() -> None:
    traffic = 'application = { kind = "ping", interval = "100 ms" }\nname = "ping"\n[run]'
    pinged = Scenario.loads(SMALL.replace("[run]", traffic)).run()
    (row,) = pinged.datagram_flows.to_dicts()
    text = shown(pinged, 200)
    (line,) = re.findall(r"^ping\.0 .*$", text, re.MULTILINE)
    assert line.split()[:2] == ["ping.0", "RTT"]
    # 84 B over 100, 10 and 100 Mbps and 3 ms, there and back.
    assert row["latency_p50_ms"] == pytest.approx(2 * (3 + 0.0672 + 2 * 0.00672), rel=1e-6)
    assert line.split().count("6.161") == 4
    assert "goodput" not in text
    assert "four transfers" in text
    narrow = shown(pinged, 80)
    assert max(len(line) for line in narrow.splitlines()) <= 80
    assert "median" in narrow


def test_unfinished_flows_have_bounds_and_are_counted() -> None:
    """Over a slow link some of the four transfers are under way when the run ends."""
    result = Scenario.loads(SHORT_FLOWS, {"network.links.capacity": "100 kbps", "run.duration": "2 s"}).run()
    text = shown(result, 200)
    done = result.flows["completion_s"].drop_nulls().len()
    assert done < 4
    assert f"{done} of 4 flows done, {4 - done} unfinished; completion: median > " in text
    rows = [line for line in text.splitlines() if line.startswith("traffic[0]")]
    assert sum("> " in line for line in rows) == 4 - done
