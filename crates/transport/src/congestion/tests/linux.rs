//! Linux's Reno and CUBIC, in whole segments.

use crate::congestion::testing::{MSS, Rounds, SEGMENT, episode, plain_ack};
use crate::congestion::{Ack, CongestionControl, LinuxCubic, LinuxCubicParameters, LinuxReno, Recovery};
use anabranch_units::Span;

fn reno(initial_packets: u64) -> Rounds<LinuxReno> {
    Rounds::new(LinuxReno::new(MSS, initial_packets * SEGMENT), Span::from_ms(100))
}

fn cubic(initial_packets: u64, rtt: Span) -> Rounds<LinuxCubic> {
    let parameters = LinuxCubicParameters { hystart: false, ..LinuxCubicParameters::default() };
    Rounds::new(LinuxCubic::new(MSS, initial_packets * SEGMENT, parameters), rtt)
}

#[test]
fn reno_doubles_and_then_adds_a_segment_a_round() {
    for segments_per_ack in [1, 2, 5] {
        let mut path = reno(10);
        path.segments_per_ack = segments_per_ack;
        assert_eq!(path.rounds(2), [20, 40], "one ACK for {segments_per_ack}");
        path.lose();
        assert_eq!(path.rounds(4), [21, 22, 23, 24], "one ACK for {segments_per_ack}");
    }
}

/// Of an odd window the half segment is cut off; the threshold is never below two segments.
#[test]
fn reno_halves_to_whole_segments() {
    for (cwnd, half) in [(15, 7), (14, 7), (5, 2), (3, 2), (2, 2)] {
        let mut path = reno(cwnd);
        path.lose();
        assert_eq!((path.packets(), path.controller.ssthresh()), (half, half * SEGMENT), "from {cwnd}");
    }
}

/// From cwnd, whatever is in flight.
#[test]
fn a_reduction_starts_from_the_window() {
    let mut path = reno(100);
    path.controller.on_loss(&episode(path.now, 30 * SEGMENT));
    assert_eq!(path.packets(), 50);
}

#[test]
fn a_timeout_starts_over_from_one_segment_up_to_half_of_the_window() {
    let mut path = reno(32);
    path.time_out();
    path.recovery = Recovery::Loss;
    assert_eq!((path.packets(), path.controller.ssthresh()), (1, 16 * SEGMENT));
    assert_eq!(path.rounds(6), [2, 4, 8, 16, 17, 18]);
    // The same data time out again.
    path.controller.on_timeout(&episode(path.now, SEGMENT), false);
    assert_eq!(path.controller.ssthresh(), 16 * SEGMENT);
}

/// RFC 2861 section 3.2: one halving for each timeout that has passed in full, down to the initial window.
#[test]
fn a_pause_halves_the_window_for_each_timeout() {
    let rto = Span::from_ms(200);
    for (idle_ms, window) in [(201, 40), (400, 40), (401, 20), (601, 10), (60_000, 10)] {
        let mut path = reno(10);
        assert_eq!(path.rounds(3), [20, 40, 80]);
        path.lose();
        path.controller.on_undo(path.now);
        path.controller.on_restart_after_idle(path.now, Span::from_ms(idle_ms), rto);
        assert_eq!(path.packets(), window, "after {idle_ms} ms");
    }
    let mut reduced = reno(80);
    reduced.lose();
    reduced.controller.on_restart_after_idle(reduced.now, Span::from_ms(401), rto);
    // Nothing is below the window that it began with, and 40 was its threshold already.
    assert_eq!((reduced.packets(), reduced.controller.ssthresh()), (40, 40 * SEGMENT));
}

/// RFC 2861 section 3.2: three quarters of the window are remembered.
#[test]
fn a_pause_leaves_three_quarters_of_the_window_as_threshold() {
    let mut path = reno(10);
    path.rounds(2);
    path.lose();
    assert_eq!(path.rounds(20).last(), Some(&40));
    path.controller.on_restart_after_idle(path.now, Span::from_ms(201), Span::from_ms(200));
    assert_eq!((path.packets(), path.controller.ssthresh()), (20, 30 * SEGMENT));
}

/// RFC 5681 section 3.1: in slow start a segment acknowledged is one of the window. What was counted in congestion avoidance
/// before a pause adds none to it.
#[test]
fn slow_start_behind_a_pause_has_no_part_in_the_count_before() {
    let mut path = reno(10);
    path.rounds(2);
    path.lose();
    assert_eq!(path.rounds(20).last(), Some(&40));
    (0..35).for_each(|_| path.controller.on_ack(&plain_ack(path.now)));
    path.controller.on_restart_after_idle(path.now, Span::from_ms(401), Span::from_ms(200));
    assert_eq!(path.packets(), 10);
    path.controller.on_ack(&plain_ack(path.now));
    assert_eq!(path.packets(), 11);
}

/// Linux remembers three quarters of the window as the threshold of an undo, where that is more.
#[test]
fn an_undo_leaves_three_quarters_of_the_window_as_threshold() {
    let mut path = reno(10);
    path.rounds(2);
    path.lose();
    assert_eq!(path.rounds(20).last(), Some(&40));
    path.lose();
    path.controller.on_undo(path.now);
    assert_eq!((path.packets(), path.controller.ssthresh()), (40, 30 * SEGMENT));
}

/// MPRC's loss detection takes more than a round trip: a loss halves the window that there was when the segment left, 15,
/// and not the 20 to which it has grown.
#[test]
fn a_loss_does_not_answer_for_what_has_grown_since() {
    let (mut path, mut curve) = (reno(10), cubic(10, Span::from_ms(100)));
    assert_eq!((path.round(), curve.round()), (20, 20));
    path.controller.forget_growth(15 * SEGMENT);
    curve.controller.forget_growth(15 * SEGMENT);
    path.lose();
    curve.lose();
    // 15 / 2, and 15 x 717 / 1024.
    assert_eq!((path.packets(), curve.packets()), (7, 10));
}

#[test]
fn an_unused_window_does_not_grow() {
    let (mut path, mut curve) = (reno(10), cubic(10, Span::from_ms(100)));
    (path.cwnd_limited, curve.cwnd_limited) = (false, false);
    assert_eq!((path.rounds(3), curve.rounds(3)), (vec![10; 3], vec![10; 3]));
}

/// RFC 3168 section 6.1.2: a mark reduces at once, and the window stands still for the data under way.
#[test]
fn a_mark_reduces_and_holds_the_window_for_a_round() {
    let mut path = reno(40);
    let mark = crate::congestion::LossEpisode { snd_nxt: 40 * SEGMENT, ..episode(path.now, 40 * SEGMENT) };
    path.controller.on_ecn(&mark);
    assert_eq!(path.packets(), 20);
    let below = Ack { snd_una: 40 * SEGMENT - 1, growth: 40 * SEGMENT, ..plain_ack(path.now) };
    path.controller.on_ack(&below);
    assert_eq!(path.packets(), 20, "still the data from before the mark");
    path.controller.on_ack(&Ack { snd_una: 40 * SEGMENT, growth: 20 * SEGMENT, ..below });
    assert_eq!(path.packets(), 21);
    path.controller.on_undo(path.now);
    assert_eq!(path.packets(), 21, "a mark is never spurious");
}

/// 717/1024 of the window, cut to whole segments.
#[test]
fn cubic_keeps_seven_tenths_in_whole_segments() {
    for (cwnd, kept) in [(100, 70), (1000, 700), (10, 7), (9, 6), (3, 2), (2, 2)] {
        let mut path = cubic(cwnd, Span::from_ms(100));
        path.lose();
        assert_eq!(path.packets(), kept, "from {cwnd}");
    }
}

/// K = cbrt(300 / 0.4004) = 9.08 s after a loss at 1000 segments: the window is back then, and beyond it later.
#[test]
fn cubic_follows_its_curve_over_the_plateau() {
    let mut path = cubic(1000, Span::from_ms(100));
    path.lose();
    for round in 1..=150_i32 {
        let seconds = f64::from(round) * 0.1 - (300.0_f64 / 0.400_390_625).cbrt();
        // The window goes in a round to where the curve is a round ahead.
        let expected = 0.400_390_625 * seconds.powi(3) + 1000.0;
        let read = path.round() as f64;
        assert!((read - expected).abs() < 6.0, "round {round}: {read}, the curve has {expected:.1}");
    }
}

/// RFC 9438 section 4.7 in whole segments: 700 x (1 + 0.7002) / 2 = 595.
#[test]
fn a_loss_below_the_plateau_makes_room() {
    for (fast_convergence, plateau) in [(true, 595), (false, 700)] {
        let parameters =
            LinuxCubicParameters { fast_convergence, hystart: false, ..LinuxCubicParameters::default() };
        let controller = LinuxCubic::new(MSS, 1000 * SEGMENT, parameters);
        let mut path = Rounds::new(controller, Span::from_ms(100));
        path.lose();
        path.lose();
        assert_eq!(path.packets(), 490);
        // The curve is flat at its plateau, cbrt((plateau - 490) / 0.4004) s after the loss.
        let k = (f64::from(plateau - 490) / 0.400_390_625).cbrt();
        let at_plateau = path.rounds((k * 10.0) as usize);
        let read = at_plateau.last().copied().unwrap_or(0);
        assert!(read.abs_diff(plateau as u64) <= 2, "{read}, not {plateau}");
    }
}

/// 8/15 of a segment a round for ever: also above the window of the last loss, where RFC 9438 goes on with one.
#[test]
fn the_friendly_window_grows_alike_for_ever() {
    let mut path = cubic(100, Span::from_ms(5));
    path.lose();
    for round in 1..=120_u32 {
        let expected = 70.0 + f64::from(round) * 8.0 / 15.0;
        let read = path.round() as f64;
        // What is computed holds for 1/32 s, six rounds here, and a round of a growing window covers less than it.
        let least = expected - 6.5 * 8.0 / 15.0 - 0.04 * (expected - 70.0);
        assert!(least - 1.0 < read && read < expected + 1.0, "round {round}: {read}, expected {expected:.1}");
    }
    assert!(path.packets() > 120, "above the window of the loss");
}

/// Before the first loss there is no curve: a segment for 20 acknowledged at least, a twentieth of the window a round.
#[test]
fn without_a_loss_a_segment_comes_for_twenty() {
    let mut path = cubic(400, Span::from_ms(1));
    path.controller.on_ack(&Ack { rtt: Some(path.rtt), ..plain_ack(path.now) });
    path.lose();
    path.controller.on_undo(path.now);
    path.time_out();
    path.recovery = Recovery::Loss;
    // Slow start from one segment to 280 of 401; from there without a plateau.
    let windows = path.rounds(12);
    assert_eq!(windows[..9], [2, 4, 8, 16, 32, 64, 128, 256, 280 + (512 - 280) / 20]);
    for pair in windows[8..].windows(2) {
        assert!((pair[1] - pair[0]).abs_diff(pair[0] / 20) <= 1, "{pair:?}");
    }
}

/// At most half a segment for each acknowledged one, however steep the curve.
#[test]
fn the_window_grows_by_half_a_round_at_most() {
    let parameters = LinuxCubicParameters { c: 1e9, hystart: false, ..LinuxCubicParameters::default() };
    let mut path = Rounds::new(LinuxCubic::new(MSS, 200 * SEGMENT, parameters), Span::from_ms(100));
    path.lose();
    assert_eq!(path.rounds(3), [210, 315, 472]);
}

/// Fast recovery ends with a window of ssthresh (RFC 5681 section 3.2), also if a penalty made it smaller in between.
#[test]
fn recovery_ends_with_the_window_at_the_threshold() {
    let mut path = reno(3);
    path.controller.on_loss(&episode(path.now, 3 * SEGMENT));
    path.controller.penalise();
    assert_eq!((path.packets(), path.controller.ssthresh()), (1, 2 * SEGMENT));
    path.controller.on_recovered(path.now, Recovery::Fast);
    assert_eq!(path.packets(), 2);
}

/// The curve from 490 segments to the plateau at 595 rises fast at first: half of the time up to it brings seven eighths of
/// the way, 582. One that begins at its plateau would be at 503 then.
#[test]
fn the_curve_is_concave_below_the_plateau() {
    let mut path = cubic(1000, Span::from_ms(100));
    path.lose();
    path.lose();
    let k = (105.0_f64 / 0.400_390_625).cbrt();
    let half_way = path.rounds((k * 5.0) as usize).last().copied().unwrap_or(0);
    assert!(half_way.abs_diff(582) <= 3, "{half_way}");
}

/// As Reno's: fast recovery ends with a window of ssthresh.
#[test]
fn recovery_of_cubic_ends_with_the_window_at_the_threshold() {
    let mut curve = cubic(3, Span::from_ms(100));
    curve.controller.on_loss(&episode(curve.now, 3 * SEGMENT));
    curve.controller.penalise();
    assert_eq!((curve.packets(), curve.controller.ssthresh()), (1, 2 * SEGMENT));
    curve.controller.on_recovered(curve.now, Recovery::Fast);
    assert_eq!(curve.packets(), 2);
}
