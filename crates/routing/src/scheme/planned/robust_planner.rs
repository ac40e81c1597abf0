//! The robust schemes, and the macros by which they share parameters.

use super::{Planned, Planner};
use crate::scheme::{MOST_PATHS, metrics};
use crate::{Metric, PathLimits};
use anabranch_units::Span;
use anabranch_units::declaration::{OutOfRange, above, at_least};

/// Of all of them. A packet takes path p with probability x_p (Fukushima et al. 2016, section 6).
const ROBUST: Planner =
    Planner { for_bounds: true, load_balancing: Some("packet"), ..Planner::of("robust_planner") };

metrics! {
    /// The metric of the candidates of `hybrid-hop`.
    pub enum HopMetric { Hops }
}

metrics! {
    /// The metric of the candidates of `hybrid-delay`.
    pub enum DelayMetric { Delay }
}

anabranch_units::choice! {
    /// Which failures the load counts with.
    pub enum Failures {
        /// The load is that with all links up.
        "none" => Nothing,
        /// The load is the highest with all links up or any one of them down, both directions together.
        "single-link" => SingleLink,
    }
}

anabranch_units::choice! {
    /// Which of the many splits with the least load.
    pub enum Splits {
        /// The fewest pairs have several paths, then the least difference of delay between the paths of a pair.
        "fewest" => Fewest,
        /// The split that the solver ends with, as in publications.
        "solver" => Solver,
    }
}

/// A robust scheme: its own parameters, and behind them those of all.
macro_rules! robust_scheme {
    ($(#[doc = $doc:literal])+ pub struct $name:ident by $metric:ident::$default:ident { $($own:tt)* }) => {
        anabranch_units::parameters! {
            $(#[doc = $doc])+
            #[derive(Copy)]
            pub struct $name {
                $($own)*
                /// Work after which the best plan so far is taken, with a warning that tells its gap; about so many
                /// seconds on one core.
                time_limit: Span = Span::from_secs(60), above(Span::ZERO);
                /// By which part of the load the optimum may be lower when a solver stops.
                gap: f64 = 1e-6, above(0.0).below(1.0);
                /// Candidates beyond these are left out.
                limits: Option<PathLimits> = None;
                /// What a short path is short in.
                metric: $metric = $metric::$default;
            }
        }
    };
}

/// One that looks for the least load: with several splits to choose from, and failures to survive.
macro_rules! least_load_scheme {
    ($(#[doc = $doc:literal])+ pub struct $name:ident by $metric:ident::$default:ident { $($own:tt)* }) => {
        robust_scheme! {
            $(#[doc = $doc])+
            pub struct $name by $metric::$default {
                $($own)*
                /// Which of the many splits with the least load. Left out, `fewest`, and `solver` with `failures`, for
                /// which a pair needs several paths.
                splits: Option<Splits> = None;
                /// Which failures the load counts with; for schemes with k paths.
                failures: Failures = Failures::Nothing;
            }
        }
    };
}

/// One that keeps a share of the pairs on a single path.
macro_rules! hybrid_scheme {
    ($(#[doc = $doc:literal])+ pub struct $name:ident by $metric:ident::$default:ident) => {
        least_load_scheme! {
            $(#[doc = $doc])+
            pub struct $name by $metric::$default {
                /// Candidates of each pair.
                k: u32 = 2, at_least(1).at_most(MOST_PATHS);
                /// X: so many percent of the pairs, those with the longest candidates by delay, keep only their shortest
                /// path.
                single_percent: f64 = 0.0, at_least(0.0).at_most(100.0);
            }
        }

        impl Planned for $name {
            const PLANNER: Planner = ROBUST;

            fn check_together(&self) -> Result<(), OutOfRange> {
                check_failures(self.failures, self.splits)
            }
        }
    };
}

least_load_scheme! {
    /// The split with the least worst-case load over all matrices of `demand` (Fukushima 2016).
    pub struct RobustScheme by Metric::Hops {
        /// Candidates of each pair; left out, all paths.
        k: Option<u32> = None, at_least(1).at_most(MOST_PATHS);
    }
}

hybrid_scheme! {
    /// As `robust` over k paths, with a share of the pairs on a single one; candidates by hops.
    pub struct HybridHopScheme by HopMetric::Hops
}

hybrid_scheme! {
    /// As `robust` over k paths, with a share of the pairs on a single one; candidates by delay.
    pub struct HybridDelayScheme by DelayMetric::Delay
}

robust_scheme! {
    /// The most TCP throughput up to a worst-case load.
    pub struct RobustOptimalScheme by Metric::Hops {
        /// Candidates of each pair.
        k: u32 = 4, at_least(1).at_most(MOST_PATHS);
        /// Worst-case load that may not be exceeded, 1 for full links.
        level: f64 = 1.0, above(0.0);
    }
}

robust_scheme! {
    /// The least worst-case load with every pair on one path.
    pub struct RobustSingleScheme by Metric::Hops {
        /// Candidates of each pair.
        k: u32 = 4, at_least(1).at_most(MOST_PATHS);
    }
}

impl Planned for RobustScheme {
    const PLANNER: Planner = ROBUST;

    fn check_together(&self) -> Result<(), OutOfRange> {
        let needs_k = |parameter| Err(OutOfRange::new(parameter, "takes candidate paths; give robust a k"));
        if self.k.is_none() && self.limits.is_some() {
            return needs_k("limits");
        }
        if self.k.is_none() && self.failures != Failures::Nothing {
            return needs_k("failures");
        }
        check_failures(self.failures, self.splits)
    }
}

impl Planned for RobustOptimalScheme {
    const PLANNER: Planner = ROBUST;
}

impl Planned for RobustSingleScheme {
    const PLANNER: Planner = ROBUST;
}

/// Checks what does not go with failures of links.
fn check_failures(failures: Failures, splits: Option<Splits>) -> Result<(), OutOfRange> {
    if failures == Failures::Nothing || splits != Some(Splits::Fewest) {
        return Ok(());
    }
    let problem = "a pair on one path has none when a link of it fails; leave splits out, or failures";
    Err(OutOfRange::new("splits", problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::declaration::{Parameter, Parameters, Value};

    fn refused(scheme: &impl Planned) -> Option<(String, String)> {
        assert_eq!(scheme.check(), Ok(()), "each within its bounds");
        scheme.check_together().err().map(|problem| (problem.parameter, problem.problem))
    }

    fn place(scheme: &impl Planned) -> Option<String> {
        refused(scheme).map(|(parameter, _)| parameter)
    }

    #[test]
    fn limits_and_failures_are_of_candidate_paths() {
        let all = RobustScheme::default();
        let limited = RobustScheme { limits: Some(PathLimits::default()), ..all };
        assert_eq!(place(&limited).as_deref(), Some("limits"));
        assert_eq!(place(&RobustScheme { k: Some(2), ..limited }), None);
        let failing = RobustScheme { failures: Failures::SingleLink, ..all };
        assert_eq!(place(&failing).as_deref(), Some("failures"));
        assert_eq!(place(&RobustScheme { k: Some(2), ..failing }), None);
    }

    #[test]
    fn failures_need_split_pairs() {
        let failures = Failures::SingleLink;
        let splits = Some(Splits::Fewest);
        let hop = HybridHopScheme { failures, ..HybridHopScheme::default() };
        assert_eq!(place(&hop), None);
        assert_eq!(place(&HybridHopScheme { splits, ..hop }).as_deref(), Some("splits"));
        let solver = Some(Splits::Solver);
        assert_eq!(place(&HybridHopScheme { splits: solver, ..hop }), None);
        let delay = HybridDelayScheme { failures, splits, ..HybridDelayScheme::default() };
        assert_eq!(place(&delay).as_deref(), Some("splits"));
        assert_eq!(place(&HybridDelayScheme { failures: Failures::Nothing, ..delay }), None);
        let robust = RobustScheme { k: Some(2), failures, splits, ..RobustScheme::default() };
        assert_eq!(place(&robust).as_deref(), Some("splits"));
    }

    #[test]
    fn each_has_the_parameters_of_all_behind_its_own() {
        let names = |declared: Vec<Parameter>| {
            declared.into_iter().map(|parameter| parameter.name).collect::<Vec<_>>()
        };
        let of_all = ["time_limit", "gap", "limits", "metric"];
        assert_eq!(names(RobustSingleScheme::declared()), [&["k"][..], &of_all].concat());
        let hybrid = ["k", "single_percent", "splits", "failures"];
        assert_eq!(names(HybridHopScheme::declared()), [&hybrid[..], &of_all].concat());
    }

    #[test]
    fn the_hybrids_have_one_metric_each_with_its_text() {
        let declared = HybridDelayScheme::declared();
        let metric = declared.iter().find(|parameter| parameter.name == "metric").expect("declared");
        let listed: Vec<_> = Metric::choices().into_iter().filter(|choice| choice.name == "delay").collect();
        assert_eq!(metric.choices, listed);
        assert!(serde_json::from_str::<HybridDelayScheme>(r#"{"metric": "delay"}"#).is_ok());
        let refused = serde_json::from_str::<HybridDelayScheme>(r#"{"metric": "hops"}"#).unwrap_err();
        assert!(refused.to_string().starts_with("unknown variant `hops`, expected `delay`"), "{refused}");
    }
}
