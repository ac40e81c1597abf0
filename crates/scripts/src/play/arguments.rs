//! What a call is given, and what it gives.

use crate::script::{Argument, Call};

/// What a call gave.
pub(super) enum Returned {
    Value(i64),
    Error(&'static str),
}

pub(super) fn text(argument: Option<&Argument>) -> &str {
    match argument {
        Some(Argument::Name(name) | Argument::Text(name)) => name,
        _ => "",
    }
}

pub(super) fn number(argument: Option<&Argument>) -> Option<i64> {
    match argument {
        Some(Argument::Number(number)) => Some(*number),
        _ => None,
    }
}

/// The field of a structure, by its name or, where it has none, its place.
pub(super) fn field<'a>(argument: Option<&'a Argument>, name: &str, place: usize) -> Option<&'a Argument> {
    let Some(Argument::Structure(fields)) = argument else { return None };
    let named = fields.iter().find(|(field, _)| field == name);
    named.or_else(|| fields.get(place).filter(|(field, _)| field.is_empty())).map(|(_, value)| value)
}

/// Bytes of the buffers of a vector: `[{..., 40}, {..., 60}]`.
fn vector_bytes(argument: Option<&Argument>) -> Option<i64> {
    let Some(Argument::List(buffers)) = argument else { return None };
    buffers.iter().map(|buffer| number(field(Some(buffer), "iov_len", 1))).sum()
}

/// Bytes that a call writes, or reads at most.
pub(super) fn bytes(call: &Call) -> Option<i64> {
    match call.name.as_str() {
        "writev" | "readv" => vector_bytes(call.arguments.get(1)),
        "sendmsg" | "recvmsg" => vector_bytes(field(call.arguments.get(1), "msg_iov", 1)),
        _ => number(call.arguments.get(2)),
    }
}

/// A call by what it does: the same whether it takes flags, addresses or vectors.
pub(super) fn kind(name: &str) -> &str {
    match name {
        "send" | "sendto" | "sendmsg" | "writev" => "write",
        "recv" | "recvfrom" | "recvmsg" | "readv" => "read",
        "accept4" => "accept",
        other => other,
    }
}
