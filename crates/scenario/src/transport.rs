//! How end hosts send: a preset, and what is changed in it.

use crate::algorithm::{Chosen, is_written, read_parameter, registry, stands_elsewhere};
use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Field, Form, Read, TableForm, entries};
use crate::words::unknown_key;
use anabranch_units::declaration::{Algorithm, Kind, Parameter};

/// What is changed in a transport: the parameters of its protocol, which the registry declares, in base units.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Transport {
    /// Where it starts from; left out, the preset of the table's own name.
    pub preset: Option<String>,
    /// Fields that are plain values.
    pub values: Vec<(&'static str, serde_json::Value)>,
    /// Fields that choose an algorithm.
    pub choices: Vec<(&'static str, Chosen)>,
}

/// Every field of every protocol, each once.
fn fields() -> Vec<&'static Parameter> {
    let mut fields: Vec<&'static Parameter> = Vec::new();
    for parameter in registry("protocol").algorithms.iter().flat_map(|protocol| &protocol.parameters) {
        if is_written(parameter) && fields.iter().all(|field| field.name != parameter.name) {
            fields.push(parameter);
        }
    }
    fields
}

/// The names of the fields that a transport of a protocol can have, the preset apart.
pub(crate) fn fields_of(protocol: &str) -> Vec<&'static str> {
    let of = |name: &str| {
        let algorithms = &registry("protocol").algorithms;
        let algorithm_entry = algorithms.iter().find(|algorithm| algorithm.name == name);
        algorithm_entry
            .into_iter()
            .flat_map(|algorithm| &algorithm.parameters)
            .filter(|entry| is_written(entry))
    };
    let fields = of(protocol).map(|entry| entry.name);
    // A subflow of Multipath TCP has all of TCP's.
    let subflow = of("tcp").filter(|_| protocol == "mptcp").map(|entry| entry.name);
    fields.chain(subflow).collect()
}

/// The keys of a transport of this preset, or of any where there is no such preset.
fn keys_of(preset: &str) -> Vec<&'static str> {
    let of_protocol = anabranch_engine::transport::preset(preset).map(|base| fields_of(base.name()));
    let fields = of_protocol.unwrap_or_else(|| fields().into_iter().map(|field| field.name).collect());
    fields.into_iter().chain(["preset"]).collect()
}

/// What a transport is, for other languages.
const FORM: TableForm = TableForm {
    name: "Transport",
    of: None,
    text: &[
        " A transport: a preset, and what is changed in it.",
        "",
        " The preset decides the protocol, and with it which fields there are. In TCP, loss detection, congestion",
        " control and pacing are chosen by name, each on its own, or by a table of the name and its parameters:",
        " `{ algorithm = \"cubic\", beta = 0.8 }`. A subflow of Multipath TCP has all of these; the connection has a",
        " path manager and a scheduler, too.",
    ],
    tag: None,
    parts: &[],
    fields: described,
};

/// What a field does: its protocols, where TCP has it not, its text, and what its choices mean.
fn meaning(parameter: &Parameter) -> String {
    let protocols = &registry("protocol").algorithms;
    let has = |protocol: &&Algorithm| protocol.parameters.iter().any(|entry| entry.name == parameter.name);
    let having: Vec<_> = protocols.iter().filter(has).map(|protocol| protocol.name).collect();
    let choices: Vec<_> = parameter
        .choices
        .iter()
        .map(|choice| format!("`{}`: {}", choice.name, choice.text.trim_end_matches('.')))
        .collect();
    let choices = if choices.is_empty() { String::new() } else { format!(" {}.", choices.join("; ")) };
    let text = format!("{}{choices}", parameter.text);
    if having.contains(&"tcp") {
        return text;
    }
    let named: Vec<_> = having.iter().map(|name| format!("`{name}`")).collect();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    format!("{}: {first}{}", named.join(", "), letters.as_str())
}

fn described() -> Vec<Field> {
    let field = |parameter: &'static Parameter| Field {
        key: parameter.name,
        name: parameter.name,
        text: meaning(parameter),
        form: Form::Optional(Box::new(Form::Declared(parameter))),
        default: Some(serde_json::Value::Null),
    };
    let preset = Field {
        key: "preset",
        name: "preset",
        text: "Where it starts from; left out, the preset of the table's own name.".into(),
        form: Form::Optional(Box::new(Form::Text)),
        default: Some(serde_json::Value::Null),
    };
    fields().into_iter().map(field).chain([preset]).collect()
}

impl Read for Transport {
    fn form() -> Form {
        Form::Table(FORM)
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entries = entries("Transport", node, at, problems)?;
        let before = problems.count();
        let mut transport = Self::default();
        let fields = fields();
        for field in &fields {
            let Some(given) = node.get(field.name) else { continue };
            let place = at.key(field.name);
            if field.kind == Kind::Algorithm {
                let chosen = Chosen::read(field.registry?, given, &place, problems);
                transport.choices.extend(chosen.map(|chosen| (field.name, chosen)));
            } else if let Some(value) = read_parameter(field, given, &place, problems) {
                transport.values.push((field.name, value));
            }
        }
        if let Some(preset) = node.get("preset") {
            transport.preset = String::read(preset, &at.key("preset"), problems);
        }
        for (key, _) in entries {
            if key != "preset" && fields.iter().all(|field| field.name != key) {
                let choices: Vec<_> =
                    fields.iter().filter_map(|field| Some((field.name, field.registry?))).collect();
                let message = stands_elsewhere(key, node, &choices);
                let place = at.to_string();
                let preset = transport.preset.as_deref().or_else(|| place.rsplit('.').next());
                let unknown = || unknown_key(key, &keys_of(preset.unwrap_or_default()));
                problems.add(&at.key(key), message.unwrap_or_else(unknown));
            }
        }
        (problems.count() == before).then_some(transport)
    }
}
