"""The folder of a comparison: tables as CSV and Parquet, a page of text, a page for a browser, figures."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from anabranch.media.markdown import article_text
from anabranch.media.page.sections import save_page
from anabranch.report.style import save_figure
from anabranch.results.folders import write_whole
from anabranch.results.result import csv_bytes, json_ready
from anabranch_publications.comparison.figures import load_figure, network_figure, state_figure
from anabranch_publications.comparison.runs import Comparison
from anabranch_publications.comparison.view import comparison_article

FOLDER_KIND = "comparison"
"""What the manifest of its folder calls it."""
FILES = (
    *("comparison.csv", "comparison.json", "comparison.parquet", "runs.csv"),
    *("README.md", "report.html", "figures/"),
)
"""What is written into the folder, besides the runs."""


def write_comparison(comparison: Comparison, folder: Path) -> None:
    """Writes everything but the runs, each file whole.

    Raises:
        ResultError: if a file cannot be written.
    """
    cells = comparison.result.cells.drop("cell", "failed")
    write_whole(folder / "comparison.csv", csv_bytes(cells))
    runs = comparison.result.runs.drop("run", "cell", "status", "reason")
    write_whole(folder / "runs.csv", csv_bytes(runs))
    buffer = io.BytesIO()
    cells.write_parquet(buffer)
    write_whole(folder / "comparison.parquet", buffer.getvalue())
    text = json.dumps(json_ready(comparison.data()), indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / "comparison.json", f"{text}\n".encode())
    drawn = figures(comparison)
    for name, figure in drawn.items():
        for form in ("png", "svg"):
            save_figure(figure, folder / "figures" / f"{name}.{form}")
    article = comparison_article(comparison, drawn)
    write_whole(folder / "README.md", article_text(article).encode())
    save_page(folder, article)


def figures(comparison: Comparison) -> Mapping[str, Figure]:
    """All figures by name: one for each network, named after it, then ``state`` and ``load``."""
    networks = {subject.slug: network_figure(comparison, subject) for subject in comparison.subjects}
    return {**networks, "state": state_figure(comparison), "load": load_figure(comparison)}
