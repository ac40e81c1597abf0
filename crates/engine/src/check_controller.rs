//! Checks the SDN controller of a setup.

use crate::error::SetupError;
use crate::setup::{ApplicationSetup, Channel, ControllerSetup, Setup};
use crate::variate::Sampler;
use anabranch_routing::MetricKind;
use anabranch_units::{NodeId, Span};
use std::collections::BTreeSet;

fn error(place: &str, problem: impl Into<String>) -> SetupError {
    SetupError::new(format!("controller.{place}"), problem)
}

/// Checks everything about the controller, if there is one; nodes and links of the setup have been checked.
pub fn check_controller(setup: &Setup, longest: Span) -> Result<(), SetupError> {
    let Some(controller) = &setup.controller else { return Ok(()) };
    check_nodes(setup, controller)?;
    check_channels(setup, controller)?;
    check_application(setup, controller)?;
    let table = &controller.table;
    if table.size == Some(0) {
        return Err(error("table.size", "must be above zero"));
    }
    let timeouts = [table.idle_timeout, table.hard_timeout, controller.statistics_interval];
    for time in timeouts.into_iter().flatten() {
        if time == Span::ZERO || time > longest {
            let places = "table.idle_timeout, table.hard_timeout, statistics_interval";
            return Err(error(places, "must be above zero and at most 30 days"));
        }
    }
    if let Some(delay) = &controller.processing_delay {
        Sampler::new(delay).map_err(|problem| error("processing_delay", problem.to_string()))?;
    }
    if controller.linger > longest {
        return Err(error("linger", "must be at most 30 days"));
    }
    Ok(())
}

fn check_nodes(setup: &Setup, controller: &ControllerSetup) -> Result<(), SetupError> {
    let count = setup.nodes.len();
    let exists = |node: NodeId| node.index() < count;
    if !exists(controller.node) {
        return Err(error("node", format!("no node number {}; there are {count}", controller.node.0)));
    }
    let mut seen = BTreeSet::new();
    for (index, &switch) in controller.switches.iter().enumerate() {
        let place = format!("switches[{index}]");
        if !exists(switch) {
            return Err(error(&place, format!("no node number {}; there are {count}", switch.0)));
        }
        if switch == controller.node {
            return Err(error(&place, "is the controller"));
        }
        if !seen.insert(switch) {
            return Err(error(&place, "is there already"));
        }
    }
    let ends = setup.flows.iter().flat_map(|flow| [flow.from, flow.to]);
    if ends.into_iter().any(|end| end == controller.node) {
        return Err(error("node", "is an end of a flow"));
    }
    Ok(())
}

fn check_channels(setup: &Setup, controller: &ControllerSetup) -> Result<(), SetupError> {
    if controller.channel == Channel::InBand {
        return Ok(());
    }
    let links: BTreeSet<_> = setup.links.iter().map(|link| (link.from, link.to)).collect();
    for (index, &switch) in controller.switches.iter().enumerate() {
        for pair in [(switch, controller.node), (controller.node, switch)] {
            if !links.contains(&pair) {
                let problem = "has no link of its own to and from the controller";
                return Err(error(&format!("switches[{index}]"), problem));
            }
        }
    }
    Ok(())
}

/// What the application's bounds do not tell.
fn check_application(setup: &Setup, controller: &ControllerSetup) -> Result<(), SetupError> {
    controller.application.check().map_err(|problem| SetupError::below("controller.application", problem))?;
    if controller.application.measures_links() && controller.statistics_interval.is_none() {
        return Err(error(
            "statistics_interval",
            "is missing; the application measures links by what switches count",
        ));
    }
    if matches!(controller.application, ApplicationSetup::SubflowRoundRobin(_)) {
        if matches!(controller.metric.kind(), MetricKind::Path(_)) {
            return Err(error("metric", "does not add up over links, as that of disjoint paths has to"));
        }
        if !controller.flow_metrics.is_empty() {
            return Err(error("flow_metrics", "the application gives all flows paths of one metric"));
        }
    }
    if let ApplicationSetup::External(external) = &controller.application
        && !external.maker.is_there()
    {
        return Err(error("application", "its code is missing"));
    }
    let ApplicationSetup::Tcpbp(tcpbp) = &controller.application else { return Ok(()) };
    let flows = setup.flows.len();
    if let Some(flow) = tcpbp.measuring.iter().find(|flow| flow.index() >= flows) {
        return Err(error("application.measuring", format!("no flow number {}; there are {flows}", flow.0)));
    }
    Ok(())
}
