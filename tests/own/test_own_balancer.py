"""Load balancers in Python: spraying within a bound of delay, one path for each flow, and mistakes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError, _core
from anabranch.errors import OwnCodeError
from anabranch.setup import resolve

OWN = Path(__file__).parents[2] / "examples" / "own"

MIDDLES = {"near": "2 ms", "close": "3 ms", "far": "9 ms"}
LINKS = "".join(
    f'[[network.node]]\nname = "{middle}"\n'
    f'[[network.link]]\nbetween = ["a", "{middle}"]\nnew = true\ndelay = "{delay}"\n'
    f'[[network.link]]\nbetween = ["{middle}", "b"]\nnew = true\n'
    for middle, delay in MIDDLES.items()
)
THREE_PATHS = f"""
[network]
[[network.node]]
name = "a"
kind = "host"
[[network.node]]
name = "b"
kind = "host"
{LINKS}
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
queue = "100 packets"
[routing]
scheme = "disjoint"
load_balancing = LOAD_BALANCING
[[traffic]]
from = "a"
to = "b"
flows = 6
transport = "cubic"
[run]
duration = "2 s"
"""

FIRST = """
    from anabranch.own import LoadBalancer

    class Chooser(LoadBalancer):
        def choose(self, now_s, flow):
            return flow % len(self.paths)
"""


def three_paths(load_balancing: str, base: Path) -> Scenario:
    text = THREE_PATHS.replace("LOAD_BALANCING", load_balancing)
    return Scenario.loads(text, origin="s.toml", base=base)


def packets(scenario: Scenario) -> dict[str, int]:
    links = scenario.run().links.to_dicts()
    return {row["to"]: row["packets"] for row in links if row["from"] == "a"}


@pytest.mark.parametrize(("extra_ms", "used"), [(0, {"near"}), (1, {"near", "close"}), (7, set(MIDDLES))])
def test_spraying_keeps_to_paths_within_the_bound(extra_ms: int, used: set[str]) -> None:
    control = f'{{ python = "delay_bounded:DelayBounded", extra_ms = {extra_ms}.0 }}'
    sent = packets(three_paths(control, OWN))
    assert {middle for middle, count in sent.items() if count} == used
    taken = [sent[middle] for middle in used]
    assert max(taken) - min(taken) <= 1


def test_a_flow_may_keep_to_one_path(module: Callable[[str], Path]) -> None:
    scenario = three_paths('{ python = "mine:Chooser" }', module(FIRST))
    result = scenario.run()
    assert result.flows["reordered_packets"].sum() == 0
    assert all(packets(scenario).values())


def test_paths_have_their_delays_capacities_and_weights(module: Callable[[str], Path]) -> None:
    base = module("""
    from anabranch.own import LoadBalancer

    class Looks(LoadBalancer):
        def start(self):
            delays = sorted(round(path.delay_s * 1e3, 9) for path in self.paths)
            assert delays == [3.0, 4.0, 10.0], delays
            assert all(path.capacity_bps == 10e6 and path.weight > 0 for path in self.paths)
            assert all(len(path.links) == 2 for path in self.paths)

        def choose(self, now_s, flow):
            return self.random.randrange(3)
    """)
    first, again = (three_paths('{ python = "mine:Looks" }', base).run() for _ in range(2))
    assert first.flows.equals(again.flows)


FAILING = {
    "an exception": ("1 / 0", "ZeroDivisionError: division by zero"),
    "no place": ("return 3", "has chosen 3; it must be a place in paths, from 0 to 2"),
    "a negative one": ("return -1", "has chosen -1; it must be a place in paths"),
    "nothing": ("pass", "has chosen None; it must be a place in paths"),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_failure_names_its_line(case: str, module: Callable[[str], Path]) -> None:
    statement, message = FAILING[case]
    base = module(FIRST.replace("return flow % len(self.paths)", statement))
    with pytest.raises(OwnCodeError) as failed:
        three_paths('{ python = "mine:Chooser" }', base).run()
    text = str(failed.value)
    assert text.startswith("Chooser.choose, at ")
    assert message in text
    assert f'File "{base}/mine.py", line ' in text


def test_a_failure_at_the_start_is_told(module: Callable[[str], Path]) -> None:
    base = module(FIRST + "\n        def start(self):\n            self.nothing\n")
    with pytest.raises(OwnCodeError, match=r"Chooser.start, at 0 s of the run: AttributeError"):
        three_paths('{ python = "mine:Chooser" }', base).run()


REFUSED = {
    '{ python = "mine:Without" }': "Without lacks choose(now_s, flow), which says which path a packet takes",
    '{ python = "mine:Short" }': "Short.choose must take now_s and flow",
    '{ python = "mine:Other" }': "Other is no load balancer; write class Other(anabranch.own.LoadBalancer)",
    '{ python = "mine:Chooser", k = 1 }': 'Chooser has no parameter "k"; parameters are the fields',
}


@pytest.mark.parametrize("load_balancing", REFUSED)
def test_a_mistake_is_refused_before_the_run(load_balancing: str, module: Callable[[str], Path]) -> None:
    base = module(
        FIRST
        + """
    class Without(LoadBalancer):
        pass

    class Short(LoadBalancer):
        def choose(self): ...

    class Other:
        pass
    """
    )
    with pytest.raises(ScenarioError) as refused:
        three_paths(load_balancing, base).run()
    assert str(refused.value).startswith(f"s.toml: routing.load_balancing: {REFUSED[load_balancing]}")


def test_the_core_refuses_a_setup_without_its_code(module: Callable[[str], Path]) -> None:
    setup = resolve(three_paths('{ python = "mine:Chooser" }', module(FIRST)))
    with pytest.raises(_core.SetupError, match="its code is missing"):
        _core.Setup(setup.json())


def test_a_kept_result_runs_again(module: Callable[[str], Path], tmp_path: Path) -> None:
    result = three_paths('{ python = "mine:Chooser" }', module(FIRST)).run(out=tmp_path / "kept", page=False)
    kept = Scenario.load(tmp_path / "kept" / "scenario.toml")
    assert kept.data()["routing"]["load_balancing"] == {"python": "code/mine.py:Chooser"}
    assert kept.run().flows.equals(result.flows)
