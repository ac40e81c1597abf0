"""The controller application tcpbp in whole runs."""

import polars as pl
import pytest

from anabranch import Result, Scenario

TWO_ROUTES = """
[network]
[network.links]
capacity = "50 Mbps"
delay = "5 ms"
queue = "100 packets"
[[network.node]]
name = "a"
[[network.node]]
name = "b"
[[network.node]]
name = "short"
[[network.node]]
name = "long1"
[[network.node]]
name = "long2"
[[network.link]]
between = ["a", "short"]
new = true
[[network.link]]
between = ["short", "b"]
new = true
loss = 0.01
[[network.link]]
between = ["a", "long1"]
new = true
[[network.link]]
between = ["long1", "long2"]
new = true
[[network.link]]
between = ["long2", "b"]
new = true
[controller]
application = "tcpbp"
statistics_interval = "5 s"
sample_packets = 200
loss_granularity = 0.005
[controller.links]
capacity = "100 Mbps"
delay = "1 ms"
[[traffic]]
from = "a"
to = "b"
transport = "cubic"
[run]
duration = "15 s"
sample_interval = "500 ms"
"""


@pytest.fixture(scope="module")
def result() -> Result:
    return Scenario.loads(TWO_ROUTES).run()


def test_a_flow_moves_to_the_route_without_loss_after_the_first_estimates(result: Result) -> None:
    changes = result.tables["route_changes"].filter(pl.col("data_path") == "a > long1 > long2 > b")
    # Questions at 5 s over channels of 1 ms each way.
    assert changes["time_s"][0] == pytest.approx(5.002, abs=1e-3)
    series = result.flow_series
    before = series.filter(pl.col("time_s").is_between(2, 5, closed="right"))["goodput_mbps"].mean()
    after = series.filter(pl.col("time_s") > 8)["goodput_mbps"].mean()
    # CUBIC over 20 ms with 1 % loss: some 7 Mbps. Without loss: most of the 50 Mbps.
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert after > max(35, 3 * before)


def test_the_estimates_are_those_of_the_links_between_switches(result: Result) -> None:
    estimates = result.tables["link_estimates"].join(result.links.select("link", "name"), on="link")
    lossy = estimates.filter(pl.col("name") == "short->b")["loss"]
    assert 0.005 <= lossy[0] <= 0.02
    assert set(estimates["delay_ms"]) == {5.0}
    assert not estimates["name"].str.contains("controller").any()
