"""The page of scores: what is kept of earlier versions, and that the page is that of its data."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scores import ROOT, Held, Score, scripts
from truth import HISTORY, PAGE, PUBLISHED, noted, page, read_history

PUBLISHED_ROWS = json.loads(PUBLISHED.read_text(encoding="utf-8"))
SCRIPT = """// RFC 9293 section 3.10.7.3: a SYN-ACK completes the handshake.
0.000 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
0.000 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
0.000 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
0.000 > S 0:0(0) <...>
0.100 < S. 0:0(0) ack {ack} win 65535 <mss 1460>
0.100 > . 1:1(0) ack 1
"""


def test_scores_of_errors_are_without_their_signs() -> None:
    score = Score.of_errors("linux", "one", [-0.04, 0.01, 0.02])
    assert (score.count, score.median_percent, score.worst_percent) == (3, 2.0, 4.0)
    assert Score.read(score.data()) == score
    assert "passed" not in score.data()


def test_a_table_that_was_not_measured_keeps_the_scores_of_its_version() -> None:
    old = [{"state": "1", "scores": [Score("fabric", "a", 1, passed=1).data()]}]
    once = noted(old, "2", [Score("fabric", "a", 2, passed=2), Score("linux", "b", 3, passed=3)])
    again = noted(once, "2", [Score("linux", "b", 4, passed=4)])
    assert [entry["state"] for entry in again] == ["1", "2"]
    assert again[0] == old[0]
    counts = {score["subject"]: score["count"] for score in again[1]["scores"]}
    assert counts == {"a": 2, "b": 4}


def test_the_page_has_earlier_states_and_says_what_was_not_run() -> None:
    gone = Score("scripts: of others", "all", 41, passed=3, not_applicable=30)
    history = [
        {"state": "1", "scores": [Score("linux", "one", 2, 1.0, 2.0).data(), gone.data()]},
        {"state": "2", "scores": [Score("linux", "one", 3, 0.5, 1.5).data()]},
    ]
    text = page(history, [Held("kept", 0.01, 0.02), Held("broken", 0.03, 0.02)], PUBLISHED_ROWS)
    assert "| one | 3 | median 0.50 %, worst 1.50 % | median 1.00 %, worst 2.00 % |" in text
    assert "| of others | all | 41 | 3 of 41, 30 not applicable | 1 |" in text
    assert "| kept | 1.00 % | 2.0 % | kept |" in text
    assert "| broken | 3.00 % | 2.0 % | **not kept** |" in text


def test_the_page_is_that_of_the_history() -> None:
    """Nobody has edited one of them alone; bounds are measured anew by the command."""
    written = PAGE.read_text(encoding="utf-8")
    made = page(read_history(HISTORY), [], PUBLISHED_ROWS)
    start = "\n## Linux"
    assert written[written.index(start) :] == made[made.index(start) :]
    assert "not kept" not in written


def test_every_simulator_has_a_source() -> None:
    assert {row["simulator"] for row in PUBLISHED_ROWS} == {"INET (OMNeT++)", "ns-3", "Shadow", "htsim"}
    assert all(row["score"] and row["source"] for row in PUBLISHED_ROWS)


def test_scripts_are_counted_by_folder(tmp_path: Path) -> None:
    for name, ack in (("good/a", 1), ("good/b", 7), ("other/c", 1)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.pkt").write_text(SCRIPT.replace("{ack}", str(ack)))
    (tmp_path / "other" / "d.pkt").write_text("0.000 nothing that there is\n")
    scores = {score.subject: (score.count, score.passed) for score in scripts(tmp_path, "mine")}
    assert scores == {"good": (2, 1), "other": (2, 1), "all": (4, 2)}


def test_a_folder_without_scripts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        scripts(tmp_path, "none")


def test_corpora_of_this_project_are_in_the_history() -> None:
    latest = {(score["table"], score["subject"]) for score in read_history(HISTORY)[-1]["scores"]}
    folders = {path.name for path in (ROOT / "crates" / "scripts" / "scripts").iterdir() if path.is_dir()}
    assert {subject for table, subject in latest if table.startswith("scripts: of this")} == {*folders, "all"}
