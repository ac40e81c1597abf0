//! Whether the congestion window was used (RFC 7661 section 4.1: a window that is not used is not validated, and must
//! not grow).

/// How far the window was used in the present round trip: what is acknowledged now was sent a round ago, and what is in
/// flight when its ACK comes may be little.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct WindowUse {
    /// The window held data back.
    limited: bool,
    /// Most bytes outstanding at one time, SACKed ones included.
    most: u32,
    /// The round ends when this is acknowledged.
    round_end: u64,
}

impl WindowUse {
    /// After sending, or when the window holds data back; `outstanding` from snd_una to snd_nxt. The strongest sign of
    /// a round counts.
    #[inline]
    pub(super) fn note(&mut self, limited: bool, (snd_una, snd_nxt): (u64, u64)) {
        // Windows are below 2^30.
        let outstanding = (snd_nxt - snd_una) as u32;
        if limited || snd_una >= self.round_end || (!self.limited && outstanding > self.most) {
            *self = Self { limited, most: outstanding, round_end: snd_nxt };
        }
    }

    /// Whether the window was all used at some time in the present round.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.limited
    }

    /// Whether a window of `cwnd` bytes may grow: it was the limit or, in slow start, more than half of it was used.
    #[inline]
    pub(super) fn lets_grow(&self, cwnd: u64, ssthresh: u64) -> bool {
        self.limited || (cwnd < ssthresh && 2 * u64::from(self.most) > cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CWND: u64 = 20;

    #[test]
    fn in_slow_start_more_than_half_of_the_window_is_to_be_used() {
        for (outstanding, grows) in [(10, false), (11, true)] {
            let mut window = WindowUse::default();
            window.note(false, (0, outstanding));
            assert_eq!(window.lets_grow(CWND, u64::MAX), grows, "{outstanding} outstanding");
            assert!(!window.lets_grow(CWND, CWND), "in congestion avoidance all of it");
        }
    }

    #[test]
    fn the_strongest_sign_of_a_round_counts_until_the_round_is_acknowledged() {
        let mut window = WindowUse::default();
        window.note(true, (0, 20));
        window.note(false, (15, 22));
        assert!(window.lets_grow(CWND, 0) && window.is_full(), "the window was the limit in this round");
        window.note(false, (20, 22));
        assert!(!window.lets_grow(CWND, 0), "the round is over");
        window.note(false, (21, 31));
        assert!(!window.lets_grow(CWND, u64::MAX));
        window.note(false, (21, 33));
        assert!(window.lets_grow(CWND, u64::MAX) && !window.is_full(), "the most of a round");
        window.note(false, (30, 34));
        assert!(window.lets_grow(CWND, u64::MAX), "fewer later take nothing away");
    }
}
