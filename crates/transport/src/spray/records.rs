//! The packets between the first that is not acknowledged and the last that was sent.

use anabranch_units::{Instant, Span};
use std::collections::{BTreeSet, VecDeque};

/// How it stands with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// Sent, and nothing heard of it.
    Outstanding,
    /// It is to be sent again.
    Lost,
    /// It has arrived.
    Acknowledged,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// When it was sent last.
    pub(super) sent_at: Instant,
    pub(super) payload: u16,
    /// Its entropy value, the last time.
    pub(super) entropy: u16,
    /// How often it was sent again.
    pub(super) retries: u8,
    pub(super) standing: Standing,
}

/// All of them.
#[derive(Default, Debug)]
pub(super) struct Records {
    first: u64,
    records: VecDeque<Record>,
    lost: BTreeSet<u64>,
}

impl Records {
    /// The first that is not acknowledged; the next one to be sent where all are.
    pub(super) const fn first(&self) -> u64 {
        self.first
    }

    /// The number of the next new packet.
    pub(super) fn next(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    pub(super) fn get(&self, psn: u64) -> Option<&Record> {
        self.records.get(usize::try_from(psn.checked_sub(self.first)?).ok()?)
    }

    fn get_mut(&mut self, psn: u64) -> Option<&mut Record> {
        self.records.get_mut(usize::try_from(psn.checked_sub(self.first)?).ok()?)
    }

    /// A new packet.
    pub(super) fn push(&mut self, record: Record) {
        self.records.push_back(record);
    }

    /// The first that is to be sent again.
    pub(super) fn first_lost(&self) -> Option<u64> {
        self.lost.first().copied()
    }

    /// A lost packet is sent again.
    pub(super) fn resend(&mut self, psn: u64, now: Instant, entropy: u16) -> Option<Record> {
        self.lost.remove(&psn);
        let record = self.get_mut(psn)?;
        record.sent_at = now;
        record.entropy = entropy;
        record.retries = record.retries.saturating_add(1);
        record.standing = Standing::Outstanding;
        Some(*record)
    }

    /// Notes that a packet is lost; its record, if it was outstanding.
    pub(super) fn lose(&mut self, psn: u64) -> Option<Record> {
        let record = self.get_mut(psn).filter(|record| record.standing == Standing::Outstanding)?;
        record.standing = Standing::Lost;
        let lost = *record;
        self.lost.insert(psn);
        Some(lost)
    }

    /// Notes that a packet has arrived; calls `regained` where it had been given up and was not sent again yet.
    pub(super) fn acknowledge(&mut self, psn: u64, regained: &mut impl FnMut(&Record)) {
        let Some(record) = self.get_mut(psn) else { return };
        let before = std::mem::replace(&mut record.standing, Standing::Acknowledged);
        if before == Standing::Lost {
            let record = *record;
            self.lost.remove(&psn);
            regained(&record);
        }
    }

    /// Notes that all packets below have arrived.
    pub(super) fn acknowledge_below(&mut self, psn: u64, regained: &mut impl FnMut(&Record)) {
        while self.first < psn && !self.records.is_empty() {
            self.acknowledge(self.first, regained);
            self.records.pop_front();
            self.first += 1;
        }
    }

    /// The outstanding packets in order of their numbers.
    pub(super) fn outstanding(&self) -> impl Iterator<Item = (u64, &Record)> {
        (self.first..).zip(&self.records).filter(|(_, record)| record.standing == Standing::Outstanding)
    }

    /// Whether every packet has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl Record {
    /// When the answer is overdue.
    pub(super) fn overdue_at(&self, (rto, steady_retries): (Span, u8), max_rto: Span) -> Instant {
        let doublings = self.retries.saturating_sub(steady_retries).min(30);
        let waits = rto.saturating_mul(1 << doublings).min(max_rto);
        self.sent_at.saturating_add(waits)
    }
}
