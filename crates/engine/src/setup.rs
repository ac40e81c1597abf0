//! A run as plain data: every name resolved, every number an integer in base units
//! (picoseconds, bits per second, bytes). It crosses from Python once, as JSON.

use anabranch_network::Node;
use anabranch_routing::{EstimatorSetup, Metric, Scheme};
use anabranch_transport::TransportConfig;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Rate, Span};
use serde::{Deserialize, Serialize};

/// Everything the engine needs besides the plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Seed of every random stream.
    pub seed: u64,
    /// Replication: same scenario, other independent streams.
    pub replication: u64,
    /// Simulated time, from zero.
    pub duration: Span,
    /// Nodes; a node id is an index into this list.
    pub nodes: Vec<Node>,
    /// Directed links; a link id is an index into this list.
    pub links: Vec<LinkSetup>,
    /// Transports that flows point at by index.
    pub transports: Vec<TransportSetup>,
    /// Flows, in the order of their ids.
    pub flows: Vec<FlowSetup>,
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
}

/// A directed link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSetup {
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// Unique name, such as `Denver->Kansas City` or `a->b#2`; random streams hang on it.
    pub name: String,
    /// Rate of serialisation.
    pub capacity: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Added to the delay of each packet, in picoseconds; packets stay in order.
    pub jitter: Option<Variate>,
    /// Random loss.
    pub loss: LossSetup,
    /// The queue in front of the link.
    pub queue: QueueSetup,
}

/// Random loss of a link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSetup {
    /// No random loss.
    None {},
    /// Each packet independently.
    Bernoulli {
        /// Probability, 0..1.
        probability: f64,
    },
    /// Two states with a loss each (Gilbert 1960, Elliott 1963); the state moves once a packet.
    GilbertElliott {
        /// Probability of going from good to bad at a packet.
        to_bad: f64,
        /// Probability of going from bad to good at a packet.
        to_good: f64,
        /// Loss in the good state.
        loss_good: f64,
        /// Loss in the bad state.
        loss_bad: f64,
    },
}

/// The queue in front of a link: waiting packets, not the one being sent.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSetup {
    /// Most packets that wait; `None` for no such bound.
    pub limit_packets: Option<u64>,
    /// Most bytes that wait; `None` for no such bound.
    pub limit_bytes: Option<u64>,
    /// An ECN-capable packet that finds this many packets waiting is marked.
    pub mark_at_packets: Option<u64>,
    /// Controlled delay (RFC 8289); `None` for plain drop-tail.
    pub codel: Option<CodelSetup>,
}

/// Parameters of CoDel (RFC 8289).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelSetup {
    /// Acceptable standing delay (5 ms in the RFC).
    pub target: Span,
    /// Time it may be exceeded (100 ms in the RFC).
    pub interval: Span,
    /// Mark ECN-capable packets in place of dropping them.
    pub ecn: bool,
}

/// A random variate over non-negative numbers in base units (picoseconds or bytes); negative draws
/// of the Gaussian count as zero.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Variate {
    /// Always the same.
    Constant {
        /// The value.
        value: f64,
    },
    /// Uniform.
    Uniform {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Normal.
    Gaussian {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        standard_deviation: f64,
    },
    /// Log-normal, given by the mean and deviation of the variate itself.
    LogNormal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        standard_deviation: f64,
    },
    /// Pareto type I.
    Pareto {
        /// Smallest value.
        scale: f64,
        /// Tail index; the mean is infinite at 1 and below.
        shape: f64,
    },
    /// One of given values, each as likely as its weight says.
    Empirical {
        /// Values.
        values: Vec<f64>,
        /// Weights, as many; empty for equal ones.
        weights: Vec<f64>,
    },
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
    /// What the application sends.
    pub source: SourceSetup,
    /// When the connection opens.
    pub start: Instant,
    /// When the application stops writing and closes; `None` for never.
    pub stop: Option<Instant>,
}

/// What an application sends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceSetup {
    /// As much as TCP takes.
    Unlimited {},
    /// This many bytes, then close.
    Sized {
        /// Bytes.
        bytes: u64,
    },
    /// Messages at intervals: Poisson with an exponential gap, constant rate with a constant one.
    Messages {
        /// Bytes of each.
        size: Variate,
        /// Picoseconds from one to the next.
        gap: Variate,
    },
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

/// What changes. A change of a physical link lists both directions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Change {
    /// Links go down (packets queued and in flight on them are lost) or come up.
    Links {
        /// Which.
        links: Vec<LinkId>,
        /// Up or down.
        up: bool,
    },
    /// A node goes down, with every link at it, or comes up.
    Node {
        /// Which.
        node: NodeId,
        /// Up or down.
        up: bool,
    },
    /// New capacity; the packet being sent leaves at the old one.
    Capacity {
        /// Which.
        links: Vec<LinkId>,
        /// New value.
        capacity: Rate,
    },
    /// New propagation delay, for packets sent from now on.
    Delay {
        /// Which.
        links: Vec<LinkId>,
        /// New value.
        delay: Span,
    },
    /// New loss model.
    Loss {
        /// Which.
        links: Vec<LinkId>,
        /// New value.
        loss: LossSetup,
    },
}

/// How routes are chosen and packets spread over them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingSetup {
    /// The scheme that computes the plan at the start and after a failure; `None` for a plan made
    /// elsewhere, whose dead paths are left out after a failure.
    pub scheme: Option<Scheme>,
    /// How packets are spread over a plan's routes.
    pub spread: Spread,
    /// Time from a change of link state until new routes are in force; `None`: routes stay.
    pub reaction: Option<Span>,
}

/// How packets are spread over several routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Spread {
    /// By a hash of the 5-tuple: a flow keeps its route. Each direction is hashed for itself.
    Flow {},
    /// By flowlet: a flow may change its route after a pause.
    Flowlet {
        /// Length of the pause.
        gap: Span,
    },
    /// Packet by packet, at random by weight.
    Packet {},
    /// Packet by packet, in smooth weighted round-robin.
    PacketRoundRobin {},
    /// By a hash of the 4-tuple modulo the number of routes, whatever their weights (Garcia-Aviles 2017,
    /// SEMPER). Like the next ones it sends both directions of a subflow over the same path, where the
    /// paths of both are the same.
    Hash {},
    /// By a hash of the 4-tuple, by weight.
    WeightedHash {},
    /// By weighted rendezvous hashing of the 4-tuple: a path's failure or return moves only the subflows of
    /// that path.
    ResilientHash {},
    /// The first subflow of a host by a hash, the next ones over the routes in turn, with an entry for each
    /// (Garcia-Aviles 2017, the stateful benchmark).
    SubflowRoundRobin {
        /// An entry that no packet has matched for longer is forgotten; `None`: never.
        idle_timeout: Option<Span>,
    },
}

impl Spread {
    /// Whether it sends both directions of a subflow over the same path.
    #[must_use]
    pub const fn is_symmetric(self) -> bool {
        match self {
            Self::Flow {} | Self::Flowlet { .. } | Self::Packet {} | Self::PacketRoundRobin {} => false,
            Self::Hash {}
            | Self::WeightedHash {}
            | Self::ResilientHash {}
            | Self::SubflowRoundRobin { .. } => true,
        }
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

/// Where packets are seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapturePoint {
    /// Packets as their transmission on this link begins.
    Link(LinkId),
    /// Packets that this host sends or receives.
    Host(NodeId),
}

/// An SDN controller: switches that it governs, how it reaches them, and what it does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerSetup {
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
    /// Interval at which the controller asks all switches for the counters of their links; `None`: never.
    pub statistics_interval: Option<Span>,
}

/// Where control messages travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// Over a link of its own between each switch and the controller, which carries nothing else.
    Apart,
    /// Over the links of the network, on the way of least delay, beside the data.
    InBand,
}

/// Flow tables of the switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowTableSetup {
    /// Most entries; `None` for no bound.
    pub size: Option<u64>,
    /// What a switch does with a new entry when its table is full.
    pub when_full: WhenFull,
    /// An entry that nothing has matched for so long is removed (OpenFlow 1.3 section 5.5); `None`: never.
    pub idle_timeout: Option<Span>,
    /// An entry is removed so long after it was made (OpenFlow 1.3 section 5.5); `None`: never.
    pub hard_timeout: Option<Span>,
}

/// What a switch does with a new entry when its table is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It refuses the entry and says so (OpenFlow 1.3 section 6.4, "table full").
    Refuse,
    /// It removes the entry that has been idle longest (OpenFlow 1.4 section 5.5, eviction).
    Evict,
}

/// An application of the controller by name, with its parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ApplicationSetup {
    /// Entries for each new flow along the best path by the metric.
    Forwarding {},
    /// The same, and the senders are paced (Gholizadeh 2019, chapter 4).
    SdnPaced {
        /// Share of the bottleneck that may be used, 0..=1 ("alpha").
        alpha: f64,
        /// Overestimation of the handshake's delay, at least 1 ("beta").
        beta: f64,
        /// Overestimation of the round-trip time, at least 1 ("gamma").
        gamma: f64,
        /// Which schedule.
        schedule: PacedSchedule,
    },
    /// The same, and the advertised window of each flow is kept to its share of the bandwidth-delay product
    /// (Hwang et al., SCCP; Lu et al., SDTCP).
    WindowClamp {
        /// Share of the bandwidth-delay product that all flows of a link get together.
        share: f64,
    },
    /// Entries along the path of most predicted TCP throughput over links that are measured, to which open
    /// flows move (Vilela 2022). The metric of the setup gives the initial paths.
    Tcpbp(TcpbpSetup),
}

/// How TCPBP measures links and moves flows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpbpSetup {
    /// What makes estimates of samples, of losses and of measured delays.
    pub estimator: EstimatorSetup,
    /// Where delays come from.
    pub delay: DelaySource,
    /// Packets sent over a link that make a sample of its loss; with fewer the sample goes on.
    pub sample_packets: u64,
    /// Step of estimates of loss; zero for none.
    pub loss_granularity: f64,
    /// Step of delays; zero for none.
    pub delay_granularity: Span,
    /// How the best path is looked for.
    pub search: TcpbpSearch,
    /// A flow moves where the best path's f is below (1 - threshold) times that of its own, 0..1.
    pub threshold: f64,
    /// A flow that has moved stays at least so long, unless its path breaks.
    pub hold_time: Span,
    /// Flows that are there to be measured: each keeps to the link between its ends, if there is one.
    pub measuring: Vec<FlowId>,
}

/// Where TCPBP takes the delays of links from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelaySource {
    /// Time stamps of probes: propagation, transmission and queue.
    Measured,
    /// Propagation as configured.
    Configured,
}

/// How TCPBP looks for the path of least f.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpbpSearch {
    /// The modified Dijkstra (Vilela 2022, algorithm 1), which can miss it.
    Published,
    /// Over all paths that none other beats in both delay and loss.
    Exact,
}

/// How the paced application spreads senders over an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacedSchedule {
    /// As published: an interval for each access switch, parts of equal length, at least one segment each.
    Published,
    /// Over all flows that share a link, with intervals as long as it takes to give each its own part.
    Stretched,
}
