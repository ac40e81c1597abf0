"""The frames that a controller sends and reads: of LLDP, of its own probes, of IPv4 and TCP."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass
from typing import Any, Self

from anabranch import _core
from anabranch.plans.switch_rules import IPV4, TCP, UDP, five_tuple

LLDP = 0x88CC
PROBE = 0x88B5
"""For experiments of one's own (IEEE 802, local experimental Ethertype 1)."""

_NEAREST_BRIDGE = bytes.fromhex("0180c200000e")
_SOURCE = bytes.fromhex("020000000002")
_HEADER = 14
_SMALLEST = 60
_PORTED = (TCP, UDP)
_LARGEST_SCALE = 14
"""What a larger window scale is taken for (RFC 7323 section 2.3)."""


def ether_type(frame: bytes) -> int:
    """The type of what a frame carries."""
    return int.from_bytes(frame[12:_HEADER]) if len(frame) >= _HEADER else 0


def lldp(switch: int, port: int) -> bytes:
    """A switch says its number and that of a port out of it (IEEE 802.1AB sections 8.5.2 to 8.5.4)."""
    chassis = bytes([7]) + f"dpid:{switch:016x}".encode()
    port_id = bytes([7]) + str(port).encode()
    parts = [(1, chassis), (2, port_id), (3, struct.pack("!H", 120)), (0, b"")]
    body = b"".join(struct.pack("!H", kind << 9 | len(value)) + value for kind, value in parts)
    return (_NEAREST_BRIDGE + _SOURCE + struct.pack("!H", LLDP) + body).ljust(_SMALLEST, b"\0")


def read_lldp(frame: bytes) -> tuple[int, int] | None:
    """The switch and the port that said it; None for what is not ours."""
    values: dict[int, bytes] = {}
    at = _HEADER
    while at + 2 <= len(frame):
        (head,) = struct.unpack_from("!H", frame, at)
        kind, length = head >> 9, head & 0x1FF
        if kind == 0:
            break
        values[kind] = frame[at + 2 : at + 2 + length]
        at += 2 + length
    chassis, port = values.get(1, b"")[1:], values.get(2, b"")[1:]
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


@dataclass(frozen=True, slots=True)
class TcpFields:
    """The fields that the controller reads in the header of a TCP segment (RFC 9293 section 3.1)."""

    syn: bool
    fin: bool
    ack: bool
    mss: int = 0
    """MSS option in bytes; 0 for none."""
    scale: int = 0
    """Window scale option (RFC 7323 section 2.2); 0 for none."""

    @classmethod
    def of(cls, frame: bytes) -> Self | None:
        """The fields of a frame; None where it has no header of TCP."""
        at = _tcp_at(frame)
        if at is None:
            return None
        flags, options = frame[at + 13], frame[at + 20 : at + (frame[at + 12] >> 4) * 4]
        mss = scale = place = 0
        while place + 1 < len(options) and options[place] != 0:
            kind, length = options[place], options[place + 1]
            if kind == 1:
                place += 1
                continue
            value = options[place + 2 : place + length]
            if kind == 2:
                mss = int.from_bytes(value)
            elif kind == 3:
                scale = min(int.from_bytes(value), _LARGEST_SCALE)
            place += max(length, 2)
        return cls(bool(flags & 2), bool(flags & 1), bool(flags & 16), mss, scale)


def with_window(frame: bytes, most_bytes: int, scale: int) -> bytes:
    """The frame of a TCP segment with an advertised window of at most so many bytes at this scale."""
    at = _tcp_at(frame)
    if at is None:
        return frame
    before, checksum = struct.unpack_from("!HH", frame, at + 14)
    window = _core.clamped_window(before, most_bytes, scale)
    # Equation 3 of RFC 1624.
    total = (~checksum & 0xFFFF) + (~before & 0xFFFF) + window
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    changed = bytearray(frame)
    struct.pack_into("!HH", changed, at + 14, window, ~total & 0xFFFF)
    return bytes(changed)


def _tcp_at(frame: bytes) -> int | None:
    """Where the header of TCP begins in a frame; None where there is none, as in a later fragment."""
    if ether_type(frame) != IPV4 or len(frame) < _HEADER + 40 or frame[_HEADER + 9] != TCP:
        return None
    at = _HEADER + (frame[_HEADER] & 0xF) * 4
    is_first = struct.unpack_from("!H", frame, _HEADER + 6)[0] & 0x1FFF == 0
    return at if is_first and len(frame) >= at + 20 else None


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
