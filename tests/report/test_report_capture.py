"""The page of captures: what it holds, and what it shows in a browser."""

import base64
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from html_runs import EVIL, shown
from numpy.typing import NDArray
from reader import Reader
from typer.testing import CliRunner

from anabranch import Result
from anabranch.report.html import capture_report, save_capture_report
from anabranch.report.views.capture import CONNECTIONS, RARE, SUBFLOWS
from anabranch.runs.capture import CaptureResult, analyze
from anabranch.terminal.cli import app


@pytest.fixture(scope="module")
def folder(run_with_captures: tuple[Result, Path]) -> Path:
    return run_with_captures[1]


@pytest.fixture(scope="module")
def captured(folder: Path) -> CaptureResult:
    return analyze([folder / "left1.pcapng", folder / "left2.pcapng"], interval="100 ms")


def document(page: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def values(column: dict[str, str]) -> NDArray[np.float64]:
    data = np.frombuffer(base64.b64decode(column["base64"]), dtype=f"<{column['kind']}")
    return data.astype(np.float64)


def lines_of(lines: dict[str, Any], title: str) -> NDArray[np.float64]:
    """The values of a row for each line, by the beginning of the chart's title."""
    (axis,) = (axis for axis in lines["axes"] if axis["title"].startswith(title))
    return values(axis["values"]).reshape(len(lines["lines"]), -1)


def test_lines_are_those_of_the_tables(captured: CaptureResult) -> None:
    page = document(capture_report(captured))
    lines, times = page["lines"], values(page["lines"]["times"])
    series = captured.subflow_series
    ports = captured.subflows["client_port"].to_list()
    names = [f"10.0.0.{i}:{port} to 10.0.0.{4 + i}:5001" for i, port in enumerate(ports)]
    assert [line["label"] for line in lines["lines"]] == ["all 2 subflows", *names]
    for title, name in (
        ("Throughput", "throughput_mbps"),
        ("RTT", "rtt_ms"),
        ("Retransmissions per 100 ms", "retransmissions"),
        ("Reordering per 100 ms", "reordered_packets"),
    ):
        rows = lines_of(lines, title)
        for subflow in (0, 1):
            rows_of_one = series.filter(subflow=subflow).select("time_s", name).drop_nulls()
            at = np.searchsorted(times, rows_of_one["time_s"].to_numpy())
            assert rows[1 + subflow, at] == pytest.approx(rows_of_one[name].to_numpy(), rel=1e-6)
    whole = lines_of(lines, "Retransmissions")[0]
    assert whole.sum() == captured.subflows["retransmissions"].sum() > 10
    for subflow, curve in enumerate(page["rtts"]["curves"][1:]):
        rtts, shares = values(curve["values"]), values(curve["shares"])
        assert shares[-1] == pytest.approx(1)
        # The median is in the step where the share passes a half; a step is 1.6 % wide.
        median = captured.subflows["rtt_p50_ms"][subflow]
        assert rtts[np.searchsorted(shares, 0.5)] == pytest.approx(median, rel=0.016)


def test_many_steps_and_many_subflows_are_merged_with_a_word(captured: CaptureResult, folder: Path) -> None:
    fine = analyze([folder / "left1.pcapng"], interval="1 ms")
    page_data = document(capture_report(fine))
    count = len(values(page_data["lines"]["times"]))
    assert 300 < count <= 600
    assert "samples in a row are one step" in capture_report(fine)
    # A count is told by the time of a step, not of a sample.
    total = lines_of(page_data["lines"], "Retransmissions per 6 ms")[0].sum()
    assert total == fine.subflows["retransmissions"].sum()
    tables = dict(captured.tables)
    tables["subflows"] = pl.concat(
        [captured.subflows.head(1).with_columns(pl.lit(n, pl.UInt64).alias("subflow")) for n in range(30)]
    )
    page = capture_report(CaptureResult(tables, captured.summary))
    assert len(document(page)["lines"]["lines"]) == 1 + 20
    assert "20 of 30 subflows have lines of their own" in page


def test_names_of_files_are_text(captured: CaptureResult) -> None:
    summary = {**captured.summary, "captures": [EVIL], "warnings": [EVIL]}
    page = capture_report(CaptureResult(captured.tables, summary))
    assert EVIL not in page
    assert "&lt;script&gt;" in page


def test_the_command_writes_the_page_and_writes_it_anew(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "measured"
    done = CliRunner().invoke(app, ["capture", str(folder / "left1.pcapng"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<h1>left1.pcapng</h1>" in page
    (out / "report.html").unlink()
    done = CliRunner().invoke(app, ["report", str(out)])
    assert done.exit_code == 0, done.output
    assert (out / "report.html").read_text(encoding="utf-8") == page
    # Captures have no figures for print, which is said before anything is written.
    done = CliRunner().invoke(app, ["report", str(out), "--figures", "pdf", "--out", str(tmp_path / "other")])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "captures have no figures for print, only the page; leave out --figures" in done.stderr
    assert not (tmp_path / "other").exists()
    # And is replaced with the rest.
    done = CliRunner().invoke(app, ["capture", str(folder / "left2.pcapng"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "<h1>left2.pcapng</h1>" in (out / "report.html").read_text(encoding="utf-8")


def test_tables_of_the_page_are_those_of_the_terminal_with_all_columns(captured: CaptureResult) -> None:
    page = document(capture_report(captured))
    for part, frame, names in (
        ("connections", captured.connections, CONNECTIONS),
        ("subflows", captured.subflows, SUBFLOWS),
    ):
        columns = shown(page[part])
        measured = [
            name
            for name in names
            if name in frame.columns
            and frame[name].null_count() < frame.height
            and not (name in RARE and not frame[name].sum())
        ]
        assert list(columns) == measured
        assert columns["client"] == frame["client"].to_list()
        # Ports are names, without thousands.
        (port,) = (column for column in page[part]["columns"] if column["key"] == "server_port")
        assert port["plain"]
        assert values(port["data"]).tolist() == frame["server_port"].to_list()


def without_acks(capture: bytes) -> bytes:
    """A pcapng file of a run without the packets to the client."""
    kept, at = bytearray(), 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        block = capture[at : at + length]
        at += length
        # An enhanced packet block: 28 bytes, and 12 of IPv4 to the source address.
        if kind != 6 or block[28 + 12 :].startswith(bytes([10, 0, 0, 0])):
            kept += block
    return bytes(kept)


def test_what_was_not_captured_is_nothing_and_not_zero(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "data.pcapng").write_bytes(without_acks((folder / "left1.pcapng").read_bytes()))
    analysis = analyze([tmp_path / "data.pcapng"])
    page = document(capture_report(analysis))
    assert not [axis for axis in page["lines"]["axes"] if axis["title"].startswith(("Throughput", "RTT"))]
    assert lines_of(page["lines"], "Retransmissions").sum() > 0
    assert not {"rtt_mean_ms", "throughput_mbps"} & {column["key"] for column in page["subflows"]["columns"]}


def test_a_count_that_is_unknown_of_one_subflow_is_nothing_of_it(captured: CaptureResult) -> None:
    counts = pl.when(pl.col("subflow") == 0).then(pl.col("retransmissions"))
    tables = dict(captured.tables)
    tables["subflow_series"] = captured.subflow_series.with_columns(counts.alias("retransmissions"))
    lines = document(capture_report(CaptureResult(tables, captured.summary)))["lines"]
    whole, first, second = lines_of(lines, "Retransmissions")
    assert np.isnan(second).all()
    known = ~np.isnan(first)
    assert known.sum() > 10
    assert (whole[known] == first[known]).all()


def test_an_index_of_nothing_is_no_number(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "data.pcapng").write_bytes(without_acks((folder / "left1.pcapng").read_bytes()))
    analysis = analyze([tmp_path / "data.pcapng"])
    two = pl.concat([analysis.connections, analysis.connections])
    page = capture_report(CaptureResult({**analysis.tables, "connections": two}, analysis.summary))
    assert ">Connections</div>" in page
    assert ">Jain index</div>" not in page


def test_the_page_in_a_browser(reader: Reader, captured: CaptureResult, tmp_path: Path) -> None:
    reader.open(save_capture_report(captured, tmp_path))
    cards = dict(zip(reader.texts(".card .label"), reader.texts(".card .value"), strict=True))
    assert cards["Connections"] == "2"
    assert "Mean RTT" in cards
    assert len(reader.texts(".uplot")) == 5
    buttons = reader.texts("#series-legend button")
    assert buttons[0] == "all 2 subflows"
    reader.page.locator("#series-legend button").nth(1).click()
    label = reader.page.locator("#series-chart-1 .canvas").get_attribute("aria-label") or ""
    assert buttons[1] not in label
    assert buttons[2] in label
    # Hidden lines have no curves, and where all are hidden that is said.
    curves = "#rtt-distribution .canvas"
    assert buttons[1] not in (reader.page.locator(curves).get_attribute("aria-label") or "")
    for button in (0, 2):
        reader.page.locator("#series-legend button").nth(button).click()
    assert reader.texts("#rtt-distribution .nothing") == ["No round-trip time was measured."]
    heading = reader.page.locator("#subflow-table th", has_text="RTT p99")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert reader.wrong == []
