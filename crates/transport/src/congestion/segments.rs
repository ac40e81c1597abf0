//! A congestion window of whole segments, as Linux keeps it, with its slow start, its count of acknowledged segments
//! and what a reduction and its undo do. The window of `window.rs` is in bytes.

use super::{Ack, LossEpisode, Recovery};
use anabranch_units::Span;

/// No threshold yet.
const NO_THRESHOLD: u64 = u64::MAX;
/// The smallest threshold, in segments (RFC 5681 equation (4)).
const LEAST_THRESHOLD: u64 = 2;

/// Congestion window and slow-start threshold, in segments.
#[derive(Clone, Debug)]
pub(super) struct SegmentWindow {
    /// Payload bytes of a full segment.
    mss: u64,
    pub cwnd: u64,
    ssthresh: u64,
    /// What a connection starts with (RFC 6928).
    initial: u64,
    /// Segments acknowledged towards the next segment of the window.
    counted: u64,
    /// The data up to here left before the last ECN reduction.
    hold_until: u64,
    /// Fast recovery was entered and neither left nor undone.
    recovering: bool,
    /// Window and threshold before the last reduction, for an undo.
    before: Option<(u64, u64)>,
}

impl SegmentWindow {
    /// A connection's first window; at least one segment of at least one byte.
    pub fn new(mss: u32, initial_window: u64) -> Self {
        let mss = u64::from(mss.max(1));
        let initial = (initial_window / mss).max(1);
        Self {
            mss,
            cwnd: initial,
            ssthresh: NO_THRESHOLD,
            initial,
            counted: 0,
            hold_until: 0,
            recovering: false,
            before: None,
        }
    }

    /// The window in bytes.
    pub const fn cwnd_bytes(&self) -> u64 {
        self.cwnd.saturating_mul(self.mss)
    }

    /// The threshold in bytes; `u64::MAX` before the first reduction.
    pub const fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh.saturating_mul(self.mss)
    }

    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Segments in so many bytes; a short one counts as one.
    pub const fn segments(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mss)
    }

    /// Whether the ACK belongs to fast recovery, where the sender leads the window to ssthresh, or to the round of
    /// an ECN reduction.
    pub fn is_held(&self, ack: &Ack) -> bool {
        ack.recovery == Recovery::Fast || ack.snd_una < self.hold_until
    }

    /// A segment for each one acknowledged, up to ssthresh (RFC 5681 section 3.1, RFC 3465 without a limit); returns
    /// those left over for congestion avoidance.
    pub fn slow_start(&mut self, acked: u64) -> u64 {
        if !self.in_slow_start() {
            return acked;
        }
        let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown;
        left
    }

    /// Slow start ends where the window is now.
    pub const fn leave_slow_start(&mut self) {
        self.ssthresh = self.cwnd;
    }

    /// Adds a segment for each `per` acknowledged. What was counted towards a larger number makes one at once.
    pub fn avoid(&mut self, acked: u64, per: u64) {
        if self.counted >= per {
            self.counted = 0;
            self.cwnd = self.cwnd.saturating_add(1);
        }
        self.counted = self.counted.saturating_add(acked);
        self.cwnd = self.cwnd.saturating_add(self.counted / per);
        self.counted %= per;
    }

    /// Sets the threshold to `target` segments and remembers what an undo gives back.
    pub fn reduce(&mut self, target: u64) {
        // The threshold after an undo is three quarters of the window, at least.
        self.before = Some((self.cwnd, self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)));
        self.ssthresh = target.max(LEAST_THRESHOLD);
        self.counted = 0;
    }

    /// Fast recovery begins after [`SegmentWindow::reduce`].
    pub const fn enter_recovery(&mut self) {
        self.cwnd = self.ssthresh;
        self.recovering = true;
    }

    /// RFC 3168 section 6.1.2: a mark reduces, and the window stands still until the data under way are
    /// acknowledged. A mark is never spurious.
    pub const fn answer_mark(&mut self, episode: &LossEpisode) {
        self.cwnd = self.ssthresh;
        self.hold_until = episode.snd_nxt;
        self.before = None;
    }

    /// One segment, the loss window of RFC 5681 section 3.1.
    pub const fn collapse(&mut self) {
        self.cwnd = 1;
        self.counted = 0;
        self.hold_until = 0;
        self.recovering = false;
    }

    /// Fast recovery or the loss state is over. Fast recovery ends with a window of ssthresh (RFC 5681 section 3.2).
    pub fn recovered(&mut self, from: Recovery) {
        if from == Recovery::Fast && self.recovering {
            self.cwnd = self.ssthresh;
        }
        self.recovering = false;
    }

    /// The reduction was spurious (RFC 4015 section 3.2): neither window nor threshold is below what it was.
    pub fn undo(&mut self) -> bool {
        let Some((cwnd, ssthresh)) = self.before.take() else { return false };
        self.cwnd = self.cwnd.max(cwnd);
        self.ssthresh = self.ssthresh.max(ssthresh);
        self.recovering = false;
        true
    }

    /// After a pause the window halves for each timeout that has passed, down to the initial one; the threshold
    /// remembers three quarters of it (RFC 2861 section 3.2).
    pub fn restart(&mut self, idle: Span, rto: Span) {
        let floor = self.initial.min(self.cwnd);
        self.ssthresh = self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4);
        let halvings = idle.as_ps().saturating_sub(1) / rto.as_ps().max(1);
        let halved = u32::try_from(halvings).ok().and_then(|halvings| self.cwnd.checked_shr(halvings));
        self.cwnd = halved.unwrap_or(0).max(floor);
    }

    /// Halves the window without a loss, and the threshold with it unless it is ahead (Raiciu 2012, section 4.2).
    pub fn penalise(&mut self) {
        if !self.in_slow_start() {
            self.ssthresh = (self.ssthresh / 2).max(LEAST_THRESHOLD);
        }
        self.cwnd = (self.cwnd / 2).max(1);
        self.counted = 0;
        // What an undo would bring back is what held the connection up.
        self.before = None;
    }

    /// Down to the window that there was, in bytes, when what is lost now was sent.
    pub fn forget_growth(&mut self, cwnd_bytes: u64) {
        self.cwnd = self.cwnd.min((cwnd_bytes / self.mss).max(1));
    }
}
