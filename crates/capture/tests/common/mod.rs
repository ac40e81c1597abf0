//! Captures written byte by byte from the formats' definitions, with code of their own.
#![allow(dead_code, reason = "each test file uses its part")]

use anabranch_capture::{Analysis, CaptureError, Options, analyze};
use anabranch_units::Span;
use anabranch_units::records::Column;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

pub const SYN: u8 = 2;
pub const FIN: u8 = 1;
pub const RST: u8 = 4;
pub const ACK: u8 = 16;

/// A TCP packet, IP header first.
#[derive(Clone, Debug)]
pub struct Tcp {
    pub from: ([u8; 4], u16),
    pub to: ([u8; 4], u16),
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    /// The identification of IPv4.
    pub id: u16,
    pub options: Vec<u8>,
    pub payload: usize,
}

pub const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 1], 40000);
pub const SERVER: ([u8; 4], u16) = ([10, 0, 0, 2], 5001);

pub fn tcp(from: ([u8; 4], u16), to: ([u8; 4], u16), seq: u32, ack: u32, flags: u8, payload: usize) -> Tcp {
    Tcp { from, to, seq, ack, flags, window: u16::MAX, id: 7, options: Vec::new(), payload }
}

impl Tcp {
    pub fn options(mut self, options: &[u8]) -> Self {
        self.options.extend_from_slice(options);
        self
    }

    pub fn window(self, window: u16) -> Self {
        Self { window, ..self }
    }

    pub fn id(self, id: u16) -> Self {
        Self { id, ..self }
    }

    fn segment(&self) -> Vec<u8> {
        let mut options = self.options.clone();
        options.resize(options.len().next_multiple_of(4), 1);
        let mut bytes = Vec::new();
        bytes.extend(self.from.1.to_be_bytes());
        bytes.extend(self.to.1.to_be_bytes());
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.push((((20 + options.len()) / 4) << 4) as u8);
        bytes.push(self.flags);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes.resize(bytes.len() + self.payload, 0x55);
        bytes
    }

    /// RFC 791.
    pub fn ipv4(&self) -> Vec<u8> {
        let segment = self.segment();
        let mut bytes = vec![0x45, 0];
        bytes.extend(((20 + segment.len()) as u16).to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0x40, 0, 64, 6, 0, 0]);
        bytes.extend(self.from.0);
        bytes.extend(self.to.0);
        bytes.extend(segment);
        bytes
    }

    /// RFC 8200, with `extensions` before TCP, the first of them of type `first`.
    pub fn ipv6(&self, first: u8, extensions: &[u8]) -> Vec<u8> {
        let segment = self.segment();
        let address = |v4: [u8; 4]| [&[0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0][..], &v4[..]].concat();
        let mut bytes = vec![0x60, 0, 0, 0];
        bytes.extend(((extensions.len() + segment.len()) as u16).to_be_bytes());
        bytes.extend([first, 64]);
        bytes.extend(address(self.from.0));
        bytes.extend(address(self.to.0));
        bytes.extend(extensions);
        bytes.extend(segment);
        bytes
    }
}

/// A packet at a time in nanoseconds.
pub type Timed = (u64, Vec<u8>);

pub fn ipv4(packets: &[(u64, Tcp)]) -> Vec<Timed> {
    packets.iter().map(|(ns, packet)| (*ns, packet.ipv4())).collect()
}

pub const RAW: u16 = 101;

fn u16_in(big: bool, value: u16) -> [u8; 2] {
    if big { value.to_be_bytes() } else { value.to_le_bytes() }
}

fn u32_in(big: bool, value: u32) -> [u8; 4] {
    if big { value.to_be_bytes() } else { value.to_le_bytes() }
}

/// A pcap file; `unit_ns` is 1000 or 1. Packets are cut to `snap`, if it is not 0.
pub fn pcap(big: bool, unit_ns: u64, link_type: u16, snap: usize, packets: &[Timed]) -> Vec<u8> {
    let magic = if unit_ns == 1 { 0xA1B2_3C4D } else { 0xA1B2_C3D4 };
    let mut file = u32_in(big, magic).to_vec();
    file.extend(u16_in(big, 2));
    file.extend(u16_in(big, 4));
    file.extend([0; 8]);
    file.extend(u32_in(big, 262_144));
    file.extend(u32_in(big, u32::from(link_type)));
    for (ns, packet) in packets {
        let kept = if snap == 0 { packet.len() } else { packet.len().min(snap) };
        file.extend(u32_in(big, (ns / 1_000_000_000) as u32));
        file.extend(u32_in(big, (ns % 1_000_000_000 / unit_ns) as u32));
        file.extend(u32_in(big, kept as u32));
        file.extend(u32_in(big, packet.len() as u32));
        file.extend(&packet[..kept]);
    }
    file
}

/// A block of a pcapng file.
pub fn block(big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = u32_in(big, (12 + body.len()) as u32);
    [&u32_in(big, kind)[..], &length, &body, &length].concat()
}

pub fn section(big: bool) -> Vec<u8> {
    let body = [&u32_in(big, 0x1A2B_3C4D)[..], &u16_in(big, 1), &u16_in(big, 0), &[0xFF; 8]].concat();
    block(big, 0x0A0D_0D0A, &body)
}

pub fn interface(big: bool, link_type: u16, options: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = [&u16_in(big, link_type)[..], &[0; 2], &u32_in(big, 0)].concat();
    for (code, value) in options {
        body.extend(u16_in(big, *code));
        body.extend(u16_in(big, value.len() as u16));
        body.extend(value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    body.extend([0; 4]);
    block(big, 1, &body)
}

pub fn enhanced(big: bool, interface: u32, ticks: u64, packet: &[u8]) -> Vec<u8> {
    let mut body = u32_in(big, interface).to_vec();
    body.extend(u32_in(big, (ticks >> 32) as u32));
    body.extend(u32_in(big, ticks as u32));
    body.extend(u32_in(big, packet.len() as u32));
    body.extend(u32_in(big, packet.len() as u32));
    body.extend(packet);
    block(big, 6, &body)
}

/// A folder of files, removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("anabranch-capture-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a writable folder for temporary files");
        Self(path)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("room for a small file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}

pub fn options() -> Options {
    Options { window: None, interval: Span::from_secs(1), ports: Vec::new(), disjoint: false, threads: 2 }
}

pub fn analyze_all(files: &[Vec<u8>], options: &Options) -> Result<Analysis, CaptureError> {
    let folder = Folder::new();
    let paths: Vec<PathBuf> =
        files.iter().enumerate().map(|(i, bytes)| folder.write(&format!("{i}.pcap"), bytes)).collect();
    analyze(&paths, options, |_| ControlFlow::Continue(()))
}

pub fn analyzed(files: &[Vec<u8>]) -> Analysis {
    analyze_all(files, &options()).expect("captures")
}

/// A column of numbers.
pub fn numbers(analysis: &Analysis, table: &str, column: &str) -> Vec<f64> {
    match find(analysis, table, column) {
        Column::Integers(values) => values.iter().map(|value| *value as f64).collect(),
        Column::Numbers(values) => values.clone(),
        _ => panic!("{column} is text"),
    }
}

pub fn texts(analysis: &Analysis, table: &str, column: &str) -> Vec<String> {
    match find(analysis, table, column) {
        Column::Texts(values) => values.iter().map(str::to_owned).collect(),
        _ => panic!("{column} is no text"),
    }
}

fn find<'a>(analysis: &'a Analysis, table: &str, column: &str) -> &'a Column {
    let table = analysis.tables.iter().find(|candidate| candidate.name == table).expect("a table");
    &table.columns.iter().find(|candidate| candidate.0 == column).expect("a column").1
}

pub const MS: u64 = 1_000_000;

/// A connection whose numbers are known: SYN at `start`, round trip 10 ms, then `segments` of 1000 bytes,
/// one each 10 ms from 20 ms on, each acknowledged 5 ms later; the FIN 10 ms after the last.
pub fn connection(start_ms: u64, client: ([u8; 4], u16), segments: u32) -> Vec<(u64, Tcp)> {
    let (isn, server_isn) = (u32::MAX - 1500, 77_000);
    let mut packets = vec![
        (start_ms, tcp(client, SERVER, isn, 0, SYN, 0)),
        (start_ms + 5, tcp(SERVER, client, server_isn, isn.wrapping_add(1), SYN | ACK, 0)),
        (start_ms + 10, tcp(client, SERVER, isn.wrapping_add(1), server_isn + 1, ACK, 0)),
    ];
    let mut seq = isn.wrapping_add(1);
    for i in 0..segments {
        let at = start_ms + 20 + 10 * u64::from(i);
        packets.push((at, tcp(client, SERVER, seq, server_isn + 1, ACK, 1000)));
        seq = seq.wrapping_add(1000);
        packets.push((at + 5, tcp(SERVER, client, server_isn + 1, seq, ACK, 0)));
    }
    let end = start_ms + 20 + 10 * u64::from(segments);
    packets.push((end, tcp(client, SERVER, seq, server_isn + 1, FIN | ACK, 0)));
    packets.push((end + 5, tcp(SERVER, client, server_isn + 1, seq.wrapping_add(1), FIN | ACK, 0)));
    packets.push((end + 10, tcp(client, SERVER, seq.wrapping_add(1), server_isn + 2, ACK, 0)));
    packets.into_iter().map(|(ms, packet)| (ms * MS + 1_700_000_000_000 * MS, packet)).collect()
}
