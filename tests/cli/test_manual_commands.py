"""The manual and the examples by the command line: listed, found, written, run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anabranch import Scenario
from anabranch.study import Study
from anabranch.terminal import manual
from anabranch.terminal.cli import app

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("folder_name", ["examples", "docs"])
def test_what_a_wheel_ships_is_read_where_there_are_no_sources(
    folder: Path, monkeypatch: pytest.MonkeyPatch, folder_name: str
) -> None:
    monkeypatch.setattr(manual, "_SOURCES", folder)
    monkeypatch.setattr(manual, "SHIPPED", folder / "manual")
    command = "examples" if folder_name == "examples" else "help"
    assert called(command)[::2] == (
        2,
        f"this installation has no {folder_name}; they are in the folder {folder_name}/ of the sources\n",
    )
    (folder / "manual" / folder_name).mkdir(parents=True)
    if folder_name == "examples":
        (folder / "manual/examples/only.toml").write_text('title = "the only one"\n')
        assert called("examples")[1] == "only.toml  the only one\n"
    else:
        (folder / "manual/docs/only.md").write_text("# The only page\n")
        assert called("help")[1] == "only  The only page\n"


def test_every_example_is_listed_with_its_title() -> None:
    code, listed, _ = called("examples", "--json")
    files = {str(file.relative_to(ROOT / "examples")) for file in (ROOT / "examples").rglob("*.toml")}
    titles = json.loads(listed)
    assert (code, set(titles)) == (0, files)
    assert all(titles.values())


@pytest.mark.parametrize("name", sorted(each for each in manual.examples() if each.endswith(".toml")))
def test_an_example_is_written_with_all_that_it_names(folder: Path, name: str) -> None:
    code, written, said = called("examples", name)
    assert code == 0
    assert {folder / line for line in written.splitlines()} == {f for f in folder.rglob("*") if f.is_file()}
    command, file = said.removeprefix("next: anabranch ").split()
    assert file == name
    # It reads back, files of others included; code of its own is not run.
    if command == "study":
        Study.load(folder / name)
    else:
        names = manual.example_files(name)
        scenario = Scenario.load(folder / name)
        assert all((folder / each).is_file() for each in names)
        if not scenario.code():
            scenario.routes()


def test_a_part_of_a_name_will_do_and_nothing_is_written_over() -> None:
    assert called("examples", "bufferbloat")[1] == "classroom/bufferbloat.toml\n"
    assert called("examples", "bufferbloat")[::2] == (
        2, "classroom/bufferbloat.toml: exists; choose another folder with --out, or give --replace\n",
    )  # fmt: skip
    assert called("examples", "bufferbloat", "--replace")[0] == 0
    assert called("examples", "ring", "--out", "there")[1].split() == [
        "there/ring.graphml",
        "there/ring.toml",
    ]
    assert called("examples", "frist")[::2] == (2, 'there is no example "frist"; nearest: "first"\n')


def test_a_new_scenario_runs_at_once(folder: Path) -> None:
    assert called("new", "scenario", "mine") == (0, "mine.toml\n", "next: anabranch run mine.toml\n")
    assert called("new", "scenario", "mine.toml")[::2] == (2, "mine.toml: exists; give another name\n")
    result = Scenario.load(folder / "mine.toml", {"run.duration": "5 s"}).run()
    assert (result.flows["goodput_mbps"] > 0).all()
    assert result.summary["warnings"] == []
    assert called("new", "scenario", "../mine")[0] == 2


def test_pages_sections_and_commands_are_shown() -> None:
    assert called("help", "guide")[1].startswith("# ")
    assert called("help", "routing.md")[1].rstrip() == (ROOT / "docs/routing.md").read_text().rstrip()
    assert called("help", "run")[1].startswith("Usage: ")
    assert "topology show" in called("help", "topology", "show")[1]
    code, text, _ = called("help", "Packet", "captures")
    assert code == 0
    assert text.startswith("# Packet captures")
    page = called("help", "codel")[1]
    assert page.startswith('the manual has "codel" in these sections:')
    assert "links" in page
    assert called("help", "rooting")[::2] == (2, 'the manual has no page "rooting"; nearest: "routing"\n')
    assert called("help", "xyzzy")[::2] == (
        2, 'the manual has no page "xyzzy"; anabranch help lists the pages\n'
    )  # fmt: skip


def test_a_section_ends_where_the_next_one_begins() -> None:
    every = list(manual.headings())
    for heading in every[:40]:
        text = manual.section_text(heading)
        assert text.startswith("#" * heading.level + " ")
        following = [each for each in every if each.page == heading.page and each.start > heading.start]
        inside = [each for each in following if each.start < heading.start + len(text)]
        assert all(each.level > heading.level for each in inside)


@pytest.mark.parametrize("command", ["run", "study", "topology list", "load", "help"])
def test_the_program_itself_knows_the_help_of_each_command(command: str) -> None:
    # The program makes no command that it is not called for.
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "anabranch", "help", *command.split()],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith(f"Usage: anabranch {command} "), done.stdout + done.stderr


def test_without_arguments_it_says_what_to_do() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "anabranch"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 10
    assert max(map(len, done.stdout.splitlines())) <= 80
    for line in done.stdout.splitlines():
        if line.startswith("  anabranch "):
            command = line.split()[1]
            assert command in ("--help", *called("--help")[1].split())


def test_the_list_of_commands_is_in_the_order_of_use_and_whole() -> None:
    listed = called("--help")[1].partition("Commands:\n")[2]
    assert "..." not in listed
    names = [line.split()[0] for line in listed.splitlines() if line[2:3].strip()]
    assert names.index("examples") < names.index("run") < names.index("study") < names.index("export")
    sentences = " ".join(listed.split())
    for command in ("run", "capture", "export"):
        text = next(each.help for each in app_commands() if each.name == command)
        assert text.strip() in sentences


def app_commands() -> list[object]:
    import typer.main  # noqa: PLC0415

    group = typer.main.get_command(app)
    return list(group.commands.values())  # type: ignore[attr-defined]
