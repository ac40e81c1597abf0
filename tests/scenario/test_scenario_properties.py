"""What holds for any input: no exception but ScenarioError, exact quantities, a schema that is one."""

import contextlib
import json
import math
from typing import Any

import jsonschema
import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch import Scenario, ScenarioError
from anabranch.plans.routes import plan
from anabranch.scenario import ByteCount, PacketCount, Rate, Span, Speed
from anabranch.scenario.quantity import Quantity
from anabranch.setup import resolve

from .conftest import BASE, CONTROLLED, EXAMPLES, IN_BAND

QUANTITIES: tuple[type[Quantity], ...] = (Span, Rate, ByteCount, PacketCount, Speed)

VOCABULARY = """
network topology links link node capacity delay queue loss jitter codel routing scheme load_balancing traffic
from to flows size start stop application transport cubic preset hystart event at state run duration seed
capture distribution exponential mean kind poisson message algorithm gilbert-elliott between name new index
direction parameters * Seattle Atlanta Denver down up unlimited 10Mbps 1ms 100packets 64kB dumbbell
zoo/Abilene file:x.graphml controller application sdn-paced forwarding window-clamp alpha gamma share
tcpbp window threshold estimator ewma hte weight significance hold_time pairs neighbours
schedule channel in-band apart at switches switch table idle_timeout linger links access delay_class LAN
sequences segment reliable kind host uniform low high standard_deviation
"""
WORDS = st.sampled_from(VOCABULARY.split())
SCALARS = st.one_of(
    WORDS,
    st.text(max_size=12),
    st.integers(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.booleans(),
    st.dates(),
    st.none(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(WORDS, st.text(max_size=8)), inner, max_size=5)
    ),
    max_leaves=25,
)


def must_load_or_explain(data: Any) -> None:
    """Loads, resolves and plans; whatever is wrong must be told as a ScenarioError with readable lines."""
    try:
        plan(resolve(Scenario.from_data(data, origin="x.toml")), "x.toml")
    except ScenarioError as error:
        explained = error.lines()
    else:
        return
    assert explained
    for line in explained:
        assert "\n" not in line
        assert "pydantic" not in line


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_no_data_raises_anything_but_a_scenario_error(data: Any) -> None:
    must_load_or_explain(data)


def _places(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in plain data that holds a value."""
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    entries = [path] if path else []
    for key, child in children:
        entries += _places(child, (*path, key))
    return entries


FULL = [Scenario.load(EXAMPLES / name).data() for name in ("failure.toml", "lossy.toml", "dumbbell.toml")]
FULL += [Scenario.loads(text).data() for text in (CONTROLLED, IN_BAND)]


@given(st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_change_of_a_right_scenario_raises_anything_but_a_scenario_error(data: st.DataObject) -> None:
    scenario = json.loads(json.dumps(data.draw(st.sampled_from(FULL))))
    place = data.draw(st.sampled_from(_places(scenario)))
    node = scenario
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = data.draw(VALUES)
    must_load_or_explain(scenario)


@given(st.text(max_size=60), st.integers(min_value=0, max_value=len(BASE)))
@settings(max_examples=300, deadline=None)
def test_no_text_raises_anything_but_a_scenario_error(text: str, at: int) -> None:
    with contextlib.suppress(ScenarioError):
        Scenario.loads(BASE[:at] + text + BASE[at:], origin="x.toml")


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=300, deadline=None)
def test_no_field_that_is_set_raises_anything_but_a_scenario_error(field: str, value: str) -> None:
    with contextlib.suppress(ScenarioError):
        Scenario.loads(BASE, {field: value})


@pytest.mark.parametrize("quantity", QUANTITIES)
@given(data=st.data())
def test_a_quantity_reads_back_from_its_text(quantity: type[Quantity], data: st.DataObject) -> None:
    value = quantity(data.draw(st.integers(min_value=0, max_value=quantity.largest)))
    assert quantity(value.text) == value
    assert quantity.validate(value.text) == value


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (Span("0.0015 s"), "1.5 ms"),
        (Span("90 min"), "5400 s"),
        (Rate("1000 Mbps"), "1 Gbps"),
        (Rate("1500 kbps"), "1.5 Mbps"),
        (ByteCount("6 MiB"), "6 MiB"),
        (ByteCount("1460 B"), "1460 B"),
        (Speed("200000 km/s"), "200 km/ms"),
        (PacketCount("1 packet"), "1 packets"),
    ],
)
def test_quantities_are_written_as_people_do(text: Quantity, written: str) -> None:
    assert text.text == written


@pytest.mark.parametrize("value", [True, None, [], {}, math.nan, math.inf, 1, 1.5, b"1 s"])
def test_a_quantity_without_a_unit_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"is not a time|has no unit"):
        Span.validate(value)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_units_of_the_schema_are_those_of_the_core(quantity: type[Quantity]) -> None:
    with pytest.raises(ValueError, match="has no unit") as caught:
        quantity("1")
    assert str(caught.value).endswith(f"(units: {', '.join(quantity.units)})")


def test_the_schema_is_a_json_schema_and_the_examples_meet_it() -> None:
    schema = Scenario.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    files = sorted(EXAMPLES.glob("*.toml"))
    assert len(files) >= 5
    for file in files:
        validator.validate(Scenario.load(file).data())
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"network": {}, "traffic": [{"flows": 0}], "run": {"duration": "1 s"}})


def test_every_field_is_described_in_the_schema() -> None:
    schema = Scenario.model_json_schema()
    fields = [
        (table, name, field)
        for table, definition in [("Scenario", schema), *schema["$defs"].items()]
        for name, field in definition.get("properties", {}).items()
    ]
    assert len(fields) > 80
    undescribed = [
        f"{table}.{name}"
        for table, name, field in fields
        # Keys that tell alternatives apart say what they are by their one value, and a table that is
        # described in the same words stands for its field.
        if not {"description", "const", "$ref"} & field.keys()
    ]
    assert undescribed == []


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({}, {}),
        # Beside a controller nothing of [routing] is written out that nobody gave, and a reader without a
        # rate has no block.
        ({"controller": "{}"}, {}),
        ({"controller": "{}", "routing.reaction": '"0.5 s"'}, {"reaction": "500 ms"}),
        ({"traffic[0].reads": '{ pause = "1 s", resume = "2 s" }'}, {}),
    ],
)
def test_toml_is_written_so_that_it_reads_back(fields: dict[str, str], written: dict[str, str]) -> None:
    scenario = Scenario.loads(BASE, fields)
    assert tomli_w.dumps(scenario.data()) == scenario.toml()
    again = Scenario.loads(scenario.toml())
    assert again == scenario
    assert again.replace({"run.seed": 7}).run_settings.seed == 7
    if "controller" in fields:
        assert scenario.data().get("routing", {}) == written
