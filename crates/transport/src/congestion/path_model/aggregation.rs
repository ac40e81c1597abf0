use super::Bandwidth;
use anabranch_units::Instant;

/// Bytes acknowledged since ACKs last fell behind the bandwidth (draft-ietf-ccwg-bbr-06 section 5.5.9,
/// "UpdateACKAggregation").
#[derive(Clone, Debug, Default)]
pub struct AckEpoch {
    start: Instant,
    acked: u64,
}

impl AckEpoch {
    /// Nothing was expected up to now.
    pub(crate) const fn restart(&mut self, now: Instant) {
        self.start = now;
        self.acked = 0;
    }

    pub(crate) const fn acked(&self) -> u64 {
        self.acked
    }

    /// An ACK of `delivered` bytes; how far ACKs are now ahead of what `bandwidth` delivers in that time.
    pub(crate) fn on_ack(&mut self, now: Instant, delivered: u64, bandwidth: Bandwidth) -> u64 {
        let mut expected = bandwidth.bytes_in(now.saturating_since(self.start)) as u64;
        if self.acked <= expected {
            self.restart(now);
            expected = 0;
        }
        self.acked = self.acked.saturating_add(delivered);
        self.acked.saturating_sub(expected)
    }
}
