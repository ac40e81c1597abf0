//! The controller application tcpbp: flows take and change routes by what is measured.

use crate::common::*;
use crate::tcpbp_common::*;
use anabranch_engine::Simulation;
use anabranch_engine::routing::{EwmaParameters, HypothesisTestParameters, MovingAverageParameters};
use anabranch_engine::setup::*;
use anabranch_routing::EstimatorSetup;
use anabranch_units::{FlowId, Instant, NodeId, Span};

/// The short route loses 1 % and gives CUBIC about MSS/RTT x 1.2/sqrt(p) = 7 Mbps; the other loses nothing and
/// gives nearly all of its 50 Mbps.
#[test]
fn a_flow_leaves_the_lossy_route_of_few_hops_after_the_first_estimates() {
    let mut b = two_routes(TCPBP, [0.01, 0.0], 20);
    every(&mut b, 5);
    let outcome = b.run();
    let moves = moves(&outcome);
    assert_eq!(moves.len(), 1, "{moves:?}");
    assert_eq!(moves[0].1, "a > n1 > n2 > b");
    // Probes go out at 5 s; the last is back over the channel to n1, 4 ms, a link, and the channel from n2, 5 ms.
    assert!((moves[0].0 - 5.014).abs() < 1e-3, "{moves:?}");
    let (before, after) =
        (goodput_between(&outcome, 0, (2.0, 5.0)), goodput_between(&outcome, 0, (8.0, 20.0)));
    assert!(after > 3.0 * before && after > 35.0, "{before} Mbps, then {after} Mbps");
    // A probe of 40 bytes every 5 s is all that is left on the other route.
    let left = series_mean(&outcome, ("link_series", "link"), SHORT, "throughput_mbps", (6.0, 20.0));
    assert!(left < 1e-3, "{left} Mbps");
}

/// Nothing is known of the other route before it is tried; it is worse, and the flow comes back for good.
#[test]
fn a_flow_tries_a_route_that_nobody_has_measured_and_comes_back() {
    let outcome = two_routes(TCPBP, [0.002, 0.05], 12).run();
    let paths: Vec<String> = moves(&outcome).into_iter().map(|change| change.1).collect();
    assert_eq!(paths, ["a > n1 > n2 > b", "a > m > b"]);
    let losses = [estimates(&outcome, SHORT), estimates(&outcome, LONG)].map(|all| *all.last().unwrap());
    assert!(losses[0] < 0.01 && losses[1] > 0.02, "{losses:?}");
}

/// f on the way over m: 10 ms x sqrt(0.01) = 1 ms; over n1 and n2, 15 ms x sqrt(0.003) = 0.82 ms. Others use both
/// routes from the start, about 40,000 packets each in the first interval, so that the first estimates of f are
/// good to 5 % and tell 0.82 from 1 as well as from 0.6.
#[test]
fn a_threshold_keeps_flows_where_they_are() {
    let moves_of_flow_0 = |threshold: f64| {
        let mut b = two_routes(TcpbpSetup { threshold, ..TCPBP }, [0.01, 0.003], 31);
        every(&mut b, 10);
        let newreno = b.transport("newreno");
        for from in [NodeId(2), NodeId(3)] {
            for _ in 0..6 {
                b.flow(from, NodeId(1), newreno, SourceSetup::Unlimited {}, Instant::ZERO);
            }
        }
        let outcome = b.run();
        for link in [SHORT, LONG] {
            assert_eq!(estimates(&outcome, link).len(), 3, "both are known at once");
        }
        moves(&outcome).into_iter().map(|change| change.1).collect::<Vec<_>>()
    };
    assert_eq!(moves_of_flow_0(0.0), ["a > n1 > n2 > b"]);
    assert!(moves_of_flow_0(0.4).is_empty());
}

#[test]
fn without_loss_flows_go_the_way_of_least_delay() {
    let mut b = two_routes(TCPBP, [0.0, 0.0], 4);
    // Over m now 20 ms, over n1 and n2 still 15 ms.
    for link in &mut b.setup.links[..2] {
        link.delay = Span::from_ms(15);
    }
    let moves = moves(&b.run());
    assert_eq!(moves.len(), 1, "{moves:?}");
    assert_eq!(moves[0].1, "a > n1 > n2 > b");
}

#[test]
fn flows_leave_a_link_that_is_down_whatever_its_loss() {
    let mut b = two_routes(TCPBP, [0.0, 0.03], 8);
    b.setup.routing.reaction = Some(Span::from_ms(100));
    let change = Change::Links { links: vec![anabranch_units::LinkId(SHORT as u32)], up: false };
    b.setup.events.push(EventSetup { at: at(4.0), change });
    let moves = moves(&b.run());
    assert_eq!(moves.len(), 1, "{moves:?}");
    assert!((moves[0].0 - 4.1).abs() < 1e-9 && moves[0].1 == "a > n1 > n2 > b", "{moves:?}");
}

/// A host with links to both ends of a flow would be the best way of all, but hosts do not forward. Flows of
/// hosts go over the links of their first switch, in-band control or not.
#[test]
fn no_path_leads_through_a_host() {
    for channel in [Channel::Apart, Channel::InBand] {
        let mut b = two_routes(TCPBP, [0.02, 0.0], 5);
        b.setup.controller.as_mut().expect("a controller").channel = channel;
        let [a, to] = [NodeId(0), NodeId(1)];
        let host = b.node("host");
        let first = b.link(host, a, mbps(50), Span::from_ms(1), 100);
        let second = b.link(host, to, mbps(50), Span::from_ms(1), 100);
        b.flow(host, to, 0, SourceSetup::Unlimited {}, at(0.1));
        let outcome = b.run();
        assert_eq!(moves(&outcome)[0].1, "a > n1 > n2 > b");
        let packets = |link| integer(&outcome, "links", "packets", link);
        assert!(packets(first) > 1000, "what the host sends goes to its first switch");
        assert_eq!(packets(second), 0, "it sends nothing over another link");
        let delivered = table(&outcome, "flows").integer("delivered_bytes").unwrap();
        assert!(delivered.iter().all(|&bytes| bytes > 1_000_000), "{delivered:?}");
    }
}

#[test]
fn two_runs_are_the_same() {
    // As text, in which what is not a number equals itself.
    let measured = || TcpbpSetup { delay: DelaySource::Measured, ..TCPBP };
    let run = || format!("{:?}", two_routes(measured(), [0.002, 0.05], 5).run().tables);
    assert!(run() == run());
}

#[test]
fn bad_parameters_are_refused() {
    let refused = |change: &dyn Fn(&mut ControllerSetup, &mut TcpbpSetup)| {
        let (mut b, mut tcpbp) = (two_routes(TCPBP, [0.0, 0.0], 1), TCPBP);
        let controller = b.setup.controller.as_mut().expect("a controller");
        change(controller, &mut tcpbp);
        controller.application = ApplicationSetup::Tcpbp(tcpbp);
        let plan = plan(&b.setup);
        Simulation::new(b.setup, plan).err().map(|error| error.to_string())
    };
    assert_eq!(refused(&|_, _| {}), None);
    type Mistake = fn(&mut ControllerSetup, &mut TcpbpSetup);
    let mistakes: [(&str, Mistake); 12] = [
        ("statistics_interval", |c, _| c.statistics_interval = None),
        ("application.estimator.window", |_, t| {
            t.estimator = EstimatorSetup::Sma(MovingAverageParameters { window: 0 })
        }),
        ("application.estimator.weight", |_, t| {
            t.estimator = EstimatorSetup::Ewma(EwmaParameters { weight: 0.0 })
        }),
        ("application.estimator.weight", |_, t| {
            t.estimator = EstimatorSetup::Ewma(EwmaParameters { weight: f64::NAN })
        }),
        ("application.estimator.window", |_, t| {
            t.estimator = EstimatorSetup::Hte(HypothesisTestParameters { window: 1, significance: 0.05 });
        }),
        ("application.estimator.significance", |_, t| {
            t.estimator = EstimatorSetup::Hte(HypothesisTestParameters { window: 3, significance: 1.0 });
        }),
        ("application.hold_time", |_, t| t.hold_time = Span::MAX),
        ("application.measuring", |_, t| t.measuring = vec![FlowId(1)]),
        ("application.sample_packets", |_, t| t.sample_packets = 0),
        ("application.loss_granularity", |_, t| t.loss_granularity = f64::NAN),
        ("application.delay_granularity", |_, t| t.delay_granularity = Span::MAX),
        ("application.threshold", |_, t| t.threshold = 1.0),
    ];
    for (part, change) in mistakes {
        let message = refused(&change).unwrap_or_default();
        assert!(message.contains(&format!("controller.{part}")), "{part}: {message:?}");
    }
}
