//! What coupled congestion controllers have in common: NewReno, whose window in congestion avoidance grows by a
//! rule that looks at every subflow of the connection.
//!
//! The connection sums up its subflows in a [`Coupling`] before each ACK, so that controllers share no state.

use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, NewReno, Recovery, Start};
use anabranch_units::declaration::Parameters;
use anabranch_units::{Instant, Span};

/// How a subflow stands among those of its connection. Windows in bytes, times in seconds; w is a subflow's
/// window, rtt its smoothed round-trip time.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Coupling {
    /// Sum of w / rtt over all subflows; 0 before any has an RTT sample.
    pub total_rate: f64,
    /// Largest w / rtt.
    pub max_rate: f64,
    /// Largest w / rtt^2.
    pub max_gain: f64,
    /// w / rtt of this subflow.
    pub rate: f64,
    /// w / rtt^2 of this subflow.
    pub gain: f64,
    /// OLIA's alpha of this subflow (Khalili 2012, equation (6)), for a rule that compares losses; else 0.
    pub olia_alpha: f64,
}

/// The rule by which a coupled controller differs from NewReno.
pub trait CouplingRule: Clone + Default + std::fmt::Debug {
    /// What it lets a user choose.
    type Parameters: Parameters;
    /// Whether it compares how often the subflows lose ([`Coupling::olia_alpha`]).
    const COMPARES_LOSSES: bool = false;

    /// Increase of the window in segments for each byte acknowledged in congestion avoidance, when it is `cwnd`
    /// bytes. May be negative.
    fn increase(&self, coupling: &Coupling, cwnd: f64) -> f64;

    /// Share of the window that a loss leaves.
    fn kept(&self, _coupling: &Coupling) -> f64 {
        0.5
    }

    /// So many bytes were acknowledged.
    fn on_acked(&mut self, _bytes: u64) {}

    /// A loss episode began.
    fn on_loss(&mut self) {}

    /// As [`CongestionControl::loss_interval`].
    fn loss_interval(&self) -> u64 {
        0
    }
}

/// NewReno with the increase, and the share kept at a loss, of `R`.
#[derive(Clone, Debug)]
pub struct Coupled<R> {
    reno: NewReno,
    rule: R,
    coupling: Coupling,
    /// Bytes by which the window is to grow once they make a segment; shrinks likewise.
    credit: f64,
}

impl<R: CouplingRule> ConfiguredController for Coupled<R> {
    type Parameters = R::Parameters;
    const COUPLED: bool = true;
    const COMPARES_LOSSES: bool = R::COMPARES_LOSSES;

    fn configured(_: &R::Parameters, start: Start) -> Self {
        Self::new(start.mss, start.initial_window)
    }
}

impl<R: CouplingRule> Coupled<R> {
    /// For segments of `mss` payload bytes, starting with `initial_window` bytes.
    #[must_use]
    pub fn new(mss: u32, initial_window: u64) -> Self {
        let reno = NewReno::new(mss, initial_window);
        Self { reno, rule: R::default(), coupling: Coupling::default(), credit: 0.0 }
    }

    /// Congestion avoidance, in whole segments as NewReno's, so that on one path the two are alike.
    fn avoid(&mut self, delivered: u64) {
        let window = &mut self.reno.window;
        let (cwnd, mss) = (window.cwnd as f64, window.mss as f64);
        // Without a round-trip time there is nothing to compare: a path on its own.
        let increase = if self.coupling.total_rate > 0.0 {
            self.rule.increase(&self.coupling, cwnd)
        } else {
            1.0 / cwnd
        };
        self.credit += delivered as f64 * mss * increase;
        // A round's worth must make a segment although its parts are rounded.
        let whole = mss * (1.0 - 1e-9);
        if self.credit >= whole {
            window.cwnd = window.cwnd.saturating_add(window.mss);
            // At most one segment an ACK, as NewReno; the rest is kept, up to a segment.
            self.credit = (self.credit - mss).min(mss);
        } else if self.credit <= -whole {
            window.cwnd = window.cwnd.saturating_sub(window.mss).max(window.mss);
            self.credit = (self.credit + mss).max(-mss);
        }
    }

    /// Puts what the rule keeps in the place of NewReno's half; `before` is the window that is reduced.
    fn set_threshold(&mut self, before: u64) {
        let kept = (before as f64 * self.rule.kept(&self.coupling)) as u64;
        self.reno.window.ssthresh = kept.max(2 * self.reno.window.mss);
    }
}

impl<R: CouplingRule> CongestionControl for Coupled<R> {
    fn cwnd(&self) -> u64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn on_restart_after_idle(&mut self, now: Instant, idle: Span, rto: Span) {
        self.reno.on_restart_after_idle(now, idle, rto);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.rule.on_acked(ack.delivered);
        let window = &mut self.reno.window;
        if window.is_held(ack) {
            return;
        }
        let left = window.slow_start(ack);
        if ack.cwnd_limited && left > 0 {
            self.avoid(left);
        }
    }

    fn forget_growth(&mut self, cwnd: u64) {
        self.reno.forget_growth(cwnd);
    }

    fn on_loss(&mut self, episode: &LossEpisode) {
        self.rule.on_loss();
        let before = self.reno.window.before_reduction(episode.flight_size);
        self.reno.on_loss(episode);
        self.set_threshold(before);
        self.reno.window.cwnd = self.reno.window.ssthresh;
        self.credit = 0.0;
    }

    fn on_ecn(&mut self, episode: &LossEpisode) {
        self.rule.on_loss();
        let before = self.reno.window.before_reduction(episode.flight_size);
        self.reno.on_ecn(episode);
        self.set_threshold(before);
        self.reno.window.cwnd = self.reno.window.ssthresh;
        self.credit = 0.0;
    }

    fn on_timeout(&mut self, episode: &LossEpisode, first: bool) {
        let before = self.reno.window.before_reduction(episode.flight_size);
        self.reno.on_timeout(episode, first);
        if first {
            self.rule.on_loss();
            self.set_threshold(before);
        }
        self.credit = 0.0;
    }

    fn on_recovered(&mut self, now: Instant, from: Recovery) {
        self.reno.on_recovered(now, from);
    }

    fn couple(&mut self, coupling: &Coupling) {
        self.coupling = *coupling;
    }

    fn loss_interval(&self) -> u64 {
        self.rule.loss_interval()
    }

    fn penalise(&mut self) {
        self.reno.penalise();
        self.credit = 0.0;
    }

    fn on_undo(&mut self, now: Instant) {
        self.reno.on_undo(now);
    }
}
