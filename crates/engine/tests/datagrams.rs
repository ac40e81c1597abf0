//! Pings and UDP against sums by hand: delays, losses, reordering, and books that close from the tables alone.

use crate::common::*;
use anabranch_engine::balancer::PacketRoundRobinParameters;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::queues::DropCause;
use anabranch_engine::routing::{AdditiveMetric, EcmpScheme, Scheme};
use anabranch_engine::setup::*;
use anabranch_engine::{EngineError, Outcome, Simulation};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use pcap_file::pcapng::{Block, PcapNgReader};

const LATENCIES: [&str; 8] = [
    "latency_min_ms",
    "latency_mean_ms",
    "latency_p50_ms",
    "latency_p90_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "latency_p999_ms",
    "latency_max_ms",
];

fn of(outcome: &Outcome, column: &str, row: usize) -> u64 {
    integer(outcome, "datagram_flows", column, row)
}

fn measured(outcome: &Outcome, column: &str, row: usize) -> f64 {
    number(outcome, "datagram_flows", column, row)
}

fn ping(interval_ms: u64) -> DatagramSource {
    DatagramSource::Ping { interval: Span::from_ms(interval_ms) }
}

fn udp(rate: Rate) -> DatagramSource {
    DatagramSource::Udp { rate }
}

/// Two links, 10 and 5 Mbps, 1 and 3 ms.
fn two_hops(duration: Span) -> Builder {
    let mut b = Builder::new(duration);
    let [a, middle, z] = ["a", "middle", "z"].map(|name| b.node(name));
    b.link(a, middle, mbps(10), Span::from_ms(1), 100);
    b.link(middle, z, mbps(5), Span::from_ms(3), 100);
    b
}

/// Sent packets have arrived, are lost for one cause each, or are under way; and links have lost what flows have.
fn assert_books_close(outcome: &Outcome) {
    let rows = table(outcome, "datagram_flows").integer("flow").expect("a column").len();
    for row in 0..rows {
        let accounted = ["received", "lost", "packets_in_flight"].map(|column| of(outcome, column, row));
        assert_eq!(of(outcome, "sent", row), accounted.iter().sum::<u64>(), "{accounted:?}");
        let causes: u64 = DropCause::ALL.iter().map(|cause| of(outcome, cause.column(), row)).sum();
        assert_eq!(of(outcome, "lost", row), causes);
        assert_eq!(causes, of(outcome, "drops_forward", row) + of(outcome, "drops_backward", row));
        let steps = table(outcome, "latencies");
        let (flows, packets) =
            (steps.integer("flow").expect("ids"), steps.integer("packets").expect("counts"));
        let packets_of_row = flows.iter().zip(packets).filter(|(flow, _)| **flow == row as u64);
        assert_eq!(packets_of_row.map(|(_, packets)| packets).sum::<u64>(), of(outcome, "received", row));
    }
    for cause in DropCause::on_links() {
        let sum = |name| {
            let column = table(outcome, name).integer(cause.column()).expect("a column");
            column.iter().sum::<u64>()
        };
        assert_eq!(sum("links"), sum("flows") + sum("datagram_flows"), "{}", cause.column());
    }
}

/// 84 B take 67.2 us and 134.4 us on the two links, each way, besides 4 ms: 8.4032 ms in all, to the picosecond.
#[test]
fn a_ping_over_an_empty_path_takes_serialisation_and_propagation_both_ways() {
    let mut b = two_hops(Span::from_secs(1));
    b.datagrams(NodeId(0), NodeId(2), ping(10), 84);
    let outcome = b.run();
    for column in LATENCIES {
        assert_eq!(measured(&outcome, column, 0), 8.4032, "{column}");
    }
    assert_eq!(measured(&outcome, "jitter_ms", 0), 0.0);
    // Requests leave at 0, 10, ... 1000 ms; the last one has no answer yet.
    let counts = ["sent", "received", "lost", "packets_in_flight"].map(|column| of(&outcome, column, 0));
    assert_eq!(counts, [101, 100, 0, 1]);
    assert_eq!(measured(&outcome, "loss_ratio", 0), 0.0);
    assert_eq!(integer(&outcome, "links", "packets", 0), 101);
    assert_eq!(integer(&outcome, "links", "packets", 3), 100);
    assert_books_close(&outcome);
}

/// Half the second link's capacity: no packet meets another, and each takes 0.8 + 1.6 ms of serialisation and 4 ms.
#[test]
fn udp_below_capacity_has_no_queue() {
    let mut b = two_hops(Span::from_secs(4));
    b.datagrams(NodeId(0), NodeId(2), udp(Rate::from_bps(2_500_000)), 1_000);
    let outcome = b.run();
    for column in LATENCIES {
        assert!((measured(&outcome, column, 0) - 6.4).abs() < 1e-9, "{column}");
    }
    assert_eq!((of(&outcome, "lost", 0), of(&outcome, "sent", 0)), (0, 1251));
    assert_eq!(integer(&outcome, "links", "queue_max_packets", 2), 0);
    // The first arrives at 1.8 ms, the last one before the end at 3999.4 ms, of which 0.6 ms are over.
    assert!((number(&outcome, "links", "utilization", 2) - 0.5).abs() < 1e-3);
    assert!((measured(&outcome, "throughput_mbps", 0) - 2.5).abs() < 0.01);
    assert_books_close(&outcome);
}

/// Three times the capacity of a link: two thirds are lost once the queue is full, and what gets in waits for it.
#[test]
fn udp_above_capacity_loses_the_rest_and_waits_for_a_full_queue() {
    const ROOM: u64 = 20;
    let mut b = two_hosts(mbps(5), Span::from_ms(10), ROOM, Span::from_secs(20));
    b.datagrams(NodeId(0), NodeId(1), udp(mbps(15)), 1_000);
    let outcome = b.run();
    // The queue fills in the first 60 of 37,500 packets.
    assert!((measured(&outcome, "loss_ratio", 0) - 2.0 / 3.0).abs() < 2e-3);
    assert_eq!(of(&outcome, "drops_queue", 0), of(&outcome, "lost", 0));
    assert!((measured(&outcome, "throughput_mbps", 0) - 5.0).abs() < 0.01);
    let serialisation_ms = 1.6;
    for column in ["latency_p50_ms", "latency_p99_ms", "latency_max_ms"] {
        // Behind what is left of one packet and 19 others.
        let waiting = (measured(&outcome, column, 0) - 10.0) / serialisation_ms;
        assert!((ROOM as f64 - 0.1..=ROOM as f64 + 1.1).contains(&waiting), "{column}: {waiting}");
    }
    assert_eq!(measured(&outcome, "latency_min_ms", 0), 11.6);
    assert_books_close(&outcome);
}

/// A ping beside one Reno flow over a link of 10 Mbps with 10 ms.
fn ping_beside_reno(discipline: &str, room: u64) -> Outcome {
    let mut b = two_hosts(mbps(10), Span::from_ms(10), room, Span::from_secs(30));
    *b.setup.links[0].queue = queue(discipline, room);
    let reno = b.transport("newreno");
    b.flow(NodeId(0), NodeId(1), reno, SourceSetup::Unlimited {}, at(0.0));
    b.datagrams(NodeId(0), NodeId(1), ping(20), 84);
    b.run()
}

/// The longest queue, of 100 packets of 1500 B, takes 120 ms, and Reno swings between half of queue and path and both:
/// 70 ms of RTT at least, 140 ms at most. Under FQ-CoDel a ping waits for a full packet under way and little else.
#[test]
fn a_ping_sees_the_queue_that_reno_fills_and_fair_queues_spare_it() {
    let fifo = ping_beside_reno("fifo", 100);
    let (median, most) = (measured(&fifo, "latency_p50_ms", 0), measured(&fifo, "latency_max_ms", 0));
    assert!((70.0..=125.0).contains(&median), "{median}");
    assert!((130.0..=142.0).contains(&most), "{most}");
    assert_books_close(&fifo);
    let fair = ping_beside_reno("fq-codel", 1000);
    let (median, most) = (measured(&fair, "latency_p50_ms", 0), measured(&fair, "latency_p99_ms", 0));
    assert!((20.1..=22.0).contains(&median), "{median}");
    assert!(most <= 24.0, "{most}");
    assert!(number(&fair, "flows", "goodput_mbps", 0) > 8.5);
    assert_books_close(&fair);
}

/// With random loss on either way only, the books say which way it was; the counts are binomial, within 5 sigma.
#[test]
fn losses_are_counted_on_the_way_that_they_happen() {
    for (link, lost_on) in [(0, "drops_forward"), (1, "drops_backward")] {
        let mut b = two_hosts(mbps(10), Span::from_ms(1), 100, Span::from_secs(20));
        *b.setup.links[link].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.1 });
        b.datagrams(NodeId(0), NodeId(1), ping(2), 84);
        let outcome = b.run();
        let (sent, lost) = (of(&outcome, "sent", 0), of(&outcome, "lost", 0));
        assert_eq!((sent, of(&outcome, lost_on, 0)), (10_001, lost));
        assert_eq!(of(&outcome, "drops_random", 0), lost);
        let sigma = (10_001.0f64 * 0.1 * 0.9).sqrt();
        assert!((lost as f64 - 1000.1).abs() < 5.0 * sigma, "{lost}");
        assert_books_close(&outcome);
    }
}

/// Turn by turn over paths of 5 and 9 ms, a packet each ms: every second packet comes after those that left 1 and 3 ms
/// behind it, and is reordered (RFC 4737). Between these two a reordered one arrives: the extent is 3.
#[test]
fn packets_are_spread_over_paths_and_reordered_there() {
    let mut b = parallel_paths(mbps(100), &[5, 9], 100, Span::from_secs(1));
    b.setup.routing.scheme = Some(disjoint(2));
    b.setup.routing.load_balancing = LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters::default());
    b.datagrams(NodeId(0), NodeId(1), udp(Rate::from_bps(800_000)), 100);
    b.setup.datagrams[0].stop = Some(at(0.9));
    let outcome = b.run();
    assert_eq!((of(&outcome, "sent", 0), of(&outcome, "received", 0)), (900, 900));
    assert_eq!(of(&outcome, "reordered_packets", 0), 449);
    assert_eq!(of(&outcome, "reordering_extent_max", 0), 3);
    // Delays alternate, and so the jitter is nearly the difference of the paths.
    let (least, most) = (measured(&outcome, "latency_min_ms", 0), measured(&outcome, "latency_max_ms", 0));
    assert!((most - least - 4.0).abs() < 1e-9, "{least} {most}");
    assert!((3.98..=4.0).contains(&measured(&outcome, "jitter_ms", 0)));
    assert_books_close(&outcome);
}

/// Routers that forward hop by hop carry pings, too, and a failure without another way loses them until the repair.
#[test]
fn pings_go_hop_by_hop_and_are_lost_with_the_link() {
    let mut b = two_hops(Span::from_secs(1));
    b.setup.routing.scheme = Some(Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Hops }));
    b.setup.routing.reaction = Some(Span::from_ms(50));
    b.datagrams(NodeId(0), NodeId(2), ping(10), 84);
    let links = |up| Change::Links { links: vec![LinkId(2), LinkId(3)], up };
    b.setup.events = [(0.305, false), (0.605, true)]
        .map(|(time, up)| EventSetup { at: at(time), change: links(up) })
        .to_vec();
    let outcome = b.run();
    // Sent from 310 to 600 ms, and to 650 ms, when the routes are back; that of 300 ms is under way at the failure.
    assert_eq!(of(&outcome, "lost", 0), 36);
    assert_eq!(of(&outcome, "drops_unreachable", 0), 30);
    assert_books_close(&outcome);
}

/// A ping over links of its own leaves the tables of flows as they are.
#[test]
fn pings_elsewhere_change_no_flow() {
    let flows = |with_ping: bool| {
        let mut b = two_hops(Span::from_secs(3));
        let [one, other] = ["one", "other"].map(|name| b.node(name));
        b.link(one, other, mbps(1), Span::from_ms(1), 10);
        *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
        let tcp = b.transport("linux-cubic");
        b.flow(NodeId(0), NodeId(2), tcp, SourceSetup::Unlimited {}, at(0.0));
        if with_ping {
            b.datagrams(one, other, ping(1), 84);
        }
        let outcome = b.run();
        // As text, in which NaN is NaN.
        format!("{:?}", table(&outcome, "flows"))
    };
    assert_eq!(flows(false), flows(true));
}

#[test]
fn the_series_has_what_arrived_in_each_interval() {
    let mut b = two_hops(Span::from_secs(1));
    b.datagrams(NodeId(0), NodeId(2), ping(10), 84);
    b.setup.datagrams[0].start = at(0.25);
    b.setup.datagrams[0].stop = Some(at(0.5));
    sample(&mut b.setup, Span::from_ms(100));
    let outcome = b.run();
    let series = table(&outcome, "datagram_series");
    assert_eq!(series.number("time_s").expect("times"), [0.3, 0.4, 0.5]);
    // From 250 to 490 ms, each back 8.4 ms later.
    assert_eq!(series.integer("received").expect("counts"), [5, 10, 10]);
    assert_eq!(series.integer("sent").expect("counts"), [6, 16, 25]);
    for column in ["latency_min_ms", "latency_mean_ms", "latency_max_ms"] {
        assert_eq!(series.number(column).expect("latencies"), [8.4032; 3], "{column}");
    }
}

#[test]
fn a_host_outside_has_no_datagrams_and_a_controller_neither() {
    let mut b = two_hops(Span::from_secs(1));
    b.datagrams(NodeId(0), NodeId(2), ping(10), 84);
    let plan = plan(&b.setup);
    let mut simulation = Simulation::new(b.setup.clone(), plan).expect("a valid setup");
    let error = simulation.make_external(NodeId(2)).expect_err("it has a ping");
    assert!(matches!(error, EngineError::Setup(_)), "{error}");
    assert!(error.to_string().contains("datagrams 0 sends datagrams there"), "{error}");
    simulation.make_external(NodeId(1)).expect("nothing ends there");
}

/// Protocol, type of an echo and length of each packet in a capture, in order.
fn captured(file: &std::path::Path) -> Vec<(u8, u8, u16)> {
    let bytes = std::fs::read(file).expect("written");
    let mut reader = PcapNgReader::new(&bytes[..]).expect("a section header");
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a well-formed block") {
            let data = &packet.data;
            assert_eq!(packet.original_len as usize, data.len());
            packets.push((data[9], data[20], u16::from_be_bytes([data[2], data[3]])));
        }
    }
    packets
}

/// A link sees requests one way and answers the other way, a host both, each as long as it is.
#[test]
fn captures_have_echoes_and_udp_beside_tcp() {
    let mut b = two_hops(Span::from_ms(95));
    let tcp = b.transport("linux-cubic");
    b.flow(NodeId(0), NodeId(2), tcp, SourceSetup::Sized { bytes: 10_000 }, at(0.0));
    b.datagrams(NodeId(0), NodeId(2), ping(10), 84);
    b.datagrams(NodeId(2), NodeId(0), udp(Rate::from_bps(160_000)), 200);
    let at = [
        CapturePoint::Link { link: LinkId(0) },
        CapturePoint::Link { link: LinkId(1) },
        CapturePoint::Host { host: NodeId(0) },
    ];
    let files: Vec<_> = (0..3)
        .map(|n| std::env::temp_dir().join(format!("anabranch-datagrams-{}-{n}.pcapng", std::process::id())))
        .collect();
    for (file, at) in files.iter().zip(at) {
        let file = file.to_str().expect("a path in UTF-8").to_owned();
        b.setup.captures.push(CaptureSetup { file, at, snap_length: 0 });
    }
    b.run();
    let [there, back, host] = [0, 1, 2].map(|n| captured(&files[n]));
    files.iter().for_each(|file| std::fs::remove_file(file).expect("removed"));
    let count = |packets: &[(u8, u8, u16)], wanted: (u8, Option<u8>, u16)| {
        let (protocol, kind, length) = wanted;
        let is_wanted =
            |p: &&(u8, u8, u16)| p.0 == protocol && kind.is_none_or(|k| k == p.1) && p.2 == length;
        packets.iter().filter(is_wanted).count()
    };
    let (request, answer, udp) = ((1, Some(8), 84), (1, Some(0), 84), (17, None, 200));
    // From 0 to 90 ms ten requests, whose answers take 8.4 ms, but the last one's; UDP reaches the first hop after 3 ms.
    assert_eq!((count(&there, request), count(&there, answer), count(&there, udp)), (10, 0, 0));
    assert_eq!((count(&back, request), count(&back, answer), count(&back, udp)), (0, 9, 10));
    assert_eq!((count(&host, request), count(&host, answer), count(&host, udp)), (10, 9, 10));
    assert!(there.iter().filter(|packet| packet.0 == 6).count() >= 8);
}
