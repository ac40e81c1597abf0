"""Text that any medium can show."""

NO_SHAPE = "\N{REPLACEMENT CHARACTER}"
"""In the place of a letter that cannot be drawn."""


def printable(text: str) -> str:
    """Text on one line, without characters that have no shape and that XML forbids."""
    spaced = " ".join(text.split())
    return "".join(letter if letter.isprintable() else NO_SHAPE for letter in spaced)
