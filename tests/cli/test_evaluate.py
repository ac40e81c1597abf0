"""``anabranch evaluate``, in a process of its own: what it writes, its statuses, its mistakes."""

import json
from pathlib import Path

from .conftest import Anabranch

QUICK = ("--only", "7.7", "--replications", "1", "--jobs", "1")

HALTING = """
from anabranch.own import CongestionControl

class Halting(CongestionControl):
    def on_ack(self, ack):
        raise RuntimeError("halted at the first ACK")
    def on_loss(self, episode):
        self.reduce(episode, 0.5)
"""


def test_it_writes_the_report_in_three_forms(anabranch: Anabranch, tmp_path: Path) -> None:
    done = anabranch("evaluate", "bbr", *QUICK, "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 % of the packets overtake 4 ms of others" in done.stdout
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert files == {"README.md", "evaluation.json", "report.html", "manifest.json", "study"}
    rows = json.loads((tmp_path / "out" / "evaluation.json").read_text())["rows"]
    assert [row["rfc9743"] for row in rows] == ["7.7", "7.7"]
    # Payload is 1448 of 1500 bytes, and BBR leaves some of it for its probes of the RTT.
    assert 85 < rows[0]["value"] < 100 * 1448 / 1500


def test_a_control_that_fails_has_status_1_and_a_row_that_says_so(
    anabranch: Anabranch, tmp_path: Path
) -> None:
    (tmp_path / "halting.py").write_text(HALTING)
    done = anabranch("evaluate", "halting:Halting", *QUICK, "--trust", "--json")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    document = json.loads(done.stdout)
    assert document["folder"] == "results/evaluate-Halting"
    assert all("RuntimeError: halted at the first ACK" in row["reason"] for row in document["rows"])
    assert all(row["cubic"] is not None for row in document["rows"])


def test_mistakes_have_status_2_and_leave_no_folder(anabranch: Anabranch, tmp_path: Path) -> None:
    for arguments in (("cubci",), ("cubic", "--only", "9.9"), ("cubic", "--set", "beta")):
        refused = anabranch("evaluate", *arguments)
        assert refused.returncode == 2
        assert "Traceback" not in refused.stderr
        assert refused.stdout == ""
    assert not (tmp_path / "results").exists()
