//! The SDN controller: what it does, which switches it governs, and how it reaches them.

use crate::algorithm::Chosen;
use crate::network::LinkSettings;
use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::read::{Form, Read, Reading, Usual, read_some, some_of};
use crate::routing::ChosenMetric;
use crate::variate::Drawn;
use crate::words::quoted;
use anabranch_engine::routing::{Metric, MetricKind};
use anabranch_units::Span;
use anabranch_units::declaration::{above, at_least};

crate::choices! {
    /// What becomes of a new entry when a table is full.
    pub enum WhenFull {
        /// It is refused, and the controller hears of it.
        "refuse" => Refuse,
        /// It takes the place of the entry that has been idle longest.
        "evict" => Evict,
    }
}

crate::choices! {
    /// Where control messages travel.
    pub enum Channel {
        /// Over control links.
        "apart" => Apart,
        /// Over the links of the network.
        "in-band" => InBand,
    }
}

crate::table! {
    /// The flow table of every switch.
    pub struct FlowTable {
        /// Most entries; left out, there is no bound.
        size: Option<u64>, at_least(1).at_most(1 << 32);
        /// What becomes of a new entry when the table is full: it is refused, and the controller hears of it, or
        /// it takes the place of the entry that has been idle longest (OpenFlow 1.4 section 5.5).
        when_full: WhenFull = WhenFull::Refuse;
        /// An entry that nothing has matched for so long goes (OpenFlow 1.3 section 5.5); left out: never.
        idle_timeout: Option<Span>, above(Span::ZERO);
        /// An entry goes so long after it was made (OpenFlow 1.3 section 5.5); left out: never.
        hard_timeout: Option<Span>, above(Span::ZERO);
    }
}

impl Usual for FlowTable {
    fn usual(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

impl Default for FlowTable {
    fn default() -> Self {
        Self { size: None, when_full: WhenFull::Refuse, idle_timeout: None, hard_timeout: None }
    }
}

crate::table! {
    /// The control link of a single switch.
    pub struct ControlLink: settings: LinkSettings {
        /// The switch at its other end.
        switch: String;
    }
}

/// What a controller does.
#[derive(Clone, PartialEq, Debug)]
pub struct Application(pub Chosen);

impl Usual for Application {
    fn usual(&self) -> serde_json::Value {
        self.0.name().into()
    }
}

impl Read for Application {
    fn form() -> Form {
        Form::Algorithm("application")
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Chosen::read("application", node, at, problems).map(Self)
    }
}

/// The nodes that are switches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Switches {
    /// Every node that is not marked a host.
    All,
    /// These.
    Several(Vec<String>),
}

impl Usual for Switches {
    fn usual(&self) -> serde_json::Value {
        match self {
            Self::All => "*".into(),
            Self::Several(names) => names.usual(),
        }
    }
}

impl Read for Switches {
    fn form() -> Form {
        Form::OneOf(vec![Form::Choice(vec!["*"]), some_of::<String>()])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "*" => Some(Self::All),
            _ => read_some(node, at, problems).map(Self::Several),
        }
    }
}

/// The application that gives entries to subflows.
const BY_SUBFLOW: &str = "subflow-round-robin";
/// The application that measures links.
const TCPBP: &str = "tcpbp";

crate::table! {
    /// An SDN controller, which sets up every flow and takes the place of routing.
    ///
    /// Without more it has a control link of its own to each switch, which carries nothing else.
    pub struct Controller {
        /// What the controller does: the name of an application, or a table of the name and its parameters:
        /// `{ algorithm = "tcpbp", estimator = { algorithm = "ewma", weight = 0.3 } }`; or a class of your own.
        application: Application = Application(Chosen::named("forwarding"));
        /// What the paths that it gives to flows are short in; `tcpbp`: before it has measured a link. Left out:
        /// `hops` for `tcpbp`, `delay` for the others.
        metric: Option<ChosenMetric>;
        /// Where control messages travel: over control links, or over the links of the network beside the data.
        channel: Channel = Channel::Apart;
        /// `in-band`: the switch that the controller hangs at, by one link.
        at: Option<String>;
        /// `in-band`: the node of the network that is the controller, in place of one that is added.
        node: Option<String>;
        /// The nodes that are switches; `"*"`: every node that is not marked a host.
        switches: Switches = Switches::All;
        /// The control link of every switch, or `in-band` the controller's one link; its queue is unlimited
        /// where none is given.
        links: LinkSettings = LinkSettings::default();
        /// The control links of single switches, in this order; they take precedence over `links`.
        link: Vec<ControlLink> = Vec::new();
        /// The flow table of every switch.
        table: FlowTable = FlowTable::default();
        /// Time from a flow's FIN until its entries are removed.
        linger: Span = Span::from_secs(1);
        /// How long the controller works on each message that has come to it, one after the other, so that
        /// messages wait for each other: a time, or a distribution of which each draws its own. Left out: no time.
        processing_delay: Option<Drawn<Span>>;
        /// Time between two requests for the counters of all links; left out: 10 s for `tcpbp`, and none is made
        /// for the others.
        statistics_interval: Option<Span>, above(Span::ZERO);
    }
    together goes_together;
}

impl Controller {
    /// The metric of the paths, default filled in.
    #[must_use]
    pub fn path_metric(&self) -> Metric {
        let usual = if self.application.0.name() == Some(TCPBP) { Metric::Hops } else { Metric::Delay };
        self.metric.map_or(usual, |metric| metric.0)
    }

    /// Time between two requests for counters, default filled in; none where none is made.
    #[must_use]
    pub fn polling(&self) -> Option<Span> {
        // Vilela 2022, section 4.1.2.
        let usual = (self.application.0.name() == Some(TCPBP)).then(|| Span::from_secs(10));
        self.statistics_interval.or(usual)
    }
}

fn goes_together(read: &Controller, table: &mut Reading<'_, '_>) -> Option<()> {
    if matches!(read.application.0, Chosen::Own(_)) && read.metric.is_some() {
        return table.refuse("metric", "the class of the application chooses the paths, so leave this out");
    }
    let adds_up = |metric: Metric| matches!(metric.kind(), MetricKind::Additive(_));
    if read.application.0.name() == Some(BY_SUBFLOW) && !adds_up(read.path_metric()) {
        let additive = Metric::NAMES.iter().filter(|(_, metric)| adds_up(*metric)).map(|(name, _)| *name);
        let message =
            format!("paths without a common link go by one of {}", additive.collect::<Vec<_>>().join(", "));
        return table.refuse("metric", message);
    }
    if read.channel == Channel::InBand {
        return is_in_band(read, table);
    }
    for (field, is_given) in [("at", read.at.is_some()), ("node", read.node.is_some())] {
        if is_given {
            let message = "a control link leads to every switch; only channel = \"in-band\" has one";
            return table.refuse(field, message);
        }
    }
    Some(())
}

fn is_in_band(read: &Controller, table: &mut Reading<'_, '_>) -> Option<()> {
    match (&read.at, &read.node) {
        (None, None) => {
            let message = "is missing; in-band, give the switch that the controller hangs at, or node";
            return table.refuse("at", message);
        }
        (Some(_), Some(_)) => return table.refuse("at", "give either at or node, not both"),
        _ => {}
    }
    if !read.link.is_empty() {
        let message = "only channel = \"apart\" has a link for each switch; in-band there is one, links";
        return table.refuse("link", message);
    }
    match &read.node {
        Some(node) if read.links != LinkSettings::default() => {
            let message = format!("the links of {} are those of the network; leave them out", quoted(node));
            table.refuse("links", message)
        }
        _ => Some(()),
    }
}
