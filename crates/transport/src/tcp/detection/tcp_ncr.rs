//! TCP-NCR: DupThresh is about a window of data (RFC 4653).
//!
//! What differs from the RFC, because windows are congestion control's business here:
//! - what Extended Limited Transmit holds back is kept from the window ([`TcpNcr::withheld`]). The window is
//!   FlightSizePrev until an ACK advances ([`TcpNcr::holds_growth`]) and grows with those that do. The RFC keeps it
//!   as long as SACKed data remain (T.4): under steady reordering it would never grow;
//! - section 3.3's return by slow start to FlightSizePrev (T.1, T.2) pays back what was held back, at most two
//!   segments an ACK (RFC 3465 section 2.3), instead of setting cwnd and ssthresh;
//! - DupThresh stays in recovery as it was when that began;
//! - without SACK, which the RFC requires (section 3), DupThresh is that of RFC 5681.

use super::{
    AckFacts, ConfiguredDetection, DeliveredSegment, Dupack, LossDetection, TransmissionFacts,
    WatchesTransmissions,
};
use crate::tcp::scoreboard::Scoreboard;
use anabranch_units::{Instant, Span};

/// RFC 4653 section 3.1: no less than the DupThresh of RFC 5681.
const DUP_THRESH: u32 = 3;

anabranch_units::choice! {
    /// The variants of Extended Limited Transmit (RFC 4653 section 3).
    pub enum LimitedTransmit {
        /// A new segment for every other one that is reported above a hole.
        "careful" => Careful,
        /// A new segment for each one that is reported above a hole.
        "aggressive" => Aggressive,
    }
}

anabranch_units::parameters! {
    /// TCP-NCR (RFC 4653): DupThresh is about a window of data.
    pub struct TcpNcrParameters {
        /// What may leave before DupThresh is reached.
        limited_transmit: LimitedTransmit = LimitedTransmit::Careful;
    }
}

/// DupThresh and what may be sent until it is reached.
#[derive(Debug)]
pub struct TcpNcr {
    variant: LimitedTransmit,
    dupack: Dupack,
    /// Extended Limited Transmit is under way.
    extended: bool,
    /// "Skipped": new data sent in this Extended Limited Transmit, in bytes.
    skipped: u64,
    /// "FlightSizePrev": bytes between snd_una and snd_nxt when it began.
    flight_before: u64,
    /// What a terminated Extended Limited Transmit held back and slow start has not made good yet, in bytes.
    owed: u64,
    cwnd: u64,
    full_payload: u64,
    snd_una: u64,
}

impl TcpNcr {
    pub(crate) fn new(variant: LimitedTransmit) -> Self {
        let dupack = Dupack::new(DUP_THRESH);
        Self {
            variant,
            dupack,
            extended: false,
            skipped: 0,
            flight_before: 0,
            owed: 0,
            cwnd: 0,
            full_payload: 1,
            snd_una: 0,
        }
    }

    /// (I.3), (E.4): LT_F of FlightSize, in segments; LT_F is 2/3 or 1/2, so that with what Extended Limited
    /// Transmit adds to FlightSize it comes to the window before.
    fn dup_thresh(&self, flight: usize) -> u32 {
        let share = match self.variant {
            LimitedTransmit::Careful => (2 * flight).div_ceil(3),
            LimitedTransmit::Aggressive => flight.div_ceil(2),
        };
        // At most the 2^32 numbers of segments.
        (share as u32).max(DUP_THRESH)
    }

    fn reset(&mut self) {
        self.extended = false;
        self.skipped = 0;
        self.owed = 0;
    }
}

impl ConfiguredDetection for TcpNcr {
    type Parameters = TcpNcrParameters;
    const NEEDS_SACK: bool = true;

    fn configured(parameters: &TcpNcrParameters) -> Self {
        Self::new(parameters.limited_transmit)
    }
}

impl WatchesTransmissions for TcpNcr {
    /// (E.3): the careful variant counts what it sends a second time.
    fn on_sent(&mut self, facts: &TransmissionFacts) {
        self.cwnd = facts.cwnd;
        self.full_payload = facts.full_payload;
        if self.extended && self.variant == LimitedTransmit::Careful {
            self.skipped += facts.new_bytes;
        }
    }
}

impl LossDetection for TcpNcr {
    #[inline]
    fn on_delivered(&mut self, now: Instant, segment: &DeliveredSegment, min_rtt: Span) {
        self.dupack.on_delivered(now, segment, min_rtt);
    }

    fn on_sacked_acknowledged(&mut self, start: u64) {
        self.dupack.on_sacked_acknowledged(start);
    }

    fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
        self.dupack.on_duplicate_without_sack(board);
    }

    #[inline]
    fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        let advanced = facts.snd_una.saturating_sub(self.snd_una);
        self.snd_una = facts.snd_una;
        if facts.in_recovery {
            // Section 3.3: the start of loss recovery terminates it; DupThresh stays.
            self.reset();
        } else {
            self.owed = self.owed.saturating_sub(advanced.min(2 * self.full_payload));
            let (was, is) = (self.extended, board.sacked_segments() > 0);
            let flight = facts.snd_nxt - facts.snd_una;
            if was && advanced > 0 {
                // (T.1): cwnd = min(FlightSize + SMSS, FlightSizePrev). With SACKed data left it starts anew,
                // FlightSizePrev apart (T.4).
                self.owed = self.flight_before.min(self.cwnd).saturating_sub(flight + self.full_payload);
                self.skipped = 0;
            }
            if is && !was {
                // (I.1)
                self.flight_before = flight;
            }
            self.extended = is;
            if is {
                self.dupack.set_threshold(self.dup_thresh(board.len()));
            }
        }
        self.dupack.on_ack(board, facts);
    }

    fn watcher(&mut self) -> Option<&mut dyn WatchesTransmissions> {
        Some(self)
    }

    /// (E.2): new data leave while pipe + Skipped is below the window.
    #[inline]
    fn withheld(&self, _: u64, _: u64) -> u64 {
        self.skipped + self.owed
    }

    /// While Extended Limited Transmit is under way: until an ACK advances, cwnd is FlightSizePrev.
    #[inline]
    fn holds_growth(&self, _: bool) -> bool {
        self.extended
    }

    fn on_recovered(&mut self) {
        self.dupack.on_recovered();
    }

    fn on_spurious(&mut self) {
        self.dupack.on_spurious();
    }

    fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
        self.reset();
        self.dupack.set_threshold(DUP_THRESH);
        self.dupack.on_retransmission_timeout(snd_nxt);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;
    use crate::LossDetectionConfig;

    /// (I.3): LT_F x FlightSize, but 3 at least. A fraction cannot be reached before the next whole number.
    #[test]
    fn dup_thresh_is_a_share_of_the_flight() {
        let rows = [
            // FlightSize, careful 2/3, aggressive 1/2
            (1, 3, 3),
            (5, 4, 3),
            (9, 6, 5),
            (10, 7, 5),
            (100, 67, 50),
        ];
        for (flight, careful, aggressive) in rows {
            let of = |variant| TcpNcr::new(variant).dup_thresh(flight);
            assert_eq!(of(LimitedTransmit::Careful), careful, "{flight}");
            assert_eq!(of(LimitedTransmit::Aggressive), aggressive, "{flight}");
        }
    }

    /// A window of 12, segment 0 missing. The sender fills pipe + Skipped up to 12: the careful variant sends
    /// on the 1st, 3rd, 5th ... report, the aggressive one on each. FlightSize at the nth report is then
    /// 12 + ceil((n - 1) / 2) or 12 + n - 1, of which 2/3 or 1/2 is reached with the 12th or 11th: about a
    /// window. The loss is found without a timer.
    #[test]
    fn extended_limited_transmit_reaches_a_window_of_reports() {
        for (variant, reports) in [(LimitedTransmit::Careful, 12), (LimitedTransmit::Aggressive, 11)] {
            let mut b =
                Bench::new(&LossDetectionConfig::TcpNcr(TcpNcrParameters { limited_transmit: variant }), 12);
            b.send(0, 12);
            for n in 1..=reports {
                b.sack(n, n);
                assert_eq!(b.lost().is_empty(), n < reports, "{variant:?}: report {n}");
                while b.board.pipe() + b.detector.withheld(12, 0) < 12 && n < reports {
                    b.send(n, 1);
                }
                let expected = if variant == LimitedTransmit::Careful { n.div_ceil(2) } else { n };
                assert!(n == reports || b.board.len() as u64 == 12 + expected, "{variant:?}: report {n}");
            }
        }
    }

    /// Section 3.3: the hole fills after four reports, all SACKed data are covered. Two of twelve segments were
    /// held back; cwnd = min(FlightSize + SMSS, FlightSizePrev) = 10, and slow start does the rest.
    #[test]
    fn what_was_held_back_comes_back_by_slow_start() {
        let careful =
            LossDetectionConfig::TcpNcr(TcpNcrParameters { limited_transmit: LimitedTransmit::Careful });
        let mut b = Bench::new(&careful, 12);
        b.send(0, 12);
        for n in 1..=4 {
            b.sack(n, n);
            if n % 2 == 1 {
                b.send(n, 1);
            }
        }
        assert_eq!((b.board.pipe(), b.detector.withheld(12, 0)), (10, 2));
        // 0 to 4 are covered: 9 outstanding, so the window is 10 of 12.
        b.ack(5, 5, None, None);
        assert_eq!((b.board.pipe(), b.detector.withheld(12, 0)), (9, 2));
        b.ack(6, 6, None, None);
        assert_eq!(b.detector.withheld(12, 0), 1);
        b.ack(7, 8, None, None);
        assert_eq!(b.detector.withheld(12, 0), 0);
        assert!(b.lost().is_empty());
    }

    /// RFC 3465 section 2.3: slow start grows by two segments an ACK at most. Three of twelve segments were held back, and
    /// the next ACK covers three.
    #[test]
    fn an_ack_pays_back_two_segments_at_most() {
        let careful =
            LossDetectionConfig::TcpNcr(TcpNcrParameters { limited_transmit: LimitedTransmit::Careful });
        let mut b = Bench::with_segments_of(1000, &careful, 12_000);
        b.send(0, 12);
        for n in 1..=6 {
            b.sack(n, n);
            if n % 2 == 1 {
                b.send(n, 1);
            }
        }
        // 8 outstanding, and the window is 9 of 12.
        b.ack(7, 7, None, None);
        assert_eq!((b.board.pipe(), b.detector.withheld(12_000, 0)), (8000, 3000));
        b.ack(8, 10, None, None);
        assert_eq!(b.detector.withheld(12_000, 0), 1000);
        b.ack(9, 11, None, None);
        assert_eq!(b.detector.withheld(12_000, 0), 0);
    }

    /// (I.1), (T.1): a window of 20 of which 12 were in use. FlightSizePrev stays at 12, whatever Extended Limited
    /// Transmit adds, and the window is 10 of these 12, not of 20.
    #[test]
    fn the_flight_before_is_that_of_the_first_report() {
        let careful =
            LossDetectionConfig::TcpNcr(TcpNcrParameters { limited_transmit: LimitedTransmit::Careful });
        let mut b = Bench::new(&careful, 20);
        b.send(0, 12);
        for n in 1..=4 {
            b.sack(n, n);
            if n % 2 == 1 {
                b.send(n, 1);
            }
        }
        b.ack(5, 5, None, None);
        assert_eq!((b.board.pipe(), b.detector.withheld(20, 0)), (9, 2));
    }

    /// The start of recovery ends it (section 3.3).
    #[test]
    fn recovery_holds_nothing_back() {
        let careful =
            LossDetectionConfig::TcpNcr(TcpNcrParameters { limited_transmit: LimitedTransmit::Careful });
        let mut b = Bench::new(&careful, 12);
        b.send(0, 12);
        b.sack(1, 1);
        b.send(1, 1);
        assert_eq!(b.detector.withheld(12, 0), 1);
        assert!(b.detector.holds_growth(false));
        b.in_recovery = true;
        b.sack(2, 2);
        assert_eq!((b.detector.withheld(12, 0), b.detector.holds_growth(false)), (0, false));
    }
}
