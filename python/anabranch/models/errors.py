"""Mistakes in what a throughput model is asked."""

from __future__ import annotations

from anabranch.errors import AnabranchError, Problem


class ModelError(AnabranchError):
    """Conditions that no path can have, or a model that is not there.

    Attributes:
        problem: the place, as the name of a field or argument, and what would be right.
    """

    def __init__(self, place: str, message: str) -> None:
        self.problem = Problem(place, message)
        super().__init__(str(self.problem))
