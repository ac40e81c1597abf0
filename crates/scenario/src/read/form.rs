//! What tables and fields are, for other languages: their classes, schemas and pages are made of it.

use super::quantity::QuantityForm;

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
    /// A number with a unit.
    Quantity(&'static QuantityForm),
    /// One of several names.
    Choice(Vec<&'static str>),
    /// An algorithm of this registry, by name or with its parameters.
    Algorithm(&'static str),
    /// A table.
    Table(TableForm),
    /// A list of values.
    List(Box<Form>),
    /// Nothing, or a value.
    Optional(Box<Form>),
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
    /// What it is, in lines.
    pub text: &'static [&'static str],
    /// The key that tells it apart from other tables in its place, if there are some.
    pub tag: Option<&'static str>,
    /// Its fields, in their order.
    pub fields: fn() -> Vec<Field>,
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
    /// Its default as the declaration writes it; `None` for a field that must be given.
    pub default: Option<String>,
}
