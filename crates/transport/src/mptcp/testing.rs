//! Both ends over several paths that delay, lose, reorder, repeat and die. A path has a rate and a queue, so that
//! congestion control has something to control.

use super::NdiffportsParameters;
use super::{AddressChange, Interfaces, MptcpReceiver, MptcpSender, SubflowAddresses};
use crate::PathManagerConfig;
use crate::config::{MptcpConfig, TransportConfig};
use crate::preset;
use crate::segment::Segment;
use anabranch_units::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) fn secs(at: f64) -> Instant {
    Instant::ZERO + Span::from_us((at * 1e6) as u64)
}

pub(super) fn mptcp(name: &str, subflows: u16) -> MptcpConfig {
    let Some(TransportConfig::Mptcp(config)) = preset(name) else { panic!("{name} is a preset of MPTCP") };
    MptcpConfig {
        path_manager: PathManagerConfig::Ndiffports(NdiffportsParameters { subflows, by_interfaces: false }),
        ..config
    }
}

/// A path, the same in both directions.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    pub(super) delay: Span,
    pub(super) bytes_per_second: u64,
    pub(super) queue_bytes: u64,
    /// Of a thousand packets so many are lost, late by up to 30 ms, or doubled.
    pub(super) lost: u64,
    pub(super) late: u64,
    pub(super) doubled: u64,
    /// From when to when nothing gets through.
    pub(super) dead: Vec<(Instant, Instant)>,
}

impl Wire {
    pub(super) fn new(delay_ms: u64, mbps: u64) -> Self {
        Self {
            delay: Span::from_ms(delay_ms),
            bytes_per_second: mbps * 125_000,
            queue_bytes: 100_000,
            lost: 0,
            late: 0,
            doubled: 0,
            dead: Vec::new(),
        }
    }

    pub(super) fn dead(self, from: f64, to: f64) -> Self {
        Self { dead: vec![(secs(from), secs(to))], ..self }
    }
}

/// splitmix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn chance(&mut self, of_thousand: u64) -> bool {
        self.next() % 1000 < of_thousand
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Sender,
    Receiver,
}

/// A connection and its paths; subflow i takes path i modulo their number. Where the path manager looks at addresses,
/// subflows of one pair of addresses take one path.
pub(super) struct Network {
    pub(super) now: Instant,
    pub(super) sender: MptcpSender,
    pub(super) receiver: MptcpReceiver,
    pub(super) wires: Vec<Wire>,
    /// When each path, in each direction, is done with what it was given.
    free_at: Vec<[Instant; 2]>,
    in_flight: BinaryHeap<Reverse<(Instant, u64)>>,
    segments: Vec<Option<(Side, Segment)>>,
    random: Random,
    /// Interfaces of the receiver, where the path manager looks at addresses.
    remotes: Option<u8>,
    pub(super) log: Option<Vec<(Instant, Side, Segment)>>,
}

impl Network {
    pub(super) fn new(config: &MptcpConfig, wires: Vec<Wire>, seed: u64) -> Self {
        Self::between(config, wires, 1, seed)
    }

    /// The same with so many interfaces of the receiver: path i is that of interface i / remotes here and of i modulo
    /// remotes there.
    pub(super) fn between(config: &MptcpConfig, wires: Vec<Wire>, remotes: u8, seed: u64) -> Self {
        let interfaces = Interfaces::all_joined(wires.len() as u8 / remotes, remotes);
        Self {
            now: Instant::ZERO,
            sender: MptcpSender::new(config, seed as u32 ^ 0xFFFF_F000, seed, interfaces),
            receiver: MptcpReceiver::new(config, seed as u32),
            free_at: vec![[Instant::ZERO; 2]; wires.len()],
            wires,
            in_flight: BinaryHeap::new(),
            segments: Vec::new(),
            random: Random(seed),
            remotes: config.path_manager.follows_addresses().then_some(remotes),
            log: None,
        }
    }

    /// An address of either end changes now.
    pub(super) fn change(&mut self, side: Side, id: u8, change: AddressChange) {
        match side {
            Side::Sender => self.sender.on_address(self.now, id, change),
            Side::Receiver => self.receiver.on_address(self.now, id, change),
        }
        self.flush();
    }

    /// Takes what both ends have to send, after any input to them.
    pub(super) fn flush(&mut self) {
        loop {
            let (from, segment) = if let Some(segment) = self.sender.poll_transmit(self.now) {
                (Side::Sender, segment)
            } else if let Some(segment) = self.receiver.poll_transmit(self.now) {
                (Side::Receiver, segment)
            } else {
                return;
            };
            assert!(segment.options_len() <= 40 && segment.packet_len() <= 1500, "{segment:?}");
            if let Some(log) = &mut self.log {
                log.push((self.now, from, segment));
            }
            self.send(from, segment);
        }
    }

    fn send(&mut self, from: Side, segment: Segment) {
        let path = match self.remotes {
            None => usize::from(segment.subflow) % self.wires.len(),
            Some(remotes) => {
                let SubflowAddresses { local, remote } = self.sender.subflow_addresses(segment.subflow);
                self.receiver.place_subflow(segment.subflow, remote);
                usize::from(local * remotes + remote)
            }
        };
        let (wire, random) = (&self.wires[path], &mut self.random);
        let free_at = &mut self.free_at[path][from as usize];
        let size = u64::from(segment.packet_len());
        let picoseconds = |bytes: u64| {
            let ps = u128::from(bytes) * 1_000_000_000_000 / u128::from(wire.bytes_per_second);
            Span::from_ps(ps as u64)
        };
        let dead = wire.dead.iter().any(|&(start, end)| start <= self.now && self.now < end);
        let waits = free_at.saturating_since(self.now);
        if dead || random.chance(wire.lost) || waits > picoseconds(wire.queue_bytes) {
            return;
        }
        *free_at = (*free_at).max(self.now) + picoseconds(size);
        let mut arrival = *free_at + wire.delay;
        if random.chance(wire.late) {
            arrival = arrival + Span::from_us(random.next() % 30_000);
        }
        for _ in 0..1 + u64::from(random.chance(wire.doubled)) {
            self.in_flight.push(Reverse((arrival, self.segments.len() as u64)));
            self.segments.push(Some((from, segment)));
        }
    }

    /// Runs until nothing is left to happen or `end`; returns whether it came to rest.
    pub(super) fn run(&mut self, end: Instant) -> bool {
        self.flush();
        loop {
            let arrival = self.in_flight.peek().map(|Reverse((at, _))| *at);
            let timers = [self.sender.next_timeout(), self.receiver.next_timeout()];
            let Some(next) = timers.into_iter().flatten().chain(arrival).min() else { return true };
            if next > end {
                self.now = end;
                return false;
            }
            assert!(next >= self.now, "time runs forwards: {next:?} after {:?}", self.now);
            self.now = next;
            if arrival == Some(next) {
                let Some(Reverse((_, number))) = self.in_flight.pop() else { continue };
                let Some((from, segment)) = self.segments[number as usize].take() else { continue };
                match from {
                    Side::Sender => self.receiver.on_segment(next, &segment),
                    Side::Receiver => self.sender.on_segment(next, &segment),
                }
            } else {
                self.sender.on_timeout(next);
                self.receiver.on_timeout(next);
            }
            self.flush();
        }
    }

    /// Writes `bytes`, closes, and runs to the end of everything; each byte must have come once.
    pub(super) fn transfer(config: &MptcpConfig, wires: Vec<Wire>, bytes: u64, seed: u64) -> Self {
        let mut network = Self::new(config, wires, seed);
        network.sender.open();
        network.sender.write(bytes);
        network.sender.close();
        assert!(network.run(secs(7200.0)), "the connection came to rest");
        network.check_complete(bytes);
        network
    }

    pub(super) fn check_complete(&self, bytes: u64) {
        assert_eq!(self.receiver.stats().delivered, bytes);
        assert_eq!(self.sender.acknowledged(), bytes);
        assert!(self.sender.is_finished() && self.receiver.is_finished());
    }
}
