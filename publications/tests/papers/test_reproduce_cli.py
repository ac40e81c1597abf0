"""``anabranch reproduce``: one figure, as text and as JSON, and what there is not."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Anabranch = Callable[..., subprocess.CompletedProcess[str]]


def test_a_paper_is_reproduced(anabranch: Anabranch, tmp_path: Path) -> None:
    shown = anabranch("reproduce", "sdn", "4.13", "--quick", "--out", str(tmp_path))
    assert (shown.returncode, shown.stdout.count("agrees\n")) == (0, 11)
    assert "sdn: 11 agree, 0 differ for a reason that is known, 0 differ without one" in shown.stdout
    assert (tmp_path / "sdn" / "figure-4.13" / "README.md").is_file()
    document = json.loads(anabranch("reproduce", "sdn", "4.11", "--json", "--out", str(tmp_path)).stdout)
    assert document[0]["counts"]["agrees"] == 7


def test_an_unknown_paper_or_figure_is_named(anabranch: Anabranch, tmp_path: Path) -> None:
    wrong = anabranch("reproduce", "sdm", "--out", str(tmp_path))
    message = 'paper: no paper "sdm"; nearest: "sdn"; there are tcpbp, sdn, robust, semper, mprc\n'
    assert (wrong.returncode, wrong.stderr) == (2, message)
    figure = anabranch("reproduce", "sdn", "A.33", "--out", str(tmp_path))
    assert figure.returncode == 2
    assert 'sdn has no figure "A.33"; nearest: "A.3"; there are 3.10, 4.11' in figure.stderr
