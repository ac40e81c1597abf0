"""Comments in files that other programs read: of names that may have any character."""

import re
from typing import Final

_ENDS_OR_OBEYED: Final = re.compile("[\\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""Whatever ends a line for a reader (UAX 14), and controls, which TOML refuses in a comment."""


def comment(text: str) -> str:
    """One line ``# text``: ends of lines and controls in it become blanks, and begin no line of their own."""
    return f"# {_ENDS_OR_OBEYED.sub(' ', text).strip()}"
