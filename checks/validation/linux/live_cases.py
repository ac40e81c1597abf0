"""The cases of live_numbers.py: what is run, what is read from it, and the bounds that it is held against."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import points as measured
import polars as pl
from points import points

from anabranch import Result
from anabranch.live import HostProgram

PAYLOAD = 1448 / 1500
"""Of a whole packet: IP, TCP and time stamps take 52 bytes."""
SPRAY_BOUNDS = {"(10, 10)": 0.05, "(10, 30)": 0.05, "(10, 100)": 0.30}
ECHO = Path(__file__).parent / "echo.py"
STUDY = Path(__file__).parents[3] / "examples" / "studies" / "live.toml"
Bounds = tuple[float | None, float | None]
Values = Callable[[Result, Path], dict[str, float]]
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One measurement.

    Attributes:
        name: of the case on the command line.
        what: the same in words.
        document: its scenario; the number of a run is its seed.
        values: from a result and its folder, what is measured: the unit and what it is, and the number.
        bounds: the least and the most that each value may be; a value without is only told.
        reference: what the bounds come from.
        runs: how often it is run.
        program: in a host, beside the flows; its case has no simulation.
        kernel_receivers: whether the kernel receives what is simulated.
    """

    name: str
    what: str
    document: Document
    values: Values
    bounds: dict[str, Bounds] = field(default_factory=dict)
    reference: str = ""
    runs: int = 2
    program: HostProgram | None = None
    kernel_receivers: bool = False


def parallel(
    paths: list[tuple[float, float]], transport: str, seconds: int, flow: Document | None = None
) -> Document:
    """Two hosts, one flow, paths of so many Mbps and ms one way, queues of a bandwidth-delay product."""
    made = [{"capacity": f"{mbps} Mbps", "delay": f"{delay} ms"} for mbps, delay in paths]
    return {
        "run": {"duration": f"{seconds} s", "sample_interval": "10 ms", "flow_series": True},
        "network": {
            "topology": "parallel",
            "parameters": {"paths": made},
            "links": {"queue": {"bdp": 1, "rtt": f"{2 * paths[0][1]} ms"}},
        },
        "traffic": [{"from": "source", "to": "sink", "transport": transport, **(flow or {})}],
    }


def subflows(count: int) -> Document:
    """So many of Multipath TCP, from other ports."""
    return {"path_manager": {"algorithm": "ndiffports", "subflows": count}}


def goodput_from(result: Result, from_s: float) -> float:
    """Mean goodput of the first flow after an instant, in Mbps."""
    series = result.flow_series.filter((pl.col("flow") == 0) & (pl.col("time_s") > from_s))
    return float(series["goodput_mbps"].mean() or 0.0)  # type: ignore[arg-type]


def steady(result: Result, _: Path) -> dict[str, float]:
    """From 3 s on."""
    return {"Mbps from 3 s on": goodput_from(result, 3)}


def whole(result: Result, _: Path) -> dict[str, float]:
    """From the begin to the end."""
    return {"Mbps": float(result.flows["goodput_mbps"][0])}


def after_the_start(result: Result, folder: Path) -> dict[str, float]:
    """The whole run, and the same without the start of MPRC."""
    return whole(result, folder) | {"Mbps from 6 s on": goodput_from(result, 6)}


def filled(result: Result, _: Path) -> dict[str, float]:
    """What four paths of 50 Mbps carry from 6 s on, of data and of IP packets."""
    series = result.link_series.filter(pl.col("time_s") > 6)
    forward = result.links.filter(pl.col("from") == "source")["link"].to_list()
    packets = series.filter(pl.col("link").is_in(forward)).group_by("time_s").agg(pl.sum("throughput_mbps"))
    return {
        "Mbps of data from 6 s on": goodput_from(result, 6),
        "Mbps of packets from 6 s on": float(packets["throughput_mbps"].mean() or 0.0),  # type: ignore[arg-type]
    }


def round_trip(result: Result, folder: Path) -> dict[str, float]:
    """Median of what echo.py has said."""
    if "live" not in result.summary:
        return {}
    said = (folder / result.summary["live"]["programs"][0]["output"]).read_text(encoding="utf-8")
    times = sorted(float(time) for time in re.findall(r"time=([0-9.]+) ms", said))
    return {"ms, median": (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2}


FAILS_S = 4.0
"""When a path of the case fails."""


def gap(result: Result, _: Path) -> dict[str, float]:
    """The end of the longest wait for data after the failure, and what the other path carries later."""
    series = result.flow_series.filter((pl.col("flow") == 0) & (pl.col("time_s") > FAILS_S + 0.005))
    times, rates = series["time_s"].to_list(), series["goodput_mbps"].to_list()
    begin = end = last = FAILS_S
    for time, rate in zip(times, rates, strict=True):
        if rate > 0:
            last = time
        elif time - last > end - begin:
            begin, end = last, time
    return {
        "s until data go on": end - FAILS_S,
        "Mbps from 2 s after it on": goodput_from(result, FAILS_S + 2),
    }


def read(result: Result, folder: Path) -> dict[str, float]:
    """What a program reads, and by how many packets its host acknowledged it."""
    back = result.links.filter(pl.col("from") == "sink")
    return whole(result, folder) | {"packets back": float(back["packets"].sum())}


def _pings() -> Iterator[Case]:
    for rtt in (10, 40, 100):
        yield Case(
            name=f"ping-{rtt}ms",
            what=f"idle path, 30 echoes (ICMP), RTT {rtt} ms",
            document=parallel([(100, rtt / 2)], "linux-cubic", 8, {"size": "1 kB"}),
            values=round_trip,
            bounds={"ms, median": (rtt - 0.4, rtt + 0.4)},
            reference=f"{rtt} ms, within 0.4 ms",
            program=HostProgram("source", f"sleep 0.5; exec {sys.executable} {ECHO} sink 30"),
        )


def _rates() -> Iterator[Case]:
    for mbps in (10, 100, 500, 1000, 2000, 3000):
        most = mbps * PAYLOAD
        yield Case(
            name=f"cubic-{mbps}M",
            what=f"one flow of CUBIC, {mbps} Mbps, RTT 10 ms",
            document=parallel([(mbps, 5)], "linux-cubic", 10 if mbps <= 500 else 6),
            values=steady,
            bounds={"Mbps from 3 s on": (0.995 * most, 1.005 * most)},
            reference=f"1448/1500: {most:.4g}, within 0.5 %",
        )


def _sprayed() -> Iterator[Case]:
    for point in points():
        if point.group != "spray":
            continue
        bound = SPRAY_BOUNDS[point.name.partition("-")[2]]
        scatters = "100" in point.name
        yield Case(
            name=f"spray-{point.name}",
            what=f"{point.control}, packets and ACKs in turn over paths of 10 Mbps, "
            f"{point.name.partition('-')[2]} ms one way, 20 s",
            document=measured.spray(point, 1),
            values=whole,
            bounds={"Mbps": (point.kernel * (1 - bound), point.kernel * (1 + bound))},
            reference=f"kernel: {point.kernel:.4g}, within {100 * bound:.0f} %",
            runs=5 if scatters else 2,
        )


def _many_paths() -> Iterator[Case]:
    for buffer in ("32 MB", "6 MB"):
        transport = {"sixteen": {"preset": "linux-mptcp", "receive_buffer": buffer, **subflows(16)}}
        document = parallel([(50, 10)] * 4, "sixteen", 14)
        document["transport"] = transport
        document["run"]["link_series"] = True
        document["routing"] = {"scheme": "disjoint", "load_balancing": "subflow-round-robin"}
        yield Case(
            name=f"mptcp-16-{buffer.replace(' ', '')}",
            what=f'Multipath TCP, 16 subflows over four paths of 50 Mbps, `receive_buffer = "{buffer}"`',
            document=document,
            values=filled,
            bounds={"Mbps of packets from 6 s on": (190.0, None)} if buffer == "32 MB" else {},
            reference="190 or more, 95 % of 200" if buffer == "32 MB" else "",
        )
    failing = parallel([(20, 10)] * 2, "two", 10)
    failing["transport"] = {"two": {"preset": "linux-mptcp", **subflows(2)}}
    failing["routing"] = {
        "scheme": "disjoint",
        "load_balancing": "subflow-round-robin",
        "reaction": "never",
    }
    failing["event"] = [{"at": f"{FAILS_S} s", "link": ["source", "path1"], "state": "down"}]
    yield Case(
        name="mptcp-failure",
        what="Multipath TCP, one of two paths of 20 Mbps fails",
        document=failing,
        values=gap,
        bounds={"s until data go on": (0.0, 1.0)},
        reference="1 s at most",
        runs=5,
    )


def _own_senders() -> Iterator[Case]:
    (point,) = [point for point in points() if point.name == "reno-(10, 100)"]
    for seconds, runs, timestamps in ((20, 3, True), (60, 2, True), (120, 1, True), (60, 2, False)):
        made = measured.spray(point, 1)
        made["run"] |= {"duration": f"{seconds} s", "sample_interval": "100 ms", "flow_series": True}
        made["traffic"][0]["transport"] = "own"
        made["transport"] = {"own": {"preset": "mprc", "timestamps": timestamps}}
        more = "" if timestamps else " with `timestamps = false`"
        yield Case(
            name=f"mprc-{seconds}s{'' if timestamps else '-untimed'}",
            what=f"simulated `mprc`{more} to a kernel's receiver, in turn over 10 and 100 ms, {seconds} s",
            document=made,
            values=after_the_start,
            bounds={"Mbps": (17.0, None), "Mbps from 6 s on": (17.0, None)},
            reference="17 or more",
            runs=runs,
            kernel_receivers=True,
        )


def _readers() -> Iterator[Case]:
    blocks = {
        "16kB": ("blocks of 16,384 B", {"block": "16384 B"}),
        "256kB": ("blocks of 256 kB", {"block": "256 kB"}),
        "64kB": (
            "blocks of 64 kB, and nothing from 5 to 12 s",
            {"block": "64 kB", "pause": "5 s", "resume": "12 s"},
        ),
    }
    for name, (words, reads) in blocks.items():
        document = parallel([(20, 10)], "small", 20, {"reads": {"rate": "5 Mbps", **reads}})
        document["transport"] = {"small": {"preset": "linux-cubic", "receive_buffer": "256 kB"}}
        yield Case(
            name=f"reads-{name}",
            what=f"a program that reads 5 Mbps in {words}, 20 Mbps, RTT 20 ms, buffer 256 kB",
            document=document,
            values=read,
        )
    document = parallel([(20, 10), (20, 40)], "small", 20, {"reads": {"rate": "5 Mbps", "block": "64 kB"}})
    document["transport"] = {"small": {"preset": "linux-mptcp", "receive_buffer": "256 kB", **subflows(2)}}
    document["routing"] = {"scheme": "disjoint", "load_balancing": "subflow-round-robin"}
    yield Case(
        name="reads-mptcp",
        what="a program that reads 5 Mbps in blocks of 64 kB from Multipath TCP with two subflows, "
        "20 Mbps each, 10 and 40 ms one way, buffer 256 kB",
        document=document,
        values=whole,
    )


def _short_queues() -> Iterator[Case]:
    document = tomllib.loads(STUDY.read_text(encoding="utf-8"))["scenario"]
    document["network"]["links"] = {"queue": "10 packets"}
    yield Case(
        name="cubic-q10",
        what="one flow of CUBIC, 20 Mbps, RTT 40 ms, a queue of 10 packets (`examples/studies/live.toml`)",
        document=document,
        values=whole,
        runs=3,
    )


def cases() -> list[Case]:
    """All of them, in the order of the page."""
    made = (_pings, _rates, _sprayed, _many_paths, _own_senders, _short_queues, _readers)
    return [case for makes in made for case in makes()]
