//! The sending end of a TCP connection.

mod acks;
mod deferral;
mod info;
mod log;
mod persist;
mod rate;
mod recovery;
mod resets;
mod subflow;
mod timers;
mod transmit;
mod window_use;

use super::detection::{Detector, Handshake};
use super::receive_window::initial_window;
use super::receiver::{EPOCH, window_scale};
use super::rtt::{RttEstimator, RttSummary};
use super::scoreboard::Scoreboard;
use super::timestamp::{RecentTimestamp, TimestampClock};
use crate::agent::Failure;
use crate::config::TcpConfig;
use crate::congestion::{CongestionControl, Controller, Held, Start};
use crate::log::{Decision, Log};
use crate::segment::{Flags, Segment, unwrap_sequence};
use crate::tcp::ANSWER_INTERVAL;
use crate::tcp::pacing::{PacingConfig, WindowPacing};
use crate::tcp::prr::Prr;
use anabranch_units::{Instant, MaybeInstant, Span, prefetch, rarely};
use deferral::TsoDeferral;
pub use info::SenderInfo;
use persist::Persist;
use rate::RateSampler;
use recovery::{RecoveryState, Undo};
use std::sync::Arc;
use timers::Timers;
use window_use::WindowUse;

/// What a sender has done and seen.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct SenderStats {
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Of these, the retransmissions.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Episodes of fast recovery.
    pub fast_recoveries: u64,
    /// Episodes taken back as spurious.
    pub undone_recoveries: u64,
    /// Tail loss probes.
    pub tail_loss_probes: u64,
    /// Window reductions on ECN-Echo.
    pub ecn_reductions: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    SynSent,
    Established,
    /// Our FIN is acknowledged and the peer's has come.
    Closed,
    /// It was given up.
    Failed(Failure),
}

/// A position far behind any stream: what an unlimited source has written.
const UNLIMITED: u64 = u64::MAX / 2;

/// The sending end: opens actively, sends what the application writes, closes with FIN.
///
/// Inputs are [`Sender::open`], [`Sender::write`], [`Sender::close`], [`Sender::on_segment`] and
/// [`Sender::on_timeout`] (at or after [`Sender::next_timeout`]). After each input take segments
/// from [`Sender::poll_transmit`] until it gives none, then ask [`Sender::next_timeout`] again.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    controller: Controller,
    board: Scoreboard,
    rtt: RttEstimator,
    timers: Timers,
    persist: Persist,
    detector: Detector,
    recovery: RecoveryState,
    /// Leads the window down behind a mark; see [`Sender::begin_window_reduction`].
    window_reduction: Option<Box<Prr>>,
    snd_una: u64,
    snd_nxt: u64,
    /// Position behind the last byte the application has written.
    pub(super) written: u64,
    /// Right edge of the peer's window.
    window_edge: u64,
    /// Payload of a full segment in bytes: the MSS less the options every segment carries.
    full_payload: u64,
    config: Arc<TcpConfig>,
    /// Bytes by which the first segment was shorter than a full one.
    short: u64,
    undo: Option<Box<Undo>>,
    /// None where nobody asks for departures.
    rate: Option<Box<RateSampler>>,
    /// What it decides, if somebody wants to know.
    log: Option<Box<Log>>,
    /// An RST that is to leave.
    reset: Option<Box<Segment>>,
    last_sent_at: Instant,
    clock: TimestampClock,
    recent: RecentTimestamp,
    window_use: WindowUse,
    deferral: TsoDeferral,
    initial_sequence: u32,
    rcv_nxt: u32,
    syn_transmissions: u32,
    /// The window field of the last ACK.
    peer_window: u16,
    /// Our window field, but for that of a SYN.
    own_window: u16,
    state: State,
    sack: bool,
    timestamps: bool,
    ecn: bool,
    /// Bytes of the data sequence signal in every segment; 0 unless a multipath connection feeds it segment by segment.
    signal: u8,
    closing: bool,
    /// More will be written, and a short segment waits for it.
    corked: bool,
    fin_sent: bool,
    send_syn: bool,
    send_ack: bool,
    /// Losses are repaired by a later ACK.
    holds_losses: bool,
    /// A reduction is to be told with CWR (RFC 3168 section 6.1.2).
    tell_reduction: bool,
    peer_window_scale: u8,
    /// What our window fields are shifted by.
    window_scale: u8,
    stats: SenderStats,
    seed: u64,
    syn_sent_at: Instant,
    /// When the handshake is given up.
    give_up_at: Instant,
    /// Not before this instant is another refused segment without data answered.
    next_answer_at: Instant,
    /// ECN-Echoes below this position belong to a window that was reduced already.
    ecn_point: u64,
    established_at: MaybeInstant,
    /// Position behind the last segment that was shorter than a full one.
    last_short: u64,
}

impl Sender {
    /// Begins to fetch what it keeps of the first and the last segment in flight.
    #[inline]
    pub(crate) fn prefetch_segments(&self) {
        [self.board.front(), self.board.back()].into_iter().flatten().for_each(prefetch);
    }

    /// A sender that has not opened yet. `seed` sets what an algorithm may choose freely (BBR's
    /// first phase); the initial sequence number is the caller's.
    #[must_use]
    pub fn new(config: &TcpConfig, initial_sequence: u32, seed: u64) -> Self {
        Self::sharing(Arc::new(config.clone()), initial_sequence, seed)
    }

    /// The same, with a configuration that other senders have, too.
    pub(crate) fn sharing(config: Arc<TcpConfig>, initial_sequence: u32, seed: u64) -> Self {
        let full_payload = full_payload(config.mss, config.timestamps, 0);
        let window_scale = window_scale(config.receive_buffer.0);
        let start = EPOCH + u64::from(initial_sequence);
        let detector = Detector::new(&config.loss_detection);
        let window = config.initial_window_segments;
        let control = &config.congestion_control;
        let measures = control.measures_rate() || control.judges_losses() || detector.looks_at_departures();
        Self {
            state: State::Idle,
            seed,
            controller: controller(&config, full_payload, window, (seed, config.sack)),
            detector,
            rtt: RttEstimator::new(
                config.initial_rto,
                (config.min_rto, config.max_rto),
                config.loss_detection.rto_margin(config.min_rto, config.rto_granularity),
            )
            .believing(config.min_rtt_window),
            board: Scoreboard::new(full_payload),
            timers: Timers::default(),
            persist: Persist::default(),
            rate: measures.then(|| Box::new(RateSampler::repeating(control.mistakes_ack_phases()))),
            window_use: WindowUse::default(),
            recovery: RecoveryState::Open,
            window_reduction: None,
            undo: None,
            sack: config.sack,
            timestamps: config.timestamps,
            ecn: config.ecn,
            signal: 0,
            short: 0,
            full_payload,
            initial_sequence,
            snd_una: start,
            snd_nxt: start,
            written: start + 1,
            closing: false,
            corked: false,
            last_short: 0,
            fin_sent: false,
            window_edge: start,
            peer_window: 0,
            peer_window_scale: 0,
            window_scale,
            own_window: own_window(&config, window_scale),
            rcv_nxt: 0,
            clock: TimestampClock::new(config.timestamp_tick),
            recent: RecentTimestamp::default(),
            send_syn: false,
            syn_sent_at: Instant::ZERO,
            syn_transmissions: 0,
            give_up_at: Instant::MAX,
            send_ack: false,
            reset: None,
            next_answer_at: Instant::ZERO,
            holds_losses: false,
            deferral: TsoDeferral::default(),
            last_sent_at: Instant::ZERO,
            tell_reduction: false,
            ecn_point: start,
            established_at: MaybeInstant::NONE,
            stats: SenderStats::default(),
            log: None,
            config,
        }
    }

    /// What is known of each segment, for tests.
    #[cfg(test)]
    pub(crate) fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// Starts the handshake.
    pub fn open(&mut self) {
        if self.state == State::Idle {
            self.state = State::SynSent;
            self.send_syn = true;
        }
    }

    /// The application writes `bytes` more.
    pub fn write(&mut self, bytes: u64) {
        debug_assert!(!self.closing, "no writing after close");
        if self.config.app_limited_by_writes && !self.is_subflow() {
            self.note_dry_write();
        }
        self.written = self.written.saturating_add(bytes).min(UNLIMITED);
        self.deferral.end();
    }

    /// The application will write more at once: a short segment waits for it, until `more` is false (Linux: TCP_CORK, and
    /// MSG_MORE of a single write).
    pub fn cork(&mut self, more: bool) {
        self.corked = more;
    }

    /// The application has more than will ever be sent.
    pub fn write_without_end(&mut self) {
        self.written = UNLIMITED;
    }

    /// The application will write no more; FIN follows the last byte. What an unlimited source has
    /// not yet sent is forgotten.
    pub fn close(&mut self) {
        if self.written == UNLIMITED {
            self.written = self.snd_nxt.max(self.first_byte());
        }
        self.deferral.end();
        self.closing = true;
    }

    /// An arriving segment.
    #[inline(never)]
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        if rarely(segment.flags.has(Flags::RST)) && !self.is_subflow() {
            self.on_reset(now, segment);
            return;
        }
        match self.state {
            State::SynSent => self.on_syn_ack(now, segment),
            State::Established => {
                if rarely(segment.flags.has(Flags::SYN)) {
                    // Our ACK of the SYN-ACK was lost.
                    self.send_ack = true;
                    return;
                }
                if rarely(self.refuses(now, segment)) {
                    self.answer_refused(now, segment);
                    return;
                }
                self.take_timestamp(now, segment);
                if segment.flags.has(Flags::ACK) {
                    self.on_ack(now, segment);
                }
                if rarely(segment.flags.has(Flags::FIN)) {
                    self.take_fin(now, segment);
                }
            }
            State::Closed => self.send_ack |= segment.sequence_len() > 0,
            State::Idle => {}
            State::Failed(_) => self.refuse_late(segment),
        }
    }

    #[cold]
    fn on_syn_ack(&mut self, now: Instant, segment: &Segment) {
        let wanted = Flags::SYN.with(Flags::ACK);
        if !segment.flags.has(wanted) || segment.ack != self.initial_sequence.wrapping_add(1) {
            return;
        }
        self.state = State::Established;
        self.established_at = now.into();
        self.snd_una += 1;
        self.snd_nxt = self.snd_una;
        self.ecn_point = self.snd_una;
        self.rcv_nxt = segment.seq.wrapping_add(1);
        self.recent.start(now, segment.timestamp);
        self.negotiate(segment);
        self.window_edge = self.snd_una + u64::from(segment.window);
        self.persist.on_window(u64::from(segment.window));
        self.send_ack = true;
        self.timers.stop();
        let rtt = self.measure_handshake(now, segment);
        // RFC 6928 section 2: one lost SYN or SYN-ACK may be chance, and leaves the initial window.
        let segments = if self.syn_transmissions <= 2 { self.config.initial_window_segments } else { 1 };
        self.controller = controller(&self.config, self.full_payload, segments, (self.seed, self.sack));
        self.controller.on_established(now, rtt);
        // What the peer holds ACKs back for is taken to be our own delay.
        let delays = self.config.delayed_ack_segments > 1;
        self.detector.on_established(&Handshake {
            rtt,
            sack: self.sack,
            ack_delay: if delays { self.config.delayed_ack_timeout } else { Span::ZERO },
            initial_rto: self.config.initial_rto,
            min_rto: self.config.min_rto,
            max_rto: self.config.max_rto,
            timer_tick: self.config.timer_tick,
        });
        self.record(now, Decision::Established);
    }

    /// The round trip of the handshake. Karn's rule: a SYN sent twice gives a sample only by the timestamp that the SYN-ACK
    /// echoes (RFC 7323 section 4).
    fn measure_handshake(&mut self, now: Instant, segment: &Segment) -> Option<Span> {
        if self.syn_transmissions == 1 {
            let rtt = now.since(self.syn_sent_at);
            self.rtt.on_sample(rtt);
            self.rtt.on_minimum_candidate(now, rtt);
            return Some(rtt);
        }
        let Some(echo) = self.echo_of(segment) else {
            self.rtt.on_lost_handshake();
            return None;
        };
        let rtt = self.clock.round_trip(now, echo);
        self.rtt.on_echo(now, rtt);
        Some(rtt.bound)
    }

    fn negotiate(&mut self, segment: &Segment) {
        self.sack &= segment.flags.has(Flags::SACK_PERMITTED);
        self.timestamps &= segment.flags.has(Flags::TIMESTAMPS);
        // RFC 3168 section 6.1.1: an ECN-setup SYN-ACK has ECE and not CWR.
        self.ecn &= segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::CWR);
        self.peer_window_scale = segment.window_scale_plus_one.saturating_sub(1);
        // RFC 7323 section 2.2: scaled only if both have said so in their SYNs.
        if segment.window_scale_plus_one == 0 {
            self.window_scale = 0;
            self.own_window = own_window(&self.config, 0);
        }
        // RFC 9293 section 3.7.1: without the option the peer takes 536 bytes.
        let peer_mss = if segment.mss == 0 { 536 } else { segment.mss };
        self.full_payload = full_payload(self.config.mss.min(peer_mss), self.timestamps, self.signal);
        self.board = Scoreboard::new(self.full_payload);
        if self.log.is_some() || self.config.congestion_control.judges_losses() {
            self.board.note_losses();
        } else if self.config.congestion_control.measures_rate() || self.detector.looks_at_departures() {
            self.board.note_departures();
        }
        if self.config.congestion_control.mistakes_ack_phases() {
            self.board.mistake_ack_phases();
        }
    }

    #[inline]
    fn take_timestamp(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.has(Flags::TIMESTAMPS) {
            self.recent.take(self.clock, now, segment.timestamp);
        }
    }

    /// RFC 7323 section 5.3, R1: an ACK that newer ones have overtaken is dropped whole, with what it SACKs. A plain
    /// repetition of the newest one may be a duplicate ACK, and counts.
    #[inline]
    fn refuses(&self, now: Instant, segment: &Segment) -> bool {
        if !self.config.paws || !self.timestamps || !segment.flags.has(Flags::TIMESTAMPS) {
            return false;
        }
        let ack = unwrap_sequence(segment.ack, self.snd_una);
        let repeats = segment.sequence_len() == 0
            && ack == self.snd_una
            && ack + (u64::from(segment.window) << self.peer_window_scale) <= self.window_edge;
        !repeats && self.recent.is_older(self.clock, now, segment.timestamp, self.config.paws_window)
    }

    /// RFC 7323 section 5.3, R1: what is refused is answered by an ACK; one without data only now and then, so that two
    /// ends cannot answer each other for ever (RFC 5961 section 7).
    #[cold]
    fn answer_refused(&mut self, now: Instant, segment: &Segment) {
        if segment.sequence_len() > 0 {
            self.send_ack = true;
        } else if now >= self.next_answer_at {
            self.send_ack = true;
            self.next_answer_at = now.saturating_add(ANSWER_INTERVAL);
        }
    }

    #[inline(never)]
    fn take_fin(&mut self, now: Instant, segment: &Segment) {
        self.send_ack = true;
        if segment.seq == self.rcv_nxt {
            self.rcv_nxt = self.rcv_nxt.wrapping_add(1);
        }
        if self.fin_sent && self.board.is_empty() {
            self.state = State::Closed;
            self.board.give_room_back();
            self.timers.stop();
            self.record(now, Decision::Closed);
        }
    }

    /// How many segments in flight there is room for.
    #[cfg(test)]
    pub(crate) fn room_for_segments(&self) -> usize {
        self.board.room_for_segments()
    }

    /// Recounts what is kept incrementally; for tests.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        self.board.check();
        assert!(self.controller.cwnd() >= self.full_payload);
        assert!(self.snd_una <= self.snd_nxt);
    }

    /// Bytes ever judged lost.
    #[must_use]
    pub fn lost_total(&self) -> u64 {
        self.board.lost_total()
    }

    /// Its congestion control, if that is one which is set from outside.
    #[must_use]
    pub fn held(&self) -> Option<&Held> {
        if let Controller::Held(held) = &self.controller { Some(held) } else { None }
    }

    /// The same, to set it.
    pub fn held_mut(&mut self) -> Option<&mut Held> {
        if let Controller::Held(held) = &mut self.controller { Some(held) } else { None }
    }

    /// Position of the first byte of the stream.
    fn first_byte(&self) -> u64 {
        EPOCH + u64::from(self.initial_sequence) + 1
    }

    /// What it has done so far.
    #[must_use]
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// The congestion window in bytes, as it governs sending now.
    #[inline(always)]
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        match (&self.recovery, &self.window_reduction) {
            (RecoveryState::Fast { prr: Some(prr), .. }, _) | (RecoveryState::Open, Some(prr)) => {
                prr.cwnd(self.board.pipe())
            }
            _ => self.controller.cwnd(),
        }
    }

    /// The slow-start threshold in bytes; `u64::MAX` before the first loss.
    #[must_use]
    pub fn ssthresh(&self) -> u64 {
        self.controller.ssthresh()
    }

    /// Bytes in flight (RFC 6675 "pipe").
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.board.pipe()
    }

    /// Stream bytes acknowledged cumulatively.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.snd_una.saturating_sub(self.first_byte()).min(self.written - self.first_byte())
    }

    /// Bytes of the stream, once the application has closed.
    #[must_use]
    pub fn stream_length(&self) -> Option<u64> {
        self.closing.then(|| self.written - self.first_byte())
    }

    /// Why it has given up, if it has.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        if let State::Failed(why) = self.state { Some(why) } else { None }
    }

    /// When the handshake completed.
    #[must_use]
    pub fn established_at(&self) -> Option<Instant> {
        self.established_at.get()
    }

    /// Whether everything written before the close is acknowledged, the FIN included.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.fin_sent && self.board.is_empty()
    }

    /// Smoothed RTT, smallest, mean, largest and latest sample; all zero before the first.
    #[must_use]
    pub fn rtt(&self) -> RttSummary {
        self.rtt.summary()
    }
}

/// Payload in bytes of a full segment: the MSS less the options that every data segment has (RFC 9293 section
/// 3.7.1), timestamps in 12 bytes and MPTCP's data sequence signal of `signal` bytes, 0 for a plain connection.
pub(super) fn full_payload(mss: u16, timestamps: bool, signal: u8) -> u64 {
    let timestamps = if timestamps { 12 } else { 0 };
    u64::from(mss).saturating_sub(timestamps + u64::from(signal)).max(1)
}

/// The window field of a sender, whose window does not change.
fn own_window(config: &TcpConfig, scale: u8) -> u16 {
    (initial_window(config) >> scale).min(u64::from(u16::MAX)) as u16
}

fn controller(
    config: &TcpConfig,
    payload: u64,
    window_segments: u32,
    (seed, sack): (u64, bool),
) -> Controller {
    let window = payload * u64::from(window_segments.max(1));
    // The payload is at most the 16-bit MSS.
    let paced = matches!(config.pacing, PacingConfig::Window(_));
    let start = Start { mss: payload as u32, initial_window: window, paced, seed, sack, undo: config.undo };
    Controller::new(&config.congestion_control, start)
}
