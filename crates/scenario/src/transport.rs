//! How end hosts send: a preset, and what is changed in it.

use crate::algorithm::{Chosen, is_written, read_parameter, registry};
use crate::node::Node;
use crate::problem::{Place, Problems};
use crate::read::{Form, Read, entries};
use crate::words::unknown_key;
use anabranch_units::declaration::{Kind, Parameter};

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
    let mut fields: Vec<&Parameter> = Vec::new();
    for parameter in registry("protocol").algorithms.iter().flat_map(|protocol| &protocol.parameters) {
        if is_written(parameter) && fields.iter().all(|known| known.name != parameter.name) {
            fields.push(parameter);
        }
    }
    fields
}

impl Read for Transport {
    fn form() -> Form {
        Form::Free
    }

    fn read(node: &Node, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let entries = entries(node, at, problems)?;
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
        let known: Vec<_> = fields.iter().map(|field| field.name).chain(["preset"]).collect();
        for (key, _) in entries {
            if !known.contains(&key.as_str()) {
                problems.add(&at.key(key), unknown_key(key, &known));
            }
        }
        (problems.count() == before).then_some(transport)
    }
}
