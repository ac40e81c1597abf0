//! One flow on one idle link, against arithmetic.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::loss::Trace;
use anabranch_engine::setup::{LossSetup, SourceSetup};
use anabranch_engine::transport::{TcpConfig, tcp_preset};
use anabranch_units::declaration::Ordinals;
use anabranch_units::{Bytes, Instant, Rate, Span};

/// Bytes on the wire, IPv4 header included: SYN and SYN-ACK with MSS, window scale, SACK-permitted and
/// timestamps (20 bytes of options); a bare ACK and a full segment with timestamps (12).
const SYN: u64 = 60;
const ACK: u64 = 52;
const FULL: u64 = 1500;
const PAYLOAD: u64 = 1448;

/// Picoseconds to serialise some bytes, rounded down once.
fn serialisation(bytes: u64, capacity_bps: u64) -> u64 {
    (u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(capacity_bps)) as u64
}

/// A window that never changes: the receive buffer's `window` segments, each acknowledged by itself.
fn fixed_window(window: u64) -> TcpConfig {
    TcpConfig {
        initial_window_segments: 10_000,
        // Below 2^16, so that the window scale is zero and the window exact.
        receive_buffer: Bytes(window * PAYLOAD),
        delayed_ack_segments: 1,
        ..tcp_preset("newreno").expect("a preset")
    }
}

fn sized(tcp: TcpConfig, capacity_bps: u64, delay: Span, segments: u64) -> Outcome {
    let mut b = two_hosts(Rate::from_bps(capacity_bps), delay, 10_000, Span::from_secs(60));
    let (from, to) = (b.setup.links[0].from, b.setup.links[0].to);
    let tcp = b.tcp("tcp", tcp);
    b.flow(from, to, tcp, SourceSetup::Sized { bytes: segments * PAYLOAD }, at(0.5));
    b.run()
}

#[test]
fn completion_and_rtt_of_a_window_below_the_bdp_agree_to_the_picosecond() {
    // 10 Mbps: every serialisation time is a whole number of picoseconds.
    let (capacity, delay, window, segments) = (10_000_000, Span::from_ms(25), 20, 205);
    let outcome = sized(fixed_window(window), capacity, delay, segments);
    let [syn, ack, full] = [SYN, ACK, FULL].map(|bytes| serialisation(bytes, capacity));
    let handshake = 2 * syn + 2 * delay.as_ps();
    let rtt = full + ack + 2 * delay.as_ps();
    assert!(window * full < rtt, "the window is meant to be below the BDP");
    // The first window follows the ACK of the handshake; each later one leaves segment by segment as the
    // ACKs of the one before come in, a round trip later.
    let (rounds, place) = ((segments - 1) / window, (segments - 1) % window);
    let completion = handshake + ack + rounds * rtt + (place + 1) * full + delay.as_ps();
    let seconds = |column| picoseconds(number(&outcome, "flows", column, 0));
    assert_eq!(seconds("handshake_s"), handshake);
    assert_eq!(seconds("completion_s"), completion);

    let milliseconds = |column| picoseconds(number(&outcome, "flows", column, 0) / 1e3);
    assert_eq!(milliseconds("rtt_min_ms"), handshake, "the SYN's, the smallest packets");
    // In the first window each segment waits behind the ACK and the segments before it.
    assert_eq!(milliseconds("rtt_max_ms"), rtt + ack + (window - 1) * full);
    let waits = window * ack + full * window * (window - 1) / 2;
    let mean = (handshake + segments * rtt + waits) / (segments + 1);
    assert_eq!(milliseconds("rtt_mean_ms"), mean);
    assert_eq!(integer(&outcome, "flows", "segments_sent", 0), segments);
    assert_eq!(integer(&outcome, "flows", "retransmissions", 0), 0);
}

#[test]
fn completion_at_a_capacity_that_divides_nothing_loses_no_picosecond() {
    // 7 Mbps: 1500 bytes take 1714285714 and 2/7 ps. All segments leave at once and queue up.
    let (capacity, delay, segments) = (7_000_000, Span::from_ps(12_345_678_901), 1_000);
    let tcp = TcpConfig {
        initial_window_segments: 10_000,
        delayed_ack_segments: 1,
        receive_buffer: Bytes(1 << 20),
        ..tcp_preset("newreno").expect("a preset")
    };
    // The peer's SYN-ACK announces at most 2^16 - 1 bytes; from the first ACK on the window is open.
    let outcome = sized(tcp, capacity, delay, segments);
    let forward = serialisation(SYN + ACK + segments * FULL, capacity);
    let completion = 3 * delay.as_ps() + serialisation(SYN, capacity) + forward;
    // The link falls idle nowhere: the first 45 segments outlast a round trip.
    assert!(45 * serialisation(FULL, capacity) > 2 * delay.as_ps() + serialisation(FULL + ACK, capacity) + 1);
    assert_eq!(picoseconds(number(&outcome, "flows", "completion_s", 0)), completion);
}

#[test]
fn the_queue_of_a_fixed_window_is_the_window_less_the_bdp() {
    let (capacity, delay, window) = (10_000_000, Span::from_ms(10), 40);
    let mut b = two_hosts(Rate::from_bps(capacity), delay, 10_000, Span::from_secs(20));
    sample(&mut b.setup, Span::from_us(9_973));
    let (from, to) = (b.setup.links[0].from, b.setup.links[0].to);
    let tcp = b.tcp("tcp", fixed_window(window));
    b.flow(from, to, tcp, SourceSetup::Unlimited {}, Instant::ZERO);
    let outcome = b.run();
    let full = serialisation(FULL, capacity) as f64;
    let idle_rtt = full + serialisation(ACK, capacity) as f64 + 2.0 * delay.as_ps() as f64;
    // Little's law: each packet's round trip is window x full, of which it waits all but the idle RTT.
    let expected = window as f64 - idle_rtt / full;
    let series = table(&outcome, "link_series");
    let (times, links) = (series.number("time_s").unwrap(), series.integer("link").unwrap());
    let queues = series.integer("queue_packets").unwrap();
    let mut seen = 0;
    for row in (0..times.len()).filter(|&row| links[row] == 0 && times[row] > 0.2) {
        seen += 1;
        assert!((queues[row] as f64 - expected).abs() <= 1.0, "{} at {} s", queues[row], times[row]);
    }
    assert!(seen > 1_900, "{seen} samples");
    let mean = series_mean(&outcome, ("link_series", "link"), 0, "queue_packets", (0.2, 20.0));
    assert!((mean - expected).abs() < 0.1, "{mean}, not {expected}");
    // The first window arrives as a burst behind the ACK of the handshake, and all of it waits.
    assert_eq!(integer(&outcome, "links", "queue_max_packets", 0), window);
    let rtt = series_mean(&outcome, ("flow_series", "flow"), 0, "srtt_ms", (1.0, 20.0));
    assert!((rtt - window as f64 * full / 1e9).abs() < 1e-6, "{rtt} ms");
}

/// A trace counts packets with data alone: the SYN and the ACK of the handshake pass before the first, which is lost and
/// repaired without a timeout.
#[test]
fn a_trace_loses_the_first_data_and_no_handshake() {
    let mut b = two_hosts(mbps(10), Span::from_ms(10), 10_000, Span::from_secs(60));
    *b.setup.links[0].loss = LossSetup::Trace(Trace { packets: Ordinals(vec![1]) });
    let (from, to) = (b.setup.links[0].from, b.setup.links[0].to);
    let tcp = b.transport("newreno");
    b.flow(from, to, tcp, SourceSetup::Sized { bytes: 10 * PAYLOAD }, at(0.5));
    let outcome = b.run();
    let handshake = 2 * serialisation(SYN, 10_000_000) + 2 * Span::from_ms(10).as_ps();
    assert_eq!(picoseconds(number(&outcome, "flows", "handshake_s", 0)), handshake);
    assert_eq!(integer(&outcome, "links", "drops_random", 0), 1);
    assert_eq!(integer(&outcome, "flows", "timeouts", 0), 0);
}

/// Capacity x payload share: 10 Mbps x 1448 / 1500.
const FULL_GOODPUT: f64 = 10.0 * 1448.0 / 1500.0;

fn goodput(transport: &str, span_s: (f64, f64)) -> f64 {
    // 20 ms RTT: the BDP is 17 packets, the queue holds 50.
    let mut b = two_hosts(mbps(10), Span::from_ms(10), 50, Span::from_secs_f64(span_s.1));
    sample(&mut b.setup, Span::from_ms(100));
    let (from, to) = (b.setup.links[0].from, b.setup.links[0].to);
    let tcp = b.transport(transport);
    b.flow(from, to, tcp, SourceSetup::Unlimited {}, Instant::ZERO);
    let outcome = b.run();
    println!("{transport}: whole run {} Mbps", number(&outcome, "flows", "goodput_mbps", 0));
    goodput_between(&outcome, 0, span_s)
}

#[test]
fn window_based_senders_fill_an_idle_link_whose_queue_holds_a_bdp() {
    for transport in ["newreno", "cubic", "linux-reno", "linux-cubic"] {
        // From the SYN on: handshake and slow start are part of it.
        let reached = goodput(transport, (0.0, 60.0));
        println!("{transport}: {:.5} of capacity x payload share", reached / FULL_GOODPUT);
        assert!((reached / FULL_GOODPUT - 1.0).abs() < 0.005, "{transport}: {reached} Mbps");
    }
}

#[test]
fn bbr_fills_an_idle_link_between_its_probes_for_the_minimum_rtt() {
    for transport in ["bbr", "linux-bbr"] {
        // ProbeRTT comes 10 s after the smallest RTT and gives up 200 ms of the link on purpose.
        let reached = goodput(transport, (1.0, 9.5));
        println!("{transport}: {:.5} of capacity x payload share", reached / FULL_GOODPUT);
        assert!((reached / FULL_GOODPUT - 1.0).abs() < 0.005, "{transport}: {reached} Mbps");
    }
}
