"""Workers of a study where processes inherit nothing, as on Windows: same results, no stranger gets in."""

import os
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Client
from pathlib import Path

import pytest

from anabranch.study import Study, processes
from anabranch.study.check import design
from anabranch.study.local import run_locally

from .conftest import STUDY, Write, contents


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are started as on Windows: pass_fds and masks of signals are not there."""
    monkeypatch.setattr(processes, "INHERITS", False)
    plain = subprocess.Popen

    def without_inheritance(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        assert not {"pass_fds", "preexec_fn"} & options.keys()
        return plain(command, **options)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(subprocess, "Popen", without_inheritance)
    monkeypatch.delattr("signal.pthread_sigmask")


def test_spawned_workers_leave_the_bytes_of_those_that_inherit(
    write: Write, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    study = Study.load(write('keep = "tables"\n' + STUDY))
    study.run(jobs=2, out=tmp_path / "inherited")
    request.getfixturevalue("spawned")
    study.run(jobs=2, out=tmp_path / "spawned")
    assert contents(tmp_path / "spawned") == contents(tmp_path / "inherited")


@pytest.mark.usefixtures("spawned")
def test_spawned_workers_end_with_the_study(write: Write) -> None:
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    before = set(listed.read_text().split())
    built = design(Study.load(write(STUDY)))
    outcomes = run_locally(built, range(built.runs), 2)
    next(outcomes)
    assert len(set(listed.read_text().split()) - before) == 2
    outcomes.close()  # type: ignore[attr-defined]
    assert set(listed.read_text().split()) == before


@pytest.mark.usefixtures("spawned")
def test_a_worker_that_ends_as_it_starts_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "python_command", lambda _: [sys.executable, "-c", "raise SystemExit(7)"])
    with pytest.raises(OSError, match="ended as it started, with exit status 7"):
        processes.started()


@pytest.mark.usefixtures("spawned")
def test_a_caller_without_the_key_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_ANSWER_S", 0.3)
    plain, refused = socket.create_server, []

    def with_strangers(*arguments: object, **options: object) -> socket.socket:
        server = plain(*arguments, **options)  # type: ignore[arg-type]
        address = server.getsockname()
        silent = socket.create_connection(address)

        def guess() -> None:
            try:
                Client(address, authkey=b"a guess")
            except (OSError, EOFError, processes.AuthenticationError) as error:
                refused.append(error)
            silent.close()

        threading.Thread(target=guess).start()
        return server

    monkeypatch.setattr(socket, "create_server", with_strangers)
    process, connection = processes.started()
    try:
        assert connection.recv() == "hello"
        assert refused
    finally:
        connection.close()
        process.wait(timeout=30)
