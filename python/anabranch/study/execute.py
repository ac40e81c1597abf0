"""Running a study: the runs that are not done yet, on this machine or on a cluster, into its store."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from anabranch import _core
from anabranch.errors import Problem, StudyError, installation
from anabranch.process.cores import available_cores
from anabranch.study.check import design as check
from anabranch.study.counts import check_chosen
from anabranch.study.description import Progress, Study
from anabranch.study.design import Design
from anabranch.study.local import run_locally
from anabranch.study.result import StudyResult
from anabranch.study.store import Store
from anabranch.study.work import Outcome


@dataclass(frozen=True, slots=True)
class Execution:
    """How the runs of a study are made; :meth:`Study.run` has the attributes."""

    live: bool
    against_simulation: bool
    jobs: int | None
    dask: str | None

    def check(self) -> None:
        """Makes sure that it is one.

        Raises:
            StudyError: if it is none.
        """
        if self.jobs is not None and self.jobs < 1:
            raise StudyError([Problem("jobs", f"{self.jobs} must be at least 1")])
        if self.jobs is not None and self.dask is not None:
            raise StudyError([Problem("jobs", "the cluster says how many workers there are; leave it out")])
        if self.live and self.dask is not None:
            raise StudyError([Problem("dask", "live runs are made on this machine; leave it out")])
        if self.live and self.jobs not in (None, 1):
            message = "live runs are made one at a time, or they would make each other late; leave it out"
            raise StudyError([Problem("jobs", message)])
        if self.against_simulation and not self.live:
            raise StudyError(
                [Problem("against", "compares live runs with simulated ones; give live as well")]
            )


def run_study(
    study: Study, execution: Execution, *, out: Path | str | None, progress: Progress | None, replace: bool
) -> StudyResult:
    """Runs a study; see :meth:`Study.run`."""
    execution.check()
    # Before the work, not after it.
    spreadsheet = _wants_spreadsheet(study)
    design = check(study, live=execution.live, against_simulation=execution.against_simulation)
    if out is not None:
        from anabranch.report.html import save_study_report  # noqa: PLC0415 - slow to import
        from anabranch.report.study import write_outputs  # noqa: PLC0415 - slow to import

        with Store(Path(out), design, replace=replace) as store:
            _work(store, design, execution, progress)
            result = _result(design, store)

            def write(folder: Path) -> None:
                write_outputs(result, folder, spreadsheet=spreadsheet, figures=study.output.figures)
                save_study_report(result, folder)

            store.finish({"runs": result.runs, "cells": result.cells}, write)
            return dataclasses.replace(result, repeated=store.repeated)
    with (
        tempfile.TemporaryDirectory(prefix="anabranch-study-") as folder,
        Store(Path(folder), design) as store,
    ):
        _work(store, design, execution, progress)
        result = _result(design, store)
        tables = {
            name: pl.read_parquet(source / "*.parquet", glob=True) if isinstance(source, Path) else source
            for name, source in result.tables.items()
        }
        return dataclasses.replace(result, tables=tables, repeated=store.repeated)


def _result(design: Design, store: Store) -> StudyResult:
    """The result of a design whose runs are all done."""
    return StudyResult.from_runs(
        title=design.title,
        confidence=design.confidence,
        replications=design.replications,
        factors=design.factor_infos,
        metrics=design.metric_infos,
        runs=store.runs(),
        tables=store.tables(),
        live=design.live,
    )


def _wants_spreadsheet(study: Study) -> bool:
    """Whether the study's folder gets its spreadsheet.

    Raises:
        StudyError: if it is asked for, and what writes it is not installed.
    """
    installed = find_spec("xlsxwriter") is not None
    if study.output.spreadsheet and not installed:
        message = f"needs XlsxWriter: {installation('spreadsheet')}; or set it to false"
        raise StudyError([Problem("output.spreadsheet", message)], study.origin)
    return installed if study.output.spreadsheet is None else study.output.spreadsheet


def _work(store: Store, design: Design, execution: Execution, progress: Progress | None) -> None:
    """Does the runs that are not done yet."""
    left = [run for run in range(design.runs) if run not in store.finished]
    done = len(store.finished)
    failures = sum(run.reason is not None for run in store.finished.values())
    if progress is not None:
        progress(done, failures, design.runs)
    for outcome in _outcomes(design, left, execution):
        if outcome.version != _core.version():
            message = f"a worker has version {outcome.version} of anabranch, and this is {_core.version()}"
            raise StudyError([Problem("", message)])
        store.keep(outcome)
        done += 1
        failures += outcome.reason is not None
        if progress is not None:
            progress(done, failures, design.runs)
    went_well = [run.values for run in store.finished.values() if run.reason is None]
    counts = [dict(zip(design.value_names, values, strict=True)) for values in went_well]
    check_chosen(design.metrics, counts, None)


def _outcomes(design: Design, runs: list[int], execution: Execution) -> Iterator[Outcome]:
    if not runs:
        return iter(())
    if execution.dask is None:
        jobs = 1 if execution.live else execution.jobs
        return run_locally(design, runs, jobs if jobs is not None else available_cores())
    from anabranch.study.cluster import run_on_cluster  # noqa: PLC0415 - stands on an optional package

    return run_on_cluster(design, runs, execution.dask)
