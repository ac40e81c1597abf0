//! What the stretched schedule guarantees, on random networks.

use crate::common::*;
use anabranch_engine::control::applications::PacedParameters;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::setup::*;
use anabranch_units::{Instant, NodeId, Rate, Span};
use proptest::prelude::*;

/// A random network with random flows.
#[derive(Clone, Debug)]
struct Case {
    /// Of each switch but the first, one that it hangs on; capacity in Gbps and delay in us of that link.
    tree: Vec<(prop::sample::Index, u64, u64)>,
    /// More links between switches: they make cycles.
    extra: Vec<(prop::sample::Index, prop::sample::Index, u64, u64)>,
    flows: Vec<FlowCase>,
    alpha: f64,
    gamma: f64,
    in_band: bool,
    loss: f64,
}

#[derive(Clone, Debug)]
struct FlowCase {
    from: prop::sample::Index,
    to: prop::sample::Index,
    /// Gbps and us of the sender's link.
    access: (u64, u64),
    start_us: u64,
    bytes: u64,
}

fn flow() -> impl Strategy<Value = FlowCase> {
    let end = any::<prop::sample::Index>;
    let access = (prop::sample::select(vec![1u64, 10, 40]), 1u64..60);
    (end(), end(), access, 0u64..400, 1_000u64..60_000)
        .prop_map(|(from, to, access, start_us, bytes)| FlowCase { from, to, access, start_us, bytes })
}

fn case(extra: usize, in_band: bool, loss: f64) -> impl Strategy<Value = Case> {
    let switch = any::<prop::sample::Index>;
    let capacity = || prop::sample::select(vec![2u64, 5, 10]);
    let tree = prop::collection::vec((switch(), capacity(), 1u64..20), 1..6);
    let extra = prop::collection::vec((switch(), switch(), capacity(), 1u64..20), 0..=extra);
    (tree, extra, prop::collection::vec(flow(), 1..25), 0.5..=1.0f64, 1.0..=3.0f64).prop_map(
        move |(tree, extra, flows, alpha, gamma)| Case { tree, extra, flows, alpha, gamma, in_band, loss },
    )
}

const BUFFER: u64 = 100_000;

fn build(case: &Case, one_way: bool) -> Builder {
    let mut b = Builder::new(Span::from_secs(if case.loss > 0.0 { 60 } else { 1 }));
    let gbps = |value: u64| Rate::from_bps(value * 1_000_000_000);
    let mut switches = vec![b.node("Sw0")];
    for (parent, capacity, us) in &case.tree {
        let node = b.node(&format!("Sw{}", switches.len()));
        let parent = *parent.get(&switches);
        b.link(parent, node, gbps(*capacity), Span::from_us(*us), BUFFER);
        switches.push(node);
    }
    let mut pairs: Vec<(NodeId, NodeId)> = b.setup.links.iter().map(|link| (link.from, link.to)).collect();
    for (from, to, capacity, us) in &case.extra {
        let (from, to) = (*from.get(&switches), *to.get(&switches));
        if from != to && !pairs.contains(&(from, to)) {
            b.link(from, to, gbps(*capacity), Span::from_us(*us), BUFFER);
            pairs.extend([(from, to), (to, from)]);
        }
    }
    let node = b.node("controller");
    for &switch in &switches[..if case.in_band { 1 } else { switches.len() }] {
        b.link(node, switch, gbps(10), Span::from_us(5), BUFFER);
    }
    b.transport("sdn-paced");
    for (n, flow) in case.flows.iter().enumerate() {
        let (mut first, mut last) = (flow.from.index(switches.len()), flow.to.index(switches.len()));
        if one_way {
            // Data that all go to one switch of a tree have no ACKs of other data beside them.
            (first, last) = (first.max(last), 0);
        }
        let (from, to) = (b.node(&format!("S{n}")), b.node(&format!("R{n}")));
        let (capacity, us) = flow.access;
        b.link(from, switches[first], gbps(capacity), Span::from_us(us), BUFFER);
        b.link(to, switches[last], gbps(10), Span::from_us(5), BUFFER);
        let start = Instant::ZERO + Span::from_us(flow.start_us);
        b.flow(from, to, 0, SourceSetup::Sized { bytes: flow.bytes }, start);
    }
    if case.loss > 0.0 {
        for link in &mut b.setup.links {
            *link.loss = LossSetup::Bernoulli(Bernoulli { probability: case.loss });
        }
    }
    let (alpha, gamma) = (case.alpha, case.gamma);
    let paced = ApplicationSetup::SdnPaced(PacedParameters {
        alpha,
        beta: 1.5,
        gamma,
        schedule: PacedSchedule::Stretched,
    });
    let channel = if case.in_band { Channel::InBand } else { Channel::Apart };
    b.setup.controller = Some(ControllerSetup { channel, ..controller(node, &switches, paced) });
    b
}

fn check(case: &Case, one_way: bool, most: u64) -> Result<(), TestCaseError> {
    let builder = build(case, one_way);
    let sizes: Vec<u64> = case.flows.iter().map(|flow| flow.bytes).collect();
    let outcome = builder.run();
    let flows = table(&outcome, "flows");
    prop_assert_eq!(flows.integer("delivered_bytes").unwrap(), &sizes[..]);
    let drops: u64 = table(&outcome, "links").integer("drops_queue").unwrap().iter().sum();
    prop_assert_eq!(drops, 0);
    let longest = longest_data_queue(&outcome);
    prop_assert!(longest <= most, "{} packets waited", longest);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(3),
        ..ProptestConfig::default()
    })]

    /// Data one way only. A queue holds a data packet or two, and SYNs and FINs that come in between.
    #[test]
    fn trees_with_one_sink(case in case(0, false, 0.0)) {
        check(&case, true, 4)?;
    }

    /// ACKs of the other direction wait among the data: up to one for each flow whose data go the other way now.
    #[test]
    fn trees_both_ways(case in case(0, false, 0.0)) {
        check(&case, false, 10)?;
    }

    #[test]
    fn cycles_both_ways(case in case(4, false, 0.0)) {
        check(&case, false, 10)?;
    }

    /// CTRLs for every sender wait in a row on the data's links.
    #[test]
    fn in_band(case in case(2, true, 0.0)) {
        check(&case, false, case.flows.len() as u64 * 2 + 10)?;
    }

    /// Every byte is delivered all the same.
    #[test]
    fn losses_on_every_link(case in case(2, false, 0.02)) {
        check(&case, false, BUFFER)?;
    }
}
