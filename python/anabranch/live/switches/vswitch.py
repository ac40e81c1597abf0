"""Open vSwitch for one run: its own database and daemon, in a network namespace of its own.

Nothing has a name outside: ports are TAP devices that are open files of this process, the database lies in a
file system that only the daemons see, and they end with this process, however it ends.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TypeVar

from anabranch.errors import LiveError
from anabranch.live import devices
from anabranch.live.namespace import first_in_line, in_new, inside, tied
from anabranch.live.switches.layout import SwitchLayout

CONTROLLER = ("127.0.0.1", 6653)
"""Where the controller listens, in the switches' namespace."""
TOOLS = ("ovs-vswitchd", "ovsdb-server", "ovsdb-tool", "ovs-vsctl")

# Below the links, and above the controller: what a switch waits for the processor, packets wait in it.
_PRIORITY = 5
_READY_S = 30.0
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

T = TypeVar("T")


def missing_tools() -> list[str]:
    """The programs of Open vSwitch, and those that start it, that are not there."""
    return [tool for tool in (*TOOLS, "setpriv", "nsenter", "unshare", "mount") if shutil.which(tool) is None]


def schema() -> Path | None:
    """The schema of the database; None where it is not installed."""
    return next((file for folder in _SCHEMAS if (file := folder / "vswitch.ovsschema").exists()), None)


class VSwitch:
    """The switches of a run, and the devices that are their ports."""

    def __init__(self, layout: SwitchLayout, *, train_segments: int = 1) -> None:
        """Makes the namespace and the devices.

        Args:
            layout: the switches and their ports.
            train_segments: most segments that a host sends at once, which ports must let through.

        Raises:
            OSError: if the system does not let us.
        """
        self._layout = layout
        # No longer than needed: Open vSwitch makes room for 32 of them each time it looks at a port.
        self._mtu = min(train_segments * devices.MTU, devices.LARGEST_MTU)
        self._files = ExitStack()
        self.devices: dict[str, int] = {}
        """Open files of the ports, by name."""
        self._daemons: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the others
        self._files.callback(self._said.close)
        try:
            in_new(self._build)
        except BaseException:
            self.close()
            raise

    def _build(self, namespace: int) -> None:
        self.namespace = namespace
        self._files.callback(os.close, namespace)
        # Devices of switches have no addresses, and need none.
        for name in ("all", "default"):
            Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
        for port in self._layout.ports:
            device = devices.opened(port.device, ethernet=True)
            self._files.callback(os.close, device)
            self.devices[port.device] = device
        from pyroute2 import IPRoute  # noqa: PLC0415 - only live runs have it

        with IPRoute() as netlink:
            (loopback,) = netlink.link_lookup(ifname="lo")
            netlink.link("set", index=loopback, state="up")
            for port in self._layout.ports:
                devices.set_up(netlink, port.device, mtu=self._mtu)

    def start(self) -> None:
        """Starts the daemons and makes the bridges; from the main thread, with which they end.

        Raises:
            LiveError: if they do not start.
        """
        file = schema()
        if file is None:
            raise LiveError(f"Open vSwitch has no vswitch.ovsschema in {_SCHEMAS[0]}; install it anew")
        script = [
            "sh",
            "-c",
            _DAEMONS,
            "sh",
            str(file),
            " ".join(first_in_line(_PRIORITY)),
            *self._configuration(),
        ]
        self._daemons = subprocess.Popen(  # noqa: S603 - our own
            tied(self.namespace, script, alone=True),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        if not _says_ready(self._daemons):
            raise LiveError(f"Open vSwitch does not start: {self._last_words()}")

    def _configuration(self) -> list[str]:
        """All bridges in one transaction of ovs-vsctl."""
        host, port = CONTROLLER
        commands: list[str] = []
        for number, node in enumerate(self._layout.switches, 1):
            bridge = f"s{number}"
            commands += ["--", "add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=netdev"]
            commands += ["protocols=OpenFlow13", "fail_mode=secure", "mcast_snooping_enable=false"]
            commands += [f"other-config:datapath-id={number:016x}", "other-config:disable-in-band=true"]
            for own in (one for one in self._layout.ports if one.switch == node):
                commands += ["--", "add-port", bridge, own.device]
                commands += ["--", "set", "interface", own.device, f"ofport_request={own.number}"]
            commands += ["--", "set-controller", bridge, f"tcp:{host}:{port}"]
            # A packet-in is never held back, and a controller that comes late is found soon.
            commands += ["--", "set", "controller", bridge, "max_backoff=1000", "inactivity_probe=0"]
        return commands[1:]

    def ended(self) -> str | None:
        """Why the switches are not there any more; None while they are."""
        if self._daemons is None or self._daemons.poll() is None:
            return None
        return f"Open vSwitch has ended with status {self._daemons.returncode}: {self._last_words()}"

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it says nothing")

    def set_carrier(self, device: str, *, up: bool) -> None:
        """Tells a switch whether a port has light, as when a link fails."""
        devices.set_carrier(self.devices[device], up=up)

    def dropped_packets(self) -> int:
        """Packets that devices have lost because their queues were full."""
        return self.inside(lambda: devices.dropped_packets(self.devices))

    def inside(self, work: Callable[[], T]) -> T:
        """Works in the namespace."""
        return inside(self.namespace, work)

    def close(self) -> None:
        """Ends the daemons and removes everything."""
        if self._daemons is not None:
            self._daemons.kill()
            self._daemons.communicate()
            self._daemons = None
        self._files.close()


def _says_ready(process: subprocess.Popen[bytes]) -> bool:
    """Whether it says that it is ready, in time."""
    heard: list[bytes] = []
    stream = process.stdout

    def read() -> None:
        if stream is not None:
            heard.append(stream.readline())

    reader = threading.Thread(target=read, name="switches", daemon=True)
    reader.start()
    reader.join(_READY_S)
    return heard == [b"ready\n"]
