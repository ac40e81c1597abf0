"""The measured points as scenarios: each row of measured.csv, with the losses of lossy_runs.csv replayed.

The link model is that of the measurement (README.md): rate on IP bytes, a drop-tail queue in packets on the
way forward, losses after serialisation, half of the RTT as delay each way, and a clean way back with a long
queue.
"""

from __future__ import annotations

import ast
import csv
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GOODPUT_S = 19.95
"""Time over which the goodput of one flow was measured, from its SYN on."""
SPRAY_S = 20.0
COMPETE_S = 40.0
SHARE_FROM_S = 5.0
MESSAGES_S = 60.0
SLOW_START_S = 2.0
PAYLOAD_BYTES = 1448
MESSAGE_BYTES = 30_000
MESSAGE_GAP_S = 0.15
TRANSFER_BYTES = 16 * 2**20
LONG_QUEUE = "10000 packets"
PRESETS = {"reno": "linux-reno", "cubic": "linux-cubic", "bbr": "linux-bbr"}
SPRAY_SEEDS = (1, 2, 3, 4, 5)
SCATTERING_SEEDS = tuple(range(1, 81))
"""Where delays are 10 and 100 ms: runs of BBR differ by a third there, in the kernel, too. Their mean is
known within 4 %."""
LATE_MS = 0.2
LATE = {"distribution": "uniform", "low": "0 ms", "high": f"{LATE_MS} ms"}
RTT_PAIRS = 96
MASK = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Point:
    """A row of measured.csv.

    Attributes:
        group: ``single``, ``slow-start``, ``spray``, ``compete``, ``mptcp`` or ``messages``.
        name: unique within the group, such as `reno-50M-40ms-q1-p0.01`.
        control: `reno`, `cubic` or `bbr`; empty where two controls compete.
        rate_mbps: rate of the bottleneck; of single flows.
        rtt_ms: round trip without queues; of single flows.
        queue_packets: packets that may wait; of single flows.
        loss: share of data packets lost; of single flows.
        matched: the losses of every run are known (`lossy_runs.csv`).
        kernel: what the kernel did: goodput in Mbps, share, completion in s, latency in ms, or ssthresh at
            the end of slow start in segments.
        retransmitted_percent: of the kernel's data segments; None where not measured.
        srtt_ms: mean of the kernel's smoothed RTT; None where not measured.
    """

    group: str
    name: str
    control: str
    rate_mbps: float
    rtt_ms: float
    queue_packets: int
    loss: float
    matched: bool
    kernel: float
    retransmitted_percent: float | None
    srtt_ms: float | None


def number(text: str) -> float | None:
    """A cell; None for an empty one."""
    return float(text) if text else None


def points(name: str = "measured.csv") -> list[Point]:
    """Every row of measured.csv, told.csv or slow_start.csv."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return [
            Point(
                group=row["set"],
                name=row["id"],
                control=row["cc"],
                rate_mbps=number(row["rate_mbps"]) or 0.0,
                rtt_ms=number(row["rtt_ms"]) or 0.0,
                queue_packets=int(row["queue_pkt"] or 0),
                loss=number(row["loss"]) or 0.0,
                matched=row["matched_losses"] == "1",
                kernel=float(row["kernel"]),
                retransmitted_percent=number(row["kernel_retr_pct"]),
                srtt_ms=number(row["kernel_srtt_ms"]),
            )
            for row in csv.DictReader(file)
        ]


@dataclass(frozen=True, slots=True)
class LossyRun:
    """A row of lossy_runs.csv: one run of the kernel.

    Attributes:
        name: the point that it belongs to.
        seed: of the rule that lost its packets.
        goodput_mbps: what the kernel reached.
        retransmissions: data segments that the kernel sent again.
        segments: data segments that the kernel sent.
    """

    name: str
    seed: int
    goodput_mbps: float
    retransmissions: int
    segments: int


def lossy_runs() -> dict[str, list[LossyRun]]:
    """The kernel's runs by point."""
    runs: dict[str, list[LossyRun]] = defaultdict(list)
    with (HERE / "lossy_runs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            run = LossyRun(
                name=row["id"],
                seed=int(row["loss_seed"]),
                goodput_mbps=float(row["goodput_mbps"]),
                retransmissions=int(row["retransmissions"]),
                segments=int(row["segments"]),
            )
            runs[run.name].append(run)
    return dict(runs)


def lost_packets(seed: int, loss: float, count: int) -> Iterator[int]:
    """The data packets that the measurement lost among the first `count`, by the rule of README.md."""
    for n in range(1, count + 1):
        z = (seed * 0x9E3779B97F4A7C15 + n * 0xD1B54A32D192ED03) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        if (z >> 11) / 2**53 < loss:
            yield n


def single(point: Point, losses: Any) -> dict[str, Any]:
    """One flow over one link; `losses` as the scenario has them."""
    return {
        "run": {"duration": f"{GOODPUT_S} s", "sample_interval": "10 ms"},
        "network": {
            "topology": "line",
            "parameters": {"capacity": f"{point.rate_mbps} Mbps", "delay": f"{point.rtt_ms / 2} ms"},
            "links": {"queue": LONG_QUEUE},
            "link": [
                {
                    "between": ["source", "sink"],
                    "direction": "forward",
                    "queue": f"{point.queue_packets} packets",
                    **({"loss": losses} if losses else {}),
                }
            ],
        },
        "traffic": [{"from": "source", "to": "sink", "transport": PRESETS[point.control]}],
    }


def spray(point: Point, seed: int) -> dict[str, Any]:
    """Packets and ACKs in turn over two paths of 10 Mbps; the delays one way are in the name.

    The emulator handed each packet on up to 0.2 ms late (README.md): each draws how late it is. Without
    these, flows lock into patterns that no kernel keeps.
    """
    _, _, delays = point.name.partition("-")
    paths = [{"capacity": "10 Mbps", "delay": f"{delay} ms"} for delay in ast.literal_eval(delays)]
    return {
        "run": {"duration": f"{SPRAY_S} s", "seed": seed},
        "network": {
            "topology": "parallel",
            "parameters": {"paths": paths, "routers_per_path": 0},
            "links": {"queue": "50 packets", "jitter": LATE},
        },
        "routing": {
            "scheme": {"algorithm": "disjoint", "k": len(paths)},
            "load_balancing": "packet-round-robin",
        },
        "traffic": [{"from": "source", "to": "sink", "transport": PRESETS[point.control]}],
    }


def compete(name: str, rtts_ms: Sequence[float] | None = None) -> dict[str, Any]:
    """Two flows over one bottleneck, the second one second later; RTTs of one's own, or those in the name."""
    first, second, rate, rtts, queue = name.split("-")
    mbps = float(rate.rstrip("M"))
    named = [float(rtt) for rtt in rtts.removesuffix("ms").split("/")]
    pair = list(rtts_ms) if rtts_ms else (named * 2)[:2]
    bdp_packets = mbps * 1e6 * 0.040 / 8 / 1500
    return {
        "run": {"duration": f"{COMPETE_S} s", "sample_interval": "1 s"},
        "network": {
            "topology": "dumbbell",
            "parameters": {
                "hosts": 2,
                "bottleneck_capacity": f"{mbps} Mbps",
                "bottleneck_delay": "0 ms",
                "access_capacity": "10 Gbps",
            },
            "links": {"queue": LONG_QUEUE},
            "link": [
                {
                    "between": ["router-left", "router-right"],
                    "direction": "forward",
                    "queue": f"{math.ceil(bdp_packets * float(queue.lstrip('q')))} packets",
                },
                *(
                    {"between": between, "delay": delay}
                    for flow, rtt in enumerate(pair, 1)
                    for between, delay in (
                        ([f"left{flow}", "router-left"], "0 ms"),
                        (["router-right", f"right{flow}"], f"{rtt / 2:.6f} ms"),
                    )
                ),
            ],
        },
        "traffic": [
            {"from": "left1", "to": "right1", "transport": PRESETS[first]},
            {"from": "left2", "to": "right2", "transport": PRESETS[second], "start": "1 s"},
        ],
    }


def slow_start(point: Point) -> dict[str, Any]:
    """The begin of one flow, with samples that are closer than its ACKs at the end of slow start."""
    document = single(point, None)
    document["run"] = {"duration": f"{SLOW_START_S} s", "sample_interval": "1 ms"}
    return document


def messages(point: Point) -> dict[str, Any]:
    """A message each 150 ms over one link with random losses; the first is written 150 ms after the start."""
    document = single(point, point.loss)
    document["run"] = {"duration": f"{MESSAGES_S} s", "sample_interval": "1 ms"}
    application = {"kind": "messages", "message": f"{MESSAGE_BYTES} B", "gap": f"{MESSAGE_GAP_S} s"}
    document["traffic"][0]["application"] = application
    return document


def drawn_rtts(name: str) -> list[tuple[float, float]]:
    """RTT pairs within 5 % of those in the name: shares from one pair are phase effects of drop-tail."""
    _, _, _, rtts, _ = name.split("-")
    named = [float(rtt) for rtt in rtts.removesuffix("ms").split("/")]
    first, second = (named * 2)[:2]
    draws = random.Random(name)  # noqa: S311 - no secret
    return [(first * draws.uniform(0.95, 1.05), second * draws.uniform(0.95, 1.05)) for _ in range(RTT_PAIRS)]


def mptcp(point: Point, *, late: bool = False) -> dict[str, Any]:
    """16 MiB over two paths; capacities in Mbps and delays one way in ms are in the name.

    One connection with a subflow from each interface of the source, the first over the first path. Packets
    are `late` as in the emulator, if so wished: how long a transfer stands still depends on chance.
    """
    _, _, numbers = point.name.partition("-")
    first, second, first_ms, second_ms = ast.literal_eval(numbers)
    paths = {"jitter": LATE} if late else {}
    return {
        "run": {"duration": "120 s"},
        "network": {
            "node": [{"name": "source", "kind": "host"}, {"name": "sink", "kind": "host"}]
            + [{"name": name, "kind": "switch"} for name in "abc"],
            "link": [
                _link(("source", "a"), f"{first} Mbps", f"{first_ms} ms", "50 packets") | paths,
                _link(("source", "b"), f"{second} Mbps", f"{second_ms} ms", "50 packets") | paths,
                *(
                    _link(ends, "10 Gbps", "0 ms", "10000 packets")
                    for ends in (("a", "c"), ("b", "c"), ("c", "sink"))
                ),
            ],
        },
        "routing": {"scheme": {"algorithm": "k-shortest", "k": 2}, "metric": "hops", "reaction": "never"},
        "traffic": [
            {"from": "source", "to": "sink", "transport": "linux-mptcp", "size": f"{TRANSFER_BYTES} B"}
        ],
    }


def _link(ends: tuple[str, str], capacity: str, delay: str, queue: str) -> dict[str, Any]:
    return {"between": list(ends), "new": True, "capacity": capacity, "delay": delay, "queue": queue}
