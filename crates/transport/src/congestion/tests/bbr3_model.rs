//! Single rules of BBR's model and of what leaves at once, apart from the course of a connection.

use super::short_term::ShortTerm;
use super::tests::{RATE, RTT, controller, link_in, link_of, loss, round_end, start};
use super::*;
use crate::congestion::path_model::Bandwidth;
use crate::congestion::testing::{SEGMENT, episode, plain_ack};
use crate::congestion::{LostSegment, RateSample};
use std::collections::BTreeMap;

/// Draft section 5.6.3: what leaves at once takes a millisecond at the rate, in whole segments here, but is no less than two
/// segments and no more than 64 kB. The first rate is the initial window of ten segments times the gain of Startup, 2.77,
/// per millisecond, or per RTT.
#[test]
fn a_millisecond_of_the_rate_leaves_at_once() {
    let mut bbr = controller();
    assert_eq!(bbr.send_quantum(), 27 * SEGMENT);
    bbr.on_established(Instant::ZERO, Some(RTT));
    assert_eq!(bbr.send_quantum(), 2 * SEGMENT);
    let fast = Bbr3Parameters { startup_gain: 10.0, ..Bbr3Parameters::default() };
    assert_eq!(Bbr3::new(&fast, start(1, true)).send_quantum(), 65 * SEGMENT);
}

/// Draft sections 5.5.8.1 and 5.6.4.2: hosts hold three quanta, which are in flight also where the product is small, and UP has
/// two segments more. At 99 % of ten segments per millisecond a quantum is nine segments, at 1.25 times that twelve.
#[test]
fn three_quanta_are_in_flight_on_the_shortest_path() {
    let mut link = link_of(Span::from_us(100), 1);
    let mut largest = BTreeMap::new();
    link.run(Instant::ZERO + Span::from_secs(1), |link| {
        let entry: &mut u64 = largest.entry(link.controller.state.name()).or_default();
        *entry = link.controller.cwnd.max(*entry);
    });
    assert_eq!((largest["probe-bw cruise"], largest["probe-bw up"]), (27 * SEGMENT, 38 * SEGMENT));
}

/// Draft section 5.5.5: where the application had too little to send, a sample counts if it is as large as the largest.
#[test]
fn a_larger_sample_counts_though_the_application_limits_it() {
    let mut link = link_in(State::Cruise);
    for (share, largest) in [(1.5, 1.5), (1.2, 1.5), (1.6, 1.6)] {
        let ack = round_end(&link, share, (0, 200));
        let rate = ack.rate.map(|rate| RateSample { app_limited: true, ..rate });
        link.controller.on_ack(&Ack { rate, ..ack });
        let share_of_rate = link.controller.max_bw.max().as_bps() / RATE.as_bps() as f64;
        assert!((share_of_rate - largest).abs() < 0.01, "{share}: {share_of_rate}");
    }
}

/// Draft section 5.3.3.3: REFILL lasts a round, so that the pipe is full when UP begins.
#[test]
fn refill_lasts_a_round() {
    let mut link = link_in(State::Refill);
    for (ms, state) in [(18, State::Refill), (4, State::Up)] {
        link.run(link.now + Span::from_ms(ms), |_| ());
        assert_eq!(link.controller.state, state);
    }
}

/// Draft sections 2.12 and 5.5.9: ACKs of 30 segments at once leave room for as many over the rounds that follow, ten in all.
#[test]
fn what_came_at_once_counts_for_ten_rounds() {
    let mut link = link_in(State::Cruise);
    let (now, before) = (link.now, link.controller.cwnd);
    let plain = Ack { in_flight: 200 * SEGMENT, ..plain_ack(now) };
    (0..30).for_each(|_| link.controller.on_ack(&plain));
    let ack = round_end(&link, 1.0, (0, 200));
    // The next round begins with this ACK, of one segment, when a hundred are due.
    let later = now + RTT / 2;
    link.controller.on_ack(&Ack { now: later, rate: ack.rate, ..plain });
    assert!(link.controller.rounds.start);
    let grown = (link.controller.cwnd - before) / SEGMENT;
    assert!((25..=31).contains(&grown), "{grown}");
}

/// Draft section 5.5.11.2: bounds that losses before had left are what a spurious episode returns to.
#[test]
fn a_spurious_recovery_gives_back_the_bounds_before_it() {
    let mut link = link_in(State::Cruise);
    let bandwidth = Bandwidth::of(90 * SEGMENT, RTT / 2).expect("a bandwidth");
    link.controller.short_term = ShortTerm { bandwidth: Some(bandwidth), inflight: 300 * SEGMENT };
    let now = link.now;
    let mark = loss(&link, (5, 200), 0);
    link.controller.on_segment_lost(&mark);
    link.controller.on_loss(&episode(now, 200 * SEGMENT));
    let ack = round_end(&link, 0.5, (5, 200));
    link.controller.on_ack(&ack);
    link.controller.on_segment_lost(&LostSegment { delivered: mark.delivered + SEGMENT, ..mark });
    let bound = link.controller.short_term;
    assert!(bound.bandwidth.is_some_and(|bound| bound < bandwidth) && bound.inflight < 300 * SEGMENT);
    link.controller.on_undo(now);
    let bound = link.controller.short_term;
    assert_eq!(bound.bandwidth.map(Bandwidth::as_bps), Some(bandwidth.as_bps()));
    assert_eq!(bound.inflight, 300 * SEGMENT);
}
