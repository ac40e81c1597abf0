"""Running a study: the runs that are not done yet, on this machine or on a cluster, into its store."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from anabranch import _core
from anabranch.errors import Problem, StudyError
from anabranch.study.check import design as check
from anabranch.study.design import Design
from anabranch.study.local import available_cores, run_locally
from anabranch.study.model import Progress, Study
from anabranch.study.result import StudyResult
from anabranch.study.store import Store
from anabranch.study.work import Outcome


def run_study(
    study: Study,
    *,
    jobs: int | None,
    dask: str | None,
    out: Path | str | None,
    progress: Progress | None,
    replace: bool,
) -> StudyResult:
    """Runs a study; see :meth:`Study.run`."""
    if jobs is not None and jobs < 1:
        raise StudyError([Problem("jobs", f"{jobs} must be at least 1")])
    if jobs is not None and dask is not None:
        raise StudyError([Problem("jobs", "the cluster says how many workers there are; leave it out")])
    # Before the work, not after it.
    spreadsheet = _wants_spreadsheet(study)
    design = check(study)
    if out is not None:
        from anabranch.report.html import save_study_report  # noqa: PLC0415 - slow to import
        from anabranch.report.study import write_outputs  # noqa: PLC0415 - slow to import

        def outputs(result: StudyResult, folder: Path) -> None:
            write_outputs(result, folder, spreadsheet=spreadsheet, figures=study.output.figures)
            save_study_report(result, folder)

        with Store(Path(out), design, replace=replace) as store:
            _work(store, design, jobs, dask, progress)
            return store.finish(outputs)
    with (
        tempfile.TemporaryDirectory(prefix="anabranch-study-") as folder,
        Store(Path(folder), design) as store,
    ):
        _work(store, design, jobs, dask, progress)
        result = store.finish()
        tables = {
            name: pl.read_parquet(source / "*.parquet", glob=True) if isinstance(source, Path) else source
            for name, source in result.tables.items()
        }
        return dataclasses.replace(result, tables=tables)


def _wants_spreadsheet(study: Study) -> bool:
    """Whether the study's folder gets its spreadsheet.

    Raises:
        StudyError: if it is asked for, and what writes it is not installed.
    """
    installed = find_spec("xlsxwriter") is not None
    if study.output.spreadsheet and not installed:
        message = 'needs XlsxWriter: pip install "anabranch[spreadsheet]", or set it to false'
        raise StudyError([Problem("output.spreadsheet", message)], study.origin)
    return installed if study.output.spreadsheet is None else study.output.spreadsheet


def _work(
    store: Store, design: Design, jobs: int | None, dask: str | None, progress: Progress | None
) -> None:
    """Does the runs that are not done yet."""
    left = [run for run in range(design.runs) if run not in store.finished]
    done, failures = len(store.finished), store.failures
    if progress is not None:
        progress(done, failures, design.runs)
    for outcome in _outcomes(design, left, jobs, dask):
        if outcome.version != _core.version():
            message = f"a worker has version {outcome.version} of anabranch, and this is {_core.version()}"
            raise StudyError([Problem("", message)])
        store.keep(outcome)
        done += 1
        failures += outcome.reason is not None
        if progress is not None:
            progress(done, failures, design.runs)


def _outcomes(design: Design, runs: list[int], jobs: int | None, dask: str | None) -> Iterator[Outcome]:
    if not runs:
        return iter(())
    if dask is None:
        return run_locally(design, runs, jobs if jobs is not None else available_cores())
    from anabranch.study.cluster import run_on_cluster  # noqa: PLC0415 - stands on an optional package

    return run_on_cluster(design, runs, dask)
