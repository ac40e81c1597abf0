//! The modified Dijkstra on the network of the thesis, and against every path there is.

use crate::common::{Sample, by_hand, node, samples, spell, ten_nodes};
use anabranch_network::{Link, Network, Path};
use anabranch_routing::{
    AdditiveMetric, CostGraph, LinkMask, LinkQuality, PathQuality, TcpbpTree, shortest_path, tcpbp_path,
};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use proptest::prelude::*;

fn quality(network: &Network) -> impl Fn(LinkId) -> Option<LinkQuality> {
    |link| Some(LinkQuality::new(network.link(link).delay, network.link(link).loss))
}

fn found(network: &Network, from: u32, to: u32) -> Path {
    tcpbp_path(network, NodeId(from - 1), NodeId(to - 1), quality(network)).expect("a way")
}

fn metric(network: &Network, path: &Path) -> f64 {
    PathQuality::of(path.links().iter().filter_map(|&link| quality(network)(link))).metric()
}

/// Checked facts of the specification: 37 of the 45 pairs go as they do by delay.
#[test]
fn thirty_seven_of_45_routes_are_those_of_least_delay() {
    let network = ten_nodes();
    let graph = CostGraph::new(&network, &LinkMask::all_up(&network), |link| {
        AdditiveMetric::Delay.cost(&network, link)
    });
    let pairs: Vec<(u32, u32)> = (1..=10).flat_map(|a| (a + 1..=10).map(move |b| (a, b))).collect();
    assert_eq!(pairs.len(), 45);
    let same = |&&(a, b): &&(u32, u32)| {
        shortest_path(&graph, NodeId(a - 1), NodeId(b - 1)) == Some(found(&network, a, b))
    };
    assert_eq!(pairs.iter().filter(same).count(), 37);
}

/// Table 4 of the thesis, and 1/(RTT sqrt(p)) with the loss of the round trip as the specification has it.
#[test]
fn the_route_from_1_to_10_is_the_published_one() {
    let network = ten_nodes();
    let path = found(&network, 1, 10);
    assert_eq!(spell(&network, &path), "1-3-4-10");
    assert!((metric(&network, &path) / by_hand(&[1, 3, 4, 10]) - 1.0).abs() < 1e-9);
    let round_trip = |nodes: &[u32]| {
        let (there, back) = (nodes.to_vec(), nodes.iter().rev().skip(1).copied());
        1.0 / by_hand(&there.into_iter().chain(back).collect::<Vec<_>>())
    };
    assert_eq!(round_trip(&[1, 3, 4, 10]).round(), 321.0);
    assert_eq!(round_trip(&[1, 5, 10]).round(), 267.0);
    assert_eq!(round_trip(&[1, 5, 4, 10]).round(), 318.0);
}

/// The metric is not isotonic: for two of the 45 pairs the published algorithm misses the best path.
#[test]
fn two_routes_are_not_the_best() {
    let network = ten_nodes();
    for (from, to, ours, our_metric, best, best_metric) in [
        (2, 6, "2-3-6", 0.001_696_1, vec![2, 8, 5, 1, 6], 0.001_490_1),
        (4, 6, "4-5-6", 0.001_179_4, vec![4, 5, 1, 6], 0.000_993_6),
    ] {
        let path = found(&network, from, to);
        assert_eq!(spell(&network, &path), ours);
        assert!((metric(&network, &path) - our_metric).abs() < 5e-8, "{ours}");
        assert!((by_hand(&best) - best_metric).abs() < 5e-8, "{best:?}");
    }
    // The counterexample of the module's documentation.
    let (kept, lost) = (by_hand(&[2, 3, 1]), by_hand(&[2, 8, 5, 1]));
    assert!(kept < lost && by_hand(&[2, 3, 1, 6]) > by_hand(&[2, 8, 5, 1, 6]), "{kept} {lost}");
}

#[test]
fn all_other_routes_are_the_best() {
    let sample = Sample { network: ten_nodes(), mask: LinkMask::all_up(&ten_nodes()) };
    let network = &sample.network;
    let mut missed = Vec::new();
    for (a, b) in (1..=10).flat_map(|a| (a + 1..=10).map(move |b| (a, b))) {
        let all = sample.all_paths(NodeId(a - 1), NodeId(b - 1));
        let least = all.iter().map(|path| metric(network, path)).fold(f64::INFINITY, f64::min);
        if metric(network, &found(network, a, b)) > least * (1.0 + 1e-9) {
            missed.push((a, b));
        }
    }
    assert_eq!(missed, [(2, 6), (4, 6)]);
}

/// Losses in another order multiply to another last bit; the tie breaks by node number all the same.
#[test]
fn equal_links_in_another_order_are_a_tie() {
    let nodes = (0..6).map(|number: u32| node(&number.to_string())).collect();
    let link = |from, to, loss| Link {
        from: NodeId(from),
        to: NodeId(to),
        capacity: Rate::from_bps(1),
        delay: Span::from_ms(1),
        loss,
        weight: 1,
    };
    for order in [[0.1, 0.7, 0.3], [0.3, 0.1, 0.7], [0.7, 0.3, 0.1], [0.1, 0.3, 0.7]] {
        let high = [link(0, 3, 0.3), link(3, 4, 0.7), link(4, 5, 0.1)];
        let low = [link(0, 1, order[0]), link(1, 2, order[1]), link(2, 5, order[2])];
        let nodes: Vec<_> = Vec::clone(&nodes);
        let network = Network::new(nodes, high.into_iter().chain(low).collect()).expect("a network");
        let path = tcpbp_path(&network, NodeId(0), NodeId(5), quality(&network)).expect("a way");
        assert_eq!(spell(&network, &path), "0-1-2-5", "{order:?}");
    }
}

#[test]
fn a_better_path_must_be_better_by_the_threshold() {
    let path = |ms, loss| PathQuality::of([LinkQuality::new(Span::from_ms(ms), loss)]);
    // f in proportion to the delay where the loss is the same, and to its root where the delay is.
    assert!(path(89, 0.01).beats(path(100, 0.01), 0.1));
    assert!(!path(91, 0.01).beats(path(100, 0.01), 0.1));
    assert!(path(100, 0.0024).beats(path(100, 0.01), 0.5));
    assert!(!path(100, 0.0026).beats(path(100, 0.01), 0.5));
    assert!(!path(100, 0.01).beats(path(100, 0.01), 0.0));
    // Without loss delays count, and any loss is worse than none.
    assert!(path(89, 0.0).beats(path(100, 0.0), 0.1) && !path(91, 0.0).beats(path(100, 0.0), 0.1));
    assert!(path(500, 0.0).beats(path(1, 0.01), 0.9) && !path(1, 0.01).beats(path(500, 0.0), 0.0));
}

#[test]
#[should_panic(expected = "no probability")]
fn a_loss_that_is_no_number_is_refused() {
    let _ = LinkQuality::new(Span::from_ms(1), f64::NAN);
}

/// A loss for every link, from its id: some links lose nothing, one in nine loses all.
fn loss_of(link: LinkId) -> f64 {
    match link.0 % 9 {
        0 => 1.0,
        n if n < 4 => 0.0,
        n => f64::from(n * (link.0 + 1) % 100) / 250.0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Never better than the best of all paths (were it so, f would be wrong), reached where there is a path,
    /// simple (`Path::new` refuses a loop), and as good as its label says.
    #[test]
    fn paths_are_paths_and_never_better_than_the_best(sample in samples(6, 16, 1..9, 1..2)) {
        let of = |link: LinkId| {
            let usable = sample.mask.usable(&sample.network, link);
            usable.then(|| LinkQuality::new(Span::from_ms(sample.cost(link)), loss_of(link)))
        };
        let f = |path: &Path| PathQuality::of(path.links().iter().filter_map(|&link| of(link))).metric();
        for from in sample.network.node_ids() {
            let tree = TcpbpTree::new(&sample.network, from, of);
            for to in sample.network.node_ids().filter(|&to| to != from) {
                let all = sample.all_paths(from, to);
                let path = tree.path(&sample.network, to);
                prop_assert_eq!(path.is_some(), !all.is_empty());
                let Some(path) = path else { continue };
                prop_assert!(all.contains(&path));
                prop_assert_eq!(tree.quality(to).map(PathQuality::metric), Some(f(&path)));
                let least = all.iter().map(f).fold(f64::INFINITY, f64::min);
                prop_assert!(f(&path) >= least);
            }
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
            prop_assert_eq!(tcpbp_path(&sample.network, from, to, of), shortest_path(&graph, from, to));
        }
    }
}
