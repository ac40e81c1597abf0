"""Every declared parameter holds at its bounds and fails beyond them, in Python and in the core alike."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch import ScenarioError, _core
from anabranch.errors import Problem
from anabranch.scenario.choice import configuration
from anabranch.scenario.choice import parameters as with_defaults
from anabranch.scenario.declarations import declarations, owners
from anabranch.scenario.typed import choice_of_data

ROOT = Path(__file__).parents[2]
TCP_KINDS = ("loss_detection", "congestion_control", "pacing")
MPTCP_KINDS = ("path_manager", "scheduler")
SPRAY_KINDS = ("path_selector", "window")
OTHER_KINDS = tuple(
    kind for kind in declarations() if kind not in {*TCP_KINDS, *MPTCP_KINDS, *SPRAY_KINDS, "protocol"}
)
"""Kinds of algorithms outside the transport."""
GO_WITH = {
    "min_threshold": {"max_threshold": 10**9},
    "max_threshold": {"min_threshold": 1},
    "mark_from": {"mark_all_from": 1e6},
    "mark_all_from": {"mark_from": 0.0},
}
"""For a parameter that is bound by another one a value of that, with which its own bounds hold."""


class Reader:
    """What a field takes that names an algorithm of a kind."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def validate_python(self, value: Any) -> Any:
        """The choice in plain data."""
        if problems := _core.check_choice(self._kind, value):
            raise ScenarioError([Problem(*problem) for problem in problems])
        return choice_of_data(self._kind, value)


def model_of(kind: str) -> Reader:
    """What a field of this kind takes."""
    return Reader(kind)


def resolved_by_the_core(kind: str, config: dict[str, Any]) -> dict[str, Any]:
    """What the core makes of an algorithm outside the transport."""
    document: dict[str, Any] = json.loads(_core.resolve_algorithm(kind, json.dumps(config)))
    return document


def taken_by_the_core(kind: str, config: dict[str, Any]) -> bool:
    """Whether the core takes an algorithm with these parameters."""
    if kind in OTHER_KINDS:
        try:
            return bool(resolved_by_the_core(kind, config))
        except _core.SetupError:
            return False
    preset = "mptcp" if kind in MPTCP_KINDS else "uet" if kind in SPRAY_KINDS else "newreno"
    transport = json.loads(_core.transport_preset(preset))
    # Some controls live on marks.
    transport |= {"ecn": True} if "ecn" in transport else {}
    transport[kind] = config
    try:
        _core.resolve_transport(json.dumps(transport))
    except _core.SetupError:
        return False
    return True


def taken_by_python(kind: str, table: dict[str, Any]) -> bool:
    """Whether a scenario takes it; quantities as text."""
    try:
        model_of(kind).validate_python(table)
    except ScenarioError:
        return False
    return True


def edges(parameter: dict[str, Any]) -> Iterator[tuple[float, bool]]:
    """Numbers at the bounds of a parameter and just beyond them, and whether they are right."""
    whole = parameter["kind"] != "number"
    for key, inside, outwards in (
        ("least", True, -1),
        ("above", False, 1),
        ("most", True, 1),
        ("below", False, -1),
    ):
        bound = parameter[key]
        if bound is None:
            continue
        yield bound, inside
        step = bound + outwards if whole else math.nextafter(bound, outwards * math.inf)
        # At the end of its numbers a type has no number beyond.
        if step >= 0:
            yield step, not inside


def parameters() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every bounded parameter of an algorithm."""
    for kind in (*TCP_KINDS, *MPTCP_KINDS, *SPRAY_KINDS, *OTHER_KINDS):
        for name, algorithm in declarations()[kind].items():
            for parameter in algorithm["parameters"]:
                if any(parameter[key] is not None for key in ("least", "above", "most", "below")):
                    yield kind, name, parameter


def needed(kind: str, name: str) -> dict[str, Any]:
    """The smallest values of the parameters without a default, in base units."""
    declared = declarations()[kind][name]["parameters"]
    required = [entry for entry in declared if entry["required"]]
    return {
        entry["name"]: [1] if entry["kind"] == "ordinals" else int(entry["least"] or 1) for entry in required
    }


def written(kind: str, name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Values in base units as a scenario has them."""
    units = {entry["name"]: UNITS.get(entry["kind"]) for entry in declarations()[kind][name]["parameters"]}
    return {key: f"{value} {units[key]}" if units[key] else value for key, value in values.items()}


UNITS = {"span": "ps", "bytes": "B", "packets": "packets", "rate": "bps"}
BOUNDED = list(parameters())


def test_the_bounded_parameters_are_found() -> None:
    assert len(BOUNDED) >= 55
    assert {kind for kind, _, _ in BOUNDED} >= {*OTHER_KINDS, "queue"}


@pytest.mark.parametrize(("kind", "name", "parameter"), BOUNDED, ids=lambda value: str(value)[:24])
def test_python_and_the_core_agree_at_every_bound(kind: str, name: str, parameter: dict[str, Any]) -> None:
    seen = 0
    for number, right in edges(parameter):
        values = {**needed(kind, name), **GO_WITH.get(parameter["name"], {}), parameter["name"]: number}
        assert taken_by_the_core(kind, {"algorithm": name, **values}) == right, (number, "core")
        table = {"algorithm": name, **written(kind, name, values)}
        assert taken_by_python(kind, table) == right, number
        seen += 1
    assert seen >= 1


@pytest.mark.parametrize("kind", [*TCP_KINDS, *MPTCP_KINDS, *SPRAY_KINDS])
def test_defaults_are_the_same_in_both(kind: str) -> None:
    for name in declarations()[kind]:
        by_name = model_of(kind).validate_python(name)
        by_table = model_of(kind).validate_python({"algorithm": name})
        assert configuration(by_name) == {"algorithm": name}
        stated = {entry["name"]: entry["default"] for entry in declarations()[kind][name]["parameters"]}
        assert configuration(by_table) == {"algorithm": name, **stated}
        assert taken_by_the_core(kind, configuration(by_table))


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_what_is_left_out_is_what_the_core_takes(kind: str) -> None:
    seen = 0
    for name in declarations()[kind]:
        values = needed(kind, name)
        table = model_of(kind).validate_python({"algorithm": name, **written(kind, name, values)})
        core = resolved_by_the_core(kind, {"algorithm": name, **values})
        ours = {"algorithm": name, **with_defaults(kind, table)}
        # Flows to be measured are the setup's.
        core.pop("measuring", None)
        assert core == {key: ours[key] for key in core}
        seen += 1
    assert seen >= 3


def test_a_plain_name_stands_for_its_defaults_and_needs_them() -> None:
    assert with_defaults("scheme", "k-shortest")["k"] == 2
    assert with_defaults("application", "tcpbp")["estimator"] == {"algorithm": "sma", "window": 3}
    for kind, name in (("load_balancing", "flowlet"), ("loss", "bernoulli"), ("loss", "gilbert-elliott")):
        with pytest.raises(ScenarioError, match=f'"{name}" needs .*; write {{ algorithm = "{name}", '):
            model_of(kind).validate_python(name)


def test_two_algorithms_may_have_a_parameter_of_one_name() -> None:
    assert {("congestion_control", "newreno"), ("congestion_control", "cubic")} <= set(owners("hystart"))


def test_the_models_are_those_of_the_core() -> None:
    check = [sys.executable, str(ROOT / "docs" / "generate" / "algorithms.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
    assert done.returncode == 0, done.stdout
