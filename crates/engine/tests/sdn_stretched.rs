//! The stretched schedule: any number of flows, any topology, loss.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::control::applications::PacedParameters;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::setup::*;
use anabranch_units::{Instant, NodeId, Rate, Span};

const TEN_GBPS: Rate = Rate::from_bps(10_000_000_000);
const FIVE_US: Span = Span::from_us(5);

fn paced() -> ApplicationSetup {
    ApplicationSetup::SdnPaced(PacedParameters {
        alpha: 1.0,
        beta: 1.0,
        gamma: 1.0,
        schedule: PacedSchedule::Stretched,
    })
}

/// Switches in a row, and a controller with a link of its own to each.
fn chain(switches: usize, duration: Span) -> (Builder, Vec<NodeId>) {
    let mut b = Builder::new(duration);
    let nodes: Vec<NodeId> = (0..switches).map(|n| b.node(&format!("Sw{n}"))).collect();
    for pair in nodes.windows(2) {
        b.link(pair[0], pair[1], TEN_GBPS, FIVE_US, 1000);
    }
    let c0 = b.node("controller");
    for &switch in &nodes {
        b.link(c0, switch, TEN_GBPS, FIVE_US, 100_000);
    }
    b.setup.controller = Some(controller(c0, &nodes, paced()));
    b.transport("sdn-paced");
    (b, nodes)
}

fn host(b: &mut Builder, name: &str, switch: NodeId, delay: Span) -> NodeId {
    let node = b.node(name);
    b.link(node, switch, TEN_GBPS, delay, 1000);
    node
}

fn incast(flows: usize, bytes: u64, duration: Span) -> Builder {
    let (mut b, switches) = chain(3, duration);
    let to = host(&mut b, "R", switches[2], FIVE_US);
    for n in 0..flows {
        let from = host(&mut b, &format!("S{n}"), switches[0], FIVE_US);
        b.flow(from, to, 0, SourceSetup::Sized { bytes }, Instant::ZERO);
    }
    b
}

fn assert_all_delivered(outcome: &Outcome, bytes: u64) {
    let flows = table(outcome, "flows");
    let delivered = flows.integer("delivered_bytes").unwrap();
    assert!(!delivered.is_empty());
    assert!(delivered.iter().all(|&got| got == bytes), "{delivered:?}");
    assert!(flows.number("completion_s").unwrap().iter().all(|time| time.is_finite()));
}

fn drops(outcome: &Outcome) -> u64 {
    let links = table(outcome, "links");
    ["drops_queue", "drops_random"].iter().flat_map(|name| links.integer(name).unwrap()).sum()
}

/// The breaking point of the published schedule is 54 flows here.
#[test]
fn queues_stay_empty_with_200_flows_at_once() {
    let outcome = incast(200, 200_000, Span::from_ms(200)).run();
    assert_all_delivered(&outcome, 200_000);
    assert_eq!(drops(&outcome), 0);
    assert!(longest_data_queue(&outcome) <= 2, "{}", longest_data_queue(&outcome));
    let last = table(&outcome, "flows").number("completion_s").unwrap().iter().copied().fold(0.0, f64::max);
    let ideal = 200.0 * 200_000.0 * 8.0 / 1e10 * 1000.0 / 960.0;
    assert!(last < 1.35 * ideal, "{last} s, and the bottleneck alone takes {ideal} s");
}

#[test]
fn every_byte_arrives_at_one_percent_loss_on_every_link() {
    let mut b = incast(200, 50_000, Span::from_secs(5));
    for link in &mut b.setup.links {
        *link.loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
    }
    let outcome = b.run();
    assert!(drops(&outcome) > 100);
    assert_all_delivered(&outcome, 50_000);
}

/// Senders at three switches of a chain share its last link, at different distances.
#[test]
fn several_access_switches_share_a_bottleneck() {
    let (mut b, switches) = chain(4, Span::from_ms(100));
    let to = host(&mut b, "R", switches[3], FIVE_US);
    for n in 0..60 {
        let from = host(&mut b, &format!("S{n}"), switches[n % 3], Span::from_us(1 + n as u64 % 7));
        let start = Instant::ZERO + Span::from_us(n as u64 * 3);
        b.flow(from, to, 0, SourceSetup::Sized { bytes: 100_000 }, start);
    }
    let outcome = b.run();
    assert_all_delivered(&outcome, 100_000);
    assert_eq!(drops(&outcome), 0);
    assert!(longest_data_queue(&outcome) <= 2, "{}", longest_data_queue(&outcome));
}

/// A parking lot: flows over all links, and others over each one of them.
#[test]
fn several_bottlenecks() {
    let (mut b, switches) = chain(4, Span::from_ms(100));
    let mut count = 0;
    for (first, last) in [(0, 3), (0, 1), (1, 2), (2, 3)] {
        for _ in 0..12 {
            let from = host(&mut b, &format!("S{count}"), switches[first], Span::from_us(count % 5 + 1));
            let to = host(&mut b, &format!("R{count}"), switches[last], FIVE_US);
            b.flow(from, to, 0, SourceSetup::Sized { bytes: 100_000 }, Instant::ZERO);
            count += 1;
        }
    }
    let outcome = b.run();
    assert_all_delivered(&outcome, 100_000);
    assert_eq!(drops(&outcome), 0);
    assert!(longest_data_queue(&outcome) <= 2, "{}", longest_data_queue(&outcome));
}

/// Without a way to the controller no SYN is answered, and the flow says why.
#[test]
fn a_controller_out_of_reach_fails_the_flows() {
    let mut b = incast(2, 10_000, Span::from_secs(200));
    let node = b.setup.controller.as_ref().expect("a controller").node;
    let change = Change::Node { node, up: false };
    b.setup.events.push(EventSetup { at: Instant::ZERO, change });
    let outcome = b.run();
    let flows = table(&outcome, "flows");
    assert!(flows.integer("delivered_bytes").unwrap().iter().all(|&bytes| bytes == 0));
    for reason in flows.text("failure").unwrap().iter() {
        assert_eq!(reason, "the handshake was given up: the controller could not be reached");
    }
}

/// The controller reaches its switches over the data's own links.
#[test]
fn in_band_control() {
    let mut b = Builder::new(Span::from_ms(100));
    let switches: Vec<NodeId> = (0..3).map(|n| b.node(&format!("Sw{n}"))).collect();
    b.link(switches[0], switches[1], TEN_GBPS, FIVE_US, 1000);
    b.link(switches[1], switches[2], TEN_GBPS, FIVE_US, 1000);
    let c0 = b.node("controller");
    b.link(c0, switches[1], TEN_GBPS, FIVE_US, 100_000);
    b.setup.controller =
        Some(ControllerSetup { channel: Channel::InBand, ..controller(c0, &switches, paced()) });
    b.transport("sdn-paced");
    let to = host(&mut b, "R", switches[2], FIVE_US);
    for n in 0..40 {
        let from = host(&mut b, &format!("S{n}"), switches[0], FIVE_US);
        b.flow(from, to, 0, SourceSetup::Sized { bytes: 100_000 }, Instant::ZERO);
    }
    let outcome = b.run();
    assert_all_delivered(&outcome, 100_000);
    assert_eq!(drops(&outcome), 0);
}

/// Each arrival and each end makes a new cycle, of which everyone is told; those that come while a cycle is about
/// to begin share the next one, so that messages do not grow with the square of the flows.
#[test]
fn a_thousand_flows_that_come_one_after_the_other() {
    let flows = 1000;
    let mut b = incast(flows, 20_000, Span::from_ms(400));
    for (n, flow) in b.setup.flows.iter_mut().enumerate() {
        flow.start = Instant::ZERO + Span::from_us(3 * n as u64);
    }
    let outcome = b.run();
    assert_all_delivered(&outcome, 20_000);
    assert_eq!(drops(&outcome), 0);
    assert!(longest_data_queue(&outcome) <= 4, "{}", longest_data_queue(&outcome));
    let messages = table(&outcome, "control_messages");
    let ctrl = messages.text("kind").unwrap().iter().position(|kind| kind == "ctrl").expect("CTRLs");
    let sent = messages.integer("messages").unwrap()[ctrl];
    // A cycle of everyone for each arrival and each end would be N^2.
    assert!(sent < (flows * flows / 4) as u64, "{sent} CTRLs for {flows} flows");
}
