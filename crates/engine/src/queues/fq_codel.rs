//! FQ-CoDel (RFC 8290): a queue under CoDel for each flow, served by deficit round-robin, with new flows first.
//!
//! Flows are told apart by a salted hash into as many queues as there are; what is above the limit is dropped at the head
//! of the longest queue (section 4.1). Linux drops up to 64 packets there at once, to save searches; the RFC demands one.

use super::codel::{CodelParameters, ControlLaw, LONGEST};
use super::{Buffer, DropCause, Limit, Packets, QueueContext, QueueDiscipline, Waiting};
use crate::balancer::mix;
use crate::packet::{PacketId, PacketPool};
use anabranch_units::declaration::{above, at_least};
use anabranch_units::{Instant, Span};
use std::collections::VecDeque;

anabranch_units::parameters! {
    /// Flow queue CoDel: a queue under CoDel for each flow, in turn, new flows first (RFC 8290).
    #[derive(Copy)]
    pub struct FqCodelParameters {
        /// Queues into which flows are hashed (RFC 8290 section 5.2.5).
        flows: u32 = 1024, at_least(1).at_most(65_536);
        /// Bytes that a flow may send in its turn (section 5.2.4).
        quantum: u64 = 1514, at_least(1).at_most(1_000_000_000).bytes();
        /// Acceptable standing delay of a flow's queue (section 5.2.2).
        target: Span = Span::from_ms(5), above(Span::ZERO).at_most(LONGEST);
        /// Time it may be exceeded (section 5.2.1).
        interval: Span = Span::from_ms(100), above(Span::ZERO).at_most(LONGEST);
        /// Mark ECN-capable packets in place of dropping them (section 5.2.6).
        ecn: bool = true;
    }
}

/// The queue of the flows of one hash, with the names of the RFC.
#[derive(Debug)]
struct FlowQueue {
    waiting: Buffer,
    law: ControlLaw,
    /// Bytes that it may still send; negative if it has sent more.
    credits: i64,
    /// Whether it is in one of the two lists.
    listed: bool,
}

/// Queues under FQ-CoDel.
#[derive(Debug)]
pub struct FqCodel {
    parameters: FqCodelParameters,
    salt: u64,
    /// By hash: the place in `queues`, one more than it; 0 as long as no packet came.
    places: Vec<u32>,
    queues: Vec<FlowQueue>,
    new_queues: VecDeque<u32>,
    old_queues: VecDeque<u32>,
}

impl FqCodel {
    /// The queue of a packet (section 4.1.1).
    fn classify(&mut self, flow: u64) -> u32 {
        let hash = mix(flow ^ self.salt) % u64::from(self.parameters.flows);
        let place = &mut self.places[hash as usize];
        if *place == 0 {
            let FqCodelParameters { target, interval, ecn, .. } = self.parameters;
            self.queues.push(FlowQueue {
                waiting: Buffer::new(Limit::default()),
                law: ControlLaw::new(&CodelParameters { target, interval, ecn }),
                credits: 0,
                listed: false,
            });
            *place = self.queues.len() as u32;
        }
        *place - 1
    }

    /// Drops the head of the queue with most bytes.
    fn drop_fattest(&mut self, buffer: &mut Buffer, packets: &mut impl Packets) {
        let fattest = self.queues.iter_mut().rev().max_by_key(|queue| queue.waiting.bytes());
        if let Some(first) = fattest.and_then(|queue| queue.waiting.pop(packets.pool())) {
            buffer.discount(1, u64::from(first.bytes));
            packets.drop(first.packet, DropCause::Queue);
        }
    }
}

impl QueueDiscipline for FqCodel {
    type Parameters = FqCodelParameters;

    /// RFC 8290 section 5.2.3.
    const ROOM: u64 = 10_240;

    fn new(parameters: &FqCodelParameters, place: &QueueContext<'_>) -> Self {
        Self {
            parameters: *parameters,
            salt: place.stream().next_u64(),
            places: vec![0; parameters.flows as usize],
            queues: Vec::new(),
            new_queues: VecDeque::new(),
            old_queues: VecDeque::new(),
        }
    }

    /// Section 4.1.
    fn enqueue(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets) {
        let number = self.classify(packets.flow(arrival.packet));
        let queue = &mut self.queues[number as usize];
        queue.waiting.push(arrival, packets.pool());
        buffer.count(u64::from(arrival.bytes));
        if !queue.listed {
            queue.listed = true;
            queue.credits = self.parameters.quantum as i64;
            self.new_queues.push_back(number);
        }
        while buffer.is_over() {
            self.drop_fattest(buffer, packets);
        }
    }

    /// Section 4.2.
    fn dequeue(&mut self, buffer: &mut Buffer, now: Instant, packets: &mut impl Packets) -> Option<Waiting> {
        loop {
            let is_new = !self.new_queues.is_empty();
            let list = if is_new { &mut self.new_queues } else { &mut self.old_queues };
            let number = *list.front()?;
            let queue = &mut self.queues[number as usize];
            if queue.credits <= 0 {
                queue.credits += self.parameters.quantum as i64;
                list.pop_front();
                self.old_queues.push_back(number);
                continue;
            }
            let before = (queue.waiting.backlog(), queue.waiting.bytes());
            let first = queue.law.dequeue(now, &mut queue.waiting, DropCause::FqCodel, packets);
            buffer.discount(before.0 - queue.waiting.backlog(), before.1 - queue.waiting.bytes());
            if let Some(first) = first {
                queue.credits -= i64::from(first.bytes);
                return Some(first);
            }
            list.pop_front();
            if is_new {
                // An empty new queue takes its turn as an old one, so that a flow cannot be new again at once.
                self.old_queues.push_back(number);
            } else {
                queue.listed = false;
            }
        }
    }

    fn flush(&mut self, buffer: &mut Buffer, _now: Instant, pool: &PacketPool) -> Vec<Waiting> {
        let waiting = self.queues.iter_mut().flat_map(|queue| queue.waiting.flush(pool)).collect();
        buffer.discount(buffer.backlog(), buffer.bytes());
        waiting
    }

    fn packets(&self, _buffer: &Buffer, pool: &PacketPool) -> Vec<PacketId> {
        self.queues.iter().flat_map(|queue| queue.waiting.packets(pool)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::testing::{Ledger, at_us, place};
    use crate::queues::{Discipline, Queue};

    fn queue(limit: Option<u64>, change: impl FnOnce(&mut FqCodelParameters)) -> Queue {
        let mut parameters = FqCodelParameters::default();
        change(&mut parameters);
        Queue::new(&Discipline::FqCodel(parameters), &place(Limit { packets: limit, bytes: None }))
    }

    /// Packets as they leave at one instant.
    fn order(queue: &mut Queue, ledger: &mut Ledger, us: u64) -> Vec<u32> {
        std::iter::from_fn(|| queue.dequeue(at_us(us), ledger)).map(|first| first.packet).collect()
    }

    /// The flow of packet n is n modulo 10.
    fn ledger() -> Ledger {
        Ledger { flows: 10, ..Ledger::default() }
    }

    /// RFC 8290 sections 5.2.1 to 5.2.6.
    #[test]
    fn the_defaults_are_those_of_the_rfc() {
        let all = FqCodelParameters::default();
        assert_eq!((all.flows, all.quantum, all.ecn), (1024, 1514, true));
        assert_eq!((all.target, all.interval), (Span::from_ms(5), Span::from_ms(100)));
    }

    /// Section 4.2: three flows with a backlog of packets of 1514 bytes, one quantum each, are served in turn.
    #[test]
    fn flows_with_full_packets_are_served_in_turn() {
        let (mut queue, mut ledger) = (queue(None, |_| ()), ledger());
        for packet in [0, 10, 20, 1, 11, 21, 2, 12, 22] {
            queue.enqueue(ledger.waiting(0, packet, 1_514), &mut ledger);
        }
        assert_eq!(order(&mut queue, &mut ledger, 0), [0, 1, 2, 10, 11, 12, 20, 21, 22]);
    }

    /// Bytes are shared, not packets: a flow with packets of 300 bytes sends five for each one of 1500, and both get as
    /// many bytes to within a quantum and a packet (Shreedhar and Varghese 1995, lemma 2).
    #[test]
    fn bytes_are_shared_fairly() {
        let (mut queue, mut ledger) = (queue(None, |_| ()), ledger());
        for number in 0..500 {
            queue.enqueue(ledger.waiting(0, 10 * number, 300), &mut ledger);
        }
        for number in 0..100 {
            queue.enqueue(ledger.waiting(0, 10 * number + 1, 1_500), &mut ledger);
        }
        let mut sent = [0i64; 2];
        for _ in 0..300 {
            let first = queue.dequeue(at_us(0), &mut ledger).unwrap();
            sent[(first.packet % 10) as usize] += i64::from(first.bytes);
            assert!((sent[0] - sent[1]).abs() <= 1_514 + 1_500, "{sent:?}");
        }
    }

    /// Section 4.2: the packet of a flow that had nothing waiting goes before the backlog of the others.
    #[test]
    fn a_sparse_flow_goes_first_but_not_for_ever() {
        let (mut queue, mut ledger) = (queue(None, |_| ()), ledger());
        for number in 0..50 {
            queue.enqueue(ledger.waiting(0, 10 * number, 1_500), &mut ledger);
            queue.enqueue(ledger.waiting(0, 10 * number + 1, 1_500), &mut ledger);
        }
        let mut next = || queue.dequeue(at_us(0), &mut ledger).unwrap().packet;
        // Both use up their credits and become old.
        assert_eq!([next(), next(), next(), next(), next(), next()], [0, 10, 1, 11, 20, 21]);
        queue.enqueue(ledger.waiting(0, 2, 100), &mut ledger);
        assert_eq!(queue.dequeue(at_us(0), &mut ledger).unwrap().packet, 2, "the sparse flow");
        // Its queue is empty and takes a turn as an old one: one more packet of its own waits for that turn.
        queue.enqueue(ledger.waiting(0, 12, 100), &mut ledger);
        queue.enqueue(ledger.waiting(0, 22, 1_500), &mut ledger);
        queue.enqueue(ledger.waiting(0, 32, 1_500), &mut ledger);
        let ten: Vec<u32> =
            (0..10).map(|_| queue.dequeue(at_us(0), &mut ledger).unwrap().packet % 10).collect();
        let of_sparse = ten.iter().filter(|flow| **flow == 2).count();
        assert!(
            (2..=4).contains(&of_sparse) && ten.iter().filter(|flow| **flow == 0).count() >= 3,
            "{ten:?}"
        );
    }

    /// Section 4.1: with ten packets of a fat flow and one of a thin one in a room for ten, the fat flow loses its head.
    #[test]
    fn the_fattest_flow_loses_its_head_when_the_room_is_full() {
        let (mut queue, mut ledger) = (queue(Some(10), |_| ()), ledger());
        for number in 0..10 {
            queue.enqueue(ledger.waiting(0, 10 * number, 1_500), &mut ledger);
        }
        assert!(ledger.drops.is_empty());
        queue.enqueue(ledger.waiting(0, 1, 1_500), &mut ledger);
        assert_eq!(ledger.drops, [(0, DropCause::Queue)]);
        assert_eq!((queue.backlog(), queue.bytes()), (10, 15_000));
        assert!(queue.packets(ledger.pool()).contains(&1));
    }

    /// Each flow has a CoDel of its own: one whose packets wait loses some, one whose packets do not loses none.
    #[test]
    fn only_the_flow_whose_packets_wait_is_dropped_from() {
        let (mut queue, mut ledger) = (queue(None, |p| p.ecn = false), ledger());
        let mut number = 0;
        for ms in 0..2_000u64 {
            // Three packets of a greedy flow for each that is sent, and one small one of a sparse flow each 10 ms.
            for _ in 0..2 {
                queue.enqueue(ledger.waiting(ms * 1000, 10 * number, 1_250), &mut ledger);
                number += 1;
            }
            if ms % 10 == 0 {
                queue.enqueue(ledger.waiting(ms * 1000, 10 * number + 1, 100), &mut ledger);
                number += 1;
            }
            queue.dequeue(at_us(ms * 1000), &mut ledger);
        }
        let dropped = ledger.dropped(DropCause::FqCodel);
        assert!(dropped.len() > 10 && dropped.len() == ledger.drops.len(), "{}", dropped.len());
        assert!(dropped.iter().all(|packet| packet % 10 == 0));
    }

    /// A hundred thousand flows in 1024 queues; the salt decides which share one.
    #[test]
    fn the_hash_is_even_and_salted() {
        let of = |link| {
            let mut fq = FqCodel::new(
                &FqCodelParameters::default(),
                &QueueContext { link, ..place(Limit::default()) },
            );
            let mut counts = vec![0u32; 1024];
            let numbers: Vec<u32> = (0..100_000).map(|flow| fq.classify(flow << 16)).collect();
            for &number in &numbers {
                counts[number as usize] += 1;
            }

            (counts, fq.salt)
        };
        let (counts, salt) = of("a->b");
        // 97.7 a queue, deviation 9.9: six deviations.
        assert!(counts.iter().all(|&count| (38..=157).contains(&count)));
        assert_ne!(salt, of("b->a").1);
    }
}
