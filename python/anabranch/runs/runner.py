"""One run: scenario, setup, plan, engine, result."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import polars as pl

from anabranch import _core
from anabranch.errors import Problem, ResultError, ScenarioError, reason, written_for
from anabranch.own.failure import failed
from anabranch.own.running import guarded
from anabranch.plans.routes import plan, route_tables, settled, warnings
from anabranch.process import memory
from anabranch.process.cores import available_cores
from anabranch.process.signals import Deferred, deferred
from anabranch.results.censored import completion_summary, unfinished_note
from anabranch.results.folders import Replacement, check_target, copy_whole, replacing
from anabranch.results.result import CAPTURES, Result
from anabranch.routing import Planned
from anabranch.runs.cautions import cautions
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.memory import check_memory
from anabranch.setup.problems import refused

Cores = int | Literal["all"]
"""Cores of one run: so many at most, or all that this process may use."""
FolderWriter = Callable[[Result, Path], None]
"""A function that writes what else the folder of a result gets, such as its page."""

_MOST_CORES = 1024
"""More than machines have; a mistyped number would divide the run for nothing."""


class RunKind(Protocol):
    """How a run is made: in simulated time, or live."""

    def prepared(self, scenario: Scenario, setup: Setup) -> Setup:
        """The setup with what this kind adds to it, before routes are made."""

    def measured(
        self,
        scenario: Scenario,
        setup: Setup,
        planned: Planned,
        signals: Deferred,
        progress: Callable[[float, int], None] | None,
    ) -> Result:
        """Runs it to its end, or until a signal has been heard."""

    def add(self, folder: Path) -> None:
        """Writes what this kind leaves besides tables into a result folder."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A run in simulated time."""

    cores: Cores = 1
    """More than one divide the network between them, where it can be divided."""

    def prepared(self, _scenario: Scenario, setup: Setup) -> Setup:
        """The setup as it is."""
        return setup

    def add(self, folder: Path) -> None:
        """A simulation leaves nothing but tables."""

    def measured(
        self,
        scenario: Scenario,
        setup: Setup,
        planned: Planned,
        signals: Deferred,
        progress: Callable[[float, int], None] | None,
    ) -> Result:
        """Runs it to its end, or until a signal has been heard."""
        begin = time.perf_counter()
        try:
            with guarded(setup.agreement):
                cores = number_of_cores(self.cores)
                watched = signals.watched(progress)
                outcome = setup.core().simulate(planned.plan, watched, cores, memory.give_back)
        except _core.SetupError as error:
            raise refused(error, scenario.origin, setup) from None
        except _core.OwnCodeError as error:
            raise failed(error) from None
        except OSError as error:
            raise ResultError(f"a capture cannot be begun: {reason(error)}") from None
        wall_s = time.perf_counter() - begin
        return measured(scenario, setup, planned, outcome, wall_s, cores=self.cores)


def number_of_cores(cores: Cores) -> int:
    """The number of cores that a run is to have at most.

    Raises:
        ScenarioError: if it is no number of cores.
    """
    if cores == "all":
        return available_cores()
    if isinstance(cores, bool) or not isinstance(cores, int) or not 1 <= cores <= _MOST_CORES:
        given = f'"{cores}"' if isinstance(cores, str) else cores
        raise ScenarioError(
            [Problem("cores", f'{given} is no number of cores from 1 to {_MOST_CORES}, and not "all"')]
        )
    return cores


def _divided(cores: Cores, outcome: _core.Outcome) -> Iterator[str]:
    """What is to be said of a run for which several cores were asked."""
    why, used, available = outcome.get("one_core"), outcome.get("cores", 1), available_cores()
    if why is not None:
        yield f"the run has one core, though more were asked for: {why}"
    elif cores != "all" and used < cores:
        yield (
            f"the run has {used} cores, though {cores} were asked for: this network in more parts promises "
            "no more speed"
        )
    if used > available:
        yield (
            f"the run is divided between {used} cores, and this program may use {available} of this machine: "
            'parts take turns, and the run is slower than with cores = "all"'
        )


def run(
    scenario: Scenario,
    *,
    out: Path | str | None = None,
    write: FolderWriter | None = None,
    replace: bool = False,
    progress: Callable[[float, int], None] | None = None,
    plan_progress: Callable[[int, int], None] | None = None,
    cores: Cores = 1,
    kind: RunKind | None = None,
) -> Result:
    """Simulates a scenario.

    Args:
        scenario: what to simulate.
        out: folder to save the result in; an earlier result there is replaced. Left out, nothing is written
            but the captures, which then go into the current folder.
        write: writes what else the folder gets, such as the page and figures of
            :func:`anabranch.report.run_folder.page_writer`; None for nothing.
        replace: go on though ``out`` has files that Anabranch did not write; they stay. Without ``out``,
            captures take the place of files of their names.
        progress: called now and then with the simulated seconds and the packet-hops so far.
        plan_progress: called before that with the pairs that have routes and all pairs.
        cores: the network is divided between so many cores at most, or between all that this program may use
            (docs/parallel.md). The tables are the same; where it cannot be divided, a warning says why, and
            one core runs it.
        kind: how it is run; in simulated time if left out.

    Returns:
        What was measured. After Ctrl-C that is what was measured until then, and
        ``summary["interrupted"]`` is true; so it is after SIGTERM and SIGHUP, which then end the program.

    Raises:
        ScenarioError: if the scenario cannot be run, or on so many cores.
        ConsentError: if it names code in Python that nobody has agreed to.
        ResultError: if ``out`` has other files or is being written to, or cannot be written; where writing
            fails, the result is then kept in a temporary folder that the message names, if there is room.
            Without ``out``, if there is a file with the name of a capture. A capture that cannot be written
            is a warning.
        KeyboardInterrupt: after Ctrl-C before the run has begun, or once it is saved.
    """
    # Before the work, not after it.
    number_of_cores(cores)
    if out is not None:
        check_target(Path(out), Result.kind, replace=replace)
    else:
        check_captures(scenario, replace=replace)
    if kind is None:
        kind = Simulated(cores)
    setup = resolve(scenario, Needed.ALL)
    check_memory(setup, scenario.origin)
    setup = settled(kind.prepared(scenario, setup), scenario.origin)
    with opened(out, replace=replace) as place, _captures(setup, place) as captures:
        planned = plan(setup, scenario.origin, plan_progress)
        captured = setup if captures is None else capture_into(setup, captures)
        with deferred(_core.inside_own_code) as signals:
            with nullcontext() if place is None else written_for(place.place, place.partial):
                result = kind.measured(scenario, captured, planned, signals, progress)

            def add(folder: Path) -> None:
                kind.add(folder)
                if write is not None:
                    write(result, folder)

            keep(result, place, scenario, captures, signals, add)
    return result


def check_captures(scenario: Scenario, *, replace: bool) -> None:
    """Makes sure that captures in the current folder would replace no files.

    Raises:
        ResultError: if they would, without ``replace``.
    """
    existing = [capture.file for capture in scenario.capture if os.path.lexists(capture.file)]
    if existing and not replace:
        raise ResultError(
            f"{existing[0]}: is there already, and a capture has this name; give a folder for the result "
            "(out), or replace=True"
        )


@contextmanager
def _captures(setup: Setup, place: Replacement | None) -> Iterator[Path | None]:
    """Where a run writes its captures, if it has any: the new folder, or a temporary one."""
    if place is not None or not setup.captures:
        yield place.partial if place is not None else None
        return
    folder = Path(tempfile.mkdtemp(prefix="anabranch-"))
    try:
        yield folder
    finally:
        with deferred():
            shutil.rmtree(folder, ignore_errors=True)


def opened(out: Path | str | None, *, replace: bool) -> AbstractContextManager[Replacement | None]:
    """A folder that is to be written, if there is one; see :func:`anabranch.results.folders.replacing`."""
    return nullcontext() if out is None else replacing(Path(out), Result.kind, replace=replace)


def keep(
    result: Result,
    place: Replacement | None,
    scenario: Scenario,
    captures: Path | None,
    signals: Deferred,
    add: Callable[[Path], None] | None,
) -> None:
    """Saves a result in a folder; without one, its captures go into the current folder."""
    signals.answered = result.interrupted
    if place is not None:
        _save(result, place, scenario, captures, add)
        signals.kept = f"what was measured is in {place.place}"
    elif captures is not None:
        for file in sorted(captures.glob(CAPTURES)):
            _deliver(file, result)


def _deliver(capture: Path, result: Result) -> None:
    """Puts a capture into the current folder; where it cannot be written, the result says so."""
    try:
        copy_whole(capture, Path(capture.name))
    except ResultError as error:
        result.summary["warnings"].append(f"the capture {capture.name} is lost: {error}")


def _save(
    result: Result,
    place: Replacement,
    scenario: Scenario,
    captures: Path | None,
    add: Callable[[Path], None] | None,
) -> None:
    """Saves a result; where that fails, as on a full disk, its tables go to the temporary files.

    If there is no room either, captures make room.
    """
    try:
        result.put(place, scenario=scenario, captures=captures, add=add)
    except Exception as error:
        kept, saved = _kept(result, place.place.name, scenario, captures)
        if isinstance(error, ResultError):
            if not saved and _lose_captures(result, (place.partial, captures), error):
                with suppress(ResultError):
                    result.put(place, scenario=scenario, add=add)
                    return
            raise ResultError(f"{error}; {kept}") from None
        # A mistake of ours, which is told with its place.
        error.add_note(kept)
        raise


def _lose_captures(result: Result, folders: Iterable[Path | None], why: ResultError) -> bool:
    """Removes the captures of a run, which then says so; whether there were any."""
    files = [file for folder in folders if folder is not None for file in folder.glob(CAPTURES)]
    for file in files:
        file.unlink(missing_ok=True)
    for name in sorted({file.name for file in files}):
        result.summary["warnings"].append(f"the capture {name} is lost: {why}")
    return bool(files)


def _kept(result: Result, name: str, scenario: Scenario, captures: Path | None) -> tuple[str, bool]:
    """Saves a result among the temporary files; says where, or that it is lost, and whether it is kept."""
    lost = "what was measured is lost, because no other place can be written: "
    try:
        spare = Path(tempfile.mkdtemp(prefix="anabranch-kept-"))
    except OSError as error:
        return f"{lost}{reason(error)}", False
    try:
        folder = result.save(spare / name, scenario=scenario, captures=captures)
    except ResultError as error:
        shutil.rmtree(spare, ignore_errors=True)
        return f"{lost}{error}", False
    return f"what was measured is kept in {folder}", True


def measured(
    scenario: Scenario,
    setup: Setup,
    planned: Planned,
    outcome: _core.Outcome,
    wall_s: float,
    added: Callable[[Result], dict[str, pl.DataFrame]] | None = None,
    cores: Cores = 1,
) -> Result:
    """The core's measurements, with everything else that a result tells.

    ``cores`` were asked for. ``added`` gives the tables with what others than the core know of the run.
    """
    result = Result.from_columns(outcome["tables"], {})
    if added is not None:
        result = replace(result, tables=added(result))
    completion = completion_summary(result.flows)
    summary = {
        "title": scenario.title,
        "version": _core.version(),
        "seed": scenario.run_settings.seed,
        "replication": scenario.run_settings.replication,
        "scenario_sha256": scenario.fingerprint(),
        "topology_sha256": _network_hash(setup),
        "network": list(setup.provenance),
        "warnings": [
            *planned.warnings,
            *warnings(setup, planned.plan),
            *cautions(scenario, setup, planned.plan),
            *_measured(outcome["tables"]),
            *_waiting(outcome["tables"]),
            *_unfinished(completion, scenario.run_settings.until),
            *_full_logs(result),
            *_breaches(setup, outcome.get("breaches", ())),
            *_lost_captures(outcome["lost_captures"]),
            *_divided(cores, outcome),
        ],
        **({"routing": dict(planned.facts)} if planned.facts else {}),
        **outcome["summary"],
        "completion": completion,
        "versions": {"core": _core.version(), "python": platform.python_version(), "polars": pl.__version__},
        "host": platform.node(),
        "started": (datetime.now(UTC) - timedelta(seconds=wall_s)).isoformat(timespec="seconds"),
        "wall_s": wall_s,
    }
    return replace(result, summary=summary, tables={**result.tables, **route_tables(setup, planned.plan)})


def _unfinished(completion: Mapping[str, Any], until: str) -> list[str]:
    """How many flows are unfinished, where they are so many that statistics of the others mislead."""
    note = unfinished_note(completion["done"], completion["unfinished"], until)
    return [] if note is None else [note]


def _network_hash(setup: Setup) -> str:
    """SHA-256 of the network as the engine gets it: nodes and links, with all that a topology fills in."""
    text = json.dumps(setup.network(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _full_logs(result: Result) -> list[str]:
    """Which flows have decided more than their event logs hold."""
    if "log" not in result.tables:
        return []
    full = result.log.filter(pl.col("event") == "log full")
    if full.is_empty():
        return []
    flow, time = full.row(0, named=True)["flow"], full.row(0, named=True)["time_s"]
    name = result.flows.filter(pl.col("flow") == flow)["name"][0]
    others = f" (and {full['flow'].n_unique() - 1} more)" if full["flow"].n_unique() > 1 else ""
    return [
        f"run.log: the log of {name}{others} is full at {time:.6g} s, and what came after is not in it; log "
        "fewer flows, or make run.duration shorter"
    ]


def _breaches(
    setup: Setup, breaches: Iterable[tuple[float, int | None, Sequence[int], tuple[int, int] | None]]
) -> Iterator[str]:
    """Which assumptions of the published schedule of paced senders did not hold."""
    for at_s, link, switches, flows in breaches:
        names = " and ".join(quoted(setup.nodes[switch].name) for switch in switches)
        if link is not None:
            broken = f"flows of {names} share the link {quoted(setup.links[link].name)}"
        else:
            count, segments = flows or (0, 0)
            broken = f"{names} has {count:,} flows for {segments:,} segments"
        yield (
            'controller.application.schedule: "published" holds for the senders of one access switch, as '
            f"many as an interval has segments; at {at_s:.6g} s {broken}, so that queues grow from then on; "
            'take "stretched"'
        )


def _lost_captures(lost: list[tuple[str, float, str]]) -> list[str]:
    """Which captures could not be written to their end."""
    return [
        f"the capture {Path(file).name}, and nothing else, is lost: at {at_s:.6g} s of the run: {why}"
        for file, at_s, why in lost
    ]


def _measured(tables: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What a controller that chooses routes by measured losses has had to do without, if anything."""
    estimates = tables.get("link_estimates")
    if estimates is None:
        return []
    losses = np.asarray(estimates["loss"], dtype=float)
    measured = losses[~np.isnan(losses)]
    if not measured.size:
        return [
            "controller: no link has had an estimate of its loss, so that flows kept their initial routes; a "
            "longer run, more traffic, a shorter statistics_interval or fewer sample_packets gives some"
        ]
    if not measured.any():
        return [
            "controller: no link that was measured loses anything, so that d sqrt(p) is 0 on every path; "
            "flows took the paths of least delay"
        ]
    if not np.asarray(estimates["delay_ms"], dtype=float)[losses > 0].any():
        return [
            "controller.application.delay_granularity: the delay of every link that loses packets is rounded "
            "to 0, so that d sqrt(p) says nothing of its loss; choose a step well below the delays, or 0 ms "
            "for none"
        ]
    return []


def _waiting(tables: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Which multipath connections had no answer on any path when the run ended."""
    connections = tables.get("connections")
    if connections is None:
        return []
    notes = []
    since = np.asarray(connections["stalled_since_s"], dtype=float)
    waiting = np.flatnonzero(~np.isnan(since))
    if waiting.size:
        first = int(waiting[np.argmin(since[waiting])])
        name = tables["flows"]["name"][int(connections["flow"][first])]
        others = f" (and {waiting.size - 1} more)" if waiting.size > 1 else ""
        notes.append(
            f"{name}{others}: no subflow has had an answer since {since[first]:.6g} s; the connection waits "
            "for a path to come back"
        )
    return notes


def capture_into(setup: Setup, folder: Path) -> Setup:
    """The setup with capture files in a folder."""
    captures = [replace(capture, file=str(folder / capture.file)) for capture in setup.captures]
    return setup.replace(captures=captures)
