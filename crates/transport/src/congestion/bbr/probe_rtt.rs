//! The smallest RTT of the last ten seconds, and ProbeRTT, which measures it anew.

use super::{Bbr, State};
use crate::congestion::Ack;
use anabranch_units::{Instant, Span};

/// How long a smallest RTT is believed (draft section 4.1.2, "RTpropFilterLen").
const FILTER_LEN: Span = Span::from_secs(10);
/// Least time spent with the small window (draft section 4.3.5, "ProbeRTTDuration").
const DURATION: Span = Span::from_ms(200);

/// "BBR.RTprop" (draft section 4.1.2).
#[derive(Clone, Debug)]
pub struct MinRtt {
    /// [`Span::MAX`] before the first sample.
    pub value: Span,
    /// When it was last measured or confirmed.
    stamp: Instant,
}

impl Default for MinRtt {
    fn default() -> Self {
        Self { value: Span::MAX, stamp: Instant::ZERO }
    }
}

impl MinRtt {
    pub fn start(&mut self, now: Instant, rtt: Option<Span>) {
        self.value = rtt.unwrap_or(Span::MAX);
        self.stamp = now;
    }

    /// Takes in an RTT sample; true if the old value had expired (draft section 4.1.2.3, "BBRUpdateRTprop"; as in Linux
    /// since 5.6 a smaller one only).
    fn on_ack(&mut self, ack: &Ack) -> bool {
        let expired = ack.now.saturating_since(self.stamp) > FILTER_LEN;
        // A sample that is as small confirms nothing: a flow whose window alone limits it would never probe again.
        if let Some(rtt) = ack.rtt.filter(|&rtt| rtt < self.value || expired) {
            self.value = rtt;
            self.stamp = ack.now;
        }
        expired
    }

    /// Believes the value for another [`FILTER_LEN`].
    const fn confirm(&mut self, now: Instant) {
        self.stamp = now;
    }
}

/// Progress of the ProbeRTT state.
#[derive(Clone, Debug, Default)]
pub struct ProbeRtt {
    /// Earliest end; known once the small window is all that is in flight.
    done: Option<Instant>,
    /// A round with the small window has passed.
    round_done: bool,
    /// Samples of segments that left at these counts of delivered bytes, both included, are low by
    /// our own doing.
    depressed: Option<(u64, u64)>,
}

impl ProbeRtt {
    /// Whether a segment that left when `prior_delivered` bytes were delivered left during ProbeRTT. The
    /// draft and Linux mark the connection as limited by the application instead; the marks come
    /// out the same.
    pub(crate) fn depressed(&self, prior_delivered: u64) -> bool {
        self.depressed.is_some_and(|(first, last)| (first..=last).contains(&prior_delivered))
    }
}

impl Bbr {
    /// Keeps the smallest RTT, and goes through ProbeRTT when it has not been confirmed for
    /// [`FILTER_LEN`] (draft section 4.3.5, "BBRCheckProbeRTT").
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let expired = self.min_rtt.on_ack(ack);
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            let delivered = self.model.delivered;
            self.probe_rtt = ProbeRtt { depressed: Some((delivered, delivered)), ..ProbeRtt::default() };
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Draft section 4.3.5, "BBRHandleProbeRTT".
    fn handle_probe_rtt(&mut self, ack: &Ack) {
        if let Some((_, last)) = &mut self.probe_rtt.depressed {
            *last = self.model.delivered.saturating_add(ack.in_flight);
        }
        if self.probe_rtt.done.is_some() {
            self.probe_rtt.round_done |= self.model.round_start;
            if self.probe_rtt.round_done {
                self.leave_probe_rtt_if_done(ack.now);
            }
        } else if ack.in_flight <= self.min_pipe_cwnd() {
            self.probe_rtt.done = Some(ack.now.saturating_add(DURATION));
            self.probe_rtt.round_done = false;
            self.model.restart_round();
        }
    }

    /// Draft section 4.3.5, "BBRExitProbeRTT".
    pub(super) fn leave_probe_rtt_if_done(&mut self, now: Instant) {
        if self.probe_rtt.done.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt.confirm(now);
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full_pipe.reached {
            self.enter_probe_bw(now);
        } else {
            self.state = State::Startup;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::plain_ack;

    /// Draft section 4.1.2.3: expired is what is older than RTpropFilterLen, 10 s.
    #[test]
    fn a_smallest_rtt_is_believed_for_ten_seconds() {
        let (short, long) = (Span::from_ms(20), Span::from_ms(30));
        for (excess_ps, expires, believed) in [(0, false, short), (1, true, long)] {
            let mut min_rtt = MinRtt::default();
            min_rtt.start(Instant::ZERO, Some(short));
            let now = Instant::ZERO + Span::from_secs(10) + Span::from_ps(excess_ps);
            assert_eq!(min_rtt.on_ack(&Ack { rtt: Some(long), ..plain_ack(now) }), expires);
            assert_eq!(min_rtt.value, believed);
        }
    }
}
