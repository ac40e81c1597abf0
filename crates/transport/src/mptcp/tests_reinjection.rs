//! What suspect subflows have not delivered, on others: in which order, and what need not be sent.

use super::option::MptcpOption;
use super::testing::{Network, Side, Wire, mptcp, secs};
use crate::LossDetectionConfig;
use crate::segment::Segment;
use anabranch_units::Instant;
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
    copies: Vec<(Instant, u8, u32, u8)>,
}

impl Repeats {
    fn of(log: &[(Instant, Side, Segment)]) -> Self {
        let mut first: BTreeMap<u32, u8> = BTreeMap::new();
        let mut copies = Vec::new();
        for (now, side, segment) in log {
            let Some((data, ..)) = mapped(segment).filter(|_| *side == Side::Sender) else { continue };
            let holder = *first.entry(data).or_insert(segment.subflow);
            if holder != segment.subflow {
                copies.push((*now, segment.subflow, data, holder));
            }
        }
        Self { copies }
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
        .copies
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

/// The receiver holds back what lies behind a hole on its subflow, as a kernel does, so that others send what a dead subflow
/// has had SACKed, too: here the path dies with a hole before ten SACKed segments.
#[test]
fn what_a_dead_subflow_has_had_selectively_acknowledged_goes_on_others() {
    let mut network = Network::new(&mptcp("mptcp", 2), vec![Wire::new(20, 10), Wire::new(20, 10)], 1);
    network.log = Some(Vec::new());
    network.sender.open();
    network.sender.write(3_000_000);
    network.sender.close();
    network.run(secs(0.5));
    network.wires[0].lost = 1000;
    network.run(secs(0.503));
    network.wires[0].lost = 0;
    network.run(secs(0.53));
    network.wires[0].dead = vec![(secs(0.53), secs(1e6))];
    assert!(network.run(secs(7200.0)), "the connection came to rest");
    network.check_complete(3_000_000);
    let log = network.log.take().expect("a log");
    let acks = || log.iter().filter(|(_, side, s)| *side == Side::Receiver && s.subflow == 0);
    let reported = acks().flat_map(|(_, _, s)| s.sack.as_slice()).map(|block| block.1).max();
    let reached = acks().map(|(_, _, s)| s.ack).next_back().expect("ACKs");
    assert!(reported.is_some_and(|right| right.wrapping_sub(reached) as i32 > 10 * 1400));
    let sent = log.iter().filter(|(_, side, s)| *side == Side::Sender && s.subflow == 0);
    let behind = |&(data, seq, _): &(u32, u32, u16)| (seq.wrapping_sub(reached) as i32 >= 0).then_some(data);
    let held_back: Vec<u32> = sent.filter_map(|(_, _, s)| mapped(s)).filter_map(|m| behind(&m)).collect();
    let repeated: Vec<u32> = Repeats::of(&log).copies.iter().filter(|r| r.1 == 1).map(|r| r.2).collect();
    assert!(held_back.iter().all(|data| repeated.contains(data)), "{held_back:?} {repeated:?}");
}

/// Paths die for ten seconds, with ACKs and data under way, so that their subflows come back with a timeout taken back and a flight
/// that is lost. The connection goes on all the time, and has the paths back within seconds of the timeout that finds them alive:
/// that of the sixth doubling of 200 ms, 2.6 s after their return (RFC 6298 section 5.5).
#[test]
fn subflows_that_return_do_not_stop_the_connection() {
    for detection in ["dupack", "rack"] {
        let mut config = mptcp("mptcp", 8);
        config.tcp.loss_detection = LossDetectionConfig::named(detection).expect("a registered name");
        for seed in 0..4 {
            let dies = |ms| Wire::new(ms, 20).dead(5.0, 15.0);
            let wires = vec![dies(10), Wire::new(10, 20), dies(12), Wire::new(10, 20)];
            let mut network = Network::new(&config, wires, seed);
            network.sender.open();
            network.sender.write_without_end();
            let mut delivered = vec![0];
            for second in 1..=30 {
                network.run(secs(f64::from(second)));
                delivered.push(network.receiver.stats().delivered);
            }
            let mbps =
                |from: usize, to: usize| (delivered[to] - delivered[from]) as f64 * 8e-6 / (to - from) as f64;
            let whole = mbps(2, 5);
            for second in 7..30 {
                assert!(mbps(second, second + 1) > 0.4 * whole, "{detection}, seed {seed}: second {second}");
            }
            assert!(mbps(22, 30) > 0.9 * whole, "{detection}, seed {seed}: {} {whole}", mbps(22, 30));
        }
    }
}
