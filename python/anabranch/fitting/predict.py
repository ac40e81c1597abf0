"""Predictions over a fitted path, with its ranges: other transports, buffers, flows, a second path."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.fitting.outcome import CONFIDENCE, EXPLAINED, Fit
from anabranch.fitting.path import BY_SUBFLOW, PathModel, joined_data, scenario_data
from anabranch.fitting.search import cores
from anabranch.fitting.second_path import SecondPath, buffer_of, check_single, second_path
from anabranch.fitting.stored import Fitted, read_fitted
from anabranch.plans.routes import plan
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve

DEFAULT_TRANSPORTS = ("linux-cubic", "linux-reno", "linux-bbr")
_ALONE = "linux-cubic"
_OVER_BOTH = "linux-mptcp"
AS_FITTED = "as fitted"
AS_GIVEN = "as given"
FITTED_PATH, SECOND_PATH, BOTH_PATHS = "fitted", "second", "both"
SEEDS = (1, 2, 3)
"""Runs of the best model; others run once."""
SIMULATOR_ERRORS = {"goodput_mbps": 0.02, "rtt_mean_ms": 0.08, "completion_s": 0.03, "retransmissions": 0.25}
"""What the simulator differs from the kernel by over the true path, for nine answers of ten (docs/fit.md)."""
ACROSS_ERRORS = SIMULATOR_ERRORS | {"goodput_mbps": 0.12, "retransmissions": 0.35}
"""Beside TCP across, beyond the members' own spread: one run of the kernel has chance, too (docs/fit.md)."""
_SPAN = (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE))
"""Percentiles of as many members as CONFIDENCE asks for."""
_PAUSE_S = 2.0


@dataclass(frozen=True)
class PredictedNumber:
    """One predicted number."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class TransportPrediction:
    """Of one transport over one buffer, on one path or two."""

    transport: str
    buffer: str
    """Of the fitted path; that of a second one is its own."""
    flows: int
    answers: dict[str, PredictedNumber | None]
    path: str = FITTED_PATH
    """``fitted``, ``second`` or ``both``."""
    second_path: str | None = None
    """The name of the second path; None of predictions without one."""


def fitted_of(fit: Fit) -> Fitted:
    """The part of a fit that predictions need."""
    return Fitted(tuple(fit.members()), fit.score, fit.verdict, fit.unknown, fit.duration_s)


def predict(
    fitted: Fit | Path | str,
    *,
    transports: Sequence[str] = DEFAULT_TRANSPORTS,
    buffers: Sequence[str] = (),
    second_paths: Sequence[SecondPath | Fit | Path | str] = (),
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
        second_paths: each a fit, the folder of one, or a text such as ``"rate=6 Mbps, delay=30 ms"``
            (:func:`anabranch.fitting.second_path.second_path`). Beside the fitted path alone there is then
            the second one alone, and both by Multipath TCP: ``linux-mptcp``, if no transport is one.
        flows: how many at once.
        size: of each transfer, such as ``"100 kB"``: six one after the other, whose mean completion is
            predicted; left out, unlimited ones.
        duration_s: of a run; that of the measurement if left out.
        progress: called with the simulations so far and all of them.

    Returns:
        For each path, transport and buffer goodput of all flows, mean RTT, retransmissions and completion.

    Raises:
        ResultError: if there is no fit.
        ScenarioError: if a transport, a buffer, a second path or a size is none.
    """
    fitted_path = fitted_of(fitted) if isinstance(fitted, Fit) else read_fitted(fitted)
    _check(transports, buffers, size)
    seconds = [second_path(one) for one in second_paths]
    if seconds:
        check_single("FITTED", fitted_path.members)
    lasting_s = duration_s or fitted_path.duration_s
    cases = list(_cases(fitted_path, seconds, transports, buffers or (AS_FITTED,)))
    runs, done = sum(len(case.members) + len(SEEDS) - 1 for case in cases), 0
    predictions = []
    for case in cases:
        traffic = _traffic(case.transport, flows, size, lasting_s)
        answers = _answer(case.members, case.score, traffic, lasting_s)
        predictions.append(
            TransportPrediction(case.transport, case.buffer, flows, answers, case.path, case.second)
        )
        done += len(case.members) + len(SEEDS) - 1
        if progress is not None:
            progress(done, runs)
    return predictions


@dataclass(frozen=True)
class _Case:
    """A row of predictions."""

    transport: str
    buffer: str
    members: tuple[tuple[PathModel, ...], ...]
    """Bottlenecks side by side: the best ones, then others that are as likely."""
    score: float | None
    path: str = FITTED_PATH
    second: str | None = None


def _cases(
    fitted_path: Fitted, seconds: Sequence[SecondPath], transports: Sequence[str], buffers: Sequence[str]
) -> Iterator[_Case]:
    """The fitted path alone; with second ones each of them alone, and both of them by Multipath TCP."""
    first = {
        buffer: tuple(_with_buffer(model, buffer) for model in fitted_path.members) for buffer in buffers
    }
    plain = [name for name in transports if not _is_multipath(name)] or [_ALONE]
    for name in plain if seconds else transports:
        for buffer, members in first.items():
            yield _Case(name, buffer, tuple((one,) for one in members), fitted_path.score)
    over_both = [name for name in transports if _is_multipath(name)] or [_OVER_BOTH]
    for second in seconds:
        scores = [score for score in (fitted_path.score, second.score) if score is not None]
        worse = max(scores, default=None)
        for name in plain:
            alone = tuple((one,) for one in second.members)
            yield _Case(name, AS_GIVEN, alone, second.score, SECOND_PATH, second.name)
        for name in over_both:
            for buffer, members in first.items():
                # What is open of one path is tried beside the best of the other.
                pairs = [(members[0], one) for one in second.members]
                pairs += [(one, second.members[0]) for one in members[1:]]
                yield _Case(name, buffer, tuple(pairs), worse, BOTH_PATHS, second.name)


def _is_multipath(transport: str) -> bool:
    return "mptcp" in transport


def answer(fitted: Fitted, traffic: dict[str, Any], duration_s: float) -> dict[str, PredictedNumber | None]:
    """Predict what traffic from ``src`` to ``dst`` gets over all that a measurement leaves open.

    Raises:
        ScenarioError: if the entry does not hold.
    """
    return _answer([(model,) for model in fitted.members], fitted.score, traffic, duration_s)


def _answer(
    members: Sequence[tuple[PathModel, ...]], score: float | None, traffic: dict[str, Any], duration_s: float
) -> dict[str, PredictedNumber | None]:
    work = [
        (place, models, seed)
        for place, models in enumerate(members)
        for seed in (SEEDS if place == 0 else SEEDS[:1])
    ]
    with ThreadPoolExecutor(cores()) as pool:
        runs = list(pool.map(lambda one: (one[0], _simulated(one[1], traffic, duration_s, one[2])), work))
    return {
        name: _ranged(name, runs, score, is_chaotic=any(model.elastic_flows for model in members[0]))
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
            buffer_of(text, 1.0)
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


def _with_buffer(model: PathModel, buffer: str) -> PathModel:
    if buffer == AS_FITTED:
        return model
    paths = tuple(replace(path, buffer_bytes=buffer_of(buffer, path.bdp_bytes)) for path in model.paths)
    buffer_bytes = buffer_of(buffer, model.bdp_bytes)
    return replace(model, buffer_bytes=buffer_bytes, paths=paths, discipline=None)


def simulated(model: PathModel, traffic: dict[str, Any], duration_s: float, seed: int) -> dict[str, float]:
    """The measures of an entry of traffic over a path: of transfers of a size their completion alone."""
    if model.balancing == BY_SUBFLOW and not _is_multipath(str(traffic["transport"])):
        # Plain TCP goes where the connection began.
        model = model.first_path
    return _measures(scenario_data(model, [traffic], duration_s, seed=seed), traffic)


def _simulated(
    models: tuple[PathModel, ...], traffic: dict[str, Any], duration_s: float, seed: int
) -> dict[str, float]:
    """The same over bottlenecks side by side."""
    if len(models) == 1:
        return simulated(models[0], traffic, duration_s, seed)
    return _measures(joined_data(models, [traffic], duration_s, seed=seed), traffic)


def _measures(data: dict[str, Any], traffic: dict[str, Any]) -> dict[str, float]:
    flows = outcome_of(data)["tables"]["flows"]
    return flow_answers(flows, str(traffic["name"]), is_sized="size" in traffic)


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
    is_of_flow = np.array([str(each) == name or str(each).startswith(f"{name}.") for each in names])

    def values(measure: str) -> NDArray[np.float64]:
        return np.asarray(np.asarray(table[measure], float)[is_of_flow])

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
    name: str, answers: Sequence[tuple[int, dict[str, float]]], score: float | None, *, is_chaotic: bool
) -> PredictedNumber | None:
    """The mean over the seeds of the best model, and the extremes of all members, with the simulator's error.

    Beside TCP across, half a percent of the rate decides who loses when, and seeds change nothing: there the
    median of all members stands for what may happen, and 90 % of them are the range.

    Where the model does not explain the measurement, the range grows with the root of its misfit.
    """
    values = [(place, one[name]) for place, one in answers if math.isfinite(one.get(name, math.nan))]
    best = [value for place, value in values if place == 0]
    if not best:
        return None
    others = [value for place, value in values if place] if is_chaotic else []
    value = float(np.median([np.mean(best), *others]))
    span = _SPAN if is_chaotic else (0.0, 100.0)
    low, high = (float(end) for end in np.percentile([one for _, one in values], span))
    wider = max(1.0, math.sqrt((score or 0.0) / EXPLAINED))
    error = (ACROSS_ERRORS if is_chaotic else SIMULATOR_ERRORS)[name]
    low, high = value - (value - low) * wider, value + (high - value) * wider
    low, high = low * (1 - error * wider), high * (1 + error * wider)
    return PredictedNumber(value, max(0.0, low), high)
