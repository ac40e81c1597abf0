"""Both readers of a scenario side by side: scenarios of the tests are read by the core, too, and compared.

Until Python reads scenarios by the core, pydantic's models and the core say the same: the same problems, and
equal setups. The fixture wraps both doors of the library, ``Scenario.from_data`` and ``resolve_names``, and
fails the test in which they differ. It is part of the tests of scenarios and of fingerprints; ``pytest -p
both_readers``, with tests/ on the path, has it in all tests. ``BOTH_READERS=FILE`` writes the differences to
a file instead.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

import anabranch.setup as setup_package
from anabranch import ScenarioError, _core
from anabranch.scenario.scenario import Scenario
from anabranch.setup.files import text_of
from anabranch.setup.problems import Problems
from anabranch.setup.topologies import is_generated, load_topology

_LOG = os.environ.get("BOTH_READERS")
_COLUMNS = ("entry", "number", "origin", "to", "bytes", "start", "stop")
_BETTER = (
    # The core says where in the parameters of a generator a date stands, and that it is none of them.
    "input was not a valid JSON value",
    # Syntax that no released version had.
    "names its model by algorithm now",
    "belongs to the queue now",
    "is a queue discipline now",
    "several bounds are a list now",
    "stands with its algorithm",
    "is now called",
)
"""Of pydantic's messages those that the core has others for."""


def _differ(kind: str, source: object, ours: object, theirs: object) -> None:
    if not _LOG:
        pytest.fail(f"the readers differ in {kind}: core {ours}, Python {theirs}, of {str(source)[:2000]}")
    with Path(_LOG).open("a", encoding="utf-8") as log:
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        log.write(json.dumps([kind, test, repr(source)[:3000], ours, theirs], default=str) + "\n")


def _is_plain(data: Any) -> bool:
    """Whether data is what TOML can say: no None, no tables of Python's."""
    if isinstance(data, dict):
        return all(isinstance(key, str) and _is_plain(entry) for key, entry in data.items())
    if isinstance(data, list):
        return all(map(_is_plain, data))
    return type(data) in (bool, int, float, str)


def _lines(problems: list[tuple[str, str]]) -> list[str]:
    return sorted({f"{place}: {message}" if place else message for place, message in problems})


def _compare_reading(data: Any, problems: list[Any]) -> None:
    if not isinstance(data, dict) or not _is_plain(data) or hypothesis.currently_in_test_context():
        return
    theirs = sorted({str(problem) for problem in problems if not problem.message.startswith("transport ")})
    if any(better in line for line in theirs for better in _BETTER):
        return
    ours = sorted(
        {f"{place}: {message}" if place else message for place, message in _core.Scenario(data).problems}
    )
    if ours != theirs:
        _differ("problems", data, ours, theirs)


def plain_network(scenario: Scenario) -> dict[str, Any]:
    """The network of the topology, as the core takes it."""
    found = load_topology(scenario, Problems(None))
    nodes = [
        {
            "name": node.name,
            "aliases": list(node.aliases),
            "is_host": node.kind == "host",
            "place": None if node.place is None else (node.place.latitude, node.place.longitude),
        }
        for node in found.nodes
    ]
    links = [
        {
            "a": link.a,
            "b": link.b,
            "is_directed": link.directed,
            "capacity_bps": link.capacity_bps,
            "delay_ps": link.delay_ps,
            "loss": link.loss,
            "weight": link.weight,
            "length_km": link.length_km,
        }
        for link in found.links
    ]
    demands = (
        None if found.demands is None else [(*pair, float(value)) for pair, value in found.demands.items()]
    )
    return {
        "label": found.name,
        "is_generated": is_generated(scenario.network),
        "nodes": nodes,
        "links": links,
        "demands": demands,
    }


def _compare_setups(scenario: Scenario, data: Any, setup: Any, problems: list[Any]) -> None:
    if list(scenario.code()) or hypothesis.currently_in_test_context():
        return
    if problems and scenario.routing.paths is not None:
        # Paths that the scenario gives are read by their planner.
        return

    def text(name: str) -> str:
        noted = Problems(None)
        content = text_of(f"file:{name}", scenario.base, "", noted)
        if content is None:
            with pytest.raises(ScenarioError) as caught:
                noted.raise_if_any()
            raise ValueError(caught.value.problems[0].message)
        return content

    try:
        network = plain_network(scenario)
    except ScenarioError:
        return
    answer = _core.Scenario(data).resolve(json.dumps(network), text, lambda *_: "{}")
    theirs = sorted({str(problem) for problem in problems})
    if len(theirs) > 1:
        # Of a file with a mistake in its first row, pydantic's reader says besides that it has no row.
        theirs = [line for line in theirs if not line.endswith(" has no row")]
    if isinstance(answer, list):
        ours = _lines(answer)
        if ours != theirs:
            _differ("resolving", data, ours, theirs)
    elif theirs:
        _differ("resolving", data, [], theirs)
    elif setup is not None:
        _compare_setup(data, setup, answer)


def _compare_setup(data: Any, setup: Any, answer: Mapping[str, Any]) -> None:
    try:
        whole = json.loads(setup.core().json())
    except _core.SetupError:
        return
    ours = json.loads(answer["setup"])
    for key, theirs in whole.items():
        if key != "flows" and ours[key] != theirs:
            if isinstance(theirs, list):
                pairs = [pair for pair in zip(ours[key], theirs, strict=False) if pair[0] != pair[1]]
                _differ(key, data, [len(ours[key]), pairs[:1]], len(theirs))
            else:
                _differ(key, data, ours[key], theirs)
    for name in _COLUMNS:
        column = getattr(setup.flows, name)
        if not np.array_equal(answer[name], column):
            _differ(f"flows.{name}", data, answer[name][:20].tolist(), column[:20].tolist())
    entries, theirs = json.loads(answer["entries"]), json.loads(setup.flows.core()["entries"])
    if entries != theirs:
        _differ("entries", data, entries[:2], theirs[:2])
    never_begun = {name: count for name, count in setup.never_begun.items() if count}
    if answer["never_begun"] != never_begun:
        _differ("never_begun", data, answer["never_begun"], never_begun)
    if _LOG:
        with Path(f"{_LOG}.count").open("a", encoding="utf-8") as log:
            log.write(f"{len(setup.links)} {len(setup.flows)} {len(setup.datagrams)}\n")


@pytest.fixture(autouse=True, scope="module")
def both_readers() -> Iterator[None]:
    """Compares the readers in all tests of a run."""
    read, resolve = Scenario.from_data.__func__, setup_package.resolve_names
    written: dict[int, tuple[Scenario, Any]] = {}

    def from_data(cls: type[Scenario], data: object, **keywords: Any) -> Scenario:
        try:
            scenario: Scenario = read(cls, data, **keywords)
        except ScenarioError as error:
            _compare_reading(data, error.problems)
            raise
        _compare_reading(data, [])
        if _is_plain(data):
            written[id(scenario)] = (scenario, data)
        return scenario

    def resolve_names(scenario: Scenario, *arguments: Any) -> Any:
        # As it was written: with its defaults written out, a scenario says more.
        data = written.get(id(scenario), (scenario, scenario.data()))[1]
        try:
            setup, network = resolve(scenario, *arguments)
        except ScenarioError as error:
            _compare_setups(scenario, data, None, error.problems)
            raise
        _compare_setups(scenario, data, setup, [])
        return setup, network

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scenario, "from_data", classmethod(from_data))
        patch.setattr(setup_package, "resolve_names", resolve_names)
        yield
