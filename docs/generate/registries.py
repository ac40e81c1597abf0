"""The tables and lists of registries in pages written by hand; the text around them stays."""

import re
from collections.abc import Iterable
from pathlib import Path

from anabranch.export.formats import FORMATS
from anabranch.topology.generators import GENERATORS
from anabranch.topology.readers.registry import FORMATS as FILE_FORMATS

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
    return _replaced("topologies.md", r"\| `file:net\.graphml` \|.*\n\| `.* \| generators \|\n", rows)


def _replaced(page: str, pattern: str, lines: Iterable[str]) -> str:
    text = (DOCS / page).read_text(encoding="utf-8")
    content = "".join(lines)
    text, count = re.subn(pattern, lambda _: content, text)
    if count != 1:
        raise ValueError(f"docs/{page} has {count} places for {content.splitlines()[0]}")
    return text
