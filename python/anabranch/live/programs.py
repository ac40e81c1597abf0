"""Programs of the user in hosts of a live run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import IO, Any

import numpy as np

from anabranch.errors import LiveError
from anabranch.live.hosts import Host
from anabranch.live.namespace import tied
from anabranch.scenario.leaves import UnlimitedSource
from anabranch.setup import Setup
from anabranch.setup.flow_columns import NEVER, EntrySetup, FlowColumns
from anabranch.setup.model import TransportSetup
from anabranch.text.suggest import suggest

OUTPUT = "programs"
"""Folder of the output of programs in a result folder."""

_MOST_CARRIERS = 4096
_CARRIERS_OF_PAIR = 16

# What a shell takes for more than one command, or for one of its own.
_SHELL = re.compile(r"[|&;<>()$`\\\"'*?\[\]#~={}!\n]")
# Of a shell's own commands, those that somebody may want alone (POSIX).
_BUILT_IN = (":", "command", "eval", "exec", "exit", "read", "times", "ulimit", "umask", "wait")
# The names of hosts, in a file system that only the program sees. No other name is known, and no name server
# is asked, whose answer would be waited for: without a line, it is sought on the host itself.
_NAMES = (
    'mount -t tmpfs none /mnt && printf %s "$1" > /mnt/hosts && mount --bind /mnt/hosts /etc/hosts; '
    "[ ! -e /etc/resolv.conf ] || { : > /mnt/none; mount --bind /mnt/none /etc/resolv.conf; }; "
    'umount -l /mnt; mount -t sysfs none /sys 2> /dev/null; shift; exec "$@"'
)
_TOOLS = ("setpriv", "nsenter", "unshare", "mount")


@dataclass(frozen=True, slots=True)
class HostProgram:
    """A command that runs in a host."""

    host: str
    command: str

    @classmethod
    def read(cls, text: str) -> HostProgram:
        """From ``HOST=COMMAND``.

        Raises:
            LiveError: if it is none, or there is no such command.
        """
        host, separator, command = text.partition("=")
        if not separator or not host.strip() or not command.strip():
            raise LiveError(f'--exec: {text!r} is not HOST=COMMAND, such as --exec "a=ping -c 3 b"')
        program = cls(host.strip(), command.strip())
        program.check()
        return program

    def check(self) -> None:
        """Makes sure that the command is there, as far as can be seen without a shell.

        Raises:
            LiveError: if it is not.
        """
        if _SHELL.search(self.command):
            return
        first = shlex.split(self.command)[0]
        if first not in _BUILT_IN and shutil.which(first) is None:
            raise LiveError(f"--exec: {self.host}: there is no command {first}; install it, or give its path")


@dataclass(frozen=True, slots=True)
class Asked:
    """The user's wishes for hosts besides the flows of the scenario."""

    programs: tuple[HostProgram, ...] = ()
    shell: str | None = None
    """A host to work in."""
    hold: bool = False
    """Whether the network stays until Ctrl-C."""

    @property
    def anything(self) -> bool:
        """Whether anything is wanted."""
        return bool(self.programs or self.shell is not None or self.hold)

    @property
    def is_open(self) -> bool:
        """Whether the run has no end of its own."""
        return self.shell is not None or self.hold


def host_nodes(setup: Setup, asked: Asked) -> list[int]:
    """The nodes that programs can reach: the ends of the scenario's traffic, and the hosts that are named.

    Raises:
        LiveError: if there is no such node, or a tool of the system is missing.
    """
    numbers = {node.name: number for number, node in enumerate(setup.nodes)}
    named = [(f"--exec: {program.host}", program.host) for program in asked.programs]
    named += [(f"--shell: {asked.shell}", asked.shell)] if asked.shell is not None else []
    for place, name in named:
        if name not in numbers:
            near = suggest(name, list(numbers))
            raise LiveError(f"{place}: there is no such node" + (f'; nearest: "{near}"' if near else ""))
    for tool in _TOOLS if named else ():
        if shutil.which(tool) is None:
            raise LiveError(
                f"--exec and --shell need {tool}, which is not there; install util-linux and mount"
            )
    ends = {*setup.flows.origin.tolist(), *setup.flows.to.tolist()}
    ends |= {end for flow in setup.datagrams for end in (flow.origin, flow.to)}
    return sorted(ends | {numbers[name] for _, name in named})


def with_carriers(setup: Setup, nodes: Sequence[int], transport: TransportSetup) -> Setup:
    """The setup with flows behind its own that carry what programs say, between all pairs of these nodes."""
    pairs = list(combinations(nodes, 2))
    each = max(1, min(_CARRIERS_OF_PAIR, _MOST_CARRIERS // max(len(pairs), 1)))
    carriers = carrier_flows("program", len(setup.transports), [pair for pair in pairs for _ in range(each)])
    flows = FlowColumns.joined([setup.flows, carriers])
    return setup.replace(flows=flows, transports=[*setup.transports, transport])


def carrier_flows(name: str, transport: int, pairs: Sequence[tuple[int, int]]) -> FlowColumns:
    """Flows between pairs of nodes that send nothing of their own: others' packets travel as theirs."""
    ends, count = np.array(pairs, dtype=np.uint32).reshape(-1, 2), len(pairs)
    return FlowColumns(
        entries=(EntrySetup(name, transport, UnlimitedSource()),),
        entry=np.zeros(count, dtype=np.uint32),
        number=np.arange(count, dtype=np.uint32),
        origin=ends[:, 0].copy(),
        to=ends[:, 1].copy(),
        bytes=np.zeros(count, dtype=np.uint64),
        start=np.zeros(count, dtype=np.uint64),
        stop=np.full(count, NEVER, dtype=np.uint64),
    )


def host_name(name: str) -> str:
    """A node's name as a host may have it (RFC 1123): lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "host"


def hosts_file(hosts: Mapping[int, Host]) -> str:
    """The names of all hosts, as in /etc/hosts."""
    lines = ["127.0.0.1 localhost"]
    taken: set[str] = set()
    for node, host in sorted(hosts.items()):
        name = host_name(host.plan.name)
        name = f"{name}-{node}" if name in taken else name
        taken.add(name)
        lines += [f"{address} {name}" for address in host.plan.addresses]
    return "\n".join(lines) + "\n"


class Running:
    """The programs of a run, from its start to its end."""

    def __init__(self, asked: Asked, hosts: Mapping[int, Host]) -> None:
        """Starts all of them.

        Programs are children of the calling thread and end with it: it has to be the main thread.
        """
        by_name = {host.plan.name: host for host in hosts.values()}
        names = hosts_file(hosts)
        self._programs: list[tuple[HostProgram, subprocess.Popen[bytes], IO[bytes]]] = []
        self.shell: subprocess.Popen[bytes] | None = None
        self.outputs: list[tuple[str, bytes]] = []
        self.ended: list[dict[str, Any]] = []
        """Host, command, exit status (None where it was still running) and the name of its output."""
        for program in asked.programs:
            # Without a name: it goes with us.
            output = tempfile.TemporaryFile()  # noqa: SIM115 - until the program ends
            command = _inside(by_name[program.host], names, ["sh", "-c", program.command])
            started = subprocess.Popen(  # noqa: S603 - what the user asks for
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
            self._programs.append((program, started, output))
        if asked.shell is not None:
            shell = os.environ.get("SHELL", "sh")
            self.shell = subprocess.Popen(_inside(by_name[asked.shell], names, [shell]))  # noqa: S603 - the user's

    def go_on(self) -> bool:
        """Whether there is a reason to go on: not once the shell has ended."""
        return self.shell is None or self.shell.poll() is None

    def end(self) -> None:
        """Ends what still runs, and takes what programs have said."""
        if self.shell is not None and self.shell.poll() is None:
            self.shell.kill()
            self.shell.wait()
        for number, (program, started, output) in enumerate(self._programs, 1):
            status = started.poll()
            if status is None:
                started.kill()
                started.wait()
            name = f"{number}-{host_name(program.host)}.txt"
            output.seek(0)
            self.outputs.append((name, output.read()))
            output.close()
            self.ended.append(
                {
                    "host": program.host,
                    "command": program.command,
                    "status": status,
                    "output": f"{OUTPUT}/{name}",
                }
            )
        self._programs = []

    def failures(self) -> list[str]:
        """The programs that ended with an error."""
        return [
            f"--exec: {one['host']}: {one['command']}: ended with status {one['status']}; its output is in "
            f"{one['output']}"
            for one in self.ended
            if one["status"]
        ]

    def write(self, folder: Path) -> None:
        """Writes what programs have said into a result folder."""
        if self.outputs:
            (folder / OUTPUT).mkdir()
        for name, text in self.outputs:
            (folder / OUTPUT / name).write_bytes(text)


def _inside(host: Host, names: str, command: Sequence[str]) -> list[str]:
    """The command in a host: in its network, with its names, and gone when this process is."""
    return tied(host.namespace, ["sh", "-c", _NAMES, "sh", names, *command], alone=True)
