"""The scenarios of examples/classroom: each shows its point, and each change that it proposes matters."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anabranch import Result, Scenario

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "classroom"
FILES = sorted(FOLDER.glob("*.toml"))
PAGE = (ROOT / "docs" / "classroom.md").read_text(encoding="utf-8")
CHANGE = re.compile(r"^# (\d)\. ", re.MULTILINE)


def run(name: str, changes: dict[str, Any] | None = None) -> Result:
    return Scenario.load(FOLDER / f"{name}.toml", changes or {}).run()


def of(result: Result, column: str, table: str = "flows") -> dict[str, float]:
    """The column by the names of flows, without their numbers."""
    rows = result.tables[table].select("name", column).rows()
    return {name.removesuffix(".0"): value for name, value in rows}


def goodputs(name: str, changes: dict[str, Any] | None = None) -> dict[str, float]:
    return of(run(name, changes), "goodput_mbps")


def lost(changes: dict[str, Any]) -> int:
    return int(run("slow_start", changes).flows["retransmissions"][0])


def test_there_are_five() -> None:
    assert len(FILES) == 5


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_has_a_picture_and_three_things_to_change(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert CHANGE.findall(text) == ["1", "2", "3"]
    for command in re.findall(r"^# +(anabranch run .*)$", text, re.MULTILINE):
        assert f"examples/classroom/{file.name}" in command
    pictures = re.findall(r"figures/([\w-]+)\.png", text)
    assert pictures
    assert set(pictures) <= set(run(file.stem).plot.names())
    (section,) = [part for part in PAGE.split("\n## ") if f"examples/classroom/{file.name}`" in part]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 3, "a head and three changes"
    assert f"](figures/classroom-{file.stem}.png)" in section
    assert (ROOT / "docs" / "figures" / f"classroom-{file.stem}.png").is_file()


def test_the_window_doubles_and_overshoots() -> None:
    log = run("slow_start").log
    start = log.filter(pl.col("time_s") < log.filter(pl.col("event") == "reduction")["time_s"][0])
    rounds = [
        start.filter(pl.col("time_s") < 0.1 + 0.05 * number)["cwnd_bytes"].max() / (1448 * 20)
        for number in (1, 2, 3)
    ]
    assert rounds == pytest.approx([1, 2, 4], rel=0.02)
    # What the path and its queue hold, and a round trip of sending at twice the rate.
    assert 140 <= lost({}) <= 200


def test_slow_start_changes() -> None:
    assert lost({"transport.sender.preset": "linux-cubic"}) < lost({}) / 10
    assert lost({"network.link[1].queue": "200 packets"}) > 1.5 * lost({})
    short = run("slow_start", {"network.link[1].queue": "17 packets"})
    assert short.flows["goodput_mbps"][0] < 0.7 * run("slow_start").flows["goodput_mbps"][0]
    early = run("slow_start", {"transport.sender.initial_window_segments": 40})
    first = early.log.filter(pl.col("event") == "reduction")["time_s"][0]
    # 40 segments are two doublings of 10: two round trips of 50 ms.
    assert run("slow_start").log.filter(pl.col("event") == "reduction")["time_s"][0] - first == (
        pytest.approx(0.1, abs=0.05)
    )


def test_the_far_flow_has_less_than_its_share_of_round_trips() -> None:
    result = run("unequal_rtts")
    rate, rtt = of(result, "goodput_mbps"), of(result, "rtt_mean_ms")
    ratio = rate["near"] / rate["far"]
    times = rtt["far"] / rtt["near"]
    assert times < ratio < 1.5 * times**2, "between RTT^-1 and RTT^-2 (Lakshman and Madhow 1997)"


def test_unequal_rtts_changes() -> None:
    def ratio(changes: dict[str, Any] | None = None) -> float:
        rate = goodputs("unequal_rtts", changes)
        return rate["near"] / rate["far"]

    by = {
        name: ratio({"traffic[0].transport": name, "traffic[1].transport": name})
        for name in ("cubic", "bbr", "bbr3")
    }
    reno = ratio()
    assert by["bbr"] < by["bbr3"] < by["cubic"] < reno / 2
    assert ratio({"network.link[2].queue": "fq-codel"}) < 1.5


def test_codel_keeps_the_queue_short() -> None:
    result = run("bufferbloat")
    median, largest = (
        of(result, column, "datagram_flows") for column in ("latency_p50_ms", "latency_max_ms")
    )
    path_ms = 20
    assert median["fifo"] - path_ms > 200
    assert median["codel"] - path_ms < 5, "the target of CoDel"
    assert median["fq-codel"] - path_ms < median["codel"] - path_ms
    # An own queue: a ping waits for the packet that is being sent, 1.2 ms at 10 Mbps.
    assert largest["fq-codel"] - path_ms < 2
    rates = result.flows["goodput_mbps"]
    assert min(rates) > 0.97 * max(rates)


def test_bufferbloat_changes() -> None:
    def median(changes: dict[str, Any]) -> dict[str, float]:
        return of(run("bufferbloat", changes), "latency_p50_ms", "datagram_flows")

    before = median({})
    assert before["codel"] < median({"network.link[1].queue": "30 packets"})["fifo"] < before["fifo"] / 4
    assert median({"network.link[1].queue": "1 BDP"})["fifo"] < before["fifo"] / 4
    assert median({"traffic[0].transport": "bbr"})["fifo"] < before["fifo"] / 4
    assert median({"network.link[2].queue.target": "20 ms"})["codel"] > before["codel"] + 10
    # Two packets of 12 ms each are more than the target.
    assert median({"network.links.capacity": "1 Mbps"})["codel"] > before["codel"] + 12


def test_reordering_looks_like_loss_to_newreno_alone() -> None:
    result = run("spraying")
    assert result.links["drops_queue"].sum() == 0
    rate = of(result, "goodput_mbps")
    assert rate["newreno"] < 0.2 * rate["rack"]
    assert min(rate["rack"], rate["tcp-pr"]) > 0.9 * 20
    assert of(result, "retransmissions")["newreno"] == of(result, "spurious_retransmissions")["newreno"] > 0


def test_spraying_changes() -> None:
    far = goodputs("spraying", {"network.link[6].delay": "100 ms"})
    assert far["rack"] < far["tcp-pr"] / 3
    for choice in ("hash", '{ algorithm = "flowlet", gap = "10 ms" }'):
        assert min(goodputs("spraying", {"routing.load_balancing": choice}).values()) > 0.9 * 20


def over(result: Result, flow: int, first_s: float, last_s: float) -> float:
    """Mean goodput of a flow in Mbps."""
    series = result.flow_series.filter(
        (pl.col("flow") == flow) & pl.col("time_s").is_between(first_s, last_s, closed="right")
    )
    return float(series["goodput_mbps"].mean())  # type: ignore[arg-type]


def fast_again_s(result: Result) -> float:
    series = result.subflow_series.filter(
        (pl.col("subflow") == 0) & (pl.col("time_s") > 5) & (pl.col("throughput_mbps") > 5)
    )
    return float(series["time_s"][0])


def test_multipath_tcp_goes_on_while_tcp_waits() -> None:
    result = run("mptcp_failover")
    tcp, mptcp = 0, 1
    assert over(result, tcp, 5, 10) == 0
    assert over(result, mptcp, 4.4, 5.4) < 2, "timers, and a block at each"
    assert over(result, mptcp, 7, 10) == pytest.approx(7.6, rel=0.01), "the slow path's 8 Mbps, less headers"
    assert over(result, mptcp, 1, 4) > over(result, tcp, 1, 4) + 5
    assert 11 < fast_again_s(result) < 13


def test_mptcp_failover_changes() -> None:
    def outage(until: str, more: dict[str, Any]) -> Result:
        return run("mptcp_failover", {"event[2].at": until, "event[3].at": until} | more)

    assert fast_again_s(outage("7 s", {})) - 7 < 1.5
    assert fast_again_s(outage("14 s", {"run.duration": "30 s"})) - 14 > 3
    redundant = run("mptcp_failover", {"transport.multipath.scheduler": "redundant"})
    assert over(redundant, 1, 1, 4) < 20
    assert over(redundant, 1, 4.2, 4.6) > 5, "no gap"
    text = (FOLDER / "mptcp_failover.toml").read_text(encoding="utf-8")
    event = '[[event]]\nat = "0 s"\naddress = ["mptcp", "slow"]\nbackup = true\n'
    backup = Scenario.loads(text.replace("[run]", event + "[run]"), origin="backup").run()
    assert over(backup, 1, 1, 4) < 20
    assert over(backup, 1, 5, 10) == pytest.approx(7.6, rel=0.1)
