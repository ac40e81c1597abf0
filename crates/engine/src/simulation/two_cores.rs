//! A run on two cores: each works on its half of the nodes, in windows of simulated time.
//!
//! A packet takes at least the lookahead from one half to the other, the smallest delay of a link between them. What
//! happens in a window of that length thus shows in the other half after the window's end at the earliest, so that both
//! halves may work on the same window at once (conservative synchronisation: Chandy and Misra, CACM 24(4), 1981; Bryant, MIT,
//! 1977; windows as in Lubachevsky, CACM 32(1), 1989, and Fujimoto, Parallel and Distributed Simulation Systems, 2000,
//! chapter 3). Then each hands over what it has sent and waits for the other. Nothing is ever undone, and the order of
//! events of a node is that of a run on one core, so that the tables have the same bytes.

use super::halves::Crossing;
use super::{Outcome, Progress, Simulation};
use crate::error::EngineError;
use crate::partition::Cut;
use crate::setup::Setup;
use anabranch_routing::Plan;
use anabranch_units::{Instant, LinkId, Span};
use std::hint::spin_loop;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};

/// Looks at the other half's window before a half sleeps until it is woken. With twenty times as many, a machine that has
/// other work takes seven times as long: a half that waits keeps the other from its core.
const SPINS: u32 = 5_000;

/// The window of a half that has failed.
const FAILED: u64 = u64::MAX;

/// What a half shows to the other one; in lines of the cache of its own.
#[repr(align(128))]
#[derive(Default)]
struct Shown {
    /// Windows worked off.
    windows: AtomicU64,
    /// Packets that have crossed a link.
    packet_hops: AtomicU64,
    /// What it has sent to the other half, in windows of even and of odd number: while one is filled the other is read.
    sent: [Mutex<Vec<Crossing>>; 2],
    /// Who works on it, and whether it sleeps until it is woken.
    thread: OnceLock<Thread>,
    sleeps: AtomicBool,
}

impl Shown {
    fn sent(&self, window: u64) -> MutexGuard<'_, Vec<Crossing>> {
        self.sent[(window % 2) as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows that so many windows have been worked off, and wakes the other half if it waits for that.
    fn show(&self, windows: u64, other: &Self) {
        // In one order with what `wait_for` does: either it sees the windows, or it is seen to sleep.
        self.windows.store(windows, Ordering::SeqCst);
        if other.sleeps.load(Ordering::SeqCst)
            && let Some(thread) = other.thread.get()
        {
            thread.unpark();
        }
    }

    /// Waits until the other half has worked off so many windows. Whether it has: it may have failed.
    fn wait_for(&self, other: &Self, windows: u64) -> bool {
        let done = || other.windows.load(Ordering::SeqCst);
        if (0..SPINS).all(|_| {
            spin_loop();
            done() < windows
        }) {
            // It has no core, or much more to do.
            self.sleeps.store(true, Ordering::SeqCst);
            while done() < windows {
                thread::park();
            }
            self.sleeps.store(false, Ordering::SeqCst);
        }
        done() != FAILED
    }
}

/// Tells the other half of a panic, so that it does not wait for ever.
struct Watched<'s> {
    own: &'s Shown,
    other: &'s Shown,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.own.show(FAILED, self.other);
        }
    }
}

/// A step of both halves.
struct Step<'c> {
    shown: [Shown; 2],
    /// The number of windows after which the step ends early.
    last: AtomicU64,
    until: Instant,
    lookahead: Span,
    /// Links that leave each half.
    links: &'c [Vec<LinkId>; 2],
}

impl Step<'_> {
    /// Works on one half, window by window, up to the end of the step. `report` may end the step after a window.
    fn work(
        &self,
        half: usize,
        simulation: &mut Simulation,
        mut report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let (own, other) = (&self.shown[half], &self.shown[1 - half]);
        let _watched = Watched { own, other };
        own.thread.get_or_init(thread::current);
        for window in 0.. {
            if window > 0 {
                if !own.wait_for(other, window) {
                    return Ok(());
                }
                simulation.take_in(&mut other.sent(window - 1));
            }
            if simulation.now() == self.until || window == self.last.load(Ordering::Acquire) {
                return Ok(());
            }
            let end = simulation.now().saturating_add(self.lookahead).min(self.until);
            let mut stops = false;
            let _ = simulation.advance(end, |progress| {
                own.packet_hops.store(progress.packet_hops, Ordering::Relaxed);
                stops |= report(progress).is_break();
                ControlFlow::Continue(())
            })?;
            simulation.hand_over(&self.links[half], &mut own.sent(window));
            if stops {
                self.last.store(window + 1, Ordering::Release);
            }
            own.show(window + 1, other);
        }
        Ok(())
    }

    /// Works on both halves. Whether `report` ended the step.
    fn run(
        &self,
        first: &mut Simulation,
        second: &mut Simulation,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError> {
        let [_, other] = &self.shown;
        let before = second.data.packet_hops;
        other.packet_hops.store(before, Ordering::Relaxed);
        thread::scope(|scope| {
            let thread = scope.spawn(|| self.work(1, second, |_| ControlFlow::Continue(())));
            let here = self.work(0, first, |progress| {
                let packet_hops = progress.packet_hops + other.packet_hops.load(Ordering::Relaxed);
                report(Progress { packet_hops, ..progress })
            });
            let there = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            here.and(there)
        })?;
        let stopped = self.last.load(Ordering::Acquire) != u64::MAX;
        Ok(if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

impl Simulation {
    /// A run of this setup over these routes on two cores, each with the nodes that the cut gives it. The tables have the
    /// same bytes as those of [`Simulation::run`]; only the number of events may differ. `report` is called on the thread of
    /// the caller; where it breaks, the run ends at the end of a window.
    ///
    /// # Errors
    /// As [`Simulation::new`] and [`Simulation::run`].
    ///
    /// # Panics
    /// If the cut is of another network, or an event lies in the past, which is a bug in the engine.
    pub fn run_on_two_cores(
        setup: &Arc<Setup>,
        plan: &Arc<Plan>,
        cut: &Cut,
        mut report: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Outcome, EngineError> {
        let new = || Self::new(Arc::clone(setup), Arc::clone(plan));
        let (first, second) = thread::scope(|scope| {
            let second = scope.spawn(new);
            (new(), second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let (mut first, mut second) = (first?, second?);
        let sides = cut.sides();
        assert_eq!(sides.len(), setup.nodes.len(), "a cut of another network");
        first.keep(sides, false);
        second.keep(sides, true);
        let links = cut.links(setup);
        let mut sample = setup.probes.interval.map(|interval| Instant::ZERO.saturating_add(interval));
        loop {
            let until = sample.map_or(first.end, |sample| sample.min(first.end));
            let step = Step {
                shown: <[Shown; 2]>::default(),
                last: AtomicU64::new(u64::MAX),
                until,
                lookahead: cut.lookahead(),
                links: &links,
            };
            if step.run(&mut first, &mut second, &mut report)?.is_break() {
                break;
            }
            if let Some(at) = sample.filter(|&at| at == until) {
                first.sample_with(&mut second, sides);
                first.events += 1;
                sample = Some(at.saturating_add(first.probe.interval));
            }
            if until == first.end {
                break;
            }
        }
        first.join(second, sides);
        first.finish()
    }
}
