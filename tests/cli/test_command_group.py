"""Commands that other distributions offer: found, missing, broken, and never in place of our own."""

import importlib.metadata
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anabranch.process.console import EXIT_MISTAKE
from anabranch.terminal import command_group
from anabranch.terminal.cli import app

Offer = Callable[..., None]

OFFERED = '''
import typer

def greet(name: str, loudly: bool = False) -> None:
    """Greet somebody."""
    typer.echo(f"hello {name}".upper() if loudly else f"hello {name}")
'''


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """Installs nothing but these entry points, of a module with one command."""
    (tmp_path / "offered_commands.py").write_text(OFFERED)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "offered_commands", raising=False)
    group = command_group.ENTRY_POINTS
    assert group == "anabranch.commands"

    def do(**outcome: str) -> None:
        entries = [EntryPoint(name, value, group) for name, value in outcome.items()]
        monkeypatch.setattr(
            importlib.metadata, "entry_points", lambda *, group: [e for e in entries if e.group == group]
        )

    return do


def test_an_offered_command_is_run_listed_and_suggested(offer: Offer) -> None:
    offer(greet="offered_commands:greet")
    called = CliRunner().invoke(app, ["greet", "you", "--loudly"])
    assert (called.exit_code, called.stdout) == (0, "HELLO YOU\n")
    assert "greet" in CliRunner().invoke(app, ["--help"]).stdout
    assert "Greet somebody." in CliRunner().invoke(app, ["greet", "--help"]).stdout
    wrong = CliRunner().invoke(app, ["gret"])
    assert wrong.exit_code == EXIT_MISTAKE
    assert "Did you mean 'greet'" in wrong.stderr


def test_our_own_commands_keep_their_names(offer: Offer) -> None:
    offer(schema="offered_commands:greet", run="offered_commands:greet")
    assert '"$schema"' in CliRunner().invoke(app, ["schema"]).stdout
    assert CliRunner().invoke(app, ["--help"]).stdout.count("\n  run ") == 1


@pytest.mark.parametrize("command", sorted(command_group.DISTRIBUTIONS))
def test_a_missing_distribution_is_named(offer: Offer, command: str) -> None:
    offer()
    for arguments in ([command], [command, "--help"]):
        called = CliRunner().invoke(app, arguments)
        assert called.exit_code == EXIT_MISTAKE
        assert called.stderr == (
            f'"{command}" is a command of the distribution anabranch-publications, which is not installed; '
            "in a clone of the repository: make setup, or pip install ./publications\n"
        )
    assert command not in CliRunner().invoke(app, ["--help"]).stdout


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module:greet", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("offered_commands:gone", "AttributeError: module 'offered_commands' has no attribute 'gone'"),
    ],
)
def test_a_broken_distribution_breaks_its_own_command_alone(offer: Offer, value: str, reason: str) -> None:
    offer(broken=value)
    shown = CliRunner().invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert "broken" in shown.stdout
    assert CliRunner().invoke(app, ["schema"]).exit_code == 0
    called = CliRunner().invoke(app, ["broken"])
    assert called.exit_code == EXIT_MISTAKE
    assert reason in called.stderr
    assert called.stderr.count("\n") == 1


def test_every_other_distribution_has_the_commands_that_are_said_of_it() -> None:
    installed = {
        entry.name: entry.dist.name
        for entry in importlib.metadata.entry_points(group=command_group.ENTRY_POINTS)
        if entry.dist is not None
    }
    assert installed == command_group.DISTRIBUTIONS


def test_too_little_memory_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(_: str, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("anabranch.topology.load", exhausted)
    called = CliRunner().invoke(app, ["topology", "show", "dumbbell"])
    assert called.exit_code == EXIT_MISTAKE
    assert called.stderr == (
        "there is not enough memory; make the run smaller, or take a machine with more of it\n"
    )
