"""Multipath TCP: each path's parameters come out of one capture, and a wrong model is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import anabranch
from anabranch import Scenario
from anabranch.fitting.path import BY_SUBFLOW, PathModel, Sprayed, joined_data

from .conftest import Captured

PATHS = (Sprayed(9.0, 24.0, 45_000), Sprayed(4.0, 60.0, 50_000))
TRUTH = PathModel(9.0, 24.0, 45_000, paths=PATHS, balancing=BY_SUBFLOW)


@pytest.mark.parametrize("transport", ["linux-mptcp", "mptcp-cubic"])
def test_the_path_of_each_subflow(captured: Captured, transport: str) -> None:
    path_fit = anabranch.fit(captured(TRUTH, duration_s=8.0, transport=transport), budget=60)
    assert (path_fit.kind, path_fit.transport, path_fit.is_explained) == ("subflows", transport, True)
    assert path_fit.runs > 20
    found_paths = sorted(path_fit.model.paths, key=lambda path: path.rtt_ms)
    for one, true in zip(found_paths, PATHS, strict=True):
        assert one.rate_mbps == pytest.approx(true.rate_mbps, rel=0.01)
        assert one.rtt_ms == pytest.approx(true.rtt_ms, rel=0.02)
        assert one.buffer_bytes == pytest.approx(true.buffer_bytes, rel=0.08)
    names = {one.name for one in path_fit.ranges}
    assert names == {
        f"{name}.{place}" for name in ("rate_mbps", "rtt_ms", "buffer_bytes") for place in (0, 1)
    }
    assert any("share a bottleneck" in sentence for sentence in path_fit.unknown)


def test_paths_of_another_kind_are_not_explained(tmp_path: Path) -> None:
    """Both paths lose one packet of a hundred, for which the model of a path for each subflow has no word."""
    lossy = [PathModel(path.rate_mbps, path.rtt_ms, path.buffer_bytes, loss=0.01) for path in PATHS]
    traffic = {"name": "f", "from": "src", "to": "dst", "transport": "linux-mptcp"}
    data = joined_data(lossy, [traffic], 8.0, seed=5)
    data["capture"] = [{"file": "src.pcapng", "host": "src", "snap_length": "128 B"}]
    Scenario.model_validate(data).run(out=tmp_path / "lossy", page=False)
    path_fit = anabranch.fit(tmp_path / "lossy" / "src.pcapng", budget=20)
    assert not path_fit.is_explained
    assert "does not explain the capture" in path_fit.verdict
