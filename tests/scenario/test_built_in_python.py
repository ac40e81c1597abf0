"""Scenarios and studies that are built in Python: their mistakes are told as those of files are."""

import copy
import pickle
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch
from anabranch import (
    Event,
    Factor,
    LinkOverride,
    LinkSettings,
    Metric,
    Network,
    Range,
    Routing,
    Run,
    Scenario,
    ScenarioError,
    Study,
    StudyError,
    Traffic,
    Transport,
    scenario,
)
from anabranch.errors import ProblemsError
from anabranch.scenario import (
    Codel,
    Controller,
    Matrix,
    NewNode,
    Rate,
    Uniform,
)
from anabranch.scenario.algorithm import Own
from anabranch.scenario.forms import table_forms
from anabranch.scenario.quantity import Quantity
from anabranch.scenario.table import Table

from .conftest import BASE

RUN = Run(duration="1 s")
FLOW = Traffic(source="Seattle", destination="Atlanta")
RATE = (
    '"10" has no unit; a rate is written like "10 Mbps" '
    "(units: bps, kbps, Mbps, Gbps, Tbps, bit/s, kbit/s, Mbit/s, Gbit/s)"
)
TIME = '"5" has no unit; a time is written like "2.5 ms" (units: ps, ns, us, µs, ms, s, min, h)'


def whole(**tables: Any) -> Scenario:
    """A scenario, with other tables where they are given."""
    return Scenario(**{"network": Network(topology="zoo/Abilene"), "traffic": [FLOW], "run": RUN, **tables})


# What is called, and every line of its message.
MISTAKES: dict[str, list[str]] = {
    "LinkSettings(capacity='10')": [f"LinkSettings.capacity: {RATE}"],
    "Codel(target='5')": [f"Codel.target: {TIME}"],
    "Network(topolgy='x')": ['Network.topolgy: no such key; nearest: "topology"'],
    # Attributes have other names than keys: what is called has the names of attributes.
    "Traffic(sorce='a', destination='b')": ['Traffic.sorce: no such key; nearest: "source"'],
    "Traffic(fromm='a', destination='b')": ['Traffic.fromm: no such key; nearest: "source"'],
    "Traffic(destination='b')": ["Traffic.source: is missing; it names the node that sends"],
    "Traffic(source='b')": ["Traffic.destination: is missing; it names the node that receives"],
    "scenario.DistanceDelay()": ['DistanceDelay.source: is missing (always "distance")'],
    "Matrix(source='gravty')": [
        'Matrix.source: "gravty" is neither "topology", "gravity", "uniform", "bounds" nor like '
        '"file:demands.csv"'
    ],
    # In a dictionary there may be either name, and the place has the one that was written.
    "whole(traffic=[{'from': 3, 'destination': 4}])": [
        "traffic[0].from: 3 is not text; write it in double quotes",
        "traffic[0].destination: 4 is not text; write it in double quotes",
    ],
    "whole(traffic=[{'from': 'a', 'to': 'b', 'destinaton': 1}])": [
        'traffic[0].destinaton: no such key; nearest: "destination"'
    ],
    "Traffic(**{'from': 'a'}, source='b', destination='c')": [
        'Traffic.source: is another name of "from", which is there, too; leave out one of the two'
    ],
    # Everything at once, at any depth.
    "Scenario(network={'links': {'capacity': '10'}}, traffic=[{'from': 'a', 'to': 'b', 'sze': 1}])": [
        f"network.links.capacity: {RATE}",
        'traffic[0].sze: no such key; nearest: "size"',
    ],
    "Network(links={'delay': '5'}, link=[{'between': ['a'], 'capacty': 1}])": [
        f"Network.links.delay: {TIME}",
        "Network.link[0].between: has 1 in place of 2 entries",
        'Network.link[0].capacty: no such key; nearest: "capacity"',
    ],
    # Another table than the one that belongs there.
    "whole(network=LinkSettings())": [
        "network: a table LinkSettings does not belong here; give Network, or a dictionary of its keys"
    ],
    "Traffic(source='a', destination='b', routing=Routing())": [
        "Traffic.routing: a table Routing does not belong here; give TrafficRouting, or a dictionary of "
        "its keys"
    ],
    "LinkSettings(queue=scenario.GilbertElliott(to_bad=0.1, to_good=0.2))": [
        'LinkSettings.queue: "gilbert-elliott" is a loss, for loss of links; here there are '
        '"fifo", "threshold", "codel", "fq-codel", "pie", "red", "trim"'
    ],
    "Traffic(source='a', destination='b', application=Codel())": [
        "Traffic.application: a table Codel does not belong here; a table here has a kind: "
        "constant-rate, poisson, messages, ping, udp"
    ],
    "LinkSettings(delay=Codel())": [
        'LinkSettings.delay: a table Codel is not a time; write text such as "2.5 ms"'
    ],
    "Network(links=LinkSettings)": ["Network.links: the class LinkSettings is not a table"],
    # A key may be what pydantic calls the place of one.
    "whole(transport={'[key]': 3})": ['transport."[key]": 3 is not a table'],
    "anabranch.Level(label='x', settings={'a[': 1})": [
        'Level.settings."a[": "a[" is not a field; write one like network.links.capacity or traffic[0].flows'
    ],
    # What no file can hold.
    "Event(at='1 s', link=('a', 'b'), state='down')": [
        "Event.link: a tuple is not a list; write it in square brackets"
    ],
    "Network(node=NewNode(name='a'))": [
        "Network.node: a table NewNode is not a list; write it in square brackets"
    ],
    "Run(duration='1 s', seed=np.int64(3))": ["Run.seed: 3 of type int64 is not a whole number"],
    "LinkSettings(queue=np.array([1, 2]))": [
        'LinkSettings.queue: [1 2] of type ndarray is not a number of packets; write text such as "100 '
        'packets"'
    ],
    "Network(topology=Path('net.graphml'))": [
        f"Network.topology: net.graphml of type {type(Path()).__name__} is not text; write it in double "
        "quotes"
    ],
    "LinkSettings(capacity=object())": [
        'LinkSettings.capacity: an object of type object is not a rate; write text such as "10 Mbps"'
    ],
    "LinkSettings(capacity='\\ud800')": [
        'LinkSettings.capacity: "\\\\ud800" holds half a character, which no file can'
    ],
    "whole(title='\\ud800', transport={'\\ud800': {}})": [
        'title: "\\\\ud800" holds half a character, which no file can',
        'transport."\\\\ud800": "\\\\ud800" holds half a character, which no file can',
    ],
    "whole().replace({3: 4})": ["3 is not a field; write one like network.links.capacity"],
    "whole().replace({'\\ud800': 4})": ['"\\\\ud800" is not a field; write one like network.links.capacity'],
    "whole().replace({'run.seed': np.int64(2)})": ["run.seed: 2 of type int64 is not a whole number"],
    "whole().replace({'network.links': LinkSettings})": [
        "network.links: the class LinkSettings is not a table"
    ],
    "whole(transport={3: Transport()})": ["transport: the key 3 is not text"],
    "whole(network={1: 2})": ["network: the key 1 is not text"],
    "Network(parameters={'a': {'b': [1, float('nan')]}, 'c': {3: 4}, 'd': {'e': object()}})": [
        "Network.parameters.c: the key 3 is not text",
        "Network.parameters.a.b[1]: nan is not a number that can be used; write a finite one",
        "Network.parameters.d.e: an object of type object is neither text, a number, true or false, a "
        "list nor a table",
    ],
    "Own(python='m:C', x=[1])": ["Own.x: a list is neither text, a number that can be used, true nor false"],
    # Plain data have keys as files have them, and texts of JSON are read like them.
    "Traffic.model_validate({'to': 'b'})": ["Traffic.from: is missing; it names the node that sends"],
    "Scenario.model_validate({'network': {'lnks': 1}, 'traffic': [{'from': 'a', 'to': 'b'}]})": [
        'network.lnks: no such key; nearest: "links"',
    ],
    "Scenario.model_validate(3)": ["3 is not a table"],
    'Network.model_validate_json(\'{"topolgy": "x"}\')': [
        'Network.topolgy: no such key; nearest: "topology"'
    ],
    # Tables of a study.
    "Study()": ["scenario: is missing (the scenario)"],
    "Study(scenario='a.toml', factors=[{'field': 'run.seed'}], metric=[{'nam': 1, 'column': 'b'}])": [
        "factors[0].levels: give either levels or range",
        "metric[0].name: is missing (name of its column)",
        'metric[0].nam: no such key; nearest: "name"',
    ],
    "Range(first=1, last=2)": ["Range.step: is missing (from each level to the next)"],
    "Factor(levels=[1])": [
        "Factor.field: is missing; it names what the levels set, such as network.links.queue"
    ],
    "Metric(name='a', column='b', scale=0)": [
        "Metric.scale: 0.0 leaves nothing of the statistic; give a finite number that is not 0"
    ],
    # Copies.
    "FLOW.model_copy(update={'sorce': 'a', 'start': '5'})": [
        f"Traffic.start: {TIME}",
        'Traffic.sorce: no such key; nearest: "source"',
    ],
    "whole().model_copy(update={'run': {'duration': '5'}, 'routng': Routing()})": [
        f"run_settings.duration: {TIME}",
        'routng: no such key; nearest: "routing"',
    ],
    "RUN.model_copy(update={3: 4})": ["Run: the key 3 is not text"],
    # Fields that go together are looked at together, also with those that stay.
    "FLOW.model_copy(update={'size': '1 kB', 'application': scenario.PingApplication(kind='ping')})": [
        "Traffic.application: an application says itself how much it sends; leave out size"
    ],
    "FLOW.model_copy(update={'stop': '1 s', 'start': '2 s'})": [
        'Traffic.stop: "1 s" is not after start, "2 s"'
    ],
    # Nothing changes in place.
    "setattr(RUN, 'seed', 2)": [
        'Run.seed: cannot be changed; model_copy(update={"seed": ...}) makes a copy with another value'
    ],
    "setattr(RUN, 'sede', 2)": ['Run.sede: no such key; nearest: "seed"'],
    "delattr(whole(), 'title')": [
        'title: cannot be changed; model_copy(update={"title": ...}) makes a copy with another value'
    ],
}


def told(call: Callable[[], object]) -> ProblemsError:
    """What a call raises."""
    with pytest.raises(ProblemsError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("code", MISTAKES)
def test_a_mistake_has_its_place_and_a_remedy(code: str) -> None:
    """And the last lines of its traceback are the message, where no other library is named."""
    lines = MISTAKES[code]
    error = told(lambda: eval(code, globals()))  # noqa: S307 - written above
    assert error.lines() == lines
    shown = "".join(traceback.format_exception(error))
    assert shown.endswith(f"anabranch.errors.{type(error).__name__}: " + "\n".join(lines) + "\n")
    assert "pydantic" not in shown
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.lines(), again.origin) == (type(error), lines, error.origin)


def test_plain_data_may_have_the_names_of_attributes() -> None:
    data = {"scenario": "a.toml", "factors": [{"field": "run.seed", "levels": [1]}], "metrics": []}
    study = Study.model_validate(data)
    assert study.factors == [Factor(field="run.seed", levels=[1])]
    assert Study.model_validate({"factor" if key == "factors" else key: data[key] for key in data}) == study
    assert Traffic.model_validate({"source": "a", "to": "b"}) == Traffic(source="a", destination="b")
    lines = told(lambda: Traffic.model_validate({"source": "a", "from": "c", "to": "b"})).lines()
    assert lines == ['Traffic.source: no such key; nearest: "from"']


def test_tables_of_a_study_are_told_as_mistakes_of_a_study() -> None:
    for call in (Study, Factor, Metric, Range, anabranch.Level):
        assert type(told(call)) is StudyError
    for table in (Scenario, LinkOverride, Event, NewNode):
        assert type(told(table)) is ScenarioError


VALUES: list[Any] = [
    None, True, -1, 10**400, 1.5, float("nan"), "", "x", "\ud800", "5 ms", "10 Mbps", b"x", (), {"a"}, [], {},
    [None], [{}], {1: 2}, {"\ud800": 1}, {(1, 2): 3}, {"algorithm": "x"}, {"algorithm": None}, {"python": 3},
    {"distribution": "uniform", "low": 3}, {"kind": "x"}, {"[key]": 1}, {"from": 3}, {"source": 3}, object(),
    object, print, np.int64(3), np.array([1, 2]), np.array(["a"]), range(3), 1j, Codel(), Codel,
    RUN, FLOW, Network(), Rate("1 Mbps"), Own(python="a:b"), Uniform(distribution="uniform", low=1, high=2),
]  # fmt: skip
FOREIGN = (
    "pydantic", "http", "Input should",
    "alidation error", "ield required", "Extra inputs", "alue error", " at 0x",
)  # fmt: skip


def tables(base: type[Table] = Table) -> Iterator[type[Table]]:
    """Every table of a scenario and of a study."""
    described = {name.partition("[")[0] for name in table_forms()}
    for table in base.__subclasses__():
        # The others have what can be asked of tables.
        if table.__name__ in described:
            yield table
        yield from tables(table)


def test_whatever_is_given_is_told_in_our_words() -> None:
    loop: dict[str, Any] = {}
    loop["x"] = loop
    seen = 0
    for table in tables():
        for name in table.model_fields:
            for value in [*VALUES, loop, [loop]]:
                for call in (table, table.model_validate):
                    try:
                        call(**{name: value}) if call is table else call({name: value})
                    except ProblemsError as error:
                        lines = error.lines()
                        seen += 1
                    else:
                        continue
                    text = "\n".join(lines)
                    text.encode()
                    assert not [word for word in FOREIGN if word in text], (table, name, text)
                    assert len(text.split("\n")) == len(lines)
    assert seen > 20_000


WHOLE = [
    Network(topology="zoo/Abilene", link=[LinkOverride(between=["a", "b"])], parameters={"a": [1]}),
    LinkSettings(capacity="1 Mbps", queue="1 BDP", loss=0.1),
    FLOW,
    Traffic(source=["a"], destination="*", flows={"distribution": "constant", "value": 3}, size="1 kB"),
    Event(at="1 s", link=["a", "b"], state="down"),
    RUN,
    Routing(scheme={"algorithm": "robust"}, demand={"pair": "1 Mbps"}),
    Controller(channel="in-band", at="a"),
    Codel(ecn=True),
    Transport(preset="cubic"),
    Own(python="a:b", x=3),
    Matrix(source="uniform", total="1 Gbps"),
    Uniform(distribution="uniform", low="1 ms", high="2 ms"),
    Factor(field="run.seed", levels=[1, 2]),
    Metric(name="a", column="b"),
    whole(transport={"mine": {"preset": "cubic"}}),
    Study(scenario=whole(), factors=[Factor(field="run.seed", levels=[1, 2])]),
]


@pytest.mark.parametrize(
    "table", [table for table in WHOLE if isinstance(table, Table)], ids=lambda table: type(table).__name__
)
def test_a_copy_with_changes_is_what_a_call_makes(table: Table) -> None:
    """The same table, or the same message."""

    def outcome(make: Callable[[], Table]) -> object:
        try:
            return repr(make())
        except ProblemsError as error:
            return error.lines()

    kept = {name: getattr(table, name) for name in table.model_fields_set}
    for name in type(table).model_fields:
        for value in VALUES:
            changed = {**kept, name: value}
            copied = outcome(lambda name=name, value=value: table.model_copy(update={name: value}))  # type: ignore[misc]
            assert copied == outcome(lambda changed=changed: type(table)(**changed)), (name, value)  # type: ignore[misc]


@pytest.mark.parametrize("table", WHOLE, ids=lambda table: type(table).__name__)
def test_copies_are_equal(table: Table) -> None:
    copies = [
        table.model_copy(),
        table.model_copy(deep=True),
        table.model_copy(update={}),
        copy.copy(table),
        copy.deepcopy(table),
        pickle.loads(pickle.dumps(table)),
    ]
    assert all(type(each) is type(table) and each == table for each in copies)
    assert all(each.model_fields_set == table.model_fields_set for each in copies)


def test_a_copy_takes_what_a_call_takes() -> None:
    base = whole()
    changed = base.model_copy(update={"routing": {"scheme": "ecmp"}, "run": Run(duration="2 s")})
    assert changed.routing == Routing(scheme="ecmp")
    assert changed.run_settings == Run(duration="2 s")
    assert (changed.network, changed.traffic) == (base.network, base.traffic)
    assert LinkSettings(capacity="1 Mbps").model_copy(update={"delay": "5 ms"}) == LinkSettings(
        capacity="1 Mbps", delay="5 ms"
    )
    assert FLOW.model_copy(update={"from": "Denver"}) == FLOW.model_copy(update={"source": "Denver"})
    ours = Own(python="a:b", x=3).model_copy(update={"y": 2.5, "x": "z"})
    assert (ours.python, ours.parameters) == ("a:b", {"x": "z", "y": 2.5})


def test_what_depends_on_a_changed_field_is_made_anew_in_a_copy() -> None:
    routing = Routing(scheme="shortest")
    assert (routing.metric, routing.load_balancing) == ("hops", "flow")
    for scheme, metric, balancing in (("tcpbp", "tcpbp", "flow"), ("hybrid-delay", "delay", "packet")):
        demand = {"pair": "1 Mbps"}
        copied = routing.model_copy(update={"scheme": scheme, "demand": demand})
        assert (copied.metric, copied.load_balancing) == (metric, balancing)
        assert copied == Routing(scheme=scheme, demand=demand)
    flow = Traffic(source="a", destination="b")
    assert "transport" in flow.data()
    ping = flow.model_copy(update={"application": {"kind": "ping"}})
    assert "transport" not in ping.data()


def test_what_nobody_set_stays_unset_in_a_copy() -> None:
    assert FLOW.model_copy(update={"size": "1 kB"}).model_fields_set == {"source", "destination", "size"}


def test_a_deep_copy_shares_nothing_that_stays() -> None:
    base = whole(capture=[{"file": "a.pcapng", "host": "Denver"}])
    traffic = [FLOW]
    changed = base.model_copy(update={"traffic": traffic}, deep=True)
    assert changed.capture == base.capture
    assert changed.capture is not base.capture
    assert base.model_copy(update={"traffic": traffic}).network is base.network


def test_a_copy_is_trusted_as_its_original(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(BASE, encoding="utf-8")
    base = Scenario.load(file)
    for original in (base, base.trusted()):
        for made in (
            original.model_copy(update={"title": "x"}),
            original.model_copy(update={"title": "x"}, deep=True),
            original.replace({"title": "x"}),
        ):
            assert made.title == "x"
            assert (made.origin, made.base) == ("a.toml", tmp_path)
            assert made.provenance == original.provenance
            assert made.provenance.files == (file,)
            assert made.provenance.trust is (original is not base)
    error = told(lambda: base.model_copy(update={"title": 3}))
    assert error.lines() == ["a.toml: title: 3 is not text; write it in double quotes"]


def test_quantities_are_parameters_of_a_generator_with_their_unit() -> None:
    network = Network(
        topology="dumbbell", parameters={"bottleneck_capacity": Rate("10 Mbps"), "n": [Rate(1)]}
    )
    assert network.parameters == {"bottleneck_capacity": "10 Mbps", "n": ["1 bps"]}
    assert not any(isinstance(value, Quantity) for value in network.parameters.values())


def test_public_tables_are_among_those_that_are_tried() -> None:
    public = {getattr(module, name) for module in (anabranch, scenario) for name in module.__all__}
    models = {each for each in public if isinstance(each, type) and hasattr(each, "model_fields")}
    assert len(models) >= 30
    assert all(issubclass(each, Table) for each in models)
