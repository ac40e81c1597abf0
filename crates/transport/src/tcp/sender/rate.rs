use super::Sender;
use crate::congestion::RateSample;
use crate::tcp::scoreboard::{Delivery, Newest, lost_since};
use anabranch_units::{Instant, Span};

/// Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation section 3).
#[derive(Default, Debug)]
pub(super) struct RateSampler {
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Delivered counter up to which samples are application-limited; 0 for not.
    app_limited_until: u64,
    /// The last sample's interval and segment.
    sampled: Option<(Span, Newest)>,
    /// An ACK that delivers no newer segment gives a sample over the last one's interval, too, as in ns-3.
    repeats: bool,
}

impl RateSampler {
    /// As ns-3 has it, whose ACKs without a newer segment repeat the last interval.
    pub(super) fn repeating(repeats: bool) -> Self {
        Self { repeats, ..Self::default() }
    }

    /// State to keep with a segment that is about to leave (section 3.2).
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, pipe: u64) -> Delivery {
        if pipe == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Delivery {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.app_limited_until != 0,
        }
    }

    /// The sender has room in its windows and nothing to send (section 3.4).
    #[inline]
    pub(super) fn on_app_limited(&mut self, pipe: u64) {
        self.app_limited_until = (self.delivered + pipe).max(1);
    }

    /// Bytes delivered so far.
    const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// An ACK that delivered `bytes`, after `lost_total` bytes were ever judged lost; gives a sample unless it spans less
    /// than the smallest RTT, which only aggregated or reordered ACKs can (section 3.3.2).
    #[inline]
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        bytes: u64,
        newest: Option<Newest>,
        lost_total: u64,
        min_rtt: Span,
    ) -> Option<RateSample> {
        self.delivered += bytes;
        if bytes > 0 {
            self.delivered_at = now;
        }
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if let Some(newest) = newest {
            self.first_sent_at = newest.sent_at;
            let send_elapsed = newest.sent_at.saturating_since(newest.departure.delivery.first_sent_at);
            self.sampled = Some((send_elapsed.max(now.since(newest.acks_since)), newest));
        } else if !self.repeats {
            return None;
        }
        let (interval, newest) = self.sampled?;
        if interval == Span::ZERO || (min_rtt != Span::MAX && interval < min_rtt) {
            self.sampled = None;
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - newest.departure.delivery.delivered,
            interval,
            prior_delivered: newest.departure.delivery.delivered,
            total_delivered: self.delivered,
            total_lost: lost_total,
            app_limited: newest.departure.delivery.app_limited,
            tx_in_flight: u64::from(newest.departure.in_flight_then),
            lost: lost_since(newest.departure.lost_then, lost_total),
        })
    }
}

impl Sender {
    /// Bytes delivered so far, if somebody asks for departures; 0 otherwise.
    #[inline]
    pub(super) fn delivered(&self) -> u64 {
        self.rate.as_ref().map_or(0, |rate| rate.delivered())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::scoreboard::Departure;

    fn ms(at: u64) -> Instant {
        Instant::ZERO + Span::from_ms(at)
    }

    fn newest(sent_at: Instant, end: u64, delivery: Delivery) -> Newest {
        let departure = Departure { delivery, ..Departure::default() };
        Newest { sent_at, end, departure, acks_since: delivery.delivered_at }
    }

    /// Ten bytes leave every millisecond, and all ACKs come together `gap_ms` after the last.
    fn sample(count: u64, gap_ms: u64, min_rtt: Span) -> Option<RateSample> {
        let mut sampler = RateSampler::default();
        let mut last = None;
        for sent in 0..count {
            let delivery = sampler.on_sent(ms(100 + sent), 10 * sent);
            last = Some(newest(ms(100 + sent), 10 * (sent + 1), delivery));
        }
        sampler.on_delivered(ms(100 + count - 1 + gap_ms), 10 * count, last, 0, min_rtt)
    }

    /// Section 3.3.1: of the segments that an ACK delivers, the one sent last tells; of those sent at once, the one behind.
    #[test]
    fn the_newest_is_the_one_sent_last() {
        let delivery = RateSampler::default().on_sent(ms(1), 0);
        let mut board = crate::tcp::scoreboard::Scoreboard::new(10);
        for start in [0, 10, 20, 30] {
            board.push(start, start + 10, false, ms(2), delivery);
        }
        for start in [10, 20] {
            let number = board.number_at(start).expect("it was sent");
            board.mark_lost(number, crate::log::LossCause::Timeout);
            board.retransmit(number, ms(5), delivery);
        }
        for (order, expected) in
            [([0, 1, 2, 3], 30), ([3, 2, 1, 0], 30), ([1, 0, 3, 2], 30), ([0, 3, 3, 0], 40)]
        {
            let mut newest = None;
            for place in order {
                let number = board.number_at(10 * place).expect("it was sent");
                Newest::take(&mut newest, board.get(number), Departure::default());
            }
            assert_eq!(newest.map(|newest| newest.end), Some(expected), "{order:?}");
        }
    }

    /// Section 3.3.2: the interval is the longer of the send and the ACK interval, and a sample over less than
    /// the smallest RTT is none; over exactly the smallest RTT it is one.
    #[test]
    fn a_sample_over_less_than_the_smallest_rtt_is_none() {
        for (min_ms, expected) in [(10, true), (14, true), (15, false), (30, false)] {
            // From 100 ms, when the first left, to the ACK at 104 + 10 ms.
            let sample = sample(5, 10, Span::from_ms(min_ms));
            assert_eq!(sample.is_some(), expected, "a smallest RTT of {min_ms} ms");
            if let Some(sample) = sample {
                assert_eq!((sample.delivered, sample.interval), (50, Span::from_ms(14)));
                assert_eq!((sample.prior_delivered, sample.total_delivered), (0, 50));
            }
        }
        assert!(sample(5, 10, Span::MAX).is_some(), "no RTT is known yet");
        assert!(sample(1, 0, Span::MAX).is_none(), "no time has passed");
    }

    /// ns-3 issue 1026: the ACK phase of a sample begins at the prior delivery time of the sample before. Segments leave each
    /// 10 ms, and are acknowledged 40 ms later, so that each carries as its prior delivery the ACK that came as it left.
    #[test]
    fn with_the_error_of_ns_3_an_ack_phase_begins_a_sample_early() {
        let phases = |mistaken: bool, min_rtt: Span| {
            let mut sampler = RateSampler::default();
            let mut board = crate::tcp::scoreboard::Scoreboard::new(10);
            if mistaken {
                board.mistake_ack_phases();
            } else {
                let _ = board.note_departures();
            }
            let mut samples = vec![];
            for step in 0..12 {
                if step >= 4 {
                    board.acknowledge(10 * (step - 3), |_| {});
                    let newest = board.take_newest();
                    let sample = sampler.on_delivered(ms(10 * step), 10, newest, 0, min_rtt);
                    if newest.is_some() && sample.is_none() {
                        board.forget_sample();
                    }
                    samples.push(sample.map(|sample| sample.interval));
                }
                let delivery = sampler.on_sent(ms(10 * step), 10 * step.min(4));
                board.push(10 * step, 10 * (step + 1), false, ms(10 * step), delivery);
            }
            samples
        };
        // Acknowledged at 40, 50, ... ms; the first four left before any ACK, at 0 ms, and the fifth after that at 40 ms.
        let right = [40, 50, 60, 70, 40, 40, 40, 40].map(|span| Some(Span::from_ms(span)));
        assert_eq!(phases(false, Span::from_ms(40)), right);
        // From the fifth sample on a step too long: it counts from the ACK at 40 ms only in the sixth.
        let mistaken = [40, 50, 60, 70, 80, 50, 50, 50].map(|span| Some(Span::from_ms(span)));
        assert_eq!(phases(true, Span::from_ms(40)), mistaken);
        // Samples of less than the smallest RTT: without the error none; with it each next one counts from the start.
        assert_eq!(phases(false, Span::from_ms(45))[4..], [None; 4]);
        let from_the_start = [Some(80), Some(50), Some(50), Some(50)].map(|span| span.map(Span::from_ms));
        assert_eq!(phases(true, Span::from_ms(45))[4..], from_the_start);
        let alternating = [Some(80), None, Some(100), None].map(|span| span.map(Span::from_ms));
        assert_eq!(phases(true, Span::from_ms(55))[4..], alternating);
    }

    /// Section 3.3.2: ACKs that come compressed, here at once, do not make the path look faster than the data left.
    #[test]
    fn compressed_acks_count_over_the_time_of_sending() {
        let mut sampler = RateSampler::default();
        let first = sampler.on_sent(ms(0), 0);
        let last = newest(ms(0), 10, first);
        assert!(sampler.on_delivered(ms(20), 10, Some(last), 0, Span::from_ms(20)).is_some());
        // Its interval begins when the newest acknowledged segment left, at 0 ms.
        let second = sampler.on_sent(ms(50), 10);
        let last = newest(ms(50), 20, second);
        let sample = sampler.on_delivered(ms(60), 10, Some(last), 0, Span::from_ms(20)).expect("a sample");
        assert_eq!((sample.delivered, sample.interval), (10, Span::from_ms(50)));
    }

    /// Draft-ietf-ccwg-bbr-06 section 2.3, "RS.tx_in_flight" and "RS.lost": as they were when the newest segment left, and
    /// what was lost since; the count that is kept with a segment wraps.
    #[test]
    fn a_sample_says_what_was_in_flight_and_lost_since() {
        let mut sampler = RateSampler::default();
        let delivery = sampler.on_sent(ms(0), 0);
        let lost_then = u32::MAX - 5;
        let last = Newest {
            departure: Departure { delivery, in_flight_then: 70, lost_then },
            ..newest(ms(0), 10, delivery)
        };
        let total = u64::from(lost_then) + 30;
        let sample = sampler.on_delivered(ms(20), 10, Some(last), total, Span::MAX).expect("a sample");
        assert_eq!((sample.tx_in_flight, sample.lost), (70, 30));
    }

    /// Section 3.4: what was in flight when the application ran dry makes samples that the application limited, and
    /// what leaves after its delivery does not.
    #[test]
    fn a_dry_application_marks_what_leaves_until_its_flight_is_delivered() {
        let mut sampler = RateSampler::default();
        assert!(!sampler.on_sent(ms(0), 0).app_limited);
        sampler.on_app_limited(10);
        let second = sampler.on_sent(ms(1), 10);
        assert!(second.app_limited);
        let _ = sampler.on_delivered(ms(20), 10, None, 0, Span::MAX);
        assert!(sampler.on_sent(ms(20), 10).app_limited, "the mark stands up to and with ten bytes");
        let last = newest(ms(1), 20, second);
        assert!(sampler.on_delivered(ms(21), 10, Some(last), 0, Span::MAX).expect("a sample").app_limited);
        assert!(!sampler.on_sent(ms(22), 10).app_limited);
    }

    /// Section 3.3.1, "C.delivered_time": an ACK that delivers nothing leaves it.
    #[test]
    fn an_ack_without_a_delivery_begins_no_interval() {
        let mut sampler = RateSampler::default();
        let first = newest(ms(0), 10, sampler.on_sent(ms(0), 0));
        assert!(sampler.on_delivered(ms(20), 10, Some(first), 0, Span::MAX).is_some());
        assert!(sampler.on_delivered(ms(25), 0, None, 0, Span::MAX).is_none());
        assert_eq!(sampler.on_sent(ms(30), 10).delivered_at, ms(20));
    }
}
