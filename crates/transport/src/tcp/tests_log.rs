//! The event log: each decision with its cause, sums as the counters say, and nothing else changed by it.

use super::tests::{Fate, Pair, Side, combinations, fate, is_data};
use crate::LossDetectionConfig;
use crate::config::TcpConfig;
use crate::log::{Decision, LogEntry, LossCause, RecoveryEnd, ReductionCause, TimeoutCause};
use crate::segment::{Flags, Segment};
use crate::tcp_preset;
use anabranch_units::{Instant, Span};
use proptest::prelude::*;

const HOUR: Instant = Instant::from_ps(3600 * 1_000_000_000_000);

fn named(name: &str) -> TcpConfig {
    tcp_preset(name).unwrap()
}

/// A pair that keeps a log and has written `bytes`.
fn opened(config: &TcpConfig, bytes: u64) -> Pair {
    let mut pair = Pair::new(config, 0xFFFF_F000);
    pair.sender.keep_log(1_000_000);
    pair.sender.open();
    pair.sender.write(bytes);
    pair
}

/// A transfer and its log.
fn logged(
    config: &TcpConfig,
    bytes: u64,
    fate: impl FnMut(Side, &Segment, u64) -> Fate,
) -> (Pair, Vec<LogEntry>) {
    let mut pair = opened(config, bytes);
    pair.sender.close();
    assert!(pair.run(HOUR, fate), "the connection came to rest");
    let log = pair.sender.take_log();
    (pair, log)
}

fn names(log: &[LogEntry]) -> Vec<&'static str> {
    log.iter().map(|entry| entry.decision.name()).collect()
}

/// What is logged between the handshake and the end, without ACKs.
fn decisions(log: &[LogEntry]) -> Vec<(&'static str, &'static str)> {
    let ordinary = ["opened", "established", "closed", "ack"];
    let all = log.iter().map(|entry| (entry.decision.name(), entry.decision.cause()));
    all.filter(|(name, _)| !ordinary.contains(name)).collect()
}

fn causes(log: &[LogEntry]) -> Vec<LossCause> {
    let losses = log.iter().filter_map(|entry| match entry.decision {
        Decision::Lost { cause, .. } => Some(cause),
        _ => None,
    });
    losses.collect()
}

/// Loses the first transmission of the data segments with these numbers, counted from 0.
fn losing(victims: &'static [u64]) -> impl FnMut(Side, &Segment, u64) -> Fate {
    let (mut seen, mut next) = (0, None);
    move |side, segment, _| {
        if side == Side::Receiver || !is_data(segment) {
            return Fate::Arrive;
        }
        // The segments behind the highest one so far are new.
        if next.is_some_and(|next: u32| (segment.seq.wrapping_sub(next) as i32) < 0) {
            return Fate::Arrive;
        }
        next = Some(segment.seq.wrapping_add(u32::from(segment.payload)));
        seen += 1;
        if victims.contains(&(seen - 1)) { Fate::Lost } else { Fate::Arrive }
    }
}

/// What finds losses under a configuration, timeouts apart.
fn possible(config: &TcpConfig) -> &'static [LossCause] {
    match (&config.loss_detection, config.sack) {
        (LossDetectionConfig::Rack(_), _) | (LossDetectionConfig::LinuxRack(_), true) => &[LossCause::Rack],
        (LossDetectionConfig::Fastrto(_), _) => &[LossCause::FastRto],
        (LossDetectionConfig::TcpPr(_), _) => &[LossCause::TcpPr],
        (_, true) => &[LossCause::SackThreshold],
        (_, false) => &[LossCause::DuplicateAcks, LossCause::PartialAck],
    }
}

/// Each count of the log is what the sender itself has counted.
fn assert_sums(pair: &Pair, log: &[LogEntry], bytes: u64) {
    let stats = pair.sender.stats();
    let count = |wanted: &dyn Fn(&Decision) -> bool| {
        log.iter().filter(|entry| wanted(&entry.decision)).count() as u64
    };
    assert_eq!(count(&|d| matches!(d, Decision::TimedOut { .. })), stats.timeouts);
    let fast = |d: &Decision| matches!(d, Decision::RecoveryEntered { after_timeout: false, .. });
    assert_eq!(count(&fast), stats.fast_recoveries);
    assert_eq!(count(&|d| matches!(d, Decision::Undone { .. })), stats.undone_recoveries);
    assert_eq!(count(&|d| matches!(d, Decision::TailLossProbe)), stats.tail_loss_probes);
    let ecn = |d: &Decision| matches!(d, Decision::Reduced { cause: ReductionCause::Ecn, .. });
    assert_eq!(count(&ecn), stats.ecn_reductions);
    let lost =
        log.iter().map(|entry| if let Decision::Lost { bytes, .. } = entry.decision { bytes } else { 0 });
    assert_eq!(lost.sum::<u64>(), pair.sender.lost_total());
    // The FIN takes a sequence number.
    let acked = log
        .iter()
        .map(|entry| if let Decision::Acknowledged { acked, .. } = entry.decision { acked } else { 0 });
    assert_eq!(acked.sum::<u64>(), bytes + 1);
    // A recovery is left before the next one begins, and none is left twice.
    let mut recovering = None;
    for entry in log {
        match entry.decision {
            Decision::RecoveryEntered { after_timeout, .. } => {
                assert_eq!(recovering.replace(after_timeout), None);
            }
            Decision::RecoveryLeft { after_timeout, .. } => {
                assert_eq!(recovering.take(), Some(after_timeout));
            }
            _ => {}
        }
    }
    assert!(log.windows(2).all(|pair| pair[0].at <= pair[1].at));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever the wire does and whoever detects losses: the log agrees with the counters, and the connection sends
    /// the same segments at the same times as one without a log.
    #[test]
    fn the_log_agrees_with_the_counters_and_changes_nothing(
        fates in prop::collection::vec(fate(), 1..200),
        bytes in 1u64..300_000,
        variant in 0usize..1000,
    ) {
        let all = combinations();
        let config = &all[variant % all.len()];
        let wire = |_: Side, _: &Segment, number: u64| {
            fates.get(number as usize).copied().unwrap_or(Fate::Arrive)
        };
        let (pair, log) = logged(config, bytes, wire);
        let plain = Pair::transfer(config, bytes, wire);
        prop_assert_eq!(&pair.log, &plain.log);
        prop_assert_eq!(pair.sender.stats(), plain.sender.stats());
        assert_sums(&pair, &log, bytes);
        let allowed = possible(config);
        let are_allowed = causes(&log).into_iter().all(|c| c == LossCause::Timeout || allowed.contains(&c));
        prop_assert!(are_allowed, "{:?}", decisions(&log));
        let names = names(&log);
        prop_assert_eq!((names.first(), names.last()), (Some(&"opened"), Some(&"closed")));
        prop_assert!(plain.sender.stats().segments > 0);
    }
}

/// One hole: who finds it, the reduction, and the recovery from its beginning to its end.
#[test]
fn a_loss_is_logged_with_the_rule_that_found_it() {
    let without_sack = TcpConfig { sack: false, ..named("newreno") };
    let cases = [
        (named("newreno"), LossCause::SackThreshold),
        (named("rr-tcp"), LossCause::SackThreshold),
        (named("tcp-ncr"), LossCause::SackThreshold),
        (without_sack, LossCause::DuplicateAcks),
        (named("linux-reno"), LossCause::Rack),
        (named("mprc"), LossCause::FastRto),
        (named("tcp-pr"), LossCause::TcpPr),
    ];
    for (config, cause) in cases {
        let (_, log) = logged(&config, 1_000_000, losing(&[30]));
        let rule = cause.name();
        assert_eq!(
            decisions(&log),
            [
                ("loss", rule),
                ("phase", ""),
                ("reduction", "loss"),
                ("fast recovery entered", rule),
                ("fast recovery left", "acknowledged"),
            ],
            "{config:?}"
        );
        let lost = log.iter().find_map(|entry| match entry.decision {
            Decision::Lost { position, bytes, .. } => Some((position, bytes)),
            _ => None,
        });
        // 30 segments of 1448 bytes are before it.
        assert_eq!(lost, Some((30 * 1448, 1448)), "{config:?}");
        let reduced = log.iter().find_map(|entry| match entry.decision {
            Decision::Reduced { before, after, .. } => Some((before, after, entry.metrics)),
            _ => None,
        });
        let Some((before, after, metrics)) = reduced else { panic!("a reduction") };
        // RFC 5681 equation (4), and Chang 2024 for MPRC: half. TCP-NCR counts what is in
        // flight, TCP-PR goes from the window at the time of sending; both are less here.
        let less =
            matches!(config.loss_detection, LossDetectionConfig::TcpNcr(_) | LossDetectionConfig::TcpPr(_));
        let half = before / 2;
        assert!(after <= half + 1448 && (less || after + 1448 >= half), "{before} to {after}, {config:?}");
        assert!(metrics.ssthresh <= after && metrics.phase == "congestion avoidance", "{metrics:?}");
    }
}

/// RFC 6582 section 3.2: of two holes the second is found by a partial ACK.
#[test]
fn a_partial_ack_finds_the_next_hole() {
    let config = TcpConfig { sack: false, ..named("newreno") };
    let (_, log) = logged(&config, 200_000, losing(&[30, 33]));
    assert_eq!(causes(&log), [LossCause::DuplicateAcks, LossCause::PartialAck]);
}

/// RFC 6298 section 5.5: each timeout doubles the next, and the log says which in a row it is.
#[test]
fn timeouts_are_logged_with_their_backoff() {
    let outage = Instant::ZERO + Span::from_ms(50)..Instant::ZERO + Span::from_ms(2500);
    let mut pair = opened(&named("newreno"), 400_000);
    pair.sender.close();
    pair.run(outage.start, |_, _, _| Fate::Arrive);
    pair.now = outage.start;
    pair.run(outage.end, |_, _, _| Fate::Lost);
    pair.now = outage.end;
    assert!(pair.run(HOUR, |_, _, _| Fate::Arrive));
    let log = pair.sender.take_log();
    assert_sums(&pair, &log, 400_000);
    let timeouts: Vec<(TimeoutCause, u32, Span)> = log
        .iter()
        .filter_map(|entry| match entry.decision {
            Decision::TimedOut { cause, backoff } => Some((cause, backoff, entry.metrics.rto)),
            _ => None,
        })
        .collect();
    assert!(timeouts.len() >= 3, "{timeouts:?}");
    for (number, (cause, backoff, rto)) in timeouts.iter().enumerate() {
        assert_eq!((*cause, *backoff), (TimeoutCause::Retransmission, number as u32 + 1));
        assert_eq!(*rto, timeouts[0].2.saturating_mul(1 << number));
    }
    assert!(causes(&log).contains(&LossCause::Timeout));
    let logged = decisions(&log);
    assert!(
        logged.contains(&("reduction", "timeout")) && logged.contains(&("loss recovery entered", "timeout"))
    );
    assert!(logged.contains(&("loss recovery left", "superseded")), "by the second timeout");
    assert!(logged.contains(&("loss recovery left", "acknowledged")));
    // RFC 5681 section 3.1: one segment.
    let after = log.iter().filter_map(|entry| match entry.decision {
        Decision::Reduced { after, .. } => Some(after),
        _ => None,
    });
    assert!(after.into_iter().all(|after| after == 1448));
}

/// TCP-PR, "extreme losses": the path swallows a window, which is more than a burst.
#[test]
fn extreme_losses_are_a_timeout_of_tcp_pr() {
    let mut pair = opened(&named("tcp-pr"), 400_000);
    pair.sender.close();
    let from = Instant::ZERO + Span::from_ms(90);
    pair.run(from, |_, _, _| Fate::Arrive);
    pair.now = from;
    pair.run(from + Span::from_ms(40), |_, _, _| Fate::Lost);
    pair.now = from + Span::from_ms(40);
    assert!(pair.run(HOUR, |_, _, _| Fate::Arrive));
    let log = pair.sender.take_log();
    assert_sums(&pair, &log, 400_000);
    let logged = decisions(&log);
    for wanted in
        [("timeout", "extreme losses"), ("reduction", "extreme losses"), ("loss recovery entered", "tcp-pr")]
    {
        assert!(logged.contains(&wanted), "{wanted:?} in {logged:?}");
    }
    assert!(log.iter().all(|e| e.metrics.rto == Span::ZERO || e.metrics.srtt == Span::ZERO));
}

/// A SYN that is lost, and one that is given up.
#[test]
fn a_handshake_is_logged_from_its_opening_to_its_end() {
    let mut lost = 0;
    let (_, log) = logged(&named("newreno"), 1000, |_, segment, _| {
        let syn = segment.flags.has(Flags::SYN) && lost < 2;
        lost += u32::from(syn);
        if syn { Fate::Lost } else { Fate::Arrive }
    });
    assert_eq!(names(&log)[..4], ["opened", "timeout", "timeout", "established"]);
    assert_eq!(log[1].decision, Decision::TimedOut { cause: TimeoutCause::Handshake, backoff: 1 });
    // RFC 6298 section 5.7: a second, then two more.
    assert_eq!([log[1].at, log[2].at].map(|at| at.as_secs_f64()), [1.0, 3.0]);

    let mut pair = opened(&named("newreno"), 1000);
    assert!(pair.run(HOUR, |_, _, _| Fate::Lost));
    assert_eq!(names(&pair.sender.take_log()).last(), Some(&"given up"));
}

/// RFC 8985 section 7: the probe repairs a lost tail, and the window answers for it once later data show so.
#[test]
fn a_tail_loss_probe_and_what_it_repaired_are_logged() {
    let mut pair = opened(&named("linux-reno"), 20 * 1448);
    let mut fate = losing(&[19]);
    assert!(pair.run(HOUR, &mut fate));
    pair.sender.write(10 * 1448);
    pair.sender.close();
    assert!(pair.run(HOUR, &mut fate));
    let log = pair.sender.take_log();
    assert_sums(&pair, &log, 30 * 1448);
    let logged: Vec<_> = decisions(&log).into_iter().filter(|(name, _)| *name != "phase").collect();
    assert_eq!(logged, [("tail loss probe", ""), ("reduction", "probe repair")]);
}

/// RFC 3522: a segment comes 15 ms late, and the recovery that duplicate ACKs began is taken back.
#[test]
fn a_spurious_recovery_is_logged_as_undone() {
    let config = TcpConfig { undo: true, ..named("newreno") };
    let mut losing = losing(&[30]);
    let (pair, log) = logged(&config, 400_000, |side, segment, number| match losing(side, segment, number) {
        Fate::Lost => Fate::Late(Span::from_ms(15)),
        other => other,
    });
    assert_eq!(pair.sender.stats().undone_recoveries, 1);
    let logged = decisions(&log);
    assert_eq!(logged.last(), Some(&("fast recovery left", "undone")), "{logged:?}");
    let window = |name: &str| {
        log.iter().find(|entry| entry.decision.name() == name).map(|entry| match entry.decision {
            Decision::Reduced { before, .. } => before,
            Decision::Undone { after, .. } => after,
            _ => panic!("{name} has windows"),
        })
    };
    assert_eq!(window("reduction"), window("undo"), "what it took is given back");
    let end =
        |entry: &&LogEntry| matches!(entry.decision, Decision::RecoveryLeft { end: RecoveryEnd::Undone, .. });
    assert_eq!(log.iter().filter(end).count(), 1);
}

/// RFC 3168: one mark, one reduction, no recovery.
#[test]
fn a_mark_is_logged_as_a_reduction_by_ecn() {
    let config = TcpConfig { ecn: true, ..named("newreno") };
    let mut pair = opened(&config, 300_000);
    pair.sender.close();
    pair.flush(&mut |_, _, _| Fate::Arrive);
    let mut marked = false;
    loop {
        if let Some(entry) = pair.wire.iter_mut().find(|w| !marked && is_data(&w.3) && w.1 > 40) {
            entry.3.flags = entry.3.flags.with(Flags::CE);
            marked = true;
        }
        let next = pair.now + Span::from_ms(1);
        if pair.run(next, |_, _, _| Fate::Arrive) {
            break;
        }
        pair.now = next;
    }
    let log = pair.sender.take_log();
    assert_sums(&pair, &log, 300_000);
    assert_eq!(decisions(&log), [("phase", ""), ("reduction", "ecn")]);
}

/// RFC 5681 section 4.1: data after a pause of five seconds.
#[test]
fn a_restart_after_idle_is_logged_with_its_windows() {
    let mut pair = opened(&named("newreno"), 400_000);
    assert!(pair.run(HOUR, |_, _, _| Fate::Arrive));
    pair.now = pair.now + Span::from_secs(5);
    pair.sender.write(100_000);
    pair.sender.close();
    assert!(pair.run(HOUR, |_, _, _| Fate::Arrive));
    let log = pair.sender.take_log();
    assert_eq!(decisions(&log), [("idle restart", "")]);
    let restart = log.iter().find_map(|entry| match entry.decision {
        Decision::RestartedAfterIdle { before, after } => Some((before, after)),
        _ => None,
    });
    let Some((before, after)) = restart else { panic!("a restart") };
    assert!(before > after && after == 10 * 1448, "{before} to {after}");
}

/// RFC 9406: the round trip grows in slow start, which becomes conservative and then ends.
#[test]
fn phases_of_hystart_are_logged() {
    let mut pair = opened(&named("cubic"), 0);
    pair.sender.write_without_end();
    pair.run(Instant::ZERO + Span::from_ms(70), |_, _, _| Fate::Arrive);
    pair.run(Instant::ZERO + Span::from_ms(500), |_, _, _| Fate::Late(Span::from_ms(12)));
    let log = pair.sender.take_log();
    let phases = log.iter().filter(|entry| matches!(entry.decision, Decision::PhaseChanged { .. }));
    let phases: Vec<&str> = phases.map(|entry| entry.metrics.phase).collect();
    assert_eq!(phases, ["conservative slow start", "congestion avoidance"]);
}

/// What an ACK's entry says is what the ACK said: RFC 6298 by hand for the first two samples of 20 ms.
#[test]
fn an_ack_is_logged_with_the_state_after_it() {
    let (_, log) = logged(&named("newreno"), 100_000, |_, _, _| Fate::Arrive);
    let acks: Vec<&LogEntry> = log.iter().filter(|entry| entry.decision.name() == "ack").collect();
    let first = acks[0];
    // The receiver answers every second segment; the window grows by both (RFC 3465).
    let Decision::Acknowledged { acked, delivered, rtt, delivery_rate } = first.decision else {
        panic!("an ACK")
    };
    assert_eq!((acked, delivered, rtt), (2 * 1448, 2 * 1448, Some(Span::from_ms(20))));
    assert_eq!((first.metrics.cwnd, first.metrics.in_flight), (12 * 1448, 8 * 1448));
    assert_eq!(first.metrics.srtt, Span::from_ms(20));
    // 3/4 of half the first sample.
    assert_eq!(first.metrics.rttvar, Span::from_us(7500));
    // 20 ms + 4 x 7.5 ms are below the least timeout.
    assert_eq!(first.metrics.rto, Span::from_ms(200));
    assert_eq!((first.metrics.min_rtt, first.metrics.pacing_rate), (Span::from_ms(20), None));
    // Two segments in a round trip so far.
    assert_eq!(delivery_rate.map(|(rate, _)| rate.as_bps()), Some(2 * 1448 * 8 * 50));
}

/// Whether the sample of each ACK was limited by the application.
fn limited(log: &[LogEntry]) -> Vec<bool> {
    let acks = log.iter().filter_map(|entry| match entry.decision {
        Decision::Acknowledged { delivery_rate, .. } => delivery_rate.map(|(_, limited)| limited),
        _ => None,
    });
    acks.collect()
}

/// draft-cheng-iccrg-delivery-rate-estimation section 3.4: six segments of a window of ten leave the application dry.
/// What it writes before they are delivered makes samples that the application has limited, they themselves do not.
#[test]
fn samples_after_a_dry_application_are_marked() {
    let mut pair = opened(&named("newreno"), 6 * 1448);
    pair.run(Instant::ZERO + Span::from_ms(25), |_, _, _| Fate::Arrive);
    pair.now = Instant::ZERO + Span::from_ms(25);
    pair.sender.write(2 * 1448);
    pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
    assert_eq!(limited(&pair.sender.take_log()), [false, false, false, true]);
    let (_, log) = logged(&named("newreno"), 1_000_000, |_, _, _| Fate::Arrive);
    assert!(!limited(&log)[..100].contains(&true), "nor where there is always more to send");
}

/// A log ends at its limit and says so.
#[test]
fn a_full_log_says_so() {
    let mut pair = opened(&named("newreno"), 100_000);
    pair.sender.keep_log(10);
    pair.sender.close();
    assert!(pair.run(HOUR, |_, _, _| Fate::Arrive));
    let log = pair.sender.take_log();
    assert_eq!(log.len(), 10);
    assert_eq!(log.last().map(|entry| entry.decision), Some(Decision::Full));
    assert_eq!(pair.sender.take_log(), []);
}

/// RFC 5681 section 4.1: a pause is one behind data. A connection that has sent none begins, however late.
#[test]
fn late_first_data_are_no_restart() {
    let mut pair = opened(&named("newreno"), 0);
    assert!(pair.run(HOUR, |_, _, _| Fate::Arrive));
    pair.now = pair.now + Span::from_secs(5);
    pair.sender.write(100_000);
    pair.sender.close();
    assert!(pair.run(HOUR, |_, _, _| Fate::Arrive));
    assert_eq!(decisions(&pair.sender.take_log()), []);
}
