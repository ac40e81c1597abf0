"""From bytes to text, for formats that do not say their encoding."""

import codecs
import re


def decode_text(data: bytes) -> tuple[str, list[str]]:
    """The text of a file and what there is to note about its encoding.

    UTF-8, or UTF-16 where a byte order mark says so; else Latin-1, which takes any bytes and is what old
    files use.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace"), []
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return data.decode("latin-1"), [
            "The file is not UTF-8 and was read as Latin-1: accented letters may be wrong."
        ]


def without_comments(text: str) -> str:
    """A text without the lines that are comments, from the first word on."""
    return re.sub(r"(?m)^[ \t]*#.*$", "", text).lstrip()
