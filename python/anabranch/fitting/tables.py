"""Fits and predictions as tables and sentences for every medium."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.fitting.outcome import Fit
from anabranch.fitting.second_path import SHARED, SecondPath
from anabranch.fitting.writing import SCENARIO, estimate_words, label
from anabranch.media.columns import column
from anabranch.media.pieces import Cell, DataTable, Piece, Text, Worded, columns

if TYPE_CHECKING:
    from anabranch.fitting.predict import TransportPrediction
    from anabranch.fitting.stored import Fitted

_PARAMETERS = columns("parameter", "estimate", "inferred_from")
_MODELS = columns("hypothesis", "misfit", "misfit_with_penalty", "search", "caution")
_RESIDUALS = columns("comparison", "standard_errors")
_HELD_OUT = columns("transfer", "measure", "measured", "predicted", "error_percent")
_LIVE = columns("measure", "measured", "by_simulation", "by_kernel", "difference_percent")
_ANSWERS = ("goodput_mbps", "rtt_mean_ms", "retransmissions", "completion_s")
_MOST_RESIDUALS = 10


def parameter_table(fit: Fit) -> DataTable:
    """Each inferred value with its range and what it comes from."""
    rows = [(label(one.name), estimate_words(one), one.source) for one in fit.ranges]
    return DataTable.of_rows(
        "parameters", "The path, with 90 % ranges", _PARAMETERS, rows, things="parameters"
    )


def model_table(fit: Fit) -> DataTable:
    """Every model that was tried."""
    rows = [
        (
            one.title + (" (chosen)" if number == 0 else ""),
            one.score,
            one.total,
            "refined" if one.is_refined else "one simulation",
            one.caution,
        )
        for number, one in enumerate(fit.rivals)
        if math.isfinite(one.score)
    ]
    return DataTable.of_rows("models", "Models, the best first", _MODELS, rows, things="models")


def residual_table(fit: Fit) -> DataTable:
    """The comparisons that are furthest off."""
    rows = fit.residuals[:_MOST_RESIDUALS]
    return DataTable.of_rows(
        "residuals",
        "Simulated less measured, the largest differences",
        _RESIDUALS,
        rows,
        things="comparisons",
    )


def held_out_table(fit: Fit) -> DataTable:
    """The transfer that was predicted from the others."""
    rows = [
        (one.transfer, one.measure, one.measured, one.predicted, one.error_percent) for one in fit.held_out
    ]
    return DataTable.of_rows("held_out", "A transfer predicted from the others", _HELD_OUT, rows)


def live_table(fit: Fit) -> DataTable:
    """The measured transfer beside the kernel's over the fitted path; the difference is the kernel's."""
    rows = [
        (one.measure, one.measured, one.simulated, one.kernel, one.difference_percent) for one in fit.live
    ]
    return DataTable.of_rows("live", "Over the fitted path", _LIVE, rows)


def fit_pieces(fit: Fit, folder: Path | None) -> list[Piece]:
    """The words and tables of a fit."""
    pieces: list[Piece] = [Text(sentence(fit.verdict)), parameter_table(fit)]
    if len(fit.rivals) > 1:
        pieces.append(model_table(fit))
    if fit.held_out:
        pieces.append(held_out_table(fit))
    if fit.live:
        pieces.append(live_table(fit))
    pieces += [Text(f"Cannot be told: {one}.") for one in fit.unknown]
    pieces += [Text(f"Note: {one}.") for one in fit.notes]
    where = "" if folder is None else f"; the scenario is {folder / SCENARIO}"
    pieces.append(Text(f"{fit.runs} simulations in {fit.wall_s:.1f} s{where}"))
    return pieces


def sentence(words: str) -> str:
    """Words with a capital letter and a full stop."""
    return f"{words[:1].upper()}{words[1:]}."


def prediction_table(predictions: Sequence[TransportPrediction]) -> DataTable:
    """The predictions as a table."""
    shown = [name for name in _ANSWERS if any(one.answers.get(name) for one in predictions)]
    about = [column("transport"), column("buffer"), replace(column("flows"), priority=6)]
    answers = [replace(column(name), priority=8) for name in shown]
    rows: list[list[Cell]] = [
        [one.transport, one.buffer, one.flows, *(_worded(one, name) for name in shown)] for one in predictions
    ]
    if any(one.second_path is not None for one in predictions):
        about = [column("path"), *about]
        rows = [[_over(one), *row] for one, row in zip(predictions, rows, strict=True)]
    caption = "Predictions, with ranges of what the measurement leaves open"
    return DataTable.of_rows("predictions", caption, (*about, *answers), rows)


def _over(one: TransportPrediction) -> str:
    """The path or paths of a prediction in words."""
    if one.second_path is None:
        return "the fitted path"
    return one.second_path if one.path == "second" else f"both, with {one.second_path}"


def _worded(one: TransportPrediction, name: str) -> Worded:
    answer = one.answers.get(name)
    if answer is None:
        return Worded("-", None)
    return Worded(f"{answer.value:.4g} ({answer.low:.4g} to {answer.high:.4g})", answer.value)


def prediction_pieces(
    predictions: Sequence[TransportPrediction], fitted: Fitted, seconds: Sequence[SecondPath]
) -> list[Piece]:
    """The words and tables of predictions."""
    verdicts = [fitted.verdict, *(f"{one.name}: {one.verdict}" for one in seconds if one.verdict)]
    return [
        *(Text(sentence(verdict)) for verdict in verdicts),
        prediction_table(predictions),
        *(Text(f"Cannot be told: {one}.") for one in _unknown(fitted, seconds)),
    ]


def prediction_document(
    predictions: Sequence[TransportPrediction], fitted: Fitted, seconds: Sequence[SecondPath]
) -> dict[str, Any]:
    """Predictions are plain data here, for JSON."""
    return {
        "verdict": fitted.verdict,
        "second_paths": [{"path": one.name, "verdict": one.verdict or None} for one in seconds],
        "cannot_tell": _unknown(fitted, seconds),
        "predictions": [asdict(one) for one in predictions],
    }


def _unknown(fitted: Fitted, seconds: Sequence[SecondPath]) -> list[str]:
    """What cannot be told of the fitted path, of second ones, and of both together."""
    of_second_paths = [f"of {one.name}: {words}" for one in seconds for words in one.unknown]
    return [*fitted.unknown, *([SHARED] if seconds else []), *of_second_paths]
