"""The rules of checks/benches/steady_rules.py on saws whose cycle is known, and on others that have none."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "checks" / "benches"))

from steady_rules import CYCLES, Trace, errors, returns, settled

STEP_S = 0.05
FLOWS = 10


def saws(period_s: float, scatter: float, seconds: float = 150) -> Trace:
    """Ten windows that fall by half at the end of each cycle, at phases and with a scatter that are drawn."""
    draw = np.random.default_rng(1)
    times = np.arange(1, round(seconds / STEP_S) + 1) * STEP_S
    windows = np.zeros((len(times), FLOWS))
    reductions = np.zeros((len(times), FLOWS), dtype=np.int32)
    for flow in range(FLOWS):
        lengths = period_s * (1 + scatter * draw.standard_normal(round(2 * seconds / period_s)))
        falls = np.cumsum(lengths) - draw.uniform(period_s, 2 * period_s)
        cycle = np.searchsorted(falls, times, side="right")
        windows[:, flow] = 1 - (falls[cycle] - times) / lengths[cycle] / 2
        reductions[:, flow] = cycle
    queue = np.zeros((len(times), 1))
    return Trace(STEP_S, np.cumsum(windows, axis=0), windows, queue, 0.01, reductions)


@pytest.mark.parametrize("period_s", [0.55, 0.537, 2.9])
def test_a_common_cycle_of_ten_flows_is_found_and_foretells_the_rest(period_s: float) -> None:
    whole = saws(period_s, 0)
    (expected,) = returns(whole, [0.01]).first
    assert expected is not None
    # 0.537 s is no whole number of steps, but some multiples of it nearly are.
    assert (CYCLES + 1) * period_s <= expected.step * STEP_S + STEP_S <= 12
    assert errors(whole, expected).goodput.max() < 0.01


def test_cycles_of_different_lengths_do_not_repeat() -> None:
    whole = saws(2.9, 0.2)
    returned = returns(whole, [0.01, 0.05])
    assert returned.first == [None, None]
    assert returned.closest > 0.05


def test_means_of_a_saw_settle_though_its_cycles_differ() -> None:
    whole = saws(0.55, 0.05)
    expected = settled(whole, 0.01)
    assert expected is not None
    assert expected.rates == pytest.approx(0.75, rel=0.02)
