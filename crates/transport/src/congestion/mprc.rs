//! MPRC: NewReno whose losses cost half of the window, however they were found (Chang 2024, section 4).

use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, NewReno, Recovery, Start};
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// NewReno's growth, and half of cwnd at any loss, whatever found it (Chang 2024, section 4).
    pub struct MprcParameters {}
}

impl ConfiguredController for Mprc {
    type Parameters = MprcParameters;

    fn configured(_: &MprcParameters, start: Start) -> Self {
        Self::new(start.mss, start.initial_window)
    }
}

/// MPRC.
///
/// A loss halves cwnd at once, ssthresh becomes half of that, and congestion avoidance goes on while the
/// loss is repaired; a timeout does the same and never leaves one segment. That data sent before a
/// reduction reduce no further is the sender's doing, which reports a window of data once.
///
/// The thesis leaves open what the smallest window is (two segments here, as RFC 5681 has it for ssthresh)
/// and what an ECN mark does (as a loss, RFC 3168 section 6.1.2).
#[derive(Clone, Debug)]
pub struct Mprc {
    newreno: NewReno,
    undo: Option<Undo>,
}

#[derive(Clone, Copy, Debug)]
struct Undo {
    cwnd: u64,
    ssthresh: u64,
}

impl Mprc {
    /// For segments of `mss` payload bytes, starting with `initial_window` bytes.
    #[must_use]
    pub fn new(mss: u32, initial_window: u64) -> Self {
        Self { newreno: NewReno::new(mss, initial_window), undo: None }
    }

    /// "cwnd is reduced by half ... the slow start threshold is set to half of the new cwnd value."
    fn halve(&mut self, episode: &LossEpisode) {
        let window = &self.newreno.window;
        self.undo = Some(Undo { cwnd: window.cwnd, ssthresh: window.ssthresh });
        let least = 2 * window.mss;
        let cwnd = (window.before_reduction(episode.flight_size) / 2).max(least);
        self.newreno.reset_to(cwnd, (cwnd / 2).max(least));
    }
}

impl CongestionControl for Mprc {
    fn cwnd(&self) -> u64 {
        self.newreno.cwnd()
    }

    fn ssthresh(&self) -> u64 {
        self.newreno.ssthresh()
    }

    /// Proportional rate reduction would lead the window to ssthresh, a quarter of what it was.
    fn governs_recovery(&self) -> bool {
        true
    }

    fn answers_marks(&self) -> bool {
        true
    }

    fn on_restart_after_idle(&mut self, now: Instant, idle: Span, rto: Span) {
        self.newreno.on_restart_after_idle(now, idle, rto);
    }

    fn on_ack(&mut self, ack: &Ack) {
        // Only the round of a mark holds the window still; a repair does not.
        if !self.newreno.window.is_held(&Ack { recovery: Recovery::Open, ..*ack }) {
            self.newreno.grow(ack);
        }
    }

    fn on_loss(&mut self, episode: &LossEpisode) {
        self.halve(episode);
    }

    fn on_ecn(&mut self, episode: &LossEpisode) {
        self.halve(episode);
        self.newreno.window.hold(episode.snd_nxt);
        // A mark is never spurious.
        self.undo = None;
    }

    /// Only a loss detection other than FastRTO, or a connection without an RTT sample, comes here.
    fn on_timeout(&mut self, episode: &LossEpisode, first: bool) {
        if first {
            self.halve(episode);
        }
    }

    fn on_recovered(&mut self, _now: Instant, _from: Recovery) {}

    fn on_undo(&mut self, _now: Instant) {
        if let Some(Undo { cwnd, ssthresh }) = self.undo.take() {
            let window = &self.newreno.window;
            self.newreno.reset_to(window.cwnd.max(cwnd), window.ssthresh.max(ssthresh));
        }
    }
}
