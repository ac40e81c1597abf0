//! What a run in parts would take if each part had a core, measured by one thread.
//!
//! First all parts take turns, and what each takes in is noted, stride by stride. Then each part is run alone, from the
//! beginning to the end, and takes in the same: it has the caches to itself, as it would on a core of its own, and each
//! stride is measured. Which strides wait for which follows from the delays between parts.

use super::crossing::Crossing;
use super::parallel::{Divided, Exchange, Stepping, Unwatched, Worker};
use super::{Outcome, Progress, Simulation};
use crate::error::EngineError;
use crate::partition::Cut;
use crate::setup::Setup;
use anabranch_routing::Plan;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often each part is run alone; of a stride the shortest time counts, so that other programs count less.
const ROUNDS: usize = 2;

/// Readings of a clock by which its own time is known.
const READINGS: usize = 1_000;

/// How long a run on as many cores as it has parts takes, without what they cost each other: on a machine with fewer cores.
#[derive(Clone, Copy, Default, Debug)]
pub struct CriticalPath {
    /// The longest chain of strides, each of which waits for the one before it, its own or a neighbour's.
    pub longest: Duration,
    /// All strides together.
    pub work: Duration,
    /// That of the part with most of it.
    pub largest: Duration,
    /// Strides of all parts.
    pub strides: u64,
    /// Ends of flows that the parts have when the run is over: two of each flow that goes from one to another.
    pub flow_ends: usize,
}

/// A stride of a part, or what the part takes in at the end of a step of all.
struct Stride {
    /// Everything before this time is done behind it; none at the end of a step.
    end: Option<u64>,
    /// What neighbours have sent, by neighbour.
    taken_in: Vec<Vec<Crossing>>,
    took: Duration,
}

impl Stride {
    /// What would be taken in now.
    fn new(exchange: &Exchange, part: usize) -> Self {
        let read = |sent: &Mutex<Vec<Crossing>>| sent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self { end: None, taken_in: exchange.sent[part].iter().map(read).collect(), took: Duration::MAX }
    }

    /// Sends the same again.
    fn send(&self, exchange: &Exchange, part: usize) {
        for (sent, again) in exchange.sent[part].iter().zip(&self.taken_in) {
            sent.lock().unwrap_or_else(PoisonError::into_inner).clone_from(again);
        }
    }
}

/// All parts in turn.
struct Turns {
    /// By part.
    strides: Vec<Vec<Stride>>,
}

impl Stepping for Turns {
    fn step(
        &mut self,
        exchange: &Exchange,
        workers: &mut [Worker],
        bound: u64,
        _: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        // The part that is behind all others can always go on.
        while let Some(worker) = workers
            .iter_mut()
            .filter(|worker| exchange.done(worker.part) < bound)
            .min_by_key(|worker| exchange.done(worker.part))
        {
            let stride = Stride::new(exchange, worker.part);
            let end = Some(exchange.stride(worker, bound, &mut Unwatched)?);
            self.strides[worker.part].push(Stride { end, ..stride });
        }
        for worker in workers {
            let stride = Stride::new(exchange, worker.part);
            worker.take_in(&exchange.sent[worker.part]);
            self.strides[worker.part].push(Stride { took: Duration::ZERO, ..stride });
        }
        Ok(())
    }
}

/// One part alone, to which is sent what was sent to it before.
struct Alone<'s, C> {
    strides: std::slice::IterMut<'s, Stride>,
    clock: C,
    /// What it takes to read the clock.
    reading: Duration,
}

impl<C: FnMut() -> Duration> Stepping for Alone<'_, C> {
    fn step(
        &mut self,
        exchange: &Exchange,
        workers: &mut [Worker],
        bound: u64,
        _: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let [worker] = workers else { unreachable!("one part is alone") };
        for stride in self.strides.by_ref() {
            stride.send(exchange, worker.part);
            if stride.end.is_none() {
                worker.take_in(&exchange.sent[worker.part]);
                break;
            }
            let before = (self.clock)();
            let end = exchange.stride(worker, bound, &mut Unwatched)?;
            let took = (self.clock)().saturating_sub(before + self.reading);
            assert_eq!(stride.end, Some(end), "a part alone makes the strides that it made among others");
            stride.took = stride.took.min(took);
            // Nobody takes in what it sends.
            exchange.sent.iter().flatten().for_each(|sent| {
                sent.lock().unwrap_or_else(PoisonError::into_inner).clear();
            });
        }
        Ok(())
    }
}

/// When strides begin and end where each part has a core.
struct Timetable<'s> {
    /// By part: its neighbours with their delays.
    neighbours: Vec<Vec<(usize, u64)>>,
    /// By part: its strides, and how many have been placed.
    strides: &'s [Vec<Stride>],
    placed: Vec<usize>,
    /// By part: how far it had come and when, since the beginning of the step.
    reached: Vec<Vec<(u64, Duration)>>,
}

impl Timetable<'_> {
    /// Until when a part has to wait with a stride: its own one before it, and those of its neighbours.
    fn start(&self, part: usize, end: u64) -> Duration {
        let of_neighbours = self.neighbours[part].iter().map(|&(other, delay)| {
            let there = &self.reached[other];
            there[there.partition_point(|&(done, _)| done.saturating_add(delay) < end)].1
        });
        of_neighbours.chain(self.reached[part].last().map(|&(_, at)| at)).max().unwrap_or_default()
    }

    /// Places all strides of a step, from the time at which all parts begin it. Gives when the last one ends.
    fn step(&mut self, begin: Duration, done: u64) -> Duration {
        self.reached.iter_mut().for_each(|reached| *reached = vec![(done, begin)]);
        // The part that is behind all others waits for nothing that has not been placed.
        let mut behind: BinaryHeap<_> = (0..self.strides.len()).map(|part| Reverse((done, part))).collect();
        while let Some(Reverse((_, part))) = behind.pop() {
            let stride = &self.strides[part][self.placed[part]];
            self.placed[part] += 1;
            if let Some(end) = stride.end {
                let ends = self.start(part, end) + stride.took;
                self.reached[part].push((end, ends));
                behind.push(Reverse((end, part)));
            }
        }
        self.reached.iter().filter_map(|reached| reached.last()).map(|&(_, at)| at).max().unwrap_or(begin)
    }

    /// All steps of a run, one after the other.
    fn run(&mut self) -> Duration {
        let (mut now, mut done) = (Duration::ZERO, 0);
        while self.placed[0] < self.strides[0].len() {
            now = self.step(now, done);
            done = self.reached[0].last().map_or(done, |&(done, _)| done);
        }
        now
    }
}

/// What it takes to read a clock: the least of some readings.
fn reading(clock: &mut impl FnMut() -> Duration) -> Duration {
    let mut before = clock();
    let readings = (1..READINGS).map(|_| {
        let now = clock();
        now.saturating_sub(std::mem::replace(&mut before, now))
    });
    readings.min().unwrap_or_default()
}

impl Simulation {
    /// What a run of this setup over these routes would take on a core for each part, by a clock of the time that the thread
    /// has had; and what has come of it.
    ///
    /// # Errors
    /// As [`Simulation::run_in_parts`].
    ///
    /// # Panics
    /// As [`Simulation::run_in_parts`].
    pub fn critical_path(
        setup: &Arc<Setup>,
        plan: &Arc<Plan>,
        cut: &Cut,
        mut clock: impl FnMut() -> Duration,
    ) -> Result<(Outcome, CriticalPath), EngineError> {
        let mut go_on = |_| ControlFlow::Continue(());
        let mut turns = Turns { strides: (0..cut.count()).map(|_| Vec::new()).collect() };
        let mut run = Divided::new(setup, plan, cut)?;
        run.run(&mut turns, &mut go_on)?;
        let (neighbours, flow_ends) = (run.neighbours(), run.flow_ends());
        let outcome = run.join()?.finish()?;
        let mut strides = turns.strides;
        let reading = reading(&mut clock);
        for (part, strides) in strides.iter_mut().enumerate() {
            for _ in 0..ROUNDS {
                let mut run = Divided::of_parts(setup, plan, (cut, part..part + 1), true)?;
                let mut alone = Alone { strides: strides.iter_mut(), clock: &mut clock, reading };
                run.run(&mut alone, &mut go_on)?;
            }
            strides.iter_mut().for_each(|stride| stride.taken_in = Vec::new());
        }
        let of_parts =
            || strides.iter().map(|of_part| of_part.iter().map(|stride| stride.took).sum::<Duration>());
        let (placed, reached) = (vec![0; cut.count()], vec![Vec::new(); cut.count()]);
        let longest = Timetable { neighbours, strides: &strides, placed, reached }.run();
        let count = strides.iter().flatten().filter(|stride| stride.end.is_some()).count();
        let (work, largest) = (of_parts().sum(), of_parts().max().unwrap_or_default());
        let path = CriticalPath { longest, work, largest, strides: count as u64, flow_ends };
        Ok((outcome, path))
    }
}
