//! Networks under the controller application tcpbp, and what its tables say.
#![allow(dead_code, reason = "each test uses its own part")]

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::routing::Metric;
use anabranch_engine::routing::MovingAverageParameters;
use anabranch_engine::routing::Search;
use anabranch_engine::setup::*;
use anabranch_routing::EstimatorSetup;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};

/// Delays as configured and fine steps of loss, so that expectations follow from losses alone.
pub const TCPBP: TcpbpSetup = TcpbpSetup {
    estimator: EstimatorSetup::Sma(MovingAverageParameters { window: 3 }),
    delay: DelaySource::Configured,
    sample_packets: 100,
    loss_granularity: 1e-4,
    delay_granularity: Span::from_us(100),
    search: Search::Published,
    threshold: 0.0,
    hold_time: Span::ZERO,
    measuring: Vec::new(),
};

/// A controller of all nodes so far, with a link of its own to each.
pub fn control(b: &mut Builder, application: ApplicationSetup, delay: Span) {
    let switches: Vec<NodeId> = (0..b.setup.nodes.len()).map(NodeId::from_index).collect();
    let node = b.node("controller");
    for (n, &switch) in switches.iter().enumerate() {
        // Requests reach the switches at different times.
        b.link(node, switch, mbps(100), delay * (n as u64 + 1), 10_000);
    }
    b.setup.controller = Some(ControllerSetup {
        node,
        switches,
        channel: Channel::Apart,
        application,
        metric: Metric::Hops,
        flow_metrics: Vec::new(),
        table: FlowTableSetup {
            size: None,
            when_full: WhenFull::Refuse,
            idle_timeout: None,
            hard_timeout: None,
        },
        linger: Span::ZERO,
        processing_delay: None,
        statistics_interval: Some(Span::from_secs(1)),
    });
}

pub fn every(b: &mut Builder, seconds: u64) {
    b.setup.controller.as_mut().expect("a controller").statistics_interval = Some(Span::from_secs(seconds));
}

/// From a to b over m in two hops, and over n1 and n2 in three; 5 ms each.
pub fn two_routes_without_flows(seconds: u64) -> Builder {
    let mut b = Builder::new(Span::from_secs(seconds));
    let [from, to, m, n1, n2] = ["a", "b", "m", "n1", "n2"].map(|name| b.node(name));
    for (x, y) in [(from, m), (m, to), (from, n1), (n1, n2), (n2, to)] {
        b.link(x, y, mbps(50), Span::from_ms(5), 100);
    }
    b
}

/// The second hop of each route, towards b.
pub const SHORT: u64 = 2;
pub const LONG: u64 = 6;

/// The two routes with a flow from a to b; the losses are those of [`SHORT`] and [`LONG`].
pub fn two_routes(tcpbp: TcpbpSetup, losses: [f64; 2], seconds: u64) -> Builder {
    let mut b = two_routes_without_flows(seconds);
    for (link, probability) in [SHORT, LONG].into_iter().zip(losses) {
        *b.setup.links[link as usize].loss = LossSetup::Bernoulli(Bernoulli { probability });
    }
    control(&mut b, ApplicationSetup::Tcpbp(tcpbp), Span::from_ms(1));
    let cubic = b.transport("cubic");
    b.flow(NodeId(0), NodeId(1), cubic, SourceSetup::Unlimited {}, at(0.1));
    sample(&mut b.setup, Span::from_ms(500));
    b
}

/// Segments of 1460 bytes at `mbps` in a Poisson process.
pub fn messages(mbps: f64) -> SourceSetup {
    let mean = 1460.0 * 8.0 / (mbps * 1e6) * 1e12;
    SourceSetup::messages(Variate::Constant { value: 1460.0 }, Variate::Exponential { mean })
}

/// Flows at `mbps` over every link between switches, both ways, that keep to it.
pub fn measure_all(b: &mut Builder, mbps: f64) {
    let newreno = b.transport("newreno");
    let controller = b.setup.controller.as_ref().expect("a controller").node;
    let ends = b.setup.links.iter().map(|link| (link.from, link.to));
    let pairs: Vec<_> = ends.filter(|&(from, to)| from != controller && to != controller).collect();
    for (from, to) in pairs {
        let flow = FlowId::from_index(b.setup.flows.len());
        b.flow(from, to, newreno, messages(mbps), Instant::ZERO);
        let application = &mut b.setup.controller.as_mut().expect("a controller").application;
        let ApplicationSetup::Tcpbp(tcpbp) = application else { panic!("another application") };
        tcpbp.measuring.push(flow);
    }
}

pub fn change(b: &mut Builder, seconds: f64, change: Change) {
    b.setup.events.push(EventSetup { at: at(seconds), change });
}

pub fn lose(links: &[u64], probability: f64) -> Change {
    let links = links.iter().map(|&link| LinkId(link as u32)).collect();
    Change::Loss { links, loss: LossSetup::Bernoulli(Bernoulli { probability }) }
}

/// When a flow's data moved, and to which path; moves of its ACKs alone are left out.
pub fn moves_of(outcome: &Outcome, flow: u64, first: &str) -> Vec<(f64, String)> {
    let changes = table(outcome, "route_changes");
    let (times, flows) = (changes.number("time_s").unwrap(), changes.integer("flow").unwrap());
    let paths = changes.text("data_path").unwrap();
    let mut moves: Vec<(f64, String)> = Vec::new();
    let mut last = first;
    for row in (0..times.len()).filter(|&row| flows[row] == flow) {
        if &paths[row] != last {
            moves.push((times[row], paths[row].to_owned()));
            last = &paths[row];
        }
    }
    moves
}

/// Those of flow 0, which begins on the short route.
pub fn moves(outcome: &Outcome) -> Vec<(f64, String)> {
    moves_of(outcome, 0, "a > m > b")
}

/// What `link_estimates` says of one link at one time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    pub at: f64,
    pub loss: f64,
    pub delay_ms: f64,
    pub packets: u64,
    pub lost: u64,
}

/// The rows of a link, in order of time.
pub fn rows(outcome: &Outcome, link: u64) -> Vec<Estimate> {
    let all = table(outcome, "link_estimates");
    let links = all.integer("link").unwrap();
    let (number, integer) = (|name| all.number(name).unwrap(), |name| all.integer(name).unwrap());
    let row = |n: usize| Estimate {
        at: number("time_s")[n],
        loss: number("loss")[n],
        delay_ms: number("delay_ms")[n],
        packets: integer("packets")[n],
        lost: integer("lost")[n],
    };
    (0..links.len()).filter(|&n| links[n] == link).map(row).collect()
}

/// The estimates of a link's loss, from the first on.
pub fn estimates(outcome: &Outcome, link: u64) -> Vec<f64> {
    rows(outcome, link).into_iter().map(|row| row.loss).filter(|loss| !loss.is_nan()).collect()
}

/// The last paths of a flow's data and ACKs.
pub fn routes(outcome: &Outcome, flow: u64) -> (String, String) {
    let all = table(outcome, "flow_routes");
    let row = all.integer("flow").unwrap().iter().position(|&id| id == flow).expect("a row of the flow");
    let text = |name| all.text(name).unwrap()[row].to_owned();
    (text("data_path"), text("ack_path"))
}
