use anabranch_transport::wire::Endpoint;

/// What tells the packets of one direction of a subflow from all others. A flow that is not multipath is
/// its own only subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowKey {
    /// Hash of the 4-tuple of addresses and ports, another one for each direction.
    pub hash: u64,
    /// Where its packets come from.
    pub source: Endpoint,
    /// Where they go.
    pub destination: Endpoint,
    /// Dense number of the subflow and direction, for per-flow state.
    pub index: u32,
}

/// Separates the hash of two addresses from that of a 4-tuple.
const HOST_SALT: u64 = 0x5851_F42D_4C95_7F2D;

impl FlowKey {
    /// Of nobody.
    pub(crate) const NONE: Self = {
        let nowhere = Endpoint { addr: [0; 4], port: 0 };
        Self { hash: 0, source: nowhere, destination: nowhere, index: 0 }
    };

    /// The key of packets from `source` to `destination`. `index` is theirs alone.
    #[must_use]
    pub const fn new(source: Endpoint, destination: Endpoint, index: u32) -> Self {
        Self { hash: pair_hash(side(source), side(destination)), source, destination, index }
    }

    /// The key of packets on the way back. Of the numbers of both directions one is even, and the other is the next.
    #[must_use]
    pub const fn reversed(&self) -> Self {
        Self::new(self.destination, self.source, self.index ^ 1)
    }

    /// The key of a packet with an entropy value, which stands for a part of the 4-tuple.
    #[inline]
    #[must_use]
    pub const fn with_entropy(&self, entropy: u16) -> Self {
        Self { hash: self.hash ^ entropy as u64, ..*self }
    }

    /// Hash of the 4-tuple that is the same for both directions.
    #[inline]
    #[must_use]
    pub const fn symmetric(&self) -> u64 {
        let (low, high) = self.sides();
        pair_hash(low, high)
    }

    /// Hash of the two addresses without ports, the same for both directions: all subflows of a
    /// connection, and all connections of its two hosts, agree in it.
    #[must_use]
    pub const fn host(&self) -> u64 {
        let (low, high) = self.sides();
        mix(pair_hash(low >> PORT_BITS, high >> PORT_BITS) ^ HOST_SALT)
    }

    /// Both ends, in an order that is the same for both directions.
    const fn sides(&self) -> (u64, u64) {
        let (from, to) = (side(self.source), side(self.destination));
        if from < to { (from, to) } else { (to, from) }
    }
}

const PORT_BITS: u32 = 16;

const fn side(end: Endpoint) -> u64 {
    (u32::from_be_bytes(end.addr) as u64) << PORT_BITS | end.port as u64
}

/// A frozen hash of an ordered pair.
const fn pair_hash(first: u64, second: u64) -> u64 {
    mix(first.wrapping_add(mix(second.wrapping_add(0x9E37_79B9_7F4A_7C15))))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): spreads every bit over all.
#[inline]
#[must_use]
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn end(addr: u32, port: u16) -> Endpoint {
        Endpoint { addr: addr.to_be_bytes(), port }
    }

    proptest! {
        /// What they promise: directions differ in `hash` only, ports not in `host`.
        #[test]
        fn a_key_is_symmetric_where_it_says_so(a in any::<u32>(), b in any::<u32>(), ports in any::<[u16; 3]>()) {
            prop_assume!(a != b && ports[0] != ports[2]);
            let (client, server, other) = (end(a, ports[0]), end(b, ports[1]), end(a, ports[2]));
            let (there, back) = (FlowKey::new(client, server, 0), FlowKey::new(server, client, 1));
            prop_assert_eq!((there.symmetric(), there.host()), (back.symmetric(), back.host()));
            prop_assert_ne!(there.hash, back.hash);
            let beside = FlowKey::new(other, server, 2);
            prop_assert_eq!(beside.host(), there.host());
            prop_assert_ne!(beside.symmetric(), there.symmetric());
        }
    }

    /// Other hosts have another hash, in whichever address they differ.
    #[test]
    fn hosts_are_told_apart() {
        let key = |a, b| FlowKey::new(end(a, 50_000), end(b, 5001), 0).host();
        let hosts = std::collections::BTreeSet::from([key(1, 2), key(1, 3), key(2, 3), key(3, 4)]);
        assert_eq!(hosts.len(), 4);
    }
}
