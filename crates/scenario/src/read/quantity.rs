//! Quantities: numbers with a unit.

use super::{Form, Read, Usual, Within};
use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::words::quoted;
use anabranch_units::declaration::Bounds;
use anabranch_units::text::Quantity as Kind;
use anabranch_units::{Bytes, Rate, Span};

/// What numbers of a unit are, and how they are written.
#[derive(Debug)]
pub struct QuantityForm {
    /// How they are read.
    pub kind: Kind,
    /// Their class in other languages.
    pub name: &'static str,
    /// The largest that is allowed, in base units.
    pub largest: u64,
    /// The same as a message says it.
    pub limit: &'static str,
    /// Units to write in besides the base unit, largest first, each with the number of base units in it.
    pub written: &'static [(&'static str, u64)],
    /// The smallest part of a unit that is still written, as in 1.125 ms.
    pub parts: u64,
}

impl QuantityForm {
    /// So many base units as one would write them; the text is read as the same value.
    #[must_use]
    pub fn text(&self, base: u64) -> String {
        for &(name, size) in self.written {
            if base >= size && (u128::from(base) * u128::from(self.parts)).is_multiple_of(u128::from(size)) {
                return format!("{} {name}", decimal(base, size));
            }
        }
        format!("{base} {}", self.kind.units()[0].0)
    }

    /// The base units that a text says.
    ///
    /// # Errors
    /// What is wrong with the text, and what would be right.
    pub fn of_text(&self, text: &str) -> Result<u64, String> {
        self.base_units(&Node::from(Value::Text(text.to_owned())))
    }

    /// The base units in a value; what is wrong is noted.
    fn read(&self, node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<u64> {
        match self.base_units(node) {
            Ok(base) => Some(base),
            Err(message) => {
                problems.add(at, message);
                None
            }
        }
    }

    fn base_units(&self, node: &Node) -> Result<u64, String> {
        let (noun, example) = (self.kind.noun(), quoted(self.kind.example()));
        let read = match &node.value {
            Value::Text(text) => text.clone(),
            Value::Integer(_) | Value::Huge(_) | Value::Float(_) => node.shown(),
            _ => return Err(format!("{} is not {noun}; write text such as {example}", node.shown())),
        };
        if is_negative(&read) {
            return Err(format!("{} is below zero; {noun} is written like {example}", quoted(&read)));
        }
        let base = self.kind.parse(&read).map_err(|error| error.to_string())?;
        if base > self.largest {
            return Err(format!("'{read}' is above {}, the largest that is allowed", self.limit));
        }
        Ok(base)
    }

    fn outside(&self, value: u64, node: &Node, bounds: [Option<u64>; 4]) -> Option<String> {
        let [least, above, most, below] = bounds;
        let parts = [
            ("at least", least, least.is_none_or(|least| value >= least)),
            ("above", above, above.is_none_or(|above| value > above)),
            ("at most", most, most.is_none_or(|most| value <= most)),
            ("below", below, below.is_none_or(|below| value < below)),
        ];
        if parts.iter().all(|(_, _, holds)| *holds) {
            return None;
        }
        if let [None, Some(0), None, None] = bounds {
            let example = quoted(self.kind.example());
            return Some(format!("{} must be above zero, for example {example}", node.shown()));
        }
        let stated =
            parts.iter().filter_map(|(word, bound, _)| Some(format!("{word} {}", self.text((*bound)?))));
        let stated = stated.collect::<Vec<_>>().join(" and ");
        Some(format!("{} is out of range; it must be {stated}", quoted(&self.text(value))))
    }
}

fn is_negative(text: &str) -> bool {
    let unsigned = text.trim_start().strip_prefix('-').map(str::trim_start);
    unsigned.is_some_and(|rest| rest.starts_with(|c: char| c == '.' || c.is_ascii_digit()))
}

/// `base / size` in decimal, exact: the caller has seen that three places suffice.
fn decimal(base: u64, size: u64) -> String {
    let rest = u128::from(base % size) * 1000 / u128::from(size);
    let text = format!("{}.{rest:03}", base / size);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number with a unit.
pub trait Quantity: Copy + PartialOrd {
    /// What numbers of this unit are.
    const FORM: &'static QuantityForm;

    /// So many base units.
    fn from_base(base: u64) -> Self;

    /// The number of base units.
    fn base(self) -> u64;

    /// The quantity as one would write it.
    fn text(self) -> String {
        Self::FORM.text(self.base())
    }
}

const LARGEST: u64 = i64::MAX as u64;

macro_rules! quantities {
    ($( $type:ty: $name:literal, $from:expr, $base:expr, $form:expr; )+) => { $(
        impl Quantity for $type {
            const FORM: &'static QuantityForm = &QuantityForm { name: $name, ..$form };

            fn from_base(base: u64) -> Self {
                $from(base)
            }

            fn base(self) -> u64 {
                let base: fn(Self) -> u64 = $base;
                base(self)
            }
        }

        impl Read for $type {
            fn form() -> Form {
                Form::Quantity(Self::FORM)
            }

            fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
                Self::FORM.read(node, at, problems).map(Self::from_base)
            }
        }

        impl Within for $type {
            type Bound = Self;

            fn outside(&self, node: &Node, bounds: &Bounds<Self>) -> Option<String> {
                let bounds = [bounds.least, bounds.above, bounds.most, bounds.below];
                Self::FORM.outside(self.base(), node, bounds.map(|bound| bound.map(Self::base)))
            }

            fn number(bound: &Self) -> serde_json::Value {
                bound.base().into()
            }
        }

        impl Usual for $type {
            fn usual(&self) -> serde_json::Value {
                self.text().into()
            }
        }
    )+ };
}

/// A number of packets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub struct Packets(pub u64);

/// A number of TCP segments.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub struct Segments(pub u64);

/// A speed of propagation, in metres per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub struct Speed(pub u64);

const fn plain(kind: Kind, limit: &'static str) -> QuantityForm {
    QuantityForm { kind, name: "", largest: LARGEST, limit, written: &[], parts: 1000 }
}

quantities! {
    Span: "Span", Self::from_ps, Self::as_ps, QuantityForm {
        largest: Span::LONGEST_INPUT.as_ps(),
        written: &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000)],
        ..plain(Kind::Span, "30 days")
    };
    Rate: "Rate", Self::from_bps, Self::as_bps, QuantityForm {
        written: &[("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000)],
        ..plain(Kind::Rate, "9223372036854775807 bps")
    };
    // 1460 bytes are "1460 B" to everybody, not "1.46 kB".
    Bytes: "ByteCount", Self, |size| size.0, QuantityForm {
        written: &[
            ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10),
            ("kB", 1_000),
        ],
        parts: 1,
        ..plain(Kind::Bytes, "9223372036854775807 B")
    };
    Packets: "PacketCount", Self, |count| count.0, plain(Kind::Packets, "9223372036854775807 packets");
    Segments: "SegmentCount", Self, |count| count.0, plain(Kind::Segments, "9223372036854775807 segments");
    Speed: "Speed", Self, |speed| speed.0, QuantityForm {
        written: &[("km/ms", 1_000_000), ("km/s", 1_000)],
        ..plain(Kind::Speed, "9223372036854775807 m/s")
    };
}
