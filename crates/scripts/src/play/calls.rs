//! The calls of an application, as far as the model has what they do.

use super::arguments::{Returned, bytes, field, kind, number, text};
use super::expect::{Timestamps, seconds};
use super::multipath::Multipath;
use super::{Player, Stop, sockopt};
use crate::script::{Argument, Call, CallResult};
use anabranch_units::{Instant, Span};
use std::collections::BTreeMap;

/// Flags of the calls that send and receive without an effect: no call of a script waits for room, and what a segment is
/// copied from is the same on the wire.
const NEUTRAL_FLAGS: [&str; 4] = ["MSG_NOSIGNAL", "MSG_DONTWAIT", "MSG_ZEROCOPY", "0"];
/// More will be written at once.
const MORE: &str = "MSG_MORE";
/// Events that a poll asks for or reports.
const POLL_EVENTS: [&str; 9] =
    ["POLLIN", "POLLRDNORM", "POLLOUT", "POLLWRNORM", "POLLERR", "POLLHUP", "POLLRDHUP", "POLLPRI", "0"];

/// The file descriptors of the script.
#[derive(Default)]
pub(super) struct Descriptors {
    socket: Option<i64>,
    accepted: Option<i64>,
    /// Bytes that the application has read.
    read: u64,
    closed: bool,
    /// The application reads no more.
    pub(super) receive_shut: bool,
    blocked: Option<Blocked>,
    /// Options that were set, by their names, with their numbers.
    pub(super) options: BTreeMap<String, i64>,
}

/// A call that has not returned yet.
#[derive(Clone)]
struct Blocked {
    call: Call,
    begun: Instant,
    /// When it must return, and how far from it.
    until: Instant,
    tolerance: Span,
}

impl Blocked {
    /// When a poll has waited for the milliseconds that it is given; none if it waits without end.
    fn time_up(&self) -> Option<Instant> {
        let given = number(self.call.arguments.get(2)).filter(|_| self.call.name == "poll")?;
        Some(self.begun.saturating_add(Span::from_ms(u64::try_from(given).ok()?)))
    }
}

impl Descriptors {
    /// When a call that blocks goes on by itself, or must have returned.
    pub(super) fn blocked_until(&self) -> Option<Instant> {
        self.blocked.as_ref().map(|blocked| {
            let latest = blocked.until.saturating_add(blocked.tolerance);
            blocked.time_up().map_or(latest, |up| up.min(latest))
        })
    }
}

/// Why the model cannot make a call, which may be one that blocks; none if it can.
pub(super) fn beyond(call: &Call, blocks: bool) -> Option<String> {
    let argument = |index: usize| call.arguments.get(index);
    let name = call.name.as_str();
    if blocks && kind(name) == "write" {
        return Some(format!("the model has no send buffer, and so no {name} that blocks"));
    }
    match name {
        "socket" => {
            let protocol = text(argument(2));
            let plain = text(argument(1)).split('|').any(|word| word == "SOCK_STREAM")
                && ["IPPROTO_TCP", "IPPROTO_MPTCP", ""].contains(&protocol);
            (!plain).then(|| "the model's sockets are of TCP".into())
        }
        "bind" | "listen" | "accept" | "accept4" | "connect" | "write" | "writev" | "read" | "readv"
        | "close" => None,
        "send" | "recv" | "sendto" | "recvfrom" => foreign_flags(argument(3)),
        "sendmsg" | "recvmsg" => foreign_flags(argument(2)).or_else(|| {
            let control = field(argument(1), "msg_control", 3);
            let none = control.is_none_or(|control| *control == Argument::List(Vec::new()));
            (!none).then(|| format!("the model has no control messages of {name}"))
        }),
        "shutdown" => {
            let how = text(argument(1));
            let is_known = ["SHUT_RD", "SHUT_WR", "SHUT_RDWR"].contains(&how);
            (!is_known).then(|| format!("the model has no shutdown with {how}"))
        }
        "fcntl" => (!["F_GETFL", "F_SETFL"].contains(&text(argument(1))))
            .then(|| format!("the model has no fcntl with {}", text(argument(1)))),
        "ioctl" => {
            let request = text(argument(1));
            (!["SIOCINQ", "FIONREAD", "SIOCOUTQ", "TIOCOUTQ", "SIOCOUTQNSD", "FIONBIO"].contains(&request))
                .then(|| format!("the model has no ioctl with {request}"))
        }
        "poll" => beyond_poll(argument(0)),
        "setsockopt" | "getsockopt" => sockopt::beyond(call),
        _ => Some(format!("the model has no call {name}")),
    }
}

/// Flags that would change what a call does.
fn foreign_flags(flags: Option<&Argument>) -> Option<String> {
    if let Some(number) = number(flags).filter(|number| *number != 0) {
        return Some(format!("the model has no flags {number}"));
    }
    let flags = text(flags);
    let neutral = flags.is_empty()
        || flags.split('|').map(str::trim).all(|flag| flag == MORE || NEUTRAL_FLAGS.contains(&flag));
    (!neutral).then(|| format!("the model has no {flags}"))
}

/// The descriptors of a poll: one of the connection's, with events that the model knows.
fn beyond_poll(descriptors: Option<&Argument>) -> Option<String> {
    let Some(Argument::List(entries)) = descriptors else {
        return Some("the model has no poll without a list of descriptors".into());
    };
    let foreign = |entry: &Argument| {
        let events = [field(Some(entry), "events", 1), field(Some(entry), "revents", 2)];
        let names = events.into_iter().map(text).flat_map(|names| names.split('|'));
        names.map(str::trim).find(|name| !name.is_empty() && !POLL_EVENTS.contains(name)).map(str::to_owned)
    };
    entries.iter().find_map(foreign).map(|event| format!("the model has no {event} of a poll"))
}

impl Player<'_> {
    pub(super) fn call(&mut self, call: &Call, until: Option<Instant>) -> Result<(), Stop> {
        self.begin(call)?;
        if let Some(until) = until {
            let tolerance = self.script.choices.tolerance(until.saturating_since(self.now));
            self.descriptors.blocked =
                Some(Blocked { call: call.clone(), begun: self.now, until, tolerance });
            return self.let_blocked_return();
        }
        let returned = self.finish(call)?;
        check(call, &returned)
    }

    /// A call that blocks returns when what it waits for is there, and its time must be that of the script.
    pub(super) fn let_blocked_return(&mut self) -> Result<(), Stop> {
        let Some(blocked) = self.descriptors.blocked.clone() else {
            return Ok(());
        };
        let is_ready = self.is_ready(&blocked);
        let Blocked { call, until, tolerance, .. } = blocked;
        let (name, wanted, now) = (&call.name, seconds(until), seconds(self.now));
        if !is_ready {
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
    fn is_ready(&self, blocked: &Blocked) -> bool {
        let call = &blocked.call;
        let connection = &self.connection;
        match kind(&call.name) {
            "accept" => connection.is_established(),
            "connect" => connection.is_established() || connection.is_reset(),
            "read" => {
                let waiting = connection.received() > self.descriptors.read;
                waiting || connection.is_at_end() || connection.is_reset() || self.descriptors.receive_shut
            }
            "poll" => {
                let is_over = blocked.time_up().is_some_and(|up| self.now >= up);
                is_over || self.events_of(call).iter().any(|events| !events.is_empty())
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
                // Another connection, with numbers and a clock of its own.
                self.peer_origin = 0;
                self.timestamps =
                    Timestamps::new(self.config.timestamp_tick, self.script.choices.timestamp_tick);
                let asks = text(call.arguments.get(2)) == "IPPROTO_MPTCP";
                self.multipath = if asks { Multipath::Open { syns: 0 } } else { Multipath::Plain };
                self.multipath_listens = asks;
            }
            "listen" => self.connection.listen(),
            "connect" if self.connection.is_idle() => self.connection.connect(self.now),
            "setsockopt" => self.set_option(call)?,
            _ => {}
        }
        Ok(())
    }

    /// Before the handshake only: a controller cannot be exchanged later.
    pub(super) fn choose_control(&mut self, name: &str) -> Result<(), Stop> {
        if self.control.as_deref() == Some(name) {
            return Ok(());
        }
        if !self.connection.is_idle() {
            let reason = "the congestion control of a connection is chosen before connect or listen";
            return Err(Stop::Beyond(reason.into()));
        }
        let mut choices = self.script.choices.clone();
        choices.control(name).map_err(Stop::Beyond)?;
        // What options of the socket have set before stays.
        let mss = self.config.mss;
        self.config = choices.config().map_err(Stop::Deviation)?;
        self.config.mss = mss;
        self.control = Some(name.to_owned());
        self.renew_socket();
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
            "poll" => self.poll(call)?,
            "ioctl" => self.queue_length(call)?,
            "fcntl" if text(argument(1)) == "F_GETFL" => match call.result {
                CallResult::Value(flags) => Returned::Value(flags),
                _ => Returned::Value(0),
            },
            "getsockopt" => self.option(call)?,
            "connect" => self.connected(),
            "close" => self.close(number(argument(0))),
            "shutdown" => self.shut_down(text(argument(1))),
            name => match kind(name) {
                "accept" => self.accept(call),
                "write" => self.write(call)?,
                "read" => self.read(bytes(call)),
                _ => Returned::Value(0),
            },
        })
    }

    /// RFC 9293 has no half of it that reads no more; hosts give the end of the stream from then on, and take data as ever.
    fn shut_down(&mut self, how: &str) -> Returned {
        let connection = &self.connection;
        if connection.is_reset() || !connection.is_established() {
            return Returned::Error("ENOTCONN");
        }
        if how != "SHUT_WR" {
            self.descriptors.receive_shut = true;
        }
        if how != "SHUT_RD" {
            self.connection.close(self.now);
        }
        Returned::Value(0)
    }

    /// What a poll would report for each of its descriptors.
    fn events_of(&self, call: &Call) -> Vec<Vec<&'static str>> {
        let Some(Argument::List(entries)) = call.arguments.first() else { return Vec::new() };
        let of_entry = |entry: &Argument| {
            let asked: Vec<&str> = text(field(Some(entry), "events", 1)).split('|').map(str::trim).collect();
            let descriptor = number(field(Some(entry), "fd", 0));
            let mut events = self.ready_events(descriptor);
            events.retain(|event| asked.contains(event) || ["POLLERR", "POLLHUP"].contains(event));
            events
        };
        entries.iter().map(of_entry).collect()
    }

    /// Whether a descriptor is that of the socket that listens.
    pub(super) fn is_listener(&self, descriptor: Option<i64>) -> bool {
        descriptor == self.descriptors.socket && self.connection.is_passive()
    }

    fn ready_events(&self, descriptor: Option<i64>) -> Vec<&'static str> {
        let (connection, descriptors) = (&self.connection, &self.descriptors);
        let mut events = Vec::new();
        if self.is_listener(descriptor) {
            if connection.is_established() && descriptors.accepted.is_none() {
                events.extend(["POLLIN", "POLLRDNORM"]);
            }
            return events;
        }
        let reset = connection.is_reset();
        let ends = connection.is_at_end() || descriptors.receive_shut;
        if connection.received() > descriptors.read || ends || reset {
            events.extend(["POLLIN", "POLLRDNORM"]);
        }
        if connection.is_established() || reset {
            events.extend(["POLLOUT", "POLLWRNORM"]);
        }
        if ends || reset {
            events.push("POLLRDHUP");
        }
        if (ends && connection.is_closing()) || reset {
            events.push("POLLHUP");
        }
        if reset {
            events.push("POLLERR");
        }
        events
    }

    fn poll(&self, call: &Call) -> Result<Returned, Stop> {
        let Some(Argument::List(entries)) = call.arguments.first() else { return Ok(Returned::Value(0)) };
        let reported = self.events_of(call);
        for (entry, events) in entries.iter().zip(&reported) {
            let Some(Argument::Name(wanted)) = field(Some(entry), "revents", 2) else { continue };
            let mut wanted: Vec<&str> = wanted.split('|').map(str::trim).collect();
            let mut events = events.clone();
            wanted.sort_unstable();
            events.sort_unstable();
            if wanted != events {
                let (events, wanted) = (events.join("|"), wanted.join("|"));
                return Err(Stop::Deviation(format!("poll reports {events}, expected {wanted}")));
            }
        }
        Ok(Returned::Value(reported.iter().filter(|events| !events.is_empty()).count() as i64))
    }

    /// Bytes that wait for the application, or for the other end.
    fn queue_length(&self, call: &Call) -> Result<Returned, Stop> {
        let length = match text(call.arguments.get(1)) {
            "SIOCINQ" | "FIONREAD" => self.connection.received() - self.descriptors.read,
            "SIOCOUTQNSD" => self.connection.unsent(),
            "SIOCOUTQ" | "TIOCOUTQ" => self.connection.unacknowledged(),
            _ => return Ok(Returned::Value(0)),
        };
        sockopt::compare(call, call.arguments.get(2), length as i64)
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

    fn write(&mut self, call: &Call) -> Result<Returned, Stop> {
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
        let Some(bytes) = bytes(call).filter(|bytes| *bytes >= 0) else {
            return Err(Stop::Beyond("a write without a number of bytes".into()));
        };
        let flags = text(call.arguments.get(if call.name == "sendmsg" { 2 } else { 3 }));
        let more = flags.split('|').any(|flag| flag.trim() == MORE);
        self.connection.write(self.now, bytes as u64, more);
        Ok(Returned::Value(bytes))
    }

    fn read(&mut self, bytes: Option<i64>) -> Returned {
        let waiting = self.connection.received() - self.descriptors.read;
        if waiting == 0 {
            return if self.connection.is_reset() {
                Returned::Error("ECONNRESET")
            } else if self.connection.is_at_end() || self.descriptors.receive_shut {
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
            if self.connection.received() > self.descriptors.read {
                self.connection.abort(self.now);
            } else {
                self.connection.close(self.now);
            }
        }
        Returned::Value(0)
    }
}

fn check(call: &Call, returned: &Returned) -> Result<(), Stop> {
    let agrees = match (&call.result, returned) {
        (CallResult::Any, _) => true,
        (CallResult::Value(wanted), Returned::Value(value)) => wanted == value,
        (CallResult::Error(wanted), Returned::Error(error)) => wanted == error,
        (CallResult::AnyError, Returned::Error(_)) => true,
        _ => false,
    };
    if agrees {
        return Ok(());
    }
    let wanted = match &call.result {
        CallResult::Any => "?".into(),
        CallResult::Value(value) => value.to_string(),
        CallResult::Error(error) => format!("-1 {error}"),
        CallResult::AnyError => "-1".into(),
    };
    let came = match returned {
        Returned::Value(value) => value.to_string(),
        Returned::Error(error) => format!("-1 {error}"),
    };
    Err(Stop::Deviation(format!("{} gave {came}, expected {wanted}", call.name)))
}
