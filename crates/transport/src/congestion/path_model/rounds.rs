use super::Bandwidth;
use crate::congestion::Ack;

/// Packet-timed round trips (draft-ietf-ccwg-bbr-06 section 5.5.1).
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    pub count: u64,
    /// The connection's count of delivered bytes.
    pub delivered: u64,
    /// A sample whose segment left when this much was delivered ends the round.
    next_round_delivered: u64,
    /// The present ACK begins a round.
    pub start: bool,
}

impl RoundTrips {
    /// Takes in an ACK; its delivery rate, if it gives one.
    pub(crate) fn on_ack(&mut self, ack: &Ack) -> Option<Bandwidth> {
        self.start = false;
        let Some(rate) = ack.rate else {
            self.delivered = self.delivered.saturating_add(ack.delivered);
            return None;
        };
        self.delivered = rate.total_delivered;
        let sample = Bandwidth::of(rate.delivered, rate.interval)?;
        // "UpdateRound".
        if rate.prior_delivered >= self.next_round_delivered {
            self.restart();
            self.count += 1;
            self.start = true;
        }
        Some(sample)
    }

    /// A round begins with what is delivered now ("StartRound").
    pub(crate) const fn restart(&mut self) {
        self.next_round_delivered = self.delivered;
    }
}
