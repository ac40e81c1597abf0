//! Flows that come and go in the parts of a run.

use crate::common::*;
use crate::parallel::{Wan, build, bytes, compare_with, in_turns, wans};
use anabranch_engine::Simulation;
use anabranch_engine::partition::Cut;
use anabranch_engine::setup::{Setup, SourceSetup};
use anabranch_units::{Instant, NodeId, Span};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// So many that the first ones may go before the last ones come.
const FLOWS: usize = 700;

/// A network with short flows, of which nothing keeps those that have ended: no logs, no sequences, no hosts with properties,
/// no other transport than TCP.
fn short_flows(wan: &Wan) -> Setup {
    let setup = build(wan);
    let (nodes, transports) = (setup.nodes.len(), setup.transports.len() - 1);
    let mut b = Builder::of(setup);
    b.setup.flows.clear();
    b.setup.transports.truncate(transports);
    b.setup.hosts.clear();
    (b.setup.probes.log, b.setup.probes.sequences) = (Vec::new(), Vec::new());
    if wan.seed.is_multiple_of(2) {
        b.setup.probes.interval = None;
    }
    for number in 0..FLOWS {
        let draw =
            |salt: usize, below: usize| (number * 7_919 + salt * 104_729 + wan.seed as usize) / 3 % below;
        let from = draw(1, nodes);
        let ends = [from, (from + 1 + draw(2, nodes - 1)) % nodes].map(NodeId::from_index);
        let start = Instant::ZERO + Span::from_us((number * 250_000 / FLOWS) as u64);
        let source = match number % 97 {
            0 => SourceSetup::Unlimited {},
            _ => SourceSetup::Sized { bytes: 500 + 37 * draw(3, 100) as u64 },
        };
        b.flow(ends[0], ends[1], draw(4, transports), source, start);
    }
    for (number, flow) in b.setup.flows.iter_mut().enumerate() {
        flow.routing = number % (1 + b.setup.routing.others.len());
    }
    b.setup
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 40, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn short_flows_are_those_of_one_core_wherever_it_is_cut(wan in wans()) {
        compare_with(short_flows(&wan), wan.parts.clone(), in_turns);
    }
}

/// A ring of four routers, cut into two: half of the flows go from one part to the other.
fn ring() -> (Arc<Setup>, Cut) {
    let mut b = Builder::new(Span::from_secs(2));
    let nodes: Vec<_> = (0..4).map(|index| b.node(&format!("router {index}"))).collect();
    for place in 0..4 {
        b.link(nodes[place], nodes[(place + 1) % 4], mbps(100), Span::from_ms(2), 100);
    }
    let cubic = b.transport("cubic");
    for number in 0..4_000 {
        let (from, to) = (number % 4, (number + 1 + number / 4 % 3) % 4);
        let start = Instant::ZERO + Span::from_us(450 * number as u64);
        b.flow(nodes[from], nodes[to], cubic, SourceSetup::Sized { bytes: 3_000 }, start);
    }
    let cut = Cut::new(&b.setup, vec![0, 0, 1, 1]).expect("a cut");
    (Arc::new(b.setup), cut)
}

/// Of 4,000 flows a 32nd comes between two looks, and some tens of milliseconds of them are under way.
#[test]
fn flows_that_have_ended_leave_all_parts() {
    let (setup, cut) = ring();
    let plan = Arc::new(plan(&setup));
    let (outcome, path) = Simulation::critical_path(&setup, &plan, &cut, || Duration::ZERO).expect("a run");
    let flows = table(&outcome, "flows");
    let delivered = flows.integer("delivered_bytes").expect("a column of counts");
    assert_eq!((delivered.len(), delivered.iter().sum::<u64>()), (4_000, 4_000 * 3_000));
    assert!(path.flow_ends < 2 * 400, "{} ends of flows are left", path.flow_ends);
    let one = Simulation::new(Arc::clone(&setup), Arc::clone(&plan)).expect("a setup");
    let one = one.run(|_| ControlFlow::Continue(())).expect("a run");
    assert!(bytes(&one.tables) == bytes(&outcome.tables));
}
