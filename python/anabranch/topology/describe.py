"""A topology as text, for `anabranch topology show`."""

import statistics
from collections.abc import Sequence

from anabranch.text.units import plain

from .directions import parallel_links
from .model import Topology, TopologyLink, TopologyNode

_PREFIXES = ((10**12, "Tbps"), (10**9, "Gbps"), (10**6, "Mbps"), (10**3, "kbps"), (1, "bps"))
_LENGTH_NOTE = {
    "file": "",
    "great-circle": "",
    "filled-place": "from a filled place",
    "default": "default",
    "none": "",
}

NODE_HEADER = ("node", "kind", "latitude", "longitude", "place", "aliases")
LINK_HEADER = ("from", "to", "length", "capacity", "delay", "loss", "note")


def summary_rows(topology: Topology) -> list[tuple[str, str]]:
    """The facts about the whole: (what, value)."""
    components = topology.components()
    parallel = parallel_links(topology.links)
    return [
        ("topology", topology.name),
        ("nodes", str(len(topology.nodes))),
        ("links", f"{len(topology.links)} ({parallel or 'none'} parallel to another)"),
        ("places", _places(topology.nodes)),
        ("lengths", _lengths(topology.links)),
        (
            "capacities",
            f"{sum(link.capacity_bps is not None for link in topology.links)} of {len(topology.links)} given",
        ),
        ("demands", _demands(topology)),
        (
            "connected",
            "yes"
            if len(components) == 1
            else f"no: {len(components)} components, {_sizes(components)} nodes",
        ),
    ]


def node_rows(topology: Topology) -> list[tuple[str, ...]]:
    """A row for each node, under `NODE_HEADER`."""
    rows: list[tuple[str, ...]] = []
    for node in topology.nodes:
        place = node.place
        where = (
            ("", "", "none")
            if place is None
            else (f"{place.latitude:.4f}", f"{place.longitude:.4f}", place.source)
        )
        rows.append((node.name, node.kind, *where, ", ".join(node.aliases)))
    return rows


def link_rows(topology: Topology) -> list[tuple[str, ...]]:
    """A row for each link, under `LINK_HEADER`."""
    rows: list[tuple[str, ...]] = []
    for link in topology.links:
        notes = [_LENGTH_NOTE[link.length_source], "one way" if link.directed else "", link.label or ""]
        if link.weight is not None:
            notes.append(f"weight {plain(link.weight, 6)}")
        rows.append(
            (
                link.a,
                link.b,
                "" if link.length_km is None else f"{link.length_km:.1f} km",
                "" if link.capacity_bps is None else format_bps(link.capacity_bps),
                "" if link.delay_ps is None else f"{plain(link.delay_ps / 1e9, 6)} ms",
                "" if link.loss is None else plain(link.loss, 6),
                ", ".join(note for note in notes if note),
            )
        )
    return rows


def describe(topology: Topology) -> str:
    """The whole topology as text: summary, nodes, links, provenance."""
    summary = summary_rows(topology)
    width = max(len(what) for what, _ in summary)
    lines = [f"{what:<{width}}  {value}" for what, value in summary]
    lines += ["", *_table(NODE_HEADER, node_rows(topology))]
    lines += ["", *_table(LINK_HEADER, link_rows(topology))]
    lines += ["", "provenance", *(f"  {sentence}" for sentence in topology.provenance)]
    return "\n".join(lines) + "\n"


def format_bps(capacity_bps: int) -> str:
    """A capacity with the largest unit in which it is at least 1, without loss: 2500000000 is "2.5 Gbps"."""
    for factor, unit in _PREFIXES:
        if capacity_bps >= factor:
            whole, rest = divmod(capacity_bps, factor)
            digits = str(rest).rjust(len(str(factor)) - 1, "0").rstrip("0") if rest else ""
            return f"{whole}.{digits} {unit}" if digits else f"{whole} {unit}"
    return f"{capacity_bps} bps"


def _places(nodes: Sequence[TopologyNode]) -> str:
    sources = [None if node.place is None else node.place.source for node in nodes]
    file, filled, none = (sources.count(source) for source in ("file", "filled", None))
    return f"{file} from the source, {filled} filled, {none} none"


def _lengths(links: Sequence[TopologyLink]) -> str:
    lengths = [link.length_km for link in links if link.length_km is not None]
    if not lengths:
        return "none"
    default = sum(link.length_source == "default" for link in links)
    text = f"{min(lengths):.1f} to {max(lengths):.1f} km, median {statistics.median(lengths):.1f} km"
    return f"{text}; {default} of {len(links)} by default" if default else text


def _demands(topology: Topology) -> str:
    if topology.demands is None:
        return "none"
    unit = topology.demand_unit
    unit_words = "of no unit that the source states" if unit is None else f"in {unit.name}"
    return f"{len(topology.demands)}, {unit_words}"


def _sizes(components: Sequence[Sequence[str]]) -> str:
    sizes = [str(len(component)) for component in components]
    return ", ".join(sizes[:5]) + (", ..." if len(sizes) > 5 else "")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [header, *rows]
    ]
