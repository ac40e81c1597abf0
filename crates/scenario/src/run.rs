//! How long a run is, with which randomness, and what is measured.

use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Form, Read, Usual};
use crate::toml_text::parse_with_positions;
use anabranch_units::declaration::{above, at_least};
use anabranch_units::{Bytes, Span};

crate::choices! {
    /// When a run ends.
    pub enum Until {
        /// When its time is over.
        "duration" => Duration,
        /// When every flow that can complete has, or its time is over.
        "done" => Done,
    }
}

/// Some flows by name, or all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlowNames {
    /// `*`.
    All,
    /// These.
    Several(Vec<String>),
}

impl Usual for FlowNames {
    fn usual(&self) -> serde_json::Value {
        match self {
            Self::All => "*".into(),
            Self::Several(names) => names.usual(),
        }
    }
}

impl Read for FlowNames {
    fn form() -> Form {
        Form::OneOf(vec![Form::Choice(vec!["*"]), Vec::<String>::form()])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if node.text() == Some("*") {
            return Some(Self::All);
        }
        Read::read(node, at, problems).map(Self::Several)
    }
}

crate::table! {
    /// How long, with which randomness, and what is sampled.
    pub struct Run {
        /// Simulated time; with `until = "done"` the latest end.
        duration: Span, above(Span::ZERO);
        /// When the run ends. `duration`: when its time is over; `done`: as soon as every flow with a size, or
        /// a `stop`, has completed, or when its time is over if one does not.
        until: Until = Until::Duration;
        /// Seed of every random stream.
        seed: u64 = 1;
        /// Replication: the same scenario with other, independent random streams.
        replication: u64 = 0;
        /// Time between the rows of the series.
        sample_interval: Span = Span::from_ms(100), above(Span::ZERO);
        /// Sample every flow.
        flow_series: bool = true;
        /// Sample every link.
        link_series: bool = true;
        /// Flows by name (`web.0`) of which every segment and every acknowledgment is noted, or `"*"`.
        sequences: FlowNames = FlowNames::Several(Vec::new());
        /// Flows by name (`web.0`) whose senders keep an event log, with a row for each ACK, or `"*"`.
        log: FlowNames = FlowNames::Several(Vec::new());
    }
}

impl Run {
    /// That of a scenario without one: its duration matters to nobody, since nothing is simulated.
    #[must_use]
    pub fn none() -> Self {
        let text = parse_with_positions("duration = \"1 s\"").expect("it is TOML");
        Self::read(&text, &Place::Top, &mut Problems::default()).expect("all else has a default")
    }
}

/// Bytes of a file's name: file systems have 255, and beside it there may be a file that is not yet whole.
const MOST_NAME_BYTES: usize = 240;

crate::table! {
    /// Packets written to a pcapng file, for Wireshark.
    pub struct Capture {
        /// File name, in the result folder.
        file: String;
        /// Packets as their transmission on the link from the first node to the second begins.
        link: Option<[String; 2]>;
        /// Which of several parallel links, counted from 1.
        index: u32 = 1, at_least(1);
        /// Packets that this node sends or receives.
        host: Option<String>;
        /// Bytes kept of each packet; left out: all.
        snap_length: Option<Bytes>;
    }
    together |read, table| {
        let file = read.file.as_str();
        if read.link.is_none() == read.host.is_none() {
            let both = if read.link.is_some() { ", not both" } else { "" };
            return table.refuse("link", format!("give either link or host{both}"));
        }
        if [".", ".."].contains(&file) || file.contains(['/', '\\', '\0']) {
            return table.refuse("file", "must be a plain file name; the file goes into the result folder");
        }
        if !file.ends_with(".pcapng") {
            return table.refuse("file", "must end in .pcapng");
        }
        if file.len() > MOST_NAME_BYTES {
            let message = format!("has {} bytes; a file name may have {MOST_NAME_BYTES} here", file.len());
            return table.refuse("file", message);
        }
        match read.snap_length {
            Some(length) if length.0 == 0 || length.0 > u32::MAX.into() => {
                table.refuse("snap_length", "must be between 1 B and 4 GB")
            }
            _ => Some(()),
        }
    };
}
