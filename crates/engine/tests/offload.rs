//! Trains of segments: what a host with segmentation offload hands to the network as one.

use crate::common::*;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::queues::threshold::ThresholdParameters;
use anabranch_engine::setup::*;
use anabranch_engine::transport::tcp_preset;
use anabranch_engine::{Outcome, Simulation};
use anabranch_transport::TransportConfig;
use anabranch_units::{Instant, LinkId, NodeId, Rate, Span};
use std::num::NonZeroU16;
use std::ops::ControlFlow;

/// Bytes of the IP packet of a full segment, and of its payload.
const PACKET: u64 = 1500;
const PAYLOAD: u64 = 1448;

fn offload(setup: &mut Setup, node: NodeId, segments: u16) {
    let offload = NonZeroU16::new(segments).expect("segments");
    setup.hosts.push(HostSetup { node, offload, processing_delay: None });
}

/// A transfer of full segments between two hosts that are `delay` apart; it begins with ten at once.
fn transfer(segments: u64, train: u16) -> Setup {
    let mut b = two_hosts(mbps(12), Span::from_ms(10), 1000, Span::from_secs(5));
    let mut tcp = tcp_preset("newreno").expect("a preset");
    tcp.initial_window_segments = 10;
    let tcp = b.tcp("newreno", tcp);
    b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Sized { bytes: segments * PAYLOAD }, Instant::ZERO);
    offload(&mut b.setup, NodeId(0), train);
    b.setup
}

/// Packets of the first link and of the second, which leads back.
fn packets(outcome: &Outcome) -> (u64, u64) {
    (integer(outcome, "links", "packets", 0), integer(outcome, "links", "packets", 1))
}

#[test]
fn trains_of_one_are_no_trains() {
    let plain = Setup { hosts: Vec::new(), ..transfer(100, 1) };
    // As text, in which what is not a number is like itself.
    assert_eq!(format!("{:?}", run(plain).tables), format!("{:?}", run(transfer(100, 1)).tables));
}

/// Ten segments leave at once: as two trains of five, each of which takes the link for five packets. SYN, the ACK of
/// the handshake and the two trains are all the link has; the receiver answers each train once.
#[test]
fn a_train_is_one_packet_of_all_its_bytes() {
    let (single, trains) = (run(transfer(10, 1)), run(transfer(10, 5)));
    assert_eq!(packets(&trains).0, packets(&single).0 - 8);
    assert_eq!(integer(&trains, "links", "bytes", 0), integer(&single, "links", "bytes", 0));
    for column in ["segments_sent", "packets_received", "delivered_bytes"] {
        assert_eq!(integer(&trains, "flows", column, 0), integer(&single, "flows", column, 0), "{column}");
    }
    // SYN-ACK, an ACK for each train; the second has the receiver's FIN.
    assert_eq!(packets(&trains).1, 3);
    assert_eq!(integer(&trains, "flows", "reordered_packets", 0), 0);
    // The last byte arrives when it did: handshake, ten packets in a row, and the way there.
    let done = |outcome: &Outcome| number(outcome, "flows", "completion_s", 0);
    assert!((done(&trains) - done(&single)).abs() < 1e-12, "{} {}", done(&trains), done(&single));
}

/// A train arrives when its last bit does: the first bytes are 5 packets of 1 ms each behind the handshake.
#[test]
fn a_link_delays_a_train_as_one() {
    let mut simulation = Simulation::new(transfer(10, 5), plan(&transfer(10, 5))).expect("a setup");
    let syn = |bytes: f64| bytes * 8.0 / 12e6;
    let delivered_at = |simulation: &mut Simulation, s: f64| {
        let step = simulation.advance(at(s), |_| ControlFlow::Continue(())).expect("a step");
        assert!(step.is_continue());
        simulation.flow(anabranch_units::FlowId(0)).delivered_bytes
    };
    // SYN and SYN-ACK of 60 bytes, the ACK of 52 before the data.
    let first = 0.03 + 2.0 * syn(60.0) + syn(52.0) + 5.0 * PACKET as f64 * 8.0 / 12e6;
    assert_eq!(delivered_at(&mut simulation, first - 1e-6), 0);
    assert_eq!(delivered_at(&mut simulation, first + 1e-6), 5 * PAYLOAD);
}

/// A train goes whole, and its flow loses each of its segments.
#[test]
fn a_link_loses_a_train_as_one() {
    let mut setup = transfer(10, 5);
    let down = |ms, up| EventSetup {
        at: Instant::ZERO + Span::from_ms(ms),
        change: Change::Links { links: vec![LinkId(0)], up },
    };
    // Both trains are under way at 25 ms.
    setup.events = vec![down(25, false), down(26, true)];
    let outcome = run(setup);
    assert_eq!(integer(&outcome, "links", "drops_down", 0), 3, "the ACK of the handshake and two trains");
    assert_eq!(integer(&outcome, "flows", "drops_data", 0), 10, "two trains of five");
    assert_eq!(integer(&outcome, "flows", "drops_without_data", 0), 1, "the ACK of the handshake");
    assert_eq!(integer(&outcome, "flows", "drops_down", 0), 11);
    assert_eq!(integer(&outcome, "flows", "delivered_bytes", 0), 10 * PAYLOAD);
}

/// A queue with room for so many packets has room for as many trains; a mark is on every segment.
#[test]
fn a_queue_counts_and_marks_trains() {
    let mut setup = transfer(100, 5);
    let TransportConfig::Tcp(tcp) = &mut setup.transports[0].config else { panic!("TCP") };
    tcp.ecn = true;
    setup.links[0].queue.discipline = Discipline::Threshold(ThresholdParameters { mark_at: 1 });
    setup.links[0].queue.limit.packets = Some(2);
    let outcome = run(setup);
    let trains = integer(&outcome, "links", "ecn_marks", 0);
    assert!(trains > 0);
    let marked = integer(&outcome, "flows", "ecn_marks", 0);
    assert!(marked > trains && marked <= 5 * trains, "{marked} segments of {trains} trains");
    assert!(integer(&outcome, "links", "queue_max_packets", 0) <= 2);
}

/// Losses that take n segments at a time are n times as rare: by the square-root law the throughput grows with the
/// root of n.
#[test]
fn throughput_under_loss_grows_with_the_root_of_the_train() {
    let goodput = |train: u16| {
        let runs = (0..4).map(|seed| {
            let gigabit = Rate::from_bps(1_000_000_000);
            let mut b = two_hosts(gigabit, Span::from_ms(10), 10_000, Span::from_secs(120));
            b.setup.seed = seed;
            *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 4e-4 });
            let tcp = b.transport("newreno");
            b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Unlimited {}, Instant::ZERO);
            offload(&mut b.setup, NodeId(0), train);
            number(&b.run(), "flows", "goodput_mbps", 0)
        });
        runs.sum::<f64>() / 4.0
    };
    let (one, four) = (goodput(1), goodput(4));
    assert!((four / one - 2.0).abs() < 0.25, "{one} {four}: {}", four / one);
}

/// What paces its segments paces whole trains: most of BBR's are full.
#[test]
fn a_paced_sender_paces_trains() {
    let trains = |train: u16| {
        let mut b = two_hosts(mbps(100), Span::from_ms(10), 1000, Span::from_secs(5));
        let bbr = b.transport("bbr");
        b.flow(NodeId(0), NodeId(1), bbr, SourceSetup::Unlimited {}, Instant::ZERO);
        offload(&mut b.setup, NodeId(0), train);
        let outcome = b.run();
        let segments = integer(&outcome, "flows", "segments_sent", 0) as f64;
        (segments / packets(&outcome).0 as f64, number(&outcome, "flows", "goodput_mbps", 0))
    };
    let ((alone, single), (together, four)) = (trains(1), trains(4));
    assert!(alone <= 1.0 && together > 3.5, "{alone} {together} segments in a packet");
    assert!((four / single - 1.0).abs() < 0.05, "{single} {four} Mbps");
}
