//! Packet-hops per CPU-second of whole runs, with full TCP. Run with `make bench`.

#[path = "../tests/common/mod.rs"]
mod common;

use anabranch_engine::Outcome;
use anabranch_units::{Rate, Span};
use common::{Builder, Dumbbell, leaf_spine, plan, run_plan, table};

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
    for flows in [10, 100, 1_000, 10_000] {
        let name = format!("dumbbell, {flows} CUBIC, 10 Gbps, 10 ms, 2 s");
        let before = resident_bytes();
        measure(&name, || dumbbell(flows, 10_000, 10, 10_000, 2));
        let used = resident_bytes().saturating_sub(before);
        println!(
            "{:<44} peak memory {:.1} MB more, {} bytes per flow",
            "",
            used as f64 / 1e6,
            used / flows as u64
        );
    }
}

/// Median of three runs.
fn measure(name: &str, build: impl Fn() -> Builder) {
    let mut runs: Vec<(f64, Outcome)> = (0..3)
        .map(|_| {
            let setup = build().setup;
            let plan = plan(&setup);
            let start = cpu_seconds();
            let outcome = run_plan(setup, plan);
            (cpu_seconds() - start, outcome)
        })
        .collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (seconds, outcome) = &runs[1];
    let hops = outcome.progress.packet_hops as f64;
    let bytes: u64 = table(outcome, "flows").integer("delivered_bytes").unwrap().iter().sum();
    println!(
        "{name:<44} {seconds:>7.3} {hops:>13.0} {:>11.2} {:>8.3} {:>9.3}",
        hops / seconds / 1e6,
        outcome.progress.events as f64 / hops,
        bytes as f64 * 8.0 / outcome.ended.as_secs_f64() / 1e9,
    );
}

/// CPU time of this process's only thread.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux tells the CPU time");
    let nanoseconds: u64 =
        text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("nanoseconds");
    nanoseconds as f64 / 1e9
}

/// Peak resident memory of this process.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) * 1024
}
