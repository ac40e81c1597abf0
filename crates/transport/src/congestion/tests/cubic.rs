use crate::congestion::testing::{MSS, Rounds, SEGMENT, episode};
use crate::congestion::{CongestionControl, Cubic, CubicParameters, LossEpisode, Recovery};
use anabranch_units::{Instant, Span};

const C: f64 = 0.4;
const BETA: f64 = 0.7;

/// RFC 9438 figure 1 with K of figure 2, in segments.
fn w_cubic(seconds: f64, w_max: f64, cwnd_epoch: f64) -> f64 {
    let k = ((w_max - cwnd_epoch) / C).cbrt();
    C * (seconds - k).powi(3) + w_max
}

fn cubic(initial_packets: u64, rtt: Span) -> Rounds<Cubic> {
    Rounds::new(Cubic::new(MSS, initial_packets * SEGMENT, CubicParameters::default()), rtt)
}

fn assert_close(read: u64, expected: f64, tolerance: f64, place: impl std::fmt::Display) {
    let off = (read as f64 - expected).abs();
    assert!(off <= tolerance, "{place}: {read} packets, expected {expected:.1} within {tolerance}");
}

#[test]
fn slow_start_doubles() {
    assert_eq!(cubic(10, Span::from_ms(100)).rounds(4), [20, 40, 80, 160]);
}

/// The window falls to beta W_max and follows W_cubic through its plateau (K = 9.1 s) and beyond.
/// Aiming one RTT ahead and going there within one RTT leaves it on W_cubic(t), to the second order.
#[test]
fn the_window_follows_the_cubic_function() {
    let mut path = cubic(1000, Span::from_ms(100));
    path.lose();
    assert_eq!(path.packets(), 700);
    for round in 1..=150 {
        let expected = w_cubic(f64::from(round) * 0.1, 1000.0, 700.0);
        assert_close(path.round(), expected, 2.0, format!("round {round}"));
    }
}

/// RFC 9438 section 4.7: W_max becomes cwnd (1 + beta) / 2 when the loss comes before the old W_max.
#[test]
fn fast_convergence_lowers_the_plateau() {
    for (fast_convergence, w_max) in [(true, 700.0 * (1.0 + BETA) / 2.0), (false, 700.0)] {
        let parameters = CubicParameters { fast_convergence, ..CubicParameters::default() };
        let controller = Cubic::new(MSS, 1000 * SEGMENT, parameters);
        let mut path = Rounds::new(controller, Span::from_ms(100));
        path.lose();
        path.lose();
        assert_eq!(path.packets(), 490);
        for round in 1..=100 {
            let expected = w_cubic(f64::from(round) * 0.1, w_max, 490.0);
            assert_close(path.round(), expected, 2.0, format!("{fast_convergence}, round {round}"));
        }
    }
}

/// RFC 9438 section 4.3: with a small window and a short RTT it grows as Reno would, by
/// alpha = 3 (1 - beta) / (1 + beta) a round below the old window and by 1 from there on.
#[test]
fn the_reno_friendly_region_grows_by_alpha_and_then_by_one() {
    let mut path = cubic(200, Span::from_ms(5));
    path.lose();
    let mut expected = 140.0;
    for round in 1..=200 {
        expected += if expected < 200.0 { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        // A round of a growing window covers slightly less than the window: 1 % over 100 rounds.
        assert_close(path.round(), expected, 2.0, format!("round {round}"));
        assert!(w_cubic(f64::from(round) * 0.005, 200.0, 140.0) < expected, "not the friendly region");
    }
}

/// Without it the window follows the curve of time alone (RFC 9438 figure 1), however short the RTT.
#[test]
fn without_the_reno_friendly_region_there_is_the_curve_alone() {
    let parameters = CubicParameters { reno_friendly: false, ..CubicParameters::default() };
    let mut path = Rounds::new(Cubic::new(MSS, 200 * SEGMENT, parameters), Span::from_ms(5));
    path.lose();
    for round in 1..=200 {
        let expected = w_cubic(f64::from(round) * 0.005, 200.0, 140.0);
        assert_close(path.round(), expected, 2.0, format!("round {round}"));
    }
}

/// RFC 9438 section 4.2 bounds the target by 1.5 cwnd: half a segment for each acknowledged one.
#[test]
fn the_window_grows_by_half_a_round_at_most() {
    let parameters = CubicParameters { c: 1e9, ..CubicParameters::default() };
    let mut path = Rounds::new(Cubic::new(MSS, 200 * SEGMENT, parameters), Span::from_ms(100));
    path.lose();
    assert_eq!(path.rounds(3), [210, 315, 472]);
}

/// RFC 9438 sections 4.2 and 5.8: time without need for the window is not time on the curve.
#[test]
fn idle_and_application_limited_times_do_not_count() {
    let rtt = Span::from_ms(100);
    let mut busy = cubic(1000, rtt);
    busy.lose();
    let mut idle = cubic(1000, rtt);
    idle.lose();
    let mut limited = cubic(1000, rtt);
    limited.lose();
    assert_eq!(busy.rounds(20), idle.rounds(20));
    limited.rounds(20);

    let pause = Span::from_secs(60);
    idle.now = idle.now + pause;
    idle.controller.on_restart_after_idle(idle.now, pause, Span::from_ms(200));
    limited.cwnd_limited = false;
    let window = limited.packets();
    assert!(limited.rounds(50).iter().all(|&packets| packets == window));
    limited.cwnd_limited = true;

    let expected = busy.rounds(50);
    assert_eq!(idle.rounds(50), expected);
    assert_eq!(limited.rounds(50), expected);
}

/// RFC 9438 section 4.8: ssthresh with beta, then from there on convex growth at once, with K = 0 and
/// the plateau at the window where congestion avoidance began.
#[test]
fn after_a_timeout_the_curve_starts_at_its_plateau() {
    let mut path = cubic(1000, Span::from_ms(100));
    path.time_out();
    path.recovery = Recovery::Loss;
    assert_eq!(path.packets(), 1);
    assert_eq!(path.rounds(10), [2, 4, 8, 16, 32, 64, 128, 256, 512, 700]);
    for _ in 0..100 {
        path.round();
    }
    // The stage began within the tenth round, so t is between 10.0 and 10.1 s: 400 to 412 above.
    assert_close(path.packets(), 700.0 + 406.0, 8.0, "10 s later");
}

/// RFC 9438 section 4.9: everything is as before the spurious event.
#[test]
fn a_spurious_loss_is_given_back_with_its_curve() {
    let mut path = cubic(1000, Span::from_ms(100));
    path.lose();
    path.rounds(30);
    let (before, ssthresh) = (path.packets(), path.controller.ssthresh());
    path.controller.on_loss(&episode(path.now, path.controller.cwnd()));
    assert!(path.packets() < before);
    path.controller.on_undo(path.now);
    path.controller.on_recovered(path.now, Recovery::Fast);
    assert_eq!((path.packets(), path.controller.ssthresh()), (before, ssthresh));
    for round in 31..=120 {
        let expected = w_cubic(f64::from(round) * 0.1, 1000.0, 700.0);
        assert_close(path.round(), expected, 2.0, format!("round {round}"));
    }
}

/// RFC 9438 section 4.9: a window that has outgrown the old one keeps its state.
#[test]
fn a_late_undo_takes_nothing() {
    let mut path = cubic(1000, Span::from_ms(100));
    path.lose();
    path.rounds(150);
    let (after, ssthresh) = (path.packets(), path.controller.ssthresh());
    assert!(after > 1000);
    path.controller.on_undo(path.now);
    assert_eq!((path.packets(), path.controller.ssthresh()), (after, ssthresh));
}

/// The window that was in flight when the mark came is acknowledged without growth.
#[test]
fn the_round_of_an_ecn_echo_does_not_count() {
    let mut path = cubic(1000, Span::from_ms(100));
    path.controller.on_ecn(&LossEpisode { snd_nxt: 700 * SEGMENT, ..episode(path.now, 1000 * SEGMENT) });
    assert_eq!(path.round(), 700);
    let expected = w_cubic(1.0, 1000.0, 700.0);
    assert_close(path.rounds(10)[9], expected, 2.0, "1 s after that round");
}

/// RFC 9438 section 4.6: down to one segment after a mark, to two after a loss.
#[test]
fn an_ecn_echo_reduces_at_once() {
    let mut path = cubic(1000, Span::from_ms(100));
    path.controller.on_ecn(&episode(path.now, 1000 * SEGMENT));
    assert_eq!(path.packets(), 700);
    assert_close(path.rounds(91)[90], 1000.0, 2.0, "at K");
    let mut small = cubic(1, Span::from_ms(100));
    small.controller.on_ecn(&episode(small.now, SEGMENT));
    assert_eq!((small.packets(), small.controller.ssthresh()), (1, 2 * SEGMENT));
}

/// RFC 8511 section 3.1: 0.85 at a mark; beta at a loss, and in W_max, as ever (RFC 9438 section 4.7).
#[test]
fn abe_keeps_more_at_a_mark_than_at_a_loss() {
    let abe = CubicParameters { beta_ecn: 0.85, ..CubicParameters::default() };
    let mut cubic = Cubic::new(MSS, 1000 * SEGMENT, abe);
    cubic.on_ecn(&episode(Instant::ZERO, 1000 * SEGMENT));
    assert_eq!((cubic.cwnd(), cubic.ssthresh()), (850 * SEGMENT, 850 * SEGMENT));
    cubic.on_loss(&episode(Instant::ZERO, 850 * SEGMENT));
    assert_eq!(cubic.ssthresh(), 595 * SEGMENT);
}

/// The mean windows of RFC 9438 section 5.1, tables 1 and 2, column C = 0.4: periodic loss, RTT of 100 ms, where
/// they are those of the cubic function, and of 10 ms, where they are Reno's.
/// The cycle is started where it closes, at W_max = 4 / (3 + beta) or 2 / (1 + beta) means: left to itself the
/// window comes there only over hundreds of losses, since the curve is flat around its plateau.
#[test]
fn periodic_loss_gives_the_published_windows() {
    let (cubic, friendly) = (4.0 / (3.0 + BETA), 2.0 / (1.0 + BETA));
    let cases = [
        (100, 10_000, 187.0, cubic),
        (100, 100_000, 1054.0, cubic),
        (10, 10_000, 120.0, friendly),
        (10, 100_000, 379.0, friendly),
    ];
    for (rtt_ms, period, mean, peak) in cases {
        for fast_convergence in [false, true] {
            let parameters = CubicParameters { fast_convergence, ..CubicParameters::default() };
            let controller = Cubic::new(MSS, (mean * peak) as u64 * SEGMENT, parameters);
            let mut path = Rounds::new(controller, Span::from_ms(rtt_ms));
            path.lose();
            let ratio = path.lose_periodically(period, 60).window / mean;
            assert!((0.95..1.05).contains(&ratio), "{rtt_ms} ms, 1 in {period}, {fast_convergence}: {ratio}");
        }
    }
}

/// RFC 2861 section 3 for any window: ssthresh = max(ssthresh, 3/4 cwnd). The curve is well past what
/// the loss left when the pause comes.
#[test]
fn a_pause_remembers_three_quarters_of_a_grown_window() {
    let controller = Cubic::new(MSS, 10 * SEGMENT, CubicParameters::default());
    let mut path = Rounds::new(controller, Span::from_ms(100));
    while path.packets() < 100 {
        path.round();
    }
    path.lose();
    let low = path.packets();
    while path.packets() * 3 / 4 < low + 10 {
        path.round();
    }
    let grown = path.controller.cwnd();
    path.controller.on_restart_after_idle(path.now, Span::from_secs(1), Span::from_ms(200));
    let quarters = grown * 3 / 4;
    assert_eq!(path.packets(), 10);
    assert!(path.controller.ssthresh().abs_diff(quarters) <= 4, "{} of {grown}", path.controller.ssthresh());
}
