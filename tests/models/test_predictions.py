"""What `anabranch routes` predicts for a scenario, by hand."""

import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.media.terminal import show
from anabranch.plans.named import PairRoutes
from anabranch.plans.predictions import PathPrediction, ThroughputPrediction
from anabranch.plans.routes import Routes
from anabranch.report.views.routes import route_pieces

EXAMPLES = Path(__file__).parents[2] / "examples"

TWO_LINKS = """
[network]
topology = ""
[network.links]
queue = "100 packets"
[[network.node]]
name = "a"
[[network.node]]
name = "b"
[[network.node]]
name = "c"
[[network.link]]
new = true
between = ["a", "b"]
capacity = "100 Mbps"
delay = "5 ms"
loss = 0.001
[[network.link]]
new = true
between = ["b", "c"]
capacity = "10 Mbps"
delay = "4 ms"
[[network.link]]
between = ["b", "c"]
direction = "forward"
loss = 0.002
[[traffic]]
from = "a"
to = "c"
transport = "newreno"
[run]
duration = "1 s"
""".replace('topology = ""\n', "")

TWO_PATHS = """
[network]
topology = "parallel"
[network.parameters]
paths = [{ capacity = "10 Mbps", delay = "10 ms" }, { capacity = "10 Mbps", delay = "30 ms", loss = 0.02 }]
[network.links]
queue = "100 packets"
[routing]
scheme = "disjoint"
[[traffic]]
from = "source"
to = "sink"
transport = "newreno"
[run]
duration = "1 s"
"""


def data_pair(text: str, **overrides: str) -> PairRoutes:
    """The only pair that sends data."""
    settings = {name.replace("__", "."): value for name, value in overrides.items()}
    (pair,) = (pair for pair in Scenario.loads(text, settings).routes().pairs if pair.carries == "data")
    return pair


def only(pair: PairRoutes) -> ThroughputPrediction:
    """The prediction for the only transport."""
    (prediction,) = pair.predictions
    return prediction


def only_path(text: str, **overrides: str) -> PathPrediction:
    """The prediction for the only path of the only transport."""
    (path,) = only(data_pair(text, **overrides)).paths
    return path


# A full segment has 1460 + 40 bytes on the wire, an ACK with timestamps 52, the payload is 1448 bytes.
RTT_S = 2 * 0.009 + 1552 * 8 / 100e6 + 1552 * 8 / 10e6
LOSS = 1 - 0.999 * 0.998


def test_two_links_by_hand() -> None:
    path = only_path(TWO_LINKS)
    assert path.nodes == ("a", "b", "c")
    assert path.rtt_ms == pytest.approx(RTT_S * 1e3)
    assert path.loss == pytest.approx(LOSS)
    assert path.capacity_mbps == pytest.approx(10 * 1448 / 1500)
    assert path.flows == 1
    # Mathis et al. 1997, equation 3: 1448 B / RTT * sqrt(3 / (2 p)) = 13.3 Mbps, above the capacity.
    assert 1448 * 8 / RTT_S * math.sqrt(1.5 / LOSS) / 1e6 > 13
    assert path.mbps == pytest.approx(10 * 1448 / 1500)
    assert path.warnings == ()


def test_loss_decides_where_it_leaves_less_than_the_capacity() -> None:
    prediction = only(data_pair(TWO_LINKS.replace("10 Mbps", "100 Mbps")))
    rtt_s = 2 * 0.009 + 2 * 1552 * 8 / 100e6
    assert prediction.mbps == pytest.approx(1448 * 8 / rtt_s * math.sqrt(1.5 / LOSS) / 1e6)
    assert (prediction.model, prediction.flows, prediction.reason) == ("mathis", 1, None)


def test_acknowledgments_come_back_by_their_own_way() -> None:
    # 5 ms more from c to b, on the way of the ACKs alone; loss there does not count.
    slow_back = TWO_LINKS.replace(
        "[[traffic]]",
        '[[network.link]]\nbetween = ["b", "c"]\ndirection = "backward"\n'
        'delay = "9 ms"\nloss = 0.3\n[[traffic]]',
    )
    path = only_path(slow_back)
    assert path.rtt_ms == pytest.approx(RTT_S * 1e3 + 5)
    assert path.loss == pytest.approx(LOSS)


def test_flows_of_a_pair_share_the_capacity_and_transports_are_told_apart() -> None:
    text = TWO_LINKS.replace(
        "[run]", '[[traffic]]\nfrom = "a"\nto = "c"\nflows = 7\ntransport = "bbr"\n[run]'
    )
    newreno, bbr = data_pair(text).predictions
    assert (newreno.transport, newreno.flows, bbr.transport, bbr.flows) == ("newreno", 1, "bbr", 7)
    share = 10 * 1448 / 1500 / 8
    # Vilela 2022, section 3.6.2: min(TP, ABW / n_f).
    assert newreno.mbps == pytest.approx(share)
    assert bbr.mbps == pytest.approx(share * (1 - LOSS))


def test_the_receive_buffer_limits() -> None:
    text = TWO_LINKS.replace("loss = 0.001", "").replace("loss = 0.002", "")
    limited = only_path(text + '[transport.newreno]\nreceive_buffer = "14480 B"\n')
    # Ten segments in each round trip.
    assert limited.mbps == pytest.approx(14480 * 8 / RTT_S / 1e6)


def test_without_timestamps_segments_carry_more() -> None:
    path = only_path(TWO_LINKS + "[transport.newreno]\ntimestamps = false\n")
    assert path.capacity_mbps == pytest.approx(10 * 1460 / 1500)
    assert path.rtt_ms == pytest.approx(18 + 1540 * 8 / 100e3 + 1540 * 8 / 10e3)


def test_a_flow_keeps_one_of_two_paths_and_the_mean_is_over_flows() -> None:
    prediction = only(data_pair(TWO_PATHS))
    clean, lossy = prediction.paths
    assert (clean.share, lossy.share) == (0.5, 0.5)
    assert clean.loss == 0
    assert lossy.loss == pytest.approx(0.02)
    assert clean.mbps == pytest.approx(10 * 1448 / 1500)
    assert prediction.mbps == pytest.approx((clean.mbps + lossy.mbps) / 2)


def test_acknowledgments_are_spread_too() -> None:
    clean, lossy = only(data_pair(TWO_PATHS)).paths
    # The ACKs of a flow take either path: 20 ms in the mean, and 52 bytes over two links of 10 Mbps.
    back_ms = 20 + 2 * 52 * 8 / 10e3
    assert clean.rtt_ms == pytest.approx(10 + 2 * 1500 * 8 / 10e3 + back_ms)
    assert lossy.rtt_ms == pytest.approx(30 + 2 * 1500 * 8 / 10e3 + back_ms)


def test_of_several_flows_each_path_has_its_expected_part() -> None:
    clean, _ = only(data_pair(TWO_PATHS.replace('to = "sink"', 'to = "sink"\nflows = 5'))).paths
    # Of the four others half are expected here.
    assert clean.flows == pytest.approx(3)
    assert clean.mbps == pytest.approx(10 * 1448 / 1500 / 3)


def test_packets_of_a_flow_over_two_paths() -> None:
    spread = TWO_PATHS.replace('scheme = "disjoint"', 'scheme = "disjoint"\nload_balancing = "packet"')
    path = only_path(spread.replace("newreno", "mprc"))
    assert path.nodes == ()
    assert path.loss == pytest.approx(0.01)
    assert path.rtt_ms == pytest.approx(20 + 20 + 2 * 1552 * 8 / 10e3)
    assert path.capacity_mbps == pytest.approx(20 * 1448 / 1500)
    assert path.mbps == pytest.approx(1448 * 8 / path.rtt_ms / 1e3 * math.sqrt(1.5 / 0.01))
    assert path.warnings == (
        "mathis: delays of the paths differ by 20 ms, and reordering is not in the model",
    )


def test_duplicate_acks_and_unequal_paths_have_no_prediction() -> None:
    spread = TWO_PATHS.replace(
        'scheme = "disjoint"', 'scheme = "disjoint"\nload_balancing = "packet-round-robin"'
    )
    prediction = only(data_pair(spread))
    assert (prediction.mbps, prediction.paths) == (None, ())
    assert prediction.reason is not None
    assert "differ by 20 ms: 3 duplicate ACKs take reordering for loss" in prediction.reason
    # Over paths of equal delay nothing is reordered without queues.
    assert only(data_pair(spread.replace("30 ms", "10 ms"))).mbps is not None


def test_hop_by_hop_every_way_counts() -> None:
    text = TWO_PATHS.replace('scheme = "disjoint"', 'scheme = "ecmp"')
    pair = data_pair(text)
    assert pair.paths == ()
    prediction = only(pair)
    assert {(path.nodes[1], path.share) for path in prediction.paths} == {("path1", 0.5), ("path2", 0.5)}
    assert prediction.mbps == pytest.approx(sum(path.mbps for path in prediction.paths) / 2)


def test_too_many_ways_are_said_so() -> None:
    # From corner to corner of a grid of 6 x 6 there are C(10, 5) = 252 shortest ways, of 7 x 7 924.
    grid = """
    [network]
    topology = "grid"
    [network.parameters]
    rows = {0}
    columns = {0}
    [network.links]
    capacity = "10 Mbps"
    delay = "1 ms"
    [routing]
    scheme = "ecmp"
    [[traffic]]
    from = "router1.1"
    to = "router{0}.{0}"
    transport = "cubic"
    [run]
    duration = "1 s"
    """
    assert len(only(data_pair(grid.replace("{0}", "6"))).paths) == 252
    prediction = only(data_pair(grid.replace("{0}", "7")))
    assert (prediction.mbps, prediction.reason) == (None, "more than 256 paths, hop by hop")


SLIDING = (
    TWO_LINKS.replace("newreno", "sliding-window").replace("loss = 0.001", "").replace("loss = 0.002", "")
)


def test_a_fixed_window_is_exact_in_the_simulation_too() -> None:
    # Five packets of 1000 bytes, 960 of payload, in 18 ms and the transmission of them and their ACKs of 40.
    text = SLIDING.replace('"1 s"', '"20 s"')
    path = only_path(text)
    rtt_s = 0.018 + 1040 * 8 / 100e6 + 1040 * 8 / 10e6
    assert path.mbps == pytest.approx(5 * 960 * 8 / rtt_s / 1e6)
    flows = Scenario.loads(text).run().flows
    # Two round trips of the handshake are one in a thousand.
    assert flows["goodput_mbps"][0] == pytest.approx(path.mbps, rel=3e-3)


def test_a_transport_without_a_model_says_so() -> None:
    text = TWO_LINKS.replace("newreno", "sdn-paced") + '[controller]\napplication = "sdn-paced"\n[controller.links]\ncapacity = "1 Gbps"\ndelay = "1 ms"\n'  # noqa: E501  # fmt: skip
    prediction = only(data_pair(text))
    assert (prediction.model, prediction.mbps) == (None, None)
    assert prediction.reason == "sdn-paced sends what its controller says"


def test_windows_that_a_controller_limits_are_warned_of() -> None:
    text = TWO_LINKS + '[controller]\napplication = "window-clamp"\n[controller.links]\ncapacity = "1 Gbps"\ndelay = "1 ms"\n'  # noqa: E501  # fmt: skip
    assert "the controller limits windows, which is not in the prediction" in only_path(text).warnings


def shown(routes: Routes, width: int) -> str:
    """What a terminal of so many columns shows."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    show(console, route_pieces(routes))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def printed(routes: Routes, width: int = 200) -> str:
    """What a terminal shows, in one line."""
    return " ".join(shown(routes, width).split())


def test_a_narrow_terminal_gets_fewer_columns_and_no_broken_name() -> None:
    routes = Scenario.load(EXAMPLES / "lossy.toml").routes()
    narrow, wide = (shown(routes, width) for width in (80, 200))
    assert max(len(line) for line in narrow.splitlines()) <= 80
    for text in (narrow, wide):
        assert "source -> sink  bbr" in text
        assert "16.08" in text
    heads = [text.split("source -> sink")[-2] for text in (narrow, wide)]
    assert ["shared" in head for head in heads] == [False, True]
    # What has no room is named below the table.
    assert "shared by" in narrow


def test_the_table_of_the_manual_is_what_is_printed() -> None:
    text = (EXAMPLES.parent / "docs" / "models.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^```\n(predicted throughput.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [
        line.rstrip() for line in shown(Scenario.load(EXAMPLES / "lossy.toml").routes(), 200).splitlines()
    ]
    # The other pair of the example is left out.
    assert len(table.splitlines()) == 8
    assert [line for line in table.splitlines() if line not in lines] == []


EVEN = 'loss = { algorithm = "periodic", probability = 0.001 }'
BURSTS = 'loss = { algorithm = "gilbert-elliott", to_bad = 0.001, to_good = 0.1, loss_bad = 1 }'


@pytest.mark.parametrize(
    ("change", "mbps", "warning"),
    [
        # p = 0: the capacity, without a word.
        (lambda text: text.replace("loss = 0.001", "").replace("loss = 0.002", ""), 9.6533, None),
        (lambda text: text.replace("0.001", "0.9999"), None, "mathis: loss 0.9999 is outside its range"),
        (lambda text: text.replace("0.001", "0.2"), None, "mathis: loss 0.2016 is outside its range"),
        (lambda text: text.replace("loss = 0.001", BURSTS), None, "losses of a->b come in bursts"),
        (lambda text: text.replace("loss = 0.001", EVEN), None, "losses of a->b are evenly spaced"),
        # 0.1 Mbps are less than a segment in a round trip.
        (lambda text: text.replace("10 Mbps", "50 kbps"), None, "mathis: a mean window of"),
    ],
)  # fmt: skip
def test_warnings_reach_terminal_and_json(
    change: Callable[[str], str], mbps: float | None, warning: str | None
) -> None:
    routes = Scenario.loads(change(TWO_LINKS)).routes()
    document: dict[str, Any] = json.loads(json.dumps(routes.data(), allow_nan=False))
    (prediction,) = document["pairs"][0]["predictions"]
    (path,) = prediction["paths"]
    if mbps is not None:
        assert path["mbps"] == pytest.approx(mbps, abs=1e-4)
    if warning is None:
        assert path["warnings"] == []
        assert "note 1" not in printed(routes)
    else:
        assert any(warning in text for text in path["warnings"]), path["warnings"]
        assert f"note 1: {warning}" in printed(routes)
        if "outside" in warning:
            assert "loss from 1e-05 to 0.05, mean window of at least 4 segments" in printed(routes)


@pytest.mark.parametrize(
    "loss", ["1.0", '{ algorithm = "gilbert-elliott", to_bad = 1, to_good = 0, loss_bad = 1 }']
)
def test_a_path_that_loses_everything_is_refused_before(loss: str) -> None:
    with pytest.raises(ScenarioError, match=r"network\.link\[0\]\.loss"):
        Scenario.loads(TWO_LINKS.replace("0.001", loss))


def test_the_metric_has_its_value_and_unit() -> None:
    routes = Scenario.loads(TWO_LINKS, {"routing.metric": "inverse-capacity"}).routes()
    assert routes.metric_column == "inverse_capacity_s_per_tb"
    # 1 / (100 Mbps) + 1 / (10 Mbps) = 0.11 s/Mb.
    assert routes.pairs[0].paths[0].metric_value == pytest.approx(110_000)
    assert "inverse_capacity_s_per_tb" in printed(routes)
    assert "110000" in printed(routes)
    assert Scenario.loads(TWO_LINKS).routes().pairs[0].paths[0].metric_value == 2


KEYS = {
    "pair": {"source", "destination", "carries", "paths", "hop_by_hop", "predictions"},
    "path": {"nodes", "links", "path", "weight", "hops", "delay_ms", "bottleneck_mbps", "loss", "capacities_mbps", "igp_cost", "metric_value"},  # noqa: E501
    "prediction": {"transport", "flows", "model", "mbps", "reason", "paths"},
    "predicted path": {"nodes", "share", "rtt_ms", "loss", "capacity_mbps", "flows", "mbps", "warnings"},
}  # fmt: skip


def test_the_document_has_the_keys_of_the_manual() -> None:
    document = Scenario.loads(TWO_LINKS).routes().data()
    data, acknowledgments = document["pairs"]
    assert data.keys() == acknowledgments.keys() == KEYS["pair"]
    assert acknowledgments["predictions"] == ()
    assert data["paths"][0].keys() == KEYS["path"]
    assert data["predictions"][0].keys() == KEYS["prediction"]
    assert data["predictions"][0]["paths"][0].keys() == KEYS["predicted path"]
    assert document.keys() == {
        "scheme",
        "metric",
        "metric_column",
        "pairs",
        "warnings",
        "facts",
        "traffic",
        "others",
    }


@pytest.mark.parametrize(("preset", "window_bytes"), [("linux-reno", 62_500), ("newreno", 100_000)])
def test_the_window_is_what_the_receive_buffer_holds(preset: str, window_bytes: int) -> None:
    """With autotuning 856 bytes lie beside each full segment in the buffer: of 256 parts 160 are payload."""
    text = f"""
        [network]
        topology = "line"
        [network.parameters]
        capacity = "100 Mbps"
        delay = "50 ms"
        [transport.small]
        preset = "{preset}"
        receive_buffer = "100 kB"
        [[traffic]]
        from = "source"
        to = "sink"
        transport = "small"
        [run]
        duration = "20 s"
    """
    path = only_path(text)
    by_window = window_bytes * 8e-3 / path.rtt_ms
    assert path.mbps == pytest.approx(by_window)
    assert Scenario.loads(text).run().flows["goodput_mbps"][0] == pytest.approx(by_window, rel=0.05)
