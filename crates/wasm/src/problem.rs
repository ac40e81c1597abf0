//! What is wrong with a scenario, each mistake with its line and column.

use anabranch_engine::EngineError;
use anabranch_scenario::node::Node;
use anabranch_scenario::problem::Problem;
use anabranch_scenario::setup::FlowColumns;
use anabranch_scenario::toml_text::{SyntaxMistake, extent_of, line_and_column};

/// A mistake of a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocatedProblem {
    /// Its place as a path of keys, such as `traffic[0].from`; empty for the whole, and for mistakes of the syntax.
    pub place: String,
    /// What is wrong, and what would be right.
    pub message: String,
    /// Line and column in the text, in characters from 1 on; none where it is about the whole text.
    pub position: Option<(usize, usize)>,
}

impl From<SyntaxMistake> for LocatedProblem {
    fn from(mistake: SyntaxMistake) -> Self {
        Self { place: String::new(), message: mistake.message, position: mistake.position }
    }
}

impl std::fmt::Display for LocatedProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((line, column)) = self.position {
            write!(f, "line {line}, column {column}: ")?;
        }
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

/// A text and the plain data in it.
#[derive(Clone, Copy)]
pub struct Document<'d> {
    /// The text.
    pub text: &'d str,
    /// The data.
    pub root: &'d Node,
}

impl Document<'_> {
    /// Mistakes with their positions.
    #[must_use]
    pub fn locate(self, problems: Vec<Problem>) -> Vec<LocatedProblem> {
        let located = |problem: Problem| {
            let place = problem.place.clone();
            self.locate_at(problem, &place)
        };
        problems.into_iter().map(located).collect()
    }

    /// A mistake with the position of a place that is written otherwise in it.
    fn locate_at(self, problem: Problem, place: &str) -> LocatedProblem {
        let position =
            (!place.is_empty()).then(|| line_and_column(self.text, extent_of(self.root, place).start));
        LocatedProblem { place: problem.place, message: problem.message, position }
    }

    /// What the engine refuses; it numbers flows, and a scenario has entries of traffic.
    #[must_use]
    pub fn refused(self, error: &EngineError, flows: &FlowColumns) -> LocatedProblem {
        let EngineError::Setup(refused) = error else {
            return LocatedProblem { place: String::new(), message: error.to_string(), position: None };
        };
        let of_flow = numbered(&refused.place, "flows").and_then(|(number, field)| {
            let entry = flows.entries.get(*flows.entry.get(number)? as usize)?;
            Some((format!("{}.{}", entry.name, flows.number[number]), entry.name.as_str(), field))
        });
        let Some((flow, entry, field)) = of_flow else {
            let place = refused.place.clone();
            return self.locate_at(
                Problem { place: refused.place.clone(), message: refused.problem.clone() },
                &place,
            );
        };
        let place = if field.is_empty() { flow } else { format!("{field} of the flow {flow}") };
        let traffic = self.root.get("traffic").map_or(0, |traffic| self.entry_named(traffic, entry));
        let problem = Problem { place, message: refused.problem.clone() };
        self.locate_at(problem, &format!("traffic[{traffic}].{field}"))
    }

    /// The place of the entry of the traffic with a name; without one it is called after its place.
    fn entry_named(self, traffic: &Node, name: &str) -> usize {
        let anabranch_scenario::node::Value::List(entries) = &traffic.value else { return 0 };
        let is_named = |(place, entry): (usize, &Node)| match entry.get("name").and_then(Node::text) {
            Some(given) => given == name,
            None => format!("traffic[{place}]") == name,
        };
        entries.iter().enumerate().position(is_named).unwrap_or(0)
    }
}

/// The number and the field of a place such as `flows[3].to`.
fn numbered<'p>(place: &'p str, list: &str) -> Option<(usize, &'p str)> {
    let (number, field) = place.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?;
    Some((number.parse().ok()?, field.strip_prefix('.').unwrap_or(field)))
}
