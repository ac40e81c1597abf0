"""The page of a live run: lines of its simulation beside its own."""

from pathlib import Path

import polars as pl
import pytest
from reader import Reader

from anabranch import Result, Scenario
from anabranch.report.html import save_run_report
from anabranch.report.html.run_data import run_document

pytest.importorskip("playwright.sync_api", reason="not installed: Playwright")

TWO = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
bottleneck_capacity = "10 Mbps"
access_capacity = "100 Mbps"
[network.links]
delay = "5 ms"
queue = "20 packets"
[[traffic]]
name = "one"
from = "left1"
to = "right1"
transport = "linux-cubic"
[[traffic]]
name = "two"
from = "left2"
to = "right2"
transport = "linux-reno"
[run]
duration = "2 s"
"""


ONE_AND_TWO = (
    "one.0 (linux-cubic):", "one.0 (linux-cubic), simulated:", "two.0 (linux-reno), simulated:",
)  # fmt: skip


@pytest.fixture(scope="module")
def result() -> Result:
    """What a live run with its simulation leaves, here with the numbers of two simulations."""
    scenario = Scenario.loads(TWO)
    run, other = scenario.run(), scenario.replace({"network.links.queue": "60 packets"}).run()
    against = run.flows.select("flow").with_columns(simulated_goodput_mbps=other.flows["goodput_mbps"])
    tables = {
        **run.tables,
        "flows": run.flows.with_columns(hosts=pl.lit("kernel")),
        "against": against,
        "simulated_flow_series": other.flow_series,
    }
    live = {
        "kernel": "6.1.0",
        "valid": False,
        "flows_real": 2,
        "check": {"lateness_p99_us": 1234.0},
        "against": {"flows": 2, "refused": "the live run is not valid: late"},
    }
    return Result(tables, {**run.summary, "live": live})


def test_a_live_run_and_its_simulation_share_charts(reader: Reader, result: Result, tmp_path: Path) -> None:
    reader.open(save_run_report(result, tmp_path, TWO))
    cards = dict(zip(reader.texts(".card .label"), reader.texts(".card .value"), strict=True))
    assert cards["Live"] == "2 s"
    assert cards["Kernel"] == "6.1.0"
    assert cards["Self-check"] == "not valid"
    assert "Simulated" not in cards
    # Nothing follows from a run that is not valid.
    assert "Simulation differs by" not in cards
    assert "simulated (thin and pale)" in reader.texts("#series-legend button")
    drawn = reader.page.locator("#goodput-chart .canvas")
    both = drawn.get_attribute("aria-label") or ""
    assert [name for name in ONE_AND_TWO if name not in both] == []
    reader.page.get_by_role("button", name="simulated (thin and pale)").click()
    alone = drawn.get_attribute("aria-label") or ""
    assert "one.0 (linux-cubic):" in alone
    assert "simulated" not in alone
    assert reader.page.evaluate("document.activeElement.dataset.key") == "beside"
    assert "goodput, simulated" in " ".join(reader.texts("#flow-table th"))


def test_samples_of_both_stand_at_the_same_steps(result: Result) -> None:
    series = run_document(result)["flow_series"]
    for ours, simulated in zip(series["axes"], series["simulated"], strict=True):
        assert simulated != ours["values"]
        assert len(simulated["base64"]) == len(ours["values"]["base64"])


def test_a_simulated_run_has_no_second_lines(result: Result) -> None:
    tables = {name: table for name, table in result.tables.items() if name != "simulated_flow_series"}
    assert run_document(Result(tables, result.summary))["flow_series"]["simulated"] is None


MULTIPATH = """
[network]
topology = "parallel"
parameters = { paths = [{ capacity = "10 Mbps", delay = "5 ms" }, { capacity = "10 Mbps", delay = "20 ms" }] }
[network.links]
queue = "50 packets"
[routing]
scheme = "disjoint"
load_balancing = "subflow-round-robin"
[transport.two]
preset = "mptcp-cubic"
path_manager = { algorithm = "ndiffports", subflows = 2 }
[[traffic]]
from = "source"
to = "sink"
transport = "two"
[run]
duration = "2 s"
"""


def test_paths_have_lines_of_both(reader: Reader, tmp_path: Path) -> None:
    run = Scenario.loads(MULTIPATH).run()
    other = Scenario.loads(MULTIPATH, {"network.links.queue": "20 packets"}).run()
    tables = {**run.tables, "simulated_subflow_series": other.subflow_series}
    reader.open(save_run_report(Result(tables, run.summary), tmp_path, MULTIPATH))
    drawn = reader.page.locator("#path-chart .canvas")
    both = drawn.get_attribute("aria-label") or ""
    names = ["path1 (1):", "path1 (1), simulated:", "all paths:", "all paths, simulated:"]
    assert [name for name in names if name not in both] == []
    reader.page.locator("#path-legend").get_by_role("button", name="simulated (thin and pale)").click()
    alone = drawn.get_attribute("aria-label") or ""
    assert "all paths:" in alone
    assert "simulated" not in alone
    assert reader.page.evaluate("document.activeElement.dataset.key") == "beside"
