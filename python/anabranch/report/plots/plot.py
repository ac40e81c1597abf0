"""A figure for print that shows itself in a notebook, and what all of them have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anabranch.errors import ResultError
from anabranch.media.pieces import Figure as Picture
from anabranch.media.texts import printable
from anabranch.report.labels import text_width
from anabranch.report.looks import NARROWEST, WIDEST, WIDTHS
from anabranch.report.style import figure_bytes, plain, save_figure, styled

Width = Literal["single", "double"] | str | float
"""Width of a figure: one or two columns of a journal, the column of a publisher, or inches."""
_HEIGHTS = {"single": 2.05, "double": 2.6}
"""Inches of the axes with their labels."""
_SINGLE = 4.5
"""A figure narrower than so many inches is one for a single column."""
_BELOW = 0.56
"""Inches of these for the words below the axes."""
_PAD = 0.06
"""Inches left and right."""
_NOTE = 6.5
"""Size of the notes below a figure."""
_LEGEND_ROW = 1.5
"""Height of a row of the legend, in letters."""
_HANDLE, _BETWEEN = 2.9, 1.3
"""Line and gap before the words of an entry, and what is between two columns, in letters."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure and what belongs to it.

    In a notebook it shows itself. ``figure`` is matplotlib's, to be changed at will before it is saved.

    Attributes:
        figure: the figure.
        name: its name, as in the name of its file.
        notes: what a caption should say, such as which links were left out.
    """

    figure: Figure
    name: str
    notes: tuple[str, ...] = ()

    @property
    def axes(self) -> Axes:
        """The first axes of the figure."""
        return self.figure.axes[0]

    def save(self, file: Path | str) -> Path:
        """Writes the figure as PNG, PDF or SVG, by the name's ending; the same figure gives the same bytes.

        Returns:
            The file.

        Raises:
            ResultError: if the ending is another, or the file cannot be written.
        """
        return save_figure(self.figure, Path(file))

    def drawing(self) -> Picture:
        """The figure as SVG, with its notes below it, for documents."""
        return Picture(self.name, figure_bytes(self.figure, "svg"), note=" ".join(self.notes))

    def _repr_png_(self) -> bytes:
        """The picture that a notebook shows; matplotlib's own figures have none unless pyplot made them."""
        picture = BytesIO()
        with styled():
            self.figure.savefig(picture, format="png", dpi=150)
        return picture.getvalue()


@dataclass(frozen=True, slots=True)
class Layout:
    """How a figure is set.

    Attributes:
        width: of the whole figure.
        title: a line above the axes, the run's own title if True, none if False.
    """

    width: Width = "double"
    title: bool | str = False

    @property
    def inches(self) -> float:
        """The width in inches.

        Raises:
            ResultError: if there is no such width.
        """
        if isinstance(self.width, str):
            if self.width in WIDTHS:
                return WIDTHS[self.width]
        elif NARROWEST <= self.width <= WIDEST:
            return float(self.width)
        names = ", ".join(f'"{name}" ({inches:g} in)' for name, inches in WIDTHS.items())
        raise ResultError(
            f"width: no width {self.width!r}; choose {names}, or inches from {NARROWEST:g} to {WIDEST:g}"
        )

    @property
    def narrow(self) -> bool:
        """Whether the figure is for a single column."""
        return self.inches < _SINGLE

    def title_of(self, text: str) -> str:
        """The line above the axes; empty for none."""
        if isinstance(self.title, str):
            return self.title
        return text if self.title else ""


def new_figure(layout: Layout) -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes; to be called in our style."""
    figure = Figure(figsize=(layout.inches, 2.0))
    # Half of the last number on the axis of times stands beyond its end.
    figure.set_layout_engine("constrained", w_pad=_PAD)
    return figure, figure.subplots()


def finish(figure: Figure, axes: Axes, layout: Layout, title: str, notes: Sequence[str] = ()) -> None:
    """The legend below the axes, where it covers nothing, the title above, and the height that this needs.

    A figure with a title stands alone and has the notes below it; that of a paper has them in its caption.
    """
    height = _HEIGHTS["single" if layout.narrow else "double"]
    axes.set_ylabel(wrapped(axes.get_ylabel(), (height - _BELOW) * 72.0, 9.0))
    handles, labels = axes.get_legend_handles_labels()
    font = 7.0 if layout.narrow else 8.0
    room = layout.inches * 72.0 - 6.0
    labels = [fitted(label, room - _HANDLE * font, font) for label in labels]
    columns = legend_columns(labels, room, font)
    rows = _LEGEND_ROW * font / 72.0 * -(-len(labels) // columns) + 0.06 if labels else 0.0
    height += rows
    shown = layout.title_of(title)
    if shown:
        size = 9.0 if layout.narrow else 10.0
        line = fitted(printable(shown), layout.inches * 72.0 - 10.0, size)
        figure.suptitle(plain(line), fontsize=size, x=0.01, ha="left")
        height += 0.2
    place: dict[str, Any] = {"loc": "outside lower center"}
    if shown and notes:
        caption = wrapped(" ".join(notes), room - 6.0, _NOTE)
        below = 0.06 + 1.3 * _NOTE / 72.0 * (caption.count("\n") + 1)
        height += below
        figure.text(0.01, 0.03 / height, caption, fontsize=_NOTE, color="#595959", va="bottom")
        # The layout knows a legend that is outside only at the very edge.
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, below / height)}
        bottom = (below + rows) / height
        figure.set_layout_engine("constrained", w_pad=_PAD, rect=(0, bottom, 1, 1 - bottom))
    if labels:
        figure.legend(
            handles, labels, ncols=columns, columnspacing=_BETWEEN, fontsize=font, handlelength=2.2,
            handletextpad=0.6, borderaxespad=0.1, borderpad=0.2, **place,
        )  # fmt: skip
    figure.set_size_inches(layout.inches, height)


def legend_columns(labels: Sequence[str], room: float, font: float) -> int:
    """The most columns of a legend that fit into so many points; entries go down the columns."""
    widths = [text_width(label, font) + _HANDLE * font for label in labels]
    for columns in range(len(widths), 1, -1):
        rows = -(-len(widths) // columns)
        whole = [max(widths[first : first + rows]) for first in range(0, len(widths), rows)]
        if len(whole) == columns and sum(whole) + _BETWEEN * font * (columns - 1) <= room:
            return columns
    return 1


def wrapped(text: str, room: float, size: float) -> str:
    """A text in lines of at most so many points, broken between words."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


_MOST_LETTERS = 1000
"""Letters of a text that could be shown at all, whose widths are looked up one by one."""


def fitted(text: str, room: float, size: float) -> str:
    """A text that is no wider than so many points; what is too long loses its middle."""

    def cut(kept: int) -> str:
        return f"{text[: kept - kept // 3]}...{text[-(kept // 3) :]}"

    if len(text) <= _MOST_LETTERS and text_width(text, size) <= room:
        return text
    # Widths grow with the number of letters, but for the odd letter that is wider than another.
    few, many = 5, min(len(text), _MOST_LETTERS)
    while few + 1 < many:
        middle = (few + many) // 2
        few, many = (middle, many) if text_width(cut(middle), size) <= room else (few, middle)
    return cut(few) if few > 5 else text[:5]


def marker_of(look: Any) -> dict[str, Any]:
    """The marker of a look as a line takes it."""
    return {"marker": look.marker, "markerfacecolor": "white" if look.hollow else look.color}
