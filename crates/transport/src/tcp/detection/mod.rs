//! Loss detection: which segments of the scoreboard are lost, and when to look again.
//!
//! A detector sees the scoreboard after each ACK and marks segments on it. It does not touch
//! windows: that is congestion control's business. Dispatch is an enum, one line per detector.

mod dupack;
mod fastrto;
mod rack;

pub(crate) use dupack::Dupack;
pub(crate) use fastrto::{FastRto, FastRtoParameters, Handshake};
pub(crate) use rack::Rack;

use super::scoreboard::Scoreboard;
use crate::config::LossDetectionConfig;
use anabranch_units::{Instant, Span};

/// What one ACK said, as far as loss detection needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckFacts {
    /// Arrival.
    pub(crate) now: Instant,
    /// snd_una after it.
    pub(crate) snd_una: u64,
    /// snd_nxt.
    pub(crate) snd_nxt: u64,
    /// The ACK carried a DSACK block (RFC 2883).
    pub(crate) dsack: bool,
    /// The sender is in recovery of either kind.
    pub(crate) in_recovery: bool,
    /// Smoothed RTT.
    pub(crate) srtt: Span,
    /// Smallest RTT.
    pub(crate) min_rtt: Span,
    /// Round trip by the timestamp echo, if the ACK advanced snd_una (RFC 7323 section 4).
    pub(crate) echo_rtt: Option<Span>,
    /// ACKs to expect in a round trip (RFC 7323 appendix G, ExpectedSamples); at least 1.
    pub(crate) expected_samples: u64,
}

/// A newly delivered segment: cumulatively acknowledged or SACKed for the first time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveredSegment {
    /// First position.
    pub(crate) start: u64,
    /// Position behind the last.
    pub(crate) end: u64,
    /// Last transmission.
    pub(crate) sent_at: Instant,
    /// Its place among all transmissions.
    pub(crate) order: u64,
    /// It was sent more than once.
    pub(crate) retransmitted: bool,
    /// The ACK's timestamp echo shows that it answers an earlier transmission than the last one.
    pub(crate) echoes_earlier: bool,
    /// By SACK rather than cumulatively.
    pub(crate) by_sack: bool,
}

/// The detectors.
#[derive(Debug)]
pub(crate) enum Detector {
    Dupack(Dupack),
    Rack(Rack),
    FastRto(FastRto),
}

impl Detector {
    pub(crate) fn new(config: &LossDetectionConfig) -> Self {
        match *config {
            LossDetectionConfig::Dupack { threshold } => Self::Dupack(Dupack::new(threshold)),
            LossDetectionConfig::Rack { tail_loss_probe } => Self::Rack(Rack::new(tail_loss_probe)),
            LossDetectionConfig::Fastrto { gamma, k, srtt_gain, rttvar_gain, fastrto_max } => {
                let parameters = FastRtoParameters { gamma, k, srtt_gain, rttvar_gain, fastrto_max };
                Self::FastRto(FastRto::new(parameters))
            }
        }
    }

    /// The handshake is done.
    pub(crate) fn on_established(&mut self, handshake: &Handshake) {
        if let Self::FastRto(fastrto) = self {
            fastrto.on_established(handshake);
        }
    }

    /// Whether a timer of the detector's own runs for each segment in flight, so that the sender needs none.
    #[inline]
    pub(crate) fn times_segments(&self) -> bool {
        matches!(self, Self::FastRto(fastrto) if fastrto.times_segments())
    }

    /// Sees each transmission of data.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant) {
        if let Self::FastRto(fastrto) = self {
            fastrto.on_sent(now);
        }
    }

    /// Sees each newly delivered segment of an ACK, before [`Detector::on_ack`].
    #[inline]
    pub(crate) fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment, min_rtt: Span) {
        match self {
            Self::Dupack(dupack) => dupack.on_delivered(segment),
            Self::Rack(rack) => rack.on_delivered(now, segment, min_rtt),
            Self::FastRto(fastrto) => fastrto.on_delivered(now, segment, min_rtt),
        }
    }

    /// Sees each segment that was SACKed before and is now cumulatively acknowledged.
    pub(crate) fn on_sacked_acknowledged(&mut self, start: u64) {
        if let Self::Dupack(dupack) = self {
            dupack.on_sacked_acknowledged(start);
        }
    }

    /// Sees a duplicate ACK that carries no SACK blocks, on a connection without SACK.
    pub(crate) fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
        match self {
            Self::Dupack(dupack) => dupack.on_duplicate_without_sack(board),
            Self::Rack(_) => {}
            Self::FastRto(fastrto) => fastrto.on_duplicate_without_sack(board),
        }
    }

    /// Marks what the ACK shows to be lost.
    #[inline]
    pub(crate) fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        match self {
            Self::Dupack(dupack) => dupack.on_ack(board, facts),
            Self::Rack(rack) => rack.on_ack(board, facts),
            Self::FastRto(fastrto) => fastrto.on_ack(board, facts),
        }
    }

    /// When to look again although no ACK came; `None` for never.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::Dupack(_) => None,
            Self::Rack(rack) => rack.next_timeout(),
            Self::FastRto(fastrto) => fastrto.next_timeout(),
        }
    }

    /// Looks again; marks what is lost by now.
    pub(crate) fn on_timeout(&mut self, board: &mut Scoreboard, now: Instant) {
        match self {
            Self::Dupack(_) => {}
            Self::Rack(rack) => rack.detect(board, now),
            Self::FastRto(fastrto) => fastrto.on_timeout(board, now),
        }
    }

    /// The retransmission timer expired and everything was marked lost.
    pub(crate) fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
        match self {
            Self::Dupack(dupack) => dupack.on_retransmission_timeout(snd_nxt),
            Self::Rack(rack) => rack.on_retransmission_timeout(),
            // Its timer is the retransmission timer.
            Self::FastRto(_) => {}
        }
    }

    /// A recovery ended.
    pub(crate) fn on_recovered(&mut self) {
        if let Self::Rack(rack) = self {
            rack.on_recovered();
        }
    }

    /// An episode was taken back as spurious.
    pub(crate) fn on_spurious(&mut self) {
        if let Self::Rack(rack) = self {
            rack.on_spurious();
        }
    }

    /// Whether the sender should arm a tail loss probe (RFC 8985 section 7).
    #[inline]
    pub(crate) fn probes_tail(&self) -> bool {
        match self {
            Self::Dupack(_) | Self::FastRto(_) => false,
            Self::Rack(rack) => rack.probes_tail(),
        }
    }
}
