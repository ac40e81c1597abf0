"""The tables and lists of registries in pages written by hand; the text around them stays."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from anabranch.export.formats import FORMATS
from anabranch.topology.generators import GENERATORS
from anabranch.topology.readers.file_format import FileFormat
from anabranch.topology.readers.registry import FORMATS as FILE_FORMATS
from anabranch.topology.readers.registry import READERS
from anabranch.topology.traffic import TRAFFIC_READERS

DOCS = Path(__file__).parents[1]


def exports() -> str:
    """docs/export.md with a row for each format."""
    head = "| `--to` | writes | loaded in tests by |\n|---|---|---|\n"
    rows = (f"| `{name}` | {form.writes} | {form.loaded_by} |\n" for name, form in FORMATS.items())
    return _replaced("export.md", rf"{re.escape(head)}(?:\|.*\n)+", [head, *rows])


def topologies() -> str:
    """docs/topologies.md with the formats of files and the names of generators."""
    names = ", ".join(f"`{name}`" for name in sorted(GENERATORS))
    rows = [
        f"| `file:net.graphml` | a {FILE_FORMATS} file, relative to the scenario; "
        "its first bytes say which it is |\n",
        f"| {names} | generators |\n",
    ]
    text = _replaced("topologies.md", r"\| `file:net\.graphml` \|.*\n\| `.* \| generators \|\n", rows)
    head = "| format | description |\n|---|---|\n"
    described = (f"| {name} | {_first_line(reader)} |\n" for name, reader in READERS.items())
    return _in_place(text, "topologies.md", rf"{re.escape(head)}(?:\|.*\n)*", [head, *described])


def _first_line(reader: FileFormat) -> str:
    """The first line of the documentation of a reader's module."""
    return (sys.modules[reader.read.__module__].__doc__ or "").strip().splitlines()[0].removesuffix(".")


def traffic_files() -> str:
    """docs/traffic_files.md with a row for each format."""
    head = "| format | holds | unit |\n|---|---|---|\n"
    rates = "| CSV of rates, `from,to,rate_mbps` | a matrix | as the header states it |\n"
    rows = (f"| {form.name} | {form.holds} | {form.unit} |\n" for form in TRAFFIC_READERS.values())
    return _replaced("traffic_files.md", rf"{re.escape(head)}(?:\|.*\n)+", [head, rates, *rows])


def _replaced(page: str, pattern: str, lines: Iterable[str]) -> str:
    return _in_place((DOCS / page).read_text(encoding="utf-8"), page, pattern, lines)


def _in_place(text: str, page: str, pattern: str, lines: Iterable[str]) -> str:
    content = "".join(lines)
    text, count = re.subn(pattern, lambda _: content, text)
    if count != 1:
        raise ValueError(f"docs/{page} has {count} places for {content.splitlines()[0]}")
    return text
