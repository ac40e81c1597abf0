"""The pages of a run, a study and captures."""

from __future__ import annotations

from pathlib import Path

from anabranch.media.page import REPORT, render
from anabranch.report.html.outlines import outlines
from anabranch.report.html.run_data import run_document
from anabranch.report.views.outcome import StudyOutcome
from anabranch.results.folders import write_whole
from anabranch.results.result import Result

_PACKAGE = "anabranch.report.html"
RUN_SCRIPTS = ("core", "charts", "table", "lines", "map", "network", "run", "multipath",
               "latency", "main")  # fmt: skip
"""The scripts of the page of a run, in ``assets/js``."""
_CAPTURE_SCRIPTS = ("core", "charts", "table", "lines", "capture", "main")
_STUDY_SCRIPTS = ("core", "charts", "table", "study", "main")


def run_report(result: Result, scenario: str | None = None) -> str:
    """The page of a run.

    Args:
        result: the run, with the tables ``flows`` and ``links``.
        scenario: text of its scenario file, shown at the end.
    """
    document = run_document(result, scenario)
    sections = [
        ("network", "Network"),
        *([("collectives", "Collectives")] if document["collectives"] else []), ("series", "Over time"),
        *([("latency", "Latency")] if document["latency"] else []),
        *([("multipath", "Multipath TCP")] if document["multipath"] else []),
        ("distributions", "Completion and reordering"),
        ("flows", "Flows"), ("links", "Links"), *([("scenario", "Scenario")] if scenario else []),
    ]  # fmt: skip
    # In the page already; the script need not have them twice.
    shown = {
        key: document.pop(key)
        for key in ("title", "cards", "warnings", "network_source", "facts", "scenario", "notes")
    }
    if document["network"]["layout"] == "map":
        document["outlines"] = outlines(document["network"].pop("box"))
    return render(
        "run.html.j2",
        document,
        RUN_SCRIPTS,
        package=_PACKAGE,
        sections=sections,
        **shown,
    )


def capture_report(result: Result) -> str:
    """The page of captures.

    Args:
        result: of captures, with all its tables.
    """
    # A run's page, which every run writes, need not wait for it.
    from anabranch.report.html.capture_data import capture_document  # noqa: PLC0415

    document = capture_document(result)
    keys = ("title", "cards", "warnings", "facts", "notes", "measured")
    shown = {key: document.pop(key) for key in keys}
    sections = [
        *([("against", f"Beside {document['against']['title']}")] if document["against"] else []),
        ("series", "Over time"), *([("rtt", "Round-trip times")] if document["rtts"] else []),
        ("connections", "Connections"), ("subflows", "Subflows"),
    ]  # fmt: skip
    return render("capture.html.j2", document, _CAPTURE_SCRIPTS, package=_PACKAGE, sections=sections, **shown)


def study_report(result: StudyOutcome) -> str:
    """The page of a study."""
    # Its figures are drawn by matplotlib, for which the page of a run need not wait.
    from anabranch.report.html.study_data import study_document  # noqa: PLC0415

    document = study_document(result)
    keys = ("title", "cards", "warnings", "facts", "failed", "figures", "intervals")
    shown = {key: document.pop(key) for key in keys}
    sections = [("figures", "Metrics"), ("cells", "Cells")]
    return render("study.html.j2", document, _STUDY_SCRIPTS, package=_PACKAGE, sections=sections, **shown)


def save_run_report(result: Result, folder: Path | str, scenario: str | None = None) -> Path:
    """Writes ``report.html`` into the folder of a run.

    Raises:
        ResultError: if it cannot be written, or the result has no flows or links, as one of captures.
    """
    return write_whole(Path(folder) / REPORT, run_report(result, scenario).encode())


def save_capture_report(result: Result, folder: Path | str) -> Path:
    """Writes ``report.html`` into the folder of captures.

    Raises:
        ResultError: if it cannot be written.
    """
    return write_whole(Path(folder) / REPORT, capture_report(result).encode())


def save_study_report(result: StudyOutcome, folder: Path | str) -> Path:
    """Writes ``report.html`` into the folder of a study.

    Raises:
        ResultError: if it cannot be written.
    """
    return write_whole(Path(folder) / REPORT, study_report(result).encode())
