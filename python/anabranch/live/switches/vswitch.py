"""Open vSwitch for one run: daemons with their databases, each in a network namespace of its own.

Nothing has a name outside: ports are TAP devices that are open files of this process, the database lies in a
file system that only the daemons see, and they end with this process, however it ends.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from anabranch.errors import LiveError
from anabranch.live import devices
from anabranch.live.namespace import first_in_line, in_new, inside
from anabranch.live.switches.layout import SwitchLayout
from anabranch.live.switches.process import TiedProcess

CONTROLLER = ("0.0.0.0", 6653)  # noqa: S104 - in a namespace of its own
"""Where the controller listens."""
TOOLS = ("ovs-vswitchd", "ovsdb-server", "ovsdb-tool", "ovs-vsctl")

# Below the links, and above the controller: what a switch waits for the processor, packets wait in it.
_PRIORITY = 5
_READY_S = 30.0
_MOST_DAEMONS = 16
"""Each has 25 MB; switches beyond so many share them."""
_CABLE = "controller"
_SCHEMAS = (Path("/usr/share/openvswitch"), Path("/usr/local/share/openvswitch"))
# What a daemon leaves is in a file system of its own, which goes with it.
_DAEMONS = """
mount -t tmpfs none /mnt || exit 1
export OVS_RUNDIR=/mnt OVS_LOGDIR=/mnt
ovsdb-tool create /mnt/conf.db "$1" || exit 1
first=$2
# Room for packets is used again, and not given back to the system each time.
export MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_TOP_PAD_=16000000
quiet='-vconsole:err -vsyslog:off -vfile:off'
ovsdb-server $quiet --remote=punix:/mnt/db.sock --unixctl=/mnt/ovsdb.ctl /mnt/conf.db &
$first ovs-vswitchd $quiet --unixctl=/mnt/vswitchd.ctl unix:/mnt/db.sock &
switches=$!
shift 2
ovs-vsctl --db=unix:/mnt/db.sock --retry --timeout=25 "$@" || exit 1
echo ready
wait $switches
"""


def missing_tools() -> list[str]:
    """The programs of Open vSwitch, and those that start it, that are not there."""
    return [tool for tool in (*TOOLS, "setpriv", "nsenter", "unshare", "mount") if shutil.which(tool) is None]


def schema() -> Path | None:
    """The schema of the database; None where it is not installed."""
    return next((file for folder in _SCHEMAS if (file := folder / "vswitch.ovsschema").exists()), None)


class Daemon:
    """A daemon of Open vSwitch with some of the switches, in a namespace of its own.

    It looks at all of its ports whenever one of them has a packet. One daemon for ten switches takes 0.25 ms
    for that, for which each packet waits at each switch.
    """

    def __init__(self, layout: SwitchLayout, number: int, controllers: int, mtu: int) -> None:
        """Makes the namespace, the devices, and a cable to the controller.

        Args:
            layout: all switches and their ports.
            number: of this daemon, from 1 on.
            controllers: namespace of the controller.
            mtu: longest packet of a port, in bytes.

        Raises:
            OSError: if the system does not let us.
        """
        self._switches = layout.switches[number - 1 :: daemons_of(layout)]
        self._ids = {node: place for place, node in enumerate(layout.switches, 1)}
        self._ports = [port for port in layout.ports if port.switch in self._switches]
        self._number, self._controllers, self._mtu = number, controllers, mtu
        self._files = ExitStack()
        self.devices: dict[str, int] = {}
        """Open files of the ports, by name."""
        self._process: TiedProcess | None = None
        try:
            in_new(self._build)
        except BaseException:
            self.close()
            raise

    def _build(self, namespace: int) -> None:
        self._namespace = namespace
        self._files.callback(os.close, namespace)
        _without_ipv6()
        for port in self._ports:
            device = devices.opened(port.device, ethernet=True)
            self._files.callback(os.close, device)
            self.devices[port.device] = device
        from pyroute2 import IPRoute  # noqa: PLC0415 - only live runs have it

        here, there = _ends(self._number)
        far = f"d{self._number}"
        with IPRoute() as netlink:
            netlink.link("add", ifname=_CABLE, kind="veth", peer={"ifname": far})
            (moved,) = netlink.link_lookup(ifname=far)
            netlink.link("set", index=moved, net_ns_fd=self._controllers)
            _address(netlink, _CABLE, here)
            for port in self._ports:
                devices.set_up(netlink, port.device, mtu=self._mtu)
        inside(self._controllers, lambda: _addressed(far, there))

    def start(self, schema: Path) -> None:
        """Starts the daemon; from the main thread, with which it ends."""
        first = " ".join(first_in_line(_PRIORITY))
        script = ["sh", "-c", _DAEMONS, "sh", str(schema), first, *self._configuration()]
        self._process = TiedProcess("Open vSwitch", self._namespace, script, alone=True)

    def wait(self) -> None:
        """Waits until its bridges are there.

        Raises:
            LiveError: if it does not start.
        """
        assert self._process is not None  # noqa: S101 - it has been started
        if not _says_ready(self._process.output):
            raise LiveError(f"Open vSwitch does not start: {self._process.last_words()}")

    def _configuration(self) -> list[str]:
        """All bridges in one transaction of ovs-vsctl."""
        _, controller = _ends(self._number)
        commands: list[str] = []
        for node in self._switches:
            bridge = f"s{self._ids[node]}"
            commands += ["--", "add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=netdev"]
            commands += ["protocols=OpenFlow13", "fail_mode=secure", "mcast_snooping_enable=false"]
            commands += [f"other-config:datapath-id={self._ids[node]:016x}"]
            commands += ["other-config:disable-in-band=true"]
            for port in (one for one in self._ports if one.switch == node):
                commands += ["--", "add-port", bridge, port.device]
                commands += ["--", "set", "interface", port.device, f"ofport_request={port.number}"]
            commands += ["--", "set-controller", bridge, f"tcp:{controller}:{CONTROLLER[1]}"]
            # A packet-in is never held back, and a controller that comes late is found soon.
            commands += ["--", "set", "controller", bridge, "max_backoff=1000", "inactivity_probe=0"]
        return commands[1:]

    def ended(self) -> str | None:
        """Why it is not there any more; None while it is."""
        return None if self._process is None else self._process.ended()

    def dropped_packets(self, but: Collection[str]) -> int:
        """Packets that devices have lost because their queues were full, but for some devices."""
        counted = [name for name in self.devices if name not in but]
        return inside(self._namespace, lambda: devices.dropped_packets(counted))

    def close(self) -> None:
        """Ends it and removes everything."""
        if self._process is not None:
            self._process.close()
            self._process = None
        self._files.close()


class VSwitch:
    """The switches of a run, and the devices that are their ports."""

    def __init__(self, layout: SwitchLayout, *, train_segments: int = 1) -> None:
        """Makes the namespaces and the devices.

        Args:
            layout: the switches and their ports.
            train_segments: most segments that a host sends at once, which ports must let through.

        Raises:
            OSError: if the system does not let us.
        """
        # No longer than needed: Open vSwitch makes room for 32 of them each time it looks at a port.
        mtu = min(train_segments * devices.MTU, devices.LARGEST_MTU)
        self._daemons: list[Daemon] = []
        self._files = ExitStack()
        try:
            in_new(self._build)
            for number in range(1, daemons_of(layout) + 1):
                daemon = Daemon(layout, number, self.namespace, mtu)
                self._files.callback(daemon.close)
                self._daemons.append(daemon)
        except BaseException:
            self.close()
            raise
        self.devices = {name: file for daemon in self._daemons for name, file in daemon.devices.items()}
        """Open files of the ports, by name."""

    def _build(self, namespace: int) -> None:
        self.namespace = namespace
        """Of the controller."""
        self._files.callback(os.close, namespace)
        _without_ipv6()

    def start(self) -> None:
        """Starts the daemons and makes the bridges; from the main thread, with which they end.

        Raises:
            LiveError: if they do not start.
        """
        file = schema()
        if file is None:
            raise LiveError(f"Open vSwitch has no vswitch.ovsschema in {_SCHEMAS[0]}; install it anew")
        for daemon in self._daemons:
            daemon.start(file)
        for daemon in self._daemons:
            daemon.wait()

    def ended(self) -> str | None:
        """Why the switches are not there any more; None while they are."""
        return next((why for daemon in self._daemons if (why := daemon.ended())), None)

    def set_carrier(self, device: str, *, up: bool) -> None:
        """Tells a switch whether a port has light, as when a link fails."""
        devices.set_carrier(self.devices[device], up=up)

    def dropped_packets(self, *, but: Collection[str]) -> int:
        """Packets that devices have lost because their queues were full, but for some devices."""
        return sum(daemon.dropped_packets(but) for daemon in self._daemons)

    def close(self) -> None:
        """Ends the daemons and removes everything."""
        self._files.close()


def daemons_of(layout: SwitchLayout) -> int:
    """How many daemons the switches of a run have."""
    return min(len(layout.switches), _MOST_DAEMONS)


def _without_ipv6() -> None:
    # Devices of switches have no such addresses, and need none.
    for name in ("all", "default"):
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")


def _ends(number: int) -> tuple[str, str]:
    """Addresses of the cable between a daemon and the controller: the daemon's, and the controller's."""
    return f"169.254.{number}.1", f"169.254.{number}.2"


def _address(netlink: Any, device: str, address: str) -> None:
    (index,) = netlink.link_lookup(ifname=device)
    netlink.addr("add", index=index, address=address, prefixlen=24)
    netlink.link("set", index=index, state="up")


def _addressed(device: str, address: str) -> None:
    from pyroute2 import IPRoute  # noqa: PLC0415 - only live runs have it

    with IPRoute() as netlink:
        _address(netlink, device, address)


def _says_ready(output: IO[bytes]) -> bool:
    """Whether a program says that it is ready, in time."""
    lines: list[bytes] = []
    reader = threading.Thread(target=lambda: lines.append(output.readline()), name="switches", daemon=True)
    reader.start()
    reader.join(_READY_S)
    return lines == [b"ready\n"]
