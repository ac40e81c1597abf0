//! The search that all exact ones share: label-setting over several criteria (P. Hansen, "Bicriterion path
//! problems", Lecture Notes in Economics and Mathematical Systems 177, 1980; E. Q. V. Martins, European Journal
//! of Operational Research 16, 1984).
//!
//! It keeps all ways to every node that no other way makes useless, and extends them in the order of delay,
//! loss, capacity and hops. One way makes another useless if it is no worse in delay, loss and capacity and
//! comes before it in hops, node numbers and link ids: then it does so behind any links that follow, and if the
//! first comes back to a node, cutting that loop out gives a way of fewer hops that is no worse. For the same
//! reason no path found loops, with links of no delay and no loss among them too.

use crate::quality::{LinkQuality, PathQuality};
use anabranch_network::{Network, Path};
use anabranch_units::{LinkId, NodeId, Rate, Span};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Relative difference in a metric by which two paths are told apart for sure: metrics are compared to 2^-30 at
/// the coarsest.
const TOLD_APART: f64 = 1.0 / (1u64 << 28) as f64;

/// A way to a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) quality: PathQuality,
    pub(crate) node: NodeId,
    /// The way that this one extends, and the link by which it does; none at the start.
    pub(crate) last: Option<(u32, LinkId)>,
}

/// A way that is not extended yet, in the order of extension: delay, loss, capacity, hops. A way's own
/// extensions come after it, and so after all ways equal to it in these four.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pending {
    delay: Span,
    /// The bits of the probability to arrive, inverted: numbers from 0 up are in the order of their bits.
    inverted_delivery: u64,
    narrow: Reverse<Rate>,
    hops: u32,
    node: NodeId,
    last: Option<(u32, LinkId)>,
}

impl Pending {
    const fn new(quality: PathQuality, node: NodeId, last: Option<(u32, LinkId)>) -> Self {
        let PathQuality { delay, delivery, capacity, hops } = quality;
        Self { delay, inverted_delivery: !delivery.to_bits(), narrow: Reverse(capacity), hops, node, last }
    }

    const fn way(self) -> Way {
        let delivery = f64::from_bits(!self.inverted_delivery);
        let quality = PathQuality { delay: self.delay, delivery, capacity: self.narrow.0, hops: self.hops };
        Way { quality, node: self.node, last: self.last }
    }
}

/// What a search is after, and so which ways it need not follow.
pub(crate) trait Aim {
    /// Whether a way of this quality to this node may be, or lead to, what is sought.
    fn hopes(&self, node: NodeId, quality: PathQuality) -> bool;

    /// Whether a way to a node that is there already and loses more, or is narrower, makes one of `quality`
    /// useless for all that.
    fn beats(&self, _known: PathQuality, _quality: PathQuality) -> bool {
        false
    }

    /// Told of every way that is kept. Returns whether to go on from it.
    fn keep(&mut self, _node: NodeId, _quality: PathQuality) -> bool {
        true
    }
}

/// Ways kept by a search, with the memory that the next one uses again.
#[derive(Clone, Default, Debug)]
pub(crate) struct Labels {
    ways: Vec<Way>,
    /// The ways to every node, in the order in which they were found, which is that of delay.
    at: Vec<Vec<u32>>,
    /// For every node the best delivery among its ways.
    surest: Vec<f64>,
    touched: Vec<NodeId>,
    frontier: BinaryHeap<Reverse<Pending>>,
}

/// Where a search runs: a network with qualities for the links that may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) network: &'a Network,
    pub(crate) qualities: &'a [Option<LinkQuality>],
    /// Difference in delay that no tie in the metric can bridge, whatever links follow; the largest span where
    /// only equals may be told apart.
    pub(crate) apart: Span,
}

impl<'a> Field<'a> {
    /// For metrics that are delay times a weight and told apart as [`TOLD_APART`] says.
    pub(crate) fn new(network: &'a Network, qualities: &'a [Option<LinkQuality>]) -> Self {
        // A path has each link once at most, so this is more than the delay of any.
        let longest: f64 = qualities.iter().flatten().map(|link| link.delay().as_ps() as f64).sum();
        let exceeds = longest >= u64::MAX as f64;
        let apart = if exceeds { Span::MAX } else { Span::from_ps((longest * TOLD_APART).ceil() as u64) };
        Self { network, qualities, apart }
    }

    /// The links that leave a node, with where they lead.
    pub(crate) fn out(&self, node: NodeId) -> impl Iterator<Item = (LinkId, NodeId, LinkQuality)> + 'a {
        let Self { network, qualities, .. } = *self;
        network.links_out(node).iter().filter_map(move |&link| {
            qualities[link.index()].map(|quality| (link, network.link(link).to, quality))
        })
    }
}

impl Labels {
    /// For networks of so many nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { at: vec![Vec::new(); nodes], surest: vec![-1.0; nodes], ..Self::default() }
    }

    /// Finds all ways from a node that begin with a quality and that nothing makes useless, over links that
    /// `open` leaves open, given the node that a link leaves, the link and where it leads. Returns false if
    /// more than `most` ways are kept, and stops.
    pub(crate) fn search(
        &mut self,
        field: Field<'_>,
        (from, start): (NodeId, PathQuality),
        open: impl Fn(NodeId, LinkId, NodeId) -> bool,
        aim: &mut impl Aim,
        most: usize,
    ) -> bool {
        self.clear();
        self.frontier.push(Reverse(Pending::new(start, from, None)));
        while let Some(Reverse(pending)) = self.frontier.pop() {
            let label = pending.way();
            if self.ways.len() >= most {
                return false;
            }
            let number = u32::try_from(self.ways.len()).expect("fewer ways than memory holds");
            // Provisionally, for the comparison with others.
            self.ways.push(label);
            if !aim.hopes(label.node, label.quality) || !self.keep(number, field.apart, aim) {
                self.ways.pop();
                continue;
            }
            if !aim.keep(label.node, label.quality) {
                continue;
            }
            for (link, to, of_link) in field.out(label.node) {
                let quality = label.quality.then(of_link);
                if open(label.node, link, to)
                    && aim.hopes(to, quality)
                    && !self.beaten_for_sure(to, quality, field.apart)
                {
                    self.frontier.push(Reverse(Pending::new(quality, to, Some((number, link)))));
                }
            }
        }
        true
    }

    fn clear(&mut self) {
        for node in self.touched.drain(..) {
            self.at[node.index()].clear();
            self.surest[node.index()] = -1.0;
        }
        self.ways.clear();
        self.frontier.clear();
    }

    /// Whether a way to `node` is no worse in anything, and has fewer hops or less delay by more than a tie
    /// bridges.
    fn beaten_for_sure(&self, node: NodeId, quality: PathQuality, apart: Span) -> bool {
        quality.delivery <= self.surest[node.index()]
            && self.at[node.index()].iter().rev().any(|&other| {
                let other = self.ways[other as usize].quality;
                let first = other.hops < quality.hops || other.delay.saturating_add(apart) < quality.delay;
                first && other.is_no_worse(quality)
            })
    }

    /// Whether the newest way is to be kept and extended. Notes it at its node if so; if it is a better spelling
    /// of one that is there, it takes its place.
    fn keep(&mut self, number: u32, apart: Span, aim: &impl Aim) -> bool {
        let Way { quality, node, last } = self.ways[number as usize];
        for &other in self.at[node.index()].iter().rev() {
            let other_quality = self.ways[other as usize].quality;
            if !other_quality.is_no_worse(quality) {
                if aim.beats(other_quality, quality) {
                    return false;
                }
                continue;
            }
            if other_quality.delay.saturating_add(apart) < quality.delay {
                return false;
            }
            let order = other_quality.hops.cmp(&quality.hops).then_with(|| self.spelling(other, number));
            if order != Ordering::Greater {
                return false;
            }
            if other_quality == quality {
                // Nothing that extends the other has been looked at: it has more hops, so comes later.
                self.ways[other as usize].last = last;
                return false;
            }
        }
        if self.at[node.index()].is_empty() {
            self.touched.push(node);
        }
        self.at[node.index()].push(number);
        let surest = &mut self.surest[node.index()];
        *surest = surest.max(quality.delivery);
        true
    }

    /// Which of two ways of as many hops to one node comes first.
    pub(crate) fn spelling(&self, left: u32, right: u32) -> Ordering {
        spelling(left, right, |label| (self.ways[label as usize].node, self.ways[label as usize].last))
    }

    /// The ways kept to a node, least delay first.
    pub(crate) fn at(&self, node: NodeId) -> &[u32] {
        &self.at[node.index()]
    }

    pub(crate) fn quality(&self, label: u32) -> PathQuality {
        self.ways[label as usize].quality
    }

    /// How many ways are kept, to all nodes together.
    pub(crate) const fn count(&self) -> usize {
        self.ways.len()
    }

    /// The links of a way.
    pub(crate) fn links(&self, label: u32) -> Vec<LinkId> {
        let last = |label: u32| self.ways[label as usize].last;
        let back = std::iter::successors(last(label), |&(before, _)| last(before));
        let mut links: Vec<LinkId> = back.map(|(_, link)| link).collect();
        links.reverse();
        links
    }

    /// The first way to a node by rank, then by spelling.
    pub(crate) fn first<R: Ord>(&self, node: NodeId, rank: impl Fn(PathQuality) -> R) -> Option<(R, u32)> {
        let mut ways = self.at(node).iter().map(|&label| (rank(self.quality(label)), label));
        let mut first = ways.next()?;
        for (rank, label) in ways {
            let order = rank.cmp(&first.0).then_with(|| self.spelling(label, first.1));
            if order == Ordering::Less {
                first = (rank, label);
            }
        }
        Some(first)
    }
}

/// Which of two ways of as many hops to one node comes first: by node numbers, then by link ids, the first difference
/// deciding. `step` has the last node of a way, with the way that it extends and the link by which it does.
pub(crate) fn spelling(
    mut left: u32,
    mut right: u32,
    step: impl Fn(u32) -> (NodeId, Option<(u32, LinkId)>),
) -> Ordering {
    let (mut by_node, mut by_link) = (Ordering::Equal, Ordering::Equal);
    // The last difference found on the way back is the first from the start.
    while left != right {
        let ((node_a, last_a), (node_b, last_b)) = (step(left), step(right));
        by_node = node_a.cmp(&node_b).then(by_node);
        let (Some((before_a, link_a)), Some((before_b, link_b))) = (last_a, last_b) else { break };
        // Links are compared only where all nodes are the same, so that each pair of them is parallel.
        by_link = link_a.cmp(&link_b).then(by_link);
        (left, right) = (before_a, before_b);
    }
    by_node.then(by_link)
}

/// The path over links that a search chose; none over no links.
pub(crate) fn path(network: &Network, links: Vec<LinkId>) -> Option<Path> {
    let joined = |links| Path::new(network, links).expect("the links of a way join and make no loop");
    (!links.is_empty()).then(|| joined(links))
}
