"""The numbers at the top of the page of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from anabranch.media.pieces import Card
from anabranch.report.views.link_tables import causes_of
from anabranch.report.views.run import without_connection
from anabranch.results.censored import Times
from anabranch.results.result import Result
from anabranch.text.units import NOTHING, measure, plain, quantity


def cards(result: Result) -> list[Card]:
    """The answers to what is asked first about a run, as far as it has them."""
    return with_values(
        [
            *_of_flows(result),
            *_of_collectives(result),
            *_of_live(result),
            *_of_datagrams(result),
            *_of_links(result),
        ]
    )


def with_values(cards: Sequence[Card]) -> list[Card]:
    """The cards that have a value."""
    return [each for each in cards if each.value != NOTHING]


def _of_flows(result: Result) -> list[Card]:
    flows, ended_s = result.flows, float(result.summary.get("ended_s") or 0.0)
    times = Times.of(flows)
    failed = flows["failure"].drop_nulls().len() if "failure" in flows.columns else 0
    delivered = result.summary.get("delivered_mbps")
    of = "of all flows, pings and UDP" if "datagram_flows" in result.tables else "of all flows"
    segments, again = _sum(flows, "segments_sent"), _sum(flows, "retransmissions")
    received, reordered = _sum(flows, "packets_received"), _sum(flows, "reordered_packets")
    middle, latest = (times.statistic(name).text(_seconds, NOTHING) for name in ("median", "p99"))
    share = [f"{times.share_done()} done"] if times.count else []
    if times.done < times.count:
        share.append(f"{quantity(times.count - times.done)} unfinished")
    if failed:
        share.append(f"{quantity(failed)} given up")
    if waiting := without_connection(flows).height:
        share.append(f"{quantity(waiting)} without a connection")
    cards = [
        Card(
            "Live" if "live" in result.summary else "Simulated",
            measure(ended_s, "s"),
            "stopped before its end" if result.interrupted else "",
        ),
        Card("Flows", quantity(flows.height) if flows.height else NOTHING, ", ".join(share)),
        Card("Delivered", measure(delivered, "Mbps"), f"{of}, over the whole run"),
        Card("Completion time", middle, f"median of {quantity(times.count)} flows; p99 {latest}"),
        # One flow is fair to itself.
        Card(
            "Jain index",
            index_text(result.summary.get("jain_index") if flows.height > 1 else None),
            "of the goodputs",
        ),
        Card("Mean RTT", measure(_number(flows["rtt_mean_ms"].mean()), "ms"), "mean of the flows' means"),
    ]
    resent = f"{quantity(again)} segments; {quantity(_sum(flows, 'timeouts'))} timeouts"
    return [
        *cards,
        Card("Retransmitted", share_text(again, segments), resent),
        Card("Reordered", share_text(reordered, received), f"{quantity(reordered)} packets"),
    ]


def _seconds(value: float) -> str:
    return measure(value, "s")


def _of_collectives(result: Result) -> list[Card]:
    """The collective operation that took longest; one that was not complete, if there is one."""
    table = result.tables.get("collectives")
    if table is None or table.is_empty():
        return []
    row = table.sort("completion_s", descending=True, nulls_last=False, maintain_order=True).row(
        0, named=True
    )
    took = "not complete" if row["completion_s"] is None else _seconds(row["completion_s"])
    note = f"{row['operation']} {row['name']}, {quantity(row['hosts'])} nodes; "
    if row["unfinished_flows"]:
        note += f"{quantity(row['unfinished_flows'])} of {quantity(row['flows'])} flows unfinished; "
    note += f"slowest chain: {row['slowest_chain']}"
    return [Card("Collective" if table.height == 1 else "Slowest collective", took, note)]


def _of_live(result: Result) -> list[Card]:
    """The kernel of a live run, whether the run is valid, and how far its simulation is from it."""
    live = result.summary.get("live")
    if live is None:
        return []
    latest = measure(live["check"]["lateness_p99_us"], "us")
    cards = [
        Card("Kernel", str(live["kernel"]), f"{quantity(live['flows_real'])} real flows"),
        Card("Self-check", "valid" if live["valid"] else "not valid", f"99 % of packets within {latest}"),
    ]
    against = live.get("against", {})
    if (difference := against.get("median_difference_percent")) is not None:
        note = f"median of {quantity(against['flows'])} real flows' goodputs; largest "
        note += f"{plain(against['largest_difference_percent'], 3)} %"
        cards.append(Card("Simulation differs by", f"{plain(difference, 3)} %", note))
    return cards


def _of_datagrams(result: Result) -> list[Card]:
    """The flow of datagrams with the worst p99."""
    table = result.tables.get("datagram_flows")
    worst = None if table is None else table.drop_nulls("latency_p99_ms")
    if worst is None or worst.is_empty():
        return []
    row = worst.sort("latency_p99_ms", descending=True, maintain_order=True).row(0, named=True)
    note = f"p99 of {row['name']}; median {measure(row['latency_p50_ms'], 'ms')}"
    return [Card("Latency", measure(row["latency_p99_ms"], "ms"), note)]


def _of_links(result: Result) -> list[Card]:
    links = result.links
    if links.is_empty():
        return []
    busiest = links.sort("utilization", descending=True, nulls_last=True, maintain_order=True).row(
        0, named=True
    )
    longest = links.sort("queue_max_packets", descending=True, maintain_order=True).row(0, named=True)
    drops = {label: int(links[name].sum()) for name, label in causes_of(links)}
    note = ", ".join(f"{quantity(count)} {label}" for label, count in drops.items() if count)
    busy = busiest["utilization"]
    return [
        Card("Busiest link", NOTHING if busy is None else f"{plain(100 * busy, 3)} %", str(busiest["name"])),
        Card("Longest queue", quantity(longest["queue_max_packets"], "packets"), str(longest["name"])),
        Card("Dropped", quantity(sum(drops.values()), "packets"), note),
    ]


def _sum(table: pl.DataFrame, column: str) -> int:
    return int(table[column].sum())


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def share_text(part: float, whole: float) -> str:
    """A share as a percentage; a dash where there is nothing to have a share in."""
    return f"{plain(100 * part / whole, 3)} %" if whole else NOTHING


def index_text(value: Any) -> str:
    """An index between 0 and 1; where there is none, also as NaN, that is said."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:.3f}"
