//! Schemes whose plans are made by a planner in Python (`python/anabranch/routing`), because they take a solver or a
//! throughput model: each planner a file with the parameters of its schemes, and a line for each scheme in the list below.
//!
//! The core checks their parameters and runs none of them. A setup has their plan and no scheme, and after a failure the
//! dead paths of that plan are left out ([`prune`](crate::prune())).

mod concurrent_flow;
mod given;
mod igp_weights;
mod robust_planner;
mod tcpbp_exact;

pub use concurrent_flow::ConcurrentFlowScheme;
pub use given::GivenScheme;
pub use igp_weights::{FirstWeights, IgpWeightsScheme};
pub use robust_planner::{
    Failures, HybridDelayScheme, HybridHopScheme, RobustOptimalScheme, RobustScheme, RobustSingleScheme,
    Splits,
};
pub use tcpbp_exact::{Objective, Sharing, ThroughputModel};

use super::TcpbpExactScheme;
use anabranch_units::declaration::{OutOfRange, Parameters, Plain, Registry};
use std::collections::BTreeMap;

/// A planner, and what a scenario has to know of its schemes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Planner {
    /// Its module in `python/anabranch/routing`.
    pub module: &'static str,
    /// The parameter with which it makes the plans; without it the core does. `None`: it makes all of them.
    pub with: Option<&'static str>,
    /// Whether it plans for bounds of the traffic, `[routing.demand]`, and needs some.
    pub for_bounds: bool,
    /// The load balancing that its schemes take where the scenario says none; `None`: that of all other schemes.
    pub load_balancing: Option<&'static str>,
}

impl Planner {
    /// One that plans for the traffic as it is.
    #[must_use]
    pub const fn of(module: &'static str) -> Self {
        Self { module, with: None, for_bounds: false, load_balancing: None }
    }

    /// It as properties of a scheme: `planner`, and where there is something to say `planner_with`, `demand` for bounds
    /// and `load_balancing`.
    fn properties(self) -> BTreeMap<&'static str, Plain> {
        let text = |text: &str| Plain::Text(text.to_owned());
        let properties = [
            Some(("planner", text(self.module))),
            self.with.map(|parameter| ("planner_with", text(parameter))),
            self.for_bounds.then_some(("demand", Plain::Switch(true))),
            self.load_balancing.map(|name| ("load_balancing", text(name))),
        ];
        properties.into_iter().flatten().collect()
    }
}

/// The parameters of a scheme whose plans a planner makes.
pub trait Planned: Parameters {
    /// The planner.
    const PLANNER: Planner;

    /// Checks parameters against each other; each is within its bounds.
    ///
    /// # Errors
    /// The first that does not go with the others.
    fn check_together(&self) -> Result<(), OutOfRange> {
        Ok(())
    }
}

/// Makes the enumeration of schemes of planners, which passes each call on.
macro_rules! planned_schemes {
    ($( $name:literal => $variant:ident($parameters:ty) ),+ $(,)?) => {
        anabranch_units::registry! {
            /// How routes are chosen, by a planner.
            pub enum PlannedScheme: "scheme" {
                $( $name => $variant($parameters), )+
            }
        }

        impl PlannedScheme {
            /// Checks the parameters against their bounds and against each other.
            ///
            /// # Errors
            /// The first that does not hold.
            pub fn verify(&self) -> Result<(), OutOfRange> {
                self.check()?;
                match self { $( Self::$variant(parameters) => Planned::check_together(parameters), )+ }
            }

            /// All of them with their parameters, and with their planners as properties.
            #[must_use]
            pub fn described_with_planners() -> Registry {
                let planners = [$( <$parameters as Planned>::PLANNER ),+];
                let mut registry = Self::described();
                for (scheme, planner) in registry.algorithms.iter_mut().zip(planners) {
                    scheme.properties = planner.properties();
                }
                registry
            }
        }
    };
}

planned_schemes! {
    "tcpbp-exact" => TcpbpExact(TcpbpExactScheme),
    "concurrent-flow" => ConcurrentFlow(ConcurrentFlowScheme),
    "given" => Given(GivenScheme),
    "igp-weights" => IgpWeights(IgpWeightsScheme),
    "robust" => Robust(RobustScheme),
    "hybrid-hop" => HybridHop(HybridHopScheme),
    "hybrid-delay" => HybridDelay(HybridDelayScheme),
    "robust-optimal" => RobustOptimal(RobustOptimalScheme),
    "robust-single" => RobustSingle(RobustSingleScheme),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{ChosenScheme, Scheme};
    use anabranch_units::declaration::Algorithm;

    fn described(name: &str) -> Algorithm {
        ChosenScheme::described().algorithms.into_iter().find(|scheme| scheme.name == name).expect("named")
    }

    #[test]
    fn planners_stand_behind_the_core_and_each_name_stands_once() {
        let registry = ChosenScheme::described();
        assert!(registry.external, "a class of the user's own is a planner");
        let names: Vec<_> = registry.algorithms.iter().map(|scheme| scheme.name).collect();
        assert_eq!(names[..Scheme::NAMES.len()], *Scheme::NAMES);
        let planned = PlannedScheme::NAMES.iter().filter(|name| !Scheme::NAMES.contains(name));
        assert_eq!(names[Scheme::NAMES.len()..], planned.copied().collect::<Vec<_>>());
    }

    #[test]
    fn a_scheme_of_both_is_the_planners_with_one_parameter() {
        let scheme = described("tcpbp-exact");
        assert_eq!(scheme.properties["planner_with"], Plain::Text("model".to_owned()));
        assert!(scheme.parameters.iter().any(|parameter| parameter.name == "model" && parameter.optional));
        let by_model = TcpbpExactScheme { model: Some(ThroughputModel::Bbr), ..TcpbpExactScheme::default() };
        assert_eq!(Scheme::TcpbpExact(by_model).check_planned_here().unwrap_err().parameter, "model");
        for name in Scheme::NAMES {
            assert_eq!(Scheme::named(name).expect("listed").check_planned_here(), Ok(()), "{name}");
        }
    }

    #[test]
    fn only_schemes_of_planners_have_properties() {
        for scheme in ChosenScheme::described().algorithms {
            let planned = PlannedScheme::NAMES.contains(&scheme.name);
            assert_eq!(scheme.properties.contains_key("planner"), planned, "{}", scheme.name);
            assert!(planned || scheme.properties.is_empty());
        }
        let robust = serde_json::to_value(described("robust")).expect("plain data");
        assert_eq!(robust["planner"], "robust_planner");
        assert_eq!((&robust["demand"], &robust["load_balancing"]), (&true.into(), &"packet".into()));
        let given = described("given").properties;
        assert_eq!(given.keys().copied().collect::<Vec<_>>(), ["planner"]);
    }

    #[test]
    fn the_name_says_who_plans() {
        let read = |name: &str, json: &str| {
            ChosenScheme::read(name, &mut serde_json::Deserializer::from_str(json)).expect("a scheme")
        };
        let core = read("k-shortest", r#"{"algorithm": "k-shortest", "k": 65}"#);
        assert_eq!(core.verify().unwrap_err().parameter, "k");
        assert!(matches!(core, ChosenScheme::Core(_)));
        let planned = read("robust-single", r#"{"algorithm": "robust-single", "k": 65}"#);
        assert_eq!(planned.verify().unwrap_err().parameter, "k");
        assert!(matches!(planned, ChosenScheme::Planned(_)));
    }

    #[test]
    fn defaults_hold_and_go_together() {
        for name in PlannedScheme::NAMES {
            let scheme = PlannedScheme::named(name).expect("listed");
            assert_eq!(scheme.verify(), Ok(()), "{name}");
        }
    }

    #[test]
    fn parameters_are_held_to_their_bounds_and_to_each_other() {
        let read = |json: &str| serde_json::from_str::<PlannedScheme>(json).expect("a scheme").verify();
        let bound = read(r#"{"algorithm": "robust-optimal", "level": 0.0}"#).unwrap_err();
        assert_eq!(bound.to_string(), "level is 0; it must be above 0");
        let together = read(r#"{"algorithm": "hybrid-hop", "failures": "single-link", "splits": "fewest"}"#);
        assert_eq!(together.unwrap_err().parameter, "splits");
        let below = read(r#"{"algorithm": "robust-single", "limits": {"max_loss": 1.0}}"#).unwrap_err();
        assert_eq!(below.parameter, "limits.max_loss");
    }
}
