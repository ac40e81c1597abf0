//! Bounds of the traffic between routers, as plain numbers.

use super::matrix::DemandBounds;
use super::network::{Network, number};
use super::pair_rates::RateReader;
use super::plain::Files;
use super::reach::Reach;
use crate::demand::{Demand, Hose, PairBound};
use crate::problem::{Place, Problems};
use crate::traffic::PairRates;
use crate::words::quoted;
use anabranch_units::Rate;
use serde::Serialize;
use std::collections::BTreeMap;

const AT: Place<'static> = Place::Told("routing.demand");
/// Pairs that a message names, at most.
const MOST_CUT: usize = 10;
/// Routers that bounds may be for, at most.
const MOST_ROUTERS: usize = 2000;

/// Bounds of the traffic between routers, in bits per second.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct DemandSetup {
    /// The routers, by node.
    pub routers: Vec<u32>,
    /// Most that enters at each router; none for no bound.
    pub ingress_bps: Vec<Option<u64>>,
    /// Most that leaves at each router.
    pub egress_bps: Vec<Option<u64>>,
    /// Most of each pair.
    pub pair_bps: PairBps,
    /// What messages call the matrix, where there is but one: the traffic is what `pair_bps` lists, not at most that.
    pub matrix: Option<String>,
}

/// Most traffic of pairs of routers.
#[derive(Clone, PartialEq, Serialize, Debug)]
#[serde(untagged)]
pub enum PairBps {
    /// There is no bound.
    Unbounded(()),
    /// Of every pair.
    Each(u64),
    /// Of these pairs; outside of them there is no traffic.
    Listed(Vec<(u32, u32, u64)>),
}

impl DemandSetup {
    /// The bounds in the order of the routers, infinite for none.
    #[must_use]
    pub fn arrays(&self) -> DemandBounds {
        let count = self.routers.len();
        let side = |bounds: &[Option<u64>]| {
            bounds.iter().map(|bps| bps.map_or(f64::INFINITY, |bps| bps as f64)).collect()
        };
        let every = match &self.pair_bps {
            PairBps::Unbounded(()) => f64::INFINITY,
            PairBps::Each(bps) => *bps as f64,
            PairBps::Listed(_) => 0.0,
        };
        let mut pair = vec![every; count * count];
        if let PairBps::Listed(listed) = &self.pair_bps {
            let places: BTreeMap<u32, usize> = self.routers.iter().copied().zip(0..).collect();
            let place = |node: u32| places.get(&node).copied().unwrap_or(0);
            listed.iter().for_each(|&(from, to, bps)| pair[place(from) * count + place(to)] = bps as f64);
        }
        DemandBounds {
            routers: self.routers.clone(),
            ingress: side(&self.ingress_bps),
            egress: side(&self.egress_bps),
            pair,
        }
    }
}

/// The bounds of a scenario; what is wrong with them is noted.
pub(super) fn demand_setup(
    demand: &Demand,
    network: &Network,
    files: &dyn Files,
    problems: &mut Problems,
) -> Option<DemandSetup> {
    let routers: Vec<u32> = (0..network.node_count() as u32).filter(|&node| !network.is_host(node)).collect();
    if routers.len() > MOST_ROUTERS {
        let (count, most) = (number(routers.len()), number(MOST_ROUTERS));
        problems.add(&AT, format!("{} has {count} routers; at most {most} are taken", network.label));
        return None;
    }
    let mut ingress_bps = hose(demand.ingress.as_ref(), &AT.key("ingress"), &routers, network, problems);
    let mut egress_bps = hose(demand.egress.as_ref(), &AT.key("egress"), &routers, network, problems);
    // Nothing enters and leaves at a router that is out of service.
    for (router, bounds) in routers.iter().zip(ingress_bps.iter_mut().zip(&mut egress_bps)) {
        if network.is_out(*router) {
            (*bounds.0, *bounds.1) = (Some(0), Some(0));
        }
    }
    let pair_bps = match (&demand.matrix, &demand.pair) {
        (Some(rates), _) => {
            let access = routers_of_hosts(network);
            let node = |name: &str, at: &Place<'_>, problems: &mut Problems| {
                let node = network.find(name, at, problems)?;
                access.get(&node).copied().or_else(|| router(name, at, network, problems))
            };
            listed(rates, &AT.key("matrix"), &node, network, files, problems)
        }
        (None, None) => PairBps::Unbounded(()),
        (None, Some(PairBound::Each(rate))) => PairBps::Each(rate.as_bps()),
        (None, Some(PairBound::Listed(rates))) => {
            let node =
                |name: &str, at: &Place<'_>, problems: &mut Problems| router(name, at, network, problems);
            listed(rates, &AT.key("pair"), &node, network, files, problems)
        }
    };
    let matrix = demand.matrix.as_ref().map(|rates| match rates.number {
        Some(number) => format!("{}, matrix {number}", rates.source),
        None => rates.source.clone(),
    });
    let bounds = DemandSetup { routers, ingress_bps, egress_bps, pair_bps, matrix };
    if problems.is_empty() {
        check_traffic(&bounds, network, problems);
    }
    Some(bounds)
}

/// The rates of pairs of routers.
fn listed(
    rates: &PairRates,
    at: &Place<'_>,
    node: &dyn Fn(&str, &Place<'_>, &mut Problems) -> Option<u32>,
    network: &Network,
    files: &dyn Files,
    problems: &mut Problems,
) -> PairBps {
    let reader = RateReader { network, files, at, node, needs_unit: true };
    let rates = reader.rates_bps(rates, problems).into_iter();
    PairBps::Listed(rates.map(|((from, to), bps)| (from, to, bps.round_ties_even() as u64)).collect())
}

/// The router of each host: the one at its first link.
fn routers_of_hosts(network: &Network) -> BTreeMap<u32, u32> {
    let mut access = BTreeMap::new();
    for link in &network.links {
        for (host, router) in [(link.from.0, link.to.0), (link.to.0, link.from.0)] {
            if network.is_host(host) && !network.is_host(router) {
                access.entry(host).or_insert(router);
            }
        }
    }
    access
}

/// The bound of each router.
fn hose(
    rates: Option<&Hose>,
    at: &Place<'_>,
    routers: &[u32],
    network: &Network,
    problems: &mut Problems,
) -> Vec<Option<u64>> {
    let named = match rates {
        None => return vec![None; routers.len()],
        Some(Hose::Each(rate)) => return vec![Some(rate.as_bps()); routers.len()],
        Some(Hose::ByRouter(named)) => named,
    };
    let others = named.iter().find(|(name, _)| name == "*").map(|(_, rate)| rate.as_bps());
    let mut bounds = Vec::new();
    for (name, rate) in named.iter().filter(|(name, _)| name != "*") {
        let place = format!("{at}.{name}");
        if let Some(node) = router(name, &Place::Told(&place), network, problems) {
            bounds.push((node, Rate::as_bps(*rate)));
        }
    }
    let of =
        |router: &u32| bounds.iter().rev().find(|(node, _)| node == router).map(|(_, bps)| *bps).or(others);
    routers.iter().map(of).collect()
}

/// Id of a router by its name; no such node, or a host, is noted.
fn router(name: &str, at: &Place<'_>, network: &Network, problems: &mut Problems) -> Option<u32> {
    let node = network.find(name, at, problems)?;
    if !network.is_host(node) {
        return Some(node);
    }
    if network.is_out(node) {
        problems.add(at, format!("{} is a host that is out of service; leave its traffic out", quoted(name)));
        return None;
    }
    let message = format!("{} is a host; its traffic counts at the router of its first link", quoted(name));
    problems.add(at, message);
    None
}

/// Notes bounds that allow no traffic or any amount of it, and traffic that has no path.
fn check_traffic(bounds: &DemandSetup, network: &Network, problems: &mut Problems) {
    let routers = &bounds.routers;
    let links = network.links.iter().map(|link| (link.from.0, link.to.0));
    let of_routers = links.filter(|(from, to)| !network.is_host(*from) && !network.is_host(*to));
    let mut reach = Reach::new(network.node_count(), of_routers, None);
    let side = |bounds: &[Option<u64>], node: u32| {
        routers.iter().position(|router| *router == node).and_then(|place| bounds[place])
    };
    let pairs: Vec<(u32, u32, Option<u64>)> = match &bounds.pair_bps {
        PairBps::Listed(listed) => listed.iter().map(|&(from, to, bps)| (from, to, Some(bps))).collect(),
        common => {
            let most = if let PairBps::Each(bps) = common { Some(*bps) } else { None };
            let all = routers.iter().flat_map(|&from| routers.iter().map(move |&to| (from, to, most)));
            all.filter(|(from, to, _)| from != to).collect()
        }
    };
    let (mut total, mut free, mut cut) = (0, Vec::new(), Vec::new());
    for (from, to, most) in pairs {
        let limits = [side(&bounds.ingress_bps, from), side(&bounds.egress_bps, to), most];
        match limits.into_iter().flatten().min() {
            Some(0) => continue,
            None => free.push((from, to)),
            Some(_) if !reach.connects(from, to) => cut.push((from, to)),
            Some(_) => {}
        }
        total += 1;
    }
    let name = |(from, to): (u32, u32)| [from, to].map(|node| quoted(network.name(node))).join(" to ");
    let others = |count: usize| match count {
        1 => String::new(),
        _ => format!(", and so for {} other pairs", number(count - 1)),
    };
    if total == 0 {
        let message =
            "no pair of routers may have traffic; give some pair rates in, out and between above zero";
        problems.add(&AT, message);
    }
    if let Some(&first) = free.first() {
        let others = others(free.len());
        let message = format!(
            "nothing limits the traffic from {}{others}; give ingress, egress or pair for them",
            name(first)
        );
        problems.add(&AT, message);
    }
    let is_maintained = !network.outages.links_out.is_empty();
    if is_maintained && !cut.is_empty() {
        let named: Vec<_> = cut.iter().take(MOST_CUT).map(|&pair| name(pair)).collect();
        let more = cut.len().saturating_sub(MOST_CUT);
        let more = if more > 0 { format!(", and {} more", number(more)) } else { String::new() };
        let message = format!(
            "cuts off {} pairs that may have traffic: {}{more}; put a link back into service, or bound that traffic to \
             zero",
            number(cut.len()),
            named.join(", ")
        );
        problems.add_at("network.out_of_service", message);
    } else if let Some(&first) = cut.first() {
        let (others, label) = (others(cut.len()), &network.label);
        let message = format!(
            "there may be traffic from {}, and no path over routers in {label}{others}; connect them, or bound that \
             traffic to zero",
            name(first)
        );
        problems.add(&AT, message);
    }
}
