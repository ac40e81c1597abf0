//! Several capture points and files: each packet counts once.

use crate::common::*;

/// A packet of a device of "any" (SLL2): device, and whether it leaves.
fn cooked(packets: &[(u64, Tcp)], device: u8, outgoing: bool, later_ns: u64) -> Vec<Timed> {
    let kind = if outgoing { 4 } else { 0 };
    let header = [8, 0, 0, 0, 0, 0, 0, device, 0, 1, kind, 6, 1, 2, 3, 4, 5, 6, 0, 0];
    packets.iter().map(|(ns, packet)| (ns + later_ns, [&header[..], &packet.ipv4()].concat())).collect()
}

fn file(packets: &[(u64, Tcp)]) -> Vec<u8> {
    pcap(false, 1000, RAW, 0, &ipv4(packets))
}

fn later(packets: &[(u64, Tcp)], ns: u64) -> Vec<(u64, Tcp)> {
    packets.iter().map(|(at, packet)| (at + ns, packet.clone())).collect()
}

/// 100 segments of 1000 bytes.
fn whole() -> Vec<(u64, Tcp)> {
    connection(0, CLIENT, 100)
}

fn check_counts(analysis: &anabranch_capture::Analysis, what: &str) {
    assert_eq!(numbers(analysis, "subflows", "subflow"), [0.0], "{what}");
    assert_eq!(numbers(analysis, "subflows", "acked_bytes"), [100_000.0], "{what}");
    assert_eq!(numbers(analysis, "subflows", "data_packets"), [100.0], "{what}");
    assert_eq!(numbers(analysis, "subflows", "retransmissions"), [0.0], "{what}");
}

fn check_once(files: &[Vec<u8>], what: &str) -> anabranch_capture::Analysis {
    let analysis = analyzed(files);
    check_counts(&analysis, what);
    assert!(analysis.summary.warnings.is_empty(), "{what}: {:?}", analysis.summary.warnings);
    analysis
}

#[test]
fn two_points_on_one_path() {
    check_once(&[file(&whole()), file(&later(&whole(), 3 * MS))], "3 ms apart");
    check_once(&[file(&whole()), file(&whole())], "the same file twice");
    // Clocks of two hosts that differ by more than the whole connection took.
    check_once(&[file(&whole()), file(&later(&whole(), 60_000 * MS))], "a minute apart");
    check_once(&[file(&later(&whole(), 60_000 * MS)), file(&whole())], "a minute apart, the other way");
}

#[test]
fn the_point_that_saw_most_counts() {
    // The first point lost every tenth packet, its ACKs among them.
    let mut few = whole();
    let mut index = 0;
    few.retain(|_| {
        index += 1;
        index % 10 != 0
    });
    let analysis = check_once(&[file(&few), file(&later(&whole(), MS))], "a lossy point");
    assert_eq!(texts(&analysis, "subflows", "data_at"), ["1:0"]);
}

#[test]
fn a_forwarded_packet_is_seen_twice_by_any() {
    let mut packets = cooked(&whole(), 2, false, 0);
    packets.extend(cooked(&whole(), 3, true, 20_000));
    packets.sort_by_key(|packet| packet.0);
    check_once(&[pcap(false, 1000, 276, 0, &packets)], "SLL2");
    // Loopback: the same device, out and in.
    let mut packets = cooked(&whole(), 1, true, 0);
    packets.extend(cooked(&whole(), 1, false, 1000));
    packets.sort_by_key(|packet| packet.0);
    check_once(&[pcap(false, 1000, 276, 0, &packets)], "loopback");
}

#[test]
fn a_rotated_capture_is_one() {
    let packets = whole();
    let files: Vec<Vec<u8>> = packets.chunks(40).map(file).collect();
    assert_eq!(files.len(), 6);
    let analysis = check_once(&files, "six files");
    assert_eq!((analysis.summary.t1_s, analysis.summary.t2_s), (Some(0.01), Some(1.02)));
    // In any order, and with another point on the same path, whose files were rotated elsewhere.
    let mut more: Vec<Vec<u8>> = files.iter().rev().cloned().collect();
    more.extend(later(&packets, MS).chunks(70).map(file));
    check_once(&more, "two rotated points");
}

#[test]
fn disjoint_points_are_summed_if_asked() {
    // Packets take turns on two paths, ACKs with them: no point sees them all.
    let (mut even, mut odd) = (Vec::new(), Vec::new());
    for (index, packet) in whole().into_iter().enumerate() {
        if index / 2 % 2 == 0 { even.push(packet) } else { odd.push(packet) }
    }
    let files = [file(&even), file(&odd)];
    let mut options = options();
    options.disjoint = true;
    let analysis = analyze_all(&files, &options).expect("captures");
    assert_eq!(numbers(&analysis, "subflows", "data_packets"), [100.0]);
    assert_eq!(numbers(&analysis, "subflows", "missing_bytes"), [0.0]);
    assert!(analysis.summary.warnings.is_empty(), "{:?}", analysis.summary.warnings);
    // Otherwise one of the points is read, and that it lacks bytes is said, with the remedy.
    let analysis = analyzed(&files);
    assert!(numbers(&analysis, "subflows", "missing_bytes")[0] > 40_000.0);
    assert!(analysis.summary.warnings.iter().any(|line| line.contains("--disjoint")));
}

#[test]
fn asymmetric_paths_have_data_here_and_acks_there() {
    let (data, acks): (Vec<_>, Vec<_>) = whole().into_iter().partition(|(_, packet)| packet.from == CLIENT);
    let analysis = analyzed(&[file(&data), file(&acks)]);
    check_counts(&analysis, "asymmetric");
    assert_eq!(analysis.summary.warnings.len(), 1, "{:?}", analysis.summary.warnings);
    assert!(analysis.summary.warnings[0].contains("no round-trip times"));
    assert_eq!(texts(&analysis, "subflows", "data_at"), ["0:0"]);
    assert_eq!(texts(&analysis, "subflows", "acks_at"), ["1:0"]);
    // One direction alone has no throughput, and is no zero.
    let analysis = analyzed(&[file(&data)]);
    assert!(numbers(&analysis, "connections", "throughput_mbps")[0].is_nan());
    assert!(analysis.summary.warnings.iter().any(|line| line.contains("no throughput")));
}

#[test]
fn ports_that_are_used_again_are_another_connection() {
    let mut again = connection(5000, CLIENT, 50);
    for (_, packet) in &mut again {
        // Another initial sequence number.
        if packet.from == CLIENT {
            packet.seq = packet.seq.wrapping_add(1 << 20);
        } else {
            packet.ack = packet.ack.wrapping_add(1 << 20);
        }
    }
    let packets = [whole(), again].concat();
    for files in [vec![file(&packets)], vec![file(&packets), file(&later(&packets, MS))]] {
        let analysis = analyzed(&files);
        assert_eq!(numbers(&analysis, "connections", "acked_bytes"), [100_000.0, 50_000.0]);
    }
}
