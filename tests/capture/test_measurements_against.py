"""A measurement beside a run, or beside another one: differences, lines, the page, the command."""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anabranch import Scenario
from anabranch.errors import ResultError
from anabranch.report.html import capture_report
from anabranch.runs.against import MEASURES, against
from anabranch.runs.capture import CaptureResult, analyze

from .conftest import Anabranch

DATA = Path(__file__).parent / "measurements"
RUN = """
title = "two hosts"
[network]
topology = "dumbbell"
parameters = { hosts = 2, bottleneck_capacity = "10 Mbps", bottleneck_delay = "5 ms" }
[network.links]
capacity = "1 Gbps"
delay = "1 ms"
[[traffic]]
from = ["left1", "left2"]
to = ["right1", "right2"]
pairs = "in-order"
transport = "linux-cubic"
[run]
duration = "3 s"
sample_interval = "500 ms"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "simulated"
    Scenario.loads(RUN).run(out=folder, page=False)
    return folder


@pytest.fixture(scope="module")
def compared(run: Path) -> CaptureResult:
    return against(analyze([DATA / "iperf3_tcp.json"]), run)


def difference(result: CaptureResult, name: str, measure: str) -> tuple[float, float, float]:
    row = result.tables["against"].filter(name=name, measure=MEASURES[measure]).row(0, named=True)
    return row["value"], row["other_value"], row["difference_percent"]


def test_values_of_both_stand_beside_each_other(compared: CaptureResult, run: Path) -> None:
    flows = CaptureResult.load(run).flows
    measured = compared.connections["throughput_mbps"].to_list()
    for number, name in enumerate(("stream 5", "stream 7")):
        value, other, percent = difference(compared, name, "throughput_mbps")
        assert (value, other) == (measured[number], flows["goodput_mbps"][number])
        assert percent == pytest.approx((other / value - 1) * 100)
    value, other, _ = difference(compared, "all 2", "throughput_mbps")
    assert (value, other) == (pytest.approx(sum(measured)), pytest.approx(flows["goodput_mbps"].sum()))
    assert difference(compared, "all 2", "retransmissions")[1] == flows["retransmissions"].sum()
    # iperf3 has no samples of round-trip times, so that they are not compared; both have the smoothed one.
    assert MEASURES["rtt_mean_ms"] not in compared.tables["against"]["measure"].to_list()
    series = CaptureResult.load(run).flow_series.filter(flow=0)
    assert difference(compared, "stream 5", "srtt_mean_ms")[1] == pytest.approx(series["srtt_ms"].mean())


def test_lines_of_both_are_on_one_grid(compared: CaptureResult, run: Path) -> None:
    """The interval of iperf3 is 1 s, that of the run 0.5 s: both in steps of a second; counts are sums."""
    lines = compared.tables["against_series"]
    for side in ("measured", "other"):
        whole = lines.filter(side=side, name="all 2")
        assert whole["time_s"].to_list() == pytest.approx([1.0, 2.0, 3.0], abs=1e-3)
    other = lines.filter(side="other", name="traffic[0].0")
    series = CaptureResult.load(run).flow_series.filter(flow=0)
    first = series.filter(series["time_s"] <= 1.0)
    assert other["throughput_mbps"][0] == pytest.approx(first["goodput_mbps"].mean())
    assert other["retransmissions"].sum() == pytest.approx(series["retransmissions"].max())
    measured = lines.filter(side="measured", name="stream 5")["throughput_mbps"].to_list()
    assert measured == pytest.approx([20.97, 19.92, 19.92], abs=0.01)


def test_flows_in_another_number_are_not_paired(run: Path) -> None:
    one = against(analyze([DATA / "ss_two.txt"], ports=[40002]), run)
    assert one.tables["against"]["name"].unique().to_list() == ["all 1"]
    assert any(
        "1 flows were measured, and 2 are beside them" in note for note in one.summary["against"]["notes"]
    )


def test_a_measurement_beside_itself_has_no_difference() -> None:
    same = against(analyze([DATA / "ss_two.txt"]), DATA / "ss_two.txt")
    table = same.tables["against"]
    assert table.height > 5
    assert table["value"].equals(table["other_value"])
    assert set(table["difference_percent"].drop_nulls()) == {0.0}
    lines = same.tables["against_series"].drop("side", "flow")
    half = lines.height // 2
    assert lines.head(half).equals(lines.tail(half))


def document(page: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def test_the_page_has_both_in_one_chart(compared: CaptureResult) -> None:
    page = capture_report(compared)
    assert "<h2>Beside simulated</h2>" in page
    assert "measured by iperf 3.12; unknown: losses, reordered packets" in page
    lines = document(page)["against"]["lines"]
    labels = [line["label"] for line in lines["lines"]]
    assert [label.partition(": ")[0] for label in labels] == ["measured"] * 3 + ["simulated"] * 3
    assert [labels[line] for line in lines["shown"]] == ["measured: all 2", "simulated: all 2"]
    titles = [axis["title"] for axis in lines["axes"]]
    assert titles == ["Throughput", "Smoothed RTT", "Congestion window", "Retransmissions"]
    column = lines["axes"][0]["values"]
    values = np.frombuffer(base64.b64decode(column["base64"]), dtype=f"<{column['kind']}").reshape(6, -1)
    assert values.shape[1] == 3
    assert not np.isnan(values).any()


def test_a_page_has_no_chart_of_what_is_unknown() -> None:
    page = capture_report(analyze([DATA / "dish.json"]))
    data = document(page)
    assert [axis["title"] for axis in data["lines"]["axes"]] == ["Throughput", "RTT of data segments"]
    assert data["rtts"] is None
    # Nor a card, on which nothing would read as 0.
    assert "Retransmitted" not in page


def test_the_command_compares_and_its_folder_is_reported_again(
    run: Path, anabranch: Anabranch, tmp_path: Path
) -> None:
    measured = DATA / "iperf3_tcp.json"
    done = anabranch("capture", measured, "--against", run, "--out", "both")
    assert done.returncode == 0, done.stderr
    assert "Beside simulated" in done.stdout
    assert "unknown: losses, reordered packets" in done.stdout
    page = (tmp_path / "both" / "report.html").read_text(encoding="utf-8")
    assert anabranch("report", "both").returncode == 0
    assert (tmp_path / "both" / "report.html").read_text(encoding="utf-8") == page
    as_json = json.loads(anabranch("capture", measured, "--against", run, "--json").stdout)
    assert {"against", "against_series", "subflows"} <= as_json.keys()
    # The folder of a measurement is something to compare with, too.
    again = anabranch("capture", measured, "--against", "both")
    assert (again.returncode, "+0.0" in again.stdout) == (0, True)
    for other, said in (("none", "none: is not there"), (tmp_path, "not a result folder")):
        done = anabranch("capture", measured, "--against", other)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_standard_input_is_read_where_its_format_is_named() -> None:
    command = [sys.executable, "-m", "anabranch", "capture", "-", "--format", "ss", "--json"]
    with (DATA / "ss_two.txt").open() as log:
        done = subprocess.run(command, stdin=log, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
    assert [each["acked_bytes"] for each in json.loads(done.stdout)["subflows"]] == [4_750_001, 500_000]


def test_another_kind_of_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResultError, match="not a result folder"):
        against(analyze([DATA / "dish.json"]), tmp_path / "empty")
