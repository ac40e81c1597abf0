//! Whole connections over several paths.

use super::testing::{Network, Random, Side, Wire, mptcp, secs};
use super::{MptcpOption, SubflowAddresses, SubflowState};
use crate::config::MptcpConfig;
use crate::segment::Flags;
use crate::{CongestionConfig, PathManagerConfig, SchedulerConfig};
use anabranch_units::{Bytes, Span};
use proptest::prelude::*;

const PRESETS: [&str; 5] = ["mptcp", "mptcp-olia", "mptcp-balia", "mptcp-cubic", "linux-mptcp"];
/// Every registered scheduler.
fn schedulers() -> impl Iterator<Item = SchedulerConfig> {
    SchedulerConfig::NAMES.iter().map(|name| SchedulerConfig::named(name).expect("registered"))
}

/// Nothing is lost where a window never exceeds what path and queue hold, and nothing is sent twice but by choice.
#[test]
fn a_clean_transfer_arrives_once_and_closes() {
    for preset in PRESETS {
        for scheduler in schedulers() {
            let config = MptcpConfig { scheduler: scheduler.clone(), ..mptcp(preset, 3) };
            let wires = (0..3).map(|i| Wire { queue_bytes: 1 << 30, ..Wire::new(10 + i, 100) }).collect();
            let network = Network::transfer(&config, wires, 3_000_000, 5);
            let stats = network.sender.stats();
            assert_eq!((stats.retransmissions, stats.timeouts), (0, 0), "{preset} {scheduler:?}");
            let repeated = network.receiver.multipath_stats().duplicate_bytes;
            assert_eq!(
                repeated > 0,
                scheduler == SchedulerConfig::Redundant(Default::default()),
                "{preset} {scheduler:?}"
            );
            for index in 0..3 {
                let subflow = network.sender.subflow(index).unwrap();
                assert!(subflow.stats.segments > 100, "{preset} {scheduler:?} {index}: {subflow:?}");
            }
        }
    }
}

/// What counts as sent, sent again and sent again in vain are data segments, the latter a part of the former: neither a
/// SYN, a FIN nor a DATA_FIN that leaves again without data is among them.
#[test]
fn repetitions_are_data_segments_that_have_left_before() {
    let (mut bare_fins_again, mut data_again) = (0, 0);
    for seed in 0..60 {
        let lossy = || Wire { lost: 250, ..Wire::new(10, 10) };
        let mut network = Network::new(&mptcp("mptcp", 2), vec![lossy(), lossy()], seed);
        network.log = Some(Vec::new());
        network.sender.open();
        network.sender.write(1448 + 2000 * (seed % 3));
        network.sender.close();
        network.run(secs(600.0));
        let log = network.log.take().expect("a log");
        for subflow in 0..2 {
            let sent = log.iter().filter(|(_, side, s)| *side == Side::Sender && s.subflow == subflow);
            let (data, others): (Vec<_>, Vec<_>) = sent.map(|entry| entry.2).partition(|s| s.payload > 0);
            let first: std::collections::BTreeSet<u32> = data.iter().map(|s| s.seq).collect();
            let again = (data.len() - first.len()) as u64;
            let stats = network.sender.subflow(subflow).expect("a subflow").stats;
            assert_eq!((stats.segments, stats.retransmissions), (data.len() as u64, again), "seed {seed}");
            let vain = network.receiver.subflow(subflow).map_or(0, |stats| stats.duplicate_segments);
            assert!(vain <= again, "seed {seed}: {vain} of {again}");
            let fins = others.iter().filter(|s| s.flags.has(Flags::FIN)).count();
            bare_fins_again += fins.saturating_sub(1);
            data_again += again;
        }
    }
    assert!(bare_fins_again > 20 && data_again > 20, "{bare_fins_again} {data_again}");
}

/// As in Linux, the stream gets nothing from a subflow that has not come in order there. On paths that lose and reorder, at any
/// instant what the subflows have delivered is no less than what the application has, and with one subflow it is the same.
#[test]
fn subflows_deliver_no_less_than_the_connection_takes() {
    for (subflows, seed) in [(1, 1), (1, 2), (2, 3), (3, 4)] {
        let uneven = |ms| Wire { lost: 30, late: 300, ..Wire::new(ms, 10) };
        let config = mptcp("mptcp", subflows);
        let mut network = Network::new(&config, vec![uneven(5), uneven(40), uneven(80)], seed);
        network.sender.open();
        network.sender.write_without_end();
        let mut out_of_order = 0;
        for step in 1..2000 {
            network.run(secs(f64::from(step) / 1e3));
            let of = |index| network.receiver.subflow(index).map_or(0, |stats| stats.delivered);
            let (sum, taken) = ((0..3).map(of).sum::<u64>(), network.receiver.stats().delivered);
            assert!(sum >= taken, "{subflows} subflows, {step} ms: {sum} {taken}");
            assert!(subflows > 1 || sum == taken, "{step} ms: {sum} {taken}");
            let sacked = network.sender.subflow(0).map_or(0, |subflow| subflow.stats.fast_recoveries);
            out_of_order = out_of_order.max(sacked);
        }
        assert!(out_of_order > 2 && network.receiver.stats().delivered > 100_000, "{subflows}");
    }
}

/// RFC 8684 sections 3.1 and 3.2: the options of each handshake in their order, and no join before the first DSS.
#[test]
fn handshakes_carry_the_options_of_the_rfc() {
    let mut network = Network::new(&mptcp("mptcp", 2), vec![Wire::new(10, 100); 2], 1);
    network.log = Some(Vec::new());
    network.sender.open();
    network.sender.write(20_000);
    network.run(secs(0.2));
    let log = network.log.take().unwrap();
    let of = |subflow: u8| {
        let seen = log.iter().filter(move |(_, _, s)| s.subflow == subflow);
        seen.map(|(at, side, s)| (*at, *side, s.flags, s.mptcp().expect("every segment has an option")))
    };
    let first: Vec<_> = of(0).take(4).map(|(_, side, _, option)| (side, option)).collect();
    let capable = |option: &MptcpOption| match *option {
        MptcpOption::Capable { sender_key, receiver_key, data_length } => {
            (sender_key, receiver_key, data_length)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!((first[0].0, capable(&first[0].1)), (Side::Sender, (None, None, None)));
    let (Some(b), None, None) = capable(&first[1].1) else { panic!("{first:?}") };
    let (Some(a), Some(echo), None) = capable(&first[2].1) else { panic!("{first:?}") };
    assert_eq!(echo, b);
    assert_eq!(capable(&first[3].1), (Some(a), Some(b), Some(1424)));

    let joined: Vec<_> = of(1).take(4).collect();
    assert!(matches!(joined[0].3, MptcpOption::JoinSyn { token, .. } if token == super::keys::token(b)));
    assert!(matches!(joined[1].3, MptcpOption::JoinSynAck { .. }) && joined[1].1 == Side::Receiver);
    assert!(matches!(joined[2].3, MptcpOption::JoinAck { .. }) && !joined[2].2.has(Flags::SYN));
    assert!(matches!(joined[3].3, MptcpOption::Dss(_)) && joined[3].1 == Side::Receiver);
    let confirmation = of(0).find(|(_, side, _, option)| {
        *side == Side::Receiver && matches!(option, MptcpOption::Dss(dss) if dss.data_ack.is_some())
    });
    // The confirmation takes half a round trip to the end that joins.
    assert!(joined[0].0 >= confirmation.unwrap().0 + Span::from_ms(10));
}

/// A third ACK that is lost on a joining subflow is sent again until it is answered (RFC 8684 section 3.2).
#[test]
fn a_lost_join_is_repeated() {
    for dead in [(0.045, 0.055), (0.065, 0.075), (0.085, 0.095), (0.03, 3.0)] {
        let wires = vec![Wire::new(10, 100), Wire::new(10, 100).dead(dead.0, dead.1)];
        let mut network = Network::new(&mptcp("mptcp", 2), wires, 1);
        network.sender.open();
        network.sender.write_without_end();
        network.run(secs(12.0));
        assert_eq!(network.sender.subflow(1).unwrap().state, SubflowState::Established, "{dead:?}");
        assert!(network.receiver.subflow(1).unwrap().segments > 1000, "{dead:?}");
    }
}

/// A path dies for good; its data come by the other and nothing stalls.
#[test]
fn a_dead_path_stalls_nothing() {
    for scheduler in schedulers() {
        let config = MptcpConfig { scheduler: scheduler.clone(), ..mptcp("mptcp", 2) };
        let wires = vec![Wire::new(10, 10), Wire::new(12, 10).dead(2.0, 1e6)];
        let mut network = Network::new(&config, wires, 3);
        network.sender.open();
        network.sender.write_without_end();
        network.run(secs(4.0));
        let before = network.receiver.stats().delivered;
        assert_eq!(network.sender.subflow(1).unwrap().state, SubflowState::Suspect);
        assert_eq!(network.sender.stalled_since(), None, "{scheduler:?} {:?}", network.sender.subflow(0));
        network.run(secs(8.0));
        let rate = (network.receiver.stats().delivered - before) as f64 / 4.0;
        // 10 Mbps less headers: 1428 bytes of each 1500.
        assert!(rate > 0.9 * 1.19e6, "{scheduler:?}: {rate} bytes/s on the path that lives");
        network.sender.close();
        assert!(network.run(secs(1000.0)));
        network.check_complete(network.sender.stream_length().unwrap());
        if scheduler != SchedulerConfig::Redundant(Default::default()) {
            assert!(network.sender.multipath_stats().reinjected_bytes > 0, "{scheduler:?}");
        }
    }
}

/// BBR paces its subflows at the rate of the path (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.1): the pace
/// holds a segment back until its time comes, not for ever, and two paths are filled.
#[test]
fn paced_subflows_fill_their_paths() {
    let mut config = mptcp("mptcp", 2);
    config.tcp.congestion_control = CongestionConfig::named("bbr").expect("registered");
    let mut network = Network::new(&config, vec![Wire::new(10, 10), Wire::new(12, 10)], 3);
    network.sender.open();
    network.sender.write_without_end();
    network.run(secs(2.0));
    let before = network.receiver.stats().delivered;
    network.run(secs(6.0));
    let rate = (network.receiver.stats().delivered - before) as f64 / 4.0;
    // 10 Mbps each less headers: 1428 bytes of each 1500.
    assert!(rate > 0.9 * 2.0 * 1.19e6, "{rate} bytes/s");
}

/// No path at all: the connection says so, its timers back off, and it goes on when one is back.
#[test]
fn without_any_path_it_waits_and_says_so() {
    for scheduler in schedulers() {
        let config = MptcpConfig { scheduler: scheduler.clone(), ..mptcp("mptcp", 3) };
        let mut wires: Vec<Wire> = (0..3).map(|i| Wire::new(10 + i, 10).dead(1.0, 1e6)).collect();
        wires[1].dead = vec![(secs(1.0), secs(100.0))];
        let mut network = Network::new(&config, wires, 3);
        network.sender.open();
        network.sender.write(30_000_000);
        network.sender.close();
        network.run(secs(50.0));
        let since = network.sender.stalled_since().expect("it waits");
        assert!(since > secs(1.0) && since < secs(3.0), "{since:?}");
        let waiting = network.sender.stats().segments;
        network.run(secs(99.0));
        // Doubling from 0.2 s, three timers go off a dozen times at most in 49 s.
        assert!(network.sender.stats().segments - waiting < 12, "{scheduler:?}");
        assert!(network.run(secs(1000.0)), "{scheduler:?} comes to rest");
        network.check_complete(30_000_000);
        assert_eq!(network.sender.stalled_since(), None);
    }
}

/// A receive window of a few segments and one path that is much slower: what it holds up is sent on the other.
#[test]
fn a_full_window_is_freed_by_the_faster_subflow() {
    let mut config = mptcp("mptcp", 2);
    config.tcp.receive_buffer = Bytes(100_000);
    // The fast path and its queue hold half of the window, so that the slow one gets data too.
    let wires = [5, 150].map(|delay| Wire { queue_bytes: 20_000, ..Wire::new(delay, 20) }).to_vec();
    let goodput = |opportunistic_retransmission: bool, penalisation: bool| {
        let config = MptcpConfig { opportunistic_retransmission, penalisation, ..config.clone() };
        let mut network = Network::new(&config, wires.clone(), 1);
        network.sender.open();
        network.sender.write_without_end();
        network.run(secs(20.0));
        let stats = *network.sender.multipath_stats();
        assert_eq!(stats.opportunistic_retransmissions > 0, opportunistic_retransmission);
        assert_eq!(stats.penalties > 0, penalisation, "{stats:?}");
        assert!(network.receiver.multipath_stats().most_waiting_bytes <= 100_000);
        network.receiver.stats().delivered
    };
    // Raiciu 2012, figure 4: opportunistic retransmission helps, penalisation helps more.
    let (neither, opportunistic, both) = (goodput(false, false), goodput(true, false), goodput(true, true));
    assert!(opportunistic > neither, "{opportunistic} {neither}");
    assert!(both > opportunistic, "{both} {opportunistic}");
}

/// Ferlin 2016: BLEST keeps a slow path from blocking the window, where lowest RTT first does not.
#[test]
fn blest_blocks_the_window_less() {
    let waiting = |scheduler: SchedulerConfig| {
        let mut config = MptcpConfig { scheduler, opportunistic_retransmission: false, ..mptcp("mptcp", 2) };
        config.penalisation = false;
        config.tcp.receive_buffer = Bytes(100_000);
        let wires = [5, 100].map(|delay| Wire { queue_bytes: 20_000, ..Wire::new(delay, 20) });
        let mut network = Network::new(&config, wires.to_vec(), 1);
        network.sender.open();
        network.sender.write_without_end();
        network.run(secs(20.0));
        network.receiver.stats().delivered
    };
    let (blest, lowest) = (
        waiting(SchedulerConfig::Blest(Default::default())),
        waiting(SchedulerConfig::LowestRtt(Default::default())),
    );
    assert!(blest > 2 * lowest, "{blest} {lowest}");
}

/// The close after everything has left, and a stream of nothing: DATA_FIN on its own, repeated when it is lost.
#[test]
fn a_late_close_sends_its_own_data_fin() {
    for (bytes, lost) in [(100_000, 0), (0, 0), (100_000, 300), (1, 300)] {
        for seed in 0..20 {
            let wires = vec![Wire { lost, ..Wire::new(10, 10) }; 2];
            let mut network = Network::new(&mptcp("mptcp", 2), wires, seed);
            network.sender.open();
            network.sender.write(bytes);
            network.run(secs(120.0));
            network.sender.close();
            assert_eq!(network.sender.failure(), None);
            assert!(network.run(secs(7200.0)), "{bytes} bytes, {lost}/1000 lost, seed {seed}");
            network.check_complete(bytes);
        }
    }
}

/// As many subflows as a byte can number, and one for each pair of interfaces: all of them carry data.
#[test]
fn every_subflow_is_opened_and_used() {
    let many = mptcp("mptcp", 255);
    let mesh =
        MptcpConfig { path_manager: PathManagerConfig::Fullmesh(Default::default()), ..mptcp("mptcp", 1) };
    for (config, count) in [(many, 255), (mesh, 4)] {
        let config = MptcpConfig { scheduler: SchedulerConfig::RoundRobin(Default::default()), ..config };
        let wires = (0..4).map(|i| Wire::new(10 + i, 100)).collect();
        let network = Network::transfer(&config, wires, 20_000_000, 9);
        assert_eq!(network.sender.subflow_count(), count);
        let carried = |index: u8| network.receiver.subflow(index).map_or(0, |stats| stats.segments);
        assert!((0..count).all(|index| carried(index) > 10), "{count} subflows");
        assert_eq!(network.sender.subflow(count), None);
    }
    let network = Network::new(&mptcp("mptcp", 2), vec![Wire::new(1, 1)], 1);
    assert_eq!(network.sender.subflow_addresses(1), SubflowAddresses::default());
}

/// A segment of another connection, or of a subflow that there is not, changes nothing.
#[test]
fn what_does_not_belong_is_dropped() {
    let mut network = Network::new(&mptcp("mptcp", 2), vec![Wire::new(10, 100); 2], 1);
    network.log = Some(Vec::new());
    network.sender.open();
    network.sender.write(50_000);
    network.run(secs(1.0));
    let (log, now) = (network.log.take().unwrap(), network.now);
    let before = (network.receiver.stats(), network.sender.stats());
    for (_, side, segment) in log {
        let mut other = segment;
        other.subflow = 7;
        let mut forged = segment;
        if let Some(MptcpOption::JoinSyn { address_id, backup, token, nonce }) = segment.mptcp() {
            forged.set_mptcp(MptcpOption::JoinSyn { address_id, backup, token: token ^ 1, nonce });
        } else {
            forged.subflow = 2;
        }
        for segment in [other, forged] {
            match side {
                Side::Sender => network.receiver.on_segment(now, &segment),
                Side::Receiver => network.sender.on_segment(now, &segment),
            }
        }
    }
    network.flush();
    assert_eq!((network.receiver.stats(), network.sender.stats()), before);
}

/// The last data are given to a subflow that holds them back: from then on the DATA_FIN is due, not since the handshake.
#[test]
fn the_timer_of_a_data_fin_is_never_in_the_past() {
    let scheduler = SchedulerConfig::RoundRobin(Default::default());
    let mut config = MptcpConfig { scheduler, ..mptcp("mptcp-cubic", 8) };
    config.tcp.sack = false;
    config.tcp.receive_buffer = Bytes(386_992);
    let wire = Wire { lost: 25, late: 96, doubled: 47, queue_bytes: 30_000, ..Wire::new(55, 1) };
    Network::transfer(&config, vec![wire.dead(16.232, 26.562)], 1_837_833, 15_016_006_295_739_550_182);
}

fn wire() -> impl Strategy<Value = Wire> {
    let dead = prop::collection::vec((0u64..20_000, 1u64..20_000), 0..3);
    (1u64..80, 1u64..30, 0u64..60, 0u64..200, 0u64..50, dead).prop_map(
        |(delay, mbps, lost, late, doubled, dead)| {
            let span =
                |(from, length): (u64, u64)| (secs(from as f64 / 1e3), secs((from + length) as f64 / 1e3));
            let dead = dead.into_iter().map(span).collect();
            Wire { lost, late, doubled, dead, queue_bytes: 30_000, ..Wire::new(delay, mbps) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the paths do, every byte comes once and in order, and both ends close.
    #[test]
    fn every_byte_arrives_once(
        wires in prop::collection::vec(wire(), 1..5),
        (preset, scheduler) in (0..PRESETS.len(), 0..SchedulerConfig::NAMES.len()),
        (subflows, bytes, seed) in (1u16..9, 0u64..2_000_000, any::<u64>()),
        (sack, timestamps, buffer) in (any::<bool>(), any::<bool>(), 20_000u64..1_000_000),
    ) {
        let mut config = MptcpConfig { scheduler: schedulers().nth(scheduler).expect("registered"), ..mptcp(PRESETS[preset], subflows) };
        config.tcp.sack = sack;
        config.tcp.timestamps = timestamps;
        config.tcp.receive_buffer = Bytes(buffer);
        let network = Network::transfer(&config, wires, bytes, seed);
        // Nothing waits any more and nothing is left out: what came is the stream and its repetitions.
        prop_assert!(network.receiver.multipath_stats().most_waiting_bytes <= buffer);
        prop_assert!(network.sender.next_timeout().is_none());
    }

    /// One path that lives is enough, whenever the others die for good.
    #[test]
    fn one_living_path_is_enough(
        paths in 2usize..6, alive in 0usize..6, seed in any::<u64>(), scheduler in 0..SchedulerConfig::NAMES.len(),
    ) {
        let mut random = Random(seed);
        let alive = alive % paths;
        let wires = (0..paths).map(|path| {
            // The first must live, and lose nothing, until the connection has begun, or there is none.
            let lost = if path == 0 { 0 } else { random.next() % 20 };
            let wire = Wire { lost, ..Wire::new(1 + random.next() % 60, 10) };
            let from = 0.5 + (random.next() % 3000) as f64 / 1e3;
            if path == alive { wire } else { wire.dead(from, 1e6) }
        });
        let config = MptcpConfig { scheduler: schedulers().nth(scheduler).expect("registered"), ..mptcp("mptcp", 2 * paths as u16) };
        Network::transfer(&config, wires.collect(), 5_000_000, seed);
    }
}
