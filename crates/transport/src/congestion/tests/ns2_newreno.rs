//! NewReno of ns-2: numbers by hand from the rules of its manual.

use crate::CongestionConfig;
use crate::congestion::testing::{MSS, SEGMENT, episode, plain_ack};
use crate::congestion::{
    Ack, ConfiguredController, CongestionControl, Ns2NewReno, Ns2NewRenoParameters, Recovery, Start,
};
use anabranch_units::{Instant, Span};

const NOW: Instant = Instant::ZERO;

fn with_window(window_segments: u32, initial: u64) -> Ns2NewReno {
    let start =
        Start { mss: MSS, initial_window: initial * SEGMENT, paced: false, seed: 1, sack: false, undo: true };
    Ns2NewReno::configured(&Ns2NewRenoParameters { window_segments }, start)
}

fn acknowledge(control: &mut Ns2NewReno, count: usize) {
    for _ in 0..count {
        control.on_ack(&plain_ack(NOW));
    }
}

/// One segment for each new ACK, then 1 / cwnd: 8 + 1/8 + 1/8.125 + ... passes 9 with the ninth ACK, as the sum of k ACKs
/// is about sqrt(64 + 2 k).
#[test]
fn it_grows_by_acks() {
    let mut control = with_window(1000, 1);
    assert_eq!((control.cwnd(), control.ssthresh()), (SEGMENT, 1000 * SEGMENT));
    acknowledge(&mut control, 15);
    assert_eq!(control.cwnd(), 16 * SEGMENT);
    assert_eq!(control.phase(), "slow start");
    control.on_loss(&episode(NOW, 3 * SEGMENT));
    assert_eq!((control.cwnd(), control.ssthresh()), (8 * SEGMENT, 8 * SEGMENT));
    assert_eq!(control.phase(), "congestion avoidance", "from the threshold itself on");
    acknowledge(&mut control, 8);
    assert_eq!(control.cwnd(), 8 * SEGMENT);
    acknowledge(&mut control, 1);
    assert_eq!(control.cwnd(), 9 * SEGMENT);
}

/// What sets it apart from RFC 5681 and RFC 7661: a window that is not used grows, and half of the window is taken,
/// whatever is in flight.
#[test]
fn an_unused_window_grows_and_is_what_is_halved() {
    let mut control = with_window(1000, 1);
    for _ in 0..39 {
        control.on_ack(&Ack { cwnd_limited: false, window_full: false, ..plain_ack(NOW) });
    }
    assert_eq!(control.cwnd(), 40 * SEGMENT);
    control.on_loss(&episode(NOW, 4 * SEGMENT));
    assert_eq!(control.cwnd(), 20 * SEGMENT);
    for _ in 0..5 {
        control.on_loss(&episode(NOW, 4 * SEGMENT));
    }
    assert_eq!(control.cwnd(), 2 * SEGMENT, "two segments at least");
}

/// `window_` bounds the window and what is halved; the first ssthresh is that, too.
#[test]
fn window_bounds_it() {
    let mut control = with_window(20, 1);
    acknowledge(&mut control, 500);
    assert_eq!(control.cwnd(), 20 * SEGMENT);
    control.on_loss(&episode(NOW, 20 * SEGMENT));
    assert_eq!(control.cwnd(), 10 * SEGMENT);
}

/// Neither duplicate nor partial ACKs make cwnd grow; the first leave the cumulative acknowledgment, the others come in
/// recovery.
#[test]
fn only_new_acks_outside_recovery_count() {
    let mut control = with_window(1000, 2);
    control.on_ack(&Ack { acked: 0, ..plain_ack(NOW) });
    assert_eq!(control.cwnd(), 2 * SEGMENT);
    control.on_ack(&Ack { recovery: Recovery::Loss, ..plain_ack(NOW) });
    assert_eq!(control.cwnd(), 3 * SEGMENT);
    control.on_loss(&episode(NOW, 3 * SEGMENT));
    duplicate(&mut control);
    control.on_ack(&Ack { recovery: Recovery::Fast, ..plain_ack(NOW) });
    assert_eq!(control.cwnd(), 2 * SEGMENT);
}

/// The third duplicate ACK, on its way behind the loss that it shows, or one more.
fn duplicate(control: &mut Ns2NewReno) {
    control.on_ack(&Ack { acked: 0, recovery: Recovery::Fast, ..plain_ack(NOW) });
}

/// RFC 6582 section 3.2 step 5: a partial ACK takes what it covers but for a segment off the inflated window. By hand: 8
/// segments and an inflation of 5; an ACK of three leaves an inflation of 5 - (3 - 1) = 3; one of five takes all three and
/// two of cwnd, and leaves the inflation at one; one of one takes nothing. The end of the recovery gives nothing back.
#[test]
fn partial_acks_deflate_the_window_for_good() {
    let mut control = with_window(1000, 1);
    acknowledge(&mut control, 15);
    control.on_loss(&episode(NOW, 16 * SEGMENT));
    for _ in 0..3 {
        duplicate(&mut control);
    }
    // One that others have overtaken repeats nothing: as much is in flight as before.
    control.on_ack(&Ack { acked: 0, in_flight: 10 * SEGMENT, recovery: Recovery::Fast, ..plain_ack(NOW) });
    let mut partial = |covered: u64| {
        control.on_ack(&Ack { acked: covered * SEGMENT, recovery: Recovery::Fast, ..plain_ack(NOW) });
        control.cwnd() / SEGMENT
    };
    assert_eq!([partial(3), partial(5), partial(1)], [8, 6, 6]);
    control.on_recovered(NOW, Recovery::Fast);
    assert_eq!((control.cwnd(), control.ssthresh()), (6 * SEGMENT, 8 * SEGMENT));
    assert_eq!(control.phase(), "slow start");
}

/// `window_` bounds what is outstanding, duplicates and all: the sender counts it without those.
#[test]
fn the_inflated_window_stays_within_its_bound() {
    let mut control = with_window(20, 1);
    acknowledge(&mut control, 500);
    control.on_loss(&episode(NOW, 20 * SEGMENT));
    for duplicates in 3..=15 {
        duplicate(&mut control);
        assert_eq!(control.cwnd() / SEGMENT, 10.min(20 - duplicates));
    }
}

/// A timeout leaves one segment, and ssthresh at half of the window; a repeated one leaves ssthresh. A pause longer than
/// a timeout ends with the first window (`slow_start_restart_`).
#[test]
fn timeouts_and_pauses_begin_anew() {
    let mut control = with_window(1000, 3);
    acknowledge(&mut control, 29);
    control.on_timeout(&episode(NOW, 5 * SEGMENT), true);
    assert_eq!((control.cwnd(), control.ssthresh()), (SEGMENT, 16 * SEGMENT));
    control.on_timeout(&episode(NOW, SEGMENT), false);
    assert_eq!((control.cwnd(), control.ssthresh()), (SEGMENT, 16 * SEGMENT));
    acknowledge(&mut control, 9);
    control.on_restart_after_idle(NOW, Span::from_secs(2), Span::from_secs(1));
    assert_eq!((control.cwnd(), control.ssthresh()), (3 * SEGMENT, 16 * SEGMENT));
}

/// A mark halves once in a window of data.
#[test]
fn a_mark_halves_and_holds() {
    let mut control = with_window(1000, 10);
    let mark = crate::congestion::LossEpisode { snd_nxt: 5 * SEGMENT, ..episode(NOW, 10 * SEGMENT) };
    control.on_ecn(&mark);
    assert_eq!(control.cwnd(), 5 * SEGMENT);
    acknowledge(&mut control, 20);
    assert_eq!(control.cwnd(), 5 * SEGMENT, "the ACKs are of the old window");
    control.on_ack(&Ack { snd_una: 5 * SEGMENT, ..plain_ack(NOW) });
    assert!(control.phase() == "congestion avoidance");
}

#[test]
fn a_window_of_less_than_two_segments_is_refused() {
    let config = CongestionConfig::Ns2NewReno(Ns2NewRenoParameters { window_segments: 1 });
    assert_eq!(config.check().unwrap_err().parameter, "window_segments");
}
