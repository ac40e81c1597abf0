//! A run as plain data: every name resolved, every number an integer in base units
//! (picoseconds, bits per second, bytes). It crosses from Python once, as JSON.
//!
//! What a component takes as parameters is declared beside the component; here stands what puts them together.

pub use crate::balancer::LoadBalancing;
pub use crate::control::ControllerSetup;
pub use crate::control::applications::{ApplicationSetup, DelaySource, PacedSchedule, TcpbpSetup};
pub use crate::control::channel::Channel;
pub use crate::control::table::{FlowTableSetup, WhenFull};
pub use crate::datagram::{DatagramSetup, DatagramSource};
pub use crate::link::impairments::{ChanceSetup, ReorderSetup};
pub use crate::link::token_bucket::{PeakSetup, PolicerSetup, ShaperSetup};
pub use crate::link_setup::{LinkKinds, LinkSetup, QueueSetup};
pub use crate::loss::LossSetup;
pub use crate::queues::{Discipline, Limit};
pub use crate::variate::Variate;
use anabranch_network::Node;
use anabranch_routing::Scheme;
use anabranch_transport::TransportConfig;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Rate, Shared, Span};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// Everything the engine needs besides the plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Seed of every random stream.
    pub seed: u64,
    /// Replication: same scenario, other independent streams.
    pub replication: u64,
    /// Simulated time, from zero; the latest end, if the run may end earlier.
    pub duration: Span,
    /// When the run ends.
    pub until: RunEnd,
    /// Nodes; a node id is an index into this list.
    pub nodes: Shared<Vec<Node>>,
    /// Directed links; a link id is an index into this list.
    #[serde(deserialize_with = "crate::link_setup::links")]
    pub links: Vec<LinkSetup>,
    /// What hosts do besides their transports, where it is not the usual.
    pub hosts: Vec<HostSetup>,
    /// Nodes that take time to pass packets on.
    pub routers: Vec<RouterSetup>,
    /// Transports that flows point at by index.
    pub transports: Vec<TransportSetup>,
    /// Flows, in the order of their ids.
    pub flows: Vec<FlowSetup>,
    /// Pings and UDP, which have no connection. Their ids go on from those of the flows.
    pub datagrams: Vec<DatagramSetup>,
    /// Changes of the network at given times.
    pub events: Vec<EventSetup>,
    /// How routes are chosen and packets spread over them.
    pub routing: RoutingSetup,
    /// What is sampled over time.
    pub probes: ProbeSetup,
    /// Packets written to files.
    pub captures: Vec<CaptureSetup>,
    /// The SDN controller; `None` where switches follow the plan.
    pub controller: Option<ControllerSetup>,
    /// Flows that begin when others are complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitSetup>,
    /// Flows that make a collective operation together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveSetup>,
}

anabranch_units::leaf! {
    /// A flow that begins when others are complete, and not before its start.
    #[derive(Eq)]
    pub struct WaitSetup: "wait" {
        /// The flow.
        pub flow: FlowId,
        /// Those that it waits for.
        pub after: Vec<FlowId>,
        /// How long after the last of them is complete.
        pub delay: Span,
    }
}

anabranch_units::leaf! {
    /// A collective operation: flows whose ids follow each other, step by step.
    #[derive(Eq)]
    pub struct CollectiveSetup: "collective" {
        /// Its name.
        pub name: String,
        /// What it is: `ring-all-reduce`.
        pub operation: String,
        /// Its first flow.
        pub first: FlowId,
        /// Hosts that take part.
        pub hosts: u64,
        /// Flows of each step.
        pub flows: u64,
        /// Steps.
        pub steps: u64,
    }
}

/// When a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// When its duration is over.
    #[default]
    Duration,
    /// When every flow that can complete has done so, or its duration is over.
    Done,
}

/// What a host does besides its transports.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSetup {
    /// Where it is.
    pub node: NodeId,
    /// Most segments that it hands to the network as one train (segmentation offload); 1 for none.
    pub offload: NonZeroU16,
    /// How long it takes until it looks at a packet that has come for it, in picoseconds; it takes them in order.
    pub processing_delay: Option<Variate>,
}

/// What a router or switch does with the packets that it passes on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterSetup {
    /// Where it is.
    pub node: NodeId,
    /// How long it takes from the arrival of a packet until that is in the queue of its next link, in picoseconds; packets
    /// stay in order. `None` for no time.
    pub processing_delay: Option<Variate>,
    /// What it mixes into the hashes by which it balances load; `None`: a number of its own for each destination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_seed: Option<HashSeed>,
}

anabranch_units::leaf! {
    /// What a router mixes into its hashes, for all destinations alike.
    #[derive(Copy, Eq)]
    pub enum HashSeed: "hash_seed" by "kind" {
        /// This number.
        "given" => Given {
            /// Which.
            seed: u64,
        },
        /// A number that the run draws for the router.
        "drawn" => Drawn {},
    }
}

/// A transport under the name the scenario gives it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransportSetup {
    /// Name.
    pub name: String,
    /// Protocol and choices.
    pub config: TransportConfig,
}

/// A flow: one connection, data from `from` to `to`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSetup {
    /// Unique name, such as `traffic[0].3`; random streams hang on it.
    pub name: String,
    /// Node that sends data.
    pub from: NodeId,
    /// Node that receives them.
    pub to: NodeId,
    /// Index into `transports`.
    pub transport: usize,
    /// Whose routes it takes: 0 for those of `routing.scheme`, n for those of `routing.others[n - 1]`.
    pub routing: usize,
    /// What the application sends.
    pub source: SourceSetup,
    /// When the connection opens.
    pub start: Instant,
    /// When the application stops writing and closes; `None` for never.
    pub stop: Option<Instant>,
    /// How the receiving application reads; `None`: at once. In a box, because few flows have one.
    pub reads: Option<Box<ReadingSetup>>,
}

impl FlowSetup {
    /// Whether its stream has an end: a size, or a time to stop at.
    #[must_use]
    pub const fn ends(&self) -> bool {
        self.stop.is_some() || matches!(self.source, SourceSetup::Sized { .. })
    }
}

anabranch_units::leaf! {
    /// How an application reads.
    #[derive(Copy, Eq)]
    pub struct ReadingSetup: "reading" {
        /// Block by block from the flow's start; `None`: all that there is.
        pub blocks: Option<BlockSetup>,
        /// From here on it reads nothing; `None` for never.
        pub pause: Option<Instant>,
        /// Until here; `None` for the end.
        pub resume: Option<Instant>,
    }
}

impl ReadingSetup {
    /// Whether it reads nothing at this time.
    #[must_use]
    pub fn pauses_at(&self, at: Instant) -> bool {
        self.pause.is_some_and(|pause| pause <= at) && self.resume.is_none_or(|resume| at < resume)
    }
}

anabranch_units::leaf! {
    /// What an application reads at each interval.
    #[derive(Copy, Eq)]
    pub struct BlockSetup: "block" {
        /// Bytes at most.
        pub bytes: u64,
        /// From one block to the next.
        pub interval: Span,
    }
}

anabranch_units::leaf! {
    /// What an application sends.
    pub enum SourceSetup: "source" by "kind" {
        /// As much as TCP takes.
        "unlimited" => Unlimited {},
        /// This many bytes, then close.
        "sized" => Sized {
            /// Bytes.
            bytes: u64,
        },
        /// Messages at intervals: Poisson with an exponential gap, constant rate with a constant one.
        "messages" => Messages {
            /// Bytes of each.
            size: Box<Variate>,
            /// Picoseconds from one to the next.
            gap: Box<Variate>,
        },
    }
}

impl SourceSetup {
    /// Messages of these sizes at these intervals.
    #[must_use]
    pub fn messages(size: Variate, gap: Variate) -> Self {
        Self::Messages { size: Box::new(size), gap: Box::new(gap) }
    }
}

/// A change of the network.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventSetup {
    /// When.
    pub at: Instant,
    /// What.
    pub change: Change,
}

anabranch_units::leaf! {
    /// What changes. A change of a physical link lists both directions; an address is that of the host where its link begins.
    pub enum Change: "change" by "kind" {
        /// Links go down (packets queued and in flight on them are lost) or come up.
        "links" => Links {
            /// Which.
            links: Vec<LinkId>,
            /// Up or down.
            up: bool,
        },
        /// Links lose all that they send, and routing does not hear of it, or no more.
        "silent" => Silent {
            /// Which.
            links: Vec<LinkId>,
        },
        /// A node goes down, with every link at it, or comes up.
        "node" => Node {
            /// Which.
            node: NodeId,
            /// Up or down.
            up: bool,
        },
        /// New capacity; the packet being sent leaves at the old one.
        "capacity" => Capacity {
            /// Which.
            links: Vec<LinkId>,
            /// New value.
            capacity: Rate,
        },
        /// New propagation delay, for packets sent from now on.
        "delay" => Delay {
            /// Which.
            links: Vec<LinkId>,
            /// New value.
            delay: Span,
        },
        /// New loss model.
        "loss" => Loss {
            /// Which.
            links: Vec<LinkId>,
            /// New value.
            loss: LossSetup,
        },
        /// New queue; what waits moves into it, in the order of arrival.
        "queue" => Queue {
            /// Which.
            links: Vec<LinkId>,
            /// New value.
            queue: QueueSetup,
        },
        /// A host has an address no more, or again. The link itself goes on.
        "address" => Address {
            /// The link by which packets leave the host from this address.
            link: LinkId,
            /// Whether the host has it.
            up: bool,
        },
        /// Subflows of an address of a host become backups, or regular ones again (RFC 8684 section 3.3.8).
        "backup" => Backup {
            /// The link by which packets leave the host from this address.
            link: LinkId,
            /// Whether they are backups.
            backup: bool,
        },
    }
}

/// How routes are chosen and packets spread over them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingSetup {
    /// The scheme that computes the plan at the start and after a failure; `None` for a plan made
    /// elsewhere, whose dead paths are left out after a failure.
    pub scheme: Option<Scheme>,
    /// In the same way, the schemes of flows that have routes of their own.
    pub others: Vec<Option<Scheme>>,
    /// How packets are spread over a plan's routes.
    pub load_balancing: LoadBalancing,
    /// Time from a change of link state until new routes are in force; `None`: routes stay.
    pub reaction: Option<Span>,
}

impl RoutingSetup {
    /// All schemes; flows name them by their places.
    pub fn schemes(&self) -> impl Iterator<Item = Option<&Scheme>> {
        std::iter::once(self.scheme.as_ref()).chain(self.others.iter().map(Option::as_ref))
    }
}

/// What is sampled over time.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeSetup {
    /// Sampling interval of the series; `None` for no series.
    pub interval: Option<Span>,
    /// Sample each flow.
    pub flows: bool,
    /// Sample each link.
    pub links: bool,
    /// Flows of which every segment sent and every acknowledgment received is noted.
    pub sequences: Vec<FlowId>,
    /// Flows whose senders keep an event log.
    pub log: Vec<FlowId>,
}

/// Packets written to a pcapng file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureSetup {
    /// File to write.
    pub file: String,
    /// Where packets are seen.
    pub at: CapturePoint,
    /// Bytes kept of each packet; 0 for all.
    pub snap_length: u32,
}

anabranch_units::leaf! {
    /// Where packets are seen.
    #[derive(Copy, Eq)]
    pub enum CapturePoint: "capture_point" {
        /// Packets as their transmission on a link begins.
        "link" => Link {
            /// Which.
            link: LinkId,
        },
        /// Packets that a host sends or receives.
        "host" => Host {
            /// Which.
            host: NodeId,
        },
    }
}
