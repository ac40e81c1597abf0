//! Checks the SDN controller of a setup.

use crate::error::SetupError;
use crate::setup::{ApplicationSetup, Channel, ControllerSetup, Setup};
use anabranch_routing::EstimatorSetup;
use anabranch_units::{NodeId, Span};
use std::collections::BTreeSet;

/// Most samples in a moving average: far beyond use, and a bound on memory.
const MOST_SAMPLES: u32 = 1_000_000;

fn error(place: &str, problem: impl Into<String>) -> SetupError {
    SetupError::new(format!("controller.{place}"), problem)
}

/// Checks everything about the controller, if there is one; nodes and links of the setup have been checked.
pub fn check_controller(setup: &Setup, longest: Span) -> Result<(), SetupError> {
    let Some(controller) = &setup.controller else { return Ok(()) };
    check_nodes(setup, controller)?;
    check_channels(setup, controller)?;
    check_application(&controller.application)?;
    check_tcpbp(setup, controller, longest)?;
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

fn check_application(application: &ApplicationSetup) -> Result<(), SetupError> {
    match *application {
        // The latter has a function of its own.
        ApplicationSetup::Forwarding {} | ApplicationSetup::Tcpbp(_) => Ok(()),
        ApplicationSetup::SdnPaced { alpha, beta, gamma, .. } => {
            if !(alpha > 0.0 && alpha <= 1.0) {
                return Err(error("application.alpha", "must be above 0 and at most 1"));
            }
            for (name, factor) in [("beta", beta), ("gamma", gamma)] {
                if !(1.0..=1e6).contains(&factor) {
                    return Err(error(&format!("application.{name}"), "must be 1 to 1,000,000"));
                }
            }
            Ok(())
        }
        ApplicationSetup::WindowClamp { share } => {
            if share > 0.0 && share <= 1e6 {
                Ok(())
            } else {
                Err(error("application.share", "must be above 0 and at most 1,000,000"))
            }
        }
    }
}

fn check_tcpbp(setup: &Setup, controller: &ControllerSetup, longest: Span) -> Result<(), SetupError> {
    let ApplicationSetup::Tcpbp(tcpbp) = &controller.application else { return Ok(()) };
    if controller.statistics_interval.is_none() {
        return Err(error("statistics_interval", "is missing; TCPBP measures links by what switches count"));
    }
    check_estimator(&tcpbp.estimator)?;
    if tcpbp.sample_packets == 0 {
        return Err(error("application.sample_packets", "must be above zero"));
    }
    if !(0.0..=1.0).contains(&tcpbp.loss_granularity) {
        return Err(error("application.loss_granularity", "must be 0 to 1"));
    }
    if tcpbp.delay_granularity > longest {
        return Err(error("application.delay_granularity", "must be at most 30 days"));
    }
    if !(0.0..1.0).contains(&tcpbp.threshold) {
        return Err(error("application.threshold", "must be at least 0 and below 1"));
    }
    if tcpbp.hold_time > longest {
        return Err(error("application.hold_time", "must be at most 30 days"));
    }
    let flows = setup.flows.len();
    if let Some(flow) = tcpbp.measuring.iter().find(|flow| flow.index() >= flows) {
        return Err(error("application.measuring", format!("no flow number {}; there are {flows}", flow.0)));
    }
    Ok(())
}

fn check_estimator(estimator: &EstimatorSetup) -> Result<(), SetupError> {
    let window = |least: u32, window: u32| {
        let problem = format!("must be {least} to {MOST_SAMPLES}");
        let holds = (least..=MOST_SAMPLES).contains(&window);
        if holds { Ok(()) } else { Err(error("application.estimator.window", problem)) }
    };
    match *estimator {
        EstimatorSetup::Sma { window: samples } => window(1, samples),
        EstimatorSetup::Ewma { weight } if weight > 0.0 && weight <= 1.0 => Ok(()),
        EstimatorSetup::Ewma { .. } => {
            Err(error("application.estimator.weight", "must be above 0 and at most 1"))
        }
        EstimatorSetup::Hte { window: samples, significance } => {
            window(2, samples)?;
            if significance > 0.0 && significance < 1.0 {
                Ok(())
            } else {
                Err(error("application.estimator.significance", "must be above 0 and below 1"))
            }
        }
    }
}
