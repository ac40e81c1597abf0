//! A whole multipath connection as Wireshark sees it: it must find one connection, its keys, tokens and data.

use anabranch_transport::wire::{Endpoint, encode};
use anabranch_transport::{ReceiverAgent, Segment, SenderAgent, TransportConfig, preset};
use anabranch_units::{Instant, Span};
use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;

const BYTES: u64 = 300_000;

/// The packets of a transfer over two subflows without loss, in the order in which they leave.
fn transfer() -> Vec<(Instant, bool, Segment)> {
    let Some(config @ TransportConfig::Mptcp(_)) = preset("mptcp") else { panic!("a preset of MPTCP") };
    let (mut sender, mut receiver) =
        (SenderAgent::new(&config, 0xFFFF_FF00, 7), ReceiverAgent::new(&config, 1000));
    assert_eq!((sender.subflow_count(), sender.subflow_addresses(1).local), (2, 0));
    sender.open();
    sender.write(BYTES);
    sender.close();
    let mut now = Instant::ZERO;
    let mut packets = Vec::new();
    let mut wire: VecDeque<(Instant, bool, Segment)> = VecDeque::new();
    loop {
        loop {
            let outwards = sender.poll_transmit(now).map(|segment| (true, segment));
            let Some((out, segment)) =
                outwards.or_else(|| receiver.poll_transmit(now).map(|segment| (false, segment)))
            else {
                break;
            };
            packets.push((now, out, segment));
            wire.push_back((now + Span::from_ms(10), out, segment));
        }
        let timer = [sender.next_timeout(), receiver.next_timeout()].into_iter().flatten().min();
        let arrival = wire.front().map(|packet| packet.0);
        let Some(next) = [timer, arrival].into_iter().flatten().min() else { break };
        now = next;
        if arrival == Some(now) {
            let (_, out, segment) = wire.pop_front().expect("the front is there");
            if out { receiver.on_segment(now, &segment) } else { sender.on_segment(now, &segment) }
        } else {
            sender.on_timeout(now);
            receiver.on_timeout(now);
        }
    }
    assert_eq!(receiver.stats().delivered, BYTES);
    assert_eq!(sender.stats().retransmissions, 0);
    assert!((0..2).all(|i| receiver.subflow(i).expect("it was opened").segments > 5));
    packets
}

/// A pcap file of raw IPv4 packets (link type 101) with timestamps in microseconds.
fn write_pcap(path: &Path, packets: &[(Instant, bool, Segment)]) {
    let mut file = Vec::new();
    file.extend_from_slice(&0xA1B2_C3D4_u32.to_be_bytes());
    file.extend_from_slice(&[0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 101]);
    for (number, (at, out, segment)) in packets.iter().enumerate() {
        let client = Endpoint { addr: [10, 0, 0, 1], port: 40_000 + u16::from(segment.subflow) };
        let server = Endpoint { addr: [10, 0, 1, 1], port: 5001 };
        let (from, to) = if *out { (client, server) } else { (server, client) };
        let mut packet = Vec::new();
        encode(segment, from, to, number as u16, 64, &mut packet).expect("a valid segment");
        let us = at.as_ps() / 1_000_000;
        for word in [us / 1_000_000, us % 1_000_000, packet.len() as u64, packet.len() as u64] {
            file.extend_from_slice(&(word as u32).to_be_bytes());
        }
        file.extend_from_slice(&packet);
    }
    std::fs::write(path, file).expect("the folder can be written");
}

#[test]
fn wireshark_follows_the_connection() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: no tshark on the PATH");
        return;
    }
    let packets = transfer();
    let path = std::env::temp_dir().join(format!("anabranch-mptcp-{}.pcap", std::process::id()));
    write_pcap(&path, &packets);
    let tshark = |arguments: &[&str]| {
        let options = ["-o", "tcp.check_checksum:TRUE", "-o", "mptcp.analyze_mappings:TRUE"];
        let more = ["-o", "mptcp.relative_sequence_numbers:TRUE"];
        let output =
            Command::new("tshark").arg("-r").arg(&path).args(options).args(more).args(arguments).output();
        let output = output.expect("tshark runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let complaints = "_ws.malformed || tcp.checksum.status==0 || ip.checksum.status==0 \
                      || _ws.expert.severity==error";
    assert_eq!(tshark(&["-Y", complaints]), "");
    let columns = |filter: &str, fields: &[&str]| {
        let mut arguments = vec!["-Y", filter, "-T", "fields"];
        fields.iter().for_each(|field| arguments.extend(["-e", field]));
        let rows = tshark(&arguments);
        let row = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
        rows.lines().map(row).collect::<Vec<_>>()
    };
    // Wireshark finds the connection of a joining subflow by its token, a hash of the key.
    let streams = columns("tcp.stream==1", &["mptcp.stream", "mptcp.analysis"]);
    assert!(streams.len() > 20 && streams.iter().all(|row| row[0] == "0"), "{streams:?}");
    assert_eq!(columns("tcp.options.mptcp.recvtok", &["tcp.stream"]), [["1"]]);
    // It takes the first number of the data from the key too; what it counts from there on must be the stream.
    let mapped = columns("tcp.len > 0", &["mptcp.dsn", "tcp.len"]);
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let mut data: Vec<(u64, u64)> = mapped.iter().map(|row| (number(&row[0]), number(&row[1]))).collect();
    data.sort_unstable();
    let end = data.iter().fold(1, |expected, &(start, length)| {
        assert_eq!(start, expected, "the data leave no gap and repeat nothing");
        start + length
    });
    assert_eq!(end, BYTES + 1);
    let unmapped = columns("tcp.len > 0 && _ws.expert.message == \"No mapping available\"", &["tcp.seq"]);
    assert!(unmapped.is_empty(), "{unmapped:?}");
    // The DATA_FIN takes one more number, and is acknowledged.
    let acknowledged = columns("ip.src==10.0.1.1 && mptcp.ack", &["mptcp.ack"]);
    assert_eq!(acknowledged.iter().map(|row| number(&row[0])).max(), Some(BYTES + 2));
    assert_eq!(columns("tcp.options.mptcp.datafin.flag==1", &["ip.src"]).len(), 2, "each end closes once");
    std::fs::remove_file(&path).expect("the file is there");
}
