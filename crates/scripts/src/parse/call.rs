//! A line with a call of the application: `write(4, ..., 1000) = 1000`.

use super::Parsed;
use crate::cursor::Cursor;
use crate::script::{Action, Argument, Call, CallResult, ScriptError};

/// Lists lie within each other so deep at most.
const DEEPEST: usize = 64;
/// Largest number in a call.
const LARGEST: u64 = i64::MAX as u64;

pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Parsed, ScriptError> {
    let name = cursor.word().to_owned();
    cursor.skip_blanks();
    cursor.expect("(")?;
    let arguments = read_arguments(cursor, ")", 0)?;
    cursor.skip_space()?;
    cursor.expect("=")?;
    cursor.skip_blanks();
    let result = read_result(cursor)?;
    Ok(Parsed::Known(Action::Call(Call { name, arguments, result })))
}

fn read_arguments(cursor: &mut Cursor<'_>, end: &str, depth: usize) -> Result<Vec<Argument>, ScriptError> {
    if depth > DEEPEST {
        return Err(cursor.error(format!("lists lie within each other {DEEPEST} deep at most")));
    }
    let mut arguments = Vec::new();
    loop {
        cursor.skip_space()?;
        if cursor.eat(end) {
            return Ok(arguments);
        }
        arguments.push(read_argument(cursor, depth)?);
        cursor.skip_space()?;
        if !cursor.eat(",") && !cursor.rest().starts_with(end) {
            return Err(cursor.error(format!("expected a comma or {end:?}, {}", cursor.found())));
        }
    }
}

fn read_argument(cursor: &mut Cursor<'_>, depth: usize) -> Result<Argument, ScriptError> {
    let place = cursor.place();
    match cursor.peek() {
        Some('.') => cursor.expect("...").map(|()| Argument::Any),
        Some('[') => {
            let _ = cursor.advance();
            Ok(Argument::List(read_arguments(cursor, "]", depth + 1)?))
        }
        // Structures: their fields are not looked at one by one.
        Some('{') => {
            let _ = cursor.advance();
            let mut depth = 1;
            let mut text = String::from("{");
            while depth > 0 {
                let Some(next) = cursor.advance() else {
                    return Err(ScriptError::at(place, "\"}\" is missing: what begins here has no end"));
                };
                depth += i32::from(next == '{') - i32::from(next == '}');
                text.push(next);
            }
            Ok(Argument::Name(text))
        }
        Some('"') => {
            let _ = cursor.advance();
            Ok(Argument::Name(cursor.until("\"")?.to_owned()))
        }
        Some('-') => {
            let _ = cursor.advance();
            Ok(Argument::Number(-(cursor.number("a number", LARGEST)? as i64)))
        }
        Some(c) if c.is_ascii_digit() => Ok(Argument::Number(cursor.number("a number", LARGEST)? as i64)),
        Some(c) if c.is_ascii_alphabetic() || c == '_' => {
            let text = cursor.take_while(|c| c.is_ascii_alphanumeric() || "_| ".contains(c));
            let mut text = text.trim().to_owned();
            if cursor.rest().starts_with('(') {
                let _ = cursor.advance();
                text = format!("{text}({})", cursor.until(")")?);
            }
            Ok(Argument::Name(text))
        }
        _ => Err(ScriptError::at(place, format!("expected an argument or ..., {}", cursor.found()))),
    }
}

/// `0`, `-1 EAGAIN (text)`, `0x2 (flags O_RDWR)`, `?`
fn read_result(cursor: &mut Cursor<'_>) -> Result<CallResult, ScriptError> {
    if cursor.eat("?") {
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
        (true, 1, errno) if !errno.is_empty() => Ok(CallResult::Error(errno.to_owned())),
        (_, _, "") => Ok(CallResult::Value(if negative { -value } else { value })),
        _ => Err(ScriptError::at(
            place,
            format!("{errno:?} is no end of a call; an error is written -1 EAGAIN"),
        )),
    }
}
