//! The loop between the TUN devices and the engine.

use crate::clock::{CpuShare, now_ns};
use crate::conversations::{Conversation, Conversations};
use crate::device::Device;
use crate::packet::{self, Headers};
use crate::ports::{self, Lane, Ports, Way};
use anabranch_engine::packet::Direction;
use anabranch_engine::transport::wire;
use anabranch_engine::transport::{Flags, Segment};
use anabranch_engine::{EngineError, ExternalPacket, Fate, Outcome, Simulation};
use anabranch_units::{FlowId, Histogram, Instant, LinkId, NodeId};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use rustix::time::{ClockId, Timespec};
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use thiserror::Error;

/// Frames that are read from one device before due packets are looked at again.
const FRAMES_AT_ONCE: usize = 16;
/// Longest sleep: nobody waits longer until it is seen that the run is to end.
const LONGEST_SLEEP_NS: u64 = 20_000_000;
/// Below this it is not worth while to sleep.
const SHORTEST_SLEEP_NS: u64 = 8_000;
/// Longest IP packet, in a frame.
const LONGEST_PACKET: usize = 65_535 + ports::HEADER;
const PS_PER_NS: u64 = 1_000;
/// TTL of packets that simulated hosts send.
const TTL: u8 = 64;

/// Why a live run cannot go on.
#[derive(Debug, Error)]
pub enum LiveError {
    /// The engine refuses something.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A system call fails.
    #[error("{what}: {error}")]
    System {
        /// What was to be done.
        what: &'static str,
        /// What the system says.
        error: Errno,
    },
}

fn system(what: &'static str) -> impl Fn(Errno) -> LiveError {
    move |error| LiveError::System { what, error }
}

/// How well the network kept to the clock.
#[derive(Clone, Debug)]
pub struct SelfCheck {
    /// How much later than due packets were handed to their hosts, in nanoseconds; the quantiles by nearest rank.
    pub lateness_ns: Option<Lateness>,
    /// Packets handed to hosts.
    pub delivered: u64,
    /// Packets read from hosts.
    pub read: u64,
    /// Packets that a host could not take when they were due.
    pub refused: u64,
    /// Packets of hosts that lead to no other host, or are not IPv4.
    pub astray: u64,
    /// CPU time of the network's thread over the time of the run.
    pub cpu_share: f64,
    /// The same in the busiest second.
    pub cpu_share_max: f64,
}

/// Quantiles of lateness, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Lateness {
    /// Half of all.
    pub p50: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p99_9: u64,
    /// The largest.
    pub max: u64,
}

/// What a live run leaves behind.
pub struct LiveOutcome {
    /// Tables and summary of the engine.
    pub outcome: Outcome,
    /// How well the clock was kept.
    pub check: SelfCheck,
    /// What was said beside the flows of the scenario.
    pub conversations: Vec<Conversation>,
}

/// What others may see and do while a relay runs.
#[derive(Default, Debug)]
pub struct Watched {
    stop: AtomicBool,
    now_ps: AtomicU64,
    packet_hops: AtomicU64,
}

impl Watched {
    /// The run is to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Time of the run, and packet hops.
    #[must_use]
    pub fn progress(&self) -> (Instant, u64) {
        let now = Instant::from_ps(self.now_ps.load(Ordering::Relaxed));
        (now, self.packet_hops.load(Ordering::Relaxed))
    }
}

/// A packet of a host on its way through the engine.
struct Carried {
    bytes: Vec<u8>,
    conversation: Option<usize>,
    /// The link that it crosses between two switches.
    link: Option<LinkId>,
}

/// The engine between the devices of hosts.
pub struct Relay {
    simulation: Simulation,
    taps: Vec<Device>,
    /// By node: place among the taps.
    tap_of: Vec<Option<usize>>,
    /// The devices that are ports of switches, or of hosts between switches; then all are.
    ports: Ports,
    conversations: Conversations,
    /// Whether packets are written to captures.
    captures: bool,
    /// Whether a simulated host looks at segments in full.
    decodes: bool,
    /// By token.
    carried: Vec<Carried>,
    free: Vec<u64>,
    identification: u16,
    lateness: Histogram<8>,
    delivered: u64,
    read: u64,
    refused: u64,
    astray: u64,
    watched: Arc<Watched>,
    begun_ns: u64,
    cpu: CpuShare,
}

fn known(port: bool) -> Result<(), LiveError> {
    if port { Ok(()) } else { Err(LiveError::System { what: "joining ports", error: Errno::NODEV }) }
}

impl Relay {
    /// Over a simulation at its beginning. `nodes` is how many there are; `captures` says whether packets are written
    /// to captures.
    #[must_use]
    pub fn new(simulation: Simulation, nodes: usize, captures: bool) -> Self {
        Self {
            simulation,
            taps: Vec::new(),
            tap_of: vec![None; nodes],
            ports: Ports::default(),
            conversations: Conversations::default(),
            captures,
            decodes: false,
            carried: Vec::new(),
            free: Vec::new(),
            identification: 0,
            lateness: Histogram::default(),
            delivered: 0,
            read: 0,
            refused: 0,
            astray: 0,
            watched: Arc::default(),
            begun_ns: 0,
            cpu: CpuShare::default(),
        }
    }

    /// What others may see and do while it runs.
    #[must_use]
    pub fn watched(&self) -> Arc<Watched> {
        Arc::clone(&self.watched)
    }

    /// The addresses and ports of the subflows of a flow.
    #[must_use]
    pub fn endpoints(&self, flow: FlowId) -> Vec<(wire::Endpoint, wire::Endpoint)> {
        self.simulation.endpoints(flow)
    }

    /// The hosts at these ends of a flow are real.
    ///
    /// # Errors
    /// If there is no such flow.
    pub fn make_real(&mut self, flow: FlowId, source: bool, destination: bool) -> Result<(), LiveError> {
        self.simulation.make_ends_external(flow, source, destination)?;
        for (subflow, ends) in (0..).zip(self.simulation.endpoints(flow)) {
            self.conversations.place(flow, subflow, ends);
        }
        self.decodes |= !(source && destination);
        Ok(())
    }

    /// A flow carries what belongs to no flow of the scenario.
    ///
    /// # Errors
    /// If there is no such flow.
    pub fn make_carrier(&mut self, flow: FlowId, ends: (NodeId, NodeId)) -> Result<(), LiveError> {
        self.simulation.make_ends_external(flow, true, true)?;
        self.conversations.carry(ends, flow);
        Ok(())
    }

    /// The host at a node has a device, which is an open file of this process, and addresses. `trains` says that the
    /// device was opened with a header before each packet (`IFF_VNET_HDR`), and carries trains of segments.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn attach(
        &mut self,
        node: NodeId,
        file: i32,
        addresses: &[[u8; 4]],
        trains: bool,
    ) -> Result<(), LiveError> {
        self.tap_of[node.index()] = Some(self.taps.len());
        self.open(file, trains)?;
        for &address in addresses {
            self.conversations.own(address, node);
        }
        Ok(())
    }

    /// A device, which is an open file of this process, is a port: of a switch, which speaks Ethernet, or of a host
    /// among switches, which speaks IP, and has trains as with [`Relay::attach`]. Its number.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn attach_port(&mut self, file: i32, ethernet: bool, trains: bool) -> Result<usize, LiveError> {
        self.open(file, trains)?;
        Ok(self.ports.add(ethernet))
    }

    /// What comes in at a port goes over a link to another one, as packets of a flow whose ends are real.
    ///
    /// # Errors
    /// If there is no such flow or port.
    pub fn lay(
        &mut self,
        ports: (usize, usize),
        flow: FlowId,
        direction: Direction,
        link: LinkId,
    ) -> Result<(), LiveError> {
        self.simulation.make_ends_external(flow, true, true)?;
        known(self.ports.lay(ports, (flow, direction, link)))
    }

    /// What comes in at one of two ports goes out at the other, at once.
    ///
    /// # Errors
    /// If there is no such port.
    pub fn join(&mut self, a: usize, b: usize) -> Result<(), LiveError> {
        known(self.ports.join(a, b))
    }

    fn open(&mut self, file: i32, trains: bool) -> Result<(), LiveError> {
        let process = pidfd_open(getpid(), PidfdFlags::empty()).map_err(system("pidfd_open"))?;
        let file = pidfd_getfd(&process, file, PidfdGetfdFlags::empty()).map_err(system("pidfd_getfd"))?;
        self.taps.push(Device::new(file, trains));
        Ok(())
    }

    /// Runs until the end of the simulation, or until it is told to stop. Time zero is at `begin_ns` of the monotonic
    /// clock. It takes the calling thread, and lets its timers be exact.
    ///
    /// # Errors
    /// If a system call fails, or the engine refuses a packet.
    pub fn run(&mut self, begin_ns: u64, go_on: impl Fn() -> bool) -> Result<(), LiveError> {
        // Of no effect on a thread with a real-time policy, which has none anyway.
        rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN))
            .map_err(system("PR_SET_TIMERSLACK"))?;
        self.begun_ns = begin_ns;
        while now_ns(ClockId::Monotonic) < begin_ns {
            self.sleep(begin_ns - now_ns(ClockId::Monotonic))?;
        }
        self.cpu = CpuShare::begin();
        let mut buffer = vec![0; LONGEST_PACKET];
        let mut ready: Vec<bool> = vec![true; self.taps.len()];
        loop {
            let now = self.step()?;
            self.cpu.note();
            if now >= self.simulation.end() || self.watched.stop.load(Ordering::Relaxed) || !go_on() {
                break;
            }
            let mut any = false;
            for (tap, ready) in ready.iter_mut().enumerate().filter(|(_, ready)| **ready) {
                *ready = self.read(tap, &mut buffer)?;
                any |= *ready;
            }
            if !any {
                self.wait(&mut ready)?;
            }
        }
        self.cpu.end();
        Ok(())
    }

    /// The time of the run.
    fn clock(&self) -> Instant {
        Instant::from_ps((now_ns(ClockId::Monotonic) - self.begun_ns) * PS_PER_NS)
    }

    /// Brings the engine to the present, and hands out what has arrived.
    fn step(&mut self) -> Result<Instant, LiveError> {
        let now = self.clock().min(self.simulation.end());
        let mut hops = None;
        let reached = self.simulation.advance(now, |progress| {
            hops = Some(progress.packet_hops);
            ControlFlow::Continue(())
        })?;
        debug_assert!(reached.is_continue());
        self.watched.now_ps.store(now.as_ps(), Ordering::Relaxed);
        if let Some(hops) = hops {
            self.watched.packet_hops.store(hops, Ordering::Relaxed);
        }
        self.hand_out()?;
        Ok(now)
    }

    fn hand_out(&mut self) -> Result<(), LiveError> {
        let departures: Vec<_> = self.simulation.departures().collect();
        for departure in departures {
            match (departure.fate, departure.token) {
                (Fate::Arrived { at, packet, .. }, Some(token)) if self.ports.any() => {
                    self.arrive(at, &packet, token)?;
                }
                (Fate::Arrived { at, node, packet }, token) => self.deliver(at, node, &packet, token)?,
                (Fate::Dropped(_) | Fate::Delivered, Some(token)) => self.free.push(token),
                (Fate::Dropped(_) | Fate::Delivered, None) => {}
            }
        }
        Ok(())
    }

    /// A packet is at a host.
    fn deliver(
        &mut self,
        at: Instant,
        node: NodeId,
        packet: &ExternalPacket,
        token: Option<u64>,
    ) -> Result<(), LiveError> {
        self.note_lateness(at);
        let Some(tap) = self.tap_of[node.index()] else { return Ok(()) };
        let result = match token {
            Some(token) => {
                let carried = &mut self.carried[token as usize];
                if packet.segment.flags.has(Flags::CE) {
                    wire::mark(&mut carried.bytes);
                }
                if let Some(index) = carried.conversation {
                    self.conversations.arrived(index, packet.direction, packet.bytes);
                }
                self.free.push(token);
                self.taps[tap].write(&self.carried[token as usize].bytes)
            }
            None => {
                let bytes = self.encoded(packet);
                self.taps[tap].write(&bytes)
            }
        };
        self.note_delivery(&result)
    }

    /// A frame is at the end of its link.
    fn arrive(&mut self, at: Instant, packet: &ExternalPacket, token: u64) -> Result<(), LiveError> {
        self.note_lateness(at);
        let mut frame = std::mem::take(&mut self.carried[token as usize].bytes);
        if packet.segment.flags.has(Flags::CE) && ports::packet(&frame).is_some() {
            wire::mark(&mut frame[ports::HEADER..]);
        }
        let link = self.carried[token as usize].link;
        let port = link.and_then(|link| self.ports.end(link)).expect("it came over a link with two ports");
        let result = self.put_out(port, &frame);
        // The room is for the next frame.
        self.carried[token as usize].bytes = frame;
        self.free.push(token);
        result
    }

    fn put_out(&mut self, port: usize, frame: &[u8]) -> Result<(), LiveError> {
        match self.ports.spoken(port, frame) {
            Some(bytes) => self.note_delivery(&self.taps[port].write(bytes)),
            None => Ok(()),
        }
    }

    fn note_lateness(&mut self, at: Instant) {
        let late = self.clock().saturating_since(at);
        self.lateness.record(late.as_ps() / PS_PER_NS);
    }

    fn note_delivery(&mut self, result: &Result<usize, Errno>) -> Result<(), LiveError> {
        match *result {
            Ok(_) => self.delivered += 1,
            // The device is down, or its host has no memory left: as a host that loses a packet.
            Err(Errno::IO | Errno::NOBUFS | Errno::NOMEM | Errno::AGAIN) => self.refused += 1,
            Err(error) => return Err(LiveError::System { what: "writing to a TUN device", error }),
        }
        Ok(())
    }

    /// The bytes of a segment that a simulated host sends to a real one.
    fn encoded(&mut self, packet: &ExternalPacket) -> Vec<u8> {
        let ends = self.simulation.endpoints(packet.flow);
        let (source, destination) = ends[usize::from(packet.segment.subflow)];
        let (source, destination) = match packet.direction {
            Direction::Forward => (source, destination),
            Direction::Backward => (destination, source),
        };
        self.identification = self.identification.wrapping_add(1);
        let mut bytes = Vec::with_capacity(packet.bytes as usize);
        wire::encode(&packet.segment, source, destination, self.identification, TTL, &mut bytes)
            .expect("the transport makes segments that have a byte form");
        bytes
    }

    /// Takes frames of a device; whether there may be more.
    fn read(&mut self, tap: usize, buffer: &mut [u8]) -> Result<bool, LiveError> {
        for _ in 0..FRAMES_AT_ONCE {
            match self.taps[tap].read(buffer) {
                Ok(length) if self.ports.any() => self.take_frame(tap, &buffer[..length])?,
                Ok(length) => self.take(&buffer[..length])?,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
                Err(error) => return Err(LiveError::System { what: "reading from a TUN device", error }),
            }
        }
        Ok(true)
    }

    /// A host sends a packet.
    fn take(&mut self, bytes: &[u8]) -> Result<(), LiveError> {
        self.read += 1;
        let now = self.step()?;
        let Some(Headers { tuple, mut segment, bytes: length }) = packet::headers(bytes) else {
            self.astray += 1;
            return Ok(());
        };
        let Some(lane) = self.conversations.lane(tuple, length, now) else {
            self.astray += 1;
            return Ok(());
        };
        if self.decodes
            && let Ok(decoded) = wire::decode(bytes)
        {
            segment = decoded.segment;
        }
        let segment = Segment { subflow: lane.subflow, ..segment };
        let packet = ExternalPacket { flow: lane.flow, direction: lane.direction, segment, bytes: length };
        let token = self.keep(bytes, lane.conversation, None);
        if self.captures {
            self.simulation.inject_bytes(packet, token, bytes)?;
        } else {
            self.simulation.inject(packet, token)?;
        }
        Ok(())
    }

    /// A switch sends a frame, or a host among switches a packet.
    fn take_frame(&mut self, port: usize, bytes: &[u8]) -> Result<(), LiveError> {
        self.read += 1;
        self.step()?;
        let Some((way, frame)) = self.ports.way(port, bytes) else {
            self.astray += 1;
            return Ok(());
        };
        match way {
            Way::Port(other) => self.put_out(other, &frame),
            Way::Link(lane) => self.take_over(lane, &frame),
        }
    }

    /// A frame enters a link.
    fn take_over(&mut self, (flow, direction, link): Lane, frame: &[u8]) -> Result<(), LiveError> {
        let (segment, length) = match ports::packet(frame).and_then(packet::headers) {
            Some(headers) => (headers.segment, headers.bytes),
            None => {
                let payload = (frame.len() - ports::HEADER) as u16;
                (Segment { payload, ..Segment::default() }, u32::from(payload))
            }
        };
        // Subflows are those of flows, and this one stands for a link.
        let packet =
            ExternalPacket { flow, direction, segment: Segment { subflow: 0, ..segment }, bytes: length };
        let token = self.keep(frame, None, Some(link));
        self.simulation.inject_over(link, packet, token, None)?;
        Ok(())
    }

    /// Keeps the bytes of a packet until it comes out; its token.
    fn keep(&mut self, bytes: &[u8], conversation: Option<usize>, link: Option<LinkId>) -> u64 {
        let Some(token) = self.free.pop() else {
            self.carried.push(Carried { bytes: bytes.to_vec(), conversation, link });
            return self.carried.len() as u64 - 1;
        };
        let carried = &mut self.carried[token as usize];
        carried.bytes.clear();
        carried.bytes.extend_from_slice(bytes);
        (carried.conversation, carried.link) = (conversation, link);
        token
    }

    /// Waits for a frame or the next event, and notes which devices have frames.
    fn wait(&mut self, ready: &mut [bool]) -> Result<(), LiveError> {
        self.hand_out()?;
        let now = self.clock();
        let event = self.simulation.next_event().unwrap_or(Instant::MAX).min(self.simulation.end());
        let until = event.saturating_since(now).as_ps().div_ceil(PS_PER_NS).min(LONGEST_SLEEP_NS);
        let timeout = if until < SHORTEST_SLEEP_NS { 0 } else { until };
        let timeout = Timespec { tv_sec: 0, tv_nsec: timeout as _ };
        let mut files: Vec<PollFd<'_>> =
            self.taps.iter().map(|tap| PollFd::new(&tap.file, PollFlags::IN)).collect();
        match poll(&mut files, Some(&timeout)) {
            Ok(_) => {
                for (ready, file) in ready.iter_mut().zip(&files) {
                    *ready = !file.revents().is_empty();
                }
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            Err(error) => Err(LiveError::System { what: "ppoll", error }),
        }
    }

    fn sleep(&self, ns: u64) -> Result<(), LiveError> {
        let timeout = Timespec { tv_sec: 0, tv_nsec: ns.min(LONGEST_SLEEP_NS) as _ };
        match poll(&mut [], Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(LiveError::System { what: "ppoll", error }),
        }
    }

    /// Ends the run where it is.
    ///
    /// # Errors
    /// If the books do not balance, which is a bug.
    pub fn finish(self) -> Result<LiveOutcome, LiveError> {
        let lateness = self.lateness.quantiles([500, 990, 999, 1000]);
        let check = SelfCheck {
            lateness_ns: lateness.map(|[p50, p99, p99_9, max]| Lateness { p50, p99, p99_9, max }),
            delivered: self.delivered,
            read: self.read,
            refused: self.refused,
            astray: self.astray,
            cpu_share: self.cpu.mean,
            cpu_share_max: self.cpu.busiest,
        };
        let conversations = self.conversations.finish();
        Ok(LiveOutcome { outcome: self.simulation.finish()?, check, conversations })
    }
}
