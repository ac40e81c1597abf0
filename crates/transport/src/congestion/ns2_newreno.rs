//! NewReno as the simulator ns-2 describes it: a window that counts ACKs and grows whether it is used or not.
//!
//! Source: "The ns Manual" (VINT project), chapter "TCP Agents", with its defaults. A new ACK makes the window grow by
//! a segment in slow start and by 1 / cwnd in congestion avoidance, with fractions. Three duplicate ACKs set ssthresh
//! and cwnd to half of the current window; a timeout sets ssthresh to that and cwnd to one. `window_` bounds what is
//! outstanding. RFC 5681 halves what is in flight, and RFC 7661 lets a window grow only if it was used; the manual has
//! neither. Fast recovery is that of RFC 6582, which the manual describes for Agent/TCP/Newreno: duplicate ACKs inflate
//! the window, which the sender does by counting them as delivered, and a partial ACK deflates it by what it covers but
//! for a segment (section 3.2 step 5, `partial_window_deflation_`). What it covers beyond the inflation comes off cwnd,
//! and, as ns-2 does not set cwnd to ssthresh where recovery ends (`exit_recovery_fix_` is off), stays off.

use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, Recovery, Start};
use anabranch_units::declaration::at_least;
use anabranch_units::{Instant, Span};

/// `numdupacks_`.
const DUPLICATES: f64 = 3.0;

anabranch_units::parameters! {
    /// NewReno of ns-2: grows by ACKs though the application leaves the window unused, and halves that window.
    pub struct Ns2NewRenoParameters {
        /// Largest window in segments, and first slow-start threshold (`window_` of ns-2, whose default is 20: too small
        /// for most paths, so that studies set it).
        window_segments: u32 = 1000, at_least(2).at_most(1_000_000);
    }
}

impl ConfiguredController for Ns2NewReno {
    type Parameters = Ns2NewRenoParameters;

    fn configured(parameters: &Ns2NewRenoParameters, start: Start) -> Self {
        let mss = u64::from(start.mss.max(1));
        let most = f64::from(parameters.window_segments);
        let initial = (start.initial_window as f64 / mss as f64).max(1.0).min(most);
        Self {
            mss,
            most,
            initial,
            window: initial,
            threshold: most,
            hold_until: 0,
            undo: None,
            inflation: 0.0,
        }
    }
}

/// NewReno of ns-2. Windows are in segments.
#[derive(Clone, Debug)]
pub struct Ns2NewReno {
    /// Payload bytes of a segment.
    mss: u64,
    /// `window_`.
    most: f64,
    /// `dupwnd_`: segments by which duplicate ACKs have inflated the window in fast recovery.
    inflation: f64,
    /// `windowInit_`.
    initial: f64,
    /// `cwnd_`, one to `window_`: what ns-2 keeps beyond that bound never counts.
    window: f64,
    /// `ssthresh_`.
    threshold: f64,
    /// The data below were sent before the last answer to a mark.
    hold_until: u64,
    /// cwnd and ssthresh before the last loss.
    undo: Option<(f64, f64)>,
}

impl Ns2NewReno {
    /// "Half of the current window", two segments at least (RFC 5681 equation (4)).
    fn half(&self) -> f64 {
        (self.window / 2.0).max(2.0)
    }

    /// A duplicate ACK in fast recovery inflates the window by a segment, a partial ACK deflates it (RFC 6582 section 3.2
    /// steps 4 and 5). One that others have overtaken repeats nothing: what is in flight stays as it was.
    fn inflate_or_deflate(&mut self, ack: &Ack) {
        if ack.acked == 0 {
            if ack.in_flight < ack.in_flight_before {
                self.inflation += 1.0;
            }
            return;
        }
        let covered = ack.acked.div_ceil(self.mss) as f64;
        if self.inflation > covered {
            self.inflation -= covered - 1.0;
        } else {
            self.window = (self.window - (covered - self.inflation)).max(1.0);
            self.inflation = 1.0;
        }
    }

    fn bytes(&self, segments: f64) -> u64 {
        (segments as u64).saturating_mul(self.mss)
    }
}

impl CongestionControl for Ns2NewReno {
    fn cwnd(&self) -> u64 {
        // The sender counts what is outstanding without the inflation. Whole segments leave.
        self.bytes(self.window.min(self.most - self.inflation).max(1.0))
    }

    fn ssthresh(&self) -> u64 {
        self.bytes(self.threshold)
    }

    fn phase(&self) -> &'static str {
        if self.window < self.threshold { "slow start" } else { "congestion avoidance" }
    }

    /// Duplicate ACKs alone make room in its recovery; proportional rate reduction is younger.
    fn governs_recovery(&self) -> bool {
        true
    }

    fn answers_marks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.recovery == Recovery::Fast {
            self.inflate_or_deflate(ack);
            return;
        }
        if ack.acked == 0 || ack.snd_una < self.hold_until {
            return;
        }
        let growth = if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
        self.window = (self.window + growth).min(self.most);
    }

    fn on_loss(&mut self, _episode: &LossEpisode) {
        self.undo = Some((self.window, self.threshold));
        self.threshold = self.half();
        self.window = self.threshold;
        // The third duplicate ACK is on its way to `on_ack`.
        self.inflation = DUPLICATES - 1.0;
    }

    /// Like a loss, once per window of data (RFC 3168 section 6.1.2).
    fn on_ecn(&mut self, episode: &LossEpisode) {
        self.on_loss(episode);
        self.inflation = 0.0;
        self.hold_until = episode.snd_nxt;
        // A mark is never spurious.
        self.undo = None;
    }

    fn on_timeout(&mut self, _episode: &LossEpisode, first: bool) {
        if first {
            self.undo = Some((self.window, self.threshold));
            self.threshold = self.half();
        }
        self.window = 1.0;
        self.inflation = 0.0;
    }

    fn on_recovered(&mut self, _now: Instant, _from: Recovery) {
        self.inflation = 0.0;
    }

    /// `slow_start_restart_`, which is on: a pause longer than a timeout ends with the first window.
    fn on_restart_after_idle(&mut self, _now: Instant, _idle: Span, _rto: Span) {
        self.window = self.window.min(self.initial);
    }

    /// ns-2 takes nothing back; who switches `undo` on gets what a loss took, as from the other controllers.
    fn on_undo(&mut self, _now: Instant) {
        if let Some((window, threshold)) = self.undo.take() {
            self.window = self.window.max(window);
            self.threshold = self.threshold.max(threshold);
        }
    }
}
