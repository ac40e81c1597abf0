"""Weights of links from a file: what an operator sets for OSPF or IS-IS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from anabranch.scenario.files import FILE
from anabranch.scenario.network import MOST_WEIGHT
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup.files import text_of
from anabranch.setup.problems import Problems
from anabranch.setup.table_file import TableRow, number_of, table_rows

_METRIC = "weight"
_Key = tuple[int, int, int | None]
"""Ends of a directed link, and which of several parallel ones, from 1 on; None for all of them."""


def by_weight(scenario: Scenario) -> bool:
    """Whether routes go by the links' weights."""
    if scenario.controller is not None:
        return scenario.controller.path_metric() == _METRIC
    return scenario.routing.metric == _METRIC


class LinkWeights:
    """The weights in the file ``network.weights``; without one there are none."""

    def __init__(
        self, scenario: Scenario, node: Callable[[str, str], int | None], problems: Problems
    ) -> None:
        """Reads the file; what is wrong is noted with its line.

        Args:
            scenario: whose file.
            node: finds a node by name, and notes an unknown one at a place.
            problems: takes what is wrong.
        """
        self._problems = problems
        self._rows: dict[_Key, tuple[str, int]] = {}
        self._names: dict[_Key, tuple[str, str]] = {}
        self._laid: Counter[tuple[int, int]] = Counter()
        self._used: set[_Key] = set()
        source = scenario.network.weights
        text = None if source is None else text_of(source, scenario.base, "network.weights", problems)
        if source is None or text is None:
            return
        for row in table_rows(
            source.removeprefix(FILE), text, ("from", "to", "weight"), ("index",), problems
        ):
            self._read(row, node)

    def of(self, a: int, b: int, *, directed: bool) -> tuple[dict[str, object], dict[str, object]]:
        """Settings by the file of the next link from ``a`` to ``b``, and of its other direction."""
        return self._next(a, b), {} if directed else self._next(b, a)

    def note_unused(self, label: str) -> None:
        """Notes each row whose link the network lacks."""
        for key, (place, _) in self._rows.items():
            if key not in self._used:
                a, b = self._names[key]
                which = "" if key[2] is None else f" {key[2]}"
                self._problems.add(place, f"no link{which} from {quoted(a)} to {quoted(b)} in {label}")

    def _next(self, a: int, b: int) -> dict[str, object]:
        self._laid[a, b] += 1
        for key in ((a, b, self._laid[a, b]), (a, b, None)):
            if key in self._rows:
                self._used.add(key)
                return {"weight": self._rows[key][1]}
        return {}

    def _read(self, row: TableRow, node: Callable[[str, str], int | None]) -> None:
        names = row.cells["from"], row.cells["to"]
        a, b = (node(name, row.place) for name in names)
        weight, index = number_of(row.cells["weight"]), row.cells.get("index", "")
        if weight is None or weight != int(weight) or not 1 <= weight <= MOST_WEIGHT:
            self._problems.add(
                row.place,
                f"the weight is {quoted(row.cells['weight'])}; it must be a whole number from 1 to "
                f"{MOST_WEIGHT:,}",
            )
            return
        if index and not (index.isascii() and index.isdigit() and int(index) >= 1):
            self._problems.add(row.place, f"the index is {quoted(index)}; parallel links count from 1")
            return
        if a is None or b is None:
            return
        key = (a, b, int(index) if index else None)
        if key in self._rows:
            self._problems.add(
                row.place,
                f"the weight from {quoted(names[0])} to {quoted(names[1])} stands in {self._rows[key][0]} "
                "already",
            )
            return
        self._rows[key], self._names[key] = (row.place, int(weight)), names
