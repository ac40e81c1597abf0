"""Throughput models: what one TCP flow gets on a path, by the formulas of the literature.

Each model is a file of its own with a ``MODEL``, and a line in :data:`MODELS`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from anabranch.models.bbr import MODEL as BBR
from anabranch.models.bbr import bbr
from anabranch.models.coverage import coverage_distribution, mean_coverage, subflows_needed
from anabranch.models.cubic import MODEL as CUBIC
from anabranch.models.cubic import cubic
from anabranch.models.errors import ModelError
from anabranch.models.mathis import MODEL as MATHIS
from anabranch.models.mathis import mathis
from anabranch.models.model import Model, ValidRange
from anabranch.models.path import PathConditions, Prediction
from anabranch.models.pftk import MODEL as PFTK
from anabranch.models.pftk import pftk
from anabranch.models.window import MODEL as WINDOW
from anabranch.models.window import window
from anabranch.scenario.algorithms.congestion_control import Cubic, LinuxCubic, LinuxReno, Newreno
from anabranch.scenario.algorithms.loss_detection import TcpNcr, TcpPr
from anabranch.scenario.algorithms.protocol import (
    AnyProtocol,
    MptcpProtocol,
    SlidingWindowProtocol,
    SprayProtocol,
    TcpProtocol,
)

MODELS: Final[dict[str, Model]] = {model.name: model for model in (MATHIS, PFTK, CUBIC, BBR, WINDOW)}
"""Models by name."""

TRANSPORT_MODELS: Final[dict[str, str]] = {
    "newreno": "mathis",
    "linux-reno": "mathis",
    "dctcp": "mathis",
    "mprc": "mathis",
    "rr-tcp": "mathis",
    "tcp-pr": "pftk",
    "tcp-ncr": "pftk",
    "cubic": "cubic",
    "linux-cubic": "cubic",
    "bbr": "bbr",
    "linux-bbr": "bbr",
    "sliding-window": "window",
}
"""The model of each preset. Of the two for Reno's window it is the one that the engine is nearer to at
losses of 0.03 and 0.05 (docs/models.md): with SACK most losses are repaired without the timeouts that PFTK
expects, but ``tcp-pr`` and ``tcp-ncr`` wait longer. ``sdn-paced`` has none, because its controller says what
it sends; ``bbr3`` has none, because what losses leave of the bound of ``bbr`` depends on when they come;
``ns2-newreno`` has none, because nobody has measured which of the two it is nearer to without SACK;
and neither has Multipath TCP: a model is of one path.
"""

_CONTROL_MODELS: Final = {
    "newreno": MATHIS,
    "linux-reno": MATHIS,
    "dctcp": MATHIS,
    "mprc": MATHIS,
    "cubic": CUBIC,
    "linux-cubic": CUBIC,
    "bbr": BBR,
}
_WAITS_LONGER: Final = (TcpPr, TcpNcr)
"""Loss detections with which Reno's window meets the timeouts that PFTK counts."""


def model_named(name: str) -> Model:
    """The model of this name.

    Raises:
        ModelError: if there is none.
    """
    if name not in MODELS:
        raise ModelError("model", f"{name!r} is not a throughput model: one of {', '.join(MODELS)}")
    return MODELS[name]


def transport_model(transport_name: str) -> Model:
    """The model that predicts a transport preset's throughput.

    Raises:
        ModelError: if no model does.
    """
    if transport_name not in TRANSPORT_MODELS:
        names = ", ".join(TRANSPORT_MODELS)
        raise ModelError("transport", f"no throughput model for {transport_name!r}: there is one for {names}")
    return MODELS[TRANSPORT_MODELS[transport_name]]


def configured_model(config: AnyProtocol) -> Model:
    """The model for a transport as it is configured, whatever its name; CUBIC's with its own C and beta.

    Args:
        config: the transport with all its choices (``TransportSetup.config``).

    Raises:
        ModelError: if no model predicts it, with the reason.
    """
    if isinstance(config, SlidingWindowProtocol):
        return WINDOW
    if isinstance(config, MptcpProtocol):
        raise ModelError("transport", "mptcp sends over several paths, and a model is of one")
    if isinstance(config, SprayProtocol):
        raise ModelError("transport", "spray sends over many paths at once, and a model is of one")
    if not isinstance(config, TcpProtocol):
        raise ModelError("transport", f"{config.algorithm} sends what its controller says")
    control, detection = config.congestion_control, config.loss_detection
    if control.algorithm not in _CONTROL_MODELS:
        raise ModelError("congestion_control", f"no throughput model for {control.algorithm!r}")
    if isinstance(control, Newreno | LinuxReno) and isinstance(detection, _WAITS_LONGER):
        return PFTK
    if isinstance(control, Cubic | LinuxCubic):
        predict = partial(cubic, c=control.c, beta=control.beta)
        return Model(CUBIC.name, CUBIC.source, CUBIC.valid, predict)
    return _CONTROL_MODELS[control.algorithm]


__all__ = [
    "MODELS",
    "TRANSPORT_MODELS",
    "Model",
    "ModelError",
    "PathConditions",
    "Prediction",
    "ValidRange",
    "bbr",
    "configured_model",
    "coverage_distribution",
    "cubic",
    "mathis",
    "mean_coverage",
    "model_named",
    "pftk",
    "subflows_needed",
    "transport_model",
    "window",
]
