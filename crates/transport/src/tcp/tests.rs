//! Both ends against each other over a wire that delays, loses, repeats and reorders.

use super::{LinuxRackParameters, Receiver, Sender};
use crate::LossDetectionConfig;
use crate::config::TcpConfig;
use crate::segment::{Flags, Segment};
use crate::tcp::pacing::{PacingConfig, WindowPacing};
use crate::{PRESETS, tcp_preset};
use anabranch_units::{Instant, Span};
use proptest::prelude::*;

/// What becomes of one segment on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Arrive,
    Lost,
    Late(Span),
    Twice,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Sender,
    Receiver,
}

/// Two ends and the segments between them.
pub(super) struct Pair {
    pub(super) now: Instant,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) delay: Span,
    pub(super) wire: Vec<(Instant, u64, Side, Segment)>,
    sent: u64,
    /// Every segment that was put on the wire, by the side that sent it.
    pub(super) log: Vec<(Instant, Side, Segment)>,
}

impl Pair {
    pub(super) fn new(config: &TcpConfig, sequence: u32) -> Self {
        Self {
            now: Instant::ZERO,
            sender: Sender::new(config, sequence, 1),
            receiver: Receiver::new(config, sequence.wrapping_add(77)),
            delay: Span::from_ms(10),
            wire: Vec::new(),
            sent: 0,
            log: Vec::new(),
        }
    }

    pub(super) fn flush(&mut self, fate: &mut dyn FnMut(Side, &Segment, u64) -> Fate) {
        loop {
            let (from, segment) = if let Some(segment) = self.sender.poll_transmit(self.now) {
                (Side::Sender, segment)
            } else if let Some(segment) = self.receiver.poll_transmit(self.now) {
                (Side::Receiver, segment)
            } else {
                return;
            };
            self.log.push((self.now, from, segment));
            let arrival = self.now + self.delay;
            let number = self.sent;
            self.sent += 1;
            match fate(from, &segment, number) {
                Fate::Arrive => self.wire.push((arrival, 2 * number, from, segment)),
                Fate::Lost => {}
                Fate::Late(span) => self.wire.push((arrival + span, 2 * number, from, segment)),
                Fate::Twice => {
                    self.wire.push((arrival, 2 * number, from, segment));
                    self.wire.push((arrival + Span::from_us(10), 2 * number + 1, from, segment));
                }
            }
        }
    }

    /// Runs until nothing is left to happen or `end`; returns whether it came to rest.
    pub(super) fn run(&mut self, end: Instant, mut fate: impl FnMut(Side, &Segment, u64) -> Fate) -> bool {
        self.flush(&mut fate);
        loop {
            let arrival = self.wire.iter().enumerate().min_by_key(|(_, w)| (w.0, w.1)).map(|(i, w)| (w.0, i));
            let timers = [self.sender.next_timeout(), self.receiver.next_timeout()];
            let timer = timers.into_iter().flatten().min();
            let next = match (arrival.map(|a| a.0), timer) {
                (Some(a), Some(t)) => a.min(t),
                (Some(t), None) | (None, Some(t)) => t,
                (None, None) => return true,
            };
            if next > end {
                return false;
            }
            assert!(next >= self.now, "time runs forwards");
            self.now = next;
            match arrival.filter(|a| a.0 <= next) {
                Some((_, index)) => {
                    let (_, _, from, segment) = self.wire.swap_remove(index);
                    match from {
                        Side::Sender => self.receiver.on_segment(next, &segment),
                        Side::Receiver => self.sender.on_segment(next, &segment),
                    }
                }
                None => {
                    self.sender.on_timeout(next);
                    self.receiver.on_timeout(next);
                }
            }
            self.flush(&mut fate);
        }
    }

    pub(super) fn transfer(
        config: &TcpConfig,
        bytes: u64,
        fate: impl FnMut(Side, &Segment, u64) -> Fate,
    ) -> Self {
        let mut pair = Self::new(config, 0xFFFF_F000);
        pair.sender.open();
        pair.sender.write(bytes);
        pair.sender.close();
        assert!(pair.run(Instant::ZERO + Span::from_secs(3600), fate), "the connection came to rest");
        pair
    }
}

pub(super) fn is_data(segment: &Segment) -> bool {
    segment.payload > 0
}

fn is_fastrto(config: &TcpConfig) -> bool {
    config.loss_detection == tcp_preset("mprc").unwrap().loss_detection
}

/// The parts of MPRC apart.
fn mixtures() -> Vec<TcpConfig> {
    let [mprc, cubic, rack] = ["mprc", "cubic", "linux-reno"].map(|name| tcp_preset(name).unwrap());
    vec![
        TcpConfig { loss_detection: mprc.loss_detection.clone(), ..cubic },
        TcpConfig { congestion_control: mprc.congestion_control.clone(), ..rack },
        TcpConfig { undo: true, ..mprc },
    ]
}

/// Every preset, with and without SACK and timestamps.
fn variants() -> Vec<TcpConfig> {
    let mut all = Vec::new();
    // The paths here have milliseconds, for which the timeouts of fabrics are too short.
    let names = PRESETS.iter().map(|(name, _)| *name).filter(|name| !name.ends_with("-fabric"));
    let presets: Vec<TcpConfig> = names.filter_map(tcp_preset).collect();
    assert_eq!(presets.len(), 13, "the TCP presets are looked at");
    for base in presets.into_iter().chain(mixtures()) {
        for timestamps in [true, false] {
            all.push(TcpConfig { timestamps, ..base.clone() });
            // The others want SACK; what they do without it, the combinations show.
            use LossDetectionConfig::{Dupack, Fastrto};
            if matches!(base.loss_detection, Dupack(_) | Fastrto(_)) {
                all.push(TcpConfig { timestamps, sack: false, ..base.clone() });
            }
        }
    }
    all
}

/// The variants, and the loss detections that stand reordering with every other controller, with and without
/// undo and SACK.
pub(super) fn combinations() -> Vec<TcpConfig> {
    let mut all = variants();
    for name in ["tcp-pr", "rr-tcp", "tcp-ncr"] {
        for controller in ["newreno", "cubic", "bbr"] {
            for (undo, sack) in [(true, true), (false, true), (false, false)] {
                let congestion_control = tcp_preset(controller).unwrap().congestion_control;
                all.push(TcpConfig { congestion_control, undo, sack, ..tcp_preset(name).unwrap() });
            }
        }
    }
    all
}

#[test]
fn a_clean_transfer_retransmits_nothing_and_closes() {
    for config in variants() {
        let pair = Pair::transfer(&config, 1_000_000, |_, _, _| Fate::Arrive);
        assert_eq!(pair.receiver.stats().delivered, 1_000_000);
        assert_eq!(pair.sender.stats().retransmissions, 0, "{config:?}");
        assert_eq!(pair.receiver.stats().duplicate_segments, 0);
        assert!(pair.sender.is_finished() && pair.receiver.is_finished());
        assert_eq!(pair.sender.acknowledged(), 1_000_000);
        assert_eq!(pair.sender.stream_length(), Some(1_000_000));
        assert_eq!(pair.sender.room_for_segments(), 0, "nothing will be in flight any more");
    }
}

/// What is counted as received are segments with data: a FIN by itself is none.
#[test]
fn a_fin_alone_is_no_segment_of_data() {
    let mut pair = Pair::new(&tcp_preset("newreno").unwrap(), 9);
    pair.sender.open();
    pair.sender.write(2 * 1448);
    pair.run(Instant::ZERO + Span::from_secs(1), |_, _, _| Fate::Arrive);
    pair.sender.close();
    pair.run(Instant::ZERO + Span::from_secs(2), |_, _, _| Fate::Arrive);
    assert!(pair.receiver.is_finished());
    assert_eq!(pair.receiver.stats().segments, 2);
}

/// RFC 9293 section 3.10.7.4, TIME-WAIT: a FIN that comes again is acknowledged. An ACK is not, or two ends would answer
/// each other for ever.
#[test]
fn a_closed_end_answers_a_fin_and_no_ack() {
    let mut pair = Pair::transfer(&tcp_preset("newreno").unwrap(), 50_000, |_, _, _| Fate::Arrive);
    for answered in [true, false] {
        let answer = pair.log.iter().rev().find(|(_, side, segment)| {
            *side == Side::Receiver && segment.flags.has(Flags::FIN) == answered && segment.payload == 0
        });
        let segment = answer.expect("one was sent").2;
        pair.sender.on_segment(pair.now, &segment);
        assert_eq!(pair.sender.poll_transmit(pair.now).is_some(), answered, "{segment:?}");
    }
}

/// RFC 6928: ten segments after the handshake, at the instant of the SYN-ACK.
#[test]
fn the_initial_window_leaves_at_once() {
    let pair = Pair::transfer(&tcp_preset("newreno").unwrap(), 100_000, |_, _, _| Fate::Arrive);
    let rtt = Instant::ZERO + Span::from_ms(20);
    let first_flight = pair.log.iter().filter(|(at, _, s)| *at == rtt && is_data(s)).count();
    assert_eq!(first_flight, 10);
    let flags: Vec<Flags> = pair.log.iter().take(3).map(|(_, _, s)| s.flags).collect();
    assert!(
        flags[0].has(Flags::SYN) && flags[1].has(Flags::SYN.with(Flags::ACK)) && !flags[2].has(Flags::SYN)
    );
}

/// One hole in a full flight is repaired in one round trip without a timeout, whatever finds it.
#[test]
fn one_loss_is_repaired_by_fast_retransmit() {
    for config in variants() {
        let mut dropped = false;
        let pair = Pair::transfer(&config, 200_000, |side, segment, number| {
            if side == Side::Sender && is_data(segment) && number > 20 && !dropped {
                dropped = true;
                return Fate::Lost;
            }
            Fate::Arrive
        });
        assert_eq!(pair.receiver.stats().delivered, 200_000);
        let stats = pair.sender.stats();
        assert_eq!((stats.timeouts, stats.fast_recoveries), (0, 1), "{config:?}");
        // Timers without SACK send again what is behind the hole, until the repair is acknowledged.
        let window = if config.sack || !is_fastrto(&config) { 1 } else { 40 };
        assert!((1..=window).contains(&stats.retransmissions), "{stats:?}: {config:?}");
    }
}

/// A lost last segment: RACK-TLP probes after about two round trips, duplicate ACKs wait for the timer.
#[test]
fn a_lost_tail_is_probed_by_rack_and_timed_out_by_dupack() {
    let [linux, cubic] = ["linux-cubic", "cubic"].map(|name| tcp_preset(name).unwrap());
    let without_probes = LinuxRackParameters { tail_loss_probe: false, ..Default::default() };
    let without =
        TcpConfig { loss_detection: LossDetectionConfig::LinuxRack(without_probes), ..linux.clone() };
    for (config, probes, timeouts) in [(linux, 1, 0), (without, 0, 1), (cubic, 0, 1)] {
        let mut dropped = false;
        let pair = Pair::transfer(&config, 50_000, |_, segment, _| {
            if segment.flags.has(Flags::FIN) && segment.payload > 0 && !dropped {
                dropped = true;
                return Fate::Lost;
            }
            Fate::Arrive
        });
        let stats = pair.sender.stats();
        assert_eq!((stats.tail_loss_probes, stats.timeouts), (probes, timeouts), "{config:?}");
        assert_eq!(pair.receiver.stats().delivered, 50_000);
    }
}

/// RFC 8985 section 7.2: new data put the probe off. Of two segments that leave 15 ms apart neither arrives, and the
/// probe leaves two round trips of 20 ms after the second; in ticks of 4 ms 2 ms more, and in the tick behind.
#[test]
fn new_data_put_the_probe_off() {
    for (tick_ms, probe_ms) in [(0, 155), (4, 160)] {
        let preset = tcp_preset("linux-cubic").unwrap();
        let mut pair = Pair::new(&TcpConfig { timer_tick: Span::from_ms(tick_ms), ..preset }, 9);
        pair.sender.open();
        for at_ms in [100, 115, 200] {
            let at = Instant::ZERO + Span::from_ms(at_ms);
            pair.run(at, |_, segment, _| if is_data(segment) { Fate::Lost } else { Fate::Arrive });
            pair.now = at;
            pair.sender.write(1448);
        }
        let data = pair.log.iter().filter(|(_, side, s)| *side == Side::Sender && is_data(s));
        let times: Vec<_> = data.map(|(at, ..)| at.since(Instant::ZERO)).collect();
        assert_eq!(times, [100, 115, probe_ms].map(Span::from_ms));
    }
}

/// When the data segments of a paced sender leave, in microseconds: twelve at 100 ms, four at 400 ms. Its window of 12
/// segments over 20 ms and gains of 1 space them by 1667 us.
fn paced(config: TcpConfig) -> Vec<u64> {
    let pacing = PacingConfig::Window(WindowPacing { slow_start_gain: 1.0, avoidance_gain: 1.0 });
    let mut pair = Pair::new(&TcpConfig { pacing, initial_window_segments: 12, ..config }, 9);
    pair.sender.open();
    for (at_ms, segments) in [(100, 12), (400, 4)] {
        let at = Instant::ZERO + Span::from_ms(at_ms);
        pair.run(at, |_, _, _| Fate::Arrive);
        pair.now = at;
        pair.sender.write(1448 * segments);
    }
    pair.run(Instant::ZERO + Span::from_secs(1), |_, _, _| Fate::Arrive);
    let data = pair.log.iter().filter(|(_, side, s)| *side == Side::Sender && is_data(s));
    data.map(|(at, ..)| at.as_ps() / 1_000_000).collect()
}

/// As Linux: the first segments of a connection leave at once, and pacing begins behind the last of them.
#[test]
fn the_first_segments_are_not_paced() {
    let times = paced(TcpConfig { unpaced_segments: 10, ..TcpConfig::default() });
    assert_eq!(times[..10], [100_000; 10]);
    assert_eq!(times[10..12], [101_666, 103_333]);
    let spaced: Vec<u64> = (0..12).map(|place| 100_000 + place * 5_000 / 3).collect();
    assert_eq!(paced(TcpConfig::default())[..12], spaced);
}

/// As Linux: behind a segment that leaves late, as the first behind a pause does, the gap is half as long.
#[test]
fn a_late_segment_shortens_the_gap_behind_it() {
    let gaps = |pacing_catches_up| {
        let times = paced(TcpConfig { pacing_catches_up, ..TcpConfig::default() });
        times[12..].windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    // The smoothed RTT moves with each ACK, and so does the rate, by less than a percent.
    let near = |gap: u64, expected: u64| gap.abs_diff(expected) < expected / 50;
    let (plain, caught_up) = (gaps(false), gaps(true));
    assert!(plain.iter().all(|&gap| near(gap, plain[0])), "{plain:?}");
    assert!(near(caught_up[0], plain[0] / 2), "{caught_up:?}");
    assert!(caught_up[1..].iter().all(|&gap| near(gap, plain[0])), "{caught_up:?}");
}

/// Every tenth segment comes 8 ms late over a 20 ms round trip. Duplicate ACKs take that for loss
/// again and again; RACK's window takes it once or never, and undoes what it did.
#[test]
fn reordering_confuses_dupack_and_not_rack() {
    let late = |side: Side, segment: &Segment, number: u64| {
        if side == Side::Sender && is_data(segment) && number.is_multiple_of(10) {
            Fate::Late(Span::from_ms(8))
        } else {
            Fate::Arrive
        }
    };
    let dupack = Pair::transfer(&tcp_preset("newreno").unwrap(), 3_000_000, late);
    let rack = Pair::transfer(&tcp_preset("linux-reno").unwrap(), 3_000_000, late);
    assert!(dupack.sender.stats().retransmissions > 20, "{:?}", dupack.sender.stats());
    assert!(rack.sender.stats().retransmissions * 10 < dupack.sender.stats().retransmissions);
    assert!(rack.now < dupack.now, "and it is done earlier");
}

/// The same wire: TCP-PR never takes the late ones for lost, 28 ms being less than three round trips. The other two
/// do while slow start makes the reordering longer than any before it, but keep the window that NewReno loses.
#[test]
fn the_robust_peers_stand_reordering() {
    let mut counts = Vec::new();
    for name in ["newreno", "tcp-pr", "tcp-ncr", "rr-tcp"] {
        let pair = Pair::transfer(&tcp_preset(name).unwrap(), 3_000_000, |side, segment, number| {
            let late = side == Side::Sender && is_data(segment) && number.is_multiple_of(10);
            if late { Fate::Late(Span::from_ms(8)) } else { Fate::Arrive }
        });
        assert_eq!(pair.sender.stats().timeouts, 0, "{name}");
        counts.push((pair.sender.stats().retransmissions, pair.now));
    }
    assert_eq!(counts[1].0, 0, "TCP-PR");
    assert!(
        counts[1..].iter().all(|(_, end)| end.as_secs_f64() * 10.0 < counts[0].1.as_secs_f64()),
        "{counts:?}"
    );
}

/// The path swallows everything for two seconds: the timer backs off, then the transfer goes on.
#[test]
fn an_outage_is_survived() {
    for config in variants() {
        let mut clock = 0u64;
        let pair = Pair::transfer(&config, 400_000, |_, _, _| {
            clock += 1;
            if (60..75).contains(&clock) { Fate::Lost } else { Fate::Arrive }
        });
        assert_eq!(pair.receiver.stats().delivered, 400_000);
    }
}

/// RFC 3168: one mark halves the window once, and CWR ends the echo; BBR sends CWR, too, and keeps its window.
#[test]
fn an_ecn_mark_reduces_the_window_without_loss() {
    for (name, marks, reductions) in [("newreno", 0, 0), ("newreno", 1, 1), ("bbr", 1, 0)] {
        let mut pair = Pair::new(&TcpConfig { ecn: true, ..tcp_preset(name).unwrap() }, 9);
        pair.sender.open();
        pair.sender.write(500_000);
        pair.sender.close();
        let mut left = marks;
        pair.flush(&mut |_, _, _| Fate::Arrive);
        while pair.now < Instant::ZERO + Span::from_secs(10) {
            // Mark one data segment in flight.
            if let Some(entry) = pair.wire.iter_mut().find(|w| left > 0 && is_data(&w.3) && w.1 > 40) {
                entry.3.flags = entry.3.flags.with(Flags::CE);
                left -= 1;
            }
            let next = pair.now + Span::from_ms(1);
            if pair.run(next, |_, _, _| Fate::Arrive) {
                break;
            }
            pair.now = next;
        }
        let stats = pair.sender.stats();
        assert_eq!((left, stats.ecn_reductions, stats.retransmissions), (0, reductions, 0), "{name}");
        let tells = |side: Side, s: &Segment| side == Side::Sender && is_data(s) && s.flags.has(Flags::CWR);
        assert_eq!(pair.log.iter().filter(|(_, side, s)| tells(*side, s)).count(), marks, "{name}");
    }
}

/// An option that the SYN-ACK does not grant is not used: timestamps (RFC 7323 section 3.2), whose 12 bytes are free for
/// data then, and ECN (RFC 3168 section 6.1.1).
#[test]
fn what_the_peer_does_not_grant_is_not_used() {
    let all = TcpConfig { ecn: true, ..tcp_preset("newreno").unwrap() };
    for (timestamps, ecn) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut pair = Pair::new(&all, 9);
        pair.receiver = Receiver::new(&TcpConfig { timestamps, ecn, ..all.clone() }, 7);
        pair.sender.open();
        pair.sender.write(100_000);
        pair.run(Instant::ZERO + Span::from_secs(1), |_, _, _| Fate::Arrive);
        let data = pair.log.iter().filter(|(_, side, s)| *side == Side::Sender && is_data(s));
        assert!(data.clone().all(|(.., s)| s.flags.has(Flags::TIMESTAMPS) == timestamps));
        assert!(data.clone().all(|(.., s)| s.flags.has(Flags::ECT) == ecn));
        assert_eq!(data.map(|(.., s)| s.payload).max(), Some(if timestamps { 1448 } else { 1460 }));
    }
}

/// RFC 3168 section 6.1.4: what carries no data is not ECN-capable, neither a FIN that leaves alone nor an ACK; data are.
#[test]
fn only_data_are_ecn_capable() {
    let mut pair = Pair::new(&TcpConfig { ecn: true, ..tcp_preset("newreno").unwrap() }, 9);
    pair.sender.open();
    pair.sender.write(100_000);
    pair.run(Instant::ZERO + Span::from_secs(1), |_, _, _| Fate::Arrive);
    pair.sender.close();
    pair.run(Instant::ZERO + Span::from_secs(2), |_, _, _| Fate::Arrive);
    let alone = |s: &Segment| s.flags.has(Flags::FIN) && !is_data(s);
    assert!(pair.log.iter().any(|(_, side, s)| *side == Side::Sender && alone(s)));
    assert!(pair.log.iter().all(|(_, _, s)| s.flags.has(Flags::ECT) == is_data(s)));
}

pub(super) fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Arrive),
        2 => Just(Fate::Lost),
        2 => (1u64..60).prop_map(|ms| Fate::Late(Span::from_ms(ms))),
        1 => Just(Fate::Twice),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever the wire does, every byte arrives once, both ends close, the counters agree.
    #[test]
    fn every_byte_arrives(
        fates in prop::collection::vec(fate(), 1..200),
        bytes in 1u64..300_000,
        variant in 0usize..1000,
    ) {
        let all = combinations();
        let config = &all[variant % all.len()];
        let pair = Pair::transfer(config, bytes, |_, _, number| {
            fates.get(number as usize).copied().unwrap_or(Fate::Arrive)
        });
        prop_assert_eq!(pair.receiver.stats().delivered, bytes);
        prop_assert!(pair.sender.is_finished() && pair.receiver.is_finished());
        prop_assert_eq!(pair.sender.acknowledged(), bytes);
        pair.sender.check();
    }

    /// No segment from outside makes either end panic or send beyond what was written.
    #[test]
    fn garbage_does_no_harm(
        garbage in prop::collection::vec(
            (any::<u32>(), any::<u32>(), any::<u16>(), any::<u16>(), any::<u16>(), any::<[(u32, u32); 3]>()),
            1..60,
        ),
        variant in 0usize..1000,
    ) {
        let all = combinations();
        let config = &all[variant % all.len()];
        let mut pair = Pair::new(config, 5);
        pair.sender.open();
        pair.sender.write(100_000);
        pair.run(Instant::ZERO + Span::from_ms(50), |_, _, _| Fate::Arrive);
        for (seq, ack, window, payload, bits, blocks) in garbage {
            let mut segment = Segment {
                // Half of them near the truth, where they do most harm.
                seq: if seq % 2 == 0 { seq % 200_000 } else { seq },
                ack: if ack % 2 == 0 { ack % 200_000 } else { ack },
                timestamp: seq,
                timestamp_echo: ack,
                window,
                payload: payload % 3000,
                flags: Flags::from_header_bits(bits as u8 & 0xFB),
                ..Segment::default()
            };
            for (left, right) in blocks {
                segment.sack.push(left % 200_000, right % 200_000, 3);
            }
            pair.sender.on_segment(pair.now, &segment);
            pair.receiver.on_segment(pair.now, &segment);
            pair.sender.check();
            pair.run(pair.now + Span::from_ms(5), |_, _, _| Fate::Arrive);
        }
        prop_assert!(pair.sender.acknowledged() <= 100_000);
    }
}

/// RFC 7323 section 4.1: a timestamp's echo tells the round trip of what was sent again, and Linux takes it as the
/// smallest, too (tcp_ack_update_rtt). Here the SYN and the only segment are both lost once.
#[test]
fn an_echo_alone_gives_the_smallest_rtt() {
    let mut lost = [false; 2];
    let pair = Pair::transfer(&tcp_preset("newreno").unwrap(), 1000, |side, segment, _| {
        let data = usize::from(is_data(segment));
        let loses = side == Side::Sender && !lost[data] && (data == 1 || segment.flags.has(Flags::SYN));
        lost[data] |= loses;
        if loses { Fate::Lost } else { Fate::Arrive }
    });
    assert_eq!((lost, pair.receiver.stats().delivered), ([true; 2], 1000));
    let rtt = pair.sender.rtt();
    assert_eq!((rtt.min, rtt.mean, rtt.max), (Span::from_ms(20), Span::from_ms(20), Span::from_ms(20)));
}

/// Linux's clock has ticks of 1 ms, and says 20 of a round trip of 20.7: no minimum lies below the path's.
#[test]
fn a_coarse_clock_makes_no_rtt_smaller_than_the_path() {
    for bytes in [1000, 50_000] {
        let mut seen = std::collections::BTreeSet::new();
        let pair = Pair::transfer(&tcp_preset("linux-reno").unwrap(), bytes, |side, segment, _| {
            let first = seen.insert((segment.seq, segment.flags.has(Flags::SYN)));
            match side {
                Side::Receiver => Fate::Arrive,
                Side::Sender if first => Fate::Lost,
                Side::Sender => Fate::Late(Span::from_us(700)),
            }
        });
        let rtt = pair.sender.rtt();
        assert!(rtt.min >= Span::from_us(20_700) && rtt.min <= Span::from_us(21_700), "{bytes}: {rtt:?}");
        assert!(rtt.min <= rtt.mean && rtt.mean <= rtt.max, "{bytes}: {rtt:?}");
        assert!(rtt.min <= rtt.smoothed && rtt.min <= rtt.latest, "{bytes}: {rtt:?}");
    }
}

/// RFC 9293 section 3.10.7.4: a receiver that sends no data has its SYN's and, once it has closed, its FIN's place behind it.
/// A FIN that leaves alone is no data segment.
#[test]
fn acks_have_the_place_behind_what_has_been_sent() {
    let mut pair = Pair::new(&tcp_preset("newreno").unwrap(), 1000);
    pair.sender.open();
    pair.sender.write(14_600);
    assert!(!pair.run(Instant::ZERO + Span::from_secs(1), |_, _, _| Fate::Arrive) || pair.wire.is_empty());
    let data = pair.log.iter().filter(|(_, side, s)| *side == Side::Sender && is_data(s)).count();
    pair.sender.close();
    pair.run(Instant::ZERO + Span::from_secs(9), |_, _, _| Fate::Arrive);
    assert_eq!((pair.sender.stats().segments, data), (data as u64, 11));
    let (mut closed, syn) = (false, 1077_u32);
    for (_, side, segment) in &pair.log {
        if *side == Side::Receiver && !segment.flags.has(Flags::SYN) {
            let own_fin = segment.flags.has(Flags::FIN);
            assert_eq!(segment.seq, syn + 1 + u32::from(closed && !own_fin), "{segment:?}");
            closed |= own_fin;
        }
    }
    assert!(closed);
}

/// RFC 9293 section 3.10.7.4: what acknowledges a FIN that comes again has the number behind the receiver's own.
#[test]
fn a_repeated_fin_is_answered_from_behind_the_own_fin() {
    let mut pair = Pair::transfer(&tcp_preset("newreno").expect("a preset"), 1000, |_, _, _| Fate::Arrive);
    let fin = |side| {
        let of_side =
            |(_, from, segment): &&(Instant, Side, Segment)| *from == side && segment.flags.has(Flags::FIN);
        pair.log.iter().find(of_side).expect("a FIN").2
    };
    let (theirs, ours) = (fin(Side::Sender), fin(Side::Receiver));
    pair.receiver.on_segment(pair.now, &theirs);
    let answer = pair.receiver.poll_transmit(pair.now).expect("an ACK");
    assert_eq!((answer.seq, answer.flags.has(Flags::FIN)), (ours.seq.wrapping_add(1), false));
}

/// RFC 6298 section 2.2: one sample of 20 ms has a deviation of half of it.
#[test]
fn the_first_deviation_is_half_of_the_round_trip() {
    let mut pair = Pair::new(&tcp_preset("newreno").expect("a preset"), 9);
    pair.sender.open();
    pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
    assert_eq!((pair.sender.srtt(), pair.sender.rttvar()), (Span::from_ms(20), Span::from_ms(10)));
}
