//! From the tables of a scenario to what the engine runs: names become ids, quantities numbers in base units, and the
//! random variates that shape network and traffic are drawn.
//!
//! [`resolve()`] has the phases in their order. Each takes what the one before has made: a [`PlainNetwork`] is what a topology
//! gives, a [`Network`] has the scenario's settings and finds nodes by name, a controller adds to it, and [`Flows`] are made
//! over it.

mod addresses;
mod arrivals;
mod bounds;
mod bursts;
mod changes;
mod collectives;
mod control;
mod csv_table;
mod draws;
mod flow_list;
mod flows;
mod lay;
mod matrix;
mod network;
mod outages;
mod own;
mod pair_rates;
mod pairs;
mod plain;
mod profile;
mod reach;
mod resolve;
mod rooms;
mod routes;
mod sampled;
mod traffic_nodes;
mod transports;
mod watched;
mod weights;
mod wires;

pub use arrivals::NEVER;
pub use bounds::{DemandSetup, PairBps};
pub use changes::changes_of;
pub use draws::Draws;
pub(crate) use draws::quotient;
pub use flows::{EntrySetup, FlowColumns, FlowSlices, Flows, Given};
pub use matrix::DemandBounds;
pub use network::Network;
pub use outages::{OutageSetup, Outages};
pub use own::{NoOwnCode, OwnCode, OwnKind};
pub use plain::{
    CumulativeSize, DemandUnit, Files, Numbering, PlainFlows, PlainLink, PlainMatrix, PlainNetwork,
    PlainNode, PlainTraffic,
};
pub use reach::Reach;
pub use resolve::{Resolved, World, resolve};
pub use routes::{OwnRoutes, Planned};
