//! The loop between the TUN devices and the engine.

use crate::check::{Counts, SelfCheck};
use crate::clock::{CpuShare, now_ns};
use crate::conversations::{Conversation, Conversations, anew};
use crate::device::{Device, Framing};
use crate::packet::{self, Headers};
use crate::ports::{self, Lane, Ports, Way};
use crate::train::{Cut, Taken, Train};
use crate::waiting::Waiting;
use anabranch_engine::packet::Direction;
use anabranch_engine::transport::wire;
use anabranch_engine::transport::{Flags, Segment};
use anabranch_engine::{EngineError, ExternalPacket, Fate, Outcome, Simulation};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use rustix::time::ClockId;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use thiserror::Error;

/// Frames that are read from one device before due packets are looked at again.
const FRAMES_AT_ONCE: usize = 16;
/// Longest sleep: nobody waits longer until it is seen that the run is to end.
const LONGEST_SLEEP_NS: u64 = 20_000_000;
/// From one time that hosts take segments together to the next, as the interrupts of a network card are moderated.
const TOGETHER_EVERY: Span = Span::from_us(50);
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
    /// Whether hosts hand over segments together, and take them together.
    joins: bool,
    /// When they take them together again.
    together_at: Instant,
    /// A segment that was cut off.
    cut: Vec<u8>,
    counts: Counts,
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
            joins: false,
            together_at: Instant::ZERO,
            cut: Vec::new(),
            counts: Counts::default(),
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

    /// Those of the subflows that begin anew where one of these was closed.
    #[must_use]
    pub fn endpoints_anew(&self, flow: FlowId) -> Vec<(wire::Endpoint, wire::Endpoint)> {
        self.endpoints(flow).into_iter().map(anew).collect()
    }

    /// As [`Simulation::address_at`].
    #[must_use]
    pub fn address_at(&self, flow: FlowId, link: LinkId) -> Option<[u8; 4]> {
        self.simulation.address_at(flow, link)
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

    /// The host at a node has a device, which is an open file of this process, and addresses. The device was opened for
    /// this framing, which all hosts of a run have.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn attach(
        &mut self,
        node: NodeId,
        file: i32,
        addresses: &[[u8; 4]],
        framing: Framing,
    ) -> Result<(), LiveError> {
        self.tap_of[node.index()] = Some(self.taps.len());
        self.open(file, framing)?;
        for &address in addresses {
            self.conversations.own(address, node);
        }
        Ok(())
    }

    /// A device, which is an open file of this process, is a port: of a switch, which speaks Ethernet, or of a host
    /// among switches, which speaks IP, and is framed as with [`Relay::attach`]. Its number.
    ///
    /// # Errors
    /// If there is no such file.
    pub fn attach_port(&mut self, file: i32, ethernet: bool, framing: Framing) -> Result<usize, LiveError> {
        self.open(file, framing)?;
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

    fn open(&mut self, file: i32, framing: Framing) -> Result<(), LiveError> {
        let process = pidfd_open(getpid(), PidfdFlags::empty()).map_err(system("pidfd_open"))?;
        let file = pidfd_getfd(&process, file, PidfdGetfdFlags::empty()).map_err(system("pidfd_getfd"))?;
        self.taps.push(Device::new(file, framing));
        self.joins |= framing == Framing::Segments;
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
        let mut waiting = Waiting::new().map_err(system("epoll_create"))?;
        while now_ns(ClockId::Monotonic) < begin_ns {
            waiting
                .wait(begin_ns.min(now_ns(ClockId::Monotonic) + LONGEST_SLEEP_NS))
                .map_err(system("epoll"))?;
        }
        for (number, tap) in self.taps.iter().enumerate() {
            waiting.add(&tap.file, number).map_err(system("epoll_ctl"))?;
        }
        self.cpu = CpuShare::begin();
        let mut buffer = vec![0; LONGEST_PACKET];
        loop {
            let now = self.step()?;
            self.cpu.note();
            if now >= self.simulation.end() || self.watched.stop.load(Ordering::Relaxed) || !go_on() {
                break;
            }
            let ready = waiting.wait(self.next_ns()).map_err(system("epoll"))?;
            for place in 0..ready {
                self.read(waiting.ready(place), &mut buffer)?;
            }
        }
        self.cpu.end();
        self.put_waiting().map(|_| ())
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
                (Fate::Dropped(_) | Fate::Delivered, _) => {}
            }
            // The room of what may still come out as a copy is taken.
            self.free.extend(departure.token.filter(|_| departure.is_last));
        }
        let now = self.clock();
        if self.joins && now >= self.together_at && self.put_waiting()? {
            self.together_at = now.saturating_add(TOGETHER_EVERY);
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
        let Some(tap) = self.tap_of[node.index()] else { return Ok(()) };
        let Some(token) = token else {
            let bytes = self.encoded(packet);
            return self.put(tap, &bytes, at);
        };
        let carried = &mut self.carried[token as usize];
        let bytes = std::mem::take(&mut carried.bytes);
        if let Some(index) = carried.conversation {
            self.conversations.arrived(index, packet.direction, packet.bytes);
        }
        let result = if packet.segment.flags.has(Flags::CE) {
            // Of its own: a copy that is under way may come without the mark.
            let mut marked = bytes.clone();
            wire::mark(&mut marked);
            self.put(tap, &marked, at)
        } else {
            self.put(tap, &bytes, at)
        };
        // The room is for a copy, or for the next packet.
        self.carried[token as usize].bytes = bytes;
        result
    }

    /// Hands over a packet that was due, at once or with others of its flow.
    fn put(&mut self, tap: usize, bytes: &[u8], due: Instant) -> Result<(), LiveError> {
        while self.taps[tap].joins() {
            match self.taps[tap].joiner.take(bytes, due) {
                Taken::Waits => return Ok(()),
                Taken::Ends(train) => return self.put_train(tap, train),
                Taken::After(train) => self.put_train(tap, train)?,
                Taken::Alone => break,
            }
        }
        self.counts.note_lateness(self.clock(), due);
        let result = self.taps[tap].write(bytes);
        self.note_delivery(1, result)
    }

    fn put_train(&mut self, tap: usize, train: Train) -> Result<(), LiveError> {
        let now = self.clock();
        for &due in &train.due {
            self.counts.note_lateness(now, due);
        }
        let result = self.taps[tap].write_train(&train.bytes, train.payload);
        let segments = train.due.len() as u64;
        self.taps[tap].joiner.recycle(train);
        self.note_delivery(segments, result)
    }

    /// Hands over the segments that wait; whether there were any.
    fn put_waiting(&mut self) -> Result<bool, LiveError> {
        let mut any = false;
        for tap in 0..self.taps.len() {
            while let Some(train) = self.taps[tap].joiner.next() {
                self.put_train(tap, train)?;
                any = true;
            }
        }
        Ok(any)
    }

    /// A frame is at the end of its link.
    fn arrive(&mut self, at: Instant, packet: &ExternalPacket, token: u64) -> Result<(), LiveError> {
        self.counts.note_lateness(self.clock(), at);
        let frame = std::mem::take(&mut self.carried[token as usize].bytes);
        let mut marked = None;
        if packet.segment.flags.has(Flags::CE) && ports::packet(&frame).is_some() {
            // Of its own: a copy that is under way may come without the mark.
            wire::mark(&mut marked.insert(frame.clone())[ports::HEADER..]);
        }
        let link = self.carried[token as usize].link;
        let port = link.and_then(|link| self.ports.end(link)).expect("it came over a link with two ports");
        let result = self.put_out(port, marked.as_ref().unwrap_or(&frame));
        // The room is for a copy, or for the next frame.
        self.carried[token as usize].bytes = frame;
        result
    }

    fn put_out(&mut self, port: usize, frame: &[u8]) -> Result<(), LiveError> {
        match self.ports.spoken(port, frame) {
            Some(bytes) => self.note_delivery(1, self.taps[port].write(bytes)),
            None => Ok(()),
        }
    }

    fn note_delivery(&mut self, packets: u64, result: Result<usize, Errno>) -> Result<(), LiveError> {
        self.counts.note_delivery(packets, result).map_err(system("writing to a TUN device"))
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

    /// Takes frames of a device, of which there may be more.
    fn read(&mut self, tap: usize, buffer: &mut [u8]) -> Result<(), LiveError> {
        let complete = self.captures || self.decodes;
        for _ in 0..FRAMES_AT_ONCE {
            match self.taps[tap].read(buffer, complete) {
                Ok((length, _)) if self.ports.any() => self.take_frame(tap, &buffer[..length])?,
                Ok((length, payload)) => {
                    let now = self.step()?;
                    match payload.and_then(|payload| Cut::new(&buffer[..length], payload)) {
                        Some(train) => self.take_train(train, complete, now)?,
                        None => self.take(&buffer[..length], now)?,
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
                Err(error) => return Err(LiveError::System { what: "reading from a TUN device", error }),
            }
        }
        Ok(())
    }

    /// A host sends several segments at once.
    fn take_train(&mut self, mut train: Cut<'_>, complete: bool, now: Instant) -> Result<(), LiveError> {
        let mut packet = std::mem::take(&mut self.cut);
        while train.next(&mut packet, complete) {
            self.take(&packet, now)?;
        }
        self.cut = packet;
        Ok(())
    }

    /// A host sends a packet.
    fn take(&mut self, bytes: &[u8], now: Instant) -> Result<(), LiveError> {
        self.counts.read += 1;
        let Some(Headers { tuple, mut segment, bytes: length }) = packet::headers(bytes) else {
            self.counts.astray += 1;
            return Ok(());
        };
        let Some(lane) = self.conversations.lane(tuple, length, now) else {
            self.counts.astray += 1;
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
        self.counts.read += 1;
        self.step()?;
        let Some((target, frame)) = self.ports.way(port, bytes) else {
            self.counts.astray += 1;
            return Ok(());
        };
        match target {
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

    /// When something is due next, on the monotonic clock.
    fn next_ns(&self) -> u64 {
        let mut event = self.simulation.next_event().unwrap_or(Instant::MAX);
        if self.joins {
            let holds = self.taps.iter().any(|tap| tap.joiner.holds());
            event = if holds { self.together_at } else { event.max(self.together_at) };
        }
        let event = event.min(self.simulation.end());
        let due_ns = self.begun_ns + event.as_ps().div_ceil(PS_PER_NS);
        due_ns.min(now_ns(ClockId::Monotonic) + LONGEST_SLEEP_NS)
    }

    /// Ends the run where it is.
    ///
    /// # Errors
    /// If the books do not balance, which is a bug.
    pub fn finish(self) -> Result<LiveOutcome, LiveError> {
        let check = self.counts.finish((self.cpu.mean, self.cpu.busiest));
        let conversations = self.conversations.finish();
        Ok(LiveOutcome { outcome: self.simulation.finish()?, check, conversations })
    }
}
