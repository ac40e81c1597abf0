//! Processing delays of hosts: what has come for a host waits until the host looks at it.

use crate::common::*;
use anabranch_engine::queues::DropCause;
use anabranch_engine::setup::*;
use anabranch_engine::transport::{TcpConfig, tcp_preset};
use anabranch_engine::{EngineError, Outcome, Simulation};
use anabranch_units::{Bytes, NodeId, Span};
use std::num::NonZeroU16;

const PAYLOAD: u64 = 1448;
const MS: f64 = 1e9;

fn takes(setup: &mut Setup, node: NodeId, processing_delay: Variate) {
    let processing_delay = Some(processing_delay);
    setup.hosts.push(HostSetup { node, offload: NonZeroU16::MIN, processing_delay });
}

/// Picoseconds for some bytes at 10 Mbps.
fn serialisation(bytes: u64) -> u64 {
    bytes * 800_000
}

/// A window of 20 segments over 10 Mbps and 25 ms, 2 ms at the source and 3 ms at the sink. SYN and SYN-ACK have 60 bytes, an
/// ACK 52. Each round trip and the handshake take 5 ms more; the last segment waits 3 ms for the sink.
#[test]
fn a_window_waits_for_both_hosts_in_each_round() {
    let (delay, window, segments) = (Span::from_ms(25), 20, 205);
    let mut b = two_hosts(mbps(10), delay, 10_000, Span::from_secs(60));
    let tcp = TcpConfig {
        initial_window_segments: 10_000,
        receive_buffer: Bytes(window * PAYLOAD),
        delayed_ack_segments: 1,
        ..tcp_preset("newreno").expect("a preset")
    };
    let tcp = b.tcp("tcp", tcp);
    b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Sized { bytes: segments * PAYLOAD }, at(0.5));
    takes(&mut b.setup, NodeId(0), Variate::Constant { value: 2.0 * MS });
    takes(&mut b.setup, NodeId(1), Variate::Constant { value: 3.0 * MS });
    let outcome = b.run();
    let [source, sink] = [2, 3].map(|ms| Span::from_ms(ms).as_ps());
    let [syn, ack, full] = [60, 52, 1500].map(serialisation);
    let handshake = 2 * syn + 2 * delay.as_ps() + source + sink;
    let rtt = full + ack + 2 * delay.as_ps() + source + sink;
    let (rounds, place) = ((segments - 1) / window, (segments - 1) % window);
    let completion = handshake + ack + rounds * rtt + (place + 1) * full + delay.as_ps() + sink;
    let measured = |column| picoseconds(number(&outcome, "flows", column, 0));
    assert_eq!((measured("handshake_s"), measured("completion_s")), (handshake, completion));
}

/// Pings over 2 ms and packets of 84 bytes, 0.0672 ms each way: the host that answers and the one that asks take 0.5 ms each in
/// the mean, exponentially, and the node between, which is no end, takes none. The mean of 10,000 is within 5 of its standard
/// errors, 0.5 ms * sqrt(2) / 100 each: outside with a probability of 6e-7.
#[test]
fn pings_wait_at_their_ends_and_nowhere_else() {
    let mut b = Builder::new(Span::from_secs(101));
    let [a, middle, z] = ["a", "middle", "z"].map(|name| b.node(name));
    b.link(a, middle, mbps(20), Span::from_ms(1), 100);
    b.link(middle, z, mbps(20), Span::from_ms(1), 100);
    b.datagrams(a, z, DatagramSource::Ping { interval: Span::from_ms(10) }, 84);
    b.setup.datagrams[0].stop = Some(at(99.995));
    for node in [a, middle, z] {
        let mean = if node == middle { 1e6 } else { 0.5 } * MS;
        takes(&mut b.setup, node, Variate::Exponential { mean });
    }
    let outcome = b.run();
    assert_eq!(integer(&outcome, "datagram_flows", "received", 0), 10_000);
    let mean = number(&outcome, "datagram_flows", "latency_mean_ms", 0);
    let expected = 4.0 + 4.0 * 0.0336 + 1.0;
    assert!((mean - expected).abs() < 5.0 * 0.00707, "{mean} ms for {expected}");
}

/// UDP of a packet each 0.4 ms, and delays of up to 20 ms: packets are looked at in the order in which they came.
fn crowded(duration: Span) -> Setup {
    let mut b = two_hosts(mbps(100), Span::from_ms(1), 100, duration);
    b.datagrams(NodeId(0), NodeId(1), DatagramSource::Udp { rate: mbps(20) }, 1_000);
    let tcp = b.transport("linux-cubic");
    b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Unlimited {}, at(0.0));
    for node in [0, 1] {
        takes(&mut b.setup, NodeId(node), Variate::Uniform { low: 0.0, high: 20.0 * MS });
    }
    b.setup
}

#[test]
fn packets_are_looked_at_in_order() {
    let outcome = run(crowded(Span::from_secs(1)));
    let of = |column| integer(&outcome, "datagram_flows", column, 0);
    assert_eq!((of("reordered_packets"), of("lost")), (0, 0));
    // What waits for the host is under way, and the books close: 20 ms of packets at most, and those on the link.
    let (sent, received, waiting) = (of("sent"), of("received"), of("packets_in_flight"));
    assert_eq!(sent, received + waiting);
    assert!((5..=60).contains(&waiting), "{waiting}");
    let flow = |column| integer(&outcome, "flows", column, 0);
    assert_eq!(flow("reordered_packets"), 0);
    assert!(flow("delivered_bytes") > 1_000_000 && DropCause::ALL.len() > 3);
}

/// The same draws give the same run; another seed others.
#[test]
fn processing_follows_the_seed() {
    let with_seed = |seed| run(Setup { seed, ..crowded(Span::from_ms(300)) });
    // As text: some numbers are absent, and no absent number equals itself.
    let text = |outcome: Outcome| format!("{:?}", outcome.tables);
    let first = text(with_seed(1));
    assert!(first == text(with_seed(1)), "the same draws");
    assert!(first != text(with_seed(2)), "other draws");
}

#[test]
fn a_delay_that_is_none_is_refused_with_its_place() {
    let mut setup = crowded(Span::from_ms(10));
    takes(&mut setup, NodeId(0), Variate::Exponential { mean: f64::NAN });
    let plan = plan(&crowded(Span::from_ms(10)));
    let Err(EngineError::Setup(refused)) = Simulation::new(setup, plan) else { panic!("refused") };
    assert!(refused.to_string().starts_with("hosts[2].processing_delay: exponential: mean"), "{refused}");
}

/// UDP over two nodes between, 1 ms and 20 Mbps each link, packets of 1000 bytes: 3 * 0.4 ms to send, 3 ms on the way, and
/// what each node between takes, 2 and 5 ms. The ends take none for what is theirs.
#[test]
fn a_packet_waits_at_each_node_that_passes_it_on() {
    let mut b = Builder::new(Span::from_secs(2));
    let nodes = ["a", "first", "second", "z"].map(|name| b.node(name));
    for pair in nodes.windows(2) {
        b.link(pair[0], pair[1], mbps(20), Span::from_ms(1), 100);
    }
    b.datagrams(nodes[0], nodes[3], DatagramSource::Udp { rate: mbps(1) }, 1_000);
    for (node, ms) in nodes.into_iter().zip([100.0, 2.0, 5.0, 100.0]) {
        let processing_delay = Variate::Constant { value: ms * MS };
        b.setup.routers.push(RouterSetup { node, processing_delay: Some(processing_delay), hash_seed: None });
    }
    let outcome = b.run();
    for column in ["latency_min_ms", "latency_max_ms"] {
        let latency = number(&outcome, "datagram_flows", column, 0);
        assert!((latency - (1.2 + 3.0 + 2.0 + 5.0)).abs() < 1e-6, "{column}: {latency}");
    }
}

/// A router draws a delay of up to 20 ms for each packet of a flow that has one each 0.4 ms: none overtakes another, and the
/// books close over what waits there at the end, TCP's packets both ways among it.
#[test]
fn a_router_keeps_packets_in_order() {
    let mut b = Builder::new(Span::from_secs(1));
    let [a, middle, z] = ["a", "middle", "z"].map(|name| b.node(name));
    b.link(a, middle, mbps(100), Span::from_ms(1), 10_000);
    b.link(middle, z, mbps(100), Span::from_ms(1), 10_000);
    b.datagrams(a, z, DatagramSource::Udp { rate: mbps(20) }, 1_000);
    let tcp = b.transport("linux-cubic");
    b.flow(a, z, tcp, SourceSetup::Unlimited {}, at(0.0));
    let processing_delay = Variate::Uniform { low: 0.0, high: 20.0 * MS };
    b.setup.routers.push(RouterSetup {
        node: middle,
        processing_delay: Some(processing_delay),
        hash_seed: None,
    });
    let outcome = b.run();
    let of = |column| integer(&outcome, "datagram_flows", column, 0);
    assert_eq!((of("reordered_packets"), of("lost")), (0, 0));
    assert_eq!(of("sent"), of("received") + of("packets_in_flight"));
    // 20 ms bring 50 of them, and each waits for the slowest before it.
    assert!(of("packets_in_flight") >= 10, "{}", of("packets_in_flight"));
    assert_eq!(integer(&outcome, "flows", "reordered_packets", 0), 0);
}

/// How long the handshakes of flows take that all begin at once, in picoseconds: two hosts at either side of a switch,
/// whose controller takes `delay`.
fn handshakes(delay: Option<Span>) -> [u64; 2] {
    let mut b = Builder::new(Span::from_secs(5));
    let switch = b.node("switch");
    let hosts = ["a", "b", "y", "z"].map(|name| b.node(name));
    for host in hosts {
        b.link(host, switch, mbps(100), Span::from_ms(1), 100);
    }
    let controller_node = b.node("controller");
    b.link(switch, controller_node, mbps(100), Span::from_ms(1), 100);
    let tcp = b.transport("newreno");
    for (from, to) in [(hosts[0], hosts[2]), (hosts[1], hosts[3])] {
        b.flow(from, to, tcp, SourceSetup::Sized { bytes: PAYLOAD }, at(0.0));
    }
    let forwarding = ApplicationSetup::named("forwarding").expect("an application");
    let setup = controller(controller_node, &[switch], forwarding);
    let processing_delay = delay.map(|delay| Variate::Constant { value: delay.as_ps() as f64 });
    b.setup.controller = Some(ControllerSetup { processing_delay, ..setup });
    let outcome = b.run();
    [0, 1].map(|flow| picoseconds(number(&outcome, "flows", "handshake_s", flow)))
}

/// Both SYNs come to the switch at once. The controller takes 10 ms for each, one after the other. Without that the second
/// flow waits 8 us for the first: an entry and a SYN, 40 and 60 bytes, go down before its own. With it these have long gone.
#[test]
fn the_controller_works_on_one_message_after_the_other() {
    let ([first, second], took) = (handshakes(None), Span::from_ms(10).as_ps());
    let [slow_first, slow_second] = handshakes(Some(Span::from_ms(10)));
    let waited = (40 + 60) * 80_000;
    assert_eq!(slow_first - first, took);
    assert_eq!(slow_second - second, 2 * took - waited);
}

#[test]
fn delays_of_routers_and_controllers_that_are_none_are_refused_with_their_place() {
    let wrong = Variate::Exponential { mean: f64::NAN };
    let refusal = |setup: Setup| {
        let plan = plan(&crowded(Span::from_ms(10)));
        let Err(EngineError::Setup(refused)) = Simulation::new(setup, plan) else { panic!("refused") };
        refused.to_string()
    };
    let mut setup = crowded(Span::from_ms(10));
    setup.routers.push(RouterSetup {
        node: NodeId(0),
        processing_delay: Some(wrong.clone()),
        hash_seed: None,
    });
    assert!(refusal(setup.clone()).starts_with("routers[0].processing_delay: exponential: mean"));
    setup.routers[0].node = NodeId(9);
    assert!(refusal(setup).starts_with("routers[0].node"));
    let mut b = two_hosts(mbps(100), Span::from_ms(1), 100, Span::from_ms(10));
    let node = b.node("controller");
    b.link(NodeId(0), node, mbps(100), Span::from_ms(1), 100);
    let forwarding = ApplicationSetup::named("forwarding").expect("an application");
    b.setup.controller =
        Some(ControllerSetup { processing_delay: Some(wrong), ..controller(node, &[NodeId(0)], forwarding) });
    assert!(refusal(b.setup).starts_with("controller.processing_delay: exponential: mean"));
}
