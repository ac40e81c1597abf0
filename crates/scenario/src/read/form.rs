//! What tables and fields are, for other languages: their classes, schemas and pages are made of it.

use super::quantity::QuantityForm;
use anabranch_units::declaration::Parameter;
use serde_json::Value;

/// What the values of a field are.
#[derive(Clone, Debug)]
pub enum Form {
    /// True or false.
    Switch,
    /// A whole number.
    Whole,
    /// A real number.
    Real,
    /// Text that is not empty.
    Text,
    /// Text, which may be empty.
    AnyText,
    /// The name of a file behind `file:`.
    File,
    /// A number with a unit.
    Quantity(&'static QuantityForm),
    /// A number of things, which needs no unit.
    Number,
    /// A number of bandwidth-delay products, such as `1 BDP`.
    Products,
    /// One of several names.
    Choice(Vec<&'static str>),
    /// An algorithm of this registry, by name or with its parameters.
    Algorithm(&'static str),
    /// What a registry declares.
    Declared(&'static Parameter),
    /// A table.
    Table(TableForm),
    /// A list of values: what they are, the fewest and the most of them.
    List(Box<Form>, usize, Option<usize>),
    /// Values by names that users choose: what they are, and the fewest of them.
    Named(Box<Form>, usize),
    /// Nothing, or a value.
    Optional(Box<Form>),
    /// A value within bounds: at least, above, at most, below; of quantities in base units.
    Within(Box<Form>, [Option<Value>; 4]),
    /// Plain data of any form.
    Free,
    /// One of several forms.
    OneOf(Vec<Form>),
}

/// A table, described.
#[derive(Clone, Copy, Debug)]
pub struct TableForm {
    /// Its name as a class.
    pub name: &'static str,
    /// The quantity that it is of, where there are several such tables.
    pub of: Option<&'static str>,
    /// What it is, in lines.
    pub text: &'static [&'static str],
    /// The key that tells it apart from other tables in its place, if there are some.
    pub tag: Option<Tag>,
    /// The tables whose fields it has besides its own, by their names.
    pub parts: &'static [&'static str],
    /// Its fields, in their order.
    pub fields: fn() -> Vec<Field>,
}

/// A key whose value tells a table apart from others.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub word: &'static str,
    /// What it is, in lines.
    pub text: &'static [&'static str],
}

/// A field, described.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its key in a scenario.
    pub key: &'static str,
    /// Its name as an attribute, which differs where the key is a word of the language.
    pub name: &'static str,
    /// What it is.
    pub text: String,
    /// What its values are.
    pub form: Form,
    /// Its default as a scenario would write it, null for nothing; `None` for a field that must be given.
    pub default: Option<Value>,
}

/// A type with values that are defaults of fields.
pub trait Usual {
    /// The value as a scenario would write it.
    fn usual(&self) -> Value;
}

macro_rules! as_they_are {
    ($($type:ty)*) => { $(
        impl Usual for $type {
            fn usual(&self) -> Value {
                serde_json::json!(self)
            }
        }
    )* };
}

as_they_are!(bool u32 u64 f64 String);

impl<T> Usual for Vec<T> {
    fn usual(&self) -> Value {
        debug_assert!(self.is_empty(), "lists are empty where nothing is said");
        Value::Array(Vec::new())
    }
}
