"""The most traffic on one link while pairs come and go: eqs. (6) to (8) for pairs with one path each.

With whole pairs on a link the subproblem is a transportation problem, and its optimum after one more or one
less pair is an augmentation away. That makes a local search fast; what it finds is scored by `worst_case`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .model import DemandBounds

_DUST = 1e-9
"""Parts of the largest bound that count as nothing."""


class LinkTraffic:
    """The most traffic of the pairs on a link, as a maximum flow from rows (sources) to columns (targets)."""

    __slots__ = (
        "_caps",
        "_column_slack",
        "_dust",
        "_flow",
        "_open_column",
        "_open_row",
        "_row_slack",
        "mbps",
    )

    def __init__(self, bounds: DemandBounds) -> None:
        """A link with no pair on it; the bounds must be finite (see `finite_bounds`)."""
        self._row_slack: list[float] = bounds.ingress_mbps.tolist()
        self._column_slack: list[float] = bounds.egress_mbps.tolist()
        self._flow: list[dict[int, float]] = [{} for _ in self._row_slack]
        self._caps: list[dict[int, float]] = [{} for _ in self._column_slack]
        # How many pairs of each row and column could send more by themselves.
        self._open_row, self._open_column = [0] * len(self._row_slack), [0] * len(self._column_slack)
        self._dust = _DUST * max(*self._row_slack, *self._column_slack)
        self.mbps = 0.0
        """The most traffic."""

    def add(self, source: int, target: int, most_mbps: float) -> None:
        """Put a pair on the link that may send `most_mbps` by itself."""
        flow = self._flow[source]
        flow[target] = 0.0
        self._caps[target][source] = most_mbps
        self._count(source, target, most_mbps > self._dust)
        while flow[target] < most_mbps - self._dust:
            head = self._from_slack_row(source, set())
            tail = None if head is None else self._to_slack_column(target, set())
            if head is None or tail is None:
                return
            self._push(head + tail)

    def remove(self, source: int, target: int) -> None:
        """Take a pair off the link."""
        was = self._flow[source].pop(target)
        self._count(source, target, -(self._caps[target].pop(source) - was > self._dust))
        if not was:
            return
        self._row_slack[source] += was
        self._column_slack[target] += was
        self.mbps -= was
        self._refill(lambda: self._row_slack[source], lambda: self._chain_from(source))
        self._refill(lambda: self._column_slack[target], lambda: self._chain_into(target))

    def increase(self, source: int, target: int, most_mbps: float) -> float:
        """By how much this pair would raise the most traffic, in Mbps."""
        before = self.mbps
        self.add(source, target, most_mbps)
        after = self.mbps
        self.remove(source, target)
        return after - before

    def _count(self, row: int, column: int, more: int) -> None:
        self._open_row[row] += more
        self._open_column[column] += more

    def _refill(self, slack: Callable[[], float], chain: Callable[[], list[int] | None]) -> None:
        while slack() > self._dust:
            arcs = chain()
            if arcs is None:
                return
            self._push(arcs)

    def _chain_from(self, row: int) -> list[int] | None:
        """An augmenting chain that begins at a row with slack."""
        if not self._open_row[row]:
            return None
        dead = set[int]()
        for column, flow in self._flow[row].items():
            if self._caps[column][row] - flow > self._dust:
                tail = self._to_slack_column(column, dead)
                if tail is not None and row not in tail[1::2]:
                    return [row, *tail]
        return None

    def _chain_into(self, column: int) -> list[int] | None:
        """An augmenting chain that ends at a column with slack."""
        if not self._open_column[column]:
            return None
        dead = set[int]()
        for row, cap in self._caps[column].items():
            if cap - self._flow[row][column] > self._dust:
                head = self._from_slack_row(row, dead)
                if head is not None and column not in head[1::2]:
                    return [*head, column]
        return None

    def _from_slack_row(self, row: int, dead: set[int]) -> list[int] | None:
        """Row, column, row, ... from a row with slack to this one: where its traffic can give way."""
        return self._search(row, self._row_slack, self._givers, dead)

    def _to_slack_column(self, column: int, dead: set[int]) -> list[int] | None:
        """Column, row, column, ... from this column to one with slack."""
        arcs = self._search(column, self._column_slack, self._takers, dead)
        return None if arcs is None else arcs[::-1]

    def _search(
        self,
        start: int,
        slack: list[float],
        neighbours: Callable[[int], Iterator[tuple[int, int]]],
        dead: set[int],
    ) -> list[int] | None:
        """Breadth first from `start` to a node of its side with slack; the chain back from there.

        No node of `dead` leads to slack. Without success, all that were looked at are among them.
        """
        if slack[start] > self._dust:
            return [start]
        if start in dead:
            return None
        before: dict[int, tuple[int, int] | None] = {start: None}
        waiting = [start]
        for node in waiting:
            for through, other in neighbours(node):
                if other in before or other in dead:
                    continue
                before[other] = (through, node)
                if slack[other] > self._dust:
                    chain = [other]
                    step = before[other]
                    while step is not None:
                        chain += step
                        step = before[step[1]]
                    return chain
                waiting.append(other)
        dead.update(before)
        return None

    def _givers(self, row: int) -> Iterator[tuple[int, int]]:
        """(column, other row): the row's traffic to the column can be sent by the other row instead."""
        for column, flow in self._flow[row].items():
            if flow > self._dust:
                for other, cap in self._caps[column].items():
                    if cap - self._flow[other][column] > self._dust:
                        yield column, other

    def _takers(self, column: int) -> Iterator[tuple[int, int]]:
        """(row, other column): the row's traffic to the column can go to the other column instead."""
        for row in self._caps[column]:
            flows = self._flow[row]
            if flows[column] > self._dust:
                for other, flow in flows.items():
                    if self._caps[other][row] - flow > self._dust:
                        yield row, other

    def _push(self, chain: list[int]) -> None:
        """Send what fits along row, column, row, ..., column: forward steps gain, backward steps give way."""
        forward = list(zip(chain[0::2], chain[1::2], strict=True))
        backward = list(zip(chain[2::2], chain[1::2], strict=False))
        amount = min(self._row_slack[chain[0]], self._column_slack[chain[-1]])
        for row, column in forward:
            amount = min(amount, self._caps[column][row] - self._flow[row][column])
        for row, column in backward:
            amount = min(amount, self._flow[row][column])
        for row, column in forward:
            self._change(row, column, amount)
        for row, column in backward:
            self._change(row, column, -amount)
        self._row_slack[chain[0]] -= amount
        self._column_slack[chain[-1]] -= amount
        self.mbps += amount

    def _change(self, row: int, column: int, mbps: float) -> None:
        cap, flow = self._caps[column][row], self._flow[row]
        was_open = cap - flow[column] > self._dust
        flow[column] += mbps
        self._count(row, column, (cap - flow[column] > self._dust) - was_open)


def finite_bounds(bounds: DemandBounds) -> DemandBounds:
    """Bounds of the same traffic matrices without infinity: no sum exceeds that of its pairs."""
    source, target = bounds.pairs()
    ceiling = np.zeros(bounds.pair_mbps.shape)
    ceiling[source, target] = bounds.ceiling_mbps(source, target)
    return DemandBounds(
        np.minimum(bounds.ingress_mbps, ceiling.sum(axis=1)),
        np.minimum(bounds.egress_mbps, ceiling.sum(axis=0)),
        ceiling,
    )
