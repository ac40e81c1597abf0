//! Which segment leaves next, on which subflow, and with which options.

use super::BLOCK;
use super::MptcpSender;
use super::silence::Repetition;
use super::subflow::{Join, Mapping};
use crate::log::{BlockCause, Decision};
use crate::mptcp::addresses::Address;
use crate::mptcp::data_sequence::DATA_START;
use crate::mptcp::keys;
use crate::mptcp::option::{DataNumber, Dss, DssMapping, MptcpOption};
use crate::mptcp::scheduler::{SubflowScheduler, View};
use crate::segment::{Flags, Segment};
use anabranch_units::Instant;

impl MptcpSender {
    /// The next segment to send now, if any: what subflows send of their own accord (handshakes, ACKs,
    /// retransmissions), then data.
    #[inline(never)]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        loop {
            if self.ends.announcements.are_to_be_placed() {
                self.place_announcements();
            }
            while let Some(&index) = self.woken.last() {
                if let Some(segment) = self.subflows[usize::from(index)].sender.poll_transmit(now) {
                    return Some(self.sign(index, segment));
                }
                self.woken.pop();
                self.subflows[usize::from(index)].woken = false;
                self.settle(now, index);
            }
            if self.awaits_fin() && self.data.fin_at <= now {
                self.request_fin(now);
                continue;
            }
            let segment = self.next_data(now);
            if segment.is_none() && !self.woken.is_empty() {
                // A subflow holds back what it was given: the others may have room.
                continue;
            }
            // Data that a subflow was given and holds back are the last ones to be given: the DATA_FIN is due now.
            if segment.is_none() && self.awaits_fin() && self.data.fin_at <= now {
                continue;
            }
            if segment.is_none() && self.asks_for_window(now) {
                continue;
            }
            return segment;
        }
    }

    fn view(&self, now: Instant, limit: u64) -> View<'_> {
        View {
            now,
            paths: &self.paths,
            data_una: self.data.una,
            data_nxt: self.data.nxt,
            limit,
            window: self.data.edge - self.data.una.min(self.data.edge),
        }
    }

    fn next_data(&mut self, now: Instant) -> Option<Segment> {
        if self.config.tcp.autotuning {
            self.fill_buffer();
        }
        self.tune_data_timer(now);
        if self.scheduler.queues() {
            return self.next_of_bursts(now);
        }
        if !self.paths.any_ready() {
            return None;
        }
        if !self.reinjecting.is_empty() && !self.scheduler.repeats() {
            let segment = self.reinject(now);
            // A subflow that holds back what it took has no room, which is known once it is settled: what it took
            // next would leave in one segment with it, under one mapping.
            if segment.is_some() || !self.woken.is_empty() {
                return segment;
            }
        }
        if self.config.subflow_windows {
            let segment = self.send_from_queues(now);
            // As above.
            if segment.is_some() || !self.woken.is_empty() {
                return segment;
            }
        }
        let data = &self.data;
        let mut limit = self.limit();
        // RFC 9293 section 3.8.6.2.1: no silly windows; a short segment must be all there is.
        let silly = limit < data.nxt + self.paths.get(0).payload && data.una < data.nxt;
        let blocked = data.edge < data.written && silly;
        if blocked {
            limit = data.nxt;
        }
        if !self.scheduler.repeats() && data.nxt >= limit {
            if blocked {
                return self.free_window(now);
            }
            self.tell_application_limit();
            return None;
        }
        // Field by field, for the scheduler changes while it looks.
        let view = View {
            now,
            paths: &self.paths,
            data_una: data.una,
            data_nxt: data.nxt,
            limit,
            window: data.edge - data.una.min(data.edge),
        };
        let Some(choice) = self.scheduler.pick(&view) else {
            // One that repeats has no more to send; any other waits.
            if !self.scheduler.repeats() {
                self.record_blocked(now, BlockCause::Scheduler);
            }
            return None;
        };
        self.record_unblocked(now);
        let room = self.paths.get(choice.subflow).room;
        let length = room.min(limit - choice.from);
        self.send_data(now, choice.subflow, choice.from, length)
    }

    /// Position behind the last that may be sent: what is written and fits the send buffer, and what the receive
    /// window admits.
    fn limit(&self) -> u64 {
        self.data.edge.min(self.buffered())
    }

    /// Position behind the last byte that the application has written and the send buffer holds.
    pub(super) fn buffered(&self) -> u64 {
        let data = &self.data;
        if self.config.tcp.autotuning { data.written.min(data.filled) } else { data.written }
    }

    /// The application fills the send buffer, which keeps what is not acknowledged at the data level, whichever subflow
    /// has it, by blocks: whether it is full is asked before each, so that the last one may not fit. Once it is full, Linux
    /// wakes the application when what is free is half of what is kept (sk_stream_is_writeable;
    /// checks/validation/linux/README.md).
    pub(super) fn fill_buffer(&mut self) {
        let sizes = self.paths.usable().map(|subflow| self.paths.get(subflow).send_buffer);
        let size = sizes.fold(0, u64::saturating_add);
        let kept = self.data.filled.saturating_sub(self.data.una);
        if kept < size && size.saturating_sub(kept) >= kept / 2 {
            // The last block begins below the size.
            let last = self.data.una.max(DATA_START).saturating_add(size - 1) - DATA_START;
            self.data.filled = self.data.filled.max(DATA_START + (last / BLOCK + 1).saturating_mul(BLOCK));
        }
    }

    /// The next segment where the scheduler gives data to queues: what a subflow was given leaves, as far as its window has
    /// room, before the scheduler gives more. A subflow whose window has room for several bursts sends the second of them
    /// behind the first ones of the others, which meet the same queue on their way.
    fn next_of_bursts(&mut self, now: Instant) -> Option<Segment> {
        loop {
            // A queue is emptied whatever becomes of its subflow's priority.
            if self.paths.with_room().next().is_some() {
                let segment = if self.reinjecting.is_empty() { None } else { self.reinject(now) };
                if segment.is_some() || !self.woken.is_empty() {
                    return segment;
                }
                let segment = self.send_queued(now);
                if segment.is_some() || !self.woken.is_empty() {
                    return segment;
                }
            }
            if !self.give_burst(now) {
                self.tell_application_limit();
                return None;
            }
        }
    }

    /// Gives a burst to the queue of the subflow that the scheduler chooses; returns whether it chose one.
    fn give_burst(&mut self, now: Instant) -> bool {
        let una = self.data.una;
        let repeats = self.repetition.map_or(u64::MAX, |repetition| repetition.next.max(una));
        let from = repeats.min(self.data.nxt);
        let limit = self.limit().max(self.data.nxt);
        let view = View {
            now,
            paths: &self.paths,
            data_una: una,
            data_nxt: from,
            limit,
            window: self.data.edge - una.min(self.data.edge),
        };
        let Some(burst) = self.scheduler.assign(&view) else { return false };
        let end = from + burst.bytes;
        debug_assert!(burst.bytes > 0 && end <= limit);
        self.subflows[usize::from(burst.subflow)].enqueue(from, burst.bytes);
        self.paths.add_queued(burst.subflow, burst.bytes);
        self.note_repetition(now, burst.subflow, end);
        self.data.nxt = self.data.nxt.max(end);
        self.ensure_data_timer(now);
        true
    }

    /// A subflow was given data up to `end`: some of them may have been another one's before.
    fn note_repetition(&mut self, now: Instant, index: u8, end: u64) {
        let Some(Repetition { next, of }) = self.repetition else { return };
        let bytes = end.min(self.data.nxt).saturating_sub(next.max(self.data.una));
        if bytes > 0 {
            self.stats.reinjected_bytes += bytes;
            self.record(now, index, Decision::Reinjected { bytes, from: of });
        }
        self.repetition = (end < self.data.nxt).then_some(Repetition { next: end, of });
    }

    /// The next segment of the queues: first what suspect subflows gave back, then what a subflow with room has.
    fn send_queued(&mut self, now: Instant) -> Option<Segment> {
        if let Some((from, bytes)) = self.returned.front().copied() {
            let index = self.scheduler.pick_for_repetition(&self.view(now, self.data.nxt))?;
            let length = bytes.min(self.paths.get(index).room);
            if length == bytes {
                self.returned.pop_front();
            } else if let Some(first) = self.returned.front_mut() {
                *first = (from + length, bytes - length);
            }
            return self.send_data(now, index, from, length);
        }
        self.send_from_queues(now)
    }

    /// The next segment of the queue of a subflow with room.
    fn send_from_queues(&mut self, now: Instant) -> Option<Segment> {
        let has_data = |index: &u8| self.subflows[usize::from(*index)].queued() > 0;
        let index = self.paths.with_room().find(has_data)?;
        let (from, length) = self.subflows[usize::from(index)].dequeue(self.paths.get(index).room)?;
        self.send_data(now, index, from, length)
    }

    /// Only a controller that measures rates asks whether the application or the network was the limit.
    fn tell_application_limit(&mut self) {
        if self.config.tcp.congestion_control.measures_rate() {
            for index in self.paths.ready() {
                self.subflows[usize::from(index)].sender.on_application_limit();
            }
        }
    }

    /// Gives data to a subflow that has room, and takes the segment.
    fn send_data(&mut self, now: Instant, index: u8, from: u64, length: u64) -> Option<Segment> {
        debug_assert!(length > 0);
        let end = from + length;
        self.data.nxt = self.data.nxt.max(end);
        self.scheduler.on_sent(index, end);
        self.ensure_data_timer(now);
        let subflow = &mut self.subflows[usize::from(index)];
        subflow.give(from, length);
        let segment = subflow.sender.poll_transmit(now);
        // Its window has less room now, and it may pace.
        self.wake(index);
        segment.map(|segment| self.sign(index, segment))
    }

    /// What suspect subflows have not delivered goes on others (mptcp_reinject_data() of the kernel of
    /// multipath-tcp.org, at each retransmission timeout), in the order of the data whichever subflow holds them, as
    /// that kernel keeps its reinject queue: the stream waits for the earliest. Each byte goes once: whoever takes it
    /// is answerable for it from then on.
    fn reinject(&mut self, now: Instant) -> Option<Segment> {
        let una = self.data.una;
        let mut earliest: Option<(u8, Mapping)> = None;
        let Self { reinjecting, subflows, .. } = self;
        reinjecting.retain(|&suspect| {
            let next = subflows[usize::from(suspect)].next_reinjection(una);
            if let Some(mapping) = next
                && earliest.is_none_or(|(_, other)| mapping.data < other.data)
            {
                earliest = Some((suspect, mapping));
            }
            next.is_some()
        });
        let (suspect, mapping) = earliest?;
        let index = self.scheduler.pick_for_repetition(&self.view(now, self.data.nxt))?;
        let length = mapping.length.min(self.paths.get(index).room);
        self.subflows[usize::from(suspect)].note_reinjected(mapping.start + length);
        self.stats.reinjected_bytes += length;
        self.record(now, index, Decision::Reinjected { bytes: length, from: suspect });
        self.send_data(now, index, mapping.data, length)
    }

    /// The receive window is full and a subflow has room: it takes the segment that holds the window up, once, and
    /// the slower subflow that has not delivered it is penalised (Raiciu et al., NSDI 2012, section 4.2).
    fn free_window(&mut self, now: Instant) -> Option<Segment> {
        self.scheduler.on_blocked(now);
        self.record_blocked(now, BlockCause::ReceiveWindow);
        let una = self.data.una;
        if !self.config.opportunistic_retransmission || self.freed == una {
            return None;
        }
        self.freed = una;
        let held = (0..self.subflow_count()).find_map(|index| {
            let subflow = &self.subflows[usize::from(index)];
            subflow.holding(una).filter(|_| !subflow.removed).map(|mapping| (index, mapping))
        });
        let (holder, mapping) = held?;
        let index = self.scheduler.pick_for_repetition(&self.view(now, self.data.nxt))?;
        if index == holder {
            return None;
        }
        self.penalise(now, holder, index);
        self.stats.opportunistic_retransmissions += 1;
        let length = mapping.length.min(self.paths.get(index).room);
        self.record(now, index, Decision::RetransmittedOpportunistically { bytes: length, from: holder });
        self.send_data(now, index, una, length)
    }

    /// At most once in a round trip of the slow subflow, and only if it is the slower one.
    fn penalise(&mut self, now: Instant, slow: u8, fast: u8) {
        let srtt = self.paths.get(slow).srtt;
        let subflow = &mut self.subflows[usize::from(slow)];
        if self.config.penalisation
            && srtt > self.paths.get(fast).srtt
            && now.saturating_since(subflow.penalised_at) >= srtt
            && subflow.sender.penalise(now)
        {
            subflow.penalised_at = now;
            self.stats.penalties += 1;
        }
    }

    /// Has the DATA_FIN sent on its own (RFC 8684 section 3.3.3), and again after a timeout that doubles.
    fn request_fin(&mut self, now: Instant) {
        // Another subflow each time: nothing in flight would show that the path of one is dead.
        let count = self.paths.usable().count().max(1);
        let usable = self.paths.usable().nth(self.data.fin_repetitions as usize % count);
        let is_there = |index: &u8| !self.subflows[usize::from(*index)].removed;
        let Some(index) = usable.or_else(|| (0..self.subflow_count()).find(is_there)) else {
            self.data.fin_at = now.saturating_add(self.config.tcp.initial_rto);
            return;
        };
        let subflow = &mut self.subflows[usize::from(index)];
        let wait = subflow.sender.rto().saturating_mul(1 << self.data.fin_repetitions.min(16));
        self.data.fin_at = now.saturating_add(wait.min(self.config.tcp.max_rto));
        self.data.fin_repetitions += 1;
        self.data.fin_on = Some(index);
        subflow.sender.repeat_ack();
        self.wake(index);
    }

    /// Puts the subflow's number and the MPTCP option on a segment.
    #[inline]
    fn sign(&mut self, index: u8, mut segment: Segment) -> Segment {
        segment.subflow = index;
        let option = if segment.flags.has(Flags::SYN) {
            self.syn_option(index)
        } else if segment.payload > 0 {
            self.data_option(index, &segment)
        } else {
            self.ack_option(index)
        };
        if let Some(option) = option {
            segment.set_mptcp(option);
        }
        segment
    }

    fn syn_option(&mut self, index: u8) -> Option<MptcpOption> {
        let subflow = &mut self.subflows[usize::from(index)];
        if index == 0 {
            return Some(MptcpOption::Capable { sender_key: None, receiver_key: None, data_length: None });
        }
        let token = keys::token(self.peer_key?);
        let Address { backup, id: address_id, .. } = self.ends.local.get(subflow.addresses.local);
        subflow.told_backup = backup;
        Some(MptcpOption::JoinSyn { address_id, backup, token, nonce: subflow.nonce })
    }

    fn data_option(&mut self, index: u8, segment: &Segment) -> Option<MptcpOption> {
        let subflow = &self.subflows[usize::from(index)];
        let mapping = subflow.mapping_of(segment.seq)?;
        debug_assert!(u64::from(segment.payload) <= mapping.length, "a segment has one mapping: {mapping:?}");
        let subflow_seq = (mapping.start - subflow.sender.origin()) as u32;
        if index == 0 && subflow_seq == 1 {
            // RFC 8684 section 3.1: the keys again with the first data, lest the third ACK was lost.
            let (sender_key, receiver_key) = (Some(self.key), self.peer_key);
            return Some(MptcpOption::Capable {
                sender_key,
                receiver_key,
                data_length: Some(segment.payload),
            });
        }
        let end = mapping.data + u64::from(segment.payload);
        let data_fin = self.data.closing && end == self.data.written;
        self.data.fin_mapped |= data_fin;
        let mapping = DssMapping {
            data_seq: self.sequence.number(mapping.data),
            subflow_seq,
            length: segment.payload + u16::from(data_fin),
        };
        // With 8 octets it would leave a full segment no room for all of its payload, and in 4 it says as much.
        let data_ack = Some(DataNumber::Low(self.data_ack().low()));
        Some(MptcpOption::Dss(Dss { data_ack, mapping: Some(mapping), data_fin }))
    }

    fn ack_option(&mut self, index: u8) -> Option<MptcpOption> {
        let subflow = &self.subflows[usize::from(index)];
        let data_ack = Some(self.data_ack());
        if self.data.fin_on == Some(index) {
            self.data.fin_on = None;
            // RFC 8684 section 3.3.3: without data its place on the subflow is 0 and its length 1.
            let mapping =
                DssMapping { data_seq: self.sequence.number(self.data.written), subflow_seq: 0, length: 1 };
            return Some(MptcpOption::Dss(Dss { data_ack, mapping: Some(mapping), data_fin: true }));
        }
        if index == 0 && !self.confirmed {
            let (sender_key, receiver_key) = (Some(self.key), self.peer_key);
            return Some(MptcpOption::Capable { sender_key, receiver_key, data_length: None });
        }
        if matches!(subflow.join, Join::Acknowledged { .. }) {
            let hmac = keys::join_hmac(self.key, self.peer_key?, subflow.nonce, subflow.peer_nonce);
            return Some(MptcpOption::JoinAck { hmac });
        }
        if let Some((option, more)) = self.ends.announcements.take(index) {
            if more {
                self.subflows[usize::from(index)].sender.repeat_ack();
            }
            return Some(option);
        }
        Some(MptcpOption::Dss(Dss { data_ack, mapping: None, data_fin: false }))
    }

    /// The other end sends no data, only its DATA_FIN.
    #[inline]
    fn data_ack(&self) -> DataNumber {
        self.peer_sequence.number(DATA_START + u64::from(self.peer_closed))
    }
}
