"""Paths from measurements, and predictions over them."""

from __future__ import annotations

from anabranch.fitting.fit import fit
from anabranch.fitting.outcome import Fit
from anabranch.fitting.predict import TransportPrediction, predict

__all__ = ["Fit", "TransportPrediction", "fit", "predict"]


def _html(path_fit: Fit) -> str:
    from anabranch.fitting.tables import fit_pieces  # noqa: PLC0415 - only notebooks ask
    from anabranch.media.notebook import pieces_html  # noqa: PLC0415 - as above

    return pieces_html(fit_pieces(path_fit, None))


# Fits know nothing of what draws them.
setattr(Fit, "_repr_html_", _html)  # noqa: B010 - a type checker need not know
