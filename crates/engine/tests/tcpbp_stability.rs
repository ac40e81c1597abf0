//! The controller application tcpbp: background traffic that measures, both searches, and how steady routes are.

use crate::common::*;
use crate::tcpbp_common::*;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::routing::MovingAverageParameters;
use anabranch_engine::routing::Search;
use anabranch_engine::setup::*;
use anabranch_routing::EstimatorSetup;
use anabranch_units::{Instant, LinkId, NodeId, Span};

/// Vilela 2022, figures 7 and 8: ends, delay in us, loss.
const THESIS: [(usize, usize, u64, f64); 21] = [
    (1, 3, 8500, 0.003),
    (1, 5, 4000, 0.0181),
    (1, 6, 1500, 0.009),
    (1, 9, 3200, 0.0012),
    (2, 3, 4000, 0.004),
    (2, 5, 5500, 0.0079),
    (2, 8, 1900, 0.0116),
    (2, 9, 7000, 0.0196),
    (3, 4, 1800, 0.0002),
    (3, 6, 9600, 0.0116),
    (3, 7, 8200, 0.0144),
    (3, 10, 4400, 0.0192),
    (4, 5, 500, 0.0005),
    (4, 7, 7300, 0.013),
    (4, 10, 3000, 0.0037),
    (5, 6, 9400, 0.0137),
    (5, 8, 10, 0.0023),
    (5, 9, 6300, 0.0057),
    (5, 10, 5000, 0.0039),
    (7, 9, 5400, 0.0119),
    (7, 10, 7600, 0.0068),
];

fn thesis(search: Search, seconds: u64) -> Builder {
    let mut b = Builder::new(Span::from_secs(seconds));
    let nodes: Vec<NodeId> = (1..=10).map(|n| b.node(&n.to_string())).collect();
    for (x, y, delay, probability) in THESIS {
        let link = b.link(nodes[x - 1], nodes[y - 1], mbps(1000), Span::from_us(delay), 1000);
        for direction in [link, link + 1] {
            *b.setup.links[direction].loss = LossSetup::Bernoulli(Bernoulli { probability });
        }
    }
    let tcpbp = TcpbpSetup { search, delay: DelaySource::Measured, sample_packets: 1000, ..TCPBP };
    control(&mut b, ApplicationSetup::Tcpbp(tcpbp), Span::from_us(50));
    every(&mut b, 10);
    measure_all(&mut b, 2.0);
    b
}

/// Three samples of 10 s in each estimate, of 2 Mbps or more of a link's own data and ACKs: the standard error of a
/// loss p over n packets is sqrt(p (1 - p) / n). Of 42 estimates the farthest lies within 4.5 of them (once in 3,500
/// networks it does not) and half a step. Delays are those of the figure to the step of 0.1 ms and one for
/// the packet that a probe may wait for.
#[test]
fn on_the_network_of_the_thesis_estimates_are_as_good_as_their_packets() {
    let outcome = thesis(Search::Exact, 61).run();
    for (n, (_, _, delay, loss)) in THESIS.into_iter().enumerate() {
        for link in [2 * n as u64, 2 * n as u64 + 1] {
            let rows = rows(&outcome, link);
            let (first, last) = (rows[rows.len() - 4], rows[rows.len() - 1]);
            let packets = (last.packets - first.packets) as f64;
            assert!(packets > 4000.0, "link {link}: {packets}");
            let bound = 4.5 * (loss * (1.0 - loss) / packets).sqrt() + 0.5e-4;
            assert!((last.loss - loss).abs() < bound, "link {link}: {} of {loss}, {packets}", last.loss);
            assert!((last.delay_ms - delay as f64 / 1e3).abs() < 0.11, "link {link}: {last:?}");
        }
    }
}

/// With f of .0014901 s on 2-8-5-1-6 the runner-up 2-3-6 has .0016961, and .0009936 on 4-5-1-6 is followed by
/// .0011794 on 4-5-6: 14 % and 19 % apart, where 10 Mbps for 60 s, some 50,000 packets on each link, tell f to
/// 3 %. Until the first estimates routes have the fewest hops.
#[test]
fn measured_links_in_and_the_best_routes_out() {
    let mut b = thesis(Search::Exact, 62);
    let ApplicationSetup::Tcpbp(tcpbp) = &mut b.setup.controller.as_mut().expect("a controller").application
    else {
        panic!("another application")
    };
    tcpbp.estimator = EstimatorSetup::Sma(MovingAverageParameters { window: 6 });
    let first = b.setup.flows.len() as u64;
    for flow in &mut b.setup.flows {
        flow.source = messages(5.0);
    }
    for (from, to) in [(2, 6), (4, 6)] {
        b.flow(NodeId(from - 1), NodeId(to - 1), 0, messages(0.1), at(60.5));
    }
    b.flow(NodeId(1), NodeId(5), 0, messages(0.1), at(1.0));
    let outcome = b.run();
    assert_eq!(routes(&outcome, first).0, "2 > 8 > 5 > 1 > 6");
    assert_eq!(routes(&outcome, first + 1).0, "4 > 5 > 1 > 6");
    let moves = moves_of(&outcome, first + 2, "");
    assert!(moves[0].0 > 10.0, "hop count before: {moves:?}");
    assert_eq!(moves.last().unwrap().1, "2 > 8 > 5 > 1 > 6");
}

/// From s to x in 1 ms with 5 %, f = .224 ms, or by m in 10 ms with .1 %, f = .316 ms; then 20 ms more without loss:
/// 4.70 ms or .95 ms. The published search has chosen at x already.
#[test]
fn the_exact_search_finds_what_the_published_one_misses() {
    for (search, path) in [(Search::Published, "s > x > t"), (Search::Exact, "s > m > x > t")] {
        let mut b = Builder::new(Span::from_secs(20));
        let [s, m, x, t] = ["s", "m", "x", "t"].map(|name| b.node(name));
        for (from, to, ms, probability) in
            [(s, x, 1, 0.05), (s, m, 5, 0.0), (m, x, 5, 0.001), (x, t, 20, 0.0)]
        {
            let link = b.link(from, to, mbps(50), Span::from_ms(ms), 100);
            *b.setup.links[link].loss = LossSetup::Bernoulli(Bernoulli { probability });
        }
        control(&mut b, ApplicationSetup::Tcpbp(TcpbpSetup { search, ..TCPBP }), Span::from_ms(1));
        every(&mut b, 5);
        measure_all(&mut b, 5.0);
        let flow = b.setup.flows.len() as u64;
        b.flow(s, t, 0, messages(0.1), at(15.5));
        assert_eq!(routes(&b.run(), flow).0, path);
    }
}

/// The best way from m to b is over a, n1 and n2 from the first estimates on. Flows that measure stay on their links;
/// only while its link is down does one go another way.
#[test]
fn flows_that_measure_keep_to_their_links() {
    let mut b = two_routes(TCPBP, [0.05, 0.0], 30);
    measure_all(&mut b, 2.0);
    b.setup.routing.reaction = Some(Span::ZERO);
    let links = vec![LinkId(SHORT as u32), LinkId(SHORT as u32 + 1)];
    change(&mut b, 10.0, Change::Links { links: links.clone(), up: false });
    change(&mut b, 20.0, Change::Links { links, up: true });
    // Another flow between the same nodes is free.
    let free = b.setup.flows.len() as u64;
    b.flow(NodeId(2), NodeId(1), 0, messages(0.1), at(5.5));
    let outcome = b.run();
    let measuring = 1 + SHORT;
    assert_eq!(
        moves_of(&outcome, measuring, "m > b").into_iter().map(|m| (m.0.round(), m.1)).collect::<Vec<_>>(),
        [(10.0, "m > a > n1 > n2 > b".to_owned()), (20.0, "m > b".to_owned())]
    );
    assert_eq!(routes(&outcome, free).0, "m > a > n1 > n2 > b");
    let last = *rows(&outcome, SHORT).last().unwrap();
    assert!(last.packets > rows(&outcome, SHORT)[9].packets, "it is measured again: {last:?}");
}

/// Every 10 s the two routes change places: 2 % and 0.4 %, of which samples of 5 s with some 2,000 packets tell 40
/// losses from 8.
fn flapping(threshold: f64, hold_time: Span) -> Vec<(f64, String)> {
    let mut b = two_routes_without_flows(161);
    let estimator = EstimatorSetup::Sma(MovingAverageParameters { window: 1 });
    let tcpbp = TcpbpSetup { estimator, sample_packets: 1000, threshold, hold_time, ..TCPBP };
    control(&mut b, ApplicationSetup::Tcpbp(tcpbp), Span::from_ms(1));
    every(&mut b, 5);
    b.transport("newreno");
    b.flow(NodeId(0), NodeId(1), 0, messages(0.1), at(0.1));
    measure_all(&mut b, 5.0);
    for n in 0..16_u32 {
        let (good, bad) = if n % 2 == 0 { (LONG, SHORT) } else { (SHORT, LONG) };
        change(&mut b, f64::from(10 * n), lose(&[good], 0.004));
        change(&mut b, f64::from(10 * n), lose(&[bad], 0.02));
    }
    moves(&b.run())
}

#[test]
fn with_hysteresis_a_flapping_network_moves_flows_less() {
    let greedy = flapping(0.0, Span::ZERO);
    let held = flapping(0.0, Span::from_secs(35));
    // One move at the first estimates and one after each of 15 changes; noise may add some.
    assert!(greedy.len() >= 16, "{greedy:?}");
    // In 161 s there is room for five moves 35 s apart.
    assert!((2..=5).contains(&held.len()), "{held:?}");
    assert!(held.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 35.0), "{held:?}");
    // f is 15 ms x sqrt(.004) = .95 ms against 10 ms x sqrt(.02) = 1.41 ms, and .63 ms against 2.12 ms: a third at
    // the best, and never a tenth.
    let steady = flapping(0.9, Span::ZERO);
    assert!(steady.is_empty(), "{steady:?}");
}

/// The link of the path that the flow has moved to goes down a second later, long before the hold time is over.
#[test]
fn no_hold_time_keeps_a_flow_on_a_broken_path() {
    let hold_time = Span::from_secs(1000);
    let mut b = two_routes(TcpbpSetup { hold_time, ..TCPBP }, [0.02, 0.0], 10);
    b.setup.routing.reaction = Some(Span::ZERO);
    let links = vec![LinkId(LONG as u32)];
    change(&mut b, 5.0, Change::Links { links, up: false });
    let moves = moves(&b.run());
    assert_eq!(moves.len(), 2, "{moves:?}");
    assert!(moves[0].0 < 3.0 && moves[1].0 == 5.0 && moves[1].1 == "a > m > b", "{moves:?}");
}

/// Without loss f is zero everywhere and the way of least delay is taken; the delay over m goes up and down every
/// 3 s, and the flow goes to and fro. Packets are overtaken, and none is dropped.
#[test]
fn a_move_loses_nothing() {
    let mut b = two_routes_without_flows(30);
    let estimator = EstimatorSetup::Sma(MovingAverageParameters { window: 1 });
    let tcpbp = TcpbpSetup { estimator, delay: DelaySource::Measured, ..TCPBP };
    control(&mut b, ApplicationSetup::Tcpbp(tcpbp), Span::from_ms(1));
    b.transport("newreno");
    b.flow(NodeId(0), NodeId(1), 0, messages(10.0), at(0.1));
    measure_all(&mut b, 1.0);
    b.setup.flows.iter_mut().for_each(|flow| flow.stop = Some(at(28.0)));
    for n in 1..9_u32 {
        let (links, ms) = (vec![LinkId(SHORT as u32)], if n % 2 == 0 { 5 } else { 40 });
        change(&mut b, f64::from(3 * n), Change::Delay { links, delay: Span::from_ms(ms) });
    }
    let outcome = b.run();
    let moves = moves(&outcome);
    assert!(moves.len() >= 7, "{moves:?}");
    let flows = table(&outcome, "flows");
    for column in ["drops_data", "drops_acks", "drops_unreachable", "drops_control"] {
        assert!(flows.integer(column).unwrap().iter().all(|&drops| drops == 0), "{column}");
    }
    assert!(flows.number("completion_s").unwrap().iter().all(|seconds| seconds.is_finite()));
    assert!(flows.integer("reordered_packets").unwrap()[0] > 0, "faster ways overtake slower ones");
    let counted = table(&outcome, "flow_routes").integer("route_changes").unwrap()[0];
    let listed =
        table(&outcome, "route_changes").integer("flow").unwrap().iter().filter(|&&id| id == 0).count();
    assert_eq!(counted, listed as u64);
}

/// A flow that opens after the first estimates has its path at once; its `since_s` is the handshake's.
#[test]
fn the_paths_of_a_flow_are_known_from_its_first_packet() {
    let outcome = two_routes(TCPBP, [0.0, 0.0], 3).run();
    assert_eq!(routes(&outcome, 0), ("a > m > b".to_owned(), "b > m > a".to_owned()));
    let since = table(&outcome, "flow_routes").number("since_s").unwrap()[0];
    // The SYN goes up to the controller over the 1 ms of node a.
    assert!((since - (Instant::ZERO + Span::from_ms(101)).as_secs_f64()).abs() < 1e-4, "{since}");
}
