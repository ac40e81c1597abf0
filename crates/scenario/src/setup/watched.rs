//! The flows that a run looks at closely, by name: `run.sequences` and `run.log`.

use super::flows::Flows;
use super::network::number;
use crate::problem::{Place, Problems};
use crate::run::FlowNames;
use crate::words::{quoted, suggest};
use anabranch_engine::setup::TransportSetup;
use anabranch_units::FlowId;
use std::collections::{BTreeMap, BTreeSet};

/// Looking for the nearest among a million names would take minutes.
const MOST_NAMES_COMPARED: usize = 10_000;

/// A field that names flows, and which flows it cannot name.
pub(super) struct Watch {
    name: &'static str,
    /// The flows that it cannot name; `*` passes them over.
    unfit: &'static [Unfit],
    /// What there is a row for.
    rows: &'static str,
    most: usize,
}

/// Flows of some protocols, which have nothing to look at.
struct Unfit {
    protocols: &'static [&'static str],
    /// What these flows are.
    kind: &'static str,
    reason: &'static str,
}

/// Of a flow of 1 MB a thousand segments and as many acknowledgments are noted. A multipath connection has a sequence for
/// each subflow and none of its own.
pub(super) const SEQUENCES: Watch = Watch {
    name: "sequences",
    unfit: &[
        Unfit {
            protocols: &["mptcp"],
            kind: "multipath",
            reason: "its subflows have sequence numbers of their own, and there is no table of them; write a \
                     [[capture]] of its host, and read it with anabranch capture or Wireshark",
        },
        Unfit {
            protocols: &["spray"],
            kind: "sprayed",
            reason: "its packets have no order; see the table spray_flows",
        },
    ],
    rows: "segments",
    most: 1000,
};
/// A log has a row for each ACK.
pub(super) const LOG: Watch = Watch {
    name: "log",
    unfit: &[
        Unfit {
            protocols: &["sdn-paced", "sliding-window"],
            kind: "without congestion control",
            reason: "its sender decides nothing that a log could tell; name it in run.sequences",
        },
        Unfit {
            protocols: &["spray"],
            kind: "sprayed",
            reason: "its sender keeps no log; see the table spray_flows",
        },
    ],
    rows: "ACKs",
    most: 100,
};

impl Watch {
    /// Ids of the flows that the field names, in order; what is wrong with a name is noted.
    pub(super) fn chosen(
        &self,
        wanted: &FlowNames,
        flows: &Flows,
        transports: &[TransportSetup],
        problems: &mut Problems,
    ) -> Vec<FlowId> {
        // Most runs: nobody need look at all their flows. After a mistake, flows may be missing for a reason that is noted.
        if *wanted == FlowNames::Several(Vec::new()) || !problems.is_empty() {
            return Vec::new();
        }
        let columns = &flows.connections;
        let of = |flow: usize| &columns.entries[columns.entry[flow] as usize];
        let unfit = |flow: usize| {
            let protocol = transports[of(flow).transport].config.name();
            self.unfit.iter().find(|unfit| unfit.protocols.contains(&protocol))
        };
        let field = format!("run.{}", self.name);
        let at = Place::Told(&field);
        let count = columns.number.len();
        let chosen: BTreeSet<usize> = match wanted {
            FlowNames::All => {
                let fit: BTreeSet<_> = (0..count).filter(|&flow| unfit(flow).is_none()).collect();
                if let Some(Unfit { kind, reason, .. }) =
                    (fit.is_empty() && count > 0).then(|| unfit(0)).flatten()
                {
                    problems.add(&at, format!("every flow is {kind}; {reason}"));
                }
                fit
            }
            FlowNames::Several(names) => {
                let name = |flow: usize| format!("{}.{}", of(flow).name, columns.number[flow]);
                let ids: BTreeMap<_, _> = (0..count).map(|flow| (name(flow), flow)).collect();
                let mut named = BTreeSet::new();
                for (place, wanted) in names.iter().enumerate() {
                    match ids.get(wanted) {
                        None => {
                            let first = (0..count.min(MOST_NAMES_COMPARED)).map(name).collect::<Vec<_>>();
                            problems.add(&at.entry(place), self.no_such(wanted, &first, flows));
                        }
                        Some(&flow) => match unfit(flow) {
                            Some(Unfit { kind, reason, .. }) => {
                                let message = format!("{} is {kind}; {reason}", quoted(wanted));
                                problems.add(&at.entry(place), message);
                            }
                            None => {
                                named.insert(flow);
                            }
                        },
                    }
                }
                named
            }
        };
        if chosen.len() > self.most {
            let message = format!(
                "means {} flows, and a row for each of their {}; name at most {} flows",
                number(chosen.len()),
                self.rows,
                number(self.most)
            );
            problems.add(&at, message);
        }
        chosen.into_iter().map(|flow| FlowId(flow as u32)).collect()
    }

    fn no_such(&self, name: &str, names: &[String], flows: &Flows) -> String {
        if flows.datagrams.iter().any(|flow| flow.name == name) {
            return format!("{} has no connection, of which there could be {}", quoted(name), self.rows);
        }
        let near = suggest(name, names.iter().map(String::as_str));
        let hint = match near {
            _ if name == "*" => format!("for all flows write {} = \"*\"", self.name),
            Some(near) => format!("nearest: {}", quoted(near)),
            None => "they are named like \"traffic[0].0\"".to_owned(),
        };
        format!("no flow {}; {hint}", quoted(name))
    }
}
