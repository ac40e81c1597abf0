"""The notebooks of docs/notebooks: executed, small, and not stale."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def check(root: Path) -> subprocess.CompletedProcess[str]:
    """Executes the notebooks of a copy of the manual, and compares."""
    command = [sys.executable, str(root / "docs" / "generate" / "notebooks.py"), "--check"]
    return subprocess.run(  # noqa: S603 - our own
        command, capture_output=True, text=True, timeout=300, check=False
    )


def outputs(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


def test_there_are_three() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["mptcp_failover", "own_control", "spraying"]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_each_has_pictures_and_numbers_and_is_small(file: Path) -> None:
    assert file.stat().st_size < 100_000
    kinds = [output["output_type"] for output in outputs(json.loads(file.read_text(encoding="utf-8")))]
    assert set(kinds) == {"display_data", "stream"}


def test_none_is_stale() -> None:
    answer = check(ROOT)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def copied(tmp_path: Path) -> tuple[dict[str, Any], Path]:
    """A manual with one notebook, and where it is."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for folder in ("generate", "notebooks"):
        (tmp_path / "docs" / folder).mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "generate" / "notebooks.py", tmp_path / "docs" / "generate")
    notebook = json.loads((ROOT / "docs" / "notebooks" / "spraying.ipynb").read_text(encoding="utf-8"))
    return notebook, tmp_path / "docs" / "notebooks" / "spraying.ipynb"


def test_one_that_warns_is_found(tmp_path: Path) -> None:
    notebook, copy = copied(tmp_path)
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"][:1]
    notebook["cells"][0] |= {"source": "import warnings; warnings.warn('look here')", "outputs": []}
    copy.write_text(json.dumps(notebook), encoding="utf-8")
    answer = check(tmp_path)
    assert answer.returncode == 1
    assert "spraying.ipynb warns: " in answer.stdout
    assert "look here" in answer.stdout


def test_a_stale_one_is_found(tmp_path: Path) -> None:
    notebook, copy = copied(tmp_path)
    printed = next(output for output in outputs(notebook) if output["output_type"] == "stream")
    printed["text"] = ["newreno.0     19.0 Mbps\n"]
    copy.write_text(json.dumps(notebook), encoding="utf-8")
    answer = check(tmp_path)
    assert answer.returncode == 1
    assert "spraying.ipynb is stale; run: make notebooks" in answer.stdout
