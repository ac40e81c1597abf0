"""Numbers that the kernel keeps of a connection: TCP_INFO and MPTCP_INFO."""

from __future__ import annotations

import ctypes
import socket
import struct
from dataclasses import dataclass

from anabranch.errors import system_error

TCP_CONGESTION = 13
IPPROTO_MPTCP = 262
SOL_MPTCP = 284

_TCP_INFO = 11
_MPTCP_INFO = 1
_MPTCP_TCPINFO = 2
_MPTCP_SUBFLOW_ADDRS = 3

# struct tcp_info of linux/tcp.h, up to tcpi_total_rto (Linux 6.7).
_LAYOUT = struct.Struct("=8B24I4Q6I4Q2I2Q6IHH")
_FIELDS = (
    *("state", "ca_state", "retransmits", "probes", "backoff", "options", "scales", "limited"),
    *("rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets"),
    *("last_data_sent", "last_ack_sent", "last_data_recv", "last_ack_recv"),
    *("pmtu", "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "advmss", "reordering"),
    *("rcv_rtt", "rcv_space", "total_retrans"),
    *("pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received"),
    *("segs_out", "segs_in", "notsent_bytes", "min_rtt", "data_segs_in", "data_segs_out"),
    *("delivery_rate", "busy_time", "rwnd_limited", "sndbuf_limited"),
    *("delivered", "delivered_ce", "bytes_sent", "bytes_retrans"),
    *("dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd", "rcv_wnd", "rehash"),
    *("total_rto", "total_rto_recoveries"),
)
_INFINITE = 0x7FFF_FFFF
_NO_RTT = 2**32 - 1


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """The state of a connection, or of a subflow."""

    mss_bytes: int
    cwnd_bytes: int
    ssthresh_bytes: int | None
    """None before the first loss."""
    srtt_ms: float | None
    """None before the first sample."""
    rtt_min_ms: float | None
    in_flight_bytes: int
    data_segments_sent: int
    retransmissions: int
    timeouts: int | None
    """None from a kernel before 6.7, which does not count them."""
    bytes_acked: int
    bytes_received: int

    @classmethod
    def of(cls, data: bytes) -> TcpInfo:
        """From the bytes that getsockopt gives; what an older kernel does not have is zero."""
        is_whole = len(data) >= _LAYOUT.size
        values = dict(
            zip(_FIELDS, _LAYOUT.unpack(data[: _LAYOUT.size].ljust(_LAYOUT.size, b"\0")), strict=True)
        )
        mss = values["snd_mss"]
        in_flight = values["unacked"] - values["sacked"] - values["lost"] + values["retrans"]
        threshold, smallest = values["snd_ssthresh"], values["min_rtt"]
        return cls(
            mss_bytes=mss,
            cwnd_bytes=values["snd_cwnd"] * mss,
            ssthresh_bytes=None if threshold >= _INFINITE else threshold * mss,
            srtt_ms=values["rtt"] / 1e3 if values["rtt"] else None,
            rtt_min_ms=None if smallest in (0, _NO_RTT) else smallest / 1e3,
            in_flight_bytes=max(in_flight, 0) * mss,
            data_segments_sent=values["data_segs_out"],
            retransmissions=values["total_retrans"],
            timeouts=values["total_rto"] if is_whole else None,
            bytes_acked=values["bytes_acked"],
            bytes_received=values["bytes_received"],
        )


def tcp_info(connection: socket.socket) -> TcpInfo:
    """The state of a connection of TCP."""
    return TcpInfo.of(connection.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 512))


@dataclass(frozen=True, slots=True)
class MptcpInfo:
    """The state of a connection of Multipath TCP."""

    token: int
    fallen_back: bool
    """Whether it is plain TCP."""


def mptcp_info(connection: socket.socket) -> MptcpInfo:
    """The state of a connection of Multipath TCP.

    Raises:
        OSError: if it is none, or has fallen back to plain TCP before it was one.
    """
    data = connection.getsockopt(SOL_MPTCP, _MPTCP_INFO, 256)
    flags, token = struct.unpack_from("=II", data, 8)
    return MptcpInfo(token, bool(flags & 1))


@dataclass(frozen=True, slots=True)
class SubflowInfo:
    """A subflow by its ends, (address, port), and its state."""

    local: tuple[str, int]
    remote: tuple[str, int]
    info: TcpInfo


def subflows(connection: socket.socket) -> list[SubflowInfo]:
    """The subflows of a connection that are there now.

    Raises:
        OSError: if it is none of Multipath TCP.
    """
    infos = _each(connection, _MPTCP_TCPINFO, 512)
    addresses = _each(connection, _MPTCP_SUBFLOW_ADDRS, 256)
    subflows = []
    for info, ends in zip(infos, addresses, strict=False):
        # Two sockaddr_storage of 128 bytes.
        subflows.append(SubflowInfo(_end(ends[:128]), _end(ends[128:]), TcpInfo.of(info)))
    return subflows


def _end(data: bytes) -> tuple[str, int]:
    (port,) = struct.unpack_from("!H", data, 2)
    return socket.inet_ntoa(data[4:8]), port


def _each(connection: socket.socket, option: int, size: int) -> list[bytes]:
    """What an option of Multipath TCP says of each subflow, behind a struct mptcp_subflow_data."""
    head = struct.Struct("=4I")
    most = 255
    buffer = ctypes.create_string_buffer(head.pack(head.size, 0, 0, size), head.size + most * size)
    length = ctypes.c_uint32(len(buffer))
    library = ctypes.CDLL(None, use_errno=True)
    if library.getsockopt(connection.fileno(), SOL_MPTCP, option, buffer, ctypes.byref(length)) != 0:
        raise system_error(ctypes.get_errno(), "getsockopt")
    _, count, kernel, user = head.unpack_from(buffer)
    step = min(kernel, user) if user else kernel
    stride = user or kernel
    return [buffer.raw[at : at + step] for at in range(head.size, head.size + count * stride, stride)]
