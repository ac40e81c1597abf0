//! The control plane: a controller, its applications, and switches with flow tables.
//!
//! Start at [`Application`]: callbacks that read a [`View`] of the network and answer with [`Order`]s.
//! Flow tables ([`table`]) and channels ([`channel`]) are given the time and do not know the event queue;
//! `simulation/control.rs` puts them to work, and carries messages between them as packets over links.

pub mod applications;
pub mod channel;
mod start;
pub mod table;
#[cfg(test)]
mod tests_table;

use crate::packet::Direction;
use crate::records::Table;
use crate::variate::Variate;
use anabranch_network::Network;
use anabranch_routing::{LinkMask, Metric};
use anabranch_transport::CycleParameters;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use applications::ApplicationSetup;
use channel::{Channel, Channels};
pub use start::StartedController;
use table::{FlowTableSetup, Removal, Rule};

anabranch_units::leaf! {
    /// An SDN controller: switches that it governs, how it reaches them, and what it does.
    pub struct ControllerSetup: "controller" {
        /// Where it is. It is no switch and no end of a flow.
        pub node: NodeId,
        /// The switches. Every other node, the controller apart, is a host: it sends what it has over its
        /// first link to a switch.
        pub switches: Vec<NodeId>,
        /// Where control messages travel.
        pub channel: Channel,
        /// What the controller does.
        pub application: ApplicationSetup,
        /// Metric of the paths that the application gives to flows.
        pub metric: Metric,
        /// Flow tables of the switches.
        pub table: FlowTableSetup,
        /// Time from a flow's FIN until the controller removes its entries; zero for at once.
        pub linger: Span,
        /// How long it works on each message that has come to it, one after the other, in picoseconds; `None`: no time.
        pub processing_delay: Option<Variate>,
        /// Interval at which the controller asks all switches for the counters of their links; `None`: never.
        pub statistics_interval: Option<Span>,
        /// Flows that go by a metric of their own.
        pub flow_metrics: Vec<(FlowId, Metric)>,
    }
}

/// Bytes of every message of the control plane but a reply with statistics (Gholizadeh 2019, section 4.4).
pub const MESSAGE_BYTES: u32 = 40;

/// Bytes that each link adds to a reply with statistics: a port's counters (OpenFlow 1.3 section 7.3.5.6).
pub const LINK_STATISTICS_BYTES: u32 = 112;

/// Where a packet came into a switch from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ingress {
    /// A host, or the switch itself where it is an end of the flow.
    Host,
    /// Another switch.
    Switch,
}

/// Most flows of a network with a controller where some are multipath: so many have ids for all their subflows.
pub const MOST_FLOWS: usize = (u32::MAX / 256) as usize;

/// The id that stands for the 5-tuple of a subflow where there are so many flows, at most [`MOST_FLOWS`] if any subflow is
/// not the first: that of its flow, or one behind those of all flows.
#[must_use]
pub fn tuple(flows: usize, flow: FlowId, subflow: u8) -> FlowId {
    match u32::from(subflow).checked_sub(1) {
        None => flow,
        Some(further) => FlowId(flows as u32 + flow.0 * u32::from(u8::MAX) + further),
    }
}

/// A window field that says at most `bytes`, rounded up to what a scale can say (RFC 7323 section 2.2).
#[must_use]
pub fn clamped_window(window: u16, bytes: u64, scale: u8) -> u16 {
    let most = bytes.div_ceil(1 << scale).min(u64::from(u16::MAX)) as u16;
    window.min(most)
}

/// What a switch or the controller reads in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Which 5-tuple ([`tuple()`]): the number of the flow, or of one of its further subflows.
    pub flow: FlowId,
    /// Which way.
    pub direction: Direction,
    /// Node that sends packets of this direction.
    pub from: NodeId,
    /// Node that receives them.
    pub to: NodeId,
    /// The packet opens a connection.
    pub syn: bool,
    /// The packet is the last one with data, or follows it.
    pub fin: bool,
    /// MSS option in bytes; 0 for none. Only on a SYN.
    pub mss: u16,
}

/// A packet that a switch has handed to the controller: nothing in its table matched, or an entry said so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketIn {
    /// The switch.
    pub switch: NodeId,
    /// Where the switch had it from.
    pub ingress: Ingress,
    /// What it says.
    pub header: Header,
    /// Nothing in the table matched it (OpenFlow 1.3 section 7.4.1, "no match").
    pub missed: bool,
}

/// Counters of a link that leaves a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkCounters {
    /// The link.
    pub link: LinkId,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets that the queue did not take; `None` where the switch does not know the queue of the link.
    pub dropped: Option<u64>,
    /// Packets waiting; `None` as above.
    pub queue_packets: Option<u64>,
}

/// A switch's answer to a question for statistics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// The switch.
    pub switch: NodeId,
    /// When it read its counters.
    pub at: Instant,
    /// Links that leave it.
    pub sent: Vec<LinkCounters>,
    /// Packets received over each link that leads to it.
    pub received: Vec<(LinkId, u64)>,
}

/// What a probe has seen of a link between two switches, whose clocks agree. Counts leave out probes, and divide
/// the link's packets into those before this probe and those behind it: a link keeps its packets in order. Where
/// counters of real switches give the counts, probes count, too, and either count may be a packet or two off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkProbe {
    /// The link.
    pub link: LinkId,
    /// Number that the application gave it.
    pub round: u32,
    /// When it came to the queue of the link.
    pub queued_at: Instant,
    /// When it came to the other end.
    pub received_at: Instant,
    /// Packets sent over the link before it, since the start.
    pub sent: u64,
    /// Packets received over the link before it, since the start.
    pub received: u64,
}

/// A message of the control plane. It travels as a packet.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// Switch to controller: the packet it travels with.
    PacketIn(PacketIn),
    /// Controller to switch: send the packet it travels with over this link, with an advertised window of at most so
    /// many bytes.
    PacketOut(LinkId, Option<u64>),
    /// Controller to switch: new entries.
    SetUp(Vec<Rule>),
    /// Controller to switch: remove the entries of a flow.
    Remove(FlowId),
    /// Switch to controller: a packet that the controller wanted to hear of has gone on.
    Notice(PacketIn),
    /// Switch to controller: an entry has expired or was evicted.
    Removed(Removal),
    /// Switch to controller: its table is full, and this flow's entries were refused.
    Refused(NodeId, FlowId),
    /// Controller to sender: CTRL, the parameters of its next sending cycle.
    Control(FlowId, CycleParameters),
    /// Sender to controller: a CTRL with this epoch has arrived.
    Confirmation(FlowId, u32),
    /// Controller to switch: send your counters.
    StatisticsRequest,
    /// Switch to controller.
    Statistics(Box<Statistics>),
    /// Controller to switch: send a probe with this number over this link.
    ProbeOut(LinkId, u32),
    /// Switch to switch: a probe, with its number and when it came to the queue of the link.
    Probe(LinkId, u32, Instant),
    /// Switch to controller: what a probe has seen.
    ProbeIn(LinkProbe),
}

/// Kinds of messages, in the order in which [`Message::kind`] numbers them.
pub const KINDS: [&str; 14] = [
    "packet in",
    "packet out",
    "set-up",
    "remove",
    "removed",
    "refused",
    "ctrl",
    "confirmation",
    "statistics request",
    "statistics",
    "notice",
    "probe out",
    "probe",
    "probe in",
];

impl Message {
    /// Its place in [`KINDS`].
    #[must_use]
    pub fn kind(&self) -> usize {
        match self {
            Self::PacketIn(_) => 0,
            Self::PacketOut(..) => 1,
            Self::SetUp(_) => 2,
            Self::Remove(_) => 3,
            Self::Removed(_) => 4,
            Self::Refused(..) => 5,
            Self::Control(..) => 6,
            Self::Confirmation(..) => 7,
            Self::StatisticsRequest => 8,
            Self::Statistics(_) => 9,
            Self::Notice(_) => 10,
            Self::ProbeOut(..) => 11,
            Self::Probe(..) => 12,
            Self::ProbeIn(_) => 13,
        }
    }

    /// Bytes of the packet that carries it; a packet in or out has its own.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        match self {
            Self::Statistics(statistics) => {
                MESSAGE_BYTES + LINK_STATISTICS_BYTES * statistics.sent.len() as u32
            }
            _ => MESSAGE_BYTES,
        }
    }
}

/// What an application wants done. Orders are carried out in their order.
#[derive(Clone, PartialEq, Debug)]
pub enum Order {
    /// New entries for a switch.
    SetUp {
        /// The switch.
        switch: NodeId,
        /// The entries.
        rules: Vec<Rule>,
    },
    /// Remove a flow's entries from a switch.
    Remove {
        /// The switch.
        switch: NodeId,
        /// The flow.
        flow: FlowId,
    },
    /// The packet at hand goes back to a switch, which sends it over a link. At most one such order; a
    /// packet without one is dropped.
    Release {
        /// The switch.
        switch: NodeId,
        /// The link.
        link: LinkId,
        /// Most bytes of the window that it may advertise; `None` leaves its window alone.
        window: Option<u64>,
        /// Least time between such packets to this switch; above zero, the controller keeps packets until it is
        /// over and the channel is free. Zero: at once.
        gap: Span,
    },
    /// A probe over a link between two switches.
    Probe {
        /// The link.
        link: LinkId,
        /// Comes back with what it has seen.
        round: u32,
    },
    /// A CTRL to the sender of a flow, over the channel of its access switch.
    Control {
        /// The flow.
        flow: FlowId,
        /// Its access switch.
        switch: NodeId,
        /// The parameters.
        parameters: CycleParameters,
    },
}

/// What an application sees.
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// The time.
    pub now: Instant,
    /// The network, control links included.
    pub network: &'v Network,
    /// Links that may carry data, as far as the controller knows.
    pub mask: &'v LinkMask,
    /// Ways to the switches.
    pub channels: &'v Channels,
}

impl View<'_> {
    /// Whether a node is a switch of this controller.
    #[must_use]
    pub fn is_switch(&self, node: NodeId) -> bool {
        self.channels.is_switch(node)
    }

    /// Links over which a path between two nodes may lead: only switches forward, and a host sends over its one
    /// link to its switch.
    #[must_use]
    pub fn mask_between(&self, from: NodeId, to: NodeId) -> LinkMask {
        let mut mask = self.mask.clone();
        for node in self.network.node_ids().filter(|&node| node != from && node != to) {
            if !self.is_switch(node) {
                mask.set_node(node, false);
            }
        }
        if !self.is_switch(from) {
            let gateway = self.channels.gateway(from);
            for &link in self.network.links_out(from).iter().filter(|&&link| Some(link) != gateway) {
                mask.set_link(link, false);
            }
        }
        mask
    }
}

/// An assumption of an application that a run has broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Breach {
    /// Flows of two access switches share a link.
    SharedLink {
        /// When first.
        at: Instant,
        /// The link.
        link: LinkId,
        /// The switches.
        switches: (NodeId, NodeId),
    },
    /// An access switch has more open flows than an interval has segments.
    TooManyFlows {
        /// When first.
        at: Instant,
        /// The switch.
        switch: NodeId,
        /// Open flows, and segments of an interval.
        flows: (u64, u64),
    },
}

/// An application of the controller.
///
/// Callbacks append orders to `out`. They are called at the time of the event they are named after;
/// [`Application::on_timer`] at [`Application::next_timer`], which is asked for after each callback.
pub trait Application {
    /// A packet that no entry matched, or that an entry sent here.
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>);

    /// A packet that an entry has sent on, and told the controller of.
    fn on_notice(&mut self, _view: &View<'_>, _packet: &PacketIn, _out: &mut Vec<Order>) {}

    /// Entries of a flow have expired or were evicted at a switch.
    fn on_removed(&mut self, _view: &View<'_>, _removal: &Removal, _out: &mut Vec<Order>) {}

    /// A full table has refused a flow's entries.
    fn on_refused(&mut self, _view: &View<'_>, _switch: NodeId, _flow: FlowId, _out: &mut Vec<Order>) {}

    /// A sender has received a CTRL.
    fn on_confirmation(&mut self, _view: &View<'_>, _flow: FlowId, _epoch: u32, _out: &mut Vec<Order>) {}

    /// A switch has sent its counters.
    fn on_statistics(&mut self, _view: &View<'_>, _statistics: &Statistics, _out: &mut Vec<Order>) {}

    /// The switches are asked for their counters now.
    fn on_request(&mut self, _view: &View<'_>, _out: &mut Vec<Order>) {}

    /// A probe has come back.
    fn on_probe(&mut self, _view: &View<'_>, _probe: &LinkProbe, _out: &mut Vec<Order>) {}

    /// Links or nodes went down or came up, or have other attributes.
    fn on_network_change(&mut self, _view: &View<'_>, _out: &mut Vec<Order>) {}

    /// The time that [`Application::next_timer`] gave has come.
    fn on_timer(&mut self, _view: &View<'_>, _out: &mut Vec<Order>) {}

    /// When [`Application::on_timer`] is to be called.
    fn next_timer(&self) -> Option<Instant> {
        None
    }

    /// What it has to say at the end of the run.
    fn tables(&self) -> Vec<Table> {
        Vec::new()
    }

    /// Assumptions of its own that the run has broken, each the first time.
    fn breaches(&self) -> Vec<Breach> {
        Vec::new()
    }
}
