"""Completion of the command line in the shells: the scripts, and the answers that they ask for."""

import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from anabranch import _core
from anabranch.__main__ import main
from anabranch.scenario.reading import field_steps
from anabranch.study.fields import unknown_field
from anabranch.terminal.completion import DATA

PROGRAM = Path(sys.executable).with_name("anabranch")

Ask = Callable[..., str]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """What the program prints when a shell's script calls it."""

    def do(instruction: str, **variables: str) -> str:
        for name, value in {**variables, "_ANABRANCH_COMPLETE": instruction}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["anabranch"])
        with suppress(SystemExit):
            main()
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return do


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("bash", "complete -o default -F _anabranch_completion anabranch"),
        ("zsh", "compdef _anabranch_completion anabranch"),
        ("fish", "complete --command anabranch"),
        ("powershell", "Register-ArgumentCompleter -Native -CommandName anabranch"),
    ],
)
def test_the_script_of_each_shell_is_printed(ask: Ask, shell: str, line: str) -> None:
    script = ask(f"source_{shell}")
    assert line in script
    assert f"complete_{shell}" in script


@pytest.mark.parametrize(
    ("shell", "variables"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "anabranch ro"}),
        ("fish", {"_TYPER_COMPLETE_ARGS": "anabranch ro", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}),
        ("powershell", {"_TYPER_COMPLETE_ARGS": "anabranch ro", "_TYPER_COMPLETE_WORD_TO_COMPLETE": "ro"}),
    ],
)
def test_a_command_is_completed(ask: Ask, shell: str, variables: dict[str, str]) -> None:
    answer = ask(f"complete_{shell}", **variables)
    assert "routes" in answer
    assert "report" not in answer


@pytest.mark.skipif(shutil.which("bash") is None, reason="not installed: bash")
def test_bash_completes_with_the_script(ask: Ask) -> None:
    lines = {
        "ro": "routes", "run --se": "--set --seed", "topology li": "list", "run x": "",
        "run x --set run.dur": "run.duration= run.duration=<value>",
        "run x --set routing.scheme = ec": "ecmp",
        "run x --set network.topology = zoo/Abi": "zoo/Abilene",
        "run x --set traffic[3].transport = linux-b": "linux-bbr",
        "run x --set transport.mine.pres": "preset",
        "run x --set transport.": "",
        "run x --set nothing.": "",
        "topology show sndlib/germ": "sndlib/germany50",
        "import --topology zoo/Abi": "zoo/Abilene",
        "export x --to frr-o": "frr-ospf",
        "export x --to = mi": "mininet",
        "run x --figures s": "svg",
        "new cong": "congestion-control",
        "help routi": "routing",
        "examples fir": "first.toml",
        "capture x --format ip": "iperf3",
        "repro": "reproduce",
        "reproduce --qu": "--quick",
    }  # fmt: skip
    script = [ask("source_bash")]
    for words in lines:
        script.append(f"COMP_WORDS=(anabranch {words}) COMP_CWORD={len(words.split())}")
        script.append(f'_anabranch_completion "{PROGRAM}"; echo "${{COMPREPLY[*]}}"')
    done = subprocess.run(  # noqa: S603 - the script that is tested
        ["bash", "-c", "\n".join(script)],  # noqa: S607 - the user's own shell
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    answers = [line.split() for line in done.stdout.splitlines()]
    lines["run x --set transport.mine.pres"] = " ".join(
        f"transport.mine.preset={name}" for name in _core.transport_preset_names()
    )
    assert (answers, done.stderr) == ([answer.split() for answer in lines.values()], "")


def test_the_data_are_those_of_the_program() -> None:
    generator = Path(__file__).parents[2] / "docs" / "generate" / "completion.py"
    spec = importlib.util.spec_from_file_location("completion_data", generator)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert DATA.read_text(encoding="utf-8") == module.text(), "make reference"


def test_a_tab_takes_a_fifth_of_a_second_at_most_and_imports_nothing() -> None:
    """CPU time, the least of three; seen: 0.03 s."""
    asked = {
        **os.environ, "_ANABRANCH_COMPLETE": "complete_bash", "COMP_WORDS": "anabranch\nrun\n--set\nrouti",
        "COMP_CWORD": "3",
    }  # fmt: skip
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([PROGRAM], env=asked, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert "routing.scheme=" in done.stdout.splitlines()
    assert min(seconds) < 0.2
    probe = "import sys; from anabranch.__main__ import main; main(); print('typer' in sys.modules)"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", probe], env=asked, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.endswith("False\n")


def test_every_field_that_is_completed_is_one_of_a_scenario() -> None:
    fields = json.loads(DATA.read_text(encoding="utf-8"))["fields"]
    assert len(fields) > 500
    # Of fields with tables of several kinds that function looks at one.
    named = [field for field in fields if "application.gap." not in field]
    for field in named:
        assert unknown_field(field_steps(field), {}) is None
