//! A place in the text of a script.

use crate::script::{Place, ScriptError};

/// Reads a text from its beginning to its end, and knows line and column.
pub(crate) struct Cursor<'a> {
    rest: &'a str,
    place: Place,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text, place: Place { line: 1, column: 1 } }
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Goes on behind the next character.
    pub(crate) fn advance(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        if next == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        Some(next)
    }

    /// Goes on behind `text` if it comes next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let comes = self.rest.starts_with(text);
        if comes {
            text.chars().for_each(|_| {
                let _ = self.advance();
            });
        }
        comes
    }

    pub(crate) fn expect(&mut self, text: &str) -> Result<(), ScriptError> {
        if self.eat(text) { Ok(()) } else { Err(self.error(format!("expected {text:?}, {}", self.found()))) }
    }

    /// What comes next, for messages.
    pub(crate) fn found(&self) -> String {
        match self.peek() {
            None => "found the end of the script".into(),
            Some('\n' | '\r') => "found the end of the line".into(),
            Some(_) => {
                let word: String = self.rest.chars().take_while(|c| !c.is_whitespace()).take(20).collect();
                format!("found {word:?}")
            }
        }
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> ScriptError {
        ScriptError::at(self.place, message)
    }

    /// Characters that are of a kind, possibly none.
    pub(crate) fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(|c| !is(c)).unwrap_or(self.rest.len());
        let taken = &self.rest[..length];
        taken.chars().for_each(|_| {
            let _ = self.advance();
        });
        taken
    }

    /// A name: letters, digits and underscores, possibly none.
    pub(crate) fn word(&mut self) -> &'a str {
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Everything up to `end`, which is passed.
    pub(crate) fn until(&mut self, end: &str) -> Result<&'a str, ScriptError> {
        let Some(length) = self.rest.find(end) else {
            return Err(self.error(format!("{end:?} is missing: what begins here has no end")));
        };
        let taken = &self.rest[..length];
        taken.chars().for_each(|_| {
            let _ = self.advance();
        });
        let _ = self.eat(end);
        Ok(taken)
    }

    pub(crate) fn skip_blanks(&mut self) {
        let _ = self.take_while(|c| c == ' ' || c == '\t' || c == '\r');
    }

    /// Passes white space, line ends and comments.
    pub(crate) fn skip_space(&mut self) -> Result<(), ScriptError> {
        loop {
            let _ = self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") || self.rest.starts_with('#') {
                let _ = self.take_while(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                let _ = self.until("*/")?;
            } else {
                return Ok(());
            }
        }
    }

    /// A whole number, decimal or hexadecimal, up to `most`.
    pub(crate) fn number(&mut self, what: &str, most: u64) -> Result<u64, ScriptError> {
        let begin = self.place;
        let (digits, radix) = if self.eat("0x") {
            (self.take_while(|c| c.is_ascii_hexdigit()), 16)
        } else {
            (self.take_while(|c| c.is_ascii_digit()), 10)
        };
        if digits.is_empty() {
            return Err(ScriptError::at(begin, format!("expected {what}, {}", self.found())));
        }
        match u64::from_str_radix(digits, radix) {
            Ok(value) if value <= most => Ok(value),
            _ => Err(ScriptError::at(begin, format!("{what} is {digits}; at most {most} is possible"))),
        }
    }
}
