"""Questions to the table of an SDN controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.scenario.algorithm import Own, name_of
from anabranch.scenario.quantity import Span
from anabranch.scenario.table import Table

if TYPE_CHECKING:
    from anabranch.scenario.algorithms.application import Application
    from anabranch.scenario.algorithms.scheme import Metric

CONTROLLER_NAME = "controller"
"""Name of the node that a scenario's controller adds to the network."""
BY_SUBFLOW = "subflow-round-robin"
"""The application that gives entries to subflows."""
_TCPBP_INTERVAL = Span("10 s")
"""Vilela 2022, section 4.1.2."""


class ApplicationOfController(Table):
    """The application of a controller, and what it takes where the scenario does not say."""

    if TYPE_CHECKING:
        application: Application
        metric: Metric | None
        statistics_interval: Span | None

    @property
    def application_name(self) -> str:
        """The name of the application."""
        return name_of(self.application)

    @property
    def is_own(self) -> bool:
        """Whether a class of the user's own chooses the paths."""
        return isinstance(self.application, Own)

    def path_metric(self) -> Metric:
        """The metric, default filled in."""
        return self.metric or ("hops" if self.application_name == "tcpbp" else "delay")

    def polling(self) -> Span | None:
        """Time between two requests for counters, default filled in; None: none is made."""
        default = _TCPBP_INTERVAL if self.application_name == "tcpbp" else None
        return default if self.statistics_interval is None else self.statistics_interval
