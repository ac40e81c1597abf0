//! The discrete-event engine: links and queues, switches and balancers, hosts and applications,
//! failures and probes.
//!
//! Start at [`Simulation`]: a [`setup::Setup`] and a plan go in, tables come out. Everything below it is
//! given the time and does not know the event queue ([`schedule`]): links ([`link`]), balancers
//! ([`balancer`]), forwarding ([`forwarding`]), loss ([`loss`]) and queue disciplines ([`queues`]).

pub use anabranch_network as network;
pub use anabranch_routing as routing;
pub use anabranch_transport as transport;
pub use anabranch_units::records;

use anabranch_units::declaration::leaf::{Described, Leaf};

pub mod balancer;
pub mod capture;
mod check;
mod check_controller;
mod check_fabric;
pub mod control;
mod datagram;
pub mod error;
pub mod forwarding;
pub mod interfaces;
pub mod latency;
pub mod link;
mod link_setup;
pub mod loss;
pub mod packet;
pub mod partition;
pub mod ports;
pub mod queues;
pub mod random;
pub mod reordering;
pub mod schedule;
pub mod setup;
mod simulation;
pub mod variate;

pub use error::{EngineError, SetupError};
pub use simulation::{
    CriticalPath, Departure, ExternalPacket, Fate, FlowState, HeldState, LinkState, LostCapture, Outcome,
    Phase, Progress, Simulation,
};

/// What a setup holds that is no algorithm of a registry: plain data, described for the language that makes it.
#[must_use]
pub fn leaves() -> Vec<Leaf> {
    vec![
        Leaf::of_parameters::<routing::PathLimits>("path_limits"),
        network::Place::described(),
        setup::Variate::described(),
        setup::Limit::described(),
        setup::QueueSetup::described(),
        setup::SourceSetup::described(),
        setup::BlockSetup::described(),
        setup::PeakSetup::described(),
        setup::ShaperSetup::described(),
        setup::PolicerSetup::described(),
        setup::ReorderSetup::described(),
        setup::ChanceSetup::described(),
        setup::HashSeed::described(),
        setup::ReadingSetup::described(),
        setup::DatagramSource::described(),
        setup::Change::described(),
        setup::WaitSetup::described(),
        setup::CollectiveSetup::described(),
        setup::CapturePoint::described(),
        setup::FlowTableSetup::described(),
        setup::ControllerSetup::described(),
        transport::congestion::External::described(),
        transport::mptcp::ExternalScheduling::described(),
        transport::spray::paths::ExternalSelecting::described(),
        balancer::ExternalBalancing::described(),
        control::applications::ExternalApplicationSetup::described(),
    ]
}

/// Every algorithm of routing and of the engine that a scenario can name, with its parameters.
#[must_use]
pub fn described() -> Vec<anabranch_units::declaration::Registry> {
    vec![
        routing::ChosenScheme::described(),
        balancer::LoadBalancing::described(),
        loss::LossSetup::described(),
        queues::Discipline::described_with_room(),
        control::applications::ApplicationSetup::described(),
        routing::EstimatorSetup::described(),
    ]
}
