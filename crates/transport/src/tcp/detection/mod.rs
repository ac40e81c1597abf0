//! Loss detection: which segments of the scoreboard are lost, and when to look again.
//!
//! A detector sees the scoreboard after each ACK and marks segments on it. It does not touch
//! windows: that is congestion control's business.
//!
//! The registry is the call of `detectors!` below: a name, and the type that has its parameters and its code.
//! Dispatch is an enum, because every ACK passes through it.

mod dupack;
mod fastrto;
mod linux_rack;
mod rack;
mod rr_tcp;
mod tcp_ncr;
mod tcp_pr;
#[cfg(test)]
mod testing;

pub use dupack::DupackParameters;
pub use fastrto::FastRtoParameters;
pub use linux_rack::LinuxRackParameters;
pub use rack::RackParameters;
pub use rr_tcp::RrTcpParameters;
pub use tcp_ncr::{LimitedTransmit, TcpNcrParameters};
pub use tcp_pr::TcpPrParameters;

use super::scoreboard::Scoreboard;
use anabranch_units::declaration::Parameters;
use anabranch_units::{Instant, Span};
use dupack::Dupack;
use fastrto::FastRto;
use linux_rack::LinuxRack;
use rack::Rack;
use rr_tcp::RrTcp;
use tcp_ncr::TcpNcr;
use tcp_pr::TcpPr;

/// What the handshake settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handshake {
    /// Round trip of the SYN, unless it was repeated.
    pub(crate) rtt: Option<Span>,
    /// SACK was agreed on.
    pub(crate) sack: bool,
    /// Longest time the peer holds an ACK back; zero where it acknowledges each segment.
    pub(crate) ack_delay: Span,
    /// RFC 6298 timeout before the first sample, the smallest and the largest one.
    pub(crate) initial_rto: Span,
    pub(crate) min_rto: Span,
    pub(crate) max_rto: Span,
    /// Tick of the sender's timers; zero: they are exact.
    pub(crate) timer_tick: Span,
}

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
    /// An original came, although it had been sent again, and the recovery goes on; other retransmissions are under way.
    pub(crate) late_original: bool,
    /// What the connection had delivered when the newest segment delivered by this ACK left; `None` if there is none.
    pub(crate) newest_delivered_before: Option<u64>,
    /// Bytes delivered so far.
    pub(crate) delivered: u64,
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
    /// The ACK's timestamp echo shows that it answers an earlier transmission than the last one. Never where the segment
    /// left once, or was SACKed: then the echo is that of another segment.
    pub(crate) echoes_earlier: bool,
    /// By SACK rather than cumulatively.
    pub(crate) by_sack: bool,
}

impl DeliveredSegment {
    /// Whether the ACK answers an earlier transmission than the last one: its echo says so, or it comes sooner behind a
    /// retransmission than any round trip (RFC 8985 section 6.2 step 2).
    #[inline]
    pub(crate) fn answers_earlier(&self, now: Instant, min_rtt: Span) -> bool {
        let too_soon = min_rtt != Span::MAX && now.since(self.sent_at) < min_rtt;
        self.retransmitted && (self.echoes_earlier || too_soon)
    }
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
}

/// What is in flight when a tail loss probe is put off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    /// Smoothed RTT.
    pub(crate) srtt: Span,
    /// A single segment.
    pub(crate) single: bool,
    /// The FIN is among it.
    pub(crate) ends_stream: bool,
}

/// How far segments that left once have come behind later ones.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Reordering {
    /// From the start of the one that was latest to the end of the highest that had come, in bytes.
    pub(crate) bytes: u64,
    /// ACKs that told of any.
    pub(crate) times: u64,
}

/// How new losses are to be answered, where a detector prescribes more than one reduction for a recovery.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct LossResponse {
    /// The controller's window in bytes when what is lost was sent.
    pub(crate) window_at_sending: Option<u64>,
    /// They answer to a reduction of their own, also during a recovery.
    pub(crate) again: bool,
    /// So much is lost that the window falls to one segment.
    pub(crate) collapse: bool,
}

/// A loss detection that a scenario can name.
pub trait ConfiguredDetection {
    /// What it lets a user choose.
    type Parameters: Parameters;
    /// Whether it works by SACK, and does not without (RFC 4653 section 3, RR-TCP's DSACK, TCP-PR's
    /// acknowledgment of each segment).
    const NEEDS_SACK: bool = false;

    /// The detector at the start of a connection; the parameters are within their bounds.
    fn configured(parameters: &Self::Parameters) -> Self;

    /// Least margin of the retransmission timeout above SRTT: the clock granularity G of RFC 6298 (2.3), but no more than
    /// the smallest timeout, which would mean nothing.
    fn rto_margin(min_rto: Span, granularity: Span) -> Span {
        granularity.min(min_rto)
    }
}

impl<D: ConfiguredDetection> ConfiguredDetection for Box<D> {
    type Parameters = D::Parameters;
    const NEEDS_SACK: bool = D::NEEDS_SACK;

    fn configured(parameters: &D::Parameters) -> Self {
        Self::new(D::configured(parameters))
    }

    fn rto_margin(min_rto: Span, granularity: Span) -> Span {
        D::rto_margin(min_rto, granularity)
    }
}

/// A loss detection that looks at what is sent.
pub(crate) trait WatchesTransmissions {
    /// Sees a transmission of data, right after the scoreboard.
    fn on_sent(&mut self, facts: &TransmissionFacts);
}

/// A loss detection at work. What an algorithm has no use for, it leaves out.
pub(crate) trait LossDetection {
    /// The handshake is done.
    fn on_established(&mut self, _handshake: &Handshake) {}

    /// Whether a timer of its own runs for each segment in flight, so that the sender needs none.
    fn times_segments(&self) -> bool {
        false
    }

    /// Sees each newly delivered segment of an ACK, before [`LossDetection::on_ack`].
    fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment, min_rtt: Span);

    /// Sees each segment that was SACKed before and is now cumulatively acknowledged.
    fn on_sacked_acknowledged(&mut self, _start: u64) {}

    /// Sees a duplicate ACK that carries no SACK blocks, on a connection without SACK.
    fn on_duplicate_without_sack(&mut self, _board: &mut Scoreboard) {}

    /// Marks what the ACK shows to be lost.
    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts);

    /// When to look again although no ACK came; `None` for never.
    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    /// Looks again; marks what is lost by now.
    fn on_timeout(&mut self, _board: &mut Scoreboard, _now: Instant) {}

    /// The retransmission timer expired and everything was marked lost.
    fn on_retransmission_timeout(&mut self, _snd_nxt: u64) {}

    /// A recovery ended.
    fn on_recovered(&mut self) {}

    /// An episode was taken back as spurious.
    fn on_spurious(&mut self) {}

    /// In a recovery, the original of a segment came that had been sent again; the segment begins at `start`.
    fn on_late_original(&mut self, _start: u64) {}

    /// How far originals have come behind later ones, where it is measured.
    fn reordering(&self) -> Reordering {
        Reordering::default()
    }

    /// Whether the ACK of such an original repairs no losses while retransmissions are under way.
    fn heeds_late_originals(&self) -> bool {
        false
    }

    /// Whether a segment whose loss was taken back is watched as before, or only once it is sent again.
    fn judges_again(&self) -> bool {
        true
    }

    /// Whether an ACK's SACK blocks are taken from the lowest on, and not in the order of their arrival: what one ACK
    /// delivers then gives the RTT of the lowest segment.
    fn takes_sack_from_below(&self) -> bool {
        false
    }

    /// Whether it looks at what had been delivered when a segment left.
    fn looks_at_departures(&self) -> bool {
        false
    }

    /// A tail loss probe was put off because new data left.
    fn on_probe_scheduled(&mut self) {}

    /// Who sees each transmission of data, if anybody does: each segment comes by, and most detectors look at none.
    fn watcher(&mut self) -> Option<&mut dyn WatchesTransmissions> {
        None
    }

    /// Sees the end of each DSACK block.
    fn on_dsack(&mut self, _end: u64) {}

    /// The window stands at `cwnd` again after a spurious episode, with `pipe` bytes in flight.
    fn on_restored(&mut self, _now: Instant, _cwnd: u64, _pipe: u64) {}

    /// Bytes of a window of `cwnd` bytes that new data must leave unused outside recovery, with
    /// `outstanding` bytes between snd_una and snd_nxt.
    fn withheld(&self, _cwnd: u64, _outstanding: u64) -> u64 {
        0
    }

    /// Whether the window must not grow on an ACK that leaves snd_una where it was: RFC 5681 section 3.1 counts ACKs
    /// of new data only, and RFC 3042 section 2 forbids growth by the first duplicate ACKs. To detections that stand
    /// reordering, what is below the newest arrivals may be late, and they go on.
    fn holds_growth(&self, _after_timeout: bool) -> bool {
        false
    }

    /// Bytes by which an ACK lets a window grow that acknowledges `acked` bytes cumulatively and delivers `delivered`,
    /// SACKed ones included.
    fn growth(&mut self, _acked: u64, delivered: u64, _in_recovery: bool) -> u64 {
        delivered
    }

    /// Whether holes are sent again that are not lost yet, once there are no new data (RFC 6675 section 4, NextSeg rules
    /// 3 and 4). Detections that wait out reordering do not.
    fn resends_holes(&self) -> bool {
        false
    }

    /// Whether, without SACK, only the first partial ACK of a recovery resets the retransmission timer (RFC 6582 section
    /// 3.2 step 3). Linux resets it at each.
    fn is_impatient(&self) -> bool {
        false
    }

    /// How the losses found since the last call are to be answered.
    fn take_response(&mut self) -> LossResponse {
        LossResponse::default()
    }

    /// Whether it times every segment itself, so that the retransmission timer of RFC 6298 must not run.
    fn replaces_retransmission_timer(&self) -> bool {
        false
    }

    /// Whether the sender should arm a tail loss probe (RFC 8985 section 7).
    fn probes_tail(&self) -> bool {
        false
    }

    /// How long a tail loss probe waits for ACKs (RFC 8985 section 7.2, PTO).
    fn probe_timeout(&self, tail: &Tail) -> Span {
        tail.srtt.saturating_mul(2)
    }
}

/// Passes a call on to whichever detector it is.
macro_rules! each_detector {
    ($self:ident, $detector:ident => $call:expr; $($variant:ident)+) => {
        match $self { $( Detector::$variant($detector) => $call, )+ }
    };
}

/// Makes the configuration, the detector and the dispatch of one list of algorithms.
macro_rules! detectors {
    ($( $name:literal => $variant:ident($detector:ty) ),+ $(,)?) => {
        anabranch_units::registry! {
            /// How losses are found.
            pub enum LossDetectionConfig: "loss_detection" {
                $( $name => $variant(<$detector as ConfiguredDetection>::Parameters), )+
            }
        }

        impl LossDetectionConfig {
            /// Whether it works by SACK, and does not without.
            #[must_use]
            pub const fn needs_sack(&self) -> bool {
                match self { $( Self::$variant(_) => <$detector as ConfiguredDetection>::NEEDS_SACK, )+ }
            }

            /// As [`ConfiguredDetection::rto_margin`].
            pub(crate) fn rto_margin(&self, min_rto: Span, granularity: Span) -> Span {
                match self {
                    $( Self::$variant(_) => {
                        <$detector as ConfiguredDetection>::rto_margin(min_rto, granularity)
                    } )+
                }
            }
        }

        /// The loss detection of a connection.
        #[derive(Debug)]
        pub(crate) enum Detector {
            $( $variant($detector), )+
        }

        impl Detector {
            pub(crate) fn new(config: &LossDetectionConfig) -> Self {
                match config {
                    $( LossDetectionConfig::$variant(parameters) => {
                        Self::$variant(ConfiguredDetection::configured(parameters))
                    } )+
                }
            }
        }

        dispatch_detectors!($($variant)+);
    };
}

/// Passes every call of [`LossDetection`] on. Facts of packets are made where a detector looks at them: each packet comes
/// by, and most detectors look at few.
macro_rules! dispatch_detectors {
    ($($variant:ident)+) => {
        impl Detector {
            pub(crate) fn on_established(&mut self, handshake: &Handshake) {
                each_detector!(self, d => d.on_established(handshake); $($variant)+);
            }

            #[inline]
            pub(crate) fn times_segments(&self) -> bool {
                each_detector!(self, d => d.times_segments(); $($variant)+)
            }

            #[inline(always)]
            pub(crate) fn on_delivered(
                &mut self,
                now: Instant,
                segment: impl FnOnce() -> DeliveredSegment,
                min_rtt: Span,
            ) {
                each_detector!(self, d => d.on_delivered(now, &segment(), min_rtt); $($variant)+);
            }

            pub(crate) fn on_sacked_acknowledged(&mut self, start: u64) {
                each_detector!(self, d => d.on_sacked_acknowledged(start); $($variant)+);
            }

            pub(crate) fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
                each_detector!(self, d => d.on_duplicate_without_sack(board); $($variant)+);
            }

            #[inline(always)]
            pub(crate) fn on_ack(&mut self, board: &mut Scoreboard, facts: impl FnOnce() -> AckFacts) {
                each_detector!(self, d => d.on_ack(board, &facts()); $($variant)+);
            }

            #[inline]
            pub(crate) fn next_timeout(&self) -> Option<Instant> {
                each_detector!(self, d => d.next_timeout(); $($variant)+)
            }

            pub(crate) fn on_timeout(&mut self, board: &mut Scoreboard, now: Instant) {
                each_detector!(self, d => d.on_timeout(board, now); $($variant)+);
            }

            pub(crate) fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
                each_detector!(self, d => d.on_retransmission_timeout(snd_nxt); $($variant)+);
            }

            pub(crate) fn on_recovered(&mut self) {
                each_detector!(self, d => d.on_recovered(); $($variant)+);
            }

            pub(crate) fn on_spurious(&mut self) {
                each_detector!(self, d => d.on_spurious(); $($variant)+);
            }

            pub(crate) fn on_late_original(&mut self, start: u64) {
                each_detector!(self, d => d.on_late_original(start); $($variant)+);
            }

            pub(crate) fn reordering(&self) -> Reordering {
                each_detector!(self, d => d.reordering(); $($variant)+)
            }

            #[inline]
            pub(crate) fn heeds_late_originals(&self) -> bool {
                each_detector!(self, d => d.heeds_late_originals(); $($variant)+)
            }

            pub(crate) fn judges_again(&self) -> bool {
                each_detector!(self, d => d.judges_again(); $($variant)+)
            }

            pub(crate) fn looks_at_departures(&self) -> bool {
                each_detector!(self, d => d.looks_at_departures(); $($variant)+)
            }

            #[inline]
            pub(crate) fn takes_sack_from_below(&self) -> bool {
                each_detector!(self, d => d.takes_sack_from_below(); $($variant)+)
            }

            #[inline]
            pub(crate) fn on_probe_scheduled(&mut self) {
                each_detector!(self, d => d.on_probe_scheduled(); $($variant)+);
            }

            #[inline(always)]
            pub(crate) fn watcher(&mut self) -> Option<&mut dyn WatchesTransmissions> {
                each_detector!(self, d => d.watcher(); $($variant)+)
            }

            pub(crate) fn on_dsack(&mut self, end: u64) {
                each_detector!(self, d => d.on_dsack(end); $($variant)+);
            }

            pub(crate) fn on_restored(&mut self, now: Instant, cwnd: u64, pipe: u64) {
                each_detector!(self, d => d.on_restored(now, cwnd, pipe); $($variant)+);
            }

            #[inline]
            pub(crate) fn withheld(&self, cwnd: u64, outstanding: u64) -> u64 {
                each_detector!(self, d => d.withheld(cwnd, outstanding); $($variant)+)
            }

            #[inline]
            pub(crate) fn holds_growth(&self, after_timeout: bool) -> bool {
                each_detector!(self, d => d.holds_growth(after_timeout); $($variant)+)
            }

            #[inline]
            pub(crate) fn growth(&mut self, acked: u64, delivered: u64, in_recovery: bool) -> u64 {
                each_detector!(self, d => d.growth(acked, delivered, in_recovery); $($variant)+)
            }

            #[inline]
            pub(crate) fn resends_holes(&self) -> bool {
                each_detector!(self, d => d.resends_holes(); $($variant)+)
            }

            #[inline]
            pub(crate) fn is_impatient(&self) -> bool {
                each_detector!(self, d => d.is_impatient(); $($variant)+)
            }

            #[inline]
            pub(crate) fn take_response(&mut self) -> LossResponse {
                each_detector!(self, d => d.take_response(); $($variant)+)
            }

            #[inline]
            pub(crate) fn replaces_retransmission_timer(&self) -> bool {
                each_detector!(self, d => d.replaces_retransmission_timer(); $($variant)+)
            }

            #[inline]
            pub(crate) fn probes_tail(&self) -> bool {
                each_detector!(self, d => d.probes_tail(); $($variant)+)
            }

            #[inline]
            pub(crate) fn probe_timeout(&self, tail: &Tail) -> Span {
                each_detector!(self, d => d.probe_timeout(tail); $($variant)+)
            }
        }
    };
}

detectors! {
    "dupack" => Dupack(Dupack),
    "rack" => Rack(Box<Rack>),
    "linux-rack" => LinuxRack(Box<LinuxRack>),
    "fastrto" => Fastrto(Box<FastRto>),
    "tcp-pr" => TcpPr(Box<TcpPr>),
    "rr-tcp" => RrTcp(Box<RrTcp>),
    "tcp-ncr" => TcpNcr(Box<TcpNcr>),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6298 (2.3): the clock granularity, here a millisecond, is the least margin above SRTT. Linux, and so
    /// RACK, has its smallest timeout there.
    #[test]
    fn the_timeout_leaves_a_margin_above_the_round_trip() {
        assert!(LossDetectionConfig::NAMES.len() >= 6);
        for &name in LossDetectionConfig::NAMES {
            let detection = LossDetectionConfig::named(name).expect("a registered name");
            let expected = if name == "rack" || name == "linux-rack" { 200 } else { 1 };
            let margin = |min_rto| detection.rto_margin(min_rto, Span::from_ms(1));
            assert_eq!(margin(Span::from_ms(200)), Span::from_ms(expected), "{name}");
            // In a fabric the smallest timeout is less than a millisecond, and means something.
            assert_eq!(margin(Span::from_us(100)), Span::from_us(100), "{name}");
        }
    }
}
