//! Copies of packets at one capture point, which are no retransmissions, and retransmissions, which are no copies.

use crate::common::*;

const US: u64 = 1_000;
const WAY_US: u64 = 10_000;

/// A transfer of 40 segments of 1000 bytes, seen at its sender, with a round trip of 20 ms: the 11th and the 21st segment
/// are sent again 30 ms later. Identifications count up from `id`, one for each packet of either end, or are 0.
fn transfer(id: Option<u16>) -> Vec<(u64, Tcp)> {
    let mut packets = vec![
        (0, tcp(CLIENT, SERVER, 99, 0, SYN, 0)),
        (2 * WAY_US, tcp(SERVER, CLIENT, 499, 100, SYN | ACK, 0)),
        (2 * WAY_US + 100, tcp(CLIENT, SERVER, 100, 500, ACK, 0)),
    ];
    for number in 0..40u32 {
        let at_us = 30_000 + 25_000 * u64::from(number);
        let data = tcp(CLIENT, SERVER, 100 + 1000 * number, 500, ACK, 1000);
        let mut ack_us = at_us + 2 * WAY_US;
        packets.push((at_us, data.clone()));
        if number % 10 == 0 && (1..3).contains(&(number / 10)) {
            packets.push((at_us + 30_000, data));
            ack_us += 30_000;
        }
        packets.push((ack_us, tcp(SERVER, CLIENT, 500, 1100 + 1000 * number, ACK, 0)));
    }
    packets.sort_by_key(|packet| packet.0);
    let stamped = packets.into_iter().zip(0..).map(|((us, packet), number)| {
        let packet = packet.id(id.map_or(0, |id: u16| id.wrapping_add(number)));
        (us * US + 1_700_000_000_000 * MS, packet)
    });
    stamped.collect()
}

/// Each packet `times`, so far apart.
fn repeated(packets: &[Timed], times: u64, apart_ns: u64) -> Vec<Timed> {
    let copies = packets
        .iter()
        .flat_map(|(ns, packet)| (0..times).map(move |number| (ns + number * apart_ns, packet.clone())));
    let mut all: Vec<Timed> = copies.collect();
    all.sort_by_key(|packet| packet.0);
    all
}

/// Retransmissions, samples of round-trip times, median of these, copies.
fn seen(link_type: u16, packets: &[Timed]) -> [f64; 4] {
    let analysis = analyzed(&[pcap(false, 1, link_type, 0, packets)]);
    let copies = numbers(&analysis, "subflows", "copies")[0];
    let is_told = analysis.summary.warnings.iter().any(|line| line.contains("copies of packets"));
    assert_eq!(is_told, copies > 0.0, "{:?}", analysis.summary.warnings);
    let [retransmissions, samples, median] = ["retransmissions", "rtt_samples", "rtt_p50_ms"]
        .map(|column| numbers(&analysis, "subflows", column)[0]);
    [retransmissions, samples, median, copies]
}

#[test]
fn copies_are_left_out_by_their_identification() {
    let plain = ipv4(&transfer(Some(1)));
    let alone = seen(RAW, &plain);
    assert_eq!((alone[0], alone[3]), (2.0, 0.0));
    assert!(alone[1] > 30.0);
    for (times, apart_ns) in [(2, 0), (2, 5 * US), (4, 2 * US), (2, 3_000 * US), (2, 90_000 * US)] {
        let [retransmissions, samples, median, copies] = seen(RAW, &repeated(&plain, times, apart_ns));
        assert_eq!([retransmissions, samples], [2.0, alone[1]], "{times} at {apart_ns} ns");
        assert!((median - alone[2]).abs() < 0.02 * alone[2], "{median}");
        assert_eq!(copies, (plain.len() as u64 * (times - 1)) as f64);
    }
}

/// The router between two mirrored ports takes one off the hop limit, and may change the link layer.
#[test]
fn copies_may_have_passed_a_router() {
    for version in [4, 6] {
        let plain: Vec<Timed> = transfer(Some(1))
            .iter()
            .map(|(ns, packet)| (*ns, if version == 4 { packet.ipv4() } else { packet.ipv6(6, &[]) }))
            .collect();
        let mut all = Vec::new();
        for (ns, packet) in plain {
            let mut routed = packet.clone();
            routed[if version == 4 { 8 } else { 7 }] -= 1;
            let kind: &[u8] = if version == 4 { &[8, 0] } else { &[0x86, 0xDD] };
            all.push((ns, [&[2; 12][..], kind, &packet].concat()));
            all.push((ns + 20 * US, [&[3; 12][..], &[0x81, 0, 0, 5], kind, &routed].concat()));
        }
        let [retransmissions, samples, _, copies] = seen(1, &all);
        assert_eq!(retransmissions, 2.0, "IPv{version}");
        assert!(samples > 30.0);
        // Of IPv6, bare ACKs are not told from ACKs that are repeated by right.
        assert!(copies >= 43.0, "IPv{version}: {copies}");
    }
}

/// Without an identification a copy is known by time alone: far below the round trip of 20 ms.
#[test]
fn copies_without_identification_are_known_by_time() {
    let plain: Vec<Timed> = transfer(None).iter().map(|(ns, packet)| (*ns, packet.ipv6(6, &[]))).collect();
    let alone = seen(RAW, &plain);
    for packets in [plain, ipv4(&transfer(None))] {
        let [retransmissions, samples, ..] = seen(RAW, &repeated(&packets, 2, 50 * US));
        assert_eq!([retransmissions, samples], [2.0, alone[1]]);
        // 11 ms are more than half of it: these are retransmissions.
        assert!(seen(RAW, &repeated(&packets, 2, 11_000 * US))[0] > 40.0);
    }
}

/// RFC 9293 section 3.10.7.1: a closed connection answers each segment by a reset, and Linux numbers none of these.
#[test]
fn resets_of_a_closed_connection_are_no_copies() {
    for flags in [RST, RST | ACK] {
        let mut packets = transfer(Some(1));
        let end_ns = packets.last().unwrap().0;
        for number in 1..=10 {
            packets.push((end_ns + number * 1_000 * US, tcp(SERVER, CLIENT, 500, 0, flags, 0).id(0)));
        }
        let [retransmissions, _, _, copies] = seen(RAW, &ipv4(&packets));
        assert_eq!((retransmissions, copies), (2.0, 0.0));
    }
}

/// A host that gives all packets the same identification, as some do: retransmissions after 30 ms stay such.
#[test]
fn an_identification_that_is_always_the_same_says_nothing() {
    let constant: Vec<(u64, Tcp)> =
        transfer(Some(1)).into_iter().map(|(ns, packet)| (ns, packet.id(7))).collect();
    assert_eq!(seen(RAW, &ipv4(&constant))[0], 2.0);
    assert_eq!(seen(RAW, &ipv4(&constant))[3], 0.0);
    assert_eq!(seen(RAW, &repeated(&ipv4(&constant), 2, 5 * US))[0], 2.0);
}

/// Timestamps of a retransmission are later (RFC 7323 section 3.2): it is none of a copy, however soon it comes.
#[test]
fn other_timestamps_are_no_copy() {
    let stamp = |value: u32| [&[1, 1, 8, 10][..], &value.to_be_bytes(), &[0; 4]].concat();
    let mut packets = Vec::new();
    for (ns, packet) in transfer(None) {
        let is_data = packet.payload > 0;
        packets.push((ns, packet.clone().options(&stamp(1))));
        if is_data {
            packets.push((ns + 5 * US, packet.options(&stamp(2))));
        }
    }
    let [retransmissions, _, _, copies] = seen(RAW, &ipv4(&packets));
    assert_eq!((retransmissions, copies), (44.0 - 2.0 + 2.0, 0.0));
}

/// Whatever the identifications are: an ACK and the FIN behind it differ in their flags.
#[test]
fn packets_that_differ_in_anything_are_no_copies() {
    for (first, second) in (0..256).flat_map(|id: u16| (0..16).map(move |bit| (id, id ^ 1 << bit))) {
        let end = [(0, first, ACK, 100), (1, second, FIN | ACK, 100), (2, first ^ second, ACK, 101)];
        let packets = end.map(|(us, id, flags, seq)| {
            (1_000_000_000 + us * US, tcp(CLIENT, SERVER, seq, 500, flags, 0).id(id))
        });
        let file = pcap(false, 1, RAW, 0, &ipv4(&packets));
        assert_eq!(numbers(&analyzed(&[file]), "subflows", "copies"), [0.0], "{first} {second}");
    }
}

/// A packet in a tunnel and the same one outside, as a capture of all devices of the tunnel's end has them.
#[test]
fn a_packet_inside_and_outside_of_a_tunnel_is_one() {
    let mut all = Vec::new();
    for (ns, packet) in ipv4(&transfer(Some(1))) {
        let total = (24 + packet.len() as u16).to_be_bytes();
        let outer =
            [&[0x45, 0][..], &total, &packet[4..6], &[0, 0, 64, 47, 0, 0, 203, 0, 113, 1, 203, 0, 113, 2]];
        let outside = [&outer.concat()[..], &[0, 0, 8, 0], &packet].concat();
        all.push((ns, packet));
        all.push((ns + 8 * US, outside));
    }
    assert_eq!(seen(RAW, &all)[0], 2.0);
}

/// Both passes leave out the same, whatever the size of a batch and the files beside.
#[test]
fn copies_of_several_files_and_points() {
    let plain = ipv4(&transfer(Some(1)));
    let twice = repeated(&plain, 2, 5 * US);
    let both = analyzed(&[pcap(false, 1, RAW, 0, &twice), pcap(false, 1, RAW, 0, &plain)]);
    assert_eq!(numbers(&both, "subflows", "retransmissions"), [2.0]);
    // Two interfaces are two points, and none has copies.
    let mut file =
        [section(false), interface(false, RAW, &[(9, vec![9])]), interface(false, RAW, &[(9, vec![9])])]
            .concat();
    for (ns, packet) in &plain {
        file.extend(enhanced(false, 0, *ns, packet));
        file.extend(enhanced(false, 1, ns + 5 * US, packet));
    }
    let points = analyzed(&[file]);
    assert_eq!(numbers(&points, "subflows", "retransmissions"), [2.0]);
    assert_eq!(numbers(&points, "subflows", "copies"), [0.0]);
}

/// RFC 7413: data in the SYN are acknowledged with it, or not and sent again.
#[test]
fn fast_open_is_one_connection() {
    let open = |is_taken: bool, answer_first: bool| {
        let acked = if is_taken { 1300 } else { 1000 };
        let mut packets = vec![
            (0, tcp(CLIENT, SERVER, 999, 0, SYN, 300)),
            (20_000, tcp(SERVER, CLIENT, 499, acked, SYN | ACK, 0)),
        ];
        if answer_first {
            packets[0].0 = 20_001;
        }
        let mut at_us = 21_000;
        if !is_taken {
            packets.push((at_us, tcp(CLIENT, SERVER, 1000, 500, ACK, 300)));
            packets.push((at_us + 20_000, tcp(SERVER, CLIENT, 500, 1300, ACK, 0)));
            at_us += 20_100;
        }
        packets.push((at_us, tcp(CLIENT, SERVER, 1300, 500, ACK, 0)));
        for number in 0..10 {
            at_us += 5_000;
            packets.push((at_us, tcp(SERVER, CLIENT, 500 + 1000 * number, 1300, ACK, 1000)));
            packets.push((at_us + 100, tcp(CLIENT, SERVER, 1300, 1500 + 1000 * number, ACK, 0)));
        }
        packets.sort_by_key(|packet| packet.0);
        let packets: Vec<_> = packets.into_iter().map(|(us, packet)| (us * US, packet)).collect();
        pcap(false, 1000, RAW, 0, &ipv4(&packets))
    };
    for (is_taken, answer_first) in [(true, false), (false, false), (true, true)] {
        let analysis = analyzed(&[open(is_taken, answer_first)]);
        let what = format!("taken {is_taken}, answer first {answer_first}");
        assert_eq!(numbers(&analysis, "subflows", "acked_bytes"), [10_000.0], "{what}");
        assert_eq!(numbers(&analysis, "subflows", "reverse_acked_bytes"), [300.0], "{what}");
        assert_eq!(texts(&analysis, "subflows", "data_from"), ["server"], "{what}");
        assert!(!numbers(&analysis, "subflows", "established_s")[0].is_nan(), "{what}");
    }
    // A file with the SYN and another one with the answer alone.
    let split = |keep: &dyn Fn(&Tcp) -> bool| {
        let packets = [
            (0, tcp(CLIENT, SERVER, 999, 0, SYN, 300)),
            (20_000, tcp(SERVER, CLIENT, 499, 1300, SYN | ACK, 0)),
            (21_000, tcp(CLIENT, SERVER, 1300, 500, ACK, 700)),
            (41_000, tcp(SERVER, CLIENT, 500, 2000, ACK, 0)),
        ];
        let kept: Vec<_> = packets
            .into_iter()
            .filter(|(_, packet)| keep(packet))
            .map(|(us, packet)| (us * US, packet))
            .collect();
        pcap(false, 1000, RAW, 0, &ipv4(&kept))
    };
    let both = analyzed(&[split(&|packet| packet.from == CLIENT), split(&|packet| packet.from == SERVER)]);
    assert_eq!(numbers(&both, "subflows", "acked_bytes"), [1000.0]);
    // The same ports again, with another number, are another connection, with and without data in the SYN.
    let again = [
        (0, tcp(CLIENT, SERVER, 999, 0, SYN, 300)),
        (20_000, tcp(SERVER, CLIENT, 499, 1300, SYN | ACK, 0)),
        (900_000, tcp(CLIENT, SERVER, 5000, 0, SYN, 0)),
        (920_000, tcp(SERVER, CLIENT, 9999, 5001, SYN | ACK, 0)),
    ];
    let again: Vec<_> = again.into_iter().map(|(us, packet)| (us * US, packet)).collect();
    assert_eq!(
        numbers(&analyzed(&[pcap(false, 1000, RAW, 0, &ipv4(&again))]), "subflows", "subflow").len(),
        2
    );
}
