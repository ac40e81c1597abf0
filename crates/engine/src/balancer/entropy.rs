//! `entropy`: the entropy value of a packet of `spray` names its path, as an address list of segment routing (SRv6) does.
//! Where routes are whole paths, value v takes path v modulo their number ([`Forwarding`](crate::forwarding::Forwarding)
//! does that at the source). All else goes by `flow`: packets without such a value, and hops of tables.

use super::flow::FlowHash;
use super::{Choices, FlowKey, FlowParameters, Spread};
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// The entropy value of each packet of `spray` names its path (SRv6); all else as `flow`.
    #[derive(Copy, Eq)]
    pub struct EntropyParameters {}
}

#[derive(Clone, Debug)]
pub struct ByEntropy(FlowHash);

impl Spread for ByEntropy {
    type Parameters = EntropyParameters;
    const SYMMETRIC: bool = false;

    fn configured(_: &EntropyParameters, choices: Choices<'_>) -> Self {
        Self(FlowHash::configured(&FlowParameters {}, choices))
    }

    #[inline]
    fn choose(&mut self, now: Instant, key: FlowKey) -> usize {
        self.0.choose(now, key)
    }
}
