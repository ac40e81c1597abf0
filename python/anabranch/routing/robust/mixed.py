"""The program with duals, eqs. (9) to (14), where some columns are whole numbers.

The dual columns are scaled by the capacity: they are parts of a pair's traffic here, from 0 to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import highspy
import numpy as np
from scipy import sparse

from .budget import CHECK_S, ROOT_CHECK_S, SIMPLEX_S, Budget
from .errors import SolverError
from .highs import Program, iterations, load, new_solver, run_to_end
from .model import Floats, Ints
from .problem import RoutingProblem

MixedEnding = Literal["optimal", "infeasible", "time-limit", "unknown"]
"""`unknown`: the solver gave up, mostly for numerical reasons; what it has is no proof of anything."""

_ENDINGS: dict[highspy.HighsModelStatus, MixedEnding] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kTimeLimit: "time-limit",
    highspy.HighsModelStatus.kIterationLimit: "time-limit",
    highspy.HighsModelStatus.kInterrupt: "time-limit",
    highspy.HighsModelStatus.kUnknown: "unknown",
    highspy.HighsModelStatus.kNotset: "unknown",
}

_FIRST_ITERATIONS = 2
"""Iterations of simplex for the first linear program, in times its rows: 1 to 3 measured."""


@dataclass(frozen=True)
class MixedAnswer:
    """The solver's state at its end."""

    ending: MixedEnding
    primal: Floats
    """The best point, or nothing."""
    bound: float
    """No point has a smaller objective; minus infinity where that is not known. Of a mixed program only."""


@dataclass(frozen=True)
class HoseProgram:
    """Rows for the fractions of all candidate paths, and a column for the worst-case load.

    Columns are the paths in their order, the dual columns, the load, and `extra` more for the caller.
    """

    matrix: sparse.csr_array
    row_lower: Floats
    row_upper: Floats
    upper: Floats
    """Upper bound of each column; the lower one is 0."""
    load: int
    """The column of the worst-case load."""

    @classmethod
    def of(cls, problem: RoutingProblem, extra: int = 0) -> HoseProgram:
        """The program of these candidates."""
        network, bounds, candidates = problem.network, problem.bounds, problem.candidates
        arcs = network.arc_count
        path_of_use = np.repeat(np.arange(candidates.path_count), np.diff(candidates.arc_start))
        pair_of_path = candidates.pair_of_path()
        use, cover = np.unique(pair_of_path[path_of_use] * arcs + candidates.arcs, return_inverse=True)
        pair, arc = use // arcs, use % arcs
        row_use, row_of = np.unique(candidates.source[pair] * arcs + arc, return_inverse=True)
        column_use, column_of = np.unique(candidates.target[pair] * arcs + arc, return_inverse=True)
        prices = np.concatenate(
            [
                bounds.ingress_mbps[row_use // arcs],
                bounds.egress_mbps[column_use // arcs],
                bounds.pair_mbps[candidates.source[pair], candidates.target[pair]],
            ]
        )
        price_arc = np.concatenate([row_use % arcs, column_use % arcs, arc])
        paths, pairs, uses = candidates.path_count, candidates.pair_count, len(use)
        first_column, first_pair = paths + len(row_use), paths + len(row_use) + len(column_use)
        load_column = paths + len(prices)
        bounded = np.isfinite(prices)
        scaled = np.where(bounded, prices, 0.0) / network.capacity_mbps[price_arc]
        blocks = [  # Row, column, value of: eq. (9), eq. (11) with its three dual columns, eq. (10).
            (pair_of_path, np.arange(paths), np.ones(paths)),
            (pairs + cover, path_of_use, np.ones(len(cover))),
            (pairs + np.arange(uses), paths + row_of, -np.ones(uses)),
            (pairs + np.arange(uses), first_column + column_of, -np.ones(uses)),
            (pairs + np.arange(uses), first_pair + np.arange(uses), -np.ones(uses)),
            (pairs + uses + price_arc, paths + np.arange(len(prices)), scaled),
            (pairs + uses + np.arange(arcs), np.full(arcs, load_column), -np.ones(arcs)),
        ]
        row, column, value = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        rows = pairs + uses + arcs
        shape = (rows, load_column + 1 + extra)
        lower = np.concatenate([np.ones(pairs), np.full(rows - pairs, -np.inf)])
        upper = np.ones(shape[1])
        upper[paths:load_column][~bounded] = 0.0
        upper[load_column] = np.inf
        return cls(
            sparse.csr_array((value, (row, column)), shape=shape), lower,
            np.concatenate([np.ones(pairs), np.zeros(rows - pairs)]), upper, load_column,
        )  # fmt: skip

    def with_rows(self, rows: sparse.csr_array, lower: Floats, upper: Floats) -> HoseProgram:
        """With more rows."""
        return HoseProgram(
            sparse.csr_array(sparse.vstack([self.matrix, rows])),
            np.concatenate([self.row_lower, lower]), np.concatenate([self.row_upper, upper]),
            self.upper, self.load,
        )  # fmt: skip


class MixedSolver:
    """HiGHS with a program whose columns' bounds and costs change between runs.

    An iteration of simplex counts by the entries of the program, and `most_s` seconds at most.
    """

    def __init__(
        self,
        program: HoseProgram,
        cost: Floats,
        *,
        most_s: float = math.inf,
        **options: bool | int | float | str,
    ) -> None:
        self._solver = new_solver(**options)
        columns = sparse.csc_array(program.matrix)
        load(self._solver, Program(columns, program.row_lower, program.row_upper, cost))
        self._entries, self._rows = columns.nnz, columns.shape[0]
        self._iteration_s = min(SIMPLEX_S * columns.nnz, most_s)
        self._whole, self._work_s, self._most_s = False, 0.0, math.inf
        self.set_bounds(np.arange(len(cost)), np.zeros(len(cost)), program.upper)

    def set_bounds(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        """Bounds of some columns."""
        self._must(self._solver.changeColsBounds(len(columns), columns.astype(np.int32), lower, upper))

    def set_cost(self, columns: Ints, cost: Floats) -> None:
        """Costs of some columns."""
        self._must(self._solver.changeColsCost(len(columns), columns.astype(np.int32), cost))

    def set_whole(self, columns: Ints) -> None:
        """Makes these columns whole numbers."""
        kinds = np.full(len(columns), int(highspy.HighsVarType.kInteger), np.uint8)
        self._must(self._solver.changeColsIntegrality(len(columns), columns.astype(np.int32), kinds))
        if not self._whole:
            self._whole = True
            self._solver.cbMipInterrupt += self._check

    def _check(self, event: highspy.HighsCallbackEvent) -> None:
        """Count what branch and bound asks on its way, always at the same places, and end it there."""
        at_root = event.data_out.mip_node_count == 0
        self._work_s += (ROOT_CHECK_S if at_root else CHECK_S) * self._entries
        if self._work_s > self._most_s:
            event.interrupt()

    def start_from(self, columns: Ints, value: Floats) -> None:
        """Values of some columns to begin with; the solver finds the others."""
        self._must(self._solver.setSolution(len(columns), columns.astype(np.int32), value))

    def run(self, budget: Budget) -> MixedAnswer:
        """Solve with what work is left.

        A mixed program that branches counts its checks whether to go on; one whose first linear program alone
        would take what is left is not begun.

        Raises:
            SolverError: the solver failed.
        """
        solver = self._solver
        iteration_s = self._iteration_s
        if self._whole and _FIRST_ITERATIONS * self._rows * iteration_s > budget.left_s:
            budget.spend(max(budget.left_s, 0.0))
            return MixedAnswer("time-limit", np.empty(0), -np.inf)
        # HiGHS counts the time of all runs of one solver together.
        self._must(solver.setOptionValue("time_limit", solver.getRunTime() + budget.clock_left_s))
        if self._whole:
            self._work_s, self._most_s = 0.0, budget.left_s
        else:
            self._must(solver.setOptionValue("simplex_iteration_limit", iterations(budget, iteration_s)))
        ending = run_to_end(solver, budget, _ENDINGS)
        budget.spend(
            self._work_s if self._whole
            else iteration_s * max(solver.getInfo().simplex_iteration_count, 1)
        )  # fmt: skip
        info, solution = solver.getInfo(), solver.getSolution()
        feasible = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
        primal = np.array(solution.col_value, np.float64) if feasible else np.empty(0)
        bound = float(info.mip_dual_bound) if ending in {"optimal", "time-limit"} else -np.inf
        return MixedAnswer(ending, primal, bound)

    @staticmethod
    def _must(status: highspy.HighsStatus) -> None:
        if status == highspy.HighsStatus.kError:
            raise SolverError("HiGHS", "refuses a change of the program", "scale capacities and bounds")
