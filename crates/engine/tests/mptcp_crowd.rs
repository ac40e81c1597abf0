//! Far more subflows than a network has room for: what they lose by being one stream rather than many.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::setup::*;
use anabranch_engine::transport::{TransportConfig, preset};
use anabranch_units::Span;

const HOSTS: usize = 32;
const SUBFLOWS: u16 = 32;
const DURATION_S: u64 = 60;

/// 1,024 subflows, or as many TCP connections, over eight paths of 4 Mbps with queues of 1000 packets: three seconds
/// of queue for each path, and at the start 10,240 packets of first windows for 8,000 places.
fn crowd(transport: TransportConfig, flows_of_a_host: u16, seed: u64) -> Outcome {
    let mut b = Thesis {
        paths: 8,
        clients: HOSTS,
        transport,
        capacity: mbps(4),
        duration: Span::from_secs(DURATION_S),
    }
    .build();
    for link in &mut b.setup.links[..32] {
        *link.queue = packets(1000);
    }
    for copy in 1..flows_of_a_host {
        for host in 0..HOSTS {
            let flow = b.setup.flows[host].clone();
            b.setup.flows.push(FlowSetup { name: format!("{} copy {copy}", flow.name), ..flow });
        }
    }
    b.setup.seed = seed;
    b.run()
}

fn sum(outcome: &Outcome, name: &str, column: &str) -> f64 {
    table(outcome, name).integer(column).expect("a column of counts").iter().sum::<u64>() as f64
}

/// The yardstick is what as many TCP connections deliver in the same network. Subflows carry as much (their
/// segments hold 1428 bytes where TCP's hold 1448); the streams, 0.88 of it over the first minute. What they
/// lack is data that were sent twice, as timeouts of the first seconds have others repeat what a subflow must
/// then deliver as well (RFC 8684 section 3.3.6), SACKed or not, for the receiver holds it back behind the hole; and
/// what waits for the slowest of 32 subflows at the end.
#[test]
fn a_crowd_of_subflows_delivers_nearly_what_a_crowd_of_connections_does() {
    for seed in 1..=2 {
        let connections = crowd(preset("linux-reno").expect("a preset"), SUBFLOWS, seed);
        let subflows = crowd(ndiffports(SUBFLOWS), 1, seed);
        let tcp = sum(&connections, "flows", "delivered_bytes") * 1428.0 / 1448.0;
        let carried = sum(&subflows, "subflows", "delivered_bytes") / tcp;
        assert!((0.97..1.03).contains(&carried), "seed {seed}: subflows {carried}");
        let streams = sum(&subflows, "flows", "delivered_bytes") / tcp;
        assert!(streams > 0.86, "seed {seed}: streams {streams}");
        let capacity = 8.0 * 4e6 / 8.0 * DURATION_S as f64 * 1428.0 / 1500.0;
        assert!(sum(&subflows, "flows", "delivered_bytes") > 0.8 * capacity, "seed {seed}");
    }
}
