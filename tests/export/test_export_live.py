"""Exports loaded into the real thing: Open vSwitch, Linux routes and FRR, in namespaces that the tests make.

Shares are measured over 6,000 flows, those of Open vSwitch also over 1,000. Where a program is missing, or
namespaces may not be made, the test is skipped and says so.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from export_scenarios import CROSSED, EDGES, SPLIT, diamond, given, inside, namespaces, needs, sh

from anabranch.export.write import export

pytestmark = pytest.mark.usefixtures("whole_machine")
FLOWS = 6000
SHARE_OFF = 0.03
"""What measured shares may miss of the weights. The kernel's hash has a seed that it draws at its start: over
6,000 flows a share of 0.5 has a standard deviation of 0.0065, so that a false alarm takes more than four of
them, 4e-6."""
NODES = ("n1", "n2", "n3", "n4")

FEW_FLOWS = 1000
BATCH = 50
"""Datagrams that wait in a switch at once: a port has room for some hundred."""
FIRST_PORT = 20_000
ARRIVE_S = 20.0
"""For a batch, which takes milliseconds unless the machine has other work."""

SENDER = """
import socket, sys
source, target = sys.argv[1:3]
for line in sys.stdin:
    first, count, step, port = map(int, line.split())
    for number in range(count):
        flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        flow.bind((source, first + step * number))
        flow.sendto(b"x" * 64, (target, port))
        flow.close()
    print("sent", flush=True)
"""


@contextmanager
def sender(name: str, source: str, target: str) -> Iterator[Callable[[int, int, int, int], None]]:
    """Sends datagrams from a namespace: from which port, how many, the step to the next one, and where to."""
    command = ["ip", "netns", "exec", name, "python3", "-c", SENDER, source, target]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def send(first: int, count: int, step: int, port: int) -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            print(first, count, step, port, file=process.stdin, flush=True)
            assert process.stdout.readline() == "sent\n"

        yield send


def send_flows(name: str, source: str, target: str) -> None:
    """One datagram of each flow, from ports of their own."""
    with sender(name, source, target) as send:
        for first in range(FIRST_PORT, FIRST_PORT + FLOWS, BATCH):
            send(first, BATCH, 1, 9)
            time.sleep(0.01)


def arrive(count: Callable[[], int], packets: int) -> None:
    """Waits until so many packets have been counted: a switch that is late drops what comes on top."""
    deadline = time.monotonic() + ARRIVE_S
    while (outcome := count()) < packets and time.monotonic() < deadline:
        time.sleep(0.002)
    assert outcome >= packets, (
        f"{packets - outcome} of {packets} packets are still missing after {ARRIVE_S:g} s"
    )


PING = """
import socket, struct, sys
source, target = sys.argv[1:3]
echo = struct.pack("!BBHHH", 8, 0, 0, 77, 1)
total = sum(struct.unpack("!4H", echo))
echo = struct.pack("!BBHHH", 8, 0, ~((total >> 16) + (total & 0xFFFF)) & 0xFFFF, 77, 1)
with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
    raw.bind((source, 0))
    raw.settimeout(1)
    for _ in range(8):
        raw.sendto(echo, (target, 0))
        try:
            while True:
                packet, (sender, _) = raw.recvfrom(2048)
                if sender == target and packet[20] == 0:
                    sys.exit(0)
        except TimeoutError:
            pass
sys.exit(1)
"""


def pings(name: str, source: str, target: str) -> bool:
    """Whether one of some echo requests (RFC 792) is answered."""
    command = ["ip", "netns", "exec", name, "python3", "-c", PING, source, target]
    return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0


@contextmanager
def lab(folder: Path, prefix: str) -> Iterator[None]:
    """The namespaces that the export's own script makes."""
    try:
        sh("sh", "try.sh", "up", prefix, cwd=folder)
        yield
    finally:
        sh("sh", "try.sh", "down", prefix, cwd=folder)
    assert prefix not in sh("ip", "netns", "list")


def sent(name: str, interface: str) -> int:
    """Packets that an interface of a namespace has sent."""
    return int(inside(name, "cat", f"/sys/class/net/{interface}/statistics/tx_packets"))


def measured(before: list[int], after: list[int]) -> list[float]:
    """Shares of what was sent between."""
    counts = [b - a for a, b in zip(before, after, strict=True)]
    # Each flow is a packet; a few more are neighbours that look for each other.
    assert FLOWS <= sum(counts) <= FLOWS + 40
    return [count / sum(counts) for count in counts]


def test_nexthop_groups_of_the_kernel_share_by_their_weights(tmp_path: Path) -> None:
    needs("ip", "sysctl")
    export(diamond(SPLIT), "iproute2", tmp_path)
    with lab(tmp_path, "abx-"):
        assert pings("abx-n1", "10.0.0.1", "10.0.0.4")
        assert pings("abx-n2", "10.0.0.2", "10.0.0.4")
        before = [sent("abx-n1", name) for name in ("eth1", "eth2")]
        send_flows("abx-n1", "10.0.0.1", "10.0.0.4")
        shares = measured(before, [sent("abx-n1", name) for name in ("eth1", "eth2")])
        print(f"kernel nexthop group 3:1: {shares}")
        assert shares == pytest.approx([0.75, 0.25], abs=SHARE_OFF)
        script = next(tmp_path.glob("undo/n1-*.sh"))
        inside("abx-n1", "sh", str(script))
        assert inside("abx-n1", "ip", "nexthop") == ""
        assert "proto 186" not in inside("abx-n1", "ip", "route")


def test_resilient_groups_share_by_their_weights(tmp_path: Path) -> None:
    needs("ip", "sysctl")
    export(diamond(SPLIT), "iproute2", tmp_path, buckets=128, resilient=True)
    with lab(tmp_path, "abr-"):
        assert "resilient buckets 128" in inside("abr-n1", "ip", "nexthop")
        before = [sent("abr-n1", name) for name in ("eth1", "eth2")]
        send_flows("abr-n1", "10.0.0.1", "10.0.0.4")
        shares = measured(before, [sent("abr-n1", name) for name in ("eth1", "eth2")])
        print(f"kernel resilient group 3:1: {shares}")
        assert shares == pytest.approx([0.75, 0.25], abs=SHARE_OFF)


def has_srv6() -> bool:
    """Whether the kernel encapsulates for segment routing."""
    with namespaces("abs-try"):
        sh(
            "ip",
            "link",
            "add",
            "x",
            "netns",
            "abs-try",
            "type",
            "veth",
            "peer",
            "name",
            "y",
            "netns",
            "abs-try",
        )
        inside("abs-try", "ip", "link", "set", "x", "up")
        inside("abs-try", "ip", "link", "set", "y", "up")
        command = "ip route add 10.9.9.9/32 encap seg6 mode encap segs fd00::1 dev x"
        done = subprocess.run(
            ["ip", "netns", "exec", "abs-try", *command.split()], capture_output=True, check=False, timeout=20
        )
        return done.returncode == 0


def test_explicit_paths_by_segment_routing(tmp_path: Path) -> None:
    """Of a's flows to d, half go by b, and half of those from b over c."""
    needs("ip", "sysctl")
    if not has_srv6():
        pytest.skip("not here: a kernel with SRv6 (CONFIG_IPV6_SEG6_LWTUNNEL)")
    export(diamond(CROSSED), "iproute2", tmp_path)
    with lab(tmp_path, "abs-"):
        # Each packet arrives from the start: no address is still being looked for elsewhere (RFC 4862, 5.4).
        for name in ("abs-n1", "abs-n2", "abs-n3"):
            assert inside(name, "ip", "-6", "addr", "show", "tentative") == ""
        ports = [("abs-n1", "eth1"), ("abs-n1", "eth2"), ("abs-n2", "eth2"), ("abs-n2", "eth3")]
        before = [sent(*port) for port in ports]
        send_flows("abs-n1", "10.0.0.1", "10.0.0.4")
        counts = [sent(*port) - old for port, old in zip(ports, before, strict=True)]
        shares = [count / FLOWS for count in counts]
        print(f"SRv6 paths 1:1:2, at a to b and c, at b to d and c: {shares}")
        assert shares == pytest.approx([0.5, 0.5, 0.25, 0.25], abs=SHARE_OFF)


@contextmanager
def switches(name: str) -> Iterator[tuple[Callable[..., str], Path]]:
    """A private Open vSwitch in a namespace; ``ovs(program, ...)`` calls its programs."""
    folder = Path(tempfile.mkdtemp(prefix="abovs"))
    paths = {
        variable: str(folder) for variable in ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR", "OVS_SYSCONFDIR")
    }
    environment = {**os.environ, **paths, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    database = f"unix:{folder}/db.sock"

    def ovs(*command: str) -> str:
        done = subprocess.run(
            ["ip", "netns", "exec", name, *command],
            env=environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
        return done.stdout

    daemons: list[subprocess.Popen[bytes]] = []
    try:
        with namespaces(name):
            sh("ovsdb-tool", "create", str(folder / "conf.db"), "/usr/share/openvswitch/vswitch.ovsschema")
            for command in (
                [
                    "ovsdb-server",
                    str(folder / "conf.db"),
                    f"--remote=p{database}",
                    f"--unixctl={folder}/db.ctl",
                ],
                ["ovs-vswitchd", database, f"--unixctl={folder}/switch.ctl"],
            ):
                with (folder / f"{command[0]}.out").open("wb") as output:
                    daemons.append(
                        subprocess.Popen(
                            ["ip", "netns", "exec", name, *command],
                            env=environment, stdout=output, stderr=output,
                        )
                    )  # fmt: skip
                for _ in range(100):
                    if (folder / "db.sock").exists():
                        break
                    time.sleep(0.05)
            ovs("ovs-vsctl", f"--db={database}", "--no-wait", "init")
            yield ovs, folder
    finally:
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(timeout=20)
        shutil.rmtree(folder)


def lay(ovs: Callable[..., str], folder: Path, name: str) -> None:
    """The bridges of the diamond, joined by patch ports, with the end systems of a, b and d in namespaces."""
    command = ["ovs-vsctl", f"--db=unix:{folder}/db.sock"]
    # Or the kernel would look for routers through the ports, and be counted.
    inside(
        name, "sysctl", "-q", "-w", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"
    )
    for node in NODES:
        command += ["--", "add-br", node, "--", "set", "bridge", node, "datapath_type=netdev",
        "fail_mode=secure",
                    "protocols=OpenFlow13,OpenFlow15"]  # fmt: skip
    count = dict.fromkeys(NODES, 0)
    for edge in EDGES:
        ends = []
        for letter in edge:
            node = f"n{'abcd'.index(letter) + 1}"
            count[node] += 1
            ends.append((node, f"{node}-eth{count[node]}", count[node]))
        for (node, port, number), (_, peer, _) in (ends, ends[::-1]):
            command += ["--", "add-port", node, port, "--", "set", "interface", port, "type=patch",
                        f"options:peer={peer}", f"ofport_request={number}"]  # fmt: skip
    for node in ("n1", "n2", "n4"):
        sh("ip", "link", "add", "eth0", "netns", f"{name}-{node}", "type", "veth", "peer", "name",
        f"{node}-host",
           "netns", name)  # fmt: skip
        sh("ip", "-n", name, "link", "set", f"{node}-host", "up")
        command += ["--", "add-port", node, f"{node}-host", "--", "set", "interface", f"{node}-host",
                    "ofport_request=1000"]  # fmt: skip
        number = int(node[1:])
        host = f"{name}-{node}"
        inside(host, "ip", "addr", "add", f"10.0.0.{number}/32", "dev", "eth0")
        inside(host, "ip", "link", "set", "eth0", "address", f"02:00:00:00:00:0{number}", "up")
        inside(host, "ip", "route", "add", "10.0.0.0/8", "dev", "eth0", "src", f"10.0.0.{number}")
        for other in (1, 2, 4):
            inside(
                host,
                "ip",
                "neigh",
                "add",
                f"10.0.0.{other}",
                "lladdr",
                f"02:00:00:00:00:0{other}",
                "dev",
                "eth0",
            )
        if shutil.which("ethtool"):
            inside(host, "ethtool", "-K", "eth0", "tx", "off", check=False)
    ovs(*command)


def transmitted(ovs: Callable[..., str], folder: Path, node: str) -> dict[int, int]:
    """Packets that each port of a switch has sent."""
    text = ovs("ovs-ofctl", "-O", "OpenFlow13", "dump-ports", f"unix:{folder}/{node}.mgmt")
    outcome = re.findall(r"port\s+\"?([^:\"]+)\"?: rx .*?\n\s+tx pkts=(\d+)", text)
    return {int(port): int(packets) for port, packets in outcome if port.strip().isdigit()}


@contextmanager
def loaded(name: str, export_folder: Path) -> Iterator[tuple[Callable[..., str], Path]]:
    """Switches with the flows and groups of an export, and end systems at a, b and d."""
    needs("ovs-vswitchd", "ovsdb-server", "ovs-ofctl", "ovs-vsctl", "ovsdb-tool", "ip")
    hosts = [f"{name}-{node}" for node in ("n1", "n2", "n4")]
    with switches(name) as (ovs, folder), namespaces(*hosts):
        lay(ovs, folder, name)
        for node in NODES:
            bridge = f"unix:{folder}/{node}.mgmt"
            (groups,) = export_folder.glob(f"groups/{node}-*.groups")
            (flows,) = export_folder.glob(f"flows/{node}-*.flows")
            ovs("ovs-ofctl", "-O", "OpenFlow15", "add-groups", bridge, str(groups))
            ovs("ovs-ofctl", "-O", "OpenFlow13", "add-flows", bridge, str(flows))
        yield ovs, folder


@pytest.mark.parametrize(
    ("routing", "expected"),
    [
        (SPLIT, {("n1", 1): 0.75, ("n1", 2): 0.25}),
        (CROSSED, {("n1", 1): 0.5, ("n1", 2): 0.5, ("n2", 3): 0.25}),
    ],
    ids=["by destination", "crossed"],
)
def test_select_groups_share_by_their_weights(
    tmp_path: Path, routing: str, expected: dict[tuple[str, int], float]
) -> None:
    """Whatever the machine does besides: no batch is sent before the one before has arrived."""
    export(diamond(routing), "openflow", tmp_path)
    name = f"abo{len(expected)}"
    with loaded(name, tmp_path) as (ovs, folder), sender(f"{name}-n1", "10.0.0.1", "10.0.0.4") as send:
        assert pings(f"{name}-n1", "10.0.0.1", "10.0.0.4")
        assert pings(f"{name}-n2", "10.0.0.2", "10.0.0.4")
        before = {node: transmitted(ovs, folder, node) for node in NODES}

        def delivered() -> int:
            return transmitted(ovs, folder, "n4")[1000] - before["n4"][1000]

        def chosen() -> int:
            """Ports between switches are counted later than those of end systems."""
            now = transmitted(ovs, folder, "n1")
            return sum(now[port] - before["n1"][port] for port in (1, 2))

        for flows in (FEW_FLOWS, FLOWS):
            for first in range(0 if flows == FEW_FLOWS else FEW_FLOWS, flows, BATCH):
                send(FIRST_PORT + first, BATCH, 1, 9)
                arrive(delivered, first + BATCH)
            arrive(chosen, flows)
            shares = {
                port: (transmitted(ovs, folder, port[0])[port[1]] - before[port[0]][port[1]]) / flows
                for port in expected
            }
            print(f"select group, {flows} flows: {shares}")
            assert shares == pytest.approx(expected, abs=SHARE_OFF)
        assert delivered() == FLOWS
        for node in NODES:
            bridge = f"unix:{folder}/{node}.mgmt"
            ovs("ovs-ofctl", "-O", "OpenFlow13", "del-flows", bridge, "cookie=0xa11a/-1")
            assert "cookie=0xa11a" not in ovs("ovs-ofctl", "-O", "OpenFlow13", "dump-flows", bridge)


def test_flows_with_routes_of_their_own_take_them(tmp_path: Path) -> None:
    """a to d goes over b and c, and the flow of one entry by fewest hops, which is not over both."""
    own_text = """
[[traffic]]
name = "calls"
from = "a"
to = "d"
application = { kind = "udp", rate = "80 kbps", packet = "200 B" }
routing = { metric = "hops" }
"""
    export(diamond(given(("abcd", 1), ("bd", 1), ("dca", 1)), more=own_text), "openflow", tmp_path)
    table = list(csv.DictReader((tmp_path / "own_flows.csv").read_text().splitlines()))
    (forth,) = (row for row in table if row["source"] == "10.0.0.1")
    assert (forth["traffic"], forth["protocol"], forth["destination"]) == ("calls", "17", "10.0.0.4")
    port, service = int(forth["source_port"]), int(forth["destination_port"])
    with loaded("abw", tmp_path) as (ovs, folder), sender("abw-n1", "10.0.0.1", "10.0.0.4") as send:
        before = {node: transmitted(ovs, folder, node) for node in NODES}

        def over(node: str, *numbers: int) -> int:
            now = transmitted(ovs, folder, node)
            return sum(now[number] - before[node][number] for number in numbers)

        send(port, 40, 0, service)
        # Other ports, and the same port to another service.
        send(FIRST_PORT, 20, 1, service)
        send(port, 10, 0, 9)
        arrive(lambda: over("n4", 1000), 70)
        # All ports that a packet has passed are counted at once, those between switches later.
        arrive(lambda: over("n1", 1, 2), 70)
        print(f"70 packets, of which 30 take the routes of [routing]: {over('n2', 3)} from b to c")
        assert over("n2", 3) == 30
