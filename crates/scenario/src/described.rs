//! All tables of a scenario for other languages: what they are as JSON, and each by its name, to be read alone.

use crate::algorithm::{Chosen, OwnAlgorithm};
use crate::controller::{ControlLink, Controller, FlowTable};
use crate::demand::Demand;
use crate::event::{Event, Profile};
use crate::network::{
    AttributeSource, BandwidthDelay, DistanceDelay, FILE, FileAttributes, HostOverride, HostSettings,
    LinkOverride, LinkSelector, LinkSettings, Maintenance, Network, NewNode, Outage, PacketChance, Policer,
    Queue, Reorder, RiskGroup, RouterOverride, RouterSettings, Shaper, TopologyFile,
};
use crate::node::Node;
use crate::plan_file::{PlanFile, PlanLink, PlanPath, PlanRoute, PlanTable};
use crate::problem::{Place, Problem, Problems};
use crate::read::{Field, Form, Number, Read, TableForm};
use crate::routing::{GivenPath, RouteChoice, Routing, TrafficRouting};
use crate::run::{Capture, Run};
use crate::scenario::Scenario;
use crate::study::{Factor, Level, Metric, Output, Range, Study};
use crate::traffic::{
    Collective, Matrix, MessageApplication, PairRates, PingApplication, RateApplication, ReceiverReading,
    Traffic, UdpApplication,
};
use crate::transport::Transport;
use crate::variate::{Constant, Cumulative, Empirical, Exponential, Gaussian, LogNormal, Pareto, Uniform};
use anabranch_units::declaration::joined;
use anabranch_units::{Bytes, Span};
use serde_json::{Value, json};

/// What is wrong with a table that stands alone.
type Check = fn(&Node, Problems) -> Vec<Problem>;

fn problems_of<T: Read>(node: &Node, mut problems: Problems) -> Vec<Problem> {
    // What holds is of no use here: whoever asks has the data.
    let _ = T::read(node, &Place::Top, &mut problems);
    problems.into_told()
}

/// Lists types of tables, each with what it is and its check.
macro_rules! tables {
    ($($type:ty),+ $(,)?) => {
        [$( (of_form(<$type as Read>::form()), problems_of::<$type> as Check) ),+]
    };
}

fn of_form(form: Form) -> TableForm {
    match form {
        Form::Table(table) => table,
        other => unreachable!("a table is described as {other:?}"),
    }
}

/// Every table that stands in a scenario, those first that others are parts of.
fn tables() -> Vec<(TableForm, Check)> {
    let fixed = tables![
        LinkSelector,
        LinkSettings,
        LinkOverride,
        DistanceDelay,
        BandwidthDelay,
        Shaper,
        Policer,
        Reorder,
        PacketChance,
        NewNode,
        HostSettings,
        HostOverride,
        RouterSettings,
        RouterOverride,
        Outage,
        RiskGroup,
        Maintenance,
        AttributeSource,
        FileAttributes,
        TopologyFile,
        Network,
        ControlLink,
        FlowTable,
        Controller,
        PairRates,
        Demand,
        Event,
        Profile,
        GivenPath,
        RouteChoice,
        TrafficRouting,
        Routing,
        Run,
        Capture,
        Matrix,
        RateApplication,
        MessageApplication,
        PingApplication,
        UdpApplication,
        ReceiverReading,
        Collective,
        Traffic,
        Transport,
        Scenario,
        Range,
        Level,
        Factor,
        Metric,
        Output,
        Study,
        PlanLink,
        PlanPath,
        PlanRoute,
        PlanTable,
        PlanFile,
    ];
    let mut all = fixed.to_vec();
    all.push((OWN, problems_of::<OwnAlgorithm>));
    all.extend(distributions::<Span>());
    all.extend(distributions::<Bytes>());
    all.extend(distributions::<Number>());
    all
}

/// An algorithm of the user's own.
const OWN: TableForm = TableForm {
    name: "Own",
    of: None,
    text: &[
        " An algorithm of your own, by its class in Python; all other keys are parameters of that class.",
    ],
    tag: None,
    parts: &[],
    fields: || {
        vec![Field {
            key: "python",
            name: "python",
            text: "Module and class: `my_module:Vegas`.".into(),
            form: Form::Text,
            default: None,
        }]
    },
};

fn distributions<Q: crate::variate::Unit>() -> Vec<(TableForm, Check)> {
    tables![
        Constant<Q>,
        Uniform<Q>,
        Exponential<Q>,
        Gaussian<Q>,
        LogNormal<Q>,
        Pareto<Q>,
        Empirical<Q>,
        Cumulative<Q>
    ]
    .into()
}

/// What is wrong with a table alone, by its name, besides what is noted already; `None` if there is no such table.
#[must_use]
pub fn check(name: &str, node: &Node, noted: Problems) -> Option<Vec<Problem>> {
    let (_, check) = tables().into_iter().find(|(table, _)| full_name(table) == name)?;
    Some(check(node, noted))
}

/// What is wrong with the choice of an algorithm of a kind; without a message where nothing is.
///
/// # Panics
/// If there is no such kind: kinds are words of programs, not of users.
#[must_use]
pub fn check_choice(kind: &str, node: &Node) -> Vec<Problem> {
    let mut problems = Problems::of_call();
    match kind {
        "queue" => problems_of::<Queue>(node, problems),
        _ => {
            let _ = Chosen::read(kind, node, &Place::Top, &mut problems);
            problems.into_told()
        }
    }
}

/// Every table as JSON: name, `of`, text, tag, parts and fields.
#[must_use]
pub fn described() -> Value {
    tables().iter().map(|(table, _)| of_table(table)).collect()
}

fn of_table(table: &TableForm) -> Value {
    let tag = table.tag.map(|tag| json!({ "key": tag.key, "word": tag.word, "text": joined(tag.text) }));
    json!({
        "name": table.name,
        "of": table.of,
        "text": paragraphs(table.text),
        "tag": tag,
        "parts": table.parts,
        "fields": table.fields().iter().map(of_field).collect::<Value>(),
    })
}

/// Lines of a text as its paragraphs.
fn paragraphs(lines: &[&str]) -> Vec<String> {
    lines.split(|line| line.trim().is_empty()).map(joined).collect()
}

fn of_field(field: &Field) -> Value {
    json!({
        "key": field.key,
        "name": field.name,
        "text": field.text,
        "form": form(&field.form),
        "required": field.default.is_none(),
        "default": field.default,
    })
}

fn full_name(table: &TableForm) -> String {
    table.of.map_or_else(|| table.name.to_owned(), |of| format!("{}[{of}]", table.name))
}

/// What values are, as JSON: `kind`, and what else there is to know.
fn form(of: &Form) -> Value {
    match of {
        Form::Switch => json!({ "kind": "switch" }),
        Form::Whole => json!({ "kind": "whole" }),
        Form::Real => json!({ "kind": "real" }),
        Form::Text => json!({ "kind": "text", "least": 1 }),
        Form::File => json!({ "kind": "text", "least": 1, "pattern": format!("^{FILE}.+") }),
        Form::AnyText => json!({ "kind": "text", "least": 0 }),
        Form::Quantity(quantity) => json!({ "kind": "quantity", "quantity": quantity.name }),
        Form::Number => json!({ "kind": "quantity", "quantity": "Number" }),
        Form::Products => json!({ "kind": "products" }),
        Form::Choice(names) => json!({ "kind": "choice", "names": names }),
        Form::Algorithm(registry) => json!({ "kind": "algorithm", "registry": registry }),
        Form::Declared(parameter) => {
            json!({ "kind": "declared", "parameter": parameter })
        }
        Form::Table(table) => json!({ "kind": "table", "table": full_name(table) }),
        Form::List(of, least, most) => {
            json!({ "kind": "list", "of": form(of), "least": least, "most": most })
        }
        Form::Named(of, least) => json!({ "kind": "named", "of": form(of), "least": least }),
        Form::Optional(of) => json!({ "kind": "optional", "of": form(of) }),
        Form::Within(of, [least, above, most, below]) => json!({
            "kind": "within", "of": form(of), "least": least, "above": above, "most": most, "below": below,
        }),
        Form::Free => json!({ "kind": "free" }),
        Form::OneOf(forms) => json!({ "kind": "one-of", "of": forms.iter().map(form).collect::<Value>() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables_in(of: &Value, into: &mut Vec<String>) {
        match of {
            Value::Object(entries) => {
                if entries.get("kind") == Some(&json!("table")) {
                    into.extend(entries["table"].as_str().map(str::to_owned));
                }
                entries.values().for_each(|value| tables_in(value, into));
            }
            Value::Array(entries) => entries.iter().for_each(|value| tables_in(value, into)),
            _ => {}
        }
    }

    #[test]
    fn every_table_that_a_field_takes_is_described() {
        let all = described();
        let names: Vec<_> = tables().iter().map(|(table, _)| full_name(table)).collect();
        let mut used = Vec::new();
        tables_in(&all, &mut used);
        assert!(used.len() > 50);
        for name in used {
            assert!(names.contains(&name), "{name} is not listed");
        }
    }

    #[test]
    fn defaults_are_what_is_read_where_nothing_is_said() {
        for (table, _) in tables() {
            for field in table.fields() {
                let Some(default) = field.default.filter(|default| !default.is_null()) else { continue };
                let node = crate::node::Node::from_json(&default);
                let named =
                    crate::node::Node::from(crate::node::Value::Table(vec![(field.key.into(), node)]));
                let problems =
                    check(&full_name(&table), &named, Problems::default()).expect("a table of the list");
                let at_field: Vec<_> = problems.iter().filter(|p| p.place == field.key).collect();
                assert!(at_field.is_empty(), "{}.{}: {at_field:?}", table.name, field.key);
            }
        }
    }
}
