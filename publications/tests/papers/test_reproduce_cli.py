"""``anabranch reproduce``: one figure, as text and as JSON, and what there is not."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Anabranch = Callable[..., subprocess.CompletedProcess[str]]


def test_a_paper_is_reproduced(anabranch: Anabranch, tmp_path: Path) -> None:
    shown = anabranch("reproduce", "sdn", "4.13", "--quick", "--out", str(tmp_path))
    assert (shown.returncode, shown.stdout.count("agrees\n")) == (0, 11)
    assert "sdn: of 11 printed claims 11 agree, 0 differ as predicted and 0 differ;" in shown.stdout
    assert (tmp_path / "sdn" / "figure-4.13" / "README.md").is_file()
    document = json.loads(anabranch("reproduce", "sdn", "4.11", "--json", "--out", str(tmp_path)).stdout)
    assert document[0]["counts"]["printed"]["agrees"] == 8


def test_what_is_not_ours_refuses_before_anything_runs(anabranch: Anabranch, tmp_path: Path) -> None:
    for folder in ("out", "out/sdn"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "README.md").write_text("mine")
        for arguments in (("sdn",), ()):
            refused = anabranch("reproduce", *arguments, "--quick", "--out", "out")
            assert (refused.returncode, refused.stdout) == (2, "")
            assert refused.stderr.startswith("out: has what Anabranch did not write there: README.md")
    entries = {
        path.relative_to(tmp_path).as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    assert entries == {"out/README.md", "out/sdn/README.md"}
    done = anabranch("reproduce", "sdn", "4.11", "--quick", "--out", "out", "--replace")
    assert done.returncode == 0, done.stderr
    assert [(tmp_path / name).read_text() for name in sorted(entries)] == ["mine", "mine"]
    # The folders are the papers' now: only the names of their pages matter.
    refused = anabranch("reproduce", "--quick", "--out", "out")
    assert refused.stderr.startswith("out: has what Anabranch did not write there: README.md; ")
    (tmp_path / "out" / "README.md").unlink()
    refused = anabranch("reproduce", "--quick", "--out", "out")
    assert refused.stderr.startswith("out/sdn: has what Anabranch did not write there: README.md; ")
    assert refused.returncode == 2


def test_an_unknown_paper_or_figure_is_named(anabranch: Anabranch, tmp_path: Path) -> None:
    wrong = anabranch("reproduce", "sdm", "--out", str(tmp_path))
    message = (
        'paper: "sdm" is not known; nearest: "sdn"; there are "tcpbp", "sdn", "robust", "semper", "mprc"\n'
    )
    assert (wrong.returncode, wrong.stderr) == (2, message)
    figure = anabranch("reproduce", "sdn", "A.33", "--out", str(tmp_path))
    assert figure.returncode == 2
    assert 'figure of sdn: "A.33" is not known; nearest: "A.3"; there are "3.10", "4.11"' in figure.stderr
