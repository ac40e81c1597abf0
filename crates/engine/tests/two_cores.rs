//! A run on two cores gives the bytes of a run on one, wherever it is cut.

use crate::common::*;
use anabranch_engine::balancer::{PacketParameters, PacketRoundRobinParameters, SubflowRoundRobinParameters};
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::partition::{Cut, Undivided};
use anabranch_engine::records::{Column, Table};
use anabranch_engine::routing::{AdditiveMetric, EcmpScheme, Plan};
use anabranch_engine::setup::*;
use anabranch_engine::{EngineError, Outcome, Simulation};
use anabranch_units::{FlowId, Instant, NodeId, Span};
use proptest::prelude::*;
use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::Arc;

const DURATION: Span = Span::from_ms(300);

/// The bytes of the numbers, so that NaN equals NaN and nothing is rounded.
fn bytes(tables: &[Table]) -> Vec<(&str, &str, Vec<u8>)> {
    let columns =
        tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table.name, column)));
    let all = columns.map(|(table, (name, column))| {
        let bytes = match column {
            Column::Integers(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Column::Numbers(values) => {
                values.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect()
            }
            Column::Texts(values) => values.join("\n").into_bytes(),
            Column::Choices { names, places } => {
                let texts = places.iter().map(|&place| names[usize::from(place)]);
                texts.collect::<Vec<_>>().join("\n").into_bytes()
            }
        };
        (table, *name, bytes)
    });
    all.collect()
}

fn in_two(setup: &Arc<Setup>, plan: &Arc<Plan>, cut: &Cut) -> Outcome {
    Simulation::run_on_two_cores(setup, plan, cut, |_| ControlFlow::Continue(())).expect("a run")
}

/// Runs on one core and on two, and compares all that comes back. Gives the packet hops.
fn compare(setup: Setup, sides: Vec<bool>) -> u64 {
    let plan = Arc::new(plan(&setup));
    let setup = Arc::new(setup);
    let cut = Cut::new(&setup, sides).expect("a run that can be divided");
    let simulation = Simulation::new(Arc::clone(&setup), Arc::clone(&plan)).expect("a setup");
    let one = simulation.run(|_| ControlFlow::Continue(())).expect("a run");
    let two = in_two(&setup, &plan, &cut);
    for (one, two) in bytes(&one.tables).into_iter().zip(bytes(&two.tables)) {
        assert_eq!((one.0, one.1), (two.0, two.1));
        assert!(one.2 == two.2, "column {} of {} differs with {cut:?}", one.1, one.0);
    }
    assert_eq!(one.tables.len(), two.tables.len());
    assert_eq!((one.ended, one.interrupted), (two.ended, two.interrupted));
    assert_eq!((one.jain_index, one.delivered_mbps), (two.jain_index, two.delivered_mbps));
    assert_eq!(one.progress.packet_hops, two.progress.packet_hops);
    one.progress.packet_hops
}

#[derive(Clone, Debug)]
struct Wan {
    /// Delay of each link of the ring, and of chords across, in microseconds; two of each kind of node.
    ring_us: Vec<u64>,
    chords: Vec<(usize, usize, u64)>,
    /// From, to, transport, source, start in milliseconds.
    flows: Vec<(usize, usize, usize, usize, u64)>,
    sides: Vec<bool>,
    discipline: &'static str,
    spread: usize,
    loses: bool,
    jitters: bool,
    seed: u64,
}

const TRANSPORTS: [&str; 6] = ["cubic", "newreno", "bbr", "linux-cubic", "linux-bbr", "dctcp"];

fn wans() -> impl Strategy<Value = Wan> {
    let disciplines = prop::sample::select(vec!["fifo", "codel", "fq-codel", "pie", "red"]);
    (3usize..9).prop_flat_map(move |nodes| {
        let flow = (0..nodes, 1..nodes, 0..TRANSPORTS.len(), 0usize..4, 0u64..200);
        let flow = flow.prop_map(move |(from, offset, transport, source, start)| {
            (from, (from + offset) % nodes, transport, source, start)
        });
        (
            prop::collection::vec(1u64..8_000, nodes),
            prop::collection::vec((0..nodes, 2..nodes, 1u64..8_000), 0..3),
            prop::collection::vec(flow, 1..12),
            prop::collection::vec(any::<bool>(), nodes),
            (disciplines.clone(), 0usize..3, any::<bool>(), any::<bool>(), 0u64..1000),
        )
            .prop_map(
                |(ring_us, chords, flows, sides, (discipline, spread, loses, jitters, seed))| Wan {
                    ring_us,
                    chords,
                    flows,
                    sides,
                    discipline,
                    spread,
                    loses,
                    jitters,
                    seed,
                },
            )
    })
}

fn build(wan: &Wan) -> Setup {
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
    for name in TRANSPORTS {
        b.transport(name);
    }
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
    let offload = NonZeroU16::new(4).expect("segments");
    b.setup.hosts.push(HostSetup { node: b.setup.flows[0].from, offload, processing_delay: None });
    b.setup.probes.log.push(FlowId(0));
    b.setup.seed = wan.seed;
    b.setup.routing.scheme = Some(match wan.spread {
        0 => disjoint(2),
        _ => anabranch_engine::routing::Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Hops }),
    });
    b.setup.routing.load_balancing = match wan.spread {
        0 => LoadBalancing::Packet(PacketParameters {}),
        1 => LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters {}),
        _ => b.setup.routing.load_balancing,
    };
    sample(&mut b.setup, Span::from_ms(50));
    b.setup
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn wherever_it_is_cut(wan in wans()) {
        compare(build(&wan), wan.sides.clone());
    }
}

/// Two clusters with a long link between them: as the search finds it, and many windows that all have packets.
fn two_clusters() -> Setup {
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

fn find(setup: &Setup) -> Result<Cut, Undivided> {
    Cut::find(setup, &setup.network().expect("a network"), &plan(setup))
}

#[test]
fn the_cut_goes_through_the_long_link() {
    let setup = two_clusters();
    let cut = find(&setup).expect("a cut");
    assert_eq!(cut.lookahead(), Span::from_ps(3_000_000_000 - 1));
    assert_eq!(
        cut.sides().iter().map(|&side| side == cut.sides()[0]).collect::<Vec<_>>(),
        [true, true, true, true, false, false, false, false]
    );
    assert!(cut.links(&setup).iter().all(|links| links.len() == 1));
    let hops = compare(setup, cut.sides().to_vec());
    assert!(hops > 30_000, "{hops} packet hops are a run that says something");
}

/// With one half empty there is nobody to wait for.
#[test]
fn one_half_may_have_nothing() {
    let setup = two_clusters();
    compare(setup.clone(), vec![true; 8]);
    compare(setup, vec![false; 8]);
}

#[test]
fn a_run_that_is_stopped_ends_at_one_time() {
    let mut setup = two_clusters();
    sample(&mut setup, Span::from_ms(100));
    setup.duration = Span::from_secs(20);
    let (plan, setup) = (Arc::new(plan(&setup)), Arc::new(setup));
    let cut = find(&setup).expect("a cut");
    let mut reports = 0;
    let stop = |_| {
        reports += 1;
        if reports == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let outcome = Simulation::run_on_two_cores(&setup, &plan, &cut, stop).expect("books that balance");
    assert!(outcome.interrupted && outcome.ended < at(20.0));
    assert_eq!(reports, 2);
}

#[test]
fn a_wrong_setup_is_an_error_as_on_one_core() {
    let setup = two_clusters();
    let (plan, cut) = (Arc::new(plan(&setup)), find(&setup).expect("a cut"));
    let mut wrong = setup;
    wrong.duration = Span::ZERO;
    let outcome = Simulation::run_on_two_cores(&Arc::new(wrong), &plan, &cut, |_| ControlFlow::Continue(()));
    assert!(matches!(outcome, Err(EngineError::Setup(_))));
}

/// What makes a run one that cannot be divided; a change is at hand.
type Spoil = fn(&mut Setup, Change);

#[test]
fn what_cannot_be_divided_says_why() {
    let change = Change::Delay { links: vec![], delay: Span::from_ms(1) };
    let cases: [(Undivided, Spoil); 8] = [
        (Undivided::Changes, |setup, change| setup.events.push(EventSetup { at: at(0.1), change })),
        (Undivided::EndsWhenDone, |setup, _| setup.until = RunEnd::Done),
        (Undivided::Captures, |setup, _| {
            let (file, at) = ("x.pcapng".into(), CapturePoint::Host { host: NodeId(0) });
            setup.captures.push(CaptureSetup { file, at, snap_length: 0 });
        }),
        (Undivided::Sequences, |setup, _| setup.probes.sequences.push(FlowId(0))),
        (Undivided::Processing, |setup, _| {
            let processing_delay = Variate::Constant { value: 1.0 };
            setup.routers.push(RouterSetup {
                node: NodeId(0),
                processing_delay: Some(processing_delay),
                hash_seed: None,
            });
        }),
        (Undivided::LoadBalancing, |setup, _| {
            let parameters = SubflowRoundRobinParameters { idle_timeout: None };
            setup.routing.load_balancing = LoadBalancing::SubflowRoundRobin(parameters);
        }),
        (Undivided::Transport("mptcp".into()), |setup, _| {
            setup.transports.push(TransportSetup { name: "mptcp".into(), config: ndiffports(2) });
        }),
        (Undivided::NoLookahead, |setup, _| {
            setup.links.iter_mut().for_each(|link| link.delay = Span::ZERO);
        }),
    ];
    for (reason, spoil) in cases {
        let mut setup = two_clusters();
        spoil(&mut setup, change.clone());
        assert_eq!(find(&setup), Err(reason));
    }
    let mut datagrams = Builder::of(two_clusters());
    datagrams.datagrams(NodeId(0), NodeId(1), DatagramSource::Udp { rate: mbps(1) }, 100);
    assert_eq!(find(&datagrams.setup), Err(Undivided::Datagrams));
}

/// All packets go through one node, which one half must have.
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
    let cut = find(&b.setup);
    let Err(Undivided::NoGain { speed_up, lookahead }) = cut else { panic!("{cut:?}") };
    assert!(speed_up < 1.3, "{speed_up}");
    assert_eq!(lookahead, Span::from_ps(999_999));
}
