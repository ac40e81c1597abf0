//! Answers as plain objects and typed arrays.

use crate::problem::LocatedProblem;
use crate::run::{Finished, RunProgress};
use anabranch_engine::records::{Column, Table};
use js_sys::{Array, BigUint64Array, Error, Float64Array, Object, Reflect, Uint8Array};
use std::collections::BTreeMap;
use wasm_bindgen::prelude::*;

/// Sets a key of a new object, which refuses none.
fn set(object: &Object, key: &str, value: impl Into<JsValue>) {
    Reflect::set(object, &key.into(), &value.into()).expect("a new object takes every key");
}

/// Texts as a list. To hand one over takes a microsecond, so one that comes again is handed over once.
fn texts<'t>(texts: impl Iterator<Item = &'t str>) -> Array {
    let mut made: BTreeMap<&str, JsValue> = BTreeMap::new();
    texts.map(|text| made.entry(text).or_insert_with(|| text.into()).clone()).collect()
}

/// Mistakes as a list of objects.
pub(super) fn problem_list(problems: &[LocatedProblem]) -> JsValue {
    let object = |problem: &LocatedProblem| {
        let object = Object::new();
        set(&object, "place", problem.place.as_str());
        set(&object, "message", problem.message.as_str());
        if let Some((line, column)) = problem.position {
            set(&object, "line", line as f64);
            set(&object, "column", column as f64);
        }
        JsValue::from(object)
    };
    problems.iter().map(object).collect::<Array>().into()
}

/// Mistakes as an error to throw.
pub(super) fn scenario_error(problems: &[LocatedProblem]) -> JsValue {
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    let error = Error::new(&lines.join("\n"));
    error.set_name("ScenarioError");
    set(&error, "problems", problem_list(problems));
    error.into()
}

/// Progress as an object.
pub(super) fn progress_object(at: &RunProgress) -> JsValue {
    let object = Object::new();
    set(&object, "now_ps", at.progress.now.as_ps());
    set(&object, "end_ps", at.end.as_ps());
    set(&object, "share", at.share());
    set(&object, "packet_hops", at.progress.packet_hops);
    set(&object, "events", at.progress.events);
    set(&object, "done", at.is_done);
    object.into()
}

/// A table as an object of its columns.
pub(super) fn table_object(table: Table) -> JsValue {
    let object = Object::new();
    for (name, column) in table.columns {
        set(&object, name, column_value(column));
    }
    object.into()
}

fn column_value(column: Column) -> JsValue {
    match column {
        Column::Integers(values) => BigUint64Array::from(values.as_slice()).into(),
        Column::Numbers(values) => Float64Array::from(values.as_slice()).into(),
        Column::Texts(values) => texts(values.iter()).into(),
        Column::Choices { names, places } => {
            let choices = Object::new();
            set(&choices, "names", texts(names.into_iter()));
            set(&choices, "places", Uint8Array::from(places.as_slice()));
            choices.into()
        }
    }
}

/// What a run leaves behind, as an object.
pub(super) fn result_object(finished: Finished) -> JsValue {
    let Finished { outcome, warnings, never_begun } = finished;
    let summary = Object::new();
    set(&summary, "ended_s", outcome.ended.as_secs_f64());
    set(&summary, "interrupted", outcome.interrupted);
    set(&summary, "packet_hops", outcome.progress.packet_hops);
    set(&summary, "events", outcome.progress.events);
    let number = |number: Option<f64>| number.map_or(JsValue::NULL, JsValue::from_f64);
    set(&summary, "jain_index", number(outcome.jain_index));
    set(&summary, "delivered_mbps", number(outcome.delivered_mbps));
    set(&summary, "packets_lost", outcome.packets_lost);
    set(&summary, "warnings", texts(warnings.iter().map(String::as_str)));
    let begun = Object::new();
    never_begun.iter().for_each(|(entry, count)| set(&begun, entry, *count));
    set(&summary, "never_begun", begun);
    let tables = Object::new();
    for table in outcome.tables {
        set(&tables, table.name, table_object(table));
    }
    let result = Object::new();
    set(&result, "summary", summary);
    set(&result, "tables", tables);
    result.into()
}
