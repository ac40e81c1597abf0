"""The formulas against numbers from elsewhere: printed tables, hand computation, another route."""

import math

import pytest

from anabranch import Scenario
from anabranch.models import MODELS, PathConditions, bbr, cubic, mathis, pftk

# RFC 9438 tables 1 and 2 (as RFC 8312's): mean windows in segments at losses of 1e-2 to 1e-8, by RTT and C.
CUBIC_WINDOWS = {
    (0.1, 0.04): (12, 38, 120, 593, 3332, 18740, 105383),
    (0.1, 0.4): (12, 38, 187, 1054, 5926, 33325, 187400),
    (0.1, 4.0): (12, 59, 333, 1874, 10538, 59261, 333250),
    (0.01, 0.04): (12, 38, 120, 379, 1200, 3795, 18740),
    (0.01, 0.4): (12, 38, 120, 379, 1200, 5926, 33325),
}


def window(path: PathConditions, mbps: float) -> float:
    return mbps * 1e6 / (8 * path.mss_bytes) * path.rtt_s


@pytest.mark.parametrize(("rtt_s", "c"), CUBIC_WINDOWS)
def test_cubic_has_the_windows_of_the_rfc(rtt_s: float, c: float) -> None:
    for exponent, printed in enumerate(CUBIC_WINDOWS[rtt_s, c], start=2):
        path = PathConditions(rtt_s, 10.0**-exponent)
        # The tables take 1.2 for sqrt(3/2) = 1.2247, 2 % less, where AIMD is the larger, and round.
        friendly = printed <= round(1.2 * 10 ** (exponent / 2))
        outcome = window(path, cubic(path, c=c).mbps)
        if friendly:
            assert outcome == pytest.approx(math.sqrt(1.5) * 10 ** (exponent / 2))
        else:
            assert outcome == pytest.approx(printed, abs=0.51)


def test_aimd_with_cubics_beta_has_renos_window() -> None:
    path = PathConditions(0.001, 1e-3)
    for beta in (0.5, 0.7, 0.85):
        assert cubic(path, beta=beta).mbps == pytest.approx(mathis(path).mbps)


def test_mathis_by_hand() -> None:
    # 1460 B at 100 ms and 1.5 %: sqrt(1.5 / 0.015) = 10 segments, 116,800 bits, every 100 ms.
    assert mathis(PathConditions(0.1, 0.015, mss_bytes=1460)).mbps == pytest.approx(1.168)
    # An ACK for two segments, not counted by bytes: sqrt(2) less.
    slower = PathConditions(0.1, 0.0075, mss_bytes=1460, segments_per_increase=2)
    assert mathis(slower).mbps == pytest.approx(1.168)


def test_mathis_on_the_routes_of_the_thesis() -> None:
    # Vilela 2022, table 4, noiseless: 1/(RTT sqrt p) of TCPBP, hop count and delay is 321, 267, 318.
    losses = {(0.0085, 0.0018, 0.003): (0.003, 0.0002, 0.0037), (0.004, 0.005): (0.0181, 0.0039)}
    for (delays, links), published in zip(losses.items(), (321, 267), strict=True):
        one_way = 1 - math.prod(1 - p for p in links)
        # The thesis's p is that of the round trip.
        path = PathConditions(2 * sum(delays), 1 - (1 - one_way) ** 2, mss_bytes=1e6 / 8)
        assert mathis(path).mbps == pytest.approx(math.sqrt(1.5) * published, rel=0.005)


def pftk_by_the_process(path: PathConditions) -> float:
    """Padhye's model rebuilt from its definitions: sums over states in place of the closed forms."""
    p, b, limit = path.loss, path.segments_per_increase, path.largest_window
    q = 1 - p
    t0 = path.first_timeout_s
    # Equations 6 and 10 to 12: Y = (1-p)/p + W = b W (3/4 W - 1/2) / 2 + W / 2, solved by bisection.
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        grown = b * middle / 2 * (1.5 * middle - 1) / 2 + middle / 2
        low, high = (middle, high) if grown < q / p + middle else (low, middle)
    rounds = b / 2 * low
    w = low
    if low > limit:
        w = limit
        rising = b * w / 2  # rounds from w/2 to w, one segment each b rounds
        # Then flat, until as many segments have been sent as there are between two losses.
        rounds = rising + (q / p + w - b / 8 * 3 * w * w) / w
    # Section 2.2.1: the loss hits segment k + 1 of the last round; fewer than three of the next get through.
    last = round(w)
    hit = [p * q**k / (1 - q**last) for k in range(last)]  # k segments before it were ACKed
    ends = [
        1.0 if k < 3 else sum(p * q**m for m in range(3))  # of k further segments, m are ACKed before a loss
        for k in range(last)
    ]
    timeout = min(1.0, sum(a * e for a, e in zip(hit, ends, strict=True)))
    # Section 2.2: a series of k timeouts has probability p^(k-1) (1-p) and takes L_k.
    length = [0.0]
    for k in range(400):
        length.append(length[-1] + min(2**k, 64) * t0)
    series = sum(p ** (k - 1) * q * length[k] for k in range(1, 401))
    sent = q / p + w + timeout / q
    return sent / (path.rtt_s * (rounds + 1) + timeout * series)


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("window_segments", [None, 12, 24])
def test_pftk_is_the_process_it_describes(b: int, window_segments: int | None) -> None:
    limit = None if window_segments is None else window_segments * 1448
    # Losses whose window is whole, for the process counts segments.
    for whole in (8, 12, 20, 40, 200):
        offset = (2 + b) / (3 * b)
        q_by_p = ((whole - offset) ** 2 - offset**2) * 3 * b / 8
        path = PathConditions(
            0.1, 1 / (1 + q_by_p), segments_per_increase=b, window_bytes=limit, timeout_s=0.4
        )
        rate = pftk(path).mbps * 1e6 / 8 / 1448
        assert rate == pytest.approx(pftk_by_the_process(path), rel=1e-6), whole


def test_pftk_tends_to_the_square_root_law() -> None:
    path = PathConditions(0.05, 1e-9)
    assert pftk(path).mbps == pytest.approx(mathis(path).mbps, rel=1e-3)


def test_pftk_with_all_losses_timeouts_by_hand() -> None:
    # p = 1/2: window 1 + sqrt(8/3 + 1) = 2.9149, below 3: Q = 1. Sent: 1 + 2.9149 + 2 = 5.9149 segments.
    # f = 1 + .5 + .5 + .5 + .5 + .5 + .5 = 4; 0.1 (1.45743 + 1) + 0.2 * 4 / 0.5 = 1.845743 s.
    assert pftk(PathConditions(0.1, 0.5, mss_bytes=1e6 / 8)).mbps == pytest.approx(
        5.9149 / 1.845743, rel=1e-4
    )


def test_bbr_keeps_what_loss_leaves_up_to_a_fifth() -> None:
    path = {"rtt_s": 0.02, "mss_bytes": 1250.0, "capacity_mbps": 100.0}
    for loss, mbps in ((0.0, 100.0), (0.1, 90.0), (0.2, 80.0)):
        assert bbr(PathConditions(loss=loss, **path)).mbps == pytest.approx(mbps)
        assert bbr(PathConditions(loss=loss, **path)).warnings == ()
    # Beyond it, four segments of 10,000 bits every 20 ms, of which three quarters arrive.
    beyond = bbr(PathConditions(loss=0.25, **path))
    assert beyond.mbps == pytest.approx(1.5)
    assert "loss from 0 to 0.2" in beyond.warnings[0]
    assert bbr(PathConditions(loss=0.3, **path), probe_gain=1.5).warnings == ()


@pytest.mark.parametrize("name", MODELS)
def test_the_share_of_the_capacity_bounds(name: str) -> None:
    path = PathConditions(0.1, 1e-4, capacity_mbps=20, flows=10)
    bounds = ("bbr", "window")  # Of what is sent, 1 - p arrives.
    assert MODELS[name].predict(path).mbps == pytest.approx(2 * (1 - 1e-4 if name in bounds else 1))
    # A fixed window has a prediction without loss only.
    assert bool(MODELS[name].predict(path).warnings) == (name == "window")
    small = PathConditions(0.1, 1e-4, capacity_mbps=20, window_bytes=12_500)
    assert MODELS[name].predict(small).mbps <= 1.0


def test_evenly_spaced_losses_give_the_window_of_mathis() -> None:
    # Mathis and others 1997, equation 3: rate = (MSS / RTT) sqrt(3 / 2) / sqrt(p), which assumes such losses.
    loss = 1e-3
    path = {"between": ["source", "sink"], "direction": "forward"}
    result = Scenario.from_data(
        {
            "run": {"duration": "200 s"},
            "network": {
                "topology": "line",
                "parameters": {"capacity": "1 Gbps", "delay": "50 ms"},
                "link": [{**path, "loss": {"algorithm": "periodic", "probability": loss}}],
            },
            "traffic": [{"from": "source", "to": "sink", "transport": "newreno"}],
        }
    ).run()
    segments = window(PathConditions(0.1, loss), result.flows["goodput_mbps"][0])
    assert segments * math.sqrt(loss) == pytest.approx(math.sqrt(1.5), rel=0.03)
