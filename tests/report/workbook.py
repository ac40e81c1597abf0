"""Reads a spreadsheet back from its XML, without the library that wrote it."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"

Value = float | str | None


@dataclass
class Series:
    """One series of a chart, as references to cells."""

    name: str
    categories: str
    values: str
    plus: str | None
    minus: str | None
    color: str | None


@dataclass
class Chart:
    """One native chart."""

    kind: str
    title: str
    axes: list[str]
    series: list[Series]
    legend: bool
    logarithmic: bool
    scatter_style: str | None


@dataclass
class Workbook:
    """Cells by sheet and address, and charts in the order of their files."""

    cells: dict[str, dict[str, Value]] = field(default_factory=dict)
    formulas: int = 0
    frozen: dict[str, str] = field(default_factory=dict)
    charts: list[Chart] = field(default_factory=list)
    formats: set[str] = field(default_factory=set)

    def at(self, reference: str) -> list[Value]:
        """The values of the cells that a formula such as ``'A b'!$B$2:$B$9`` refers to."""
        sheet, _, cells = reference.rpartition("!")
        sheet = sheet.removeprefix("'").removesuffix("'").replace("''", "'")
        match = re.fullmatch(r"\$([A-Z]+)\$(\d+)(?::\$([A-Z]+)\$(\d+))?", cells)
        assert match, reference
        column, top, last_column, bottom = match.groups()
        assert last_column in (None, column), reference
        rows = range(int(top), int(bottom or top) + 1)
        return [self.cells[sheet].get(f"{column}{row}") for row in rows]

    def one(self, reference: str) -> Value:
        """The value of one cell."""
        (value,) = self.at(reference)
        return value


def read_workbook(file: Path) -> Workbook:
    """Everything in a spreadsheet that the tests ask for. Every part must be well-formed XML."""
    book = Workbook()
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name.endswith((".xml", ".rels"))}
    trees = {
        name: ElementTree.fromstring(content)  # noqa: S314 - we wrote it
        for name, content in parts.items()
    }
    texts = ["".join(text.text or "" for text in entry.iter(f"{MAIN}t"))
             for entry in trees.get("xl/sharedStrings.xml", ElementTree.Element("none"))]  # fmt: skip
    targets = {link.get("Id"): link.get("Target") for link in trees["xl/_rels/workbook.xml.rels"]}
    for sheet in trees["xl/workbook.xml"].iter(f"{MAIN}sheet"):
        name, tree = str(sheet.get("name")), trees[f"xl/{targets[sheet.get(f'{LINK}id')]}"]
        book.cells[name] = {str(cell.get("r")): _value(cell, texts) for cell in tree.iter(f"{MAIN}c")}
        book.formulas += len(list(tree.iter(f"{MAIN}f")))
        for pane in tree.iter(f"{MAIN}pane"):
            book.frozen[name] = str(pane.get("topLeftCell"))
    book.formats = {str(form.get("formatCode")) for form in trees["xl/styles.xml"].iter(f"{MAIN}numFmt")}
    charts = [name for name in trees if re.fullmatch(r"xl/charts/chart\d+\.xml", name)]
    for name in sorted(charts, key=lambda name: int(re.sub(r"\D", "", name))):
        book.charts.append(_chart(trees[name], book))
    return book


def _value(cell: ElementTree.Element, texts: list[str]) -> Value:
    content = cell.findtext(f"{MAIN}v")
    if content is None:
        return None
    return texts[int(content)] if cell.get("t") == "s" else float(content)


def _chart(tree: ElementTree.Element, book: Workbook) -> Chart:
    area = tree.find(f".//{CHART}plotArea")
    assert area is not None
    kinds = [child for child in area if child.tag.endswith("Chart")]
    assert len(kinds) == 1
    style = kinds[0].find(f"{CHART}scatterStyle")
    titles = [title for axis in area if axis.tag in (f"{CHART}catAx", f"{CHART}valAx")
              if (title := _title(axis, book))]  # fmt: skip
    return Chart(
        kind=kinds[0].tag.removeprefix(CHART),
        title=_title(tree.find(f"{CHART}chart"), book),
        axes=titles,
        series=[_series(series) for series in kinds[0].iter(f"{CHART}ser")],
        legend=tree.find(f".//{CHART}legend") is not None,
        logarithmic=tree.find(f".//{CHART}logBase") is not None,
        scatter_style=None if style is None else style.get("val"),
    )


def _title(element: ElementTree.Element | None, book: Workbook) -> str:
    """The title of a chart or an axis, which is in a cell or stands there itself; empty for none."""
    title = None if element is None else element.find(f"{CHART}title")
    if title is None:
        return ""
    reference = title.findtext(f".//{CHART}f")
    return str(book.one(reference)) if reference else "".join(t.text or "" for t in title.iter(f"{DRAWING}t"))


def _series(series: ElementTree.Element) -> Series:
    def reference(*tags: str) -> str | None:
        outcome = (series.findtext(f"{CHART}{tag}//{CHART}f") for tag in tags)
        return next((text for text in outcome if text is not None), None)

    color = series.find(f"{CHART}spPr//{DRAWING}srgbClr")
    return Series(
        name=reference("tx") or str(series.findtext(f"{CHART}tx/{CHART}v")),
        categories=str(reference("xVal", "cat")),
        values=str(reference("yVal", "val")),
        plus=reference("errBars/" + CHART + "plus"),
        minus=reference("errBars/" + CHART + "minus"),
        color=None if color is None else f"#{color.get('val')}",
    )
