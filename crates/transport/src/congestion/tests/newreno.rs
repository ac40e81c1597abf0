use crate::congestion::testing::{Bottleneck, MSS, Rounds, SEGMENT, episode, plain_ack};
use crate::congestion::{
    Ack, ConfiguredController, CongestionControl, HyStart, LossEpisode, NewReno, NewRenoParameters, Recovery,
    Start,
};
use anabranch_units::{Instant, Rate, Span};

fn newreno(initial_packets: u64) -> Rounds<NewReno> {
    Rounds::new(NewReno::new(MSS, initial_packets * SEGMENT), Span::from_ms(100))
}

/// RFC 5681 section 3.1 with RFC 3465: doubles per round, whether or not ACKs are delayed.
#[test]
fn slow_start_doubles() {
    for segments_per_ack in [1, 2, 5] {
        let mut path = newreno(10);
        path.segments_per_ack = segments_per_ack;
        assert_eq!(path.rounds(4), [20, 40, 80, 160], "one ACK for {segments_per_ack}");
    }
}

/// RFC 3465 section 2.1: one segment per window of bytes, whether or not ACKs are delayed.
#[test]
fn congestion_avoidance_adds_one_segment_a_round() {
    for segments_per_ack in [1, 2, 5] {
        let mut path = newreno(40);
        path.segments_per_ack = segments_per_ack;
        path.round();
        path.lose();
        assert_eq!(path.packets(), 40, "half of 80");
        assert_eq!(path.rounds(4), [41, 42, 43, 44], "one ACK for {segments_per_ack}");
    }
}

/// RFC 5681 section 3.1: a window of one segment, slow start up to half the old window.
#[test]
fn a_timeout_starts_over_from_one_segment() {
    let mut path = newreno(32);
    path.round();
    path.time_out();
    path.recovery = Recovery::Loss;
    assert_eq!((path.packets(), path.controller.ssthresh()), (1, 32 * SEGMENT));
    assert_eq!(path.rounds(7), [2, 4, 8, 16, 32, 33, 34]);
}

/// RFC 5681 section 3.1: ssthresh is held while the same data time out again.
#[test]
fn a_second_timeout_of_the_same_data_keeps_ssthresh() {
    let mut path = newreno(32);
    path.round();
    path.time_out();
    path.controller.on_timeout(&episode(path.now, SEGMENT), false);
    assert_eq!((path.packets(), path.controller.ssthresh()), (1, 32 * SEGMENT));
}

/// RFC 3465 section 2.3: after a timeout one ACK may cover segments that arrived long ago.
#[test]
fn after_a_timeout_one_ack_adds_one_segment() {
    let mut controller = NewReno::new(MSS, 32 * SEGMENT);
    controller.on_timeout(&episode(Instant::ZERO, 32 * SEGMENT), true);
    controller.on_ack(&Ack { growth: 12 * SEGMENT, recovery: Recovery::Loss, ..plain_ack(Instant::ZERO) });
    assert_eq!(controller.cwnd(), 2 * SEGMENT);
}

#[test]
fn an_unused_window_does_not_grow() {
    let mut path = newreno(10);
    path.cwnd_limited = false;
    assert_eq!(path.rounds(3), [10, 10, 10]);
    path.cwnd_limited = true;
    path.lose();
    path.cwnd_limited = false;
    assert_eq!(path.rounds(3), [5, 5, 5]);
}

/// RFC 5681 equation (4) counts what was in flight; what the application left unused is no base.
#[test]
fn a_reduction_starts_from_what_was_used() {
    let mut path = newreno(100);
    path.cwnd_limited = false;
    path.round();
    path.controller.on_loss(&episode(path.now, 30 * SEGMENT));
    assert_eq!(path.packets(), 15);
}

#[test]
fn a_reduction_stops_at_two_segments() {
    let mut path = newreno(3);
    path.lose();
    assert_eq!(path.packets(), 2);
}

/// RFC 3168 section 6.1.2: as for a loss, but at once, since no recovery follows.
#[test]
fn an_ecn_echo_halves_at_once() {
    let mut path = newreno(40);
    path.round();
    path.controller.on_ecn(&episode(path.now, 80 * SEGMENT));
    assert_eq!(path.packets(), 40);
    assert_eq!(path.rounds(2), [41, 42]);
}

/// RFC 8511 section 3: ssthresh is 0.8 times FlightSize, and at least two segments; a loss takes half as before.
#[test]
fn abe_keeps_four_fifths_at_a_mark() {
    let abe = NewRenoParameters { beta_ecn: 0.8, ..NewRenoParameters::default() };
    let start = |segments| Start {
        mss: MSS,
        initial_window: segments * SEGMENT,
        paced: false,
        seed: 0,
        sack: true,
        undo: true,
    };
    for (cwnd, flight, left) in [(40, 40, 32), (40, 20, 16), (2, 2, 2)] {
        let mut newreno = NewReno::configured(&abe, start(cwnd));
        newreno.on_ecn(&episode(Instant::ZERO, flight * SEGMENT));
        assert_eq!((newreno.cwnd(), newreno.ssthresh()), (left * SEGMENT, left * SEGMENT), "{flight}");
    }
    let mut newreno = NewReno::configured(&abe, start(40));
    newreno.on_loss(&episode(Instant::ZERO, 40 * SEGMENT));
    assert_eq!(newreno.ssthresh(), 20 * SEGMENT);
}

/// The window that was in flight when the mark came is acknowledged without growth, as after a loss.
#[test]
fn the_round_of_an_ecn_echo_does_not_grow_the_window() {
    let mut path = newreno(40);
    path.controller.on_ecn(&LossEpisode { snd_nxt: 20 * SEGMENT, ..episode(path.now, 40 * SEGMENT) });
    assert_eq!(path.rounds(3), [20, 21, 22]);
}

#[test]
fn a_spurious_loss_is_given_back() {
    let mut path = newreno(40);
    path.round();
    path.controller.on_loss(&episode(path.now, 80 * SEGMENT));
    path.controller.on_undo(path.now);
    // The end of a recovery that was undone takes nothing.
    path.controller.on_recovered(path.now, Recovery::Fast);
    assert_eq!((path.packets(), path.controller.ssthresh()), (80, u64::MAX));
}

/// Recovery leaves the window to proportional rate reduction.
#[test]
fn nothing_grows_in_fast_recovery() {
    let mut path = newreno(40);
    path.controller.on_loss(&episode(path.now, 40 * SEGMENT));
    path.recovery = Recovery::Fast;
    assert_eq!(path.rounds(2), [20, 20]);
}

/// On a link with an endless queue only the delay tells when to stop. RFC 9406: caution sets in at an eighth
/// above the smallest RTT, and lasts five rounds that grow by at most a quarter each: 1.125 x 1.25^5 = 3.4,
/// or with up to two doublings before the round's samples show the rise, 4 x 3.05.
#[test]
fn hystart_ends_slow_start_where_the_queue_begins() {
    let (rate, propagation) = (Rate::from_bps(80_000_000), Span::from_ms(50));
    let bdp = 500 * SEGMENT;
    let end = Instant::ZERO + Span::from_secs(2);
    let mut plain = Bottleneck::new(NewReno::new(MSS, 10 * SEGMENT), rate, propagation);
    plain.run(end, |_| ());
    assert_eq!(plain.controller.ssthresh(), u64::MAX);
    let hystart = HyStart::new(MSS, false);
    let mut careful =
        Bottleneck::new(NewReno::new(MSS, 10 * SEGMENT).with_hystart(hystart), rate, propagation);
    careful.run(end, |_| ());
    let ssthresh = careful.controller.ssthresh();
    assert!((bdp..=12 * bdp).contains(&ssthresh), "{} segments", ssthresh / SEGMENT);
}

/// Mathis et al. 1997: a mean window of sqrt(3 / (2 b p)) for periodic loss; because bytes are counted b is 1
/// whatever the receiver delays.
#[test]
fn periodic_loss_gives_the_square_root_law() {
    for segments_per_ack in [1, 2] {
        for period in [1_000, 10_000] {
            let mut path = newreno(10);
            path.segments_per_ack = segments_per_ack;
            let sawtooth = path.lose_periodically(period, 40);
            let ratio = sawtooth.window / (1.5 / sawtooth.loss).sqrt();
            assert!((0.97..1.03).contains(&ratio), "{period}, one ACK for {segments_per_ack}: {ratio}");
        }
    }
}

/// RFC 5681 section 4.1: after a pause the initial window again; slow start leads back to three quarters.
#[test]
fn a_pause_starts_the_window_again() {
    let mut path = newreno(10);
    path.rounds(2);
    assert_eq!(path.packets(), 40);
    path.controller.on_loss(&episode(path.now, 40 * SEGMENT));
    path.controller.on_recovered(path.now, Recovery::Fast);
    path.controller.on_restart_after_idle(path.now, Span::from_secs(1), Span::from_ms(200));
    assert_eq!((path.packets(), path.controller.ssthresh()), (10, 20 * SEGMENT));
    assert_eq!(path.rounds(2), [20, 21]);
}

/// RFC 2861 section 3: ssthresh = max(ssthresh, 3/4 cwnd). From 20 segments the window has grown to 32 by one a round,
/// and three quarters of that are 24; RFC 5681 section 4.1: RW = min(IW, cwnd), so that no pause raises a window.
#[test]
fn a_pause_remembers_three_quarters_of_a_grown_window() {
    let mut path = newreno(10);
    path.rounds(2);
    path.lose();
    assert_eq!(path.rounds(12).last(), Some(&32));
    path.controller.on_restart_after_idle(path.now, Span::from_secs(1), Span::from_ms(200));
    assert_eq!((path.packets(), path.controller.ssthresh()), (10, 24 * SEGMENT));
    path.time_out();
    let ssthresh = path.controller.ssthresh();
    path.controller.on_restart_after_idle(path.now, Span::from_secs(1), Span::from_ms(200));
    assert_eq!((path.packets(), path.controller.ssthresh()), (1, ssthresh));
}
