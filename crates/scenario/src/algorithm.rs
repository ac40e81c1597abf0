//! Algorithms by name or as a table with parameters, checked against the registries that declare them.

use crate::node::{Node, Value};
use crate::problem::{Place, Problems};
use crate::read::{Form, Packets, Quantity, QuantityForm, Read, Within, entries, purpose};
use crate::words::{all_quoted, listed, quoted, unknown_choice, unknown_key};
use anabranch_units::declaration::{Algorithm, Bounds, Kind, Parameter, Plain, Registry};
use anabranch_units::{Bytes, Rate, Span};
use serde::de::DeserializeOwned;
use serde_json::{Map, json};
use std::sync::OnceLock;

/// The registries of all kinds of algorithms.
pub fn registries() -> &'static [Registry] {
    static ALL: OnceLock<Vec<Registry>> = OnceLock::new();
    ALL.get_or_init(|| {
        let all = anabranch_engine::transport::described().into_iter().chain(anabranch_engine::described());
        all.collect()
    })
}

/// The registry of a kind of algorithm.
///
/// # Panics
/// If there is none: kinds are words of this crate, not of users.
#[must_use]
pub fn registry(kind: &str) -> &'static Registry {
    registries().iter().find(|registry| registry.name == kind).expect("a kind of algorithm")
}

/// An algorithm of a registry, if it has one of this name.
#[must_use]
pub fn declared(kind: &str, name: &str) -> Option<&'static Algorithm> {
    registry(kind).algorithms.iter().find(|algorithm| algorithm.name == name)
}

/// An algorithm as the engine reads it: its name as `algorithm`, and the parameters that are given, in base units.
/// Rooms of queues are left out: they depend on the link.
pub type Configuration = Map<String, serde_json::Value>;

/// Key of an algorithm of the user's own.
const PYTHON: &str = "python";

/// Where a scenario names an algorithm, by its kind.
const FIELDS_OF_KINDS: [(&str, &str); 10] = [
    ("scheme", "routing.scheme"),
    ("load_balancing", "routing.load_balancing"),
    ("congestion_control", "congestion_control of [transport.NAME]"),
    ("scheduler", "scheduler of [transport.NAME]"),
    ("path_manager", "path_manager of [transport.NAME]"),
    ("path_selector", "path_selector of [transport.NAME]"),
    ("window", "window of [transport.NAME]"),
    ("queue", "queue of links"),
    ("loss", "loss of links"),
    ("application", "controller.application"),
];

/// An algorithm of the user's own, by its class in Python, with the parameters of that class.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnAlgorithm {
    /// Module and class: `my_module:Vegas`.
    pub python: String,
    /// All other keys of its table.
    pub parameters: Vec<(String, Node)>,
}

impl OwnAlgorithm {
    /// Whether a value is the table of one.
    #[must_use]
    pub fn is_meant(node: &Node) -> bool {
        node.has(PYTHON) && !node.has("algorithm")
    }
}

impl Read for OwnAlgorithm {
    fn form() -> Form {
        Form::Free
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        entries("Own", node, at, problems)?;
        let Some(python) = node.get(PYTHON) else {
            problems.add(&at.key(PYTHON), "is missing (module and class: \"my_module:Vegas\")");
            return None;
        };
        let python = String::read(python, &at.key(PYTHON), problems);
        let before = problems.count();
        let others = || node.table().unwrap_or_default().iter().filter(|(key, _)| key != PYTHON);
        for (key, value) in others() {
            let holds = match &value.value {
                Value::Float(number) => number.is_finite(),
                other => !matches!(other, Value::List(_) | Value::Table(_) | Value::Other(_)),
            };
            if !holds {
                let message = "is neither text, a number that can be used, true nor false";
                problems.add(&at.key(key), format!("{} {message}", value.shown()));
            }
        }
        let parameters = others().cloned().collect();
        (problems.count() == before).then_some(Self { python: python?, parameters })
    }
}

/// An algorithm that a scenario chooses: one of a registry, or one of the user's own where the registry takes such.
#[derive(Clone, PartialEq, Debug)]
pub enum Chosen {
    /// One of the registry, with the parameters that are given.
    Declared(Configuration),
    /// A class of the user's own.
    Own(OwnAlgorithm),
}

impl Chosen {
    /// One of a registry by its name alone.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::Declared(Map::from_iter([("algorithm".to_owned(), json!(name))]))
    }

    /// The name of an algorithm of a registry.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Declared(configuration) => configuration["algorithm"].as_str(),
            Self::Own(_) => None,
        }
    }

    /// The algorithm that is chosen of a registry; what is wrong is noted.
    pub fn read(kind: &str, node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if registry(kind).external && OwnAlgorithm::is_meant(node) {
            return OwnAlgorithm::read(node, at, problems).map(Self::Own);
        }
        read_algorithm(kind, node, at, problems).map(Self::Declared)
    }
}

/// An algorithm of a registry; what is wrong is noted.
pub fn read_algorithm(
    kind: &str,
    node: &Node,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Configuration> {
    let registry = registry(kind);
    let names = || registry.algorithms.iter().map(|algorithm| algorithm.name);
    let is_table = node.table().is_some();
    let named = match &node.value {
        Value::Table(_) => node.get("algorithm"),
        _ => Some(node),
    };
    let Some(named) = named else {
        let own_class = if registry.external { "; or \"python\": a class of yours" } else { "" };
        let message =
            format!("a table here needs the key \"algorithm\": one of {}{own_class}", all_quoted(names()));
        problems.add(at, message);
        return None;
    };
    let Some(algorithm) = registry.algorithms.iter().find(|each| Some(each.name) == named.text()) else {
        let word = if is_table { "algorithm " } else { "" };
        let message = format!("{word}{}", no_such_name(named, &names().collect::<Vec<_>>()));
        problems.add(at, message);
        return None;
    };
    if is_table {
        return read_parameters(kind, algorithm, node, at, problems);
    }
    let missing: Vec<_> =
        algorithm.parameters.iter().filter(|entry| entry.required).map(|entry| entry.name).collect();
    if missing.is_empty() {
        return Some(Map::from_iter([("algorithm".to_owned(), json!(algorithm.name))]));
    }
    let values: String = missing.iter().map(|name| format!(", {name} = ...")).collect();
    let (name, needs) = (quoted(algorithm.name), missing.join(" and "));
    problems.add(at, format!("{name} needs {needs}; write {{ algorithm = {name}{values} }}"));
    None
}

/// What the engine makes of a configuration that has been read; what it does not take is noted.
pub fn configured<T: DeserializeOwned>(
    configuration: &Configuration,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<T> {
    let made = serde_json::from_value(json!(configuration));
    made.map_err(|error| problems.add(at, error.to_string())).ok()
}

/// What to say about a name that is none of a registry, but perhaps of another one.
fn no_such_name(named: &Node, names: &[&str]) -> String {
    let name = named.text().unwrap_or_default();
    let other = FIELDS_OF_KINDS.iter().find(|(kind, _)| declared(kind, name).is_some());
    let Some((kind, field)) = other else { return unknown_choice(named, names) };
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let noun = kind.replace('_', " ");
    let listed = all_quoted(names.iter().copied());
    format!("{} is {article} {noun}, for {field}; here there are {listed}", named.shown())
}

/// What to say about a key of a table that is a parameter of an algorithm which a field of the table chooses: it stands
/// with the algorithm. `fields` are the keys of these fields with their registries.
pub(crate) fn stands_elsewhere(key: &str, node: &Node, fields: &[(&str, &str)]) -> Option<String> {
    fields.iter().find_map(|(field, kind)| {
        let has = |algorithm: &&Algorithm| {
            algorithm.parameters.iter().any(|entry| entry.name == key && is_in_table(kind, entry))
        };
        let owners: Vec<_> = registry(kind).algorithms.iter().filter(has).map(|owner| owner.name).collect();
        let given = node.get(field).map(|chosen| chosen.get("algorithm").unwrap_or(chosen));
        let chosen = given.and_then(Node::text).filter(|name| owners.contains(name));
        let name = chosen.or_else(|| owners.first().copied())?;
        let written = format!("{field} = {{ algorithm = {}, {key} = ... }}", quoted(name));
        Some(format!("is a parameter of {} ({kind}), and stands with it: write {written}", listed(&owners)))
    })
}

/// Whether users write a parameter; some are filled in by the program.
pub(crate) const fn is_written(parameter: &Parameter) -> bool {
    !matches!(parameter.kind, Kind::Ids | Kind::Table)
}

/// Whether users write a parameter into the algorithm's table: the metric of a scheme stands beside it.
fn is_in_table(kind: &str, parameter: &Parameter) -> bool {
    is_written(parameter) && !(kind == "scheme" && parameter.name == "metric")
}

fn read_parameters(
    kind: &str,
    algorithm: &Algorithm,
    node: &Node,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Configuration> {
    let mut configuration = Map::from_iter([("algorithm".to_owned(), json!(algorithm.name))]);
    let before = problems.count();
    for parameter in &algorithm.parameters {
        let place = at.key(parameter.name);
        match node.get(parameter.name) {
            _ if !is_in_table(kind, parameter) || parameter.kind == Kind::Room => {}
            Some(given) => {
                if let Some(value) = read_parameter(parameter, given, &place, problems) {
                    configuration.insert(parameter.name.to_owned(), value);
                }
            }
            None if parameter.required => {
                problems.add(&place, format!("is missing{}", purpose(&parameter.text)));
            }
            None => {}
        }
    }
    let parameters =
        algorithm.parameters.iter().filter(|entry| is_in_table(kind, entry)).map(|entry| entry.name);
    let keys: Vec<_> = std::iter::once("algorithm").chain(parameters).collect();
    for (key, _) in node.table().unwrap_or_default() {
        if !keys.contains(&key.as_str()) {
            problems.add(&at.key(key), foreign(kind, algorithm.name, key, &keys));
        }
    }
    (problems.count() == before).then_some(configuration)
}

/// What to say about a key that an algorithm does not have; a parameter of another one says whose it is.
fn foreign(kind: &str, name: &str, key: &str, keys: &[&str]) -> String {
    let owners = |of: &'static Registry| -> Vec<&'static str> {
        let has = |algorithm: &&Algorithm| {
            algorithm.parameters.iter().any(|entry| entry.name == key && is_written(entry))
        };
        of.algorithms.iter().filter(has).map(|algorithm| algorithm.name).collect()
    };
    let all = || registries().iter().map(|of| (of.name, owners(of))).filter(|(_, names)| !names.is_empty());
    let mut owned: Vec<_> = all().filter(|(of, _)| *of == kind).collect();
    if owned.is_empty() {
        owned = all().collect();
    }
    if owned.is_empty() {
        return unknown_key(key, keys);
    }
    let owned: Vec<_> = owned.iter().map(|(of, names)| format!("{} ({of})", listed(names))).collect();
    let fields = keys[1..].join(", ");
    let has =
        if fields.is_empty() { "which has no parameters".into() } else { format!("which has {fields}") };
    format!("is a parameter of {}; the {kind} here is {}, {has}", owned.join(" and "), quoted(name))
}

pub(crate) fn read_parameter(
    parameter: &Parameter,
    node: &Node,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<serde_json::Value> {
    match parameter.kind {
        Kind::Switch => bool::read(node, at, problems).map(|value| json!(value)),
        Kind::Number => {
            let value = f64::read(node, at, problems)?;
            let outside = value.outside(node, &bounds(parameter, |value| value));
            kept(outside, json!(value), at, problems)
        }
        Kind::Integer => {
            let value = u64::read(node, at, problems)?;
            let outside = value.outside(node, &bounds(parameter, |value| value as u64));
            kept(outside, json!(value), at, problems)
        }
        Kind::Span => read_quantity::<Span>(parameter, node, at, problems),
        Kind::Rate => read_quantity::<Rate>(parameter, node, at, problems),
        Kind::Bytes => read_quantity::<Bytes>(parameter, node, at, problems),
        Kind::Packets => read_quantity::<Packets>(parameter, node, at, problems),
        Kind::Ordinals => read_ordinals(node, at, problems),
        Kind::Choice => {
            let names: Vec<_> = parameter.choices.iter().map(|choice| choice.name).collect();
            let chosen = names.iter().find(|name| node.text() == Some(name));
            let unknown = chosen.is_none().then(|| no_such_name(node, &names));
            kept(unknown, json!(chosen), at, problems)
        }
        Kind::Algorithm => {
            read_algorithm(parameter.registry?, node, at, problems).map(serde_json::Value::Object)
        }
        Kind::Room | Kind::Table | Kind::Ids => None,
    }
}

/// The value, if nothing is wrong with it.
fn kept(
    wrong: Option<String>,
    value: serde_json::Value,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<serde_json::Value> {
    let Some(message) = wrong else { return Some(value) };
    problems.add(at, message);
    None
}

fn bounds<T>(parameter: &Parameter, make: fn(f64) -> T) -> Bounds<T> {
    let bound = |plain: &Plain| match *plain {
        Plain::Integer(value) => Some(make(value as f64)),
        Plain::Number(value) => Some(make(value)),
        _ => None,
    };
    let mut bounds = Bounds::none();
    bounds.least = bound(&parameter.least);
    bounds.above = bound(&parameter.above);
    // The longest time is a bound of the type.
    bounds.most =
        bound(&parameter.most).filter(|_| parameter.most != Plain::Integer(Span::LONGEST_INPUT.as_ps()));
    bounds.below = bound(&parameter.below);
    bounds
}

fn read_quantity<Q: Quantity + Read + Within<Bound = Q>>(
    parameter: &Parameter,
    node: &Node,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<serde_json::Value> {
    let value = Q::read(node, at, problems)?;
    let outside = value.outside(node, &bounds(parameter, |value| Q::from_base(value as u64)));
    kept(outside, json!(value.base()), at, problems)
}

fn read_ordinals(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<serde_json::Value> {
    let numbers = Vec::<Ordinal>::read(node, at, problems)?;
    let mut before = 0;
    for Ordinal(number) in &numbers {
        if *number <= before {
            let message = format!("{number} stands behind {before}; the numbers must rise, from 1 on");
            problems.add(at, message);
            return None;
        }
        before = *number;
    }
    Some(json!(numbers.iter().map(|number| u64::try_from(number.0).unwrap_or(u64::MAX)).collect::<Vec<_>>()))
}

/// A whole number, whatever its sign.
struct Ordinal(i128);

impl Read for Ordinal {
    fn form() -> Form {
        Form::Whole
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if let Value::Integer(value) = node.value {
            return Some(Self(value));
        }
        problems.add(at, format!("{} is not a whole number", node.shown()));
        None
    }
}

/// What is known of a quantity by its kind of parameter.
#[must_use]
pub const fn quantity_of(kind: Kind) -> Option<&'static QuantityForm> {
    match kind {
        Kind::Span => Some(<Span as Quantity>::FORM),
        Kind::Rate => Some(<Rate as Quantity>::FORM),
        Kind::Bytes => Some(<Bytes as Quantity>::FORM),
        Kind::Packets => Some(<Packets as Quantity>::FORM),
        _ => None,
    }
}
