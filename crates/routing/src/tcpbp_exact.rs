//! The paths of highest predicted TCP throughput, without exception: the least `f = d sqrt(p)` of
//! [`crate::tcpbp`], which the thesis's modified Dijkstra (Vilela 2022, algorithm 1) need not find.
//!
//! f grows with the delay and with the loss, and so does every path when a link is added. Of two ways to a node
//! the one that is worse in both therefore never leads to a better path, and the best path is among those that
//! no other beats in both: P. Hansen, "Bicriterion path problems", Lecture Notes in Economics and Mathematical
//! Systems 177, 1980. The search keeps all such ways to every node and extends them in the order of delay,
//! loss and hops. A way that comes back to a node is behind the way that it left it by, so no path loops,
//! with links of no delay and no loss among them too.
//!
//! The order of paths is that of [`crate::tcpbp`], ties included: f to nine digits; where it is 0, delay; hops,
//! node numbers, link ids. For this a way that is worse in delay and loss is kept as long as a tie in the
//! rounded f could still make it the first.
//!
//! The number of such ways can grow exponentially in contrived networks. Two bounds keep it small in others.
//! No best path is longer in delay than the path of least loss to its end, nor than `f' / sqrt(p')` of any
//! path's f' and the least loss p'. And a way of more delay and less loss than another pays only if what is
//! left to go is long enough, which the first bound limits.

use crate::tcpbp::{LinkQuality, PathQuality, TcpbpTree};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId, Span};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Relative difference in f by which two paths are told apart for sure: f is compared to 2^-30 at the coarsest.
const TOLD_APART: f64 = 1.0 / (1u64 << 28) as f64;

/// The same for bounds that come out of a comparison of losses. 1 - p is known to about 1e-16 for every hop,
/// and so p to about 1e-9 of itself from the least loss up at which these bounds are used.
const BOUND_SLACK: f64 = 1e-6;
/// See [`BOUND_SLACK`].
const LEAST_BOUNDING_LOSS: f64 = 1e-7;

/// A way to a node that no other way makes useless.
#[derive(Clone, Copy, Debug)]
struct Way {
    quality: PathQuality,
    node: NodeId,
    /// The way that this one extends, and the link by which it does; none at the source.
    last: Option<(u32, LinkId)>,
}

/// A way that is not extended yet, in the order of extension: delay, loss, hops. A way's own extensions come
/// after it, and so after all ways equal to it in these three.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pending {
    delay: Span,
    /// The bits of the probability to arrive, inverted: numbers from 0 up are in the order of their bits.
    inverted_delivery: u64,
    hops: u32,
    node: NodeId,
    last: Option<(u32, LinkId)>,
}

impl Pending {
    const fn new(quality: PathQuality, node: NodeId, last: Option<(u32, LinkId)>) -> Self {
        let inverted_delivery = !quality.delivery.to_bits();
        Self { delay: quality.delay, inverted_delivery, hops: quality.hops, node, last }
    }

    const fn way(self) -> Way {
        let delivery = f64::from_bits(!self.inverted_delivery);
        let quality = PathQuality { delay: self.delay, delivery, hops: self.hops };
        Way { quality, node: self.node, last: self.last }
    }
}

/// The best paths from one source to every node.
#[derive(Clone, Debug)]
pub struct TcpbpExactTree {
    from: NodeId,
    ways: Vec<Way>,
    /// The best way to every node.
    best: Vec<Option<u32>>,
}

impl TcpbpExactTree {
    /// The best paths from `from` over the links of `network` for which `quality` knows one; the others are not
    /// used.
    #[must_use]
    pub fn new(network: &Network, from: NodeId, quality: impl Fn(LinkId) -> Option<LinkQuality>) -> Self {
        let qualities: Vec<Option<LinkQuality>> = network.link_ids().map(quality).collect();
        let mut search = Search::new(network, from, &qualities);
        search.run();
        let Search { ways, at, .. } = search;
        let first = |at: &Vec<u32>| {
            at.iter().copied().min_by(|&left, &right| {
                let rank = |way: u32| ways[way as usize].quality.rank();
                rank(left).cmp(&rank(right)).then_with(|| order_of_equals(&ways, left, right))
            })
        };
        let best = at.iter().map(first).collect();
        Self { from, ways, best }
    }

    /// The source.
    #[must_use]
    pub const fn from(&self) -> NodeId {
        self.from
    }

    /// Delay and loss of the best path to `to`, if there is one; that of no links at the source.
    #[must_use]
    pub fn quality(&self, to: NodeId) -> Option<PathQuality> {
        self.best[to.index()].map(|way| self.ways[way as usize].quality)
    }

    /// The best path to `to`; none at the source itself. The network must be the one that was searched.
    #[must_use]
    pub fn path(&self, network: &Network, to: NodeId) -> Option<Path> {
        let last = |way: u32| self.ways[way as usize].last;
        let back = std::iter::successors(last(self.best[to.index()]?), |&(before, _)| last(before));
        let mut links: Vec<LinkId> = back.map(|(_, link)| link).collect();
        links.reverse();
        let joined = |links| Path::new(network, links).expect("the links of a way join and make no loop");
        (!links.is_empty()).then(|| joined(links))
    }

    /// Ways kept to all nodes together: the size of the search.
    #[must_use]
    pub const fn ways(&self) -> usize {
        self.ways.len()
    }
}

/// The best path from `from` to `to`, if there is one.
#[must_use]
pub fn tcpbp_exact_path(
    network: &Network,
    from: NodeId,
    to: NodeId,
    quality: impl Fn(LinkId) -> Option<LinkQuality>,
) -> Option<Path> {
    TcpbpExactTree::new(network, from, quality).path(network, to)
}

/// Which of two ways of as many hops to one node comes first: by node numbers, then by link ids, the first
/// difference deciding.
fn order_of_equals(ways: &[Way], mut left: u32, mut right: u32) -> Ordering {
    let (mut by_node, mut by_link) = (Ordering::Equal, Ordering::Equal);
    // The last difference found on the way back is the first from the source.
    while left != right {
        let (a, b) = (&ways[left as usize], &ways[right as usize]);
        by_node = a.node.cmp(&b.node).then(by_node);
        let (Some((before_a, link_a)), Some((before_b, link_b))) = (a.last, b.last) else { break };
        // Links are compared only where all nodes are the same, so that each pair of them is parallel.
        by_link = link_a.cmp(&link_b).then(by_link);
        (left, right) = (before_a, before_b);
    }
    by_node.then(by_link)
}

struct Search<'a> {
    network: &'a Network,
    qualities: &'a [Option<LinkQuality>],
    ways: Vec<Way>,
    /// The ways to every node, in the order in which they were found, which is that of delay.
    at: Vec<Vec<u32>>,
    /// For every node the best delivery among its ways.
    surest: Vec<f64>,
    /// Difference in delay that no tie in f can bridge, whatever links follow.
    apart: Span,
    /// No best path to any node has more delay, in seconds.
    horizon: f64,
    frontier: BinaryHeap<Reverse<Pending>>,
}

impl<'a> Search<'a> {
    fn new(network: &'a Network, from: NodeId, qualities: &'a [Option<LinkQuality>]) -> Self {
        let count = network.nodes().len();
        // A path has each link once at most, so this is more than the delay of any.
        let longest: f64 = qualities.iter().flatten().map(|link| link.delay().as_ps() as f64).sum();
        Self {
            network,
            qualities,
            ways: Vec::with_capacity(4 * count),
            at: vec![Vec::new(); count],
            surest: vec![-1.0; count],
            apart: Span::from_ps((longest * TOLD_APART).ceil() as u64),
            horizon: horizon(network, from, qualities),
            frontier: BinaryHeap::from([Reverse(Pending::new(PathQuality::EMPTY, from, None))]),
        }
    }

    fn run(&mut self) {
        while let Some(Reverse(pending)) = self.frontier.pop() {
            let way = pending.way();
            let number = u32::try_from(self.ways.len()).expect("fewer ways than memory holds");
            // Provisionally, for the comparison with others.
            self.ways.push(way);
            if !self.keep(number) {
                self.ways.pop();
                continue;
            }
            self.extend(number);
        }
    }

    /// Pushes what the links of a way's last node make of it, as far as it can pay.
    fn extend(&mut self, number: u32) {
        let way = self.ways[number as usize];
        for &link in self.network.links_out(way.node) {
            let Some(of_link) = self.qualities[link.index()] else { continue };
            let to = self.network.link(link).to;
            let quality = way.quality.then(of_link);
            if quality.delay.as_secs_f64() <= self.horizon && !self.beaten_for_sure(to, quality) {
                self.frontier.push(Reverse(Pending::new(quality, to, Some((number, link)))));
            }
        }
    }

    /// Whether a way to `node` has less delay by more than a tie bridges and no more loss than one of this
    /// quality.
    fn beaten_for_sure(&self, node: NodeId, quality: PathQuality) -> bool {
        quality.delivery <= self.surest[node.index()]
            && self.at[node.index()].iter().rev().any(|&other| {
                let other = self.ways[other as usize].quality;
                other.delivery >= quality.delivery && other.delay + self.apart < quality.delay
            })
    }

    /// Whether the newest way is to be kept and extended. Notes it at its node if so; if it is a better spelling
    /// of one that is there, it takes its place.
    fn keep(&mut self, number: u32) -> bool {
        let Way { quality, node, last } = self.ways[number as usize];
        let rest = (self.horizon - quality.delay.as_secs_f64()).max(0.0);
        let reach = |of: PathQuality| (of.delay.as_secs_f64() + rest) * of.loss().sqrt();
        let ours = reach(quality);
        for &other in self.at[node.index()].iter().rev() {
            let known = self.ways[other as usize].quality;
            if known.delivery < quality.delivery {
                // The longer what follows and the less it loses, the better for the way of less loss.
                if quality.loss() >= LEAST_BOUNDING_LOSS && ours > reach(known) * (1.0 + BOUND_SLACK) {
                    return false;
                }
                continue;
            }
            if known.delay + self.apart < quality.delay {
                return false;
            }
            let order =
                known.hops.cmp(&quality.hops).then_with(|| order_of_equals(&self.ways, other, number));
            if order != Ordering::Greater {
                return false;
            }
            if known == quality {
                // Nothing that extends the other has been looked at: it has more hops, so comes later.
                self.ways[other as usize].last = last;
                return false;
            }
        }
        self.at[node.index()].push(number);
        let surest = &mut self.surest[node.index()];
        *surest = surest.max(quality.delivery);
        true
    }
}

/// A delay in seconds that no best path from `from` exceeds, to any node.
fn horizon(network: &Network, from: NodeId, qualities: &[Option<LinkQuality>]) -> f64 {
    let published = TcpbpTree::new(network, from, |link| qualities[link.index()]);
    let surest = surest(network, from, qualities);
    let bounds = network.node_ids().zip(surest).filter_map(|(node, surest)| {
        let (surest, known) = (surest?, published.quality(node)?);
        // A path of more delay loses no less than the surest, and so is worse than that.
        let longest = surest.delay.as_secs_f64();
        let least_loss = surest.loss();
        // d = f / sqrt(p) <= f' / sqrt(least p) for any f' that is reached.
        let by_metric = known.metric() / least_loss.sqrt();
        Some(if least_loss >= LEAST_BOUNDING_LOSS { longest.min(by_metric) } else { longest })
    });
    bounds.fold(0.0, f64::max) * (1.0 + BOUND_SLACK)
}

/// The path of least loss to every node, of these that of least delay: Dijkstra, in the order of both.
fn surest(network: &Network, from: NodeId, qualities: &[Option<LinkQuality>]) -> Vec<Option<PathQuality>> {
    let mut settled = vec![None; network.nodes().len()];
    let mut frontier = BinaryHeap::from([Reverse((!1.0f64.to_bits(), Span::ZERO, from))]);
    while let Some(Reverse((inverted_delivery, delay, node))) = frontier.pop() {
        if settled[node.index()].is_some() {
            continue;
        }
        let here = PathQuality { delay, delivery: f64::from_bits(!inverted_delivery), hops: 0 };
        settled[node.index()] = Some(here);
        for &link in network.links_out(node) {
            let to = network.link(link).to;
            let Some(of_link) = qualities[link.index()].filter(|_| settled[to.index()].is_none()) else {
                continue;
            };
            let there = here.then(of_link);
            frontier.push(Reverse((!there.delivery.to_bits(), there.delay, to)));
        }
    }
    settled
}
