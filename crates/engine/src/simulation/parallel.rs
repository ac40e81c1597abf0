//! A run on several cores: each works on its part of the nodes, in strides of simulated time.
//!
//! A packet takes at least the lookahead from one part to another, the smallest delay of a link between them. So a part may
//! work off all that is due less than that behind the time up to which its neighbour is done, and need not wait for anybody
//! else (conservative synchronisation: Chandy and Misra, CACM 24(4), 1981; Bryant, MIT, 1977; Fujimoto, Parallel and
//! Distributed Simulation Systems, 2000, chapter 3). A stride of a part is at most as long as the smallest delay of its links
//! from neighbours: the part that is behind all others never waits, so that there is no deadlock. What a stride has sent to a
//! neighbour is handed over at its end. Events of a node have the order, and so tables the bytes, of a run on one core.
//!
//! Parts have bursts of work at different times. With strides of a whole lookahead each would wait for the end of the longest
//! among its neighbours, stride by stride. So a stride with many events is cut into pieces: a part waits for what its
//! neighbours did nearly a lookahead earlier, and those that have a burst are waited for when they are that far behind.
//! Where the network or its routes change, and where the probe samples, all parts stop at that instant.

use super::account::Account;
use super::crossing::{Border, Crossing};
use super::probe::Probe;
use super::share::Share;
use super::{EVENTS_PER_REPORT, Outcome, Progress, Simulation, parts};
use crate::error::EngineError;
use crate::partition::Cut;
use crate::setup::Setup;
use anabranch_routing::Plan;
use anabranch_units::{FlowId, Instant, NodeId};
use std::hint::spin_loop;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// Looks at the neighbours' times before a part sleeps until it is woken. With twenty times as many, a machine that has
/// other work takes seven times as long: a part that waits keeps the others from its core.
const SPINS: u32 = 5_000;

/// Events of a stride above which the next is half as long, and below which it is twice as long again.
const EVENTS_OF_A_STRIDE: (u64, u64) = (128, 32);

/// Most pieces of a stride of a whole lookahead.
const MOST_PIECES: u64 = 8;

/// How often it is looked which flows may go, and how many come meanwhile at least.
const LOOKS: usize = 32;
const FEW_FLOWS: usize = 256;

/// How long the part that reports sleeps at most before it looks whether there is something to report.
const REPORT_AT_LEAST: Duration = Duration::from_millis(50);

/// What a part shows to the others; in lines of the cache of its own.
#[repr(align(128))]
#[derive(Default)]
struct Shown {
    /// Everything before this time is done, in picoseconds.
    done: AtomicU64,
    /// Packets that have crossed a link, and events.
    packet_hops: AtomicU64,
    events: AtomicU64,
    /// Who works on it, and whether it sleeps until it is woken.
    thread: Mutex<Option<Thread>>,
    sleeps: AtomicBool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shown {
    /// Wakes the part if it sleeps.
    fn wake(&self) {
        if self.sleeps.load(Ordering::SeqCst)
            && let Some(thread) = &*locked(&self.thread)
        {
            thread.unpark();
        }
    }

    fn note(&self, progress: Progress) {
        self.packet_hops.store(progress.packet_hops, Ordering::Relaxed);
        self.events.store(progress.events, Ordering::Relaxed);
    }
}

/// Another part that a part has links to, or from.
pub(super) struct Neighbour {
    pub(super) part: usize,
    /// This part's place among the neighbours of the other.
    place_there: usize,
    /// Picoseconds that what happens there takes at least to show here.
    pub(super) delay: u64,
    border: Border,
}

/// A part at work.
pub(super) struct Worker {
    pub(super) part: usize,
    pub(super) simulation: Simulation,
    pub(super) neighbours: Vec<Neighbour>,
    /// What leaves for a neighbour; empty between two strides.
    leaving: Vec<Crossing>,
    /// Picoseconds of the longest stride, and into how many pieces it is cut now.
    stride: u64,
    pieces: u64,
}

impl Worker {
    /// Where a stride from a time ends, at the latest at `bound`.
    fn end(&self, done: u64, bound: u64) -> u64 {
        done.saturating_add((self.stride / self.pieces).max(1)).min(bound)
    }

    /// Cuts strides into more pieces or fewer, after one with so many events.
    fn adapt(&mut self, events: u64) {
        let (many, few) = EVENTS_OF_A_STRIDE;
        if events > many && self.pieces < MOST_PIECES {
            self.pieces *= 2;
        } else if events < few && self.pieces > 1 {
            self.pieces /= 2;
        }
    }

    /// Takes what all neighbours have sent.
    pub(super) fn take_in(&mut self, sent: &[Mutex<Vec<Crossing>>]) {
        for (neighbour, sent) in self.neighbours.iter_mut().zip(sent) {
            let mut crossings = locked(sent);
            if !crossings.is_empty() {
                self.simulation.take_in(&mut neighbour.border, &mut crossings);
            }
        }
    }
}

/// What the parts of a run show and send to each other.
pub(super) struct Exchange {
    shown: Vec<Shown>,
    /// By part and by its neighbours: what these have sent to it.
    pub(super) sent: Vec<Vec<Mutex<Vec<Crossing>>>>,
    /// No part begins another stride: one has failed, or the run is stopped.
    halted: AtomicBool,
    /// Looks of a part at its neighbours before it sleeps.
    spins: u32,
}

impl Exchange {
    /// Ends the step of all parts, between two strides of each.
    fn halt(&self) {
        self.halted.store(true, Ordering::SeqCst);
        self.shown.iter().for_each(Shown::wake);
    }

    fn is_halted(&self) -> bool {
        self.halted.load(Ordering::SeqCst)
    }

    pub(super) fn done(&self, part: usize) -> u64 {
        self.shown[part].done.load(Ordering::SeqCst)
    }

    fn events(&self) -> u64 {
        self.shown.iter().map(|shown| shown.events.load(Ordering::Relaxed)).sum()
    }

    /// Waits until the neighbours are far enough for this part to get to a time; false where the step has been halted.
    fn wait_for(&self, part: usize, neighbours: &[Neighbour], end: u64, watch: &mut impl Watch) -> bool {
        let ready = |neighbour: &Neighbour| self.done(neighbour.part).saturating_add(neighbour.delay) >= end;
        let is_over = || self.is_halted() || neighbours.iter().all(ready);
        let mut looks = 0..self.spins;
        while !is_over() && looks.next().is_some() {
            spin_loop();
        }
        self.sleep_until(part, is_over, watch);
        !self.is_halted()
    }

    /// Sleeps until something is so, and looks each time that a neighbour is farther.
    fn sleep_until(&self, part: usize, is_so: impl Fn() -> bool, watch: &mut impl Watch) {
        if is_so() {
            return;
        }
        let board = &self.shown[part];
        // In one order with what `wake` does: either the part sees what it waits for, or it is seen to sleep.
        board.sleeps.store(true, Ordering::SeqCst);
        while !is_so() {
            match watch.longest_sleep() {
                Some(longest) => thread::park_timeout(longest),
                None => thread::park(),
            }
            watch.look(self);
        }
        board.sleeps.store(false, Ordering::SeqCst);
    }

    /// Works on one part, stride by stride, until everything before a time is done.
    fn work(
        &self,
        part: usize,
        worker: &mut Worker,
        bound: u64,
        watch: &mut impl Watch,
    ) -> Result<(), EngineError> {
        let board = &self.shown[part];
        let _panicking = HaltsInPanic(self);
        *locked(&board.thread) = Some(thread::current());
        loop {
            let done = self.done(part);
            if done >= bound {
                // What the neighbours have sent until then is in flight here.
                let all = |neighbour: &Neighbour| self.done(neighbour.part) >= bound;
                let is_over = || self.is_halted() || worker.neighbours.iter().all(all);
                self.sleep_until(part, is_over, watch);
                worker.take_in(&self.sent[part]);
                return Ok(());
            }
            if !self.wait_for(part, &worker.neighbours, worker.end(done, bound), watch) {
                return Ok(());
            }
            self.stride(worker, bound, watch).inspect_err(|_| self.halt())?;
        }
    }

    /// Works off what is due in the next stride of a part, for which its neighbours are far enough. Gives its end.
    pub(super) fn stride(
        &self,
        worker: &mut Worker,
        bound: u64,
        watch: &mut impl Watch,
    ) -> Result<u64, EngineError> {
        let (part, board) = (worker.part, &self.shown[worker.part]);
        let end = worker.end(self.done(part), bound);
        worker.take_in(&self.sent[part]);
        let before = worker.simulation.progress().events;
        let _ = worker.simulation.advance(Instant::from_ps(end - 1), |progress| {
            board.note(progress);
            watch.look(self);
            ControlFlow::Continue(())
        })?;
        let progress = worker.simulation.progress();
        board.note(progress);
        worker.adapt(progress.events - before);
        for Neighbour { part, place_there, border, .. } in &mut worker.neighbours {
            worker.simulation.hand_over(border, &mut worker.leaving);
            if !worker.leaving.is_empty() {
                locked(&self.sent[*part][*place_there]).append(&mut worker.leaving);
            }
        }
        board.done.store(end, Ordering::SeqCst);
        worker.neighbours.iter().for_each(|neighbour| self.shown[neighbour.part].wake());
        watch.look(self);
        Ok(end)
    }

    /// Works on all parts, each with a thread, until everything before a time is done or `report` breaks.
    fn step(
        &self,
        workers: &mut [Worker],
        bound: u64,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let Some((first, others)) = workers.split_first_mut() else { return Ok(()) };
        thread::scope(|scope| {
            let threads: Vec<_> = (1..)
                .zip(others)
                .map(|(part, worker)| scope.spawn(move || self.work(part, worker, bound, &mut Unwatched)))
                .collect();
            let mut watch = Reports { next: self.events() / EVENTS_PER_REPORT + 1, report };
            let mut outcome = self.work(0, first, bound, &mut watch);
            self.sleep_until(
                0,
                || {
                    let all = || (0..self.shown.len()).all(|part| self.done(part) >= bound);
                    self.is_halted() || all() || threads.iter().all(thread::ScopedJoinHandle::is_finished)
                },
                &mut watch,
            );
            for thread in threads {
                let there = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                outcome = outcome.and(there);
            }
            outcome
        })
    }
}

/// Tells the other parts of a panic, so that they do not wait for ever.
struct HaltsInPanic<'e>(&'e Exchange);

impl Drop for HaltsInPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.halt();
        }
    }
}

/// Who looks how far a run is.
pub(super) trait Watch {
    /// Looks now, if there is something to see.
    fn look(&mut self, exchange: &Exchange);

    /// How long it may sleep; none for ever.
    fn longest_sleep(&self) -> Option<Duration> {
        None
    }
}

/// Nobody looks.
pub(super) struct Unwatched;

impl Watch for Unwatched {
    fn look(&mut self, _: &Exchange) {}
}

/// The caller hears of all parts, and may halt them.
struct Reports<'r, R> {
    /// The report that is next, in so many events each.
    next: u64,
    report: &'r mut R,
}

impl<R: FnMut(Progress) -> ControlFlow<()>> Watch for Reports<'_, R> {
    fn look(&mut self, exchange: &Exchange) {
        let events = exchange.events();
        if events / EVENTS_PER_REPORT < self.next || exchange.is_halted() {
            return;
        }
        self.next = events / EVENTS_PER_REPORT + 1;
        let packet_hops = exchange.shown.iter().map(|shown| shown.packet_hops.load(Ordering::Relaxed)).sum();
        let now = Instant::from_ps(exchange.done(0).saturating_sub(1));
        if (self.report)(Progress { now, packet_hops, events }).is_break() {
            exchange.halt();
        }
    }

    fn longest_sleep(&self) -> Option<Duration> {
        Some(REPORT_AT_LEAST)
    }
}

/// A run in parts.
pub(super) struct Divided<'c> {
    setup: &'c Arc<Setup>,
    cut: &'c Cut,
    workers: Vec<Worker>,
    exchange: Exchange,
    /// Samples of all parts; none where a part is worked on alone.
    probe: Option<Probe>,
    /// What is left of flows that have gone, and when it is looked which others may go; the last time first.
    ended: Vec<(FlowId, Account)>,
    looks: Vec<Instant>,
    /// Everything before this time is done, in picoseconds.
    done: u64,
}

/// How the parts get to a time.
pub(super) trait Stepping {
    fn step(
        &mut self,
        exchange: &Exchange,
        workers: &mut [Worker],
        bound: u64,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), EngineError>;
}

/// Each with a thread.
struct Threads;

impl Stepping for Threads {
    fn step(
        &mut self,
        exchange: &Exchange,
        workers: &mut [Worker],
        bound: u64,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        exchange.step(workers, bound, report)
    }
}

/// When it is looked which flows may go, the last time first: before so many of all flows have come, so that those that wait for
/// that are few. Nowhere where flows do not come and go.
fn looks(setup: &Setup, workers: &[Worker]) -> Vec<Instant> {
    if !workers.iter().any(|worker| worker.simulation.flows.turn_over()) {
        return Vec::new();
    }
    let mut starts: Vec<Instant> = setup.flows.iter().map(|flow| flow.start).collect();
    starts.sort_unstable();
    let every = (starts.len() / LOOKS).max(FEW_FLOWS);
    let mut looks: Vec<Instant> = starts.into_iter().skip(every).step_by(every).collect();
    looks.dedup();
    looks.reverse();
    looks
}

impl<'c> Divided<'c> {
    /// A run in all of its parts.
    pub(super) fn new(setup: &'c Arc<Setup>, plan: &Arc<Plan>, cut: &'c Cut) -> Result<Self, EngineError> {
        let probe = Probe::new(setup, &Share::all(setup));
        Ok(Self { probe: Some(probe), ..Self::of_parts(setup, plan, (cut, 0..cut.count()), false)? })
    }

    /// Some parts of a run alone, whose neighbours somebody else plays, for the first time or once more ([`Share`]).
    pub(super) fn of_parts(
        setup: &'c Arc<Setup>,
        plan: &Arc<Plan>,
        (cut, parts): (&'c Cut, Range<usize>),
        is_repeated: bool,
    ) -> Result<Self, EngineError> {
        let network = setup.check()?;
        plan.check(&network)?;
        assert_eq!(cut.parts().len(), setup.nodes.len(), "a cut of another network");
        let count = cut.count() as u32;
        let simulation = |part: usize| {
            let share = Share { is_repeated, ..Share::of_part(setup, cut.parts(), count, part as u32) };
            Simulation::of_share(Arc::clone(setup), Arc::clone(plan), network.clone(), &share)
        };
        let simulations = thread::scope(|scope| {
            let threads: Vec<_> = parts.clone().map(|part| scope.spawn(move || simulation(part))).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect::<Result<Vec<_>, EngineError>>()
        })?;
        let borders = cut.borders(setup);
        let place = |of: usize, among: usize| {
            borders[among].iter().position(|border| border.part == of).expect("neighbours know each other")
        };
        let worker = |(part, simulation): (usize, Simulation)| {
            let neighbours = borders[part].iter().map(|border| Neighbour {
                part: border.part,
                place_there: place(part, border.part),
                delay: border.delay,
                border: Border::new(border.links.clone()),
            });
            let neighbours: Vec<Neighbour> = neighbours.collect();
            let shortest = neighbours.iter().map(|neighbour| neighbour.delay).min();
            let stride = shortest.unwrap_or(Cut::pace(setup));
            Worker { part, simulation, neighbours, leaving: Vec::new(), stride, pieces: 1 }
        };
        let workers: Vec<Worker> = parts.zip(simulations).map(worker).collect();
        let sent = borders.iter().map(|of_part| of_part.iter().map(|_| Mutex::default()).collect());
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let exchange = Exchange {
            shown: (0..count).map(|_| Shown::default()).collect(),
            sent: sent.collect(),
            halted: AtomicBool::new(false),
            // Who waits on a core that another part needs only keeps it from that.
            spins: if cut.count() <= cores { SPINS } else { 0 },
        };
        let (looks, ended) = (looks(setup, &workers), Vec::new());
        Ok(Self { setup, cut, workers, exchange, probe: None, ended, looks, done: 0 })
    }

    /// Works until everything before a time is done. Whether `report` broke; then all parts are at one time.
    fn advance(
        &mut self,
        bound: u64,
        stepping: &mut impl Stepping,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError> {
        if bound <= self.done {
            return Ok(ControlFlow::Continue(()));
        }
        stepping.step(&self.exchange, &mut self.workers, bound, report)?;
        self.done = bound;
        if !self.exchange.is_halted() {
            return Ok(ControlFlow::Continue(()));
        }
        self.done = (0..self.cut.count()).map(|part| self.exchange.done(part)).max().unwrap_or(bound);
        self.exchange.halted.store(false, Ordering::SeqCst);
        let mut unheard = |_| ControlFlow::Continue(());
        stepping.step(&self.exchange, &mut self.workers, self.done, &mut unheard)?;
        Ok(ControlFlow::Break(()))
    }

    /// The network or its routes change, before anything else happens at this instant.
    fn change(
        &mut self,
        at: Instant,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.workers.iter_mut().for_each(|worker| worker.simulation.change_at(at));
        if let Some(plan) = self.workers[0].simulation.routes_at(at, report)? {
            let plan = &plan;
            thread::scope(|scope| {
                for worker in &mut self.workers {
                    scope.spawn(move || worker.simulation.take_routes(plan));
                }
            });
        }
        ControlFlow::Continue(())
    }

    /// Runs to the end, or until `report` breaks.
    pub(super) fn run(
        &mut self,
        stepping: &mut impl Stepping,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let (setup, cut) = (self.setup, self.cut);
        let part_of = |node: NodeId| cut.parts()[node.index()] as usize;
        let end = self.workers[0].simulation.end();
        let interval = setup.probes.interval;
        let mut sample = interval.map_or(Instant::MAX, |interval| Instant::ZERO.saturating_add(interval));
        loop {
            let look = self.looks.last().copied().unwrap_or(Instant::MAX);
            let change = self.workers[0].simulation.next_change();
            if let Some(at) = change.filter(|&at| at <= sample.min(look)) {
                if self.advance(at.as_ps(), stepping, report)?.is_break()
                    || self.change(at, report).is_break()
                {
                    return Ok(());
                }
                continue;
            }
            let until = sample.min(look).min(end);
            if self.advance(until.as_ps().saturating_add(1), stepping, report)?.is_break() {
                return Ok(());
            }
            if sample == until {
                if let Some(probe) = &mut self.probe {
                    let mut parts: Vec<_> =
                        self.workers.iter_mut().map(|worker| &mut worker.simulation).collect();
                    probe.sample(setup, &mut parts, part_of);
                    parts[0].events += 1;
                }
                sample = interval.map_or(Instant::MAX, |interval| sample.saturating_add(interval));
            }
            if look == until {
                self.looks.pop();
                self.let_go();
            }
            if until == end {
                return Ok(());
            }
        }
    }

    /// Lets flows go that have ended, where all parts are here.
    fn let_go(&mut self) {
        let Self { setup, cut, workers, probe: Some(probe), ended, .. } = self else { return };
        let part_of = |node: NodeId| cut.parts()[node.index()] as usize;
        let mut parts: Vec<_> = workers.iter_mut().map(|worker| &mut worker.simulation).collect();
        parts::let_go(setup, &mut parts, part_of, (|id| probe.waits_for(id), ended));
    }

    /// By part here: its neighbours, and picoseconds that what happens there takes at least to show here.
    pub(super) fn neighbours(&self) -> Vec<Vec<(usize, u64)>> {
        let of_part =
            |worker: &Worker| worker.neighbours.iter().map(|other| (other.part, other.delay)).collect();
        self.workers.iter().map(of_part).collect()
    }

    /// How many ends of flows all parts have: two of each flow that goes from one to another.
    pub(super) fn flow_ends(&self) -> usize {
        self.workers.iter().map(|worker| worker.simulation.flows.count()).sum()
    }

    /// All parts as one, which has come so far.
    pub(super) fn join(self) -> Result<Simulation, EngineError> {
        let part_of = |node: NodeId| self.cut.parts()[node.index()] as usize;
        let parts = self.workers.into_iter().map(|worker| worker.simulation).collect();
        let probe = self.probe.unwrap_or_else(|| Probe::new(self.setup, &Share::all(self.setup)));
        Simulation::join(self.setup, parts, (probe, self.ended), part_of)
    }
}

impl Simulation {
    /// A run of this setup over these routes on several cores, each with the nodes that the cut gives it. The tables have the
    /// same bytes as those of [`Simulation::run`]; only the number of events may differ. `report` is called on the thread of
    /// the caller; where it breaks, the run ends.
    ///
    /// # Errors
    /// As [`Simulation::new`] and [`Simulation::run`].
    ///
    /// # Panics
    /// If the cut is of another network, or an event lies in the past, which is a bug in the engine.
    pub fn run_in_parts(
        setup: &Arc<Setup>,
        plan: &Arc<Plan>,
        cut: &Cut,
        report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Outcome, EngineError> {
        Self::joined_parts(setup, plan, cut, report)?.finish()
    }

    /// The same without the tables: all parts as one simulation, to be finished.
    ///
    /// # Errors
    /// As [`Simulation::run_in_parts`], which panics as this does.
    pub fn joined_parts(
        setup: &Arc<Setup>,
        plan: &Arc<Plan>,
        cut: &Cut,
        mut report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self, EngineError> {
        let mut run = Divided::new(setup, plan, cut)?;
        run.run(&mut Threads, &mut report)?;
        run.join()
    }
}
