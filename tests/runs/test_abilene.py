"""The main example, against bounds that follow from the graph (min cut, shares of equal-cost next hops)."""

import pytest

from anabranch import Scenario

# Payload of a full packet: 1500 bytes less the IP and TCP headers and timestamps.
PAYLOAD_SHARE = 1448 / 1500
# A sender that takes no reordering for loss, its window below 1000 segments: what is left is the network.
PROOF = """
preset = "newreno"
loss_detection = { algorithm = "dupack", threshold = 1000 }
"""


def goodput_mbps(routing: str, transport: str, parameters: str = "", queue: str = "100 packets") -> float:
    text = f"""
[network]
topology = "zoo/Abilene"
[network.links]
capacity = "10 Mbps"
delay = {{ from = "distance", speed = "200 km/ms", plus = "1 ms" }}
queue = "{queue}"
[routing]
{routing}
[[traffic]]
from = "Seattle"
to = "Atlanta"
transport = "{transport}"
[run]
duration = "30 s"
flow_series = false
link_series = false
{parameters}
"""
    return float(Scenario.loads(text).run().flows["goodput_mbps"][0])


@pytest.mark.parametrize("transport", ["newreno", "cubic", "bbr", "linux-reno", "linux-cubic", "linux-bbr"])
def test_one_path_gives_its_capacity_to_every_preset(transport: str) -> None:
    goodput = goodput_mbps('scheme = "shortest"\nmetric = "delay"', transport)
    # BBR gives up 200 ms in 10 s to probe the round-trip time.
    assert 9.3 <= goodput <= 10 * PAYLOAD_SHARE


@pytest.mark.parametrize(
    ("routing", "bound_mbps"),
    [
        # Houston - Atlanta carries 3/4 of what equal-cost next hops spread, and has 10 Mbps.
        ('scheme = "ecmp"\nmetric = "hops"\nload_balancing = "packet"', 10 / 0.75),
        # The minimum cut between Seattle and Atlanta has two links.
        ('scheme = "disjoint"\nmetric = "hops"\nload_balancing = "packet"', 20.0),
        ('scheme = "max-flow"\nmetric = "hops"\nload_balancing = "packet"', 20.0),
    ],
)
def test_a_reordering_proof_sender_comes_close_to_the_bound(routing: str, bound_mbps: float) -> None:
    proof = f"[transport.proof]\n{PROOF}\nreceive_buffer = '400 kB'"
    goodput = goodput_mbps(routing, "proof", proof, queue="1000 packets")
    assert 0.97 * bound_mbps * PAYLOAD_SHARE <= goodput <= bound_mbps * PAYLOAD_SHARE


@pytest.mark.parametrize("transport", ["newreno", "cubic", "bbr", "linux-cubic"])
def test_no_sender_exceeds_the_bounds(transport: str) -> None:
    ecmp = goodput_mbps('scheme = "ecmp"\nload_balancing = "packet"', transport)
    disjoint = goodput_mbps('scheme = "disjoint"\nload_balancing = "packet"', transport)
    assert 0 < ecmp <= 10 / 0.75 * PAYLOAD_SHARE
    assert 0 < disjoint <= 20 * PAYLOAD_SHARE


def test_attmpls_has_three_disjoint_paths_and_one_link_that_all_shortest_ones_share() -> None:
    text = """
[network]
topology = "zoo/AttMpls"
[network.links]
capacity = "10 Mbps"
delay = {{ from = "distance", speed = "200 km/ms", plus = "1 ms" }}
queue = "2000 packets"
[routing]
scheme = "{scheme}"
load_balancing = "packet"
[[traffic]]
from = "ORLD"
to = "SNFN"
transport = "proof"
[transport.proof]
preset = "newreno"
loss_detection = {{ algorithm = "dupack", threshold = 1000 }}
receive_buffer = "900 kB"
[run]
duration = "30 s"
"""
    results = {
        s: Scenario.loads(text.format(scheme=s)).run().flows["goodput_mbps"][0] for s in ("ecmp", "disjoint")
    }
    assert 0.97 * 10 * PAYLOAD_SHARE <= results["ecmp"] <= 10 * PAYLOAD_SHARE
    assert 0.97 * 30 * PAYLOAD_SHARE <= results["disjoint"] <= 30 * PAYLOAD_SHARE
