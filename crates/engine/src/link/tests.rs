use super::*;
use crate::loss::Bernoulli;
use crate::packet::{Direction, Packet, Steering};
use crate::queues::{Discipline, Limit, QueueContext};
use crate::random::Streams;
use crate::setup::{LossSetup, QueueSetup};
use anabranch_transport::Segment;
use anabranch_units::FlowId;

#[derive(Default)]
struct Seen {
    transmissions: Vec<u64>,
    bytes: u64,
    dropped: u64,
}

impl LinkObserver for Seen {
    fn dropped(&mut self, _packet: PacketId, _pool: &PacketPool, _cause: DropCause) {
        self.dropped += 1;
    }

    fn transmits(&mut self, _at: Instant, id: PacketId, pool: &PacketPool, sent: impl FnOnce() -> u64) {
        self.transmissions.push(sent());
        self.bytes += u64::from(pool.get(id).bytes);
    }
}

/// 8 Mbps, so that a packet of 1,000 bytes takes a millisecond, and 10 ms.
fn link(loss: f64) -> SimulatedLink {
    let queue =
        QueueSetup { limit: Limit::default(), discipline: Discipline::named("fifo").expect("a name") };
    let rate = Rate::from_bps(8_000_000);
    let ends = (NodeId(0), NodeId(1));
    let setup = LinkSetup::plain(ends, "a->b".into(), rate, Span::from_ms(10), queue.clone());
    let streams = Streams::new(1, 0);
    let place = QueueContext { limit: queue.limit, rate, streams, link: "a->b", draws: "queue" };
    let randomness = (loss > 0.0).then(|| Randomness {
        loss: Loss::new(&LossSetup::Bernoulli(Bernoulli { probability: loss })),
        loss_stream: streams.stream("a->b", "loss"),
        jitter: None,
    });
    SimulatedLink::new(&setup, Queue::new(&queue.discipline, &place), randomness)
}

fn ms(count: u64) -> Instant {
    Instant::ZERO + Span::from_ms(count)
}

fn packet() -> Packet {
    Packet {
        flow: FlowId(0),
        destination: NodeId(1),
        bytes: 1000,
        cursor: 0,
        hops_left: 1,
        direction: Direction::Forward,
        subflow: 0,
        steering: Steering::Path,
    }
}

fn offer(link: &mut SimulatedLink, now: Instant, pool: &mut PacketPool, seen: &mut Seen) {
    let id = pool.insert(packet(), 0, &Segment { payload: 960, ..Segment::default() });
    link.offer(now, (id, 1000), pool, seen);
}

fn take_until(link: &mut SimulatedLink, until: Instant, pool: &mut PacketPool, seen: &mut Seen) {
    while let Some(now) = link.next_event(pool).filter(|&at| at <= until) {
        link.advance(now, pool, seen);
        let arrived = link.poll(now, pool);
        arrived.into_iter().for_each(|id| pool.remove(id));
    }
}

#[test]
fn a_link_lies_in_two_lines_of_the_cache() {
    assert_eq!((size_of::<SimulatedLink>(), align_of::<SimulatedLink>()), (128, 64));
    assert_eq!(std::mem::offset_of!(SimulatedLink, queue), 64);
}

/// The counts that are found from others are those of somebody who counts: over losses, other rates, and while the link
/// is down.
#[test]
fn what_was_sent_is_found_from_what_became_of_it() {
    let (mut link, mut pool, mut seen) = (link(0.3), PacketPool::default(), Seen::default());
    let mut busy = Span::ZERO;
    for round in 0..5 {
        let start = ms(100 * round);
        for _ in 0..20 {
            offer(&mut link, start, &mut pool, &mut seen);
        }
        // In the first round the transmission of a packet is cut; the faster ones are over by then.
        let stop = start + Span::from_us(12_500);
        take_until(&mut link, stop, &mut pool, &mut seen);
        link.set_up(stop, false, &mut pool, &mut seen);
        offer(&mut link, stop, &mut pool, &mut seen);
        link.set_up(stop, true, &mut pool, &mut seen);
        let all = Span::from_ps(20 * 1_000_000_000 / (round + 1));
        busy += all.min(stop.since(start));
        assert_eq!(link.busy(stop), busy);
        link.set_capacity(stop, Rate::from_bps(8_000_000 * (round + 2)), &mut pool, &mut seen);
    }
    let stats = link.stats();
    assert_eq!(seen.transmissions, (1..=stats.sent).collect::<Vec<_>>());
    assert_eq!((stats.sent_bytes, stats.drops.total()), (seen.bytes, seen.dropped));
    assert_eq!(stats.offered, 5 * 21);
    assert_eq!(stats.offered, stats.delivered + seen.dropped);
    assert_eq!(stats.queue_max_packets, 19);
    assert!(stats.drops.of(DropCause::Random) > 10 && stats.drops.of(DropCause::Down) > 10, "{stats:?}");
}

#[test]
fn counts_go_beyond_their_lower_halves() {
    let (mut link, mut pool, mut seen) = (link(0.0), PacketPool::default(), Seen::default());
    (link.offered, link.delivered, link.sent_bytes) = (u32::MAX, u32::MAX, u32::MAX - 999);
    link.queue_integral = u64::MAX;
    for _ in 0..3 {
        offer(&mut link, Instant::ZERO, &mut pool, &mut seen);
    }
    take_until(&mut link, ms(20), &mut pool, &mut seen);
    let (stats, full) = (link.stats(), 1 << u32::BITS);
    assert_eq!((stats.offered, stats.delivered, stats.sent), (full + 2, full + 2, full + 2));
    assert_eq!(stats.sent_bytes, full + 2000);
    // Two packets wait for a millisecond, and one of them for another.
    assert_eq!(stats.queue_integral, u128::from(u64::MAX) + 3 * 1_000_000_000);
}

#[test]
fn a_shorter_delay_overtakes_nothing() {
    let (mut link, mut pool, mut seen) = (link(0.0), PacketPool::default(), Seen::default());
    offer(&mut link, Instant::ZERO, &mut pool, &mut seen);
    link.set_delay(ms(1), Span::ZERO, &mut pool, &mut seen);
    offer(&mut link, ms(1), &mut pool, &mut seen);
    assert_eq!(link.next_event(&pool), Some(ms(11)));
    assert!(link.poll(ms(11), &pool).is_some());
    assert_eq!(link.next_event(&pool), Some(ms(11)));
}

/// Nor what another copy of the link delivers.
#[test]
fn a_shorter_delay_overtakes_nothing_elsewhere() {
    let (mut link, mut pool, mut seen) = (link(0.0), PacketPool::default(), Seen::default());
    offer(&mut link, Instant::ZERO, &mut pool, &mut seen);
    link.hand_over(ms(1), &mut pool, &mut seen, |_, _| {});
    link.set_delay(ms(1), Span::ZERO, &mut pool, &mut seen);
    offer(&mut link, ms(1), &mut pool, &mut seen);
    assert_eq!(link.next_event(&pool), Some(ms(11)));
    assert_eq!((link.stats().sent, link.stats().delivered), (2, 0));
}
