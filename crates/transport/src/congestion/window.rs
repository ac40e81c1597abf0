//! What NewReno and CUBIC have in common: a window, a threshold and slow start.

use super::{Ack, HyStart, Recovery};

/// Congestion window and slow-start threshold, in bytes.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Window {
    pub cwnd: u64,
    pub ssthresh: u64,
    /// Payload bytes of a full segment (RFC 5681 "SMSS").
    pub mss: u64,
    /// The data up to here left before the last ECN reduction.
    hold_until: u64,
    /// What a connection starts with, and starts again with after a pause (RFC 5681 "IW" and "RW").
    initial: u64,
    pub hystart: Option<HyStart>,
}

impl Window {
    /// A connection's first window. Both sizes are at least one byte and one segment.
    pub fn new(mss: u32, initial_window: u64) -> Self {
        let mss = u64::from(mss.max(1));
        Self {
            mss,
            cwnd: initial_window.max(mss),
            ssthresh: u64::MAX,
            initial: initial_window.max(mss),
            hold_until: 0,
            hystart: None,
        }
    }

    pub(crate) const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The phase, for the event log; of HyStart++ only the first slow start has two (RFC 9406 section 4.2).
    pub fn phase(&self) -> &'static str {
        match &self.hystart {
            _ if !self.in_slow_start() => "congestion avoidance",
            Some(hystart) if self.ssthresh == u64::MAX && hystart.is_conservative() => {
                "conservative slow start"
            }
            _ => "slow start",
        }
    }

    /// Lets the window grow again only once the data below `snd_nxt` are acknowledged. After a mark there is no
    /// recovery to wait for, and the ACKs of the old, larger window would otherwise grow the new one by
    /// twice its due (Linux keeps the window in its CWR state for as long).
    pub const fn hold(&mut self, snd_nxt: u64) {
        self.hold_until = snd_nxt;
    }

    /// Whether the ACK belongs to fast recovery, where the sender leads the window to ssthresh, or to the
    /// round of an ECN reduction.
    pub(crate) fn is_held(&self, ack: &Ack) -> bool {
        ack.recovery == Recovery::Fast || ack.snd_una < self.hold_until
    }

    /// Falls to one segment, the loss window of RFC 5681 section 3.1, whatever the initial window was.
    pub(crate) const fn collapse(&mut self) {
        self.cwnd = self.mss;
        self.hold_until = 0;
    }

    /// Halves the window without a loss, and the threshold with it unless it is ahead.
    pub fn penalise(&mut self) {
        if !self.in_slow_start() {
            self.ssthresh = (self.ssthresh / 2).max(2 * self.mss);
        }
        self.cwnd = (self.cwnd / 2).max(self.mss);
    }

    /// A pause longer than the retransmission timeout has stopped the ACK clock: the window starts again
    /// from the restart window (RFC 5681 section 4.1). The threshold remembers three quarters of what it
    /// was (RFC 2861 section 3), so that slow start leads most of the way back.
    pub(crate) fn restart(&mut self) {
        if self.cwnd > self.initial {
            self.ssthresh = self.ssthresh.max(self.cwnd / 4 * 3);
            self.cwnd = self.initial;
        }
    }

    /// The window a reduction starts from: FlightSize in RFC 5681 equation (4) and RFC 9438 section 4.6, so that a
    /// window which the application leaves unused cannot serve as the base.
    pub(crate) fn before_reduction(&self, flight_size: u64) -> u64 {
        self.cwnd.min(flight_size)
    }

    /// Slow start (RFC 5681 section 3.1). Returns the bytes left over for congestion avoidance: those of
    /// the ACK that crosses ssthresh, or all of them when the window is there already.
    ///
    /// The increase counts bytes (RFC 3465 section 2.2) with L unlimited, as in Linux: L bounds the burst
    /// after an ACK that covers many segments, and RFC 3465's L of two segments would leave the increase
    /// the same under delayed ACKs and only slow down paths that lose or thin out ACKs.
    /// After a timeout L is one segment (RFC 3465 section 2.3), because one cumulative ACK may then
    /// cover segments that arrived long before.
    #[inline]
    pub(crate) fn slow_start(&mut self, ack: &Ack) -> u64 {
        if self.in_slow_start() { self.grow_in_slow_start(ack) } else { ack.growth }
    }

    #[inline(never)]
    fn grow_in_slow_start(&mut self, ack: &Ack) -> u64 {
        // RFC 9406 section 4.3: only the first slow start, the one without an ssthresh.
        let initial = self.ssthresh == u64::MAX;
        let hystart = self.hystart.as_mut().filter(|_| initial);
        let counted = match (hystart, ack.recovery) {
            (_, Recovery::Loss) => ack.growth.min(self.mss),
            (None, _) => ack.growth,
            (Some(hystart), _) => {
                if hystart.on_ack(ack) {
                    self.ssthresh = self.cwnd;
                    return ack.growth;
                }
                hystart.increase(ack.growth)
            }
        };
        if !ack.cwnd_limited {
            return 0;
        }
        let increase = counted.min(self.ssthresh - self.cwnd);
        self.cwnd = self.cwnd.saturating_add(increase);
        counted - increase
    }
}
