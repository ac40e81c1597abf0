//! Where a packet goes next: source routes along a plan's paths, or tables hop by hop.

mod ahead;
mod here;
mod shared;
mod table;

use crate::balancer::{Balancer, Choices, ExternalChoice, FlowKey, LoadBalancing, choose_equally, mix};
use crate::interfaces::InterfacePair;
use crate::packet::{Packet, Steering};
use crate::random::Streams;
use crate::setup::HashSeed;
pub use ahead::KnownRoute;
use anabranch_network::Network;
use anabranch_routing::{Mirror, NextHopsTo, Plan, Route};
use anabranch_units::{Instant, LinkId, NodeId};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use table::{NextHops, Places, SeveralHops, Table};

/// How a new packet sets out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathStart {
    /// Along a path, of which this is the first cursor.
    Path(u32),
    /// Hop by hop, by the tables that begin here.
    NextHops(u32),
}

impl PathStart {
    /// How its packet is steered, and its first cursor.
    #[inline]
    #[must_use]
    pub const fn steering(self) -> (Steering, u32) {
        match self {
            Self::Path(first) => (Steering::Path, first),
            Self::NextHops(tables) => (Steering::NextHops, tables),
        }
    }
}

/// A plan made ready for forwarding.
pub struct Forwarding {
    load_balancing: LoadBalancing,
    /// Whether entropy values choose among whole paths.
    is_by_entropy: bool,
    /// The nodes from which packets set out and are passed on here; none for all.
    here: Option<Vec<bool>>,
    /// What nodes mix into their hashes, where it is set.
    hash_seeds: BTreeMap<NodeId, HashSeed>,
    streams: Streams,
    /// The links of all paths, one path after the other. Paths of replaced plans stay: packets
    /// may still be on them.
    path_links: Vec<LinkId>,
    /// Routes by pair; flows hold an index.
    routes: Vec<PathChoice>,
    pairs: BTreeMap<Pair, u32>,
    /// Nodes of the network.
    nodes: usize,
    /// Plans that the pairs go by.
    plans: usize,
    /// Hop-by-hop tables by destination, those of one plan after those of the other; empty before the first one.
    tables: Vec<Option<Table>>,
    /// Where nodes stand in these tables.
    places: Places,
    /// Where in `path_links` a list of links begins that many share, or that somebody else chose.
    laid: BTreeMap<Vec<LinkId>, u32>,
    /// Balancers that all destinations of a node share which are reached by the same links, and where they are.
    shared: Vec<Balancer>,
    sharing: BTreeMap<(NodeId, Vec<LinkId>), u32>,
    /// Plans installed so far; random streams of a later plan are its own.
    generation: u32,
}

/// Who sends to whom, and by which of the plans for one network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ends {
    /// Place of the plan ([`Plan::at`]).
    pub routing: usize,
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
}

impl Ends {
    /// The way back.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { routing: self.routing, from: self.to, to: self.from }
    }
}

/// The ends, and between which interfaces if only those will do.
type Pair = (Ends, Option<InterfacePair>);

/// How packets of a pair set out. Most pairs have one path, and each packet asks: that is at hand, the rest apart.
#[derive(Default)]
enum PathChoice {
    #[default]
    Unreachable,
    /// First of the tables.
    HopByHop(u32),
    /// First position in `path_links` of the only path, where nobody keeps entries.
    Only(u32),
    Paths(Box<Paths>),
    Reverse(Box<Reverse>),
}

struct Paths {
    /// First position in `path_links` of each path.
    starts: Vec<u32>,
    balancer: Balancer,
}

/// The way back of a pair whose balancer keeps entries for subflows, over the same paths: the pair's
/// entries serve both directions, as if the router at this end had learnt them from what came in.
struct Reverse {
    /// For each choice of the other pair the first position of its path backwards.
    starts: Vec<u32>,
    /// Index of the other pair.
    of: u32,
}

/// Index of a pair's route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouteIndex(u32);

impl Forwarding {
    /// No routes yet, for these pairs.
    #[must_use]
    pub fn new(
        load_balancing: LoadBalancing,
        streams: Streams,
        nodes: usize,
        pairs: impl Iterator<Item = Ends>,
    ) -> Self {
        let mut index = BTreeMap::new();
        for ends in pairs {
            let next = index.len() as u32;
            index.entry((ends, None)).or_insert(next);
        }
        let plans = index.keys().map(|(ends, _): &Pair| ends.routing + 1).max().unwrap_or(1);
        Self {
            is_by_entropy: matches!(load_balancing, LoadBalancing::Entropy(_)),
            load_balancing,
            here: None,
            hash_seeds: BTreeMap::new(),
            streams,
            path_links: Vec::new(),
            routes: index.iter().map(|_| PathChoice::Unreachable).collect(),
            // Pairs that come in order leave the nodes of the tree half empty; made of all at once they are full.
            pairs: index.into_iter().collect(),
            nodes,
            plans,
            tables: Vec::new(),
            places: Places::default(),
            laid: BTreeMap::new(),
            shared: Vec::new(),
            sharing: BTreeMap::new(),
            generation: 0,
        }
    }

    /// The same, with what these nodes mix into their hashes.
    #[must_use]
    pub fn with_hash_seeds(self, hash_seeds: BTreeMap<NodeId, HashSeed>) -> Self {
        Self { hash_seeds, ..self }
    }

    /// The index of a pair that was given to [`Forwarding::new`].
    #[must_use]
    pub fn index(&self, ends: Ends) -> Option<RouteIndex> {
        self.pairs.get(&(ends, None)).copied().map(RouteIndex)
    }

    /// The index of the paths of a pair that lead between two interfaces, from the next plan on.
    pub fn index_between(&mut self, ends: Ends, interfaces: InterfacePair) -> RouteIndex {
        let next = self.routes.len() as u32;
        let index = *self.pairs.entry((ends, Some(interfaces))).or_insert(next);
        if index == next {
            self.routes.push(PathChoice::Unreachable);
        }
        RouteIndex(index)
    }

    /// The links of the path to `to` that begins at a cursor which [`Forwarding::start`] gave for a packet.
    pub fn path_links(&self, network: &Network, cursor: u32, to: NodeId) -> &[LinkId] {
        let links = self.path_links.get(cursor as usize..).unwrap_or_default();
        let last = links.iter().position(|&link| network.link(link).to == to);
        &links[..last.map_or(0, |last| last + 1)]
    }

    /// Whether two packets to `to` set out along the same path.
    #[must_use]
    pub fn is_same_path(&self, network: &Network, starts: (PathStart, PathStart), to: NodeId) -> bool {
        let (PathStart::Path(one), PathStart::Path(other)) = starts else { return starts.0 == starts.1 };
        let links = |cursor: u32| self.path_links.get(cursor as usize..).unwrap_or_default();
        let (one, other) = (links(one), links(other));
        let end = one.iter().position(|&link| network.link(link).to == to);
        end.is_some_and(|end| other.starts_with(&one[..=end]))
    }

    /// Puts a plan in force. Pairs that it lacks have no route. What is the same as before keeps its
    /// balancer: a change elsewhere moves no flow and no flowlet.
    pub fn install(&mut self, network: &Network, plan: &Plan) {
        self.install_by(network, &Mirror::new(network), plan);
    }

    /// The same where the mirror of the network is known.
    pub fn install_by(&mut self, network: &Network, mirror: &Mirror, plan: &Plan) {
        let mut old: Vec<_> = self.routes.iter_mut().map(std::mem::take).collect();
        let routes = plan
            .all()
            .enumerate()
            .flat_map(|(place, plan)| plan.routes.iter().map(move |route| (place, route)));
        for (place, route) in routes {
            if !self.is_here(route.from) {
                continue;
            }
            let ends = Ends { routing: place, from: route.from, to: route.to };
            for (between, index) in self.wanted(ends) {
                let old = std::mem::take(&mut old[index as usize]);
                let chosen = match between {
                    Some(interfaces) if !route.paths.is_empty() => Cow::Owned(interfaces.of(route, mirror)),
                    _ => Cow::Borrowed(route),
                };
                // No path between two interfaces is no route; that of a pair always has a way.
                if between.is_none() || !chosen.paths.is_empty() {
                    let choice = self.renew(network, plan, (place, &chosen, between), mirror, old);
                    self.routes[index as usize] = choice;
                }
            }
        }
        let mirror = self.load_balancing.is_symmetric().then_some(mirror);
        let mut old: Vec<_> = self.tables.iter_mut().map(Option::take).collect();
        let places = Places::new(self.nodes, plan.all().flat_map(|plan| &plan.tables));
        let old_places = std::mem::replace(&mut self.places, places);
        if plan.all().any(|plan| !plan.tables.is_empty()) {
            let room = self.plans * self.nodes;
            old.resize_with(room, || None);
            self.tables.resize_with(room, || None);
        }
        for (place, plan) in plan.all().enumerate() {
            for table in &plan.tables {
                let index = place * self.nodes + table.to.index();
                // Of a plan that nobody asks for there are no tables.
                let Some(old) = old.get_mut(index) else { continue };
                let old = old.take().map(|old| old.into_entries(&old_places)).unwrap_or_default();
                self.tables[index] = Some(self.table(network, (place, table), mirror, old));
            }
        }
        self.generation += 1;
    }

    /// What is asked of the route of a pair: all of it, or its paths between two interfaces.
    fn wanted(&self, ends: Ends) -> Vec<(Option<InterfacePair>, u32)> {
        let of_pair = self.pairs.range((ends, None)..).take_while(|(pair, _)| pair.0 == ends);
        of_pair.map(|(pair, &index)| (pair.1, index)).collect()
    }

    fn renew(
        &mut self,
        network: &Network,
        plan: &Plan,
        (place, route, between): (usize, &Route, Option<InterfacePair>),
        mirror: &Mirror,
        old: PathChoice,
    ) -> PathChoice {
        match self.reverse(plan, (place, route, between), mirror, &old) {
            Some(reverse) => reverse,
            None if self.is_same(&old, route) => old,
            None => self.choice(network, (place, route, between), mirror, old),
        }
    }

    fn is_same(&self, choice: &PathChoice, route: &Route) -> bool {
        let links = route.paths.iter().map(|path| path.links.links());
        match choice {
            PathChoice::Paths(paths) => {
                let weights: Vec<f64> = route.paths.iter().map(|path| path.weight).collect();
                paths.balancer.has_weights(&weights) && self.lead_along(&paths.starts, links)
            }
            PathChoice::Only(start) => route.paths.len() == 1 && self.lead_along(&[*start], links),
            PathChoice::HopByHop(_) => route.paths.is_empty(),
            PathChoice::Reverse(_) | PathChoice::Unreachable => false,
        }
    }

    /// Whether the paths that start here are these. There must be as many.
    fn lead_along<'p>(&self, starts: &[u32], mut paths: impl Iterator<Item = &'p [LinkId]>) -> bool {
        // The rest of the list may belong to other paths, but a path ends at its destination.
        starts.iter().all(|&start| {
            paths.next().is_some_and(|links| self.path_links[start as usize..].starts_with(links))
        })
    }

    fn choice(
        &mut self,
        network: &Network,
        (place, route, between): (usize, &Route, Option<InterfacePair>),
        mirror: &Mirror,
        old: PathChoice,
    ) -> PathChoice {
        match &route.paths[..] {
            [] => return PathChoice::HopByHop((place * self.nodes) as u32),
            [only] if !self.load_balancing.keeps_entries() => {
                return PathChoice::Only(self.append(only.links.links()));
            }
            _ => {}
        }
        let starts = route.paths.iter().map(|path| self.append(path.links.links())).collect();
        let weights: Vec<f64> = route.paths.iter().map(|path| path.weight).collect();
        let mirror = self.load_balancing.is_symmetric().then_some(mirror);
        let identities = identities(route.paths.iter().map(|path| path.links.links()), mirror);
        if let PathChoice::Paths(mut paths) = old
            && paths.balancer.follow(&weights, &identities)
        {
            paths.starts = starts;
            return PathChoice::Paths(paths);
        }
        let mut name = format!("{}->{}", network.node(route.from).name, network.node(route.to).name);
        name += &of_plan(place);
        if let Some(InterfacePair { first, last }) = between {
            let neighbour = |edge: LinkId, of: NodeId| {
                let link = network.link(edge);
                &network.node(if link.from == of { link.to } else { link.from }).name
            };
            name += &format!(" by {} and {}", neighbour(first, route.from), neighbour(last, route.to));
        }
        let links = || route.paths.iter().map(|path| path.links.links().to_vec()).collect();
        let at = (route.from, network.node(route.from).name.as_str());
        let balancer = self.balancer(at, &name, "path", (&weights, &identities), links);
        PathChoice::Paths(Box::new(Paths { starts, balancer }))
    }

    /// The route as the way back of the opposite pair, if that keeps entries and has the same paths. The pair
    /// of which the source has the lower number comes first in a plan, and keeps the entries.
    fn reverse(
        &mut self,
        plan: &Plan,
        (place, route, between): (usize, &Route, Option<InterfacePair>),
        mirror: &Mirror,
        old: &PathChoice,
    ) -> Option<PathChoice> {
        if !self.load_balancing.keeps_entries() || route.from < route.to {
            return None;
        }
        let opposite = between.map(InterfacePair::reversed);
        let of = *self.pairs.get(&(Ends { routing: place, from: route.to, to: route.from }, opposite))?;
        let forth = plan.at(place)?.route(route.to, route.from)?;
        let forth = match opposite {
            Some(interfaces) => Cow::Owned(interfaces.of(forth, mirror)),
            None => Cow::Borrowed(forth),
        };
        let back: Option<Vec<Vec<LinkId>>> =
            forth.paths.iter().map(|path| mirror.path(path.links.links())).collect();
        let back = back?;
        let there: BTreeSet<&[LinkId]> = route.paths.iter().map(|path| path.links.links()).collect();
        let same = back.iter().map(Vec::as_slice).collect::<BTreeSet<_>>() == there;
        if !same || back.is_empty() {
            return None;
        }
        let starts = match old {
            PathChoice::Reverse(old)
                if old.starts.len() == back.len()
                    && self.lead_along(&old.starts, back.iter().map(Vec::as_slice)) =>
            {
                old.starts.clone()
            }
            _ => back.iter().map(|links| self.append(links)).collect(),
        };
        Some(PathChoice::Reverse(Box::new(Reverse { starts, of })))
    }

    fn table(
        &mut self,
        network: &Network,
        (place, table): (usize, &NextHopsTo),
        mirror: Option<&Mirror>,
        mut old: BTreeMap<NodeId, NextHops>,
    ) -> Table {
        let to = format!("{}{}", network.node(table.to).name, of_plan(place));
        let mut all = Vec::with_capacity(table.next.len());
        for (node, links) in table.next.iter().filter(|(_, links)| !links.is_empty()) {
            if !self.is_here(*node) {
                continue;
            }
            let hops = match old.remove(node) {
                Some(hops) if hops.links(&self.path_links) == &**links => hops,
                old => self.next_hops((*node, &network.node(*node).name, &to), links, mirror, old),
            };
            all.push((*node, hops));
        }
        Table::new(&self.places, all)
    }

    fn next_hops(
        &mut self,
        (node, node_name, to): (NodeId, &str, &str),
        links: &[LinkId],
        mirror: Option<&Mirror>,
        old: Option<NextHops>,
    ) -> NextHops {
        if let &[only] = links
            && !self.load_balancing.keeps_entries()
        {
            return NextHops::Only(only);
        }
        let weights = vec![1.0; links.len()];
        let identities = identities(links.iter().map(std::slice::from_ref), mirror);
        if let (true, Ok(count)) = (self.load_balancing.is_shared(), u16::try_from(links.len())) {
            let balancer = self.shared_balancer((node, node_name), links, (&weights, &identities));
            return NextHops::Shared { balancer, first: self.lay(links), count };
        }
        if let Some(NextHops::Several(mut hops)) = old
            && hops.balancer.follow(&weights, &identities)
        {
            hops.links = links.into();
            return NextHops::Several(hops);
        }
        let next = || links.iter().map(|&link| vec![link]).collect();
        let name = format!("{node_name}=>{to}");
        let balancer = self.balancer((node, node_name), &name, "next hop", (&weights, &identities), next);
        match (balancer.salt_of_equal(), u16::try_from(links.len())) {
            (Some(salt), Ok(count)) => NextHops::Hashed { salt, first: self.lay(links), count },
            _ => NextHops::Several(Box::new(SeveralHops { links: links.into(), balancer })),
        }
    }

    /// Cursor of a packet that follows these links, the rest of a path that begins elsewhere.
    pub fn append(&mut self, links: &[LinkId]) -> u32 {
        let start = self.path_links.len() as u32;
        self.path_links.extend_from_slice(links);
        start
    }

    /// Where a list of links begins that is kept once: cursor of a packet that follows links which somebody else has
    /// chosen.
    pub fn lay(&mut self, links: &[LinkId]) -> u32 {
        if let Some(&start) = self.laid.get(links) {
            return start;
        }
        let start = self.append(links);
        self.laid.insert(links.to_vec(), start);
        start
    }

    /// The salt is the same in every plan, so that flows come back to their ways when a link does; the
    /// random choices of a later plan are its own. Both ends of a set of paths must hash alike where the
    /// spread is symmetric; switches along the way need not.
    fn balancer(
        &self,
        (node, node_name): (NodeId, &str),
        name: &str,
        purpose: &str,
        (weights, identities): (&[f64], &[u64]),
        links: impl FnOnce() -> Vec<Vec<LinkId>>,
    ) -> Balancer {
        let mut stream = self.streams.stream(name, purpose);
        let drawn = stream.next_u64();
        let salt = match self.hash_seeds.get(&node) {
            _ if self.load_balancing.is_symmetric() && purpose == "path" => 0,
            None => drawn,
            Some(HashSeed::Given { seed }) => *seed,
            Some(HashSeed::Drawn {}) => self.streams.stream(node_name, "hash seed").next_u64(),
        };
        if self.generation > 0 {
            stream = self.streams.stream(name, &format!("{purpose} of plan {}", self.generation));
        }
        if let LoadBalancing::External(made) = &self.load_balancing {
            let both = weights.iter().zip(links());
            let choices: Vec<_> = both.map(|(&weight, links)| ExternalChoice { weight, links }).collect();
            return Balancer::brought(made, &choices, stream.next_u64());
        }
        Balancer::new(self.load_balancing.clone(), Choices { weights, identities, salt, stream })
    }

    /// Where the route of a new packet starts; `None` where there is no route.
    #[inline]
    pub fn start(&mut self, now: Instant, route: RouteIndex, key: &FlowKey) -> Option<PathStart> {
        match &self.routes[route.0 as usize] {
            PathChoice::Only(start) => Some(PathStart::Path(*start)),
            PathChoice::HopByHop(tables) => Some(PathStart::NextHops(*tables)),
            _ => self.start_among_several(now, route, *key),
        }
    }

    /// The same for a packet of `spray` with this entropy value: of several paths it decides by itself where load is
    /// balanced by `entropy`, and by its hash with the key otherwise.
    pub fn start_by_entropy(
        &mut self,
        now: Instant,
        route: RouteIndex,
        (key, entropy): (&FlowKey, u16),
    ) -> Option<PathStart> {
        if let (PathChoice::Paths(paths), true) = (&self.routes[route.0 as usize], self.is_by_entropy) {
            return Some(PathStart::Path(paths.starts[usize::from(entropy) % paths.starts.len()]));
        }
        self.start(now, route, &key.with_entropy(entropy))
    }

    /// The link of `planes` by which a packet of `spray` leaves its host: the remainder of its entropy value. None where the
    /// host has no choice, or its path has been chosen.
    pub fn first_hop(&mut self, packet: &Packet, node: NodeId, entropy: u16) -> Option<LinkId> {
        if packet.steering != Steering::SprayHops {
            return None;
        }
        let table = self.tables.get_mut(packet.cursor as usize + packet.destination.index())?.as_mut()?;
        let links = table.of(self.places.of(node), node)?.links(&self.path_links);
        (!links.is_empty()).then(|| links[usize::from(entropy) % links.len()])
    }

    /// Apart from routes without a choice, which stay small.
    #[inline(never)]
    fn start_among_several(&mut self, now: Instant, route: RouteIndex, key: FlowKey) -> Option<PathStart> {
        match &mut self.routes[route.0 as usize] {
            PathChoice::Paths(paths) => Some(PathStart::Path(paths.starts[paths.balancer.choose(now, key)])),
            PathChoice::Reverse(reverse) => {
                let of = reverse.of as usize;
                self.start_back(now, route, of, key)
            }
            PathChoice::Only(_) | PathChoice::HopByHop(_) | PathChoice::Unreachable => None,
        }
    }

    fn start_back(&mut self, now: Instant, route: RouteIndex, of: usize, key: FlowKey) -> Option<PathStart> {
        let PathChoice::Paths(paths) = &mut self.routes[of] else { return None };
        let choice = paths.balancer.choose(now, key);
        let PathChoice::Reverse(reverse) = &self.routes[route.0 as usize] else { return None };
        Some(PathStart::Path(reverse.starts[choice]))
    }

    /// The next link of a packet along its path.
    #[inline]
    pub fn follow(&self, packet: &mut Packet) -> LinkId {
        let link = self.path_links[packet.cursor as usize];
        packet.cursor += 1;
        link
    }

    /// The link a packet leaves `node` on; `None` where there is no way.
    #[inline]
    pub fn next_link(
        &mut self,
        now: Instant,
        node: NodeId,
        packet: &mut Packet,
        key: impl FnOnce(&Packet) -> FlowKey,
    ) -> Option<LinkId> {
        if !packet.steering.is_hop_by_hop() {
            return Some(self.follow(packet));
        }
        let table = self.tables.get_mut(packet.cursor as usize + packet.destination.index())?.as_mut()?;
        match table.of(self.places.of(node), node)? {
            NextHops::None => None,
            NextHops::Only(link) => Some(*link),
            &mut NextHops::Hashed { salt, first, count } => {
                let choice = choose_equally((salt, count), &key(packet));
                Some(self.path_links[first as usize + choice])
            }
            &mut NextHops::Shared { balancer, first, .. } => {
                let choice = self.shared[balancer as usize].choose(now, key(packet));
                Some(self.path_links[first as usize + choice])
            }
            NextHops::Several(hops) => Some(hops.choose(now, || key(packet))),
        }
    }
}

/// Behind the names of the random streams of a plan that is not the first.
fn of_plan(place: usize) -> String {
    if place == 0 { String::new() } else { format!(" by routes {place}") }
}

/// What paths are known by in both directions and in every plan: the edges they go over. Spreads that look at
/// no identity do not need the mirror.
fn identities<'p>(paths: impl Iterator<Item = &'p [LinkId]>, mirror: Option<&Mirror>) -> Vec<u64> {
    let Some(mirror) = mirror else { return vec![0; paths.count()] };
    let mut seen = BTreeMap::new();
    let mut identity = |links: &[LinkId]| {
        // A sum, because the way back has the same edges from the other end. Zero is no good start: `mix` keeps it.
        let edge = |&link: &LinkId| mix(u64::from(mirror.edge(link).0) + 1);
        let sum = links.iter().map(edge).fold(0, u64::wrapping_add);
        // A plan may list a path twice.
        let before: &mut u64 = seen.entry(sum).or_default();
        *before += 1;
        mix(sum.wrapping_add(*before))
    };
    paths.map(&mut identity).collect()
}

#[cfg(test)]
mod tests;
