//! Expected segments beside those that leave.

use super::{PATIENCE, Player, START, Stop};
use crate::script::{Expected, When};
use anabranch_transport::{Flags, Segment};
use anabranch_units::{Instant, Span};

/// Flags that are compared; PSH depends on how trains form, marks and options have fields of their own.
const COMPARED: [(Flags, char); 6] = [
    (Flags::SYN, 'S'),
    (Flags::FIN, 'F'),
    (Flags::RST, 'R'),
    (Flags::ACK, '.'),
    (Flags::ECE, 'E'),
    (Flags::CWR, 'W'),
];

/// Seconds since the start of the script.
pub(super) fn seconds(at: Instant) -> String {
    format!("{:.6} s", at.saturating_since(START).as_secs_f64())
}

fn flags_of(segment: &Segment) -> String {
    COMPARED.iter().filter(|(flag, _)| segment.flags.has(*flag)).map(|(_, name)| *name).collect()
}

/// A segment as a script would write it.
pub(super) fn shown(segment: &Segment, origin: u32) -> String {
    let begin = segment.seq.wrapping_sub(origin);
    let length = u32::from(segment.payload);
    let mut text = format!("> {} {begin}:{}({length})", flags_of(segment), begin.wrapping_add(length));
    if segment.flags.has(Flags::ACK) {
        text += &format!(" ack {}", segment.ack);
    }
    text += &format!(" win {}", segment.window);
    let options = options_of(segment);
    if options.is_empty() { text } else { format!("{text} <{}>", options.join(",")) }
}

fn options_of(segment: &Segment) -> Vec<String> {
    let mut options = Vec::new();
    if segment.mss > 0 {
        options.push(format!("mss {}", segment.mss));
    }
    if segment.flags.has(Flags::SACK_PERMITTED) {
        options.push("sackOK".into());
    }
    if segment.flags.has(Flags::TIMESTAMPS) {
        options.push(format!("TS val {} ecr {}", segment.timestamp, segment.timestamp_echo));
    }
    if segment.window_scale_plus_one > 0 {
        options.push(format!("wscale {}", segment.window_scale_plus_one - 1));
    }
    let blocks: Vec<String> =
        segment.sack.as_slice().iter().map(|(left, right)| format!("{left}:{right}")).collect();
    if !blocks.is_empty() {
        options.push(format!("sack {}", blocks.join(" ")));
    }
    options
}

/// Timestamps of the script beside those of the connection's clock.
pub(super) struct Timestamps {
    /// Tick of the connection, and the one of the script if it says so.
    ticks: (Span, Option<Span>),
    /// Pairs that have been seen, those of the script first.
    pairs: Vec<(u32, u32)>,
}

impl Timestamps {
    pub(super) fn new(live: Span, script: Option<Span>) -> Self {
        Self { ticks: (live, script), pairs: Vec::new() }
    }

    /// The connection's timestamp for one of the script.
    pub(super) fn live(&self, script: u32) -> u32 {
        let Some(&(first_script, first_live)) = self.pairs.first() else {
            return script;
        };
        if let (tick_here, Some(tick)) = self.ticks {
            let ahead = i64::from(script.wrapping_sub(first_script) as i32);
            let ticks = ahead.saturating_mul(tick.as_ps() as i64) / tick_here.as_ps() as i64;
            return first_live.wrapping_add_signed(ticks as i32);
        }
        let pair = self.pairs.iter().rev().find(|(tick_here, _)| *tick_here == script);
        pair.map_or_else(|| first_live.wrapping_add(script.wrapping_sub(first_script)), |(_, live)| *live)
    }

    /// Whether a timestamp that left is what the script says, and remembers both.
    fn agrees(&mut self, script: u32, live: u32, tolerance: Span) -> bool {
        let Some(&(first_script, first_live)) = self.pairs.first() else {
            self.pairs.push((script, live));
            return true;
        };
        if let (tick_here, Some(tick)) = self.ticks {
            let since = |one: u32, first: u32, tick: Span| {
                i128::from(one.wrapping_sub(first) as i32) * i128::from(tick.as_ps())
            };
            let apart = since(script, first_script, tick) - since(live, first_live, tick_here);
            return apart.unsigned_abs() <= u128::from((tolerance + tick_here + tick).as_ps());
        }
        let contradicts = |pair: &(u32, u32)| (pair.0 == script) != (pair.1 == live);
        // Clocks are coarse: two values of the script may be one of the connection.
        let wrong = self.pairs.iter().any(|pair| contradicts(pair) && pair.0 == script);
        self.pairs.push((script, live));
        !wrong
    }
}

impl Player<'_> {
    /// Waits for the next segment and compares it.
    pub(super) fn expect(&mut self, when: When, expected: &Expected) -> Result<(), Stop> {
        let tolerance = self.script.choices.tolerance;
        let (earliest, latest, nominal) = match when {
            When::At(moment) => (self.instant(moment), self.instant(moment), Some(self.instant(moment))),
            When::Between(begin, end) => (self.instant(begin), self.instant(end), None),
            When::Any => (START, self.now.max(self.base).saturating_add(PATIENCE), None),
        };
        let limit = latest.saturating_add(tolerance);
        let (at, first) = self.next_departure(limit, expected)?;
        let origin = self.script.choices.initial_sequence;
        let mut whole = u32::from(first.payload);
        let mut last = first;
        let mut problem = self.difference(expected, &first, whole);
        // A script writes what leaves at once as one segment, as a host with segmentation offload hands it on.
        while problem.is_none() && whole < expected.length {
            let (_, next) = self.next_departure(limit, expected)?;
            if next.seq != last.seq.wrapping_add(u32::from(last.payload)) || next.payload == 0 {
                problem = Some(format!("then came {}", shown(&next, origin)));
            }
            whole += u32::from(next.payload);
            last = next;
        }
        let fin = Flags::FIN;
        if problem.is_none() && whole != expected.length {
            problem = Some(format!("{whole} bytes left"));
        }
        if problem.is_none() && last.flags.has(fin) != expected.segment.flags.has(fin) {
            problem = Some("only one of both has FIN".into());
        }
        if let Some(problem) = problem {
            let (wanted, came) = (&expected.text, shown(&first, origin));
            return Err(Stop::Deviation(format!(
                "expected {wanted}; at {} came {came}: {problem}",
                seconds(at)
            )));
        }
        if at.saturating_add(tolerance) < earliest || at > limit {
            let window = if earliest == latest {
                seconds(earliest)
            } else {
                format!("{} to {}", seconds(earliest), seconds(latest))
            };
            let wanted = &expected.text;
            return Err(Stop::Deviation(format!("{wanted} left at {}, expected at {window}", seconds(at))));
        }
        self.base = nominal.unwrap_or(at);
        Ok(())
    }

    /// The next segment that leaves, if one does up to `limit`.
    fn next_departure(&mut self, limit: Instant, expected: &Expected) -> Result<(Instant, Segment), Stop> {
        loop {
            if let Some(departure) = self.connection.departures().pop_front() {
                return Ok(departure);
            }
            let Some(next) = self.next_before(limit) else {
                let text = format!("nothing left by {}; expected {}", seconds(limit), expected.text);
                return Err(Stop::Deviation(text));
            };
            self.step(next)?;
        }
    }

    /// In what the first segment of a train differs from what is expected.
    fn difference(&mut self, expected: &Expected, came: &Segment, length: u32) -> Option<String> {
        let origin = self.script.choices.initial_sequence;
        let wanted = &expected.segment;
        let train = length < expected.length;
        for (flag, name) in COMPARED {
            // The last of a train ends with FIN.
            let compared = !(flag == Flags::FIN && train);
            if compared && wanted.flags.has(flag) != came.flags.has(flag) {
                return Some(format!("only one of both has the flag {name}"));
            }
        }
        let begin = came.seq.wrapping_sub(origin);
        if begin != wanted.seq {
            return Some(format!("it begins at {begin}"));
        }
        if length > expected.length || (length == 0 && expected.length > 0) {
            return Some(format!("it has {length} bytes"));
        }
        if expected.ack && came.ack != wanted.ack {
            return Some(format!("it acknowledges {}", came.ack));
        }
        if expected.window && came.window != wanted.window {
            return Some(format!("its window is {}", came.window));
        }
        for (flag, name) in [(Flags::ECT, "ECT"), (Flags::CE, "CE")] {
            if expected.ecn && wanted.flags.has(flag) != came.flags.has(flag) {
                return Some(format!("only one of both is marked {name}"));
            }
        }
        if expected.options { self.different_options(wanted, came) } else { None }
    }

    fn different_options(&mut self, wanted: &Segment, came: &Segment) -> Option<String> {
        for (flag, name) in [(Flags::SACK_PERMITTED, "sackOK"), (Flags::TIMESTAMPS, "TS")] {
            if wanted.flags.has(flag) != came.flags.has(flag) {
                return Some(format!("only one of both has the option {name}"));
            }
        }
        if wanted.mss != came.mss {
            return Some(format!("its MSS is {} (0: none)", came.mss));
        }
        if wanted.window_scale_plus_one != came.window_scale_plus_one {
            return Some("the window scales differ".into());
        }
        if wanted.sack.as_slice() != came.sack.as_slice() {
            return Some("the SACK blocks differ".into());
        }
        if wanted.flags.has(Flags::TIMESTAMPS) {
            if wanted.timestamp_echo != came.timestamp_echo {
                return Some(format!("it echoes the timestamp {}", came.timestamp_echo));
            }
            let tolerance = self.script.choices.tolerance;
            if !self.timestamps.agrees(wanted.timestamp, came.timestamp, tolerance) {
                return Some(format!("its timestamp is {}", came.timestamp));
            }
        }
        None
    }
}
