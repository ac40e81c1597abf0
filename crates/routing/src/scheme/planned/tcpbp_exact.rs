//! `tcpbp-exact` with a throughput model; without one it is a search of the core (`scheme/tcpbp.rs`).

use super::{Planned, Planner};
use crate::scheme::TcpbpExactScheme;
use anabranch_units::declaration::OutOfRange;

anabranch_units::choice! {
    /// The model that predicts the throughput of a path.
    pub enum ThroughputModel {
        /// Mathis et al. 1997.
        "mathis" => Mathis,
        /// Padhye et al. 1998.
        "pftk" => Pftk,
        /// RFC 9438.
        "cubic" => Cubic,
        /// BBR.
        "bbr" => Bbr,
        /// For each flow that of its own transport.
        "transport" => Transport,
    }
}

anabranch_units::choice! {
    /// With whom a flow shares its path.
    pub enum Sharing {
        /// With nobody.
        "none" => Nobody,
        /// With the flows of the same pair, in equal parts.
        "pair" => Pair,
        /// With all flows, by max-min fairness, and routes of all pairs are chosen together.
        "all-pairs" => AllPairs,
    }
}

anabranch_units::choice! {
    /// What the routes of all pairs make large.
    pub enum Objective {
        /// The sum of all flows' rates.
        "total" => Total,
        /// The sum of their logarithms, which starves nobody.
        "proportional" => Proportional,
    }
}

impl Planned for TcpbpExactScheme {
    const PLANNER: Planner = Planner { with: Some("model"), ..Planner::of("tcpbp_exact") };

    fn check_together(&self) -> Result<(), OutOfRange> {
        if self.model.is_none() {
            let given = [("sharing", self.sharing.is_some()), ("objective", self.objective.is_some())];
            let alone = given.into_iter().find(|(_, is_given)| *is_given);
            return alone.map_or(Ok(()), |(name, _)| {
                let problem = "belongs to a model; add one, such as model = \"transport\", or leave this out";
                Err(OutOfRange::new(name, problem))
            });
        }
        if self.limits.is_some() {
            let problem = "paths by a model have no limits; leave this out, or the model";
            return Err(OutOfRange::new("limits", problem));
        }
        if self.k != 1 {
            let problem = "with a model each pair has one path, the best; leave k out, or the model";
            return Err(OutOfRange::new("k", problem));
        }
        if self.objective.is_some() && self.sharing != Some(Sharing::AllPairs) {
            let problem = "belongs to sharing = \"all-pairs\"; without it each pair has its own best path";
            return Err(OutOfRange::new("objective", problem));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathLimits;

    fn by_model() -> TcpbpExactScheme {
        TcpbpExactScheme { model: Some(ThroughputModel::Mathis), ..TcpbpExactScheme::default() }
    }

    fn refused(parameters: &TcpbpExactScheme) -> Option<String> {
        parameters.check_together().err().map(|problem| problem.parameter)
    }

    #[test]
    fn what_belongs_to_a_model_needs_one() {
        let none = TcpbpExactScheme::default();
        assert_eq!(refused(&none), None);
        let sharing = Some(Sharing::Pair);
        assert_eq!(refused(&TcpbpExactScheme { sharing, ..none }).as_deref(), Some("sharing"));
        let objective = Some(Objective::Total);
        assert_eq!(refused(&TcpbpExactScheme { objective, ..none }).as_deref(), Some("objective"));
        assert_eq!(refused(&TcpbpExactScheme { sharing, ..by_model() }), None);
    }

    #[test]
    fn a_model_gives_each_pair_one_path_without_limits() {
        assert_eq!(refused(&by_model()), None);
        assert_eq!(refused(&TcpbpExactScheme { k: 2, ..by_model() }).as_deref(), Some("k"));
        let limits = Some(PathLimits::default());
        assert_eq!(refused(&TcpbpExactScheme { limits, ..by_model() }).as_deref(), Some("limits"));
    }

    #[test]
    fn an_objective_is_of_all_pairs() {
        let objective = Some(Objective::Proportional);
        let parameters = |sharing| TcpbpExactScheme { objective, sharing, ..by_model() };
        assert_eq!(refused(&parameters(None)).as_deref(), Some("objective"));
        assert_eq!(refused(&parameters(Some(Sharing::Pair))).as_deref(), Some("objective"));
        assert_eq!(refused(&parameters(Some(Sharing::AllPairs))), None);
    }
}
