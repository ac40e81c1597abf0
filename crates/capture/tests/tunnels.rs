//! TCP in tunnels and behind rare link layers, and the count of what is not TCP.

use crate::common::*;
use proptest::prelude::*;

fn mac() -> Vec<u8> {
    vec![2; 12]
}

fn is_ipv4(packet: &[u8]) -> bool {
    packet[0] >> 4 == 4
}

fn ethertype(packet: &[u8]) -> [u8; 2] {
    if is_ipv4(packet) { [8, 0] } else { [0x86, 0xDD] }
}

fn ethernet(packet: &[u8]) -> Vec<u8> {
    [&mac()[..], &ethertype(packet), packet].concat()
}

/// An IP packet around a payload, of IPv4 or IPv6, with an identification that varies.
fn ip(version: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    if version == 6 {
        let address = |last: u8| [&[0x20, 1, 0xD, 0xB8][..], &[0; 11], &[last]].concat();
        let length = (payload.len() as u16).to_be_bytes();
        return [&[0x60, 0, 0, 0][..], &length, &[protocol, 64], &address(1), &address(2), payload].concat();
    }
    let total = (20 + payload.len() as u16).to_be_bytes();
    let id = [payload.len() as u8, payload.last().copied().unwrap_or(1)];
    let ends = [203, 0, 113, 1, 203, 0, 113, 2];
    [&[0x45, 0][..], &total, &id, &[0, 0, 64, protocol, 0, 0], &ends, payload].concat()
}

fn udp(version: u8, port: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    ip(version, 17, &[&50_000u16.to_be_bytes()[..], &port.to_be_bytes(), &length, &[0, 0], payload].concat())
}

/// The names of the envelopes that an IP packet can be put into, so that an IP packet results.
const ENVELOPES: [&str; 17] = [
    "vxlan",
    "vxlan at 8472",
    "vxlan at 40000",
    "geneve",
    "geneve with ip",
    "gre",
    "gre with all",
    "nvgre",
    "erspan",
    "gtp-u",
    "gtp-u with extensions",
    "mpls over udp",
    "mpls in gre",
    "ipip",
    "etherip",
    "l2tp",
    "lisp",
];

fn put_into(envelope: &str, version: u8, packet: &[u8]) -> Vec<u8> {
    let inner = ip_protocol(packet);
    match envelope {
        "vxlan" => udp(version, 4789, &[&[8, 0, 0, 0, 0, 0, 42, 0][..], &ethernet(packet)].concat()),
        "vxlan at 8472" => udp(version, 8472, &[&[8, 0, 0, 0, 0, 0, 42, 0][..], &ethernet(packet)].concat()),
        "vxlan at 40000" => {
            udp(version, 40_000, &[&[8, 0, 0, 0, 0, 0, 42, 0][..], &ethernet(packet)].concat())
        }
        "geneve" => {
            let header = [2, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 0x80, 1, 9, 9, 9, 9];
            udp(version, 6081, &[&header[..], &ethernet(packet)].concat())
        }
        "geneve with ip" => {
            udp(version, 6081, &[&[0, 0][..], &ethertype(packet), &[0, 0, 7, 0], packet].concat())
        }
        "gre" => ip(version, 47, &[&[0, 0][..], &ethertype(packet), packet].concat()),
        "gre with all" => {
            let header =
                [&[0xB0, 0][..], &ethertype(packet), &[1, 2, 0, 0, 0, 0, 0, 99, 0, 0, 0, 1]].concat();
            ip(version, 47, &[&header[..], packet].concat())
        }
        "nvgre" => ip(version, 47, &[&[0x20, 0, 0x65, 0x58, 0, 0, 5, 0][..], &ethernet(packet)].concat()),
        "erspan" => {
            let header = [0x10, 0, 0x88, 0xBE, 0, 0, 0, 1, 0x10, 0, 0, 9, 0, 0, 0, 0];
            ip(version, 47, &[&header[..], &ethernet(packet)].concat())
        }
        "gtp-u" => udp(version, 2152, &[&[0x30, 255, 0, 0, 0, 0, 1, 1][..], packet].concat()),
        "gtp-u with extensions" => {
            let header =
                [0x34, 255, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0x85, 1, 0x10, 5, 0x85, 2, 0, 0, 0, 0, 0, 0, 0];
            udp(version, 2152, &[&header[..], packet].concat())
        }
        "mpls over udp" => udp(version, 6635, &[&[0, 1, 0, 64, 0, 1, 0x11, 64][..], packet].concat()),
        "mpls in gre" => {
            // A label, a control word, and Ethernet.
            let header = [0, 0, 0x88, 0x47, 0, 1, 0x01, 64, 0, 0, 0, 0];
            ip(version, 47, &[&header[..], &ethernet(packet)].concat())
        }
        "ipip" => ip(version, inner, packet),
        "etherip" => ip(version, 97, &[&[0x30, 0][..], &ethernet(packet)].concat()),
        "l2tp" => {
            let protocol = if is_ipv4(packet) { 0x21 } else { 0x57 };
            udp(version, 1701, &[&[0x40, 2, 0, 0, 0, 1, 0, 2, 0xFF, 3, 0, protocol][..], packet].concat())
        }
        "lisp" => udp(version, 4341, &[&[0x88, 0, 0, 0, 0, 0, 3, 1][..], packet].concat()),
        other => panic!("{other}"),
    }
}

fn ip_protocol(packet: &[u8]) -> u8 {
    if is_ipv4(packet) { 4 } else { 41 }
}

/// An IP packet in a frame of a link type.
const LINKS: [(u16, &str); 26] = [
    (1, "ethernet"),
    (1, "snap"),
    (1, "mpls"),
    (1, "pppoe"),
    (1, "802.1ah"),
    (1, "hsr"),
    (9, "ppp without hdlc"),
    (9, "ppp"),
    (50, "ppp"),
    (50, "cisco"),
    (51, "pppoe session"),
    (100, "llc"),
    (101, "raw"),
    (104, "cisco"),
    (105, "data"),
    (105, "qos"),
    (105, "wds"),
    (107, "frame relay"),
    (117, "pflog"),
    (127, "radiotap"),
    (127, "radiotap padded"),
    (166, "ppp behind a byte"),
    (192, "ppi"),
    (219, "mpls labels"),
    (239, "nflog"),
    (276, "sll2 snap"),
];

fn frame(link: &str, packet: &[u8]) -> Vec<u8> {
    let kind = ethertype(packet);
    let ppp = [0, if is_ipv4(packet) { 0x21 } else { 0x57 }];
    let llc = [&[0xAA, 0xAA, 3, 0, 0, 0][..], &kind].concat();
    let data = [&[0x08, 0x01, 0, 0][..], &[2; 18], &[0, 0]].concat();
    let qos = [&[0x88, 0x02, 0, 0][..], &[2; 18], &[0, 0, 0, 0]].concat();
    match link {
        "ethernet" => ethernet(packet),
        "snap" => {
            let length = ((packet.len() + 8).min(1500) as u16).to_be_bytes();
            [&mac()[..], &length, &llc, packet].concat()
        }
        "mpls" => [&mac()[..], &[0x88, 0x47, 0, 1, 0, 64, 0, 1, 0x11, 64], packet].concat(),
        "pppoe" => [&mac()[..], &[0x88, 0x64, 0x11, 0, 0, 17, 0, 0], &ppp, packet].concat(),
        "802.1ah" => [&mac()[..], &[0x88, 0xE7, 0, 0, 0, 5], &ethernet(packet)].concat(),
        "hsr" => [&mac()[..], &[0x89, 0x2F, 0, 40, 0, 1], &kind, packet].concat(),
        "ppp without hdlc" => [&ppp[..], packet].concat(),
        "ppp" => [&[0xFF, 3][..], &ppp, packet].concat(),
        "cisco" => [&[0x0F, 0][..], &kind, packet].concat(),
        "pppoe session" => [&[0x11, 0, 0, 17, 0, 0][..], &ppp[1..], packet].concat(),
        "llc" => [&llc[..], packet].concat(),
        "raw" => packet.to_vec(),
        "data" => [&data[..], &llc, packet].concat(),
        "qos" => [&qos[..], &llc, packet].concat(),
        "wds" => [&[0x08, 0x03, 0, 0][..], &[2; 26], &llc, packet].concat(),
        "frame relay" => [&[0x18, 0x41, 3, if is_ipv4(packet) { 0xCC } else { 0x8E }][..], packet].concat(),
        "pflog" => {
            let mut header = [0; 64];
            header[0] = 61;
            [&header[..], packet].concat()
        }
        // A time stamp, flags and a channel.
        "radiotap" => {
            let header = [0, 0, 22, 0, 0x0B, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 2, 0, 0, 0, 0];
            [&header[..], &data, &llc, packet, &[1, 2, 3, 4]].concat()
        }
        "radiotap padded" => {
            let header = [0, 0, 13, 0, 2, 0, 0, 0x80, 0, 0, 0, 0, 0x20];
            [&header[..], &qos, &[0, 0], &llc, packet].concat()
        }
        "ppp behind a byte" => [&[1][..], &ppp, packet].concat(),
        "ppi" => [&[0, 0, 12, 0, 1, 0, 0, 0, 9, 9, 9, 9][..], &ethernet(packet)].concat(),
        "mpls labels" => [&[0, 1, 0x01, 64][..], packet].concat(),
        "nflog" => {
            let length = ((packet.len() + 4) as u16).to_le_bytes();
            let hook = [8, 0, 1, 0, 8, 0, 1, 0, 5, 0, 10, 0, 0, 0, 0, 0];
            [&[2, 0, 0, 5][..], &hook, &length, &[9, 0], packet].concat()
        }
        "sll2 snap" => {
            let header = [0, 4, 0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0];
            [&header[..], &llc, packet].concat()
        }
        other => panic!("{other}"),
    }
}

/// Everything that is measured of the flows, as text, without what says how they were found.
fn flows(packets: &[Timed], link_type: u16, snap: usize) -> String {
    let analysis = analyzed(&[pcap(false, 1000, link_type, snap, packets)]);
    let is_of_the_way = |column: &str| {
        ["encapsulation", "outer_client", "outer_server", "data_at", "acks_at", "rtt_at"].contains(&column)
    };
    let mut text = String::new();
    for table in analysis.tables.iter().filter(|table| table.name != "protocols") {
        for (name, column) in table.columns.iter().filter(|column| !is_of_the_way(column.0)) {
            text.push_str(&format!("{}.{name} {column:?}\n", table.name));
        }
    }
    text
}

fn packets(version: u8) -> Vec<Timed> {
    let packets = connection(0, CLIENT, 12);
    let packets = packets
        .iter()
        .map(|(ns, packet)| (*ns, if version == 4 { packet.ipv4() } else { packet.ipv6(6, &[]) }));
    packets.collect()
}

fn wrapped(packets: &[Timed], wrap: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Timed> {
    packets.iter().map(|(ns, packet)| (*ns, wrap(packet))).collect()
}

#[test]
fn every_envelope_and_link_gives_the_same_flows() {
    for version in [4, 6] {
        let plain = packets(version);
        let expected = flows(&plain, RAW, 0);
        for envelope in ENVELOPES {
            for outer in [4, 6] {
                let there = wrapped(&plain, |packet| put_into(envelope, outer, packet));
                assert_eq!(flows(&there, RAW, 0), expected, "{envelope} over IPv{outer} of IPv{version}");
            }
        }
        for (link_type, link) in LINKS {
            let there = wrapped(&plain, |packet| frame(link, packet));
            assert_eq!(flows(&there, link_type, 0), expected, "{link_type} {link} of IPv{version}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Any packet in any stack of tunnels over any link gives the same flows, whether its payload was kept or not.
    #[test]
    fn any_stack_of_tunnels_gives_the_same_flows(
        version in prop::sample::select(vec![4u8, 6]),
        stack in prop::collection::vec((0..ENVELOPES.len(), prop::sample::select(vec![4u8, 6])), 0..6),
        link in 0..LINKS.len(),
        is_cut in any::<bool>(),
    ) {
        let plain = packets(version);
        let (link_type, link) = LINKS[link];
        let wrap = |packet: &[u8]| {
            let inside = stack.iter().fold(packet.to_vec(), |packet, (envelope, outer)| {
                put_into(ENVELOPES[*envelope], *outer, &packet)
            });
            frame(link, &inside)
        };
        let there = wrapped(&plain, wrap);
        // A bare ACK is headers alone.
        let headers = there.iter().map(|(_, packet)| packet.len()).min().unwrap_or(0);
        prop_assert_eq!(flows(&there, link_type, if is_cut { headers } else { 0 }), flows(&plain, RAW, 0));
    }
}

/// What is around a flow is told: kinds, numbers and outer addresses, of each direction.
#[test]
fn tunnels_are_columns() {
    let seen = |wrap: &dyn Fn(&[u8]) -> Vec<u8>, link_type: u16| {
        let analysis = analyzed(&[pcap(false, 1000, link_type, 0, &wrapped(&packets(4), wrap))]);
        ["encapsulation", "outer_client", "outer_server"]
            .map(|column| texts(&analysis, "subflows", column)[0].clone())
    };
    let [around, client, server] = seen(&|packet| put_into("vxlan", 4, packet), RAW);
    assert_eq!([&around[..], &client, &server], ["vxlan 42", "203.0.113.1", "203.0.113.2"]);
    let [around, client, _] = seen(&|packet| put_into("gre", 6, &put_into("gtp-u", 4, packet)), RAW);
    assert_eq!([&around[..], &client], ["gre > gtp-u 257", "203.0.113.1"]);
    assert_eq!(seen(&|packet| frame("mpls", packet), 1), ["mpls 16/17", "", ""]);
    assert_eq!(seen(&|packet| frame("pppoe", packet), 1)[0], "pppoe 17");
    assert_eq!(seen(&|packet| frame("ethernet", packet), 1), ["", "", ""]);
    // Tunnels of mobile networks have another number for each direction.
    let by_direction = |packet: &[u8]| {
        let mut there = put_into("gtp-u", 4, packet);
        there[20 + 8 + 7] = packet[15];
        there
    };
    assert_eq!(seen(&by_direction, RAW)[0], "gtp-u 257 | gtp-u 258");
}

/// Everything is counted by what it is, beside TCP that is read.
#[test]
fn what_is_not_read_is_counted_by_what_it_is() {
    let mut all = wrapped(&packets(4), ethernet);
    let others: Vec<(Vec<u8>, &str, &str, &str)> = vec![
        (ethernet(&udp(4, 53, &[0; 40])), "", "udp", "not tcp"),
        (ethernet(&ip(6, 58, &[128, 0, 0, 0])), "", "icmp", "not tcp"),
        ([&mac()[..], &[8, 6], &[0; 28]].concat(), "", "arp", "not tcp"),
        (ethernet(&put_into("vxlan", 4, &udp(4, 53, &[0; 40]))), "vxlan", "udp", "not tcp"),
        (ethernet(&ip(4, 50, &[7; 60])), "", "esp", "may hold tcp"),
        (ethernet(&udp(4, 51820, &[4, 0, 0, 0])), "", "wireguard", "may hold tcp"),
        ([&mac()[..], &[0, 38], &[0x42, 0x42, 3], &[0; 35]].concat(), "", "llc", "not tcp"),
        ([&mac()[..], &[0x12, 0x34], &[0; 46]].concat(), "", "other", "may hold tcp"),
        (ethernet(&ip(4, 47, &[0, 0, 0x12, 0x34, 1, 2, 3, 4])), "gre", "unknown payload", "may hold tcp"),
        (
            [&mac()[..], &[0x88, 0x47, 0, 1, 0x01, 64], &[0x70; 40]].concat(),
            "mpls",
            "unknown payload",
            "may hold tcp",
        ),
        ([&mac()[..], &[0x88, 0x63], &[0x11, 9, 0, 0, 0, 0]].concat(), "pppoe", "control", "not tcp"),
    ];
    all.extend(others.iter().map(|(packet, ..)| (1_700_000_000_000 * MS, packet.clone())));
    let analysis = analyzed(&[pcap(false, 1000, 1, 0, &all)]);
    let [around, names, reading] =
        ["encapsulation", "protocol", "reading"].map(|column| texts(&analysis, "protocols", column));
    let counts = numbers(&analysis, "protocols", "packets");
    assert_eq!((&names[0][..], &around[0][..], counts[0], &reading[0][..]), ("tcp", "", 30.0, "read"));
    for (_, encapsulation, protocol, is_read) in &others {
        let row = (0..names.len()).find(|&row| names[row] == *protocol && around[row] == *encapsulation);
        let row = row.unwrap_or_else(|| panic!("no row of {encapsulation} {protocol}: {names:?}"));
        assert_eq!((counts[row], &reading[row][..]), (1.0, *is_read), "{encapsulation} {protocol}");
    }
    assert_eq!(counts.iter().sum::<f64>(), analysis.summary.packets as f64);
    let warning = analysis.summary.warnings.iter().find(|line| line.contains("packets that may hold TCP"));
    let warning = warning.expect("a warning");
    assert!(
        warning.contains(": 5, of which 1 other (") && warning.contains("1 esp (encrypted;"),
        "{warning}"
    );
    // Without any TCP, the message says the same.
    let alone: Vec<Timed> = others.iter().map(|(packet, ..)| (0, packet.clone())).collect();
    let message =
        analyze_all(&[pcap(false, 1000, 1, 0, &alone)], &options()).expect_err("no TCP").to_string();
    for part in [
        "no TCP among 11 packets: ",
        "1 vxlan > udp",
        "1 arp",
        "1 gre > unknown payload",
        "esp may hold TCP: ",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

/// Three packets in one frame, the last one without padding.
#[test]
fn aggregates_of_wireless_frames_are_read() {
    let plain = packets(4);
    let mut frames: Vec<Timed> = Vec::new();
    for three in plain.chunks(3) {
        let mut frame = [&[0x88, 0x01, 0, 0][..], &[2; 18], &[0, 0], &[0x80, 0]].concat();
        let header = frame.len();
        for (_, packet) in three {
            frame.resize(header + (frame.len() - header).next_multiple_of(4), 0);
            frame.extend([2; 12]);
            frame.extend(((packet.len() + 8) as u16).to_be_bytes());
            frame.extend([0xAA, 0xAA, 3, 0, 0, 0, 8, 0]);
            frame.extend(packet);
        }
        frames.push((three[0].0, frame));
    }
    let analysis = analyzed(&[pcap(false, 1000, 105, 0, &frames)]);
    assert_eq!(numbers(&analysis, "subflows", "acked_bytes"), [12_000.0]);
    assert_eq!(numbers(&analysis, "subflows", "data_packets"), [12.0]);
    assert_eq!((analysis.summary.packets, analysis.summary.tcp_packets), (10, 30));
}

#[test]
fn frames_without_data_and_encrypted_ones_are_told() {
    let beacon = [&[0x80, 0, 0, 0][..], &[2; 40]].concat();
    let protected = [&[0x88, 0x41, 0, 0][..], &[2; 60]].concat();
    let mut all = wrapped(&packets(4), |packet| frame("qos", packet));
    all.extend([(0, beacon), (0, protected)].map(|(ns, packet)| (ns + 1_700_000_000_000 * MS, packet)));
    let analysis = analyzed(&[pcap(false, 1000, 105, 0, &all)]);
    assert_eq!(texts(&analysis, "protocols", "protocol"), ["tcp", "802.11 without data", "802.11 protected"]);
    assert!(analysis.summary.warnings.iter().any(|line| line.contains("1 802.11 protected (encrypted;")));
}

#[test]
fn link_types_that_cannot_be_read_have_a_name_and_a_remedy() {
    let packet = packets(4)[0].1.clone();
    let message = |link_type| {
        let file = pcap(false, 1000, link_type, 0, &[(0, packet.clone())]);
        analyze_all(&[file], &options()).expect_err("refused").to_string()
    };
    assert!(message(195).contains("link type 195 (IEEE802_15_4_WITHFCS) is not known; capture at a device"));
    assert!(message(147).contains("147 (USER0)") && message(147).contains("editcap -C N -T rawip"));
}

/// A thousand tunnels in each other are counted, and nothing is read of them; fewer are read.
#[test]
fn nesting_is_bounded() {
    let deep = |depth: usize, envelope: &str| {
        let inside = packets(4)[0].1.clone();
        let stacked = (0..depth).fold(inside, |packet, _| put_into(envelope, 4, &packet));
        let mut all = packets(4);
        all.push((1_700_000_000_000 * MS, stacked));
        analyzed(&[pcap(false, 1000, RAW, 0, &all)])
    };
    for envelope in ["ipip", "gre", "vxlan"] {
        let analysis = deep(1000, envelope);
        assert!(
            texts(&analysis, "protocols", "protocol").contains(&"nested too deep".to_owned()),
            "{envelope}"
        );
        assert!(
            analysis.summary.warnings.iter().any(|line| line.contains("1 nested too deep (more headers"))
        );
        assert_eq!(deep(10, envelope).summary.tcp_packets, 31, "{envelope}");
    }
}
