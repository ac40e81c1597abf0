//! Options of sockets.

use super::arguments::{Returned, number, text};
use super::{Player, Stop};
use crate::script::{Argument, Call};

/// Options that the model has, or that have no effect on the segments of a script: it has no send buffer, asks no route
/// and waits for no listener.
const NEUTRAL: &[&str] = &[
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_DEBUG",
    "SO_SNDBUF",
    "SO_SNDBUFFORCE",
    "SO_ZEROCOPY",
    "SO_PRIORITY",
    "SO_MARK",
    "SO_BUSY_POLL",
    "SO_INCOMING_CPU",
    "TCP_NODELAY",
    "TCP_CORK",
    "TCP_NOPUSH",
    "TCP_NOTSENT_LOWAT",
    "TCP_KEEPIDLE",
    "TCP_KEEPINTVL",
    "TCP_KEEPCNT",
    "IP_TOS",
    "IPV6_TCLASS",
    "IP_TTL",
    "IPV6_UNICAST_HOPS",
    "IP_MTU_DISCOVER",
    "IPV6_MTU_DISCOVER",
    "IP_FREEBIND",
    "IPV6_V6ONLY",
];
/// Options that the model stands for while they are switched off.
const NEUTRAL_WHEN_OFF: &[&str] = &[
    "SO_KEEPALIVE",
    "SO_OOBINLINE",
    "TCP_DEFER_ACCEPT",
    "TCP_INQ",
    "TCP_FASTOPEN",
    "TCP_THIN_LINEAR_TIMEOUTS",
    "TCP_THIN_DUPACK",
    "TCP_USER_TIMEOUT",
    "SO_TIMESTAMPING",
];
/// Options that are read as they are.
const READ: &[&str] = &["SO_ERROR", "SO_RCVBUF", "TCP_MAXSEG", "TCP_CONGESTION", "TCP_IS_MPTCP"];

/// The number of an option's value: `[1]`, or 1 itself.
fn value(argument: Option<&Argument>) -> Option<i64> {
    match argument {
        Some(Argument::List(values)) => number(values.first()),
        other => number(other),
    }
}

/// Why the model has not an option; none if it has it.
pub(super) fn beyond(call: &Call) -> Option<String> {
    let option = text(call.arguments.get(2));
    let is_off = value(call.arguments.get(3)) == Some(0);
    // Hosts hand out another size than what was set.
    let hands_out_size = call.name == "getsockopt" && option.starts_with("SO_SNDBUF");
    let is_known = (NEUTRAL.contains(&option) && !hands_out_size)
        || (NEUTRAL_WHEN_OFF.contains(&option) && is_off)
        || (option == "SO_LINGER" && is_without_linger(call.arguments.get(3)))
        || match call.name.as_str() {
            "setsockopt" => ["TCP_CONGESTION", "TCP_MAXSEG"].contains(&option),
            _ => READ.contains(&option),
        };
    (!is_known).then(|| format!("the model has no {} of {option}", call.name))
}

/// `{onoff=0, linger=0}`
fn is_without_linger(argument: Option<&Argument>) -> bool {
    match argument {
        Some(Argument::Structure(fields)) => {
            fields.iter().any(|(name, value)| name == "onoff" && number(Some(value)) == Some(0))
        }
        Some(Argument::List(values)) => is_without_linger(values.first()),
        _ => false,
    }
}

/// What a call gives that hands out a number, beside the number that the script expects.
pub(super) fn compare(call: &Call, expected: Option<&Argument>, value_now: i64) -> Result<Returned, Stop> {
    match value(expected) {
        Some(wanted) if wanted != value_now => {
            let name = &call.name;
            Err(Stop::Deviation(format!("{name} hands out {value_now}, expected {wanted}")))
        }
        _ => Ok(Returned::Value(0)),
    }
}

impl Player<'_> {
    /// An option that is set.
    pub(super) fn set_option(&mut self, call: &Call) -> Result<(), Stop> {
        let option = text(call.arguments.get(2));
        let given = call.arguments.get(3);
        match option {
            "TCP_CONGESTION" => {
                let name = match given {
                    Some(Argument::List(values)) => text(values.first()),
                    other => text(other),
                };
                return self.choose_control(name);
            }
            "TCP_MAXSEG" => self.limit_segments(value(given))?,
            "TCP_CORK" | "TCP_NOPUSH" => self.connection.set_cork(self.now, value(given) != Some(0)),
            // What waits leaves now, even where TCP_CORK holds for what comes after.
            "TCP_NODELAY" if value(given) != Some(0) => self.connection.flush(self.now),
            _ => {}
        }
        if let Some(value) = value(given) {
            let _ = self.descriptors.options.insert(option.to_owned(), value);
        }
        Ok(())
    }

    /// The largest segment, to be sent and to be announced: before the handshake.
    fn limit_segments(&mut self, bytes: Option<i64>) -> Result<(), Stop> {
        let beyond = |reason: &str| Stop::Beyond(reason.to_owned());
        let listens = self.connection.is_listening();
        if !self.connection.is_idle() && !listens {
            return Err(beyond("the largest segment of a connection is chosen before its handshake"));
        }
        let mss = bytes.and_then(|bytes| u16::try_from(bytes).ok());
        self.config.mss = mss.ok_or_else(|| beyond("TCP_MAXSEG without a number of bytes"))?;
        anabranch_transport::TransportConfig::Tcp(self.config.clone())
            .check()
            .map_err(|error| Stop::Beyond(error.to_string()))?;
        self.renew_socket();
        if listens {
            self.connection.listen();
        }
        Ok(())
    }

    /// A socket with the configuration as it is now, and with the options that were set.
    pub(super) fn renew_socket(&mut self) {
        self.connection = self.script.socket(&self.config);
        let corked = ["TCP_CORK", "TCP_NOPUSH"]
            .iter()
            .any(|name| self.descriptors.options.get(*name).is_some_and(|value| *value != 0));
        self.connection.set_cork(self.now, corked);
    }

    /// An option that is read.
    pub(super) fn option(&self, call: &Call) -> Result<Returned, Stop> {
        let name = text(call.arguments.get(2));
        let expected = call.arguments.get(3);
        let connection = &self.connection;
        match name {
            "SO_ERROR" => self.socket_error(expected),
            "TCP_CONGESTION" => {
                let wanted = match expected {
                    Some(Argument::List(values)) => text(values.first()),
                    other => text(other),
                };
                let control = self.control.as_deref().unwrap_or_else(|| self.script.choices.control_name());
                if !wanted.is_empty() && wanted != control {
                    let text = format!("getsockopt hands out {control:?}, expected {wanted:?}");
                    return Err(Stop::Deviation(text));
                }
                Ok(Returned::Value(0))
            }
            // Once connected, hosts size it in ways of their own.
            "SO_RCVBUF" => match self.script.choices.receive_space.filter(|_| !connection.is_established()) {
                Some(size) => compare(call, expected, size as i64),
                None => Err(Stop::Beyond("the model has no getsockopt of SO_RCVBUF".into())),
            },
            "TCP_MAXSEG" => {
                let payload = if connection.is_established() {
                    connection.info().full_payload
                } else {
                    self.config.mss.into()
                };
                compare(call, expected, payload as i64)
            }
            // A listener goes on asking for it.
            "TCP_IS_MPTCP" => {
                let listener = self.is_listener(number(call.arguments.first()));
                let multipath = self.multipath.is_open() || (listener && self.multipath_listens);
                compare(call, expected, i64::from(multipath))
            }
            _ => match self.descriptors.options.get(name) {
                Some(set) => compare(call, expected, *set),
                None => Err(Stop::Beyond(format!("the model has no getsockopt of {name} that was not set"))),
            },
        }
    }

    /// The error that waits on the socket: none, or that of a reset.
    fn socket_error(&self, expected: Option<&Argument>) -> Result<Returned, Stop> {
        let wanted = match expected {
            Some(Argument::List(values)) => values.first(),
            other => other,
        };
        let reset = self.connection.is_reset();
        let agrees = match wanted {
            None | Some(Argument::Any) => true,
            Some(Argument::Number(number)) => (*number != 0) == reset,
            Some(Argument::Name(name)) => reset && ["ECONNREFUSED", "ECONNRESET"].contains(&name.as_str()),
            Some(_) => false,
        };
        if agrees {
            return Ok(Returned::Value(0));
        }
        let error = if reset { "an error" } else { "no error" };
        Err(Stop::Deviation(format!("the socket has {error}, and the script expects otherwise")))
    }
}
