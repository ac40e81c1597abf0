//! Flows of datagrams as plain data: pings and UDP at a constant rate.

use anabranch_transport::wire::{DATAGRAM_HEADERS, DatagramKind};
use anabranch_units::declaration::OutOfRange;
use anabranch_units::{Instant, NodeId, Rate, Span};
use serde::{Deserialize, Serialize};

/// IPv4 has 16 bits for the length of a packet.
const LONGEST_PACKET: u32 = u16::MAX as u32;
/// Packets are numbered in 32 bits.
const MOST_PACKETS: u64 = 1 << 32;

/// Packets from one node to another at times that are known beforehand: no connection, no congestion control, nothing
/// sent again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatagramSetup {
    /// Unique name, among flows too; random streams hang on it.
    pub name: String,
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives, and answers a ping.
    pub to: NodeId,
    /// What is sent, and when.
    pub source: DatagramSource,
    /// Whose routes its packets take, as a flow's.
    pub routing: usize,
    /// Bytes of each IP packet, headers included; an answer is as long.
    pub packet_bytes: u32,
    /// When the first packet leaves.
    pub start: Instant,
    /// From when on none leaves; `None` for never.
    pub stop: Option<Instant>,
}

anabranch_units::leaf! {
    /// What a flow of datagrams is.
    #[derive(Copy, Eq)]
    pub enum DatagramSource: "datagram_source" by "kind" {
        /// Echo requests, each of which is answered at once (RFC 792).
        "ping" => Ping {
            /// From one request to the next.
            interval: Span,
        },
        /// UDP at a constant rate.
        "udp" => Udp {
            /// Of IP packets, headers included.
            rate: Rate,
        },
    }
}

impl DatagramSource {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ping { .. } => "ping",
            Self::Udp { .. } => "udp",
        }
    }

    /// What its packets are.
    #[must_use]
    pub const fn request(self) -> DatagramKind {
        match self {
            Self::Ping { .. } => DatagramKind::EchoRequest,
            Self::Udp { .. } => DatagramKind::Udp,
        }
    }

    /// Whether each packet is answered.
    #[must_use]
    pub const fn is_answered(self) -> bool {
        matches!(self, Self::Ping { .. })
    }
}

impl DatagramSetup {
    /// When packet `number`, counted from 0, leaves: exactly, however many have left before.
    #[must_use]
    pub fn sent_at(&self, number: u64) -> Instant {
        let after_ps = match self.source {
            DatagramSource::Ping { interval } => u128::from(interval.as_ps()) * u128::from(number),
            DatagramSource::Udp { rate } => {
                const PS_PER_S: u128 = 1_000_000_000_000;
                let bits = u128::from(self.packet_bytes) * 8 * u128::from(number);
                bits * PS_PER_S / u128::from(rate.as_bps())
            }
        };
        self.start.saturating_add(Span::from_ps(u64::try_from(after_ps).unwrap_or(u64::MAX)))
    }

    /// When packet `number` leaves; `None` where it does not because the flow has stopped.
    #[must_use]
    pub fn leaves_at(&self, number: u64) -> Option<Instant> {
        Some(self.sent_at(number)).filter(|&at| self.stop.is_none_or(|stop| at < stop))
    }

    /// Checks all but the nodes' numbers, for a run that is over at `end`.
    ///
    /// # Errors
    /// The first value that is out of range.
    pub fn check(&self, end: Instant) -> Result<(), OutOfRange> {
        let refuse = |parameter, problem: &str| Err(OutOfRange::new(parameter, problem));
        if self.from == self.to {
            return refuse("to", "is where the packets come from");
        }
        if self.start > Instant::ZERO + Span::LONGEST_INPUT {
            return refuse("start", "must be at most 30 days");
        }
        if self.stop.is_some_and(|stop| stop < self.start) {
            return refuse("stop", "is before the start");
        }
        if !(DATAGRAM_HEADERS..=LONGEST_PACKET).contains(&self.packet_bytes) {
            let problem = format!("is {}; must be {DATAGRAM_HEADERS} to {LONGEST_PACKET}", self.packet_bytes);
            return refuse("packet_bytes", &problem);
        }
        match self.source {
            DatagramSource::Ping { interval: Span::ZERO } => {
                return refuse("source.interval", "must be above zero");
            }
            DatagramSource::Udp { rate: Rate::ZERO } => return refuse("source.rate", "must be above zero"),
            _ => {}
        }
        if self.sent_at(MOST_PACKETS) <= end.max(self.start) {
            return refuse("source", "sends more than 2^32 packets");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp(bytes: u32, rate: u64) -> DatagramSetup {
        DatagramSetup {
            name: "u".into(),
            from: NodeId(0),
            to: NodeId(1),
            source: DatagramSource::Udp { rate: Rate::from_bps(rate) },
            routing: 0,
            packet_bytes: bytes,
            start: Instant::from_ps(5),
            stop: None,
        }
    }

    /// 1000 B at 3 Mbps are 8/3 ms: three packets later it is 8 ms to the picosecond, and so after a billion.
    #[test]
    fn times_carry_no_rounding_on() {
        let flow = udp(1000, 3_000_000);
        assert_eq!(flow.sent_at(1).as_ps(), 5 + 2_666_666_666);
        assert_eq!(flow.sent_at(3).as_ps(), 5 + 8_000_000_000);
        assert_eq!(flow.sent_at(300_000_000).as_ps(), 5 + 800_000_000_000_000_000);
        let stopped = DatagramSetup { stop: Some(flow.sent_at(3)), ..flow };
        assert_eq!((stopped.leaves_at(2).is_some(), stopped.leaves_at(3)), (true, None));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let end = Instant::ZERO + Span::from_secs(1);
        let refused = |flow: DatagramSetup| flow.check(end).expect_err("out of range").to_string();
        assert_eq!(udp(1000, 1).check(end), Ok(()));
        assert_eq!(refused(udp(27, 1)), "packet_bytes is 27; must be 28 to 65535");
        assert_eq!(refused(udp(65_536, 1)), "packet_bytes is 65536; must be 28 to 65535");
        assert_eq!(refused(udp(28, u64::MAX / 16)), "source sends more than 2^32 packets");
        let ping = |interval| DatagramSetup { source: DatagramSource::Ping { interval }, ..udp(84, 1) };
        assert_eq!(refused(ping(Span::ZERO)), "source.interval must be above zero");
        assert_eq!(
            refused(DatagramSetup { to: NodeId(0), ..udp(84, 1) }),
            "to is where the packets come from"
        );
        assert_eq!(refused(udp(28, 0)), "source.rate must be above zero");
        let backwards = DatagramSetup { stop: Some(Instant::ZERO), ..udp(84, 1) };
        assert_eq!(refused(backwards), "stop is before the start");
    }
}
