"""Writes the pages that follow from the program: ``python docs/generate FOLDER``."""

import sys
from pathlib import Path

import columns
import commands
import completion
import reference
import registries

from anabranch.terminal.completion import DATA

PAGES = {
    "reference.md": reference.page,
    "commands.md": commands.page,
    "results.md": columns.results,
    "capture.md": columns.captures,
    "measurements.md": columns.measurements,
    "export.md": registries.exports,
    "topologies.md": registries.topologies,
    "traffic_files.md": registries.traffic_files,
}


def main(folder: Path) -> None:
    """Writes each page into a folder, and the data of completion into the package."""
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")
    DATA.write_text(completion.text(), encoding="utf-8")


main(Path(sys.argv[1]))
