//! Megabytes and packets of captures read in a second of CPU time, both passes together: `cargo bench -p anabranch-capture`.
//! Writes a capture of `CAPTURE_BENCH_MB` (256 if not set) into the folder for temporary files, and removes it.
//! An argument chooses the captures whose names contain it.

#[path = "../../engine/benches/cpu/mod.rs"]
mod cpu;

use anabranch_capture::{Options, analyze};
use anabranch_units::Span;
use cpu::cpu_seconds;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// Readings of each capture, of which the fastest counts.
const ROUNDS: usize = 5;

fn main() -> io::Result<()> {
    let megabytes = std::env::var("CAPTURE_BENCH_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(256);
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    println!("{:<42} {:>8} {:>9} {:>9} {:>12}", "capture", "MB", "packets", "MB/s", "M packets/s");
    for (name, snap, flows) in [
        ("1500-byte packets and ACKs, 64 flows", 65_535, 64),
        ("the same, snap length 96", 96, 64),
        ("snap length 96, 50,000 flows", 96, 50_000),
    ]
    .into_iter()
    .filter(|capture| capture.0.contains(&wanted))
    {
        measure(name, snap, flows, megabytes * 1_000_000)?;
    }
    Ok(())
}

fn measure(name: &str, snap: usize, flows: u32, bytes: u64) -> io::Result<()> {
    let path = std::env::temp_dir().join(format!("anabranch-bench-{}.pcap", std::process::id()));
    let outcome = write(&path, snap, flows, bytes).and_then(|packets| run(name, &path, packets));
    std::fs::remove_file(&path)?;
    outcome
}

/// Flows in turns: a full segment, and an ACK for every second one.
fn write(path: &Path, snap: usize, flows: u32, bytes: u64) -> io::Result<u64> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let header: [u32; 6] = [0xA1B2_C3D4, 0x0004_0002, 0, 0, 262_144, 1];
    for word in header {
        file.write_all(&word.to_le_bytes())?;
    }
    let (mut written, mut packets) = (24u64, 0u64);
    while written < bytes {
        let flow = (packets / 3 % u64::from(flows)) as u32;
        let round = (packets / 3 / u64::from(flows)) as u32;
        let acks = packets % 3 == 2;
        let seq = round.wrapping_mul(2896).wrapping_add(if packets % 3 == 1 { 1448 } else { 0 });
        let frame = frame(flow, acks, seq);
        let original = frame.len() + if acks { 0 } else { 1448 };
        let kept = original.min(snap);
        let micros = packets * 4;
        for word in [(micros / 1_000_000) as u32, (micros % 1_000_000) as u32, kept as u32, original as u32] {
            file.write_all(&word.to_le_bytes())?;
        }
        file.write_all(&frame[..frame.len().min(kept)])?;
        file.write_all(&[0; 1448][..kept.saturating_sub(frame.len())])?;
        written += 16 + kept as u64;
        packets += 1;
    }
    file.flush()?;
    Ok(packets)
}

/// Ethernet, IPv4, TCP with timestamps: 66 bytes of headers.
fn frame(flow: u32, acks: bool, seq: u32) -> Vec<u8> {
    let (client, server) = ([10, 1, (flow >> 8) as u8, flow as u8], [10, 0, 0, 1]);
    let (client_port, server_port) = (40_000 + (flow >> 16) as u16, 5001u16);
    let payload: u16 = if acks { 0 } else { 1448 };
    let mut bytes = vec![2; 12];
    bytes.extend([8, 0, 0x45, 0]);
    bytes.extend((52 + payload).to_be_bytes());
    bytes.extend([0, 1, 0x40, 0, 64, 6, 0, 0]);
    let (from, to) = if acks { (server, client) } else { (client, server) };
    bytes.extend(from);
    bytes.extend(to);
    let (from, to) = if acks { (server_port, client_port) } else { (client_port, server_port) };
    bytes.extend(from.to_be_bytes());
    bytes.extend(to.to_be_bytes());
    let (seq, ack) = if acks { (1, seq.wrapping_add(2896)) } else { (seq, 1) };
    bytes.extend(seq.to_be_bytes());
    bytes.extend(ack.to_be_bytes());
    bytes.extend([0x80, 0x10, 0xFF, 0xFF, 0, 0, 0, 0, 1, 1, 8, 10]);
    bytes.extend((seq / 1000).to_be_bytes());
    bytes.extend([0; 4]);
    bytes
}

fn run(name: &str, path: &Path, packets: u64) -> io::Result<()> {
    let options = Options {
        window: None,
        interval: Span::from_secs(1),
        ports: Vec::new(),
        disjoint: false,
        threads: 1,
    };
    let megabytes = path.metadata()?.len() as f64 / 1e6;
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = cpu_seconds();
        let analysis = analyze(&[path.to_path_buf()], &options, |_| ControlFlow::Continue(()));
        let analysis = analysis.map_err(io::Error::other)?;
        best = best.min(cpu_seconds() - begin);
        assert_eq!(analysis.summary.tcp_packets, packets);
    }
    let million = packets as f64 / 1e6;
    println!("{name:<42} {megabytes:>8.0} {packets:>9} {:>9.0} {:>12.2}", megabytes / best, million / best);
    Ok(())
}
