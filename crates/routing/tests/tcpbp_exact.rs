//! The exact search for the least d sqrt(p), on the network of the thesis and against every path there is.

use crate::common::{by_hand, node, samples, spell, ten_nodes};
use anabranch_network::{Link, Network, Path};
use anabranch_routing::{
    AdditiveMetric, CostGraph, ExactTree, LinkMask, LinkQuality, PathMetric, PathQuality, TcpbpTree,
    exact_path, shortest_path,
};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use proptest::prelude::*;
use std::cmp::Ordering;

fn quality(network: &Network) -> impl Fn(LinkId) -> Option<LinkQuality> {
    |link| Some(LinkQuality::new(network.link(link).delay, network.link(link).loss))
}

fn found(network: &Network, from: u32, to: u32) -> Path {
    exact_path(network, PathMetric::Tcpbp, NodeId(from - 1), NodeId(to - 1), quality(network)).expect("a way")
}

/// Checked facts of the specification, for the two pairs whose best path the published algorithm misses.
#[test]
fn the_two_routes_that_the_published_algorithm_misses() {
    let network = ten_nodes();
    for (from, to, nodes, spelled, metric) in [
        (2, 6, vec![2, 8, 5, 1, 6], "2-8-5-1-6", 0.001_490_1),
        (4, 6, vec![4, 5, 1, 6], "4-5-1-6", 0.000_993_6),
    ] {
        let path = found(&network, from, to);
        assert_eq!(spell(&network, &path), spelled);
        let tree = ExactTree::new(&network, PathMetric::Tcpbp, NodeId(from - 1), quality(&network));
        let ours = tree.quality(NodeId(to - 1)).expect("a way").metric();
        assert!((ours - metric).abs() < 5e-8, "{spelled}: {ours}");
        assert!((ours / by_hand(&nodes) - 1.0).abs() < 1e-9, "{spelled}: {ours}");
    }
    assert_eq!(spell(&network, &found(&network, 1, 10)), "1-3-4-10");
}

/// Table 2 of the thesis: 39 of the 45 pairs go as they do by delay.
#[test]
fn thirty_nine_of_45_routes_are_those_of_least_delay() {
    let network = ten_nodes();
    let graph = CostGraph::new(&network, &LinkMask::all_up(&network), |link| {
        AdditiveMetric::Delay.cost(&network, link)
    });
    let pairs: Vec<(u32, u32)> = (1..=10).flat_map(|a| (a + 1..=10).map(move |b| (a, b))).collect();
    assert_eq!(pairs.len(), 45);
    let same = |&&(a, b): &&(u32, u32)| {
        shortest_path(&graph, NodeId(a - 1), NodeId(b - 1)) == Some(found(&network, a, b))
    };
    assert_eq!(pairs.iter().filter(same).count(), 39);
}

/// Parallel links, and an edge of no delay and no loss both ways that a search could run over for ever.
#[test]
fn links_that_cost_nothing_make_no_loop_and_the_lowest_of_equals_is_taken() {
    let link = |from, to, ms, loss| Link {
        from: NodeId(from),
        to: NodeId(to),
        capacity: Rate::from_bps(1),
        delay: Span::from_ms(ms),
        loss,
        weight: 1,
    };
    let free = [(0, 2), (2, 0), (0, 1), (1, 0), (1, 2), (2, 1)].map(|(from, to)| link(from, to, 0, 0.0));
    let paid = [(2, 3), (1, 3), (1, 3)].map(|(from, to)| link(from, to, 1, 0.01));
    let nodes = (0..4).map(|number: u32| node(&number.to_string())).collect();
    let network = Network::new(nodes, free.into_iter().chain(paid).collect()).expect("a network");
    let tree = ExactTree::new(&network, PathMetric::Tcpbp, NodeId(0), quality(&network));
    let links = |to| tree.path(&network, NodeId(to)).map(|path| path.links().to_vec());
    assert_eq!(links(3), Some(vec![LinkId(2), LinkId(7)]));
    assert_eq!(links(2), Some(vec![LinkId(0)]));
    assert_eq!(links(0), None);
    assert_eq!(tree.quality(NodeId(0)), Some(PathQuality::EMPTY));
}

/// The order of paths as the modules state it, written out: f to 9 digits, where it is 0 or infinite delay, hops, nodes,
/// links. Two f that differ by less than 2e-9 of themselves count as one here.
fn first<'p>(network: &Network, all: &'p [Path], of: impl Fn(LinkId) -> Option<LinkQuality>) -> &'p Path {
    let quality = |path: &Path| PathQuality::of(path.links().iter().filter_map(|&link| of(link)));
    let order = |left: &&Path, right: &&Path| {
        let (a, b) = (quality(left), quality(right));
        let (f, g) = (a.metric(), b.metric());
        let close = f == g || (f.max(g).is_finite() && (f - g).abs() <= 2e-9 * f.max(g));
        let by_metric = if close { Ordering::Equal } else { f.total_cmp(&g) };
        let by_delay = if f == g && (f == 0.0 || f == f64::INFINITY) {
            a.delay().cmp(&b.delay())
        } else {
            Ordering::Equal
        };
        by_metric
            .then(by_delay)
            .then(left.hops().cmp(&right.hops()))
            .then_with(|| left.nodes(network).cmp(&right.nodes(network)))
            .then_with(|| left.links().cmp(right.links()))
    };
    all.iter().min_by(order).expect("a path")
}

/// Loss of a link: half of them from a few values, so that there are ties, one in eight none, few all.
fn loss_of(link: LinkId, salt: u32) -> f64 {
    let draw = (link.0 + 1).wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503)) >> 7;
    match draw % 16 {
        0 | 1 => 0.0,
        2 => 1.0,
        n if n < 9 => [0.001, 0.01, 0.02][(draw / 16 % 3) as usize],
        _ => f64::from(draw / 16 % 1000) / 20_000.0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// The first of all simple paths in the order of the house, and no worse than the published algorithm's.
    #[test]
    fn it_is_the_first_of_all_paths(sample in samples(7, 22, 0..9, 1..2), salt in 0u32..1_000_000) {
        let of = |link: LinkId| {
            let usable = sample.mask.usable(&sample.network, link);
            usable.then(|| LinkQuality::new(Span::from_us(sample.cost(link)), loss_of(link, salt)))
        };
        for from in sample.network.node_ids() {
            let tree = ExactTree::new(&sample.network, PathMetric::Tcpbp, from, of);
            let published = TcpbpTree::new(&sample.network, from, of);
            for to in sample.network.node_ids().filter(|&to| to != from) {
                let all = sample.all_paths(from, to);
                let path = tree.path(&sample.network, to);
                prop_assert_eq!(path.is_some(), !all.is_empty());
                prop_assert_eq!(tree.quality(to).is_some(), !all.is_empty());
                let Some(path) = path else { continue };
                prop_assert_eq!(&path, first(&sample.network, &all, of));
                let ours = PathQuality::of(path.links().iter().filter_map(|&link| of(link)));
                prop_assert_eq!(tree.quality(to), Some(ours));
                let theirs = published.quality(to).expect("a way for the one is one for the other");
                prop_assert!(ours.metric() <= theirs.metric() * (1.0 + 2e-9));
            }
        }
    }

    /// Delays of all sizes, so that paths differ in both: the least f of all paths.
    #[test]
    fn no_path_is_better(sample in samples(7, 26, 1..10_000, 1..2), salt in 0u32..1_000_000) {
        let of = |link: LinkId| {
            let usable = sample.mask.usable(&sample.network, link);
            usable.then(|| LinkQuality::new(Span::from_us(sample.cost(link)), loss_of(link, salt)))
        };
        let f = |path: &Path| PathQuality::of(path.links().iter().filter_map(|&link| of(link))).metric();
        for (from, to) in sample.pairs().into_iter().filter(|(from, to)| from != to) {
            let least = sample.all_paths(from, to).iter().map(f).fold(f64::INFINITY, f64::min);
            let ours = exact_path(&sample.network, PathMetric::Tcpbp, from, to, of).map_or(f64::INFINITY, |path| f(&path));
            prop_assert!(ours == least || ours <= least * (1.0 + 2e-9), "{} {}", ours, least);
        }
    }

    /// Without loss delay, hops and numbers are left, which is the whole order of plain Dijkstra.
    #[test]
    fn without_loss_it_is_dijkstra_by_delay(sample in samples(8, 24, 0..4, 1..2)) {
        let of = |link: LinkId| {
            let usable = sample.mask.usable(&sample.network, link);
            usable.then(|| LinkQuality::new(Span::from_ps(sample.cost(link)), 0.0))
        };
        let graph = sample.graph();
        for (from, to) in sample.pairs().into_iter().filter(|(from, to)| from != to) {
            prop_assert_eq!(exact_path(&sample.network, PathMetric::Tcpbp, from, to, of), shortest_path(&graph, from, to));
        }
    }
}
