"""Whether the memory that is free holds a run: said before any of it is taken."""

from __future__ import annotations

from pathlib import Path

from anabranch.errors import Problem, ScenarioError
from anabranch.setup.model import Setup

FLOW_BYTES = 1_800
"""Of a flow with few packets: both ends, its setup and its row of the tables. Measured: 1,700 to 1,800 bytes
for each flow of ``cubic`` between 5,000 and 50,000 of them."""
_ROW_BYTES = 110
"""Of a row of a series; measured with 1,000,000 rows."""
_ASKED_FROM = 64_000_000
"""Less than the package itself takes: the short runs of a study need not ask the system each time."""
_MEMINFO = Path("/proc/meminfo")
_LIMIT, _USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
_PROCESS_LIMITS, _PROCESS = Path("/proc/self/limits"), Path("/proc/self/status")


def check_memory(setup: Setup, origin: str | None) -> None:
    """Refuses a run that needs more memory than is free. Where the system does not say, nothing is refused.

    The estimate is a lower bound: packets that wait, logs and captures come on top.

    Args:
        setup: the run.
        origin: the scenario's file, for the message.

    Raises:
        ScenarioError: with the estimate, and what makes the run smaller.
    """
    flows = len(setup.flows) + len(setup.datagrams)
    probes = setup.probes
    samples = 0 if probes.interval is None else setup.duration // probes.interval
    rows = samples * (flows * probes.flows + len(setup.links) * probes.links)
    in_flows, in_rows = flows * FLOW_BYTES, rows * _ROW_BYTES
    if in_flows + in_rows < _ASKED_FROM:
        return
    free = free_bytes()
    if free is None or in_flows + in_rows <= free:
        return
    has = f"about {_gigabytes(in_flows + in_rows)} of memory, and {_gigabytes(free)} are free"
    if in_rows > in_flows:
        place = "run.sample_interval"
        message = f"{rows:,} rows of series need {has}; sample less often, or set flow_series to false"
    else:
        place = "traffic"
        message = f"{flows:,} flows need {has}; simulate fewer flows, or take a machine with more memory"
    raise ScenarioError([Problem(place, message)], origin)


def free_bytes() -> int | None:
    """Memory that this process may still take; None where the system does not say."""
    bounds = [bound for bound in (_of_machine(), _of_container(), _of_process()) if bound is not None]
    return min(bounds, default=None)


def _of_machine() -> int | None:
    """What Linux believes can be had without swapping."""
    available = _entry(_MEMINFO, "MemAvailable:").split()
    return int(available[0]) * 1024 if available else None


def _of_container() -> int | None:
    """What its control group leaves a process (cgroup v2)."""
    limit, used = _lines(_LIMIT), _lines(_USED)
    if not limit or not used or not limit[0].strip().isdigit():
        return None
    return max(0, int(limit[0]) - int(used[0]))


def _of_process() -> int | None:
    """What a limit of the address space (``ulimit -v``) leaves this process."""
    limit = _entry(_PROCESS_LIMITS, "Max address space").split()
    used = _entry(_PROCESS, "VmSize:").split()
    if not limit or not used or not limit[0].isdigit():
        return None
    return max(0, int(limit[0]) - int(used[0]) * 1024)


def _entry(file: Path, name: str) -> str:
    """What stands behind a name in a file of the system; nothing where it is not there."""
    values = (line.removeprefix(name) for line in _lines(file) if line.startswith(name))
    return next(values, "")


def _lines(file: Path) -> list[str]:
    """The lines of a file of the system; none where there is no such file."""
    try:
        return file.read_text(encoding="ascii").splitlines()
    except OSError:
        return []


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
