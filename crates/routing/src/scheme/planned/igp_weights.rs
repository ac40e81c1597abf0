//! `igp-weights`: ECMP by weights of links that a search finds.

use super::{Failures, Planned, Planner};
use crate::scheme::metrics;
use anabranch_units::Span;
use anabranch_units::declaration::{above, at_least};

metrics! {
    /// The weights with which a search begins.
    pub enum FirstWeights { Hops, Weight }
}

anabranch_units::parameters! {
    /// ECMP by weights of links that a search finds: the worst-case load over all matrices of `demand` is low (the problem
    /// of Fortz and Thorup 2000).
    #[derive(Copy)]
    pub struct IgpWeightsScheme {
        /// Most directed links that get another weight than the first one; left out, all.
        max_changes: Option<u32> = None;
        /// The greatest weight; OSPF has 16 bits.
        max_weight: u32 = 65_535, at_least(1);
        /// Whether both directions of a link get the same weight.
        symmetric: bool = false;
        /// Work of the search, about so many seconds on one core.
        time_limit: Span = Span::from_secs(10), above(Span::ZERO);
        /// Which failures the load counts with; routers then find new routes by the same weights.
        failures: Failures = Failures::Nothing;
        /// With which weights the search begins: those of the links (`weight`), or one for all (`hops`).
        metric: FirstWeights = FirstWeights::Hops;
    }
}

impl Planned for IgpWeightsScheme {
    const PLANNER: Planner = Planner { for_bounds: true, ..Planner::of("weights_planner") };
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::declaration::Parameters;

    #[test]
    fn weights_begin_at_one_and_work_above_zero() {
        let usual = IgpWeightsScheme::default();
        assert_eq!(usual.check(), Ok(()));
        assert_eq!(usual.check_together(), Ok(()));
        let refused = |scheme: IgpWeightsScheme| scheme.check().unwrap_err().parameter;
        assert_eq!(refused(IgpWeightsScheme { max_weight: 0, ..usual }), "max_weight");
        assert_eq!(refused(IgpWeightsScheme { time_limit: Span::ZERO, ..usual }), "time_limit");
        let none = IgpWeightsScheme { max_changes: Some(0), ..usual };
        assert_eq!(none.check(), Ok(()), "a plan by the weights that are there");
    }

    #[test]
    fn it_begins_with_hops_or_with_weights() {
        assert!(serde_json::from_str::<IgpWeightsScheme>(r#"{"metric": "weight"}"#).is_ok());
        let refused = serde_json::from_str::<IgpWeightsScheme>(r#"{"metric": "delay"}"#).unwrap_err();
        assert!(
            refused.to_string().starts_with("unknown variant `delay`, expected `hops` or `weight`"),
            "{refused}"
        );
    }
}
