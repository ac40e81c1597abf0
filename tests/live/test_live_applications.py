"""Applications of a controller over Open vSwitch: the core's own, and those of the user in Python."""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import polars as pl
import pytest
from live_scenarios import LiveRun, paths
from test_live_switches import can_switch, diamond, programs

from anabranch import Scenario
from anabranch.errors import LiveError, OwnCodeError
from anabranch.live import run

__all__ = ["can_switch"]
pytestmark = pytest.mark.usefixtures("whole_machine")


def governed(application: object, **tables: Any) -> Scenario:
    """The diamond under an application, with two flows that end and one that begins later."""
    flow = {"from": "a", "to": "b", "transport": "linux-cubic"}
    traffic = [{**flow, "size": "300 kB"}, {**flow, "size": "600 kB", "start": "1 s"}]
    controller = {"application": application, "links": {"capacity": "1 Gbps", "delay": "1 ms"}}
    controller |= tables.pop("controller", {})
    return diamond(**{"traffic": traffic, "run": {"duration": "4 s"}, **tables}, controller=controller)


@pytest.mark.usefixtures("can_switch")
@pytest.mark.parametrize("application", ["forwarding", "window-clamp"])
def test_an_application_does_what_it_does_in_a_simulation(live_run: LiveRun, application: str) -> None:
    """Clamped, a flow fills the link and not its queue of 120 ms.

    Switches take some milliseconds, and more on a busy machine.
    """
    scenario = governed(application)
    simulated, live = scenario.run().flows, live_run(scenario, switches="ovs").flows
    assert live["completion_s"].to_list() == pytest.approx(simulated["completion_s"].to_list(), rel=0.25)
    assert live["rtt_mean_ms"].to_list() == pytest.approx(simulated["rtt_mean_ms"].to_list(), rel=0.25)
    assert (live["rtt_mean_ms"][1] < 40) == (application == "window-clamp")


@pytest.mark.usefixtures("can_switch")
def test_a_controller_in_python_runs_switches(live_run: LiveRun, tmp_path: Path) -> None:
    """It hears of what comes up and of counters, and what it orders is done: a window, a path, a removal."""
    (tmp_path / "mine.py").write_text(
        dedent("""
        import json
        import os
        from pathlib import Path

        from anabranch.own import ControllerApplication, FlowEntry

        class Mine(ControllerApplication):
            def start(self):
                self.heard = []
                number = self.network.nodes.index
                self.ways = {
                    direction: self.network.links_of([number(name) for name in way])
                    for direction, way in (("forward", "asdetb"), ("backward", "btedsa"))
                }
                self.at_s = number("s")
                assert all(self.network.usable[link] for way in self.ways.values() for link in way)

            def on_packet(self, packet):
                self.hear("packet", packet.syn, packet.fin, packet.missed)
                way = self.ways[packet.direction]
                if packet.missed:
                    for direction, links in self.ways.items():
                        self.add_path(packet.flow, direction, links)
                    out = next(link for link in way if self.network.link_from[link] == self.at_s)
                    narrow = {"syn_or_fin": True, "from_host": True, "priority": 2}
                    ends = FlowEntry(packet.flow, "forward", out, tell=True, **narrow)
                    back = FlowEntry(packet.flow, "backward", self.ways["backward"][-1], window_bytes=20000)
                    self.add_entries(self.at_s, [ends, back])
                self.send(next(link for link in way if self.network.link_from[link] == packet.switch))

            def on_notice(self, packet):
                self.hear("notice", packet.syn, packet.fin, packet.from_host)
                if packet.fin:
                    self.timer_s = packet.now_s + 0.2
                    self.flow = packet.flow

            def on_timer(self, now_s):
                self.hear("timer")
                for switch in self.network.switches:
                    self.remove_entries(switch, self.flow)

            def on_statistics(self, statistics):
                sent = sum(counters.sent_packets for counters in statistics.links)
                assert all(counters.dropped_packets is None for counters in statistics.links)
                self.hear("statistics", sent > 100)

            def hear(self, *what):
                self.heard.append(what)
                Path(HEARD).write_text(json.dumps(self.heard))
        """).replace("HEARD", repr(str(tmp_path / "heard")))
    )
    flow = {"from": "a", "to": "b", "transport": "linux-cubic", "size": "600 kB"}
    controller = {"statistics_interval": "500 ms"}
    data = governed({"python": "mine.py:Mine"}, traffic=[flow], controller=controller).data()
    result = live_run(Scenario.from_data(data, base=tmp_path).trusted(), switches="ovs")
    sent = {(a, b): count for a, b, count in result.links.select("from", "to", "packets").iter_rows()}
    assert sent["s", "d"] > 400
    assert sent["c", "t"] < 100
    # 20 kB are 28 ms of 6 Mbps.
    assert result.flows["completion_s"][0] is not None
    assert result.flows["rtt_mean_ms"][0] < 40
    document = json.loads((tmp_path / "heard").read_text())
    assert document[0] == ["packet", True, False, True]
    assert ["notice", False, True, True] in document
    assert ["timer"] in document
    assert ["statistics", True] in document


@pytest.mark.usefixtures("can_switch", "can_run")
@pytest.mark.parametrize(
    ("order", "error", "message"),
    [
        ('add_path(99, "forward", way)', LiveError, r"on_packet, at .* add_entries\(\d, .* flow 99 has none"),
        (
            'add_entries(packet.switch, [FlowEntry(0, "forward", priority=65535)])',
            LiveError,
            r"on_packet, at .* for switch s: priority is 65535; real switches have room up to 65534",
        ),
        ("probe(self.network.links_of(ends)[0])", OwnCodeError, r"Mine\.on_packet, at .* does not lead to"),
        ("missing()", OwnCodeError, r"Mine\.on_packet, at .*: AttributeError(.|\n)*mine\.py"),
    ],
)
def test_what_switches_cannot_do_is_told(
    tmp_path: Path, order: str, error: type[Exception], message: str
) -> None:
    (tmp_path / "mine.py").write_text(
        dedent("""
        from anabranch.own import ControllerApplication, FlowEntry

        class Mine(ControllerApplication):
            def on_packet(self, packet):
                number = self.network.nodes.index
                way = self.network.links_of([number(name) for name in "asctb"])
                ends = [number("s"), number("a")]
                self.ORDER
        """).replace("ORDER", order)
    )
    data = governed({"python": "mine.py:Mine"}).data()
    scenario = Scenario.from_data(data, base=tmp_path).trusted()
    with pytest.raises(error, match=message):
        run(scenario, switches="ovs")
    assert not programs()


@pytest.mark.usefixtures("can_switch")
def test_entries_go_idle_together_as_in_a_simulation(live_run: LiveRun, tmp_path: Path) -> None:
    """That for SYN and FIN matches nothing for three seconds, and goes with the one for all, not before."""
    (tmp_path / "mine.py").write_text(
        dedent("""
        import json
        from pathlib import Path

        from anabranch.own import ControllerApplication, FlowEntry

        class Mine(ControllerApplication):
            def start(self):
                self.heard = []

            def on_packet(self, packet):
                number = self.network.nodes.index
                nodes = [number(name) for name in "asctb"]
                way = self.network.links_of(nodes)
                back = self.network.links_of(nodes[::-1])
                narrow = {"syn_or_fin": True, "priority": 2}
                self.add_path(packet.flow, "forward", way)
                self.add_path(packet.flow, "backward", back)
                self.add_entries(nodes[1], [FlowEntry(packet.flow, "forward", way[1], tell=True, **narrow)])
                links = way if packet.direction == "forward" else back
                self.send(next(link for link in links if self.network.link_from[link] == packet.switch))

            def on_notice(self, packet):
                self.hear("notice", packet.fin)

            def on_removed(self, entry):
                self.hear(self.network.nodes[entry.switch], entry.direction, entry.reason)

            def hear(self, *what):
                self.heard.append(what)
                Path(HEARD).write_text(json.dumps(self.heard))
        """).replace("HEARD", repr(str(tmp_path / "heard")))
    )
    traffic = [{"from": "a", "to": "b", "transport": "linux-cubic", "size": "2 MB"}]
    controller = {"table": {"idle_timeout": "1 s"}}
    settings = {"duration": "8 s"}
    data = governed({"python": "mine.py:Mine"}, traffic=traffic, controller=controller, run=settings).data()
    scenario = Scenario.from_data(data, base=tmp_path).trusted()
    entries = []
    for run_it in (Scenario.run, lambda scenario: live_run(scenario, switches="ovs")):
        run_it(scenario)
        entries.append(json.loads((tmp_path / "heard").read_text()))
    for message in entries:
        assert ["notice", True] in message
        # The last of the flow is behind its FIN.
        assert not [what for what in message[: message.index(["notice", True])] if what[0] != "notice"]
    gone = [sorted(what for what in message if what[0] != "notice") for message in entries]
    assert gone[0] == gone[1]
    assert len(gone[0]) == 7


@pytest.mark.usefixtures("can_switch")
def test_a_flow_that_pauses_for_longer_than_its_entries_live_goes_on(live_run: LiveRun) -> None:
    flow = {"from": "a", "to": "b", "transport": "linux-cubic"}
    rare = {"kind": "constant-rate", "message": "1448 B", "rate": "4 kbps"}
    traffic = [{**flow, "application": rare}, {**flow, "size": "200 kB"}]
    controller = {"table": {"idle_timeout": "1 s"}, "linger": "100 ms"}
    scenario = governed("forwarding", traffic=traffic, controller=controller, run={"duration": "8 s"})
    result = live_run(scenario, switches="ovs")
    assert result.flows["delivered_bytes"][0] >= 2 * 1448
    assert result.flows["completion_s"][1] is not None
    assert not [text for text in result.summary["warnings"] if text.startswith("controller")]


@pytest.mark.usefixtures("can_switch")
def test_a_host_of_two_links_uses_its_first_and_no_other(live_run: LiveRun) -> None:
    """No link is between switches, so that there is nothing to wait for; nothing goes by the second path."""
    controller = {"application": "forwarding", "links": {"capacity": "1 Gbps", "delay": "1 ms"}}
    entry = {"transport": "linux-cubic", "size": "200 kB"}
    scenario = paths("9 Mbps", [5, 8], [entry], controller=controller, run={"duration": "2 s"})
    simulated, live = scenario.run(), live_run(scenario, switches="ovs")
    expected = simulated.flows["completion_s"].to_list()
    assert live.flows["completion_s"].to_list() == pytest.approx(expected, rel=0.15)
    second = live.links.filter((pl.col("from") == "path2") | (pl.col("to") == "path2"))
    assert second["packets"].to_list() == [0] * 4
