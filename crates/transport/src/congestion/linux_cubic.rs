//! CUBIC as Linux has it. Beside RFC 9438: windows, reductions and the curve are whole segments; the window grows by a
//! segment for every so many acknowledged, a number that is computed when the window has changed or 1/32 s has passed;
//! the Reno-friendly window grows by 8/15 of a segment a round for ever; slow start ends by HyStart as first published.

use super::classic_hystart::ClassicHyStart;
use super::segments::SegmentWindow;
use super::{Ack, ConfiguredController, CongestionControl, LossEpisode, Recovery, Start};
use anabranch_units::declaration::above;
use anabranch_units::{Instant, Span};

/// The kernel's clock: what follows from the time is computed once in each tick of HZ = 250.
const TICK: Span = Span::from_ms(4);
/// For so many ticks a growth that has been computed holds while the window stays: HZ / 32.
const HOLDS_TICKS: u64 = 7;
/// The fewest acknowledged segments for one of the window.
const FEWEST_ACKED: u64 = 2;
/// The most before the first loss, when no curve is known.
const MOST_ACKED_WITHOUT_LOSS: u64 = 20;
/// Windows to be acknowledged for a segment where the curve lies below the window.
const PLATEAU: u64 = 100;
/// How long after the start of an epoch delays say nothing of the path.
const SETTLING: Span = Span::from_secs(1);

anabranch_units::parameters! {
    /// CUBIC of Linux: whole segments, HyStart with ACK trains (Ha and Rhee 2011), a friendly window that grows alike
    /// for ever.
    #[derive(Copy)]
    pub struct LinuxCubicParameters {
        /// Slow start ends early on long ACK trains or rising delay (Ha and Rhee 2011).
        hystart: bool = true;
        /// Multiplicative decrease, 717/1024.
        beta: f64 = 0.7001953125, above(0.0).below(1.0);
        /// Aggressiveness C in segments per second cubed, 410/1024.
        c: f64 = 0.400390625, above(0.0);
        /// Give up bandwidth to newer flows (RFC 9438 section 4.7).
        fast_convergence: bool = true;
    }
}

/// CUBIC of Linux.
#[derive(Clone, Debug)]
pub struct LinuxCubic {
    window: SegmentWindow,
    parameters: LinuxCubicParameters,
    /// Part of a window to be acknowledged for a segment of the friendly one, in eighths.
    friendly_eighths: u64,
    /// In a box, because the controller lies in every sender, whatever its algorithm.
    delays: Box<ClassicHyStart>,
    /// "W_max" in segments; 0 before the first loss and after a timeout.
    w_max: u64,
    epoch: Option<Epoch>,
    growth: Growth,
}

/// One stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Instant,
    /// "K" in seconds.
    k: f64,
    /// Height of the plateau in segments.
    plateau: u64,
    /// The window that Reno would have, in segments, and what was acknowledged towards its next one.
    friendly: u64,
    acked: u64,
}

/// Segments to be acknowledged for one of the window, as computed last.
#[derive(Clone, Copy, Default, Debug)]
struct Growth {
    acked_per_segment: u64,
    for_cwnd: u64,
    tick: u64,
}

impl ConfiguredController for LinuxCubic {
    type Parameters = LinuxCubicParameters;

    fn configured(parameters: &LinuxCubicParameters, start: Start) -> Self {
        Self::new(start.mss, start.initial_window, *parameters)
    }
}

impl LinuxCubic {
    /// For segments of `mss` payload bytes, starting with `initial_window` bytes. The parameters are within their
    /// bounds.
    #[must_use]
    pub fn new(mss: u32, initial_window: u64, parameters: LinuxCubicParameters) -> Self {
        // RFC 9438 section 4.3: alpha = 3 (1 - beta) / (1 + beta) segments a window, in whole eighths of a window
        // for a segment: 15/8 with the usual beta.
        let windows = (1.0 + parameters.beta) / (3.0 * (1.0 - parameters.beta));
        Self {
            window: SegmentWindow::new(mss, initial_window),
            parameters,
            friendly_eighths: ((8.0 * windows) as u64).max(1),
            delays: Box::default(),
            w_max: 0,
            epoch: None,
            growth: Growth::default(),
        }
    }

    fn reduce(&mut self) {
        let LinuxCubicParameters { beta, fast_convergence, .. } = self.parameters;
        let cwnd = self.window.cwnd;
        // RFC 9438 section 4.7.
        let makes_room = fast_convergence && cwnd < self.w_max;
        self.w_max = if makes_room { (cwnd as f64 * ((1.0 + beta) / 2.0)) as u64 } else { cwnd };
        self.epoch = None;
        self.window.reduce((cwnd as f64 * beta) as u64);
    }

    /// RFC 9438 section 4.2: the curve through the present window.
    fn begin_epoch(&self, now: Instant) -> Epoch {
        let cwnd = self.window.cwnd;
        let below = self.w_max.saturating_sub(cwnd);
        Epoch {
            began: now,
            k: libm::cbrt(below as f64 / self.parameters.c),
            plateau: self.w_max.max(cwnd),
            friendly: cwnd,
            acked: 0,
        }
    }

    /// How many segments must be acknowledged for the next one of the window.
    fn acked_per_segment(&mut self, now: Instant, acked: u64) -> u64 {
        let cwnd = self.window.cwnd;
        let begins = self.epoch.is_none();
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(now));
        epoch.acked = epoch.acked.saturating_add(acked);
        let (tick, before) = (ticks(now), self.growth);
        if begins || before.for_cwnd != cwnd || tick - before.tick > HOLDS_TICKS {
            if begins || tick != before.tick {
                self.growth = Growth { acked_per_segment: self.by_curve(&epoch, now), for_cwnd: cwnd, tick };
            }
            let per = self.growth.acked_per_segment.min(epoch.by_friendliness(cwnd, self.friendly_eighths));
            self.growth.acked_per_segment = per.max(FEWEST_ACKED);
        }
        self.epoch = Some(epoch);
        self.growth.acked_per_segment
    }

    /// RFC 9438 section 4.2, one smallest round trip ahead, in whole segments.
    fn by_curve(&self, epoch: &Epoch, now: Instant) -> u64 {
        let cwnd = self.window.cwnd;
        let ahead = ticks(now).saturating_sub(ticks(epoch.began))
            + self.delays.min_delay().as_ps().div_ceil(TICK.as_ps());
        let offset = (ahead * TICK.as_ps()) as f64 * 1e-12 - epoch.k;
        let distance = (self.parameters.c * (offset * offset * offset).abs()) as u64;
        let target = if offset < 0.0 {
            epoch.plateau.saturating_sub(distance)
        } else {
            epoch.plateau.saturating_add(distance)
        };
        let per = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(PLATEAU) };
        if self.w_max == 0 { per.min(MOST_ACKED_WITHOUT_LOSS) } else { per }
    }

    /// Delays of the first second of an epoch are those of the queue that overflowed.
    fn take_delay(&mut self, ack: &Ack) {
        let settling = self.epoch.is_some_and(|epoch| ack.now.saturating_since(epoch.began) < SETTLING);
        let Some(delay) = ack.rtt.filter(|_| !settling) else { return };
        self.delays.take_delay(delay);
        if self.parameters.hystart
            && self.window.in_slow_start()
            && self.delays.on_ack(ack, self.window.cwnd, self.window.cwnd_bytes())
        {
            self.window.leave_slow_start();
        }
    }
}

/// The tick of the kernel's clock in which an instant lies.
fn ticks(at: Instant) -> u64 {
    at.as_ps() / TICK.as_ps()
}

impl Epoch {
    /// Where the friendly window is ahead, it is to be reached within a window of ACKs (RFC 9438 section 4.3).
    fn by_friendliness(&mut self, cwnd: u64, eighths: u64) -> u64 {
        let per = (cwnd.saturating_mul(eighths) / 8).max(1);
        // A segment for each `per` once more than these are acknowledged.
        let grown = self.acked.saturating_sub(1) / per;
        self.friendly = self.friendly.saturating_add(grown);
        self.acked -= grown * per;
        match self.friendly.saturating_sub(cwnd) {
            0 => u64::MAX,
            ahead => cwnd / ahead,
        }
    }
}

impl CongestionControl for LinuxCubic {
    fn cwnd(&self) -> u64 {
        self.window.cwnd_bytes()
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh_bytes()
    }

    /// Idle time is no time on the curve (RFC 9438 section 5.8).
    fn on_restart_after_idle(&mut self, _now: Instant, idle: Span, rto: Span) {
        self.window.restart(idle, rto);
        if let Some(epoch) = &mut self.epoch {
            epoch.began = epoch.began.saturating_add(idle);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.take_delay(ack);
        if self.window.is_held(ack) || !ack.cwnd_limited {
            return;
        }
        let left = self.window.slow_start(self.window.segments(ack.growth));
        if left > 0 {
            let per = self.acked_per_segment(ack.now, left);
            self.window.avoid(left, per);
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

    /// Everything that was learnt of the path is forgotten.
    fn on_timeout(&mut self, _episode: &LossEpisode, first: bool) {
        if first {
            self.reduce();
        }
        self.window.collapse();
        self.w_max = 0;
        self.epoch = None;
        self.delays.reset();
    }

    fn on_recovered(&mut self, _now: Instant, from: Recovery) {
        self.window.recovered(from);
    }

    fn penalise(&mut self) {
        self.window.penalise();
        self.epoch = None;
    }

    fn on_undo(&mut self, _now: Instant) {
        let _ = self.window.undo();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{MSS, SEGMENT, episode, plain_ack};

    /// Delays within the first second of an epoch are no samples; that of a second behind its beginning is.
    #[test]
    fn delays_count_from_a_second_into_the_epoch_on() {
        let mut cubic = LinuxCubic::new(MSS, 10 * SEGMENT, LinuxCubicParameters::default());
        let began = Instant::ZERO + Span::from_secs(5);
        cubic.on_loss(&episode(began, 10 * SEGMENT));
        let ack = |after, rtt_ms| Ack { rtt: Some(Span::from_ms(rtt_ms)), ..plain_ack(began + after) };
        cubic.on_ack(&ack(Span::ZERO, 90));
        let last = Span::from_secs(1) - Span::from_ps(1);
        for (after, rtt_ms, least_ms) in [(last, 80, 90), (Span::from_secs(1), 85, 85), (last + last, 70, 70)]
        {
            cubic.on_ack(&ack(after, rtt_ms));
            assert_eq!(cubic.delays.min_delay(), Span::from_ms(least_ms), "after {after}");
        }
    }
}
