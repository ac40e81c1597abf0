"""From what a reader found to a Topology: unique names, no self-loops, gaps filled, and all of it noted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from .attributes.choices import AttributeChoice
from .attributes.reading import interpret
from .directions import paired, parallel_links
from .draft import Draft, DraftNode
from .error import TopologyError
from .gaps import (
    DEFAULT_LENGTH_KM,
    SAME_POINT_KM,
    fill_places,
    great_circle_km,
    median_length_km,
    without_placeholders,
)
from .model import MAX_LINKS, MAX_NODES, LengthSource, Place, Topology, TopologyLink, TopologyNode


def assemble(
    name: str,
    where: str,
    draft: Draft,
    provenance: Sequence[str],
    choices: Mapping[str, AttributeChoice] = MappingProxyType({}),
) -> Topology:
    """Settle attributes, names, places and lengths of a draft. `where` is the place for error messages.

    Raises TopologyError for a graph without nodes, for links or demands between nodes that are not there, for
    attributes with impossible values, and for `choices` of attributes that the draft does not have.
    """
    if not draft.nodes and draft.demands:
        raise TopologyError(
            where,
            "the file has demands and no network",
            'name another file as the network, and this one as a matrix: matrix = { from = "file:..." }',
        )
    if not draft.nodes:
        raise TopologyError(where, "the graph has no nodes", "give a file with at least one node")
    if len(draft.nodes) > MAX_NODES or len(draft.links) > MAX_LINKS:
        raise TopologyError(
            where,
            f"the graph has {len(draft.nodes)} nodes and {len(draft.links)} links",
            f"at most {MAX_NODES} and {MAX_LINKS} are taken",
        )
    read = interpret(draft, choices, where)
    notes = [*provenance, *draft.notes, *draft.demand_notes, *read.notes]
    names = unique_names(read.nodes, notes)
    _check_ends(where, draft, names)
    links = paired(_without_self_loops(read.links, notes), notes)
    places = _places(read.nodes, links, notes)
    nodes = tuple(
        TopologyNode(
            names[node.id], places.get(node.id), node.kind, () if names[node.id] == node.id else (node.id,)
        )
        for node in read.nodes
    )
    finished = _finish_links(links, names, places, notes)
    notes += _capacity_notes(finished, "capacity" in read.unread)
    demands = None
    if draft.demands is not None:
        demands = {(names[a], names[b]): value for (a, b), value in draft.demands.items()}
    _note_shape(Topology(name, nodes, finished), notes)
    return Topology(name, nodes, finished, tuple(notes), demands, draft.demand_unit)


def unique_names(nodes: Sequence[DraftNode], notes: list[str]) -> dict[str, str]:
    """A unique name for each node id: the label, with " (2)", " (3)", ... where several nodes share it.

    A node without a label is called by its id. Blanks are normalised. What was done is added to `notes`.
    """
    wanted = {node.id: " ".join((node.label or "").split()) or node.id for node in nodes}
    unlabelled = sum(1 for node in nodes if not (node.label or "").strip() and node.label is not None)
    if unlabelled:
        notes.append(
            f"{_number(unlabelled, 'node has', 'nodes have')} an empty label: the id serves as the name."
        )
    taken = set(wanted.values())
    seen: set[str] = set()
    names: dict[str, str] = {}
    repeated = 0
    last_count: dict[str, int] = {}
    for node in nodes:
        name = wanted[node.id]
        if name in seen:
            repeated += 1
            count = last_count.get(name, 1) + 1
            while (candidate := f"{name} ({count})") in taken:
                count += 1
            last_count[name] = count
            taken.add(candidate)
            name = candidate
        seen.add(name)
        names[node.id] = name
    if repeated:
        notes.append(
            f"{_number(repeated, 'node shares', 'nodes share')} a name with an earlier one; in file order "
            'they are called "Name", "Name (2)", "Name (3)" and so on; the ids of the source stay as '
            "aliases."
        )
    return names


def _note_shape(topology: Topology, notes: list[str]) -> None:
    """Notes parallel links and components: both are kept, and both change what a scenario may say."""
    parallel = parallel_links(topology.links)
    if parallel:
        notes.append(
            f"{_number(parallel, 'link is', 'links are')} parallel to another one and kept: index tells them "
            "apart, in the order of the source."
        )
    components = topology.components()
    if len(components) > 1:
        notes.append(
            f"The graph has {len(components)} components, all kept, the largest with {len(components[0])} "
            f"of {len(topology.nodes)} nodes: traffic needs both ends in the same one."
        )


def _check_ends(where: str, draft: Draft, names: dict[str, str]) -> None:
    ends = [("a link ends at", end) for link in draft.links for end in (link.a, link.b)]
    ends += [("a demand names", end) for pair in draft.demands or () for end in pair]
    for what, end in ends:
        if end not in names:
            raise TopologyError(where, f'{what} "{end}", which is no node', "declare the node")


def _without_self_loops(links: Sequence[TopologyLink], notes: list[str]) -> list[TopologyLink]:
    kept = [link for link in links if link.a != link.b]
    dropped = len(links) - len(kept)
    if dropped:
        notes.append(
            f"{_number(dropped, 'link from a node to itself was', 'links from a node to itself were')} left "
            "out."
        )
    return kept


def _places(nodes: Sequence[DraftNode], links: Sequence[TopologyLink], notes: list[str]) -> dict[str, Place]:
    stated = {node.id: Place(*node.coordinates, "file") for node in nodes if node.coordinates is not None}
    placed = without_placeholders(stated, links, notes)
    filled = fill_places(placed, [node.id for node in nodes], [(link.a, link.b) for link in links])
    if filled:
        notes.append(
            f"{_number(len(filled), 'node', 'nodes')} of {len(nodes)} without coordinates lie at the "
            "barycentre of their neighbours, all solved together (marked as filled)."
        )
    unplaced = len(nodes) - len(placed) - len(filled)
    if unplaced and placed:
        notes.append(
            f"{_number(unplaced, 'node', 'nodes')} of {len(nodes)} without coordinates have no place: "
            "no path leads to a node that has one, or too many nodes lack one to fill them in."
        )
    elif unplaced:
        notes.append(f"No node has {'usable ' if stated else ''}coordinates, so none has a place.")
    return placed | filled


def _finish_links(
    links: Sequence[TopologyLink], names: dict[str, str], places: dict[str, Place], notes: list[str]
) -> tuple[TopologyLink, ...]:
    lengths = [_length(link, places) for link in links]
    median = median_length_km([km for km, source in lengths if km is not None and source == "great-circle"])
    default_km = DEFAULT_LENGTH_KM if median is None else median
    finished = [
        replace(
            link,
            a=names[link.a],
            b=names[link.b],
            length_km=default_km if length_km is None else length_km,
            length_source=source,
        )
        for link, (length_km, source) in zip(links, lengths, strict=True)
    ]
    _note_lengths(finished, default_km, median is not None, notes)
    return tuple(finished)


def _length(link: TopologyLink, places: dict[str, Place]) -> tuple[float | None, LengthSource]:
    if link.length_km is not None:
        return link.length_km, "file"
    a, b = places.get(link.a), places.get(link.b)
    if a is None or b is None:
        return None, "default"
    length_km = great_circle_km(a.latitude, a.longitude, b.latitude, b.longitude)
    if "filled" not in (a.source, b.source):
        return length_km, "great-circle"
    return (length_km, "filled-place") if length_km >= SAME_POINT_KM else (None, "default")


def _note_lengths(
    links: Sequence[TopologyLink], default_km: float, is_median: bool, notes: list[str]
) -> None:
    if any(link.length_source in ("great-circle", "filled-place") for link in links):
        notes.append(
            "Link lengths are great-circle distances between the places (haversine, mean Earth radius "
            "6371.0088 km)."
        )
    # A link that has a delay has no use for its length.
    unknown = sum(1 for link in links if link.length_source == "default" and link.delay_ps is None)
    if unknown:
        rule = "the median of the known lengths" if is_median else "the default where no length is known"
        notes.append(
            f"{_number(unknown, 'link', 'links')} of {len(links)} of unknown length, because an end has no "
            f"place or filling put both ends at one point, got {default_km:.1f} km, {rule}; a delay in the "
            "scenario overrides it."
        )


def _capacity_notes(links: Sequence[TopologyLink], has_unread: bool) -> list[str]:
    given = sum(1 for link in links if link.capacity_bps is not None)
    if given == len(links) and links:
        return []
    if given:
        source = "What is read of the source" if has_unread else "The source"
        return [
            f"{source} gives the capacity of {given} of {len(links)} links; the scenario sets the others."
        ]
    if has_unread:
        return ["The capacities of the source are not read: the scenario sets them."]
    return ["The source gives no capacities: the scenario sets them."]


def _number(count: int, singular: str, plural: str) -> str:
    return f"{count} {singular if count == 1 else plural}"
