//! Over which time a connection is measured, what is left where one direction was captured alone, and segments that are
//! no data.

use crate::common::*;
use anabranch_capture::Analysis;

const US: u64 = 1_000;

fn file(packets: &[(u64, Tcp)]) -> Vec<u8> {
    let timed: Vec<_> = packets.iter().map(|(us, packet)| (us * US, packet.clone())).collect();
    pcap(false, 1000, RAW, 0, &ipv4(&timed))
}

fn sorted(parts: &[Vec<(u64, Tcp)>]) -> Vec<(u64, Tcp)> {
    let mut all = parts.concat();
    all.sort_by_key(|packet| packet.0);
    all
}

fn column(analysis: &Analysis, name: &str) -> Vec<f64> {
    numbers(analysis, "connections", name)
}

/// A download: a request of 86 bytes, then `segments` of 1448 bytes, one each 50 ms from 40 ms on, each acknowledged 20 ms
/// later. The client closes its direction behind the request, if `is_half_closed`; the server its own at the end.
fn download(client_port: u16, begin_us: u64, segments: u32, is_half_closed: bool) -> Vec<(u64, Tcp)> {
    let client = (CLIENT.0, client_port);
    let half = u32::from(is_half_closed);
    let mut packets = vec![
        (0, tcp(client, SERVER, 99, 0, SYN, 0)),
        (20_000, tcp(SERVER, client, 499, 100, SYN | ACK, 0)),
        (20_100, tcp(client, SERVER, 100, 500, ACK, 0)),
        (20_200, tcp(client, SERVER, 100, 500, ACK, 86)),
    ];
    if is_half_closed {
        packets.push((20_300, tcp(client, SERVER, 186, 500, FIN | ACK, 0)));
    }
    for number in 0..segments {
        let at_us = 40_000 + 50_000 * u64::from(number);
        let seq = 500 + 1448 * number;
        packets.push((at_us, tcp(SERVER, client, seq, 186 + half, ACK, 1448)));
        packets.push((at_us + 20_000, tcp(client, SERVER, 186 + half, seq + 1448, ACK, 0)));
    }
    let (end_us, end) = (40_000 + 50_000 * u64::from(segments), 500 + 1448 * segments);
    packets.push((end_us, tcp(SERVER, client, end, 186 + half, FIN | ACK, 0)));
    packets.push((end_us + 20_000, tcp(client, SERVER, 186 + half, end + 1, ACK, 0)));
    packets.into_iter().map(|(us, packet)| (us + begin_us, packet)).collect()
}

/// 1448 bytes each 50 ms.
const MBPS: f64 = 1448.0 * 8.0 / 1e6 / 0.05;

#[test]
fn a_half_close_changes_nothing() {
    for is_half_closed in [false, true] {
        let analysis = analyzed(&[file(&download(40_000, 0, 60, is_half_closed))]);
        assert!((column(&analysis, "throughput_mbps")[0] - MBPS).abs() < 1e-9, "{is_half_closed}");
        assert_eq!(column(&analysis, "measured_bytes"), [59.0 * 1448.0]);
        // The window ends with the FIN of the sender of the data.
        assert_eq!((analysis.summary.t1_s, analysis.summary.t2_s), (Some(0.0201), Some(3.04)));
        let mbps = 60.0 * 1448.0 * 8.0 / 1e6 / (3.04 - 0.0201);
        assert!((column(&analysis, "window_throughput_mbps")[0] - mbps).abs() < 1e-9);
        assert!(!analysis.summary.warnings.iter().any(|line| line.contains("steady")));
    }
}

/// Short neighbours at any time, closed, reset or half-closed, change neither a long connection's figures nor the window.
#[test]
fn a_short_neighbour_changes_nothing() {
    let long = download(40_000, 0, 60, false);
    let alone = analyzed(&[file(&long)]);
    for begin_us in [1_000, 700_000, 2_900_000] {
        for (is_half_closed, is_reset) in [(false, false), (true, false), (false, true)] {
            let mut short = download(41_000, begin_us, 2, is_half_closed);
            if is_reset {
                short.truncate(short.len() - 2);
                let (last_us, last) = short.last().expect("packets").clone();
                short.push((last_us + 1, tcp(last.from, last.to, last.seq, last.ack, RST | ACK, 0)));
            }
            let both = analyzed(&[file(&sorted(&[long.clone(), short]))]);
            for name in ["throughput_mbps", "measured_from_s", "measured_until_s", "window_throughput_mbps"] {
                assert_eq!(column(&both, name)[0], column(&alone, name)[0], "{name} at {begin_us}");
            }
            assert_eq!(both.summary.t2_s, alone.summary.t2_s);
            assert_eq!(both.summary.lasting, 1);
            let mbps = column(&both, "throughput_mbps")[1];
            assert!((mbps - MBPS).abs() < 1e-9, "{mbps}");
        }
    }
}

/// Two connections of the experiment: the first end of the data of either is T2, by a FIN or by a reset.
#[test]
fn the_window_ends_with_the_first_end_of_data() {
    let long = download(40_000, 0, 60, false);
    let mut other = download(41_000, 10_000, 40, true);
    let both = analyzed(&[file(&sorted(&[long.clone(), other.clone()]))]);
    assert_eq!((both.summary.t1_s, both.summary.t2_s), (Some(0.0301), Some(2.05)));
    assert_eq!(both.summary.lasting, 2);
    other.truncate(other.len() - 2);
    other.push((2_040_000, tcp(SERVER, (CLIENT.0, 41_000), 500 + 1448 * 40, 187, RST, 0)));
    let reset = analyzed(&[file(&sorted(&[long, other]))]);
    assert_eq!(reset.summary.t2_s, Some(2.04));
}

/// A single flight: from a round trip before the first ACK to the last, and everything counts. It is the same at the sender and at the
/// receiver, where the handshake alone tells the round trip.
#[test]
fn a_single_flight_is_measured_with_its_round_trip() {
    for way_us in [0, 10_000] {
        let mut packets = vec![
            (way_us, tcp(CLIENT, SERVER, 99, 0, SYN, 0)),
            (20_000 - way_us, tcp(SERVER, CLIENT, 499, 100, SYN | ACK, 0)),
            (20_000 + way_us, tcp(CLIENT, SERVER, 100, 500, ACK, 0)),
        ];
        for number in 0..10 {
            let at_us = 30_000 + 10 * u64::from(number);
            packets.push((at_us + way_us, tcp(CLIENT, SERVER, 100 + 1000 * number, 500, ACK, 1000)));
            packets.push((at_us + 20_000 - way_us, tcp(SERVER, CLIENT, 500, 1100 + 1000 * number, ACK, 0)));
        }
        packets.sort_by_key(|packet| packet.0);
        let analysis = analyzed(&[file(&packets)]);
        assert_eq!(column(&analysis, "measured_bytes"), [10_000.0]);
        let mbps = 10_000.0 * 8.0 / 1e6 / 0.02009;
        assert!((column(&analysis, "throughput_mbps")[0] - mbps).abs() < 1e-9, "{way_us}");
    }
}

/// What one direction says alone: the ACKs, throughput; the data, the rate of what is new.
#[test]
fn one_direction_shows_what_it_can() {
    let all = download(40_000, 0, 60, false);
    let from = |end: ([u8; 4], u16)| -> Vec<_> {
        all.iter().filter(|packet| packet.1.from == end).cloned().collect()
    };
    let acks = analyzed(&[file(&from(CLIENT)[..])]);
    // The request is all data that was captured, and far less than what the ACKs are of.
    assert_eq!(texts(&acks, "connections", "data_from"), ["server"]);
    assert_eq!(column(&acks, "acked_bytes"), [86_880.0]);
    assert!((column(&acks, "throughput_mbps")[0] - MBPS).abs() < 1e-9);
    let only_acks: Vec<_> = from(CLIENT).into_iter().filter(|packet| packet.1.payload == 0).collect();
    let acks = analyzed(&[file(&only_acks)]);
    assert_eq!(column(&acks, "acked_bytes"), [86_880.0]);
    assert!((column(&acks, "throughput_mbps")[0] - MBPS).abs() < 1e-9);
    for unknown in ["retransmissions", "reordered_packets", "data_packets", "missing_bytes"] {
        assert!(column(&acks, unknown)[0].is_nan(), "{unknown}");
    }
    assert!(acks.summary.warnings.iter().any(|line| line.contains("1 of 1 subflows of which only the ACKs")));
    let data = analyzed(&[file(&from(SERVER))]);
    assert!(column(&data, "throughput_mbps")[0].is_nan());
    assert!((column(&data, "sent_mbps")[0] - MBPS).abs() < 1e-9);
    assert!(data.summary.warnings.iter().any(|line| line.contains("1 of 1 subflows of which only the data")));
    assert!(column(&analyzed(&[file(&all)]), "sent_mbps")[0].is_nan());
}

fn probes(packets: &[(u64, Tcp)]) -> [f64; 5] {
    let analysis = analyzed(&[file(packets)]);
    ["keep_alives", "zero_window_probes", "retransmissions", "data_packets", "missing_bytes"]
        .map(|name| numbers(&analysis, "subflows", name)[0])
}

/// A handshake, and three segments of 1000 bytes that are acknowledged; the last ACK has this window.
fn three_segments(window: u16) -> Vec<(u64, Tcp)> {
    let mut packets = vec![
        (0, tcp(CLIENT, SERVER, 99, 0, SYN, 0)),
        (20_000, tcp(SERVER, CLIENT, 499, 100, SYN | ACK, 0)),
        (20_100, tcp(CLIENT, SERVER, 100, 500, ACK, 0)),
    ];
    for number in 0..3 {
        let at_us = 30_000 + 30_000 * u64::from(number);
        packets.push((at_us, tcp(CLIENT, SERVER, 100 + 1000 * number, 500, ACK, 1000)));
        let window = if number == 2 { window } else { u16::MAX };
        packets.push((at_us + 20_000, tcp(SERVER, CLIENT, 500, 1100 + 1000 * number, ACK, 0).window(window)));
    }
    packets
}

/// RFC 9293 section 3.8.4: the number before the next one, with a byte or without, of either end.
#[test]
fn keep_alives_are_no_retransmissions() {
    for payload in [0, 1] {
        let mut packets = three_segments(u16::MAX);
        for number in 0..5 {
            let at_us = 10_000_000 * (number + 1);
            packets.push((at_us, tcp(CLIENT, SERVER, 3099, 500, ACK, payload)));
            packets.push((at_us + 20_000, tcp(SERVER, CLIENT, 500, 3100, ACK, 0)));
        }
        assert_eq!(probes(&packets), [5.0, 0.0, 0.0, 3.0, 0.0], "{payload}");
        // The server's, which has sent no data.
        packets.push((90_000_000, tcp(SERVER, CLIENT, 499, 3100, ACK, 0)));
        packets.insert(5, (35_000, tcp(SERVER, CLIENT, 500, 1100, ACK, 0)));
        assert_eq!(probes(&packets)[..3], [6.0, 0.0, 0.0]);
    }
    // A last byte that was sent alone, and is not acknowledged, is sent again.
    let mut packets = three_segments(u16::MAX);
    packets.push((200_000, tcp(CLIENT, SERVER, 3100, 500, ACK, 1)));
    packets.push((500_000, tcp(CLIENT, SERVER, 3100, 500, ACK, 1)));
    packets.push((520_000, tcp(SERVER, CLIENT, 500, 3101, ACK, 0)));
    assert_eq!(probes(&packets), [0.0, 0.0, 1.0, 5.0, 0.0]);
}

/// RFC 9293 section 3.8.6.1: a new byte again and again, which is taken or not; or, as Linux, the number before it.
#[test]
fn probes_of_a_closed_window_are_no_retransmissions() {
    for (seq, payload) in [(3100, 1), (3099, 0), (3099, 1)] {
        for is_taken in [false, true] {
            let mut packets = three_segments(0);
            for number in 0..4 {
                let at_us = 1_000_000 * (number + 1);
                packets.push((at_us, tcp(CLIENT, SERVER, seq, 500, ACK, payload)));
                packets.push((at_us + 20_000, tcp(SERVER, CLIENT, 500, 3100, ACK, 0).window(0)));
            }
            let next = if is_taken && seq == 3100 { 3101 } else { 3100 };
            packets.push((6_000_000, tcp(SERVER, CLIENT, 500, next, ACK, 0).window(5000)));
            packets.push((6_030_000, tcp(CLIENT, SERVER, next, 500, ACK, 1000)));
            packets.push((6_050_000, tcp(SERVER, CLIENT, 500, next + 1000, ACK, 0)));
            assert_eq!(probes(&packets), [0.0, 4.0, 0.0, 4.0, 0.0], "{seq} {payload} {is_taken}");
        }
    }
}
