"""The controllers of simulations and of real switches decide alike: what one heard is played to the other.

A simulation runs under an application that writes down what it hears, asks the core's controller, and does as
that orders. The same facts then come as messages of OpenFlow: packets as frames, counters as answers of
ports, probes as frames that come back so much later.
"""

from __future__ import annotations

import heapq
import json
import struct
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("os_ken", reason="not here: os-ken, the controller's OpenFlow")

from anabranch import Scenario, _core
from anabranch.live.switches.controller.frames import PROBE, FiveTuple, ether_type, read_lldp, read_probe
from anabranch.live.switches.controller.governed import GovernedSwitches
from anabranch.live.switches.controller.switchboard import FLOW_TABLE, PacketUp, PortCounters
from anabranch.live.switches.layout import Port, SwitchLayout
from anabranch.plans.switch_rules import Entry
from anabranch.setup import Setup, resolve

RECORDER = """
import json
from pathlib import Path

from anabranch import Scenario, _core
from anabranch.own import ControllerApplication
from anabranch.setup import resolve

HERE = Path(__file__).parent


def ps(seconds):
    return round(seconds * 1e12)


class Recorder(ControllerApplication):
    def start(self):
        self.setup = resolve(Scenario.load(HERE / "built_in.toml")).core()
        self.inner = _core.Controller(self.setup)
        interval = json.loads(self.setup.json())["controller"]["statistics_interval"]
        self.request, self.interval = interval, interval
        self.wait()

    def wait(self):
        times = [at for at in (self.request, self.inner.next_timer()) if at is not None]
        self.timer_s = min(times) / 1e12 if times else None

    def ask(self, hook, now, *facts, told=None):
        orders = getattr(self.inner, hook)(now, *facts)
        plain = []
        for kind, *order in orders:
            if kind == "entries":
                self.add_entries(*order)
                order[1] = [
                    [e.flow, e.direction, e.link, e.syn_or_fin, e.from_host, e.priority, e.window_bytes]
                    for e in order[1]
                ]
            elif kind == "remove":
                self.remove_entries(*order)
            elif kind == "send":
                self.send(*order[1:])
            elif kind == "probe":
                self.probe(*order)
            plain.append([kind, *order])
        line = [hook, now, facts if told is None else told, plain]
        with open(HERE / "log", "a") as log:
            log.write(json.dumps(line) + "\\n")
        self.wait()

    def on_packet(self, p):
        header = (p.flow, p.direction, p.source, p.destination, p.syn, p.fin, 0)
        self.ask("on_packet", ps(p.now_s), p.switch, p.from_host, p.missed, header)

    def on_statistics(self, s):
        sent = [
            (c.link, c.sent_bytes, c.sent_packets, c.dropped_packets, c.queue_packets) for c in s.links
        ]
        self.ask("on_statistics", ps(s.now_s), s.switch, ps(s.read_s), sent, s.received_packets)

    def on_probe(self, p):
        times = (ps(p.queued_s), ps(p.received_s))
        self.ask("on_probe", ps(p.now_s), p.link, p.number, *times, p.sent_packets, p.received_packets)

    def on_removed(self, e):
        self.ask("on_removed", ps(e.now_s), e.switch, ps(e.removed_s), e.flow, e.direction, e.reason)

    def on_network_change(self, now_s):
        down = [link for link, usable in enumerate(self.network.usable) if not usable]
        self.ask("on_network_change", ps(now_s), self.setup, down, told=[down])

    def on_timer(self, now_s):
        now = ps(now_s)
        if self.request is not None and now >= self.request - 1000:
            self.request += self.interval
            self.ask("on_request", now)
        timer = self.inner.next_timer()
        if timer is not None and now >= timer - 1000:
            self.ask("on_timer", max(now, timer))
        self.wait()
"""
NS = 1000
Recorded = list[tuple[str, int, list[Any], list[Any]]]


def scenario(application: object, statistics: str | None = "1 s") -> dict[str, Any]:
    """Two ways between a and b, of which the shorter one loses packets, and later fails."""
    nodes = [{"name": name, "kind": "host" if name in "ab" else "switch"} for name in "asctdeb"]
    hops = ["as", "sc", "ct", "sd", "de", "et", "tb"]
    flows = [{"from": "a", "to": "b", "transport": "newreno", "start": f"{start} s"} for start in (0, 2.8)]
    flows += [{"from": "b", "to": "a", "transport": "newreno", "size": "20 kB", "start": "0.7 s"}]
    controller = {"application": application, "links": {"capacity": "1 Gbps", "delay": "1 ms"}}
    return {
        "network": {
            "node": nodes,
            "link": [{"between": list(hop), "new": True} for hop in hops],
            "links": {"capacity": "6 Mbps", "delay": "2 ms", "queue": "60 packets"},
        },
        "controller": controller | ({"statistics_interval": statistics} if statistics else {}),
        "event": [
            {"at": "0 s", "link": ["s", "c"], "direction": "forward", "loss": 0.03},
            {"at": "5.5 s", "link": ["d", "e"], "state": "down"},
        ],
        "routing": {"reaction": "100 ms"},
        "traffic": flows,
        "run": {"duration": "8 s"},
    }


class Network:
    """Switches that say what was recorded, on a clock that stands still between messages."""

    def __init__(self, setup: Setup, recorded: Recorded, interval_ns: int) -> None:
        nodes = setup.controller.node if setup.controller else 0
        links = [link for link in setup.links if max(link.origin, link.to) < nodes]
        names = [node.name for node in setup.nodes[:nodes]]
        switches = set(setup.controller.switches) if setup.controller else set()
        self.layout = SwitchLayout.of(names, links, switches, {names.index("a"), names.index("b")})
        self.now, self.interval_ns = 0, interval_ns
        self.timers: list[tuple[int, int, Callable[[], None]]] = []
        self.order = count()
        self.tables: dict[int, dict[int, tuple[Entry, int]]] = defaultdict(dict)
        self.ports = self.layout.by_number()
        self.starts = {port.link_out: port for port in self.layout.ports}
        self.ends = {port.link_in: port for port in self.layout.ports}
        self.probes = {(facts[0], facts[1]): facts for hook, _, facts, _ in recorded if hook == "on_probe"}
        self.statistics: dict[int, list[tuple[int, list[Any]]]] = defaultdict(list)
        for hook, now, facts, _ in recorded:
            if hook == "on_statistics":
                self.statistics[facts[0]].append((now // NS, facts))
        self.just_read: int | None = None
        self.far_ends: dict[int | None, tuple[int | None, int]] = {}
        """By link: when its far end is to be read, and when its near one was."""
        self.controller: GovernedSwitches

    # What the controller calls.

    def now_ns(self) -> int:
        return self.now

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        due = self.now + round(seconds * 1e9)
        heapq.heappush(self.timers, (due, next(self.order), action))
        if self.just_read is not None:
            # The far end of a link is read so much later.
            self.far_ends[self.just_read], self.just_read = (due, self.now), None

    def entry(self, entry: Entry, *, table: int = 0, cookie: int = 0, **_: object) -> None:
        if table == FLOW_TABLE:
            same = [
                number
                for number, (old, _) in self.tables[entry.switch].items()
                if (old.match, old.priority) == (entry.match, entry.priority)
            ]
            for number in same:
                del self.tables[entry.switch][number]
            self.tables[entry.switch][cookie] = (entry, cookie)

    def remove(self, switch: int, *, cookie: int) -> None:
        self.tables[switch].pop(cookie, None)

    def barrier(self, _switches: Sequence[int], then: Callable[[], None]) -> None:
        then()

    def send_packet(self, switch: int, frame: bytes, port: int | None, _in_port: int | None = None) -> None:
        start = self.ports.get((switch, port or 0))
        if read_lldp(frame) is not None and start is not None and start.link_out is not None:
            end = self.ends[start.link_out]
            self.after(0, lambda: self._up(end, frame, self.now))

    def _up(self, port: Port, frame: bytes, at_ns: int) -> None:
        self.controller.on_packet(PacketUp(port.switch, port.number, frame, at_ns))

    @property
    def round(self) -> int:
        return self.now // self.interval_ns

    def send_stamped(self, _switch: int, frame: bytes, port: int | None) -> int:
        assert ether_type(frame) == PROBE
        link, _ = read_probe(frame)
        sent = self.now
        if port is None:
            self.after(0, lambda: self._up(self.layout.ports[0], frame, sent))
        elif (seen := self.probes.get((link, self.round))) is not None:
            back = sent + (seen[3] - seen[2]) // NS
            self.after(0, lambda: self._up(self.ends[link], frame, back))
        return sent

    def counter(self, switch: int, port: int, then: Callable[[tuple[int, int], int], None]) -> None:
        ours = self.ports[switch, port]
        due, read_ns = self.far_ends.get(ours.link_in, (None, 0))
        if due == self.now:
            del self.far_ends[ours.link_in]
            seen = self.probes.get((ours.link_in, self.round))
            # It has been read so much later as the link has been seen to be long.
            then((seen[5], 0) if seen else (0, 0), read_ns + ((seen[3] - seen[2]) // NS if seen else 0))
        else:
            seen = self.probes.get((ours.link_out, self.round))
            then((0, seen[4]) if seen else (0, 0), self.now)
            self.just_read = ours.link_out

    def counters(self, switch: int, then: Callable[[list[PortCounters], int], None]) -> None:
        if self.statistics[switch]:
            now, facts = self.statistics[switch].pop(0)
            sent = {link: (packets, size) for link, size, packets, _, _ in facts[2]}
            received = dict(facts[3])
            ports = [
                PortCounters(port.number, received.get(port.link_in, 0), *sent.get(port.link_out, (0, 0)))
                for port in self.layout.ports
                if port.switch == switch
            ]
            self.after((now - self.now) / 1e9, lambda: then(ports, facts[1] // NS))

    # What happens.

    def run_until(self, at_ns: int) -> None:
        while self.timers and self.timers[0][0] <= at_ns:
            due, _, action = heapq.heappop(self.timers)
            self.now = max(self.now, due)
            action()
        self.now = max(self.now, at_ns)

    def hear(self, hook: str, now: int, facts: list[Any], endpoints: Sequence[Any]) -> None:
        """What the simulated controller has heard comes as OpenFlow, but for what it has asked for."""
        self.run_until(now // NS)
        if hook == "on_packet":
            switch, from_host, missed, header = facts
            frame = packet(endpoints[header[0]][0], header)
            port = next(
                port
                for port in self.layout.ports
                if port.switch == switch and (self.links[port.link_in][0] == header[2]) == from_host
            )
            cookie = 0 if missed else self.sender_up(switch, frame)
            up = PacketUp(switch, port.number, frame, self.now, FLOW_TABLE, cookie, missed)
            self.controller.on_packet(up)
        elif hook == "on_network_change":
            down = set(facts[0])
            for port in self.layout.ports:
                if {port.link_out, port.link_in} & down:
                    self.controller.on_port(port.switch, port.number, up=False)

    def sender_up(self, switch: int, frame: bytes) -> int:
        """The entry that hands up segments with SYN or FIN of a flow."""
        ends = FiveTuple.of(frame)
        assert ends is not None
        (cookie,) = (
            cookie
            for entry, cookie in self.tables[switch].values()
            if entry.actions == (("output", "controller"),) and entry.match.items() >= ends.match().items()
        )
        return cookie

    def walk(self, ends: FiveTuple, node: int) -> str:
        """Nodes along the entries that match all packets of a flow, from a host on."""
        at, seen = node, [self.layout.names[node]]
        link = next(number for number, (origin, _) in enumerate(self.links) if origin == node)
        while True:
            at = self.links[link][1]
            seen.append(self.layout.names[at])
            out = [
                dict(entry.actions)["output"]
                for entry, _ in self.tables[at].values()
                if entry.match == ends.match() and entry.actions[0][1] != "controller"
            ]
            if not out:
                return " > ".join(seen)
            link = self.ports[at, out[0]].link_out or 0


def packet(ends: Sequence[Any], header: list[Any]) -> bytes:
    """A frame with the header of a recorded packet."""
    _, direction, _, _, syn, fin, _ = header
    (source, to) = ends if direction == "forward" else ends[::-1]
    addresses = b"".join(bytes(map(int, address.split("."))) for address, _ in (source, to))
    ack = not syn or direction == "backward"
    tcp = struct.pack("!HHIIBBHHH", source[1], to[1], 0, 0, 0x50, 2 * syn | fin | 16 * ack, 1000, 0, 0)
    return bytes(12) + b"\x08\x00" + struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0) + addresses + tcp


class Heard:
    """The core's controller, of which it is written down what it hears and orders."""

    def __init__(self, controller: _core.Controller) -> None:
        self._controller = controller
        self.log: Recorded = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._controller, name)
        if not name.startswith("on_"):
            return method

        def told(now: int, *facts: Any) -> Any:
            orders = method(now, *facts)
            self.log.append((name, now, list(facts), [plain(order) for order in orders]))
            return orders

        return told


def plain(order: _core.Order) -> list[Any]:
    """An order as the recorder writes it."""
    if order[0] != "entries":
        return list(order)
    entries = [
        [e.flow, e.direction, e.link, e.syn_or_fin, e.from_host, e.priority, e.window_bytes] for e in order[2]
    ]
    return [*order[:2], entries]


def recorded_run(folder: Path, data: dict[str, Any]) -> tuple[Any, Any, Recorded]:
    """The results of the built-in application and of the recorder, and what the recorder has heard."""
    built_in = Scenario.model_validate(data)
    (folder / "built_in.toml").write_text(built_in.toml())
    (folder / "recorder.py").write_text(RECORDER)
    application = {"python": "recorder.py:Recorder"}
    ours = Scenario.from_data(
        {**data, "controller": {**data["controller"], "application": application}}, base=folder
    )
    results = built_in.run(), ours.run()
    return *results, [tuple(json.loads(line)) for line in (folder / "log").read_text().splitlines()]


def played(setup: Setup, recorded: Recorded) -> tuple[Network, Recorded]:
    """What the controller of real switches hears and orders where these switches say what was recorded."""
    controller = setup.controller
    assert controller is not None
    network = Network(setup, recorded, (controller.statistics_interval or 10**13) // NS)
    data = setup.replace(hosts=[], datagrams=[], events=[], captures=[]).data()
    network.links = [(link["from"], link["to"]) for link in data["links"]]
    ends = [(flow.origin, flow.to) for flow in setup.flows]
    endpoints = [
        [((f"10.0.0.{a}", 40000 + number), (f"10.0.0.{b}", 80))] for number, (a, b) in enumerate(ends)
    ]
    addresses = {node: [f"10.0.0.{node}"] for node in {node for pair in ends for node in pair}}
    configuration = {"setup": data, "addresses": addresses, "endpoints": endpoints}
    governed = network.controller = GovernedSwitches(network, configuration)  # type: ignore[arg-type]
    governed.on_switches()
    governed.on_begin(0)
    network.run_until(0)
    reports = Heard(governed._core)  # type: ignore[arg-type]
    governed._core = reports  # type: ignore[assignment]
    for hook, now, facts, _ in recorded:
        network.hear(hook, now, facts, endpoints)
    network.endpoints = endpoints
    return network, reports.log


def orders_of(log: Recorded) -> list[Any]:
    """Orders for switches in their order, but for probes, whose answers come in another one."""
    return [order for _, _, _, orders in log for order in orders if order[0] != "probe"]


APPLICATIONS: list[Any] = [
    {"algorithm": "tcpbp", "sample_packets": 100},
    {"algorithm": "tcpbp", "sample_packets": 50, "estimator": "ewma", "threshold": 0.1, "search": "exact"},
    "forwarding",
    "window-clamp",
    "subflow-round-robin",
]


@pytest.mark.parametrize("application", APPLICATIONS)
def test_orders_are_those_of_the_simulation(tmp_path: Path, application: object) -> None:
    statistics = "1 s" if isinstance(application, dict) else None
    data = scenario(application, statistics)
    built_in, ours, recorded = recorded_run(tmp_path, data)
    # The core's controller behind a class in Python does what it does in the engine.
    for name in ("flows", "links", "control_messages", "flow_tables"):
        assert ours.tables[name].equals(built_in.tables[name]), name
    setup = resolve(Scenario.model_validate(data))
    network, reports = played(setup, recorded)
    expected = orders_of(recorded)
    assert sum(order[0] == "entries" for order in expected) > 5
    assert orders_of(reports) == expected
    if isinstance(application, dict):
        probes = [[facts for hook, _, facts, _ in log if hook == "on_probe"] for log in (recorded, reports)]
        seen = [{(f[0], f[1]): (f[3] - f[2], f[4], f[5]) for f in log} for log in probes]
        assert len(seen[0]) > 50
        # Times of frames are whole nanoseconds.
        rounded = {
            key: (delay // NS * NS, sent, received) for key, (delay, sent, received) in seen[0].items()
        }
        assert seen[1] == {key: rounded[key] for key in seen[1]}
        assert len(seen[1]) > len(seen[0]) * 0.8
        (moved,) = (row for row in built_in.tables["flow_routes"].iter_rows(named=True) if row["flow"] == 0)
        ends = FiveTuple(6, *network.endpoints[0][0])
        assert network.walk(ends, setup.flows[0].origin) == moved["data_path"]
