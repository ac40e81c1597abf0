"""The leaves of a resolved scenario: typed, unchangeable, and to the core what the core declares."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from anabranch import Scenario, _core
from anabranch.scenario import leaves
from anabranch.scenario.algorithms.estimator import Sma
from anabranch.scenario.algorithms.loss import Bernoulli, GilbertElliott, NoneLoss
from anabranch.scenario.algorithms.path_manager import Ndiffports
from anabranch.scenario.algorithms.protocol import MptcpProtocol
from anabranch.scenario.algorithms.queue import Codel, Fifo, Red
from anabranch.scenario.algorithms.scheme import KShortest, Robust
from anabranch.scenario.choice import leaf, leaf_of_core
from anabranch.scenario.classes import classes_of
from anabranch.scenario.declarations import declarations
from anabranch.scenario.quantity import Span
from anabranch.scenario.record import Record, field_names
from anabranch.setup import resolve

DECLARED: list[dict[str, Any]] = json.loads(_core.setup_leaves())
TEXT = """
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
loss = 0.01
queue = { algorithm = "codel", target = "7 ms" }
[routing]
scheme = { algorithm = "k-shortest", k = 3 }
metric = "delay"
max_delay = "1 s"
[run]
duration = "2 s"
[[event]]
at = "1 s"
link = ["router-left", "router-right"]
capacity = "1 Mbps"
state = "down"
[[traffic]]
from = "left1"
to = "right1"
transport = "mptcp"
[traffic.application]
kind = "poisson"
message = { distribution = "uniform", low = "1 kB", high = "2 kB" }
rate = "1 Mbps"
"""


def forms() -> Iterator[tuple[type[Record], dict[str, Any], dict[str, Any]]]:
    """Each class of the leaves, with its leaf and its table."""
    for declared in DECLARED:
        for form in declared["forms"]:
            parts = [*form["name"].split("-"), *declared["name"].split("_")]
            name = "".join(part.capitalize() for part in parts if part) + ("" if form["name"] else "Setup")
            yield getattr(leaves, name), declared, form


def sample(shape: dict[str, Any]) -> Any:
    """A value of a shape, as the core reads it."""
    kind, of = shape["kind"], shape.get("of")
    made: Any = {"switch": True, "number": 0.25}.get(kind, 7)
    if kind == "choice":
        made = of[0]
    elif kind == "list":
        made = [sample(of), sample(of)]
    elif kind == "pair":
        made = [sample(each) for each in of]
    elif kind == "optional":
        made = sample(of)
    elif kind == "algorithm":
        made = {"algorithm": next(iter(declarations()[of]))}
    elif kind == "leaf":
        (declared,) = (one for one in DECLARED if one["name"] == of)
        form = declared["forms"][0]
        tag = {declared["tag"]: form["name"]} if declared["tag"] else {}
        made = {**tag, **{field["name"]: sample(field["shape"]) for field in form["fields"]}}
    return made


@pytest.mark.parametrize(
    ("cls", "declared", "form"), list(forms()), ids=lambda value: getattr(value, "__name__", "")
)
def test_each_has_the_fields_of_its_declaration_and_gives_them_to_the_core(
    cls: type[Record], declared: dict[str, Any], form: dict[str, Any]
) -> None:
    tag = {declared["tag"]: form["name"]} if declared["tag"] else {}
    values = {field["name"]: sample(field["shape"]) for field in form["fields"]}
    assert field_names(cls) == (*tag, *values)
    made = cls(**values)
    assert made.core() == {**tag, **values}
    assert list(made.core()) == [*tag, *values]
    for same in (copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made.replace()):
        assert same == made
    if values:
        with pytest.raises(TypeError, match=f"{cls.__name__} needs "):
            cls()
    with pytest.raises(TypeError, match=f"{cls.__name__} has no nonsense; it has "):
        cls(nonsense=1, **values)
    with pytest.raises(AttributeError, match="does not change"):
        made.kind = "else"  # type: ignore[attr-defined]


def test_the_leaves_of_a_setup_are_objects() -> None:
    setup = resolve(Scenario.loads(TEXT))
    link = setup.links[0]
    assert link.queue.discipline == Codel(target=Span("7 ms"))
    assert link.loss == Bernoulli(probability=0.01)
    assert setup.routing.scheme == leaf(
        "scheme",
        KShortest(k=3),
        metric="delay",
        limits=leaves.PathLimitsSetup(max_delay=10**12, max_loss=None),
    )
    config = setup.transports[0].config
    assert isinstance(config, MptcpProtocol)
    assert config.path_manager == Ndiffports(by_interfaces=True)
    assert config.tcp.mss == 1460
    source = setup.flows[0].source
    assert isinstance(source, leaves.MessagesSource)
    assert source.size == leaves.UniformVariate(low=1000.0, high=2000.0)
    first, second = (event.change for event in setup.events)
    assert isinstance(first, leaves.CapacityChange)
    assert first.capacity == 10**6
    assert second == leaves.LinksChange(links=first.links, up=False)
    assert pickle.loads(pickle.dumps(setup.links)) == setup.links
    assert hash(setup.links[0].queue) == hash(setup.links[1].queue)


def test_links_that_have_one_queue_in_the_scenario_share_it() -> None:
    setup = resolve(Scenario.loads(TEXT))
    assert len({id(link.queue) for link in setup.links}) == 1
    assert len({id(link.loss) for link in setup.links}) == 1


def test_what_is_left_out_is_filled_in_and_what_is_there_stays() -> None:
    assert leaf("queue", "red") == Red()
    given = GilbertElliott(to_bad=0.1, to_good=0.5)
    assert leaf("loss", given) is given
    assert leaf("loss", "none") == NoneLoss()
    tcpbp = leaf("application", "tcpbp", measuring=[4, 5])
    assert tcpbp.estimator == Sma(window=3)
    assert tcpbp.core()["estimator"] == {"algorithm": "sma", "window": 3}
    assert tcpbp.core()["measuring"] == [4, 5]
    # The room of a queue crosses beside its discipline, in packets and bytes.
    assert Fifo(limit="20 ms").core() == {"algorithm": "fifo"}  # type: ignore[arg-type]


def test_the_core_gets_every_parameter_that_it_declares() -> None:
    assert leaf("scheme", "tcpbp-exact", metric="tcpbp").core() == {
        "algorithm": "tcpbp-exact",
        "metric": "tcpbp",
        "k": 1,
        "model": None,
        "objective": None,
        "sharing": None,
    }
    assert Robust(k=3).core()["k"] == 3


@pytest.mark.parametrize("preset", _core.transport_preset_names())
def test_a_transport_crosses_to_python_and_back_unchanged(preset: str) -> None:
    said = json.loads(_core.transport_preset(preset))
    made = leaf_of_core("protocol", said)
    assert json.dumps(made.core()) == json.dumps(said)
    assert _core.resolve_transport(json.dumps(made.core()))


def test_objects_of_every_algorithm_are_what_the_core_reads() -> None:
    seen = 0
    for kind in ("queue", "loss", "load_balancing", "scheme", "application", "estimator"):
        taken = {
            entry["name"]
            for r in json.loads(_core.declarations())
            if r["name"] == kind
            for entry in r["algorithms"]
        }
        for name in taken:
            cls = classes_of(kind)[name]
            if any(entry["required"] for entry in declarations()[kind][name]["parameters"]):
                continue
            document = json.loads(_core.resolve_algorithm(kind, json.dumps(leaf(kind, cls()).core())))
            assert {key: document[key] for key in leaf(kind, cls()).core()} == leaf(kind, cls()).core()
            seen += 1
    assert seen >= 20
