//! The timestamps option (RFC 7323): the clock of one end, and the newest timestamp of the other.

use super::rtt::EchoedRtt;
use anabranch_units::{Instant, Span};

/// The tick of most connections here, in picoseconds.
const MICROSECOND: u64 = 1_000_000;
/// RFC 7323 section 5.5: a timestamp is believed for less than half a turn of the clock, 2^31 ticks.
const LIFE_TICKS: u64 = 1 << 30;

/// The clock that an end writes into its timestamps (RFC 7323 section 5.4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimestampClock {
    tick_ps: u64,
}

impl TimestampClock {
    pub(crate) fn new(tick: Span) -> Self {
        Self { tick_ps: tick.as_ps().max(1) }
    }

    /// TSval at an instant.
    #[inline]
    pub(crate) fn at(self, now: Instant) -> u32 {
        // A division by a constant costs a multiplication. The other one is a function of its own, or the compiler takes
        // the two for one.
        let ticks = if self.tick_ps == MICROSECOND { now.as_ps() / MICROSECOND } else { self.divide(now) };
        ticks as u32
    }

    #[inline(never)]
    fn divide(self, now: Instant) -> u64 {
        now.as_ps() / self.tick_ps
    }

    /// Time since the timestamp that comes back as TSecr, at least a tick.
    #[inline]
    pub(crate) fn since(self, now: Instant, echo: u32) -> Span {
        Span::from_ps(u64::from(self.at(now).wrapping_sub(echo)).max(1).saturating_mul(self.tick_ps))
    }

    /// The round trip of the timestamp that comes back as TSecr.
    pub(crate) fn round_trip(self, now: Instant, echo: u32) -> EchoedRtt {
        let whole_ticks = u64::from(self.at(now).wrapping_sub(echo)).saturating_mul(self.tick_ps);
        let bound = Span::from_ps(whole_ticks.saturating_add(now.as_ps() % self.tick_ps));
        EchoedRtt { read: self.since(now, echo), bound }
    }

    /// How long a timestamp is believed.
    #[inline]
    fn life(self) -> Span {
        Span::from_ps(self.tick_ps.saturating_mul(LIFE_TICKS))
    }
}

/// TS.Recent (RFC 7323 section 4.3), and when it was taken. Both ends have clocks of one tick.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct RecentTimestamp {
    value: u32,
    at: Instant,
}

impl RecentTimestamp {
    /// What is echoed.
    #[inline]
    pub(crate) const fn value(&self) -> u32 {
        self.value
    }

    /// Takes a timestamp whatever came before, as that of a SYN.
    pub(crate) const fn start(&mut self, now: Instant, timestamp: u32) {
        (self.value, self.at) = (timestamp, now);
    }

    /// Takes a timestamp that is not older (RFC 7323 section 4.3, step 2).
    #[inline]
    pub(crate) fn take(&mut self, clock: TimestampClock, now: Instant, timestamp: u32) {
        if !self.makes_old(clock, now, timestamp) {
            self.start(now, timestamp);
        }
    }

    /// Whether a timestamp is older than the newest one, so that PAWS refuses its segment (RFC 7323 section 5.3, R1).
    #[inline]
    pub(crate) fn makes_old(&self, clock: TimestampClock, now: Instant, timestamp: u32) -> bool {
        self.is_older(clock, now, timestamp, 0)
    }

    /// The same for a timestamp that may be `window` ticks older.
    #[inline]
    pub(crate) fn is_older(&self, clock: TimestampClock, now: Instant, timestamp: u32, window: u32) -> bool {
        let ticks = timestamp.wrapping_sub(self.value) as i32;
        ticks < -(window as i32) && now.saturating_since(self.at) <= clock.life()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_counts_its_ticks_and_a_round_trip_takes_one_at_least() {
        let now = Instant::ZERO + Span::from_us(12_999);
        assert_eq!(TimestampClock::new(Span::from_us(1)).at(now), 12_999);
        let coarse = TimestampClock::new(Span::from_ms(1));
        assert_eq!(coarse.at(now), 12);
        assert_eq!((coarse.since(now, 10), coarse.since(now, 12)), (Span::from_ms(2), Span::from_ms(1)));
    }

    /// Sent at 10.0 or 10.9 ms, back at 12.7 ms: a clock of 1 ms reads 2 ms of both, and neither took longer than 2.7 ms.
    #[test]
    fn the_bound_of_a_round_trip_is_no_less_than_it() {
        let coarse = TimestampClock::new(Span::from_ms(1));
        let now = Instant::ZERO + Span::from_us(12_700);
        for sent_us in [10_000, 10_900] {
            let sent = Instant::ZERO + Span::from_us(sent_us);
            let rtt = coarse.round_trip(now, coarse.at(sent));
            assert_eq!(rtt, EchoedRtt { read: Span::from_ms(2), bound: Span::from_us(2700) });
            assert!(rtt.bound >= now.since(sent));
        }
    }

    /// RFC 7323 sections 5.3 and 5.5.
    #[test]
    fn an_older_timestamp_is_refused_until_the_newest_one_has_expired() {
        let clock = TimestampClock::new(Span::from_ms(1));
        let mut recent = RecentTimestamp::default();
        recent.start(Instant::ZERO, u32::MAX);
        assert!(!recent.makes_old(clock, Instant::ZERO, u32::MAX), "as new");
        assert!(!recent.makes_old(clock, Instant::ZERO, 3), "newer, across the turn of the clock");
        assert!(recent.makes_old(clock, Instant::ZERO, u32::MAX - 1));
        recent.take(clock, Instant::ZERO, u32::MAX - 1);
        assert_eq!(recent.value(), u32::MAX);
        let life = Span::from_ms(1 << 30);
        assert!(recent.makes_old(clock, Instant::ZERO + life, u32::MAX - 1));
        recent.take(clock, Instant::ZERO + life + Span::from_ps(1), u32::MAX - 1);
        assert_eq!(recent.value(), u32::MAX - 1);
    }

    /// Linux's window of one tick: between two packets of one millisecond each may be the first.
    #[test]
    fn a_timestamp_within_the_window_is_not_refused() {
        let clock = TimestampClock::new(Span::from_ms(1));
        let mut recent = RecentTimestamp::default();
        recent.start(Instant::ZERO, 100);
        for (timestamp, window, older) in [(99, 0, true), (99, 1, false), (98, 1, true), (100, 0, false)] {
            assert_eq!(
                recent.is_older(clock, Instant::ZERO, timestamp, window),
                older,
                "{timestamp} {window}"
            );
        }
    }
}
