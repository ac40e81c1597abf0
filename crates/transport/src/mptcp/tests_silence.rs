//! Subflows that fall silent, with the scheduler of Linux (`sender/silence.rs`).

use super::testing::{Network, Side, Wire, mptcp, secs};
use super::tests_addresses::{carriers, complete, mesh, sent, state, two, unlimited};
use super::{AddressChange, SubflowState};
use crate::log::{Decision, LogEntry};

/// What the connection has repeated, by the log: bytes on which subflow.
fn repeated(log: &[LogEntry]) -> Vec<(Option<u8>, u64)> {
    let blocks = log.iter().filter_map(|entry| match entry.decision {
        Decision::RetransmittedData { bytes } => Some((entry.subflow, bytes)),
        _ => None,
    });
    blocks.collect()
}

/// The regular path dies. Its subflow is silent for five expiries of the connection's timer, of some 0.2 to 0.3 s each, before
/// it is taken for dead (`stale_loss_cnt` 4). At the second, third and fourth the backup repeats a block; at the
/// fifth it is given everything that is outstanding, and what is new. A timeout of the subflow itself changes nothing.
#[test]
fn a_backup_takes_over_after_five_silent_expiries() {
    let mut network = Network::between(&mesh("linux-mptcp"), two(), 1, 1);
    network.log = Some(Vec::new());
    network.sender.keep_log(100_000);
    network.change(Side::Sender, 1, AddressChange::Backup(true));
    network.sender.open();
    network.sender.write_without_end();
    network.run(secs(2.0));
    assert_eq!(carriers(&sent(&mut network)), [0]);
    network.sender.take_log();
    network.wires[0].dead = vec![(network.now, secs(6.0))];
    network.run(secs(5.0));
    let log = network.sender.take_log();
    let dead = log.iter().position(|entry| entry.decision == Decision::Suspected).expect("it is noticed");
    assert_eq!(log[dead].subflow, Some(0));
    let after = log[dead].at.saturating_since(secs(2.0)).as_ps() as f64 * 1e-12;
    assert!((1.0..1.6).contains(&after), "{after}");
    let blocks = repeated(&log[..dead]);
    assert_eq!(blocks.len(), 3);
    assert!(blocks.iter().all(|&(subflow, bytes)| subflow == Some(1) && bytes <= 32_728), "{blocks:?}");
    let is_repetition = |entry: &LogEntry| matches!(entry.decision, Decision::Reinjected { from: 0, .. });
    assert!(!log[..dead].iter().any(is_repetition) && log[dead..].iter().any(is_repetition));
    let before = network.receiver.stats().delivered;
    network.run(secs(6.0));
    let mbps = (network.receiver.stats().delivered - before) as f64 * 8e-6;
    assert!(mbps > 9.0, "the backup carries {mbps} Mbps");
    // With its first ACK the regular subflow is back, and the backup rests.
    network.run(secs(14.0));
    assert_eq!(state(&network, 0), SubflowState::Established);
    sent(&mut network);
    network.run(secs(15.0));
    assert_eq!(carriers(&sent(&mut network)), [0]);
    complete(network);
}

/// A path that is dead for half a second costs a timeout. The other subflow goes on, and nothing is repeated on it but blocks
/// of the timer, once it has nothing outstanding.
#[test]
fn a_timeout_alone_makes_no_subflow_suspect() {
    for dead_s in [0.3, 0.5] {
        let wires = vec![Wire::new(10, 10).dead(2.0, 2.0 + dead_s), Wire::new(10, 10)];
        let mut network = unlimited(&mptcp("linux-mptcp", 2), wires, 1);
        network.run(secs(4.0));
        assert!(network.sender.subflow(0).expect("the first").stats.timeouts > 0);
        assert_eq!(network.sender.multipath_stats().suspicions, 0);
        let log = network.sender.take_log();
        assert!(!log.iter().any(|entry| matches!(entry.decision, Decision::Reinjected { .. })));
        complete(network);
    }
}

/// Both paths die: there is no alternative to either, so that both wait for their own timers. The connection says that it stands
/// still, and goes on when one is back.
#[test]
fn without_an_alternative_no_subflow_is_given_up() {
    let wires = vec![Wire::new(10, 10).dead(1.0, 4.0), Wire::new(10, 10).dead(1.0, 1e6)];
    let mut network = unlimited(&mptcp("linux-mptcp", 2), wires, 1);
    network.run(secs(3.9));
    assert_eq!(network.sender.multipath_stats().suspicions, 0);
    assert!(network.sender.stalled_since().is_some());
    network.run(secs(8.0));
    assert_eq!(network.sender.stalled_since(), None);
    assert!(network.sender.multipath_stats().stalled.as_ps() > 2_000_000_000_000);
    network.sender.close();
    assert!(network.run(secs(7200.0)));
    network.check_complete(network.sender.stream_length().expect("closed"));
}
