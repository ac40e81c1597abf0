"""Failures looked at piece by piece, by threads of this machine or on a Dask cluster.

What is done is kept in a folder at once, so that a table of failures that was stopped goes on where it was:

loads.json       what is looked at: version, kinds of failures, fingerprint of the scenario and its files
failures.jsonl   a line for each piece that is done, in the order in which they were
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Self

from anabranch import _core
from anabranch.errors import Problem, ResultError, StudyError, reason
from anabranch.plans.failure_loads import (
    FailureEvaluator,
    FailurePiece,
    LookProgress,
    gathered,
    joined,
    outcomes,
)
from anabranch.plans.worst_loads import WorstLoads, judge_of, worst_loads
from anabranch.process.signals import deferred
from anabranch.results.folders import Addition, read_inside
from anabranch.results.stored import REMEDY, read_json
from anabranch.routing.router_failures import Failure
from anabranch.scenario.files import code_references
from anabranch.scenario.provenance import Agreement, Provenance
from anabranch.scenario.scenario import Scenario
from anabranch.study.files import InputFiles, unpacked
from anabranch.study.journal import append

JOURNAL: Final = "failures.jsonl"
_MANIFEST: Final = "loads.json"
_FORMAT: Final = "anabranch-loads"
_BEGINNING: Final = b'{"piece": '
"""Of every line of the journal."""
_PIECE: Final = 32
"""Failures of a piece: a line for each would have the loads of all links each time."""


@dataclass(frozen=True, slots=True)
class FailureDesign:
    """The failures to look at in a scenario, wherever that takes place."""

    data: dict[str, Any]
    """The scenario as plain data."""
    origin: str | None
    """Name of the scenario's file, for messages."""
    files: Mapping[str, bytes]
    """Contents of the files that it names, by path."""
    kinds: str
    """Of failures, as they are asked for."""
    agreement: Agreement | None
    """What may run of the code that it names; None where it names none."""

    @classmethod
    def of(cls, scenario: Scenario, kinds: str) -> FailureDesign:
        """The failures of these kinds in a scenario.

        Raises:
            StudyError: a file that it names cannot be read.
            ConsentError: nobody has agreed to code that would run.
        """
        files = InputFiles(scenario.base)
        data = scenario.data(given_only=True)
        references = list(code_references(data))
        agreement = None
        if references:
            from anabranch.own.consent import agreement_of  # noqa: PLC0415 - few scenarios have such code

            agreement = agreement_of(scenario.provenance, references, scenario.base)
        try:
            adopted = files.adopt(data)
        except ValueError as error:
            raise StudyError([Problem("", str(error))], scenario.origin) from None
        return cls(adopted, scenario.origin, files.contents, kinds, agreement)

    def manifest(self) -> dict[str, Any]:
        """The words of the folder about it."""
        contents = {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}
        text = json.dumps([self.data, contents], sort_keys=True, ensure_ascii=False, default=str)
        return {
            "format": _FORMAT,
            "version": _core.version(),
            "failures": self.kinds,
            "scenario": hashlib.sha256(text.encode()).hexdigest(),
        }


def kept_loads(
    scenario: Scenario,
    kinds: str,
    *,
    out: Path | None = None,
    dask: str | None = None,
    jobs: int | None = None,
    progress: LookProgress | None = None,
) -> WorstLoads:
    """The worst case of a scenario with its failures; see :func:`~anabranch.plans.worst_loads.worst_loads`.

    Args:
        scenario: with ``[routing.demand]``.
        kinds: of failures.
        out: a folder that keeps the failures that are done; the same call goes on from there.
        dask: address of the scheduler of a cluster whose workers look at failures; this machine if None.
        jobs: threads of this machine; one for each core if None.
        progress: told of the failures that are done, and of all.

    Raises:
        ScenarioError: as of ``worst_loads``.
        StudyError: the folder holds something else or cannot be written, or the cluster is not there.
    """
    if dask is not None and jobs is not None:
        raise StudyError([Problem("jobs", "the cluster says how many workers there are; leave it out")])
    design = FailureDesign.of(scenario, kinds)
    with ExitStack() as stack:
        kept = None if out is None else stack.enter_context(_Kept(out, design))

        def look(
            evaluator: FailureEvaluator,
            failures: Sequence[Failure],
            jobs: int | None,
            progress: LookProgress | None,
        ) -> FailurePiece:
            pieces = {} if kept is None else kept.read(failures, evaluator.arcs)
            left = [piece for piece in range(-(-len(failures) // _PIECE)) if piece not in pieces]
            done = sum(len(piece.loads) for piece in pieces.values())
            if progress is not None:
                progress(done, len(failures))
            made = _here(evaluator, failures, left, jobs) if dask is None else _on_cluster(design, left, dask)
            for place, piece in made:
                if kept is not None:
                    kept.append(place, piece)
                pieces[place] = piece
                done += len(piece.loads)
                if progress is not None:
                    progress(done, len(failures))
            return joined(pieces[place] for place in sorted(pieces))

        return worst_loads(scenario, failures=kinds, jobs=jobs, progress=progress, look=look)


def _part(failures: Sequence[Failure], piece: int) -> Sequence[Failure]:
    """The failures of a piece."""
    return failures[piece * _PIECE : (piece + 1) * _PIECE]


def _here(
    evaluator: FailureEvaluator, failures: Sequence[Failure], pieces: Sequence[int], jobs: int | None
) -> Iterator[tuple[int, FailurePiece]]:
    """Pieces by threads of this machine."""
    for piece in pieces:
        yield piece, gathered(outcomes(evaluator, _part(failures, piece), jobs))


def _on_cluster(
    design: FailureDesign, pieces: Sequence[int], address: str
) -> Iterator[tuple[int, FailurePiece]]:
    """Pieces by the workers of a cluster."""
    if not pieces:
        return
    from anabranch.study.cluster import on_cluster  # noqa: PLC0415 - stands on an optional package

    yield from on_cluster(design, _piece_on_worker, pieces, address, _lost)


def _lost(piece: int) -> tuple[int, FailurePiece]:
    message = (
        f"the worker was lost each time that failures from {piece * _PIECE + 1:,} on were looked at; what is "
        "done is kept, and the same command goes on from there"
    )
    raise StudyError([Problem("dask", message)])


_held = threading.local()


def _piece_on_worker(design: FailureDesign, piece: int) -> tuple[int, FailurePiece]:
    """A piece, on a worker, which plans the network once."""
    if getattr(_held, "design", None) is not design:
        with unpacked(design.files) as folder:
            provenance = Provenance.worker(design.agreement)
            scenario = Scenario.from_data(
                design.data, origin=design.origin, base=folder, provenance=provenance
            )
            _held.judge = judge_of(scenario, design.kinds)
        _held.design = design
    evaluator, failures = _held.judge
    return piece, gathered(map(evaluator.outcome, _part(failures, piece)))


class _Kept:
    """The folder of a table of failures, open for one process at a time."""

    def __init__(self, folder: Path, design: FailureDesign) -> None:
        self._folder = folder
        self._manifest = design.manifest()
        self._addition = Addition(folder, "loads", (_MANIFEST, JOURNAL), growing=(JOURNAL,))
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._addition.open()
            self._check()
            self._addition.grow()
            self._file = self._addition.open_growing(JOURNAL)
            text = json.dumps(self._manifest, indent=2)
            self._addition.write({_MANIFEST: f"{text}\n".encode()})
        except BaseException as error:
            self.__exit__()
            if isinstance(error, ResultError):
                raise StudyError([Problem("", str(error))]) from None
            if isinstance(error, OSError):
                raise self._unwritable(error) from None
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with deferred():
            if self._file is not None:
                self._file.close()
            self._addition.close()

    def _check(self) -> None:
        """Makes sure that the folder is of this scenario and these failures.

        Raises:
            StudyError: if it is of others.
        """
        try:
            there = read_json(read_inside(self._folder, _MANIFEST))
        except OSError:
            return
        except ValueError as error:
            raise StudyError([Problem(_MANIFEST, f"{error}: {REMEDY} in another folder")]) from None
        if not isinstance(there, dict) or there.get("format") != _FORMAT or there == self._manifest:
            return
        words = {
            "version": f"version {there.get('version')}",
            "failures": f'failures "{there.get("failures")}"',
            "scenario": "another scenario, or other files of it",
        }
        differs = " and ".join(words[key] for key in words if there.get(key) != self._manifest[key])
        message = f"holds loads of {differs}; choose another folder"
        raise StudyError([Problem("", message)], str(self._folder))

    def read(self, failures: Sequence[Failure], arcs: int) -> dict[int, FailurePiece]:
        """The pieces that are done. What a crash has cut off goes; a line that cannot be is done again.

        Raises:
            StudyError: if the file cannot be read or written.
        """
        assert self._file is not None  # noqa: S101 - open from __enter__ on
        pieces = dict[int, FailurePiece]()
        try:
            self._file.seek(0)
            content = self._file.read()
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content):
                self._file.truncate(len(whole))
        except OSError as error:
            raise self._unwritable(error) from None
        for line in whole.split(b"\n")[:-1]:
            try:
                place, piece = _read_piece(line, failures, arcs)
            except (ValueError, TypeError, KeyError, IndexError):
                continue
            pieces[place] = piece
        return pieces

    def append(self, place: int, piece: FailurePiece) -> None:
        """Adds a piece.

        Raises:
            StudyError: if it cannot be written; what was written before stays.
        """
        line = json.dumps({"piece": place, **piece.data()}) + "\n"
        try:
            append(self._file, line.encode())
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> StudyError:
        message = (
            f"cannot be written: {reason(error)}; the failures that are in it are kept, and the same command "
            "goes on from there"
        )
        return StudyError([Problem("", message)], str(self._folder))


def _read_piece(line: bytes, failures: Sequence[Failure], arcs: int) -> tuple[int, FailurePiece]:
    """A line of the journal.

    Raises:
        ValueError, TypeError, KeyError, IndexError: it is of none of these failures, or has what no line has.
    """
    entry = read_json(line)
    place = entry["piece"]
    expected = _part(failures, place)
    if not isinstance(place, int) or place < 0 or not expected:
        raise ValueError("is of no piece")
    piece = FailurePiece.of_data(entry)
    names = [(load.kind, load.name) for load in piece.loads]
    if len(piece.by) != arcs or names != [(one.kind, one.name) for one in expected]:
        raise ValueError("is of other failures")
    return place, piece
