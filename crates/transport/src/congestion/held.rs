//! A window from outside: whoever drives the run in steps sets it between them.

use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, Recovery, Start};
use anabranch_units::{Instant, Rate};

anabranch_units::parameters! {
    /// The window that a program sets between two steps of a run; until then the initial one. Losses and marks leave it
    /// as it is. A timeout leaves one segment (RFC 5681 section 3.1), which grows back by what is delivered.
    pub struct HeldParameters {}
}

/// A window and a rate that are set from outside.
#[derive(Clone, Debug)]
pub struct Held {
    mss: u64,
    /// What was asked for.
    window: u64,
    /// What is allowed now; less after a timeout.
    cwnd: u64,
    rate: Option<Rate>,
    delivered: u64,
}

impl ConfiguredController for Held {
    type Parameters = HeldParameters;

    fn configured(_: &HeldParameters, start: Start) -> Self {
        let (mss, window) = (u64::from(start.mss), start.initial_window);
        Self { mss, window, cwnd: window, rate: None, delivered: 0 }
    }
}

impl Held {
    /// Sets the window, of at least one segment, and the rate at which segments leave; `None` leaves that to the window.
    pub fn set(&mut self, window: u64, rate: Option<Rate>) {
        self.window = window.max(self.mss);
        self.cwnd = self.window;
        self.rate = rate.filter(|rate| rate.as_bps() > 0);
    }

    /// Bytes delivered, cumulatively or selectively acknowledged.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Payload of a full segment in bytes.
    #[must_use]
    pub const fn mss(&self) -> u64 {
        self.mss
    }
}

impl CongestionControl for Held {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }

    fn phase(&self) -> &'static str {
        "held"
    }

    fn governs_recovery(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.delivered = self.delivered.saturating_add(ack.delivered);
        if ack.cwnd_limited || ack.recovery == Recovery::Loss {
            self.cwnd = self.cwnd.saturating_add(ack.delivered).min(self.window);
        }
    }

    fn on_loss(&mut self, _: &LossEpisode) {}

    fn on_ecn(&mut self, _: &LossEpisode) {}

    fn on_timeout(&mut self, _: &LossEpisode, _: bool) {
        self.cwnd = self.mss;
    }

    fn on_recovered(&mut self, _: Instant, _: Recovery) {
        self.cwnd = self.window;
    }

    fn on_undo(&mut self, _: Instant) {
        self.cwnd = self.window;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MSS, SEGMENT, episode, plain_ack};
    use super::*;

    fn held() -> Held {
        let start =
            Start { mss: MSS, initial_window: 10 * SEGMENT, paced: false, seed: 1, sack: true, undo: true };
        Held::configured(&HeldParameters {}, start)
    }

    #[test]
    fn the_window_is_what_was_set_whatever_happens() {
        let mut held = held();
        assert_eq!(held.cwnd(), 10 * SEGMENT, "the initial window");
        held.set(25 * SEGMENT, Some(Rate::from_bps(8_000_000)));
        held.on_loss(&episode(Instant::ZERO, 20 * SEGMENT));
        held.on_ecn(&episode(Instant::ZERO, 20 * SEGMENT));
        held.on_ack(&plain_ack(Instant::ZERO));
        assert_eq!((held.cwnd(), held.pacing_rate()), (25 * SEGMENT, Some(Rate::from_bps(8_000_000))));
        assert_eq!(held.delivered(), SEGMENT);
    }

    #[test]
    fn less_than_a_segment_is_one_and_no_rate_is_none() {
        let mut held = held();
        held.set(1, Some(Rate::from_bps(0)));
        assert_eq!((held.cwnd(), held.pacing_rate()), (SEGMENT, None));
        assert_eq!(held.mss(), SEGMENT, "in which whoever sets the window counts it");
    }

    /// RFC 5681 section 3.1: the loss window is one segment; then a segment for each one delivered, whether or not there
    /// was more to send.
    #[test]
    fn a_timeout_begins_with_one_segment_and_grows_back() {
        let mut held = held();
        held.set(3 * SEGMENT, None);
        held.on_timeout(&episode(Instant::ZERO, 3 * SEGMENT), true);
        let mut windows = vec![held.cwnd()];
        for _ in 0..3 {
            held.on_ack(&Ack { recovery: Recovery::Loss, cwnd_limited: false, ..plain_ack(Instant::ZERO) });
            windows.push(held.cwnd());
        }
        assert_eq!(windows, [SEGMENT, 2 * SEGMENT, 3 * SEGMENT, 3 * SEGMENT]);
    }

    #[test]
    fn the_log_calls_its_phase_held() {
        assert_eq!(held().phase(), "held");
    }

    /// What was set from outside is in force again when the loss state ends, though slow start has not reached it yet.
    #[test]
    fn the_window_returns_with_the_end_of_a_timeout() {
        let mut held = held();
        held.on_timeout(&episode(Instant::ZERO, 10 * SEGMENT), true);
        assert_eq!(held.cwnd(), SEGMENT);
        held.on_recovered(Instant::ZERO, Recovery::Loss);
        assert_eq!(held.cwnd(), 10 * SEGMENT);
    }
}
