//! Two ends, the wire between them, and a controller that paces the sender and repeats what is not confirmed.

use crate::agent::{CycleParameters, ReceiverAgent, SenderAgent};
use crate::config::{SdnPacedConfig, TransportConfig};
use crate::preset::preset;
use crate::segment::{Flags, Segment};
use anabranch_units::{Instant, Span};
use proptest::prelude::*;

/// What becomes of a packet on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Arrive,
    Lost,
    Late(Span),
    Twice,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InTransit {
    Forward(Segment),
    Backward(Segment),
    Control(CycleParameters),
    Confirmation(u32),
}

/// One-way delays, and what a data segment keeps the sender's link busy for.
#[derive(Clone, Copy)]
pub(super) struct Delays {
    pub(super) data: Span,
    pub(super) syn: Span,
    pub(super) answer: Span,
    pub(super) control: Span,
    pub(super) transmission: Span,
}

/// Sends the first of its `changes` on a SYN and the others at their times; a SYN that comes again, or a
/// confirmation that does not come, has the newest sent again.
#[derive(Default)]
pub(super) struct Controller {
    pub(super) changes: Vec<(Instant, CycleParameters)>,
    next: usize,
    repeat_at: Option<Instant>,
    repeat_after: Option<Span>,
}

impl Controller {
    pub(super) fn new(changes: Vec<(Instant, CycleParameters)>, repeat_after: Option<Span>) -> Self {
        Self { changes, repeat_after, ..Self::default() }
    }

    fn next_event(&self) -> Option<Instant> {
        // The first change waits for the SYN.
        let change = self.changes.get(self.next).filter(|_| self.next > 0).map(|(at, _)| *at);
        [change, self.repeat_at].into_iter().flatten().min()
    }

    fn on_time(&mut self, now: Instant) -> Option<CycleParameters> {
        if self.next > 0 && self.changes.get(self.next).is_some_and(|(at, _)| *at <= now) {
            self.next += 1;
            return self.newest(now);
        }
        self.repeat_at.filter(|at| *at <= now).and_then(|_| self.newest(now))
    }

    fn on_syn(&mut self, now: Instant) -> Option<CycleParameters> {
        self.next = self.next.max(1);
        self.newest(now)
    }

    fn newest(&mut self, now: Instant) -> Option<CycleParameters> {
        let newest = self.changes.get(self.next - 1).map(|(_, parameters)| *parameters)?;
        self.repeat_at = self.repeat_after.map(|after| now + after);
        Some(newest)
    }

    fn on_confirmation(&mut self, epoch: u32) {
        if self.changes[self.next - 1].1.epoch <= epoch {
            self.repeat_at = None;
        }
    }
}

pub(super) struct Network {
    pub(super) now: Instant,
    pub(super) sender: SenderAgent,
    pub(super) receiver: ReceiverAgent,
    pub(super) controller: Controller,
    delays: Delays,
    busy_until: Instant,
    wire: Vec<(Instant, u64, InTransit)>,
    sent: u64,
    /// What was put on the wire, and when.
    pub(super) log: Vec<(Instant, InTransit)>,
    /// CTRLs that arrived, and how many packets had been sent before each.
    pub(super) cycles: Vec<(Instant, usize, CycleParameters)>,
}

impl Network {
    pub(super) fn new(
        config: &TransportConfig,
        sequence: u32,
        delays: Delays,
        controller: Controller,
    ) -> Self {
        Self {
            now: Instant::ZERO,
            sender: SenderAgent::new(config, sequence, 1),
            receiver: ReceiverAgent::new(config, sequence.wrapping_add(77)),
            controller,
            delays,
            busy_until: Instant::ZERO,
            wire: Vec::new(),
            sent: 0,
            log: Vec::new(),
            cycles: Vec::new(),
        }
    }

    /// A stream of `bytes`, opened at once.
    pub(super) fn transfer(mut self, bytes: u64, fate: impl FnMut(&InTransit, u64) -> Fate) -> Self {
        self.sender.open();
        self.sender.write(bytes);
        self.sender.close();
        assert!(self.run(Instant::ZERO + Span::from_secs(36_000), fate), "the flow came to rest");
        self
    }

    fn put(&mut self, packet: InTransit, fate: &mut dyn FnMut(&InTransit, u64) -> Fate) {
        self.log.push((self.now, packet));
        let number = self.sent;
        self.sent += 1;
        let delay = match packet {
            InTransit::Forward(segment) if segment.payload > 0 => {
                let departure = self.busy_until.max(self.now);
                self.busy_until = departure + self.delays.transmission;
                departure.since(self.now) + self.delays.data
            }
            InTransit::Forward(_) => self.delays.syn,
            InTransit::Backward(_) => self.delays.answer,
            InTransit::Control(_) | InTransit::Confirmation(_) => self.delays.control,
        };
        let arrival = self.now + delay;
        match fate(&packet, number) {
            Fate::Arrive => self.wire.push((arrival, number, packet)),
            Fate::Lost => {}
            Fate::Late(span) => self.wire.push((arrival + span, number, packet)),
            Fate::Twice => {
                self.wire.push((arrival, number, packet));
                self.wire.push((arrival + Span::from_us(1), number, packet));
            }
        }
    }

    pub(super) fn flush(&mut self, fate: &mut dyn FnMut(&InTransit, u64) -> Fate) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            if segment.flags.has(Flags::SYN)
                && let Some(parameters) = self.controller.on_syn(self.now)
            {
                self.put(InTransit::Control(parameters), fate);
            }
            self.put(InTransit::Forward(segment), fate);
        }
        while let Some(segment) = self.receiver.poll_transmit(self.now) {
            self.put(InTransit::Backward(segment), fate);
        }
        while let Some(epoch) = self.sender.poll_confirmation() {
            self.put(InTransit::Confirmation(epoch), fate);
        }
    }

    /// Runs until nothing is left to happen or `end`; returns whether it came to rest.
    pub(super) fn run(&mut self, end: Instant, mut fate: impl FnMut(&InTransit, u64) -> Fate) -> bool {
        self.flush(&mut fate);
        loop {
            let arrival = self.wire.iter().enumerate().min_by_key(|(_, w)| (w.0, w.1)).map(|(i, w)| (w.0, i));
            let timers = [self.sender.next_timeout(), self.controller.next_event(), arrival.map(|a| a.0)];
            let Some(next) = timers.into_iter().flatten().min() else { return true };
            if next > end {
                self.now = end;
                return false;
            }
            assert!(next >= self.now, "time runs forwards");
            self.now = next;
            if let Some((_, index)) = arrival.filter(|a| a.0 <= next) {
                let (_, _, packet) = self.wire.swap_remove(index);
                self.deliver(packet);
            } else if self.controller.next_event().is_some_and(|at| at <= next) {
                if let Some(parameters) = self.controller.on_time(next) {
                    self.put(InTransit::Control(parameters), &mut fate);
                }
            } else {
                self.sender.on_timeout(next);
            }
            self.flush(&mut fate);
            check(&self.sender);
        }
    }

    fn deliver(&mut self, packet: InTransit) {
        match packet {
            InTransit::Forward(segment) => self.receiver.on_segment(self.now, &segment),
            InTransit::Backward(segment) => self.sender.on_segment(self.now, &segment),
            InTransit::Control(parameters) => {
                self.cycles.push((self.now, self.log.len(), parameters));
                self.sender.on_control(self.now, &parameters);
            }
            InTransit::Confirmation(epoch) => self.controller.on_confirmation(epoch),
        }
    }

    /// Data segments as they were sent.
    pub(super) fn data(&self) -> Vec<(Instant, Segment)> {
        self.forward(|segment| segment.payload > 0)
    }

    /// Segments of the sender that are `wanted`.
    pub(super) fn forward(&self, wanted: impl Fn(&Segment) -> bool) -> Vec<(Instant, Segment)> {
        let log = self.log.iter();
        log.filter_map(|&(at, packet)| match packet {
            InTransit::Forward(segment) if wanted(&segment) => Some((at, segment)),
            _ => None,
        })
        .collect()
    }

    /// Segments of the receiver.
    pub(super) fn backward(&self) -> Vec<(Instant, Segment)> {
        let log = self.log.iter();
        log.filter_map(|&(at, packet)| match packet {
            InTransit::Backward(segment) => Some((at, segment)),
            _ => None,
        })
        .collect()
    }

    /// Asserts that each data segment left in a slot of its cycle, and no two in one; returns how many did.
    /// Cycles follow from the CTRLs heard, by the rules of section 4.3.2: a later CTRL replaces stored
    /// parameters, and the later start stands. Reliable senders take no epoch twice.
    pub(super) fn assert_in_slots(&self, reliable: bool) -> usize {
        let mut reports = self.cycles.iter().peekable();
        let mut cycle: Option<(Instant, CycleParameters)> = None;
        let mut pending: Option<(Instant, CycleParameters)> = None;
        let (mut newest, mut last, mut segments) = (0, None, 0);
        for (index, (now, packet)) in self.log.iter().enumerate() {
            while let Some((at, _, parameters)) = reports.next_if(|(_, sent, _)| *sent <= index) {
                if let Some(next) = pending.take_if(|(start, _)| *start <= *at) {
                    (cycle, last) = (Some(next), None);
                }
                if !reliable || parameters.epoch > newest {
                    newest = parameters.epoch;
                    let start = *at + parameters.delay_to_next_cycle;
                    pending = Some((pending.map_or(start, |(other, _)| other.max(start)), *parameters));
                }
            }
            if let Some(next) = pending.take_if(|(start, _)| *start <= *now) {
                (cycle, last) = (Some(next), None);
            }
            if matches!(packet, InTransit::Forward(segment) if segment.payload > 0) {
                let (start, parameters) = cycle.expect("no data before the first cycle");
                let slot = Some(slot_of(*now, start, &parameters));
                assert!(slot > last, "two segments in one slot at {now}");
                last = slot;
                segments += 1;
            }
        }
        segments
    }
}

/// The slot at `now` of a cycle: its interval, and its place there.
fn slot_of(now: Instant, start: Instant, parameters: &CycleParameters) -> (u64, u64) {
    let since = now.since(start + parameters.initial_delay).as_ps();
    let (interval, spacing) = (parameters.interval.as_ps(), parameters.inter_segment_delay.as_ps());
    let (k, rest) = (since / interval, since % interval);
    assert_eq!(rest % spacing, 0, "{now} is no slot of {parameters:?} from {start}");
    assert!(rest / spacing < u64::from(parameters.window_segments), "{now} is behind its window");
    (k, rest / spacing)
}

/// What a sender sends before `end`, in hundredths of microseconds, if nothing arrives.
pub(super) fn run(sender: &mut SenderAgent, end: u64) -> Vec<(Instant, Segment)> {
    let mut sent = Vec::new();
    while let Some(now) = sender.next_timeout().filter(|at| *at < at_us(end)) {
        sender.on_timeout(now);
        while let Some(segment) = sender.poll_transmit(now) {
            sent.push((now, segment));
        }
    }
    sent
}

/// Recounts the sender's counters.
pub(super) fn check(sender: &SenderAgent) {
    match sender {
        SenderAgent::Tcp(_) | SenderAgent::Mptcp(_) | SenderAgent::Spray(_) => {
            unreachable!("not of this module")
        }
        SenderAgent::SdnPaced(sender) => sender.check(),
        SenderAgent::SlidingWindow(sender) => sender.check(),
    }
}

pub(super) fn is_finished(sender: &SenderAgent) -> bool {
    match sender {
        SenderAgent::Tcp(sender) => sender.is_finished(),
        SenderAgent::SdnPaced(sender) => sender.is_finished(),
        SenderAgent::SlidingWindow(sender) => sender.is_finished(),
        SenderAgent::Mptcp(sender) => sender.is_finished(),
        SenderAgent::Spray(_) => unreachable!("not of this module"),
    }
}

/// Microseconds with two decimals, as the thesis prints them.
pub(super) fn us(hundredths: u64) -> Span {
    Span::from_ps(hundredths * 10_000)
}

pub(super) fn at_us(hundredths: u64) -> Instant {
    Instant::ZERO + us(hundredths)
}

/// When segments left, in hundredths of microseconds.
pub(super) fn times(segments: &[(Instant, Segment)]) -> Vec<u64> {
    segments.iter().map(|(at, _)| at.as_ps() / 10_000).collect()
}

pub(super) fn paced(reliable: bool) -> TransportConfig {
    let Some(TransportConfig::SdnPaced(config)) = preset("sdn-paced") else { panic!("a preset") };
    TransportConfig::SdnPaced(SdnPacedConfig { reliable, ..config })
}

/// Section 4.4.1, table 4.4: 8 Gb/s and 1 us on each of four links, N = 1.
pub(super) fn single_flow(epoch: u32) -> CycleParameters {
    CycleParameters {
        epoch,
        delay_to_next_cycle: us(1468),
        initial_delay: Span::ZERO,
        interval: us(1824),
        window_segments: 17,
        inter_segment_delay: us(100),
    }
}

/// The network of section 4.4.1: a data segment takes 4 x 2 us, an ACK 4 x 1.04 us, a SYN two links more
/// than that and, behind a set-up message and a CTRL on the control link, another 0.08 us; the SYN-ACK is
/// at the sender at 10.48 us. The CTRL leaves the sender as a SYN and is back at 4.20 us.
pub(super) fn thesis_delays() -> Delays {
    Delays { data: us(800), syn: us(632), answer: us(416), control: us(420), transmission: us(100) }
}

/// The sender of section 4.4.1 in its network, with one CTRL.
pub(super) fn thesis(reliable: bool) -> Network {
    let controller = Controller::new(vec![(Instant::ZERO, single_flow(1))], None);
    Network::new(&paced(reliable), 0xFFFF_F000, thesis_delays(), controller)
}

/// The same transport, with a handshake that outlasts any list of fates.
pub(super) fn patient(mut config: TransportConfig) -> TransportConfig {
    let patience = Span::from_secs(30_000);
    match &mut config {
        TransportConfig::Tcp(config) => config.handshake_timeout = patience,
        TransportConfig::SdnPaced(config) => config.handshake_timeout = patience,
        TransportConfig::SlidingWindow(config) => config.handshake_timeout = patience,
        TransportConfig::Mptcp(config) => config.tcp.handshake_timeout = patience,
        TransportConfig::Spray(_) => {}
    }
    config
}

/// Some packets lost, late or twice.
pub(super) fn any_fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Arrive),
        3 => Just(Fate::Lost),
        2 => (1u64..60).prop_map(|us| Fate::Late(Span::from_us(us))),
        1 => Just(Fate::Twice),
    ]
}
