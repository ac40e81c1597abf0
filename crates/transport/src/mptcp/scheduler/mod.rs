//! Schedulers: which subflow takes the next segment, and with what. Dispatch is an enum.
//!
//! The registry is the call of `schedulers!` below: a name, and the type that has its parameters and its code.

mod blest;
mod ecf;
mod external;
mod linux;
mod lowest_rtt;
mod redundant;
mod round_robin;
#[cfg(test)]
mod tests;

use super::paths::Paths;
use anabranch_units::Instant;
use anabranch_units::declaration::Parameters;
use blest::Blest;
pub use blest::BlestParameters;
use ecf::Ecf;
pub use ecf::EcfParameters;
use external::External;
pub use external::{ExternalScheduler, ExternalScheduling, ReadySubflow, SchedulerMaker, WaitingData};
use linux::Linux;
pub use linux::LinuxParameters;
use lowest_rtt::LowestRtt;
pub use lowest_rtt::LowestRttParameters;
use redundant::Redundant;
pub use redundant::RedundantParameters;
use round_robin::RoundRobin;
pub use round_robin::RoundRobinParameters;

/// What a scheduler sees. Positions are in the data of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) now: Instant,
    pub(super) paths: &'a Paths,
    /// First position that is not acknowledged.
    pub(super) data_una: u64,
    /// First position that no subflow has been given.
    pub(super) data_nxt: u64,
    /// Position behind the last that may be sent: what is written, and what the receive window admits.
    pub(super) limit: u64,
    /// Bytes of the receive window, from `data_una` on.
    pub(super) window: u64,
}

/// What a scheduler decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    /// The subflow that takes the next segment; it is ready.
    pub(super) subflow: u8,
    /// Position from which on it takes data: `data_nxt`, or less where data are repeated.
    pub(super) from: u64,
}

/// Data that a subflow takes into its queue, whether it has room or not; they begin at `data_nxt`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Burst {
    /// The subflow that takes them.
    pub(super) subflow: u8,
    /// How many; above 0.
    pub(super) bytes: u64,
}

/// A scheduler that a scenario can name.
pub trait ConfiguredScheduler {
    /// What it lets a user choose.
    type Parameters: Parameters;

    /// The scheduler at the start of a connection of so many subflows; the parameters are within their bounds.
    fn configured(parameters: &Self::Parameters, subflows: usize) -> Self;
}

/// A scheduler at work.
pub(super) trait SubflowScheduler {
    /// Which subflow takes the next segment of data below `limit`; none to wait.
    fn pick(&mut self, view: &View<'_>) -> Option<Choice>;

    /// A ready subflow for data that another one was given already.
    fn pick_for_repetition(&self, view: &View<'_>) -> Option<u8> {
        fastest(view.paths, view.paths.ready())
    }

    /// Whether it gives data to queues of the subflows, by [`SubflowScheduler::assign`], before they have room.
    fn queues(&self) -> bool {
        false
    }

    /// The next data for a queue; none to wait.
    fn assign(&mut self, _view: &View<'_>) -> Option<Burst> {
        None
    }

    /// Whether data that were sent may be picked for other subflows too, so that none need be reinjected.
    fn repeats(&self) -> bool {
        false
    }

    /// The connection has one more subflow.
    fn add_subflow(&mut self) {}

    /// A subflow took data up to `end`.
    fn on_sent(&mut self, _subflow: u8, _end: u64) {}

    /// The receive window is full though a subflow has room.
    fn on_blocked(&mut self, _now: Instant) {}
}

/// Passes a call on to whichever scheduler it is.
macro_rules! each_scheduler {
    ($self:ident, $scheduler:ident => $call:expr; $($variant:ident)+) => {
        match $self { $( Scheduler::$variant($scheduler) => $call, )+ }
    };
}

/// Makes the configuration, the scheduler and the dispatch of one list of algorithms.
macro_rules! schedulers {
    ($( $name:literal => $variant:ident($scheduler:ty) ),+ $(,)?; $external:literal) => {
        anabranch_units::registry! {
            /// Which subflow takes the next segment.
            pub enum SchedulerConfig: "scheduler" {
                $( $name => $variant(<$scheduler as ConfiguredScheduler>::Parameters), )+
                ; $external => External(ExternalScheduling)
            }
        }

        /// The scheduler of a connection.
        #[derive(Debug)]
        pub(super) enum Scheduler {
            $( $variant($scheduler), )+
            External(External),
        }

        impl Scheduler {
            pub(super) fn new(config: &SchedulerConfig, subflows: usize) -> Self {
                match config {
                    $( SchedulerConfig::$variant(parameters) => {
                        Self::$variant(ConfiguredScheduler::configured(parameters, subflows))
                    } )+
                    SchedulerConfig::External(choice) => Self::External(External::new(choice)),
                }
            }
        }

        dispatch_schedulers!($($variant)+ External);
    };
}

/// Passes every call of [`SubflowScheduler`] on.
macro_rules! dispatch_schedulers {
    ($($variant:ident)+) => {
        impl SubflowScheduler for Scheduler {
            #[inline]
            fn pick(&mut self, view: &View<'_>) -> Option<Choice> {
                each_scheduler!(self, s => s.pick(view); $($variant)+)
            }

            fn pick_for_repetition(&self, view: &View<'_>) -> Option<u8> {
                each_scheduler!(self, s => s.pick_for_repetition(view); $($variant)+)
            }

            #[inline]
            fn repeats(&self) -> bool {
                each_scheduler!(self, s => s.repeats(); $($variant)+)
            }

            #[inline]
            fn queues(&self) -> bool {
                each_scheduler!(self, s => s.queues(); $($variant)+)
            }

            fn assign(&mut self, view: &View<'_>) -> Option<Burst> {
                each_scheduler!(self, s => s.assign(view); $($variant)+)
            }

            fn add_subflow(&mut self) {
                each_scheduler!(self, s => s.add_subflow(); $($variant)+);
            }

            #[inline]
            fn on_sent(&mut self, subflow: u8, end: u64) {
                each_scheduler!(self, s => s.on_sent(subflow, end); $($variant)+);
            }

            fn on_blocked(&mut self, now: Instant) {
                each_scheduler!(self, s => s.on_blocked(now); $($variant)+);
            }
        }
    };
}

schedulers! {
    "lowest-rtt" => LowestRtt(LowestRtt),
    "round-robin" => RoundRobin(RoundRobin),
    "redundant" => Redundant(Redundant),
    "blest" => Blest(Blest),
    "ecf" => Ecf(Ecf),
    "linux" => Linux(Linux),
    // What the caller brings along has no line here, but a name (`external.rs`).
    ; "python"
}

/// The one with the smallest smoothed RTT, the first of several; one without a sample counts as zero, as there.
#[inline]
fn fastest(paths: &Paths, among: impl Iterator<Item = u8>) -> Option<u8> {
    among.min_by_key(|&subflow| paths.get(subflow).srtt)
}
