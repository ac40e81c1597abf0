"""Completion of the command line in the shells: the scripts, and the answers that they ask for."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.terminal.cli import main

PROGRAM = Path(sys.executable).with_name("anabranch")

Ask = Callable[..., str]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """What the program prints when a shell's script calls it."""

    def do(instruction: str, **variables: str) -> str:
        for name, value in {**variables, "_ANABRANCH_COMPLETE": instruction}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["anabranch"])
        with pytest.raises(SystemExit):
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
    lines = {"ro": "routes", "run --se": "--set --seed", "topology li": "list", "run x": ""}
    script = [ask("source_bash")]
    for words in lines:
        script.append(f"COMP_WORDS=(anabranch {words}) COMP_CWORD={len(words.split())}")
        script.append(f'_anabranch_completion "{PROGRAM}"; echo "${{COMPREPLY[*]}}"')
    done = subprocess.run(  # noqa: S603 - the script that is tested
        ["bash", "-c", "\n".join(script)],  # noqa: S607 - the user's own shell
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    answers = [line.split() for line in done.stdout.splitlines()]
    assert (answers, done.stderr) == ([answer.split() for answer in lines.values()], "")
