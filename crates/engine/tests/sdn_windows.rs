//! Clamped windows, and what the controller learns by polling.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::control::applications::{ForwardingParameters, WindowClampParameters};
use anabranch_engine::routing::Metric;
use anabranch_engine::setup::*;
use anabranch_engine::transport::TransportConfig;
use anabranch_units::{Instant, NodeId, Rate, Span};

/// Two switches and hosts at both; the link between is the bottleneck, link 0.
fn dumbbell(application: ApplicationSetup, bottleneck: Rate, delay: Span, duration: Span) -> Builder {
    let mut b = Builder::new(duration);
    let (left, right) = (b.node("left"), b.node("right"));
    b.link(left, right, bottleneck, delay, 10_000);
    let node = b.node("controller");
    for switch in [left, right] {
        b.link(node, switch, mbps(1000), Span::from_us(100), 10_000);
    }
    b.setup.controller = Some(ControllerSetup {
        node,
        switches: vec![left, right],
        channel: Channel::Apart,
        application,
        metric: Metric::Delay,
        flow_metrics: Vec::new(),
        table: FlowTableSetup {
            size: None,
            when_full: WhenFull::Refuse,
            idle_timeout: None,
            hard_timeout: None,
        },
        linger: Span::from_ms(100),
        processing_delay: None,
        statistics_interval: None,
    });
    b
}

fn flows(b: &mut Builder, count: usize, transport: &str, source: &SourceSetup) {
    let transport = b.transport(transport);
    for n in 0..count {
        let (from, to) = (b.node(&format!("S{n}")), b.node(&format!("R{n}")));
        b.link(from, NodeId(0), mbps(1000), Span::from_us(10), 10_000);
        b.link(to, NodeId(1), mbps(1000), Span::from_us(10), 10_000);
        let start = Instant::ZERO + Span::from_ms(n as u64);
        b.flow(from, to, transport, source.clone(), start);
    }
}

fn clamped(count: usize, transport: &str) -> Builder {
    let application = ApplicationSetup::WindowClamp(WindowClampParameters { share: 1.0 });
    let mut b = dumbbell(application, mbps(100), Span::from_ms(10), Span::from_secs(4));
    flows(&mut b, count, transport, &SourceSetup::Unlimited {});
    sample(&mut b.setup, Span::from_ms(50));
    b
}

fn goodputs(outcome: &Outcome, count: usize, span_s: (f64, f64)) -> Vec<f64> {
    (0..count as u64).map(|flow| goodput_between(outcome, flow, span_s)).collect()
}

/// The product is 100 Mbps x 20.2 ms, 168 full packets: the link is full, next to nothing waits, shares are equal.
#[test]
fn flows_share_the_product_without_a_queue() {
    for transport in ["cubic", "linux-cubic", "bbr"] {
        for count in [2, 20] {
            let what = format!("{count} {transport}");
            let outcome = clamped(count, transport).run();
            let goodputs = goodputs(&outcome, count, (2.0, 4.0));
            let sum: f64 = goodputs.iter().sum();
            // Headers take 40 to 52 of 1500 bytes; a window rounded down to segments, as much as one of eight.
            assert!((75.0..97.4).contains(&sum), "{what}: {sum} Mbps");
            let squares: f64 = goodputs.iter().map(|goodput| goodput * goodput).sum();
            let jain = sum * sum / (count as f64 * squares);
            assert!(jain > 0.99, "{what}: Jain index {jain}, {goodputs:?}");
            // Slow start's bursts wait, up to half a window; they spread with the ACKs.
            let queue = series_mean(&outcome, ("link_series", "link"), 0, "queue_packets", (2.0, 4.0));
            // Linux's sender holds parts of a train back: what leaves at once is more.
            let most = if transport == "linux-cubic" { 10.0 } else { 5.0 };
            assert!(queue < most, "{what}: {queue} packets wait");
            assert!(integer(&outcome, "links", "queue_max_packets", 0) < 168, "{what}");
            assert_eq!(integer(&outcome, "links", "drops_queue", 0), 0, "{what}");
        }
    }
}

/// One of two flows stops after 2 s; within some round trips the other has the link.
#[test]
fn a_flow_that_leaves_gives_its_share_to_the_other() {
    let mut b = clamped(2, "cubic");
    b.setup.flows[0].stop = Some(at(2.0));
    let outcome = b.run();
    let before = goodput_between(&outcome, 1, (1.5, 2.0));
    let after = goodput_between(&outcome, 1, (2.1, 2.6));
    assert!(before < 52.0 && after > 85.0, "{before} Mbps before, {after} Mbps after");
}

/// The window shrinks under a sender whose data fill it, and grows again: nobody stalls, no byte is lost.
#[test]
fn shrinking_windows_stall_nobody() {
    for transport in ["cubic", "linux-cubic", "bbr"] {
        let mut b = clamped(20, transport);
        for n in 1..20 {
            b.setup.flows[n].start = at(1.0 + 0.02 * n as f64);
            b.setup.flows[n].source = SourceSetup::Sized { bytes: 400_000 };
        }
        let outcome = b.run();
        let done = table(&outcome, "flows").number("completion_s").unwrap();
        assert!(done[1..].iter().all(|time| time.is_finite()), "{transport}: {done:?}");
        assert_eq!(integer(&outcome, "flows", "timeouts", 0), 0, "{transport}");
        let series = table(&outcome, "flow_series");
        let (ids, goodput) = (series.integer("flow").unwrap(), series.number("goodput_mbps").unwrap());
        let first: Vec<f64> = (0..ids.len()).filter(|&row| ids[row] == 0).map(|row| goodput[row]).collect();
        assert!(first[10..].iter().all(|&mbps| mbps > 0.5), "{transport}: {first:?}");
    }
}

/// Entries that expire are made anew without the SYN-ACK passing again: the scale is still known, so that the
/// window is still a clamp.
#[test]
fn the_clamp_outlives_its_entry() {
    let mut b = clamped(2, "cubic");
    let table = &mut b.setup.controller.as_mut().expect("a controller").table;
    table.hard_timeout = Some(Span::from_ms(300));
    let outcome = b.run();
    assert!(integer(&outcome, "flow_tables", "expired_hard", 0) > 10);
    let queue = integer(&outcome, "links", "queue_max_packets", 0);
    // The windows together are the product, 168 packets; unclamped the queue would be thousands.
    assert!(queue < 168, "{queue} packets waited");
}

/// Jumbo segments: the least window is two of them.
#[test]
fn large_segments_are_not_held_below_their_size() {
    let mut b = clamped(20, "cubic");
    let TransportConfig::Tcp(tcp) = &mut b.setup.transports[0].config else { panic!("cubic is TCP") };
    tcp.mss = 8960;
    let outcome = b.run();
    let goodputs = goodputs(&outcome, 20, (2.0, 4.0));
    let sum: f64 = goodputs.iter().sum();
    assert!(sum > 80.0, "{sum} Mbps");
}

fn polled(interval: Span) -> Outcome {
    let mut b = dumbbell(
        ApplicationSetup::Forwarding(ForwardingParameters {}),
        mbps(50),
        Span::from_ms(2),
        Span::from_secs(2),
    );
    flows(&mut b, 2, "cubic", &SourceSetup::Unlimited {});
    b.setup.controller.as_mut().expect("a controller").statistics_interval = Some(interval);
    b.run()
}

/// What the controller has read grows, never beyond the link's own count, up to it within an interval; the rate
/// between two readings is that of the full bottleneck.
#[test]
fn polling_agrees_with_the_links() {
    // Shorter than the 200 us to a switch and back, too.
    for interval in [Span::from_ms(100), Span::from_us(50)] {
        let outcome = polled(interval);
        let polled = table(&outcome, "link_statistics");
        let (links, packets) = (polled.integer("link").unwrap(), polled.integer("packets").unwrap());
        let rates = polled.number("throughput_mbps").unwrap();
        let total = integer(&outcome, "links", "packets", 0);
        let rows: Vec<usize> = (0..links.len()).filter(|&row| links[row] == 0).collect();
        assert!(rows.windows(2).all(|pair| packets[pair[0]] <= packets[pair[1]]));
        let last = packets[*rows.last().expect("answers")];
        // 50 Mbps are 4167 full packets in a second.
        let most = (interval.as_secs_f64() + 0.001) * 4200.0;
        assert!(last <= total && (total - last) as f64 <= most, "{last} of {total}");
        let settled: Vec<f64> = rows[rows.len() / 2..].iter().map(|&row| rates[row]).collect();
        let mean = settled.iter().sum::<f64>() / settled.len() as f64;
        assert!((mean - 50.0).abs() < 0.5, "{mean} Mbps");
        if interval == Span::from_ms(100) {
            assert!(settled.iter().all(|rate| (rate - 50.0).abs() < 0.5), "{settled:?}");
        }
        // Requests and answers that were on their way at the end are no answers.
        let messages = table(&outcome, "control_messages").integer("messages").unwrap();
        let (asked, answered) = (messages[8], messages[9]);
        assert!(answered <= asked && asked - answered <= 20, "{asked} asked, {answered} answered");
    }
}
