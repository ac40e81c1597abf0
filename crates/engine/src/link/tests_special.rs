//! Links with token buckets, and with packets that overtake, arrive twice or are damaged.

use super::*;
use crate::link::impairments::Impairments;
use crate::packet::{Direction, Packet, Steering};
use crate::queues::{Discipline, Limit, QueueContext};
use crate::random::Streams;
use crate::setup::{ChanceSetup, LossSetup, PeakSetup, PolicerSetup, QueueSetup, ReorderSetup, ShaperSetup};
use anabranch_transport::Segment;
use anabranch_units::FlowId;

/// What came out of a link: when, which packet by its number in the order of sending, and whether it is damaged.
type Arrival = (Instant, u32, bool);

#[derive(Default)]
struct Seen {
    begun: Vec<(Instant, u32)>,
    dropped: Vec<(u32, DropCause)>,
}

impl LinkObserver for Seen {
    fn trimmed(&mut self, _: PacketId, _: &PacketPool) {}

    fn dropped(&mut self, packet: PacketId, pool: &PacketPool, cause: DropCause) {
        self.dropped.push((pool.order(packet), cause));
    }

    fn transmits(&mut self, at: Instant, id: PacketId, pool: &PacketPool, sent: impl FnOnce() -> u64) {
        self.begun.push((at, pool.order(id)));
        assert_eq!(sent(), self.begun.len() as u64, "the number of a transmission");
    }

    fn duplicates(&mut self, id: PacketId, count: u64, pool: &mut PacketPool) -> Option<PacketId> {
        Some(pool.duplicate(id, count))
    }
}

/// A link under test with its packets.
struct Bench {
    link: SimulatedLink,
    pool: PacketPool,
    seen: Seen,
    offered: u32,
    arrivals: Vec<Arrival>,
}

/// 8 Mbps: a packet of 1,000 bytes takes a millisecond. 10 ms of delay.
fn setup() -> LinkSetup {
    let queue =
        QueueSetup { limit: Limit::default(), discipline: Discipline::named("fifo").expect("a name") };
    LinkSetup::plain(
        (NodeId(0), NodeId(1)),
        "a->b".into(),
        Rate::from_bps(8_000_000),
        Span::from_ms(10),
        queue,
    )
}

impl Bench {
    fn new(setup: &LinkSetup, discipline: &str, limit: u64) -> Self {
        let streams = Streams::new(1, 0);
        let impairments = Impairments::new(setup.impairments(), streams, "a->b").map(Box::new);
        let randomness = impairments.is_some().then(|| Randomness {
            loss: Loss::new(&LossSetup::named("none").expect("a name")),
            loss_stream: streams.stream("a->b", "loss"),
            jitter: None,
            impairments,
        });
        let discipline = Discipline::named(discipline).expect("a name");
        let limit = Limit { packets: Some(limit), bytes: None };
        let place = QueueContext { limit, rate: setup.queue_rate(), streams, link: "a->b", draws: "queue" };
        Self {
            link: SimulatedLink::new(setup, Queue::new(&discipline, &place), randomness),
            pool: PacketPool::default(),
            seen: Seen::default(),
            offered: 0,
            arrivals: Vec::new(),
        }
    }

    fn offer(&mut self, now: Instant, bytes: u32) {
        let packet = Packet {
            flow: FlowId(0),
            destination: NodeId(1),
            bytes,
            cursor: 0,
            hops_left: 1,
            direction: Direction::Forward,
            subflow: 0,
            steering: Steering::Path,
        };
        let id = self.pool.insert(packet, self.offered, &Segment { payload: 960, ..Segment::default() });
        self.offered += 1;
        let next = self.link.offer(now, (id, bytes), &mut self.pool, &mut self.seen);
        if let NextEvent::At(at) = next {
            assert_eq!(self.link.next_event(&self.pool), Some(at));
        }
    }

    fn run_until(&mut self, until: Instant) {
        while let Some(now) = self.link.next_event(&self.pool).filter(|&at| at <= until) {
            self.link.advance(now, &mut self.pool, &mut self.seen);
            if let Some(id) = self.link.poll(now, &self.pool) {
                self.arrivals.push((now, self.pool.order(id), self.pool.is_corrupted(id)));
                self.pool.remove(id);
            }
        }
        self.link.advance(until, &mut self.pool, &mut self.seen);
    }

    /// Offered and duplicated = delivered + dropped + waiting + in flight, and so says the pool.
    fn assert_books(&self) {
        let stats = self.link.stats();
        let held = self.link.backlog().0 + self.link.in_flight();
        assert_eq!(stats.offered + stats.duplicated, stats.delivered + stats.drops.total() + held);
        assert_eq!(self.pool.live() as u64, held);
        assert_eq!(self.link.packets(&self.pool).count() as u64, held);
        assert_eq!(stats.sent, self.seen.begun.len() as u64);
        assert_eq!(stats.drops.total(), self.seen.dropped.len() as u64);
        assert_eq!(stats.delivered, self.arrivals.len() as u64);
    }

    fn begun_at_us(&self) -> Vec<u64> {
        self.seen.begun.iter().map(|(at, _)| at.as_ps() / 1_000_000).collect()
    }
}

fn us(count: u64) -> Instant {
    Instant::ZERO + Span::from_us(count)
}

fn shaped(rate_bps: u64, burst: u64) -> LinkSetup {
    let shaper = ShaperSetup { rate: Rate::from_bps(rate_bps), burst, peak: None };
    LinkSetup { shaper: Some(Box::new(shaper)), ..setup() }
}

/// 2 Mbps and 4,000 B on a line of 8 Mbps: packet n of a backlog begins when the line is free and 4,000 B + 2 Mbps t have its
/// bytes, whichever is later: t = max(n ms, (n - 3) 4 ms), with n from 0.
#[test]
fn a_shaper_sends_its_burst_at_the_rate_of_the_line_and_then_at_its_own() {
    for discipline in Discipline::NAMES {
        let mut bench = Bench::new(&shaped(2_000_000, 4_000), discipline, 40);
        (0..12).for_each(|_| bench.offer(Instant::ZERO, 1_000));
        bench.run_until(us(30_500));
        let expected: Vec<u64> = (0..12)
            .map(|n: u64| (1_000 * n).max(4_000 * n.saturating_sub(3)))
            .filter(|&t| t <= 30_500)
            .collect();
        if !["codel", "fq-codel", "pie", "red"].contains(discipline) {
            assert_eq!(bench.begun_at_us(), expected, "{discipline}");
        }
        bench.assert_books();
        bench.run_until(us(1_000_000));
        assert_eq!(bench.link.backlog(), (0, 0), "{discipline}");
        bench.assert_books();
        // Each took a millisecond of the line, however long it waited for the bucket.
        assert_eq!(bench.link.busy(us(1_000_000)), Span::from_ms(bench.seen.begun.len() as u64));
    }
}

/// Bytes of any sizes and gaps: in each span from t to u no more than burst + rate (u - t) begins, the queue keeps its room and its
/// order, and the wait of a packet is that from its arrival to its beginning.
#[test]
fn a_shaper_keeps_its_bound_over_any_arrivals() {
    let (rate, burst) = (3_000_000, 5_000u64);
    let mut bench = Bench::new(&shaped(rate, burst), "fifo", 20);
    let (mut draws, mut now, mut offered) = (Streams::new(3, 0).stream("a", "arrivals"), 0, Vec::new());
    for _ in 0..3_000 {
        now += draws.below(3_000);
        bench.run_until(us(now));
        let bytes = 40 + draws.below(1_461) as u32;
        offered.push((us(now), bytes));
        bench.offer(us(now), bytes);
        assert!(bench.link.backlog().0 <= 20);
    }
    bench.run_until(us(now + 10_000_000));
    bench.assert_books();
    let begun = &bench.seen.begun;
    assert!(begun.windows(2).all(|pair| pair[0].1 < pair[1].1), "first in, first out");
    assert!(bench.link.stats().drops.of(DropCause::Queue) > 100 && begun.len() > 1_000);
    let mut tokens = TokenBucketByHand { rate, burst, level: burst as f64, at: 0.0 };
    let mut waits = 0;
    for &(at, order) in begun {
        let (since, bytes) = offered[order as usize];
        assert!(tokens.takes(at.as_secs_f64(), bytes), "more than its burst and rate at {at}");
        waits += u128::from(at.since(since).as_ps());
    }
    assert_eq!(bench.link.queue_integral(us(now + 10_000_000), &bench.pool), waits);
}

/// The bucket again, in floating point.
struct TokenBucketByHand {
    rate: u64,
    burst: u64,
    level: f64,
    at: f64,
}

impl TokenBucketByHand {
    fn takes(&mut self, at: f64, bytes: u32) -> bool {
        self.level = (self.level + self.rate as f64 / 8.0 * (at - self.at)).min(self.burst as f64);
        self.at = at;
        self.level -= f64::from(bytes);
        self.level > -1e-3
    }
}

/// A packet that waits for the bucket waits in the queue: it takes room, and its time counts.
#[test]
fn what_is_held_back_waits() {
    let mut bench = Bench::new(&shaped(2_000_000, 1_000), "fifo", 2);
    (0..4).for_each(|_| bench.offer(Instant::ZERO, 1_000));
    assert_eq!((bench.link.backlog(), bench.seen.dropped.clone()), ((2, 2_000), vec![(3, DropCause::Queue)]));
    bench.run_until(us(2_000));
    // The line is free since 1 ms, and the bucket has 500 B.
    assert_eq!((bench.link.backlog(), bench.link.busy(us(2_000))), ((2, 2_000), Span::from_ms(1)));
    assert_eq!(bench.link.queue_integral(us(2_000), &bench.pool), 2 * 2_000_000_000);
    bench.assert_books();
    bench.run_until(us(20_000));
    assert_eq!(bench.begun_at_us(), [0, 4_000, 8_000]);
    assert_eq!(bench.link.queue_integral(us(20_000), &bench.pool), 12_000_000_000);
    bench.assert_books();
}

#[test]
fn what_is_held_back_is_lost_with_the_link_and_stays_with_another_queue() {
    let mut bench = Bench::new(&shaped(2_000_000, 1_000), "fifo", 10);
    (0..3).for_each(|_| bench.offer(Instant::ZERO, 1_000));
    bench.run_until(us(2_000));
    let other = Bench::new(&setup(), "codel", 10).link.queue;
    bench.link.set_queue(us(2_000), other, &mut bench.pool, &mut bench.seen);
    assert_eq!(bench.link.backlog(), (2, 2_000));
    bench.run_until(us(5_000));
    assert_eq!((bench.begun_at_us(), bench.link.backlog().0), (vec![0, 4_000], 1));
    bench.run_until(us(6_000));
    bench.link.set_up(us(6_000), false, &mut bench.pool, &mut bench.seen);
    bench.assert_books();
    assert_eq!(bench.link.stats().drops.of(DropCause::Down), 3);
    // The two were sent in full.
    assert_eq!(bench.link.busy(us(6_000)), Span::from_ms(2));
    bench.link.set_up(us(7_000), true, &mut bench.pool, &mut bench.seen);
    bench.offer(us(7_000), 1_000);
    bench.run_until(us(30_000));
    // 2 Mbps from 4 ms on have 750 B at 7 ms, and 1,000 at 8.
    assert_eq!(bench.begun_at_us(), [0, 4_000, 8_000]);
    bench.assert_books();
}

#[test]
fn a_peak_rate_spaces_the_burst() {
    let peak = PeakSetup { rate: Rate::from_bps(4_000_000), mtu: 1_000 };
    let shaper = ShaperSetup { rate: Rate::from_bps(2_000_000), burst: 4_000, peak: Some(peak) };
    let mut bench = Bench::new(&LinkSetup { shaper: Some(Box::new(shaper)), ..setup() }, "fifo", 40);
    (0..9).for_each(|_| bench.offer(Instant::ZERO, 1_000));
    bench.run_until(us(100_000));
    // Each 2 ms until 4,000 B + 2 Mbps t are used up: 1,000 (n + 1) = 4,000 + 250 t[ms] at t = 2 n, n = 6.
    assert_eq!(bench.begun_at_us(), [0, 2_000, 4_000, 6_000, 8_000, 10_000, 12_000, 16_000, 20_000]);
}

#[test]
fn what_is_longer_than_the_bucket_is_dropped_as_such() {
    let mut bench = Bench::new(&shaped(2_000_000, 999), "fifo", 40);
    bench.offer(Instant::ZERO, 1_000);
    bench.offer(Instant::ZERO, 999);
    bench.run_until(us(50_000));
    assert_eq!(bench.seen.dropped, [(0, DropCause::Policed)]);
    assert_eq!(bench.link.stats().drops.by_queues(), 0);
    bench.assert_books();
}

/// 2 Mbps and 3,000 B behind a line of 8 Mbps. The line brings 1,000 B each ms from 1 ms on, when 3,000 are there; at n ms
/// 2,000 + 250 (n - 1) - 1,000 k are left after k more: packets 0, 1, 2, 3 pass, and then each fourth.
#[test]
fn a_policer_drops_what_comes_out_of_the_line_too_fast() {
    let policer = PolicerSetup { rate: Rate::from_bps(2_000_000), burst: 3_000 };
    let mut bench = Bench::new(&LinkSetup { policer: Some(Box::new(policer)), ..setup() }, "fifo", 40);
    (0..16).for_each(|_| bench.offer(Instant::ZERO, 1_000));
    bench.run_until(us(100_000));
    let arrived: Vec<u32> = bench.arrivals.iter().map(|arrival| arrival.1).collect();
    // 3000 -> 2000; 2250 -> 1250; 1500 -> 500; 750 no; 1000 -> 0; then a thousand each four.
    assert_eq!(arrived, [0, 1, 2, 4, 8, 12]);
    assert!(bench.seen.dropped.iter().all(|(_, cause)| *cause == DropCause::Policed));
    // They have been sent.
    assert_eq!((bench.link.stats().sent, bench.link.busy(us(100_000))), (16, Span::from_ms(16)));
    assert_eq!(bench.arrivals[0].0, us(11_000));
    bench.assert_books();
}

fn reordering(probability: f64, gap: u32, spared: Option<Span>) -> LinkSetup {
    let reorder = ReorderSetup { probability, correlation: 0.0, gap, spared };
    LinkSetup { reorder: Some(Box::new(reorder)), ..setup() }
}

/// Each third packet is spared the 10 ms: number 2 arrives at 3 ms, before 0 at 11, and 5 at 6 ms.
#[test]
fn a_chosen_packet_arrives_at_once() {
    let mut bench = Bench::new(&reordering(1.0, 3, None), "fifo", 40);
    (0..7).for_each(|_| bench.offer(Instant::ZERO, 1_000));
    bench.run_until(us(100_000));
    let arrivals: Vec<(u64, u32)> =
        bench.arrivals.iter().map(|(at, order, _)| (at.as_ps() / 1_000_000_000, *order)).collect();
    assert_eq!(arrivals, [(3, 2), (6, 5), (11, 0), (12, 1), (14, 3), (15, 4), (17, 6)]);
    assert_eq!(bench.link.stats().reordered, 2);
    bench.assert_books();
}

/// Spared 1.5 ms it arrives between the last two: 2 at 11.5 ms, behind 0 at 11 and before 1 at 12.
#[test]
fn a_chosen_packet_may_be_spared_a_part_of_the_delay() {
    let mut bench = Bench::new(&reordering(1.0, 3, Some(Span::from_us(1_500))), "fifo", 40);
    (0..3).for_each(|_| bench.offer(Instant::ZERO, 1_000));
    bench.run_until(us(100_000));
    let orders: Vec<u32> = bench.arrivals.iter().map(|arrival| arrival.1).collect();
    assert_eq!((orders, bench.arrivals[1].0), (vec![0, 2, 1], us(11_500)));
}

/// Where nothing is under way nothing is overtaken, and nothing is counted.
#[test]
fn a_packet_alone_overtakes_none() {
    let mut bench = Bench::new(&reordering(1.0, 1, None), "fifo", 40);
    for round in 0..5 {
        bench.offer(us(100_000 * round), 1_000);
        bench.run_until(us(100_000 * round + 50_000));
    }
    assert_eq!((bench.link.stats().reordered, bench.arrivals.len()), (0, 5));
    bench.assert_books();
}

#[test]
fn copies_arrive_behind_their_packets_and_damage_is_carried() {
    let half = ChanceSetup { probability: 0.5, correlation: 0.0 };
    let setup = LinkSetup { duplicate: Some(Box::new(half)), corrupt: Some(Box::new(half)), ..setup() };
    let mut bench = Bench::new(&setup, "fifo", 4_000);
    (0..4_000).for_each(|_| bench.offer(Instant::ZERO, 1_000));
    bench.run_until(us(10_000_000));
    bench.assert_books();
    let stats = bench.link.stats();
    let damaged = bench.arrivals.iter().filter(|arrival| arrival.2).count() as u64;
    assert_eq!(damaged, stats.corrupted);
    // Binomial, four standard deviations: 126 of 4,000 and 155 of 6,000.
    assert!(stats.duplicated.abs_diff(2_000) < 127, "{stats:?}");
    assert!(stats.corrupted.abs_diff((4_000 + stats.duplicated) / 2) < 156, "{stats:?}");
    let orders: Vec<u32> = bench.arrivals.iter().map(|arrival| arrival.1).collect();
    assert!(orders.is_sorted(), "a copy is behind its packet, and before the next one");
    // The line carried each once.
    assert_eq!(bench.link.busy(us(10_000_000)), Span::from_secs(4));
}
