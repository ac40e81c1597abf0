//! NewReno congestion control: RFC 5681 with appropriate byte counting (RFC 3465).
//!
//! Because the increase counts bytes and not ACKs, a receiver that delays its ACKs does not slow it:
//! in the square-root law MSS/RTT x sqrt(3 / (2 b p)) b is 1 with and without delayed ACKs.

use super::window::Window;
use super::{Ack, ConfiguredController, CongestionControl, HyStart, LossEpisode, Recovery, Start};
use anabranch_units::declaration::above;
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// Additive increase by bytes acknowledged, half of the window at a loss (RFC 5681, RFC 3465).
    pub struct NewRenoParameters {
        /// Slow start leaves early on rising delay (RFC 9406).
        hystart: bool = false;
        /// What an ECN mark leaves of the window. RFC 3168 has a half, as for a loss; ABE (RFC 8511) 0.8.
        beta_ecn: f64 = 0.5, above(0.0).below(1.0);
    }
}

impl ConfiguredController for NewReno {
    type Parameters = NewRenoParameters;

    fn configured(parameters: &NewRenoParameters, start: Start) -> Self {
        let mut newreno = Self::new(start.mss, start.initial_window);
        newreno.beta_ecn = parameters.beta_ecn;
        if parameters.hystart { newreno.with_hystart(HyStart::new(start.mss, start.paced)) } else { newreno }
    }
}

/// NewReno.
#[derive(Clone, Debug)]
pub struct NewReno {
    pub(super) window: Window,
    /// Bytes acknowledged towards the next segment of the window (RFC 3465 section 2.1).
    bytes_acked: u64,
    /// "beta_ecn" (RFC 8511 section 3).
    beta_ecn: f64,
    /// Fast recovery was entered and neither left nor undone.
    recovering: bool,
    undo: Option<Undo>,
}

#[derive(Clone, Copy, Debug)]
struct Undo {
    cwnd: u64,
    ssthresh: u64,
}

impl NewReno {
    /// For segments of `mss` payload bytes, starting with `initial_window` bytes.
    #[must_use]
    pub fn new(mss: u32, initial_window: u64) -> Self {
        let window = Window::new(mss, initial_window);
        Self { window, bytes_acked: 0, beta_ecn: 0.5, recovering: false, undo: None }
    }

    /// The same, with a slow start that ends early on rising delay (RFC 9406).
    #[must_use]
    pub(crate) fn with_hystart(mut self, hystart: HyStart) -> Self {
        self.window.hystart = Some(hystart);
        self
    }

    /// Halves ssthresh (RFC 5681 equation (4)) and remembers what it was.
    fn reduce(&mut self, episode: &LossEpisode) {
        let Window { cwnd, ssthresh, mss, .. } = self.window;
        self.undo = Some(Undo { cwnd, ssthresh });
        self.window.ssthresh = (self.window.before_reduction(episode.flight_size) / 2).max(2 * mss);
        self.bytes_acked = 0;
    }

    /// A mark leaves `factor` of the window (RFC 3168 section 6.1.2, RFC 8511 section 3).
    pub(super) fn reduce_by_mark(&mut self, episode: &LossEpisode, factor: f64) {
        let before = self.window.before_reduction(episode.flight_size);
        self.window.ssthresh = ((before as f64 * factor) as u64).max(2 * self.window.mss);
        self.window.cwnd = self.window.ssthresh;
        self.window.hold(episode.snd_nxt);
        self.bytes_acked = 0;
        // A mark is never spurious.
        self.undo = None;
    }

    /// Slow start, then congestion avoidance.
    #[inline]
    pub(super) fn grow(&mut self, ack: &Ack) {
        let left = self.window.slow_start(ack);
        if ack.cwnd_limited && left > 0 {
            self.avoid(left);
        }
    }

    /// Sets both: congestion avoidance starts anew from there.
    pub(super) fn reset_to(&mut self, cwnd: u64, ssthresh: u64) {
        self.window.cwnd = cwnd;
        self.window.ssthresh = ssthresh;
        self.bytes_acked = 0;
    }

    /// Congestion avoidance: one segment per window of bytes acknowledged (RFC 3465 section 2.1).
    #[inline]
    fn avoid(&mut self, delivered: u64) {
        self.bytes_acked = self.bytes_acked.saturating_add(delivered);
        if self.bytes_acked >= self.window.cwnd {
            // At most one segment an ACK (RFC 5681 section 3.1: per RTT); what is over is kept, up to a window.
            self.bytes_acked = (self.bytes_acked - self.window.cwnd).min(self.window.cwnd);
            self.window.cwnd = self.window.cwnd.saturating_add(self.window.mss);
        }
    }
}

impl CongestionControl for NewReno {
    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }

    fn phase(&self) -> &'static str {
        self.window.phase()
    }

    fn on_restart_after_idle(&mut self, _now: Instant, _idle: Span, _rto: Span) {
        self.window.restart();
    }

    fn on_ack(&mut self, ack: &Ack) {
        if !self.window.is_held(ack) {
            self.grow(ack);
        }
    }

    fn forget_growth(&mut self, cwnd: u64) {
        self.window.cwnd = self.window.cwnd.min(cwnd.max(self.window.mss));
    }

    fn on_loss(&mut self, episode: &LossEpisode) {
        self.reduce(episode);
        self.window.cwnd = self.window.ssthresh;
        self.recovering = true;
    }

    fn on_ecn(&mut self, episode: &LossEpisode) {
        self.reduce_by_mark(episode, self.beta_ecn);
    }

    fn on_timeout(&mut self, episode: &LossEpisode, first: bool) {
        if first {
            self.reduce(episode);
        }
        self.window.collapse();
        self.bytes_acked = 0;
        self.recovering = false;
    }

    fn on_recovered(&mut self, _now: Instant, from: Recovery) {
        // RFC 6675 section 5.1, RFC 6582 section 3.2 step 3. Not after an undo, whose window stands.
        if from == Recovery::Fast && self.recovering {
            self.window.cwnd = self.window.ssthresh;
        }
        self.recovering = false;
    }

    fn penalise(&mut self) {
        self.window.penalise();
        self.bytes_acked = 0;
        // What an undo would bring back is what held the connection up.
        self.undo = None;
    }

    fn on_undo(&mut self, _now: Instant) {
        // RFC 4015 section 3.2, as Linux does it: the window never comes down here.
        if let Some(Undo { cwnd, ssthresh }) = self.undo.take() {
            self.window.cwnd = self.window.cwnd.max(cwnd);
            self.window.ssthresh = self.window.ssthresh.max(ssthresh);
            self.recovering = false;
        }
    }
}
