"""Data files of flent (``.flent``, ``.flent.gz``): JSON with series as measured, and over one grid of times.

A series that was measured has samples in ``raw_values`` (from version 3 of the files on in the unit that
``SERIES_META`` states); before that, values on the grid are read. Series without samples are sums and
means that flent computes, and are no flows. What ``ss`` saw of a stream stands among its samples.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from anabranch.runs.measurements.model import (
    Doubts,
    MeasuredFlow,
    Measurement,
    MeasurementError,
    MeasurementFormat,
    Side,
    list_of,
    table_of,
    text_of,
)
from anabranch.runs.measurements.reading import MeasurementFile

_UNITS = {
    "Mbits/s": ("throughput_mbps", 1.0), "Kbits/s": ("throughput_mbps", 1e-3), "Gbits/s": ("throughput_mbps",
    1e3),
    "bits/s": ("throughput_mbps", 1e-6), "ms": ("rtt_ms", 1.0), "s": ("rtt_ms", 1e3), "us": ("rtt_ms", 1e-3),
}  # fmt: skip
"""The measure of a series by its unit, and the factor to ours."""
_OF_STREAM = {
    "tcp_rtt": "srtt_ms", "tcp_cwnd": "cwnd_packets", "tcp_delivery_rate": "delivery_rate_mbps",
    "tcp_pacing_rate": "pacing_rate_mbps",
}  # fmt: skip
"""What flent takes of ``ss``: milliseconds, segments and Mbit/s."""
_PING = re.compile("ping|rtt", re.IGNORECASE)
"""Other times, such as those of a request of HTTP, are no round-trip times."""
_RAW_UNITS = 3
"""Version of the files from which on samples have the stated unit."""
_COMPUTED = (" avg", " sum", " totals", "Totals")


def _recognises(source: MeasurementFile) -> bool:
    return {"metadata", "results", "x_values"} <= table_of(source.document).keys()


def _read(source: MeasurementFile, _interval_s: float) -> Measurement:
    data = table_of(source.document)
    if source.damage:
        raise MeasurementError(source.damage)
    metadata, results, raw = (table_of(data.get(key)) for key in ("metadata", "results", "raw_values"))
    measurement = Measurement("flent", notes=[_NOTE])
    test = text_of(metadata.get("NAME"), 60)
    measurement.tool = f"flent, test {test}" if test else "flent"
    measurement.began_unix_s = _unix_s(metadata.get("T0") or metadata.get("TIME"))
    times_s = [
        measurement.doubts.number(value, f"in x_values[{place}]")
        for place, value in enumerate(list_of(data.get("x_values")))
    ]
    if not times_s or not results:
        raise MeasurementError("has no series: x_values and results are empty")
    step_s = measurement.doubts.number(metadata.get("STEP_SIZE"), "in metadata.STEP_SIZE")
    measurement.interval_s = step_s
    began_s, unread = measurement.began_unix_s or 0.0, dict[str, str]()
    version = measurement.doubts.number(data.get("version"), "in version") or 1
    for name, values in results.items():
        samples = list_of(raw.get(name))
        if "::tcp_" in name or (not samples if any(raw.values()) else name.endswith(_COMPUTED)):
            continue
        stated = table_of(table_of(metadata.get("SERIES_META")).get(name)).get("UNITS")
        unit = _UNITS.get(stated) if isinstance(stated, str) else None
        if unit is None or (unit[0] == "rtt_ms" and not _PING.search(name)):
            unread[name] = str(stated)[:20] if stated else "a unit that is not stated"
        elif version >= _RAW_UNITS and began_s and any("val" in table_of(each) for each in samples):
            _of_samples(measurement, name, unit, samples, began_s)
        elif list_of(values):
            _of_grid(measurement, name, unit, results, times_s, step_s)
    if unread:
        listed = ", ".join(f"{name[:60]} ({unit})" for name, unit in list(unread.items())[:5])
        more = f" and {len(unread) - 5} more" if len(unread) > 5 else ""
        measurement.warnings.append(
            f"not read, because they are neither rates nor round-trip times: {listed}{more}"
        )
    if not measurement.flows:
        raise MeasurementError("has no series of a rate or a round-trip time")
    return measurement


def _new_flow(measurement: Measurement, name: str, measure: str) -> MeasuredFlow:
    lower = name.lower()
    kind = "ping" if measure == "rtt_ms" else "udp" if "udp" in lower else "tcp"
    data_from: Side | None = "client" if "upload" in lower else "server" if "download" in lower else None
    return measurement.new_flow(MeasuredFlow(kind, data_from=data_from, name=name[:80]))


def _of_samples(
    measurement: Measurement, name: str, unit: tuple[str, float], samples: list[Any], t0_s: float
) -> None:
    """A flow of the samples of a series: rates over the time of each, pings one by one."""
    measure, factor = unit
    number = measurement.doubts.number
    flow = _new_flow(measurement, name, measure)
    state: dict[str, float | None] = {}
    before_s: float | None = None
    for place, sample in enumerate(map(table_of, samples)):
        at = f'in raw_values["{name[:60]}"][{place}]'
        unix_s, value = number(sample.get("t"), at), number(sample.get("val"), at)
        state |= {ours: number(sample[theirs], at) for theirs, ours in _OF_STREAM.items() if theirs in sample}
        if unix_s is None or value is None:
            continue
        time_s, length_s = unix_s - t0_s, number(sample.get("dur"), at)
        begin_s = time_s - length_s if length_s else (time_s if before_s is None else before_s)
        if measure == "rtt_ms":
            flow.rtts_ms.append(value * factor)
        measurement.add(flow, max(0.0, min(begin_s, time_s)), time_s, **{**state, measure: value * factor})
        before_s = time_s


def _of_grid(
    measurement: Measurement,
    name: str,
    unit: tuple[str, float],
    results: Mapping[str, Any],
    times_s: list[float | None],
    step_s: float | None,
) -> None:
    """A flow of the values of a series on the grid."""
    measure, factor = unit
    flow = _new_flow(measurement, name, measure)
    column = _column(measurement.doubts, results.get(name), name)
    before_s: float | None = None
    for place, time_s in enumerate(times_s):
        if time_s is None:
            continue
        length_s = step_s if before_s is None else time_s - before_s
        if (value := column.get(place)) is not None:
            measurement.add(flow, max(0.0, time_s - (length_s or 0.0)), time_s, **{measure: value * factor})
        before_s = time_s


def _column(doubts: Doubts, values: Any, name: str) -> dict[int, float]:
    """The known values of a series by their place."""
    numbers = (
        (place, doubts.number(value, f'in results["{name[:60]}"][{place}]'))
        for place, value in enumerate(list_of(values))
    )
    return {place: value for place, value in numbers if value is not None}


def _unix_s(text: Any) -> float | None:
    """Seconds since 1970 of a time in ISO 8601, which is of UTC where it says nothing else."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else datetime.fromisoformat(f"{text}+00:00")).timestamp()


_NOTE = (
    "flent: throughput is that of each sample of netperf or iperf over the time that it states; RTT is "
    "that of pings, of a "
    "stream the kernel's smoothed one (ss)"
)

READER = MeasurementFormat("flent", "flent data file", _recognises, _read)
