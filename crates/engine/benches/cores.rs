//! One run on one core and on several.
//!
//! `cargo bench -p anabranch-engine --bench cores` runs pairs in turn, on one core and on all of the machine: time by the
//! clock, and whether the tables are the same. `-- --runs=5` for more than three pairs.

#[path = "../tests/common/mod.rs"]
mod common;
#[expect(dead_code, reason = "the other benches run the rest")]
mod networks;

use anabranch_engine::partition::Cut;
use anabranch_engine::routing::Plan;
use anabranch_engine::setup::{Setup, SourceSetup};
use anabranch_engine::{Outcome, Simulation};
use anabranch_units::{Instant, Span};
use common::{Builder, plan, table};
use networks::all_pairs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::{thread, time};

fn main() {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    println!(
        "{:<44} {:>9} {:>5} {:>6} {:>12} {:>12} {:>6} {:>5}",
        "scenario", "lookahead", "parts", "pair", "one core s", "all cores s", "gain", "same"
    );
    pairs("38,612 flows of 20 kB, 197 nodes, 2 s", all_pairs(Span::from_secs(2)), cores);
    pairs("1,000 CUBIC without end, 197 nodes, 300 ms", without_end(1_000, Span::from_ms(300)), cores);
    pairs("20 CUBIC without end, 197 nodes, 1 s", without_end(20, Span::from_secs(1)), cores);
}

fn argument(name: &str) -> Option<String> {
    std::env::args().find_map(|argument| argument.strip_prefix(name).map(str::to_owned))
}

/// The backbone with so many of its flows, which do not end.
fn without_end(flows: usize, duration: Span) -> Builder {
    let mut b = all_pairs(duration);
    let every = b.setup.flows.len() / flows;
    let mut all =
        std::mem::take(&mut b.setup.flows).into_iter().step_by(every).take(flows).collect::<Vec<_>>();
    for (index, flow) in all.iter_mut().enumerate() {
        flow.source = SourceSetup::Unlimited {};
        flow.start = Instant::ZERO + Span::from_us(100_000 * index as u64 / flows as u64);
    }
    b.setup.flows = all;
    b
}

fn pairs(name: &str, b: Builder, cores: usize) {
    let runs = argument("--runs=").map_or(3, |runs| runs.parse().expect("a number of runs, as in --runs=5"));
    let (plan, setup) = (Arc::new(plan(&b.setup)), Arc::new(b.setup));
    let network = setup.network().expect("a valid network");
    let cut = match Cut::find(&setup, &network, &plan, cores) {
        Ok(cut) => cut,
        Err(reason) => return println!("{name:<44} {reason}"),
    };
    for pair in 1..=runs {
        let (one, first) = timed(|| on_one_core(&setup, &plan));
        let (many, second) = timed(|| {
            Simulation::run_in_parts(&setup, &plan, &cut, |_| ControlFlow::Continue(())).expect("a run")
        });
        println!(
            "{name:<44} {:>6.0} us {:>5} {pair:>6} {one:>12.3} {many:>12.3} {:>6.2} {:>5}",
            cut.lookahead().as_secs_f64() * 1e6,
            cut.count(),
            one / many,
            are_same(&first, &second),
        );
    }
}

fn on_one_core(setup: &Arc<Setup>, plan: &Arc<Plan>) -> Outcome {
    let simulation = Simulation::new(Arc::clone(setup), Arc::clone(plan)).expect("a valid setup");
    simulation.run(|_| ControlFlow::Continue(())).expect("a run")
}

/// Seconds by the clock: what several cores are for.
fn timed(run: impl FnOnce() -> Outcome) -> (f64, Outcome) {
    let start = time::Instant::now();
    let outcome = run();
    (start.elapsed().as_secs_f64(), outcome)
}

fn are_same(one: &Outcome, other: &Outcome) -> bool {
    deliveries(one) == deliveries(other) && one.tables.len() == other.tables.len()
}

fn deliveries(outcome: &Outcome) -> (&[u64], u64) {
    let flows = table(outcome, "flows").integer("delivered_bytes").expect("a column of counts");
    (flows, outcome.progress.packet_hops)
}
