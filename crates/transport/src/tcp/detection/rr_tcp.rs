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

use super::{
    AckFacts, ConfiguredDetection, DeliveredSegment, Dupack, LossDetection, TransmissionFacts,
    WatchesTransmissions,
};
use crate::tcp::scoreboard::Scoreboard;
use anabranch_units::declaration::at_least;
use anabranch_units::{Instant, Span};
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

anabranch_units::parameters! {
    /// RR-TCP (Zhang et al., ICNP 2003): DupThresh follows the reordering that was seen.
    pub struct RrTcpParameters {
        /// Share of the reordering events that must not look like a loss, at first ("FA ratio").
        fa_ratio: f64 = 0.9, at_least(0.0).at_most(1.0);
        /// What a false fast retransmit adds to it.
        fa_step: f64 = 0.01, at_least(0.0).at_most(1.0);
        /// False fast retransmits that one retransmission timeout outweighs.
        timeout_cost: f64 = 10.0, at_least(0.0);
    }
}

/// State of RR-TCP's sender.
#[derive(Debug)]
pub struct RrTcp {
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
            owed: 0,
            cwnd_segments: DUP_THRESH,
            full_payload: 1,
            snd_una: 0,
        }
    }

    /// Takes the reordering length of each segment that others have overtaken: how many were reported above it
    /// before it was.
    fn measure(&mut self, board: &Scoreboard) {
        let sacked = board.sacked_segments() as u32;
        let mut late = std::mem::take(&mut self.late);
        for segment in &late {
            let above = if segment.cumulative { sacked } else { board.sacked_from(segment.end) as u32 };
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
}

impl ConfiguredDetection for RrTcp {
    type Parameters = RrTcpParameters;
    const NEEDS_SACK: bool = true;

    fn configured(parameters: &RrTcpParameters) -> Self {
        Self::new(parameters.fa_ratio, parameters.fa_step, parameters.timeout_cost)
    }
}

impl WatchesTransmissions for RrTcp {
    fn on_sent(&mut self, facts: &TransmissionFacts) {
        // At most the 2^32 numbers of segments.
        self.full_payload = facts.full_payload;
        self.cwnd_segments = (facts.cwnd / facts.full_payload) as u32;
    }
}

impl LossDetection for RrTcp {
    /// A delivered segment may have been overtaken; [`RrTcp::on_ack`] sees by how many.
    #[inline]
    fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment, min_rtt: Span) {
        self.dupack.on_delivered(now, segment, min_rtt);
        self.late.push(Late {
            end: segment.end,
            covered: 0,
            cumulative: !segment.by_sack,
            retransmitted: segment.retransmitted,
        });
    }

    fn on_sacked_acknowledged(&mut self, start: u64) {
        self.dupack.on_sacked_acknowledged(start);
        for late in &mut self.late {
            late.covered += u32::from(late.cumulative);
        }
    }

    fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
        self.dupack.on_duplicate_without_sack(board);
    }

    /// The end of a DSACK block: the retransmission of that segment was not needed.
    fn on_dsack(&mut self, end: u64) {
        if let Some(length) = self.unconfirmed.remove(&end) {
            self.lengths.add(length);
            self.confirmed = true;
        }
    }

    #[inline]
    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        let advanced = facts.snd_una.saturating_sub(self.snd_una);
        // Two segments an ACK at most (RFC 3465 section 2.3).
        let paid = advanced.min(2 * self.full_payload);
        self.owed = if facts.in_recovery { 0 } else { self.owed.saturating_sub(paid) };
        self.snd_una = facts.snd_una;
        self.measure(board);
        self.adapt(facts);
        self.dupack.on_ack(board, facts);
    }

    fn watcher(&mut self) -> Option<&mut dyn WatchesTransmissions> {
        Some(self)
    }

    /// Slow start up to the restored window; and at most another window beyond it is outstanding.
    #[inline]
    fn withheld(&self, cwnd: u64, outstanding: u64) -> u64 {
        let room = cwnd.saturating_mul(2).saturating_sub(outstanding);
        if room == 0 { cwnd } else { self.owed }
    }

    fn on_spurious(&mut self) {
        self.dupack.judge_anew();
    }

    fn on_restored(&mut self, _: Instant, cwnd: u64, pipe: u64) {
        self.owed = cwnd.saturating_sub(pipe);
    }

    /// A timeout costs as much as so many false fast retransmits.
    fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
        self.fa_ratio = (self.fa_ratio - self.fa_step * self.timeout_cost).max(0.0);
        self.owed = 0;
        self.dupack.on_retransmission_timeout(snd_nxt);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Detector;
    use super::super::testing::Bench;
    use super::*;
    use crate::LossDetectionConfig;

    fn bench(cwnd: u64) -> Bench {
        let config =
            LossDetectionConfig::RrTcp(RrTcpParameters { fa_ratio: 0.9, fa_step: 0.01, timeout_cost: 10.0 });
        Bench::new(&config, cwnd)
    }

    fn state(bench: &Bench) -> &RrTcp {
        let Detector::RrTcp(rr_tcp) = &bench.detector else { panic!("RR-TCP") };
        rr_tcp
    }

    /// Nine of ten events have a length of 8 or less, so that 90 % are avoided above 8, and all above 20.
    #[test]
    fn the_percentile_is_that_of_the_last_thousand_events() {
        let mut lengths = Lengths::default();
        assert_eq!(lengths.percentile(0.9), 0);
        [5, 8, 3, 8, 20, 1, 2, 8, 4, 6].into_iter().for_each(|length| lengths.add(length));
        // Sorted: 1 2 3 4 5 6 8 8 8 20.
        for (share, length) in
            [(0.0, 1), (0.1, 1), (0.5, 5), (0.6, 6), (0.61, 8), (0.9, 8), (0.91, 20), (1.0, 20)]
        {
            assert_eq!(lengths.percentile(share), length, "{share}");
        }
        (0..EVENTS).for_each(|_| lengths.add(2));
        assert_eq!((lengths.percentile(1.0), lengths.recent.len(), lengths.counts.len()), (2, EVENTS, 1));
    }

    /// Each row: the segments in the order of their reports, and the lengths they give: how many sent later were
    /// reported before.
    #[test]
    fn a_reordering_length_counts_what_overtook() {
        let rows: [(&[u64], &[u32]); 4] =
            [(&[0, 1, 2, 3], &[]), (&[1, 0, 2, 3], &[1]), (&[2, 3, 1, 0], &[2, 3]), (&[0, 3, 2, 1], &[1, 2])];
        for (arrivals, expected) in rows {
            let mut b = bench(20);
            b.send(0, 4);
            let mut here = [false; 4];
            for &segment in arrivals {
                here[segment as usize] = true;
                let ack = here.iter().take_while(|arrived| **arrived).count() as u64;
                b.ack(1, ack, (segment >= ack).then_some(segment), None);
            }
            assert_eq!(state(&b).lengths.recent, expected, "{arrivals:?}");
        }
    }

    /// Segment 0 is overtaken by five: three reports make it lost, its retransmission turns out needless. The
    /// length counts when the DSACK has come, the FA ratio rises once, and the next such segment is waited for.
    #[test]
    fn a_false_fast_retransmit_raises_dup_thresh() {
        let mut b = bench(20);
        b.send(0, 20);
        (1..=5).for_each(|segment| b.sack(1, segment));
        assert_eq!(b.lost(), [0]);
        b.repair(1);
        b.in_recovery = true;
        b.ack(2, 6, None, None);
        assert_eq!(state(&b).lengths.recent, [0u32; 0], "it might have been the retransmission");
        b.ack(3, 7, None, Some(0));
        assert_eq!(state(&b).lengths.recent, [5]);
        assert!((state(&b).fa_ratio - 0.91).abs() < 1e-12);
        b.in_recovery = false;
        // 7 is overtaken by five as well; a sixth report makes it lost.
        for (report, lost) in [(8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (13, 1)] {
            b.sack(4, report);
            assert_eq!(b.lost().len(), lost, "{report}");
        }
    }

    /// A judgement that was taken back is no judgement: the same segment is found lost by the next report.
    #[test]
    fn what_was_spurious_is_judged_anew() {
        let mut b = bench(20);
        b.send(0, 20);
        (1..=3).for_each(|segment| b.sack(1, segment));
        assert_eq!(b.lost(), [0]);
        b.board.unmark_lost(true);
        b.detector.on_spurious();
        assert_eq!(b.lost(), [0u64; 0]);
        b.sack(2, 4);
        assert_eq!(b.lost(), [0]);
    }

    /// A timeout counts for ten false fast retransmits; DupThresh stays within 3 and the window.
    #[test]
    fn timeouts_lower_the_share_and_the_window_bounds_dup_thresh() {
        let mut b = bench(4);
        b.send(0, 20);
        for fa_ratio in [0.8, 0.7] {
            b.detector.on_retransmission_timeout(0);
            assert!((state(&b).fa_ratio - fa_ratio).abs() < 1e-12);
        }
        let Detector::RrTcp(rr_tcp) = &mut b.detector else { panic!("RR-TCP") };
        (0..10).for_each(|_| rr_tcp.lengths.add(15));
        for (report, lost) in [(1, 0), (2, 0), (3, 0), (4, 1)] {
            b.sack(1, report);
            assert_eq!(b.lost().len(), lost, "four reports are a window");
        }
    }

    /// Limited transmit ends with a second window outstanding; a restored window opens by two segments an ACK.
    #[test]
    fn new_data_stay_within_another_window_and_a_restored_one_opens_slowly() {
        let mut b = bench(10);
        b.send(0, 10);
        assert_eq!([19, 20, 21].map(|outstanding| b.detector.withheld(10, outstanding)), [0, 10, 10]);
        b.detector.on_restored(Instant::ZERO, 10, 4);
        for (ack, owed) in [(1, 5), (3, 3), (6, 1), (10, 0)] {
            b.ack(1, ack, None, None);
            assert_eq!(b.detector.withheld(10, 5), owed, "{ack}");
        }
    }

    /// False fast retransmits of one round raise the FA ratio once.
    #[test]
    fn the_fa_ratio_rises_once_a_round() {
        let mut b = bench(20);
        b.send(0, 20);
        for (ack, fa_ratio) in [(1, 0.91), (2, 0.91), (19, 0.91), (20, 0.92)] {
            let Detector::RrTcp(rr_tcp) = &mut b.detector else { panic!("RR-TCP") };
            rr_tcp.confirmed = true;
            b.ack(1, ack, None, None);
            assert!((state(&b).fa_ratio - fa_ratio).abs() < 1e-12, "ACK {ack}");
        }
    }
}
