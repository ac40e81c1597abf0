"""Takes the tables and figures of a comparison over into docs/.

    comparison_page.py RESULTS TABLES.md FIGURES

The page with the conclusions, docs/comparison.md, is written by people; this one has only what came out.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

NOTE = "<!-- Written by make compare. What follows from it is in comparison.md. -->"


def main(results: Path, tables: Path, figures: Path) -> None:
    """Writes the page, and its figures as SVG."""
    text = (results / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"\(figures/([a-z0-9-]+)\.svg\)", rf"({figures.name}/comparison-\1.svg)", text)
    tables.write_text(f"{NOTE}\n\n{text}", encoding="utf-8")
    for name in re.findall(rf"\({figures.name}/comparison-([a-z0-9-]+)\.svg\)", text):
        shutil.copyfile(results / "figures" / f"{name}.svg", figures / f"comparison-{name}.svg")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
