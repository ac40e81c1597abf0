"""Limits of the shell that are too small to start with: a message, and no abort of a library."""

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from anabranch.errors import CommandError, ResultError
from anabranch.report.damage import damage_told
from anabranch.terminal import start_up

FIRST = Path(__file__).parents[2] / "examples" / "first.toml"


def limited(
    arguments: list[str], folder: Path, address_space_kb: int, threads: str | None = None
) -> subprocess.CompletedProcess[str]:
    """A command under ``ulimit -v``; without the variables by which a user helps himself."""
    environment = {name: value for name, value in os.environ.items() if name != "POLARS_MAX_THREADS"}
    environment |= {} if threads is None else {"POLARS_MAX_THREADS": threads}
    size = address_space_kb * 1024
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "anabranch", *arguments], cwd=folder, env=environment, capture_output=True,
        text=True, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )  # fmt: skip


def test_too_little_address_space_is_a_message(tmp_path: Path) -> None:
    done = limited(["run", str(FIRST), "--out", "r"], tmp_path, 500_000)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "this shell limits address space to 512 MB (ulimit -v), and Anabranch needs 570 MB to start; "
        "raise the limit (ulimit -v 556641)\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_run_fits_into_what_is_asked_for(tmp_path: Path) -> None:
    """One arena of the C library and one thread of Polars: with the defaults it aborts up to 1.1 GB."""
    done = limited(["run", str(FIRST), "--out", "r"], tmp_path, 556_641)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "r" / "report.html").is_file()


def test_threads_that_are_asked_for_need_more(tmp_path: Path) -> None:
    done = limited(["routes", str(FIRST)], tmp_path, 600_000, "8")
    assert done.returncode == 2
    assert "needs 710 MB to start" in done.stderr
    assert "or set POLARS_MAX_THREADS to less than 8" in done.stderr


@pytest.mark.parametrize("value", ["0", "00", "x", "-1", "1025", "99999999999", "9" * 5000])
def test_threads_of_polars_that_cannot_be_are_a_message(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the many threads it starts each, and of 0 it makes a panic."""
    monkeypatch.setenv("POLARS_MAX_THREADS", value)
    with pytest.raises(CommandError, match="in the environment; set it to 1 to 1,024, or unset it"):
        start_up.check_resources()


def test_too_few_threads_are_a_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As where ``ulimit -u`` has room for three more."""
    start, live = threading.Thread.start, []

    def start_few(thread: threading.Thread) -> None:
        if len(live) == 3:
            raise RuntimeError("can't start new thread")
        live.append(thread)
        start(thread)

    limits = tmp_path / "pids.max"
    limits.write_text("12\n")
    monkeypatch.setattr(start_up, "_CGROUP_THREADS", limits)
    monkeypatch.setattr(threading.Thread, "start", start_few)
    monkeypatch.setenv("POLARS_MAX_THREADS", "1")
    with pytest.raises(CommandError, match=r"leaves this user no 9 more threads .*: 12 in all \(ulimit -u"):
        start_up.check_resources()
    assert len(live) == 3
    assert not any(thread.is_alive() for thread in live)
    limits.write_text("max\n")
    start_up.check_resources()


def test_a_page_without_memory_is_not_called_damaged_alone(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="not enough memory"), damage_told(tmp_path):
        raise MemoryError
