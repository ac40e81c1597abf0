"""The columns of each table, and what they mean there, in the order of the documents.

A key is the names of columns that one sentence explains, parted by blanks.
"""

from __future__ import annotations

from collections.abc import Mapping

from anabranch.media.columns.declared import DROPS, FLOW_DROPS

Meanings = Mapping[str, str]
"""What columns mean, by their names."""
_FLOW_CAUSES, _LINK_CAUSES = " ".join(FLOW_DROPS), " ".join(DROPS)
_LATENCIES = " ".join(
    f"latency_{name}_ms" for name in ("mean", "min", "p50", "p90", "p95", "p99", "p999", "max")
)

RUN: Mapping[str, Meanings] = {
    "flows": {
        "flow name": "number, and the traffic entry's name with the flow's number in it",
        "from to transport": "ends and transport",
        "start_s": "when the connection opens",
        "handshake_s": "from the start until the connection is established",
        "setup_s fin_s": (
            "from the start until the first data segment, and the first FIN (of a multipath flow: "
            "DATA_FIN), are sent"
        ),
        "completion_s": (
            "from the start until the last byte and, with TCP, the FIN (DATA_FIN) have arrived. With TCP "
            "it is above `fin_s`; `sliding-window` and `sdn-paced` complete with the last byte, and their"
            " FIN may be sent later"
        ),
        "completion_more_than_s": (
            "of an unfinished flow: from the start until the end of the run, which its completion time "
            "exceeds ([above](#unfinished-flows)); null for all others"
        ),
        "failure": (
            "why the connection was given up; null where it was not, as where the run ended before "
            "`handshake_timeout` (127 s) did"
        ),
        "delivered_bytes": "payload handed to the application",
        "goodput_mbps": "the same over the time from the start to completion, or to the end of the run",
        "segments_sent": "segments with data that the sender sent",
        "retransmissions": "of these, segments sent again",
        "timeouts": (
            "retransmission timeouts (RFC 6298); with `fastrto` its own expiries begin fast recoveries "
            "instead"
        ),
        "fast_recoveries": "times that fast recovery began",
        "undone_recoveries": "reductions taken back as spurious",
        "tail_loss_probes": "probes (RFC 8985 section 7)",
        "ecn_reductions": "reductions after an ECN echo",
        "spurious_retransmissions": "data segments that arrived though every byte of them was there already",
        "rtt_min_ms rtt_mean_ms rtt_max_ms": (
            "of the sender's RTT samples, in this order and none below the path's delay ([below](#round-"
            "trip-times))"
        ),
        "packets_received": "data packets that arrived",
        "reordered_packets reordering_ratio": "of these, the reordered ones (RFC 4737 section 3)",
        "reordering_extent_mean reordering_extent_max": (
            "extent of the reordered packets (RFC 4737 section 4.2)"
        ),
        "duplicates_received": (
            "data packets that arrived again because a link had duplicated them; the columns before count "
            "first arrivals alone, and `spurious_retransmissions` leaves them out"
        ),
        "ecn_marks": "data segments that arrived with a mark",
        "duplicated_packets": (
            "copies that links made of its data packets: `segments_sent` and these are received, received "
            "again, lost or in flight"
        ),
        "drops_data drops_without_data": (
            "packets lost on the way to the receiver: with data, and without (SYNs, ACKs of handshakes, "
            "FINs that come alone)"
        ),
        "drops_acks": "packets lost on the way back",
        _FLOW_CAUSES: "the same by cause",
        "drops_control": "of these, packets on their way between a switch and the controller",
        "packets_in_flight": (
            "data packets under way at the end of the run, in queues, on links and at the controller"
        ),
    },
    "connections": {
        "flow": "its number",
        "subflows subflows_established": "subflows that it was to have, and those whose handshake completed",
        "acknowledged_bytes": "of the stream, as the sender knows",
        "reinjected_bytes": "sent again because their subflow timed out, or because no data ACK came in time",
        "opportunistic_retransmissions": (
            "segments sent again on another subflow because they kept the receive window full"
        ),
        "penalties": "windows halved because their subflow kept the receive window full",
        "suspicions": "times that a subflow had a timeout and got no new data until an answer came",
        "duplicate_bytes": "data that arrived though they were there already, on whichever subflow",
        "most_waiting_bytes": (
            "most data that waited at one time for data before them in the stream, beside what waits on a"
            " subflow for a hole there"
        ),
        "stalled_s": "time in which every subflow was waiting for an answer after a timeout",
        "stalled_since_s": (
            "since when that has been so at the end of the run; null if it is not. `warnings` in the "
            "summary say so, too"
        ),
    },
    "subflows": {
        "flow subflow": "the flow's number, and the subflow's within it",
        "client client_port server server_port": "addresses and ports of its ends, as in captures",
        "path": (
            "the nodes along the path of its latest packet, `b#2` where the second of parallel links "
            "leads to `b`; null where it had none, and where packets go hop by hop"
        ),
        "path_changes": "packets that left by another path than the one before",
        "state": (
            "at the end: `idle` (not begun), `opening`, `established`, `suspect` (waiting after a "
            "timeout), `failed` (its handshake had no answer, or the connection ended before it was "
            "established or while it was suspect), `removed` (an address of it went away)"
        ),
        "opened_s handshake_s": (
            "from the flow's start until its first SYN is sent, and until it is established"
        ),
        "delivered_bytes": "arrived in order on the subflow; what was sent on two subflows counts on both",
        "throughput_mbps": (
            "the same over the time from the flow's start to its completion, or to the end of the run"
        ),
        "acknowledged_bytes": "acknowledged on the subflow",
        "segments_sent retransmissions timeouts fast_recoveries spurious_retransmissions": (
            "as in `flows`; what is sent again on another subflow is new to that one"
        ),
        "packets_received reordered_packets reordering_ratio reordering_extent_mean reordering_extent_max": (
            "as in `flows`"
        ),
        "rtt_min_ms rtt_mean_ms rtt_max_ms": "of the subflow's RTT samples, as in `flows`",
    },
    "spray_flows": {
        "flow name": "number in `flows`, and the name there",
        "acknowledged_s": (
            "from the start until the sender has the acknowledgment of its last byte, half a round trip "
            "behind `completion_s` of `flows`; null where it has not"
        ),
        "trims": "packets whose payload was cut off on their way; they are in no other book",
        "trims_last_hop": "NACKs for those that were cut off in front of the last link of their way",
        "losses": (
            "packets that the sender gave up without a NACK: by a timeout, or because later ones had arrived"
        ),
        "probes": "probes of entropy values that were assumed bad",
    },
    "collectives": {
        "name operation": "name of the traffic entry, and what it does",
        "hosts steps flows": "nodes that take part, steps, and flows of all steps",
        "unfinished_flows": "flows that were not complete when the run ended",
        "start_s": "when its first flow began; null where none has",
        "completion_s": "from then until the last flow was complete; null where one was not",
        "slowest_chain": (
            "the chain that was complete last: the n-th flows of all steps, around a ring those of the n-th "
            "part; one that was not complete, if there is one"
        ),
    },
    "collective_steps": {
        "name step": "name in `collectives`, and number of the step",
        "start_s": "when the first flow of the step began; null where none has",
        "completion_s": "from then until the last one was complete; null where one was not",
    },
    "datagram_flows": {
        "flow name": "number among these flows, and the traffic entry's name with the flow's number in it",
        "kind": "`ping` or `udp`",
        "from to": "ends",
        "packet_bytes": "bytes of each IP packet",
        "start_s": "when the first packet leaves",
        "sent": "packets sent, answers not counted",
        "received": "packets that arrived; of a ping, answers that came back",
        "lost": "packets dropped; of a ping, requests and answers",
        "packets_in_flight": "under way at the end of the run, in queues and on links",
        "loss_ratio": "`lost` over `lost` and `received`: those under way are left out",
        "throughput_mbps": (
            "of the IP packets received, over the time from the start until the flow stops, or the run ends"
        ),
        _LATENCIES: "latency of the packets received",
        "jitter_ms": (
            "mean change of the latency from one packet to the next in the order of arrival: interarrival"
            " jitter (RFC 3550 section 6.4.1) over the whole run, without its smoothing"
        ),
        "reordered_packets reordering_ratio reordering_extent_mean reordering_extent_max": (
            "as in `flows`, of the packets received"
        ),
        "duplicates_received": (
            "packets that arrived again because a link had duplicated them, or what they answer; they are "
            "not in `received`"
        ),
        "duplicated_packets": "copies that links made of its packets, there and back",
        "drops_forward drops_backward": "packets lost on the way there, and answers lost on the way back",
        _FLOW_CAUSES: "the same by cause",
    },
    "latencies": {
        "flow": "number in `datagram_flows`",
        "latency_ms": "largest latency that counts here",
        "packets": "how many packets do",
    },
    "links": {
        "link name from to": "number, name and ends",
        "capacity_mbps delay_ms": "at the end of the run",
        "packets bytes": "whose transmission began",
        _LINK_CAUSES: "drops by cause",
        "duplicated_packets": "copies that the link made (`duplicate`), beside what was offered to it",
        "corrupted_packets": (
            "packets that the link damaged (`corrupt`), its copies counted one by one: no drops of the link,"
            " for their hosts drop them (`drops_corrupted` of flows)"
        ),
        "reordered_packets": "packets that the link let overtake others (`reorder`)",
        "ecn_marks": "packets marked",
        "trims": "packets whose payload was cut off in front of the link (`trim`)",
        "queue_max_packets": "most packets that waited at once",
        "queue_mean_packets": "their mean over time",
        "utilization": "share of the time spent transmitting",
    },
    "nodes": {
        "node name": "number and name",
        "latitude_deg longitude_deg": (
            "where it is, north and east positive; null where the network has no places"
        ),
    },
    "routes": {
        "from to": "ends of a pair that sends data or acknowledgments",
        "path weight": (
            "number of the path in its pair, and its weight; packets are shared in the proportion of the "
            "weights"
        ),
        "links": "numbers of its links, from the first to the last",
        "routing": (
            "0 for the routes of `[routing]`; 1, 2 and so on for those that traffic has of its own, in "
            "the order of its entries"
        ),
    },
    "next_hops": {
        "to node": "the destination, and a node that has a path to it",
        "links": "numbers of the links that it may send by, each with the same share",
        "routing": "as in `routes`",
    },
    "flow_series": {
        "time_s flow": "when, and the flow's number",
        "goodput_mbps": "since the last sample",
        "cwnd_bytes ssthresh_bytes": "congestion window and slow-start threshold; null before there is one",
        "srtt_ms rtt_ms": (
            "smoothed RTT, and the latest sample, of the same samples as `rtt_mean_ms` in `flows`"
        ),
        "in_flight_bytes": "sent and neither acknowledged nor thought lost",
        "retransmissions": "since the start",
    },
    "datagram_series": {
        "time_s flow": "when, and the number in `datagram_flows`",
        "latency_min_ms latency_mean_ms latency_max_ms": (
            "latency of the packets received since the last sample; null without any"
        ),
        "jitter_ms": "interarrival jitter so far, smoothed (RFC 3550 section 6.4.1)",
        "received": "packets received since the last sample",
        "throughput_mbps": "the same as IP packets over time",
        "sent lost": "since the start",
    },
    "subflow_series": {
        "time_s flow subflow": "when, and the numbers",
        "throughput_mbps": "arrived in order on the subflow since the last sample",
        "cwnd_bytes srtt_ms in_flight_bytes retransmissions": "as in `flow_series`",
    },
    "link_series": {
        "time_s link": "when, and the link's number",
        "queue_packets queue_bytes": "waiting, without the one being sent",
        "throughput_mbps": "of transmissions begun since the last sample",
        "drops": "since the start",
    },
    "events": {
        "time_s": "when",
        "kind": (
            "`link up`, `link down`, `node up`, `node down`, `capacity`, `delay`, `loss`, `queue`, `new "
            "routes`"
        ),
        "subject": "the link or node",
    },
    "sequence": {
        "time_s flow": "when, and the flow's number",
        "kind": (
            "sent: `syn`, `data`, `retransmission`, `fin`; received: `syn-ack`, `ack`, `fin-ack`, `ctrl` "
            "(of the controller)"
        ),
        "sequence_bytes": "position of the first byte in the stream; of an ACK, bytes acknowledged",
        "bytes": "payload",
        "segment": (
            "the same position as the number of a full segment, counted from 1: the SYN is 0, the FIN "
            "comes after the last; null for `ctrl`"
        ),
    },
    "log": {
        "time_s flow": "when, and the flow's number",
        "subflow": (
            "of a multipath flow: the subflow's number; null for what concerns the connection as a whole"
        ),
        "event cause": "what was decided, and why; no cause where the event says it all",
        "cwnd_bytes": (
            "congestion window after it, as it governs sending; in fast recovery that of proportional "
            "rate reduction"
        ),
        "ssthresh_bytes in_flight_bytes": "after it; no threshold before the first loss, and with BBR",
        "srtt_ms rttvar_ms rtt_min_ms": (
            "smoothed RTT as in `flow_series`, the variation (RTTVAR) that the timeout goes by, and the "
            "smallest RTT that the sender believes, after it; null before the first sample"
        ),
        "rto_ms": (
            "retransmission timeout, backed off; of a `timeout`, the one that expired; null where each "
            "segment has a timer of its own"
        ),
        "pacing_rate_mbps": "null where the sender does not pace",
        "phase": "phase of the congestion control after it, `slow start` for example",
        "rtt_ms": "`ack`: time since the newest segment that it acknowledges was sent, if it was sent once",
        "acked_bytes delivered_bytes": (
            "`ack`: by how much the cumulative acknowledgment advanced, and what was newly delivered, "
            "SACKed or not"
        ),
        "delivery_rate_mbps delivery_rate_limit": (
            "`ack`: delivery rate sample, and what limited it, `network` or `application`"
        ),
        "sequence_bytes": (
            "`loss`: position of the segment's first byte in the stream of the flow, or of its subflow"
        ),
        "bytes": (
            "`loss`: its length; `reinjection`, `data retransmission`, `opportunistic retransmission`: "
            "what is sent again"
        ),
        "window_before_bytes window_after_bytes": (
            "`reduction`, `undo`, `idle restart`: the controller's window before and after"
        ),
        "backoff": "`timeout`: how many in a row, this one included",
        "from_subflow": "`reinjection`, `opportunistic retransmission`: the subflow that had the data before",
        "phase_before": "`phase`: the phase that ends",
    },
    "control_messages": {
        "kind": (
            "`packet in`, `packet out`, `set-up`, `remove`, `removed`, `refused`, `ctrl`, `confirmation`,"
            " `statistics request`, `statistics`, `notice`, `probe out`, `probe`, `probe in`, and `lost` "
            "for all that were lost on the way; a flow's packet lost on its way to or from the controller"
            " counts in `flows` (`drops_control`) instead"
        ),
        "messages bytes": "how many were sent, and their bytes",
    },
    "flow_tables": {
        "switch": "its name",
        "entries entries_max": "in its table at the end, and the most at once",
        "hits misses": "packets that an entry matched, and that none did",
        "refused evicted": "new entries without room, and old ones that made room",
        "expired_idle expired_hard": "entries whose time-out was over",
        "packets_in": "packets that the switch sent to the controller and that came back to a switch",
        "packet_in_mean_ms packet_in_max_ms": (
            "how long they took from leaving the switch until one had them back"
        ),
    },
    "flow_table_series": {
        "time_s switch": "when, and the switch's name",
        "entries": "in its table",
    },
    "link_statistics": {
        "time_s link": "when the controller had it, and the link's number",
        "throughput_mbps": "since the answer before",
        "packets drops_queue": "sent, and not taken by the queue, since the start",
        "queue_packets": "waiting",
    },
    "link_estimates": {
        "time_s link": "when, and the link's number",
        "loss": "estimate of the loss, 0 to 1, in steps of `loss_granularity`; 1 while nothing comes through",
        "delay_ms": "estimate of the delay, or the configured one, in steps of `delay_granularity`",
        "packets lost": (
            "packets sent before the last probe that came through, since the start, and how many of them "
            "the link lost; probes, and what its queue refused, are not among them"
        ),
    },
    "route_changes": {
        "time_s flow": "when, and the flow's number",
        "data_path ack_path": "the nodes along its paths from there on",
    },
    "flow_routes": {
        "flow": "its number",
        "since_s": "when the controller gave it its first paths",
        "route_changes": "how often it has moved since",
        "data_path ack_path": "the nodes along its last paths",
    },
}

CAPTURE: Mapping[str, Meanings] = {
    "connections": {
        "connection kind": "number in the order of first packets, and `mptcp` or `tcp`",
        "client server server_port": "of the subflow that opened it",
        "subflows": "how many",
        "first_s established_s fin_s": "first packet, first handshake, first FIN",
        "data_from": "`client` or `server`",
        "acked_bytes reverse_acked_bytes": "acknowledged in all, and of the other direction",
        "throughput_mbps": "over its own time: `measured_bytes` from `measured_from_s` to `measured_until_s`",
        "measured_bytes measured_from_s measured_until_s": (
            "acknowledged after its first ACK of data until the last, and when these came; of a single "
            "flight, all bytes from a round trip before its first ACK on ([above](#own-time))"
        ),
        "data_throughput_mbps": "by data ACKs of MPTCP, after the first of data until the last",
        "sent_mbps": (
            "where no ACK was captured: new data after the first segment until the last; null where any was"
        ),
        "window_acked_bytes window_throughput_mbps": (
            "in the steady window, which all connections have in common ([above](#the-window))"
        ),
        "window_data_acked_bytes window_data_throughput_mbps": "the same by data ACKs",
        "data_packets retransmissions reordered_packets missing_bytes": (
            "sums over the subflows; null where the direction of the data was not captured"
        ),
        "keep_alives zero_window_probes": (
            "of both ends: segments with at most a byte that ask whether the other end is there, and whether "
            "it has opened its window; they are neither data nor retransmissions"
        ),
        "copies": "packets that are left out, being copies of others at the same capture point",
        "rtt_samples": (
            "round-trip times of data segments that were measured, of all subflows, as the following; "
            "without subflows that were captured away from the sender, if there are others"
        ),
        "rtt_min_ms rtt_mean_ms rtt_max_ms": "least, mean, greatest",
        "rtt_p50_ms rtt_p90_ms rtt_p95_ms rtt_p99_ms": "median and further percentiles",
        "reverse_rtt_samples reverse_rtt_min_ms reverse_rtt_mean_ms reverse_rtt_max_ms": (
            "the same of the data in the other direction"
        ),
        "reverse_rtt_p50_ms reverse_rtt_p90_ms reverse_rtt_p95_ms reverse_rtt_p99_ms": (
            "and their percentiles"
        ),
    },
    "subflows": {
        "subflow connection tie": "number, connection, and how they were tied",
        "client client_port server server_port": "ends",
        "first_s established_s fin_s reset_s last_s": (
            "first packet, the ACK of the handshake, first FIN, first RST, last packet"
        ),
        "handshake_rtt_ms": "from the SYN to the ACK of the SYN/ACK; null if the SYN was repeated",
        "data_from data_at acks_at": "direction of the data, and where both directions are read",
        "rtt_at": "where the round-trip times of the data were measured; null without any",
        "acked_bytes reverse_acked_bytes": "acknowledged in all, and of the other direction",
        "throughput_mbps measured_bytes measured_from_s measured_until_s": (
            "over its own time, what was acknowledged in it, and when it began and ended ([above](#own-time))"
        ),
        "sent_mbps": (
            "where no ACK was captured: new data after the first segment until the last; null where any was"
        ),
        "window_acked_bytes window_throughput_mbps": "in the steady window ([above](#the-window))",
        "data_packets payload_bytes": (
            "segments with data, and their bytes, repeated ones as well; null, as all that is counted of "
            "data, where the direction of the data was not captured"
        ),
        "retransmissions retransmitted_bytes": (
            "of these, seen before, or repairs of a loss before the capture point"
        ),
        "keep_alives zero_window_probes": "of both ends, as in `connections`",
        "reordered_packets reordering_ratio": "reordered segments, and their share of `data_packets`",
        "reordering_extent_mean reordering_extent_max three_reordered_packets": (
            "extents, and 3-reordered segments"
        ),
        "missing_bytes": "never seen",
        "copies": "packets that are left out, being copies of others at the same capture point",
        "encapsulation": (
            "the headers around its packets, the outermost first, with VNI, TEID, key, labels or session; of "
            "the client's packets and, behind a bar, of the server's where theirs differ; null without"
        ),
        "outer_client outer_server": (
            "the addresses at its ends of the innermost IP header around its own; null without"
        ),
        "rtt_samples": "round-trip times of data segments that were measured",
        "rtt_min_ms rtt_mean_ms rtt_max_ms": "least, mean, greatest",
        "rtt_p50_ms rtt_p90_ms rtt_p95_ms rtt_p99_ms": "median and further percentiles",
        "reverse_rtt_samples reverse_rtt_min_ms reverse_rtt_mean_ms reverse_rtt_max_ms": (
            "the same of the data in the other direction"
        ),
        "reverse_rtt_p50_ms reverse_rtt_p90_ms reverse_rtt_p95_ms reverse_rtt_p99_ms": (
            "and their percentiles"
        ),
    },
    "subflow_series": {
        "time_s subflow connection": "when and whose",
        "throughput_mbps": "in the interval",
        "rtt_ms": "mean of the round-trip times whose ACKs came in the interval; null without any",
        "reverse_rtt_ms": "the same of the data in the other direction",
        "retransmissions reordered_packets": (
            "in the interval; null where the direction of the data was not captured"
        ),
    },
    "connection_series": {
        "time_s connection": "when and whose",
        "throughput_mbps data_throughput_mbps": "in the interval",
    },
    "capture_series": {
        "time_s": "when",
        "throughput_mbps": "of all connections",
        "jain_index connections": "over the connections present, and their number",
    },
    "rtt_distribution": {
        "subflow connection": "whose",
        "data_from": "who sent the data: `client` or `server`",
        "rtt_ms": "the greatest round-trip time of the step",
        "samples": "how many are in the step",
    },
    "protocols": {
        "encapsulation protocol": "the headers around packets, null without any, and what is in them",
        "packets": "how many",
        "reading": ("`read`; `not tcp`; or `may hold tcp`, where TCP may be in them that cannot be read"),
    },
}

MEASUREMENT: Mapping[str, Meanings] = {
    "connections": {
        "name": "how the tool calls it",
        "lost loss_ratio": "packets that were lost, and their share; of pings the share of those without "
        "an answer",
        "jitter_ms": "as the tool states it (of iperf3 RFC 3550 section 6.4.1)",
        "srtt_min_ms srtt_mean_ms srtt_max_ms": "least, mean and greatest of the kernel's smoothed RTTs in "
        "the series",
    },
    "subflows": {
        "name": "how the tool calls it",
        "lost loss_ratio": "as in `connections`",
        "jitter_ms": "as in `connections`",
        "srtt_min_ms srtt_mean_ms srtt_max_ms": "as in `connections`",
        "congestion_control": "of the kernel",
        "cwnd_bytes cwnd_packets": "congestion window at the last sample",
        "delivery_rate_mbps pacing_rate_mbps": "of the kernel at the last sample",
        "bbr_bandwidth_mbps bbr_rtt_min_ms": "BBR's own estimates at the last sample",
        "reordering_packets reordering_events": (
            "how far the sender expects packets to be reordered, and how often it saw that (`reordering`, "
            "`reord_seen`)"
        ),
        "busy_s rwnd_limited_s sndbuf_limited_s": (
            "how long the sender had data under way, was held up by the receive window, and by its own buffer"
        ),
    },
    "subflow_series": {
        "reverse_throughput_mbps": "in the other direction",
        "srtt_ms": "the kernel's smoothed RTT",
        "lost loss_ratio jitter_ms": "in the interval",
        "cwnd_bytes cwnd_packets in_flight_bytes": "at the end of the interval",
        "delivery_rate_mbps pacing_rate_mbps": "at the end of the interval",
    },
}
"""What measurements of other tools have beside the columns of captures."""

AGAINST: Mapping[str, Meanings] = {
    "against": {
        "measure": "what is compared",
        "name other_name": "the connection, and what it is compared with",
        "value other_value": "of both, in the unit of the measure",
        "difference_percent": "how much more the other one has",
    },
    "against_series": {
        "time_s side flow": "when, `measured` or `other`, and which flow of it",
        "name": "of the flow",
        "throughput_mbps rtt_ms srtt_ms cwnd_bytes retransmissions": "in the interval",
    },
}
"""What a comparison has beside them."""
