//! Routes as a scenario has them.

use crate::algorithm::{Chosen, Configuration, OwnAlgorithm, declared, registry};
use crate::demand::Demand;
use crate::network::names_file;
use crate::node::Node;
use crate::node::Value;
use crate::problem::{Place, Problems};
use crate::read::{Form, Quantity, Read, Reading, Usual, read_some, some_of};
use crate::words::{all_quoted, quoted, unknown_choice};
use anabranch_engine::routing::{ChosenScheme, Metric};
use anabranch_units::Span;
use anabranch_units::declaration::{Algorithm, OutOfRange, Parameter, Plain, above, at_least};
use serde_json::json;

/// The scheme whose paths the scenario gives.
const GIVEN: &str = "given";
/// The parameter of the schemes that take limits of a path.
const LIMITS: &str = "limits";
const METRIC: &str = "metric";
/// Time from a failure or repair until new routes are in force, where a scenario does not say.
pub const USUAL_REACTION: Span = Span::from_secs(1);

/// A routing scheme.
#[derive(Clone, PartialEq, Debug)]
pub struct Scheme(pub Chosen);

impl Scheme {
    /// Its declaration; none for a class of the user's own.
    #[must_use]
    pub fn declaration(&self) -> Option<&'static Algorithm> {
        declared("scheme", self.0.name()?)
    }
}

impl Usual for Scheme {
    fn usual(&self) -> serde_json::Value {
        self.0.name().into()
    }
}

impl Read for Scheme {
    fn form() -> Form {
        Form::Algorithm("scheme")
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Chosen::read("scheme", node, at, problems).map(Self)
    }
}

/// What a short path is short in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChosenMetric(pub Metric);

impl ChosenMetric {
    /// The metric of a name.
    fn named(name: &str) -> Option<Self> {
        Metric::NAMES.iter().find(|(metric_name, _)| *metric_name == name).map(|(_, metric)| Self(*metric))
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Metric::NAMES.iter().find(|(_, metric)| *metric == self.0).map_or("", |(name, _)| name)
    }
}

impl Read for ChosenMetric {
    fn form() -> Form {
        Form::Choice(Metric::NAMES.iter().map(|(name, _)| *name).collect())
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let metric = node.text().and_then(Self::named);
        if metric.is_none() {
            let names: Vec<_> = Metric::NAMES.iter().map(|(name, _)| *name).collect();
            problems.add(at, unknown_choice(node, &names));
        }
        metric
    }
}

crate::table! {
    /// Which routes there are: a scheme and what a short path is short in.
    pub struct RouteChoice {
        /// Which routes there are: the name of a scheme, or a table of the name and its parameters:
        /// `{ algorithm = "k-shortest", k = 3 }`; or a class of yours (own.md).
        scheme: Scheme = Scheme(Chosen::named("shortest"));
        /// What a short path is short in; `max-flow` takes the shortest among the splits that carry the most.
        /// Left out: `tcpbp` for the schemes of that name, `hops` and `delay` for `hybrid-hop` and
        /// `hybrid-delay`, all of which take no other, and `hops` for the others. `ecmp`, `disjoint`,
        /// `max-flow`, `concurrent-flow` and `semper` take those that are sums over links, `igp-weights` takes
        /// `hops` and `weight`.
        metric: Option<ChosenMetric>;
        /// Most delay of a path, one way: the sum of its links' propagation delays. No path of more is taken. For
        /// `shortest`, `k-shortest`, `near-shortest`, `tcpbp-exact`, and `concurrent-flow` and the robust schemes over
        /// k paths.
        max_delay: Option<Span>;
        /// Most loss of a path: the probability that a packet is lost at random on its way, in the long run. For
        /// the schemes that take `max_delay`.
        max_loss: Option<f64>, at_least(0.0).below(1.0);
    }
    together goes_together;
}

crate::table! {
    /// The routes of an entry of traffic, where they are not those of `[routing]`.
    pub struct TrafficRouting: choice: RouteChoice {
    }
    together |read, table| {
        goes_together(&read.choice, table)?;
        if read.choice.scheme.declaration().is_some_and(|scheme| scheme.name == GIVEN) {
            let message = "\"given\" belongs to [routing], which has the paths; choose another one here";
            return table.refuse("scheme", message);
        }
        Some(())
    };
}

impl RouteChoice {
    /// The metric, which the scheme says where the scenario does not.
    #[must_use]
    pub fn metric(&self) -> ChosenMetric {
        let of_scheme = || match &parameter(self.scheme.declaration()?, METRIC)?.default {
            Plain::Text(name) => ChosenMetric::named(name),
            _ => None,
        };
        self.metric.or_else(of_scheme).unwrap_or(ChosenMetric(Metric::NAMES[0].1))
    }

    /// The limit that is given first, by its key.
    fn first_limit(&self) -> Option<&'static str> {
        let given = [("max_delay", self.max_delay.is_some()), ("max_loss", self.max_loss.is_some())];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key)
    }

    /// The choice where the scenario says nothing.
    #[must_use]
    pub fn usual() -> Self {
        Self { scheme: Scheme(Chosen::named("shortest")), metric: None, max_delay: None, max_loss: None }
    }

    /// Whether two choices give the same routes: what one leaves out may be what the other says.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        let with_metric = |choice: &Self| Self { metric: Some(choice.metric()), ..choice.clone() };
        with_metric(self) == with_metric(other)
    }

    /// The name of the scheme, if it plans for bounds of the traffic.
    #[must_use]
    pub fn for_bounds(&self) -> Option<&'static str> {
        let scheme = self.scheme.declaration()?;
        (scheme.properties.get("demand") == Some(&Plain::Switch(true))).then_some(scheme.name)
    }

    /// The load balancing that the scheme takes where the scenario says none, if it has one of its own.
    #[must_use]
    pub fn load_balancing(&self) -> Option<&'static str> {
        match self.scheme.declaration()?.properties.get("load_balancing")? {
            Plain::Text(name) => Some(name),
            _ => None,
        }
    }

    /// The scheme with its metric and limits, as the engine or a planner reads it.
    ///
    /// # Errors
    /// The class of the user's own that chooses the paths.
    pub fn configuration(&self) -> Result<Configuration, &OwnAlgorithm> {
        let configuration = match &self.scheme.0 {
            Chosen::Declared(configuration) => configuration,
            Chosen::Own(choice) => return Err(choice),
        };
        let mut configuration = configuration.clone();
        configuration.insert(METRIC.into(), json!(self.metric().name()));
        if self.first_limit().is_some() {
            let max_delay = self.max_delay.map(Quantity::base);
            configuration.insert(LIMITS.into(), json!({ "max_delay": max_delay, "max_loss": self.max_loss }));
        }
        Ok(configuration)
    }

    /// Checks the parameters of the scheme against each other.
    fn verify(&self) -> Result<(), OutOfRange> {
        let Ok(configuration) = self.configuration() else { return Ok(()) };
        let scheme =
            chosen_scheme(&configuration).map_err(|error| OutOfRange::new("algorithm", error.to_string()))?;
        scheme.verify()
    }
}

/// The scheme of a configuration, with all its parameters.
///
/// # Errors
/// If it is none; what a scenario gives has been checked.
pub fn chosen_scheme(configuration: &Configuration) -> Result<ChosenScheme, serde_json::Error> {
    let name = configuration["algorithm"].as_str().unwrap_or_default();
    ChosenScheme::read(name, json!(configuration))
}

fn parameter(scheme: &'static Algorithm, name: &str) -> Option<&'static Parameter> {
    scheme.parameters.iter().find(|entry| entry.name == name)
}

fn goes_together(read: &RouteChoice, table: &mut Reading<'_, '_>) -> Option<()> {
    limits_fit(read, table)?;
    let Some(scheme) = read.scheme.declaration() else { return Some(()) };
    metric_fits(read, scheme, table)?;
    if let Err(refused) = read.verify() {
        let limit = read.first_limit().filter(|_| refused.parameter == LIMITS);
        let keys = limit.map_or_else(|| format!("scheme.{}", refused.parameter), str::to_owned);
        return table.refuse(&keys, refused.problem);
    }
    Some(())
}

fn limits_fit(read: &RouteChoice, table: &mut Reading<'_, '_>) -> Option<()> {
    let Some(place) = read.first_limit() else { return Some(()) };
    let Some(scheme) = read.scheme.declaration() else {
        let message = "your class chooses the paths; leave this out, and let the class keep to it";
        return table.refuse(place, message);
    };
    if parameter(scheme, LIMITS).is_some() {
        return Some(());
    }
    let taking = registry("scheme").algorithms.iter().filter(|scheme| parameter(scheme, LIMITS).is_some());
    let others = all_quoted(taking.map(|scheme| scheme.name));
    let why = match scheme.name {
        "ecmp" | "igp-weights" => {
            "forwards hop by hop, where no node knows what a packet has spent on its way"
        }
        "disjoint" | "semper" => {
            "takes paths that are short together, and to find some that keep limits each is NP-hard"
        }
        "max-flow" => "takes the paths of one flow, of which no limit of a path is known",
        "tcpbp" => "searches as published, and the published search knows no limits",
        GIVEN => "has the paths that you give",
        _ => "searches no paths within limits",
    };
    let here = quoted(scheme.name);
    table.refuse(place, format!("scheme {here} {why}; leave this out, or choose among {others}"))
}

fn metric_fits(read: &RouteChoice, scheme: &'static Algorithm, table: &mut Reading<'_, '_>) -> Option<()> {
    let choices: Vec<_> = parameter(scheme, METRIC)?.choices.iter().map(|choice| choice.name).collect();
    let metric = read.metric().name();
    if choices.contains(&metric) {
        return Some(());
    }
    let (here, metric) = (quoted(scheme.name), quoted(metric));
    let message = match choices[..] {
        [only] => format!(
            "is {metric}, but scheme {here} goes by {only} alone; leave it out, or choose another scheme"
        ),
        [one, other] => format!(
            "is {metric}, but scheme {here} goes by {one} or {other} alone; choose one of them, or another scheme"
        ),
        _ => format!(
            "is {metric}, which is no sum over links, and scheme {here} needs one: choose among {}, or write \
             scheme = \"shortest\" or \"k-shortest\"",
            all_quoted(choices)
        ),
    };
    table.refuse(METRIC, message)
}

/// The load balancing.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadBalancing(pub Chosen);

impl Read for LoadBalancing {
    fn form() -> Form {
        Form::Algorithm("load_balancing")
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Chosen::read("load_balancing", node, at, problems).map(Self)
    }
}

/// How long after a failure or repair new routes are in force.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reaction {
    /// Routes stay.
    Never,
    /// After so long.
    After(Span),
}

impl Usual for Reaction {
    fn usual(&self) -> serde_json::Value {
        match self {
            Self::Never => "never".into(),
            Self::After(span) => span.usual(),
        }
    }
}

impl Read for Reaction {
    fn form() -> Form {
        Form::OneOf(vec![Span::form(), Form::Choice(vec!["never"])])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if node.text() == Some("never") {
            return Some(Self::Never);
        }
        Span::read(node, at, problems).map(Self::After)
    }
}

/// Nodes of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathNodes(pub Vec<String>);

impl Read for PathNodes {
    fn form() -> Form {
        Form::List(Box::new(Form::Text), 2, None)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if let Value::List(entries) = &node.value
            && entries.len() < 2
        {
            problems.add(at, format!("has {} of at least 2 entries", entries.len()));
            return None;
        }
        Vec::read(node, at, problems).map(Self)
    }
}

crate::table! {
    /// One path of the scheme `given`.
    pub struct GivenPath {
        /// From source to destination; `"Denver#2"` is reached over the second of parallel links.
        nodes: PathNodes;
        /// Its part of what the pair sends, by the sum of all weights of the pair.
        weight: f64 = 1.0, above(0.0);
    }
}

/// The paths of the scheme `given`.
#[derive(Clone, PartialEq, Debug)]
pub enum GivenPaths {
    /// In a file.
    File(String),
    /// In the scenario.
    Listed(Vec<GivenPath>),
}

impl Read for GivenPaths {
    fn form() -> Form {
        Form::OneOf(vec![Form::Text, some_of::<GivenPath>()])
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if node.text().is_some() {
            return Read::read(node, at, problems).map(Self::File);
        }
        read_some(node, at, problems).map(Self::Listed)
    }
}

crate::table! {
    /// How routes are chosen, and how packets are spread over them.
    pub struct Routing: choice: RouteChoice {
        /// How packets are spread over the routes: what keeps to one of them. Left out, `packet` for the robust
        /// schemes, whose fractions are of packets, and `flow` for the others.
        load_balancing: Option<LoadBalancing>;
        /// Time from a failure or repair until new routes are in force, or `"never"`.
        reaction: Reaction = Reaction::After(USUAL_REACTION);
        /// The paths of the scheme `given`: tables `[[routing.paths]]`, or a file: `"file:routes.csv"` with
        /// the columns `from,to,kind,weight,path`, or `"file:plan.json"` of `anabranch routes --out`.
        paths: Option<GivenPaths>;
        /// Bounds of the traffic, by which `anabranch load` scores any scheme; the robust ones plan by them.
        demand: Option<Demand>;
    }
    together |read, table| {
        goes_together(&read.choice, table)?;
        shares_fit(read, table)?;
        paths_fit(read, table)?;
        match read.choice.for_bounds() {
            Some(scheme) if read.demand.is_none() => table.refuse("demand", lacks_bounds(scheme)),
            _ => Some(()),
        }
    };
}

/// What is wrong where a scheme plans for bounds of the traffic, and there are none.
pub(crate) fn lacks_bounds(scheme: &str) -> String {
    format!(
        "is missing; scheme {} plans for bounds of the traffic, for example pair = \"50 Mbps\"",
        quoted(scheme)
    )
}

fn shares_fit(read: &Routing, table: &mut Reading<'_, '_>) -> Option<()> {
    let by_hash = read.load_balancing.as_ref().is_some_and(|chosen| chosen.0.name() == Some("hash"));
    let has_shares = match &read.choice.scheme.0 {
        Chosen::Own(_) => true,
        Chosen::Declared(of) => {
            ["max-flow", "concurrent-flow", GIVEN].contains(&of["algorithm"].as_str().unwrap_or_default())
                || of.get("shares").and_then(|shares| shares.as_str()) == Some("capacity")
        }
    };
    if by_hash && has_shares {
        let message = "\"hash\" gives every path the same share, and these have shares of their own; take \
                       \"weighted-hash\" or \"resilient-hash\"";
        return table.refuse("load_balancing", message);
    }
    Some(())
}

fn paths_fit(read: &Routing, table: &mut Reading<'_, '_>) -> Option<()> {
    let is_given = read.choice.scheme.declaration().is_some_and(|scheme| scheme.name == GIVEN);
    let example = "give the paths, for example paths = \"file:routes.csv\"";
    match &read.paths {
        Some(_) if !is_given => {
            table.refuse("paths", "belongs to scheme = \"given\"; leave it out, or take that scheme")
        }
        None if is_given => table.refuse("paths", format!("is missing; {example}")),
        Some(GivenPaths::File(file)) if !names_file(file) => {
            table.refuse("paths", format!("{} is not the name of a file; {example}", quoted(file)))
        }
        _ => Some(()),
    }
}
