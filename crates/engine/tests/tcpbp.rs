//! The controller application tcpbp: links are measured from counters, and flows move to better routes.

mod common;

use anabranch_engine::routing::Metric;
use anabranch_engine::setup::*;
use anabranch_engine::{Outcome, Simulation};
use anabranch_units::{Instant, NodeId, Span};
use common::*;

const TCPBP: TcpbpSetup = TcpbpSetup {
    window: 3,
    sample_packets: 100,
    loss_granularity: 1e-4,
    delay_granularity: Span::from_us(100),
    threshold: 0.0,
};

/// In steps coarser than what bursts at the instant of reading may do to a sample of a few hundred packets.
const COARSE: TcpbpSetup = TcpbpSetup { loss_granularity: 0.01, ..TCPBP };

/// A controller of all nodes so far, with a link of its own to each.
fn control(b: &mut Builder, application: ApplicationSetup, delay: Span) {
    let switches: Vec<NodeId> = (0..b.setup.nodes.len()).map(NodeId::from_index).collect();
    let node = b.node("controller");
    for (n, &switch) in switches.iter().enumerate() {
        // Requests reach the switches at different times.
        b.link(node, switch, mbps(100), delay * (n as u64 + 1), 10_000);
    }
    b.setup.controller = Some(ControllerSetup {
        node,
        switches,
        channel: Channel::Apart,
        application,
        metric: Metric::Hops,
        table: FlowTableSetup {
            size: None,
            when_full: WhenFull::Refuse,
            idle_timeout: None,
            hard_timeout: None,
        },
        linger: Span::ZERO,
        statistics_interval: Some(Span::from_secs(1)),
    });
}

/// From a to b over m in two hops, and over n1 and n2 in three; 5 ms each. The losses are those of the second
/// hop of each route, links 2 and 6, towards b.
fn two_routes(tcpbp: TcpbpSetup, losses: [f64; 2], seconds: u64) -> Builder {
    let mut b = Builder::new(Span::from_secs(seconds));
    let [from, to, m, n1, n2] = ["a", "b", "m", "n1", "n2"].map(|name| b.node(name));
    let links = [(from, m), (m, to), (from, n1), (n1, n2), (n2, to)];
    let hops = links.map(|(x, y)| b.link(x, y, mbps(50), Span::from_ms(5), 100));
    assert_eq!([hops[1], hops[3]], [SHORT, LONG].map(|link| link as usize));
    for (link, probability) in [hops[1], hops[3]].into_iter().zip(losses) {
        b.setup.links[link].loss = LossSetup::Bernoulli { probability };
    }
    control(&mut b, ApplicationSetup::Tcpbp(tcpbp), Span::from_ms(1));
    let cubic = b.transport("cubic");
    b.flow(from, to, cubic, SourceSetup::Unlimited {}, at(0.1));
    sample(&mut b.setup, Span::from_ms(500));
    b
}

const SHORT: u64 = 2;
const LONG: u64 = 6;

/// When flow 0's data moved, and to which path; moves of its ACKs alone are left out.
fn moves(outcome: &Outcome) -> Vec<(f64, String)> {
    let changes = table(outcome, "route_changes");
    let (times, flows) = (changes.number("time_s").unwrap(), changes.integer("flow").unwrap());
    let paths = changes.text("data_path").unwrap();
    let mut moves: Vec<(f64, String)> = Vec::new();
    let mut last = "a > m > b";
    for row in (0..times.len()).filter(|&row| flows[row] == 0) {
        if paths[row] != last {
            moves.push((times[row], paths[row].clone()));
            last = &paths[row];
        }
    }
    moves
}

/// The estimates of a link's loss, in order of time.
fn estimates(outcome: &Outcome, link: u64) -> Vec<f64> {
    let all = table(outcome, "link_estimates");
    let rows = all.integer("link").unwrap().iter().zip(all.number("loss").unwrap());
    rows.filter(|row| *row.0 == link).map(|row| *row.1).collect()
}

/// The short route loses 1 % and gives CUBIC about MSS/RTT x 1.2/sqrt(p) = 7 Mbps; the other loses nothing and
/// gives nearly all of its 50 Mbps.
#[test]
fn a_flow_leaves_the_lossy_route_of_few_hops_after_the_first_estimates() {
    let mut b = two_routes(COARSE, [0.01, 0.0], 20);
    b.setup.controller.as_mut().expect("a controller").statistics_interval = Some(Span::from_secs(5));
    let outcome = b.run();
    let moves = moves(&outcome);
    assert_eq!(moves.len(), 1, "{moves:?}");
    assert_eq!(moves[0].1, "a > n1 > n2 > b");
    // Questions at 5 s; the last answer is there after twice the longest channel, 5 ms.
    assert!((moves[0].0 - 5.01).abs() < 1e-3, "{moves:?}");
    let (before, after) =
        (goodput_between(&outcome, 0, (2.0, 5.0)), goodput_between(&outcome, 0, (8.0, 20.0)));
    assert!(after > 3.0 * before && after > 35.0, "{before} Mbps, then {after} Mbps");
    assert_eq!(series_mean(&outcome, ("link_series", "link"), SHORT, "throughput_mbps", (6.0, 20.0)), 0.0);
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
        b.setup.controller.as_mut().expect("a controller").statistics_interval = Some(Span::from_secs(10));
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

/// The standard error of a share p of n packets is sqrt(p (1 - p) / n); with the packets of all samples in the
/// average the estimate lies within four of them, and half a step of the granularity, of the truth.
#[test]
fn estimates_converge_to_the_true_loss() {
    for loss in [0.002, 0.02] {
        let mut b = Builder::new(Span::from_secs(60));
        let [from, to] = ["a", "b"].map(|name| b.node(name));
        let link = b.link(from, to, mbps(20), Span::from_ms(20), 50);
        b.setup.links[link].loss = LossSetup::Bernoulli { probability: loss };
        let tcpbp = TcpbpSetup { window: 100, ..TCPBP };
        control(&mut b, ApplicationSetup::Tcpbp(tcpbp), Span::from_ms(15));
        let cubic = b.transport("cubic");
        for _ in 0..20 {
            b.flow(from, to, cubic, SourceSetup::Unlimited {}, Instant::ZERO);
        }
        let outcome = b.run();
        let estimates = estimates(&outcome, link as u64);
        assert!(estimates.len() > 50, "{}", estimates.len());
        let packets = integer(&outcome, "links", "packets", link) as f64;
        let error = (estimates.last().unwrap() - loss).abs();
        let bound = 4.0 * (loss * (1.0 - loss) / packets).sqrt() + 0.5e-4;
        assert!(error < bound, "{error} of {loss}, and the bound is {bound}");
        // ACKs are not lost; a packet in flight counted as lost at each reading would be seen here.
        let back = self::estimates(&outcome, link as u64 + 1);
        assert_eq!(back.last(), Some(&0.0), "{back:?}");
    }
}

#[test]
fn without_loss_flows_go_the_way_of_least_delay() {
    let mut b = two_routes(COARSE, [0.0, 0.0], 4);
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
    let mut b = two_routes(COARSE, [0.0, 0.03], 8);
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
        let mut b = two_routes(COARSE, [0.02, 0.0], 5);
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
    let run = || format!("{:?}", two_routes(TCPBP, [0.002, 0.05], 5).run().tables);
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
    let mistakes: [(&str, Mistake); 6] = [
        ("statistics_interval", |c, _| c.statistics_interval = None),
        ("application.window", |_, t| t.window = 0),
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
