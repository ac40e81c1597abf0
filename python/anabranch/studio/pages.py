"""The files of the page: what a browser loads, and nothing that is asked for later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from markupsafe import Markup

from anabranch import _core
from anabranch.media.page import asset, page_style, templates
from anabranch.report.html.page import RUN_SCRIPTS

_PACKAGE = "anabranch.studio"
_REPORT = "anabranch.report.html"
SCRIPTS = (
    "main", "server", "model", "editor", "form", "schema", "controls", "picture", "plans", "draw", "geometry",
    "compare", "keep", "live", "dialogs",
)  # fmt: skip
"""Our own modules, ``assets/js`` of this package; ``server.js`` is the one that knows who answers."""
_SHARED = (
    "setData", "dropPicture", "keepListeners", "h", "byId", "number", "measure", "withUnit", "decode",
    "setUpTheme", "setUpPrinting", "setUpCharts", "setTimeUnit", "timeMarks", "mapOf",
    "RouteChooser", "NetworkSection",
    "SeriesSection", "LatencySection", "MultipathSection", "setUpDistributions", "flowTable",
    "collectiveTables", "shortTables", "shownTable",
    "dataTable", "columnsOf", "numbersOf", "textsOf", "linkColors", "ramp", "themeListeners", "MAP_WIDTH",
)  # fmt: skip
"""What the scripts of the pages of results give to the studio."""


@cache
def files() -> Mapping[str, tuple[str, bytes]]:
    """Every file by its name, with its type; ``index.html`` is the page."""
    script, style = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
    contents = {
        "index.html": ("text/html; charset=utf-8", index()),
        "page.css": (style, page_style()),
        "studio.css": (style, asset("assets/studio.css", _PACKAGE)),
        "uplot.js": (script, asset("assets/uPlot.iife.min.js", _PACKAGE)),
        "page.js": (script, _page_module()),
        "schema.json": ("application/json", json.dumps(_schema())),
        **{f"{name}.js": (script, asset(f"assets/js/{name}.js", _PACKAGE)) for name in SCRIPTS},
    }
    return {name: (kind, text.encode()) for name, (kind, text) in contents.items()}


def index(policy: str = "") -> str:
    """The page; where no server answers, with the policy that a server would send."""
    sections = templates(_REPORT).get_template("run_sections.html.j2").render(page=_everything())
    # Made of our own template alone.
    return templates(_PACKAGE).get_template("studio.html.j2").render(
        version=_core.version(), policy=policy, sections=Markup(sections)  # noqa: S704
    )  # fmt: skip


def _everything() -> dict[str, Any]:
    """A page with every part of a run; the script hides those that a run does not have."""
    return {
        "events": [], "event_table": True, "reordering_table": True, "routes": {"moved": True},
        "flow_series": True, "flows": {"rows": 0},
        "collectives": True, "latency": True, "multipath": {"series": True}, "studio": True,
    }  # fmt: skip


def _page_module() -> str:
    """The scripts of the page of a run as a module, which runs nothing by itself."""
    parts = [asset(f"assets/js/{name}.js", _REPORT) for name in RUN_SCRIPTS if name != "main"]
    return "\n".join([*parts, f"export {{ {', '.join(_SHARED)} }};\n"])


def _schema() -> dict[str, Any]:
    from anabranch.scenario.scenario import Scenario  # noqa: PLC0415 - once, when the page is loaded

    return Scenario.model_json_schema()
