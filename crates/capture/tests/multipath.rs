//! MPTCP by option bytes written from RFC 8684 (version 1) and RFC 6824 (version 0).

use crate::common::*;

/// A key of eight zero bytes, and what `sha256sum` and `sha1sum` say of them: the token is the first 32 bits.
const KEY: u64 = 0;
const TOKEN_V1: u32 = 0xAF55_70F5;
const TOKEN_V0: u32 = 0x05FE_4057;

fn option(subtype: u8, low: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![30, (3 + body.len()) as u8, subtype << 4 | low];
    bytes.extend(body);
    bytes
}

fn capable_syn(version: u8, key: u64) -> Vec<u8> {
    let flags = [0x01];
    if version == 0 { option(0, 0, &[&flags[..], &key.to_be_bytes()].concat()) } else { option(0, 1, &flags) }
}

fn capable_syn_ack(version: u8, key: u64) -> Vec<u8> {
    option(0, version, &[&[0x01][..], &key.to_be_bytes()].concat())
}

fn capable_ack(version: u8, sender: u64, receiver: u64) -> Vec<u8> {
    option(0, version, &[&[0x01][..], &sender.to_be_bytes(), &receiver.to_be_bytes()].concat())
}

fn join_syn(token: u32) -> Vec<u8> {
    option(1, 0, &[&[1][..], &token.to_be_bytes(), &[9; 4]].concat())
}

fn join_syn_ack() -> Vec<u8> {
    option(1, 0, &[&[1][..], &[7; 8], &[9; 4]].concat())
}

fn join_ack() -> Vec<u8> {
    option(1, 0, &[&[0][..], &[7; 20]].concat())
}

/// Data ACK of 8 or 4 bytes.
fn data_ack(number: u64, whole: bool) -> Vec<u8> {
    if whole {
        option(2, 0, &[&[0x03][..], &number.to_be_bytes()].concat())
    } else {
        option(2, 0, &[&[0x01][..], &(number as u32).to_be_bytes()].concat())
    }
}

/// Data ACK of 4 bytes and a mapping of 8.
fn mapping(ack: u32, dsn: u64, ssn: u32, length: u16) -> Vec<u8> {
    let numbers = [&ack.to_be_bytes()[..], &dsn.to_be_bytes(), &ssn.to_be_bytes(), &length.to_be_bytes()];
    option(2, 0, &[&[0x01 | 0x04 | 0x08][..], &numbers.concat()].concat())
}

/// A subflow: its opening options, then `segments` of 1000 bytes whose data sequence numbers begin at
/// `dsn` and go on by `step`.
#[derive(Clone)]
struct Subflow {
    start_ms: u64,
    client: ([u8; 4], u16),
    handshake: [Vec<u8>; 3],
    segments: u64,
    dsn: u64,
    step: u64,
    whole: bool,
}

impl Subflow {
    fn packets(&self) -> Vec<(u64, Tcp)> {
        let mut packets = connection(self.start_ms, self.client, self.segments as u32);
        for (packet, options) in packets.iter_mut().zip(&self.handshake) {
            packet.1.options.extend(options);
        }
        let mut number = 0;
        for (_, packet) in packets.iter_mut().skip(3) {
            if packet.payload > 0 {
                let dsn = self.dsn + number * self.step;
                packet.options.extend(mapping(5, dsn, 1 + 1000 * number as u32, 1000));
            } else if packet.from == SERVER && packet.flags == ACK {
                let acked = self.dsn + number * self.step + 1000;
                packet.options.extend(data_ack(acked, self.whole));
                number += 1;
            }
        }
        packets
    }
}

fn capture(subflows: &[Subflow]) -> Vec<u8> {
    let mut packets: Vec<(u64, Tcp)> = subflows.iter().flat_map(Subflow::packets).collect();
    packets.sort_by_key(|packet| packet.0);
    pcap(false, 1000, RAW, 0, &ipv4(&packets))
}

fn client(port: u16) -> ([u8; 4], u16) {
    (CLIENT.0, port)
}

fn capable(version: u8) -> [Vec<u8>; 3] {
    [capable_syn(version, 42), capable_syn_ack(version, KEY), capable_ack(version, 42, KEY)]
}

fn joined(token: u32) -> [Vec<u8>; 3] {
    [join_syn(token), join_syn_ack(), join_ack()]
}

/// Two subflows take turns: the second one's numbers lie between those of the first.
fn pair(version: u8, token: u32, whole: bool, dsn: u64) -> Vec<Subflow> {
    let first = Subflow {
        start_ms: 0,
        client: client(40000),
        handshake: capable(version),
        segments: 100,
        dsn,
        step: 2000,
        whole,
    };
    let (client, handshake) = (client(40001), joined(token));
    vec![first.clone(), Subflow { start_ms: 1, client, handshake, dsn: dsn + 1000, ..first }]
}

#[test]
fn a_join_is_tied_by_its_token_in_both_versions() {
    for (version, token) in [(0, TOKEN_V0), (1, TOKEN_V1)] {
        let analysis = analyzed(&[capture(&pair(version, token, true, 1 << 40))]);
        assert_eq!(texts(&analysis, "connections", "kind"), ["mptcp"], "version {version}");
        assert_eq!(texts(&analysis, "subflows", "tie"), ["capable", "key"], "version {version}");
        assert_eq!(numbers(&analysis, "connections", "acked_bytes"), [200_000.0]);
        // T1 is the second one's handshake, T2 the first one's FIN.
        assert_eq!((analysis.summary.t1_s, analysis.summary.t2_s), (Some(0.011), Some(1.020)));
        assert!(analysis.summary.warnings.is_empty(), "{:?}", analysis.summary.warnings);
    }
    // Version 1 does not use SHA-1.
    let analysis = analyzed(&[capture(&pair(1, TOKEN_V0, true, 1 << 40))]);
    assert_eq!(texts(&analysis, "subflows", "tie")[0], "capable");
    assert_eq!(texts(&analysis, "subflows", "tie")[1], "data sequence");
}

#[test]
fn data_acks_count_each_byte_once_across_the_wrap_of_their_lower_half() {
    for whole in [true, false] {
        // In the middle of the transfer the lower 32 bits begin again.
        let begin = (7 << 32) - 90_000;
        let mut subflows = pair(1, TOKEN_V1, whole, begin);
        // Everything once more on a third subflow, as a redundant scheduler sends it.
        subflows.push(Subflow {
            start_ms: 2,
            client: client(40002),
            handshake: joined(TOKEN_V1),
            ..subflows[0].clone()
        });
        let file = capture(&subflows);
        let mut options = options();
        options.window = Some(anabranch_units::Span::from_ms(500));
        let analysis = analyze_all(&[file], &options).expect("a capture");
        assert_eq!(texts(&analysis, "subflows", "tie"), ["capable", "key", "key"]);
        // The window is ]520 ms, 1020 ms]. The ACKs of the first subflow arrive at 25 + 10 i ms, of the
        // second at 26 + 10 i: 50 each (525 to 1015, 526 to 1016). The connection moves by 2000 bytes each
        // 10 ms; three subflows acknowledge 3000.
        assert_eq!(numbers(&analysis, "connections", "window_acked_bytes"), [150_000.0], "whole {whole}");
        assert_eq!(
            numbers(&analysis, "connections", "window_data_acked_bytes"),
            [100_000.0],
            "whole {whole}"
        );
        let series = numbers(&analysis, "connection_series", "data_throughput_mbps");
        // First interval: until 996 ms the connection's number moves from begin + 1000, the first data ACK,
        // to that of the second subflow's segment 97, begin + 1000 + 97 * 2000 + 1000.
        assert!((series[0] - 195_000.0 * 8.0 / 1e6).abs() < 1e-9, "{series:?}");
    }
}

#[test]
fn without_handshakes_close_numbers_are_a_guess_and_far_ones_are_not() {
    let headless = |subflows: Vec<Subflow>| {
        let mut packets: Vec<_> =
            subflows.iter().flat_map(|subflow| subflow.packets().split_off(3)).collect();
        packets.sort_by_key(|packet| packet.0);
        analyzed(&[pcap(false, 1000, RAW, 0, &ipv4(&packets))])
    };
    let analysis = headless(pair(1, TOKEN_V1, true, 1 << 40));
    assert_eq!(texts(&analysis, "subflows", "tie"), ["data sequence", "data sequence"]);
    assert_eq!(numbers(&analysis, "subflows", "connection"), [0.0, 0.0]);
    assert!(
        analysis.summary.warnings.iter().any(|line| line.contains("tied to their connection by a guess"))
    );
    assert_eq!(analysis.summary.t1_s, None);

    let mut strangers = pair(1, TOKEN_V1, true, 1 << 40);
    strangers[1].dsn += 1 << 35;
    let analysis = headless(strangers);
    assert_eq!(texts(&analysis, "subflows", "tie"), ["unknown", "unknown"]);
    assert_eq!(numbers(&analysis, "subflows", "connection"), [0.0, 1.0]);
    assert!(analysis.summary.warnings.iter().any(|line| line.contains("nothing says to which connection")));
}

#[test]
fn joins_of_one_token_belong_together_even_without_the_key() {
    let mut subflows = pair(1, TOKEN_V1, true, 1 << 40);
    subflows[0].handshake = joined(TOKEN_V1);
    let analysis = analyzed(&[capture(&subflows)]);
    assert_eq!(texts(&analysis, "subflows", "tie"), ["token", "token"]);
    assert_eq!(numbers(&analysis, "connections", "subflows"), [2.0]);
}

/// RFC 8684 section 3.7: a server without MPTCP leaves the option out, and the connection is plain TCP.
#[test]
fn a_server_without_mptcp_makes_it_tcp() {
    let mut packets = connection(0, CLIENT, 10);
    packets[0].1.options.extend(capable_syn(1, 42));
    let analysis = analyzed(&[pcap(false, 1000, RAW, 0, &ipv4(&packets))]);
    assert_eq!(texts(&analysis, "connections", "kind"), ["tcp"]);
}

/// Hosts with a connection each, as in the thesis: throughput and Jain's index by hand.
#[test]
fn throughput_and_fairness_of_two_hosts() {
    let mut packets = connection(0, client(40000), 300);
    // The other host sends from 1000 ms on only, at the same rate, and ends later.
    packets.extend(connection(980, ([10, 0, 0, 9], 40000), 300));
    packets.sort_by_key(|packet| packet.0);
    let mut options = options();
    options.window = Some(anabranch_units::Span::from_secs(2));
    let file = pcap(false, 1000, RAW, 0, &ipv4(&packets));
    let analysis = analyze_all(std::slice::from_ref(&file), &options).expect("a capture");
    // T2 = 3020 ms, so that the window is ]1020, 3020]: 200 ACKs of each host.
    assert_eq!((analysis.summary.window_start_s, analysis.summary.window_end_s), (1.02, 3.02));
    assert_eq!(numbers(&analysis, "connections", "window_throughput_mbps"), [0.8, 0.8]);
    assert_eq!(analysis.summary.jain_index, 1.0);
    assert!(analysis.summary.warnings.is_empty(), "{:?}", analysis.summary.warnings);
    // 3 s begin before T1 = 990 ms; in ]20, 3020] there are 300 and 202 ACKs.
    options.window = Some(anabranch_units::Span::from_secs(3));
    let analysis = analyze_all(&[file], &options).expect("a capture");
    assert!(analysis.summary.warnings.iter().any(|line| line.contains("before T1 = 0.990000 s")));
    let acked = numbers(&analysis, "connections", "window_acked_bytes");
    assert_eq!(acked, [300_000.0, 202_000.0]);
    let jain = 502.0f64.powi(2) / (2.0 * (300.0f64.powi(2) + 202.0f64.powi(2)));
    assert!((analysis.summary.jain_index - jain).abs() < 1e-12);
}
