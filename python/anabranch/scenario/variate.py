"""Random variates: a time or a size that is drawn: ``{ distribution = "exponential", mean = "1 s" }``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

from pydantic import (
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Tag,
    TypeAdapter,
    ValidationInfo,
)
from pydantic_core import CoreSchema, core_schema

from anabranch.scenario.quantity import ByteCount, Number, Quantity, Span, quoted, shown
from anabranch.scenario.table import Table, alternative, refuse

Core = dict[str, Any]
"""A variate as the core reads it: numbers in base units (crates/engine/src/setup.rs)."""

FIXED = alternative("fixed")
NonNegative = Annotated[float, Field(ge=0)]
_UNIT = re.compile(r"([^\W\d_]+)\s*$")


class _AnyQuantity:
    """A parameter of a distribution: of the quantity of the field that takes it, see :class:`Drawn`.

    A distribution that stands alone takes any of the quantities that are drawn.
    """

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(attrgetter("plain"))
        return core_schema.with_info_plain_validator_function(_any_quantity, serialization=written)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> dict[str, Any]:
        return {"type": ["string", "integer"]}


def _any_quantity(value: object, info: ValidationInfo) -> Quantity:
    """A quantity that can be drawn, of the kind of the parameters before it; the unit says which.

    Raises:
        ValueError: with what was read and what would be right.
    """
    quantity = _drawable(value)
    for name, other in info.data.items():
        if isinstance(other, Quantity) and type(other) is not type(quantity):
            raise ValueError(f"{quoted(quantity.text)} is {quantity.noun}, and {name} is {other.noun}")
    return quantity


def _drawable(value: object) -> Quantity:
    if isinstance(value, Span | ByteCount | Number):
        return value
    if isinstance(value, str) and (unit := _UNIT.search(value)):
        for quantity in (Span, ByteCount):
            if unit[1] in quantity.units:
                return quantity(value)
    if isinstance(value, int) and not isinstance(value, bool | Quantity):
        return Number.validate(value)
    raise ValueError(
        f"{shown(value)} is neither a time, a size nor a whole number; write text such as "
        f"{quoted(Span.example)} or {quoted(ByteCount.example)}, or a number such as {Number.example}"
    )


Amount = Annotated[Quantity, _AnyQuantity()]


class Distribution(Table):
    """What a random variate follows."""

    above_zero: ClassVar[str | None] = None
    """The parameter that must not be zero."""
    distribution: str

    def _check_together(self) -> None:
        if self.above_zero and (value := getattr(self, self.above_zero)) == 0:
            refuse(self.above_zero, f"{quoted(value.text)} is zero; it must be above zero")

    def mean_base_units(self) -> float:
        """The mean, in base units; of a Gaussian as if nothing fell below zero."""
        return float(self.core()["mean"])

    def core(self) -> Core:
        """As the core reads it."""
        given = {name: getattr(self, name) for name in type(self).model_fields if name != "distribution"}
        numbers = {
            name: [float(each) for each in value] if isinstance(value, list) else float(value)
            for name, value in given.items()
        }
        return {"distribution": self.distribution, **numbers}


class Constant(Distribution):
    """Always the same."""

    distribution: Literal["constant"]
    """Always the same."""
    value: Amount
    """The value."""

    def mean_base_units(self) -> float:
        """The mean, in base units."""
        return float(self.value)


class Uniform(Distribution):
    """Anything between two ends, all equally likely; the ends are given, or mean and standard deviation."""

    distribution: Literal["uniform"]
    """Anything between two ends, all equally likely."""
    low: Amount | None = None
    """Lower end."""
    high: Amount | None = None
    """Upper end."""
    mean: Amount | None = None
    """Mean, in place of the ends."""
    standard_deviation: Amount | None = None
    """Standard deviation, with the mean."""

    def _check_together(self) -> None:
        super()._check_together()
        ends = {"low": self.low, "high": self.high}
        moments = {"mean": self.mean, "standard_deviation": self.standard_deviation}
        wanted = moments if any(value is not None for value in moments.values()) else ends
        for field, value in (moments | ends).items():
            if field in wanted and value is None:
                refuse(field, "is missing; give low and high, or mean and standard_deviation")
            if field not in wanted and value is not None:
                refuse(field, "give low and high, or mean and standard_deviation, not both")
        if self.low is not None and self.high is not None and self.high < self.low:
            refuse("high", f"{quoted(self.high.text)} is below low, {quoted(self.low.text)}")
        if self.standard_deviation is not None and self._ends()[0] < 0:
            refuse(
                "standard_deviation",
                f"{quoted(self.standard_deviation.text)} is more than the mean / sqrt(3), so that a part of "
                "the range is below zero",
            )

    def _ends(self) -> tuple[float, float]:
        """Lower and upper end, in base units."""
        if self.low is not None and self.high is not None:
            return float(self.low), float(self.high)
        assert self.mean is not None  # noqa: S101 - the table demands the ends or the moments
        assert self.standard_deviation is not None  # noqa: S101
        # The standard deviation of a uniform variate is its width / sqrt(12).
        half_width = math.sqrt(3) * float(self.standard_deviation)
        return float(self.mean) - half_width, float(self.mean) + half_width

    def mean_base_units(self) -> float:
        """The mean, in base units."""
        low, high = self._ends()
        return (low + high) / 2

    def core(self) -> Core:
        """As the core reads it."""
        low, high = self._ends()
        return {"distribution": "uniform", "low": low, "high": high}


class Exponential(Distribution):
    """Exponential: gaps of a Poisson process."""

    above_zero = "mean"
    distribution: Literal["exponential"]
    """Gaps of a Poisson process."""
    mean: Amount
    """Mean, above zero."""


class Gaussian(Distribution):
    """Gaussian; what falls below zero counts as zero."""

    distribution: Literal["gaussian"]
    """The normal distribution; what falls below zero counts as zero."""
    mean: Amount
    """Mean, before values below zero are raised to it."""
    standard_deviation: Amount
    """Standard deviation, likewise."""


class LogNormal(Distribution):
    """Log-normal, by mean and standard deviation of the variate itself, not of its logarithm."""

    above_zero = "mean"
    distribution: Literal["log-normal"]
    """By mean and standard deviation of the variate itself, not of its logarithm."""
    mean: Amount
    """Mean, above zero."""
    standard_deviation: Amount
    """Standard deviation."""


class Pareto(Distribution):
    """Pareto type I: many small values and a heavy tail."""

    above_zero = "scale"
    distribution: Literal["pareto"]
    """Pareto type I: many small values and a heavy tail."""
    scale: Amount
    """Smallest value, above zero."""
    shape: Annotated[float, Field(gt=0)]
    """Tail index; at 1 and below the mean is infinite."""

    def mean_base_units(self) -> float:
        """The mean, in base units; infinite for a shape of 1 and below."""
        return float(self.scale) * self.shape / (self.shape - 1) if self.shape > 1 else float("inf")


class Empirical(Distribution):
    """One of given values."""

    distribution: Literal["empirical"]
    """One of given values."""
    values: Annotated[list[Amount], Field(min_length=1)]
    """The values."""
    weights: list[NonNegative] = []
    """How likely each is, relative to the others; left out, all are equally likely."""

    def _check_together(self) -> None:
        super()._check_together()
        if len({type(value) for value in self.values}) > 1:
            refuse("values", "some are times, sizes or numbers, and others are not; give all of one kind")
        if self.weights and len(self.weights) != len(self.values):
            refuse("weights", f"{len(self.weights)} weights for {len(self.values)} values; give one for each")
        if self.weights and not 0 < sum(self.weights) < math.inf:
            refuse("weights", "their sum must be above zero, and finite")

    def mean_base_units(self) -> float:
        """The mean, in base units."""
        weights = self.weights or [1.0] * len(self.values)
        return sum(w * float(v) for w, v in zip(weights, self.values, strict=True)) / sum(weights)


def distribution_of(value: object) -> str:
    """Tag of the alternative that a value is an attempt at: its distribution, or a fixed quantity."""
    if isinstance(value, dict):
        return alternative(str(value.get("distribution")))
    return alternative(str(getattr(value, "distribution", FIXED[1:-1])))


@dataclass(frozen=True, slots=True)
class _Of:
    """In the type of a distribution: its parameters are of this quantity."""

    quantity: type[Quantity]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        general = handler.resolve_ref_schema(handler(source))
        own: Any = _with_quantity(general, handler.generate_schema(self.quantity))
        del own["ref"]
        return cast("CoreSchema", own)


@dataclass(frozen=True, slots=True)
class _WhenNeeded:
    """In the type of a field: a distribution whose validator is made when it is first needed; few are."""

    quantity: type[Quantity] | None = None
    """Of its parameters; None where the field does not say."""

    def __get_pydantic_core_schema__(
        self, table: type[Distribution], handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(partial(self._validate, table))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> dict[str, Any]:
        (table,) = cast("Any", schema)["function"]["function"].args
        # A definition of its own, by this name.
        name = f"{table.__name__}[{self.quantity.__name__ if self.quantity else ''}]"
        own: Any = _adapter(table, self.quantity).core_schema  # type: ignore[arg-type]
        reference = core_schema.definition_reference_schema(name)
        return handler(core_schema.definitions_schema(reference, [{**own, "ref": name}]))

    def _validate(self, table: type[Distribution], value: object) -> Distribution:
        if isinstance(value, table) and self.quantity is not None:
            _refuse_others(value, self.quantity)
        adapter = _adapter(table, self.quantity)  # type: ignore[arg-type]
        return cast("Distribution", adapter.validator.validate_python(value))


@cache
def _adapter(table: type[Distribution], quantity: type[Quantity] | None) -> TypeAdapter[Any]:
    kind: Any = table if quantity is None else Annotated[table, _Of(quantity)]
    return TypeAdapter(kind)


def _refuse_others(made: Distribution, quantity: type[Quantity]) -> None:
    """Refuses a distribution that was made by itself, of another quantity."""
    for name, given in made:
        for each in given if isinstance(given, list) else [given]:
            if isinstance(each, Quantity) and not isinstance(each, quantity):
                try:
                    quantity.validate(each)
                except ValueError as error:
                    refuse(name, str(error))


def _with_quantity(schema: Any, quantity: CoreSchema) -> Any:
    """A schema in which whatever is any quantity is this one."""
    if isinstance(schema, dict):
        function = schema.get("function")
        if isinstance(function, dict) and function.get("function") is _any_quantity:
            return quantity
        return {key: _with_quantity(value, quantity) for key, value in schema.items()}
    return [_with_quantity(value, quantity) for value in schema] if isinstance(schema, list) else schema


AnyDistribution = (
    Annotated[Constant, _WhenNeeded(), Tag("<constant>")]
    | Annotated[Uniform, _WhenNeeded(), Tag("<uniform>")]
    | Annotated[Exponential, _WhenNeeded(), Tag("<exponential>")]
    | Annotated[Gaussian, _WhenNeeded(), Tag("<gaussian>")]
    | Annotated[LogNormal, _WhenNeeded(), Tag("<log-normal>")]
    | Annotated[Pareto, _WhenNeeded(), Tag("<pareto>")]
    | Annotated[Empirical, _WhenNeeded(), Tag("<empirical>")]
)
"""A distribution, of the quantity that :class:`Drawn` says."""

_TABLES: dict[str, type[Distribution]] = {
    tag.tag: table for table, _, tag in map(get_args, get_args(AnyDistribution))
}
DISTRIBUTIONS = tuple(tag[1:-1] for tag in _TABLES)


@dataclass(frozen=True, slots=True)
class Drawn:
    """In the type of a field that takes distributions: of which quantity they are."""

    quantity: type[Quantity]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        schema: Any = handler(source)
        typed = {
            tag: handler.generate_schema(Annotated[table, _WhenNeeded(self.quantity)])
            for tag, table in _TABLES.items()
        }
        return cast("CoreSchema", {**schema, "choices": schema["choices"] | typed})


SpanVariate = Annotated[
    Annotated[Span, Tag(FIXED)] | AnyDistribution, Discriminator(distribution_of), Drawn(Span)
]
"""A time, or a distribution of times."""
ByteVariate = Annotated[
    Annotated[ByteCount, Tag(FIXED)] | AnyDistribution, Discriminator(distribution_of), Drawn(ByteCount)
]
"""A size, or a distribution of sizes."""


def as_core(value: Quantity | Distribution) -> Core:
    """A fixed quantity or a variate, as the core reads it."""
    if isinstance(value, Quantity):
        return {"distribution": "constant", "value": float(value)}
    return value.core()


def mean_base_units(value: Quantity | Distribution) -> float:
    """The mean of a fixed quantity or a variate, in base units; possibly infinite."""
    return float(value) if isinstance(value, Quantity) else value.mean_base_units()
