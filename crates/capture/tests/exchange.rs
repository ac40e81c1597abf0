//! The exchange of one direction, packet by packet, of captures whose numbers are known.

use crate::common::*;
use anabranch_capture::{Exchange, exchanges};
use std::ops::ControlFlow;

const US: u64 = 1_000;
const BASE_NS: u64 = 1_700_000_000_000 * MS;
const MSS: u32 = 1000;

fn all(packets: &[(u64, Tcp)]) -> Vec<Exchange> {
    let folder = Folder::new();
    let path = folder.write("a.pcap", &pcap(false, 1, RAW, 0, &ipv4(packets)));
    exchanges(&path, &[], &mut || ControlFlow::Continue(())).expect("a capture").0
}

fn only(packets: &[(u64, Tcp)]) -> Exchange {
    let mut exchanges = all(packets);
    assert_eq!(exchanges.len(), 1);
    exchanges.remove(0)
}

/// Numbers as text, whose equality is not that of floating-point numbers.
fn milliseconds(seconds: &[f64]) -> Vec<i64> {
    seconds.iter().map(|value| if value.is_nan() { -1 } else { (value * 1e3).round() as i64 }).collect()
}

/// Opened with an MSS of 1000 bytes: SYN at 0, its answer 20 ms later, the ACK at once.
fn opened() -> Vec<(u64, Tcp)> {
    let mss = [2, 4, (MSS >> 8) as u8, MSS as u8];
    vec![
        (0, tcp(CLIENT, SERVER, 99, 0, SYN, 0).options(&mss)),
        (20_000, tcp(SERVER, CLIENT, 499, 100, SYN | ACK, 0).options(&mss)),
        (20_100, tcp(CLIENT, SERVER, 100, 500, ACK, 0)),
    ]
}

fn data(us: u64, segment: u32, segments: u32) -> (u64, Tcp) {
    (us, tcp(CLIENT, SERVER, 100 + MSS * segment, 500, ACK, (MSS * segments) as usize))
}

/// An ACK of all segments before one, with blocks from a segment to another.
fn ack(us: u64, before: u32, blocks: &[(u32, u32)]) -> (u64, Tcp) {
    let mut option = vec![5, (2 + 8 * blocks.len()) as u8];
    for &(from, to) in blocks {
        option.extend((100 + MSS * from).to_be_bytes());
        option.extend((100 + MSS * to).to_be_bytes());
    }
    let packet = tcp(SERVER, CLIENT, 500, 100 + MSS * before, ACK, 0);
    (us, if blocks.is_empty() { packet } else { packet.options(&option) })
}

fn timed(packets: Vec<(u64, Tcp)>) -> Vec<(u64, Tcp)> {
    packets.into_iter().map(|(us, packet)| (us * US + BASE_NS, packet)).collect()
}

#[test]
fn every_segment_of_a_plain_transfer_has_its_round_trip() {
    // Numbers wrap around in it.
    let exchange = only(&connection(0, CLIENT, 10));
    assert_eq!(exchange.ends, ["10.0.0.1:40000".to_owned(), "10.0.0.2:5001".to_owned()]);
    assert_eq!(milliseconds(&[exchange.handshake_s, exchange.completion_s]), [5, 5]);
    assert!(exchange.is_from_client && exchange.is_finished && !exchange.is_multipath);
    assert_eq!(exchange.segments.position, (0..10).map(|number| 1000 * number).collect::<Vec<i64>>());
    assert_eq!(exchange.segments.bytes, [1000; 10]);
    assert_eq!(exchange.segments.is_lost, [0; 10]);
    assert_eq!(exchange.acknowledgments.delivered_bytes.iter().sum::<i64>(), 10_000);
    let samples: Vec<i64> =
        milliseconds(&exchange.acknowledgments.rtt_s).into_iter().filter(|sample| *sample >= 0).collect();
    assert_eq!(samples, [5; 10]);
    assert_eq!(*exchange.acknowledgments.in_flight_bytes.last().expect("an ACK"), 0);
}

#[test]
fn selective_acknowledgments_deliver_once_and_a_loss_has_no_round_trip() {
    let mut packets = opened();
    packets.extend((0..5).map(|number| data(21_000 + 1000 * u64::from(number), number, 1)));
    // The second is lost: the others arrive, it is sent again at 50 ms and closes the hole.
    packets.push(ack(41_000, 1, &[]));
    packets.push(ack(43_000, 1, &[(2, 3)]));
    packets.push(ack(44_000, 1, &[(2, 4)]));
    packets.push(ack(45_000, 1, &[(2, 5)]));
    packets.push(data(50_000, 1, 1));
    packets.push(ack(70_000, 5, &[]));
    let exchange = only(&timed(packets));
    let acks = &exchange.acknowledgments;
    assert_eq!(acks.delivered_bytes, [1000, 1000, 1000, 1000, 1000]);
    // The last one is of what was sent twice (Karn).
    assert_eq!(milliseconds(&acks.rtt_s), [20, 20, 20, 20, -1]);
    assert_eq!(acks.in_flight_bytes, [4000, 3000, 2000, 1000, 0]);
    assert_eq!(exchange.segments.is_lost, [0, 1, 0, 0, 0, 0]);
    assert_eq!(exchange.segments.is_repeated, [0, 0, 0, 0, 0, 1]);
    assert_eq!((exchange.reordered, exchange.duplicates), (0, 0));
}

#[test]
fn what_comes_late_is_reordered_and_what_came_twice_was_not_lost() {
    let mut packets = opened();
    packets.extend((0..3).map(|number| data(21_000 + 1000 * u64::from(number), number, 1)));
    packets.push(ack(42_000, 0, &[(1, 2)]));
    packets.push(ack(43_000, 0, &[(1, 3)]));
    packets.push(data(43_500, 0, 1));
    // The first one arrives late, and the one sent again is a duplicate (RFC 2883).
    packets.push(ack(44_000, 3, &[]));
    packets.push(ack(63_500, 3, &[(0, 1)]));
    let exchange = only(&timed(packets));
    assert_eq!(exchange.duplicates, 1);
    assert_eq!(exchange.segments.is_lost, [0; 4]);

    let mut late = opened();
    late.extend((0..3).map(|number| data(21_000 + 1000 * u64::from(number), number, 1)));
    late.push(ack(42_000, 0, &[(1, 3)]));
    late.push(ack(44_000, 3, &[]));
    assert_eq!(only(&timed(late)).reordered, 1);
}

#[test]
fn super_segments_are_cut_at_the_mss() {
    let mut packets = opened();
    packets.push(data(21_000, 0, 3));
    packets.push((22_000, tcp(CLIENT, SERVER, 100 + 3 * MSS, 500, ACK, 2 * MSS as usize + 1)));
    packets.push(ack(42_000, 5, &[]));
    let exchange = only(&timed(packets));
    assert_eq!((exchange.mss_bytes, exchange.offloaded), (1000, 2));
    assert_eq!(exchange.segments.bytes, [1000, 1000, 1000, 1000, 1000, 1]);
    assert_eq!(exchange.segments.position, [0, 1000, 2000, 3000, 4000, 5000]);
}

#[test]
fn clocks_that_step_are_counted_and_windows_are_scaled() {
    let scaled = |scale: u8| [3, 3, scale];
    let mut packets = opened();
    packets[0].1 = packets[0].1.clone().options(&scaled(2));
    packets[1].1 = packets[1].1.clone().options(&scaled(7));
    packets.extend((0..4).map(|number| data(21_000 + 1000 * u64::from(number), number, 1)));
    let (us, answer) = ack(41_000, 2, &[]);
    packets.push((us, answer.window(100)));
    packets.push(ack(20_500, 4, &[]));
    let exchange = only(&timed(packets));
    assert_eq!(exchange.clock_steps, 1);
    // The window of the one that sends ACKs, by its own scale (RFC 7323 section 2.2).
    assert_eq!(exchange.acknowledgments.window_bytes[0], 100 << 7);
}

#[test]
fn flows_of_the_same_ends_are_told_apart() {
    let mut packets = connection(0, CLIENT, 10);
    let again = connection(5_000, CLIENT, 20).into_iter().map(|(ns, mut packet)| {
        let shift = 123_456_789;
        if packet.from == CLIENT {
            packet.seq = packet.seq.wrapping_add(shift);
        } else {
            packet.ack = packet.ack.wrapping_add(shift);
        }
        (ns, packet)
    });
    packets.extend(again);
    let exchanges = all(&packets);
    let segments: Vec<usize> = exchanges.iter().map(|exchange| exchange.segments.bytes.len()).collect();
    // Those with most data first.
    assert_eq!(segments, [20, 10]);
}
