//! Plans as files: what `anabranch routes --out` writes, and the scheme `given` reads.

use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Form, Read, entries, read_some, some_of};
use crate::scenario::Title;
use anabranch_units::declaration::{above, at_least};

crate::choices! {
    /// What the file is.
    pub enum PlanFormat {
        /// A plan.
        "anabranch-plan" => Plan,
    }
}

/// Names of links, of which there is one at least.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkNames(pub Vec<String>);

impl Read for LinkNames {
    fn form() -> Form {
        some_of::<String>()
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        read_some(node, at, problems).map(Self)
    }
}

/// Links by the name of the node that they leave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinksOfNodes(pub Vec<(String, Vec<String>)>);

impl Read for LinksOfNodes {
    fn form() -> Form {
        Form::Named(Box::new(Vec::<String>::form()), 0)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entries = entries("a dictionary", node, at, problems)?;
        let read: Vec<_> = entries
            .iter()
            .map(|(name, links)| Some((name.clone(), Read::read(links, &at.key(name), problems)?)))
            .collect();
        read.into_iter().collect::<Option<_>>().map(Self)
    }
}

crate::table! {
    /// A directed link of the network that a plan was made for.
    pub struct PlanLink {
        /// Its name.
        name: String;
        /// Rate of serialisation.
        capacity_bps: u64, at_least(1);
        /// Propagation delay.
        delay_ps: u64;
    }
}

crate::table! {
    /// A path with its share.
    pub struct PlanPath {
        /// The names of its links, in their order.
        links: LinkNames;
        /// Its share of the packets of its pair.
        weight: f64, above(0.0).at_most(1.0);
    }
}

crate::table! {
    /// The paths of a pair; none where it is forwarded hop by hop along the table of its destination.
    pub struct PlanRoute {
        /// Where it begins.
        source as "from": String;
        /// Where it ends.
        destination as "to": String;
        /// Its paths.
        paths: Vec<PlanPath>;
    }
}

crate::table! {
    /// Next hops towards a destination: for each node the links that share its packets equally.
    pub struct PlanTable {
        /// The destination.
        destination as "to": String;
        /// Links by node.
        next: LinksOfNodes;
    }
}

crate::table! {
    /// A plan as a file has it.
    pub struct PlanFile {
        /// What the file is.
        format: PlanFormat;
        /// Version of the format.
        format_version: u64, at_least(1).at_most(1);
        /// Version that wrote it.
        anabranch: Title;
        /// Title of the scenario.
        title: Title;
        /// Routing scheme.
        scheme: Title;
        /// What a short path is short in.
        metric: Title;
        /// How packets are spread over paths.
        load_balancing: Title;
        /// Names of nodes.
        nodes: Vec<String>;
        /// Links.
        links: Vec<PlanLink>;
        /// Paths of pairs.
        routes: Vec<PlanRoute>;
        /// Next hops.
        tables: Vec<PlanTable>;
    }
}
