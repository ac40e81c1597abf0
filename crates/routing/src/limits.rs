//! Limits on the delay and the loss of a path, as in constraint-based routing (RFC 2702): what a path computation
//! client asks for by the bound of a metric (RFC 5440 section 7.8), of path delay and path loss (RFC 8233), over what
//! links are advertised to have (RFC 7471, RFC 8570).
//!
//! Delay adds up along a path, and so does -ln(1 - p) of the loss p. Both are counted in integers, picoseconds and
//! 1e-15 nepers, so that what one part of a path leaves to another does not depend on the order of the sum.

use crate::AdditiveMetric;
use crate::metric::{STEPS_PER_NEPER, nepers};
use crate::quality::PathQuality;
use anabranch_network::Network;
use anabranch_units::declaration::at_least;
use anabranch_units::{LinkId, Span};

/// By which part of itself the sum may exceed the limit of the loss, so that `0.0199` admits two links of 0.01.
const LOSS_TOLERANCE: f64 = 1e-9;
/// Links are rounded to a step each; so many may have been rounded up.
const ROUNDED_STEPS: u64 = 16;

anabranch_units::parameters! {
    /// The most delay and loss that a path may have.
    #[derive(Copy)]
    pub struct PathLimits {
        /// Sum of the links' one-way delays.
        max_delay: Option<Span> = None;
        /// Probability that a packet is lost on the way, kept to nine digits.
        max_loss: Option<f64> = None, at_least(0.0).below(1.0);
    }
}

impl PathLimits {
    /// What a path may spend.
    pub(crate) fn budget(self) -> Spent {
        let loss = |loss: f64| {
            let steps = (nepers(loss) * STEPS_PER_NEPER * (1.0 + LOSS_TOLERANCE)).round() as u64;
            if loss > 0.0 { steps.saturating_add(ROUNDED_STEPS) } else { 0 }
        };
        Spent {
            delay: self.max_delay.map_or(u64::MAX, Span::as_ps),
            loss: self.max_loss.map_or(u64::MAX, loss),
        }
    }
}

/// Delay and loss of a part of a path, or what is left for one. The largest number is no limit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Spent {
    /// In picoseconds.
    delay: u64,
    /// In 1e-15 nepers.
    loss: u64,
}

impl Spent {
    /// By no links.
    pub(crate) const NOTHING: Self = Self { delay: 0, loss: 0 };
    /// What a path without limits may spend.
    pub(crate) const UNLIMITED: Self = Self { delay: u64::MAX, loss: u64::MAX };

    pub(crate) const fn new(delay: u64, loss: u64) -> Self {
        Self { delay, loss }
    }

    /// By a link.
    pub(crate) fn on(network: &Network, link: LinkId) -> Self {
        let cost = |metric: AdditiveMetric| metric.cost(network, link);
        Self::new(cost(AdditiveMetric::Delay), cost(AdditiveMetric::Loss))
    }

    /// By a path.
    pub(crate) fn over(path: PathQuality) -> Self {
        let nepers = -libm::log(path.delivery);
        Self::new(path.delay.as_ps(), (nepers * STEPS_PER_NEPER).round() as u64)
    }

    pub(crate) const fn then(self, other: Self) -> Self {
        Self::new(self.delay.saturating_add(other.delay), self.loss.saturating_add(other.loss))
    }

    /// Whether it is no more than the other in both.
    pub(crate) const fn within(self, other: Self) -> bool {
        self.delay <= other.delay && self.loss <= other.loss
    }

    /// What is left of a budget; `None` where it does not suffice.
    pub(crate) fn left_of(self, budget: Self) -> Option<Self> {
        let left = |all: u64, spent| if all == u64::MAX { Some(all) } else { all.checked_sub(spent) };
        Some(Self::new(left(budget.delay, self.delay)?, left(budget.loss, self.loss)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkQuality;

    fn path(ms: u64, losses: &[f64]) -> Spent {
        let link = |&loss: &f64| LinkQuality::new(Span::from_ms(ms), loss);
        Spent::over(PathQuality::of(losses.iter().map(link)))
    }

    #[test]
    fn a_path_at_its_limits_is_within_them() {
        let limits = |ms, loss| PathLimits { max_delay: Some(Span::from_ms(ms)), max_loss: Some(loss) };
        // 1 - 0.99^2 and 1 - 0.9^3.
        assert!(path(5, &[0.01; 2]).within(limits(10, 0.0199).budget()));
        assert!(path(5, &[0.1; 3]).within(limits(15, 0.271).budget()));
        assert!(!path(5, &[0.01; 2]).within(limits(9, 0.0199).budget()));
        assert!(!path(5, &[0.01; 2]).within(limits(10, 0.019_899_999).budget()));
    }

    #[test]
    fn no_loss_at_all_is_a_limit() {
        let none = PathLimits { max_delay: None, max_loss: Some(0.0) }.budget();
        assert!(path(1_000, &[0.0; 3]).within(none));
        assert!(!path(0, &[0.0, 1e-14]).within(none));
    }

    #[test]
    fn a_path_that_delivers_nothing_keeps_no_limit_of_loss() {
        let limits = PathLimits { max_delay: None, max_loss: Some(1.0 - f64::EPSILON) };
        assert!(!path(1, &[1.0]).within(limits.budget()));
        assert!(path(1, &[1.0]).within(PathLimits::default().budget()));
        assert_eq!(PathLimits::default().budget(), Spent::UNLIMITED);
    }
}
