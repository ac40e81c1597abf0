//! The whole setup: each phase takes what the one before has made.

use super::addresses::{Addresses, manager};
use super::bounds::{DemandSetup, demand_setup};
use super::bursts::{check_bursts, longest_packet};
use super::changes::event_setups;
use super::collectives::Waits;
use super::control::{add_controller, check_transport};
use super::draws::Draws;
use super::flows::{FlowColumns, Flows, Given};
use super::network::{Network, number};
use super::outages::Outages;
use super::own::{OwnCode, OwnKind};
use super::plain::{Files, PlainNetwork};
use super::profile::profile_events;
use super::rooms::size_queues;
use super::routes::{OwnRoutes, Planned, TrafficRoutes};
use super::transports::Transports;
use super::watched::{LOG, SEQUENCES};
use crate::algorithm::Chosen;
use crate::controller::Controller;
use crate::network::{Direction, LinkSelector};
use crate::problem::{Place, Problem, Problems};
use crate::read::Quantity;
use crate::routing::{Reaction, RouteChoice};
use crate::run::{Run, Until};
use crate::scenario::Scenario;
use crate::words::quoted;
use anabranch_engine::balancer::LoadBalancing;
use anabranch_engine::control::applications::ApplicationSetup;
use anabranch_engine::routing::{Metric, Scheme};
use anabranch_engine::setup::{
    CapturePoint, CaptureSetup, ControllerSetup, HostSetup, ProbeSetup, RouterSetup, RoutingSetup, RunEnd,
    Setup, SourceSetup, TransportSetup,
};
use anabranch_engine::transport::PathManagerConfig;
use anabranch_units::{FlowId, LinkId, NodeId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::num::NonZeroU16;

/// A series has a row for each flow and link and sample; beyond this the memory of a workstation ends.
const MOST_SERIES_ROWS: u64 = 500_000_000;
/// A segment numbers them in a byte.
const MOST_SUBFLOWS: usize = 255;

/// What a scenario needs besides its text.
pub struct World<'w> {
    /// The network that its topology gives.
    pub network: &'w PlainNetwork,
    /// The files that it names.
    pub files: &'w dyn Files,
    /// The code of the user's own that it names.
    pub own_code: &'w mut dyn OwnCode,
}

/// A scenario as the engine runs it.
#[derive(Clone, PartialEq, Debug)]
pub struct Resolved {
    /// Everything but the connections.
    pub setup: Setup,
    /// The connections, as columns.
    pub flows: FlowColumns,
    /// Who makes the plan of most flows.
    pub planned: Planned,
    /// The routes of entries that have some of their own.
    pub own_routes: Vec<OwnRoutes>,
    /// Bounds of the traffic, if there are some.
    pub demand: Option<DemandSetup>,
    /// By entry: the flows that are not made, since they would begin when the run is over.
    pub never_begun: BTreeMap<String, u64>,
    /// What is out of service, and what may be.
    pub outages: Outages,
}

/// The scenario as the engine runs it, or what is wrong with it; and its network by names, by which whoever calls this
/// finds what else names nodes and links. The links are the setup's, where there is one.
///
/// What is wrong is every name that is not there, every pair that is not connected, and whatever else can only be seen with the network at
/// hand.
pub fn resolve(scenario: &Scenario, world: &mut World<'_>) -> (Network, Result<Resolved, Vec<Problem>>) {
    let mut problems = Problems::default();
    let run = scenario.run();
    let draws = Draws::new(run.seed, run.replication);
    let choice = route_choice(scenario);
    let metric = scenario.controller.as_ref().map_or_else(|| choice.metric().0, Controller::path_metric);
    let by_weight = metric == Metric::Weight;
    let mut network =
        Network::new(world.network, &scenario.network, by_weight, draws, world.files, &mut problems);
    let resolved = resolved(scenario, &choice, &mut network, world, &mut problems);
    let resolved = match resolved {
        Some(resolved) if problems.is_empty() => {
            let links = std::mem::take(&mut network.links);
            Ok(Resolved { setup: Setup { links, ..resolved.setup }, ..resolved })
        }
        _ => Err(problems.into_told()),
    };
    (network, resolved)
}

/// The routes of most traffic.
fn route_choice(scenario: &Scenario) -> RouteChoice {
    let routing = scenario.routing.as_ref();
    routing.map_or_else(RouteChoice::usual, |routing| routing.routing.choice.clone())
}

/// The same without the links.
fn resolved(
    scenario: &Scenario,
    choice: &RouteChoice,
    network: &mut Network,
    world: &mut World<'_>,
    problems: &mut Problems,
) -> Option<Resolved> {
    let run = &scenario.run();
    let draws = Draws::new(run.seed, run.replication);
    let routing = scenario.routing.as_ref().map(|routing| &routing.routing);
    let keys = scenario.routing.as_ref().map_or(&[][..], |routing| &routing.keys);
    let governed = scenario.controller.as_ref();
    let mut controller =
        governed.and_then(|table| add_controller(table, keys, network, draws, world.own_code, problems));
    let demand = routing.and_then(|routing| routing.demand.as_ref());
    let demand = demand.and_then(|demand| demand_setup(demand, network, world.files, problems));
    let (transports, routes, flows) = flows(scenario, network, demand.as_ref(), world, problems);
    govern(scenario, &flows, controller.as_mut(), problems);
    let Waits { waits, collectives } = Waits::new(&scenario.traffic.0, &flows, problems);
    let ends = |columns: &FlowColumns| {
        columns.from.iter().copied().zip(columns.to.iter().copied()).collect::<Vec<_>>()
    };
    let of_datagrams: Vec<_> = flows.datagrams.iter().map(|flow| (flow.from.0, flow.to.0)).collect();
    size_queues(network, &ends(&flows.connections), &of_datagrams, problems);
    let events = events(scenario, network, &flows, &transports, world.files, problems);
    let captures = captures(scenario, network, problems);
    let (hosts, routers) = (hosts(scenario, network, problems), routers(scenario, network, problems));
    let longest = longest_packet(&flows, &transports, &hosts);
    check_bursts(network, longest.as_ref(), problems);
    let watched = [(&run.sequences, &SEQUENCES), (&run.log, &LOG)]
        .map(|(wanted, watch)| watch.chosen(wanted, &flows, &transports, problems));
    let subflows = subflows(&flows.connections, &transports, network);
    let series = flows.connections.number.len() + flows.datagrams.len() + subflows;
    check_series(run, series, network.links.len(), problems);
    check_end(run, &flows.connections, problems);
    let planned = Planned::of(choice, &Place::Top.key("routing"), world.own_code, problems);
    let routing = routing_setup(scenario, network, &planned, &routes, world.own_code, problems)?;
    let setup = Setup {
        seed: run.seed,
        replication: run.replication,
        duration: run.duration,
        until: if run.until == Until::Done { RunEnd::Done } else { RunEnd::Duration },
        nodes: network.nodes().into(),
        links: Vec::new(),
        hosts,
        routers,
        transports,
        flows: Vec::new(),
        datagrams: flows.datagrams,
        events,
        routing,
        probes: probes(run, watched),
        captures,
        controller,
        waits,
        collectives,
    };
    let never_begun = flows.never_begun.into_iter().filter(|(_, count)| *count > 0).collect();
    Some(Resolved {
        setup,
        flows: flows.connections,
        planned,
        own_routes: routes,
        demand,
        never_begun,
        outages: network.outages.clone(),
    })
}

/// What is sampled, with the flows whose sequence numbers and whose log are wanted.
fn probes(run: &Run, [sequences, log]: [Vec<FlowId>; 2]) -> ProbeSetup {
    let wants_series = run.flow_series || run.link_series;
    ProbeSetup {
        interval: wants_series.then_some(run.sample_interval),
        flows: run.flow_series,
        links: run.link_series,
        sequences,
        log,
    }
}

/// How routes are chosen and packets spread over them.
fn routing_setup(
    scenario: &Scenario,
    network: &Network,
    planned: &Planned,
    routes: &[OwnRoutes],
    own_code: &mut dyn OwnCode,
    problems: &mut Problems,
) -> Option<RoutingSetup> {
    let reaction = scenario.routing.as_ref().map(|routing| routing.routing.reaction);
    let reaction = match reaction.unwrap_or(Reaction::After(crate::routing::USUAL_REACTION)) {
        Reaction::Never => None,
        Reaction::After(span) => Some(span),
    };
    Some(RoutingSetup {
        scheme: match &scenario.controller {
            Some(table) => Some(controller_scheme(table)),
            None => planned.core().cloned(),
        },
        others: routes.iter().map(|routes| routes.planned.core().cloned()).collect(),
        load_balancing: load_balancing(scenario, network, own_code, problems)?,
        reaction,
    })
}

/// The flows of the traffic, over transports and routes that are made as entries first name them.
fn flows(
    scenario: &Scenario,
    network: &Network,
    demand: Option<&DemandSetup>,
    world: &mut World<'_>,
    problems: &mut Problems,
) -> (Vec<TransportSetup>, Vec<OwnRoutes>, Flows) {
    let run = &scenario.run();
    let governed = scenario.controller.as_ref();
    let mut transports = Transports::new(&scenario.transport.0);
    let mut routes = TrafficRoutes::new(scenario.routing.as_ref().map(|routing| &routing.routing), governed);
    let (mut routings, mut named) = (Vec::new(), BTreeMap::new());
    for (place, entry) in scenario.traffic.0.iter().enumerate() {
        let at_entry = format!("traffic[{place}]");
        let at = Place::Told(&at_entry);
        let name = entry.name.clone().unwrap_or_else(|| at_entry.clone());
        if named.insert(name.clone(), ()).is_some() {
            routings.push(0);
            continue;
        }
        if !entry.has_datagrams() {
            let at = at.key("transport");
            if let Some(index) = transports.index(&entry.transport, &at, world.own_code, problems) {
                check_transport(governed, &transports.setups[index], &at, problems);
            }
        }
        let routing = entry.routing.as_ref();
        routings.push(
            routing.map_or(0, |routing| routes.place(&routing.choice, &name, &at, world.own_code, problems)),
        );
    }
    let by_name = transports.setups.iter().enumerate();
    let by_name =
        by_name.map(|(place, of)| (of.name.clone(), (place, of.config.name().to_owned()))).collect();
    let bounds = demand.map(DemandSetup::arrays);
    let given = Given {
        duration: run.duration,
        transports: &by_name,
        routings: &routings,
        demand: bounds.as_ref(),
        draws: Draws::new(run.seed, run.replication),
        files: world.files,
    };
    let flows = Flows::new(&scenario.traffic.0, network, &given, problems);
    if scenario.traffic.0.is_empty() {
        // Whoever asks for routes of pairs has flows of some transport in mind.
        let _ = transports.index(
            crate::traffic::USUAL_TRANSPORT,
            &Place::Told("traffic"),
            world.own_code,
            problems,
        );
    }
    transports.check_unused(world.own_code, problems);
    (transports.setups, routes.routes, flows)
}

/// Tells the controller of the flows that it treats otherwise than others.
fn govern(
    scenario: &Scenario,
    flows: &Flows,
    controller: Option<&mut ControllerSetup>,
    problems: &mut Problems,
) {
    let Some(table) = &scenario.controller else { return };
    let entries = || scenario.traffic.0.iter().zip(&flows.of_entries);
    let ids = |range: &std::ops::Range<u32>| range.clone().map(FlowId);
    let with_metric = || entries().filter_map(|(entry, range)| Some((entry.routing.as_ref()?, range)));
    if table.application.0.name() == Some("subflow-round-robin")
        && with_metric().any(|(_, range)| !range.is_empty())
    {
        let message = "\"subflow-round-robin\" gives all flows the paths of controller.metric; leave routing out of \
                       [[traffic]], or choose another application";
        problems.add_at("controller.application", message);
    }
    let Some(controller) = controller else { return };
    for (routing, range) in with_metric() {
        let metric = routing.choice.metric().0;
        controller.flow_metrics.extend(ids(range).map(|flow| (flow, metric)));
    }
    if let ApplicationSetup::Tcpbp(setup) = &mut controller.application {
        let neighbours = entries().filter(|(entry, _)| entry.pairs == crate::traffic::Pairs::Neighbours);
        setup.measuring.extend(neighbours.flat_map(|(_, range)| ids(range)));
    }
}

/// What a controller will find where no link is down; nobody forwards by it.
fn controller_scheme(table: &Controller) -> Scheme {
    let metric = table.path_metric();
    let name = crate::routing::ChosenMetric(metric).name();
    let mut scheme = json!({ "algorithm": "shortest", "metric": name });
    if let Chosen::Declared(configuration) = &table.application.0
        && table.application.0.name() == Some("subflow-round-robin")
    {
        scheme = Value::Object(configuration.clone());
        scheme["algorithm"] = json!("semper");
        scheme["metric"] = json!(name);
    }
    serde_json::from_value(scheme).expect("schemes of controllers are of the registry")
}

fn load_balancing(
    scenario: &Scenario,
    network: &Network,
    own_code: &mut dyn OwnCode,
    problems: &mut Problems,
) -> Option<LoadBalancing> {
    let routing = scenario.routing.as_ref().map(|routing| &routing.routing);
    let usual = routing.and_then(|routing| routing.choice.load_balancing()).unwrap_or("flow");
    let named = |name: &str| LoadBalancing::named(name).expect("a name of the registry");
    let chosen = routing.and_then(|routing| routing.load_balancing.as_ref());
    // With a controller there is none of the scenario's.
    let Some(chosen) = chosen.filter(|_| scenario.controller.is_none()) else {
        return Some(named(if scenario.controller.is_some() { "flow" } else { usual }));
    };
    let value = match &chosen.0 {
        Chosen::Declared(configuration) => Value::Object(configuration.clone()),
        Chosen::Own(of) => match own_code.algorithm(OwnKind::LoadBalancer, of, &network.links) {
            Ok(value) => value,
            Err(message) => {
                problems.add_at("routing.load_balancing", message);
                return None;
            }
        },
    };
    serde_json::from_value(value)
        .map_err(|error| problems.add_at("routing.load_balancing", error.to_string()))
        .ok()
}

fn events(
    scenario: &Scenario,
    network: &Network,
    flows: &Flows,
    transports: &[TransportSetup],
    files: &dyn Files,
    problems: &mut Problems,
) -> Vec<anabranch_engine::setup::EventSetup> {
    let addresses = Addresses::new(network, flows.connections.slices(), transports);
    let mut events = Vec::new();
    for (number, event) in scenario.event.iter().enumerate() {
        let place = format!("event[{number}]");
        let at = Place::Told(&place);
        events.extend(event_setups(event, &at, network, problems));
        addresses.check(event, &at, problems);
    }
    addresses.check_last(&scenario.event, problems);
    events.extend(profile_events(&scenario.profile, scenario.run().duration, network, files, problems));
    // Stable: events at the same time keep the order of the scenario.
    events.sort_by_key(|event| event.at);
    events
}

fn captures(scenario: &Scenario, network: &Network, problems: &mut Problems) -> Vec<CaptureSetup> {
    let mut setups = Vec::new();
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, capture) in scenario.capture.iter().enumerate() {
        let place = format!("capture[{number}]");
        let at = Place::Told(&place);
        if let Some(other) = files.insert(&capture.file, number) {
            let message = format!("{} is the file of capture[{other}] as well", quoted(&capture.file));
            problems.add(&at.key("file"), message);
        }
        let selector = LinkSelector { index: Some(capture.index), direction: Direction::Forward };
        let link = capture.link.as_ref();
        let link = link.and_then(|ends| {
            network.links_between(ends, &selector, &at.key("link"), problems).first().copied()
        });
        let host = capture.host.as_ref().filter(|_| capture.link.is_none());
        let host = host.and_then(|host| network.find(host, &at.key("host"), problems));
        let point = link.map(|link| CapturePoint::Link { link: LinkId(link as u32) });
        if let Some(at) = point.or(host.map(|host| CapturePoint::Host { host: NodeId(host) })) {
            let snap_length = capture.snap_length.map_or(0, |length| length.base() as u32);
            setups.push(CaptureSetup { file: capture.file.clone(), at, snap_length });
        }
    }
    setups
}

/// Settings by node: those of all nodes, and over them those of single ones; unknown nodes are noted.
fn by_node<S: Clone + PartialEq + Default>(
    everywhere: &S,
    single: &[(&str, S)],
    over: fn(&S, &S) -> S,
    table: &str,
    network: &Network,
    problems: &mut Problems,
) -> BTreeMap<u32, S> {
    let mut given = BTreeMap::new();
    if *everywhere != S::default() {
        given.extend((0..network.node_count() as u32).map(|node| (node, everywhere.clone())));
    }
    for (number, (name, settings)) in single.iter().enumerate() {
        let place = format!("network.{table}[{number}].name");
        let Some(node) = network.find(name, &Place::Told(&place), problems) else { continue };
        if *settings != S::default() {
            let common = given.get(&node).cloned().unwrap_or_default();
            given.insert(node, over(settings, &common));
        }
    }
    given
}

fn hosts(scenario: &Scenario, network: &Network, problems: &mut Problems) -> Vec<HostSetup> {
    let table = &scenario.network;
    let single: Vec<_> =
        table.host.iter().map(|entry| (entry.name.as_str(), entry.settings.clone())).collect();
    let over = crate::network::HostSettings::over;
    let given = by_node(&table.hosts, &single, over, "host", network, problems);
    let setup = |(node, settings): (u32, crate::network::HostSettings)| HostSetup {
        node: NodeId(node),
        offload: settings
            .offload
            .and_then(|offload| NonZeroU16::new(offload.0.base() as u16))
            .unwrap_or(NonZeroU16::MIN),
        processing_delay: settings.processing_delay.as_ref().map(crate::variate::Drawn::variate),
    };
    given.into_iter().map(setup).collect()
}

fn routers(scenario: &Scenario, network: &Network, problems: &mut Problems) -> Vec<RouterSetup> {
    let table = &scenario.network;
    let single: Vec<_> =
        table.router.iter().map(|entry| (entry.name.as_str(), entry.settings.clone())).collect();
    let over = crate::network::RouterSettings::over;
    let given = by_node(&table.routers, &single, over, "router", network, problems);
    let setup = |(node, settings): (u32, crate::network::RouterSettings)| {
        let processing_delay = settings.processing_delay.as_ref().map(crate::variate::Drawn::variate);
        let hash_seed = settings.hash_seed.map(crate::network::HashSeed::setup);
        let is_set = processing_delay.is_some() || hash_seed.is_some();
        is_set.then_some(RouterSetup { node: NodeId(node), processing_delay, hash_seed })
    };
    given.into_iter().filter_map(setup).collect()
}

/// Most subflows of all multipath flows together.
fn subflows(flows: &FlowColumns, transports: &[TransportSetup], network: &Network) -> usize {
    if transports.iter().all(|transport| manager(transport).is_none()) {
        return 0;
    }
    let mut links = vec![(0, 0); network.node_count()];
    for link in &network.links {
        links[link.from.index()].0 += 1;
        links[link.to.index()].1 += 1;
    }
    let most = |flow: usize| {
        let transport = flows.entries[flows.entry[flow] as usize].transport;
        let pairs =
            (links[flows.from[flow] as usize].0 * links[flows.to[flow] as usize].1).min(MOST_SUBFLOWS);
        match manager(&transports[transport]) {
            None => 0,
            Some(PathManagerConfig::Ndiffports(of)) => {
                (of.subflows as usize).max(if of.by_interfaces { pairs } else { 0 })
            }
            Some(PathManagerConfig::Fullmesh(_)) => pairs,
            Some(_) => 1,
        }
    };
    (0..flows.number.len()).map(most).sum()
}

/// Notes series of more rows than can be kept; `flows` counts subflows, too, each of which has a row in a table of its own.
fn check_series(run: &Run, flows: usize, links: usize, problems: &mut Problems) {
    let samples = run.duration.as_ps() / run.sample_interval.as_ps();
    let each = flows * usize::from(run.flow_series) + links * usize::from(run.link_series);
    let rows = samples.saturating_mul(each as u64);
    if rows > MOST_SERIES_ROWS {
        let message = format!(
            "{} makes {} rows of series; at most {} can be kept. Sample less often, or set flow_series or link_series \
             to false",
            quoted(&run.sample_interval.text()),
            number(rows as usize),
            number(MOST_SERIES_ROWS as usize)
        );
        problems.add_at("run.sample_interval", message);
    }
}

/// Notes a run that waits for flows to complete where none can.
fn check_end(run: &Run, flows: &FlowColumns, problems: &mut Problems) {
    let can_complete = |flow: usize| {
        let entry = &flows.entries[flows.entry[flow] as usize];
        flows.stop[flow] != super::NEVER || matches!(entry.source, SourceSetup::Sized { .. })
    };
    // Without flows something else may be wrong with the traffic.
    let is_sure = !flows.number.is_empty() || problems.count() == 0;
    if run.until == Until::Done && is_sure && !(0..flows.number.len()).any(can_complete) {
        let message = "\"done\" waits for flows that complete, and there are none; give traffic a size or a stop, or \
                       leave it out";
        problems.add_at("run.until", message);
    }
}
