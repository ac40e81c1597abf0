use super::{Burst, Choice, ConfiguredScheduler, SubflowScheduler, View, fastest};
use crate::mptcp::data_sequence::DATA_START;
use crate::mptcp::paths::Path;
use crate::mptcp::sender::BLOCK;

/// Most bytes that a subflow is given at once.
const MOST_BYTES: u64 = 65_428;

/// The scheduler of Linux since 5.13: the subflow whose queue empties first takes up to 64 kB, which it keeps whatever
/// becomes of it. A queue is the memory of what the subflow was given and has not had acknowledged; it empties at the mean
/// pacing rate at which it was filled.
#[derive(Debug)]
pub struct Linux {
    /// By subflow, in bytes per second; 0 before the first rate is known.
    rates: Vec<f64>,
}

anabranch_units::parameters! {
    /// The subflow whose queue empties first, by its pacing rate, takes up to 64 kB at once (Linux 5.13 and later).
    pub struct LinuxParameters {}
}

impl ConfiguredScheduler for Linux {
    type Parameters = LinuxParameters;

    fn configured(_: &LinuxParameters, subflows: usize) -> Self {
        Self { rates: vec![0.0; subflows] }
    }
}

impl SubflowScheduler for Linux {
    /// What queues hold is sent as they have room; nothing is picked segment by segment.
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        let subflow = fastest(view.paths, view.paths.ready())?;
        Some(Choice { subflow, from: view.data_nxt })
    }

    fn queues(&self) -> bool {
        true
    }

    fn add_subflow(&mut self) {
        self.rates.push(0.0);
    }

    fn assign(&mut self, view: &View<'_>) -> Option<Burst> {
        let mut first: Option<(u8, f64)> = None;
        for subflow in view.paths.usable() {
            let path = view.paths.get(subflow);
            let rate = &mut self.rates[usize::from(subflow)];
            if *rate == 0.0 {
                *rate = path.pacing_rate;
            }
            // Before the first RTT sample, as behind a lost SYN, the rate is without bound (net.core: sk_pacing_rate).
            let empties = if *rate > 0.0 { path.memory as f64 / *rate } else { 0.0 };
            if first.is_none_or(|(_, least)| empties < least) {
                first = Some((subflow, empties));
            }
        }
        let (subflow, _) = first?;
        let path = view.paths.get(subflow);
        let bytes = taken(view, path);
        if bytes == 0 {
            return None;
        }
        let rate = &mut self.rates[usize::from(subflow)];
        if *rate > 0.0 {
            // What the window has room for counts, whether it is written or not.
            let burst =
                MOST_BYTES.min((view.data_una + view.window).saturating_sub(view.data_nxt)).max(bytes);
            *rate =
                (*rate * path.memory as f64 + path.pacing_rate * burst as f64) / (path.memory + burst) as f64;
        }
        Some(Burst { subflow, bytes })
    }
}

/// What a subflow takes at once: blocks as the application's data are kept in, until they are a burst or its send buffer is
/// full. Whether it is full is asked before each block, so that the last one may not fit.
fn taken(view: &View<'_>, path: &Path) -> u64 {
    let left = view.limit.saturating_sub(view.data_nxt);
    let mut bytes = 0;
    while bytes < left.min(MOST_BYTES) && path.memory + bytes < path.send_buffer {
        let position = view.data_nxt + bytes - DATA_START;
        bytes += (BLOCK - position % BLOCK).min(left - bytes);
    }
    bytes
}
