//! Hypothesis testing estimator, HTE (Vilela 2022, section 2.7.6, after Silva, Passos, Albuquerque 2018): the
//! estimate stays what it is unless the link's recent past differs from it significantly.
//!
//! The thesis gives no more than that sentence. What is taken here:
//!
//! - The recent past is the last `window` samples. Until there are so many, the estimate is their mean.
//! - Shares are tested together: so many lost of so many sent, against the binomial distribution that the
//!   estimate would give, two-sided and exact. The window thus counts by its packets, not by its samples.
//! - Quantities are tested by Student's t-test of their mean, two-sided.
//! - If the test refuses the estimate at the level `significance`, the mean of the window takes its place.

use super::{Estimate, MOST_SAMPLES, Sample};
use anabranch_units::declaration::{above, at_least};
use std::collections::VecDeque;
use std::f64::consts::PI;

anabranch_units::parameters! {
    /// An estimate that stays until a statistical test of the last samples refuses it.
    #[derive(Copy)]
    pub struct HypothesisTestParameters {
        /// Number of samples that the estimate is tested against; a test of a mean needs two.
        window: u32 = 3, at_least(2).at_most(MOST_SAMPLES);
        /// Probability of a change though the link is as it was.
        significance: f64 = 0.05, above(0.0).below(1.0);
    }
}

/// An estimate that changes only when the last samples refuse it.
#[derive(Clone, PartialEq, Debug)]
pub struct HypothesisTest {
    window: usize,
    significance: f64,
    recent: VecDeque<Sample>,
    /// Samples taken, up to the window.
    taken: usize,
    estimate: Option<f64>,
}

impl HypothesisTest {
    /// Over the last `window` samples, with this probability of a change though the link is as it was.
    ///
    /// # Panics
    /// If `window` is below 2, or `significance` is not above 0 and below 1.
    #[must_use]
    pub fn new(window: usize, significance: f64) -> Self {
        assert!(window >= 2, "a test of a mean needs two samples");
        assert!(significance > 0.0 && significance < 1.0, "{significance} is no level of significance");
        Self { window, significance, recent: VecDeque::new(), taken: 0, estimate: None }
    }
}

impl Estimate for HypothesisTest {
    type Parameters = HypothesisTestParameters;

    fn configured(parameters: &HypothesisTestParameters) -> Self {
        Self::new(parameters.window as usize, parameters.significance)
    }

    fn add(&mut self, sample: Sample) {
        if self.recent.len() == self.window {
            self.recent.pop_front();
        }
        self.recent.push_back(sample);
        let settled = self.taken == self.window;
        self.taken = (self.taken + 1).min(self.window);
        let refused = |estimate| self.probability(estimate) < self.significance;
        if !settled || self.estimate.is_none_or(refused) {
            self.estimate = Some(self.mean());
        }
    }

    fn estimate(&self) -> Option<f64> {
        self.estimate
    }
}

impl HypothesisTest {
    /// Hits and trials of the window, if all its samples are shares.
    fn shares(&self) -> Option<(u64, u64)> {
        self.recent.iter().try_fold((0, 0), |sum, sample| match *sample {
            Sample::Share { hits, of } => Some((sum.0 + hits, sum.1 + of)),
            Sample::Value(_) => None,
        })
    }

    fn mean(&self) -> f64 {
        match self.shares() {
            Some((hits, of)) => hits as f64 / of as f64,
            None => self.recent.iter().map(|sample| sample.value()).sum::<f64>() / self.recent.len() as f64,
        }
    }

    /// Probability of a window as far from the estimate as this one, if the estimate holds.
    fn probability(&self, estimate: f64) -> f64 {
        if let Some((hits, of)) = self.shares() {
            return binomial_test(hits, of, estimate);
        }
        let (mean, count) = (self.mean(), self.recent.len() as f64);
        let squares: f64 = self.recent.iter().map(|sample| square(sample.value() - mean)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        if error > 0.0 {
            student_test((mean - estimate) / error, self.recent.len() - 1)
        } else {
            f64::from(u8::from(mean == estimate))
        }
    }
}

fn square(x: f64) -> f64 {
    x * x
}

/// Probability that of `of` trials with probability `p` as many hit as `hits`, or more out of the way on its
/// side, doubled for the other side.
fn binomial_test(hits: u64, of: u64, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        let certain = if p <= 0.0 { 0 } else { of };
        return f64::from(u8::from(hits == certain));
    }
    let (k, n) = (hits as f64, of as f64);
    let upwards = k > n * p;
    let choose = ln_factorial(of) - ln_factorial(hits) - ln_factorial(of - hits);
    let mut term = libm::exp(choose + k * libm::log(p) + (n - k) * libm::log1p(-p));
    let (mut sum, mut at) = (term, k);
    // Away from the mean each term is smaller than the one before.
    while term > sum * 1e-16 {
        if upwards {
            term *= (n - at) / (at + 1.0) * p / (1.0 - p);
            at += 1.0;
        } else {
            term *= at / (n - at + 1.0) * (1.0 - p) / p;
            at -= 1.0;
        }
        sum += term;
    }
    (2.0 * sum).min(1.0)
}

/// Logarithm of n!, by Stirling's series (Abramowitz, Stegun 1964, 6.1.41).
fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|factor| libm::log(factor as f64)).sum();
    }
    let x = n as f64;
    let inverse_square = 1.0 / square(x);
    let series = (1.0 / 12.0 - (1.0 / 360.0 - inverse_square / 1260.0) * inverse_square) / x;
    x * libm::log(x) - x + 0.5 * libm::log(2.0 * PI * x) + series
}

/// Probability that Student's t with so many degrees of freedom, one at least, is as far from 0 as `t`
/// (Abramowitz, Stegun 1964, 26.7.3 and 26.7.4).
fn student_test(t: f64, degrees: usize) -> f64 {
    let theta = libm::atan(t.abs() / (degrees as f64).sqrt());
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    let odd = degrees % 2 == 1;
    let mut sum = 0.0;
    let mut term = if odd { cos } else { 1.0 };
    // Terms of cos^0, cos^2, ... or cos^1, cos^3, ... up to cos^(degrees - 2).
    let first = if odd { 1 } else { 0 };
    for power in (first..degrees.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= cos * cos * (power + 1) as f64 / (power + 2) as f64;
    }
    let within = if odd { 2.0 / PI * (theta + sin * sum) } else { sin * sum };
    (1.0 - within).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(estimate: f64, expected: f64, within: f64) {
        assert!((estimate - expected).abs() <= within, "{estimate}, not {expected}");
    }

    /// Fair coins: no head of ten, 2 / 1024; eight or more of ten, 2 x (45 + 10 + 1) / 1024; five, certain.
    /// Three dice, all sixes: 2 / 216.
    #[test]
    fn the_binomial_test_is_exact() {
        close(binomial_test(0, 10, 0.5), 2.0 / 1024.0, 1e-12);
        close(binomial_test(8, 10, 0.5), 112.0 / 1024.0, 1e-12);
        close(binomial_test(5, 10, 0.5), 1.0, 1e-12);
        close(binomial_test(3, 3, 1.0 / 6.0), 2.0 / 216.0, 1e-12);
        assert_eq!([binomial_test(0, 9, 0.0), binomial_test(1, 9, 0.0)], [1.0, 0.0]);
        assert_eq!([binomial_test(9, 9, 1.0), binomial_test(8, 9, 1.0)], [1.0, 0.0]);
    }

    /// With many trials it is the normal distribution: 1.96 standard deviations are left by 5 %.
    #[test]
    fn many_trials_are_normal() {
        let (of, p) = (1_000_000_u64, 0.01_f64);
        let deviation = (of as f64 * p * (1.0 - p)).sqrt();
        for side in [-1.0, 1.0] {
            let hits = (of as f64 * p + side * 1.96 * deviation).round() as u64;
            // Half a step and the skewness are worth 0.0006 and 0.0005.
            close(binomial_test(hits, of, p), 0.05, 0.0015);
        }
    }

    /// The two-sided 5 % and 1 % points of every printed table of Student's t.
    #[test]
    fn students_t_has_the_points_of_the_tables() {
        let points = [(1, 12.706, 63.657), (2, 4.303, 9.925), (3, 3.182, 5.841), (10, 2.228, 3.169)];
        for (degrees, five, one) in points {
            close(student_test(five, degrees), 0.05, 2e-5);
            close(student_test(-one, degrees), 0.01, 2e-5);
        }
        assert_eq!(student_test(0.0, 4), 1.0);
    }

    /// At first the mean: 10 and 14 of 1000 are 12 of 1000. Against 1.2 % a window of 34 of 2000 (20 and 14) has a
    /// tail of about 3.4 % on its side, less than 5 % two-sided needs; 50 of 2000 (30 and 20) has far less.
    #[test]
    fn a_share_stays_until_the_packets_refuse_it() {
        let mut estimator = HypothesisTest::new(2, 0.05);
        let after = [10, 14, 20, 30].map(|hits| {
            estimator.add(Sample::Share { hits, of: 1000 });
            estimator.estimate().expect("a sample")
        });
        assert_eq!(after, [0.010, 0.012, 0.012, 0.025]);
    }

    /// By hand: mean 2, then 3, 2, 4 have mean 3 and error 0.577, t = 1.73, which two degrees of freedom leave
    /// alone; 4, 4.1, 3.9 have error 0.0577, t = 34.6 > 4.303.
    #[test]
    fn a_quantity_stays_until_the_window_has_left_it() {
        let mut estimator = HypothesisTest::new(3, 0.05);
        let mut after = Vec::new();
        for value in [1.0, 3.0, 2.0, 4.0, 4.1, 3.9] {
            estimator.add(Sample::Value(value));
            after.push(estimator.estimate().expect("a sample"));
        }
        assert_eq!(after[..5], [1.0, 2.0, 2.0, 2.0, 2.0]);
        close(after[5], 4.0, 1e-12);
    }

    /// Over all outcomes of 300 trials at the true probability, those refused at 5 % come with at most 5 %
    /// together, and with no less than a discrete test of doubled tails must leave of it.
    #[test]
    fn a_steady_link_is_refused_as_seldom_as_the_level_says() {
        let (of, p) = (300_u64, 0.03_f64);
        let mut chance = (1.0 - p).powi(of as i32);
        let (mut refused, mut all) = (0.0, 0.0);
        for hits in 0..=of {
            all += chance;
            if binomial_test(hits, of, p) < 0.05 {
                refused += chance;
            }
            chance *= (of - hits) as f64 / (hits + 1) as f64 * p / (1.0 - p);
        }
        close(all, 1.0, 1e-9);
        assert!((0.0125..=0.05).contains(&refused), "{refused}");
    }
}
