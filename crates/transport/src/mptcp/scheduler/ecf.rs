use super::{Choice, ConfiguredScheduler, SubflowScheduler, View, fastest};
use crate::mptcp::paths::Path;
use anabranch_units::Span;
use anabranch_units::declaration::at_least;

/// Earliest completion first (Lim, Nahum, Towsley, Gibbens, "ECF: An MPTCP path scheduler to manage heterogeneous
/// paths", CoNEXT 2017, algorithm 1): when the fastest subflow has no room, a slower one takes data unless what is left
/// is done earlier by waiting for the fastest. As in the authors' code for Linux, a subflow takes at least one round trip,
/// however little is left.
///
/// Two things differ from that code: its deviation of the RTT is half of Linux's rttvar, and so 100 ms at least, where
/// this is RFC 6298's RTTVAR; and what is left is bounded by its send buffer, where this is bounded by the receive window,
/// and by the send buffers where they are tuned.
#[derive(Debug)]
pub struct Ecf {
    beta: f64,
    /// It has decided to wait, and needs a stronger reason to stop.
    waiting: bool,
}

anabranch_units::parameters! {
    /// Lowest RTT first, but a slower subflow waits for the fastest if that completes earlier (Lim et al. 2017).
    #[derive(Copy)]
    pub struct EcfParameters {
        /// How much more a slower subflow must promise once it waits (section 4: 0.25).
        beta: f64 = 0.25, at_least(0.0);
    }
}

impl ConfiguredScheduler for Ecf {
    type Parameters = EcfParameters;

    fn configured(parameters: &EcfParameters, _: usize) -> Self {
        Self { beta: parameters.beta, waiting: false }
    }
}

impl Ecf {
    /// Algorithm 1 for the fastest subflow f and the slower one s that has room, with k segments left: f is done after
    /// n = 1 + k / CWND_f of its round trips, the first of which it has no room; delta = max(sigma_f, sigma_s).
    fn waits(&mut self, view: &View<'_>, fast: u8, slow: u8) -> bool {
        let seconds = |span: Span| span.as_ps() as f64;
        let (fast, slow) = (view.paths.get(fast), view.paths.get(slow));
        let left = (view.limit - view.data_nxt) as f64;
        let delta = seconds(fast.rttvar.max(slow.rttvar));
        let (rtt_f, rtt_s) = (seconds(fast.srtt), seconds(slow.srtt));
        let rounds = |path: &Path| (left / path.cwnd.max(1) as f64).max(1.0);
        let hysteresis = if self.waiting { 1.0 + self.beta } else { 1.0 };
        if (1.0 + rounds(fast)) * rtt_f >= hysteresis * (rtt_s + delta) {
            self.waiting = false;
            return false;
        }
        let wait = rounds(slow) * rtt_s >= 2.0 * rtt_f + delta;
        self.waiting |= wait;
        wait
    }
}

impl SubflowScheduler for Ecf {
    fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
        let fast = fastest(view.paths, view.paths.usable())?;
        let subflow = fastest(view.paths, view.paths.ready())?;
        let take = subflow == fast || !self.waits(view, fast, subflow);
        take.then_some(Choice { subflow, from: view.data_nxt })
    }
}
