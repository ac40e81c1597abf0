//! A run written to pcapng, read back, and shown to Wireshark's own dissector where there is one.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::capture::host_address;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::queues::threshold::ThresholdParameters;
use anabranch_engine::setup::*;
use anabranch_engine::transport::wire::{Decoded, decode};
use anabranch_engine::transport::{Flags, tcp_preset};
use anabranch_units::{Instant, LinkId, NodeId, Span};
use pcap_file::pcapng::{Block, PcapNgReader};
use std::path::PathBuf;
use std::process::Command;

/// Bytes of the transfer: 100 full segments and a short one.
const BYTES: u64 = 100 * 1448 + 77;

/// Files in the system's folder for them, removed at the end of the test.
struct Files {
    link: PathBuf,
    host: PathBuf,
}

impl Files {
    fn new(test: &str) -> Self {
        let file = |at| {
            std::env::temp_dir().join(format!("anabranch-run-{}-{test}-{at}.pcapng", std::process::id()))
        };
        Self { link: file("link"), host: file("host") }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in [&self.link, &self.host] {
            if let Err(error) = std::fs::remove_file(path) {
                eprintln!("{}: {error}", path.display());
            }
        }
    }
}

/// A transfer over two hops that loses packets and sees ECN marks, captured on the second hop (links 2
/// and 3 there and back) and at the receiver.
fn captured(files: &Files) -> Outcome {
    let mut b = Builder::new(Span::from_secs(10));
    let [a, middle, z] = ["a", "middle", "z"].map(|name| b.node(name));
    b.link(a, middle, mbps(10), Span::from_ms(5), 30);
    b.link(middle, z, mbps(5), Span::from_ms(5), 30);
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.05 });
    b.setup.links[2].queue.discipline = Discipline::Threshold(ThresholdParameters { mark_at: 3 });
    let mut tcp = tcp_preset("linux-cubic").expect("a preset");
    tcp.ecn = true;
    let tcp = b.tcp("linux-cubic with ECN", tcp);
    b.flow(a, z, tcp, SourceSetup::Sized { bytes: BYTES }, Instant::ZERO);
    let capture = |file: &PathBuf, at| CaptureSetup {
        file: file.to_str().expect("a path in UTF-8").to_owned(),
        at,
        snap_length: 0,
    };
    b.setup.captures = vec![
        capture(&files.link, CapturePoint::Link { link: LinkId(2) }),
        capture(&files.host, CapturePoint::Host { host: z }),
    ];
    b.run()
}

/// Every packet of a file with its time in nanoseconds.
fn read(path: &PathBuf) -> Vec<(u128, Decoded)> {
    let bytes = std::fs::read(path).expect("the file is there");
    let mut reader = PcapNgReader::new(&bytes[..]).expect("a section header");
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a well-formed block") {
            // Checks both checksums.
            let decoded = decode(&packet.data).expect("a right packet");
            packets.push((packet.timestamp.as_nanos(), decoded));
        }
    }
    packets
}

#[test]
fn a_capture_holds_every_packet_of_its_point_in_order_of_time() {
    let files = Files::new("holds");
    let outcome = captured(&files);
    let (link, host) = (read(&files.link), read(&files.host));
    assert_eq!(link.len() as u64, integer(&outcome, "links", "packets", 2));
    let both_ways = integer(&outcome, "links", "packets", 2) + integer(&outcome, "links", "packets", 3);
    assert_eq!(host.len() as u64, both_ways);
    for packets in [&link, &host] {
        assert!(packets.is_sorted_by_key(|(time, _)| *time));
    }
    assert!(link.iter().all(|(_, packet)| packet.source.addr == host_address(NodeId(0))));
    let marked = link.iter().filter(|(_, packet)| packet.segment.flags.has(Flags::CE)).count();
    assert_eq!(marked as u64, integer(&outcome, "links", "ecn_marks", 2));
    assert!(marked > 0);
}

#[test]
fn the_stream_can_be_put_together_from_the_capture() {
    let files = Files::new("stream");
    let outcome = captured(&files);
    assert!(integer(&outcome, "flows", "retransmissions", 0) > 0);
    let host = read(&files.host);
    let syn = host[0].1.segment;
    assert!(syn.flags.has(Flags::SYN) && !syn.flags.has(Flags::ACK));
    let mut seen = vec![false; BYTES as usize];
    for (_, packet) in host.iter().filter(|(_, packet)| packet.source.addr == host_address(NodeId(0))) {
        let start = packet.segment.seq.wrapping_sub(syn.seq).wrapping_sub(1) as usize;
        (0..usize::from(packet.segment.payload)).for_each(|i| seen[start + i] = true);
    }
    assert!(seen.iter().all(|&byte| byte), "a byte never came");
    // The FIN takes the number after the last byte, and both sides send one.
    let fins: Vec<_> = host.iter().filter(|(_, packet)| packet.segment.flags.has(Flags::FIN)).collect();
    let end = |packet: &Decoded| {
        packet.segment.seq.wrapping_add(u32::from(packet.segment.payload)).wrapping_sub(syn.seq)
    };
    assert_eq!(end(&fins[0].1), BYTES as u32 + 1);
    assert!(fins.iter().any(|(_, packet)| packet.source.addr == host_address(NodeId(2))));
}

#[test]
fn tshark_has_no_complaint_about_a_run() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: no tshark on the PATH");
        return;
    }
    let files = Files::new("tshark");
    let outcome = captured(&files);
    let tshark = |file: &PathBuf, arguments: &[&str]| {
        let checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"];
        let output = Command::new("tshark").arg("-r").arg(file).args(checks).args(arguments).output();
        let output = output.expect("tshark runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let complaints = "_ws.malformed || tcp.checksum.status==0 || ip.checksum.status==0 \
                      || _ws.expert.severity==error";
    for file in [&files.link, &files.host] {
        assert_eq!(tshark(file, &["-Y", complaints]), "");
        // The same filter turned around finds every packet: the checks were made and passed.
        let checked = tshark(file, &["-Y", "tcp.checksum.status==1 && ip.checksum.status==1"]);
        assert_eq!(checked.lines().count(), read(file).len());
    }
    // At the host both directions are there, so the analysis of the connection can find fault: an
    // acknowledgment of what was never sent, a segment beyond the window.
    let faults = "tcp.analysis.ack_lost_segment || tcp.analysis.window_full && tcp.len==0";
    assert_eq!(tshark(&files.host, &["-Y", faults]), "");
    let fields = ["-T", "fields", "-e", "tcp.seq", "-e", "tcp.ack", "-e", "tcp.len"];
    let table = tshark(&files.host, &fields);
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["0", "0", "0"], "SYN");
    assert_eq!(lines[1], ["0", "1", "0"], "SYN-ACK");
    let highest: u64 = lines.iter().map(|line| line[1].parse::<u64>().expect("a number")).max().unwrap();
    // Relative number 0 is the SYN's, so the ACK of the FIN stands two above the bytes.
    assert_eq!(highest, BYTES + 2);
    assert_eq!(integer(&outcome, "flows", "delivered_bytes", 0), BYTES);
}
