"""A small XML tree that knows the line of every element and takes nothing dangerous.

Not the standard library's ElementTree, because that keeps no line numbers for messages and expands entities;
a document type declaration, the only way to declare entities, is refused here before anything is expanded.
"""

from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from anabranch.topology.error import TopologyError

MAX_DEPTH: Final = 64
"""Deepest nesting taken. GraphML and SNDlib need less than ten levels."""
MAX_ELEMENTS: Final = 1_000_000
"""Most elements taken, so that a small hostile file cannot fill the memory."""
_CHUNK: Final = 1 << 16


@dataclass(slots=True)
class Element:
    """An XML element; `tag` and attribute names without their namespace."""

    tag: str
    attributes: dict[str, str]
    place: str
    """File and line, for messages."""
    children: list["Element"] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The character data directly inside the element, without blanks around it."""
        return "".join(self.pieces).strip()

    def child(self, tag: str) -> "Element | None":
        """The first child with this tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> list["Element"]:
        """All children with this tag, in order."""
        return [child for child in self.children if child.tag == tag]

    def inner(self, tag: str) -> "Element":
        """The first child with this tag. Raises TopologyError if there is none."""
        child = self.child(tag)
        if child is None:
            raise TopologyError(self.place, f"<{self.tag}> has no <{tag}> inside", "add it")
        return child

    def required(self, attribute: str) -> str:
        """An attribute. Raises TopologyError if it is missing or empty."""
        value = self.attributes.get(attribute)
        if not value:
            raise TopologyError(self.place, f'<{self.tag}> has no attribute "{attribute}"', "add it")
        return value


def parse_xml(data: bytes, where: str, root: str) -> Element:
    """The root element of a document, whose tag must be `root`.

    Raises TopologyError, with the line, for anything but sound XML with this root.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    document = Element("", {}, where)
    stack = [document]
    count = 0

    def here() -> str:
        return f"{where}, line {parser.CurrentLineNumber}"

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS:
            raise TopologyError(
                where, f"the file has more than {MAX_ELEMENTS} elements", "leave out what is not needed"
            )
        if len(stack) > MAX_DEPTH:
            raise TopologyError(here(), f"elements are nested deeper than {MAX_DEPTH}", _REMEDY)
        plain = {_local(key): value for key, value in attributes.items()}
        element = Element(_local(tag), plain, here())
        stack[-1].children.append(element)
        stack.append(element)

    def end(_tag: str) -> None:
        stack.pop()

    def text(piece: str) -> None:
        stack[-1].pieces.append(piece)

    def doctype(*_arguments: object) -> None:
        raise TopologyError(
            here(),
            "the file has a document type declaration (<!DOCTYPE), which could hide an entity bomb",
            "remove the declaration; GraphML and SNDlib files need none",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = doctype
    try:
        for offset in range(0, len(data), _CHUNK):
            parser.Parse(data[offset : offset + _CHUNK], False)
        parser.Parse(b"", True)
    except TopologyError:
        raise
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, "unknown error")
        raise TopologyError(
            f"{where}, line {error.lineno}", f"not well-formed XML from here on ({reason})", _REMEDY
        ) from error
    except (LookupError, ValueError) as error:  # an encoding that the declaration names and nobody knows
        raise TopologyError(
            f"{where}, line 1", f"the text cannot be decoded ({error})", "save it as UTF-8"
        ) from error
    top = document.children[0]
    if top.tag != root:
        raise TopologyError(top.place, f"the root element is <{top.tag}>", f"expected <{root}>")
    return top


_REMEDY: Final = "the file is cut off or damaged: fetch it again, or mend it here"


def _local(name: str) -> str:
    return name.rsplit(" ", 1)[-1]
