//! The controller application tcpbp: what its probes and estimators say of links.

use crate::common::*;
use crate::tcpbp_common::*;
use anabranch_engine::Outcome;
use anabranch_engine::loss::{Bernoulli, GilbertElliott};
use anabranch_engine::routing::{EwmaParameters, HypothesisTestParameters, MovingAverageParameters};
use anabranch_engine::setup::*;
use anabranch_routing::EstimatorSetup;
use anabranch_units::{Instant, LinkId, NodeId, Span};

/// Two switches, 20 Mbps and 5 ms apart, with queues of 20 packets.
fn one_link(tcpbp: TcpbpSetup, seconds: u64) -> Builder {
    let mut b = Builder::new(Span::from_secs(seconds));
    let [from, to] = ["a", "b"].map(|name| b.node(name));
    b.link(from, to, mbps(20), Span::from_ms(5), 20);
    control(&mut b, ApplicationSetup::Tcpbp(tcpbp), Span::from_ms(3));
    b
}

/// Messages of the control plane of a kind.
fn sent(outcome: &Outcome, kind: &str) -> u64 {
    let all = table(outcome, "control_messages");
    let row = all.text("kind").unwrap().iter().position(|name| name == kind).expect("a kind of message");
    all.integer("messages").unwrap()[row]
}

/// Only the link from a to b loses packets, and only probes are lost of the control plane, so that the books of the
/// run say how many data packets were sent and lost. All are done when the last probe comes through; queue drops,
/// of which there are many, are no losses of the link.
#[test]
fn the_counted_losses_are_those_of_the_link_to_the_packet() {
    let models = [
        LossSetup::Bernoulli(Bernoulli { probability: 0.03 }),
        LossSetup::GilbertElliott(GilbertElliott {
            to_bad: 0.002,
            to_good: 0.1,
            loss_good: 0.001,
            loss_bad: 0.5,
        }),
    ];
    for model in models {
        let mut b = one_link(TcpbpSetup { loss_granularity: 0.0, ..TCPBP }, 30);
        *b.setup.links[0].loss = model;
        let cubic = b.transport("cubic");
        for n in 0..10 {
            b.flow(
                NodeId(0),
                NodeId(1),
                cubic,
                SourceSetup::Sized { bytes: 2_000_000 },
                at(0.7 * f64::from(n)),
            );
        }
        let outcome = b.run();
        let completion = table(&outcome, "flows").number("completion_s").unwrap();
        assert!(completion.iter().all(|seconds| seconds + 7.0 < 25.0), "{completion:?}");
        assert!(integer(&outcome, "links", "drops_queue", 0) > 0, "queues overflow");
        let last = *rows(&outcome, 0).last().unwrap();
        // One probe in each of 30 rounds and each direction, of which the last may have no time to leave. Those back all
        // come through; of those that lead from a to b some find no room in the queue, and some are lost behind it.
        let each = sent(&outcome, "probe") / 2;
        assert!(each == 29 || each == 30, "{each}");
        let left = integer(&outcome, "links", "packets", 0) - last.packets;
        let received = sent(&outcome, "probe in") - each;
        assert_eq!(sent(&outcome, "lost"), each - received);
        assert!(each - left <= 2 && left - received <= 2, "{each}, {left}, {received}");
        assert_eq!(last.lost, integer(&outcome, "links", "drops_random", 0) - (left - received));
        assert!(last.lost > 100 && last.packets > 10_000, "{last:?}");
        let back = *rows(&outcome, 1).last().unwrap();
        assert_eq!(back.lost, 0);
        // Each estimate is the mean of the last three samples, which the counts give again.
        let all = rows(&outcome, 0);
        let samples = samples(&all, 100);
        for (n, row) in all.iter().enumerate() {
            let losses: Vec<f64> = samples.iter().filter(|sample| sample.0 <= n).map(|s| s.1).collect();
            let recent = &losses[losses.len().saturating_sub(3)..];
            if !recent.is_empty() {
                let mean = recent.iter().sum::<f64>() / recent.len() as f64;
                assert!((row.loss - mean).abs() < 1e-12, "{n}: {row:?}, {recent:?}");
            }
        }
    }
}

/// Losses of samples of so many packets at least, with the row at which each is there, from the counts alone.
fn samples(rows: &[Estimate], least: u64) -> Vec<(usize, f64)> {
    let (mut start, mut estimates) = ((0, 0), Vec::new());
    for (n, row) in rows.iter().enumerate() {
        let (packets, lost) = (row.packets - start.0, row.lost - start.1);
        if packets >= least {
            estimates.push((n, lost as f64 / packets as f64));
            start = (row.packets, row.lost);
        }
    }
    estimates
}

/// An idle link takes its propagation and 320 bits at 20 Mbps, 16 us. From 10 s on it is 3 ms slower; the mean of
/// three follows in three steps.
#[test]
fn delays_are_propagation_and_transmission_and_follow_changes() {
    let measured = TcpbpSetup { delay: DelaySource::Measured, delay_granularity: Span::ZERO, ..TCPBP };
    let mut b = one_link(measured.clone(), 20);
    let links = vec![LinkId(0)];
    change(&mut b, 9.5, Change::Delay { links, delay: Span::from_ms(8) });
    let delays: Vec<f64> = rows(&b.run(), 0).into_iter().map(|row| row.delay_ms).collect();
    assert_eq!(delays.len(), 19);
    for (n, delay) in delays.iter().enumerate() {
        let steps = n.saturating_sub(8).min(3) as f64;
        assert!((delay - 5.016 - steps).abs() < 1e-9, "{n}: {delay}");
    }
    let mut b = one_link(TcpbpSetup { delay: DelaySource::Configured, ..measured }, 20);
    let links = vec![LinkId(0)];
    change(&mut b, 9.5, Change::Delay { links, delay: Span::from_ms(8) });
    let delays: Vec<f64> = rows(&b.run(), 0).into_iter().map(|row| row.delay_ms).collect();
    assert_eq!((delays[8], delays[9]), (5.0, 8.0), "what is configured is known at once");
}

/// By Little's law the mean wait is the mean queue times the time of a packet, nearly all of which have 1500 bytes.
/// Probes wait like packets; 100 of them see the mean to a fraction of the queue's whole range.
#[test]
fn measured_delays_have_the_queue_in_them() {
    let estimator = EstimatorSetup::Sma(MovingAverageParameters { window: 1000 });
    let mut b = one_link(TcpbpSetup { estimator, delay: DelaySource::Measured, ..TCPBP }, 100);
    *b.setup.links[0].queue = packets(100);
    let newreno = b.transport("newreno");
    for n in 0..3 {
        b.flow(NodeId(0), NodeId(1), newreno, SourceSetup::Unlimited {}, at(0.1 * f64::from(n)));
    }
    let outcome = b.run();
    let packet_ms = 1500.0 * 8.0 / 20e3;
    let queue = number(&outcome, "links", "queue_mean_packets", 0);
    assert!(queue > 20.0, "{queue}");
    // The packet in transmission is half done on average.
    let expected = 5.016 + (queue + 0.5) * packet_ms;
    let delay_ms = rows(&outcome, 0).last().unwrap().delay_ms;
    // Uniform over a queue of 100 packets the deviation is 29 packets; of the mean of 100 probes, 2.9.
    assert!((delay_ms - expected).abs() < 3.0 * 2.9 * packet_ms, "{delay_ms} ms, not {expected} ms");
    assert!((rows(&outcome, 1).last().unwrap().delay_ms - 5.0).abs() < 0.3, "ACKs do not wait");
}

/// Loss goes from 1 % to 4 % at 20 s on a link with about 340 packets in each second.
fn step(estimator: EstimatorSetup) -> (Vec<Estimate>, Vec<(usize, f64)>) {
    let mut b = one_link(TcpbpSetup { estimator, loss_granularity: 0.0, ..TCPBP }, 60);
    let newreno = b.transport("newreno");
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
    for _ in 0..4 {
        b.flow(NodeId(0), NodeId(1), newreno, messages(1.0), Instant::ZERO);
    }
    change(&mut b, 20.0, lose(&[0], 0.04));
    let rows = rows(&b.run(), 0);
    let samples = samples(&rows, 100);
    assert!(samples.len() > 40, "{}", samples.len());
    (rows, samples)
}

/// Four standard errors of a share of so many packets.
fn bound(loss: f64, packets: f64) -> f64 {
    4.0 * (loss * (1.0 - loss) / packets).sqrt()
}

#[test]
fn ewma_follows_a_step_as_its_formula_says() {
    let (rows, samples) = step(EstimatorSetup::Ewma(EwmaParameters { weight: 0.25 }));
    let mut expected: Option<f64> = None;
    for &(n, sample) in &samples {
        expected = Some(expected.map_or(sample, |old| 0.75 * old + 0.25 * sample));
        assert!((rows[n].loss - expected.unwrap()).abs() < 1e-12, "{n}");
    }
    // Its variance is weight / (2 - weight) of a sample's, here of 340 packets: 1/7.
    let (before, after) = (rows[17].loss, rows.last().unwrap().loss);
    assert!((before - 0.01).abs() < bound(0.01, 7.0 * 340.0), "{before}");
    assert!((after - 0.04).abs() < bound(0.04, 7.0 * 340.0), "{after}");
}

/// Before the step the estimate stands, with a change at most where chance at 1 % in 18 tests has one; from 1 to
/// 4 % three samples of 340 packets go from 10 losses to 41, which no test takes for chance, so that three samples
/// after the step it is far above, and it ends within the error of the window that refused the last estimate.
#[test]
fn hte_stands_still_and_jumps_at_a_step() {
    let (rows, _) = step(EstimatorSetup::Hte(HypothesisTestParameters { window: 3, significance: 0.01 }));
    let changes = |rows: &[Estimate]| {
        rows.windows(2).filter(|pair| pair[0].loss.to_bits() != pair[1].loss.to_bits()).count()
    };
    assert!(changes(&rows[3..19]) <= 1, "{:?}", &rows[3..19]);
    assert!((rows[18].loss - 0.01).abs() < bound(0.01, 3.0 * 300.0), "{:?}", rows[18]);
    assert!(rows[23].loss > 0.025, "{:?}", rows[23]);
    let last = rows.last().unwrap().loss;
    assert!((last - 0.04).abs() < bound(0.04, 3.0 * 300.0), "{last}");
    assert!(changes(&rows[25..]) <= 4, "{:?}", &rows[25..]);
}

/// A link that loses everything has no probe that comes back, and packets of nobody arrive. The SYNs of the flow and
/// the probes are ten after some ten rounds; another round shows that none has arrived.
#[test]
fn a_flow_leaves_a_link_that_loses_everything() {
    let outcome = two_routes(TcpbpSetup { sample_packets: 1000, ..TCPBP }, [1.0, 0.001], 40).run();
    let losses = estimates(&outcome, SHORT);
    assert_eq!(losses.first(), Some(&1.0));
    assert_eq!(routes(&outcome, 0).0, "a > n1 > n2 > b");
    let moved = moves(&outcome)[0].0;
    assert!(moved > 5.0 && moved < 15.0, "{moved}");
    assert!(integer(&outcome, "flows", "delivered_bytes", 0) > 1_000_000);
}

/// Where nothing but probes is lost, each lost one is a line in the books and no sample of anything.
#[test]
fn lost_probes_are_no_samples() {
    let mut b = one_link(TcpbpSetup { delay: DelaySource::Measured, ..TCPBP }, 200);
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.2 });
    // The last probes have time to arrive.
    b.setup.duration = Span::from_ms(200_500);
    let outcome = b.run();
    let lost = sent(&outcome, "lost");
    // Of 200 probes 40 +- 4 x 5.7.
    assert!((17..=63).contains(&lost), "{lost}");
    assert_eq!(lost, integer(&outcome, "links", "drops_random", 0));
    let last = *rows(&outcome, 0).last().unwrap();
    assert!(last.loss.is_nan() && last.packets == 0 && last.lost == 0, "{last:?}");
    assert_eq!(sent(&outcome, "probe"), sent(&outcome, "probe out"));
    assert_eq!(sent(&outcome, "probe"), 2 * 200);
    assert_eq!(sent(&outcome, "probe in"), 2 * 200 - lost);
}

/// In-band the control plane shares the links: its messages are packets that may be lost like any other.
#[test]
fn messages_in_band_count_like_any_packet() {
    let mut b = one_link(TCPBP, 20);
    b.setup.controller.as_mut().expect("a controller").channel = Channel::InBand;
    // The second control link goes: b is reached over a.
    b.setup.links.truncate(4);
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.1 });
    let newreno = b.transport("newreno");
    b.flow(NodeId(0), NodeId(1), newreno, messages(2.0), Instant::ZERO);
    let outcome = b.run();
    let last = *rows(&outcome, 0).last().unwrap();
    assert!(last.packets > 1000, "{last:?}");
    let loss = last.lost as f64 / last.packets as f64;
    assert!((loss - 0.1).abs() < bound(0.1, last.packets as f64), "{last:?}");
}
