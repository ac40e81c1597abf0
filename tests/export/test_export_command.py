"""``anabranch export`` as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from export_scenarios import SPLIT, diamond, given


def anabranch(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "anabranch", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, check=False)


def test_it_says_what_rounding_adds_and_where_the_files_are(tmp_path: Path) -> None:
    scenario = diamond(given(("abd", 0.7), ("acd", 0.3), ("bd", 1)))
    (tmp_path / "s.toml").write_text(scenario.toml())
    done = anabranch("export", "s.toml", "--to", "openflow", "--out", "of", "--buckets", "3", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["a->c", "0.300000", "0.333333", "+0.033333"] in rows
    assert done.stdout.rstrip().endswith("files in of; README.md says how to load them, and how to undo")
    assert (tmp_path / "of" / "README.md").is_file()
    again = anabranch(
        "export", "s.toml", "--to", "openflow", "--out", "of", "--buckets", "10", "--json", folder=tmp_path
    )
    document = json.loads(again.stdout)
    assert document["format"] == "openflow"
    assert max(abs(entry["added"]) for entry in document["loads"]) < 1e-12


def test_mistakes_are_one_message_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(diamond(SPLIT).toml())
    for arguments, words in (
        (("--to", "csv", "--out", "out", "--present", "s.toml"), "--present: changes nothing with --to csv"),
        (("--to", "cisco", "--out", "out"), '--to: format "cisco" is not known'),
        (("--to", "csv", "--out", "s.toml"), "s.toml: exists and is not a folder"),
    ):
        done = anabranch("export", "s.toml", *arguments, folder=tmp_path)
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
    assert not (tmp_path / "out").exists()
