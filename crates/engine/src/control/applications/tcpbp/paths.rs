//! Paths by what the controller takes links to be.

use super::super::router::{ByMetric, PathFinder};
use super::TcpbpSetup;
use crate::control::ControllerSetup;
use crate::control::View;
use anabranch_network::Network;
use anabranch_routing::{
    Granularity, LinkMask, LinkQuality, Metric, PathMetric, PathQuality, Search, exact_path, tcpbp_path,
};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The path of least f over estimates; before there are any, the shortest in the metric of the setup.
#[derive(Debug)]
pub struct BestPath {
    granularity: Granularity,
    search: Search,
    threshold: f64,
    hold_time: Span,
    initial: ByMetric,
    measuring: BTreeSet<FlowId>,
    /// Losses by link, where there are estimates; empty before the first.
    loss: BTreeMap<LinkId, f64>,
    /// Measured delays by link.
    delay: BTreeMap<LinkId, Span>,
}

impl BestPath {
    pub fn new(setup: &ControllerSetup, tcpbp: &TcpbpSetup) -> Self {
        Self {
            granularity: Granularity { loss: tcpbp.loss_granularity, delay: tcpbp.delay_granularity },
            search: tcpbp.search,
            threshold: tcpbp.threshold,
            hold_time: tcpbp.hold_time,
            initial: ByMetric(setup.metric),
            measuring: tcpbp.measuring.iter().copied().collect(),
            loss: BTreeMap::new(),
            delay: BTreeMap::new(),
        }
    }

    /// Takes a link's loss, 0..=1, from here on in steps of the granularity.
    pub fn set_loss(&mut self, link: LinkId, loss: Option<f64>) {
        match loss {
            Some(loss) => self.loss.insert(link, self.granularity.loss(loss)),
            None => self.loss.remove(&link),
        };
    }

    /// Takes a link's delay from here on in steps of the granularity.
    pub fn set_delay(&mut self, link: LinkId, seconds: f64) {
        self.delay.insert(link, self.granularity.delay(Span::from_secs_f64(seconds)));
    }

    /// The loss that paths are chosen by, where there is an estimate.
    #[must_use]
    pub fn known_loss(&self, link: LinkId) -> Option<f64> {
        self.loss.get(&link).copied()
    }

    /// What a link without an estimate is taken to be: free of loss, and as slow as configured.
    #[must_use]
    pub fn quality(&self, view: &View<'_>, link: LinkId) -> LinkQuality {
        let configured = || self.granularity.delay(view.network.link(link).delay);
        let delay = self.delay.get(&link).copied().unwrap_or_else(configured);
        LinkQuality::new(delay, self.known_loss(link).unwrap_or(0.0))
    }

    /// That of a path, if all its links are up and let something through.
    fn path_quality(&self, view: &View<'_>, path: &[LinkId]) -> Option<PathQuality> {
        let up = path.iter().all(|&link| view.mask.usable(view.network, link) && !self.is_dead(link));
        up.then(|| PathQuality::of(path.iter().map(|&link| self.quality(view, link))))
    }

    /// A link that loses everything has the f of its delay, which may be low; it is as good as down.
    fn is_dead(&self, link: LinkId) -> bool {
        self.known_loss(link).is_some_and(|loss| loss >= 1.0)
    }

    /// The shortest path by a metric that adds up over estimates, or before there are any, over what is configured.
    fn by_metric(
        &self,
        view: &View<'_>,
        (from, to): (NodeId, NodeId),
        metric: Option<Metric>,
    ) -> Option<Vec<LinkId>> {
        let (mut mask, mut network) = (view.mask.clone(), view.network.clone());
        for link in view.network.link_ids() {
            if !carries(view, link, from, to) {
                mask.set_link(link, false);
            } else if !self.loss.is_empty() {
                let quality = self.quality(view, link);
                let (_, delay, loss) = network.link_attributes(link);
                // A link that loses everything is still a link.
                (*delay, *loss) = (quality.delay(), quality.loss().min(1.0 - f64::EPSILON));
            }
        }
        let over = |mask: &LinkMask| {
            self.initial.path(&View { mask, network: &network, ..*view }, (from, to), metric)
        };
        let mut alive = mask.clone();
        for link in view.network.link_ids().filter(|&link| self.is_dead(link)) {
            alive.set_link(link, false);
        }
        over(&alive).or_else(|| over(&mask))
    }

    fn search(
        &self,
        network: &Network,
        ends: (NodeId, NodeId),
        quality_of: impl Fn(LinkId) -> Option<LinkQuality>,
    ) -> Option<Vec<LinkId>> {
        let path = match self.search {
            Search::Published => tcpbp_path(network, ends.0, ends.1, quality_of),
            Search::Exact => exact_path(network, PathMetric::Tcpbp, ends.0, ends.1, quality_of),
        };
        path.map(|path| path.links().to_vec())
    }
}

impl PathFinder for BestPath {
    fn path(
        &self,
        view: &View<'_>,
        (from, to): (NodeId, NodeId),
        metric: Option<Metric>,
    ) -> Option<Vec<LinkId>> {
        if self.loss.is_empty() || metric.is_some() {
            return self.by_metric(view, (from, to), metric);
        }
        let quality_of = |link| carries(view, link, from, to).then(|| self.quality(view, link));
        let alive = |link| quality_of(link).filter(|_| !self.is_dead(link));
        // Where every way leads over a dead link, one of them may come to life again.
        let over_living = self.search(view.network, (from, to), alive);
        over_living.or_else(|| self.search(view.network, (from, to), quality_of))
    }

    /// That of a flow which measures: the link between its ends.
    fn own_path(&self, view: &View<'_>, flow: FlowId, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let network = view.network;
        let mut links = network.links_out(from).iter().copied();
        let direct = |link| network.link(link).to == to && carries(view, link, from, to);
        self.measuring.contains(&flow).then(|| links.find(|&link| direct(link)))?.map(|link| vec![link])
    }

    /// Greedy (section 4.1.4, "Re-Convergence Criteria"), but for the threshold and the hold time.
    fn keeps(
        &self,
        view: &View<'_>,
        metric: Option<Metric>,
        moved: Option<Instant>,
        current: &[LinkId],
        links: &[LinkId],
    ) -> bool {
        let Some(quality) = self.path_quality(view, current) else { return false };
        if moved.is_some_and(|at| view.now < at.saturating_add(self.hold_time)) {
            return true;
        }
        let links = self.path_quality(view, links);
        // The threshold is one of f.
        metric.is_none()
            && !self.loss.is_empty()
            && links.is_some_and(|links| !links.beats(quality, self.threshold))
    }
}

/// Whether a link may lie on a path between two nodes: it is up, and hosts are only at the ends, where they
/// send over one link.
fn carries(view: &View<'_>, link: LinkId, from: NodeId, to: NodeId) -> bool {
    let ends = view.network.link(link);
    let leaves =
        view.is_switch(ends.from) || (ends.from == from && view.channels.gateway(from) == Some(link));
    view.mask.usable(view.network, link) && leaves && (view.is_switch(ends.to) || ends.to == to)
}
