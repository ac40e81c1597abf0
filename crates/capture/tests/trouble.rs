//! Reordering and loss by hand, bad files with their messages, and files of random bytes.

use crate::common::*;
use anabranch_capture::Options;
use anabranch_units::{Span, parse_span};
use proptest::prelude::*;

fn file(packets: &[(u64, Tcp)]) -> Vec<u8> {
    pcap(false, 1000, RAW, 0, &ipv4(packets))
}

fn file_ns(packets: &[(u64, Tcp)]) -> Vec<u8> {
    pcap(false, 1, RAW, 0, &ipv4(packets))
}

/// RFC 7323: TSval, and no echo.
fn timestamp(value: u32) -> Vec<u8> {
    [&[1, 1, 8, 10][..], &value.to_be_bytes(), &[0; 4]].concat()
}

/// A handshake of 10 ms from 0 on, then data segments of 1000 bytes: (time in ms, number, clock of the sender).
fn arrivals(order: &[(u64, u32, Option<u32>)]) -> Vec<(u64, Tcp)> {
    let mut packets = vec![
        (0, tcp(CLIENT, SERVER, 99, 0, SYN, 0)),
        (5 * MS, tcp(SERVER, CLIENT, 499, 100, SYN | ACK, 0)),
        (10 * MS, tcp(CLIENT, SERVER, 100, 500, ACK, 0)),
    ];
    for (ms, number, clock) in order {
        let options = clock.map(timestamp).unwrap_or_default();
        let segment = tcp(CLIENT, SERVER, 100 + 1000 * number, 500, ACK, 1000).options(&options);
        packets.push((ms * MS, segment));
    }
    packets
}

fn counts(order: &[(u64, u32, Option<u32>)]) -> [f64; 5] {
    let analysis = analyzed(&[file(&arrivals(order))]);
    [
        "retransmissions",
        "reordered_packets",
        "reordering_extent_max",
        "three_reordered_packets",
        "missing_bytes",
    ]
    .map(|column| numbers(&analysis, "subflows", column)[0])
}

/// RFC 4737 section 4.2.1: packet 3 arrives behind 4 to 7, of which 4 was the first: extent 4, and the three
/// before it are larger, so that it is 3-reordered (section 5).
#[test]
fn a_late_packet_is_reordered() {
    let order: Vec<_> =
        [0, 1, 2, 4, 5, 6, 7, 3, 8].iter().map(|&n| (20 + n as u64, n, Some(100 + n))).collect();
    assert_eq!(counts(&order), [0.0, 1.0, 4.0, 1.0, 0.0]);
    // Without timestamps: within the round trip of 10 ms nothing can be a retransmission.
    let order: Vec<_> = (0..).zip([0, 1, 2, 4, 3, 5]).map(|(at, n)| (20 + at, n, None)).collect();
    assert_eq!(counts(&order), [0.0, 1.0, 1.0, 0.0, 0.0]);
}

/// The same order of numbers, but the late packet was sent after those that overtook it.
#[test]
fn a_repaired_loss_before_the_point_is_a_retransmission() {
    let mut order: Vec<_> =
        [0, 1, 2, 4, 5, 6, 7].iter().map(|&n| (20 + u64::from(n), n, Some(100 + n))).collect();
    order.push((40, 3, Some(120)));
    assert_eq!(counts(&order), [1.0, 0.0, 0.0, 0.0, 0.0]);
    let order: Vec<_> = order.into_iter().map(|(ms, n, _)| (ms, n, None)).collect();
    assert_eq!(counts(&order), [1.0, 0.0, 0.0, 0.0, 0.0]);
}

/// Queues may hold a segment back for longer than the handshake took. One tick of the clock is no longer than
/// 10 ms, which the handshake took: what was sent within the same tick was not sent again.
#[test]
fn equal_timestamps_are_of_one_flight_where_the_round_trip_is_longer_than_a_tick() {
    let mut order: Vec<_> = [0, 1, 3, 4].iter().map(|&n| (20 + u64::from(n), n, Some(100))).collect();
    order.push((60, 2, Some(100)));
    assert_eq!(counts(&order), [0.0, 1.0, 2.0, 0.0, 0.0]);
}

#[test]
fn seen_again_is_a_retransmission_and_never_seen_is_missing() {
    let order: Vec<_> =
        [0, 1, 2, 1, 3, 5].iter().zip(0..).map(|(&n, at)| (20 + at, n, Some(at as u32))).collect();
    assert_eq!(counts(&order), [1.0, 0.0, 0.0, 0.0, 1000.0]);
}

fn message(files: &[Vec<u8>]) -> String {
    analyze_all(files, &options()).expect_err("refused").to_string()
}

#[test]
fn what_is_no_capture_is_refused_with_a_remedy() {
    let expected: [(&[u8], &str); 8] = [
        (b"", "is empty"),
        (b"\x1F\x8B\x08\x00 more", "the gzip file is cut after 9 bytes, before the first packet"),
        (b"\x28\xB5\x2F\xFD", "the zstd file is cut after 4 bytes, before the first packet"),
        (b"\xFD7zXZ\0", "is compressed with xz; unpack it first, with unxz --keep"),
        (b"hello", "is neither pcap nor pcapng: it begins with the bytes 68 65 6c 6c"),
        (b"x", "is neither pcap nor pcapng: it begins with the bytes 78;"),
        (b"snoop\0\0\0\0\0\0\x02\0\0\0\x04", "is a snoop capture; convert it with editcap -F pcapng"),
        (b"\xD4\xC3\xB2\xA1\x02\0\x04\0", "is cut inside its header: 8 of 24 bytes"),
    ];
    for (bytes, text) in expected {
        let message = message(&[bytes.to_vec()]);
        assert!(message.contains("0.pcap: ") && message.contains(text), "{message}");
    }
    // All at once.
    let message = message(&[b"hello".to_vec(), Vec::new()]);
    assert!(message.contains("0.pcap: is neither") && message.contains("1.pcap: is empty"), "{message}");
}

/// More input never gives less: what is no capture is told, and the others are analysed, under their own numbers.
#[test]
fn what_is_no_capture_beside_others_is_left_out() {
    let good = file(&connection(0, CLIENT, 1));
    let alone = analyze_all(std::slice::from_ref(&good), &options()).expect("a capture");
    let others: [&[u8]; 4] = [b"", b"hello", b"\x28\xB5\x2F\xFD", b"\xD4\xC3\xB2\xA1\x02\0\x04\0"];
    for other in others {
        for place in [0, 1] {
            let mut files = vec![good.clone()];
            files.insert(place, other.to_vec());
            let both = analyze_all(&files, &options()).expect("the good one");
            let name = format!("{place}.pcap: left out, for it ");
            assert!(both.summary.warnings[0].contains(&name), "{:?}", both.summary.warnings);
            assert_eq!(both.summary.warnings[1..], alone.summary.warnings);
            for column in ["acked_bytes", "data_packets", "throughput_mbps"] {
                let of = |analysis| numbers(analysis, "subflows", column);
                assert_eq!(format!("{:?}", of(&both)), format!("{:?}", of(&alone)), "{column}");
            }
            assert_eq!(texts(&both, "subflows", "data_at"), [format!("{}:0", 1 - place)]);
        }
    }
    // A file that is not there is a mistake of whoever names it.
    assert!(message(&[b"hello".to_vec(), b"hello".to_vec()]).contains("1.pcap"));
}

#[test]
fn captures_without_tcp_are_refused() {
    let mut udp = connection(0, CLIENT, 3)[0].1.ipv4();
    udp[9] = 17;
    assert!(message(&[pcap(false, 1000, RAW, 0, &[(0, udp)])]).contains("no TCP among 1 packets: 1 udp"));
    assert!(message(&[pcap(false, 1000, RAW, 0, &[])]).contains("no packets: nothing was captured"));
    let packet = connection(0, CLIENT, 3)[0].1.ipv4();
    assert!(
        message(&[pcap(false, 1000, 147, 0, &[(0, packet.clone())])])
            .contains("link type 147 (USER0) is not known")
    );
    assert!(message(&[pcap(false, 1000, RAW, 30, &[(0, packet)])]).contains("1 cut before their TCP header"));
    let mut options = options();
    options.ports = vec![80, 443];
    let error = analyze_all(&[file(&connection(0, CLIENT, 1))], &options).expect_err("refused");
    assert!(error.to_string().contains("has port 80 or 443"), "{error}");
}

/// Sections 4.3 and 4.4 of the pcapng draft: a simple packet block has no time, and an enhanced one names its
/// interface, which an interface description block before it must describe.
#[test]
fn packets_without_a_time_or_an_interface_are_not_called_none() {
    let packet = connection(0, CLIENT, 3)[0].1.ipv4();
    let described = [section(false), interface(false, RAW, &[])].concat();
    let simple = block(false, 3, &[&(packet.len() as u32).to_le_bytes()[..], &packet].concat());
    let stranger = enhanced(false, 7, 0, &packet);
    let timeless = message(&[[&described[..], &simple].concat()]);
    assert!(timeless.contains("1 in Simple Packet Blocks of pcapng, which have no time"), "{timeless}");
    assert!(!timeless.contains("interface"), "{timeless}");
    let unknown = message(&[[&described[..], &stranger].concat()]);
    assert!(unknown.contains("1 of an interface that the file does not describe"), "{unknown}");
    assert!(!unknown.contains("Simple"), "{unknown}");
    let both = message(&[[&described[..], &simple, &stranger, &stranger].concat()]);
    assert!(both.contains("1 in Simple") && both.contains("; 2 of an interface"), "{both}");
    // A file without any packet is another matter.
    assert!(message(&[described]).contains("no packets: nothing was captured"));
}

/// At most 5,000,000 rows are allowed, so that the least interval is the flow's duration by that number: 60 ms
/// as the connection is, and with its sixth packet, of 30 ms, put off by 100 s or a year of 31,536,000 s.
#[test]
fn series_beyond_memory_are_refused_with_an_interval_that_fits() {
    for (later_s, interval_ns, least_ns, unit) in [
        (365 * 86_400, 1_000_000_000, 31_536_000.03e9 / 5e6, " s"),
        (100, 10_000, 100.03e9 / 5e6, " us"),
        (0, 1, 60e6 / 5e6, " ns"),
    ] {
        let mut packets = connection(0, CLIENT, 3);
        packets[5].0 += later_s * 1_000_000_000;
        let file = [file(&packets)];
        let asked = Options { interval: Span::from_ps(interval_ns * 1000), ..options() };
        let error = analyze_all(&file, &asked).expect_err("refused").to_string();
        let (refusal, advice) = error.split_once("; take an interval of at least ").expect("advice");
        assert!(refusal.ends_with(" rows of the series, above 5000000") && advice.ends_with(unit), "{error}");
        // It is taken as it was written, and is no longer than rounding makes it.
        let interval = parse_span(advice).expect("an interval");
        analyze_all(&file, &Options { interval, ..asked }).expect("an interval that fits");
        assert!(interval.as_ps() as f64 <= 1.02e3 * least_ns + 1e3, "{error}");
    }
}

#[test]
fn damage_ends_a_file_with_a_message() {
    let mut bytes = file(&connection(0, CLIENT, 3));
    // The length of the fourth record, behind the header and three packets of 56 bytes.
    bytes[24 + 3 * 56 + 8..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
    let analysis = analyzed(&[bytes]);
    let damaged = |line: &String| line.contains("damaged at byte 192: a packet of 4294967295 bytes");
    assert!(analysis.summary.warnings.iter().any(damaged), "{:?}", analysis.summary.warnings);
    assert_eq!(analysis.summary.packets, 3);
}

fn jumps(files: &[Vec<u8>]) -> Vec<String> {
    let warnings = analyzed(files).summary.warnings;
    warnings.into_iter().filter(|line| line.contains("times go back")).collect()
}

/// A clock set back by an hour, and again by ten seconds; one late by a second is not set.
#[test]
fn a_clock_that_is_set_back_is_warned_of() {
    let begin = connection(0, CLIENT, 50);
    let mut packets = begin.clone();
    packets[40..].iter_mut().for_each(|packet| packet.0 -= 3600 * 1000 * MS);
    packets[60..].iter_mut().for_each(|packet| packet.0 -= 10 * 1000 * MS);
    let warnings = jumps(&[file(&begin), file(&packets)]);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    // Packet 40 comes 5 ms after the one before it.
    assert!(warnings[0].contains("1.pcap: ") && warnings[0].contains("by 3600.0 s at most"), "{warnings:?}");
    assert!(warnings[0].ends_with(": 2"), "{warnings:?}");
    let mut late = begin.clone();
    late[40].0 = late[39].0 - 1000 * MS;
    assert_eq!(jumps(&[file(&late)]), Vec::<String>::new());
    late[40].0 -= 1;
    assert_eq!(jumps(&[file_ns(&late)]).len(), 1);
}

/// Each interface has a clock of its own, and sections of a file number their interfaces anew.
#[test]
fn clocks_of_two_interfaces_are_not_compared() {
    let hour = 3600 * 1000 * MS;
    let mut bytes = section(false);
    for _ in 0..2 {
        bytes.extend(interface(false, RAW, &[(9, vec![9])]));
    }
    for (index, (ns, packet)) in connection(0, CLIENT, 20).into_iter().enumerate() {
        // The first packets are of the second interface.
        let (from, ns) = if index % 4 < 2 { (1, ns) } else { (0, ns - hour) };
        bytes.extend(enhanced(false, from, ns, &packet.ipv4()));
    }
    let (ns, packet) = &connection(0, CLIENT, 20)[0];
    for text in [section(false), interface(false, RAW, &[(9, vec![9])])] {
        bytes.extend(text);
    }
    bytes.extend(enhanced(false, 0, ns - 2 * hour, &packet.ipv4()));
    assert_eq!(jumps(&[bytes.clone()]), Vec::<String>::new());
    bytes.extend(enhanced(false, 0, ns - 3 * hour, &packet.ipv4()));
    assert_eq!(jumps(&[bytes]).len(), 1);
}

#[test]
fn attempts_without_an_answer_do_not_move_the_window() {
    let mut packets = connection(0, CLIENT, 50);
    for i in 0..3 {
        packets.push((i * MS + packets[20].0, tcp((CLIENT.0, 50_000), SERVER, 7, 0, SYN, 0)));
    }
    packets.sort_by_key(|packet| packet.0);
    let analysis = analyzed(&[file(&packets)]);
    assert_eq!((analysis.summary.t1_s, analysis.summary.unanswered), (Some(0.01), 1));
}

#[test]
fn the_caller_can_stop_it() {
    let folder = Folder::new();
    let packets: Vec<_> = (0..40).flat_map(|i| connection(i * 10_000, CLIENT, 900)).collect();
    let path = folder.write("long.pcap", &file(&packets));
    let paths = vec![path; 20];
    let stop = |_: anabranch_capture::ReadProgress| std::ops::ControlFlow::Break(());
    let error = anabranch_capture::analyze(&paths, &options(), stop).expect_err("stopped");
    assert!(matches!(error, anabranch_capture::CaptureError::Interrupted), "{error}");
}

/// A capture of everything: MPTCP, IPv6, tags, several interfaces.
fn rich() -> Vec<u8> {
    let mut bytes = section(false);
    bytes.extend(interface(false, RAW, &[(9, vec![9]), (2, b"a".to_vec())]));
    bytes.extend(interface(false, 1, &[]));
    for (index, (ns, packet)) in connection(0, CLIENT, 20).into_iter().enumerate() {
        let dss = [30, 12, 0x20, 1, 0, 0, 0, index as u8, 0, 0, 0, 0];
        let capable = [30, 20, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8];
        let packet = packet.options(if index < 3 { &capable } else { &dss });
        let data = if index % 3 == 0 { packet.ipv6(0, &[6, 0, 1, 4, 0, 0, 0, 0]) } else { packet.ipv4() };
        if index % 2 == 0 {
            bytes.extend(enhanced(false, 0, ns, &data));
        } else {
            bytes.extend(enhanced(
                false,
                1,
                ns / 1000,
                &[&[2; 12][..], &[0x81, 0, 0, 1, 8, 0], &data].concat(),
            ));
        }
    }
    bytes
}

/// Whatever comes out, it comes out, and nothing is counted that is not in the file.
fn survives(bytes: Vec<u8>) {
    let length = bytes.len() as f64;
    let mut options = options();
    // Random times span centuries.
    options.interval = Span::MAX;
    if let Ok(analysis) = analyze_all(&[bytes], &options) {
        // A packet takes at least 16 bytes of the file.
        assert!(analysis.summary.packets as f64 * 16.0 <= length);
        assert!(
            numbers(&analysis, "subflows", "data_packets")
                .iter()
                .filter(|count| !count.is_nan())
                .sum::<f64>()
                * 16.0
                <= length
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_captures_never_panic(
        classic in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = if classic { file(&connection(0, CLIENT, 20)) } else { rich() };
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - length.index(bytes.len()) / 4);
        survives(bytes);
    }

    #[test]
    fn random_packets_never_panic(
        link_type in prop::sample::select(vec![0u16, 1, 12, 101, 108, 113, 228, 229, 276, 300]),
        packets in prop::collection::vec((any::<u64>(), prop::collection::vec(any::<u8>(), 0..120)), 0..30),
        head in prop::sample::select(vec![0x45u8, 0x4F, 0x60, 0x02]),
    ) {
        let packets: Vec<Timed> = packets
            .into_iter()
            .map(|(ns, mut data)| {
                if let Some(first) = data.first_mut() {
                    *first = head;
                }
                // Most of them are TCP.
                if let Some(protocol) = data.get_mut(if head == 0x60 { 6 } else { 9 }) {
                    *protocol = 6;
                }
                (ns % (1 << 60), data)
            })
            .collect();
        survives(pcap(false, 1, link_type, 0, &packets));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000), kind in 0..3) {
        let mut file = match kind {
            0 => pcap(true, 1000, RAW, 0, &[]),
            1 => [section(true), interface(true, RAW, &[])].concat(),
            _ => Vec::new(),
        };
        file.extend(bytes);
        survives(file);
    }
}

#[test]
fn the_capture_that_is_mutated_is_a_good_one() {
    let analysis = analyzed(&[rich()]);
    assert_eq!(analysis.summary.tcp_packets, 46);
    // IPv4 and IPv6 ends are two flows.
    assert_eq!(numbers(&analysis, "subflows", "subflow").len(), 2);
}
