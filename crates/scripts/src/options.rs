//! What a script chooses: the transport, its parameters, tolerances.

use crate::script::Place;
use anabranch_transport::{PRESETS, TcpConfig, TransportConfig, tcp_preset};
use anabranch_units::{Bytes, Span, parse_bytes, parse_span};
use serde_json::{Map, Value};

/// How far from its time a segment may leave, in microseconds, unless a script says otherwise.
const TOLERANCE_US: u64 = 4000;
/// IPv4 and TCP headers without options.
const HEADERS: u64 = 40;
/// Our first sequence number; scripts count from it.
const INITIAL_SEQUENCE: u32 = 1_000_000;
/// Largest receive buffer of the settings that published scripts begin with (`defaults.sh`).
const DEFAULTS_BUFFER: u64 = 15 << 20;

/// Options of packetdrill that change nothing here.
const WITHOUT_EFFECT: [&str; 12] = [
    "bind_port",
    "connect_port",
    "local_ip",
    "remote_ip",
    "gateway_ip",
    "netmask_ip",
    "verbose",
    "v",
    "speed",
    "non_fatal",
    "dry_run",
    "send_omit_free",
];

/// Settings of Linux with the values that the model stands for.
const KERNEL_SETTINGS: &[(&str, &[&str])] = &[
    ("tcp_dsack", &["1"]),
    ("tcp_fack", &["0"]),
    ("tcp_frto", &["0", "2"]),
    ("tcp_reordering", &["3"]),
    ("tcp_recovery", &["1"]),
    ("tcp_slow_start_after_idle", &["1"]),
    ("tcp_window_scaling", &["1"]),
    ("tcp_moderate_rcvbuf", &["0", "1"]),
    ("tcp_no_metrics_save", &["0", "1"]),
    ("tcp_early_retrans", &["3", "4"]),
    // How many segments a train has: a script may write any train as one segment.
    ("tcp_min_tso_segs", &["1", "2", "10"]),
];

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
    pub(crate) tolerance: Span,
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
            tolerance: Span::from_us(TOLERANCE_US),
            timestamp_tick: None,
            initial_sequence: INITIAL_SEQUENCE,
            all_packets: false,
            holds: false,
        })
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
                check_transport(transport)?;
                transport.clone_into(&mut self.transport);
            }
            "tolerance_usecs" => self.tolerance = microseconds(name, needed()?)?,
            "tcp_ts_tick_usecs" => {
                let tick = microseconds(name, needed()?)?;
                self.timestamp_tick = (tick > Span::ZERO).then_some(tick);
            }
            "initial_sequence" => self.initial_sequence = whole(name, needed()?)?,
            "all_packets" => self.all_packets = true,
            "hold_until_read" => self.holds = true,
            "mtu" => {
                let mtu: u64 = whole(name, needed()?)?;
                self.fields.push((Some(place), "mss".into(), mtu.saturating_sub(HEADERS).into()));
            }
            "ip_version" if needed()? == "ipv4" => {}
            "ip_version" => return Ok(Some("the model has IPv4 only".into())),
            field if field.starts_with("tcp.") => {
                let value = field_value(needed()?);
                self.fields.push((Some(place), field["tcp.".len()..].to_owned(), value));
            }
            known if WITHOUT_EFFECT.contains(&known) => {}
            known if known.starts_with("wire_") || ["define", "D", "init_scripts"].contains(&known) => {
                return Ok(Some(format!("the model has no --{known}")));
            }
            _ => {
                return Err(format!("there is no option --{name}; docs/scripts.md lists those there are"));
            }
        }
        Ok(None)
    }

    /// Heeds a shell command as far as the model has what it sets; otherwise the reason.
    pub(crate) fn command(&mut self, place: Place, command: &str) -> Option<String> {
        let words: Vec<&str> = command.split_whitespace().collect();
        let program = words.first()?.rsplit('/').next()?;
        let settings = match program {
            "defaults.sh" => {
                self.fields.push((Some(place), "receive_buffer".into(), DEFAULTS_BUFFER.into()));
                return None;
            }
            "sysctl" | "set_sysctls.py" => &words[1..],
            // What these put back at the end is another connection's business.
            restore if restore.starts_with("sysctl_restore") => return None,
            _ => return Some(format!("shell commands are not run: {command}")),
        };
        let settings = settings.iter().filter(|word| !["-q", "-w", "-e"].contains(word));
        settings.filter_map(|setting| self.kernel_setting(place, setting)).next()
    }

    fn kernel_setting(&mut self, place: Place, setting: &str) -> Option<String> {
        let (path, value) = setting.split_once('=').unwrap_or((setting, ""));
        let value = value.trim_matches('"');
        let name = path.rsplit(['.', '/']).next().unwrap_or(path);
        let mut field = |name: &str, value: Value| self.fields.push((Some(place), name.to_owned(), value));
        match (name, value) {
            ("tcp_sack", "0" | "1") => field("sack", (value == "1").into()),
            ("tcp_timestamps", "0" | "1") => field("timestamps", (value == "1").into()),
            ("tcp_ecn", "0" | "1") => field("ecn", (value == "1").into()),
            ("tcp_early_retrans", "0") => field("loss_detection.tail_loss_probe", false.into()),
            ("tcp_congestion_control", control) => match self.control(control) {
                Ok(()) => {}
                Err(reason) => return Some(reason),
            },
            _ => {
                let has_setting =
                    KERNEL_SETTINGS.iter().any(|(own, values)| *own == name && values.contains(&value));
                return (!has_setting).then(|| format!("the model has no kernel setting {name}={value}"));
            }
        }
        None
    }

    /// Chooses a congestion control by its name in Linux.
    pub(crate) fn control(&mut self, name: &str) -> Result<(), String> {
        let transport = match name {
            "reno" | "cubic" | "bbr" => format!("linux-{name}"),
            _ => {
                return Err(format!("the model has no congestion control {name} of Linux"));
            }
        };
        self.transport = transport;
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
