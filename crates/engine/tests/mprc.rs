//! MPRC (Chang 2024) over paths that reorder, that lose and that do neither.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::balancer::{FlowParameters, PacketParameters, PacketRoundRobinParameters};
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::setup::*;
use anabranch_engine::transport::{LossDetectionConfig, TcpConfig, tcp_preset};
use anabranch_units::{Instant, NodeId, Span};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

/// 30 s of one unlimited flow over disjoint 10 Mbps paths of these delays with 100-packet queues.
fn paths(tcp: TcpConfig, delays_ms: &[u64], spread: LoadBalancing) -> Builder {
    let mut b = parallel_paths(mbps(10), delays_ms, 100, Span::from_secs(30));
    b.setup.routing.scheme = Some(disjoint(delays_ms.len() as u32));
    b.setup.routing.load_balancing = spread;
    let tcp = b.tcp("tcp", tcp);
    b.flow(A, B, tcp, SourceSetup::Unlimited {}, Instant::ZERO);
    b
}

fn preset(name: &str) -> TcpConfig {
    tcp_preset(name).expect("a preset")
}

fn goodput(outcome: &Outcome) -> f64 {
    number(outcome, "flows", "goodput_mbps", 0)
}

fn count(outcome: &Outcome, column: &str) -> u64 {
    integer(outcome, "flows", column, 0)
}

/// Share of the segments that the receiver had already.
fn spurious(outcome: &Outcome) -> f64 {
    count(outcome, "spurious_retransmissions") as f64 / count(outcome, "segments_sent") as f64
}

/// Chang 2024, figures 2.4 and 5.5: 20 Mbps over the two paths of the grid, links of 10 Mbps and 10 ms. Of 20
/// the headers leave 19.3, and the first seconds cost their share. Ten seeds, each its own order of packets.
#[test]
fn the_sprayed_grid_gives_both_paths() {
    for seed in 1..=10 {
        let mut b = paths(preset("mprc"), &[20, 20], LoadBalancing::Packet(PacketParameters {}));
        b.setup.seed = seed;
        let outcome = b.run();
        println!("{seed}: {:.2} Mbps, {:.4} spurious", goodput(&outcome), spurious(&outcome));
        assert!(goodput(&outcome) >= 18.5, "seed {seed}: {}", goodput(&outcome));
        assert!(spurious(&outcome) < 0.01, "seed {seed}: {}", spurious(&outcome));
        assert!(count(&outcome, "reordered_packets") > 10_000 && count(&outcome, "timeouts") == 0);
    }
}

/// Delay ratios at which RACK's window ends (Linux 6.18 falls to 2.4 Mbps at 10 and 100 ms): the estimator
/// covers the slower path from its own samples.
#[test]
fn unequal_delays_are_carried() {
    for (delays_ms, spread) in [
        ([10, 30], LoadBalancing::Packet(PacketParameters {})),
        ([10, 30], LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters::default())),
        ([10, 100], LoadBalancing::Packet(PacketParameters {})),
        ([10, 100], LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters::default())),
    ] {
        let outcome = paths(preset("mprc"), &delays_ms, spread.clone()).run();
        println!("{delays_ms:?} {spread:?}: {:.2}, {:.4}", goodput(&outcome), spurious(&outcome));
        assert!(goodput(&outcome) > 16.0, "{delays_ms:?} {spread:?}: {}", goodput(&outcome));
        assert!(spurious(&outcome) < 0.01, "{delays_ms:?} {spread:?}: {}", spurious(&outcome));
    }
}

/// A single path within 2 % of CUBIC.
#[test]
fn a_single_path_is_as_fast_as_with_cubic() {
    for delay in [20, 24] {
        let on = |name| goodput(&paths(preset(name), &[delay], LoadBalancing::Flow(FlowParameters {})).run());
        let (mprc, cubic) = (on("mprc"), on("cubic"));
        assert!((mprc / cubic - 1.0).abs() < 0.02, "{delay} ms: {mprc} and {cubic}");
    }
}

/// Chang 2024, section 5.3: 0.01 % loss on one of the paths. A loss costs half of a window that the queues
/// have doubled; nine tenths of what the paths hold must be left.
#[test]
fn rare_loss_leaves_most_of_the_bandwidth() {
    let mut b = paths(preset("mprc"), &[20, 20], LoadBalancing::Packet(PacketParameters {}));
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 1e-4 });
    let outcome = b.run();
    assert!(integer(&outcome, "links", "drops_random", 0) > 0);
    assert!(goodput(&outcome) > 0.9 * 20.0 * 1448.0 / 1500.0, "{}", goodput(&outcome));
}

/// The paper's receiver has cumulative ACKs only. A repair then takes a round trip for each hole, so that the
/// overshoot of slow start costs seconds; what the sprayed paths hold is used all the same.
#[test]
fn cumulative_acknowledgments_are_enough() {
    for timestamps in [true, false] {
        let tcp = TcpConfig { sack: false, timestamps, ..preset("mprc") };
        let outcome = paths(tcp, &[20, 20], LoadBalancing::Packet(PacketParameters {})).run();
        println!("timestamps {timestamps}: {:.2}, {:.4}", goodput(&outcome), spurious(&outcome));
        assert!(goodput(&outcome) > 10.0 * 1448.0 / 1500.0, "{}", goodput(&outcome));
        assert!(spurious(&outcome) < 0.01, "{}", spurious(&outcome));
    }
}

/// The detection apart from its congestion control, and the other way round.
#[test]
fn the_parts_work_alone() {
    let LossDetectionConfig::Fastrto(_) = preset("mprc").loss_detection else { panic!("fastrto") };
    let cubic = TcpConfig { loss_detection: preset("mprc").loss_detection, ..preset("cubic") };
    let outcome = paths(cubic, &[20, 20], LoadBalancing::Packet(PacketParameters {})).run();
    assert!(goodput(&outcome) >= 18.5 && spurious(&outcome) < 0.01, "{}", goodput(&outcome));
    let rack = TcpConfig { congestion_control: preset("mprc").congestion_control, ..preset("linux-reno") };
    let outcome = paths(rack, &[20], LoadBalancing::Flow(FlowParameters {})).run();
    assert!(goodput(&outcome) > 0.97 * 10.0 * 1448.0 / 1500.0, "{}", goodput(&outcome));
}

/// Whatever is lost on the way there or back and however it is spread, a transfer ends and every byte is there.
#[test]
fn every_byte_arrives_under_loss_and_reordering() {
    for (seed, loss) in (1..=12).zip([0.001, 0.01, 0.05, 0.15].into_iter().cycle()) {
        for (sack, timestamps) in [(true, true), (true, false), (false, true), (false, false)] {
            let tcp = TcpConfig { sack, timestamps, ..preset("mprc") };
            let mut b = paths(tcp, &[5, 25], LoadBalancing::Packet(PacketParameters {}));
            b.setup.seed = seed;
            b.setup.duration = Span::from_secs(3600);
            b.setup
                .links
                .iter_mut()
                .for_each(|l| *l.loss = LossSetup::Bernoulli(Bernoulli { probability: loss }));
            b.setup.flows[0].source = SourceSetup::Sized { bytes: 200_000 };
            let outcome = b.run();
            assert_eq!(count(&outcome, "delivered_bytes"), 200_000, "seed {seed}, sack {sack}");
            assert!(number(&outcome, "flows", "completion_s", 0).is_finite(), "seed {seed}, sack {sack}");
        }
    }
}
