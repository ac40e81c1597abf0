"""What columns mean, in results.md, capture.md and measurements.md of docs; the text around them stays."""

import re
from collections.abc import Mapping
from pathlib import Path

from anabranch.media.columns.tables import AGAINST, CAPTURE, MEASUREMENT, RUN, Meanings

DOCS = Path(__file__).parents[1]
_HEAD = "| column | meaning |\n|---|---|\n"


def results() -> str:
    """docs/results.md with the columns of the tables of a run."""
    return _filled("results.md", RUN)


def captures() -> str:
    """docs/capture.md with the columns of the tables of captures."""
    return _filled("capture.md", CAPTURE)


def measurements() -> str:
    """docs/measurements.md with the columns that measurements and comparisons have beside those."""
    return _filled("measurements.md", {**MEASUREMENT, **AGAINST})


def _filled(name: str, tables: Mapping[str, Meanings]) -> str:
    """The page with a row for each sentence, in the first table below the heading of each table of ours."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for table, meanings in tables.items():
        rows = "".join(
            f"| {', '.join(f'`{column}`' for column in names.split())} | {meaning} |\n"
            for names, meaning in meanings.items()
        )
        pattern = rf"(^## `{table}`\n(?:(?!^## ).*\n)*?){re.escape(_HEAD)}(?:\|.*\n)+"
        text, count = re.subn(pattern, lambda match, rows=rows: f"{match[1]}{_HEAD}{rows}", text, flags=re.M)
        if count != 1:
            raise ValueError(f"docs/{name} has {count} tables of columns below the heading `{table}`")
    return text
