//! Inside `bbr3`, so that bounds which show only in the window of some states can be read.

use super::*;
use crate::congestion::RateSample;
use crate::congestion::testing::{Bottleneck, MSS, SEGMENT, episode, plain_ack};
use std::collections::BTreeMap;

#[path = "bbr3_phases.rs"]
mod phases;

/// 10,000 segments a second: with 20 ms a bandwidth-delay product of 200 segments.
pub(super) const RATE: Rate = Rate::from_bps(80_000_000);
pub(super) const RTT: Span = Span::from_ms(20);
const BDP: u64 = 200;

pub(super) fn start(seed: u64, sack: bool) -> Start {
    Start { mss: MSS, initial_window: 10 * SEGMENT, paced: false, seed, sack, undo: true }
}

pub(super) fn controller() -> Bbr3 {
    Bbr3::new(&Bbr3Parameters::default(), start(1, true))
}

pub(super) fn link_of(rtt: Span, seed: u64) -> Bottleneck<Bbr3> {
    Bottleneck::new(Bbr3::new(&Bbr3Parameters::default(), start(seed, true)), RATE, rtt)
}

fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

/// Pacing rate in parts of the link's.
fn pacing(bbr: &Bbr3) -> f64 {
    bbr.pacer.rate.as_bps() as f64 / RATE.as_bps() as f64
}

/// Runs until a state has just begun, for at most ten seconds.
fn run_to(link: &mut Bottleneck<Bbr3>, state: State) {
    let end = link.now + Span::from_secs(10);
    while link.now < end {
        let before = link.controller.state;
        link.run(link.now + Span::from_us(100), |_| ());
        if link.controller.state == state && before != state {
            return;
        }
    }
    panic!("no {state:?} until {end}");
}

/// A link in a state, with its round of feedback from the probe begun.
pub(super) fn link_in(state: State) -> Bottleneck<Bbr3> {
    let mut link = link_of(RTT, 1);
    link.run(at_ms(1000), |_| ());
    run_to(&mut link, state);
    link
}

/// A loss that leaves `lost` of `tx_in_flight` segments lost, its own among them.
pub(super) fn loss(link: &Bottleneck<Bbr3>, (lost, tx_in_flight): (u64, u64), start: u64) -> LostSegment {
    LostSegment {
        now: link.now,
        start: start * SEGMENT,
        bytes: SEGMENT,
        tx_in_flight: tx_in_flight * SEGMENT,
        lost: lost * SEGMENT,
        app_limited: false,
        delivered: link.delivered,
    }
}

/// An ACK whose segment left when all that is delivered now was: it ends the rounds. It says of `lost` of
/// `tx_in_flight` segments, and of a share of the link's rate.
pub(super) fn round_end(link: &Bottleneck<Bbr3>, share: f64, (lost, tx_in_flight): (u64, u64)) -> Ack {
    let delivered = (BDP as f64 * share) as u64 * SEGMENT;
    let rate = RateSample {
        delivered,
        interval: RTT,
        prior_delivered: link.delivered,
        total_delivered: link.delivered + delivered,
        total_lost: 0,
        app_limited: false,
        tx_in_flight: tx_in_flight * SEGMENT,
        lost: lost * SEGMENT,
    };
    Ack {
        in_flight: BDP * SEGMENT,
        in_flight_before: (BDP + 1) * SEGMENT,
        rate: Some(rate),
        recovery: Recovery::Fast,
        window_full: false,
        ..plain_ack(link.now)
    }
}

/// Draft section 5.6.2, "InitPacingRate": 2.77 initial windows per RTT, or per millisecond.
#[test]
fn the_first_rate_is_the_initial_window_times_the_gain_of_startup() {
    let mut bbr = controller();
    let per_ms = 2.77 * 80_000.0 * 1000.0;
    assert!((bbr.pacer.rate.as_bps() as f64 / per_ms - 1.0).abs() < 1e-6);
    bbr.on_established(Instant::ZERO, Some(RTT));
    assert!((bbr.pacer.rate.as_bps() as f64 / (per_ms / 20.0) - 1.0).abs() < 1e-6);
    let fast = Bbr3Parameters { startup_gain: 5.0, ..Bbr3Parameters::default() };
    let fast = Bbr3::new(&fast, start(1, true));
    assert!((fast.pacer.rate.as_bps() as f64 / (per_ms / 2.77 * 5.0) - 1.0).abs() < 1e-6);
}

/// Draft sections 5.3.1 and 5.3.2: from ten segments log2(200 / 10) = 4.3 rounds, then three without growth; the window
/// of two products bounds the queue to one (and what is allowed for quanta); Drain takes about a round.
#[test]
fn startup_queues_one_product_and_drain_empties_the_queue() {
    let mut link = link_of(RTT, 1);
    let (mut highest, mut longest) = (0.0_f64, Span::ZERO);
    let mut drain = Vec::new();
    link.run(at_ms(600), |link| {
        highest = highest.max(pacing(&link.controller));
        if link.controller.state == State::Startup {
            longest = longest.max(link.rtt);
        }
        if link.controller.state == State::Drain {
            assert!((pacing(&link.controller) / 0.99 - 0.5).abs() < 0.01, "Drain paces at a half");
            drain.push(link.now);
        }
    });
    assert!((2.6..=2.77).contains(&highest), "{highest}");
    assert!(longest > RTT.scaled(1.7) && longest < RTT.scaled(2.2), "{longest}");
    assert!(at_ms(120) < drain[0] && drain[0] < at_ms(350), "{}", drain[0]);
    let spent = drain[drain.len() - 1].since(drain[0]);
    assert!(spent > Span::ZERO && spent < RTT.scaled(3.0), "{spent}");
    assert!(link.rtt < RTT.scaled(1.1), "{}", link.rtt);
}

/// Draft section 5.3.2, "CheckDrainDone": data that do not drain are waited for three rounds.
#[test]
fn drain_ends_after_three_rounds_whatever_is_in_flight() {
    let mut link = link_of(RTT, 1);
    run_to(&mut link, State::Drain);
    for round in 1..=4 {
        assert_eq!(link.controller.state, State::Drain, "round {round}");
        let ack = round_end(&link, 1.0, (0, 400));
        link.delivered += BDP * SEGMENT;
        link.controller.on_ack(&Ack { in_flight: 400 * SEGMENT, ..ack });
    }
    assert_eq!(link.controller.state, State::Down);
}

/// Draft section 5.6.1: the gains of pacing rate, less 1 %, and of the window in each state; section 5.3.3.3: REFILL
/// lasts a round; section 5.1.1: the order.
#[test]
fn the_states_of_probe_bw_follow_each_other_with_their_gains() {
    let mut link = link_of(RTT, 1);
    link.run(at_ms(1000), |_| ());
    let mut order = Vec::new();
    let mut windows = BTreeMap::new();
    let mut refill = Vec::new();
    link.run(at_ms(5000), |link| {
        let bbr = &link.controller;
        if order.last() != Some(&bbr.state.name()) {
            order.push(bbr.state.name());
        }
        let gain = match bbr.state {
            State::Down => 0.9,
            State::Up => 1.25,
            _ => 1.0,
        };
        let bandwidth = bbr.bw.as_bps() / RATE.as_bps() as f64;
        assert!((pacing(bbr) / (0.99 * gain * bandwidth) - 1.0).abs() < 1e-6, "{:?}", bbr.state);
        assert!((bandwidth - 1.0).abs() < 0.02, "{bandwidth}");
        windows.insert(bbr.state.name(), bbr.cwnd / SEGMENT);
        if bbr.state == State::Refill {
            refill.push(bbr.rounds.count);
        }
    });
    let turn = ["probe-bw cruise", "probe-bw refill", "probe-bw up", "probe-bw down"];
    assert!(order.len() > 8, "{order:?}");
    let first = turn.iter().position(|state| *state == order[0]).expect("ProbeBW");
    for (index, state) in order.iter().enumerate() {
        assert_eq!(*state, turn[(first + index) % 4], "{order:?}");
    }
    refill.dedup();
    assert!(refill.windows(2).all(|pair| pair[1] > pair[0] + 1), "one round each: {refill:?}");
    let near = |state: &str, gain: f64| {
        let product = BDP as f64 * gain;
        (product * 0.98..=product * 1.02 + 16.0).contains(&(windows[state] as f64))
    };
    assert!(near(turn[0], 2.0) && near(turn[2], 2.25), "{windows:?}");
}

/// Draft section 5.3.3.8: a probe each 62 to 63 rounds at a long product, as many rounds as a short one has segments, but
/// at most 2 to 3 s; Startup and the drawing of waits are in `probe_bw.rs`.
#[test]
fn probes_wait_as_long_as_reno_would_need_and_at_most_three_seconds() {
    // In rounds, and in seconds. The RTT of 1 ms gives a product of ten or eleven segments.
    for (rtt_ms, rounds, seconds) in
        [(20, 62..=63, 1.24..=1.35), (100, 20..=31, 2.0..=3.0), (1, 9..=11, 0.009..=0.03)]
    {
        let mut link = link_of(Span::from_ms(rtt_ms), 5);
        let (mut waits, mut began, mut last) = (Vec::new(), None, State::Startup);
        link.run(at_ms(20_000), |link| {
            let (state, count) = (link.controller.state, link.controller.rounds.count);
            if state != last && (state == State::Down || last == State::ProbeRtt) {
                began = Some((link.now, count));
            }
            if let Some((at, before)) = began.filter(|_| state == State::Refill && last != state) {
                waits.push((count - before, link.now.since(at).as_ps() as f64 / 1e12));
            }
            last = state;
        });
        assert!(waits.len() >= 3, "{rtt_ms} ms: {waits:?}");
        for wait in waits {
            assert!(rounds.contains(&wait.0) && seconds.contains(&wait.1), "{rtt_ms} ms: {wait:?}");
        }
    }
}

#[test]
fn flows_with_different_seeds_do_not_probe_in_step() {
    let first = |seed| {
        let mut link = link_of(Span::from_ms(100), seed);
        run_to(&mut link, State::Refill);
        link.now
    };
    assert_eq!(first(1), first(1));
    assert!((2..6).any(|seed| first(seed) != first(1)));
}

/// Draft section 5.3.1.3: more than 2 % lost, in at least six ranges, at the end of a round in fast recovery; then the
/// bound is what the round delivered, or the product if that is more.
#[test]
fn startup_ends_when_a_round_loses_too_much() {
    let after = |ranges: u64, lost: u64, recovery: Recovery| {
        let mut link = link_of(RTT, 1);
        link.run(at_ms(70), |_| ());
        assert_eq!(link.controller.state, State::Startup);
        for range in 0..ranges {
            let mark = loss(&link, (1, 100), 2 * range);
            link.controller.on_segment_lost(&mark);
            // The next segment is of the same range.
            link.controller.on_segment_lost(&LostSegment { start: mark.start + SEGMENT, ..mark });
        }
        let mut ack = round_end(&link, 0.4, (lost, 100));
        ack.recovery = recovery;
        link.controller.on_ack(&ack);
        link.controller
    };
    // Joined ranges: 0-1, 2-3 and so on are one.
    assert_eq!(after(6, 3, Recovery::Fast).state, State::Startup);
    let apart = |ranges: u64, lost: u64, recovery: Recovery, sack: bool| {
        let mut link = Bottleneck::new(Bbr3::new(&Bbr3Parameters::default(), start(1, sack)), RATE, RTT);
        link.run(at_ms(70), |_| ());
        for range in 0..ranges {
            let mark = loss(&link, (1, 100), 3 * range);
            link.controller.on_segment_lost(&mark);
        }
        let mut ack = round_end(&link, 0.4, (lost, 100));
        ack.recovery = recovery;
        let product = link.controller.bdp(link.controller.bw, 1.0);
        link.controller.on_ack(&ack);
        (link.controller, product)
    };
    for (ranges, lost, recovery) in
        [(5, 3, Recovery::Fast), (6, 2, Recovery::Fast), (6, 3, Recovery::Open), (6, 3, Recovery::Loss)]
    {
        let (bbr, _) = apart(ranges, lost, recovery, true);
        assert_eq!(
            (bbr.state, bbr.full_pipe.reached),
            (State::Startup, false),
            "{ranges} {lost} {recovery:?}"
        );
    }
    let (bbr, product) = apart(6, 3, Recovery::Fast, true);
    assert_eq!((bbr.state, bbr.full_pipe.reached), (State::Drain, true));
    assert_eq!(bbr.long_term.inflight, product.max(80 * SEGMENT));
    // Without SACK one loss is all that can be seen.
    let (bbr, _) = apart(1, 1, Recovery::Fast, false);
    assert_eq!(bbr.state, State::Drain);
}

/// Draft section 5.5.10.2, in segments. Of 180 in flight 3.6 may be lost: the fourth is too many, and the threshold was
/// passed (0.02 x 179 - 3) / 0.98 = 0.5918 segments into it. Of 120 the third is, but beta leaves 0.7 x 200.
#[test]
fn losses_of_a_probe_cut_the_long_term_bound_by_beta_at_most() {
    for (tx_in_flight, lost, bound) in [(180, 4, Some(179_591)), (120, 3, None), (180, 3, Some(u64::MAX))] {
        let mut link = link_in(State::Up);
        assert!(link.controller.long_term.probe_sample);
        let floor = (link.controller.target_inflight() as f64 * 0.7) as u64;
        assert!((139..=142).contains(&(floor / SEGMENT)), "{floor}");
        let mark = loss(&link, (lost, tx_in_flight), 0);
        link.controller.on_segment_lost(&mark);
        let bbr = &link.controller;
        assert_eq!(bbr.long_term.inflight, bound.unwrap_or(floor), "{lost} of {tx_in_flight}");
        let goes_down = bound != Some(u64::MAX);
        assert_eq!(bbr.state == State::Down, goes_down);
        assert_eq!(bbr.long_term.too_high, goes_down);
        // Once for a probe.
        let before = bbr.long_term.inflight;
        if goes_down {
            let mark = loss(&link, (100, 180), 7);
            link.controller.on_segment_lost(&mark);
            assert_eq!(link.controller.long_term.inflight, before);
        }
    }
    // What the application limited says nothing of the bound (appendix A.6: the state ends all the same).
    let mut link = link_in(State::Up);
    let mark = LostSegment { app_limited: true, ..loss(&link, (4, 180), 0) };
    link.controller.on_segment_lost(&mark);
    assert_eq!((link.controller.state, link.controller.long_term.inflight), (State::Down, u64::MAX));
}

/// Draft sections 5.6.4.7 and 2.8: CRUISE leaves 15 % of the bound free, DOWN and REFILL none; DOWN waits for that room.
#[test]
fn cruise_leaves_headroom_below_the_bound() {
    let mut link = link_in(State::Up);
    let mark = loss(&link, (4, 180), 0);
    link.controller.on_segment_lost(&mark);
    link.controller.on_recovered(link.now, Recovery::Fast);
    link.controller.long_term.inflight = 250 * SEGMENT;
    let mut largest = BTreeMap::new();
    let mut began_with = None;
    link.run(link.now + Span::from_ms(1400), |link| {
        let bbr = &link.controller;
        if bbr.state == State::Cruise {
            began_with.get_or_insert(link.in_flight() / SEGMENT);
        }
        let window = largest.entry(bbr.state.name()).or_insert(0);
        *window = bbr.cwnd.max(*window);
    });
    assert_eq!(largest["probe-bw cruise"], 250 * SEGMENT * 85 / 100, "{largest:?}");
    assert!((249 * SEGMENT..=251 * SEGMENT).contains(&largest["probe-bw refill"]), "{largest:?}");
    assert!(began_with.is_some_and(|segments| segments <= BDP), "{began_with:?}");
}

/// Draft section 5.5.10.3: outside a probe a round with losses leaves what it delivered, and at least beta of the bound;
/// REFILL forgets both bounds (section 5.3.3.3).
#[test]
fn losses_in_cruise_bound_rate_and_inflight_until_the_next_probe() {
    for (share, expected) in [(0.9, 0.9), (0.5, 0.7)] {
        let mut link = link_in(State::Cruise);
        let before = (link.controller.max_bw.max().as_bps(), link.controller.cwnd as f64);
        let mark = loss(&link, (1, 200), 0);
        link.controller.latest = LatestSignals::default();
        link.controller.on_segment_lost(&mark);
        let ack = round_end(&link, share, (1, 200));
        link.controller.on_ack(&ack);
        let bound = link.controller.short_term;
        let bandwidth = bound.bandwidth.expect("a bound").as_bps() / before.0;
        assert!((bandwidth - expected).abs() < 0.01, "{share}: {bandwidth}");
        let inflight = bound.inflight as f64 / before.1;
        assert!((inflight - 0.7).abs() < 0.01, "{share}: {inflight}, of two products");
        assert!((pacing(&link.controller) - 0.99 * expected).abs() < 0.02);
        // Rounds without losses leave it as it is.
        let ack = round_end(&link, 0.3, (0, 200));
        link.controller.on_ack(&ack);
        assert_eq!(link.controller.short_term.inflight, bound.inflight);
        link.controller.start_refill();
        assert!(link.controller.short_term.bandwidth.is_none());
        assert_eq!(link.controller.short_term.inflight, u64::MAX);
    }
    // A probe has its own answer.
    let mut link = link_in(State::Up);
    let mark = loss(&link, (1, 200), 0);
    link.controller.on_segment_lost(&mark);
    let ack = round_end(&link, 0.5, (1, 200));
    link.controller.on_ack(&ack);
    assert!(link.controller.short_term.bandwidth.is_none());
}

/// Draft section 5.3.3.9: a probe that the bound holds back raises it by 1, 2, 4, ... segments a round.
#[test]
fn a_probe_raises_the_bound_faster_each_round() {
    let mut link = link_of(RTT, 1);
    link.run(at_ms(1000), |_| ());
    link.controller.long_term.inflight = 150 * SEGMENT;
    run_to(&mut link, State::Up);
    let mut bounds = vec![link.controller.long_term.inflight];
    let mut round = link.controller.rounds.count;
    let end = link.now + Span::from_ms(110);
    link.run(end, |link| {
        if link.controller.rounds.count > round {
            round = link.controller.rounds.count;
            bounds.push(link.controller.long_term.inflight);
        }
    });
    let grown: Vec<u64> = bounds.windows(2).map(|pair| (pair[1] - pair[0]) / SEGMENT).collect();
    assert!(grown.len() >= 5, "{bounds:?}");
    // A round's raise shows at its end; windows of so few rounds are not whole multiples of a raise.
    for (round, raise) in grown.iter().enumerate().take(5) {
        let expected = 1_u64 << round;
        assert!((expected.saturating_sub(1)..=expected + 1).contains(raise), "{grown:?}");
    }
}

/// Draft section 5.3.3.6: after a probe that lost too much the next one ends where that one did, and if this loses
/// nothing, the one after follows at once.
#[test]
fn the_probe_after_one_that_went_too_high_is_cautious() {
    let mut link = link_in(State::Up);
    let mark = loss(&link, (5, 210), 0);
    link.controller.on_segment_lost(&mark);
    link.controller.on_recovered(link.now, Recovery::Fast);
    let bound = link.controller.long_term.inflight;
    assert!(link.controller.long_term.too_high && bound > 200 * SEGMENT);
    run_to(&mut link, State::Up);
    let began = link.now;
    run_to(&mut link, State::Down);
    assert!(link.now.since(began) < RTT.scaled(2.0), "{}", link.now.since(began));
    assert!(!link.controller.long_term.too_high);
    let mut states = Vec::new();
    link.run(link.now + RTT.scaled(2.5), |link| states.push(link.controller.state));
    states.dedup();
    assert_eq!(states, [State::Down, State::Refill, State::Up], "no CRUISE between them");
}

/// Draft section 5.3.4: after five seconds without a smaller RTT half of the product is in flight, for 200 ms and a round;
/// samples of that time do not count, and what follows is CRUISE at the bandwidth.
#[test]
fn probe_rtt_keeps_half_of_the_product_in_flight_every_five_seconds() {
    let mut link = link_of(RTT, 1);
    let mut spans = Vec::new();
    let mut next = None;
    link.run(at_ms(12_000), |link| {
        let bbr = &link.controller;
        if bbr.state == State::ProbeRtt {
            if spans.last().is_none_or(|(_, last)| link.now.since(*last) > Span::from_ms(100)) {
                spans.push((link.now, link.now));
            }
            spans.last_mut().expect("one").1 = link.now;
            assert!(bbr.cwnd <= BDP * SEGMENT / 2 + SEGMENT, "{}", bbr.cwnd);
            next = None;
        } else if !spans.is_empty() {
            next.get_or_insert(bbr.state);
        }
    });
    assert_eq!(spans.len(), 2, "{spans:?}");
    assert!(spans[0].0 > at_ms(5000) && spans[0].0 < at_ms(5100), "{spans:?}");
    let after = spans[1].0.since(spans[0].1);
    assert!(after > Span::from_ms(4990) && after < Span::from_ms(5100), "{after}");
    for (first, last) in spans {
        let spent = last.since(first);
        assert!(spent >= Span::from_ms(200) && spent < Span::from_ms(300), "{spent}");
    }
    assert_eq!(next, Some(State::Cruise));
    assert!(link.controller.bw.as_bps() / RATE.as_bps() as f64 > 0.98);
    assert!(link.controller.cwnd >= BDP * SEGMENT * 19 / 10, "{}", link.controller.cwnd);
}

/// Draft section 2.16.1: a path that becomes longer is believed after ten seconds, not after the first ProbeRTT.
#[test]
fn a_longer_path_is_noticed_after_ten_seconds() {
    let mut link = link_of(RTT, 1);
    link.run(at_ms(1000), |_| ());
    link.propagation = Span::from_ms(30);
    link.run(at_ms(9_900), |_| ());
    assert!(link.controller.min_rtt.value < Span::from_ms(21), "{}", link.controller.min_rtt.value);
    link.run(at_ms(16_000), |_| ());
    let min_rtt = link.controller.min_rtt.value;
    assert!(Span::from_ms(30) <= min_rtt && min_rtt < Span::from_ms(33), "{min_rtt}");
}

/// Draft section 5.5.11: what the episode took comes back, and with it the state that its losses ended.
#[test]
fn a_spurious_recovery_gives_everything_back() {
    let mut link = link_in(State::Up);
    link.controller.long_term.inflight = 400 * SEGMENT;
    let before = link.controller.cwnd;
    let mark = loss(&link, (5, 210), 0);
    link.controller.on_segment_lost(&mark);
    link.controller.on_loss(&episode(link.now, 210 * SEGMENT));
    // More losses in a later round of the same recovery, which have nothing to save.
    let ack = round_end(&link, 0.4, (5, 210));
    link.controller.on_ack(&ack);
    link.controller.on_segment_lost(&LostSegment { delivered: mark.delivered + SEGMENT, ..mark });
    let bbr = &link.controller;
    assert!(bbr.long_term.inflight < 215 * SEGMENT && bbr.state == State::Down, "{:?}", bbr.state);
    link.controller.on_undo(link.now);
    let bbr = &link.controller;
    assert_eq!((bbr.state, bbr.long_term.inflight), (State::Refill, 400 * SEGMENT));
    assert!(bbr.cwnd >= before && bbr.short_term.bandwidth.is_none());

    // Startup, which six ranges ended.
    let mut link = link_of(RTT, 1);
    link.run(at_ms(70), |_| ());
    for range in 0..6 {
        let mark = loss(&link, (1, 100), 3 * range);
        link.controller.on_segment_lost(&mark);
    }
    let ack = round_end(&link, 0.4, (3, 100));
    link.controller.on_ack(&ack);
    assert_eq!(link.controller.state, State::Drain);
    link.controller.on_undo(link.now);
    let bbr = &link.controller;
    assert_eq!((bbr.state, bbr.full_pipe.reached), (State::Startup, false));
    assert_eq!(bbr.long_term.inflight, u64::MAX);
}

/// Draft section 5.6.4.4: fast recovery leaves the window to the model; a timeout leaves a segment more than is in flight,
/// the next ACK at least four, and the end of recovery brings the old window back.
#[test]
fn recovery_ends_with_the_window_it_began_with() {
    let mut link = link_in(State::Cruise);
    let (before, now) = (link.controller.cwnd, link.now);
    let bbr = &mut link.controller;
    bbr.on_loss(&episode(now, 200 * SEGMENT));
    assert_eq!(bbr.cwnd, before);
    bbr.on_timeout(&LossEpisode { in_flight: 0, ..episode(now, 200 * SEGMENT) }, false);
    assert_eq!(bbr.cwnd, SEGMENT);
    bbr.on_ack(&Ack { recovery: Recovery::Loss, ..plain_ack(now) });
    assert_eq!(bbr.cwnd, 4 * SEGMENT);
    bbr.on_recovered(now, Recovery::Loss);
    assert_eq!(bbr.cwnd, before);
}

/// Draft section 3.7: a mark is congestion, here as a loss rate above the threshold.
#[test]
fn a_mark_is_answered_as_losses_above_the_threshold() {
    let mut link = link_in(State::Up);
    assert!(link.controller.answers_marks());
    link.controller.on_ecn(&episode(link.now, 230 * SEGMENT));
    assert_eq!((link.controller.state, link.controller.long_term.inflight), (State::Down, 230 * SEGMENT));

    let mut link = link_in(State::Cruise);
    link.controller.on_ecn(&episode(link.now, 200 * SEGMENT));
    let ack = round_end(&link, 0.5, (0, 200));
    link.controller.on_ack(&ack);
    assert!(link.controller.short_term.bandwidth.is_some());

    let mut link = link_of(RTT, 1);
    link.run(at_ms(70), |_| ());
    link.controller.on_ecn(&episode(link.now, 100 * SEGMENT));
    let ack = round_end(&link, 0.4, (0, 100));
    link.controller.on_ack(&ack);
    assert_eq!(link.controller.state, State::Drain);
}

/// Draft sections 5.4.1 and 5.3.4.2: after a pause at the bandwidth itself, and the pause was ProbeRTT enough.
#[test]
fn a_pause_is_followed_by_the_bandwidth_and_no_probe_rtt() {
    for idle in [true, false] {
        let mut link = link_in(State::Up);
        let now = link.now + Span::from_secs(6);
        if idle {
            link.controller.on_restart_after_idle(now, Span::from_secs(6), Span::from_ms(200));
            assert!((pacing(&link.controller) / 0.99 - 1.0).abs() < 0.02, "{}", pacing(&link.controller));
        }
        let ack = Ack { now, rtt: Some(RTT), ..round_end(&link, 1.0, (0, 200)) };
        link.controller.on_ack(&ack);
        assert_eq!(link.controller.state == State::ProbeRtt, !idle);
        // Once something is delivered the pause is over.
        assert!(!link.controller.idle_restart);
    }
}

/// Draft section 5.5.4: an application that sends little does not make the path look slow.
#[test]
fn an_idle_application_does_not_lower_the_estimate() {
    let mut link = link_in(State::Cruise);
    let before = link.controller.max_bw.max();
    for _ in 0..200 {
        let mut ack = round_end(&link, 0.01, (0, 2));
        link.delivered += 2 * SEGMENT;
        ack.rate = ack.rate.map(|rate| RateSample { app_limited: true, ..rate });
        link.controller.on_ack(&Ack { rtt: Some(RTT), now: link.now, ..ack });
    }
    assert_eq!(link.controller.max_bw.max(), before);
}

/// Draft section 5.5.6: the maximum of two cycles. A link of half the rate shows when the cycle that saw the old rate and
/// the next are over.
#[test]
fn a_slower_link_is_noticed_after_two_cycles() {
    let mut link = link_in(State::Cruise);
    link.rate = Rate::from_bps(RATE.as_bps() / 2);
    run_to(&mut link, State::Up);
    assert!(link.controller.max_bw.max().as_bps() > 0.98 * RATE.as_bps() as f64);
    let cycles = link.controller.cycle.count;
    let end = link.now + Span::from_secs(9);
    let mut noticed = None;
    link.run(end, |link| {
        if link.controller.max_bw.max().as_bps() < 0.55 * RATE.as_bps() as f64 {
            noticed.get_or_insert(link.controller.cycle.count);
        }
    });
    assert_eq!(noticed, Some(cycles + 2));
}

/// Draft section 5.5.9: ACKs of 30 segments that come at once leave room for as many above two products.
#[test]
fn acks_that_come_together_are_bridged_by_a_larger_window() {
    let mut link = link_in(State::Cruise);
    let now = link.now;
    let before = link.controller.cwnd;
    for _ in 0..30 {
        link.controller.on_ack(&Ack { in_flight: BDP * SEGMENT, ..plain_ack(now) });
    }
    let grown = (link.controller.cwnd - before) / SEGMENT;
    assert!((25..=30).contains(&grown), "{grown}");
}
