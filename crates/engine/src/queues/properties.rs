//! What holds for every discipline, whatever arrives and however the link takes it.

use super::testing::{Ledger, at_us, place};
use super::{Discipline, DropCause, Limit, Packets, Queue};
use anabranch_units::Rate;
use proptest::prelude::*;

/// Time since the one before in microseconds, what happens, bytes.
type Step = (u64, u8, u32);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pause = prop_oneof![8 => 0..2_000u64, 1 => 0..400_000u64];
    prop::collection::vec((pause, 0..20u8, 40..1_500u32), 1..400)
}

/// Plays the steps: most are arrivals, to a link that sends at times; each packet is in one place in the end.
fn play(name: &str, steps: &[Step], limit: Limit, capable: bool) -> (Ledger, Vec<u32>, Queue) {
    let discipline = Discipline::named(name).expect("a name of the registry");
    let mut queue = Queue::new(&discipline, &place(limit));
    let mut ledger = Ledger { capable, flows: 5, is_rigid: true, ..Ledger::default() };
    let (mut now, mut arrived, mut bytes_in, mut sent, mut bytes_out) = (0, 0u32, 0u64, Vec::new(), 0u64);
    let mut sizes = Vec::new();
    for &(pause, what, bytes) in steps {
        now += pause;
        match what {
            0..12 => {
                let arrival = ledger.waiting(now, arrived, bytes);
                arrived += 1;
                bytes_in += u64::from(bytes);
                sizes.push(bytes);
                if !queue.is_empty() || queue.pass(arrival, at_us(now - pause), &mut ledger) {
                    queue.enqueue(arrival, &mut ledger);
                }
            }
            12..18 => {
                if let Some(first) = queue.dequeue(at_us(now), &mut ledger) {
                    assert!(first.since <= at_us(now));
                    sent.push(first.packet);
                    bytes_out += u64::from(first.bytes);
                } else {
                    assert!(queue.is_empty(), "{name}: it keeps what it has");
                }
            }
            18 => queue.set_rate(at_us(now), Rate::from_bps(1_000 * u64::from(bytes))),
            _ => {
                for lost in queue.flush(at_us(now), ledger.pool()) {
                    ledger.drops.push((lost.packet, DropCause::Down));
                }
                assert!(queue.is_empty() && queue.bytes() == 0);
            }
        }
        let dropped: u64 = ledger.drops.iter().map(|drop| u64::from(sizes[drop.0 as usize])).sum();
        assert_eq!(bytes_in, bytes_out + dropped + queue.bytes(), "{name}: bytes");
        assert!(limit.packets.is_none_or(|most| queue.backlog() <= most), "{name}: more than its room");
        assert!(limit.bytes.is_none_or(|most| queue.bytes() <= most), "{name}: more than its room");
    }
    let mut everywhere: Vec<u32> = ledger.drops.iter().map(|drop| drop.0).collect();
    everywhere.extend(&sent);
    everywhere.extend(queue.packets(ledger.pool()));
    assert_eq!(queue.packets(ledger.pool()).len() as u64, queue.backlog());
    everywhere.sort_unstable();
    assert_eq!(everywhere, (0..arrived).collect::<Vec<_>>(), "{name}: each packet once");
    (ledger, sent, queue)
}

/// Flows that a discipline serves in turn stand in one line again, and the last ones find no room. The longest queue of the
/// link is that of both.
#[test]
fn what_waits_moves_to_another_queue_in_the_order_of_arrival() {
    for name in Discipline::NAMES {
        let named = |name, packets| {
            let limit = Limit { packets, bytes: None };
            Queue::new(&Discipline::named(name).expect("a name of the registry"), &place(limit))
        };
        let mut queue = named(name, None);
        let mut ledger = Ledger { flows: 3, is_rigid: true, ..Ledger::default() };
        for packet in 0..20 {
            queue.enqueue(ledger.waiting(u64::from(packet), packet, 1_000), &mut ledger);
        }
        queue.note_length();
        queue.hand_over(at_us(100), named("fifo", Some(12)), &mut ledger);
        assert_eq!((queue.backlog(), queue.longest()), (12, 20), "{name}");
        assert_eq!(ledger.dropped(DropCause::Queue), (12..20).collect::<Vec<_>>(), "{name}");
        let left: Vec<_> = std::iter::from_fn(|| queue.dequeue(at_us(200), &mut ledger)).collect();
        let first = (0..12).map(|packet| ledger.waiting(u64::from(packet), packet, 1_000));
        assert_eq!(left, first.collect::<Vec<_>>(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_packet_is_lost_without_a_cause(
        steps in steps(),
        packets in prop::option::of(0..60u64),
        bytes in prop::option::of(0..60_000u64),
        capable in any::<bool>(),
    ) {
        assert!(Discipline::NAMES.len() >= 6);
        for name in Discipline::NAMES {
            let limit = Limit { packets, bytes };
            let (ledger, sent, _) = play(name, &steps, limit, capable);
            let (again, sent_again, _) = play(name, &steps, limit, capable);
            prop_assert_eq!((ledger.drops, sent), (again.drops, sent_again), "the same twice");
        }
    }

    /// Packets of a flow leave in the order in which they came.
    #[test]
    fn no_discipline_reorders_a_flow(steps in steps(), packets in 1..60u64) {
        for name in Discipline::NAMES {
            let (_, sent, _) = play(name, &steps, Limit { packets: Some(packets), bytes: None }, false);
            for flow in 0..5 {
                let of_flow: Vec<u32> = sent.iter().copied().filter(|packet| packet % 5 == flow).collect();
                prop_assert!(of_flow.is_sorted(), "{}: {:?}", name, of_flow);
            }
        }
    }
}
