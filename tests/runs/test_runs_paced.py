"""Senders that a controller paces over a whole network."""

import polars as pl
import pytest

from anabranch import Scenario

GERMANY = """
[network]
topology = "sndlib/germany50"
links = {{ capacity = "20 Mbps", delay = {{ from = "distance", speed = "200 km/ms" }} }}
[controller]
application = "sdn-paced"
metric = "delay"
links = {{ capacity = "10 Gbps", delay = "1 ms" }}
[[traffic]]
name = "long"
from = "*"
pairs = "permutation"
flows = 2
transport = "sdn-paced"
[run]
duration = "3 s"
seed = {seed}
sample_interval = "500 ms"
link_series = false
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_of_many_flows_has_its_part_of_a_network(seed: int) -> None:
    """Flows part and meet again over ways of different length; where all waited for the largest of these
    differences, each had less than 0.1 Mbps. The fair shares are 1.5 to 2.1 Mbps.
    """
    result = Scenario.loads(GERMANY.format(seed=seed)).run()
    steady = result.tables["flow_series"].filter(pl.col("time_s") > 1)
    goodput = steady.group_by("flow").agg(pl.col("goodput_mbps").mean())["goodput_mbps"]
    assert goodput.len() == 100
    assert goodput.min() > 1.1  # type: ignore[operator]
    assert result.links["drops_queue"].sum() == 0
