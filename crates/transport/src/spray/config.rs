use super::paths::PathSelectorConfig;
use super::window::SprayWindowConfig;
use anabranch_units::declaration::{OutOfRange, above, at_least, at_most};
use anabranch_units::{Bytes, Span};

/// Bytes of all headers of a packet, and of an ACK, a NACK, a probe and a trimmed packet, which have nothing else.
pub const HEADERS: u32 = 64;

anabranch_units::parameters! {
    /// Packets sprayed over many paths, without order and handshake (Ultra Ethernet, MRC).
    pub struct SprayConfig {
        /// Payload of a full packet, which has 64 B of headers besides.
        payload: u16 = 4096, at_least(64).at_most(u16::MAX - 100).bytes();
        /// Bytes that arrive before an ACK is due; 0 acknowledges each packet. The first packet, marked, repeated and
        /// requesting ones are acknowledged at once.
        ack_after: Bytes = Bytes(16_384), at_most(Bytes(16_777_216));
        /// Switches cut payloads off where they have no room. Otherwise a packet is lost when one has arrived that was sent
        /// a base RTT and the target delay later, and the target is a whole base RTT in place of three quarters.
        trimming: bool = true;
        /// Round-trip time of a full packet and its answer without queues; 0: that of the flow's path.
        base_rtt: Span = Span::ZERO, at_most(Span::LONGEST_INPUT);
        /// Time without an answer after which a packet is lost; 0: 15 us and six base RTTs.
        rto: Span = Span::ZERO, at_most(Span::LONGEST_INPUT);
        /// Retransmissions of a packet for which the timeout stays as it is; it doubles at each further one. MRC's is linear at
        /// first, and exponential then.
        steady_retries: u8 = 3, at_most(255);
        /// Largest retransmission timeout.
        max_rto: Span = Span::from_secs(60), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// How the congestion window is set.
        window: SprayWindowConfig = SprayWindowConfig::Nscc(Default::default());
        /// How the entropy value of each packet is chosen, and with it its path.
        path_selector: PathSelectorConfig = PathSelectorConfig::Mixed(Default::default());
    }
}

impl SprayConfig {
    /// Checks parameters against each other.
    ///
    /// # Errors
    /// The first that does not go with another one.
    pub(crate) fn check_together(&self) -> Result<(), OutOfRange> {
        if self.rto > self.max_rto {
            return Err(OutOfRange::new("rto", "is above max_rto"));
        }
        self.path_selector.check_together().map_err(|problem| problem.within("path_selector"))
    }
}
