//! The text of a scenario as a page edits it: its plain data, and changes in place.

use anabranch_scenario::field_path::{Step, field_path};
use anabranch_scenario::node::{Node, Value};
use anabranch_scenario::toml_edits::{Change, edited};
use anabranch_scenario::toml_text::parse_with_positions;
use serde::Deserialize;
use serde_json::json;

/// A part of a path, as a page writes it.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
enum PageStep {
    Entry(usize),
    Key(String),
}

/// A path as text such as `traffic[0].size`, or as its parts.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
enum PagePlace {
    Text(String),
    Steps(Vec<PageStep>),
}

/// A change as a page writes it: a place, and one of the rest, of which the texts are TOML.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct PageChange {
    place: PagePlace,
    set: Option<String>,
    append: Option<String>,
    #[serde(default)]
    remove: bool,
}

impl PageChange {
    fn into_change(self) -> Result<(Vec<Step>, Change), String> {
        let steps = match self.place {
            PagePlace::Text(text) => field_path(&text)?,
            PagePlace::Steps(steps) => steps.into_iter().map(step).collect(),
        };
        match (self.set, self.append, self.remove) {
            (Some(value), None, false) => Ok((steps, Change::Set(value))),
            (None, Some(value), false) => Ok((steps, Change::Append(value))),
            (None, None, true) => Ok((steps, Change::Remove)),
            _ => Err("a change has one of set, append and remove".to_owned()),
        }
    }
}

fn step(step: PageStep) -> Step {
    match step {
        PageStep::Entry(entry) => Step::Entry(entry),
        PageStep::Key(key) => Step::Key(key),
    }
}

/// The text with changes in place, which are JSON; everything else stays as it stands, comments too.
///
/// # Errors
/// If a change is none or leads nowhere, or the text is no TOML.
pub fn changed(text: &str, changes: &str) -> Result<String, String> {
    let changes: Vec<PageChange> = serde_json::from_str(changes).map_err(|error| error.to_string())?;
    let changes = changes.into_iter().map(PageChange::into_change).collect::<Result<Vec<_>, _>>()?;
    edited(text, &changes)
}

/// The plain data in a text; none where it is no TOML.
#[must_use]
pub fn data(text: &str) -> Option<serde_json::Value> {
    parse_with_positions(text.strip_prefix('\u{feff}').unwrap_or(text)).ok().map(|root| plain(&root))
}

/// A value as JSON.
#[must_use]
pub fn plain(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Switch(value) => json!(value),
        Value::Integer(value) => match (u64::try_from(*value), i64::try_from(*value)) {
            (Ok(value), _) => json!(value),
            (_, Ok(value)) => json!(value),
            // Reading refuses more than 64 bits.
            _ => json!(value.to_string()),
        },
        Value::Float(value) => json!(value),
        Value::Text(text) | Value::Huge(text) | Value::Other(text) => json!(text),
        Value::List(entries) => entries.iter().map(plain).collect(),
        Value::Table(entries) => {
            serde_json::Value::Object(entries.iter().map(|(key, node)| (key.clone(), plain(node))).collect())
        }
    }
}
