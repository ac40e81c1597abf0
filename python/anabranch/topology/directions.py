"""One-way links that are the two directions of one link."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .model import TopologyLink


def lists_both_directions(ends: Iterable[tuple[str, str]]) -> bool:
    """Whether a list of links has each of them once from each end, so that its entries are one-way.

    A list that calls neither its links nor itself one-way shows it so: between any two nodes there are as
    many entries in one direction as in the other.
    """
    counts = Counter(ends)
    return bool(counts) and all(count == counts[b, a] for (a, b), count in counts.items())


def paired(links: Sequence[TopologyLink], notes: list[str]) -> list[TopologyLink]:
    """The links, with one in place of two one-way ones that are alike but for their direction.

    Between two nodes each one-way link is taken with one that leads back: the first that is alike, or else
    the first that is left. Those that are unlike stay two one-way links. A note says how many of both.
    """
    waiting: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, link in enumerate(links):
        if link.directed:
            waiting[link.a, link.b].append(number)
    partner: dict[int, int] = {}
    for (a, b), there in waiting.items():
        back = waiting.get((b, a), [])
        if a < b and back:
            partner |= _matched(links, there, back)
    merged: list[TopologyLink] = []
    unlike = 0
    second = {max(pair) for pair in partner.items()}
    for number, link in enumerate(links):
        if number not in partner:
            merged.append(link)
        elif _values(link) == _values(other := links[partner[number]]):
            if number not in second:
                labels = dict.fromkeys(label for label in (link.label, other.label) if label)
                merged.append(replace(link, directed=False, label=" / ".join(labels) or None))
        else:
            unlike += number not in second
            merged.append(link)
    alike = len(links) - len(merged)
    if alike:
        notes.append(f"{_pairs(alike)} of one-way entries are the two directions of one link each.")
    if unlike:
        notes.append(
            f"{_pairs(unlike)} of one-way links are the two directions of one link each, with values of "
            "their own."
        )
    return merged


def parallel_links(links: Iterable[TopologyLink]) -> int:
    """How many links lead from a node to another that an earlier link leads to from there."""
    seen: set[tuple[str, str]] = set()
    parallel = 0
    for link in links:
        directions = {(link.a, link.b)} if link.directed else {(link.a, link.b), (link.b, link.a)}
        parallel += not directions.isdisjoint(seen)
        seen |= directions
    return parallel


def _matched(links: Sequence[TopologyLink], there: list[int], back: list[int]) -> dict[int, int]:
    """The number of the link that leads back, for links in both directions."""
    alike: dict[tuple[float | str | None, ...], deque[int]] = defaultdict(deque)
    for number in back:
        alike[_values(links[number])].append(number)
    partner: dict[int, int] = {}
    rest = []
    for number in there:
        same = alike.get(_values(links[number]))
        if not same:
            rest.append(number)
            continue
        other = same.popleft()
        partner[number], partner[other] = other, number
    for number, other in zip(rest, (left for left in back if left not in partner), strict=False):
        partner[number], partner[other] = other, number
    return partner


def _values(link: TopologyLink) -> tuple[float | str | None, ...]:
    return (link.length_km, link.capacity_bps, link.delay_ps, link.loss, link.weight, *link.risk_groups)


def _pairs(count: int) -> str:
    return f"{count} {'pair' if count == 1 else 'pairs'}"
