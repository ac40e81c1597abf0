//! Passive measurement of a link's loss: 1 - received/sent from the counters of the ports at its two ends
//! (Vilela 2022, section 4.1.2, "Link-State Measurement").
//!
//! The ends are read at different instants, because a request reaches one switch before the other, and packets
//! are in flight at both. A packet that the receiver has counted at `t` left the sender by `t - transit`,
//! where transit is transmission and propagation; so what was received by `t` is held against what was sent by
//! `t - transit`. That count lies between two readings of the sender, or shortly behind the last, and is found
//! on the line through them; all switches read one clock, as the thesis has it. What the line is off by, a
//! burst around the instant of reading, counts too much in one sample and too little in the next, so that it
//! falls out of the average. That is why samples may be negative and only their average is kept in 0..=1.

use anabranch_routing::MovingAverage;
use anabranch_units::{Instant, Span};

/// What the port that sends over a link has counted.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sent {
    /// When it was read.
    pub at: Instant,
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What the port that receives over a link has counted.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// When it was read.
    pub at: Instant,
    /// Packets.
    pub packets: u64,
}

/// How a link is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Samples that the estimate is the mean of.
    pub window: usize,
    /// Packets that make a sample; with fewer the sample goes on.
    pub packets: u64,
    /// Readings of the two ends further apart belong to different requests, of which replies were lost.
    pub apart: Span,
}

/// The loss of one link, from readings of its two ends in any order. Counters start at zero with the run.
#[derive(Debug)]
pub struct LossMeter {
    sampling: Sampling,
    sent: Option<Sent>,
    received: Option<Received>,
    /// The sender's reading in the last pair.
    last_sent: Sent,
    /// Where the sample in progress began: packets sent, less those in flight, and received.
    start: (f64, u64),
    average: MovingAverage,
}

impl LossMeter {
    /// A link of which nothing has been read.
    #[must_use]
    pub fn new(sampling: Sampling) -> Self {
        Self {
            sampling,
            sent: None,
            received: None,
            last_sent: Sent::default(),
            start: (0.0, 0),
            average: MovingAverage::new(sampling.window),
        }
    }

    /// Mean loss over the last samples; `None` before the first.
    #[must_use]
    pub fn estimate(&self) -> Option<f64> {
        self.average.estimate().map(|loss| loss.clamp(0.0, 1.0))
    }

    /// The sender's end has been read. `transit` is the time that a packet of so many bytes takes.
    pub fn on_sent(&mut self, reading: Sent, transit: impl Fn(u32) -> Span) {
        if reading.at > self.last_sent.at {
            self.sent = Some(reading);
            self.pair(transit);
        }
    }

    /// The receiver's end has been read.
    pub fn on_received(&mut self, reading: Received, transit: impl Fn(u32) -> Span) {
        self.received = Some(reading);
        self.pair(transit);
    }

    /// Two readings of one request may end a sample.
    fn pair(&mut self, transit: impl Fn(u32) -> Span) {
        let (Some(sent), Some(received)) = (self.sent, self.received) else { return };
        if sent.at.saturating_since(received.at) > self.sampling.apart {
            self.received = None;
        } else if received.at.saturating_since(sent.at) > self.sampling.apart {
            self.sent = None;
        } else {
            (self.sent, self.received) = (None, None);
            self.sample(sent, received, transit);
        }
    }

    fn sample(&mut self, sent: Sent, received: Received, transit: impl Fn(u32) -> Span) {
        let packets = sent.packets.saturating_sub(self.last_sent.packets);
        let bytes = sent.bytes.saturating_sub(self.last_sent.bytes);
        let rate = packets as f64 / sent.at.since(self.last_sent.at).as_secs_f64();
        self.last_sent = sent;
        let mean = bytes.checked_div(packets).unwrap_or(0) as u32;
        let lag = (sent.at.as_secs_f64() + transit(mean).as_secs_f64()) - received.at.as_secs_f64();
        let arrived_or_lost = sent.packets as f64 - rate * lag;
        let (sent_now, received_now) =
            (arrived_or_lost - self.start.0, received.packets.saturating_sub(self.start.1));
        if sent_now >= self.sampling.packets as f64 {
            self.average.add(1.0 - received_now as f64 / sent_now);
            self.start = (arrived_or_lost, received.packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRANSIT: Span = Span::from_ms(100);

    fn meter(packets: u64) -> LossMeter {
        LossMeter::new(Sampling { window: 3, packets, apart: Span::from_secs(5) })
    }

    fn at(seconds: f64) -> Instant {
        Instant::ZERO + Span::from_secs_f64(seconds)
    }

    fn read_sent(meter: &mut LossMeter, seconds: f64, packets: u64) {
        meter.on_sent(Sent { at: at(seconds), packets, bytes: packets * 1500 }, |_| TRANSIT);
    }

    fn read_received(meter: &mut LossMeter, seconds: f64, packets: u64) {
        meter.on_received(Received { at: at(seconds), packets }, |_| TRANSIT);
    }

    /// 1,000 packets/s from time 0, of which 2 % are lost, 100 ms under way; the receiver is read `skew`
    /// seconds after the sender.
    fn read_both(meter: &mut LossMeter, seconds: f64, skew: f64) {
        read_sent(meter, seconds, (seconds * 1000.0) as u64);
        read_received(meter, seconds + skew, ((seconds + skew - 0.1) * 980.0).round() as u64);
    }

    #[test]
    fn packets_in_flight_are_not_lost() {
        for skew in [-2.0, -0.1, 0.0, 0.1, 0.3, 2.0] {
            let mut meter = meter(100);
            assert_eq!(meter.estimate(), None);
            for round in 1..=4 {
                read_both(&mut meter, f64::from(round) * 10.0, skew);
                let loss = meter.estimate().expect("a sample");
                // Received packets are whole: half a packet of the 7,900 or more that are sent.
                assert!((loss - 0.02).abs() < 0.5 / 7_900.0 * 1.1, "{skew}: {loss}");
            }
        }
    }

    /// Traffic stops between the two readings: what the line through the sender's readings is off by falls out
    /// of the average, as the next sample has it with the other sign.
    #[test]
    fn what_one_sample_has_too_much_the_next_has_too_little() {
        let mut meter = meter(100);
        let mut estimates = Vec::new();
        // 1,000 packets in each second, but none around the readings at 10 s, where the line expects 100.
        for (seconds, received) in [(10.0, 10_000), (20.0, 19_900), (30.0, 29_900)] {
            read_sent(&mut meter, seconds, (seconds * 1000.0) as u64);
            read_received(&mut meter, seconds, received);
            estimates.push(meter.estimate().expect("a sample"));
        }
        assert_eq!(estimates[0], 0.0, "a negative sample is no loss");
        assert!(estimates[1] < 1e-4 && estimates[2] < 1e-4, "{estimates:?}");
    }

    #[test]
    fn few_packets_make_no_sample() {
        let mut meter = meter(1000);
        for (seconds, packets, loss) in [(10.0, 4, None), (20.0, 600, None), (30.0, 1200, Some(0.5))] {
            read_sent(&mut meter, seconds, packets);
            read_received(&mut meter, seconds + 0.1, packets / 2);
            assert_eq!(meter.estimate(), loss);
        }
    }

    /// The sender's reply to the second request is lost, and the receiver's to the third. Readings of
    /// different requests are not held against each other.
    #[test]
    fn a_lost_reply_makes_a_longer_sample() {
        let mut meter = meter(100);
        read_both(&mut meter, 10.0, 0.1);
        read_received(&mut meter, 20.1, 19_600);
        read_sent(&mut meter, 30.0, 30_000);
        read_both(&mut meter, 40.0, 0.1);
        let loss = meter.estimate().expect("a sample");
        assert!((loss - 0.02).abs() < 1e-9, "{loss}");
    }

    #[test]
    fn a_link_that_loses_all_loses_all() {
        let mut meter = meter(100);
        read_sent(&mut meter, 10.0, 10_000);
        read_received(&mut meter, 10.1, 0);
        assert_eq!(meter.estimate(), Some(1.0));
    }
}
