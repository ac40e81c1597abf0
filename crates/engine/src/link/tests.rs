use super::*;
use crate::loss::Bernoulli;
use crate::packet::{Direction, Packet, Steering};
use crate::queues::red::RedParameters;
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
    fn trimmed(&mut self, _: PacketId, _: &PacketPool) {}

    fn dropped(&mut self, _packet: PacketId, _pool: &PacketPool, _cause: DropCause) {
        self.dropped += 1;
    }

    fn transmits(&mut self, _at: Instant, id: PacketId, pool: &PacketPool, sent: impl FnOnce() -> u64) {
        self.transmissions.push(sent());
        self.bytes += u64::from(pool.get(id).bytes);
    }

    fn duplicates(&mut self, id: PacketId, count: u64, pool: &mut PacketPool) -> Option<PacketId> {
        Some(pool.duplicate(id, count))
    }
}

const RATE: Rate = Rate::from_bps(8_000_000);

fn queue(discipline: &str) -> Queue {
    queue_of(&Discipline::named(discipline).expect("a name of the registry"))
}

fn queue_of(discipline: &Discipline) -> Queue {
    let limit = Limit { packets: Some(40), bytes: None };
    let place = QueueContext { limit, rate: RATE, streams: Streams::new(1, 0), link: "a->b", draws: "queue" };
    Queue::new(discipline, &place)
}

/// 8 Mbps, so that a packet of 1,000 bytes takes a millisecond, and 10 ms.
fn link(loss: f64) -> SimulatedLink {
    let setup =
        QueueSetup { limit: Limit::default(), discipline: Discipline::named("fifo").expect("a name") };
    let ends = (NodeId(0), NodeId(1));
    let setup = LinkSetup::plain(ends, "a->b".into(), RATE, Span::from_ms(10), setup);
    let streams = Streams::new(1, 0);
    let randomness = (loss > 0.0).then(|| Randomness {
        loss: Loss::new(&LossSetup::Bernoulli(Bernoulli { probability: loss })),
        loss_stream: streams.stream("a->b", "loss"),
        jitter: None,
        impairments: None,
    });
    SimulatedLink::new(&setup, queue("fifo"), randomness)
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
    link.waited_ps = u64::MAX;
    for _ in 0..3 {
        offer(&mut link, Instant::ZERO, &mut pool, &mut seen);
    }
    take_until(&mut link, ms(20), &mut pool, &mut seen);
    let (stats, full) = (link.stats(), 1 << u32::BITS);
    assert_eq!((stats.offered, stats.delivered, stats.sent), (full + 2, full + 2, full + 2));
    assert_eq!(stats.sent_bytes, full + 2000);
    // Two packets wait for a millisecond, and one of them for another.
    assert_eq!(link.queue_integral(ms(20), &pool), u128::from(u64::MAX) + 3 * 1_000_000_000);
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

/// All that happens does so at multiples of 0.1 ms, so that the queue is as long all the time as it is at their beginning: over
/// drops of every discipline, another queue, and a link that goes down.
#[test]
fn how_long_packets_wait_is_the_integral_of_the_queue() {
    let names = Discipline::NAMES;
    for (number, name) in names.iter().enumerate() {
        let (mut link, mut pool, mut seen) = (link(0.02), PacketPool::default(), Seen::default());
        let mut draws = Streams::new(7, 0).stream(name, "arrivals");
        let (step, mut integral) = (Span::from_us(100), 0u128);
        link.set_queue(Instant::ZERO, queue(name), &mut pool, &mut seen);
        for count in 0..40_000u64 {
            let now = Instant::ZERO + step * count;
            take_until(&mut link, now, &mut pool, &mut seen);
            link.advance(now, &mut pool, &mut seen);
            match count {
                20_000 => link.set_queue(now, queue(names[(number + 1) % names.len()]), &mut pool, &mut seen),
                30_000 => link.set_up(now, false, &mut pool, &mut seen),
                30_100 => link.set_up(now, true, &mut pool, &mut seen),
                _ => {}
            }
            // More than the link can send for a second, and then less.
            if draws.next_u64() % 100 < if count % 20_000 < 10_000 { 12 } else { 7 } {
                offer(&mut link, now, &mut pool, &mut seen);
            }
            link.advance(now, &mut pool, &mut seen);
            assert_eq!(link.queue_integral(now, &pool), integral, "{name} at {now}");
            integral += u128::from(link.backlog().0) * u128::from(step.as_ps());
        }
        let drops = link.stats().drops;
        assert!(drops.by_queues() > 10 && drops.of(DropCause::Down) > 0, "{name}: {drops:?}");
        assert!(integral > 10_000_000_000_000, "{name}: ten packet-seconds at least, and {integral}");
    }
}

/// With a weight of 1 the average is what the last arrival found: two packets. A link that becomes idle at this moment has
/// been idle for no time, so that the average is as high as before, and RED drops the packet ("Random Early Detection
/// Gateways", section 4). Three transmissions later it has fallen to 0.
#[test]
fn red_decides_on_a_packet_that_arrives_as_the_link_becomes_idle() {
    let red = RedParameters { min_threshold: 1, max_threshold: 2, weight: 1.0, ..RedParameters::default() };
    let (mut link, mut pool, mut seen) = (link(0.0), PacketPool::default(), Seen::default());
    link.set_queue(Instant::ZERO, queue_of(&Discipline::Red(red)), &mut pool, &mut seen);
    for dropped in [0, 0, 0, 1] {
        offer(&mut link, Instant::ZERO, &mut pool, &mut seen);
        assert_eq!(seen.dropped, dropped);
    }
    offer(&mut link, ms(3), &mut pool, &mut seen);
    assert_eq!((seen.dropped, link.stats().drops.of(DropCause::Red)), (2, 2));
    offer(&mut link, ms(6), &mut pool, &mut seen);
    assert_eq!((seen.dropped, link.stats().sent), (2, 4));
}
