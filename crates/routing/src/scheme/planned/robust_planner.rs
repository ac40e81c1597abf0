//! The robust schemes, and the macros by which they share parameters.

use super::{Planned, Planner};
use crate::scheme::{MOST_PATHS, metrics};
use crate::{Metric, PathLimits};
use anabranch_units::Span;
use anabranch_units::declaration::{OutOfRange, Value, above, at_least};

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
    /// How a split is found, over k paths or over all.
    pub enum RobustMethod {
        /// One linear program, over k paths.
        "single-lp" => SingleLp,
        /// Matrices are added one by one, over k paths.
        "exchange" => Exchange,
        /// Paths are added one by one, over all.
        "all-paths" => AllPaths,
        /// Flows on links, over all paths.
        "link-flow" => LinkFlow,
    }
}

impl RobustMethod {
    /// Whether it takes candidate paths; the others take all paths.
    const fn takes_candidates(self) -> bool {
        matches!(self, Self::SingleLp | Self::Exchange)
    }
}

anabranch_units::choice! {
    /// How a split over k paths is found.
    pub enum CandidateMethod {
        /// One linear program.
        "single-lp" => SingleLp,
        /// Matrices are added one by one.
        "exchange" => Exchange,
    }
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
                /// Which solver; left out, `single-lp`. They find the same.
                method: Option<CandidateMethod> = None;
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
                check_failures(self.failures, self.method.is_some(), self.splits)
            }
        }
    };
}

least_load_scheme! {
    /// The split with the least worst-case load over all matrices of `demand` (Fukushima 2016).
    pub struct RobustScheme by Metric::Hops {
        /// Candidates of each pair; left out, all paths.
        k: Option<u32> = None, at_least(1).at_most(MOST_PATHS);
        /// Which solver. Left out, `single-lp` over k paths and `all-paths` over all. They find the same.
        method: Option<RobustMethod> = None;
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
        let Some(k) = self.k else {
            if self.limits.is_some() {
                return needs_k("limits");
            }
            if self.failures != Failures::Nothing {
                return needs_k("failures");
            }
            return self.check_method("all paths");
        };
        check_failures(self.failures, self.method.is_some(), self.splits)?;
        self.check_method(&format!("{k} paths of each pair"))
    }
}

impl RobustScheme {
    /// Checks that the method is one over the paths that are used, in words.
    fn check_method(&self, used: &str) -> Result<(), OutOfRange> {
        let fits = |method: RobustMethod| method.takes_candidates() == self.k.is_some();
        let Some(method) = self.method.filter(|method| !fits(*method)) else { return Ok(()) };
        let fitting = RobustMethod::NAMES.iter().filter(|(_, method)| fits(*method));
        let names = fitting.map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let problem = format!("is \"{}\", but {used} are to be used: choose among {names}", method.plain());
        Err(OutOfRange::new("method", problem))
    }
}

impl Planned for RobustOptimalScheme {
    const PLANNER: Planner = ROBUST;
}

impl Planned for RobustSingleScheme {
    const PLANNER: Planner = ROBUST;
}

/// Checks what does not go with failures of links.
fn check_failures(failures: Failures, has_method: bool, splits: Option<Splits>) -> Result<(), OutOfRange> {
    if failures == Failures::Nothing {
        return Ok(());
    }
    if has_method {
        let problem = "with failures there is one method only; leave method out";
        return Err(OutOfRange::new("method", problem));
    }
    if splits == Some(Splits::Fewest) {
        let problem = "a pair on one path has none when a link of it fails; leave splits out, or failures";
        return Err(OutOfRange::new("splits", problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::declaration::{Parameter, Parameters};

    fn refused(scheme: &impl Planned) -> Option<(String, String)> {
        assert_eq!(scheme.check(), Ok(()), "each within its bounds");
        scheme.check_together().err().map(|problem| (problem.parameter, problem.problem))
    }

    fn place(scheme: &impl Planned) -> Option<String> {
        refused(scheme).map(|(parameter, _)| parameter)
    }

    #[test]
    fn a_method_takes_the_paths_that_are_used() {
        for (name, method) in RobustMethod::NAMES {
            for k in [None, Some(3)] {
                let scheme = RobustScheme { method: Some(method), k, ..RobustScheme::default() };
                let over_k_paths = ["single-lp", "exchange"].contains(&name);
                let right = over_k_paths == k.is_some();
                assert_eq!(place(&scheme), (!right).then(|| "method".to_owned()), "{name} {k:?}");
            }
        }
        let all = RobustScheme { method: Some(RobustMethod::Exchange), ..RobustScheme::default() };
        let (_, problem) = refused(&all).expect("over all paths");
        assert!(problem.ends_with("choose among \"all-paths\", \"link-flow\""), "{problem}");
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
    fn failures_have_one_method_and_split_pairs() {
        let failures = Failures::SingleLink;
        let (method, splits) = (Some(CandidateMethod::Exchange), Some(Splits::Fewest));
        let hop = HybridHopScheme { failures, ..HybridHopScheme::default() };
        assert_eq!(place(&hop), None);
        assert_eq!(place(&HybridHopScheme { method, ..hop }).as_deref(), Some("method"));
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
        let hybrid = ["method", "k", "single_percent", "splits", "failures"];
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
