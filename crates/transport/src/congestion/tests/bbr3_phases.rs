//! What BBR version 3 keeps and drops where a phase or a pause ends, and when its bound rises.

use super::*;

/// Draft section 5.3.3.9, "ProbeInflightLongtermUpward": a window that does not reach the bound is no reason to raise it.
#[test]
fn a_window_below_the_bound_raises_nothing() {
    for (below, raised) in [(1, 0), (0, 1), (-1, 1)] {
        let mut link = link_in(State::Up);
        let ack = Ack { window_full: true, delivered: SEGMENT, ..round_end(&link, 1.0, (0, 0)) };
        let bbr = &mut link.controller;
        let bound = bbr.cwnd.saturating_add_signed(below * SEGMENT as i64);
        (bbr.long_term.inflight, bbr.long_term.acked, bbr.long_term.acked_per_segment) = (bound, 0, SEGMENT);
        let sample = bbr.sample(&ack);
        bbr.raise_long_term(&ack, sample.as_ref());
        assert_eq!(bbr.long_term.inflight - bound, raised * SEGMENT, "{below} segments below");
    }
}

/// Draft section 5.3.3.1, "StartProbeBW_DOWN": "ResetCongestionSignals". What was delivered and lost while it probed says
/// nothing of the rounds behind.
#[test]
fn the_signals_of_a_probe_end_with_it() {
    let mut link = link_in(State::Up);
    let mark = loss(&link, (1, 210), 0);
    link.controller.latest.note_loss(&mark);
    assert!(link.controller.latest.inflight > 0 && link.controller.latest.loss);
    link.controller.start_down(link.now);
    let latest = &link.controller.latest;
    assert_eq!((latest.bandwidth, latest.inflight, latest.loss), (Bandwidth::default(), 0, false));
}

/// Draft section 5.4.1, "HandleRestartFromIdle": only ProbeBW goes on at the bandwidth itself.
#[test]
fn a_pause_in_drain_leaves_its_rate() {
    let mut link = link_of(RTT, 1);
    run_to(&mut link, State::Drain);
    let before = pacing(&link.controller);
    link.controller.on_restart_after_idle(link.now, Span::from_secs(1), Span::from_ms(200));
    assert_eq!((pacing(&link.controller).to_bits(), link.controller.state), (before.to_bits(), State::Drain));
}
