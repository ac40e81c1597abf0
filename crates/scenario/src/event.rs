//! Changes of the network: at given times, and as they were measured.

use crate::network::{LinkSelector, Loss, Queue, names_file};
use crate::read::Reading;
use crate::words::quoted;
use anabranch_units::declaration::above;
use anabranch_units::{Rate, Span};

crate::choices! {
    /// Whether something works.
    pub enum State {
        /// It works again.
        "up" => Up,
        /// It fails.
        "down" => Down,
    }
}

crate::table! {
    /// A change of links, of a node or of an address at a given time; at `"0 s"` it is how the run begins.
    ///
    /// A failing link loses what is queued and in flight on it; a failing node takes all its links with it. An
    /// address comes and goes without its link: the ends of Multipath TCP tell each other of it (RFC 8684).
    pub struct Event: selector: LinkSelector {
        /// When.
        at: Span;
        /// The links between these two nodes.
        link: Option<[String; 2]>;
        /// A node, with every link at it.
        node: Option<String>;
        /// The address of the first node on its link to the second. Connections of Multipath TCP heed it whose
        /// path manager is `fullmesh`.
        address: Option<[String; 2]>;
        /// Fails, or works again; for an address: its host has it no more, or again.
        state: Option<State>;
        /// Subflows of the address are backups, which carry data only while no other subflow works; `false`
        /// makes them regular ones again (RFC 8684 section 3.3.8).
        backup: Option<bool>;
        /// New capacity of the link.
        capacity: Option<Rate>, above(Rate::from_bps(0));
        /// New propagation delay of the link, for packets sent from then on.
        delay: Option<Span>;
        /// New loss of the link.
        loss: Option<Loss>;
        /// New queue of the link; what waits moves into it. Room in time is that at the capacity of this event, or
        /// of the start; in bandwidth-delay products it needs an `rtt`.
        queue: Option<Queue>;
    }
    together changes_one_thing;
}

fn changes_one_thing(read: &Event, table: &mut Reading<'_, '_>) -> Option<()> {
    let subjects =
        [("link", read.link.is_some()), ("node", read.node.is_some()), ("address", read.address.is_some())];
    let named: Vec<_> = subjects.iter().filter(|(_, is_named)| *is_named).map(|(name, _)| *name).collect();
    let [subject] = named[..] else {
        let more = if named.is_empty() { "" } else { ", and one of them only" };
        return table.refuse("link", format!("give link, node or address{more}"));
    };
    let (has, give, have): (&[&str], _, _) = match subject {
        "link" => (
            &["state", "capacity", "delay", "loss", "queue"],
            "state, capacity, delay, loss or queue",
            "a link has state, capacity, delay, loss and queue",
        ),
        "node" => (&["state"], "state", "a node has state = \"up\" or \"down\""),
        _ => {
            (&["state", "backup"], "state or backup", "an address has state = \"up\" or \"down\", and backup")
        }
    };
    let changes = [
        ("state", read.state.is_some()),
        ("capacity", read.capacity.is_some()),
        ("delay", read.delay.is_some()),
        ("loss", read.loss.is_some()),
        ("queue", read.queue.is_some()),
        ("backup", read.backup.is_some()),
    ];
    let mut given = changes.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name).peekable();
    if given.peek().is_none() {
        return table.refuse("state", format!("nothing changes; give {give}"));
    }
    if let Some(field) = given.find(|field| !has.contains(field)) {
        let owner = if field == "backup" { "an address" } else { "a link" };
        return table.refuse(field, format!("only {owner} has one; {have}"));
    }
    if read.selector.direction != crate::network::Direction::Both && subject != "link" {
        return table.refuse("direction", "only a link has one");
    }
    if read.selector.index.is_some() && subject == "node" {
        return table.refuse("index", "only a link has one");
    }
    Some(())
}

crate::choices! {
    /// How a measurement is written.
    pub enum ProfileFormat {
        /// A header and rows.
        "csv" => Csv,
        /// A trace of Mahimahi's `mm-link`.
        "mahimahi" => Mahimahi,
    }
}

crate::table! {
    /// Capacity, delay and loss of a link over time, as they were measured.
    ///
    /// Each row of the file is a change of the link, like an `[[event]]`: its values hold until the next row.
    pub struct Profile: selector: LinkSelector {
        /// The links between these two nodes.
        link: [String; 2];
        /// Where the measurement is: `"file:lte.csv"`.
        source as "from": String;
        /// `csv`: a header with `time_s` and any of `capacity_mbps` (or `_bps`, `_kbps`, `_gbps`),
        /// `delay_ms` (or `_us`, `_s`) and `loss`. `mahimahi`: a trace of its `mm-link`, each line the
        /// millisecond at which a packet of 1500 bytes may leave (Netravali et al. 2015).
        format: ProfileFormat = ProfileFormat::Csv;
        /// Over which the packets of a Mahimahi trace are counted for the capacity; left out, over 100 ms.
        interval: Option<Span>, above(Span::ZERO);
        /// Begin anew after so long, until the run ends; left out, a CSV file is played once, and a Mahimahi trace
        /// begins anew at its last millisecond, as there.
        repeat: Option<Span>, above(Span::ZERO);
    }
    together |read, table| {
        if !names_file(&read.source) {
            return table.refuse("from", format!("{} is not like \"file:lte.csv\"", quoted(&read.source)));
        }
        if read.format == ProfileFormat::Csv && read.interval.is_some() {
            return table.refuse("interval", "is for a Mahimahi trace; a CSV file has its times in it");
        }
        Some(())
    };
}
