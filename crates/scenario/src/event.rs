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
        /// It loses all that it sends, and routing does not hear of it; a link only.
        "silent" => Silent,
    }
}

crate::table! {
    /// A change of links, of a node or of an address at a given time; at `"0 s"` it is how the run begins.
    ///
    /// A failing link loses what is queued and in flight on it; a failing node takes all its links with it; a silent
    /// link is up, and loses what it sends. An
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
    if read.state == Some(State::Silent) && subject != "link" {
        return table.refuse("state", "only a link fails silently; write \"down\"");
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
        /// A delay a line, as of LeoCC's LeoReplayer.
        "delays" => Delays,
        /// The history of a Starlink dish.
        "starlink" => Starlink,
    }
}

crate::choices! {
    /// What a profile does at the end of its file.
    pub enum AtEnd {
        /// The last values hold.
        "hold" => Hold,
        /// It begins anew.
        "repeat" => Repeat,
    }
}

crate::choices! {
    /// What the times of a file count from.
    pub enum ProfileClock {
        /// From the beginning of the run.
        "run" => Run,
        /// From the first time in the file.
        "first" => First,
    }
}

crate::choices! {
    /// What a measurement has of a link.
    pub enum MeasuredValue {
        /// Its capacity.
        "capacity" => Capacity,
        /// Its propagation delay.
        "delay" => Delay,
        /// Its loss.
        "loss" => Loss,
    }
}

crate::choices! {
    /// A direction of a Starlink dish.
    pub enum StarlinkStream {
        /// To the dish.
        "downlink" => Downlink,
        /// From the dish.
        "uplink" => Uplink,
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
        /// millisecond at which a packet of 1500 bytes may leave (Netravali et al. 2015). `delays`: a one-way delay in
        /// milliseconds a line. `starlink`: a dish's history in JSON. Left out, CSV and JSON are recognised.
        format: Option<ProfileFormat>;
        /// Of a Mahimahi trace: over which its packets are counted for the capacity; left out, over 100 ms. Of delays:
        /// from one line to the next.
        interval: Option<Span>, above(Span::ZERO);
        /// Begin anew after so long, until the run ends; left out, `at_end` says what happens.
        repeat: Option<Span>, above(Span::ZERO);
        /// What happens at the end of the file; left out, the last values hold, and a Mahimahi trace begins anew at its
        /// last millisecond, as there.
        at_end: Option<AtEnd>;
        /// What the times of a CSV file or a Mahimahi trace count from.
        clock: ProfileClock = ProfileClock::Run;
        /// Which of capacity, delay and loss are taken; left out, all that the file has.
        values: Option<Vec<MeasuredValue>>;
        /// Which throughput of a Starlink dish is the capacity; left out, `downlink`.
        stream: Option<StarlinkStream>;
    }
    together checked_profile;
}

fn checked_profile(read: &Profile, table: &mut Reading<'_, '_>) -> Option<()> {
    use ProfileFormat::{Csv, Delays, Mahimahi, Starlink};
    if !names_file(&read.source) {
        return table.refuse("from", format!("{} is not like \"file:lte.csv\"", quoted(&read.source)));
    }
    if read.interval.is_some() && !matches!(read.format, Some(Mahimahi | Delays)) {
        return table.refuse(
            "interval",
            "is for a Mahimahi trace and for delays, named by format; CSV and JSON have their times in them",
        );
    }
    if read.format == Some(Delays) && read.interval.is_none() {
        return table
            .refuse("interval", "is missing: a list of delays has no times; LeoCC's has one each \"10 ms\"");
    }
    if read.repeat.is_some() && read.at_end == Some(AtEnd::Hold) {
        return table.refuse("at_end", "is \"hold\", and repeat says when to begin anew; give one of them");
    }
    if read.at_end == Some(AtEnd::Repeat) && read.repeat.is_none() && read.format == Some(Csv) {
        return table.refuse("at_end", NO_LENGTH);
    }
    if read.clock == ProfileClock::First && matches!(read.format, Some(Delays | Starlink)) {
        return table
            .refuse("clock", "is for CSV and Mahimahi; delays and a dish's history begin with the run");
    }
    if read.stream.is_some() && !matches!(read.format, None | Some(Starlink)) {
        return table.refuse("stream", "is for the history of a Starlink dish");
    }
    if read.values.as_ref().is_some_and(Vec::is_empty) {
        return table.refuse("values", "names nothing; give capacity, delay or loss");
    }
    Some(())
}

/// Why a CSV file does not begin anew by itself.
pub(crate) const NO_LENGTH: &str = "needs repeat: a CSV file does not say how long its last row holds; give the length, such as repeat = \"60 s\"";
