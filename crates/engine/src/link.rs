//! A directed link with the queue in front of it.
//!
//! It is given the time and does not know the event queue: [`SimulatedLink::next_event`] says when it wants
//! to be polled. Its state is brought forward lazily: transmissions that began since it was last
//! touched are worked off at their own exact times, so one event per packet, its arrival, is enough.

mod handling;
pub mod impairments;
mod special;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_special;
pub mod token_bucket;

use crate::loss::Loss;
use crate::packet::{Chain, PacketId, PacketPool, Unpooled};
use crate::queues::{DropCause, Drops, Queue, Waiting};
use crate::random::Stream;
use crate::setup::LinkSetup;
use crate::variate::Sampler;
use anabranch_units::{Bytes, FlowId, Instant, NodeId, Rate, Serializer, Span, rarely};
use handling::Handling;
use impairments::Impairments;
use special::Shaper;
use token_bucket::TokenBucket;

/// What a link has done. Packets: `offered + duplicated = delivered + dropped + waiting + in flight`.
#[derive(Clone, Copy, Default, Debug)]
pub struct LinkStats {
    /// Packets that were handed to it.
    pub offered: u64,
    /// Packets whose transmission began.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that reached the other end.
    pub delivered: u64,
    /// Packets dropped, by cause.
    pub drops: Drops,
    /// Packets marked with congestion experienced.
    pub marks: u64,
    /// Packets whose payload was cut off in front of it.
    pub trims: u64,
    /// Most packets that waited at once.
    pub queue_max_packets: u64,
    /// Copies that it made of packets.
    pub duplicated: u64,
    /// Packets that it damaged, copies among them.
    pub corrupted: u64,
    /// Packets that it let overtake others.
    pub reordered: u64,
}

/// Random behaviour of a link, if it has any.
pub struct Randomness {
    /// Loss process.
    pub loss: Loss,
    /// Draws of the loss process.
    pub loss_stream: Stream,
    /// Extra delay, and its draws.
    pub jitter: Option<(Sampler, Stream)>,
    /// What else happens to single packets. In a box, because few links have it.
    pub impairments: Option<Box<Impairments>>,
}

/// What the link reports while it works: drops and the beginnings of transmissions.
pub trait LinkObserver {
    /// The number in the setup of a packet's flow, which a part of a run numbers in its own way.
    fn flow_number(&self, flow: FlowId) -> FlowId {
        flow
    }
    /// A packet of `spray` is cut to its headers.
    fn trimmed(&mut self, packet: PacketId, pool: &PacketPool);
    /// A packet is gone; its place in the pool is about to be freed.
    fn dropped(&mut self, packet: PacketId, pool: &PacketPool, cause: DropCause);
    /// A transmission begins: that of the packet that is number `sent` on this link.
    fn transmits(&mut self, at: Instant, packet: PacketId, pool: &PacketPool, sent: impl FnOnce() -> u64);
    /// A packet is to arrive twice, as number `count` of those that this link has duplicated; its copy, if it is one of which
    /// there may be one.
    fn duplicates(&mut self, packet: PacketId, count: u64, pool: &mut PacketPool) -> Option<PacketId>;
}

/// What a packet that is offered makes of the next event of its link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextEvent {
    /// It stays.
    Same,
    /// It is the arrival of this packet.
    At(Instant),
    /// It is to be asked for ([`SimulatedLink::next_event`]).
    Changed,
}

/// A directed link, in two lines of the cache. A packet that finds it idle touches the first, one that waits the second.
#[repr(C, align(64))]
pub struct SimulatedLink {
    free_at: Instant,
    serializer: Serializer,
    delay: Span,
    flying: Chain,
    to: NodeId,
    /// As in [`LinkStats`], the lower halves; the upper ones are in [`Aside`]. What has been sent is what is in flight, has
    /// been delivered, or has been lost on the way.
    offered: u32,
    delivered: u32,
    sent_bytes: u32,
    /// Whether something waits.
    waits: bool,
    /// Whether a packet has to ask [`Aside`], the discipline of the queue, or for the last arrival: not where the link is up
    /// and has a drop-tail queue, and has always delayed all packets alike and lost none.
    is_special: bool,
    queue: Queue,
    /// Picoseconds that packets have waited that wait no more: the lower half.
    waited_ps: u64,
    /// None where all of it is zero.
    aside: Option<Box<Aside>>,
}

/// What few links have, and few packets touch.
#[derive(Default)]
struct Aside {
    is_down: bool,
    /// It loses all that it sends, and nobody hears of it.
    is_silent: bool,
    randomness: Option<Randomness>,
    shaper: Option<Box<Shaper>>,
    policer: Option<Box<TokenBucket>>,
    marks: u64,
    trims: u64,
    drops: Drops,
    duplicated: u64,
    corrupted: u64,
    reordered: u64,
    /// Packets that are longer than the bucket of the shaper.
    too_long: u64,
    /// Packets that were in flight when the link went down, and that another copy of the link delivers.
    cut: u64,
    handed_over: u64,
    /// When the last one of those arrives that another copy delivers.
    last_elsewhere: Instant,
    /// What is left of the counts above their lower halves.
    offered: u64,
    delivered: u64,
    sent_bytes: u64,
    waited_ps: u128,
    /// Time spent transmitting at earlier rates, less what was cut short, in picoseconds; and the bytes sent by then.
    busy_before_ps: u64,
    bytes_before: u64,
}

/// Adds to the lower half of a count; whether the upper half is one more.
#[inline]
const fn carries(lower: &mut u32, more: u32) -> bool {
    let (sum, carries) = lower.overflowing_add(more);
    *lower = sum;
    carries
}

impl SimulatedLink {
    /// An idle link.
    #[must_use]
    pub fn new(setup: &LinkSetup, queue: Queue, randomness: Option<Randomness>) -> Self {
        let mut link = Self::with(setup, queue, Aside::of(setup, randomness));
        link.note_kind();
        link
    }

    /// The other end alone of a link that begins in another part of the run: packets arrive there that the link sends.
    #[must_use]
    pub fn far(setup: &LinkSetup) -> Self {
        Self::with(setup, Queue::without_room(), None)
    }

    fn with(setup: &LinkSetup, queue: Queue, aside: Option<Box<Aside>>) -> Self {
        Self {
            free_at: Instant::ZERO,
            serializer: Serializer::new(setup.capacity),
            delay: setup.delay,
            flying: Chain::default(),
            to: setup.to,
            offered: 0,
            delivered: 0,
            sent_bytes: 0,
            waits: false,
            is_special: false,
            queue,
            waited_ps: 0,
            aside,
        }
    }

    /// Notes whether packets have to ask for more than the first line of the cache.
    fn note_kind(&mut self) {
        self.is_special |= !self.queue.is_drop_tail() || self.aside.as_deref().is_some_and(Aside::is_asked);
    }

    /// What it has done.
    #[inline]
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        let aside = self.aside.as_deref();
        let above = |count: fn(&Aside) -> u64| aside.map_or(0, count);
        let delivered = above(|aside| aside.delivered) + u64::from(self.delivered);
        let lost = above(Aside::lost_on_the_way);
        let duplicated = above(|aside| aside.duplicated);
        LinkStats {
            offered: above(|aside| aside.offered) + u64::from(self.offered),
            sent: delivered + self.in_flight() + lost + above(|aside| aside.handed_over) - duplicated,
            sent_bytes: self.sent_bytes(),
            delivered,
            drops: aside.map_or_else(Drops::default, |aside| aside.drops),
            marks: above(|aside| aside.marks),
            trims: above(|aside| aside.trims),
            queue_max_packets: self.queue.longest(),
            duplicated,
            corrupted: above(|aside| aside.corrupted),
            reordered: above(|aside| aside.reordered),
        }
    }

    /// Integral of waiting packets over time up to `now`, in packet-picoseconds: how long all packets have waited. The link
    /// is not behind.
    #[must_use]
    pub fn queue_integral(&self, now: Instant, pool: &PacketPool) -> u128 {
        let waiting = self.queue.packets(pool).into_iter().chain(self.held_back());
        let so_far: u128 = waiting.map(|id| u128::from(now.saturating_since(pool.arrival(id)).as_ps())).sum();
        self.aside.as_ref().map_or(0, |aside| aside.waited_ps) + u128::from(self.waited_ps) + so_far
    }

    fn sent_bytes(&self) -> u64 {
        self.aside.as_ref().map_or(0, |aside| aside.sent_bytes) + u64::from(self.sent_bytes)
    }

    /// Time spent transmitting what it has begun, in picoseconds.
    fn busy_ps(&self) -> u64 {
        let (before_ps, bytes) =
            self.aside.as_ref().map_or((0, 0), |aside| (aside.busy_before_ps, aside.bytes_before));
        before_ps.wrapping_add(self.serializer.time_of(self.sent_bytes() - bytes).as_ps())
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
        self.aside.as_ref().is_none_or(|aside| !aside.is_down)
    }

    /// Time spent transmitting up to `now`.
    #[must_use]
    pub fn busy(&self, now: Instant) -> Span {
        Span::from_ps(self.busy_ps()).saturating_sub(self.sends_until().saturating_since(now))
    }

    /// The packets it holds, in order.
    pub fn packets<'p>(&'p self, pool: &'p PacketPool) -> impl Iterator<Item = PacketId> + 'p {
        self.flying.iter(pool).chain(self.queue.packets(pool)).chain(self.held_back())
    }

    /// Packets and bytes that wait, without the one being sent.
    #[must_use]
    pub fn backlog(&self) -> (u64, u64) {
        (self.queue.backlog(), self.queue.bytes())
    }

    /// When what it has now will have been sent, rounded up.
    #[must_use]
    pub fn free_at(&self) -> Instant {
        self.free_at + self.rate().time_for(Bytes(self.queue.bytes()))
    }

    /// Packets whose transmission has begun and that have not arrived.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        u64::from(self.flying.len())
    }

    /// Takes a packet of so many bytes, to send it or to drop it.
    #[inline]
    pub fn offer(
        &mut self,
        now: Instant,
        (id, bytes): (PacketId, u32),
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) -> NextEvent {
        if rarely(carries(&mut self.offered, 1)) {
            self.carry(|aside| &mut aside.offered);
        }
        // Made anew for each that asks: one that is handed on is one in memory (PacketPool::grow).
        let arrival = || Waiting { since: now, packet: id, bytes };
        if rarely(self.is_special) {
            return self.offer_special(arrival(), pool, observer);
        }
        if rarely(self.is_behind(now)) {
            self.advance(now, pool, observer);
        }
        if self.free_at <= now {
            let was_idle = self.flying.is_empty();
            let arrives = self.transmit(now, arrival(), pool, observer);
            return if was_idle { NextEvent::At(arrives) } else { NextEvent::Same };
        }
        if !self.queue.push(arrival(), pool) {
            self.drop_packet(id, pool, observer, DropCause::Queue);
        }
        self.queue.note_length();
        self.waits = !self.queue.is_empty();
        // With something in flight the next event is its arrival; otherwise a departure that
        // was due already.
        if self.flying.is_empty() { NextEvent::Changed } else { NextEvent::Same }
    }

    /// Counts how long a packet has waited that waits no more.
    #[inline]
    fn note_wait(&mut self, wait: Span) {
        let (sum, carries) = self.waited_ps.overflowing_add(wait.as_ps());
        self.waited_ps = sum;
        if rarely(carries) {
            self.carry_wait();
        }
    }

    #[cold]
    #[inline(never)]
    fn carry_wait(&mut self) {
        self.aside.get_or_insert_default().waited_ps += 1 << u64::BITS;
    }

    /// Adds one to the upper half of a count.
    #[cold]
    #[inline(never)]
    fn carry(&mut self, of: fn(&mut Aside) -> &mut u64) {
        *of(self.aside.get_or_insert_default()) += 1 << u32::BITS;
    }

    /// Whether transmissions that began up to `now` are still to be worked off ([`SimulatedLink::advance`]).
    #[inline]
    #[must_use]
    pub fn is_behind(&self, now: Instant) -> bool {
        // At most links nothing waits: a branch of its own, or the compiler would compute both at each packet.
        rarely(self.waits) && self.free_at <= now
    }

    /// Works off every transmission that began up to `now`.
    #[inline(never)]
    pub fn advance(&mut self, now: Instant, pool: &mut PacketPool, observer: &mut impl LinkObserver) {
        while self.free_at <= now && self.waits {
            self.dequeue(self.free_at, pool, observer);
        }
    }

    fn dequeue(&mut self, at: Instant, pool: &mut PacketPool, observer: &mut impl LinkObserver) {
        if rarely(self.is_special) {
            return self.dequeue_special(at, pool, observer);
        }
        let first = self.queue.pop(pool);
        self.waits = !self.queue.is_empty();
        if let Some(first) = first {
            self.note_wait(at.since(first.since));
            self.transmit(at, first, pool, observer);
        }
    }

    /// Begins to send a packet that nothing happens to on the way; gives its arrival.
    // In place: each packet comes by, and saving registers for a call would take a quarter of its instructions.
    #[inline(always)]
    fn transmit(
        &mut self,
        at: Instant,
        Waiting { packet: id, bytes, .. }: Waiting,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) -> Instant {
        self.begin(at, (id, bytes), pool, observer);
        let arrival = self.free_at + self.delay;
        self.flying.push(id, arrival, pool);
        arrival
    }

    /// Keeps the link busy for as long as a packet takes.
    #[inline(always)]
    fn begin(
        &mut self,
        at: Instant,
        (id, bytes): (PacketId, u32),
        pool: &PacketPool,
        observer: &mut impl LinkObserver,
    ) {
        let serialisation = self.serializer.next(bytes);
        self.free_at = at + serialisation;
        if rarely(carries(&mut self.sent_bytes, bytes)) {
            self.carry(|aside| &mut aside.sent_bytes);
        }
        observer.transmits(at, id, pool, || self.stats().sent + 1);
    }

    /// The packet that will arrive next.
    #[inline]
    #[must_use]
    pub fn look_ahead(&self, pool: &PacketPool) -> Option<PacketId> {
        self.flying.look_ahead(pool)
    }

    /// Begins to fetch the packet behind the one that will arrive next.
    #[inline]
    pub fn prefetch_second(&self, pool: &PacketPool) {
        self.flying.prefetch_second(pool);
    }

    /// When it wants to be polled: at the next arrival, or when a lost packet leaves the way free. What waits arrives later than
    /// all that is in flight, but where packets overtake others.
    #[inline]
    #[must_use]
    pub fn next_event(&self, pool: &PacketPool) -> Option<Instant> {
        let free = || self.waits.then_some(self.free_at);
        let next = self.flying.next_arrival(pool).or_else(free);
        if rarely(self.is_special) { self.or_overtaking(next) } else { next }
    }

    /// The packet that arrives at the other end now, if one does. The link is not behind.
    #[inline]
    pub fn poll(&mut self, now: Instant, pool: &PacketPool) -> Option<PacketId> {
        debug_assert!(!self.is_behind(now), "transmissions are still to be worked off");
        let packet = self.flying.pop_arrived(now, pool)?;
        if rarely(carries(&mut self.delivered, 1)) {
            self.carry(|aside| &mut aside.delivered);
        }
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
        if let Some(last) = self.flying.last_arrival(pool) {
            let in_flight = self.in_flight();
            let aside = self.aside.get_or_insert_default();
            aside.handed_over += in_flight;
            aside.last_elsewhere = aside.last_elsewhere.max(last);
        }
        while let Some(id) = self.flying.pop(pool) {
            let arrival = pool.arrival(id);
            hand(pool.take(id), arrival);
        }
    }

    /// Takes a packet that another copy of the link has sent; returns whether the next event has changed.
    pub fn take_in(&mut self, packet: Unpooled, arrival: Instant, pool: &mut PacketPool) -> bool {
        let id = pool.put(packet);
        self.flying.insert(id, arrival, pool)
    }

    /// Books what a copy at its other end has delivered or lost, and what is still in flight there.
    pub fn rejoin(&mut self, far: &Self) {
        let aside = self.aside.get_or_insert_default();
        (self.delivered, aside.delivered) =
            (far.delivered, far.aside.as_ref().map_or(0, |aside| aside.delivered));
        if let Some(far) = far.aside.as_deref() {
            // What was in flight there when the link went down.
            aside.cut += far.cut;
            aside.drops.add(DropCause::Down, far.drops.of(DropCause::Down));
        }
        aside.handed_over = 0;
        self.flying = far.flying;
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
        let in_flight = self.in_flight();
        let aside = self.aside.get_or_insert_default();
        aside.is_down = !up;
        if up {
            return;
        }
        aside.cut += in_flight;
        aside.last_elsewhere = now;
        // A transmission that is cut short was counted in full.
        let held_back = aside.shaper.as_deref_mut().and_then(Shaper::give_up);
        let sends_until = held_back.map_or(self.free_at, |held| held.sends_until);
        aside.busy_before_ps = aside.busy_before_ps.wrapping_sub(sends_until.saturating_since(now).as_ps());
        self.free_at = now;
        self.note_kind();
        while let Some(id) = self.flying.pop(pool) {
            self.drop_packet(id, pool, observer, DropCause::Down);
        }
        held_back.iter().for_each(|held| self.queue.release(held.waiting.bytes));
        for waiting in held_back.map(|held| held.waiting).into_iter().chain(self.queue.flush(now, pool)) {
            self.note_wait(now.since(waiting.since));
            self.drop_packet(waiting.packet, pool, observer, DropCause::Down);
        }
        self.waits = false;
    }

    /// Loses from now on all that it sends, without a sign, or no more.
    pub fn set_silent(
        &mut self,
        now: Instant,
        silent: bool,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) {
        self.advance(now, pool, observer);
        self.aside.get_or_insert_default().is_silent = silent;
        self.note_kind();
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
        let (busy_ps, bytes) = (self.busy_ps(), self.sent_bytes());
        let aside = self.aside.get_or_insert_default();
        (aside.busy_before_ps, aside.bytes_before) = (busy_ps, bytes);
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
        self.is_special = true;
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
        // What a shaper holds back has left the queue, and counts in it.
        let held = self.held_back_bytes();
        held.iter().for_each(|&bytes| self.queue.release(bytes));
        let mut packets = Handling { now, pool, observer, aside: &mut self.aside, to: self.to };
        self.queue.hand_over(now, queue, &mut packets);
        held.iter().for_each(|&bytes| self.queue.hold(bytes));
        self.waits = !self.queue.is_empty();
        self.note_kind();
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
        change(&mut self.aside.get_or_insert_default().randomness);
        self.note_kind();
    }
}
