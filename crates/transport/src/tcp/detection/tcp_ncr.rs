//! TCP-NCR: DupThresh is about a window of data (RFC 4653).
//!
//! What differs from the RFC, because windows are congestion control's business here:
//! - what Extended Limited Transmit holds back is kept from the window ([`TcpNcr::withheld`]); the window itself
//!   goes on growing with what is delivered. FlightSizePrev, the RFC's limit, is therefore the window as it
//!   stands; under steady reordering, where the RFC's window would never grow, this one does;
//! - section 3.3's return by slow start to FlightSizePrev (T.1, T.2) pays back what was held back, at most two
//!   segments an ACK (RFC 3465 section 2.3), instead of setting cwnd and ssthresh;
//! - RFC 3042's and RFC 6675's rules hold without SACK, which the RFC requires (section 3).

use super::{AckFacts, DeliveredSegment, Dupack, TransmissionFacts};
use crate::config::LimitedTransmit;
use crate::tcp::scoreboard::Scoreboard;

/// RFC 4653 section 3.1: no less than the DupThresh of RFC 5681.
const DUP_THRESH: u32 = 3;

/// DupThresh and what may be sent until it is reached.
#[derive(Debug)]
pub(crate) struct TcpNcr {
    variant: LimitedTransmit,
    dupack: Dupack,
    /// Extended Limited Transmit is under way.
    extended: bool,
    /// "Skipped": new data sent in this Extended Limited Transmit, in bytes.
    skipped: u64,
    /// What a terminated Extended Limited Transmit held back and slow start has not made good yet, in bytes.
    owed: u64,
    full_payload: u64,
    snd_una: u64,
}

impl TcpNcr {
    pub(crate) fn new(variant: LimitedTransmit) -> Self {
        let dupack = Dupack::new(DUP_THRESH);
        Self { variant, dupack, extended: false, skipped: 0, owed: 0, full_payload: 1, snd_una: 0 }
    }

    #[inline]
    pub(crate) fn on_delivered(&mut self, segment: &DeliveredSegment) {
        self.dupack.on_delivered(segment);
    }

    pub(crate) fn on_sacked_acknowledged(&mut self, start: u64) {
        self.dupack.on_sacked_acknowledged(start);
    }

    pub(crate) fn on_duplicate_without_sack(&mut self, board: &mut Scoreboard) {
        self.dupack.on_duplicate_without_sack(board);
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, board: &mut Scoreboard, facts: &AckFacts) {
        let advanced = facts.snd_una.saturating_sub(self.snd_una);
        self.snd_una = facts.snd_una;
        if facts.in_recovery {
            // Section 3.3: the start of loss recovery terminates it; DupThresh stays.
            self.reset();
        } else {
            self.owed = self.owed.saturating_sub(advanced.min(2 * self.full_payload));
            let (was, is) = (self.extended, board.sacked_segments() > 0);
            if was && advanced > 0 {
                // (T.1), (T.2); with SACKed data left it starts anew (T.4).
                self.owed += self.skipped;
                self.skipped = 0;
            }
            self.extended = is;
            if is {
                self.dupack.set_threshold(self.dup_thresh(board.len()));
            }
        }
        self.dupack.on_ack(board, facts);
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

    /// (E.3): the careful variant counts what it sends a second time.
    #[inline]
    pub(crate) fn on_sent(&mut self, facts: &TransmissionFacts) {
        self.full_payload = facts.full_payload;
        if self.extended && self.variant == LimitedTransmit::Careful {
            self.skipped += facts.new_bytes;
        }
    }

    /// (E.2): new data leave while pipe + Skipped is below the window.
    #[inline]
    pub(crate) fn withheld(&self) -> u64 {
        self.skipped + self.owed
    }

    fn reset(&mut self) {
        self.extended = false;
        self.skipped = 0;
        self.owed = 0;
    }

    pub(crate) fn on_retransmission_timeout(&mut self, snd_nxt: u64) {
        self.reset();
        self.dupack.set_threshold(DUP_THRESH);
        self.dupack.on_retransmission_timeout(snd_nxt);
    }
}
