//! A scenario: everything that one run needs.

use crate::controller::Controller;
use crate::event::{Event, Profile};
use crate::network::Network;
use crate::node::Node;
use crate::problem::{Place, Problem, Problems};
use crate::read::{Form, Read, Usual, entries};
use crate::routing::Routing;
use crate::run::{Capture, Run};
use crate::traffic::Traffic;
use crate::transport::Transport;

/// Entries of traffic; a plan needs none.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct AllTraffic(pub Vec<Traffic>);

impl Usual for AllTraffic {
    fn usual(&self) -> serde_json::Value {
        serde_json::json!([])
    }
}

impl Read for AllTraffic {
    fn form() -> Form {
        Vec::<Traffic>::form()
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Vec::read(node, at, problems).map(Self)
    }
}

/// Transports by name.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Transports(pub Vec<(String, Transport)>);

impl Usual for Transports {
    fn usual(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

impl Read for Transports {
    fn form() -> Form {
        Form::Named(Box::new(Transport::form()), 0)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entries = entries("a dictionary", node, at, problems)?;
        let read: Vec<_> = entries
            .iter()
            .map(|(name, table)| Some((name.clone(), Transport::read(table, &at.key(name), problems)?)))
            .collect();
        read.into_iter().collect::<Option<_>>().map(Self)
    }
}

/// One line for people; it may be empty.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Title(pub String);

impl Usual for Title {
    fn usual(&self) -> serde_json::Value {
        self.0.clone().into()
    }
}

impl Read for Title {
    fn form() -> Form {
        Form::AnyText
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if let Some(text) = node.text() {
            return Some(Self(text.to_owned()));
        }
        problems.add(at, format!("{} is not text; write it in double quotes", node.shown()));
        None
    }
}

/// The routing, and which of its fields the scenario gives: with a controller it may give but one.
#[derive(Clone, PartialEq, Debug)]
pub struct SaidRouting {
    /// The table.
    pub routing: Routing,
    /// The keys that are given.
    pub keys: Vec<String>,
}

impl Read for SaidRouting {
    fn form() -> Form {
        Routing::form()
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let keys = node.table().unwrap_or_default().iter().map(|(key, _)| key.clone()).collect();
        Routing::read(node, at, problems).map(|routing| Self { routing, keys })
    }
}

crate::table! {
    /// Everything one run needs: network, routing or controller, traffic, transports, events, measurements.
    ///
    /// Routes and loads need the network alone, with the bounds or the matrix of `routing.demand`.
    pub struct Scenario {
        /// One line for people.
        title: Title = Title::default();
        /// The network that carries the traffic.
        network: Network;
        /// How routes are chosen, and how packets are spread over them.
        routing: Option<SaidRouting>;
        /// The SDN controller that sets up every flow; left out, nodes forward by the routes of `routing`.
        controller: Option<Controller>;
        /// Who sends what to whom; a run needs some.
        traffic: AllTraffic = AllTraffic::default();
        /// Transports by name: presets with changes.
        transport: Transports = Transports::default();
        /// Changes of the network at given times.
        event: Vec<Event> = Vec::new();
        /// Measured conditions of links, replayed from files.
        profile: Vec<Profile> = Vec::new();
        /// How long, with which randomness, and what is sampled; a run needs it.
        run_settings as "run": Option<Run>;
        /// Packets written to files.
        capture: Vec<Capture> = Vec::new();
    }
}

impl Scenario {
    /// How long a run is; where the scenario does not say, that of none.
    #[must_use]
    pub fn run(&self) -> Run {
        self.run_settings.clone().unwrap_or_else(Run::none)
    }

    /// What a run needs and the scenario leaves out: routes and loads need less.
    #[must_use]
    pub fn lacks_for_run(&self) -> Vec<Problem> {
        let lacks = [
            ("traffic", self.traffic.0.is_empty(), "who sends what to whom: [[traffic]]"),
            ("run", self.run_settings.is_none(), "how long it takes: [run] duration = \"10 s\""),
        ];
        let missing = lacks.into_iter().filter(|(_, is_missing, _)| *is_missing);
        missing
            .map(|(key, _, what)| Problem::at(key, format!("is missing; a run needs to know {what}")))
            .collect()
    }
}
