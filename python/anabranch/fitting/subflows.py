"""Multipath TCP: the path of each subflow by itself, then all of them together in one simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from anabranch.fitting.estimates import Estimates
from anabranch.fitting.features import Features
from anabranch.fitting.hypotheses import Hypothesis
from anabranch.fitting.measured import GivenMeasurements
from anabranch.fitting.misfit import Misfit, Residual, misfit
from anabranch.fitting.outcome import EXPLAINED, LEAST_ERRORS, LEAST_RTT_ERROR_MS, Fit, InferredRange, Rival
from anabranch.fitting.path import BY_SUBFLOW, PathModel, Sprayed
from anabranch.fitting.simulate import Simulator, Transfer

_MULTIPATH = "mptcp-cubic"
HYPOTHESIS = Hypothesis("subflows", "a path for each subflow", lambda _: ())
_SHARED = (
    "whether subflows share a bottleneck: each is fitted by itself; measure plain TCP from each address, and "
    "both at once"
)
_PLAIN = "over which path plain TCP goes: it is taken for that of the first subflow; measure plain TCP, too"


def fit_subflows(measured: GivenMeasurements, tell: Callable[[int], None] | None) -> Fit:
    """A path for each subflow by its estimates, and the misfit of the whole connection over them."""
    # The first of them goes where plain TCP would.
    subflows = tuple(sorted(measured.subflows, key=lambda one: one.flow.began_unix_s))
    transfer = _as_multipath(measured.transfers[0])
    estimates = [Estimates(one) for one in subflows]
    paths = tuple(Sprayed(one.rate_mbps, one.rtt_ms, one.buffer_bytes) for one in estimates)
    first = paths[0]
    model = PathModel(first.rate_mbps, first.rtt_ms, first.buffer_bytes, paths=paths, balancing=BY_SUBFLOW)
    simulator = Simulator()
    simulated = simulator.simulate(model, transfer)
    if tell is not None:
        tell(simulator.runs)
    found = _compare(subflows, simulated)
    score = found.score
    verdict = f"explained: {HYPOTHESIS.title} (misfit {score:.2f})"
    if score > EXPLAINED:
        verdict = (
            f"this model does not explain the capture: {HYPOTHESIS.title} has a misfit of {score:.1f}, above "
            f"{EXPLAINED:g}; measure also plain TCP from each address"
        )
    return Fit(
        names=tuple(one.name for one in measured.transfers),
        transport=str(transfer.traffic[0]["transport"]),
        duration_s=transfer.duration_s,
        kind=HYPOTHESIS.name,
        title=HYPOTHESIS.title,
        model=model,
        score=score,
        ranges=tuple(each for number, one in enumerate(estimates) for each in _ranges(number, one)),
        rivals=(Rival(HYPOTHESIS.name, HYPOTHESIS.title, score, score, True, "", model),),
        residuals=tuple((one.name, one.errors) for one in found.worst),
        verdict=verdict,
        unknown=(_SHARED, _PLAIN),
        notes=(*measured.notes, *simulator.failures),
        held_out=(),
        runs=simulator.runs,
        wall_s=0.0,
        measured=subflows[0],
        simulated=simulated[0] if simulated else None,
        traffic=transfer.traffic,
    )


def _as_multipath(transfer: Transfer) -> Transfer:
    entry = transfer.traffic[0]
    name = str(entry["transport"])
    return replace(transfer, traffic=({**entry, "transport": name if "mptcp" in name else _MULTIPATH},))


def _compare(measured: tuple[Features, ...], simulated: list[Features]) -> Misfit:
    """Subflows by the order of their round trips, which the path fixes."""
    if len(simulated) < len(measured):
        return Misfit(())
    residuals: list[Residual] = []
    here = sorted(measured, key=lambda one: one.least_rtt_ms)
    there = sorted(simulated[: len(measured)], key=lambda one: one.least_rtt_ms)
    for one, other in zip(here, there, strict=True):
        residuals += misfit(one, other, over_time=False, chaotic=False).residuals
    return Misfit(tuple(residuals))


def _ranges(number: int, estimates: Estimates) -> list[InferredRange]:
    values = {
        "rate_mbps": (estimates.rate_mbps, "deliveries over 32 ACKs of this subflow"),
        "rtt_ms": (estimates.rtt_ms, "the subflow's handshake and least sample"),
        "buffer_bytes": (estimates.buffer_bytes, f"{estimates.losses.by_queue} losses met a full queue"),
    }
    ranges = []
    for name, (value, source) in values.items():
        error = LEAST_RTT_ERROR_MS if name == "rtt_ms" else LEAST_ERRORS[name] * value
        ranges.append(InferredRange(f"{name}.{number}", value, value - error, value + error, source))
    return ranges
