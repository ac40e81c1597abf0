"""The page of a live run: lines of its simulation beside its own."""

from pathlib import Path

import polars as pl
import pytest
from reader import Reader

from anabranch import Result, Scenario
from anabranch.report.html import save_run_report
from anabranch.report.html.run_data import run_document

pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")

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
    assert [name in both for name in ("one.0:", "one.0, simulated:", "two.0, simulated:")] == [True] * 3
    reader.page.get_by_role("button", name="simulated (thin and pale)").click()
    alone = drawn.get_attribute("aria-label") or ""
    assert "one.0:" in alone
    assert "simulated" not in alone
    assert reader.page.evaluate("document.activeElement.dataset.key") == "simulated"
    assert "goodput, simulated" in " ".join(reader.texts("#flow-table th"))


def test_samples_of_both_stand_at_the_same_steps(result: Result) -> None:
    series = run_document(result)["flow_series"]
    assert series["simulated"]["own"]["srtt_ms"] != series["own"]["srtt_ms"]
    assert len(series["simulated"]["all"]["srtt_ms"]["base64"]) == len(series["all"]["srtt_ms"]["base64"])


def test_a_simulated_run_has_no_second_lines(result: Result) -> None:
    tables = {name: table for name, table in result.tables.items() if name != "simulated_flow_series"}
    assert "simulated" not in run_document(Result(tables, result.summary))["flow_series"]
