"""A network as the directions of its links, whichever of them a reader puts together as one link."""

from anabranch.topology import Topology

Direction = tuple[str, str, int | None, int | None, float | None, float | None]
"""From, to, capacity in bps, delay in ps, loss, weight."""


def directions(topology: Topology) -> list[Direction]:
    """Each direction of each link, sorted."""
    entries: list[Direction] = []
    for link in topology.links:
        rest = (link.capacity_bps, link.delay_ps, link.loss, link.weight)
        entries.append((link.a, link.b, *rest))
        if not link.directed:
            entries.append((link.b, link.a, *rest))
    return sorted(entries, key=repr)


def both_ways(*ways: Direction) -> list[Direction]:
    """The directions of links that are alike in both."""
    return sorted([*ways, *((b, a, *rest) for a, b, *rest in ways)], key=repr)  # type: ignore[misc]


def said(topology: Topology, words: str) -> bool:
    """Whether a sentence of the provenance has these words."""
    return any(words in sentence for sentence in topology.provenance)
