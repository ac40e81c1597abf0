//! Rates between pairs of nodes, from a CSV or from the topology's own traffic matrix.

use super::csv_table::{Read, csv_rows};
use super::network::Network;
use super::plain::Files;
use crate::network::FILE;
use crate::problem::{Place, Problem, Problems};
use crate::read::Quantity;
use crate::traffic::{MatrixDirection, PairRates, RatesSource};
use crate::words::quoted;
use anabranch_units::Rate;
use std::collections::BTreeMap;

/// Third column of a file, and the unit of its numbers; a plain `rate` has its unit in each row.
const RATE_COLUMNS: [(&str, &str); 4] =
    [("rate", ""), ("rate_kbps", "kbps"), ("rate_mbps", "Mbps"), ("rate_gbps", "Gbps")];

/// Where rates are read from, and where messages say that they stand.
#[derive(Clone, Copy)]
pub(super) struct RateReader<'r> {
    /// The network with the nodes, and perhaps a matrix of its own.
    pub network: &'r Network,
    /// The files beside the scenario.
    pub files: &'r dyn Files,
    /// The field of the scenario.
    pub at: &'r Place<'r>,
    /// The node of a name at a place, of those that may be meant; what is wrong is noted.
    pub node: &'r dyn Fn(&str, &Place<'_>, &mut Problems) -> Option<u32>,
}

/// A rate of a pair by names, and where it stands.
type Named = (String, String, String, f64);

impl RateReader<'_> {
    /// The rate of each pair, in bits per second; entries of one pair are added. What is wrong is noted.
    pub(super) fn rates_bps(&self, given: &PairRates, problems: &mut Problems) -> BTreeMap<(u32, u32), f64> {
        let entries = match given.origin() {
            RatesSource::File(file) => self.of_file(file),
            RatesSource::Topology | RatesSource::Made(_) => self.of_topology(given),
        };
        let mut rates = BTreeMap::new();
        for entry in entries {
            let Some((place, source, target, bps)) = problems.note(entry) else { continue };
            let at = Place::Told(&place);
            let ends = [&source, &target].map(|name| (self.node)(name, &at, problems));
            let [Some(from), Some(to)] = ends else { continue };
            if from == to {
                problems.add(&at, format!("leads from {} to itself", quoted(&source)));
                continue;
            }
            let both = given.direction == MatrixDirection::Both;
            for pair in [(from, to), (to, from)].into_iter().take(if both { 2 } else { 1 }) {
                *rates.entry(pair).or_insert(0.0) += bps * given.scale;
            }
        }
        rates
    }

    fn of_topology(&self, given: &PairRates) -> Vec<Result<Named, Problem>> {
        let Some(demands) = &self.network.demands else {
            let message = format!("{} has no traffic matrix; SNDlib's networks have one", self.network.label);
            return vec![Err(self.wrong_source(message))];
        };
        let unit = given.unit.map(Rate::as_bps).filter(|&bps| bps > 0).unwrap_or(1) as f64;
        let place = self.at.to_string();
        let named = demands
            .iter()
            .map(|(from, to, value)| Ok((place.clone(), from.clone(), to.clone(), value * unit)));
        named.collect()
    }

    /// The rows of a file.
    fn of_file(&self, file: &str) -> Vec<Result<Named, Problem>> {
        let name = file.strip_prefix(FILE).unwrap_or(file);
        match self.files.text(name) {
            Ok(text) => csv_rows(name, &text, &wrong_header).into_iter().map(rate_of).collect(),
            Err(message) => vec![Err(self.wrong_source(message))],
        }
    }

    fn wrong_source(&self, message: String) -> Problem {
        Problem::at(&self.at.key("from").to_string(), message)
    }
}

fn rate_of(row: Read) -> Result<Named, Problem> {
    let row = row?;
    let (column, read) = &row.cells()[2];
    let (_, unit) = RATE_COLUMNS.iter().find(|(name, _)| name == column).expect("the header is checked");
    if !unit.is_empty() && !is_number(read) {
        return Err(Problem::at(&row.place, format!("{} is not a number of {unit}", quoted(read))));
    }
    let bps = Rate::FORM.of_text(format!("{read} {unit}").trim());
    let bps = bps.map_err(|message| Problem::at(&row.place, message))?;
    Ok((row.place.clone(), row.cell("from").to_owned(), row.cell("to").to_owned(), bps as f64))
}

/// Whether a text is a number in digits, with or without an exponent.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let all = |text: &str, more: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || more.contains(c))
    };
    all(digits, ".") && all(exponent, "")
}

fn wrong_header(header: &[String]) -> Option<String> {
    let names = RATE_COLUMNS.map(|(name, _)| name);
    let fits =
        matches!(header, [from, to, rate] if from == "from" && to == "to" && names.contains(&rate.as_str()));
    (!fits).then(|| format!("is not from,to and one of {}", names.join(", ")))
}
