"""Tables of a study for papers, in LaTeX and in Markdown: a metric by its factors, the best in bold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from anabranch.media.latex import escaped as in_latex
from anabranch.media.markdown import escaped as in_markdown
from anabranch.report.looks import check_table_forms, file_stem
from anabranch.report.views.outcome import StudyOutcome
from anabranch.report.views.study_table import (
    Block,
    MetricTable,
    axis_title,
    find_metric,
    interval_words,
    level_text,
    metric_table,
    number_text,
)
from anabranch.results.folders import write_whole
from anabranch.text.units import estimate

FOLDER = "tables"


@dataclass(frozen=True, slots=True)
class PaperCell:
    """A mean with its interval, or what is known in its place."""

    text: str
    """``9.46``; ``> 9.46`` where unfinished flows leave it open; empty where nothing was measured."""
    half_width: str = ""
    """Of the confidence interval; empty for none."""
    best: bool = False
    """Whether no value of the comparison is better, or none is for sure."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A metric over the first factor (down) and the second (across).

    Attributes:
        name: of the metric.
        title: the metric with its unit, and the study.
        notes: sentences on the intervals, on what is bold, and on what is missing.
        corner: the heading of the first column.
        across: the heading above the other columns; empty for none.
        columns: the headings of the other columns.
        groups: for each combination of further factors its words and its rows: the heading of a row with its
            cells.
    """

    name: str
    title: str
    notes: tuple[str, ...]
    corner: str
    across: str
    columns: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[str, tuple[PaperCell, ...]], ...]], ...]

    @property
    def has_values(self) -> bool:
        """Whether any cell has one."""
        return any(cell.text for _, rows in self.groups for _, cells in rows for cell in cells)


def paper_table(result: StudyOutcome, metric: str) -> PaperTable:
    """A metric of a study as a table.

    Raises:
        ResultError: if the study has no such metric.
    """
    table = metric_table(result, find_metric(result, metric))
    factor, label = table.shown
    corner = axis_title(table.first) if table.first else ""
    across = axis_title(table.second) if table.second else ""
    columns = tuple(
        number_text(column.level) if isinstance(column.level, float | int) else column.name
        for column in table.blocks[0].columns
    )
    groups = tuple((block.title, tuple(_rows(table, block, factor))) for block in table.blocks)
    cells = [cell for _, rows in groups for _, row in rows for cell in row]
    return PaperTable(
        table.metric.name,
        f"{label}{f'. {result.title}' if result.title else ''}",
        tuple(_notes(result, table, cells)),
        corner,
        across,
        columns,
        groups,
    )


def _rows(table: MetricTable, block: Block, factor: float) -> Iterator[tuple[str, tuple[PaperCell, ...]]]:
    """The rows of a block with their headings."""
    best = _best(table, block)
    for place, level in enumerate(block.rows):
        if table.first is None:
            heading = "all runs"
        elif isinstance(level, str):
            heading = level_text(table.first, level)
        else:
            heading = number_text(level)
        cells = []
        for across, column in enumerate(block.columns):
            mean, half, bound = column.means[place], column.half_widths[place], column.more_than[place]
            if mean is not None:
                text, _, width = estimate(mean * factor, half * factor if half else None).partition(" ± ")
                cells.append(PaperCell(text, width, (place, across) in best))
            else:
                cells.append(PaperCell("" if bound is None else f"> {estimate(bound * factor, None)}"))
        yield heading, tuple(cells)


def _best(table: MetricTable, block: Block) -> set[tuple[int, int]]:
    """The places of the best values: of each row, or of the only column."""
    if not table.metric.better:
        return set()
    down, across = range(len(block.rows)), range(len(block.columns))
    compared = (
        [[(row, column) for column in across] for row in down]
        if len(block.columns) > 1
        else [[(row, 0) for row in down]]
    )
    return set(chain.from_iterable(_best_of(table, block, places) for places in compared))


def _best_of(
    table: MetricTable, block: Block, places: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Of some places the best one, and those whose intervals meet its interval.

    None is best where all are alike, and where an open value may be better.
    """
    sign = 1.0 if table.metric.better == "more" else -1.0
    best_values: dict[tuple[int, int], tuple[float, float]] = {}
    for row, column in places:
        of = block.columns[column]
        mean, half, bound = of.means[row], of.half_widths[row], of.more_than[row]
        if mean is not None:
            best_values[row, column] = (sign * mean, half or 0.0)
        elif bound is not None:
            # More than that: the best where more is better, and where less is, it may be.
            best_values[row, column] = (sign * bound, float("inf") if sign > 0 else 0.0)
    if len(best_values) < 2:
        return
    best, width = max(best_values.values(), key=lambda value: value[0])
    chosen = [place for place, (mean, half) in best_values.items() if mean + half >= best - width]
    is_open = any(block.columns[column].means[row] is None for row, column in chosen)
    if len(chosen) < len(best_values) and not is_open:
        yield from chosen


def _notes(result: StudyOutcome, table: MetricTable, cells: Sequence[PaperCell]) -> Iterator[str]:
    if table.has_intervals:
        yield f"Mean with the {interval_words(result)} over {result.replications} replications."
    elif result.replications > 1:
        yield f"Mean over {result.replications} replications."
    if any(cell.best for cell in cells):
        of = "a row" if len(table.blocks[0].columns) > 1 else "a column"
        which = "largest" if table.metric.better == "more" else "smallest"
        also = ", and all whose intervals meet its own" if table.has_intervals else ""
        yield f"Bold: the {which} of {of}{also}."
    elif not table.metric.better:
        yield "No value is marked as the best: the metric does not say whether more is better."
    if table.has_bounds:
        yield "More than (>): flows were unfinished when the run ended."
    if any(not cell.text for cell in cells):
        yield "Empty: no run of it has a value."


def save_paper_tables(
    result: StudyOutcome, folder: Path | str, forms: Sequence[str] = ("tex",), metrics: Sequence[str] = ()
) -> list[Path]:
    """Writes ``tables/METRIC.tex`` or ``.md`` into a folder, for each metric.

    Args:
        result: the study.
        folder: where; ``tables`` is made in it if it is not there.
        forms: of ``tex`` and ``md``.
        metrics: names of metrics; all of which a cell has a value if left out.

    Returns:
        The files, in the order in which they were written.

    Raises:
        ResultError: for a form or a metric that does not exist, or if a file cannot be written.
    """
    check_table_forms(forms)
    files = []
    for name in metrics or [metric.name for metric in result.metrics]:
        table = paper_table(result, name)
        if not metrics and not table.has_values:
            continue
        for form in dict.fromkeys(forms):
            text = table_in_latex(table) if form == "tex" else table_in_markdown(table)
            files.append(write_whole(Path(folder) / FOLDER / f"{file_stem(name)}.{form}", text.encode()))
    return files


def table_in_latex(table: PaperTable) -> str:
    """The table for LaTeX with booktabs: a float with its caption and its label."""
    width = len(table.columns)
    lines = [
        r"% In the preamble: \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{in_latex(' '.join([table.title.rstrip('.') + '.', *table.notes]))}}}",
        f"  \\label{{tab:{re.sub('[^A-Za-z0-9-]+', '-', table.name)}}}",
        f"  \\begin{{tabular}}{{l{'r' * width}}}",
        r"    \toprule",
    ]
    if table.across:
        lines += [
            f"     & \\multicolumn{{{width}}}{{c}}{{{in_latex(table.across)}}} \\\\",
            f"    \\cmidrule(lr){{2-{width + 1}}}",
        ]
    lines.append(_latex_row([in_latex(table.corner), *map(in_latex, table.columns)]))
    for title, rows in table.groups:
        lines.append(r"    \midrule")
        if title:
            lines += [
                f"    \\multicolumn{{{width + 1}}}{{l}}{{\\emph{{{in_latex(title)}}}}} \\\\",
                r"    \addlinespace[2pt]",
            ]
        lines += [_latex_row([in_latex(heading), *map(_latex_cell, cells)]) for heading, cells in rows]
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return f"    {' & '.join(cells)} \\\\"


def _latex_cell(cell: PaperCell) -> str:
    if not cell.text:
        return ""
    formula = f"{cell.text} \\pm {cell.half_width}" if cell.half_width else cell.text
    # A minus of a formula is no hyphen.
    return f"$\\mathbf{{{formula}}}$" if cell.best else f"${formula}$"


def table_in_markdown(table: PaperTable) -> str:
    """The table for Markdown, with its title above and its notes below."""
    corner = " / ".join(filter(None, (table.corner, table.across)))
    lines = [f"**{in_markdown(table.title)}**"]
    for title, rows in table.groups:
        lines += ["", in_markdown(title)] if title else []
        lines += [
            "",
            _markdown_row([in_markdown(corner), *map(in_markdown, table.columns)]),
            _markdown_row(["---", *["---:"] * len(table.columns)]),
        ]
        lines += [
            _markdown_row([in_markdown(heading), *map(_markdown_cell, cells)]) for heading, cells in rows
        ]
    return "\n".join([*lines, "", *(f"{in_markdown(note)}  " for note in table.notes)]).rstrip() + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: PaperCell) -> str:
    text = f"{cell.text} ± {cell.half_width}" if cell.half_width else cell.text
    return f"**{text}**" if cell.best else in_markdown(text)
