"""Throughput models: what one TCP flow gets on a path, by the formulas of the literature.

Each model is a file of its own with a ``MODEL``, and a line in :data:`MODELS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from anabranch.models.bbr import MODEL as BBR
from anabranch.models.bbr import bbr
from anabranch.models.cubic import MODEL as CUBIC
from anabranch.models.cubic import cubic
from anabranch.models.errors import ModelError
from anabranch.models.mathis import MODEL as MATHIS
from anabranch.models.mathis import mathis
from anabranch.models.model import Model, Range
from anabranch.models.path import PathConditions, Prediction
from anabranch.models.pftk import MODEL as PFTK
from anabranch.models.pftk import pftk

MODELS: Final[dict[str, Model]] = {model.name: model for model in (MATHIS, PFTK, CUBIC, BBR)}
"""Models by name."""

TRANSPORT_MODELS: Final[dict[str, str]] = {
    "newreno": "mathis",
    "linux-reno": "mathis",
    "mprc": "mathis",
    "rr-tcp": "mathis",
    "tcp-pr": "pftk",
    "tcp-ncr": "pftk",
    "cubic": "cubic",
    "linux-cubic": "cubic",
    "bbr": "bbr",
    "linux-bbr": "bbr",
}
"""The model of each TCP preset. Of the two for Reno's window it is the one that the engine is nearer to at
losses of 0.03 and 0.05 (docs/models.md): with SACK most losses are repaired without the timeouts that PFTK
expects, but ``tcp-pr`` and ``tcp-ncr`` wait longer. The presets that are not TCP have none, and neither has
Multipath TCP: a model is of one path.
"""


def model_named(name: str) -> Model:
    """The model of this name.

    Raises:
        ModelError: if there is none.
    """
    if name not in MODELS:
        raise ModelError("model", f"{name!r} is not a throughput model: one of {_listed(MODELS)}")
    return MODELS[name]


def transport_model(transport_name: str) -> Model:
    """The model that predicts a transport preset's throughput.

    Raises:
        ModelError: if no model does.
    """
    if transport_name not in TRANSPORT_MODELS:
        known = _listed(TRANSPORT_MODELS)
        raise ModelError("transport", f"no throughput model for {transport_name!r}: there is one for {known}")
    return MODELS[TRANSPORT_MODELS[transport_name]]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


__all__ = [
    "MODELS",
    "TRANSPORT_MODELS",
    "Model",
    "ModelError",
    "PathConditions",
    "Prediction",
    "Range",
    "bbr",
    "cubic",
    "mathis",
    "model_named",
    "pftk",
    "transport_model",
]
