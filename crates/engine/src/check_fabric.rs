//! What the transport `spray`, trimming queues, dependent flows and collective operations ask of a setup.

use crate::error::SetupError;
use crate::setup::{CapturePoint, FlowSetup, Setup};
use anabranch_network::Network;
use anabranch_transport::TransportConfig;
use anabranch_transport::spray::SprayConfig;
use anabranch_units::{FlowId, Span};
use std::collections::BTreeMap;

type Checked = Result<(), SetupError>;

/// Checks them.
///
/// # Errors
/// Names the first place that does not hold.
pub fn check_fabric(setup: &Setup, network: &Network, longest: Span) -> Checked {
    check_spray(setup, network)?;
    check_waits(setup, longest)?;
    check_collectives(setup)
}

fn spray_of<'s>(setup: &'s Setup, flow: &FlowSetup) -> Option<&'s SprayConfig> {
    match &setup.transports[flow.transport].config {
        TransportConfig::Spray(config) => Some(config),
        _ => None,
    }
}

fn check_spray(setup: &Setup, network: &Network) -> Checked {
    let Some(first) = setup.flows.iter().find(|flow| spray_of(setup, flow).is_some()) else { return Ok(()) };
    let name = &setup.transports[first.transport].name;
    if setup.controller.is_some() {
        let problem = format!(
            "knows TCP and its own senders; transport {name} is spray, whose paths are its own choice"
        );
        return Err(SetupError::new("controller", problem));
    }
    let is_seen = |at: &CapturePoint| match *at {
        CapturePoint::Host { host } => setup
            .flows
            .iter()
            .any(|flow| spray_of(setup, flow).is_some() && [flow.from, flow.to].contains(&host)),
        CapturePoint::Link { .. } => true,
    };
    if let Some(index) = setup.captures.iter().position(|capture| is_seen(&capture.at)) {
        let problem = format!(
            "would see packets of transport {name}, which is spray and has no byte form; captures have TCP"
        );
        return Err(SetupError::new(format!("captures[{index}]"), problem));
    }
    let is_spray = |flow: &FlowId| spray_of(setup, &setup.flows[flow.index()]).is_some();
    for (place, flows) in [("probes.sequences", &setup.probes.sequences), ("probes.log", &setup.probes.log)] {
        if let Some(flow) = flows.iter().find(|flow| is_spray(flow)) {
            let problem = format!(
                "names {}, a flow of transport {name}, which is spray: packets in no order, and no log of decisions",
                setup.flows[flow.index()].name
            );
            return Err(SetupError::new(place, problem));
        }
    }
    for flow in &setup.flows {
        let Some(values) = spray_of(setup, flow).and_then(|config| config.path_selector.values()) else {
            continue;
        };
        let planes = network.links_out(flow.from).len().max(1);
        if usize::from(values) % planes != 0 {
            let (transport, host) = (&setup.transports[flow.transport].name, &network.node(flow.from).name);
            let is_by_bits = spray_of(setup, flow).is_some_and(|config| config.path_selector.is_by_bits());
            // The next one below, which no bound forbids.
            let multiple = (usize::from(values) / planes).max(1) * planes;
            let remedy = match (is_by_bits, planes.is_power_of_two()) {
                (true, false) => format!(
                    "its values are a power of two, so take one whose are not, such as {{ algorithm = \"reps\", values = {multiple} }}"
                ),
                (true, true) => format!("give values = {planes} or more, a power of two"),
                (false, _) => format!("give a multiple of {planes}, such as {multiple}"),
            };
            let problem = format!(
                "path_selector has {values} values, which {planes} links of {host}, a plane each, cannot share evenly; {remedy}"
            );
            return Err(SetupError::new(format!("transport {transport}"), problem));
        }
    }
    Ok(())
}

fn check_waits(setup: &Setup, longest: Span) -> Checked {
    let mut after: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, wait) in setup.waits.iter().enumerate() {
        let place = format!("waits[{index}]");
        let exists = |flow: &FlowId| flow.index() < setup.flows.len();
        if !exists(&wait.flow) || !wait.after.iter().all(exists) {
            return Err(SetupError::new(place, "names a flow that there is not"));
        }
        if wait.delay > longest {
            return Err(SetupError::new(place, "has a delay longer than any run"));
        }
        let others = wait.after.iter().map(|flow| flow.index()).collect();
        if after.insert(wait.flow.index(), others).is_some() {
            return Err(SetupError::new(place, "is the second for its flow"));
        }
        if let Some(endless) = wait.after.iter().find(|flow| !setup.flows[flow.index()].ends()) {
            let name = &setup.flows[endless.index()].name;
            return Err(SetupError::new(place, format!("waits for {name}, which has no end")));
        }
    }
    match circle(&after) {
        Some(flow) => {
            let problem = format!("flow {} waits for itself, over others", setup.flows[flow].name);
            Err(SetupError::new("waits", problem))
        }
        None => Ok(()),
    }
}

/// A flow that waits for itself, if there is one: those that wait for none that is left are taken away, until there are no
/// more of them.
fn circle(after: &BTreeMap<usize, Vec<usize>>) -> Option<usize> {
    let is_held = |flow: &usize| after.contains_key(flow);
    let mut missing: BTreeMap<usize, usize> = after
        .iter()
        .map(|(&flow, others)| (flow, others.iter().filter(|other| is_held(other)).count()))
        .collect();
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (&flow, others) in after {
        others
            .iter()
            .filter(|other| is_held(other))
            .for_each(|&other| waiting.entry(other).or_default().push(flow));
    }
    let mut free: Vec<usize> =
        missing.iter().filter(|&(_, &count)| count == 0).map(|(&flow, _)| flow).collect();
    while let Some(flow) = free.pop() {
        missing.remove(&flow);
        for next in waiting.remove(&flow).unwrap_or_default() {
            if let Some(count) = missing.get_mut(&next) {
                *count -= 1;
                if *count == 0 {
                    free.push(next);
                }
            }
        }
    }
    missing.into_keys().next()
}

fn check_collectives(setup: &Setup) -> Checked {
    for (index, of) in setup.collectives.iter().enumerate() {
        let last = of.flows.checked_mul(of.steps).and_then(|flows| flows.checked_add(of.first.0.into()));
        if of.flows == 0 || of.steps == 0 || last.is_none_or(|last| last > setup.flows.len() as u64) {
            return Err(SetupError::new(format!("collectives[{index}]"), "has flows that there are not"));
        }
    }
    Ok(())
}
