//! The same addresses and ports in several tunnels and virtual networks: tenants of one network are told apart, and one
//! connection that passes several of them stays one.

use crate::common::*;

const US: u64 = 1_000;

/// What a packet is put into: by the number of a tenant, and by direction where numbers are agreed upon for each.
type Wrap = fn(u8, bool, &[u8]) -> Vec<u8>;

fn ethernet(kind: [u8; 2], header: &[u8], payload: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &kind, header, payload].concat()
}

/// RFC 791, between the two ends of a tunnel; `end` is a byte of the second one's address.
fn outer(protocol: u8, end: u8, is_back: bool, payload: &[u8]) -> Vec<u8> {
    let total = (20 + payload.len() as u16).to_be_bytes();
    let (near, far) = ([192, 0, 2, 1], [192, 0, 2, end]);
    let (from, to) = if is_back { (far, near) } else { (near, far) };
    let header = [&[0x45, 0][..], &total, &[0, 1, 0, 0, 64, protocol, 0, 0], &from, &to].concat();
    ethernet([8, 0], &header, payload)
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    [&50_000u16.to_be_bytes()[..], &port.to_be_bytes(), &length, &[0, 0], payload].concat()
}

fn label(number: u8, is_last: bool) -> [u8; 4] {
    [0, number >> 4, number << 4 | u8::from(is_last), 64]
}

fn vlan(tenant: u8, _: bool, packet: &[u8]) -> Vec<u8> {
    ethernet([0x81, 0], &[0, tenant, 8, 0], packet)
}

fn vxlan(tenant: u8, is_back: bool, packet: &[u8]) -> Vec<u8> {
    let inside = ethernet([8, 0], &[], packet);
    outer(17, 2, is_back, &udp(4789, &[&[8, 0, 0, 0, 0, 0, tenant, 0][..], &inside].concat()))
}

fn gtp_u(tenant: u8, is_back: bool, packet: &[u8]) -> Vec<u8> {
    let number = tenant + if is_back { 100 } else { 0 };
    outer(17, 2, is_back, &udp(2152, &[&[0x30, 255, 0, 0, 0, 0, 0, number][..], packet].concat()))
}

fn mpls(tenant: u8, is_back: bool, packet: &[u8]) -> Vec<u8> {
    ethernet([0x88, 0x47], &label(tenant + if is_back { 100 } else { 0 }, true), packet)
}

/// Every kind of tunnel, and of what is under it, with the kinds' names.
const NETWORKS: [(&str, Wrap); 15] = [
    ("vlan", vlan),
    ("qinq", |tenant, _, packet| ethernet([0x88, 0xA8], &[0, 9, 0x81, 0, 0, tenant, 8, 0], packet)),
    ("vxlan", vxlan),
    ("vlan in vxlan", |tenant, is_back, packet| {
        let inside = vlan(tenant, is_back, packet);
        outer(17, 2, is_back, &udp(4789, &[&[8, 0, 0, 0, 0, 0, 5, 0][..], &inside].concat()))
    }),
    ("geneve", |tenant, is_back, packet| {
        outer(17, 2, is_back, &udp(6081, &[&[0, 0, 8, 0, 0, 0, tenant, 0][..], packet].concat()))
    }),
    ("gre key", |tenant, is_back, packet| {
        outer(47, 2, is_back, &[&[0x20, 0, 8, 0, 0, 0, 0, tenant][..], packet].concat())
    }),
    ("gre", |tenant, is_back, packet| outer(47, tenant, is_back, &[&[0, 0, 8, 0][..], packet].concat())),
    ("ipip", |tenant, is_back, packet| outer(4, tenant, is_back, packet)),
    ("gtp-u", gtp_u),
    ("mpls", mpls),
    ("mpls of a vpn", |tenant, is_back, packet| {
        let labels = [label(if is_back { 17 } else { 16 }, false), label(tenant, true)].concat();
        ethernet([0x88, 0x47], &labels, packet)
    }),
    ("pppoe", |tenant, _, packet| ethernet([0x88, 0x64], &[0x11, 0, 0, tenant, 0, 0, 0, 0x21], packet)),
    ("l2tp", |tenant, is_back, packet| {
        let session = tenant + if is_back { 100 } else { 0 };
        outer(17, 2, is_back, &udp(1701, &[&[0, 2, 0, 1, 0, session, 0xFF, 3, 0, 0x21][..], packet].concat()))
    }),
    ("802.1ah", |tenant, _, packet| {
        ethernet([0x88, 0xE7], &[0, 0, 0, tenant], &ethernet([8, 0], &[], packet))
    }),
    ("lisp", |tenant, is_back, packet| {
        outer(17, 2, is_back, &udp(4341, &[&[0x88, 0, 0, 0, 0, 0, tenant, 1][..], packet].concat()))
    }),
];

fn is_back(packet: &Tcp) -> bool {
    packet.from == SERVER
}

/// A connection inside of a network, later by so much.
fn tenant(packets: &[(u64, Tcp)], wrap: Wrap, number: u8, later_ns: u64) -> Vec<Timed> {
    let wrapped = packets.iter().map(|(ns, tcp)| (ns + later_ns, wrap(number, is_back(tcp), &tcp.ipv4())));
    wrapped.collect()
}

fn mixed(parts: &[Vec<Timed>]) -> Vec<u8> {
    let mut all = parts.concat();
    all.sort_by_key(|packet| packet.0);
    pcap(false, 1, 1, 0, &all)
}

fn packets_and_bytes(file: Vec<u8>) -> Vec<[f64; 4]> {
    let analysis = analyzed(&[file]);
    let columns = ["data_packets", "acked_bytes", "retransmissions", "copies"]
        .map(|column| numbers(&analysis, "connections", column));
    (0..columns[0].len()).map(|row| columns.each_ref().map(|column| column[row])).collect()
}

/// Two tenants that are alike in everything but the network, as machines made from one image are, at the same time and
/// one after the other: two connections, told by the column of tunnels and by a warning.
#[test]
fn tenants_with_the_same_ports_are_two_connections() {
    for (name, wrap) in NETWORKS {
        for later_ns in [1_000 * US, 5_000_000 * US] {
            let (short, long) = (connection(0, CLIENT, 12), connection(0, CLIENT, 20));
            let file = mixed(&[tenant(&short, wrap, 3, 0), tenant(&long, wrap, 4, later_ns)]);
            let analysis = analyzed(std::slice::from_ref(&file));
            assert_eq!(
                packets_and_bytes(file),
                [[12.0, 12_000.0, 0.0, 0.0], [20.0, 20_000.0, 0.0, 0.0]],
                "{name}, {later_ns} ns"
            );
            let around = texts(&analysis, "subflows", "encapsulation");
            let outer = texts(&analysis, "subflows", "outer_server");
            assert_ne!((&around[0], &outer[0]), (&around[1], &outer[1]), "{name}");
            let told = analysis.summary.warnings.iter().filter(|line| line.contains("told apart by"));
            assert_eq!(told.count(), 1, "{name}: {:?}", analysis.summary.warnings);
        }
    }
}

/// Without handshakes, and with numbers of their own, directions find each other by what they acknowledge.
#[test]
fn tenants_without_a_handshake_are_two_connections() {
    let moved = |packet: &Tcp, by: u32| {
        let (seq, ack) = (packet.seq.wrapping_add(by), packet.ack.wrapping_add(by));
        Tcp { seq, ack, ..packet.clone() }
    };
    for (name, wrap) in NETWORKS {
        let inner = |segments: u32, by: u32| -> Vec<(u64, Tcp)> {
            let all = connection(0, CLIENT, segments);
            all[3..all.len() - 3].iter().map(|(ns, packet)| (*ns, moved(packet, by))).collect()
        };
        let parts =
            [tenant(&inner(12, 0), wrap, 3, 0), tenant(&inner(20, 1_000_000_000), wrap, 4, 1_000 * US)];
        let seen = packets_and_bytes(mixed(&parts));
        let found: Vec<f64> = seen.iter().map(|row| row[0]).collect();
        assert_eq!(found, [12.0, 20.0], "{name}: {seen:?}");
        assert!(seen.iter().all(|row| row[1] > 10_000.0), "{name}: {seen:?}");
    }
}

/// A tenant in a tunnel beside one that is in none.
#[test]
fn a_connection_outside_of_tunnels_is_another_one() {
    let plain: Wrap = |_, _, packet| ethernet([8, 0], &[], packet);
    for (name, wrap) in NETWORKS {
        let (short, long) = (connection(0, CLIENT, 12), connection(0, CLIENT, 20));
        let file = mixed(&[tenant(&short, plain, 0, 0), tenant(&long, wrap, 3, 5_000_000 * US)]);
        let seen = packets_and_bytes(file);
        assert_eq!(seen.iter().map(|row| row[0]).collect::<Vec<_>>(), [12.0, 20.0], "{name}");
    }
}

/// Numbers count up with the packets, as those of hosts do.
fn identified(packets: Vec<(u64, Tcp)>) -> Vec<(u64, Tcp)> {
    packets.into_iter().zip(100..).map(|((ns, packet), id)| (ns, packet.id(id))).collect()
}

/// A router between two virtual networks, whose link is mirrored: each packet has been in both, with one less of the hop
/// limit in the second. Its connection is one.
#[test]
fn a_routed_packet_is_a_copy() {
    for version in [4, 6] {
        let mut all = Vec::new();
        for (ns, packet) in identified(connection(0, CLIENT, 20)) {
            let (kind, bytes, hops) = match version {
                4 => ([8, 0], packet.ipv4(), 8),
                _ => ([0x86, 0xDD], packet.ipv6(6, &[]), 7),
            };
            let mut routed = bytes.clone();
            routed[hops] -= 1;
            let (first, second) = if is_back(&packet) { (20, 10) } else { (10, 20) };
            all.push((ns, ethernet([0x81, 0], &[0, first, kind[0], kind[1]], &bytes)));
            all.push((ns + 20 * US, ethernet([0x81, 0], &[0, second, kind[0], kind[1]], &routed)));
        }
        let count = (all.len() / 2) as f64;
        assert_eq!(
            packets_and_bytes(pcap(false, 1, 1, 0, &all)),
            [[20.0, 20_000.0, 0.0, count]],
            "IPv{version}"
        );
    }
}

/// Labels are swapped and tunnels end between two mirrored links: the packet inside has the same identification.
#[test]
fn a_packet_with_other_labels_is_a_copy() {
    for wrap in [mpls, gtp_u] {
        let packets = identified(connection(0, CLIENT, 20));
        let file = mixed(&[tenant(&packets, wrap, 3, 0), tenant(&packets, wrap, 4, 10 * US)]);
        assert_eq!(packets_and_bytes(file), [[20.0, 20_000.0, 0.0, packets.len() as f64]]);
    }
}

/// A load balancer puts requests into tunnels, and servers answer directly; a mobile host moves to another cell, which
/// gives its tunnels new numbers. Either is one connection.
#[test]
fn a_connection_may_be_in_several_tunnels() {
    let packets = connection(0, CLIENT, 20);
    let answered: Vec<Timed> = packets
        .iter()
        .map(|(ns, tcp)| {
            let packet = tcp.ipv4();
            (*ns, if is_back(tcp) { ethernet([8, 0], &[], &packet) } else { outer(4, 2, false, &packet) })
        })
        .collect();
    let (before, after) = packets.split_at(25);
    let moved = [tenant(before, gtp_u, 3, 0), tenant(after, gtp_u, 4, 0)];
    for file in [mixed(&[answered]), mixed(&moved)] {
        assert_eq!(packets_and_bytes(file), [[20.0, 20_000.0, 0.0, 0.0]]);
    }
}

/// A file from inside of each tunnel and one from outside: by their numbers of TCP, each is joined with its own.
#[test]
fn files_of_several_places_have_the_same_tenants() {
    let packets = connection(0, CLIENT, 20);
    let of = |wrap: Wrap| mixed(&[tenant(&packets, wrap, 3, 0), tenant(&packets, wrap, 4, 1_000 * US)]);
    for (one, other) in [(vxlan as Wrap, vxlan as Wrap), (vlan, vxlan)] {
        let analysis = analyzed(&[of(one), of(other)]);
        assert_eq!(numbers(&analysis, "connections", "data_packets"), [20.0, 20.0]);
    }
}

/// The ports are used again, with a handshake of another number: the connections of a tenant stay two.
#[test]
fn ports_are_used_again_in_each_network() {
    let again = |packets: Vec<(u64, Tcp)>| -> Vec<(u64, Tcp)> {
        let later = packets.iter().map(|(ns, packet)| {
            let by = if is_back(packet) { (50_000, 90_000) } else { (90_000, 50_000) };
            let ack = if packet.flags & ACK == 0 { 0 } else { packet.ack.wrapping_add(by.1) };
            (ns + 3_000_000 * US, Tcp { seq: packet.seq.wrapping_add(by.0), ack, ..packet.clone() })
        });
        [packets.clone(), later.collect()].concat()
    };
    for (name, wrap) in NETWORKS {
        let packets = again(connection(0, CLIENT, 12));
        let file = mixed(&[tenant(&packets, wrap, 3, 0), tenant(&packets, wrap, 4, 1_000 * US)]);
        let seen = packets_and_bytes(file);
        assert_eq!(seen.iter().map(|row| row[0]).collect::<Vec<_>>(), [12.0; 4], "{name}");
    }
}

/// A file in which every packet is in a network of its own is read in time that does not grow with its square.
#[test]
fn very_many_networks_are_bounded() {
    let packets = connection(0, CLIENT, 1);
    let data = packets[3].1.ipv4();
    let all: Vec<Timed> = (0..60_000u64)
        .map(|number| {
            let bytes = (number as u32 + 1).to_be_bytes();
            let header = [&[8, 0, 0, 0][..], &bytes[1..], &[0]].concat();
            let inside = [&header[..], &ethernet([8, 0], &[], &data)].concat();
            (packets[3].0 + number * US, outer(17, 2, false, &udp(4789, &inside)))
        })
        .collect();
    let analysis = analyzed(&[pcap(false, 1, 1, 0, &all)]);
    assert_eq!(numbers(&analysis, "connections", "data_packets").len(), 60_000);
}
