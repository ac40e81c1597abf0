"""Text from users' files on its way to a terminal: one filter for both streams and for JSON."""

from __future__ import annotations

import re

# C0 and C1 controls but tab and line feed, soft hyphen, what has no width, line and paragraph separators, the
# marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX 9), halves of surrogate pairs,
# annotations and tags.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """Text without the characters that a terminal would obey: controls, escapes, changes of direction.

    Each becomes a replacement character (U+FFFD). Tabs and ends of lines stay.
    """
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text)


def plain_json(document: str) -> str:
    """A JSON document with those characters as JSON's own escapes (RFC 8259, section 7): the same values."""
    return _OBEYED.sub(_escaped, document)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
