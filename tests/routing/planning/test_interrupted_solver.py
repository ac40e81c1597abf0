"""A solver that works for long stops when Ctrl-C comes: HiGHS itself looks at no signals."""

import threading
import time

import highspy
import numpy as np
import pytest
from scipy import sparse

from anabranch.process.signals import interrupt
from anabranch.routing.robust.highs import Program, load, new_solver, run_heeding_signals

ROWS, COLUMNS = 5, 40


def market_split() -> highspy.Highs:
    """Halves of five sums, for which branch and bound takes hours (Cornuéjols and Dawande, IPCO 1998)."""
    parts = np.random.default_rng(1).integers(0, 100, (ROWS, COLUMNS)).astype(float)
    slack = np.hstack([np.eye(ROWS), -np.eye(ROWS)])
    matrix = sparse.csc_array(np.hstack([parts, slack]))
    half = np.floor(parts.sum(axis=1) / 2)
    cost = np.concatenate([np.zeros(COLUMNS), np.ones(2 * ROWS)])
    upper = np.concatenate([np.ones(COLUMNS), np.full(2 * ROWS, np.inf)])
    solver = new_solver()
    load(solver, Program(matrix, half, half, cost, upper=upper))
    kinds = np.full(COLUMNS, int(highspy.HighsVarType.kInteger), np.uint8)
    solver.changeColsIntegrality(COLUMNS, np.arange(COLUMNS, dtype=np.int32), kinds)
    return solver


def test_it_stops_at_ctrl_c() -> None:
    solver = market_split()
    threading.Timer(1.5, interrupt).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_heeding_signals(solver)
    assert time.monotonic() - begin < 30
    assert not solver.is_solver_running()


def test_it_ends_by_itself_where_none_comes() -> None:
    solver = new_solver()
    load(solver, Program(sparse.csc_array([[1.0]]), np.array([2.0]), np.array([5.0]), np.array([3.0])))
    assert run_heeding_signals(solver) == highspy.HighsModelStatus.kOptimal
    assert solver.getInfo().objective_function_value == 6.0
