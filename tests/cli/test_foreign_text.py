"""Names and titles from a user's files reach no terminal, JSON document or spreadsheet as commands."""

import ast
import csv
import io
import json
import subprocess
import sys
import tomllib
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from rich.text import Text

from anabranch.process import console
from anabranch.process.foreign import plain, plain_json
from anabranch.results.result import csv_bytes
from anabranch.text.comments import comment

from .conftest import SMALL, Anabranch

ROOT = Path(__file__).parents[2]
RED, REVERSED, CSI = "\x1b[31m", "\u202e", "\x9b"
HOSTILE = f"a{RED}b{REVERSED}c{CSI}d"
GML = f'graph [\n node [ id 0 label "{HOSTILE}" ]\n node [ id 1 label "z" ]\n edge [ source 0 target 1 ]\n]\n'
DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_every_control_and_every_change_of_direction_is_replaced() -> None:
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    obeyed = [
        letter
        for letter in every
        if (unicodedata.category(letter) in ("Cc", "Zl", "Zp", "Cs") and letter not in "\t\n")
        or unicodedata.bidirectional(letter) in DIRECTIONS
        or letter in "\u200e\u200f\u061c"
    ]
    assert len(obeyed) == 63 + 2 + 2048 + 9 + 3
    assert set(plain("".join(obeyed))) == {"\N{REPLACEMENT CHARACTER}"}
    shown = "".join(letter for letter in every if letter.isprintable() or letter in "\t\n\xa0")
    assert plain(shown) == shown


def test_json_has_escapes_for_them_and_the_same_values() -> None:
    document = {HOSTILE: [HOSTILE, "\U000e0001 tag", "Zürich → 東京 😀", 'quo"te\\']}
    text = plain_json(json.dumps(document, ensure_ascii=False, indent=1))
    assert plain(text) == text
    assert "Zürich → 東京 😀" in text
    assert json.loads(text) == document


@pytest.mark.parametrize("arguments", [["show", "file:h.gml"], ["show", "file:h.gml", "--json"]])
def test_a_topology_sends_no_commands_to_the_terminal(
    anabranch: Anabranch, tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "h.gml").write_text(GML)
    done = anabranch("topology", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "[31mb" in done.stdout
    assert plain(done.stdout) == done.stdout


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_titles_and_names_of_a_run_send_none_either(
    anabranch: Anabranch, tmp_path: Path, extra: list[str]
) -> None:
    escaped = json.dumps(HOSTILE)
    text = SMALL.replace('"two hosts"', escaped).replace("[[traffic]]", f"[[traffic]]\nname = {escaped}")
    (tmp_path / "h.toml").write_text(text)
    done = anabranch("run", "h.toml", "--no-page", *extra)
    assert done.returncode == 0
    assert "[31mb" in done.stdout
    assert plain(done.stdout) == done.stdout
    if extra:
        assert json.loads(done.stdout)["summary"]["title"] == HOSTILE


def test_colours_of_a_terminal_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = console.console()
    with shown.capture() as captured:
        shown.print(Text(HOSTILE, style="green"))
    assert captured.get() == "\x1b[32ma\ufffd[31mb\ufffdc\ufffdd\x1b[0m\n"


def test_letters_that_an_encoding_lacks_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "h.gml").write_text(GML.replace('"z"', '"東京"'), encoding="utf-8")
    for extra in ([], ["--json"]):
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "anabranch", "topology", "show", "file:h.gml", *extra],
            cwd=tmp_path, capture_output=True, timeout=60, check=False, env={"PYTHONIOENCODING": "ascii"},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"\\u6771\\u4eac" in done.stdout
        if extra:
            assert json.loads(done.stdout)["nodes"][1]["name"] == "東京"


def test_a_closed_standard_error_changes_no_exit_status(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S602 - our own program
        f"{sys.executable} -m anabranch run missing.toml 2>&-",
        shell=True, cwd=tmp_path, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_spreadsheet_runs_no_cell() -> None:
    formulas = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-x", "'='"]
    values = ["-3.5", "+4", "-.5e-3", "a=1", "", None]
    table = pl.DataFrame({"=label": [*formulas, *values], "goodput_mbps": [-1.5] * 14})
    rows = list(csv.reader(io.StringIO(csv_bytes(table).decode(), newline="")))
    assert rows[0] == ["'=label", "goodput_mbps"]
    assert [row[0] for row in rows[1:]] == [*(f"'{text}" for text in formulas), *(v or "" for v in values)]
    assert {row[1] for row in rows[1:]} == {"-1.5"}


def test_nothing_goes_around_the_filters() -> None:
    """Standard output is written by console.py alone, and CSV by result.py alone.

    But for what programs read: the controller of switches tells its parent on a descriptor, and names in the
    tables of an export are those of the network to the letter, because a scenario reads them back.
    """
    calls: dict[str, set[str]] = {}
    files = [
        *ROOT.glob("python/anabranch/**/*.py"),
        *ROOT.glob("publications/anabranch_publications/**/*.py"),
    ]
    assert len(files) > 150
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                for end in ("stdout.write", "stderr.write", ".write_csv", "csv.writer", "print", "echo"):
                    if name == end or (name.endswith(f".{end.lstrip('.')}") and end != "print"):
                        calls.setdefault(end, set()).add(file.name)
    # The answer to a Tab goes through the filter, too, and does not wait for the console.
    assert calls == {
        "stdout.write": {"console.py", "completion.py"}, "stderr.write": {"console.py"},
        ".write_csv": {"result.py"}, "csv.writer": {"csv_cells.py"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028", "\u2029", "\x00"]
)
def test_a_comment_is_one_line_whatever_a_name_has(end: str) -> None:
    assert comment(f"Fitted to a{end}reboot") == "# Fitted to a reboot"
    assert tomllib.loads(comment(f"a{end}[run]") + "\n") == {}
