//! What counters become in the columns of tables.

use anabranch_units::Span;

/// Bytes over a span in Mbps.
pub(super) fn mbps(bytes: u64, span: Span) -> f64 {
    let seconds = span.as_secs_f64();
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { f64::NAN }
}

/// NaN for no time at all, which stands for no sample.
pub(super) fn milliseconds(span: Span) -> f64 {
    if span == Span::ZERO { f64::NAN } else { span.as_secs_f64() * 1e3 }
}
