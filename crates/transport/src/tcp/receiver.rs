//! The receiving end of a TCP connection: reassembly, acknowledgments, SACK and DSACK.

mod acceptance;
mod duplex;
mod held_sacks;
mod measures;
mod reading;

use super::held::Held;
use super::out_of_order::OutOfOrder;
use super::receive_window::{ReceiveWindow, RightSizing};
use super::ticks::expiry;
use super::timestamp::{RecentTimestamp, TimestampClock};
use crate::config::TcpConfig;
use crate::segment::{Flags, Segment, unwrap_sequence};
use anabranch_units::{Instant, MaybeInstant, Span, rarely};
pub(crate) use held_sacks::HeldSacks;
use measures::Measures;
use std::sync::Arc;

/// Positions start here plus the initial sequence number, so that a wire number just below the
/// first one unwraps to a position, not below zero.
pub(crate) const EPOCH: u64 = 1 << 32;

/// Largest shift of the window scale option (RFC 7323 section 2.3).
const MAX_WINDOW_SCALE: u8 = 14;

/// What a subflow takes above its rcv_nxt, in bytes: the largest window of RFC 7323 section 2.3.
const SUBFLOW_BUFFER: u64 = 1 << 30;

/// What a receiver has seen.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ReceiverStats {
    /// Bytes handed to the application, in order, each once.
    pub delivered: u64,
    /// Data segments that arrived.
    pub segments: u64,
    /// Data segments that arrived though every byte of them was there already: the other end
    /// retransmitted them without need.
    pub duplicate_segments: u64,
    /// Data segments that arrived with an ECN mark.
    pub marked_segments: u64,
    /// ACKs sent.
    pub acks: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Listen,
    SynReceived,
    Established,
    /// The peer's FIN is acknowledged and our own is on its way.
    LastAck,
    Closed,
    /// An RST has ended it.
    Reset,
}

/// The receiving end. It opens passively, delivers data to an application that reads at once, or when it likes
/// ([`Receiver::hold`]), and closes when the other end has.
///
/// Call [`Receiver::on_segment`] for each arrival and [`Receiver::on_timeout`] at or after
/// [`Receiver::next_timeout`]; after each, take segments from [`Receiver::poll_transmit`] until it
/// gives none.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    config: Arc<TcpConfig>,
    rcv_nxt: u64,
    /// What has come above a hole; none while there is no hole.
    out_of_order: Option<Box<OutOfOrder>>,
    window: ReceiveWindow,
    recent: RecentTimestamp,
    clock: TimestampClock,
    /// Sets the limit of the window; none if it is fixed, or set by the connection.
    sizing: Option<Box<RightSizing>>,
    /// None where round trips and pauses do not matter.
    measures: Option<Box<Measures>>,
    /// What the application has not read; none if it reads at once, or the connection holds it.
    held: Option<Box<Held>>,
    last_ack_sent: u64,
    /// An ACK of what came before the marks began, or ended.
    ack_before: Option<Box<Segment>>,
    ack_at: MaybeInstant,
    control_at: MaybeInstant,
    /// An RST that is to leave.
    reset: Option<Box<Segment>>,
    stats: ReceiverStats,
    /// From when on a refused segment without data is answered.
    next_answer_at: Instant,
    /// What came though it was here already, in wire sequence numbers.
    dsack: Option<(u32, u32)>,
    initial_sequence: u32,
    pending_segments: u32,
    control_backoff: u32,
    state: State,
    sack: bool,
    timestamps: bool,
    ecn: bool,
    /// RFC 8257 section 3.2; otherwise a mark is echoed until the sender has reduced (RFC 3168 section 6.1.3).
    echoes_each_mark: bool,
    window_scale: u8,
    /// The peer has offered window scale in its SYN.
    scaling: bool,
    /// It belongs to a multipath connection, whose data ACK takes room from the SACK blocks.
    multipath: bool,
    echo_congestion: bool,
    ack_now: bool,
    send_control: bool,
    /// Position of the peer's FIN once it has been seen.
    fin_at: Option<u64>,
}

impl Receiver {
    /// A receiver that waits for a SYN.
    #[must_use]
    pub fn new(config: &TcpConfig, initial_sequence: u32) -> Self {
        Self::sharing(Arc::new(config.clone()), initial_sequence)
    }

    /// The same, with a configuration that other receivers have, too.
    pub(crate) fn sharing(config: Arc<TcpConfig>, initial_sequence: u32) -> Self {
        Self {
            state: State::Listen,
            sack: config.sack,
            timestamps: config.timestamps,
            ecn: config.ecn,
            echoes_each_mark: config.congestion_control.needs_marks(),
            window: ReceiveWindow::new(&config),
            sizing: RightSizing::new(&config).map(Box::new),
            measures: Measures::new(&config).map(Box::new),
            held: None,
            window_scale: window_scale(config.receive_buffer.0),
            scaling: true,
            multipath: false,
            initial_sequence,
            rcv_nxt: 0,
            fin_at: None,
            out_of_order: None,
            dsack: None,
            clock: TimestampClock::new(config.timestamp_tick),
            recent: RecentTimestamp::default(),
            last_ack_sent: 0,
            next_answer_at: Instant::ZERO,
            echo_congestion: false,
            ack_before: None,
            pending_segments: 0,
            ack_now: false,
            ack_at: MaybeInstant::NONE,
            control_at: MaybeInstant::NONE,
            control_backoff: 0,
            send_control: false,
            reset: None,
            stats: ReceiverStats::default(),
            config,
        }
    }

    /// The receiving end of a subflow. The connection bounds what may be under way, by its own window (RFC 8684
    /// section 3.3.4), and writes that window into what leaves; the subflow takes whatever comes.
    pub(crate) fn for_subflow(config: Arc<TcpConfig>, initial_sequence: u32) -> Self {
        let mut receiver = Self::sharing(config, initial_sequence);
        receiver.multipath = true;
        receiver.sizing = None;
        if !receiver.config.autotuning {
            receiver.window = ReceiveWindow::fixed(SUBFLOW_BUFFER);
        }
        receiver
    }

    /// The window of the connection may grow up to this.
    pub(crate) fn allow_window(&mut self, limit: u64) {
        self.window.allow(limit);
    }

    /// The window as this subflow has made it grow.
    pub(crate) fn window(&self) -> u64 {
        self.window.bytes()
    }

    /// Position of the next byte that it expects.
    #[inline]
    pub(crate) fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Position behind the payload of a segment.
    #[inline]
    pub(crate) fn position_behind(&self, segment: &Segment) -> u64 {
        unwrap_sequence(segment.seq, self.rcv_nxt) + u64::from(segment.payload)
    }

    /// Sends an ACK at the next occasion.
    pub(crate) fn acknowledge_now(&mut self) {
        self.ack_now = true;
    }

    /// What it has seen so far.
    #[must_use]
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }

    /// Whether the other end has closed and every byte is here.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.state, State::LastAck | State::Closed)
    }

    /// An arriving segment.
    #[inline(never)]
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        let controls = segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST);
        let connected = !matches!(self.state, State::Listen | State::Reset);
        if rarely(controls || !connected) && self.opens_or_ends(now, segment) {
            return;
        }
        if self.refuses(now, segment) {
            return;
        }
        if rarely(matches!(self.state, State::SynReceived | State::LastAck)) {
            self.on_acknowledgment(segment);
        }
        self.take_timestamp(now, segment);
        if segment.sequence_len() > 0 {
            self.on_data(now, segment);
        }
    }

    fn on_syn(&mut self, now: Instant, segment: &Segment) {
        match self.state {
            State::Listen => {
                self.rcv_nxt = EPOCH + u64::from(segment.seq) + 1;
                self.sack &= segment.flags.has(Flags::SACK_PERMITTED);
                self.timestamps &= segment.flags.has(Flags::TIMESTAMPS);
                // RFC 3168 section 6.1.1: an ECN-setup SYN has both flags.
                self.ecn &= segment.flags.has(Flags::ECE.with(Flags::CWR));
                // RFC 7323 section 2.2: scaled only if both have said so in their SYNs.
                if segment.window_scale_plus_one == 0 {
                    self.scaling = false;
                    self.window_scale = 0;
                }
                if let Some(held) = &mut self.held {
                    held.agree(self.config.mss, self.timestamps);
                }
                self.recent.start(now, segment.timestamp);
                self.state = State::SynReceived;
                self.send_control = true;
            }
            State::SynReceived => {
                self.recent.start(now, segment.timestamp);
                self.send_control = true;
            }
            // RFC 9293 section 3.10.7.4: a SYN in a synchronised state is answered by an ACK.
            _ => self.request_ack(now, true),
        }
    }

    #[inline(never)]
    fn on_acknowledgment(&mut self, segment: &Segment) {
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        let ack = segment.ack.wrapping_sub(self.initial_sequence);
        if self.state == State::SynReceived && ack >= 1 {
            self.state = State::Established;
            self.settle_control();
        }
        if self.state == State::LastAck && ack >= 2 {
            self.state = State::Closed;
            self.settle_control();
        }
    }

    fn settle_control(&mut self) {
        self.control_at = MaybeInstant::NONE;
        self.control_backoff = 0;
        self.send_control = false;
    }

    /// RFC 7323 section 4.3: echo the timestamp of the segment that the next ACK answers first.
    #[inline]
    fn take_timestamp(&mut self, now: Instant, segment: &Segment) {
        if self.timestamps
            && segment.flags.has(Flags::TIMESTAMPS)
            && segment.seq.wrapping_sub(self.last_ack_sent as u32) as i32 <= 0
        {
            self.recent.take(self.clock, now, segment.timestamp);
        }
    }

    fn on_data(&mut self, now: Instant, segment: &Segment) {
        let start = unwrap_sequence(segment.seq, self.rcv_nxt);
        let end = start + u64::from(segment.payload) + u64::from(segment.flags.has(Flags::FIN));
        if rarely(end > self.rcv_nxt + self.admitted() + 1) {
            // Outside the window: dropped, and the peer is told where the window is.
            self.request_ack(now, true);
            return;
        }
        self.stats.segments += u64::from(segment.payload > 0);
        self.take_congestion_marks(now, segment);
        if rarely(segment.flags.has(Flags::FIN)) {
            self.fin_at = Some(end - 1);
        }
        if self.measures.is_some() && segment.payload > 0 {
            self.measure(now, segment);
        }
        let irregular = start > self.rcv_nxt || end <= self.rcv_nxt || self.out_of_order.is_some();
        if rarely(irregular) {
            let is_duplicate = self.on_irregular(start, end);
            self.stats.duplicate_segments += u64::from(is_duplicate && segment.payload > 0);
            self.answer_irregular(now, is_duplicate);
        } else {
            self.note_part(start);
            self.advance(end);
            self.pending_segments += 1;
            let full = self.pending_segments >= self.config.delayed_ack_segments && self.keeps_up();
            let quick = self.measures.as_ref().is_some_and(|measures| measures.quick.are_due());
            let at_once = full || quick || self.owes_ack_for_end();
            self.request_ack(now, at_once || self.is_finished());
        }
        self.size_window(now);
    }

    /// The window follows what the application takes.
    #[inline]
    fn size_window(&mut self, now: Instant) {
        if let Some(sizing) = &mut self.sizing {
            let end = self.out_of_order.as_ref().and_then(|above| above.end());
            let waiting = end.map_or(0, |end| end - self.rcv_nxt);
            let rtt = self.measures.as_ref().map_or(Span::ZERO, |measures| measures.round_trip.smoothed());
            self.window.allow(sizing.on_taken(now, rtt, self.stats.delivered, waiting));
        }
    }

    /// Bytes behind the next one expected that are taken. A window never moves back, so that all that was ever
    /// announced lies within.
    #[inline]
    fn admitted(&self) -> u64 {
        match &self.held {
            Some(held) => held.announced(self.rcv_nxt),
            None if self.multipath => SUBFLOW_BUFFER,
            None => self.window.bytes(),
        }
    }

    /// RFC 3168 section 6.1.3: echo until the sender says that it has reduced.
    #[inline]
    fn take_congestion_marks(&mut self, now: Instant, segment: &Segment) {
        if rarely(self.ecn && self.echoes_each_mark) {
            self.echo_change(now, segment.flags.has(Flags::CE));
            self.stats.marked_segments += u64::from(segment.flags.has(Flags::CE));
            return;
        }
        if rarely(segment.flags.has(Flags::CWR)) {
            self.echo_congestion = false;
            if let Some(measures) = &mut self.measures {
                measures.quick.on_reduction();
            }
        }
        if rarely(segment.flags.has(Flags::CE)) {
            self.stats.marked_segments += 1;
            if self.ecn && !self.echo_congestion {
                if let Some(measures) = &mut self.measures {
                    measures.quick.on_mark();
                }
                self.echo_congestion = true;
            }
        }
    }

    /// RFC 8257 section 3.2: ACKs echo what the segments that they answer have; where that changes, those before are
    /// acknowledged at once.
    #[inline(never)]
    fn echo_change(&mut self, now: Instant, marked: bool) {
        if marked != self.echo_congestion {
            self.ack_before = (self.pending_segments > 0).then(|| Box::new(self.acknowledgment(now)));
            self.echo_congestion = marked;
        }
    }

    /// A duplicate, a segment above a hole, or one that fills a hole. Returns whether all of it was here already.
    #[inline(never)]
    fn on_irregular(&mut self, start: u64, end: u64) -> bool {
        if end <= self.rcv_nxt {
            self.on_duplicate(start, end);
            self.refill_quick_acks();
            return true;
        }
        self.note_part(start);
        let blocks = self.config.sack_blocks;
        let above = self.out_of_order.get_or_insert_with(|| Box::new(OutOfOrder::remembering(blocks)));
        if let Some((_, right)) = above.containing(start)
            && end <= right
        {
            above.remember(start);
            above.report(start, end);
            self.on_duplicate(start, end);
            return true;
        }
        let (left, right) = above.insert(start.max(self.rcv_nxt), end);
        if left > self.rcv_nxt {
            above.remember(left);
            above.report(start, end);
            return false;
        }
        above.remove_below(right);
        if above.is_empty() {
            self.out_of_order = None;
        }
        self.advance(right);
        false
    }

    /// RFC 2883 section 4: of a segment that brings more, the part that was here is reported.
    #[inline]
    fn note_part(&mut self, start: u64) {
        if rarely(start < self.rcv_nxt) {
            self.on_duplicate(start, self.rcv_nxt);
        }
    }

    /// Data came that were here already: a DSACK is due.
    fn on_duplicate(&mut self, start: u64, end: u64) {
        self.dsack = Some((start as u32, end as u32));
    }

    #[inline]
    fn advance(&mut self, end: u64) {
        let fin = self.fin_at.is_some_and(|fin| fin < end);
        let bytes = end - self.rcv_nxt - u64::from(fin);
        match &mut self.held {
            Some(held) => held.add(bytes),
            None => self.stats.delivered += bytes,
        }
        self.rcv_nxt = end;
        if rarely(fin) && !self.is_finished() {
            self.state = State::LastAck;
            self.send_control = true;
        }
    }

    #[inline]
    fn request_ack(&mut self, now: Instant, at_once: bool) {
        if at_once {
            self.ack_now = true;
        } else if !self.ack_at.is_some() {
            self.ack_at = expiry(now, self.config.delayed_ack_timeout, self.config.timer_tick).into();
        }
    }

    /// The next segment to send, if any.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        if rarely(self.send_control) {
            return Some(self.control(now));
        }
        if rarely(self.reset.is_some() || self.ack_before.is_some()) {
            return self.reset.take().or_else(|| self.ack_before.take()).map(|ready| *ready);
        }
        if !self.ack_now {
            return None;
        }
        Some(self.acknowledgment(now))
    }

    /// The SYN-ACK or the FIN.
    #[cold]
    fn control(&mut self, now: Instant) -> Segment {
        self.send_control = false;
        let TcpConfig { initial_rto, max_rto, .. } = *self.config;
        let rto = initial_rto.saturating_mul(1 << self.control_backoff.min(30)).min(max_rto);
        self.control_at = now.saturating_add(rto).into();
        if self.state == State::SynReceived { self.syn_ack(now) } else { self.fin(now) }
    }

    fn syn_ack(&mut self, now: Instant) -> Segment {
        let mut flags = Flags::SYN.with(Flags::ACK);
        if self.sack {
            flags = flags.with(Flags::SACK_PERMITTED);
        }
        if self.ecn {
            flags = flags.with(Flags::ECE);
        }
        self.last_ack_sent = self.rcv_nxt;
        let segment = Segment {
            seq: self.initial_sequence,
            ack: self.rcv_nxt as u32,
            window: self.announce(0).min(u64::from(u16::MAX)) as u16,
            flags,
            mss: self.config.mss,
            window_scale_plus_one: if self.scaling { self.window_scale + 1 } else { 0 },
            ..Segment::default()
        };
        self.stamp(now, segment)
    }

    fn fin(&mut self, now: Instant) -> Segment {
        let ack = self.acknowledgment(now);
        Segment { seq: self.initial_sequence.wrapping_add(1), flags: ack.flags.with(Flags::FIN), ..ack }
    }

    fn acknowledgment(&mut self, now: Instant) -> Segment {
        self.ack_now = false;
        self.ack_at = MaybeInstant::NONE;
        self.pending_segments = 0;
        self.last_ack_sent = self.rcv_nxt;
        self.stats.acks += 1;
        if let Some(measures) = &mut self.measures {
            measures.quick.on_ack();
            if let Some(ends) = &mut measures.ends {
                ends.waits = false;
            }
        }
        let after_fin =
            u32::from(self.state == State::Closed || self.control_at.is_some() && self.is_finished());
        let mut segment = Segment {
            seq: self.initial_sequence.wrapping_add(1 + after_fin),
            ack: self.rcv_nxt as u32,
            window: (self.announce(self.window_scale) >> self.window_scale).min(u64::from(u16::MAX)) as u16,
            flags: if self.echo_congestion { Flags::ACK.with(Flags::ECE) } else { Flags::ACK },
            ..Segment::default()
        };
        if rarely(self.sack && (self.dsack.is_some() || self.out_of_order.is_some())) {
            self.add_sack_blocks(&mut segment);
            if let Some(above) = &mut self.out_of_order {
                above.sacks.on_ack();
            }
        }
        self.dsack = None;
        self.stamp(now, segment)
    }

    /// RFC 2883 section 4: a duplicate first, then what has arrived out of order.
    #[inline]
    fn add_sack_blocks(&mut self, segment: &mut Segment) {
        if self.out_of_order.is_none() && self.dsack.is_none() {
            return;
        }
        // 40 bytes of options: 12 for timestamps and 8 for a data ACK leave 20, or two blocks behind 4.
        let limit = if self.timestamps { 3 } else { 4 } - u8::from(self.multipath);
        if let Some((left, right)) = self.dsack {
            segment.sack.push(left, right, limit);
        }
        if let Some(above) = &self.out_of_order {
            above.add_blocks(&mut segment.sack, limit);
        }
    }

    #[inline]
    fn stamp(&self, now: Instant, mut segment: Segment) -> Segment {
        if self.timestamps {
            segment.flags = segment.flags.with(Flags::TIMESTAMPS);
            segment.timestamp = self.clock.at(now);
            segment.timestamp_echo = self.recent.value();
        }
        segment
    }

    /// When [`Receiver::on_timeout`] wants to be called; `None` for never.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.ack_at.min(self.control_at).get()
    }

    /// A timer may have expired.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.ack_at.has_come(now) {
            self.ack_now = true;
        }
        if self.control_at.has_come(now) {
            self.control_backoff += 1;
            self.send_control = true;
        }
    }
}

/// The smallest shift that lets a 16-bit field announce the buffer (RFC 7323 section 2.3).
pub(crate) fn window_scale(buffer: u64) -> u8 {
    (0..MAX_WINDOW_SCALE).find(|&shift| buffer >> shift <= u64::from(u16::MAX)).unwrap_or(MAX_WINDOW_SCALE)
}

#[cfg(test)]
mod tests;
