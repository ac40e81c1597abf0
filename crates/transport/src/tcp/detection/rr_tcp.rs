//! RR-TCP: DupThresh from the reordering that was seen (Zhang, Karp, Floyd, Peterson: "RR-TCP: A
//! Reordering-Robust TCP with DSACK", ICNP 2003; its technical report is ICSI TR-02-006).
//!
//! The published parts, and how they stand here:
//! - false fast retransmits are found by DSACK, the window comes back by slow start: the sender's undo, whose
//!   gain [`RrTcp::withheld`] lets in as ACKs come; timestamps (RFC 3522) may show it before the DSACK does;
//! - DupThresh is a percentile, the FA ratio, of the distribution of reordering lengths;
//! - false fast retransmits raise the FA ratio, timeouts lower it, in proportion to their costs. The paper
//!   computes the costs from a model of the window; here their ratio is a parameter;
//! - limited transmit may send up to one window beyond cwnd, clocked by ACKs;
//! - RTT samples of retransmitted segments come from timestamps instead of the mean over both transmissions.

use super::{AckFacts, DeliveredSegment, Dupack, TransmissionFacts};
use crate::tcp::scoreboard::Scoreboard;
use std::collections::{BTreeMap, VecDeque};

/// DupThresh without reordering (RFC 5681 section 3.2).
const DUP_THRESH: u32 = 3;
/// Reordering events that the distribution remembers.
const EVENTS: usize = 1000;

/// Distribution of the last reordering lengths.
#[derive(Default, Debug)]
struct Lengths {
    recent: VecDeque<u32>,
    counts: BTreeMap<u32, u32>,
}

impl Lengths {
    fn add(&mut self, length: u32) {
        if self.recent.len() == EVENTS
            && let Some(old) = self.recent.pop_front()
            && let Some(count) = self.counts.get_mut(&old)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&old);
            }
        }
        self.recent.push_back(length);
        *self.counts.entry(length).or_default() += 1;
    }

    /// The shortest length that is no less than a share of all; 0 without any.
    fn percentile(&self, share: f64) -> u32 {
        let wanted = share * self.recent.len() as f64;
        let mut seen = 0;
        for (&length, &count) in &self.counts {
            seen += count;
            if f64::from(seen) >= wanted {
                return length;
            }
        }
        0
    }
}

/// State of RR-TCP's sender.
#[derive(Debug)]
pub(crate) struct RrTcp {
    fa_ratio: f64,
    fa_step: f64,
    timeout_cost: f64,
    lengths: Lengths,
    dupack: Dupack,
    /// What the present ACK newly delivered.
    late: Vec<Late>,
    /// Reordering lengths of delivered segments that were retransmitted, by their end: they count once a
    /// DSACK says that the original arrived, too.
    unconfirmed: BTreeMap<u64, u32>,
    /// A DSACK has said so since the last ACK.
    confirmed: bool,
    /// snd_nxt when the FA ratio was last raised: once for a round.
    raised_at: Option<u64>,
    /// The last judgement was taken back.
    start_over: bool,
    /// Bytes of the restored window that slow start has not reached yet.
    owed: u64,
    cwnd_segments: u32,
    full_payload: u64,
    snd_una: u64,
}

#[derive(Clone, Copy, Debug)]
struct Late {
    end: u64,
    /// SACKed segments above it that the same ACK covers cumulatively.
    covered: u32,
    cumulative: bool,
    retransmitted: bool,
}

impl RrTcp {
    pub(crate) fn new(fa_ratio: f64, fa_step: f64, timeout_cost: f64) -> Self {
        Self {
            fa_ratio,
            fa_step,
            timeout_cost,
            lengths: Lengths::default(),
            dupack: Dupack::new(DUP_THRESH),
            late: Vec::new(),
            unconfirmed: BTreeMap::new(),
            confirmed: false,
            raised_at: None,
            start_over: false,
            owed: 0,
            cwnd_segments: DUP_THRESH,
            full_payload: 1,
            snd_una: 0,
        }
    }

    /// A delivered segment may have been overtaken; [`RrTcp::on_ack`] sees by how many.
    #[inline]
    pub(crate) fn on_delivered(&mut self, segment: &DeliveredSegment) {
        self.dupack.on_delivered(segment);
        self.late.push(Late {
            end: segment.end,
            covered: 0,
            cumulative: !segment.by_sack,
            retransmitted: segment.retransmitted,
        });
    }

    pub(crate) fn on_sacked_acknowledged(&mut self, start: u64) {
        self.dupack.on_sacked_acknowledged(start);
        for late in &mut self.late {
            late.covered += u32::from(late.cumulative);
        }
    }

    pub(crate) fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
        self.dupack.on_duplicate_without_sack(board);
    }

    /// The end of a DSACK block: the retransmission of that segment was not needed.
    pub(crate) fn on_dsack(&mut self, end: u64) {
        if let Some(length) = self.unconfirmed.remove(&end) {
            self.lengths.add(length);
            self.confirmed = true;
        }
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        let advanced = facts.snd_una.saturating_sub(self.snd_una);
        // Two segments an ACK at most (RFC 3465 section 2.3).
        self.owed = self.owed.saturating_sub(advanced.min(2 * self.full_payload));
        self.snd_una = facts.snd_una;
        self.measure(board);
        self.adapt(facts);
        if std::mem::take(&mut self.start_over) {
            self.dupack.start_over(board);
        }
        self.dupack.on_ack(board, facts);
    }

    /// Takes the reordering length of each segment that others have overtaken: how many were reported above it
    /// before it was.
    fn measure(&mut self, board: &Scoreboard) {
        let sacked = board.sacked_segments() as u32;
        let mut late = std::mem::take(&mut self.late);
        for segment in &late {
            let above = if segment.cumulative { sacked } else { sacked_from(board, segment.end) };
            let length = above + segment.covered;
            if length == 0 {
                continue;
            }
            if segment.retransmitted {
                self.unconfirmed.insert(segment.end, length);
                if self.unconfirmed.len() > EVENTS {
                    self.unconfirmed.pop_first();
                }
            } else {
                self.lengths.add(length);
            }
        }
        late.clear();
        self.late = late;
    }

    /// FA ratio up after a false fast retransmit, and DupThresh so that this share of the reordering events
    /// stays below it: a segment of length 8 needs 9. It stays within a window, or a loss would wait for the
    /// timer, there being no more segments to report.
    fn adapt(&mut self, facts: &AckFacts) {
        if self.raised_at.is_some_and(|round| facts.snd_una >= round) {
            self.raised_at = None;
        }
        if std::mem::take(&mut self.confirmed) && self.raised_at.is_none() {
            self.raised_at = Some(facts.snd_nxt);
            self.fa_ratio = (self.fa_ratio + self.fa_step).min(1.0);
        }
        let wanted = self.lengths.percentile(self.fa_ratio).saturating_add(1);
        self.dupack.set_threshold(wanted.min(self.cwnd_segments).max(DUP_THRESH));
    }

    #[inline]
    pub(crate) fn on_sent(&mut self, facts: &TransmissionFacts) {
        // At most the 2^32 numbers of segments.
        self.full_payload = facts.full_payload;
        self.cwnd_segments = (facts.cwnd / facts.full_payload) as u32;
    }

    /// Slow start up to the restored window; and at most another window beyond it is outstanding.
    #[inline]
    pub(crate) fn withheld(&self, cwnd: u64, outstanding: u64) -> u64 {
        let room = cwnd.saturating_mul(2).saturating_sub(outstanding);
        if room == 0 { cwnd } else { self.owed }
    }

    pub(crate) fn on_spurious(&mut self) {
        self.start_over = true;
    }

    pub(crate) fn on_restored(&mut self, cwnd: u64, pipe: u64) {
        self.owed = cwnd.saturating_sub(pipe);
    }

    /// A timeout costs as much as so many false fast retransmits.
    pub(crate) fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
        self.fa_ratio = (self.fa_ratio - self.fa_step * self.timeout_cost).max(0.0);
        self.owed = 0;
        self.dupack.on_retransmission_timeout(snd_nxt);
    }
}

/// SACKed segments at or above a position.
fn sacked_from(board: &Scoreboard, position: u64) -> u32 {
    let (Some(from), Some(last)) = (board.number_at(position), board.last_number()) else { return 0 };
    let count = (0..=last.wrapping_sub(from)).filter(|&i| board.get(from.wrapping_add(i)).sacked).count();
    // At most the 2^32 numbers of segments.
    count as u32
}
