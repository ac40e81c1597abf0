//! Weights of links from a file: what an operator sets for OSPF or IS-IS.

use super::csv_table::{Row, number_of, table_rows};
use super::network::Network;
use super::plain::Files;
use crate::network::{FILE, WeightsFile};
use crate::problem::{Place, Problems};
use crate::words::{quoted, thousands};
use std::collections::{BTreeMap, BTreeSet};

/// Ends of a directed link, and which of several parallel ones, from 1 on; all of them without one.
type Key = (u32, u32, Option<usize>);

/// The weights in the file `network.weights`; without one there are none.
#[derive(Debug, Default)]
pub(super) struct LinkWeights {
    rows: Vec<Weighted>,
    places: BTreeMap<Key, usize>,
    laid: BTreeMap<(u32, u32), usize>,
    used: BTreeSet<Key>,
}

#[derive(Debug)]
struct Weighted {
    key: Key,
    weight: u32,
    /// File and line.
    place: String,
    names: (String, String),
}

impl LinkWeights {
    /// Reads the file; what is wrong is noted with its line.
    pub(super) fn new(
        file: Option<&WeightsFile>,
        network: &Network,
        files: &dyn Files,
        problems: &mut Problems,
    ) -> Self {
        let mut weights = Self::default();
        let Some(name) = file.map(|file| file.0.strip_prefix(FILE).unwrap_or(&file.0)) else {
            return weights;
        };
        let text = match files.text(name) {
            Ok(text) => text,
            Err(message) => {
                problems.add_at("network.weights", message);
                return weights;
            }
        };
        for row in table_rows(name, &text, &["from", "to", "weight"], &["index"]) {
            if let Some(row) = problems.note(row) {
                weights.read(&row, network, problems);
            }
        }
        weights
    }

    /// The weight by the file of the next link from one node to another.
    pub(super) fn next(&mut self, from: u32, to: u32) -> Option<u32> {
        if self.rows.is_empty() {
            return None;
        }
        let laid = self.laid.entry((from, to)).or_default();
        *laid += 1;
        let keys = [(from, to, Some(*laid)), (from, to, None)];
        let key = keys.into_iter().find(|key| self.places.contains_key(key))?;
        self.used.insert(key);
        Some(self.rows[self.places[&key]].weight)
    }

    /// Notes each row whose link the network lacks.
    pub(super) fn note_unused(&self, label: &str, problems: &mut Problems) {
        for Weighted { key, place, names, .. } in &self.rows {
            if !self.used.contains(key) {
                let which = key.2.map_or(String::new(), |index| format!(" {index}"));
                let (from, to) = (quoted(&names.0), quoted(&names.1));
                problems.add_at(place, format!("no link{which} from {from} to {to} in {label}"));
            }
        }
    }

    fn read(&mut self, row: &Row, network: &Network, problems: &mut Problems) {
        let (from, to) = (row.cell("from"), row.cell("to"));
        let place = Place::Told(&row.place);
        let ends = [from, to].map(|name| network.find(name, &place, problems));
        let (read, index) = (row.cell("weight"), row.cell("index"));
        let whole = number_of(read).filter(|weight| weight.fract() == 0.0);
        let weight = whole.filter(|weight| (1.0..=f64::from(u32::MAX)).contains(weight));
        let Some(weight) = weight else {
            let most = thousands(u32::MAX);
            let message =
                format!("the weight is {}; it must be a whole number from 1 to {most}", quoted(read));
            problems.add(&place, message);
            return;
        };
        let digits = index.chars().all(|c| c.is_ascii_digit());
        let parallel = index.parse().ok().filter(|&number: &usize| digits && number > 0);
        if !index.is_empty() && parallel.is_none() {
            problems.add(&place, format!("the index is {}; parallel links count from 1", quoted(index)));
            return;
        }
        let [Some(a), Some(b)] = ends else { return };
        let key = (a, b, parallel);
        if let Some(&number) = self.places.get(&key) {
            let message = format!(
                "the weight from {} to {} stands in {} already",
                quoted(from),
                quoted(to),
                self.rows[number].place
            );
            problems.add(&place, message);
            return;
        }
        self.places.insert(key, self.rows.len());
        let names = (from.to_owned(), to.to_owned());
        self.rows.push(Weighted { key, weight: weight as u32, place: row.place.clone(), names });
    }
}
