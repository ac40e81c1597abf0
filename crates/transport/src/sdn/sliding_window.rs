use super::stream::{Stream, StreamConfig};
use crate::agent::Failure;
use crate::config::SlidingWindowConfig;
use crate::segment::Segment;
use crate::tcp::{RttSummary, SenderStats};
use anabranch_units::Instant;

/// The plain sender of the thesis (Gholizadeh 2019, section 3.3): a window of a fixed number of segments
/// that slides as the oldest is acknowledged, without congestion control. Lost segments are sent again,
/// which the thesis leaves out.
///
/// Call [`SlidingWindowSender::on_segment`] for each arrival and [`SlidingWindowSender::on_timeout`] at or
/// after [`SlidingWindowSender::next_timeout`]; after each input take segments from
/// [`SlidingWindowSender::poll_transmit`] until it gives none.
#[derive(Debug)]
pub struct SlidingWindowSender {
    window_segments: u32,
    stream: Stream,
}

impl SlidingWindowSender {
    /// A sender that has not opened yet. Its window has one segment at least.
    #[must_use]
    pub fn new(config: &SlidingWindowConfig, initial_sequence: u32) -> Self {
        let stream = StreamConfig {
            segment_bytes: config.segment,
            reliable: true,
            needs_permission: false,
            initial_rto: config.initial_rto,
            max_rto: config.max_rto,
            handshake_timeout: config.handshake_timeout,
        };
        Self {
            window_segments: config.window_segments.max(1),
            stream: Stream::new(&stream, initial_sequence),
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

    /// A timer may have expired; does nothing if none has.
    pub fn on_timeout(&mut self, now: Instant) {
        self.stream.on_timeout(now);
    }

    /// When [`SlidingWindowSender::on_timeout`] wants to be called; `None` for never.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.stream.next_timeout()
    }

    /// The next segment to send now.
    #[inline(never)]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let control = self.stream.poll_control(now);
        control.or_else(|| {
            let new_data = self.stream.outstanding_segments() < self.window_segments as usize;
            self.stream.poll_data(now, new_data)
        })
    }

    /// What it has done so far.
    #[must_use]
    pub fn stats(&self) -> &SenderStats {
        self.stream.stats()
    }

    /// The window in bytes of payload.
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        u64::from(self.window_segments) * self.stream.payload()
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

    /// Why it has given up, if it has.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.stream.failure()
    }

    /// Whether every byte and the FIN are acknowledged.
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
