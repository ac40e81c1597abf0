//! Packets and where they live.

use anabranch_transport::spray::HEADERS;
use anabranch_transport::{Flags, Segment};
use anabranch_units::{FlowId, Instant, NodeId, prefetch, rarely};
use std::collections::BTreeMap;

/// Flow number of packets that belong to no flow.
pub const NO_FLOW: FlowId = FlowId(u32::MAX);

/// Which way a packet of a flow goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the flow's source to its destination: data.
    Forward,
    /// Back: acknowledgments.
    Backward,
}

/// How a packet finds its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Steering {
    /// Along a path: its cursor says where on it.
    Path,
    /// Hop by hop: each node looks up the next one.
    NextHops,
    /// By the flow tables of the switches.
    FlowTables,
    /// Along a path between the controller and a switch or a sender; it carries a message.
    Channel,
    /// Along a path, by an entropy value: a packet of `spray`, which may be trimmed.
    SprayPath,
    /// Hop by hop, by an entropy value.
    SprayHops,
}

impl Steering {
    /// Whether each node looks up the next hop.
    #[inline]
    #[must_use]
    pub const fn is_hop_by_hop(self) -> bool {
        matches!(self, Self::NextHops | Self::SprayHops)
    }

    /// Whether it is a packet of `spray`, which has an entropy value.
    #[inline]
    #[must_use]
    pub const fn is_spray(self) -> bool {
        matches!(self, Self::SprayPath | Self::SprayHops)
    }

    /// That of a packet of `spray` which finds its way like this.
    #[must_use]
    pub const fn by_entropy(self) -> Self {
        match self {
            Self::Path => Self::SprayPath,
            Self::NextHops => Self::SprayHops,
            other => other,
        }
    }
}

/// Handle of a packet in the [`PacketPool`].
pub type PacketId = u32;

/// A packet on its way, without what it carries. It may be a train: several segments that the sending host left to be
/// cut later (segmentation offload), and that links take, delay, mark and lose as one.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Whose it is.
    pub flow: FlowId,
    /// Where it goes.
    pub destination: NodeId,
    /// Bytes of the IP packet; of a train, of all of its packets.
    pub bytes: u32,
    /// Index of its next hop in the engine's list of path links, if it goes along a path; 0 otherwise.
    pub cursor: u32,
    /// Hops it may still take; ends loops in plans made elsewhere.
    pub hops_left: u8,
    /// Which way it goes.
    pub direction: Direction,
    /// Subflow of its flow; 0 where the flow is not multipath.
    pub subflow: u8,
    /// How it finds its way.
    pub steering: Steering,
}

impl Packet {
    /// What stands in a place that no packet has had yet.
    pub(crate) const NONE: Self = Self {
        flow: FlowId(0),
        destination: NodeId(0),
        bytes: 0,
        cursor: 0,
        hops_left: 0,
        direction: Direction::Forward,
        subflow: 0,
        steering: Steering::Path,
    };
}

/// A packet outside of any pool, with all that it carries.
#[derive(Clone, Debug)]
pub struct Unpooled {
    packet: Packet,
    order: u32,
    segment: Segment,
    apart: Option<Apart>,
}

impl Unpooled {
    /// The packet itself.
    #[must_use]
    pub const fn packet(&self) -> &Packet {
        &self.packet
    }

    /// The same, for who gives it other numbers.
    pub const fn packet_mut(&mut self) -> &mut Packet {
        &mut self.packet
    }
}

/// What few packets have.
#[derive(Clone, Default, Debug)]
struct Apart {
    /// The segments of a train behind the first.
    rest: Vec<Segment>,
    /// What it shares with its copies, and with what answers them.
    family: Option<Family>,
    is_corrupted: bool,
}

/// A packet that a link has duplicated, and its copies: they have a number that no others of the run have.
pub type Family = u64;

/// A packet and its place in a [`Chain`]: half a line of the cache, and never parts of two.
#[derive(Debug)]
#[repr(align(32))]
struct Stored {
    packet: Packet,
    /// The packet behind it, if it is in a chain and not the last.
    next: PacketId,
    /// When it arrives, if it is in flight, or since when it waits.
    arrival: Instant,
}

/// What only the ends of a packet's way ask for. A segment is as long as a line of the cache; it lies in one.
#[derive(Debug)]
#[repr(align(64))]
struct Carried(Segment);

/// Packets in order, such as those in flight, first to arrive first: a list through the pool, so that no link has memory of
/// its own for them.
#[derive(Clone, Copy, Default, Debug)]
pub struct Chain {
    first: PacketId,
    last: PacketId,
    count: u32,
}

impl Chain {
    /// How many there are.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Puts a packet of the pool behind the others.
    #[inline]
    pub fn push(&mut self, id: PacketId, arrival: Instant, pool: &mut PacketPool) {
        pool.packets[id as usize].arrival = arrival;
        if self.count == 0 {
            self.first = id;
        } else {
            pool.packets[self.last as usize].next = id;
        }
        self.last = id;
        self.count += 1;
    }

    /// Puts a packet behind those that arrive at the same time or earlier; whether it is the first now.
    pub fn insert(&mut self, id: PacketId, arrival: Instant, pool: &mut PacketPool) -> bool {
        if self.last_arrival(pool).is_none_or(|last| last <= arrival) {
            self.push(id, arrival, pool);
            return self.count == 1;
        }
        let earlier = self.iter(pool).take_while(|&other| pool.arrival(other) <= arrival).last();
        pool.packets[id as usize].arrival = arrival;
        let link = match earlier {
            Some(before) => &mut pool.packets[before as usize].next,
            None => &mut self.first,
        };
        let behind = std::mem::replace(link, id);
        pool.packets[id as usize].next = behind;
        self.count += 1;
        earlier.is_none()
    }

    /// Takes out the first one.
    #[inline]
    pub fn pop(&mut self, pool: &PacketPool) -> Option<PacketId> {
        self.pop_arrived(Instant::MAX, pool)
    }

    /// Takes out the first one, if it has arrived by `now`.
    #[inline]
    pub fn pop_arrived(&mut self, now: Instant, pool: &PacketPool) -> Option<PacketId> {
        if rarely(self.is_empty()) {
            return None;
        }
        let (id, stored) = (self.first, &pool.packets[self.first as usize]);
        if rarely(stored.arrival > now) {
            return None;
        }
        self.count -= 1;
        // Of the last one it is no packet's place, and nobody asks for it.
        self.first = stored.next;
        Some(id)
    }

    /// When the first one arrives.
    #[inline]
    #[must_use]
    pub fn next_arrival(&self, pool: &PacketPool) -> Option<Instant> {
        (self.count > 0).then(|| pool.packets[self.first as usize].arrival)
    }

    /// Begins to fetch the first one.
    #[inline]
    pub fn prefetch_first(&self, pool: &PacketPool) {
        prefetch(&pool.packets[self.first as usize]);
    }

    /// Begins to fetch the second one.
    #[inline]
    pub fn prefetch_second(&self, pool: &PacketPool) {
        prefetch(&pool.packets[pool.packets[self.first as usize].next as usize]);
    }

    /// When the last one arrives.
    #[must_use]
    pub fn last_arrival(&self, pool: &PacketPool) -> Option<Instant> {
        (self.count > 0).then(|| pool.packets[self.last as usize].arrival)
    }

    /// The first one. Begins to fetch the one behind it.
    #[inline]
    #[must_use]
    pub fn look_ahead(&self, pool: &PacketPool) -> Option<PacketId> {
        let id = (self.count > 0).then_some(self.first)?;
        if self.count > 1 {
            prefetch(&pool.packets[pool.packets[id as usize].next as usize]);
        }
        Some(id)
    }

    /// Its packets, first to last.
    pub fn iter(self, pool: &PacketPool) -> impl Iterator<Item = PacketId> + '_ {
        let next = |&id: &PacketId| Some(pool.packets[id as usize].next);
        std::iter::successors(Some(self.first), next).take(self.count as usize)
    }
}

/// A slab of packets and, beside them, the segments they carry: a hop touches the packet only, and
/// the packets of a busy network stay in cache. Freed places are used again, the warmest first.
#[derive(Default, Debug)]
pub struct PacketPool {
    packets: Vec<Stored>,
    segments: Vec<Carried>,
    /// The place of each packet among those of its subflow and direction that carry data, in order of sending.
    orders: Vec<u32>,
    /// The entropy values of packets of `spray`: as long as the highest number of such a packet.
    entropies: Vec<u16>,
    free: Vec<PacketId>,
    /// What few packets have, so that the others do not pay for it.
    apart: BTreeMap<PacketId, Apart>,
}

impl PacketPool {
    /// Stores a packet. `order` is its place among the packets of its subflow and direction that carry data, in order
    /// of sending; of a train, that of its first segment.
    #[inline(always)]
    pub fn insert(&mut self, packet: Packet, order: u32, segment: &Segment) -> PacketId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        self.packets[id as usize].packet = packet;
        self.segments[id as usize].0 = *segment;
        self.orders[id as usize] = order;
        id
    }

    /// Makes a place that there has not been before. What goes there it is not given: the compiler would put each packet
    /// together in memory, of many small writes, to hand it on here, and copying it from there has to wait for all of them.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> PacketId {
        let id = self.packets.len() as PacketId;
        self.packets.push(Stored { packet: Packet::NONE, next: 0, arrival: Instant::ZERO });
        self.segments.push(Carried(Segment::default()));
        self.orders.push(0);
        id
    }

    /// The place of a packet in order of sending, as it was given to [`PacketPool::insert`].
    #[inline]
    #[must_use]
    pub fn order(&self, id: PacketId) -> u32 {
        self.orders[id as usize]
    }

    /// Frees a packet's place.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        if rarely(self.has_some_apart()) {
            self.apart.remove(&id);
        }
        self.free.push(id);
    }

    /// Takes a packet out, for another pool.
    pub fn take(&mut self, id: PacketId) -> Unpooled {
        let (packet, order, segment) = (*self.get(id), self.order(id), *self.segment(id));
        let apart = self.apart.remove(&id);
        self.remove(id);
        Unpooled { packet, order, segment, apart }
    }

    /// Stores a packet of another pool.
    pub fn put(&mut self, Unpooled { packet, order, segment, apart }: Unpooled) -> PacketId {
        let id = self.insert(packet, order, &segment);
        self.apart.extend(apart.map(|apart| (id, apart)));
        if rarely(packet.steering.is_spray()) {
            self.set_entropy(id, segment.entropy());
        }
        id
    }

    /// Notes the entropy value of a packet of `spray` where hops find it.
    pub fn set_entropy(&mut self, id: PacketId, entropy: u16) {
        if self.entropies.len() <= id as usize {
            self.entropies.resize(self.packets.len(), 0);
        }
        self.entropies[id as usize] = entropy;
    }

    /// A packet, to change it, and the entropy values of all that are of `spray`, by their numbers.
    #[inline]
    pub fn get_with_entropies(&mut self, id: PacketId) -> (&mut Packet, &[u16]) {
        (&mut self.packets[id as usize].packet, &self.entropies)
    }

    /// The entropy value of a packet of `spray`.
    #[inline]
    #[must_use]
    pub fn entropy(&self, id: PacketId) -> u16 {
        self.entropies[id as usize]
    }

    /// Cuts a packet of `spray` to its headers, in front of the last link of its way or before; whether it had more.
    pub fn trim(&mut self, id: PacketId, at_last_hop: bool) -> bool {
        let packet = &mut self.packets[id as usize].packet;
        if !packet.steering.is_spray() || packet.bytes <= HEADERS {
            return false;
        }
        packet.bytes = HEADERS;
        self.segments[id as usize].0.trim(at_last_hop);
        true
    }

    /// Stores another packet like this one. Both are of its family; if it has none yet, of this one.
    pub fn duplicate(&mut self, id: PacketId, family: Family) -> PacketId {
        self.apart.entry(id).or_default().family.get_or_insert(family);
        let copy = Unpooled {
            packet: *self.get(id),
            order: self.order(id),
            segment: *self.segment(id),
            apart: self.apart.get(&id).cloned(),
        };
        self.put(copy)
    }

    /// The packet, its copies and what answers them, if it has been duplicated.
    #[must_use]
    pub fn family(&self, id: PacketId) -> Option<Family> {
        self.apart.get(&id).and_then(|apart| apart.family)
    }

    /// Puts a packet into a family.
    pub fn set_family(&mut self, id: PacketId, family: Family) {
        self.apart.entry(id).or_default().family = Some(family);
    }

    /// Damages a packet.
    pub fn corrupt(&mut self, id: PacketId) {
        self.apart.entry(id).or_default().is_corrupted = true;
    }

    /// Whether a packet is damaged.
    #[must_use]
    pub fn is_corrupted(&self, id: PacketId) -> bool {
        self.apart.get(&id).is_some_and(|apart| apart.is_corrupted)
    }

    /// When a packet in flight arrives, or since when one waits.
    #[inline]
    #[must_use]
    pub fn arrival(&self, id: PacketId) -> Instant {
        self.packets[id as usize].arrival
    }

    /// Notes when a packet has arrived that does not wait yet.
    pub fn set_arrival(&mut self, id: PacketId, arrival: Instant) {
        self.packets[id as usize].arrival = arrival;
    }

    /// Whether any packet is a train, has been duplicated or is damaged.
    #[inline]
    #[must_use]
    pub fn has_some_apart(&self) -> bool {
        !self.apart.is_empty()
    }

    /// Makes a packet the head of a train that goes on with these segments.
    pub fn couple(&mut self, id: PacketId, rest: Vec<Segment>) {
        self.apart.entry(id).or_default().rest = rest;
    }

    /// Takes the segments of a train behind the first; none where the packet is no train.
    pub fn uncouple(&mut self, id: PacketId) -> Vec<Segment> {
        self.apart.get_mut(&id).map(|apart| std::mem::take(&mut apart.rest)).unwrap_or_default()
    }

    /// All that a packet carries: one segment, or those of a train in order.
    #[inline]
    pub fn segments(&self, id: PacketId) -> impl Iterator<Item = &Segment> {
        let apart = if self.apart.is_empty() { None } else { self.apart.get(&id) };
        std::iter::once(self.segment(id)).chain(apart.into_iter().flat_map(|apart| &apart.rest))
    }

    /// How many segments a packet carries.
    #[inline]
    #[must_use]
    pub fn segment_count(&self, id: PacketId) -> u64 {
        self.segments(id).count() as u64
    }

    /// Marks a packet, all segments of a train, with congestion experienced; whether it can be marked.
    #[inline]
    pub fn mark(&mut self, id: PacketId) -> bool {
        let first = &mut self.segments[id as usize].0;
        if !first.flags.has(Flags::ECT) {
            return false;
        }
        first.flags = first.flags.with(Flags::CE);
        if !self.apart.is_empty() {
            for segment in self.apart.get_mut(&id).into_iter().flat_map(|apart| &mut apart.rest) {
                segment.flags = segment.flags.with(Flags::CE);
            }
        }
        true
    }

    /// A packet.
    #[inline]
    #[must_use]
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize].packet
    }

    /// A packet, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize].packet
    }

    /// The first segment that a packet carries, mostly the only one.
    #[inline]
    #[must_use]
    pub fn segment(&self, id: PacketId) -> &Segment {
        &self.segments[id as usize].0
    }

    /// The first segment that a packet carries, to change it.
    #[inline]
    pub fn segment_mut(&mut self, id: PacketId) -> &mut Segment {
        &mut self.segments[id as usize].0
    }

    /// Packets in the network.
    #[must_use]
    pub fn live(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn packet() -> Packet {
        Packet {
            flow: FlowId(0),
            destination: NodeId(0),
            bytes: 1500,
            cursor: 0,
            hops_left: 1,
            direction: Direction::Forward,
            subflow: 0,
            steering: Steering::Path,
        }
    }

    /// A copy has all that its packet has; both are of one family, and what a copy is copied to is of it, too.
    #[test]
    fn a_copy_carries_the_same() {
        let mut pool = PacketPool::default();
        let id = pool.insert(packet(), 7, &Segment { payload: 5, ..Segment::default() });
        pool.couple(id, vec![Segment { payload: 6, ..Segment::default() }]);
        let copy = pool.duplicate(id, 11);
        let again = pool.duplicate(copy, 12);
        pool.corrupt(copy);
        let payloads = |id| pool.segments(id).map(|segment| segment.payload).collect::<Vec<_>>();
        assert_eq!([payloads(id), payloads(copy), payloads(again)], [[5, 6], [5, 6], [5, 6]]);
        assert_eq!([id, copy, again].map(|id| (pool.order(id), pool.family(id))), [(7, Some(11)); 3]);
        assert_eq!([id, copy, again].map(|id| pool.is_corrupted(id)), [false, true, false]);
        let moved = pool.take(copy);
        let copy = pool.put(moved);
        assert!(pool.is_corrupted(copy) && pool.family(copy) == Some(11));
        [id, copy, again].into_iter().for_each(|id| pool.remove(id));
        assert!(!pool.has_some_apart() && pool.live() == 0);
    }

    #[test]
    fn no_packet_and_no_segment_lies_in_two_lines_of_the_cache() {
        assert_eq!((size_of::<Stored>(), align_of::<Stored>()), (32, 32));
        assert_eq!((size_of::<Carried>(), align_of::<Carried>()), (64, 64));
    }

    proptest! {
        /// A chain into which packets are put by their arrivals is a sort that leaves equal ones in their order.
        #[test]
        fn packets_are_put_in_by_their_arrivals(arrivals in prop::collection::vec(0u64..30, 1..60)) {
            let (mut pool, mut chain, mut expected) = (PacketPool::default(), Chain::default(), Vec::new());
            for (number, ps) in (0..).zip(arrivals) {
                let id = pool.insert(packet(), number, &Segment::default());
                let is_first = chain.insert(id, Instant::from_ps(ps), &mut pool);
                expected.push((ps, id));
                expected.sort_by_key(|(ps, _)| *ps);
                prop_assert_eq!(is_first, expected[0].1 == id);
                let ids: Vec<PacketId> = expected.iter().map(|(_, id)| *id).collect();
                prop_assert_eq!(chain.iter(&pool).collect::<Vec<_>>(), ids);
                prop_assert_eq!(chain.last_arrival(&pool), expected.last().map(|(ps, _)| Instant::from_ps(*ps)));
            }
        }

        /// Chains of one pool, against queues of their own: packets go to one of them, leave it, and their places are used again.
        #[test]
        fn chains_are_queues(steps in prop::collection::vec((0usize..3, any::<bool>()), 1..200)) {
            let mut pool = PacketPool::default();
            let mut chains = [Chain::default(); 3];
            let mut queues: [VecDeque<(PacketId, Instant)>; 3] = Default::default();
            for (step, (which, arrives)) in (0u64..).zip(steps) {
                if arrives {
                    let (id, at) = (pool.insert(packet(), 0, &Segment::default()), Instant::ZERO + Span::from_ps(step));
                    chains[which].push(id, at, &mut pool);
                    queues[which].push_back((id, at));
                } else {
                    let popped = chains[which].pop(&pool);
                    prop_assert_eq!(popped, queues[which].pop_front().map(|(id, _)| id));
                    popped.into_iter().for_each(|id| pool.remove(id));
                }
                for (chain, queue) in chains.iter().zip(&queues) {
                    let ids: Vec<PacketId> = queue.iter().map(|&(id, _)| id).collect();
                    prop_assert_eq!(chain.iter(&pool).collect::<Vec<_>>(), ids);
                    prop_assert_eq!(chain.next_arrival(&pool), queue.front().map(|&(_, at)| at));
                    prop_assert_eq!(chain.len() as usize, queue.len());
                }
            }
        }
    }
}
