"""The summary of a run."""

import errno
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from anabranch import Result, ResultError, Scenario, run
from anabranch.results.folders import Replacement


def test_jain_index_is_that_of_the_goodputs() -> None:
    text = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 3
[network.links]
capacity = "10 Mbps"
delay = "2 ms"
[[traffic]]
from = ["left1", "left2", "left3"]
to = ["right1", "right2", "right3"]
pairs = "in-order"
transport = "linux-cubic"
[run]
duration = "5 s"
"""
    result = Scenario.loads(text).run()
    goodputs = result.flows["goodput_mbps"].to_list()
    assert len(goodputs) == 3
    expected = sum(goodputs) ** 2 / (3 * sum(g * g for g in goodputs))
    assert result.summary["jain_index"] == pytest.approx(expected, rel=1e-12)
    assert 1 / 3 < expected <= 1


def test_a_result_that_does_not_fit_its_place_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
[network]
topology = "line"
[network.links]
capacity = "10 Mbps"
delay = "2 ms"
[[traffic]]
from = "source"
to = "sink"
transport = "cubic"
[[capture]]
file = "host.pcapng"
host = "source"
[run]
duration = "100 ms"
"""
    scenario = Scenario.loads(text)
    put = Replacement.put

    def full_there(self: Replacement, origin: Mapping[str, Any] | None = None) -> None:
        if tmp_path / "out" == self.place:
            raise OSError(errno.ENOSPC, "No space left on device")
        put(self, origin)

    monkeypatch.setattr(Replacement, "put", full_there)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ResultError, match="No space left on device; what was measured is kept in") as caught:
        run(scenario, out=tmp_path / "out")
    kept = re.search(r"kept in (.*)$", str(caught.value))
    assert kept is not None
    assert Result.load(kept.group(1)).flows.height == 1
    assert (Path(kept.group(1)) / "host.pcapng").stat().st_size > 0
