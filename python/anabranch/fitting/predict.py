"""Predictions over a fitted path, with its ranges: other transports, buffers and numbers of flows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.fitting.outcome import EXPLAINED, Fit
from anabranch.fitting.path import BY_SUBFLOW, PathModel, scenario_data
from anabranch.fitting.search import cores
from anabranch.fitting.stored import Fitted, read_fitted
from anabranch.plans.routes import plan
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve

DEFAULT_TRANSPORTS = ("linux-cubic", "linux-reno", "linux-bbr")
AS_FITTED = "as fitted"
SEEDS = (1, 2, 3)
"""Runs of the best model; others run once."""
SIMULATOR_ERRORS = {"goodput_mbps": 0.02, "rtt_mean_ms": 0.08, "completion_s": 0.03, "retransmissions": 0.25}
"""What the simulator differs from the kernel by over the true path, for nine answers of ten (docs/fit.md)."""
_PAUSE_S = 2.0


@dataclass(frozen=True)
class PredictedNumber:
    """One predicted number."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class TransportPrediction:
    """Of one transport over one buffer."""

    transport: str
    buffer: str
    flows: int
    answers: dict[str, PredictedNumber | None]


def fitted_of(fit: Fit) -> Fitted:
    """The part of a fit that predictions need."""
    return Fitted(tuple(fit.members()), fit.score, fit.verdict, fit.unknown, fit.duration_s)


def predict(
    fitted: Fit | Path | str,
    *,
    transports: Sequence[str] = DEFAULT_TRANSPORTS,
    buffers: Sequence[str] = (),
    flows: int = 1,
    size: str | None = None,
    duration_s: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[TransportPrediction]:
    """Simulates transports over everything that a measurement leaves open.

    Args:
        fitted: a fit, or the folder that it was saved in.
        transports: names of presets.
        buffers: of the bottleneck in place of the fitted one, such as ``"100 kB"`` or ``"2 BDP"``.
        flows: how many at once.
        size: of each transfer, such as ``"100 kB"``: six one after the other, whose mean completion is
            predicted; left out, unlimited ones.
        duration_s: of a run; that of the measurement if left out.
        progress: called with the simulations so far and all of them.

    Returns:
        For each transport and buffer goodput of all flows, mean RTT, retransmissions and completion.

    Raises:
        ResultError: if there is no fit.
        ScenarioError: if a transport, a buffer or a size is none.
    """
    known = fitted_of(fitted) if isinstance(fitted, Fit) else read_fitted(fitted)
    _check(transports, buffers, size)
    lasting_s = duration_s or known.duration_s
    cases = [(transport, buffer) for transport in transports for buffer in (buffers or (AS_FITTED,))]
    predictions = []
    for number, (transport, buffer) in enumerate(cases):
        members = tuple(_with_buffer(model, buffer) for model in known.members)
        traffic = _traffic(transport, flows, size, lasting_s)
        answers = answer(replace(known, members=members), traffic, lasting_s)
        predictions.append(TransportPrediction(transport, buffer, flows, answers))
        if progress is not None:
            each = len(known.members) + len(SEEDS) - 1
            progress((number + 1) * each, len(cases) * each)
    return predictions


def answer(fitted: Fitted, traffic: dict[str, Any], duration_s: float) -> dict[str, PredictedNumber | None]:
    """Predict what traffic from ``src`` to ``dst`` gets over all that a measurement leaves open.

    Raises:
        ScenarioError: if the entry does not hold.
    """
    work = [
        (place, model, seed)
        for place, model in enumerate(fitted.members)
        for seed in (SEEDS if place == 0 else SEEDS[:1])
    ]
    with ThreadPoolExecutor(cores()) as pool:
        runs = list(pool.map(lambda one: (one[0], simulated(one[1], traffic, duration_s, one[2])), work))
    return {
        name: _ranged(name, runs, fitted.score)
        for name in SIMULATOR_ERRORS
        if any(name in run for _, run in runs)
    }


def _traffic(transport: str, flows: int, size: str | None, duration_s: float) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": "flow",
        "from": "src",
        "to": "dst",
        "transport": transport,
        "flows": flows,
    }
    if size is not None:
        transfers = max(1, int(duration_s / _PAUSE_S) - 1)
        entry |= {"size": size, "flows": min(6, transfers), "inter_arrival": f"{_PAUSE_S:g} s"}
    return entry


def _check(transports: Sequence[str], buffers: Sequence[str], size: str | None) -> None:
    presets = _core.transport_preset_names()
    problems = [
        Problem("--transport", f'"{name}" is no transport; anabranch help transports lists them')
        for name in transports
        if name not in presets
    ]
    for text in buffers:
        try:
            _buffer_bytes(text, 1.0)
        except ValueError:
            message = (
                f'"{text}" is no buffer; give "100 kB" or "1.5 BDP" (rate times propagation there and back)'
            )
            problems.append(Problem("--buffer", message))
    if size is not None:
        try:
            _core.parse_bytes(size)
        except ValueError as error:
            problems.append(Problem("--size", str(error)))
    if problems:
        raise ScenarioError(problems)


def _buffer_bytes(text: str, bdp_bytes: float) -> float:
    words = text.split()
    if len(words) == 2 and words[1] == "BDP":
        factor = float(words[0])
        if not (math.isfinite(factor) and factor > 0):
            raise ValueError(text)
        return factor * bdp_bytes
    return float(_core.parse_bytes(text))


def _with_buffer(model: PathModel, buffer: str) -> PathModel:
    if buffer == AS_FITTED:
        return model
    paths = tuple(replace(path, buffer_bytes=_buffer_bytes(buffer, path.bdp_bytes)) for path in model.paths)
    buffer_bytes = _buffer_bytes(buffer, model.bdp_bytes)
    return replace(model, buffer_bytes=buffer_bytes, paths=paths, discipline=None)


def simulated(model: PathModel, traffic: dict[str, Any], duration_s: float, seed: int) -> dict[str, float]:
    """The measures of an entry of traffic over a path: of transfers of a size their completion alone."""
    if model.balancing == BY_SUBFLOW and "mptcp" not in str(traffic["transport"]):
        # Plain TCP goes where the connection began.
        model = model.first_path
    outcome = outcome_of(scenario_data(model, [traffic], duration_s, seed=seed))
    return flow_answers(outcome["tables"]["flows"], str(traffic["name"]), is_sized="size" in traffic)


def outcome_of(data: dict[str, Any]) -> Any:
    """The core's measurements in a scenario.

    Raises:
        ScenarioError: if it cannot be run.
    """
    # Nobody has agreed to code here: a path has none.
    setup = resolve(Scenario.from_data(data, provenance=Provenance.worker(None)), Needed.ALL)
    return setup.core().simulate(plan(setup, None).plan, None, 1)


def flow_answers(table: Any, name: str, *, is_sized: bool) -> dict[str, float]:
    """The measures of the flows of one entry of traffic, of the core's columns or a table's."""
    column = table["name"]
    names = [column[0][place] for place in column[1]] if isinstance(column, tuple) else list(column)
    own = np.array([str(each) == name or str(each).startswith(f"{name}.") for each in names])

    def values(measure: str) -> NDArray[np.float64]:
        return np.asarray(np.asarray(table[measure], float)[own])

    rtts_ms = values("rtt_mean_ms")
    answers = {"rtt_mean_ms": float(np.nanmean(rtts_ms))} if np.isfinite(rtts_ms).any() else {}
    if is_sized:
        done = values("completion_s")
        done = done[np.isfinite(done)]
        return {"completion_s": float(done.mean())} if done.size else {}
    return {
        "goodput_mbps": float(np.nansum(values("goodput_mbps"))),
        **answers,
        "retransmissions": float(np.nansum(values("retransmissions"))),
    }


def _ranged(
    name: str, found: Sequence[tuple[int, dict[str, float]]], score: float | None
) -> PredictedNumber | None:
    """The mean over the seeds of the best model, and the extremes of all members, with the simulator's error.

    Where the model does not explain the measurement, the range grows with the root of its misfit.
    """
    values = [(place, one[name]) for place, one in found if math.isfinite(one.get(name, math.nan))]
    best = [value for place, value in values if place == 0]
    if not best:
        return None
    value = float(np.mean(best))
    low, high = min(one for _, one in values), max(one for _, one in values)
    wider = max(1.0, math.sqrt((score or 0.0) / EXPLAINED))
    own = SIMULATOR_ERRORS[name]
    low, high = value - (value - low) * wider, value + (high - value) * wider
    low, high = low * (1 - own * wider), high * (1 + own * wider)
    return PredictedNumber(value, max(0.0, low), high)
