//! TOML text as plain data, every mistake of its syntax told with the line as it should be.
//!
//! The parser goes on behind a mistake. It reads TOML 1.1, of which 1.0 lacks line breaks and commas at the end of inline
//! tables, `\e` and `\x`.

use crate::node::{Node, Value};
use crate::problem::{MOST, Problem, and_more};
use crate::words::thousands;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Parts of a dotted key at most: a scenario needs ten.
const MOST_STEPS: usize = 64;
/// Values in a text at most. Twenty thousand flows with every default written out have that many.
const MOST_VALUES: usize = 500_000;
/// Characters of a line that is shown as it should be, at most.
const LONGEST_SHOWN: usize = 200;
/// Bits of a whole number that Python and people read as digits.
const MOST_DIGITS: usize = 40;

/// A mistake of the syntax.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxMistake {
    /// Line and column, from 1 on; none where it is about the whole text.
    pub position: Option<(usize, usize)>,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl From<SyntaxMistake> for Problem {
    fn from(mistake: SyntaxMistake) -> Self {
        refused(match mistake.position {
            Some((line, column)) => format!("line {line}, column {column}: {}", mistake.message),
            None => mistake.message,
        })
    }
}

/// The plain data in a TOML text.
///
/// # Errors
/// Every mistake of the syntax, one for each line at most; one if it has more steps or values than a scenario.
pub fn parse(text: &str) -> Result<Node, Vec<Problem>> {
    parse_with_positions(text).map_err(|mistakes| mistakes.into_iter().map(Problem::from).collect())
}

/// The same, with the positions of mistakes as numbers.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_positions(text: &str) -> Result<Node, Vec<SyntaxMistake>> {
    let (table, mut errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.span().map_or(0, |span| span.start));
        return Err(explained_by_line(&errors, text));
    }
    let extent = table.span();
    let node = Node { extent, value: of_table(table.into_inner()) };
    if depth(&node) > MOST_STEPS {
        return Err(vec![of_whole(too_deep())]);
    }
    if count(&node) > MOST_VALUES {
        let most = thousands(MOST_VALUES as u64);
        return Err(vec![of_whole(format!("has more than {most} values, so it is not a scenario"))]);
    }
    Ok(node)
}

/// The place in a text where a byte of it stands: line and column, from 1 on.
#[must_use]
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}

fn too_deep() -> String {
    format!(
        "a dotted key, or tables inside of each other, have more than {MOST_STEPS} parts, so it is not a scenario"
    )
}

const fn refused(message: String) -> Problem {
    Problem { place: String::new(), message }
}

const fn of_whole(message: String) -> SyntaxMistake {
    SyntaxMistake { position: None, message }
}

/// The first mistake of each line, given all in the order of the text; behind the first hundred, how many there are more.
fn explained_by_line(errors: &[toml::de::Error], text: &str) -> Vec<SyntaxMistake> {
    let mut mistakes = Vec::new();
    let (mut counted, mut start, mut line, mut last, mut more) = (0, 0, 1, 0, 0);
    for error in errors {
        let extent = error.span().unwrap_or(0..0);
        // From the mistake before: a text of a million wrong lines is read once.
        let at = (counted..=extent.start.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
        let at = at.unwrap_or(counted);
        line += text[counted..at].matches('\n').count();
        start = text[counted..at].rfind('\n').map_or(start, |newline| counted + newline + 1);
        counted = at;
        if line == last {
            continue;
        }
        last = line;
        if mistakes.len() == MOST {
            more += 1;
            continue;
        }
        let written = text[start..].lines().next().unwrap_or_default();
        let position = (line, text[start..at].chars().count() + 1);
        mistakes.push(explained(
            error.message(),
            position,
            written,
            text.get(extent.end..).unwrap_or_default(),
        ));
    }
    if more > 0 {
        mistakes.push(of_whole(and_more(more)));
    }
    mistakes
}

/// A mistake with its position, and the line as it would be where quotes are forgotten. `behind` is the text from its
/// end on.
fn explained(message: &str, position: (usize, usize), written: &str, behind: &str) -> SyntaxMistake {
    let message = message.strip_suffix(", expected literal string").unwrap_or(message);
    // Of values inside each other, and of parts of a key.
    if message.contains("recurs") {
        return of_whole(too_deep());
    }
    let is_open =
        message == "invalid basic string, expected `\"`" || message == "invalid literal string, expected `'`";
    let message = if is_open && (behind.is_empty() || behind.starts_with('\n')) {
        "the text in quotes does not end on its line".to_owned()
    } else {
        let hint = mended(written).map_or_else(String::new, |mended| format!("; write {mended}"));
        format!("not valid TOML: {message}{hint}")
    };
    SyntaxMistake { position: Some(position), message }
}

/// A line whose first text without quotes has them; none where there is none, or the line is long.
fn mended(line: &str) -> Option<String> {
    if line.len() > LONGEST_SHOWN {
        return None;
    }
    let bare = without_strings(line);
    let mut at = bare.find('=')?;
    loop {
        let begin = at + bare[at..].find(['=', '[', ','])? + 1;
        let start = begin + (bare[begin..].len() - bare[begin..].trim_start().len());
        let length =
            bare[start..].find([',', '"', '\'', '[', ']', '{', '}', '#', '=']).unwrap_or(bare.len() - start);
        let value = line[start..start + length].trim_end();
        let is_key = bare[start + length..].starts_with('=');
        if !is_key && !value.is_empty() && is_no_value(value) {
            let word = value.to_lowercase();
            let mended = if word == "true" || word == "false" { word } else { format!("\"{value}\"") };
            return Some(
                format!("{}{mended}{}", &line[..start], &line[start + value.len()..]).trim().to_owned(),
            );
        }
        at = start.max(begin);
    }
}

/// A line whose comments and texts in quotes are so many quotes.
fn without_strings(line: &str) -> String {
    let mut bare = String::new();
    let mut open: Option<char> = None;
    let mut escaped = false;
    for c in line.chars() {
        let hidden = "\"".repeat(c.len_utf8());
        match open {
            Some(quote) => {
                if c == quote && !escaped {
                    open = None;
                }
                escaped = quote == '"' && c == '\\' && !escaped;
                bare.push_str(&hidden);
            }
            None if c == '"' || c == '\'' || c == '#' => {
                // A comment lasts until the end of the line, which no such character ends.
                open = Some(if c == '#' { '\n' } else { c });
                bare.push_str(&hidden);
            }
            None => bare.push(c),
        }
    }
    bare
}

fn is_no_value(text: &str) -> bool {
    !DeTable::parse_recoverable(&format!("x = {text}")).1.is_empty()
}

fn depth(node: &Node) -> usize {
    match &node.value {
        Value::Table(entries) => 1 + entries.iter().map(|(_, entry)| depth(entry)).max().unwrap_or(0),
        Value::List(entries) => entries.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn count(node: &Node) -> usize {
    match &node.value {
        Value::Table(entries) => entries.iter().map(|(_, entry)| 1 + count(entry)).sum(),
        Value::List(entries) => entries.iter().map(|entry| 1 + count(entry)).sum(),
        _ => 0,
    }
}

fn of_table(table: DeTable<'_>) -> Value {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entries = entries.into_iter().map(|(key, value)| {
        let extent = value.span();
        (key.into_inner().into_owned(), Node { extent, value: of_value(value.into_inner()) })
    });
    Value::Table(entries.collect())
}

fn of_value(value: DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Boolean(value) => Value::Switch(value),
        DeValue::Integer(digits) => match i128::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(value) => Value::Integer(value),
            Err(_) if digits.as_str().len() <= MOST_DIGITS => Value::Huge(digits.as_str().to_owned()),
            Err(_) => Value::Huge(format!("a number of {} digits", digits.as_str().len())),
        },
        DeValue::Float(digits) => Value::Float(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Datetime(date) => Value::Other(date.to_string()),
        DeValue::Array(list) => Value::List(
            list.into_iter()
                .map(|entry| Node { extent: entry.span(), value: of_value(entry.into_inner()) })
                .collect(),
        ),
        DeValue::Table(table) => of_table(table),
    }
}

/// A key of a place as a message writes it, and what follows.
fn step(place: &str) -> (String, &str) {
    if let Some(rest) = place.strip_prefix('"') {
        let end = rest.find('"').unwrap_or(rest.len());
        return (rest[..end].to_owned(), rest.get(end + 1..).unwrap_or_default());
    }
    let end = place.find(['.', '[']).unwrap_or(place.len());
    (place[..end].to_owned(), &place[end..])
}

/// The bytes of the text that a place of a message means: those of the deepest value on the way there.
#[must_use]
pub fn extent_of(root: &Node, place: &str) -> Range<usize> {
    let (mut node, mut rest) = (root, place);
    while !rest.is_empty() {
        let below = if let Some(index) = rest.strip_prefix('[') {
            let (number, behind) = index.split_once(']').unwrap_or((index, ""));
            rest = behind;
            match &node.value {
                Value::List(entries) => number.parse().ok().and_then(|number: usize| entries.get(number)),
                _ => None,
            }
        } else {
            let (key, behind) = step(rest.strip_prefix('.').unwrap_or(rest));
            rest = behind;
            node.get(&key)
        };
        let Some(below) = below else { break };
        node = below;
    }
    node.extent.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        parse(text).expect_err("no TOML").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn forgotten_quotes_are_shown_in_their_line() {
        let cases = [
            ("duration = 1 s", "duration = \"1 s\""),
            ("topology = zoo/Abilene  # a map", "topology = \"zoo/Abilene\"  # a map"),
            ("delay = { from = distance, plus = '1 ms' }", "delay = { from = \"distance\", plus = '1 ms' }"),
            ("x = { from = \"a\", to = b }", "x = { from = \"a\", to = \"b\" }"),
            ("to = [\"a\", b c]", "to = [\"a\", \"b c\"]"),
            ("flow_series = True", "flow_series = true"),
        ];
        for (line, mended) in cases {
            let messages = told(&format!("x = 1\n{line}\ny = 2\n"));
            assert_eq!(messages.len(), 1, "{messages:?}");
            assert!(messages[0].starts_with("line 2, column "), "{messages:?}");
            assert!(messages[0].ends_with(&format!("; write {mended}")), "{messages:?}");
        }
    }

    #[test]
    fn every_mistake_is_told_once_a_line() {
        let messages = told("capacity = 10 Mbps\ndelay = 5 ms\n[x\n");
        let starts: Vec<_> = messages.iter().map(|line| line.split(':').next().unwrap_or_default()).collect();
        assert_eq!(starts, ["line 1, column 12", "line 2, column 9", "line 3, column 3"]);
        assert!(messages[0].ends_with("string values must be quoted; write capacity = \"10 Mbps\""));
    }

    #[test]
    fn text_that_does_not_end_says_so() {
        assert_eq!(
            told("a = \"b\nc = 1\n"),
            ["line 1, column 7: the text in quotes does not end on its line"]
        );
    }

    #[test]
    fn what_costs_is_refused_before_it_costs() {
        let deep = format!("{} = 1", ["a"; MOST_STEPS + 1].join("."));
        assert!(told(&deep)[0].contains("parts") || told(&deep)[0].contains("deeply"));
        assert_eq!(told(&format!("a = {}", "[".repeat(100_000)))[0], too_deep());
        let many = "[[traffic]]\n".repeat(MOST_VALUES + 1);
        assert_eq!(told(&many), ["has more than 500,000 values, so it is not a scenario"]);
    }

    #[test]
    fn places_lead_to_lines() {
        let text = "[network]\ntopology = \"line\"\n[[traffic]]\nfrom = \"a\"\nto = [\"b\",\n  \"c\"]\n";
        let root = parse(text).expect("TOML");
        let line = |place| line_and_column(text, extent_of(&root, place).start).0;
        assert_eq!(line("network.topology"), 2);
        assert_eq!(line("traffic[0].to[1]"), 6);
        assert_eq!(line("traffic[0].transport"), 3, "what is missing stands in its table");
    }
}
