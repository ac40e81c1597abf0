"""Exports for FRR loaded into FRR, in namespaces that the tests make: static routes, OSPF, IS-IS, weights,
policies.

Where a program is missing, or namespaces may not be made, the test is skipped and says so.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from export_scenarios import EDGES, SPLIT, diamond, given, inside, namespaces, needs, sh
from test_export_live import NODES, pings, sent

from anabranch import Scenario
from anabranch.export.layout import DeviceLayout
from anabranch.export.placed_ports import placed_ports
from anabranch.export.write import export
from anabranch.plans.paths import PlanPaths
from anabranch.plans.saved import plan_of_scenario
from anabranch.plans.weight_search import WeightLimits, search_weights
from anabranch.plans.worst_loads import worst_loads
from anabranch.setup import Needed, resolve

pytestmark = pytest.mark.usefixtures("whole_machine")
FRR = "/usr/lib/frr"
DAEMONS = (f"{FRR}/zebra", f"{FRR}/staticd")
BACKBONE = Path(__file__).parent / "backbone"
CONVERGE_S = 90.0
"""For all routes of OSPF or IS-IS: hellos come every 10 s, and the machine may have other work."""
FLOWS_PER_GBPS = 20


@dataclass(frozen=True)
class Daemons:
    """The daemons of a router; calling them is vtysh with these arguments."""

    name: str
    folder: Path
    pids: tuple[int, ...]

    def __call__(self, *arguments: str) -> str:
        return inside(self.name, "vtysh", "--vty_socket", str(self.folder), *arguments)

    def signal(self, number: int) -> None:
        """Sends each daemon a signal."""
        for pid in self.pids:
            os.kill(pid, number)


@contextmanager
def frr(name: str, *more: str) -> Iterator[Daemons]:
    """FRR's zebra, staticd and further daemons in a namespace."""
    folder = Path(tempfile.mkdtemp(prefix="abfrr"))
    pids = []
    common = ["-d", "-u", "frr", "-g", "frr", "--vty_socket", str(folder), "-z", str(folder / "z.sock")]
    try:
        for daemon in (*DAEMONS, *(f"{FRR}/{one}" for one in more)):
            pid = folder / f"{Path(daemon).name}.pid"
            (folder / "empty.conf").write_text("")
            shutil.chown(folder, "frr", "frr")
            inside(name, daemon, *common, "-i", str(pid), "-f", str(folder / "empty.conf"))
            pids.append(pid)
        yield Daemons(name, folder, tuple(int(pid.read_text()) for pid in pids))
    finally:
        for pid in reversed(pids):
            if pid.exists():
                os.kill(int(pid.read_text()), signal.SIGTERM)
        time.sleep(0.3)
        shutil.rmtree(folder, ignore_errors=True)


def test_frr_takes_the_static_routes(tmp_path: Path) -> None:
    """FRR 8.4: all four routers, whose routes then carry pings; the equal next hops of a to d are both
    there."""
    needs("ip", "vtysh", *DAEMONS)
    export(diamond('scheme = "ecmp"\n'), "frr", tmp_path)
    names = [f"abf-{node}" for node in NODES]
    with namespaces(*names):
        count = dict.fromkeys("abcd", 0)
        for a, b in EDGES:
            ends = []
            for letter in (a, b):
                count[letter] += 1
                ends.append((f"abf-n{'abcd'.index(letter) + 1}", f"eth{count[letter]}"))
            sh("ip", "link", "add", ends[0][1], "netns", ends[0][0], "type", "veth",
               "peer", "name", ends[1][1], "netns", ends[1][0])  # fmt: skip
        for name in names:
            inside(name, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0")
            for interface in ("eth1", "eth2", "eth3")[: 2 if name in ("abf-n1", "abf-n4") else 3]:
                inside(name, "ip", "link", "set", interface, "up")
                inside(name, "sysctl", "-q", "-w", f"net.ipv4.conf.{interface}.rp_filter=0")
        with frr(names[0]) as one, frr(names[1]) as two, frr(names[2]) as three, frr(names[3]) as four:
            for node, vtysh in zip(NODES, (one, two, three, four), strict=True):
                (configuration,) = tmp_path.glob(f"{node}-*/frr.conf")
                assert "Unknown command" not in vtysh("-C", "-f", str(configuration))
                vtysh("-f", str(configuration))
            deadline = time.monotonic() + 10
            while "10.0.0.4" not in inside(names[0], "ip", "route") and time.monotonic() < deadline:
                time.sleep(0.2)
            route = inside(names[0], "ip", "route", "show", "10.0.0.4/32")
            assert "src 10.0.0.1" in route
            assert sorted(re.findall(r"dev (eth\d)", route)) == ["eth1", "eth2"]
            assert pings(names[0], "10.0.0.1", "10.0.0.4")
            assert pings(names[1], "10.0.0.2", "10.0.0.4")


@contextmanager
def routers(
    scenario: Scenario, folder: Path, daemon: str, prefix: str, interfaces: Path | None = None
) -> Iterator[tuple[DeviceLayout, list[str], list[Daemons]]]:
    """A namespace for each node with its interfaces, and FRR with the configuration of an export."""
    setup = resolve(scenario, Needed.ROUTES)
    layout = DeviceLayout.of("", setup, None if interfaces is None else placed_ports(interfaces, setup))
    names = [f"{prefix}{number}" for number in range(len(layout.names))]
    with namespaces(*names), ExitStack() as stack:
        for one, other in layout.edges():
            sh("ip", "link", "add", one.name, "netns", names[one.node], "type", "veth",
               "peer", "name", other.name, "netns", names[other.node])  # fmt: skip
        for node, name in enumerate(names):
            inside(name, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0",
                   "net.ipv4.fib_multipath_hash_policy=1", "net.ipv6.conf.all.disable_ipv6=1")  # fmt: skip
            for entry in layout.interfaces[node]:
                inside(name, "ip", "link", "set", entry.name, "up")
                inside(name, "sysctl", "-q", "-w", f"net.ipv4.conf.{entry.name}.rp_filter=0")
        speak = []
        for node, name in enumerate(names):
            vtysh = stack.enter_context(frr(name, daemon))
            configuration = folder / layout.file(node, "") / "frr.conf"
            assert "Unknown command" not in vtysh("-C", "-f", str(configuration))
            wait_for_interfaces(vtysh, {entry.name for entry in layout.interfaces[node]})
            vtysh("-f", str(configuration))
            speak.append(vtysh)
        yield layout, names, speak


def wait_for_interfaces(vtysh: Daemons, names: set[str]) -> None:
    """Until zebra knows them: without its interfaces it refuses labels where the kernel has no MPLS."""
    deadline = time.monotonic() + 10
    while not names <= set(vtysh("-c", "show interface brief").split()) and time.monotonic() < deadline:
        time.sleep(0.05)


Hops = dict[tuple[int, int], frozenset[str]]
"""Interfaces by which a router (first) sends on to another one."""


def planned_hops(scenario: Scenario, layout: DeviceLayout) -> Hops:
    """The interfaces by our plan."""
    setup = resolve(scenario, Needed.ROUTES)
    tables = PlanPaths.of(plan_of_scenario(scenario, setup), setup.links).next_hops()
    return {
        (node, to): frozenset(layout.sender[link].name for link in links)
        for to, table in tables.items()
        for node, links in table.items()
    }


def kernel_hops(layout: DeviceLayout, names: list[str]) -> Hops:
    """The interfaces by the kernel's tables, of routes that give packets the router's own address."""
    node_of = {layout.address(node): node for node in range(len(names))}
    found: Hops = {}
    for node, name in enumerate(names):
        for route in json.loads(inside(name, "ip", "-j", "route")):
            if route["dst"] in node_of and route.get("prefsrc") == layout.address(node):
                hops = route.get("nexthops", [route])
                found[node, node_of[route["dst"]]] = frozenset(hop["dev"] for hop in hops)
    return found


def wait_for_routes(scenario: Scenario, layout: DeviceLayout, names: list[str]) -> None:
    """Until all routers send on as planned.

    That all have some routes is not enough: while neighbours are still finding each other, routes lead over
    the links that are known by then.
    """
    wanted = planned_hops(scenario, layout)
    deadline = time.monotonic() + CONVERGE_S
    while (found := kernel_hops(layout, names)) != wanted and time.monotonic() < deadline:
        time.sleep(0.2)
    off = [pair for pair, hops in wanted.items() if found.get(pair) != hops]
    assert found == wanted, f"{len(off)} routes are others after {CONVERGE_S:g} s, such as {off[:3]}"


MANY = """
import socket, sys, time
source = sys.argv[1]
port = 20000
for line in sys.stdin:
    target, count = line.split()
    for _ in range(int(count)):
        flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        flow.bind((source, port))
        flow.sendto(b"x" * 64, (target, 9))
        flow.close()
        port += 1
        if port % 50 == 0:
            time.sleep(0.01)
"""


SINK = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:
    sink.bind(("", 9))
    print("ready", flush=True)
    sys.stdin.read()
"""


@contextmanager
def sinks(names: list[str]) -> Iterator[None]:
    """Something at port 9 of each namespace, or each would answer that nothing is there (RFC 792)."""
    with ExitStack() as stack:
        for name in names:
            command = ["ip", "netns", "exec", name, "python3", "-c", SINK]
            sink = stack.enter_context(
                subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
            assert sink.stdin is not None
            assert sink.stdout is not None
            stack.callback(sink.stdin.close)
            assert sink.stdout.readline() == "ready\n"
        yield


@contextmanager
def silent(daemons: list[Daemons]) -> Iterator[None]:
    """No packets of the protocol: the kernel has the routes, and nobody hears that the others are stopped."""
    try:
        for each in daemons:
            each.signal(signal.SIGSTOP)
        yield
    finally:
        for each in daemons:
            each.signal(signal.SIGCONT)


def send_matrix(layout: DeviceLayout, names: list[str], flows: Mapping[tuple[str, str], int]) -> None:
    """One datagram of each flow of each pair, from ports of their own."""
    for node, name in enumerate(names):
        lines = "".join(
            f"{layout.address(layout.names.index(to))} {count}\n"
            for (origin, to), count in flows.items()
            if origin == layout.names[node]
        )
        command = ["ip", "netns", "exec", name, "python3", "-c", MANY, layout.address(node)]
        subprocess.run(command, input=lines, text=True, timeout=120, check=True)


def linux_table(folder: Path) -> Path:
    """The table of interfaces of the backbone with names that Linux takes."""
    text = (BACKBONE / "interfaces.csv").read_text()
    table = folder / "interfaces.csv"
    lines = [line.replace("et-0/1/", "core") for line in text.splitlines() if "ge-0" not in line]
    table.write_text("\n".join(lines))
    return table


@pytest.mark.parametrize(("form", "daemon"), [("frr-ospf", "ospfd"), ("frr-isis", "isisd")])
def test_routers_that_find_their_routes_load_links_as_we_say(tmp_path: Path, form: str, daemon: str) -> None:
    """11 routers of a backbone with an operator's names and addresses: the counters of 40 interfaces are
    the loads of `anabranch load`, as far as a hash of flows can share. OSPF runs weights that a search has
    found, and IS-IS those of the operator."""
    needs("ip", "vtysh", *DAEMONS, f"{FRR}/{daemon}")
    if "ANABRANCH_VALIDATE_EXPORT" not in os.environ:
        pytest.skip("by chance: neighbours take 20 s and more to find each other; by make validate-export")
    scenario = Scenario.load(BACKBONE / "net.toml")
    if daemon == "ospfd":
        search = search_weights(scenario, WeightLimits(time_limit_s=1.0))
        assert search.load < search.load_before
        search.table.save(scenario, tmp_path / "found")
        scenario = Scenario.load(tmp_path / "found" / "scenario.toml")
        assert worst_loads(scenario).max_load == pytest.approx(search.load)
    table = linux_table(tmp_path)
    export(scenario, form, tmp_path / "out", interfaces=table)
    with (BACKBONE / "traffic.csv").open() as lines:
        rates = {(row["from"], row["to"]): float(row["rate_gbps"]) for row in csv.DictReader(lines)}
    flows = {pair: round(FLOWS_PER_GBPS * rate) for pair, rate in rates.items()}
    with routers(scenario, tmp_path / "out", daemon, "abi", table) as (layout, names, speak):
        wait_for_routes(scenario, layout, names)
        ends = [layout.sender[link] for link in range(len(layout.links))]
        with sinks(names), silent(speak):
            before = [sent(names[end.node], end.name) for end in ends]
            send_matrix(layout, names, flows)
            time.sleep(1)
            after = [sent(names[end.node], end.name) for end in ends]
    loads = worst_loads(scenario)
    total = sum(flows.values())
    assert total == pytest.approx(FLOWS_PER_GBPS * sum(rates.values()), rel=0.01)
    off = 0.0
    for link, first, last in zip(layout.links, before, after, strict=True):
        crossing = [(flows[one.source, one.destination], one.share) for one in loads.matrix(link.name)]
        expected = sum(count * share for count, share in crossing)
        # Flows that split are shared by a hash, like coins: five standard deviations of their sum, and some
        # packets of neighbours that look for each other.
        spread = sum(count * share * (1 - share) for count, share in crossing) ** 0.5
        assert -0.5 - 5 * spread <= last - first - expected <= 5 * spread + 12, link.name
        off = max(off, abs(last - first - expected) / total)
    print(f"{form}: {total} flows over {len(ends)} interfaces, at most {100 * off:.2f} % of them off")


def test_frr_shares_by_the_weights_of_groups(tmp_path: Path) -> None:
    """What comes in at a for d leaves by the kernel's group 3 to 1, and a itself shares evenly."""
    needs("ip", "vtysh", *DAEMONS, f"{FRR}/pbrd")
    rows = ["node,neighbour,interface,address"]
    rows += ["a,b,eth1,", "a,c,eth2,", "a,,cust0,", "b,a,eth1,", "b,d,eth2,", "b,c,eth3,"]
    rows += ["c,a,eth1,", "c,d,eth2,", "c,b,eth3,", "d,b,eth1,", "d,c,eth2,"]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(rows))
    scenario = diamond(SPLIT)
    export(scenario, "frr", tmp_path / "out", interfaces=table)
    with ExitStack() as stack:
        stack.enter_context(namespaces("abpc"))
        layout, names, speak = stack.enter_context(routers(scenario, tmp_path / "out", "pbrd", "abp", table))
        sh("ip", "link", "add", "cust0", "netns", names[0], "type", "veth",
           "peer", "name", "out0", "netns", "abpc")  # fmt: skip
        inside(names[0], "ip", "link", "set", "cust0", "up")
        inside(names[0], "ip", "addr", "add", "192.0.2.1/31", "dev", "cust0")
        inside("abpc", "ip", "link", "set", "out0", "up")
        inside("abpc", "ip", "addr", "add", "192.0.2.0/31", "dev", "out0")
        inside("abpc", "ip", "route", "add", "default", "via", "192.0.2.1")
        speak[0]("-f", str(tmp_path / "out" / layout.file(0, "") / "frr.conf"))
        deadline = time.monotonic() + 10
        while "iif cust0" not in inside(names[0], "ip", "rule") and time.monotonic() < deadline:
            time.sleep(0.2)
        before = [sent(names[0], name) for name in ("eth1", "eth2")]
        command = ["ip", "netns", "exec", "abpc", "python3", "-c", MANY, "192.0.2.0"]
        subprocess.run(command, input=f"{layout.address(3)} 6000\n", text=True, timeout=120, check=True)
        time.sleep(1)
        counts = [sent(names[0], n) - old for n, old in zip(("eth1", "eth2"), before, strict=True)]
    shares = [count / sum(counts) for count in counts]
    print(f"FRR's group 3:1: {shares}")
    # As of test_export_live: more than four standard deviations of 6,000 flows.
    assert sum(counts) >= 6000
    assert shares == pytest.approx([0.75, 0.25], abs=0.03)


def test_pathd_shows_the_policies(tmp_path: Path) -> None:
    """Whether packets take them hangs on MPLS in the kernel; the daemon has each with its segments."""
    needs("ip", "vtysh", *DAEMONS, f"{FRR}/pathd")
    scenario = diamond(given(("abd", 3), ("acd", 1), ("bd", 1), ("dba", 1)))
    export(scenario, "frr-sr", tmp_path / "out")
    with routers(scenario, tmp_path / "out", "pathd", "abs") as (_, _, speak):
        policies = speak[0]("-c", "show sr-te policy detail")
        assert re.findall(r"Endpoint: (\S+)  Color: (\d+)", policies) == [
            ("10.0.0.4", "100"), ("10.0.0.4", "101"),
        ]  # fmt: skip
        running = speak[0]("-c", "show running-config")
        # Links: a->b 0, b->d 2, a->c 4, c->d 6.
        assert re.findall(r"index (\d+) mpls label (\d+)", running) == [
            ("10", "100000"), ("20", "100002"), ("10", "100004"), ("20", "100006"),
        ]  # fmt: skip


def test_frr_understands_label_stacks(tmp_path: Path) -> None:
    """Whether it would carry packets hangs on MPLS in the kernel; the configuration is checked by vtysh."""
    needs("vtysh", root=False)
    paths = given(("abd", 1), ("abcd", 1), ("acd", 1), ("bd", 1), ("dba", 1))
    export(diamond(paths), "frr", tmp_path)
    files = list(tmp_path.glob("n*/frr.conf"))
    assert len(files) == 4
    assert any("label 100008/100006" in file.read_text() for file in files)
    for file in files:
        done = subprocess.run(
            ["vtysh", "-C", "-f", str(file)], capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "%" not in done.stdout + done.stderr
    # It would say so if it did not understand.
    (tmp_path / "wrong.conf").write_text("ip rout 10.0.0.4/32 172.16.0.1 eth1 labl 5\n")
    wrong = subprocess.run(
        ["vtysh", "-C", "-f", str(tmp_path / "wrong.conf")],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert wrong.returncode != 0 or "%" in wrong.stdout + wrong.stderr
