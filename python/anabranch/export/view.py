"""The pieces that show what an export has written."""

from __future__ import annotations

from pathlib import Path

from anabranch.export.write import Exported
from anabranch.media.pieces import DataTable, Piece, Text, columns


def export_pieces(exported: Exported, folder: Path) -> list[Piece]:
    """The links to which rounding of shares adds, what is not expressed, and where the files are."""
    pieces: list[Piece] = []
    changed = [entry for entry in exported.loads if abs(entry.added) > 1e-9]
    if changed:
        rows = [(entry.link, entry.before, entry.after, entry.added) for entry in changed]
        about = columns("link", "planned", "rounded", "added", table="loads")
        caption = f"{exported.what} of links with {exported.changed_by}"
        pieces.append(DataTable.of_rows("rounding", caption, about, rows, things="links", most=20))
    elif exported.loads:
        pieces.append(Text(f"with {exported.changed_by} each link has the {exported.what} of the plan"))
    pieces += exported.tables
    pieces += [Text(remark) for remark in exported.remarks]
    pieces += [Text(f"not expressed: {note}") for note in exported.notes]
    count = len(exported.files)
    pieces.append(Text(f"{count} files in {folder}; README.md says how to load them, and how to undo"))
    return pieces
