//! A run on several cores gives the bytes of a run on one, wherever it is cut.

use crate::common::*;
use anabranch_engine::balancer::{
    FlowletParameters, PacketParameters, PacketRoundRobinParameters, SubflowRoundRobinParameters,
};
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::partition::{Cut, Undivided};
use anabranch_engine::records::{Column, Table};
use anabranch_engine::routing::{AdditiveMetric, EcmpScheme, Plan};
use anabranch_engine::setup::*;
use anabranch_engine::{EngineError, Outcome, Simulation};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use proptest::prelude::*;
use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const DURATION: Span = Span::from_ms(300);

/// The bytes of the numbers, so that NaN equals NaN and nothing is rounded.
pub fn bytes(tables: &[Table]) -> Vec<(&str, &str, Vec<u8>)> {
    let columns =
        tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table.name, column)));
    let all = columns.map(|(table, (name, column))| {
        let bytes = match column {
            Column::Integers(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Column::Numbers(values) => {
                values.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect()
            }
            Column::Texts(values) => values.iter().collect::<Vec<_>>().join("\n").into_bytes(),
            Column::Choices { names, places } => {
                let texts = places.iter().map(|&place| names[usize::from(place)]);
                texts.collect::<Vec<_>>().join("\n").into_bytes()
            }
        };
        (table, *name, bytes)
    });
    all.collect()
}

pub fn in_parts(setup: &Arc<Setup>, plan: &Arc<Plan>, cut: &Cut) -> Outcome {
    Simulation::run_in_parts(setup, plan, cut, |_| ControlFlow::Continue(())).expect("a run")
}

/// What a run has captured, file by file, and names of others for the next run.
fn captured(setup: &Setup) -> Vec<Vec<u8>> {
    let read = |capture: &CaptureSetup| {
        let bytes = std::fs::read(&capture.file).expect("a capture");
        std::fs::remove_file(&capture.file).expect("a file of this test");
        bytes
    };
    setup.captures.iter().map(read).collect()
}

/// The same by one thread, in turns: strides cost it no switch between threads, however short they are.
pub fn in_turns(setup: &Arc<Setup>, plan: &Arc<Plan>, cut: &Cut) -> Outcome {
    Simulation::critical_path(setup, plan, cut, || Duration::ZERO).expect("a run").0
}

/// How the parts of a run are run.
pub type InParts = fn(&Arc<Setup>, &Arc<Plan>, &Cut) -> Outcome;

/// Runs on one core and in parts, and compares all that comes back. Gives the packet hops.
fn compare(setup: Setup, parts: Vec<u32>) -> u64 {
    compare_with(setup, parts, in_parts)
}

pub fn compare_with(setup: Setup, parts: Vec<u32>, in_parts: InParts) -> u64 {
    let plan = Arc::new(plan(&setup));
    let setup = Arc::new(setup);
    let cut = Cut::new(&setup, parts).expect("a run that can be divided");
    let simulation = Simulation::new(Arc::clone(&setup), Arc::clone(&plan)).expect("a setup");
    let one = simulation.run(|_| ControlFlow::Continue(())).expect("a run");
    let captures = captured(&setup);
    let many = in_parts(&setup, &plan, &cut);
    assert!(captures == captured(&setup), "captures differ with {cut:?}");
    for (one, many) in bytes(&one.tables).into_iter().zip(bytes(&many.tables)) {
        assert_eq!((one.0, one.1), (many.0, many.1));
        assert!(one.2 == many.2, "column {} of {} differs with {cut:?}", one.1, one.0);
    }
    assert_eq!(one.tables.len(), many.tables.len());
    assert_eq!((one.ended, one.interrupted), (many.ended, many.interrupted));
    assert_eq!((one.jain_index, one.delivered_mbps), (many.jain_index, many.delivered_mbps));
    assert_eq!(one.packets_lost, many.packets_lost);
    assert_eq!(one.lost_captures, many.lost_captures);
    assert_eq!(one.progress.packet_hops, many.progress.packet_hops);
    one.progress.packet_hops
}

#[derive(Clone, Debug)]
pub struct Wan {
    /// Delay of each link of the ring, and of chords across, in microseconds; two of each kind of node.
    ring_us: Vec<u64>,
    chords: Vec<(usize, usize, u64)>,
    /// From, to, transport, source, start in milliseconds.
    flows: Vec<(usize, usize, usize, usize, u64)>,
    pub parts: Vec<u32>,
    /// Kind, place and time in milliseconds of changes.
    changes: Vec<(usize, usize, u64)>,
    /// From, to, whether it is a ping.
    datagrams: Vec<(usize, usize, bool)>,
    /// How long a host and a router take for a packet, in microseconds; 0 for no time.
    processing_us: (u64, u64),
    captures: bool,
    discipline: &'static str,
    spread: usize,
    loses: bool,
    jitters: bool,
    pub seed: u64,
}

const TRANSPORTS: [&str; 7] = ["cubic", "newreno", "bbr", "linux-cubic", "linux-bbr", "dctcp", "mptcp"];

/// So many parts of each run, in turn.
const COUNTS: [u32; 4] = [1, 2, 3, 8];

pub fn wans() -> impl Strategy<Value = Wan> {
    let disciplines = prop::sample::select(vec!["fifo", "codel", "fq-codel", "pie", "red"]);
    (3usize..9).prop_flat_map(move |nodes| {
        let flow = (0..nodes, 1..nodes, 0..TRANSPORTS.len(), 0usize..4, 0u64..200);
        let flow = flow.prop_map(move |(from, offset, transport, source, start)| {
            (from, (from + offset) % nodes, transport, source, start)
        });
        let datagrams = (0..nodes, 1..nodes, any::<bool>());
        let datagrams =
            datagrams.prop_map(move |(from, offset, pings)| (from, (from + offset) % nodes, pings));
        (
            prop::collection::vec(1u64..8_000, nodes),
            prop::collection::vec((0..nodes, 2..nodes, 1u64..8_000), 0..3),
            prop::collection::vec(flow, 1..12),
            (prop::collection::vec(0u32..8, nodes), prop::sample::select(COUNTS.to_vec())),
            (
                prop::collection::vec((0usize..9, 0..2 * nodes, 0u64..300), 0..6),
                prop::collection::vec(datagrams, 0..4),
                (prop_oneof![Just(0u64), 1u64..400], prop_oneof![Just(0u64), 1u64..100]),
                any::<bool>(),
            ),
            (disciplines.clone(), 0usize..4, any::<bool>(), any::<bool>(), 0u64..1000),
        )
            .prop_map(|(ring_us, chords, flows, (parts, count), more, kinds)| {
                let (changes, datagrams, processing_us, captures) = more;
                let (discipline, spread, loses, jitters, seed) = kinds;
                let parts = parts.into_iter().map(|part| part % count).collect();
                Wan {
                    ring_us,
                    chords,
                    flows,
                    parts,
                    changes,
                    datagrams,
                    processing_us,
                    captures,
                    discipline,
                    spread,
                    loses,
                    jitters,
                    seed,
                }
            })
    })
}

/// The parts, with what belongs together in one.
fn parts(wan: &Wan, setup: &Setup) -> Vec<u32> {
    let mut parts = wan.parts.clone();
    loop {
        match Cut::new(setup, parts.clone()) {
            Err(Undivided::Apart { one, other }) => {
                let place =
                    |name: &str| setup.nodes.iter().position(|node| node.name == name).expect("a node");
                let (one, other) = (parts[place(&one)], parts[place(&other)]);
                parts.iter_mut().filter(|part| **part == other).for_each(|part| *part = one);
            }
            _ => return parts,
        }
    }
}

/// A change of this kind.
fn change(setup: &Setup, kind: usize, place: usize) -> Change {
    let link = LinkId::from_index(place % setup.links.len());
    let links = vec![link, LinkId(link.0 ^ 1)];
    match kind {
        0 | 1 => Change::Links { links, up: false },
        2 => Change::Links { links, up: true },
        3 => {
            Change::Node { node: NodeId::from_index(place % setup.nodes.len()), up: place.is_multiple_of(2) }
        }
        4 => Change::Delay { links, delay: Span::from_us(500 + 700 * place as u64) },
        5 => Change::Capacity { links, capacity: mbps(5 + place as u64) },
        6 => Change::Loss { links, loss: LossSetup::Bernoulli(Bernoulli { probability: 0.05 }) },
        7 => Change::Silent { links },
        _ => Change::Queue { links, queue: queue("codel", 10) },
    }
}

pub fn build(wan: &Wan) -> Setup {
    let mut b = Builder::new(DURATION);
    let nodes: Vec<NodeId> = (0..wan.ring_us.len()).map(|index| b.node(&format!("router {index}"))).collect();
    let count = nodes.len();
    let ring = wan.ring_us.iter().enumerate().map(|(from, &us)| (from, 1, us));
    for (number, (from, offset, us)) in ring.chain(wan.chords.iter().copied()).enumerate() {
        let rate = mbps(if number % 3 == 0 { 10 } else { 40 });
        let first = b.link(nodes[from], nodes[(from + offset) % count], rate, Span::from_us(us), 25);
        for (direction, link) in b.setup.links[first..].iter_mut().enumerate() {
            link.name = format!("{}.{number}.{direction}", link.name).into();
            *link.queue = queue(wan.discipline, 25);
            if wan.loses && number % 2 == 0 {
                *link.loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
            }
            if wan.jitters && number % 2 == 1 {
                link.jitter = Some(Box::new(Variate::Exponential { mean: 1e8 }));
            }
        }
    }
    for name in TRANSPORTS.into_iter().take(TRANSPORTS.len() - 1) {
        b.transport(name);
    }
    b.protocol("mptcp", ndiffports(3));
    let (size, gap) = (Variate::Pareto { scale: 2_000.0, shape: 1.5 }, Variate::Exponential { mean: 1e10 });
    for &(from, to, transport, source, start) in &wan.flows {
        let source = match source {
            0 => SourceSetup::Sized { bytes: 40_000 },
            1 => SourceSetup::messages(size.clone(), gap.clone()),
            _ => SourceSetup::Unlimited {},
        };
        b.flow(nodes[from], nodes[to], transport, source, Instant::ZERO + Span::from_ms(start));
    }
    // The first flow stops, its receiver reads slowly, and its host sends trains; its sender keeps a log.
    b.setup.flows[0].stop = Some(at(0.2));
    let blocks = Some(BlockSetup { bytes: 20_000, interval: Span::from_ms(20) });
    b.setup.flows[0].reads = Some(Box::new(ReadingSetup { blocks, pause: None, resume: None }));
    add_ends(&mut b, wan, &nodes);
    b.setup.seed = wan.seed;
    b.setup.routing.scheme = Some(match wan.spread {
        0 => disjoint(2),
        _ => anabranch_engine::routing::Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Hops }),
    });
    if wan.seed.is_multiple_of(3) {
        // Some flows go by routes of their own.
        b.setup.routing.others =
            vec![Some(anabranch_engine::routing::Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Delay }))];
        b.setup.flows.iter_mut().step_by(2).for_each(|flow| flow.routing = 1);
    }
    b.setup.routing.load_balancing = match wan.spread {
        0 => LoadBalancing::Packet(PacketParameters {}),
        1 => LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters::default()),
        2 => LoadBalancing::Flowlet(FlowletParameters { gap: Span::from_us(500) }),
        _ => b.setup.routing.load_balancing,
    };
    sample(&mut b.setup, Span::from_ms(50));
    add_events(&mut b, wan);
    b.setup
}

/// What hosts and routers do, sequence numbers, pings and UDP.
fn add_ends(b: &mut Builder, wan: &Wan, nodes: &[NodeId]) {
    let offload = NonZeroU16::new(4).expect("segments");
    let takes = |us: u64| (us > 0).then_some(Variate::Exponential { mean: us as f64 * 1e6 });
    let (host, router) = (takes(wan.processing_us.0), takes(wan.processing_us.1));
    b.setup.hosts.push(HostSetup { node: b.setup.flows[0].from, offload, processing_delay: host });
    let passes = nodes[wan.ring_us.len() / 2];
    b.setup.routers.push(RouterSetup { node: passes, processing_delay: router, hash_seed: None });
    let is_tcp = |flow: &FlowSetup| flow.transport + 1 < TRANSPORTS.len();
    let watched = b.setup.flows.iter().enumerate().filter(|(_, flow)| is_tcp(flow)).take(2);
    b.setup.probes.sequences = watched.map(|(index, _)| FlowId::from_index(index)).collect();
    for &(from, to, pings) in &wan.datagrams {
        let source = match pings {
            true => DatagramSource::Ping { interval: Span::from_ms(7) },
            false => DatagramSource::Udp { rate: mbps(2) },
        };
        b.datagrams(nodes[from], nodes[to], source, 400);
    }
    b.setup.probes.log.push(FlowId(0));
}

/// Changes of the network, and captures.
fn add_events(b: &mut Builder, wan: &Wan) {
    let mut events: Vec<EventSetup> = wan
        .changes
        .iter()
        .map(|&(kind, place, ms)| EventSetup {
            at: Instant::ZERO + Span::from_ms(ms),
            change: change(&b.setup, kind, place),
        })
        .collect();
    events.sort_by_key(|event| event.at);
    b.setup.events = events;
    b.setup.routing.reaction = wan.seed.is_multiple_of(2).then_some(Span::from_ms(wan.seed % 40));
    if wan.captures {
        let file = |what| {
            let name = format!("anabranch-parallel-{}-{what}-{}.pcapng", std::process::id(), fresh());
            std::env::temp_dir().join(name).to_str().expect("a name").to_owned()
        };
        let points = [
            ("link", CapturePoint::Link { link: LinkId(2) }),
            ("host", CapturePoint::Host { host: b.setup.flows[0].to }),
        ];
        b.setup.captures =
            points.map(|(what, at)| CaptureSetup { file: file(what), at, snap_length: 96 }).into();
    }
}

/// Another number each time.
fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn wherever_it_is_cut(wan in wans()) {
        let setup = build(&wan);
        let parts = parts(&wan, &setup);
        compare_with(setup, parts, in_turns);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 20, ..ProptestConfig::with_cases(20) })]

    #[test]
    fn wherever_it_is_cut_with_threads(mut wan in wans()) {
        // Short strides take a busy machine seconds.
        wan.ring_us.iter_mut().for_each(|us| *us += 2_000);
        wan.chords.iter_mut().for_each(|chord| chord.2 += 2_000);
        wan.changes.retain(|change| change.0 != 4);
        let setup = build(&wan);
        let parts = parts(&wan, &setup);
        compare(setup, parts);
    }
}

/// Two clusters with a long link between them: as the search finds it, and many windows that all have packets.
pub fn two_clusters() -> Setup {
    let mut b = Builder::new(Span::from_secs(1));
    let nodes: Vec<NodeId> = (0..8).map(|index| b.node(&format!("router {index}"))).collect();
    for cluster in nodes.chunks(4) {
        for (place, &from) in cluster.iter().enumerate() {
            b.link(from, cluster[(place + 1) % 4], mbps(100), Span::from_us(50), 100);
        }
    }
    b.link(nodes[0], nodes[4], mbps(20), Span::from_ms(3), 100);
    let cubic = b.transport("cubic");
    for (from, to) in [(0, 2), (1, 3), (4, 6), (5, 7), (2, 6), (7, 3)] {
        b.flow(nodes[from], nodes[to], cubic, SourceSetup::Unlimited {}, Instant::ZERO);
    }
    b.setup
}

fn find(setup: &Setup, cores: usize) -> Result<Cut, Undivided> {
    Cut::find(setup, &setup.network().expect("a network"), &plan(setup), cores)
}

#[test]
fn the_cut_goes_through_the_long_link() {
    let setup = two_clusters();
    let cut = find(&setup, 2).expect("a cut");
    assert_eq!(cut.lookahead(), Span::from_ms(3));
    let first = cut.parts()[0];
    assert_eq!(
        cut.parts().iter().map(|&part| part == first).collect::<Vec<_>>(),
        [true, true, true, true, false, false, false, false]
    );
    assert_eq!(cut.links(&setup).count(), 2);
    let hops = compare(setup, cut.parts().to_vec());
    assert!(hops > 30_000, "{hops} packet hops are a run that says something");
}

/// A part without nodes has nobody to wait for, and parts without a link between them only keep pace.
#[test]
fn a_part_may_have_nothing() {
    let mut setup = two_clusters();
    compare(setup.clone(), vec![1; 8]);
    compare(setup.clone(), vec![0; 8]);
    compare(setup.clone(), vec![7; 8]);
    let last = setup.links.len() - 2;
    setup.links.truncate(last);
    setup.flows.truncate(4);
    compare(setup, vec![1, 1, 1, 1, 4, 4, 4, 4]);
}

/// More cores than nodes, and than the machine has.
#[test]
fn there_are_no_more_parts_than_nodes() {
    let setup = two_clusters();
    let cut = find(&setup, 1000).expect("a cut");
    assert!((2..=8).contains(&cut.count()), "{} parts of eight nodes", cut.count());
    compare(setup, (0..8).collect());
}

fn stopping_at(report: u32) -> (Outcome, u32) {
    let mut setup = two_clusters();
    sample(&mut setup, Span::from_ms(100));
    setup.events.push(EventSetup { at: at(0.05), change: change(&setup, 5, 0) });
    setup.duration = Span::from_secs(20);
    let (plan, setup) = (Arc::new(plan(&setup)), Arc::new(setup));
    let cut = Cut::new(&setup, vec![0, 0, 1, 1, 2, 2, 3, 3]).expect("a cut");
    let mut reports = 0;
    let stop = |_| {
        reports += 1;
        if reports == report { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let outcome = Simulation::run_in_parts(&setup, &plan, &cut, stop).expect("books that balance");
    (outcome, reports)
}

#[test]
fn a_run_that_is_stopped_ends_at_one_time() {
    for report in [1, 2, 5] {
        let (outcome, reports) = stopping_at(report);
        assert!(outcome.interrupted && outcome.ended < at(20.0));
        assert_eq!(reports, report);
    }
}

/// The first part has nothing to do, and still hears that the run is to stop.
#[test]
fn a_part_that_waits_hears_of_a_stop() {
    let mut setup = two_clusters();
    setup.flows.retain(|flow| flow.from.index() >= 4 && flow.to.index() >= 4);
    setup.duration = Span::from_secs(40);
    let (plan, setup) = (Arc::new(plan(&setup)), Arc::new(setup));
    let cut = Cut::new(&setup, vec![0, 0, 0, 0, 1, 1, 1, 1]).expect("a cut");
    let outcome = Simulation::run_in_parts(&setup, &plan, &cut, |_| ControlFlow::Break(())).expect("a run");
    assert!(outcome.interrupted && outcome.ended < at(40.0));
}

#[test]
fn the_critical_path_is_between_the_largest_part_and_all_work() {
    let setup = two_clusters();
    let (plan, setup) = (Arc::new(plan(&setup)), Arc::new(setup));
    let cut = Cut::new(&setup, vec![0, 0, 1, 1, 2, 2, 3, 3]).expect("a cut");
    // A clock that goes on by a microsecond each second time that it is asked, and takes no time itself.
    let mut readings = 0;
    let clock = || {
        readings += 1;
        Duration::from_micros(readings / 2)
    };
    let (outcome, path) = Simulation::critical_path(&setup, &plan, &cut, clock).expect("a run");
    assert!(bytes(&outcome.tables) == bytes(&in_parts(&setup, &plan, &cut).tables));
    assert_eq!(path.work, Duration::from_micros(path.strides));
    assert!(path.largest <= path.longest && path.longest < path.work, "{path:?}");
}

/// A part that panics takes the others with it, which would wait for it.
#[test]
#[should_panic = "a bug in what hears of it"]
fn a_part_that_panics_ends_the_run() {
    let setup = two_clusters();
    let (plan, setup) = (Arc::new(plan(&setup)), Arc::new(setup));
    let cut = Cut::new(&setup, vec![0, 0, 1, 1, 2, 2, 3, 3]).expect("a cut");
    let _ = Simulation::run_in_parts(&setup, &plan, &cut, |_| panic!("a bug in what hears of it"));
}

#[test]
fn a_wrong_setup_is_an_error_as_on_one_core() {
    let setup = two_clusters();
    let (plan, cut) = (Arc::new(plan(&setup)), find(&setup, 2).expect("a cut"));
    let mut wrong = setup;
    wrong.duration = Span::ZERO;
    let outcome = Simulation::run_in_parts(&Arc::new(wrong), &plan, &cut, |_| ControlFlow::Continue(()));
    assert!(matches!(outcome, Err(EngineError::Setup(_))));
}

/// What makes a run one that cannot be divided.
type Spoil = fn(&mut Setup);

#[test]
fn what_cannot_be_divided_says_why() {
    let cases: [(Undivided, Spoil); 4] = [
        (Undivided::EndsWhenDone, |setup| setup.until = RunEnd::Done),
        (Undivided::LoadBalancing, |setup| {
            let parameters = SubflowRoundRobinParameters { idle_timeout: None };
            setup.routing.load_balancing = LoadBalancing::SubflowRoundRobin(parameters);
        }),
        (Undivided::NoLookahead, |setup| {
            setup.links.iter_mut().for_each(|link| link.delay = Span::ZERO);
        }),
        // The delays of all links are none for a while.
        (Undivided::NoLookahead, |setup| {
            let links = (0..setup.links.len()).map(LinkId::from_index).collect();
            setup.events.push(EventSetup { at: at(0.5), change: Change::Delay { links, delay: Span::ZERO } });
        }),
    ];
    for (reason, spoil) in cases {
        let mut setup = two_clusters();
        spoil(&mut setup);
        assert_eq!(find(&setup, 2), Err(reason));
    }
}

/// Both ends of a connection of Multipath TCP are in one part.
#[test]
fn ends_that_look_at_each_other_stay_together() {
    let mut b = Builder::of(two_clusters());
    let mptcp = b.protocol("mptcp", ndiffports(2));
    b.flow(NodeId(1), NodeId(2), mptcp, SourceSetup::Unlimited {}, Instant::ZERO);
    let apart = Undivided::Apart { one: "router 1".into(), other: "router 2".into() };
    assert_eq!(Cut::new(&b.setup, (0..8).collect()), Err(apart));
    let cut = find(&b.setup, 4).expect("a cut");
    assert_eq!(cut.parts()[1], cut.parts()[2]);
    compare(b.setup, cut.parts().to_vec());
}

/// All packets go through one node, which one part must have.
#[test]
fn a_star_is_not_worth_a_cut() {
    let mut b = Builder::new(Span::from_secs(1));
    let hub = b.node("hub");
    let cubic = b.transport("cubic");
    for index in 0..2 {
        let leaf = b.node(&format!("leaf {index}"));
        b.link(hub, leaf, mbps(100), Span::from_us(1), 100);
        b.flow(leaf, hub, cubic, SourceSetup::Unlimited {}, Instant::ZERO);
    }
    let cut = find(&b.setup, 2);
    let Err(Undivided::NoGain { speed_up, lookahead }) = cut else { panic!("{cut:?}") };
    assert!(speed_up < 1.3, "{speed_up}");
    assert_eq!(lookahead, Span::from_us(1));
}

/// FQ-CoDel hashes numbers of flows (RFC 8290, section 4.1.2), and a part numbers its own: in this network two flows share a
/// queue by one numbering and not by the other.
#[test]
fn flows_are_hashed_by_their_numbers_in_the_whole_run() {
    let wan = Wan {
        ring_us: vec![26, 1378, 398, 262, 442, 289, 896],
        chords: vec![],
        flows: vec![
            (0, 4, 0, 0, 47),
            (6, 3, 2, 2, 170),
            (0, 1, 2, 3, 129),
            (3, 5, 2, 2, 86),
            (2, 4, 6, 1, 64),
        ],
        parts: vec![5, 3, 2, 6, 1, 2, 2],
        changes: vec![],
        datagrams: vec![(2, 3, true), (4, 6, false), (6, 2, false)],
        processing_us: (382, 0),
        captures: false,
        discipline: "fq-codel",
        spread: 0,
        loses: true,
        jitters: true,
        seed: 756,
    };
    let setup = build(&wan);
    let parts = parts(&wan, &setup);
    assert!(compare_with(setup, parts, in_turns) > 1_000);
}

/// CoDel drops what has waited too long when a link is brought forward (RFC 8289), which parts do before a sample of what is lost.
#[test]
fn losses_are_sampled_when_all_links_are_brought_forward() {
    let wan = Wan {
        ring_us: vec![2_621, 2_003, 5_421],
        chords: vec![(2, 2, 4_606)],
        flows: vec![
            (2, 0, 2, 1, 47),
            (1, 0, 0, 0, 83),
            (1, 2, 1, 3, 186),
            (1, 0, 3, 1, 165),
            (1, 2, 6, 1, 93),
            (0, 1, 0, 3, 162),
            (1, 2, 3, 1, 117),
            (1, 0, 1, 2, 130),
            (1, 0, 4, 0, 14),
            (0, 1, 3, 1, 107),
        ],
        parts: vec![7, 3, 4],
        changes: vec![(6, 1, 75), (3, 5, 49), (1, 4, 189), (1, 3, 20)],
        datagrams: vec![(2, 0, true), (2, 0, false), (1, 0, false)],
        processing_us: (0, 0),
        captures: false,
        discipline: "codel",
        spread: 3,
        loses: true,
        jitters: true,
        seed: 691,
    };
    let setup = build(&wan);
    let parts = parts(&wan, &setup);
    assert!(compare_with(setup, parts, in_turns) > 100);
}
