//! Searches by every metric against every path there is, on small random networks.

use crate::common::{Sample, lossy_samples, with_hosts};
use anabranch_network::Path;
use anabranch_routing::{
    CostGraph, ExactTree, KBest, LinkQuality, Metric, MetricKind, PathMetric, PathQuality, Rank, Scheme,
    Search, TcpbpMetric, TooMany, k_best_paths, k_shortest_paths, pareto_paths, tcpbp_path,
};
use anabranch_routing::{KShortestScheme, ShortestScheme, TcpbpExactScheme, TcpbpScheme};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use proptest::prelude::*;

fn known(sample: &Sample) -> impl Fn(LinkId) -> Option<LinkQuality> + '_ {
    |link| {
        let usable = sample.mask.usable(&sample.network, link);
        usable.then(|| LinkQuality::of(sample.network.link(link)))
    }
}

fn quality(sample: &Sample, path: &Path) -> PathQuality {
    PathQuality::of(path.links().iter().filter_map(|&link| known(sample)(link)))
}

/// All paths of a pair by the order that the metric promises: rank, node numbers, link ids.
fn in_order(sample: &Sample, metric: PathMetric, from: NodeId, to: NodeId) -> Vec<Path> {
    let mut all = sample.all_paths(from, to);
    let order = |path: &Path| -> (Rank, Vec<NodeId>, Vec<LinkId>) {
        let rank = metric.rank(quality(sample, path));
        (rank, path.nodes(&sample.network), path.links().to_vec())
    };
    all.sort_by_key(order);
    all
}

/// The metric of a path written out from its definition; less is better.
fn by_definition(sample: &Sample, metric: PathMetric, path: &Path) -> f64 {
    let links = || path.links().iter().map(|&link| sample.network.link(link));
    let delay_ps: u64 = links().map(|link| link.delay.as_ps()).sum();
    let delay_s = Span::from_ps(delay_ps).as_secs_f64();
    let delivery: f64 = links().map(|link| 1.0 - link.loss).product();
    let capacity_bps = links().map(|link| link.capacity.as_bps()).min().expect("a link") as f64;
    // One link in such a network loses all but one in 4e15 packets, which counts as all.
    let dead = links().any(|link| link.loss > 0.999_999);
    match metric {
        PathMetric::Capacity => -capacity_bps,
        _ if dead => f64::INFINITY,
        PathMetric::Tcpbp => delay_s * (1.0 - delivery).sqrt(),
        PathMetric::Argaq => delay_s / delivery,
        PathMetric::BOverDl => delay_s * (1.0 - delivery) / capacity_bps,
    }
}

fn ordered_pairs(sample: &Sample) -> Vec<(NodeId, NodeId)> {
    sample.pairs().into_iter().filter(|(from, to)| from != to).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The best path, and the value it has by the definition of the metric.
    #[test]
    fn the_exact_search_finds_the_first_of_all(sample in lossy_samples(6, 15)) {
        for metric in PathMetric::ALL {
            for from in sample.network.node_ids() {
                let tree = ExactTree::new(&sample.network, metric, from, known(&sample));
                for to in sample.network.node_ids().filter(|&to| to != from) {
                    let all = in_order(&sample, metric, from, to);
                    let ours = tree.path(&sample.network, to);
                    prop_assert_eq!(ours.as_ref(), all.first(), "{:?}", metric);
                    let Some(ours) = ours else { continue };
                    let value = |path: &Path| by_definition(&sample, metric, path);
                    let least = all.iter().map(value).fold(f64::INFINITY, f64::min);
                    let (best, slack) = (value(&ours), 2e-9 * least.abs());
                    prop_assert!(best == least || best <= least + slack, "{:?} {} {}", metric, best, least);
                }
            }
        }
    }

    /// Yen's algorithm, run to the end, gives every loop-free path once and in order.
    #[test]
    fn the_k_best_are_the_first_k_of_all(sample in lossy_samples(6, 15)) {
        for metric in PathMetric::ALL {
            let mut finder = KBest::new(&sample.network, metric, Search::Exact, known(&sample));
            for (from, to) in sample.pairs() {
                let all = if from == to { Vec::new() } else { in_order(&sample, metric, from, to) };
                prop_assert_eq!(&finder.paths(from, to).collect::<Vec<_>>(), &all, "{:?}", metric);
                let pair = (from, to);
                let two = k_best_paths(&sample.network, metric, Search::Exact, pair, 2, known(&sample));
                prop_assert_eq!(&two[..], &all[..two.len()]);
                prop_assert_eq!(two.len(), all.len().min(2));
            }
        }
    }

    /// By additive metrics of loss too: Yen's algorithm over their costs is the enumeration in the order of the
    /// sums, and the sum is what the path's loss says.
    #[test]
    fn additive_metrics_are_ordered_by_their_sums(sample in lossy_samples(6, 14)) {
        for (name, metric) in Metric::NAMES {
            let MetricKind::Additive(metric) = metric.kind() else { continue };
            let cost = |link| metric.cost(&sample.network, link);
            let sum = |path: &Path| path.links().iter().map(|&link| u128::from(cost(link))).sum::<u128>();
            let graph = CostGraph::new(&sample.network, &sample.mask, cost);
            for (from, to) in ordered_pairs(&sample) {
                let mut all = sample.all_paths(from, to);
                all.sort_by_key(|path| {
                    (sum(path), path.hops(), path.nodes(&sample.network), path.links().to_vec())
                });
                prop_assert_eq!(&k_shortest_paths(&graph, from, to, usize::MAX), &all, "{}", name);
                for path in all {
                    if name == "loss" && path.loss(&sample.network) < 0.99 {
                        let nepers = -(-path.loss(&sample.network)).ln_1p();
                        prop_assert!((sum(&path) as f64 / 1e15 - nepers).abs() < 1e-13);
                    }
                }
            }
        }
    }

    /// As published: paths are paths, each once, all of them in the end, and the first is that of the modified
    /// Dijkstra.
    #[test]
    fn the_published_k_best_are_all_paths_in_the_end(sample in lossy_samples(6, 14)) {
        let mut finder = KBest::new(&sample.network, PathMetric::Tcpbp, Search::Published, known(&sample));
        for (from, to) in ordered_pairs(&sample) {
            let listed: Vec<Path> = finder.paths(from, to).collect();
            let first = tcpbp_path(&sample.network, from, to, known(&sample));
            prop_assert_eq!(listed.first(), first.as_ref());
            let sorted = |mut paths: Vec<Path>| {
                paths.sort_by_key(|path| path.links().to_vec());
                paths
            };
            prop_assert_eq!(sorted(listed), sorted(sample.all_paths(from, to)));
        }
    }

    /// Every path that no other beats, one for each point, the first of equals; in order.
    #[test]
    fn pareto_paths_are_those_that_no_other_beats(sample in lossy_samples(6, 16)) {
        for (from, to) in ordered_pairs(&sample) {
            let all = sample.all_paths(from, to);
            let of = |path: &Path| {
                let quality = quality(&sample, path);
                (quality.delay(), quality.loss(), quality.capacity())
            };
            let beats = |(d, p, b): (Span, f64, Rate), (e, q, c): (Span, f64, Rate)| {
                (d, p, b) != (e, q, c) && d <= e && p <= q && b >= c
            };
            let best = all.iter().filter(|path| !all.iter().any(|other| beats(of(other), of(path))));
            let mut expected: Vec<&Path> = best.collect();
            expected.sort_by(|a, b| {
                let ((d, p, b_), (e, q, c)) = (of(a), of(b));
                let spelling = |path: &Path| (path.hops(), path.nodes(&sample.network), path.links().to_vec());
                d.cmp(&e).then(p.total_cmp(&q)).then(c.cmp(&b_)).then_with(|| spelling(a).cmp(&spelling(b)))
            });
            expected.dedup_by_key(|path| of(path));
            let ours = pareto_paths(&sample.network, (from, to), 1_000, known(&sample));
            prop_assert_eq!(&ours.iter().flatten().collect::<Vec<_>>(), &expected);
            let limit = expected.len();
            prop_assert_eq!(pareto_paths(&sample.network, (from, to), limit, known(&sample)), ours);
            if limit > 0 {
                let few = pareto_paths(&sample.network, (from, to), limit - 1, known(&sample));
                let refused = matches!(few, Err(TooMany::Paths { limit: at, .. }) if at == limit - 1);
                prop_assert!(refused);
            }
            // Whatever the metric, its best value is reached by one of these, to the rounding of the product.
            for metric in PathMetric::ALL {
                let value = |path: &Path| by_definition(&sample, metric, path);
                let least = |paths: &mut dyn Iterator<Item = &Path>| {
                    paths.map(value).fold(f64::INFINITY, f64::min)
                };
                let (of_all, of_ours) = (least(&mut all.iter()), least(&mut expected.iter().copied()));
                let close = of_all == of_ours || (of_ours - of_all).abs() <= 1e-12 * of_all.abs();
                prop_assert!(close, "{:?} {} {}", metric, of_all, of_ours);
            }
        }
    }

    /// Plans, with hosts and other stubs taken out of the searches, are what is found pair by pair.
    #[test]
    fn plans_are_what_is_found_pair_by_pair(sample in lossy_samples(8, 14), edges in 0usize..4) {
        let sample = with_hosts(sample, edges);
        let schemes = PathMetric::ALL.into_iter().flat_map(|path| {
            let named = Metric::NAMES.into_iter().find(|(_, metric)| metric.kind() == MetricKind::Path(path));
            let metric = named.expect("a name").1;
            [
                (Scheme::Shortest(ShortestScheme { metric, limits: None }), path, Search::Exact, 1),
                (Scheme::KShortest(KShortestScheme { k: 3, metric, limits: None }), path, Search::Exact, 3),
                (Scheme::KShortest(KShortestScheme { k: 1, metric, limits: None }), path, Search::Exact, 1),
            ]
        });
        let (metric, path) = (TcpbpMetric::Tcpbp, PathMetric::Tcpbp);
        let by_name = [
            (Scheme::Tcpbp(TcpbpScheme { k: 1, metric }), path, Search::Published, 1),
            (Scheme::Tcpbp(TcpbpScheme { k: 3, metric }), path, Search::Published, 3),
            (Scheme::TcpbpExact(TcpbpExactScheme::default()), path, Search::Exact, 1),
            (Scheme::TcpbpExact(TcpbpExactScheme { k: 3, ..TcpbpExactScheme::default() }), path, Search::Exact, 3),
        ];
        let pairs = sample.pairs();
        for (scheme, metric, search, k) in schemes.chain(by_name) {
            let all = scheme.plan(&sample.network, &sample.mask, &pairs);
            prop_assert_eq!(all.check(&sample.network), Ok(()));
            for &(from, to) in &pairs {
                let alone = scheme.plan(&sample.network, &sample.mask, &[(from, to)]);
                let best = k_best_paths(&sample.network, metric, search, (from, to), k, known(&sample));
                for plan in [&all, &alone] {
                    let route = plan.route(from, to).map_or(&[][..], |route| &route.paths[..]);
                    let paths: Vec<&Path> = route.iter().map(|path| &path.links).collect();
                    prop_assert_eq!(paths, best.iter().collect::<Vec<_>>(), "{:?}", scheme);
                }
            }
        }
    }
}
