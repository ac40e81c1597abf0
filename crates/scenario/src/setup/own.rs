//! Code of the user's own, which whoever calls the core brings along, or does not.

use crate::algorithm::OwnAlgorithm;
use anabranch_engine::setup::LinkSetup;

/// What a class of the user's own is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnKind {
    /// A congestion control.
    CongestionControl,
    /// A scheduler of Multipath TCP.
    Scheduler,
    /// A load balancer.
    LoadBalancer,
    /// An application of the SDN controller.
    ControllerApplication,
    /// A routing scheme, whose plan is made by whoever has the class.
    RoutingScheme,
    /// A path selector of `spray`.
    PathSelector,
}

/// Where classes of the user's own are found.
pub trait OwnCode {
    /// An algorithm of a class, as the engine reads it, or a scheme as its planner does; a load balancer is told the links
    /// of the run.
    ///
    /// # Errors
    /// Why there is none, as a message.
    fn algorithm(
        &mut self,
        kind: OwnKind,
        chosen: &OwnAlgorithm,
        links: &[LinkSetup],
    ) -> Result<serde_json::Value, String>;
}

/// No code of the user's own, as in a browser.
#[derive(Clone, Copy, Debug)]
pub struct NoOwnCode;

impl OwnCode for NoOwnCode {
    fn algorithm(
        &mut self,
        _: OwnKind,
        chosen: &OwnAlgorithm,
        _: &[LinkSetup],
    ) -> Result<serde_json::Value, String> {
        Err(format!("\"{}\" is a class of your own, and no Python runs here", chosen.python))
    }
}
