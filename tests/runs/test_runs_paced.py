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


INCAST = """
[network]
topology = "dumbbell"
parameters = {{ hosts = 3, bottleneck_capacity = "10 Mbps" }}
links = {{ capacity = "100 Mbps", delay = "1 ms", queue = "20 packets" }}
{more}
[controller]
application = {{ algorithm = "sdn-paced", schedule = "{schedule}" }}
links = {{ capacity = "1 Gbps", delay = "0.1 ms" }}
[[traffic]]
from = {origins}
to = ["right1"]
pairs = "all"
flows = {flows}
size = "50 kB"
transport = "sdn-paced"
[run]
duration = "5 s"
"""
SECOND_SWITCH = """
[[network.node]]
name = "switch2"
[[network.node]]
name = "other"
kind = "host"
[[network.link]]
between = ["switch2", "router-left"]
new = true
[[network.link]]
between = ["other", "switch2"]
new = true
"""


@pytest.mark.parametrize(
    ("flows", "origins", "told"),
    [
        (1, '["left1", "left2"]', ""),
        (12, '["left1", "left2"]', '"router-left" has'),
        (1, '["left1", "other"]', 'flows of "router-left" and "switch2" share the link'),
    ],
)
def test_the_published_schedule_says_when_it_does_not_hold(flows: int, origins: str, told: str) -> None:
    """Its equations are of one access switch, and at least one segment of each flow in an interval."""

    def warnings(schedule: str) -> list[str]:
        values = {"flows": flows, "origins": origins, "more": SECOND_SWITCH, "schedule": schedule}
        run = Scenario.loads(INCAST.format(**values)).run()
        assert run.links["drops_queue"].sum() == 0 or run.summary["warnings"]
        sentences: list[str] = run.summary["warnings"]
        return sentences

    said = "\n".join(warnings("published"))
    assert told in said
    assert ("so that queues grow from then on;" in said) is bool(told)
    assert warnings("stretched") == []
