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
    /// What 1 means in that matrix, if the source says so.
    #[serde(default)]
    pub demand_unit: Option<DemandUnit>,
}

/// The unit of a matrix as its source states it.
#[derive(Clone, PartialEq, Deserialize, Serialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct DemandUnit {
    /// For messages: `MBITPERSEC`.
    pub name: String,
    /// Bits per second that 1 stands for.
    pub bps: f64,
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
    /// Groups of links that share a risk, by name, if the topology knows some.
    #[serde(default)]
    pub risk_groups: Vec<String>,
}

/// Where the files that a scenario names come from: a folder, or a map in a browser.
pub trait Files {
    /// The text of a file by its name.
    ///
    /// # Errors
    /// Why there is none, as the end of a message: `"x.csv" cannot be read: ...`.
    fn text(&self, name: &str) -> Result<String, String>;

    /// The traffic that a file lists; none where the core reads the file itself, because it is a CSV of rates.
    ///
    /// # Errors
    /// Why there is none, as the end of a message.
    fn traffic(&self, name: &str) -> Result<Option<PlainTraffic>, String>;
}

/// How a file of traffic names nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbering {
    /// By the names, or further names, that the network has for them.
    Names,
    /// By their numbers in the network, from 0.
    Nodes,
    /// By their numbers among its hosts, from 0.
    Hosts,
}

/// Traffic as a file lists it, before its nodes are looked for in a network.
#[derive(Clone, PartialEq, Debug)]
pub struct PlainTraffic {
    /// The name of the file's format.
    pub format: String,
    /// The nodes as the file writes them, once each.
    pub nodes: Vec<String>,
    /// What these names are.
    pub numbering: Numbering,
    /// What 1 means in the matrices, if the file or its format says so.
    pub unit: Option<DemandUnit>,
    /// Traffic matrices in the order of the file.
    pub matrices: Vec<PlainMatrix>,
    /// Single flows.
    pub flows: PlainFlows,
    /// A distribution of sizes.
    pub sizes: Vec<CumulativeSize>,
}

/// A traffic matrix; all columns have the same length.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct PlainMatrix {
    /// What the file calls it, such as its time; empty for nothing.
    pub label: String,
    /// Place of each entry's sender in [`PlainTraffic::nodes`].
    pub from: Vec<u32>,
    /// Place of each entry's receiver.
    pub to: Vec<u32>,
    /// In the file's unit.
    pub value: Vec<f64>,
    /// From the first matrix of the file to this one, in seconds, if the file or its format says so.
    pub start_s: Option<f64>,
}

/// Flows of a size each; all columns have the same length.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct PlainFlows {
    /// Place of each flow's sender in [`PlainTraffic::nodes`].
    pub from: Vec<u32>,
    /// Place of each flow's receiver.
    pub to: Vec<u32>,
    /// What it sends.
    pub bytes: Vec<u64>,
    /// When it begins, in picoseconds.
    pub start_ps: Vec<u64>,
}

/// A point of a distribution of sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CumulativeSize {
    /// A size.
    pub bytes: f64,
    /// The probability of a smaller or an equal one.
    pub probability: f64,
}
