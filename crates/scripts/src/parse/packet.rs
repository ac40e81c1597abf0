//! A line with a segment: `< S 0:0(0) win 32792 <mss 1000,sackOK>`.

use super::draft::Draft;
use super::{Parsed, begins_event, skip_event, tcp_options};
use crate::cursor::Cursor;
use crate::options::Definitions;
use crate::script::{Action, Expected, Mark, ScriptError};
use anabranch_transport::Flags;

/// Words that begin a packet of another kind, or one within another.
const OTHER_PROTOCOLS: [&str; 12] =
    ["icmp", "icmpv6", "udp", "udplite", "sctp", "ipv4", "ipv6", "gre", "GREv0", "mpls", "encap", "psp"];

/// The ends of the connection as a script writes them, the other host first: as far as one has been named.
#[derive(Default)]
pub(crate) struct Endpoints([Option<String>; 2]);

pub(super) fn read(
    cursor: &mut Cursor<'_>,
    endpoints: &mut Endpoints,
    definitions: &Definitions,
) -> Result<Parsed, ScriptError> {
    let begin = cursor.rest();
    let mut draft = Draft::new(cursor.peek() == Some('<'));
    let _ = cursor.advance();
    cursor.skip_space()?;
    read_ip(cursor, &mut draft)?;
    cursor.skip_space()?;
    if let Some(reason) = other_packet(cursor) {
        skip_event(cursor)?;
        return Ok(Parsed::Beyond(reason));
    }
    read_endpoints(cursor, &mut draft, endpoints)?;
    read_flags(cursor, &mut draft)?;
    read_sequence(cursor, &mut draft)?;
    read_fields(cursor, &mut draft)?;
    if cursor.eat("<") {
        tcp_options::read(cursor, &mut draft, definitions)?;
        cursor.skip_space()?;
    }
    if cursor.eat("{") {
        let _ = cursor.until("}")?;
        draft.beyond("the model's segments are whole: their bytes are not changed one by one");
    }
    let text = begin[..begin.len() - cursor.rest().len()].trim_end();
    cursor.skip_space()?;
    if !begins_event(cursor.rest()) {
        return Err(cursor.error(format!("expected the next event, {}", cursor.found())));
    }
    let syn = draft.segment.flags.has(Flags::SYN);
    if draft.inbound && syn && draft.length > 0 {
        draft.beyond("the model takes no data with a SYN");
    }
    if let Some(reason) = draft.beyond {
        return Ok(Parsed::Beyond(reason));
    }
    Ok(Parsed::Known(if draft.inbound { injected(cursor, draft)? } else { expected(draft, text) }))
}

fn injected(cursor: &Cursor<'_>, mut draft: Draft) -> Result<Action, ScriptError> {
    if !draft.options {
        return Err(
            cursor.error("<...> says that options are not compared; what arrives has options or none")
        );
    }
    match u16::try_from(draft.length) {
        Ok(length) => draft.segment.payload = length,
        Err(_) => return Err(cursor.error(format!("a segment holds at most {} bytes", u16::MAX))),
    }
    let mark = match draft.mark {
        // A receiver treats both codepoints alike (RFC 3168 section 5).
        Some(Mark::Ect0 | Mark::Ect1 | Mark::Ect) => Flags::ECT,
        Some(Mark::Ce) => Flags::CE,
        Some(Mark::NotEct) | None => Flags::NONE,
    };
    draft.segment.flags = draft.segment.flags.with(mark);
    Ok(Action::Inject(draft.segment, draft.multipath))
}

fn expected(draft: Draft, text: &str) -> Action {
    let Draft { segment, length, ack, window, mark, options, timestamp, echo, multipath, .. } = draft;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Action::Expect(Expected { text, segment, length, ack, window, mark, options, timestamp, echo, multipath })
}

/// `[ect0]`, `(ce)`, `[tos 0x2]`, `[noecn, flowlabel 0x1]`, `[ttl 255]`
fn read_ip(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    let end = match cursor.peek() {
        Some('[') => "]",
        Some('(') => ")",
        _ => return Ok(()),
    };
    let _ = cursor.advance();
    let place = cursor.place();
    let inside = cursor.until(end)?;
    for part in inside.split(',').map(str::trim) {
        let words: Vec<&str> = part.split_whitespace().collect();
        match *words.as_slice() {
            ["noecn"] => draft.mark = Some(Mark::NotEct),
            ["ect0"] => draft.mark = Some(Mark::Ect0),
            ["ect1"] => draft.mark = Some(Mark::Ect1),
            ["ect01"] if draft.inbound => {
                return Err(ScriptError::at(
                    place,
                    "[ect01] is for segments that leave; what arrives has one",
                ));
            }
            ["ect01"] => draft.mark = Some(Mark::Ect),
            ["ce"] => draft.mark = Some(Mark::Ce),
            ["tos", value] => read_traffic_class(place, value, draft)?,
            ["flowlabel", _] if draft.inbound => {}
            ["flowlabel", _] => draft.beyond("the model has no flow label in the IP header"),
            // What arrives has come through, whatever is left of its life.
            ["ttl", _] if draft.inbound => {}
            ["ttl", _] => draft.beyond("the model has no TTL in the IP header"),
            _ => {
                let message = format!(
                    "[{part}] is nothing of the IP header; there are noecn, ect0, ect1, ect01, ce, tos, flowlabel and ttl"
                );
                return Err(ScriptError::at(place, message));
            }
        }
    }
    Ok(())
}

/// The low two bits are the codepoint of ECN, the others that of the differentiated services (RFC 3168 section 22).
fn read_traffic_class(place: crate::script::Place, text: &str, draft: &mut Draft) -> Result<(), ScriptError> {
    let digits = text.strip_prefix("0x").unwrap_or("");
    let Ok(value) = u8::from_str_radix(digits, 16) else {
        return Err(ScriptError::at(
            place,
            format!("tos is {text}; it is written as 0x and one or two digits"),
        ));
    };
    if value & !3 != 0 {
        draft.beyond("the model has no differentiated services in the IP header");
    }
    draft.mark = Some([Mark::NotEct, Mark::Ect1, Mark::Ect0, Mark::Ce][usize::from(value & 3)]);
    Ok(())
}

fn other_packet(cursor: &Cursor<'_>) -> Option<String> {
    let rest = cursor.rest();
    let word: &str = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    OTHER_PROTOCOLS.contains(&word).then(|| format!("the model has no packets of {word}"))
}

/// `192.0.2.1:80 > 192.168.0.1:8080`, `5000 > 80`, `addr[client] > addr[server]`; one of both may be left out.
fn read_endpoints(
    cursor: &mut Cursor<'_>,
    draft: &mut Draft,
    endpoints: &mut Endpoints,
) -> Result<(), ScriptError> {
    let begins = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_digit() || c == ':')
            || rest.starts_with("addr[")
            || (rest.contains("::") && rest.starts_with(|c: char| c.is_ascii_hexdigit()))
    };
    let word = cursor.rest().split_whitespace().next().unwrap_or("");
    let named = begins(word);
    if !named && !cursor.rest().starts_with('>') {
        return Ok(());
    }
    let name = |cursor: &mut Cursor<'_>| {
        let text = cursor.take_while(|c| c.is_ascii_alphanumeric() || "_.:[]".contains(c));
        (!text.is_empty()).then(|| text.to_owned())
    };
    let source = name(cursor);
    cursor.skip_space()?;
    cursor.expect(">")?;
    cursor.skip_space()?;
    let next = cursor.rest().split_whitespace().next().unwrap_or("");
    let destination = if begins(next) { name(cursor) } else { None };
    cursor.skip_space()?;
    let pair = if draft.inbound { [source, destination] } else { [destination, source] };
    for (endpoint, given) in endpoints.0.iter_mut().zip(pair) {
        match (endpoint, given) {
            (Some(endpoint), Some(given)) if *endpoint != given => {
                draft.beyond(format!("the model's scripts have one connection; {given} belongs to another"));
            }
            (endpoint @ None, Some(given)) => *endpoint = Some(given),
            _ => {}
        }
    }
    Ok(())
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
                draft.beyond("the model has no urgent data");
                Flags::NONE
            }
            // A host without accurate ECN ignores the bit of a SYN that offers it (RFC 9768 section 3.1.2).
            'A' if draft.inbound && text.contains('S') && !text.contains('.') => Flags::NONE,
            'A' | '0'..='7' => {
                draft.beyond("the model has no accurate ECN");
                Flags::NONE
            }
            other => {
                let message = format!("{other:?} is no flag; there are S F R P . E W U A and - for none");
                return Err(ScriptError::at(place, message));
            }
        };
        draft.segment.flags = draft.segment.flags.with(set);
    }
    Ok(())
}

/// `1:1001(1000)`
fn read_sequence(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    cursor.skip_space()?;
    let place = cursor.place();
    let begin = cursor.number("a sequence number", u64::from(u32::MAX))? as u32;
    cursor.skip_space()?;
    cursor.expect(":")?;
    cursor.skip_space()?;
    let end = cursor.number("a sequence number", u64::from(u32::MAX))? as u32;
    cursor.skip_space()?;
    cursor.expect("(")?;
    cursor.skip_space()?;
    let length = cursor.number("a length", u64::from(u32::MAX))? as u32;
    cursor.skip_space()?;
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
fn read_fields(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), ScriptError> {
    let behind = cursor.place();
    loop {
        cursor.skip_space()?;
        let place = cursor.place();
        if !cursor.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
            break;
        }
        let name = cursor.word();
        cursor.skip_space()?;
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
                draft.beyond("the model has no urgent data");
            }
            other => {
                let message = format!("{other:?} is no field; there are ack, win, urg and <options>");
                return Err(ScriptError::at(place, message));
            }
        }
    }
    if !draft.inbound {
        return Ok(());
    }
    if !draft.window {
        return Err(ScriptError::at(behind, "a segment that arrives needs a window: win 257"));
    }
    // Without ACK the field counts for nothing (RFC 9293 section 3.1); with it, what is left out is 0.
    if draft.ack && !draft.segment.flags.has(Flags::ACK) {
        draft.segment.ack = 0;
    }
    Ok(())
}
