"""Tables for papers: what is bold, what is missing, and names that LaTeX or Markdown would obey."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from anabranch.errors import ResultError
from anabranch.report.looks import WIDTHS, figure_inches
from anabranch.report.paper_tables import paper_table, save_paper_tables, table_in_latex, table_in_markdown
from anabranch.report.study import write_outputs
from anabranch.results.result import FactorInfo, MetricInfo

from .made_study import MadeStudy, make

LOSS = FactorInfo("loss", "loss", "continuous", None, (0.0, 0.01))
TRANSPORT = FactorInfo("transport", "transport", "categorical", None, ("newreno", "cubic", "bbr"))
STATE = FactorInfo("state", "state", "categorical", None, ("up", "down"))
GOODPUT = MetricInfo("goodput_mbps", "goodput (Mbps)", better="more")
HOSTILE = [
    r"\input{/etc/passwd}",
    "100 % & $x$ #1 {a} ~ ^ \\ _",
    "| a | b |",
    "*bold* `code` [link](http://x) <b>&amp;",
    "é à ç ñ ü ő š Å ß æ ø ł \N{LATIN SMALL LETTER DOTLESS I} ş",
    "µ ≤ ≥ → ± \N{MULTIPLICATION SIGN} °",
    "😀 漢字 \u202e \x00",
    "--- ?` !` << >>",
    '"quoted"',
    "]{[",
    "1. first", "- item", "\\\\", "%",
]  # fmt: skip


def values(*rows: tuple[float | None, ...]) -> MadeStudy:
    """A study of two losses by three transports with these means, three replications one apart."""

    def formula(levels: tuple[float | str, ...]) -> float | None:
        return rows[LOSS.levels.index(levels[0])][TRANSPORT.levels.index(levels[1])]

    return make(LOSS, TRANSPORT, metrics=(GOODPUT,), formula=formula)


def bold(study: MadeStudy, better: str = "more") -> list[tuple[int, int]]:
    """Row and column of each cell that is bold."""
    metric = MetricInfo("goodput_mbps", "goodput (Mbps)", better=better)  # type: ignore[arg-type]
    object.__setattr__(study, "metrics", (metric,))
    ((_, rows),) = paper_table(study, "goodput_mbps").groups
    return [
        (row, place) for row, (_, cells) in enumerate(rows) for place, cell in enumerate(cells) if cell.best
    ]


def test_the_best_of_each_row_is_bold_with_all_that_its_interval_meets() -> None:
    # Intervals are a tenth of the mean: 20 reaches 22 and 24 begins at 21.6, but 26 begins at 23.4.
    study = values((1.0, 20.0, 24.0), (1.0, 20.0, 26.0))
    assert bold(study) == [(0, 1), (0, 2), (1, 2)]
    assert bold(study, "less") == [(0, 0), (1, 0)]
    assert bold(study, "") == []


def test_a_missing_value_is_empty_and_never_the_best() -> None:
    study = values((None, 20.0, 30.0), (None, None, 5.0))
    assert bold(study, "less") == [(0, 1)]
    text = table_in_latex(paper_table(study, "goodput_mbps"))
    assert re.search(r"^ +0 &  & \$\\mathbf", text, re.MULTILINE)
    assert re.search(r"^ +0.01 &  &  & \$5.00 \\pm 0.50\$", text, re.MULTILINE)
    assert "Empty: no run of it has a value." in text


def test_nothing_is_bold_where_all_are_alike() -> None:
    assert bold(values((5.0, 5.0, 5.0), (7.0, 7.0, 7.0))) == []


def test_one_factor_is_compared_down_its_column() -> None:
    study = make(
        TRANSPORT, metrics=(GOODPUT,), formula=lambda levels: 10.0 * TRANSPORT.levels.index(levels[0])
    )
    ((_, rows),) = paper_table(study, "goodput_mbps").groups
    assert [cells[0].best for _, cells in rows] == [False, False, True]


def test_further_factors_are_groups_of_rows() -> None:
    table = paper_table(make(LOSS, TRANSPORT, STATE, metrics=(GOODPUT,)), "goodput_mbps")
    assert [title for title, _ in table.groups] == ["state = up", "state = down"]
    text = table_in_latex(table)
    assert text.count(r"\midrule") == 2
    assert r"\multicolumn{4}{l}{\emph{state = down}}" in text
    # Each row of the tabular has as many cells as it has columns.
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.count("&") for line in rows} == {3}
    assert len(rows) == 5


def hostile_study() -> MadeStudy:
    names = FactorInfo("name", HOSTILE[1], "categorical", None, tuple(HOSTILE))
    return make(names, STATE, metrics=(MetricInfo("a b/../c", HOSTILE[2], better="more"),), title=HOSTILE[0])


def test_hostile_names_are_text_in_markdown(tmp_path: Path) -> None:
    (file,) = save_paper_tables(hostile_study(), tmp_path, ["md"])
    assert file.parent == tmp_path / "tables"
    rows = [line for line in file.read_text().splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    from markdown_it import MarkdownIt  # noqa: PLC0415 - CommonMark by another library

    tokens = MarkdownIt("commonmark").enable("table").parse(file.read_text())
    inside = [child for token in tokens for child in token.children or ()]
    assert not {"link_open", "html_inline", "em_open", "code_inline"} & {child.type for child in inside}
    shown = " ".join(child.content for child in inside)
    for name in HOSTILE[:5]:
        assert name in shown


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="not installed: pdflatex")
def test_latex_compiles_hostile_names_as_text(tmp_path: Path) -> None:
    (file,) = save_paper_tables(hostile_study(), tmp_path, ["tex"])
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
        f"\\input{{tables/{file.stem}}}\n\\end{{document}}\n"
    )
    done = subprocess.run(  # noqa: S603 - pdflatex, on a file of ours
        [shutil.which("pdflatex") or "", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")
    assert "passwd" not in re.sub(r"\\+", "", done.stdout)


def test_latex_has_no_letter_that_it_would_obey() -> None:
    text = table_in_latex(paper_table(hostile_study(), "a b/../c"))
    assert text.isascii()
    for row in [line for line in text.splitlines() if line.endswith(r" \\") and "multicolumn" not in line]:
        assert len(re.findall(r"(?<!\\)&", row)) == 2
    assert r"\input" not in text
    assert r"\textbackslash{}input\{/etc/passwd\}" in text
    # Braces are balanced, escaped ones apart.
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")


def test_both_forms_say_the_same_numbers() -> None:
    table = paper_table(values((1.0, 20.0, 24.0), (1.0, 20.0, 26.0)), "goodput_mbps")
    latex, markdown = table_in_latex(table), table_in_markdown(table)
    numbers = re.compile(r"(\d+\.\d+) (?:\\pm|±) (\d+\.\d+)")
    assert numbers.findall(latex) == numbers.findall(markdown)
    assert len(numbers.findall(latex)) == 6


def test_a_metric_without_a_value_has_no_table_unless_it_is_asked_for(tmp_path: Path) -> None:
    study = values((None, None, None), (None, None, None))
    assert save_paper_tables(study, tmp_path) == []
    assert len(save_paper_tables(study, tmp_path, metrics=["goodput_mbps"])) == 1
    with pytest.raises(ResultError, match="this study has no metric other"):
        save_paper_tables(study, tmp_path, metrics=["other"])
    with pytest.raises(ResultError, match="table: no form 'html'; choose from tex, md"):
        save_paper_tables(study, tmp_path, ["html"])


@pytest.mark.parametrize("size", sorted(WIDTHS))
def test_a_figure_is_as_wide_as_the_column_so_that_its_letters_keep_their_size(
    tmp_path: Path, size: str
) -> None:
    study = make(LOSS, TRANSPORT, metrics=(GOODPUT,))
    write_outputs(study, tmp_path, spreadsheet=False, figures=["pdf"], width=figure_inches(size))
    content = (tmp_path / "figures" / "goodput_mbps.pdf").read_bytes()
    match = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content)
    assert match is not None
    assert float(match[1]) == pytest.approx(72 * WIDTHS[size], abs=0.01)


def test_a_size_is_a_name_or_inches() -> None:
    assert figure_inches("3.25") == figure_inches("3.25in") == 3.25
    for wrong in ("iee", "0.5", "nan", "90"):
        with pytest.raises(ResultError, match=r"size: no size .*; choose from single, double, ieee, "):
            figure_inches(wrong)
