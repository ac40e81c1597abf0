//! A directed link with the queue in front of it.
//!
//! It is given the time and does not know the event queue: [`SimulatedLink::next_event`] says when it wants
//! to be polled. Its state is brought forward lazily: transmissions that began since it was last
//! touched are worked off at their own exact times, so one event per packet, its arrival, is enough.

use crate::loss::Loss;
use crate::packet::{Chain, Direction, PacketId, PacketPool, Unpooled};
use crate::queues::{DropCause, Drops, Packets, Queue, Waiting};
use crate::random::Stream;
use crate::setup::LinkSetup;
use crate::variate::Sampler;
use anabranch_transport::Flags;
use anabranch_units::{Bytes, Instant, NodeId, Rate, Serializer, Span, rarely};

/// What a link has done. Packets: `offered = delivered + dropped + waiting + in flight`.
#[derive(Clone, Copy, Default, Debug)]
pub struct LinkStats {
    /// Packets that were handed to it.
    pub offered: u64,
    /// Packets whose transmission began.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Time spent transmitting, in picoseconds.
    pub busy_ps: u64,
    /// Packets that reached the other end.
    pub delivered: u64,
    /// Packets dropped, by cause.
    pub drops: Drops,
    /// Packets marked with congestion experienced.
    pub marks: u64,
    /// Most packets that waited at once.
    pub queue_max_packets: u64,
    /// Integral of waiting packets over time, in packet-picoseconds.
    pub queue_integral: u128,
}

/// Random behaviour of a link, if it has any.
pub struct Randomness {
    /// Loss process.
    pub loss: Loss,
    /// Draws of the loss process.
    pub loss_stream: Stream,
    /// Extra delay, and its draws.
    pub jitter: Option<(Sampler, Stream)>,
}

/// What the link reports while it works: drops and the beginnings of transmissions.
pub trait LinkObserver {
    /// A packet is gone; its place in the pool is about to be freed.
    fn dropped(&mut self, packet: PacketId, pool: &PacketPool, cause: DropCause);
    /// A transmission began, and counts in the link's `stats` already.
    fn transmits(&mut self, at: Instant, packet: PacketId, pool: &PacketPool, sent: u64);
}

/// A directed link, in three lines of the cache. A packet that finds it idle touches the first two, one that waits the
/// third.
#[repr(C, align(64))]
pub struct SimulatedLink {
    free_at: Instant,
    last_arrival: Instant,
    /// When the first packet in flight arrives, if there is one.
    next_arrival: Instant,
    flying: Chain,
    to: NodeId,
    delay: Span,
    serializer: Serializer,
    counters: Counters,
    /// None for a link that is up, delays all packets alike and loses none.
    trouble: Option<Box<Trouble>>,
    queue: Queue,
    /// Up to where the queue integral is complete.
    integrated_to: Instant,
    queue_integral: u128,
    /// None before the first one.
    incidents: Option<Box<Incidents>>,
    queue_max_packets: u32,
}

/// What few links have.
#[derive(Default)]
struct Trouble {
    is_down: bool,
    randomness: Option<Randomness>,
}

/// What each packet counts in; as in [`LinkStats`].
#[derive(Default)]
struct Counters {
    offered: u64,
    sent: u64,
    sent_bytes: u64,
    busy_ps: u64,
    delivered: u64,
}

/// What few packets count in; as in [`LinkStats`].
#[derive(Default)]
struct Incidents {
    marks: u64,
    drops: Drops,
}

/// The packets of a link as its queue sees them.
struct Handling<'l, O> {
    pool: &'l mut PacketPool,
    observer: &'l mut O,
    incidents: &'l mut Option<Box<Incidents>>,
}

impl<O: LinkObserver> Packets for Handling<'_, O> {
    fn drop(&mut self, id: PacketId, cause: DropCause) {
        self.incidents.get_or_insert_default().drops.add(cause, 1);
        self.observer.dropped(id, self.pool, cause);
        self.pool.remove(id);
    }

    fn mark(&mut self, id: PacketId) -> bool {
        let capable = self.pool.mark(id);
        if capable {
            self.incidents.get_or_insert_default().marks += 1;
        }
        capable
    }

    fn is_ecn_capable(&self, id: PacketId) -> bool {
        self.pool.segment(id).flags.has(Flags::ECT)
    }

    fn flow(&self, id: PacketId) -> u64 {
        let packet = self.pool.get(id);
        let backward = packet.direction == Direction::Backward;
        (u64::from(packet.flow.0) << 16) | (u64::from(packet.subflow) << 1) | u64::from(backward)
    }
}

impl SimulatedLink {
    /// An idle link.
    #[must_use]
    pub fn new(setup: &LinkSetup, queue: Queue, randomness: Option<Randomness>) -> Self {
        let trouble = |randomness| Box::new(Trouble { is_down: false, randomness: Some(randomness) });
        Self {
            free_at: Instant::ZERO,
            last_arrival: Instant::ZERO,
            next_arrival: Instant::ZERO,
            flying: Chain::default(),
            to: setup.to,
            delay: setup.delay,
            serializer: Serializer::new(setup.capacity),
            counters: Counters::default(),
            trouble: randomness.map(trouble),
            queue,
            integrated_to: Instant::ZERO,
            queue_integral: 0,
            incidents: None,
            queue_max_packets: 0,
        }
    }

    /// What it has done.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        let Counters { offered, sent, sent_bytes, busy_ps, delivered } = self.counters;
        LinkStats {
            offered,
            sent,
            sent_bytes,
            busy_ps,
            delivered,
            drops: self.incidents.as_ref().map_or_else(Drops::default, |incidents| incidents.drops),
            marks: self.incidents.as_ref().map_or(0, |incidents| incidents.marks),
            queue_max_packets: u64::from(self.queue_max_packets),
            queue_integral: self.queue_integral,
        }
    }

    /// The node at its other end.
    #[inline]
    #[must_use]
    pub const fn to(&self) -> NodeId {
        self.to
    }

    /// Whether it carries packets.
    #[inline]
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.trouble.as_ref().is_none_or(|trouble| !trouble.is_down)
    }

    /// Time spent transmitting up to `now`.
    #[must_use]
    pub fn busy(&self, now: Instant) -> Span {
        Span::from_ps(self.counters.busy_ps).saturating_sub(self.free_at.saturating_since(now))
    }

    /// The packets it holds, in order.
    pub fn packets<'p>(&'p self, pool: &'p PacketPool) -> impl Iterator<Item = PacketId> + 'p {
        self.flying.iter(pool).chain(self.queue.packets())
    }

    /// Packets and bytes that wait, without the one being sent.
    #[must_use]
    pub fn backlog(&self) -> (u64, u64) {
        (self.queue.backlog(), self.queue.bytes())
    }

    /// When what it has now will have been sent, rounded up.
    #[must_use]
    pub fn free_at(&self) -> Instant {
        self.free_at + self.serializer.rate().time_for(Bytes(self.queue.bytes()))
    }

    /// Packets whose transmission has begun and that have not arrived.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        u64::from(self.flying.len())
    }

    /// Takes a packet of so many bytes, to send it or to drop it; returns whether the next event may have changed.
    #[inline]
    pub fn offer(
        &mut self,
        now: Instant,
        (id, bytes): (PacketId, u32),
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) -> bool {
        self.counters.offered += 1;
        if rarely(!self.is_up()) {
            self.drop_packet(id, pool, observer, DropCause::Down);
            return false;
        }
        if rarely(self.is_behind(now)) {
            self.advance(now, pool, observer);
        }
        let arrival = Waiting { since: now, packet: id, bytes };
        // What waited then has been worked off.
        let idle = self.free_at <= now;
        if idle {
            if rarely(!self.queue.is_drop_tail()) && !self.pass(arrival, pool, observer) {
                return false;
            }
            let was_idle = self.flying.is_empty();
            self.transmit(now, arrival, pool, observer);
            return was_idle;
        }
        self.integrate(now);
        if !(self.queue.is_drop_tail() && self.queue.push(arrival)) {
            self.enqueue(arrival, pool, observer);
        }
        self.queue_max_packets = self.queue_max_packets.max(self.queue.backlog() as u32);
        // With something in flight the next event is its arrival; otherwise a departure that
        // was due already.
        self.flying.is_empty()
    }

    /// Asks the discipline about a packet that finds the link idle.
    #[inline(never)]
    fn pass(&mut self, arrival: Waiting, pool: &mut PacketPool, observer: &mut impl LinkObserver) -> bool {
        let mut packets = Handling { pool, observer, incidents: &mut self.incidents };
        self.queue.pass(arrival, self.free_at, &mut packets)
    }

    /// Hands a packet to the discipline.
    #[inline(never)]
    fn enqueue(&mut self, arrival: Waiting, pool: &mut PacketPool, observer: &mut impl LinkObserver) {
        let mut packets = Handling { pool, observer, incidents: &mut self.incidents };
        self.queue.enqueue(arrival, &mut packets);
    }

    /// Takes the packet to send from the discipline.
    #[inline(never)]
    fn choose(
        &mut self,
        at: Instant,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) -> Option<Waiting> {
        let mut packets = Handling { pool, observer, incidents: &mut self.incidents };
        self.queue.dequeue(at, &mut packets)
    }

    /// Adds up the queue since the last change.
    #[inline]
    fn integrate(&mut self, to: Instant) {
        let span = to.saturating_since(self.integrated_to).as_ps();
        self.queue_integral += u128::from(self.queue.backlog()) * u128::from(span);
        self.integrated_to = to;
    }

    /// Whether transmissions that began up to `now` are still to be worked off ([`SimulatedLink::advance`]).
    #[inline]
    #[must_use]
    pub fn is_behind(&self, now: Instant) -> bool {
        // At most links nothing waits: a branch of its own, or the compiler would compute both at each packet.
        rarely(!self.queue.is_empty()) && self.free_at <= now
    }

    /// Works off every transmission that began up to `now`.
    #[inline(never)]
    pub fn advance(&mut self, now: Instant, pool: &mut PacketPool, observer: &mut impl LinkObserver) {
        while self.free_at <= now && !self.queue.is_empty() {
            self.dequeue(self.free_at, pool, observer);
        }
    }

    fn dequeue(&mut self, at: Instant, pool: &mut PacketPool, observer: &mut impl LinkObserver) {
        self.integrate(at);
        let first =
            if self.queue.is_drop_tail() { self.queue.pop() } else { self.choose(at, pool, observer) };
        if let Some(first) = first {
            self.transmit(at, first, pool, observer);
        }
    }

    // In place: each packet comes by, and saving registers for a call would take a quarter of its instructions.
    #[inline(always)]
    fn transmit(
        &mut self,
        at: Instant,
        Waiting { packet: id, bytes, .. }: Waiting,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) {
        let serialisation = self.serializer.next(bytes);
        self.free_at = at + serialisation;
        self.counters.sent += 1;
        self.counters.sent_bytes += u64::from(bytes);
        self.counters.busy_ps += serialisation.as_ps();
        observer.transmits(at, id, pool, self.counters.sent);
        let mut arrival = self.free_at + self.delay;
        if rarely(self.trouble.is_some()) {
            let Some(late) = self.chance(arrival, id, pool) else {
                self.drop_packet(id, pool, observer, DropCause::Random);
                return;
            };
            arrival = late;
        }
        // Packets stay in order, whatever jitter or a shorter delay would have them do.
        arrival = arrival.max(self.last_arrival);
        self.last_arrival = arrival;
        if self.flying.is_empty() {
            self.next_arrival = arrival;
        }
        self.flying.push(id, arrival, pool);
    }

    /// When a packet arrives by jitter that would arrive at `arrival` without; `None` if it is lost.
    #[inline(never)]
    fn chance(&mut self, arrival: Instant, id: PacketId, pool: &PacketPool) -> Option<Instant> {
        let Some(Trouble { randomness: Some(randomness), .. }) = self.trouble.as_deref_mut() else {
            return Some(arrival);
        };
        let late = match &mut randomness.jitter {
            Some((jitter, stream)) => arrival.saturating_add(Span::from_ps(jitter.sample(stream) as u64)),
            None => arrival,
        };
        let data = || pool.segment(id).payload > 0;
        (!randomness.loss.lost(data, &mut randomness.loss_stream)).then_some(late)
    }

    /// When it wants to be polled: at the next arrival, or when a lost packet leaves the way free.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        if self.flying.is_empty() {
            return (!self.queue.is_empty()).then_some(self.free_at);
        }
        Some(self.next_arrival)
    }

    /// The packet that arrives at the other end now, if one does. The link is not behind.
    #[inline]
    pub fn poll(&mut self, now: Instant, pool: &PacketPool) -> Option<PacketId> {
        debug_assert!(!self.is_behind(now), "transmissions are still to be worked off");
        if rarely(self.flying.is_empty() || self.next_arrival > now) {
            return None;
        }
        let packet = self.flying.pop(pool)?;
        if let Some(next) = self.flying.next_arrival(pool) {
            self.next_arrival = next;
        }
        self.counters.delivered += 1;
        Some(packet)
    }

    /// Takes out all packets in flight with their arrivals, in order: those whose transmission began up to `now`. They go
    /// on in a copy of the link at its other end ([`SimulatedLink::take_in`]).
    pub fn hand_over(
        &mut self,
        now: Instant,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
        mut hand: impl FnMut(Unpooled, Instant),
    ) {
        self.advance(now, pool, observer);
        while let Some(id) = self.flying.pop(pool) {
            let arrival = pool.arrival(id);
            hand(pool.take(id), arrival);
        }
    }

    /// Takes a packet that another copy of the link has sent; returns whether the next event has changed.
    pub fn take_in(&mut self, packet: Unpooled, arrival: Instant, pool: &mut PacketPool) -> bool {
        let is_first = self.flying.is_empty();
        if is_first {
            self.next_arrival = arrival;
        }
        self.flying.push(pool.put(packet), arrival, pool);
        is_first
    }

    /// Books what a copy at its other end has delivered, and what is still in flight there.
    pub fn rejoin(&mut self, far: &Self) {
        self.counters.delivered = far.counters.delivered;
        self.flying = far.flying;
    }

    #[inline(never)]
    fn drop_packet(
        &mut self,
        id: PacketId,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
        cause: DropCause,
    ) {
        Handling { pool, observer, incidents: &mut self.incidents }.drop(id, cause);
    }

    /// Goes down, losing what waits and what is in flight, or comes up, idle.
    pub fn set_up(
        &mut self,
        now: Instant,
        up: bool,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) {
        self.advance(now, pool, observer);
        self.trouble.get_or_insert_default().is_down = !up;
        if up {
            return;
        }
        self.integrate(now);
        while let Some(id) = self.flying.pop(pool) {
            self.drop_packet(id, pool, observer, DropCause::Down);
        }
        for waiting in self.queue.flush(now) {
            self.drop_packet(waiting.packet, pool, observer, DropCause::Down);
        }
        // A transmission that is cut short was counted in full.
        self.counters.busy_ps -= self.free_at.saturating_since(now).as_ps();
        self.free_at = now;
        self.last_arrival = now;
    }

    /// New capacity; a packet being sent leaves at the old one.
    pub fn set_capacity(
        &mut self,
        now: Instant,
        capacity: Rate,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) {
        self.advance(now, pool, observer);
        self.serializer = Serializer::new(capacity);
        self.queue.set_rate(now, capacity);
    }

    /// New propagation delay, for packets sent from now on.
    pub fn set_delay(
        &mut self,
        now: Instant,
        delay: Span,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) {
        self.advance(now, pool, observer);
        self.delay = delay;
    }

    /// Another queue, empty so far, which takes over what waits.
    pub fn set_queue(
        &mut self,
        now: Instant,
        queue: Queue,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) {
        self.advance(now, pool, observer);
        self.integrate(now);
        let mut packets = Handling { pool, observer, incidents: &mut self.incidents };
        self.queue.hand_over(now, queue, &mut packets);
    }

    /// New random behaviour, for packets sent from now on.
    pub fn set_randomness(
        &mut self,
        now: Instant,
        change: impl FnOnce(&mut Option<Randomness>),
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) {
        self.advance(now, pool, observer);
        change(&mut self.trouble.get_or_insert_default().randomness);
    }

    /// Brings the queue integral up to `now`, for reading [`SimulatedLink::stats`].
    pub fn settle(&mut self, now: Instant, pool: &mut PacketPool, observer: &mut impl LinkObserver) {
        self.advance(now, pool, observer);
        self.integrate(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_lies_in_three_lines_of_the_cache() {
        assert_eq!((size_of::<SimulatedLink>(), align_of::<SimulatedLink>()), (192, 64));
    }
}
