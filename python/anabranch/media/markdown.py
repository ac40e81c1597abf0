"""Tables and articles in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from anabranch.media.columns import Column
from anabranch.media.pieces import Article, Cell, DataTable, Link, Paragraph, Section, worded_cell
from anabranch.text.units import plain


def article_text(article: Article) -> str:
    """An article as a page of text: its lead, its sections with their tables, and links to their figures.

    The numbers of its cards are for pages; a text has them in its lead and its tables.
    """
    lines = [f"# {article.title}", *_paragraphs(article.lead)]
    for section in article.sections:
        lines += ["", f"## {section.title}", *_paragraphs(section.paragraphs)]
        figures = [f"![{figure.title}]({figure.href})" for figure in section.figures if figure.href]
        if section.figures_first:
            lines += _paragraphs(figures)
        lines += _tables(section)
        if not section.figures_first:
            lines += _paragraphs(figures)
    return "\n".join(lines) + "\n"


def _tables(section: Section) -> list[str]:
    lines = [line for table in section.tables for line in ("", f"{table.caption}:", "", *table_lines(table))]
    if section.file:
        lines += ["", *(f"    {line}".rstrip() for line in section.file.splitlines())]
    if section.notes:
        # Two blanks at the end break a line.
        lines += ["", *(f"{_spoken(note)}  " for note in section.notes)]
    return lines


def _paragraphs(paragraphs: Sequence[Paragraph]) -> list[str]:
    return [line for paragraph in paragraphs for line in ("", _spoken(paragraph))]


def _spoken(words: Paragraph) -> str:
    parts = [words] if isinstance(words, str) else words
    return "".join(part if isinstance(part, str) else f"[{part.text}]({part.href})" for part in parts)


def table_lines(table: DataTable) -> list[str]:
    """A table as lines of Markdown; numbers stand on the right."""
    filed = table.filed()
    return [
        "| " + " | ".join(cells) + " |"
        for cells in (
            [_escaped(about.label) for about in filed.columns],
            ["---:" if about.is_number else "---" for about in filed.columns],
            *(
                [_text(about, cell) for about, cell in zip(filed.columns, row, strict=True)]
                for row in filed.by_row()
            ),
        )
    ]


def _text(about: Column, cell: Cell) -> str:
    if isinstance(cell, Link):
        return f"[{_escaped(cell.text)}]({cell.href})"
    value = worded_cell(cell)
    if isinstance(value, float):
        return plain(value, about.digits or 4)
    return "" if value is None else _escaped(str(value))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def escaped(text: str) -> str:
    """A user's text in Markdown, of which nothing is a sign: no emphasis, no link, no cell, no element."""
    plain_text = "".join(letter if letter.isprintable() else " " for letter in text)
    shown = re.sub(r"([\\`*_{}\[\]<>|~$#&!])", r"\\\1", plain_text)
    # A number with a full stop or a sign at the beginning of a line would be an entry of a list.
    return re.sub(r"^(\s*)(\d+)\.(?=\s|$)|^(\s*)([-+=])(?=\s|$)", _as_it_stands, shown)


def _as_it_stands(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}\\." if match[2] else f"{match[3]}\\{match[4]}"
