"""When a run may be said to repeat itself, and what is known of its rest from then on.

A trace is what the tables of a run hold at equal steps. A rule looks at a trace from its beginning, as an
engine would, and says at which step it is satisfied. All of the rest is then taken to go on at the rates of
what it has looked at, which is what a clock that is moved by whole cycles makes of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anabranch.results.result import Result
from anabranch.study.student import t_quantile

CYCLES = 3
"""Cycles in a row of which each must be as the one before: four have been seen."""
LONGEST_CYCLE_S = 60.0
SHORTEST_CYCLE_S = 0.5
PULSE = 2
"""Packets by which a queue moves at every instant: what one delayed acknowledgment sets free."""
CONSTANT_S = 10.0
"""For so long nothing moves where nothing is reduced. BBR leaves its window for a probe every 10 s."""
BATCHES = 10
CONFIDENCE = 0.95

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]


@dataclass(frozen=True)
class Trace:
    """What a run's tables hold at equal steps; a row for each step, a column for each flow.

    Attributes:
        step_s: seconds from one step to the next.
        delivered: bytes delivered since the start.
        windows: congestion windows in bytes, 0 before a flow opens.
        queue: packets that wait at the bottleneck, over its room; one column.
        pulse: ``PULSE`` packets, over its room.
        reductions: how often each window has been reduced.
    """

    step_s: float
    delivered: Floats
    windows: Floats
    queue: Floats
    pulse: float
    reductions: Counts

    @property
    def steps(self) -> int:
        """How many steps it has."""
        return len(self.delivered)

    def at(self, seconds: float) -> int:
        """The step at that time."""
        return round(seconds / self.step_s) - 1


@dataclass(frozen=True)
class Known:
    """What a rule knows when it is satisfied: the step, each flow's bytes a step, and the cycle in steps."""

    step: int
    rates: Floats
    cycle: int = 0


def trace(result: Result, bottleneck: str, room_packets: int, step_s: float) -> Trace:
    """The trace of a run with series.

    Args:
        result: the run.
        bottleneck: name of the link whose queue counts.
        room_packets: its room.
        step_s: the interval of the series.
    """
    series = result.flow_series.with_columns(
        step=(pl.col("time_s") / step_s).round().cast(pl.Int64) - 1,
        bytes=pl.col("goodput_mbps") * (step_s * 1e6 / 8),
        ssthresh_bytes=pl.col("ssthresh_bytes").fill_null(-1.0),
    )
    link = result.links.filter(pl.col("name") == bottleneck)["link"].item()
    waiting = result.link_series.filter(pl.col("link") == link)["queue_packets"].to_numpy()
    shape = (len(waiting), result.flows.height)
    place = (series["step"].to_numpy(), series["flow"].to_numpy())
    columns: dict[str, Floats] = {}
    for name in ("bytes", "cwnd_bytes", "ssthresh_bytes"):
        columns[name] = np.zeros(shape)
        columns[name][place] = series[name].to_numpy()
    windows, thresholds = columns["cwnd_bytes"], columns["ssthresh_bytes"]
    reduced = np.zeros(shape, dtype=np.int32)
    # A controller without a threshold (BBR) lets its window fall.
    fell = windows[1:] < 0.9 * windows[:-1]
    reduced[1:] = (windows[:-1] > 0) & (fell | (thresholds[1:] != thresholds[:-1]))
    return Trace(
        step_s,
        np.cumsum(columns["bytes"], axis=0),
        windows,
        (waiting / room_packets)[:, None],
        PULSE / room_packets,
        np.cumsum(reduced, axis=0, dtype=np.int32),
    )


def deviations(seen: Trace, lag: int) -> Floats:
    """How far each step's last cycles are from those before them, for cycles of so many steps.

    The mean over ``CYCLES`` cycles of the distance between a flow's window and its window one cycle before,
    over its mean window, and the same of the queue over its room, where ``PULSE`` packets do not count: the
    largest of them. Infinite where a flow was not reduced in each of these cycles, or in one of them more
    often than in another, by more than one and a tenth.
    """
    span = CYCLES * lag
    far = np.full(seen.steps, np.inf)
    first = span + lag
    if seen.steps <= first:
        return far
    counts = seen.reductions
    ago = [counts[first - back : seen.steps - back] for back in range(0, first + 1, lag)]
    cycles = [later - earlier for later, earlier in pairwise(ago)]
    most, least = np.maximum.reduce(cycles), np.minimum.reduce(cycles)
    ends = first + np.flatnonzero(((least >= 1) & (most - least <= np.maximum(most // 10, 1))).all(axis=1))
    if not ends.size:
        return far
    of_windows = _moved(seen.windows, ends, lag) / _sums(seen.windows, ends, span)
    of_queue = np.maximum(_moved(seen.queue, ends, lag) / span - seen.pulse, 0)
    far[ends] = np.maximum(of_windows.max(axis=1), of_queue.max(axis=1))
    return far


def _moved(values: Floats, ends: NDArray[np.intp], lag: int) -> Floats:
    """Sums of the distances from one cycle before, over the last cycles at each of these ends."""
    distance = np.zeros_like(values)
    distance[lag:] = np.abs(values[lag:] - values[:-lag])
    return _sums(distance, ends, CYCLES * lag)


def _sums(values: Floats, ends: NDArray[np.intp], span: int) -> Floats:
    """Sums of the last so many values at each of these ends."""
    totals = np.cumsum(values, axis=0)
    sums: Floats = totals[ends] - totals[ends - span]
    return sums


@dataclass(frozen=True)
class Returned:
    """How a run comes back to itself.

    Attributes:
        closest: the smallest deviation of any cycle at any step; infinite where no pattern came back.
        cycle: that cycle in steps.
        first: for each tolerance, when a cycle was within it first.
    """

    closest: float
    cycle: int
    first: list[Known | None]


def returns(seen: Trace, tolerances: Sequence[float]) -> Returned:
    """When the state of all flows and the queue has come back, cycle after cycle, within each tolerance.

    Where no window is reduced, when nothing has moved by more than the tolerance for ``CONSTANT_S``.
    """
    first = [constant(seen, tolerance) for tolerance in tolerances]
    closest, cycle = math.inf, 0
    for lag in range(round(SHORTEST_CYCLE_S / seen.step_s), round(LONGEST_CYCLE_S / seen.step_s) + 1):
        far = deviations(seen, lag)
        if (least := float(far.min())) < closest:
            closest, cycle = least, lag
        for number, tolerance in enumerate(tolerances):
            close = np.flatnonzero(far <= tolerance)
            expected = first[number]
            if close.size and (expected is None or close[0] < expected.step):
                step = int(close[0])
                first[number] = Known(step, _rates(seen, step, CYCLES * lag), lag)
    return Returned(closest, cycle, first)


def repeats(seen: Trace, tolerance: float) -> Known | None:
    """When the state has come back within one tolerance."""
    return returns(seen, [tolerance]).first[0]


def constant(seen: Trace, tolerance: float) -> Known | None:
    """When no window was reduced, and neither windows nor queue have moved, for ``CONSTANT_S``."""
    span = round(CONSTANT_S / seen.step_s)
    state = np.hstack([seen.windows, seen.queue])
    for step in range(span, seen.steps, max(span // BATCHES, 1)):
        recent = state[step - span : step + 1]
        low, high = recent.min(axis=0), recent.max(axis=0)
        if (low[:-1] <= 0).any() or (seen.reductions[step] != seen.reductions[step - span]).any():
            continue
        most = np.append(tolerance * high[:-1], max(tolerance, seen.pulse))
        if (high - low <= most).all():
            return Known(step, _rates(seen, step, span))
    return None


def settled(seen: Trace, tolerance: float) -> Known | None:
    """When the mean rate of every flow is known within a tolerance, by the means of ten batches.

    The batches are of the last half of the time. Their confidence interval (95 %, Student) takes them to be
    independent, which favours the rule: oscillations longer than a batch make the interval too narrow.
    """
    factor = t_quantile((1 + CONFIDENCE) / 2, BATCHES - 1) / math.sqrt(BATCHES)
    second = round(1 / seen.step_s)
    for step in range(10 * second - 1, seen.steps, second):
        batch = (step // 2) // BATCHES
        edges = step - batch * np.arange(BATCHES, -1, -1)
        if (seen.windows[edges[0]] <= 0).any():
            continue
        rates = np.diff(seen.delivered[edges], axis=0) / batch
        mean = rates.mean(axis=0)
        if (factor * rates.std(axis=0, ddof=1) <= tolerance * mean).all():
            return Known(step, mean)
    return None


def after(seen: Trace, seconds: float) -> Known:
    """What is known after so long, whatever happened: the rates of the last half of it."""
    step = seen.at(seconds)
    return Known(step, _rates(seen, step, step // 2))


def _rates(seen: Trace, step: int, span: int) -> Floats:
    rates: Floats = (seen.delivered[step] - seen.delivered[step - span]) / span
    return rates


def before(seen: Trace, seconds: float) -> Trace:
    """The trace as far as that time."""
    end = seen.at(seconds) + 1
    return replace(
        seen,
        delivered=seen.delivered[:end],
        windows=seen.windows[:end],
        queue=seen.queue[:end],
        reductions=seen.reductions[:end],
    )


@dataclass(frozen=True)
class Errors:
    """What skipping from a step on would have got wrong, as shares of what the whole run has.

    Attributes:
        goodput: of each flow, over the whole run.
        total: of all flows together.
        completion: of the time at which each flow has sent nine tenths of what it sends in the whole run.
    """

    goodput: Floats
    total: float
    completion: Floats


def errors(whole: Trace, expected: Known) -> Errors:
    """The whole run beside what was known of it at a step."""
    so_far, left = whole.delivered[expected.step], whole.steps - 1 - expected.step
    foretold, true = so_far + expected.rates * left, whole.delivered[-1]
    mark = whole.at(0.9 * whole.steps * whole.step_s)
    rates = np.maximum(expected.rates, 1e-9)
    reached = expected.step + (whole.delivered[mark] - so_far) / rates
    return Errors(
        np.abs(foretold / true - 1),
        abs(float(foretold.sum() / true.sum()) - 1),
        np.abs((reached + 1) / (mark + 1) - 1),
    )


Rule = Callable[[Trace, float], Known | None]
RULES: dict[str, Rule] = {"the state comes back": repeats, "means have settled": settled}
