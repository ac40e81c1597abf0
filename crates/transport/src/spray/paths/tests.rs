use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const NOW: Instant = Instant::ZERO;

fn start(planes: u16) -> Start {
    Start { planes, rto: Span::from_us(100) }
}

fn made(name: &str, planes: u16, draws: &mut Draws) -> Selector {
    let config = PathSelectorConfig::named(name).expect("a registered name");
    Selector::new(&config, start(planes), draws)
}

fn at_us(us: u64) -> Instant {
    NOW + Span::from_us(us)
}

proptest! {
    /// Section 6 of the sheet on fabrics: a counter over n, XORed with a mask: each lap has every value once.
    #[test]
    fn a_lap_of_oblivious_has_every_value_once(seed in any::<u64>(), laps in 1_usize..5) {
        let mut draws = Draws::new(seed);
        let mut selector = made("oblivious", 1, &mut draws);
        for _ in 0..laps {
            let lap: BTreeSet<u16> = (0..64).map(|_| selector.next(NOW, &mut draws)).collect();
            prop_assert_eq!(lap, (0..64).collect::<BTreeSet<u16>>());
        }
    }

    /// A value that came back is used once, the oldest first (REPS, arXiv 2407.21625).
    #[test]
    fn reps_hands_no_entry_out_twice(came_back in prop::collection::vec(100_u16..5000, 1..20)) {
        let mut draws = Draws::new(1);
        let mut selector = made("reps", 1, &mut draws);
        came_back.iter().for_each(|&value| selector.on_feedback(NOW, value, Feedback::Clean));
        // The ring has eight places; what was overwritten is gone.
        let kept: Vec<u16> = came_back.iter().copied().skip(came_back.len().saturating_sub(8)).collect();
        let given: Vec<u16> = kept.iter().map(|_| selector.next(NOW, &mut draws)).collect();
        prop_assert_eq!(given, kept);
        // Nothing fresh is left: values of 64, none of those above.
        prop_assert!((0..50).all(|_| selector.next(NOW, &mut draws) < 64));
    }

    /// MRC 1.0: at least the least share stays active, whatever is lost; and the planes have equal shares.
    #[test]
    fn mrc_never_assumes_more_bad_than_it_may(losses in prop::collection::vec(0_u16..128, 0..400), seed in any::<u64>()) {
        let mut draws = Draws::new(seed);
        let mut selector = made("mrc", 4, &mut draws);
        losses.iter().for_each(|&value| selector.on_feedback(NOW, value, Feedback::Lost));
        // What is skipped once comes back, one with each packet.
        (0..512).for_each(|_| { selector.next(NOW, &mut draws); });
        let active: BTreeSet<u16> = (0..256).map(|_| selector.next(NOW, &mut draws)).collect();
        let lost: BTreeSet<u16> = losses.iter().copied().collect();
        prop_assert_eq!(active.len(), (128 - lost.len()).max(32));
    }
}

/// A frozen ring is used in turn, fresh or not; after 10 ms it is empty, and values are drawn.
#[test]
fn reps_freezes_after_a_loss_and_thaws() {
    let mut draws = Draws::new(1);
    let mut selector = made("reps", 1, &mut draws);
    [1000, 1001, 1002].iter().for_each(|&value| selector.on_feedback(NOW, value, Feedback::Clean));
    assert_eq!(selector.next(NOW, &mut draws), 1000);
    selector.on_feedback(NOW, 7, Feedback::Lost);
    let frozen: Vec<u16> = (0..7).map(|_| selector.next(at_us(9_999), &mut draws)).collect();
    assert_eq!(frozen, [1000, 1001, 1002, 1000, 1001, 1002, 1000]);
    assert!((0..100).all(|_| selector.next(at_us(10_000), &mut draws) < 64));
}

/// After the thaw 16 packets are drawn even where values come back.
#[test]
fn reps_explores_behind_a_freeze() {
    let mut draws = Draws::new(1);
    let mut selector = made("reps", 1, &mut draws);
    selector.on_feedback(NOW, 1000, Feedback::Clean);
    selector.on_feedback(NOW, 7, Feedback::Lost);
    selector.next(at_us(10_000), &mut draws);
    selector.on_feedback(at_us(10_000), 2000, Feedback::Clean);
    let next: Vec<u16> = (0..16).map(|_| selector.next(at_us(10_001), &mut draws)).collect();
    assert!(next[..15].iter().all(|&value| value < 64), "{next:?}");
    assert_eq!(next[15], 2000);
}

/// A penalty of 4: the value is passed over four times as the first, and then taken. Others take its turns.
#[test]
fn bitmap_passes_over_a_trimmed_value_four_times() {
    let mut draws = Draws::new(3);
    let mut selector = made("bitmap", 1, &mut draws);
    selector.on_feedback(NOW, 5, Feedback::Trimmed);
    let mut taken = Vec::new();
    for lap in 0..6 {
        let values = if lap < 4 { 63 } else { 64 };
        taken.push((0..values).filter(|_| selector.next(NOW, &mut draws) == 5).count());
    }
    assert_eq!(taken, [0, 0, 0, 0, 1, 1]);
}

/// Trims in front of the last link say nothing of the path: every way leads there.
#[test]
fn the_last_hop_is_no_reason_to_leave_a_path() {
    for name in ["bitmap", "mrc"] {
        let mut draws = Draws::new(3);
        let mut selector = made(name, 1, &mut draws);
        selector.on_feedback(NOW, 5, Feedback::TrimmedAtLastHop);
        let values = if name == "mrc" { 128 } else { 64 };
        let lap: BTreeSet<u16> = (0..values).map(|_| selector.next(NOW, &mut draws)).collect();
        assert!(lap.contains(&5), "{name}");
    }
}

/// What came to the last link without a mark has a way that is free: it is used again, as if the packet had arrived.
#[test]
fn a_value_that_came_to_the_last_link_unmarked_is_used_again() {
    for name in ["reps", "mixed"] {
        let mut draws = Draws::new(3);
        let mut selector = made(name, 1, &mut draws);
        selector.on_feedback(NOW, 4000, Feedback::TrimmedAtLastHop);
        selector.on_feedback(NOW, 4001, Feedback::Trimmed);
        assert_eq!(selector.next(NOW, &mut draws), 4000, "{name}");
        assert!(selector.next(NOW, &mut draws) < 64, "{name}");
    }
}

/// A marked value is skipped once: of the next two laps it is in the second only.
#[test]
fn mrc_skips_a_marked_value_once() {
    let mut draws = Draws::new(3);
    let mut selector = made("mrc", 1, &mut draws);
    selector.on_feedback(NOW, 9, Feedback::Marked);
    let first: BTreeSet<u16> = (0..127).map(|_| selector.next(NOW, &mut draws)).collect();
    assert!(!first.contains(&9) && first.len() == 127);
    let second: BTreeSet<u16> = (0..128).map(|_| selector.next(NOW, &mut draws)).collect();
    assert!(second.contains(&9) && second.len() == 128);
}

/// A value that is assumed bad is probed a timeout later, and comes back with the answer.
#[test]
fn mrc_takes_a_value_back_when_its_probe_is_answered() {
    let mut draws = Draws::new(3);
    let mut selector = made("mrc", 1, &mut draws);
    assert_eq!(selector.next_probe(), None);
    selector.on_feedback(NOW, 9, Feedback::Lost);
    assert_eq!(selector.next_probe(), Some(at_us(100)));
    assert_eq!(selector.poll_probe(at_us(99)), None);
    assert_eq!(selector.poll_probe(at_us(100)), Some(9));
    selector.on_feedback(at_us(101), 9, Feedback::Probed);
    assert_eq!(selector.next_probe(), None);
    let lap: BTreeSet<u16> = (0..128).map(|_| selector.next(NOW, &mut draws)).collect();
    assert!(lap.contains(&9));
}

/// Values are dealt to planes in turn: of any four that follow each other each plane has one.
#[test]
fn the_rotation_of_mrc_deals_planes_evenly() {
    let mut draws = Draws::new(3);
    let mut selector = made("mrc", 4, &mut draws);
    for _ in 0..64 {
        let planes: BTreeSet<u16> = (0..4).map(|_| selector.next(NOW, &mut draws) % 4).collect();
        assert_eq!(planes.len(), 4);
    }
}

/// `mixed` takes what came back unmarked, in order, and `bitmap`'s turn besides.
#[test]
fn mixed_takes_unmarked_values_first() {
    let mut draws = Draws::new(3);
    let mut selector = made("mixed", 1, &mut draws);
    for (value, feedback) in
        [(40, Feedback::Clean), (41, Feedback::Marked), (40, Feedback::Clean), (42, Feedback::Clean)]
    {
        selector.on_feedback(NOW, value, feedback);
    }
    let next: Vec<u16> = (0..3).map(|_| selector.next(NOW, &mut draws)).collect();
    assert_eq!(next, [40, 40, 42]);
}

/// 8192 values over 64,000 draws: 7.8 each, and no value has more than 30 (Poisson, below 1e-5 for all).
#[test]
fn random_values_are_uniform() {
    let mut draws = Draws::new(3);
    let mut selector = made("random", 1, &mut draws);
    let mut counts: BTreeMap<u16, u32> = BTreeMap::new();
    (0..64_000).for_each(|_| *counts.entry(selector.next(NOW, &mut draws)).or_default() += 1);
    assert!(counts.keys().all(|&value| value < 8192) && counts.len() > 8_000);
    assert!(counts.values().all(|&count| count < 31));
}

#[test]
fn numbers_of_values_must_be_powers_of_two_where_bits_are_turned_over() {
    for (name, refused) in
        [("oblivious", true), ("bitmap", true), ("mixed", true), ("reps", false), ("mrc", false)]
    {
        let document = serde_json::json!({ "algorithm": name, "values": 48 });
        let config: PathSelectorConfig = serde_json::from_value(document).unwrap();
        assert_eq!(config.check_together().is_err(), refused, "{name}");
    }
}
