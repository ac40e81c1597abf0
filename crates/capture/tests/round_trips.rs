//! Round-trip times of data segments whose values are known.

use crate::common::*;
use anabranch_capture::Analysis;

const ISN: u32 = u32::MAX - 2500;
const PEER: u32 = 77_001;

/// NOP, NOP, timestamps.
fn timestamps(value: u32, echo: u32) -> Vec<u8> {
    [&[1u8, 1, 8, 10][..], &value.to_be_bytes(), &echo.to_be_bytes()].concat()
}

/// A handshake of 10 ms, and packets after it: (ms, segment).
fn after_handshake(packets: Vec<(u64, Tcp)>) -> Vec<(u64, Tcp)> {
    let mut all = vec![
        (0, tcp(CLIENT, SERVER, ISN, 0, SYN, 0)),
        (10, tcp(SERVER, CLIENT, PEER - 1, ISN.wrapping_add(1), SYN | ACK, 0)),
        (10, tcp(CLIENT, SERVER, ISN.wrapping_add(1), PEER, ACK, 0)),
    ];
    all.extend(packets);
    all.into_iter().map(|(ms, packet)| (ms * MS + 1_700_000_000_000 * MS, packet)).collect()
}

/// The data segment with this number from 0, of 1000 bytes each; the numbers go over their end.
fn data(number: u32) -> Tcp {
    tcp(CLIENT, SERVER, ISN.wrapping_add(1 + 1000 * number), PEER, ACK, 1000)
}

/// The ACK of so many segments.
fn ack(segments: u32) -> Tcp {
    tcp(SERVER, CLIENT, PEER, ISN.wrapping_add(1 + 1000 * segments), ACK, 0)
}

fn measured(packets: Vec<(u64, Tcp)>) -> Analysis {
    analyzed(&[pcap(false, 1, RAW, 0, &ipv4(&after_handshake(packets)))])
}

fn of_subflow(analysis: &Analysis, column: &str) -> f64 {
    numbers(analysis, "subflows", column)[0]
}

/// The distribution: (ms, samples) of each step, whose end is at most 1/64 above its samples, in full ms.
fn samples(analysis: &Analysis) -> Vec<(f64, f64)> {
    let column = |name: &str| numbers(analysis, "rtt_distribution", name);
    column("rtt_ms").into_iter().map(f64::floor).zip(column("samples")).collect()
}

#[test]
fn mean_percentiles_and_series() {
    // Round trips of 1 to 200 ms, one a second.
    let packets = (0..200)
        .flat_map(|n: u32| [(1000 + 1000 * u64::from(n), data(n)), (1001 + 1001 * u64::from(n), ack(n + 1))]);
    let analysis = measured(packets.collect());
    for table in ["subflows", "connections"] {
        let column = |name: &str| numbers(&analysis, table, name)[0];
        assert_eq!(column("rtt_samples"), 200.0);
        assert_eq!((column("rtt_min_ms"), column("rtt_max_ms")), (1.0, 200.0));
        assert!((column("rtt_mean_ms") - 100.5).abs() < 1e-9);
        for (name, expected) in
            [("rtt_p50_ms", 100.0), ("rtt_p90_ms", 180.0), ("rtt_p95_ms", 190.0), ("rtt_p99_ms", 198.0)]
        {
            assert!((column(name) - expected).abs() <= expected / 128.0, "{name}: {}", column(name));
        }
    }
    // Before the first, none; then one in each interval.
    let series = numbers(&analysis, "subflow_series", "rtt_ms");
    assert!(series[0].is_nan());
    for (index, rtt_ms) in series[1..].iter().enumerate() {
        assert!((rtt_ms - (index + 1) as f64).abs() < 1e-9, "{series:?}");
    }
    assert_eq!(samples(&analysis).iter().map(|step| step.1).sum::<f64>(), 200.0);
    assert!(analysis.summary.warnings.iter().all(|warning| !warning.contains("away")));
}

#[test]
fn an_ack_of_several_segments_is_of_the_last_one() {
    let analysis = measured(vec![
        (20, data(0)),
        (25, data(1)),
        (50, ack(2)),
        (60, ack(2)),
        (70, data(2)),
        (100, ack(3)),
    ]);
    assert_eq!(samples(&analysis), [(25.0, 1.0), (30.0, 1.0)]);
    // One that ends inside a segment is of none.
    let mut part = ack(2);
    part.ack = part.ack.wrapping_sub(300);
    let analysis = measured(vec![(20, data(0)), (25, data(1)), (50, part), (61, ack(2))]);
    assert_eq!(samples(&analysis), [(36.0, 1.0)]);
}

#[test]
fn the_fin_is_no_byte_of_a_segment() {
    let mut last = data(0);
    last.flags |= FIN;
    let mut all = ack(1);
    all.ack = all.ack.wrapping_add(1);
    assert_eq!(samples(&measured(vec![(20, last), (42, all)])), [(22.0, 1.0)]);
}

/// Karn's rule (RFC 6298 section 3): the ACK may be of either transmission.
#[test]
fn what_was_sent_again_gives_no_sample() {
    let analysis = measured(vec![
        (20, data(0)),
        (21, data(1)),
        (22, data(2)),
        (23, data(3)),
        (220, data(1)),
        (240, ack(3)),
        // Not sent again, and not held back by what was.
        (250, ack(4)),
    ]);
    assert_eq!(of_subflow(&analysis, "retransmissions"), 1.0);
    assert_eq!(samples(&analysis), [(227.0, 1.0)]);
    // Lost before the capture point, so that only its repair was seen: what waited behind it has no sample.
    let analysis = measured(vec![(20, data(0)), (22, data(2)), (40, ack(1)), (220, data(1)), (240, ack(3))]);
    assert_eq!(of_subflow(&analysis, "retransmissions"), 1.0);
    assert_eq!(samples(&analysis), [(20.0, 1.0)]);
}

/// A timestamp tells which transmission an ACK is of (RFC 7323 section 4.1).
#[test]
fn timestamps_tell_transmissions_apart() {
    let stamped = |packet: Tcp, value: u32, echo: u32| packet.options(&timestamps(value, echo));
    let with_echo = |echo: u32| {
        measured(vec![
            (20, stamped(data(0), 100, 1)),
            (21, stamped(data(1), 101, 1)),
            (220, stamped(data(0), 300, 1)),
            (245, stamped(ack(2), 9, echo)),
        ])
    };
    assert_eq!(samples(&with_echo(300)), [(25.0, 1.0)]);
    // Of the first transmission, which is not remembered, or of none.
    assert_eq!(samples(&with_echo(100)), []);
    assert_eq!(samples(&with_echo(7)), []);
    // Two within a tick of the clock are not told apart.
    let analysis = measured(vec![
        (20, stamped(data(0), 100, 1)),
        (21, stamped(data(1), 100, 1)),
        (220, stamped(data(0), 300, 1)),
        (221, stamped(data(1), 300, 1)),
        (245, stamped(ack(2), 9, 300)),
    ]);
    assert_eq!(samples(&analysis), []);
    // Nor is one whose clock has not moved on.
    let analysis = measured(vec![
        (20, stamped(data(0), 100, 1)),
        (25, stamped(data(0), 100, 1)),
        (45, stamped(ack(1), 9, 100)),
    ]);
    assert_eq!(samples(&analysis), []);
}

#[test]
fn a_capture_that_begins_in_the_middle_has_samples_from_its_first_segment_on() {
    let mut packets =
        vec![(20, data(0)), (25, data(1)), (30, ack(1)), (45, ack(2)), (50, data(2)), (90, ack(3))];
    packets.iter_mut().for_each(|(ms, _)| *ms = *ms * MS + 1_700_000_000_000 * MS);
    let analysis = analyzed(&[pcap(false, 1, RAW, 0, &ipv4(&packets))]);
    // The first ACK has nothing before it that would say whether it is new.
    assert_eq!(samples(&analysis), [(20.0, 1.0), (40.0, 1.0)]);
}

/// Times of two capture points are of two clocks.
#[test]
fn data_and_acks_of_different_points_are_not_compared() {
    let packets = after_handshake(vec![(20, data(0)), (45, ack(1)), (50, data(1)), (80, ack(2))]);
    let is_data = |packet: &Tcp| packet.from == CLIENT;
    let side = |wanted: bool| -> Vec<(u64, Tcp)> {
        packets.iter().filter(|(_, packet)| is_data(packet) == wanted).cloned().collect()
    };
    let file = |packets: &[(u64, Tcp)]| pcap(false, 1, RAW, 0, &ipv4(packets));
    let together = analyzed(&[file(&packets)]);
    assert_eq!(samples(&together), [(25.0, 1.0), (30.0, 1.0)]);
    let apart = analyzed(&[file(&side(true)), file(&side(false))]);
    assert_eq!(of_subflow(&apart, "acked_bytes"), 2000.0);
    assert_eq!(of_subflow(&apart, "rtt_samples"), 0.0);
    assert!(of_subflow(&apart, "rtt_mean_ms").is_nan());
}

/// The files of a rotated capture: no sample over the seam, all others.
#[test]
fn a_rotated_capture_goes_on() {
    let packets = after_handshake(
        (0..40u32)
            .flat_map(|n| [(20 + 40 * u64::from(n), data(n)), (45 + 40 * u64::from(n), ack(n + 1))])
            .collect(),
    );
    // The cut is between a segment and its ACK.
    let (first, second) = packets.split_at(3 + 2 * 20 + 1);
    let file = |packets: &[(u64, Tcp)]| pcap(false, 1, RAW, 0, &ipv4(packets));
    let analysis = analyzed(&[file(first), file(second)]);
    assert_eq!(of_subflow(&analysis, "acked_bytes"), 40_000.0);
    assert_eq!(samples(&analysis), [(25.0, 39.0)]);
}

#[test]
fn near_the_receiver_a_warning_says_what_is_measured() {
    // The handshake takes 10 ms from the client on; the capture is at the server, which answers at once.
    let packets: Vec<(u64, Tcp)> = vec![
        (0, tcp(CLIENT, SERVER, ISN, 0, SYN, 0)),
        (0, tcp(SERVER, CLIENT, PEER - 1, ISN.wrapping_add(1), SYN | ACK, 0)),
        (100, tcp(CLIENT, SERVER, ISN.wrapping_add(1), PEER, ACK, 0)),
        (110, data(0)),
        (111, ack(1)),
    ];
    let packets: Vec<_> =
        packets.into_iter().map(|(ms, packet)| ((ms + 1_700_000_000_000) * MS, packet)).collect();
    let analysis = analyzed(&[pcap(false, 1, RAW, 0, &ipv4(&packets))]);
    assert_eq!(samples(&analysis), [(1.0, 1.0)]);
    let warnings = &analysis.summary.warnings;
    assert!(warnings.iter().any(|warning| warning.contains("away from the sender")), "{warnings:?}");
}

/// Reordered segments in their interval.
#[test]
fn reordering_over_time() {
    let analysis = measured(vec![
        (20, data(0)),
        (1020, data(2)),
        (1021, data(1)),
        (1040, ack(3)),
        (2020, data(3)),
        (2500, data(3)),
        (2520, ack(4)),
    ]);
    assert_eq!(numbers(&analysis, "subflow_series", "reordered_packets"), [0.0, 1.0, 0.0]);
    assert_eq!(numbers(&analysis, "subflow_series", "retransmissions"), [0.0, 0.0, 1.0]);
}

/// A request of 100 bytes and its answer of 3000: both directions have data, and each its round-trip times.
#[test]
fn both_directions_are_measured() {
    let request = tcp(CLIENT, SERVER, ISN.wrapping_add(1), PEER, ACK, 100);
    let answer = |number: u32, payload: usize| {
        tcp(SERVER, CLIENT, PEER + 1000 * number, ISN.wrapping_add(101), ACK, payload)
    };
    let acks = |segments: u32| tcp(CLIENT, SERVER, ISN.wrapping_add(101), PEER + 1000 * segments, ACK, 0);
    let exchange = vec![
        (20, request.clone()),
        // The answer acknowledges the request.
        (55, answer(0, 1000)),
        (56, answer(1, 1000)),
        (59, acks(2)),
        (70, answer(2, 1000)),
        (72, acks(3)),
    ];
    let analysis = measured(exchange.clone());
    assert_eq!(texts(&analysis, "subflows", "data_from"), ["server"]);
    for table in ["subflows", "connections"] {
        let column = |name: &str| numbers(&analysis, table, name)[0];
        assert_eq!((column("rtt_samples"), column("rtt_min_ms"), column("rtt_max_ms")), (2.0, 2.0, 3.0));
        assert_eq!((column("rtt_mean_ms"), column("reverse_rtt_mean_ms")), (2.5, 35.0));
        assert_eq!((column("reverse_rtt_samples"), column("reverse_rtt_p50_ms")), (1.0, 35.0));
    }
    assert_eq!(numbers(&analysis, "subflow_series", "rtt_ms"), [2.5]);
    assert_eq!(numbers(&analysis, "subflow_series", "reverse_rtt_ms"), [35.0]);
    assert_eq!(texts(&analysis, "rtt_distribution", "data_from"), ["server", "server", "client"]);
    assert_eq!(samples(&analysis), [(2.0, 1.0), (3.0, 1.0), (35.0, 1.0)]);
    // Karn's rule holds for either direction.
    let mut again = exchange;
    again.insert(1, (40, request));
    let analysis = measured(again);
    assert_eq!(
        (of_subflow(&analysis, "rtt_samples"), of_subflow(&analysis, "reverse_rtt_samples")),
        (2.0, 0.0)
    );
    assert!(of_subflow(&analysis, "reverse_rtt_mean_ms").is_nan());
}
