"""Controller applications in Python: the built-in one again, flow rules, counters, probes, mistakes."""

import math
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from anabranch import Result, Scenario, ScenarioError
from anabranch.errors import OwnCodeError
from anabranch.plans import routes

OWN = Path(__file__).parents[2] / "examples" / "own"

LINKS = [
    ("a", "left"),
    ("left", "upper"),
    ("left", "lower"),
    ("upper", "right"),
    ("lower", "right"),
    ("right", "b"),
]
DIAMOND = (
    "[network]\n"
    + "".join(f'[[network.node]]\nname = "{name}"\nkind = "host"\n' for name in "ab")
    + "".join(f'[[network.node]]\nname = "{name}"\n' for name in ("left", "right", "upper", "lower"))
    + "".join(
        f'[[network.link]]\nbetween = ["{one}", "{other}"]\nnew = true\n'
        + ('capacity = "100 Mbps"\n' if {one, other} & {"a", "b"} else "")
        for one, other in LINKS
    )
    + """
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
queue = "100 packets"
[controller]
application = APPLICATION
statistics_interval = "50 ms"
links = { capacity = "1 Gbps", delay = "1 ms" }
[run]
duration = "4 s"
"""
    + "".join(
        f'[[traffic]]\nfrom = "a"\nto = "b"\ntransport = "cubic"\nsize = "200 kB"\nstart = "{start}"\n'
        for start in ("0 s", "100 ms", "1 s")
    )
)
SWITCHES = {"left", "right", "upper", "lower"}


def diamond(application: str, base: Path | None = None, more: str = "") -> Scenario:
    return Scenario.loads(DIAMOND.replace("APPLICATION", application) + more, origin="s.toml", base=base)


def mine(module: Callable[[str], Path], body: str, more: str = "") -> Scenario:
    """The diamond under a class with these methods; its ``on_packet`` takes shortest paths."""
    lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
    text = f"""
    import networkx as nx
    from anabranch.own import ControllerApplication, FlowEntry

    class Base(ControllerApplication):
        def on_packet(self, packet):
            graph = self.network.between(packet.source, packet.destination)
            links = self.network.links_of(nx.shortest_path(graph, packet.source, packet.destination))
            self.add_path(packet.flow, packet.direction, links)
            self.send(next(link for link in links if self.network.link_from[link] == packet.switch))

    class Mine(Base):
        pass

{lines}"""
    return diamond('{ python = "mine:Mine" }', module(text), more)


def packets(result: Result, origin: str, to: str) -> int:
    row = result.links.filter((pl.col("from") == origin) & (pl.col("to") == to))
    return int(row["packets"].item())


def test_forwarding_in_python_gives_the_tables_of_the_built_in_one() -> None:
    result = diamond('{ python = "forwarding:Forwarding" }', OWN).run()
    built_in = diamond('"forwarding"').run()
    assert built_in.flows["completion_s"].is_not_null().all()
    assert set(result.tables) == set(built_in.tables) - {"routes"}
    for name, table in result.tables.items():
        assert table.equals(built_in.tables[name]), name
    # The entries of ended flows have been removed, so that the tables have said more than the first packets.
    assert result.tables["flow_tables"]["entries"].sum() == 0


def test_the_least_used_path_gets_the_second_flow() -> None:
    used = diamond('{ python = "least_used:LeastUsed" }', OWN).run()
    # The second flow begins while the first is there: 200 kB take 160 ms at 10 Mbps.
    assert min(packets(used, "left", middle) for middle in ("upper", "lower")) == 139 + 3
    shortest = diamond('"forwarding"').run()
    assert min(packets(shortest, "left", middle) for middle in ("upper", "lower")) == 0


def test_flows_leave_a_path_that_fails() -> None:
    down = '[[event]]\nat = "50 ms"\nlink = ["left", "{middle}"]\nstate = "down"\n'
    before = diamond('{ python = "least_used:LeastUsed" }', OWN).run()
    first = "upper" if packets(before, "left", "upper") > packets(before, "left", "lower") else "lower"
    events = down.format(middle=first)
    result = diamond('{ python = "least_used:LeastUsed" }', OWN, more=events).run()
    assert result.flows["completion_s"].is_not_null().all()
    other = {"upper": "lower", "lower": "upper"}[first]
    assert packets(result, "left", other) > 2 * (139 + 3)


def test_probes_and_counters_and_the_timer_say_what_is(module: Callable[[str], Path]) -> None:
    scenario = mine(
        module,
        """
def start(self):
    assert {self.network.nodes[node] for node in self.network.switches} == {"left", "right", "upper", "lower"}
    assert sum(self.network.usable) == 12
    self.link = self.network.links_of([self.network.nodes.index(name) for name in ("left", "upper")])[0]
    self.timer_s = 0.5
    self.seen = []

def on_timer(self, now_s):
    assert now_s == 0.5 and self.timer_s is None
    self.probe(self.link, number=7)

def on_probe(self, probe):
    assert (probe.link, probe.number) == (self.link, 7)
    # A packet of 40 bytes at 10 Mbps over 1 ms, and nothing in the queue.
    assert abs(probe.received_s - probe.queued_s - 0.001032) < 1e-9
    assert probe.sent_packets == probe.received_packets
    self.seen.append("probe")

def on_statistics(self, statistics):
    mine = [counters for counters in statistics.links if counters.link == self.link]
    if statistics.read_s > 3.9 and mine:
        # Three flows of 139 segments, SYN, ACK and FIN, and the probe.
        assert mine[0].sent_packets == 3 * (139 + 3) + 1
        assert self.seen == ["probe"], self.seen
        raise RuntimeError("all is as it should be")
""",
    )
    with pytest.raises(OwnCodeError, match="all is as it should be"):
        scenario.run()


def test_a_full_table_is_told_and_an_entry_that_expires_too(module: Callable[[str], Path]) -> None:
    body = """
def on_refused(self, now_s, switch, flow):
    assert switch in self.network.switches and flow in (0, 1, 2)
    self.told = self.told + 1

def on_removed(self, entry):
    assert entry.reason == "idle" and entry.removed_s <= entry.now_s
    if self.told and entry.flow == 0:
        raise RuntimeError("both were told")

def start(self):
    self.told = 0
"""
    table = '[controller.table]\nsize = 3\nidle_timeout = "500 ms"\n'
    with pytest.raises(OwnCodeError, match="both were told"):
        mine(module, body, table).run()


def test_entries_can_tell_hand_over_and_clamp(module: Callable[[str], Path]) -> None:
    body = """
def on_packet(self, packet):
    graph = self.network.between(packet.source, packet.destination)
    links = self.network.links_of(nx.shortest_path(graph, packet.source, packet.destination))
    inner = [link for link in links if self.network.link_from[link] in self.network.switches]
    for link in inner:
        clamp = 3000 if packet.direction == "backward" and link == inner[-1] else None
        entry = FlowEntry(packet.flow, packet.direction, link, window_bytes=clamp)
        self.add_entries(int(self.network.link_from[link]), [entry])
    here = next(link for link in inner if self.network.link_from[link] == packet.switch)
    self.send(here, window_bytes=3000 if packet.direction == "backward" else None)
"""
    clamped = mine(module, body).run()
    free = mine(module, "").run()
    # Two segments in each round trip of 6.4 ms and more.
    assert clamped.flows["completion_s"].min() > 0.4
    assert free.flows["completion_s"].max() < 0.4


SAYS = "def on_packet(self, packet):\n    {}\n"
FAILING = {
    "an exception": ("1 / 0", "ZeroDivisionError: division by zero"),
    "no such link": ("self.send(99)", "there is no link 99; there are "),
    "a link of a host": ("self.send(0)", "link 0 leaves no switch of the controller"),
    "a packet twice": ("self.send(2); self.send(2)", "there is no packet to send"),
    "no switch": ("self.add_entries(0, [])", "node 0 is no switch of the controller"),
    "another switch": (
        'self.add_entries(3, [FlowEntry(0, "forward", 2)])',
        "link 2 does not leave switch 3",
    ),
    "a direction": ('FlowEntry(0, "up", 2)', 'direction is "up"; it must be "forward" or "backward"'),
    "a window of nothing": (
        'FlowEntry(0, "forward", window_bytes=1)',
        "are for packets that go on; give a link",
    ),
    "told and clamped": (
        'FlowEntry(0, "forward", 2, tell=True, window_bytes=1)',
        "an entry has tell or window_bytes, not both",
    ),
    "a probe to a host": ("self.probe(10)", "link 10 does not lead to a switch"),
    "a time that is over": (
        "self.timer_s = 0.0",
        "has set timer_s to 0.0; it must be None, or a time not before",
    ),
    "no time": ("self.timer_s = 'soon'", "has set timer_s to 'soon'"),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_failure_names_its_line(case: str, module: Callable[[str], Path]) -> None:
    statement, message = FAILING[case]
    with pytest.raises(OwnCodeError) as failed:
        mine(module, SAYS.format(statement)).run()
    text = str(failed.value)
    assert text.startswith("Mine.on_packet, at ")
    assert message in text
    assert 'mine.py", line ' in text


def test_only_on_packet_has_a_packet(module: Callable[[str], Path]) -> None:
    body = "def on_statistics(self, statistics):\n    self.send(2)\n"
    with pytest.raises(OwnCodeError, match="only on_packet has one"):
        mine(module, body).run()


WRONG = {
    "no hook": ("class Mine:\n    pass", "Mine is no controller application; write class Mine"),
    "nothing for packets": ("class Mine(ControllerApplication):\n    pass", "Mine lacks on_packet(packet)"),
    "a misspelled hook": (
        "class Mine(ControllerApplication):\n    def on_packet(self, packet): ...\n"
        "    def on_statistic(self, statistics): ...",
        'Mine.on_statistic is no hook; nearest: "on_statistics"',
    ),
    "other arguments": (
        "class Mine(ControllerApplication):\n    def on_packet(self): ...",
        "Mine.on_packet must take packet",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_class_that_is_none_is_refused(case: str, module: Callable[[str], Path]) -> None:
    text, message = WRONG[case]
    base = module(f"from anabranch.own import ControllerApplication\n\n{text}\n")
    with pytest.raises(ScenarioError, match=r"controller\.application") as refused:
        diamond('{ python = "mine:Mine" }', base).run()
    assert message in str(refused.value)


def test_nobody_knows_the_paths_before() -> None:
    scenario = diamond('{ python = "least_used:LeastUsed" }', OWN)
    with pytest.raises(ScenarioError, match="nobody knows them before"):
        routes.routes(scenario)
    with pytest.raises(ScenarioError, match=r"controller\.metric: the class of the application chooses"):
        diamond('{ python = "least_used:LeastUsed" }\nmetric = "delay"', OWN)


def test_a_result_runs_again_from_its_folder(tmp_path: Path) -> None:
    scenario = diamond('{ python = "least_used:LeastUsed" }', OWN)
    result = scenario.run()
    folder = result.save(tmp_path / "result", scenario=scenario)
    again = Scenario.load(folder / "scenario.toml").run()
    assert again.links.equals(result.links)
    assert math.isclose(again.flows["completion_s"].sum(), result.flows["completion_s"].sum())
