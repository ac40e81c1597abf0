"""What both simulators run: each scenario once, as data, with its form for Anabranch and its form for ns-3.

Neither form adds anything of its own, so that a difference in the results is one of the simulators.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

TransportName = Literal["newreno", "newreno-per-ack", "newreno-repaired", "cubic", "bbr"]
Group = Literal["dumbbell", "lossy", "grid", "speed"]

TIMESTAMP_OPTION_BYTES = 12
"""The timestamps option of every segment, padded (RFC 7323 appendix A)."""
SEGMENT_BYTES = 1448
"""Payload of a full segment: an IPv4 packet of 1500 bytes, less both headers and the timestamps."""
BUFFER_BYTES = 6_291_456
"""Receive buffer (Linux's net.ipv4.tcp_rmem maximum), and in ns-3 the send buffer, too."""
UNBOUNDED_QUEUE_PACKETS = 100_000
"""A queue that no scenario here fills, for links that are not to lose packets."""


@dataclass(frozen=True, slots=True)
class Link:
    """A full-duplex link.

    Attributes:
        a: node at one end.
        b: node at the other end.
        capacity_bps: rate of each direction in bit/s.
        delay_us: propagation delay in microseconds.
        queue_packets: most packets that wait in front of each direction.
        loss_a_to_b: probability that a packet from `a` to `b` is lost; the other direction loses none.
    """

    a: str
    b: str
    capacity_bps: int
    delay_us: int
    queue_packets: int
    loss_a_to_b: float = 0.0


@dataclass(frozen=True, slots=True)
class Tcp:
    """Settings of the end hosts that both simulators are given.

    `newreno-per-ack` grows by one increment for each ACK, however much it acknowledges; Anabranch, which
    counts bytes (RFC 3465), has no such transport, so that it is for ns-3 alone. `newreno-repaired` is
    `newreno`, in ns-3 without three deviations from Linux and RFC 6937 (ns3/peer.cc).
    """

    transport: TransportName
    delayed_ack_segments: int = 2
    delayed_ack_timeout_ms: int = 200
    min_rto_ms: int = 1000
    initial_window_segments: int = 10


@dataclass(frozen=True, slots=True)
class Scenario:
    """One network with its flows, all of one transport, for one or more seeds.

    Attributes:
        name: unique, such as `dumbbell/cubic`.
        group: which question it answers; tolerances hang on it.
        links: the network.
        flows: sender and receiver of each flow.
        tcp: what the end hosts do.
        duration_s: simulated seconds.
        warmup_s: seconds at the start that goodput leaves out.
        seeds: one run for each.
        start_spread_ms: each flow starts at a random time in this many first milliseconds.
        spray: choose among equal-cost paths packet by packet, at random; else one shortest path.
    """

    name: str
    group: Group
    links: tuple[Link, ...]
    flows: tuple[tuple[str, str], ...]
    tcp: Tcp
    duration_s: int
    warmup_s: int
    seeds: tuple[int, ...]
    start_spread_ms: int = 0
    spray: bool = False

    @property
    def for_anabranch(self) -> bool:
        """Whether Anabranch has such a transport."""
        return self.tcp.transport != "newreno-per-ack"

    def fingerprint(self) -> str:
        """SHA-256 of everything that is part of a run, in hexadecimal: results of any other are stale."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def starts_us(self, seed: int) -> list[int]:
        """Start of each flow in microseconds: the same for both simulators and for all transports."""
        draws = random.Random(f"{self.group}/{len(self.flows)}/{seed}")  # noqa: S311 - no secret
        return [int(draws.random() * self.start_spread_ms * 1000) for _ in self.flows]

    def ns3_input(self, seed: int) -> str:
        """Network and flows as ns3/peer.cc reads them."""
        lines = [
            f"link {link.a} {link.b} {link.capacity_bps} {link.delay_us * 1000} {link.queue_packets} "
            f"{link.loss_a_to_b!r} 0"
            for link in self.links
        ]
        lines += [
            f"flow {origin} {to} {start_us * 1000}"
            for (origin, to), start_us in zip(self.flows, self.starts_us(seed), strict=True)
        ]
        return "\n".join(lines) + "\n"

    def ns3_options(self, seed: int) -> list[str]:
        """Options of ns3/peer.cc."""
        tcp = self.tcp
        return [
            f"--transport={tcp.transport}",
            f"--duration-s={self.duration_s}",
            f"--warmup-s={self.warmup_s}",
            f"--seed={seed}",
            f"--segment-bytes={SEGMENT_BYTES}",
            f"--initial-window={tcp.initial_window_segments}",
            f"--delayed-ack-segments={tcp.delayed_ack_segments}",
            f"--delayed-ack-timeout-ms={tcp.delayed_ack_timeout_ms}",
            f"--min-rto-ms={tcp.min_rto_ms}",
            f"--buffer-bytes={BUFFER_BYTES}",
            f"--spray={int(self.spray)}",
        ]

    def toml(self, seed: int, duration_s: int) -> str:
        """The scenario file for Anabranch; a shorter `duration_s` makes it the start of the same run."""
        nodes = dict.fromkeys(name for link in self.links for name in (link.a, link.b))
        parts = [f'title = "{self.name}, seed {seed}"', "[network]"]
        parts += [f'[[network.node]]\nname = "{name}"' for name in nodes]
        for link in self.links:
            between = f'between = ["{link.a}", "{link.b}"]'
            parts.append(
                f'[[network.link]]\n{between}\nnew = true\ncapacity = "{link.capacity_bps} bps"\n'
                f'delay = "{link.delay_us} us"\nqueue = "{link.queue_packets} packets"'
            )
            if link.loss_a_to_b > 0:
                parts.append(
                    f'[[network.link]]\n{between}\ndirection = "forward"\nloss = {link.loss_a_to_b!r}'
                )
        scheme, balancing = ("ecmp", "packet") if self.spray else ("shortest", "flow")
        parts.append(f'[routing]\nscheme = "{scheme}"\nmetric = "hops"\nload_balancing = "{balancing}"')
        for (origin, to), start_us in zip(self.flows, self.starts_us(seed), strict=True):
            parts.append(
                f'[[traffic]]\nfrom = "{origin}"\nto = "{to}"\ntransport = "peer"\nstart = "{start_us} us"'
            )
        parts.append(self._transport_toml())
        parts.append(
            f'[run]\nduration = "{duration_s} s"\nseed = {seed}\nflow_series = false\nlink_series = false'
        )
        return "\n\n".join(parts) + "\n"

    def _transport_toml(self) -> str:
        tcp = self.tcp
        return "\n".join(
            [
                "[transport.peer]",
                f'preset = "{tcp.transport.removesuffix("-repaired")}"',
                f'mss = "{SEGMENT_BYTES + TIMESTAMP_OPTION_BYTES} B"',
                "timestamps = true",
                f"initial_window_segments = {tcp.initial_window_segments}",
                f'receive_buffer = "{BUFFER_BYTES} B"',
                f"delayed_ack_segments = {tcp.delayed_ack_segments}",
                f'delayed_ack_timeout = "{tcp.delayed_ack_timeout_ms} ms"',
                f'min_rto = "{tcp.min_rto_ms} ms"',
            ]
        )


MBPS = 1_000_000


def _dumbbell(
    pairs: int, bottleneck_mbps: int, access_mbps: int, queue: int
) -> tuple[tuple[Link, ...], tuple[tuple[str, str], ...]]:
    """Links and flows: `pairs` hosts on each side, 1 ms from their router, routers 10 ms apart."""
    links = [Link("left", "right", bottleneck_mbps * MBPS, 10_000, queue)]
    for pair in range(1, pairs + 1):
        for a, b in ((f"sender{pair}", "left"), ("right", f"receiver{pair}")):
            links.append(Link(a, b, access_mbps * MBPS, 1_000, UNBOUNDED_QUEUE_PACKETS))
    return tuple(links), tuple((f"sender{pair}", f"receiver{pair}") for pair in range(1, pairs + 1))


def _dumbbells() -> list[Scenario]:
    links, flows = _dumbbell(10, 100, 1000, 250)
    base = Scenario("", "dumbbell", links, flows, Tcp("newreno"), 30, 5, (1, 2, 3, 4, 5), start_spread_ms=100)
    return [
        replace(base, name="dumbbell/newreno"),
        replace(base, name="dumbbell/cubic", tcp=Tcp("cubic")),
        # ns-3 walks its scoreboard for every packet. Under BBR, whose flows lose many packets at once here,
        # that makes 30 s cost a quarter of an hour; the first 12 s cost seconds.
        replace(base, name="dumbbell/bbr", tcp=Tcp("bbr"), duration_s=12, warmup_s=2),
        # With room for five bandwidth-delay products BBR loses next to nothing, so that ns-3's loss recovery,
        # which is not at stake, stays out of it.
        replace(
            base, name="dumbbell/bbr-deep-queue", tcp=Tcp("bbr"), links=_dumbbell(10, 100, 1000, 1000)[0]
        ),
    ]


def _lossy_paths() -> list[Scenario]:
    """One flow over a path that loses data packets at random, after the warm-up never for lack of room."""
    scenarios = []
    for loss in (1e-2, 1e-3, 1e-4):
        tcps = [("newreno", Tcp("newreno")), ("cubic", Tcp("cubic"))]
        if loss != 1e-4:
            tcps += [(f"{name}-ack-each", Tcp(name, delayed_ack_segments=1)) for name in ("newreno", "cubic")]
            tcps.append(("newreno-per-ack", Tcp("newreno-per-ack")))
            tcps += [
                ("newreno-repaired", Tcp("newreno-repaired")),
                ("newreno-repaired-ack-each", Tcp("newreno-repaired", delayed_ack_segments=1)),
            ]
        for name, tcp in tcps:
            path = (Link("sender", "receiver", 1000 * MBPS, 10_000, 1000, loss),)
            scenarios.append(_one_flow(f"lossy/{loss:.0e}/{name}", "lossy", path, tcp))
        # BBR fills the path whatever is lost; a tenth of the capacity asks the same in less of ns-3's time.
        path = (Link("sender", "receiver", 100 * MBPS, 10_000, 1000, loss),)
        bbr = _one_flow(f"lossy/{loss:.0e}/bbr", "lossy", path, Tcp("bbr"))
        scenarios.append(replace(bbr, duration_s=20))
    return scenarios


def _grids() -> list[Scenario]:
    """The 2x2 grid of MPRC's thesis (figures 2.3 and 2.4) between two hosts: two paths of equal cost."""
    access = [
        Link(a, b, 100 * MBPS, 100, UNBOUNDED_QUEUE_PACKETS)
        for a, b in (("sender", "nw"), ("se", "receiver"))
    ]
    sides = [
        Link(a, b, 10 * MBPS, 10_000, 100)
        for a, b in (("nw", "ne"), ("nw", "sw"), ("ne", "se"), ("sw", "se"))
    ]
    names: Sequence[TransportName] = ("newreno", "newreno-per-ack", "cubic", "bbr")
    scenarios = []
    for kind, spray in (("one-path", False), ("sprayed", True)):
        for name in names:
            flow = _one_flow(f"grid/{kind}/{name}", "grid", (*access, *sides), Tcp(name))
            scenarios.append(replace(flow, spray=spray, duration_s=30, warmup_s=0, seeds=(1, 2, 3)))
    return scenarios


def _one_flow(name: str, group: Group, links: tuple[Link, ...], tcp: Tcp) -> Scenario:
    """One flow from `sender` to `receiver`, started at once."""
    return Scenario(name, group, links, (("sender", "receiver"),), tcp, 60, 5, (1, 2, 3, 4, 5))


def _speeds() -> list[Scenario]:
    """Ten CUBIC flows, for CPU time alone: over 100 Mbps for 30 s, and over 1 Gbps for 20 s."""
    scenarios = []
    for name, bottleneck, access, queue, duration in (
        ("speed/100-mbps", 100, 1000, 250, 30),
        ("speed/1-gbps", 1000, 10_000, 1000, 20),
    ):
        links, flows = _dumbbell(10, bottleneck, access, queue)
        scenarios.append(
            Scenario(name, "speed", links, flows, Tcp("cubic"), duration, 0, (1,), start_spread_ms=100)
        )
    return scenarios


def all_scenarios() -> list[Scenario]:
    """Every scenario, the cheap ones for ns-3 first."""
    scenarios = [*_grids(), *_dumbbells(), *_lossy_paths(), *_speeds()]
    names = [scenario.name for scenario in scenarios]
    if len(set(names)) != len(names):
        raise AssertionError("two scenarios have one name")
    return scenarios
