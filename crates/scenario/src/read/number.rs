//! Plain numbers, switches and text.

use super::{Form, Read, Usual, Within};
use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::words::{float, short};
use anabranch_units::declaration::Bounds;
use serde_json::json;

impl Read for bool {
    fn form() -> Form {
        Form::Switch
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if let Value::Switch(value) = node.value {
            return Some(value);
        }
        problems.add(at, format!("{} is neither true nor false", node.shown()));
        None
    }
}

impl Read for f64 {
    fn form() -> Form {
        Form::Real
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let message = match node.number() {
            Some(value) if value.is_finite() => return Some(value),
            Some(_) => format!("{} is not a number that can be used; write a finite one", node.shown()),
            None => format!("{} is not a number{}", node.shown(), number_hint(node)),
        };
        problems.add(at, message);
        None
    }
}

impl Read for String {
    fn form() -> Form {
        Form::Text
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let message = match node.text() {
            Some("") => "is empty".to_owned(),
            Some(text) => return Some(text.to_owned()),
            None => format!("{} is not text; write it in double quotes", node.shown()),
        };
        problems.add(at, message);
        None
    }
}

/// Says how a number is written that was read as text; empty where this is no number.
fn number_hint(node: &Node) -> String {
    let Some(text) = node.text().map(str::trim) else { return String::new() };
    let shares = ["%", "percent", "per cent", "pct"].iter().find_map(|sign| text.strip_suffix(sign));
    let number = shares.unwrap_or(text).trim();
    let value = match number.split_once('/') {
        Some((part, whole)) => plain_number(part).zip(plain_number(whole)).map(|(part, whole)| part / whole),
        None => plain_number(number),
    };
    match value.filter(|value| value.is_finite()) {
        None => String::new(),
        Some(value) if shares.is_some() => format!("; write {}", short(value / 100.0)),
        Some(value) if number.contains([',', '/']) => format!("; write {}", short(value)),
        Some(_) => "; write it without quotes".into(),
    }
}

/// A number as people write it: with `_` between digits, or a comma before the decimals.
fn plain_number(text: &str) -> Option<f64> {
    let text = text.trim().replace('_', "");
    let comma = text.matches(',').count() == 1 && !text.contains('.');
    if comma { text.replace(',', ".") } else { text }.parse().ok()
}

/// A whole number within the bounds of a type, as a message says what is wrong with it otherwise.
fn whole(node: &Node, least: i128, most: i128) -> Result<i128, String> {
    match &node.value {
        Value::Integer(value) if *value < least => Err(format!("{value} must be at least {least}")),
        Value::Integer(value) if *value > most => Err(format!("{value} must be at most {most}")),
        Value::Integer(value) => Ok(*value),
        Value::Huge(shown) if shown.starts_with('-') => Err(format!("{shown} must be at least {least}")),
        Value::Huge(shown) => Err(format!("{shown} must be at most {most}")),
        _ => Err(format!("{} is not a whole number", node.shown())),
    }
}

macro_rules! whole_numbers {
    ($($type:ty)*) => { $(
        impl Read for $type {
            fn form() -> Form {
                Form::Within(Box::new(Form::Whole), [Some(json!(0)), None, Some(json!(Self::MAX)), None])
            }

            fn improper(node: &Node) -> Option<String> {
                whole(node, 0, Self::MAX.into()).err()
            }

            fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
                // What is beyond the type is told with the bounds of the field, which say more.
                match &node.value {
                    Value::Integer(value) if *value < 0 => Some(0),
                    Value::Integer(value) => Some(Self::try_from(*value).unwrap_or(Self::MAX)),
                    Value::Huge(shown) => Some(if shown.starts_with('-') { 0 } else { Self::MAX }),
                    _ => {
                        problems.add(at, format!("{} is not a whole number", node.shown()));
                        None
                    }
                }
            }
        }

        impl Within for $type {
            type Bound = Self;

            fn outside(&self, node: &Node, bounds: &Bounds<Self>) -> Option<String> {
                let least = bounds.least.or(bounds.above.map(|above| above + 1)).unwrap_or(0);
                let most = bounds.most.or(bounds.below.map(|below| below - 1)).unwrap_or(Self::MAX);
                whole(node, least.into(), most.into()).err()
            }

            fn number(bound: &Self) -> serde_json::Value {
                json!(bound)
            }
        }
    )* };
}

whole_numbers!(u32 u64);

/// A plain number of things, which needs no unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub struct Number(pub u64);

impl Usual for Number {
    fn usual(&self) -> serde_json::Value {
        json!(self.0)
    }
}

impl Read for Number {
    fn form() -> Form {
        Form::Number
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let message = match &node.value {
            Value::Integer(value) => {
                match u64::try_from(*value).ok().filter(|&value| value <= i64::MAX as u64) {
                    Some(value) => return Some(Self(value)),
                    None => format!("{value} is not between 0 and {}", i64::MAX),
                }
            }
            Value::Huge(shown) => format!("{shown} is not between 0 and {}", i64::MAX),
            _ => format!("{} is not a whole number{}", node.shown(), number_hint(node)),
        };
        problems.add(at, message);
        None
    }
}

/// Says how a share is written that was given in percent; empty where the field is none.
fn share_hint(value: f64, bounds: &Bounds<f64>) -> String {
    let is_share = bounds.most.or(bounds.below).is_some_and(|most| (most - 1.0).abs() < f64::EPSILON);
    let is_percent = (2.0..=100.0).contains(&value);
    if is_share && is_percent {
        format!("; {} % is {}", short(value), short(value / 100.0))
    } else {
        String::new()
    }
}

impl Within for f64 {
    type Bound = Self;

    fn outside(&self, node: &Node, bounds: &Bounds<Self>) -> Option<String> {
        let read = node.shown();
        let said = |word: &str, bound: Self| Some(format!("{read} must be {word} {}", float(bound)));
        match *bounds {
            Bounds { least: Some(least), .. } if *self < least => said("at least", least),
            Bounds { above: Some(above), .. } if *self <= above => said("above", above),
            Bounds { most: Some(most), .. } if *self > most => said("at most", most),
            Bounds { below: Some(below), .. } if *self >= below => said("below", below),
            _ => None,
        }
        .map(|message| message + &share_hint(*self, bounds))
    }

    fn number(bound: &Self) -> serde_json::Value {
        json!(bound)
    }
}
