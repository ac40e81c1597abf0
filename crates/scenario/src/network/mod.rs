//! The network as a scenario has it: a topology by name, and what its links are like.

mod conditions;
mod file;
mod links;
mod nodes;
mod outage;
mod queue;

pub use conditions::{Chance, PacketChance, Policer, Reorder, Shaper};
pub use file::{AttributeSource, FileAttributes, TopologyFile};
pub use links::{Delay, Direction, DistanceDelay, Jitter, LinkOverride, LinkSelector, LinkSettings, Loss};
pub use nodes::{
    HashSeed, HostOverride, HostSettings, NewNode, NodeKind, Offload, RouterOverride, RouterSettings,
};
pub use outage::{ClockTime, Maintenance, Outage, RiskGroup};
pub use queue::{BandwidthDelay, Bound, Queue, Room, with_rtt};

use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::read::{Form, Read, Usual, entries};
use crate::words::{float, quoted};

crate::choices! {
    /// Delay of links by the size of their network (Gholizadeh 2019, section 3.1.1).
    pub enum DelayClass {
        /// Between 1 and 10 us.
        "LAN" => Lan,
        /// Between 1 and 10 ms.
        "WAN" => Wan,
    }
}

/// Text before the name of a file, relative to the scenario's folder.
pub const FILE: &str = "file:";

/// Whether a text is `file:` and a name.
#[must_use]
pub fn names_file(text: &str) -> bool {
    text.strip_prefix(FILE).is_some_and(|name| !name.is_empty())
}

/// A file of weights, such as `file:weights.csv`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeightsFile(pub String);

impl Read for WeightsFile {
    fn form() -> Form {
        Form::Text
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let text = String::read(node, at, problems)?;
        if names_file(&text) {
            return Some(Self(text));
        }
        problems.add(at, format!("{} is not like \"file:weights.csv\"", quoted(&text)));
        None
    }
}

/// Parameters of a generator, which knows what they are: any plain data, in which all numbers are finite.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Parameters(pub Vec<(String, Node)>);

impl Usual for Parameters {
    fn usual(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

impl Read for Parameters {
    fn form() -> Form {
        Form::Named(Box::new(Form::Free), 0)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entries = entries("a dictionary", node, at, problems)?;
        let before = problems.count();
        for (key, entry) in entries {
            note_unusable(entry, &at.key(key), problems);
        }
        (problems.count() == before).then(|| Self(entries.to_vec()))
    }
}

/// Notes NaN, infinities, whole numbers of more than 64 bits and dates, at any depth.
fn note_unusable(node: &Node, at: &Place<'_>, problems: &mut Problems) {
    let message = match &node.value {
        Value::Integer(value) if value.unsigned_abs() >> 64 == 0 => return,
        Value::Integer(_) | Value::Huge(_) => format!("{} is too large", node.shown()),
        Value::Float(value) if !value.is_finite() => {
            format!("{} is not a number that can be used; write a finite one", float(*value))
        }
        Value::Other(_) => {
            format!("{} is neither text, a number, true or false, a list nor a table", node.shown())
        }
        Value::List(entries) => {
            let entries = entries.iter().enumerate();
            return entries.for_each(|(place, entry)| note_unusable(entry, &at.entry(place), problems));
        }
        Value::Table(entries) => {
            return entries.iter().for_each(|(key, entry)| note_unusable(entry, &at.key(key), problems));
        }
        _ => return,
    };
    problems.add(at, message);
}

crate::table! {
    /// The network that carries the traffic.
    pub struct Network {
        /// `"zoo/Abilene"`, `"sndlib/germany50"`, `"file:net.graphml"`, or a generator: `"dumbbell"`. Left
        /// out, the network consists of the nodes and links that are listed here.
        topology: Option<String>;
        /// Parameters of a generator, with units: `bottleneck_capacity = "10 Mbps"`; they take precedence over
        /// `links`.
        parameters: Parameters = Parameters::default();
        /// How the file of a topology, `"file:net.graphml"`, is read.
        file: Option<TopologyFile>;
        /// Settings of all links; they take precedence over what a topology from a file or an archive says.
        links: LinkSettings = LinkSettings::default();
        /// Settings of the links at a host; they take precedence over `links`.
        access: LinkSettings = LinkSettings::default();
        /// Propagation delay of each link between two nodes that are no hosts, in place of that in `links`:
        /// drawn between 1 and 10 us (LAN) or between 1 and 10 ms (WAN).
        delay_class: Option<DelayClass>;
        /// Settings of single links, in this order; they take precedence over `links`.
        link: Vec<LinkOverride> = Vec::new();
        /// Weights of single links from a file, `"file:weights.csv"`, with the header `from,to,weight`, and
        /// `index` for parallel links; they take precedence over `links`, and `link` over them.
        weights: Option<WeightsFile>;
        /// Nodes added to the topology.
        node: Vec<NewNode> = Vec::new();
        /// Settings of all nodes where traffic begins.
        hosts: HostSettings = HostSettings::default();
        /// Settings of single hosts, in this order; they take precedence over `hosts`.
        host: Vec<HostOverride> = Vec::new();
        /// Settings of all nodes that pass packets on.
        routers: RouterSettings = RouterSettings::default();
        /// Settings of single routers, in this order; they take precedence over `routers`.
        router: Vec<RouterOverride> = Vec::new();
        /// Links and nodes that are out of service: whatever asks for the network sees it without them. A matrix of traffic
        /// loses its entries at these nodes.
        out_of_service: Option<Outage>;
        /// Links and nodes that fail together; those of one name in a topology's own column `risk_group` are such groups, too.
        risk_group: Vec<RiskGroup> = Vec::new();
        /// Windows of a day in which links and nodes are down; `anabranch load` says what each does.
        maintenance: Vec<Maintenance> = Vec::new();
    }
}
