"""How end hosts send: a preset, and what is changed in it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from anabranch.scenario.quantity import ByteCount, PositiveSpan, Span
from anabranch.scenario.table import Table

Count = Annotated[int, Field(ge=1, le=1_000_000)]


class Transport(Table):
    """A transport: a preset, and what is changed in it.

    The preset decides the protocol, and with it which fields there are. In TCP, loss detection, congestion
    control and pacing are chosen by name, each on its own; the parameters of the chosen ones stand beside
    them. A subflow of Multipath TCP has all of these; the connection has a path manager and a scheduler, too.
    """

    preset: Annotated[str, Field(min_length=1)] | None = None
    """Where it starts from; left out, the preset of the table's own name."""

    mss: ByteCount | None = None
    """MSS option: payload and TCP options of a full segment (RFC 9293 section 3.7.1)."""
    sack: bool | None = None
    """Selective acknowledgment (RFC 2018) with DSACK (RFC 2883)."""
    timestamps: bool | None = None
    """Timestamps option (RFC 7323)."""
    ecn: bool | None = None
    """Explicit congestion notification (RFC 3168)."""
    initial_window_segments: Count | None = None
    """Initial window (RFC 6928)."""
    receive_buffer: ByteCount | None = None
    """Receive buffer; bounds the advertised window."""
    delayed_ack_segments: Annotated[int, Field(ge=1, le=255)] | None = None
    """Full segments acknowledged by one ACK (RFC 1122 section 4.2.3.2); 1 acknowledges each."""
    delayed_ack_timeout: Span | None = None
    """Longest time an ACK is held back."""
    initial_rto: PositiveSpan | None = None
    """Retransmission timeout before the first RTT sample (RFC 6298 section 2.1); in every protocol."""
    min_rto: PositiveSpan | None = None
    """Smallest retransmission timeout (RFC 6298 section 2.4)."""
    max_rto: PositiveSpan | None = None
    """Largest retransmission timeout (RFC 6298 section 2.5); in every protocol."""
    handshake_timeout: PositiveSpan | None = None
    """Time without an answer after which a connection is given up before it is open; in every protocol."""
    undo: bool | None = None
    """Take a window reduction back when the loss proves spurious."""

    loss_detection: Literal["dupack", "rack", "fastrto", "tcp-pr", "rr-tcp", "tcp-ncr"] | None = None
    """How losses are found: duplicate ACKs and SACK (RFC 5681, 6582, 6675), RACK-TLP (RFC 8985), a timer for
    each segment (Chang 2024), or another that stands reordering: TCP-PR (Bohacek 2003), RR-TCP (Zhang 2003),
    TCP-NCR (RFC 4653)."""
    threshold: Annotated[int, Field(ge=1, le=1000)] | None = None
    """``dupack``: duplicate ACKs that make a segment lost."""
    tail_loss_probe: bool | None = None
    """``rack``: tail loss probes."""
    gamma: Annotated[float, Field(gt=1)] | None = None
    """``fastrto``: growth of RTTmin per round, and margin above it (Chang 2024, (4.1) and (4.2))."""
    k: Annotated[float, Field(gt=0)] | None = None
    """``fastrto``: mean deviations above the smoothed RTT (4.2)."""
    srtt_gain: Annotated[float, Field(gt=0, lt=1)] | None = None
    """``fastrto``: weight of a round trip's samples in the smoothed RTT (alpha of RFC 6298)."""
    rttvar_gain: Annotated[float, Field(gt=0, lt=1)] | None = None
    """``fastrto``: the same in its mean deviation (beta of RFC 6298)."""
    fastrto_max: PositiveSpan | None = None
    """``fastrto``: RTOmax, the largest time (4.3); ``max_rto`` bounds it once it backs off."""
    ewrtt_alpha: Annotated[float, Field(gt=0, lt=1)] | None = None
    """``tcp-pr``: factor by which the envelope of the RTT decays over a window of ACKs ("alpha")."""
    mxrtt_beta: Annotated[float, Field(gt=1)] | None = None
    """``tcp-pr``: a segment is lost when it has been out for so many times that envelope ("beta")."""
    fa_ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    """``rr-tcp``: share of the reordering events that must not look like a loss, at first ("FA ratio")."""
    fa_step: Annotated[float, Field(ge=0, le=1)] | None = None
    """``rr-tcp``: what a false fast retransmit adds to it."""
    timeout_cost: Annotated[float, Field(ge=0)] | None = None
    """``rr-tcp``: false fast retransmits that one retransmission timeout outweighs."""
    limited_transmit: Literal["careful", "aggressive"] | None = None
    """``tcp-ncr``: a new segment for every other one reported above a hole, or for each (RFC 4653)."""

    congestion_control: Literal["newreno", "cubic", "bbr", "mprc", "lia", "olia", "balia"] | None = None
    """How the window is set: RFC 5681, RFC 9438, BBR version 1, MPRC (Chang 2024); or coupled over the
    subflows of Multipath TCP: LIA (RFC 6356), OLIA (Khalili 2012), BALIA (Peng 2016), on one path NewReno."""
    hystart: bool | None = None
    """``newreno``, ``cubic``: slow start leaves early on rising delay (RFC 9406)."""
    beta: Annotated[float, Field(gt=0, lt=1)] | None = None
    """``cubic``: multiplicative decrease (RFC 9438 section 4.6)."""
    c: Annotated[float, Field(gt=0)] | None = None
    """``cubic``: aggressiveness in segments per second cubed (RFC 9438 section 5)."""
    fast_convergence: bool | None = None
    """``cubic``: give up bandwidth to newer flows (RFC 9438 section 4.7)."""

    pacing: Literal["controller", "window"] | None = None
    """How packets are spaced: at the controller's own rate if it has one, or at a gain times cwnd / srtt."""
    slow_start_gain: Annotated[float, Field(gt=0)] | None = None
    """``window``: gain below ssthresh; 2.0 where it is left out, as in Linux."""
    avoidance_gain: Annotated[float, Field(gt=0)] | None = None
    """``window``: gain above it; 1.2 where it is left out, as in Linux."""

    path_manager: Literal["default", "ndiffports", "fullmesh"] | None = None
    """``mptcp``: which subflows there are: one, several that differ in source ports, or one for each pair of
    interfaces."""
    subflows: Annotated[int, Field(ge=1, le=255)] | None = None
    """``ndiffports``: how many subflows."""
    scheduler: Literal["lowest-rtt", "round-robin", "redundant", "blest"] | None = None
    """``mptcp``: which subflow takes the next segment: the fastest with room, each in turn, every one, or the
    fastest unless a slow one would block the receive window (Ferlin 2016)."""
    opportunistic_retransmission: bool | None = None
    """``mptcp``: when the receive window is full, send what holds it up on another subflow too (Raiciu 2012,
    section 4.2)."""
    penalisation: bool | None = None
    """``mptcp``: then also halve the window of the slower subflow that holds it up."""

    segment: ByteCount | None = None
    """``sdn-paced``, ``sliding-window``: a full data packet with its 40 bytes of headers."""
    reliable: bool | None = None
    """``sdn-paced``: deliver in spite of loss, as the published protocol does not."""
    window_segments: Count | None = None
    """``sliding-window``: segments in flight."""


PARAMETERS: dict[str, dict[str, tuple[str, ...]]] = {
    "loss_detection": {
        "dupack": ("threshold",),
        "rack": ("tail_loss_probe",),
        "fastrto": ("gamma", "k", "srtt_gain", "rttvar_gain", "fastrto_max"),
        "tcp-pr": ("ewrtt_alpha", "mxrtt_beta"),
        "rr-tcp": ("fa_ratio", "fa_step", "timeout_cost"),
        "tcp-ncr": ("limited_transmit",),
    },
    "congestion_control": {
        "newreno": ("hystart",),
        "cubic": ("hystart", "beta", "c", "fast_convergence"),
        "bbr": (),
        "mprc": (),
        "lia": (),
        "olia": (),
        "balia": (),
    },
    "pacing": {"controller": (), "window": ("slow_start_gain", "avoidance_gain")},
    "path_manager": {"default": (), "ndiffports": ("subflows",), "fullmesh": ()},
}
"""For each choice, its names and the parameters of each (crates/transport/src/config.rs)."""

CHOICES: dict[str, tuple[str, ...]] = {
    "tcp": ("loss_detection", "congestion_control", "pacing"),
    "mptcp": ("path_manager",),
}
"""The choices of each protocol that has any."""

_TIMEOUTS = {"initial_rto": "initial_rto", "max_rto": "max_rto", "handshake_timeout": "handshake_timeout"}

FIELDS: dict[str, dict[str, str]] = {
    "tcp": {
        "mss": "mss",
        "sack": "sack",
        "timestamps": "timestamps",
        "ecn": "ecn",
        "initial_window_segments": "initial_window_segments",
        "receive_buffer": "receive_buffer_bytes",
        "delayed_ack_segments": "delayed_ack_segments",
        "delayed_ack_timeout": "delayed_ack_timeout",
        "min_rto": "min_rto",
        **_TIMEOUTS,
        "undo": "undo",
    },
    "mptcp": {
        "scheduler": "scheduler",
        "opportunistic_retransmission": "opportunistic_retransmission",
        "penalisation": "penalisation",
    },
    "sdn-paced": {"segment": "segment_bytes", "reliable": "reliable", **_TIMEOUTS},
    "sliding-window": {"segment": "segment_bytes", "window_segments": "window_segments", **_TIMEOUTS},
}
"""For each protocol, the core's name of each field that is neither a choice nor a parameter of one. Those of
Multipath TCP's subflows are TCP's."""


def fields_of(protocol: str) -> list[str]:
    """Every field that a transport of a protocol can have, the preset apart."""
    found = list(FIELDS[protocol])
    for choice in CHOICES.get(protocol, ()):
        found += [choice, *(parameter for names in PARAMETERS[choice].values() for parameter in names)]
    if protocol == "mptcp":
        found += fields_of("tcp")
    return list(dict.fromkeys(found))
