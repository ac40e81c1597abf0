"""Random variates: a time or a size that is drawn: ``{ distribution = "exponential", mean = "1 s" }``."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Discriminator, Field, Tag

from anabranch.scenario.quantity import ByteCount, Number, Quantity, Span, quoted
from anabranch.scenario.table import Table, alternative, refuse

Q = TypeVar("Q", bound=Quantity)
Core = dict[str, Any]
"""A variate as the core reads it: numbers in base units (crates/engine/src/setup.rs)."""

FIXED = alternative("fixed")
NonNegative = Annotated[float, Field(ge=0)]


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


class Constant(Distribution, Generic[Q]):
    """Always the same."""

    distribution: Literal["constant"]
    """Always the same."""
    value: Q
    """The value."""

    def mean_base_units(self) -> float:
        """The mean, in base units."""
        return float(self.value)


class Uniform(Distribution, Generic[Q]):
    """Anything between two ends, all equally likely; the ends are given, or mean and standard deviation."""

    distribution: Literal["uniform"]
    """Anything between two ends, all equally likely."""
    low: Q | None = None
    """Lower end."""
    high: Q | None = None
    """Upper end."""
    mean: Q | None = None
    """Mean, in place of the ends."""
    standard_deviation: Q | None = None
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


class Exponential(Distribution, Generic[Q]):
    """Exponential: gaps of a Poisson process."""

    above_zero = "mean"
    distribution: Literal["exponential"]
    """Gaps of a Poisson process."""
    mean: Q
    """Mean, above zero."""


class Gaussian(Distribution, Generic[Q]):
    """Gaussian; what falls below zero counts as zero."""

    distribution: Literal["gaussian"]
    """The normal distribution; what falls below zero counts as zero."""
    mean: Q
    """Mean, before values below zero are raised to it."""
    standard_deviation: Q
    """Standard deviation, likewise."""


class LogNormal(Distribution, Generic[Q]):
    """Log-normal, by mean and standard deviation of the variate itself, not of its logarithm."""

    above_zero = "mean"
    distribution: Literal["log-normal"]
    """By mean and standard deviation of the variate itself, not of its logarithm."""
    mean: Q
    """Mean, above zero."""
    standard_deviation: Q
    """Standard deviation."""


class Pareto(Distribution, Generic[Q]):
    """Pareto type I: many small values and a heavy tail."""

    above_zero = "scale"
    distribution: Literal["pareto"]
    """Pareto type I: many small values and a heavy tail."""
    scale: Q
    """Smallest value, above zero."""
    shape: Annotated[float, Field(gt=0)]
    """Tail index; at 1 and below the mean is infinite."""

    def mean_base_units(self) -> float:
        """The mean, in base units; infinite for a shape of 1 and below."""
        return float(self.scale) * self.shape / (self.shape - 1) if self.shape > 1 else float("inf")


class Empirical(Distribution, Generic[Q]):
    """One of given values."""

    distribution: Literal["empirical"]
    """One of given values."""
    values: Annotated[list[Q], Field(min_length=1)]
    """The values."""
    weights: list[NonNegative] = []
    """How likely each is, relative to the others; left out, all are equally likely."""

    def _check_together(self) -> None:
        super()._check_together()
        if self.weights and len(self.weights) != len(self.values):
            refuse("weights", f"{len(self.weights)} weights for {len(self.values)} values; give one for each")
        if self.weights and not 0 < sum(self.weights) < math.inf:
            refuse("weights", "their sum must be above zero, and finite")

    def mean_base_units(self) -> float:
        """The mean, in base units."""
        weights = self.weights or [1.0] * len(self.values)
        return sum(w * float(v) for w, v in zip(weights, self.values, strict=True)) / sum(weights)


DISTRIBUTIONS = ("constant", "uniform", "exponential", "gaussian", "log-normal", "pareto", "empirical")


def distribution_of(value: object) -> str:
    """Tag of the alternative that a value is an attempt at: its distribution, or a fixed quantity."""
    if isinstance(value, dict):
        return alternative(str(value.get("distribution")))
    return alternative(str(getattr(value, "distribution", FIXED[1:-1])))


SpanDistribution = (
    Annotated[Constant[Span], Tag("<constant>")]
    | Annotated[Uniform[Span], Tag("<uniform>")]
    | Annotated[Exponential[Span], Tag("<exponential>")]
    | Annotated[Gaussian[Span], Tag("<gaussian>")]
    | Annotated[LogNormal[Span], Tag("<log-normal>")]
    | Annotated[Pareto[Span], Tag("<pareto>")]
    | Annotated[Empirical[Span], Tag("<empirical>")]
)
ByteDistribution = (
    Annotated[Constant[ByteCount], Tag("<constant>")]
    | Annotated[Uniform[ByteCount], Tag("<uniform>")]
    | Annotated[Exponential[ByteCount], Tag("<exponential>")]
    | Annotated[Gaussian[ByteCount], Tag("<gaussian>")]
    | Annotated[LogNormal[ByteCount], Tag("<log-normal>")]
    | Annotated[Pareto[ByteCount], Tag("<pareto>")]
    | Annotated[Empirical[ByteCount], Tag("<empirical>")]
)
NumberDistribution = (
    Annotated[Constant[Number], Tag("<constant>")]
    | Annotated[Uniform[Number], Tag("<uniform>")]
    | Annotated[Exponential[Number], Tag("<exponential>")]
    | Annotated[Gaussian[Number], Tag("<gaussian>")]
    | Annotated[LogNormal[Number], Tag("<log-normal>")]
    | Annotated[Pareto[Number], Tag("<pareto>")]
    | Annotated[Empirical[Number], Tag("<empirical>")]
)
SpanVariate = Annotated[Annotated[Span, Tag(FIXED)] | SpanDistribution, Discriminator(distribution_of)]
"""A time, or a distribution of times."""
ByteVariate = Annotated[Annotated[ByteCount, Tag(FIXED)] | ByteDistribution, Discriminator(distribution_of)]
"""A size, or a distribution of sizes."""


def as_core(value: Quantity | Distribution) -> Core:
    """A fixed quantity or a variate, as the core reads it."""
    if isinstance(value, Quantity):
        return {"distribution": "constant", "value": float(value)}
    return value.core()


def mean_base_units(value: Quantity | Distribution) -> float:
    """The mean of a fixed quantity or a variate, in base units; possibly infinite."""
    return float(value) if isinstance(value, Quantity) else value.mean_base_units()
