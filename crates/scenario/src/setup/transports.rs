//! From a transport's name and changes to all its choices as numbers.

use super::own::{OwnCode, OwnKind};
use crate::algorithm::{Chosen, registry};
use crate::problem::{Place, Problems};
use crate::transport::{Transport, fields_of};
use crate::words::{quoted, unknown_name};
use anabranch_engine::setup::TransportSetup;
use anabranch_engine::transport::{self, PRESETS, TransportConfig};
use serde_json::Value;
use std::collections::BTreeMap;

/// The transports of a run, made when a flow first names them.
pub(super) struct Transports<'t> {
    tables: &'t [(String, Transport)],
    indices: BTreeMap<String, Option<usize>>,
    pub setups: Vec<TransportSetup>,
}

impl<'t> Transports<'t> {
    pub(super) fn new(tables: &'t [(String, Transport)]) -> Self {
        Self { tables, indices: BTreeMap::new(), setups: Vec::new() }
    }

    fn table(&self, name: &str) -> Option<&'t Transport> {
        self.tables.iter().find(|(of_table, _)| of_table == name).map(|(_, table)| table)
    }

    /// The place of a transport; an unknown one is noted, with the nearest name.
    pub(super) fn index(
        &mut self,
        name: &str,
        at: &Place<'_>,
        own_code: &mut dyn OwnCode,
        problems: &mut Problems,
    ) -> Option<usize> {
        if self.table(name).is_none() && !is_preset(name) {
            let tables = self.tables.iter().map(|(names, _)| names.as_str());
            let presets = PRESETS.iter().map(|(names, _)| *names).filter(|names| self.table(names).is_none());
            let names: Vec<_> = tables.chain(presets).collect();
            problems.add(at, format!("transport {}", unknown_name(name, &names)));
            return None;
        }
        if let Some(names) = self.indices.get(name) {
            return *names;
        }
        let usual = Transport::default();
        let config = resolved(name, self.table(name).unwrap_or(&usual), own_code, problems);
        let index = config.map(|config| {
            self.setups.push(TransportSetup { name: name.to_owned(), config });
            self.setups.len() - 1
        });
        self.indices.insert(name.to_owned(), index);
        index
    }

    /// Checks the tables that no flow names, so that a mistake does not wait until one does.
    pub(super) fn check_unused(&self, own_code: &mut dyn OwnCode, problems: &mut Problems) {
        for (name, table) in self.tables {
            if !self.indices.contains_key(name) {
                let _ = resolved(name, table, own_code, problems);
            }
        }
    }
}

fn is_preset(name: &str) -> bool {
    PRESETS.iter().any(|(preset, _)| *preset == name)
}

fn resolved(
    name: &str,
    table: &Transport,
    own_code: &mut dyn OwnCode,
    problems: &mut Problems,
) -> Option<TransportConfig> {
    let transports = Place::Top.key("transport");
    let at = transports.key(name);
    let preset = table.preset.as_deref().unwrap_or(name);
    let Some(base) = transport::preset(preset) else {
        let presets: Vec<_> = PRESETS.iter().map(|(fields, _)| *fields).collect();
        let message = match table.preset {
            None => format!("is missing; {} is no preset itself: {}", quoted(name), presets.join(", ")),
            Some(_) => unknown_name(preset, &presets),
        };
        problems.add(&at.key("preset"), message);
        return None;
    };
    let protocol = base.name();
    let mut config = serde_json::to_value(&base).expect("a preset is plain data");
    let before = problems.count();
    let fields = fields_of(protocol);
    let subflow = fields_of("tcp");
    let mut put = |field: &str, value: Value| {
        let into =
            if protocol == "mptcp" && subflow.contains(&field) { &mut config["tcp"] } else { &mut config };
        into[field] = value;
    };
    for (field, value) in &table.values {
        if fields.contains(field) {
            put(field, value.clone());
        } else {
            foreign(field, protocol, preset, &at, problems);
        }
    }
    for (field, chosen) in &table.choices {
        match chosen {
            _ if !fields.contains(field) => foreign(field, protocol, preset, &at, problems),
            Chosen::Declared(configuration) => put(field, Value::Object(configuration.clone())),
            Chosen::Own(of) => {
                let kind = match *field {
                    "scheduler" => OwnKind::Scheduler,
                    "path_selector" => OwnKind::PathSelector,
                    _ => OwnKind::CongestionControl,
                };
                match own_code.algorithm(kind, of, &[]) {
                    Ok(value) => put(field, value),
                    Err(message) => problems.add(&at.key(field), message),
                }
            }
        }
    }
    if problems.count() > before {
        return None;
    }
    checked(config, &at, problems)
}

/// Notes a field that another protocol has, but not this one.
fn foreign(field: &str, protocol: &str, preset: &str, at: &Place<'_>, problems: &mut Problems) {
    let protocols = registry("protocol").algorithms.iter().map(|algorithm| algorithm.name);
    let owners: Vec<_> = protocols.filter(|other| fields_of(other).contains(&field)).collect();
    let has = if ["tcp", "mptcp"].contains(&protocol) {
        String::new()
    } else {
        format!(", which has {}", fields_of(protocol).join(", "))
    };
    let owners = owners.join(" and ");
    let message = format!("is a field of {owners}; the protocol of {} is {protocol}{has}", quoted(preset));
    problems.add(&at.key(field), message);
}

fn checked(config: Value, at: &Place<'_>, problems: &mut Problems) -> Option<TransportConfig> {
    let config: TransportConfig = match serde_json::from_value(config) {
        Ok(config) => config,
        Err(error) => {
            problems.add(at, error.to_string());
            return None;
        }
    };
    if let Err(refused) = config.check().and_then(|()| config.check_together()) {
        // The core has the subflows' TCP in a table of its own; the scenario has it beside the rest.
        let parameter = refused.parameter.strip_prefix("tcp.").unwrap_or(&refused.parameter);
        problems.add(&Place::Told(&format!("{at}.{parameter}")), refused.problem);
        return None;
    }
    Some(config)
}
