"""Files of measurements: unpacked as they are read, in bounded memory; JSON as a whole, logs line by line."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final, cast

from anabranch.errors import reason
from anabranch.text.files import open_given

HEAD_BYTES: Final = 1 << 16
"""How much of a file its format is recognised by."""
MOST_DOCUMENT_BYTES: Final = 64 * 2**20
"""Of a JSON document: in memory it is some twenty times as large."""
MOST_LINE_BYTES: Final = 1 << 20
"""Of a line of a log: none has more, and a file without line breaks is none."""
STANDARD_INPUT: Final = "-"
_JSON: Final = re.compile(r"(?:[^\s{\[<\x1e][^\n]*\n\s*){0,20}(?=\{)")
"""An object, behind some lines of messages perhaps."""
_PACKED: Final[Mapping[bytes, Callable[[IO[bytes]], IO[bytes]]]] = {
    b"\x1f\x8b": lambda opened: cast(IO[bytes], gzip.GzipFile(fileobj=opened)),
    b"BZh": lambda opened: cast(IO[bytes], bz2.BZ2File(opened)),
    b"\xfd7zXZ": lambda opened: cast(IO[bytes], lzma.LZMAFile(opened)),  # noqa: SIM115 - closed with its user
}
"""What unpacks a file, by its first bytes."""
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""How texts begin that PowerShell redirects."""


class UnreadableError(Exception):
    """Why a file cannot be read."""


class MeasurementFile:
    """A file of a measurement; its beginning, its lines, or all of it as JSON."""

    def __init__(self, file: Path | str) -> None:
        self.file = file
        self.name = "standard input" if os.fspath(file) == STANDARD_INPUT else os.fspath(file)

    @cached_property
    def head(self) -> bytes:
        """The beginning, unpacked.

        Raises:
            UnreadableError: if it cannot be read.
        """
        with self._opened() as opened:
            return opened.read(HEAD_BYTES)

    @cached_property
    def head_text(self) -> str:
        """The beginning as text without a byte order mark and blanks; what is no UTF-8 is replaced."""
        return self.head.decode("utf-8-sig", errors="replace").lstrip()

    @property
    def is_text(self) -> bool:
        """Whether the beginning is of a text, and not of a binary file."""
        sample = self.head[:4096]
        return bool(sample.strip()) and b"\0" not in sample and sample[:2] not in (b"\xff\xfe", b"\xfe\xff")

    @cached_property
    def document(self) -> Any:
        """All of a JSON file as data; None if it is no JSON (RFC 8259) of an object, with why in ``damage``.

        Raises:
            UnreadableError: if it cannot be read, or is too large.
        """
        self.damage, self.beside = "", ""
        if _JSON.match(self.head_text) is None:
            return None
        with self._opened() as opened:
            content = opened.read(MOST_DOCUMENT_BYTES + 1)
        if len(content) > MOST_DOCUMENT_BYTES:
            raise UnreadableError(
                f"is a JSON document of more than {MOST_DOCUMENT_BYTES >> 20} MiB, the most that is read as "
                "a "
                "whole; write it line by line (--json-stream of iperf3, JSON-SEQ of qlog), or cut the "
                "measurement"
            )
        try:
            text = content.decode("utf-8-sig").lstrip()
            begun = _JSON.match(text)
            begin = 0 if begun is None else begun.end()
            document, end = json.JSONDecoder().raw_decode(text, begin)
        except RecursionError:
            self.damage = "is nested too deep"
        except json.JSONDecodeError as error:
            rest = content[len(content.decode("utf-8-sig", errors="replace")[: error.pos].encode()) :].strip()
            where = f"line {error.lineno}, column {error.colno}"
            self.damage = (
                f"is cut off: its JSON ends in the middle, at {where}"
                if not rest or error.msg.startswith("Unterminated")
                else f"is no JSON at {where}: {error.msg}"
            )
        except ValueError as error:
            self.damage = f"is no JSON: {error}"
        else:
            self.beside = " ".join((text[:begin].split("\n", 1)[0], text[end:].strip()[:200])).strip()
            if not text[end:].lstrip().startswith(("{", "[")):
                return document
            self.damage = (
                "holds several JSON documents one after the other: give each as a file of its own, by: "
                "jq -c . FILE | split -l 1"
            )
        return None

    damage = ""
    """What is wrong with a JSON document that could not be read."""
    beside = ""
    """The beginning of text around a JSON document, such as what a program says before it."""

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers from 1 on; what is no UTF-8 is replaced.

        Raises:
            UnreadableError: if it cannot be read, or a line is too long.
        """
        with self._opened() as opened:
            number = 0
            while line := opened.readline(MOST_LINE_BYTES + 1):
                number += 1
                if len(line) > MOST_LINE_BYTES:
                    raise UnreadableError(f"has a line of more than 1 MiB, line {number:,}: it is no log")
                coding = "utf-8-sig" if number == 1 else "utf-8"
                yield number, line.decode(coding, errors="replace").rstrip("\r\n")

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        try:
            with self._stream() as opened:
                yield opened
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise UnreadableError(f"cannot be read: {reason(error)}") from None

    @contextmanager
    def _stream(self) -> Iterator[IO[bytes]]:
        if os.fspath(self.file) == STANDARD_INPUT:
            self._kept.seek(0)
            first = self._kept.read(6)
            self._kept.seek(0)
            yield _unpacked(first)(self._kept)
            return
        with open_given(Path(self.file)) as opened:
            first = opened.read(6)
            opened.seek(0)
            yield _unpacked(first)(opened)

    @cached_property
    def _kept(self) -> IO[bytes]:
        """Standard input, which is read twice: in a file without a name."""
        kept = tempfile.TemporaryFile()  # noqa: SIM115 - until the program ends
        shutil.copyfileobj(sys.stdin.buffer, kept)
        return kept


def _unpacked(first: bytes) -> Callable[[IO[bytes]], IO[bytes]]:
    """What unpacks a file that begins so."""
    if first.startswith(_UTF16):
        return lambda opened: cast(IO[bytes], codecs.EncodedFile(opened, "utf-8", "utf-16", "replace"))
    for magic, unpack in _PACKED.items():
        if first.startswith(magic):
            return unpack
    return lambda opened: opened
