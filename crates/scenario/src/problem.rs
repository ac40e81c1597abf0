//! What is wrong with a scenario: every mistake, with its place and a remedy.

use crate::words::quoted;
use std::collections::BTreeSet;
use std::fmt;

/// Problems that are told at most: nobody mends more at a time.
pub(crate) const MOST: usize = 100;

/// A mistake.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Problem {
    /// Its place as a path of keys, such as `traffic[0].from`; empty for the whole.
    pub place: String,
    /// What was read, and what would be right.
    pub message: String,
}

impl Problem {
    /// A mistake at a place that is written already.
    #[must_use]
    pub fn at(place: &str, message: impl Into<String>) -> Self {
        Self { place: place.to_owned(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

/// Mistakes in the order in which they were found; the same one twice counts once.
#[derive(Default, Debug)]
pub struct Problems {
    noted: Vec<Problem>,
    seen: BTreeSet<Problem>,
    of_call: bool,
}

impl Problems {
    /// Those of tables that are called in another language: fields go by their names as attributes, too.
    #[must_use]
    pub fn of_call() -> Self {
        Self { of_call: true, ..Self::default() }
    }

    /// Whether tables are called in another language.
    #[must_use]
    pub const fn is_of_call(&self) -> bool {
        self.of_call
    }

    /// Notes a mistake.
    pub fn add(&mut self, at: &Place<'_>, message: impl Into<String>) {
        let problem = Problem { place: at.to_string(), message: message.into() };
        if self.seen.insert(problem.clone()) {
            self.noted.push(problem);
        }
    }

    /// Notes a mistake at a place that is written already.
    pub fn add_at(&mut self, place: &str, message: impl Into<String>) {
        self.add(&Place::Told(place), message);
    }

    /// What holds; a mistake in its place is noted.
    pub fn note<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add_at(&problem.place, problem.message)).ok()
    }

    /// How many there are so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.noted.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.noted.is_empty()
    }

    /// The first hundred, and how many more there are.
    #[must_use]
    pub fn into_told(mut self) -> Vec<Problem> {
        let more = self.noted.len().saturating_sub(MOST);
        if more > 0 {
            self.noted.truncate(MOST);
            self.noted.push(Problem { place: String::new(), message: and_more(more) });
        }
        self.noted
    }
}

/// What is said of problems behind the first hundred.
pub(crate) fn and_more(count: usize) -> String {
    format!("and {} more problems", crate::words::thousands(count as u64))
}

/// A place in a scenario, made while reading goes down, and written for messages only.
#[derive(Clone, Copy)]
pub enum Place<'p> {
    /// The scenario itself.
    Top,
    /// A key of a table.
    Key(&'p Place<'p>, &'p str),
    /// An entry of a list.
    Entry(&'p Place<'p>, usize),
    /// A place that is written already.
    Told(&'p str),
}

impl<'p> Place<'p> {
    /// A key of the table at this place.
    #[must_use]
    pub const fn key(&'p self, key: &'p str) -> Self {
        Self::Key(self, key)
    }

    /// An entry of the list at this place.
    #[must_use]
    pub const fn entry(&'p self, entry: usize) -> Self {
        Self::Entry(self, entry)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Top => Ok(()),
            Self::Told(text) => f.write_str(text),
            Self::Entry(up, entry) => write!(f, "{up}[{entry}]"),
            Self::Key(up, key) => {
                let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                let dot = if matches!(up, Self::Top) { "" } else { "." };
                if !key.is_empty() && key.chars().all(is_bare) {
                    write!(f, "{up}{dot}{key}")
                } else {
                    write!(f, "{up}{dot}{}", quoted(key))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_paths_of_keys() {
        let traffic = Place::Top.key("traffic");
        let entry = traffic.entry(3);
        assert_eq!(entry.key("from").to_string(), "traffic[3].from");
        assert_eq!(entry.key("a b").to_string(), "traffic[3].\"a b\"");
    }

    #[test]
    fn a_problem_counts_once_and_a_hundred_are_told() {
        let mut problems = Problems::default();
        for number in 0..103 {
            for _ in 0..2 {
                problems.add(&Place::Top.entry(number), "is wrong");
            }
        }
        let all = problems.into_told();
        assert_eq!(all.len(), 101);
        assert_eq!(all[100].to_string(), "and 3 more problems");
    }
}
