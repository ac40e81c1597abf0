//! From plain data to typed values, every mistake noted.
//!
//! A field is declared once, as a line of [`table!`](crate::table): key, type, default, bounds and text. How it is read,
//! which keys are known, and what other languages are told of it follow from that line.

mod choice;
mod form;
mod list;
mod number;
mod quantity;
mod table;

pub use choice::{Choices, read_choice};
pub use form::{Field, Form, TableForm, Tag, Usual};
pub use list::{EMPTY, read_some, some_of};
pub use number::Number;
pub use quantity::{Packets, Quantity, QuantityForm, Segments, Speed};
pub use table::{Reading, Table, entries, fields_behind, name_of, names_behind, purpose, read_table};

use crate::node::Node;
use crate::problem::{Place, Problems};
use anabranch_units::declaration::Bounds;
use serde_json::Value;

/// A type that a field may have.
pub trait Read: Sized {
    /// What its values are, for other languages.
    fn form() -> Form;

    /// What a field is that is left out, where that needs no default.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }

    /// What is wrong with a value that no bounds are declared for: it may be outside of its type.
    #[must_use]
    fn improper(_node: &Node) -> Option<String> {
        None
    }

    /// The value; what is wrong is noted.
    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self>;
}

/// A type whose values may have bounds.
pub trait Within: Sized {
    /// What the bounds are compared with.
    type Bound;

    /// What is wrong with a value that is out of bounds.
    fn outside(&self, node: &Node, bounds: &Bounds<Self::Bound>) -> Option<String>;

    /// A bound as a number, of quantities in base units.
    fn number(bound: &Self::Bound) -> Value;

    /// What the values are within bounds.
    fn form_within(bounds: &Bounds<Self::Bound>) -> Form
    where
        Self: Read,
    {
        let number = |bound: &Option<Self::Bound>| bound.as_ref().map(Self::number);
        let bounds = [&bounds.least, &bounds.above, &bounds.most, &bounds.below].map(number);
        Form::Within(Box::new(Self::form()), bounds)
    }
}

impl<T: Read> Read for Option<T> {
    fn form() -> Form {
        Form::Optional(Box::new(T::form()))
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn improper(node: &Node) -> Option<String> {
        T::improper(node)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        T::read(node, at, problems).map(Some)
    }
}

impl<T: Within> Within for Option<T> {
    type Bound = T::Bound;

    fn outside(&self, node: &Node, bounds: &Bounds<T::Bound>) -> Option<String> {
        self.as_ref()?.outside(node, bounds)
    }

    fn number(bound: &T::Bound) -> Value {
        T::number(bound)
    }
}

impl<T: Read> Read for Box<T> {
    fn form() -> Form {
        T::form()
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        T::read(node, at, problems).map(Self::new)
    }
}

#[cfg(test)]
mod tests;
