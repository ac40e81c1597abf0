//! What packets meet on links that are not plain: queue disciplines, chance, a token bucket, a link that is down.
//!
//! Apart from the path of plain links, which stays small.

use super::handling::{self, Handling};
use super::token_bucket::{Buckets, ShaperSetup, TokenBucket};
use super::{Aside, LinkObserver, NextEvent, Randomness, SimulatedLink};
use crate::packet::{PacketId, PacketPool};
use crate::queues::{DropCause, Waiting};
use crate::setup::LinkSetup;
use anabranch_units::{Instant, Rate, Span};

/// A packet that the discipline has chosen, and for which the bucket has not enough yet. It keeps its room in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldBack {
    pub(super) waiting: Waiting,
    /// When the transmission before it is over.
    pub(super) sends_until: Instant,
}

/// What lets a packet leave only when its bytes have been saved.
#[derive(Debug)]
pub(super) struct Shaper {
    buckets: Buckets,
    longest_packet: u64,
    held_back: Option<HeldBack>,
}

impl Shaper {
    fn new(setup: &ShaperSetup) -> Self {
        Self { buckets: Buckets::new(setup), longest_packet: setup.longest_packet(), held_back: None }
    }

    /// Takes out what it holds back, if it does.
    pub(super) fn give_up(&mut self) -> Option<HeldBack> {
        self.held_back.take()
    }
}

impl Aside {
    /// What few links have, from a setup; none where all of it is left out.
    pub(super) fn of(setup: &LinkSetup, randomness: Option<Randomness>) -> Option<Box<Self>> {
        let shaper = setup.shaper.as_deref().map(|shaper| Box::new(Shaper::new(shaper)));
        let policer = setup.policer.as_deref();
        let policer = policer.map(|policer| Box::new(TokenBucket::new(policer.rate, policer.burst)));
        let aside = Self { randomness, shaper, policer, ..Self::default() };
        aside.is_asked().then(|| Box::new(aside))
    }

    /// Whether each packet has to ask for it.
    pub(super) fn is_asked(&self) -> bool {
        self.is_down
            || self.is_silent
            || self.randomness.is_some()
            || self.shaper.is_some()
            || self.policer.is_some()
    }

    /// Packets whose transmission began and that are on the way no more, nor delivered.
    pub(super) fn lost_on_the_way(&self) -> u64 {
        // What a shaper would never send is dropped before it is sent.
        let policed = self.drops.of(DropCause::Policed) - self.too_long;
        self.drops.of(DropCause::Random) + policed + self.cut
    }
}

impl SimulatedLink {
    fn shaper(&self) -> Option<&Shaper> {
        self.aside.as_deref().and_then(|aside| aside.shaper.as_deref())
    }

    fn shaper_mut(&mut self) -> Option<&mut Shaper> {
        self.aside.as_deref_mut().and_then(|aside| aside.shaper.as_deref_mut())
    }

    /// The packet that its shaper holds back.
    pub(super) fn held_back(&self) -> Option<PacketId> {
        self.shaper().and_then(|shaper| shaper.held_back).map(|held| held.waiting.packet)
    }

    pub(super) fn held_back_bytes(&self) -> Option<u32> {
        self.shaper().and_then(|shaper| shaper.held_back).map(|held| held.waiting.bytes)
    }

    /// The rate at which it sends what waits.
    pub(super) fn rate(&self) -> Rate {
        let line = self.serializer.rate();
        self.shaper().map_or(line, |shaper| line.min(shaper.buckets.rate()))
    }

    /// When the transmission is over that has begun; what its shaper holds back has not.
    pub(super) fn sends_until(&self) -> Instant {
        let held_back = self.shaper().and_then(|shaper| shaper.held_back);
        held_back.map_or(self.free_at, |held| held.sends_until)
    }

    /// Whether packets may overtake others on it.
    fn reorders(&self) -> bool {
        let randomness = self.aside.as_deref().and_then(|aside| aside.randomness.as_ref());
        let impairments = randomness.and_then(|randomness| randomness.impairments.as_deref());
        impairments.is_some_and(super::Impairments::reorders)
    }

    /// The next event of a link that has this one: what waits may arrive before all that is in flight.
    #[inline(never)]
    pub(super) fn or_overtaking(&self, next: Option<Instant>) -> Option<Instant> {
        if !self.waits || !self.reorders() {
            return next;
        }
        Some(next.map_or(self.free_at, |next| next.min(self.free_at)))
    }

    /// As [`SimulatedLink::offer`].
    #[inline(never)]
    pub(super) fn offer_special(
        &mut self,
        arrival: Waiting,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) -> NextEvent {
        if !self.admit(arrival, pool, observer) {
            return NextEvent::Same;
        }
        let was_idle = self.flying.is_empty();
        if self.free_at <= arrival.since {
            let leaves = self.leaves_at(arrival.since, arrival.bytes);
            if leaves == arrival.since {
                let arrives = self.transmit_special(leaves, arrival, pool, observer);
                return match arrives {
                    Some(arrives) if was_idle => NextEvent::At(arrives),
                    None if !was_idle => NextEvent::Same,
                    _ if was_idle || self.reorders() => NextEvent::Changed,
                    _ => NextEvent::Same,
                };
            }
            self.hold_back(arrival, leaves);
        } else {
            self.enqueue(arrival, pool, observer);
        }
        self.queue.note_length();
        self.waits = !self.queue.is_empty();
        if was_idle || self.reorders() { NextEvent::Changed } else { NextEvent::Same }
    }

    /// Works off what has waited, and asks whether a packet is let in: not where the link is down, nor where its shaper would
    /// never send it, nor where it would be idle and the discipline drops it.
    fn admit(&mut self, arrival: Waiting, pool: &mut PacketPool, observer: &mut impl LinkObserver) -> bool {
        if !self.is_up() {
            self.drop_packet(arrival.packet, pool, observer, DropCause::Down);
            return false;
        }
        if self.is_behind(arrival.since) {
            self.advance(arrival.since, pool, observer);
        }
        if self.shaper().is_some_and(|shaper| u64::from(arrival.bytes) > shaper.longest_packet) {
            self.aside.get_or_insert_default().too_long += 1;
            self.drop_packet(arrival.packet, pool, observer, DropCause::Policed);
            return false;
        }
        if self.free_at > arrival.since {
            return true;
        }
        pool.set_arrival(arrival.packet, arrival.since);
        let mut packets =
            Handling { now: arrival.since, pool, observer, aside: &mut self.aside, to: self.to };
        self.queue.pass(arrival, self.free_at, &mut packets)
    }

    /// Hands a packet to the discipline.
    fn enqueue(&mut self, arrival: Waiting, pool: &mut PacketPool, observer: &mut impl LinkObserver) {
        pool.set_arrival(arrival.packet, arrival.since);
        let mut packets =
            Handling { now: arrival.since, pool, observer, aside: &mut self.aside, to: self.to };
        self.queue.enqueue(arrival, &mut packets);
    }

    /// When a packet of so many bytes may leave that could leave now but for the shaper.
    fn leaves_at(&self, now: Instant, bytes: u32) -> Instant {
        let leaves = self.shaper().map(|shaper| shaper.buckets.holds_at(now, bytes));
        leaves.map_or(now, |leaves| leaves.expect("a packet that is too long is not let in"))
    }

    /// Keeps a packet until the shaper has its bytes.
    fn hold_back(&mut self, waiting: Waiting, leaves: Instant) {
        let sends_until = self.free_at;
        self.queue.hold(waiting.bytes);
        self.free_at = leaves;
        if let Some(shaper) = self.shaper_mut() {
            shaper.held_back = Some(HeldBack { waiting, sends_until });
        }
    }

    /// Takes the packet to send: what the shaper has held back, or what the discipline chooses. As the kernel's tbf does, the
    /// discipline is asked when the line is free, and the packet then waits for the bucket.
    #[inline(never)]
    pub(super) fn dequeue_special(
        &mut self,
        at: Instant,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) {
        let first = if let Some(held) = self.shaper_mut().and_then(Shaper::give_up) {
            self.queue.release(held.waiting.bytes);
            Some(held.waiting)
        } else {
            let mut packets = Handling { now: at, pool, observer, aside: &mut self.aside, to: self.to };
            let chosen = self.queue.dequeue(at, &mut packets);
            let leaves = chosen.map_or(at, |chosen| self.leaves_at(at, chosen.bytes));
            if let Some(chosen) = chosen.filter(|_| leaves > at) {
                self.hold_back(chosen, leaves);
                self.waits = true;
                return;
            }
            chosen
        };
        self.waits = !self.queue.is_empty();
        if let Some(first) = first {
            self.note_wait(at.since(first.since));
            self.transmit_special(at, first, pool, observer);
        }
    }

    /// Begins to send a packet; gives its arrival, or none where it is lost.
    fn transmit_special(
        &mut self,
        at: Instant,
        Waiting { packet: id, bytes, .. }: Waiting,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) -> Option<Instant> {
        if let Some(shaper) = self.shaper_mut() {
            shaper.buckets.take(at, bytes);
        }
        self.begin(at, (id, bytes), pool, observer);
        let sent = self.free_at;
        let Some(aside) = self.aside.as_deref_mut() else {
            return Some(self.launch(id, pool));
        };
        if aside.is_silent {
            aside.cut += 1;
            self.drop_packet(id, pool, observer, DropCause::Down);
            return None;
        }
        let data = || pool.segment(id).payload > 0;
        let lost = aside.randomness.as_mut().is_some_and(|it| it.loss.lost(data, &mut it.loss_stream));
        // What has been sent is metered as it comes out of the line, which is where it goes into the next node but for the delay.
        let passes = lost || aside.policer.as_mut().is_none_or(|policer| policer.takes(sent, bytes));
        let impairments = aside.randomness.as_mut().and_then(|it| it.impairments.as_deref_mut());
        let is_twofold = impairments.is_some_and(super::Impairments::duplicates);
        if lost || !passes {
            // The draws of what it would have met are taken all the same.
            self.arrival(pool);
            self.corrupts();
            let cause = if lost { DropCause::Random } else { DropCause::Policed };
            self.drop_packet(id, pool, observer, cause);
            return None;
        }
        let copy = if is_twofold { self.duplicate(id, pool, observer) } else { None };
        let arrives = self.launch(id, pool);
        Some(copy.map_or(arrives, |copy| arrives.min(self.launch(copy, pool))))
    }

    /// Makes a copy of a packet, if there may be one.
    fn duplicate(
        &mut self,
        id: PacketId,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
    ) -> Option<PacketId> {
        let aside = self.aside.get_or_insert_default();
        let copy = observer.duplicates(id, aside.duplicated, pool)?;
        aside.duplicated += 1;
        Some(copy)
    }

    /// Whether the next packet is damaged.
    fn corrupts(&mut self) -> bool {
        let randomness = self.aside.as_deref_mut().and_then(|aside| aside.randomness.as_mut());
        let impairments = randomness.and_then(|randomness| randomness.impairments.as_deref_mut());
        impairments.is_some_and(super::Impairments::corrupts)
    }

    /// Puts a packet that has been sent on its way; gives its arrival.
    fn launch(&mut self, id: PacketId, pool: &mut PacketPool) -> Instant {
        let (arrival, overtakes) = self.arrival(pool);
        if self.corrupts() {
            pool.corrupt(id);
            self.aside.get_or_insert_default().corrupted += 1;
        }
        if overtakes {
            self.aside.get_or_insert_default().reordered += 1;
            self.flying.insert(id, arrival, pool);
        } else {
            self.flying.push(id, arrival, pool);
        }
        arrival
    }

    /// When a packet arrives that has just been sent, and whether it overtakes others.
    fn arrival(&mut self, pool: &PacketPool) -> (Instant, bool) {
        let usual = self.free_at + self.delay;
        let Some(aside) = self.aside.as_deref_mut() else {
            return (usual.max(self.flying.last_arrival(pool).unwrap_or(Instant::ZERO)), false);
        };
        let elsewhere = aside.last_elsewhere;
        let others = elsewhere.max(self.flying.last_arrival(pool).unwrap_or(Instant::ZERO));
        let Some(randomness) = &mut aside.randomness else { return (usual.max(others), false) };
        let late = match &mut randomness.jitter {
            Some((jitter, stream)) => usual.saturating_add(Span::from_ps(jitter.sample(stream) as u64)),
            None => usual,
        };
        let spared = randomness.impairments.as_deref_mut().and_then(|it| it.spares(self.delay));
        match spared {
            // As in netem, one that overtakes is not late by chance either.
            Some(spared) => {
                let early = self.free_at + self.delay.saturating_sub(spared);
                (early, early < others)
            }
            // All others stay in order, whatever jitter or a shorter delay would have them do.
            None => (late.max(others), false),
        }
    }

    #[inline(never)]
    pub(super) fn drop_packet(
        &mut self,
        id: PacketId,
        pool: &mut PacketPool,
        observer: &mut impl LinkObserver,
        cause: DropCause,
    ) {
        handling::lose(id, cause, pool, observer, &mut self.aside);
    }
}
