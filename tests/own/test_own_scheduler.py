"""Schedulers of Multipath TCP in Python: the tables of the built-in ones, weights, and mistakes."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from anabranch import Scenario, ScenarioError
from anabranch.errors import OwnCodeError

OWN = Path(__file__).parents[2] / "examples" / "own"

TWO_PATHS = """
[network]
[[network.node]]
name = "a"
kind = "host"
[[network.node]]
name = "b"
kind = "host"
[[network.node]]
name = "up"
[[network.node]]
name = "down"
[[network.link]]
between = ["a", "up"]
new = true
[[network.link]]
between = ["up", "b"]
new = true
[[network.link]]
between = ["a", "down"]
new = true
[[network.link]]
between = ["down", "b"]
new = true
delay = "4 ms"
[network.links]
capacity = "10 Mbps"
delay = "2 ms"
queue = "30 packets"
[routing]
scheme = "disjoint"
[[traffic]]
from = "a"
to = "b"
transport = "mine"
[run]
duration = "4 s"
[transport.mine]
preset = "mptcp"
path_manager = "fullmesh"
receive_buffer = "{buffer}"
scheduler = {scheduler}
"""

LOWEST = """
    from anabranch.own import SubflowScheduler

    class Lowest(SubflowScheduler):
        def pick(self, data, ready):
            assert data.unsent_bytes > 0 and data.window_bytes > 0
            return min(ready, key=lambda subflow: subflow.srtt_s)
"""

ROUND_ROBIN = """
    from anabranch.own import SubflowScheduler

    class InTurn(SubflowScheduler):
        def start(self):
            self.last = -1

        def pick(self, data, ready):
            behind = [subflow for subflow in ready if subflow.number > self.last]
            chosen = (behind or ready)[0]
            self.last = chosen.number
            return chosen
"""


def two_paths(scheduler: str, base: Path, buffer: str = "6 MB") -> Scenario:
    return Scenario.loads(TWO_PATHS.format(scheduler=scheduler, buffer=buffer), origin="s.toml", base=base)


@pytest.mark.parametrize("buffer", ["6 MB", "60 kB"])
@pytest.mark.parametrize(
    ("code", "own", "built_in"), [(LOWEST, "Lowest", "lowest-rtt"), (ROUND_ROBIN, "InTurn", "round-robin")]
)
def test_a_scheduler_in_python_has_the_tables_of_the_built_in_one(
    code: str, own: str, built_in: str, buffer: str, module: Callable[[str], Path]
) -> None:
    base = module(code)
    ours = two_paths(f'{{ python = "mine:{own}" }}', base, buffer).run()
    theirs = two_paths(f'"{built_in}"', base, buffer).run()
    for name, table in theirs.tables.items():
        assert ours.tables[name].equals(table), name


@pytest.mark.parametrize("first", [1, 2, 5])
def test_weights_share_the_segments(first: int) -> None:
    control = f'{{ python = "weighted:Weighted", first = {first}.0, strict = true }}'
    subflows = two_paths(control, OWN).run().subflows
    # Two of the four lead from one path to the other, and cannot open.
    sent = subflows.sort("subflow").filter(pl.col("packets_received") > 0)["packets_received"].to_list()
    assert sent[0] / sent[1] == pytest.approx(first, rel=0.05)


FAILING = {
    "an exception": ("1 / 0", "ZeroDivisionError: division by zero"),
    "a number": ("return 0", "has picked 0; it must be one of the ready subflows, or None"),
    "one of before": (
        "self.kept = getattr(self, 'kept', ready[0])\n            return self.kept",
        "has picked <builtins.Subflow object",
    ),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_failure_names_its_line(case: str, module: Callable[[str], Path]) -> None:
    statement, message = FAILING[case]
    base = module(f"""
    from anabranch.own import SubflowScheduler

    class Wrong(SubflowScheduler):
        def pick(self, data, ready):
            {statement}
    """)
    with pytest.raises(OwnCodeError) as failed:
        two_paths('{ python = "mine:Wrong" }', base).run()
    text = str(failed.value)
    assert text.startswith("Wrong.pick, at ")
    assert message.replace("builtins", "anabranch._core") in text or message in text
    assert f'File "{base}/mine.py", line ' in text


REFUSED = {
    '{ python = "mine:Without" }': "transport.mine.scheduler: Without lacks pick(data, ready), which says",
    '{ python = "mine:Short" }': "transport.mine.scheduler: Short.pick must take data and ready",
    '{ python = "mine:Other" }': "transport.mine.scheduler: Other is no scheduler; write class Other(",
    '{ python = "mine:Lowest", k = 1 }': 'transport.mine.scheduler: Lowest has no parameter "k"; parameters',
}


@pytest.mark.parametrize("scheduler", REFUSED)
def test_a_mistake_is_refused_before_the_run(scheduler: str, module: Callable[[str], Path]) -> None:
    base = module(
        LOWEST
        + """
    class Without(SubflowScheduler):
        pass

    class Short(SubflowScheduler):
        def pick(self, ready): ...

    class Other:
        pass
    """
    )
    with pytest.raises(ScenarioError) as refused:
        two_paths(scheduler, base).run()
    assert str(refused.value).startswith(f"s.toml: {REFUSED[scheduler]}")


def test_both_of_a_transport_may_be_ones_own(module: Callable[[str], Path], tmp_path: Path) -> None:
    base = module(LOWEST)
    (base / "newreno.py").write_text((OWN / "newreno.py").read_text(encoding="utf-8"))
    scheduler = '{ python = "mine:Lowest" }\ncongestion_control = { python = "newreno:NewReno" }'
    result = two_paths(scheduler, base).run(out=tmp_path / "kept", page=False)
    assert result.flows["goodput_mbps"][0] > 15
    kept = Scenario.load(tmp_path / "kept" / "scenario.toml")
    assert sorted(path.name for path in (tmp_path / "kept" / "code").iterdir()) == ["mine.py", "newreno.py"]
    assert kept.run().flows.equals(result.flows)
