"""`file:PATH`: files of any format in `READERS`. What a file is, its first bytes say, not its name."""

import codecs
import errno
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from anabranch.errors import reason
from anabranch.text.files import check_size, open_given
from anabranch.text.suggest import suggest
from anabranch.topology.assemble import assemble
from anabranch.topology.attributes.choices import AttributeChoice
from anabranch.topology.error import TopologyError
from anabranch.topology.model import Topology
from anabranch.topology.readers.registry import FORMATS, READERS
from anabranch.topology.readers.unread import PICKLE, PICKLE_REMEDY, UNREAD, UnreadFormat

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
"""Largest file read. The largest Topology Zoo file, 754 nodes, has 0.3 MB."""

_HEAD_BYTES: Final = 1 << 16
_ARCHIVES: Final = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7-zip",
}
_KNOWN: Final = f"a {FORMATS} file"
_REWRITE: Final = (
    "write its links as CSV with the header from,to,capacity_mbps,delay_ms (a graph of networkx: "
    "networkx.write_graphml(graph, NEW))"
)
"""What makes a file of any program one that is read."""
_REMEDIES: Final = {
    errno.EINVAL: f"name {_KNOWN}",
    errno.EFBIG: "leave out attributes that no simulation needs",
}


def load_file(
    path_text: str, base: Path | None, choices: Mapping[str, AttributeChoice] = MappingProxyType({})
) -> Topology:
    """The topology in a file; a relative path counts from `base`, by default the working directory.

    `choices` are the attributes of the file that the user chose for quantities. Raises TopologyError, with
    the line where there is one, for a file that is missing, too large, of no known format, cut off or wrong.
    """
    where = f"file:{path_text}"
    if not path_text.strip():
        raise TopologyError(where, "the path is missing", f"write file: and the path of {_KNOWN}")
    path = (base or Path()) / path_text
    try:
        format_name, data = _read(path, where)
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "check the path")
        raise TopologyError(where, f"cannot be read: {reason(error)}", remedy) from error
    except ValueError as error:
        if isinstance(error, TopologyError):
            raise
        raise TopologyError(where, f"is no path ({error})", "check the path") from error
    return parse_topology(data, format_name, where, choices)


def parse_topology(
    data: bytes,
    format_name: str,
    where: str,
    choices: Mapping[str, AttributeChoice] = MappingProxyType({}),
) -> Topology:
    """The topology in the bytes of a file of one of the formats in `READERS`, named after `where`."""
    draft = READERS[format_name].read(data, where)
    return assemble(where, where, draft, [f"Read from {where} ({format_name})."], choices)


def sniff(head: bytes, where: str) -> str:
    """The format, a key of `READERS`, of a file with this head. Raises TopologyError for any other."""
    for magic, kind in _ARCHIVES.items():
        if head.startswith(magic):
            raise TopologyError(where, f"this is a {kind} archive", "unpack it and name the file inside")
    text = _text_of(head)
    if head.startswith(PICKLE):
        raise TopologyError(where, "this is an object that Python has pickled", PICKLE_REMEDY)
    if "\0" in text:
        raise TopologyError(where, "this is binary data", f"give {_KNOWN}")
    if not text:
        raise TopologyError(where, "the file is empty", f"give {_KNOWN}")
    if (unread := unread_format(head)) is not None:
        raise TopologyError(where, unread.what, unread.conversion)
    reader = next((reader for reader in READERS.values() if reader.recognises(text)), None)
    if reader is not None:
        return reader.name
    if text.startswith("<"):
        raise TopologyError(where, "this is XML or HTML of no known format", f"{_REWRITE}, or give {_KNOWN}")
    first = text.partition("\n")[0].strip()[:60]
    if re.search(r"[^,;\t][,;\t][^,;\t]", first):
        said = "".join(c if c.isprintable() else "." for c in first)
        raise TopologyError(
            f"{where}, line 1",
            f'"{said}" is no header of a table of links, which names two columns from and to',
            "write such a line first, as from,to,capacity_mbps,delay_ms, with a name for each column",
        )
    shown = "".join(c if c.isprintable() else "." for c in text[:20])
    raise TopologyError(where, f'no known format: it starts with "{shown}"', f"{_REWRITE}, or give {_KNOWN}")


def unread_format(head: bytes) -> UnreadFormat | None:
    """The format of networks that a file with this head has, if it is one that is known and not read."""
    text = _text_of(head)
    return next((each for each in UNREAD if each.recognises(text)), None)


def _text_of(head: bytes) -> str:
    utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = head.decode("utf-16" if utf16 else "latin-1", errors="replace")
    return text.removeprefix("\xef\xbb\xbf").lstrip()


def _read(path: Path, where: str) -> tuple[str, bytes]:
    """The format and the bytes of a file. The format is settled first, so that garbage is refused unread."""
    if not path.exists():
        raise TopologyError(where, "there is no such file", _neighbour(path))
    with open_given(path) as stream:
        head = stream.read(_HEAD_BYTES)
        format_name = sniff(head, where)
        check_size(stream, MAX_FILE_BYTES)
        return format_name, head + stream.read(MAX_FILE_BYTES)


def _neighbour(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f'there is no folder "{folder.name}" either; check the path'
    near = suggest(path.name, sorted(entry.name for entry in folder.iterdir()))
    return f'nearest: "{near}"' if near is not None else "check the path"
