//! The stateful benchmark of SEMPER as a controller has it (Garcia-Aviles 2017, section IV): the first packet of each
//! subflow comes up; the first subflow of a host takes the path that a hash gives it, its next ones the paths behind
//! that in turn, and entries along the path keep the subflow there. What comes back takes the same path.
//!
//! The paths of a pair share no link but those at its hosts, as those of the scheme `semper`. A subflow whose path is broken takes the next one that is not, and returns with
//! its own. A host is the node that opens subflows; its turn goes on over all nodes that it talks to. A subflow that has
//! gone idle keeps its place, so that its next packet costs a way to the controller and moves nothing.

use super::ConfiguredApplication;
use super::forwarding::ForwardingApplication;
use super::router::{PathFinder, Router};
use crate::balancer::mix;
use crate::control::table::Removal;
use crate::control::{Application, ControllerSetup, Header, Order, PacketIn, View};
use crate::packet::Direction;
use anabranch_routing::{AdditiveMetric, Metric, MetricKind, Mirror, PathShares, Scheme, SemperScheme};
use anabranch_units::declaration::at_least;
use anabranch_units::{FlowId, Instant, LinkId, NodeId};
use std::collections::BTreeMap;

anabranch_units::parameters! {
    /// Entries for each subflow; the subflows of a host take the paths of the scheme `semper` in turn (Garcia-Aviles 2017,
    /// section IV, the stateful benchmark).
    #[derive(Copy, Eq)]
    pub struct SubflowRoundRobinApplicationParameters {
        /// Most paths of a pair; left out, as many as there are.
        k: Option<u32> = None, at_least(1).at_most(10_000);
    }
}

/// Gives subflows their paths in turn.
#[derive(Debug)]
pub struct SubflowRoundRobinApplication {
    inner: ForwardingApplication<Turns>,
}

/// Ends of paths, the lower node first: both directions have the same paths.
type Pair = (NodeId, NodeId);

/// Paths by their ends, the best first.
pub type GivenPaths = BTreeMap<(NodeId, NodeId), Vec<Vec<LinkId>>>;

/// Where the paths come from.
#[derive(Debug)]
enum Source {
    /// At most so many paths of the scheme `semper`, short in a metric.
    Semper(Option<u32>, AdditiveMetric),
    /// A plan that was made elsewhere. The way back has the place of the way there.
    Given(GivenPaths),
}

/// The paths of pairs, and who takes which.
#[derive(Debug)]
struct Turns {
    source: Source,
    seed: u64,
    /// By pair, all paths that there have been, from the lower node to the higher one.
    paths_of_pairs: BTreeMap<Pair, Vec<Vec<LinkId>>>,
    /// The place of the path that a host's next subflow takes, before it is taken modulo the number of paths.
    next: BTreeMap<NodeId, u64>,
    /// The place of each subflow's path.
    seats: BTreeMap<FlowId, usize>,
}

impl ConfiguredApplication for SubflowRoundRobinApplication {
    type Parameters = SubflowRoundRobinApplicationParameters;
    const KNOWS_SUBFLOWS: bool = true;

    fn configured(
        parameters: &SubflowRoundRobinApplicationParameters,
        setup: &ControllerSetup,
        _: u32,
    ) -> Self {
        let MetricKind::Additive(metric) = setup.metric.kind() else {
            unreachable!("check_controller has refused any other")
        };
        let (paths_of_pairs, next, seats) = Default::default();
        let source = Source::Semper(parameters.k, metric);
        let turns = Turns { source, seed: 0, paths_of_pairs, next, seats };
        Self { inner: ForwardingApplication { router: Router::with_finder(setup, turns) } }
    }

    fn with_seed(mut self, seed: u64) -> Self {
        self.inner.router.finder_mut().seed = seed;
        self
    }
}

impl SubflowRoundRobinApplication {
    /// Gives subflows these paths in turn, and no others.
    pub fn keep_to(&mut self, paths: GivenPaths) {
        self.inner.router.finder_mut().source = Source::Given(paths);
    }
}

impl Turns {
    /// Adds the paths that there are now to those that are known.
    fn learn(&mut self, view: &View<'_>, pair: Pair) {
        let (k, metric) = match &self.source {
            &Source::Semper(k, metric) => (k, metric),
            Source::Given(paths) => {
                self.paths_of_pairs.insert(pair, paths.get(&pair).cloned().unwrap_or_default());
                return;
            }
        };
        let mut mask = view.mask_between(pair.0, pair.1);
        // Paths lead both ways, and the other end sends over its one link, too.
        if !view.is_switch(pair.1) {
            let gateway = view.channels.gateway(pair.1);
            for &link in view.network.links_out(pair.1).iter().filter(|&&link| Some(link) != gateway) {
                mask.set_link(link, false);
            }
        }
        let scheme = Scheme::Semper(SemperScheme { k, metric, shares: PathShares::Equal });
        let plan = scheme.plan(view.network, &mask, &[pair]);
        let paths_of_pairs = self.paths_of_pairs.entry(pair).or_default();
        for path in plan.route(pair.0, pair.1).into_iter().flat_map(|route| &route.paths) {
            let links = path.links.links().to_vec();
            if !paths_of_pairs.contains(&links) {
                paths_of_pairs.push(links);
            }
        }
    }

    /// Gives a new subflow its place in its host's turn.
    fn seat(&mut self, view: &View<'_>, header: &Header) {
        if self.seats.contains_key(&header.flow) {
            return;
        }
        let pair = ordered(header.from, header.to);
        if !self.paths_of_pairs.contains_key(&pair) {
            self.learn(view, pair);
        }
        let count = self.paths_of_pairs[&pair].len() as u64;
        if count == 0 {
            return;
        }
        let host = match header.direction {
            Direction::Forward => header.from,
            Direction::Backward => header.to,
        };
        let turn = self.next.entry(host).or_insert_with(|| mix(self.seed ^ u64::from(header.flow.0)) % count);
        self.seats.insert(header.flow, (*turn % count) as usize);
        *turn += 1;
    }
}

impl PathFinder for Turns {
    fn path(&self, _: &View<'_>, _: (NodeId, NodeId), _: Option<Metric>) -> Option<Vec<LinkId>> {
        None
    }

    fn own_path(&self, view: &View<'_>, flow: FlowId, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let (pair, seat) = (ordered(from, to), *self.seats.get(&flow)?);
        let usable = |links: &[LinkId]| links.iter().all(|&link| view.mask.usable(view.network, link));
        if let Source::Given(paths) = &self.source {
            let pair_paths = paths.get(&(from, to))?;
            let (before, behind) = pair_paths.split_at(seat.min(pair_paths.len()));
            return behind.iter().chain(before).find(|path| usable(path)).cloned();
        }
        let (before, behind) = self.paths_of_pairs.get(&pair)?.split_at(seat);
        let mirror = Mirror::new(view.network);
        behind.iter().chain(before).find_map(|there| {
            let back = mirror.path(there).filter(|back| usable(there) && usable(back))?;
            Some(if from == pair.0 { there.clone() } else { back })
        })
    }
}

const fn ordered(a: NodeId, b: NodeId) -> Pair {
    if a.0 < b.0 { (a, b) } else { (b, a) }
}

impl Application for SubflowRoundRobinApplication {
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        self.inner.router.finder_mut().seat(view, &packet.header);
        self.inner.on_packet(view, packet, out);
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, out: &mut Vec<Order>) {
        self.inner.on_removed(view, removal, out);
    }

    fn on_refused(&mut self, view: &View<'_>, switch: NodeId, flow: FlowId, out: &mut Vec<Order>) {
        self.inner.on_refused(view, switch, flow, out);
    }

    fn on_network_change(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        let turns = self.inner.router.finder_mut();
        for pair in turns.paths_of_pairs.keys().copied().collect::<Vec<_>>() {
            turns.learn(view, pair);
        }
        self.inner.on_network_change(view, out);
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.inner.on_timer(view, out);
    }

    fn next_timer(&self) -> Option<Instant> {
        self.inner.next_timer()
    }
}
