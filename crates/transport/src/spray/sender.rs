use super::config::{HEADERS, SprayConfig};
use super::facts::{Acknowledged, PathFacts};
use super::header::{Answer, Data, Nack, Probe};
use super::paths::{Feedback, Selector, Start};
use super::records::{Record, Records, Standing};
use super::window::Window;
use crate::congestion::Draws;
use crate::segment::{Flags, Segment};
use crate::tcp::{RttSummary, SenderStats};
use anabranch_units::{Bytes, Instant, Rate, Span};

/// What an unlimited source has written.
const UNLIMITED: u64 = u64::MAX / 2;
/// The part of the timeout that does not depend on the path, and base RTTs in it (uet-htsim).
const LEAST_RTO: Span = Span::from_us(15);
const RTO_RTTS: u64 = 6;

/// What a sender of `spray` has done besides what all senders do.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct SpraySenderStats {
    /// NACKs for packets cut off in front of the last link.
    pub nacks_last_hop: u64,
    /// Packets given up without an answer, by a timeout or because later ones had one.
    pub losses: u64,
    /// Probes of entropy values.
    pub probes: u64,
    /// When the last byte was acknowledged.
    pub acknowledged_at: Option<Instant>,
}

/// The sending end. Inputs are those of [`SenderAgent`](crate::SenderAgent); it is asked for a packet when the host's line
/// is free, and [`SpraySender::wants_to_send`] says whether it would give one.
#[derive(Debug)]
pub struct SpraySender {
    config: SprayConfig,
    facts: PathFacts,
    rto: Span,
    window: Window,
    selector: Selector,
    draws: Draws,
    /// Bytes that the application has written, and of these those in packets.
    written: u64,
    packed: u64,
    is_open: bool,
    is_closing: bool,
    records: Records,
    /// Bytes in flight, headers included: sent, less arrived or given up.
    in_flight: i64,
    /// Bytes that the receiver has counted.
    received: u64,
    base_rtt: Span,
    /// When the newest packet was sent that is known to have arrived.
    newest_sent_at: Instant,
    timeout: Option<Instant>,
    /// A value that is to be probed when the host turns to the flow.
    probe: Option<u16>,
    opened_at: Option<Instant>,
    /// Planes whose lines are down.
    planes_off: u64,
    rtt: RttSummary,
    rtt_sum_ps: u128,
    rtt_samples: u64,
    stats: SenderStats,
    spray_stats: SpraySenderStats,
}

impl SpraySender {
    /// A sender that has not opened; `seed` is that of its draws.
    #[must_use]
    pub fn new(config: &SprayConfig, seed: u64) -> Self {
        let facts = PathFacts { rate: Rate::from_bps(1), base_rtt: Span::from_ms(1), planes: 1 };
        Self::on_path(config, seed, facts)
    }

    /// The same, on a path of which something is known.
    #[must_use]
    pub fn on_path(config: &SprayConfig, seed: u64, facts: PathFacts) -> Self {
        let base_rtt = if config.base_rtt == Span::ZERO { facts.base_rtt } else { config.base_rtt };
        let facts = PathFacts { base_rtt, ..facts };
        let rto = if config.rto == Span::ZERO {
            LEAST_RTO.saturating_add(base_rtt.saturating_mul(RTO_RTTS)).min(config.max_rto)
        } else {
            config.rto
        };
        let mut draws = Draws::new(seed);
        let payload = u64::from(config.payload);
        let start = Start { planes: facts.planes, rto };
        Self {
            window: Window::new(
                &config.window,
                &facts,
                (payload + u64::from(HEADERS), payload),
                config.trimming,
            ),
            selector: Selector::new(&config.path_selector, start, &mut draws),
            config: config.clone(),
            facts,
            rto,
            draws,
            written: 0,
            packed: 0,
            is_open: false,
            is_closing: false,
            records: Records::default(),
            in_flight: 0,
            received: 0,
            base_rtt,
            newest_sent_at: Instant::ZERO,
            timeout: None,
            probe: None,
            opened_at: None,
            planes_off: 0,
            rtt: RttSummary::default(),
            rtt_sum_ps: 0,
            rtt_samples: 0,
            stats: SenderStats::default(),
            spray_stats: SpraySenderStats::default(),
        }
    }

    /// What the engine knows of the path; before it opens.
    pub fn know_path(&mut self, facts: PathFacts) {
        let seed = self.draws.next();
        *self = Self::on_path(&self.config, seed, facts);
    }

    /// A line of the host fails, or works again: no packet takes an entropy value of a plane that is off.
    pub fn on_plane(&mut self, plane: u16, is_up: bool) {
        let bit = 1_u64.checked_shl(u32::from(plane)).unwrap_or(0);
        self.planes_off = if is_up { self.planes_off & !bit } else { self.planes_off | bit };
    }

    /// Begins: there is no handshake.
    pub fn open(&mut self) {
        self.is_open = true;
    }

    /// The application writes `bytes` more.
    pub fn write(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes).min(UNLIMITED);
    }

    /// The application has more than will ever be sent.
    pub fn write_without_end(&mut self) {
        self.written = UNLIMITED;
    }

    /// The application will write no more; what an unlimited source has not sent is forgotten.
    pub fn close(&mut self) {
        if self.written == UNLIMITED {
            self.written = self.packed;
        }
        self.is_closing = true;
    }

    /// Whether it would give a packet now.
    #[must_use]
    pub fn wants_to_send(&self) -> bool {
        self.is_open && (self.probe.is_some() || self.may_send_data())
    }

    fn may_send_data(&self) -> bool {
        self.next_bytes().is_some_and(|bytes| self.fits(bytes))
    }

    /// Bytes of the packet that would be next, headers included: one that was lost, or a new one.
    fn next_bytes(&self) -> Option<u64> {
        let payload = match self.records.first_lost() {
            Some(psn) => u64::from(self.records.get(psn)?.payload),
            None => self.unpacked().min(u64::from(self.config.payload)),
        };
        (payload > 0).then_some(payload + u64::from(HEADERS))
    }

    const fn unpacked(&self) -> u64 {
        self.written - self.packed
    }

    /// Whether the window has room for so many bytes (UEC Specification 1.0.3, section 3.6.13, as uet-htsim reads it).
    fn fits(&self, bytes: u64) -> bool {
        self.in_flight + bytes as i64 <= self.window.bytes() as i64
    }

    /// The packet to send now; the host's line is free.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        if !self.is_open {
            return None;
        }
        self.opened_at.get_or_insert(now);
        if let Some(entropy) = self.probe.take() {
            self.spray_stats.probes += 1;
            return Some(Probe { entropy, is_answer: false }.segment());
        }
        let bytes = self.next_bytes().filter(|&bytes| self.fits(bytes))?;
        let entropy = self.entropy(now);
        self.in_flight += bytes as i64;
        let (psn, record) = match self.records.first_lost() {
            Some(psn) => {
                self.stats.retransmissions += 1;
                (psn, self.records.resend(psn, now, entropy)?)
            }
            None => (self.records.next(), self.pack(now, entropy)),
        };
        self.stats.segments += 1;
        let due = record.overdue_at((self.rto, self.config.steady_retries), self.config.max_rto);
        self.timeout = Some(self.timeout.map_or(due, |timeout| timeout.min(due)));
        let is_last = self.unpacked() == 0 && self.records.first_lost().is_none();
        let requests = is_last || !self.fits(bytes);
        let (payload, is_retransmission) = (record.payload, record.retries > 0);
        Some(Data { psn, payload, entropy, requests, is_retransmission }.segment())
    }

    /// Makes a new packet.
    fn pack(&mut self, now: Instant, entropy: u16) -> Record {
        let payload = self.unpacked().min(u64::from(self.config.payload)) as u16;
        self.packed += u64::from(payload);
        let record = Record { sent_at: now, payload, entropy, retries: 0, standing: Standing::Outstanding };
        self.records.push(record);
        record
    }

    /// The value of the next packet: that of the selector, moved to a plane that is on.
    fn entropy(&mut self, now: Instant) -> u16 {
        let value = self.selector.next(now, &mut self.draws);
        if self.planes_off == 0 {
            return value;
        }
        let planes = self.facts.planes;
        let is_on = |plane: &u16| self.planes_off.checked_shr(u32::from(*plane)).unwrap_or(0) & 1 == 0;
        if is_on(&(value % planes)) {
            return value;
        }
        let on: Vec<u16> = (0..planes).filter(is_on).collect();
        let lap = value / planes;
        let plane = on.get(usize::from(lap) % on.len().max(1)).copied().unwrap_or(value % planes);
        value - value % planes + plane
    }

    /// An answer arrives.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        if let Some(probe) = Probe::of(segment) {
            self.selector.on_feedback(now, probe.entropy, Feedback::Probed);
            return;
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if let Some(nack) = Nack::of(segment, self.records.first()) {
            self.on_nack(now, &nack);
            return;
        }
        let answer = Answer::of(segment, self.records.first());
        let sample = self.sample(now, &answer);
        let bytes = self.take_arrivals(&answer);
        let feedback = if answer.is_marked { Feedback::Marked } else { Feedback::Clean };
        self.selector.on_feedback(now, answer.entropy, feedback);
        self.window.on_ack(&Acknowledged {
            now,
            bytes,
            is_marked: answer.is_marked,
            delay: sample.map(|rtt| rtt.saturating_sub(self.base_rtt)),
            base_rtt: self.base_rtt,
            in_flight: self.in_flight(),
        });
        if !self.config.trimming {
            self.infer_losses(now);
        }
        if self.is_done() {
            self.timeout = None;
            self.spray_stats.acknowledged_at.get_or_insert(now);
        }
    }

    fn is_done(&self) -> bool {
        self.is_closing && self.unpacked() == 0 && self.records.is_empty()
    }

    /// The round-trip time that an answer tells, if it is clear which transmission it answers.
    fn sample(&mut self, now: Instant, answer: &Answer) -> Option<Span> {
        let sent_at = self.clear_sending(answer.psn, answer.is_retransmission)?;
        let rtt = now.since(sent_at);
        self.newest_sent_at = self.newest_sent_at.max(sent_at);
        self.base_rtt = self.base_rtt.min(rtt);
        self.note_rtt(rtt);
        Some(rtt)
    }

    /// When the transmission left that is answered, if it is clear which one that is.
    fn clear_sending(&self, psn: u64, is_retransmission: bool) -> Option<Instant> {
        let record = self.records.get(psn)?;
        let is_clear = record.retries == u8::from(is_retransmission) && record.standing != Standing::Lost;
        is_clear.then_some(record.sent_at)
    }

    fn note_rtt(&mut self, rtt: Span) {
        self.rtt_samples += 1;
        self.rtt_sum_ps += u128::from(rtt.as_ps());
        let is_first = self.rtt_samples == 1;
        let smoothed = self.rtt.smoothed.as_ps();
        self.rtt = RttSummary {
            // RFC 6298 (2.3): alpha = 1/8.
            smoothed: if is_first { rtt } else { Span::from_ps(smoothed - smoothed / 8 + rtt.as_ps() / 8) },
            min: if is_first { rtt } else { self.rtt.min.min(rtt) },
            mean: Span::from_ps((self.rtt_sum_ps / u128::from(self.rtt_samples)) as u64),
            max: self.rtt.max.max(rtt),
            latest: rtt,
        };
    }

    /// Takes what an answer says of arrivals; bytes that arrived since the answer before.
    fn take_arrivals(&mut self, answer: &Answer) -> u64 {
        let bytes = answer.received.saturating_sub(self.received);
        self.received += bytes;
        self.in_flight -= bytes as i64;
        // Given up and counted as arrived, too: it left the flight twice.
        let mut twice = 0;
        let mut regained = |record: &Record| twice += i64::from(HEADERS) + i64::from(record.payload);
        self.records.acknowledge_below(answer.cumulative, &mut regained);
        let mut bitmap = answer.bitmap;
        while bitmap != 0 {
            let bit = bitmap.trailing_zeros();
            self.records.acknowledge(answer.base + u64::from(bit), &mut regained);
            bitmap &= bitmap - 1;
        }
        self.records.acknowledge(answer.psn, &mut regained);
        self.in_flight += twice;
        bytes
    }

    /// A switch has trimmed a packet. An answer to an earlier transmission of it says nothing new.
    fn on_nack(&mut self, now: Instant, nack: &Nack) {
        self.spray_stats.nacks_last_hop += u64::from(nack.at_last_hop);
        let feedback = match (nack.at_last_hop, nack.is_marked) {
            (false, _) => Feedback::Trimmed,
            (true, true) => Feedback::Marked,
            (true, false) => Feedback::TrimmedAtLastHop,
        };
        self.selector.on_feedback(now, nack.entropy, feedback);
        if let Some(sent_at) = self.clear_sending(nack.psn, nack.is_retransmission)
            && self.window.takes_rtt_of_nacks()
        {
            self.base_rtt = self.base_rtt.min(now.since(sent_at));
        }
        let is_last_transmission =
            self.records.get(nack.psn).is_some_and(|record| (record.retries > 0) == nack.is_retransmission);
        if !is_last_transmission {
            return;
        }
        if let Some(record) = self.records.lose(nack.psn) {
            let bytes = u64::from(HEADERS) + u64::from(record.payload);
            self.in_flight -= bytes as i64;
            self.window.on_trim(now, bytes, self.in_flight());
        }
    }

    /// Gives up a packet of which nothing is heard.
    fn lose(&mut self, now: Instant, psn: u64) {
        let Some(record) = self.records.lose(psn) else { return };
        let bytes = u64::from(HEADERS) + u64::from(record.payload);
        self.spray_stats.losses += 1;
        self.in_flight -= bytes as i64;
        self.window.on_loss(bytes);
        self.selector.on_feedback(now, record.entropy, Feedback::Lost);
    }

    /// Without trimming: lost is what was sent a base RTT and the target delay before a packet that has arrived. What
    /// queues delay more than that is aimed at is taken for lost as well.
    fn infer_losses(&mut self, now: Instant) {
        let patience = self.base_rtt.saturating_mul(2);
        let newest = self.newest_sent_at;
        let is_late = |record: &Record| record.sent_at.saturating_add(patience) < newest;
        let late: Vec<u64> =
            self.records.outstanding().filter(|(_, record)| is_late(record)).map(|(psn, _)| psn).collect();
        late.into_iter().for_each(|psn| self.lose(now, psn));
    }

    /// A timer may have expired.
    pub fn on_timeout(&mut self, now: Instant) {
        if let Some(value) = self.selector.poll_probe(now).filter(|_| !self.is_done()) {
            self.probe = Some(value);
        }
        if self.timeout.is_none_or(|timeout| timeout > now) {
            return;
        }
        let (rto, max_rto) = ((self.rto, self.config.steady_retries), self.config.max_rto);
        let overdue = |record: &Record| record.overdue_at(rto, max_rto);
        let late: Vec<u64> = self
            .records
            .outstanding()
            .filter(|(_, record)| overdue(record) <= now)
            .map(|(psn, _)| psn)
            .collect();
        self.stats.timeouts += late.len() as u64;
        late.into_iter().for_each(|psn| self.lose(now, psn));
        self.timeout = self.records.outstanding().map(|(_, record)| overdue(record)).min();
    }

    /// When [`SpraySender::on_timeout`] wants to be called.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        let probe = self.selector.next_probe().filter(|_| !self.is_done());
        self.timeout.into_iter().chain(probe).min()
    }

    /// What it has done so far.
    #[must_use]
    pub const fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// What it has done so far that other senders do not.
    #[must_use]
    pub const fn spray_stats(&self) -> &SpraySenderStats {
        &self.spray_stats
    }

    /// The window in bytes, headers included.
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        self.window.bytes()
    }

    /// There is no slow start.
    #[must_use]
    pub const fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    /// Bytes in flight, headers included.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight.max(0) as u64
    }

    /// When it could send first: there is no handshake.
    #[must_use]
    pub const fn established_at(&self) -> Option<Instant> {
        self.opened_at
    }

    /// Bytes of the stream, once the application has closed.
    #[must_use]
    pub fn stream_length(&self) -> Option<u64> {
        self.is_closing.then_some(self.written)
    }

    /// Round-trip times; all zero before the first sample.
    #[must_use]
    pub const fn rtt(&self) -> RttSummary {
        self.rtt
    }

    /// Bytes of a full packet.
    #[must_use]
    pub fn full_packet(&self) -> Bytes {
        Bytes(u64::from(self.config.payload) + u64::from(HEADERS))
    }
}
