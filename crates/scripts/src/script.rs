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
    /// The text is no script, so that nothing was played.
    Unreadable(ScriptError),
}

impl Ending {
    /// The word of the table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail { .. } => "FAIL",
            Self::NotApplicable { .. } | Self::Unreadable(_) => "NOT APPLICABLE",
        }
    }

    /// Line and text of the deviation, the reason or the mistake; none if it passed.
    #[must_use]
    pub fn remark(&self) -> Option<(usize, String)> {
        match self {
            Self::Pass => None,
            Self::Fail { line, deviation: text } | Self::NotApplicable { line, reason: text } => {
                Some((*line, text.clone()))
            }
            Self::Unreadable(ScriptError { line, column, message }) => {
                Some((*line, format!("cannot be read at column {column}: {message}")))
            }
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.remark() {
            None => Ok(()),
            Some((line, text)) => write!(f, "line {line}: {text}"),
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
    /// The first setting behind the first event: how many events stand before it, its line, and why the model has it not.
    pub(crate) late: Option<(usize, usize, String)>,
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
    Inject(Segment, Option<MultipathOption>),
    Expect(Expected),
    Call(Call),
    Code(Vec<Statement>),
}

/// What the codepoint of ECN in the IP header is to be (RFC 3168 section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    NotEct,
    Ect0,
    Ect1,
    /// ECT(0) or ECT(1).
    Ect,
    Ce,
}

/// The option of Multipath TCP on a segment (RFC 8684 section 3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MultipathOption {
    Capable(Capable),
    /// By its name in the language.
    Other(String),
}

/// MP_CAPABLE (RFC 8684 section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Capable {
    pub(crate) version: u8,
    /// The flags A to H, A the highest bit.
    pub(crate) flags: u8,
    pub(crate) keys: u8,
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
    /// The mark in the IP header, if it is compared.
    pub(crate) mark: Option<Mark>,
    /// Whether the options are compared.
    pub(crate) options: bool,
    /// Of the option TS, whether the timestamp and whether the echo are compared.
    pub(crate) timestamp: bool,
    pub(crate) echo: bool,
    pub(crate) multipath: Option<MultipathOption>,
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
    /// Constants joined by `|`.
    Name(String),
    Text(String),
    List(Vec<Argument>),
    /// Fields by their names, which are empty where a value stands alone.
    Structure(Vec<(String, Argument)>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CallResult {
    Any,
    Value(i64),
    /// -1 with this errno.
    Error(String),
    /// -1 with any.
    AnyError,
}

/// A statement of `%{ }%`.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) line: usize,
    /// What stands behind `assert`, for messages; the name of what is assigned to.
    pub(crate) text: String,
    pub(crate) assigns: bool,
    pub(crate) expression: Expression,
}

/// The part of Python's expressions that scripts use.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expression {
    Number(f64),
    Name(String),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    /// `~`
    Inverted(Box<Expression>),
    Binary(Box<Expression>, Operator, Box<Expression>),
    /// `a <= b < c`
    Chain(Box<Expression>, Vec<(Comparison, Expression)>),
    /// `a in (b, c)`; with `false` `not in`.
    Member(Box<Expression>, bool, Vec<Expression>),
    /// `a if condition else b`, the condition first.
    Conditional(Box<[Expression; 3]>),
    Function(Function, Vec<Expression>),
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
    And,
    Or,
    ExclusiveOr,
    ShiftLeft,
    ShiftRight,
    Power,
}

/// Functions of Python that give numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    Absolute,
    Least,
    Largest,
    Truncated,
    Rounded,
    Plain,
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
