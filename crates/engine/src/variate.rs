//! Random variates, sampled by frozen formulas: inversion, and Box-Muller for the Gaussian.
//!
//! Logarithms and the like come from `libm`, which gives the same bits on every machine. A variate
//! takes a fixed number of draws per sample, so streams stay aligned when parameters change.

use crate::random::Stream;
use std::f64::consts::TAU;
use thiserror::Error;

anabranch_units::leaf! {
    /// A random variate over non-negative numbers in base units (picoseconds or bytes); negative draws
    /// of the Gaussian count as zero.
    pub enum Variate: "variate" by "distribution" {
        /// Always the same.
        "constant" => Constant {
            /// The value.
            value: f64,
        },
        /// Uniform.
        "uniform" => Uniform {
            /// Lower end.
            low: f64,
            /// Upper end.
            high: f64,
        },
        /// Exponential.
        "exponential" => Exponential {
            /// Mean.
            mean: f64,
        },
        /// Normal.
        "gaussian" => Gaussian {
            /// Mean.
            mean: f64,
            /// Standard deviation.
            standard_deviation: f64,
        },
        /// Log-normal, given by the mean and deviation of the variate itself.
        "log-normal" => LogNormal {
            /// Mean.
            mean: f64,
            /// Standard deviation.
            standard_deviation: f64,
        },
        /// Pareto type I.
        "pareto" => Pareto {
            /// Smallest value.
            scale: f64,
            /// Tail index; the mean is infinite at 1 and below.
            shape: f64,
        },
        /// One of given values, each as likely as its weight says.
        "empirical" => Empirical {
            /// Values.
            values: Vec<f64>,
            /// Weights, as many; empty for equal ones.
            weights: Vec<f64>,
        },
        /// Given by points of its distribution function, with straight lines between them.
        "cumulative" => Cumulative {
            /// Values, in ascending order.
            values: Vec<f64>,
            /// The probability of at most each of them, in ascending order; the last is 1.
            probabilities: Vec<f64>,
        },
    }
}

/// A variate whose parameters make no sense.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum VariateError {
    /// A parameter is out of its range.
    #[error("{distribution}: {parameter} is {value}, but must be {expected}")]
    Parameter {
        /// Distribution, as in [`Variate`]'s text form.
        distribution: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// `low` is above `high`.
    #[error("uniform: low is {low} and high is {high}, but low must not be above high")]
    Order {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The deviation is so much larger than the mean that no double holds their ratio squared.
    #[error("log-normal: a standard deviation of {standard_deviation} is too large for a mean of {mean}")]
    Spread {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        standard_deviation: f64,
    },
    /// There are no values.
    #[error("empirical: values is empty, but there must be at least one")]
    NoValues,
    /// The weights are not one for each value.
    #[error("empirical: {weights} weights for {values} values; give one for each value, or none at all")]
    WeightCount {
        /// How many values.
        values: usize,
        /// How many weights.
        weights: usize,
    },
    /// The points of a distribution function are not some that ascend to 1.
    #[error(
        "cumulative: {values} values and {probabilities} probabilities are no points that ascend to a probability of 1"
    )]
    Points {
        /// How many values.
        values: usize,
        /// How many probabilities.
        probabilities: usize,
    },
    /// The weights sum to nothing, or to more than a double holds.
    #[error("empirical: the weights sum to {0}, but the sum must be above 0 and finite")]
    WeightSum(f64),
}

/// A [`Variate`] with checked parameters, ready to be sampled.
#[derive(Clone, PartialEq, Debug)]
pub struct Sampler(Form);

#[derive(Clone, PartialEq, Debug)]
enum Form {
    Constant(f64),
    Uniform { low: f64, width: f64 },
    Exponential { mean: f64 },
    Gaussian { mean: f64, deviation: f64 },
    LogNormal { log_mean: f64, log_deviation: f64 },
    Pareto { scale: f64, inverse_shape: f64 },
    Empirical { values: Vec<f64>, cumulative: Vec<f64> },
    Cumulative { values: Vec<f64>, probabilities: Vec<f64> },
}

const NON_NEGATIVE: &str = "a finite number, 0 or more";
const POSITIVE: &str = "a finite number above 0";

impl Sampler {
    /// Checks the parameters and precomputes what a sample needs.
    ///
    /// # Errors
    /// If a parameter is not finite or out of range, `low` is above `high`, or the weights do not fit
    /// the values or sum to zero.
    pub fn new(variate: &Variate) -> Result<Self, VariateError> {
        let form = match variate {
            Variate::Constant { value } => Form::Constant(non_negative("constant", "value", *value)?),
            Variate::Uniform { low, high } => {
                let (low, high) =
                    (non_negative("uniform", "low", *low)?, non_negative("uniform", "high", *high)?);
                if low > high {
                    return Err(VariateError::Order { low, high });
                }
                Form::Uniform { low, width: high - low }
            }
            Variate::Exponential { mean } => {
                Form::Exponential { mean: non_negative("exponential", "mean", *mean)? }
            }
            Variate::Gaussian { mean, standard_deviation } => Form::Gaussian {
                mean: non_negative("gaussian", "mean", *mean)?,
                deviation: non_negative("gaussian", "standard_deviation", *standard_deviation)?,
            },
            Variate::LogNormal { mean, standard_deviation } => log_normal(*mean, *standard_deviation)?,
            Variate::Pareto { scale, shape } => Form::Pareto {
                scale: positive("pareto", "scale", *scale)?,
                inverse_shape: 1.0 / positive("pareto", "shape", *shape)?,
            },
            Variate::Empirical { values, weights } => empirical(values, weights)?,
            Variate::Cumulative { values, probabilities } => cumulative(values, probabilities)?,
        };
        Ok(Self(form))
    }

    /// One sample: finite and not negative. Takes two draws for the Gaussian and the log-normal, none
    /// for a constant, one for the others.
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        let sample = match &self.0 {
            Form::Constant(value) => *value,
            Form::Uniform { low, width } => low + width * stream.uniform(),
            // Inversion of F(x) = 1 - exp(-x / mean); 1 - u is in (0, 1].
            Form::Exponential { mean } => -mean * libm::log(1.0 - stream.uniform()),
            Form::Gaussian { mean, deviation } => (mean + deviation * standard_normal(stream)).max(0.0),
            Form::LogNormal { log_mean, log_deviation } => {
                libm::exp(log_mean + log_deviation * standard_normal(stream))
            }
            // Inversion of F(x) = 1 - (scale / x)^shape.
            Form::Pareto { scale, inverse_shape } => {
                scale * libm::exp(-inverse_shape * libm::log(1.0 - stream.uniform()))
            }
            Form::Empirical { values, cumulative } => {
                let at = stream.uniform() * cumulative[cumulative.len() - 1];
                values[cumulative.partition_point(|below| *below <= at).min(values.len() - 1)]
            }
            // Inversion of a distribution function of straight lines; below its first point lies its first value.
            Form::Cumulative { values, probabilities } => {
                let at = stream.uniform();
                let after = probabilities.partition_point(|below| *below <= at).min(values.len() - 1);
                match after.checked_sub(1) {
                    None => values[0],
                    Some(before) => {
                        let (low, width) = (values[before], values[after] - values[before]);
                        let part =
                            (at - probabilities[before]) / (probabilities[after] - probabilities[before]);
                        low + width * part.clamp(0.0, 1.0)
                    }
                }
            }
        };
        sample.min(f64::MAX)
    }
}

/// A standard normal number (Box and Muller 1958). The second one that the same two draws would give
/// is not kept: a sample must not depend on what another one left behind.
fn standard_normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.uniform()));
    radius * libm::cos(TAU * stream.uniform())
}

/// For ln X ~ N(mu, sigma^2): E X = exp(mu + sigma^2 / 2) and Var X = (exp(sigma^2) - 1) (E X)^2.
fn log_normal(mean: f64, standard_deviation: f64) -> Result<Form, VariateError> {
    let mean = positive("log-normal", "mean", mean)?;
    let standard_deviation = non_negative("log-normal", "standard_deviation", standard_deviation)?;
    let ratio = standard_deviation / mean;
    let log_variance = libm::log1p(ratio * ratio);
    if !log_variance.is_finite() {
        return Err(VariateError::Spread { mean, standard_deviation });
    }
    Ok(Form::LogNormal {
        log_mean: libm::log(mean) - log_variance / 2.0,
        log_deviation: libm::sqrt(log_variance),
    })
}

fn empirical(values: &[f64], weights: &[f64]) -> Result<Form, VariateError> {
    if values.is_empty() {
        return Err(VariateError::NoValues);
    }
    if !weights.is_empty() && weights.len() != values.len() {
        return Err(VariateError::WeightCount { values: values.len(), weights: weights.len() });
    }
    let equal = vec![1.0; values.len()];
    let weights = if weights.is_empty() { &equal } else { weights };
    let (mut kept, mut cumulative, mut sum) = (Vec::new(), Vec::new(), 0.0);
    for (value, weight) in values.iter().zip(weights) {
        let value = non_negative("empirical", "a value", *value)?;
        sum += non_negative("empirical", "a weight", *weight)?;
        // A value of no weight must not be there to be hit by rounding.
        if *weight > 0.0 {
            kept.push(value);
            cumulative.push(sum);
        }
    }
    if !(sum > 0.0 && sum.is_finite()) {
        return Err(VariateError::WeightSum(sum));
    }
    Ok(Form::Empirical { values: kept, cumulative })
}

fn cumulative(values: &[f64], probabilities: &[f64]) -> Result<Form, VariateError> {
    for value in values {
        non_negative("cumulative", "a value", *value)?;
    }
    for probability in probabilities {
        non_negative("cumulative", "a probability", *probability)?;
    }
    let fits = !values.is_empty()
        && values.len() == probabilities.len()
        && values.is_sorted()
        && probabilities.is_sorted()
        && probabilities.last() == Some(&1.0);
    if fits {
        return Ok(Form::Cumulative { values: values.into(), probabilities: probabilities.into() });
    }
    Err(VariateError::Points { values: values.len(), probabilities: probabilities.len() })
}

fn non_negative(
    distribution: &'static str,
    parameter: &'static str,
    value: f64,
) -> Result<f64, VariateError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(VariateError::Parameter { distribution, parameter, value, expected: NON_NEGATIVE })
}

fn positive(distribution: &'static str, parameter: &'static str, value: f64) -> Result<f64, VariateError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(VariateError::Parameter { distribution, parameter, value, expected: POSITIVE })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;
    use proptest::prelude::*;

    const DRAWS: usize = 200_000;

    fn samples(variate: &Variate) -> Vec<f64> {
        let sampler = Sampler::new(variate).expect("valid parameters");
        let mut stream = Streams::new(1, 0).stream("variate", "test");
        (0..DRAWS).map(|_| sampler.sample(&mut stream)).collect()
    }

    /// Mean within four standard errors; variance within four of its own, which need the fourth
    /// central moment: Var(s^2) is about (m4 - v^2) / n, taken from the sample.
    fn check_moments(variate: &Variate, mean: f64, variance: f64) {
        let samples = samples(variate);
        let n = samples.len() as f64;
        let sample_mean = samples.iter().sum::<f64>() / n;
        let moment = |power| samples.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
        let mean_error = 4.0 * (variance / n).sqrt();
        assert!((sample_mean - mean).abs() <= mean_error, "{variate:?}: mean {sample_mean}, not {mean}");
        let variance_error = 4.0 * ((moment(4) - variance * variance).max(0.0) / n).sqrt();
        assert!(
            (moment(2) - variance).abs() <= variance_error,
            "{variate:?}: variance {}, not {variance}",
            moment(2)
        );
    }

    /// Kolmogorov-Smirnov: sqrt(n) D exceeds 1.95 once in 1000.
    fn check_cdf(variate: &Variate, cdf: impl Fn(f64) -> f64) {
        let mut samples = samples(variate);
        samples.sort_unstable_by(f64::total_cmp);
        let n = samples.len() as f64;
        let distance = samples
            .iter()
            .enumerate()
            .map(|(i, x)| (cdf(*x) - i as f64 / n).abs().max((cdf(*x) - (i + 1) as f64 / n).abs()))
            .fold(0.0, f64::max);
        assert!(n.sqrt() * distance < 1.95, "{variate:?}: distance {distance}");
    }

    fn normal_cdf(z: f64) -> f64 {
        0.5 * libm::erfc(-z / 2f64.sqrt())
    }

    #[test]
    fn uniform() {
        let variate = Variate::Uniform { low: 2.0, high: 5.0 };
        check_moments(&variate, 3.5, 9.0 / 12.0);
        check_cdf(&variate, |x| ((x - 2.0) / 3.0).clamp(0.0, 1.0));
    }

    #[test]
    fn exponential() {
        let variate = Variate::Exponential { mean: 3.0 };
        check_moments(&variate, 3.0, 9.0);
        check_cdf(&variate, |x| 1.0 - (-x / 3.0).exp());
    }

    #[test]
    fn gaussian() {
        // Ten deviations above zero, so no draw is cut off.
        let variate = Variate::Gaussian { mean: 10.0, standard_deviation: 1.0 };
        check_moments(&variate, 10.0, 1.0);
        check_cdf(&variate, |x| normal_cdf(x - 10.0));
    }

    /// Rectified at zero with mean 0, the variate has mean 1/sqrt(2 pi), second moment 1/2, and is zero
    /// half of the time.
    #[test]
    fn negative_gaussian_draws_count_as_zero() {
        let variate = Variate::Gaussian { mean: 0.0, standard_deviation: 1.0 };
        check_moments(&variate, 1.0 / TAU.sqrt(), 0.5 - 1.0 / TAU);
        let zeros = samples(&variate).iter().filter(|x| **x == 0.0).count();
        // Standard deviation: sqrt(200000 / 4) = 224.
        assert!(zeros.abs_diff(DRAWS / 2) < 4 * 224, "{zeros}");
    }

    #[test]
    fn log_normal_has_the_mean_and_deviation_asked_for() {
        let variate = Variate::LogNormal { mean: 5.0, standard_deviation: 2.0 };
        check_moments(&variate, 5.0, 4.0);
        let sigma = (1.0f64 + 4.0 / 25.0).ln().sqrt();
        let mu = 5f64.ln() - sigma * sigma / 2.0;
        check_cdf(&variate, |x| normal_cdf((x.ln() - mu) / sigma));
    }

    /// Mean a s / (a - 1), variance s^2 a / ((a - 1)^2 (a - 2)); with a = 6 the fourth moment exists.
    #[test]
    fn pareto() {
        let variate = Variate::Pareto { scale: 2.0, shape: 6.0 };
        check_moments(&variate, 12.0 / 5.0, 4.0 * 6.0 / (25.0 * 4.0));
        check_cdf(&variate, |x| 1.0 - (2.0 / x).powi(6));
        check_cdf(&Variate::Pareto { scale: 1.0, shape: 0.8 }, |x| 1.0 - x.powf(-0.8));
    }

    #[test]
    fn empirical_values_come_as_often_as_their_weights_say() {
        let values = vec![7.0, 1.0, 9.0, 4.0];
        let variate = Variate::Empirical { values: values.clone(), weights: vec![1.0, 0.0, 2.0, 5.0] };
        check_moments(&variate, 45.0 / 8.0, (49.0 + 162.0 + 80.0) / 8.0 - (45.0f64 / 8.0).powi(2));
        let samples = samples(&variate);
        for (value, share) in values.iter().zip([0.125, 0.0, 0.25, 0.625]) {
            let count = samples.iter().filter(|x| *x == value).count() as f64;
            let error = 4.0 * (DRAWS as f64 * share * (1.0 - share)).sqrt();
            assert!((count - DRAWS as f64 * share).abs() <= error, "{value}: {count}");
        }
        let equal = Variate::Empirical { values: vec![1.0, 2.0, 6.0], weights: Vec::new() };
        check_moments(&equal, 3.0, 41.0 / 3.0 - 9.0);
    }

    /// A quarter at 10, a half spread from 10 to 30, and a quarter from 30 to 90: by hand the mean is
    /// 0.25 * 10 + 0.5 * 20 + 0.25 * 60 = 27.5, and E X^2 = 0.25 * 100 + 0.5 * (900 + 300 + 100) / 3
    /// + 0.25 * (8100 + 2700 + 900) / 3.
    #[test]
    fn a_distribution_function_by_points_is_followed_along_straight_lines() {
        let points = (vec![10.0, 30.0, 90.0], vec![0.25, 0.75, 1.0]);
        let variate = Variate::Cumulative { values: points.0, probabilities: points.1 };
        let square = 25.0 + 0.5 * 1300.0 / 3.0 + 0.25 * 11_700.0 / 3.0;
        check_moments(&variate, 27.5, square - 27.5 * 27.5);
        let first = samples(&variate).iter().filter(|x| **x == 10.0).count() as f64 / DRAWS as f64;
        // Standard deviation: sqrt(0.25 * 0.75 / 200000) = 0.001.
        assert!((first - 0.25).abs() < 0.004, "{first}");
        let from_zero =
            Variate::Cumulative { values: vec![0.0, 4.0, 4.0, 8.0], probabilities: vec![0.0, 0.5, 0.8, 1.0] };
        check_moments(&from_zero, 0.5 * 2.0 + 0.3 * 4.0 + 0.2 * 6.0, {
            let square = 0.5 * 16.0 / 3.0 + 0.3 * 16.0 + 0.2 * (64.0 + 32.0 + 16.0) / 3.0;
            square - 3.4 * 3.4
        });
    }

    #[test]
    fn constants_and_degenerate_parameters_are_exact() {
        for (variate, value) in [
            (Variate::Constant { value: 4.5 }, 4.5),
            (Variate::Uniform { low: 3.0, high: 3.0 }, 3.0),
            (Variate::Exponential { mean: 0.0 }, 0.0),
            (Variate::Gaussian { mean: 6.0, standard_deviation: 0.0 }, 6.0),
            (Variate::LogNormal { mean: 1.0, standard_deviation: 0.0 }, 1.0),
            (Variate::Empirical { values: vec![8.0], weights: vec![1e-300] }, 8.0),
        ] {
            let sampler = Sampler::new(&variate).expect("valid parameters");
            let mut stream = Streams::new(1, 0).stream("variate", "test");
            assert!((0..100).all(|_| sampler.sample(&mut stream) == value), "{variate:?}");
        }
    }

    #[test]
    fn each_sample_takes_its_fixed_number_of_draws() {
        for (variate, draws) in [
            (Variate::Constant { value: 1.0 }, 0),
            (Variate::Uniform { low: 0.0, high: 0.0 }, 1),
            (Variate::Exponential { mean: 2.0 }, 1),
            (Variate::Pareto { scale: 1.0, shape: 1.0 }, 1),
            (Variate::Empirical { values: vec![1.0, 2.0], weights: vec![1.0, 0.0] }, 1),
            (Variate::Cumulative { values: vec![1.0, 2.0], probabilities: vec![0.5, 1.0] }, 1),
            (Variate::Gaussian { mean: 0.0, standard_deviation: 0.0 }, 2),
            (Variate::LogNormal { mean: 1.0, standard_deviation: 1.0 }, 2),
        ] {
            let sampler = Sampler::new(&variate).expect("valid parameters");
            let mut stream = Streams::new(1, 0).stream("variate", "test");
            let mut other = stream.clone();
            for _ in 0..100 {
                sampler.sample(&mut stream);
                for _ in 0..draws {
                    let _ = other.next_u64();
                }
            }
            assert_eq!(stream, other, "{variate:?}");
        }
    }

    #[test]
    fn wrong_parameters_are_answered_with_what_would_be_right() {
        let message = |variate: Variate| Sampler::new(&variate).expect_err("refused").to_string();
        assert_eq!(
            message(Variate::Exponential { mean: -1.0 }),
            "exponential: mean is -1, but must be a finite number, 0 or more"
        );
        assert_eq!(
            message(Variate::Pareto { scale: 0.0, shape: 1.0 }),
            "pareto: scale is 0, but must be a finite number above 0"
        );
        assert_eq!(
            message(Variate::Uniform { low: 2.0, high: 1.0 }),
            "uniform: low is 2 and high is 1, but low must not be above high"
        );
        assert_eq!(
            message(Variate::Empirical { values: vec![1.0], weights: vec![1.0, 2.0] }),
            "empirical: 2 weights for 1 values; give one for each value, or none at all"
        );
        let sum = message(Variate::Empirical { values: vec![1.0], weights: vec![0.0] });
        assert!(sum.contains("sum to 0"), "{sum}");
        let spread = message(Variate::LogNormal { mean: 1e-200, standard_deviation: 1e200 });
        assert!(spread.contains("too large for a mean"), "{spread}");
        for variate in [
            Variate::Constant { value: f64::NAN },
            Variate::Uniform { low: f64::NEG_INFINITY, high: 1.0 },
            Variate::Uniform { low: 0.0, high: f64::INFINITY },
            Variate::Gaussian { mean: 1.0, standard_deviation: f64::NAN },
            Variate::LogNormal { mean: 0.0, standard_deviation: 1.0 },
            Variate::Pareto { scale: 1.0, shape: 0.0 },
            Variate::Empirical { values: Vec::new(), weights: Vec::new() },
            Variate::Empirical { values: vec![-1.0], weights: Vec::new() },
            Variate::Empirical { values: vec![1.0], weights: vec![f64::INFINITY] },
            Variate::Empirical { values: vec![1.0, 1.0], weights: vec![1.0, -1.0] },
            Variate::Cumulative { values: Vec::new(), probabilities: Vec::new() },
            Variate::Cumulative { values: vec![2.0, 1.0], probabilities: vec![0.5, 1.0] },
            Variate::Cumulative { values: vec![1.0, 2.0], probabilities: vec![1.0, 0.5] },
            Variate::Cumulative { values: vec![1.0, 2.0], probabilities: vec![0.5, 0.9] },
            Variate::Cumulative { values: vec![1.0, 2.0], probabilities: vec![1.0] },
        ] {
            assert!(Sampler::new(&variate).is_err(), "{variate:?}");
        }
    }

    fn any_variate() -> impl Strategy<Value = Variate> {
        let number = || any::<f64>().prop_map(f64::abs);
        prop_oneof![
            (number(), number()).prop_map(|(low, high)| Variate::Uniform { low, high }),
            number().prop_map(|mean| Variate::Exponential { mean }),
            (number(), number())
                .prop_map(|(mean, deviation)| Variate::Gaussian { mean, standard_deviation: deviation }),
            (number(), number())
                .prop_map(|(mean, deviation)| Variate::LogNormal { mean, standard_deviation: deviation }),
            (number(), number()).prop_map(|(scale, shape)| Variate::Pareto { scale, shape }),
            prop::collection::vec((number(), number()), 0..5).prop_map(|pairs| {
                let (values, weights) = pairs.into_iter().unzip();
                Variate::Empirical { values, weights }
            }),
            prop::collection::vec((number(), 0.0..1.0f64), 1..5).prop_map(|pairs| {
                let (mut values, mut probabilities): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
                values.sort_by(f64::total_cmp);
                probabilities.sort_by(f64::total_cmp);
                *probabilities.last_mut().expect("there is one") = 1.0;
                Variate::Cumulative { values, probabilities }
            }),
        ]
    }

    proptest! {
        #[test]
        fn samples_are_finite_and_not_negative(variate in any_variate(), seed in any::<u64>()) {
            if let Ok(sampler) = Sampler::new(&variate) {
                let mut stream = Streams::new(seed, 0).stream("variate", "test");
                for _ in 0..20 {
                    let sample = sampler.sample(&mut stream);
                    prop_assert!(sample.is_finite() && sample >= 0.0, "{sample}");
                }
            }
        }
    }
}
