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
application = { algorithm = "tcpbp", sample_packets = 200, loss_granularity = 0.005 }
statistics_interval = "5 s"
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
    # Probes at 5 s over a link of 5 ms and channels of 1 ms each way.
    assert changes["time_s"][0] == pytest.approx(5.007, abs=1e-3)
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
    # Propagation, and at most a queue of 100 packets of 1500 bytes and one in transmission at 50 Mbps.
    assert estimates["delay_ms"].is_between(5.0, 5.0 + 101 * 0.24).all()
    assert estimates.filter(pl.col("name") == "b->short")["delay_ms"].to_list() == [5.0] * 2
    assert not estimates["name"].str.contains("controller").any()


def test_every_flow_has_its_paths_and_their_changes(result: Result) -> None:
    routes = result.tables["flow_routes"]
    assert routes["data_path"].to_list() == ["a > long1 > long2 > b"]
    assert routes["route_changes"].to_list() == [result.tables["route_changes"].height]


def warnings(text: str) -> list[str]:
    sentences = Scenario.loads(text).run().summary["warnings"]
    assert isinstance(sentences, list)
    return [str(warning) for warning in sentences]


def test_a_network_that_loses_nothing_is_told() -> None:
    """With p = 0 on every path f says nothing, and the way of least delay is taken: here over one node."""
    assert warnings(TWO_ROUTES) == []
    (warning,) = warnings(TWO_ROUTES.replace("loss = 0.01\n", ""))
    assert warning.startswith("controller: no link that was measured loses anything")
    assert "least delay" in warning


def test_steps_that_round_every_delay_away_are_told() -> None:
    """In steps of 1 s a link of 5 ms with a queue of 24 ms has no delay, and d sqrt(p) is 0 anyway."""
    text = TWO_ROUTES.replace('algorithm = "tcpbp"', 'algorithm = "tcpbp", delay_granularity = "1 s"')
    (warning,) = warnings(text)
    assert warning.startswith(
        "controller.application.delay_granularity: the delay of every link that loses packets is rounded to 0"
    )


def test_a_run_without_an_estimate_is_told() -> None:
    (warning,) = warnings(TWO_ROUTES.replace("sample_packets = 200", "sample_packets = 1000000"))
    assert warning.startswith("controller: no link has had an estimate of its loss")
    assert "sample_packets" in warning
    (warning,) = warnings(TWO_ROUTES.replace('statistics_interval = "5 s"', 'statistics_interval = "60 s"'))
    assert "statistics_interval" in warning


MEASURED = TWO_ROUTES.replace(
    "[run]",
    """[[traffic]]
name = "background"
from = "*"
pairs = "neighbours"
application = { kind = "poisson", message = "1460 B", rate = "2 Mbps" }
transport = "newreno"
[run]""",
).replace('statistics_interval = "5 s"', 'statistics_interval = "1 s"')


@pytest.mark.parametrize("estimator", ["sma", "ewma", "hte"])
def test_traffic_between_neighbours_measures_every_link(estimator: str) -> None:
    result = Scenario.loads(MEASURED.replace('"tcpbp"', f'"tcpbp", estimator = "{estimator}"')).run()
    last = result.tables["link_estimates"].filter(pl.col("time_s") == pl.col("time_s").max())
    assert last.height == 10
    assert last["loss"].null_count() == 0
    losses = last.join(result.links.select("link", "name"), on="link")
    lossy = losses.filter(pl.col("name") == "short->b")
    # The counts of all the run: some thousand packets; four standard errors of a share of 1 %.
    packets, lost = lossy["packets"][0], lossy["lost"][0]
    assert packets > 1000
    assert abs(lost / packets - 0.01) < 4 * (0.01 * 0.99 / packets) ** 0.5
    # A loss of a link is one of both directions.
    free = losses.filter(~pl.col("name").is_in(["short->b", "b->short"]))
    assert free["packets"].min() > 0  # type: ignore[operator]
    assert free["lost"].sum() == 0
    # The flow on the lossy link stays there, though the best way to b is over the other three.
    names = result.flows.select("flow", "name", "from", "to")
    background = result.tables["flow_routes"].join(names, on="flow").filter(pl.col("from") == "short")
    assert sorted(background["data_path"]) == ["short > a", "short > b"]
