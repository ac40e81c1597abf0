"""The loads by each matrix of a series, such as one for each hour of a day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.plans.worst_loads import MatrixLoad, WorstLoads, worst_loads
from anabranch.scenario.files import FILE
from anabranch.scenario.scenario import Scenario
from anabranch.setup.files import ScenarioFiles

_PLACE = "routing.demand.matrix"


def busiest_of_series(
    scenario: Scenario,
    *,
    failures: str | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WorstLoads:
    """The loads by the matrix with the highest one, and those of each other matrix beside them.

    The file of ``routing.demand.matrix`` has several, and ``number`` takes none of them.

    Args:
        scenario: with that file.
        failures: as of :func:`worst_loads`, which are looked at for each matrix.
        jobs: the same.
        progress: told of what is done and of all: failures of all matrices, or matrices without failures.

    Raises:
        ScenarioError: there is no such file, or as of :func:`worst_loads`.
    """
    files = ScenarioFiles(scenario.base)
    labels = _labels(scenario, files)
    loads, busiest = list[MatrixLoad](), None
    for number, label in enumerate(labels, start=1):
        of_matrix = worst_loads(
            scenario.replace({f"{_PLACE}.number": number}),
            failures=failures,
            jobs=jobs,
            progress=_part(progress, number - 1, len(labels)) if failures is not None else None,
            files=files,
        )
        if progress is not None and failures is None:
            progress(number, len(labels))
        worst = of_matrix.worst_failure
        loads.append(
            MatrixLoad(
                number,
                label,
                of_matrix.demand_mbps or 0.0,
                of_matrix.max_load,
                of_matrix.worst.link,
                None if worst is None else worst.load,
                None if worst is None else worst.name,
            )
        )
        if busiest is None or of_matrix.max_load > busiest.max_load:
            busiest = of_matrix
    assert busiest is not None  # noqa: S101 - a series has matrices
    return replace(busiest, series=tuple(loads))


def _labels(scenario: Scenario, files: ScenarioFiles) -> list[str]:
    """What the file calls each matrix."""
    demand = scenario.routing.demand
    matrix = None if demand is None else demand.matrix
    if matrix is None or matrix.number is not None or not matrix.source.startswith(FILE):
        message = '--series needs a file of several matrices, and no number of one: { from = "file:day.xml" }'
        raise ScenarioError([Problem(_PLACE, message)], scenario.origin)
    try:
        traffic = files.traffic(matrix.source.removeprefix(FILE))
    except _core.ProblemError as error:
        raise ScenarioError([Problem(f"{_PLACE}.from", str(error))], scenario.origin) from None
    if traffic is None or not traffic.matrices:
        message = f"{matrix.source} has one matrix; leave --series out"
        raise ScenarioError([Problem(f"{_PLACE}.from", message)], scenario.origin)
    return [one.label for one in traffic.matrices]


def _part(
    progress: Callable[[int, int], None] | None, done_before: int, parts: int
) -> Callable[[int, int], None] | None:
    """Progress of one part of several alike."""
    if progress is None:
        return None
    return lambda done, whole: progress(done_before * whole + done, parts * whole)
