//! Paths within limits on delay and loss against every path there is, on small random networks.

use crate::common::{Sample, at, lossy_samples, numbered, two_way, with_hosts};
use anabranch_network::Path;
use anabranch_routing::{
    KShortestScheme, LinkMask, LinkQuality, Metric, MetricKind, NearShortestScheme, PathLimits, PathQuality,
    Scheme, ShortestScheme, TcpbpExactScheme,
};
use anabranch_units::{LinkId, NodeId, Span};
use proptest::prelude::*;

/// Whether a path keeps the limits, from the sum of the delays and the product of the success rates.
fn keeps(sample: &Sample, limits: PathLimits, path: &Path) -> bool {
    let links = || path.links().iter().map(|&link| sample.network.link(link));
    let delay_ps: u64 = links().map(|link| link.delay.as_ps()).sum();
    let loss = 1.0 - links().map(|link| 1.0 - link.loss).product::<f64>();
    limits.max_delay.is_none_or(|most| delay_ps <= most.as_ps())
        && limits.max_loss.is_none_or(|most| loss <= most * (1.0 + 1e-9))
}

/// All paths of a pair within limits, in the order that the metric promises.
fn in_order(sample: &Sample, metric: Metric, limits: PathLimits, pair: (NodeId, NodeId)) -> Vec<Path> {
    let mut paths = sample.all_paths(pair.0, pair.1);
    paths.retain(|path| keeps(sample, limits, path));
    let spelled = |path: &Path| (path.hops(), path.nodes(&sample.network), path.links().to_vec());
    match metric.kind() {
        MetricKind::Additive(metric) => paths.sort_by_cached_key(|path| {
            let cost = |&link: &LinkId| u128::from(metric.cost(&sample.network, link));
            (path.links().iter().map(cost).sum::<u128>(), spelled(path))
        }),
        MetricKind::Path(metric) => paths.sort_by_cached_key(|path| {
            let quality = |&link: &LinkId| LinkQuality::of(sample.network.link(link));
            (metric.rank(PathQuality::of(path.links().iter().map(quality))), spelled(path))
        }),
    }
    paths
}

/// Limits that some paths keep and others break: each alone, both, and both as tight as can be.
fn limits() -> impl Strategy<Value = PathLimits> {
    let delay = prop_oneof![Just(None), (0u64..12).prop_map(Some), (0u64..10_000).prop_map(Some)];
    let max_delay = delay.prop_map(|steps| steps.map(|steps| Span::from_us(100 * steps)));
    const LOSSES: [f64; 9] = [0.0, 0.0005, 0.001, 0.01, 0.0199, 0.02, 0.0298, 0.307, 0.6];
    let max_loss = prop_oneof![Just(None), prop::sample::select(&LOSSES[..]).prop_map(Some)];
    (max_delay, max_loss).prop_map(|(max_delay, max_loss)| PathLimits { max_delay, max_loss })
}

fn schemes(metric: Metric, limits: Option<PathLimits>) -> Vec<(Scheme, usize)> {
    let k_shortest = |k| (Scheme::KShortest(KShortestScheme { k, metric, limits }), k as usize);
    let mut schemes =
        vec![(Scheme::Shortest(ShortestScheme { metric, limits }), 1), k_shortest(1), k_shortest(4)];
    if metric == Metric::Tcpbp {
        let exact = |k| TcpbpExactScheme { k, limits, ..TcpbpExactScheme::default() };
        schemes.extend([1, 3].map(|k| (Scheme::TcpbpExact(exact(k)), k as usize)));
    }
    schemes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The first k of all paths within the limits, by every metric, with hosts on edges that spend some of them.
    #[test]
    fn schemes_find_the_first_of_all_paths_within_limits(
        sample in lossy_samples(6, 15),
        edges in 0usize..3,
        limits in limits(),
    ) {
        let sample = with_hosts(sample, edges);
        let pairs = sample.pairs();
        for (name, metric) in Metric::NAMES {
            for (scheme, k) in schemes(metric, Some(limits)) {
                let plan = scheme.plan(&sample.network, &sample.mask, &pairs);
                prop_assert_eq!(plan.check(&sample.network), Ok(()));
                for &pair in &pairs {
                    let mut expected = in_order(&sample, metric, limits, pair);
                    expected.truncate(k);
                    let route = plan.route(pair.0, pair.1).map_or(&[][..], |route| &route.paths[..]);
                    let links: Vec<&Path> = route.iter().map(|path| &path.links).collect();
                    prop_assert_eq!(links, expected.iter().collect::<Vec<_>>(), "{} {:?}", name, scheme);
                }
            }
        }
    }

    /// Limits that no path breaks change nothing.
    #[test]
    fn wide_limits_change_no_plan(sample in lossy_samples(7, 18)) {
        let wide = PathLimits { max_delay: Some(Span::from_ms(100_000)), max_loss: None };
        for (_, metric) in Metric::NAMES {
            for ((limited, _), (free, _)) in schemes(metric, Some(wide)).into_iter().zip(schemes(metric, None)) {
                let plan = |scheme: Scheme| scheme.plan(&sample.network, &sample.mask, &sample.pairs());
                prop_assert_eq!(plan(limited), plan(free));
            }
        }
    }

    /// Near-shortest paths are near to the shortest one within the limits.
    #[test]
    fn near_shortest_paths_are_measured_by_the_shortest_within_limits(
        sample in lossy_samples(6, 15),
        limits in limits(),
        within_percent in 0u32..150,
    ) {
        let metric = Metric::Delay;
        let scheme =
            Scheme::NearShortest(NearShortestScheme { within_percent, k: 64, metric, limits: Some(limits) });
        let plan = scheme.plan(&sample.network, &sample.mask, &sample.pairs());
        for pair in sample.pairs() {
            let mut expected = in_order(&sample, metric, limits, pair);
            let cost = |path: &Path| path.links().iter().map(|&link| sample.cost(link)).sum::<u64>();
            if let Some(least) = expected.first().map(cost) {
                expected.retain(|path| cost(path) * 100 <= least * u64::from(100 + within_percent));
            }
            expected.truncate(64);
            let route = plan.route(pair.0, pair.1).map_or(&[][..], |route| &route.paths[..]);
            let links: Vec<&Path> = route.iter().map(|path| &path.links).collect();
            prop_assert_eq!(links, expected.iter().collect::<Vec<_>>());
        }
    }
}

/// By hand: fewest hops break the limit of 25 ms, the path of three does not.
#[test]
fn the_shortest_path_within_a_limit_is_not_the_shortest_refused() {
    let ms = Span::from_ms;
    let network =
        numbered(4, &[(1, 2, ms(15)), (2, 4, ms(15)), (1, 3, ms(8)), (3, 2, ms(2)), (3, 4, ms(40))]);
    let plan = |most| {
        let limits = Some(PathLimits { max_delay: Some(ms(most)), max_loss: None });
        let scheme = Scheme::Shortest(ShortestScheme { metric: Metric::Hops, limits });
        let plan = scheme.plan(&network, &LinkMask::all_up(&network), &[(NodeId(0), NodeId(3))]);
        plan.routes.first().map(|route| crate::common::spell(&network, &route.paths[0].links))
    };
    assert_eq!(plan(30).as_deref(), Some("1-2-4"));
    assert_eq!(plan(29).as_deref(), Some("1-3-2-4"));
    assert_eq!(plan(25).as_deref(), Some("1-3-2-4"));
    assert_eq!(plan(24), None);
}

/// What fails leaves the paths of what is left; without any within the limits the pair has none.
#[test]
fn after_a_failure_the_limits_hold_for_what_is_left() {
    let network =
        two_way(&["a", "b", "c", "d"], &[("a", "b"), ("a", "c"), ("c", "b"), ("c", "d"), ("d", "b")]);
    let (a, b) = (at(&network, "a"), at(&network, "b"));
    let limits = Some(PathLimits { max_delay: Some(Span::from_ms(2)), max_loss: None });
    let scheme = Scheme::Shortest(ShortestScheme { metric: Metric::Hops, limits });
    let mut mask = LinkMask::all_up(&network);
    let mut paths = Vec::new();
    for down in [0, 4] {
        let plan = scheme.plan(&network, &mask, &[(a, b)]);
        paths.push(plan.routes.first().map(|route| crate::common::spell(&network, &route.paths[0].links)));
        mask.set_link(LinkId(down), false);
    }
    paths.push(scheme.plan(&network, &mask, &[(a, b)]).routes.first().map(|_| String::new()));
    assert_eq!(paths, [Some("a-b".into()), Some("a-c-b".into()), None]);
}
