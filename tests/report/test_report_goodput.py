"""Goodput above the rate of the links is explained where it shows."""

from __future__ import annotations

import pytest

from anabranch import Scenario
from anabranch.report.goodput import goodput_notes
from anabranch.report.html.run_data import run_document

SCENARIO = """
[network]
topology = "dumbbell"
parameters = { bottleneck_capacity = "10 Mbps" }
links = { capacity = "10 Mbps", delay = "20 ms", %s }
[[traffic]]
from = "left1"
to = "right1"
transport = "cubic"
[run]
duration = "10 s"
"""


@pytest.mark.parametrize(
    ("link", "explained"), [('queue = "20 packets"', True), ('queue = "unlimited"', False)]
)
def test_a_burst_that_fills_a_gap_is_explained(link: str, explained: bool) -> None:
    result = Scenario.loads(SCENARIO % link).run()
    assert (result.flow_series["goodput_mbps"].max() > 10) == explained  # type: ignore[operator]
    assert bool(goodput_notes(result)) == explained
    assert any("may exceed the rate of a link" in note for note in result.plot.goodput().notes) == explained
    assert any("may exceed the rate" in note for note in run_document(result)["notes"]) == explained
    assert result.plot.rtt().notes == ()
