"""The studio as files for any web server: the same page, answered by the core in the browser.

A module ``server.js`` of its own takes the place of the one that asks the server; all else of the page is the
same. What the core does not know, how columns are called and lines look, is exported here from its one
declaration, so that the browser makes the same document of a run as :mod:`anabranch.report.html.run_data`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from anabranch import _core
from anabranch.media.columns import COLUMNS, Column
from anabranch.media.page import asset
from anabranch.media.page.charts import FEWEST_STEPS, MOST_STEPS, dash_lengths
from anabranch.media.palette import PALETTE, PATTERNS
from anabranch.report.html.latency_data import MOST_LINES
from anabranch.report.html.multipath_data import MOST_CONNECTIONS, MOST_PATHS, MOST_SUBFLOWS, MOST_VALUES
from anabranch.report.html.routes_data import MOST_PAIRS, MOST_SHARES
from anabranch.report.html.run_data import MOST_EVENTS, MOST_FLOWS, MOST_LINK_STEPS
from anabranch.report.looks import TRANSPORT_LOOKS, every_look
from anabranch.report.views import run as run_views
from anabranch.report.views.link_tables import CAUSES
from anabranch.report.views.over_time import FEW_FLOWS, MOST_LINKS, MOST_MARKS
from anabranch.scenario.tables.control import Run
from anabranch.studio.pages import files, index

_PACKAGE = "anabranch.studio"
_FOLDER = "assets/static"
_SCRIPT = "text/javascript; charset=utf-8"
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)
"""A page of a file server has its policy in itself: nothing is loaded from elsewhere, and nothing is sent."""


def static_files(examples: Sequence[str]) -> Mapping[str, tuple[str, bytes]]:
    """Every file of the page by its name, with its type, but for the core, networks and examples.

    Args:
        examples: files that the page offers, in the folder ``examples`` beside it; the first is shown first.
    """
    scripts = {
        file.name: (_SCRIPT, file.read_bytes())
        for file in resources.files(_PACKAGE).joinpath(_FOLDER).iterdir()
        if file.name.endswith(".js")
    }
    world = asset("assets/world.json", "anabranch.report.html")
    return {
        **files(),
        **scripts,
        "index.html": ("text/html; charset=utf-8", index(policy=_POLICY).encode()),
        "views.json": _json(views()),
        "welcome.json": _json(_welcome(examples)),
        "world.json": ("application/json", world.encode()),
    }


def _json(data: Any) -> tuple[str, bytes]:
    return "application/json", json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def _welcome(examples: Sequence[str]) -> dict[str, Any]:
    return {
        "version": _core.version(),
        "folder": "",
        "files": list(examples),
        "transports": _core.transport_preset_names(),
    }


def views() -> dict[str, Any]:
    """The columns, tables, looks and bounds by which runs are shown, as plain data."""
    return {
        "columns": {name: _column(about) for name, about in COLUMNS.items()},
        "tables": {
            "flows": run_views.FLOWS,
            "links": run_views.LINKS,
            "latencies": run_views.LATENCIES,
            "connections": run_views.CONNECTIONS,
            "subflows": run_views.SUBFLOWS,
            "reordering": run_views.REORDERING,
        },
        "collectives": run_views.COLLECTIVE_TABLES,
        "causes": CAUSES,
        "colors": len(PALETTE),
        "patterns": [dash_lengths(pattern) for pattern in PATTERNS],
        "looks": [{"color": PALETTE.index(look.color), "hollow": look.hollow} for look in every_look()],
        "transports": TRANSPORT_LOOKS,
        "until": Run.model_fields["until"].default,
        "most": {
            "steps": MOST_STEPS,
            "fewest_steps": FEWEST_STEPS,
            "flows": MOST_FLOWS,
            "few_flows": FEW_FLOWS,
            "links": MOST_LINKS,
            "marks": MOST_MARKS,
            "events": MOST_EVENTS,
            "link_steps": MOST_LINK_STEPS,
            "pairs": MOST_PAIRS,
            "shares": MOST_SHARES,
            "latency_lines": MOST_LINES,
            "subflows": MOST_SUBFLOWS,
            "connections": MOST_CONNECTIONS,
            "paths": MOST_PATHS,
            "path_values": MOST_VALUES,
        },
    }


def _column(about: Column) -> dict[str, Any]:
    return {
        "name": about.name,
        "label": about.label,
        "unit": about.unit,
        "factor": about.factor,
        "bound": about.bound,
        "folds": about.folds,
        "is_number": about.is_number,
        "plain": about.format == "d",
    }
