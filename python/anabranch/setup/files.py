"""Files beside a scenario: their texts, and the traffic that they list."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch import _core
from anabranch.errors import reason
from anabranch.scenario.files import FILE, series_of
from anabranch.scenario.quantity import Span, quoted
from anabranch.scenario.scenario import Scenario
from anabranch.text.files import open_given

if TYPE_CHECKING:
    from anabranch.topology.traffic import TrafficError, TrafficFile

# The readers of all formats of traffic are imported where a file is read: most scenarios name none.
_MOST_BYTES = 256 * 2**20


def text_of(name: str, base: Path | None) -> str:
    """The text of a file.

    Args:
        name: of the file, as the scenario writes it.
        base: the folder that names are relative to; None for the current one.

    Raises:
        anabranch._core.ProblemError: if it cannot be read, with why.
    """
    file = Path(name) if base is None else base / name
    try:
        with open_given(file, _MOST_BYTES) as stream:
            return stream.read().decode("utf-8-sig")
    except OSError as error:
        why = f"cannot be read: {reason(error)}"
    except UnicodeDecodeError:
        why = "cannot be read: it is no text in UTF-8"
    except ValueError as error:
        why = f"cannot be read: {error}"
    raise _core.ProblemError(f"{quoted(name)} {why}")


@dataclass
class ScenarioFiles:
    """The files of one scenario, as the core asks for them; a file of traffic is read once."""

    base: Path | None
    """The folder that names are relative to; None for the current one."""
    _traffic: dict[str, TrafficFile | None] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)
    """Texts that stand for files, by their names: such as weights that nobody has saved yet."""

    def text(self, name: str) -> str:
        """The text of a file.

        Raises:
            anabranch._core.ProblemError: if it cannot be read, with why.
        """
        return self.made[name] if name in self.made else text_of(name, self.base)

    def traffic(self, name: str) -> TrafficFile | None:
        """The traffic in a file; None for a CSV of rates, which the core reads.

        Raises:
            anabranch._core.ProblemError: if it cannot be had, with why.
        """
        if name not in self._traffic:
            from anabranch.topology.traffic import TrafficError  # noqa: PLC0415

            try:
                self._traffic[name] = traffic_of(name, self.base)
            except TrafficError as error:
                raise _core.ProblemError(_told(error, name)) from None
        return self._traffic[name]

    def notes(self, scenario: Scenario) -> Iterator[str]:
        """Sentences on the files of traffic: what was read, and how much of a series a run plays."""
        for traffic in self._traffic.values():
            yield from () if traffic is None else traffic.notes
        for number, entry in enumerate(scenario.traffic):
            matrix = entry.matrix
            name = "" if matrix is None else matrix.source.removeprefix(FILE)
            series = self._traffic.get(name)
            if matrix is None or matrix.number is not None or series is None or len(series.matrices) < 2:
                continue
            begins = [
                one.start_s if matrix.interval is None else matrix.interval.seconds * place
                for place, one in enumerate(series.matrices)
            ]
            first = entry.start.seconds if isinstance(entry.start, Span) else 0.0
            end = scenario.run_settings.duration.seconds
            played = sum(begin is not None and first + begin < end for begin in begins)
            yield f"traffic[{number}]: of {len(begins)} matrices of {name}, {played} begin within the run."


def traffic_of(name: str, base: Path | None) -> TrafficFile | None:
    """The traffic in a file, or in the files that a folder or a pattern stands for.

    Args:
        name: relative to ``base``.
        base: a folder; None for the current one.

    Returns:
        What was read; None for a CSV of rates, which the core reads.

    Raises:
        TrafficError: if it cannot be had.
    """
    from anabranch.topology.traffic import load_series, load_traffic  # noqa: PLC0415

    series = series_of((base or Path()) / name)
    return load_traffic(name, base) if series is None else load_series(name, series)


def matrices_of(name: str, base: Path | None) -> list[tuple[str, int | None, str]]:
    """The matrices that a name stands for: file, number in it if it has several, and label of each.

    Args:
        name: of a file, a folder or a pattern, relative to ``base``.
        base: a folder; None for the current one.

    Raises:
        ValueError: if they cannot be had, with why.
    """
    from anabranch.topology.traffic import TrafficError, load_traffic  # noqa: PLC0415

    folder = base or Path()
    series = series_of(folder / name)
    files = [name] if series is None else [os.path.relpath(file, folder) for file in series]
    if not files:
        raise ValueError(f"{quoted(name)}: there are no such files")
    entries: list[tuple[str, int | None, str]] = []
    for file in files:
        try:
            traffic = load_traffic(file, base)
        except TrafficError as error:
            raise ValueError(_told(error, file)) from None
        if traffic is not None and not traffic.matrices:
            raise ValueError(f"{quoted(file)} ({traffic.format}) has no traffic matrix")
        labels = [Path(file).stem] if traffic is None else [matrix.label for matrix in traffic.matrices]
        for number, label in enumerate(labels, start=1):
            entries.append(
                (file, number if len(labels) > 1 else None, label or f"{Path(file).stem} {number}")
            )
    counts = Counter(label for *_, label in entries)
    return [
        (file, number, label if counts[label] == 1 else f"{label}, matrix {place}")
        for place, (file, number, label) in enumerate(entries, start=1)
    ]


def _told(error: TrafficError, name: str) -> str:
    """The message of a reader, which begins with the file, and its line if there is one."""
    remedy = f"; {error.remedy}" if error.remedy else ""
    if error.where.startswith(name) and error.where != name:
        return f"{error.where}: {error.what}{remedy}"
    colon = "" if error.what.startswith("cannot be read") else ":"
    return f"{quoted(name)}{colon} {error.what}{remedy}"
