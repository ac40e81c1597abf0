//! Multipath TCP in whole runs: subflows over the paths of a dumbbell, tables, failures, interfaces.

use crate::common::*;
use anabranch_engine::balancer::{FlowParameters, PacketParameters, SubflowRoundRobinParameters};
use anabranch_engine::control::applications::ForwardingParameters;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::routing::EcmpScheme;
use anabranch_engine::routing::{AdditiveMetric, Scheme};
use anabranch_engine::setup::*;
use anabranch_engine::transport::PathManagerConfig;
use anabranch_engine::{Outcome, Simulation};
use anabranch_units::{Bytes, Instant, LinkId, NodeId, Span};
use std::collections::BTreeSet;

/// Payload of a full segment over its IP packet: 1500 bytes with 20 + 20 of headers, 12 of timestamps and 20 of the
/// data sequence signal.
const EFFICIENCY: f64 = 1428.0 / 1500.0;

fn texts<'o>(outcome: &'o Outcome, name: &str, column: &str) -> Vec<&'o str> {
    table(outcome, name).text(column).expect("a column of names").iter().collect()
}

fn counts<'o>(outcome: &'o Outcome, name: &str, column: &str) -> &'o [u64] {
    table(outcome, name).integer(column).expect("a column of counts")
}

/// A finite transfer: what the tables say of the connection and of its subflows belongs together.
#[test]
fn tables_of_a_transfer_agree() {
    let bytes = 3_000_000;
    let mut b = Thesis {
        paths: 4,
        clients: 1,
        transport: ndiffports(8),
        capacity: mbps(10),
        duration: Span::from_secs(20),
    }
    .build();
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
    b.setup.flows[0].source = SourceSetup::Sized { bytes };
    let outcome = b.run();
    assert_eq!(integer(&outcome, "flows", "delivered_bytes", 0), bytes);
    assert!(number(&outcome, "flows", "completion_s", 0) < 20.0);
    assert_eq!(integer(&outcome, "connections", "subflows_established", 0), 8);
    assert_eq!(integer(&outcome, "connections", "acknowledged_bytes", 0), bytes);
    let sum = |column| counts(&outcome, "subflows", column).iter().sum::<u64>();
    // What came twice at data level came on two subflows, or twice on one, which delivers it once.
    let twice = integer(&outcome, "connections", "duplicate_bytes", 0);
    let on_one = (bytes + twice).checked_sub(sum("delivered_bytes")).expect("no more than came");
    let spurious = sum("spurious_retransmissions");
    assert!(
        on_one <= 1428 * spurious && on_one > 1428 * spurious.saturating_sub(2),
        "{on_one} of {spurious}"
    );
    assert_eq!(sum("acknowledged_bytes"), sum("delivered_bytes"));
    for column in ["segments_sent", "retransmissions", "timeouts", "packets_received", "reordered_packets"] {
        assert_eq!(sum(column), integer(&outcome, "flows", column, 0), "{column}");
    }
    assert!(sum("retransmissions") > 0);
    let ports: BTreeSet<u64> = counts(&outcome, "subflows", "client_port").iter().copied().collect();
    assert_eq!(ports.len(), 8, "each subflow has a port of its own");
    // A subflow hashed by its ports stays on one path, and eight do not all share one (probability 4^-7).
    assert!(counts(&outcome, "subflows", "path_changes").iter().all(|&changes| changes == 0));
    let paths: BTreeSet<&str> = texts(&outcome, "subflows", "path").into_iter().collect();
    assert!(paths.len() > 1, "{paths:?}");
    assert!(paths.iter().all(|path| {
        path.starts_with("client 0 > left > middle ") && path.ends_with(" > right > server 0")
    }));
    // The paths in the table are those that carried packets.
    let used = (0..4).filter(|path| integer(&outcome, "links", "packets", 4 * path) > 0).count();
    assert_eq!(used, paths.len());
}

/// The first subflow has the port that a single-path flow of that name has, and every stream elsewhere is drawn as
/// before: a second flow beside is the same whatever the first one's number of subflows.
#[test]
fn subflows_move_no_draw_elsewhere() {
    let run = |subflows| {
        let mut b = Thesis {
            paths: 2,
            clients: 1,
            transport: ndiffports(subflows),
            capacity: mbps(10),
            duration: Span::from_secs(1),
        }
        .build();
        // Another flow, on links of its own.
        let (from, to) = (b.node("from"), b.node("to"));
        let link = b.link(from, to, mbps(10), Span::from_ms(5), 50);
        *b.setup.links[link].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.02 });
        let tcp = b.transport("newreno");
        b.flow(from, to, tcp, SourceSetup::Unlimited {}, Instant::ZERO);
        let outcome = b.run();
        let other: Vec<u64> = ["delivered_bytes", "segments_sent", "retransmissions", "drops_random"]
            .map(|column| integer(&outcome, "flows", column, 1))
            .to_vec();
        assert!(other[3] > 0);
        (counts(&outcome, "subflows", "client_port")[0], other)
    };
    assert_eq!(run(1), run(9));
}

/// What all subflows together deliver at each sample after `from_s`, in Mbps: what crosses the paths, which is how the
/// thesis counts (section V-B).
fn subflow_totals(outcome: &Outcome, from_s: f64) -> Vec<(f64, f64)> {
    let series = table(outcome, "subflow_series");
    let (times, rates) = (series.number("time_s").unwrap(), series.number("throughput_mbps").unwrap());
    let mut totals: Vec<(f64, f64)> = Vec::new();
    for (&time, &rate) in times.iter().zip(rates).filter(|sample| *sample.0 > from_s + 1e-6) {
        match totals.last_mut() {
            Some(last) if last.0 == time => last.1 += rate,
            _ => totals.push((time, rate)),
        }
    }
    totals
}

/// The failure of the thesis (section V-D): P = 4, N = 2, 4 and K = 32, paths of 50 Mbps, of which one fails; its
/// routers do not notice, and with a reaction they do. From two seconds after it on the total is 3/4 in each second.
#[test]
fn a_failed_path_costs_its_share_and_stalls_nobody() {
    let fails_s = 12.0;
    for (clients, reaction) in [(2, None), (4, None), (4, Some(Span::from_ms(100)))] {
        let (transport, capacity) = (ndiffports(32), mbps(50));
        let mut b = Thesis { paths: 4, clients, transport, capacity, duration: Span::from_secs(24) }.build();
        b.setup.routing.reaction = reaction;
        let change = Change::Links { links: vec![LinkId(0), LinkId(1)], up: false };
        b.setup.events.push(EventSetup { at: at(fails_s), change });
        for flow in &mut b.setup.flows {
            flow.stop = Some(at(20.0));
        }
        sample(&mut b.setup, Span::from_ms(500));
        let outcome = b.run();
        let case = format!("{clients} hosts, reaction {reaction:?}");
        let until_stop =
            |from_s| subflow_totals(&outcome, from_s).into_iter().filter(|total| total.0 < 20.01);
        let before: Vec<f64> =
            until_stop(8.0).filter(|total| total.0 < fails_s + 0.01).map(|t| t.1).collect();
        let before = before.iter().sum::<f64>() / before.len() as f64;
        assert!(before > 0.99 * 4.0 * 50.0 * EFFICIENCY, "{case}: {before} Mbps before");
        let after: Vec<(f64, f64)> = until_stop(fails_s + 2.0).collect();
        assert_eq!(after.len(), 12);
        for pair in after.chunks(2) {
            let ratio = (pair[0].1 + pair[1].1) / 2.0 / before;
            assert!((ratio - 0.75).abs() < 0.02, "{case}: {ratio} in the second to {}", pair[1].0);
        }
        for flow in 0..clients {
            // No half second passes without a byte of the stream: a timeout of at most 200 ms above the RTT, which
            // is 10 ms and at most 24 ms of queue, and a round trip more for what is sent elsewhere.
            let series = table(&outcome, "flow_series");
            let (flows, goodput) = (series.integer("flow").unwrap(), series.number("goodput_mbps").unwrap());
            let times = series.number("time_s").unwrap();
            let rows = (0..flows.len()).filter(|&row| flows[row] == flow as u64 && times[row] < 20.01);
            let least = rows.map(|row| goodput[row]).fold(f64::MAX, f64::min);
            assert!(least > 0.0, "{case}: flow {flow} stood still");
            assert_eq!(number(&outcome, "connections", "stalled_s", flow), 0.0, "{case}: flow {flow}");
            // The engine follows the bytes of the stream: each that arrived is delivered once. And all that were
            // sent until the application stopped do arrive.
            let delivered = integer(&outcome, "flows", "delivered_bytes", flow);
            assert_eq!(delivered, integer(&outcome, "connections", "acknowledged_bytes", flow), "{case}");
            let completion = number(&outcome, "flows", "completion_s", flow);
            assert!(completion > 20.0 && completion < 22.0, "{case}: flow {flow} {completion}");
        }
    }
}

/// All paths fail for some seconds: the connection waits and says so; what it had to deliver comes after the repair,
/// each byte once.
#[test]
fn a_connection_without_a_path_waits_and_says_so() {
    let build = |repair: Option<f64>| {
        let bytes = 8_000_000;
        let mut b = Thesis {
            paths: 2,
            clients: 1,
            transport: ndiffports(4),
            capacity: mbps(10),
            duration: Span::from_secs(60),
        }
        .build();
        b.setup.flows[0].source = SourceSetup::Sized { bytes };
        b.setup.routing.reaction = Some(Span::from_ms(50));
        let links: Vec<LinkId> = (0..8).map(LinkId).collect();
        for (when, up) in [(Some(2.0), false), (repair, true)] {
            if let Some(when) = when {
                let change = Change::Links { links: links.clone(), up };
                b.setup.events.push(EventSetup { at: at(when), change });
            }
        }
        b.run()
    };
    let repaired = build(Some(12.0));
    assert_eq!(integer(&repaired, "flows", "delivered_bytes", 0), 8_000_000);
    let completion = number(&repaired, "flows", "completion_s", 0);
    assert!(completion > 12.0 && completion < 60.0, "{completion}");
    // From the first timeout of every subflow, soon after the failure, to the first answer: the timers have backed
    // off by then, at most to twice the time that passed (RFC 6298 section 5.5).
    let stalled = number(&repaired, "connections", "stalled_s", 0);
    assert!(stalled > 8.0 && stalled < 22.0, "{stalled}");
    assert!(number(&repaired, "connections", "stalled_since_s", 0).is_nan());
    assert!(integer(&repaired, "flows", "drops_unreachable", 0) > 0);

    let lost = build(None);
    let since = number(&lost, "connections", "stalled_since_s", 0);
    assert!(since > 2.0 && since < 10.0, "{since}");
    assert!(number(&lost, "flows", "completion_s", 0).is_nan());
    assert_eq!(texts(&lost, "flows", "failure")[0], "", "it is not given up");
    assert!(texts(&lost, "subflows", "state").iter().all(|state| *state == "suspect"));
}

/// Two hosts with two interfaces each, joined by paths from the first to the first, and from the second to the
/// second: two of four pairs of addresses have a way, and only these become subflows.
#[test]
fn a_full_mesh_uses_each_interface_for_its_own_subflow() {
    let mut b = parallel_paths(mbps(10), &[10, 20], 100, Span::from_secs(5));
    let mesh = mptcp(|config| config.path_manager = PathManagerConfig::Fullmesh(Default::default()));
    let transport = b.protocol("mesh", mesh);
    b.flow(NodeId(0), NodeId(1), transport, SourceSetup::Unlimited {}, Instant::ZERO);
    b.setup.routing.scheme = Some(disjoint(2));
    let outcome = b.run();
    let paths = texts(&outcome, "subflows", "path");
    let states = texts(&outcome, "subflows", "state");
    assert_eq!(paths, ["a > m0 > b", "a > m1 > b"]);
    assert_eq!(states, ["established", "established"]);
    assert_eq!(texts(&outcome, "subflows", "client"), ["10.0.0.0", "11.0.0.0"]);
    assert_eq!(texts(&outcome, "subflows", "server"), ["10.0.0.1", "11.0.0.1"]);
    // Acknowledgments come back on the edge of the data (links 4i + 1 and 4i + 3 lead back).
    for path in 0..2 {
        assert!(integer(&outcome, "links", "packets", 4 * path) > 500, "path {path}");
        assert!(integer(&outcome, "links", "packets", 4 * path + 3) > 250, "path {path}");
    }
    // Both paths full: over 80 % although windows must first grow to the queues.
    let goodput = number(&outcome, "flows", "goodput_mbps", 0);
    assert!(goodput > 0.8 * 20.0 * EFFICIENCY && goodput < 20.0 * EFFICIENCY, "{goodput}");
    // RTTs are those of the paths: 10 and 20 ms each way, and what serialising a packet twice takes.
    for (subflow, round_trip) in [(0, 20.0), (1, 40.0)] {
        let least = number(&outcome, "subflows", "rtt_min_ms", subflow);
        assert!(least >= round_trip && least < round_trip + 5.0, "{subflow}: {least}");
    }
}

/// Of parallel links the table says which one a subflow takes, as the links' names do: each has a round trip of its own.
#[test]
fn a_path_over_parallel_links_says_which() {
    let mut b = Builder::new(Span::from_secs(2));
    let (from, to) = (b.node("a"), b.node("b"));
    for (number, ms) in (1..).zip([10, 20, 40]) {
        let link = b.link(from, to, mbps(10), Span::from_ms(ms), 100);
        if number > 1 {
            b.setup.links[link].name = format!("a->b#{number}").into();
            b.setup.links[link + 1].name = format!("b->a#{number}").into();
        }
    }
    let transport = b.protocol("three", ndiffports(3));
    b.flow(from, to, transport, SourceSetup::Unlimited {}, Instant::ZERO);
    b.setup.routing.scheme = Some(disjoint(3));
    b.setup.routing.load_balancing =
        LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None });
    let outcome = b.run();
    let mut seen = BTreeSet::new();
    for (subflow, path) in texts(&outcome, "subflows", "path").into_iter().enumerate() {
        let one_way = match path {
            "a > b" => 10.0,
            "a > b#2" => 20.0,
            "a > b#3" => 40.0,
            other => panic!("{other}"),
        };
        let least = number(&outcome, "subflows", "rtt_min_ms", subflow);
        assert!(least >= 2.0 * one_way && least < 2.0 * one_way + 5.0, "{path}: {least}");
        seen.insert(path);
    }
    assert_eq!(seen.len(), 3);
}

/// Next hops by destination know no interfaces: the mesh is refused where it would need them, with a remedy.
#[test]
fn a_full_mesh_over_next_hops_is_refused() {
    let mut b = parallel_paths(mbps(10), &[10, 10], 100, Span::from_secs(1));
    let mesh = mptcp(|config| config.path_manager = PathManagerConfig::Fullmesh(Default::default()));
    let transport = b.protocol("mesh", mesh);
    b.flow(NodeId(0), NodeId(1), transport, SourceSetup::Unlimited {}, Instant::ZERO);
    b.setup.routing.scheme = Some(Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Hops }));
    let plan = plan(&b.setup);
    let error = Simulation::new(b.setup, plan).err().expect("refused").to_string();
    assert!(
        error.contains("flows[0]") && error.contains("disjoint") && error.contains("ndiffports"),
        "{error}"
    );
}

/// What is not for multipath flows is refused, not ignored.
#[test]
fn sequences_and_controllers_do_not_go_with_subflows() {
    let thesis = || {
        Thesis {
            paths: 2,
            clients: 1,
            transport: ndiffports(2),
            capacity: mbps(10),
            duration: Span::from_secs(1),
        }
        .build()
    };
    let refusal = |setup: Setup| {
        let plan = plan(&setup);
        Simulation::new(setup, plan).err().expect("refused").to_string()
    };
    let mut b = thesis();
    b.setup.probes.sequences = vec![anabranch_units::FlowId(0)];
    assert!(refusal(b.setup).contains("probes.sequences"));
    let mut b = thesis();
    let node = b.node("controller");
    b.link(node, NodeId(0), mbps(10), Span::from_ms(1), 10);
    b.setup.controller =
        Some(controller(node, &[NodeId(0)], ApplicationSetup::Forwarding(ForwardingParameters {})));
    assert!(refusal(b.setup).contains("multipath"));
    for subflows in [0, 256] {
        let mut b = thesis();
        b.setup.transports[0].config = ndiffports(subflows);
        let message = refusal(b.setup);
        assert!(
            message.contains(&format!("subflows: is {subflows}; it must be at least 1 and at most 255")),
            "{message}"
        );
    }
}

/// The same scenario gives the same tables, and subflows of every kind keep the books: an uneven network with loss,
/// packets sprayed over both paths, each scheduler.
#[test]
fn runs_repeat_and_their_books_balance() {
    use anabranch_engine::transport::SchedulerConfig;
    let schedulers = [
        SchedulerConfig::LowestRtt(Default::default()),
        SchedulerConfig::RoundRobin(Default::default()),
        SchedulerConfig::Redundant(Default::default()),
        SchedulerConfig::Blest(Default::default()),
    ];
    for (seed, scheduler) in (1..).zip(schedulers) {
        for spread in [
            LoadBalancing::Packet(PacketParameters {}),
            LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None }),
            LoadBalancing::Flow(FlowParameters {}),
        ] {
            let run = || {
                let transport = mptcp(|config| {
                    config.path_manager = PathManagerConfig::Ndiffports(
                        anabranch_engine::transport::mptcp::NdiffportsParameters {
                            subflows: 3,
                            by_interfaces: false,
                        },
                    );
                    config.scheduler = scheduler.clone();
                    config.tcp.receive_buffer = Bytes(200_000);
                });
                let mut b = Thesis {
                    paths: 3,
                    clients: 2,
                    transport,
                    capacity: mbps(4),
                    duration: Span::from_secs(4),
                }
                .build();
                b.setup.seed = seed;
                b.setup.routing.load_balancing = spread.clone();
                *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.02 });
                b.setup.links[4].delay = Span::from_ms(40);
                b.setup.flows[0].source = SourceSetup::Sized { bytes: 300_000 };
                // The engine checks the books at the end, and that each byte was delivered once.
                let outcome = b.run();
                assert_eq!(
                    integer(&outcome, "flows", "delivered_bytes", 0),
                    300_000,
                    "{scheduler:?} {spread:?}"
                );
                format!("{:?}", outcome.tables)
            };
            assert_eq!(run(), run());
        }
    }
}
