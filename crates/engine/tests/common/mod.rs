//! Setups that tests and benches share.
#![allow(dead_code, reason = "each test uses its own part")]

use anabranch_engine::balancer::{FlowParameters, HashParameters};
use anabranch_engine::queues::threshold::ThresholdParameters;
use anabranch_engine::records::Table;
use anabranch_engine::routing::{AdditiveMetric, Metric, PathShares, Scheme};
use anabranch_engine::routing::{DisjointScheme, EcmpScheme, SemperScheme, ShortestScheme};
use anabranch_engine::setup::*;
use anabranch_engine::transport::{MptcpConfig, PathManagerConfig, TcpConfig, TransportConfig, preset};
use anabranch_engine::{Outcome, Simulation};
use anabranch_network::Node;
use anabranch_routing::Plan;
use anabranch_units::{Instant, NodeId, Rate, Span};
use std::ops::ControlFlow;

/// A setup that grows node by node and link by link.
pub struct Builder {
    pub setup: Setup,
    kinds: LinkKinds,
}

/// Drop-tail with room for so many packets.
pub fn packets(limit: u64) -> QueueSetup {
    queue("fifo", limit)
}

/// A discipline with its defaults and room for so many packets.
pub fn queue(discipline: &str, limit: u64) -> QueueSetup {
    let discipline = Discipline::named(discipline).expect("a queue discipline");
    QueueSetup { limit: Limit { packets: Some(limit), bytes: None }, discipline }
}

/// Drop-tail with room for so many packets, and marks from a threshold on.
pub fn marking(limit: u64, mark_at: u64) -> QueueSetup {
    QueueSetup { discipline: Discipline::Threshold(ThresholdParameters { mark_at }), ..packets(limit) }
}

pub fn mbps(value: u64) -> Rate {
    Rate::from_bps(value * 1_000_000)
}

pub fn at(seconds: f64) -> Instant {
    Instant::ZERO + Span::from_secs_f64(seconds)
}

impl Builder {
    /// Goes on with a setup that was made elsewhere.
    pub fn of(setup: Setup) -> Self {
        Self { setup, kinds: LinkKinds::default() }
    }

    pub fn new(duration: Span) -> Self {
        Self::of(Setup {
            seed: 1,
            replication: 0,
            duration,
            until: RunEnd::Duration,
            nodes: Vec::new().into(),
            links: Vec::new(),
            hosts: Vec::new(),
            routers: Vec::new(),
            transports: Vec::new(),
            flows: Vec::new(),
            datagrams: Vec::new(),
            events: Vec::new(),
            routing: RoutingSetup {
                scheme: Some(Scheme::Shortest(ShortestScheme { metric: Metric::Hops, limits: None })),
                others: Vec::new(),
                load_balancing: LoadBalancing::Flow(FlowParameters {}),
                reaction: None,
            },
            probes: ProbeSetup::default(),
            captures: Vec::new(),
            controller: None,
            waits: Vec::new(),
            collectives: Vec::new(),
        })
    }

    pub fn node(&mut self, name: &str) -> NodeId {
        self.setup.nodes.push(Node { name: name.into(), place: None });
        NodeId::from_index(self.setup.nodes.len() - 1)
    }

    /// A link each way; returns the index of the first.
    pub fn link(&mut self, a: NodeId, b: NodeId, capacity: Rate, delay: Span, queue: u64) -> usize {
        let first = self.setup.links.len();
        for (from, to) in [(a, b), (b, a)] {
            let name = format!("{}->{}", self.name(from), self.name(to));
            let mut link = LinkSetup::plain((from, to), name, capacity, delay, packets(queue));
            self.kinds.share(&mut link);
            self.setup.links.push(link);
        }
        first
    }

    fn name(&self, node: NodeId) -> &str {
        &self.setup.nodes[node.index()].name
    }

    pub fn transport(&mut self, name: &str) -> usize {
        self.protocol(name, preset(name).expect("a preset"))
    }

    pub fn tcp(&mut self, name: &str, tcp: TcpConfig) -> usize {
        self.protocol(name, TransportConfig::Tcp(tcp))
    }

    pub fn protocol(&mut self, name: &str, config: TransportConfig) -> usize {
        self.setup.transports.push(TransportSetup { name: name.into(), config });
        self.setup.transports.len() - 1
    }

    pub fn flow(&mut self, from: NodeId, to: NodeId, transport: usize, source: SourceSetup, start: Instant) {
        let name = format!("flow {}", self.setup.flows.len());
        self.setup.flows.push(FlowSetup {
            name,
            from,
            to,
            transport,
            routing: 0,
            source,
            start,
            stop: None,
            reads: None,
        });
    }

    /// Pings or UDP from the start of the run.
    pub fn datagrams(&mut self, from: NodeId, to: NodeId, source: DatagramSource, packet_bytes: u32) {
        let name = format!("datagrams {}", self.setup.datagrams.len());
        let start = Instant::ZERO;
        let flow = DatagramSetup { name, from, to, source, routing: 0, packet_bytes, start, stop: None };
        self.setup.datagrams.push(flow);
    }

    pub fn run(self) -> Outcome {
        run(self.setup)
    }
}

pub fn plan(setup: &Setup) -> Plan {
    let network = setup.network().expect("a valid network");
    let mask = setup.data_mask(&network);
    let mut plans = setup
        .routing
        .schemes()
        .enumerate()
        .map(|(place, scheme)| scheme.expect("a scheme").plan(&network, &mask, &setup.pairs_of(place)));
    let first = plans.next().expect("the first scheme is always there");
    Plan { others: plans.collect(), ..first }
}

pub fn run(setup: Setup) -> Outcome {
    let plan = plan(&setup);
    run_plan(setup, plan)
}

pub fn run_plan(setup: Setup, plan: Plan) -> Outcome {
    Simulation::run_whole(setup, plan, |_| ControlFlow::Continue(())).expect("a run of a valid setup")
}

pub fn table<'o>(outcome: &'o Outcome, name: &str) -> &'o Table {
    outcome.tables.iter().find(|table| table.name == name).expect("a table of that name")
}

/// Flows from left to right hosts over one bottleneck.
pub struct Dumbbell<'t> {
    pub flows: usize,
    pub transport: &'t str,
    pub bottleneck: Rate,
    pub delay: Span,
    pub queue: u64,
    pub duration: Span,
}

impl Dumbbell<'_> {
    pub fn build(&self) -> Builder {
        let mut b = Builder::new(self.duration);
        let (left, right) = (b.node("router left"), b.node("router right"));
        b.link(left, right, self.bottleneck, self.delay, self.queue);
        let transport = b.transport(self.transport);
        let access = Rate::from_bps(self.bottleneck.as_bps() * 10);
        for i in 0..self.flows {
            let from = b.node(&format!("left {i}"));
            let to = b.node(&format!("right {i}"));
            b.link(from, left, access, Span::from_us(10), 10_000);
            b.link(right, to, access, Span::from_us(10), 10_000);
            // Starts spread over 100 ms, so that flows do not march in step.
            let start = Instant::ZERO + Span::from_us(100_000 * i as u64 / self.flows as u64);
            b.flow(from, to, transport, SourceSetup::Unlimited {}, start);
        }
        b
    }
}

/// Spines, leaves and hosts; host i sends to host i + hosts_per_leaf around the ring.
pub fn leaf_spine(spines: usize, leaves: usize, hosts: usize, duration: Span) -> Builder {
    let mut b = Builder::new(duration);
    let ten = Rate::from_bps(10_000_000_000);
    let spine: Vec<NodeId> = (0..spines).map(|i| b.node(&format!("spine {i}"))).collect();
    let leaf: Vec<NodeId> = (0..leaves).map(|i| b.node(&format!("leaf {i}"))).collect();
    for &l in &leaf {
        for &s in &spine {
            b.link(l, s, ten, Span::from_us(1), 200);
        }
    }
    let mut all = Vec::new();
    for (i, &l) in leaf.iter().enumerate() {
        for j in 0..hosts {
            let host = b.node(&format!("host {i}.{j}"));
            b.link(host, l, ten, Span::from_us(1), 200);
            all.push(host);
        }
    }
    let cubic = b.transport("cubic");
    for (i, &from) in all.iter().enumerate() {
        let to = all[(i + hosts) % all.len()];
        b.flow(from, to, cubic, SourceSetup::Unlimited {}, Instant::ZERO);
    }
    b.setup.routing.scheme = Some(Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Hops }));
    b
}

/// One measurement of a table.
pub fn number(outcome: &Outcome, name: &str, column: &str, row: usize) -> f64 {
    table(outcome, name).number(column).expect("a column of measurements")[row]
}

/// One count of a table.
pub fn integer(outcome: &Outcome, name: &str, column: &str, row: usize) -> u64 {
    table(outcome, name).integer(column).expect("a column of counts")[row]
}

/// Whole picoseconds of a span given in seconds: a double holds them exactly up to 2^53 ps, 2.5 hours.
pub fn picoseconds(seconds: f64) -> u64 {
    (seconds * 1e12).round() as u64
}

/// Two hosts and a link each way between them.
pub fn two_hosts(capacity: Rate, delay: Span, queue: u64, duration: Span) -> Builder {
    let mut b = Builder::new(duration);
    let (from, to) = (b.node("a"), b.node("b"));
    b.link(from, to, capacity, delay, queue);
    b
}

/// Two hosts joined by `delays_ms.len()` paths over one switch each; path i takes `delays_ms[i]` one way and
/// has its bottleneck, links 4i and 4i + 1 (there and back), at the first hop.
pub fn parallel_paths(capacity: Rate, delays_ms: &[u64], queue: u64, duration: Span) -> Builder {
    let mut b = Builder::new(duration);
    let (from, to) = (b.node("a"), b.node("b"));
    for (i, &ms) in delays_ms.iter().enumerate() {
        let middle = b.node(&format!("m{i}"));
        b.link(from, middle, capacity, Span::from_ms(ms) / 2, queue);
        b.link(middle, to, capacity, Span::from_ms(ms) / 2, queue);
    }
    b
}

/// Means of a column of a series over the rows of one flow or link with `from_s < time_s <= to_s`.
pub fn series_mean(outcome: &Outcome, of: (&str, &str), id: u64, column: &str, span_s: (f64, f64)) -> f64 {
    let series = table(outcome, of.0);
    let (times, ids) = (series.number("time_s").expect("times"), series.integer(of.1).expect("ids"));
    let value = |row: usize| match series.number(column) {
        Some(values) => values[row],
        None => series.integer(column).expect("a column of that name")[row] as f64,
    };
    let wanted = |row: &usize| ids[*row] == id && times[*row] > span_s.0 && times[*row] <= span_s.1;
    let values: Vec<f64> = (0..times.len()).filter(wanted).map(value).collect();
    assert!(!values.is_empty(), "no {column} of {id} in {span_s:?}");
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean goodput of a flow in Mbps between two times.
pub fn goodput_between(outcome: &Outcome, flow: u64, span_s: (f64, f64)) -> f64 {
    series_mean(outcome, ("flow_series", "flow"), flow, "goodput_mbps", span_s)
}

/// Samples flows and links at this interval.
pub fn sample(setup: &mut Setup, interval: Span) {
    let probes = std::mem::take(&mut setup.probes);
    setup.probes = ProbeSetup { interval: Some(interval), flows: true, links: true, ..probes };
}

/// Link-disjoint paths of least hops.
pub fn disjoint(k: u32) -> Scheme {
    Scheme::Disjoint(DisjointScheme { k: Some(k), metric: AdditiveMetric::Hops })
}

/// A controller with links of its own and tables without bounds, which removes entries 10 ms after a FIN.
pub fn controller(node: NodeId, switches: &[NodeId], application: ApplicationSetup) -> ControllerSetup {
    ControllerSetup {
        node,
        switches: switches.to_vec(),
        channel: Channel::Apart,
        application,
        metric: Metric::Delay,
        flow_metrics: Vec::new(),
        table: FlowTableSetup {
            size: None,
            when_full: WhenFull::Refuse,
            idle_timeout: None,
            hard_timeout: None,
        },
        linger: Span::from_ms(10),
        processing_delay: None,
        statistics_interval: None,
    }
}

/// Most packets that waited at once at a link that is no control link.
pub fn longest_data_queue(outcome: &Outcome) -> u64 {
    let links = table(outcome, "links");
    let (from, to) = (links.text("from").unwrap(), links.text("to").unwrap());
    let queue = links.integer("queue_max_packets").unwrap();
    let data = (0..queue.len()).filter(|&row| &from[row] != "controller" && &to[row] != "controller");
    data.map(|row| queue[row]).max().unwrap()
}

/// The preset `mptcp`, changed.
pub fn mptcp(change: impl FnOnce(&mut MptcpConfig)) -> TransportConfig {
    let Some(TransportConfig::Mptcp(mut config)) = preset("mptcp") else { panic!("the preset mptcp") };
    change(&mut config);
    TransportConfig::Mptcp(config)
}

/// The same with so many subflows between the same two addresses.
pub fn ndiffports(subflows: u16) -> TransportConfig {
    mptcp(|config| {
        config.path_manager =
            PathManagerConfig::Ndiffports(anabranch_engine::transport::mptcp::NdiffportsParameters {
                subflows,
                by_interfaces: false,
            })
    })
}

/// The thesis' topology (Garcia-Aviles 2017, section V): clients at a router, `paths` between it and another one,
/// a server for each client there. Path i has links 4i and 4i + 2 there, 4i + 1 and 4i + 3 back.
pub struct Thesis {
    pub paths: usize,
    pub clients: usize,
    pub transport: TransportConfig,
    pub capacity: Rate,
    pub duration: Span,
}

impl Thesis {
    pub fn build(self) -> Builder {
        let mut b = Builder::new(self.duration);
        let (left, right) = (b.node("left"), b.node("right"));
        for path in 0..self.paths {
            let middle = b.node(&format!("middle {path}"));
            b.link(left, middle, self.capacity, Span::from_ms(2), 100);
            b.link(middle, right, self.capacity, Span::from_ms(3), 100);
        }
        let transport = b.protocol("mptcp", self.transport);
        for number in 0..self.clients {
            let client = b.node(&format!("client {number}"));
            let server = b.node(&format!("server {number}"));
            b.link(client, left, mbps(1000), Span::from_us(10), 1000);
            b.link(right, server, mbps(1000), Span::from_us(10), 1000);
            b.flow(client, server, transport, SourceSetup::Unlimited {}, Instant::ZERO);
        }
        b.setup.routing.load_balancing = LoadBalancing::Hash(HashParameters {});
        b.setup.routing.scheme = Some(Scheme::Semper(SemperScheme {
            k: None,
            metric: AdditiveMetric::Hops,
            shares: PathShares::Equal,
        }));
        b
    }
}
