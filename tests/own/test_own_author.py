"""Whoever has written code is not asked, an answer is kept, and commands run no more than they need."""

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tries
from other_user import anabranch, as_user, users_folder

from anabranch import AnabranchError, Scenario
from anabranch.errors import ConsentError
from anabranch.export.write import export

RUN = ("run", "s.toml", "--no-page", "--out", "r")


@pytest.fixture
def user() -> Iterator[Path]:
    """The home of a user who is not root."""
    with users_folder() as folder:
        yield folder


def laid(folder: Path) -> Path:
    """A scenario whose code leaves ``ran``, in a folder of the user's."""
    tries.lay(folder, x__py=tries.hostile(folder))
    if os.geteuid() == 0:
        for file in (folder, *folder.iterdir()):
            os.chown(file, folder.parent.stat().st_uid, -1)
    return folder


def test_the_author_is_not_asked_and_neither_are_his_results(user: Path) -> None:
    folder = laid(user / "work")
    for command in (RUN, ("run", "r/scenario.toml", "--no-page", "--out", "again")):
        done = as_user(anabranch(*command), folder)
        assert done.returncode == 0, done.stderr
        assert (folder / "ran").exists()
        (folder / "ran").unlink()
    answers = folder / ".config" / "anabranch" / "trusted-code"
    assert answers.stat().st_mode & 0o777 == 0o600
    assert answers.parent.stat().st_mode & 0o777 == 0o700


def test_trust_is_kept_by_content(user: Path) -> None:
    laid(user / "got")
    os.chown(user, (user / "got").stat().st_uid, -1)
    (user / "work").mkdir()
    os.chown(user / "work", (user / "got").stat().st_uid, -1)
    command = ("routes", "../got/s.toml"), ("run", "../got/s.toml", "--no-page", "--out", "r")
    statuses = [
        as_user(anabranch(*command[1], *more), user / "work").returncode for more in ((), ("--trust",), ())
    ]
    assert statuses == [2, 0, 0]
    (user / "got" / "x.py").write_text(tries.hostile(user / "got") + "# another\n")
    assert as_user(anabranch(*command[1]), user / "work").returncode == 2
    assert as_user(anabranch(*command[0]), user / "work").returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it is about root")
def test_root_is_asked_about_his_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tries.lay(tmp_path, x__py=tries.hostile(tmp_path))
    with pytest.raises(ConsentError, match="it would run as root"):
        Scenario.load(file).run()
    assert not (tmp_path / "ran").exists()
    Scenario.load(file).run(trust=True)
    Scenario.load(file).run()


@pytest.mark.parametrize(("answer", "runs"), [(b"\n", False), (b"no\n", False), (b"y\n", True)])
def test_a_terminal_is_asked_and_the_default_is_no(answer: bytes, runs: bool, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    tries.lay(tmp_path / "got", x__py=tries.hostile(tmp_path) + f"# {answer!r}\n")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path / "work")
        program = [sys.executable, "-m", "anabranch", "run", "../got/s.toml", "--no-page", "--out", "r"]
        os.execv(program[0], program)  # noqa: S606 - our own program
    message, asked = b"", False
    while True:
        try:
            part = os.read(terminal, 1000)
        except OSError:
            break
        if not part:
            break
        message += part
        if b"[y/N]" in message and not asked:
            asked = True
            os.write(terminal, answer)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    assert asked
    assert b"x.py, " in message
    assert b"SHA-256 " in message
    assert (status, (tmp_path / "ran").exists()) == ((0, True) if runs else (2, False))
    # A yes is kept, a no is not.
    command = [sys.executable, "-m", "anabranch", "run", "../got/s.toml", "--no-page", "--out", "again"]
    again = subprocess.run(command, cwd=tmp_path / "work", stdin=subprocess.DEVNULL, check=False)  # noqa: S603
    assert again.returncode == (0 if runs else 2)


PLANS = {
    "routes": lambda scenario, _: scenario.routes(trust=True),
    "worst_case": lambda scenario, _: scenario.worst_case(trust=True),
    "export": lambda scenario, folder: export(scenario.trusted(), "openflow", folder / "out"),
    "check_forwarding": lambda scenario, _: scenario.check_forwarding(),
}


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("kind", tries.KINDS)
def test_plans_run_routing_schemes_alone(kind: str, plan: str, tmp_path: Path) -> None:
    harmless = tries.HARMLESS if kind == "control" else tries.SCHEME
    demand = "" if kind == "controller" else tries.DEMAND
    file = tries.lay(tmp_path, text=tries.KINDS[kind] + demand, x__py=tries.hostile(tmp_path, harmless))
    refused = False
    try:
        PLANS[plan](Scenario.load(file), tmp_path)
    except AnabranchError:
        refused = True
    # A scheme without paths is refused when it has run; what a controller will do, nobody knows before.
    assert refused == (kind in ("scheme", "controller") and (kind, plan) != ("scheme", "check_forwarding"))
    assert (tmp_path / "ran").exists() == (kind == "scheme" and plan != "check_forwarding")


def test_an_export_of_routes_of_its_own_needs_no_control(tmp_path: Path) -> None:
    file = tries.lay(tmp_path, x__py=tries.hostile(tmp_path))
    text = file.read_text().replace('size = "3 kB"', 'size = "3 kB"\nrouting = { metric = "delay" }')
    file.write_text(text)
    export(Scenario.load(file), "openflow", tmp_path / "out")
    assert not (tmp_path / "ran").exists()
