//! Known networks, with answers that the literature prints or that a map shows.

use crate::common::{abilene, at, node, nsfnet, numbered, spell};
use anabranch_network::{Link, Network, Path};
use anabranch_routing::{
    AdditiveMetric, CostGraph, LinkMask, disjoint_paths, ecmp_table, k_shortest_paths, max_flow,
    shortest_path,
};
use anabranch_units::{NodeId, Rate, Span};

fn by(network: &Network, metric: AdditiveMetric) -> CostGraph<'_> {
    CostGraph::new(network, &LinkMask::all_up(network), |link| metric.cost(network, link))
}

fn spell_all(network: &Network, paths: &[Path]) -> Vec<String> {
    paths.iter().map(|path| spell(network, path)).collect()
}

/// There are three shortest paths by hops from Seattle to Atlanta. Two share Seattle-Denver-Kansas
/// City, and two share Houston-Atlanta.
#[test]
fn abilene_has_three_shortest_paths_from_seattle_to_atlanta() {
    let network = abilene();
    let graph = by(&network, AdditiveMetric::Hops);
    let paths = k_shortest_paths(&graph, at(&network, "Seattle"), at(&network, "Atlanta"), 4);
    assert_eq!(
        spell_all(&network, &paths)[..3],
        [
            "Seattle-Denver-Kansas City-Houston-Atlanta",
            "Seattle-Denver-Kansas City-Indianapolis-Atlanta",
            "Seattle-Sunnyvale-Los Angeles-Houston-Atlanta",
        ]
    );
    assert_eq!(paths.iter().map(Path::hops).collect::<Vec<_>>(), [4, 4, 4, 5]);
}

/// Two paths share no link, as the smallest cut has two: the links at Seattle.
#[test]
fn abilene_has_two_disjoint_paths_from_seattle_to_atlanta() {
    let network = abilene();
    let graph = by(&network, AdditiveMetric::Hops);
    let (seattle, atlanta) = (at(&network, "Seattle"), at(&network, "Atlanta"));
    let expected =
        ["Seattle-Denver-Kansas City-Indianapolis-Atlanta", "Seattle-Sunnyvale-Los Angeles-Houston-Atlanta"];
    for k in [Some(2), Some(7), None] {
        assert_eq!(spell_all(&network, &disjoint_paths(&graph, seattle, atlanta, k)), expected);
    }
    let flow = max_flow(&graph, seattle, atlanta);
    let rates: Vec<u64> = flow.iter().map(|part| part.rate.as_bps()).collect();
    assert_eq!(rates, [10_000_000; 2]);
    assert_eq!(flow.iter().map(|part| spell(&network, &part.path)).collect::<Vec<_>>(), expected);
}

/// Equal splitting hop by hop sends half over Denver, halves that again in Kansas City, and so
/// loads Houston-Atlanta with three quarters.
#[test]
fn abilene_ecmp_loads_houston_atlanta_with_three_quarters() {
    let network = abilene();
    let table = ecmp_table(&by(&network, AdditiveMetric::Hops), at(&network, "Atlanta"));
    let mut share = vec![0.0; network.nodes().len()];
    share[at(&network, "Seattle").index()] = 1.0;
    let mut houston_atlanta = 0.0;
    for name in ["Seattle", "Denver", "Sunnyvale", "Kansas City", "Los Angeles", "Houston", "Indianapolis"] {
        let here = at(&network, name);
        let next = table.at(here);
        let part = share[here.index()] / next.len() as f64;
        for &link in next {
            share[network.link(link).to.index()] += part;
            if spell(&network, &Path::new(&network, vec![link]).unwrap()) == "Houston-Atlanta" {
                houston_atlanta += part;
            }
        }
    }
    assert_eq!(share[at(&network, "Atlanta").index()], 1.0);
    assert_eq!(houston_atlanta, 0.75);
}

/// Ties by hops break by node number, as in the example of Fukushima et al. 2016.
#[test]
fn nsfnet_ties_break_by_node_number() {
    let network = nsfnet();
    let paths = k_shortest_paths(&by(&network, AdditiveMetric::Hops), NodeId(0), NodeId(4), 3);
    assert_eq!(spell_all(&network, &paths), ["1-2-4-5", "1-3-6-5", "1-8-7-5"]);
}

/// The delays printed in Fukushima et al. 2016 for the longest of two candidate paths of the pairs
/// 1-2 to 1-6, in ms.
#[test]
fn nsfnet_candidates_have_the_printed_delays() {
    let network = nsfnet();
    let graph = by(&network, AdditiveMetric::Hops);
    let longest = |to| {
        let paths = k_shortest_paths(&graph, NodeId(0), NodeId(to), 2);
        paths.iter().map(|path| path.delay(&network)).max().unwrap()
    };
    let printed = [9_800, 7_500, 13_300, 21_000, 15_900].map(Span::from_us);
    assert_eq!([1, 2, 3, 4, 5].map(longest), printed);
}

/// Delays of the first twelve paths from 1 to 3, in tenths of a millisecond, as
/// shortest_simple_paths of networkx 3.6.1 finds them.
#[test]
fn nsfnet_paths_by_delay() {
    let network = nsfnet();
    let paths = k_shortest_paths(&by(&network, AdditiveMetric::Delay), NodeId(0), NodeId(2), 12);
    let tenths: Vec<u64> = paths.iter().map(|path| path.delay(&network).as_ps() / 100_000_000).collect();
    assert_eq!(tenths, [70, 75, 250, 266, 315, 315, 336, 343, 343, 350, 364, 371]);
}

/// The ten-node network of Vilela 2022: from 1 to 10 the shortest path by delay is 1-5-4-10.
#[test]
fn vilela_shortest_by_delay() {
    const MICROSECONDS: [(u32, u32, u64); 21] = [
        (1, 3, 8500),
        (1, 5, 4000),
        (1, 6, 1500),
        (1, 9, 3200),
        (2, 3, 4000),
        (2, 5, 5500),
        (2, 8, 1900),
        (2, 9, 7000),
        (3, 4, 1800),
        (3, 6, 9600),
        (3, 7, 8200),
        (3, 10, 4400),
        (4, 5, 500),
        (4, 7, 7300),
        (4, 10, 3000),
        (5, 6, 9400),
        (5, 8, 10),
        (5, 9, 6300),
        (5, 10, 5000),
        (7, 9, 5400),
        (7, 10, 7600),
    ];
    let network = numbered(10, &MICROSECONDS.map(|(a, b, us)| (a, b, Span::from_us(us))));
    let path = shortest_path(&by(&network, AdditiveMetric::Delay), NodeId(0), NodeId(9)).unwrap();
    assert_eq!((spell(&network, &path).as_str(), path.delay(&network)), ("1-5-4-10", Span::from_us(7500)));
}

/// The pair of J. W. Suurballe's trap: the shortest path s-a-b-t (3) blocks both of the disjoint
/// paths s-a-t and s-b-t (10 each), so taking it first and then what is left finds only one path.
#[test]
fn disjoint_paths_give_up_the_shortest_where_they_must() {
    let link = |from, to, ms| Link {
        from: NodeId(from),
        to: NodeId(to),
        capacity: Rate::from_bps(1000),
        delay: Span::from_ms(ms),
        loss: 0.0,
        weight: 1,
    };
    let links = vec![link(0, 1, 1), link(1, 2, 1), link(2, 3, 1), link(0, 2, 9), link(1, 3, 9)];
    let network = Network::new(["s", "a", "b", "t"].map(node).to_vec(), links).unwrap();
    let graph = by(&network, AdditiveMetric::Delay);
    let paths = |k| spell_all(&network, &disjoint_paths(&graph, NodeId(0), NodeId(3), k));
    assert_eq!(paths(Some(1)), ["s-a-b-t"]);
    assert_eq!(paths(Some(2)), ["s-a-t", "s-b-t"]);
}

/// Two hops of 10 Gbps cost as much as one of 5 Gbps: equal cost, whatever the number of hops.
#[test]
fn equal_cost_does_not_mean_equal_hops() {
    let link = |from, to, gbps: u64| Link {
        from: NodeId(from),
        to: NodeId(to),
        capacity: Rate::from_bps(gbps * 1_000_000_000),
        delay: Span::from_ms(1),
        loss: 0.0,
        weight: 1,
    };
    let links = vec![link(0, 2, 5), link(0, 1, 10), link(1, 2, 10), link(0, 2, 5), link(0, 2, 4)];
    let network = Network::new(["a", "b", "c"].map(node).to_vec(), links).unwrap();
    let table = ecmp_table(&by(&network, AdditiveMetric::InverseCapacity), NodeId(2));
    let next: Vec<Vec<u32>> =
        network.node_ids().map(|node| table.at(node).iter().map(|link| link.0).collect()).collect();
    assert_eq!(next, [vec![1, 0, 3], vec![2], vec![]]);
}

/// The flow takes the short path first and the detour only for what does not fit.
#[test]
fn max_flow_prefers_short_paths() {
    let link = |from, to, bps| Link {
        from: NodeId(from),
        to: NodeId(to),
        capacity: Rate::from_bps(bps),
        delay: Span::from_ms(1),
        loss: 0.0,
        weight: 1,
    };
    let links = vec![link(0, 2, 30), link(0, 1, 10), link(1, 2, 50)];
    let network = Network::new(["a", "b", "c"].map(node).to_vec(), links).unwrap();
    let flow = max_flow(&by(&network, AdditiveMetric::Hops), NodeId(0), NodeId(2));
    let parts: Vec<_> = flow.iter().map(|part| (spell(&network, &part.path), part.rate.as_bps())).collect();
    assert_eq!(parts, [("a-c".into(), 30), ("a-b-c".into(), 10)]);
}
