//! A detector and its scoreboard without a sender. Positions count segments, which are of one byte unless said otherwise.

use super::{AckFacts, DeliveredSegment, Detector, TransmissionFacts};
use crate::LossDetectionConfig;
use crate::tcp::scoreboard::{Delivery, Scoreboard, Sent};
use anabranch_units::{Instant, Span};

/// Segments from position 0 on; times in ms.
pub(super) struct Bench {
    pub(super) detector: Detector,
    pub(super) board: Scoreboard,
    pub(super) cwnd: u64,
    pub(super) in_recovery: bool,
    snd_una: u64,
    snd_nxt: u64,
    /// Bytes of a segment.
    len: u64,
}

pub(super) fn ms(at: u64) -> Instant {
    Instant::ZERO + Span::from_ms(at)
}

fn delivery() -> Delivery {
    Delivery { delivered: 0, delivered_at: ms(0), first_sent_at: ms(0), app_limited: false }
}

fn facts_of(sent: &Sent, by_sack: bool) -> DeliveredSegment {
    let (start, end, retransmitted) = (sent.start, sent.end, sent.transmissions > 1);
    let (sent_at, order) = (sent.sent_at, sent.order);
    DeliveredSegment { start, end, sent_at, order, retransmitted, echoes_earlier: false, by_sack }
}

impl Bench {
    pub(super) fn new(config: &LossDetectionConfig, cwnd: u64) -> Self {
        Self::with_segments_of(1, config, cwnd)
    }

    /// With a window in bytes.
    pub(super) fn with_segments_of(len: u64, config: &LossDetectionConfig, cwnd: u64) -> Self {
        let (detector, board) = (Detector::new(config), Scoreboard::new(len));
        Self { detector, board, cwnd, in_recovery: false, snd_una: 0, snd_nxt: 0, len }
    }

    fn tell(&mut self, at: u64, order: u64, new_bytes: u64) {
        let (now, cwnd, full_payload) = (ms(at), self.cwnd, self.len);
        let facts = TransmissionFacts { now, order, new_bytes, cwnd, full_payload };
        if let Some(watcher) = self.detector.watcher() {
            watcher.on_sent(&facts);
        }
    }

    /// Sends new segments.
    pub(super) fn send(&mut self, at: u64, count: u64) {
        for _ in 0..count {
            let end = self.snd_nxt + self.len;
            self.board.push(self.snd_nxt, end, false, ms(at), delivery());
            self.snd_nxt = end;
            let order = self.board.back().map_or(0, |sent| sent.order);
            self.tell(at, order, self.len);
        }
    }

    /// Sends every lost segment again.
    pub(super) fn repair(&mut self, at: u64) {
        while let Some(number) = self.board.next_lost() {
            self.board.retransmit(number, ms(at), delivery());
            let order = self.board.get(number).order;
            self.tell(at, order, 0);
        }
    }

    /// An ACK up to a position, with a SACK for one segment and a DSACK for another.
    pub(super) fn ack(&mut self, at: u64, ack: u64, sack: Option<u64>, dsack: Option<u64>) {
        let len = self.len;
        let ack = ack * len;
        let Self { detector, board, .. } = self;
        let now = ms(at);
        board.acknowledge(ack, |sent| {
            if sent.sacked {
                detector.on_sacked_acknowledged(sent.start);
            } else {
                detector.on_delivered(now, || facts_of(sent, false), Span::MAX);
            }
        });
        if let Some(number) = dsack {
            detector.on_dsack((number + 1) * len);
        }
        if let Some(number) = sack {
            board.selectively_acknowledge(number * len, (number + 1) * len, |sent| {
                detector.on_delivered(now, || facts_of(sent, true), Span::MAX);
            });
        }
        self.snd_una = self.snd_una.max(ack);
        let (snd_una, snd_nxt, in_recovery) = (self.snd_una, self.snd_nxt, self.in_recovery);
        let (dsack, srtt, min_rtt) = (dsack.is_some(), Span::ZERO, Span::MAX);
        let facts = AckFacts {
            now,
            snd_una,
            snd_nxt,
            dsack,
            late_original: false,
            newest_delivered_before: None,
            delivered: 0,
            in_recovery,
            srtt,
            min_rtt,
            echo_rtt: None,
            expected_samples: 1,
        };
        self.detector.on_ack(&mut self.board, || facts);
    }

    pub(super) fn sack(&mut self, at: u64, segment: u64) {
        self.ack(at, self.snd_una / self.len, Some(segment), None);
    }

    /// Which segments count as lost and wait for retransmission.
    pub(super) fn lost(&self) -> Vec<u64> {
        let waits = |&segment: &u64| {
            // What is folded is SACKed.
            let number = self.board.number_at(segment * self.len);
            let sent = number.map(|number| self.board.get(number));
            sent.is_some_and(|sent| sent.lost && !sent.retransmitted)
        };
        (self.snd_una / self.len..self.snd_nxt / self.len).filter(waits).collect()
    }
}
