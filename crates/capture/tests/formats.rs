//! Every form of file and of link layer gives the same numbers for the same connection.

use crate::common::*;

const SEGMENTS: u32 = 200;

/// What the definition of [`connection`] gives, worked out by hand.
fn check(file: Vec<u8>, what: &str) {
    let analysis = analyzed(&[file]);
    let summary = &analysis.summary;
    assert_eq!(numbers(&analysis, "subflows", "acked_bytes"), [200_000.0], "{what}");
    assert_eq!(numbers(&analysis, "subflows", "data_packets"), [200.0], "{what}");
    assert_eq!(numbers(&analysis, "subflows", "handshake_rtt_ms"), [10.0], "{what}");
    assert_eq!((summary.t1_s, summary.t2_s), (Some(0.010), Some(2.020)), "{what}");
    // Between the ACK of the handshake and the FIN all 200 segments are acknowledged.
    let mbps = 200_000.0 * 8.0 / 1e6 / 2.010;
    assert!((numbers(&analysis, "connections", "window_throughput_mbps")[0] - mbps).abs() < 1e-9, "{what}");
    // ACKs of 1000 bytes, one each 10 ms, from 25 ms to 2015 ms: 199 of them after the first.
    for table in ["connections", "subflows"] {
        let own_time = ["measured_bytes", "measured_from_s", "measured_until_s", "throughput_mbps"];
        let own_time = own_time.map(|column| numbers(&analysis, table, column)[0]);
        assert_eq!(own_time, [199_000.0, 0.025, 2.015, 199_000.0 * 8.0 / 1e6 / 1.99], "{what}");
    }
    // ACKs at 25, 35, ..., 995 ms: 98 in the first second, 100 in the second, 2 in the last 30 ms.
    let series = numbers(&analysis, "subflow_series", "throughput_mbps");
    for (index, bytes, length_s) in [(0, 98_000.0, 1.0), (1, 100_000.0, 1.0), (2, 2_000.0, 0.030)] {
        assert!((series[index] - bytes * 8.0 / 1e6 / length_s).abs() < 1e-9, "{what}: {series:?}");
    }
    assert_eq!(series.len(), 3, "{what}");
    assert!(summary.warnings.is_empty(), "{what}: {:?}", summary.warnings);
    assert!((summary.began_unix_s - 1_700_000_000.0).abs() < 1e-3, "{what}");
}

fn packets() -> Vec<Timed> {
    ipv4(&connection(0, CLIENT, SEGMENTS))
}

#[test]
fn pcap_of_both_orders_and_resolutions() {
    for big in [false, true] {
        for unit_ns in [1000, 1] {
            check(pcap(big, unit_ns, RAW, 0, &packets()), &format!("big {big}, unit {unit_ns} ns"));
        }
    }
    // Lengths come from the headers, not from what was kept; 54 bytes are both headers of these.
    check(pcap(false, 1000, RAW, 40, &packets()), "snap length 40");
}

#[test]
fn pcapng_of_all_resolutions_and_offsets() {
    // if_tsresol 9 and 6 are powers of 10; 0x80 | 30 is 2^-30 s, which milliseconds round to below 1 ns.
    for big in [false, true] {
        for (resolution, ticks) in [(6u8, 1000u64), (9, 1_000_000), (3, 1), (12, 1_000_000_000)] {
            let mut file = section(big);
            let offset = if big { (-50i64).to_be_bytes() } else { (-50i64).to_le_bytes() };
            let options = [(2, b"eth7".to_vec()), (9, vec![resolution]), (14, offset.to_vec())];
            file.extend(interface(big, RAW, &options));
            // Blocks that nobody knows are passed over, however long.
            file.extend(block(big, 0x0BAD, &vec![1; 3_000_000]));
            for (ns, packet) in packets() {
                // 50 s are taken off by the offset; and 10^-12 s since 1970 do not fit 64 bits.
                let since = if resolution == 12 { 1_690_000_000_000 } else { 0 };
                let ms = ns / MS + 50_000 - since;
                file.extend(enhanced(big, 0, ms * ticks, &packet));
            }
            if resolution == 12 {
                let analysis = analyzed(&[file]);
                assert_eq!(analysis.summary.t2_s, Some(2.020));
            } else {
                check(file, &format!("big {big}, resolution {resolution}"));
            }
        }
    }
    let mut file = section(false);
    file.extend(interface(false, RAW, &[(9, vec![0x80 | 10])]));
    // 1024 ticks a second: 512 of them are half a second.
    for (tick, packet) in [0u64, 512, 1024].into_iter().zip(packets()) {
        file.extend(enhanced(false, 0, tick, &packet.1));
    }
    assert_eq!(analyzed(&[file]).summary.t1_s, Some(1.0));
}

#[test]
fn sections_and_interfaces_are_told_apart() {
    // Three sections of both byte orders, one after the other, each with two interfaces of which the second
    // is used: as `cat` makes of a rotated capture.
    let packets = packets();
    let mut file = Vec::new();
    for (index, part) in packets.chunks(packets.len() / 3 + 1).enumerate() {
        let big = index % 2 == 1;
        file.extend(section(big));
        file.extend(interface(big, 1, &[]));
        file.extend(interface(big, RAW, &[(9, vec![9])]));
        for (ns, packet) in part {
            file.extend(enhanced(big, 1, *ns, packet));
        }
    }
    check(file, "three sections");
}

#[test]
fn every_link_layer() {
    let with = |link_type: u16, header: &dyn Fn(&[u8]) -> Vec<u8>| {
        let packets: Vec<Timed> =
            packets().into_iter().map(|(ns, ip)| (ns, [header(&ip), ip].concat())).collect();
        check(pcap(false, 1000, link_type, 0, &packets), &format!("link type {link_type}"));
    };
    let ethernet = |tags: &[u8]| [&[2; 12][..], tags, &[8, 0]].concat();
    with(1, &|_| ethernet(&[]));
    with(1, &|_| ethernet(&[0x81, 0, 0, 5]));
    with(1, &|_| ethernet(&[0x88, 0xA8, 0, 9, 0x81, 0, 0, 5]));
    with(0, &|_| vec![2, 0, 0, 0]);
    with(108, &|_| vec![0, 0, 0, 2]);
    with(12, &|_| Vec::new());
    with(228, &|_| Vec::new());
    // Cooked: packet type, ARPHRD, address length, address, protocol.
    with(113, &|_| vec![0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0]);
    with(276, &|_| vec![8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0]);
}

#[test]
fn ethernet_padding_is_no_payload() {
    // A bare ACK has 40 bytes; Ethernet fills up to 46.
    let packets: Vec<Timed> = packets()
        .into_iter()
        .map(|(ns, ip)| {
            let mut frame = [&[2; 12][..], &[8, 0], &ip].concat();
            frame.resize(frame.len().max(60), 0);
            (ns, frame)
        })
        .collect();
    check(pcap(false, 1000, 1, 0, &packets), "padded");
}

#[test]
fn ipv6_with_and_without_extension_headers() {
    let hop_by_hop = [60, 0, 1, 4, 0, 0, 0, 0];
    let destination = [6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let extensions = [&hop_by_hop[..], &destination].concat();
    for (first, extensions) in [(6, &[][..]), (0, &extensions)] {
        let packets: Vec<Timed> = connection(0, CLIENT, SEGMENTS)
            .iter()
            .map(|(ns, packet)| (*ns, packet.ipv6(first, extensions)))
            .collect();
        check(pcap(true, 1000, RAW, 0, &packets), "IPv6");
    }
    let packets: Vec<Timed> =
        connection(0, CLIENT, 3).iter().map(|(ns, packet)| (*ns, packet.ipv6(6, &[]))).collect();
    let analysis = analyzed(&[pcap(true, 1000, RAW, 0, &packets)]);
    assert_eq!(texts(&analysis, "connections", "client"), ["2001:db8::a00:1"]);
}

#[test]
fn a_file_cut_at_any_byte_gives_what_is_before() {
    let whole = pcap(false, 1000, RAW, 0, &ipv4(&connection(0, CLIENT, 4)));
    // Behind the first packet, which is 16 + 40 bytes after the file's header.
    let (mut cut, mut complete) = (0, 0);
    for length in (24 + 56)..whole.len() {
        let analysis = analyzed(&[whole[..length].to_vec()]);
        let at_the_end =
            analysis.summary.warnings.iter().filter(|line| line.contains("ends inside a record")).count();
        cut += at_the_end;
        complete += 1 - at_the_end;
        assert!(numbers(&analysis, "subflows", "data_packets")[0] <= 4.0);
    }
    // 14 packets; the ends of all but the last are good places to end.
    assert_eq!(complete, 13);
    assert!(cut > 1000);
}
