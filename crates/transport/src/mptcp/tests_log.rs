//! The event log of a multipath connection.

use super::testing::{Network, Wire, mptcp, secs};
use crate::config::MptcpConfig;
use crate::log::{BlockCause, Decision, LogEntry, ReductionCause};
use crate::{CongestionConfig, SchedulerConfig};

/// A transfer and its log, which must leave everything as it is without one.
fn logged(config: &MptcpConfig, wires: &[Wire], bytes: u64, seed: u64) -> (Network, Vec<LogEntry>) {
    let run = |limit: Option<usize>| {
        let mut network = Network::new(config, wires.to_vec(), seed);
        network.log = Some(Vec::new());
        if let Some(limit) = limit {
            network.sender.keep_log(limit);
        }
        network.sender.open();
        network.sender.write(bytes);
        network.sender.close();
        assert!(network.run(secs(7200.0)), "the connection came to rest");
        network.check_complete(bytes);
        network
    };
    let (mut network, mut plain) = (run(Some(1_000_000)), run(None));
    assert!(network.log == plain.log, "the same segments at the same times");
    let log = network.sender.take_log();
    assert!(plain.sender.take_log().is_empty());
    assert!(log.windows(2).all(|pair| pair[0].at <= pair[1].at));
    (network, log)
}

fn count(log: &[LogEntry], wanted: impl Fn(&LogEntry) -> bool) -> u64 {
    log.iter().filter(|entry| wanted(entry)).count() as u64
}

/// Each count of the log is what the connection itself has counted.
fn assert_sums(network: &Network, log: &[LogEntry]) {
    let (stats, sums) = (network.sender.multipath_stats(), network.sender.stats());
    let reinjected: u64 = log
        .iter()
        .map(|entry| if let Decision::Reinjected { bytes, .. } = entry.decision { bytes } else { 0 })
        .sum();
    assert_eq!(reinjected, stats.reinjected_bytes);
    let repeated =
        count(log, |entry| matches!(entry.decision, Decision::RetransmittedOpportunistically { .. }));
    assert_eq!(repeated, stats.opportunistic_retransmissions);
    assert_eq!(count(log, |entry| entry.decision == Decision::Suspected), stats.suspicions);
    let penalty =
        |entry: &LogEntry| matches!(entry.decision, Decision::Reduced { cause: ReductionCause::Penalty, .. });
    assert_eq!(count(log, penalty), stats.penalties);
    assert_eq!(count(log, |entry| matches!(entry.decision, Decision::TimedOut { .. })), sums.timeouts);
    let fast =
        |entry: &LogEntry| matches!(entry.decision, Decision::RecoveryEntered { after_timeout: false, .. });
    assert_eq!(count(log, fast), sums.fast_recoveries);
}

/// draft-cheng-iccrg-delivery-rate-estimation section 3.4, of the connection as a whole: when it has nothing more for
/// its subflows, what they send next makes samples that the application has limited.
#[test]
fn samples_after_a_dry_connection_are_marked() {
    let mut config = mptcp("mptcp", 1);
    config.tcp.congestion_control = CongestionConfig::named("bbr").expect("registered");
    let mut network = Network::new(&config, vec![Wire::new(10, 100)], 1);
    network.sender.keep_log(1000);
    network.sender.open();
    for (bytes, until) in [(5000, 0.03), (2000, 0.2)] {
        network.sender.write(bytes);
        network.run(secs(until));
    }
    let log = network.sender.take_log();
    let limited = log.iter().filter_map(|entry| match entry.decision {
        Decision::Acknowledged { delivery_rate, .. } => delivery_rate.map(|(_, limited)| limited),
        _ => None,
    });
    let limited: Vec<bool> = limited.collect();
    assert!(!limited[0] && limited[limited.len() - 1], "{limited:?}");
}

/// A path that dies: the timeout of its subflow, the suspicion, what is sent on the other instead, in this order; and
/// the answer when the path is back.
#[test]
fn a_dead_path_is_logged_from_the_timeout_to_the_answer() {
    let wires = [Wire::new(20, 10).dead(1.0, 4.0), Wire::new(20, 10)];
    let (network, log) = logged(&mptcp("mptcp", 2), &wires, 12_000_000, 1);
    assert_sums(&network, &log);
    let place = |wanted: &dyn Fn(&LogEntry) -> bool| log.iter().position(wanted).expect("it is logged");
    let timeout = place(&|e| e.subflow == Some(0) && matches!(e.decision, Decision::TimedOut { .. }));
    let suspected = place(&|e| e.subflow == Some(0) && e.decision == Decision::Suspected);
    let reinjected = place(&|e| matches!(e.decision, Decision::Reinjected { from: 0, .. }));
    let answered = place(&|e| e.subflow == Some(0) && e.decision == Decision::Answered);
    assert!(timeout < suspected && suspected < reinjected && reinjected < answered);
    assert_eq!(log[timeout].at, log[suspected].at);
    assert_eq!(log[reinjected].subflow, Some(1), "the one that takes them");
    assert!(log[answered].at >= secs(4.0));
    for index in 0..2 {
        assert_eq!(count(&log, |e| e.subflow == Some(index) && e.decision == Decision::Established), 1);
    }
}

/// A receive window that a slow subflow keeps full: the connection blocks, the fast subflow repeats what is missing,
/// and the slow one is penalised (Raiciu 2012, section 4.2).
#[test]
fn a_full_receive_window_is_logged_with_its_penalty() {
    let mut config = mptcp("mptcp", 2);
    config.tcp.receive_buffer = anabranch_units::Bytes(100_000);
    // The fast path and its queue hold half of the window, so that the slow one gets data too.
    let wires = [5, 150].map(|delay| Wire { queue_bytes: 20_000, ..Wire::new(delay, 20) });
    let (network, log) = logged(&config, &wires, 4_000_000, 3);
    assert_sums(&network, &log);
    assert!(network.sender.multipath_stats().penalties > 0);
    let blocked = Decision::Blocked { cause: BlockCause::ReceiveWindow };
    let (begins, ends) = (
        count(&log, |e| matches!(e.decision, Decision::Blocked { .. })),
        count(&log, |e| e.decision == Decision::Unblocked),
    );
    assert!(count(&log, |e| e.decision == blocked) > 0 && begins.abs_diff(ends) <= 1, "{begins} {ends}");
    assert!(log.iter().all(|e| e.subflow.is_some() || e.metrics.cwnd > 0));
    let penalised = log.iter().find_map(|e| match e.decision {
        Decision::Reduced { cause: ReductionCause::Penalty, before, after } => {
            Some((e.subflow, before, after))
        }
        _ => None,
    });
    let Some((subflow, before, after)) = penalised else { panic!("a penalty") };
    assert_eq!((subflow, after), (Some(1), (before / 2).max(1428)));
}

/// BLEST waits for the fast subflow rather than give the slow one data that would block the window (Ferlin 2016).
#[test]
fn a_scheduler_that_waits_is_logged() {
    let mut config =
        MptcpConfig { scheduler: SchedulerConfig::Blest(Default::default()), ..mptcp("mptcp", 2) };
    config.tcp.receive_buffer = anabranch_units::Bytes(100_000);
    let wires = [5, 150].map(|delay| Wire { queue_bytes: 20_000, ..Wire::new(delay, 20) });
    let (_, log) = logged(&config, &wires, 4_000_000, 3);
    let waits = Decision::Blocked { cause: BlockCause::Scheduler };
    assert!(count(&log, |e| e.decision == waits && e.subflow.is_none()) > 0);
}

/// The subflows and the connection share the room of a log.
#[test]
fn the_room_of_a_log_is_shared_by_the_subflows() {
    let mut network = Network::new(&mptcp("mptcp", 2), vec![Wire::new(20, 10), Wire::new(20, 10)], 1);
    network.sender.keep_log(30);
    network.sender.open();
    network.sender.write(1_000_000);
    network.sender.close();
    assert!(network.run(secs(60.0)));
    let log = network.sender.take_log();
    assert!(log.len() <= 30);
    for index in 0..2 {
        assert!(count(&log, |e| e.subflow == Some(index)) >= 10);
        assert_eq!(count(&log, |e| e.subflow == Some(index) && e.decision == Decision::Full), 1);
    }
}
