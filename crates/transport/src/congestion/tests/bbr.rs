use crate::congestion::testing::{Bottleneck, MSS, SEGMENT, episode, plain_ack};
use crate::congestion::{Ack, Bbr, CongestionControl, RateSample, Recovery};
use anabranch_units::{Instant, Rate, Span};
use std::collections::BTreeSet;

/// 10,000 segments a second: with 20 ms a bandwidth-delay product of 200 segments.
const RATE: Rate = Rate::from_bps(80_000_000);
const RTT: Span = Span::from_ms(20);
const BDP: u64 = 200;

fn link(seed: u64) -> Bottleneck<Bbr> {
    Bottleneck::new(Bbr::new(MSS, 10 * SEGMENT, seed), RATE, RTT)
}

fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

/// Pacing rate in parts of the link's.
fn pacing(link: &Bottleneck<Bbr>) -> f64 {
    let rate = link.controller.pacing_rate().expect("BBR paces");
    rate.as_bps() as f64 / RATE.as_bps() as f64
}

/// Draft section 4.2.1: 2.885 initial windows per RTT, or per millisecond; Linux paces 1 % below.
#[test]
fn the_first_rate_comes_from_the_initial_window() {
    let mut bbr = Bbr::new(MSS, 10 * SEGMENT, 0);
    let per_ms = 2.885 * 0.99 * 80_000.0 * 1000.0;
    let rate = |bbr: &Bbr| bbr.pacing_rate().expect("BBR paces").as_bps() as f64;
    assert!((rate(&bbr) / per_ms - 1.0).abs() < 1e-6);
    bbr.on_established(Instant::ZERO, Some(RTT));
    assert!((rate(&bbr) / (per_ms / 20.0) - 1.0).abs() < 1e-6);
}

/// Startup doubles the rate per round from ten segments: log2(200 / 10) = 4.3 rounds, then three without
/// growth, then Drain. The queue of at most 2.885 - 1 products is gone some rounds later.
#[test]
fn startup_fills_the_pipe_and_drain_empties_the_queue() {
    let mut link = link(1);
    let mut highest = 0.0_f64;
    let mut longest = Span::ZERO;
    let mut drain_began = None;
    link.run(at_ms(600), |link| {
        highest = highest.max(pacing(link));
        longest = longest.max(link.rtt);
        if pacing(link) < 0.5 && highest > 2.0 && drain_began.is_none() {
            drain_began = Some(link.now);
        }
    });
    assert!((2.6..=2.885).contains(&highest), "Startup paces at 2.885 times the bandwidth: {highest}");
    assert!(longest > RTT.scaled(1.5) && longest < RTT.scaled(3.2), "{longest}");
    let drain_began = drain_began.expect("Drain paces at 1/2.885 of the bandwidth");
    assert!(at_ms(120) < drain_began && drain_began < at_ms(350), "{drain_began}");
    assert!(link.rtt < RTT.scaled(1.3), "{}", link.rtt);
}

/// Draft sections 4.2.3 and 4.3.4: twice the product and three quanta of two segments; gains 1.25, 0.75 and six
/// times 1, each for about an RTT, less 1 %.
#[test]
fn probe_bw_cycles_its_gain_around_the_bandwidth() {
    let mut link = link(1);
    link.run(at_ms(1000), |_| ());
    let before = link.delivered;
    let mut ups = 0;
    let mut last = 0.0;
    let mut seen = [0_u32; 3];
    link.run(at_ms(9000), |link| {
        let window = link.controller.cwnd() / SEGMENT;
        assert!((2 * BDP..=2 * BDP + 16).contains(&window), "{window} at {}", link.now);
        let gain = pacing(link) / 0.99;
        let which = [1.25, 0.75, 1.0].iter().position(|g| (gain / g - 1.0).abs() < 0.005);
        seen[which.unwrap_or_else(|| panic!("gain {gain} at {}", link.now))] += 1;
        if gain > 1.2 && last < 1.2 {
            ups += 1;
        }
        last = gain;
    });
    assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
    // Eight phases of 20 ms, of which the draining one may be shorter and the probing one longer.
    assert!((40..=55).contains(&ups), "{ups} cycles in 8 s");
    let goodput = (link.delivered - before) as f64 / 8.0 * 8.0 / RATE.as_bps() as f64;
    assert!(goodput > 0.98, "{goodput}");
}

/// Linux's bbr_quantization_budget(): a pair of segments more in the phase that probes, and none in the others.
#[test]
fn the_probing_phase_has_room_for_a_pair_more() {
    let mut link = link(1);
    link.run(at_ms(1000), |_| ());
    let mut windows = [BTreeSet::new(), BTreeSet::new()];
    link.run(at_ms(3000), |link| {
        let probing = pacing(link) > 1.0;
        windows[usize::from(probing)].insert(link.controller.cwnd() / SEGMENT);
    });
    let [others, probing] = windows.map(|seen| seen.last().copied());
    assert!(others.is_some() && probing == others.map(|window| window + 2), "{others:?}, {probing:?}");
}

/// Draft section 4.3.5. The smallest RTT is that of the handshake, which no data segment repeats, so it expires
/// after 10 s: four segments for at least 200 ms and a round, then on as before.
#[test]
fn an_old_smallest_rtt_is_measured_anew() {
    let mut link = link(1);
    let mut first = None;
    let mut last = None;
    link.run(at_ms(15_000), |link| {
        if link.controller.cwnd() <= 4 * SEGMENT && link.now > at_ms(1000) {
            first = first.or(Some(link.now));
            last = Some(link.now);
        }
    });
    let (first, last) = (first.expect("ProbeRTT"), last.expect("ProbeRTT"));
    assert!(at_ms(10_000) < first && first < at_ms(10_010), "{first}");
    let spent = last.since(first);
    assert!(spent >= Span::from_ms(200) && spent < Span::from_ms(300), "{spent}");
    assert!(link.controller.cwnd() >= 2 * BDP * SEGMENT);
    assert!(pacing(&link) > 0.7, "low samples of ProbeRTT did not enter the model");
}

/// Draft section 4.3.5, "BBRExitProbeRTT": the window returns at once to what it was (section 4.2.3.4,
/// "BBRRestoreCwnd": cwnd = max(cwnd, prior_cwnd)) instead of growing from four segments by what is delivered; the
/// same ACK then holds it to the target, at least twice the product.
#[test]
fn the_window_returns_at_once_after_probe_rtt() {
    let mut link = link(1);
    let mut before = None;
    let mut small = false;
    let mut after = None;
    link.run(at_ms(12_000), |link| {
        let window = link.controller.cwnd() / SEGMENT;
        if link.controller.phase() == "probe-rtt" {
            small |= window == 4;
        } else if small {
            after = after.or(Some(window));
        } else {
            before = Some(window);
        }
    });
    let (before, after) = (before.expect("ProbeBW"), after.expect("ProbeRTT ends"));
    assert!(before >= 2 * BDP && after >= 2 * BDP, "{before} before, {after} after");
}

/// Draft section 4.2.3.4, "BBRSaveCwnd": a loss while ProbeRTT holds the window at four segments leaves that to which it
/// returns.
#[test]
fn a_loss_in_probe_rtt_leaves_the_window_before_it() {
    let mut link = link(1);
    link.run(at_ms(10_100), |_| ());
    assert_eq!((link.controller.phase(), link.controller.cwnd()), ("probe-rtt", 4 * SEGMENT));
    let lost = episode(link.now, 4 * SEGMENT);
    link.controller.on_loss(&lost);
    let mut after = None;
    link.run(at_ms(11_000), |link| {
        if link.controller.phase() != "probe-rtt" {
            after = after.or(Some(link.controller.cwnd()));
        }
    });
    assert!(after.is_some_and(|window| window >= 2 * BDP * SEGMENT), "{after:?}");
}

/// A longer path shows as a queue until the old smallest RTT expires.
#[test]
fn a_longer_path_is_noticed_after_ten_seconds() {
    let mut link = link(1);
    link.run(at_ms(1000), |_| ());
    link.propagation = Span::from_ms(30);
    link.run(at_ms(13_000), |_| ());
    let window = link.controller.cwnd() / SEGMENT;
    let expected = 2 * BDP * 3 / 2;
    assert!((expected..=expected + 20).contains(&window), "{window}");
}

#[test]
fn a_link_that_slows_down_is_noticed_after_ten_rounds() {
    let mut link = link(1);
    link.run(at_ms(1000), |_| ());
    link.rate = Rate::from_bps(RATE.as_bps() / 2);
    link.run(at_ms(3000), |_| ());
    let gain = pacing(&link) / 0.99;
    assert!([0.625, 0.375, 0.5].iter().any(|g| (gain / g - 1.0).abs() < 0.02), "{gain}");
}

#[test]
fn flows_with_different_seeds_do_not_probe_in_step() {
    let probes = |seed| {
        let mut link = link(seed);
        let mut times = Vec::new();
        link.run(at_ms(1000), |link| {
            if (pacing(link) / 0.99 - 1.25).abs() < 0.01 {
                times.push(link.now);
            }
        });
        times
    };
    assert_eq!(probes(1), probes(1));
    assert!((2..10).any(|seed| probes(seed) != probes(1)));
}

/// Draft section 4.2.3.4: what arrives leaves again; after the first round the window grows by as much; the end
/// of recovery brings the old window back.
#[test]
fn recovery_conserves_packets_and_then_restores_the_window() {
    let mut link = link(1);
    link.run(at_ms(1000), |_| ());
    let before = link.controller.cwnd();
    let (now, delivered) = (link.now, link.delivered);
    let bbr = &mut link.controller;
    // A timer may find the loss: nothing changes until the next ACK.
    bbr.on_loss(&episode(now, 248 * SEGMENT));
    assert_eq!(bbr.cwnd(), before);
    let ack = Ack {
        delivered: 2 * SEGMENT,
        lost: 3 * SEGMENT,
        in_flight: 200 * SEGMENT,
        recovery: Recovery::Fast,
        ..plain_ack(now)
    };
    let sample = |prior: u64, total: u64| RateSample {
        delivered: 100 * SEGMENT,
        interval: RTT,
        prior_delivered: prior,
        total_delivered: total,
        total_lost: 0,
        app_limited: false,
        tx_in_flight: 0,
        lost: 0,
    };
    let entering = sample(delivered - 100 * SEGMENT, delivered + 2 * SEGMENT);
    bbr.on_ack(&Ack { in_flight: 248 * SEGMENT, rate: Some(entering), ..ack });
    assert_eq!(bbr.cwnd(), 250 * SEGMENT, "in flight and delivered");
    // What left before that ACK does not end the round.
    let same_round = sample(delivered + SEGMENT, delivered + 4 * SEGMENT);
    bbr.on_ack(&Ack { rate: Some(same_round), ..ack });
    assert_eq!(bbr.cwnd(), 247 * SEGMENT, "less what was lost");
    // A segment that left after the loss is acknowledged: the round is over, slow start begins.
    let rate = sample(delivered + 10 * SEGMENT, delivered + 110 * SEGMENT);
    bbr.on_ack(&Ack { lost: 0, rate: Some(rate), ..ack });
    assert_eq!(bbr.cwnd(), 249 * SEGMENT);
    // One recovery ends with the ACK that begins the next: no change.
    bbr.on_recovered(now, Recovery::Fast);
    bbr.on_loss(&episode(now, 248 * SEGMENT));
    bbr.on_ack(&Ack { lost: 0, ..ack });
    assert_eq!(bbr.cwnd(), 251 * SEGMENT);
    bbr.on_recovered(now, Recovery::Fast);
    bbr.on_ack(&plain_ack(now));
    assert_eq!(bbr.cwnd(), before + SEGMENT, "and grows");
}

/// As in Linux: what was spurious is taken back with the ACK that shows it, and Startup looks for growth anew.
#[test]
fn an_undo_gives_the_window_back_with_its_ack() {
    let mut link = link(1);
    link.run(at_ms(1000), |_| ());
    let (before, now) = (link.controller.cwnd(), link.now);
    let bbr = &mut link.controller;
    bbr.on_loss(&episode(now, 250 * SEGMENT));
    bbr.on_ack(&Ack { recovery: Recovery::Fast, in_flight: 50 * SEGMENT, ..plain_ack(now) });
    assert_eq!(bbr.cwnd(), 51 * SEGMENT);
    bbr.on_undo(now);
    bbr.on_ack(&plain_ack(now));
    assert_eq!(bbr.cwnd(), before);
}

/// Draft section 4.2.3.4: one segment, and with the first ACK at least four.
#[test]
fn a_timeout_leaves_one_segment_and_the_model() {
    let mut link = link(1);
    link.run(at_ms(1000), |_| ());
    let (before, now) = (link.controller.cwnd(), link.now);
    let bbr = &mut link.controller;
    bbr.on_timeout(&episode(now, 200 * SEGMENT), true);
    assert_eq!(bbr.cwnd(), SEGMENT);
    bbr.on_ack(&Ack { recovery: Recovery::Loss, ..plain_ack(now) });
    assert_eq!(bbr.cwnd(), 4 * SEGMENT);
    bbr.on_ack(&plain_ack(now));
    assert_eq!(bbr.cwnd(), before);
    assert!(pacing(&link) > 0.7);
}

/// Draft section 4.1.1.5: an application that sends little does not make the path look slow, however long; a
/// pause is followed by the bandwidth itself (section 4.3.4.4).
#[test]
fn an_idle_application_does_not_lower_the_estimate() {
    let mut link = link(1);
    link.run(at_ms(1000), |_| ());
    let (mut now, mut delivered) = (link.now, link.delivered);
    let bbr = &mut link.controller;
    for _ in 0..100 {
        now = now + RTT;
        let rate = RateSample {
            delivered: SEGMENT,
            interval: RTT,
            prior_delivered: delivered,
            total_delivered: delivered + SEGMENT,
            total_lost: 0,
            app_limited: true,
            tx_in_flight: 0,
            lost: 0,
        };
        delivered += SEGMENT;
        bbr.on_ack(&Ack { rtt: Some(RTT), rate: Some(rate), cwnd_limited: false, ..plain_ack(now) });
    }
    bbr.on_restart_after_idle(now + Span::from_secs(1), Span::from_secs(1), Span::from_ms(200));
    assert!((pacing(&link) / 0.99 - 1.0).abs() < 0.005, "{}", pacing(&link));
}

/// Draft section 4.3.4.4: the restart after a pause is over with the first data delivered behind it, and the smallest RTT
/// is measured anew as ever (section 4.3.5).
#[test]
fn a_smallest_rtt_is_measured_anew_after_a_pause() {
    let mut link = link(1);
    link.run(at_ms(1000), |_| ());
    link.controller.on_restart_after_idle(link.now, Span::from_secs(1), Span::from_ms(200));
    let mut measures = false;
    link.run(at_ms(15_000), |link| {
        measures |= link.now > at_ms(9_000) && link.controller.cwnd() <= 4 * SEGMENT
    });
    assert!(measures);
}

/// Draft section 4.2.3.6, "BBRSetCwnd": before an initial window is delivered the window grows, whatever the model says.
/// One segment per round trip makes its product no larger than the initial window.
#[test]
fn the_window_grows_until_an_initial_one_is_delivered() {
    let mut bbr = Bbr::new(MSS, 10 * SEGMENT, 0);
    bbr.on_established(Instant::ZERO, Some(RTT));
    let mut windows = Vec::new();
    for round in 1..=12 {
        let rate = RateSample {
            delivered: SEGMENT,
            interval: RTT,
            prior_delivered: (round - 1) * SEGMENT,
            total_delivered: round * SEGMENT,
            total_lost: 0,
            app_limited: true,
            tx_in_flight: 0,
            lost: 0,
        };
        bbr.on_ack(&Ack { rtt: Some(RTT), rate: Some(rate), ..plain_ack(at_ms(20 * round)) });
        windows.push(bbr.cwnd() / SEGMENT);
    }
    assert_eq!(windows, [11, 12, 13, 14, 15, 16, 17, 18, 19, 19, 19, 19]);
}
