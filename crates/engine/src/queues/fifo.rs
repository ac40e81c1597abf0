//! First in, first out, and what finds the queue full is lost (drop-tail).

use super::{Buffer, Packets, QueueContext, QueueDiscipline, Waiting};
use anabranch_units::Instant;

anabranch_units::parameters! {
    /// First in, first out; what finds the queue full is lost (drop-tail).
    #[derive(Copy)]
    pub struct FifoParameters {}
}

/// Packets leave in the order in which they came.
#[derive(Debug)]
pub struct Fifo;

impl QueueDiscipline for Fifo {
    type Parameters = FifoParameters;

    fn new(_parameters: &FifoParameters, _place: &QueueContext<'_>) -> Self {
        Self
    }

    #[inline]
    fn enqueue(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets) {
        buffer.push_or_drop(arrival, packets);
    }

    #[inline]
    fn dequeue(&mut self, buffer: &mut Buffer, _now: Instant, packets: &mut impl Packets) -> Option<Waiting> {
        buffer.pop(packets.pool())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::testing::{Ledger, place};
    use crate::queues::{Discipline, DropCause, Limit, Queue};

    #[test]
    fn each_bound_holds_for_itself() {
        let limit = |packets, bytes| Limit { packets, bytes };
        for (limit, kept) in [
            (limit(None, None), 10),
            (limit(Some(4), None), 4),
            (limit(None, Some(2_999)), 2),
            (limit(None, Some(3_000)), 3),
            (limit(Some(4), Some(3_000)), 3),
            (limit(Some(2), Some(3_000)), 2),
            (limit(Some(0), None), 0),
        ] {
            let (mut fifo, mut ledger) =
                (Queue::new(&Discipline::Fifo(FifoParameters {}), &place(limit)), Ledger::default());
            for packet in 0..10 {
                fifo.enqueue(ledger.waiting(0, packet, 1_000), &mut ledger);
            }
            assert_eq!((fifo.backlog(), fifo.bytes()), (kept, 1_000 * kept), "{limit:?}");
            let lost: Vec<u32> = (kept as u32..10).collect();
            assert_eq!(ledger.dropped(DropCause::Queue), lost, "the last ones");
            let left: Vec<u32> =
                std::iter::from_fn(|| fifo.dequeue(Instant::ZERO, &mut ledger)).map(|w| w.packet).collect();
            assert_eq!(left, (0..kept as u32).collect::<Vec<_>>(), "in order");
        }
    }

    #[test]
    fn a_small_packet_fits_where_a_large_one_does_not() {
        let limit = Limit { packets: None, bytes: Some(1_500) };
        let (mut fifo, mut ledger) =
            (Queue::new(&Discipline::Fifo(FifoParameters {}), &place(limit)), Ledger::default());
        for (packet, bytes) in [(0, 1_000), (1, 1_000), (2, 500)] {
            fifo.enqueue(ledger.waiting(0, packet, bytes), &mut ledger);
        }
        assert_eq!((fifo.packets(ledger.pool()), ledger.dropped(DropCause::Queue)), (vec![0, 2], vec![1]));
    }
}
