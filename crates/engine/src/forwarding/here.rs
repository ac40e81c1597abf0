//! What there is no need to keep: routes and next hops of nodes that another part of a run has, and of a run that is over.

use super::Forwarding;
use anabranch_units::NodeId;
use std::collections::BTreeMap;

impl Forwarding {
    /// The same at some nodes alone, by node. Packets of all pairs pass them, which go by so many plans.
    #[must_use]
    pub fn at(self, here: Vec<bool>, plans: usize) -> Self {
        Self { here: Some(here), plans, ..self }
    }

    /// Whether packets set out or are passed on here at a node.
    #[must_use]
    pub fn is_here(&self, node: NodeId) -> bool {
        self.here.as_ref().is_none_or(|here| here[node.index()])
    }

    /// Nobody will ask for the index of a pair any more, nor will there be another plan: with many flows, indices take
    /// much memory.
    pub fn settle(&mut self) {
        self.pairs = BTreeMap::new();
    }

    /// Forgets all routes: the run is over.
    pub fn clear(&mut self) {
        (self.routes, self.pairs, self.path_links) = (Vec::new(), BTreeMap::new(), Vec::new());
        (self.tables, self.laid) = (Vec::new(), BTreeMap::new());
    }
}
