"""Distributions: each is one table, of times, sizes or numbers by the field that takes it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from anabranch import LinkSettings, Scenario, ScenarioError, Traffic
from anabranch.scenario import (
    ByteCount,
    Constant,
    Cumulative,
    Empirical,
    Exponential,
    Gaussian,
    LogNormal,
    MessageApplication,
    Number,
    Pareto,
    Span,
    Uniform,
)
from anabranch.scenario.variate import Distribution

TIMES = {
    "constant": {"value": "5 ms"},
    "uniform": {"low": "1 ms", "high": "3 ms"},
    "exponential": {"mean": "500 ms"},
    "gaussian": {"mean": "5 ms", "standard_deviation": "1 ms"},
    "log-normal": {"mean": "100 ms", "standard_deviation": "200 ms"},
    "pareto": {"scale": "10 ms", "shape": 1.2},
    "empirical": {"values": ["1 ms", "10 ms"], "weights": [0.9, 0.1]},
    "cumulative": {"values": ["1 ms", "10 ms"], "probabilities": [0.4, 1.0]},
}
TABLES: dict[str, type[Distribution]] = {
    "constant": Constant,
    "uniform": Uniform,
    "exponential": Exponential,
    "gaussian": Gaussian,
    "log-normal": LogNormal,
    "pareto": Pareto,
    "empirical": Empirical,
    "cumulative": Cumulative,
}


def of(quantity: type, parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of times as those of another quantity."""
    units: dict[type, Callable[[str], Any]] = {
        Span: str,
        ByteCount: lambda text: text.replace("ms", "kB"),
        Number: lambda text: int(text.split()[0]),
    }

    def other(value: Any) -> Any:
        if isinstance(value, list):
            return [other(each) for each in value]
        return units[quantity](value) if isinstance(value, str) else value

    return {name: other(value) for name, value in parameters.items()}


def problems(make: Callable[[], object]) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        make()
    return caught.value.lines()


TAKING: dict[type, Callable[[Any], Any]] = {
    Span: lambda value: LinkSettings(delay=value).delay,
    ByteCount: lambda value: Traffic(source="a", destination="b", size=value).size,
    Number: lambda value: Traffic(source="a", destination="b", flows=value).flows,
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("quantity", TAKING)
def test_a_table_and_an_object_are_the_same(name: str, quantity: type) -> None:
    given = {"distribution": name, **of(quantity, TIMES[name])}
    made = TABLES[name](**given)
    assert TAKING[quantity](given) == made == TAKING[quantity](made)
    amounts = [each for _, value in made.items() for each in (value if isinstance(value, list) else [value])]
    assert {type(each) for each in amounts if isinstance(each, int)} == {quantity}
    assert type(made).model_validate(made.data()) == made


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("quantity", TAKING)
@pytest.mark.parametrize("field", TAKING)
def test_a_field_refuses_a_distribution_of_another_quantity(name: str, quantity: type, field: type) -> None:
    """At its parameters, the first of them first, as it refuses such a value that stands by itself."""
    if quantity is field:
        return
    made = TABLES[name](distribution=name, **of(quantity, TIMES[name]))
    line = problems(lambda: TAKING[field](made))[0]
    place, message = line.split(": ", 1)
    parameter = next(iter(TIMES[name]))
    where = {Span: "LinkSettings.delay", ByteCount: "Traffic.size", Number: "Traffic.flows"}[field]
    assert place.removesuffix("[0]") == f"{where}.{parameter}"
    noun = {Span: "a time", ByteCount: "a size", Number: "a whole number"}[field]
    assert noun in message


def test_what_is_wrong_inside_is_told_at_once() -> None:
    delay = {"distribution": "uniform", "low": "1 kB", "high": 5, "hi": 1}
    units = "(units: ps, ns, us, µs, ms, s, min, h)"
    assert problems(lambda: LinkSettings(delay=delay)) == [
        f'LinkSettings.delay.low: "1 kB": "kB" is not a unit of a time {units}',
        f'LinkSettings.delay.high: "5" has no unit; a time is written like "2.5 ms" {units}',
        'LinkSettings.delay.hi: no such key; nearest: "high"',
    ]
    application = {"kind": "messages", "message": {"distribution": "unifrm"}, "gap": "1 ms"}
    (line,) = problems(lambda: Traffic(source="a", destination="b", application=application))
    assert line.startswith(
        'Traffic.application.message: distribution "unifrm" is not known; nearest: "uniform"; there are '
    )
    (line,) = problems(lambda: MessageApplication(kind="messages", message="1 kB", gap=Constant))
    assert line == 'MessageApplication.gap: the class Constant is not a time; write text such as "2.5 ms"'


def test_alone_a_distribution_has_the_quantity_of_its_units() -> None:
    assert isinstance(Exponential(distribution="exponential", mean="1 ms").mean, Span)
    assert isinstance(Exponential(distribution="exponential", mean="1 KiB").mean, ByteCount)
    assert isinstance(Exponential(distribution="exponential", mean=3).mean, Number)
    given = Span("2 s")
    assert Exponential(distribution="exponential", mean=given).mean == given


@pytest.mark.parametrize(
    ("parameters", "lines"),
    [
        ({"low": "1 ms", "high": "2 kB"}, ['Uniform.high: "2 kB" is a size, and low is a time']),
        ({"low": 1, "high": "2 kB"}, ['Uniform.high: "2 kB" is a size, and low is a whole number']),
        (
            {"low": "1 Mbps", "high": True},
            [
                f"Uniform.{name}: {read} is neither a time, a size nor a whole number; write text such as "
                '"2.5 ms" or "64 kB", or a number such as 10'
                for name, read in (("low", '"1 Mbps"'), ("high", "true"))
            ],
        ),
        ({"low": "1 .. ms", "high": "2 ms"}, ['Uniform.low: "1 .. ms": ".. ms" is not']),
        ({"low": "2 ms", "high": "1 ms"}, ['Uniform.high: "1 ms" is below low, "2 ms"']),
        ({}, ["Uniform.low: is missing; give low and high, or mean and standard_deviation"]),
    ],
)
def test_mistakes_of_one_that_stands_alone(parameters: dict[str, Any], lines: list[str]) -> None:
    messages = problems(lambda: Uniform(distribution="uniform", **parameters))
    assert [line[: len(wanted)] for line, wanted in zip(messages, lines, strict=True)] == lines


def test_values_of_an_empirical_one_are_of_one_quantity() -> None:
    lines = problems(lambda: Empirical(distribution="empirical", values=["1 ms", "1 kB"]))
    assert lines == ['Empirical.values[1]: "1 kB" is a size, and values[0] is a time']


def test_each_distribution_is_one_class() -> None:
    """Also where fields of three quantities have been read, and the schema is made."""
    for quantity, take in TAKING.items():
        for name, parameters in TIMES.items():
            take({"distribution": name, **of(quantity, parameters)})
    Scenario.model_json_schema()
    assert set(Distribution.__subclasses__()) == set(TABLES.values())
    assert not [each for table in TABLES.values() for each in table.__subclasses__()]
    assert [(table.form().tag or {})["word"] for table in TABLES.values()] == list(TABLES)


def definitions(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, table in schema["$defs"].items():
        for quantity in ("Span", "ByteCount", "Number"):
            if name.endswith(f"_{quantity}_"):
                yield name, quantity, table


def test_the_json_schema_has_a_definition_for_each_quantity() -> None:
    entries = list(definitions(Scenario.model_json_schema()))
    assert len(entries) == len(TABLES) * len(TAKING)
    kinds = {
        "Span": '"examples": ["2.5 ms"]',
        "ByteCount": '"examples": ["64 kB"]',
        "Number": '"type": "integer"',
    }
    for name, quantity, table in entries:
        text = json.dumps(table["properties"])
        assert [kind for kind, mark in kinds.items() if mark in text] == [quantity], name
        assert table["description"]
        assert table["additionalProperties"] is False
        assert all(field["description"] for field in table["properties"].values())
