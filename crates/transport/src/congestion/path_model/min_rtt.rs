use anabranch_units::{Instant, Span};

/// The smallest RTT, believed for so long.
#[derive(Clone, Debug)]
pub struct MinRtt {
    /// [`Span::MAX`] before the first sample.
    pub value: Span,
    /// When it was last measured or confirmed.
    pub stamp: Instant,
    believed_for: Span,
}

impl MinRtt {
    pub(crate) const fn new(believed_for: Span) -> Self {
        Self { value: Span::MAX, stamp: Instant::ZERO, believed_for }
    }

    pub fn start(&mut self, now: Instant, rtt: Option<Span>) {
        self.value = rtt.unwrap_or(Span::MAX);
        self.stamp = now;
    }

    /// Takes in a sample and when it was measured; true if the old value had expired. One that is as small confirms
    /// nothing: a flow whose window alone limits it would never probe again.
    pub(crate) fn take(&mut self, now: Instant, sample: Option<(Span, Instant)>) -> bool {
        let expired = now.saturating_since(self.stamp) > self.believed_for;
        if let Some((rtt, stamp)) = sample.filter(|&(rtt, _)| rtt < self.value || expired) {
            self.value = rtt;
            self.stamp = stamp;
        }
        expired
    }

    /// Believes the value for as long again.
    pub(crate) const fn confirm(&mut self, now: Instant) {
        self.stamp = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draft-cardwell-iccrg-bbr-congestion-control-00 section 4.1.2.3: expired is what is older than RTpropFilterLen, 10 s.
    #[test]
    fn a_smallest_rtt_is_believed_for_ten_seconds() {
        let (short, long) = (Span::from_ms(20), Span::from_ms(30));
        for (excess_ps, expires, believed) in [(0, false, short), (1, true, long)] {
            let mut min_rtt = MinRtt::new(Span::from_secs(10));
            min_rtt.start(Instant::ZERO, Some(short));
            let now = Instant::ZERO + Span::from_secs(10) + Span::from_ps(excess_ps);
            assert_eq!(min_rtt.take(now, Some((long, now))), expires);
            assert_eq!(min_rtt.value, believed);
        }
    }
}
