//! A threshold on the queue's length at the moment: an ECN-capable packet that finds so many waiting is marked (RFC 3168;
//! as DCTCP wants it, RFC 8257 section 3.1).

use super::{Buffer, Packets, QueueContext, QueueDiscipline, Waiting};
use anabranch_units::Instant;
use anabranch_units::declaration::Bounds;

anabranch_units::parameters! {
    /// Drop-tail; an ECN-capable packet that finds a long queue is marked (RFC 3168, RFC 8257 section 3.1).
    #[derive(Copy)]
    pub struct ThresholdParameters {
        /// Waiting packets from which on arrivals are marked; 20 is DCTCP's K at 1 Gbps (Alizadeh et al. 2010, section
        /// 4).
        mark_at: u64 = 20, Bounds::none().packets();
    }
}

/// Drop-tail with marks.
#[derive(Debug)]
pub struct Threshold {
    mark_at: u64,
}

impl QueueDiscipline for Threshold {
    type Parameters = ThresholdParameters;

    fn new(parameters: &ThresholdParameters, _place: &QueueContext<'_>) -> Self {
        Self { mark_at: parameters.mark_at }
    }

    fn enqueue(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets) {
        let room = buffer.has_room(arrival.bytes);
        if room && buffer.backlog() >= self.mark_at {
            packets.mark(arrival.packet);
        }
        buffer.push_or_drop(arrival, packets);
    }

    fn dequeue(&mut self, buffer: &mut Buffer, _now: Instant, packets: &mut impl Packets) -> Option<Waiting> {
        buffer.pop(packets.pool())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::testing::{Ledger, place};
    use crate::queues::{Discipline, DropCause, Limit, Queue};

    /// Room for eight and marks from three on: of ten arrivals, 3 to 7 are marked and 8 and 9 lost without a mark.
    #[test]
    fn arrivals_are_marked_from_the_threshold_to_the_limit() {
        let limit = Limit { packets: Some(8), bytes: None };
        for capable in [true, false] {
            let mut queue =
                Queue::new(&Discipline::Threshold(ThresholdParameters { mark_at: 3 }), &place(limit));
            let mut ledger = Ledger { capable, ..Ledger::default() };
            for packet in 0..10 {
                queue.enqueue(ledger.waiting(0, packet, 1_500), &mut ledger);
            }
            assert_eq!(ledger.marked, if capable { vec![3, 4, 5, 6, 7] } else { vec![] });
            assert_eq!((queue.backlog(), ledger.dropped(DropCause::Queue)), (8, vec![8, 9]));
            queue.dequeue(Instant::ZERO, &mut ledger);
            assert_eq!(queue.packets(ledger.pool())[0], 1);
        }
    }
}
