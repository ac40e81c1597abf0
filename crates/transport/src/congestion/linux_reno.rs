//! Reno as Linux has it: the window in whole segments, half of it at a loss.

use super::segments::SegmentWindow;
use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, Recovery, Start};
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// Reno of Linux: RFC 5681 in whole segments, reduced from cwnd and not from what is in flight.
    pub struct LinuxRenoParameters {}
}

/// Reno of Linux.
#[derive(Clone, Debug)]
pub struct LinuxReno {
    window: SegmentWindow,
}

impl ConfiguredController for LinuxReno {
    type Parameters = LinuxRenoParameters;

    fn configured(_: &LinuxRenoParameters, start: Start) -> Self {
        Self::new(start.mss, start.initial_window)
    }
}

impl LinuxReno {
    /// For segments of `mss` payload bytes, starting with `initial_window` bytes.
    #[must_use]
    pub fn new(mss: u32, initial_window: u64) -> Self {
        Self { window: SegmentWindow::new(mss, initial_window) }
    }

    /// Half of the window, a half segment cut off (RFC 5681 equation (4), with cwnd for FlightSize).
    fn reduce(&mut self) {
        self.window.reduce(self.window.cwnd / 2);
    }
}

impl CongestionControl for LinuxReno {
    fn cwnd(&self) -> u64 {
        self.window.cwnd_bytes()
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh_bytes()
    }

    fn on_restart_after_idle(&mut self, _now: Instant, idle: Span, rto: Span) {
        self.window.restart(idle, rto);
    }

    fn on_ack(&mut self, ack: &Ack) {
        if self.window.is_held(ack) || !ack.cwnd_limited {
            return;
        }
        let left = self.window.slow_start(self.window.segments(ack.growth));
        if left > 0 {
            self.window.avoid(left, self.window.cwnd);
        }
    }

    fn forget_growth(&mut self, cwnd: u64) {
        self.window.forget_growth(cwnd);
    }

    fn on_loss(&mut self, _episode: &LossEpisode) {
        self.reduce();
        self.window.enter_recovery();
    }

    fn on_ecn(&mut self, episode: &LossEpisode) {
        self.reduce();
        self.window.answer_mark(episode);
    }

    fn on_timeout(&mut self, _episode: &LossEpisode, first: bool) {
        if first {
            self.reduce();
        }
        self.window.collapse();
    }

    fn on_recovered(&mut self, _now: Instant, from: Recovery) {
        self.window.recovered(from);
    }

    fn penalise(&mut self) {
        self.window.penalise();
    }

    fn on_undo(&mut self, _now: Instant) {
        let _ = self.window.undo();
    }
}
