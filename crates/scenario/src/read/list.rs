//! Lists.

use super::{Form, Read};
use crate::node::{Node, Value};
use crate::problem::{Place, Problems};

/// Places of lists of tables, each of which has a header of its own in TOML.
const LISTS_OF_TABLES: [&str; 8] = [
    "traffic",
    "event",
    "capture",
    "network.link",
    "network.node",
    "network.risk_group",
    "network.maintenance",
    "controller.link",
];

impl<T: Read> Read for Vec<T> {
    fn form() -> Form {
        Form::List(Box::new(T::form()), 0, None)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entries = list(node, at, problems)?;
        // All are read, so that each says what is wrong with it.
        let mut read = Vec::with_capacity(entries.len());
        for (place, entry) in entries.iter().enumerate() {
            let value = T::read(entry, &at.entry(place), problems);
            match value.as_ref().and_then(|_| T::improper(entry)) {
                None => read.extend(value),
                Some(message) => problems.add(&at.entry(place), message),
            }
        }
        (read.len() == entries.len()).then_some(read)
    }
}

impl<T: Read, const N: usize> Read for [T; N] {
    fn form() -> Form {
        Form::List(Box::new(T::form()), N, Some(N))
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entries = Vec::read(node, at, problems)?;
        let count = entries.len();
        let pair = entries.try_into().ok();
        if pair.is_none() {
            problems.add(at, format!("has {count} in place of {N} entries"));
        }
        pair
    }
}

fn list<'n>(node: &'n Node, at: &Place<'_>, problems: &mut Problems) -> Option<&'n [Node]> {
    if let Value::List(entries) = &node.value {
        return Some(entries);
    }
    let place = at.to_string();
    let tables = LISTS_OF_TABLES.iter().find(|list| place == **list && !problems.is_of_call());
    let hint = tables.map_or("write it in square brackets".to_owned(), |list| {
        format!("write [[{list}]], in double brackets")
    });
    problems.add(at, format!("{} is not a list; {hint}", node.shown()));
    None
}

/// Of a list or table that may not be.
pub const EMPTY: &str = "is empty; at least one entry is needed";

/// What lists are that are not empty.
#[must_use]
pub fn some_of<T: Read>() -> Form {
    Form::List(Box::new(T::form()), 1, None)
}

/// A list that is not empty; what is wrong is noted.
pub fn read_some<T: Read>(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Vec<T>> {
    if matches!(&node.value, Value::List(entries) if entries.is_empty()) {
        problems.add(at, EMPTY);
        return None;
    }
    Vec::read(node, at, problems)
}
