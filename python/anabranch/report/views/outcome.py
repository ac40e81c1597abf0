"""The shape of a study's result, which is all that views and figures know of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import polars as pl

from anabranch.results.result import FactorInfo, MetricInfo


class StudyOutcome(Protocol):
    """The answers that a study's result gives."""

    @property
    def title(self) -> str:
        """One line for people."""

    @property
    def confidence(self) -> float:
        """Probability with which an interval holds the true mean, such as 0.95."""

    @property
    def interval_note(self) -> str:
        """The meaning of the intervals, in words."""

    @property
    def replications(self) -> int:
        """Runs of each cell."""

    @property
    def factors(self) -> tuple[FactorInfo, ...]:
        """The factors: rows, columns, and the rest."""

    @property
    def metrics(self) -> tuple[MetricInfo, ...]:
        """The metrics."""

    @property
    def live(self) -> bool:
        """Whether runs were live."""

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings of what misleads whoever does not know it."""

    @property
    def runs(self) -> pl.DataFrame:
        """A row for each run: run, cell, replication, the factors, status, reason, the metrics."""

    @property
    def cells(self) -> pl.DataFrame:
        """A row for each cell: cell, the factors, runs, failed; m, m_ci, m_min, m_max of each metric m."""
