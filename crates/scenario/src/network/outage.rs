//! What is out of service, fails together, or is under maintenance.

use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Form, Read, Reading};
use crate::words::quoted;

crate::table! {
    /// Links and nodes that are down together.
    pub struct Outage {
        /// Links by name: `"Oslo->Bergen"` or `"Oslo-Bergen"`, and of parallel ones `"Oslo->Bergen#2"`. Both directions are down.
        links: Vec<String> = Vec::new();
        /// Nodes, with every link at them.
        nodes: Vec<String> = Vec::new();
    }
}

crate::table! {
    /// Links and nodes that share a risk, such as a duct or a building, so that they fail together.
    pub struct RiskGroup: outage: Outage {
        /// Its name; no other group has it.
        name: String;
    }
    together |read, table| some_element(&read.outage, table);
}

crate::table! {
    /// A window of a day in which links and nodes are down for maintenance.
    pub struct Maintenance: outage: Outage {
        /// Its name; no other window has it.
        name: String;
        /// When it begins, on a clock of 24 hours: `"22:00"`.
        begin as "from": ClockTime;
        /// When it ends; before `from`, on the next day.
        until: ClockTime;
    }
    together |read, table| {
        if read.begin == read.until {
            return table.refuse("until", "is the time of from; a window has a beginning and another end");
        }
        some_element(&read.outage, table)
    };
}

fn some_element(outage: &Outage, table: &mut Reading<'_, '_>) -> Option<()> {
    if outage.links.is_empty() && outage.nodes.is_empty() {
        return table.refuse("links", "is missing, and so is nodes; name the links or nodes that are down");
    }
    Some(())
}

/// A time of day, in minutes after midnight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockTime(pub u32);

impl Read for ClockTime {
    fn form() -> Form {
        Form::Text
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let text = String::read(node, at, problems)?;
        let part = |part: &str, below: u32| {
            let number = part.parse::<u32>().ok().filter(|&number| number < below);
            number.filter(|_| part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_digit()))
        };
        let time = text.split_once(':').and_then(|(hour, minute)| Some((part(hour, 24)?, part(minute, 60)?)));
        if time.is_none() {
            let message = format!(
                "{} is no time of day; write it like \"22:00\", from \"00:00\" to \"23:59\"",
                quoted(&text)
            );
            problems.add(at, message);
        }
        time.map(|(hour, minute)| Self(60 * hour + minute))
    }
}
