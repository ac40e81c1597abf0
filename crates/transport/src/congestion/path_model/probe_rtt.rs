use super::RoundTrips;
use crate::congestion::Ack;
use anabranch_units::{Instant, Span};

/// Least time spent with the small window (draft-ietf-ccwg-bbr-06 section 2.16.2, "ProbeRTTDuration").
const DURATION: Span = Span::from_ms(200);

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
    /// At a count of delivered bytes.
    pub(crate) fn begin(delivered: u64) -> Self {
        Self { depressed: Some((delivered, delivered)), ..Self::default() }
    }

    /// Whether a segment that left when `prior_delivered` bytes were delivered left during ProbeRTT. The
    /// drafts and Linux mark the connection as limited by the application instead; the marks come
    /// out the same.
    pub(crate) fn depressed(&self, prior_delivered: u64) -> bool {
        self.depressed.is_some_and(|(first, last)| (first..=last).contains(&prior_delivered))
    }

    /// "HandleProbeRTT": an ACK with `window` as the small window. Whether a round with it has passed.
    pub(crate) fn on_ack(&mut self, ack: &Ack, rounds: &mut RoundTrips, window: u64) -> bool {
        if let Some((_, last)) = &mut self.depressed {
            *last = rounds.delivered.saturating_add(ack.in_flight);
        }
        if self.done.is_some() {
            self.round_done |= rounds.start;
            return self.round_done;
        }
        if ack.in_flight <= window {
            self.done = Some(ack.now.saturating_add(DURATION));
            self.round_done = false;
            rounds.restart();
        }
        false
    }

    /// "CheckProbeRTTDone": whether its time is over.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.done.is_some_and(|done| now > done)
    }
}
