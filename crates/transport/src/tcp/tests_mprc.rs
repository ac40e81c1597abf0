//! Whole connections of MPRC: what its timer repairs, and how often the window answers.

use super::tests::{Fate, Pair, Side, is_data};
use crate::LossDetectionConfig;
use crate::config::TcpConfig;
use crate::tcp::FastRtoParameters;
use crate::tcp_preset;
use anabranch_units::{Bytes, Instant, Span};

fn mprc() -> TcpConfig {
    tcp_preset("mprc").expect("a preset")
}

/// With a window of a hundred segments, which the wire here would not bound.
fn hundred_segments(config: TcpConfig) -> TcpConfig {
    TcpConfig { receive_buffer: Bytes(100 * 1448), ..config }
}

/// Every third segment is late by more than the round trip itself, which SRTT + K RTTVAR covers from a share
/// of 1 / (2 K) on: the mean is p D above the faster path, the mean deviation is 2 p (1 - p) D.
#[test]
fn reordering_is_no_loss() {
    let late = |side: Side, segment: &crate::Segment, number: u64| {
        if side == Side::Sender && is_data(segment) && number.is_multiple_of(3) {
            Fate::Late(Span::from_ms(25))
        } else {
            Fate::Arrive
        }
    };
    for config in [mprc(), TcpConfig { sack: false, ..mprc() }, TcpConfig { timestamps: false, ..mprc() }] {
        let pair = Pair::transfer(&config, 5_000_000, late);
        let stats = pair.sender.stats();
        assert!(stats.segments >= 3_400, "{stats:?}");
        assert!(
            stats.retransmissions * 100 < stats.segments,
            "sack {}, timestamps {}: {stats:?}",
            config.sack,
            config.timestamps
        );
    }
}

/// Losses of one window reduce once, though each is found by its own timer.
#[test]
fn one_window_of_losses_reduces_once() {
    for config in [mprc(), TcpConfig { sack: false, ..mprc() }] {
        let mut dropped = 0;
        let pair = Pair::transfer(&config, 400_000, |side, segment, number| {
            if side == Side::Sender
                && is_data(segment)
                && (60..80).contains(&number)
                && number.is_multiple_of(4)
            {
                dropped += 1;
                return Fate::Lost;
            }
            Fate::Arrive
        });
        let stats = pair.sender.stats();
        assert!(dropped >= 3, "{dropped}");
        assert_eq!((stats.fast_recoveries, stats.timeouts), (1, 0), "sack {}", config.sack);
        // Without SACK what has arrived behind the first hole goes again, too.
        let needed = stats.retransmissions == dropped;
        assert!(needed == config.sack && stats.retransmissions >= dropped, "sack {}: {stats:?}", config.sack);
    }
}

/// The tail has a timer like any other segment; RFC 6298's never runs beside it.
#[test]
fn a_lost_tail_is_repaired_without_a_timeout() {
    let mut dropped = 0;
    let pair = Pair::transfer(&mprc(), 50_000, |_, segment, _| {
        if segment.flags.has(crate::Flags::FIN) && segment.payload > 0 && dropped < 3 {
            dropped += 1;
            return Fate::Lost;
        }
        Fate::Arrive
    });
    let stats = pair.sender.stats();
    assert_eq!((stats.retransmissions, stats.timeouts, stats.fast_recoveries), (3, 0, 1));
    assert_eq!(pair.receiver.stats().delivered, 50_000);
}

/// A connection of 20 us that has sent a few windows and pauses for less than its RFC 6298 timeout.
fn idle_in_a_rack(config: &TcpConfig) -> Pair {
    let mut pair = Pair::new(config, 1);
    pair.delay = Span::from_us(10);
    pair.sender.open();
    pair.sender.write(100 * 1448);
    pair.run(Instant::ZERO + Span::from_ms(100), |_, _, _| Fate::Arrive);
    assert_eq!(pair.receiver.stats().delivered, 100 * 1448);
    pair.now = Instant::ZERO + Span::from_ms(100);
    pair
}

/// RFC 8985 section 7: a lost last segment goes again after some round trips of 20 us, and not after the peer's 40 ms;
/// the window answers once the ACK of what follows shows that it was lost, and not if its ACK was only delayed.
#[test]
fn a_tail_is_probed_within_round_trips() {
    let FastRtoParameters { tail_loss_probe: true, .. } = FastRtoParameters::default() else {
        panic!("no probes")
    };
    let without = FastRtoParameters { tail_loss_probe: false, ..Default::default() };
    let without = TcpConfig { loss_detection: LossDetectionConfig::Fastrto(without), ..mprc() };
    for (config, segments, lost, probes, reduces) in
        [(mprc(), 10, true, 1, true), (mprc(), 11, false, 1, false), (without, 10, true, 0, true)]
    {
        let mut pair = idle_in_a_rack(&config);
        let (start, before) = (pair.now, pair.sender.info().metrics.cwnd);
        let mut sent = 0;
        pair.sender.write(segments * 1448);
        let mut fate = |_: Side, segment: &crate::Segment, _: u64| {
            sent += u64::from(is_data(segment));
            if lost && is_data(segment) && sent == segments { Fate::Lost } else { Fate::Arrive }
        };
        pair.run(start + Span::from_ms(30), &mut fate);
        let arrived = pair.receiver.stats().delivered == (100 + segments) * 1448;
        let stats = pair.sender.stats();
        assert_eq!((arrived, stats.tail_loss_probes, stats.retransmissions), (probes == 1, probes, probes));
        assert_eq!(stats.fast_recoveries, 0, "a probe is no recovery");
        pair.run(start + Span::from_ms(100), &mut fate);
        pair.now = start + Span::from_ms(100);
        pair.sender.write(2 * 1448);
        pair.run(start + Span::from_ms(150), |_, _, _| Fate::Arrive);
        let after = pair.sender.info().metrics.cwnd;
        assert_eq!(after < before, reduces, "{segments} {lost}: {before} {after}");
    }
}

/// A whole flight is lost, with its probe and the first repairs, as in an incast: the round trips decide how long that
/// takes, and neither the peer's 40 ms for each segment nor a back-off for each.
#[test]
fn a_lost_flight_is_repaired_within_round_trips() {
    let mut pair = idle_in_a_rack(&mprc());
    let start = pair.now;
    pair.sender.write(200 * 1448);
    pair.sender.close();
    let mut sent = 0;
    let fate = |side: Side, segment: &crate::Segment, number: u64| {
        sent += u64::from(is_data(segment));
        if side == Side::Sender && is_data(segment) && (120..170).contains(&sent) {
            return Fate::Lost;
        }
        // One behind the other, so that ACKs let segments go at instants of their own.
        Fate::Late(Span::from_ps(200_000 * number))
    };
    assert!(pair.run(start + Span::from_ms(5), fate), "it came to rest");
    assert_eq!(pair.receiver.stats().delivered, 300 * 1448);
}

/// A dead path hears from the sender ever less often (RFC 6298 section 5.5): in 30 s without an answer a
/// timer of 500 ms at most would go off 60 times, a doubled one some 8 times.
#[test]
fn silence_backs_off() {
    let mut pair = Pair::new(&hundred_segments(mprc()), 1);
    pair.sender.open();
    pair.sender.write(20_000_000);
    let dead = Instant::ZERO + Span::from_ms(300);
    pair.run(dead, |_, _, _| Fate::Arrive);
    pair.run(dead + Span::from_secs(30), |_, _, _| Fate::Lost);
    let mut times: Vec<Instant> =
        pair.log.iter().filter(|(at, _, s)| *at > dead && is_data(s)).map(|(at, _, _)| *at).collect();
    times.dedup_by(|a, b| a.since(*b) < Span::from_ms(200));
    assert!((4..12).contains(&times.len()), "{times:?}");
    let gaps: Vec<Span> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(gaps.last() > gaps.first(), "{gaps:?}");
    // And when the path is back, all goes on.
    pair.sender.close();
    assert!(pair.run(Instant::ZERO + Span::from_secs(600), |_, _, _| Fate::Arrive));
    assert_eq!(pair.receiver.stats().delivered, 20_000_000);
}

/// The round trip grows tenfold, beyond any FastRTO so far, and no retransmission can be measured without
/// timestamps: the back-off finds it (Karn's algorithm).
#[test]
fn a_longer_path_is_learnt_without_timestamps() {
    let config = hundred_segments(TcpConfig { timestamps: false, ..mprc() });
    let mut pair = Pair::new(&config, 1);
    pair.sender.open();
    pair.sender.write(40_000_000);
    pair.sender.close();
    pair.run(Instant::ZERO + Span::from_ms(200), |_, _, _| Fate::Arrive);
    pair.delay = Span::from_ms(100);
    assert!(pair.run(Instant::ZERO + Span::from_secs(600), |_, _, _| Fate::Arrive));
    let stats = pair.sender.stats();
    assert_eq!(pair.receiver.stats().delivered, 40_000_000);
    assert!(stats.retransmissions * 50 < stats.segments, "{stats:?}");
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |change: &dyn Fn(&mut FastRtoParameters)| {
        let mut parameters = FastRtoParameters::default();
        change(&mut parameters);
        LossDetectionConfig::Fastrto(parameters).check().map_err(|problem| problem.parameter)
    };
    assert_eq!(mprc().loss_detection, LossDetectionConfig::Fastrto(FastRtoParameters::default()));
    assert_eq!(refused(&|_| ()), Ok(()));
    for bad in [1.0, 0.5, f64::INFINITY, f64::NAN] {
        assert_eq!(refused(&|p| p.gamma = bad), Err("gamma".to_owned()), "{bad}");
    }
    for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(refused(&|p| p.k = bad), Err("k".to_owned()), "{bad}");
    }
    for bad in [0.0, 1.0, f64::NAN] {
        assert_eq!(refused(&|p| p.srtt_gain = bad), Err("srtt_gain".to_owned()), "{bad}");
        assert_eq!(refused(&|p| p.rttvar_gain = bad), Err("rttvar_gain".to_owned()), "{bad}");
    }
    assert_eq!(refused(&|p| p.fastrto_max = Span::ZERO), Err("fastrto_max".to_owned()));
}
