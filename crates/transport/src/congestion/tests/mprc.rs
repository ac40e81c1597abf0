use crate::congestion::testing::{MSS, Rounds, SEGMENT, episode};
use crate::congestion::{CongestionControl, LossEpisode, Mprc, Recovery};
use anabranch_units::{Instant, Span};

fn mprc(initial_packets: u64) -> Rounds<Mprc> {
    Rounds::new(Mprc::new(MSS, initial_packets * SEGMENT), Span::from_ms(100))
}

/// "We retained the slow start and congestion avoidance mechanisms from NewReno."
#[test]
fn it_grows_as_newreno_does() {
    for segments_per_ack in [1, 2] {
        let mut path = mprc(10);
        path.segments_per_ack = segments_per_ack;
        assert_eq!(path.rounds(3), [20, 40, 80]);
        path.lose();
        assert_eq!(path.rounds(3), [41, 42, 43]);
    }
}

/// Chang 2024, section 4: cwnd is halved, ssthresh is half of the new cwnd, congestion avoidance goes on while
/// the loss is repaired.
#[test]
fn a_loss_halves_the_window_and_growth_goes_on() {
    let mut path = mprc(80);
    path.controller.on_loss(&episode(path.now, 80 * SEGMENT));
    assert_eq!((path.packets(), path.controller.ssthresh()), (40, 20 * SEGMENT));
    path.recovery = Recovery::Fast;
    assert_eq!(path.rounds(2), [41, 42]);
    path.controller.on_recovered(path.now, Recovery::Fast);
    assert_eq!(path.packets(), 42);
}

/// "Instead of being reset to 1": a timeout costs half as well, once for the same data.
#[test]
fn a_timeout_halves_once() {
    let mut path = mprc(32);
    path.controller.on_timeout(&episode(path.now, 32 * SEGMENT), true);
    path.controller.on_timeout(&episode(path.now, 16 * SEGMENT), false);
    assert_eq!((path.packets(), path.controller.ssthresh()), (16, 8 * SEGMENT));
}

#[test]
fn it_never_falls_to_one_segment() {
    let mut path = mprc(10);
    for _ in 0..10 {
        path.controller.on_loss(&episode(path.now, 10 * SEGMENT));
    }
    assert_eq!((path.packets(), path.controller.ssthresh()), (2, 2 * SEGMENT));
}

/// RFC 3168 section 6.1.2: as for a loss, and the round of the mark does not grow the window.
#[test]
fn a_mark_halves_and_holds_for_a_round() {
    let mut path = mprc(40);
    path.controller.on_ecn(&LossEpisode { snd_nxt: 20 * SEGMENT, ..episode(path.now, 40 * SEGMENT) });
    assert_eq!(path.rounds(3), [20, 21, 22]);
}

#[test]
fn a_spurious_loss_is_given_back() {
    let mut path = mprc(40);
    path.controller.on_loss(&episode(path.now, 40 * SEGMENT));
    path.controller.on_undo(path.now);
    assert_eq!((path.packets(), path.controller.ssthresh()), (40, u64::MAX));
    path.controller.on_undo(Instant::ZERO);
    assert_eq!(path.packets(), 40);
}
