"""Long-lived flows over one bottleneck: those of steady.py, plain ones and random ones."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch import Scenario

DURATION_S = 600
STEP_S = 0.05
BOTTLENECK = "router-left->router-right"
TRANSPORTS = ("newreno", "cubic", "linux-cubic", "dctcp", "bbr3")
"""Of the plain paths; the random ones have a few more."""
LARGE_BUFFER = "64 MiB"
"""A receive buffer that limits nobody."""
_PACKET_BITS = 12_000
_ACCESS_US = 50


@dataclass(frozen=True)
class Path:
    """Flows over one bottleneck.

    Attributes:
        transports: that of each flow.
        rtts_ms: the propagation delay of each flow there and back.
        starts_s: when each flow opens.
        mbps: capacity of the bottleneck.
        room: packets that can wait there.
        seed: of the run.
        queue: its discipline and what belongs to it, beside the room; drop-tail if there is none.
        loss: probability with which the bottleneck loses a packet.
        receive_buffer: of all flows, as the scenario has it.
    """

    transports: Sequence[str]
    rtts_ms: Sequence[float]
    starts_s: Sequence[float]
    mbps: float
    room: int
    seed: int
    queue: dict[str, Any] = field(default_factory=dict)
    loss: float = 0.0
    receive_buffer: str = LARGE_BUFFER

    @property
    def flows(self) -> int:
        """How many flows there are."""
        return len(self.transports)

    def scenario(self, *, series: bool, ping_s: float | None = None) -> Scenario:
        """The run, with a ping of one packet between other hosts at a time, if one is given."""
        run = {
            "duration": f"{DURATION_S} s",
            "seed": self.seed,
            "sample_interval": f"{STEP_S * 1000:.0f} ms",
            "flow_series": series,
            "link_series": series,
        }
        transport = {
            _here(name): {"preset": name, "receive_buffer": self.receive_buffer}
            for name in sorted(set(self.transports))
        }
        traffic = self._traffic() + ([] if ping_s is None else [self._ping(ping_s)])
        return Scenario.from_data(
            {"network": self._network(), "traffic": traffic, "transport": transport, "run": run}
        )

    def _network(self) -> dict[str, Any]:
        least = min(self.rtts_ms)
        access = [
            {"between": [f"left{number}", "router-left"], "delay": _delay((rtt - least) / 2, _ACCESS_US)}
            for number, rtt in enumerate(self.rtts_ms, start=1)
        ]
        room = f"{self.room} packets"
        bottleneck = {
            "between": ["router-left", "router-right"],
            "delay": _delay(least / 2, -2 * _ACCESS_US),
            "queue": {**self.queue, "limit": room} if self.queue else room,
            "loss": self.loss,
        }
        parameters = {
            "hosts": self.flows + 1,
            "bottleneck_capacity": f"{self.mbps * 1e6:.0f} bps",
            "access_capacity": f"{self.mbps * 1e7:.0f} bps",
            "access_delay": f"{_ACCESS_US} us",
        }
        links = {"queue": "100000 packets"}
        return {
            "topology": "dumbbell",
            "parameters": parameters,
            "links": links,
            "link": [*access, bottleneck],
        }

    def _traffic(self) -> list[dict[str, Any]]:
        flows = zip(self.transports, self.starts_s, strict=True)
        return [
            {
                "name": f"flow{number}",
                "from": f"left{number}",
                "to": f"right{number}",
                "transport": _here(transport),
                "start": f"{start * 1e6:.0f} us",
            }
            for number, (transport, start) in enumerate(flows, start=1)
        ]

    def _ping(self, at_s: float) -> dict[str, Any]:
        """One packet: the next one would leave after the stop."""
        return {
            "name": "ping",
            "from": f"left{self.flows + 1}",
            "to": f"right{self.flows + 1}",
            "application": {"kind": "ping", "interval": "1 s", "packet": "1500 B"},
            "start": f"{at_s * 1000:.0f} ms",
            "stop": f"{at_s * 1000 + 500:.0f} ms",
        }


def _here(transport: str) -> str:
    return f"{transport}-here"


def _delay(ms: float, plus_us: float) -> str:
    return f"{max(ms * 1000 + plus_us, 1):.3f} us"


def plain(transport: str, flows: int, seed: int) -> Path:
    """Like flows over 100 Mbps and 20 ms that start within a second.

    There is room for one bandwidth-delay product; for DCTCP marks are set above a sixth of it, by its rule
    of K > C RTT / 7 (Alizadeh et al. 2010, section 3.4).
    """
    draw = random.Random(f"{transport} {flows} {seed}")  # noqa: S311 - no secret
    queue = {"algorithm": "threshold", "mark_at": "28 packets"} if transport == "dctcp" else {}
    starts = [draw.uniform(0, 1) for _ in range(flows)]
    return Path([transport] * flows, [20.0] * flows, starts, 100.0, 167, seed, queue)


def drawn(seed: int) -> Path:
    """A random one, as ``steady.py`` describes it."""
    draw = random.Random(f"drawn {seed}")  # noqa: S311 - no secret
    flows = draw.choice((1, 1, 2, 3, 5, 10, 20))
    names = (*TRANSPORTS, "cubic", "linux-reno", "bbr")
    one = draw.choice(names)
    transports = [draw.choice(names) for _ in range(flows)] if draw.random() < 0.2 else [one] * flows
    mbps = math.exp(draw.uniform(math.log(5), math.log(50)))
    least = math.exp(draw.uniform(math.log(5), math.log(100)))
    spread = draw.choice((1.0, 2.0))
    rtts = [least * draw.uniform(1, spread) for _ in range(flows)]
    product = mbps * statistics.fmean(rtts) * 1000 / _PACKET_BITS
    room = max(round(product * draw.uniform(0.25, 2)), 10)
    queue = draw.choice(({}, {}, {}, {"algorithm": "codel"}, {"algorithm": "fq-codel"}))
    if "dctcp" in transports:
        queue = {"algorithm": "threshold", "mark_at": f"{max(room // 3, 2)} packets"}
    loss = draw.choice((0.0,) * 6 + (1e-4,))
    # A share of half of what fills the path: nothing waits for long, and no queue overflows.
    small = f"{max(round(mbps * least * 125 / flows / 2), 10_000)} B"
    buffer = small if draw.random() < 0.15 else LARGE_BUFFER
    starts = [draw.uniform(0, 5) for _ in range(flows)]
    return Path(transports, rtts, starts, mbps, room, seed, queue, loss, buffer)
