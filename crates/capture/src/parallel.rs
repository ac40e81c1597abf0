//! Work on several files at once, with a caller that hears how far it is.

use crate::progress::Meter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Between two reports.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Does `work` for 0 to `count`, on `threads` threads, and gives the results in order. At first and now
/// and then calls `report` on this thread; where that says false, the meter tells the workers to stop.
pub(crate) fn for_each<T: Send>(
    count: usize,
    threads: usize,
    meter: &Meter,
    report: &mut dyn FnMut() -> bool,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let (done, all_done) = channel::<()>();
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, count.max(1)) {
            let done = done.clone();
            let (next, results, work) = (&next, &results, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = work(index);
                    *results[index].lock().expect("no other thread has this index") = Some(result);
                }
                drop(done);
            });
        }
        drop(done);
        // Once at least, so that the caller can stop work of any length.
        loop {
            if !report() {
                meter.stop();
            }
            // Disconnected when the last worker has dropped its end.
            if all_done.recv_timeout(REPORT_EVERY) != Err(RecvTimeoutError::Timeout) {
                break;
            }
        }
    });
    let result = |slot: Mutex<Option<T>>| slot.into_inner().expect("no worker panicked").expect("was done");
    results.into_iter().map(result).collect()
}
