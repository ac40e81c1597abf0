"""Transfers as pieces: their completion by the model beside each failure, and what simulation says."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from anabranch.media.pieces import Bars, DataTable, Piece
from anabranch.report.views.loads import plan_table

if TYPE_CHECKING:
    from anabranch.plans.transfers import Transfers
    from anabranch.report.views.outcome import StudyOutcome

_NOTHING = "nothing"
_NAMES = (
    "down", "kind", "load_percent", "pairs_cut_off", "full_pairs", "size_bytes", "median_completion_s",
    "worst_completion_s", "worst_pair", "median_goodput_mbps",
)  # fmt: skip


def transfers_pieces(transfers: Transfers) -> list[Piece]:
    """The transfers with nothing down, and in the failures that harm most."""
    table = transfers_table(transfers)
    return [table.without("kind") if len({case.kind for case in transfers.cases[1:]}) < 2 else table]


def transfers_table(transfers: Transfers) -> DataTable:
    """A row for each size with nothing down, then for each failure, the one that harms most first."""
    rows = [
        (
            case.name or _NOTHING, case.kind, case.load, case.cut_pairs, case.full_pairs, one.size_bytes,
            one.median_s, one.worst_s, None if one.worst_pair is None else " to ".join(one.worst_pair),
            one.median_mbps,
        )
        for place in (0, *transfers.by_harm)
        for case in (transfers.cases[place],)
        for one in case.times
    ]  # fmt: skip
    caption = (
        f"One transfer of {transfers.transport} beside the matrix, median and worst of all pairs whose links "
        f"have room ({transfers.scheme}; model: {transfers.model} and slow start, without queues)"
    )
    return plan_table("transfers", caption, _NAMES, rows, Bars("down", ("worst_completion_s",)))


def transfers_document(transfers: Transfers, simulated: StudyOutcome | None) -> dict[str, Any]:
    """The transfers, and the cells of a simulation, as a document of JSON."""
    return {
        "scheme": transfers.scheme,
        "transport": transfers.transport,
        "model": transfers.model,
        "cases": [asdict(case) for case in transfers.cases],
        "simulated": None if simulated is None else simulated.cells.to_dicts(),
        "warnings": [*transfers.warnings, *([] if simulated is None else simulated.warnings)],
    }
