//! How messages show what was read, and what they say about names that are not known.

use crate::node::Node;
use std::fmt::Write;

/// Characters of a text that a message shows at most.
const SHOWN: usize = 60;
/// Keys that a message lists at most.
const LISTED_KEYS: usize = 40;
/// How alike two names must be for one to stand for the other (Ratcliff and Metzener 1988).
const ALIKE: f64 = 0.6;

/// A text, cut to a readable length.
#[must_use]
pub fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN - 3).chain("...".chars()).collect()
}

/// A text in double quotes, as TOML writes it, cut to a readable length.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// Several texts in double quotes, with commas between them.
#[must_use]
pub fn all_quoted<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// A number as Python and most people write it: `0.1`, `1e-07`, `5.0`.
#[must_use]
pub fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    let text = format!("{value:?}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// A number with six significant digits at most, as C's `%g` writes it.
#[must_use]
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { float(value) };
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        return trimmed(&format!("{value:.*}", usize::try_from(5 - exponent).unwrap_or(0)));
    }
    format!("{}e{}{:0>2}", trimmed(digits), if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// A whole number with commas between thousands.
#[must_use]
pub fn thousands(value: impl Into<u128>) -> String {
    let digits = value.into().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Names as a sentence has them: `a, b and c`.
#[must_use]
pub fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// The candidate nearest to a name, or none where none is near; case and blanks at the ends do not count.
///
/// Likeness is twice the number of characters that match over that of all. Among candidates that are alike by the same
/// number, the one whose text is largest is taken.
#[must_use]
pub fn suggest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let plain = |text: &str| text.trim().to_lowercase().chars().collect::<Vec<char>>();
    let wanted = plain(name);
    let mut best: Option<(f64, Vec<char>, &str)> = None;
    for candidate in candidates {
        let chars = plain(candidate);
        if chars == wanted {
            return Some(candidate);
        }
        let alike = 2.0 * matching(&chars, &wanted) as f64 / (chars.len() + wanted.len()) as f64;
        let nearer = best
            .as_ref()
            .is_none_or(|(most, of, _)| alike > *most || (alike.to_bits() == most.to_bits() && chars > *of));
        if alike >= ALIKE && nearer {
            best = Some((alike, chars, candidate));
        }
    }
    best.map(|(_, _, candidate)| candidate)
}

/// Characters in the longest common block, and in those on both sides of it.
fn matching(a: &[char], b: &[char]) -> usize {
    let (mut start, mut other, mut length) = (0, 0, 0);
    let mut before = vec![0; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![0; b.len() + 1];
        for (j, y) in b.iter().enumerate() {
            if x == y {
                row[j + 1] = before[j] + 1;
                if row[j + 1] > length {
                    length = row[j + 1];
                    (start, other) = (i + 1 - length, j + 1 - length);
                }
            }
        }
        before = row;
    }
    if length == 0 {
        return 0;
    }
    length + matching(&a[..start], &b[..other]) + matching(&a[start + length..], &b[other + length..])
}

/// What to say about a key that a table does not have.
#[must_use]
pub fn unknown_key(key: &str, keys: &[&str]) -> String {
    match suggest(key, keys.iter().copied()) {
        Some(near) => format!("no such key; nearest: {}", quoted(near)),
        None if keys.is_empty() => "no such key".into(),
        None => format!("no such key; there are {}", keys[..keys.len().min(LISTED_KEYS)].join(", ")),
    }
}

/// What to say about a value that is none of the choices.
#[must_use]
pub fn unknown_choice(read: &Node, choices: &[&str]) -> String {
    not_among(&read.shown(), read.text(), choices)
}

/// What to say about a name that is none of the choices.
#[must_use]
pub fn unknown_name(name: &str, choices: &[&str]) -> String {
    not_among(&quoted(name), Some(name), choices)
}

fn not_among(shown: &str, name: Option<&str>, choices: &[&str]) -> String {
    let listed = all_quoted(choices.iter().copied());
    let mut message = format!("{shown} is not known; ");
    if choices.len() == 1 {
        let _ = write!(message, "it must be {listed}");
        return message;
    }
    if let Some(near) = name.and_then(|text| suggest(text, choices.iter().copied())) {
        let _ = write!(message, "nearest: {}; ", quoted(near));
    }
    let _ = write!(message, "there are {listed}");
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What CPython 3.11 writes: repr of floats, and format with `g`.
    #[test]
    fn numbers_are_written_as_python_writes_them() {
        let cases = [(0.1, "0.1"), (1e-7, "1e-07"), (5.0, "5.0"), (1e22, "1e+22"), (1.5e-10, "1.5e-10")];
        for (value, text) in cases {
            assert_eq!(float(value), text);
        }
        let cases = [
            (0.015, "0.015"),
            (1.0, "1"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_012_5, "1.25e-05"),
            (0.1 + 0.2, "0.3"),
            (0.0, "0"),
            (-2.5, "-2.5"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!(thousands(1_234_567u64), "1,234,567");
        assert_eq!(thousands(12u64), "12");
    }

    /// What CPython's difflib.get_close_matches gives, with a cutoff of 0.6.
    #[test]
    fn the_nearest_name_is_that_of_difflib() {
        assert_eq!(suggest("capcity", ["capacity", "delay"]), Some("capacity"));
        assert_eq!(suggest("Seatle", ["Denver", "Seattle"]), Some("Seattle"));
        assert_eq!(suggest("zipf", ["uniform", "pareto"]), None);
        assert_eq!(suggest(" DELAY ", ["delay"]), Some("delay"));
        assert_eq!(suggest("abcd", ["abcx", "abcy"]), Some("abcy"));
    }
}
