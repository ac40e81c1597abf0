//! One link as probes and counters show it (Vilela 2022, section 4.1.2, "Link-State Measurement").
//!
//! Loss is passive: 1 - received/sent of the link's own traffic. Two ends read at different instants do not agree
//! on which packets that is, because some are in flight. A probe settles it: a link keeps its packets in order, so
//! that what was sent before the probe has arrived before it or not at all. Counts at the departure of a probe and
//! at its arrival, less those of the probe before, give exactly the packets sent between the two and exactly those
//! of them that are lost. A lost probe only makes the next sample longer, and probes count neither as sent nor as
//! lost. Nor does what a failure of the link takes with it: after one the sample in progress begins anew, or a
//! packet that was on its way then would make a link without loss a lossy one, for as long as it stays idle.
//!
//! Counters of real switches are read at two instants, and what was sent in between is an estimate: a probe of theirs
//! counts a packet or two too many or too few. Differences take care of it, for what one sample counts too many the
//! next one counts too few; where more packets seem to have come than went, the sample goes on.
//!
//! Delay is the time from a probe's arrival at the queue of the link to that at the other end: queue, transmission
//! of the probe, propagation. The clocks of switches agree, as the thesis has it.

use crate::control::LinkProbe;
use anabranch_routing::{Estimator, EstimatorSetup, Sample};
use anabranch_units::{Instant, Span};

/// So many packets in a row, over at least one interval, and none arrives: the link loses all. By chance that
/// happens once in 10^13 at a loss of 5 %, the highest at which the throughput formula holds.
const SILENT_PACKETS: u64 = 10;

/// How a link is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// What makes estimates of samples.
    pub estimator: EstimatorSetup,
    /// Packets that make a sample of loss; with fewer the sample goes on to the next probe.
    pub packets: u64,
}

/// Loss and delay of one link. Counters start at zero with the run.
#[derive(Debug)]
pub struct LinkMeter {
    least_packets: u64,
    loss: Estimator,
    delay: Estimator,
    /// When the last probe that counted was sent, and the packets sent and received before it.
    last: (Instant, u64, u64),
    /// Packets sent and received where the sample of loss in progress began.
    start: (u64, u64),
    /// When the link was seen to be down, until a later probe has come through.
    down: Option<Instant>,
    silence: Silence,
}

impl LinkMeter {
    /// A link of which nothing is known.
    #[must_use]
    pub fn new(sampling: Sampling) -> Self {
        Self {
            least_packets: sampling.packets,
            loss: Estimator::new(sampling.estimator),
            delay: Estimator::new(sampling.estimator),
            last: (Instant::ZERO, 0, 0),
            start: (0, 0),
            down: None,
            silence: Silence::default(),
        }
    }

    /// A probe has come through. One that an earlier sample already includes says nothing new about loss.
    pub fn on_probe(&mut self, probe: &LinkProbe) {
        self.silence = Silence::default();
        self.delay.add(Sample::Value(probe.received_at.since(probe.queued_at).as_secs_f64()));
        if probe.queued_at <= self.last.0 {
            return;
        }
        self.last = (probe.queued_at, probe.sent, probe.received);
        if let Some(down) = self.down {
            // One from before the failure says nothing about what was lost in it.
            if probe.queued_at > down {
                self.start = (probe.sent, probe.received);
                self.down = None;
            }
            return;
        }
        let sent = probe.sent.saturating_sub(self.start.0);
        let received = probe.received.saturating_sub(self.start.1);
        if sent >= self.least_packets && received <= sent {
            self.loss.add(Sample::Share { hits: sent - received, of: sent });
            self.start = (probe.sent, probe.received);
        }
    }

    /// The counter at the sending end, probes included.
    pub fn on_sent(&mut self, now: Instant, packets: u64) {
        self.silence.on_sent(now, packets);
    }

    /// The counter at the receiving end of a link of this propagation delay, probes included.
    pub fn on_received(&mut self, now: Instant, packets: u64, propagation: Span) {
        self.silence.on_received(now, packets, propagation);
    }

    /// The link is down at `now`: what was sent until it is up again says nothing.
    pub fn on_down(&mut self, now: Instant) {
        self.down = Some(now);
        self.silence = Silence::default();
    }

    /// Loss, 0..=1: the estimate, or 1 while nothing comes through; `None` before the first sample.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        if self.silence.is_silent() { Some(1.0) } else { self.loss.estimate() }
    }

    /// Delay in seconds; `None` before the first sample.
    #[must_use]
    pub fn delay_s(&self) -> Option<f64> {
        self.delay.estimate()
    }

    /// Packets before the last probe that has come through, and how many of them were lost.
    #[must_use]
    pub fn counted(&self) -> (u64, u64) {
        (self.last.1, self.last.1.saturating_sub(self.last.2))
    }
}

/// Watches for a link that nothing comes through, not even probes.
#[derive(Default, Debug)]
struct Silence {
    /// Packets received when that was read last.
    received: Option<u64>,
    /// When nothing had arrived since for the first time, and packets sent by then.
    base: Option<(Instant, u64)>,
    /// Packets sent at the last two readings: those of the earlier one have had an interval to arrive.
    sent: [u64; 2],
    silent: bool,
}

impl Silence {
    fn on_sent(&mut self, now: Instant, packets: u64) {
        self.sent = [self.sent[1], packets];
        if self.received.is_some() && self.base.is_none() {
            self.base = Some((now, packets));
        }
    }

    fn on_received(&mut self, now: Instant, packets: u64, propagation: Span) {
        if self.received == Some(packets) {
            // An interval may be shorter than the link is long: until a packet can have crossed it, nothing is amiss.
            self.silent = self.base.is_some_and(|(since, base)| {
                let unanswered = self.sent[0].saturating_sub(base);
                unanswered >= SILENT_PACKETS && now > since.saturating_add(propagation)
            });
        } else {
            *self = Self { received: Some(packets), base: None, sent: self.sent, silent: false };
        }
    }

    const fn is_silent(&self) -> bool {
        self.silent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_routing::MovingAverageParameters;
    use anabranch_units::LinkId;

    fn meter(packets: u64) -> LinkMeter {
        LinkMeter::new(Sampling {
            estimator: EstimatorSetup::Sma(MovingAverageParameters { window: 3 }),
            packets,
        })
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    fn probe(sent_at: u64, delay: u64, sent: u64, received: u64) -> LinkProbe {
        let (queued_at, received_at) = (at(sent_at), at(sent_at + delay));
        LinkProbe { link: LinkId(0), round: 0, queued_at, received_at, sent, received }
    }

    /// 2 of 100 and 6 of 200 are lost, then none of 50: the mean of 2 %, 3 % and 0.
    #[test]
    fn samples_are_differences_between_probes() {
        let mut meter = meter(10);
        assert_eq!((meter.loss(), meter.delay_s()), (None, None));
        let mut seen = Vec::new();
        for (n, (sent, received)) in [(100, 98), (300, 292), (350, 342)].into_iter().enumerate() {
            meter.on_probe(&probe(1000 * (n as u64 + 1), 4 + n as u64, sent, received));
            seen.push((meter.loss().unwrap(), meter.delay_s().unwrap()));
        }
        for (estimate, expected) in seen.iter().zip([(0.02, 0.004), (0.025, 0.0045), (0.05 / 3.0, 0.005)]) {
            assert!(
                (estimate.0 - expected.0).abs() < 1e-12 && (estimate.1 - expected.1).abs() < 1e-12,
                "{seen:?}"
            );
        }
        assert_eq!(meter.counted(), (350, 8));
    }

    #[test]
    fn few_packets_make_no_sample_and_go_into_the_next() {
        let mut meter = meter(1000);
        for (at, sent, loss) in [(1000, 4, None), (2000, 600, None), (3000, 1200, Some(0.5))] {
            meter.on_probe(&probe(at, 5, sent, sent / 2));
            assert_eq!(meter.loss(), loss);
        }
        assert!(meter.delay_s().is_some(), "each probe is a sample of the delay");
    }

    /// By counters of real switches: three of 1,000 packets are counted too few, and come in the next sample. Of 6,000
    /// in all 4 are lost.
    #[test]
    fn what_is_counted_too_many_once_is_counted_too_few_then() {
        let mut meter = LinkMeter::new(Sampling {
            estimator: EstimatorSetup::Sma(MovingAverageParameters { window: 1 }),
            packets: 10,
        });
        let mut losses = Vec::new();
        let counts = [(1000, 997), (2000, 2000), (6000, 5996)];
        for (second, (sent, received)) in counts.into_iter().enumerate() {
            meter.on_probe(&probe(1000 * (second as u64 + 1), 5, sent, received));
            losses.push(meter.loss());
        }
        assert_eq!(losses, [0.003, 0.003, 0.0002].map(Some));
        assert_eq!(meter.counted(), (6000, 4));
    }

    /// Where the way of the answers changes, an older one may come behind a newer one.
    #[test]
    fn an_overtaken_probe_adds_nothing_to_loss() {
        let mut meter = meter(10);
        meter.on_probe(&probe(2000, 5, 200, 190));
        meter.on_probe(&probe(1000, 5, 100, 91));
        assert_eq!((meter.loss(), meter.counted()), (Some(0.05), (200, 10)));
    }

    /// Readings every interval: nothing comes through though 4 packets are sent in each. The first reading counts
    /// as an arrival; by the fifth, 12 packets have been sent since and have had an interval to arrive.
    #[test]
    fn a_link_that_nothing_comes_through_loses_all_until_something_does() {
        let mut meter = meter(1000);
        let losses: Vec<_> = (1..=6)
            .map(|round| {
                meter.on_sent(at(1000 * round), 4 * round);
                meter.on_received(at(1000 * round), 0, Span::from_ms(5));
                meter.loss()
            })
            .collect();
        assert_eq!(losses, [None, None, None, None, None, Some(1.0)]);
        meter.on_probe(&probe(1000, 5, 20, 0));
        assert_eq!(meter.loss(), None);
    }

    /// Of 100 packets before a failure 1 is lost. The failure takes 3 of 50 with it, which is no loss of the link's;
    /// a probe that was on its way up to the controller meanwhile does not count them, either. Behind it 2 of 100
    /// are lost: the mean of 1 % and 2 %.
    #[test]
    fn what_a_failure_takes_with_it_is_no_loss() {
        let mut meter = meter(10);
        meter.on_probe(&probe(1000, 5, 100, 99));
        meter.on_down(at(2000));
        for (queued_at, sent, received) in [(1900, 130, 129), (3000, 150, 146)] {
            meter.on_probe(&probe(queued_at, 5, sent, received));
            assert_eq!(meter.loss(), Some(0.01));
        }
        meter.on_probe(&probe(4000, 5, 250, 244));
        assert!((meter.loss().unwrap() - 0.015).abs() < 1e-12);
        assert_eq!(meter.counted(), (250, 6), "counters are what they are");
    }

    /// 100 packets in each interval of 100 ms over a satellite, 280 ms away: they cannot have come before 280 ms are
    /// over, counted from the first reading in which none had.
    #[test]
    fn a_link_longer_than_an_interval_is_not_silent_before_a_packet_can_have_crossed_it() {
        let mut meter = meter(1000);
        let losses: Vec<_> = (1..=6)
            .map(|round| {
                meter.on_sent(at(100 * round), 100 * round);
                meter.on_received(at(100 * round), 0, Span::from_ms(280));
                meter.loss()
            })
            .collect();
        assert_eq!(losses, [None, None, None, None, Some(1.0), Some(1.0)]);
    }

    #[test]
    fn an_idle_link_and_one_that_was_down_are_not_silent() {
        let mut idle = meter(1000);
        let mut down = meter(1000);
        for round in 1..=20 {
            let (now, propagation) = (at(1000 * round), Span::from_ms(5));
            idle.on_sent(now, 100);
            idle.on_received(now, 100, propagation);
            down.on_sent(now, 100 * round);
            down.on_received(now, 0, propagation);
            down.on_down(at(1000 * round));
        }
        assert_eq!((idle.loss(), down.loss()), (None, None));
    }
}
