//! The stateful benchmark of SEMPER by a controller: each subflow goes by it once, and those of a host take paths in turn.

use crate::common::*;
use anabranch_engine::Outcome;
use anabranch_engine::control::applications::SubflowRoundRobinApplicationParameters;
use anabranch_engine::setup::*;
use anabranch_units::{Instant, LinkId, NodeId, Span};

const PATHS: usize = 4;

/// Hosts with so many subflows each over four paths of 20 Mbps, of which the controller gives them `k`.
fn thesis(clients: usize, subflows: u16, k: Option<u32>, seed: u64) -> Builder {
    let transport = ndiffports(subflows);
    let mut b =
        Thesis { paths: PATHS, clients, transport, capacity: mbps(20), duration: Span::from_secs(3) }.build();
    b.setup.seed = seed;
    let switches: Vec<NodeId> = (0..2 + PATHS).map(NodeId::from_index).collect();
    let node = b.node("controller");
    for &switch in &switches {
        b.link(node, switch, mbps(1000), Span::from_ms(1), 10_000);
    }
    let application = ApplicationSetup::SubflowRoundRobin(SubflowRoundRobinApplicationParameters { k });
    b.setup.controller = Some(controller(node, &switches, application));
    b
}

/// Megabits that crossed the first link of each path.
fn carried(outcome: &Outcome) -> Vec<f64> {
    (0..PATHS).map(|path| integer(outcome, "links", "bytes", 4 * path) as f64 * 8e-6).collect()
}

/// Row of a switch in the table of flow tables: the switches in order.
const LEFT: usize = 0;
const RIGHT: usize = 1;
const MIDDLE: usize = 2;

/// As many subflows as paths: each path has one, whatever the hash of the first. At the switch of the host each has entries for
/// both ways, and one for SYN and FIN; at all others those for both ways. A host's three further SYNs and the first go up.
#[test]
fn the_subflows_of_a_host_have_a_path_each() {
    for seed in 1..4 {
        let outcome = thesis(1, 4, None, seed).run();
        assert!(carried(&outcome).iter().all(|&megabits| megabits > 40.0), "{:?}", carried(&outcome));
        let of = |column, row| integer(&outcome, "flow_tables", column, row);
        assert_eq!((of("entries_max", LEFT), of("entries_max", RIGHT)), (12, 8));
        assert!((MIDDLE..MIDDLE + PATHS).all(|row| of("entries_max", row) == 2));
        assert_eq!((of("packets_in", LEFT), of("packets_in", RIGHT)), (4, 0));
    }
}

/// Fewer paths than there are, and more subflows than paths: two of four carry data, half of the subflows each.
#[test]
fn a_controller_gives_as_many_paths_as_it_is_told() {
    let outcome = thesis(1, 6, Some(2), 1).run();
    let used = carried(&outcome).iter().filter(|&&megabits| megabits > 1.0).count();
    assert_eq!(used, 2);
    let entries: Vec<u64> =
        (MIDDLE..MIDDLE + PATHS).map(|row| integer(&outcome, "flow_tables", "entries_max", row)).collect();
    assert_eq!(entries.iter().sum::<u64>(), 12);
    assert!(entries.iter().all(|&count| count == 0 || count == 6), "{entries:?}");
}

/// The first path of a host is by a hash of the seed: of 40 seeds, a path is never the first with a probability of
/// 4 * 0.75^40 = 4e-5.
#[test]
fn the_first_path_is_drawn() {
    let mut seen = [false; PATHS];
    for seed in 0..40 {
        let mut b = thesis(1, 1, None, seed);
        b.setup.duration = Span::from_ms(200);
        let bytes = carried(&b.run());
        let first = bytes.iter().position(|&megabits| megabits > 0.01).expect("a path that carries data");
        seen[first] = true;
    }
    assert_eq!(seen, [true; PATHS]);
}

/// The SYN is 1 ms up and 1 ms down, and 2 us on the links of 1 Gbps: packets of at most 100 bytes, and the set-up before it.
/// A processing delay of 3 ms comes on top, and all of it in the handshake, against a network without a controller.
#[test]
fn a_first_packet_takes_the_way_to_the_controller() {
    for delay_ms in [0.0, 3.0] {
        let mut b = thesis(1, 1, None, 1);
        let setup = b.setup.controller.as_mut().expect("a controller");
        setup.processing_delay = (delay_ms > 0.0).then_some(Variate::Constant { value: delay_ms * 1e9 });
        let outcome = b.run();
        let detour = number(&outcome, "flow_tables", "packet_in_mean_ms", LEFT);
        assert!((2.0 + delay_ms..2.005 + delay_ms).contains(&detour), "{detour}");
        assert!((number(&outcome, "flow_tables", "packet_in_max_ms", LEFT) - detour).abs() < 1e-9);
        assert!(number(&outcome, "flow_tables", "packet_in_mean_ms", RIGHT).is_nan());
        let mut b = thesis(1, 1, None, 1);
        b.setup.controller = None;
        let (plain, slow) = (b.run(), number(&outcome, "flows", "handshake_s", 0));
        let waited = 1e3 * (slow - number(&plain, "flows", "handshake_s", 0));
        assert!((waited - detour).abs() < 0.01, "{waited} for {detour}");
    }
}

/// A path that breaks for a second: its subflow takes another and comes back, and the books of the run close. Nothing crosses
/// the broken path meanwhile, and the stream goes on.
#[test]
fn a_subflow_whose_path_breaks_takes_the_next_and_returns() {
    let mut b = thesis(1, 4, None, 1);
    let links: Vec<LinkId> = [0, 1].map(LinkId::from_index).to_vec();
    for (s, up) in [(1, false), (2, true)] {
        let change = Change::Links { links: links.clone(), up };
        b.setup.events.push(EventSetup { at: Instant::ZERO + Span::from_secs(s), change });
    }
    b.setup.routing.reaction = Some(Span::from_ms(50));
    sample(&mut b.setup, Span::from_ms(100));
    let outcome = b.run();
    let mean = |span| series_mean(&outcome, ("link_series", "link"), 0, "throughput_mbps", span);
    assert!(mean((0.3, 1.0)) > 10.0);
    assert!(mean((1.2, 2.0)) < 0.1);
    assert!(goodput_between(&outcome, 0, (1.5, 2.0)) > 30.0);
    // Its timer had backed off; but the entries are there again.
    let series = table(&outcome, "flow_table_series");
    let (times, switches) = (series.number("time_s").unwrap(), series.text("switch").unwrap());
    let entries = series.integer("entries").unwrap();
    let of_middle = |from: f64, to: f64| -> Vec<u64> {
        let rows = (0..times.len()).filter(|&row| times[row] > from && times[row] < to);
        rows.filter(|&row| &switches[row] == "middle 0").map(|row| entries[row]).collect()
    };
    assert!(of_middle(0.3, 0.95).iter().all(|&count| count == 2));
    assert!(of_middle(1.15, 1.95).iter().all(|&count| count == 0));
    assert!(of_middle(2.15, 3.0).iter().all(|&count| count == 2));
}

/// After a pause longer than the idle time-out its next packet goes up again, and keeps its path.
#[test]
fn an_idle_subflow_costs_another_way_and_keeps_its_path() {
    let mut b = thesis(1, 1, None, 1);
    b.setup.flows[0].source =
        SourceSetup::messages(Variate::Constant { value: 1000.0 }, Variate::Constant { value: 7e11 });
    b.setup.controller.as_mut().expect("a controller").table.idle_timeout = Some(Span::from_ms(200));
    let outcome = b.run();
    assert!(integer(&outcome, "flow_tables", "packets_in", LEFT) >= 3);
    let used = (0..PATHS).filter(|&path| integer(&outcome, "links", "packets", 4 * path) > 0).count();
    assert_eq!(used, 1);
}
