//! CUBIC (RFC 9438): the window is a cubic function of the time since the last reduction.
//!
//! Windows are in bytes here, while RFC 9438 counts in segments; C is scaled accordingly.
//! Arithmetic is IEEE doubles with `+ - * /` and [`libm::cbrt`] only, so it is the same on every platform.

use super::window::Window;
use super::{Ack, ConfiguredController, CongestionControl, HyStart, LossEpisode, Recovery, Start};
use anabranch_units::declaration::above;
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// A cubic function of the time since the last loss (RFC 9438).
    #[derive(Copy)]
    pub struct CubicParameters {
        /// Slow start leaves early on rising delay (RFC 9406).
        hystart: bool = true;
        /// Multiplicative decrease (RFC 9438 section 4.6).
        beta: f64 = 0.7, above(0.0).below(1.0);
        /// What an ECN mark leaves of the window. RFC 9438 has beta's 0.7; ABE (RFC 8511 section 3.1) 0.85.
        beta_ecn: f64 = 0.7, above(0.0).below(1.0);
        /// Aggressiveness C in segments per second cubed (RFC 9438 section 5).
        c: f64 = 0.4, above(0.0);
        /// Give up bandwidth to newer flows (RFC 9438 section 4.7).
        fast_convergence: bool = true;
        /// Have at least the window that Reno would have (RFC 9438 section 4.3). ns-3 3.39 does not.
        reno_friendly: bool = true;
    }
}

impl ConfiguredController for Cubic {
    type Parameters = CubicParameters;

    fn configured(parameters: &CubicParameters, start: Start) -> Self {
        let cubic = Self::new(start.mss, start.initial_window, *parameters);
        let cubic = Self { remembers: start.undo, ..cubic };
        if parameters.hystart { cubic.with_hystart(HyStart::new(start.mss, start.paced)) } else { cubic }
    }
}

/// CUBIC.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Cubic {
    curve: Curve,
    /// C in bytes per second cubed.
    c: f64,
    /// Increase of the Reno-friendly window in bytes per window of bytes acknowledged, while it is below
    /// `cwnd_prior`: "alpha_cubic" times a segment (RFC 9438 section 4.3).
    friendly_increase: f64,
    /// When the last ACK arrived, or from when on time counts again.
    last_ack: Instant,
    window: Window,
    fast_convergence: bool,
    reno_friendly: bool,
    /// Fast recovery was entered and neither left nor undone.
    recovering: bool,
    /// A reduction may be taken back.
    remembers: bool,
    /// As in [`CubicParameters`].
    beta: f64,
    beta_ecn: f64,
    undo: Option<Box<Undo>>,
}

/// Where the window comes from and where it goes; what an undo gives back beside the window.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// "W_max" in bytes; 0 before the first congestion avoidance.
    w_max: f64,
    /// Window just before ssthresh was last set ("cwnd_prior"), in bytes; 0 before that.
    cwnd_prior: f64,
    /// The present stage of congestion avoidance; `None` in slow start and in recovery.
    epoch: Option<Epoch>,
}

/// One stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// "t": time since it began, less the times without need for a larger window.
    elapsed: Span,
    /// "K" in seconds: when the curve reaches its plateau.
    k: f64,
    /// Height of the plateau in bytes: W_max, or the window it began with if that is larger.
    plateau: f64,
    /// "W_est" in bytes: the window Reno would have.
    w_est: f64,
    /// Part of a byte by which the window is above its whole number.
    fraction: f64,
}

#[derive(Clone, Copy, Debug)]
struct Undo {
    cwnd: u64,
    ssthresh: u64,
    curve: Curve,
    last_ack: Instant,
}

impl Cubic {
    /// For segments of `mss` payload bytes, starting with `initial_window` bytes. The parameters are
    /// within their bounds; `hystart` is [`Cubic::with_hystart`]'s business.
    #[must_use]
    pub fn new(mss: u32, initial_window: u64, parameters: CubicParameters) -> Self {
        let window = Window::new(mss, initial_window);
        let segment = window.mss as f64;
        // RFC 9438 section 4.3: alpha = 3 (1 - beta) / (1 + beta) makes the mean window that of Reno.
        let alpha = 3.0 * (1.0 - parameters.beta) / (1.0 + parameters.beta);
        Self {
            window,
            beta: parameters.beta,
            beta_ecn: parameters.beta_ecn,
            fast_convergence: parameters.fast_convergence,
            reno_friendly: parameters.reno_friendly,
            c: parameters.c * segment,
            friendly_increase: alpha * segment,
            last_ack: Instant::ZERO,
            curve: Curve { w_max: 0.0, cwnd_prior: 0.0, epoch: None },
            recovering: false,
            remembers: true,
            undo: None,
        }
    }

    /// The same, with a slow start that ends early on rising delay (RFC 9406, RFC 9438 section 4.10).
    #[must_use]
    pub(crate) fn with_hystart(mut self, hystart: HyStart) -> Self {
        self.window.hystart = Some(hystart);
        self
    }

    /// Sets ssthresh, W_max and cwnd_prior for a congestion event that leaves `factor` of the window; returns the reduced window before
    /// any lower bound, in bytes.
    fn reduce(&mut self, episode: &LossEpisode, factor: f64) -> u64 {
        let Window { cwnd, ssthresh, mss, .. } = self.window;
        let Self { beta, fast_convergence, .. } = *self;
        // RFC 9438 section 4.9.2: what to remember.
        if self.remembers {
            self.undo = Some(Box::new(Undo { cwnd, ssthresh, curve: self.curve, last_ack: self.last_ack }));
        }
        let cwnd = cwnd as f64;
        // RFC 9438 section 4.7: a flow that lost before it was back at W_max makes room.
        let makes_room = fast_convergence && cwnd < self.curve.w_max;
        let w_max = if makes_room { cwnd * ((1.0 + beta) / 2.0) } else { cwnd };
        self.curve = Curve { w_max, cwnd_prior: cwnd, epoch: None };
        // RFC 9438 section 4.6.
        let reduced = (self.window.before_reduction(episode.flight_size) as f64 * factor).round() as u64;
        self.window.ssthresh = reduced.max(2 * mss);
        reduced
    }

    /// Congestion avoidance begins after a reduction (RFC 9438 section 4.2, figures 1 and 2).
    fn begin_epoch(&mut self, now: Instant) {
        let cwnd = self.window.cwnd as f64;
        let plateau = self.curve.w_max.max(cwnd);
        let k = libm::cbrt((plateau - cwnd) / self.c);
        self.curve.epoch = Some(Epoch { elapsed: Span::ZERO, k, plateau, w_est: cwnd, fraction: 0.0 });
        self.last_ack = now;
    }

    /// Congestion avoidance begins at the end of slow start: K is 0 and W_max the present window
    /// (RFC 9438 section 4.8 after a timeout, section 4.10 after a slow start without loss).
    fn begin_epoch_after_slow_start(&mut self, now: Instant) {
        let cwnd = self.window.cwnd as f64;
        self.curve.w_max = cwnd;
        if self.curve.cwnd_prior == 0.0 {
            self.curve.cwnd_prior = cwnd;
        }
        self.begin_epoch(now);
    }

    /// One ACK of congestion avoidance, for `acked` bytes, `passed` after the last.
    #[inline]
    fn avoid(&mut self, passed: Span, acked: u64, srtt: Span) {
        let Some(epoch) = &mut self.curve.epoch else { return };
        epoch.elapsed += passed;
        let cwnd = self.window.cwnd as f64 + epoch.fraction;
        let share = (acked as f64 / cwnd).min(1.0);
        // RFC 9438 section 4.3, figure 4; alpha is 1 from W_est >= cwnd_prior on.
        let caught_up = epoch.w_est >= self.curve.cwnd_prior;
        epoch.w_est += if caught_up { self.window.mss as f64 } else { self.friendly_increase } * share;
        let t = seconds(epoch.elapsed) - epoch.k;
        let grown = if self.reno_friendly && epoch.w_cubic(self.c, t) < epoch.w_est {
            // Reno-friendly region (RFC 9438 section 4.3).
            epoch.w_est.max(cwnd)
        } else {
            // Concave and convex region (RFC 9438 sections 4.4 and 4.5), aiming one RTT ahead; section 4.2
            // bounds the aim.
            let target = epoch.w_cubic(self.c, t + seconds(srtt)).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) * share
        };
        self.window.cwnd = grown as u64;
        epoch.fraction = grown - self.window.cwnd as f64;
    }
}

impl Epoch {
    /// W_cubic in bytes at `t` seconds after K, with C in bytes (RFC 9438 figure 1).
    #[inline]
    fn w_cubic(&self, c: f64, t: f64) -> f64 {
        c * (t * t * t) + self.plateau
    }
}

/// Seconds by a multiplication; [`Span::as_secs_f64`] divides, and this runs twice for each ACK.
#[inline]
fn seconds(span: Span) -> f64 {
    span.as_ps() as f64 * 1e-12
}

impl CongestionControl for Cubic {
    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }

    fn phase(&self) -> &'static str {
        self.window.phase()
    }

    /// Idle time does not count as time on the curve (RFC 9438 sections 4.2 and 5.8).
    fn on_restart_after_idle(&mut self, now: Instant, _idle: Span, _rto: Span) {
        self.window.restart();
        self.last_ack = now;
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if self.window.is_held(ack) {
            self.last_ack = ack.now;
            return;
        }
        let left = self.window.slow_start(ack);
        if self.window.in_slow_start() {
            self.last_ack = ack.now;
            return;
        }
        if self.curve.epoch.is_none() {
            self.begin_epoch_after_slow_start(ack.now);
            return;
        }
        let passed = ack.now.saturating_since(self.last_ack);
        self.last_ack = ack.now;
        // RFC 9438 section 5.8: neither the window nor the time moves while the window is not used.
        if ack.cwnd_limited && left > 0 {
            self.avoid(passed, left, ack.srtt);
        }
    }

    fn forget_growth(&mut self, cwnd: u64) {
        self.window.cwnd = self.window.cwnd.min(cwnd.max(self.window.mss));
    }

    fn on_loss(&mut self, episode: &LossEpisode) {
        let _ = self.reduce(episode, self.beta);
        self.window.cwnd = self.window.ssthresh;
        self.recovering = true;
    }

    fn on_ecn(&mut self, episode: &LossEpisode) {
        // RFC 9438 section 4.6: after a mark the window may go down to one segment.
        self.window.cwnd = self.reduce(episode, self.beta_ecn).max(self.window.mss);
        self.begin_epoch(episode.now);
        self.window.hold(episode.snd_nxt);
        // A mark is never spurious.
        self.undo = None;
    }

    fn on_timeout(&mut self, episode: &LossEpisode, first: bool) {
        // RFC 9438 section 4.8: the window as in RFC 5681 section 3.1, ssthresh with beta.
        if first {
            let _ = self.reduce(episode, self.beta);
        }
        self.curve.epoch = None;
        self.window.collapse();
        self.recovering = false;
    }

    fn on_recovered(&mut self, now: Instant, from: Recovery) {
        if from == Recovery::Fast && self.recovering {
            self.window.cwnd = self.window.ssthresh;
            self.begin_epoch(now);
        }
        self.recovering = false;
    }

    /// The curve starts anew from where the window is then.
    fn penalise(&mut self) {
        self.window.penalise();
        self.curve.epoch = None;
        // What an undo would bring back is what held the connection up.
        self.undo = None;
    }

    fn on_undo(&mut self, _now: Instant) {
        let Some(undo) = self.undo.take() else { return };
        self.recovering = false;
        // RFC 9438 section 4.9: a window that is larger already keeps its newer state.
        if self.window.cwnd < undo.cwnd {
            self.window.cwnd = undo.cwnd;
            self.window.ssthresh = undo.ssthresh;
            self.curve = undo.curve;
            self.last_ack = undo.last_ack;
        }
    }
}
