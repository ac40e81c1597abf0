//! Balancers and keys that the tests of all spreads share.

use super::{Balancer, Choices, FlowKey, mix};
use crate::balancer::LoadBalancing;
use crate::capture::host_address;
use crate::ports::{SERVER_PORT, draw_source_port};
use crate::random::Streams;
use anabranch_transport::wire::Endpoint;
use anabranch_units::{Instant, NodeId};

/// Choices of these weights, known by their numbers.
pub(super) fn balancer(spread: LoadBalancing, weights: &[f64]) -> Balancer {
    let paths: Vec<(u64, f64)> =
        weights.iter().enumerate().map(|(id, weight)| (mix(id as u64 + 1), *weight)).collect();
    balancer_of(spread, &paths)
}

/// Choices of these identities and weights.
pub(super) fn balancer_of(spread: LoadBalancing, paths: &[(u64, f64)]) -> Balancer {
    let (identities, weights): (Vec<u64>, Vec<f64>) = paths.iter().copied().unzip();
    let stream = Streams::new(1, 0).stream("a", "spread");
    Balancer::new(spread, Choices { weights: &weights, identities: &identities, salt: 0, stream })
}

pub(super) fn key(index: u32) -> FlowKey {
    let source = Endpoint { addr: host_address(NodeId(index)), port: 50_000 };
    FlowKey::new(source, Endpoint { addr: [11, 0, 0, 1], port: SERVER_PORT }, index)
}

/// Keys of `subflows` subflows of each of `hosts` hosts to one server, host by host, with random ports.
pub(super) fn subflow_keys(draw: u64, hosts: usize, subflows: usize) -> Vec<FlowKey> {
    let streams = Streams::new(1, draw);
    let server = Endpoint { addr: host_address(NodeId(0)), port: SERVER_PORT };
    let mut keys = Vec::new();
    for host in 1..=hosts {
        let mut stream = streams.stream(&format!("host {host}"), "connection");
        let mut ports: Vec<u16> = Vec::new();
        while ports.len() < subflows {
            let port = draw_source_port(&mut stream);
            if !ports.contains(&port) {
                ports.push(port);
            }
        }
        let addr = host_address(NodeId(host as u32));
        keys.extend(ports.into_iter().map(|port| FlowKey::new(Endpoint { addr, port }, server, 0)));
    }
    keys
}

/// How often each choice is made for these keys.
pub(super) fn counts(balancer: &mut Balancer, keys: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut counts = vec![0; balancer.weights.len()];
    keys.for_each(|k| counts[balancer.choose(Instant::ZERO, key(k))] += 1);
    counts
}
