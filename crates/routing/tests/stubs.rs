//! Plans on networks with hosts and other parts that hang on one edge: the same as pair by pair
//! over the whole network, and no larger than they must be.

use crate::common::{Sample, node};
use anabranch_network::{Link, Network};
use anabranch_routing::{
    AdditiveMetric, CostGraph, Disjoint, KShortest, LinkMask, MaxFlow, MetricKind, Plan, Route, Scheme,
    TreeTo, WeightedPath, ecmp_table,
};
use anabranch_routing::{DisjointScheme, EcmpScheme, KShortestScheme, MaxFlowScheme, ShortestScheme};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use proptest::prelude::*;

/// A link: from, to, cost (ps), capacity (bps), up.
type Draw = (u32, u32, u64, u64, bool);

/// Networks of a few well-connected nodes and as many others, each tied to a node before it by
/// some of: a link up, a link down, another link up, another link down. The numbers of the nodes
/// are mixed, and some links and nodes are down.
fn with_stubs() -> impl Strategy<Value = Sample> {
    (2..5u32, 0..5u32).prop_flat_map(|(core, stubs)| {
        let values = || (0..3u64, 1..5u64, prop::bool::weighted(0.92));
        let in_core = (0..core, 1..core, values());
        let ties = [0.93, 0.93, 0.1, 0.1].map(|odds| prop::option::weighted(odds, values()));
        let stub = (any::<prop::sample::Index>(), ties);
        let count = core + stubs;
        let numbers = Just((0..count).collect::<Vec<u32>>()).prop_shuffle();
        let nodes_up = prop::collection::vec(prop::bool::weighted(0.96), count as usize);
        let stubs = prop::collection::vec(stub, stubs as usize);
        (prop::collection::vec(in_core, 0..9), stubs, numbers, nodes_up).prop_map(
            move |(links, stubs, numbers, nodes_up)| {
                let mut draws: Vec<Draw> = links
                    .into_iter()
                    .map(|(from, step, (cost, bps, up))| (from, (from + step) % core, cost, bps, up))
                    .collect();
                for (at, (above, ties)) in (core..).zip(&stubs) {
                    let above = above.index(at as usize) as u32;
                    let ends = [(at, above), (above, at), (at, above), (above, at)];
                    for ((from, to), tie) in ends.into_iter().zip(ties) {
                        draws.extend(tie.map(|(cost, bps, up)| (from, to, cost, bps, up)));
                    }
                }
                build(&draws, &numbers, &nodes_up)
            },
        )
    })
}

fn build(draws: &[Draw], numbers: &[u32], nodes_up: &[bool]) -> Sample {
    let link = |&(from, to, cost, bps, _): &Draw| Link {
        from: NodeId(numbers[from as usize]),
        to: NodeId(numbers[to as usize]),
        capacity: Rate::from_bps(bps),
        delay: Span::from_ps(cost),
        loss: 0.0,
        weight: 1,
    };
    let nodes = (0..numbers.len()).map(|number| node(&number.to_string())).collect();
    let network = Network::new(nodes, draws.iter().map(link).collect()).expect("a valid network");
    let mut mask = LinkMask::all_up(&network);
    for (id, draw) in network.link_ids().zip(draws) {
        mask.set_link(id, draw.4);
    }
    for (id, &up) in network.node_ids().zip(nodes_up) {
        mask.set_node(id, up);
    }
    Sample { network, mask }
}

/// The routes that a scheme of paths gives, each pair by itself over the whole network.
fn pair_by_pair(scheme: &Scheme, sample: &Sample, pairs: &[(NodeId, NodeId)]) -> Vec<Route> {
    let MetricKind::Additive(metric) = scheme.metric().kind() else { unreachable!("all here add up") };
    let cost = |link| metric.cost(&sample.network, link);
    let graph = CostGraph::new(&sample.network, &sample.mask, cost);
    let equal = |paths: Vec<_>| -> Vec<WeightedPath> {
        let weight = 1.0 / paths.len() as f64;
        paths.into_iter().map(|links| WeightedPath { links, weight }).collect()
    };
    let paths = |from, to| {
        let tree = TreeTo::new(&graph, to);
        match scheme {
            Scheme::Shortest(_) => equal(tree.path(&graph, from).into_iter().collect()),
            Scheme::KShortest(KShortestScheme { k, .. }) => {
                equal(KShortest::new(&graph).paths(&tree, from).take(*k as usize).collect())
            }
            Scheme::Disjoint(DisjointScheme { k, .. }) => {
                equal(Disjoint::new(&graph).paths(&tree, from, k.map(|k| k as usize)))
            }
            Scheme::MaxFlow(_) => {
                let parts = MaxFlow::new(&graph).paths(&tree, from);
                let total: u64 = parts.iter().map(|part| part.rate.as_bps()).sum();
                let weight = |rate: Rate| rate.as_bps() as f64 / total as f64;
                let path = |part: anabranch_routing::PathFlow| (weight(part.rate), part.path);
                parts.into_iter().map(path).map(|(weight, links)| WeightedPath { links, weight }).collect()
            }
            // ecmp has tables, TCPBP's metric is a function of whole paths, and tests/semper.rs looks at semper.
            other => unreachable!("{} is not among the schemes that this test draws", other.name()),
        }
    };
    let routes = pairs.iter().map(|&(from, to)| Route { from, to, paths: paths(from, to) });
    routes.filter(|route| !route.paths.is_empty()).collect()
}

/// The links from a node along a table, and from all nodes that these lead to.
fn followed(network: &Network, from: NodeId, next: impl Fn(NodeId) -> Vec<LinkId>) -> Vec<Vec<LinkId>> {
    let mut seen = vec![from];
    let mut links = Vec::new();
    let mut done = 0;
    while done < seen.len() {
        let here = next(seen[done]);
        for ahead in here.iter().map(|&link| network.link(link).to) {
            if !seen.contains(&ahead) {
                seen.push(ahead);
            }
        }
        links.push(here);
        done += 1;
    }
    links
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn paths_are_those_found_pair_by_pair(sample in with_stubs()) {
        let pairs = sample.pairs();
        for metric in AdditiveMetric::NAMES.map(|(_, metric)| metric) {
            for scheme in [
                Scheme::Shortest(ShortestScheme { metric: metric.into(), limits: None }),
                Scheme::KShortest(KShortestScheme { k: 1, metric: metric.into(), limits: None }),
                Scheme::KShortest(KShortestScheme { k: 3, metric: metric.into(), limits: None }),
                Scheme::Disjoint(DisjointScheme { k: None, metric }),
                Scheme::Disjoint(DisjointScheme { k: Some(1), metric }),
                Scheme::MaxFlow(MaxFlowScheme { metric }),
            ] {
                let plan = scheme.plan(&sample.network, &sample.mask, &pairs);
                prop_assert_eq!(plan.check(&sample.network), Ok(()));
                prop_assert_eq!(&plan.routes, &pair_by_pair(&scheme, &sample, &pairs), "{:?}", scheme);
            }
        }
    }

    /// Every entry of a table is that of the table of the whole network, which the sources follow
    /// to the same links. Only those nodes have none that know no way or that no path of these
    /// sources crosses even if everything is up.
    #[test]
    fn tables_are_parts_of_the_whole_one(
        sample in with_stubs(),
        wanted in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
    ) {
        let every = sample.pairs();
        let pairs: Vec<_> = wanted.iter().map(|index| every[index.index(every.len())]).collect();
        let everything_up =
            Sample { network: sample.network.clone(), mask: LinkMask::all_up(&sample.network) };
        for metric in AdditiveMetric::NAMES.map(|(_, metric)| metric) {
            let plan = Scheme::Ecmp(EcmpScheme { metric }).plan(&sample.network, &sample.mask, &pairs);
            prop_assert_eq!(plan.check(&sample.network), Ok(()));
            prop_assert!(plan.tables.is_sorted_by_key(|table| table.to));
            let graph = CostGraph::new(&sample.network, &sample.mask, |link| metric.cost(&sample.network, link));
            for &(from, to) in pairs.iter().filter(|(from, to)| from != to) {
                let whole = ecmp_table(&graph, to);
                prop_assert_eq!(plan.route(from, to).is_some(), !whole.at(from).is_empty());
                let Some(table) = plan.table(to) else { continue };
                let along = |table: &anabranch_routing::NextHopsTo| {
                    followed(&sample.network, from, |node| table.at(node).to_vec())
                };
                prop_assert_eq!(along(table), along(&whole));
                for node in sample.network.node_ids() {
                    if table.at(node) != whole.at(node) {
                        prop_assert_eq!(table.at(node), &[]);
                        let paths = everything_up.all_paths(from, to);
                        prop_assert!(paths.iter().all(|path| !path.nodes(&sample.network).contains(&node)));
                    }
                }
            }
        }
    }
}

/// Hosts number 2 and up, the first half at switch 0, the others at switch 1.
fn dumbbell(hosts_a_side: u32) -> (Network, Vec<(NodeId, NodeId)>) {
    let at = |side: u32, host: u32| 2 + side * hosts_a_side + host;
    let hosts = (0..2).flat_map(|side| (0..hosts_a_side).map(move |host| (at(side, host), side)));
    let link = |from, to| Link {
        from: NodeId(from),
        to: NodeId(to),
        capacity: Rate::from_bps(1_000_000_000),
        delay: Span::from_us(10),
        loss: 0.0,
        weight: 1,
    };
    let edges = std::iter::once((0, 1)).chain(hosts);
    let links = edges.flat_map(|(a, b)| [link(a, b), link(b, a)]).collect();
    let nodes = (0..2 + 2 * hosts_a_side).map(|number| node(&number.to_string())).collect();
    let across = (0..hosts_a_side).map(|host| (NodeId(at(0, host)), NodeId(at(1, host))));
    let pairs = across.flat_map(|(left, right)| [(left, right), (right, left)]).collect();
    (Network::new(nodes, links).expect("a valid network"), pairs)
}

/// A table to a host behind a switch concerns its peer and the two switches, however many other
/// hosts there are.
#[test]
fn tables_leave_out_hosts_that_do_not_matter() {
    let (network, pairs) = dumbbell(500);
    let scheme = Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Hops });
    let Plan { routes, tables, .. } = scheme.plan(&network, &LinkMask::all_up(&network), &pairs);
    assert_eq!((routes.len(), tables.len()), (1000, 1000));
    for table in tables {
        let nodes: Vec<u32> = table.next.iter().map(|(node, _)| node.0).collect();
        let peer = if table.to.0 < 502 { table.to.0 + 500 } else { table.to.0 - 500 };
        assert_eq!(nodes, [0, 1, peer]);
    }
}
