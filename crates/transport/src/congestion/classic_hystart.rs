//! HyStart as first published (Ha and Rhee 2011, "Taming the elephants: New TCP slow start"): slow start ends at once
//! when a train of ACKs is as long as half a round trip, or when the delay has risen. RFC 9406 is [`super::HyStart`].

use super::Ack;
use anabranch_units::{Bytes, Instant, Rate, Span};

/// Smallest window, in segments, at which slow start may end (Ha and Rhee 2011, section 4). What comes below it begins
/// rounds, and is neither a sample nor part of a train.
const LOW_WINDOW: u64 = 16;
/// ACKs that follow one another so closely belong to one train.
const TRAIN_GAP: Span = Span::from_ms(2);
/// RTT samples of a round before its smallest one is judged.
const MIN_SAMPLES: u32 = 8;
/// Bounds of the rise that ends slow start; between them an eighth of the smallest delay.
const LEAST_RISE: Span = Span::from_ms(4);
/// The upper one.
const MOST_RISE: Span = Span::from_ms(16);
/// What a host may hold of a burst: four of its largest trains of segments, for at most [`MOST_HELD`].
const HELD: Bytes = Bytes(4 << 16);
/// The most time that they may take.
const MOST_HELD: Span = Span::from_ms(1);

/// One slow start.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassicHyStart {
    round: Option<Round>,
    /// Smallest delay of the connection.
    min_delay: Option<Span>,
    is_over: bool,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    /// What must be acknowledged for the next round to begin.
    end: u64,
    began: Instant,
    /// The last ACK of the train.
    last_ack: Instant,
    min_delay: Span,
    samples: u32,
}

impl ClassicHyStart {
    /// Smallest delay of the connection; zero before the first sample.
    pub(super) fn min_delay(&self) -> Span {
        self.min_delay.unwrap_or(Span::ZERO)
    }

    /// Takes a delay that counts for the smallest one.
    pub(super) fn take_delay(&mut self, delay: Span) {
        self.min_delay = Some(self.min_delay.map_or(delay, |least| least.min(delay)));
    }

    /// Everything anew, as after a timeout.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// An ACK of slow start with a window of `cwnd` segments, which are `cwnd_bytes`; true if slow start is over.
    pub(super) fn on_ack(&mut self, ack: &Ack, cwnd: u64, cwnd_bytes: u64) -> bool {
        let (Some(delay), Some(min_delay)) = (ack.rtt, self.min_delay) else { return false };
        if self.is_over {
            return false;
        }
        let now = ack.now;
        let anew = Round { end: ack.snd_nxt, began: now, last_ack: now, min_delay: Span::MAX, samples: 0 };
        let round = self.round.get_or_insert(anew);
        if ack.snd_una > round.end {
            *round = anew;
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        let train = round.is_long_train(now, min_delay + held(cwnd_bytes, ack.srtt));
        self.is_over = round.has_risen(delay, min_delay) || train;
        self.is_over
    }
}

impl Round {
    /// Whether ACKs have followed closely for more than half of `round_trip`.
    fn is_long_train(&mut self, now: Instant, round_trip: Span) -> bool {
        if now.saturating_since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        now.saturating_since(self.began) > round_trip / 2
    }

    /// Whether the smallest delay of the round's first samples is above that of the connection.
    fn has_risen(&mut self, delay: Span, min_delay: Span) -> bool {
        self.min_delay = self.min_delay.min(delay);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.min_delay > min_delay + (min_delay / 8).clamp(LEAST_RISE, MOST_RISE)
    }
}

/// How long the host may hold a burst at twice a window a round trip, the rate of slow start.
fn held(cwnd_bytes: u64, srtt: Span) -> Span {
    let rate = Rate::of(Bytes(cwnd_bytes.saturating_mul(2)), srtt);
    rate.map_or(Span::ZERO, |rate| rate.time_for(HELD).min(MOST_HELD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{SEGMENT, plain_ack};

    const CWND: u64 = 100;

    fn ack(at: Instant, round: u64, delay: Span) -> Ack {
        let rtt = Some(delay);
        Ack { rtt, srtt: delay, snd_una: round * 100, snd_nxt: round * 100 + 99, ..plain_ack(at) }
    }

    /// Whether slow start ends in a round of `delays`, whose ACKs are `gap` apart.
    fn ends(cwnd: u64, least: Span, gap: Span, delays: &[Span]) -> bool {
        let mut hystart = ClassicHyStart::default();
        hystart.take_delay(least);
        let mut now = Instant::ZERO + Span::from_secs(1);
        delays.iter().any(|&delay| {
            now = now + gap;
            hystart.on_ack(&ack(now, 1, delay), cwnd, cwnd * SEGMENT)
        })
    }

    const fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    /// The smallest of eight samples is to rise by more than an eighth, of at least 4 ms and at most 16 ms.
    #[test]
    fn a_rise_of_an_eighth_within_4_and_16_ms_ends_it() {
        let cases = [
            (us(100_000), us(112_501), true),
            (us(100_000), us(112_500), false),
            (us(20_000), us(24_001), true),
            (us(20_000), us(24_000), false),
            (us(400_000), us(416_001), true),
            (us(400_000), us(416_000), false),
        ];
        let gap = Span::from_ms(3);
        for (least, risen, over) in cases {
            assert_eq!(ends(CWND, least, gap, &[risen; 9]), over, "{least} to {risen}");
            let mut once_low = [risen; 9];
            once_low[4] = least;
            assert!(!ends(CWND, least, gap, &once_low), "one sample is as low as ever");
        }
    }

    #[test]
    fn eight_samples_and_sixteen_segments_are_needed() {
        let (least, risen, gap) = (us(50_000), us(90_000), Span::from_ms(3));
        assert!(!ends(CWND, least, gap, &[risen; 8]));
        assert!(ends(16, least, gap, &[risen; 9]));
        assert!(!ends(15, least, gap, &[risen; 9]));
    }

    /// 2 ms apart, longer than half of the round trip and the millisecond that the host may hold.
    #[test]
    fn a_train_of_acks_as_long_as_half_a_round_trip_ends_it() {
        let least = us(50_000);
        let lasts = |acks: usize, gap| ends(CWND, least, gap, &vec![least; acks]);
        // The train begins with the first ACK: 25.5 ms behind it lie 13 gaps of 2 ms.
        assert!(!lasts(13, Span::from_ms(2)));
        assert!(lasts(14, Span::from_ms(2)));
        assert!(!lasts(100, us(2_001)), "these are single ACKs");
    }

    /// Rounds are those of the data: they are followed below sixteen segments, and no ACK there belongs to a train.
    #[test]
    fn rounds_begin_below_sixteen_segments_and_trains_do_not() {
        let (least, segment) = (us(10_000), us(1200));
        let ends_at = |cwnds: std::ops::RangeInclusive<u64>| {
            let mut hystart = ClassicHyStart::default();
            hystart.take_delay(least);
            let mut now = Instant::ZERO + Span::from_secs(1);
            cwnds.into_iter().find(|&cwnd| {
                now = now + segment;
                hystart.on_ack(&ack(now, 1, least), cwnd, cwnd * SEGMENT)
            })
        };
        assert_eq!(ends_at(10..=20), None, "the ACK at 16 comes 7.2 ms behind the first, which is no train");
        // 6 ms and more behind the first.
        assert_eq!(ends_at(20..=30), Some(25));
        assert_eq!(ends_at(16..=26), Some(21));

        let mut hystart = ClassicHyStart::default();
        hystart.take_delay(least);
        hystart.on_ack(&ack(Instant::ZERO, 1, least), 10, 10 * SEGMENT);
        assert_eq!(hystart.round.map(|round| round.end), Some(199));
        hystart.on_ack(&ack(Instant::ZERO + least, 2, least), 15, 15 * SEGMENT);
        assert_eq!(hystart.round.map(|round| round.end), Some(299), "a round below sixteen segments");
    }

    #[test]
    fn a_train_ends_with_its_round() {
        let mut hystart = ClassicHyStart::default();
        hystart.take_delay(us(50_000));
        let mut now = Instant::ZERO + Span::from_secs(1);
        for round in 1..=20 {
            for _ in 0..10 {
                now = now + Span::from_ms(2);
                assert!(!hystart.on_ack(&ack(now, round, us(50_000)), CWND, CWND * SEGMENT));
            }
        }
    }
}
