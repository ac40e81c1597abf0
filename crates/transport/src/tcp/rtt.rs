use anabranch_units::Span;

/// Timeout of the first data after a SYN was lost (RFC 6298 (5.7)).
const AFTER_LOST_HANDSHAKE: Span = Span::from_secs(3);

/// Round-trip times of a connection.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct RttSummary {
    /// SRTT (RFC 6298).
    pub smoothed: Span,
    /// Smallest, free of delayed ACKs.
    pub min: Span,
    /// Mean of all samples.
    pub mean: Span,
    /// Largest.
    pub max: Span,
    /// Latest.
    pub latest: Span,
}

/// Round-trip time estimator and retransmission timeout (RFC 6298).
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    srtt: Span,
    rttvar: Span,
    min: Span,
    latest: Span,
    samples: u64,
    sum_ps: u128,
    max: Span,
    base_rto: Span,
    bounds: (Span, Span),
    /// Least margin above SRTT: G in RFC 6298 (2.3).
    margin: Span,
    backoff: u32,
}

impl RttEstimator {
    /// With the least and the largest timeout, and the least margin of the timeout above SRTT.
    pub(crate) fn new(initial_rto: Span, (min_rto, max_rto): (Span, Span), margin: Span) -> Self {
        Self {
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            min: Span::MAX,
            latest: Span::ZERO,
            samples: 0,
            sum_ps: 0,
            max: Span::ZERO,
            base_rto: initial_rto,
            bounds: (min_rto, max_rto),
            margin,
            backoff: 0,
        }
    }

    /// Takes a sample; a valid one also ends the back-off (RFC 6298 section 5.7).
    pub(crate) fn on_sample(&mut self, rtt: Span) {
        if self.samples == 0 {
            // RFC 6298 (2.2)
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            // RFC 6298 (2.3): alpha = 1/8, beta = 1/4, rttvar first.
            let error = self.srtt.as_ps().abs_diff(rtt.as_ps());
            self.rttvar = Span::from_ps(self.rttvar.as_ps() - self.rttvar.as_ps() / 4 + error / 4);
            self.srtt = Span::from_ps(self.srtt.as_ps() - self.srtt.as_ps() / 8 + rtt.as_ps() / 8);
        }
        self.samples += 1;
        self.sum_ps += u128::from(rtt.as_ps());
        self.max = self.max.max(rtt);
        self.latest = rtt;
        self.backoff = 0;
        self.base_rto = self.srtt + self.rttvar.saturating_mul(4).max(self.margin);
    }

    /// RFC 6298 (5.7): the SYN was sent again, and no sample says that less than three seconds are enough.
    pub(crate) fn on_lost_handshake(&mut self) {
        self.base_rto = self.base_rto.max(AFTER_LOST_HANDSHAKE);
        self.backoff = 0;
    }

    /// Takes the delay of the newest acknowledged segment, free of delayed ACKs.
    pub(crate) fn on_minimum_candidate(&mut self, rtt: Span) {
        self.min = self.min.min(rtt);
    }

    /// RFC 6298 (2.3) to (2.5), backed off by (5.5).
    pub(crate) fn rto(&self) -> Span {
        let base = if self.samples == 0 { self.base_rto } else { self.base_rto.max(self.bounds.0) };
        base.saturating_mul(1 << self.backoff.min(30)).min(self.bounds.1)
    }

    /// RFC 6298 (5.5)
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(30);
    }

    pub(crate) fn has_sample(&self) -> bool {
        self.samples > 0
    }

    pub(crate) fn srtt(&self) -> Span {
        self.srtt
    }

    pub(crate) fn rttvar(&self) -> Span {
        self.rttvar
    }

    /// How often the timeout has doubled.
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Smallest delay seen; [`Span::MAX`] before the first.
    pub(crate) fn min(&self) -> Span {
        self.min
    }

    /// All zero before the first sample.
    pub(crate) fn summary(&self) -> RttSummary {
        RttSummary {
            smoothed: self.srtt,
            min: if self.has_sample() { self.min } else { Span::ZERO },
            mean: Span::from_ps((self.sum_ps / u128::from(self.samples.max(1))) as u64),
            max: self.max,
            latest: self.latest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator() -> RttEstimator {
        with_margin(Span::from_ms(1))
    }

    fn with_margin(margin: Span) -> RttEstimator {
        RttEstimator::new(Span::from_secs(1), (Span::from_ms(200), Span::from_secs(60)), margin)
    }

    /// RFC 6298 (2.3): G keeps the timer off the round trip itself where that never varies; Linux
    /// has 200 ms there, so that a delayed ACK is not too late either.
    #[test]
    fn a_constant_round_trip_leaves_a_margin() {
        for margin in [1, 200] {
            let mut rtt = with_margin(Span::from_ms(margin));
            (0..200).for_each(|_| rtt.on_sample(Span::from_ms(300)));
            assert_eq!(rtt.rto(), Span::from_ms(300 + margin));
        }
    }

    /// RFC 6298 section 2, by hand: 100 ms, then 180 ms.
    #[test]
    fn the_estimator_follows_the_rfc() {
        let mut rtt = estimator();
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.on_sample(Span::from_ms(100));
        assert_eq!((rtt.srtt(), rtt.rto()), (Span::from_ms(100), Span::from_ms(300)));
        rtt.on_sample(Span::from_ms(180));
        // rttvar = 3/4 x 50 + 1/4 x 80 = 57.5, srtt = 7/8 x 100 + 1/8 x 180 = 110
        assert_eq!((rtt.srtt(), rtt.rto()), (Span::from_ms(110), Span::from_ms(340)));
    }

    #[test]
    fn the_timeout_backs_off_within_its_bounds() {
        let mut rtt = estimator();
        rtt.on_sample(Span::from_ms(1));
        assert_eq!(rtt.rto(), Span::from_ms(200));
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_ms(400));
        (0..40).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Span::from_secs(60));
        rtt.on_sample(Span::from_ms(1));
        assert_eq!(rtt.rto(), Span::from_ms(200));
    }
}
