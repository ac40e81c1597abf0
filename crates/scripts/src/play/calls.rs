//! The calls of an application, as far as the model has what they do.

use super::expect::seconds;
use super::{Player, Stop};
use crate::script::{Argument, Call, CallResult};
use anabranch_units::{Instant, Span};

/// Options of a socket without an effect on the model: it has neither Nagle's algorithm nor a send buffer.
const NEUTRAL_OPTIONS: [&str; 5] =
    ["SO_REUSEADDR", "SO_REUSEPORT", "TCP_NODELAY", "SO_SNDBUF", "TCP_NOTSENT_LOWAT"];
/// Flags of send and recv without an effect.
const NEUTRAL_FLAGS: [&str; 3] = ["MSG_NOSIGNAL", "MSG_DONTWAIT", "0"];

/// The file descriptors of the script.
#[derive(Default)]
pub(super) struct Descriptors {
    socket: Option<i64>,
    accepted: Option<i64>,
    /// Bytes that the application has read.
    read: u64,
    closed: bool,
    blocked: Option<Blocked>,
}

/// A call that has not returned yet.
#[derive(Clone)]
struct Blocked {
    call: Call,
    until: Instant,
}

impl Descriptors {
    /// When a call that blocks must have returned.
    pub(super) fn blocked_until(&self, tolerance: Span) -> Option<Instant> {
        self.blocked.as_ref().map(|blocked| blocked.until.saturating_add(tolerance))
    }
}

fn text(argument: Option<&Argument>) -> &str {
    match argument {
        Some(Argument::Name(name)) => name,
        _ => "",
    }
}

fn number(argument: Option<&Argument>) -> Option<i64> {
    match argument {
        Some(Argument::Number(number)) => Some(*number),
        _ => None,
    }
}

/// Why the model cannot make a call; none if it can.
pub(super) fn beyond(call: &Call) -> Option<String> {
    let argument = |index: usize| call.arguments.get(index);
    let name = call.name.as_str();
    match name {
        "socket" => {
            let plain =
                text(argument(1)).contains("SOCK_STREAM") && ["IPPROTO_TCP", ""].contains(&text(argument(2)));
            (!plain).then(|| "the model's sockets are of TCP".into())
        }
        "bind" | "listen" | "accept" | "connect" | "write" | "read" | "close" => None,
        "send" | "recv" => {
            let flags = text(argument(3));
            let neutral =
                flags.is_empty() || flags.split('|').all(|flag| NEUTRAL_FLAGS.contains(&flag.trim()));
            (!neutral).then(|| format!("the model has no {flags}"))
        }
        "shutdown" => {
            (text(argument(1)) != "SHUT_WR").then(|| "the model has shutdown with SHUT_WR only".into())
        }
        "fcntl" => (!["F_GETFL", "F_SETFL"].contains(&text(argument(1))))
            .then(|| format!("the model has no fcntl with {}", text(argument(1)))),
        "setsockopt" | "getsockopt" => {
            let option = text(argument(2));
            let has_option = match name {
                "setsockopt" => option == "TCP_CONGESTION" || NEUTRAL_OPTIONS.contains(&option),
                _ => option == "SO_ERROR",
            };
            (!has_option).then(|| format!("the model has no {name} of {option}"))
        }
        _ => Some(format!("the model has no call {name}")),
    }
}

/// What a call gave.
enum Returned {
    Value(i64),
    Error(&'static str),
}

impl Player<'_> {
    pub(super) fn call(&mut self, call: &Call, until: Option<Instant>) -> Result<(), Stop> {
        if let Some(until) = until {
            self.begin(call)?;
            self.descriptors.blocked = Some(Blocked { call: call.clone(), until });
            return self.let_blocked_return();
        }
        self.begin(call)?;
        let returned = self.finish(call)?;
        check(call, &returned)
    }

    /// A call that blocks returns when what it waits for is there, and its time must be that of the script.
    pub(super) fn let_blocked_return(&mut self) -> Result<(), Stop> {
        let tolerance = self.script.choices.tolerance;
        let Some(Blocked { call, until }) = self.descriptors.blocked.clone() else {
            return Ok(());
        };
        let (name, wanted, now) = (&call.name, seconds(until), seconds(self.now));
        if !self.is_ready(name) {
            let late = self.now >= until.saturating_add(tolerance);
            let deviation = format!("{name} still blocks at {now}, expected to return at {wanted}");
            return if late { Err(Stop::Deviation(deviation)) } else { Ok(()) };
        }
        if self.now.saturating_add(tolerance) < until {
            let deviation = format!("{name} returned at {now}, expected at {wanted}");
            return Err(Stop::Deviation(deviation));
        }
        self.descriptors.blocked = None;
        let returned = self.finish(&call)?;
        check(&call, &returned)
    }

    /// Whether a call would return now.
    fn is_ready(&self, name: &str) -> bool {
        let connection = &self.connection;
        match name {
            "accept" => connection.is_established(),
            "connect" => connection.is_established() || connection.is_reset(),
            "read" | "recv" => {
                let waiting = connection.received() > self.descriptors.read;
                waiting || connection.is_at_end() || connection.is_reset()
            }
            _ => true,
        }
    }

    /// What a call does at once.
    fn begin(&mut self, call: &Call) -> Result<(), Stop> {
        match call.name.as_str() {
            "socket" if self.descriptors.socket.is_some() && !self.descriptors.closed => {
                return Err(Stop::Beyond("the model's scripts have one connection".into()));
            }
            "socket" => {
                self.connection = self.script.socket(&self.config);
                self.descriptors = Descriptors::default();
            }
            "listen" => self.connection.listen(),
            "connect" if self.connection.is_idle() => self.connection.connect(self.now),
            "setsockopt" if text(call.arguments.get(2)) == "TCP_CONGESTION" => {
                self.choose_control(text(call.arguments.get(3)))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Before the handshake only: a controller cannot be exchanged later.
    fn choose_control(&mut self, name: &str) -> Result<(), Stop> {
        if self.control.as_deref() == Some(name) {
            return Ok(());
        }
        if !self.connection.is_idle() {
            let reason = "the congestion control of a connection is chosen before connect or listen";
            return Err(Stop::Beyond(reason.into()));
        }
        let mut choices = self.script.choices.clone();
        choices.control(name).map_err(Stop::Beyond)?;
        self.config = choices.config().map_err(Stop::Deviation)?;
        self.connection = self.script.socket(&self.config);
        self.control = Some(name.to_owned());
        Ok(())
    }

    fn finish(&mut self, call: &Call) -> Result<Returned, Stop> {
        let argument = |index: usize| call.arguments.get(index);
        Ok(match call.name.as_str() {
            "socket" => {
                let CallResult::Value(descriptor) = call.result else {
                    return Err(Stop::Beyond("a socket without a number".into()));
                };
                self.descriptors.socket = Some(descriptor);
                Returned::Value(descriptor)
            }
            "accept" => self.accept(call),
            "connect" => self.connected(),
            "write" | "send" => self.write(number(argument(2)))?,
            "read" | "recv" => self.read(number(argument(2))),
            "close" => self.close(number(argument(0))),
            "shutdown" => {
                self.connection.close(self.now);
                Returned::Value(0)
            }
            "fcntl" if text(argument(1)) == "F_GETFL" => match call.result {
                CallResult::Value(flags) => Returned::Value(flags),
                _ => Returned::Value(0),
            },
            "getsockopt" => self.socket_error(argument(3)),
            _ => Returned::Value(0),
        })
    }

    fn accept(&mut self, call: &Call) -> Returned {
        match (&call.result, self.descriptors.accepted) {
            (CallResult::Value(descriptor), None) if self.connection.is_established() => {
                self.descriptors.accepted = Some(*descriptor);
                Returned::Value(*descriptor)
            }
            _ => Returned::Error("EAGAIN"),
        }
    }

    fn connected(&self) -> Returned {
        if self.connection.is_established() {
            Returned::Value(0)
        } else if self.connection.is_reset() {
            Returned::Error("ECONNREFUSED")
        } else {
            Returned::Error("EINPROGRESS")
        }
    }

    fn write(&mut self, bytes: Option<i64>) -> Result<Returned, Stop> {
        if self.connection.is_reset() {
            return Ok(Returned::Error("EPIPE"));
        }
        if !self.connection.is_established() {
            return Err(Stop::Beyond("the model has no writing before a connection is open".into()));
        }
        if self.descriptors.closed {
            return Ok(Returned::Error("EBADF"));
        }
        if self.connection.is_closing() {
            return Ok(Returned::Error("EPIPE"));
        }
        let Some(bytes) = bytes.filter(|bytes| *bytes >= 0) else {
            return Err(Stop::Beyond("a write without a number of bytes".into()));
        };
        self.connection.write(self.now, bytes as u64);
        Ok(Returned::Value(bytes))
    }

    fn read(&mut self, bytes: Option<i64>) -> Returned {
        let waiting = self.connection.received() - self.descriptors.read;
        if waiting == 0 {
            return if self.connection.is_reset() {
                Returned::Error("ECONNRESET")
            } else if self.connection.is_at_end() {
                Returned::Value(0)
            } else {
                Returned::Error("EAGAIN")
            };
        }
        let taken = waiting.min(bytes.unwrap_or(i64::MAX).max(0) as u64);
        self.descriptors.read += taken;
        self.connection.read(self.now, taken);
        Returned::Value(taken as i64)
    }

    /// Of the connection; that of a listening socket leaves the accepted one as it is.
    fn close(&mut self, descriptor: Option<i64>) -> Returned {
        let Descriptors { socket, accepted, .. } = self.descriptors;
        if descriptor.is_none() || ![socket, accepted].contains(&descriptor) {
            return Returned::Error("EBADF");
        }
        if descriptor == accepted || accepted.is_none() {
            self.descriptors.closed = true;
            self.connection.close(self.now);
        }
        Returned::Value(0)
    }

    fn socket_error(&self, expected: Option<&Argument>) -> Returned {
        let wanted = match expected {
            Some(Argument::List(values)) => number(values.first()),
            _ => None,
        };
        match (wanted, self.connection.is_reset()) {
            (None, _) | (Some(0), false) => Returned::Value(0),
            (Some(_), true) => Returned::Value(0),
            (Some(_), false) => Returned::Error("no error on the socket"),
        }
    }
}

fn check(call: &Call, returned: &Returned) -> Result<(), Stop> {
    let agrees = match (&call.result, returned) {
        (CallResult::Any, _) => true,
        (CallResult::Value(wanted), Returned::Value(value)) => wanted == value,
        (CallResult::Error(wanted), Returned::Error(error)) => wanted == error,
        _ => false,
    };
    if agrees {
        return Ok(());
    }
    let wanted = match &call.result {
        CallResult::Any => "?".into(),
        CallResult::Value(value) => value.to_string(),
        CallResult::Error(error) => format!("-1 {error}"),
    };
    let came = match returned {
        Returned::Value(value) => value.to_string(),
        Returned::Error(error) => format!("-1 {error}"),
    };
    Err(Stop::Deviation(format!("{} gave {came}, expected {wanted}", call.name)))
}
