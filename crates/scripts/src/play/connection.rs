//! A socket: the sender and the receiver of one host, as one end of a connection.
//!
//! The two ends of [`anabranch_transport::tcp`] are half a connection each: one opens and sends, the other listens and
//! receives. Here both stand beside each other. The half that the handshake of a script does not concern hears of it by
//! a segment that says the same; what it would send by itself is dropped.

use crate::script::{Action, Event, Script};
use anabranch_transport::tcp::{Receiver, Sender, SenderInfo, SenderStats};
use anabranch_transport::{Flags, Segment, TcpConfig, reset_for};
use anabranch_units::{Instant, Span};
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    Listen,
    SynSent,
    SynReceived,
    Established,
    /// By an RST.
    Reset,
    /// The peer has closed first, and then this end: nothing is left of the connection.
    Closed,
}

/// What has left, and when.
pub(super) type Departure = (Instant, Segment);

pub(super) struct Connection {
    phase: Phase,
    /// It has listened.
    passive: bool,
    initial_sequence: u32,
    timestamp_tick: Span,
    sender: Sender,
    receiver: Receiver,
    /// The peer's SYN, whose options hold for the whole connection.
    peer_syn: Segment,
    /// Our own.
    own_syn: Segment,
    /// Bytes that the application has written.
    written: u64,
    /// Short segments wait for more to be written.
    corked: bool,
    /// They do so until something arrives.
    more: bool,
    /// For so long.
    waits_until: Option<Instant>,
    /// The ACK that a sender owes to the handshake, which the peer has seen none of.
    drop_ack: bool,
    /// An ACK of what was never sent is answered.
    answers_unsent: bool,
    /// The peer had closed when this end did.
    peer_closed_first: bool,
    departures: VecDeque<Departure>,
}

impl Script {
    /// A new socket of the script, whose application reads at once, unless the script says that it does not or expects a
    /// window that is shut.
    pub(super) fn socket(&self, config: &TcpConfig) -> Connection {
        let is_shut = |event: &Event| match &event.action {
            Action::Expect(wanted) => {
                wanted.window && wanted.segment.window == 0 && !wanted.segment.flags.has(Flags::RST)
            }
            _ => false,
        };
        let holds = self.choices.holds || self.events.iter().any(is_shut);
        let mut connection = Connection::new(config, self.choices.initial_sequence, holds);
        connection.answers_unsent = !self.choices.is_linux();
        connection
    }
}

impl Connection {
    fn new(config: &TcpConfig, initial_sequence: u32, holds: bool) -> Self {
        let mut receiver = Receiver::new(config, initial_sequence);
        if holds {
            receiver.hold(config);
        }
        Self {
            phase: Phase::Idle,
            passive: false,
            initial_sequence,
            timestamp_tick: config.timestamp_tick,
            sender: Sender::new(config, initial_sequence, 1),
            receiver,
            peer_syn: Segment::default(),
            own_syn: Segment::default(),
            written: 0,
            corked: false,
            more: false,
            waits_until: None,
            drop_ack: false,
            answers_unsent: true,
            peer_closed_first: false,
            departures: VecDeque::new(),
        }
    }

    /// Waits for a SYN, unless it does or has done something else already.
    pub(super) fn listen(&mut self) {
        if self.is_idle() {
            self.phase = Phase::Listen;
            self.passive = true;
        }
    }

    pub(super) fn connect(&mut self, now: Instant) {
        self.phase = Phase::SynSent;
        self.sender.open();
        self.poll(now);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    pub(super) fn is_listening(&self) -> bool {
        self.phase == Phase::Listen
    }

    /// Whether the next SYN that comes is that of the other end.
    pub(super) fn awaits_syn(&self) -> bool {
        matches!(self.phase, Phase::Listen | Phase::SynSent)
    }

    /// Whether the other end has opened it, or is to.
    pub(super) fn is_passive(&self) -> bool {
        self.passive
    }

    pub(super) fn is_established(&self) -> bool {
        self.phase == Phase::Established
    }

    pub(super) fn is_reset(&self) -> bool {
        self.phase == Phase::Reset
    }

    /// The application writes so many bytes; `more` says that it will write on at once (MSG_MORE).
    pub(super) fn write(&mut self, now: Instant, bytes: u64, more: bool) {
        self.more = more;
        self.sender.cork(self.corked || self.more);
        self.sender.write(bytes);
        self.written += bytes;
        self.poll(now);
    }

    /// Lets short segments wait for more, until the application says otherwise (TCP_CORK).
    pub(super) fn set_cork(&mut self, now: Instant, corked: bool) {
        self.corked = corked;
        self.more &= corked;
        self.sender.cork(self.corked);
        if self.is_established() {
            self.poll(now);
        }
    }

    /// Sends what waits for more, once.
    pub(super) fn flush(&mut self, now: Instant) {
        self.more = false;
        self.sender.cork(false);
        if self.is_established() {
            self.poll(now);
        }
        self.sender.cork(self.corked);
    }

    /// Linux keeps a short segment back for one timeout at most, from when nothing is outstanding.
    fn limit_waiting(&mut self, now: Instant) {
        let waits = self.is_established()
            && (self.corked || self.more)
            && self.unsent() > 0
            && self.info().outstanding_segments == 0;
        self.waits_until = if waits {
            self.waits_until.or_else(|| Some(now.saturating_add(self.info().metrics.rto)))
        } else {
            None
        };
    }

    /// Closes this direction. While no SYN has been answered nothing is left of the connection then (RFC 9293 section
    /// 3.10.4).
    pub(super) fn close(&mut self, now: Instant) {
        if self.phase == Phase::SynSent {
            self.phase = Phase::Closed;
        }
        if self.is_established() && !self.is_closing() {
            self.peer_closed_first = self.is_at_end();
            self.sender.close();
            self.poll(now);
        }
    }

    /// Closes it although bytes of the other end were not read, who is told by an RST that they are lost (RFC 1122 section
    /// 4.2.2.13).
    pub(super) fn abort(&mut self, now: Instant) {
        if !self.is_established() {
            return;
        }
        let info = self.info();
        let mut flags = Flags::RST.with(Flags::ACK);
        let mut timestamp = 0;
        if info.timestamps {
            flags = flags.with(Flags::TIMESTAMPS);
            timestamp = (now.as_ps() / self.timestamp_tick.as_ps().max(1)) as u32;
        }
        let mut reset = Segment { seq: info.next_sequence, flags, timestamp, ..Segment::default() };
        self.receiver.acknowledge_with(now, &mut reset);
        self.departures.push_back((now, reset));
        self.phase = Phase::Closed;
    }

    /// The application has closed this direction.
    pub(super) fn is_closing(&self) -> bool {
        self.sender.stream_length().is_some()
    }

    /// Bytes in order since the beginning.
    pub(super) fn received(&self) -> u64 {
        self.receiver.stats().delivered + self.receiver.unread()
    }

    /// The application takes so many bytes of those that wait.
    pub(super) fn read(&mut self, now: Instant, bytes: u64) {
        self.receiver.read(now, bytes);
        self.poll(now);
    }

    /// The peer has closed, and all of its bytes are here.
    pub(super) fn is_at_end(&self) -> bool {
        self.receiver.is_finished()
    }

    /// The bytes of a segment that our SYN says the other end may send.
    pub(super) fn advertised_mss(&self) -> u64 {
        u64::from(self.own_syn.mss)
    }

    /// Both ends have offered window scale (RFC 7323 section 2.2).
    pub(super) fn scales_windows(&self) -> bool {
        self.peer_syn.window_scale_plus_one > 0 && self.own_syn.window_scale_plus_one > 0
    }

    /// The shift of the windows that the other end announces, and of those that this one does.
    pub(super) fn scales(&self) -> (u8, u8) {
        let shift = |syn: &Segment| syn.window_scale_plus_one.saturating_sub(1);
        if self.scales_windows() { (shift(&self.peer_syn), shift(&self.own_syn)) } else { (0, 0) }
    }

    /// Bytes that the application has written and that have not been sent.
    pub(super) fn unsent(&self) -> u64 {
        let begun = self.initial_sequence.wrapping_add(1);
        let sent = u64::from(self.info().next_sequence.wrapping_sub(begun));
        if self.is_established() { self.written.saturating_sub(sent) } else { self.written }
    }

    /// Bytes that the application has written and that are not acknowledged.
    pub(super) fn unacknowledged(&self) -> u64 {
        self.written.saturating_sub(self.sender.acknowledged())
    }

    /// Segments with data that have come.
    pub(super) fn received_segments(&self) -> u64 {
        self.receiver.stats().segments
    }

    /// The number of its state in Linux's `enum tcp_state`; the states are those of RFC 9293 section 3.3.2.
    pub(super) fn state(&self) -> u8 {
        let fin_is_acknowledged = self.is_closing()
            && self.info().outstanding_segments == 0
            && self.sender.acknowledged() >= self.written;
        match (self.phase, self.is_closing(), self.is_at_end()) {
            (Phase::SynSent, ..) => 2,
            (Phase::SynReceived, ..) => 3,
            (Phase::Listen, ..) => 10,
            (Phase::Established, false, false) => 1,
            (Phase::Established, false, true) => 8,
            (Phase::Established, true, false) => 4 + u8::from(fin_is_acknowledged),
            (Phase::Established, true, true) if self.peer_closed_first => 9,
            (Phase::Established, true, true) => {
                if fin_is_acknowledged {
                    6
                } else {
                    11
                }
            }
            (Phase::Idle | Phase::Reset | Phase::Closed, ..) => 7,
        }
    }

    pub(super) fn info(&self) -> SenderInfo {
        self.sender.info()
    }

    pub(super) fn stats(&self) -> &SenderStats {
        self.sender.stats()
    }

    pub(super) fn departures(&mut self) -> &mut VecDeque<Departure> {
        &mut self.departures
    }

    /// When a timer of either half expires.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        if matches!(self.phase, Phase::Reset | Phase::Closed) {
            return None;
        }
        let all = [self.sender.next_timeout(), self.receiver.next_timeout(), self.waits_until];
        all.into_iter().flatten().min()
    }

    pub(super) fn on_timeout(&mut self, now: Instant) {
        self.sender.on_timeout(now);
        self.receiver.on_timeout(now);
        if self.waits_until.take_if(|until| *until <= now).is_some() {
            self.flush(now);
        }
        self.poll(now);
    }

    /// A segment arrives.
    pub(super) fn on_segment(&mut self, now: Instant, segment: &Segment) {
        // What the flag of one call has kept back goes with the next ACK.
        self.more = false;
        self.sender.cork(self.corked);
        match self.phase {
            Phase::Idle | Phase::Reset | Phase::Closed => self.refuse(now, segment),
            Phase::Listen => self.on_opening(now, segment),
            Phase::SynSent => self.on_answer(now, segment),
            Phase::SynReceived => self.on_third(now, segment),
            Phase::Established => self.on_regular(now, segment),
        }
        self.poll(now);
    }

    fn on_opening(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.has(Flags::ACK) {
            // RFC 9293 section 3.10.7.2: nothing can be acknowledged yet.
            self.refuse(now, segment);
        } else if segment.flags.has(Flags::SYN) {
            self.peer_syn = *segment;
            self.receiver.on_segment(now, segment);
            self.sender.open();
            self.phase = Phase::SynReceived;
        }
    }

    fn on_answer(&mut self, now: Instant, segment: &Segment) {
        let answers = segment.ack == self.initial_sequence.wrapping_add(1);
        if segment.flags.has(Flags::RST) {
            if segment.flags.has(Flags::ACK) && answers {
                self.phase = Phase::Reset;
            }
            return;
        }
        self.sender.on_segment(now, segment);
        if self.sender.established_at().is_none() {
            return;
        }
        self.phase = Phase::Established;
        self.peer_syn = *segment;
        let info = self.sender.info();
        let mut flags = Flags::SYN;
        for (agreed, flag) in [
            (info.sack, Flags::SACK_PERMITTED),
            (info.timestamps, Flags::TIMESTAMPS),
            (info.ecn, Flags::ECE.with(Flags::CWR)),
        ] {
            flags = if agreed { flags.with(flag) } else { flags };
        }
        self.receiver.on_segment(now, &Segment { flags, ..*segment });
        let _ = self.receiver.poll_transmit(now);
        let ack = Segment { flags: Flags::ACK, ..*segment };
        self.receiver.on_segment(now, &Segment { seq: segment.seq.wrapping_add(1), ..ack });
    }

    fn on_third(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            if self.receiver.on_reset(now, segment) {
                self.phase = Phase::Reset;
            }
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.receiver.on_segment(now, segment);
            return;
        }
        if !segment.flags.has(Flags::ACK) || segment.ack != self.initial_sequence.wrapping_add(1) {
            return;
        }
        // What a SYN-ACK would have told the sender: the options of the SYN, the window of this ACK.
        let syn = self.peer_syn;
        let ecn = syn.flags.has(Flags::ECE.with(Flags::CWR));
        let scale = syn.window_scale_plus_one.saturating_sub(1);
        let window = (u64::from(segment.window) << scale).min(u64::from(u16::MAX)) as u16;
        let mut flags = Flags::SYN.with(Flags::ACK);
        for flag in [Flags::SACK_PERMITTED, Flags::TIMESTAMPS] {
            flags = if syn.flags.has(flag) { flags.with(flag) } else { flags };
        }
        flags = if ecn { flags.with(Flags::ECE) } else { flags };
        let ack = segment.ack;
        let timestamp = segment.timestamp;
        self.sender.on_segment(now, &Segment { ack, window, flags, timestamp, ..syn });
        self.drop_ack = true;
        self.phase = Phase::Established;
        self.on_regular(now, segment);
    }

    fn on_regular(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            if self.receiver.on_reset(now, segment) {
                self.phase = Phase::Reset;
            }
            return;
        }
        if segment.flags.has(Flags::SYN) {
            // Answered by an ACK (RFC 9293 section 3.10.7.4), once.
            self.receiver.on_segment(now, segment);
            return;
        }
        let unsent = segment.ack.wrapping_sub(self.sender.info().next_sequence) as i32;
        if segment.flags.has(Flags::ACK) && unsent > 0 {
            // RFC 9293 section 3.10.7.4: the sender answers it, and nothing of it is taken. Linux drops it without an answer.
            if self.answers_unsent {
                let flags = segment.flags.without(Flags::FIN).without(Flags::TIMESTAMPS);
                self.sender.on_segment(now, &Segment { flags, payload: 0, ..*segment });
            }
            return;
        }
        // The receiver answers a FIN; the sender would do so too.
        let without_fin = Segment { flags: segment.flags.without(Flags::FIN), ..*segment };
        let over = self.sender.is_finished();
        self.sender.on_segment(now, &without_fin);
        if self.peer_closed_first && !over && self.sender.is_finished() {
            self.phase = Phase::Closed;
            return;
        }
        self.receiver.on_segment(now, segment);
    }

    /// RFC 9293 section 3.10.7.1: without a connection an RST answers whatever comes.
    fn refuse(&mut self, now: Instant, segment: &Segment) {
        let Some(answer) = reset_for(segment) else { return };
        // Zero in the numbers of the script.
        let seq = if answer.flags.has(Flags::ACK) { self.initial_sequence } else { answer.seq };
        self.departures.push_back((now, Segment { seq, ..answer }));
    }

    /// Takes what both halves have to send; data go first, so that ACKs may leave with them.
    fn poll(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Reset | Phase::Closed) {
            return;
        }
        while let Some(mut segment) = self.sender.poll_transmit(now) {
            let syn = segment.flags.has(Flags::SYN);
            if syn && self.phase != Phase::SynSent {
                continue;
            }
            if syn {
                self.own_syn = segment;
            }
            if segment.sequence_len() == 0 && std::mem::take(&mut self.drop_ack) {
                continue;
            }
            if !syn && self.receiver.has_received() {
                self.receiver.acknowledge_with(now, &mut segment);
            }
            self.departures.push_back((now, segment));
        }
        self.limit_waiting(now);
        while let Some(mut segment) = self.receiver.poll_transmit(now) {
            if segment.flags.has(Flags::SYN) {
                self.own_syn = segment;
            } else {
                segment.seq = self.sender.info().next_sequence;
            }
            if segment.flags.has(Flags::FIN) {
                // The sender closes this direction, when the application says so.
                segment.flags = segment.flags.without(Flags::FIN);
                let ack = self.initial_sequence.wrapping_add(2);
                let seq = segment.ack;
                self.receiver.on_segment(now, &Segment { flags: Flags::ACK, seq, ack, ..Segment::default() });
            }
            self.departures.push_back((now, segment));
        }
    }
}
