//! Backups, and addresses that come and go (RFC 8684 sections 3.3.8 and 3.4.2).

use super::testing::{Network, Random, Side, Wire, mptcp, secs};
use super::{AddressChange, FullmeshParameters, MptcpOption, SubflowState};
use crate::agent::Failure;
use crate::config::MptcpConfig;
use crate::log::{Decision, Origin};
use crate::segment::{Flags, Segment};
use crate::{PathManagerConfig, SchedulerConfig};
use anabranch_units::Instant;
use proptest::prelude::*;

pub(super) const UP: AddressChange = AddressChange::Up { address: [192, 0, 2, 7] };

pub(super) fn mesh(preset: &str) -> MptcpConfig {
    limited(preset, FullmeshParameters::default())
}

pub(super) fn limited(preset: &str, limits: FullmeshParameters) -> MptcpConfig {
    MptcpConfig { path_manager: PathManagerConfig::Fullmesh(limits), ..mptcp(preset, 1) }
}

/// The mesh with every scheduler.
fn schedulers() -> Vec<MptcpConfig> {
    let named = |name: &&str| SchedulerConfig::named(name).expect("registered");
    let all = SchedulerConfig::NAMES.iter().map(named);
    let configs: Vec<_> = all.map(|scheduler| MptcpConfig { scheduler, ..mesh("linux-mptcp") }).collect();
    assert!(configs.len() >= 6);
    configs
}

pub(super) fn two() -> Vec<Wire> {
    vec![Wire::new(10, 10), Wire::new(20, 10)]
}

/// An unlimited transfer, with what is sent noted.
pub(super) fn unlimited(config: &MptcpConfig, wires: Vec<Wire>, remotes: u8) -> Network {
    let mut network = Network::between(config, wires, remotes, 1);
    network.log = Some(Vec::new());
    network.sender.keep_log(100_000);
    network.sender.open();
    network.sender.write_without_end();
    network
}

/// What both ends have sent since the last look.
pub(super) fn sent(network: &mut Network) -> Vec<(Instant, Side, Segment)> {
    network.log.replace(Vec::new()).expect("it is noted")
}

/// The options of a run that speak of addresses: when, from whom, on which subflow.
pub(super) fn about_addresses(sent: &[(Instant, Side, Segment)]) -> Vec<(Side, u8, MptcpOption)> {
    let noted = sent.iter().filter_map(|(_, side, s)| Some((*side, s.subflow, s.mptcp()?)));
    noted.filter(|(_, _, option)| option.is_about_addresses()).collect()
}

/// Subflows that carried data.
pub(super) fn carriers(sent: &[(Instant, Side, Segment)]) -> Vec<u8> {
    let mut all: Vec<u8> = sent.iter().filter(|(_, _, s)| s.payload > 0).map(|(_, _, s)| s.subflow).collect();
    all.sort_unstable();
    all.dedup();
    all
}

pub(super) fn state(network: &Network, subflow: u8) -> SubflowState {
    network.sender.subflow(subflow).expect("there is one").state
}

/// Closes, and runs to the end: each byte has come once.
pub(super) fn complete(mut network: Network) {
    network.sender.close();
    assert!(network.run(secs(7200.0)), "the connection came to rest");
    network.check_complete(network.sender.stream_length().expect("closed"));
}

/// RFC 8684 section 3.4.2: an address goes, REMOVE_ADDR names it on a subflow that is left, both ends close its
/// subflows, and what they had not delivered goes on the others, without waiting for a timer.
#[test]
fn an_address_that_goes_takes_its_subflows_with_it() {
    for config in schedulers() {
        for side in [Side::Sender, Side::Receiver] {
            let remotes = if side == Side::Sender { 1 } else { 2 };
            let mut network = unlimited(&config, two(), remotes);
            network.run(secs(2.0));
            sent(&mut network);
            // Its link fails with it.
            network.wires[0].dead = vec![(network.now, secs(1e6))];
            network.change(side, 0, AddressChange::Down);
            let before = network.receiver.stats().delivered;
            network.run(secs(2.2));
            let sent = sent(&mut network);
            assert_eq!(about_addresses(&sent), [(side, 1, MptcpOption::RemoveAddr { address_id: 0 })]);
            assert_eq!(state(&network, 0), SubflowState::Removed);
            let by = if side == Side::Sender { Origin::Own } else { Origin::Peer };
            let log = network.sender.take_log();
            assert!(log.iter().any(|entry| entry.decision == Decision::Removed { by }));
            assert_eq!(network.sender.stats().timeouts, 0, "{:?} {side:?}", config.scheduler);
            let repeats = config.scheduler == SchedulerConfig::Redundant(Default::default());
            assert_eq!(network.sender.multipath_stats().reinjected_bytes > 0, !repeats);
            // 0.2 s of 10 Mbps are 175 segments; a timeout alone would take as long.
            let delivered = network.receiver.stats().delivered - before;
            assert!(delivered > 100_000, "{:?} {side:?}: {delivered}", config.scheduler);
            complete(network);
        }
    }
}

/// RFC 8684 section 3.4.2: nothing leaves or arrives on a removed subflow any more; the address comes back with a new
/// subflow, in a handshake of its own.
#[test]
fn an_address_that_comes_back_has_a_new_subflow() {
    for config in schedulers() {
        let mut network = unlimited(&config, two(), 1);
        network.run(secs(1.0));
        network.change(Side::Sender, 1, AddressChange::Down);
        network.run(secs(2.0));
        sent(&mut network);
        assert_eq!(network.sender.subflow_count(), 2);
        network.run(secs(3.0));
        assert!(sent(&mut network).iter().all(|(_, _, segment)| segment.subflow == 0));
        network.change(Side::Sender, 1, UP);
        assert_eq!((network.sender.subflow_count(), network.sender.subflow_addresses(2).local), (3, 1));
        network.run(secs(4.0));
        let sent = sent(&mut network);
        assert_eq!(carriers(&sent), [0, 2], "{:?}", config.scheduler);
        let first = sent.iter().find(|(_, _, segment)| segment.subflow == 2).expect("it opens").2;
        assert!(first.flags.has(Flags::SYN), "{first:?}");
        assert!(matches!(first.mptcp(), Some(MptcpOption::JoinSyn { address_id: 2, .. })));
        complete(network);
    }
}

/// RFC 8684 section 3.4.2: both ends close a subflow whose address went, and answer nothing that still comes on it.
#[test]
fn a_removed_subflow_is_closed_at_both_ends() {
    for side in [Side::Sender, Side::Receiver] {
        let remotes = if side == Side::Sender { 1 } else { 2 };
        let mut network = unlimited(&mesh("mptcp"), two(), remotes);
        network.run(secs(1.0));
        let earlier = sent(&mut network);
        network.change(side, 0, AddressChange::Down);
        network.run(secs(2.0));
        let (segments, cwnd) =
            (network.receiver.subflow(0).expect("it was open").segments, network.sender.cwnd());
        assert_eq!(cwnd, network.sender.subflow(1).expect("it is open").cwnd, "no other window counts");
        assert_eq!(network.sender.in_flight(), network.sender.subflow(1).expect("it is open").in_flight);
        sent(&mut network);
        for from in [Side::Sender, Side::Receiver] {
            let late = earlier.iter().rev().find(|(_, by, segment)| (*by, segment.subflow) == (from, 0));
            let late = late.expect("both have sent").2;
            match from {
                Side::Sender => network.receiver.on_segment(network.now, &late),
                Side::Receiver => network.sender.on_segment(network.now, &late),
            }
            network.flush();
        }
        assert_eq!(network.receiver.subflow(0).expect("it was open").segments, segments, "{side:?}");
        assert!(sent(&mut network).iter().all(|(_, _, segment)| segment.subflow == 1), "{side:?}");
        complete(network);
    }
}

/// Raiciu 2012, section 4.2: what holds the window up goes again on another subflow. A removed subflow holds nothing up,
/// for its data have gone to the only other one.
#[test]
fn a_removed_subflow_holds_no_window_up() {
    let mut config = mesh("mptcp");
    config.tcp.receive_buffer = anabranch_units::Bytes(100_000);
    let wires = [5, 150].map(|delay| Wire { queue_bytes: 20_000, ..Wire::new(delay, 20) });
    let mut network = unlimited(&config, wires.to_vec(), 1);
    network.run(secs(5.0));
    assert!(network.sender.multipath_stats().opportunistic_retransmissions > 0, "the window is small");
    network.change(Side::Sender, 0, AddressChange::Down);
    let before = *network.sender.multipath_stats();
    network.run(secs(9.0));
    let after = *network.sender.multipath_stats();
    assert_eq!(after.opportunistic_retransmissions, before.opportunistic_retransmissions);
    assert_eq!(after.penalties, before.penalties);
    complete(network);
}

/// RFC 8684 section 3.3.3 ("break-before-make"): the only address goes and another one comes later. Meanwhile the
/// connection waits; then it goes on, and says on the new subflow that the old address is gone.
#[test]
fn a_connection_outlives_the_time_without_an_address() {
    for config in schedulers() {
        let mut network = Network::new(&config, two(), 1);
        network.log = Some(Vec::new());
        network.sender.on_address(network.now, 1, AddressChange::Down);
        network.sender.open();
        network.sender.write_without_end();
        network.run(secs(2.0));
        assert_eq!(carriers(&sent(&mut network)), [0]);
        network.change(Side::Sender, 0, AddressChange::Down);
        network.run(secs(5.0));
        network.now = secs(5.0);
        assert_eq!(network.sender.stalled_since(), Some(secs(2.0)));
        let silent = sent(&mut network);
        assert!(silent.iter().all(|(at, side, _)| *side == Side::Receiver && *at < secs(2.1)), "{silent:?}");
        network.change(Side::Sender, 1, UP);
        network.run(secs(5.5));
        assert_eq!(network.sender.stalled_since(), None);
        // A round trip of 40 ms for SYN and SYN/ACK, another for the ACK and its answer.
        let stalled = network.sender.multipath_stats().stalled.as_secs_f64();
        assert!((3.08..3.09).contains(&stalled), "{stalled}");
        let sent = sent(&mut network);
        assert_eq!((carriers(&sent), about_addresses(&sent).len()), (vec![1], 1));
        assert_eq!(about_addresses(&sent)[0].2, MptcpOption::RemoveAddr { address_id: 0 });
        complete(network);
    }
}

/// The same address comes back, and the REMOVE_ADDR that nobody has heard yet goes on its new subflow: it closes the old
/// one, because the address has another identifier now.
#[test]
fn an_address_that_comes_back_has_another_identifier() {
    let mut network = unlimited(&mesh("mptcp"), vec![Wire::new(10, 10)], 1);
    network.run(secs(1.0));
    network.change(Side::Sender, 0, AddressChange::Down);
    network.run(secs(2.0));
    network.now = secs(2.0);
    network.change(Side::Sender, 0, UP);
    network.run(secs(3.0));
    let options = about_addresses(&sent(&mut network));
    assert_eq!(options, [(Side::Sender, 1, MptcpOption::RemoveAddr { address_id: 0 })]);
    assert_eq!((state(&network, 0), state(&network, 1)), (SubflowState::Removed, SubflowState::Established));
    complete(network);
}

/// RFC 8684 section 3.3.3: a DATA_FIN on its own needs a subflow that is there.
#[test]
fn a_close_without_an_address_waits_for_one() {
    let mut network = Network::new(&mesh("mptcp"), vec![Wire::new(10, 10)], 1);
    network.log = Some(Vec::new());
    network.sender.open();
    network.sender.write(10_000);
    network.run(secs(1.0));
    network.now = secs(1.0);
    network.change(Side::Sender, 0, AddressChange::Down);
    sent(&mut network);
    network.sender.close();
    network.run(secs(5.0));
    network.now = secs(5.0);
    assert!(sent(&mut network).is_empty());
    network.change(Side::Sender, 0, UP);
    assert!(network.run(secs(60.0)));
    network.check_complete(10_000);
}

/// It opens from the first address that there is, and waits for one if there is none.
#[test]
fn a_connection_opens_from_an_address_that_is_there() {
    let mut network = Network::new(&mesh("mptcp"), two(), 1);
    network.sender.on_address(network.now, 0, AddressChange::Down);
    network.sender.open();
    network.sender.write(50_000);
    assert_eq!(
        (network.sender.subflow_addresses(0).local, network.sender.subflow_addresses(1).local),
        (1, 0)
    );
    network.run(secs(1.0));
    assert_eq!((state(&network, 0), state(&network, 1)), (SubflowState::Established, SubflowState::Idle));
    complete(network);

    let mut network = Network::new(&mesh("mptcp"), two(), 1);
    network.sender.on_address(network.now, 0, AddressChange::Down);
    network.sender.on_address(network.now, 1, AddressChange::Down);
    network.sender.open();
    network.sender.write(50_000);
    assert!(network.run(secs(1.0)), "nothing happens");
    network.now = secs(1.0);
    network.change(Side::Sender, 1, UP);
    network.run(secs(1.5));
    assert_eq!(
        network.sender.established_at(),
        Some(secs(1.0) + network.wires[1].delay * 2 + transmission())
    );
    complete(network);
}

/// Of a SYN and a SYN/ACK at 10 Mbps: 72 bytes each, 20 of IP, 20 of TCP, 20 of its options, and 4 or 12 of MPTCP's.
fn transmission() -> anabranch_units::Span {
    anabranch_units::Span::from_ps((64 + 72) * 800_000)
}

/// Before the other end has confirmed, no other subflow may join (RFC 8684 section 3.1): the connection fails with its
/// address.
#[test]
fn a_handshake_ends_with_its_address() {
    let mut network = Network::new(&mesh("mptcp"), two(), 1);
    network.log = Some(Vec::new());
    network.sender.open();
    network.run(secs(0.005));
    network.change(Side::Sender, 0, AddressChange::Down);
    network.run(secs(1.0));
    assert_eq!(network.sender.failure(), Some(Failure::AddressLost));
    assert_eq!(network.sender.stalled_since(), None);
    assert!(sent(&mut network).iter().all(|(at, side, _)| *side == Side::Receiver || *at == Instant::ZERO));
}

/// RFC 8684 sections 3.2 and 3.3.8: a backup says so in its SYN, and carries nothing while a regular subflow is there;
/// it takes over when that one times out, or is closed. Whatever the scheduler.
#[test]
fn a_backup_carries_data_only_when_it_must() {
    for config in schedulers() {
        for side in [Side::Sender, Side::Receiver] {
            let remotes = if side == Side::Sender { 1 } else { 2 };
            let mut network = Network::between(&config, two(), remotes, 1);
            network.log = Some(Vec::new());
            network.change(side, 1, AddressChange::Backup(true));
            network.sender.open();
            network.sender.write_without_end();
            network.run(secs(2.0));
            let regular = sent(&mut network);
            let asked = regular.iter().find_map(|(_, _, segment)| match segment.mptcp()? {
                MptcpOption::JoinSyn { backup, .. } if side == Side::Sender => Some(backup),
                MptcpOption::JoinSynAck { backup, .. } if side == Side::Receiver => Some(backup),
                _ => None,
            });
            assert_eq!(asked, Some(true), "{side:?}");
            assert_eq!(about_addresses(&regular), [], "the flag says it all");
            assert_eq!(state(&network, 1), SubflowState::Established);
            assert_eq!(carriers(&regular), [0], "{:?} {side:?}", config.scheduler);
            network.wires[0].dead = vec![(network.now, secs(1e6))];
            network.run(secs(5.0));
            assert_eq!(state(&network, 0), SubflowState::Suspect);
            assert_eq!(network.sender.stalled_since(), None);
            let delivered = network.receiver.stats().delivered;
            // 2 s at 9.5 Mbps and about 2.7 s more.
            assert!(delivered > 4_500_000, "{:?} {side:?}: {delivered}", config.scheduler);
            complete(network);
        }
    }
}

/// RFC 8684 section 3.3.8: MP_PRIO changes the priority of the subflow that carries it, whoever sends it, both ways.
#[test]
fn priorities_change_during_a_connection() {
    for config in schedulers() {
        for side in [Side::Sender, Side::Receiver] {
            let remotes = if side == Side::Sender { 1 } else { 2 };
            let mut network = unlimited(&config, two(), remotes);
            network.run(secs(1.0));
            assert_eq!(carriers(&sent(&mut network)), [0, 1]);
            network.change(side, 0, AddressChange::Backup(true));
            network.run(secs(2.0));
            let options = about_addresses(&sent(&mut network));
            assert_eq!(options, [(side, 0, MptcpOption::Priority { backup: true })]);
            network.run(secs(3.0));
            assert_eq!(carriers(&sent(&mut network)), [1], "{:?} {side:?}", config.scheduler);
            network.change(side, 0, AddressChange::Backup(false));
            network.run(secs(4.0));
            let since = sent(&mut network);
            assert_eq!(about_addresses(&since), [(side, 0, MptcpOption::Priority { backup: false })]);
            assert_eq!(carriers(&since), [0, 1], "{:?} {side:?}", config.scheduler);
            let by = if side == Side::Sender { Origin::Own } else { Origin::Peer };
            let log = network.sender.take_log();
            let changes = log.iter().filter_map(|entry| match entry.decision {
                Decision::Prioritised { backup, by } => Some((entry.subflow, backup, by)),
                _ => None,
            });
            assert_eq!(changes.collect::<Vec<_>>(), [(Some(0), true, by), (Some(0), false, by)]);
            complete(network);
        }
    }
}

/// RFC 8684 section 3.1: MP_CAPABLE has no flag B, so that MP_PRIO makes the first subflow a backup.
#[test]
fn the_first_subflow_becomes_a_backup_by_mp_prio() {
    for side in [Side::Sender, Side::Receiver] {
        let remotes = if side == Side::Sender { 1 } else { 2 };
        let mut network = Network::between(&mesh("mptcp"), two(), remotes, 1);
        network.log = Some(Vec::new());
        network.change(side, 0, AddressChange::Backup(true));
        network.sender.open();
        network.sender.write_without_end();
        network.run(secs(1.0));
        assert_eq!(
            about_addresses(&sent(&mut network)),
            [(side, 0, MptcpOption::Priority { backup: true })],
            "{side:?}"
        );
        network.run(secs(2.0));
        assert_eq!(carriers(&sent(&mut network)), [1], "{side:?}");
        complete(network);
    }
}

/// RFC 8684 section 3: ACKs that repeat the last one for the sake of an option are no sign of congestion. With the
/// duplicate ACKs of RFC 5681 three of them would be a loss.
#[test]
fn options_on_duplicate_acks_are_no_losses() {
    let mut config = mesh("mptcp");
    config.tcp.loss_detection = crate::LossDetectionConfig::named("dupack").expect("registered");
    config.tcp.sack = false;
    let wires = vec![Wire { queue_bytes: 1 << 30, ..Wire::new(10, 10) }; 2];
    let mut network = unlimited(&config, wires, 2);
    network.sender.write_without_end();
    network.run(secs(0.2));
    for round in 0..40 {
        network.change(Side::Receiver, 0, AddressChange::Backup(round % 2 == 0));
    }
    network.run(secs(0.3));
    assert_eq!(about_addresses(&sent(&mut network)).len(), 40);
    assert_eq!(network.sender.stats().fast_recoveries, 0);
    complete(network);
}

/// RFC 8684 section 3.3.8: MP_PRIO goes on its own subflow, and is forgotten with it.
#[test]
fn the_priority_of_a_removed_subflow_is_not_told() {
    for side in [Side::Sender, Side::Receiver] {
        let remotes = if side == Side::Sender { 1 } else { 2 };
        let mut network = unlimited(&mesh("mptcp"), two(), remotes);
        network.run(secs(1.0));
        sent(&mut network);
        match side {
            Side::Sender => network.sender.on_address(network.now, 0, AddressChange::Backup(true)),
            Side::Receiver => network.receiver.on_address(network.now, 0, AddressChange::Backup(true)),
        }
        network.change(side, 0, AddressChange::Down);
        network.run(secs(2.0));
        let since = sent(&mut network);
        assert_eq!(about_addresses(&since), [(side, 1, MptcpOption::RemoveAddr { address_id: 0 })]);
        assert!(since.iter().all(|(_, by, segment)| *by != side || segment.subflow == 1), "{side:?}");
        complete(network);
    }
}

/// A path manager that does not look at addresses ignores what becomes of them.
#[test]
fn other_path_managers_ignore_addresses() {
    let mut network = unlimited(&mptcp("mptcp", 2), two(), 1);
    network.run(secs(1.0));
    network.change(Side::Sender, 0, AddressChange::Down);
    network.run(secs(2.0));
    assert_eq!(carriers(&sent(&mut network)), [0, 1]);
    complete(network);
}

/// 255 subflows in the life of a connection is all that can be numbered.
#[test]
fn subflows_run_out_without_harm() {
    let mut network = unlimited(&mesh("mptcp"), two(), 1);
    network.run(secs(0.5));
    for _ in 0..300 {
        network.change(Side::Sender, 1, AddressChange::Down);
        network.change(Side::Sender, 1, UP);
    }
    network.run(secs(1.0));
    assert_eq!(network.sender.subflow_count(), 255);
    complete(network);
}

fn changes() -> impl Strategy<Value = Vec<(u64, bool, u8, u8)>> {
    prop::collection::vec((1u64..2_000, any::<bool>(), 0u8..2, 0u8..4), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever becomes of addresses and priorities, over paths that lose and repeat: once there are addresses again,
    /// every byte has come once and in order.
    #[test]
    fn every_byte_arrives_once_whatever_becomes_of_addresses(
        changes in changes(), scheduler in 0..SchedulerConfig::NAMES.len(), preset in 0usize..2, seed in any::<u64>(),
    ) {
        whatever_becomes_of_addresses(changes, SchedulerConfig::NAMES[scheduler], ["mptcp", "linux-mptcp"][preset], seed);
    }
}

/// A transfer over four paths that lose, repeat and reorder, while addresses and priorities change: wait in milliseconds,
/// whether here, identifier, what.
fn whatever_becomes_of_addresses(
    changes: Vec<(u64, bool, u8, u8)>,
    scheduler: &str,
    preset: &str,
    seed: u64,
) {
    let config =
        MptcpConfig { scheduler: SchedulerConfig::named(scheduler).expect("registered"), ..mesh(preset) };
    let mut random = Random(seed);
    let wires = (0..4).map(|_| Wire {
        lost: random.next() % 30,
        doubled: random.next() % 20,
        late: random.next() % 50,
        ..Wire::new(5 + random.next() % 40, 10)
    });
    let mut network = Network::between(&config, wires.collect(), 2, seed);
    network.sender.open();
    network.sender.write_without_end();
    // The first handshake must not lose its address.
    network.run(secs(5.0));
    for (wait_ms, here, id, what) in changes {
        let side = if here { Side::Sender } else { Side::Receiver };
        let change = [AddressChange::Down, UP, AddressChange::Backup(true), AddressChange::Backup(false)];
        // On its first address the receiver can always be reached.
        let id = if side == Side::Receiver && what < 2 { 1 } else { id };
        network.change(side, id, change[usize::from(what)]);
        let until = network.now + anabranch_units::Span::from_ms(wait_ms);
        network.run(until);
        network.now = until;
    }
    network.change(Side::Sender, 0, UP);
    network.change(Side::Sender, 1, UP);
    network.sender.close();
    network.flush();
    assert!(network.run(secs(7200.0)), "the connection came to rest");
    network.check_complete(network.sender.stream_length().expect("closed"));
}

/// Data that a suspect subflow gave back may wait in another one (TSO deferral) while there are data in its queue: both
/// keep a mapping of their own.
#[test]
fn reinjected_data_that_wait_keep_their_mapping() {
    whatever_becomes_of_addresses(Vec::new(), "linux", "linux-mptcp", 751_492_326_939_074_204);
}

/// A subflow that was removed keeps data in its queue, which were given to others: the DATA_FIN does not wait for them.
#[test]
fn what_a_removed_subflow_keeps_holds_up_no_data_fin() {
    let changes = vec![
        (409, false, 0, 1),
        (1041, true, 0, 0),
        (806, true, 0, 1),
        (672, false, 1, 2),
        (1352, false, 1, 0),
        (869, true, 0, 2),
    ];
    whatever_becomes_of_addresses(changes, "linux", "linux-mptcp", 819_825_130_233_760_767);
}
