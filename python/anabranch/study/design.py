"""The design of a study: its cells in order, and all that determines its results, as plain data."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.media.columns import COLUMNS, Better
from anabranch.results.result import FactorInfo, MetricInfo
from anabranch.routing import Solved
from anabranch.scenario.place import place
from anabranch.scenario.provenance import Agreement, Provenance
from anabranch.scenario.reading import with_value
from anabranch.scenario.scenario import Scenario
from anabranch.study.counts import count_columns
from anabranch.study.description import Metric
from anabranch.study.fields import Steps
from anabranch.study.levels import as_text, number_text

Setting = tuple[Steps, Any]
"""A field and the value that it gets."""


_BETTER_OF_SUMMARY: Mapping[str, Better] = {
    "delivered_mbps": "more",
    "jain_index": "more",
    "packets_lost": "less",
}
"""Which way is better of what a summary has, which is no table with declared columns."""


def _label(metric: Metric) -> str:
    """The declared heading of the column that gives a metric its name; any other name stands for itself."""
    about = COLUMNS.get(metric.name) if metric.name == metric.column else None
    if about is None or metric.scale != 1:
        return metric.name
    # A share is no percentage in a study.
    return f"{about.label} ({about.unit})" if about.unit and about.factor == 1 else about.label


def _better(metric: Metric) -> Better:
    """Whether more of a metric is better, or less, by the declaration of its column."""
    if metric.statistic in ("count", "std") or metric.scale <= 0:
        return ""
    if metric.statistic == "jain":
        return "more"
    if metric.table == "summary":
        return _BETTER_OF_SUMMARY.get(metric.column, "")
    about = COLUMNS.get(f"{metric.table}.{metric.column}") or COLUMNS.get(metric.column)
    return "" if about is None else about.better


@dataclass(frozen=True, slots=True)
class Dimension:
    """A factor, with what each of its levels sets."""

    info: FactorInfo
    choices: tuple[tuple[Setting, ...], ...]
    """For each level, the fields that it sets."""

    def data(self) -> dict[str, Any]:
        """The factor as a study file says it, with every level written out."""
        info = self.info
        fields = {tuple(steps) for choice in self.choices for steps, _ in choice}
        plain = [choice[0][1] for choice in self.choices if len(choice) == 1]
        texts = [as_text(value) for value in plain]
        if len(fields) == 1 and (info.kind == "continuous" or texts == list(info.levels)):
            return {"field": place(min(fields)), "label": info.label, "levels": plain}
        levels = [
            {
                "label": label if isinstance(label, str) else number_text(label, info.unit),
                "set": {place(steps): value for steps, value in choice},
            }
            for label, choice in zip(info.levels, self.choices, strict=True)
        ]
        return {"label": info.label, "level": levels}


HOSTS = Dimension(FactorInfo("hosts", "hosts", "categorical", None, ("live", "simulated")), choices=((), ()))
"""The factor of a live study that simulates each run as well: it sets no field."""


@dataclass(frozen=True, slots=True)
class Design:
    """A study with every name resolved: what a run needs, wherever it takes place.

    Runs are numbered from 0: run = cell * replications + replication. Cells are counted like the digits
    of a number whose first digit is the first factor's level: the last factor is the fastest.
    """

    title: str
    confidence: float
    replications: int
    keep: str
    data: dict[str, Any]
    """The scenario as plain data, before any level is set."""
    origin: str | None
    """Name of the scenario's file, for messages."""
    files: Mapping[str, bytes]
    """Contents of the topology files that the scenario and the levels name, by path."""
    dimensions: tuple[Dimension, ...]
    metrics: tuple[Metric, ...]
    solved: tuple[Solved, ...] = ()
    """What planners have found out already in the process that checked the study: no run asks again."""
    live: bool = False
    """Whether runs are live, but for those that :data:`HOSTS` says are simulated."""
    agreement: Agreement | None = None
    """What may run of the code that the scenario and the levels name, wherever a run takes place; None where
    they name none."""

    @property
    def cells(self) -> int:
        """How many combinations of levels there are."""
        return math.prod(len(dimension.choices) for dimension in self.dimensions)

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return self.cells * self.replications

    @property
    def factor_infos(self) -> tuple[FactorInfo, ...]:
        """The factors, as tables show them."""
        return tuple(dimension.info for dimension in self.dimensions)

    @property
    def metric_infos(self) -> tuple[MetricInfo, ...]:
        """The metrics, as tables show them."""
        return tuple(
            MetricInfo(metric.name, metric.label or _label(metric), metric.is_censored, _better(metric))
            for metric in self.metrics
        )

    @property
    def value_names(self) -> tuple[str, ...]:
        """The columns of counts and metrics in the table of runs, in the order of a run's values."""
        names = (name for info in self.metric_infos for name in info.columns)
        return (*count_columns(self.metrics), *names)

    def levels(self, cell: int) -> tuple[int, ...]:
        """The level of each factor in a cell."""
        levels = []
        for dimension in reversed(self.dimensions):
            cell, level = divmod(cell, len(dimension.choices))
            levels.append(level)
        return tuple(reversed(levels))

    def is_live(self, levels: tuple[int, ...]) -> bool:
        """Whether the runs of a combination of levels are live."""
        kinds = zip(self.dimensions, levels, strict=True)
        return self.live and all(level == 0 for dimension, level in kinds if dimension == HOSTS)

    def scenario(self, levels: tuple[int, ...], base: Path | None) -> Scenario:
        """The scenario of a combination of levels.

        Args:
            levels: the level of each factor.
            base: folder that topology files are relative to.

        Raises:
            ScenarioError: with everything that is wrong with it.
        """
        data = self.data
        for dimension, level in zip(self.dimensions, levels, strict=True):
            for steps, value in dimension.choices[level]:
                try:
                    data = with_value(data, steps, value)
                except ValueError:
                    message = "leads to no place in this scenario; entries of lists must be there already"
                    raise ScenarioError([Problem(place(steps), message)], self.origin) from None
        provenance = Provenance.worker(self.agreement)
        return Scenario.from_data(data, origin=self.origin, base=base, provenance=provenance)

    def parts(self) -> dict[str, Any]:
        """All that determines the results, by what it is called in a message."""
        return {
            "version": _core.version(),
            "scenario": _digest(self.data),
            "topology files": {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()},
            "factors": [
                {
                    **asdict(dimension.info),
                    # As it is read back from JSON.
                    "levels": list(dimension.info.levels),
                    "settings": _digest(dimension.choices),
                }
                for dimension in self.dimensions
            ],
            "metrics": [metric.data(with_none=True) for metric in self.metrics],
            "replications": self.replications,
            "keep": self.keep,
            # Folders of simulated studies stay what they were.
            **({"live": True} if self.live else {}),
        }

    def fingerprint(self) -> str:
        """SHA-256 of :meth:`parts`, in hexadecimal."""
        return _digest(self.parts())


def _digest(data: object) -> str:
    # Dates are all that TOML has and JSON lacks.
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
