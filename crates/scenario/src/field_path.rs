//! Paths of fields, as studies and `--set` write them: `traffic[0].flows`.

use crate::words::quoted;

/// Parts of a path at most: a scenario needs ten.
const MOST_STEPS: usize = 64;
/// Digits of a place in a list at most.
const MOST_DIGITS: usize = 6;

/// A part of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A key of a table.
    Key(String),
    /// A place in a list, from 0 on.
    Entry(usize),
}

/// The parts of a path.
///
/// # Errors
/// What is wrong with it, where it is none.
pub fn field_path(text: &str) -> Result<Vec<Step>, String> {
    let wrong = || {
        format!("{} is not a field; write one like network.links.capacity or traffic[0].flows", quoted(text))
    };
    let mut steps = Vec::new();
    for part in text.split('.') {
        let mut rest = part;
        if rest.is_empty() {
            return Err(wrong());
        }
        while !rest.is_empty() {
            let (step, behind) = step(rest).ok_or_else(wrong)?;
            steps.push(step);
            rest = behind;
        }
        if steps.len() > MOST_STEPS {
            return Err(format!("{} is not a field: it has more than {MOST_STEPS} parts", quoted(text)));
        }
    }
    match steps.first() {
        Some(Step::Entry(_)) => Err(format!("{} leads to no place in the scenario", quoted(text))),
        _ => Ok(steps),
    }
}

/// The first part of a text, and what is behind it.
fn step(text: &str) -> Option<(Step, &str)> {
    let Some(inside) = text.strip_prefix('[') else {
        let end = text.find(['[', ']']).unwrap_or(text.len());
        return (end > 0).then(|| (Step::Key(text[..end].to_owned()), &text[end..]));
    };
    let (digits, behind) = inside.split_once(']')?;
    let is_number =
        !digits.is_empty() && digits.len() <= MOST_DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().ok().map(|number| (Step::Entry(number), behind)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_keys_and_places() {
        let key = |text: &str| Step::Key(text.to_owned());
        assert_eq!(field_path("run.seed"), Ok(vec![key("run"), key("seed")]));
        assert_eq!(field_path("traffic[0].flows"), Ok(vec![key("traffic"), Step::Entry(0), key("flows")]));
        for wrong in ["", "a.", ".a", "a[", "a[x]", "a[1234567]", "a]", "a..b"] {
            assert!(field_path(wrong).is_err(), "{wrong}");
        }
        assert_eq!(field_path("[0].a"), Err("\"[0].a\" leads to no place in the scenario".into()));
        assert!(field_path(&vec!["a"; 65].join(".")).is_err_and(|message| message.contains("more than 64")));
    }
}
