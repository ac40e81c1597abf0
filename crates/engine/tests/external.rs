//! Packets in and out at nodes whose hosts are not simulated, and what is seen and changed between steps.

use crate::common::*;
use anabranch_engine::packet::Direction;
use anabranch_engine::queues::DropCause;
use anabranch_engine::setup::*;
use anabranch_engine::transport::{Flags, Segment};
use anabranch_engine::{Departure, ExternalPacket, Fate, Phase, Simulation};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use std::ops::ControlFlow;

fn started(setup: Setup, external: &[NodeId]) -> Simulation {
    let plan = plan(&setup);
    let mut simulation = Simulation::new(setup, plan).expect("a valid setup");
    external.iter().for_each(|&node| simulation.make_external(node).expect("a node"));
    simulation
}

fn go_on(simulation: &mut Simulation, until: Instant) {
    let reached = simulation.advance(until, |_| ControlFlow::Continue(())).expect("a step");
    assert_eq!(reached, ControlFlow::Continue(()));
}

/// A host, a router and a host: 10 Mbps and 5 ms, then 20 Mbps and 3 ms, with room for two packets before each.
fn line(transport: &str) -> Builder {
    let mut b = Builder::new(Span::from_secs(2));
    let [from, router, to] = ["from", "router", "to"].map(|name| b.node(name));
    b.link(from, router, mbps(10), Span::from_ms(5), 2);
    b.link(router, to, mbps(20), Span::from_ms(3), 2);
    let transport = b.transport(transport);
    b.flow(from, to, transport, SourceSetup::Unlimited {}, at(0.1));
    b
}

fn data(payload: u16) -> ExternalPacket {
    let segment = Segment { payload, flags: Flags::ACK, ..Segment::default() };
    ExternalPacket { flow: FlowId(0), direction: Direction::Forward, segment, bytes: 1500 }
}

/// 1500 B take 1.2 ms at 10 Mbps and 0.6 ms at 20 Mbps. Of five at once one is sent, two wait, and two are dropped.
#[test]
fn packets_cross_the_network_and_come_out_at_their_time() {
    let mut simulation = started(line("cubic").setup, &[NodeId(0), NodeId(2)]);
    assert_eq!(simulation.next_event(), None, "a flow between external hosts sends nothing of its own");
    go_on(&mut simulation, at(0.5));
    for token in 0..5 {
        simulation.inject(data(1460), token).expect("the node is external");
    }
    let first_hop = at(0.5) + Span::from_us(6_200);
    assert_eq!(simulation.next_event(), Some(first_hop));
    let dropped =
        |token| Departure { token: Some(token), fate: Fate::Dropped(DropCause::Queue), is_last: true };
    assert_eq!(simulation.departures().collect::<Vec<_>>(), [dropped(3), dropped(4)]);
    go_on(&mut simulation, at(1.0));
    let arrived = |token: u64| {
        let at = at(0.5) + Span::from_us(1_200 * (token + 1) + 5_000 + 600 + 3_000);
        Departure {
            token: Some(token),
            fate: Fate::Arrived { at, node: NodeId(2), packet: data(1460) },
            is_last: true,
        }
    };
    assert_eq!(simulation.departures().collect::<Vec<_>>(), [arrived(0), arrived(1), arrived(2)]);
    assert_eq!(simulation.departures().count(), 0, "each is told once");
    let outcome = simulation.finish().expect("the books balance");
    assert_eq!(integer(&outcome, "flows", "packets_received", 0), 3);
    assert_eq!(integer(&outcome, "flows", "drops_queue", 0), 2);
    assert_eq!(integer(&outcome, "links", "packets", 0), 3);
}

/// Packets that wait and fly when a link fails are told of as well, and a capable one comes out marked.
#[test]
fn what_a_failure_takes_and_what_a_queue_marks_is_told() {
    let mut b = line("cubic");
    *b.setup.links[0].queue = marking(2, 0);
    let mut simulation = started(b.setup, &[NodeId(0), NodeId(2)]);
    let mut capable = data(1460);
    capable.segment.flags = capable.segment.flags.with(Flags::ECT);
    for token in 0..2 {
        simulation.inject(capable, token).expect("the node is external");
    }
    go_on(&mut simulation, at(0.1));
    let marked: Vec<bool> = simulation
        .departures()
        .map(|departure| match departure.fate {
            Fate::Arrived { packet, .. } => packet.segment.flags.has(Flags::CE),
            fate => panic!("{fate:?}"),
        })
        .collect();
    // The first finds the link idle, the second waits.
    assert_eq!(marked, [false, true]);
    for token in 2..5 {
        simulation.inject(data(1460), token).expect("the node is external");
    }
    go_on(&mut simulation, at(0.1) + Span::from_us(1_300));
    simulation.change(&Change::Links { links: vec![LinkId(0), LinkId(1)], up: false }).expect("two links");
    let fates: Vec<_> = simulation.departures().map(|departure| departure.fate).collect();
    assert_eq!(fates, [Fate::Dropped(DropCause::Down); 3]);
    assert!(!simulation.link(LinkId(0)).up);
    simulation.finish().expect("the books balance");
}

/// A real sender and a simulated receiver: the SYN that is put in is answered.
#[test]
fn a_simulated_host_answers_a_real_one() {
    let mut simulation = started(line("cubic").setup, &[NodeId(0)]);
    let syn = Segment { seq: 7, flags: Flags::SYN, mss: 1460, ..Segment::default() };
    let syn = ExternalPacket { segment: syn, bytes: 60, ..data(0) };
    simulation.inject(syn, 42).expect("the node is external");
    go_on(&mut simulation, at(0.1));
    let departures: Vec<_> = simulation.departures().collect();
    assert_eq!(departures[0], Departure { token: Some(42), fate: Fate::Delivered, is_last: true });
    let Fate::Arrived { node, packet, .. } = departures[1].fate else { panic!("{departures:?}") };
    assert_eq!((node, packet.direction, departures[1].token), (NodeId(0), Direction::Backward, None));
    assert!(packet.segment.flags.has(Flags::SYN) && packet.segment.flags.has(Flags::ACK));
    assert_eq!(packet.segment.ack, 8);
}

/// What goes into a capture is what was put in, protocol and all, at the host and on each link; a mark shows.
#[test]
fn a_capture_has_the_bytes_that_were_put_in() {
    let mut b = line("cubic");
    *b.setup.links[0].queue = marking(2, 0);
    let file =
        |name: &str| std::env::temp_dir().join(format!("anabranch-external-{}-{name}", std::process::id()));
    let points = [
        CapturePoint::Host { host: NodeId(0) },
        CapturePoint::Link { link: LinkId(0) },
        CapturePoint::Host { host: NodeId(2) },
    ];
    let files: Vec<_> = ["sent", "link", "received"].map(file).into();
    for (at, file) in points.into_iter().zip(&files) {
        let file = file.to_str().expect("a name").to_owned();
        b.setup.captures.push(CaptureSetup { file, at, snap_length: 0 });
    }
    let mut simulation = started(b.setup, &[NodeId(0), NodeId(2)]);
    // An echo of 4 bytes behind its header, which no segment could hold.
    let mut ping = vec![0x45, 2, 0, 32, 0, 7, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 3, 8, 0];
    ping.extend_from_slice(b"\0\0\0\x01\0\x01echo");
    let mut packet = data(12);
    packet.segment.flags = packet.segment.flags.with(Flags::ECT);
    for token in 0..2 {
        simulation.inject_bytes(packet, token, &ping).expect("the node is external");
    }
    go_on(&mut simulation, at(0.5));
    simulation.finish().expect("the books balance");
    let mut marked = ping.clone();
    marked[1] = 3;
    let seen = files.iter().map(|file| {
        let bytes = std::fs::read(file).expect("a capture");
        std::fs::remove_file(file).expect("it is there");
        let count = |pattern: &[u8]| bytes.windows(pattern.len()).filter(|at| *at == pattern).count();
        // Without the checksum, which the mark changes.
        (count(&ping[..10]), count(&marked[..10]), count(&ping[12..]))
    });
    // The second waits behind the first, and is marked.
    assert_eq!(seen.collect::<Vec<_>>(), [(2, 0, 2), (1, 1, 2), (1, 1, 2)]);
}

/// Between the same nodes one flow is external and another is simulated; each has its own ports.
#[test]
fn a_flow_is_external_beside_a_simulated_one() {
    let mut b = line("linux-cubic");
    let (from, to) = (NodeId(0), NodeId(2));
    b.flow(from, to, 0, SourceSetup::Sized { bytes: 50_000 }, at(0.1));
    let mut simulation = started(b.setup, &[]);
    simulation.make_ends_external(FlowId(0), true, true).expect("a flow");
    assert_ne!(simulation.endpoints(FlowId(0)), simulation.endpoints(FlowId(1)));
    simulation.inject(data(1460), 5).expect("its source is external");
    go_on(&mut simulation, at(2.0));
    let departures: Vec<_> = simulation.departures().collect();
    let [Departure { token: Some(5), fate: Fate::Arrived { node, .. }, .. }] = departures[..] else {
        panic!("only what was put in comes out: {departures:?}")
    };
    assert_eq!(node, to);
    let refused = simulation.inject(ExternalPacket { flow: FlowId(1), ..data(1460) }, 6);
    assert_eq!(
        refused.expect_err("it is simulated").to_string(),
        "flows[1]: the host at from is simulated; declare its node external"
    );
    let outcome = simulation.finish().expect("the books balance");
    assert_eq!(integer(&outcome, "flows", "packets_received", 0), 1);
    assert_eq!(integer(&outcome, "flows", "delivered_bytes", 1), 50_000);
}

#[test]
fn what_cannot_be_put_in_is_refused() {
    let mut simulation = started(line("cubic").setup, &[NodeId(0)]);
    let text = |result: Result<(), anabranch_engine::EngineError>| result.expect_err("refused").to_string();
    let mut refused = |packet| text(simulation.inject(packet, 0));
    let backward = ExternalPacket { direction: Direction::Backward, ..data(0) };
    assert_eq!(refused(backward), "flows[0]: the host at to is simulated; declare its node external");
    assert_eq!(
        refused(ExternalPacket { flow: FlowId(1), ..data(0) }),
        "flows[1]: there is no such flow; there are 1"
    );
    let mut other = data(0);
    other.segment.subflow = 1;
    assert_eq!(refused(other), "flows[0]: no subflow 1; there are 1");
    assert_eq!(text(simulation.make_external(NodeId(3))), "external: no node number 3; there are 3");
    go_on(&mut simulation, at(0.1));
    assert_eq!(
        text(simulation.make_external(NodeId(2))),
        "external: the run has begun; declare external hosts before its first step"
    );
    let change = Change::Links { links: vec![LinkId(9)], up: false };
    assert_eq!(text(simulation.change(&change)), "change.links: no link number 9; there are 4");
}

/// A change between two steps is one that the setup announces for this instant, and looking changes nothing.
#[test]
fn a_change_between_steps_is_a_change_of_the_setup() {
    // A time at which nothing else happens.
    let when = Instant::from_ps(800_000_000_123);
    let change = Change::Capacity { links: vec![LinkId(0), LinkId(1)], capacity: mbps(4) };
    let mut announced = line("linux-cubic").setup;
    announced.events.push(EventSetup { at: when, change: change.clone() });
    let announced = run(announced);
    let mut simulation = started(line("linux-cubic").setup, &[]);
    go_on(&mut simulation, when);
    simulation.change(&change).expect("two links");
    assert_eq!(simulation.link(LinkId(0)).capacity, mbps(4));
    let end = simulation.end();
    while simulation.now() < end {
        let until = simulation.now() + Span::from_ms(7);
        go_on(&mut simulation, until);
        let (flow, link) = (simulation.flow(FlowId(0)), simulation.link(LinkId(0)));
        assert!(flow.phase == Phase::Open && link.stats.sent > 0);
        let (flows, links) = (simulation.flow_states(), simulation.link_states());
        assert_eq!(flows.integer("cwnd_bytes"), Some(&[flow.cwnd_bytes][..]));
        assert_eq!(links.integer("queue_packets").map(|queues| queues[0]), Some(link.queue_packets));
        let names = |table: &anabranch_engine::records::Table| {
            let mut names: Vec<_> = table.columns.iter().map(|(name, _)| *name).collect();
            names.sort_unstable();
            names
        };
        for names in [names(&flows), names(&links)] {
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a column is there twice: {names:?}");
        }
    }
    let changed = simulation.finish().expect("the books balance");
    for name in ["flows", "links", "events"] {
        assert_eq!(
            format!("{:?}", table(&changed, name)),
            format!("{:?}", table(&announced, name)),
            "{name}"
        );
    }
}

/// Two links join the same nodes, and the route takes the first: who forwards outside chooses the second, 2 ms of it.
/// A link that is down takes what it is given, and loses it.
#[test]
fn a_packet_is_put_in_over_a_link_of_its_own() {
    let mut b = Builder::new(Span::from_secs(2));
    let [from, to] = ["from", "to"].map(|name| b.node(name));
    b.link(from, to, mbps(10), Span::from_ms(5), 2);
    let second = LinkId::from_index(b.link(from, to, mbps(12), Span::from_ms(1), 2));
    for link in &mut b.setup.links[2..] {
        link.name = format!("{}#2", link.name).into();
    }
    let transport = b.transport("cubic");
    b.flow(from, to, transport, SourceSetup::Unlimited {}, at(0.1));
    let mut simulation = started(b.setup, &[from, to]);
    let back = ExternalPacket { direction: Direction::Backward, ..data(1460) };
    simulation.inject_over(second, data(1460), 1, None).expect("the link joins the ends");
    simulation.inject_over(LinkId(1), back, 2, None).expect("the link joins them the other way");
    assert_eq!(
        simulation.inject_over(LinkId(1), data(1460), 3, None).expect_err("the other way").to_string(),
        "flows[0]: link 1 does not join its ends"
    );
    go_on(&mut simulation, at(1.0));
    let fates: Vec<_> = simulation.departures().map(|of| (of.token, of.fate)).collect();
    let arrived = |token, us, node, packet| {
        (Some(token), Fate::Arrived { at: Instant::ZERO + Span::from_us(us), node, packet })
    };
    assert_eq!(fates, [arrived(1, 2_000, to, data(1460)), arrived(2, 6_200, from, back)]);
    simulation.change(&Change::Links { links: vec![second], up: false }).expect("a link");
    simulation.inject_over(second, data(1460), 4, None).expect("it may be tried");
    go_on(&mut simulation, at(1.5));
    let lost = Departure { token: Some(4), fate: Fate::Dropped(DropCause::Down), is_last: true };
    assert_eq!(simulation.departures().collect::<Vec<_>>(), [lost]);
    simulation.finish().expect("the books balance");
}
