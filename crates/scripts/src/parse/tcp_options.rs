//! The TCP options of a segment: `<mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 8>`.

use super::draft::Draft;
use crate::cursor::Cursor;
use crate::options::Definitions;
use crate::script::{Argument, Capable, MultipathOption, ScriptError};
use anabranch_transport::{Flags, Segment};

/// RFC 7323 section 2.3: a larger one counts as this.
const LARGEST_SCALE: u8 = 14;

/// Options of Multipath TCP by their names in the language, and the words within each; none for any word.
const MULTIPATH: &[(&str, &[&str])] = &[
    ("mpcapable", &["v0", "v1", "none", "flags", "nokey", "key", "mpcdatalen"]),
    ("mp_capable", &[]),
    ("mp_capable_no_cs", &[]),
    ("mp_join_syn", &["backup", "address_id", "token", "rand"]),
    ("mp_join_syn_ack", &["backup", "address_id", "sender_hmac", "token", "rand"]),
    ("mp_join_ack", &["sender_hmac", "token"]),
    ("dss", &["dack4", "dack8", "dsn4", "dsn8", "ssn", "dll", "nocs", "cksum", "fin"]),
    ("add_address", &["address_id", "addr", "port", "hmac", "addr_echo"]),
    ("remove_address", &["address_id"]),
    ("mp_prio", &["backup", "address_id"]),
    ("mp_fail", &["dsn4", "dsn8"]),
    ("mp_fastclose", &[]),
    ("mp_reset", &["flags"]),
];

/// Names of the other options, for messages.
const NAMES: &str =
    "mss, wscale, sackOK, sack, TS, nop, eol, FO, FOEXP, md5, ECN, unknown, exp- and those of MPTCP";

/// Up to the `>` behind the last one.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    draft: &mut Draft,
    definitions: &Definitions,
) -> Result<(), ScriptError> {
    cursor.skip_space()?;
    if cursor.eat("...") {
        draft.options = false;
        cursor.skip_space()?;
        return cursor.expect(">");
    }
    loop {
        cursor.skip_space()?;
        if cursor.eat(">") {
            return Ok(());
        }
        read_option(cursor, draft, definitions)?;
        cursor.skip_space()?;
        if !cursor.eat(",") && !cursor.rest().starts_with('>') {
            return Err(cursor.error(format!("expected a comma or >, {}", cursor.found())));
        }
    }
}

fn read_option(
    cursor: &mut Cursor<'_>,
    draft: &mut Draft,
    definitions: &Definitions,
) -> Result<(), ScriptError> {
    let place = cursor.place();
    let name = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    cursor.skip_space()?;
    let segment = &mut draft.segment;
    match name {
        "nop" | "eol" | "NOP" | "EOL" => {}
        "sackOK" => segment.flags = segment.flags.with(Flags::SACK_PERMITTED),
        "mss" if cursor.peek().is_some_and(|c| c.is_ascii_alphabetic()) => {
            let word = cursor.word();
            match definitions.value(word) {
                Some(Argument::Number(mss)) => segment.mss = u16::try_from(mss).unwrap_or(u16::MAX),
                _ => {
                    draft.beyond(format!("{word} stands for no number; --define={word}=1460 would say which"))
                }
            }
        }
        "mss" => segment.mss = cursor.number("an MSS", u64::from(u16::MAX))? as u16,
        "wscale" => {
            let scale = cursor.number("a window scale", u64::from(u8::MAX - 1))? as u8;
            let counts = if draft.inbound { scale.min(LARGEST_SCALE) } else { scale };
            segment.window_scale_plus_one = counts + 1;
        }
        "TS" => read_timestamps(cursor, draft)?,
        "sack" => read_blocks(cursor, segment)?,
        "FO" | "FOEXP" | "exp-fastopen" => {
            // A cookie has 16 bytes at most (RFC 7413 section 4.1.1); scripts try larger ones.
            read_blob(cursor, "the cookie of fast open", 36)?;
            unknown_to_model(draft, name);
        }
        "md5" => {
            read_blob(cursor, "the digest of MD5", 16)?;
            // Who has agreed on no key drops what is signed (RFC 2385 section 4.5), which the model does not.
            draft.beyond("the model's TCP has no option md5");
        }
        "ECN" => read_counters(cursor, draft)?,
        other if other == "unknown" || other.starts_with("exp-") || other == "tarr" => {
            let _ = cursor.take_while(|c| c != ',' && c != '>' && c != '\n');
            unknown_to_model(draft, other);
        }
        other => match MULTIPATH.iter().find(|(option_name, _)| *option_name == other) {
            Some((name, words)) => read_multipath(cursor, draft, name, words)?,
            None => {
                return Err(ScriptError::at(place, format!("{other:?} is no TCP option; there are {NAMES}")));
            }
        },
    }
    Ok(())
}

/// A host ignores an option that it does not know (RFC 9293 section 3.2); it never sends one.
fn unknown_to_model(draft: &mut Draft, name: &str) {
    if !draft.inbound {
        draft.beyond(format!("the model's TCP has no option {name}"));
    }
}

/// `val 1 ecr 0`; `...` for either of a segment that leaves.
fn read_timestamps(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    cursor.expect("val")?;
    cursor.skip_space()?;
    let value = read_timestamp(cursor, draft.inbound)?;
    cursor.skip_space()?;
    cursor.expect("ecr")?;
    cursor.skip_space()?;
    let echo = read_timestamp(cursor, draft.inbound)?;
    let segment = &mut draft.segment;
    (draft.timestamp, segment.timestamp) = (value.is_some(), value.unwrap_or(0));
    (draft.echo, segment.timestamp_echo) = (echo.is_some(), echo.unwrap_or(0));
    segment.flags = segment.flags.with(Flags::TIMESTAMPS);
    Ok(())
}

fn read_timestamp(cursor: &mut Cursor<'_>, inbound: bool) -> Result<Option<u32>, ScriptError> {
    if !inbound && cursor.eat("...") {
        return Ok(None);
    }
    cursor.number("a timestamp", u64::from(u32::MAX)).map(|value| Some(value as u32))
}

fn read_blocks(cursor: &mut Cursor<'_>, segment: &mut Segment) -> Result<(), ScriptError> {
    let mut count = 0;
    while cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        let left = cursor.number("a sequence number", u64::from(u32::MAX))? as u32;
        cursor.skip_space()?;
        cursor.expect(":")?;
        cursor.skip_space()?;
        let right = cursor.number("a sequence number", u64::from(u32::MAX))? as u32;
        if count == 4 {
            return Err(cursor.error("at most four SACK blocks have room"));
        }
        count += 1;
        segment.sack.push(left, right, 4);
        cursor.skip_space()?;
    }
    if count == 0 {
        return Err(cursor.error(format!("expected a SACK block such as 1001:2001, {}", cursor.found())));
    }
    Ok(())
}

/// Pairs of hexadecimal digits, possibly none.
fn read_blob(cursor: &mut Cursor<'_>, what: &str, most_bytes: usize) -> Result<(), ScriptError> {
    let place = cursor.place();
    let digits = cursor.word();
    // A name, which a definition of whoever runs the scripts stands for.
    if digits.contains('_') {
        return Ok(());
    }
    let are_pairs = digits.len().is_multiple_of(2) && digits.chars().all(|c| c.is_ascii_hexdigit());
    if are_pairs && digits.len() <= 2 * most_bytes {
        return Ok(());
    }
    let message = format!("{what} is {digits}; it has up to {most_bytes} bytes of two hexadecimal digits");
    Err(ScriptError::at(place, message))
}

/// The byte counters of accurate ECN (RFC 9768 section 3.2.3): `ECN e1b 1 ceb 0 e0b 1`.
fn read_counters(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    while cursor.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
        let place = cursor.place();
        let counter = cursor.word();
        if !["e0b", "e1b", "ceb"].contains(&counter) {
            return Err(ScriptError::at(
                place,
                format!("{counter:?} is no counter; there are e0b, ceb and e1b"),
            ));
        }
        cursor.skip_space()?;
        let _ = cursor.number("a counter of bytes", u64::from(u32::MAX))?;
        cursor.skip_space()?;
    }
    unknown_to_model(draft, "ECN");
    Ok(())
}

/// The rest of an option of Multipath TCP: words, each with a value or without one.
fn read_multipath(
    cursor: &mut Cursor<'_>,
    draft: &mut Draft,
    name: &str,
    words: &[&str],
) -> Result<(), ScriptError> {
    let mut capable = Capable { version: 1, ..Capable::default() };
    loop {
        cursor.skip_space()?;
        let place = cursor.place();
        match cursor.peek() {
            None => return Err(cursor.error(format!("the option {name} has no end"))),
            Some(',' | '>') => break,
            // The reason of mp_reset, what is added to a key, or a number of the flags.
            Some(c) if c.is_ascii_digit() || c == '+' => {
                let _ = cursor.eat("+");
                cursor.skip_space()?;
                let _ = cursor.number("a number", u64::MAX)?;
                continue;
            }
            _ => {}
        }
        let word = cursor.word();
        if word.is_empty() || !(words.is_empty() || words.contains(&word)) {
            let message = format!("{word:?} is no part of {name}; there are {}", words.join(", "));
            return Err(ScriptError::at(place, message));
        }
        let values = read_values(cursor)?;
        match word {
            "v0" => capable.version = 0,
            "flags" => capable.flags = flags_of(&values),
            "key" => capable.keys = values.len() as u8,
            _ => {}
        }
    }
    let option = match name {
        "mpcapable" => MultipathOption::Capable(capable),
        _ => MultipathOption::Other(name.to_owned()),
    };
    if !draft.inbound && (matches!(option, MultipathOption::Other(_)) || capable.keys > 0) {
        draft.beyond(format!("the model's scripts have no connection of Multipath TCP: {name}"));
    }
    // Two options of one segment: the one that is no handshake counts.
    if !matches!(draft.multipath, Some(MultipathOption::Other(_))) {
        draft.multipath = Some(option);
    }
    Ok(())
}

/// Behind a word: `=3`, `=auto`, `=sha256_32(key)`, `=trunc_r64_hmac(key) + 1`, `=[1,2]`, `[flag_b, flag_h]`,
/// `[ckey=2, skey]`, `[a=inet_addr("10.0.0.1")]`, or nothing. The parts of a list, each as it is written.
fn read_values(cursor: &mut Cursor<'_>) -> Result<Vec<String>, ScriptError> {
    cursor.skip_space()?;
    if cursor.eat("[") {
        let inside = cursor.until("]")?;
        return Ok(inside.split(',').map(|part| part.trim().to_owned()).collect());
    }
    if !cursor.eat("=") {
        return Ok(Vec::new());
    }
    cursor.skip_space()?;
    if cursor.eat("[") {
        let inside = cursor.until("]")?;
        return Ok(inside.split(',').map(|part| part.trim().to_owned()).collect());
    }
    let _ = cursor.eat("-");
    let value = cursor.word();
    if value.is_empty() {
        return Err(cursor.error(format!("expected a value, {}", cursor.found())));
    }
    cursor.skip_space()?;
    if cursor.eat("(") {
        let _ = cursor.until(")")?;
    }
    Ok(vec![value.to_owned()])
}

/// `flag_a` is the highest bit.
fn flags_of(names: &[String]) -> u8 {
    let bit = |name: &String| match name.strip_prefix("flag_").and_then(|letter| letter.bytes().next()) {
        Some(letter @ b'a'..=b'h') => 0x80 >> (letter - b'a'),
        _ => 0,
    };
    names.iter().map(bit).fold(0, |all, one| all | one)
}
