//! Rules of Linux's sender and receiver that captures of both ends have shown, each with what it did before.

use super::detection::DupackParameters;
use super::tests::{Fate, Pair};
use super::{Receiver, Sender};
use crate::LossDetectionConfig;
use crate::config::TcpConfig;
use crate::log::Decision;
use crate::segment::{Flags, Segment};
use crate::tcp_preset;
use anabranch_units::{Bytes, Instant, Span};

const MSS: u64 = 1448;
const STAMPED: Flags = Flags::ACK.with(Flags::TIMESTAMPS);

fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

fn departures(sender: &mut Sender, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

/// A sender with initial sequence number 0 that is open after `lost` SYNs, 40.5 ms after the last.
fn opened(config: &TcpConfig, lost: u32) -> (Sender, Instant) {
    let mut sender = Sender::new(config, 0, 1);
    sender.open();
    let mut now = Instant::ZERO;
    let mut syn = departures(&mut sender, now)[0];
    for _ in 0..lost {
        now = sender.next_timeout().expect("a timer for the SYN");
        sender.on_timeout(now);
        syn = departures(&mut sender, now)[0];
    }
    now = now + Span::from_us(40_500);
    let mut flags = Flags::SYN.with(Flags::ACK);
    if config.timestamps {
        flags = flags.with(Flags::TIMESTAMPS);
    }
    if config.sack {
        flags = flags.with(Flags::SACK_PERMITTED);
    }
    if config.ecn {
        flags = flags.with(Flags::ECE);
    }
    sender.on_segment(
        now,
        &Segment {
            seq: 500,
            ack: 1,
            flags,
            mss: 1460,
            window: u16::MAX,
            window_scale_plus_one: 8,
            timestamp: 1,
            timestamp_echo: syn.timestamp,
            ..Segment::default()
        },
    );
    assert_eq!(departures(&mut sender, now).len(), 1, "the ACK of the handshake");
    (sender, now)
}

/// An ACK of so many segments, which echoes the timestamp of `now` less 40 ms.
fn ack(now: Instant, segments: u64, window: u16) -> Segment {
    let echo = now.since(Instant::ZERO).as_ps() / 1_000_000_000 - 40;
    Segment {
        seq: 501,
        ack: (1 + segments * MSS) as u32,
        window,
        flags: STAMPED,
        timestamp: 1,
        timestamp_echo: echo as u32,
        ..Segment::default()
    }
}

fn linux(name: &str) -> TcpConfig {
    tcp_preset(name).expect("a preset")
}

/// RFC 7323 section 4: the SYN-ACK's echo tells which SYN it answers, so that the first timeout is 200 ms above the round
/// trip. RFC 6298 (5.7) has three seconds where nothing tells. RFC 6928 section 2: the initial window stays after one.
#[test]
fn a_lost_syn_costs_its_timer_and_no_more() {
    let expected = [(true, 1, 10, 40), (true, 2, 1, 40), (false, 1, 10, 0), (false, 2, 1, 0)];
    for (timestamps, lost, segments, srtt_ms) in expected {
        let config = TcpConfig { timestamps, timer_tick: Span::ZERO, ..linux("linux-cubic") };
        let (mut sender, now) = opened(&config, lost);
        sender.write(20 * MSS);
        assert_eq!(departures(&mut sender, now).len(), segments, "{timestamps} {lost}");
        let info = sender.info().metrics;
        let rto = if timestamps { Span::from_ms(srtt_ms + 200) } else { Span::from_secs(3) };
        assert_eq!(info.rto, rto, "{timestamps} {lost}");
    }
}

/// Linux, tcp_rate_check_app_limited(): only that the application writes again shows that it had nothing to send. The
/// retransmission after its last write gives a full sample.
#[test]
fn a_rate_is_limited_by_the_application_where_it_writes_again() {
    for (app_limited_by_writes, limited) in [(true, [true, false, true]), (false, [true, true, true])] {
        let config = TcpConfig { app_limited_by_writes, ..linux("linux-bbr") };
        let (mut sender, mut now) = opened(&config, 0);
        sender.keep_log(100);
        let mut samples = Vec::new();
        // Two segments of the first write, those of a flight that ran dry, and of the next write.
        for (written, acknowledged) in [(2, 2), (0, 4), (2, 6)] {
            sender.write(written * MSS);
            let _ = departures(&mut sender, now);
            if acknowledged == 2 {
                now = now + Span::from_ms(41);
                sender.on_segment(now, &ack(now, 1, 60_000));
                let _ = departures(&mut sender, now);
                sender.on_segment(now, &ack(now, 2, 60_000));
                // No write of its own: as if more of the last one had been left.
                sender.written += 2 * MSS;
                let _ = departures(&mut sender, now);
            } else {
                now = now + Span::from_ms(41);
                sender.on_segment(now, &ack(now, acknowledged, 60_000));
            }
            let log = sender.take_log();
            let last = log.iter().rev().find_map(|entry| match entry.decision {
                Decision::Acknowledged { delivery_rate, .. } => delivery_rate,
                _ => None,
            });
            samples.push(last.expect("a sample").1);
        }
        assert_eq!(samples, limited, "by writes: {app_limited_by_writes}");
    }
}

/// Linux, tcp_tso_should_defer(): a segment that waits because the receive window is short says nothing of the congestion
/// window, which would grow without bound: slow start ends at twice what is in flight, and then nothing grows.
#[test]
fn a_window_that_the_receiver_limits_does_not_grow() {
    let config = TcpConfig {
        receive_buffer: Bytes(200_000),
        initial_receive_buffer: Bytes(100_000),
        ..linux("linux-reno")
    };
    let mut pair = Pair::new(&config, 9);
    pair.sender.open();
    pair.sender.write_without_end();
    pair.run(at_ms(10_000), |_, _, _| Fate::Arrive);
    assert!(pair.sender.cwnd() < 2 * 200_000, "{}", pair.sender.cwnd());
}

/// Linux, state CWR (RFC 9937 leads it): of 20 segments in flight a mark leaves 10, and while their ACKs come each second one
/// sends one. Without it the sender is silent for half a round, and the segment with CWR leaves as the last.
#[test]
fn a_mark_reduces_over_a_round() {
    for (prr_in_segments, sent) in [(true, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]), (false, [0; 10])] {
        let config = TcpConfig {
            ecn: true,
            prr_in_segments,
            tso_deferral: false,
            quick_acks: 0,
            ..linux("linux-reno")
        };
        let (mut sender, mut now) = opened(&config, 0);
        sender.write_without_end();
        assert_eq!(departures(&mut sender, now).len(), 10);
        now = now + Span::from_ms(41);
        for acknowledged in 1..=10 {
            sender.on_segment(now, &ack(now, acknowledged, 60_000));
            assert_eq!(departures(&mut sender, now).len(), 2, "slow start");
        }
        now = now + Span::from_ms(41);
        let marked = |acknowledged| {
            let plain = ack(now, acknowledged, 60_000);
            Segment { flags: plain.flags.with(Flags::ECE), ..plain }
        };
        let left: Vec<Vec<Segment>> = (11..=20)
            .map(|acknowledged| {
                sender.on_segment(now, &marked(acknowledged));
                departures(&mut sender, now)
            })
            .collect();
        assert_eq!(left.iter().map(Vec::len).collect::<Vec<_>>(), sent, "{prr_in_segments}");
        assert_eq!(sender.stats().ecn_reductions, 1);
        assert_eq!(sender.ssthresh(), 10 * MSS);
        if prr_in_segments {
            assert!(left[0][0].flags.has(Flags::CWR), "the first one tells the receiver");
            assert!(sender.info().reduces_behind_mark);
            // The 31st is the first behind the data of the mark: the reduction ends with its ACK.
            now = now + Span::from_ms(41);
            sender.on_segment(now, &ack(now, 30, 60_000));
            assert!(sender.info().reduces_behind_mark);
            sender.on_segment(now, &ack(now, 31, 60_000));
            assert!(!sender.info().reduces_behind_mark);
            assert_eq!(sender.info().metrics.cwnd, 10 * MSS);
        }
    }
}

/// RFC 3168 section 6.1.2: once per window of data. An ECN-Echo that left before the receiver heard of the reduction and
/// that others have overtaken reduces nothing; one of an ACK that none has overtaken does.
#[test]
fn an_echo_that_others_have_overtaken_reduces_nothing() {
    for (last, reductions) in [(11, 1), (12, 2)] {
        let config = TcpConfig { ecn: true, tso_deferral: false, quick_acks: 0, ..linux("linux-cubic") };
        let (mut sender, mut now) = opened(&config, 0);
        sender.write_without_end();
        assert_eq!(departures(&mut sender, now).len(), 10);
        let marked = |now, acknowledged| {
            let plain = ack(now, acknowledged, 60_000);
            Segment { flags: plain.flags.with(Flags::ECE), ..plain }
        };
        now = now + Span::from_ms(41);
        for acknowledged in 1..=10 {
            sender.on_segment(now, &marked(now, acknowledged));
            departures(&mut sender, now);
        }
        assert_eq!(sender.stats().ecn_reductions, 1);
        now = now + Span::from_ms(41);
        sender.on_segment(now, &ack(now, 12, 60_000));
        assert!(!sender.info().reduces_behind_mark);
        sender.on_segment(now, &marked(now, last));
        assert_eq!(sender.stats().ecn_reductions, reductions);
    }
}

/// Linux, tcp_add_reno_sack(): without SACK a duplicate ACK delivers a segment, and the ACK behind them the rest. RFC 5681
/// section 3.1 counts all that an ACK newly acknowledges.
#[test]
fn without_sack_duplicates_count_as_delivered_once() {
    for (dsack_delivers, cwnd_segments) in [(true, 11), (false, 12)] {
        let loss_detection = LossDetectionConfig::Dupack(DupackParameters::default());
        let config = TcpConfig {
            sack: false,
            dsack_delivers,
            loss_detection,
            tso_deferral: false,
            ..linux("linux-reno")
        };
        let (mut sender, mut now) = opened(&config, 0);
        sender.write(40 * MSS);
        let _ = departures(&mut sender, now);
        now = now + Span::from_ms(41);
        sender.on_segment(now, &ack(now, 0, 60_000));
        // A duplicate changes no window.
        sender.on_segment(now, &ack(now, 0, 60_000));
        let _ = departures(&mut sender, now);
        sender.on_segment(now, &ack(now, 2, 60_000));
        assert_eq!(sender.cwnd() / MSS, cwnd_segments, "{dsack_delivers}");
    }
}

/// Linux, tcp_rtt_tsopt_us(): what timestamps of a millisecond read is believed as a minimum, though the path is longer,
/// and is reported never below the path.
#[test]
fn a_coarse_timestamp_renews_the_minimum_of_the_sender() {
    let (mut sender, now) = opened(&linux("linux-bbr"), 1);
    let path = Span::from_us(40_500);
    assert!(sender.info().metrics.min_rtt <= path && sender.rtt().min >= path);
    assert_eq!(sender.info().metrics.min_rtt.as_ps() % Span::from_ms(1).as_ps(), 0);
    sender.write(MSS);
    assert_eq!(departures(&mut sender, now).len(), 1);
}

/// RFC 9293 section 3.8.6: a window that the receiver takes back is kept to, which it should not do. What is out already
/// is not sent again but for the first, and a plain repetition with a smaller window makes none smaller, as in Linux.
#[test]
fn a_window_that_shrinks_is_kept_to() {
    let config = TcpConfig { tso_deferral: false, timestamps: false, ..linux("linux-reno") };
    let window_field = |segments: u64| (segments * 1460).div_ceil(128) as u16;
    for (acknowledged, window, more) in [(1, window_field(12), 2), (1, window_field(9), 0), (0, 1, 0)] {
        let (mut sender, now) = opened(&config, 0);
        sender.write_without_end();
        assert_eq!(departures(&mut sender, now).len(), 10);
        let ack = Segment {
            seq: 501,
            ack: 1 + acknowledged * 1460,
            window,
            flags: Flags::ACK,
            ..Segment::default()
        };
        sender.on_segment(now + Span::from_ms(41), &ack);
        assert_eq!(departures(&mut sender, now + Span::from_ms(41)).len(), more, "{acknowledged} {window}");
    }
}

/// A receiver of `linux-cubic` that has taken `payloads` in order, and whether each was acknowledged at once.
fn acknowledged_at_once(acks_end_of_write: bool, payloads: &[u16]) -> Vec<bool> {
    let config = TcpConfig { acks_end_of_write, quick_acks: 0, autotuning: false, ..linux("linux-cubic") };
    let mut receiver = Receiver::new(&config, 500);
    let flags = Flags::SYN.with(Flags::TIMESTAMPS).with(Flags::SACK_PERMITTED);
    receiver.on_segment(at_ms(0), &Segment { flags, timestamp: 10, ..Segment::default() });
    assert!(receiver.poll_transmit(at_ms(0)).is_some());
    let mut seq = 1;
    let mut answers = Vec::new();
    for &payload in payloads {
        let segment = Segment { seq, ack: 501, timestamp: 10, payload, flags: STAMPED, ..Segment::default() };
        receiver.on_segment(at_ms(0), &segment);
        seq += u32::from(payload);
        answers.push(receiver.poll_transmit(at_ms(0)).is_some());
    }
    answers
}

/// Linux, tcp_measure_rcv_mss() and tcp_cleanup_rbuf(): a segment shorter than the others ends a write. Two of one length in
/// a row, of no less than the smallest MSS, are full ones of a smaller MSS.
#[test]
fn the_end_of_a_write_is_acknowledged_at_once() {
    let cases: [(&[u16], &[bool]); 4] = [
        (&[1448, 1448, 100], &[false, true, true]),
        (&[100, 100], &[true, true]),
        (&[1448, 900, 900, 900], &[false, true, false, true]),
        (&[1448, 1448, 1448], &[false, true, false]),
    ];
    for (payloads, at_once) in cases {
        assert_eq!(acknowledged_at_once(true, payloads), at_once, "{payloads:?}");
    }
    assert_eq!(acknowledged_at_once(false, &[1448, 1448, 100]), [false, true, false]);
}

/// Linux, tcp_ecn_accept_cwr(): a segment with CWR is acknowledged at once.
#[test]
fn the_news_of_a_reduction_is_acknowledged_at_once() {
    for (cwr, answered) in [(true, true), (false, false)] {
        let config = TcpConfig { ecn: true, quick_acks: 1, autotuning: false, ..linux("linux-cubic") };
        let mut receiver = Receiver::new(&config, 500);
        let flags = Flags::SYN.with(Flags::TIMESTAMPS).with(Flags::ECE).with(Flags::CWR);
        receiver.on_segment(at_ms(0), &Segment { flags, timestamp: 10, ..Segment::default() });
        let _ = receiver.poll_transmit(at_ms(0));
        let data = |seq| Segment {
            seq,
            ack: 501,
            timestamp: 10,
            payload: 1448,
            flags: STAMPED,
            ..Segment::default()
        };
        for seq in [1, 1449, 2897] {
            receiver.on_segment(at_ms(0), &data(seq));
            let _ = receiver.poll_transmit(at_ms(0));
        }
        let mut last = data(4345);
        if cwr {
            last.flags = last.flags.with(Flags::CWR);
        }
        receiver.on_segment(at_ms(0), &last);
        assert_eq!(receiver.poll_transmit(at_ms(0)).is_some(), answered);
    }
}

/// draft-minshall-nagle section 2: a short segment waits for the ACK of an earlier short one, not of a full one; the FIN and
/// TCP_NODELAY let it go, and a cork holds it whatever is out.
#[test]
fn short_segments_wait_by_nagles_algorithm_or_a_cork() {
    for (nagle, corked, first, second, after_ack) in
        [(true, false, 2, 0, 1), (false, false, 2, 1, 0), (false, true, 1, 0, 0)]
    {
        let config = TcpConfig { nagle, tso_deferral: false, ..linux("linux-reno") };
        let (mut sender, now) = opened(&config, 0);
        sender.cork(corked);
        sender.write(MSS + 100);
        assert_eq!(departures(&mut sender, now).len(), first, "{nagle} {corked}");
        sender.write(100);
        assert_eq!(departures(&mut sender, now).len(), second, "{nagle} {corked}");
        let later = now + Span::from_ms(41);
        let all = Segment { ack: (1 + MSS + 100) as u32, ..ack(later, 0, 60_000) };
        if !corked {
            sender.on_segment(later, &all);
            assert_eq!(departures(&mut sender, later).len(), after_ack, "{nagle}");
        }
        sender.cork(false);
        let last = departures(&mut sender, later);
        assert_eq!(last.iter().map(|segment| segment.payload).sum::<u16>(), if corked { 200 } else { 0 });
        sender.write(100);
        sender.close();
        let end = departures(&mut sender, later);
        assert_eq!(end.len(), 1, "nothing waits before a FIN");
    }
}
