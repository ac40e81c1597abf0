//! What a congestion control in Python sees: the facts of `anabranch_transport::congestion`, times in seconds.

use anabranch_engine::transport::congestion as facts;
use anabranch_units::{Instant, Span};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// A span that may be endless.
fn span_s(span: Span) -> f64 {
    if span == Span::MAX { f64::INFINITY } else { span.as_secs_f64() }
}

fn rate_bps(bytes: u64, interval: Span) -> Option<f64> {
    (interval > Span::ZERO).then(|| bytes as f64 * 8.0 / interval.as_secs_f64())
}

/// What one arriving ACK said. The next call has the same object with other values.
#[derive(Debug)]
#[pyclass(module = "anabranch._core")]
pub struct Ack(pub(super) facts::Ack);

#[pymethods]
impl Ack {
    /// Arrival time.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// Bytes by which the cumulative acknowledgment advanced.
    #[getter]
    const fn acked_bytes(&self) -> u64 {
        self.0.acked
    }

    /// Bytes newly delivered: cumulatively acknowledged or selectively, each counted once.
    #[getter]
    const fn delivered_bytes(&self) -> u64 {
        self.0.delivered
    }

    /// Bytes newly marked lost.
    #[getter]
    const fn lost_bytes(&self) -> u64 {
        self.0.lost
    }

    /// Bytes in flight before this ACK.
    #[getter]
    const fn in_flight_before_bytes(&self) -> u64 {
        self.0.in_flight_before
    }

    /// Bytes in flight after this ACK, losses deducted.
    #[getter]
    const fn in_flight_bytes(&self) -> u64 {
        self.0.in_flight
    }

    /// Round-trip sample; None if the ACK gives none.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.0.rtt.map(Span::as_secs_f64)
    }

    /// Smoothed RTT; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        self.0.srtt.as_secs_f64()
    }

    /// Smallest RTT of the connection; infinite before the first sample.
    #[getter]
    fn min_rtt_s(&self) -> f64 {
        span_s(self.0.min_rtt)
    }

    /// Position in the stream of the next byte to be acknowledged.
    #[getter]
    const fn snd_una(&self) -> u64 {
        self.0.snd_una
    }

    /// Position in the stream of the next new byte to be sent. An ACK whose `snd_una` has reached the `snd_nxt` of an
    /// earlier one ends the round that began there.
    #[getter]
    const fn snd_nxt(&self) -> u64 {
        self.0.snd_nxt
    }

    /// Whether the window has held the sender back since the last ACK; a window that is not used must not grow.
    #[getter]
    const fn cwnd_limited(&self) -> bool {
        self.0.cwnd_limited
    }

    /// "open", "fast" in fast recovery, "loss" after a retransmission timeout.
    #[getter]
    fn recovery<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        recovery(py, self.0.recovery)
    }

    /// Delivery rate sample; None if there is none, or the class does not set `measures_rate`.
    #[getter]
    fn rate_bps(&self) -> Option<f64> {
        self.0.rate.and_then(|rate| rate_bps(rate.delivered, rate.interval))
    }

    /// Whether the application, not the network, was the limit of the rate sample.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.rate.is_some_and(|rate| rate.app_limited)
    }

    /// Bytes delivered in all when the newest acknowledged segment was sent; None without a rate sample.
    #[getter]
    fn prior_delivered_bytes(&self) -> Option<u64> {
        self.0.rate.map(|rate| rate.prior_delivered)
    }

    /// Bytes delivered in all; None without a rate sample.
    #[getter]
    fn total_delivered_bytes(&self) -> Option<u64> {
        self.0.rate.map(|rate| rate.total_delivered)
    }
}

pub(super) const fn name_of(recovery: facts::Recovery) -> &'static str {
    match recovery {
        facts::Recovery::Open => "open",
        facts::Recovery::Fast => "fast",
        facts::Recovery::Loss => "loss",
    }
}

/// The same, made once: every ACK may ask for it.
fn recovery(py: Python<'_>, kind: facts::Recovery) -> Bound<'_, PyString> {
    let name = match kind {
        facts::Recovery::Open => intern!(py, "open"),
        facts::Recovery::Fast => intern!(py, "fast"),
        facts::Recovery::Loss => intern!(py, "loss"),
    };
    name.clone()
}

/// What the ACKs of an interval said together. The next call has the same object with other values.
#[derive(Debug)]
#[pyclass(module = "anabranch._core")]
pub struct Report {
    now: Instant,
    since: Instant,
    acked: u64,
    delivered: u64,
    lost: u64,
    in_flight: u64,
    least_rtt: Option<Span>,
    largest_rtt: Option<Span>,
    srtt: Span,
    min_rtt: Span,
    best_rate_bps: Option<f64>,
    cwnd_limited: bool,
    recovery: facts::Recovery,
}

impl Report {
    /// A report of no ACK so far.
    pub(super) const fn new(since: Instant) -> Self {
        Self {
            now: since,
            since,
            acked: 0,
            delivered: 0,
            lost: 0,
            in_flight: 0,
            least_rtt: None,
            largest_rtt: None,
            srtt: Span::ZERO,
            min_rtt: Span::MAX,
            best_rate_bps: None,
            cwnd_limited: false,
            recovery: facts::Recovery::Open,
        }
    }

    /// Adds an ACK.
    pub(super) fn add(&mut self, ack: &facts::Ack) {
        self.acked += ack.acked;
        self.delivered += ack.delivered;
        self.lost += ack.lost;
        self.cwnd_limited |= ack.cwnd_limited;
        (self.now, self.in_flight, self.recovery) = (ack.now, ack.in_flight, ack.recovery);
        (self.srtt, self.min_rtt) = (ack.srtt, ack.min_rtt);
        if let Some(rtt) = ack.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            self.largest_rtt = self.largest_rtt.max(Some(rtt));
        }
        if let Some(rate) = ack.rate.and_then(|rate| rate_bps(rate.delivered, rate.interval)) {
            self.best_rate_bps = Some(self.best_rate_bps.map_or(rate, |best| best.max(rate)));
        }
    }
}

#[pymethods]
impl Report {
    /// Arrival time of the last ACK.
    #[getter]
    fn now_s(&self) -> f64 {
        self.now.as_secs_f64()
    }

    /// Time since the last report.
    #[getter]
    fn interval_s(&self) -> f64 {
        self.now.since(self.since).as_secs_f64()
    }

    /// Bytes by which the cumulative acknowledgment advanced.
    #[getter]
    const fn acked_bytes(&self) -> u64 {
        self.acked
    }

    /// Bytes newly delivered.
    #[getter]
    const fn delivered_bytes(&self) -> u64 {
        self.delivered
    }

    /// Bytes newly marked lost.
    #[getter]
    const fn lost_bytes(&self) -> u64 {
        self.lost
    }

    /// Bytes in flight after the last ACK.
    #[getter]
    const fn in_flight_bytes(&self) -> u64 {
        self.in_flight
    }

    /// Smallest RTT of the interval; None without a sample.
    #[getter]
    fn least_rtt_s(&self) -> Option<f64> {
        self.least_rtt.map(Span::as_secs_f64)
    }

    /// Largest RTT of the interval; None without a sample.
    #[getter]
    fn largest_rtt_s(&self) -> Option<f64> {
        self.largest_rtt.map(Span::as_secs_f64)
    }

    /// Smoothed RTT; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        self.srtt.as_secs_f64()
    }

    /// Smallest RTT of the connection; infinite before the first sample.
    #[getter]
    fn min_rtt_s(&self) -> f64 {
        span_s(self.min_rtt)
    }

    /// Largest delivery rate sample of the interval; None without one, or if the class does not set `measures_rate`.
    #[getter]
    const fn best_rate_bps(&self) -> Option<f64> {
        self.best_rate_bps
    }

    /// Whether the window has held the sender back in the interval.
    #[getter]
    const fn cwnd_limited(&self) -> bool {
        self.cwnd_limited
    }

    /// "open", "fast" in fast recovery, "loss" after a retransmission timeout, at the last ACK.
    #[getter]
    fn recovery<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        recovery(py, self.recovery)
    }
}

/// The start of a loss episode, or of one of ECN marks.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct LossEpisode {
    /// When it was noticed.
    now_s: f64,
    /// Bytes in flight before the losses are deducted (RFC 5681 "FlightSize"); the window where that was the limit.
    flight_size_bytes: u64,
    /// Bytes in flight after the losses are deducted.
    in_flight_bytes: u64,
    /// Next new byte to be sent: recovery ends when it is acknowledged.
    snd_nxt: u64,
}

impl From<&facts::LossEpisode> for LossEpisode {
    fn from(episode: &facts::LossEpisode) -> Self {
        Self {
            now_s: episode.now.as_secs_f64(),
            flight_size_bytes: episode.flight_size,
            in_flight_bytes: episode.in_flight,
            snd_nxt: episode.snd_nxt,
        }
    }
}

/// A segment that was judged lost.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct LostSegment {
    /// When it was judged.
    now_s: f64,
    /// Its first position in the stream.
    start: u64,
    /// Its size.
    bytes: u64,
    /// Bytes in flight after it was sent, its own among them.
    in_flight_at_send_bytes: u64,
    /// Bytes judged lost since it was sent, its own among them.
    lost_since_bytes: u64,
    /// Bytes delivered in all.
    total_delivered_bytes: u64,
}

impl From<&facts::LostSegment> for LostSegment {
    fn from(lost: &facts::LostSegment) -> Self {
        Self {
            now_s: lost.now.as_secs_f64(),
            start: lost.start,
            bytes: lost.bytes,
            in_flight_at_send_bytes: lost.tx_in_flight,
            lost_since_bytes: lost.lost,
            total_delivered_bytes: lost.delivered,
        }
    }
}

/// What one arriving ACK said of marks.
#[pyclass(frozen, get_all, module = "anabranch._core")]
pub struct EcnFeedback {
    /// Bytes by which the cumulative acknowledgment advanced.
    acked_bytes: u64,
    /// Whether the ACK echoes a mark.
    marked: bool,
    /// Position in the stream of the next byte to be acknowledged.
    snd_una: u64,
    /// Position in the stream of the next new byte to be sent.
    snd_nxt: u64,
}

impl From<&facts::EcnFeedback> for EcnFeedback {
    fn from(feedback: &facts::EcnFeedback) -> Self {
        Self {
            acked_bytes: feedback.acked,
            marked: feedback.echo,
            snd_una: feedback.snd_una,
            snd_nxt: feedback.snd_nxt,
        }
    }
}
