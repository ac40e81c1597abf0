"""The model of overtaking: closed forms, limits, the published throughput, and the simulator."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

from anabranch import Scenario
from anabranch.routing.robust import RoutingError
from anabranch.routing.robust.selection import hybrid
from anabranch.routing.robust.single_lp import single_lp
from anabranch.routing.robust.throughput import (
    Connection,
    FlowError,
    overtaken_share,
    pair_throughput_mbps,
    throughput_mbps,
)
from anabranch.routing.robust.worst_case import worst_case


@given(st.floats(1e-4, 50), st.floats(1e-4, 50), st.floats(0.01, 0.99))
def test_two_paths(rate: float, difference: float, long: float) -> None:
    """Only segments on the longer path are overtaken, by a Poisson number of those on the shorter."""
    share = overtaken_share(rate, np.array([1.0, 1.0 + difference]), np.array([1 - long, long]))
    assert share == pytest.approx(long * poisson.sf(2, rate * (1 - long) * difference), rel=1e-6)


@given(st.floats(0.5, 30), st.floats(0.1, 40), st.floats(0.02, 0.98))
def test_the_rate_agrees_with_its_own_loss(short: float, difference: float, long: float) -> None:
    mbps = pair_throughput_mbps([short, short + difference], [1 - long, long])
    per_ms = mbps / 8  # Segments of 1000 bytes.
    share = long * poisson.sf(2, per_ms * (1 - long) * difference)
    law = math.sqrt(1.5 / share) / (2 * (short + long * difference)) if share > 0 else math.inf
    assert mbps == pytest.approx(min(10.0, law * 8), rel=1e-5)


@given(st.floats(1, 30), st.floats(0, 20), st.floats(0, 20), st.floats(0.02, 0.98))
def test_a_longer_detour_never_helps(short: float, one: float, two: float, long: float) -> None:
    less, more = (
        pair_throughput_mbps([short, short + difference], [1 - long, long])
        for difference in sorted((one, two))
    )
    assert less >= more * (1 - 1e-9)


@pytest.mark.parametrize(
    ("delays", "shares"), [([7.0], [1.0]), ([3.0, 3.0], [0.5, 0.5]), ([3.0, 9.0], [0, 1])]
)
def test_nothing_overtakes(delays, shares):
    assert pair_throughput_mbps(delays, shares, Connection(application_mbps=20.0)) == 20.0


def test_the_order_of_section_4():
    """At d = 1.3 ms: SLLL > SSLL > SSSL, 87, 64 and 50 Mbps of 100 in five connections."""
    five = Connection(application_mbps=20.0, access_delay_ms=0.4)
    totals = [5 * pair_throughput_mbps([2.0, 3.3], [s / 4, 1 - s / 4], five) for s in (1, 2, 3)]
    assert totals[0] > totals[1] > totals[2]
    assert totals == pytest.approx([87, 64, 50], rel=0.27)


def test_published_throughput_on_nsfnet(nsfnet, shortest):
    """Figure 14. The delays behind it are lost, and solvers differ in fractions that are not unique."""
    network, bounds = nsfnet
    two = shortest(network, bounds, 2, "hops")
    means = [
        throughput_mbps(network, single_lp(network, bounds, hybrid(network, two, x)).routing).mean()
        for x in range(0, 101, 20)
    ]
    assert means == pytest.approx([4.65, 6.89, 8.51, 9.28, 10.0, 10.0], rel=0.25)
    assert means == sorted(means)
    assert means[-1] == 10.0


SPRAYED = """
title = "one connection over parallel paths"
[network]
topology = "parallel"
[network.parameters]
paths = [{paths}]
[network.links]
queue = "1000 packets"
[[network.node]]
name = "a"
kind = "host"
[[network.node]]
name = "b"
kind = "host"
[[network.link]]
between = ["a", "source"]
new = true
capacity = "50 Mbps"
delay = "0.2 ms"
[[network.link]]
between = ["sink", "b"]
new = true
capacity = "50 Mbps"
delay = "0.2 ms"
[routing]
scheme = {{ algorithm = "k-shortest", k = {k} }}
metric = "delay"
load_balancing = "packet"
[[traffic]]
from = "a"
to = "b"
transport = "acks-all"
application = {{ kind = "poisson", message = "1 kB", rate = "10 Mbps" }}
[transport.acks-all]
preset = "newreno"
mss = "1000 B"
timestamps = false
delayed_ack_segments = 1
[run]
duration = "30 s"
flow_series = false
link_series = false
"""


@pytest.mark.parametrize(("short", "long"), [(1, 1), (3, 1), (1, 3), (1, 9), (9, 1)])
@pytest.mark.parametrize("difference", [5.0, 8.0])
def test_the_simulator_agrees(short, long, difference):
    """Where the delays differ by six gaps and more, and the window holds some segments."""
    paths = ["10 ms"] * short + [f"{10 + difference} ms"] * long
    text = SPRAYED.format(
        k=len(paths), paths=", ".join(f'{{ capacity = "500 Mbps", delay = "{delay}" }}' for delay in paths)
    )
    simulated = Scenario.loads(text).run().flows["goodput_mbps"][0]
    share = long / len(paths)
    predicted = pair_throughput_mbps(
        [10.0, 10.0 + difference], [1 - share, share], Connection(access_delay_ms=0.4)
    )
    assert predicted == pytest.approx(simulated, rel=0.15)


def test_shares_of_links_are_not_enough(nsfnet, shortest):
    network, bounds = nsfnet
    routing = single_lp(network, bounds, shortest(network, bounds, 1, "hops")).routing
    assert worst_case(network, bounds, routing).max_load == pytest.approx(0.92)
    bare = type(routing)(routing.source, routing.target, routing.share)
    with pytest.raises(RoutingError, match="has shares of links and no paths"):
        throughput_mbps(network, bare)


@pytest.mark.parametrize("shares", [[0.5, 0.6], [0.5], [math.nan, 0.5]])
def test_fractions_that_are_none(shares):
    with pytest.raises(RoutingError, match="fractions of all paths with sum 1"):
        pair_throughput_mbps([1.0, 2.0], shares)


@pytest.mark.parametrize(
    "field", [{"application_mbps": 0.0}, {"segment_bytes": math.nan}, {"access_delay_ms": -1.0}]
)
def test_connections_that_are_none(field):
    with pytest.raises(FlowError, match="must be"):
        Connection(**field)
