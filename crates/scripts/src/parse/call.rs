//! A line with a call of the application: `write(4, ..., 1000) = 1000`.

use super::Parsed;
use crate::cursor::Cursor;
use crate::options::Definitions;
use crate::script::{Action, Argument, Call, CallResult, ScriptError};

/// Lists lie within each other so deep at most.
const DEEPEST: usize = 64;
/// Largest number in a call.
const LARGEST: u64 = i64::MAX as u64;

pub(super) fn read(cursor: &mut Cursor<'_>, definitions: &Definitions) -> Result<Parsed, ScriptError> {
    let name = cursor.word().to_owned();
    cursor.skip_space()?;
    cursor.expect("(")?;
    let mut reader = Reader { cursor, definitions };
    let arguments = reader.arguments(")", 0)?;
    reader.cursor.skip_space()?;
    reader.cursor.expect("=")?;
    reader.cursor.skip_blanks();
    let result = reader.result()?;
    Ok(Parsed::Known(Action::Call(Call { name, arguments, result })))
}

struct Reader<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    definitions: &'c Definitions,
}

impl Reader<'_, '_> {
    fn arguments(&mut self, end: &str, depth: usize) -> Result<Vec<Argument>, ScriptError> {
        let mut arguments = Vec::new();
        self.separated(end, depth, |reader| {
            arguments.push(reader.argument(depth)?);
            Ok(())
        })?;
        Ok(arguments)
    }

    /// Whatever stands between commas up to `end`, which is passed.
    fn separated(
        &mut self,
        end: &str,
        depth: usize,
        mut read: impl FnMut(&mut Self) -> Result<(), ScriptError>,
    ) -> Result<(), ScriptError> {
        if depth > DEEPEST {
            return Err(self.cursor.error(format!("lists lie within each other {DEEPEST} deep at most")));
        }
        loop {
            self.cursor.skip_space()?;
            if self.cursor.eat(end) {
                return Ok(());
            }
            read(self)?;
            self.cursor.skip_space()?;
            if !self.cursor.eat(",") && !self.cursor.rest().starts_with(end) {
                let message = format!("expected a comma or {end:?}, {}", self.cursor.found());
                return Err(self.cursor.error(message));
            }
        }
    }

    /// A value, or several joined by `|`.
    fn argument(&mut self, depth: usize) -> Result<Argument, ScriptError> {
        let first = self.value(depth)?;
        let mut joined: Option<String> = None;
        loop {
            self.cursor.skip_space()?;
            if !self.cursor.eat("|") {
                return Ok(joined.map_or(first, Argument::Name));
            }
            self.cursor.skip_space()?;
            let begin = joined.take().map_or_else(|| self.constant(&first), Ok)?;
            let next = self.value(depth)?;
            joined = Some(format!("{begin}|{}", self.constant(&next)?));
        }
    }

    /// A constant as it is written.
    fn constant(&self, argument: &Argument) -> Result<String, ScriptError> {
        match argument {
            Argument::Name(name) => Ok(name.clone()),
            Argument::Number(number) => Ok(number.to_string()),
            _ => Err(self.cursor.error("only constants and numbers are joined by |")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Argument, ScriptError> {
        let place = self.cursor.place();
        match self.cursor.peek() {
            Some('.') => self.cursor.expect("...").map(|()| Argument::Any),
            Some('[') => {
                let _ = self.cursor.advance();
                Ok(Argument::List(self.arguments("]", depth + 1)?))
            }
            Some('{') => {
                let _ = self.cursor.advance();
                self.structure(depth + 1)
            }
            Some('"') => self.text(),
            Some('-') => {
                let _ = self.cursor.advance();
                Ok(Argument::Number(-(self.cursor.number("a number", LARGEST)? as i64)))
            }
            Some(c) if c.is_ascii_digit() => {
                Ok(Argument::Number(self.cursor.number("a number", LARGEST)? as i64))
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(depth),
            _ => {
                let message = format!("expected an argument or ..., {}", self.cursor.found());
                Err(ScriptError::at(place, message))
            }
        }
    }

    /// Texts beside each other are one; `"text"...` is the beginning of one.
    fn text(&mut self) -> Result<Argument, ScriptError> {
        let mut text = String::new();
        while self.cursor.peek() == Some('"') {
            let _ = self.cursor.advance();
            text += self.cursor.until("\"")?;
            self.cursor.skip_space()?;
        }
        let _ = self.cursor.eat("...");
        Ok(Argument::Text(text))
    }

    /// `NAME`, `inet_addr("192.0.2.1")`, `NAME = value`, or what the name is defined as.
    fn name(&mut self, depth: usize) -> Result<Argument, ScriptError> {
        let word = self.cursor.word();
        if let Some(value) = self.definitions.value(word) {
            return Ok(value);
        }
        let mut name = word.to_owned();
        self.cursor.skip_space()?;
        if self.cursor.eat("(") {
            name = format!("{name}({})", self.cursor.until(")")?);
        } else if self.cursor.rest().starts_with('=') && depth > 0 {
            let _ = self.cursor.eat("=");
            self.cursor.skip_space()?;
            let value = self.argument(depth + 1)?;
            return Ok(Argument::Structure(vec![(name, value)]));
        }
        Ok(Argument::Name(name))
    }

    /// `{fd=4, events=POLLIN}`, `{..., 40}`, `{msg_name(...)=..., msg_flags=0}`; headers of other protocols as a text.
    fn structure(&mut self, depth: usize) -> Result<Argument, ScriptError> {
        self.cursor.skip_space()?;
        if self.cursor.rest().starts_with("flags ")
            || self.cursor.rest().starts_with("flags[")
            || self.cursor.rest().starts_with('(')
        {
            let text = self.cursor.until("}")?;
            return Ok(Argument::Name(format!("{{{text}}}")));
        }
        let mut fields = Vec::new();
        self.separated("}", depth, |reader| {
            fields.push(reader.field(depth)?);
            Ok(())
        })?;
        Ok(Argument::Structure(fields))
    }

    fn field(&mut self, depth: usize) -> Result<(String, Argument), ScriptError> {
        let named = self.cursor.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !named {
            return Ok((String::new(), self.argument(depth)?));
        }
        let rest = self.cursor.rest();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = rest[..length].to_owned();
        // The number of what follows, as in msg_iov(1), stands there for the reader.
        let behind = rest[length..].trim_start();
        let counted = behind.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        let begins = counted.map_or(behind, |(_, behind)| behind).trim_start();
        if !begins.starts_with('=') {
            return Ok((String::new(), self.argument(depth)?));
        }
        let _ = self.cursor.until("=")?;
        self.cursor.skip_space()?;
        Ok((name, self.argument(depth)?))
    }

    /// `0`, `-1 EAGAIN (text)`, `0x2 (flags O_RDWR)`, `?`, `...`
    fn result(&mut self) -> Result<CallResult, ScriptError> {
        let cursor = &mut *self.cursor;
        if cursor.eat("?") || cursor.eat("...") {
            return Ok(CallResult::Any);
        }
        let negative = cursor.eat("-");
        let value = cursor.number("the result of the call", LARGEST)? as i64;
        cursor.skip_blanks();
        let place = cursor.place();
        let errno = cursor.word();
        cursor.skip_blanks();
        if cursor.eat("(") {
            let _ = cursor.until(")")?;
        }
        match (negative, value, errno) {
            (true, 1, "") => Ok(CallResult::AnyError),
            (true, 1, errno) => Ok(CallResult::Error(errno.to_owned())),
            (_, _, "") => Ok(CallResult::Value(if negative { -value } else { value })),
            _ => Err(ScriptError::at(
                place,
                format!("{errno:?} is no end of a call; an error is written -1 EAGAIN"),
            )),
        }
    }
}
