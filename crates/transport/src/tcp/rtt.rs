use crate::congestion::MaxFilter;
use anabranch_units::{Instant, Span};
use std::cmp::Reverse;

/// Parts of the time for which a minimum is believed; it goes with the part in which it was measured.
const PARTS: usize = 10;
/// Timeout of the first data after a SYN was lost (RFC 6298 (5.7)).
const AFTER_LOST_HANDSHAKE: Span = Span::from_secs(3);

/// Round-trip times of a connection, none below the true ones: `min <= mean <= max`, and `smoothed` and `latest` lie
/// between the ends, too.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct RttSummary {
    /// Smoothed as by RFC 6298.
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

/// A round trip that a timestamp's echo tells, by a clock of ticks (RFC 7323 section 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EchoedRtt {
    /// The difference of two timestamps: a tick less or more than the true one.
    pub(crate) read: Span,
    /// Since the tick of the echoed timestamp began: up to a tick more than the true one, and never less.
    pub(crate) bound: Span,
}

/// Round-trip time estimator and retransmission timeout (RFC 6298).
///
/// What the sender goes by and what is reported are apart where a clock of ticks tells the round trip: SRTT and RTTVAR
/// take what it reads, as in Linux; all that is reported, and the minimum, takes what the round trip cannot exceed.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    srtt: Span,
    rttvar: Span,
    /// SRTT of what is reported.
    reported_srtt: Span,
    /// Smallest of the whole connection.
    least: Span,
    /// Smallest that is still believed.
    min: Span,
    /// What believes it for some time only.
    recent: Option<Box<RecentMinimum>>,
    latest: Span,
    samples: u64,
    /// All samples in picoseconds, modulo 2^64, and how often that has wrapped: in less room than one integer of both.
    sum_ps: u64,
    sum_wraps: u32,
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
            reported_srtt: Span::ZERO,
            least: Span::MAX,
            min: Span::MAX,
            recent: None,
            latest: Span::ZERO,
            samples: 0,
            sum_ps: 0,
            sum_wraps: 0,
            max: Span::ZERO,
            base_rto: initial_rto,
            bounds: (min_rto, max_rto),
            margin,
            backoff: 0,
        }
    }

    /// Believes a minimum for `window` and no longer; zero: as long as the connection lives. RFC 8985 section 6.2 step 1
    /// leaves the choice.
    pub(crate) fn believing(mut self, window: Span) -> Self {
        self.recent = (window > Span::ZERO).then(|| Box::new(RecentMinimum::new(window)));
        self
    }

    /// Takes a sample; a valid one also ends the back-off (RFC 6298 section 5.7).
    #[inline]
    pub(crate) fn on_sample(&mut self, rtt: Span) {
        self.estimate(rtt);
        self.report(rtt);
        self.samples += 1;
    }

    /// Takes a sample of the timestamps, which is a candidate for the minimum, too: without it, a flow whose first
    /// segments were all sent twice has none.
    pub(crate) fn on_echo(&mut self, now: Instant, rtt: EchoedRtt) {
        self.estimate(rtt.read);
        self.report(rtt.bound);
        self.samples += 1;
        self.least = self.least.min(rtt.bound);
        self.believe(now, rtt.read);
    }

    fn estimate(&mut self, rtt: Span) {
        if self.samples == 0 {
            // RFC 6298 (2.2)
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            // RFC 6298 (2.3): alpha = 1/8, beta = 1/4, rttvar first.
            let error = self.srtt.as_ps().abs_diff(rtt.as_ps());
            self.rttvar = Span::from_ps(self.rttvar.as_ps() - self.rttvar.as_ps() / 4 + error / 4);
            self.srtt = smooth(self.srtt, rtt);
        }
        self.backoff = 0;
        self.base_rto = self.srtt + self.rttvar.saturating_mul(4).max(self.margin);
    }

    fn report(&mut self, rtt: Span) {
        self.reported_srtt = if self.samples == 0 { rtt } else { smooth(self.reported_srtt, rtt) };
        let (sum, wraps) = self.sum_ps.overflowing_add(rtt.as_ps());
        self.sum_ps = sum;
        self.sum_wraps += u32::from(wraps);
        self.max = self.max.max(rtt);
        self.latest = rtt;
    }

    /// RFC 6298 (5.7): the SYN was sent again, and no sample says that less than three seconds are enough.
    pub(crate) fn on_lost_handshake(&mut self) {
        self.base_rto = self.base_rto.max(AFTER_LOST_HANDSHAKE);
        self.backoff = 0;
    }

    /// Takes the delay of the newest acknowledged segment, free of delayed ACKs.
    #[inline(always)]
    pub(crate) fn on_minimum_candidate(&mut self, now: Instant, rtt: Span) {
        self.least = self.least.min(rtt);
        self.believe(now, rtt);
    }

    #[inline(always)]
    fn believe(&mut self, now: Instant, rtt: Span) {
        self.min = match &mut self.recent {
            Some(recent) => recent.take(now, rtt),
            None => self.min.min(rtt),
        };
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

    /// SRTT of what is reported.
    pub(crate) fn reported_srtt(&self) -> Span {
        self.reported_srtt
    }

    pub(crate) fn rttvar(&self) -> Span {
        self.rttvar
    }

    /// How often the timeout has doubled.
    pub(crate) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// Smallest delay that is still believed; [`Span::MAX`] before the first.
    pub(crate) fn min(&self) -> Span {
        self.min
    }

    /// All zero before the first sample.
    pub(crate) fn summary(&self) -> RttSummary {
        let sum = u128::from(self.sum_wraps) << u64::BITS | u128::from(self.sum_ps);
        RttSummary {
            smoothed: self.reported_srtt,
            min: if self.has_sample() { self.least } else { Span::ZERO },
            mean: Span::from_ps((sum / u128::from(self.samples.max(1))) as u64),
            max: self.max,
            latest: self.latest,
        }
    }
}

/// RFC 6298 (2.3) with alpha = 1/8. What comes out lies between the two.
fn smooth(srtt: Span, rtt: Span) -> Span {
    Span::from_ps(srtt.as_ps() - srtt.as_ps() / 8 + rtt.as_ps() / 8)
}

/// A round-trip time, the shorter the greater.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
struct Shortness(Reverse<Span>);

impl Default for Shortness {
    fn default() -> Self {
        Self(Reverse(Span::MAX))
    }
}

/// Smallest RTT of the last parts of a time; as long as no new one comes it stays.
#[derive(Clone, Debug)]
struct RecentMinimum {
    part: Span,
    shortest: MaxFilter<Shortness, PARTS>,
}

impl RecentMinimum {
    fn new(window: Span) -> Self {
        let part = (window / PARTS as u64).max(Span::from_ps(1));
        Self { part, shortest: MaxFilter::default() }
    }

    #[inline(never)]
    fn take(&mut self, now: Instant, rtt: Span) -> Span {
        let part = now.since(Instant::ZERO).as_ps() / self.part.as_ps();
        self.shortest.insert(part, Shortness(Reverse(rtt)));
        self.shortest.max().0.0
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

    /// A clock of 1 ms reads 20 where 20.7 ms pass: SRTT, RTTVAR, the minimum and the timeout are those of Linux, and what is reported
    /// lies in order and not below the path, whichever kinds of samples there are.
    #[test]
    fn what_is_reported_is_never_below_what_was_measured() {
        let echo = EchoedRtt { read: Span::from_ms(20), bound: Span::from_us(21_400) };
        let exact = Span::from_us(20_700);
        for order in [[true, false, true], [false, true, true], [true, true, true], [false, false, true]] {
            let (mut rtt, mut ms) = (estimator(), Vec::new());
            for echoed in order {
                if echoed {
                    rtt.on_echo(Instant::ZERO, echo);
                } else {
                    rtt.on_sample(exact);
                    rtt.on_minimum_candidate(Instant::ZERO, exact);
                }
                ms.push(if echoed { echo.bound } else { exact });
            }
            let RttSummary { smoothed, min, mean, max, latest } = rtt.summary();
            assert_eq!((min, max, latest), (*ms.iter().min().unwrap(), *ms.iter().max().unwrap(), ms[2]));
            assert_eq!(mean.as_ps(), ms.iter().map(|one| one.as_ps()).sum::<u64>() / 3);
            assert!(min <= mean && mean <= max && min <= smoothed && smoothed <= max, "{order:?}");
            assert!(rtt.srtt() < smoothed);
            assert_eq!(rtt.min(), echo.read, "the sender believes what it reads");
        }
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

    /// A minimum of 20 ms that was measured in the first of ten parts of 30 s: the samples of 30 ms behind it take its
    /// place when the eleventh part begins. The smallest of the whole connection is still 20 ms.
    #[test]
    fn a_minimum_is_believed_for_so_long() {
        for (window_s, at_s, believed_ms) in [(300, 299, 20), (300, 300, 30), (0, 300, 20), (0, 900, 20)] {
            let mut rtt = estimator().believing(Span::from_secs(window_s));
            let mut take = |at_s, ms| {
                rtt.on_sample(Span::from_ms(ms));
                rtt.on_minimum_candidate(Instant::ZERO + Span::from_secs(at_s), Span::from_ms(ms));
            };
            take(7, 20);
            (8..=at_s).for_each(|second| take(second, 30));
            assert_eq!(rtt.min(), Span::from_ms(believed_ms), "{window_s} s, at {at_s} s");
            assert_eq!(rtt.summary().min, Span::from_ms(20));
        }
    }

    /// A connection that was silent for longer has only its newest sample.
    #[test]
    fn behind_a_silence_the_new_minimum_is_the_new_sample() {
        let mut rtt = estimator().believing(Span::from_secs(300));
        for (at_s, ms) in [(1, 20), (5000, 90)] {
            rtt.on_minimum_candidate(Instant::ZERO + Span::from_secs(at_s), Span::from_ms(ms));
            assert_eq!(rtt.min(), Span::from_ms(ms));
        }
    }
}
