//! What a script chooses: the transport, its parameters, tolerances.

use crate::script::{Argument, Place};
use anabranch_transport::{PRESETS, TcpConfig, TransportConfig, tcp_preset};
use anabranch_units::{Bytes, Span, parse_bytes, parse_span};
use serde_json::{Map, Value};

/// How far from its time a segment may leave, in microseconds, unless a script says otherwise.
const TOLERANCE_US: u64 = 4000;
/// IPv4 and TCP headers without options, and IPv6 and TCP headers (RFC 9293 section 3.7.1).
const HEADERS: u64 = 40;
const HEADERS_OF_IPV6: u64 = 60;
/// Of Ethernet, and of the interface that packetdrill plays on.
const MTU: u64 = 1500;
/// Our first sequence number; scripts count from it.
const INITIAL_SEQUENCE: u32 = 1_000_000;
/// Tenths of a per cent of the time since the event before that a segment may leave apart from its time, unless a script
/// says otherwise: the worst inaccuracy of Linux's timer wheel.
const TOLERANCE_PERMILLE: u64 = 125;

/// Options of packetdrill that change nothing here.
const WITHOUT_EFFECT: [&str; 21] = [
    // How packetdrill cuts what it injects; the script's segments arrive as they are.
    "mss",
    "bind_port",
    "connect_port",
    "local_ip",
    "remote_ip",
    "local_linux_ip",
    "gateway_ip",
    "netmask_ip",
    "is_anyip",
    "code_command",
    "code_format",
    "code_sockopt",
    "verbose",
    "v",
    "debug",
    "speed",
    "non_fatal",
    "dry_run",
    "send_omit_free",
    "persistent_tun_dev",
    "tun_dev",
];

/// Beginnings of options that are about what the model has not: wires between hosts, shared objects, other protocols.
const BEYOND: [&str; 8] =
    ["wire_", "so_", "udp_encaps", "sctp_", "psp_", "init_scripts", "strict_segments", "tcp_ts_ecr_scaled"];

/// What words of the scripts stand for.
#[derive(Clone, Default, Debug)]
pub(crate) struct Definitions(Vec<(String, Argument)>);

impl Definitions {
    pub(crate) fn value(&self, word: &str) -> Option<Argument> {
        self.0.iter().rev().find(|(name, _)| name == word).map(|(_, value)| value.clone())
    }
}

/// A tick of timers of 1 ms.
const PUBLISHED_TICK_PS: u64 = 1_000_000_000;

/// The transport of a script that names none.
#[must_use]
pub fn default_transport() -> &'static str {
    "linux-cubic"
}

/// What the command line and a script choose.
#[derive(Clone, Debug)]
pub struct ScriptChoices {
    transport: String,
    /// Fields of the transport's configuration, in the order in which they are set.
    fields: Vec<(Option<Place>, String, Value)>,
    pub(crate) definitions: Definitions,
    tolerance: Span,
    tolerance_permille: u64,
    /// Where a setting of the kernel says that a server agrees to ECN and a client does not ask for it.
    pub(crate) passive_ecn: Option<Place>,
    /// It begins with the settings of published scripts.
    pub(crate) is_published: bool,
    /// The size that a socket's receive buffer has before it is connected, if a setting of the kernel says so.
    pub(crate) receive_space: Option<u64>,
    mtu: Option<(Place, u64)>,
    /// Addresses are those of IPv6, whose header is longer.
    ipv6: bool,
    /// Tick of the timestamps that scripts write; without it they are only told apart.
    pub(crate) timestamp_tick: Option<Span>,
    pub(crate) initial_sequence: u32,
    /// Every segment must be expected.
    pub(crate) all_packets: bool,
    /// What the script has not read waits in the receive buffer.
    pub(crate) holds: bool,
}

impl ScriptChoices {
    /// With a transport by the name of its preset.
    ///
    /// # Errors
    /// The message for an unknown name, or one of a transport that is not TCP over one path.
    pub fn new(transport: &str) -> Result<Self, String> {
        check_transport(transport)?;
        Ok(Self {
            transport: transport.to_owned(),
            fields: Vec::new(),
            definitions: Definitions::default(),
            tolerance: Span::from_us(TOLERANCE_US),
            tolerance_permille: TOLERANCE_PERMILLE,
            passive_ecn: None,
            is_published: false,
            receive_space: None,
            mtu: None,
            ipv6: false,
            timestamp_tick: None,
            initial_sequence: INITIAL_SEQUENCE,
            all_packets: false,
            holds: false,
        })
    }

    /// Lets a word of scripts stand for something else: `NAME=VALUE`, with a number, a word, a `"text"` or a `` `command` ``.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn define(&mut self, definition: &str) -> Result<(), String> {
        let (name, value) = definition.split_once('=').unwrap_or((definition, ""));
        let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_word || value.is_empty() {
            return Err(format!("{definition} defines nothing; it is written NAME=VALUE"));
        }
        let quoted = value.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let hexadecimal = value.strip_prefix("0x").and_then(|digits| i64::from_str_radix(digits, 16).ok());
        let meaning = match (quoted, hexadecimal.or_else(|| value.parse().ok())) {
            (Some(text), _) => Argument::Text(text.to_owned()),
            (None, Some(number)) => Argument::Number(number),
            (None, None) => Argument::Name(value.to_owned()),
        };
        self.definitions.0.push((name.to_owned(), meaning));
        Ok(())
    }

    /// How far from its time something may be that is to happen so long after the event before.
    pub(crate) fn tolerance(&self, since: Span) -> Span {
        let share = u128::from(since.as_ps()) * u128::from(self.tolerance_permille) / 1000;
        self.tolerance.max(Span::from_ps(u64::try_from(share).unwrap_or(u64::MAX)))
    }

    /// The same right behind another event.
    pub(crate) fn least_tolerance(&self) -> Span {
        self.tolerance
    }

    /// Takes an option of a script. A reason says that the model has no notion of it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn set(
        &mut self,
        place: Place,
        name: &str,
        value: Option<&str>,
    ) -> Result<Option<String>, String> {
        let given = value.filter(|value| !value.is_empty());
        let needed = || given.ok_or_else(|| format!("--{name} needs a value: --{name}=VALUE"));
        match name {
            "transport" => {
                let transport = needed()?;
                self.preset(transport)?;
            }
            "tolerance_usecs" => self.tolerance = microseconds(name, needed()?)?,
            "tolerance_percent" => self.tolerance_permille = permille(name, needed()?)?,
            "define" | "D" => self.define(needed()?)?,
            "tcp_ts_tick_usecs" => {
                let tick = microseconds(name, needed()?)?;
                self.timestamp_tick = (tick > Span::ZERO).then_some(tick);
            }
            "initial_sequence" => self.initial_sequence = whole(name, needed()?)?,
            "all_packets" => self.all_packets = true,
            "hold_until_read" => self.holds = true,
            "mtu" => self.mtu = Some((place, whole(name, needed()?)?)),
            "ip_version" => match needed()? {
                "ipv4" | "ipv4-mapped-ipv6" => self.ipv6 = false,
                "ipv6" => self.ipv6 = true,
                other => {
                    return Err(format!(
                        "--ip_version is {other:?}; there are ipv4, ipv4-mapped-ipv6 and ipv6"
                    ));
                }
            },
            field if field.starts_with("tcp.") => {
                let value = field_value(needed()?);
                self.fields.push((Some(place), field["tcp.".len()..].to_owned(), value));
            }
            ineffective if WITHOUT_EFFECT.contains(&ineffective) => {}
            ineffective if BEYOND.iter().any(|begin| ineffective.starts_with(begin)) => {
                return Ok(Some(format!("the model has no --{ineffective}")));
            }
            _ => {
                return Err(format!("there is no option --{name}; docs/scripts.md lists those there are"));
            }
        }
        Ok(None)
    }

    /// Sets a field of the transport's configuration.
    pub(crate) fn set_field(&mut self, place: Place, name: &str, value: impl Into<Value>) {
        self.fields.push((Some(place), name.to_owned(), value.into()));
    }

    /// Whether something is set otherwise.
    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        self.fields.len() != other.fields.len()
            || self.transport != other.transport
            || self.passive_ecn != other.passive_ecn
            || self.is_published != other.is_published
    }

    /// The MSS is what the headers leave of the MTU; what a script says of the MSS itself comes on top.
    pub(crate) fn decide_mss(&mut self) {
        if self.mtu.is_none() && !self.ipv6 {
            return;
        }
        let (place, mtu) = self.mtu.map_or((None, MTU), |(place, mtu)| (Some(place), mtu));
        let headers = if self.ipv6 { HEADERS_OF_IPV6 } else { HEADERS };
        self.fields.insert(0, (place, "mss".into(), mtu.saturating_sub(headers).into()));
    }

    /// Whether its transport is one of Linux.
    pub(crate) fn is_linux(&self) -> bool {
        self.transport.starts_with("linux-")
    }

    /// Sockets of Linux wait by Nagle's algorithm, unless an application says that they do not.
    pub(crate) fn decide_nagle(&mut self, switched_off: bool) {
        if self.is_linux() {
            self.fields.insert(0, (None, "nagle".into(), (!switched_off).into()));
        }
    }

    /// Published scripts are run by kernels whose timers tick a thousand times a second
    /// (tools/testing/selftests/net/packetdrill/config of Linux: CONFIG_HZ=1000).
    pub(crate) fn decide_ticks(&mut self) {
        if self.is_linux() && self.is_published {
            self.fields.insert(0, (None, "timer_tick".into(), PUBLISHED_TICK_PS.into()));
        }
    }

    /// A server agrees to ECN if it is asked, a client does not ask, where the kernel is set so.
    pub(crate) fn decide_ecn(&mut self, opens_actively: bool) {
        if let Some(place) = self.passive_ecn.take() {
            self.set_field(place, "ecn", !opens_actively);
        }
    }

    /// Chooses a congestion control by its name in Linux.
    pub(crate) fn control(&mut self, name: &str) -> Result<(), String> {
        let transport = match name {
            "reno" | "cubic" | "bbr" => format!("linux-{name}"),
            "dctcp" | "newreno" => name.to_owned(),
            _ => {
                return Err(format!("the model has no congestion control {name} of Linux"));
            }
        };
        self.transport = transport;
        Ok(())
    }

    /// The congestion control's name in Linux.
    pub(crate) fn control_name(&self) -> &str {
        self.transport.strip_prefix("linux-").unwrap_or(&self.transport)
    }

    /// Chooses a preset of one path by its name.
    pub(crate) fn preset(&mut self, name: &str) -> Result<(), String> {
        let _ = check_transport(name)?;
        name.clone_into(&mut self.transport);
        Ok(())
    }

    /// Checks that the configuration holds.
    pub(crate) fn settle(&self) -> Result<(), (Place, String)> {
        let start = Place { line: 1, column: 1 };
        self.resolve().map(drop).map_err(|(place, message)| (place.unwrap_or(start), message))
    }

    /// The configuration; settled before.
    pub(crate) fn config(&self) -> Result<TcpConfig, String> {
        self.resolve().map_err(|(_, message)| message)
    }

    fn resolve(&self) -> Result<TcpConfig, (Option<Place>, String)> {
        let mut config = check_transport(&self.transport).map_err(|message| (None, message))?;
        for (place, name, value) in &self.fields {
            let wrong = |message: String| (*place, format!("--tcp.{name}={}: {message}", bare(value)));
            let mut document = serde_json::to_value(&config).map_err(|error| wrong(error.to_string()))?;
            set_field(&mut document, name, value).map_err(wrong)?;
            config = serde_json::from_value(document).map_err(|error| wrong(error.to_string()))?;
            let checked = TransportConfig::Tcp(config.clone());
            checked.check().map_err(|error| wrong(error.to_string()))?;
        }
        let last = self.fields.last().and_then(|(place, _, _)| *place);
        let checked = TransportConfig::Tcp(config.clone());
        checked.check_together().map_err(|error| (last, error.to_string()))?;
        Ok(config)
    }
}

fn check_transport(name: &str) -> Result<TcpConfig, String> {
    tcp_preset(name).ok_or_else(|| {
        let names: Vec<&str> =
            PRESETS.iter().map(|(name, _)| *name).filter(|name| tcp_preset(name).is_some()).collect();
        format!("there is no TCP transport {name:?}; there are {}", names.join(", "))
    })
}

fn microseconds(name: &str, text: &str) -> Result<Span, String> {
    let us: u64 = whole(name, text)?;
    if us > 1_000_000_000 {
        return Err(format!("--{name} is {us}; at most 1000000000 us are possible"));
    }
    Ok(Span::from_us(us))
}

/// A share in per cent, with a digit behind the point at most.
fn permille(name: &str, text: &str) -> Result<u64, String> {
    let wrong = || format!("--{name} is {text:?}; it must be a number from 0 to 100 such as 12.5");
    let (percent, tenths) = text.split_once('.').unwrap_or((text, "0"));
    let (percent, tenths): (u64, u64) =
        (percent.parse().map_err(|_| wrong())?, tenths.parse().map_err(|_| wrong())?);
    if percent > 100 || tenths > 9 { Err(wrong()) } else { Ok(percent * 10 + tenths) }
}

fn whole<N: std::str::FromStr>(name: &str, text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("--{name} is {text:?}; it must be a whole number"))
}

/// A switch, a number, a quantity in its base unit, or a name.
fn field_value(text: &str) -> Value {
    if let Ok(plain) = serde_json::from_str::<Value>(text) {
        return plain;
    }
    if let Ok(span) = parse_span(text) {
        return span.as_ps().into();
    }
    if let Ok(Bytes(bytes)) = parse_bytes(text) {
        return bytes.into();
    }
    text.into()
}

/// A value without the quotes of JSON.
fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Sets `a.b.c` in a document that has it.
fn set_field(document: &mut Value, path: &str, value: &Value) -> Result<(), String> {
    let mut place = document;
    for part in path.split('.') {
        let names = place.as_object().map(|fields| {
            let names: Vec<&str> = fields.keys().map(String::as_str).collect();
            names.join(", ")
        });
        place = match place.get_mut(part) {
            Some(inner) => inner,
            None => {
                return Err(match names {
                    Some(names) => format!("there is no {part}; there are {names}"),
                    None => format!("nothing is below it, and so no {part}"),
                });
            }
        };
    }
    // An algorithm by its name alone has its defaults.
    *place = match (place.get("algorithm"), value) {
        (Some(_), Value::String(name)) => {
            Value::Object(Map::from_iter([("algorithm".to_owned(), name.as_str().into())]))
        }
        _ => value.clone(),
    };
    Ok(())
}
