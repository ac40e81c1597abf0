//! Schemes and plans: their text, their checks, and that nothing a network holds makes them panic.

use crate::common::{abilene, at, samples, spell};
use anabranch_network::{Link, Network, Node, Path};
use anabranch_routing::{
    AdditiveMetric, LinkMask, Metric, NextHopsTo, PathLimits, PathShares, Plan, Route, Scheme, TcpbpMetric,
    WeightedPath, prune,
};
use anabranch_routing::{
    DisjointScheme, EcmpScheme, KShortestScheme, MaxFlowScheme, NearShortestScheme, SemperScheme,
    ShortestScheme, TcpbpExactScheme, TcpbpScheme,
};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Every scheme under every metric that it takes, with and without its options.
fn every_scheme() -> Vec<Scheme> {
    let of_any = |metric| {
        vec![
            Scheme::Shortest(ShortestScheme { metric, limits: None }),
            Scheme::KShortest(KShortestScheme { k: 1, metric, limits: None }),
            Scheme::KShortest(KShortestScheme { k: 3, metric, limits: None }),
            Scheme::NearShortest(NearShortestScheme { within_percent: 30, k: 4, metric, limits: None }),
        ]
    };
    let of_sums = |metric| {
        vec![
            Scheme::Ecmp(EcmpScheme { metric }),
            Scheme::Disjoint(DisjointScheme { k: None, metric }),
            Scheme::Disjoint(DisjointScheme { k: Some(2), metric }),
            Scheme::MaxFlow(MaxFlowScheme { metric }),
            Scheme::Semper(SemperScheme { k: None, metric, shares: PathShares::Equal }),
            Scheme::Semper(SemperScheme { k: Some(2), metric, shares: PathShares::Capacity }),
        ]
    };
    let metric = TcpbpMetric::Tcpbp;
    let of_one = [1, 3].into_iter().flat_map(|k| {
        [
            Scheme::Tcpbp(TcpbpScheme { k, metric }),
            Scheme::TcpbpExact(TcpbpExactScheme { k, ..TcpbpExactScheme::default() }),
        ]
    });
    let any = Metric::NAMES.into_iter().flat_map(|(_, metric)| of_any(metric));
    any.chain(AdditiveMetric::NAMES.map(|(_, metric)| metric).into_iter().flat_map(of_sums))
        .chain(of_one)
        .collect()
}

fn parse(text: &str) -> Result<Scheme, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn schemes_read_as_they_are_written() {
    let (k, metric) = (2, AdditiveMetric::Hops);
    let tcpbp = TcpbpMetric::Tcpbp;
    let expected = [
        (
            r#"{"algorithm":"shortest","metric":"hops","limits":null}"#,
            Scheme::Shortest(ShortestScheme { metric: Metric::Hops, limits: None }),
        ),
        (r#"{"algorithm":"ecmp","metric":"hops"}"#, Scheme::Ecmp(EcmpScheme { metric })),
        (
            r#"{"algorithm":"k-shortest","k":2,"metric":"hops","limits":{"max_delay":7,"max_loss":0.5}}"#,
            Scheme::KShortest(KShortestScheme {
                k,
                metric: Metric::Hops,
                limits: Some(PathLimits { max_delay: Some(Span::from_ps(7)), max_loss: Some(0.5) }),
            }),
        ),
        (
            r#"{"algorithm":"tcpbp","k":1,"metric":"tcpbp"}"#,
            Scheme::Tcpbp(TcpbpScheme { k: 1, metric: tcpbp }),
        ),
        (
            r#"{"algorithm":"tcpbp-exact","k":2,"metric":"tcpbp","limits":null,"model":null,"sharing":null,"objective":null}"#,
            Scheme::TcpbpExact(TcpbpExactScheme { k, ..TcpbpExactScheme::default() }),
        ),
        (
            r#"{"algorithm":"disjoint","k":null,"metric":"hops"}"#,
            Scheme::Disjoint(DisjointScheme { k: None, metric }),
        ),
        (
            r#"{"algorithm":"disjoint","k":2,"metric":"hops"}"#,
            Scheme::Disjoint(DisjointScheme { k: Some(k), metric }),
        ),
        (r#"{"algorithm":"max-flow","metric":"hops"}"#, Scheme::MaxFlow(MaxFlowScheme { metric })),
        (
            r#"{"algorithm":"semper","k":2,"shares":"capacity","metric":"hops"}"#,
            Scheme::Semper(SemperScheme { k: Some(k), metric, shares: PathShares::Capacity }),
        ),
    ];
    for (text, scheme) in expected {
        assert_eq!(parse(text).as_ref(), Ok(&scheme));
        assert_eq!(serde_json::to_string(&scheme).unwrap(), text);
    }
    let k_left_out = parse(r#"{"algorithm":"disjoint","metric":"delay"}"#);
    assert_eq!(k_left_out, Ok(Scheme::Disjoint(DisjointScheme { k: None, metric: AdditiveMetric::Delay })));
}

#[test]
fn wrong_schemes_are_refused() {
    let error = |text| parse(text).unwrap_err();
    for (text, word) in [
        (r#"{"algorithm":"shortest","metric":"hops","k":2}"#, "unknown field `k`"),
        (r#"{"algorithm":"shortest","metric":"miles"}"#, "unknown variant `miles`"),
        (r#"{"algorithm":"k-shortest","k":-1,"metric":"hops"}"#, "invalid value: integer `-1`"),
        (r#"{"metric":"hops"}"#, "missing field `algorithm`"),
        (r#"{"algorithm":"ecmp","metric":"tcpbp"}"#, "unknown variant `tcpbp`"),
        (r#"{"algorithm":"disjoint","metric":"capacity"}"#, "unknown variant `capacity`"),
        (r#"{"algorithm":"max-flow","metric":"argaq"}"#, "unknown variant `argaq`"),
        (r#"{"algorithm":"tcpbp","metric":"hops"}"#, "unknown variant `hops`"),
    ] {
        assert!(error(text).contains(word), "{}", error(text));
    }
    let unknown = error(r#"{"algorithm":"best","metric":"hops"}"#);
    let names: Vec<String> = Scheme::NAMES.iter().map(|name| format!("`{name}`")).collect();
    assert!(unknown.contains(&format!("expected one of {}", names.join(", "))), "{unknown}");
}

/// Every scheme asks before each search, and ends where it is told to, be that at its first question or its last.
#[test]
fn every_scheme_ends_when_it_is_told_to() {
    let network = abilene();
    let all_up = LinkMask::all_up(&network);
    let nodes = || network.node_ids();
    let pairs: Vec<_> = nodes().flat_map(|from| nodes().map(move |to| (from, to))).collect();
    for scheme in every_scheme() {
        let mut reports = Vec::new();
        let watched = scheme.plan_watched(&network, &all_up, &pairs, &mut |done| {
            reports.push(done);
            Ok::<(), usize>(())
        });
        assert_eq!(watched.as_ref(), Ok(&scheme.plan(&network, &all_up, &pairs)), "{scheme:?}");
        // At least once for each of the eleven nodes; of all pairs that are routed the last are not heard of.
        assert!(reports.len() >= 11 && reports.is_sorted(), "{scheme:?}: {reports:?}");
        for last in [0, reports.len() / 2, reports.len() - 1] {
            let mut questions = 0;
            let stopped = scheme.plan_watched(&network, &all_up, &pairs, &mut |_| {
                questions += 1;
                if questions > last { Err(questions) } else { Ok(()) }
            });
            assert_eq!((stopped, questions), (Err(last + 1), last + 1), "{scheme:?}");
        }
    }
}

/// What each scheme answers for Seattle to Atlanta, as a table.
#[test]
fn schemes_on_abilene() {
    let network = abilene();
    let (seattle, atlanta) = (at(&network, "Seattle"), at(&network, "Atlanta"));
    let rows: Vec<String> = every_scheme()
        .into_iter()
        .filter(|scheme| scheme.metric() == Metric::Hops)
        .map(|scheme| {
            let plan = scheme.plan(&network, &LinkMask::all_up(&network), &[(seattle, atlanta)]);
            plan.check(&network).unwrap();
            let route = plan.route(seattle, atlanta).unwrap();
            let paths: Vec<String> = route
                .paths
                .iter()
                .map(|path| format!("{:.3} {}", path.weight, spell(&network, &path.links)))
                .collect();
            format!("{} table; {}", plan.tables.len(), paths.join("; "))
        })
        .collect();
    let (kansas_houston, kansas_indianapolis, south) = (
        "Seattle-Denver-Kansas City-Houston-Atlanta",
        "Seattle-Denver-Kansas City-Indianapolis-Atlanta",
        "Seattle-Sunnyvale-Los Angeles-Houston-Atlanta",
    );
    // Atlanta has the lower number, and Houston, its neighbour, a lower one than Indianapolis.
    let from_atlanta = format!("0 table; 0.500 {south}; 0.500 {kansas_indianapolis}");
    let disjoint = format!("0 table; 0.500 {kansas_indianapolis}; 0.500 {south}");
    assert_eq!(
        rows,
        [
            format!("0 table; 1.000 {kansas_houston}"),
            format!("0 table; 1.000 {kansas_houston}"),
            format!("0 table; 0.333 {kansas_houston}; 0.333 {kansas_indianapolis}; 0.333 {south}"),
            // Five hops are within 30 % of four; of the paths of five Denver, the lower number, has the first.
            format!(
                "0 table; 0.250 {kansas_houston}; 0.250 {kansas_indianapolis}; 0.250 {south}; \
                 0.250 Seattle-Denver-Sunnyvale-Los Angeles-Houston-Atlanta"
            ),
            "1 table; ".to_owned(),
            disjoint.clone(),
            disjoint.clone(),
            disjoint,
            from_atlanta.clone(),
            from_atlanta,
        ]
    );
}

/// When Denver fails no scheme goes there, and nobody reaches Denver.
#[test]
fn nothing_leads_over_a_failed_node() {
    let network = abilene();
    let (seattle, atlanta, denver) =
        (at(&network, "Seattle"), at(&network, "Atlanta"), at(&network, "Denver"));
    let mut mask = LinkMask::all_up(&network);
    mask.set_node(denver, false);
    for scheme in every_scheme() {
        let plan = scheme.plan(&network, &mask, &[(seattle, atlanta), (seattle, denver), (denver, atlanta)]);
        plan.check(&network).unwrap();
        assert_eq!(plan.routes.len(), 1);
        let route = plan.route(seattle, atlanta).unwrap();
        let paths: Vec<String> = route.paths.iter().map(|path| spell(&network, &path.links)).collect();
        assert!(paths.iter().all(|path| !path.contains("Denver")), "{paths:?}");
        if let Some(first) = paths.first() {
            assert_eq!(first, "Seattle-Sunnyvale-Los Angeles-Houston-Atlanta");
        }
        for table in &plan.tables {
            assert_eq!(table.at(denver), []);
            assert_eq!(table.at(seattle).len(), 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// On networks in pieces, with parallel links, some down: every plan is valid, uses only what
    /// is up, has a route for exactly the pairs that are connected, and is the same again for the
    /// pairs in another order.
    #[test]
    fn every_scheme_makes_valid_plans(sample in samples(7, 16, 0..4, 1..6)) {
        let pairs = sample.pairs();
        let backwards: Vec<_> = pairs.iter().rev().chain(&pairs).copied().collect();
        for scheme in every_scheme() {
            let plan = scheme.plan(&sample.network, &sample.mask, &pairs);
            prop_assert_eq!(plan.check(&sample.network), Ok(()));
            prop_assert_eq!(&prune(&plan, &sample.network, &sample.mask), &plan);
            prop_assert_eq!(&scheme.plan(&sample.network, &sample.mask, &backwards), &plan);
            for &(from, to) in &pairs {
                let connected = !sample.all_paths(from, to).is_empty();
                prop_assert_eq!(plan.route(from, to).is_some(), connected);
            }
        }
    }

    /// Nearly shortest paths are all that there are within the percentage, by trying every one.
    #[test]
    fn nearly_shortest_paths_are_those_within_the_percentage(
        sample in samples(5, 10, 0..40, 1..6),
        within_percent in 0u32..200,
    ) {
        let scheme =
            Scheme::NearShortest(NearShortestScheme { within_percent, k: 64, metric: Metric::Delay, limits: None });
        let plan = scheme.plan(&sample.network, &sample.mask, &sample.pairs());
        for route in &plan.routes {
            let all = sample.all_paths(route.from, route.to);
            prop_assume!(all.len() <= 64);
            let most = sample.order(&all[0]).0 * u128::from(100 + within_percent);
            let expected: Vec<_> = all.into_iter().filter(|path| sample.order(path).0 * 100 <= most).collect();
            let ours: Vec<_> = route.paths.iter().map(|path| path.links.clone()).collect();
            prop_assert_eq!(ours, expected);
        }
    }

    /// The largest costs and capacities that a network can hold overflow nothing.
    #[test]
    fn extreme_networks_are_no_exception(sample in samples(6, 14, u64::MAX - 2..u64::MAX, u64::MAX - 2..u64::MAX)) {
        for scheme in every_scheme() {
            let plan = scheme.plan(&sample.network, &sample.mask, &sample.pairs());
            prop_assert_eq!(plan.check(&sample.network), Ok(()));
        }
    }

    /// A pruned plan is valid and uses only what is up, whatever fails.
    #[test]
    fn pruned_plans_are_valid(sample in samples(7, 16, 0..4, 1..6)) {
        let before = LinkMask::all_up(&sample.network);
        for scheme in every_scheme() {
            let plan = scheme.plan(&sample.network, &before, &sample.pairs());
            let pruned = prune(&plan, &sample.network, &sample.mask);
            prop_assert_eq!(pruned.check(&sample.network), Ok(()));
            let usable = |link: &LinkId| sample.mask.usable(&sample.network, *link);
            let paths = || pruned.routes.iter().flat_map(|route| &route.paths);
            prop_assert!(paths().flat_map(|path| path.links.links()).all(usable));
            let next = || pruned.tables.iter().flat_map(|table| &table.next);
            prop_assert!(next().flat_map(|(_, links)| &**links).all(usable));
        }
    }
}

/// Parallel links of 10 ms and 1 % loss, 4 ms and 4 %, 20 ms and 9 %: by d sqrt(p) 1, 0.8 and 6 ms, so that the first is
/// within 25 % of the second. By capacity, 10, 8 and 4 Mbps,
/// the second is within 25 % of the first, because that is 1.25 of it. Without loss the delays decide.
#[test]
fn paths_are_near_by_metrics_of_whole_paths() {
    let link = |ms, loss, mbps: u64| Link {
        from: NodeId(0),
        to: NodeId(1),
        capacity: Rate::from_bps(mbps * 1_000_000),
        delay: Span::from_ms(ms),
        loss,
        weight: 1,
    };
    let links_of = |links: &[Link; 3], metric, within_percent| {
        let nodes = ["a", "b"].map(|name| Node { name: name.into(), place: None });
        let network = Network::new(nodes.to_vec(), links.to_vec()).expect("a network");
        let scheme = Scheme::NearShortest(NearShortestScheme { within_percent, k: 8, metric, limits: None });
        let plan = scheme.plan(&network, &LinkMask::all_up(&network), &[(NodeId(0), NodeId(1))]);
        let ids = |path: &WeightedPath| path.links.links()[0].0;
        assert!(
            plan.routes[0].paths.iter().all(|path| path.weight * plan.routes[0].paths.len() as f64 == 1.0)
        );
        plan.routes[0].paths.iter().map(ids).collect::<Vec<_>>()
    };
    let lossy = [link(10, 0.01, 10), link(4, 0.04, 8), link(20, 0.09, 4)];
    assert_eq!(links_of(&lossy, Metric::Tcpbp, 24), [1]);
    assert_eq!(links_of(&lossy, Metric::Tcpbp, 26), [1, 0]);
    assert_eq!(links_of(&lossy, Metric::Tcpbp, 700), [1, 0, 2]);
    assert_eq!(links_of(&lossy, Metric::Capacity, 24), [0]);
    assert_eq!(links_of(&lossy, Metric::Capacity, 25), [0, 1]);
    let clean = [link(10, 0.0, 10), link(4, 0.0, 8), link(20, 0.0, 4)];
    assert_eq!(links_of(&clean, Metric::Tcpbp, 149), [1]);
    assert_eq!(links_of(&clean, Metric::Tcpbp, 151), [1, 0]);
}

/// A plan for Seattle to Atlanta over two paths, one to three, and a table to Denver.
fn hand_made(network: &Network) -> Plan {
    let (seattle, atlanta, denver) = (at(network, "Seattle"), at(network, "Atlanta"), at(network, "Denver"));
    let path = |names: &[&str]| {
        let link = |ends: &[&str]| {
            let is = |id: &LinkId| {
                let link = network.link(*id);
                (link.from, link.to) == (at(network, ends[0]), at(network, ends[1]))
            };
            network.link_ids().find(is).unwrap()
        };
        Path::new(network, names.windows(2).map(link).collect()).unwrap()
    };
    let north = path(&["Seattle", "Denver", "Kansas City", "Indianapolis", "Atlanta"]);
    let south = path(&["Seattle", "Sunnyvale", "Los Angeles", "Houston", "Atlanta"]);
    let mut next: BTreeMap<NodeId, Vec<LinkId>> = BTreeMap::new();
    for names in [["Seattle", "Denver"], ["Sunnyvale", "Denver"], ["Seattle", "Sunnyvale"]] {
        next.entry(at(network, names[0])).or_default().extend_from_slice(path(&names).links());
    }
    let paths =
        vec![WeightedPath { links: north, weight: 0.25 }, WeightedPath { links: south, weight: 0.75 }];
    Plan {
        routes: vec![
            Route { from: seattle, to: atlanta, paths },
            Route { from: seattle, to: denver, paths: Vec::new() },
        ],
        tables: vec![NextHopsTo {
            to: denver,
            next: next.into_iter().map(|(node, links)| (node, links.into())).collect(),
        }],
        ..Plan::default()
    }
}

#[test]
fn plans_read_as_they_are_written() {
    let paths = Vec::new();
    let table = NextHopsTo { to: NodeId(2), next: vec![(NodeId(0), vec![LinkId(4), LinkId(7)].into())] };
    let routes = vec![Route { from: NodeId(0), to: NodeId(2), paths }];
    let plan = Plan { routes, tables: vec![table], ..Plan::default() };
    let text = r#"{"routes":[{"from":0,"to":2,"paths":[]}],"tables":[{"to":2,"next":[[0,[4,7]]]}]}"#;
    assert_eq!(serde_json::to_string(&plan).unwrap(), text);
    assert_eq!(serde_json::from_str::<Plan>(text).unwrap(), plan);
}

#[test]
fn a_route_is_found_by_its_pair() {
    let network = abilene();
    let plan = hand_made(&network);
    let (seattle, atlanta, denver) =
        (at(&network, "Seattle"), at(&network, "Atlanta"), at(&network, "Denver"));
    assert_eq!(plan.check(&network), Ok(()));
    assert_eq!(plan.route(seattle, atlanta).unwrap().paths.len(), 2);
    assert_eq!(plan.route(seattle, denver).unwrap().paths.len(), 0);
    assert_eq!(plan.route(atlanta, seattle), None);
    assert_eq!(plan.table(denver).unwrap().to, denver);
    assert_eq!(plan.table(atlanta), None);
}

/// What the check says of the plan written by hand after this change.
fn said(change: impl FnOnce(&mut Plan)) -> String {
    let network = abilene();
    let mut plan = hand_made(&network);
    change(&mut plan);
    plan.check(&network).unwrap_err().to_string()
}

fn path_over(links: &str) -> Path {
    serde_json::from_str(links).unwrap()
}

#[test]
fn routes_that_do_not_fit_say_where() {
    let network = abilene();
    let seattle = at(&network, "Seattle");
    let pair = r#"route "Seattle" -> "Atlanta""#;
    let to_denver = r#"route "Seattle" -> "Denver""#;
    let no_node = |plan: &mut Plan| plan.routes[0].from = NodeId(70);
    assert_eq!(said(no_node), "route 0: no node number 70; the network has 11 nodes");
    let no_node = |plan: &mut Plan| plan.routes[1].to = NodeId(11);
    assert_eq!(said(no_node), "route 1: no node number 11; the network has 11 nodes");
    let no_way = |plan: &mut Plan| plan.routes[0].to = seattle;
    assert_eq!(said(no_way), r#"route "Seattle" -> "Seattle": both ends are the same node"#);
    let order = "out of order; routes are sorted by the numbers of their ends, and a pair has one";
    assert_eq!(said(|plan| plan.routes.swap(0, 1)), format!("{pair}: {order}"));
    assert_eq!(said(|plan| plan.routes[1] = plan.routes[0].clone()), format!("{pair}: {order}"));
    let no_table = "it has no paths, and there is no table to its destination";
    assert_eq!(said(|plan| plan.tables.clear()), format!("{to_denver}: {no_table}"));
    let no_next_hop = "it has no paths, and the table to its destination has no next hop at its source";
    assert_eq!(
        said(|plan| plan.tables[0].next.retain(|(node, _)| *node != seattle)),
        format!("{to_denver}: {no_next_hop}")
    );
}

#[test]
fn paths_that_do_not_fit_say_where() {
    let pair = r#"route "Seattle" -> "Atlanta""#;
    let with_links =
        |path: usize, links: &str| said(|plan| plan.routes[0].paths[path].links = path_over(links));
    assert_eq!(with_links(1, "[]"), format!("{pair}, path 1: a path has at least one link"));
    assert_eq!(
        with_links(0, "[0, 99]"),
        format!("{pair}, path 0: a path names link 99, the network has 28 links")
    );
    assert_eq!(with_links(0, "[0]"), format!(r#"{pair}, path 0: it leads "New York" -> "Chicago""#));
    let with_weight = |path: usize, weight: f64| said(|plan| plan.routes[0].paths[path].weight = weight);
    let range = "it must be above 0 and at most 1";
    assert_eq!(with_weight(0, 0.0), format!("{pair}, path 0: the weight is 0; {range}"));
    assert_eq!(with_weight(1, 1.5), format!("{pair}, path 1: the weight is 1.5; {range}"));
    assert_eq!(with_weight(1, f64::NAN), format!("{pair}, path 1: the weight is NaN; {range}"));
    assert_eq!(with_weight(1, 0.5), format!("{pair}: the weights add up to 0.75, not to 1"));
    assert!(with_weight(1, 0.75 + 2e-9).contains("add up to"));
}

#[test]
fn tables_that_do_not_fit_say_where() {
    let network = abilene();
    let (denver, atlanta) = (at(&network, "Denver"), at(&network, "Atlanta"));
    let twice = |plan: &mut Plan| plan.tables.push(plan.tables[0].clone());
    assert_eq!(said(twice), r#"tables: two of them lead to "Denver""#);
    let no_node = |plan: &mut Plan| plan.tables[0].to = NodeId(11);
    assert_eq!(said(no_node), "table 0: no node number 11; the network has 11 nodes");
    let order = "is out of order; they are sorted by node number, one a node";
    let swapped = |plan: &mut Plan| plan.tables[0].next.swap(0, 1);
    assert_eq!(said(swapped), format!(r#"table to "Denver": the entry of "Seattle" {order}"#));
    let twice = |plan: &mut Plan| plan.tables[0].next[1].0 = plan.tables[0].next[0].0;
    assert_eq!(said(twice), format!(r#"table to "Denver": the entry of "Seattle" {order}"#));
    let nowhere = |plan: &mut Plan| plan.tables[0].next[1].0 = NodeId(12);
    assert_eq!(said(nowhere), r#"table to "Denver": no node number 12; the network has 11 nodes"#);
    // All entries of the table are at higher numbers.
    let with_next =
        |at: NodeId, link: u32| said(|plan| plan.tables[0].next.insert(0, (at, vec![LinkId(link)].into())));
    assert_eq!(with_next(denver, 0), r#"table to "Denver": there are next hops at the destination"#);
    assert_eq!(with_next(atlanta, 0), r#"table to "Denver": no link 0 leaves "Atlanta""#);
    assert_eq!(with_next(atlanta, 28), r#"table to "Denver": no link 28 leaves "Atlanta""#);
}

/// A path that dies leaves its share to the others; a table forgets links that are down and links
/// to nodes that no longer know a way.
#[test]
fn pruning_leaves_the_living() {
    let network = abilene();
    let plan = hand_made(&network);
    let (seattle, atlanta, denver) =
        (at(&network, "Seattle"), at(&network, "Atlanta"), at(&network, "Denver"));
    let sunnyvale = at(&network, "Sunnyvale");
    let mut mask = LinkMask::all_up(&network);
    assert_eq!(prune(&plan, &network, &mask), plan);

    let between = |from, to| {
        let is = |id: &LinkId| (network.link(*id).from, network.link(*id).to) == (from, to);
        network.link_ids().find(is).unwrap()
    };
    mask.set_link(between(seattle, denver), false);
    let pruned = prune(&plan, &network, &mask);
    assert_eq!(pruned.check(&network), Ok(()));
    let route = pruned.route(seattle, atlanta).unwrap();
    let left: Vec<_> = route.paths.iter().map(|path| (spell(&network, &path.links), path.weight)).collect();
    assert_eq!(left, [("Seattle-Sunnyvale-Los Angeles-Houston-Atlanta".to_owned(), 1.0)]);
    assert_eq!(pruned.tables[0].at(seattle), [between(seattle, sunnyvale)]);

    // Sunnyvale knows no way to Denver but this one, so Seattle must not send it there either.
    mask.set_link(between(sunnyvale, denver), false);
    let pruned = prune(&plan, &network, &mask);
    assert_eq!(pruned.route(seattle, denver), None);
    assert_eq!(pruned.tables[0].next, []);

    mask.set_node(at(&network, "Houston"), false);
    assert_eq!(prune(&plan, &network, &mask).routes, []);
}
