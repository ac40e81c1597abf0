//! Whole connections whose receiver tunes its window and its ACKs.

use super::tests::{Fate, Pair, Side};
use crate::config::TcpConfig;
use crate::segment::{Flags, Segment};
use crate::tcp_preset;
use anabranch_units::{Instant, Span};

fn opened(config: &TcpConfig, bytes: u64) -> Pair {
    let mut pair = Pair::new(config, 9);
    pair.sender.open();
    pair.sender.write(bytes);
    pair
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

/// ACKs and data segments from `from` to `to` milliseconds.
fn counts(pair: &Pair, from: u64, to: u64) -> (usize, usize) {
    let within = |side: Side| {
        let seen = move |(time, from_side, segment): &&(Instant, Side, Segment)| {
            *from_side == side && (at(from)..at(to)).contains(time) && !segment.flags.has(Flags::SYN)
        };
        pair.log.iter().filter(seen)
    };
    (within(Side::Receiver).count(), within(Side::Sender).filter(|(_, _, s)| s.payload > 0).count())
}

/// A window of 1 MB over 20 ms, written as fast as it goes: while the window grows each segment is acknowledged, and
/// at its limit every second one.
#[test]
fn each_segment_is_acknowledged_while_the_window_grows() {
    let config = tcp_preset("linux-cubic").unwrap();
    let tuned = |change: fn(&mut TcpConfig)| {
        let mut config = config.clone();
        change(&mut config);
        let mut pair = opened(&config, 3_000_000);
        pair.run(at(400), |_, _, _| Fate::Arrive);
        assert_eq!(pair.receiver.stats().delivered, 3_000_000);
        let (acks, segments) = counts(&pair, 0, 400);
        segments as f64 / acks as f64
    };
    let delayed = tuned(|config| (config.autotuning, config.quick_acks) = (false, 0));
    assert!((1.9..=2.0).contains(&delayed), "{delayed}");
    let quick = tuned(|config| config.autotuning = false);
    assert!(quick < delayed - 0.01, "{quick}: 16 segments more are acknowledged");
    let growing = tuned(|config| config.quick_acks = 0);
    assert!(growing < 1.6, "{growing}");
    let kept = tuned(|config| config.delayed_ack_segments = 8);
    assert!(kept > growing, "{kept}: at its limit the choice of the user counts");
}

/// 16 segments at once at the start, or half of the window if that is less; behind a pause again.
#[test]
fn the_first_segments_are_acknowledged_one_by_one() {
    let config =
        TcpConfig { autotuning: false, acks_end_of_write: false, ..tcp_preset("linux-reno").unwrap() };
    let mut pair = opened(&config, 60 * 1448);
    pair.run(at(1000), |_, _, _| Fate::Arrive);
    // 16, and 44 in pairs.
    assert_eq!(counts(&pair, 0, 1000), (16 + 22, 60));
    pair.now = at(1000);
    pair.sender.write(60 * 1448);
    pair.run(at(2000), |_, _, _| Fate::Arrive);
    assert_eq!(counts(&pair, 1000, 2000), (16 + 22, 60));
}

/// What comes twice is a sign that the sender has missed ACKs: the next 16 are quick.
#[test]
fn behind_a_repeated_segment_acks_are_quick() {
    let config = TcpConfig { autotuning: false, ..tcp_preset("linux-reno").unwrap() };
    let acks = |twice: u64| {
        let mut pair = opened(&config, 100 * 1448);
        let mut seen = 0;
        pair.run(at(1000), |side, segment, _| {
            seen += u64::from(side == Side::Sender && segment.payload > 0);
            if side == Side::Sender && segment.payload > 0 && seen == twice {
                Fate::Twice
            } else {
                Fate::Arrive
            }
        });
        counts(&pair, 0, 1000).0
    };
    // 1 ACK for the duplicate, 15 for the next 15 segments, which are 7 or 8 more than their pairs have.
    let more = acks(40) - acks(u64::MAX);
    assert!((7..=9).contains(&more), "{more}");
}

/// The window starts at whole segments in half of 128 KiB and follows what is taken; its announced right edge never moves
/// back.
#[test]
fn the_window_starts_small_and_its_edge_never_moves_back() {
    let config = tcp_preset("linux-cubic").unwrap();
    let mut pair = opened(&config, 3_000_000);
    let mut lost = 0;
    pair.run(at(10_000), |side, segment, number| {
        let drop = side == Side::Sender && segment.payload > 0 && number % 97 == 0 && lost < 20;
        lost += u64::from(drop);
        if drop { Fate::Lost } else { Fate::Arrive }
    });
    assert_eq!(pair.receiver.stats().delivered, 3_000_000);
    let acks: Vec<&Segment> =
        pair.log.iter().filter(|(_, side, _)| *side == Side::Receiver).map(|(.., segment)| segment).collect();
    assert_eq!((acks[0].window, acks[0].window_scale_plus_one), (65_160, 8), "the scale is the buffer's");
    // 65,160 and twice the first segment, in units of 128 bytes.
    assert_eq!(u64::from(acks[1].window) << 7, 67_968);
    let windows = acks[1..].iter().map(|ack| u64::from(ack.window) << 7);
    let edges: Vec<u64> =
        windows.clone().zip(&acks[1..]).map(|(window, ack)| u64::from(ack.ack) + window).collect();
    assert!(edges.windows(2).all(|pair| pair[0] <= pair[1]));
    let last = acks.last().map(|ack| u64::from(ack.window) << 7).unwrap();
    assert!((200_000..6_291_456).contains(&last), "{last}");
}

/// A small buffer bounds the window, and the sender is held by it and by nothing else.
#[test]
fn the_receive_buffer_bounds_the_window() {
    let receive_buffer = anabranch_units::Bytes(80_000);
    let config = TcpConfig { receive_buffer, ..tcp_preset("linux-reno").unwrap() };
    let mut pair = opened(&config, 2_000_000);
    let mut most = 0;
    while pair.now < at(1_400) {
        let next = pair.now + Span::from_ms(1);
        pair.run(next, |_, _, _| Fate::Arrive);
        pair.now = next;
        most = most.max(pair.sender.in_flight());
    }
    assert_eq!(pair.receiver.stats().delivered, 2_000_000);
    // The payload of 80,000 bytes is 50,000: 34 segments of 1448 bytes, and one of them has not been read when its ACK leaves.
    assert_eq!(most / 1448, 33);
}
