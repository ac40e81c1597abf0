"""A scenario from a measurement: estimators, hypotheses, simulation in the loop, a choice with its ranges."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace as changed
from pathlib import Path

import numpy as np

from anabranch.errors import CaptureError, Problem
from anabranch.fitting.both_ends import BothEnds, both_ends
from anabranch.fitting.estimates import Estimates
from anabranch.fitting.hypotheses import HYPOTHESES
from anabranch.fitting.live_check import check_can_run_live, held_live
from anabranch.fitting.logged import fit_log
from anabranch.fitting.measured import GivenMeasurements, Pings, read_measured
from anabranch.fitting.measures import MEASURES
from anabranch.fitting.outcome import EXPLAINED, Fit, HeldOut, Rival, is_near, ranges_of, unknown_of
from anabranch.fitting.saving import check_folder, save
from anabranch.fitting.search import Explanation, Search
from anabranch.fitting.simulate import Simulator, Transfer
from anabranch.fitting.subflows import fit_subflows

DEFAULT_TRANSPORT = "linux-cubic"
DEFAULT_BUDGET = 120
"""Simulations: seconds of one core for a transfer of 15 s."""
LEAST_BUDGET = 10
RECOGNISED = ("linux-cubic", "linux-reno", "linux-bbr")
"""Senders that a measurement is compared with where nobody says which it was."""
_KEPT = 3
_HELD_OUT_SEEDS = (1, 2, 3)


def fit(
    *files: Path | str,
    transport: str | Sequence[str] | None = None,
    receiver: Path | str | None = None,
    ping: Path | str | None = None,
    ports: Sequence[int] = (),
    budget: int = DEFAULT_BUDGET,
    live: bool = False,
    out: Path | str | None = None,
    page: bool = True,
    replace: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Infers a path from measurements over it (docs/fit.md).

    Args:
        files: captures at senders (pcap, pcapng), the one with most to say first; or a log of iperf3 or
            ``ss -ti``.
        transport: that made them, by the name of a preset, one for all files or one for each; left out:
            recognised among CUBIC, Reno and BBR of Linux.
        receiver: a capture of the first transfer at the receiver.
        ping: a log of ``ping`` during the first transfer.
        ports: only flows with one of these ports; empty for all.
        budget: simulations at most.
        live: whether the path that was found is run between real hosts, too (Linux, root), and the transfer
            that the kernel makes over it is held against the measured one.
        out: folder for ``fitted.toml``, ``fit.json`` and, with ``page``, ``report.html``; left out, nothing
            is written.
        page: whether the folder gets ``report.html``.
        replace: write over an earlier fit.
        progress: called now and then with the simulations so far and the budget.

    Returns:
        The path with its ranges, its rivals and what cannot be told.

    Raises:
        CaptureError: if the measurements cannot be read or say nothing of a path.
        LiveError: if ``live`` is wanted and this machine can make no live runs.
        ResultError: if there is a fit in the folder, without ``replace``, or it cannot be written.
    """
    if live:
        check_can_run_live()
    if out is not None:
        # Before the work, not after it.
        check_folder(Path(out), replace=replace)
    begin = time.perf_counter()
    if budget < LEAST_BUDGET:
        raise CaptureError(
            [Problem("--budget", f"{budget} simulations are too few; give at least {LEAST_BUDGET}")]
        )
    named = (transport,) if isinstance(transport, str) else tuple(transport or (DEFAULT_TRANSPORT,))
    _check_transports(named)
    measured = read_measured(files, transports=named, receiver=receiver, ping=ping, ports=ports)
    tell = None if progress is None else lambda runs: progress(min(runs, budget), budget)
    if measured.subflows:
        outcome = fit_subflows(measured, budget, tell)
    elif not measured.transfers:
        outcome = fit_log(measured.logs[0], measured.notes)
    else:
        outcome = _fit_transfers(measured, is_named=transport is not None, budget=budget, tell=tell)
    if live and measured.transfers:
        outcome = held_live(outcome, measured.transfers[0])
    elif live:
        words = "the path was not run live: a log has no packets that it could be held against"
        outcome = changed(outcome, notes=(*outcome.notes, words))
    outcome = changed(outcome, wall_s=time.perf_counter() - begin)
    if out is not None:
        save(outcome, out, page=page, replace=replace)
    return outcome


def _check_transports(names: Sequence[str]) -> None:
    from anabranch import _core  # noqa: PLC0415 - one question
    from anabranch.text.suggest import suggest  # noqa: PLC0415 - as above

    preset_names = _core.transport_preset_names()
    problems = []
    for name in names:
        if name not in preset_names:
            near = suggest(name, preset_names)
            hint = f'; nearest: "{near}"' if near else ""
            problems.append(Problem("--transport", f'"{name}" is no transport{hint}'))
    if problems:
        raise CaptureError(problems)


def _fit_transfers(
    measured: GivenMeasurements, *, is_named: bool, budget: int, tell: Callable[[int], None] | None
) -> Fit:
    transfers = measured.transfers
    first = transfers[0]
    estimates = Estimates(first.main)
    ends = both_ends(first.main.flow, measured.receivers)
    notes = list(measured.notes)
    if measured.receivers and ends is None:
        notes.append("the receiver's capture has none of the sender's packets, and is not used")
    simulator = Simulator()
    fitted, held = (transfers[:-1], transfers[-1]) if len(transfers) > 1 else (transfers, None)
    search = _search(fitted, simulator, tell)
    ranked = _ranked(search, estimates, ends, budget)
    held_out = () if held is None else _held_out(simulator, ranked[0], held)
    if held is not None:
        search = _search(transfers, simulator, tell)
        ranked = ranked_by_all(search, ranked, max(LEAST_BUDGET, budget // 4))
    transport, said = _recognised(search, ranked[0], is_named=is_named)
    notes += said
    if not is_named and transport != _transport_of(first):
        return _fit_transfers(
            changed(measured, transfers=tuple(_with_transport(one, transport) for one in transfers),
                    notes=tuple(notes)),
            is_named=True, budget=budget, tell=tell,
        )  # fmt: skip
    best = _by_ping(ranked[0], measured.pings)
    profile = search.profile(best)
    ranges = ranges_of(best, profile, estimates)
    simulated = simulator.simulate(best.model, first)
    unknown = unknown_of(
        best.model,
        ranges,
        estimates,
        has_ping=measured.pings is not None,
        has_receiver=ends is not None,
        has_parallel=any(len(one.flows) > 1 for one in transfers),
    )
    notes += sorted(set(simulator.failures))[:3]
    return Fit(
        names=tuple(one.name for one in transfers),
        transport=_transport_of(first),
        duration_s=first.duration_s,
        kind=best.hypothesis.name,
        title=best.hypothesis.title,
        model=best.model,
        score=best.score,
        ranges=ranges,
        rivals=tuple(_rival(one) for one in ranked),
        residuals=tuple((one.name, one.errors) for one in best.misfit.worst),
        verdict=_verdict(best),
        unknown=tuple(unknown),
        notes=tuple(notes),
        held_out=held_out,
        runs=simulator.runs,
        wall_s=0.0,
        losses=estimates.losses,
        measured=first.main,
        simulated=simulated[0] if simulated else None,
        traffic=first.traffic,
    )


def _search(
    transfers: Sequence[Transfer], simulator: Simulator, tell: Callable[[int], None] | None
) -> Search:
    return Search(transfers, [Estimates(one.main).is_chaotic for one in transfers], simulator, tell)


def _ranked(search: Search, estimates: Estimates, ends: BothEnds | None, budget: int) -> list[Explanation]:
    """Every model that was tried, the best first, of which the best three were refined."""
    proposed = [(one, candidate) for one in HYPOTHESES for candidate in one.propose(estimates)]
    if ends is not None:
        proposed = ends.applied(proposed)
    ranked = search.screen(proposed)
    begun = search.simulator.runs
    bound = 2.5 * ranked[0].score + 0.8
    kept = [one for one in ranked if one.score < bound][:_KEPT]
    for place, one in enumerate(kept):
        left = budget - search.simulator.runs
        each = max(
            LEAST_BUDGET, left // (len(kept) - place) // max(1, one.candidate.seeds * len(search.transfers))
        )
        search.refine(one, min(each, _MOST_EVALUATIONS[len(one.candidate.free) > _MANY]))
    if begun > budget:
        return ranked
    return sorted(ranked, key=lambda one: (not one.is_refined, one.total))


def ranked_by_all(search: Search, ranked: list[Explanation], budget: int) -> list[Explanation]:
    """The models by all transfers, the best first, of which those that are near each other are refined anew.

    The transfer that was held out has its say, too: two parallel flows tell how many others there are, which
    one flow leaves open.
    """
    refined = [one for one in ranked if one.is_refined]
    for one in refined:
        one.misfit = search.evaluate(one.candidate, one.model)
        one.trials.clear()
    least = min(one.total for one in refined)
    near = [one for one in refined if is_near(one.total, least)]
    for one in near:
        search.refine(one, budget)
    return sorted(ranked, key=lambda one: (one not in near, not one.is_refined, one.total))


_MANY = 4
_MOST_EVALUATIONS = {False: 30, True: 90}
"""Of one refinement: more do not help with three parameters, and hardly with six."""


def _by_ping(best: Explanation, pings: Pings | None) -> Explanation:
    """With a ping beside it CoDel is told from FQ-CoDel, where a sparse flow meets no queue (RFC 8290)."""
    if pings is None or best.model.discipline != "codel":
        return best
    if pings.queue_ms < _CODEL_TARGET_MS / 2:
        best.model = changed(best.model, discipline="fq-codel")
    return best


_CODEL_TARGET_MS = 5.0
"""RFC 8289 section 4.2."""


def _transport_of(transfer: Transfer) -> str:
    return str(transfer.traffic[0]["transport"])


def _with_transport(transfer: Transfer, transport: str) -> Transfer:
    traffic = tuple({**entry, "transport": transport} for entry in transfer.traffic)
    return changed(transfer, traffic=traffic)


def _recognised(search: Search, best: Explanation, *, is_named: bool) -> tuple[str, list[str]]:
    """The transport under which the path explains most, where the one that was assumed does not."""
    assumed = _transport_of(search.transfers[0])
    if best.score <= EXPLAINED:
        said = [] if is_named else [f"the transport is taken for {assumed}, which explains the capture"]
        return assumed, said
    scores = {assumed: best.score}
    for name in RECOGNISED:
        if name != assumed:
            other = changed(search, transfers=[_with_transport(one, name) for one in search.transfers])
            scores[name] = other.evaluate(best.candidate, best.model).score
    nearest = min(scores, key=lambda name: scores[name])
    if nearest == assumed or scores[nearest] > _CLEARLY * best.score:
        return assumed, []
    if is_named:
        return assumed, [
            f"{assumed} does not explain the capture (misfit {best.score:.1f}); over the same path {nearest} "
            f"has {scores[nearest]:.1f}: was it made by that?"
        ]
    return nearest, [
        f"the transport is taken for {nearest} (misfit {scores[nearest]:.1f}; {assumed} {best.score:.1f})"
    ]


_CLEARLY = 0.7


def _held_out(simulator: Simulator, best: Explanation, held: Transfer) -> tuple[HeldOut, ...]:
    """The last transfer predicted from the others, by chance and not by replay."""
    runs = [simulator.simulate(best.model, held, seed=seed, replay=False) for seed in _HELD_OUT_SEEDS]
    runs = [run for run in runs if run]
    rows = []
    for measure, of in MEASURES.items():
        values = [of(run) for run in runs]
        predicted = float(np.mean(values)) if values else float("nan")
        rows.append(HeldOut(held.name, measure, of(list(held.flows)), predicted))
    return tuple(rows)


def _rival(one: Explanation) -> Rival:
    caution = one.candidate.caution
    name, title = one.hypothesis.name, one.hypothesis.title
    return Rival(name, title, one.score, one.total, one.is_refined, caution, one.model)


def _verdict(best: Explanation) -> str:
    score = best.score
    if score <= EXPLAINED:
        return (
            f"explained: {best.hypothesis.title} (misfit {score:.2f}, where 1 is the error of a comparison)"
        )
    worst = ", ".join(one.name for one in best.misfit.worst[:3])
    further = "; measure also two parallel flows, BBR, and a ping, with a capture at the receiver"
    return (
        f"this model does not explain the capture: {best.hypothesis.title} is the nearest (misfit "
        f"{score:.1f}, above {EXPLAINED:g}), and is furthest off in {worst}{further}"
    )
