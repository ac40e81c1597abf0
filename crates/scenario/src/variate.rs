//! Random variates: a quantity, or a distribution of quantities: `{ distribution = "exponential", mean = "1 s" }`.

use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Form, Number, Quantity, Read, Reading, Table, Usual, Within, some_of};
use crate::words::{all_quoted, quoted, unknown_choice};
use anabranch_engine::variate::Variate;
use anabranch_units::declaration::{above, at_least};

/// What the draws of a variate are.
pub trait Unit: Read + Usual + Copy + PartialOrd {
    /// The name of its class.
    const NAME: &'static str;

    /// In base units.
    fn base_units(self) -> u64;

    /// As one would write it.
    fn written(self) -> String;
}

impl<Q: Quantity + Read + Usual> Unit for Q {
    const NAME: &'static str = Q::FORM.name;

    fn base_units(self) -> u64 {
        self.base()
    }

    fn written(self) -> String {
        self.text()
    }
}

impl Unit for Number {
    const NAME: &'static str = "Number";

    fn base_units(self) -> u64 {
        self.0
    }

    fn written(self) -> String {
        self.0.to_string()
    }
}

crate::table! {
    /// Always the same.
    pub struct Constant<Q: Unit> {
        /// The value.
        value: Q;
    }
    tagged
        /// Always the same.
        distribution is "constant";
}
crate::table! {
    /// Anything between two ends, all equally likely; the ends are given, or mean and standard deviation.
    pub struct Uniform<Q: Unit> {
        /// Lower end.
        low: Option<Q>;
        /// Upper end.
        high: Option<Q>;
        /// Mean, in place of the ends.
        mean: Option<Q>;
        /// Standard deviation, with the mean.
        standard_deviation: Option<Q>;
    }
    tagged
        /// Anything between two ends, all equally likely.
        distribution is "uniform";
    together ends_or_moments;
}
crate::table! {
    /// Exponential: gaps of a Poisson process.
    pub struct Exponential<Q: Unit> {
        /// Mean, above zero.
        mean: Q;
    }
    tagged
        /// Gaps of a Poisson process.
        distribution is "exponential";
    together |read, table| not_zero("mean", read.mean, table);
}
crate::table! {
    /// Gaussian; what falls below zero counts as zero.
    pub struct Gaussian<Q: Unit> {
        /// Mean, before values below zero are raised to it.
        mean: Q;
        /// Standard deviation, likewise.
        standard_deviation: Q;
    }
    tagged
        /// The normal distribution; what falls below zero counts as zero.
        distribution is "gaussian";
}
crate::table! {
    /// Log-normal, by mean and standard deviation of the variate itself, not of its logarithm.
    pub struct LogNormal<Q: Unit> {
        /// Mean, above zero.
        mean: Q;
        /// Standard deviation.
        standard_deviation: Q;
    }
    tagged
        /// By mean and standard deviation of the variate itself, not of its logarithm.
        distribution is "log-normal";
    together |read, table| not_zero("mean", read.mean, table);
}
crate::table! {
    /// Pareto type I: many small values and a heavy tail.
    pub struct Pareto<Q: Unit> {
        /// Smallest value, above zero.
        scale: Q;
        /// Tail index; at 1 and below the mean is infinite.
        shape: f64, above(0.0);
    }
    tagged
        /// Pareto type I: many small values and a heavy tail.
        distribution is "pareto";
    together |read, table| not_zero("scale", read.scale, table);
}
crate::table! {
    /// One of given values.
    pub struct Empirical<Q: Unit> {
        /// The values.
        values: Values<Q>;
        /// How likely each is, relative to the others; left out, all are equally likely.
        weights: Vec<Weight> = Vec::new();
    }
    tagged
        /// One of given values.
        distribution is "empirical";
    together weights_fit;
}

crate::table! {
    /// Given by points of its distribution function, with straight lines between them.
    pub struct Cumulative<Q: Unit> {
        /// Values, in ascending order.
        values: Values<Q>;
        /// The probability of at most each of them, in ascending order; the last is 1.
        probabilities: Vec<Weight>;
    }
    tagged
        /// By points of its distribution function, with straight lines between them.
        distribution is "cumulative";
    together |read, table| {
        let values: Vec<u64> = read.values.0.iter().map(|value| value.base_units()).collect();
        let probabilities: Vec<f64> = read.probabilities.iter().map(|weight| weight.0).collect();
        if probabilities.len() != values.len() {
            let message = format!("{} probabilities for {} values; give one for each", probabilities.len(), values.len());
            return table.refuse("probabilities", message);
        }
        if !values.is_sorted() {
            return table.refuse("values", "a value is below the one before it; write them in ascending order");
        }
        if !probabilities.is_sorted() || probabilities.last() != Some(&1.0) {
            return table.refuse("probabilities", "they must ascend to 1.0, the probability of at most the last value");
        }
        Some(())
    };
}

impl Cumulative<anabranch_units::Bytes> {
    /// The distribution with these points: sizes, and the probability of at most each of them.
    #[must_use]
    pub fn of_points(points: &[(f64, f64)]) -> Self {
        let size = |bytes: f64| anabranch_units::Bytes(bytes.round_ties_even() as u64);
        Self {
            values: Values(points.iter().map(|(bytes, _)| size(*bytes)).collect()),
            probabilities: points.iter().map(|(_, probability)| Weight(*probability)).collect(),
        }
    }
}

/// Values of which there is one at least.
#[derive(Clone, PartialEq, Debug)]
pub struct Values<Q>(Vec<Q>);

impl<Q: Unit> Read for Values<Q> {
    fn form() -> Form {
        some_of::<Q>()
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        crate::read::read_some(node, at, problems).map(Self)
    }
}

/// A number that is not below zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Weight(f64);

impl Read for Weight {
    fn form() -> Form {
        f64::form_within(&at_least(0.0))
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let value = f64::read(node, at, problems)?;
        if value < 0.0 {
            problems.add(at, format!("{} must be at least 0.0", node.shown()));
            return None;
        }
        Some(Self(value))
    }
}

fn not_zero<Q: Unit>(key: &str, value: Q, table: &mut Reading<'_, '_>) -> Option<()> {
    if value.base_units() == 0 {
        return table.refuse(key, format!("{} is zero; it must be above zero", quoted(&value.written())));
    }
    Some(())
}

fn ends_or_moments<Q: Unit>(read: &Uniform<Q>, table: &mut Reading<'_, '_>) -> Option<()> {
    let moments = [("mean", read.mean), ("standard_deviation", read.standard_deviation)];
    let ends = [("low", read.low), ("high", read.high)];
    let by_moments = moments.iter().any(|(_, value)| value.is_some());
    let fields = moments.map(|(key, value)| (key, value, by_moments)).into_iter();
    for (key, value, is_wanted) in fields.chain(ends.map(|(key, value)| (key, value, !by_moments))) {
        match (is_wanted, value) {
            (true, None) => {
                return table.refuse(key, "is missing; give low and high, or mean and standard_deviation");
            }
            (false, Some(_)) => {
                return table.refuse(key, "give low and high, or mean and standard_deviation, not both");
            }
            _ => {}
        }
    }
    if let (Some(low), Some(high)) = (read.low, read.high)
        && high < low
    {
        let message = format!("{} is below low, {}", quoted(&high.written()), quoted(&low.written()));
        return table.refuse("high", message);
    }
    if let Some(deviation) = read.standard_deviation
        && read.ends().0 < 0.0
    {
        let message = format!(
            "{} is more than the mean / sqrt(3), so that a part of the range is below zero",
            quoted(&deviation.written())
        );
        return table.refuse("standard_deviation", message);
    }
    Some(())
}

impl<Q: Unit> Uniform<Q> {
    /// Lower and upper end, in base units.
    fn ends(&self) -> (f64, f64) {
        let base = |value: Option<Q>| value.map_or(0.0, |value| value.base_units() as f64);
        if self.low.is_some() {
            return (base(self.low), base(self.high));
        }
        // The standard deviation of a uniform variate is its width / sqrt(12).
        let half_width = 3f64.sqrt() * base(self.standard_deviation);
        (base(self.mean) - half_width, base(self.mean) + half_width)
    }
}

fn weights_fit<Q: Unit>(read: &Empirical<Q>, table: &mut Reading<'_, '_>) -> Option<()> {
    let (weights, values) = (read.weights.len(), read.values.0.len());
    if weights > 0 && weights != values {
        let message = format!("{weights} weights for {values} values; give one for each");
        return table.refuse("weights", message);
    }
    let sum: f64 = read.weights.iter().map(|weight| weight.0).sum();
    if weights > 0 && !(sum > 0.0 && sum.is_finite()) {
        return table.refuse("weights", "their sum must be above zero, and finite");
    }
    Some(())
}

/// Makes the enumeration of distributions of one list: the name in a scenario, and the table.
macro_rules! distributions {
    ($( $name:literal => $variant:ident ),+) => {
        /// A quantity, or a distribution of quantities.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Drawn<Q: Unit> {
            /// Always the same.
            Fixed(Q),
            $(
                #[doc = concat!("`", $name, "`.")]
                $variant($variant<Q>),
            )+
        }

        const NAMES: &[&str] = &[$($name),+];

        impl<Q: Unit> Drawn<Q> {
            /// A distribution, by the key that names it; what is wrong is noted.
            fn read_distribution(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
                let Some(named) = node.get("distribution") else {
                    let message = format!(
                        "a table here needs the key \"distribution\": one of {}",
                        all_quoted(NAMES.iter().copied())
                    );
                    problems.add(at, message);
                    return None;
                };
                match named.text().unwrap_or_default() {
                    $( $name => Read::read(node, at, problems).map(Self::$variant), )+
                    _ => {
                        let message = format!("distribution {}", unknown_choice(named, NAMES));
                        problems.add(at, message);
                        None
                    }
                }
            }
        }

        impl<Q: Unit> Drawn<Q> {
            /// What a quantity or a distribution is.
            pub(crate) fn forms() -> Vec<Form> {
                vec![Q::form(), $( Form::Table($variant::<Q>::FORM) ),+]
            }
        }
    };
}

distributions! {
    "constant" => Constant,
    "uniform" => Uniform,
    "exponential" => Exponential,
    "gaussian" => Gaussian,
    "log-normal" => LogNormal,
    "pareto" => Pareto,
    "empirical" => Empirical,
    "cumulative" => Cumulative
}

impl<Q: Unit> Usual for Drawn<Q> {
    fn usual(&self) -> serde_json::Value {
        // Nothing is drawn where nothing is said.
        self.fixed().map_or(serde_json::Value::Null, |value| value.usual())
    }
}

impl<Q: Unit> Read for Drawn<Q> {
    fn form() -> Form {
        Form::OneOf(Self::forms())
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if node.table().is_some() {
            return Self::read_distribution(node, at, problems);
        }
        Q::read(node, at, problems).map(Self::Fixed)
    }
}

impl<Q: Unit> Drawn<Q> {
    /// The quantity that is fixed, where none is drawn.
    pub const fn fixed(&self) -> Option<Q> {
        match self {
            Self::Fixed(value) => Some(*value),
            _ => None,
        }
    }

    /// The quantity that it always is, as a distribution or not.
    pub const fn constant(&self) -> Option<Q> {
        match self {
            Self::Fixed(value) | Self::Constant(Constant { value }) => Some(*value),
            _ => None,
        }
    }

    /// The variate in base units, as the engine has it.
    #[must_use]
    pub fn variate(&self) -> Variate {
        let base = |value: Q| value.base_units() as f64;
        match self {
            Self::Fixed(value) | Self::Constant(Constant { value }) => {
                Variate::Constant { value: base(*value) }
            }
            Self::Uniform(of) => {
                let (low, high) = of.ends();
                Variate::Uniform { low, high }
            }
            Self::Exponential(of) => Variate::Exponential { mean: base(of.mean) },
            Self::Gaussian(of) => {
                Variate::Gaussian { mean: base(of.mean), standard_deviation: base(of.standard_deviation) }
            }
            Self::LogNormal(of) => {
                Variate::LogNormal { mean: base(of.mean), standard_deviation: base(of.standard_deviation) }
            }
            Self::Pareto(of) => Variate::Pareto { scale: base(of.scale), shape: of.shape },
            Self::Empirical(of) => Variate::Empirical {
                values: of.values.0.iter().map(|&value| base(value)).collect(),
                weights: of.weights.iter().map(|weight| weight.0).collect(),
            },
            Self::Cumulative(of) => Variate::Cumulative {
                values: of.values.0.iter().map(|&value| base(value)).collect(),
                probabilities: of.probabilities.iter().map(|weight| weight.0).collect(),
            },
        }
    }

    /// The mean in base units, possibly infinite; of a Gaussian as if nothing fell below zero.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self.variate() {
            Variate::Constant { value } => value,
            Variate::Uniform { low, high } => (low + high) / 2.0,
            Variate::Exponential { mean }
            | Variate::Gaussian { mean, .. }
            | Variate::LogNormal { mean, .. } => mean,
            Variate::Pareto { shape, .. } if shape <= 1.0 => f64::INFINITY,
            Variate::Pareto { scale, shape } => scale * shape / (shape - 1.0),
            Variate::Empirical { values, weights } if weights.is_empty() => {
                values.iter().sum::<f64>() / values.len() as f64
            }
            Variate::Empirical { values, weights } => {
                values.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>()
                    / weights.iter().sum::<f64>()
            }
            Variate::Cumulative { values, probabilities } => {
                let lines = values.windows(2).zip(probabilities.windows(2));
                let middles = lines.map(|(x, p)| (x[0] + x[1]) / 2.0 * (p[1] - p[0]));
                values[0] * probabilities[0] + middles.sum::<f64>()
            }
        }
    }
}
