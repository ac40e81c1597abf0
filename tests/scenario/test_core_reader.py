"""What the core's reader refuses of plain data that no text holds, and what it asks of Python."""

from types import SimpleNamespace
from typing import Any

import pytest

from anabranch import Scenario, ScenarioError, _core
from anabranch.setup import resolve
from anabranch.setup.problems import Problems
from anabranch.setup.topologies import load_topology


def test_data_that_hold_themselves_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless["network"] = endless
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for data in (endless, {"traffic": deep}):
        with pytest.raises(ValueError, match="nested too deeply"):
            _core.Scenario(data)


def test_what_is_none_counts_as_left_out_and_what_is_no_data_is_told() -> None:
    problems = _core.Scenario({"network": None, "traffic": object, "run": {"duration": "1 s"}}).problems
    assert [place for place, _ in problems] == ["network", "traffic"]


SCENARIO: dict[str, Any] = {
    "network": {"topology": "dumbbell", "links": {"capacity": "10 Mbps", "delay": "1 ms"}},
    "traffic": [{"from": "left1", "to": "right1", "transport": "cubic", "size": "1 MB"}],
    "run": {"duration": "1 s"},
}


def lines(data: dict[str, Any]) -> list[str]:
    with pytest.raises(ScenarioError) as refused:
        resolve(Scenario.from_data(data))
    return refused.value.lines()


def test_parameters_without_a_generator_are_told_with_all_else() -> None:
    network = {"parameters": {"hosts": 2}, "node": [{"name": "left1"}, {"name": "right1"}]}
    messages = lines({**SCENARIO, "network": network})
    assert messages[0] == "network.parameters: belongs to a generator; without network.topology there is none"
    assert len(messages) == 3, messages


def test_given_paths_are_looked_at_though_the_scenario_cannot_run() -> None:
    paths = [{"nodes": ["left1", "right1"], "weight": 1}]
    messages = lines(
        {
            **SCENARIO,
            "routing": {"scheme": "given", "paths": paths},
            "event": [{"at": "1 s", "node": "nowhere", "state": "up"}],
        }
    )
    assert [line.split(": ")[0] for line in messages] == ["event[0].node", "routing.paths[0]"]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, RuntimeError, ValueError])
def test_what_a_provider_raises_ends_the_call_unless_it_is_a_problem(raised: type[BaseException]) -> None:
    def fails(*_: object) -> str:
        raise raised("own words")

    def told(*_: object) -> str:
        raise _core.ProblemError("own words")

    failing, telling = (SimpleNamespace(text=answer, traffic=answer) for answer in (fails, told))

    from_file = {**SCENARIO["network"], "weights": "file:w.csv"}
    scenario = _core.Scenario({**SCENARIO, "network": from_file, "routing": {"metric": "weight"}})
    topology = load_topology(Scenario.from_data(SCENARIO), Problems(None))
    with pytest.raises(raised, match="own words"):
        scenario.resolve(topology, True, failing, fails)
    _, resolved, problems = scenario.resolve(topology, True, telling, fails)
    assert resolved is None
    assert ("network.weights", "own words") in problems


def test_a_scenario_with_problems_is_not_resolved() -> None:
    topology = load_topology(Scenario.from_data(SCENARIO), Problems(None))
    with pytest.raises(ValueError, match="has problems"):
        _core.Scenario({}).resolve(topology, True, SimpleNamespace(text=str, traffic=str), lambda *_: "")


def test_a_setup_does_not_change_and_has_no_unknown_parts() -> None:
    setup = resolve(Scenario.from_data(SCENARIO))
    with pytest.raises(AttributeError, match=r"\.replace\(seed=\.\.\.\)"):
        setup.seed = 2
    with pytest.raises(TypeError, match="has no colour"):
        setup.replace(colour=1)
    other = setup.replace(seed=2)
    assert (setup.seed, other.seed) == (1, 2)
    assert other != setup
    assert other.replace(seed=1) == setup
    assert '"seed":2' in other.core().json()
