//! DCTCP at a queue that marks above a threshold, against the fluid model of its authors (Alizadeh et al., SIGCOMM
//! 2010, section 3.3).

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::setup::*;
use anabranch_units::{Instant, NodeId, Span};

const THRESHOLD: u64 = 20;
const MBPS: f64 = 100.0;
/// Propagation of 2 ms each way, and the packet and its ACK on the wire.
const RTT_S: f64 = 0.004 + 0.000_125;

/// Flows of one transport over 100 Mbps and 4 ms of round trip, sampled each half millisecond.
fn flows(transport: &str, count: u64) -> Outcome {
    let mut b = two_hosts(mbps(100), Span::from_ms(2), 1_000, Span::from_secs(20));
    *b.setup.links[0].queue = marking(1_000, THRESHOLD);
    let mut tcp = anabranch_engine::transport::tcp_preset(transport).expect("a preset");
    tcp.ecn = true;
    let tcp = b.tcp(transport, tcp);
    for number in 0..count {
        let start = Instant::ZERO + Span::from_ms(number);
        b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Unlimited {}, start);
    }
    sample(&mut b.setup, Span::from_us(500));
    b.run()
}

/// The queue in packets from 5 s on.
fn queue(outcome: &Outcome) -> Vec<u64> {
    let series = table(outcome, "link_series");
    let (ids, values) = (series.integer("link").unwrap(), series.integer("queue_packets").unwrap());
    ids.iter().zip(values).filter(|(id, _)| **id == 0).map(|(_, value)| *value).skip(10_000).collect()
}

/// N synchronised flows: the queue goes up to K + N, and down from there by half of sqrt(2 N (C RTT + K)) (equations (8)
/// to (12)). A window's growth while the mark is on its way, and two segments to an ACK, add to the top.
#[test]
fn the_queue_swings_as_the_fluid_model_says() {
    for flows_count in [1, 2] {
        let outcome = flows("dctcp", flows_count);
        let in_flight = MBPS * 1e6 / 12_000.0 * RTT_S + THRESHOLD as f64;
        let swing = (2.0 * flows_count as f64 * in_flight).sqrt() / 2.0;
        let most = (THRESHOLD + flows_count) as f64;
        let seen = queue(&outcome);
        let (least_seen, most_seen) =
            (*seen.iter().min().unwrap() as f64, *seen.iter().max().unwrap() as f64);
        assert!((most - 1.0..=most + 3.0).contains(&most_seen), "{flows_count}: {most_seen} for {most}");
        let least = most - swing;
        assert!((least_seen - least).abs() <= 3.0, "{flows_count}: {least_seen} for {least:.1}");
        let goodput: f64 = (0..flows_count).map(|id| goodput_between(&outcome, id, (5.0, 20.0))).sum();
        assert!(goodput > 0.999 * MBPS * 1448.0 / 1500.0, "{flows_count}: {goodput}");
        assert_eq!(integer(&outcome, "links", "drops_queue", 0), 0);
    }
}

/// The same threshold is too low for a sender that halves: W = C RTT + K comes down to less than C RTT.
#[test]
fn a_sender_that_halves_leaves_the_link_idle() {
    let outcome = flows("newreno", 1);
    assert_eq!(queue(&outcome).into_iter().min(), Some(0));
    let goodput = goodput_between(&outcome, 0, (5.0, 20.0));
    assert!(goodput < 0.99 * MBPS * 1448.0 / 1500.0, "{goodput}");
}
