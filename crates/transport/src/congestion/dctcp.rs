//! DCTCP (RFC 8257): a mark takes from the window in proportion to the share of bytes that were marked.
//!
//! Everything else, slow start, growth and losses, is [`NewReno`] (RFC 8257 section 3.5). The receiver echoes each mark
//! ([`ConfiguredController::NEEDS_MARKS`]), so that the sender can count them.

use super::{
    Ack, ConfiguredController, CongestionControl, EcnFeedback, LossEpisode, NewReno, Recovery, Start,
};
use anabranch_units::declaration::above;
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// The window comes down in proportion to the share of marked bytes (RFC 8257).
    pub struct DctcpParameters {
        /// Estimation gain g: weight of the newest window of data in the estimate (RFC 8257 section 4.2).
        g: f64 = 0.0625, above(0.0).below(1.0);
    }
}

impl ConfiguredController for Dctcp {
    type Parameters = DctcpParameters;
    const NEEDS_MARKS: bool = true;

    fn configured(parameters: &DctcpParameters, start: Start) -> Self {
        Self::new(start.mss, start.initial_window, parameters.g)
    }
}

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    newreno: NewReno,
    g: f64,
    /// "DCTCP.Alpha": the share of bytes that meets congestion; 1 until something is known.
    alpha: f64,
    /// "DCTCP.WindowEnd": the observation window ends with the first ACK above it.
    window_end: u64,
    /// "DCTCP.BytesAcked" and "DCTCP.BytesMarked" of the observation window.
    acked: u64,
    marked: u64,
}

impl Dctcp {
    /// For segments of `mss` payload bytes, starting with `initial_window` bytes; `g` is the estimation gain.
    #[must_use]
    pub fn new(mss: u32, initial_window: u64, g: f64) -> Self {
        let newreno = NewReno::new(mss, initial_window);
        Self { newreno, g, alpha: 1.0, window_end: 0, acked: 0, marked: 0 }
    }
}

impl CongestionControl for Dctcp {
    fn cwnd(&self) -> u64 {
        self.newreno.cwnd()
    }

    fn ssthresh(&self) -> u64 {
        self.newreno.ssthresh()
    }

    fn on_restart_after_idle(&mut self, now: Instant, idle: Span, rto: Span) {
        self.newreno.on_restart_after_idle(now, idle, rto);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.newreno.on_ack(ack);
    }

    fn forget_growth(&mut self, cwnd: u64) {
        self.newreno.forget_growth(cwnd);
    }

    fn on_loss(&mut self, episode: &LossEpisode) {
        self.newreno.on_loss(episode);
    }

    /// RFC 8257 section 3.3, steps 1 to 8.
    fn on_ecn_feedback(&mut self, feedback: &EcnFeedback) {
        self.acked += feedback.acked;
        self.marked += if feedback.echo { feedback.acked } else { 0 };
        if feedback.snd_una <= self.window_end || self.acked == 0 {
            return;
        }
        let congestion = self.marked as f64 / self.acked as f64;
        self.alpha = self.alpha * (1.0 - self.g) + self.g * congestion;
        self.window_end = feedback.snd_nxt;
        self.acked = 0;
        self.marked = 0;
    }

    /// RFC 8257 section 3.3, step 9: cwnd x (1 - alpha / 2), of cwnd and not of what is in flight.
    fn on_ecn(&mut self, episode: &LossEpisode) {
        let cwnd = self.newreno.cwnd();
        self.newreno.reduce_by_mark(&LossEpisode { flight_size: cwnd, ..*episode }, 1.0 - self.alpha / 2.0);
    }

    fn on_timeout(&mut self, episode: &LossEpisode, first: bool) {
        self.newreno.on_timeout(episode, first);
    }

    fn on_recovered(&mut self, now: Instant, from: Recovery) {
        self.newreno.on_recovered(now, from);
    }

    fn penalise(&mut self) {
        self.newreno.penalise();
    }

    fn on_undo(&mut self, now: Instant) {
        self.newreno.on_undo(now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MSS, SEGMENT, episode};
    use super::*;

    fn feedback(segments: u64, echo: bool, snd_una: u64, snd_nxt: u64) -> EcnFeedback {
        let bytes = |count| count * SEGMENT;
        EcnFeedback { acked: bytes(segments), echo, snd_una: bytes(snd_una), snd_nxt: bytes(snd_nxt) }
    }

    /// A window of 16 segments, of which 4 are marked: M = 1/4, and with g = 1/16 alpha goes from 1 to 15/16 + 1/64.
    #[test]
    fn alpha_follows_the_share_of_marked_bytes_once_a_window() {
        let mut dctcp = Dctcp::new(MSS, 16 * SEGMENT, 1.0 / 16.0);
        // The first ACK ends the window that was open before anything was sent: none of it was marked.
        dctcp.on_ecn_feedback(&feedback(1, false, 1, 17));
        assert_eq!(dctcp.alpha, 15.0 / 16.0);
        for segment in 2..=17 {
            dctcp.on_ecn_feedback(&feedback(1, segment <= 5, segment, segment + 16));
            // Step 4: an ACK of just WindowEnd does not end the window.
            assert_eq!(dctcp.alpha, 15.0 / 16.0, "{segment}");
        }
        dctcp.on_ecn_feedback(&feedback(1, false, 18, 34));
        let expected = 15.0 / 16.0 * (15.0 / 16.0) + 1.0 / 16.0 * (4.0 / 17.0);
        assert!((dctcp.alpha - expected).abs() < 1e-12, "{} {expected}", dctcp.alpha);
    }

    /// Alpha of 1 halves as RFC 3168 does; alpha of 1/4 takes an eighth, whatever is in flight.
    #[test]
    fn a_mark_takes_half_of_alpha() {
        for (alpha, left) in [(1.0, 20), (0.25, 35), (0.0, 40)] {
            let mut dctcp = Dctcp::new(MSS, 40 * SEGMENT, 1.0 / 16.0);
            dctcp.alpha = alpha;
            dctcp.on_ecn(&episode(Instant::ZERO, 4 * SEGMENT));
            assert_eq!((dctcp.cwnd(), dctcp.ssthresh()), (left * SEGMENT, left * SEGMENT), "{alpha}");
        }
    }

    /// RFC 8257 section 3.5: a loss is answered as by a conventional sender, whatever alpha is.
    #[test]
    fn a_loss_halves() {
        let mut dctcp = Dctcp::new(MSS, 40 * SEGMENT, 1.0 / 16.0);
        dctcp.alpha = 0.0;
        dctcp.on_loss(&episode(Instant::ZERO, 40 * SEGMENT));
        assert_eq!(dctcp.ssthresh(), 20 * SEGMENT);
    }

    /// What has grown since the lost segment left is not halved but forgotten, as by every controller.
    #[test]
    fn a_loss_does_not_answer_for_what_has_grown_since() {
        let mut dctcp = Dctcp::new(MSS, 40 * SEGMENT, 1.0 / 16.0);
        dctcp.forget_growth(20 * SEGMENT);
        dctcp.on_loss(&episode(Instant::ZERO, 40 * SEGMENT));
        assert_eq!(dctcp.ssthresh(), 10 * SEGMENT);
    }
}
