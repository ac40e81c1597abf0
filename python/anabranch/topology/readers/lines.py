"""The words of the lines of a text file, each with its place."""

from collections.abc import Iterator
from typing import NamedTuple


class TextLine(NamedTuple):
    """A line that is not empty: its words, and its file and number for messages."""

    words: list[str]
    place: str


def lines_of(text: str, where: str, comment: str = "#") -> Iterator[TextLine]:
    """The lines with words, up to a comment; a comment begins with `comment`, "" for none."""
    for number, line in enumerate(text.splitlines(), start=1):
        words = (line.partition(comment)[0] if comment else line).split()
        if words:
            yield TextLine(words, f"{where}, line {number}")
