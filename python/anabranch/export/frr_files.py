"""The files of a router with FRR: what all of its formats have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from anabranch.export.layout import DeviceLayout, Interface

DAEMONS: Final = ("staticd", "bgpd", "ospfd", "isisd", "pathd", "pbrd")
"""Those of FRR that a file of daemons names; watchfrr and zebra always run."""


@dataclass(frozen=True)
class RouterLines:
    """The lines of the configuration of one router besides its name and its addresses."""

    of_interface: Callable[[Interface], Sequence[str]]
    """Lines of an interface that leads to another router, without the blank in front."""
    of_loopback: Sequence[str]
    behind: Sequence[str]
    """Lines at the end."""
    protocol: str
    """Whose routes give packets of the router its own address: ``static``, ``ospf`` or ``isis``."""
    outside: Sequence[str] = ()
    """Lines of interfaces that lead out of the network."""


def configuration(layout: DeviceLayout, node: int, lines: RouterLines) -> str:
    """The file ``frr.conf`` of a router."""
    whole = [
        "frr defaults traditional",
        f"hostname {layout.label(node)}",
        "log syslog informational",
        "service integrated-vtysh-config",
        "!",
        f"! {layout.names[node]!r}",
        "interface lo",
        f" ip address {layout.address(node)}/32",
        *(f" {line}" for line in lines.of_loopback),
        "exit",
    ]
    for entry in layout.interfaces[node]:
        whole += ["!", f"interface {entry.name}", f" ip address {entry.address}/{entry.prefix_length}"]
        whole += [*(f" {line}" for line in lines.of_interface(entry)), "exit"]
    for name in layout.outside(node) if lines.outside else ():
        whole += ["!", f"interface {name}", *(f" {line}" for line in lines.outside), "exit"]
    whole += [
        "!",
        "! Packets of this node have its own address, not that of an interface.",
        "route-map OWN-ADDRESS permit 10",
        f" set src {layout.address(node)}",
        "exit",
        f"ip protocol {lines.protocol} route-map OWN-ADDRESS",
        "!",
        *lines.behind,
        "!",
        "end",
    ]
    return "\n".join(whole) + "\n"


def daemons(*names: str) -> str:
    """The file ``daemons``, with these at work."""
    lines = ["# What FRR starts; watchfrr and zebra always run.", "zebra=yes"]
    lines += [f"{name}={'yes' if name in names else 'no'}" for name in DAEMONS]
    lines += ["vtysh_enable=yes", 'zebra_options="  -A 127.0.0.1 -s 90000000"']
    lines += [f'{name}_options="-A 127.0.0.1"' for name in names]
    return "\n".join(lines) + "\n"


def to_load(layout: DeviceLayout) -> str:
    """How the two files of a router are loaded, for a README."""
    example = layout.file(0, "")
    where = "`eth1`, `eth2`, ..." if layout.ports is None else f"those of {layout.ports.table.source},"
    return f"""
## To load

On each router, with interfaces {where} as in the table below, copy its two files to `/etc/frr`
and start FRR (tried with 8.4), or load them into one that runs:

    cp {example}/daemons {example}/frr.conf /etc/frr/ && systemctl restart frr
    vtysh -C -f {example}/frr.conf     # only looks whether it is understood
    vtysh -f {example}/frr.conf

Flows are told apart by ports with `sysctl net.ipv4.fib_multipath_hash_policy=1`; without it only by
addresses.
"""
