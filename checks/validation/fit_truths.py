"""Hidden paths of every kind that ``anabranch fit`` knows, drawn at random, and the runs over them.

Of each path there are five scenarios ``NAME.RUN.toml``: ``measure``, one CUBIC flow of 15 s that is captured,
and the answers to predict: ``reno``, ``bbr``, ``two`` CUBIC flows and ``short``, six transfers of 100 kB.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomli_w

DURATION_S = 15
RUNS: dict[str, list[dict[str, Any]]] = {
    "measure": [{"name": "m", "transport": "linux-cubic"}],
    "reno": [{"name": "f", "transport": "linux-reno"}],
    "bbr": [{"name": "f", "transport": "linux-bbr"}],
    "two": [{"name": "f", "transport": "linux-cubic", "flows": 2}],
    "short": [
        {"name": "f", "transport": "linux-cubic", "size": "100 kB", "flows": 6, "inter_arrival": "2 s"}
    ],
}
_ACCESS = {"new": True, "capacity": "450 Mbps", "delay": "200 us", "queue": "2000 packets"}


class Drawn:
    """A path that is being drawn: its bottleneck, what happens there, and others' traffic."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.rate_mbps = round(draw.uniform(8, 38), 2)
        self.rtt_ms = round(draw.uniform(15, 80), 2)
        self.bdps = draw.uniform(0.5, 3)
        self.forward: dict[str, Any] = {}
        self.backward: dict[str, Any] = {}
        self.queue: Any = None
        self.traffic: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    @property
    def buffer_bytes(self) -> int:
        """Of the bottleneck."""
        return max(15_000, round(self.bdps * self.rate_mbps * 1e3 / 8 * self.rtt_ms))

    def udp(self, share: float, **times: str) -> None:
        """Others' constant traffic."""
        rate = {"kind": "udp", "rate": f"{round(share * self.rate_mbps * 1e6)} bps", "packet": "1500 B"}
        name = f"x{len(self.traffic)}"
        self.traffic.append({"name": name, "from": "xs", "to": "xd", "application": rate, **times})

    def scenario(self, run: str) -> dict[str, Any]:
        """The scenario of a run."""
        nodes: list[dict[str, Any]] = [{"name": name, "kind": "host"} for name in ("src", "dst", "xs", "xd")]
        nodes += [{"name": "a"}, {"name": "b"}]
        links: list[dict[str, Any]] = [
            {"between": list(ends), **_ACCESS}
            for ends in (("src", "a"), ("xs", "a"), ("b", "dst"), ("b", "xd"))
        ]
        links.append(
            {
                "between": ["a", "b"],
                "new": True,
                "capacity": f"{round(self.rate_mbps * 1e6)} bps",
                "delay": f"{round((self.rtt_ms - 0.8) / 2 * 1e6)} ns",
                "queue": self.queue or f"{self.buffer_bytes} B",
            }
        )
        for direction, extra in (("forward", self.forward), ("backward", self.backward)):
            if extra:
                links.append({"between": ["a", "b"], "direction": direction, **extra})
        return _whole({"network": {"node": nodes, "link": links}}, run, self.traffic, self.events)


def _whole(
    data: dict[str, Any], run: str, traffic: list[dict[str, Any]], events: list[dict[str, Any]]
) -> dict[str, Any]:
    data["traffic"] = [{**one, "from": "src", "to": "dst"} for one in RUNS[run]] + traffic
    if events:
        data["event"], data["routing"] = events, {"reaction": "never"}
    data["run"] = {"duration": f"{DURATION_S} s", "seed": 11}
    if run == "measure":
        data["traffic"].append(
            {
                "name": "ping",
                "from": "src",
                "to": "dst",
                "application": {"kind": "ping", "interval": "100 ms"},
            }
        )
        data["capture"] = [
            {"file": f"{host}.pcapng", "host": host, "snap_length": "128 B"} for host in ("src", "dst")
        ]
    return data


def _loss(path: Drawn) -> None:
    path.forward["loss"] = round(path.draw.uniform(5e-4, 3e-3), 6)


def _burst_loss(path: Drawn) -> None:
    to_good = path.draw.uniform(0.25, 0.5)
    share = path.draw.uniform(1e-3, 4e-3)
    path.forward["loss"] = {
        "algorithm": "gilbert-elliott", "to_bad": round(share * to_good, 8), "to_good": round(to_good, 6),
    }  # fmt: skip


def _codel(path: Drawn) -> None:
    path.queue = {"algorithm": "codel", "limit": "1000 packets"}


def _fq_codel(path: Drawn) -> None:
    path.queue = {"algorithm": "fq-codel", "limit": "1000 packets", "ecn": False}
    path.udp(path.draw.uniform(0.15, 0.4))


def _jitter(path: Drawn) -> None:
    mean_us = round(path.draw.uniform(500, 3000))
    path.forward["jitter"] = {"distribution": "exponential", "mean": f"{mean_us} us"}


def _udp(path: Drawn) -> None:
    path.udp(path.draw.uniform(0.2, 0.5))


def _on_off(path: Drawn) -> None:
    at_s = path.draw.uniform(1, 3)
    while at_s < DURATION_S - 1:
        until_s = at_s + path.draw.uniform(0.8, 3)
        path.udp(path.draw.uniform(0.3, 0.7), start=f"{at_s:.2f} s", stop=f"{min(until_s, DURATION_S):.2f} s")
        at_s = until_s + path.draw.uniform(0.8, 3)


def _elastic(path: Drawn) -> None:
    flows = path.draw.randint(1, 3)
    path.traffic.append({"name": "x", "from": "xs", "to": "xd", "transport": "linux-cubic", "flows": flows})


def _varying(path: Drawn) -> None:
    mbps = path.rate_mbps
    for step in range(1, DURATION_S):
        mbps = min(40.0, max(5.0, mbps * path.draw.uniform(0.7, 1.4)))
        path.events.append({"at": f"{step} s", "link": ["a", "b"], "capacity": f"{round(mbps * 1e6)} bps"})


def _uplink(path: Drawn) -> None:
    path.backward = {
        "capacity": f"{round(path.rate_mbps * path.draw.uniform(0.012, 0.018) * 1e6)} bps",
        "queue": f"{path.draw.randint(20, 60)} packets",
    }


def _policer(path: Drawn) -> None:
    rate_bps = round(path.rate_mbps * path.draw.uniform(0.3, 0.6) * 1e6)
    path.forward["policer"] = {"rate": f"{rate_bps} bps", "burst": f"{path.draw.randint(20, 120)} kB"}


def _token_bucket(path: Drawn) -> None:
    share = path.draw.uniform(0.3, 0.6)
    rate_bps = round(path.rate_mbps * share * 1e6)
    path.forward["shaper"] = {"rate": f"{rate_bps} bps", "burst": f"{path.draw.randint(20, 120)} kB"}
    path.queue = f"{max(15_000, round(path.buffer_bytes * share))} B"


def _drop_tail(_: Drawn) -> None:
    """Nothing beside the queue."""


KINDS: dict[str, Callable[[Drawn], None]] = {
    "drop-tail": _drop_tail, "loss": _loss, "burst-loss": _burst_loss, "codel": _codel,
    "fq-codel-udp": _fq_codel, "jitter": _jitter, "slow-uplink": _uplink, "udp-constant": _udp,
    "udp-on-off": _on_off, "tcp-across": _elastic, "rate-varying": _varying, "policer": _policer,
    "token-bucket": _token_bucket,
}  # fmt: skip


def _sprayed(draw: random.Random, run: str) -> dict[str, Any]:
    data: dict[str, Any] = {
        "network": {"node": [{"name": name, "kind": "host"} for name in ("src", "dst")], "link": []}
    }
    rate_mbps = draw.uniform(5, 15)
    for number in (1, 2):
        name = f"p{number}"
        delay_us = round(draw.uniform(5, 15) * 1000 * number)
        data["network"]["node"].append({"name": name})
        data["network"]["link"] += [
            {"between": ["src", name], **_ACCESS},
            {"between": [name, "dst"], "new": True, "capacity": f"{round(rate_mbps * 1e6)} bps",
             "delay": f"{delay_us} us", "queue": "60 packets"},
        ]  # fmt: skip
    data = _whole(data, run, [], [])
    data["routing"] = {"scheme": "disjoint", "load_balancing": "packet-round-robin"}
    return data


def write_truths(folder: Path, paths: int, seed: int) -> None:
    """Writes so many paths, each kind in turn; the kind is the name behind the number."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [*KINDS, "sprayed"]
    for number in range(paths):
        kind = kinds[number % len(kinds)]
        for run in RUNS:
            draw = random.Random(f"{seed} {number} {kind}")  # noqa: S311 - no secret
            if kind == "sprayed":
                data = _sprayed(draw, run)
            else:
                path = Drawn(draw)
                KINDS[kind](path)
                data = path.scenario(run)
            text = tomli_w.dumps({"title": f"h{number:02}-{kind} {run}", **data})
            (folder / f"h{number:02}-{kind}.{run}.toml").write_text(text, encoding="utf-8")
