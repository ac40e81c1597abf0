//! The clock of the benches.

use rustix::time::{ClockId, clock_gettime};

/// CPU time of all threads of this process, those that have ended as well.
pub fn cpu_seconds() -> f64 {
    // Not from /proc: what stands there is as old as the last tick, and a short run has few of them.
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
