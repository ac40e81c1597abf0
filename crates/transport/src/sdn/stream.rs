use super::{HEADERS, MOST_OUTSTANDING};
use crate::agent::Failure;
use crate::log::LossCause;
use crate::segment::{Flags, Segment, unwrap_sequence};
use crate::tcp::{Delivery, EPOCH, Judgement, RttEstimator, RttSummary, Scoreboard, SenderStats, Sent};
use anabranch_units::{Instant, Span};

/// A segment is lost when one sent this many transmissions later has been delivered: DupThresh of
/// RFC 6675, counted in transmissions, so that a retransmission that is lost is found as well.
const REORDERING: u64 = 3;

/// A position far behind any stream: what an unlimited source has written.
const UNLIMITED: u64 = u64::MAX / 2;

/// The window field: all that 16 bits can say. Nobody heeds it.
const WINDOW: u16 = u16::MAX;

/// Delivery rates are not measured here.
const NO_DELIVERY: Delivery =
    Delivery { delivered: 0, delivered_at: Instant::ZERO, first_sent_at: Instant::ZERO, app_limited: false };

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    SynSent,
    Established,
    /// Every byte is acknowledged and the FIN is on its way.
    FinSent,
    /// Nothing is left to do.
    Finished,
    /// The handshake had no answer within its time.
    Failed,
}

/// The last transmission of a segment.
#[derive(Clone, Copy)]
struct Transmission {
    /// Its place among all transmissions.
    order: u64,
    at: Instant,
    /// The segment was sent once.
    first: bool,
}

/// What a stream is made of.
pub(super) struct StreamConfig {
    /// Bytes of a full data packet, headers included.
    pub(super) segment_bytes: u16,
    /// Retransmit what is lost, the SYN and the FIN too.
    pub(super) reliable: bool,
    /// Sending has to wait for [`Stream::permit`], and so has the handshake.
    pub(super) needs_permission: bool,
    pub(super) initial_rto: Span,
    pub(super) max_rto: Span,
    pub(super) handshake_timeout: Span,
}

/// The least retransmission timeout, apart from what round-trip times say.
#[derive(Clone, Copy, Debug)]
pub(super) enum TimeoutFloor {
    /// Two intervals of a paced sender.
    Interval(Span),
    /// Two round trips, where nothing else is known of the network.
    RoundTrips,
}

/// What the senders share: handshake, segments of the stream, acknowledgments, losses and FIN. It says what
/// may be sent; its owner says when.
///
/// Unless it is reliable, everything is sent once, as in the thesis, and the FIN ends it.
#[derive(Debug)]
pub(super) struct Stream {
    state: State,
    reliable: bool,
    permitted: bool,
    segment_bytes: u16,
    max_rto: Span,
    handshake_timeout: Span,
    floor: TimeoutFloor,
    initial_sequence: u32,
    snd_una: u64,
    snd_nxt: u64,
    /// Position behind the last byte the application has written.
    written: u64,
    closing: bool,
    /// Acknowledgment number of everything that is sent: the receiver sends nothing after its SYN.
    rcv_nxt: u32,
    board: Scoreboard,
    /// Latest transmission that is known to have arrived.
    newest_delivered: u64,
    rtt: RttEstimator,
    /// Of the SYN, which goes by the controller: no sample of the path, but a first idea.
    handshake: RttEstimator,
    /// Retransmission timeouts since the last sample.
    backoff: u32,
    retransmit_at: Option<Instant>,
    send_syn: bool,
    syn_sent_at: Instant,
    syn_transmissions: u32,
    syn_at: Option<Instant>,
    /// When the handshake is given up.
    give_up_at: Instant,
    send_fin: bool,
    established_at: Option<Instant>,
    stats: SenderStats,
}

impl Stream {
    pub(super) fn new(config: &StreamConfig, initial_sequence: u32) -> Self {
        let start = EPOCH + u64::from(initial_sequence);
        let estimator = || RttEstimator::new(config.initial_rto, (Span::ZERO, config.max_rto), Span::ZERO);
        Self {
            state: State::Idle,
            reliable: config.reliable,
            permitted: !config.needs_permission,
            segment_bytes: config.segment_bytes.max(HEADERS + 1),
            max_rto: config.max_rto,
            handshake_timeout: config.handshake_timeout,
            floor: TimeoutFloor::RoundTrips,
            initial_sequence,
            snd_una: start + 1,
            snd_nxt: start + 1,
            written: start + 1,
            closing: false,
            rcv_nxt: 0,
            board: Scoreboard::new(u64::from(config.segment_bytes.max(HEADERS + 1) - HEADERS)),
            newest_delivered: 0,
            rtt: estimator(),
            handshake: estimator(),
            backoff: 0,
            retransmit_at: None,
            send_syn: false,
            syn_sent_at: Instant::ZERO,
            syn_transmissions: 0,
            syn_at: None,
            give_up_at: Instant::MAX,
            send_fin: false,
            established_at: None,
            stats: SenderStats::default(),
        }
    }

    /// Bytes of payload of a full segment.
    pub(super) fn payload(&self) -> u64 {
        u64::from(self.segment_bytes - HEADERS)
    }

    pub(super) fn open(&mut self) {
        if self.state == State::Idle {
            self.state = State::SynSent;
            self.send_syn = true;
        }
    }

    pub(super) fn write(&mut self, bytes: u64) {
        debug_assert!(!self.closing, "no writing after close");
        self.written = self.written.saturating_add(bytes).min(UNLIMITED);
    }

    pub(super) fn write_without_end(&mut self) {
        self.written = UNLIMITED;
    }

    /// What an unlimited source has not yet sent is forgotten.
    pub(super) fn close(&mut self) {
        if self.written == UNLIMITED {
            self.written = self.snd_nxt;
        }
        self.closing = true;
    }

    /// The controller has said when to send: the handshake has all its answers.
    pub(super) fn permit(&mut self) {
        self.permitted = true;
        if self.state == State::Established {
            self.syn_at = None;
            self.send_syn = false;
        }
    }

    pub(super) fn set_timeout_floor(&mut self, floor: TimeoutFloor) {
        self.floor = floor;
    }

    pub(super) fn on_segment(&mut self, now: Instant, segment: &Segment) {
        match self.state {
            State::SynSent => self.on_syn_ack(now, segment),
            State::Established | State::FinSent => {
                if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN) {
                    self.on_ack(now, segment);
                }
            }
            State::Idle | State::Finished | State::Failed => {}
        }
    }

    fn on_syn_ack(&mut self, now: Instant, segment: &Segment) {
        let wanted = Flags::SYN.with(Flags::ACK);
        // The SYN may wait for its turn to be sent again, but one must have left.
        if self.syn_transmissions == 0
            || !segment.flags.has(wanted)
            || segment.ack != self.initial_sequence.wrapping_add(1)
        {
            return;
        }
        self.state = State::Established;
        self.established_at = Some(now);
        self.rcv_nxt = segment.seq.wrapping_add(1);
        self.send_syn = false;
        // Karn's rule: a SYN sent twice gives no sample.
        if self.syn_transmissions == 1 {
            self.handshake.on_sample(now.since(self.syn_sent_at));
        }
        self.syn_at = (!self.permitted).then(|| self.next_syn(now));
    }

    /// When the SYN is sent again, or given up.
    fn next_syn(&self, now: Instant) -> Instant {
        if self.reliable {
            now.saturating_add(self.handshake.rto()).min(self.give_up_at)
        } else {
            self.give_up_at
        }
    }

    fn on_ack(&mut self, now: Instant, segment: &Segment) {
        let ack = unwrap_sequence(segment.ack, self.snd_una);
        if self.state == State::FinSent {
            if ack == self.written + 1 {
                self.finish();
            }
            return;
        }
        if ack > self.snd_nxt {
            return;
        }
        let mut newest: Option<Transmission> = None;
        let mut visit = |sent: &Sent| {
            if !sent.sacked && newest.is_none_or(|newest| newest.order < sent.order) {
                let Sent { order, sent_at: at, transmissions, .. } = *sent;
                newest = Some(Transmission { order, at, first: transmissions == 1 });
            }
        };
        self.board.acknowledge(ack, &mut visit);
        self.snd_una = self.snd_una.max(ack);
        if self.reliable {
            for &(left, right) in segment.sack.as_slice() {
                let left = unwrap_sequence(left, self.snd_una);
                let right = unwrap_sequence(right, self.snd_una);
                self.board.selectively_acknowledge(left, right, &mut visit);
            }
        }
        if let Some(newest) = newest {
            self.on_delivery(now, newest);
        }
        if self.board.pipe() == 0 {
            self.retransmit_at = None;
        }
    }

    /// `newest` is the newest of the transmissions that an ACK reports for the first time.
    fn on_delivery(&mut self, now: Instant, newest: Transmission) {
        let elapsed = now.since(newest.at);
        if newest.first {
            self.rtt.on_sample(elapsed);
            self.rtt.on_minimum_candidate(now, elapsed);
            self.backoff = 0;
        }
        if !self.reliable {
            return;
        }
        // RFC 8985 section 6.2 step 2: an ACK so soon after a retransmission is the first transmission's.
        if newest.first || !self.rtt.has_sample() || elapsed >= self.rtt.min() {
            self.newest_delivered = self.newest_delivered.max(newest.order);
        }
        let newest = self.newest_delivered;
        self.board.judge_oldest_first(LossCause::SackThreshold, |sent| {
            if sent.order + REORDERING <= newest { Judgement::Lost } else { Judgement::Stop }
        });
        self.retransmit_at = Some(now.saturating_add(self.timeout()));
    }

    fn finish(&mut self) {
        self.state = State::Finished;
        self.send_fin = false;
        self.retransmit_at = None;
        self.syn_at = None;
    }

    /// RFC 6298 (2.3) without the least margin of 1 s, which is meant for the Internet; the floor keeps the
    /// timer off the round trip where that never varies.
    fn timeout(&self) -> Span {
        let sampled = self.rtt.has_sample();
        let base = if sampled { self.rtt.rto() } else { self.handshake.rto() };
        let floor = match self.floor {
            TimeoutFloor::Interval(interval) => interval.saturating_mul(2),
            TimeoutFloor::RoundTrips if sampled => self.rtt.srtt().saturating_mul(2),
            // A data segment takes at most this many times the SYN on each of its links.
            TimeoutFloor::RoundTrips => {
                self.handshake.srtt().saturating_mul(u64::from(self.segment_bytes.div_ceil(HEADERS)))
            }
        };
        self.backed_off(base.max(floor))
    }

    /// The FIN goes by the controller, as the SYN has.
    fn fin_timeout(&self) -> Span {
        self.backed_off(self.handshake.rto()).max(self.timeout())
    }

    fn backed_off(&self, timeout: Span) -> Span {
        timeout.saturating_mul(1 << self.backoff.min(30)).min(self.max_rto)
    }

    /// A timer may have expired; does nothing if none has.
    pub(super) fn on_timeout(&mut self, now: Instant) {
        if self.syn_at.is_some_and(|at| at <= now) {
            self.on_syn_timeout(now);
        }
        if self.retransmit_at.is_some_and(|at| at <= now) {
            self.retransmit_at = None;
            self.stats.timeouts += 1;
            self.backoff = (self.backoff + 1).min(30);
            // The retransmissions, or the FIN, start the timer again.
            if self.state == State::FinSent {
                self.send_fin = true;
            } else {
                self.board.mark_all_lost();
            }
        }
    }

    fn on_syn_timeout(&mut self, now: Instant) {
        self.syn_at = None;
        self.stats.timeouts += 1;
        if now >= self.give_up_at {
            self.state = State::Failed;
            self.retransmit_at = None;
            return;
        }
        self.handshake.back_off();
        self.send_syn = true;
    }

    /// When [`Stream::on_timeout`] wants to be called.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        match (self.syn_at, self.retransmit_at) {
            (Some(syn), Some(retransmission)) => Some(syn.min(retransmission)),
            (syn, retransmission) => syn.or(retransmission),
        }
    }

    /// The SYN or the FIN, if it is to be sent now.
    pub(super) fn poll_control(&mut self, now: Instant) -> Option<Segment> {
        if self.send_syn {
            return Some(self.syn(now));
        }
        if self.state == State::Established && self.closing && self.snd_una == self.written {
            self.state = State::FinSent;
            self.syn_at = None;
            self.send_fin = true;
        }
        if !self.send_fin {
            return None;
        }
        self.send_fin = false;
        if self.reliable {
            self.retransmit_at = Some(now.saturating_add(self.fin_timeout()));
        } else {
            // Section 4.3.2: the FIN is the last thing a sender does.
            self.finish();
        }
        Some(self.segment(self.written, 0, Flags::ACK.with(Flags::FIN)))
    }

    fn syn(&mut self, now: Instant) -> Segment {
        self.send_syn = false;
        if self.syn_transmissions == 0 {
            self.give_up_at = now.saturating_add(self.handshake_timeout);
        }
        self.syn_transmissions += 1;
        self.syn_sent_at = now;
        self.syn_at = Some(self.next_syn(now));
        Segment { seq: self.initial_sequence, window: WINDOW, flags: Flags::SYN, ..Segment::default() }
    }

    fn segment(&self, position: u64, payload: u64, flags: Flags) -> Segment {
        Segment {
            seq: position as u32,
            ack: self.rcv_nxt,
            window: WINDOW,
            // At most `segment_bytes`, which has 16 bits.
            payload: payload as u16,
            flags,
            ..Segment::default()
        }
    }

    /// Whether [`Stream::poll_data`] has something; `new_data` says whether it may be something new.
    pub(super) fn has_data(&self, new_data: bool) -> bool {
        self.state == State::Established && (self.has_lost() || new_data && self.has_new_data())
    }

    fn has_lost(&self) -> bool {
        self.board.lost() > self.board.retransmitted()
    }

    fn has_new_data(&self) -> bool {
        self.snd_nxt < self.written && self.snd_nxt - self.snd_una + self.payload() <= MOST_OUTSTANDING
    }

    /// The next data segment: first what is lost, then, if `new_data` may be sent, what is new.
    pub(super) fn poll_data(&mut self, now: Instant, new_data: bool) -> Option<Segment> {
        if !self.has_data(new_data) {
            return None;
        }
        let (start, end) = match self.board.next_lost() {
            Some(number) => {
                self.board.retransmit(number, now, NO_DELIVERY);
                self.stats.retransmissions += 1;
                let sent = self.board.get(number);
                (sent.start, sent.end)
            }
            None => {
                let start = self.snd_nxt;
                let end = self.written.min(start + self.payload());
                self.board.push(start, end, false, now, NO_DELIVERY);
                self.snd_nxt = end;
                (start, end)
            }
        };
        self.stats.segments += 1;
        if self.reliable && self.retransmit_at.is_none() {
            self.retransmit_at = Some(now.saturating_add(self.timeout()));
        }
        Some(self.segment(start, end - start, Flags::ACK))
    }

    /// Segments between the first that is not acknowledged and the last one sent.
    pub(super) fn outstanding_segments(&self) -> usize {
        self.board.len()
    }

    pub(super) fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Bytes sent and neither acknowledged, SACKed nor lost.
    pub(super) fn in_flight(&self) -> u64 {
        self.board.pipe()
    }

    pub(super) fn established_at(&self) -> Option<Instant> {
        self.established_at
    }

    pub(super) fn stream_length(&self) -> Option<u64> {
        self.closing.then(|| self.written - (EPOCH + u64::from(self.initial_sequence) + 1))
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        (self.state == State::Failed).then_some(Failure::NoAnswer)
    }

    /// Whether it will do anything more.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Finished | State::Failed)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state == State::Finished
    }

    pub(super) fn rtt(&self) -> RttSummary {
        self.rtt.summary()
    }

    /// Recounts what is kept incrementally; for tests.
    #[cfg(test)]
    pub(super) fn check(&self) {
        self.board.check();
        assert!(self.snd_una <= self.snd_nxt && self.snd_nxt <= self.written);
    }
}
