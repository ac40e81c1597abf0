"""Topology files of containerlab (`NAME.clab.yml`; containerlab.dev, "Topology definition").

`topology.nodes` names the nodes, `topology.links` has for each link two `endpoints`: `NODE:INTERFACE` in the
brief form, mappings with `node` and `interface` in the extended one of `type: veth`. `host`, `mgmt-net` and
links of types that join no two nodes lead out of the lab; they are left out and counted. The format itself
has no rates, delays and losses. The export of Anabranch puts them into `vars.anabranch` of each link, a
mapping for each direction, and names and places into labels of nodes; both come back. Nodes of kind `bridge`
and `ovs-bridge` are switches.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from anabranch.topology.draft import Draft, DraftLink, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import NodeKind

from .attributes import draft_link, draft_node
from .file_format import FileFormat
from .text import decode_text, without_comments
from .yaml_tree import YamlNode, parse_yaml, texts

LABEL: Final = "anabranch-"
"""What stands before the labels of nodes that Anabranch writes."""
VARIABLES: Final = "anabranch"
"""The variable of links that Anabranch writes."""
DIRECTIONS: Final = ("forth", "back")
"""Its entries: from the first end to the second one, and back."""
_SWITCHES: Final = ("bridge", "ovs-bridge")
_OUTSIDE: Final = ("host", "mgmt-net", "macvlan")


@dataclass(frozen=True, slots=True)
class LabPort:
    """An end of a link of a lab."""

    place: str
    """File and line."""
    name: str
    """Of the node, in the lab."""
    node: str
    """Its name in the network: that of the label which Anabranch writes, or else the same."""
    interface: str
    neighbour: str | None
    """The node at the other end, as `node`; None for a link that leads out of the lab."""


def lab_ports(data: bytes, where: str) -> list[LabPort]:
    """The ends of all links that join nodes or lead out, in the order of the file.

    Raises TopologyError with the line for anything that is no lab.
    """
    text, _ = decode_text(data)
    root = parse_yaml(text, where)
    topology = root.get("topology") if root.entries is not None else None
    nodes = None if topology is None or topology.entries is None else topology.get("nodes")
    if topology is None or nodes is None or nodes.entries is None:
        raise TopologyError(
            where, 'the file has no "topology" with "nodes"', "a file of containerlab has them"
        )
    drafts = {lab: _node(lab, entry) for lab, entry in nodes.mapping("nodes").items()}
    names = {lab: draft.label or draft.attributes.get("name") or draft.id for lab, draft in drafts.items()}
    ports: list[LabPort] = []
    for entry in _entries(topology.get("links")):
        ends = _ends(entry)
        for (name, interface), (other, _) in zip(ends, [*ends[1:], *ends[:1]], strict=True):
            if name in names and interface:
                neighbour = None if len(ends) < 2 else names.get(other)
                ports.append(LabPort(entry.place, name, names[name], interface, neighbour))
    return ports


def read_containerlab(data: bytes, where: str) -> Draft:
    """The lab of a topology file. Raises TopologyError with the line for anything else."""
    text, notes = decode_text(data)
    root = parse_yaml(text, where)
    topology = root.get("topology") if root.entries is not None else None
    if topology is None or topology.entries is None:
        raise TopologyError(where, 'the file has no "topology"', "a file of containerlab has it")
    nodes_entry, links_entry = topology.get("nodes"), topology.get("links")
    if nodes_entry is None or nodes_entry.entries is None:
        raise TopologyError(topology.place, 'the topology has no "nodes"', "name them")
    entries = nodes_entry.mapping("nodes")
    nodes = [_node(name, entry) for name, entry in entries.items()]
    links: list[DraftLink] = []
    outside = 0
    for entry in _entries(links_entry):
        ends = [name for name, _ in _ends(entry)]
        inside = [end for end in ends if end in entries]
        if len(inside) < 2:
            _check_outside(entry, ends, inside)
            outside += 1
            continue
        links += _links(inside[0], inside[1], entry)
    if outside:
        notes.append(f"Links that lead out of the lab and are left out: {outside}.")
    return Draft(nodes, links, notes=notes)


def _recognises(text: str) -> bool:
    plain = without_comments(text)
    return re.search(r"(?m)^topology:", plain) is not None and not plain.startswith(("<", "{"))


READER: Final = FileFormat("containerlab", read_containerlab, _recognises)


def _entries(links: YamlNode | None) -> list[YamlNode]:
    """The entries of a list of links, which may be missing or empty."""
    is_empty = links is None or (links.text is None and links.items is None and links.entries is None)
    return [] if links is None or is_empty else links.listed("links")


def _node(name: str, entry: YamlNode) -> DraftNode:
    attributes = _attributes(entry, ("labels",))
    lab_kind = attributes.pop("kind", None)
    labels = entry.get("labels") if entry.entries is not None else None
    if labels is not None and labels.entries is not None:
        for key, value in labels.mapping("labels").items():
            is_own = key.startswith(LABEL)
            attributes[key.removeprefix(LABEL) if is_own else f"labels.{key}"] = value.text or _NO_TEXT
    # A label of our own export says what a bridge of the lab stands for.
    kind: NodeKind = "switch" if lab_kind in _SWITCHES and "kind" not in attributes else "router"
    return replace(draft_node(name, attributes, entry.place), kind=kind)


def _attributes(entry: YamlNode, structure: Collection[str]) -> dict[str, str]:
    """The entries of a mapping, such as the `mtu` of a link, without those that a reader takes apart.

    Those of a mapping within are `vars.delay`.
    """
    entries = {} if entry.entries is None else entry.mapping("the entry")
    attributes: dict[str, str] = {}
    for key, value in entries.items():
        if key in structure:
            continue
        if value.entries:
            attributes |= {f"{key}.{name}": text for name, text in _attributes(value, ()).items()}
        else:
            attributes[key] = value.text or _NO_TEXT
    return attributes


_NO_TEXT: Final = "..."
"""Stands for a list or a mapping, which is no value of an attribute but is named as one that is not used."""


def _ends(entry: YamlNode) -> list[tuple[str, str]]:
    """The nodes that a link names with their interfaces, whichever of the forms it has."""
    form = entry.get("type") if entry.entries is not None else None
    if form is not None and form.text not in (None, "veth"):
        single = entry.get("endpoint")
        return [] if single is None else [_end(single)]
    endpoints = entry.get("endpoints") if entry.entries is not None else None
    if endpoints is None:
        raise TopologyError(
            entry.place, 'the link has no "endpoints"', 'write endpoints: ["a:eth1", "b:eth1"]'
        )
    ends = [_end(each) for each in endpoints.listed("endpoints")]
    if len(ends) != 2:
        raise TopologyError(endpoints.place, f"the link has {len(ends)} endpoints", "give two")
    return ends


def _end(endpoint: YamlNode) -> tuple[str, str]:
    """A node and its interface, which may be empty."""
    if endpoint.entries is not None:
        node = endpoint.get("node")
        if node is None:
            raise TopologyError(endpoint.place, 'the endpoint has no "node"', "add it")
        interface = endpoint.get("interface")
        return node.scalar("the node of an endpoint"), (interface.text or "") if interface is not None else ""
    name, separator, interface_name = endpoint.scalar("an endpoint").partition(":")
    if not separator or not name:
        raise TopologyError(
            endpoint.place, f'the endpoint is "{(endpoint.text or "")[:40]}"', "write NODE:INTERFACE"
        )
    return name, interface_name


def _check_outside(entry: YamlNode, ends: list[str], inside: list[str]) -> None:
    """Raise TopologyError if an end is neither a node nor one of the names for what lies outside."""
    for end in ends:
        if end not in inside and end not in _OUTSIDE:
            raise TopologyError(entry.place, f'a link ends at "{end}", which is no node', "declare the node")


def _links(a: str, b: str, entry: YamlNode) -> list[DraftLink]:
    """The link, or its two directions where Anabranch has written what each of them has."""
    variables = entry.get("vars")
    written = variables.get(VARIABLES) if variables is not None and variables.entries is not None else None
    if written is None or written.entries is None:
        return [draft_link(a, b, _attributes(entry, ("type", "endpoints")), False, entry.place)]
    links = []
    for direction, (origin, to) in zip(DIRECTIONS, ((a, b), (b, a)), strict=True):
        values = written.get(direction)
        if values is not None:
            attributes = _attributes(entry, ("type", "endpoints", "vars")) | dict(texts(values, direction))
            links.append(draft_link(origin, to, attributes, True, values.place))
    if not links:
        raise TopologyError(written.place, "the link has no direction", f"write {' or '.join(DIRECTIONS)}")
    return links
