//! CoDel (RFC 8289): when a packet at the head of a queue is to be dropped or marked.

use super::{Buffer, DropCause, Packets, QueueContext, QueueDiscipline, Waiting};
use anabranch_units::declaration::above;
use anabranch_units::{Instant, Span};

/// No span of a scenario is longer.
pub(super) const LONGEST: Span = Span::from_secs(30 * 86_400);

/// Largest packet: with no more behind it a packet is left alone (RFC 8289 section 4.4.1 "MAXPACKET").
pub(super) const MAX_PACKET: u64 = 1514;

anabranch_units::parameters! {
    /// Controlled delay: drops at the head while packets wait too long (RFC 8289).
    #[derive(Copy)]
    pub struct CodelParameters {
        /// Acceptable standing delay (RFC 8289 section 4.2).
        target: Span = Span::from_ms(5), above(Span::ZERO).at_most(LONGEST);
        /// Time it may be exceeded (RFC 8289 section 4.3).
        interval: Span = Span::from_ms(100), above(Span::ZERO).at_most(LONGEST);
        /// Mark ECN-capable packets in place of dropping them.
        ecn: bool = false;
    }
}

/// A queue under CoDel.
#[derive(Debug)]
pub struct Codel {
    law: ControlLaw,
}

impl QueueDiscipline for Codel {
    type Parameters = CodelParameters;

    fn new(parameters: &CodelParameters, _place: &QueueContext<'_>) -> Self {
        Self { law: ControlLaw::new(parameters) }
    }

    fn enqueue(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets) {
        buffer.push_or_drop(arrival, packets);
    }

    fn dequeue(&mut self, buffer: &mut Buffer, now: Instant, packets: &mut impl Packets) -> Option<Waiting> {
        self.law.dequeue(now, buffer, DropCause::Codel, packets)
    }
}

/// What to do with the packet at the head of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Send it.
    Forward,
    /// Set "congestion experienced" and send it.
    Mark,
    /// Drop it, and ask again for the next one at the same instant.
    Drop,
}

/// State of one queue (RFC 8289 section 5.2), with the names of the RFC.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlLaw {
    target: Span,
    interval: Span,
    ecn: bool,
    /// When the sojourn time will have been above the target for an interval; `None` while it is below.
    first_above_time: Option<Instant>,
    /// When the next packet is dropped in the dropping state.
    drop_next: Instant,
    /// Packets dropped since the dropping state was entered, roughly; sets the rate of drops.
    count: u32,
    /// `count` when the dropping state was last entered.
    last_count: u32,
    dropping: bool,
    /// A packet was dropped at this instant in the dropping state; whether its successor may be dropped
    /// too decides if another drop is scheduled.
    schedule_pending: bool,
}

impl ControlLaw {
    /// The state of an empty queue. The interval must not be zero.
    #[must_use]
    pub fn new(parameters: &CodelParameters) -> Self {
        debug_assert!(parameters.interval > Span::ZERO, "an interval of zero leaves no time between drops");
        Self {
            target: parameters.target,
            interval: parameters.interval,
            ecn: parameters.ecn,
            first_above_time: None,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            schedule_pending: false,
        }
    }

    /// The packet to send next from a buffer; what is dropped on the way has this cause.
    pub fn dequeue(
        &mut self,
        now: Instant,
        buffer: &mut Buffer,
        cause: DropCause,
        packets: &mut impl Packets,
    ) -> Option<Waiting> {
        loop {
            let first = buffer.pop(packets.pool())?;
            let sojourn = now.since(first.since);
            let capable = packets.is_ecn_capable(first.packet);
            match self.on_dequeue(now, sojourn, buffer.bytes(), MAX_PACKET, capable) {
                Verdict::Forward => return Some(first),
                Verdict::Mark => {
                    packets.mark(first.packet);
                    return Some(first);
                }
                Verdict::Drop => packets.drop(first.packet, cause),
            }
        }
    }

    /// Decides on the packet that is next to be sent at `now`, having waited for `sojourn`, with
    /// `bytes_waiting_after` bytes behind it and an `mtu` in bytes (the RFC's MAXPACKET). After
    /// [`Verdict::Drop`], ask again for the next packet, at the same `now`. A packet is never
    /// dropped with no more than an MTU behind it, so there is a next one.
    ///
    /// With `ecn` set, a packet of an `ecn_capable` transport is marked where another would be dropped;
    /// a mark counts as a drop does (RFC 8289 leaves marking to the implementation; Linux does so).
    pub fn on_dequeue(
        &mut self,
        now: Instant,
        sojourn: Span,
        bytes_waiting_after: u64,
        mtu: u64,
        ecn_capable: bool,
    ) -> Verdict {
        let ok_to_drop = self.ok_to_drop(now, sojourn, bytes_waiting_after, mtu);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            } else if self.schedule_pending {
                self.schedule_next();
            }
            self.schedule_pending = false;
            if !self.dropping || now < self.drop_next {
                return Verdict::Forward;
            }
            if self.ecn && ecn_capable {
                // The packet goes on its way, so no successor decides about the schedule.
                self.schedule_next();
                return Verdict::Mark;
            }
            self.schedule_pending = true;
            return Verdict::Drop;
        }
        if !ok_to_drop {
            return Verdict::Forward;
        }
        self.enter_dropping(now);
        if self.ecn && ecn_capable { Verdict::Mark } else { Verdict::Drop }
    }

    /// Whether the sojourn time has been above the target for an interval: the RFC's `dodequeue`
    /// (section 5.6).
    fn ok_to_drop(&mut self, now: Instant, sojourn: Span, bytes_waiting_after: u64, mtu: u64) -> bool {
        if sojourn < self.target || bytes_waiting_after <= mtu {
            self.first_above_time = None;
            return false;
        }
        match self.first_above_time {
            None => {
                self.first_above_time = Some(now.saturating_add(self.interval));
                false
            }
            Some(first_above_time) => now >= first_above_time,
        }
    }

    /// Enters the dropping state. If it was left not long ago, the rate of drops that held the queue
    /// then is where to start (section 5.5: within 16 intervals of the next drop then planned).
    fn enter_dropping(&mut self, now: Instant) {
        let delta = self.count - self.last_count;
        let recently = now.saturating_since(self.drop_next) < self.interval.saturating_mul(16);
        self.dropping = true;
        self.count = if delta > 1 && recently { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
    }

    fn schedule_next(&mut self) {
        self.count = self.count.saturating_add(1);
        self.drop_next = self.control_law(self.drop_next);
    }

    /// `from + interval / sqrt(count)` (section 5.6), in picoseconds. IEEE 754 fixes every bit of
    /// square root and division, so this is the same on every machine.
    fn control_law(&self, from: Instant) -> Instant {
        from.saturating_add(self.interval.scaled(1.0 / libm::sqrt(f64::from(self.count))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::testing::{Ledger, at_us, place};
    use crate::queues::{Discipline, Limit, Queue};

    const MTU: u64 = 1500;
    const BACKLOG: u64 = 100 * MTU;

    fn codel(ecn: bool) -> ControlLaw {
        ControlLaw::new(&CodelParameters { target: Span::from_ms(5), interval: Span::from_ms(100), ecn })
    }

    /// Dequeues at `us` with that sojourn time and a long queue; returns how many packets were dropped
    /// before one was forwarded.
    fn dequeue(codel: &mut ControlLaw, us: u64, sojourn_ms: u64) -> usize {
        let verdict = |codel: &mut ControlLaw| {
            codel.on_dequeue(at_us(us), Span::from_ms(sojourn_ms), BACKLOG, MTU, false)
        };
        (0..).take_while(|_| verdict(codel) == Verdict::Drop).count()
    }

    /// Times of the drops, in microseconds, when a packet is dequeued each millisecond in `range`.
    fn drops(codel: &mut ControlLaw, range: std::ops::Range<u64>, sojourn_ms: u64) -> Vec<u64> {
        range.flat_map(|ms| std::iter::repeat_n(ms, dequeue(codel, ms * 1000, sojourn_ms))).collect()
    }

    /// By hand, from section 5: above the target from 0 ms on, so the first drop is at 100 ms. The next
    /// are due 100/sqrt(n) ms after each other, at 200, 270.71, 328.45, 378.45 and 423.17 ms; each comes
    /// with the first dequeue at or after it.
    #[test]
    fn drops_come_at_intervals_by_the_inverse_square_root() {
        assert_eq!(drops(&mut codel(false), 0..430, 20), [100, 200, 271, 329, 379, 424]);
    }

    #[test]
    fn nothing_is_dropped_before_an_interval_above_the_target() {
        let mut codel = codel(false);
        assert_eq!(dequeue(&mut codel, 0, 5), 0, "the target itself counts as above");
        assert_eq!(dequeue(&mut codel, 99_999, 5), 0);
        assert_eq!(dequeue(&mut codel, 100_000, 5), 1);
    }

    #[test]
    fn one_packet_below_the_target_starts_the_interval_again() {
        let mut codel = codel(false);
        assert_eq!(dequeue(&mut codel, 0, 20), 0);
        assert_eq!(dequeue(&mut codel, 99_000, 4), 0);
        assert_eq!(drops(&mut codel, 100..201, 20), [200]);
    }

    #[test]
    fn a_backlog_of_one_packet_is_left_alone() {
        let mut codel = codel(false);
        for us in [0, 100_000, 200_000, 300_000] {
            let verdict = codel.on_dequeue(at_us(us), Span::from_ms(50), MTU, MTU, false);
            assert_eq!(verdict, Verdict::Forward);
        }
        let verdict = codel.on_dequeue(at_us(300_000), Span::from_ms(50), MTU + 1, MTU, false);
        assert_eq!(verdict, Verdict::Forward, "the interval only begins here");
        let verdict = codel.on_dequeue(at_us(400_000), Span::from_ms(50), MTU + 1, MTU, false);
        assert_eq!(verdict, Verdict::Drop);
    }

    /// A slow link: nothing is dequeued for 900 ms, in which the drops at 200, 270.7, 328.4, 378.4 and
    /// 423.2 ms fell due; all are made up for at the next dequeue.
    #[test]
    fn overdue_drops_are_made_up_at_once() {
        let mut codel = codel(false);
        assert_eq!(drops(&mut codel, 0..101, 20), [100]);
        assert_eq!(dequeue(&mut codel, 430_000, 20), 5);
    }

    /// A packet below the target right after a drop ends the state, and no further drop is scheduled
    /// (the RFC counts a drop only when its successor may be dropped too).
    #[test]
    fn the_successor_of_a_dropped_packet_may_end_the_state() {
        let mut codel = codel(false);
        assert_eq!(drops(&mut codel, 0..200, 20), [100]);
        assert_eq!(codel.on_dequeue(at_us(200_000), Span::from_ms(20), BACKLOG, MTU, false), Verdict::Drop);
        assert_eq!(codel.on_dequeue(at_us(200_000), Span::from_ms(1), BACKLOG, MTU, false), Verdict::Forward);
        assert!(!codel.dropping);
        assert_eq!((codel.count, codel.drop_next), (1, at_us(200_000)));
    }

    /// After the drops at 100, 200, 271, 329 and 379 ms the count is 5 (four were scheduled since 1).
    /// The queue empties at 400 ms; above the target again from 401 ms, so the state is entered at
    /// 501 ms with count 5 - 1 = 4: the drops follow 100/sqrt(4) = 50 ms later, then
    /// 100/sqrt(5) = 44.7 ms after that.
    #[test]
    fn the_drop_rate_is_taken_up_again_soon_after() {
        let mut codel = codel(false);
        assert_eq!(drops(&mut codel, 0..400, 20), [100, 200, 271, 329, 379]);
        assert_eq!(dequeue(&mut codel, 400_000, 0), 0);
        assert_eq!(drops(&mut codel, 401..600, 20), [501, 551, 596]);
    }

    /// The next drop was planned for 423 ms; 16 intervals later it no longer matters, so the first two
    /// drops are again 100 ms apart.
    #[test]
    fn the_drop_rate_is_forgotten_after_sixteen_intervals() {
        let mut codel = codel(false);
        assert_eq!(drops(&mut codel, 0..400, 20).len(), 5);
        assert_eq!(dequeue(&mut codel, 400_000, 0), 0);
        assert_eq!(drops(&mut codel, 2000..2201, 20), [2100, 2200]);
    }

    #[test]
    fn capable_packets_are_marked_at_the_same_times() {
        let mut codel = codel(true);
        let marks: Vec<u64> = (0..430u64)
            .filter(|ms| {
                let verdict = codel.on_dequeue(at_us(ms * 1000), Span::from_ms(20), BACKLOG, MTU, true);
                assert_ne!(verdict, Verdict::Drop);
                verdict == Verdict::Mark
            })
            .collect();
        assert_eq!(marks, [100, 200, 271, 329, 379, 424]);
    }

    #[test]
    fn without_ecn_on_both_sides_packets_are_dropped() {
        for (ecn, capable) in [(true, false), (false, true)] {
            let mut codel = codel(ecn);
            codel.on_dequeue(at_us(0), Span::from_ms(20), BACKLOG, MTU, capable);
            let verdict = codel.on_dequeue(at_us(100_000), Span::from_ms(20), BACKLOG, MTU, capable);
            assert_eq!(verdict, Verdict::Drop);
        }
    }

    /// A packet of 1250 bytes a millisecond in and out, each having waited for 20 ms: what is dropped at the times of
    /// the control law is the head of the queue, and the next packet goes in its place.
    #[test]
    fn drops_are_taken_from_the_head() {
        let mut queue = Queue::new(&Discipline::Codel(CodelParameters::default()), &place(Limit::default()));
        let mut ledger = Ledger::default();
        let mut sent = Vec::new();
        for ms in 0..=220u32 {
            queue.enqueue(ledger.waiting(u64::from(ms) * 1000, ms, 1_250), &mut ledger);
            if ms >= 20 {
                sent.extend(
                    queue.dequeue(at_us(u64::from(ms) * 1000), &mut ledger).map(|first| first.packet),
                );
            }
        }
        // From 20 ms on above the target: packet 100 is at the head at 120 ms, 201 (one was dropped) at 220 ms.
        assert_eq!(ledger.dropped(DropCause::Codel), [100, 201]);
        assert!(!sent.contains(&100) && sent.contains(&101) && sent.contains(&202));
    }
}
