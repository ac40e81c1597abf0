//! HyStart as first published (Ha and Rhee 2011, "Taming the elephants: New TCP slow start"): slow start ends at once
//! when a train of ACKs is as long as half a round trip, or when the delay has risen. RFC 9406 is [`super::HyStart`].

use super::Ack;
use anabranch_units::{Bytes, Instant, Rate, Span};

/// Smallest window, in segments, at which slow start may end (Ha and Rhee 2011, section 4).
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
    found: bool,
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
        if self.found || cwnd < LOW_WINDOW {
            return false;
        }
        let now = ack.now;
        let anew = Round { end: ack.snd_nxt, began: now, last_ack: now, min_delay: Span::MAX, samples: 0 };
        let round = self.round.get_or_insert(anew);
        if ack.snd_una > round.end {
            *round = anew;
        }
        let train = round.is_long_train(now, min_delay + held(cwnd_bytes, ack.srtt));
        self.found = round.has_risen(delay, min_delay) || train;
        self.found
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
