"""The declarations of all algorithms: those of the core, and those of the planners in Python.

A planner declares its schemes in a TOML file of its own name beside its code (``anabranch/routing``). The
generator of the models reads this module by itself, so that it imports nothing of the package.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

Declaration = dict[str, Any]

PLANNERS = Path(__file__).parents[1] / "routing"
"""Where planners declare their schemes."""

_SCHEME = "scheme"
_METRIC = "metric"
_UNSAID: Declaration = {
    "optional": False,
    "required": False,
    "default": None,
    "least": None,
    "above": None,
    "most": None,
    "below": None,
    "choices": [],
    "registry": None,
}


def merged(core: list[Declaration]) -> list[Declaration]:
    """The registries of the core, and what planners add to them.

    Args:
        core: what the core declares (``_core.declarations``).
    """
    registries = {registry["name"]: registry for registry in core}
    schemes: list[Declaration] = registries[_SCHEME]["algorithms"]
    # A planner may be the user's own.
    registries[_SCHEME]["external"] = True
    metric = _of(_of(schemes, "shortest")["parameters"], _METRIC)
    for file in sorted(PLANNERS.glob("*.toml")):
        declared = tomllib.loads(file.read_text(encoding="utf-8"))
        shared = declared.get("shared", {})
        for scheme in declared[_SCHEME]:
            scheme["planner"] = file.stem
            listed = {name: shared[name] for name in scheme.pop("shared", ())}
            parameters = [_parameter(*entry) for entry in (scheme.pop("parameters", {}) | listed).items()]
            known = [entry for entry in schemes if entry["name"] == scheme["name"]]
            if known:
                known[0].update(scheme)
                known[0]["parameters"] += parameters
            else:
                parameters.append(_metric(metric, scheme.pop("metrics")))
                schemes.append({**scheme, "parameters": parameters})
    return core


def _parameter(name: str, said: Declaration) -> Declaration:
    choices = [{"name": choice, "text": text} for choice, text in said.get("choices", {}).items()]
    return {**_UNSAID, **said, "name": name, "choices": choices}


def _metric(of_any: Declaration, names: str | list[str]) -> Declaration:
    """The parameter of the metric, with the names of those that a scheme takes."""
    choices = [choice for choice in of_any["choices"] if names == "any" or choice["name"] in names]
    return {**of_any, "choices": choices, "default": choices[0]["name"]}


def _of(entries: list[Declaration], name: str) -> Declaration:
    return next(entry for entry in entries if entry["name"] == name)
