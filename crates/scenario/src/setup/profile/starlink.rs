//! The history of a Starlink dish in JSON, as its gRPC interface gives it: a sample each second.
//!
//! The arrays are rings: `current` counts the samples since the dish started, and the oldest is at its remainder by the
//! length. Its throughput is the traffic that there was, which is the capacity only where the link was full. Latency and
//! drop rate are of pings there and back: a direction has half the one, and of the other `1 - sqrt(1 - p)`, so that both
//! directions together have what was measured.

use super::conditions::{Conditions, Measured, PS_PER_MS, PS_PER_SECOND, Read};
use crate::event::StarlinkStream;
use crate::problem::Problems;
use crate::setup::lay::SMALLEST_CAPACITY_BPS;
use crate::words::quoted;
use serde::Deserialize;

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "dishGetHistory", alias = "dish_get_history")]
    history: History,
}

#[derive(Deserialize)]
struct History {
    current: Option<Sample>,
    #[serde(rename = "popPingDropRate", alias = "pop_ping_drop_rate", default)]
    drop_rate: Vec<Sample>,
    #[serde(rename = "popPingLatencyMs", alias = "pop_ping_latency_ms", default)]
    latency_ms: Vec<Sample>,
    #[serde(rename = "downlinkThroughputBps", alias = "downlink_throughput_bps", default)]
    downlink_bps: Vec<Sample>,
    #[serde(rename = "uplinkThroughputBps", alias = "uplink_throughput_bps", default)]
    uplink_bps: Vec<Sample>,
}

/// A number; JSON of gRPC has large ones, and what is none, as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Sample {
    Number(f64),
    Text(String),
    Unknown(()),
}

impl Sample {
    /// The number, or nothing where it is not known.
    ///
    /// # Errors
    /// What it is that is neither.
    fn number(&self) -> Result<Option<f64>, String> {
        match self {
            Self::Number(number) => Ok(Some(*number)),
            Self::Unknown(()) => Ok(None),
            Self::Text(text) if text == "NaN" => Ok(None),
            Self::Text(text) => text.parse().map(Some).map_err(|_| quoted(text)),
        }
    }
}

/// A row for each second; what is wrong is noted.
pub(super) fn read(name: &str, text: &str, stream: Option<StarlinkStream>, problems: &mut Problems) -> Read {
    let parsed = serde_json::from_str::<Document>(text)
        .map(|document| document.history)
        .or_else(|_| serde_json::from_str::<History>(text));
    let history = match parsed {
        Ok(history) => history,
        Err(error) => {
            problems.add_at(name, format!("is no history of a Starlink dish in JSON: {error}"));
            return Read::default();
        }
    };
    let throughput = match stream.unwrap_or(StarlinkStream::Downlink) {
        StarlinkStream::Downlink => &history.downlink_bps,
        StarlinkStream::Uplink => &history.uplink_bps,
    };
    let arrays = [&history.drop_rate, &history.latency_ms, throughput];
    let length = arrays.iter().map(|array| array.len()).max().unwrap_or(0);
    if length == 0 || arrays.iter().any(|array| !array.is_empty() && array.len() != length) {
        let message = "is no history of a Starlink dish: popPingDropRate, popPingLatencyMs and the throughputs are \
                       missing, or not of one length";
        problems.add_at(name, message);
        return Read::default();
    }
    let Some(order) = order(history.current.as_ref(), length, name, problems) else { return Read::default() };
    let mut rows = Vec::with_capacity(order.len());
    for (second, place) in (0u64..).zip(order) {
        let at = |array: &[Sample], what: &str, most: f64, problems: &mut Problems| {
            checked(array.get(place), most, &format!("{name}, {what}[{place}]"), problems)
        };
        let drop = at(&history.drop_rate, "popPingDropRate", 1.0, problems);
        let latency_ms = at(&history.latency_ms, "popPingLatencyMs", 3_600_000.0, problems);
        let bps = at(throughput, "throughput", 1e15, problems);
        let mut values = Vec::new();
        // Less than the least capacity of a link lets nothing through either.
        values.extend(bps.map(|bps| (Measured::Capacity, bps.max(SMALLEST_CAPACITY_BPS as f64))));
        // Where no ping came back the dish repeats an older latency, or has 0.
        let known_ms = latency_ms.filter(|ms| *ms > 0.0 && drop.is_none_or(|drop| drop < 1.0));
        values.extend(known_ms.map(|ms| (Measured::Delay, ms / 2.0 * PS_PER_MS as f64)));
        values.extend(drop.map(|drop| (Measured::Loss, 1.0 - (1.0 - drop).sqrt())));
        rows.push(Conditions { at: second * PS_PER_SECOND as u64, values });
    }
    let length = Some(rows.len() as u64 * PS_PER_SECOND as u64);
    Read { rows, length }
}

/// The places of the samples from the oldest on; a count that is none is noted.
fn order(current: Option<&Sample>, length: usize, name: &str, problems: &mut Problems) -> Option<Vec<usize>> {
    let Some(current) = current else { return Some((0..length).collect()) };
    let count =
        current.number().ok().flatten().filter(|count| (0.0..1e15).contains(count) && count.fract() == 0.0);
    let Some(count) = count else {
        problems.add_at(name, "current is no count of samples");
        return None;
    };
    let end = count as usize;
    let begin = end.saturating_sub(length);
    Some((begin..end).map(|sample| sample % length).collect())
}

/// A number from 0 up to the most there can be; what is none is noted.
fn checked(sample: Option<&Sample>, most: f64, place: &str, problems: &mut Problems) -> Option<f64> {
    match sample?.number() {
        Ok(number) => {
            let number = number?;
            if (0.0..=most).contains(&number) {
                return Some(number);
            }
            problems.add_at(place, format!("{number} is not between 0 and {most}"));
        }
        Err(text) => problems.add_at(place, format!("{text} is no number")),
    }
    None
}
