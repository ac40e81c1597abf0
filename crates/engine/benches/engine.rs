//! Packet-hops per CPU-second of whole runs, with full TCP. Run with `make bench`.

#[path = "../tests/common/mod.rs"]
mod common;
mod cpu;
mod networks;

use anabranch_engine::Outcome;
use anabranch_engine::control::applications::ForwardingParameters;
use anabranch_engine::routing::Metric;
use anabranch_engine::setup::{ApplicationSetup, Channel, ControllerSetup, FlowTableSetup, WhenFull};
use anabranch_units::{NodeId, Rate, Span};
use common::{Builder, Dumbbell, Thesis, leaf_spine, ndiffports, plan, run, run_plan, table};
use cpu::cpu_seconds;
use networks::{all_pairs, fat_tree};

fn main() {
    println!(
        "{:<44} {:>7} {:>13} {:>11} {:>8} {:>9}",
        "scenario", "CPU s", "packet-hops", "M hops/s", "ev/hop", "Gbps"
    );
    let dumbbell = |flows, mbps: u64, delay_ms, queue, seconds| {
        let bottleneck = Rate::from_bps(mbps * 1_000_000);
        let (delay, duration) = (Span::from_ms(delay_ms), Span::from_secs(seconds));
        Dumbbell { flows, transport: "cubic", bottleneck, delay, queue, duration }.build()
    };
    measure("dumbbell, 10 CUBIC, 1 Gbps, 10 ms, 20 s", || dumbbell(10, 1000, 10, 1000, 20));
    measure("leaf-spine 4x8x4, 10 Gbps, 32 CUBIC, 1 s", || leaf_spine(4, 8, 4, Span::from_secs(1)));
    measure("dumbbell, 10 CUBIC, 100 Mbps, 10 ms, 30 s", || dumbbell(10, 100, 10, 250, 30));
    for flows in FLOWS {
        measure(&many_flows(flows), || dumbbell(flows, 10_000, 10, 10_000, 2));
    }
    let hundred = Rate::from_bps(100_000_000_000);
    measure("fat tree k = 8, 100 Gbps, 128 CUBIC, 3 ms", || fat_tree(8, hundred, Span::from_us(3_000)));
    measure("38,612 flows of 20 kB, 197 nodes, 2 s", || all_pairs(Span::from_secs(2)));
    measure("controller, 10 CUBIC, 1 Gbps, 10 ms, 20 s", || governed(dumbbell(10, 1000, 10, 1000, 20)));
    measure("32 MPTCP x 32 subflows, 8 x 50 Mbps, 40 s", || {
        let (capacity, duration) = (Rate::from_bps(50_000_000), Span::from_secs(40));
        Thesis { paths: 8, clients: 32, transport: ndiffports(32), capacity, duration }.build()
    });
    if wanted().is_none() {
        report_memory();
    }
}

/// The routers of a dumbbell as switches of a controller that forwards by flow.
fn governed(mut b: Builder) -> Builder {
    let switches = vec![NodeId(0), NodeId(1)];
    let node = b.node("controller");
    for &switch in &switches {
        b.link(node, switch, Rate::from_bps(1_000_000_000), Span::from_ms(1), 1000);
    }
    b.setup.controller = Some(ControllerSetup {
        node,
        switches,
        channel: Channel::Apart,
        application: ApplicationSetup::Forwarding(ForwardingParameters {}),
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
    b
}

const FLOWS: [usize; 5] = [10, 100, 1_000, 10_000, 100_000];

fn many_flows(flows: usize) -> String {
    format!("dumbbell, {flows} CUBIC, 10 Gbps, 10 ms, 2 s")
}

/// The scenarios to run: those whose names contain the argument, if there is one.
fn wanted() -> Option<String> {
    std::env::args().skip(1).find(|argument| !argument.starts_with('-'))
}

/// Peak memory of a process for each number of flows, and what a flow adds.
fn report_memory() {
    let program = std::env::current_exe().expect("the path of this program");
    let mut least = 0;
    for flows in FLOWS {
        let output = std::process::Command::new(&program)
            .arg(many_flows(flows))
            .env(REPORT_PEAK, "1")
            .output()
            .expect("this program runs again");
        let text = String::from_utf8_lossy(&output.stdout);
        let peak: u64 = text.lines().last().and_then(|line| line.parse().ok()).expect("its peak memory");
        if flows == FLOWS[0] {
            least = peak;
        }
        let added = (peak - least) / (flows - FLOWS[0]).max(1) as u64;
        println!(
            "{flows:>6} flows: {:>7.1} MB at the peak, {added:>6} bytes per added flow",
            peak as f64 / 1e6
        );
    }
}

/// Set for a process that is to print its peak memory.
const REPORT_PEAK: &str = "REPORT_PEAK";

/// Runs of a scenario, `--runs=3` if nothing else is said.
fn repetitions() -> usize {
    let given = std::env::args().find_map(|argument| argument.strip_prefix("--runs=").map(str::parse));
    given.map_or(3, |runs| runs.expect("a number of runs, as in --runs=5")).max(1)
}

/// Median of the runs; does nothing for a name that does not contain the argument, if one is given.
fn measure(name: &str, build: impl Fn() -> Builder) {
    if wanted().is_some_and(|wanted| !name.contains(&wanted)) {
        return;
    }
    if std::env::var_os(REPORT_PEAK).is_some() {
        run(build().setup);
        println!("{}", peak_bytes());
        return;
    }
    let mut runs: Vec<(f64, Outcome)> = (0..repetitions())
        .map(|_| {
            let setup = build().setup;
            let plan = plan(&setup);
            let start = cpu_seconds();
            let outcome = run_plan(setup, plan);
            (cpu_seconds() - start, outcome)
        })
        .collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (seconds, outcome) = &runs[runs.len() / 2];
    let hops = outcome.progress.packet_hops as f64;
    let bytes: u64 = table(outcome, "flows").integer("delivered_bytes").unwrap().iter().sum();
    println!(
        "{name:<44} {seconds:>7.3} {hops:>13.0} {:>11.2} {:>8.3} {:>9.3}",
        hops / seconds / 1e6,
        outcome.progress.events as f64 / hops,
        bytes as f64 * 8.0 / outcome.ended.as_secs_f64() / 1e9,
    );
}

/// Peak resident memory of this process.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) * 1024
}
