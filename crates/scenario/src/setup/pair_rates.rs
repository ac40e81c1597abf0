//! Rates between pairs of nodes, from a file or from the topology's own traffic matrix.

use super::csv_table::{Read, csv_rows};
use super::network::Network;
use super::plain::{DemandUnit, Files, PlainMatrix, PlainTraffic};
use super::traffic_nodes::NodesOfFile;
use crate::network::FILE;
use crate::problem::{Place, Problem, Problems};
use crate::read::Quantity;
use crate::traffic::{MatrixDirection, PairRates, RatesSource};
use crate::words::{quoted, short, thousands};
use anabranch_units::Rate;
use std::collections::BTreeMap;

/// Third column of a file, and the unit of its numbers; a plain `rate` has its unit in each row.
const RATE_COLUMNS: [(&str, &str); 4] =
    [("rate", ""), ("rate_kbps", "kbps"), ("rate_mbps", "Mbps"), ("rate_gbps", "Gbps")];
/// 1 Pbps, more than any link has: a larger rate is a mistake.
const MOST_BPS: f64 = 1e15;
/// Units that are further apart than rounding are not the same.
const SAME_UNIT: f64 = 1e-9;

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
    /// Whether numbers without a unit say too little.
    pub needs_unit: bool,
}

/// The rates of pairs of nodes, in bits per second.
pub(super) type PairMap = BTreeMap<(u32, u32), f64>;

/// A matrix of a series.
pub(super) struct TimedRates {
    /// From the first matrix of the series to this one, in seconds, if that is known.
    pub start_s: Option<f64>,
    /// Its rates.
    pub bps: PairMap,
}

/// A rate of a pair by names, and where it stands.
type Named = (String, String, String, f64);

impl RateReader<'_> {
    /// The rate of each pair, in bits per second; entries of one pair are added. What is wrong is noted, and so is a file
    /// of several matrices of which the scenario names none.
    pub(super) fn rates_bps(&self, given: &PairRates, problems: &mut Problems) -> PairMap {
        let mut series = self.series_bps(given, problems);
        if series.len() > 1 {
            let count = thousands(series.len() as u64);
            let message = format!("has {count} matrices; say which of them, from 1 to {count}: number = 1");
            problems.add(&self.at.key("from"), message);
        }
        series.pop().map(|matrix| matrix.bps).unwrap_or_default()
    }

    /// The same for each matrix of a file, or for the one that the scenario names.
    pub(super) fn series_bps(&self, given: &PairRates, problems: &mut Problems) -> Vec<TimedRates> {
        let entries = match given.origin() {
            RatesSource::File(file) => {
                let name = file.strip_prefix(FILE).unwrap_or(file);
                match self.files.traffic(name) {
                    Err(message) => {
                        problems.note::<()>(Err(self.wrong_source(message)));
                        return Vec::new();
                    }
                    Ok(Some(traffic)) => return self.of_traffic(name, &traffic, given, problems),
                    Ok(None) => self.of_csv(name, given),
                }
            }
            RatesSource::Topology | RatesSource::Made(_) => self.of_topology(given),
        };
        if given.number.is_some_and(|number| number > 1) {
            problems.add(&self.at.key("number"), "is above 1, and there is one matrix");
        }
        vec![TimedRates { start_s: None, bps: self.added(entries, given, problems) }]
    }

    /// Rates by names as rates by nodes.
    fn added(
        &self,
        entries: Vec<Result<Named, Problem>>,
        given: &PairRates,
        problems: &mut Problems,
    ) -> PairMap {
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
            add((from, to), bps, given, &mut rates);
        }
        self.check_most(rates.iter(), self.at, problems);
        rates
    }

    fn of_topology(&self, given: &PairRates) -> Vec<Result<Named, Problem>> {
        let Some(demands) = &self.network.demands else {
            let message = format!("{} has no traffic matrix; SNDlib's networks have one", self.network.label);
            return vec![Err(self.wrong_source(message))];
        };
        let unit = match self.unit_bps(self.network.demand_unit.as_ref(), given, &self.network.label) {
            Ok(unit) => unit,
            Err(problem) => return vec![Err(problem)],
        };
        let place = self.at.to_string();
        let named = demands
            .iter()
            .map(|(from, to, value)| Ok((place.clone(), from.clone(), to.clone(), value * unit)));
        named.collect()
    }

    /// The matrices of a file that Python has read.
    fn of_traffic(
        &self,
        name: &str,
        traffic: &PlainTraffic,
        given: &PairRates,
        problems: &mut Problems,
    ) -> Vec<TimedRates> {
        if traffic.matrices.is_empty() {
            let message = format!("{} ({}) has no traffic matrix", quoted(name), traffic.format);
            problems.add(&self.at.key("from"), message);
            return Vec::new();
        }
        let label = format!("{} ({})", quoted(name), traffic.format);
        let Some(unit) = problems.note(self.unit_bps(traffic.unit.as_ref(), given, &label)) else {
            return Vec::new();
        };
        let Some(chosen) = self.chosen(traffic, given, problems) else { return Vec::new() };
        let places = NodesOfFile { network: self.network, node: self.node };
        let Some(nodes) = places.found(name, traffic, problems) else { return Vec::new() };
        let rates = |matrix: &PlainMatrix| {
            let mut bps = BTreeMap::new();
            for ((&from, &to), value) in matrix.from.iter().zip(&matrix.to).zip(&matrix.value) {
                let pair = (nodes[from as usize], nodes[to as usize]);
                // Hosts of one router send each other nothing over links between routers.
                if pair.0 != pair.1 {
                    add(pair, value * unit, given, &mut bps);
                }
            }
            bps
        };
        let timed = chosen.iter().map(|matrix| TimedRates { start_s: matrix.start_s, bps: rates(matrix) });
        let timed: Vec<_> = timed.collect();
        self.check_most(timed.iter().flat_map(|rates| &rates.bps), &Place::Told(name), problems);
        timed
    }

    /// Notes the first pair with more than any link has; neither is what no number says.
    fn check_most<'p>(
        &self,
        mut rates: impl Iterator<Item = (&'p (u32, u32), &'p f64)>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) {
        let Some((&(from, to), &bps)) = rates.find(|&(_, &bps)| !(0.0..=MOST_BPS).contains(&bps)) else {
            return;
        };
        let ends = [from, to].map(|node| quoted(self.network.name(node))).join(" to ");
        let rate = if bps.is_finite() { rate_text(bps.round()) } else { "no finite rate".to_owned() };
        problems.add(at, format!("{ends} is {rate}, more than 1 Pbps; look at unit and scale"));
    }

    /// The matrix that the scenario names by its number, or all.
    fn chosen<'t>(
        &self,
        traffic: &'t PlainTraffic,
        given: &PairRates,
        problems: &mut Problems,
    ) -> Option<&'t [PlainMatrix]> {
        let Some(number) = given.number else { return Some(&traffic.matrices) };
        let place = usize::try_from(number - 1).unwrap_or(usize::MAX);
        let matrix = traffic.matrices.get(place).map(std::slice::from_ref);
        if matrix.is_none() {
            let count = thousands(traffic.matrices.len() as u64);
            problems
                .add(&self.at.key("number"), format!("{number} is above {count}, the matrices there are"));
        }
        matrix
    }

    /// Bits per second that 1 stands for.
    ///
    /// # Errors
    /// Nobody says, or the scenario says other than the source, `of`.
    fn unit_bps(&self, stated: Option<&DemandUnit>, given: &PairRates, of: &str) -> Result<f64, Problem> {
        let problem = |message| Err(Problem::at(&self.at.key("unit").to_string(), message));
        let unit = given.unit.map(Rate::as_bps).map(|bps| bps as f64);
        match (stated, unit) {
            (Some(stated), Some(unit)) if (unit / stated.bps - 1.0).abs() > SAME_UNIT => {
                let unit = quoted(&given.unit.unwrap_or(Rate::from_bps(0)).text());
                let (name, bps) = (quoted(&stated.name), rate_text(stated.bps));
                problem(format!("is {unit}, but the unit of {of} is {name}, {bps}; leave unit out"))
            }
            (Some(stated), _) => Ok(stated.bps),
            (None, Some(unit)) => Ok(unit),
            (None, None) if self.needs_unit => {
                problem(format!("is missing; {of} does not say what 1 means: for example unit = \"1 Mbps\""))
            }
            (None, None) => Ok(1.0),
        }
    }

    /// The rows of a CSV of rates.
    fn of_csv(&self, name: &str, given: &PairRates) -> Vec<Result<Named, Problem>> {
        if given.unit.is_some() {
            let message = "is for numbers whose unit is not known; a CSV of rates has its units in it";
            return vec![Err(Problem::at(&self.at.key("unit").to_string(), message))];
        }
        match self.files.text(name) {
            Ok(text) => csv_rows(name, &text, &wrong_header).into_iter().map(rate_of).collect(),
            Err(message) => vec![Err(self.wrong_source(message))],
        }
    }

    fn wrong_source(&self, message: String) -> Problem {
        Problem::at(&self.at.key("from").to_string(), message)
    }
}

/// Adds a rate to those of its pair, and of the opposite one where the scenario wants that.
fn add((from, to): (u32, u32), bps: f64, given: &PairRates, rates: &mut PairMap) {
    let both = given.direction == MatrixDirection::Both;
    for pair in [(from, to), (to, from)].into_iter().take(if both { 2 } else { 1 }) {
        *rates.entry(pair).or_insert(0.0) += bps * given.scale;
    }
}

/// A rate for people, in the largest unit in which it is a whole number.
fn rate_text(bps: f64) -> String {
    if bps.fract() == 0.0 && bps < u64::MAX as f64 {
        Rate::from_bps(bps as u64).text()
    } else {
        format!("{} bps", short(bps))
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
