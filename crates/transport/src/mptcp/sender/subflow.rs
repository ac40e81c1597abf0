//! One subflow at the sending end.

use super::silence::Silence;
use crate::mptcp::path_manager::SubflowAddresses;
use crate::segment::unwrap_sequence;
use crate::tcp::{RttSummary, Sender, SenderStats};
use anabranch_units::Instant;
use std::collections::VecDeque;

/// Linux's largest send buffer (net.ipv4.tcp_wmem).
const LARGEST_SEND_BUFFER: u64 = 4 << 20;
/// A send buffer has room for twice so many segments at least.
const LEAST_SEGMENTS: u64 = 10;
/// Memory of a segment in Linux: its data and its headers in a block of a power of two, and the record of it.
const HEADER_ROOM: u64 = 320;
/// That record.
const SEGMENT_RECORD: u64 = 256;

/// Linux keeps at most so many bytes in one piece (half of the largest segment that its offload takes), and beside them a
/// record of so many (the truesize of one without data; checks/validation/linux/README.md).
const LARGEST_PIECE: u64 = 32_768;
const PIECE_RECORD: u64 = 832;

/// Where bytes of a subflow lie in the data of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapping {
    /// First position on the subflow.
    pub(super) start: u64,
    /// First position in the data.
    pub(super) data: u64,
    pub(super) length: u64,
}

impl Mapping {
    fn end(&self) -> u64 {
        self.start + self.length
    }
}

/// How far the handshake of a joining subflow has come (RFC 8684 section 3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Join {
    /// The first subflow joins nothing.
    First,
    /// The SYN/ACK has not come.
    Waiting,
    /// The ACK with the HMAC is out, and again at `again_at`.
    Acknowledged { again_at: Instant, repetitions: u32 },
    /// The other end has answered it.
    Done,
}

/// What a subflow is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubflowState {
    /// Its handshake has not begun.
    Idle,
    /// In its handshake.
    Opening,
    /// It carries data.
    Established,
    /// A retransmission timeout without an answer since: it gets no new data, and what it has is sent on the
    /// others; with the scheduler of Linux and `subflow_windows` only after some more of silence.
    Suspect,
    /// Its handshake had no answer, or the connection ended before it was established or while it was suspect.
    Failed,
    /// One of its addresses went away.
    Removed,
}

/// A subflow at the sending end, seen from outside.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SubflowSummary {
    /// What it is doing.
    pub state: SubflowState,
    /// What it has done so far; segments of other subflows that it repeats are new ones to it.
    pub stats: SenderStats,
    /// Round-trip times; all zero before the first sample.
    pub rtt: RttSummary,
    /// Window in bytes that governs sending now.
    pub cwnd: u64,
    /// Slow-start threshold in bytes; `u64::MAX` before the first loss.
    pub ssthresh: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Bytes acknowledged on the subflow, repeated ones included.
    pub acknowledged: u64,
    /// When its handshake completed.
    pub established_at: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Subflow {
    pub(super) sender: Sender,
    pub(super) addresses: SubflowAddresses,
    pub(super) opened: bool,
    pub(super) join: Join,
    pub(super) nonce: u32,
    pub(super) peer_nonce: u32,
    /// One of its addresses went away.
    pub(super) removed: bool,
    /// The other end has asked to use it as a backup.
    pub(super) peer_backup: bool,
    /// The other end was asked to use it as a backup.
    pub(super) told_backup: bool,
    /// It may have something of its own to send.
    pub(super) woken: bool,
    /// Window that it took last, in bytes.
    window: u64,
    mappings: VecDeque<Mapping>,
    /// Data that it was given before it had room: first position and length, none of it sent.
    queue: VecDeque<(u64, u64)>,
    queued: u64,
    /// Bytes that it may be given and not have acknowledged; it never shrinks.
    send_buffer: u64,
    /// It is taken for dead, and gets no new data.
    pub(super) suspect: bool,
    /// A timeout has passed without an answer since.
    pub(super) timed_out: bool,
    timeouts: u64,
    /// First unacknowledged position when it timed out.
    timed_out_from: u64,
    /// How long it has been silent.
    pub(super) silence: Silence,
    /// What lies below on the subflow needs no reinjection any more.
    reinjected: u64,
    pub(super) penalised_at: Instant,
}

impl Subflow {
    pub(super) fn new(sender: Sender, addresses: SubflowAddresses, join: Join, nonce: u32) -> Self {
        Self {
            sender,
            addresses,
            opened: false,
            join,
            nonce,
            peer_nonce: 0,
            removed: false,
            peer_backup: false,
            told_backup: false,
            woken: false,
            window: 0,
            mappings: VecDeque::new(),
            queue: VecDeque::new(),
            queued: 0,
            send_buffer: 0,
            suspect: false,
            timed_out: false,
            timeouts: 0,
            timed_out_from: 0,
            silence: Silence::default(),
            reinjected: 0,
            penalised_at: Instant::ZERO,
        }
    }

    /// Gives it `length` bytes of the data from `data` on.
    pub(super) fn give(&mut self, data: u64, length: u64) {
        // What it was given before may still wait there.
        self.mappings.push_back(Mapping { start: self.sender.write_position(), data, length });
        self.sender.write(length);
    }

    /// Puts `length` bytes of the data from `data` on behind what it was given.
    pub(super) fn enqueue(&mut self, data: u64, length: u64) {
        self.queued += length;
        match self.queue.back_mut() {
            Some((from, bytes)) if *from + *bytes == data => *bytes += length,
            _ => self.queue.push_back((data, length)),
        }
    }

    /// The next data of its queue, at most `most` bytes of them.
    pub(super) fn dequeue(&mut self, most: u64) -> Option<(u64, u64)> {
        let (from, bytes) = self.queue.front_mut()?;
        let taken = (*from, most.min(*bytes));
        *from += taken.1;
        *bytes -= taken.1;
        self.queued -= taken.1;
        if *bytes == 0 {
            self.queue.pop_front();
        }
        Some(taken)
    }

    /// A segment tells a window; its ACK is of position `ack`, and the first unacknowledged one was `una` before. As in
    /// Linux, an ACK that moves nothing on may only make the window larger, or shut it; RFC 9293 section 3.10.7.4 (SND.WL2)
    /// has it make the window smaller, too.
    pub(super) fn take_window(&mut self, window: u64, ack: u64, una: u64) {
        if ack > una || (ack == una && (window > self.window || window == 0)) {
            self.window = window;
        }
    }

    /// The window that it took last.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Bytes in its queue.
    pub(super) fn queued(&self) -> u64 {
        self.queued
    }

    /// Bytes that it was given and has not had acknowledged.
    pub(super) fn held(&self) -> u64 {
        self.sender.write_position() - self.sender.snd_una() + self.queued
    }

    /// Memory of what it holds. Linux keeps a record beside each piece: a train that is in flight, and as much as one holds
    /// of what waits.
    pub(super) fn memory(&self) -> u64 {
        let in_flight = self.sender.snd_nxt() - self.sender.snd_una();
        let waiting = self.held() - in_flight;
        let payload = self.sender.full_payload();
        let whole = LARGEST_PIECE / payload * payload;
        let pieces = in_flight.div_ceil(self.sender.train()) + waiting.div_ceil(whole.max(1));
        in_flight + waiting + pieces * PIECE_RECORD
    }

    /// Send-buffer autotuning as in Linux: room for twice the window, three times where rates are measured, and never
    /// less than for the initial window. It grows while the window has room that nothing waits for, and up to the maximum of
    /// net.ipv4.tcp_wmem. A buffer counts memory, and a segment takes more of it than its data.
    pub(super) fn tune_send_buffer(&mut self, now: Instant, mss: u16, measures_rate: bool) -> u64 {
        let (window, payload) = (self.sender.controller_window(), self.sender.full_payload());
        // What waits and may leave will fill the window.
        let settled = self.queued == 0 || self.sender.room(now) == 0;
        let has_room = settled && self.sender.in_flight() + payload <= window;
        if self.send_buffer == 0 || has_room {
            let segments = (window / payload).max(LEAST_SEGMENTS);
            let memory = (u64::from(mss) + HEADER_ROOM).next_power_of_two() + SEGMENT_RECORD;
            let windows = if measures_rate { 3 } else { 2 };
            self.send_buffer = self.send_buffer.max((windows * segments * memory).min(LARGEST_SEND_BUFFER));
        }
        self.send_buffer
    }

    /// The mapping of the bytes that a segment carries, from its sequence number `seq` on.
    pub(super) fn mapping_of(&self, seq: u32) -> Option<Mapping> {
        let start = unwrap_sequence(seq, self.sender.snd_una());
        // Most are the newest.
        let index = match self.mappings.back() {
            Some(last) if last.start <= start => self.mappings.len() - 1,
            _ => self.mappings.partition_point(|mapping| mapping.end() <= start),
        };
        let mapping = self.mappings.get(index).filter(|m| m.start <= start && start < m.end())?;
        let ahead = start - mapping.start;
        Some(Mapping { start, data: mapping.data + ahead, length: mapping.length - ahead })
    }

    /// Forgets what the subflow has acknowledged.
    pub(super) fn forget_acknowledged(&mut self) {
        let una = self.sender.snd_una();
        while self.mappings.front().is_some_and(|mapping| mapping.end() <= una) {
            self.mappings.pop_front();
        }
    }

    /// The bytes from a position in the data on that it has not acknowledged, SACKed or not.
    pub(super) fn holding(&self, data: u64) -> Option<Mapping> {
        let mapping = self.mappings.iter().find(|m| m.data <= data && data < m.data + m.length)?;
        let ahead = data - mapping.data;
        Some(Mapping { start: mapping.start + ahead, data, length: mapping.length - ahead })
    }

    /// Looks for a timeout, or for an answer after one; returns whether it became suspect or ceased to be. Where silence
    /// decides (`silence.rs`), it ceases to be with any ACK.
    pub(super) fn judge(&mut self, silence_decides: bool) -> bool {
        let timeouts = self.sender.stats().timeouts;
        let timed_out = timeouts > self.timeouts;
        self.timeouts = timeouts;
        if self.timed_out && self.sender.snd_una() > self.timed_out_from {
            self.timed_out = false;
        } else if timed_out && !self.timed_out && self.sender.established_at().is_some() {
            // A SYN that times out is no sign of data that are held up.
            self.timed_out = true;
            self.timed_out_from = self.sender.snd_una();
        }
        let before = self.suspect;
        self.suspect = if silence_decides { before && !self.silence.is_over() } else { self.timed_out };
        self.suspect != before
    }

    /// The next bytes that others must send in its place, above `data_una`; as a mapping of its own. What it has SACKed is
    /// among them: the other end holds it back until it has what lies before it on the subflow.
    pub(super) fn next_reinjection(&mut self, data_una: u64) -> Option<Mapping> {
        let mut index = self.mappings.partition_point(|mapping| mapping.end() <= self.reinjected);
        while let Some(mapping) = self.mappings.get(index) {
            let ahead =
                self.reinjected.saturating_sub(mapping.start).max(data_una.saturating_sub(mapping.data));
            if ahead < mapping.length {
                return Some(Mapping {
                    start: mapping.start + ahead,
                    data: mapping.data + ahead,
                    length: mapping.length - ahead,
                });
            }
            self.reinjected = mapping.end();
            index += 1;
        }
        None
    }

    /// What lies below `position` on the subflow has been given to others.
    pub(super) fn note_reinjected(&mut self, position: u64) {
        self.reinjected = self.reinjected.max(position);
    }

    /// Whether it was opened, and is neither given up nor removed.
    pub(super) fn is_live(&self) -> bool {
        self.opened && !self.removed && !self.sender.is_failed()
    }

    /// Whether it has a window that counts.
    pub(super) fn has_window(&self) -> bool {
        self.sender.established_at().is_some() && !self.removed
    }

    pub(super) fn state(&self) -> SubflowState {
        if self.removed {
            return SubflowState::Removed;
        }
        let joined = matches!(self.join, Join::First | Join::Done);
        match (self.opened, self.sender.is_failed(), self.sender.established_at().is_some() && joined) {
            (_, true, _) => SubflowState::Failed,
            (false, ..) => SubflowState::Idle,
            (true, false, false) => SubflowState::Opening,
            (true, false, true) if self.timed_out => SubflowState::Suspect,
            (true, false, true) => SubflowState::Established,
        }
    }

    pub(super) fn summary(&self) -> SubflowSummary {
        SubflowSummary {
            state: self.state(),
            stats: *self.sender.stats(),
            rtt: self.sender.rtt(),
            cwnd: self.sender.cwnd(),
            ssthresh: self.sender.ssthresh(),
            in_flight: self.sender.in_flight(),
            acknowledged: self.sender.acknowledged(),
            established_at: self.sender.established_at(),
        }
    }
}
