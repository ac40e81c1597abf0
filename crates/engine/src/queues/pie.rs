//! PIE (RFC 8033): packets are dropped at random as they arrive, with a probability that a controller sets every
//! T_UPDATE by the delay of the queue and its trend.
//!
//! The basic scheme (section 4) with ECN (5.1) and the cap on increases (5.5). The link's rate is known and need not be
//! estimated (5.2): the delay is what waits over the rate, as in DOCSIS-PIE (RFC 8034). Left out: switching PIE off
//! (5.3), which saves work, and derandomisation (5.4).
//!
//! Between arrivals and departures nothing changes that an update looks at. So the updates that have fallen due are made
//! up for before the next of them, each with what waited at its time, and need no event.

use super::{Buffer, DropCause, Packets, QueueContext, QueueDiscipline, Waiting};
use crate::packet::PacketPool;
use crate::random::Stream;
use anabranch_units::declaration::{above, at_least, at_most};
use anabranch_units::{Bytes, Instant, Rate, Span};

/// Gains of the controller, in 1/s (section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Mean size of a packet: two of them are left alone (section 4.1).
const MEAN_PACKET: u64 = 1500;

anabranch_units::parameters! {
    /// Proportional integral controller enhanced: drops at random, by the delay of the queue (RFC 8033).
    #[derive(Copy)]
    pub struct PieParameters {
        /// Delay that the controller aims at (QDELAY_REF, RFC 8033 section 4.2).
        target: Span = Span::from_ms(15), above(Span::ZERO).at_most(super::codel::LONGEST);
        /// Time between two updates of the probability (T_UPDATE, section 4.2).
        update: Span = Span::from_ms(15), at_least(Span::from_us(1)).at_most(super::codel::LONGEST);
        /// Time for which a burst passes unhindered after quiet (MAX_BURST, section 4.4).
        burst: Span = Span::from_ms(150), at_most(super::codel::LONGEST);
        /// Mark ECN-capable packets in place of dropping them, as long as `mark_below` holds (section 5.1).
        ecn: bool = false;
        /// Probability from which on packets are dropped, whether they can be marked or not (MARK_ECNTH, section 5.1).
        mark_below: f64 = 0.1, at_least(0.0).at_most(1.0);
    }
}

/// A queue under PIE, with the names of the RFC.
#[derive(Debug)]
pub struct Pie {
    parameters: PieParameters,
    rate: Rate,
    stream: Stream,
    drop_prob: f64,
    /// Delay of the queue at the last update, in seconds.
    qdelay_old: f64,
    burst_allowance: Span,
    next_update: Instant,
}

/// What the change of the probability is divided by, at this probability (section 4.2).
fn damping(drop_prob: f64) -> f64 {
    match drop_prob {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

impl Pie {
    /// Makes the updates that have fallen due, with what has waited since the last call.
    fn advance(&mut self, buffer: &Buffer, now: Instant) {
        while self.next_update <= now {
            let at_rest = buffer.is_empty()
                && self.drop_prob == 0.0
                && self.qdelay_old == 0.0
                && self.burst_allowance == self.parameters.burst;
            if at_rest {
                // From here on all updates leave everything as it is.
                let due = now.since(self.next_update).as_ps() / self.parameters.update.as_ps() + 1;
                self.next_update =
                    self.next_update.saturating_add(self.parameters.update.saturating_mul(due));
                return;
            }
            self.update(self.rate.time_for(Bytes(buffer.bytes())).as_secs_f64());
            self.next_update = self.next_update.saturating_add(self.parameters.update);
        }
    }

    /// One update (sections 4.2 and 4.4), with the delay of the queue in seconds.
    fn update(&mut self, qdelay: f64) {
        let target = self.parameters.target.as_secs_f64();
        let mut p = ALPHA * (qdelay - target) + BETA * (qdelay - self.qdelay_old);
        p /= damping(self.drop_prob);
        if self.drop_prob >= 0.1 {
            // Section 5.5: no more than 2 % at once.
            p = p.min(0.02);
        }
        self.drop_prob += p;
        if qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(self.parameters.update);
        if self.drop_prob == 0.0 && qdelay < target / 2.0 && self.qdelay_old < target / 2.0 {
            self.burst_allowance = self.parameters.burst;
        }
        self.qdelay_old = qdelay;
    }

    /// Whether the packet is to be dropped or marked (section 4.1).
    fn drop_early(&mut self, buffer: &Buffer) -> bool {
        let calm = self.qdelay_old < self.parameters.target.as_secs_f64() / 2.0 && self.drop_prob < 0.2;
        if self.burst_allowance > Span::ZERO || calm || buffer.bytes() <= 2 * MEAN_PACKET {
            return false;
        }
        self.stream.uniform() < self.drop_prob
    }
}

impl QueueDiscipline for Pie {
    type Parameters = PieParameters;

    fn new(parameters: &PieParameters, place: &QueueContext<'_>) -> Self {
        Self {
            parameters: *parameters,
            rate: place.rate,
            stream: place.stream(),
            drop_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: parameters.burst,
            next_update: Instant::ZERO + parameters.update,
        }
    }

    fn enqueue(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets) {
        self.advance(buffer, arrival.since);
        if !buffer.has_room(arrival.bytes) {
            packets.drop(arrival.packet, DropCause::Queue);
            return;
        }
        if self.drop_early(buffer) {
            let may_mark = self.parameters.ecn && self.drop_prob < self.parameters.mark_below;
            if !(may_mark && packets.mark(arrival.packet)) {
                packets.drop(arrival.packet, DropCause::Pie);
                return;
            }
        }
        buffer.push(arrival, packets.pool());
    }

    fn dequeue(&mut self, buffer: &mut Buffer, now: Instant, packets: &mut impl Packets) -> Option<Waiting> {
        self.advance(buffer, now);
        buffer.pop(packets.pool())
    }

    fn set_rate(&mut self, buffer: &Buffer, now: Instant, rate: Rate) {
        self.advance(buffer, now);
        self.rate = rate;
    }

    fn flush(&mut self, buffer: &mut Buffer, now: Instant, pool: &PacketPool) -> Vec<Waiting> {
        self.advance(buffer, now);
        buffer.flush(pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::Limit;
    use crate::queues::testing::{Ledger, at_us, place};

    fn pie(change: impl FnOnce(&mut PieParameters)) -> Pie {
        let mut parameters = PieParameters::default();
        change(&mut parameters);
        Pie::new(&parameters, &place(Limit::default()))
    }

    /// Section 4.2: the constants are 15 ms each, and 150 ms; alpha and beta for a delay of 25 ms that rose from 20 ms:
    /// 0.125 * 0.010 + 1.25 * 0.005 = 0.0075, over the damping of each range of the probability.
    #[test]
    fn the_probability_moves_by_the_table_of_the_rfc() {
        let all = PieParameters::default();
        assert_eq!(
            (all.target, all.update, all.burst),
            (Span::from_ms(15), Span::from_ms(15), Span::from_ms(150))
        );
        for (before, divisor) in [
            (0.0, 2048.0),
            (0.000_000_9, 2048.0),
            (0.000_001, 512.0),
            (0.000_01, 128.0),
            (0.000_1, 32.0),
            (0.001, 8.0),
            (0.01, 2.0),
            (0.1, 1.0),
            (0.5, 1.0),
        ] {
            let mut pie = pie(|_| ());
            (pie.drop_prob, pie.qdelay_old) = (before, 0.020);
            pie.update(0.025);
            let moved = pie.drop_prob - before;
            assert!((moved - 0.0075 / divisor).abs() < 1e-12, "at {before}: {moved}");
        }
    }

    #[test]
    fn an_increase_is_capped_where_the_probability_is_high() {
        let mut pie = pie(|_| ());
        pie.drop_prob = 0.1;
        pie.update(0.3);
        assert!((pie.drop_prob - 0.12).abs() < 1e-12, "section 5.5: {}", pie.drop_prob);
        (pie.drop_prob, pie.qdelay_old) = (0.09, 0.0);
        pie.update(0.3);
        // (0.125 * 0.285 + 1.25 * 0.3) / 2, below 0.1 without a cap.
        assert!((pie.drop_prob - 0.09 - 0.205_312_5).abs() < 1e-12, "{}", pie.drop_prob);
    }

    /// Section 4.2: without delay the probability falls by 2 % beside what the controller takes off.
    #[test]
    fn the_probability_decays_when_the_queue_is_empty() {
        let mut pie = pie(|_| ());
        pie.drop_prob = 0.5;
        pie.update(0.0);
        assert!((pie.drop_prob - (0.5 - 0.125 * 0.015) * 0.98).abs() < 1e-12);
    }

    /// Section 4.4: ten updates of 15 ms use up the allowance of 150 ms; quiet gives it back.
    #[test]
    fn a_burst_of_150_ms_passes() {
        let mut pie = pie(|_| ());
        let mut buffer = Buffer::new(Limit::default());
        let mut ledger = Ledger::default();
        // Half a second of queue at once, 500 packets of 1250 bytes, stays: the delay is 500 ms at every update.
        for packet in 0..500 {
            pie.enqueue(&mut buffer, ledger.waiting(1, packet, 1_250), &mut ledger);
        }
        assert!(ledger.drops.is_empty());
        // The tenth update is at 150 ms; until then nothing is dropped, whatever the probability.
        pie.advance(&buffer, at_us(149_999));
        assert!(pie.drop_prob > 0.0 && pie.burst_allowance == Span::from_ms(15));
        assert!((0..100).all(|_| !pie.drop_early(&buffer)));
        pie.advance(&buffer, at_us(150_000));
        assert_eq!(pie.burst_allowance, Span::ZERO);
        pie.drop_prob = 1.0;
        assert!(pie.drop_early(&buffer));
        buffer.flush(ledger.pool());
        pie.drop_prob = 0.0;
        pie.advance(&buffer, at_us(165_000));
        assert_eq!(pie.burst_allowance, Span::ZERO, "the update before was not quiet");
        pie.advance(&buffer, at_us(180_000));
        assert_eq!(pie.burst_allowance, Span::from_ms(150));
    }

    /// Section 4.4: the allowance returns only while the old and the new delay are below half of the reference, 7.5 ms.
    #[test]
    fn the_allowance_returns_below_half_of_the_reference() {
        for (old, new, returns) in
            [(0.007_4, 0.007_4, true), (0.007_6, 0.007_4, false), (0.007_4, 0.007_6, false)]
        {
            let mut pie = pie(|_| ());
            (pie.burst_allowance, pie.qdelay_old) = (Span::ZERO, old);
            pie.update(new);
            assert_eq!(pie.drop_prob, 0.0);
            assert_eq!(pie.burst_allowance == Span::from_ms(150), returns, "{old} s, then {new} s");
        }
    }

    /// Section 4.1: nothing is dropped with a short old delay and a low probability, or with two packets or fewer.
    #[test]
    fn short_queues_are_left_alone() {
        let mut pie = pie(|_| ());
        let (mut buffer, mut ledger) = (Buffer::new(Limit::default()), Ledger::default());
        (pie.burst_allowance, pie.drop_prob, pie.qdelay_old) = (Span::ZERO, 1.0, 0.1);
        buffer.push(ledger.waiting(0, 0, 3_000), ledger.pool());
        assert!(!pie.drop_early(&buffer));
        buffer.push(ledger.waiting(0, 1, 1), ledger.pool());
        assert!(pie.drop_early(&buffer));
        (pie.drop_prob, pie.qdelay_old) = (0.199, 0.007_4);
        assert!((0..1000).all(|_| !pie.drop_early(&buffer)));
        // Half of QDELAY_REF is 7.5 ms. That none of 1000 is dropped has a probability of 10^-96.
        pie.qdelay_old = 0.007_6;
        assert!((0..1000).any(|_| pie.drop_early(&buffer)));
        pie.qdelay_old = 0.007_4;
        pie.drop_prob = 0.2;
        let dropped = (0..10_000).filter(|_| pie.drop_early(&buffer)).count();
        // Binomial with a deviation of 40.
        assert!((1_840..=2_160).contains(&dropped), "{dropped}");
    }

    /// However often it is looked at, the updates are the same: those of a queue that is asked every 0.1 ms, and of one
    /// that is asked at its arrivals and departures only.
    #[test]
    fn updates_are_made_at_their_own_times() {
        let (mut often, mut seldom) = (pie(|_| ()), pie(|_| ()));
        let (mut a, mut b) = (Buffer::new(Limit::default()), Buffer::new(Limit::default()));
        let (mut one, mut other) = (Ledger::default(), Ledger::default());
        let mut packet = 0;
        for tenth in 0..40_000u64 {
            let us = tenth * 100;
            often.advance(&a, at_us(us));
            // Bursts of 60 packets each 90 ms at first, later nothing for a second.
            let burst = if us < 2_000_000 && us % 90_000 == 0 { 60 } else { 0 };
            for _ in 0..burst {
                often.enqueue(&mut a, one.waiting(us, packet, 1_250), &mut one);
                seldom.enqueue(&mut b, other.waiting(us, packet, 1_250), &mut other);
                packet += 1;
            }
            if us % 1_000 == 0 && !a.is_empty() {
                often.dequeue(&mut a, at_us(us), &mut one);
                seldom.dequeue(&mut b, at_us(us), &mut other);
            }
        }
        seldom.advance(&b, at_us(4_000_000));
        often.advance(&a, at_us(4_000_000));
        assert_eq!(one.drops, other.drops);
        assert_eq!(
            (often.drop_prob, often.qdelay_old, often.burst_allowance, often.next_update),
            (seldom.drop_prob, seldom.qdelay_old, seldom.burst_allowance, seldom.next_update)
        );
    }

    #[test]
    fn packets_are_marked_as_long_as_the_probability_is_low() {
        for (prob, marks) in [(0.099, true), (0.1, false)] {
            let mut pie = pie(|p| p.ecn = true);
            let mut ledger = Ledger { capable: true, ..Ledger::default() };
            let mut buffer = Buffer::new(Limit::default());
            buffer.push(ledger.waiting(0, 0, 3_001), ledger.pool());
            for packet in 1..1000 {
                (pie.burst_allowance, pie.drop_prob, pie.qdelay_old) = (Span::ZERO, prob, 0.1);
                pie.enqueue(&mut buffer, ledger.waiting(0, packet, 100), &mut ledger);
            }
            assert_eq!((!ledger.marked.is_empty(), ledger.drops.is_empty()), (marks, marks), "at {prob}");
        }
    }

    /// Section 4.1: an old delay of half of the reference, 7.5 ms, is not below it. That none of 1000 is dropped has a
    /// probability of 10^-96.
    #[test]
    fn half_of_the_reference_is_not_a_short_delay() {
        let mut pie = pie(|_| ());
        let (mut buffer, mut ledger) = (Buffer::new(Limit::default()), Ledger::default());
        buffer.push(ledger.waiting(0, 0, 3_001), ledger.pool());
        (pie.burst_allowance, pie.drop_prob) = (Span::ZERO, 0.199);
        pie.qdelay_old = pie.parameters.target.as_secs_f64() / 2.0;
        assert!((0..1000).any(|_| pie.drop_early(&buffer)));
    }

    /// Of a queue at rest the update that comes next is still to come, on the grid of 15 ms.
    #[test]
    fn the_next_update_of_a_queue_at_rest_is_to_come() {
        for (us, next_us) in [(14_999, 15_000), (15_000, 30_000), (29_999, 30_000), (1_000_000, 1_005_000)] {
            let mut pie = pie(|_| ());
            pie.advance(&Buffer::new(Limit::default()), at_us(us));
            assert_eq!(pie.next_update, at_us(next_us), "at {us} us");
        }
    }

    /// Sections 4.2 and 4.4: an empty queue is at rest only when nothing is left of what was before.
    #[test]
    fn an_empty_queue_that_remembers_is_not_at_rest() {
        for (drop_prob, qdelay_old) in [(0.5, 0.0), (0.0, 0.005)] {
            let mut pie = pie(|_| ());
            (pie.drop_prob, pie.qdelay_old) = (drop_prob, qdelay_old);
            pie.advance(&Buffer::new(Limit::default()), at_us(15_000));
            assert!(pie.drop_prob < 0.49 && pie.qdelay_old == 0.0, "{} {}", pie.drop_prob, pie.qdelay_old);
        }
    }
}
