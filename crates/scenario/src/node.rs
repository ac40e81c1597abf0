//! Plain data as a scenario's text has them, each value with its place in the text.

use crate::words::{float, quoted};
use std::ops::Range;

/// A value, and the bytes of the text that it comes from; an empty range at 0 where it comes from no text.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Where it stands.
    pub extent: Range<usize>,
    /// What it is.
    pub value: Value,
}

/// What a scenario may hold.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `true` or `false`.
    Switch(bool),
    /// A whole number.
    Integer(i128),
    /// A whole number of more than 127 bits, as a message shows it.
    Huge(String),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// Values in their order.
    List(Vec<Node>),
    /// Values by key, in the order of the text.
    Table(Vec<(String, Node)>),
    /// What no field takes, such as a date, as a message shows it.
    Other(String),
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        Self { extent: 0..0, value }
    }
}

impl Node {
    /// Plain data of JSON, null as an empty text.
    #[must_use]
    pub fn from_json(data: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        Self::from(match data {
            Json::Null => Value::Text(String::new()),
            Json::Bool(value) => Value::Switch(*value),
            Json::Number(number) => match number.as_i64() {
                Some(value) => Value::Integer(value.into()),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(entries) => Value::List(entries.iter().map(Self::from_json).collect()),
            Json::Object(entries) => Value::Table(
                entries.iter().map(|(key, value)| (key.clone(), Self::from_json(value))).collect(),
            ),
        })
    }

    /// The value of a key, if this is a table that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.table()?.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// The entries, if this is a table.
    #[must_use]
    pub fn table(&self) -> Option<&[(String, Self)]> {
        if let Value::Table(entries) = &self.value { Some(entries) } else { None }
    }

    /// The text, if this is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// The number, if this is one that a double holds, perhaps rounded.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Integer(value) => Some(value as f64),
            Value::Float(value) => Some(value),
            _ => None,
        }
    }

    /// Whether this is a table of a class that does not belong here, as another language has them.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        matches!(&self.value, Value::Other(shown) if shown.starts_with("a table "))
    }

    /// Whether this is a table with this key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The value as a message shows it.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Text(text) => quoted(text),
            Value::Switch(value) => value.to_string(),
            Value::Table(_) => "a table".into(),
            Value::List(_) => "a list".into(),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => float(*value),
            Value::Huge(text) | Value::Other(text) => crate::words::cut(text),
        }
    }
}
