//! How far the work is, and whether it should stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared by the threads that read.
#[derive(Default)]
pub(crate) struct Meter {
    bytes: AtomicU64,
    stop: AtomicBool,
}

impl Meter {
    /// Counts bytes that were read; false if the work should stop.
    pub(crate) fn advance(&self, bytes: u64) -> bool {
        // Nothing else is published with these: no order is needed.
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        !self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
