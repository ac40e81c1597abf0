//! The text of a script into its events.

mod call;
mod code;
mod draft;
mod packet;
mod shell;
mod tcp_options;

use crate::cursor::Cursor;
use crate::kernel::Heeded;
use crate::options::ScriptChoices;
use crate::play::PATIENCE;
use crate::script::{Action, Argument, Call, Event, Moment, Place, Script, ScriptError, When};
use anabranch_units::Span;
use packet::Endpoints;

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
        let mut script = Self { choices: choices.clone(), events: Vec::new(), beyond: None, late: None };
        read_options(&mut cursor, &mut script)?;
        let mut endpoints = Endpoints::default();
        loop {
            cursor.skip_space()?;
            if cursor.is_at_end() {
                break;
            }
            read_event(&mut cursor, &mut script, &mut endpoints)?;
        }
        script.judge_late_settings();
        script.check_length()?;
        script.choices.decide_ecn(script.opens_actively());
        script.choices.decide_mss();
        script.choices.decide_nagle(script.switches_nagle_off());
        script.choices.decide_ticks();
        script.choices.settle().map_err(|(place, message)| ScriptError::at(place, message))?;
        if script.events.is_empty() && script.beyond.is_none() {
            return Err(cursor.error("the script has no events"));
        }
        Ok(script)
    }

    /// A setting behind the last segment restores what was: it is another connection's business. One before it is not.
    fn judge_late_settings(&mut self) {
        if let Some((index, line, reason)) = self.late.take() {
            let is_segment = |event: &Event| matches!(event.action, Action::Inject(..) | Action::Expect(_));
            if self.events[index..].iter().any(is_segment) {
                self.beyond(line, reason);
            }
        }
    }

    /// Whether its application connects, and so sends the first SYN.
    fn opens_actively(&self) -> bool {
        self.events.iter().any(|event| matches!(&event.action, Action::Call(call) if call.name == "connect"))
    }

    /// Whether its application sets TCP_NODELAY, at any time.
    fn switches_nagle_off(&self) -> bool {
        let is_option = |argument: &Argument| *argument == Argument::Name("TCP_NODELAY".into());
        let sets = |call: &Call| call.name == "setsockopt" && call.arguments.iter().any(is_option);
        self.events.iter().any(|event| matches!(&event.action, Action::Call(call) if sets(call)))
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

/// Whether a text is at its end, or goes on with an event: a time, a command, or an option, which is a mistake there.
fn begins_event(rest: &str) -> bool {
    rest.is_empty()
        || rest.starts_with(|c: char| c.is_ascii_digit() || "+*`".contains(c))
        || rest.starts_with("--")
        || rest.strip_prefix('.').is_some_and(|behind| behind.starts_with(|c: char| c.is_ascii_digit()))
}

/// Passes an event of which nothing is read: up to the end of a line behind which another one begins.
fn skip_event(cursor: &mut Cursor<'_>) -> Result<(), ScriptError> {
    loop {
        let _ = cursor.take_while(|c| c != '\n');
        cursor.skip_space()?;
        if begins_event(cursor.rest()) {
            return Ok(());
        }
    }
}

/// `--name=value` and `--name`, before the first event; `-D NAME=VALUE`.
fn read_options(cursor: &mut Cursor<'_>, script: &mut Script) -> Result<(), ScriptError> {
    loop {
        cursor.skip_space()?;
        let place = cursor.place();
        if !cursor.eat("--") {
            return Ok(());
        }
        let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let value = if cursor.eat("=") { Some(read_value(cursor)?) } else { None };
        match script.choices.set(place, name, value) {
            Ok(None) => {}
            Ok(Some(reason)) => script.beyond(place.line, reason),
            Err(message) => return Err(ScriptError::at(place, message)),
        }
    }
}

/// Up to the next blank that stands in no quotes.
fn read_value<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, ScriptError> {
    let begin = cursor.rest();
    let _ = cursor.take_while(|c| !c.is_whitespace() && c != '"' && c != '`');
    for quote in ["\"", "`"] {
        if cursor.eat(quote) {
            let _ = cursor.until(quote)?;
        }
    }
    Ok(&begin[..begin.len() - cursor.rest().len()])
}

fn read_event(
    cursor: &mut Cursor<'_>,
    script: &mut Script,
    endpoints: &mut Endpoints,
) -> Result<(), ScriptError> {
    let line = cursor.place().line;
    if cursor.rest().starts_with('`') {
        return read_command(cursor, script);
    }
    if cursor.rest().starts_with("--") {
        return Err(cursor.error("options stand before the first event"));
    }
    let when = read_when(cursor)?;
    cursor.skip_space()?;
    let mut until = None;
    if cursor.eat("...") {
        let When::At(begin) = when else {
            return Err(cursor.error("a call that blocks begins at one time, not in a range or at any time"));
        };
        cursor.skip_space()?;
        let end = read_moment(cursor)?;
        until = Some(Moment { relative: begin.relative || end.relative, ..end });
    }
    cursor.skip_space()?;
    let parsed = match cursor.peek() {
        Some('<' | '>') => packet::read(cursor, endpoints, &script.choices.definitions)?,
        Some('`') => {
            read_command(cursor, script)?;
            return pass_time(script, line, when);
        }
        Some('%') => code::read(cursor)?,
        Some(c) if c.is_ascii_alphabetic() || c == '_' => {
            if let Some(command) = defined_command(cursor, script) {
                heed_commands(&command, cursor.place(), script);
                let _ = cursor.word();
                return pass_time(script, line, when);
            }
            call::read(cursor, &script.choices.definitions)?
        }
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

/// A command takes no time, but what follows counts from its own.
fn pass_time(script: &mut Script, line: usize, when: When) -> Result<(), ScriptError> {
    script.events.push(Event { line, when, until: None, action: Action::Code(Vec::new()) });
    Ok(())
}

/// The command that a word stands for (`--define=NAME=`command``).
fn defined_command(cursor: &Cursor<'_>, script: &Script) -> Option<String> {
    let rest = cursor.rest();
    let word = rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()?;
    match script.choices.definitions.value(word)? {
        Argument::Name(text) => {
            text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).map(str::to_owned)
        }
        _ => None,
    }
}

/// Shell commands are not run: those that set what the model has are heeded.
fn read_command(cursor: &mut Cursor<'_>, script: &mut Script) -> Result<(), ScriptError> {
    let place = cursor.place();
    cursor.expect("`")?;
    let text = cursor.until("`")?;
    heed_commands(text, place, script);
    Ok(())
}

fn heed_commands(text: &str, place: Place, script: &mut Script) {
    // Before the first event no time has passed.
    let is_idle = |event: &Event| matches!(&event.action, Action::Code(code) if code.is_empty());
    let before = script.events.iter().all(is_idle);
    for (offset, words) in shell::commands(text) {
        let place = Place { line: place.line + offset, column: place.column };
        match script.choices.command(place, &words, before) {
            Heeded::Done => {}
            Heeded::Beyond(reason) => script.beyond(place.line, reason),
            Heeded::Late(reason) => {
                let _ = script.late.get_or_insert((script.events.len(), place.line, reason));
            }
        }
    }
}

fn read_when(cursor: &mut Cursor<'_>) -> Result<When, ScriptError> {
    if cursor.eat("*") {
        return Ok(When::Any);
    }
    let begin = read_moment(cursor)?;
    cursor.skip_space()?;
    if !cursor.eat("~") {
        return Ok(When::At(begin));
    }
    cursor.skip_space()?;
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
    cursor.skip_blanks();
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
