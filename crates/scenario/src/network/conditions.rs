//! What the links of testbeds do besides losing packets: token buckets, and what netem does to single packets.

use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Form, Quantity, Read, Within};
use crate::words::quoted;
use anabranch_engine::setup::{ChanceSetup, PeakSetup, PolicerSetup, ShaperSetup};
use anabranch_units::declaration::{above, at_least};
use anabranch_units::{Bytes, Rate, Span};

/// Bytes that a bucket holds at most: a terabyte outlasts any run.
const LARGEST_BUCKET: Bytes = Bytes(1 << 40);
/// Below, one packet outlasts every run.
const SMALLEST_RATE: Rate = Rate::from_bps(100);

crate::table! {
    /// A token bucket in front of a link: what waits in the link's queue leaves when the bucket has its bytes, as with the
    /// kernel's `tbf`. In any time t no more than `burst + rate * t` leaves.
    pub struct Shaper {
        /// Rate at which the bucket fills, and at which a backlog leaves.
        rate: Rate, at_least(SMALLEST_RATE);
        /// What the bucket holds; it is full at the beginning.
        burst: Bytes, above(Bytes(0)).at_most(LARGEST_BUCKET);
        /// Rate at which what the bucket has saved leaves at most; left out: that of the link.
        peak_rate: Option<Rate>, at_least(SMALLEST_RATE);
        /// What leaves at once in spite of `peak_rate`: the size of a second bucket, which fills at that rate. Left out: 1500 B.
        mtu: Option<Bytes>, above(Bytes(0)).at_most(LARGEST_BUCKET);
    }
    together |read, table| {
        match (read.peak_rate, read.mtu) {
            (None, Some(_)) => {
                table.refuse("mtu", "belongs to peak_rate; without it what the bucket has saved leaves at the rate of the link")
            }
            (Some(peak), _) if peak <= read.rate => {
                let (peak, rate) = (quoted(&peak.text()), quoted(&read.rate.text()));
                table.refuse("peak_rate", format!("{peak} is not above rate, {rate}; a backlog never leaves faster"))
            }
            _ => Some(()),
        }
    };
}

/// The packet that a peak rate lets through at once where nothing is said.
const USUAL_MTU: Bytes = Bytes(1_500);

impl Shaper {
    /// The same as the engine has it.
    #[must_use]
    pub fn setup(&self) -> ShaperSetup {
        let mtu = self.mtu.unwrap_or(USUAL_MTU).0;
        ShaperSetup {
            rate: self.rate,
            burst: self.burst.0,
            peak: self.peak_rate.map(|rate| PeakSetup { rate, mtu }),
        }
    }
}

crate::table! {
    /// A token bucket at the end of a link: what has crossed the link, and whose bytes the bucket has not, is dropped, as with
    /// the kernel's `police` at the ingress of the next node. Nothing waits for it.
    pub struct Policer {
        /// Rate at which the bucket fills.
        rate: Rate, at_least(SMALLEST_RATE);
        /// What the bucket holds; it is full at the beginning.
        burst: Bytes, above(Bytes(0)).at_most(LARGEST_BUCKET);
    }
}

impl Policer {
    /// The same as the engine has it.
    #[must_use]
    pub const fn setup(&self) -> PolicerSetup {
        PolicerSetup { rate: self.rate, burst: self.burst.0 }
    }
}

crate::table! {
    /// Packets that overtake others, as with netem's `reorder`: those that are chosen are spared the delay of the link.
    pub struct Reorder {
        /// Probability for each packet that may be chosen.
        probability: f64, at_least(0.0).at_most(1.0);
        /// How much each draw has of the one before, by netem's law: with a correlation fewer packets are chosen than
        /// `probability` says where that is below 0.5.
        correlation: f64 = 0.0, at_least(0.0).at_most(1.0);
        /// The least distance from one chosen packet to the next: with 5, four packets at least go the usual way in between.
        gap: u32 = 1, at_least(1);
        /// How much of the link's delay a chosen packet is spared; left out: all of it, and its jitter, as with netem.
        delay: Option<Span>, above(Span::ZERO);
    }
}

crate::table! {
    /// A probability for each packet, and how alike the draws are.
    pub struct PacketChance {
        /// Probability for each packet.
        probability: f64, at_least(0.0).at_most(1.0);
        /// How much each draw has of the one before, by netem's law: with a correlation fewer packets are chosen than
        /// `probability` says where that is below 0.5.
        correlation: f64 = 0.0, at_least(0.0).at_most(1.0);
    }
}

/// A probability alone, or with its correlation.
#[derive(Clone, PartialEq, Debug)]
pub struct Chance(pub PacketChance);

impl Chance {
    /// The same as the engine has it.
    #[must_use]
    pub const fn setup(&self) -> ChanceSetup {
        ChanceSetup { probability: self.0.probability, correlation: self.0.correlation }
    }
}

impl Read for Chance {
    fn form() -> Form {
        Form::OneOf(vec![f64::form_within(&at_least(0.0).at_most(1.0)), PacketChance::form()])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if node.table().is_some() {
            return Read::read(node, at, problems).map(Self);
        }
        let probability = f64::read(node, at, problems)?;
        if let Some(message) = probability.outside(node, &at_least(0.0).at_most(1.0)) {
            problems.add(at, message);
            return None;
        }
        Some(Self(PacketChance { probability, correlation: 0.0 }))
    }
}
