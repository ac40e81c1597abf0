//! What must hold for every registered controller, whatever it is told.

use super::testing::{MSS, SEGMENT};
use super::{
    Ack, CongestionControl, Controller, Coupling, CubicParameters, EcnFeedback, LossEpisode, LostSegment,
    NewRenoParameters, RateSample, Recovery, Start,
};
use crate::CongestionConfig;
use anabranch_units::{Instant, Span};
use proptest::prelude::*;

/// One call of the trait, a time after the last.
#[derive(Clone, Debug)]
enum Call {
    Ack(Ack),
    Loss(LossEpisode),
    SegmentLost(LostSegment),
    Ecn(LossEpisode),
    EcnFeedback(EcnFeedback),
    Timeout(LossEpisode, bool),
    Recovered(Recovery),
    Undo,
    Idle(Span),
    ForgetGrowth(u64),
    Couple(Coupling),
    Penalise,
    Established(Option<Span>),
}

/// Every registered algorithm with its defaults, and some with other options.
fn registered() -> Vec<CongestionConfig> {
    let cubic = |hystart, beta, c| {
        CongestionConfig::Cubic(CubicParameters {
            hystart,
            beta,
            c,
            fast_convergence: hystart,
            reno_friendly: true,
            beta_ecn: beta,
        })
    };
    let defaults =
        CongestionConfig::NAMES.iter().map(|name| CongestionConfig::named(name).expect("registered"));
    let mut configs: Vec<CongestionConfig> = defaults.collect();
    assert!(configs.len() >= 7);
    configs.extend([
        CongestionConfig::NewReno(NewRenoParameters { hystart: true, beta_ecn: 0.8 }),
        cubic(false, 0.7, 0.4),
        cubic(false, 0.01, 1e6),
    ]);
    configs
}

/// The controller of a configuration, for segments of `MSS` bytes.
fn controller(config: &CongestionConfig, seed: u64) -> Controller {
    Controller::new(
        config,
        Start { mss: MSS, initial_window: 10 * SEGMENT, paced: false, seed, sack: seed % 2 == 1, undo: true },
    )
}

fn recovery() -> impl Strategy<Value = Recovery> {
    prop_oneof![Just(Recovery::Open), Just(Recovery::Fast), Just(Recovery::Loss)]
}

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![
        Just(Span::ZERO),
        (1_u64..1_000_000).prop_map(Span::from_ps),
        (1_u64..1_000_000).prop_map(Span::from_us),
        (1_u64..100).prop_map(Span::from_secs),
    ]
}

fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), (1..64_u64).prop_map(|n| n * SEGMENT), 0..10_000_000_000_u64]
}

fn ack() -> impl Strategy<Value = Ack> {
    let counts = (bytes(), bytes(), bytes(), bytes(), bytes(), bytes());
    let times = (span(), proptest::option::of(span()), span());
    let rate = (bytes(), span(), bytes(), bytes(), any::<bool>(), (bytes(), bytes()));
    let rest = (any::<bool>(), recovery(), proptest::option::of(rate));
    (counts, times, rest).prop_map(|(counts, (since, rtt, srtt), (cwnd_limited, recovery, rate))| {
        let (delivered, lost, in_flight_before, in_flight, snd_una, ahead) = counts;
        Ack {
            now: Instant::ZERO + since,
            acked: delivered,
            delivered,
            growth: delivered,
            lost,
            in_flight_before,
            in_flight,
            rtt,
            srtt,
            min_rtt: srtt,
            snd_una,
            snd_nxt: snd_una + ahead,
            cwnd_limited,
            window_full: cwnd_limited,
            recovery,
            rate: rate.map(|(delivered, interval, prior_delivered, more, app_limited, then)| RateSample {
                delivered,
                interval,
                prior_delivered,
                total_delivered: prior_delivered + more,
                total_lost: 0,
                app_limited,
                tx_in_flight: then.0,
                lost: then.1,
            }),
        }
    })
}

fn lost_segment() -> impl Strategy<Value = LostSegment> {
    (span(), bytes(), bytes(), bytes(), (bytes(), bytes()), any::<bool>()).prop_map(
        |(since, start, len, more, (earlier, delivered), app_limited)| LostSegment {
            now: Instant::ZERO + since,
            start,
            bytes: len,
            tx_in_flight: len + more,
            lost: len + earlier,
            app_limited,
            delivered,
        },
    )
}

fn loss_episode() -> impl Strategy<Value = LossEpisode> {
    (span(), bytes(), bytes()).prop_map(|(since, in_flight, lost)| LossEpisode {
        now: Instant::ZERO + since,
        flight_size: in_flight + lost,
        in_flight,
        snd_nxt: in_flight,
        total_lost: lost,
    })
}

/// The sums over subflows of such windows, in bytes, and round-trip times, in seconds, as seen by the first; or none
/// yet.
fn coupling() -> impl Strategy<Value = Coupling> {
    let subflow = (1_u64..100_000, 1e-6..100.0_f64);
    let subflows = prop::collection::vec(subflow, 0..6);
    (subflows, -1.0..1.0_f64).prop_map(|(subflows, olia_alpha)| {
        let rates = subflows.iter().map(|&(segments, rtt)| ((segments * SEGMENT) as f64 / rtt, rtt));
        let mut coupling = Coupling { olia_alpha, ..Coupling::default() };
        for (index, (rate, rtt)) in rates.enumerate() {
            if index == 0 {
                (coupling.rate, coupling.gain) = (rate, rate / rtt);
            }
            coupling.total_rate += rate;
            coupling.max_rate = coupling.max_rate.max(rate);
            coupling.max_gain = coupling.max_gain.max(rate / rtt);
        }
        coupling
    })
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        8 => ack().prop_map(Call::Ack),
        1 => loss_episode().prop_map(Call::Loss),
        3 => lost_segment().prop_map(Call::SegmentLost),
        1 => loss_episode().prop_map(Call::Ecn),
        2 => (bytes(), any::<bool>(), bytes(), bytes())
            .prop_map(|(acked, echo, snd_una, snd_nxt)| EcnFeedback { acked, echo, snd_una, snd_nxt })
            .prop_map(Call::EcnFeedback),
        1 => (loss_episode(), any::<bool>()).prop_map(|(episode, first)| Call::Timeout(episode, first)),
        1 => recovery().prop_map(Call::Recovered),
        1 => Just(Call::Undo),
        1 => span().prop_map(Call::Idle),
        1 => bytes().prop_map(Call::ForgetGrowth),
        2 => coupling().prop_map(Call::Couple),
        1 => Just(Call::Penalise),
        1 => proptest::option::of(span()).prop_map(Call::Established),
    ]
}

/// What is known of the other subflows counts for the ACKs and losses that follow.
fn couple(controller: &mut Controller, coupling: &Coupling) {
    let state = |c: &Controller| (c.cwnd(), c.ssthresh(), c.loss_interval());
    let before = state(controller);
    controller.couple(coupling);
    assert!(state(controller) == before, "coupling moved something");
}

/// Raiciu 2012, section 4.2, with the least values of RFC 5681: a penalty halves once.
fn penalise(controller: &mut Controller) {
    let (cwnd, ssthresh) = (controller.cwnd(), controller.ssthresh());
    controller.penalise();
    let after = (controller.cwnd(), controller.ssthresh());
    if controller.governs_recovery() {
        assert!(after == (cwnd, ssthresh), "it heeds no penalty");
        return;
    }
    let threshold = if cwnd < ssthresh { ssthresh } else { (ssthresh / 2).max(2 * SEGMENT) };
    // Windows of Linux's controls are whole segments.
    let whole = matches!(controller, Controller::LinuxReno(_) | Controller::LinuxCubic(_));
    let cut = |bytes: u64| if whole && bytes < u64::MAX { bytes / SEGMENT * SEGMENT } else { bytes };
    let expected = (cut(cwnd / 2).max(SEGMENT), cut(threshold));
    assert!(after == expected, "{after:?} from {cwnd} and {ssthresh}");
}

/// What is counted or judged here is answered later.
fn leaves_the_window(controller: &mut Controller, call: impl FnOnce(&mut Controller)) {
    let before = (controller.cwnd(), controller.ssthresh());
    call(controller);
    assert!((controller.cwnd(), controller.ssthresh()) == before, "it moved something");
}

/// Makes the call, moves `now` on by the time in it, and checks what always holds.
fn make(controller: &mut Controller, now: &mut Instant, call: &Call) {
    let (before, threshold) = (controller.cwnd(), controller.ssthresh());
    let mut later = |since: Instant| {
        *now = *now + since.since(Instant::ZERO);
        *now
    };
    match call {
        Call::Ack(ack) => {
            controller.on_ack(&Ack { now: later(ack.now), ..*ack });
            if !controller.governs_recovery() && (!ack.cwnd_limited || ack.recovery == Recovery::Fast) {
                assert!(controller.cwnd() <= before, "grew without use");
            }
            use Controller::{Balia, Lia, NewReno, Olia};
            if matches!(controller, NewReno(_) | Lia(_) | Olia(_) | Balia(_)) && before >= threshold {
                // RFC 5681 section 3.1, RFC 6356 section 3: at most as Reno, whatever the other subflows do.
                assert!(controller.cwnd() <= before + SEGMENT, "grew by more than a segment");
            }
        }
        Call::Loss(episode) => controller.on_loss(&LossEpisode { now: later(episode.now), ..*episode }),
        Call::SegmentLost(lost) => {
            let lost = LostSegment { now: later(lost.now), ..*lost };
            leaves_the_window(controller, |c| c.on_segment_lost(&lost));
        }
        Call::Ecn(episode) => controller.on_ecn(&LossEpisode { now: later(episode.now), ..*episode }),
        Call::EcnFeedback(feedback) => leaves_the_window(controller, |c| c.on_ecn_feedback(feedback)),
        Call::Timeout(episode, first) => {
            controller.on_timeout(&LossEpisode { now: later(episode.now), ..*episode }, *first);
            match controller {
                Controller::Mprc(_) => {
                    let floor = before.min(2 * SEGMENT);
                    assert!(controller.cwnd() >= floor, "never to one segment");
                }
                // Draft-ietf-ccwg-bbr-06 section 5.6.4.4: one segment more than is in flight.
                Controller::Bbr3(_) => assert!(controller.cwnd() == episode.in_flight + SEGMENT),
                _ => assert!(controller.cwnd() == SEGMENT, "the loss window is one segment"),
            }
        }
        Call::Recovered(from) => controller.on_recovered(*now, *from),
        Call::Undo => {
            controller.on_undo(*now);
            assert!(controller.cwnd() >= before, "an undo took something");
        }
        Call::ForgetGrowth(cwnd) => {
            controller.forget_growth(*cwnd);
            assert!(controller.cwnd() <= before, "grew by forgetting");
        }
        Call::Couple(coupling) => couple(controller, coupling),
        Call::Penalise => penalise(controller),
        // The first window is RFC 6928's, however long the handshake took.
        Call::Established(rtt) => {
            controller.on_established(*now, *rtt);
            assert!(
                (controller.cwnd(), controller.ssthresh()) == (before, threshold),
                "a handshake moved it"
            );
        }
        Call::Idle(idle) => {
            *now = *now + *idle;
            controller.on_restart_after_idle(*now, *idle, Span::from_ms(200));
        }
    }
    assert!(controller.cwnd() >= SEGMENT, "less than a segment after {call:?}");
    assert!(controller.ssthresh() >= 2 * SEGMENT, "ssthresh below two segments");
    assert!(controller.pacing_rate().is_none_or(|rate| rate.as_bps() > 0), "stopped for good");
}

proptest! {
    #[test]
    fn no_sequence_of_calls_breaks_a_controller(
        calls in prop::collection::vec(call(), 1..80),
        rtt in proptest::option::of(span()),
        seed in any::<u64>(),
    ) {
        for config in registered() {
            let mut controller = controller(&config, seed);
            let mut now = Instant::ZERO;
            controller.on_established(now, rtt);
            for call in &calls {
                make(&mut controller, &mut now, call);
            }
        }
    }

    #[test]
    fn an_undo_gives_back_what_the_episode_took(
        calls in prop::collection::vec(call(), 0..40),
        episode in loss_episode(),
        timeout in any::<bool>(),
        acks in prop::collection::vec(ack(), 0..10),
    ) {
        // BBR's window comes back with the next ACK, and not above its target (tests/bbr.rs).
        for config in registered().into_iter().filter(|config| config.name() != "bbr") {
            let mut controller = controller(&config, 1);
            let mut now = Instant::ZERO;
            controller.on_established(now, None);
            for call in &calls {
                make(&mut controller, &mut now, call);
            }
            let before = controller.cwnd();
            let (start, recovery) = if timeout {
                (Call::Timeout(episode, true), Recovery::Loss)
            } else {
                (Call::Loss(episode), Recovery::Fast)
            };
            make(&mut controller, &mut now, &start);
            for ack in &acks {
                make(&mut controller, &mut now, &Call::Ack(Ack { recovery, ..*ack }));
            }
            make(&mut controller, &mut now, &Call::Undo);
            prop_assert!(controller.cwnd() >= before, "{config:?}: {} of {before}", controller.cwnd());
        }
    }

    /// A penalty is for holding the connection up, which no later sign of a spurious loss takes back.
    #[test]
    fn an_undo_does_not_give_a_penalty_back(
        calls in prop::collection::vec(call(), 0..40),
        episode in loss_episode(),
        timeout in any::<bool>(),
    ) {
        for config in registered() {
            let mut controller = controller(&config, 1);
            let mut now = Instant::ZERO;
            for call in &calls {
                make(&mut controller, &mut now, call);
            }
            let start = if timeout { Call::Timeout(episode, true) } else { Call::Loss(episode) };
            make(&mut controller, &mut now, &start);
            make(&mut controller, &mut now, &Call::Penalise);
            let penalised = (controller.cwnd(), controller.ssthresh());
            make(&mut controller, &mut now, &Call::Undo);
            if !controller.governs_recovery() {
                prop_assert_eq!((controller.cwnd(), controller.ssthresh()), penalised, "{:?}", config);
            }
        }
    }

    /// The same calls give the same windows, twice.
    #[test]
    fn a_controller_has_no_randomness_of_its_own(calls in prop::collection::vec(call(), 1..40)) {
        for config in registered() {
            let run = || {
                let mut controller = controller(&config, 7);
                let mut now = Instant::ZERO;
                let mut seen = Vec::new();
                for call in &calls {
                    make(&mut controller, &mut now, call);
                    seen.push((controller.cwnd(), controller.ssthresh(), controller.pacing_rate()));
                }
                seen
            };
            prop_assert_eq!(run(), run());
        }
    }
}
