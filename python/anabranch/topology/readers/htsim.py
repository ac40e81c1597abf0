"""Fat trees and leaf-spines of htsim (`.topo` files of csg-htsim, README of its `datacenter/topologies`).

`Nodes`, `Tiers` (2 or 3) and `Podsize`, then for each `Tier`: `Downlink_speed_Gbps`, `Downlink_Latency_ns`,
`Radix_Down`, `Radix_Up` and `Bundle`, the parallel links to each switch above. The links of a tier are those
below it: tier 0 has the hosts. Each switch of a pod is linked to every one above it in the pod; the i-th
aggregation switch of each pod to the i-th group of cores, as in the generator `fat-tree`. Latencies within
switches have no place in a link; they are named and left out.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, NamedTuple

from anabranch.topology.draft import Draft, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_LINKS, MAX_NODES

from .attributes import draft_link
from .file_format import FileFormat
from .lines import lines_of
from .quantities import number, plain, whole
from .text import decode_text, without_comments

_HEAD: Final = ("nodes", "tiers", "podsize")
_READ: Final = (
    *_HEAD,
    *("downlink_speed_gbps", "downlink_latency_ns", "switch_latency_ns"),
    *("radix_down", "radix_up", "bundle", "oversubscribed"),
)
"""`oversubscribed` follows from the ports."""


class _Tier(NamedTuple):
    values: dict[str, str]
    place: str

    def count(self, key: str, default: int | None = None) -> int:
        if key not in self.values and default is not None:
            return default
        return whole(self.values.get(key, ""), key, self.place, 1, MAX_NODES)

    def link(self) -> dict[str, str]:
        """What the links below have."""
        gbps = number(self.values.get("downlink_speed_gbps", ""), "downlink_speed_gbps", self.place, low=0)
        latency = number(self.values.get("downlink_latency_ns", ""), "downlink_latency_ns", self.place, low=0)
        return {"capacity_bps": plain(gbps * 10**9), "delay_ms": plain(latency * Decimal("1e-6"))}


def read_htsim(data: bytes, where: str) -> Draft:
    """The network of a file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    head, tiers = _sections(text, where)
    hosts, tier_count, pod_size = (head.count(key) for key in _HEAD)
    if tier_count not in (2, 3) or len(tiers) != tier_count:
        raise TopologyError(
            where, f"Tiers is {tier_count}, and {len(tiers)} follow", "give 2 or 3, and each of them"
        )
    fabric = _Fabric(hosts, pod_size, tiers, where)
    links = [draft_link(a, b, attributes, False, place) for a, b, attributes, place in fabric.links()]
    unread = dict.fromkeys(key for tier in (head, *tiers) for key in tier.values if key not in _READ)
    if any(
        number(tier.values.get("switch_latency_ns", "0"), "switch_latency_ns", tier.place) for tier in tiers
    ):
        unread["switch_latency_ns (add it to the delay of links)"] = None
    if unread:
        notes.append(f"Not read: {', '.join(unread)}.")
    notes.append(fabric.sentence())
    return Draft(fabric.nodes(), links, notes=notes)


READER: Final = FileFormat(
    "htsim",
    read_htsim,
    lambda text: re.match(r"(?i)nodes[ \t]+\d+\s+tiers[ \t]+\d", without_comments(text)) is not None,
)


def _sections(text: str, where: str) -> tuple[_Tier, list[_Tier]]:
    head, tiers = _Tier({}, where), list[_Tier]()
    section = head
    for line in lines_of(text, where):
        key = line.words[0].lower()
        if len(line.words) != 2:
            raise TopologyError(line.place, f"the line has {len(line.words)} words", "write KEY VALUE")
        if key == "tier":
            if line.words[1] != str(len(tiers)):
                raise TopologyError(
                    line.place, f"Tier {line.words[1]} stands here", f"give Tier {len(tiers)}"
                )
            section = _Tier({}, line.place)
            tiers.append(section)
        elif key in section.values:
            raise TopologyError(line.place, f"{line.words[0]} stands here twice", "leave out one")
        else:
            section.values[key] = line.words[1]
    return head, tiers


class _Fabric:
    """The numbers of switches, which must come out even, and their links."""

    def __init__(self, hosts: int, pod_size: int, tiers: list[_Tier], where: str) -> None:
        self._tiers = tiers
        self._where = where
        self.hosts = hosts
        self.hosts_per_leaf = tiers[0].count("radix_down")
        self.pods = self._even(hosts, pod_size, "Nodes / Podsize")
        self.leaves = self._even(pod_size, self.hosts_per_leaf, "Podsize / Radix_Down of tier 0")
        self.bundles = [tier.count("bundle", 1) for tier in tiers]
        up = tiers[0].count("radix_up")
        self.upper = self._even(up, self.bundles[1], "Radix_Up of tier 0 / Bundle of tier 1")
        if tiers[1].count("radix_down") != self.leaves * self.bundles[1]:
            raise TopologyError(where, "Radix_Down of tier 1 does not match the leaves of a pod", _REMEDY)
        self.cores_each = 0
        if len(tiers) == 3:
            up = tiers[1].count("radix_up")
            self.cores_each = self._even(up, self.bundles[2], "Radix_Up of tier 1 / Bundle of tier 2")
            if tiers[2].count("radix_down") != self.pods * self.bundles[2]:
                raise TopologyError(where, "Radix_Down of tier 2 does not match the number of pods", _REMEDY)
        elif self.pods != 1:
            raise TopologyError(where, "two tiers have one pod", "make Podsize equal to Nodes")
        links = hosts + self.pods * self.leaves * self.upper * self.bundles[1]
        if hosts > MAX_NODES or links + self.pods * self.upper * self.cores_each > MAX_LINKS:
            raise TopologyError(where, "the network is too large", f"at most {MAX_NODES} nodes are made")

    def nodes(self) -> list[DraftNode]:
        upper = "spine" if len(self._tiers) == 2 else "aggregation"
        groups = range(1, self.upper + 1) if self.cores_each else ()
        names = [f"core{i}.{n}" for i in groups for n in range(1, self.cores_each + 1)]
        for pod in range(1, self.pods + 1):
            names += [self._upper(pod, i, upper) for i in range(1, self.upper + 1)]
            names += [self._leaf(pod, i) for i in range(1, self.leaves + 1)]
        switches = [DraftNode(name, kind="switch") for name in names]
        return switches + [DraftNode(f"host{i}", kind="host") for i in range(self.hosts)]

    def links(self) -> Iterator[tuple[str, str, dict[str, str], str]]:
        """The ends of each link, what it has, and the place of its tier."""
        upper = "spine" if len(self._tiers) == 2 else "aggregation"
        below = [tier.link() for tier in self._tiers]
        places = [tier.place for tier in self._tiers]
        host = 0
        for pod in range(1, self.pods + 1):
            for i in range(1, self.leaves + 1):
                leaf = self._leaf(pod, i)
                for _ in range(self.hosts_per_leaf):
                    yield f"host{host}", leaf, below[0], places[0]
                    host += 1
                for j in range(1, self.upper + 1):
                    for _ in range(self.bundles[1]):
                        yield leaf, self._upper(pod, j, upper), below[1], places[1]
            for j in range(1, self.upper + 1) if self.cores_each else ():
                for n in range(1, self.cores_each + 1):
                    for _ in range(self.bundles[2]):
                        yield self._upper(pod, j, upper), f"core{j}.{n}", below[2], places[2]

    def sentence(self) -> str:
        """What was built."""
        if len(self._tiers) == 2:
            return (
                f"A leaf-spine of {self.upper} spines and {self.leaves} leaves with {self.hosts_per_leaf} "
                "hosts each."
            )
        return (
            f"A fat tree of {self.pods} pods with {self.leaves} edge and {self.upper} aggregation switches, "
            f"{self.upper * self.cores_each} cores and {self.hosts_per_leaf} hosts at each edge switch."
        )

    def _even(self, total: int, part: int, what: str) -> int:
        if total % part or total < part:
            raise TopologyError(self._where, f"{what} is {total} / {part}, no whole number", _REMEDY)
        return total // part

    def _leaf(self, pod: int, i: int) -> str:
        return f"leaf{i}" if len(self._tiers) == 2 else f"edge{pod}.{i}"

    def _upper(self, pod: int, i: int, name: str) -> str:
        return f"{name}{i}" if len(self._tiers) == 2 else f"{name}{pod}.{i}"


_REMEDY: Final = "check the tiers; htsim's own files have the form"
