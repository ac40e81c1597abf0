//! The nodes of the network as a scenario has them.

use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Form, Quantity, Read, Segments, Within};
use crate::variate::Drawn;
use anabranch_units::Span;
use anabranch_units::declaration::at_least;

crate::choices! {
    /// What a node is.
    pub enum NodeKind {
        /// It passes packets on.
        "router" => Router,
        /// It passes packets on, perhaps by the tables of a controller.
        "switch" => Switch,
        /// Traffic begins and ends there.
        "host" => Host,
    }
}

crate::table! {
    /// One more node.
    pub struct NewNode {
        /// A name that the topology does not have.
        name: String;
        /// Degrees north.
        latitude: Option<f64>, at_least(-90.0).at_most(90.0);
        /// Degrees east.
        longitude: Option<f64>, at_least(-180.0).at_most(180.0);
        /// What it is; left out, a router. Hosts are what `"*"` stands for, and no switches of a controller.
        kind: Option<NodeKind>;
    }
    together |read, table| {
        let missing = match (read.latitude, read.longitude) {
            (None, Some(_)) => "latitude",
            (Some(_), None) => "longitude",
            _ => return Some(()),
        };
        table.refuse(missing, "is missing; a place has both latitude and longitude")
    };
}

/// Most segments that leave as one train.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offload(pub Segments);

impl Read for Offload {
    fn form() -> Form {
        Segments::form_within(&at_least(Segments(1)).at_most(Segments(65_535)))
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let segments = Segments::read(node, at, problems)?;
        let message = match segments.base() {
            0 => format!("{} must be at least 1", node.shown()),
            1..=65_535 => return Some(Self(segments)),
            _ => format!("{} must be at most 65535", node.shown()),
        };
        problems.add(at, message);
        None
    }
}

crate::table! {
    /// What the hosts do besides their transports.
    pub struct HostSettings {
        /// Segmentation offload: up to so many segments of a flow that leave at once are one train, such as
        /// `"44 segments"` (64 kB). Links take, delay, mark and lose it as one packet; the receiving host answers
        /// it with one ACK. Left out: each segment is a packet.
        offload: Option<Offload>;
        /// How long a host takes until it looks at a packet that has come for it: a time, or a distribution of
        /// which each packet draws its own. Packets stay in order, and those that a node passes on do not wait. Left
        /// out: no time.
        processing_delay: Option<Drawn<Span>>;
    }
    layered over;
}

crate::table! {
    /// Settings of one host.
    pub struct HostOverride: settings: HostSettings {
        /// A node where traffic begins.
        name: String;
    }
}

/// What a router mixes into its hashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashSeed {
    /// This number.
    Given(u32),
    /// One that is drawn.
    Random,
}

impl HashSeed {
    const RANDOM: &'static str = "random";

    /// The same as the engine has it.
    #[must_use]
    pub fn setup(self) -> anabranch_engine::setup::HashSeed {
        use anabranch_engine::setup::HashSeed as Setup;
        match self {
            Self::Given(seed) => Setup::Given { seed: seed.into() },
            Self::Random => Setup::Drawn {},
        }
    }
}

impl Read for HashSeed {
    fn form() -> Form {
        Form::OneOf(vec![u32::form(), Form::Choice(vec![Self::RANDOM])])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match node.text() {
            Some(Self::RANDOM) => Some(Self::Random),
            Some(_) => {
                let message = format!("{} is neither a number nor \"random\"", node.shown());
                problems.add(at, message);
                None
            }
            None if let Some(message) = u32::improper(node) => {
                problems.add(at, message);
                None
            }
            None => u32::read(node, at, problems).map(Self::Given),
        }
    }
}

crate::table! {
    /// What the nodes do that pass packets on.
    pub struct RouterSettings {
        /// How long a router or switch takes from the arrival of a packet until that is in the queue of its next
        /// link: a time, or a distribution of which each packet draws its own. Packets stay in order, and those that
        /// are for the node itself do not wait. Left out: no time.
        processing_delay: Option<Drawn<Span>>;
        /// What it mixes into the hashes by which it balances load, for all destinations alike: a number, or `"random"`,
        /// a number of its own that is drawn. Routers of the same number choose alike. Left out: a number of its own
        /// for each destination.
        hash_seed: Option<HashSeed>;
    }
    layered over;
}

crate::table! {
    /// Settings of one router.
    pub struct RouterOverride: settings: RouterSettings {
        /// A node that passes packets on.
        name: String;
    }
}
