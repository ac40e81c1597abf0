use super::schedule::CycleSchedule;
use super::stream::{Stream, StreamConfig, TimeoutFloor};
use crate::agent::{CycleParameters, Failure};
use crate::config::SdnPacedConfig;
use crate::segment::Segment;
use crate::tcp::{RttSummary, SenderStats};
use anabranch_units::Instant;
use std::collections::VecDeque;

/// The sender of the thesis' congestion control (Gholizadeh 2019, section 4.3.2): each segment leaves in a
/// slot of the cycle that the controller has set.
///
/// Published mode sends everything once. Reliable mode retransmits in the flow's own slots, before new
/// data, so that the controller's schedule for the network holds.
///
/// Call [`PacedSender::on_segment`] and [`PacedSender::on_control`] for each arrival and
/// [`PacedSender::on_timeout`] at or after [`PacedSender::next_timeout`]; after each input take segments
/// from [`PacedSender::poll_transmit`] until it gives none.
#[derive(Debug)]
pub struct PacedSender {
    reliable: bool,
    stream: Stream,
    schedule: CycleSchedule,
    /// Epoch of the newest parameters.
    epoch: Option<u32>,
    confirmations: VecDeque<u32>,
}

impl PacedSender {
    /// A sender that has not opened yet.
    #[must_use]
    pub fn new(config: &SdnPacedConfig, initial_sequence: u32) -> Self {
        let stream = StreamConfig {
            segment_bytes: config.segment,
            reliable: config.reliable,
            needs_permission: true,
            initial_rto: config.initial_rto,
            max_rto: config.max_rto,
            handshake_timeout: config.handshake_timeout,
        };
        Self {
            reliable: config.reliable,
            stream: Stream::new(&stream, initial_sequence),
            schedule: CycleSchedule::default(),
            epoch: None,
            confirmations: VecDeque::new(),
        }
    }

    /// Starts the handshake.
    pub fn open(&mut self) {
        self.stream.open();
    }

    /// The application writes `bytes` more.
    pub fn write(&mut self, bytes: u64) {
        self.stream.write(bytes);
    }

    /// The application has more than will ever be sent.
    pub fn write_without_end(&mut self) {
        self.stream.write_without_end();
    }

    /// The application will write no more; FIN follows the acknowledgment of the last byte.
    pub fn close(&mut self) {
        self.stream.close();
    }

    /// An arriving segment.
    #[inline(never)]
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        self.stream.on_segment(now, segment);
    }

    /// A CTRL arrives: its parameters wait for the next cycle. In reliable mode, where a CTRL may come
    /// twice or late, one that is no newer than the last is confirmed and otherwise ignored.
    pub fn on_control(&mut self, now: Instant, parameters: &CycleParameters) {
        self.turn(now);
        if self.reliable {
            self.confirmations.push_back(parameters.epoch);
            if self.epoch.is_some_and(|epoch| parameters.epoch <= epoch) {
                return;
            }
        }
        self.epoch = Some(parameters.epoch);
        self.schedule.store(now, *parameters);
        self.stream.permit();
    }

    /// The epoch of a CTRL whose arrival the controller is to be told, each once; never in published mode.
    pub fn poll_confirmation(&mut self) -> Option<u32> {
        self.confirmations.pop_front()
    }

    /// A timer may have expired; does nothing if none has.
    pub fn on_timeout(&mut self, now: Instant) {
        self.turn(now);
        self.stream.on_timeout(now);
    }

    /// When [`PacedSender::on_timeout`] wants to be called; `None` for never.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        if self.stream.is_over() {
            return None;
        }
        let slot = self.schedule.current().filter(|_| self.stream.has_data(true)).map(|cycle| cycle.slot());
        [self.stream.next_timeout(), self.schedule.next_cycle(), slot].into_iter().flatten().min()
    }

    /// The next segment to send now.
    #[inline(never)]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        self.turn(now);
        if let Some(segment) = self.stream.poll_control(now) {
            return Some(segment);
        }
        let cycle = self.schedule.current_mut()?;
        cycle.pass_until(now);
        if cycle.slot() > now || !self.stream.has_data(true) {
            return None;
        }
        cycle.take_slot();
        self.stream.poll_data(now, true)
    }

    fn turn(&mut self, now: Instant) {
        if let Some(parameters) = self.schedule.turn(now) {
            self.stream.set_timeout_floor(TimeoutFloor::Interval(parameters.interval));
        }
    }

    /// What it has done so far.
    #[must_use]
    pub fn stats(&self) -> &SenderStats {
        self.stream.stats()
    }

    /// Bytes of payload in each interval of the cycle that runs; zero before the first.
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        let window_segments = self.schedule.current().map_or(0, |cycle| cycle.window_segments());
        u64::from(window_segments) * self.stream.payload()
    }

    /// There is no slow start.
    #[must_use]
    pub fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    /// Bytes sent and neither acknowledged, SACKed nor lost.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.stream.in_flight()
    }

    /// When the handshake completed.
    #[must_use]
    pub fn established_at(&self) -> Option<Instant> {
        self.stream.established_at()
    }

    /// Bytes of the stream, once the application has closed.
    #[must_use]
    pub fn stream_length(&self) -> Option<u64> {
        self.stream.stream_length()
    }

    /// Why it has given up, if it has: without a SYN-ACK or a first CTRL within its time there is nothing
    /// it may send.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.stream.failure()
    }

    /// Whether every byte is acknowledged and the FIN has been sent; in reliable mode, acknowledged.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.stream.is_finished()
    }

    /// Round-trip times of data segments that were sent once; all zero before the first.
    #[must_use]
    pub fn rtt(&self) -> RttSummary {
        self.stream.rtt()
    }

    /// Recounts what is kept incrementally; for tests.
    #[cfg(test)]
    pub(super) fn check(&self) {
        self.stream.check();
    }
}
