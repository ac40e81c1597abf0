//! An application that is no part of this crate: the caller brings it along, as Python does.

use crate::control::{Application, View};
use anabranch_transport::Brought;
use std::fmt::Debug;

/// An application of the caller's own. All calls come from the thread that runs the simulation; every order of it
/// names nodes, links and flows that there are.
pub trait ExternalApplication: Application + Debug + Send {}

/// Makes the application of a run.
pub trait ApplicationMaker: Debug + Send + Sync {
    /// The application at the start of a run, which sees the network as it is then; `seed` differs between
    /// replications.
    fn application(&self, view: &View<'_>, seed: u64) -> Box<dyn ExternalApplication>;
}

anabranch_units::leaf! {
    /// The choice of such an application.
    pub struct ExternalApplicationSetup: "application" by "algorithm" = "python" {
        /// Its number among what the caller brings along.
        pub code: usize,
        /// Whether it hears of probes over links.
        pub probes_links: bool,
        ;
        /// What makes it.
        pub maker: Brought<dyn ApplicationMaker>,
    }
}
