"""Files beside a scenario: their texts, and the traffic that they list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from anabranch import _core
from anabranch.errors import reason
from anabranch.scenario.quantity import quoted
from anabranch.topology.traffic import TrafficError, TrafficFile, load_traffic

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
        if file.exists() and not file.is_file():
            # A device or a pipe may never end.
            why = "cannot be read: it is not a file"
        elif file.stat().st_size > _MOST_BYTES:
            why = "is larger than 256 MiB, the most that is read"
        else:
            return file.read_text(encoding="utf-8-sig")
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

    def text(self, name: str) -> str:
        """The text of a file.

        Raises:
            anabranch._core.ProblemError: if it cannot be read, with why.
        """
        return text_of(name, self.base)

    def traffic(self, name: str) -> TrafficFile | None:
        """The traffic in a file; None for a CSV of rates, which the core reads.

        Raises:
            anabranch._core.ProblemError: if it cannot be had, with why.
        """
        if name not in self._traffic:
            try:
                self._traffic[name] = load_traffic(name, self.base)
            except TrafficError as error:
                raise _core.ProblemError(_told(error, name)) from None
        return self._traffic[name]

    def notes(self) -> Iterator[str]:
        """What was read from files of traffic, in sentences."""
        for traffic in self._traffic.values():
            yield from () if traffic is None else traffic.notes


def _told(error: TrafficError, name: str) -> str:
    """The message of a reader, which begins with the file, and its line if there is one."""
    remedy = f"; {error.remedy}" if error.remedy else ""
    if error.where.startswith(name) and error.where != name:
        return f"{error.where}: {error.what}{remedy}"
    colon = "" if error.what.startswith("cannot be read") else ":"
    return f"{quoted(name)}{colon} {error.what}{remedy}"
