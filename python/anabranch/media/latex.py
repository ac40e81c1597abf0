"""Texts and tables in LaTeX, as pdflatex takes them with booktabs and no other package."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

_SIGNS: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    '"': "''",
    "[": "{[}",
    "]": "{]}",
    "`": r"\textasciigrave{}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{MICRO SIGN}": r"$\mu$",
    "\N{GREEK SMALL LETTER MU}": r"$\mu$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{DEGREE SIGN}": r"$^\circ$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{LEFTWARDS ARROW}": r"$\leftarrow$",
    "\N{SUPERSCRIPT TWO}": r"$^2$",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{MINUS SIGN}": "$-$",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "å": r"\aa{}",
    "Å": r"\AA{}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"\i{}",
}
_ACCENTS: Mapping[str, str] = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip
"""LaTeX's accents of the plain encoding (OT1) by the marks of Unicode that they are."""
_UNKNOWN = "?"


def escaped(text: str) -> str:
    """A user's text, of which nothing is a command; a letter that plain LaTeX lacks is a question mark."""
    return "".join(map(_letter, unicodedata.normalize("NFC", text)))


def _letter(letter: str) -> str:
    if letter in _SIGNS:
        return _SIGNS[letter]
    if letter.isascii():
        return letter if letter.isprintable() else " "
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if base.isascii() and base.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS:
        # An accent stands above a letter without its dot.
        bare = {"i": r"\i", "j": r"\j"}.get(base, base) if marks[0] != "\u0327" else base
        return f"\\{_ACCENTS[marks[0]]}{{{bare}}}"
    return _UNKNOWN
