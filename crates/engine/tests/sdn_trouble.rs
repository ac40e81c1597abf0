//! The control plane in trouble: full tables, time-outs, losses, failures, odd places for hosts. Whatever
//! happens, every byte arrives in the end, and a run checks its own books (conservation).

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::control::applications::{
    ForwardingParameters, PacedParameters, SubflowRoundRobinApplicationParameters, WindowClampParameters,
};
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::routing::Metric;
use anabranch_engine::setup::*;
use anabranch_engine::transport::TransportConfig;
use anabranch_units::{Instant, LinkId, NodeId, Span};

const TABLE: FlowTableSetup =
    FlowTableSetup { size: None, when_full: WhenFull::Refuse, idle_timeout: None, hard_timeout: None };

/// Three switches in a triangle, 0-1-2 shorter than 0-2, and a controller with a link of its own to each.
struct Triangle {
    b: Builder,
    switches: Vec<NodeId>,
    controller: NodeId,
    /// First links from switch 0 to 1, from 1 to 2, from 0 to 2; those of the control links.
    sides: [usize; 3],
    control: Vec<usize>,
}

fn triangle(application: ApplicationSetup, duration: Span) -> Triangle {
    let mut b = Builder::new(duration);
    let switches: Vec<NodeId> = (0..3).map(|n| b.node(&format!("Sw{n}"))).collect();
    let ms = Span::from_ms;
    let sides = [(0, 1, 1), (1, 2, 1), (0, 2, 3)]
        .map(|(a, z, delay)| b.link(switches[a], switches[z], mbps(100), ms(delay), 1000));
    let controller = b.node("controller");
    let control = switches.iter().map(|&s| b.link(controller, s, mbps(100), ms(1), 10_000)).collect();
    b.setup.controller = Some(ControllerSetup {
        node: controller,
        switches: switches.clone(),
        channel: Channel::Apart,
        application,
        metric: Metric::Delay,
        flow_metrics: Vec::new(),
        table: TABLE,
        linger: Span::from_ms(50),
        processing_delay: None,
        statistics_interval: None,
    });
    Triangle { b, switches, controller, sides, control }
}

impl Triangle {
    fn host(&mut self, name: &str, switch: usize) -> NodeId {
        let node = self.b.node(name);
        self.b.link(node, self.switches[switch], mbps(1000), Span::from_us(10), 1000);
        node
    }

    /// Flows from hosts of their own at switch 0 to one at switch 2, 10 ms apart.
    fn flows(&mut self, count: u64, transport: &str, bytes: u64) {
        let transport = self.b.transport(transport);
        let to = self.host("R", 2);
        for n in 0..count {
            let from = self.host(&format!("S{n}"), 0);
            let start = Instant::ZERO + Span::from_ms(10 * n);
            self.b.flow(from, to, transport, SourceSetup::Sized { bytes }, start);
        }
    }

    fn setup(&mut self) -> &mut ControllerSetup {
        self.b.setup.controller.as_mut().expect("a controller")
    }

    fn lose(&mut self, link: usize, probability: f64) {
        for link in [link, link + 1] {
            *self.b.setup.links[link].loss = LossSetup::Bernoulli(Bernoulli { probability });
        }
    }

    fn at_ms(&mut self, ms: u64, change: Change) {
        self.b.setup.events.push(EventSetup { at: Instant::ZERO + Span::from_ms(ms), change });
    }

    fn link_at_ms(&mut self, ms: u64, link: usize, up: bool) {
        let links = vec![LinkId::from_index(link), LinkId::from_index(link + 1)];
        self.at_ms(ms, Change::Links { links, up });
    }
}

fn paced(schedule: PacedSchedule) -> ApplicationSetup {
    ApplicationSetup::SdnPaced(PacedParameters { alpha: 1.0, beta: 1.5, gamma: 1.0, schedule })
}

/// Each application with each kind of sender that it may meet.
fn every_case() -> Vec<(ApplicationSetup, &'static str)> {
    let applications = [
        ApplicationSetup::Forwarding(ForwardingParameters {}),
        ApplicationSetup::WindowClamp(WindowClampParameters { share: 1.0 }),
        ApplicationSetup::SubflowRoundRobin(SubflowRoundRobinApplicationParameters { k: Some(1) }),
        paced(PacedSchedule::Published),
        paced(PacedSchedule::Stretched),
    ];
    let tcp = ["cubic", "linux-cubic", "bbr"];
    let mut cases: Vec<_> =
        applications.iter().flat_map(|app| tcp.map(|transport| (app.clone(), transport))).collect();
    cases.extend(applications[3..].iter().map(|app| (app.clone(), "sdn-paced")));
    cases.push((ApplicationSetup::Forwarding(ForwardingParameters {}), "sliding-window"));
    cases
}

fn assert_delivered(outcome: &Outcome, bytes: u64, what: &str) {
    let flows = table(outcome, "flows");
    let failures = flows.text("failure").unwrap();
    assert!(failures.iter().all(str::is_empty), "{what}: {failures:?}");
    let delivered = flows.integer("delivered_bytes").unwrap();
    assert!(!delivered.is_empty() && delivered.iter().all(|&got| got == bytes), "{what}: {delivered:?}");
}

fn sum(outcome: &Outcome, name: &str, column: &str) -> u64 {
    table(outcome, name).integer(column).unwrap().iter().sum()
}

fn messages(outcome: &Outcome, kind: &str) -> u64 {
    let table = table(outcome, "control_messages");
    let row = table.text("kind").unwrap().iter().position(|name| name == kind).expect("a kind of that name");
    table.integer("messages").unwrap()[row]
}

/// Ten flows, and room for the entries of one or two.
#[test]
fn a_table_of_four_entries() {
    for (application, transport) in every_case() {
        for (when_full, counter) in [(WhenFull::Refuse, "refused"), (WhenFull::Evict, "evicted")] {
            let what = format!("{application:?}, {transport}, {when_full:?}");
            let mut net = triangle(application.clone(), Span::from_secs(20));
            net.flows(10, transport, 60_000);
            net.setup().table = FlowTableSetup { size: Some(4), when_full, ..TABLE };
            let outcome = net.b.run();
            assert_delivered(&outcome, 60_000, &what);
            assert!(sum(&outcome, "flow_tables", counter) > 0, "{what}");
            assert!(table(&outcome, "flow_tables").integer("entries_max").unwrap().iter().all(|&n| n <= 4));
            if when_full == WhenFull::Refuse {
                // A refused flow is not set up again with each of its packets, but once there is room.
                let (ins, ups) = (messages(&outcome, "packet in"), messages(&outcome, "set-up"));
                assert!(ups < 400 && ins > ups, "{what}: {ups} set-ups for {ins} packets");
            }
        }
    }
}

/// Messages 100 ms apart, and entries that go idle after 30 ms.
#[test]
fn idle_entries_come_back_after_a_pause() {
    for (application, transport) in every_case() {
        let what = format!("{application:?}, {transport}");
        let mut net = triangle(application, Span::from_secs(3));
        let transport = net.b.transport(transport);
        let (from, to) = (net.host("S", 0), net.host("R", 2));
        let constant = |value| Variate::Constant { value };
        let source = SourceSetup::messages(constant(20_000.0), constant(1e11));
        net.b.flow(from, to, transport, source, Instant::ZERO);
        net.b.setup.flows[0].stop = Some(at(2.05));
        net.setup().table.idle_timeout = Some(Span::from_ms(30));
        let outcome = net.b.run();
        let delivered = sum(&outcome, "flows", "delivered_bytes");
        assert!(delivered >= 400_000 && delivered.is_multiple_of(20_000), "{what}: {delivered}");
        assert!(number(&outcome, "flows", "completion_s", 0).is_finite(), "{what}");
        assert!(sum(&outcome, "flow_tables", "expired_idle") > 15, "{what}");
        assert_eq!(sum(&outcome, "flow_tables", "entries"), 0, "{what}");
    }
}

/// The report of switch 1 that its entries are gone arrives when the flow has been set up again: it says nothing of
/// the flow as it is now, whose FIN the controller waits for and whose entries it removes then.
#[test]
fn late_reports_of_idle_entries_are_of_the_past() {
    for (application, transport) in every_case() {
        let what = format!("{application:?}, {transport}");
        let mut net = triangle(application, Span::from_secs(4));
        let transport = net.b.transport(transport);
        let (from, to) = (net.host("S", 0), net.host("R", 2));
        let constant = |value| Variate::Constant { value };
        let source = SourceSetup::messages(constant(20_000.0), constant(4e11));
        net.b.flow(from, to, transport, source, Instant::ZERO);
        net.b.setup.flows[0].stop = Some(at(1.3));
        net.setup().table.idle_timeout = Some(Span::from_ms(300));
        net.setup().linger = Span::ZERO;
        let slow = net.control[1];
        for link in [slow, slow + 1] {
            net.b.setup.links[link].delay = Span::from_ms(95);
        }
        let outcome = net.b.run();
        let delivered = sum(&outcome, "flows", "delivered_bytes");
        assert!(delivered >= 60_000 && delivered.is_multiple_of(20_000), "{what}: {delivered}");
        assert!(messages(&outcome, "removed") > 0, "{what}");
        // The controller knows the flow when it ends.
        assert!(messages(&outcome, "remove") >= 3, "{what}");
        assert_eq!(sum(&outcome, "flow_tables", "entries"), 0, "{what}");
    }
}

#[test]
fn hard_timeouts_in_the_middle_of_transfers() {
    for (application, transport) in every_case() {
        let what = format!("{application:?}, {transport}");
        let mut net = triangle(application, Span::from_secs(5));
        net.flows(3, transport, 1_000_000);
        net.setup().table.hard_timeout = Some(Span::from_ms(20));
        let outcome = net.b.run();
        assert_delivered(&outcome, 1_000_000, &what);
        assert!(sum(&outcome, "flow_tables", "expired_hard") > 20, "{what}");
        assert_eq!(sum(&outcome, "flows", "drops_unreachable"), 0, "{what}");
    }
}

/// FINs, last ACKs and retransmissions that come when the entries are gone, and tables that are empty at the end.
#[test]
fn stragglers_behind_the_end_of_a_flow() {
    for (application, transport) in every_case() {
        for linger in [Span::ZERO, Span::from_ms(1), Span::from_ms(200)] {
            let what = format!("{application:?}, {transport}, {linger:?}");
            let mut net = triangle(application.clone(), Span::from_secs(60));
            net.flows(5, transport, 40_000);
            for side in net.sides {
                net.lose(side, 0.05);
            }
            net.setup().linger = linger;
            let outcome = net.b.run();
            assert_delivered(&outcome, 40_000, &what);
            assert_eq!(sum(&outcome, "flow_tables", "entries"), 0, "{what}");
        }
    }
}

/// The SYN is at the second switch 20 ms before its set-up.
#[test]
fn a_syn_that_overtakes_its_set_up_does_not_loop() {
    for (application, transport) in every_case() {
        let what = format!("{application:?}, {transport}");
        let mut net = triangle(application, Span::from_secs(5));
        net.flows(1, transport, 40_000);
        let slow = net.control[1];
        net.b.setup.links[slow].delay = Span::from_ms(20);
        let outcome = net.b.run();
        assert_delivered(&outcome, 40_000, &what);
        // The SYN twice, the FIN once, and of everything else what comes in 40 ms at the most.
        let ins = messages(&outcome, "packet in");
        assert!((2..40).contains(&ins), "{what}: {ins} packets to the controller");
    }
}

/// A SYN that takes the way over the controller is lost every other time, so that handshakes need more patience
/// than the presets have.
#[test]
fn control_links_that_lose_a_third() {
    let patience = Span::from_secs(3000);
    for (application, transport) in every_case() {
        for seed in 1..6 {
            let what = format!("{application:?}, {transport}, seed {seed}");
            let mut net = triangle(application.clone(), patience);
            net.b.setup.seed = seed;
            net.flows(6, transport, 40_000);
            match &mut net.b.setup.transports[0].config {
                TransportConfig::Tcp(config) => config.handshake_timeout = patience,
                TransportConfig::SdnPaced(config) => config.handshake_timeout = patience,
                TransportConfig::SlidingWindow(config) => config.handshake_timeout = patience,
                TransportConfig::Mptcp(config) => config.tcp.handshake_timeout = patience,
                TransportConfig::Spray(_) => {}
            }
            for link in net.control.clone() {
                net.lose(link, 0.3);
            }
            let outcome = net.b.run();
            assert_delivered(&outcome, 40_000, &what);
            assert!(messages(&outcome, "lost") > 5, "{what}");
        }
    }
}

#[test]
fn a_controller_that_is_gone_for_a_while() {
    for (application, transport) in every_case() {
        for whole in [true, false] {
            let what = format!("{application:?}, {transport}, whole: {whole}");
            let mut net = triangle(application.clone(), Span::from_secs(30));
            net.flows(10, transport, 40_000);
            net.b.setup.routing.reaction = Some(Span::from_ms(1));
            let (node, link) = (net.controller, net.control[1]);
            if whole {
                net.at_ms(35, Change::Node { node, up: false });
                net.at_ms(500, Change::Node { node, up: true });
            } else {
                net.link_at_ms(35, link, false);
                net.link_at_ms(500, link, true);
            }
            assert_delivered(&net.b.run(), 40_000, &what);
        }
    }
}

/// Data fill the only link between the controller and switch 0.
#[test]
fn in_band_beside_a_saturated_link() {
    for (application, transport) in every_case() {
        let what = format!("{application:?}, {transport}");
        let mut b = Builder::new(Span::from_secs(10));
        let switches = [b.node("Sw0"), b.node("Sw1")];
        b.link(switches[0], switches[1], mbps(10), Span::from_ms(1), 50);
        let node = b.node("controller");
        b.link(node, switches[1], mbps(100), Span::from_ms(1), 1000);
        let mut net = triangle(application, Span::from_ms(1));
        let setup = net.setup().clone();
        let switches = switches.to_vec();
        b.setup.controller =
            Some(ControllerSetup { node, switches: switches.clone(), channel: Channel::InBand, ..setup });
        let transport = b.transport(transport);
        for n in 0..8 {
            let (from, to) = (b.node(&format!("S{n}")), b.node(&format!("R{n}")));
            b.link(from, switches[n % 2], mbps(100), Span::from_us(10), 1000);
            b.link(to, switches[1 - n % 2], mbps(100), Span::from_us(10), 1000);
            let start = Instant::ZERO + Span::from_ms(100 * n as u64);
            b.flow(from, to, transport, SourceSetup::Sized { bytes: 400_000 }, start);
        }
        assert_delivered(&b.run(), 400_000, &what);
    }
}

#[test]
fn flows_move_away_from_a_link_that_fails() {
    for (application, transport) in every_case() {
        let what = format!("{application:?}, {transport}");
        let mut net = triangle(application, Span::from_secs(30));
        net.flows(4, transport, 1_500_000);
        net.b.setup.routing.reaction = Some(Span::from_ms(5));
        let [_, failing, other] = net.sides;
        net.link_at_ms(120, failing, false);
        let outcome = net.b.run();
        assert_delivered(&outcome, 1_500_000, &what);
        assert!(integer(&outcome, "links", "packets", other) > 1000, "{what}");
        // Nobody asks for switch 1 any more, and its entries went with the flows.
        assert_eq!(sum(&outcome, "flow_tables", "entries"), 0, "{what}");
    }
}

/// Flows both ways between two hosts, and between switches without any host.
#[test]
fn both_ways_and_between_switches() {
    for (application, transport) in every_case() {
        let what = format!("{application:?}, {transport}");
        let mut net = triangle(application, Span::from_secs(10));
        let transport = net.b.transport(transport);
        let (a, z) = (net.host("A", 0), net.host("Z", 2));
        let [s0, s1, s2] = [net.switches[0], net.switches[1], net.switches[2]];
        for (from, to) in [(a, z), (z, a), (s0, s2), (s2, s0), (s0, s1), (a, s2), (s1, z)] {
            let source = SourceSetup::Sized { bytes: 200_000 };
            net.b.flow(from, to, transport, source, Instant::ZERO);
        }
        assert_delivered(&net.b.run(), 200_000, &what);
    }
}

/// A host with links to two switches would be the shortest way between them; it sends over its first link only
/// and forwards nothing. Another host has no link at all.
#[test]
fn a_host_with_two_links_forwards_nothing() {
    for (application, transport) in every_case() {
        let what = format!("{application:?}, {transport}");
        let mut net = triangle(application, Span::from_secs(10));
        let transport = net.b.transport(transport);
        let (two, from, to) = (net.b.node("two"), net.host("S", 0), net.host("R", 2));
        net.b.link(two, net.switches[2], mbps(1000), Span::from_us(10), 1000);
        let second = net.b.link(two, net.switches[0], mbps(1000), Span::from_us(1), 1000);
        let lonely = net.b.node("lonely");
        let s0 = net.switches[0];
        for (from, to) in [(from, to), (two, s0), (from, two), (lonely, to), (from, lonely)] {
            net.b.flow(from, to, transport, SourceSetup::Sized { bytes: 50_000 }, Instant::ZERO);
        }
        let outcome = net.b.run();
        let delivered = table(&outcome, "flows").integer("delivered_bytes").unwrap();
        assert_eq!(delivered, [50_000, 50_000, 50_000, 0, 0], "{what}");
        assert_eq!(integer(&outcome, "links", "packets", second), 0, "{what}: over its second link");
        // Data to it come over its link that is nearest; they are no packets in.
        assert!(messages(&outcome, "packet in") < 40, "{what}");
    }
}
