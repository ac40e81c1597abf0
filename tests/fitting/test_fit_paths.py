"""A path that is simulated and fitted comes out again, within the printed ranges; wrong models do not fit.

Expectations are the parameters that were drawn. Ranges are of 90 %; parameters are drawn with fixed seeds, so
that a failure is a change of the program.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

import anabranch
from anabranch.fitting.outcome import EXPLAINED, Fit, poisson_range
from anabranch.fitting.path import PathModel

from .conftest import Captured

BUDGET = 24


def drawn(seed: str) -> PathModel:
    """A bottleneck with a buffer of half a bandwidth-delay product to two."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    path = PathModel(round(draw.uniform(8, 25), 2), round(draw.uniform(20, 60), 2), 0.0)
    return replace(path, buffer_bytes=max(15_000, round(draw.uniform(0.5, 2) * path.bdp_bytes)))


def check(path_fit: Fit, truth: PathModel, *names: str, within: float = 0.0) -> None:
    """Each value lies in its range, which may miss it by a share."""
    ranges = {one.name: one for one in path_fit.ranges}
    for name in names:
        one, true = ranges[name], truth.value(name)
        assert one.low * (1 - within) <= true, (name, true, one)
        assert one.high is None or true <= one.high * (1 + within), (name, true, one)
        assert path_fit.model.value(name) == pytest.approx(true, rel=0.15), name


@pytest.mark.parametrize("seed", ["one", "two"])
def test_drop_tail(seed: str, captured: Captured) -> None:
    truth = drawn(seed)
    path_fit = anabranch.fit(captured(truth, duration_s=11.0), budget=BUDGET)
    assert (path_fit.kind, path_fit.is_explained) == ("drop-tail", True)
    check(path_fit, truth, "rate_mbps", "rtt_ms", "buffer_bytes")
    # One segment of Ethernet in a packet of 1500 bytes; a queue drops what is beyond it.
    assert path_fit.model.rate_mbps == pytest.approx(truth.rate_mbps, rel=0.005)


@pytest.mark.parametrize(("share", "burst", "kind"), [(2e-3, 1.0, "loss"), (4e-3, 3.0, "burst-loss")])
def test_losses_by_chance(share: float, burst: float, kind: str, captured: Captured) -> None:
    truth = replace(drawn(kind), loss=share, burst=burst)
    path_fit = anabranch.fit(captured(truth, duration_s=12.0), budget=BUDGET)
    assert (path_fit.kind, path_fit.is_explained) == (kind, True)
    check(path_fit, truth, "rate_mbps", "rtt_ms")
    loss = next(one for one in path_fit.ranges if one.name == "loss")
    assert loss.high is not None
    assert loss.low <= share <= loss.high
    # A queue alone loses nothing before it is full.
    rival = next(one for one in path_fit.rivals if one.name == "drop-tail")
    assert rival.score > 4 * EXPLAINED


def test_codel_is_no_chance(captured: Captured) -> None:
    truth = replace(drawn("codel"), discipline="codel")
    path_fit = anabranch.fit(captured(truth, duration_s=11.0), budget=BUDGET)
    assert (path_fit.kind, path_fit.is_explained) == ("codel", True)
    check(path_fit, truth, "rate_mbps", "rtt_ms")
    assert any("CoDel or FQ-CoDel" in sentence and "ping" in sentence for sentence in path_fit.unknown)


def test_jitter(captured: Captured) -> None:
    truth = replace(drawn("jitter"), jitter_ms=2.0)
    path_fit = anabranch.fit(captured(truth, duration_s=8.0), budget=90)
    assert path_fit.kind == "jitter"
    assert path_fit.model.rate_mbps == pytest.approx(truth.rate_mbps, rel=0.02)
    assert path_fit.model.jitter_ms == pytest.approx(2.0, rel=0.35)


def test_constant_cross_traffic_by_the_comb(captured: Captured) -> None:
    truth = PathModel(20.0, 40.0, 100_000, udp_mbps=7.5)
    path_fit = anabranch.fit(captured(truth, duration_s=11.0), budget=BUDGET)
    assert (path_fit.kind, path_fit.is_explained) == ("udp-constant", True)
    # No rate that the flow has says so: it got 12.5.
    assert path_fit.model.rate_mbps == pytest.approx(20.0, rel=0.01)
    assert path_fit.model.udp_mbps == pytest.approx(7.5, rel=0.05)


def test_cross_traffic_that_comes_and_goes(captured: Captured) -> None:
    spans = ((2.0, 3.5, 8.0), (5.0, 7.0, 8.0))
    truth = PathModel(16.0, 40.0, 80_000, udp_spans=spans)
    path_fit = anabranch.fit(captured(truth), budget=BUDGET)
    assert path_fit.kind in ("udp-on-off", "rate-varying")
    drop_tail = next(one for one in path_fit.rivals if one.name == "drop-tail")
    assert drop_tail.score > 2 * path_fit.rivals[0].score


@pytest.mark.parametrize(
    "steps",
    [
        # Up and down, and long the same with a fall at the end: the quartiles of its rates do not differ.
        ((2.0, 24.0), (3.5, 30.0), (5.0, 36.0), (6.5, 24.0), (8.0, 15.0)),
        ((8.0, 27.0), (9.0, 22.0)),
    ],
)
def test_a_varying_rate_has_a_buffer_in_bytes(
    captured: Captured, steps: tuple[tuple[float, float], ...]
) -> None:
    """The longest queue in time stands where the link is slowest: at another rate it would be more bytes."""
    first_mbps = 30.0
    truth = PathModel(first_mbps, 40.0, 150_000, capacity_steps=((0.0, first_mbps), *steps))
    path_fit = anabranch.fit(captured(truth, duration_s=11.0), budget=BUDGET)
    assert (path_fit.kind, path_fit.is_explained) == ("rate-varying", True)
    assert path_fit.model.buffer_bytes == pytest.approx(150_000, rel=0.1)
    at_end = dict(path_fit.model.capacity_steps)
    assert at_end[9.5] == pytest.approx(steps[-1][1], rel=0.03)


def test_a_slow_way_back(captured: Captured) -> None:
    truth = PathModel(20.0, 40.0, 100_000, uplink_mbps=0.3, uplink_packets=40)
    path_fit = anabranch.fit(captured(truth), budget=BUDGET)
    assert path_fit.kind == "slow-uplink"
    # A bare ACK of 52 bytes in each gap.
    assert path_fit.model.uplink_mbps == pytest.approx(0.3, rel=0.03)
    assert any("which direction queues" in sentence for sentence in path_fit.unknown)


def test_a_policer_is_no_queue(captured: Captured) -> None:
    truth = PathModel(40.0, 30.0, 300_000, policer_mbps=10.0, policer_bytes=60_000)
    path_fit = anabranch.fit(captured(truth), budget=BUDGET)
    assert path_fit.kind == "policer"
    assert path_fit.model.policer_mbps == pytest.approx(10.0, rel=0.03)


def test_packets_over_two_paths(captured: Captured) -> None:
    from anabranch.fitting.path import Sprayed  # noqa: PLC0415 - for this path alone

    paths = (Sprayed(10.0, 20.4, 90_000), Sprayed(10.0, 60.4, 90_000))
    truth = PathModel(20.0, 20.4, 90_000, paths=paths, balancing="packet-round-robin")
    path_fit = anabranch.fit(captured(truth), budget=60)
    assert path_fit.kind == "sprayed"
    assert path_fit.model.balancing == "packet-round-robin"
    assert path_fit.model.total_mbps == pytest.approx(20.0, rel=0.03)
    assert (
        path_fit.rivals[0].score < 0.3 * next(one for one in path_fit.rivals if one.name == "drop-tail").score
    )


def test_another_sender_is_recognised_and_a_wrong_one_is_told(captured: Captured) -> None:
    file = captured(drawn("sender"), transport="linux-bbr")
    path_fit = anabranch.fit(file, budget=BUDGET)
    assert path_fit.transport == "linux-bbr"
    wrong = anabranch.fit(file, transport="linux-cubic", budget=BUDGET)
    assert not wrong.is_explained
    assert any("linux-bbr" in note for note in wrong.notes)


def test_a_range_of_counts_is_that_of_garwood() -> None:
    # Tables of the exact 90 % interval of a Poisson mean: 3 events, 0.818 to 7.754; none, 0 to 2.996.
    assert poisson_range(3) == pytest.approx((0.818, 7.754), abs=1e-3)
    assert poisson_range(0) == pytest.approx((0.0, -math.log(0.05)), abs=1e-9)
