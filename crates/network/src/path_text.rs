//! The text of a path: `a > b > c#2`, nodes in their order, with the number of a parallel link behind the node that it
//! leads to.
//!
//! Everything that writes or reads a path does so here: results, tables, exports and files of routes. A name that would
//! be taken for something else stands in quotation marks, with the escapes of JSON (RFC 8259, section 7).

use crate::Network;
use anabranch_units::LinkId;
use std::borrow::Cow;
use std::fmt::Write;
use thiserror::Error;

const SEPARATOR: char = '>';
const QUOTE: char = '"';
/// Digits that the number of a parallel link may have.
const MOST_DIGITS: usize = 9;

/// A node on a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathNode<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Which of parallel links leads to it, from 1 on.
    pub link: usize,
}

/// Why a text is no path.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PathTextError {
    /// Two separators with nothing between them, or one at an end.
    #[error("a node has no name")]
    NoName,
    /// A quotation mark without its partner, or an escape that JSON lacks.
    #[error("the name that begins with {0} has no end")]
    Unclosed(String),
    /// Something that is no separator behind a name.
    #[error("{0:?} follows a name in quotation marks")]
    Behind(String),
}

/// Writes the nodes of a path.
pub fn path_text<'a>(nodes: impl IntoIterator<Item = PathNode<'a>>) -> String {
    let mut text = String::new();
    for node in nodes {
        if !text.is_empty() {
            text.push_str(" > ");
        }
        push_name(&mut text, &node.name);
        if node.link > 1 {
            let _ = write!(text, "#{}", node.link);
        }
    }
    text
}

/// Reads the nodes of a path; blanks around the separators count for nothing.
///
/// # Errors
/// If the text is no path.
pub fn read_path(text: &str) -> Result<Vec<PathNode<'static>>, PathTextError> {
    let mut nodes = Vec::new();
    let mut rest = text;
    loop {
        let (name, behind) = name_at(rest.trim_start())?;
        let (number, behind) = behind.split_once(SEPARATOR).map_or((behind, None), |(a, b)| (a, Some(b)));
        let number = number.trim();
        let (name, number) = match name {
            Cow::Borrowed(bare) => numbered(bare.trim()),
            Cow::Owned(quoted) if number.is_empty() => (quoted, 1),
            Cow::Owned(quoted) => match numbered(number) {
                (nothing, link) if nothing.is_empty() => (quoted, link),
                _ => return Err(PathTextError::Behind(number.to_owned())),
            },
        };
        if name.is_empty() && !rest.trim_start().starts_with(QUOTE) {
            return Err(PathTextError::NoName);
        }
        nodes.push(PathNode { name: Cow::Owned(name), link: number });
        match behind {
            Some(more) => rest = more,
            None => return Ok(nodes),
        }
    }
}

/// The name that a text begins with, owned where it stood in quotation marks, and what is behind it.
fn name_at(text: &str) -> Result<(Cow<'_, str>, &str), PathTextError> {
    let Some(quoted) = text.strip_prefix(QUOTE) else {
        let (name, rest) = text.split_at(text.find(SEPARATOR).unwrap_or(text.len()));
        return Ok((Cow::Borrowed(name), rest));
    };
    let unclosed = || PathTextError::Unclosed(text.chars().take(20).collect());
    let mut name = String::new();
    let mut chars = quoted.chars();
    loop {
        match chars.next().ok_or_else(unclosed)? {
            QUOTE => return Ok((Cow::Owned(name), chars.as_str())),
            '\\' => match chars.next().ok_or_else(unclosed)? {
                same @ (QUOTE | '\\') => name.push(same),
                'u' => {
                    let digits = chars.as_str().get(..4).ok_or_else(unclosed)?;
                    let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                    name.push(code.ok_or_else(unclosed)?);
                    chars = chars.as_str()[4..].chars();
                }
                _ => return Err(unclosed()),
            },
            other => name.push(other),
        }
    }
}

/// A name, and the number of a parallel link behind it.
fn numbered(text: &str) -> (String, usize) {
    number_behind(text).map_or((text.to_owned(), 1), |(name, link)| (name.to_owned(), link))
}

fn number_behind(text: &str) -> Option<(&str, usize)> {
    let (name, digits) = text.rsplit_once('#')?;
    let is_number = digits.len() <= MOST_DIGITS
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    if is_number { digits.parse().ok().map(|link| (name, link)) } else { None }
}

fn push_name(text: &mut String, name: &str) {
    // All that ends a line for one reader or another.
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let is_plain = !name.is_empty()
        && name.trim() == name
        && !name.contains(|c| c == SEPARATOR || c == QUOTE || breaks(c))
        && number_behind(name).is_none();
    if is_plain {
        text.push_str(name);
        return;
    }
    text.push(QUOTE);
    for c in name.chars() {
        if c == QUOTE || c == '\\' {
            text.push('\\');
            text.push(c);
        } else if breaks(c) {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text.push(QUOTE);
}

impl Network {
    /// The text of a path over these links, which join.
    #[must_use]
    pub fn path_text(&self, links: &[LinkId]) -> String {
        let first = links.first().map(|&link| self.link(link).from);
        let first =
            first.map(|node| PathNode { name: Cow::Borrowed(self.node(node).name.as_str()), link: 1 });
        let others = links.iter().map(|&link| PathNode {
            name: Cow::Borrowed(self.node(self.link(link).to).name.as_str()),
            link: self.number_among_parallel(link),
        });
        path_text(first.into_iter().chain(others))
    }

    /// Which of the links between its nodes a link is, from 1 on.
    #[must_use]
    pub fn number_among_parallel(&self, id: LinkId) -> usize {
        let link = self.link(id);
        let earlier = self.links_out(link.from).iter().filter(|&&other| other < id);
        1 + earlier.filter(|&&other| self.link(other).to == link.to).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nodes(named: &[(&'static str, usize)]) -> Vec<PathNode<'static>> {
        named.iter().map(|&(name, link)| PathNode { name: Cow::Borrowed(name), link }).collect()
    }

    #[test]
    fn plain_names_stand_as_they_are() {
        let path = nodes(&[("New York", 1), ("a-b", 2), ("Zürich", 1), ("#", 1), ("a#0", 1), ("it's", 3)]);
        let text = "New York > a-b#2 > Zürich > # > a#0 > it's#3";
        assert_eq!(path_text(path.clone()), text);
        assert_eq!(read_path(text), Ok(path));
    }

    #[test]
    fn names_that_look_like_something_else_are_quoted() {
        let path = nodes(&[
            ("a>b", 1),
            (" x", 2),
            ("a#2", 1),
            ("a#2", 3),
            ("say \"\\\"", 1),
            ("", 1),
            ("1\n2\u{2028}", 1),
        ]);
        let text = r##""a>b" > " x"#2 > "a#2" > "a#2"#3 > "say \"\\\"" > "" > "1\u000a2\u2028""##;
        assert_eq!(path_text(path.clone()), text);
        assert_eq!(read_path(text), Ok(path));
    }

    #[test]
    fn blanks_around_separators_count_for_nothing() {
        assert_eq!(read_path(" a>b  >  \"c\" #2 "), Ok(nodes(&[("a", 1), ("b", 1), ("c", 2)])));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in ["", "a > ", " > a", "a >> b"] {
            assert_eq!(read_path(text), Err(PathTextError::NoName), "{text}");
        }
        for text in ["\"a", "\"a\\", "\"a\\n\"", "\"\\u12\"", "\"\\ud800\""] {
            assert!(matches!(read_path(text), Err(PathTextError::Unclosed(_))), "{text}");
        }
        assert_eq!(read_path("\"a\"b > c"), Err(PathTextError::Behind("b".to_owned())));
    }

    proptest! {
        #[test]
        fn every_path_is_read_back(path in prop::collection::vec((any::<String>(), 1usize..1000), 1..6)) {
            let path: Vec<_> =
                path.into_iter().map(|(name, link)| PathNode { name: Cow::Owned(name), link }).collect();
            prop_assert_eq!(read_path(&path_text(path.clone())), Ok(path));
        }

        #[test]
        fn reading_never_panics(text in "[a >\"\\\\#u0-9é]{0,20}") {
            let _ = read_path(&text);
        }
    }
}
