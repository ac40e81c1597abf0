//! The time, and what of it a thread takes.

use rustix::time::{ClockId, clock_gettime};

pub(crate) const NS_PER_SECOND: u64 = 1_000_000_000;
/// The time over which the CPU share is taken for the busiest one.
const CPU_WINDOW_NS: u64 = NS_PER_SECOND;

/// A clock in nanoseconds.
pub(crate) fn now_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * NS_PER_SECOND + now.tv_nsec as u64
}

/// CPU time of a thread over the time that passes.
#[derive(Default)]
pub(crate) struct CpuShare {
    begun: (u64, u64),
    window: (u64, u64),
    /// In the busiest second.
    pub(crate) busiest: f64,
    /// Over the whole time.
    pub(crate) mean: f64,
}

impl CpuShare {
    /// Wall and CPU time.
    fn now() -> (u64, u64) {
        (now_ns(ClockId::Monotonic), now_ns(ClockId::ThreadCPUTime))
    }

    pub(crate) fn begin() -> Self {
        let now = Self::now();
        Self { begun: now, window: now, ..Self::default() }
    }

    fn share(from: (u64, u64), to: (u64, u64)) -> f64 {
        (to.1 - from.1) as f64 / (to.0 - from.0).max(1) as f64
    }

    /// To be called often.
    pub(crate) fn note(&mut self) {
        if now_ns(ClockId::Monotonic) >= self.window.0 + CPU_WINDOW_NS {
            let now = Self::now();
            self.busiest = self.busiest.max(Self::share(self.window, now));
            self.window = now;
        }
    }

    pub(crate) fn end(&mut self) {
        self.mean = Self::share(self.begun, Self::now());
        self.busiest = self.busiest.max(self.mean);
    }
}
