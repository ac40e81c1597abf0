//! Shell commands of scripts, as far as the model has what they set: kernels' settings, queues, features of an interface.

use crate::options::ScriptChoices;
use crate::script::Place;

/// Largest receive buffer of the settings that published scripts begin with (`defaults.sh`).
const DEFAULTS_BUFFER: u64 = 15 << 20;
/// IPv4 and TCP headers without options.
const HEADERS: u64 = 40;

/// Settings of Linux with the values that the model stands for.
const SETTINGS: &[(&str, &[&str])] = &[
    ("tcp_dsack", &["1"]),
    ("tcp_fack", &["0"]),
    ("tcp_frto", &["0", "2"]),
    ("tcp_reordering", &["3"]),
    ("tcp_max_reordering", &["300"]),
    ("tcp_recovery", &["1"]),
    ("tcp_window_scaling", &["1"]),
    ("tcp_mtu_probing", &["0"]),
    ("tcp_pacing_ss_ratio", &["200"]),
    ("tcp_pacing_ca_ratio", &["120"]),
    ("tcp_tso_win_divisor", &["3"]),
    ("tcp_early_retrans", &["3", "4"]),
    ("tcp_thin_linear_timeouts", &["0"]),
    ("tcp_shrink_window", &["0"]),
    ("tcp_comp_sack_nr", &["0"]),
    ("tcp_rfc1337", &["0"]),
    ("tcp_plb_enabled", &["0"]),
    ("tcp_invalid_ratelimit", &["0"]),
    ("tcp_min_snd_mss", &["48"]),
    // A pause restarts the window, as it does by default; `defaults.sh` says the contrary only of itself.
    ("tcp_slow_start_after_idle", &["1"]),
    // How HyStart judges: by trains and by delays, both.
    ("hystart", &["1"]),
    ("hystart_detect", &["3"]),
    ("hystart_low_window", &["16"]),
    // FreeBSD.
    ("net.inet.tcp.rfc1323", &["1"]),
    ("net.inet.tcp.rfc3465", &["1"]),
    ("net.inet.tcp.rfc3042", &["1"]),
    ("net.inet.tcp.initcwnd_segments", &["10"]),
    ("net.inet.tcp.do_prr", &["1"]),
    ("net.inet.tcp.newsack", &["1"]),
    ("net.inet.tcp.path_mtu_discovery", &["0", "1"]),
    ("net.inet.tcp.blackhole", &["0"]),
];

/// Settings that no segment of a script's one connection shows, whatever their value.
const WITHOUT_EFFECT: &[&str] = &[
    "tcp_wmem",
    "tcp_moderate_rcvbuf",
    "tcp_no_metrics_save",
    // How many segments a train has: a script may write any train as one segment.
    "tcp_min_tso_segs",
    "tcp_limit_output_bytes",
    "tcp_notsent_lowat",
    "tcp_autocorking",
    // Of fast open and of what protects a listener no script's connection makes use, or it is not applicable for that.
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_fastopen_blackhole_timeout_sec",
    "tcp_syncookies",
    "tcp_max_syn_backlog",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_challenge_ack_limit",
    "tcp_ecn_fallback",
    "tcp_keepalive_time",
    "tcp_keepalive_intvl",
    "tcp_keepalive_probes",
    "tcp_available_congestion_control",
    "tcp_allowed_congestion_control",
    "tcp_adv_win_scale",
    "tcp_app_win",
    "tcp_base_mss",
    "tcp_probe_interval",
    "tcp_comp_sack_delay_ns",
    "tcp_comp_sack_slack_ns",
    "optmem_max",
    "wmem_max",
    "rmem_max",
    "wmem_default",
    "rmem_default",
    "somaxconn",
    "default_qdisc",
    "ip_local_port_range",
    "ip_forward",
    "rp_filter",
    "accept_local",
    "disable_ipv6",
    "net.inet.tcp.hostcache.purgenow",
    "net.inet.tcp.hostcache.enable",
    "net.inet.tcp.syncookies",
    "net.inet.tcp.syncookies_only",
    "net.inet.tcp.log_debug",
    "net.inet.tcp.log_in_vain",
    "net.inet.tcp.ts_offset_per_conn",
    "net.inet.tcp.sendbuf_auto",
    "net.inet.tcp.sendspace",
    "net.inet.tcp.recvbuf_auto",
    "net.inet.tcp.isn_reseed_interval",
    "net.inet.icmp.icmplim",
    "net.inet.icmp.icmplim_output",
    "kern.ipc.maxsockbuf",
    "net.mptcp.enabled",
];

/// Programs that leave the connection as it is.
const IDLE_PROGRAMS: [&str; 7] = ["true", ":", "set", "echo", "modprobe", "kldload", "exit"];

/// What became of a shell command.
pub(crate) enum Heeded {
    /// It is in the choices now, or changes nothing.
    Done,
    /// The model has not what it does.
    Beyond(String),
    /// It sets what holds for the whole script, behind the first event.
    Late(String),
}

impl ScriptChoices {
    /// Heeds a shell command as far as the model has what it sets. `before`: it stands before the first event.
    pub(crate) fn command(&mut self, place: Place, words: &[String], before: bool) -> Heeded {
        let mut choices = self.clone();
        if let Some(reason) = choices.heed(place, words, before) {
            return Heeded::Beyond(reason);
        }
        if before {
            *self = choices;
        } else if choices.differs_from(self) {
            let command = words.join(" ");
            return Heeded::Late(format!("the model's settings hold for the whole script: {command}"));
        }
        Heeded::Done
    }

    fn heed(&mut self, place: Place, words: &[String], before: bool) -> Option<String> {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        // What runs a script, and as whom.
        while ["sudo", "source", ".", "bash", "sh", "exec"].contains(words.first()?) {
            let _ = words.remove(0);
        }
        let beyond = format!("shell commands are not run: {}", words.join(" "));
        let program = words.first()?.rsplit('/').next()?;
        match program {
            "defaults.sh" => {
                self.set_field(place, "receive_buffer", DEFAULTS_BUFFER);
                self.is_published = true;
                None
            }
            "sysctl" | "set_sysctls.py" => self.settings(place, &words[1..]),
            // What these put back at the end is another connection's business.
            restore if restore.starts_with("sysctl_restore") => None,
            "echo" if words.contains(&">") => match *words.as_slice() {
                ["echo", value, ">", path] => self.setting(place, path, value),
                ["echo", "-n", value, ">", path] => self.setting(place, path, value),
                _ => Some(beyond),
            },
            "tc" => self.queue(place, &words).then_some(beyond),
            "ethtool" => self.features(place, &words).then_some(beyond),
            "ip" => self.network(place, &words).then_some(beyond),
            "sleep" if before => None,
            // Counters that are set to zero.
            "nstat" if words.get(1) == Some(&"-n") => None,
            idle if IDLE_PROGRAMS.contains(&idle) => None,
            _ => Some(beyond),
        }
    }

    fn settings(&mut self, place: Place, words: &[&str]) -> Option<String> {
        let mut reason = None;
        for word in words.iter().filter(|word| !word.starts_with('-')) {
            let (path, value) = word.split_once('=').unwrap_or((word, ""));
            let beyond = self.setting(place, path, value);
            reason = reason.or(beyond);
        }
        reason
    }

    /// One setting by its name in `/proc/sys` or in dots.
    fn setting(&mut self, place: Place, path: &str, value: &str) -> Option<String> {
        let value = value.trim_matches('"').trim();
        let freebsd = ["net.inet.", "kern."].iter().any(|begin| path.starts_with(begin));
        let name = if freebsd { path } else { path.rsplit(['.', '/']).next().unwrap_or(path) };
        let beyond = || format!("the model has no kernel setting {name}={value}");
        match (name, value) {
            ("tcp_sack" | "net.inet.tcp.sack.enable", "0" | "1") => {
                self.set_field(place, "sack", value == "1");
            }
            ("tcp_timestamps", "0" | "1" | "2") => self.set_field(place, "timestamps", value != "0"),
            ("tcp_ecn" | "net.inet.tcp.ecn.enable", "0" | "1") => {
                self.passive_ecn = None;
                self.set_field(place, "ecn", value == "1");
            }
            ("tcp_ecn" | "net.inet.tcp.ecn.enable", "2") => self.passive_ecn = Some(place),
            ("tcp_early_retrans", "0") => self.set_field(place, "loss_detection.tail_loss_probe", false),
            ("tcp_rto_min_us", us) => return self.duration(place, "min_rto", us, 1_000_000, &beyond()),
            ("tcp_rto_max_ms", ms) => return self.duration(place, "max_rto", ms, 1_000_000_000, &beyond()),
            ("tcp_min_rtt_wlen", seconds) => {
                return self.duration(place, "min_rtt_window", seconds, 1_000_000_000_000, &beyond());
            }
            // The least, the first and the largest buffer.
            ("tcp_rmem", sizes) => {
                let Some(Ok(largest)) = sizes.split_whitespace().nth(2).map(str::parse::<u64>) else {
                    return Some(beyond());
                };
                self.set_field(place, "receive_buffer", largest);
            }
            ("net.inet.tcp.recvspace", size) => {
                let Ok(size) = size.parse::<u64>() else { return Some(beyond()) };
                self.receive_space = Some(size);
                self.set_field(place, "receive_buffer", size);
            }
            ("net.inet.tcp.rexmit_initial", ms) => {
                return self.duration(place, "initial_rto", ms, 1_000_000_000, &beyond());
            }
            ("tcp_congestion_control", control) => return self.control(control).err(),
            ("net.inet.tcp.cc.algorithm", control @ ("newreno" | "cubic" | "dctcp")) => {
                return self.preset(control).err();
            }
            _ => {
                let stands_for = SETTINGS
                    .iter()
                    .any(|(setting_name, values)| *setting_name == name && values.contains(&value));
                return (!stands_for && !WITHOUT_EFFECT.contains(&name)).then(beyond);
            }
        }
        None
    }

    fn duration(
        &mut self,
        place: Place,
        field: &str,
        number: &str,
        unit_ps: u64,
        beyond: &str,
    ) -> Option<String> {
        let Some(span) = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit_ps)) else {
            return Some(beyond.to_owned());
        };
        self.set_field(place, field, span);
        None
    }

    /// `tc qdisc replace dev tun0 root fq` paces by the window; queues that send at once change nothing. True if it is
    /// anything else.
    fn queue(&mut self, place: Place, words: &[&str]) -> bool {
        let ["tc", "qdisc", "add" | "replace" | "change" | "del" | "delete", "dev", _, "root", kind @ ..] =
            words
        else {
            return true;
        };
        match kind {
            ["fq"] => self.set_field(place, "pacing", "window"),
            [] | ["pfifo" | "pfifo_fast" | "noqueue"] => {}
            _ => return true,
        }
        false
    }

    /// `ethtool -K tun0 tso off gso off`: without segmentation offload a host waits for no train. True if there is
    /// anything else.
    fn features(&mut self, place: Place, words: &[&str]) -> bool {
        let ["ethtool", "-K" | "--features" | "--offload", _, pairs @ ..] = words else {
            return true;
        };
        for pair in pairs.chunks(2) {
            match *pair {
                ["tso" | "gso", "off"] => self.set_field(place, "tso_deferral", false),
                ["tso" | "gso" | "gro" | "lro" | "rx" | "tx" | "sg", "on" | "off"] => {}
                _ => return true,
            }
        }
        false
    }

    /// Routes and interfaces: MTU, initial window and least timeout. True if there is anything else.
    fn network(&mut self, place: Place, words: &[&str]) -> bool {
        match *words {
            ["ip", "tcp_metrics", "flush", ..] => false,
            ["ip", "link", "set", "dev", _, "mtu", mtu] | ["ip", "link", "set", _, "mtu", mtu] => {
                match mtu.parse::<u64>() {
                    Ok(mtu) => self.set_field(place, "mss", mtu.saturating_sub(HEADERS)),
                    Err(_) => return true,
                }
                false
            }
            ["ip", "route", "change" | "replace" | "add", _, ref rest @ ..] => self.route(place, rest),
            _ => true,
        }
    }

    fn route(&mut self, place: Place, words: &[&str]) -> bool {
        for pair in words.chunks(2) {
            match *pair {
                ["dev" | "via" | "proto" | "scope" | "src" | "metric" | "table", _] => {}
                ["initcwnd", segments] => match segments.parse::<u64>() {
                    Ok(segments) => self.set_field(place, "initial_window_segments", segments),
                    Err(_) => return true,
                },
                ["rto_min", span] => match anabranch_units::parse_span(span) {
                    Ok(span) => self.set_field(place, "min_rto", span.as_ps()),
                    Err(_) => return true,
                },
                _ => return true,
            }
        }
        false
    }
}
