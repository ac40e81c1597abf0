//! Which segment leaves next, and when.

use super::timers::Probe;
use super::{PacingConfig, RecoveryState, Sender, State, WindowPacing};
use crate::congestion::CongestionControl;
use crate::log::Decision;
use crate::segment::{Flags, Segment};
use crate::tcp::detection::TransmissionFacts;
use crate::tcp::receive_window::initial_window;
use crate::tcp::scoreboard::{Delivery, Number};
use anabranch_units::{Bytes, Instant, Rate, rarely};

impl Sender {
    /// The next segment to send now, if any.
    // A function of its own, as the other three that each segment passes: one that has them all has no registers left.
    #[inline(never)]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let waits = self.send_syn || self.send_ack || self.persist.ask || self.reset.is_some();
        if rarely(waits) {
            return Some(self.without_data(now));
        }
        if rarely(self.state != State::Established) {
            // Nothing is left to hold back: the timer must not go off for it again and again.
            self.timers.held_by_pacing = false;
            return None;
        }
        if rarely(self.timers.probe == Probe::Due) {
            return self.tail_loss_probe(now);
        }
        if rarely(self.persist.at.is_some())
            && let Some(probe) = self.window_probe(now)
        {
            return Some(probe);
        }
        if rarely(self.board.has_lost() && !self.holds_losses)
            && let Some(number) = self.board.next_lost()
        {
            return self.repair(now, number);
        }
        self.timers.held_by_pacing = self.must_wait(now, self.snd_nxt);
        if rarely(self.timers.held_by_pacing) {
            return None;
        }
        let pipe = self.board.pipe();
        let cwnd = self.cwnd();
        let segment = self.new_segment(now, pipe, cwnd.saturating_sub(self.withheld(cwnd)));
        if rarely(segment.is_none() && !matches!(self.recovery, RecoveryState::Open)) {
            return self.without_new_data(now, pipe, cwnd);
        }
        segment
    }

    /// A segment that leaves before any data: of the handshake, an RST, or an ACK that was asked for.
    #[cold]
    fn without_data(&mut self, now: Instant) -> Segment {
        if self.send_syn {
            return self.syn(now);
        }
        if let Some(reset) = self.reset.take() {
            return *reset;
        }
        if self.send_ack {
            self.send_ack = false;
            return self.header(now, self.snd_nxt);
        }
        self.persist.ask = false;
        self.header(now, self.snd_una - 1)
    }

    /// A lost segment goes again, if pacing and the window let it.
    #[inline(never)]
    fn repair(&mut self, now: Instant, number: Number) -> Option<Segment> {
        self.timers.held_by_pacing = self.must_wait(now, self.board.get(number).start);
        if self.timers.held_by_pacing {
            return None;
        }
        let (pipe, cwnd) = (self.board.pipe(), self.cwnd());
        debug_assert!(!matches!(self.recovery, RecoveryState::Open), "losses are repaired in recovery");
        // At least one segment may always be under way, or nothing would restart the ACK clock.
        let fits = pipe + self.board.get(number).len() <= cwnd || pipe == 0;
        let start = self.board.get(number).start;
        let fits = fits || (self.resends_first() && start == self.snd_una);
        // Behind a window that the receiver has shrunk only the first segment goes again (RFC 9293 section 3.8.6).
        let fits = fits && (start < self.window_edge || start == self.snd_una || self.is_subflow());
        fits.then(|| self.retransmission(now, number))
    }

    /// Whether the first segment outstanding goes again though the window has no room for it: a detector's own timer must
    /// run for it again; and without SACK each recovery begins with it, and each partial ACK sends it, before the window
    /// is asked (RFC 5681 section 3.2 step 3, RFC 6582 section 3.2 step 3).
    fn resends_first(&self) -> bool {
        self.detector.times_segments() || (!self.sack && matches!(self.recovery, RecoveryState::Fast { .. }))
    }

    /// RFC 6675 section 4, NextSeg: with neither lost segments nor new data that may leave, a hole below SACKed data goes
    /// again though it is not lost yet (rule 3); and once in a recovery the last segment, whose SACK tells what else is
    /// lost (rule 4).
    #[inline(never)]
    fn without_new_data(&mut self, now: Instant, pipe: u64, cwnd: u64) -> Option<Segment> {
        let RecoveryState::Fast { high_rxt, rescued, .. } = self.recovery else { return None };
        let new_data = self.written > self.snd_nxt && self.window_edge > self.snd_nxt;
        if !(self.sack && self.detector.resends_holes()) || new_data || pipe + self.full_payload > cwnd {
            return None;
        }
        if let Some(number) = self.board.hole_from(high_rxt) {
            return Some(self.retransmission(now, number));
        }
        let last = self.board.last_unsacked().filter(|_| !rescued);
        // Sent again already, it will tell by itself.
        let number = last.filter(|&number| self.board.get(number).end > high_rxt)?;
        let segment = self.retransmission(now, number);
        if let RecoveryState::Fast { high_rxt: kept, rescued, .. } = &mut self.recovery {
            // It does not count as the highest sent again.
            *kept = high_rxt;
            *rescued = true;
        }
        Some(segment)
    }

    /// Bytes of a window of `cwnd` bytes that loss detection keeps from new data; recovery has its own rule. One segment
    /// may always be under way, or nothing would restart the ACK clock.
    #[inline]
    pub(super) fn withheld(&self, cwnd: u64) -> u64 {
        if !matches!(self.recovery, RecoveryState::Open) {
            return 0;
        }
        let most = cwnd.saturating_sub(self.full_payload);
        self.detector.withheld(cwnd, self.snd_nxt - self.snd_una).min(most)
    }

    #[inline(never)]
    fn syn(&mut self, now: Instant) -> Segment {
        self.send_syn = false;
        self.syn_transmissions += 1;
        self.syn_sent_at = now;
        if self.syn_transmissions == 1 {
            self.give_up_at = now.saturating_add(self.config.handshake_timeout);
        }
        self.start_timeout(now);
        self.timers.bound(self.give_up_at);
        if self.syn_transmissions == 1 {
            self.record(now, Decision::Opened);
        }
        let mut flags = Flags::SYN;
        if self.sack {
            flags = flags.with(Flags::SACK_PERMITTED);
        }
        if self.timestamps {
            flags = flags.with(Flags::TIMESTAMPS);
        }
        if self.ecn {
            flags = flags.with(Flags::ECE).with(Flags::CWR);
        }
        Segment {
            seq: self.initial_sequence,
            timestamp: self.clock.at(now),
            window: initial_window(&self.config).min(u64::from(u16::MAX)) as u16,
            flags,
            mss: self.config.mss,
            window_scale_plus_one: self.window_scale + 1,
            ..Segment::default()
        }
    }

    /// A segment without payload at `position`: the header that every segment has.
    #[inline]
    pub(super) fn header(&self, now: Instant, position: u64) -> Segment {
        let mut segment = Segment {
            seq: position as u32,
            ack: self.rcv_nxt,
            window: self.own_window,
            flags: Flags::ACK,
            ..Segment::default()
        };
        if self.timestamps {
            segment.flags = segment.flags.with(Flags::TIMESTAMPS);
            segment.timestamp = self.clock.at(now);
            segment.timestamp_echo = self.recent.value();
        }
        segment
    }

    // With what it calls in one piece: each segment passes through, and goes from hand to hand in no more copies.
    #[inline(always)]
    fn new_segment(&mut self, now: Instant, pipe: u64, cwnd: u64) -> Option<Segment> {
        let unsent = self.written.saturating_sub(self.snd_nxt);
        let fin = self.closing && !self.fin_sent && unsent <= self.full_payload;
        if rarely(unsent == 0 && !fin) {
            if pipe < cwnd && !self.is_subflow() && !self.config.app_limited_by_writes {
                self.on_app_limited(pipe);
            }
            return None;
        }
        let window = self.window_edge.saturating_sub(self.snd_nxt);
        let payload = unsent.min(self.full_payload).min(window);
        // RFC 9293 section 3.8.6.2.1: no silly windows; a short segment must be all there is.
        let short_by_window =
            payload < unsent.min(self.full_payload) && (pipe > 0 || self.awaits_window(now, payload));
        let held = pipe + payload > cwnd.saturating_add(self.short);
        if held {
            self.note_window_use(true);
        }
        if (payload == 0 && !fin) || short_by_window || held {
            return None;
        }
        let fin = fin && payload == unsent;
        if rarely(payload < self.full_payload && !fin && cwnd != u64::MAX && self.awaits_more(payload)) {
            return None;
        }
        let room = cwnd.saturating_sub(pipe);
        if !fin && cwnd != u64::MAX && self.defers(now, pipe, room.min(window), unsent) {
            // A receive window that is the shorter one holds data back by itself, and shows nothing of this one.
            if room < window && room <= unsent {
                self.note_window_use(true);
            }
            return None;
        }
        // RFC 9293 section 3.9.1.2: the last segment of what was written is pushed. What a connection of several paths
        // gives to a subflow ends no write.
        let pushes = (payload == unsent && !self.is_subflow()) || self.deferral.ends_train();
        let mut segment = self.first_transmission(now, pipe, payload, fin);
        if pushes && payload > 0 {
            segment.flags = segment.flags.with(Flags::PSH);
        }
        Some(segment)
    }

    /// Whether a short segment waits for more to be written: the application has said that more will come, or Nagle's
    /// algorithm waits for the ACK of an earlier one.
    fn awaits_more(&self, payload: u64) -> bool {
        payload > 0 && (self.corked || (self.config.nagle && self.snd_una < self.last_short))
    }

    #[inline(always)]
    pub(super) fn first_transmission(&mut self, now: Instant, pipe: u64, payload: u64, fin: bool) -> Segment {
        if rarely(self.board.is_empty() && self.stats.segments > 0) {
            self.restart_after_idle(now);
        }
        self.persist.stop();
        let start = self.snd_nxt;
        if rarely(payload < self.full_payload) {
            self.last_short = start + payload;
        }
        let delivery = self.delivery(now, pipe);
        self.snd_nxt = start + payload + u64::from(fin);
        let order = self.board.push(start, self.snd_nxt, fin, now, delivery);
        self.tell_detector(now, order, payload);
        self.fin_sent |= fin;
        let cwnd = self.cwnd();
        self.note_window_use(pipe + payload + self.full_payload > cwnd.saturating_sub(self.withheld(cwnd)));
        if !self.timers.is_running() {
            self.restart_timer(now);
        } else if self.timers.is_probe() {
            if self.may_probe() {
                self.detector.on_probe_scheduled();
            }
            self.schedule_probe(now);
        }
        let mut segment = self.data(now, start, payload, fin);
        if self.ecn && payload > 0 {
            segment.flags = segment.flags.with(Flags::ECT);
            if self.tell_reduction {
                segment.flags = segment.flags.with(Flags::CWR);
                self.tell_reduction = false;
            }
        }
        segment
    }

    /// Nothing is under way: data leave behind a pause (RFC 5681 section 4.1).
    #[inline(never)]
    fn restart_after_idle(&mut self, now: Instant) {
        let idle = now.saturating_since(self.last_sent_at);
        let rto = self.rtt.rto();
        if idle > rto {
            let before = self.controller.cwnd();
            self.controller.on_restart_after_idle(now, idle, rto);
            let after = self.controller.cwnd();
            self.record(now, Decision::RestartedAfterIdle { before, after });
        }
    }

    /// State to keep with a segment that is about to leave, if anybody wants it.
    #[inline]
    fn delivery(&mut self, now: Instant, pipe: u64) -> Delivery {
        match &mut self.rate {
            Some(rate) if self.board.notes_departures() => rate.on_sent(now, pipe),
            _ => Delivery::default(),
        }
    }

    /// The sender has room in its windows and nothing to send.
    #[inline]
    pub(super) fn on_app_limited(&mut self, pipe: u64) {
        if let Some(rate) = &mut self.rate {
            rate.on_app_limited(pipe);
        }
    }

    /// As Linux: that the application writes again shows that it had nothing to send. What was in flight then is marked,
    /// unless the window held data back or a loss still waits for its retransmission.
    pub(super) fn note_dry_write(&mut self) {
        let pipe = self.board.pipe();
        let unsent = self.written.saturating_sub(self.snd_nxt);
        if unsent < self.full_payload && pipe < self.cwnd() && !self.board.has_lost() {
            self.on_app_limited(pipe);
        }
    }

    #[inline]
    fn note_window_use(&mut self, limited: bool) {
        self.window_use.note(limited, (self.snd_una, self.snd_nxt));
    }

    /// A detector sees a transmission, if it looks at any.
    #[inline]
    fn tell_detector(&mut self, now: Instant, order: u64, new_bytes: u64) {
        if rarely(self.detector.watcher().is_some()) {
            self.tell_watcher(now, order, new_bytes);
        }
    }

    #[inline(never)]
    fn tell_watcher(&mut self, now: Instant, order: u64, new_bytes: u64) {
        let (cwnd, full_payload) = (self.controller.cwnd(), self.full_payload);
        if let Some(watcher) = self.detector.watcher() {
            watcher.on_sent(&TransmissionFacts { now, order, new_bytes, cwnd, full_payload });
        }
    }

    #[inline(never)]
    fn retransmission(&mut self, now: Instant, number: Number) -> Segment {
        let delivery = self.delivery(now, self.board.pipe());
        self.board.retransmit(number, now, delivery);
        self.tell_detector(now, self.board.get(number).order, 0);
        if !matches!(self.recovery, RecoveryState::Open) {
            let end = self.board.get(number).end;
            self.note_retransmission(now, end);
            if let RecoveryState::Fast { high_rxt, .. } = &mut self.recovery {
                *high_rxt = end.max(*high_rxt);
            }
        }
        if !self.timers.is_running() {
            self.start_timeout(now);
        }
        let sent = self.board.get(number);
        let (start, fin) = (sent.start, sent.fin);
        let payload = sent.len() - u64::from(fin);
        // As of what is sent, a FIN without data does not count.
        self.stats.retransmissions += u64::from(payload > 0);
        // RFC 3168 section 6.1.5: a retransmission is not ECN-capable.
        self.data(now, start, payload, fin)
    }

    /// RFC 8985 section 7.3: new data if there are any, otherwise the last segment again.
    #[cold]
    fn tail_loss_probe(&mut self, now: Instant) -> Option<Segment> {
        self.timers.probe = Probe::None;
        let pipe = self.board.pipe();
        let segment = self.new_segment(now, pipe, u64::MAX);
        let retransmission = segment.is_none();
        let segment = match segment {
            Some(segment) => segment,
            None => {
                let number = self.board.last_number()?;
                self.retransmission(now, number)
            }
        };
        self.timers.probe = Probe::Sent { end: self.snd_nxt, retransmission };
        self.start_timeout(now);
        Some(segment)
    }

    #[inline(always)]
    fn data(&mut self, now: Instant, start: u64, payload: u64, fin: bool) -> Segment {
        let mut segment = self.header(now, start);
        // At most full_payload, which is below the 16-bit MSS.
        segment.payload = payload as u16;
        if fin {
            segment.flags = segment.flags.with(Flags::FIN);
        }
        self.stats.segments += u64::from(payload > 0);
        self.last_sent_at = now;
        if self.is_paced() {
            self.pace(now, start, payload);
        }
        if let Some(prr) = self.reduction_mut() {
            prr.on_sent(payload);
        }
        segment
    }

    /// Whether pacing holds back the segment that begins at `start`.
    #[inline]
    pub(super) fn must_wait(&self, now: Instant, start: u64) -> bool {
        self.timers.pacing.is_some() && self.paces(now, start)
    }

    /// The same of a sender that has paced a segment.
    #[inline(never)]
    fn paces(&self, now: Instant, start: u64) -> bool {
        let paced = self.timers.pacing.as_ref();
        paced.is_some_and(|paced| now < paced.at && !paced.train.goes_on(now, start)) && self.is_paced()
    }

    #[inline]
    pub(super) fn is_paced(&self) -> bool {
        match self.config.pacing {
            PacingConfig::Controller(_) => self.controller.pacing_rate().is_some(),
            PacingConfig::Window(_) => true,
        }
    }

    /// Sets when the next segment may leave.
    #[inline(never)]
    fn pace(&mut self, now: Instant, start: u64, payload: u64) {
        let Some(rate) = self.pacing_rate() else { return };
        if self.stats.segments < u64::from(self.config.unpaced_segments) {
            return;
        }
        // 64 kB at most, of segments of one byte at least.
        let quantum = self.controller.send_quantum() / self.full_payload;
        let quantum = quantum.min(u64::from(u16::MAX)) as u16;
        let more = self.timers.more.max(quantum.saturating_sub(1));
        let paced = self.timers.pacing.get_or_insert_default();
        let mut gap = rate.time_for(Bytes(payload));
        if self.config.pacing_catches_up {
            gap = paced.caught_up(now, start, gap);
        }
        paced.train.on_sent(now, (start, start + payload), more);
        paced.at = paced.at.max(now).saturating_add(gap);
    }

    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        if let Some(rate) = self.controller.pacing_rate() {
            return Some(rate);
        }
        let PacingConfig::Window(WindowPacing { slow_start_gain, avoidance_gain }) = self.config.pacing
        else {
            return None;
        };
        let cwnd = self.controller.cwnd();
        let gain = if cwnd < self.controller.ssthresh() / 2 { slow_start_gain } else { avoidance_gain };
        Rate::of(Bytes(cwnd), self.rtt.srtt()).map(|rate| rate.scaled(gain))
    }
}
