//! Time and state of a balancer's decision, by spread and number of subflows. Run with
//! `cargo bench -p anabranch-engine --bench balancers`; takes some ten seconds.

mod cpu;

use anabranch_engine::balancer::{Balancer, Choices, FlowKey};
use anabranch_engine::balancer::{
    FlowParameters, FlowletParameters, HashParameters, ResilientHashParameters, SubflowRoundRobinParameters,
    WeightedHashParameters,
};
use anabranch_engine::capture::host_address;
use anabranch_engine::ports::{SERVER_PORT, draw_source_port};
use anabranch_engine::random::Streams;
use anabranch_engine::setup::LoadBalancing;
use anabranch_transport::wire::Endpoint;
use anabranch_units::{Instant, NodeId, Span};
use cpu::cpu_seconds;
use std::hint::black_box;

/// Paths of SEMPER's larger study (Garcia-Aviles 2017, figure 7), and subflows of each of its hosts.
const PATHS: usize = 8;
const SUBFLOWS_PER_HOST: usize = 32;
const SUBFLOWS: [usize; 3] = [10, 1_000, 100_000];
/// Decisions of one measurement.
const DECISIONS: usize = 2_000_000;
/// Measurements, of which the least counts: what disturbs one only makes it longer.
const ROUNDS: usize = 5;

fn main() {
    println!(
        "{:<20} {:<8} {:>9} {:>12} {:>9} {:>12} {:>14}",
        "spread", "weights", "subflows", "ns a packet", "entries", "state bytes", "bytes/subflow"
    );
    let equal = [1.0 / PATHS as f64; PATHS];
    let unlike: Vec<f64> = (1..=PATHS).map(|path| path as f64 / 36.0).collect();
    let stateful = LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None });
    let expiring = LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters {
        idle_timeout: Some(Span::from_secs(60)),
    });
    let cases: [(&str, LoadBalancing, &str, &[f64]); 8] = [
        ("flow", LoadBalancing::Flow(FlowParameters {}), "unlike", &unlike),
        ("flowlet", LoadBalancing::Flowlet(FlowletParameters { gap: Span::from_ms(50) }), "equal", &equal),
        ("hash", LoadBalancing::Hash(HashParameters {}), "equal", &equal),
        ("weighted-hash", LoadBalancing::WeightedHash(WeightedHashParameters {}), "unlike", &unlike),
        ("resilient-hash", LoadBalancing::ResilientHash(ResilientHashParameters {}), "equal", &equal),
        ("resilient-hash", LoadBalancing::ResilientHash(ResilientHashParameters {}), "unlike", &unlike),
        ("subflow-round-robin", stateful, "equal", &equal),
        ("  with idle_timeout", expiring, "equal", &equal),
    ];
    for (name, spread, kind, weights) in cases {
        for subflows in SUBFLOWS {
            let mut balancer = balancer(spread.clone(), weights);
            let nanoseconds = measure(&mut balancer, &packets(subflows));
            let state = balancer.state();
            println!(
                "{name:<20} {kind:<8} {subflows:>9} {nanoseconds:>12.1} {:>9} {:>12} {:>14.1}",
                state.entries,
                state.bytes,
                state.bytes as f64 / subflows as f64
            );
        }
    }
}

fn balancer(spread: LoadBalancing, weights: &[f64]) -> Balancer {
    let mut stream = Streams::new(1, 0).stream("router", "path");
    let identities: Vec<u64> = (0..PATHS).map(|_| stream.next_u64()).collect();
    Balancer::new(spread, Choices { weights, identities: &identities, salt: 0, stream })
}

/// Packets of this many subflows, each packet of one at random, as where many flows meet. Ports are drawn as
/// the engine draws them.
fn packets(subflows: usize) -> Vec<FlowKey> {
    let mut stream = Streams::new(1, 0).stream("hosts", "packets");
    let server = Endpoint { addr: host_address(NodeId(0)), port: SERVER_PORT };
    let keys: Vec<FlowKey> = (0..subflows)
        .map(|index| {
            let host = NodeId((1 + index / SUBFLOWS_PER_HOST) as u32);
            let source = Endpoint { addr: host_address(host), port: draw_source_port(&mut stream) };
            FlowKey::new(source, server, index as u32)
        })
        .collect();
    // Every subflow has sent, so that tables have grown.
    let mut packets = keys.clone();
    packets.extend((subflows..DECISIONS).map(|_| keys[stream.below(subflows as u64) as usize]));
    packets
}

/// CPU time of a decision in nanoseconds, with the reading of the next key.
fn measure(balancer: &mut Balancer, packets: &[FlowKey]) -> f64 {
    let mut round = |from: u64| {
        let start = cpu_seconds();
        let mut sum = 0;
        for (number, key) in packets.iter().enumerate() {
            let now = Instant::ZERO + Span::from_us(from + number as u64);
            sum += balancer.choose(now, *key);
        }
        black_box(sum);
        (cpu_seconds() - start) * 1e9 / packets.len() as f64
    };
    let rounds = (0..=ROUNDS).map(|number| round((number * DECISIONS) as u64));
    // The first one fills the tables.
    rounds.skip(1).fold(f64::INFINITY, f64::min)
}
