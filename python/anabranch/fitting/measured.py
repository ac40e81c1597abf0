"""The measurements that are given: captures of senders and receivers, logs of other tools, pings."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from anabranch.errors import CaptureError, Problem, reason
from anabranch.fitting.exchange import Exchange, Numbers, read_exchanges
from anabranch.fitting.features import Features
from anabranch.fitting.refusals import refusals
from anabranch.fitting.simulate import Transfer, traffic_of
from anabranch.runs.measurements.reading import MeasurementFile, UnreadableError
from anabranch.runs.measurements.seeming import is_capture

if TYPE_CHECKING:
    from anabranch.runs.capture import CaptureResult

_PING_TIME = re.compile(r"\btime[=<]\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*ms")
_LEAST_PINGS = 10
_MINOR = 0.02
"""A flow with less of the data than this beside the largest is no part of the measurement."""


@dataclass(frozen=True)
class Pings:
    """A log of ``ping`` beside the transfer."""

    rtt_ms: Numbers

    @property
    def queue_ms(self) -> float:
        """How far their 95th percentile lies above the least: the queue that a sparse flow meets."""
        return float(np.percentile(self.rtt_ms, 95) - np.percentile(self.rtt_ms, 1))


@dataclass(frozen=True)
class Logged:
    """The largest flow as a tool without packets saw it, with those between the same hosts."""

    name: str
    tool: str
    goodput_mbps: Numbers
    """Of each interval, of all these flows together."""
    rtt_ms: Numbers
    """Samples, or what the tool had of them; empty where it has none."""
    duration_s: float


@dataclass(frozen=True)
class GivenMeasurements:
    """Everything that was given."""

    transfers: tuple[Transfer, ...] = ()
    receivers: tuple[Exchange, ...] = ()
    """Of the first transfer's flows, as they were seen where the data arrive."""
    subflows: tuple[Features, ...] = ()
    """Of a connection of Multipath TCP, one by one."""
    logs: tuple[Logged, ...] = ()
    pings: Pings | None = None
    notes: tuple[str, ...] = field(default=())


def read_measured(
    files: Sequence[Path | str],
    *,
    transports: Sequence[str],
    receiver: Path | str | None,
    ping: Path | str | None,
    ports: Sequence[int] = (),
) -> GivenMeasurements:
    """Reads the files.

    Args:
        files: captures at senders, a transfer or several flows each, or logs of other tools.
        transports: of each file, or one for all.
        receiver: a capture of the first transfer at the receiver.
        ping: a log of ``ping`` during the first transfer.
        ports: only flows with one of these ports; empty for all.

    Raises:
        CaptureError: if a file cannot be read or says nothing of a path, with what to measure instead; all
            that is wrong together.
    """
    if not files:
        raise CaptureError([Problem("", "no measurement; give a capture, or a log of iperf3 or ss")])
    if len(transports) not in (1, len(files)):
        raise CaptureError(
            [Problem("--transport", f"{len(transports)} for {len(files)} files; give one, or one for each")]
        )
    problems: list[Problem] = []
    notes: list[str] = []
    transfers: list[Transfer] = []
    logs: list[Logged] = []
    subflows: tuple[Features, ...] = ()
    receivers: list[Exchange] = []
    named = list(transports) * len(files) if len(transports) == 1 else list(transports)
    for file, transport in zip(files, named, strict=False):
        try:
            if not _is_capture(file):
                logs.append(_logged(file))
                continue
            exchanges, said = read_exchanges(file, ports)
            notes += [f"{Path(file).name}: {sentence}" for sentence in said]
        except CaptureError as error:
            problems += error.problems
            continue
        if exchanges[0].is_at_receiver:
            if len(files) == 1:
                logs.append(_at_receiver(file, exchanges[0]))
                notes.append(_RECEIVER_ALONE)
            else:
                receivers += exchanges
            continue
        transfer, parts, wrong = _transfer(file, exchanges, transport, notes)
        problems += wrong
        if parts:
            subflows = parts
        transfers.append(transfer)
    if receiver is not None:
        receivers += _read_receiver(receiver, ports, problems)
    pings = None if ping is None else _read_pings(ping, problems)
    if problems:
        raise CaptureError(problems)
    return GivenMeasurements(tuple(transfers), tuple(receivers), subflows, tuple(logs), pings, tuple(notes))


_RECEIVER_ALONE = (
    "a capture at the receiver alone has neither the queue's round-trip times nor what was sent again: give "
    "that of the sender, and this one as --receiver"
)


def _is_capture(file: Path | str) -> bool:
    """Whether the reader of captures is to read it.

    Raises:
        CaptureError: if the file cannot be read.
    """
    try:
        return is_capture(MeasurementFile(file))
    except UnreadableError as error:
        raise CaptureError([Problem(os.fspath(file), str(error))]) from None


def _transfer(
    file: Path | str, exchanges: list[Exchange], transport: str, notes: list[str]
) -> tuple[Transfer, tuple[Features, ...], list[Problem]]:
    name = Path(file).name
    most = exchanges[0].total_bytes
    parts = [one for one in exchanges if one.total_bytes > _MINOR * most and not one.is_at_receiver]
    begin_s = min(one.began_unix_s for one in parts)
    duration_s = max(one.began_unix_s - begin_s + one.duration_s for one in parts)
    features = tuple(Features(one, duration_s) for one in parts)
    wrong = refusals(os.fspath(file), parts[0], features[0])
    if parts[0].offloaded:
        share = parts[0].offloaded / max(1, parts[0].sent_s.size)
        notes.append(
            f"{name}: {parts[0].offloaded} segments ({share:.0%} of the packets) are larger than the MSS, "
            "since the card cuts them; they are taken as cut"
        )
    is_multipath = parts[0].is_multipath and len(parts) > 1
    if parts[0].is_multipath and len(parts) == 1:
        notes.append(f"{name}: Multipath TCP with one subflow; it is taken as TCP")
    if len(parts) < len(exchanges):
        small = len(exchanges) - len(parts)
        notes.append(f"{name}: {small} small or incoming flows are left out")
    traffic = traffic_of(parts, transport)
    if is_multipath:
        traffic = ({**traffic[0], "transport": transport, "start": "0 s"},)
    transfer = Transfer(name, features, traffic, duration_s)
    return transfer, features if is_multipath else (), wrong


def _read_receiver(file: Path | str, ports: Sequence[int], problems: list[Problem]) -> list[Exchange]:
    try:
        exchanges, _ = read_exchanges(file, ports)
    except CaptureError as error:
        problems += error.problems
        return []
    if not any(one.is_at_receiver for one in exchanges):
        message = "was made at the sender: the answers do not come at once; give it among the measurements"
        problems.append(Problem(os.fspath(file), message))
    return [one for one in exchanges if one.is_at_receiver]


def _read_pings(file: Path | str, problems: list[Problem]) -> Pings | None:
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        problems.append(Problem(os.fspath(file), f"cannot be read: {reason(error)}"))
        return None
    samples = np.array([float(sample) for sample in _PING_TIME.findall(text)])
    if samples.size < _LEAST_PINGS:
        message = (
            f'has {samples.size} answers ("time=12.3 ms"), fewer than {_LEAST_PINGS}; run '
            "ping -i 0.1 during the transfer"
        )
        problems.append(Problem(os.fspath(file), message))
        return None
    return Pings(samples)


def _logged(file: Path | str) -> Logged:
    """A log of another tool, by the readers of measurements.

    Raises:
        CaptureError: if no reader knows it, or it has no throughput.
    """
    from anabranch.runs.capture import analyze  # noqa: PLC0415 - a fit to packets needs none of it

    result = analyze([file])
    flows = result.subflows.sort("throughput_mbps", descending=True, nulls_last=True)
    series = result.subflow_series.filter(pl.col("subflow") == flows["subflow"][0])
    goodput = series["throughput_mbps"].drop_nulls().to_numpy() + _beside_mbps(result, flows, series)
    if goodput.size < _LEAST_INTERVALS:
        message = (
            f"has throughput of {goodput.size} intervals, and {_LEAST_INTERVALS} are needed; log a transfer "
            "of some seconds, with iperf3 -i 0.1 --json or ss -ti again and again"
        )
        raise CaptureError([Problem(os.fspath(file), message)])
    measures = [name for name in ("rtt_ms", "srtt_ms") if name in series.columns]
    samples = [series[name].drop_nulls().to_numpy() for name in measures]
    rtts = next((values for values in samples if values.size), np.array([]))
    tools = ", ".join(map(str, result.summary.get("measured_by", ["a log"])))
    return Logged(Path(file).name, tools, goodput, rtts, float(series["time_s"].to_numpy().max()))


_LEAST_INTERVALS = 3


def _beside_mbps(result: CaptureResult, flows: pl.DataFrame, series: pl.DataFrame) -> Numbers | float:
    """The goodput of the other flows between the hosts of the first one, where they have its intervals."""
    hosts = pl.struct("client", "server", "data_from")
    others = flows.filter(hosts == flows.select(hosts).to_series()[0])["subflow"][1:]
    parts = [result.subflow_series.filter(pl.col("subflow") == other) for other in others]
    rows = series["throughput_mbps"].drop_nulls().len()
    values = [part["throughput_mbps"].drop_nulls().to_numpy() for part in parts]
    beside: Numbers | float = sum((each for each in values if each.size == rows), 0.0)
    return beside


def _at_receiver(file: Path | str, exchange: Exchange) -> Logged:
    """What a capture at the receiver says: the rate at which data came, and the handshake's round trip."""
    # Data that arrive are, there, what acknowledgments say at the sender.
    arrivals = replace(
        exchange, ack_s=exchange.sent_s, delivered_bytes=np.where(exchange.is_repeated, 0, exchange.bytes)
    )
    features = Features(arrivals, exchange.duration_s)
    handshake_s = exchange.completion_s if exchange.is_from_client else exchange.handshake_s
    rtts = np.array([handshake_s * 1e3]) if math.isfinite(handshake_s) and handshake_s > 0 else np.array([])
    return Logged(
        Path(file).name,
        "a capture at the receiver",
        features.series_mbps(0.25),
        rtts,
        exchange.duration_s,
    )
