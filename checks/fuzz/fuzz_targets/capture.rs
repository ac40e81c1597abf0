//! Bytes as a capture: as the file itself, or as the packets of a file of any link type, so that headers in headers are
//! found without a head of a file. Tables or a message, never a panic.
#![no_main]

use anabranch_capture::{Options, analyze};
use anabranch_units::Span;
use libfuzzer_sys::fuzz_target;
use std::ops::ControlFlow;

/// A pcap file of this link type, with packets that are each a byte for the length and so many bytes.
fn file(link_type: u16, mut packets: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xA1B2_C3D4, 0x0004_0002, 0, 0, 65_535, u32::from(link_type)] {
        bytes.extend(u32::to_le_bytes(word));
    }
    let mut micros = 0u32;
    while let [length, rest @ ..] = packets {
        let (packet, behind) = rest.split_at(rest.len().min(usize::from(*length)));
        for word in [1_700_000_000, micros, packet.len() as u32, packet.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(packet);
        (packets, micros) = (behind, micros + 100);
    }
    bytes
}

fuzz_target!(|data: &[u8]| {
    let [kind, link_type @ ..] = data else { return };
    let bytes = match link_type {
        [high, low, packets @ ..] if kind % 4 != 0 => file(u16::from_be_bytes([high % 2, *low]), packets),
        rest => rest.to_vec(),
    };
    let path = std::env::temp_dir().join(format!("anabranch-fuzz-{}.pcap", std::process::id()));
    std::fs::write(&path, &bytes).expect("room for a small file");
    let options = Options {
        window: None,
        // Random times span centuries.
        interval: Span::MAX,
        ports: Vec::new(),
        disjoint: kind & 0x80 != 0,
        threads: 1,
    };
    match analyze(std::slice::from_ref(&path), &options, |_| ControlFlow::Continue(())) {
        Ok(analysis) => assert!(analysis.summary.packets as usize * 16 <= bytes.len()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    std::fs::remove_file(&path).expect("it was just written");
});
