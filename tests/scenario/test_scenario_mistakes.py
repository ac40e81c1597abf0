"""Every mistake gets one message with its place and what would be right."""

import re
from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import resolve

from .conftest import BASE
from .mistakes_of_choices import CHOICES

SPAN_UNITS = "units: ps, ns, us, µs, ms, s, min, h"
RATE_UNITS = "units: bps, kbps, Mbps, Gbps, Tbps, bit/s, kbit/s, Mbit/s, Gbit/s"

ROUNDED = ", and rounding would change it by more than one part in 1000; write "
# What is added to the scenario, or put in place of a line of it, and the only message.
MISTAKES: list[tuple[str, str, str]] = [
    # Keys.
    ("[run]", '[run]\nduraton = "1 s"', 'run.duraton: no such key; nearest: "duration"'),
    (
        "[network.links]",
        "[network.links]\ncapcity = 1",
        'network.links.capcity: no such key; nearest: "capacity"',
    ),
    ("[network]", "[netwrk]\n[network]", 'netwrk: no such key; nearest: "network"'),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nstart = { distribution = "uniform", low = "1 s", high = "2 s", hi = 1 }',
        'traffic[0].start.hi: no such key; nearest: "high"',
    ),
    ('to = "Atlanta"', "", "traffic[0].to: is missing; it names the node that receives"),
    ('duration = "1 s"', "", "run.duration: is missing (simulated time)"),
    # Units.
    (
        '"10 Mbps"',
        "10",
        f'network.links.capacity: "10" has no unit; a rate is written like "10 Mbps" ({RATE_UNITS})',
    ),
    (
        '"10 Mbps"',
        '"10 Mb"',
        f'network.links.capacity: "10 Mb": "Mb" is not a unit of a rate; write "10 Mbps" ({RATE_UNITS})',
    ),
    (
        '"10 Mbps"',
        "nan",
        'network.links.capacity: "nan" is not a rate; write a number and a unit, for example "10 Mbps"',
    ),
    ('"10 Mbps"', "true", 'network.links.capacity: true is not a rate; write text such as "10 Mbps"'),
    (
        '"1 s"',
        '"1 m"',
        f'run.duration: "1 m": "m" is not a unit of a time ({SPAN_UNITS})',
    ),
    (
        '"1 s"',
        '"1 h 30 min"',
        f'run.duration: "1 h 30 min": "h 30 min" is not a unit of a time ({SPAN_UNITS})',
    ),
    ('"1 s"', '"0.1 ps"', f'run.duration: "0.1 ps" is finer than the smallest unit, ps{ROUNDED}"1 ps"'),
    ('"1 s"', '"999999999999 h"', 'run.duration: "999999999999 h" is too large'),
    ('"1 s"', '"2000 h"', "run.duration: '2000 h' is above 30 days, the largest that is allowed"),
    (
        '"10 Mbps"',
        '"10 Mbps"\ndelay = "distance"',
        'network.links.delay: "distance" is a table; write { from = "distance" }, and speed or plus if you '
        "like",
    ),
    # Values out of range.
    ('"10 Mbps"', '"0 Mbps"', 'network.links.capacity: "0 Mbps" must be above zero, for example "10 Mbps"'),
    (
        '"10 Mbps"',
        '"-1 Mbps"',
        'network.links.capacity: "-1 Mbps" is below zero; a rate is written like "10 Mbps"',
    ),
    ('"1 s"', '"0 s"', 'run.duration: "0 s" must be above zero, for example "2.5 ms"'),
    ("[[traffic]]", "loss = 1.5\n[[traffic]]", "network.links.loss: 1.5 must be below 1.0"),
    ("[[traffic]]", "loss = -0.1\n[[traffic]]", "network.links.loss: -0.1 must be at least 0.0"),
    (
        "[[traffic]]",
        "loss = nan\n[[traffic]]",
        "network.links.loss: nan is not a number that can be used; write a finite one",
    ),
    (
        "[[traffic]]",
        "loss = inf\n[[traffic]]",
        "network.links.loss: inf is not a number that can be used; write a finite one",
    ),
    (
        "[[traffic]]",
        'loss = "1 %"\n[[traffic]]',
        'network.links.loss: "1 %" is not a number; write 0.01',
    ),
    (
        "[[traffic]]",
        'loss = { algorithm = "gilbert-elliott", to_bad = 2, to_good = 0.5 }\n[[traffic]]',
        "network.links.loss.to_bad: 2 must be at most 1.0; 2 % is 0.02",
    ),
    (
        "[[traffic]]",
        'loss = { algorithm = "gilbert-elliott", to_bad = 0.1, to_good = 0.0 }\n[[traffic]]',
        "network.links.loss: every packet would be lost; a link that carries nothing is an event with state "
        '= "down"',
    ),
    (
        "[[traffic]]",
        'loss = { algorithm = "gilbert-elliott", to_bad = 0.1 }\n[[traffic]]',
        "network.links.loss.to_good: is missing (probability of going from bad to good, at each packet)",
    ),
    ("[run]", "[run]\nseed = -1", "run.seed: -1 must be at least 0"),
    ("[run]", "[run]\nseed = 1.5", "run.seed: 1.5 is not a whole number"),
    ("[run]", '[run]\nflow_series = "yes"', 'run.flow_series: "yes" is neither true nor false'),
    *CHOICES,
    # Names of nodes and links.
    ('"Seattle"', '"Seatle"', 'traffic[0].from: no node "Seatle" in zoo/Abilene; nearest: "Seattle"'),
    ('to = "Atlanta"', 'to = "Seattle"', 'traffic[0].to: is the node that sends as well, "Seattle"'),
    (
        "[run]",
        '[[event]]\nat = "1 s"\nlink = ["Denver", "New York"]\nstate = "down"\n[run]',
        'event[0].link: no link between "Denver" and "New York" in zoo/Abilene; links of "Denver" lead to: '
        '"Kansas City", "Seattle", "Sunnyvale"',
    ),
    (
        "[run]",
        '[[event]]\nat = "1 s"\nlink = ["Denver", "Seattle"]\nindex = 2\nstate = "down"\n[run]',
        'event[0].link: no link 2 between "Denver" and "Seattle"; zoo/Abilene has 1',
    ),
    (
        "[run]",
        '[[event]]\nat = "1 s"\nnode = "Qq"\nstate = "down"\n[run]',
        'event[0].node: no node "Qq" in zoo/Abilene; nodes: "New York", "Chicago", '
        '"Washington DC", "Seattle", '
        '"Sunnyvale", "Los Angeles", "Denver", "Kansas City", "Houston", "Atlanta", "Indianapolis"',
    ),
    (
        "[run]",
        '[event]\nat = "1 s"\n[run]',
        "event: a table is not a list; write [[event]], in double brackets",
    ),
    (
        "[run]",
        '[[event]]\nat = "1 s"\nlink = ["Denver", "Seattle"]\n[run]',
        "event[0].state: nothing changes; give state, capacity, delay, loss or queue",
    ),
    (
        "[run]",
        '[[network.link]]\nbetween = ["Denver", "Atlanta"]\n[run]',
        'network.link[0].between: no link between "Denver" and "Atlanta" in zoo/Abilene; to add one, write '
        "new = true",
    ),
    (
        "[run]",
        '[[network.link]]\nbetween = ["Denver"]\n[run]',
        "network.link[0].between: has 1 in place of 2 entries",
    ),
    (
        '"zoo/Abilene"',
        '"zoo/Abilen"',
        'network.topology: no graph "Abilen" in the Topology Zoo; nearest: "Abilene"',
    ),
    (
        '"zoo/Abilene"',
        '"file:missing.graphml"',
        "network.topology: file:missing.graphml: there is no such file; check the path",
    ),
    (
        '"10 Mbps"',
        '"10 Mbps"\n[network.parameters]\nhosts = 1',
        'network.topology: zoo/Abilene: has no parameter "hosts"; only generators take parameters',
    ),
    (
        'capacity = "10 Mbps"',
        "",
        "network.links.capacity: is missing: link New York - Chicago (and 13 more) of "
        "zoo/Abilene has no capacity of "
        'its own; write one, for example "10 Mbps"',
    ),
    # Pairs that are not connected.
    (
        'to = "Atlanta"',
        'to = "lab"\n[[network.node]]\nname = "lab"',
        'traffic[0]: no path from "Seattle" to "lab" in zoo/Abilene for its data\n'
        'traffic[0]: no path from "lab" to "Seattle" in zoo/Abilene for its acknowledgments',
    ),
    (
        'to = "Atlanta"',
        'to = "lab"\n[[network.node]]\nname = "lab"\n[[network.link]]\nnew = '
        'true\nbetween = ["Denver", "lab"]\n'
        'delay = "1 ms"\ndirection = "forward"',
        'traffic[0]: no path from "lab" to "Seattle" in zoo/Abilene for its acknowledgments',
    ),
    # Traffic and transports.
    (
        'to = "Atlanta"',
        'to = "Atlanta"\ntransport = "cubik"',
        'traffic[0].transport: transport "cubik" is not known; nearest: "cubic"; there '
        'are "newreno", "cubic", "dctcp", "bbr", "ns2-newreno", "bbr3", '
        '"linux-reno", "linux-cubic", "linux-bbr", "mprc", "dctcp-fabric", "mprc-fabric", "tcp-pr", '
        '"rr-tcp", "tcp-ncr", "mptcp", "mptcp-olia", "mptcp-balia", "mptcp-cubic", "linux-mptcp", '
        '"sdn-paced", "sliding-window", "uet", "uet-reps", "mrc"',
    ),
    (
        "[run]",
        '[transport.newreno]\ncongestion_control = { algorithm = "newreno", beta = 0.5 }\n[run]',
        "transport.newreno.congestion_control.beta: is a parameter of cubic, bbr3 and linux-cubic "
        '(congestion_control); the congestion_control here is "newreno", which has hystart, beta_ecn',
    ),
    (
        "[run]",
        '[transport.newreno]\ncongestion_control = "cubic"\nbeta = 0.5\n[run]',
        "transport.newreno.beta: is a parameter of cubic, bbr3 and linux-cubic (congestion_control), and "
        'stands with it: write congestion_control = { algorithm = "cubic", beta = ... }',
    ),
    (
        "[run]",
        '[transport.newreno]\ncongestion_control = { algorithm = "cubik" }\n[run]',
        'transport.newreno.congestion_control: algorithm "cubik" is not known; nearest: "cubic"; there are '
        '"newreno", "cubic", "bbr", "bbr3", "linux-reno", "linux-cubic", "ns2-newreno", "dctcp", "mprc", '
        '"lia", "olia", '
        '"balia", "held"',
    ),
    (
        "[run]",
        "[transport.newreno]\ncongestion_control = { beta = 0.5 }\n[run]",
        'transport.newreno.congestion_control: a table here needs the key "algorithm": one of '
        '"newreno", "cubic", "bbr", "bbr3", "linux-reno", "linux-cubic", "ns2-newreno", "dctcp", "mprc", '
        '"lia", "olia", '
        '"balia", "held"; or "python": a class of yours',
    ),
    (
        "[run]",
        '[transport.newreno]\ncongestion_control = "cubik"\n[run]',
        'transport.newreno.congestion_control: "cubik" is not known; nearest: "cubic"; there are '
        '"newreno", "cubic", "bbr", "bbr3", "linux-reno", "linux-cubic", "ns2-newreno", "dctcp", "mprc", '
        '"lia", "olia", '
        '"balia", "held"',
    ),
    (
        "[run]",
        "[transport.tcp-pr]\nsack = false\n"
        'loss_detection = { algorithm = "tcp-pr", ewrtt_alpha = 1.0, mxrtt_beta = 1.0 }\n[run]',
        "transport.tcp-pr.loss_detection.ewrtt_alpha: 1.0 must be below 1.0\n"
        "transport.tcp-pr.loss_detection.mxrtt_beta: 1.0 must be above 1.0",
    ),
    (
        "[run]",
        "[transport.tcp-pr]\nsack = false\n[run]",
        'transport.tcp-pr.sack: is false, but the loss_detection "tcp-pr" needs selective acknowledgments',
    ),
    (
        "[run]",
        "[transport.dctcp]\necn = false\n[run]",
        'transport.dctcp.ecn: is false, but the congestion_control "dctcp" lives on ECN marks',
    ),
    (
        "[run]",
        '[transport.cubic]\nloss_detection = "rr-tcp"\nsack = false\n[run]',
        'transport.cubic.sack: is false, but the loss_detection "rr-tcp" needs selective acknowledgments',
    ),
    (
        "[run]",
        "[transport.rr-tcp.loss_detection]\n"
        'algorithm = "rr-tcp"\nfa_ratio = 1.1\nfa_step = -0.1\ntimeout_cost = -1\n[run]',
        "transport.rr-tcp.loss_detection.fa_ratio: 1.1 must be at most 1.0\n"
        "transport.rr-tcp.loss_detection.fa_step: -0.1 must be at least 0.0\n"
        "transport.rr-tcp.loss_detection.timeout_cost: -1 must be at least 0.0",
    ),
    (
        "[run]",
        '[transport.tcp-ncr]\nloss_detection = { algorithm = "tcp-ncr", limited_transmit = "bold" }\n[run]',
        'transport.tcp-ncr.loss_detection.limited_transmit: "bold" is not known; there are "careful", '
        '"aggressive"',
    ),
    (
        "[run]",
        "[transport.tcp-ncr]\nthreshold = 5\n[run]",
        "transport.tcp-ncr.threshold: is a parameter of dupack (loss_detection), and stands with it: write "
        'loss_detection = { algorithm = "dupack", threshold = ... }',
    ),
    (
        "[run]",
        "[transport.mine]\n[run]",
        'transport.mine.preset: is missing; "mine" is no preset itself: newreno, cubic, '
        "dctcp, bbr, ns2-newreno, bbr3, linux-reno, linux-cubic, "
        "linux-bbr, mprc, dctcp-fabric, mprc-fabric, tcp-pr, rr-tcp, tcp-ncr, mptcp, mptcp-olia, "
        "mptcp-balia, mptcp-cubic, linux-mptcp, "
        "sdn-paced, sliding-window, uet, uet-reps, mrc",
    ),
    (
        "[run]",
        '[transport.mprc.loss_detection]\nalgorithm = "fastrto"\ngamma = 1\nk = 0\nsrtt_gain = 1\n'
        'rttvar_gain = 0\nfastrto_max = "0 s"\n[run]',
        "transport.mprc.loss_detection.gamma: 1 must be above 1.0\n"
        "transport.mprc.loss_detection.k: 0 must be above 0.0\n"
        "transport.mprc.loss_detection.srtt_gain: 1 must be below 1.0\n"
        "transport.mprc.loss_detection.rttvar_gain: 0 must be above 0.0\n"
        'transport.mprc.loss_detection.fastrto_max: "0 s" must be above zero, for example "2.5 ms"',
    ),
    (
        "[run]",
        '[transport.cubic]\nloss_detection = { algorithm = "dupack", gamma = 2 }\n[run]',
        "transport.cubic.loss_detection.gamma: is a parameter of fastrto (loss_detection); the "
        'loss_detection here is "dupack", which has threshold, impatient',
    ),
    (
        "[run]",
        '[transport.sdn-paced]\nmss = "1 kB"\n[run]',
        'transport.sdn-paced.mss: is a field of tcp and mptcp; the protocol of "sdn-paced" is sdn-paced, '
        "which has segment, reliable, initial_rto, max_rto, handshake_timeout",
    ),
    (
        "[run]",
        '[transport.mine]\npreset = "sliding-window"\nreliable = true\nundo = true\n[run]',
        'transport.mine.undo: is a field of tcp and mptcp; the protocol of "sliding-window" is '
        "sliding-window, which has segment, window_segments, initial_rto, max_rto, handshake_timeout\n"
        'transport.mine.reliable: is a field of sdn-paced; the protocol of "sliding-window" is '
        "sliding-window, which has segment, window_segments, initial_rto, max_rto, handshake_timeout",
    ),
    (
        "[run]",
        '[transport.cubic]\nsegment = "1 kB"\n[run]',
        'transport.cubic.segment: is a field of sdn-paced and sliding-window; the protocol of "cubic" is tcp',
    ),
    (
        "[run]",
        '[transport.mptcp]\npath_manager = { algorithm = "ndiffports", subflows = 0 }\n'
        '[transport.mptcp-olia]\npath_manager = { algorithm = "ndiffports", subflows = 256 }\n[run]',
        "transport.mptcp.path_manager.subflows: 0 must be at least 1\n"
        "transport.mptcp-olia.path_manager.subflows: 256 must be at most 255",
    ),
    (
        "[run]",
        '[transport.mine]\npreset = "sliding-window"\nxyzzy = 64\n[run]',
        "transport.mine.xyzzy: no such key; there are segment, window_segments, initial_rto, max_rto, "
        "handshake_timeout, preset",
    ),
    (
        "[run]",
        '[transport.cubic]\nscheduler = "blest"\n[run]',
        'transport.cubic.scheduler: is a field of mptcp; the protocol of "cubic" is tcp',
    ),
    (
        "[run]",
        '[transport.mptcp]\npath_manager = { algorithm = "default", subflows = 4 }\n[run]',
        "transport.mptcp.path_manager.subflows: is a parameter of ndiffports (path_manager); the "
        'path_manager here is "default", which has no parameters',
    ),
    (
        "[run]",
        '[transport.sliding-window]\nsegment = "40 B"\n[run]',
        'transport.sliding-window.segment: "40 B" is out of range; it must be above 40 B and at most 65535 B',
    ),
    (
        "[run]",
        '[transport.sdn-paced]\ninitial_rto = "2 s"\nmax_rto = "1 s"\n[run]',
        "transport.sdn-paced.initial_rto: is above max_rto",
    ),
    (
        "[run]",
        '[transport.cubic]\nhandshake_timeout = "0 s"\n[run]',
        'transport.cubic.handshake_timeout: "0 s" must be above zero, for example "2.5 ms"',
    ),
    (
        "[run]",
        "[transport.sliding-window]\nwindow_segments = 0\n[run]",
        "transport.sliding-window.window_segments: 0 must be at least 1",
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nsize = "0 B"',
        'traffic[0].size: "0 B" is zero; a transfer has at least one byte',
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nstart = "2 s"\nstop = "1 s"',
        'traffic[0].stop: "1 s" is not after start, "2 s"',
    ),
    ('to = "Atlanta"', 'to = "Atlanta"\nflows = 0', "traffic[0].flows: 0 must be at least 1"),
    ('to = "Atlanta"', 'to = "Atlanta"\nflows = true', "traffic[0].flows: true is not a whole number"),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nflows = { distribution = "exponential", mean = "10 flows" }',
        'traffic[0].flows.mean: "10 flows" is not a whole number',
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nflows = { distribution = "constant", value = -1 }',
        "traffic[0].flows.value: -1 is not between 0 and 9223372036854775807",
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\nflows = { distribution = "constant", value = 2_000_000 }',
        "traffic[0]: makes more than 1,000,000 flows, the most that a run can have",
    ),
    (
        'to = "Atlanta"',
        'to = "Atlanta"\n[[traffic]]\nname = "traffic[0]"\nfrom = "Denver"\nto = "Atlanta"',
        'traffic[1].name: "traffic[0]" is the name of traffic[0] as well',
    ),
    # Random delays.
    (
        "[[traffic]]",
        'delay = { distribution = "zipf" }\n[[traffic]]',
        'network.links.delay: distribution "zipf" is not known; there are "constant", "uniform", '
        '"exponential", "gaussian", "log-normal", "pareto", "empirical", "cumulative"',
    ),
    (
        "[[traffic]]",
        'delay = { speed = "100 km/ms" }\n[[traffic]]',
        'network.links.delay.from: is missing (always "distance")',
    ),
    (
        "[[traffic]]",
        'delay = { distribution = "uniform", low = "1 ms" }\n[[traffic]]',
        "network.links.delay.high: is missing; give low and high, or mean and standard_deviation",
    ),
    (
        "[[traffic]]",
        'delay = { distribution = "uniform", mean = "1 ms", standard_deviation = "1 us", low = "0 s" }\n'
        "[[traffic]]",
        "network.links.delay.low: give low and high, or mean and standard_deviation, not both",
    ),
    (
        "[[traffic]]",
        'delay = { distribution = "uniform", mean = "1 ms", standard_deviation = "600 us" }\n[[traffic]]',
        'network.links.delay.standard_deviation: "600 us" is more than the mean / sqrt(3), so that a part of '
        "the range is below zero",
    ),
    (
        '"zoo/Abilene"',
        '"zoo/Abilene"\ndelay_class = "LANN"',
        'network.delay_class: "LANN" is not known; nearest: "LAN"; there are "LAN", "WAN"',
    ),
    (
        "[[traffic]]",
        '[network.access]\ndelay = "1 ms"\n[[traffic]]',
        "network.access: zoo/Abilene marks no hosts, so that no link is at one; use network.links",
    ),
    # Sequence numbers.
    (
        "[run]",
        '[run]\nsequences = "traffic[0].0"',
        'run.sequences: "traffic[0].0" is not a list; write it in square brackets',
    ),
    (
        "[run]",
        '[run]\nsequences = ["traffic[0].1", "x"]',
        'run.sequences[0]: no flow "traffic[0].1"; nearest: "traffic[0].0"\n'
        'run.sequences[1]: no flow "x"; they are named like "traffic[0].0"',
    ),
    (
        "[run]",
        '[run]\nsequences = ["*"]',
        'run.sequences[0]: no flow "*"; for all flows write sequences = "*"',
    ),
    # Event logs.
    (
        "[run]",
        '[run]\nlog = ["traffic[0].1", "*"]',
        'run.log[0]: no flow "traffic[0].1"; nearest: "traffic[0].0"\n'
        'run.log[1]: no flow "*"; for all flows write log = "*"',
    ),
    (
        "[run]",
        '[run]\nlog = "traffic[0].0"',
        'run.log: "traffic[0].0" is not a list; write it in square brackets',
    ),
    # Captures.
    (
        "[run]",
        '[[capture]]\nfile = "../x.pcapng"\nhost = "Denver"\n[run]',
        "capture[0].file: must be a plain file name; the file goes into the result folder",
    ),
]


@pytest.mark.parametrize(("line", "replacement", "expected"), MISTAKES, ids=[m[2][:60] for m in MISTAKES])
def test_a_mistake_is_answered_with_its_place_and_a_remedy(
    line: str, replacement: str, expected: str
) -> None:
    assert BASE.count(line) == 1, "the table must change exactly one place"
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(BASE.replace(line, replacement), origin="x.toml"))
    assert caught.value.lines() == [f"x.toml: {message}" for message in expected.split("\n")]


def test_the_unchanged_scenario_has_no_mistake() -> None:
    """Without this, every row above could fail for a reason of its own."""
    assert resolve(Scenario.loads(BASE)).flows


@pytest.mark.parametrize("line", ["seed = HUGE", "duration = HUGE", "flows = HUGE", "flow_series = HUGE"])
def test_a_number_of_thousands_of_digits_is_refused(line: str) -> None:
    """Python reads hexadecimal numbers of any length, and then refuses to write them in decimal."""
    text = BASE.replace('duration = "1 s"', line if "duration" in line else f'duration = "1 s"\n{line}')
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(text.replace("HUGE", "0x" + "f" * 5000), origin="x.toml")
    assert "5000 digits" in str(caught.value) or "no such key" in str(caught.value)


def test_a_file_full_of_mistakes_is_answered_briefly() -> None:
    text = BASE + "".join(f"key{number} = {number}\n" for number in range(5000))
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(text, origin="x.toml")
    assert len(caught.value.lines()) == 101
    assert caught.value.lines()[-1] == "x.toml: and 4,900 more problems"


def test_all_mistakes_are_told_at_once() -> None:
    text = BASE.replace('"10 Mbps"', '"10"').replace('"1 s"', "7") + "colour = 1\n"
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(text, origin="x.toml")
    assert [problem.place for problem in caught.value.problems] == [
        "network.links.capacity",
        "run.duration",
        "run.colour",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[network\n", r"line 1, column 9: not valid TOML: unclosed table, expected `\]`"),
        (b"a = 1\na = 2\n", r"line 2, column 1: not valid TOML: duplicate key"),
        (b"a = \xff\n", r"line 1: not UTF-8 text \(byte 0xff\)"),
        (b"a = 1\n\n\xc3(\n", r"line 3: not UTF-8 text \(byte 0xc3\)"),
        (b"a = " + b"[" * 100_000, r"a dotted key, or tables inside .*"),
        (b"title = " + b"1" * 10_000, r"title: a number of 10000 digits is not text; .*"),
        (b"", r"network: is missing \(.*\)"),
    ],
)
def test_a_file_that_is_no_scenario_is_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(file)
    assert re.fullmatch(f"bad.toml: {expected}", caught.value.lines()[0])


def test_a_hundred_megabytes_of_garbage_and_a_folder_are_not_even_read(tmp_path: Path) -> None:
    file = tmp_path / "garbage.toml"
    with file.open("wb") as sparse:
        sparse.truncate(100_000_000)
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(file)
    assert caught.value.lines() == ["garbage.toml: larger than 10 MB, so it is not a scenario"]
    with pytest.raises(ScenarioError, match="cannot be read: Is a directory"):
        Scenario.load(tmp_path)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("run", '--set: "run": holds a table, not a value; write run.duration'),
        (
            "run.duration",
            f'x.toml: run.duration: "5" has no unit; a time is written like "2.5 ms" ({SPAN_UNITS})',
        ),
        (
            "run.lenght",
            "x.toml: run.lenght: no such key; there are duration, until, seed, replication, sample_interval, "
            "flow_series, link_series, sequences, log",
        ),
        ("traffic[7].flows", '--set: "traffic[7].flows" leads to no place in the scenario'),
        (
            "traffic.flows",
            '--set: "traffic.flows" leads to no place in the scenario; '
            "traffic is a list: write traffic[0].flows",
        ),
        (
            "traffic.0.flows",
            '--set: "traffic.0.flows" leads to no place in the scenario; '
            "traffic is a list: write traffic[0].flows",
        ),
        ("trafic[0].flows", '--set: "trafic": no such key; nearest: "traffic"'),
        ("[0]", '--set: "[0]" leads to no place in the scenario'),
        ("a..b", '--set: "a..b" is not a field; write one like network.links.capacity or traffic[0].flows'),
    ],
)
def test_a_field_that_cannot_be_set_is_told(field: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(BASE, {field: "5"}, origin="x.toml")
    assert message.replace('"5" is not', "5 is not") in caught.value.lines()


def test_a_parameter_with_a_line_break_in_its_name_is_told_on_one_line() -> None:
    text = (
        '[network]\ntopology = "dumbbell"\n[network.parameters]\n"a\\nb" = { bottleneck_capacity = true }\n'
        '[[traffic]]\nfrom = "left1"\nto = "right1"\n[run]\nduration = "1 s"\n'
    )
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(text, origin="x.toml"))
    assert caught.value.lines() == [
        'x.toml: network.parameters."a\\nb".bottleneck_capacity: true is not a rate; '
        'write text such as "10 Mbps"'
    ]
