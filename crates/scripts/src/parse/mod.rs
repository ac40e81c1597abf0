//! The text of a script into its events.

mod call;
mod code;
mod packet;

use crate::cursor::Cursor;
use crate::options::ScriptChoices;
use crate::play::PATIENCE;
use crate::script::{Action, Event, Moment, Place, Script, ScriptError, When};
use anabranch_units::Span;

/// The longest time in a script: ten days.
const LONGEST_SECONDS: u64 = 864_000;
/// The longest time of all events together: clocks of the connection go on beyond it.
const LONGEST_SCRIPT: Span = Span::from_secs(100 * 86_400);
/// Picoseconds of a second have so many digits behind the point.
const DIGITS: usize = 12;

/// What an event turns out to be.
pub(crate) enum Parsed {
    Known(Action),
    /// The model has no notion of it.
    Beyond(String),
}

impl Script {
    /// Reads a script. `choices` are those of the command line; the script's own come on top of them.
    ///
    /// # Errors
    /// The first mistake, with line and column.
    pub fn parse(text: &str, choices: &ScriptChoices) -> Result<Self, ScriptError> {
        let mut cursor = Cursor::new(text.strip_prefix('\u{feff}').unwrap_or(text));
        let mut script = Self { choices: choices.clone(), events: Vec::new(), beyond: None };
        read_options(&mut cursor, &mut script)?;
        loop {
            cursor.skip_space()?;
            if cursor.is_at_end() {
                break;
            }
            read_event(&mut cursor, &mut script)?;
        }
        script.check_length()?;
        script.choices.settle().map_err(|(place, message)| ScriptError::at(place, message))?;
        if script.events.is_empty() && script.beyond.is_none() {
            return Err(cursor.error("the script has no events"));
        }
        Ok(script)
    }

    /// Times add up at worst.
    fn check_length(&self) -> Result<(), ScriptError> {
        let mut length = Span::ZERO;
        for event in &self.events {
            length = length.saturating_add(match event.when {
                When::At(moment) | When::Between(_, moment) => moment.span,
                When::Any => PATIENCE,
            });
            if length > LONGEST_SCRIPT {
                let place = Place { line: event.line, column: 1 };
                return Err(ScriptError::at(place, "up to here the times add up to more than 100 days"));
            }
        }
        Ok(())
    }

    fn beyond(&mut self, line: usize, reason: String) {
        self.beyond.get_or_insert((line, reason));
    }
}

/// `--name=value` and `--name`, before the first event.
fn read_options(cursor: &mut Cursor<'_>, script: &mut Script) -> Result<(), ScriptError> {
    loop {
        cursor.skip_space()?;
        let place = cursor.place();
        if !cursor.eat("--") {
            return Ok(());
        }
        let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let value = cursor.eat("=").then(|| cursor.take_while(|c| !c.is_whitespace()));
        match script.choices.set(place, name, value) {
            Ok(None) => {}
            Ok(Some(reason)) => script.beyond(place.line, reason),
            Err(message) => return Err(ScriptError::at(place, message)),
        }
    }
}

fn read_event(cursor: &mut Cursor<'_>, script: &mut Script) -> Result<(), ScriptError> {
    let line = cursor.place().line;
    if cursor.rest().starts_with('`') {
        return read_command(cursor, script);
    }
    if cursor.rest().starts_with("--") {
        return Err(cursor.error("options stand before the first event"));
    }
    let when = read_when(cursor)?;
    cursor.skip_blanks();
    let mut until = None;
    if cursor.eat("...") {
        let When::At(begin) = when else {
            return Err(cursor.error("a call that blocks begins at one time, not in a range or at any time"));
        };
        let end = read_moment(cursor)?;
        until = Some(Moment { relative: begin.relative || end.relative, ..end });
    }
    cursor.skip_blanks();
    let parsed = match cursor.peek() {
        Some('<' | '>') => packet::read(cursor)?,
        Some('`') => return read_command(cursor, script),
        Some('%') => code::read(cursor)?,
        Some(c) if c.is_ascii_alphabetic() || c == '_' => call::read(cursor)?,
        _ => {
            let rest = cursor.found();
            return Err(cursor.error(format!("expected <, >, a call, `command` or %{{ code }}%, {rest}")));
        }
    };
    match parsed {
        Parsed::Known(action) => script.events.push(Event { line, when, until, action }),
        Parsed::Beyond(reason) => script.beyond(line, reason),
    }
    Ok(())
}

/// Shell commands are not run: those that set what the model has are heeded.
fn read_command(cursor: &mut Cursor<'_>, script: &mut Script) -> Result<(), ScriptError> {
    let place = cursor.place();
    cursor.expect("`")?;
    let text = cursor.until("`")?.replace("\\\n", " ");
    for command in text.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(reason) = script.choices.command(place, command) {
            script.beyond(place.line, reason);
        }
    }
    Ok(())
}

fn read_when(cursor: &mut Cursor<'_>) -> Result<When, ScriptError> {
    if cursor.eat("*") {
        return Ok(When::Any);
    }
    let begin = read_moment(cursor)?;
    cursor.skip_blanks();
    if !cursor.eat("~") {
        return Ok(When::At(begin));
    }
    cursor.skip_blanks();
    let place = cursor.place();
    let end = read_moment(cursor)?;
    let end = Moment { relative: begin.relative, ..end };
    if end.span < begin.span {
        return Err(ScriptError::at(place, "the range of times ends before it begins"));
    }
    Ok(When::Between(begin, end))
}

fn read_moment(cursor: &mut Cursor<'_>) -> Result<Moment, ScriptError> {
    let relative = cursor.eat("+");
    let place = cursor.place();
    let whole = cursor.take_while(|c| c.is_ascii_digit());
    // "0...1" blocks from 0 to 1, ".1" is a tenth.
    let point = cursor.rest().starts_with('.') && !cursor.rest().starts_with("..");
    let part = if point && cursor.eat(".") { cursor.take_while(|c| c.is_ascii_digit()) } else { "" };
    if whole.is_empty() && part.is_empty() {
        let rest = cursor.found();
        return Err(ScriptError::at(place, format!("expected a time in seconds such as 0.1 or +.1, {rest}")));
    }
    let seconds: u64 = if whole.is_empty() { 0 } else { whole.parse().unwrap_or(u64::MAX) };
    if seconds > LONGEST_SECONDS || part.len() > DIGITS {
        let message = format!("a time has at most {LONGEST_SECONDS} s and {DIGITS} digits behind the point");
        return Err(ScriptError::at(place, message));
    }
    let picoseconds: u64 = format!("{part:0<DIGITS$}").parse().unwrap_or(0);
    Ok(Moment { span: Span::from_secs(seconds) + Span::from_ps(picoseconds), relative })
}
