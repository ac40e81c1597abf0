//! A run in steps gives the bytes of a run at once, whatever the steps.

use crate::common::*;
use anabranch_engine::balancer::PacketParameters;
use anabranch_engine::control::applications::{ForwardingParameters, PacedParameters};
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::records::Column;
use anabranch_engine::routing::Metric;
use anabranch_engine::setup::*;
use anabranch_engine::transport::PRESETS;
use anabranch_engine::{EngineError, Outcome, Simulation};
use anabranch_units::{Instant, LinkId, NodeId, Span};
use proptest::prelude::*;
use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::OnceLock;

const DURATION: Span = Span::from_ms(600);

/// How far a step goes.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many picoseconds, which may end in the middle of nothing.
    Span(u64),
    /// Nowhere.
    Zero,
    /// To the next event, and all others of its instant.
    NextEvent,
    /// To the last instant before the next event.
    BeforeNextEvent,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..DURATION.as_ps() / 4).prop_map(Step::Span),
        (0u64..20_000_000).prop_map(Step::Span),
        Just(Step::Zero),
        Just(Step::NextEvent),
        Just(Step::BeforeNextEvent),
    ];
    prop::collection::vec(step, 0..60)
}

/// Setups of every kind: each with a name.
fn setups() -> Vec<(String, Setup)> {
    let plain = PRESETS.iter().map(|(name, _)| *name).filter(|name| *name != "sdn-paced");
    let mut all: Vec<(String, Setup)> = plain.map(|name| (name.to_owned(), lossy(name))).collect();
    all.push(("failures".into(), failures()));
    all.push(("done".into(), until_done()));
    all.push(("trains".into(), trains()));
    all.push(("controller".into(), governed(ApplicationSetup::Forwarding(ForwardingParameters {}), "cubic")));
    let (alpha, beta, gamma) = (0.9, 1.1, 1.1);
    let schedule = PacedSchedule::Published;
    let paced = ApplicationSetup::SdnPaced(PacedParameters { alpha, beta, gamma, schedule });
    all.push(("paced".into(), governed(paced, "sdn-paced")));
    all.push(("subflows".into(), subflows()));
    all.push(("datagrams".into(), datagrams()));
    all.push(("processing".into(), processing()));
    all
}

/// Two paths that lose packets, one with jitter, and three sources.
fn lossy(transport: &str) -> Setup {
    let mut b = parallel_paths(mbps(10), &[5, 9], 20, DURATION);
    b.setup.routing.scheme = Some(disjoint(2));
    b.setup.routing.load_balancing = LoadBalancing::Packet(PacketParameters {});
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
    b.setup.links[4].jitter = Some(Box::new(Variate::Exponential { mean: 1e8 }));
    let transport = b.transport(transport);
    let (from, to) = (NodeId(0), NodeId(1));
    b.flow(from, to, transport, SourceSetup::Unlimited {}, at(0.01));
    b.flow(to, from, transport, SourceSetup::Sized { bytes: 30_000 }, at(0.1));
    let (size, gap) = (Variate::Constant { value: 2_000.0 }, Variate::Exponential { mean: 2e10 });
    b.flow(from, to, transport, SourceSetup::messages(size, gap), Instant::ZERO);
    sample(&mut b.setup, Span::from_ms(50));
    b.setup
}

/// The same until its one flow with a size is done; the others have no end.
fn until_done() -> Setup {
    Setup { until: RunEnd::Done, ..lossy("cubic") }
}

/// The same with pings and UDP beside, whose links fail and lose packets.
fn datagrams() -> Setup {
    let mut b = Builder::of(failures());
    let (from, to) = (NodeId(0), NodeId(1));
    b.datagrams(from, to, DatagramSource::Ping { interval: Span::from_us(3_333) }, 84);
    b.datagrams(to, from, DatagramSource::Udp { rate: mbps(3) }, 1_000);
    b.setup.datagrams[1].stop = Some(at(0.43));
    b.setup
}

/// The same with segmentation offload at a host.
fn trains() -> Setup {
    let mut setup = failures();
    let offload = NonZeroU16::new(4).expect("segments");
    setup.hosts = vec![HostSetup { node: NodeId(0), offload, processing_delay: None }];
    setup
}

/// Pings and flows between hosts that take their time, while links and nodes fail.
fn processing() -> Setup {
    let mut setup = datagrams();
    let processing_delay = Some(Variate::Exponential { mean: 3e9 });
    let host =
        |node| HostSetup { node, offload: NonZeroU16::MIN, processing_delay: processing_delay.clone() };
    setup.hosts = [0, 1].map(NodeId).map(host).to_vec();
    setup
}

/// A path goes down and comes back, a node follows, and a link gets other attributes; routes react.
fn failures() -> Setup {
    let mut setup = lossy("linux-cubic");
    setup.routing.reaction = Some(Span::from_ms(20));
    let links = |ids: [u32; 2]| ids.map(LinkId).to_vec();
    let changes = [
        (100, Change::Links { links: links([0, 1]), up: false }),
        (200, Change::Links { links: links([0, 1]), up: true }),
        (250, Change::Node { node: NodeId(3), up: false }),
        (300, Change::Node { node: NodeId(3), up: true }),
        (350, Change::Capacity { links: links([2, 3]), capacity: mbps(3) }),
        (350, Change::Delay { links: links([2, 3]), delay: Span::from_ms(1) }),
        (
            400,
            Change::Loss {
                links: links([2, 3]),
                loss: LossSetup::Bernoulli(Bernoulli { probability: 0.05 }),
            },
        ),
    ];
    let at = |ms| Instant::ZERO + Span::from_ms(ms);
    setup.events = changes.map(|(ms, change)| EventSetup { at: at(ms), change }).to_vec();
    setup
}

/// Hosts at two switches with a controller, which asks for statistics.
fn governed(application: ApplicationSetup, transport: &str) -> Setup {
    let mut b = Builder::new(DURATION);
    let [from, left, right, to, node] =
        ["from", "left", "right", "to", "controller"].map(|name| b.node(name));
    for (one, other) in [(from, left), (left, right), (right, to), (node, left), (node, right)] {
        b.link(one, other, mbps(10), Span::from_ms(2), 30);
    }
    let mut controller = controller(node, &[left, right], application);
    controller.statistics_interval = Some(Span::from_ms(40));
    controller.metric = Metric::Delay;
    b.setup.controller = Some(controller);
    let transport = b.transport(transport);
    b.flow(from, to, transport, SourceSetup::Sized { bytes: 100_000 }, at(0.01));
    b.flow(from, to, transport, SourceSetup::Unlimited {}, at(0.2));
    b.setup
}

/// Multipath TCP with four subflows over two paths.
fn subflows() -> Setup {
    let transport = ndiffports(4);
    Thesis { paths: 2, clients: 2, transport, capacity: mbps(10), duration: DURATION }.build().setup
}

/// Everything an outcome says, to the last bit.
fn bytes(outcome: &Outcome) -> Vec<u8> {
    let mut bytes = Vec::new();
    for table in &outcome.tables {
        bytes.extend_from_slice(table.name.as_bytes());
        for (name, column) in &table.columns {
            bytes.extend_from_slice(name.as_bytes());
            match column {
                Column::Integers(values) => values.iter().for_each(|v| bytes.extend(v.to_le_bytes())),
                Column::Numbers(values) => {
                    values.iter().for_each(|v| bytes.extend(v.to_bits().to_le_bytes()))
                }
                Column::Texts(values) => values.iter().for_each(|v| bytes.extend_from_slice(v.as_bytes())),
                Column::Choices { names, places } => {
                    names.iter().for_each(|name| bytes.extend_from_slice(name.as_bytes()));
                    bytes.extend_from_slice(places);
                }
            }
        }
    }
    let Outcome { ended, interrupted, progress, jain_index, .. } = outcome;
    bytes.extend(format!("{ended:?} {interrupted} {progress:?} {jain_index:?}").into_bytes());
    bytes
}

fn simulation(setup: Setup) -> Simulation {
    let plan = plan(&setup);
    Simulation::new(setup, plan).expect("a valid setup")
}

fn go_on(simulation: &mut Simulation, until: Instant) {
    let reached = simulation.advance(until, |_| ControlFlow::Continue(())).expect("a step");
    assert_eq!(reached, ControlFlow::Continue(()));
    assert_eq!(simulation.now(), until.min(simulation.end()));
}

fn stepped(setup: Setup, steps: &[Step]) -> Outcome {
    let mut simulation = simulation(setup);
    for &step in steps {
        let now = simulation.now();
        let next = simulation.next_event();
        let until = match step {
            Step::Span(ps) => now + Span::from_ps(ps),
            Step::Zero => now,
            Step::NextEvent => next.unwrap_or(now),
            Step::BeforeNextEvent => {
                next.map_or(now, |next| Instant::from_ps(next.as_ps().saturating_sub(1))).max(now)
            }
        };
        go_on(&mut simulation, until);
        if let (Some(next), Step::BeforeNextEvent) = (next.filter(|&next| next > until), step) {
            assert_eq!(simulation.next_event(), Some(next), "nothing happens before the next event");
        }
    }
    let end = simulation.end();
    go_on(&mut simulation, end);
    assert_eq!(simulation.next_event(), None);
    simulation.finish().expect("a run")
}

/// Every setup with its bytes when it runs at once.
fn at_once() -> &'static [(String, Setup, Vec<u8>)] {
    static KNOWN: OnceLock<Vec<(String, Setup, Vec<u8>)>> = OnceLock::new();
    let of = |(name, setup): (String, Setup)| {
        let outcome = run(setup.clone());
        assert!(outcome.progress.events > 200, "{name} has {} events", outcome.progress.events);
        let bytes = bytes(&outcome);
        (name, setup, bytes)
    };
    KNOWN.get_or_init(|| setups().into_iter().map(of).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn steps_do_not_show(steps in steps()) {
        for (name, setup, expected) in at_once() {
            let tables = bytes(&stepped(setup.clone(), &steps));
            prop_assert!(tables == *expected, "{name}");
        }
    }
}

/// As many steps as there are instants with events, and then the other extreme: each twice.
#[test]
fn a_step_for_each_event_does_not_show() {
    for (name, setup, expected) in at_once() {
        let mut simulation = simulation(setup.clone());
        let mut steps = 0;
        while let Some(next) = simulation.next_event() {
            go_on(&mut simulation, next);
            go_on(&mut simulation, next);
            steps += 1;
        }
        let end = simulation.end();
        go_on(&mut simulation, end);
        assert!(steps > 100, "{name} has {steps} steps");
        assert!(bytes(&simulation.finish().expect("a run")) == *expected, "{name}");
    }
}

#[test]
fn time_does_not_go_back() {
    let mut simulation = simulation(lossy("cubic"));
    let (early, late) = (at(0.1), at(0.2));
    go_on(&mut simulation, late);
    let error = simulation.advance(early, |_| ControlFlow::Continue(())).expect_err("it is past");
    assert!(matches!(error, EngineError::Past { now, until } if (now, until) == (late, early)), "{error}");
    assert_eq!(error.to_string(), "the run is at 0.2 s and cannot go back to 0.1 s");
    assert_eq!(simulation.now(), late);
}

/// Reports come every 65,536 events of the run, not of the step; and a step that one of them has ended goes on.
#[test]
fn a_stopped_step_goes_on() {
    let mut b = two_hosts(mbps(1000), Span::from_us(10), 100, Span::from_secs(2));
    let tcp = b.transport("cubic");
    b.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Unlimited {}, Instant::ZERO);
    let mut reports = Vec::new();
    let expected = Simulation::new(b.setup.clone(), plan(&b.setup)).expect("a valid setup").run(|at| {
        reports.push(at);
        ControlFlow::Continue(())
    });
    assert!(reports.len() >= 3, "{reports:?}");
    let mut simulation = simulation(b.setup);
    let (mut times, end) = (Vec::new(), simulation.end());
    for step in 0.. {
        let until = if step % 2 == 0 { end } else { simulation.now() + Span::from_us(3) };
        let reached = simulation.advance(until, |at| {
            times.push(at);
            ControlFlow::Break(())
        });
        if reached.expect("a step").is_continue() && until == end {
            break;
        }
    }
    assert_eq!(times, reports);
    assert!(bytes(&simulation.finish().expect("a run")) == bytes(&expected.expect("a run")));
}

/// A run ends with the last byte of the last flow that can complete, and is that of this duration.
#[test]
fn a_run_until_all_is_done_is_one_of_that_duration() {
    let done = run(until_done());
    let [start, completion] = ["start_s", "completion_s"].map(|column| number(&done, "flows", column, 1));
    assert_eq!(picoseconds(start + completion), done.ended.as_ps());
    assert!(!done.interrupted);
    assert!(done.ended < Instant::ZERO + DURATION);
    let mut same = until_done();
    (same.until, same.duration) = (RunEnd::Duration, done.ended.since(Instant::ZERO));
    assert!(bytes(&run(same)) == bytes(&done));
}

/// What is finished early says so, and has the books of that moment.
#[test]
fn a_run_that_ends_early_is_interrupted() {
    let mut simulation = simulation(lossy("cubic"));
    go_on(&mut simulation, at(0.3));
    let outcome = simulation.finish().expect("a run");
    assert!(outcome.interrupted);
    assert_eq!(outcome.ended, at(0.3));
    let mut shorter = lossy("cubic");
    shorter.duration = Span::from_ms(300);
    let shorter = run(shorter);
    assert!(!shorter.interrupted);
    assert_eq!(
        integer(&outcome, "flows", "delivered_bytes", 0),
        integer(&shorter, "flows", "delivered_bytes", 0)
    );
}

/// New routes of a large network take a while. A step that ends in the middle of them has done none of them, and the
/// next step does all: the same bytes come out.
#[test]
fn routes_under_way_can_be_stopped() {
    let reacts_at = at(0.12);
    let expected = run(failures());
    let mut simulation = simulation(failures());
    for refused in 0..3 {
        let mut times = Vec::new();
        let reached = simulation.advance(reacts_at, |progress| {
            times.push(progress.now);
            ControlFlow::Break(())
        });
        assert!(reached.expect("a step").is_break(), "step {refused}");
        assert_eq!(times, [reacts_at]);
        assert_eq!(simulation.next_event(), Some(reacts_at));
    }
    let end = simulation.end();
    go_on(&mut simulation, end);
    assert!(bytes(&simulation.finish().expect("a run")) == bytes(&expected));
}
