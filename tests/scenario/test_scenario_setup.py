"""From scenario to setup: arithmetic, names, precedence, and draws that stay put."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

from anabranch import Scenario, ScenarioError, _core
from anabranch.plans.routes import plans
from anabranch.scenario.algorithms.loss import NoneLoss
from anabranch.scenario.algorithms.scheme import Metric
from anabranch.scenario.declarations import declarations
from anabranch.setup import Setup, resolve

from .conftest import BASE, EXAMPLES

EXAMPLE_FILES = sorted(EXAMPLES.glob("*.toml"))

LINE = """
[network]
[[network.node]]
name = "a"
[[network.node]]
name = "b"
[[network.link]]
between = ["a", "b"]
new = true
capacity = "1 Mbps"
delay = "3 ms"
"""
RUN = '[run]\nduration = "10 s"\n'
A_TO_B = '[[traffic]]\nfrom = "a"\nto = "b"\n'


def link(setup: Setup, name: str) -> dict[str, object]:
    (entry,) = [link for link in setup.data()["links"] if link["name"] == name]
    return dict(entry)


def test_there_are_examples() -> None:
    assert len(EXAMPLE_FILES) >= 5


@pytest.mark.parametrize("file", EXAMPLE_FILES, ids=lambda file: file.stem)
def test_an_example_loads_and_reads_back_from_its_own_text(file: Path) -> None:
    scenario = Scenario.load(file)
    again = Scenario.loads(scenario.toml(), base=file.parent)
    assert again == scenario
    assert again.fingerprint() == scenario.fingerprint()
    assert resolve(again).json() == resolve(scenario).json()


@pytest.mark.parametrize("file", EXAMPLE_FILES, ids=lambda file: file.stem)
def test_the_core_accepts_the_setup_of_an_example(file: Path) -> None:
    setup = resolve(Scenario.load(file))
    entries = [planned.plan.data()["routes"] for planned in plans(setup, None)]
    wanted = {(flow.origin, flow.to) for flow in setup.flows}
    planned = {(route["from"], route["to"]) for routes in entries for route in routes}
    assert wanted
    assert planned == wanted | {(to, origin) for origin, to in wanted}


def test_delays_on_abilene_are_those_of_the_thesis(abilene: Callable[..., Scenario]) -> None:
    """Great-circle distance at 5 us/km and 1 ms a link: 23.76 ms and 28.88 ms one way (Chang 2024)."""
    setup = resolve(
        abilene(network__links__delay='{ from = "distance", speed = "200 km/ms", plus = "1 ms" }')
    )
    delay = {link.name: link.delay for link in setup.links}

    def one_way_ms(*nodes: str) -> float:
        return sum(delay[f"{a}->{b}"] for a, b in pairwise(nodes)) / 1e9

    north = one_way_ms("Seattle", "Denver", "Kansas City", "Indianapolis", "Atlanta")
    south = one_way_ms("Seattle", "Sunnyvale", "Los Angeles", "Houston", "Atlanta")
    assert north == pytest.approx(23.76, abs=0.01)
    assert south == pytest.approx(28.88, abs=0.01)


def test_every_setting_of_a_link_reaches_the_core() -> None:
    settings = """
queue = { algorithm = "codel", limit = ["10 packets", "15 kB"], target = "4 ms" }
loss = { algorithm = "gilbert-elliott", to_bad = 0.1, to_good = 0.4, loss_good = 0.001 }
jitter = { distribution = "uniform", low = "0 ms", high = "2 ms" }
"""
    setup = resolve(Scenario.loads(LINE + settings + "weight = 7\n" + A_TO_B + RUN))
    # Picoseconds, bits per second, bytes; interval of RFC 8289, loss_bad of Gilbert's model.
    assert link(setup, "a->b") == {
        "from": 0,
        "to": 1,
        "name": "a->b",
        "capacity": 1_000_000,
        "delay": 3_000_000_000,
        "jitter": {"distribution": "uniform", "low": 0.0, "high": 2e9},
        "loss": {
            "algorithm": "gilbert-elliott",
            "to_bad": 0.1,
            "to_good": 0.4,
            "loss_good": 0.001,
            "loss_bad": 1.0,
        },
        "queue": {
            "limit": {"packets": 10, "bytes": 15_000},
            "discipline": {
                "algorithm": "codel",
                "target": 4_000_000_000,
                "interval": 100_000_000_000,
                "ecn": False,
            },
        },
        "weight": 7,
    }


def test_parallel_links_are_numbered_and_chosen_by_number() -> None:
    second = '[[network.link]]\nbetween = ["b", "a"]\nnew = true\ncapacity = "2 Mbps"\ndelay = "1 ms"\n'
    change = '[[network.link]]\nbetween = ["a", "b"]\nindex = 2\ndirection = "backward"\nloss = 0.25\n'
    event = '[[event]]\nat = "1 s"\nlink = ["a", "b"]\nindex = 2\nstate = "down"\n'
    setup = resolve(Scenario.loads(LINE + second + change + A_TO_B + event + RUN))
    assert [one.name for one in setup.links] == ["a->b", "b->a", "b->a#2", "a->b#2"]
    lossy = [one.name for one in setup.links if one.loss != NoneLoss()]
    assert lossy == ["b->a#2"]
    (down,) = setup.events
    assert down.change.core() == {"kind": "links", "links": [3, 2], "up": False}


def test_the_more_special_place_wins() -> None:
    text = """
[network]
topology = "dumbbell"
[network.parameters]
bottleneck_capacity = "5 Mbps"
[network.links]
capacity = "1 Gbps"
delay = "1 ms"
[[network.link]]
between = ["left1", "router-left"]
capacity = "2 Gbps"
"""
    setup = resolve(Scenario.loads(text + '[[traffic]]\nfrom = "left1"\nto = "right1"\n' + RUN))
    capacity = {one.name: one.capacity for one in setup.links}
    assert capacity["left1->router-left"] == 2_000_000_000
    assert capacity["router-left->router-right"] == 5_000_000
    assert capacity["router-right->right1"] == 1_000_000_000


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ('capacity = "2 Mbps"', {"kind": "capacity", "links": [0, 1], "capacity": 2_000_000}),
        ('delay = "7 ms"', {"kind": "delay", "links": [0, 1], "delay": 7_000_000_000}),
        (
            "loss = 0.5",
            {"kind": "loss", "links": [0, 1], "loss": {"algorithm": "bernoulli", "probability": 0.5}},
        ),
        (
            'queue = "2 ms"\ndirection = "forward"',
            {
                "kind": "queue",
                "links": [0],
                "queue": {"limit": {"packets": None, "bytes": 250}, "discipline": {"algorithm": "fifo"}},
            },
        ),
        ('state = "up"', {"kind": "links", "links": [0, 1], "up": True}),
    ],
)
def test_events_on_a_link_name_both_directions(text: str, change: dict[str, object]) -> None:
    event = f'[[event]]\nat = "250 ms"\nlink = ["a", "b"]\n{text}\n'
    (setup,) = resolve(Scenario.loads(LINE + A_TO_B + event + RUN)).events
    assert (setup.at, setup.change.core()) == (250_000_000_000, change)


def test_what_only_the_core_can_refuse_names_the_link_and_the_flow() -> None:
    far = '[network]\ntopology = "zoo/Abilene"\n[network.links]\ncapacity = "1 Mbps"\n'
    far += 'delay = { from = "distance", plus = "720 h" }\n[[traffic]]\nfrom = "Seattle"\nto = "Denver"\n'
    late = '[[traffic]]\nfrom = ["a", "b"]\npairs = "permutation"\nstart = "719 h"\nstagger = "9 h"\n'
    for text, message in (
        (far, "delay of the link New York->Chicago: is 2592000005"),
        (LINE + late, "start of the flow traffic[0].1: must be at most 30 days"),
    ):
        with pytest.raises(ScenarioError) as caught:
            Scenario.loads(text + RUN).run()
        assert message in str(caught.value)


def test_events_are_in_the_order_of_time_and_then_of_the_scenario() -> None:
    def event(at: str, state: str) -> str:
        return f'[[event]]\nat = "{at}"\nnode = "a"\nstate = "{state}"\n'

    text = LINE + A_TO_B + event("3 s", "up") + event("1 s", "down") + event("1 s", "up") + RUN
    events = resolve(Scenario.loads(text)).events
    assert [(one.at / 1e12, one.change.up) for one in events] == [(1, False), (1, True), (3, True)]


FLOW = {"algorithm": "flow"}
OF_A_MODEL = ("model", "sharing", "objective")


@pytest.mark.parametrize(
    ("routing", "scheme", "load_balancing"),
    [
        ("", {"algorithm": "shortest", "metric": "hops"}, FLOW),
        ('scheme = "ecmp"\nmetric = "delay"', {"algorithm": "ecmp", "metric": "delay"}, FLOW),
        (
            'scheme = { algorithm = "k-shortest", k = 3 }',
            {"algorithm": "k-shortest", "metric": "hops", "k": 3},
            FLOW,
        ),
        (
            'scheme = "disjoint"\nload_balancing = "packet"',
            {"algorithm": "disjoint", "metric": "hops", "k": None},
            {"algorithm": "packet"},
        ),
        (
            'scheme = "max-flow"\nload_balancing = { algorithm = "flowlet", gap = "20 ms" }',
            {"algorithm": "max-flow", "metric": "hops"},
            {"algorithm": "flowlet", "gap": 20_000_000_000},
        ),
        (
            'scheme = "semper"\nload_balancing = "hash"',
            {"algorithm": "semper", "metric": "hops", "k": None, "shares": "equal"},
            {"algorithm": "hash"},
        ),
        (
            'scheme = { algorithm = "semper", k = 2, shares = "capacity" }\n'
            'load_balancing = "resilient-hash"',
            {"algorithm": "semper", "metric": "hops", "k": 2, "shares": "capacity"},
            {"algorithm": "resilient-hash"},
        ),
        (
            'scheme = "semper"\n'
            'load_balancing = { algorithm = "subflow-round-robin", idle_timeout = "60 s" }',
            {"algorithm": "semper", "metric": "hops", "k": None, "shares": "equal"},
            {"algorithm": "subflow-round-robin", "idle_timeout": 60_000_000_000_000},
        ),
        ('scheme = "tcpbp"', {"algorithm": "tcpbp", "metric": "tcpbp", "k": 1}, FLOW),
        (
            'scheme = { algorithm = "tcpbp-exact", k = 3 }\nmetric = "tcpbp"',
            {"algorithm": "tcpbp-exact", "metric": "tcpbp", "k": 3, **dict.fromkeys(OF_A_MODEL)},
            FLOW,
        ),
        *(
            (f'metric = "{metric}"', {"algorithm": "shortest", "metric": metric}, FLOW)
            for metric in get_args(Metric)
        ),
    ],
)
def test_routing_as_the_core_reads_it(
    routing: str, scheme: dict[str, object], load_balancing: dict[str, object]
) -> None:
    setup = resolve(Scenario.loads(LINE + "weight = 3\n" + A_TO_B + f"[routing]\n{routing}\n" + RUN))
    routing_setup = setup.routing
    assert (routing_setup.scheme.core(), routing_setup.load_balancing.core()) == (scheme, load_balancing)
    assert setup.routing.reaction == 1_000_000_000_000
    assert setup.core().plan().data()["routes"]


def test_metrics_are_those_of_the_core() -> None:
    assert [name for name, _ in _core.metrics()] == list(get_args(Metric))
    (of_sums,) = (p for p in declarations()["scheme"]["ecmp"]["parameters"] if p["name"] == "metric")
    additive = {choice["name"] for choice in of_sums["choices"]}
    assert {name for name, adds_up in _core.metrics() if adds_up} == additive


def test_a_model_makes_a_planner_of_a_scheme() -> None:
    routing = '[routing]\nscheme = { algorithm = "tcpbp-exact", model = "pftk" }\n'
    setup = resolve(Scenario.loads(LINE + A_TO_B + routing + RUN))
    assert setup.routing.scheme is None
    left_out = {"k": 1, "metric": "tcpbp", "sharing": None, "objective": None}
    assert setup.planner is not None
    assert dict(setup.planner.scheme.items()) == {"algorithm": "tcpbp-exact", "model": "pftk", **left_out}


def test_routes_can_be_told_to_stay() -> None:
    setup = resolve(Scenario.loads(LINE + A_TO_B + '[routing]\nreaction = "never"\n' + RUN))
    assert setup.routing.reaction is None


# --- transports


@pytest.mark.parametrize(
    ("preset", "table", "changed"),
    [
        (
            "sdn-paced",
            'segment = "1500 B"\nreliable = false\nhandshake_timeout = "3 s"',
            {"segment": 1500, "reliable": False, "handshake_timeout": 3 * 10**12},
        ),
        (
            "sliding-window",
            'segment = "41 B"\nwindow_segments = 8\ninitial_rto = "2 s"\nmax_rto = "2 s"',
            {"segment": 41, "window_segments": 8, "initial_rto": 2 * 10**12, "max_rto": 2 * 10**12},
        ),
        ("cubic", 'handshake_timeout = "3 s"', {"handshake_timeout": 3 * 10**12}),
    ],
)
def test_fields_of_every_protocol_reach_the_core(preset: str, table: str, changed: dict[str, object]) -> None:
    controller = '[controller]\napplication = "sdn-paced"\n' if preset == "sdn-paced" else ""
    links = '[controller.links]\ncapacity = "1 Gbps"\ndelay = "1 us"\n' if controller else ""
    text = LINE + A_TO_B + f'transport = "mine"\n[transport.mine]\npreset = "{preset}"\n{table}\n'
    setup = resolve(Scenario.loads(text + controller + links + RUN))
    assert setup.transports[0].config.core() == json.loads(_core.transport_preset(preset)) | changed
    assert setup.core().plan().data()["routes"]


def test_a_multipath_transport_has_the_fields_of_its_subflows() -> None:
    text = """[transport.mine]
preset = "mptcp"
path_manager = { algorithm = "ndiffports", subflows = 32 }
scheduler = "blest"
penalisation = false
congestion_control = "olia"
min_rto = "1 s"
"""
    setup = resolve(Scenario.loads(LINE + A_TO_B + 'transport = "mine"\n' + text + RUN))
    expected = json.loads(_core.transport_preset("mptcp"))
    expected |= {"scheduler": {"algorithm": "blest"}, "penalisation": False}
    expected["path_manager"] = {"algorithm": "ndiffports", "subflows": 32, "by_interfaces": False}
    expected["tcp"] |= {"min_rto": 10**12, "congestion_control": {"algorithm": "olia"}}
    assert setup.transports[0].config.core() == expected
    assert setup.core().plan().data()["routes"]
    # Another path manager has no number of subflows.
    text = '[transport.mptcp]\npath_manager = "fullmesh"\ncongestion_control = "cubic"\n'
    setup = resolve(Scenario.loads(LINE + A_TO_B + 'transport = "mptcp"\n' + text + RUN))
    assert setup.transports[0].config.path_manager.core() == {
        "algorithm": "fullmesh",
        "limit": 255,
        "add_addr_accepted": 8,
    }
    cubic = json.loads(_core.transport_preset("cubic"))["congestion_control"]
    assert setup.transports[0].config.tcp.congestion_control.core() == cubic


def test_a_transport_is_a_preset_with_changes() -> None:
    text = """
[transport.mine]
preset = "newreno"
loss_detection = "rack"
congestion_control = { algorithm = "cubic", beta = 0.8 }
pacing = "window"
min_rto = "1 s"
receive_buffer = "1 MiB"
mss = "536 B"
"""
    setup = resolve(Scenario.loads(LINE + A_TO_B + 'transport = "mine"\n' + text + RUN))
    (transport,) = setup.transports
    expected = json.loads(_core.transport_preset("newreno"))
    expected |= {
        "loss_detection": {"algorithm": "rack", "tail_loss_probe": True, "max_ack_delay": 200_000_000_000},
        # Other parameters: RFC 9438 section 5 (C = 0.4), 4.7, and RFC 9406.
        "congestion_control": {
            "algorithm": "cubic",
            "hystart": True,
            "beta": 0.8,
            "beta_ecn": 0.7,
            "c": 0.4,
            "fast_convergence": True,
            "reno_friendly": True,
        },
        "pacing": {"algorithm": "window", "slow_start_gain": 2.0, "avoidance_gain": 1.2},
        "min_rto": 1_000_000_000_000,
        "receive_buffer": 1_048_576,
        "mss": 536,
    }
    assert (transport.name, transport.config.core()) == ("mine", expected)
    assert setup.core().plan().data()["routes"]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        # Bohacek 2003: alpha 0.995, beta 3.
        ('loss_detection = "tcp-pr"', {"algorithm": "tcp-pr", "ewrtt_alpha": 0.995, "mxrtt_beta": 3.0}),
        (
            'loss_detection = { algorithm = "rr-tcp", fa_ratio = 0.5 }',
            {"algorithm": "rr-tcp", "fa_ratio": 0.5, "fa_step": 0.01, "timeout_cost": 10.0},
        ),
        ('loss_detection = "tcp-ncr"', {"algorithm": "tcp-ncr", "limited_transmit": "careful"}),
        (
            'loss_detection = { algorithm = "tcp-ncr", limited_transmit = "aggressive" }',
            {"algorithm": "tcp-ncr", "limited_transmit": "aggressive"},
        ),
    ],
)
def test_loss_detections_that_stand_reordering_have_their_defaults(
    table: str, expected: dict[str, object]
) -> None:
    setup = resolve(Scenario.loads(LINE + A_TO_B + f"[transport.cubic]\n{table}\n" + RUN))
    assert setup.transports[0].config.loss_detection.core() == expected
    assert setup.transports[0].config.congestion_control.algorithm == "cubic"
    assert setup.core().plan().data()["routes"]


def test_a_table_may_change_a_preset_in_place() -> None:
    setup = resolve(
        Scenario.loads(
            LINE
            + A_TO_B
            + '[transport.cubic]\ncongestion_control = { algorithm = "cubic", hystart = false }\n'
            + RUN
        )
    )
    assert setup.transports[0].config.congestion_control.hystart is False


# --- traffic


def test_random_draws_of_a_flow_hang_on_its_name_alone() -> None:
    random = 'flows = 3\nsize = { distribution = "exponential", mean = "1 MB" }\n' + (
        'start = { distribution = "uniform", low = "0 s", high = "1 s" }\n'
    )
    alone = resolve(Scenario.loads(LINE + A_TO_B + random + RUN)).flows
    pareto = '{ distribution = "pareto", scale = "1 kB", shape = 2 }'
    other = f'[[traffic]]\nfrom = "b"\nto = "a"\nflows = 7\nsize = {pareto}\n'
    beside = resolve(Scenario.loads(LINE + A_TO_B + random + other + RUN)).flows
    assert beside[:3] == alone
    assert len(beside) == 10
    fewer = resolve(Scenario.loads(LINE + A_TO_B + random.replace("3", "2") + RUN)).flows
    assert fewer == alone[:2]
    sizes = {flow.source.bytes for flow in alone}
    assert len(sizes) == 3


def test_seed_and_replication_change_the_draws() -> None:
    text = LINE + A_TO_B + 'size = { distribution = "exponential", mean = "1 MB" }\n' + RUN
    runs = [{"run.seed": str(seed), "run.replication": str(number)} for seed in (1, 2) for number in (0, 1)]
    sizes = {resolve(Scenario.loads(text, run)).flows[0].source.bytes for run in runs}
    assert len(sizes) == 4


def test_flows_arrive_one_after_the_other() -> None:
    text = LINE + A_TO_B + 'flows = 4\nstart = "1 s"\ninter_arrival = "250 ms"\n' + RUN
    assert [flow.start / 1e12 for flow in resolve(Scenario.loads(text)).flows] == [1, 1.25, 1.5, 1.75]


def test_pairs_may_begin_one_after_the_other() -> None:
    pairs = 'from = ["Seattle", "Denver"]\npairs = "in-order"\nflows = 2\nstart = "1 s"\nstagger = "500 ms"'
    text = BASE.replace('from = "Seattle"', pairs).replace('to = "Atlanta"', 'to = ["Atlanta", "Houston"]')
    flows = resolve(Scenario.loads(text)).flows
    assert [flow.start / 1e12 for flow in flows] == [1, 1, 1.5, 1.5]
    random = text.replace('"500 ms"', '{ distribution = "exponential", mean = "500 ms" }')
    starts = [flow.start for flow in resolve(Scenario.loads(random)).flows]
    assert starts[0] == starts[1] < starts[2] == starts[3]


def test_unlimited_arrivals_end_with_the_run() -> None:
    text = (
        LINE
        + A_TO_B
        + 'flows = "unlimited"\ninter_arrival = { distribution = "exponential", mean = "10 ms" }\n'
        + RUN
    )
    flows = resolve(Scenario.loads(text)).flows
    # A Poisson process of rate 100/s over 10 s: 1000 expected, standard deviation 32; five of them.
    assert len(flows) == pytest.approx(1000, abs=160)
    assert flows[-1].start < 10e12
    assert len({flow.name for flow in flows}) == len(flows)


def test_the_number_of_flows_may_be_drawn_for_each_pair() -> None:
    random = '{ distribution = "gaussian", mean = 20, standard_deviation = 5 }'
    text = BASE.replace('from = "Seattle"', f'from = "*"\nflows = {random}')
    scenario = Scenario.loads(text)
    assert Scenario.loads(scenario.toml()) == scenario
    flows = resolve(scenario).flows
    numbers = Counter(flow.origin for flow in flows)
    assert len(numbers) == 10
    assert len(set(numbers.values())) > 1
    # The sum of ten: mean 200, standard deviation 15.8; five of them.
    assert len(flows) == pytest.approx(200, abs=80)
    fewer = resolve(Scenario.loads(text.replace('"*"', '"Seattle"'))).flows
    assert len(fewer) == numbers[flows[0].origin]


def test_a_pair_has_one_flow_at_least() -> None:
    none = 'flows = { distribution = "constant", value = 0 }\n'
    assert len(resolve(Scenario.loads(LINE + A_TO_B + none + RUN)).flows) == 1


def test_applications_send_at_their_rate() -> None:
    text = LINE + A_TO_B + 'application = { kind = "poisson", message = "1 kB", rate = "80 kbps" }\n' + RUN
    # 1000 bytes at 80 kbit/s: one every 100 ms.
    assert resolve(Scenario.loads(text)).flows[0].source.core() == {
        "kind": "messages",
        "size": {"distribution": "constant", "value": 1000.0},
        "gap": {"distribution": "exponential", "mean": 1e11},
    }


def test_a_permutation_sends_and_receives_once_everywhere() -> None:
    text = """
[network]
topology = "leaf-spine"
[network.links]
capacity = "10 Gbps"
delay = "1 us"
[[traffic]]
from = "*"
pairs = "permutation"
"""
    flows = resolve(Scenario.loads(text + RUN)).flows
    # 8 leaves with 4 hosts each, by the generator's defaults.
    assert len(flows) == 32
    assert len({flow.origin for flow in flows}) == len({flow.to for flow in flows}) == 32
    assert all(flow.origin != flow.to for flow in flows)


def test_lists_of_nodes_make_pairs() -> None:
    base = BASE.replace('"Seattle"', '["Seattle", "Denver"]').replace('"Atlanta"', '["Atlanta", "Denver"]')
    names = [node.name for node in resolve(Scenario.loads(base)).nodes]

    def pairs(text: str) -> list[tuple[str, str]]:
        return [(names[flow.origin], names[flow.to]) for flow in resolve(Scenario.loads(text)).flows]

    assert pairs(base) == [("Seattle", "Atlanta"), ("Seattle", "Denver"), ("Denver", "Atlanta")]
    in_order = base.replace('["Atlanta", "Denver"]', '["Atlanta", "Chicago"]\npairs = "in-order"')
    assert pairs(in_order) == [("Seattle", "Atlanta"), ("Denver", "Chicago")]


def test_an_idle_node_changes_no_flow_and_no_link() -> None:
    plain = resolve(Scenario.loads(BASE))
    with_idle = resolve(Scenario.loads(BASE + '[[network.node]]\nname = "idle"\n'))
    assert with_idle.flows == plain.flows
    assert with_idle.links == plain.links
    assert [node.name for node in with_idle.nodes[len(plain.nodes) :]] == ["idle"]


# --- sequence numbers and event logs

DUMBBELL_OF_THREE = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 3
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
[[traffic]]
name = "many"
from = "left1"
to = "right1"
transport = "mptcp"
[[traffic]]
name = "one"
from = "left2"
to = "right2"
[[traffic]]
name = "fixed"
from = "left3"
to = "right3"
transport = "sliding-window"
"""


def test_sequences_are_flows_by_number() -> None:
    text = LINE + A_TO_B + "flows = 4\n" + RUN
    named = text + 'sequences = ["traffic[0].3", "traffic[0].1", "traffic[0].3"]\n'
    assert resolve(Scenario.loads(named)).probes.sequences == [1, 3]
    assert resolve(Scenario.loads(text + 'sequences = "*"\n')).probes.sequences == [0, 1, 2, 3]
    assert resolve(Scenario.loads(text)).probes.sequences == []


def test_logs_are_flows_by_number_those_of_the_controller_apart() -> None:
    text = DUMBBELL_OF_THREE + RUN
    every = resolve(Scenario.loads(text + 'log = "*"\n'))
    assert [flow.name for flow in every.flows] == ["many.0", "one.0", "fixed.0"]
    assert every.probes.log == [0, 1]
    assert resolve(Scenario.loads(text + 'log = ["one.0", "many.0"]\n')).probes.log == [0, 1]
    assert resolve(Scenario.loads(text)).probes.log == []
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(text + 'log = ["fixed.0"]\n', origin="x.toml"))
    assert caught.value.lines() == [
        'x.toml: run.log[0]: "fixed.0" is without congestion control; its sender decides nothing that a log '
        "could tell; name it in run.sequences"
    ]


def test_logs_of_too_many_flows_are_refused() -> None:
    text = LINE + A_TO_B + "flows = 101\n" + RUN + 'log = "*"\n'
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(text, origin="x.toml"))
    assert caught.value.lines() == [
        "x.toml: run.log: means 101 flows, and a row for each of their ACKs; name at most 100 flows"
    ]


def test_sequences_of_too_many_flows_are_refused() -> None:
    text = LINE + A_TO_B + "flows = 1001\n" + RUN + 'sequences = "*"\n'
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(text, origin="x.toml"))
    assert caught.value.lines() == [
        "x.toml: run.sequences: means 1,001 flows, and a row for each of their segments; name at most "
        "1,000 flows"
    ]
