//! A line with a segment: `< S 0:0(0) win 32792 <mss 1000,sackOK>`.

use super::Parsed;
use crate::cursor::Cursor;
use crate::script::{Action, Expected, ScriptError};
use anabranch_transport::{Flags, Segment};

/// Words that begin a packet of another kind.
const OTHER_PROTOCOLS: [&str; 7] = ["icmp", "udp", "ipv4", "ipv6", "gre", "GRE", "mpls"];
/// Options that the model has not, by how they begin.
const OTHER_OPTIONS: [&str; 9] =
    ["FO", "FOEXP", "md5", "exp", "mp_capable", "mp_join", "dss", "add_address", "ECN"];

/// A segment while it is read.
struct Draft {
    segment: Segment,
    length: u32,
    ack: bool,
    window: bool,
    ecn: bool,
    options: bool,
    beyond: Option<String>,
}

pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Parsed, ScriptError> {
    let begin = cursor.rest();
    let inbound = cursor.peek() == Some('<');
    let _ = cursor.advance();
    let mut draft = Draft {
        segment: Segment::default(),
        length: 0,
        ack: false,
        window: false,
        ecn: false,
        options: true,
        beyond: None,
    };
    cursor.skip_blanks();
    read_ip(cursor, &mut draft)?;
    cursor.skip_blanks();
    if let Some(reason) = other_packet(cursor) {
        let _ = cursor.take_while(|c| c != '\n');
        return Ok(Parsed::Beyond(reason));
    }
    read_flags(cursor, &mut draft)?;
    read_sequence(cursor, &mut draft)?;
    read_fields(cursor, &mut draft, inbound)?;
    cursor.skip_blanks();
    if cursor.eat("<") {
        read_options(cursor, &mut draft)?;
    }
    read_end(cursor)?;
    if let Some(reason) = draft.beyond {
        return Ok(Parsed::Beyond(reason));
    }
    let text = begin[..begin.len() - cursor.rest().len()].trim_end();
    Ok(Parsed::Known(if inbound { injected(cursor, draft)? } else { expected(draft, text) }))
}

fn injected(cursor: &Cursor<'_>, mut draft: Draft) -> Result<Action, ScriptError> {
    if !draft.window {
        return Err(cursor.error("a segment that arrives needs a window: win 257"));
    }
    if !draft.options {
        return Err(
            cursor.error("<...> says that options are not compared; what arrives has options or none")
        );
    }
    match u16::try_from(draft.length) {
        Ok(length) => draft.segment.payload = length,
        Err(_) => return Err(cursor.error(format!("a segment holds at most {} bytes", u16::MAX))),
    }
    Ok(Action::Inject(draft.segment))
}

fn expected(draft: Draft, text: &str) -> Action {
    let Draft { segment, length, ack, window, ecn, options, .. } = draft;
    Action::Expect(Expected { text: text.into(), segment, length, ack, window, ecn, options })
}

/// `[ect0]` and the like.
fn read_ip(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    if !cursor.eat("[") {
        return Ok(());
    }
    let inside = cursor.until("]")?.trim();
    draft.ecn = true;
    match inside {
        "noecn" => {}
        "ect0" => draft.segment.flags = draft.segment.flags.with(Flags::ECT),
        "ce" => draft.segment.flags = draft.segment.flags.with(Flags::CE),
        other => draft.beyond = Some(format!("the model has no [{other}] in the IP header")),
    }
    Ok(())
}

fn other_packet(cursor: &Cursor<'_>) -> Option<String> {
    let rest = cursor.rest();
    let word: &str = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    if OTHER_PROTOCOLS.contains(&word) {
        return Some(format!("the model has no packets of {word}"));
    }
    let line = rest.split('\n').next().unwrap_or("");
    let addressed = rest.starts_with(|c: char| c.is_ascii_digit()) && line.contains('>');
    addressed.then(|| "the model has one connection, without addresses".into())
}

fn read_flags(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    let place = cursor.place();
    let text = cursor.take_while(|c| !c.is_whitespace());
    if text.is_empty() {
        return Err(cursor.error(format!("expected flags such as S. or P., {}", cursor.found())));
    }
    for flag in text.chars() {
        let set = match flag {
            'S' => Flags::SYN,
            'F' => Flags::FIN,
            'R' => Flags::RST,
            'P' => Flags::PSH,
            '.' => Flags::ACK,
            'E' => Flags::ECE,
            'W' => Flags::CWR,
            '-' => Flags::NONE,
            'U' => {
                draft.beyond = Some("the model has no urgent data".into());
                Flags::NONE
            }
            'A' => {
                draft.beyond = Some("the model has no accurate ECN".into());
                Flags::NONE
            }
            '0'..='7' => {
                draft.beyond = Some("the model has no accurate ECN".into());
                Flags::NONE
            }
            other => {
                let message = format!("{other:?} is no flag; there are S F R P . E W and - for none");
                return Err(ScriptError::at(place, message));
            }
        };
        draft.segment.flags = draft.segment.flags.with(set);
    }
    Ok(())
}

/// `1:1001(1000)`
fn read_sequence(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    cursor.skip_blanks();
    let place = cursor.place();
    let begin = cursor.number("a sequence number", u64::from(u32::MAX))? as u32;
    cursor.expect(":")?;
    let end = cursor.number("a sequence number", u64::from(u32::MAX))? as u32;
    cursor.expect("(")?;
    let length = cursor.number("a length", u64::from(u32::MAX))? as u32;
    cursor.expect(")")?;
    if end.wrapping_sub(begin) != length {
        let message =
            format!("from {begin} to {end} there are {} bytes, not {length}", end.wrapping_sub(begin));
        return Err(ScriptError::at(place, message));
    }
    draft.segment.seq = begin;
    draft.length = length;
    Ok(())
}

/// `ack 1 win 257 urg 0`
fn read_fields(cursor: &mut Cursor<'_>, draft: &mut Draft, inbound: bool) -> Result<(), ScriptError> {
    loop {
        cursor.skip_blanks();
        let place = cursor.place();
        if !cursor.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
            break;
        }
        let name = cursor.word();
        cursor.skip_blanks();
        match name {
            "ack" => {
                draft.segment.ack = cursor.number("an acknowledgment number", u64::from(u32::MAX))? as u32;
                draft.ack = true;
            }
            "win" => {
                draft.segment.window = cursor.number("a window", u64::from(u16::MAX))? as u16;
                draft.window = true;
            }
            "urg" => {
                let _ = cursor.number("an urgent pointer", u64::from(u16::MAX))?;
                draft.beyond = Some("the model has no urgent data".into());
            }
            other => {
                let message = format!("{other:?} is no field; there are ack, win and <options>");
                return Err(ScriptError::at(place, message));
            }
        }
    }
    if inbound && draft.ack != draft.segment.flags.has(Flags::ACK) && draft.beyond.is_none() {
        return Err(cursor.error("a segment has the flag . if and only if it has an acknowledgment: ack 1"));
    }
    Ok(())
}

/// `mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 8>`
fn read_options(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    cursor.skip_blanks();
    if cursor.eat("...") {
        draft.options = false;
        cursor.skip_blanks();
        return cursor.expect(">");
    }
    loop {
        cursor.skip_blanks();
        if cursor.eat(">") {
            return Ok(());
        }
        read_option(cursor, draft)?;
        cursor.skip_blanks();
        if !cursor.eat(",") && !cursor.rest().starts_with('>') {
            return Err(cursor.error(format!("expected a comma or >, {}", cursor.found())));
        }
    }
}

fn read_option(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    let place = cursor.place();
    let name = cursor.word();
    cursor.skip_blanks();
    let segment = &mut draft.segment;
    match name {
        "nop" | "eol" => {}
        "sackOK" => segment.flags = segment.flags.with(Flags::SACK_PERMITTED),
        "mss" => segment.mss = cursor.number("an MSS", u64::from(u16::MAX))? as u16,
        "wscale" => segment.window_scale_plus_one = cursor.number("a window scale", 14)? as u8 + 1,
        "TS" => {
            cursor.expect("val")?;
            cursor.skip_blanks();
            segment.timestamp = cursor.number("a timestamp", u64::from(u32::MAX))? as u32;
            cursor.skip_blanks();
            cursor.expect("ecr")?;
            cursor.skip_blanks();
            segment.timestamp_echo = cursor.number("a timestamp", u64::from(u32::MAX))? as u32;
            segment.flags = segment.flags.with(Flags::TIMESTAMPS);
        }
        "sack" => read_blocks(cursor, segment)?,
        other if OTHER_OPTIONS.contains(&other) => {
            draft.beyond = Some(format!("the model's TCP has no option {other}"));
            let _ = cursor.take_while(|c| c != ',' && c != '>' && c != '\n');
        }
        other => {
            let message =
                format!("{other:?} is no TCP option; there are mss, wscale, sackOK, sack, TS, nop and eol");
            return Err(ScriptError::at(place, message));
        }
    }
    Ok(())
}

fn read_blocks(cursor: &mut Cursor<'_>, segment: &mut Segment) -> Result<(), ScriptError> {
    let mut count = 0;
    while cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        let left = cursor.number("a sequence number", u64::from(u32::MAX))? as u32;
        cursor.expect(":")?;
        let right = cursor.number("a sequence number", u64::from(u32::MAX))? as u32;
        if count == 4 {
            return Err(cursor.error("at most four SACK blocks have room"));
        }
        count += 1;
        segment.sack.push(left, right, 4);
        cursor.skip_blanks();
    }
    if count == 0 {
        return Err(cursor.error(format!("expected a SACK block such as 1001:2001, {}", cursor.found())));
    }
    Ok(())
}

/// Nothing but a comment may follow on the line.
fn read_end(cursor: &mut Cursor<'_>) -> Result<(), ScriptError> {
    cursor.skip_blanks();
    let rest = cursor.rest();
    let ends =
        rest.is_empty() || rest.starts_with(['\n', '#']) || rest.starts_with("//") || rest.starts_with("/*");
    if ends { Ok(()) } else { Err(cursor.error(format!("expected the end of the line, {}", cursor.found()))) }
}
