"""A folder of a fit that somebody else has made: its values are checked, and nothing of it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import ResultError, ScenarioError
from anabranch.fitting.path import PathModel, scenario_data
from anabranch.fitting.predict import outcome_of, predict
from anabranch.fitting.stored import read_fitted

PATH = {"rate_mbps": 5, "rtt_ms": 10, "buffer_bytes": 10_000}
MEMBER: dict[str, Any] = {
    "rate_mbps": 10, "rtt_ms": 20, "buffer_bytes": 50_000, "lost_packets": [], "udp_spans": [],
    "capacity_steps": [], "paths": [PATH, PATH], "balancing": "packet",
}  # fmt: skip
FIT: dict[str, Any] = {"members": [MEMBER], "score": 0.1, "verdict": "x", "cannot_tell": [], "duration_s": 1}
EVIL = """
import pathlib
pathlib.Path(__file__).with_name("ran").touch()
class C: pass
"""


def write(folder: Path, **changes: Any) -> Path:
    (folder / "evil.py").write_text(EVIL)
    (folder / "fit.json").write_text(json.dumps({**FIT, **changes}))
    return folder


def test_a_whole_one_predicts(tmp_path: Path) -> None:
    (entry,) = predict(write(tmp_path), transports=["linux-cubic"])
    goodput = entry.answers["goodput_mbps"]
    assert goodput is not None
    assert 0 < goodput.value < 10


@pytest.mark.parametrize(
    "changes",
    [
        {"balancing": {"python": "evil.py:C"}},
        {"discipline": {"python": "evil.py:C"}, "paths": []},
        {"discipline": "nonsense"},
        {"rate_mbps": "10"},
        {"rate_mbps": 0},
        {"rtt_ms": -1},
        {"loss": 1},
        {"lost_packets": ["x"]},
        {"udp_spans": [[1, 2]]},
        {"elastic_flows": 10**9},
        {"paths": [{}]},
        {"nonsense": 1},
    ],
    ids=str,
)
def test_a_member_that_no_fit_writes_is_refused(
    changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ResultError, match="is no fit of this version"):
        predict(write(tmp_path, members=[{**MEMBER, **changes}]))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "changes",
    [{"members": []}, {"members": 3}, {"score": "x"}, {"duration_s": 0}, {"verdict": None}],
    ids=str,
)
def test_a_document_that_no_fit_writes_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="is no fit of this version"):
        read_fitted(write(tmp_path, **changes))


def test_code_that_a_path_names_does_not_run(tmp_path: Path) -> None:
    """Whatever has passed the checks."""
    write(tmp_path)
    data = scenario_data(PathModel(10, 20, 50_000), [{"from": "src", "to": "dst"}], 0.1)
    data["routing"] = {"load_balancing": {"python": f"{tmp_path / 'evil.py'}:C"}}
    with pytest.raises(ScenarioError):
        outcome_of(data)
    assert not (tmp_path / "ran").exists()
