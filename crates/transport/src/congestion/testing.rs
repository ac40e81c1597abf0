//! Two networks for tests of controllers, without a sender: a path that acknowledges whole windows round
//! by round, and an ideal link with a queue.

use super::{Ack, CongestionControl, LossEpisode, RateSample, Recovery};
use anabranch_units::{Bytes, Instant, Rate, Span};
use std::collections::VecDeque;

/// Payload bytes of a segment.
pub const MSS: u32 = 1000;
pub const SEGMENT: u64 = MSS as u64;

/// An ACK for one segment in a connection that is limited by its window and has not lost anything.
pub fn plain_ack(now: Instant) -> Ack {
    Ack {
        now,
        acked: SEGMENT,
        delivered: SEGMENT,
        growth: SEGMENT,
        lost: 0,
        in_flight_before: 10 * SEGMENT,
        in_flight: 9 * SEGMENT,
        rtt: None,
        srtt: Span::ZERO,
        min_rtt: Span::MAX,
        snd_una: SEGMENT,
        snd_nxt: 10 * SEGMENT,
        cwnd_limited: true,
        window_full: true,
        recovery: Recovery::Open,
        rate: None,
    }
}

/// The start of an episode with `flight_size` bytes in flight.
pub fn episode(now: Instant, flight_size: u64) -> LossEpisode {
    LossEpisode {
        now,
        flight_size,
        in_flight: flight_size.saturating_sub(SEGMENT),
        snd_nxt: 0,
        total_lost: 0,
    }
}

/// A path on which every round sends a window and gets it acknowledged, spread evenly over one RTT.
pub struct Rounds<C> {
    pub controller: C,
    pub now: Instant,
    pub rtt: Span,
    /// Segments that one ACK covers.
    pub segments_per_ack: u64,
    /// Whether the sender has more to send than the window allows.
    pub cwnd_limited: bool,
    pub recovery: Recovery,
    acknowledged: u64,
}

/// What a periodic loss comes to.
pub struct Sawtooth {
    /// Losses per segment.
    pub loss: f64,
    /// Mean window in segments.
    pub window: f64,
}

impl<C: CongestionControl> Rounds<C> {
    pub fn new(controller: C, rtt: Span) -> Self {
        Self {
            controller,
            now: Instant::ZERO,
            rtt,
            segments_per_ack: 1,
            cwnd_limited: true,
            recovery: Recovery::Open,
            acknowledged: 0,
        }
    }

    /// The window in whole segments.
    pub fn packets(&self) -> u64 {
        self.controller.cwnd() / SEGMENT
    }

    /// One round; returns the window after it, in segments.
    pub fn round(&mut self) -> u64 {
        let flight = self.packets();
        let start = self.now;
        let mut left = flight;
        while left > 0 {
            let covered = left.min(self.segments_per_ack);
            let before = left * SEGMENT;
            // The sender has filled its window after the ACK before.
            let snd_nxt = self.acknowledged + self.controller.cwnd();
            left -= covered;
            self.acknowledged += covered * SEGMENT;
            self.now = start + Span::from_ps(self.rtt.as_ps() / flight * (flight - left));
            self.controller.on_ack(&Ack {
                acked: covered * SEGMENT,
                delivered: covered * SEGMENT,
                growth: covered * SEGMENT,
                in_flight_before: before,
                in_flight: left * SEGMENT,
                rtt: Some(self.rtt),
                srtt: self.rtt,
                min_rtt: self.rtt,
                snd_una: self.acknowledged,
                snd_nxt,
                cwnd_limited: self.cwnd_limited,
                recovery: self.recovery,
                ..plain_ack(self.now)
            });
        }
        self.now = start + self.rtt;
        self.packets()
    }

    /// The windows after each of `count` rounds, in segments.
    pub fn rounds(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.round()).collect()
    }

    /// A loss, repaired after one RTT of fast recovery.
    pub fn lose(&mut self) {
        let flight = self.controller.cwnd();
        self.controller.on_loss(&episode(self.now, flight));
        self.now = self.now + self.rtt;
        self.controller.on_recovered(self.now, Recovery::Fast);
    }

    /// Loses one segment after every `period` segments, `losses` times, and averages all but the first half.
    pub fn lose_periodically(&mut self, period: u64, losses: u64) -> Sawtooth {
        let (mut segments, mut rounds) = (0, 0);
        for loss in 0..losses {
            let mut since_loss = 0;
            let counts = loss >= losses / 2;
            while since_loss < period {
                let flight = self.packets();
                self.round();
                since_loss += flight;
                if counts {
                    segments += flight;
                    rounds += 1;
                }
            }
            self.lose();
        }
        let counted = losses - losses / 2;
        Sawtooth { loss: counted as f64 / segments as f64, window: segments as f64 / f64::from(rounds) }
    }

    /// A retransmission timeout with the whole window in flight.
    pub fn time_out(&mut self) {
        let flight = self.controller.cwnd();
        self.controller.on_timeout(&episode(self.now, flight), true);
    }
}

struct InFlight {
    sent: Instant,
    acknowledged_at: Instant,
    first_sent: Instant,
    delivered_time: Instant,
    delivered: u64,
    tx_in_flight: u64,
}

/// One flow with data without end on one link with an endless queue; every segment is acknowledged, and
/// the delivery rate sampled as draft-cheng-iccrg-delivery-rate-estimation says.
pub struct Bottleneck<C> {
    pub controller: C,
    pub now: Instant,
    pub rate: Rate,
    /// Round-trip time without queue and serialisation.
    pub propagation: Span,
    /// The latest round-trip time.
    pub rtt: Span,
    pub delivered: u64,
    free_at: Instant,
    pace_at: Instant,
    flight: VecDeque<InFlight>,
    sent: u64,
    first_sent: Instant,
    delivered_time: Instant,
    min_rtt: Span,
    cwnd_limited: bool,
}

impl<C: CongestionControl> Bottleneck<C> {
    pub fn new(mut controller: C, rate: Rate, propagation: Span) -> Self {
        controller.on_established(Instant::ZERO, Some(propagation));
        Self {
            controller,
            now: Instant::ZERO,
            rate,
            propagation,
            rtt: propagation,
            delivered: 0,
            free_at: Instant::ZERO,
            pace_at: Instant::ZERO,
            flight: VecDeque::new(),
            sent: 0,
            first_sent: Instant::ZERO,
            delivered_time: Instant::ZERO,
            min_rtt: Span::MAX,
            cwnd_limited: false,
        }
    }

    pub fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * SEGMENT
    }

    /// Runs until `end`, calling `watch` after every ACK.
    pub fn run(&mut self, end: Instant, mut watch: impl FnMut(&Self)) {
        loop {
            let open = self.in_flight() + SEGMENT <= self.controller.cwnd();
            self.cwnd_limited |= !open;
            let send_at = if open { self.now.max(self.pace_at) } else { Instant::MAX };
            let ack_at = self.flight.front().map_or(Instant::MAX, |p| p.acknowledged_at);
            if send_at.min(ack_at) > end {
                self.now = end;
                return;
            }
            if ack_at <= send_at {
                self.acknowledge(ack_at);
                watch(self);
            } else {
                self.send(send_at);
            }
        }
    }

    fn send(&mut self, now: Instant) {
        self.now = now;
        if self.flight.is_empty() {
            self.first_sent = now;
            self.delivered_time = now;
        }
        self.free_at = self.free_at.max(now) + self.rate.time_for(Bytes(SEGMENT));
        self.flight.push_back(InFlight {
            sent: now,
            acknowledged_at: self.free_at + self.propagation,
            first_sent: self.first_sent,
            delivered_time: self.delivered_time,
            delivered: self.delivered,
            tx_in_flight: self.in_flight() + SEGMENT,
        });
        self.sent += SEGMENT;
        if let Some(rate) = self.controller.pacing_rate() {
            self.pace_at = now + rate.time_for(Bytes(SEGMENT));
        }
    }

    fn acknowledge(&mut self, now: Instant) {
        self.now = now;
        let in_flight_before = self.in_flight();
        let segment = self.flight.pop_front().expect("an ACK is due");
        self.rtt = now.since(segment.sent);
        self.min_rtt = self.min_rtt.min(self.rtt);
        self.delivered += SEGMENT;
        self.delivered_time = now;
        self.first_sent = segment.sent;
        let sent_over = segment.sent.since(segment.first_sent);
        let interval = now.since(segment.delivered_time).max(sent_over);
        self.controller.on_ack(&Ack {
            in_flight_before,
            in_flight: self.in_flight(),
            rtt: Some(self.rtt),
            srtt: self.rtt,
            min_rtt: self.min_rtt,
            snd_una: self.delivered,
            snd_nxt: self.sent,
            cwnd_limited: self.cwnd_limited,
            rate: Some(RateSample {
                delivered: self.delivered - segment.delivered,
                interval,
                prior_delivered: segment.delivered,
                total_delivered: self.delivered,
                total_lost: 0,
                app_limited: false,
                tx_in_flight: segment.tx_in_flight,
                lost: 0,
            }),
            ..plain_ack(now)
        });
        self.cwnd_limited = false;
    }
}
