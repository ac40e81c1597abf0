//! Which flow a segment belongs to.

use crate::batch::{Held, touch};
use crate::packet::{ACK, Endpoint, Network, SYN, Segment};
use std::cmp::Ordering;

/// Most TCP flows of one file that are followed; with the survey's records some 100 MB at most.
pub(crate) const MOST_FLOWS: usize = 1 << 18;
/// From so many on, flows do not stay in the second cache of a core.
pub(crate) const MANY_FLOWS: usize = 1024;
const EMPTY: u32 = u32::MAX;

/// The two ends of a flow, the smaller first, and the network that they are in, in 40 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowKey {
    /// Upper and lower half of each end's address.
    addresses: [[u64; 2]; 2],
    ports: [u16; 2],
    pub network: Network,
}

const _: () = assert!(size_of::<FlowKey>() == 40);

impl FlowKey {
    /// The flow of a segment in a network, and its direction: 0 if the first end sent it, else 1.
    #[inline]
    pub(crate) fn of(segment: &Segment<'_>, network: Network) -> (Self, u8) {
        let (first, second, direction) = if segment.source <= segment.destination {
            (segment.source, segment.destination, 0)
        } else {
            (segment.destination, segment.source, 1)
        };
        let halves = |end: Endpoint| [(end.address >> 64) as u64, end.address as u64];
        let ports = [first.port, second.port];
        (Self { addresses: [halves(first), halves(second)], ports, network }, direction)
    }

    #[inline]
    pub(crate) fn ends(&self) -> [Endpoint; 2] {
        [0, 1].map(|end| {
            let [high, low] = self.addresses[end].map(u128::from);
            Endpoint { address: high << 64 | low, port: self.ports[end] }
        })
    }

    /// Spreads the key over 64 bits: that of the ends by multiplying and folding, twice. [`Self::network_part`] takes that
    /// of the network off again.
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        const A: u64 = 0x9E37_79B9_7F4A_7C15;
        const B: u64 = 0xD6E8_FEB8_6659_FD93;
        let fold = |x: u64, y: u64| {
            let product = u128::from(x) * u128::from(y);
            (product as u64) ^ (product >> 64) as u64
        };
        let ports = u64::from(self.ports[0]) << 16 | u64::from(self.ports[1]);
        let [[a_high, a_low], [b_high, b_low]] = self.addresses;
        let low = fold(a_low ^ A, b_low ^ B ^ ports.rotate_left(32));
        let high = fold(a_high ^ B, b_high ^ A);
        fold(low ^ ports ^ A, high ^ low.rotate_left(29) ^ B) ^ self.network_part()
    }

    /// The same ends in another network.
    pub(crate) fn within(self, network: Network) -> Self {
        Self { network, ..self }
    }

    /// What the network adds to the hash; 0 outside of all.
    #[inline]
    pub(crate) fn network_part(&self) -> u64 {
        u64::from(self.network.bits()).wrapping_mul(0xA076_1D64_78BD_642F)
    }
}

impl Ord for FlowKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ends().cmp(&other.ends()).then(self.network.cmp(&other.network))
    }
}

impl PartialOrd for FlowKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What tells connections between the same ends apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub key: FlowKey,
    /// Direction in which the client sends; None until a SYN or SYN/ACK was seen.
    pub client: Option<u8>,
    /// The client's initial sequence number; of a SYN/ACK alone, the number before the one that it acknowledges.
    pub client_isn: u32,
    /// Bytes of data in the client's SYN (RFC 7413), which its answer acknowledges or not.
    pub syn_payload: u16,
}

impl Identity {
    /// The number of the client's first segment behind its SYN, as far as the SYN is known, and the one if the data in the
    /// SYN were taken.
    #[inline]
    pub(crate) fn is_first_after_syn(&self, seq: u32) -> bool {
        let ahead = seq.wrapping_sub(self.client_isn);
        ahead == 1 || ahead == 1 + u32::from(self.syn_payload)
    }
}

/// A flow, and beside it what its reader keeps: a packet needs both, and they are one line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Known<S> {
    pub identity: Identity,
    pub state: S,
}

/// Finds flows by their ends. Flows are numbered in the order of their first packets; ends that are used
/// again, with another initial sequence number, are another flow. The same segments always give the same
/// numbers.
pub(crate) struct FlowTable<S> {
    /// Open addressing: number of the flow, and the upper half of its hash.
    slots: Vec<(u32, u32)>,
    flows: Vec<Known<S>>,
    /// Distinct keys, each of which has a slot.
    keys: usize,
    /// How many flows there were when guesses were made. What was guessed holds as long as none is added.
    guessed_among: usize,
    most: usize,
}

impl<S> FlowTable<S> {
    pub(crate) fn new(most: usize) -> Self {
        Self { slots: vec![(EMPTY, 0); 1024], flows: Vec::new(), keys: 0, guessed_among: 0, most }
    }

    pub(crate) fn flow(&self, number: usize) -> &Known<S> {
        &self.flows[number]
    }

    pub(crate) fn flow_mut(&mut self, number: usize) -> &mut Known<S> {
        &mut self.flows[number]
    }

    pub(crate) fn into_flows(self) -> Vec<Known<S>> {
        self.flows
    }

    /// Whether there are more than are in the cache anyhow.
    #[inline]
    pub(crate) fn has_many(&self) -> bool {
        self.flows.len() >= MANY_FLOWS
    }

    /// Brings what the table has on these segments into the cache, and notes which flows they seem to be of.
    /// With many flows each step is a wait for memory. Done for one segment after the other the waits add
    /// up; each step for all segments, which do not depend on each other, and they overlap.
    pub(crate) fn look_ahead(&mut self, segments: &mut [Held]) {
        let mask = self.slots.len() - 1;
        let many = self.has_many();
        if many {
            touch(segments.iter().map(|segment| u64::from(self.slots[segment.hash as usize & mask].0)));
        }
        for segment in &mut *segments {
            segment.guess = self.guess(segment.hash);
        }
        if many {
            let flows = segments.iter().filter_map(|segment| self.guessed(segment));
            touch(flows.map(|flows| u64::from(flows.identity.client_isn)));
        }
        self.guessed_among = self.flows.len();
    }

    /// The flow whose hash has the same upper half, if there is one.
    #[inline]
    fn guess(&self, hash: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (flow, tag) = self.slots[slot];
            if flow == EMPTY || tag == (hash >> 32) as u32 {
                return flow;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// What is known of the flow that a segment seems to be of.
    #[inline]
    pub(crate) fn guessed(&self, segment: &Held) -> Option<&Known<S>> {
        self.flows.get(segment.guess as usize)
    }

    /// Number of the segment's flow; None if there are too many flows. `fresh` gives what is kept of a flow
    /// with this number.
    #[inline]
    pub(crate) fn locate(&mut self, segment: &Held, fresh: impl FnOnce(usize) -> S) -> Option<usize> {
        let is_syn = segment.flags & SYN != 0;
        if !is_syn
            && self.guessed_among == self.flows.len()
            && self.guessed(segment).is_some_and(|guess| guess.identity.key == segment.key)
        {
            return Some(segment.guess as usize);
        }
        let slot = self.slot(&segment.key, segment.hash);
        let last = self.slots[slot].0;
        let mut flow = last;
        if last == EMPTY || (is_syn && self.is_another(last, segment)) {
            flow = self.add(segment, slot, fresh)?;
        }
        if is_syn {
            self.identify(flow, segment);
        }
        Some(flow as usize)
    }

    /// The last flow with this key.
    pub(crate) fn find(&self, key: &FlowKey) -> Option<usize> {
        let (flow, _) = self.slots[self.slot(key, key.hash())];
        (flow != EMPTY).then_some(flow as usize)
    }

    /// Where the key is, or would be.
    #[inline]
    fn slot(&self, key: &FlowKey, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut slot = hash as usize & mask;
        loop {
            let (flow, slot_tag) = self.slots[slot];
            if flow == EMPTY || (slot_tag == tag && self.flows[flow as usize].identity.key == *key) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn add(&mut self, segment: &Held, slot: usize, fresh: impl FnOnce(usize) -> S) -> Option<u32> {
        if self.flows.len() >= self.most {
            return None;
        }
        let flow = self.flows.len();
        self.keys += usize::from(self.slots[slot].0 == EMPTY);
        let identity = Identity { key: segment.key, client: None, client_isn: 0, syn_payload: 0 };
        self.flows.push(Known { identity, state: fresh(flow) });
        self.slots[slot] = (flow as u32, (segment.hash >> 32) as u32);
        if self.keys * 2 > self.slots.len() {
            self.grow();
        }
        Some(flow as u32)
    }

    #[cold]
    fn grow(&mut self) {
        self.slots = vec![(EMPTY, 0); self.slots.len() * 2];
        // Of flows with the same key the last has the slot.
        for flow in 0..self.flows.len() {
            let key = self.flows[flow].identity.key;
            let hash = key.hash();
            let slot = self.slot(&key, hash);
            self.slots[slot] = (flow as u32, (hash >> 32) as u32);
        }
    }

    /// Whether a SYN or SYN/ACK opens another connection than `flow`: one that has seen segments, but
    /// not this initial sequence number.
    fn is_another(&self, flow: u32, segment: &Held) -> bool {
        let identity = &self.flows[flow as usize].identity;
        let opening = Opening::of(segment);
        identity.client.is_none_or(|client| {
            client != opening.client
                || !is_same_isn(
                    (identity.client_isn, identity.syn_payload),
                    (opening.isn, opening.syn_payload),
                )
        })
    }

    fn identify(&mut self, flow: u32, segment: &Held) {
        let opening = Opening::of(segment);
        let identity = &mut self.flows[flow as usize].identity;
        // What an answer acknowledges contains the data of a SYN; the SYN itself says where they begin.
        if identity.client.is_none() || opening.is_exact {
            identity.client_isn = opening.isn;
        }
        identity.client = Some(opening.client);
        identity.syn_payload = identity.syn_payload.max(opening.syn_payload);
    }
}

/// Whether two initial sequence numbers of a client, each with the bytes of data in its SYN as far as they are known, are
/// of one connection: an answer that takes data of the SYN acknowledges them, too (RFC 7413 section 4.2).
pub(crate) fn is_same_isn(one: (u32, u16), other: (u32, u16)) -> bool {
    let ahead = other.0.wrapping_sub(one.0);
    ahead <= u32::from(one.1) || ahead.wrapping_neg() <= u32::from(other.1)
}

/// What a SYN or a SYN/ACK says of its connection.
struct Opening {
    /// The client's direction.
    client: u8,
    isn: u32,
    syn_payload: u16,
    /// Whether it is the SYN.
    is_exact: bool,
}

impl Opening {
    fn of(segment: &Held) -> Self {
        let is_exact = segment.flags & ACK == 0;
        if is_exact {
            let syn_payload = u16::try_from(segment.payload).unwrap_or(u16::MAX);
            return Self { client: segment.direction, isn: segment.seq, syn_payload, is_exact };
        }
        let isn = segment.ack.wrapping_sub(1);
        Self { client: 1 - segment.direction, isn, syn_payload: 0, is_exact }
    }
}
