//! A script as its events.

use crate::options::ScriptChoices;
use anabranch_transport::Segment;
use anabranch_units::Span;
use std::fmt;
use thiserror::Error;

/// Line and column, from 1 on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A mistake in the text of a script.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{line}:{column}: {message}")]
pub struct ScriptError {
    /// Line, from 1 on.
    pub line: usize,
    /// Column in characters, from 1 on.
    pub column: usize,
    /// What is wrong, and how to mend it.
    pub message: String,
}

impl ScriptError {
    pub(crate) fn at(place: Place, message: impl Into<String>) -> Self {
        Self { line: place.line, column: place.column, message: message.into() }
    }
}

/// How a script ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Everything came as the script says.
    Pass,
    /// The first deviation, with its line.
    Fail {
        /// Line of the event that failed.
        line: usize,
        /// What was expected and what came.
        deviation: String,
    },
    /// The script needs what the model has not.
    NotApplicable {
        /// Line of what it needs.
        line: usize,
        /// What the model has not.
        reason: String,
    },
}

impl Ending {
    /// The word of the table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail { .. } => "FAIL",
            Self::NotApplicable { .. } => "NOT APPLICABLE",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => Ok(()),
            Self::Fail { line, deviation: text } | Self::NotApplicable { line, reason: text } => {
                write!(f, "line {line}: {text}")
            }
        }
    }
}

/// A script that has been read.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) choices: ScriptChoices,
    pub(crate) events: Vec<Event>,
    /// The first thing that the model has not.
    pub(crate) beyond: Option<(usize, String)>,
}

/// When something happens, in time since the start of the script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// Behind the beginning, or behind the event before.
    At(Moment),
    /// Between both.
    Between(Moment, Moment),
    /// Whenever it comes.
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    pub(crate) span: Span,
    pub(crate) relative: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) line: usize,
    pub(crate) when: When,
    /// When a call that blocks returns.
    pub(crate) until: Option<Moment>,
    pub(crate) action: Action,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A segment arrives; sequence numbers as in the script.
    Inject(Segment),
    Expect(Expected),
    Call(Call),
    Assert(Vec<Assertion>),
}

/// A segment, or a train of them, that must leave.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// What stands in the script, for messages.
    pub(crate) text: String,
    /// All fields; the length is `length`.
    pub(crate) segment: Segment,
    /// Bytes, which may be those of several segments.
    pub(crate) length: u32,
    pub(crate) ack: bool,
    pub(crate) window: bool,
    /// Whether the IP header's mark is compared.
    pub(crate) ecn: bool,
    /// Whether the options are compared.
    pub(crate) options: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) result: CallResult,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    Any,
    Number(i64),
    /// Constants joined by `|`, or a text.
    Name(String),
    List(Vec<Argument>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CallResult {
    Any,
    Value(i64),
    /// -1 with this errno.
    Error(String),
}

/// An assertion of `%{ }%`.
#[derive(Clone, Debug)]
pub(crate) struct Assertion {
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) expression: Expression,
}

/// The part of Python's expressions that assertions are written in.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expression {
    Number(f64),
    Name(String),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Binary(Box<Expression>, Operator, Box<Expression>),
    /// `a <= b < c`
    Chain(Box<Expression>, Vec<(Comparison, Expression)>),
    All(Vec<Expression>),
    AnyOf(Vec<Expression>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
    Divide,
    DivideWhole,
    Remainder,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}
