"""All columns of all tables that the program writes or shows, in alphabetic order within each group."""

from __future__ import annotations

from dataclasses import replace

from anabranch import _core
from anabranch.media.columns.column import Column, completed

_COUNT, _SHARE, _ONE_DECIMAL = ",d", ".2%", ".1f"
FULL = 1 + 1e-9
"""A load above this is more than a link can carry; what is less above 1 solvers leave by rounding."""

DROPS = tuple(name for name, _ in _core.drop_causes())
"""Columns of the causes of drops on links."""
_UNREACHABLE, _CORRUPTED = "drops_unreachable", "drops_corrupted"
FLOW_DROPS = (*DROPS[:4], _UNREACHABLE, *DROPS[4:], _CORRUPTED)
"""The causes of drops of flows: packets without a route are on no link, and hosts drop damaged ones."""

_OF_WHAT = (
    Column("ack_path", "path of ACKs"),
    Column("application"),
    Column("carries"),
    Column("cause"),
    Column("cell", format=_COUNT),
    Column("client", priority=5),
    Column("client_port", format="d", priority=6),
    Column("congestion_control", "congestion control", priority=2),
    Column("connection", "connec\u00adtion", format="d", priority=9),
    Column("data_from", "data from"),
    Column("data_path", "path of data"),
    Column("encapsulation", "inside", priority=6),
    Column("event"),
    Column("failure", "given up"),
    Column("flow", format="d"),
    Column("from", priority=6),
    Column("hosts"),
    Column("interface", priority=8),
    Column("kind", priority=9),
    Column("link", format="d"),
    Column("links"),
    Column("measure", priority=9),
    Column("measures", "latency", priority=9),
    Column("name", priority=9),
    Column("node"),
    Column("other_name", "beside", priority=9),
    Column("outer_client", "outer client"),
    Column("outer_server", "outer server"),
    Column("path", priority=9, folds=True),
    Column("phase"),
    Column("phase_before"),
    Column("protocol", priority=9),
    Column("reading", priority=9),
    Column("router", priority=8),
    Column("routing", format="d"),
    Column("segment", format="d"),
    Column("server", priority=5),
    Column("side"),
    Column("server_port", format="d", priority=4),
    Column("operation", priority=8),
    Column("state", priority=7),
    Column("failed_state", "state in a failure", priority=7),
    Column("step", format="d", priority=9),
    Column("subflow", format="d", priority=9),
    Column("subject"),
    Column("switch"),
    Column("acks_at", "ACKs at"),
    Column("data_at", "data at"),
    Column("rtt_at", "RTT at"),
    Column("tie", priority=5),
    Column("to", priority=7),
    Column("transport", priority=4),
)
"""What a row is about."""

_TIMES = (
    Column("completion_s", "completion", priority=9, better="less", bound="completion_more_than_s"),
    Column("completion_more_than_s", "unfinished after", better="less"),
    Column("counted_from_s", "counted from"),
    Column("counted_to_s", "counted to"),
    Column("fin_s", "FIN"),
    Column("first_s", "first packet"),
    Column("handshake_s", "established", better="less"),
    Column("last_s", "last packet"),
    Column("measured_from_s", "measured from"),
    Column("measured_until_s", "measured until"),
    Column("opened_s", "opened"),
    Column("reset_s", "RST"),
    Column("setup_s", "first data", better="less"),
    Column("simulated_completion_s", "completion, simulated", priority=9, better="less",
           bound="simulated_completion_more_than_s"),
    Column("simulated_completion_more_than_s", "unfinished simulated after", better="less"),
    Column("since_s", "since"),
    Column("stalled_s", "stalled", better="less"),
    Column("start_s", "start"),
    Column("time_s", "time"),
)  # fmt: skip

_RATES = (
    Column("bbr_bandwidth_mbps", "BBR bandwidth", priority=3),
    Column("capacity_mbps", "capacity", priority=8, better="more"),
    Column("data_throughput_mbps", "data throughput", priority=7, better="more"),
    Column("delivery_rate_mbps", "delivery rate", better="more"),
    Column("delivery_rate_limit"),
    Column("goodput_mbps", "goodput", priority=9, better="more"),
    Column("pacing_rate_mbps", "pacing rate"),
    Column("reverse_throughput_mbps", "reverse throughput", better="more"),
    Column("sent_mbps", "new data", priority=8, better="more"),
    Column("simulated_goodput_mbps", "goodput, simulated", priority=9, better="more"),
    Column("throughput_mbps", "throughput", priority=8, better="more"),
    Column("window_data_throughput_mbps", "steady data", better="more"),
    Column("window_throughput_mbps", "steady", priority=3, better="more"),
)

_DELAYS = (
    *(Column(f"{prefix}rtt_{name}_ms", f"{words}RTT {name}", better="less",
             priority=(0 if prefix else {"mean": 5, "p99": 4}.get(name, 0)))
      for prefix, words in (("", ""), ("reverse_", "reverse "))
      for name in ("mean", "min", "p50", "p90", "p95", "p99", "max")),
    *(Column(f"latency_{name}_ms", heading, better="less", priority=priority)
      for name, heading, priority in (
          ("min", "min", 0), ("mean", "mean", 0), ("p50", "median", 9), ("p90", "p90", 0), ("p95", "p95", 8),
          ("p99", "p99", 9), ("p999", "p99.9", 0), ("max", "max", 9))),
    Column("bbr_rtt_min_ms", "BBR RTT min", better="less"),
    Column("delay_ms", "delay", priority=6, better="less"),
    Column("handshake_rtt_ms", "handshake RTT", better="less"),
    Column("jitter_ms", "jitter", priority=9, better="less"),
    Column("latency_ms", "latency", better="less"),
    Column("packet_in_max_ms", "packet in max", better="less"),
    Column("packet_in_mean_ms", "packet in mean", better="less"),
    Column("reverse_rtt_ms", "reverse RTT", better="less"),
    Column("rto_ms", "retransmission timeout"),
    Column("rtt_ms", "RTT", better="less"),
    Column("rttvar_ms", "RTTVAR", better="less"),
    *(Column(f"srtt_{name}_ms", f"smoothed RTT {name}", better="less", priority=5 if name == "mean" else 0)
      for name in ("mean", "min", "max")),
    Column("srtt_ms", "smoothed RTT", better="less"),
)  # fmt: skip

_BYTES = (
    Column("acked_bytes", "acked", priority=3, better="more"),
    Column("acknowledged_bytes", "acknowledged", better="more"),
    Column("bytes", unit="bytes"),
    Column("cwnd_bytes", "congestion window"),
    Column("delivered_bytes", "delivered", better="more"),
    Column("duplicate_bytes", "duplicate", better="less"),
    Column("in_flight_bytes", "in flight"),
    Column("measured_bytes", "measured"),
    Column("missing_bytes", "missing", better="less"),
    Column("most_waiting_bytes", "most waiting", better="less"),
    Column("packet_bytes", "packet size"),
    Column("payload_bytes", "payload", better="more"),
    Column("queue_bytes", "queue", better="less"),
    Column("reinjected_bytes", "reinjected", better="less"),
    Column("retransmitted_bytes", better="less"),
    Column("reverse_acked_bytes", "acked in reverse", better="more"),
    Column("sequence_bytes", "sequence number"),
    Column("ssthresh_bytes", "slow-start threshold"),
    Column("window_acked_bytes", "acked in the window", better="more"),
    Column("window_data_acked_bytes", "data acked in the window", better="more"),
)

_COUNTS = (
    Column("backoff", format="d"),
    Column("copies", "copies", unit="packets", format=_COUNT, priority=3),
    Column("corrupted_packets", "damaged", unit="packets", format=_COUNT, better="less"),
    Column("data_packets", "with data"),
    *(Column(name, heading, unit="packets", format=_COUNT, better="less") for name, heading in (
        *_core.drop_causes(), (_UNREACHABLE, "no route"), (_CORRUPTED, "damaged"), ("drops", "dropped"),
        ("drops_data", "lost data"),
        ("drops_acks", "lost ACKs"), ("drops_backward", "lost on the way back"),
        ("drops_control", "lost at control"),
        ("drops_forward", "lost on the way there"), ("drops_without_data", "lost without data"))),
    Column("duplicated_packets", "duplicated", unit="packets", format=_COUNT, better="less"),
    Column("duplicates_received", "duplicates", unit="packets", format=_COUNT, better="less"),
    Column("ecn_marks", "ECN marks", format=_COUNT),
    Column("ecn_reductions", "ECN reductions", format=_COUNT),
    Column("entries", format=_COUNT, better="less"),
    Column("entries_max", format=_COUNT, better="less"),
    Column("evicted", format=_COUNT, better="less"),
    Column("fast_recoveries", "recoveries", format=_COUNT, better="less"),
    Column("from_subflow", format="d"),
    Column("hits", format=_COUNT, better="more"),
    Column("keep_alives", "keep-alives", format=_COUNT, priority=2),
    Column("lost", unit="packets", format=_COUNT, better="less"),
    Column("messages", format=_COUNT, better="less"),
    Column("misses", format=_COUNT, better="less"),
    Column("opportunistic_retransmissions", "opportunistic", format=_COUNT, better="less"),
    Column("packets", unit="packets", format=_COUNT),
    Column("packets_in", format=_COUNT, better="less"),
    Column("packets_in_flight", "in flight", unit="packets", format=_COUNT),
    Column("packets_received", "received", unit="packets", format=_COUNT, better="more"),
    Column("penalties", format=_COUNT, better="less"),
    Column("queue_max_packets", "queue max", format=_COUNT, better="less"),
    Column("queue_mean_packets", "queue mean", better="less"),
    Column("queue_packets", "queue", format=_COUNT, better="less"),
    Column("received", unit="packets", format=_COUNT, better="more"),
    Column("refused", format=_COUNT, better="less"),
    Column("reordered_packets", "reordered", unit="packets", format=_COUNT, better="less"),
    Column("reordering_events", "reorderings seen", format=_COUNT, better="less"),
    Column("reordering_extent_max", "extent max", unit="packets", better="less"),
    Column("reordering_extent_mean", "extent mean", unit="packets", format=_ONE_DECIMAL, priority=1,
           better="less"),
    Column("retransmissions", "retrans\u00admitted", format=_COUNT, priority=9, better="less"),
    Column("reverse_rtt_samples", "reverse RTT samples", format=_COUNT),
    Column("rtt_samples", "RTT samples", format=_COUNT),
    Column("segments_sent", "segments", format=_COUNT),
    Column("sent", unit="packets", format=_COUNT, priority=9),
    Column("simulated_retransmissions", "retrans\u00admitted, simulated", format=_COUNT, priority=9,
           better="less"),
    Column("spurious_retransmissions", "spurious", format=_COUNT, priority=2, better="less"),
    Column("subflows", "sub\u00adflows", format=_COUNT, priority=6),
    Column("subflows_established", "established", format=_COUNT, better="more"),
    Column("suspicions", format=_COUNT, better="less"),
    Column("tail_loss_probes", format=_COUNT, better="less"),
    Column("three_reordered_packets", "3-reordered", format=_COUNT, better="less"),
    Column("timeouts", format=_COUNT, priority=3, better="less"),
    Column("collectives.hosts", "nodes", format=_COUNT, priority=4),
    Column("collectives.steps", "steps", format=_COUNT, priority=3),
    Column("collectives.flows", "flows", format=_COUNT, priority=2),
    Column("slowest_chain", "slowest chain", format="d", priority=5),
    Column("unfinished_flows", "unfinished", format=_COUNT, priority=9, better="less"),
    Column("zero_window_probes", "zero-window probes", format=_COUNT, priority=2),
)  # fmt: skip

_SHARES = (
    Column("difference_percent", "difference", format="+.1f", priority=9),
    Column("within_spread", "within spread", priority=8),
    Column("jain_index", "Jain index", format=".4f", better="more"),
    Column("latitude_deg", "latitude"),
    Column("longitude_deg", "longitude"),
    Column("loss", digits=3, priority=5, better="less"),
    Column("loss_ratio", "lost", format=_SHARE, priority=9, better="less"),
    Column("reordering_ratio", "reordering", format=_SHARE, priority=7, better="less"),
    Column("utilization", unit="%", format=_SHARE),
    Column("weight", format=".4f", priority=4),
)

_ROUTES = (
    Column("at", "at", priority=9),
    Column("bottleneck_mbps", "bottleneck", priority=8, better="more"),
    Column("ends", priority=9, folds=True),
    Column("hops", format=_COUNT, priority=8, better="less"),
    Column("mean_delay_ms", "mean delay", priority=8, better="less"),
    Column("model", priority=2),
    Column("next", priority=9, folds=True),
    Column("notes", "note", priority=9),
    Column("pair", priority=9, joins=("from", "to")),
    Column("path_number", "path number", format="d"),
    Column("path_taken", "path taken", priority=9, folds=True),
    Column("path_wanted", "path wanted", priority=9, folds=True),
    Column("paths", format=_COUNT, priority=9),
    Column("predicted_mbps", "throughput", priority=9, better="more"),
    Column("rtt_idle_ms", "RTT", priority=8, better="less"),
    Column("share", format=".4f", priority=9),
    Column("share_of_flows", "share of flows", format=".2f", priority=1),
    Column("shared_by", "shared by", digits=3, priority=2),
)
"""Routes, whether forwarding agrees with them, and what a flow should get by them."""

_LOADS = (
    Column("by_plan", "by the plan", priority=9),
    Column("added", format="+.6f", priority=9, better="less"),
    *(Column(f"{name}_percent", name, format=".4f", priority=9, better="less", limit=FULL, factor=100)
      for name in ("load", "before", "after")),
    Column("capacity_after_mbps", "capacity then", priority=9),
    Column("capacity_before_mbps", "capacity now", priority=9),
    Column("change_points", "change", format="+.4f", priority=9, better="less", factor=100),
    Column("cost_after", "cost after", format=_COUNT, priority=9),
    Column("cost_before", "cost before", format=_COUNT, priority=9),
    Column("cut_off_after_pairs", "cut off after", format=_COUNT, priority=8, better="less"),
    Column("cut_off_before_pairs", "cut off before", format=_COUNT, priority=8, better="less"),
    Column("demand_mbps", "traffic", priority=8),
    Column("down", priority=9),
    Column("failed_by", "worst failure", priority=5),
    Column("failed_load_percent", "load in a failure", format=".4f", priority=8, better="less", limit=FULL,
           factor=100),
    Column("full_in_failure_years", "full in a failure in", format=".1f", priority=8, better="more"),
    Column("full_in_years", "full in", format=".1f", priority=8, better="more"),
    Column("full_pairs", "pairs over full links", format=_COUNT, priority=7, better="less"),
    Column("gain_points", "gain", format="+.4f", priority=9, better="more", factor=100),
    Column("headroom_percent", "head\u00adroom", format="+.1%", priority=8, better="more", factor=100),
    Column("label", "of", priority=5),
    Column("load_by_plan_percent", "load by the plan", format=".4f", priority=9, better="less", limit=FULL,
           factor=100),
    Column("load_meanwhile_percent", "load meanwhile", format=".4f", priority=9, better="less", limit=FULL,
           factor=100),
    Column("lost_mbps", "lost", priority=7, better="less"),
    Column("matrix", format="d", priority=9),
    Column("median_completion_s", "completion", priority=9, better="less"),
    Column("median_goodput_mbps", "goodput", priority=7, better="more"),
    Column("module_price", "price of a module", format="g", priority=6),
    Column("modules", "modules", format=_COUNT, priority=9, better="less"),
    Column("modules_for_hose", "by the hose model", format=_COUNT, priority=8, better="less"),
    Column("modules_of_least_cost", "by any routing", format=_COUNT, priority=8, better="less"),
    Column("pairs_cut_off", "pairs cut off", format=_COUNT, priority=8, better="less"),
    Column("planned", format=".6f", priority=9),
    Column("price", format=",.0f", priority=9, better="less"),
    Column("predicted_goodput_mbps", "their goodput", priority=6, better="more"),
    Column("rerouted_pairs", "re-routed", format=_COUNT, priority=5, better="less"),
    Column("rounded", format=".6f", priority=9),
    Column("share_over_the_link_percent", "share over the link", format=".4f", priority=9, factor=100),
    Column("size_bytes", "size", priority=9),
    Column("squeezed_mbps", "their traffic", priority=6),
    Column("squeezed_pairs", "squeezed", format=_COUNT, priority=6, better="less"),
    Column("today", priority=9),
    Column("traffic_mbps", "traffic", priority=9),
    Column("verdict", priority=7),
    Column("weight_after", "new weight", format="d", priority=9),
    Column("weight_before", "weight now", format="d", priority=9),
    Column("which", folds=True),
    Column("worst_completion_s", "worst", priority=9, better="less"),
    Column("worst_link", "worst link", priority=9),
    Column("worst_pair", "of pair", priority=8),
)  # fmt: skip
"""Worst-case loads of links."""

_OTHERS = (
    Column("cubic", "CUBIC", digits=4, priority=9),
    Column("failed", format=_COUNT, better="less"),
    Column("flows", format=_COUNT),
    Column("note", priority=9, folds=True),
    Column("rfc5166", "RFC 5166", priority=1),
    Column("rfc9743", "RFC 9743", priority=9),
    Column("other_value", "other", digits=5, priority=9),
    Column("runs", format=_COUNT),
    Column("scenario", priority=5, folds=True),
    Column("source", priority=9),
    Column("value", "measured", digits=5, priority=9),
    Column("why", priority=9, folds=True),
)
"""Of studies, of evaluations, of networks that have a name, and of groups of flows."""

_FITS = (
    Column("buffer", priority=9),
    Column("by_kernel", "the kernel", digits=4, priority=9),
    Column("by_simulation", "simulated", digits=4, priority=9),
    Column("caution", priority=4, folds=True),
    Column("comparison", priority=9),
    Column("error_percent", "error", digits=3, priority=9),
    Column("estimate", priority=9),
    Column("hypothesis", "model", priority=9),
    Column("inferred_from", "inferred from", priority=5, folds=True),
    Column("measured", digits=4, priority=9),
    Column("misfit", digits=3, priority=9, better="less"),
    Column("misfit_with_penalty", "with penalty", digits=3, priority=7, better="less"),
    Column("parameter", priority=9),
    Column("predicted", digits=4, priority=9),
    Column("search", priority=5),
    Column("standard_errors", "standard errors", digits=2, priority=9),
    Column("transfer", priority=9),
)
"""Of fits and predictions."""

_LABELS = (
    Column("evaluation.measure", priority=9, folds=True),
    Column("evaluation.value", "the control", digits=4, priority=9),
    Column("evaluation.verdict", "beside CUBIC", priority=8),
    Column("flows.name", "flow", priority=9),
    Column("datagram_flows.name", "flow", priority=9),
    Column("capture.connections.reordered_packets", "reordered", unit="packets", format=_COUNT, priority=2),
    Column("capture.subflows.rtt_min_ms", "RTT min", better="less", priority=3),
    Column("capture.protocols.packets", unit="packets", format=_COUNT, priority=9),
    Column("capture.subflows.server"),
    Column("capture.subflows.server_port", format="d"),
    Column("connections.name", "connection", priority=9),
    Column("links.name", "link", priority=9),
    Column("links.reordered_packets", "overtaking", unit="packets", format=_COUNT, better="less"),
    Column("links.packets", "sent", unit="packets", format=_COUNT),
    Column("loads.link", "link", priority=9),
    Column("subflows.connection", priority=9),
)
"""Columns that have another heading in one table."""


def _by_name(*groups: tuple[Column, ...]) -> dict[str, Column]:
    by_name: dict[str, Column] = {}
    for declared in (column for group in groups for column in group):
        if declared.name in by_name:
            raise ValueError(f"the column {declared.name} is declared twice")
        own_name = declared.name.rpartition(".")[2]
        by_name[declared.name] = completed(replace(declared, name=own_name))
    return by_name


DECLARED = _by_name(
    _OF_WHAT, _TIMES, _RATES, _DELAYS, _BYTES, _COUNTS, _SHARES, _ROUTES, _LOADS, _OTHERS, _FITS, _LABELS
)
"""The columns of which more is to be said than their names do; by ``TABLE.NAME`` one that is another one in
this table."""
