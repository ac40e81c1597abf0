//! Traffic as a scenario has it: who sends what to whom.

mod application;
mod collective;
mod matrix;

pub use application::{
    Application, MessageApplication, PingApplication, RateApplication, RateKind, ReceiverReading,
    UdpApplication,
};
pub use collective::{After, Collective, Operation};
pub use matrix::{GravityWeights, Matrix, MatrixDirection, MatrixSource, PairRates, RatesSource};

use crate::network::names_file;
use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::read::{Form, Number, Quantity, Read, Reading, Usual, Within, read_some, some_of};
use crate::variate::Drawn;
use crate::words::quoted;
use anabranch_units::declaration::at_least;
use anabranch_units::{Bytes, Span};

/// Flows that a run can have at most.
pub const MOST_FLOWS: u64 = 1_000_000;
const UNLIMITED: &str = "unlimited";
/// The transport of an entry that names none.
pub const USUAL_TRANSPORT: &str = "cubic";

crate::choices! {
    /// Who sends to whom, where several nodes do.
    pub enum Pairs {
        /// Every sender to every receiver but itself.
        "all" => All,
        /// The first to the first and so on.
        "in-order" => InOrder,
        /// Each to one other, drawn so that each receives once.
        "permutation" => Permutation,
        /// Each to every other one that it has a link to.
        "neighbours" => Neighbours,
    }
}

/// Nodes at one end of flows.
#[derive(Clone, PartialEq, Debug)]
pub enum Ends {
    /// A node, or `*` for every host.
    One(String),
    /// Nodes in an order.
    Several(Vec<String>),
}

impl Read for Ends {
    fn form() -> Form {
        Form::OneOf(vec![Form::Text, some_of::<String>()])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::List(_) => read_some(node, at, problems).map(Self::Several),
            _ => Read::read(node, at, problems).map(Self::One),
        }
    }
}

/// What a flow sends.
#[derive(Clone, PartialEq, Debug)]
pub enum Size {
    /// As much as the transport takes.
    Unlimited,
    /// So much, or drawn for each flow.
    Drawn(Drawn<Bytes>),
    /// Drawn from the distribution in a file.
    File(String),
}

impl Read for Size {
    fn form() -> Form {
        Form::OneOf([vec![Form::Choice(vec![UNLIMITED]), Form::File], Drawn::<Bytes>::forms()].concat())
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match node.text() {
            Some(UNLIMITED) => Some(Self::Unlimited),
            Some(file) if names_file(file) => Some(Self::File(file.to_owned())),
            _ => Read::read(node, at, problems).map(Self::Drawn),
        }
    }
}

/// How many flows a pair has.
#[derive(Clone, PartialEq, Debug)]
pub enum Flows {
    /// As many as arrive until the end.
    Unlimited,
    /// So many, or drawn for each pair.
    Drawn(Drawn<Number>),
}

impl Flows {
    /// One for each pair.
    pub const ONE: Self = Self::Drawn(Drawn::Fixed(Number(1)));
}

impl Usual for Flows {
    fn usual(&self) -> serde_json::Value {
        match self {
            Self::Unlimited => UNLIMITED.into(),
            Self::Drawn(number) => number.usual(),
        }
    }
}

impl Read for Flows {
    fn form() -> Form {
        let number = u64::form_within(&at_least(1).at_most(MOST_FLOWS));
        let mut forms = Drawn::<Number>::forms();
        forms.splice(..1, [number, Form::Choice(vec![UNLIMITED])]);
        Form::OneOf(forms)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if node.text() == Some(UNLIMITED) {
            return Some(Self::Unlimited);
        }
        if node.table().is_some() {
            return Read::read(node, at, problems).map(Self::Drawn);
        }
        let message = match &node.value {
            Value::Integer(number) if *number < 1 => format!("{number} must be at least 1"),
            Value::Integer(number) => {
                match u64::try_from(*number).ok().filter(|&number| number <= MOST_FLOWS) {
                    Some(number) => return Some(Self::Drawn(Drawn::Fixed(Number(number)))),
                    None => format!("{number} must be at most {MOST_FLOWS}"),
                }
            }
            Value::Huge(shown) => format!("{shown} must be at most {MOST_FLOWS}"),
            _ => format!("{} is not a whole number", node.shown()),
        };
        problems.add(at, message);
        None
    }
}

crate::table! {
    /// Flows of one kind from one node, or several, to another: TCP connections, pings or UDP.
    pub struct Traffic {
        /// Name of the flows: `web` makes `web.0`, `web.1`, ...; left out, `traffic[0].0` and so on.
        /// Random draws hang on it.
        name: Option<String>;
        /// Node that sends; a list of nodes; or `"*"` for every host (every node, where none is marked a
        /// host).
        source as "from": Option<Ends>;
        /// Node that receives, a list, or `"*"`.
        destination as "to": Option<Ends>;
        /// For lists. `all`: every sender to every receiver but itself; `in-order`: the first to the first and
        /// so on; `permutation`: each node of `from` sends to one other, drawn so that each receives once;
        /// `neighbours`: each node of `from` sends to every other one of them that it has a link to, and a
        /// controller that measures links keeps these flows there.
        pairs: Pairs = Pairs::All;
        /// Whether each pair also sends the other way, by flows of its own.
        both_directions: bool = false;
        /// In place of `from` and `to`: rates of pairs of nodes. Each pair's flows have its rate together:
        /// those of an application, or transfers of a `size` that arrive as a Poisson process. Without both, a
        /// pair has one flow without end for each `rate_per_flow`.
        matrix: Option<Box<Matrix>>;
        /// Flows of each pair: their number, or a distribution of which each pair draws its own, at least one; or
        /// `"unlimited"`, with `inter_arrival`: as many as arrive until the end.
        flows: Flows = Flows::ONE;
        /// In place of `from`, `to`, `size` and `start`: a file that lists single flows, `"file:flows.csv"`, of any format
        /// of docs/traffic_files.md.
        flow_list: Option<String>;
        /// In place of `to`, `pairs` and `size`: what the nodes of `from` do together.
        collective: Option<Collective>;
        /// Other entries, by their names: the flows begin when all of theirs are complete, and not before `start`.
        after: Option<After>;
        /// `"unlimited"` (also where it is left out), a size, a distribution of sizes, or a file with the points of one:
        /// `"file:WebSearch_cdf.txt"`.
        size: Option<Size>;
        /// In place of `size`: an application that sends messages over a connection (`constant-rate`,
        /// `poisson`, `messages`), or packets without one (`ping`, `udp`).
        application: Option<Application>;
        /// How the receiving application reads; left out: at once.
        reads: Option<ReceiverReading>;
        /// A transport by name: a preset, or a table `[transport.NAME]` of this scenario. `ping` and `udp`
        /// have none.
        transport: String = USUAL_TRANSPORT.into();
        /// Routes of these flows alone, in place of those of `[routing]`, as in `{ metric = "delay" }`. How
        /// packets are spread over routes, and when new ones are in force, says `[routing]` for all. With a
        /// controller, the metric alone.
        routing: Option<Box<crate::routing::TrafficRouting>>;
        /// When a connection opens; with `inter_arrival`, the first one.
        start: Drawn<Span> = Drawn::Fixed(Span::ZERO);
        /// When the application stops writing and closes, on the clock of the run; left out: never. No flow begins
        /// then or later; one of a size that has begun still sends all of it.
        stop: Option<Drawn<Span>>;
        /// Time from one flow's start to the next one's, for each pair.
        inter_arrival: Option<Drawn<Span>>;
        /// Time from one pair's first flow to the next pair's; left out: all pairs begin at `start`.
        stagger: Option<Drawn<Span>>;
    }
    together goes_together;
}

impl Traffic {
    /// Whether its packets have no connection.
    #[must_use]
    pub const fn has_datagrams(&self) -> bool {
        matches!(self.application, Some(Application::Ping(_) | Application::Udp(_)))
    }

    /// Whether its flows end by themselves.
    #[must_use]
    pub const fn has_end(&self) -> bool {
        self.flow_list.is_some()
            || self.collective.is_some()
            || matches!(self.size, Some(Size::Drawn(_) | Size::File(_)))
    }

    /// The sizes of its flows, where they have some.
    #[must_use]
    pub const fn sizes(&self) -> Option<&Drawn<Bytes>> {
        match &self.size {
            Some(Size::Drawn(size)) => Some(size),
            _ => None,
        }
    }
}

fn goes_together(read: &Traffic, table: &mut Reading<'_, '_>) -> Option<()> {
    if read.size.is_some() && read.application.is_some() {
        return table.refuse("application", "an application says itself how much it sends; leave out size");
    }
    if let Some(size) = read.sizes().and_then(Drawn::fixed).filter(|size| size.0 == 0) {
        return table
            .refuse("size", format!("{} is zero; a transfer has at least one byte", quoted(&size.text())));
    }
    rates_stand_once(read, table)?;
    if read.flows == Flows::Unlimited {
        let Some(gap) = &read.inter_arrival else {
            return table
                .refuse("flows", "\"unlimited\" needs inter_arrival: the flows arrive one after the other");
        };
        if gap.mean() == 0.0 {
            return table.refuse(
                "inter_arrival",
                "its mean is zero, so that unlimited flows would never end arriving",
            );
        }
    }
    if let Some(application) = read.application.as_ref().filter(|_| read.has_datagrams()) {
        let without = format!("{} has no connection, and so no", quoted(application.kind()));
        if table.node.has("transport") {
            return table.refuse("transport", format!("{without} transport; leave it out"));
        }
        if read.reads.is_some() {
            return table.refuse("reads", format!("{without} receive window; leave it out"));
        }
    }
    if read.after.is_some() && read.has_datagrams() {
        return table.refuse("after", "packets without a connection wait for nothing; leave it out");
    }
    if read.collective.is_some() {
        goes_with_collective(read, table)?;
    }
    match (&read.flow_list, &read.matrix) {
        _ if read.collective.is_some() => {}
        (Some(file), _) => goes_with_list(file, read, table)?,
        (None, None) => ends(read, table)?,
        (None, Some(matrix)) => goes_with_matrix(read, matrix, table)?,
    }
    if let (Some(start), Some(stop)) = (read.start.fixed(), read.stop.as_ref().and_then(Drawn::fixed))
        && stop <= start
    {
        let (stop, start) = (quoted(&stop.text()), quoted(&start.text()));
        return table.refuse("stop", format!("{stop} is not after start, {start}"));
    }
    Some(())
}

/// The rate of an application stands in it, or else in a matrix.
fn rates_stand_once(read: &Traffic, table: &mut Reading<'_, '_>) -> Option<()> {
    let (rate, gap, alternatives) = match &read.application {
        Some(Application::Rate(of)) => (of.rate.is_some(), of.gap.is_some(), "either rate or gap"),
        Some(Application::Udp(of)) => (of.rate.is_some(), false, "a rate"),
        _ => return Some(()),
    };
    if read.matrix.is_none() && !rate && !gap {
        return table.refuse("application.rate", format!("give {alternatives}, or the entry a matrix"));
    }
    for (keys, is_given) in [("application.rate", rate), ("application.gap", gap)] {
        if read.matrix.is_some() && is_given {
            return table.refuse(keys, "the matrix says how much each pair sends; leave it out");
        }
    }
    Some(())
}

fn goes_with_collective(read: &Traffic, table: &mut Reading<'_, '_>) -> Option<()> {
    let given = [
        ("to", read.destination.is_some()),
        ("pairs", read.pairs != Pairs::All),
        ("both_directions", read.both_directions),
        ("matrix", read.matrix.is_some()),
        ("flows", read.flows != Flows::ONE),
        ("flow_list", read.flow_list.is_some()),
        ("size", read.size.is_some()),
        ("application", read.application.is_some()),
        ("inter_arrival", read.inter_arrival.is_some()),
        ("stagger", read.stagger.is_some()),
        ("stop", read.stop.is_some()),
    ];
    if let Some((key, _)) = given.iter().find(|(_, is_given)| *is_given) {
        return table.refuse(key, "the collective operation says who sends how much to whom; leave it out");
    }
    if read.start.fixed().is_none() {
        return table.refuse("start", "of a collective operation it must be a time, the same for all flows");
    }
    if read.source.is_none() {
        return table.refuse("from", "is missing; it names the nodes that take part");
    }
    Some(())
}

fn goes_with_list(file: &str, read: &Traffic, table: &mut Reading<'_, '_>) -> Option<()> {
    if !names_file(file) {
        return table.refuse("flow_list", format!("{} is not like \"file:flows.csv\"", quoted(file)));
    }
    // Written out, a scenario has its defaults, too.
    let given = [
        ("from", read.source.is_some()),
        ("to", read.destination.is_some()),
        ("pairs", read.pairs != Pairs::All),
        ("both_directions", read.both_directions),
        ("matrix", read.matrix.is_some()),
        ("flows", read.flows != Flows::ONE),
        ("size", read.size.is_some()),
        ("application", read.application.is_some()),
        ("start", read.start != Drawn::Fixed(Span::ZERO)),
        ("inter_arrival", read.inter_arrival.is_some()),
        ("stagger", read.stagger.is_some()),
    ];
    if let Some((key, _)) = given.iter().find(|(_, is_given)| *is_given) {
        return table.refuse(key, "the list says who sends how much to whom, and when; leave it out");
    }
    let is_stopped = read.stop.as_ref().is_some_and(|stop| stop.fixed().is_none());
    if is_stopped {
        table.refuse("stop", "of a list it must be a time, the same for all flows")
    } else {
        Some(())
    }
}

fn goes_with_matrix(read: &Traffic, matrix: &Matrix, table: &mut Reading<'_, '_>) -> Option<()> {
    let of_ends = [
        ("from", read.source.is_some()),
        ("to", read.destination.is_some()),
        ("pairs", read.pairs != Pairs::All),
        ("both_directions", read.both_directions),
        ("inter_arrival", read.inter_arrival.is_some()),
        ("stagger", read.stagger.is_some()),
    ];
    if let Some((key, _)) = of_ends.iter().find(|(_, is_given)| *is_given) {
        return table.refuse(key, "the matrix says who sends to whom; leave it out");
    }
    if let Some(application @ (Application::Ping(_) | Application::Messages(_))) = &read.application {
        let kind = quoted(application.kind());
        return table.refuse(
            "application",
            format!("{kind} has no rate; take \"constant-rate\", \"poisson\" or \"udp\""),
        );
    }
    let has_number = read.flows != Flows::ONE;
    let is_of_file = matches!(read.size, Some(Size::File(_)));
    if matrix.rate_per_flow.is_some() && has_number {
        return table.refuse("flows", "rate_per_flow says how many there are; leave out one of the two");
    }
    if (read.sizes().is_some() || is_of_file) && (has_number || matrix.rate_per_flow.is_some()) {
        let key = if has_number { "flows" } else { "matrix.rate_per_flow" };
        return table.refuse(key, "as many transfers arrive as the rate and their size make; leave it out");
    }
    if is_of_file {
        return Some(());
    }
    let Some(size) = read.sizes() else {
        if read.application.is_none() && matrix.rate_per_flow.is_none() {
            return table.refuse(
                "matrix.rate_per_flow",
                "is missing; of flows without end the rates make the number",
            );
        }
        return Some(());
    };
    let mean = size.mean();
    if !(mean > 0.0 && mean.is_finite()) {
        let what = if mean == 0.0 { "zero" } else { "infinite" };
        return table
            .refuse("size", format!("its mean is {what}, so that no rate of arrivals makes the matrix"));
    }
    Some(())
}

fn ends(read: &Traffic, table: &mut Reading<'_, '_>) -> Option<()> {
    let Some(source) = &read.source else {
        return table.refuse("from", "is missing; it names the node that sends");
    };
    let drawn = match read.pairs {
        Pairs::Permutation => ("permutation", "draws", "a permutation needs"),
        Pairs::Neighbours => ("neighbours", "takes", "neighbours are"),
        Pairs::All | Pairs::InOrder => return receivers(read, source, table),
    };
    let (pairs, how, what) = drawn;
    if read.destination.is_some() {
        let message = format!("pairs = \"{pairs}\" {how} the receivers from the senders; leave it out");
        return table.refuse("to", message);
    }
    match source {
        Ends::One(one) if one != "*" => {
            table.refuse("from", format!("{what} several nodes or \"*\", not {} alone", quoted(one)))
        }
        _ => Some(()),
    }
}

fn receivers(read: &Traffic, source: &Ends, table: &mut Reading<'_, '_>) -> Option<()> {
    let Some(destination) = &read.destination else {
        return table.refuse("to", "is missing; it names the node that receives");
    };
    match (source, destination) {
        _ if read.pairs != Pairs::InOrder => Some(()),
        (Ends::Several(from), Ends::Several(to)) if from.len() == to.len() => Some(()),
        _ => table.refuse("pairs", "\"in-order\" needs lists of the same length in from and to"),
    }
}
