"""Signals, full disks and readers that go away: what is measured is kept, and no traceback is seen."""

import importlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from anabranch import Result, Scenario, run
from anabranch.errors import ResultError
from anabranch.process.signals import deferred, ending
from anabranch.terminal import cli

from .conftest import SMALL

LONG = (
    SMALL.replace("2 s", "100000 s")
    + """
[[capture]]
file = "left1.pcapng"
host = "left1"
snap_length = "1 B"
"""
)

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a run that takes long, with a folder of its own for temporary files, and waits until it runs."""
    (tmp_path / "long.toml").write_text(LONG)
    (tmp_path / "temporary").mkdir()
    begun: list[subprocess.Popen[str]] = []

    def call(*arguments: str) -> subprocess.Popen[str]:
        begun.append(
            subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", "anabranch", "run", "long.toml", "--out", "out", *arguments],
                cwd=tmp_path,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
            )
        )
        limit = time.monotonic() + 60
        while not any(file.stat().st_size for file in tmp_path.glob(".anabranch-*/new/*.pcapng")):
            assert time.monotonic() < limit
            assert begun[-1].poll() is None, begun[-1].communicate()
            time.sleep(0.02)
        return begun[-1]

    yield call
    for process in begun:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("numbers", "status"),
    [
        ([signal.SIGTERM], 143),
        ([signal.SIGHUP], 129),
        ([signal.SIGINT, signal.SIGINT, signal.SIGINT], 130),
        ([signal.SIGINT, signal.SIGTERM], 130),
    ],
)
def test_a_signal_ends_a_run_and_keeps_what_it_has(
    numbers: list[int], status: int, start: Start, tmp_path: Path
) -> None:
    process = start("--no-page")
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.02)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (
        status, "interrupted; what was measured until then is in out\n",
    )  # fmt: skip
    assert Result.load(tmp_path / "out").interrupted
    assert (tmp_path / "out" / "left1.pcapng").stat().st_size > 0
    assert list((tmp_path / "temporary").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.toml", "out", "temporary"]


def test_ctrl_c_while_a_result_is_saved_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def press_twice(*_: object, **__: object) -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

    monkeypatch.setattr("anabranch.report.run_folder.write_run_folder", press_twice)
    with pytest.raises(KeyboardInterrupt, match=r"what was measured is in .*out"):
        run(Scenario.loads(SMALL), out=tmp_path / "out")
    assert not Result.load(tmp_path / "out").interrupted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_during_the_imports_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)\n")
    done = subprocess.run(
        [sys.executable, "-m", "anabranch", "--version"], capture_output=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_ctrl_c_waits_for_an_import_and_for_compiled_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Polars panics where Python code that it calls is interrupted; pydantic makes another error of it."""
    press = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "soon.py").write_text(f"{press}time.sleep(0.2)\n")
    (tmp_path / "never.py").write_text(f"{press}while True:\n    time.sleep(0.01)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("anabranch.process.signals._FRAGILE_S", 0.5)
    over: list[object] = []

    def pressed(number: int) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return number + 1

    for fragile in (
        lambda: importlib.import_module("soon").__name__,
        lambda: importlib.import_module("never").__name__,
        lambda: pl.Series([1]).map_elements(pressed, return_dtype=pl.Int64).to_list(),
    ):

        def app(call: Callable[[], object] = fragile, **_: object) -> None:
            over.append(call())
            time.sleep(5)

        monkeypatch.setattr(cli, "_with_one", lambda _, replaced=app: replaced)
        begun_s = time.monotonic()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert (ended.value.code, time.monotonic() - begun_s < 2) == (130, True)
    assert over == ["soon", [2]]
    assert capsys.readouterr().err == ""


def test_ctrl_c_where_no_thread_can_be_started_comes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As under a limit of memory, which has no room for another stack."""
    press = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "threadless.py").write_text(f"{press}while True:\n    time.sleep(0.01)\n")
    monkeypatch.syspath_prepend(tmp_path)

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt), ending():
        importlib.import_module("threadless")


def test_ctrl_c_while_python_can_raise_nothing_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    class Collected:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def collect() -> None:
        with ending():
            collected = Collected()
            del collected
            time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        collect()
    assert capsys.readouterr().err == ""


def test_a_further_ctrl_c_takes_no_words_from_a_program_that_ends() -> None:
    with ending():
        with deferred() as signals:
            signal.raise_signal(signal.SIGINT)
            signals.answered = True
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("redirection", ["| true", "| head -c 1", ">&-"])
def test_whoever_reads_may_go(redirection: str, small: Path, tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S602 - our own program
        f"{sys.executable} -m anabranch run {small.name} --no-page --out out {redirection}",
        shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert not Result.load(tmp_path / "out").interrupted


def test_a_full_disk_is_told_and_leaves_nothing(small: Path, tmp_path: Path) -> None:
    """No file may be larger than one of the first tables, there and in the folder for temporary files."""
    (tmp_path / "temporary").mkdir()
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "anabranch", "run", small.name, "--out", "out"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        # A limit cuts bytecode, too, without a word.
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary"), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "out: cannot be written: File too large; what was measured is lost, because"
    )
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["small.toml", "temporary"]


def test_a_full_temporary_folder_loses_with_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    monkeypatch.setattr("anabranch.results.folders.Replacement.put", _full)
    with pytest.raises(
        ResultError, match=r"No space left on device; what was measured is lost, .*No such file"
    ):
        run(Scenario.loads(SMALL), out=tmp_path / "out", page=False)


def _full(_: object, _origin: object = None) -> None:
    raise OSError(28, "No space left on device")
