//! No setup, however mangled, makes the engine panic: it is refused, or it runs.
//!
//! A good setup and its plan are taken as JSON, and a few of their values are replaced, removed or
//! copied from elsewhere in the document.

use crate::common::*;
use crate::document::{Fate, try_to_run};
use anabranch_engine::balancer::FlowletParameters;
use anabranch_engine::control::applications::{ForwardingParameters, PacedParameters, WindowClampParameters};
use anabranch_engine::loss::{Bernoulli, GilbertElliott};
use anabranch_engine::routing::Metric;
use anabranch_engine::setup::*;
use anabranch_engine::transport::{PRESETS, TransportConfig, preset};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;

/// A setup with at least one of everything.
fn everything() -> Value {
    let mut b = parallel_paths(mbps(10), &[4, 6, 9], 20, Span::from_ms(400));
    let (from, to) = (NodeId(0), NodeId(1));
    let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).filter(|name| !is_sprayed(name)).collect();
    for name in &names {
        b.transport(name);
    }
    let size = Variate::Pareto { scale: 800.0, shape: 1.4 };
    let gap = Variate::Empirical { values: vec![1e9, 5e9], weights: vec![1.0, 2.0] };
    let messages = SourceSetup::messages(size, gap);
    let sources = [SourceSetup::Unlimited {}, SourceSetup::Sized { bytes: 40_000 }, messages];
    for transport in 0..names.len() {
        let source = sources[transport % 3].clone();
        b.flow(from, to, transport, source, Instant::ZERO + Span::from_ms(transport as u64));
    }
    b.flow(to, NodeId(3), 3, SourceSetup::Unlimited {}, Instant::ZERO);
    b.setup.flows[2].stop = Some(at(0.2));
    b.datagrams(from, to, DatagramSource::Ping { interval: Span::from_ms(3) }, 84);
    b.datagrams(to, from, DatagramSource::Udp { rate: mbps(1) }, 1_000);
    b.setup.datagrams[1].stop = Some(at(0.2));
    let links = &mut b.setup.links;
    *links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
    *links[4].loss = LossSetup::GilbertElliott(GilbertElliott {
        to_bad: 0.01,
        to_good: 0.2,
        loss_good: 0.001,
        loss_bad: 0.4,
    });
    links[1].jitter = Some(Box::new(Variate::Gaussian { mean: 1e8, standard_deviation: 1e8 }));
    links[4].jitter = Some(Box::new(Variate::LogNormal { mean: 1e8, standard_deviation: 1e8 }));
    // Every discipline, from the first link of the first path on; there are 12 links.
    for (link, name) in links.iter_mut().zip(Discipline::NAMES) {
        *link.queue = queue(name, 20);
    }
    links[11].queue.limit = Limit { packets: None, bytes: Some(30_000) };
    b.setup.routing.scheme = Some(disjoint(3));
    b.setup.routing.load_balancing = LoadBalancing::Flowlet(FlowletParameters { gap: Span::from_ms(1) });
    b.setup.routing.reaction = Some(Span::from_ms(30));
    let links = vec![LinkId(0), LinkId(1)];
    let loss = LossSetup::Bernoulli(Bernoulli { probability: 0.2 });
    let changes = [
        Change::Links { links: links.clone(), up: false },
        Change::Capacity { links: vec![LinkId(4)], capacity: mbps(3) },
        Change::Node { node: NodeId(3), up: false },
        Change::Delay { links: vec![LinkId(8)], delay: Span::from_ms(1) },
        Change::Links { links: links.clone(), up: true },
        Change::Loss { links, loss },
        Change::Queue { links: vec![LinkId(0), LinkId(8)], queue: packets(3) },
        // linux-mptcp is a full mesh.
        Change::Backup { link: LinkId(4), backup: true },
        Change::Address { link: LinkId(0), up: false },
        Change::Address { link: LinkId(0), up: true },
    ];
    for (index, change) in changes.into_iter().enumerate() {
        b.setup.events.push(EventSetup { at: at(0.03 * (index + 1) as f64), change });
    }
    sample(&mut b.setup, Span::from_ms(20));
    let plan = plan(&b.setup);
    json!({ "setup": b.setup, "plan": plan })
}

/// Whether a preset sprays, which probes, captures and controllers do not take.
fn is_sprayed(name: &str) -> bool {
    matches!(preset(name), Some(TransportConfig::Spray(_)))
}

/// Sprayed flows over four paths with queues that trim, of which one waits for another, a failure and random loss.
fn sprayed() -> Value {
    let mut b = parallel_paths(mbps(10), &[4, 6, 9, 5], 20, Span::from_ms(400));
    let (from, to) = (NodeId(0), NodeId(1));
    let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).filter(|name| is_sprayed(name)).collect();
    assert!(names.len() >= 3);
    for name in names {
        let transport = b.transport(name);
        let start = Instant::ZERO + Span::from_ms(transport as u64);
        b.flow(from, to, transport, SourceSetup::Sized { bytes: 60_000 }, start);
        b.flow(to, from, transport, SourceSetup::Sized { bytes: 9_000 }, start);
    }
    b.setup.waits.push(WaitSetup {
        flow: FlowId(3),
        after: vec![FlowId(0), FlowId(1)],
        delay: Span::from_ms(1),
    });
    for link in &mut b.setup.links {
        *link.queue = queue("trim", 8);
    }
    *b.setup.links[2].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.05 });
    b.setup.routing.scheme = Some(disjoint(4));
    b.setup.routing.reaction = Some(Span::from_ms(30));
    let links = vec![LinkId(0), LinkId(1)];
    for (index, up) in [false, true].into_iter().enumerate() {
        let change = Change::Links { links: links.clone(), up };
        b.setup.events.push(EventSetup { at: at(0.05 * (index + 1) as f64), change });
    }
    sample(&mut b.setup, Span::from_ms(20));
    let plan = plan(&b.setup);
    json!({ "setup": b.setup, "plan": plan })
}

/// A setup with a controller: four switches in a ring, hosts (one of them with two links), ends of flows that are
/// switches, small tables with time-outs, losses, and failures of links, a switch and the controller.
fn governed(application: ApplicationSetup, channel: Channel, when_full: WhenFull) -> Value {
    let mut b = Builder::new(Span::from_ms(300));
    let switches: Vec<NodeId> = (0..4).map(|n| b.node(&format!("switch {n}"))).collect();
    let hosts: Vec<NodeId> = (0..3).map(|n| b.node(&format!("host {n}"))).collect();
    let node = b.node("controller");
    for n in 0..4 {
        b.link(switches[n], switches[(n + 1) % 4], mbps(10), Span::from_ms(1), 50);
        b.link(node, switches[n], mbps(100), Span::from_us(100 + n as u64), 50);
    }
    for (host, switch) in [(0, 0), (1, 2), (2, 1), (0, 3)] {
        b.link(hosts[host], switches[switch], mbps(20), Span::from_us(10), 50);
    }
    // A controller is refused for flows of several subflows, and for those that choose their paths.
    let presets = PRESETS.iter().filter(|(name, _)| !name.contains("mptcp") && !is_sprayed(name));
    let transports: Vec<usize> = presets.map(|(name, _)| b.transport(name)).collect();
    assert!(transports.len() > 10);
    let ends =
        [(hosts[0], hosts[1]), (hosts[1], hosts[0]), (switches[1], switches[3]), (hosts[2], switches[2])];
    for transport in transports {
        let (from, to) = ends[transport % 4];
        let start = Instant::ZERO + Span::from_ms(transport as u64);
        b.flow(from, to, transport, SourceSetup::Sized { bytes: 30_000 }, start);
    }
    let gap = Variate::Constant { value: 4e10 };
    let pauses = SourceSetup::messages(Variate::Constant { value: 3000.0 }, gap);
    b.flow(hosts[2], hosts[1], 0, pauses, Instant::ZERO);
    *b.setup.links[2].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.1 });
    b.setup.routing.reaction = Some(Span::from_ms(5));
    let changes = [
        Change::Links { links: vec![LinkId(0), LinkId(1)], up: false },
        Change::Node { node: switches[2], up: false },
        Change::Node { node, up: false },
        Change::Capacity { links: vec![LinkId(2)], capacity: mbps(1) },
        Change::Node { node: switches[2], up: true },
        Change::Node { node, up: true },
    ];
    for (index, change) in changes.into_iter().enumerate() {
        b.setup.events.push(EventSetup { at: at(0.04 * (index + 1) as f64), change });
    }
    b.setup.probes.sequences = vec![FlowId(0), FlowId(2)];
    b.setup.controller = Some(ControllerSetup {
        node,
        switches,
        channel,
        application,
        metric: Metric::Delay,
        flow_metrics: Vec::new(),
        table: FlowTableSetup {
            size: Some(12),
            when_full,
            idle_timeout: Some(Span::from_ms(25)),
            hard_timeout: Some(Span::from_ms(60)),
        },
        linger: Span::from_ms(3),
        processing_delay: None,
        statistics_interval: Some(Span::from_ms(7)),
    });
    let plan = plan(&b.setup);
    json!({ "setup": b.setup, "plan": plan })
}

/// Each application with a controller, over both kinds of channels.
fn all_governed() -> Vec<Value> {
    let paced = |schedule| {
        ApplicationSetup::SdnPaced(PacedParameters { alpha: 0.9, beta: 1.5, gamma: 1.2, schedule })
    };
    vec![
        governed(ApplicationSetup::Forwarding(ForwardingParameters {}), Channel::InBand, WhenFull::Evict),
        governed(paced(PacedSchedule::Published), Channel::Apart, WhenFull::Refuse),
        governed(paced(PacedSchedule::Stretched), Channel::InBand, WhenFull::Evict),
        governed(
            ApplicationSetup::WindowClamp(WindowClampParameters { share: 1.0 }),
            Channel::Apart,
            WhenFull::Refuse,
        ),
    ]
}

/// Every value of a document, as JSON pointers (RFC 6901).
fn places(value: &Value, prefix: &str, pointers: &mut Vec<String>) {
    pointers.push(prefix.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| places(member, &format!("{prefix}/{key}"), pointers));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| places(item, &format!("{prefix}/{index}"), pointers));
        }
        _ => {}
    }
}

#[derive(Clone, Debug)]
enum Mutation {
    /// A number by one of its own kind, so that the document stays readable.
    Number(u64, f64),
    Scale(f64),
    Replace(Value),
    Remove,
    Duplicate,
    CopyFrom(prop::sample::Index),
}

impl Mutation {
    fn keeps_kind(&self) -> bool {
        matches!(self, Self::Number(..) | Self::Scale(_))
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let month = 30 * 24 * 3600 * 1_000_000_000_000;
    let integers = vec![0, 1, 2, 64, 65_535, u64::from(u32::MAX), 1 << 60, month, month + 1, u64::MAX];
    let floats = vec![0.0, 1.0, -0.25, 1e-300, 1e300, 0.5, 1.0 + f64::EPSILON, f64::MIN_POSITIVE];
    let others = vec![json!(null), json!(true), json!(""), json!([]), json!({}), json!(-1), json!(0.5)];
    let integer = prop_oneof![prop::sample::select(integers), 0u64..14, any::<u64>()];
    let float = prop_oneof![prop::sample::select(floats), any::<f64>(), -0.1..1.1f64];
    prop_oneof![
        8 => (integer, float).prop_map(|(integer, float)| Mutation::Number(integer, float)),
        4 => (-6.0..6.0f64).prop_map(|exponent| Mutation::Scale(10f64.powf(exponent))),
        1 => prop::sample::select(others).prop_map(Mutation::Replace),
        1 => Just(Mutation::Remove),
        2 => Just(Mutation::Duplicate),
        3 => any::<prop::sample::Index>().prop_map(Mutation::CopyFrom),
    ]
}

fn apply(document: &mut Value, place: prop::sample::Index, mutation: &Mutation) {
    let mut all = Vec::new();
    places(document, "", &mut all);
    if mutation.keeps_kind() {
        all.retain(|pointer| document.pointer(pointer).is_some_and(Value::is_number));
    }
    if all.is_empty() {
        return;
    }
    let pointer = place.get(&all).clone();
    match mutation {
        Mutation::Number(integer, float) => {
            let whole = document.pointer(&pointer).is_some_and(Value::is_u64);
            replace(document, &pointer, if whole { json!(integer) } else { json!(float) });
        }
        Mutation::Replace(value) => replace(document, &pointer, value.clone()),
        Mutation::Scale(factor) => {
            let scaled = match document.pointer(&pointer) {
                Some(Value::Number(number)) if number.is_u64() => {
                    json!((number.as_f64().unwrap_or(0.0) * factor) as u64)
                }
                Some(Value::Number(number)) => json!(number.as_f64().unwrap_or(0.0) * factor),
                _ => return,
            };
            replace(document, &pointer, scaled);
        }
        Mutation::CopyFrom(other) => {
            let copy = document.pointer(other.get(&all).as_str()).cloned().unwrap_or(Value::Null);
            replace(document, &pointer, copy);
        }
        Mutation::Remove | Mutation::Duplicate => {
            let Some((parent, last)) = pointer.rsplit_once('/') else { return };
            match document.pointer_mut(parent) {
                Some(Value::Object(members)) => drop(members.remove(last)),
                Some(Value::Array(items)) => {
                    let index: usize = last.parse().expect("an index");
                    if matches!(mutation, Mutation::Duplicate) {
                        items.push(items[index].clone());
                    } else {
                        items.remove(index);
                    }
                }
                _ => {}
            }
        }
    }
}

fn replace(document: &mut Value, pointer: &str, value: Value) {
    if let Some(old) = document.pointer_mut(pointer) {
        *old = value;
    }
}

#[test]
fn the_setup_that_is_mangled_is_a_good_one() {
    assert_eq!(try_to_run(everything()), Fate::Ran);
    assert_eq!(try_to_run(sprayed()), Fate::Ran);
    for document in all_governed() {
        assert_eq!(try_to_run(document), Fate::Ran);
    }
    let mut all = Vec::new();
    places(&everything(), "", &mut all);
    assert!(all.len() > 500, "{} values to mangle", all.len());
}

#[test]
fn a_mangled_setup_is_refused_or_runs() {
    mangle(&[everything()], 1_500);
}

#[test]
fn a_mangled_setup_of_sprayed_flows_is_refused_or_runs() {
    mangle(&[sprayed()], 1_500);
}

#[test]
fn a_mangled_setup_with_a_controller_is_refused_or_runs() {
    mangle(&all_governed(), 2_000);
}

/// Runs documents of which a few values have been mangled.
fn mangle(originals: &[Value], least_cases: u32) {
    let fates = [Cell::new(0), Cell::new(0), Cell::new(0)];
    // PROPTEST_CASES asks for more.
    let cases = ProptestConfig::default().cases.max(least_cases);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mutations = prop::collection::vec((any::<prop::sample::Index>(), mutation()), 1..4);
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let originals = (0..originals.len()).prop_map(|which| originals[which].clone());
    let result = runner.run(&(originals, mutations), |(mut document, mutations)| {
        mutations.iter().for_each(|(place, mutation)| apply(&mut document, *place, mutation));
        let counter = &fates[try_to_run(document) as usize];
        counter.set(counter.get() + 1);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let [unreadable, refused, ran] = fates.map(Cell::into_inner);
    println!("{unreadable} unreadable, {refused} refused, {ran} ran");
    assert!(refused > 20 && ran > 200, "the mangling reaches both: {refused} refused, {ran} ran");
}

/// Gives the fuzz target `setup` a document to start from.
#[test]
#[ignore = "writes into the corpus of the fuzz target"]
fn write_the_seed_of_the_fuzz_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checks/fuzz/corpus/setup");
    std::fs::create_dir_all(&folder).expect("a folder for the corpus");
    let documents = [everything(), sprayed()].into_iter().chain(all_governed());
    for (number, document) in documents.enumerate() {
        let file = folder.join(format!("everything-{number}.json"));
        std::fs::write(&file, document.to_string()).expect("a file that can be written");
        let text = std::fs::read(&file).expect("it is there");
        assert_eq!(try_to_run(serde_json::from_slice(&text).expect("JSON")), Fate::Ran);
    }
}
