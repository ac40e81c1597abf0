//! What a search of weights may do, and what it has found.

/// Orders of the norm begin with two to this power.
pub(super) const FIRST_POWER: u32 = 3;
/// Of how many arcs drawn the most, or least, loaded is changed.
pub(super) const DRAWN: usize = 3;

/// What a search may do.
#[derive(Clone, Debug)]
pub struct SearchLimits {
    /// The weights that are there. Changes are counted from them.
    pub present: Vec<u32>,
    /// Where the search begins: weights that keep these limits.
    pub begin: Vec<u32>,
    /// Arcs whose weights change together, each with the same number; numbered from 0 without gaps.
    pub group: Vec<u32>,
    /// The greatest weight.
    pub greatest: u32,
    /// Arcs that may get another weight than the present one.
    pub most_changes: usize,
    /// By which part a trial may be worse and yet be taken, at the start of a round; it falls to 0.
    pub boldness: f64,
    /// What a load with all pairs at their bounds at once counts beside the load itself, where traffic is any within bounds.
    pub evenness: f64,
    /// Nodes, arcs and pairs that may be touched, all together.
    pub work: u64,
    /// Of the draws.
    pub seed: u64,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The best weights.
    pub weights: Vec<u32>,
    /// The highest load of any arc in any case.
    pub load: f64,
    /// Nodes, arcs and pairs that were touched.
    pub work: u64,
    /// Changes that were tried.
    pub trials: u64,
}
