//! What stands outside of a scenario's text: the network that its topology gives, and the files that it names.

use serde::{Deserialize, Serialize};

/// A network as a topology gives it, before a scenario says anything about it.
#[derive(Clone, Default, Deserialize, Serialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct PlainNetwork {
    /// What messages call it.
    pub label: String,
    /// Whether a generator made it, whose parameters stand in the scenario and beat `network.links`.
    pub is_generated: bool,
    /// Its nodes; the place in this list is the id.
    pub nodes: Vec<PlainNode>,
    /// Its links.
    pub links: Vec<PlainLink>,
    /// Its own traffic matrix in its own unit, by the names of nodes, if it has one.
    pub demands: Option<Vec<(String, String, f64)>>,
}

/// A node of a topology.
#[derive(Clone, Default, Deserialize, Serialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct PlainNode {
    /// Its name.
    pub name: String,
    /// Further names that find it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Whether it is marked a host.
    #[serde(default)]
    pub is_host: bool,
    /// Degrees north and east.
    #[serde(default)]
    pub place: Option<(f64, f64)>,
}

/// A link of a topology: both directions, or the one from `a` to `b`.
#[derive(Clone, Default, Deserialize, Serialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct PlainLink {
    /// One end.
    pub a: String,
    /// The other end.
    pub b: String,
    /// Whether it leads from `a` to `b` only.
    #[serde(default)]
    pub is_directed: bool,
    /// Rate, if the topology knows it.
    #[serde(default)]
    pub capacity_bps: Option<u64>,
    /// Propagation delay, if the topology knows it.
    #[serde(default)]
    pub delay_ps: Option<u64>,
    /// Share of packets lost, if the topology knows it; any number.
    #[serde(default)]
    pub loss: Option<f64>,
    /// Cost, if the topology knows it; any number.
    #[serde(default)]
    pub weight: Option<f64>,
    /// Length, if it is known.
    #[serde(default)]
    pub length_km: Option<f64>,
}

/// Where the files that a scenario names come from: a folder, or a map in a browser.
pub trait Files {
    /// The text of a file by its name.
    ///
    /// # Errors
    /// Why there is none, as the end of a message: `"x.csv" cannot be read: ...`.
    fn text(&self, name: &str) -> Result<String, String>;
}
