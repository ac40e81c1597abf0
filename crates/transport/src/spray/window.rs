//! How the window of a sender is set: a registry of one algorithm and of none.

use super::facts::{Acknowledged, PathFacts};
use super::nscc::{Nscc, NsccParameters};
use anabranch_units::Instant;
use anabranch_units::declaration::above;

anabranch_units::parameters! {
    /// A constant window.
    #[derive(Copy)]
    pub struct ConstantWindowParameters {
        /// The window in bandwidth-delay products of the host's line and the base RTT.
        products: f64 = 1.5, above(0.0).at_most(1e6);
    }
}

anabranch_units::registry! {
    /// How the window of a `spray` sender is set.
    pub enum SprayWindowConfig: "window" {
        "nscc" => Nscc(NsccParameters),
        "constant" => Constant(ConstantWindowParameters),
    }
}

/// The window at work.
#[derive(Debug)]
pub(super) enum Window {
    Nscc(Box<Nscc>),
    Constant(u64),
}

impl Window {
    pub(super) fn new(
        config: &SprayWindowConfig,
        facts: &PathFacts,
        mtu: (u64, u64),
        trimming: bool,
    ) -> Self {
        match config {
            SprayWindowConfig::Nscc(parameters) => {
                Self::Nscc(Box::new(Nscc::new(parameters, facts, mtu, trimming)))
            }
            SprayWindowConfig::Constant(constant) => {
                let bytes = facts.rate.bytes_in(facts.base_rtt).0 as f64 * constant.products;
                Self::Constant((bytes as u64).max(mtu.0))
            }
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Nscc(nscc) => nscc.window(),
            Self::Constant(bytes) => *bytes,
        }
    }

    /// Whether a NACK, too, tells a round-trip time.
    pub(super) fn takes_rtt_of_nacks(&self) -> bool {
        matches!(self, Self::Nscc(nscc) if nscc.takes_rtt_of_nacks())
    }

    pub(super) fn on_ack(&mut self, ack: &Acknowledged) {
        if let Self::Nscc(nscc) = self {
            nscc.on_ack(ack);
        }
    }

    pub(super) fn on_trim(&mut self, now: Instant, bytes: u64, in_flight: u64) {
        if let Self::Nscc(nscc) = self {
            nscc.on_trim(now, bytes, in_flight);
        }
    }

    pub(super) fn on_loss(&mut self, bytes: u64) {
        if let Self::Nscc(nscc) = self {
            nscc.on_loss(bytes);
        }
    }
}
