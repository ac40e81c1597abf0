//! Captures compressed with gzip or zstd: the same numbers, and of a damaged one what can be unpacked.

use crate::common::*;
use anabranch_capture::Analysis;
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("into memory");
    encoder.finish().expect("into memory")
}

/// A frame.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn plain() -> Vec<u8> {
    pcap(false, 1000, RAW, 0, &ipv4(&connection(0, CLIENT, 2000)))
}

fn tables(analysis: &Analysis) -> String {
    format!("{:?}", analysis.tables)
}

#[test]
fn compression_changes_nothing() {
    let file = plain();
    let expected = analyzed(std::slice::from_ref(&file));
    let (first, second) = file.split_at(file.len() / 2 + 7);
    // To be skipped (RFC 8878 section 3.1.2).
    let skipped = [&[0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let packed = [
        gzip(&file),
        zstd(&file),
        // Several members or frames one behind the other, as of joined files (RFC 1952 section 2.2).
        [gzip(first), gzip(second)].concat(),
        [skipped.clone(), zstd(first), skipped, zstd(second)].concat(),
    ];
    for packed in packed {
        let unpacked = analyzed(&[packed]);
        assert_eq!(tables(&unpacked), tables(&expected));
        assert_eq!(unpacked.summary.bytes, file.len() as u64);
        assert!(unpacked.summary.warnings.is_empty(), "{:?}", unpacked.summary.warnings);
    }
}

#[test]
fn a_cut_or_damaged_file_is_one_warning_and_the_packets_before() {
    let damaged = |mut packed: Vec<u8>, from_end: usize| {
        let at = packed.len() - from_end;
        packed[at] ^= 1;
        packed
    };
    let cut = |packed: Vec<u8>| packed[..packed.len() / 2].to_vec();
    let half = |packed: &[u8]| packed.len() / 2;
    let (gzip, zstd) = (gzip(&plain()), zstd(&plain()));
    let cases = [
        (format!("the gzip file is cut after {} bytes; ", half(&gzip)), cut(gzip.clone())),
        (format!("the zstd file is cut after {} bytes; ", half(&zstd)), cut(zstd.clone())),
        // Of its checksum (RFC 1952 section 2.3.1, RFC 8878 section 3.1.1).
        ("the gzip file is damaged (".to_owned(), damaged(gzip, 8)),
        ("the zstd file is damaged (its checksum is another) ".to_owned(), damaged(zstd, 1)),
    ];
    for (what, bytes) in cases {
        let analysis = analyzed(&[bytes]);
        let about: Vec<_> =
            analysis.summary.warnings.iter().filter(|warning| warning.contains("0.pcap")).cloned().collect();
        assert_eq!(about.len(), 1, "{about:?}");
        assert!(about[0].contains(&what), "{what}: {about:?}");
        let used =
            format!("is used, {} bytes and {} packets", analysis.summary.bytes, analysis.summary.packets);
        assert!(about[0].ends_with(&used), "{about:?}");
        assert!((100..=4006).contains(&analysis.summary.packets), "{about:?}");
        assert!(numbers(&analysis, "subflows", "acked_bytes")[0] > 100_000.0);
    }
}

#[test]
fn cut_before_the_first_packet_or_no_capture_it_is_a_message() {
    let message = |bytes: Vec<u8>| analyze_all(&[bytes], &options()).expect_err("no capture").to_string();
    for (name, pack) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("zstd", zstd)] {
        let cut = message(pack(&plain())[..12].to_vec());
        assert!(
            cut.contains(&format!("the {name} file is cut after 12 bytes, before the first packet")),
            "{cut}"
        );
        assert!(message(pack(b"a letter, and no capture")).contains("is neither pcap nor pcapng"));
        assert!(message(pack(b"")).contains("is empty"));
    }
}
