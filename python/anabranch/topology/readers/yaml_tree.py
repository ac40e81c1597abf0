"""A YAML document as plain lists, mappings and texts that know their line, and nothing dangerous.

PyYAML's parser of events does the syntax; nothing constructs objects, so that no tag means anything. Scalars
stay texts: a node named 010 or "no" keeps its name. An alias stands for the one node of its anchor, which is
not copied, and a merge key (`<<`) is looked up where it is used: what is read is no larger than the file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from anabranch.topology.error import TopologyError

MAX_DEPTH: Final = 64
"""Deepest nesting taken. Topology files need less than ten levels."""
MAX_MERGED: Final = 16
"""Most mappings that one draws its entries from by merge keys."""
_REMEDY: Final = "the file is cut off or damaged: fetch it again, or mend it here"


@dataclass(slots=True, repr=False, eq=False)
class YamlNode:
    """A scalar, a list or a mapping of a document; `place` is its file and line, for messages.

    It is compared by identity, and shown without what it holds: aliases may stand for far more.
    """

    place: str
    text: str | None = None
    """Of a scalar; None for lists and mappings, and for null."""
    items: list["YamlNode"] | None = None
    """Of a list."""
    entries: dict[str, "YamlNode"] | None = None
    """Of a mapping, by key."""
    merged: list["YamlNode"] = field(default_factory=list)
    """The values of a mapping's merge key."""

    def get(self, key: str) -> "YamlNode | None":
        """The entry of a mapping, or else of those that it merges; None where there is none."""
        for mapping in self._sources():
            if mapping.entries is not None and key in mapping.entries:
                return mapping.entries[key]
        return None

    def mapping(self, what: str) -> Mapping[str, "YamlNode"]:
        """The entries of a mapping with those that it merges. Raises TopologyError for anything else."""
        if self.entries is None:
            raise TopologyError(self.place, f"{what} is no mapping", "write KEY: VALUE in each line")
        entries: dict[str, YamlNode] = {}
        for mapping in self._sources():
            for key, value in (mapping.entries or {}).items():
                entries.setdefault(key, value)
        return entries

    def listed(self, what: str) -> list["YamlNode"]:
        """The entries of a list. Raises TopologyError for anything else."""
        if self.items is None:
            raise TopologyError(self.place, f"{what} is no list", "write - before each entry")
        return self.items

    def scalar(self, what: str) -> str:
        """The text of a scalar. Raises TopologyError for anything else, and for an empty one."""
        if not self.text:
            raise TopologyError(self.place, f"{what} is no text", "write its value behind the colon")
        return self.text

    def _sources(self) -> "list[YamlNode]":
        """This mapping, then those that it merges, near ones first."""
        sources = [self]
        for source in sources:  # grows as merged ones merge others
            for each in [each for node in source.merged for each in (node.items or [node])]:
                if not any(each is earlier for earlier in sources):
                    sources.append(each)
            if len(sources) > MAX_MERGED:
                raise TopologyError(
                    self.place, f"a mapping merges more than {MAX_MERGED} others", "write its entries out"
                )
        return sources


def parse_yaml(text: str, where: str) -> YamlNode:
    """The root of a document. Raises TopologyError, with the line, for anything but one sound document."""
    root = YamlNode(where)
    builder = _Builder(where)
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = where if mark is None else f"{where}, line {mark.line + 1}"
        reason = getattr(error, "problem", None) or "a character that YAML does not allow"
        raise TopologyError(place, f"not YAML from here on ({reason})", _REMEDY) from error
    if len(builder.documents) > 1:
        raise TopologyError(where, f"the file holds {len(builder.documents)} documents", "give one of them")
    return builder.documents[0] if builder.documents else root


class _Builder:
    """Puts events together. Iterative, so that nesting cannot exhaust the stack."""

    def __init__(self, where: str) -> None:
        self.documents: list[YamlNode] = []
        self._where = where
        self._open: list[YamlNode] = []
        self._keys: list[str | None] = []
        """Of each open mapping the key whose value is due; None where a key is, and for lists."""
        self._anchors: dict[str, YamlNode] = {}

    def take(self, event: Any) -> None:
        """Add what an event says."""
        if isinstance(event, yaml.AliasEvent):
            node = self._anchors.get(event.anchor)
            if node is None:
                raise TopologyError(self._place(event), f'there is no anchor "{event.anchor}"', _REMEDY)
            if any(node is each for each in self._open):
                raise TopologyError(self._place(event), f'"{event.anchor}" holds itself', "write it out")
            self._add(node)
        elif isinstance(event, yaml.ScalarEvent):
            is_null = event.style is None and event.value in ("", "~", "null", "Null", "NULL")
            # A new node of the same value as another one is not that one: an alias is.
            self._add(self._new(event, YamlNode(self._place(event), None if is_null else event.value)))
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            is_list = isinstance(event, yaml.SequenceStartEvent)
            node = YamlNode(
                self._place(event), items=[] if is_list else None, entries=None if is_list else {}
            )
            self._add(self._new(event, node))
            self._open.append(node)
            self._keys.append(None)
            if len(self._open) > MAX_DEPTH:
                raise TopologyError(node.place, f"lists are nested deeper than {MAX_DEPTH}", _REMEDY)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self._open.pop()
            self._keys.pop()

    def _new(self, event: Any, node: YamlNode) -> YamlNode:
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _place(self, event: Any) -> str:
        return f"{self._where}, line {event.start_mark.line + 1}"

    def _add(self, node: YamlNode) -> None:
        if not self._open:
            self.documents.append(node)
            return
        parent, key = self._open[-1], self._keys[-1]
        if parent.items is not None:
            parent.items.append(node)
        elif key is None:
            if node.items is not None or node.entries is not None:
                raise TopologyError(node.place, "a list or a mapping stands for a key", "give a plain key")
            self._keys[-1] = node.text or ""
        else:
            self._keys[-1] = None
            if key == "<<":
                parent.merged.append(node)
            elif parent.entries is not None:
                if key in parent.entries:
                    raise TopologyError(node.place, f'the key "{key}" stands here twice', "leave out one")
                parent.entries[key] = node


def texts(node: YamlNode, what: str) -> Iterator[tuple[str, str]]:
    """The entries of a mapping of scalars, null left out."""
    for key, value in node.mapping(what).items():
        if value.items is not None or value.entries is not None:
            raise TopologyError(value.place, f"{key} is no text", "write its value behind the colon")
        if value.text is not None:
            yield key, value.text
