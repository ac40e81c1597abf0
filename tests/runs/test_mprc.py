"""MPRC beside NewReno where nothing is reordered, at every round trip, and sprayed over a fabric."""

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch import Scenario

PACKET_BITS = 1500 * 8
WITH_FASTRTO = {
    f"{preset}-fastrto": {"preset": preset, "loss_detection": "fastrto"} for preset in ("newreno", "cubic")
}
"""Other windows with MPRC's loss detection."""


def one_path(
    transport: str, rtt_s: float, capacity_mbps: float, queue: int, duration_s: float, **change: Any
) -> dict[str, Any]:
    """The row of a flow without a size over one link, with a queue of packets."""
    link = {
        "between": ["a", "b"],
        "new": True,
        "capacity": f"{capacity_mbps:.6f} Mbps",
        "delay": f"{rtt_s / 2 * 1e6:.3f} us",
        "queue": f"{queue} packets",
    }
    own_fields = {name: table for name, table in WITH_FASTRTO.items() if name == transport}
    flow = {"from": "a", "to": "b", "transport": transport, **change}
    return run([link], [flow], duration_s, transport=own_fields)[0]


def run(
    links: list[dict[str, Any]], traffic: list[dict[str, Any]], duration_s: float, **document: Any
) -> list[dict[str, Any]]:
    """The rows of the flows."""
    ends = {flow[end] for flow in traffic for end in ("from", "to")}
    nodes = sorted({node for link in links for node in link["between"]})
    document["network"] = {
        "node": [{"name": node, "kind": "host" if node in ends else "switch"} for node in nodes],
        "link": links,
    }
    document |= {"traffic": traffic, "run": {"duration": f"{duration_s * 1e3:.4f} ms"}}
    return Scenario.from_data(document).run().flows.to_dicts()


# The queue has half to five times the bandwidth-delay product, and room for an initial window; slow start is
# little of a hundred round trips with a full queue. A busy machine is no reason to fail.
@settings(deadline=None)
@given(
    st.floats(math.log10(5e-6), math.log10(0.5)).map(lambda exponent: 10**exponent),
    st.floats(3, 100),
    st.floats(0.5, 5),
    st.sampled_from([("mprc", "newreno"), ("newreno-fastrto", "newreno"), ("cubic-fastrto", "cubic")]),
)
def test_a_clean_path_has_what_duplicate_acks_have(
    rtt_s: float, product: float, depth: float, transports: tuple[str, str]
) -> None:
    # Below 1 Mbps the peer's 40 ms make an ACK for each packet, and slow start doubles in each round trip.
    capacity_mbps = max(product * PACKET_BITS / rtt_s / 1e6, 1)
    product = capacity_mbps * 1e6 * rtt_s / PACKET_BITS
    queue = max(20, round(product * depth))
    duration_s = 100 * (rtt_s + queue * PACKET_BITS / capacity_mbps / 1e6)
    timed, counted = (
        one_path(transport, rtt_s, capacity_mbps, queue, duration_s) for transport in transports
    )
    assert timed["goodput_mbps"] >= 0.95 * counted["goodput_mbps"]
    # More than twice as many where the window grows until FastRTO has found a loss.
    assert timed["retransmissions"] <= 1.5 * counted["retransmissions"]
    assert timed["spurious_retransmissions"] == 0


@pytest.mark.parametrize("rtt_us", [5, 10, 20, 50, 100, 200, 500])
def test_ten_gigabits_carry_what_newreno_has_at_microseconds(rtt_us: float) -> None:
    mprc, newreno = (
        one_path(transport, rtt_us * 1e-6, 10_000, 200, 0.2) for transport in ("mprc", "newreno")
    )
    assert mprc["goodput_mbps"] >= 0.98 * newreno["goodput_mbps"]
    assert mprc["retransmissions"] <= 1.1 * newreno["retransmissions"]
    assert mprc["spurious_retransmissions"] == 0


def test_a_queue_above_rtomax_sends_nothing_twice() -> None:
    """1000 packets at 10 Mbps are 1.2 s, more than RTOmax."""
    row = one_path("mprc", 5e-3, 10, 1000, 30)
    assert row["spurious_retransmissions"] == 0
    assert row["goodput_mbps"] >= 0.99 * 10 * 1448 / 1500


@pytest.mark.parametrize(("capacity", "goodput_mbps"), [("10 Gbps", 9_500), ("100 Gbps", 94_000)])
def test_a_leaf_spine_fabric_is_filled_by_spraying(capacity: str, goodput_mbps: float) -> None:
    link = {"new": True, "capacity": capacity, "delay": "1 us", "queue": "200 packets"}
    fabric = [(f"leaf{leaf}", f"spine{spine}") for leaf in (1, 2) for spine in range(4)]
    access = [(f"leaf{leaf}", f"host{leaf}.{host}") for leaf in (1, 2) for host in range(4)]
    flows = run(
        [{"between": list(pair), **link} for pair in fabric + access],
        [{"from": f"host1.{host}", "to": f"host2.{host}", "transport": "mprc"} for host in range(4)],
        0.02,
        routing={"scheme": "ecmp", "load_balancing": "packet"},
    )
    assert min(flow["goodput_mbps"] for flow in flows) >= goodput_mbps
    assert sum(flow["spurious_retransmissions"] for flow in flows) == 0


@pytest.mark.parametrize("queue", ["43 packets", "1000 packets"])
@pytest.mark.parametrize("mss", [1460, 4086])
@pytest.mark.parametrize("switches", [1, 3])
def test_two_megabytes_over_an_idle_path_take_what_they_must(queue: str, mss: int, switches: int) -> None:
    """Half of the time more than the link needs for the bytes is for slow start and a repair."""
    hops = ["a", *(f"s{switch}" for switch in range(switches)), "b"]
    link = {"new": True, "capacity": "100 Gbps", "delay": "1 us", "queue": queue}
    links = [{"between": list(pair), **link} for pair in pairwise(hops)]
    flow = {"from": "a", "to": "b", "size": "2 MB", "transport": "mprc"}
    row = run(links, [flow], 1, transport={"mprc": {"mss": f"{mss} B"}})[0]
    # 12 bytes of the MSS are timestamps; 40 are headers.
    wire_bits = 8 * 2e6 * (mss + 40) / (mss - 12)
    assert row["completion_s"] <= 1.5 * wire_bits / 100e9


def test_an_incast_waits_for_no_delayed_ack() -> None:
    """Seven senders of 1 MB to one host of 10 Gbps, whose link takes 5.8 ms; no lost tail takes 40 more."""
    link = {"new": True, "capacity": "10 Gbps", "delay": "1 us", "queue": "200 packets"}
    flows = run(
        [{"between": ["switch", f"host{host}"], **link} for host in range(8)],
        [{"from": f"host{host}", "to": "host0", "size": "1 MB", "transport": "mprc"} for host in range(1, 8)],
        1,
    )
    assert max(flow["completion_s"] for flow in flows) <= 1.25 * 7 * 691 * 1.2e-6
