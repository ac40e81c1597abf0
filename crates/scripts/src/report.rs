//! The table of what was played.

use crate::script::Ending;
use serde_json::{Value, json as document};

/// A script and how it ended.
#[derive(Clone, Debug)]
pub struct Played {
    /// As it was named.
    pub name: String,
    /// The folder that it is counted in.
    pub category: String,
    /// How it ended.
    pub outcome: Ending,
}

/// How many scripts ended in which way.
#[derive(Clone, Copy, Default)]
struct Counts {
    scripts: usize,
    pass: usize,
    fail: usize,
    not_applicable: usize,
    /// Of these, those whose text cannot be read.
    unreadable: usize,
}

impl Counts {
    fn of<'a>(played: impl Iterator<Item = &'a Played>) -> Self {
        let mut counts = Self::default();
        for Played { outcome, .. } in played {
            counts.scripts += 1;
            match outcome {
                Ending::Pass => counts.pass += 1,
                Ending::Fail { .. } => counts.fail += 1,
                Ending::NotApplicable { .. } => counts.not_applicable += 1,
                Ending::Unreadable(_) => {
                    counts.not_applicable += 1;
                    counts.unreadable += 1;
                }
            }
        }
        counts
    }

    fn sentence(self) -> String {
        let Self { scripts, pass, fail, not_applicable, unreadable } = self;
        let of_these =
            if unreadable > 0 { format!(" ({unreadable} of these cannot be read)") } else { String::new() };
        format!("{scripts} scripts: {pass} PASS, {fail} FAIL, {not_applicable} NOT APPLICABLE{of_these}\n")
    }

    fn document(self, category: Option<&str>) -> Value {
        let mut object = document!({
            "scripts": self.scripts,
            "pass": self.pass,
            "fail": self.fail,
            "not_applicable": self.not_applicable,
            "unreadable": self.unreadable,
        });
        if let Some(category) = category {
            object["category"] = category.into();
        }
        object
    }
}

/// Every category once, in order of its name, with its counts.
fn by_category(played: &[Played]) -> Vec<(&str, Counts)> {
    let mut names: Vec<&str> = played.iter().map(|one| one.category.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let counts = |name: &str| Counts::of(played.iter().filter(|one| one.category == name));
    names.into_iter().map(|name| (name, counts(name))).collect()
}

/// The table for people: a line for each script, and the counts.
#[must_use]
pub fn table(played: &[Played]) -> String {
    let width = played.iter().map(|one| one.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Played { name, outcome, .. } in played {
        let line = format!("{name:width$}  {:14}  {outcome}", outcome.name());
        text += line.trim_end();
        text += "\n";
    }
    text + &Counts::of(played.iter()).sentence()
}

/// The counts of each category, and of all.
#[must_use]
pub fn table_summary(played: &[Played]) -> String {
    const HEAD: [&str; 6] = ["category", "scripts", "PASS", "FAIL", "NOT APPLICABLE", "unreadable"];
    let rows = by_category(played);
    let width = rows.iter().map(|(name, _)| name.chars().count()).chain([HEAD[0].len()]).max().unwrap_or(0);
    let line = |name: &str, cells: [String; 5]| {
        let [scripts, pass, fail, rest, unreadable] = cells;
        format!("{name:width$}  {scripts:>7}  {pass:>4}  {fail:>4}  {rest:>14}  {unreadable:>10}\n")
    };
    let mut text = line(HEAD[0], [1, 2, 3, 4, 5].map(|column| HEAD[column].to_owned()));
    for (name, counts) in rows {
        let Counts { scripts, pass, fail, not_applicable, unreadable } = counts;
        text += &line(name, [scripts, pass, fail, not_applicable, unreadable].map(|count| count.to_string()));
    }
    text + &Counts::of(played.iter()).sentence()
}

/// The same as the table for programs: `name`, `category`, `outcome`, `readable`, and with a deviation or a reason
/// `line` and `text`.
#[must_use]
pub fn json(played: &[Played]) -> Value {
    let one = |played: &Played| {
        let Played { name, category, outcome } = played;
        let readable = !matches!(outcome, Ending::Unreadable(_));
        let mut object = document!({
            "name": name, "category": category, "outcome": outcome.name(), "readable": readable,
        });
        if let Some((line, text)) = outcome.remark() {
            object["line"] = line.into();
            object["text"] = text.into();
        }
        object
    };
    Value::Array(played.iter().map(one).collect())
}

/// The scripts as [`json`] has them, the counts of each category, and those of all.
#[must_use]
pub fn json_summary(played: &[Played]) -> Value {
    let categories: Vec<Value> =
        by_category(played).into_iter().map(|(name, counts)| counts.document(Some(name))).collect();
    let total = Counts::of(played.iter()).document(None);
    document!({ "categories": categories, "total": total, "scripts": json(played) })
}
