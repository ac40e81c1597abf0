//! The table of what was played.

use crate::script::Ending;
use serde_json::{Value, json as document};

/// A script and how it ended.
#[derive(Clone, Debug)]
pub struct Played {
    /// As it was named.
    pub name: String,
    /// How it ended.
    pub outcome: Ending,
}

/// The table for people: a line for each script, and the counts.
#[must_use]
pub fn table(played: &[Played]) -> String {
    let width = played.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Played { name, outcome } in played {
        let line = format!("{name:width$}  {:14}  {outcome}", outcome.name());
        text += line.trim_end();
        text += "\n";
    }
    let count = |word: &str| played.iter().filter(|one| one.outcome.name() == word).count();
    let (pass, fail, rest) = (count("PASS"), count("FAIL"), count("NOT APPLICABLE"));
    text + &format!("{} scripts: {pass} PASS, {fail} FAIL, {rest} NOT APPLICABLE\n", played.len())
}

/// The same for programs: `name`, `outcome`, and with a deviation or a reason `line` and `text`.
#[must_use]
pub fn json(played: &[Played]) -> Value {
    let one = |played: &Played| {
        let (name, outcome) = (&played.name, played.outcome.name());
        match &played.outcome {
            Ending::Pass => document!({ "name": name, "outcome": outcome }),
            Ending::Fail { line, deviation: text } | Ending::NotApplicable { line, reason: text } => {
                document!({ "name": name, "outcome": outcome, "line": line, "text": text })
            }
        }
    };
    Value::Array(played.iter().map(one).collect())
}
