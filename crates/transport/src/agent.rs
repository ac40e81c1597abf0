//! The ends of a connection, whichever protocol they speak. Dispatch is an enum: it is on the path of
//! every packet.
//!
//! A multipath connection is one pair of agents too. Each segment says by [`Segment::subflow`] on which subflow it
//! travels; who carries it picks addresses, ports and route by that, and gives an arriving one the same number.
//! [`SenderAgent::subflow_count`] and [`SenderAgent::subflow_addresses`] say at once, before it opens, which
//! subflows there will be. More are added when addresses come up, of which [`SenderAgent::on_address`] and
//! [`ReceiverAgent::on_address`] tell the ends, and when paths join other pairs of interfaces
//! ([`SenderAgent::on_interfaces`]); nobody tells them when a path fails or comes back.

use crate::config::{SharedConfig, TransportConfig};
use crate::log::LogEntry;
use crate::mptcp::{
    AddressChange, Interfaces, MptcpReceiver, MptcpReceiverStats, MptcpSender, MptcpSenderStats,
    SubflowAddresses, SubflowSummary,
};
use crate::sdn::{PacedSender, SlidingWindowSender, StreamReceiver};
use crate::segment::Segment;
use crate::spray::{PathFacts, SprayReceiver, SpraySender, SpraySenderStats};
use crate::tcp::{Receiver, ReceiverStats, RttSummary, Sender, SenderStats};
use anabranch_units::{Instant, Span};
use std::sync::Arc;

/// What an SDN controller tells a paced sender (Gholizadeh 2019, table 4.1): the five parameters of its
/// next sending cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CycleParameters {
    /// Number of this set of parameters; a later one of the same controller is higher.
    pub epoch: u32,
    /// `DelayToNextCycle`, from the arrival of the CTRL.
    pub delay_to_next_cycle: Span,
    /// `sInitialDelay`, from the start of the cycle to the first segment.
    pub initial_delay: Span,
    /// `sInterval`, from one window to the next.
    pub interval: Span,
    /// `sWnd`, segments in each interval.
    pub window_segments: u32,
    /// `sInterSegmentDelay`, from one segment to the next.
    pub inter_segment_delay: Span,
}

/// Why a connection was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The handshake had no answer within its time.
    NoAnswer,
    /// The address of its only subflow went away before another could join.
    AddressLost,
    /// The other end answered the SYN by an RST.
    Refused,
    /// An RST of the other end has ended it.
    Reset,
}

/// The end that opens and sends.
///
/// Inputs are [`SenderAgent::open`], [`SenderAgent::write`], [`SenderAgent::close`],
/// [`SenderAgent::on_segment`] and [`SenderAgent::on_timeout`] (at or after
/// [`SenderAgent::next_timeout`]). After each input take segments from [`SenderAgent::poll_transmit`] until
/// it gives none, then ask [`SenderAgent::next_timeout`] again.
#[derive(Debug)]
pub enum SenderAgent {
    /// TCP.
    Tcp(Sender),
    /// Paced by an SDN controller.
    SdnPaced(PacedSender),
    /// A fixed window.
    SlidingWindow(SlidingWindowSender),
    /// Multipath TCP; boxed, because each packet looks it up among flows of every kind.
    Mptcp(Box<MptcpSender>),
    /// Packets over many paths.
    Spray(Box<SpraySender>),
}

/// The end that listens and receives.
#[derive(Debug)]
pub enum ReceiverAgent {
    /// TCP.
    Tcp(Receiver),
    /// Of both senders of SDN.
    Stream(StreamReceiver),
    /// Multipath TCP.
    Mptcp(Box<MptcpReceiver>),
    /// Packets over many paths.
    Spray(Box<SprayReceiver>),
}

/// Calls the same method of whichever sender it is.
macro_rules! each {
    ($agent:expr, $inner:ident => $call:expr) => {
        match $agent {
            Self::Tcp($inner) => $call,
            Self::SdnPaced($inner) => $call,
            Self::SlidingWindow($inner) => $call,
            Self::Mptcp($inner) => $call,
            Self::Spray($inner) => $call,
        }
    };
}

impl SenderAgent {
    /// Begins to fetch what it keeps of the segments that the next ACK will be about.
    #[inline]
    pub fn prefetch_segments(&self) {
        if let Self::Tcp(sender) = self {
            sender.prefetch_segments();
        }
    }

    /// A sender that has not opened yet. `seed` sets what an algorithm may choose freely (BBR's first
    /// phase, MPTCP's keys); the initial sequence number is the caller's. The ends have an interface each.
    #[must_use]
    pub fn new(config: &TransportConfig, initial_sequence: u32, seed: u64) -> Self {
        Self::with_interfaces(
            &SharedConfig::from(config),
            initial_sequence,
            seed,
            Interfaces::all_joined(1, 1),
        )
    }

    /// The same between ends with several interfaces; only MPTCP uses more than the first.
    #[must_use]
    pub fn with_interfaces(
        config: &SharedConfig<'_>,
        initial_sequence: u32,
        seed: u64,
        interfaces: Interfaces,
    ) -> Self {
        match config {
            SharedConfig::Tcp(config) => {
                Self::Tcp(Sender::sharing(Arc::clone(config), initial_sequence, seed))
            }
            SharedConfig::SdnPaced(config) => Self::SdnPaced(PacedSender::new(config, initial_sequence)),
            SharedConfig::SlidingWindow(config) => {
                Self::SlidingWindow(SlidingWindowSender::new(config, initial_sequence))
            }
            SharedConfig::Mptcp(config) => {
                Self::Mptcp(Box::new(MptcpSender::new(config, initial_sequence, seed, interfaces)))
            }
            SharedConfig::Spray(config) => Self::Spray(Box::new(SpraySender::new(config, seed))),
        }
    }

    /// The host hands trains of up to so many segments to the network at once (segmentation offload). What the
    /// controller paces leaves segment by segment all the same.
    pub fn set_offload(&mut self, segments: u16) {
        match self {
            Self::Tcp(sender) => sender.set_offload(segments),
            Self::Mptcp(sender) => sender.set_offload(segments),
            Self::SdnPaced(_) | Self::SlidingWindow(_) | Self::Spray(_) => {}
        }
    }

    /// Tells a sender of `spray` about its path, before it opens; others find out.
    pub fn know_path(&mut self, facts: PathFacts) {
        if let Self::Spray(sender) = self {
            sender.know_path(facts);
        }
    }

    /// A line of its host into a plane of its own fails, or works again. Only `spray` heeds it.
    pub fn on_plane(&mut self, plane: u16, is_up: bool) {
        if let Self::Spray(sender) = self {
            sender.on_plane(plane, is_up);
        }
    }

    /// Whether it would give a packet if its host turned to it now; only `spray` waits for that.
    #[must_use]
    pub fn wants_to_send(&self) -> bool {
        matches!(self, Self::Spray(sender) if sender.wants_to_send())
    }

    /// What a sender of `spray` does beyond others.
    #[must_use]
    pub fn spray_stats(&self) -> Option<&SpraySenderStats> {
        if let Self::Spray(sender) = self { Some(sender.spray_stats()) } else { None }
    }

    /// What becomes of an address of its host, by the number of the interface. Only MPTCP heeds it.
    pub fn on_address(&mut self, now: Instant, interface: u8, change: AddressChange) {
        if let Self::Mptcp(sender) = self {
            sender.on_address(now, interface, change);
        }
    }

    /// Which interfaces paths join from now on; returns whether these are others than before. Only MPTCP heeds it.
    pub fn on_interfaces(&mut self, interfaces: Interfaces) -> bool {
        match self {
            Self::Mptcp(sender) => sender.on_interfaces(interfaces),
            _ => false,
        }
    }

    /// Which addresses the other end has when the connection opens. Only MPTCP heeds it.
    pub fn know_remote(&mut self, interface: u8, change: AddressChange) {
        if let Self::Mptcp(sender) = self {
            sender.know_remote(interface, change);
        }
    }

    /// Starts the handshake.
    pub fn open(&mut self) {
        each!(self, agent => agent.open());
    }

    /// The application writes `bytes` more.
    pub fn write(&mut self, bytes: u64) {
        each!(self, agent => agent.write(bytes));
    }

    /// The application has more than will ever be sent.
    pub fn write_without_end(&mut self) {
        each!(self, agent => agent.write_without_end());
    }

    /// The application will write no more; FIN follows the last byte.
    pub fn close(&mut self) {
        each!(self, agent => agent.close());
    }

    /// An arriving segment.
    #[inline]
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        each!(self, agent => agent.on_segment(now, segment));
    }

    /// A CTRL of the SDN controller arrives. Only a paced sender heeds it.
    pub fn on_control(&mut self, now: Instant, parameters: &CycleParameters) {
        match self {
            Self::SdnPaced(sender) => sender.on_control(now, parameters),
            Self::Tcp(_) | Self::SlidingWindow(_) | Self::Mptcp(_) | Self::Spray(_) => {}
        }
    }

    /// The epoch of a CTRL whose arrival the controller is to be told, each once.
    pub fn poll_confirmation(&mut self) -> Option<u32> {
        match self {
            Self::SdnPaced(sender) => sender.poll_confirmation(),
            Self::Tcp(_) | Self::SlidingWindow(_) | Self::Mptcp(_) | Self::Spray(_) => None,
        }
    }

    /// A timer may have expired; does nothing if none has.
    pub fn on_timeout(&mut self, now: Instant) {
        each!(self, agent => agent.on_timeout(now));
    }

    /// When [`SenderAgent::on_timeout`] wants to be called.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        each!(self, agent => agent.next_timeout())
    }

    /// The next segment to send now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        each!(self, agent => agent.poll_transmit(now))
    }

    /// What it has done so far.
    #[must_use]
    pub fn stats(&self) -> SenderStats {
        match self {
            Self::Tcp(sender) => *sender.stats(),
            Self::SdnPaced(sender) => *sender.stats(),
            Self::SlidingWindow(sender) => *sender.stats(),
            Self::Mptcp(sender) => sender.stats(),
            Self::Spray(sender) => *sender.stats(),
        }
    }

    /// Notes every decision from now on, up to `limit` entries, the last of which says that the log is full. The
    /// senders of SDN keep no log: the controller decides for them.
    pub fn keep_log(&mut self, limit: usize) {
        match self {
            Self::Tcp(sender) => sender.keep_log(limit),
            Self::Mptcp(sender) => sender.keep_log(limit),
            Self::SdnPaced(_) | Self::SlidingWindow(_) | Self::Spray(_) => {}
        }
    }

    /// The entries since the last call, in order of time; none if it keeps no log.
    pub fn take_log(&mut self) -> Vec<LogEntry> {
        match self {
            Self::Tcp(sender) => sender.take_log(),
            Self::Mptcp(sender) => sender.take_log(),
            Self::SdnPaced(_) | Self::SlidingWindow(_) | Self::Spray(_) => Vec::new(),
        }
    }

    /// How many subflows it has, opened or not: 1 for all but MPTCP, and 255 at most; it never falls. A segment's
    /// [`Segment::subflow`] is below.
    #[must_use]
    pub fn subflow_count(&self) -> u8 {
        if let Self::Mptcp(sender) = self { sender.subflow_count() } else { 1 }
    }

    /// Between which interfaces a subflow runs: it changes no more once the connection has opened. Subflows between the
    /// same two differ in their source ports.
    #[must_use]
    pub fn subflow_addresses(&self, index: u8) -> SubflowAddresses {
        if let Self::Mptcp(sender) = self {
            sender.subflow_addresses(index)
        } else {
            SubflowAddresses::default()
        }
    }

    /// A subflow of a multipath connection; none for any other, or for a number that there is not.
    #[must_use]
    pub fn subflow(&self, index: u8) -> Option<SubflowSummary> {
        if let Self::Mptcp(sender) = self { sender.subflow(index) } else { None }
    }

    /// What a multipath connection does beyond its subflows.
    #[must_use]
    pub fn multipath_stats(&self) -> Option<&MptcpSenderStats> {
        if let Self::Mptcp(sender) = self { Some(sender.multipath_stats()) } else { None }
    }

    /// Which bytes of the stream of a multipath connection a data segment of its own carries: the first one, and the
    /// one behind the last. None for any other connection, and where there are no data.
    #[must_use]
    pub fn stream_range(&self, segment: &Segment) -> Option<(u64, u64)> {
        if let Self::Mptcp(sender) = self { sender.stream_range(segment) } else { None }
    }

    /// Bytes of the stream of a multipath connection that are acknowledged; 0 for any other.
    #[must_use]
    pub fn stream_acknowledged(&self) -> u64 {
        if let Self::Mptcp(sender) = self { sender.acknowledged() } else { 0 }
    }

    /// Since when a multipath connection waits because no subflow gets an answer.
    #[must_use]
    pub fn stalled_since(&self) -> Option<Instant> {
        if let Self::Mptcp(sender) = self { sender.stalled_since() } else { None }
    }

    /// The window in bytes that governs sending now.
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        each!(self, agent => agent.cwnd())
    }

    /// The slow-start threshold in bytes; `u64::MAX` where there is none.
    #[must_use]
    pub fn ssthresh(&self) -> u64 {
        each!(self, agent => agent.ssthresh())
    }

    /// Bytes in flight.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        each!(self, agent => agent.in_flight())
    }

    /// When the handshake completed.
    #[must_use]
    pub fn established_at(&self) -> Option<Instant> {
        each!(self, agent => agent.established_at())
    }

    /// Bytes of the stream, once the application has closed.
    #[must_use]
    pub fn stream_length(&self) -> Option<u64> {
        each!(self, agent => agent.stream_length())
    }

    /// Why it has given up, if it has.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        match self {
            Self::Tcp(sender) => sender.failure(),
            Self::SdnPaced(sender) => sender.failure(),
            Self::SlidingWindow(sender) => sender.failure(),
            Self::Mptcp(sender) => sender.failure(),
            // It goes on for ever.
            Self::Spray(_) => None,
        }
    }

    /// Round-trip times; all zero before the first sample.
    #[must_use]
    pub fn rtt(&self) -> RttSummary {
        each!(self, agent => agent.rtt())
    }
}

impl ReceiverAgent {
    /// A receiver that waits for a SYN.
    #[must_use]
    pub fn new(config: &TransportConfig, initial_sequence: u32) -> Self {
        Self::sharing(&SharedConfig::from(config), initial_sequence)
    }

    /// The same, with a configuration that other receivers have, too.
    #[must_use]
    pub fn sharing(config: &SharedConfig<'_>, initial_sequence: u32) -> Self {
        match config {
            SharedConfig::Tcp(config) => Self::Tcp(Receiver::sharing(Arc::clone(config), initial_sequence)),
            SharedConfig::SdnPaced(config) => {
                Self::Stream(StreamReceiver::new(config.reliable, initial_sequence))
            }
            SharedConfig::SlidingWindow(_) => Self::Stream(StreamReceiver::new(true, initial_sequence)),
            SharedConfig::Mptcp(config) => {
                Self::Mptcp(Box::new(MptcpReceiver::new(config, initial_sequence)))
            }
            SharedConfig::Spray(config) => Self::Spray(Box::new(SprayReceiver::new(config.ack_after.0))),
        }
    }

    /// From now on data wait until [`ReceiverAgent::read`] takes them; to be called before the first segment. The receivers
    /// of SDN, whose windows are fixed, hold nothing.
    pub fn hold(&mut self, config: &TransportConfig) {
        match (self, config) {
            (Self::Tcp(receiver), TransportConfig::Tcp(config)) => receiver.hold(config),
            (Self::Mptcp(receiver), _) => receiver.hold(),
            _ => {}
        }
    }

    /// Bytes in order that wait for the application.
    #[inline]
    #[must_use]
    pub fn unread(&self) -> u64 {
        match self {
            Self::Tcp(receiver) => receiver.unread(),
            Self::Stream(_) | Self::Spray(_) => 0,
            Self::Mptcp(receiver) => receiver.unread(),
        }
    }

    /// The application reads up to `most` bytes; returns how many there were.
    pub fn read(&mut self, now: Instant, most: u64) -> u64 {
        match self {
            Self::Tcp(receiver) => receiver.read(now, most),
            Self::Stream(_) | Self::Spray(_) => 0,
            Self::Mptcp(receiver) => receiver.read(now, most),
        }
    }

    /// An arriving segment.
    #[inline]
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        match self {
            Self::Tcp(receiver) => receiver.on_segment(now, segment),
            Self::Stream(receiver) => receiver.on_segment(segment),
            Self::Spray(receiver) => receiver.on_segment(segment),
            Self::Mptcp(receiver) => receiver.on_segment(now, segment),
        }
    }

    /// What becomes of an address of its host, by the number of the interface. Only MPTCP heeds it.
    pub fn on_address(&mut self, now: Instant, interface: u8, change: AddressChange) {
        if let Self::Mptcp(receiver) = self {
            receiver.on_address(now, interface, change);
        }
    }

    /// At which interface of its host a subflow arrives. Only MPTCP heeds it.
    pub fn place_subflow(&mut self, index: u8, interface: u8) {
        if let Self::Mptcp(receiver) = self {
            receiver.place_subflow(index, interface);
        }
    }

    /// A timer may have expired; does nothing if none has.
    pub fn on_timeout(&mut self, now: Instant) {
        match self {
            Self::Tcp(receiver) => receiver.on_timeout(now),
            Self::Stream(_) | Self::Spray(_) => {}
            Self::Mptcp(receiver) => receiver.on_timeout(now),
        }
    }

    /// When [`ReceiverAgent::on_timeout`] wants to be called.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::Tcp(receiver) => receiver.next_timeout(),
            Self::Stream(_) | Self::Spray(_) => None,
            Self::Mptcp(receiver) => receiver.next_timeout(),
        }
    }

    /// The next segment to send now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        match self {
            Self::Tcp(receiver) => receiver.poll_transmit(now),
            Self::Stream(receiver) => receiver.poll_transmit(),
            Self::Spray(receiver) => receiver.poll_transmit(),
            Self::Mptcp(receiver) => receiver.poll_transmit(now),
        }
    }

    /// What it has seen so far.
    #[must_use]
    pub fn stats(&self) -> ReceiverStats {
        match self {
            Self::Tcp(receiver) => *receiver.stats(),
            Self::Stream(receiver) => *receiver.stats(),
            Self::Spray(receiver) => *receiver.stats(),
            Self::Mptcp(receiver) => receiver.stats(),
        }
    }

    /// What a subflow of a multipath connection has seen; none for any other, or before its SYN.
    #[must_use]
    pub fn subflow(&self, index: u8) -> Option<&ReceiverStats> {
        if let Self::Mptcp(receiver) = self { receiver.subflow(index) } else { None }
    }

    /// What a multipath connection sees of its data beyond its subflows.
    #[must_use]
    pub fn multipath_stats(&self) -> Option<&MptcpReceiverStats> {
        if let Self::Mptcp(receiver) = self { Some(receiver.multipath_stats()) } else { None }
    }

    /// Whether the other end has closed and every byte is here.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match self {
            Self::Tcp(receiver) => receiver.is_finished(),
            Self::Stream(receiver) => receiver.is_finished(),
            // What its sender has sent is what says so.
            Self::Spray(_) => false,
            Self::Mptcp(receiver) => receiver.is_finished(),
        }
    }
}
