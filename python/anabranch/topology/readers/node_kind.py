"""Whether a node is a host, a switch or a router, where its attributes say so."""

from typing import Final

from anabranch.topology.model import NodeKind

_KINDS: Final[dict[str, NodeKind]] = {"host": "host", "switch": "switch", "router": "router"}
_KEYS: Final = ("kind", "type")


def kind_of(attributes: dict[str, str]) -> NodeKind:
    """Take the kind out of a node's attributes: `kind`, or `type`, if it is one of those that nodes have."""
    for key in _KEYS:
        kind = _KINDS.get(attributes.get(key, "").strip().lower())
        if kind is not None:
            del attributes[key]
            return kind
    return "router"
