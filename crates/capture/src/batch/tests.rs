//! How many packets are read at a time makes no difference.

#[path = "../../tests/common/mod.rs"]
mod common;

use super::PACKETS;
use crate::analysis::analyze_in_batches;
use common::*;
use proptest::prelude::*;
use std::ops::ControlFlow;

/// A packet of one of a few connections, whose ports are used again; of what kind, and where in the stream.
type Drawn = (u8, u8, u8, u16);

fn packet(&(connection, kind, at, _): &Drawn) -> Vec<u8> {
    let client = (CLIENT.0, 40_000 + u16::from(connection));
    let (isn, server_isn) = (u32::MAX - 20_000, 77_000u32);
    let seq = isn.wrapping_add(1 + 1000 * u32::from(at));
    let dss = [30, 8, 0x20, 1, 0, 0, at, 0];
    let capable = [30, 12, 0, 1, 1, 2, 3, 4, 5, 6, 7, connection];
    let join = [30, 12, 0x10, 1, 0, 0, 0, connection / 2, 0, 0, 0, 1];
    match kind {
        // Two initial numbers, so that the same ports are another connection now and then.
        0 => tcp(client, SERVER, isn.wrapping_add(u32::from(at % 2)), 0, SYN, 0).ipv4(),
        1 => tcp(client, SERVER, isn, 0, SYN, 0).options(&capable).ipv4(),
        2 => tcp(client, SERVER, isn, 0, SYN, 0).options(&join).ipv4(),
        3 => tcp(SERVER, client, server_isn, isn.wrapping_add(1 + u32::from(at % 2)), SYN | ACK, 0).ipv4(),
        4 => tcp(client, SERVER, seq, server_isn + 1, FIN | ACK, 0).ipv4(),
        5 => tcp(SERVER, client, server_isn + 1, seq, RST | ACK, 0).ipv4(),
        6 => tcp(SERVER, client, server_isn + 1, seq, ACK, 0).options(&dss).ipv4(),
        // No TCP.
        7 => {
            let mut udp = tcp(client, SERVER, seq, server_isn + 1, ACK, 10).ipv4();
            udp[9] = 17;
            udp
        }
        8 => tcp(client, SERVER, seq, server_isn + 1, ACK, 1000).ipv6(0, &[6, 0, 1, 4, 0, 0, 0, 0]),
        9..12 => tcp(SERVER, client, server_isn + 1, seq, ACK, 0).ipv4(),
        _ => tcp(client, SERVER, seq, server_isn + 1, ACK, 1000).ipv4(),
    }
}

/// A file of these packets, pcap or pcapng with two interfaces.
fn file(classic: bool, drawn: &[Drawn]) -> Vec<u8> {
    let mut ns = 1_700_000_000_000_000_000;
    let timed: Vec<Timed> = drawn
        .iter()
        .map(|drawn| {
            ns += u64::from(drawn.3) * 1000;
            (ns, packet(drawn))
        })
        .collect();
    if classic {
        return pcap(false, 1, RAW, 0, &timed);
    }
    let nanoseconds = [(9, vec![9])];
    let mut bytes =
        [section(false), interface(false, RAW, &nanoseconds), interface(false, RAW, &nanoseconds)].concat();
    for ((ns, data), drawn) in timed.iter().zip(drawn) {
        bytes.extend(enhanced(false, u32::from(drawn.2 % 2), *ns, data));
    }
    bytes
}

/// Everything that comes out, as text, in which NaN equals NaN; and whether it is tables.
fn outcome(files: &[Vec<u8>], batch: usize, disjoint: bool) -> (String, bool) {
    let folder = Folder::new();
    let paths: Vec<_> =
        files.iter().enumerate().map(|(i, bytes)| folder.write(&format!("{i}.pcap"), bytes)).collect();
    let mut options = options();
    options.disjoint = disjoint;
    options.interval = anabranch_units::Span::from_ms(10);
    let analysis = analyze_in_batches(&paths, &options, batch, |_| ControlFlow::Continue(()));
    // Names of files are in warnings and errors.
    let place = paths[0].parent().expect("in a folder").display().to_string();
    (format!("{analysis:?}").replace(&place, ""), analysis.is_ok())
}

fn drawn(packets: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Drawn>> {
    prop::collection::vec((0u8..6, 0u8..20, 0u8..40, 0u16..2000), packets)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn packets_one_by_one_give_the_same(
        classic in any::<bool>(),
        disjoint in any::<bool>(),
        first in drawn(1..400),
        second in drawn(0..100),
        batch in prop::sample::select(vec![2, 3, 7, PACKETS - 1, PACKETS, PACKETS + 1, 1000]),
        left in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut files = vec![file(classic, &first)];
        if !second.is_empty() {
            files.push(file(true, &second));
        }
        if let Some(left) = left {
            let length = left.index(files[0].len());
            files[0].truncate(length);
        }
        let (one_by_one, tables) = outcome(&files, 1, disjoint);
        prop_assert_eq!(&outcome(&files, batch, disjoint).0, &one_by_one);
        // What was not cut short has something to compare, unless it has no TCP.
        let tcp = first.iter().any(|drawn| drawn.1 != 7);
        prop_assert!(tables || left.is_some() || !tcp, "{}", one_by_one);
    }
}

/// A capture that ends where a batch does, one packet before and one after, and inside the packet behind it.
#[test]
fn files_that_end_at_the_end_of_a_batch() {
    let drawn: Vec<Drawn> =
        (0..2 * PACKETS as u16 + 2).map(|i| ((i % 6) as u8, 15, (i / 6) as u8, 100)).collect();
    for packets in [PACKETS - 1, PACKETS, PACKETS + 1, 2 * PACKETS, 2 * PACKETS + 1] {
        let whole = file(true, &drawn[..packets]);
        let mut cut = file(true, &drawn[..=packets]);
        cut.truncate(cut.len() - 1);
        for (bytes, is_cut) in [(whole, false), (cut, true)] {
            let (text, _) = outcome(std::slice::from_ref(&bytes), PACKETS, false);
            assert!(text.contains(&format!(" packets: {packets}, tcp_packets: {packets},")), "{text}");
            assert_eq!(text.contains("the file ends inside a record"), is_cut);
            assert_eq!(text, outcome(&[bytes], 1, false).0);
        }
    }
}
