"""Algorithms as objects: what they keep, compare and tell, and what a scenario makes of them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.scenario import Codel, Fifo, GilbertElliott, LinkSettings, PacketCount, Red, Span
from anabranch.scenario.algorithms.application import TcpbpApplication
from anabranch.scenario.algorithms.estimator import Sma
from anabranch.scenario.algorithms.loss import Trace
from anabranch.scenario.algorithms.scheme import TcpbpScheme
from anabranch.scenario.classes import classes_of
from anabranch.scenario.declarations import declarations, written_parameters

KINDS = [kind for kind in declarations() if kind != "protocol"]


def given(kind: str, name: str) -> dict[str, Any]:
    """Values of the parameters that must be given."""
    written = {"ordinals": [1, 2], "span": "5 ms"}
    declared = written_parameters(kind, name)
    return {key: written.get(entry["kind"], 0.5) for key, entry in declared.items() if entry["required"]}


ALL = [(kind, name) for kind in KINDS for name in declarations()[kind]]


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_each_is_equal_to_its_copies_and_to_nothing_else(kind: str, name: str) -> None:
    cls = classes_of(kind)[name]
    made = cls(**given(kind, name))
    for same in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), copy.copy(made), made.replace()):
        assert same == made
        assert hash(same) == hash(made)
        assert same.given == made.given == set(given(kind, name))
        assert type(same) is cls
    assert made != name
    assert repr(made).startswith(f"{cls.__name__}(algorithm='{name}'")
    assert all(made != other(**given(of, called)) for of, called in ALL if (of, called) != (kind, name)
               for other in [classes_of(of)[called]])  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_each_has_the_fields_and_defaults_of_its_declaration(kind: str, name: str) -> None:
    cls = classes_of(kind)[name]
    declared = written_parameters(kind, name)
    assert [field for field, _ in cls(**given(kind, name)).items()] == ["algorithm", *declared]
    for key, entry in declared.items():
        assert hasattr(cls, key) != entry["required"]
        if not entry["required"] and entry["default"] is not None:
            assert getattr(cls, key) == entry["default"]


def test_values_are_read_as_those_of_a_file() -> None:
    codel = Codel(target="15 ms", limit=["64 kB", "100 packets"], ecn=True)  # type: ignore[arg-type]
    assert codel.target == Span("15 ms")
    assert codel.interval == Span("100 ms")
    assert codel == Codel(target=Span("15 ms"), limit=["64 kB", PacketCount(100)], ecn=True)  # type: ignore[list-item]
    assert codel.replace(ecn=False).target == Span("15 ms")
    assert codel.replace(ecn=False).given == {"target", "limit", "ecn"}
    assert TcpbpApplication(estimator={"algorithm": "sma", "window": 4}).estimator == Sma(window=4)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Codel(tarjet="5 ms"), ['Codel.tarjet: no such key; nearest: "target"']),  # type: ignore[call-arg]
        (
            lambda: Codel(algorithm="pie"),
            ['Codel.algorithm: "pie" is the name of another class; leave it out'],
        ),  # type: ignore[arg-type]
        (
            lambda: GilbertElliott(to_bad=2),  # type: ignore[call-arg]
            [
                "GilbertElliott.to_bad: 2 must be at most 1.0; 2 % is 0.02",
                "GilbertElliott.to_good: is missing (probability of going from bad to good, at each packet)",
            ],
        ),
        (lambda: Codel(target="0 ms"), ['Codel.target: "0 ms" must be above zero, for example "2.5 ms"']),  # type: ignore[arg-type]
        (
            lambda: Codel(target="5 parsec", ecn=1),  # type: ignore[arg-type]
            [
                'Codel.target: "5 parsec": "parsec" is not a unit of a time '
                "(units: ps, ns, us, µs, ms, s, min, h)",
                "Codel.ecn: 1 is neither true nor false",
            ],
        ),
        (
            lambda: Codel(target=PacketCount(5)),  # type: ignore[arg-type]
            ['Codel.target: 5 packets is not a time; write text such as "2.5 ms"'],
        ),
        (
            lambda: Trace(packets=[1, 3, 2]),
            ["Trace.packets: 2 stands behind 3; the numbers must rise, from 1 on"],
        ),
        (lambda: Trace(packets=1), ["Trace.packets: 1 is not a list; write it in square brackets"]),  # type: ignore[arg-type]
        (
            lambda: Fifo(limit={"bdp": 1.0, "rtt": "0 s"}),  # type: ignore[arg-type]
            ['Fifo.limit.rtt: "0 s" must be above zero, for example "2.5 ms"'],
        ),
        (
            lambda: TcpbpApplication(estimator={"algorithm": "sma", "window": 0}),  # type: ignore[arg-type]
            ["TcpbpApplication.estimator.window: 0 must be at least 1"],
        ),
        (
            lambda: Red(weight=float("nan")),
            ["Red.weight: nan is not a number that can be used; write a finite one"],
        ),
    ],
)
def test_what_is_wrong_is_told_at_once_with_its_place(make: Any, told: list[str]) -> None:
    with pytest.raises(ScenarioError) as caught:
        make()
    assert [str(problem) for problem in caught.value.problems] == told


def test_a_list_is_kept_as_it_was_given() -> None:
    packets = [1, 5]
    trace = Trace(packets=packets)
    packets.append(9)
    assert trace.packets == [1, 5]
    assert Trace(packets=(1, 5)) == trace  # type: ignore[arg-type]


def test_nothing_can_be_changed() -> None:
    codel = Codel()
    with pytest.raises(
        AttributeError, match=r"Codel does not change; make another one: \.replace\(ecn=\.\.\.\)"
    ):
        codel.ecn = True  # type: ignore[misc]
    with pytest.raises(AttributeError, match="so ecn stays"):
        del codel.ecn
    with pytest.raises(ScenarioError, match="no such key"):
        codel.replace(target_ms=5)


def test_a_table_takes_an_object_as_it_is_and_refuses_one_of_another_kind() -> None:
    codel = Codel(ecn=True)
    assert LinkSettings(queue=codel).queue is codel
    for wrong in (GilbertElliott(to_bad=0.1, to_good=0.5), TcpbpScheme()):
        with pytest.raises(ScenarioError, match=r"is a (loss|scheme), for "):
            LinkSettings(queue=wrong)  # type: ignore[arg-type]


def test_plain_data_say_what_was_given_or_all() -> None:
    text = """
    network = { topology = "dumbbell", links = { queue = { algorithm = "codel", ecn = true } } }
    routing = { scheme = { algorithm = "semper" } }
    traffic = [{ from = "left1", to = "right1" }]
    run = { duration = "1 s" }
    """
    scenario = Scenario.loads(text)
    assert scenario.data()["network"]["links"]["queue"] == {
        "algorithm": "codel",
        "limit": "100 packets",
        "target": "5 ms",
        "interval": "100 ms",
        "ecn": True,
    }
    # What has no value is left out, as TOML has none.
    assert scenario.data()["routing"]["scheme"] == {"algorithm": "semper", "shares": "equal"}
    short = scenario.data(given_only=True)
    assert short["network"]["links"]["queue"] == {"algorithm": "codel", "ecn": True}
    built = scenario.replace({"network.links.queue": Codel(ecn=True)})
    assert built == scenario
    assert built.fingerprint() == scenario.fingerprint()
    assert hash(built) == hash(scenario)
