"""Linear programs in arrays, solved by HiGHS on one thread.

One thread, because the library has one pool of them for the whole process, whose size the first caller sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import highspy
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .budget import SIMPLEX_S, Budget, interior_s
from .errors import SolverError
from .model import Floats, Ints

Ending = Literal["optimal", "imprecise", "time-limit"]
"""`imprecise`: the interior point method could not reach its tolerance; what it has may be used with care."""

_ENDINGS: dict[highspy.HighsModelStatus, Ending] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kUnknown: "imprecise",
    highspy.HighsModelStatus.kTimeLimit: "time-limit",
    highspy.HighsModelStatus.kIterationLimit: "time-limit",
}

E = TypeVar("E", bound=str)

_LOOK_S = 0.1
"""How often it is looked whether the solver has ended."""
_PATIENCE_S = 15.0
"""How long the solver has to stop."""

MOST = 2**31 - 1
"""HiGHS's number for no limit of iterations."""


class Entries:
    """Entries of a sparse matrix, gathered block by block."""

    def __init__(self) -> None:
        self._rows = [np.empty(0, np.int64)]
        self._columns = [np.empty(0, np.int64)]
        self._values = [np.empty(0)]

    def add(self, rows: int | Ints, columns: Ints, values: ArrayLike) -> None:
        """Entries at these rows and columns; one row or value serves for all. Those at one place add up."""
        self._rows.append(np.broadcast_to(np.asarray(rows, np.int64), columns.shape))
        self._columns.append(columns)
        self._values.append(np.broadcast_to(np.asarray(values, np.float64), columns.shape))

    def matrix(self, rows: int, columns: int) -> sparse.csc_array:
        """The matrix of this shape."""
        coordinates = (np.concatenate(self._rows), np.concatenate(self._columns))
        made = sparse.csc_array((np.concatenate(self._values), coordinates), shape=(rows, columns))
        made.sum_duplicates()
        return made


@dataclass(frozen=True)
class Program:
    """Minimise `cost` x with `row_lower` <= `matrix` x <= `row_upper` and `lower` <= x <= `upper`."""

    matrix: sparse.csc_array
    row_lower: Floats
    row_upper: Floats
    cost: Floats
    lower: ArrayLike = 0.0
    """Of each column, or one number for all."""
    upper: ArrayLike = np.inf
    """As `lower`."""


@dataclass(frozen=True)
class Answer:
    """The solver's state at its end. Without a feasible point `primal` and `row_dual` may be empty."""

    ending: Ending
    primal: Floats
    row_dual: Floats
    """Change of the objective with the row's bound: not positive for a row with an upper bound."""
    objective: float


class _Silent(highspy.Highs):
    """HiGHS without its banner, which 1.16 writes as soon as its constructor asks for callbacks."""

    def enableCallbacks(self) -> None:  # noqa: N802 - the name in HiGHS
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()  # type: ignore[no-untyped-call]


def new_solver(**options: bool | int | float | str) -> highspy.Highs:
    """A silent HiGHS on one thread with these options, by their names in HiGHS."""
    solver = _Silent()  # type: ignore[no-untyped-call]
    for name, value in {"output_flag": False, "threads": 1, **options}.items():
        if solver.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise SolverError(
                "HiGHS", f"refuses {name} = {value}", "use the version that pyproject.toml asks for"
            )
    return solver


def load(solver: highspy.Highs, program: Program) -> None:
    """Give the solver a program."""
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = program.matrix.shape
    model.col_cost_ = program.cost
    model.col_lower_ = np.full(len(program.cost), program.lower)
    model.col_upper_ = np.full(len(program.cost), program.upper)
    model.row_lower_ = program.row_lower
    model.row_upper_ = program.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = program.matrix.indptr.astype(np.int32)
    model.a_matrix_.index_ = program.matrix.indices.astype(np.int32)
    model.a_matrix_.value_ = program.matrix.data
    if solver.passModel(model) == highspy.HighsStatus.kError:
        raise SolverError(
            "HiGHS", "refuses the program", "check capacities and bounds for numbers out of scale"
        )


def run_heeding_signals(solver: highspy.Highs) -> highspy.HighsModelStatus:
    """Solve what the solver has been given, and stop soon after Ctrl-C.

    HiGHS looks at no signals: it works in a thread of its own, and is told of them.

    Raises:
        KeyboardInterrupt: one has come, and the solver has stopped.
    """
    solver.HandleUserInterrupt = True
    solver.startSolve()
    try:
        while not solver.wait(_LOOK_S)[0]:
            pass
    except KeyboardInterrupt:
        solver.cancelSolve()  # type: ignore[no-untyped-call]
        solver.wait(_PATIENCE_S)
        raise
    return solver.getModelStatus()


def run_to_end(solver: highspy.Highs, budget: Budget, endings: Mapping[highspy.HighsModelStatus, E]) -> E:
    """Solve what the solver has been given; how that ended.

    Raises:
        SolverError: it ended in another way than these.
    """
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kTimeLimit:
        budget.late()
    if status not in endings:
        raise SolverError(
            "HiGHS", f"ended with {solver.modelStatusToString(status)}", "scale capacities and bounds"
        )
    return endings[status]


def run(solver: highspy.Highs, budget: Budget) -> Answer:
    """Solve a linear program that the solver has been given.

    Raises:
        SolverError: the program is infeasible or unbounded, or the solver failed.
    """
    ending = run_to_end(solver, budget, _ENDINGS)
    solution = solver.getSolution()
    return Answer(
        ending,
        np.array(solution.col_value, np.float64),
        np.array(solution.row_dual, np.float64) if solution.dual_valid else np.empty(0),
        float(solver.getInfo().objective_function_value),
    )


def solve_interior(program: Program, budget: Budget, *, vertex: bool = False) -> Answer:
    """Solve by the interior point method, without crossover to a vertex; by simplex where that fails.

    The point lies in the middle of the optimal solutions, which spreads the load of links that do not bind.
    With `vertex` it is one at their rim, where most columns are 0.
    """
    iteration_s = interior_s(program.matrix.nnz)
    solver = new_solver(
        solver="ipx", run_crossover="on" if vertex else "off", ipm_optimality_tolerance=1e-7,
        time_limit=budget.clock_left_s, ipm_iteration_limit=iterations(budget, iteration_s),
    )  # fmt: skip
    load(solver, program)
    answer = run(solver, budget)
    budget.spend(iteration_s * max(solver.getInfo().ipm_iteration_count, 1))
    budget.spend(SIMPLEX_S * program.matrix.nnz * max(solver.getInfo().crossover_iteration_count, 0))
    if answer.ending != "imprecise" and np.isfinite(answer.primal).all():
        return answer
    return solve_simplex(program, budget)


def solve_simplex(program: Program, budget: Budget) -> Answer:
    """Solve by the simplex method."""
    iteration_s = SIMPLEX_S * program.matrix.nnz
    solver = new_solver(
        solver="simplex", time_limit=budget.clock_left_s,
        simplex_iteration_limit=iterations(budget, iteration_s),
    )  # fmt: skip
    load(solver, program)
    answer = run(solver, budget)
    budget.spend(iteration_s * max(solver.getInfo().simplex_iteration_count, 1))
    return answer


def iterations(budget: Budget, iteration_s: float) -> int:
    """How many iterations of so many seconds are left, for a limit in HiGHS."""
    left = budget.left_s / iteration_s
    return int(min(max(left, 0.0), MOST))
