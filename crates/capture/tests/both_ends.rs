//! Captures of one connection at both ends: whatever one of them gives, both together give.

use crate::common::*;
use anabranch_capture::Analysis;

const ISN: u32 = 5000;
const PEER: u32 = 90_000;
const WAY_MS: u64 = 20;

/// A connection at its two ends, 20 ms apart: 200 segments of 1000 bytes, of which each 17th is lost on the way and sent
/// again 60 ms later; of the ACKs, each 13th is lost.
fn both_ends() -> [Vec<(u64, Tcp)>; 2] {
    let mut ends: [Vec<(u64, Tcp)>; 2] = Default::default();
    let mut pass = |from: usize, at_ms: u64, arrives: bool, packet: Tcp| {
        ends[from].push((at_ms, packet.clone()));
        if arrives {
            ends[1 - from].push((at_ms + WAY_MS, packet));
        }
    };
    pass(0, 0, true, tcp(CLIENT, SERVER, ISN - 1, 0, SYN, 0));
    pass(1, WAY_MS, true, tcp(SERVER, CLIENT, PEER - 1, ISN, SYN | ACK, 0));
    pass(0, 2 * WAY_MS, true, tcp(CLIENT, SERVER, ISN, PEER, ACK, 0));
    let data = |number: u64| tcp(CLIENT, SERVER, ISN + 1000 * number as u32, PEER, ACK, 1000);
    // (arrival at the server, number)
    let mut arrivals: Vec<(u64, u64)> = Vec::new();
    for number in 0..200 {
        let at_ms = 50 + 10 * number;
        let is_lost = number % 17 == 5;
        pass(0, at_ms, !is_lost, data(number));
        if is_lost {
            pass(0, at_ms + 61, true, data(number));
        }
        arrivals.push((at_ms + WAY_MS + if is_lost { 61 } else { 0 }, number));
    }
    arrivals.sort_unstable();
    let mut is_there = [false; 201];
    for (count, (at_ms, number)) in arrivals.into_iter().enumerate() {
        is_there[number as usize] = true;
        let next = is_there.iter().position(|is_there| !is_there).expect("the last one never comes");
        pass(1, at_ms, count % 13 != 7, tcp(SERVER, CLIENT, PEER, ISN + 1000 * next as u32, ACK, 0));
    }
    let end = ISN + 200_000;
    pass(0, 2200, true, tcp(CLIENT, SERVER, end, PEER, FIN | ACK, 0));
    pass(1, 2220, true, tcp(SERVER, CLIENT, PEER, end + 1, FIN | ACK, 0));
    pass(0, 2240, true, tcp(CLIENT, SERVER, end + 1, PEER + 1, ACK, 0));
    for packets in &mut ends {
        packets.sort_by_key(|packet| packet.0);
        packets.iter_mut().for_each(|packet| packet.0 = packet.0 * MS + 1_700_000_000_000 * MS);
    }
    ends
}

fn file(packets: &[(u64, Tcp)]) -> Vec<u8> {
    pcap(false, 1, RAW, 0, &ipv4(packets))
}

/// By another clock.
fn by_clock(packets: &[(u64, Tcp)], later_ms: i64) -> Vec<(u64, Tcp)> {
    packets
        .iter()
        .map(|(ns, packet)| (ns.wrapping_add_signed(later_ms * MS as i64), packet.clone()))
        .collect()
}

/// The share of a capture that its file has.
fn part(packets: &[(u64, Tcp)], per_cent: usize) -> &[(u64, Tcp)] {
    &packets[..packets.len() * per_cent / 100]
}

/// All samples of round-trip times, and what is said of them.
const ROUND_TRIPS: [&str; 8] = [
    "rtt_samples",
    "rtt_min_ms",
    "rtt_mean_ms",
    "rtt_p50_ms",
    "rtt_p90_ms",
    "rtt_p95_ms",
    "rtt_p99_ms",
    "rtt_max_ms",
];
const COUNTS: [&str; 5] =
    ["acked_bytes", "data_packets", "retransmissions", "reverse_acked_bytes", "window_acked_bytes"];
const TIMES: [&str; 4] = ["established_s", "fin_s", "throughput_mbps", "window_throughput_mbps"];

fn check(sender: &Analysis, both: &Analysis, what: &str) {
    for table in ["connections", "subflows"] {
        let pair = |column: &str| (numbers(sender, table, column)[0], numbers(both, table, column)[0]);
        for column in ROUND_TRIPS {
            let (alone, together) = pair(column);
            assert_eq!(alone, together, "{what}: {table}.{column}");
        }
        for column in COUNTS {
            let (alone, together) = pair(column);
            assert!(alone <= together, "{what}: {table}.{column} {alone} > {together}");
        }
        for column in TIMES {
            let (alone, together) = pair(column);
            assert!(alone.is_nan() || !together.is_nan(), "{what}: {table}.{column}");
        }
    }
    let series = |analysis: &Analysis| -> Vec<f64> {
        let all = numbers(analysis, "subflow_series", "rtt_ms");
        all.into_iter().filter(|rtt_ms| !rtt_ms.is_nan()).collect()
    };
    assert_eq!(series(sender).len(), series(both).len(), "{what}: series");
}

#[test]
fn a_second_file_takes_nothing_away() {
    let [sender, receiver] = both_ends();
    let alone = analyzed(&[file(&sender)]);
    assert!(numbers(&alone, "subflows", "rtt_samples")[0] > 100.0);
    assert!(numbers(&alone, "subflows", "rtt_min_ms")[0] >= 40.0);
    for later_ms in [0, -7, 7, -60_000, 60_000] {
        let receiver = by_clock(&receiver, later_ms);
        for of_sender in [100, 99, 90, 50, 10] {
            for of_receiver in [100, 99, 90, 50, 10] {
                let files = [file(part(&sender, of_sender)), file(part(&receiver, of_receiver))];
                let alone = analyzed(&files[..1]);
                let what = format!("{of_sender} %, {of_receiver} %, {later_ms} ms");
                check(&alone, &analyzed(&files), &what);
                check(&alone, &analyzed(&[files[1].clone(), files[0].clone()]), &format!("{what}, turned"));
            }
        }
    }
}

#[test]
fn round_trips_are_those_of_the_sender_of_each_direction() {
    let [sender, receiver] = both_ends();
    let both = analyzed(&[file(&receiver), file(&sender)]);
    assert_eq!(texts(&both, "subflows", "rtt_at"), ["1:0"]);
    assert_eq!(texts(&both, "subflows", "data_at"), ["1:0"]);
    // The receiver's capture alone has times near zero, and says so.
    let near = analyzed(&[file(&receiver)]);
    assert_eq!(numbers(&near, "subflows", "rtt_max_ms"), [0.0]);
    assert!(near.summary.warnings.iter().any(|line| line.contains("away from the sender")));
    assert!(both.summary.warnings.iter().all(|line| !line.contains("away from the sender")));
}

/// Interfaces of one file, as `mergecap` puts the captures of two hosts together.
#[test]
fn both_ends_in_one_file() {
    let [sender, receiver] = both_ends();
    let mut packets: Vec<(u32, u64, Vec<u8>)> = Vec::new();
    for (number, end) in [&receiver, &sender].into_iter().enumerate() {
        packets.extend(ipv4(end).into_iter().map(|(ns, packet)| (number as u32, ns, packet)));
    }
    packets.sort_by_key(|packet| packet.1);
    let mut bytes = [section(false), interface(false, RAW, &[]), interface(false, RAW, &[])].concat();
    for (number, ns, packet) in &packets {
        bytes.extend(enhanced(false, *number, ns / 1000, packet));
    }
    check(&analyzed(&[file(&sender)]), &analyzed(&[bytes]), "merged");
}

/// Where another clock saw more of the ACKs, the data's own clock is kept, and that some are left out is said.
#[test]
fn a_clock_that_is_another_is_told() {
    let [sender, receiver] = both_ends();
    let sender = part(&sender, 99);
    let warnings = |later_ms: i64| {
        let both = analyzed(&[file(sender), file(&by_clock(&receiver, later_ms))]);
        let is_told = both.summary.warnings.iter().any(|line| line.contains("another clock"));
        (is_told, numbers(&both, "subflows", "fin_s")[0].is_nan())
    };
    assert_eq!(warnings(0), (false, false));
    assert_eq!(warnings(60_000), (true, true));
    assert_eq!(warnings(-60_000), (true, true));
}

/// Where no place saw both directions, there is no round-trip time, and this is said.
#[test]
fn directions_of_two_clocks_have_no_round_trip_time() {
    let [sender, receiver] = both_ends();
    let from = |packets: &[(u64, Tcp)], end: ([u8; 4], u16)| -> Vec<(u64, Tcp)> {
        packets.iter().filter(|(_, packet)| packet.from == end).cloned().collect()
    };
    // The times of what one file has are moved to the clock of the other one, whatever that is.
    let ways = [from(&sender, CLIENT), from(&receiver, SERVER)];
    let mbps = |files: &[Vec<u8>]| numbers(&analyzed(files), "subflows", "throughput_mbps")[0];
    let right = mbps(&[file(&ways[0]), file(&ways[1])]);
    assert!((right - mbps(&[file(&sender)])).abs() < 0.03 * right);
    for later_ms in [-60_000, -500, 500, 5_000, 60_000] {
        let files = [file(&ways[0]), file(&by_clock(&ways[1], later_ms))];
        for files in [files.clone(), [files[1].clone(), files[0].clone()]] {
            let moved = analyzed(&files);
            assert!((mbps(&files) - right).abs() < 0.02 * right, "{later_ms}: {} {right}", mbps(&files));
            let by = later_ms.unsigned_abs() as f64 / 1e3;
            let moved_s = moved.summary.warnings.iter().find(|line| line.contains("its times are moved"));
            let moved_s = moved_s.and_then(|line| line.split(' ').nth(4)?.parse::<f64>().ok()).expect("told");
            assert!((moved_s - by).abs() <= 0.02, "{later_ms}: {moved_s}");
        }
    }
    // The ACKs alone: what the client has sent, and what the server has.
    let acks = analyzed(&[file(&ways[1])]);
    assert_eq!(texts(&acks, "subflows", "data_from"), ["client"]);
    assert_eq!(numbers(&acks, "subflows", "acked_bytes"), [200_000.0]);
    assert!(acks.summary.warnings.iter().any(|line| line.contains("only the ACKs were captured")));
    // Without a handshake nothing tells: no throughput, and it is said.
    let later = |packets: &[(u64, Tcp)], ms: i64| file(&by_clock(&packets[2..], ms));
    let unknown = analyzed(&[later(&ways[0], 0), later(&ways[1], 5_000)]);
    assert!(numbers(&unknown, "subflows", "throughput_mbps")[0].is_nan());
    assert!(unknown.summary.warnings.iter().any(|line| line.contains("another clock")));
    let both = analyzed(&[file(&ways[0]), file(&ways[1])]);
    assert!(both.summary.warnings.iter().all(|line| !line.contains("clock is")));
    assert_eq!(numbers(&both, "subflows", "rtt_samples"), [0.0]);
    assert!(numbers(&both, "subflows", "rtt_mean_ms")[0].is_nan());
    assert!(both.summary.warnings.iter().any(|line| line.contains("no round-trip times")));
}
