"""What scenarios become before a run: hashes of their setups, those of the examples among them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cases import every_scenario
from hashing import HEX_DIGITS

from anabranch import Scenario
from anabranch.setup import resolve
from anabranch.setup.model import OwnScheme, PlannerSetup, Setup

FILE = Path(__file__).parent / "setups.json"
EXAMPLES = Path(__file__).parents[2] / "examples"


def every_setup() -> dict[str, Scenario]:
    """The scenarios of the fingerprints, and the examples under their paths."""
    entries = {name: Scenario.from_data(dict(data)) for name, data in every_scenario().items()}
    for path in sorted(EXAMPLES.rglob("*.toml")):
        if path.parent.name != "studies" and path.name != "study.toml":
            entries[path.relative_to(EXAMPLES.parent).as_posix()] = Scenario.load(path)
    return entries


def hash_setup(scenario: Scenario) -> str:
    """The hash of all that is known before a run: the engine's setup, its network, and what planners get."""
    setup = resolve(scenario)
    content = [
        json.loads(setup.core().json()),
        setup.network(),
        list(setup.provenance),
        None if setup.demand is None else asdict(setup.demand),
        {name: count for name, count in setup.never_begun.items() if count},
        _planner(setup.planner),
        [
            [ours.place, ours.traffic, ours.scheme, ours.metric, _planner(ours.planner)]
            for ours in setup.own_routes
        ],
        _flows(setup),
    ]
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:HEX_DIGITS]


def _planner(planner: PlannerSetup | None) -> Any:
    if planner is None:
        return None
    if isinstance(planner.scheme, OwnScheme):
        return ["own", planner.scheme.code.__class__.__name__]
    given = planner.given
    routes = None if given is None else [sorted(given.paths.items()), sorted(given.access.items())]
    return [planner.scheme.core(), routes]


def _flows(setup: Setup) -> list[Any]:
    """The flows as columns, which say the same as those of the engine."""
    names = ("entry", "number", "origin", "to", "bytes", "start", "stop")
    return [[entry.name for entry in setup.flows.entries]] + [
        getattr(setup.flows, name).tolist() for name in names
    ]
