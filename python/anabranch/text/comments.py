"""Names in files that other programs read, where they may have any character and must stay on their line."""

import re
from typing import Final

_ENDS_OR_OBEYED: Final = re.compile("[\\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""Whatever ends a line for a reader (UAX 14), and controls, which TOML refuses in a comment."""


def one_line(text: str) -> str:
    """The text on one line: ends of lines and controls in it become blanks."""
    return _ENDS_OR_OBEYED.sub(" ", text).strip()


def comment(text: str) -> str:
    """One line ``# text``: ends of lines and controls in it become blanks, and begin no line of their own."""
    return f"# {one_line(text)}"
