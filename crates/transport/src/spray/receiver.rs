use super::config::HEADERS;
use super::header::{Answer, Nack, Probe};
use crate::segment::{Flags, Segment, unwrap_sequence};
use crate::tcp::ReceiverStats;
use std::collections::VecDeque;

/// Packets that an answer's bitmap tells of.
const BITMAP: u64 = 64;

/// The receiving end: it takes each packet once, in any order, and answers by ACKs with a bitmap, and by a NACK at once to
/// a packet that was trimmed. It has no timers: what it says and is lost, the next answer says again.
///
/// After each [`SprayReceiver::on_segment`] take segments from [`SprayReceiver::poll_transmit`] until it gives none.
#[derive(Debug)]
pub struct SprayReceiver {
    ack_after: u64,
    /// Every packet below has arrived.
    cumulative: u64,
    /// Which packets from `cumulative` on have arrived, 64 in each word.
    arrived: VecDeque<u64>,
    /// Number of the first packet of `arrived`, a multiple of 64.
    first: u64,
    received: u64,
    /// Bytes since the last answer.
    unanswered: u64,
    /// Packets that requested an answer while packets before them were missing.
    requested: Vec<u64>,
    answers: VecDeque<Segment>,
    stats: ReceiverStats,
}

impl SprayReceiver {
    /// A receiver to which nothing has come; it answers after so many bytes.
    #[must_use]
    pub fn new(ack_after: u64) -> Self {
        Self {
            ack_after,
            cumulative: 0,
            arrived: VecDeque::new(),
            first: 0,
            received: 0,
            unanswered: 0,
            requested: Vec::new(),
            answers: VecDeque::new(),
            stats: ReceiverStats::default(),
        }
    }

    /// An arriving packet.
    #[inline(never)]
    pub fn on_segment(&mut self, segment: &Segment) {
        if let Some(probe) = Probe::of(segment) {
            let answer = Probe { is_answer: true, ..probe };
            self.answers.push_back(answer.segment());
            return;
        }
        if segment.flags.has(Flags::TRIMMED) {
            // Acknowledgments are as due as before: this answer tells of no arrivals.
            self.stats.acks += 1;
            self.answers.push_back(Nack::to(segment));
            return;
        }
        let answer = Answer {
            cumulative: 0,
            psn: unwrap_sequence(segment.seq, self.cumulative),
            entropy: segment.entropy(),
            is_marked: segment.flags.has(Flags::CE),
            is_retransmission: segment.flags.has(Flags::RETRANSMISSION),
            base: 0,
            bitmap: 0,
            received: 0,
        };
        self.on_data(answer, segment);
    }

    fn on_data(&mut self, answer: Answer, segment: &Segment) {
        self.stats.segments += 1;
        self.stats.marked_segments += u64::from(answer.is_marked);
        let requests = segment.flags.has(Flags::ACK_REQUEST);
        let is_first = self.received == 0;
        let is_new = self.take(answer.psn);
        if is_new {
            let bytes = u64::from(HEADERS) + u64::from(segment.payload);
            self.stats.delivered += u64::from(segment.payload);
            self.received += bytes;
            self.unanswered += bytes;
        } else {
            self.stats.duplicate_segments += 1;
        }
        let asked = self.requested.len();
        self.requested.retain(|&request| request >= self.cumulative);
        let closes_gaps = self.requested.len() < asked;
        if requests && answer.psn >= self.cumulative {
            self.requested.push(answer.psn);
        }
        let at_once = is_first || !is_new || answer.is_marked || answer.is_retransmission || requests;
        if at_once || closes_gaps || self.unanswered >= self.ack_after {
            self.answer(answer);
        }
    }

    /// Notes a packet; whether it has not been here before.
    fn take(&mut self, psn: u64) -> bool {
        if psn < self.cumulative {
            return false;
        }
        let place = psn - self.first;
        let (word, bit) = ((place / BITMAP) as usize, 1 << (place % BITMAP));
        if self.arrived.len() <= word {
            self.arrived.resize(word + 1, 0);
        }
        if self.arrived[word] & bit != 0 {
            return false;
        }
        self.arrived[word] |= bit;
        while self.has(self.cumulative) {
            self.cumulative += 1;
        }
        while self.cumulative - self.first >= BITMAP {
            self.arrived.pop_front();
            self.first += BITMAP;
        }
        true
    }

    /// Whether a packet that is not below all of those that are kept has arrived.
    fn has(&self, psn: u64) -> bool {
        let Some(place) = psn.checked_sub(self.first) else { return true };
        let word = self.arrived.get((place / BITMAP) as usize);
        word.is_some_and(|word| word >> (place % BITMAP) & 1 != 0)
    }

    /// Which of the 64 packets from `base` on have arrived.
    fn bitmap(&self, base: u64) -> u64 {
        (0..BITMAP).filter(|&bit| self.has(base + bit)).fold(0, |map, bit| map | 1 << bit)
    }

    /// Answers the packet that has just come, with all that is known now: its round-trip time, entropy value and mark are
    /// those of this moment, and told once.
    fn answer(&mut self, answer: Answer) {
        self.unanswered = 0;
        let requested = answer.is_marked || self.requested.contains(&answer.psn);
        let base = if requested && answer.psn > self.cumulative {
            answer.psn
        } else {
            (answer.psn.saturating_sub(BITMAP - 1)).max(self.cumulative + 1)
        };
        // Nothing out of order: the cumulative number says all.
        let is_in_order = self.arrived.len() <= 1 && self.cumulative - self.first < BITMAP && {
            let word = self.arrived.front().copied().unwrap_or(0);
            word >> (self.cumulative - self.first) == 0
        };
        let bitmap = if is_in_order { 0 } else { self.bitmap(base) };
        let answer = Answer { cumulative: self.cumulative, base, bitmap, received: self.received, ..answer };
        self.stats.acks += 1;
        self.answers.push_back(answer.segment());
    }

    /// The next answer to send, if any.
    #[inline(never)]
    pub fn poll_transmit(&mut self) -> Option<Segment> {
        self.answers.pop_front()
    }

    /// What it has seen so far.
    #[must_use]
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
}
