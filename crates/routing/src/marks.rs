use anabranch_units::NodeId;

/// A set of nodes that is emptied in no time.
#[derive(Debug)]
pub(crate) struct Marks {
    round: u32,
    of: Vec<u32>,
}

impl Marks {
    pub(crate) fn new(count: usize) -> Self {
        Self { round: 1, of: vec![0; count] }
    }

    pub(crate) fn clear(&mut self) {
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.of.fill(0);
            1
        });
    }

    #[inline]
    pub(crate) fn set(&mut self, node: NodeId) {
        self.of[node.index()] = self.round;
    }

    #[inline]
    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.of[node.index()] == self.round
    }
}
