//! Loss detection: which segments of the scoreboard are lost, and when to look again.
//!
//! A detector sees the scoreboard after each ACK and marks segments on it. It does not touch
//! windows: that is congestion control's business. Dispatch is an enum, one line per detector.

mod dupack;
mod fastrto;
mod rack;
mod rr_tcp;
mod tcp_ncr;
mod tcp_pr;
#[cfg(test)]
mod testing;

pub(crate) use dupack::Dupack;
pub(crate) use fastrto::{FastRto, FastRtoParameters, Handshake};
pub(crate) use rack::Rack;
pub(crate) use rr_tcp::RrTcp;
pub(crate) use tcp_ncr::TcpNcr;
pub(crate) use tcp_pr::TcpPr;

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

/// What leaves, as far as loss detection needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransmissionFacts {
    /// When.
    pub(crate) now: Instant,
    /// Its place among all transmissions.
    pub(crate) order: u64,
    /// Payload bytes of new data; 0 for a retransmission.
    pub(crate) new_bytes: u64,
    /// The controller's window in bytes.
    pub(crate) cwnd: u64,
    /// Payload of a full segment in bytes.
    pub(crate) full_payload: u64,
    /// Longest time that the receiver holds an ACK back.
    pub(crate) ack_delay: Span,
}

/// How new losses are to be answered, where a detector prescribes more than one reduction for a recovery.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Verdict {
    /// The controller's window in bytes when what is lost was sent.
    pub(crate) window_at_sending: Option<u64>,
    /// They answer to a reduction of their own, also during a recovery.
    pub(crate) again: bool,
    /// So much is lost that the window falls to one segment.
    pub(crate) collapse: bool,
}

/// The detectors.
#[derive(Debug)]
pub(crate) enum Detector {
    Dupack(Dupack),
    Rack(Rack),
    FastRto(FastRto),
    TcpPr(Box<TcpPr>),
    RrTcp(Box<RrTcp>),
    TcpNcr(TcpNcr),
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
            LossDetectionConfig::TcpPr { ewrtt_alpha, mxrtt_beta } => {
                Self::TcpPr(Box::new(TcpPr::new(ewrtt_alpha, mxrtt_beta)))
            }
            LossDetectionConfig::RrTcp { fa_ratio, fa_step, timeout_cost } => {
                Self::RrTcp(Box::new(RrTcp::new(fa_ratio, fa_step, timeout_cost)))
            }
            LossDetectionConfig::TcpNcr { limited_transmit } => Self::TcpNcr(TcpNcr::new(limited_transmit)),
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

    /// Sees each newly delivered segment of an ACK, before [`Detector::on_ack`].
    #[inline]
    pub(crate) fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment, min_rtt: Span) {
        match self {
            Self::Dupack(dupack) => dupack.on_delivered(segment),
            Self::Rack(rack) => rack.on_delivered(now, segment, min_rtt),
            Self::FastRto(fastrto) => fastrto.on_delivered(now, segment, min_rtt),
            Self::TcpPr(tcp_pr) => tcp_pr.on_delivered(now, segment),
            Self::RrTcp(rr_tcp) => rr_tcp.on_delivered(segment),
            Self::TcpNcr(tcp_ncr) => tcp_ncr.on_delivered(segment),
        }
    }

    /// Sees each segment that was SACKed before and is now cumulatively acknowledged.
    pub(crate) fn on_sacked_acknowledged(&mut self, start: u64) {
        match self {
            Self::Dupack(dupack) => dupack.on_sacked_acknowledged(start),
            Self::RrTcp(rr_tcp) => rr_tcp.on_sacked_acknowledged(start),
            Self::TcpNcr(tcp_ncr) => tcp_ncr.on_sacked_acknowledged(start),
            Self::Rack(_) | Self::TcpPr(_) | Self::FastRto(_) => {}
        }
    }

    /// Sees a duplicate ACK that carries no SACK blocks, on a connection without SACK.
    pub(crate) fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
        match self {
            Self::Dupack(dupack) => dupack.on_duplicate_without_sack(board),
            Self::RrTcp(rr_tcp) => rr_tcp.on_duplicate_without_sack(board),
            Self::TcpNcr(tcp_ncr) => tcp_ncr.on_duplicate_without_sack(board),
            Self::FastRto(fastrto) => fastrto.on_duplicate_without_sack(board),
            Self::Rack(_) | Self::TcpPr(_) => {}
        }
    }

    /// Marks what the ACK shows to be lost.
    #[inline]
    pub(crate) fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        match self {
            Self::Dupack(dupack) => dupack.on_ack(board, facts),
            Self::Rack(rack) => rack.on_ack(board, facts),
            Self::FastRto(fastrto) => fastrto.on_ack(board, facts),
            Self::TcpPr(tcp_pr) => tcp_pr.on_ack(board, facts.now),
            Self::RrTcp(rr_tcp) => rr_tcp.on_ack(board, facts),
            Self::TcpNcr(tcp_ncr) => tcp_ncr.on_ack(board, facts),
        }
    }

    /// When to look again although no ACK came; `None` for never.
    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::Dupack(_) | Self::RrTcp(_) | Self::TcpNcr(_) => None,
            Self::Rack(rack) => rack.next_timeout(),
            Self::FastRto(fastrto) => fastrto.next_timeout(),
            Self::TcpPr(tcp_pr) => tcp_pr.next_timeout(),
        }
    }

    /// Looks again; marks what is lost by now.
    pub(crate) fn on_timeout(&mut self, board: &mut Scoreboard, now: Instant) {
        match self {
            Self::Rack(rack) => rack.detect(board, now),
            Self::TcpPr(tcp_pr) => tcp_pr.detect(board, now),
            Self::FastRto(fastrto) => fastrto.on_timeout(board, now),
            Self::Dupack(_) | Self::RrTcp(_) | Self::TcpNcr(_) => {}
        }
    }

    /// The retransmission timer expired and everything was marked lost.
    pub(crate) fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
        match self {
            Self::Dupack(dupack) => dupack.on_retransmission_timeout(snd_nxt),
            Self::Rack(rack) => rack.on_retransmission_timeout(),
            // Its timer is the retransmission timer.
            Self::FastRto(_) => {}
            Self::TcpPr(_) => {}
            Self::RrTcp(rr_tcp) => rr_tcp.on_retransmission_timeout(snd_nxt),
            Self::TcpNcr(tcp_ncr) => tcp_ncr.on_retransmission_timeout(snd_nxt),
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
        match self {
            Self::Rack(rack) => rack.on_spurious(),
            Self::RrTcp(rr_tcp) => rr_tcp.on_spurious(),
            Self::Dupack(_) | Self::TcpPr(_) | Self::TcpNcr(_) | Self::FastRto(_) => {}
        }
    }

    /// Sees each transmission of data, right after the scoreboard.
    #[inline]
    pub(crate) fn on_sent(&mut self, facts: &TransmissionFacts) {
        match self {
            Self::TcpPr(tcp_pr) => tcp_pr.on_sent(facts),
            Self::RrTcp(rr_tcp) => rr_tcp.on_sent(facts),
            Self::TcpNcr(tcp_ncr) => tcp_ncr.on_sent(facts),
            Self::FastRto(fastrto) => fastrto.on_sent(facts.now),
            Self::Dupack(_) | Self::Rack(_) => {}
        }
    }

    /// Sees the end of each DSACK block.
    pub(crate) fn on_dsack(&mut self, end: u64) {
        if let Self::RrTcp(rr_tcp) = self {
            rr_tcp.on_dsack(end);
        }
    }

    /// The window stands at `cwnd` again after a spurious episode, with `pipe` bytes in flight.
    pub(crate) fn on_restored(&mut self, cwnd: u64, pipe: u64) {
        if let Self::RrTcp(rr_tcp) = self {
            rr_tcp.on_restored(cwnd, pipe);
        }
    }

    /// Bytes of a window of `cwnd` bytes that new data must leave unused outside recovery, with
    /// `outstanding` bytes between snd_una and snd_nxt.
    #[inline]
    pub(crate) fn withheld(&self, cwnd: u64, outstanding: u64) -> u64 {
        match self {
            Self::RrTcp(rr_tcp) => rr_tcp.withheld(cwnd, outstanding),
            Self::TcpNcr(tcp_ncr) => tcp_ncr.withheld(),
            Self::Dupack(_) | Self::Rack(_) | Self::TcpPr(_) | Self::FastRto(_) => 0,
        }
    }

    /// Whether the window must not grow on an ACK that leaves snd_una where it was. After a timeout it must not where
    /// the timeout has marked all that was out (RFC 5681 section 3.1: the slow start goes by ACKs of new data). To
    /// detections that stand reordering what is below the newest arrivals may be late, and they go on sending.
    #[inline]
    pub(crate) fn holds_growth(&self, after_timeout: bool) -> bool {
        match self {
            Self::Dupack(_) | Self::Rack(_) => after_timeout,
            Self::TcpNcr(tcp_ncr) => tcp_ncr.is_extended(),
            Self::FastRto(_) | Self::TcpPr(_) | Self::RrTcp(_) => false,
        }
    }

    /// How the losses found since the last call are to be answered.
    #[inline]
    pub(crate) fn take_verdict(&mut self) -> Verdict {
        if let Self::TcpPr(tcp_pr) = self { tcp_pr.take_verdict() } else { Verdict::default() }
    }

    /// Whether it times every segment itself, so that the retransmission timer of RFC 6298 must not run.
    #[inline]
    pub(crate) fn replaces_retransmission_timer(&self) -> bool {
        matches!(self, Self::TcpPr(_))
    }

    /// Whether the sender should arm a tail loss probe (RFC 8985 section 7).
    #[inline]
    pub(crate) fn probes_tail(&self) -> bool {
        match self {
            Self::Rack(rack) => rack.probes_tail(),
            Self::Dupack(_) | Self::TcpPr(_) | Self::RrTcp(_) | Self::TcpNcr(_) | Self::FastRto(_) => false,
        }
    }
}
