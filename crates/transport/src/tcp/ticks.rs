//! Timers that a clock of ticks counts, as in Linux: never early, and up to two ticks late.

use anabranch_units::{Instant, Span};

/// By so much Linux's timers of loss detection wait longer.
pub(crate) const TIMER_MARGIN: Span = Span::from_ms(2);
/// Waits of fewer ticks are counted tick by tick; those of up to eight times as many in steps of eight ticks, and so on.
const FINEST: u64 = 63;
/// Steps of a wait are eight times those of the next shorter ones.
const STEP_BITS: u32 = 3;

/// When a timer expires that is set at `now` for `wait`: the wait is rounded up to ticks and counted from the tick that
/// has begun, and ends with the step behind it. Without ticks (0) it expires on the dot.
#[inline]
pub(crate) fn expiry(now: Instant, wait: Span, tick: Span) -> Instant {
    let tick = tick.as_ps();
    if tick == 0 {
        return now.saturating_add(wait);
    }
    let ticks = wait.as_ps().div_ceil(tick);
    let (mut bits, mut finest) = (0, FINEST);
    while ticks >= finest && finest < u64::MAX {
        bits += STEP_BITS;
        finest = finest.saturating_mul(1 << STEP_BITS);
    }
    let steps = ((now.as_ps() / tick).saturating_add(ticks) >> bits) + 1;
    Instant::ZERO.saturating_add(Span::from_ps((steps << bits).saturating_mul(tick)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expires_ms(now_ms: u64, wait_ms: u64) -> u64 {
        let at = expiry(Instant::ZERO + Span::from_ms(now_ms), Span::from_ms(wait_ms), Span::from_ms(4));
        at.since(Instant::ZERO).as_ps() / 1_000_000_000
    }

    /// In the tick of 8 to 12 ms, 5 ms are two ticks, and one more because the tick has begun.
    #[test]
    fn a_short_wait_ends_in_a_later_tick() {
        for (now, wait, expires) in [(8, 5, 20), (11, 8, 20), (11, 9, 24), (12, 0, 16), (0, 248, 252)] {
            assert_eq!(expires_ms(now, wait), expires, "{now} {wait}");
        }
    }

    /// 63 ticks are counted in steps of eight, 504 in steps of 64: as long a wait is up to 32 and 256 ms late.
    #[test]
    fn a_long_wait_is_counted_in_longer_steps() {
        for (now, wait, expires) in
            [(0, 252, 256), (4, 252, 288), (0, 1000, 1024), (0, 2016, 2048), (32, 2016, 2304)]
        {
            assert_eq!(expires_ms(now, wait), expires, "{now} {wait}");
        }
    }

    #[test]
    fn without_ticks_a_timer_is_exact() {
        let now = Instant::ZERO + Span::from_us(7);
        assert_eq!(expiry(now, Span::from_us(5), Span::ZERO), now + Span::from_us(5));
        assert_eq!(expiry(now, Span::MAX, Span::from_ms(4)), Instant::ZERO.saturating_add(Span::MAX));
    }
}
