//! The paced protocol and its tool as published: every number that Gholizadeh (2019) prints and that can be
//! read off its text and tables.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::control::applications::{ForwardingParameters, PacedParameters};
use anabranch_engine::routing::Metric;
use anabranch_engine::setup::*;
use anabranch_engine::transport::{SdnPacedConfig, SlidingWindowConfig, TransportConfig};
use anabranch_units::{FlowId, Instant, NodeId, Rate, Span};

const PAYLOAD: u64 = 960;

fn gbps(value: u64) -> Rate {
    Rate::from_bps(value * 1_000_000_000)
}

fn us(value: f64) -> Instant {
    Instant::ZERO + Span::from_ps((value * 1e6).round() as u64)
}

/// Senders at switch 0, receivers at switch 2, one switch between: four links each way (figure 5.1). The
/// controller has a link of its own to every switch.
struct Network {
    builder: Builder,
    switches: Vec<NodeId>,
    capacity: Rate,
    delay: Span,
    hosts: usize,
}

impl Network {
    fn new(capacity: Rate, delay: Span, application: ApplicationSetup) -> Self {
        let mut builder = Builder::new(Span::from_ms(500));
        let switches: Vec<NodeId> = (0..3).map(|n| builder.node(&format!("Sw{n}"))).collect();
        builder.link(switches[0], switches[1], capacity, delay, 1_000_000);
        builder.link(switches[1], switches[2], capacity, delay, 1_000_000);
        let controller = builder.node("controller");
        for &switch in &switches {
            builder.link(controller, switch, capacity, delay, 1_000_000);
        }
        builder.setup.controller = Some(ControllerSetup {
            node: controller,
            switches: switches.clone(),
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
            linger: Span::ZERO,
            processing_delay: None,
            statistics_interval: None,
        });
        builder.protocol(
            "sdn-paced",
            TransportConfig::SdnPaced(SdnPacedConfig {
                segment: 1000,
                reliable: false,
                initial_rto: Span::from_secs(1),
                max_rto: Span::from_secs(60),
                handshake_timeout: Span::from_secs(127),
            }),
        );
        Self { builder, switches, capacity, delay, hosts: 0 }
    }

    fn flow(&mut self, start_us: f64, segments: u64) {
        let delay = self.delay;
        self.flow_over(start_us, segments, delay);
    }

    fn flow_over(&mut self, start_us: f64, segments: u64, access_delay: Span) {
        let n = self.hosts;
        self.hosts += 1;
        let (from, to) = (self.builder.node(&format!("S{n}")), self.builder.node(&format!("R{n}")));
        self.builder.link(from, self.switches[0], self.capacity, access_delay, 1_000_000);
        self.builder.link(self.switches[2], to, self.capacity, self.delay, 1_000_000);
        let source = SourceSetup::Sized { bytes: segments * PAYLOAD };
        self.builder.flow(from, to, 0, source, us(start_us));
        self.builder.setup.probes.sequences.push(FlowId(n as u32));
    }

    fn run(self) -> Outcome {
        self.builder.run()
    }
}

fn paced(alpha: f64, beta: f64, gamma: f64) -> ApplicationSetup {
    ApplicationSetup::SdnPaced(PacedParameters { alpha, beta, gamma, schedule: PacedSchedule::Published })
}

/// Times in us and segment numbers of a flow's segments of one kind.
fn segments(outcome: &Outcome, flow: u64, kind: &str) -> Vec<(f64, f64)> {
    let table = table(outcome, "sequence");
    let kinds = table.text("kind").expect("kind");
    let (times, numbers) = (table.number("time_s").unwrap(), table.number("segment").unwrap());
    let flows = table.integer("flow").unwrap();
    (0..kinds.len())
        .filter(|&row| flows[row] == flow && &kinds[row] == kind)
        .map(|row| ((times[row] * 1e8).round() / 100.0, numbers[row]))
        .collect()
}

fn times(outcome: &Outcome, flow: u64, kind: &str) -> Vec<f64> {
    segments(outcome, flow, kind).into_iter().map(|entry| entry.0).collect()
}

/// Section 4.4.1, table 4.4 and figure A.1: all rows of the figure.
#[test]
fn single_flow_sends_at_the_published_times() {
    let mut network = Network::new(gbps(8), Span::from_us(1), paced(1.0, 1.5, 1.5));
    network.flow(0.0, 50);
    let outcome = network.run();
    assert_eq!(times(&outcome, 0, "syn"), [0.0]);
    assert_eq!(times(&outcome, 0, "syn-ack"), [10.48]);
    // CTRLDelay is 2.16 from the controller, where the SYN is at 2.08; the sender sees it 0.04 before the bound.
    assert_eq!(times(&outcome, 0, "ctrl"), [4.20]);
    let data = segments(&outcome, 0, "data");
    assert_eq!(data.len(), 50);
    for (row, &(time, number)) in data.iter().enumerate() {
        // sWnd = 17, sInterSegmentDelay = 1, sInterval = 18.24.
        let expected = 18.88 + (row / 17) as f64 * 18.24 + (row % 17) as f64;
        assert!((time - expected).abs() < 1e-9, "segment {number} at {time}, not {expected}");
    }
    // rtt = 12.16.
    let acks = segments(&outcome, 0, "ack");
    for ((sent, number), (received, acknowledged)) in data.iter().zip(&acks) {
        assert!((received - sent - 12.16).abs() < 1e-9 && number == acknowledged);
    }
}

/// Section 4.4.2: starts of the five cycles and their windows.
#[test]
fn three_flows_have_the_published_cycles() {
    let mut network = Network::new(gbps(8), Span::from_us(1), paced(1.0, 1.5, 1.5));
    network.flow(0.0, 150);
    network.flow(30.0, 80);
    network.flow(100.0, 20);
    let outcome = network.run();
    let data = times(&outcome, 0, "data");
    let runs = windows(&data);
    for (start, window) in [(18.88, 17), (49.16, 8), (119.56, 5), (208.96, 8), (280.00, 17)] {
        assert!(runs.contains(&(start, window)), "no window of {window} at {start} in {runs:?}");
    }
}

/// Bursts of segments that are 1 us apart: start and length.
fn windows(data: &[f64]) -> Vec<(f64, usize)> {
    let mut runs: Vec<(f64, usize)> = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for &time in data {
        match runs.last_mut() {
            Some(run) if (time - last - 1.0).abs() < 1e-6 => run.1 += 1,
            _ => runs.push((time, 1)),
        }
        last = time;
    }
    runs
}

/// Section 3.3: two ways, the shorter one is taken; set-up delay and round-trip time of a window of five.
#[test]
fn sliding_window_has_the_published_delays() {
    let mut b = Builder::new(Span::from_ms(1));
    let switches: Vec<NodeId> = (0..4).map(|n| b.node(&format!("Sw{n}"))).collect();
    let (sender, receiver, controller) = (b.node("S0"), b.node("R0"), b.node("controller"));
    b.link(sender, switches[0], gbps(8), Span::from_us(1), 1000);
    b.link(switches[3], receiver, gbps(8), Span::from_us(1), 1000);
    let upper = b.link(switches[0], switches[1], gbps(8), Span::from_us(1), 1000);
    b.link(switches[1], switches[3], gbps(8), Span::from_us(1), 1000);
    let lower = b.link(switches[0], switches[2], gbps(4), Span::from_us(1), 1000);
    b.link(switches[2], switches[3], gbps(4), Span::from_us(1), 1000);
    for &switch in &switches {
        b.link(controller, switch, gbps(8), Span::from_us(1), 1000);
    }
    let base = Network::new(gbps(8), Span::from_us(1), ApplicationSetup::Forwarding(ForwardingParameters {}));
    b.setup.controller = base.builder.setup.controller.map(|setup| ControllerSetup {
        node: controller,
        switches: switches.clone(),
        metric: Metric::InverseCapacity,
        ..setup
    });
    let window = SlidingWindowConfig {
        segment: 1000,
        window_segments: 5,
        initial_rto: Span::from_secs(1),
        max_rto: Span::from_secs(60),
        handshake_timeout: Span::from_secs(127),
    };
    let transport = b.protocol("sliding-window", TransportConfig::SlidingWindow(window));
    b.flow(sender, receiver, transport, SourceSetup::Sized { bytes: 10 * PAYLOAD }, Instant::ZERO);
    b.setup.probes.sequences.push(FlowId(0));
    let outcome = b.run();
    assert_eq!(times(&outcome, 0, "syn-ack"), [10.44]);
    let (data, acks) = (times(&outcome, 0, "data"), times(&outcome, 0, "ack"));
    assert_eq!(data.len(), 10);
    assert_eq!(data[0], 10.44);
    assert_eq!(acks[0], 10.44 + 12.16);
    // The sixth segment leaves when the first is acknowledged.
    assert_eq!(data[5], acks[0]);
    let packets = table(&outcome, "links").integer("packets").expect("packets").to_vec();
    assert!(packets[upper] > 0 && packets[lower] == 0, "the route is not Sw0-Sw1-Sw3");
}

/// Figure A.3: mean completion time (SYN to FIN) of ten flows in us, by inter-arrival time and segments.
const FIGURE_A3: [(f64, [f64; 3]); 11] = [
    (0.0, [1172.17, 5504.97, 10920.97]),
    (100.0, [308.17, 4100.26, 9516.26]),
    (200.0, [184.77, 3010.50, 8194.72]),
    (300.0, [184.77, 1844.28, 6922.44]),
    (400.0, [184.77, 848.92, 5956.31]),
    (500.0, [184.77, 512.34, 4700.74]),
    (600.0, [184.77, 512.19, 3500.65]),
    (700.0, [184.77, 512.19, 2350.79]),
    (800.0, [184.77, 512.19, 1378.46]),
    (900.0, [184.77, 512.19, 920.69]),
    (1000.0, [184.77, 512.19, 920.54]),
];

#[test]
fn figure_a3_to_the_last_digit() {
    let mut checked = 0;
    for (gap, row) in FIGURE_A3 {
        for (segments, expected) in [100, 500, 1000].into_iter().zip(row) {
            let mut network = Network::new(gbps(10), Span::from_us(5), paced(1.0, 1.0, 1.0));
            for n in 0..10 {
                network.flow(gap * f64::from(n), segments);
            }
            network.builder.setup.probes.sequences.clear();
            let outcome = network.run();
            let fins = table(&outcome, "flows").number("fin_s").expect("fin_s").to_vec();
            let mean = fins.iter().sum::<f64>() / fins.len() as f64 * 1e6;
            assert!(
                (mean - expected).abs() < 0.0051,
                "{gap} us, {segments} segments: {mean}, not {expected}"
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 33);
}

/// Section 5.2.3: with all flows at once there is no persistent queue up to 54, 81 and 108 flows; with one
/// more there is.
#[test]
fn incast_breaks_where_it_should() {
    let most_waiting = |flows: u64, gamma: f64| {
        let mut network = Network::new(gbps(10), Span::from_us(5), paced(1.0, 1.0, gamma));
        for _ in 0..flows {
            network.flow(0.0, 100);
        }
        network.builder.setup.probes.sequences.clear();
        let outcome = network.run();
        table(&outcome, "links").integer("queue_max_packets").expect("queue_max_packets")[0]
    };
    for (gamma, limit) in [(1.0, 54), (1.5, 81), (2.0, 108)] {
        let (at, above) = (most_waiting(limit, gamma), most_waiting(limit + 1, gamma));
        assert!(at <= 2, "gamma {gamma}: {at} packets waited with {limit} flows");
        assert!(above >= 50, "gamma {gamma}: only {above} packets waited with {} flows", limit + 1);
    }
}
