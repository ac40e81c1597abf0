//! The sending end of a Multipath TCP connection.

mod addresses;
mod data_timer;
pub(in crate::mptcp) use data_timer::BLOCK;
mod input;
mod log;
mod silence;
mod subflow;
#[cfg(test)]
mod tests;
mod transmit;
mod window;

use super::data_sequence::{DATA_START, DataSequence};
use super::keys;
use super::option::{Dss, MptcpOption};
use super::path_manager::{self, Interfaces, SubflowAddresses};
use super::paths::{Path, Paths};
use super::scheduler::{Scheduler, SubflowScheduler};
use super::signal_bytes;
use crate::agent::Failure;
use crate::config::MptcpConfig;
use crate::log::Decision;
use crate::segment::Segment;
use crate::tcp::{RttSummary, Sender, SenderStats};
use addresses::Ends;
use anabranch_units::{Instant, Span};
use data_timer::DataTimer;
use log::ConnectionLog;
use silence::Repetition;
use std::collections::VecDeque;
use subflow::{Join, Subflow};
pub use subflow::{SubflowState, SubflowSummary};
use window::Persist;

/// A position far behind any stream: what an unlimited source has written.
const UNLIMITED: u64 = u64::MAX / 2;

/// What the first data segment of the first subflow has in its options beyond the others: MP_CAPABLE with both keys
/// and a length takes 24 bytes in place of a DSS (RFC 8684 sections 3.1 and 3.3).
fn first_segment_extra(config: &MptcpConfig) -> u64 {
    24 - u64::from(signal_bytes(config))
}

/// What a connection does beyond its subflows.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct MptcpSenderStats {
    /// Bytes sent again because their subflow timed out, or because no data ACK came in time.
    pub reinjected_bytes: u64,
    /// Segments sent again on another subflow because they kept the receive window full.
    pub opportunistic_retransmissions: u64,
    /// Windows halved because their subflow kept the receive window full.
    pub penalties: u64,
    /// Times that a subflow became suspect.
    pub suspicions: u64,
    /// Time in which no subflow was fit to carry data, until one was again.
    pub stalled: Span,
}

/// The data of the connection, in positions.
#[derive(Debug)]
struct Data {
    /// First byte that is not acknowledged; the DATA_FIN counts as one.
    una: u64,
    /// First byte that no subflow has been given.
    nxt: u64,
    /// Behind the last byte the application has written.
    written: u64,
    /// Behind the last byte that has found room in the send buffer.
    filled: u64,
    closing: bool,
    /// Right edge of the receive window, which all subflows share.
    edge: u64,
    /// The DATA_FIN left with data, so that a subflow sees to it.
    fin_mapped: bool,
    /// The next pure ACK of this subflow carries the DATA_FIN.
    fin_on: Option<u8>,
    /// When the DATA_FIN is to be sent (again) on its own.
    fin_at: Instant,
    fin_repetitions: u32,
}

/// The sending end: several subflows behind what looks like one [`Sender`].
///
/// Inputs are [`MptcpSender::open`], [`MptcpSender::write`], [`MptcpSender::close`],
/// [`MptcpSender::on_segment`] and [`MptcpSender::on_timeout`]. After each input take segments from
/// [`MptcpSender::poll_transmit`] until it gives none: only then does [`MptcpSender::next_timeout`] hold.
#[derive(Debug)]
pub struct MptcpSender {
    config: MptcpConfig,
    seed: u64,
    key: u64,
    peer_key: Option<u64>,
    /// The numbers of the data, and those of the other end, which sends its DATA_FIN only.
    sequence: DataSequence,
    peer_sequence: DataSequence,
    peer_window_scale: u8,
    peer_closed: bool,
    /// A DSS has come: the other end is known to speak MPTCP, and further subflows may join.
    confirmed: bool,
    data: Data,
    persist: Persist,
    data_timer: DataTimer,
    ends: Ends,
    /// Segments of a train that the host sends at once.
    offload: u16,
    subflows: Vec<Subflow>,
    paths: Paths,
    /// When each subflow's timer runs out; [`Instant::MAX`] for never.
    deadlines: Vec<Instant>,
    /// Subflows that may have something of their own to send.
    woken: Vec<u8>,
    /// Suspect subflows whose data are to be sent on others.
    reinjecting: Vec<u8>,
    /// Data that suspect subflows had not sent, for others.
    returned: VecDeque<(u64, u64)>,
    /// Outstanding data that are given to subflows again.
    repetition: Option<Repetition>,
    scheduler: Scheduler,
    /// The position last sent to free a full receive window.
    freed: u64,
    stalled_since: Option<Instant>,
    stats: MptcpSenderStats,
    /// What it decides, if somebody wants to know.
    log: Option<Box<ConnectionLog>>,
}

impl MptcpSender {
    /// A sender that has not opened yet. Keys, nonces and the initial sequence numbers of further subflows come
    /// from `seed`.
    #[must_use]
    pub fn new(config: &MptcpConfig, initial_sequence: u32, seed: u64, interfaces: Interfaces) -> Self {
        let addresses = path_manager::subflows(&config.path_manager, &interfaces);
        let count = addresses.len();
        let subflows = (0..count as u8).zip(addresses).map(|(index, addresses)| {
            let sequence =
                if index == 0 { initial_sequence } else { keys::derive(seed, "sequence", index) as u32 };
            let seed_of = if index == 0 { seed } else { keys::derive(seed, "subflow", index) };
            let mut sender = Sender::for_subflow(config, sequence, seed_of);
            sender.set_short(if index == 0 { first_segment_extra(config) } else { 0 });
            let join = if index == 0 { Join::First } else { Join::Waiting };
            Subflow::new(sender, addresses, join, keys::derive(seed, "nonce", index) as u32)
        });
        let key = keys::derive(seed, "key", 0);
        Self {
            seed,
            key,
            peer_key: None,
            sequence: DataSequence::of(key, config.long_data_sequence),
            peer_sequence: DataSequence::default(),
            peer_window_scale: 0,
            peer_closed: false,
            confirmed: false,
            data: Data {
                una: DATA_START,
                nxt: DATA_START,
                written: DATA_START,
                filled: DATA_START,
                closing: false,
                edge: DATA_START,
                fin_mapped: false,
                fin_on: None,
                fin_at: Instant::ZERO,
                fin_repetitions: 0,
            },
            persist: Persist::default(),
            data_timer: DataTimer::new(config.tcp.min_rto),
            ends: Ends::new(interfaces, config.path_manager.limits()),
            offload: 1,
            subflows: subflows.collect(),
            paths: Paths::new(count),
            deadlines: vec![Instant::MAX; count],
            woken: Vec::with_capacity(count),
            reinjecting: Vec::new(),
            returned: VecDeque::new(),
            repetition: None,
            scheduler: Scheduler::new(&config.scheduler, count),
            freed: 0,
            stalled_since: None,
            stats: MptcpSenderStats::default(),
            log: None,
            config: config.clone(),
        }
    }

    fn open_subflow(&mut self, index: u8) {
        let subflow = &mut self.subflows[usize::from(index)];
        subflow.opened = true;
        subflow.sender.open();
        self.wake(index);
    }

    /// The host sends trains of up to so many segments of a subflow (segmentation offload).
    pub fn set_offload(&mut self, segments: u16) {
        self.offload = segments;
        for subflow in &mut self.subflows {
            subflow.sender.set_offload(segments);
        }
    }

    /// The application writes `bytes` more.
    pub fn write(&mut self, bytes: u64) {
        debug_assert!(!self.data.closing, "no writing after close");
        self.data.written = self.data.written.saturating_add(bytes).min(UNLIMITED);
    }

    /// The application has more than will ever be sent.
    pub fn write_without_end(&mut self) {
        self.data.written = UNLIMITED;
    }

    /// The application will write no more; DATA_FIN follows the last byte. What an unlimited source has not yet
    /// sent is forgotten.
    pub fn close(&mut self) {
        if self.data.written == UNLIMITED {
            self.data.written = self.data.nxt;
        }
        self.data.closing = true;
    }

    /// What all subflows together have done so far.
    #[must_use]
    pub fn stats(&self) -> SenderStats {
        let mut sum = SenderStats::default();
        for stats in self.subflows.iter().map(|subflow| subflow.sender.stats()) {
            sum.segments += stats.segments;
            sum.retransmissions += stats.retransmissions;
            sum.timeouts += stats.timeouts;
            sum.fast_recoveries += stats.fast_recoveries;
            sum.undone_recoveries += stats.undone_recoveries;
            sum.tail_loss_probes += stats.tail_loss_probes;
            sum.ecn_reductions += stats.ecn_reductions;
        }
        sum
    }

    /// What the connection does beyond its subflows.
    #[must_use]
    pub fn multipath_stats(&self) -> &MptcpSenderStats {
        &self.stats
    }

    /// How many subflows there are, opened or not: 1 to 255.
    #[must_use]
    pub fn subflow_count(&self) -> u8 {
        self.subflows.len() as u8
    }

    /// Between which interfaces a subflow runs; the first ones for a subflow that there is not.
    #[must_use]
    pub fn subflow_addresses(&self, index: u8) -> SubflowAddresses {
        self.subflows.get(usize::from(index)).map_or_else(SubflowAddresses::default, |s| s.addresses)
    }

    /// A subflow; none for a number that there is not.
    #[must_use]
    pub fn subflow(&self, index: u8) -> Option<SubflowSummary> {
        self.subflows.get(usize::from(index)).map(Subflow::summary)
    }

    /// Since when no subflow is fit to carry data: each has timed out and had no answer since, and the connection
    /// waits for one to come back.
    #[must_use]
    pub fn stalled_since(&self) -> Option<Instant> {
        self.stalled_since
    }

    /// Sum of the subflows' windows in bytes, as they govern sending now; that of the first before it is
    /// established.
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        let established = self.subflows.iter().filter(|subflow| subflow.has_window());
        let sum: u64 = established.map(|subflow| subflow.sender.cwnd()).sum();
        if sum > 0 { sum } else { self.subflows[0].sender.cwnd() }
    }

    /// Sum of the subflows' thresholds in bytes; `u64::MAX` while one has had no loss.
    #[must_use]
    pub fn ssthresh(&self) -> u64 {
        self.subflows
            .iter()
            .filter(|subflow| subflow.has_window())
            .map(|subflow| subflow.sender.ssthresh())
            .reduce(u64::saturating_add)
            .unwrap_or(u64::MAX)
    }

    /// Bytes in flight on all subflows.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.subflows
            .iter()
            .filter(|subflow| !subflow.removed)
            .map(|subflow| subflow.sender.in_flight())
            .sum()
    }

    /// Data bytes acknowledged.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.data.una.min(self.data.written) - DATA_START
    }

    /// Bytes that subflows were given, sent or not; for tests.
    #[cfg(test)]
    pub(crate) fn assigned(&self) -> u64 {
        self.data.nxt - DATA_START
    }

    /// Which bytes of the stream a data segment of this sender carries: the first one, and the one behind the last.
    #[must_use]
    pub fn stream_range(&self, segment: &Segment) -> Option<(u64, u64)> {
        let first = match segment.mptcp()? {
            // RFC 8684 section 3.1: the first data, right behind the initial number.
            MptcpOption::Capable { .. } => 0,
            MptcpOption::Dss(Dss { mapping: Some(mapping), .. }) => {
                self.sequence.position(mapping.data_seq, self.data.una).checked_sub(DATA_START)?
            }
            _ => return None,
        };
        (segment.payload > 0).then(|| (first, first + u64::from(segment.payload)))
    }

    /// Bytes of the stream, once the application has closed.
    #[must_use]
    pub fn stream_length(&self) -> Option<u64> {
        self.data.closing.then(|| self.data.written - DATA_START)
    }

    /// Why it has given up, if it has: the first subflow's handshake had no answer, or its address went away before
    /// another could join.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        if self.has_lost_its_address() {
            Some(Failure::AddressLost)
        } else if self.established_at().is_some() {
            None
        } else {
            self.subflows[0].sender.failure()
        }
    }

    /// No further subflow may join before the other end has confirmed (RFC 8684 section 3.1), and the first is closed.
    fn has_lost_its_address(&self) -> bool {
        self.subflows[0].removed && !self.confirmed
    }

    /// When the handshake of the first subflow completed.
    #[must_use]
    pub fn established_at(&self) -> Option<Instant> {
        self.subflows[0].sender.established_at()
    }

    /// Whether everything written before the close is acknowledged, the DATA_FIN included.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.data.closing && self.data.una > self.data.written
    }

    /// Round-trip times over all subflows with samples: the smallest minimum, the largest maximum, and of the
    /// others the mean over the subflows; all zero before the first sample.
    #[must_use]
    pub fn rtt(&self) -> RttSummary {
        let all = self.subflows.iter().map(|subflow| subflow.sender.rtt());
        let all: Vec<RttSummary> = all.filter(|rtt| rtt.max > Span::ZERO).collect();
        let mean = |value: fn(&RttSummary) -> Span| {
            let sum: u128 = all.iter().map(|rtt| u128::from(value(rtt).as_ps())).sum();
            Span::from_ps((sum / all.len().max(1) as u128) as u64)
        };
        RttSummary {
            smoothed: mean(|rtt| rtt.smoothed),
            min: all.iter().map(|rtt| rtt.min).min().unwrap_or(Span::ZERO),
            mean: mean(|rtt| rtt.mean),
            max: all.iter().map(|rtt| rtt.max).max().unwrap_or(Span::ZERO),
            latest: mean(|rtt| rtt.latest),
        }
    }

    /// When [`MptcpSender::on_timeout`] wants to be called; none for never.
    #[inline(never)]
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        let mut next = self.deadlines.iter().copied().min().unwrap_or(Instant::MAX);
        if self.awaits_fin() {
            next = next.min(self.data.fin_at);
        }
        next = next.min(self.persist.at).min(self.data_timer.at);
        (next < Instant::MAX).then_some(next)
    }

    /// The DATA_FIN must be sent on its own until it is acknowledged: all data left before the application closed.
    fn awaits_fin(&self) -> bool {
        let data = &self.data;
        data.closing
            && !data.fin_mapped
            && data.nxt == data.written
            && self.unsent() == 0
            && data.una <= data.written
            && self.peer_key.is_some()
    }

    /// Bytes that were given to subflows and that none has sent.
    fn unsent(&self) -> u64 {
        let returned: u64 = self.returned.iter().map(|&(_, bytes)| bytes).sum();
        // What a dead one keeps, and one that was removed, has been given to others.
        let alive = self.subflows.iter().filter(|subflow| subflow.may_carry() && !subflow.suspect);
        returned + alive.map(Subflow::queued).sum::<u64>()
    }

    fn wake(&mut self, index: u8) {
        let subflow = &mut self.subflows[usize::from(index)];
        if !subflow.woken {
            subflow.woken = true;
            self.woken.push(index);
        }
    }

    /// Brings up to date what is kept of a subflow after it has heard or said something.
    fn settle(&mut self, now: Instant, index: u8) {
        let backup = self.is_backup(index);
        if self.subflows[usize::from(index)].removed {
            self.paths.set(index, Path::default(), 0);
            self.deadlines[usize::from(index)] = Instant::MAX;
            return;
        }
        let finished = self.is_finished();
        let compares_losses = self.config.tcp.congestion_control.compares_losses();
        let silence_decides = self.counts_silence();
        let subflow = &mut self.subflows[usize::from(index)];
        subflow.forget_acknowledged();
        let changed = subflow.judge(silence_decides);
        let waits = subflow.timed_out;
        if finished && waits {
            // RFC 8684 section 3.3.3: all data are acknowledged, nothing depends on it any more.
            subflow.sender.abandon(now);
        }
        let tcp = &self.config.tcp;
        let queues = self.scheduler.queues();
        let send_buffer = if tcp.autotuning || queues {
            subflow.tune_send_buffer(now, tcp.mss, tcp.congestion_control.measures_rate())
        } else {
            u64::MAX
        };
        let sender = &subflow.sender;
        let state = subflow.state();
        let first = sender.snd_nxt() == sender.origin() + 1 && index == 0;
        let room = sender.room(now).saturating_sub(if first { first_segment_extra(&self.config) } else { 0 });
        let path = Path {
            srtt: sender.srtt(),
            cwnd: sender.controller_window(),
            in_flight: sender.in_flight(),
            payload: sender.full_payload(),
            room,
            usable: matches!(state, SubflowState::Established | SubflowState::Suspect)
                && !subflow.suspect
                && !finished,
            backup,
            rttvar: sender.rttvar(),
            memory: if queues { subflow.memory() } else { 0 },
            send_buffer,
            pacing_rate: if queues { sender.nominal_rate() } else { 0.0 },
            ..Path::default()
        };
        let loss_interval = if compares_losses { sender.loss_interval() } else { 0 };
        let timer = if state == SubflowState::Failed { None } else { sender.next_timeout() };
        let again = match subflow.join {
            Join::Acknowledged { again_at, .. } if state == SubflowState::Opening => again_at,
            _ => Instant::MAX,
        };
        self.deadlines[usize::from(index)] = timer.unwrap_or(Instant::MAX).min(again);
        self.paths.set(index, path, loss_interval);
        if changed {
            self.on_suspicion(now, index);
        }
        if waits {
            self.note_stall(now);
        }
    }

    /// A subflow became suspect, or fit again.
    fn on_suspicion(&mut self, now: Instant, index: u8) {
        let suspect = self.subflows[usize::from(index)].suspect;
        self.record(now, index, if suspect { Decision::Suspected } else { Decision::Answered });
        if suspect {
            self.stats.suspicions += 1;
            self.give_back(now, index);
        } else {
            self.reinjecting.retain(|&other| other != index);
        }
    }

    /// What a subflow has and has not delivered is for others.
    fn give_back(&mut self, now: Instant, index: u8) {
        if self.counts_silence() && self.subflows[usize::from(index)].suspect {
            self.repeat_everything(index);
            self.note_stall(now);
            return;
        }
        self.reinjecting.retain(|&other| other != index);
        self.reinjecting.push(index);
        while let Some(range) = self.subflows[usize::from(index)].dequeue(u64::MAX) {
            // Elsewhere queues hold only what is sent again, which the timer of the connection sees to.
            if self.scheduler.queues() {
                self.returned.push_back(range);
            }
        }
        self.note_stall(now);
    }

    /// The connection may have no subflow that has not timed out, or none at all.
    fn note_stall(&mut self, now: Instant) {
        let ends = self.is_finished() || self.has_lost_its_address();
        if self.stalled_since.is_none() && !self.has_fit_subflow() && !ends {
            self.stalled_since = Some(now);
        }
    }

    /// Whether a subflow is established and does not wait for an answer after a timeout.
    fn has_fit_subflow(&self) -> bool {
        self.subflows.iter().any(|subflow| subflow.state() == SubflowState::Established)
    }
}
