"""One run of a study, wherever it takes place: from its number to a row and, if wanted, its tables."""

from __future__ import annotations

import dataclasses
import io
import threading
import time
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from anabranch import _core
from anabranch.errors import AnabranchError
from anabranch.own.failure import failed as failed_code
from anabranch.own.running import guarded
from anabranch.plans.routes import plan, settled
from anabranch.process import memory
from anabranch.results.result import frame
from anabranch.routing import Planned, recall
from anabranch.runs.cautions import late_flows
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.memory import check_memory
from anabranch.setup.problems import refused
from anabranch.study.counts import counted
from anabranch.study.design import Design
from anabranch.study.files import unpacked
from anabranch.study.live_runs import SELF_CHECK, run_live, simulated_hosts
from anabranch.study.metrics import values
from anabranch.study.up_time import Tables, with_measures

_FLOW_SERIES = frozenset({"flow_series", "datagram_series"})
_LINK_SERIES = frozenset({"link_series", "flow_table_series"})
"""Tables that the probe fills."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run."""

    run: int
    reason: str | None
    """Why it failed; None if it did not."""
    values: tuple[float | None, ...]
    """Counts and metrics, in the order of the design; all None if it failed."""
    tables: dict[str, bytes]
    """Its tables, each as a Parquet file; empty where only metrics are kept."""
    version: str
    """Version of the package that ran it."""
    wall_s: float = 0.0
    """Time it took; not reproducible."""
    cpu_s: float = 0.0
    """Processor time it took; not reproducible."""
    engine_cpu_s: float = 0.0
    """Of this, the engine's."""


class RunWorker:
    """Runs of one design, one after the other; the scenario of a cell is made once."""

    def __init__(self, design: Design, folder: Path | None = None) -> None:
        """``folder`` has the design's files; None: they are unpacked, and go with this object."""
        self._design = design
        recall(design.solved)
        self._cell = -1
        self._scenario: Scenario | None = None
        self._planned: tuple[Any, Planned] | None = None
        if folder is None:
            unpacking = ExitStack()
            folder = unpacking.enter_context(unpacked(design.files))
            weakref.finalize(self, unpacking.close)
        self._folder = folder
        wanted = {metric.table for metric in design.metrics}
        # Sampling costs time and shows in no other table, but in the number of events.
        counts_events = any(m.table == "summary" and m.column == "events" for m in design.metrics)
        # All else is the same on any number of cores.
        self._counts_events = counts_events
        all_of_them = counts_events or design.keep == "tables"
        self._samples_flows = all_of_them or bool(_FLOW_SERIES & wanted)
        self._samples_links = all_of_them or bool(_LINK_SERIES & wanted)

    def run(self, number: int, cores: int = 1) -> Outcome:
        """Does one run, on so many cores at most. Whatever goes wrong with it is its reason."""
        begin, cpu = time.perf_counter(), time.process_time()
        reason = None
        self._engine_s = 0.0
        try:
            measured, tables = self._measure(number, cores)
        except (KeyboardInterrupt, SystemExit):
            raise
        except AnabranchError as error:
            reason = str(error)
        except BaseException as error:  # noqa: BLE001 - a run that fails must not end the study, panics included
            reason = f"{type(error).__name__}: {error}"
        if reason is not None:
            measured, tables = _nothing(self._design), {}
            # The same wherever it ran.
            reason = reason.replace(f"{self._folder}/", "") if self._design.files else reason
        return Outcome(
            run=number,
            reason=reason,
            values=measured,
            tables=tables,
            version=_core.version(),
            wall_s=time.perf_counter() - begin,
            cpu_s=time.process_time() - cpu,
            engine_cpu_s=self._engine_s,
        )

    def _measure(self, number: int, cores: int) -> tuple[tuple[float | None, ...], dict[str, bytes]]:
        cell, replication = divmod(number, self._design.replications)
        scenario, setup = self._setup(cell, replication)
        check_memory(setup, self._design.origin)
        planned = self._plan(setup)
        if self._design.is_live(self._design.levels(cell)):
            return self._live(number, scenario, setup, planned)
        core = setup.core()
        cpu = time.process_time()
        try:
            with guarded(setup.agreement):
                of_run = 1 if self._counts_events else cores
                outcome = core.simulate(planned.plan, None, of_run, memory.give_back)
        except _core.SetupError as error:
            raise refused(error, self._design.origin, setup) from None
        except _core.OwnCodeError as error:
            raise failed_code(error) from None
        finally:
            self._engine_s = time.process_time() - cpu
        tables, summary = outcome["tables"], outcome["summary"]
        if summary["interrupted"]:
            raise KeyboardInterrupt
        if self._design.live:
            tables = {**tables, "flows": simulated_hosts(tables["flows"])}
        values = self._values(tables, summary, setup, planned)
        kept = {}
        if self._design.keep == "tables":
            kept = {name: _numbered(frame(columns), number) for name, columns in tables.items()}
        return values, kept

    def _live(
        self, number: int, scenario: Scenario, setup: Setup, planned: Planned
    ) -> tuple[tuple[float | None, ...], dict[str, bytes]]:
        measured_run = run_live(scenario, setup, planned)
        self._engine_s = measured_run.engine_cpu_s
        measured = self._values(measured_run.columns(), measured_run.result.summary, setup, planned)
        kept = {SELF_CHECK: _numbered(measured_run.self_check(), number)}
        if self._design.keep == "tables":
            kept |= {name: _numbered(table, number) for name, table in measured_run.tables().items()}
        return measured, kept

    def _values(
        self, tables: Tables, summary: Mapping[str, Any], setup: Setup, planned: Planned
    ) -> tuple[float | None, ...]:
        metrics = self._design.metrics
        measured = with_measures(metrics, tables, setup, planned.plan, float(summary["ended_s"]))
        every_value = (each for metric in metrics for each in values(metric, measured, summary))
        return (*counted(metrics, measured, late_flows(setup)), *every_value)

    def _plan(self, setup: Setup) -> Planned:
        """The plan of a setup. A planner may take minutes, and replications seldom differ in what it sees."""
        if setup.planner is None and not any(routes.planner for routes in setup.own_routes):
            return plan(setup, self._design.origin)
        planners = (setup.planner, setup.own_routes)
        seen = (planners, setup.nodes, setup.links, setup.transports, setup.flows, setup.datagrams)
        if self._planned is None or self._planned[0] != seen:
            self._planned = (seen, plan(setup, self._design.origin))
        return self._planned[1]

    def _setup(self, cell: int, replication: int) -> tuple[Scenario, Setup]:
        if self._cell != cell or self._scenario is None:
            self._scenario = self._design.scenario(self._design.levels(cell), self._folder)
            self._cell = cell
        scenario = self._scenario
        if replication:
            settings = scenario.run_settings.model_copy(update={"replication": replication})
            scenario = scenario.model_copy(update={"run_settings": settings})
        setup = settled(resolve(scenario, Needed.ALL), scenario.origin)
        probes = setup.probes
        flows, links = probes.flows and self._samples_flows, probes.links and self._samples_links
        if (flows, links) == (probes.flows, probes.links):
            return scenario, setup
        interval = probes.interval if flows or links else None
        probes = dataclasses.replace(probes, interval=interval, flows=flows, links=links)
        return scenario, setup.replace(probes=probes)


_workers = threading.local()


def worker_for(design: Design) -> RunWorker:
    """The worker of the current thread for a design."""
    if getattr(_workers, "design", None) is not design:
        _workers.worker = RunWorker(design)
        _workers.design = design
    worker: RunWorker = _workers.worker
    return worker


def failed(design: Design, number: int, reason: str) -> Outcome:
    """The outcome of a run that nobody could finish."""
    return Outcome(number, reason, _nothing(design), {}, _core.version())


def _nothing(design: Design) -> tuple[None, ...]:
    """The metrics of a run that failed."""
    return (None,) * len(design.value_names)


def parquet(table: pl.DataFrame) -> bytes:
    """A table as a Parquet file."""
    buffer = io.BytesIO()
    if table.height <= 1:
        # For one row, compression and statistics take more than they give.
        table.write_parquet(buffer, compression="uncompressed", statistics=False)
    else:
        table.write_parquet(buffer)
    return buffer.getvalue()


def _numbered(table: pl.DataFrame, run: int) -> bytes:
    """A table of a run as a Parquet file, with the run's number in front."""
    return parquet(table.insert_column(0, pl.repeat(run, table.height, eager=True).alias("run")))
