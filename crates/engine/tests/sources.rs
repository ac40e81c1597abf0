//! Applications: what they write arrives, at the rate they write it, and connections close.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::random::Streams;
use anabranch_engine::setup::*;
use anabranch_engine::transport::{PRESETS, tcp_preset};
use anabranch_units::{Instant, NodeId, Span};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn pair(seconds: u64) -> Builder {
    two_hosts(mbps(100), Span::from_ms(5), 1_000, Span::from_secs(seconds))
}

#[test]
fn sized_flows_deliver_exactly_their_bytes_and_complete() {
    for transport in ["newreno", "cubic", "bbr", "linux-reno", "linux-cubic", "linux-bbr"] {
        let mut b = pair(30);
        // Also over a lossy link, and at sizes around a segment's 1448 bytes.
        *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
        *b.setup.links[1].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
        let tcp = b.transport(transport);
        let sizes = [1, 1447, 1448, 1449, 2896, 100_000, 1_234_567];
        for bytes in sizes {
            b.flow(A, B, tcp, SourceSetup::Sized { bytes }, Instant::ZERO);
        }
        let outcome = b.run();
        for (row, bytes) in sizes.into_iter().enumerate() {
            assert_eq!(integer(&outcome, "flows", "delivered_bytes", row), bytes, "{transport}");
            assert!(number(&outcome, "flows", "completion_s", row) < 30.0, "{transport}, {bytes} bytes");
        }
    }
}

/// One flow of messages over an idle link; the delivered bytes.
fn messages(size: Variate, gap: Variate, seconds: u64) -> (Outcome, f64) {
    let mut b = pair(seconds);
    let tcp = b.transport("linux-cubic");
    b.flow(A, B, tcp, SourceSetup::messages(size, gap), Instant::ZERO);
    let outcome = b.run();
    let delivered = integer(&outcome, "flows", "delivered_bytes", 0) as f64;
    (outcome, delivered)
}

#[test]
fn a_constant_gap_delivers_the_offered_rate_to_the_message() {
    let (size, gap) = (Variate::Constant { value: 5_000.0 }, Variate::Constant { value: 2.5e9 });
    let (outcome, delivered) = messages(size, gap, 10);
    // At 2.5 ms, 5.0 ms, ...: 4000 messages in 10 s; the one written at 10 s is still at the sender, and
    // those of the last 5 ms (and of their serialisation) on their way.
    let on_the_way = (4_000.0 * 5_000.0 - delivered) / 5_000.0;
    assert!((1.0..=4.0).contains(&on_the_way), "{on_the_way} messages on the way");
    assert_eq!(integer(&outcome, "flows", "retransmissions", 0), 0);
}

#[test]
fn poisson_messages_come_at_their_mean_rate() {
    // 100 messages a second of 1000 bytes on average, both exponential, for 200 s.
    let (size, gap) = (Variate::Exponential { mean: 1_000.0 }, Variate::Exponential { mean: 1e10 });
    let (_, delivered) = messages(size, gap, 200);
    // A compound Poisson sum of n = 20,000: variance n (mean^2 + variance) = 2 n mean^2, so the relative
    // deviation is sqrt(2 / n) = 1 %; three of them.
    let ratio = delivered / (200.0 * 100.0 * 1_000.0);
    assert!((ratio - 1.0).abs() < 3.0 * (2.0f64 / 20_000.0).sqrt(), "{ratio}");
}

#[test]
fn a_message_source_stops_when_told_and_its_connection_closes() {
    let mut b = pair(10);
    let tcp = b.transport("newreno");
    let (size, gap) = (Variate::Constant { value: 1_000.0 }, Variate::Constant { value: 1e11 });
    b.flow(A, B, tcp, SourceSetup::messages(size, gap), at(1.0));
    b.setup.flows[0].stop = Some(at(3.05));
    let outcome = b.run();
    // At 1.1, 1.2, ... 3.0 s.
    assert_eq!(integer(&outcome, "flows", "delivered_bytes", 0), 20 * 1_000);
    let completion = picoseconds(number(&outcome, "flows", "completion_s", 0));
    // The FIN, 52 bytes at 100 Mbps (4.16 us), leaves at 3.05 s and takes 5 ms.
    assert_eq!(completion, 2_050_000_000_000 + 4_160_000 + 5_000_000_000);
}

#[test]
fn an_unlimited_source_stops_when_told_and_its_connection_closes() {
    let mut b = pair(10);
    let tcp = b.transport("newreno");
    b.flow(A, B, tcp, SourceSetup::Unlimited {}, at(1.0));
    b.setup.flows[0].stop = Some(at(3.0));
    let outcome = b.run();
    let completion = number(&outcome, "flows", "completion_s", 0);
    // What was sent by then is delivered: at most the queue of 1000 packets, 120 ms, and a round trip
    // for what it may have lost.
    assert!((2.005..2.4).contains(&completion), "{completion}");
    let delivered = integer(&outcome, "flows", "delivered_bytes", 0) as f64;
    assert!(delivered * 8.0 / completion / 1e6 > 0.9 * 100.0 * 1448.0 / 1500.0, "{delivered}");
}

#[test]
fn a_connection_that_closes_leaves_four_bare_segments_behind() {
    let mut b = pair(5);
    let mut tcp = tcp_preset("newreno").expect("a preset");
    tcp.delayed_ack_segments = 1;
    let tcp = b.tcp("tcp", tcp);
    b.flow(A, B, tcp, SourceSetup::Sized { bytes: 5 * 1448 }, Instant::ZERO);
    let outcome = b.run();
    // There: SYN, ACK, five segments of which the last has FIN, ACK of the other FIN. Back: SYN-ACK,
    // four ACKs, and the fifth with FIN.
    assert_eq!(integer(&outcome, "links", "packets", 0), 3 + 5);
    assert_eq!(integer(&outcome, "links", "bytes", 0), 60 + 2 * 52 + 5 * 1500);
    assert_eq!(integer(&outcome, "links", "packets", 1), 1 + 5);
    assert_eq!(integer(&outcome, "links", "bytes", 1), 60 + 5 * 52);
}

#[test]
fn a_thousand_flows_of_random_sizes_all_complete() {
    let mut b = Dumbbell {
        flows: 50,
        transport: "cubic",
        bottleneck: mbps(500),
        delay: Span::from_ms(5),
        queue: 200,
        duration: Span::from_secs(60),
    }
    .build();
    b.setup.flows.clear();
    let transports = ["newreno", "linux-cubic", "linux-bbr", "linux-reno"].map(|name| b.transport(name));
    let mut stream = Streams::new(7, 0).stream("test", "sizes");
    let mut sizes = Vec::new();
    for i in 0..1_000usize {
        let bytes = 1 + stream.below(200_000);
        sizes.push(bytes);
        // Dumbbell lays out its hosts in pairs behind the two routers.
        let host = 2 + 2 * (i % 50);
        let (from, to) = (NodeId::from_index(host), NodeId::from_index(host + 1));
        let start = Instant::from_ps(stream.below(10_000_000_000_000));
        b.flow(from, to, transports[i % 4], SourceSetup::Sized { bytes }, start);
    }
    let outcome = b.run();
    for (row, &bytes) in sizes.iter().enumerate() {
        assert_eq!(integer(&outcome, "flows", "delivered_bytes", row), bytes, "flow {row}");
        assert!(number(&outcome, "flows", "completion_s", row).is_finite(), "flow {row}");
    }
}

#[test]
fn a_flow_that_starts_after_the_end_never_does() {
    let mut b = pair(2);
    let tcp = b.transport("newreno");
    b.flow(A, B, tcp, SourceSetup::Sized { bytes: 1_000 }, at(3.0));
    let outcome = b.run();
    assert_eq!(integer(&outcome, "links", "packets", 0), 0);
    assert!(number(&outcome, "flows", "completion_s", 0).is_nan());
    assert_eq!(outcome.progress.events, 0);
}

/// A third of all packets lost each way, with and without SACK, timestamps and ECN: it takes long, with the
/// timeout backed off to a minute, but it ends.
#[test]
fn every_transfer_completes_however_lossy_the_path() {
    let presets = PRESETS.iter().filter_map(|(name, _)| tcp_preset(name).map(|tcp| (*name, tcp)));
    for (name, preset) in presets {
        for variant in 0..8u64 {
            let mut b = pair(2 * 24 * 3600);
            b.setup.replication = variant;
            for link in &mut b.setup.links {
                *link.loss = LossSetup::Bernoulli(Bernoulli { probability: 0.33 });
            }
            let mut tcp = preset.clone();
            // Some loss detections need SACK, and a setup without it is refused.
            let sack = variant & 1 == 0 || tcp.loss_detection.needs_sack();
            // DCTCP lives on marks.
            let ecn = variant & 4 == 0 || preset.ecn;
            (tcp.sack, tcp.timestamps, tcp.ecn) = (sack, variant & 2 == 0, ecn);
            let tcp = b.tcp(name, tcp);
            let sizes = [1, 1_448, 5_000, 30_000, 100_000];
            for bytes in sizes {
                b.flow(A, B, tcp, SourceSetup::Sized { bytes }, Instant::ZERO);
            }
            let outcome = b.run();
            for (row, bytes) in sizes.into_iter().enumerate() {
                let what = format!("{name}, variant {variant}, {bytes} bytes");
                assert_eq!(integer(&outcome, "flows", "delivered_bytes", row), bytes, "{what}");
                assert!(number(&outcome, "flows", "completion_s", row).is_finite(), "{what}");
            }
        }
    }
}

/// TSval counts microseconds in 32 bits, so a pause of 40 minutes is more than half of its range; RFC 7323
/// section 5.5 has TS.Recent expire before that. Nothing is ever late here, so nothing may be undone.
#[test]
fn a_pause_of_more_than_half_the_timestamp_clock_confuses_nobody() {
    let mut b = pair(4 * 24 * 3600);
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.2 });
    let tcp = b.transport("linux-reno");
    let (size, gap) = (Variate::Constant { value: 30_000.0 }, Variate::Constant { value: 2.4e15 });
    b.flow(A, B, tcp, SourceSetup::messages(size, gap), Instant::ZERO);
    let outcome = b.run();
    assert!(integer(&outcome, "flows", "timeouts", 0) > 20, "enough repairs to be taken back");
    assert_eq!(integer(&outcome, "flows", "spurious_retransmissions", 0), 0);
    assert_eq!(integer(&outcome, "flows", "undone_recoveries", 0), 0);
    assert!(number(&outcome, "flows", "rtt_max_ms", 0) < 1_000.0);
}
