//! `concurrent-flow`: the paths of all pairs together, by linear programs.

use super::{Planned, Planner};
use crate::scheme::MOST_PATHS;
use crate::{AdditiveMetric, PathLimits};
use anabranch_units::Span;
use anabranch_units::declaration::{OutOfRange, above, at_least};

anabranch_units::parameters! {
    /// The split with which the flow that gets least has the most when all send at once, then all together, over
    /// paths as short as that allows (maximum concurrent flow, Shahrokhi and Matula 1990).
    #[derive(Copy)]
    pub struct ConcurrentFlowScheme {
        /// Candidates of each pair; left out, all paths.
        k: Option<u32> = None, at_least(1).at_most(MOST_PATHS);
        /// Work after which the best plan so far is taken, with a warning that tells its gap; about so many
        /// seconds on one core.
        time_limit: Span = Span::from_secs(60), above(Span::ZERO);
        /// Candidates beyond these are left out.
        limits: Option<PathLimits> = None;
        /// Of the splits that carry as much, the one whose paths are shortest in this.
        metric: AdditiveMetric = AdditiveMetric::Hops;
    }
}

impl Planned for ConcurrentFlowScheme {
    const PLANNER: Planner = Planner { load_balancing: Some("packet"), ..Planner::of("concurrent_flow") };

    fn check_together(&self) -> Result<(), OutOfRange> {
        if self.k.is_some() || self.limits.is_none() {
            return Ok(());
        }
        Err(OutOfRange::new("limits", "takes candidate paths; give concurrent-flow a k"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_of_candidate_paths() {
        let all = ConcurrentFlowScheme { limits: Some(PathLimits::default()), ..Default::default() };
        assert_eq!(all.check_together().unwrap_err().parameter, "limits");
        assert_eq!(ConcurrentFlowScheme { k: Some(4), ..all }.check_together(), Ok(()));
        assert_eq!(ConcurrentFlowScheme::default().check_together(), Ok(()));
    }
}
