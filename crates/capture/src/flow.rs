//! Which flow a segment belongs to.

use crate::packet::{ACK, Endpoint, SYN, Segment};

/// Most TCP flows of one file that are followed; with the survey's records some 100 MB at most.
pub(crate) const MOST_FLOWS: usize = 1 << 18;
const EMPTY: u32 = u32::MAX;

/// The two ends of a flow, the smaller first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FlowKey {
    pub ends: [Endpoint; 2],
}

impl FlowKey {
    /// The flow of a segment, and its direction: 0 if the first end sent it, else 1.
    #[inline]
    fn of(segment: &Segment<'_>) -> (Self, usize) {
        if segment.source <= segment.destination {
            (Self { ends: [segment.source, segment.destination] }, 0)
        } else {
            (Self { ends: [segment.destination, segment.source] }, 1)
        }
    }

    /// Spreads the key over 64 bits: multiply and fold, twice.
    #[inline]
    fn hash(&self) -> u64 {
        const A: u64 = 0x9E37_79B9_7F4A_7C15;
        const B: u64 = 0xD6E8_FEB8_6659_FD93;
        let fold = |x: u64, y: u64| {
            let product = u128::from(x) * u128::from(y);
            (product as u64) ^ (product >> 64) as u64
        };
        let [a, b] = self.ends;
        let ports = u64::from(a.port) << 16 | u64::from(b.port);
        let low = fold(a.address as u64 ^ A, b.address as u64 ^ B ^ ports.rotate_left(32));
        let high = fold((a.address >> 64) as u64 ^ B, (b.address >> 64) as u64 ^ A);
        fold(low ^ ports ^ A, high ^ low.rotate_left(29) ^ B)
    }
}

/// What tells connections between the same ends apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub key: FlowKey,
    /// Direction in which the client sends; None until a SYN or SYN/ACK was seen.
    pub client: Option<u8>,
    /// The client's initial sequence number.
    pub client_isn: u32,
}

/// Finds flows by their ends. Flows are numbered in the order of their first packets; ends that are used
/// again, with another initial sequence number, are another flow. The same segments always give the same
/// numbers.
pub(crate) struct FlowTable {
    /// Open addressing: number of the flow, and the upper half of its hash.
    slots: Vec<(u32, u32)>,
    flows: Vec<Identity>,
    /// Distinct keys, each of which has a slot.
    keys: usize,
    last: Option<(FlowKey, u32)>,
    most: usize,
}

impl FlowTable {
    pub(crate) fn new(most: usize) -> Self {
        Self { slots: vec![(EMPTY, 0); 1024], flows: Vec::new(), keys: 0, last: None, most }
    }

    pub(crate) fn flows(&self) -> &[Identity] {
        &self.flows
    }

    /// Number of the segment's flow and the direction it goes; None if there are too many flows.
    #[inline]
    pub(crate) fn locate(&mut self, segment: &Segment<'_>) -> Option<(usize, usize)> {
        let (key, direction) = FlowKey::of(segment);
        let is_syn = segment.flags & SYN != 0;
        if let Some((last, flow)) = self.last
            && last == key
            && !is_syn
        {
            return Some((flow as usize, direction));
        }
        let hash = key.hash();
        let slot = self.slot(&key, hash);
        let found = self.slots[slot].0;
        let mut flow = found;
        if found == EMPTY || (is_syn && self.is_another(found, segment, direction)) {
            flow = self.add(key, slot, hash)?;
        }
        if is_syn {
            self.identify(flow, segment, direction);
        }
        self.last = Some((key, flow));
        Some((flow as usize, direction))
    }

    /// Where the key is, or would be.
    #[inline]
    fn slot(&self, key: &FlowKey, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut slot = hash as usize & mask;
        loop {
            let (flow, found) = self.slots[slot];
            if flow == EMPTY || (found == tag && self.flows[flow as usize].key == *key) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn add(&mut self, key: FlowKey, slot: usize, hash: u64) -> Option<u32> {
        if self.flows.len() >= self.most {
            return None;
        }
        let flow = self.flows.len() as u32;
        self.keys += usize::from(self.slots[slot].0 == EMPTY);
        self.flows.push(Identity { key, client: None, client_isn: 0 });
        self.slots[slot] = (flow, (hash >> 32) as u32);
        if self.keys * 2 > self.slots.len() {
            self.grow();
        }
        Some(flow)
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![(EMPTY, 0); old.len() * 2];
        for entry in old.into_iter().filter(|entry| entry.0 != EMPTY) {
            let key = self.flows[entry.0 as usize].key;
            let slot = self.slot(&key, key.hash());
            self.slots[slot] = entry;
        }
    }

    /// Whether a SYN or SYN/ACK opens another connection than `flow`: one that has seen segments, but
    /// not this initial sequence number.
    fn is_another(&self, flow: u32, segment: &Segment<'_>, direction: usize) -> bool {
        let known = &self.flows[flow as usize];
        let (client, isn) = opening(segment, direction);
        match known.client {
            Some(known_client) => (known_client, known.client_isn) != (client, isn),
            None => true,
        }
    }

    fn identify(&mut self, flow: u32, segment: &Segment<'_>, direction: usize) {
        let (client, isn) = opening(segment, direction);
        let known = &mut self.flows[flow as usize];
        known.client = Some(client);
        known.client_isn = isn;
    }
}

/// The client's direction and its initial sequence number, of a SYN or a SYN/ACK, which acknowledges it.
fn opening(segment: &Segment<'_>, direction: usize) -> (u8, u32) {
    if segment.flags & ACK == 0 {
        (direction as u8, segment.seq)
    } else {
        (1 - direction as u8, segment.ack.wrapping_sub(1))
    }
}
