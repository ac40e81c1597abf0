"""The summary of a run."""

import pytest

from anabranch import Scenario


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
