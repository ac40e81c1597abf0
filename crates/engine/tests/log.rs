//! The table `log`: what senders decide in a whole run, and nothing else different for it.

use crate::common::*;
use anabranch_engine::balancer::HashParameters;
use anabranch_engine::loss::Bernoulli;
use anabranch_engine::records::{Column, Table};
use anabranch_engine::setup::*;
use anabranch_engine::{EngineError, Outcome, Simulation};
use anabranch_transport::{TransportConfig, preset};
use anabranch_units::{FlowId, NodeId, Span};

/// The names of a column, row by row.
fn names(table: &Table, column: &str) -> Vec<&'static str> {
    let names_column = table.columns.iter().find(|(name, _)| *name == column).map(|(_, column)| column);
    let Some(Column::Choices { names, places }) = names_column else {
        panic!("{column} is one of few names")
    };
    places.iter().map(|&place| names[usize::from(place)]).collect()
}

/// Four single-path flows of different kinds on a lossy bottleneck.
fn lossy() -> Setup {
    let mut b = two_hosts(mbps(10), Span::from_ms(10), 40, Span::from_secs(8));
    *b.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.003 });
    for name in ["cubic", "linux-reno", "mprc", "tcp-pr"] {
        let transport = b.transport(name);
        b.flow(NodeId(0), NodeId(1), transport, SourceSetup::Unlimited {}, at(0.1));
    }
    b.setup
}

fn watched(mut setup: Setup) -> Setup {
    setup.probes.log = (0..setup.flows.len()).map(FlowId::from_index).collect();
    setup
}

/// Without the log every table is the same.
fn without_log(outcome: &Outcome) -> Vec<String> {
    let others = outcome.tables.iter().filter(|table| table.name != "log");
    others.map(|table| format!("{table:?}")).collect()
}

#[test]
fn a_log_changes_no_other_table() {
    let mut paths = parallel_paths(mbps(10), &[5, 40], 30, Span::from_secs(5));
    paths.setup.routing.scheme = Some(disjoint(2));
    paths.setup.routing.load_balancing = LoadBalancing::Hash(HashParameters {});
    *paths.setup.links[0].loss = LossSetup::Bernoulli(Bernoulli { probability: 0.01 });
    let transport = paths.protocol("mptcp", ndiffports(4));
    paths.flow(NodeId(0), NodeId(1), transport, SourceSetup::Sized { bytes: 3_000_000 }, at(0.2));
    for setup in [lossy(), paths.setup] {
        let (plain, logged) = (run(setup.clone()), run(watched(setup)));
        assert!(table(&logged, "log").columns[0].1.len() > 1000);
        assert!(plain.tables.iter().all(|table| table.name != "log"));
        assert_eq!(without_log(&plain), without_log(&logged));
        assert_eq!(plain.progress, logged.progress);
    }
}

/// Counts of the log against the counters in the table of flows.
#[test]
fn the_log_agrees_with_the_table_of_flows() {
    let outcome = run(watched(lossy()));
    let log = table(&outcome, "log");
    let (flow, event) = (log.integer("flow").unwrap(), names(log, "event"));
    for id in 0..4 {
        let count = |wanted: &str| {
            (0..event.len()).filter(|&row| flow[row] == id as u64 && event[row] == wanted).count() as u64
        };
        for (column, name) in [
            ("fast_recoveries", "fast recovery entered"),
            ("timeouts", "timeout"),
            ("tail_loss_probes", "tail loss probe"),
            ("undone_recoveries", "undo"),
        ] {
            assert_eq!(count(name), integer(&outcome, "flows", column, id), "{name} of flow {id}");
        }
        assert!(count("fast recovery entered") > 3, "flow {id}");
        assert_eq!(count("opened"), 1);
    }
    let times = log.number("time_s").unwrap();
    assert!((1..times.len()).all(|row| flow[row] > flow[row - 1] || times[row] >= times[row - 1]));
    // Each detection is named by the flow that has it.
    let cause = names(log, "cause");
    for (id, rule) in [(0, "sack threshold"), (1, "rack"), (2, "fastrto"), (3, "tcp-pr")] {
        let mut rows = (0..event.len()).filter(|&row| flow[row] == id && event[row] == "loss");
        assert!(rows.all(|row| [rule, "timeout"].contains(&cause[row])));
        assert!((0..event.len()).any(|row| flow[row] == id && cause[row] == rule), "{rule}");
    }
}

/// The states of BBR's draft, in their order: Startup fills a queue, Drain empties it, ProbeBW cycles, and ProbeRTT
/// comes after ten seconds (section 4.3.5), because a second flow keeps the queue from being empty.
#[test]
fn phases_of_bbr_are_in_the_log() {
    let mut b = two_hosts(mbps(10), Span::from_ms(20), 100, Span::from_secs(15));
    for (name, start) in [("bbr", 0.0), ("newreno", 2.0)] {
        let transport = b.transport(name);
        b.flow(NodeId(0), NodeId(1), transport, SourceSetup::Unlimited {}, at(start));
    }
    b.setup.probes.log = vec![FlowId(0)];
    let outcome = b.run();
    let log = table(&outcome, "log");
    let (event, phase, before) = (names(log, "event"), names(log, "phase"), names(log, "phase_before"));
    let changes: Vec<usize> = (0..event.len()).filter(|&row| event[row] == "phase").collect();
    let phases: Vec<&str> = changes.iter().map(|&row| phase[row]).collect();
    assert_eq!(before[changes[0]], "startup");
    assert_eq!(phases[0], "drain");
    assert!(phases[1].starts_with("probe-bw"), "{phases:?}");
    for name in ["probe-bw up", "probe-bw down", "probe-bw cruise", "probe-rtt"] {
        assert!(phases.contains(&name), "{name} in {phases:?}");
    }
    assert!(changes.windows(2).all(|pair| before[pair[1]] == phase[pair[0]]));
    // Draft section 4.3.2.1: in Startup it paces at 2/ln 2 times the bandwidth; in Drain at the inverse.
    let pacing = log.number("pacing_rate_mbps").unwrap();
    let drained = pacing[changes[0]];
    assert!((drained / (10.0 / 2.885) - 1.0).abs() < 0.15, "{drained} Mbps in Drain");
}

#[test]
fn flows_that_keep_no_log_are_refused() {
    let refusal = |setup: Setup| match Simulation::new(setup.clone(), plan(&setup)) {
        Err(EngineError::Setup(error)) => error.to_string(),
        _ => panic!("it is refused"),
    };
    let mut unknown = lossy();
    unknown.probes.log = vec![FlowId(9)];
    assert!(refusal(unknown).contains("probes.log: no flow number 9"));
    let mut fixed = lossy();
    fixed.transports[0].config = preset("sliding-window").unwrap();
    assert!(matches!(fixed.transports[0].config, TransportConfig::SlidingWindow(_)));
    fixed.probes.log = vec![FlowId(0)];
    assert!(refusal(fixed).contains("probes.log: names a flow for which the controller decides"));
}
