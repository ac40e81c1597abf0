//! Applications: what sends over a connection, or without one, and how receivers read.

use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Form, Quantity, Read, Reading, Table};
use crate::variate::Drawn;
use crate::words::{all_quoted, quoted, unknown_choice};
use anabranch_units::declaration::above;
use anabranch_units::{Bytes, Rate, Span};

/// Bytes of the headers of IPv4 and UDP, or of IPv4 and ICMP.
const HEADERS: u64 = 28;
/// Bytes of the longest packet of IPv4.
const LONGEST_PACKET: u64 = 65_535;
const KINDS: [&str; 5] = ["constant-rate", "poisson", "messages", "ping", "udp"];
const NO_RATE: Rate = Rate::from_bps(0);

crate::choices! {
    /// How messages follow each other.
    pub enum RateKind {
        /// Equal gaps.
        "constant-rate" => Constant,
        /// Exponential gaps.
        "poisson" => Poisson,
    }
}

crate::table! {
    /// An application that sends messages: at constant intervals, or as a Poisson process.
    pub struct RateApplication {
        /// `constant-rate`: equal gaps; `poisson`: exponential gaps.
        kind: RateKind;
        /// Size of each message.
        message: Drawn<Bytes>;
        /// Mean rate of application data; give this or `gap`, or a matrix, which has the rates.
        rate: Option<Rate>, above(NO_RATE);
        /// Mean time from one message to the next.
        gap: Option<Span>;
    }
    together |read, table| {
        if read.rate.is_some() && read.gap.is_some() {
            return table.refuse("rate", "give either rate or gap, not both");
        }
        if read.gap == Some(Span::ZERO) {
            let gap = quoted(&Span::ZERO.text());
            return table.refuse("gap", format!("{gap} is zero; messages need some time between them"));
        }
        let mean = read.message.mean();
        if mean > 0.0 && mean.is_finite() {
            return Some(());
        }
        let what = if mean == 0.0 { "zero" } else { "infinite" };
        table.refuse("message", format!("its mean is {what}; a message has a size"))
    };
}

crate::table! {
    /// An application that sends messages of any size at any intervals.
    pub struct MessageApplication {
        /// Size of each message.
        message: Drawn<Bytes>;
        /// Time from one message to the next.
        gap: Drawn<Span>;
    }
    tagged
        /// `messages`: sizes and gaps as given, distributions or not.
        kind is "messages";
    together |read, table| {
        for (key, mean) in [("message", read.message.mean()), ("gap", read.gap.mean())] {
            if mean == 0.0 {
                return table.refuse(key, "its mean is zero");
            }
        }
        Some(())
    };
}

crate::table! {
    /// Echo requests at constant intervals, each answered at once by a packet as long (ICMP, RFC 792).
    pub struct PingApplication {
        /// From one request to the next.
        interval: Span = Span::from_secs(1);
        /// Size of the IP packet with its 28 bytes of headers, 28 B to 65,535 B; ping on Linux has 84 B.
        packet: Bytes = Bytes(84);
    }
    tagged
        /// `ping`: how long packets take there and back, and how many are lost.
        kind is "ping";
    together |read, table| {
        if read.interval == Span::ZERO {
            let interval = quoted(&read.interval.text());
            return table.refuse("interval", format!("{interval} is zero; requests need some time between them"));
        }
        fits(read.packet, table)
    };
}

crate::table! {
    /// UDP packets at a constant rate, whatever becomes of them: calls, games, telemetry.
    pub struct UdpApplication {
        /// Rate of the IP packets, headers included; a matrix has the rates in place of it.
        rate: Option<Rate>, above(NO_RATE);
        /// Size of the IP packet with its 28 bytes of headers, 28 B to 65,535 B; 200 B is a call with G.711.
        packet: Bytes;
    }
    tagged
        /// `udp`: how long packets take one way, how that varies, and how many are lost.
        kind is "udp";
    together |read, table| fits(read.packet, table);
}

fn fits(packet: Bytes, table: &mut Reading<'_, '_>) -> Option<()> {
    let text = quoted(&packet.text());
    match packet.0 {
        ..HEADERS => table.refuse("packet", format!("{text} is below {HEADERS} B, which the headers take")),
        HEADERS..=LONGEST_PACKET => Some(()),
        _ => {
            table.refuse("packet", format!("{text} is above {LONGEST_PACKET} B, the longest packet of IPv4"))
        }
    }
}

/// What sends in place of a size.
#[derive(Clone, PartialEq, Debug)]
pub enum Application {
    /// Messages at a rate.
    Rate(RateApplication),
    /// Messages of any size at any intervals.
    Messages(MessageApplication),
    /// Echo requests.
    Ping(PingApplication),
    /// UDP packets at a rate.
    Udp(UdpApplication),
}

impl Application {
    /// Its kind, as a scenario writes it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Rate(RateApplication { kind: RateKind::Constant, .. }) => "constant-rate",
            Self::Rate(RateApplication { kind: RateKind::Poisson, .. }) => "poisson",
            Self::Messages(_) => "messages",
            Self::Ping(_) => "ping",
            Self::Udp(_) => "udp",
        }
    }
}

impl Read for Application {
    fn form() -> Form {
        Form::OneOf(vec![
            Form::Table(RateApplication::FORM),
            Form::Table(MessageApplication::FORM),
            Form::Table(PingApplication::FORM),
            Form::Table(UdpApplication::FORM),
        ])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let message = match (node.table(), node.get("kind")) {
            (None, _) if node.is_foreign() => format!(
                "{} does not belong here; a table here has a kind: {}",
                node.shown(),
                KINDS.join(", ")
            ),
            (None, _) => format!("{} is not a table", node.shown()),
            (_, None) => format!("a table here needs the key \"kind\": one of {}", all_quoted(KINDS)),
            (_, Some(kind)) => match kind.text().unwrap_or_default() {
                "constant-rate" | "poisson" => return Read::read(node, at, problems).map(Self::Rate),
                "messages" => return Read::read(node, at, problems).map(Self::Messages),
                "ping" => return Read::read(node, at, problems).map(Self::Ping),
                "udp" => return Read::read(node, at, problems).map(Self::Udp),
                _ => format!("kind {}", unknown_choice(kind, &KINDS)),
            },
        };
        problems.add(at, message);
        None
    }
}

crate::table! {
    /// How the receiving application reads; what it has not read fills the receive buffer.
    pub struct ReceiverReading {
        /// Mean rate at which it reads where there are always data; left out: as fast as they come.
        rate: Option<Rate>, above(NO_RATE);
        /// What it reads at once: it takes a block at equal intervals from the start of its flow, and what of a
        /// block is not there yet as it comes, until the next one is due. The default is a record of TLS (RFC 8446
        /// section 5.1).
        block: Bytes = Bytes(16_384);
        /// From here on, on the clock of the run, it reads nothing.
        pause: Option<Span>;
        /// From here on it reads again; left out: never.
        resume: Option<Span>;
    }
    together |read, table| {
        if read.rate.is_none() && read.pause.is_none() {
            return table
                .refuse("rate", "is missing; an application that reads at once needs no table, or a pause");
        }
        if read.rate.is_none() && table.node.has("block") {
            return table.refuse("block", "without a rate it reads whatever comes; leave it out");
        }
        if read.block.0 == 0 {
            let block = quoted(&read.block.text());
            return table.refuse("block", format!("{block} is zero; a block has at least one byte"));
        }
        match (read.pause, read.resume) {
            (None, Some(_)) => table.refuse("resume", "without pause there is nothing to resume"),
            (Some(pause), Some(resume)) if resume <= pause => {
                let (resume, pause) = (quoted(&resume.text()), quoted(&pause.text()));
                table.refuse("resume", format!("{resume} is not after pause, {pause}"))
            }
            _ => Some(()),
        }
    };
}
