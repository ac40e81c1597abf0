"""The page itself: templates, style and scripts in one file, with nothing to fetch."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from anabranch import _core
from anabranch.folders import write_whole
from anabranch.report.html.capture_data import capture_document
from anabranch.report.html.encode import embedded
from anabranch.report.html.outlines import outlines
from anabranch.report.html.palette import css_variables
from anabranch.report.html.run_data import run_document
from anabranch.report.study_table import StudyOutcome
from anabranch.result import Result

REPORT = "report.html"
"""Name of the page in a folder."""

_PACKAGE = "anabranch.report.html"
_RUN_SCRIPTS = ("core", "charts", "table", "map", "network", "run", "multipath", "latency", "study", "main")
_CAPTURE_SCRIPTS = ("core", "charts", "table", "network", "run", "capture", "main")
_STUDY_SCRIPTS = ("core", "charts", "table", "network", "study", "main")
_MOST_EVENTS = 200
"""Changes of the network that are listed."""


def run_report(result: Result, scenario: str | None = None) -> str:
    """The page of a run.

    Args:
        result: the run, with the tables ``flows`` and ``links``.
        scenario: text of its scenario file, shown at the end.
    """
    document = run_document(result, scenario)
    sections = [
        ("network", "Network"), ("series", "Over time"),
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
    return render("run.html.j2", document, _RUN_SCRIPTS, sections=sections, most_events=_MOST_EVENTS, **shown)


def capture_report(result: Result) -> str:
    """The page of captures.

    Args:
        result: of captures, with all its tables.
    """
    document = capture_document(result)
    shown = {key: document.pop(key) for key in ("title", "cards", "warnings", "facts", "notes")}
    sections = [
        ("series", "Over time"), *([("rtt", "Round-trip times")] if document["lines"] else []),
        ("connections", "Connections"), ("subflows", "Subflows"),
    ]  # fmt: skip
    return render("capture.html.j2", document, _CAPTURE_SCRIPTS, sections=sections, **shown)


def study_report(result: StudyOutcome) -> str:
    """The page of a study."""
    # Its figures are drawn by matplotlib, for which the page of a run need not wait.
    from anabranch.report.html.study_data import study_document  # noqa: PLC0415

    document = study_document(result)
    keys = ("title", "cards", "warnings", "facts", "failed", "figures", "intervals")
    shown = {key: document.pop(key) for key in keys}
    sections = [("figures", "Metrics"), ("cells", "Cells")]
    return render("study.html.j2", document, _STUDY_SCRIPTS, sections=sections, **shown)


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


def render(
    template: str,
    document: dict[str, Any],
    scripts: tuple[str, ...],
    *,
    charts: bool = True,
    package: str = _PACKAGE,
    styles: tuple[str, ...] = (),
    **shown: Any,
) -> str:
    """Fills a template. Only our own scripts may run: the page names them by their hashes.

    Args:
        template: its file in ``templates``.
        document: data for the scripts, which the template has as ``page``.
        scripts: files of ``assets/js``, without their ending, which become one.
        charts: whether they draw charts.
        package: a package with further ``templates`` and ``assets``. A template of it may extend
            ``base.html.j2``; what it does not have is taken from here.
        styles: files of ``assets``, without their ending, which follow the style of all pages.
        shown: what else the template takes.
    """
    programs = [*([_file("assets/uPlot.iife.min.js", package)] if charts else []), _program(scripts, package)]
    digests = (base64.b64encode(hashlib.sha256(program.encode()).digest()).decode() for program in programs)
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return _templates(package).get_template(template).render(
        script_hashes=Markup(hashes),  # noqa: S704 - made of our own files alone
        style=Markup(_style(styles, package)),  # noqa: S704
        scripts=[Markup(program) for program in programs],  # noqa: S704
        data=Markup(embedded(document)),  # noqa: S704 - escaped there
        page=document,
        version=_core.version(),
        **shown,
    )  # fmt: skip


@cache
def _templates(package: str) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _file(f"templates/{name}", package)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


@cache
def _file(name: str, package: str) -> str:
    """A file of the package, or of this one where that has none."""
    found = resources.files(package).joinpath(name)
    if not found.is_file():
        found = resources.files(_PACKAGE).joinpath(name)
    return found.read_text(encoding="utf-8")


@cache
def _program(names: tuple[str, ...], package: str) -> str:
    """Our scripts as one, with names of their own."""
    parts = "\n".join(_file(f"assets/js/{name}.js", package) for name in names)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@cache
def _style(names: tuple[str, ...], package: str) -> str:
    """The style of all pages, then that of these files."""
    light, dark = css_variables()
    dark = f"{dark}{_file('assets/dark.css', package)}"
    more = "".join(_file(f"assets/{name}.css", package) for name in names)
    return (
        f"{_file('assets/uPlot.min.css', package)}\n{_file('assets/page.css', package)}\n:root{{{light}}}\n"
        f'@media screen {{ :root[data-theme="dark"]:not(.printing) {{{dark}}} }}\n'
        "@media screen and (prefers-color-scheme: dark) {\n"
        f':root:not([data-theme="light"]):not(.printing) {{{dark}}} }}\n{more}'
    )
