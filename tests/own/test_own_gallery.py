"""The gallery of examples/own: each algorithm against what its paper says of it."""

from pathlib import Path

import polars as pl
import pytest

from anabranch import Result, Scenario

OWN = Path(__file__).parents[2] / "examples" / "own"
MOST_LINES = 60

BOTTLENECK = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = {flows}
bottleneck_capacity = "20 Mbps"
bottleneck_delay = "20 ms"
[network.links]
capacity = "1 Gbps"
delay = "100 us"
queue = "1000 packets"
[[traffic]]
from = {left}
to = {right}
pairs = "in-order"
transport = "mine"
[run]
duration = "30 s"
[transport.mine]
preset = "newreno"
delayed_ack_segments = 1
congestion_control = {control}
"""


def run(control: str, flows: int) -> Result:
    """Flows that all begin at once, so that each sees the path's smallest RTT."""
    left, right = ([f"{side}{number}" for number in range(1, flows + 1)] for side in ("left", "right"))
    text = BOTTLENECK.format(flows=flows, left=left, right=right, control=control)
    return Scenario.loads(text, base=OWN).run()


def waiting_packets(result: Result) -> float:
    """Mean queue of the bottleneck once the flows are in equilibrium."""
    link = result.links.sort("utilization").row(-1, named=True)["link"]
    settled = result.link_series.filter((pl.col("time_s") > 10) & (pl.col("link") == link))
    mean = settled["queue_packets"].mean()
    assert isinstance(mean, float)
    return mean


@pytest.mark.parametrize("file", sorted(OWN.glob("*.py")), ids=lambda file: file.stem)
def test_an_example_is_short(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) < MOST_LINES


@pytest.mark.parametrize("flows", [1, 2, 4])
@pytest.mark.parametrize(("alpha", "beta"), [(2, 4), (6, 8)])
def test_vegas_keeps_between_alpha_and_beta_packets_of_each_flow_waiting(
    flows: int, alpha: int, beta: int
) -> None:
    control = f'{{ python = "vegas:Vegas", alpha_packets = {alpha}.0, beta_packets = {beta}.0 }}'
    result = run(control, flows)
    assert alpha <= waiting_packets(result) / flows <= beta
    assert result.flows["retransmissions"].sum() == 0
    assert result.flows["goodput_mbps"].sum() > 0.95 * 20 * 1448 / 1500


@pytest.mark.parametrize("flows", [1, 3])
@pytest.mark.parametrize("delta", [0.5, 0.1, 0.04])
def test_copa_keeps_one_over_delta_packets_of_each_flow_waiting(flows: int, delta: float) -> None:
    """Section 2.2 of the paper: n flows with the target rate 1/(delta d) make a queue of n/delta packets."""
    result = run(f'{{ python = "copa:Copa", delta = {delta} }}', flows)
    assert waiting_packets(result) == pytest.approx(flows / delta, rel=0.25)
    goodputs = result.flows["goodput_mbps"]
    assert goodputs.sum() > 0.95 * 20 * 1448 / 1500
    assert goodputs.min() > 0.9 * goodputs.max()


@pytest.mark.parametrize("flows", [1, 3])
def test_the_rate_model_fills_the_link_and_loses_nothing(flows: int) -> None:
    """Its window is twice the bandwidth-delay product, so that about one more waits at most."""
    result = run('{ python = "model:RateModel" }', flows)
    assert result.flows["goodput_mbps"].sum() > 0.95 * 20 * 1448 / 1500
    assert result.flows["retransmissions"].sum() == 0
    product_packets = 20e6 * 0.0404 / 8 / 1500
    assert waiting_packets(result) < 1.2 * product_packets
    assert waiting_packets(run('"newreno"', flows)) > 4 * product_packets


def test_startup_of_the_rate_model_finds_the_rate_within_rounds() -> None:
    """A gain of 2.89 doubles the rate in each round trip, as slow start does."""
    result = run('{ python = "model:RateModel" }', 1)
    early = result.flow_series.filter(pl.col("time_s") <= 1.0)["goodput_mbps"]
    assert early[-1] > 0.9 * 20 * 1448 / 1500
