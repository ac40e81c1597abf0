//! Every algorithm against the plainest method there is, on small random networks.

use crate::common::{Sample, samples};
use anabranch_network::Path;
use anabranch_routing::{
    KShortest, LinkMask, TreeFrom, TreeTo, disjoint_paths, ecmp_table, k_shortest_paths, max_flow,
    shortest_path,
};
use anabranch_units::{LinkId, NodeId};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Costs from zero, so that links of no cost and ties are frequent.
const COSTS: std::ops::Range<u64> = 0..4;
const CAPACITIES: std::ops::Range<u64> = 1..6;

/// Least cost from every node to `to`, after R. Bellman 1958: relax all links until nothing moves.
fn bellman_ford(sample: &Sample, to: NodeId) -> BTreeMap<NodeId, u64> {
    let mut cost = BTreeMap::from([(to, 0)]);
    for _ in sample.network.node_ids() {
        for link in sample.usable() {
            let ends = sample.network.link(link);
            if let Some(rest) = cost.get(&ends.to).copied() {
                let through = rest + sample.cost(link);
                let least = cost.entry(ends.from).or_insert(through);
                *least = through.min(*least);
            }
        }
    }
    cost
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn dijkstra_agrees_with_bellman_and_ford(sample in samples(9, 30, 0..50, CAPACITIES)) {
        let graph = sample.graph();
        for to in sample.network.node_ids() {
            let (costs, tree) = (bellman_ford(&sample, to), TreeTo::new(&graph, to));
            for from in sample.network.node_ids() {
                let ours = tree.length(from).map(|length| length.cost());
                prop_assert_eq!(ours, costs.get(&from).map(|&cost| u128::from(cost)));
            }
        }
    }

    /// Both trees and the pair search give the first of all paths in the stated order.
    #[test]
    fn the_shortest_path_is_the_first_of_all(sample in samples(6, 14, COSTS, CAPACITIES)) {
        let graph = sample.graph();
        for (from, to) in sample.pairs() {
            let first = sample.all_paths(from, to).into_iter().next();
            prop_assert_eq!(&TreeTo::new(&graph, to).path(&graph, from), &first);
            prop_assert_eq!(&TreeFrom::new(&graph, from).path(&graph, to), &first);
            prop_assert_eq!(&shortest_path(&graph, from, to), &first);
        }
    }

    /// Where all links cost the same nearly all is ties: the trees still agree, and with what
    /// Yen's algorithm gives first and second.
    #[test]
    fn all_algorithms_break_ties_alike(sample in samples(14, 60, 1..2, CAPACITIES)) {
        let graph = sample.graph();
        for from in sample.network.node_ids() {
            let tree = TreeFrom::new(&graph, from);
            for to in sample.network.node_ids() {
                let first = shortest_path(&graph, from, to);
                prop_assert_eq!(&tree.path(&graph, to), &first);
                let two = k_shortest_paths(&graph, from, to, 2);
                prop_assert_eq!(two.first(), first.as_ref());
                prop_assert!(two.is_sorted_by_key(|path| sample.order(path)));
                let alone = disjoint_paths(&graph, from, to, Some(1));
                prop_assert_eq!(alone.first(), first.as_ref());
            }
        }
    }

    /// Yen's algorithm, run to the end, gives every loop-free path once and in order.
    #[test]
    fn yen_agrees_with_enumeration(sample in samples(6, 15, COSTS, CAPACITIES)) {
        let graph = sample.graph();
        let mut finder = KShortest::new(&graph);
        for (from, to) in sample.pairs() {
            let all = sample.all_paths(from, to);
            let tree = TreeTo::new(&graph, to);
            prop_assert_eq!(&finder.paths(&tree, from).collect::<Vec<_>>(), &all);
            for k in 0..4 {
                prop_assert_eq!(&k_shortest_paths(&graph, from, to, k)[..], &all[..k.min(all.len())]);
            }
        }
    }

    /// Among all sets of k paths without a common link none is cheaper, or as cheap with fewer
    /// hops; and there is no larger set than the largest found.
    #[test]
    fn disjoint_paths_agree_with_trying_all_sets(sample in samples(5, 12, COSTS, CAPACITIES)) {
        let graph = sample.graph();
        for (from, to) in sample.pairs() {
            let best = best_disjoint(&sample, &sample.all_paths(from, to));
            let most = best.len();
            for k in (0..=most + 1).map(Some).chain([None]) {
                let ours = disjoint_paths(&graph, from, to, k);
                prop_assert_eq!(ours.len(), k.unwrap_or(most).min(most));
                let links: Vec<LinkId> = ours.iter().flat_map(|path| path.links().to_vec()).collect();
                prop_assert_eq!(links.iter().collect::<BTreeSet<_>>().len(), links.len(), "a link is shared");
                let total = sample.length(&links);
                if !ours.is_empty() {
                    prop_assert_eq!((total.cost(), total.hops()), best[ours.len() - 1]);
                }
                prop_assert!(ours.is_sorted_by_key(|path| sample.order(path)));
                for path in &ours {
                    prop_assert_eq!((path.source(&sample.network), path.destination(&sample.network)), (from, to));
                }
            }
        }
    }

    /// The table holds exactly the links that lie on a path of least cost from their node.
    #[test]
    fn ecmp_is_the_union_of_all_shortest_paths(sample in samples(6, 14, 1..4, CAPACITIES)) {
        let graph = sample.graph();
        for to in sample.network.node_ids() {
            let table = ecmp_table(&graph, to);
            for from in sample.network.node_ids() {
                let all = sample.all_paths(from, to);
                let least = all.first().map(|path| sample.order(path).0);
                let shortest = all.iter().filter(|path| Some(sample.order(path).0) == least);
                let expected: BTreeSet<LinkId> = shortest.map(|path| path.links()[0]).collect();
                let ours = table.at(from);
                prop_assert_eq!(&ours.iter().copied().collect::<BTreeSet<_>>(), &expected);
                prop_assert_eq!(ours.len(), expected.len());
            }
        }
    }

    /// Where links cost nothing: every walk along the table is a path of least cost, so there is
    /// no circle, and every node with a way has a next hop.
    #[test]
    fn ecmp_has_no_circle_over_links_of_no_cost(sample in samples(6, 16, 0..2, CAPACITIES)) {
        let graph = sample.graph();
        for to in sample.network.node_ids() {
            let table = ecmp_table(&graph, to);
            let costs = bellman_ford(&sample, to);
            for from in sample.network.node_ids().filter(|&from| from != to) {
                prop_assert_eq!(!table.at(from).is_empty(), costs.contains_key(&from));
                let mut walks: Vec<Vec<LinkId>> = table.at(from).iter().map(|&link| vec![link]).collect();
                while let Some(walk) = walks.pop() {
                    let path = Path::new(&sample.network, walk.clone());
                    prop_assert!(path.is_ok(), "{path:?}");
                    let end = sample.network.link(walk[walk.len() - 1]).to;
                    if end == to {
                        prop_assert_eq!(sample.length(&walk).cost(), u128::from(costs[&from]));
                    }
                    for &next in table.at(end) {
                        walks.push([walk.clone(), vec![next]].concat());
                    }
                }
            }
        }
    }

    /// The flow is as large as the smallest of all cuts, fits the links, and cannot be made
    /// cheaper: what is left of the network has no circle of negative cost.
    #[test]
    fn max_flow_equals_the_smallest_cut(sample in samples(6, 16, COSTS, CAPACITIES)) {
        let graph = sample.graph();
        for (from, to) in sample.pairs().into_iter().filter(|(from, to)| from != to) {
            let parts = max_flow(&graph, from, to);
            let total: u64 = parts.iter().map(|part| part.rate.as_bps()).sum();
            prop_assert_eq!(total, smallest_cut(&sample, from, to));
            let mut flow = vec![0; sample.network.links().len()];
            for part in &parts {
                let ends = (part.path.source(&sample.network), part.path.destination(&sample.network));
                prop_assert_eq!(ends, (from, to));
                prop_assert!(part.rate.as_bps() > 0);
                for link in part.path.links() {
                    flow[link.index()] += part.rate.as_bps();
                }
            }
            for (link, &flow) in sample.network.link_ids().zip(&flow) {
                let room = if sample.usable().contains(&link) { capacity(&sample, link) } else { 0 };
                prop_assert!(flow <= room);
            }
            prop_assert!(!has_negative_circle(&sample, &flow));
            prop_assert!(parts.is_sorted_by_key(|part| sample.order(&part.path)));
        }
    }
}

fn capacity(sample: &Sample, link: LinkId) -> u64 {
    sample.network.link(link).capacity.as_bps()
}

/// For 1, 2, ... paths without a common link the least (cost, hops) in total.
fn best_disjoint(sample: &Sample, paths: &[Path]) -> Vec<(u128, u32)> {
    fn try_all(
        sample: &Sample,
        paths: &[Path],
        chosen: &mut Vec<LinkId>,
        count: usize,
        best: &mut Vec<(u128, u32)>,
    ) {
        for (index, path) in paths.iter().enumerate() {
            if path.links().iter().any(|link| chosen.contains(link)) {
                continue;
            }
            let before = chosen.len();
            chosen.extend(path.links());
            let total = sample.length(chosen);
            let total = (total.cost(), total.hops());
            match best.get_mut(count) {
                Some(least) => *least = total.min(*least),
                None => best.push(total),
            }
            try_all(sample, &paths[index + 1..], chosen, count + 1, best);
            chosen.truncate(before);
        }
    }
    let mut best = Vec::new();
    try_all(sample, paths, &mut Vec::new(), 0, &mut best);
    best
}

/// The least capacity over all ways to put `from` on one side and `to` on the other.
fn smallest_cut(sample: &Sample, from: NodeId, to: NodeId) -> u64 {
    let sides = 0u32..1 << sample.network.nodes().len();
    let near = |side: u32, node: NodeId| side & (1 << node.0) != 0;
    let cut = |side: u32| -> u64 {
        let crosses = |link: &LinkId| {
            let ends = sample.network.link(*link);
            near(side, ends.from) && !near(side, ends.to)
        };
        sample.usable().iter().filter(|link| crosses(link)).map(|&link| capacity(sample, link)).sum()
    };
    sides.filter(|&side| near(side, from) && !near(side, to)).map(cut).min().expect("the ends differ")
}

/// Whether flow can be led around some circle so that the total cost falls: relaxing the residual
/// links still moves something after as many rounds as there are nodes.
fn has_negative_circle(sample: &Sample, flow: &[u64]) -> bool {
    let mut residual = Vec::new();
    for link in sample.usable() {
        let (ends, cost) = (sample.network.link(link), i128::from(sample.cost(link)));
        if flow[link.index()] < capacity(sample, link) {
            residual.push((ends.from, ends.to, cost));
        }
        if flow[link.index()] > 0 {
            residual.push((ends.to, ends.from, -cost));
        }
    }
    let mut distance = vec![0; sample.network.nodes().len()];
    let mut moved = true;
    for _ in 0..=sample.network.nodes().len() {
        moved = false;
        for &(from, to, cost) in &residual {
            if distance[from.index()] + cost < distance[to.index()] {
                distance[to.index()] = distance[from.index()] + cost;
                moved = true;
            }
        }
    }
    moved
}

/// On a real network, every loop-free path of every pair, by delay. There are 14,226, as
/// all_simple_paths of networkx 3.6.1 counts them too.
#[test]
fn yen_finds_all_paths_of_nsfnet() {
    let network = crate::common::nsfnet();
    let mask = LinkMask::all_up(&network);
    let sample = Sample { network, mask };
    let graph = sample.graph();
    let mut finder = KShortest::new(&graph);
    let mut count = 0;
    for to in sample.network.node_ids() {
        let tree = TreeTo::new(&graph, to);
        for from in sample.network.node_ids() {
            let all = sample.all_paths(from, to);
            assert_eq!(finder.paths(&tree, from).collect::<Vec<_>>(), all);
            count += all.len();
        }
    }
    assert_eq!(count, 14_226);
}
