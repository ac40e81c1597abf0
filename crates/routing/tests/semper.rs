//! SEMPER's paths: the same ones in both directions, between the places where hosts join the core.

use crate::common::{node, spell};
use anabranch_network::{Link, Network, Path};
use anabranch_routing::{AdditiveMetric, LinkMask, Metric, Mirror, PathShares, Plan, Scheme};
use anabranch_routing::{SemperScheme, ShortestScheme};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn semper(k: Option<u32>, shares: PathShares) -> Scheme {
    Scheme::Semper(SemperScheme { k, metric: AdditiveMetric::Delay, shares })
}

/// A network of edges (a, b, Mbps there, Mbps back, delay in ms); 0 Mbps: no link that way.
fn network(nodes: u32, edges: &[(u32, u32, u64, u64, u64)]) -> Network {
    let link = |from, to, mbps: u64, ms| Link {
        from: NodeId(from),
        to: NodeId(to),
        capacity: Rate::from_bps(mbps * 1_000_000),
        delay: Span::from_ms(ms),
        loss: 0.0,
        weight: 1,
    };
    let links = edges.iter().flat_map(|&(a, b, there, back, ms)| {
        [(a, b, there), (b, a, back)]
            .into_iter()
            .filter(|link| link.2 > 0)
            .map(move |(from, to, mbps)| link(from, to, mbps, ms))
    });
    Network::new((0..nodes).map(|id| node(&id.to_string())).collect(), links.collect()).expect("valid")
}

fn plan(network: &Network, scheme: &Scheme, pairs: &[(u32, u32)]) -> Plan {
    let pairs: Vec<_> = pairs.iter().map(|&(from, to)| (NodeId(from), NodeId(to))).collect();
    let plan = scheme.plan(network, &LinkMask::all_up(network), &pairs);
    plan.check(network).unwrap();
    plan
}

fn paths(plan: &Plan, network: &Network, from: u32, to: u32) -> Vec<String> {
    let route = plan.route(NodeId(from), NodeId(to)).expect("a route");
    route.paths.iter().map(|path| spell(network, &path.links)).collect()
}

fn weights(plan: &Plan, from: u32, to: u32) -> Vec<f64> {
    let route = plan.route(NodeId(from), NodeId(to)).expect("a route");
    route.paths.iter().map(|path| path.weight).collect()
}

/// Hosts 0 and 1 at router 2, a server 7 at router 6; between the routers three paths over 3, 4 and 5.
const DUMBBELL: [(u32, u32, u64, u64, u64); 9] = [
    (0, 2, 1000, 1000, 1),
    (1, 2, 1000, 1000, 1),
    (6, 7, 1000, 1000, 1),
    (2, 3, 20, 20, 2),
    (3, 6, 20, 20, 2),
    (2, 4, 100, 100, 1),
    (4, 6, 100, 100, 1),
    (2, 5, 10, 30, 5),
    (5, 6, 1000, 1000, 5),
];

/// The thesis' topology (figure 5): every host has all paths between the routers, though it hangs on one
/// edge; those of least delay come first, and the way back has the same ones in the same order.
#[test]
fn hosts_have_all_paths_between_their_routers() {
    let network = network(8, &DUMBBELL);
    let plan = plan(&network, &semper(None, PathShares::Equal), &[(7, 0), (0, 7), (1, 7)]);
    assert_eq!(paths(&plan, &network, 0, 7), ["0-2-4-6-7", "0-2-3-6-7", "0-2-5-6-7"]);
    assert_eq!(paths(&plan, &network, 7, 0), ["7-6-4-2-0", "7-6-3-2-0", "7-6-5-2-0"]);
    assert_eq!(weights(&plan, 1, 7), [1.0 / 3.0; 3]);
    // Only what was asked for.
    assert_eq!(plan.routes.len(), 3);
}

#[test]
fn k_limits_the_paths() {
    let network = network(8, &DUMBBELL);
    let plan = plan(&network, &semper(Some(2), PathShares::Equal), &[(0, 7), (7, 0)]);
    assert_eq!(paths(&plan, &network, 0, 7), ["0-2-4-6-7", "0-2-3-6-7"]);
    assert_eq!(paths(&plan, &network, 7, 0), ["7-6-4-2-0", "7-6-3-2-0"]);
}

/// 100, 20 and 10 Mbps: the last path has 30 Mbps one way and 10 the other. The edges of hosts do not count.
#[test]
fn shares_follow_the_narrowest_link_of_both_directions() {
    let network = network(8, &DUMBBELL);
    let plan = plan(&network, &semper(None, PathShares::Capacity), &[(0, 7), (7, 0)]);
    let expected = [100.0 / 130.0, 20.0 / 130.0, 10.0 / 130.0];
    for (from, to) in [(0, 7), (7, 0)] {
        for (weight, expected) in weights(&plan, from, to).into_iter().zip(expected) {
            assert!((weight - expected).abs() < 1e-12);
        }
    }
}

/// Three edges side by side are three paths.
#[test]
fn parallel_links_are_paths_of_their_own() {
    let edges =
        [(0, 1, 100, 100, 1), (1, 2, 50, 50, 1), (1, 2, 50, 50, 1), (1, 2, 50, 50, 1), (2, 3, 100, 100, 1)];
    let network = network(4, &edges);
    let plan = plan(&network, &semper(None, PathShares::Equal), &[(0, 3), (3, 0)]);
    let middle = |from, to| -> Vec<u32> {
        let route = plan.route(NodeId(from), NodeId(to)).unwrap();
        route.paths.iter().map(|path| path.links.links()[1].0).collect()
    };
    // Edge n has the links 2n there and 2n + 1 back.
    assert_eq!(middle(0, 3), [2, 4, 6]);
    assert_eq!(middle(3, 0), [3, 5, 7]);
}

/// A link without a way back is no path, unless there is nothing else.
#[test]
fn one_way_links_serve_only_where_no_edge_does() {
    // The shorter way over 1 has no way back.
    let edges = [(0, 1, 10, 0, 1), (1, 3, 10, 0, 1), (0, 2, 10, 10, 5), (2, 3, 10, 10, 5)];
    let network = network(4, &edges);
    let plan = plan(&network, &semper(None, PathShares::Equal), &[(0, 3), (3, 0), (0, 1)]);
    assert_eq!(paths(&plan, &network, 0, 3), ["0-2-3"]);
    assert_eq!(paths(&plan, &network, 3, 0), ["3-2-0"]);
    assert_eq!(paths(&plan, &network, 0, 1), ["0-1"]);
    assert_eq!(plan.route(NodeId(1), NodeId(0)), None);
}

/// Of two links there and one back, the first of the two is the one with a way back.
#[test]
fn a_mirror_pairs_parallel_links_in_their_order() {
    let network = network(2, &[(0, 1, 10, 10, 1), (0, 1, 10, 0, 1)]);
    let mirror = Mirror::new(&network);
    assert_eq!(mirror.link(LinkId(0)), Some(LinkId(1)));
    assert_eq!(mirror.link(LinkId(1)), Some(LinkId(0)));
    assert_eq!(mirror.link(LinkId(2)), None);
    assert_eq!(mirror.path(&[LinkId(2)]), None);
    assert_eq!([0, 1, 2].map(|link| mirror.edge(LinkId(link)).0), [0, 0, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// On any network of edges, with single directions down: the way back is the way there, path by path, in
    /// the same shares; and paths have an edge in common only where every way has it.
    #[test]
    fn the_way_back_is_the_way_there(
        edges in prop::collection::vec((0u32..7, 0u32..7, 1u64..200, 1u64..200, 0u64..9), 1..18),
        down in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        capacity in any::<bool>(),
        k in prop::option::of(1u32..4),
    ) {
        let edges: Vec<_> = edges.into_iter().filter(|edge| edge.0 != edge.1).collect();
        prop_assume!(!edges.is_empty());
        let network = network(7, &edges);
        let mirror = Mirror::new(&network);
        let mut mask = LinkMask::all_up(&network);
        let mut both = LinkMask::all_up(&network);
        for index in down {
            let link = LinkId::from_index(index.index(network.links().len()));
            mask.set_link(link, false);
            both.set_link(link, false);
            both.set_link(mirror.link(link).unwrap(), false);
        }
        let pairs: Vec<_> =
            (0..7).flat_map(|a| (0..7).map(move |b| (NodeId(a), NodeId(b)))).filter(|(a, b)| a != b).collect();
        let shares = if capacity { PathShares::Capacity } else { PathShares::Equal };
        let plan = semper(k, shares).plan(&network, &mask, &pairs);
        prop_assert_eq!(plan.check(&network), Ok(()));
        // One path over edges with both directions up, if there is any.
        let shortest = Scheme::Shortest(ShortestScheme { metric: Metric::Hops, limits: None }).plan(&network, &both, &pairs);
        for route in shortest.routes {
            let there = plan.route(route.from, route.to).unwrap();
            let back = plan.route(route.to, route.from).unwrap();
            prop_assert!(there.paths.len() <= k.map_or(usize::MAX, |k| k as usize));
            prop_assert_eq!(there.paths.len(), back.paths.len());
            for (there, back) in there.paths.iter().zip(&back.paths) {
                let mirrored = mirror.path(there.links.links());
                prop_assert_eq!(mirrored.as_deref(), Some(back.links.links()));
                prop_assert_eq!(there.weight, back.weight);
            }
            let mut without = both.clone();
            for link in common_links(&there.paths.iter().map(|path| &path.links).collect::<Vec<_>>()) {
                without.set_link(link, false);
                let left = Scheme::Shortest(ShortestScheme { metric: Metric::Hops, limits: None }).plan(&network, &without, &pairs);
                prop_assert_eq!(left.route(route.from, route.to), None);
                without.set_link(link, true);
            }
        }
    }
}

/// Links that several paths have in common.
fn common_links(paths: &[&Path]) -> BTreeSet<LinkId> {
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        twice.extend(path.links().iter().copied().filter(|&link| !seen.insert(link)));
    }
    twice
}
