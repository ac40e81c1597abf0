//! Captures compressed with gzip: the same numbers, and of a damaged one what can be unpacked.

mod common;

use anabranch_capture::Analysis;
use common::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("into memory");
    encoder.finish().expect("into memory")
}

fn plain() -> Vec<u8> {
    pcap(false, 1000, RAW, 0, &ipv4(&connection(0, CLIENT, 2000)))
}

fn tables(analysis: &Analysis) -> String {
    format!("{:?}", analysis.tables)
}

#[test]
fn gzip_changes_nothing() {
    let file = plain();
    let expected = analyzed(std::slice::from_ref(&file));
    let packed = analyzed(&[gzip(&file)]);
    assert_eq!(tables(&packed), tables(&expected));
    assert_eq!(packed.summary.bytes, file.len() as u64);
    assert!(packed.summary.warnings.is_empty());
    // Several members one behind the other, as of joined files (RFC 1952 section 2.2).
    let (first, second) = file.split_at(file.len() / 2 + 7);
    assert_eq!(tables(&analyzed(&[[gzip(first), gzip(second)].concat()])), tables(&expected));
}

#[test]
fn a_cut_or_damaged_file_is_one_warning_and_the_packets_before() {
    let packed = gzip(&plain());
    let cut = analyzed(&[packed[..packed.len() / 2].to_vec()]);
    let mut bytes = packed.clone();
    // Of its checksum (RFC 1952 section 2.3.1).
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    let damaged = analyzed(&[bytes]);
    for (analysis, what) in [(cut, "the gzip file is cut"), (damaged, "the gzip file is damaged")] {
        let about: Vec<_> =
            analysis.summary.warnings.iter().filter(|warning| warning.contains("0.pcap")).cloned().collect();
        assert_eq!(about.len(), 1, "{about:?}");
        assert!(about[0].contains(what), "{about:?}");
        assert!(about[0].ends_with(&format!("is used, {} packets", analysis.summary.packets)), "{about:?}");
        assert!((100..=4006).contains(&analysis.summary.packets), "{about:?}");
        assert!(numbers(&analysis, "subflows", "acked_bytes")[0] > 100_000.0);
    }
}

#[test]
fn cut_before_the_first_packet_or_no_capture_it_is_a_message() {
    let message = |bytes: Vec<u8>| analyze_all(&[bytes], &options()).expect_err("no capture").to_string();
    assert!(message(gzip(&plain())[..12].to_vec()).contains("the gzip file is cut, before the first packet"));
    assert!(message(gzip(b"a letter, and no capture")).contains("is neither pcap nor pcapng"));
    assert!(message(gzip(b"")).contains("is empty"));
}
