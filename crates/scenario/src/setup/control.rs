//! The SDN controller of a run: its node, its control links and its part of the setup.

use super::draws::Draws;
use super::lay;
use super::network::{Network, and_more};
use super::own::{OwnCode, OwnKind};
use super::plain::PlainLink;
use super::reach::Reach;
use super::wires::{Settings, Wire};
use crate::algorithm::Chosen;
use crate::controller::{Channel, Controller, Switches, WhenFull};
use crate::network::{LinkSettings, Queue};
use crate::problem::{Place, Problems};
use crate::words::quoted;
use anabranch_engine::control;
use anabranch_engine::setup::{ApplicationSetup, ControllerSetup, FlowTableSetup, TransportSetup};
use anabranch_units::NodeId;
use serde_json::Value;

/// Name of the node that a scenario's controller adds to the network.
const NAME: &str = "controller";
/// Where the control links of all switches stand.
const LINKS: &str = "controller.links";
const AT: Place<'static> = Place::Told("controller");

/// Adds the controller of a scenario to the network; its setup, without what the flows add. What is wrong is noted.
///
/// The node and the links come after those of the network, whose ids thus stay what they are without it.
pub(super) fn add_controller(
    table: &Controller,
    routing_keys: &[String],
    network: &mut Network,
    draws: Draws,
    own_code: &mut dyn OwnCode,
    problems: &mut Problems,
) -> Option<ControllerSetup> {
    // How long routing takes to notice a change is how long the controller does.
    let mut keys: Vec<_> = routing_keys.iter().filter(|key| *key != "reaction").collect();
    keys.sort();
    for key in keys {
        let is_choice = ["scheme", "metric"].contains(&key.as_str());
        let remedy = if is_choice { "; its own metric is controller.metric" } else { "" };
        let message = format!("the controller chooses the paths, so leave this out{remedy}");
        problems.add_at(&format!("routing.{key}"), message);
    }
    let node = controller_node(table, network, problems);
    let switches = switches(table, node, network, problems);
    let node = node.filter(|_| !switches.is_empty())?;
    (network.controller, network.switches) = (Some(node), Some(switches.clone()));
    match table.channel {
        Channel::Apart => lay_apart(table, &switches, network, draws, problems),
        Channel::InBand => lay_in_band(table, node, &switches, network, draws, problems),
    }
    Some(ControllerSetup {
        node: NodeId(node),
        switches: switches.into_iter().map(NodeId).collect(),
        channel: match table.channel {
            Channel::Apart => control::channel::Channel::Apart,
            Channel::InBand => control::channel::Channel::InBand,
        },
        application: application(table, own_code, problems)?,
        metric: table.path_metric(),
        flow_metrics: Vec::new(),
        table: FlowTableSetup {
            size: table.table.size,
            when_full: match table.table.when_full {
                WhenFull::Refuse => control::table::WhenFull::Refuse,
                WhenFull::Evict => control::table::WhenFull::Evict,
            },
            idle_timeout: table.table.idle_timeout,
            hard_timeout: table.table.hard_timeout,
        },
        linger: table.linger,
        processing_delay: table.processing_delay.as_ref().map(crate::variate::Drawn::variate),
        statistics_interval: table.polling(),
    })
}

fn application(
    table: &Controller,
    own_code: &mut dyn OwnCode,
    problems: &mut Problems,
) -> Option<ApplicationSetup> {
    let at = AT.key("application");
    let value = match &table.application.0 {
        Chosen::Declared(configuration) => Value::Object(configuration.clone()),
        Chosen::Own(chosen) => match own_code.algorithm(OwnKind::ControllerApplication, chosen, &[]) {
            Ok(value) => value,
            Err(message) => {
                problems.add(&at, message);
                return None;
            }
        },
    };
    serde_json::from_value(value).map_err(|error| problems.add(&at, error.to_string())).ok()
}

/// The node that is the controller, added where it is none of the network.
fn controller_node(table: &Controller, network: &mut Network, problems: &mut Problems) -> Option<u32> {
    if let Some(node) = &table.node {
        return network.find(node, &AT.key("node"), problems);
    }
    if network.id(NAME).is_none() {
        return Some(network.add_node(NAME));
    }
    let name = quoted(NAME);
    let message = format!(
        "{} has a node {name} already; if it is to be the controller, write channel = \"in-band\" and node = {name}",
        network.label
    );
    problems.add(&AT, message);
    None
}

fn switches(
    table: &Controller,
    controller: Option<u32>,
    network: &Network,
    problems: &mut Problems,
) -> Vec<u32> {
    let nodes = 0..network.node_count() as u32;
    let usual: Vec<u32> = nodes.filter(|&node| Some(node) != controller && !network.is_host(node)).collect();
    let at = AT.key("switches");
    let Switches::Several(names) = &table.switches else {
        if usual.is_empty() {
            let message = format!("every node of {} is a host; list those that are switches", network.label);
            problems.add(&at, message);
        }
        return usual;
    };
    let before = problems.count();
    let mut listed: Vec<u32> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let place = at.entry(index);
        let Some(node) = network.find(name, &place, problems) else { continue };
        if Some(node) == controller {
            problems.add(&place, "is the controller, which is no switch");
        } else if listed.contains(&node) {
            problems.add(&place, format!("names {} twice", quoted(network.name(node))));
        } else {
            listed.push(node);
        }
    }
    // With what is left of a wrong list, flows would lack ways that the right one gives them.
    if problems.count() > before {
        return usual;
    }
    listed.sort_unstable();
    listed
}

/// A control link loses nothing unless somebody says so.
fn usual_settings(table: &Controller) -> LinkSettings {
    table.links.over(&LinkSettings { queue: Some(Queue::unlimited()), ..LinkSettings::default() })
}

fn wire(switch: &str, settings: &LinkSettings) -> Wire {
    let link = PlainLink { a: NAME.into(), b: switch.into(), ..PlainLink::default() };
    let settings_of_way = || Settings::of(settings.clone());
    Wire { link, ways: [settings_of_way(), settings_of_way()], place: LINKS }
}

/// A control link to each switch.
fn lay_apart(
    table: &Controller,
    switches: &[u32],
    network: &mut Network,
    draws: Draws,
    problems: &mut Problems,
) {
    let mut settings = vec![usual_settings(table); switches.len()];
    for (index, entry) in table.link.iter().enumerate() {
        let place = format!("controller.link[{index}].switch");
        if let Some(switch) = switch(&entry.switch, &Place::Told(&place), switches, network, problems) {
            let of = switches.iter().position(|other| *other == switch).expect("a switch of the controller");
            settings[of] = entry.settings.over(&settings[of]);
        }
    }
    let wires: Vec<_> = switches
        .iter()
        .zip(&settings)
        .map(|(&switch, settings)| wire(network.name(switch), settings))
        .collect();
    lay::lay(network, &wires, "the controller", false, draws, problems);
}

/// The one link of a controller that is added; then whether it reaches its switches.
fn lay_in_band(
    table: &Controller,
    controller: u32,
    switches: &[u32],
    network: &mut Network,
    draws: Draws,
    problems: &mut Problems,
) {
    if let Some(at) = &table.at {
        let Some(at) = switch(at, &AT.key("at"), switches, network, problems) else { return };
        let wires = [wire(network.name(at), &usual_settings(table))];
        lay::lay(network, &wires, "the controller", false, draws, problems);
    }
    let links = || network.links.iter().map(|link| (link.from.0, link.to.0));
    let mut reach = Reach::new(network.node_count(), links(), Some(switches));
    let firsts: Vec<_> =
        links().filter(|(from, to)| *from == controller && switches.contains(to)).map(|(_, to)| to).collect();
    let mut is_lost = |switch: u32| {
        !firsts.iter().any(|&first| reach.connects(first, switch)) || !reach.connects(switch, controller)
    };
    let lost: Vec<_> = switches.iter().copied().filter(|&switch| is_lost(switch)).collect();
    if let Some(&first) = lost.first() {
        let message = format!(
            "no path over the switches between the controller and {}{}; leave it out of switches, or choose channel \
             = \"apart\"",
            quoted(network.name(first)),
            and_more(lost.len())
        );
        problems.add(&AT.key("channel"), message);
    }
}

/// Id of a switch by name; an unknown one, or a node that is none, is noted.
fn switch(
    name: &str,
    at: &Place<'_>,
    switches: &[u32],
    network: &Network,
    problems: &mut Problems,
) -> Option<u32> {
    let node = network.find(name, at, problems)?;
    if switches.contains(&node) {
        return Some(node);
    }
    problems.add(at, format!("{} is no switch of the controller", quoted(network.name(node))));
    None
}

/// Notes a transport of a flow that the controller, or its absence, does not serve.
pub(super) fn check_transport(
    table: Option<&Controller>,
    transport: &TransportSetup,
    at: &Place<'_>,
    problems: &mut Problems,
) {
    let (protocol, name) = (transport.config.name(), quoted(&transport.name));
    let application = table.map(|table| table.application.0.name().unwrap_or("python"));
    let message = match (protocol, application) {
        ("sdn-paced", Some("sdn-paced")) => return,
        ("sdn-paced", _) => {
            let remedy = application.map_or_else(
                || "write [controller] with application = \"sdn-paced\"".to_owned(),
                |other| format!("set controller.application = \"sdn-paced\" in place of {}", quoted(other)),
            );
            format!("{name} sends only when a controller says so; {remedy}")
        }
        ("mptcp", Some(other)) if other != "subflow-round-robin" => format!(
            "{name} speaks mptcp, and the controller knows flows, not their subflows; choose a transport of TCP, \
             such as \"cubic\", controller.application = \"subflow-round-robin\", or leave [controller] out"
        ),
        (other, Some("window-clamp")) if other != "tcp" => format!(
            "the controller clamps windows of TCP, and {name} speaks {protocol}; choose a transport of TCP, such as \
             \"cubic\", or another controller.application"
        ),
        _ => return,
    };
    problems.add(at, message);
}
