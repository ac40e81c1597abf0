//! Declarations: each algorithm says once, beside its code, what parameters it has.
//!
//! [`parameters!`](crate::parameters) makes a struct of a list of parameters, each with its type, default, bounds and
//! one line of text; [`registry!`](crate::registry) makes an enumeration of algorithms of one kind, told apart by name.
//! The check of values, the JSON form and the description that other languages read ([`Registry`]) all follow from them.

pub mod json;
pub mod leaf;
mod macros;
#[cfg(test)]
mod tests;

use crate::{Bytes, FlowId, Rate, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What a value of a parameter is, and its unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// True or false.
    Switch,
    /// A whole number without a unit.
    Integer,
    /// A real number without a unit.
    Number,
    /// A time, in picoseconds.
    Span,
    /// A rate, in bits per second.
    Rate,
    /// A size, in bytes.
    Bytes,
    /// A number of packets.
    Packets,
    /// Room for packets that wait, in any form that a scenario has for it; a default is a number of packets.
    Room,
    /// One of several names.
    Choice,
    /// One of several algorithms, with its parameters.
    Algorithm,
    /// Parameters of their own.
    Table,
    /// Whole numbers that rise, from 1 on.
    Ordinals,
    /// Ids that the caller resolves; not for users.
    Ids,
}

/// A value as other languages read it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Plain {
    /// None.
    Absent,
    /// A switch.
    Switch(bool),
    /// A whole number, or a quantity in its base unit.
    Integer(u64),
    /// A real number.
    Number(f64),
    /// A name.
    Text(String),
}

impl Plain {
    /// The number that it is; rounded where a double cannot hold it.
    fn number(&self) -> Option<f64> {
        match *self {
            Self::Integer(value) => Some(value as f64),
            Self::Number(value) => Some(value),
            Self::Absent | Self::Switch(_) | Self::Text(_) => None,
        }
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("nothing"),
            Self::Switch(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// A type that a parameter may have.
pub trait Value: Clone {
    /// What its values are; [`Bounds`] may give a number a unit.
    const KIND: Kind;
    /// Whether there may be none.
    const OPTIONAL: bool = false;
    /// Whether it must be given although no bound says so.
    const REQUIRED: bool = false;

    /// The value as other languages read it.
    fn plain(&self) -> Plain;

    /// The smallest value of the type, where it has one that other languages do not know.
    #[must_use]
    fn smallest() -> Plain {
        Plain::Absent
    }

    /// The largest value of the type, where it has a small one.
    #[must_use]
    fn largest() -> Plain {
        Plain::Absent
    }

    /// The value as a person writes it, with its unit.
    fn shown(&self) -> String {
        self.plain().to_string()
    }

    /// Whether it is a value at all; NaN and infinities are none.
    fn is_proper(&self) -> bool {
        true
    }

    /// The names to choose from, and what each means.
    #[must_use]
    fn choices() -> Vec<Choice> {
        Vec::new()
    }

    /// The name of the registry whose algorithms are to choose from.
    #[must_use]
    fn registry() -> Option<&'static str> {
        None
    }

    /// Checks what is below the value.
    ///
    /// # Errors
    /// The first parameter of an algorithm that is out of range.
    fn check(&self) -> Result<(), OutOfRange> {
        Ok(())
    }
}

macro_rules! integer {
    ($($type:ty)*) => { $(
        impl Value for $type {
            const KIND: Kind = Kind::Integer;
            fn plain(&self) -> Plain {
                Plain::Integer(u64::from(*self))
            }
            fn smallest() -> Plain {
                <$type>::MIN.plain()
            }
            fn largest() -> Plain {
                if <$type>::BITS < 64 { <$type>::MAX.plain() } else { Plain::Absent }
            }
        }
    )* };
}

integer!(u8 u16 u32 u64);

impl Value for bool {
    const KIND: Kind = Kind::Switch;
    fn plain(&self) -> Plain {
        Plain::Switch(*self)
    }
}

impl Value for f64 {
    const KIND: Kind = Kind::Number;
    fn plain(&self) -> Plain {
        Plain::Number(*self)
    }
    fn is_proper(&self) -> bool {
        self.is_finite()
    }
}

impl Value for Span {
    const KIND: Kind = Kind::Span;
    fn plain(&self) -> Plain {
        Plain::Integer(self.as_ps())
    }
    fn shown(&self) -> String {
        let units = [
            (86_400_000_000_000_000, "days"),
            (1_000_000_000_000, "s"),
            (1_000_000_000, "ms"),
            (1_000_000, "us"),
        ];
        let ps = self.as_ps();
        let fits = units.into_iter().find(|(unit, _)| ps >= *unit && ps.is_multiple_of(*unit));
        fits.map_or_else(|| format!("{ps} ps"), |(unit, name)| format!("{} {name}", ps / unit))
    }
}

impl Value for Bytes {
    const KIND: Kind = Kind::Bytes;
    fn plain(&self) -> Plain {
        Plain::Integer(self.0)
    }
    fn shown(&self) -> String {
        self.to_string()
    }
}

impl Value for Rate {
    const KIND: Kind = Kind::Rate;
    fn plain(&self) -> Plain {
        Plain::Integer(self.as_bps())
    }
    fn shown(&self) -> String {
        format!("{} bps", self.as_bps())
    }
}

impl Value for Vec<FlowId> {
    const KIND: Kind = Kind::Ids;
    fn plain(&self) -> Plain {
        Plain::Absent
    }
}

/// Places in a sequence, counted from 1 on: whole numbers that rise.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ordinals(pub Vec<u64>);

impl Value for Ordinals {
    const KIND: Kind = Kind::Ordinals;
    const REQUIRED: bool = true;
    fn plain(&self) -> Plain {
        Plain::Absent
    }
    fn check(&self) -> Result<(), OutOfRange> {
        let mut before = 0;
        for (place, &number) in self.0.iter().enumerate() {
            if number <= before {
                let problem =
                    format!("is {number}; it must be above {before}, since the numbers rise from 1");
                return Err(OutOfRange::new(place.to_string(), problem));
            }
            before = number;
        }
        Ok(())
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    fn plain(&self) -> Plain {
        self.as_ref().map_or(Plain::Absent, Value::plain)
    }
    fn shown(&self) -> String {
        self.as_ref().map_or_else(|| Plain::Absent.to_string(), Value::shown)
    }
    fn is_proper(&self) -> bool {
        self.as_ref().is_none_or(Value::is_proper)
    }
    fn smallest() -> Plain {
        T::smallest()
    }
    fn largest() -> Plain {
        T::largest()
    }
    fn choices() -> Vec<Choice> {
        T::choices()
    }
    fn registry() -> Option<&'static str> {
        T::registry()
    }
    fn check(&self) -> Result<(), OutOfRange> {
        self.as_ref().map_or(Ok(()), Value::check)
    }
}

/// Where the values of a parameter end, and their unit where the type does not tell it.
#[derive(Clone, Debug)]
pub struct Bounds<T> {
    /// The smallest value.
    pub least: Option<T>,
    /// All values are above this.
    pub above: Option<T>,
    /// The largest value.
    pub most: Option<T>,
    /// All values are below this.
    pub below: Option<T>,
    kind: Option<Kind>,
}

impl<T: Value> Bounds<T> {
    /// Whether a number is within them.
    fn hold(&self, number: f64) -> bool {
        let bound = |bound: &Option<T>| bound.as_ref().and_then(|bound| bound.plain().number());
        number.is_finite()
            && bound(&self.least).is_none_or(|least| number >= least)
            && bound(&self.above).is_none_or(|above| number > above)
            && bound(&self.most).is_none_or(|most| number <= most)
            && bound(&self.below).is_none_or(|below| number < below)
    }
}

impl<T> Bounds<T> {
    /// No bounds.
    #[must_use]
    pub const fn none() -> Self {
        Self { least: None, above: None, most: None, below: None, kind: None }
    }

    /// Not below this.
    #[must_use]
    pub fn at_least(self, least: T) -> Self {
        Self { least: Some(least), ..self }
    }

    /// Above this.
    #[must_use]
    pub fn above(self, above: T) -> Self {
        Self { above: Some(above), ..self }
    }

    /// Not above this.
    #[must_use]
    pub fn at_most(self, most: T) -> Self {
        Self { most: Some(most), ..self }
    }

    /// Below this.
    #[must_use]
    pub fn below(self, below: T) -> Self {
        Self { below: Some(below), ..self }
    }

    /// The number is one of bytes.
    #[must_use]
    pub fn bytes(self) -> Self {
        Self { kind: Some(Kind::Bytes), ..self }
    }

    /// The number is one of packets.
    #[must_use]
    pub fn packets(self) -> Self {
        Self { kind: Some(Kind::Packets), ..self }
    }
}

/// Bounds that begin at a value.
#[must_use]
pub fn at_least<T>(least: T) -> Bounds<T> {
    Bounds::none().at_least(least)
}

/// Bounds that begin behind a value.
#[must_use]
pub fn above<T>(above: T) -> Bounds<T> {
    Bounds::none().above(above)
}

/// Bounds that end at a value.
#[must_use]
pub fn at_most<T>(most: T) -> Bounds<T> {
    Bounds::none().at_most(most)
}

/// The bounds that a type of parameter takes: an optional one has those of what it holds.
pub trait Bounded: Value {
    /// What the bounds are compared with.
    type Bound: Value + PartialOrd;

    /// The value to compare, if there is one.
    fn bounded(&self) -> Option<&Self::Bound>;
}

macro_rules! bounded {
    ($($type:ty)*) => { $(
        impl Bounded for $type {
            type Bound = Self;
            fn bounded(&self) -> Option<&Self> {
                Some(self)
            }
        }
        impl Bounded for Option<$type> {
            type Bound = $type;
            fn bounded(&self) -> Option<&$type> {
                self.as_ref()
            }
        }
    )* };
}

bounded!(u8 u16 u32 u64 f64 Span Bytes Rate);

/// A parameter is out of range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutOfRange {
    /// The parameter, with those above it: `estimator.window`.
    pub parameter: String,
    /// What was read, and what would be right.
    pub problem: String,
}

impl OutOfRange {
    /// A refusal of a parameter for a reason that no bound tells.
    #[must_use]
    pub fn new(parameter: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { parameter: parameter.into(), problem: problem.into() }
    }

    /// The same parameter, seen from above.
    #[must_use]
    pub fn within(self, above: &str) -> Self {
        Self { parameter: format!("{above}.{}", self.parameter), ..self }
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.parameter, self.problem)
    }
}

impl std::error::Error for OutOfRange {}

/// Checks a value against its bounds.
///
/// # Errors
/// What was read and what would be right.
pub fn check<T: Bounded>(name: &str, value: &T, bounds: &Bounds<T::Bound>) -> Result<(), OutOfRange> {
    let Some(read) = value.bounded() else { return Ok(()) };
    let holds = read.is_proper()
        && bounds.least.as_ref().is_none_or(|least| read >= least)
        && bounds.above.as_ref().is_none_or(|above| read > above)
        && bounds.most.as_ref().is_none_or(|most| read <= most)
        && bounds.below.as_ref().is_none_or(|below| read < below);
    if holds {
        return Ok(());
    }
    let named = [
        ("at least", &bounds.least),
        ("above", &bounds.above),
        ("at most", &bounds.most),
        ("below", &bounds.below),
    ];
    let stated =
        named.into_iter().filter_map(|(word, bound)| Some(format!("{word} {}", bound.as_ref()?.shown())));
    let right = stated.collect::<Vec<_>>().join(" and ");
    let right = if right.is_empty() { "a finite number".to_owned() } else { right };
    Err(OutOfRange::new(name, format!("is {}; it must be {right}", read.shown())))
}

/// One of the names that a parameter may be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// What it means.
    pub text: String,
}

/// A parameter, described.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it does, with its source.
    pub text: String,
    /// What its values are.
    pub kind: Kind,
    /// Whether there may be none.
    pub optional: bool,
    /// Whether it must be given, because it has no default.
    pub required: bool,
    /// Its default.
    pub default: Plain,
    /// The smallest value.
    pub least: Plain,
    /// All values are above this.
    pub above: Plain,
    /// The largest value.
    pub most: Plain,
    /// All values are below this.
    pub below: Plain,
    /// The names to choose from, of a [`Kind::Choice`].
    pub choices: Vec<Choice>,
    /// The registry to choose from, of a [`Kind::Algorithm`].
    pub registry: Option<&'static str>,
}

impl Parameter {
    /// Describes a parameter without bounds.
    #[must_use]
    pub fn new<T: Value>(name: &'static str, text: &[&str], default: &T) -> Self {
        Self {
            name,
            text: joined(text),
            kind: T::KIND,
            optional: T::OPTIONAL,
            required: T::REQUIRED,
            default: default.plain(),
            least: T::smallest(),
            above: Plain::Absent,
            most: T::largest(),
            below: Plain::Absent,
            choices: T::choices(),
            registry: T::registry(),
        }
    }

    /// The same, with bounds.
    #[must_use]
    pub fn within<B: Value>(self, bounds: &Bounds<B>) -> Self {
        let required = self.default.number().is_some_and(|default| !bounds.hold(default));
        let kind = bounds.kind.unwrap_or(self.kind);
        // A quantity has its own check of the sign, and what is above something needs no second bound.
        let least = if kind == self.kind && bounds.above.is_none() { self.least } else { Plain::Absent };
        Self {
            kind,
            required,
            default: if required { Plain::Absent } else { self.default },
            least: bounds.least.as_ref().map_or(least, Value::plain),
            above: bounds.above.plain(),
            most: bounds.most.as_ref().map_or(self.most, Value::plain),
            below: bounds.below.plain(),
            ..self
        }
    }
}

/// An algorithm, described.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Algorithm {
    /// Its name.
    pub name: &'static str,
    /// What it is, with its source.
    pub text: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What else is to be known of it, by name.
    #[serde(flatten)]
    pub properties: BTreeMap<&'static str, Plain>,
}

/// All algorithms of one kind, described.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Registry {
    /// What they are: `congestion_control`.
    pub name: &'static str,
    /// What that is.
    pub text: String,
    /// Whether the caller may bring code of its own along.
    pub external: bool,
    /// The algorithms.
    pub algorithms: Vec<Algorithm>,
}

/// Parameters that are declared together; see [`parameters!`](crate::parameters).
pub trait Parameters: Default {
    /// What they belong to, in lines.
    const TEXT: &'static [&'static str];

    /// The description of each.
    #[must_use]
    fn declared() -> Vec<Parameter>;

    /// Checks each against its bounds.
    ///
    /// # Errors
    /// The first that is out of range.
    fn check(&self) -> Result<(), OutOfRange>;
}

/// Lines of a documentation comment as one text.
#[must_use]
pub fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned()
}
