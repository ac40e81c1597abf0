//! Quantities as people write them: `10 Mbps`, `2.5 ms`, `100 packets`.
//!
//! Decimal text is scaled exactly, and rounded to the base unit where this changes it little, or where the text has as many
//! digits as a double that a program writes (`26.025000000000002 ms`, `41.66666666666667 packets`): nobody writes these by
//! hand. A shorter one that would become another value is an error.

use crate::{Bytes, Rate, Span};
use thiserror::Error;

/// What a text was expected to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// A length of time.
    Span,
    /// A rate of bits.
    Rate,
    /// A size in bytes.
    Bytes,
    /// A number of packets.
    Packets,
    /// A number of TCP segments.
    Segments,
    /// A speed of propagation.
    Speed,
}

/// Units by name, each with the number of base units in it.
pub type Units = &'static [(&'static str, u128)];

/// Base unit: picosecond.
const SPAN: Units = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("min", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
];
/// Base unit: bit per second.
const RATE: Units = &[
    ("bps", 1),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
];
/// Base unit: byte.
const BYTES: Units = &[
    ("B", 1),
    ("bytes", 1),
    ("byte", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
/// Base unit: packet.
const PACKETS: Units = &[("packets", 1), ("packet", 1)];
/// Base unit: segment.
const SEGMENTS: Units = &[("segments", 1), ("segment", 1)];
/// Base unit: metre per second.
const SPEED: Units = &[("km/ms", 1_000_000), ("km/s", 1_000), ("m/s", 1)];

impl Quantity {
    /// Its units, the base unit first, each with the number of base units in it.
    #[must_use]
    pub const fn units(self) -> Units {
        match self {
            Self::Span => SPAN,
            Self::Rate => RATE,
            Self::Bytes => BYTES,
            Self::Packets => PACKETS,
            Self::Segments => SEGMENTS,
            Self::Speed => SPEED,
        }
    }

    /// One part in so many by which rounding may change a value. Of packets and segments there are whole ones only: what
    /// is left of them is an error of a double, whose 53 bits are 16 digits.
    const fn part_rounded(self) -> u128 {
        match self {
            Self::Packets | Self::Segments => 1_000_000_000,
            Self::Span | Self::Rate | Self::Bytes | Self::Speed => 1000,
        }
    }

    /// What people call it: `a time`.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Span => "a time",
            Self::Rate => "a rate",
            Self::Bytes => "a size",
            Self::Packets => "a number of packets",
            Self::Segments => "a number of segments",
            Self::Speed => "a speed",
        }
    }

    /// One as people write it.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::Span => "2.5 ms",
            Self::Rate => "10 Mbps",
            Self::Bytes => "64 kB",
            Self::Packets => "100 packets",
            Self::Segments => "44 segments",
            Self::Speed => "200 km/ms",
        }
    }
}

/// Other spellings of units: words, their short forms, and those of other programs.
const SPELLINGS: &[(Quantity, &[&str], &str)] = &[
    (Quantity::Span, &["picosecond", "psec"], "ps"),
    (Quantity::Span, &["nanosecond", "nsec"], "ns"),
    (Quantity::Span, &["microsecond", "usec", "μs"], "us"),
    (Quantity::Span, &["millisecond", "msec", "milli"], "ms"),
    (Quantity::Span, &["second", "sec"], "s"),
    (Quantity::Span, &["minute", "mins"], "min"),
    (Quantity::Span, &["hour", "hr"], "h"),
    (Quantity::Rate, &["bit", "b/s", "bits/s", "bit/sec"], "bps"),
    (Quantity::Rate, &["k", "kb", "kbit", "kb/s", "kbits/s", "kbit/sec"], "kbps"),
    (Quantity::Rate, &["m", "mb", "mbit", "mb/s", "mbits/s", "mbit/sec"], "Mbps"),
    (Quantity::Rate, &["g", "gb", "gbit", "gb/s", "gbits/s", "gbit/sec"], "Gbps"),
    (Quantity::Rate, &["t", "tb", "tbit", "tb/s", "tbit/s", "tbits/s"], "Tbps"),
    (Quantity::Bytes, &["k", "kilobyte"], "kB"),
    (Quantity::Bytes, &["m", "megabyte"], "MB"),
    (Quantity::Bytes, &["g", "gigabyte"], "GB"),
    (Quantity::Packets, &["p", "pkt", "pkts", "pckt"], "packets"),
    (Quantity::Segments, &["seg", "segs", "mss"], "segments"),
];

impl Quantity {
    /// The value with the unit that somebody means who writes another one; None where nobody can tell.
    ///
    /// A capital B is bytes, so that `MB/s` is no `Mbps`: nothing is said of it but the units.
    fn meant(self, number: &str, unit: &str) -> Option<String> {
        if self == Self::Rate && unit.contains('B') {
            return None;
        }
        let plain = unit.to_lowercase();
        let singular = plain.strip_suffix('s').unwrap_or(&plain);
        let unit_name = self.units().iter().map(|&(name, _)| name).find(|name| name.to_lowercase() == plain);
        let other = SPELLINGS.iter().find(|(quantity, spelled, _)| {
            *quantity == self && (spelled.contains(&plain.as_str()) || spelled.contains(&singular))
        });
        unit_name.or(other.map(|&(_, _, name)| name)).map(|name| format!("{number} {name}"))
    }

    /// The number of base units that a text says.
    ///
    /// # Errors
    /// Any [`ParseError`].
    pub fn parse(self, text: &str) -> Result<u64, ParseError> {
        parse(text, self)
    }
}

/// Why a text is not the quantity that was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ParseError {
    /// The text does not begin with a plain decimal number.
    #[error("{read:?} is not {noun}; write a number and a unit, for example {example:?}")]
    NoNumber {
        /// The text.
        read: String,
        /// What was wanted.
        noun: &'static str,
        /// A right one.
        example: &'static str,
    },
    /// There is a number, and no unit behind it.
    #[error("{read:?} has no unit; {noun} is written like {example:?} (units: {units})")]
    NoUnit {
        /// The text.
        read: String,
        /// What was wanted.
        noun: &'static str,
        /// A right one.
        example: &'static str,
        /// The known units.
        units: String,
    },
    /// The unit is none of this quantity's.
    #[error("{read:?}: {unit:?} is not a unit of {noun}{hint} (units: {units})")]
    UnknownUnit {
        /// The text.
        read: String,
        /// The unit in it.
        unit: String,
        /// What was wanted.
        noun: &'static str,
        /// `; write "5 ms"`, where one can tell which unit is meant.
        hint: String,
        /// The known units.
        units: String,
    },
    /// The value is not a whole number of base units, nor close to one.
    #[error(
        "{read:?} is finer than the smallest unit, {smallest}, and rounding would change it by more than one part in \
             {part}; write {nearest:?}"
    )]
    TooFine {
        /// The text.
        read: String,
        /// The base unit.
        smallest: &'static str,
        /// Rounding may change a value by one part in so many.
        part: u128,
        /// The nearest value above 0.
        nearest: String,
    },
    /// The value does not fit 64 bits.
    #[error("{read:?} is too large")]
    TooLarge {
        /// The text.
        read: String,
    },
}

/// A span from text such as `2.5 ms`.
///
/// # Errors
/// Any [`ParseError`].
pub fn parse_span(text: &str) -> Result<Span, ParseError> {
    parse(text, Quantity::Span).map(Span::from_ps)
}

/// A rate from text such as `10 Mbps`.
///
/// # Errors
/// Any [`ParseError`].
pub fn parse_rate(text: &str) -> Result<Rate, ParseError> {
    parse(text, Quantity::Rate).map(Rate::from_bps)
}

/// A size from text such as `64 kB` (1000 bytes each) or `64 KiB` (1024 bytes each).
///
/// # Errors
/// Any [`ParseError`].
pub fn parse_bytes(text: &str) -> Result<Bytes, ParseError> {
    parse(text, Quantity::Bytes).map(Bytes)
}

/// A number of packets from text such as `100 packets`.
///
/// # Errors
/// Any [`ParseError`].
pub fn parse_count(text: &str) -> Result<u64, ParseError> {
    parse(text, Quantity::Packets)
}

/// A number of TCP segments from text such as `44 segments`.
///
/// # Errors
/// Any [`ParseError`].
pub fn parse_segments(text: &str) -> Result<u64, ParseError> {
    parse(text, Quantity::Segments)
}

/// A speed of propagation in m/s from text such as `200 km/ms`.
///
/// # Errors
/// Any [`ParseError`].
pub fn parse_speed(text: &str) -> Result<u64, ParseError> {
    parse(text, Quantity::Speed)
}

fn parse(text: &str, quantity: Quantity) -> Result<u64, ParseError> {
    let trimmed = text.trim();
    let noun = quantity.noun();
    let example = quantity.example();
    let read = || text.chars().take(60).collect::<String>();
    let list = || quantity.units().iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(trimmed.len());
    // "1e-3 s": an exponent directly behind the digits belongs to the number.
    let end = exponent_end(trimmed, end);
    let (number, unit) = (&trimmed[..end], trimmed[end..].trim());
    let decimal =
        Decimal::read(number).ok_or_else(|| ParseError::NoNumber { read: read(), noun, example })?;
    if unit.is_empty() {
        return Err(ParseError::NoUnit { read: read(), noun, example, units: list() });
    }
    let Some(&(_, scale)) = quantity.units().iter().find(|(name, _)| *name == unit) else {
        let hint =
            quantity.meant(number, unit).map_or_else(String::new, |meant| format!("; write {meant:?}"));
        let unit = unit.chars().take(30).collect();
        return Err(ParseError::UnknownUnit { read: read(), unit, noun, hint, units: list() });
    };
    let smallest = quantity.units()[0].0;
    match decimal.times(scale, quantity.part_rounded()) {
        Scaled::Whole(value) => Ok(value),
        Scaled::Fraction(nearest) => Err(ParseError::TooFine {
            read: read(),
            smallest,
            part: quantity.part_rounded(),
            nearest: format!("{} {smallest}", nearest.max(1)),
        }),
        Scaled::Overflow => Err(ParseError::TooLarge { read: read() }),
    }
}

/// End of `1e-3` when `end` points at the `e`; otherwise `end`.
fn exponent_end(text: &str, end: usize) -> usize {
    let rest = &text[end..];
    let Some(after) = rest.strip_prefix(['e', 'E']) else { return end };
    let digits = after.strip_prefix(['-', '+']).unwrap_or(after);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 { end } else { end + (rest.len() - digits.len()) + count }
}

/// `digits x 10^exponent`
struct Decimal {
    digits: u128,
    exponent: i32,
    /// Significant ones, without zeros at the end.
    significant: usize,
}

/// Digits that are read: as many as the largest number of 64 bits has. What is behind them is far below any rounding.
const MOST_DIGITS: usize = 20;

/// Significant digits from which on a number is one that a program writes: a double has 15 to 17.
const DIGITS_OF_A_DOUBLE: usize = 15;

enum Scaled {
    Whole(u64),
    /// The nearest whole number.
    Fraction(u128),
    Overflow,
}

impl Decimal {
    fn read(number: &str) -> Option<Self> {
        let (mantissa, exponent) = match number.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (number, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: String = whole.chars().chain(fraction.chars()).filter(|&c| c != '_').collect();
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let places = i32::try_from(fraction.chars().filter(|&c| c != '_').count()).ok()?;
        let significant = digits.trim_start_matches('0');
        let (read, behind) = significant.split_at(significant.len().min(MOST_DIGITS));
        let exponent = exponent.checked_sub(places)?.checked_add(i32::try_from(behind.len()).ok()?)?;
        let digits = if read.is_empty() { 0 } else { read.parse().ok()? };
        Some(Self { digits, exponent, significant: significant.trim_end_matches('0').len() })
    }

    /// The nearest whole number of base units, if rounding changes it by less than one part in so many, or if it has the
    /// digits of a double and is not rounded away.
    fn times(&self, scale: u128, part_rounded: u128) -> Scaled {
        let Some(product) = self.digits.checked_mul(scale) else { return Scaled::Overflow };
        if product == 0 {
            return Scaled::Whole(0);
        }
        let Some(power) = 10u128.checked_pow(self.exponent.unsigned_abs()) else {
            return if self.exponent < 0 { Scaled::Fraction(0) } else { Scaled::Overflow };
        };
        let value = if self.exponent < 0 {
            let (below, rest) = (product / power, product % power);
            let rounds_up = rest >= power - rest;
            let change = if rounds_up { power - rest } else { rest };
            let nearest = below + u128::from(rounds_up && rest > 0);
            let is_written_by_a_program = self.significant >= DIGITS_OF_A_DOUBLE && nearest > 0;
            // Exact where there is no rest, however large the product is.
            if change > 0 && change >= product / part_rounded && !is_written_by_a_program {
                return Scaled::Fraction(nearest);
            }
            Some(nearest)
        } else {
            product.checked_mul(power)
        };
        value.and_then(|v| u64::try_from(v).ok()).map_or(Scaled::Overflow, Scaled::Whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn people_write_quantities_like_this() {
        assert_eq!(parse_rate("10 Mbps"), Ok(Rate::from_bps(10_000_000)));
        assert_eq!(parse_rate("2.5Gbps"), Ok(Rate::from_bps(2_500_000_000)));
        assert_eq!(parse_span("1 ms"), Ok(Span::from_ms(1)));
        assert_eq!(parse_span("1e-3 s"), Ok(Span::from_ms(1)));
        assert_eq!(parse_span("0.1 us"), Ok(Span::from_ps(100_000)));
        assert_eq!(parse_bytes("64 KiB"), Ok(Bytes(65_536)));
        assert_eq!(parse_count("100 packets"), Ok(100));
        assert_eq!(parse_segments("1 segment"), Ok(1));
        assert_eq!(parse_speed("200 km/ms"), Ok(200_000_000));
    }

    #[test]
    fn a_wrong_text_is_told_what_would_be_right() {
        let cases = [
            ("10", "\"10\" has no unit; a rate is written like \"10 Mbps\""),
            ("10 Mb", "\"10 Mb\": \"Mb\" is not a unit of a rate; write \"10 Mbps\" (units: bps, "),
            ("10 mbps", "\"10 mbps\": \"mbps\" is not a unit of a rate; write \"10 Mbps\" (units: bps, "),
            ("10 MB/s", "\"10 MB/s\": \"MB/s\" is not a unit of a rate (units: bps, "),
            ("fast", "\"fast\" is not a rate"),
            ("-5 Mbps", "\"-5 Mbps\" is not a rate"),
            ("NaN Mbps", "\"NaN Mbps\" is not a rate"),
            ("1.5 bps", "\"1.5 bps\" is finer than the smallest unit, bps"),
            ("99999999999 Gbps", "\"99999999999 Gbps\" is too large"),
        ];
        for (text, start) in cases {
            let message = parse_rate(text).unwrap_err().to_string();
            assert!(message.starts_with(start), "{text}: {message}");
        }
    }

    /// Python's 0.1 + 0.2, 26.025 as a sum, thirds, and all digits of a double.
    #[test]
    fn what_programs_write_is_rounded() {
        assert_eq!(parse_span("26.025000000000002 ms"), Ok(Span::from_ps(26_025_000_000)));
        assert_eq!(parse_span("26.024999999999999 ms"), Ok(Span::from_ps(26_025_000_000)));
        assert_eq!(parse_span("0.30000000000000004 s"), Ok(Span::from_ms(300)));
        assert_eq!(parse_span("3.0000000000000004e-4 s"), Ok(Span::from_ps(300_000_000)));
        assert_eq!(
            parse_span("26.02500000000000213162820728030055761337280273437500 ms"),
            Ok(Span::from_ps(26_025_000_000))
        );
        assert_eq!(parse_span("0.00000000000000000000000000000000000 s"), Ok(Span::ZERO));
        assert_eq!(parse_rate("0.3333333333333333 Mbps"), Ok(Rate::from_bps(333_333)));
        assert_eq!(parse_rate("666666.6666666666 bps"), Ok(Rate::from_bps(666_667)));
        assert_eq!(parse_bytes("33333.333333333336 B"), Ok(Bytes(33_333)));
        assert_eq!(parse_count("2.9999999999999996 packets"), Ok(3));
        assert_eq!(parse_segments("44.00000000000001 segments"), Ok(44));
        // However small: 1000/3 bytes, 125/3 packets, 2/3 of a bit per second.
        assert_eq!(parse_bytes("333.3333333333333 B"), Ok(Bytes(333)));
        assert_eq!(parse_count("41.66666666666667 packets"), Ok(42));
        assert_eq!(parse_rate("0.6666666666666666 bps"), Ok(Rate::from_bps(1)));
        assert_eq!(parse_span("1.66666666666667e-12 s"), Ok(Span::from_ps(2)));
    }

    #[test]
    fn what_would_be_another_value_is_refused() {
        for text in ["0.1 ps", "1.5 ps", "0.4999 ps", "1e-40 s", "400.5 ps"] {
            assert!(matches!(parse_span(text), Err(ParseError::TooFine { .. })), "{text}");
        }
        // Nothing is rounded away, whatever wrote it; zeros at the end are no digits.
        for text in ["0.3333333333333333 B", "33.300000000000000 B"] {
            assert!(matches!(parse_bytes(text), Err(ParseError::TooFine { .. })), "{text}");
        }
        let message = parse_count("41.5 packets").unwrap_err().to_string();
        assert!(message.ends_with("by more than one part in 1000000000; write \"42 packets\""), "{message}");
        for text in ["1.5 packets", "1000000.5 packets", "0.9 packets"] {
            assert!(matches!(parse_count(text), Err(ParseError::TooFine { .. })), "{text}");
        }
        assert!(matches!(parse_span("1000000000000000000000 ps"), Err(ParseError::TooLarge { .. })));
        assert!(matches!(parse_span("18446744073709551616 ps"), Err(ParseError::TooLarge { .. })));
        assert_eq!(parse_span("18446744073709551615 ps"), Ok(Span::from_ps(u64::MAX)));
    }

    proptest! {
        /// Every number of microseconds that a double has in milliseconds is that number again.
        #[test]
        fn doubles_come_back(us in 1..1_000_000_000_000u64) {
            let text = format!("{:?} ms", us as f64 / 1e3);
            prop_assert_eq!(parse_span(&text), Ok(Span::from_ps(us * 1_000_000)));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = (parse_span(&text), parse_rate(&text), parse_bytes(&text), parse_count(&text));
        }

        #[test]
        fn whole_picoseconds_survive(ps in 0..u64::MAX) {
            prop_assert_eq!(parse_span(&format!("{ps} ps")), Ok(Span::from_ps(ps)));
        }
    }
}
