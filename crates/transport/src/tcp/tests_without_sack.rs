//! Fast recovery of connections without SACK (RFC 6582).

use super::detection::DupackParameters;
use super::tests::{Fate, Pair, Side, is_data};
use crate::LossDetectionConfig;
use crate::config::TcpConfig;
use crate::segment::Segment;
use crate::tcp_preset;
use anabranch_units::{Instant, Span};

/// Section 3.2: "recover" is what was sent when the recovery began, and partial ACKs do not move it. Two segments of a
/// window are lost, and new data leave during the repair: the ACK of all that "recover" covers ends it.
#[test]
fn partial_acks_do_not_move_recover() {
    for name in ["newreno", "ns2-newreno"] {
        let config = TcpConfig { sack: false, ..tcp_preset(name).unwrap() };
        let mut number = 0;
        let pair = Pair::transfer(&config, 400_000, |side, segment, _| {
            let data = side == Side::Sender && is_data(segment);
            number += u64::from(data);
            if data && [131, 140].contains(&number) { Fate::Lost } else { Fate::Arrive }
        });
        let stats = pair.sender.stats();
        let counts = (stats.retransmissions, stats.fast_recoveries, stats.timeouts);
        assert_eq!(counts, (2, 1, 0), "{name}");
    }
}

/// Sections 3.2 and 4: after the first partial ACK the retransmission timer runs on. Twenty losses of one window, each
/// other segment from number 60 on, end in a timeout and slow start, where Slow-but-Steady takes a round trip for each.
#[test]
fn many_losses_of_a_window_end_in_a_timeout() {
    let transfer = |impatient| {
        let loss_detection =
            LossDetectionConfig::Dupack(DupackParameters { impatient, ..Default::default() });
        let config = TcpConfig { sack: false, loss_detection, ..tcp_preset("newreno").unwrap() };
        let mut number = 0;
        let pair = Pair::transfer(&config, 400_000, |side, segment, _| {
            let data = side == Side::Sender && is_data(segment);
            number += u64::from(data);
            if data && (60..100).contains(&number) && number % 2 == 0 { Fate::Lost } else { Fate::Arrive }
        });
        let end = pair.log.last().map(|(at, ..)| *at).unwrap();
        (pair.sender.stats().timeouts, end.as_secs_f64())
    };
    let (impatient, steady) = (transfer(true), transfer(false));
    assert_eq!((impatient.0, steady.0), (1, 0), "{impatient:?} {steady:?}");
    // Twenty round trips of 20 ms, or the timer's 200 ms and slow start.
    assert!(impatient.1 < steady.1, "{impatient:?} {steady:?}");
}

/// Section 3.2: the window is inflated for segments that have left, and after a timeout, when all are taken for lost and
/// go again, duplicates tell of none: what those call for would bring the next ones, without end.
#[test]
fn duplicates_of_what_is_sent_again_free_no_window() {
    let config = TcpConfig { sack: false, ..tcp_preset("newreno").unwrap() };
    let mut pair = Pair::new(&config, 1);
    pair.sender.open();
    pair.sender.write(400_000);
    // The first segment is lost, and so is its repair: the timer expires after 200 ms.
    let first = |segment: &Segment| is_data(segment) && segment.seq == 2;
    let lost = |side, segment: &Segment, _| match side {
        Side::Sender if first(segment) => Fate::Lost,
        _ => Fate::Arrive,
    };
    pair.run(Instant::ZERO + Span::from_ms(400), lost);
    assert_eq!(pair.sender.stats().timeouts, 1);
    assert_eq!(pair.sender.in_flight(), 1448, "the repair");
    let (.., duplicate) = *pair.log.iter().rfind(|(_, side, _)| *side == Side::Receiver).unwrap();
    for _ in 0..3 {
        pair.sender.on_segment(pair.now, &duplicate);
        assert_eq!(pair.sender.in_flight(), 1448);
        assert!(pair.sender.poll_transmit(pair.now).is_none());
    }
}

/// RFC 5681 section 3.2 step 3, RFC 6582 section 3.2 step 3: the first segment outstanding goes again with the third
/// duplicate ACK, and with each partial ACK, though the halved window has no room: more is under way than it allows.
#[test]
fn a_partial_ack_sends_the_next_hole_before_the_window_is_asked() {
    for name in ["newreno", "ns2-newreno"] {
        let config = TcpConfig { sack: false, timestamps: false, ..tcp_preset(name).unwrap() };
        let mut pair = Pair::new(&config, 1);
        pair.sender.open();
        pair.sender.write(4_000_000);
        pair.run(Instant::ZERO + Span::from_ms(95), |_, _, _| Fate::Arrive);
        let (.., last) = *pair.log.iter().rfind(|(_, side, _)| *side == Side::Receiver).unwrap();
        pair.sender.on_segment(pair.now, &last);
        while pair.sender.poll_transmit(pair.now).is_some() {}
        for _ in 0..3 {
            pair.sender.on_segment(pair.now, &last);
        }
        let mut repairs = 0;
        for number in 0..4 {
            let hole = last.ack.wrapping_add(number * 1448);
            let again: Vec<_> = std::iter::from_fn(|| pair.sender.poll_transmit(pair.now)).collect();
            repairs += again.iter().filter(|segment| segment.seq == hole).count();
            pair.sender.on_segment(pair.now, &Segment { ack: hole.wrapping_add(1448), ..last });
        }
        assert_eq!(pair.sender.stats().fast_recoveries, 1, "{name}");
        assert_eq!(repairs, 4, "{name}: one for the duplicates, one for each partial ACK");
    }
}
