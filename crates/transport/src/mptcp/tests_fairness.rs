//! Several connections over one bottleneck: what coupling is for.

use super::NdiffportsParameters;
use super::testing::secs;
use crate::config::{TcpConfig, TransportConfig};
use crate::congestion::NewRenoParameters;
use crate::{CongestionConfig, PathManagerConfig};
use crate::{ReceiverAgent, Segment, SenderAgent, preset};
use anabranch_units::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BYTES_PER_SECOND: u64 = 20 * 125_000;
const DELAY: Span = Span::from_ms(20);
/// A bandwidth-delay product.
const QUEUE_BYTES: u64 = 100_000;

/// Connections whose data share one link with a drop-tail queue; ACKs have a way of their own without a limit.
struct Bottleneck {
    now: Instant,
    connections: Vec<(SenderAgent, ReceiverAgent)>,
    free_at: Instant,
    in_flight: BinaryHeap<Reverse<(Instant, usize)>>,
    segments: Vec<(usize, bool, Segment)>,
}

impl Bottleneck {
    fn new(configs: &[TransportConfig]) -> Self {
        let ends = |(index, config): (usize, &TransportConfig)| {
            let seed = 77 + index as u64;
            let mut sender = SenderAgent::new(config, seed as u32, seed);
            sender.open();
            sender.write_without_end();
            (sender, ReceiverAgent::new(config, seed as u32))
        };
        Self {
            now: Instant::ZERO,
            connections: configs.iter().enumerate().map(ends).collect(),
            free_at: Instant::ZERO,
            in_flight: BinaryHeap::new(),
            segments: Vec::new(),
        }
    }

    fn flush(&mut self, index: usize) {
        let now = self.now;
        loop {
            let (sender, receiver) = &mut self.connections[index];
            let outwards = sender.poll_transmit(now).map(|segment| (true, segment));
            let Some((out, segment)) =
                outwards.or_else(|| receiver.poll_transmit(now).map(|segment| (false, segment)))
            else {
                return;
            };
            let mut arrival = now + DELAY;
            if out {
                let time = |bytes: u64| Span::from_ps(bytes * 1_000_000_000_000 / BYTES_PER_SECOND);
                if self.free_at.saturating_since(now) > time(QUEUE_BYTES) {
                    continue;
                }
                self.free_at = self.free_at.max(now) + time(u64::from(segment.packet_len()));
                arrival = self.free_at + DELAY;
            }
            self.in_flight.push(Reverse((arrival, self.segments.len())));
            self.segments.push((index, out, segment));
        }
    }

    fn run(&mut self, end: Instant) {
        (0..self.connections.len()).for_each(|index| self.flush(index));
        loop {
            let timers = self.connections.iter().enumerate().flat_map(|(index, (sender, receiver))| {
                [sender.next_timeout(), receiver.next_timeout()].map(|at| at.map(|at| (at, index)))
            });
            let timer = timers.flatten().min();
            let arrival = self.in_flight.peek().map(|Reverse((at, _))| *at);
            let Some(next) = timer.map(|(at, _)| at).into_iter().chain(arrival).min() else { return };
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            let index = if arrival == Some(next) {
                let Some(Reverse((_, number))) = self.in_flight.pop() else { return };
                let (index, out, segment) = self.segments[number];
                let (sender, receiver) = &mut self.connections[index];
                if out {
                    receiver.on_segment(next, &segment)
                } else {
                    sender.on_segment(next, &segment)
                }
                index
            } else {
                let Some((_, index)) = timer else { return };
                let (sender, receiver) = &mut self.connections[index];
                sender.on_timeout(next);
                receiver.on_timeout(next);
                index
            };
            self.flush(index);
        }
    }

    fn delivered(&self) -> Vec<u64> {
        self.connections.iter().map(|(_, receiver)| receiver.stats().delivered).collect()
    }
}

/// How much more than each of three single TCPs a connection of eight subflows takes over 300 s, after 60 s.
fn share(congestion_control: CongestionConfig) -> f64 {
    let Some(TransportConfig::Mptcp(mut mptcp)) = preset("mptcp") else { panic!("a preset of MPTCP") };
    mptcp.path_manager =
        PathManagerConfig::Ndiffports(NdiffportsParameters { subflows: 8, by_interfaces: false });
    mptcp.tcp.congestion_control = congestion_control;
    // Single TCPs that differ from a subflow in nothing but the coupling.
    let congestion_control = CongestionConfig::named("linux-reno").expect("registered");
    let tcp = TransportConfig::Tcp(TcpConfig { congestion_control, ..mptcp.tcp.clone() });
    let mut bottleneck =
        Bottleneck::new(&[TransportConfig::Mptcp(mptcp), tcp.clone(), tcp.clone(), tcp.clone()]);
    bottleneck.run(secs(60.0));
    let before = bottleneck.delivered();
    bottleneck.run(secs(360.0));
    let taken: Vec<u64> = bottleneck.delivered().iter().zip(&before).map(|(after, b)| after - b).collect();
    let total: u64 = taken.iter().sum();
    assert!(total as f64 > 0.85 * 300.0 * BYTES_PER_SECOND as f64, "the link is in use: {taken:?}");
    taken[0] as f64 / (taken[1..].iter().sum::<u64>() as f64 / 3.0)
}

/// RFC 6356 section 2, goal 2: no more than a single TCP would take of a shared resource. Eight uncoupled
/// subflows take about what eight TCPs do.
#[test]
fn coupled_subflows_take_one_share_of_a_bottleneck() {
    let uncoupled = share(CongestionConfig::NewReno(NewRenoParameters::default()));
    assert!(uncoupled > 4.0, "{uncoupled}");
    for coupled in [
        CongestionConfig::Lia(Default::default()),
        CongestionConfig::Olia(Default::default()),
        CongestionConfig::Balia(Default::default()),
    ] {
        let taken = share(coupled.clone());
        println!("{coupled:?}: {taken}");
        assert!(taken < 1.2, "{coupled:?} takes {taken} shares");
    }
}
