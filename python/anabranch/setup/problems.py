"""Collecting everything that is wrong, in place of stopping at the first."""

from __future__ import annotations

from anabranch.errors import Problem, ScenarioError


class Problems:
    """What is wrong with a scenario, in the order in which it was found."""

    def __init__(self, origin: str | None) -> None:
        self._origin = origin
        self._found: list[Problem] = []

    def add(self, place: str, message: str) -> None:
        """Notes one problem; the same one twice counts once."""
        problem = Problem(place, message)
        if problem not in self._found:
            self._found.append(problem)

    def __len__(self) -> int:
        """How many problems were noted so far."""
        return len(self._found)

    def raise_if_any(self) -> None:
        """Stops here if something was wrong; what was noted is then forgotten.

        Raises:
            ScenarioError: with all that was noted.
        """
        found, self._found = self._found, []
        if found:
            raise ScenarioError(found, self._origin)
