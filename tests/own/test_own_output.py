"""What code of the user's own prints, and that it ends no process: through the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tries

PRINTS = """
import ctypes, os, signal, sys
print("\\033]0;title\\007loading")
LOAD
from anabranch.own import CongestionControl
class C(CongestionControl):
    def on_ack(self, ack):
        print("\\033[2J", end="")
        sys.stdout.buffer.write(b"\\x1b[31m\\n")
        print("\\u202e", file=sys.stderr)
        print("\\033[3J", file=sys.__stdout__)
        print("\\033[3J", file=sys.__stderr__)
        HOOK
    def on_loss(self, episode): pass
"""
STUDY = """
scenario = "s.toml"
output = { figures = [], spreadsheet = false }
[[factor]]
field = "run.seed"
levels = [1, 2]
"""
ENDS = {
    "sys.exit(7)": "SystemExit: it would end the program that runs it, with status 7",
    "quit()": "SystemExit: it would end the program that runs it, with status 0",
    "raise SystemExit('enough')": "SystemExit: enough",
    "raise BaseException('none of ours')": "BaseException: none of ours",
    "os._exit(7)": "os._exit(7) would end the program",
    "os.abort()": "os.abort() would end the program",
    "os.kill(os.getpid(), signal.SIGKILL)": "would end the program",
    "os.killpg(os.getpgrp(), signal.SIGTERM)": "would end the program",
    "signal.raise_signal(signal.SIGTERM)": "would end the program",
    "signal.setitimer(signal.ITIMER_VIRTUAL, .001); sum(range(10**7))": "its timer (SIGVTALRM) would end the",
    "signal.alarm(1); import time; time.sleep(3)": "its timer (SIGALRM) would end the program",
    "os.execv('/bin/true', ['true'])": "os.execv('/bin/true', ['true']) would end the program",
}


def lay(folder: Path, load: str = "", hook: str = "pass") -> None:
    """A scenario and a study with code that prints, and does something when it is loaded or called."""
    tries.lay(folder, x__py=PRINTS.replace("LOAD", load).replace("HOOK", hook))
    (folder / "study.toml").write_text(STUDY)


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line, which trusts the code."""
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "anabranch", *arguments, "--trust"],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False, start_new_session=True,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip


COMMANDS = {
    "run": ("run", "s.toml", "--no-page", "--out", "r"),
    "study": ("study", "study.toml", "--jobs", "2", "--out", "st"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_it_prints_passes_the_filter_and_spoils_no_document(command: str, tmp_path: Path) -> None:
    lay(tmp_path)
    done = call(tmp_path, *COMMANDS[command], "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["folder"] in ("r", "st")
    assert "\N{REPLACEMENT CHARACTER}]0;title\N{REPLACEMENT CHARACTER}loading" in done.stderr
    assert "\N{REPLACEMENT CHARACTER}[31m" in done.stderr
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout + done.stderr)


def test_what_a_scheme_prints_passes_the_filter_too(tmp_path: Path) -> None:
    code = tries.SCHEME.replace("return []", "print('\\033[2J'); import os; os._exit(7)")
    tries.lay(tmp_path, text=tries.KINDS["scheme"], x__py=code)
    done = call(tmp_path, "routes", "s.toml", "--json")
    assert done.returncode == 2
    assert not done.stdout
    assert "\x1b" not in done.stderr
    assert "os._exit(7) would end the program" in done.stderr


@pytest.mark.parametrize(
    "code", ["sys.stdout.close(); print('still')", "print('still'); sys.stdout.detach(); sys.stdout = None"]
)
def test_a_stream_that_the_code_closes_stays_open_for_others(code: str, tmp_path: Path) -> None:
    tries.lay(tmp_path, x__py=f"import sys\n{code}\n{tries.HARMLESS}")
    done = call(tmp_path, *COMMANDS["run"], "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["folder"] == "r"
    assert done.stderr.startswith("still")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("when", ["load", "hook"])
def test_an_end_of_the_process_is_a_message(when: str, end: str, tmp_path: Path) -> None:
    lay(tmp_path, **{when: end})
    done = call(tmp_path, *COMMANDS["run"])
    assert done.returncode == 2
    assert ENDS[end] in done.stderr
    assert 'x.py", line' in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.toml", "study.toml", "x.py"]


def test_a_worker_that_is_lost_all_the_same_is_told_with_its_run(tmp_path: Path) -> None:
    lay(tmp_path, hook="ctypes.CDLL(None)._exit(7)")
    done = call(tmp_path, *COMMANDS["study"])
    assert "failed" in done.stdout + done.stderr
    journal = (tmp_path / "st" / "journal.jsonl").read_text()
    assert "its process was lost 3 times, the last time by exit status 7" in journal


def test_a_process_that_it_has_forked_ends_as_it_likes(tmp_path: Path) -> None:
    fork = "child = os.fork(); child or os._exit(3); assert os.waitpid(child, 0)[1] >> 8 == 3"
    lay(tmp_path, load=fork)
    done = call(tmp_path, *COMMANDS["run"])
    assert done.returncode == 0, done.stderr


def test_a_forked_process_does_not_go_on_with_the_run(tmp_path: Path) -> None:
    fork = "os.path.exists('forked') or (open('forked', 'w').close(), os.fork())"
    lay(tmp_path, hook=fork)
    done = call(tmp_path, *COMMANDS["run"], "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["folder"] == "r"
    assert "cannot be written" not in done.stderr


def test_no_threads_for_polars_are_a_message(tmp_path: Path) -> None:
    lay(tmp_path)
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "anabranch", *COMMANDS["run"]],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "POLARS_MAX_THREADS": "0"},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "POLARS_MAX_THREADS is '0' in the environment; set it to 1 to 1,024, or unset it\n"
