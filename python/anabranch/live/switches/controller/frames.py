"""The frames that a controller sends and reads: of LLDP, of its own probes, and of IPv4."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass
from typing import Any, Self

from anabranch.switch_rules import IPV4, TCP, UDP, five_tuple

LLDP = 0x88CC
PROBE = 0x88B5
"""For experiments of one's own (IEEE 802, local experimental Ethertype 1)."""

_NEAREST_BRIDGE = bytes.fromhex("0180c200000e")
_SOURCE = bytes.fromhex("020000000002")
_HEADER = 14
_SMALLEST = 60
_PORTED = (TCP, UDP)


def ether_type(frame: bytes) -> int:
    """The type of what a frame carries."""
    return int.from_bytes(frame[12:_HEADER]) if len(frame) >= _HEADER else 0


def lldp(switch: int, port: int) -> bytes:
    """A switch says its number and that of a port out of it (IEEE 802.1AB sections 8.5.2 to 8.5.4)."""
    chassis = bytes([7]) + f"dpid:{switch:016x}".encode()
    own = bytes([7]) + str(port).encode()
    parts = [(1, chassis), (2, own), (3, struct.pack("!H", 120)), (0, b"")]
    body = b"".join(struct.pack("!H", kind << 9 | len(value)) + value for kind, value in parts)
    return (_NEAREST_BRIDGE + _SOURCE + struct.pack("!H", LLDP) + body).ljust(_SMALLEST, b"\0")


def read_lldp(frame: bytes) -> tuple[int, int] | None:
    """The switch and the port that said it; None for what is not ours."""
    found: dict[int, bytes] = {}
    at = _HEADER
    while at + 2 <= len(frame):
        (head,) = struct.unpack_from("!H", frame, at)
        kind, length = head >> 9, head & 0x1FF
        if kind == 0:
            break
        found[kind] = frame[at + 2 : at + 2 + length]
        at += 2 + length
    chassis, port = found.get(1, b"")[1:], found.get(2, b"")[1:]
    try:
        name, number = chassis.decode().split(":")
        return (int(number, 16), int(port)) if name == "dpid" else None
    except ValueError:
        return None


def probe(link: int, number: int) -> bytes:
    """A probe of a link, or with no link of a switch's own way to the controller and back, with a number."""
    body = struct.pack("!iI", link, number)
    return (_NEAREST_BRIDGE + _SOURCE + struct.pack("!H", PROBE) + body).ljust(_SMALLEST, b"\0")


def read_probe(frame: bytes) -> tuple[int, int]:
    """Link and number of a probe."""
    link, number = struct.unpack_from("!iI", frame, _HEADER)
    return link, number


@dataclass(frozen=True, slots=True, order=True)
class FiveTuple:
    """The protocol, addresses and ports of a packet; ports are 0 where the protocol has none."""

    protocol: int
    source: tuple[str, int]
    destination: tuple[str, int]

    @classmethod
    def of(cls, frame: bytes) -> Self | None:
        """The five-tuple of a packet of IPv4; None for anything else."""
        if ether_type(frame) != IPV4 or len(frame) < _HEADER + 20:
            return None
        packet = frame[_HEADER:]
        header, protocol = (packet[0] & 0xF) * 4, packet[9]
        first = struct.unpack_from("!H", packet, 6)[0] & 0x1FFF == 0
        ports = (0, 0)
        if first and protocol in _PORTED and len(packet) >= header + 4:
            ports = struct.unpack_from("!HH", packet, header)
        addresses = [str(ipaddress.IPv4Address(packet[at : at + 4])) for at in (12, 16)]
        return cls(protocol, (addresses[0], ports[0]), (addresses[1], ports[1]))

    def reversed(self) -> FiveTuple:
        """The five-tuple of the other direction."""
        return FiveTuple(self.protocol, self.destination, self.source)

    def match(self) -> dict[str, Any]:
        """As fields of OpenFlow."""
        return five_tuple(self.protocol, self.source, self.destination)
