"""Collecting everything that is wrong, in place of stopping at the first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.setup.flow_columns import FlowSetup
from anabranch.setup.model import DatagramSetup, LinkSetup, Setup

_ENTRY = re.compile(r"(flow|datagram|link)s\[(\d+)\](?:\.(.+))?")


class Problems:
    """The mistakes of a scenario, in the order in which they were found."""

    def __init__(self, origin: str | None) -> None:
        self._origin = origin
        self._found: dict[Problem, None] = {}

    def add(self, place: str, message: str) -> None:
        """Notes one problem; the same one twice counts once."""
        self._found[Problem(place, message)] = None

    def __len__(self) -> int:
        """How many problems were noted so far."""
        return len(self._found)

    def raise_if_any(self) -> None:
        """Stops here if something was wrong; what was noted is then forgotten.

        Raises:
            ScenarioError: with all that was noted.
        """
        problems, self._found = list(self._found), {}
        if problems:
            raise ScenarioError(problems, self._origin)


def refused(error: _core.SetupError, origin: str | None, setup: Setup) -> ScenarioError:
    """The refusal of the core, as an error of the scenario, which knows flows and links by their names."""
    place, message = error.args if len(error.args) == 2 else ("", str(error))
    if match := _ENTRY.fullmatch(str(place)):
        kind, number, field = match.groups()
        entries: dict[str, Sequence[FlowSetup | DatagramSetup | LinkSetup]] = {
            "flow": setup.flows,
            "datagram": setup.datagrams,
            "link": setup.links,
        }
        name = entries[kind][int(number)].name
        place = f"{field} of the {'link' if kind == 'link' else 'flow'} {name}" if field else name
    return ScenarioError([Problem(str(place), str(message))], origin)
