//! What suspect subflows have not delivered, on others: in which order, and what need not be sent.

use super::option::MptcpOption;
use super::testing::{Network, Side, Wire, mptcp, secs};
use crate::segment::Segment;
use anabranch_units::{Instant, Span};
use std::collections::BTreeMap;

/// Number of the first data byte in a segment, its subflow sequence number and payload.
fn mapped(segment: &Segment) -> Option<(u32, u32, u16)> {
    match segment.mptcp()? {
        MptcpOption::Dss(dss) if segment.payload > 0 => {
            Some((dss.mapping?.data_seq.low(), segment.seq, segment.payload))
        }
        _ => None,
    }
}

/// A log with all data that left, and which of them a subflow other than the first to send them repeated.
struct Repeats {
    /// Of each repetition: when, on which subflow, number of its first byte, and the subflow that sent it first.
    found: Vec<(Instant, u8, u32, u8)>,
}

impl Repeats {
    fn of(log: &[(Instant, Side, Segment)]) -> Self {
        let mut first: BTreeMap<u32, u8> = BTreeMap::new();
        let mut found = Vec::new();
        for (now, side, segment) in log {
            let Some((data, ..)) = mapped(segment).filter(|_| *side == Side::Sender) else { continue };
            let holder = *first.entry(data).or_insert(segment.subflow);
            if holder != segment.subflow {
                found.push((*now, segment.subflow, data, holder));
            }
        }
        Self { found }
    }
}

/// The kernel of multipath-tcp.org keeps its reinject queue in the order of the data (__mptcp_reinject_data()): two
/// subflows die at once, and what the third sends for them comes in that order, whichever of them held it.
#[test]
fn data_of_several_dead_subflows_are_repeated_in_their_order() {
    // Two like paths, so that data alternate between them, and both timers run out at nearly the same time.
    let wires = vec![Wire::new(20, 20).dead(2.0, 1e6), Wire::new(20, 20).dead(2.0, 1e6), Wire::new(20, 1)];
    let mut network = Network::new(&mptcp("mptcp", 3), wires, 1);
    network.log = Some(Vec::new());
    network.sender.open();
    network.sender.write_without_end();
    network.run(secs(6.0));
    let log = network.log.take().expect("a log");
    let repeats: Vec<(u32, u8)> = Repeats::of(&log)
        .found
        .iter()
        .filter(|&&(_, on, ..)| on == 2)
        .map(|&(_, _, data, holder)| (data, holder))
        .collect();
    // One timer runs out before the other: from where data of both are repeated.
    let both = [0, 1].map(|dead| repeats.iter().position(|repeat| repeat.1 == dead).expect("both died"));
    let repeats = &repeats[both[0].max(both[1])..];
    assert!([0, 1].iter().all(|&dead| repeats.iter().filter(|repeat| repeat.1 == dead).count() > 5));
    let base = repeats[0].0;
    let backwards =
        repeats.windows(2).filter(|pair| pair[1].0.wrapping_sub(base) < pair[0].0.wrapping_sub(base));
    // A retransmission of the third subflow's own may lie between.
    assert!(backwards.count() <= 1, "{repeats:?}");
}

/// RFC 2018 section 3: a SACK says that the data have arrived, and with us their mapping. Others do not send them
/// again, whatever the subflow itself does about the holes before them.
#[test]
fn what_is_selectively_acknowledged_is_not_repeated_elsewhere() {
    let (mut repeated, mut spared) = (0, 0);
    for seed in 0..20 {
        let lossy = Wire { lost: 250, ..Wire::new(20, 10) };
        // With PAWS a report that another one overtakes would not count.
        let mut config = mptcp("mptcp", 2);
        config.tcp.paws = false;
        let mut network = Network::new(&config, vec![lossy, Wire::new(20, 10)], seed);
        network.log = Some(Vec::new());
        network.sender.open();
        network.sender.write_without_end();
        network.run(secs(20.0));
        let log = network.log.take().expect("a log");
        // Subflow sequence numbers of the lossy subflow, and when the other end had reported them for sure.
        let mut data_of: BTreeMap<u32, u32> = BTreeMap::new();
        let mut reported: BTreeMap<u32, Vec<Instant>> = BTreeMap::new();
        let mut lost_reports: u64 = 0;
        for (now, side, segment) in log.iter().filter(|entry| entry.2.subflow == 0) {
            match (side, mapped(segment)) {
                (Side::Sender, Some((data, seq, _))) => {
                    data_of.insert(seq, data);
                }
                (Side::Receiver, _) => {
                    lost_reports += 1;
                    for &(left, right) in segment.sack.as_slice() {
                        for (_, &data) in data_of.range(left..right.max(left)) {
                            reported.entry(data).or_default().push(*now);
                        }
                    }
                }
                _ => {}
            }
        }
        assert!(lost_reports > 0);
        for (now, on, data, holder) in Repeats::of(&log).found {
            if on != 1 || holder != 0 {
                continue;
            }
            repeated += 1;
            // Reports get lost, too: six of them in a row once in four thousand, and the seventh is on its way 20 ms.
            let seventh = reported.get(&data).and_then(|reports| reports.get(6));
            let late = seventh.is_some_and(|&at| at + Span::from_ms(20) < now);
            assert!(!late, "seed {seed}: {data} at {now:?}, reported at {:?}", reported[&data]);
        }
        spared += reported.len();
    }
    assert!(repeated > 20 && spared > 100, "{repeated} {spared}");
}
