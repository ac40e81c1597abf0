//! The queue in front of a link as a scenario has it: a discipline, or its room alone.

use crate::algorithm::{configured, declared, read_algorithm, registry};
use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::read::{Form, Packets, Quantity, Read, read_some, some_of};
use crate::setup::quotient;
use anabranch_engine::queues::{Discipline, Limit};
use anabranch_engine::setup::QueueSetup;
use anabranch_units::declaration::{Kind, Plain, above};
use anabranch_units::{Bytes, Rate, Span};

crate::table! {
    /// Room in bandwidth-delay products of a given round-trip time.
    pub struct BandwidthDelay {
        /// How many: 1 is the capacity times `rtt`.
        bdp: f64, above(0.0).at_most(1e6);
        /// Round-trip time without queues.
        rtt: Span, above(Span::ZERO);
    }
}

/// A bound of the room for waiting packets.
#[derive(Clone, PartialEq, Debug)]
pub enum Bound {
    /// So many packets.
    Packets(Packets),
    /// So many bytes.
    Bytes(Bytes),
    /// What the link sends in this time.
    Time(Span),
    /// Bandwidth-delay products of a round-trip time that depends on the flows, as the scenario writes them.
    Products(f64, String),
    /// Bandwidth-delay products of a given round-trip time.
    ProductsOf(BandwidthDelay),
    /// No bound.
    Unlimited,
}

/// The units of a bound in time or bytes that a text ends with.
fn ends_with_unit(text: &str, quantity: anabranch_units::text::Quantity) -> bool {
    quantity.units().iter().any(|(unit, _)| {
        let number = text.strip_suffix(unit).map(str::trim_end);
        number.is_some_and(|number| number.ends_with(|c: char| c == '.' || c.is_ascii_digit()))
    })
}

/// The number in a text such as `1.5 BDP`, if it is above zero.
fn products(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix("BDP")?.trim_end();
    let is_plain = number.chars().all(|c| c == '.' || c.is_ascii_digit()) && number != ".";
    number.parse().ok().filter(|&value| is_plain && value > 0.0)
}

/// Whether a text is a number of something that no room is measured in.
fn has_other_unit(text: &str) -> bool {
    let number = text.trim_start();
    let unit = number.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let unit_has_digits = unit.contains(|c: char| c == '.' || c.is_ascii_digit());
    unit.len() < number.len() && !unit_has_digits && !["packet", "packets"].contains(&unit.trim())
}

impl Read for Bound {
    fn form() -> Form {
        Form::OneOf(vec![
            Packets::form(),
            Bytes::form(),
            Span::form(),
            Form::Products,
            BandwidthDelay::form(),
            Form::Choice(vec!["unlimited"]),
        ])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        use anabranch_units::text::Quantity as Kind;
        if node.table().is_some() {
            return Read::read(node, at, problems).map(Self::ProductsOf);
        }
        let text = node.text().unwrap_or_default();
        let end = text.trim_end();
        if end.ends_with("BDP") {
            let number = products(text);
            if number.is_none() {
                let message =
                    format!("{} is not a number of bandwidth-delay products; write \"1 BDP\"", node.shown());
                problems.add(at, message);
            }
            return number.map(|number| Self::Products(number, text.to_owned()));
        }
        if text == "unlimited" {
            return Some(Self::Unlimited);
        }
        if ends_with_unit(end, Kind::Span) {
            return Read::read(node, at, problems).map(Self::Time);
        }
        if ["B", "bytes", "byte"].iter().any(|unit| end.ends_with(unit)) {
            return Read::read(node, at, problems).map(Self::Bytes);
        }
        if has_other_unit(text) || matches!(node.value, Value::Integer(_) | Value::Huge(_) | Value::Float(_))
        {
            let message = format!(
                "{} has no unit of a queue's room; write packets (\"100 packets\"), a size (\"64 kB\"), a time \
                 at the capacity of the link (\"20 ms\"), bandwidth-delay products (\"1 BDP\") or \"unlimited\"",
                node.shown()
            );
            problems.add(at, message);
            return None;
        }
        Read::read(node, at, problems).map(Self::Packets)
    }
}

/// Room for waiting packets: bounds that all hold.
#[derive(Clone, PartialEq, Debug)]
pub struct Room(pub Vec<Bound>);

impl Read for Room {
    fn form() -> Form {
        Form::OneOf(vec![Bound::form(), some_of::<Bound>()])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::List(_) => read_some(node, at, problems).map(Self),
            _ => Read::read(node, at, problems).map(|bound| Self(vec![bound])),
        }
    }
}

/// Room, and the discipline by which packets wait in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Queue {
    room: Room,
    discipline: Discipline,
}

impl Read for Queue {
    fn form() -> Form {
        Form::OneOf(vec![Room::form(), Form::Algorithm("queue")])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let is_name = node
            .text()
            .is_some_and(|text| text != "unlimited" && !text.contains(|c: char| c.is_ascii_digit()));
        let is_discipline = is_name || (node.table().is_some() && !node.has("bdp") && !node.has("rtt"));
        if !is_discipline {
            return Room::read(node, at, problems).map(Self::drop_tail);
        }
        let limit = node.get("limit").map(|limit| Room::read(limit, &at.key("limit"), problems));
        let configuration = read_algorithm("queue", node, at, problems)?;
        let room = match limit {
            Some(room) => room?,
            None => usual_room(configuration["algorithm"].as_str().unwrap_or_default()),
        };
        let discipline: Discipline = configured(&configuration, at, problems)?;
        if let Err(refused) = discipline.verify() {
            problems.add(&at.key(&refused.parameter), refused.problem);
            return None;
        }
        Some(Self { room, discipline })
    }
}

/// The room of a discipline where none is given.
fn usual_room(name: &str) -> Room {
    let parameters = declared("queue", name).map_or(&[][..], |algorithm| &algorithm.parameters);
    let packets = match parameters.iter().find(|entry| entry.kind == Kind::Room).map(|entry| &entry.default) {
        Some(Plain::Integer(packets)) => *packets,
        _ => 100,
    };
    Room(vec![Bound::Packets(Packets(packets))])
}

impl Default for Queue {
    /// That of a link about which nothing is said: drop-tail, with its usual room.
    fn default() -> Self {
        Self::drop_tail(usual_room(registry("queue").algorithms[0].name))
    }
}

impl Queue {
    /// Drop-tail without a bound.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::drop_tail(Room(vec![Bound::Unlimited]))
    }

    fn drop_tail(room: Room) -> Self {
        let name = registry("queue").algorithms[0].name;
        Self { room, discipline: Discipline::named(name).expect("the first of the registry") }
    }

    /// The first room in products of a round-trip time that depends on the flows: how many, and as the scenario writes
    /// them.
    #[must_use]
    pub fn products(&self) -> Option<(f64, &str)> {
        self.room.0.iter().find_map(|bound| match bound {
            Bound::Products(number, text) => Some((*number, text.as_str())),
            _ => None,
        })
    }

    /// The queue as the engine has it, at a capacity, and at a round-trip time for products that name none.
    #[must_use]
    pub fn setup(&self, capacity: Rate, rtt: Span) -> QueueSetup {
        let bps = u128::from(capacity.base());
        let picoseconds = 8 * 1_000_000_000_000u128;
        let products =
            |count: f64, rtt: Span| (count * quotient(bps * u128::from(rtt.as_ps()), picoseconds)) as u64;
        let least = |old: Option<u64>, new: u64| Some(old.map_or(new, |old| old.min(new)));
        let mut limit = Limit::default();
        for bound in &self.room.0 {
            match bound {
                Bound::Packets(packets) => limit.packets = least(limit.packets, packets.0),
                Bound::Bytes(bytes) => limit.bytes = least(limit.bytes, bytes.0),
                Bound::Time(span) => {
                    let bytes = bps * u128::from(span.as_ps()) / picoseconds;
                    limit.bytes = least(limit.bytes, u64::try_from(bytes).unwrap_or(u64::MAX));
                }
                Bound::Products(count, _) => limit.bytes = least(limit.bytes, products(*count, rtt)),
                Bound::ProductsOf(of) => limit.bytes = least(limit.bytes, products(of.bdp, of.rtt)),
                Bound::Unlimited => {}
            }
        }
        QueueSetup { limit, discipline: self.discipline.clone() }
    }
}

/// What to write in place of products of a round-trip time that is not known.
#[must_use]
pub fn with_rtt(products: f64) -> String {
    format!("write {{ bdp = {}, rtt = \"50 ms\" }}", crate::words::short(products))
}
