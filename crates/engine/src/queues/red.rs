//! Random early detection (Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993).
//!
//! The average of the queue's length is updated at each arrival, over idle times as if packets had been sent meanwhile.
//! Between the thresholds a packet is dropped or marked with a probability that grows with the average, at intervals that
//! are uniform; above them each packet is dropped, or with `gentle` ever more of them (Floyd, "Recommendation on using
//! the gentle variant of RED", 2000).

use super::{Buffer, DropCause, Packets, QueueContext, QueueDiscipline, Waiting};
use crate::random::Stream;
use anabranch_units::declaration::{OutOfRange, above, at_least};
use anabranch_units::{Bytes, Instant, Rate};

anabranch_units::parameters! {
    /// Random early detection by the average length of the queue (Floyd and Jacobson 1993).
    #[derive(Copy)]
    pub struct RedParameters {
        /// Average of waiting packets below which nothing is dropped ("min_th", section 6).
        min_threshold: u64 = 5, at_least(1).at_most(999_999_999).packets();
        /// Average from which on everything is, without `gentle` ("max_th"); above the other.
        max_threshold: u64 = 15, at_least(2).at_most(1_000_000_000).packets();
        /// Probability near the upper threshold ("max_p", section 6: 1/50).
        max_probability: f64 = 0.02, above(0.0).at_most(1.0);
        /// Weight of the length now in the average ("w_q", section 6).
        weight: f64 = 0.002, above(0.0).at_most(1.0);
        /// Size of the packets that count as sent in an idle time ("s" is what one takes, section 4).
        packet: u64 = 1500, at_least(1).at_most(1_000_000).bytes();
        /// Let the probability rise to 1 at twice the upper threshold (Floyd 2000).
        gentle: bool = false;
        /// Mark ECN-capable packets in place of dropping them, where a drop would be by chance.
        ecn: bool = false;
    }
}

/// A queue under RED, with the names of the paper.
#[derive(Debug)]
pub struct Red {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    w_q: f64,
    packet: Bytes,
    gentle: bool,
    ecn: bool,
    rate: Rate,
    stream: Stream,
    avg: f64,
    /// Packets since the last mark or drop; -1 while the average is below the lower threshold.
    count: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Take,
    /// To be marked, or dropped where that cannot be.
    ByChance,
    Drop,
}

impl Red {
    /// Decides by the average, which has been brought up to date (section 4, figure 2).
    fn decide(&mut self) -> Verdict {
        let gentle_end = if self.gentle { 2.0 * self.max_th } else { self.max_th };
        if self.avg < self.min_th {
            self.count = -1;
            return Verdict::Take;
        }
        if self.avg >= gentle_end {
            self.count = 0;
            return Verdict::Drop;
        }
        self.count += 1;
        let p_b = if self.avg < self.max_th {
            self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        } else {
            self.max_p + (1.0 - self.max_p) * (self.avg - self.max_th) / self.max_th
        };
        // Section 7: intervals between marks are uniform, in {1, ..., 1/p_b - 1} with the count of figure 2.
        let left = 1.0 - self.count as f64 * p_b;
        let p_a = if left > p_b { p_b / left } else { 1.0 };
        if self.stream.uniform() < p_a {
            self.count = 0;
            return Verdict::ByChance;
        }
        Verdict::Take
    }

    /// Whether the packet may stay.
    fn admits(&mut self, packet: u32, packets: &mut impl Packets) -> bool {
        let stays = match self.decide() {
            Verdict::Take => true,
            Verdict::ByChance => self.ecn && packets.mark(packet),
            Verdict::Drop => false,
        };
        if !stays {
            packets.drop(packet, DropCause::Red);
        }
        stays
    }
}

impl QueueDiscipline for Red {
    type Parameters = RedParameters;

    fn new(parameters: &RedParameters, place: &QueueContext<'_>) -> Self {
        Self {
            min_th: parameters.min_threshold as f64,
            max_th: parameters.max_threshold as f64,
            max_p: parameters.max_probability,
            w_q: parameters.weight,
            packet: Bytes(parameters.packet),
            gentle: parameters.gentle,
            ecn: parameters.ecn,
            rate: place.rate,
            stream: place.stream(),
            avg: 0.0,
            count: -1,
        }
    }

    fn check_together(parameters: &RedParameters) -> Result<(), OutOfRange> {
        if parameters.min_threshold < parameters.max_threshold {
            return Ok(());
        }
        let problem = format!("is {}; it must be above min_threshold", parameters.max_threshold);
        Err(OutOfRange::new("max_threshold", problem))
    }

    fn enqueue(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets) {
        // Section 4: the average follows the queue that the packet finds.
        self.avg += self.w_q * (buffer.backlog() as f64 - self.avg);
        if !buffer.has_room(arrival.bytes) {
            packets.drop(arrival.packet, DropCause::Queue);
        } else if self.admits(arrival.packet, packets) {
            buffer.push(arrival, packets.pool());
        }
    }

    /// After an idle time the average is what it would be after m packets on an empty queue, with m those that could
    /// have been sent (section 4).
    fn pass(&mut self, arrival: Waiting, idle_since: Instant, packets: &mut impl Packets) -> bool {
        let idle = arrival.since.saturating_since(idle_since).as_secs_f64();
        let m = idle / self.rate.time_for(self.packet).as_secs_f64();
        self.avg *= libm::pow(1.0 - self.w_q, m);
        self.admits(arrival.packet, packets)
    }

    fn dequeue(&mut self, buffer: &mut Buffer, _now: Instant, packets: &mut impl Packets) -> Option<Waiting> {
        buffer.pop(packets.pool())
    }

    fn set_rate(&mut self, _buffer: &Buffer, _now: Instant, rate: Rate) {
        self.rate = rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::testing::{Ledger, at_us, place};
    use crate::queues::{Discipline, Limit, Queue};

    fn red(change: impl FnOnce(&mut RedParameters)) -> Red {
        let mut parameters = RedParameters::default();
        change(&mut parameters);
        Red::new(&parameters, &place(Limit::default()))
    }

    /// Section 6.1, equation 2: with w_q = 0.001 and a queue that grows by one packet at each arrival, the average after
    /// L = 100 packets is L + 1 + ((1 - w_q)^(L + 1) - 1) / w_q, which the paper prints as 4.88.
    #[test]
    fn the_average_follows_a_growing_queue_as_the_paper_says() {
        let mut red = red(|p| p.weight = 0.001);
        let (mut buffer, mut ledger) = (Buffer::new(Limit::default()), Ledger::default());
        for packet in 0..=100 {
            red.enqueue(&mut buffer, ledger.waiting(0, packet, 1_500), &mut ledger);
        }
        let formula = 101.0 + (0.999f64.powi(101) - 1.0) / 0.001;
        assert!((red.avg - formula).abs() < 1e-9 && (red.avg - 4.88).abs() < 0.01, "{}", red.avg);
        assert!(ledger.drops.is_empty(), "below the threshold of 5");
    }

    /// The time in which 100 packets of 1500 bytes are sent at 10 Mbps is 120 ms: 0.998^100 of the average are left. At
    /// 20 Mbps these are 200 packets.
    #[test]
    fn an_idle_time_counts_as_packets_on_an_empty_queue() {
        for (mbps, packets) in [(10, 100), (20, 200)] {
            let mut red = red(|_| ());
            red.avg = 4.0;
            red.set_rate(&Buffer::new(Limit::default()), Instant::ZERO, Rate::from_bps(mbps * 1_000_000));
            let (mut ledger, idle_since) = (Ledger::default(), at_us(10_000));
            assert!(red.pass(ledger.waiting(130_000, 0, 1_500), idle_since, &mut ledger));
            assert!((red.avg - 4.0 * 0.998f64.powi(packets)).abs() < 1e-9, "{}", red.avg);
        }
    }

    /// Intervals between drops while the average stays at this value.
    fn intervals(red: &mut Red, avg: f64, drops: usize) -> Vec<i64> {
        let mut intervals = Vec::new();
        let mut since = 0;
        while intervals.len() < drops {
            red.avg = avg;
            since += 1;
            if red.decide() != Verdict::Take {
                intervals.push(since);
                since = 0;
            }
        }
        intervals
    }

    /// Section 7, method 2, with the count as in figure 2: at an average half way p_b = max_p / 2 = 0.01, and the
    /// intervals are uniform in 1..=99: mean 50, standard deviation 28.6. Over 20,000 intervals the mean deviates by 0.2.
    #[test]
    fn intervals_between_drops_are_uniform() {
        let mut red = red(|_| ());
        red.count = 0;
        let gaps = intervals(&mut red, 10.0, 20_000);
        let mean = gaps.iter().sum::<i64>() as f64 / gaps.len() as f64;
        assert!((mean - 50.0).abs() < 1.0, "{mean}");
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&99)));
        let third = gaps.iter().filter(|&&interval| interval <= 33).count() as f64;
        // A third of 20,000, binomial with a deviation of 67.
        assert!((third - 6_667.0).abs() < 300.0, "{third}");
    }

    #[test]
    fn everything_is_dropped_above_the_upper_threshold_and_with_gentle_above_twice_it() {
        let mut plain = red(|_| ());
        assert!(intervals(&mut plain, 15.0, 100).iter().all(|&interval| interval == 1));
        let mut gentle = red(|p| p.gentle = true);
        assert!(intervals(&mut gentle, 30.0, 100).iter().all(|&interval| interval == 1));
        // At the upper threshold p_b = max_p = 0.02: uniform in 1..=49.
        let gaps = intervals(&mut gentle, 15.0, 20_000);
        let mean = gaps.iter().sum::<i64>() as f64 / gaps.len() as f64;
        assert!((mean - 25.0).abs() < 0.5, "{mean}");
        // A quarter above: p_b = 0.02 + 0.98 / 4 = 0.265: 0.265 / 0.735 for intervals of 1 and 2, the rest 3.
        let gaps = intervals(&mut gentle, 18.75, 20_000);
        let share = |n| gaps.iter().filter(|&&i| i == n).count() as f64 / 20_000.0;
        for (interval, expected) in [(1, 0.3605), (2, 0.3605), (3, 0.279)] {
            assert!((share(interval) - expected).abs() < 0.015, "{interval}: {}", share(interval));
        }
    }

    #[test]
    fn below_the_lower_threshold_nothing_is_dropped_and_the_count_begins_anew() {
        let mut red = red(|_| ());
        red.avg = 4.99;
        red.count = 50;
        assert!((0..1000).all(|_| red.decide() == Verdict::Take));
        assert_eq!(red.count, -1);
    }

    /// With marks in place of drops none is lost below the upper threshold; above it all are.
    #[test]
    fn packets_are_marked_by_chance_and_dropped_for_sure() {
        let parameters = RedParameters { weight: 1.0, ecn: true, ..RedParameters::default() };
        let mut queue = Queue::new(&Discipline::Red(parameters), &place(Limit::default()));
        let mut ledger = Ledger { capable: true, ..Ledger::default() };
        for packet in 0..10_000 {
            queue.enqueue(ledger.waiting(0, packet, 1_500), &mut ledger);
            if queue.backlog() > 12 {
                queue.dequeue(Instant::ZERO, &mut ledger);
            }
        }
        // At 12 waiting p_b = 0.014: one in (1 + 71) / 2.
        let marks = ledger.marked.len() as f64;
        assert!(ledger.drops.is_empty() && (marks / (10_000.0 / 36.0) - 1.0).abs() < 0.2, "{marks}");
        for packet in 10_000..10_020 {
            queue.enqueue(ledger.waiting(0, packet, 1_500), &mut ledger);
        }
        assert_eq!((queue.backlog(), ledger.dropped(DropCause::Red).len()), (15, 17));
    }

    #[test]
    fn thresholds_that_are_not_in_order_are_refused() {
        let check = |min_threshold, max_threshold| {
            Discipline::Red(RedParameters { min_threshold, max_threshold, ..RedParameters::default() })
                .verify()
        };
        assert!(check(5, 6).is_ok());
        assert_eq!(
            check(5, 5).unwrap_err().to_string(),
            "max_threshold is 5; it must be above min_threshold"
        );
        assert!(check(0, 5).is_err());
    }
}
