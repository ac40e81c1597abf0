//! The receiving end of a Multipath TCP connection: subflows that acknowledge for themselves, and the data they
//! carry put in order.

mod addresses;
mod held_back;
mod reading;

use super::addresses::{Addresses, Announcements};
use super::data_sequence::{DATA_START, DataSequence};
use super::keys;
use super::option::{Dss, DssMapping, MptcpOption};
use crate::config::{MptcpConfig, TcpConfig};
use crate::segment::{Flags, Segment};
use crate::tcp::{Held, Ranges, Receiver, ReceiverStats, RightSizing, initial_window, window_scale};
use anabranch_units::{Instant, Span};
use held_back::HeldBack;
use std::sync::Arc;

/// What a receiver sees of the data beyond its subflows.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct MptcpReceiverStats {
    /// Data bytes that were there already when they came again, on whichever subflow.
    pub duplicate_bytes: u64,
    /// Most bytes that waited at one time for data before them, which had come in order on their subflows.
    pub most_waiting_bytes: u64,
}

/// A subflow at the receiving end.
#[derive(Debug)]
struct Subflow {
    receiver: Receiver,
    held_back: HeldBack,
    nonce: u32,
    peer_nonce: u32,
    /// The identifier of the other end's address.
    peer_address: u8,
    /// One of its addresses went away.
    removed: bool,
    /// The other end was asked to use it as a backup.
    told_backup: bool,
    /// The first subflow has shown the keys, a joining one that it knows them.
    admitted: bool,
    woken: bool,
    /// Timers that ran out since the stream was complete.
    expiries_after_end: u32,
}

/// So often a subflow tries to close, or to open, when the stream is complete; then it is given up (Linux's
/// tcp_orphan_retries). The other end may have given it up long before, and nothing depends on it.
const TRIES_AFTER_END: u32 = 8;

/// The receiving end: several subflows behind what looks like one [`Receiver`].
///
/// Call [`MptcpReceiver::on_segment`] for each arrival and [`MptcpReceiver::on_timeout`] at or after
/// [`MptcpReceiver::next_timeout`]; after each, take segments from [`MptcpReceiver::poll_transmit`] until it gives
/// none: only then does [`MptcpReceiver::next_timeout`] hold.
#[derive(Debug)]
pub struct MptcpReceiver {
    config: MptcpConfig,
    /// What its subflows have of the configuration.
    tcp: Arc<TcpConfig>,
    initial_sequence: u32,
    seed: u64,
    key: u64,
    peer_key: Option<u64>,
    /// The numbers of its DATA_FIN, and those of the data.
    sequence: DataSequence,
    peer_sequence: DataSequence,
    /// By number; a subflow is there from its SYN on.
    subflows: Vec<Option<Box<Subflow>>>,
    /// The interface at which each subflow arrives; those of which nothing was said arrive at the first.
    interfaces: Vec<u8>,
    addresses: Addresses,
    announcements: Announcements,
    /// The subflow that was heard last: its path works.
    last_subflow: u8,
    deadlines: Vec<Instant>,
    woken: Vec<u8>,
    /// First data position that has not come; the DATA_FIN counts as one.
    data_nxt: u64,
    /// Position of the DATA_FIN.
    fin_at: Option<u64>,
    /// What has come above `data_nxt`.
    waiting: Ranges,
    waiting_bytes: u64,
    /// What the application has not read; none if it reads at once.
    held: Option<Box<Held>>,
    /// Sets the limit of the window that the subflows make grow; none if it is fixed.
    sizing: Option<RightSizing>,
    /// Right edge of the window, which all subflows announce; it never moves back (RFC 8684 section 3.3.5).
    edge: u64,
    /// Right edge of the windows that were told the other end.
    announced: u64,
    /// Our own DATA_FIN is acknowledged.
    fin_acknowledged: bool,
    stats: MptcpReceiverStats,
}

impl MptcpReceiver {
    /// A receiver that waits for a SYN. Keys, nonces and the initial sequence numbers of further subflows come
    /// from `initial_sequence`.
    #[must_use]
    pub fn new(config: &MptcpConfig, initial_sequence: u32) -> Self {
        let seed = keys::derive(u64::from(initial_sequence), "receiver", 0);
        let key = keys::derive(seed, "key", 0);
        Self {
            initial_sequence,
            seed,
            key,
            peer_key: None,
            sequence: DataSequence::of(key, config.long_data_sequence),
            peer_sequence: DataSequence::default(),
            subflows: Vec::new(),
            interfaces: Vec::new(),
            addresses: Addresses::default(),
            announcements: Announcements::default(),
            last_subflow: 0,
            deadlines: Vec::new(),
            woken: Vec::new(),
            data_nxt: DATA_START,
            fin_at: None,
            waiting: Ranges::default(),
            waiting_bytes: 0,
            held: None,
            sizing: RightSizing::new(&config.tcp),
            edge: DATA_START + initial_window(&config.tcp),
            announced: DATA_START,
            fin_acknowledged: false,
            stats: MptcpReceiverStats::default(),
            tcp: Arc::new(config.tcp.clone()),
            config: config.clone(),
        }
    }

    /// What all subflows together have seen; `delivered` is what the application got, in order, each byte once.
    #[must_use]
    pub fn stats(&self) -> ReceiverStats {
        let mut sum = ReceiverStats::default();
        for stats in self.subflows.iter().flatten().map(|subflow| subflow.receiver.stats()) {
            sum.segments += stats.segments;
            sum.duplicate_segments += stats.duplicate_segments;
            sum.marked_segments += stats.marked_segments;
            sum.acks += stats.acks;
        }
        sum.delivered = self.in_order() - self.unread();
        sum
    }

    /// What it sees of the data beyond its subflows.
    #[must_use]
    pub fn multipath_stats(&self) -> &MptcpReceiverStats {
        &self.stats
    }

    /// What a subflow has seen, repeated data included; none before its SYN.
    #[must_use]
    pub fn subflow(&self, index: u8) -> Option<&ReceiverStats> {
        self.subflows.get(usize::from(index))?.as_ref().map(|subflow| subflow.receiver.stats())
    }

    /// Whether the other end has closed and every byte is here.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.data_nxt > fin)
    }

    /// An arriving segment; [`Segment::subflow`] says on which subflow. What does not belong to the connection is
    /// dropped.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        let index = segment.subflow;
        let option = segment.mptcp();
        if segment.flags.has(Flags::SYN) {
            if !self.take_syn(index, option) {
                return;
            }
        } else if !self.admit(index, option) {
            return;
        }
        let data = match self.data_of(segment, option) {
            Ok(data) => data,
            Err(Unmapped) => return,
        };
        if let Some(MptcpOption::Dss(Dss { mapping: Some(mapping), .. })) = option {
            self.peer_sequence.answer_in_kind(mapping.data_seq);
        }
        let Some(subflow) = self.subflows.get_mut(usize::from(index)).and_then(Option::as_mut) else {
            return;
        };
        let end = subflow.receiver.position_behind(segment);
        subflow.receiver.on_segment(now, segment);
        if matches!(option, Some(MptcpOption::JoinAck { .. })) {
            // RFC 8684 section 3.2: it is answered at once, for the other end may send nothing before.
            subflow.receiver.acknowledge_now();
        }
        self.wake(index);
        self.last_subflow = index;
        if let Some(option) = option.filter(MptcpOption::is_about_addresses) {
            self.take_address_option(option);
        }
        match data {
            // A DATA_FIN without data has no place on its subflow to wait for.
            Some(data) if segment.payload == 0 => self.take(now, index, data),
            Some(data) => self.take_in_order(now, index, end, data),
            None => {}
        }
        if let Some(MptcpOption::Dss(Dss { data_ack: Some(ack), .. })) = option {
            self.fin_acknowledged |=
                self.is_finished() && self.sequence.position(ack, DATA_START) == DATA_START + 1;
        }
        if self.is_finished() {
            self.announcements = Announcements::default();
        }
    }

    /// Opens a subflow for a SYN, unless it is there; returns whether the SYN belongs to the connection.
    fn take_syn(&mut self, index: u8, option: Option<MptcpOption>) -> bool {
        let (peer_nonce, peer_address) = match option {
            Some(MptcpOption::Capable { sender_key: None, .. }) if index == 0 => (0, 0),
            Some(MptcpOption::JoinSyn { token, nonce, address_id, .. })
                if index > 0 && self.peer_key.is_some() && token == keys::token(self.key) =>
            {
                (nonce, address_id)
            }
            _ => return false,
        };
        if !self.addresses.get(self.interface_of(index)).up {
            return false;
        }
        let place = usize::from(index);
        if self.subflows.len() <= place {
            self.subflows.resize_with(place + 1, || None);
            self.deadlines.resize(place + 1, Instant::MAX);
        }
        let sequence = if index == 0 {
            self.initial_sequence
        } else {
            keys::derive(self.seed, "sequence", index) as u32
        };
        let nonce = keys::derive(self.seed, "nonce", index) as u32;
        let subflow = self.subflows[place].get_or_insert_with(|| {
            Box::new(Subflow {
                receiver: Receiver::for_subflow(Arc::clone(&self.tcp), sequence),
                held_back: HeldBack::default(),
                nonce,
                peer_nonce,
                peer_address,
                removed: false,
                told_backup: false,
                admitted: false,
                woken: false,
                expiries_after_end: 0,
            })
        });
        subflow.peer_nonce == peer_nonce && !subflow.removed
    }

    /// Whether what comes behind the SYN of a subflow may be heard: the first must have shown both keys, the others
    /// that they know them.
    fn admit(&mut self, index: u8, option: Option<MptcpOption>) -> bool {
        let Some(subflow) = self.subflows.get_mut(usize::from(index)).and_then(Option::as_mut) else {
            return false;
        };
        if subflow.removed {
            return false;
        }
        let was_admitted = subflow.admitted;
        match option {
            Some(MptcpOption::Capable { sender_key: Some(key), receiver_key: Some(own_key), .. })
                if index == 0 && own_key == self.key && !subflow.admitted =>
            {
                subflow.admitted = true;
                self.peer_key = Some(key);
                // The mapping of MP_CAPABLE has no number that could be answered in kind.
                self.peer_sequence = DataSequence::of(key, self.config.long_data_sequence);
            }
            Some(MptcpOption::JoinAck { hmac }) if index > 0 && !subflow.admitted => {
                let expected = self
                    .peer_key
                    .map(|peer_key| keys::join_hmac(peer_key, self.key, subflow.peer_nonce, subflow.nonce));
                subflow.admitted = expected == Some(hmac);
            }
            _ => {}
        }
        let admitted = subflow.admitted;
        if admitted && !was_admitted {
            self.tell_priority(index);
        }
        admitted
    }

    /// Which data a segment carries: their positions, and whether the last is the DATA_FIN.
    fn data_of(&self, segment: &Segment, option: Option<MptcpOption>) -> Result<Option<Data>, Unmapped> {
        let payload = u64::from(segment.payload);
        let (left, right, fin) = match option {
            Some(MptcpOption::Capable { data_length: Some(length), .. }) => {
                // RFC 8684 section 3.1: the first data, right behind the initial number.
                (DATA_START, DATA_START + u64::from(length), false)
            }
            Some(MptcpOption::Dss(Dss { mapping: Some(mapping), data_fin, .. })) => {
                let left = self.peer_sequence.position(mapping.data_seq, self.data_nxt);
                let right = left.checked_add(u64::from(mapping.length)).ok_or(Unmapped)?;
                (left, right, data_fin)
            }
            _ if payload == 0 => return Ok(None),
            _ => return Err(Unmapped),
        };
        let fits = left >= DATA_START
            && right - left == payload + u64::from(fin)
            // What lies beyond the window was never allowed; on the subflow it must not count as received.
            && (self.config.subflow_windows || right <= self.data_nxt + self.config.tcp.receive_buffer.0 + 1);
        if fits && right > left { Ok(Some((left, right, fin))) } else { Err(Unmapped) }
    }

    /// Takes data that end at `end` on the subflow once it has everything before them, and those that waited for them.
    fn take_in_order(&mut self, now: Instant, index: u8, end: u64, data: Data) {
        let Some(subflow) = self.subflows[usize::from(index)].as_mut() else { return };
        if !subflow.held_back.insert(end, data) {
            self.stats.duplicate_bytes += data.1 - data.0 - u64::from(data.2);
        }
        while let Some(subflow) = self.subflows[usize::from(index)].as_mut()
            && let Some(data) = subflow.held_back.release(subflow.receiver.rcv_nxt())
        {
            self.take(now, index, data);
        }
    }

    /// Takes data that a subflow has in order.
    fn take(&mut self, now: Instant, index: u8, data: Data) {
        if self.lies_beyond_the_window(&data) {
            return;
        }
        let before = self.in_order();
        let (left, right, fin) = data;
        self.take_data(index, left, right, fin);
        let fresh = self.in_order() - before;
        if let Some(held) = &mut self.held {
            held.add(fresh);
        }
        if fresh > 0 {
            self.acknowledge_ends();
        }
        self.tune(now, index);
    }

    /// As Linux, once the application has read all and nothing waits for what lies before it: each subflow tells the end of
    /// what it brought (`acks_end_of_write`).
    pub(super) fn acknowledge_ends(&mut self) {
        if !self.config.tcp.acks_end_of_write || !self.waiting.is_empty() || self.unread() > 0 {
            return;
        }
        // At most 256 subflows: their identifiers have 8 bits.
        for index in 0..self.subflows.len() as u8 {
            let subflow = self.subflows[usize::from(index)].as_mut();
            if subflow.is_some_and(|subflow| subflow.receiver.on_all_read()) {
                self.wake(index);
            }
        }
    }

    /// Whether data wait for others and end beyond the window: they are dropped, though their subflow acknowledges them.
    fn lies_beyond_the_window(&self, &(left, right, fin): &Data) -> bool {
        self.config.subflow_windows && left > self.data_nxt && right - u64::from(fin) > self.announced
    }

    /// Takes `left..right` of the data: each byte counts once, and those in order are the application's.
    fn take_data(&mut self, index: u8, left: u64, right: u64, fin: bool) {
        if fin {
            self.fin_at = Some(right - 1);
            // Also when it comes again: the ACK before may be lost, and the subflow would not answer a pure ACK.
            self.acknowledge_on(index);
        }
        let bytes = right - left - u64::from(fin);
        let mut fresh = 0;
        let (from, to) = (left.max(self.data_nxt), right.max(self.data_nxt));
        self.waiting.for_each_gap(from, to, |l, r| fresh += r - l);
        self.stats.duplicate_bytes += bytes.saturating_sub(fresh);
        if fresh == 0 {
            return;
        }
        if left <= self.data_nxt && self.waiting.is_empty() {
            self.data_nxt = right;
        } else {
            let (first, last) = self.waiting.insert(from, to);
            self.waiting_bytes += fresh;
            self.stats.most_waiting_bytes = self.stats.most_waiting_bytes.max(self.waiting_bytes);
            if first <= self.data_nxt {
                self.waiting_bytes -= last - self.data_nxt;
                self.data_nxt = last;
                self.waiting.remove_below(last);
            }
        }
        if self.is_finished() {
            self.acknowledge_on(index);
        }
    }

    /// The window follows what the application takes; a round trip is that of the slowest subflow, for all of them
    /// bring what is taken in it. Unlike a receiver of TCP it does not add what waits behind a hole: other subflows are
    /// ahead of the slowest all the time, and Linux does not add it either (checks/validation/linux/README.md).
    fn tune(&mut self, now: Instant, index: u8) {
        let taken = self.data_nxt - DATA_START - self.unread();
        let live = self.subflows.iter().flatten().filter(|subflow| !subflow.removed);
        let receivers = live.map(|subflow| &subflow.receiver);
        let rtt = receivers.map(Receiver::round_trip).max().unwrap_or(Span::ZERO);
        let window = self.window_of(index);
        let Some(sizing) = &mut self.sizing else { return };
        let limit = sizing.on_taken(now, rtt, taken, 0);
        // What waits for data before it takes room in the buffer.
        let room = window.min(limit.saturating_sub(self.waiting_bytes));
        self.edge = self.edge.max(self.data_nxt + room);
        self.subflows.iter_mut().flatten().for_each(|subflow| subflow.receiver.allow_window(limit));
    }

    /// The window as a subflow has made it grow.
    fn window_of(&self, index: u8) -> u64 {
        self.subflows[usize::from(index)].as_ref().map_or(0, |subflow| subflow.receiver.window())
    }

    /// Bytes behind the next one expected that may be under way, as the subflow `index` tells them.
    fn window(&mut self, index: u8, scale: u8) -> u64 {
        let room = self.room(index);
        if let Some(held) = &mut self.held {
            return held.announce(room, scale);
        }
        if self.sizing.is_none() {
            return self.config.tcp.receive_buffer.0;
        }
        self.edge.saturating_sub(self.data_nxt)
    }

    fn acknowledge_on(&mut self, index: u8) {
        if let Some(subflow) = self.subflows[usize::from(index)].as_mut() {
            subflow.receiver.acknowledge_now();
        }
    }

    fn wake(&mut self, index: u8) {
        if let Some(subflow) = self.subflows[usize::from(index)].as_mut()
            && !subflow.woken
        {
            subflow.woken = true;
            self.woken.push(index);
        }
    }

    /// The next segment to send, if any.
    #[inline(never)]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        if self.announcements.are_to_be_placed() {
            self.place_announcements();
        }
        while let Some(&index) = self.woken.last() {
            let place = usize::from(index);
            let live = self.subflows[place].as_mut().filter(|subflow| !subflow.removed);
            let segment = live.and_then(|subflow| subflow.receiver.poll_transmit(now));
            if let Some(segment) = segment {
                return Some(self.sign(index, segment));
            }
            self.woken.pop();
            if let Some(subflow) = self.subflows[place].as_mut() {
                subflow.woken = false;
                let at = subflow.receiver.next_timeout();
                let given_up = subflow.removed || subflow.expiries_after_end > TRIES_AFTER_END;
                self.deadlines[place] = at.filter(|_| !given_up).unwrap_or(Instant::MAX);
            }
        }
        None
    }

    /// Puts the subflow's number, the window that all subflows share and the MPTCP option on a segment.
    #[inline]
    fn sign(&mut self, index: u8, mut segment: Segment) -> Segment {
        segment.subflow = index;
        let scale = window_scale(self.config.tcp.receive_buffer.0);
        let syn = segment.flags.has(Flags::SYN);
        let window = self.window(index, if syn { 0 } else { scale });
        self.announced = self.announced.max(self.data_nxt + window);
        segment.window = (if syn { window } else { window >> scale }).min(u64::from(u16::MAX)) as u16;
        if syn {
            segment.window_scale_plus_one = scale + 1;
            segment.set_mptcp(self.syn_option(index));
            return segment;
        }
        if let Some((option, more)) = self.announcements.take(index) {
            if more {
                self.acknowledge_on(index);
            }
            segment.set_mptcp(option);
            return segment;
        }
        let own_fin = self.is_finished() && !self.fin_acknowledged;
        segment.set_mptcp(MptcpOption::Dss(Dss {
            data_ack: Some(self.peer_sequence.number(self.data_nxt)),
            mapping: own_fin.then_some(DssMapping {
                data_seq: self.sequence.number(DATA_START),
                subflow_seq: 0,
                length: 1,
            }),
            data_fin: own_fin,
        }));
        segment
    }

    fn syn_option(&mut self, index: u8) -> MptcpOption {
        let key = self.key;
        let address_id = self.interface_of(index);
        let backup = self.addresses.get(address_id).backup;
        match (self.subflows[usize::from(index)].as_mut(), self.peer_key) {
            (Some(subflow), Some(peer_key)) if index > 0 => {
                subflow.told_backup = backup;
                let hmac = keys::join_hmac(key, peer_key, subflow.nonce, subflow.peer_nonce);
                let (hmac, nonce) = (keys::leftmost(&hmac), subflow.nonce);
                MptcpOption::JoinSynAck { address_id, backup, hmac, nonce }
            }
            _ => MptcpOption::Capable { sender_key: Some(key), receiver_key: None, data_length: None },
        }
    }

    /// When [`MptcpReceiver::on_timeout`] wants to be called; none for never.
    #[inline(never)]
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        let subflows = self.deadlines.iter().copied().min().filter(|&at| at < Instant::MAX);
        subflows.into_iter().chain(self.announcements.next_timeout()).min()
    }

    /// A timer may have expired; does nothing if none has.
    pub fn on_timeout(&mut self, now: Instant) {
        self.repeat_announcements(now);
        let finished = self.is_finished();
        for index in 0..self.subflows.len() as u8 {
            if self.deadlines[usize::from(index)] > now {
                continue;
            }
            if let Some(subflow) = self.subflows[usize::from(index)].as_mut() {
                subflow.receiver.on_timeout(now);
                subflow.expiries_after_end += u32::from(finished);
            }
            self.wake(index);
        }
    }
}

/// Positions of data, left and right, and whether the last is the DATA_FIN.
type Data = (u64, u64, bool);

/// A segment whose data have no place in the stream, or none that its window allows.
struct Unmapped;
