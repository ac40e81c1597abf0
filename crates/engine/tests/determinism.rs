//! The same setup gives the same tables, and what is added beside a flow leaves it alone.

use crate::common::*;
use anabranch_engine::balancer::PacketParameters;
use anabranch_engine::loss::{Bernoulli, NoLoss};
use anabranch_engine::records::{Column, Table};
use anabranch_engine::setup::*;
use anabranch_engine::{Outcome, Simulation};
use anabranch_units::{Instant, LinkId, NodeId, Span};
use std::ops::ControlFlow;
use std::thread;

/// Everything random at once: two lossy, jittery links in a row, Poisson messages, packet spread.
fn busy(replication: u64) -> Setup {
    let mut b = parallel_paths(mbps(20), &[5, 9], 60, Span::from_secs(4));
    b.setup.replication = replication;
    b.setup.routing.scheme = Some(disjoint(2));
    b.setup.routing.load_balancing = LoadBalancing::Packet(PacketParameters {});
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.002 });
    b.setup.links[4].jitter = Some(Box::new(Variate::Exponential { mean: 1e8 }));
    let (from, to) = (NodeId(0), NodeId(1));
    for name in ["linux-cubic", "newreno", "linux-bbr"] {
        let tcp = b.transport(name);
        b.flow(from, to, tcp, SourceSetup::Unlimited {}, at(0.1));
    }
    let messages = SourceSetup::messages(
        Variate::Pareto { scale: 2_000.0, shape: 1.5 },
        Variate::Exponential { mean: 2e10 },
    );
    b.flow(to, from, 0, messages, Instant::ZERO);
    sample(&mut b.setup, Span::from_ms(50));
    b.setup
}

/// The bytes of the numbers, so that NaN equals NaN and nothing is rounded.
fn bytes(tables: &[Table]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for table in tables {
        bytes.extend_from_slice(table.name.as_bytes());
        for (name, column) in &table.columns {
            bytes.extend_from_slice(name.as_bytes());
            match column {
                Column::Integers(values) => values.iter().for_each(|v| bytes.extend(v.to_le_bytes())),
                Column::Numbers(values) => {
                    values.iter().for_each(|v| bytes.extend(v.to_bits().to_le_bytes()));
                }
                Column::Texts(values) => values.iter().for_each(|v| bytes.extend_from_slice(v.as_bytes())),
                Column::Choices { names, places } => {
                    names.iter().for_each(|name| bytes.extend_from_slice(name.as_bytes()));
                    bytes.extend_from_slice(places);
                }
            }
        }
    }
    bytes
}

fn tables_of(setup: Setup) -> Vec<u8> {
    bytes(&run(setup).tables)
}

#[test]
fn the_same_setup_gives_the_same_bytes_twice() {
    let first = tables_of(busy(0));
    assert!(first.len() > 10_000, "tables with something in them");
    assert_eq!(first, tables_of(busy(0)));
}

#[test]
fn replications_and_seeds_differ() {
    let mut other_seed = busy(0);
    other_seed.seed += 1;
    let all = [tables_of(busy(0)), tables_of(busy(1)), tables_of(other_seed)];
    assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
}

#[test]
fn eight_runs_side_by_side_equal_eight_in_a_row() {
    let in_a_row: Vec<_> = (0..8).map(|replication| tables_of(busy(replication))).collect();
    let side_by_side: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|r| scope.spawn(move || tables_of(busy(r)))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a run")).collect()
    });
    assert_eq!(in_a_row, side_by_side);
}

/// The first `rows` rows of a table; of a series, the rows whose id is below `ids`.
fn part(outcome: &Outcome, name: &'static str, id_column: &str, ids: u64) -> Vec<u8> {
    let whole = table(outcome, name);
    let id = whole.integer(id_column).expect("ids");
    let rows: Vec<usize> = (0..id.len()).filter(|&row| id[row] < ids).collect();
    assert!(!rows.is_empty());
    let mut part = Table::new(name);
    for (column_name, column) in &whole.columns {
        match column {
            Column::Integers(v) => part.integers(column_name, rows.iter().map(|&row| v[row])),
            Column::Numbers(v) => part.numbers(column_name, rows.iter().map(|&row| v[row])),
            Column::Texts(v) => part.texts(column_name, rows.iter().map(|&row| &v[row])),
            Column::Choices { names, places } => {
                part.choices(column_name, rows.iter().map(|&row| names[usize::from(places[row])]));
            }
        }
    }
    bytes(&[part])
}

#[test]
fn an_idle_node_and_an_idle_link_change_no_other_number() {
    let small = busy(0);
    let (links, flows) = (small.links.len() as u64, small.flows.len() as u64);
    let mut large = Builder::of(small.clone());
    let idle = large.node("idle");
    // A longer way round that nothing takes, with loss and jitter of its own.
    let other = large.node("idle too");
    let first = large.link(NodeId(0), idle, mbps(10), Span::from_ms(1), 10);
    large.link(idle, other, mbps(10), Span::from_ms(1), 10);
    *large.setup.links[first].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.5 });
    large.setup.links[first].jitter = Some(Box::new(Variate::Uniform { low: 0.0, high: 1e9 }));
    let (small, large) = (run(small), run(large.setup));
    for (name, id, ids) in [
        ("flows", "flow", flows),
        ("flow_series", "flow", flows),
        ("links", "link", links),
        ("link_series", "link", links),
    ] {
        assert!(part(&small, name, id, ids) == part(&large, name, id, ids), "{name} differ");
    }
    assert_eq!(integer(&large, "links", "packets", first), 0, "the new link is idle");
}

/// Two flows on links of their own, of which the second always loses packets.
fn two_apart(loss_on_first: LossSetup) -> Outcome {
    let mut b = Builder::new(Span::from_secs(5));
    let tcp = b.transport("linux-cubic");
    for side in ["left", "right"] {
        let (from, to) = (b.node(&format!("{side} a")), b.node(&format!("{side} b")));
        b.link(from, to, mbps(10), Span::from_ms(5), 50);
        b.flow(from, to, tcp, SourceSetup::Unlimited {}, Instant::ZERO);
    }
    *b.setup.links[0].loss = loss_on_first;
    *b.setup.links[2].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
    b.run()
}

#[test]
fn loss_on_one_link_leaves_the_draws_of_another_alone() {
    let quiet = two_apart(LossSetup::None(NoLoss {}));
    let lossy = two_apart(LossSetup::Bernoulli(Bernoulli { probability: 0.02 }));
    let row_of_second = |outcome: &Outcome, name: &str, row: usize| -> Vec<u64> {
        let columns = &table(outcome, name).columns;
        let bits = |column: &Column| match column {
            Column::Integers(values) => Some(values[row]),
            Column::Numbers(values) => Some(values[row].to_bits()),
            Column::Texts(_) | Column::Choices { .. } => None,
        };
        columns.iter().filter_map(|(_, column)| bits(column)).collect()
    };
    assert!(integer(&quiet, "links", "drops_random", 2) > 10, "the second link loses packets");
    assert_eq!(row_of_second(&quiet, "flows", 1), row_of_second(&lossy, "flows", 1));
    assert_eq!(row_of_second(&quiet, "links", 2), row_of_second(&lossy, "links", 2));
    assert_ne!(row_of_second(&quiet, "flows", 0), row_of_second(&lossy, "flows", 0));
}

#[test]
fn a_loss_switched_on_later_meets_the_draws_it_would_have_met() {
    // The same loss from the start, or by a change at time zero: the stream is the link's, not the change's.
    let loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
    let mut from_start = two_hosts(mbps(10), Span::from_ms(5), 50, Span::from_secs(5));
    let tcp = from_start.transport("newreno");
    from_start.flow(NodeId(0), NodeId(1), tcp, SourceSetup::Unlimited {}, at(0.1));
    let mut by_change = Builder::of(from_start.setup.clone());
    *from_start.setup.links[0].loss = loss.clone();
    let change = Change::Loss { links: vec![LinkId(0)], loss };
    by_change.setup.events.push(EventSetup { at: Instant::ZERO, change });
    let (from_start, by_change) = (from_start.run(), by_change.run());
    assert!(integer(&from_start, "links", "drops_random", 0) > 10);
    assert_eq!(part(&from_start, "flows", "flow", 1), part(&by_change, "flows", "flow", 1));
}

/// So many links that the engine fetches ahead what packets will ask for (`DataPlane::looks_ahead`), each alone on its
/// way: what one of them does is what it does in a run of its own.
#[test]
fn a_flow_among_many_does_what_it_does_alone() {
    let flows_of = |count: usize| {
        let mut b = Builder::new(Span::from_ms(60));
        let transport = b.transport("cubic");
        for i in 0..count {
            let [from, router, to] = ["from", "router", "to"].map(|name| b.node(&format!("{name} {i}")));
            b.link(from, router, mbps(100), Span::from_ms(1), 100);
            b.link(router, to, mbps(10), Span::from_ms(2), 10);
            b.flow(from, to, transport, SourceSetup::Unlimited {}, Instant::ZERO);
        }
        b.run()
    };
    let (alone, among_many) = (flows_of(1), flows_of(2_100));
    let columns = ["delivered_bytes", "segments_sent", "retransmissions", "packets_received"];
    for column in columns {
        let of_first = |outcome| integer(outcome, "flows", column, 0);
        assert_eq!(of_first(&alone), of_first(&among_many), "{column}");
    }
    assert!(integer(&alone, "flows", "retransmissions", 0) > 0);
}

/// Short flows one after another over a bottleneck that loses and drops, and goes down for a while; some are never done.
fn crowd() -> Setup {
    let (mut b, half) = (Builder::new(Span::from_secs(3)), Span::from_ms(1_500));
    let (left, right) = (b.node("left"), b.node("right"));
    let bottleneck = b.link(left, right, mbps(20), Span::from_ms(5), 30);
    *b.setup.links[bottleneck].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
    let transports = ["cubic", "linux-reno"].map(|name| b.transport(name));
    for number in 0..150 {
        let (source, sink) = (b.node(&format!("source {number}")), b.node(&format!("sink {number}")));
        b.link(source, left, mbps(100), Span::from_ms(1), 100);
        b.link(right, sink, mbps(100), Span::from_ms(1), 100);
        let bytes = if number == 70 { 100_000_000 } else { 500 * (number % 60) as u64 + 1 };
        let start = Instant::ZERO + Span::from_ms(19 * number as u64);
        b.flow(source, sink, transports[number % 2], SourceSetup::Sized { bytes }, start);
    }
    b.flow(left, right, transports[0], SourceSetup::Unlimited {}, at(0.5));
    // One begins when the run is over.
    b.flow(right, left, transports[0], SourceSetup::Sized { bytes: 1 }, at(3.0));
    let links = vec![LinkId::from_index(bottleneck)];
    for (up, at) in [(false, half), (true, half + Span::from_ms(200))] {
        let change = Change::Links { links: links.clone(), up };
        b.setup.events.push(EventSetup { at: Instant::ZERO + at, change });
    }
    b.setup
}

/// A whole run, of which flows that have ended have gone, and others came late, has the tables of one that keeps them all.
#[test]
fn flows_that_come_and_go_leave_the_same_bytes() {
    for interval in [None, Some(Span::from_ms(10))] {
        let mut setup = crowd();
        if let Some(interval) = interval {
            sample(&mut setup, interval);
        }
        let plan = plan(&setup);
        let kept = Simulation::new(setup.clone(), plan.clone()).expect("a valid setup");
        let kept = kept.run(|_| ControlFlow::Continue(())).expect("a run");
        let gone = run_plan(setup, plan);
        assert!(bytes(&kept.tables) == bytes(&gone.tables));
        assert_eq!((kept.progress, kept.jain_index), (gone.progress, gone.jain_index));
        assert_eq!((kept.delivered_mbps, kept.packets_lost), (gone.delivered_mbps, gone.packets_lost));
    }
}
