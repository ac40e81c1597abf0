"""Columns that have an order or a sum, as data, and what of it does not hold in a result."""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import clocks
import draws

Row = Mapping[str, Any]
Rows = Sequence[Row]
Tables = Mapping[str, Rows]
"""Rows of the tables of a run, by name. Tables of series are ordered by time."""

_FILES_OF = 10
"""Of so many scenarios one is written to files, which are read back."""
_STUDIED_OF = 40
"""Of so many one is made a study."""
LONGEST_S = 120
"""Processor time that a scenario may take, with its files and its study."""
_SLACK = 1e-9
"""Numbers are doubles: sums of a few thousand agree to so many parts."""


@dataclass(frozen=True)
class Order:
    """In each row of a table, no column is above a later one; nulls are left out."""

    table: str
    columns: tuple[str, ...]
    reason: str
    without: tuple[str, ...] = ()
    """Transports for which it need not hold."""


@dataclass(frozen=True)
class Total:
    """In each row of a table, parts add up to the whole, or to no more than it."""

    table: str
    parts: tuple[str, ...]
    relation: str
    whole: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Ratio:
    """In each row of a table, a column is a part over a whole."""

    table: str
    ratio: str
    part: str
    whole: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Across:
    """Of the rows of a table that belong to one row of another, an aggregate beside a column there."""

    table: str
    column: str
    aggregate: str
    relation: str
    of: str
    whole: str | tuple[str, ...]
    reason: str
    key: str = "flow"


@dataclass(frozen=True)
class Rise:
    """A column of a series never falls within one flow, subflow or link."""

    table: str
    column: str
    reason: str


RTT = ("rtt_min_ms", "rtt_mean_ms", "rtt_max_ms")
CAUSES = ["queue", "random", "down", "codel", "unreachable", "fq_codel", "pie", "red", "policed", "corrupted"]
DROPS = tuple(f"drops_{cause}" for cause in CAUSES)
LINK_DROPS = tuple(name for name in DROPS if name not in ("drops_unreachable", "drops_corrupted"))
QUANTILES = ("min", "p50", "p90", "p95", "p99", "p999", "max")

ORDERS = (
    *(Order(table, RTT, "smallest, mean and largest of the same samples") for table in ("flows", "subflows")),
    Order(
        "flows",
        ("handshake_s", "setup_s", "completion_s"),
        "data follow the handshake, and end with the last",
    ),
    Order(
        "flows",
        ("handshake_s", "fin_s", "completion_s"),
        "the FIN follows all data",
        without=draws.WITHOUT_HANDSHAKE,
    ),
    Order("subflows", ("opened_s", "handshake_s"), "a handshake begins with its SYN"),
    *(
        Order(table, (part, whole), reason)
        for table in ("flows", "subflows")
        for part, whole, reason in (
            ("spurious_retransmissions", "retransmissions", "what came twice was sent twice"),
            ("retransmissions", "segments_sent", "of these"),
            ("packets_received", "segments_sent", "a network makes no packets"),
            ("spurious_retransmissions", "packets_received", "of these"),
            ("reordered_packets", "packets_received", "of these"),
            ("reordering_extent_mean", "reordering_extent_max", "of the same packets"),
        )
    ),
    Order("flows", ("ecn_marks", "packets_received"), "of these"),
    Order("flows", ("ecn_reductions", "ecn_marks"), "a reduction answers a mark"),
    Order("subflows", ("acknowledged_bytes", "delivered_bytes"), "what is acknowledged has arrived"),
    Order("connections", ("subflows_established", "subflows"), "of these"),
    Order("links", ("queue_mean_packets", "queue_max_packets"), "of the same queue"),
    Order("datagram_flows", tuple(f"latency_{name}_ms" for name in QUANTILES), "quantiles of one sample"),
    *(
        Order(table, ("latency_min_ms", "latency_mean_ms", "latency_max_ms"), "of the same packets")
        for table in ("datagram_flows", "datagram_series")
    ),
    Order("datagram_flows", ("reordered_packets", "received"), "of these"),
    Order("datagram_flows", ("reordering_extent_mean", "reordering_extent_max"), "of the same packets"),
    Order("log", ("rtt_min_ms", "rtt_ms"), "the smallest RTT believed is no larger than the one of this ACK"),
    Order("log", ("rtt_min_ms", "srtt_ms"), "nor than a mean"),
)
TOTALS = (
    Total(
        "flows", ("packets_received", "duplicates_received", "drops_data", "packets_in_flight"), "==",
        ("segments_sent", "duplicated_packets"), "each packet and copy arrives, is lost, or is under way",
    ),
    Total(
        "flows", DROPS, "==", ("drops_data", "drops_without_data", "drops_acks"), "each loss has one cause",
    ),
    Total(
        "flows", ("drops_control",), "<=", ("drops_data", "drops_without_data", "drops_acks"), "of these",
    ),
    Total(
        "flows", ("undone_recoveries",), "<=", ("fast_recoveries", "timeouts"), "what is undone has begun",
    ),
    Total(
        "datagram_flows", ("received", "duplicates_received", "lost", "packets_in_flight"), "==",
        ("sent", "duplicated_packets"), "as of flows",
    ),
    Total("datagram_flows", ("drops_forward", "drops_backward"), "==", ("lost",), "on either way"),
    Total("datagram_flows", DROPS, "==", ("lost",), "each loss has one cause"),
)  # fmt: skip
RATIOS = (
    *(
        Ratio(table, "reordering_ratio", "reordered_packets", ("packets_received",), "a share of these")
        for table in ("flows", "subflows")
    ),
    Ratio("datagram_flows", "reordering_ratio", "reordered_packets", ("received",), "a share of these"),
    Ratio("datagram_flows", "loss_ratio", "lost", ("lost", "received"), "those under way are left out"),
)
ACROSS = (
    *(
        Across("subflows", column, "sum", "==", "flows", column, "a connection is its subflows")
        for column in (
            *("segments_sent", "retransmissions", "timeouts", "fast_recoveries", "spurious_retransmissions"),
            *("packets_received", "reordered_packets"),
        )
    ),
    Across(
        "subflows", "delivered_bytes", "sum", ">=", "flows", "delivered_bytes", "the stream is of subflows"
    ),
    Across("subflows", "throughput_mbps", "sum", ">=", "flows", "goodput_mbps", "over the same time"),
    Across("subflows", "rtt_min_ms", "min", "==", "flows", "rtt_min_ms", "the smallest of all"),
    Across("subflows", "rtt_max_ms", "max", "==", "flows", "rtt_max_ms", "the largest of all"),
    Across(
        "subflows", "reordering_extent_max", "max", "==", "flows", "reordering_extent_max", "within subflows"
    ),
    Across("subflows", "subflow", "count", "==", "connections", "subflows", "a row for each"),
    Across(
        "subflows", "handshake_s", "count", "==", "connections", "subflows_established", "a time for each"
    ),
    Across("connections", "acknowledged_bytes", "sum", "<=", "flows", "delivered_bytes", "it has arrived"),
    *(
        Across(table, column, aggregate, relation, "flows", whole, "a series is of the samples of its flow")
        for table in ("flow_series", "log")
        for column in ("srtt_ms", "rtt_ms")
        for aggregate, relation, whole in (("min", ">=", "rtt_min_ms"), ("max", "<=", "rtt_max_ms"))
    ),
    # Clocks of timestamps that tick slowly make what is believed smaller than any sample.
    Across("log", "rtt_min_ms", "min", "<=", "flows", "rtt_min_ms", "the smallest believed is no larger"),
    Across("flow_series", "retransmissions", "last", "<=", "flows", "retransmissions", "counted so far"),
    Across("flow_series", "goodput_mbps", "bytes", "<=", "flows", "delivered_bytes", "in the time so far"),
    Across(
        "link_series", "queue_packets", "max", "<=", "links", "queue_max_packets", "of one queue", key="link"
    ),
    Across(
        "link_series", "throughput_mbps", "bytes", "<=", "links", "bytes", "in the time so far", key="link"
    ),
    Across("link_series", "drops", "last", "<=", "links", LINK_DROPS, "counted so far", key="link"),
    Across("latencies", "packets", "sum", "==", "datagram_flows", "received", "each packet once"),
    Across(
        "latencies", "latency_ms", "max", ">=", "datagram_flows", "latency_max_ms", "classes have upper ends"
    ),
    *(
        Across("datagram_series", *column, "datagram_flows", column[0], "counted so far")
        for column in (("received", "sum", "<="), ("sent", "last", "<="), ("lost", "last", "<="))
    ),
    Across(
        "datagram_series", "latency_min_ms", "min", ">=", "datagram_flows", "latency_min_ms", "of the same"
    ),
    Across(
        "datagram_series", "latency_max_ms", "max", "<=", "datagram_flows", "latency_max_ms", "of the same"
    ),
)
RISES = tuple(
    Rise(table, column, "it counts from the start")
    for table, column in (
        ("flow_series", "retransmissions"), ("subflow_series", "retransmissions"), ("link_series", "drops"),
        ("datagram_series", "sent"), ("datagram_series", "lost"),
    )
)  # fmt: skip


def violations(tables: Tables, *, trains: bool = False) -> Iterator[str]:
    """What of the relations does not hold in the tables of a run, a line for each kind and row.

    Args:
        tables: of the run.
        trains: whether hosts have segmentation offload: a packet of a link may be several segments of a flow.
    """
    transports = {row["flow"]: row["transport"] for row in tables.get("flows", ())}
    for order in ORDERS:
        yield from _order(order, tables, transports)
    for total in TOTALS:
        yield from _total(total, tables, transports)
    for ratio in RATIOS:
        yield from _ratio(ratio, tables, transports)
    for across in ACROSS:
        yield from _across(across, tables, transports)
    for rise in RISES:
        for rows in _grouped(tables.get(rise.table, ()), ("flow", "subflow", "link")).values():
            values = [row[rise.column] for row in rows]
            if values != sorted(values):
                yield _line(rise.table, rows[0], transports, f"{rise.column} falls", rise.reason)
    yield from _drops(tables, trains=trains)


DROPS_REASON = "what links drop is of a flow, or a message of the controller"


def _drops(tables: Tables, *, trains: bool) -> Iterator[str]:
    """Drops of all links beside those of all flows, by cause.

    Flows also count what is lost between a switch and the controller, and links the controller's messages.
    """
    flows = [*tables.get("flows", ()), *tables.get("datagram_flows", ())]
    elsewhere = sum(row.get("drops_control", 0) for row in flows)
    messages = sum(row["messages"] for row in tables.get("control_messages", ()) if row["kind"] == "lost")
    for cause in LINK_DROPS:
        lost, dropped = (sum(row[cause] for row in rows) for rows in (flows, tables.get("links", ())))
        if dropped > lost + messages or (dropped < lost - elsewhere and not trains):
            yield f"links: {cause} of all {dropped}, and {lost} of all flows; {DROPS_REASON}"


def rows_of(tables: Mapping[str, Any]) -> Tables:
    """The tables of a result as rows."""
    return {name: table.to_dicts() for name, table in tables.items()}


def _order(order: Order, tables: Tables, transports: Mapping[int, str]) -> Iterator[str]:
    for row in tables.get(order.table, ()):
        if order.without and transports.get(row["flow"]) in order.without:
            continue
        values = [(name, row[name]) for name in order.columns if row[name] is not None]
        for (low, one), (high, other) in pairwise(values):
            if not _holds(one, "<=", other):
                yield _line(order.table, row, transports, f"{low} {one} > {high} {other}", order.reason)


def _total(total: Total, tables: Tables, transports: Mapping[int, str]) -> Iterator[str]:
    for row in tables.get(total.table, ()):
        one, other = (sum(row[name] for name in names) for names in (total.parts, total.whole))
        if not _holds(one, total.relation, other):
            comparison = f"{' + '.join(total.parts)} = {one}, {' + '.join(total.whole)} = {other}"
            yield _line(total.table, row, transports, comparison, total.reason)


def _ratio(ratio: Ratio, tables: Tables, transports: Mapping[int, str]) -> Iterator[str]:
    for row in tables.get(ratio.table, ()):
        whole = sum(row[name] for name in ratio.whole)
        if whole and not _holds(row[ratio.ratio], "==", row[ratio.part] / whole):
            comparison = f"{ratio.ratio} {row[ratio.ratio]}, {ratio.part} {row[ratio.part]} of {whole}"
            yield _line(ratio.table, row, transports, comparison, ratio.reason)


def _across(across: Across, tables: Tables, transports: Mapping[int, str]) -> Iterator[str]:
    groups = _grouped(tables.get(across.table, ()), (across.key,))
    for row in tables.get(across.of, ()):
        rows, whole = groups.get((row[across.key],)), _whole(row, across.whole)
        if rows is None:
            continue
        part = AGGREGATES[across.aggregate](rows, across.column)
        if part is None or (whole is None and across.aggregate == "sum"):
            continue
        # A part of what is not known is a violation, too.
        if whole is None or not _holds(part, across.relation, whole):
            name = across.whole if isinstance(across.whole, str) else " + ".join(across.whole)
            comparison = f"{across.aggregate} of {across.table}.{across.column} {part}, {name} {whole}"
            yield _line(across.of, row, transports, comparison, across.reason)


def _whole(row: Row, names: str | tuple[str, ...]) -> Any:
    return row[names] if isinstance(names, str) else sum(row[name] for name in names)


def _values(rows: Rows, column: str) -> list[Any]:
    return [row[column] for row in rows if row[column] is not None]


def _bytes(rows: Rows, column: str) -> float:
    """A rate in Mbps over the times since the sample before, as bytes."""
    times = [0.0, *(row["time_s"] for row in rows)]
    spans = [after - before for before, after in pairwise(times)]
    rates = [float(row[column] or 0.0) for row in rows]
    return sum((rate * span * 1e6 / 8 for rate, span in zip(rates, spans, strict=True)), 0.0)


AGGREGATES: Mapping[str, Callable[[Rows, str], Any]] = {
    "sum": lambda rows, column: sum(_values(rows, column)),
    "count": lambda rows, column: len(_values(rows, column)),
    "min": lambda rows, column: min(_values(rows, column), default=None),
    "max": lambda rows, column: max(_values(rows, column), default=None),
    "last": lambda rows, column: rows[-1][column],
    "bytes": _bytes,
}


def _grouped(rows: Rows, keys: tuple[str, ...]) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys if key in row)].append(row)
    return groups


def _holds(one: float, relation: str, other: float) -> bool:
    slack = _SLACK * max(1.0, abs(one), abs(other))
    below, above = one <= other + slack, one >= other - slack
    return {"<=": below, ">=": above, "==": below and above}[relation]


def _line(table: str, row: Row, transports: Mapping[int, str], comparison: str, reason: str) -> str:
    where = ", ".join(f"{key} {row[key]}" for key in ("flow", "subflow", "link", "time_s") if key in row)
    transport = transports.get(row.get("flow", -1), "") if table not in ("datagram_flows",) else ""
    return f"{table} ({where} {transport}): {comparison}; {reason}"


def enriched(draw: random.Random, data: draws.Data) -> draws.Data:
    """The scenario with all series and logs, and in part with datagrams, heavy losses and short transfers."""
    data["run"] |= {"flow_series": True, "link_series": True, "log": "*"}
    hosts = [node["name"] for node in data["network"]["node"] if node["kind"] == "host"]
    if draw.random() < 0.5:
        source, destination = draw.sample(hosts, 2)
        kind: draws.Data = draw.choice(({"kind": "ping"}, {"kind": "udp", "rate": "500 kbps"}))
        data["traffic"].append({"from": source, "to": destination, "application": kind})
    if draw.random() < 0.4:
        _make_short(draw, data)
    return data


def has_trains(data: draws.Data) -> bool:
    """Whether hosts have segmentation offload."""
    return "offload" in data["network"].get("hosts", {})


def _make_short(draw: random.Random, data: draws.Data) -> None:
    """Transfers of a few segments over links that lose many, long enough for a few timeouts."""
    data["run"]["duration"] = "20 s"
    for link in data["network"]["link"]:
        link["loss"] = draw.choice((0.0, 0.05, 0.1, 0.3))
    for entry in data["traffic"]:
        if "kind" not in entry.get("application", {}) or entry["application"]["kind"] == "poisson":
            entry.pop("application", None)
            entry["size"] = draw.choice(("100 B", "1448 B", "2896 B", "7240 B", "30 kB"))


@dataclass(frozen=True)
class Finding:
    """What does not hold in a scenario."""

    number: int
    complaints: list[str]
    slow: bool = False
    """Whether real time was over, which says nothing as long as others use the machine."""


def _one(given: tuple[str, int]) -> Finding:
    seed, number = given
    try:
        with clocks.at_most(LONGEST_S):
            return Finding(number, _checked(seed, number))
    except Exception as error:  # noqa: BLE001 - whatever gets here is the find
        slow = isinstance(error, clocks.TooLongError) and error.by_wall
        return Finding(number, [f"{type(error).__name__}: {error}"], slow)


def _checked(seed: str, number: int) -> list[str]:
    """Draws scenarios until one is valid, and runs it; now and then also reads its files and studies it."""
    import orders_files  # noqa: PLC0415 - it imports the package, in the process that runs it

    from anabranch import Scenario, ScenarioError  # noqa: PLC0415 - as above

    draw = random.Random(f"{seed} orders {number}")  # noqa: S311 - not for secrets
    while True:
        data = enriched(draw, draws.scenario(draw))
        try:
            scenario = Scenario.from_data(data)
            result = scenario.run()
            break
        except ScenarioError:
            continue
    complaints = list(violations(rows_of(result.tables), trains=has_trains(data)))
    with tempfile.TemporaryDirectory() as folder:
        if number % _FILES_OF == 0:
            complaints += orders_files.differences(scenario, result, Path(folder))
        if number % _STUDIED_OF == 0:
            complaints += orders_files.differences_of_study(scenario, Path(folder) / "study")
    return complaints


def check_all(count: int, seed: str, processes: int) -> Iterator[Finding]:
    """Draws, runs and checks so many scenarios."""
    pieces = [(seed, number) for number in range(count)]
    yield from clocks.alone_again(_one, pieces, processes, lambda finding: finding.slow)


def told(scenarios: int, violations: int) -> str:
    """What was tried, and how often something did not hold, as a sentence."""
    relations = len(ORDERS) + len(TOTALS) + len(RATIOS) + len(ACROSS) + len(RISES) + len(LINK_DROPS)
    drawn = f"{scenarios:,} random scenario{'' if scenarios == 1 else 's'}"
    return f"Violations of {relations} relations between columns in {drawn}: {violations}."
