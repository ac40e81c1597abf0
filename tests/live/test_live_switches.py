"""Routers as bridges of Open vSwitch: the routes of a plan as groups, failures, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from live_scenarios import TRIES, LiveRun, paths
from test_live_leaves_nothing import namespaces, outside

from anabranch import Scenario, _core
from anabranch.errors import LiveError, ScenarioError
from anabranch.live import run
from anabranch.live.switches import run as switched
from anabranch.live.switches.layout import SwitchLayout
from anabranch.live.switches.vswitch import daemons_of
from anabranch.plans.paths import PlanPaths
from anabranch.plans.switch_rules import Numbers, SwitchHop, rules_of
from anabranch.setup import resolve
from anabranch.setup.model import LinkSetup

NODES = "asctdeb"
pytestmark = pytest.mark.usefixtures("whole_machine")


@pytest.fixture(scope="session")
def can_switch(can_run: None) -> None:  # noqa: ARG001 - skips
    """Skips where there is no Open vSwitch, or no os-ken."""
    try:
        switched.check_switches()
    except LiveError as error:
        pytest.skip(f"not installed: {error}")


def two_paths(duration: str = "4 s", flows: int = 6, **tables: Any) -> Scenario:
    """Two paths of 6 Mbps, over which flows are spread evenly."""
    entry = {"transport": "linux-cubic", "flows": flows}
    routing = {"scheme": "disjoint", "load_balancing": "weighted-hash"}
    tables = {"routing": routing, "run": {"duration": duration}, **tables}
    return paths("6 Mbps", [5, 6], [entry], **tables)


def programs() -> set[str]:
    """Processes of Open vSwitch and of controllers."""
    names = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if "ovs-vswitchd" in command or "ovsdb-server" in command or "switches.controller" in command:
            names.add(f"{process.name} {command}")
    return names


def diamond(**tables: Any) -> Scenario:
    """Hosts a and b at the ends of two ways: over c in two links, over d and e in three."""
    pairs = ["as", "sc", "ct", "sd", "de", "et", "tb"]
    link = [{"between": list(pair), "new": True} for pair in pairs]
    node = [{"name": name, "kind": "host" if name in "ab" else "switch"} for name in NODES]
    links = {"capacity": "6 Mbps", "delay": "2 ms", "queue": "60 packets"}
    traffic = [{"from": "a", "to": "b", "transport": "linux-cubic"}]
    network = {"node": node, "link": link, "links": links}
    run = {"duration": "2 s"}
    return Scenario.model_validate({"network": network, "traffic": traffic, "run": run, **tables})


def laid_out() -> tuple[SwitchLayout, list[LinkSetup], dict[str, int], dict[tuple[int, int], int]]:
    """The diamond: its layout and links, nodes by name, and links by their ends."""
    setup = resolve(diamond())
    names = [node.name for node in setup.nodes]
    at = {name: number for number, name in enumerate(names)}
    ends = {at["a"], at["b"]}
    layout = SwitchLayout.of(names, setup.links, set(range(len(names))) - ends, ends)
    return layout, setup.links, at, {(link.origin, link.to): n for n, link in enumerate(setup.links)}


@pytest.mark.usefixtures("can_switch")
def test_flows_take_the_paths_of_the_plan(live_run: LiveRun) -> None:
    before = outside()
    result = live_run(two_paths(), switches="ovs")
    assert outside() == before
    assert not programs()
    sent = dict(result.links.select("from", "packets").iter_rows())
    assert result.flows["hosts"].to_list() == ["kernel"] * 6
    # What TCP gets of 2 x 6 Mbps, headers left out, from its start on.
    assert result.summary["delivered_mbps"] == pytest.approx(2 * 6 * 1448 / 1500, rel=0.15)
    assert min(sent["path1"], sent["path2"]) > 500
    # Nobody follows the packets of a flow.
    assert result.flows["packets_received"].null_count() == 6


@pytest.mark.usefixtures("can_switch")
def test_a_failure_moves_flows_to_the_other_path(live_run: LiveRun) -> None:
    failure = {"at": "2 s", "link": ["source", "path1"], "state": "down"}
    settings = {"duration": "6 s", "flow_series": True}
    routing = {"scheme": "disjoint", "load_balancing": "weighted-hash", "reaction": "300 ms"}
    result = live_run(two_paths(event=[failure], run=settings, routing=routing), switches="ovs")
    late = result.tables["flow_series"].filter(pl.col("time_s") > 4.0)
    rate = late.group_by("time_s").agg(pl.col("goodput_mbps").sum())["goodput_mbps"].mean()
    assert rate == pytest.approx(6 * 1448 / 1500, rel=0.15)


@pytest.mark.usefixtures("can_switch")
def test_shares_of_a_group_are_those_of_the_plan(live_run: LiveRun) -> None:
    """3 to 1 over 1,000 flows: three standard deviations of a draw, and half a slot of 16 of the hash."""
    entry = {
        "from": "source",
        "to": "sink",
        "transport": "linux-reno",
        "size": "1 kB",
        "flows": 1000,
        "inter_arrival": {"distribution": "exponential", "mean": "8 ms"},
    }
    parallel = [{"capacity": "9 Mbps", "delay": "5 ms"}, {"capacity": "3 Mbps", "delay": "5 ms"}]
    routing = {"scheme": {"algorithm": "semper", "shares": "capacity"}, "load_balancing": "weighted-hash"}
    scenario = Scenario.model_validate(
        {
            "network": {"topology": "parallel", "parameters": {"paths": parallel}},
            "traffic": [entry],
            "routing": routing,
            "run": {"duration": "11 s"},
        }
    )
    result = live_run(scenario, switches="ovs")
    assert result.flows["handshake_s"].drop_nulls().len() > 900
    # Each flow has as many packets as every other one, but for those that come late on a busy machine.
    sent = dict(result.links.filter(pl.col("to") == "sink").select("from", "packets").iter_rows())
    share = sent["path1"] / (sent["path1"] + sent["path2"])
    assert share == pytest.approx(0.75, abs=3 * (0.75 * 0.25 / 1000) ** 0.5 + 1 / 32)


@pytest.mark.usefixtures("can_switch")
def test_a_controller_finds_links_and_moves_flows_off_a_failure(live_run: LiveRun) -> None:
    """The shorter way fails at 3 s, and the controller hears of it at 3.3 s."""
    controller = {"application": "forwarding", "links": {"capacity": "1 Gbps", "delay": "1 ms"}}
    failure = {"at": "3 s", "link": ["s", "c"], "state": "down"}
    scenario = diamond(
        controller=controller,
        event=[failure],
        routing={"reaction": "300 ms"},
        run={"duration": "7 s", "flow_series": True},
    )
    result = live_run(scenario, switches="ovs")
    assert result.flows["handshake_s"][0] < 1.5
    series = result.tables["flow_series"]
    expected = pytest.approx(6 * 1448 / 1500, rel=0.15)
    assert series.filter(pl.col("time_s").is_between(1.5, 3.0))["goodput_mbps"].mean() == expected
    assert series.filter(pl.col("time_s") > 5.0)["goodput_mbps"].mean() == expected


@pytest.mark.usefixtures("can_switch")
def test_a_planned_move_loses_no_packet(live_run: LiveRun) -> None:
    """The short way becomes the slow one at 3 s. Packets overtake each other then, and all of them arrive."""
    controller = {
        "application": {"algorithm": "tcpbp", "sample_packets": 50},
        "statistics_interval": "1 s",
        "links": {"capacity": "1 Gbps", "delay": "1 ms"},
    }
    application = {"kind": "constant-rate", "message": "1 kB", "rate": "1 Mbps"}
    ends = {"from": "a", "to": "b", "transport": "linux-cubic"}
    entry = {**ends, "application": application, "stop": "9 s"}
    slower = {"at": "3 s", "link": ["s", "c"], "delay": "30 ms"}
    run = {"duration": "11 s"}
    scenario = diamond(controller=controller, event=[slower], traffic=[entry], run=run)
    for _ in range(TRIES):
        result = live_run(scenario, switches="ovs")
        # Where a busy machine delays switches, which the self-check does not see, either way may be shorter.
        if result.tables["flow_routes"]["data_path"].to_list() == ["a > s > d > e > t > b"]:
            break
    sent = {(a, b): count for a, b, count in result.links.select("from", "to", "packets").iter_rows()}
    assert result.tables["flow_routes"]["data_path"].to_list() == ["a > s > d > e > t > b"]
    assert result.tables["route_changes"].height >= 1
    assert result.flows["completion_s"].null_count() == 0
    # From end to end, where nothing but packets of the flow goes.
    assert sent["a", "s"] == sent["t", "b"] > 500
    assert sent["b", "t"] == sent["s", "a"] > 250


@pytest.mark.usefixtures("can_switch", "can_join")
def test_subflows_take_the_paths_in_turn(live_run: LiveRun) -> None:
    """Eight subflows over four paths: two on each, whatever the hash of the first, so that none is idle."""
    parallel = [{"capacity": "4 Mbps", "delay": "5 ms"}] * 4
    manager = {"algorithm": "ndiffports", "subflows": 8}
    scenario = Scenario.model_validate(
        {
            "network": {"topology": "parallel", "parameters": {"paths": parallel}},
            "transport": {"m": {"preset": "mptcp-cubic", "path_manager": manager}},
            "traffic": [{"from": "source", "to": "sink", "transport": "m"}],
            "routing": {"scheme": "semper", "load_balancing": "subflow-round-robin"},
            "run": {"duration": "6 s"},
        }
    )
    result = live_run(scenario, switches="ovs")
    assert result.tables["connections"]["subflows_established"].to_list() == [8]
    sent = result.links.filter(pl.col("to") == "sink")["packets"].to_list()
    assert len(sent) == 4
    assert min(sent) > 200


@pytest.mark.usefixtures("can_switch", "can_join")
def test_a_controller_gives_subflows_the_paths_in_turn(live_run: LiveRun) -> None:
    """Three subflows over three paths between two routers: one on each, simulated and over real switches."""
    ways = ["n", "e", "s"]
    nodes = [{"name": name} for name in ("left", "right", *ways)]
    nodes += [{"name": name, "kind": "host"} for name in ("client", "server")]
    ends = [("left", way) for way in ways] + [(way, "right") for way in ways]
    links = [
        {"between": list(pair), "new": True} for pair in [*ends, ("client", "left"), ("right", "server")]
    ]
    manager = {"algorithm": "ndiffports", "subflows": 3}
    scenario = Scenario.model_validate(
        {
            "network": {
                "node": nodes,
                "link": links,
                "links": {"capacity": "4 Mbps", "delay": "3 ms"},
                "access": {"capacity": "50 Mbps", "delay": "10 us"},
            },
            "transport": {"m": {"preset": "mptcp-cubic", "path_manager": manager}},
            "traffic": [{"from": "client", "to": "server", "transport": "m"}],
            "controller": {
                "application": "subflow-round-robin",
                "links": {"capacity": "1 Gbps", "delay": "1 ms"},
                "table": {"idle_timeout": "10 s"},
            },
            "run": {"duration": "5 s"},
        }
    )
    for result in (scenario.run(), live_run(scenario, switches="ovs")):
        assert result.tables["connections"]["subflows_established"].to_list() == [3]
        sent = result.links.filter((pl.col("from") == "left") & pl.col("to").is_in(ways))["packets"].to_list()
        assert len(sent) == 3
        assert min(sent) > 400


@pytest.mark.usefixtures("can_switch")
def test_forwarding_goes_on_without_the_controller(tmp_path: Path) -> None:
    process = started(tmp_path, seconds=8)
    time.sleep(1.0)
    (controller,) = numbers_of("anabranch.live.switches.controller")
    os.kill(controller, signal.SIGKILL)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0, said
    assert "the controller has ended with status -9" in said
    assert "switches forward by the entries that they have" in said
    assert not programs()


@pytest.mark.usefixtures("can_switch")
def test_the_controller_takes_no_module_from_the_current_folder(tmp_path: Path) -> None:
    """The folder may be somebody else's, and the controller is root."""
    for name in ("anabranch", "os_ken", "json", "logging", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').write({name!r})")
    (tmp_path / "scenario.toml").write_text(two_paths("1 s").toml())
    arguments = ["live", "scenario.toml", "--switches", "ovs", "--out", "out", "--no-page"]
    done = subprocess.run(  # noqa: S603 - our own; -P: this process takes none, either
        [sys.executable, "-P", "-m", "anabranch", *arguments],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
    )
    assert not (tmp_path / "ran").exists()
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("can_switch")
def test_a_run_ends_with_its_switches(tmp_path: Path) -> None:
    process = started(tmp_path, seconds=20)
    daemons = numbers_of("ovs-vswitchd")
    # Source, sink and a router on each path: a packet waits for the ports of its own switch only.
    assert len(daemons) == 4
    os.kill(daemons[2], signal.SIGKILL)
    said = process.communicate(timeout=15)[1]
    assert process.returncode == 2
    assert "Open vSwitch has ended with status" in said
    assert "Traceback" not in said
    assert not programs()


@pytest.mark.usefixtures("can_switch")
def test_nothing_stays_of_a_run_that_is_killed(tmp_path: Path) -> None:
    before, own = outside(), namespaces("self")
    process = started(tmp_path, seconds=20)
    held = namespaces(str(process.pid)) - own
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 5
    while programs() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not programs()
    assert outside() == before
    assert held
    assert not held & namespaces()


def started(folder: Path, seconds: int) -> subprocess.Popen[str]:
    """A run of two paths as a process, once its traffic has begun."""
    file, mark = folder / "scenario.toml", folder / "begun"
    file.write_text(two_paths(f"{seconds} s").toml())
    arguments = ["live", str(file), "--switches", "ovs", "--out", str(folder / "out"), "--no-page"]
    process = subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-m", "anabranch", *arguments, "--exec", f"source=touch {mark}"],
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not mark.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()[1]
    return process


def numbers_of(name: str) -> list[int]:
    """The numbers of a program's processes in the one run that there is."""
    processes = [one for one in programs() if one.split()[1].endswith(name) or f"from {name}" in one]
    return [int(one.split()[0]) for one in processes]


@pytest.mark.parametrize("spread", ["packet", "packet-round-robin", "flowlet"])
def test_spread_of_packets_is_refused(spread: str) -> None:
    balancing = {"algorithm": spread, **({"gap": "10 ms"} if spread == "flowlet" else {})}
    routing = {"scheme": "disjoint", "load_balancing": balancing}
    with pytest.raises(
        ScenarioError, match=rf"{spread}: OpenFlow has no action that sends packets of a flow"
    ):
        run(two_paths(routing=routing), switches="ovs")


def test_what_is_simulated_is_refused() -> None:
    scenario = paths("6 Mbps", [5], [{"transport": "mprc"}])
    with pytest.raises(ScenarioError, match=r"transport\.mprc: the kernel does not speak it"):
        run(scenario, switches="ovs")


def test_controllers_of_senders_are_refused() -> None:
    controller = {"application": "sdn-paced", "links": {"capacity": "1 Gbps", "delay": "1 ms"}}
    scenario = paths("6 Mbps", [5], [{"transport": "linux-cubic"}], controller=controller)
    with pytest.raises(ScenarioError, match=r"sdn-paced tells senders when to send how much"):
        run(scenario, switches="ovs")


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"size": 10}, r"controller\.table\.size: a flow without room"),
        ({"idle_timeout": "65536 s"}, r"controller\.table\.idle_timeout: entries of OpenFlow have 65535 s"),
        ({"hard_timeout": "48 h"}, r"controller\.table\.hard_timeout: entries of OpenFlow have 65535 s"),
    ],
)
def test_what_real_switches_do_not_keep_to_is_refused(own: dict[str, Any], message: str) -> None:
    links = {"capacity": "1 Gbps", "delay": "1 ms"}
    controller = {"application": "forwarding", "links": links, "table": own}
    scenario = paths("6 Mbps", [5], [{"transport": "linux-cubic"}], controller=controller)
    with pytest.raises(ScenarioError, match=message):
        run(scenario, switches="ovs")


def test_other_switches_are_not_known() -> None:
    with pytest.raises(LiveError, match='--switches: "bmv2" is not known; there is "ovs"'):
        run(two_paths(), switches="bmv2")


def test_a_machine_without_switches_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switched, "missing_tools", lambda: ["ovs-vswitchd"])
    with pytest.raises(
        LiveError, match=r"ovs-vswitchd is not there; install it .*apt install openvswitch-switch"
    ):
        switched.check_switches()
    monkeypatch.setattr(switched, "missing_tools", list)
    monkeypatch.setattr(switched, "schema", lambda: Path("/"))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(LiveError, match='with: pip install "os-ken>='):
        switched.check_switches()


def test_rules_follow_a_packet_from_host_to_host() -> None:
    """A packet that looks its way up in the entries takes one path whole, and each path at its weight."""
    layout, links, at, number = laid_out()
    ways = [("a", "s", "c", "t", "b"), ("a", "s", "d", "e", "t", "b")]
    routes = {
        (at["a"], at["b"]): [
            (tuple(number[at[x], at[y]] for x, y in pairwise(way)), weight)
            for way, weight in zip(ways, [3, 1], strict=True)
        ]
    }
    rules = rules_of(layout.openflow_ports(), links, [(routes, None)], {at["b"]: ["10.0.0.2"]}, Numbers())
    (group,) = rules.groups
    assert [weight for weight, _ in group.buckets] == [3, 1]
    assert group.switch == at["s"]
    out = {(port.switch, port.number): port for port in layout.ports}
    for way, (_, actions) in zip(ways, group.buckets, strict=True):
        mark = dict(actions)["eth_dst"]
        node, port, seen = at["s"], dict(actions)["output"], ["a", "s"]
        while (link := out[node, port].link_out) is not None:
            node = links[link].to
            seen.append(layout.names[node])
            if node == at["b"]:
                break
            (entry,) = [one for one in rules.entries if one.switch == node and one.match == {"eth_dst": mark}]
            port = dict(entry.actions)["output"]
        assert tuple(seen) == way


def test_labels_stay_when_routes_change() -> None:
    """A packet on its way over d and e is led on as before when its pair has no other path any more."""
    layout, links, at, number = laid_out()
    route = tuple(number[at[x], at[y]] for x, y in ["as", "sd", "de", "et", "tb"])
    other = tuple(number[at[x], at[y]] for x, y in ["as", "sc", "ct", "tb"])
    numbers, ports = Numbers(), layout.openflow_ports()
    pair, addresses = (at["a"], at["b"]), {at["b"]: ["10.0.0.2"]}
    both = rules_of(ports, links, [({pair: [(other, 1), (route, 1)]}, None)], addresses, numbers)
    alone = rules_of(ports, links, [({pair: [(route, 1)]}, None)], addresses, numbers)
    behind = [entry for entry in alone.entries if "eth_dst" in entry.match]
    assert [layout.names[entry.switch] for entry in behind] == ["d", "e", "t"]
    assert all(entry in both.entries for entry in behind)


def test_paths_share_a_label_where_they_agree() -> None:
    """Switch 2 leads both of the first paths on by port 3, and the third by port 4."""
    numbers = Numbers()
    first = numbers.label(9, [SwitchHop(1, 1, 2), SwitchHop(2, 1, 3)])
    assert first == "02:a0:00:00:00:01"
    assert numbers.label(9, [SwitchHop(5, 1, 1), SwitchHop(2, 4, 3)]) == first
    other = numbers.label(9, [SwitchHop(2, 1, 4)])
    assert other != first
    # Switch 5 has been there for the first label, too.
    assert numbers.label(9, [SwitchHop(5, 1, 2)]) == other
    assert numbers.label(8, [SwitchHop(1, 1, 2)]) not in (first, other)


def test_next_hops_become_paths_with_their_shares() -> None:
    """Over s half goes to c and half to d: two paths of one half, by hand."""
    _, links, at, number = laid_out()
    hop = {ends: number[at[ends[0]], at[ends[1]]] for ends in ("as", "sc", "sd", "ct", "de", "et", "tb")}
    following = {"a": ["as"], "s": ["sc", "sd"], "c": ["ct"], "d": ["de"], "e": ["et"], "t": ["tb"]}
    table = [(at[node], [hop[ends] for ends in to]) for node, to in following.items()]
    pair = (at["a"], at["b"])
    route = {"from": pair[0], "to": pair[1], "paths": []}
    data = {"routes": [route], "tables": [{"to": pair[1], "next": sorted(table)}]}
    paths = PlanPaths.of(_core.Plan(json.dumps(data)), links)
    pair_paths = paths.of_pair(pair, 16)
    assert pair_paths is not None
    assert {path.links: path.weight for path in pair_paths} == {
        (hop["as"], hop["sc"], hop["ct"], hop["tb"]): 0.5,
        (hop["as"], hop["sd"], hop["de"], hop["et"], hop["tb"]): 0.5,
    }
    assert paths.of_pair(pair, 1) is None


def test_a_host_of_several_links_uses_its_first() -> None:
    setup = resolve(paths("6 Mbps", [1, 2], [{"transport": "linux-cubic"}]))
    names = [node.name for node in setup.nodes]
    hosts = {names.index("source"), names.index("sink")}
    layout = SwitchLayout.of(names, setup.links, set(range(len(names))) - hosts, hosts)
    first = {
        number for number, link in enumerate(setup.links) if "path1" in (names[link.origin], names[link.to])
    }
    assert layout.used_links() == first
    assert SwitchLayout.read(layout.data()) == layout
    assert layout.cable() is None


def test_switches_share_daemons_beyond_sixteen() -> None:
    setup = resolve(diamond())
    names = [node.name for node in setup.nodes]
    some = SwitchLayout.of(names, setup.links, set(range(5)), set())
    many = replace(some, switches=tuple(range(40)))
    assert [daemons_of(layout) for layout in (some, many)] == [5, 16]


def test_a_cable_leads_from_the_first_switch_to_itself() -> None:
    setup = resolve(diamond())
    names = [node.name for node in setup.nodes]
    hosts = {names.index("a"), names.index("b")}
    switches = set(range(len(names))) - hosts
    layout = SwitchLayout.of(names, setup.links, switches, hosts, cable=True)
    ends = layout.cable()
    assert ends is not None
    assert [end.switch for end in ends] == [min(switches)] * 2
    assert not any(end.is_local for end in ends)
    numbers = [port.number for port in layout.ports if port.switch == min(switches)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert SwitchLayout.read(layout.data()) == layout


@pytest.mark.usefixtures("can_switch")
@pytest.mark.parametrize("switches", [None, "ovs"])
def test_trains_go_through_the_network_whole(live_run: LiveRun, switches: str | None) -> None:
    """Four segments of 1448 bytes at most, with 52 bytes of headers, count as one packet of a link."""
    network = {
        "topology": "parallel",
        "parameters": {"paths": [{"capacity": "8 Mbps", "delay": "5 ms"}]},
        "hosts": {"offload": "4 segments"},
    }
    scenario = Scenario.model_validate(
        {
            "network": network,
            "traffic": [{"from": "source", "to": "sink", "transport": "linux-cubic"}],
            "run": {"duration": "4 s"},
        }
    )
    result = live_run(scenario, switches=switches)
    (link,) = result.links.filter(pl.col("to") == "sink").select("packets", "bytes").iter_rows(named=True)
    assert 2000 < link["bytes"] / link["packets"] <= 4 * 1448 + 52
    assert result.summary["delivered_mbps"] == pytest.approx(8 * 4 * 1448 / (4 * 1448 + 52), rel=0.15)
