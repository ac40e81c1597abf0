"""Rates between pairs of nodes, from a CSV or from the topology's own traffic matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from anabranch.scenario.demand import PairRates
from anabranch.scenario.files import FILE
from anabranch.scenario.quantity import Rate, quoted
from anabranch.setup.files import text_of
from anabranch.setup.network import ResolvedNetwork
from anabranch.setup.problems import Problems
from anabranch.setup.table_file import csv_rows

_RATE_COLUMNS = {"rate": "", "rate_kbps": "kbps", "rate_mbps": "Mbps", "rate_gbps": "Gbps"}
"""Third column of a file, and the unit of its numbers; a plain ``rate`` has its unit in each row."""


class PairRateReader:
    """Reads rates of pairs, with a problem for each name or number that cannot be."""

    def __init__(
        self,
        base: Path | None,
        network: ResolvedNetwork,
        problems: Problems,
        place: str,
        node: Callable[[str, str], int | None],
    ) -> None:
        """Of a field of a scenario.

        Args:
            base: the scenario's folder.
            network: the network with the nodes, and perhaps a matrix of its own.
            problems: takes what is wrong.
            place: the field.
            node: the id of a node by its name and a place for messages; notes why there is none.
        """
        self._base = base
        self._network = network
        self._problems = problems
        self._place = place
        self._node = node

    def rates_bps(self, given: PairRates) -> dict[tuple[int, int], float]:
        """The rate of each pair, in bits per second; entries of one pair are added."""
        entries = self._of_topology(given) if given.source == "topology" else self._of_file(given)
        rates: dict[tuple[int, int], float] = {}
        for place, source, target, bps in entries:
            ends = self._node(source, place), self._node(target, place)
            if ends[0] is None or ends[1] is None:
                continue
            if ends[0] == ends[1]:
                self._problems.add(place, f"leads from {quoted(source)} to itself")
                continue
            pair = (ends[0], ends[1])
            for key in (pair, pair[::-1])[: 2 if given.direction == "both" else 1]:
                rates[key] = rates.get(key, 0.0) + bps * given.scale
        return rates

    def _of_topology(self, given: PairRates) -> Iterator[tuple[str, str, str, float]]:
        if self._network.demands is None:
            self._problems.add(
                f"{self._place}.from",
                f"{self._network.label} has no traffic matrix; SNDlib's networks have one",
            )
            return
        for (source, target), value in self._network.demands.items():
            yield self._place, source, target, value * (given.unit or 1)

    def _of_file(self, given: PairRates) -> Iterator[tuple[str, str, str, float]]:
        """The rows of a file: where, from, to, bits per second."""
        text = text_of(given.source, self._base, f"{self._place}.from", self._problems)
        if text is None:
            return
        for row in csv_rows(given.source.removeprefix(FILE), text, _wrong_header, self._problems):
            (source, target, rate), column = row.cells.values(), [*row.cells][-1]
            bps = self._rate(rate, _RATE_COLUMNS[column], row.place)
            if bps is not None:
                yield row.place, source, target, bps

    def _rate(self, text: str, unit: str, place: str) -> float | None:
        if unit and not re.fullmatch(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?", text):
            self._problems.add(place, f"{quoted(text)} is not a number of {unit}")
            return None
        try:
            return int(Rate(f"{text} {unit}".strip()))
        except ValueError as error:
            self._problems.add(place, str(error))
            return None


def _wrong_header(header: Sequence[str]) -> str | None:
    fits = len(header) == 3 and [*header[:2]] == ["from", "to"] and header[2] in _RATE_COLUMNS
    return None if fits else f"is not from,to and one of {', '.join(_RATE_COLUMNS)}"
