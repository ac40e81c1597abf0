"""Latencies as metrics: those of the run, and what a fair queue does to them."""

from pathlib import Path

import polars as pl

from anabranch import Scenario, Study

RRUL = Path(__file__).parents[2] / "examples" / "rrul.toml"
METRICS = """
[[metric]]
name = "ping_p99_ms"
table = "datagram_flows"
column = "latency_p99_ms"
where = { kind = "ping" }
[[metric]]
name = "longest_ms"
table = "datagram_series"
column = "latency_max_ms"
statistic = "max"
"""


def test_metrics_of_latency_are_those_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "rrul.toml").write_text(RRUL.read_text(encoding="utf-8"), encoding="utf-8")
    factor = '[[factor]]\nfield = "network.links.queue"\nlevels = ["500 packets", "fq-codel"]\n'
    (tmp_path / "study.toml").write_text(f'scenario = "rrul.toml"\n{factor}{METRICS}', encoding="utf-8")
    cells = Study.load(tmp_path / "study.toml").run(jobs=1).cells
    entries = {}
    for queue, p99, longest in cells.select("queue", "ping_p99_ms", "longest_ms").iter_rows():
        result = Scenario.load(RRUL, {"network.links.queue": queue}).run()
        (ping,) = result.datagram_flows.filter(pl.col("kind") == "ping")["latency_p99_ms"]
        assert (p99, longest) == (ping, result.datagram_flows["latency_max_ms"].max())
        entries[queue] = ping
    # The path takes 30 ms there and back; 500 packets of 1500 B wait 300 ms at 20 Mbps.
    assert entries["fq-codel"] < 40
    assert entries["500 packets"] > 200
