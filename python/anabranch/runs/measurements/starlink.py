"""The history of a Starlink dish as its gRPC interface gives it in JSON: a sample each second.

The arrays are rings: ``current`` counts the samples since the dish started, and the oldest is at its
remainder by the length. Throughput is the traffic that there was, not what the link could have carried.
"""

from __future__ import annotations

from typing import Any

from anabranch.runs.measurements.model import (
    MeasuredFlow,
    Measurement,
    MeasurementError,
    MeasurementFormat,
    list_of,
    table_of,
)
from anabranch.runs.measurements.reading import MeasurementFile

_NAMES = {
    "popPingDropRate": "pop_ping_drop_rate",
    "popPingLatencyMs": "pop_ping_latency_ms",
    "downlinkThroughputBps": "downlink_throughput_bps",
    "uplinkThroughputBps": "uplink_throughput_bps",
}
"""The arrays that are read, as JSON and as Python programs write their names."""
_RATES = ("downlinkThroughputBps", "uplinkThroughputBps")


def _history(document: Any) -> dict[str, Any]:
    """The table with the arrays, by whichever names; empty where there is none."""
    data = table_of(document)
    inner = next((data[key] for key in ("dishGetHistory", "dish_get_history") if key in data), data)
    return {
        name: table_of(inner)[key]
        for name, other in _NAMES.items()
        for key in (name, other)
        if key in table_of(inner)
    } | {"current": table_of(inner).get("current")}


def _recognises(source: MeasurementFile) -> bool:
    return len(_history(source.document)) > 2


def _read(source: MeasurementFile, _interval_s: float) -> Measurement:
    history = _history(source.document)
    if source.damage:
        raise MeasurementError(source.damage)
    measurement = Measurement("Starlink history", interval_s=1.0)
    arrays = {name: list_of(history.get(name)) for name in _NAMES if name in history}
    lengths = {len(values) for values in arrays.values()}
    if len(lengths) != 1 or not (length := lengths.pop()):
        raise MeasurementError("its arrays are empty, or not of one length")
    order = range(length)
    current = measurement.doubts.number(history.get("current"), "in current")
    if current is None:
        measurement.warnings.append("`current` is missing: the samples are taken in the order of the file")
    else:
        start, count = int(current), min(int(current), length)
        order = range(start - count, start)
    flow = measurement.new_flow(
        MeasuredFlow("starlink", client="dish", server="point of presence", data_from="server")
    )
    for second, place in enumerate(order):
        values = {
            name: measurement.doubts.number(array[place % length], f"in {name}[{place % length}]")
            for name, array in arrays.items()
        }
        drop, latency_ms = values.get("popPingDropRate"), values.get("popPingLatencyMs")
        if drop is not None and drop > 1:
            measurement.doubts.note(
                "drop rates are above 1, and are taken as unknown", f"popPingDropRate[{place % length}]"
            )
            drop = None
        # Where no ping came back the dish repeats an older latency, or states 0.
        known_ms = None if not latency_ms or drop == 1 else latency_ms
        down, up = (None if values.get(name) is None else (values[name] or 0.0) / 1e6 for name in _RATES)
        measurement.add(
            flow, float(second), second + 1.0, throughput_mbps=down, reverse_throughput_mbps=up,
            rtt_ms=known_ms, loss_ratio=drop,
        )  # fmt: skip
    measurement.notes.append(
        "Starlink: throughput is the traffic that there was (down, and up as reverse), not what the link "
        "could have "
        "carried; RTT and loss are those of the dish's pings to the point of presence"
    )
    return measurement


READER = MeasurementFormat("starlink", "Starlink history (JSON)", _recognises, _read)
