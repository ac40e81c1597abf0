//! Spreads that keep a subflow's segments and acknowledgments on one path, in whole runs.

use crate::common::*;
use anabranch_engine::balancer::{
    HashParameters, ResilientHashParameters, SubflowRoundRobinParameters, WeightedHashParameters,
};
use anabranch_engine::routing::SemperScheme;
use anabranch_engine::routing::{AdditiveMetric, PathShares, Scheme};
use anabranch_engine::setup::*;
use anabranch_engine::{Outcome, Simulation};
use anabranch_units::{Instant, LinkId, NodeId, Span};

const PATHS: usize = 4;
const SYMMETRIC: [LoadBalancing; 4] = [
    LoadBalancing::Hash(HashParameters {}),
    LoadBalancing::WeightedHash(WeightedHashParameters {}),
    LoadBalancing::ResilientHash(ResilientHashParameters {}),
    LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None }),
];

/// The thesis' topology: hosts at a router, four paths of 10 Mbps to another one, a server there. Path i has
/// links 4i and 4i + 2 there, 4i + 1 and 4i + 3 back.
fn dumbbell(hosts: usize, spread: LoadBalancing, duration: Span) -> Builder {
    let mut b = Builder::new(duration);
    let (left, right) = (b.node("left"), b.node("right"));
    for path in 0..PATHS {
        let middle = b.node(&format!("middle {path}"));
        b.link(left, middle, mbps(10), Span::from_ms(2), 50);
        b.link(middle, right, mbps(10), Span::from_ms(2), 50);
    }
    let server = b.node("server");
    b.link(right, server, mbps(1000), Span::from_us(10), 1000);
    let tcp = b.transport("newreno");
    for number in 0..hosts {
        let host = b.node(&format!("host {number}"));
        b.link(host, left, mbps(1000), Span::from_us(10), 1000);
        b.flow(host, server, tcp, SourceSetup::Unlimited {}, Instant::ZERO);
    }
    b.setup.routing.load_balancing = spread;
    b.setup.routing.scheme = Some(Scheme::Semper(SemperScheme {
        k: None,
        metric: AdditiveMetric::Hops,
        shares: PathShares::Equal,
    }));
    b
}

/// Packets there and back on each path.
fn carried(outcome: &Outcome) -> Vec<(u64, u64)> {
    let packets = |link| integer(outcome, "links", "packets", link);
    (0..PATHS).map(|path| (packets(4 * path), packets(4 * path + 1))).collect()
}

/// One flow alone: its data are on one path, and its acknowledgments on the same one. That this holds by chance
/// in 10 runs over four paths has a probability of 1e-6.
#[test]
fn data_and_acknowledgments_take_the_same_path() {
    for spread in SYMMETRIC {
        for seed in 1..=10 {
            let mut b = dumbbell(1, spread.clone(), Span::from_ms(500));
            b.setup.seed = seed;
            let carried = carried(&b.run());
            let used: Vec<_> = carried.iter().filter(|(there, back)| there + back > 0).collect();
            assert_eq!(used.len(), 1, "{spread:?}, seed {seed}: {carried:?}");
            assert!(used[0].0 > 100 && used[0].1 > 50, "{spread:?}, seed {seed}: {carried:?}");
        }
    }
}

/// The stateful benchmark gives every subflow of a host a path of its own: four flows between one pair of nodes
/// occupy the four paths, whatever their ports, and fill them.
#[test]
fn subflows_in_turn_fill_every_path() {
    for seed in 1..=5 {
        let mut b = dumbbell(1, SYMMETRIC[3].clone(), Span::from_secs(4));
        b.setup.seed = seed;
        let (from, to) = (b.setup.flows[0].from, b.setup.flows[0].to);
        for _ in 1..PATHS {
            b.flow(from, to, 0, SourceSetup::Unlimited {}, Instant::ZERO);
        }
        let carried = carried(&b.run());
        assert!(carried.iter().all(|(there, back)| *there > 2_000 && *back > 1_000), "{seed}: {carried:?}");
    }
}

/// A path fails for good at 2 s, and routing reacts 100 ms later: every flow goes on, over what is left.
#[test]
fn flows_of_a_failed_path_go_on_over_the_others() {
    for spread in SYMMETRIC {
        let mut b = dumbbell(12, spread.clone(), Span::from_secs(8));
        b.setup.routing.reaction = Some(Span::from_ms(100));
        let change = Change::Links { links: vec![LinkId(0), LinkId(1)], up: false };
        b.setup.events.push(EventSetup { at: at(2.0), change });
        sample(&mut b.setup, Span::from_secs(1));
        let outcome = b.run();
        for flow in 0..12 {
            assert!(goodput_between(&outcome, flow, (4.0, 8.0)) > 0.1, "{spread:?}: flow {flow}");
        }
        // All flows of all paths that have any: at least two of the three that are left do.
        let total: f64 = (0..12).map(|flow| goodput_between(&outcome, flow, (4.0, 8.0))).sum();
        assert!(total > 0.9 * 2.0 * 10.0 * 1448.0 / 1500.0 && total < 30.0, "{spread:?}: {total}");
    }
}

/// When all paths are gone there is no route: packets are dropped, nothing panics, and the flow goes on when a
/// path is back.
#[test]
fn a_set_of_paths_that_is_empty_drops_and_recovers() {
    for spread in SYMMETRIC {
        let mut b = dumbbell(2, spread.clone(), Span::from_secs(12));
        b.setup.routing.reaction = Some(Span::from_ms(50));
        for (when, up) in [(1.0, false), (2.0, true)] {
            let change = Change::Node { node: NodeId(1), up };
            b.setup.events.push(EventSetup { at: at(when), change });
        }
        sample(&mut b.setup, Span::from_secs(1));
        let outcome = b.run();
        for flow in 0..2 {
            assert!(goodput_between(&outcome, flow, (1.1, 2.0)) < 1e-9, "{spread:?}");
            assert!(goodput_between(&outcome, flow, (8.0, 12.0)) > 4.0, "{spread:?}");
        }
    }
}

/// The same setup gives the same tables with entries in a hash table, too.
#[test]
fn the_stateful_balancer_is_deterministic() {
    let run = || {
        let b = dumbbell(
            20,
            LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters {
                idle_timeout: Some(Span::from_ms(300)),
            }),
            Span::from_secs(2),
        );
        let plan = plan(&b.setup);
        let simulation = Simulation::new(b.setup, plan).expect("a valid setup");
        let outcome = simulation.run(|_| std::ops::ControlFlow::Continue(())).expect("a run");
        format!("{:?}", outcome.tables)
    };
    assert_eq!(run(), run());
}
