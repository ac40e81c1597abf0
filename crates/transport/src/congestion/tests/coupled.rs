//! LIA, OLIA and BALIA against their formulas, worked out by hand.

use crate::congestion::testing::{MSS, Rounds, SEGMENT, episode};
use crate::congestion::{Balia, CongestionControl, Coupled, Coupling, CouplingRule, Lia, Olia};
use anabranch_units::{Instant, Span};

/// Subflow `own` of several with (window in segments, RTT in ms).
fn coupling(subflows: &[(u64, u64)], index: usize) -> Coupling {
    let rate = |&(window, ms): &(u64, u64)| (window * SEGMENT) as f64 / (ms as f64 / 1e3);
    let gain = |subflow: &(u64, u64)| rate(subflow) / (subflow.1 as f64 / 1e3);
    Coupling {
        total_rate: subflows.iter().map(rate).sum(),
        max_rate: subflows.iter().map(rate).fold(0.0, f64::max),
        max_gain: subflows.iter().map(gain).fold(0.0, f64::max),
        rate: rate(&subflows[index]),
        gain: gain(&subflows[index]),
        olia_alpha: 0.0,
    }
}

/// A controller in congestion avoidance with a window of `segments`.
fn avoiding<R: CouplingRule>(segments: u64) -> Rounds<Coupled<R>> {
    let mut path = Rounds::new(Coupled::new(MSS, 2 * segments * SEGMENT), Span::from_ms(100));
    // Without a coupling every rule keeps half.
    path.lose();
    assert_eq!(path.packets(), segments);
    path
}

/// Rounds of the window as it stands, without its growth changing the coupling, until it has grown by one.
fn rounds_to_grow<R: CouplingRule>(segments: u64, coupling: &Coupling) -> usize {
    let mut path = avoiding::<R>(segments);
    path.controller.couple(coupling);
    (1..).find(|_| path.round() > segments).unwrap()
}

/// RFC 6356 section 3: with one path the flow is a TCP flow; Khalili 2012 and Peng 2016 likewise.
#[test]
fn on_one_path_each_is_newreno() {
    fn check<R: CouplingRule>() {
        let mut path = avoiding::<R>(40);
        let windows: Vec<u64> = (0..4)
            .map(|_| {
                path.controller.couple(&coupling(&[(path.packets(), 100)], 0));
                path.round()
            })
            .collect();
        assert_eq!(windows, [41, 42, 43, 44]);
        path.lose();
        assert_eq!(path.packets(), 22);
        // Slow start is TCP's.
        let mut path = Rounds::new(Coupled::<R>::new(MSS, 10 * SEGMENT), Span::from_ms(100));
        path.controller.couple(&coupling(&[(10, 100), (90, 10)], 0));
        assert_eq!(path.rounds(3), [20, 40, 80]);
    }
    check::<crate::congestion::lia::LiaRule>();
    check::<crate::congestion::olia::OliaRule>();
    check::<crate::congestion::balia::BaliaRule>();
}

/// RFC 6356 section 3: with two equal paths alpha is 2w (w / rtt^2) / (2w / rtt)^2 = 1/2, so that a segment takes
/// cwnd_total / alpha = 4w segments acknowledged, or four rounds.
#[test]
fn lia_on_equal_paths_grows_each_by_a_quarter() {
    let equal = coupling(&[(20, 100), (20, 100)], 0);
    assert_eq!(rounds_to_grow::<crate::congestion::lia::LiaRule>(20, &equal), 4);
}

/// The other term of equation (1): a small subflow beside a large one never grows faster than TCP. alpha /
/// cwnd_total is (1000 / 0.01^2) / (1000 / 0.01 + 2 / 0.1)^2 = 0.0009996 for each segment acknowledged, in place
/// of TCP's 1/2, on the small one; 0.9996 of TCP's on the large.
#[test]
fn lia_takes_the_smaller_of_both_terms() {
    let rule = crate::congestion::lia::LiaRule::default();
    let both = [(1000, 10), (2, 100)];
    let segments = |index: usize| {
        let cwnd = both[index].0 * SEGMENT;
        rule.increase(&coupling(&both, index), cwnd as f64) * SEGMENT as f64
    };
    assert!((segments(1) - 0.000_999_6).abs() < 1e-7, "{}", segments(1));
    assert!((segments(0) - 0.000_999_6).abs() < 1e-7, "{}", segments(0));
    // A subflow alone in its connection but for one that is far slower: 1 / w is the smaller term when the best gain
    // is not its own.
    let both = [(10, 100), (10, 10)];
    let capped = rule.increase(&coupling(&both, 0), 1000.0 * SEGMENT as f64) * SEGMENT as f64;
    assert!((capped - 1e-3).abs() < 1e-9, "{capped}");
}

/// Khalili 2012, equation (5), alpha zero: two equal paths grow as under LIA; alpha of 1/4 adds 1/4 segment a round,
/// -1/4 takes all of it away, and more makes the window shrink.
#[test]
fn olia_adds_alpha_over_the_window() {
    let with = |olia_alpha| Coupling { olia_alpha, ..coupling(&[(20, 100), (20, 100)], 0) };
    assert_eq!(rounds_to_grow::<crate::congestion::olia::OliaRule>(20, &with(0.0)), 4);
    assert_eq!(rounds_to_grow::<crate::congestion::olia::OliaRule>(20, &with(0.25)), 2);
    let mut path: Rounds<Olia> = avoiding(20);
    path.controller.couple(&with(-0.25));
    assert_eq!(path.rounds(8), [20; 8]);
    let mut path: Rounds<Olia> = avoiding(20);
    path.controller.couple(&with(-0.5));
    assert_eq!(path.rounds(4)[3], 19);
}

/// l is what was acknowledged between the last two losses or since the last, whichever is more.
#[test]
fn olia_remembers_the_longer_interval_between_losses() {
    let mut path: Rounds<Olia> = Rounds::new(Olia::new(MSS, 10 * SEGMENT), Span::from_ms(100));
    path.rounds(2);
    assert_eq!(path.controller.loss_interval(), 30 * SEGMENT);
    path.controller.on_loss(&episode(Instant::ZERO, 40 * SEGMENT));
    path.rounds(1);
    assert_eq!(path.controller.loss_interval(), 30 * SEGMENT, "20 since, 30 before");
    path.rounds(1);
    assert_eq!(path.controller.loss_interval(), 41 * SEGMENT, "20 and 21 since");
    path.controller.on_timeout(&episode(Instant::ZERO, 20 * SEGMENT), true);
    path.controller.on_timeout(&episode(Instant::ZERO, 20 * SEGMENT), false);
    assert_eq!(path.controller.loss_interval(), 41 * SEGMENT, "a repeated timeout is no further loss");
}

/// Peng 2016, section V: x = 1000 and 100 segments a second, alpha = 10 on the slow path: 100 / (0.1 * 1100^2) * 11/2
/// * 14/5 = 0.0127273; on the fast one alpha = 1: 1000 / (0.01 * 1100^2) = 0.0826446.
#[test]
fn balia_follows_its_formula() {
    let rule = crate::congestion::balia::BaliaRule::default();
    let both = [(10, 10), (10, 100)];
    let segments =
        |index: usize| rule.increase(&coupling(&both, index), (10 * SEGMENT) as f64) * SEGMENT as f64;
    assert!((segments(0) - 0.082_644_6).abs() < 1e-6, "{}", segments(0));
    assert!((segments(1) - 0.012_727_3).abs() < 1e-6, "{}", segments(1));
}

/// A loss takes w/2 min(alpha, 1.5): half on the best path, three quarters on one that is much worse.
#[test]
fn balia_reduces_more_on_worse_paths() {
    let after_loss = |subflows: &[(u64, u64)]| {
        let mut path: Rounds<Balia> = Rounds::new(Balia::new(MSS, 80 * SEGMENT), Span::from_ms(100));
        path.controller.couple(&coupling(subflows, 0));
        path.lose();
        path.packets()
    };
    assert_eq!(after_loss(&[(80, 100), (80, 100)]), 40);
    assert_eq!(after_loss(&[(80, 120), (80, 100)]), 32, "alpha 1.2 takes 0.6");
    assert_eq!(after_loss(&[(80, 1000), (80, 100)]), 20, "alpha 10 counts as 1.5");
}

/// RFC 5681 section 4.1: behind a pause longer than a timeout a subflow begins with its initial window, as TCP does.
#[test]
fn a_pause_restarts_from_the_initial_window() {
    let mut path: Rounds<Lia> = Rounds::new(Lia::new(MSS, 10 * SEGMENT), Span::from_ms(100));
    assert_eq!(path.rounds(2), [20, 40]);
    path.controller.on_restart_after_idle(path.now, Span::from_secs(2), Span::from_secs(1));
    assert_eq!(path.packets(), 10);
}

/// Raiciu 2012, section 4.2, as Linux does it: half the window, and half the threshold outside slow start.
#[test]
fn a_penalty_halves_window_and_threshold() {
    let mut path: Rounds<Lia> = avoiding(40);
    path.controller.penalise();
    assert_eq!((path.packets(), path.controller.ssthresh()), (20, 20 * SEGMENT));
    let mut path: Rounds<Lia> = Rounds::new(Lia::new(MSS, 80 * SEGMENT), Span::from_ms(100));
    path.controller.penalise();
    assert_eq!((path.packets(), path.controller.ssthresh()), (40, u64::MAX));
    (0..20).for_each(|_| path.controller.penalise());
    assert_eq!(path.packets(), 1);
}

/// Fast recovery ends with a window of ssthresh (RFC 6675 section 5.1), also if a penalty made it smaller in between.
#[test]
fn recovery_ends_with_the_window_at_the_threshold() {
    let mut path = avoiding::<crate::congestion::lia::LiaRule>(2);
    path.controller.on_loss(&episode(path.now, 2 * SEGMENT));
    path.controller.penalise();
    assert_eq!((path.packets(), path.controller.ssthresh()), (1, 2 * SEGMENT));
    path.controller.on_recovered(path.now, crate::congestion::Recovery::Fast);
    assert_eq!(path.packets(), 2);
}

/// RFC 3168 section 6.1.2: a mark is answered like a loss; without a coupling by half.
#[test]
fn a_mark_takes_what_a_loss_takes() {
    let mut path = avoiding::<crate::congestion::lia::LiaRule>(40);
    path.controller.on_ecn(&episode(path.now, 40 * SEGMENT));
    assert_eq!((path.packets(), path.controller.ssthresh()), (20, 20 * SEGMENT));
}
