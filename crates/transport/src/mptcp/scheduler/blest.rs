use super::{Choice, ConfiguredScheduler, SubflowScheduler, View, fastest};
use anabranch_units::{Instant, Span};

/// Blocking estimation (Ferlin, Alay, Mehani, Boreli, "BLEST: Blocking estimation-based MPTCP scheduler for
/// heterogeneous networks", IFIP Networking 2016): when the fastest subflow has no room, a slower one takes data
/// only if that leaves window for all that the fastest can send meanwhile.
///
/// The correction of the estimate starts, moves and stays within bounds as in the authors' code for Linux, which
/// the paper leaves open: from 1.2 between 1 and 1.3, at most every 1.25 round trips of the fastest subflow.
#[derive(Debug)]
pub struct Blest {
    /// The correction lambda, in thousandths.
    lambda: u32,
    /// The receive window was full since the last change.
    blocked: bool,
    changed_at: Instant,
}

const LEAST: u32 = 1000;
const MOST: u32 = 1300;
const RISE: u32 = 40;
const FALL: u32 = 10;

impl Default for Blest {
    fn default() -> Self {
        Self { lambda: 1200, blocked: false, changed_at: Instant::ZERO }
    }
}

impl Blest {
    fn correct(&mut self, now: Instant, shortest: Span) {
        if now.saturating_since(self.changed_at) < shortest.saturating_add(shortest / 4) {
            return;
        }
        self.changed_at = now;
        self.lambda = if std::mem::take(&mut self.blocked) {
            self.lambda + RISE
        } else {
            self.lambda.saturating_sub(FALL)
        }
        .clamp(LEAST, MOST);
    }

    /// Ferlin 2016, section III: X = MSS (cwnd + (rtts - 1) / 2) rtts bytes of the fast subflow during a round
    /// trip of the slow one, its window growing by a segment each of its own; they must fit beside what the slow one
    /// has in flight and the segment that it would take.
    fn would_block(&self, view: &View<'_>, fast: u8, slow: u8) -> bool {
        let (fast, slow) = (view.paths.get(fast), view.paths.get(slow));
        if fast.srtt == Span::ZERO {
            return false;
        }
        let rtts = slow.srtt.as_ps() as f64 / fast.srtt.as_ps() as f64;
        let bytes = (fast.cwnd as f64 + fast.payload as f64 * (rtts - 1.0) / 2.0) * rtts;
        let left = view.window.saturating_sub(slow.in_flight + slow.payload);
        bytes * f64::from(self.lambda) / 1000.0 > left as f64
    }
}

anabranch_units::parameters! {
    /// Lowest RTT first, unless a slow subflow would block the receive window (Ferlin 2016).
    pub struct BlestParameters {}
}

impl ConfiguredScheduler for Blest {
    type Parameters = BlestParameters;

    fn configured(_: &BlestParameters, _: usize) -> Self {
        Self::default()
    }
}

impl SubflowScheduler for Blest {
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        let fast = fastest(view.paths, view.paths.usable())?;
        self.correct(view.now, view.paths.get(fast).srtt);
        let subflow = fastest(view.paths, view.paths.ready())?;
        let take = subflow == fast || !self.would_block(view, fast, subflow);
        take.then_some(Choice { subflow, from: view.data_nxt })
    }

    fn on_blocked(&mut self, _now: Instant) {
        self.blocked = true;
    }
}
