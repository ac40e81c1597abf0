//! The traffic matrix of an entry: read, made by a rule, or drawn from those that bounds allow.

use super::arrivals::NEVER;
use super::pair_rates::{PairMap, RateReader, TimedRates};
use super::pairs::{Entry, NodePairs};
use super::plain::Files;
use super::sampled::{pairwise_sum, sampled};
use crate::problem::{Place, Problems};
use crate::traffic::{GravityWeights, Matrix, MatrixSource, RatesSource};
use anabranch_engine::variate::Variate;
use anabranch_units::Rate;

/// Entries below count as none: a flow of that rate sends nothing in any run.
const LEAST_BPS: f64 = 1.0;

const PS_PER_S: f64 = 1e12;

/// Bounds of the traffic between routers, in bits per second, infinite for none.
#[derive(Clone, PartialEq, Debug)]
pub struct DemandBounds {
    /// The routers, by node.
    pub routers: Vec<u32>,
    /// Most that enters at each router.
    pub ingress: Vec<f64>,
    /// Most that leaves at each router.
    pub egress: Vec<f64>,
    /// Most of each pair, row by row.
    pub pair: Vec<f64>,
}

/// The entries of a matrix that are not zero: pairs of nodes, each with its rate in bits per second.
pub(super) struct MatrixRates {
    pub pairs: NodePairs,
    pub bps: Vec<f64>,
    /// While they hold.
    pub window: Window,
}

/// A part of a run, in picoseconds of its clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// Its place among others.
    pub place: usize,
    /// It begins here.
    pub begin: u64,
    /// It ends here; `NEVER` for never.
    pub end: u64,
}

impl Window {
    /// The whole run.
    pub(super) const WHOLE: Self = Self { place: 0, begin: 0, end: NEVER };
}

impl Entry<'_> {
    /// The rates of the entry's matrix, or of several that hold one after the other; what is wrong is noted.
    pub(super) fn rates(
        &self,
        matrix: &Matrix,
        demand: Option<&DemandBounds>,
        files: &dyn Files,
        problems: &mut Problems,
    ) -> Vec<MatrixRates> {
        let before = problems.count();
        let at = self.at.key("matrix");
        let made = match matrix.rates.origin() {
            RatesSource::Made(MatrixSource::Gravity) => self.gravity(matrix),
            RatesSource::Made(MatrixSource::Uniform) => {
                let hosts = self.network.hosts();
                self.shared(matrix, &hosts, vec![1.0; hosts.len() * hosts.len()])
            }
            RatesSource::Made(MatrixSource::Bounds) => match demand {
                Some(bounds) => self.within_bounds(bounds, matrix.rates.scale),
                None => {
                    let message = "\"bounds\" needs [routing.demand], whose matrices it is one of";
                    problems.add(&at.key("from"), message);
                    Vec::new()
                }
            },
            RatesSource::Topology | RatesSource::File(_) => {
                let series = self.read_series(matrix, files, problems);
                let windows = self.windows(matrix, &series, problems);
                let rates: Vec<_> = series
                    .into_iter()
                    .zip(windows)
                    .map(|(rates, window)| {
                        let in_service = |&((from, to), _): &((u32, u32), f64)| {
                            !self.network.is_out(from) && !self.network.is_out(to)
                        };
                        of_pairs(scaled(rates.bps, matrix).into_iter().filter(in_service).collect(), window)
                    })
                    .collect();
                self.check_any(&rates, before, problems);
                return rates;
            }
        };
        let rates = vec![of_pairs(made, Window::WHOLE)];
        self.check_any(&rates, before, problems);
        rates
    }

    /// Notes matrices by which nobody sends, if nothing else is wrong with them.
    fn check_any(&self, rates: &[MatrixRates], before: usize, problems: &mut Problems) {
        let is_empty = !rates.is_empty() && rates.iter().all(|rates| rates.pairs.is_empty());
        if is_empty && problems.count() == before {
            problems.add(&self.at.key("matrix"), "has no entry above zero, so that nobody sends");
        }
    }

    /// The matrices of a file, or the one of the topology.
    fn read_series(&self, matrix: &Matrix, files: &dyn Files, problems: &mut Problems) -> Vec<TimedRates> {
        let network = self.network;
        let node = |name: &str, at: &Place<'_>, problems: &mut Problems| network.find(name, at, problems);
        let (at, needs_unit) = (self.at.key("matrix"), matrix.total.is_none());
        let reader = RateReader { network, files, at: &at, node: &node, needs_unit };
        reader.series_bps(&matrix.rates, problems)
    }

    /// While each matrix of a series holds.
    fn windows(&self, matrix: &Matrix, series: &[TimedRates], problems: &mut Problems) -> Vec<Window> {
        if series.len() < 2 {
            if matrix.interval.is_some() && series.len() == 1 {
                let message = "is for several matrices that hold one after the other, and there is one";
                problems.add(&self.at.key("matrix").key("interval"), message);
            }
            return vec![Window::WHOLE; series.len()];
        }
        let Some(start) = self.table.start.fixed() else {
            let message = "must be a time, where several matrices hold one after the other";
            problems.add(&self.at.key("start"), message);
            return Vec::new();
        };
        let begins: Option<Vec<u64>> = match matrix.interval {
            Some(interval) => {
                Some((0..series.len() as u64).map(|place| interval.as_ps().saturating_mul(place)).collect())
            }
            None => series.iter().map(|rates| rates.start_s.map(|start| (start * PS_PER_S) as u64)).collect(),
        };
        let Some(begins) = begins.filter(|begins| begins.is_sorted_by(|a, b| a < b)) else {
            let message = "is missing; the file does not say how long each of its matrices holds";
            problems.add(&self.at.key("matrix").key("interval"), message);
            return Vec::new();
        };
        let last = begins.len() - 1;
        let ends = begins[1..].iter().copied().chain([2 * begins[last] - begins[last - 1]]);
        let begin = |begin: u64| begin.saturating_add(start.as_ps());
        let windows = begins.iter().zip(ends).enumerate();
        windows.map(|(place, (&from, to))| Window { place, begin: begin(from), end: begin(to) }).collect()
    }

    fn gravity(&self, matrix: &Matrix) -> Vec<((u32, u32), f64)> {
        let hosts = self.network.hosts();
        let (out, into): (Vec<f64>, Vec<f64>) = if matrix.weights == Some(GravityWeights::Exponential) {
            let unit = Variate::Exponential { mean: 1.0 };
            let drawn = |purpose| self.draws.many(&unit, self.name, purpose).take(hosts.len()).collect();
            (drawn("matrix out"), drawn("matrix in"))
        } else {
            let mut capacities = vec![(0.0, 0.0); self.network.node_count()];
            for link in &self.network.links {
                capacities[link.from.0 as usize].0 += link.capacity.as_bps() as f64;
                capacities[link.to.0 as usize].1 += link.capacity.as_bps() as f64;
            }
            hosts.iter().map(|&host| capacities[host as usize]).unzip()
        };
        let parts = out.iter().flat_map(|out| into.iter().map(move |into| out * into)).collect();
        self.shared(matrix, &hosts, parts)
    }

    /// The total, in these parts, which are those of all pairs of hosts; a host sends nothing to itself.
    fn shared(&self, matrix: &Matrix, hosts: &[u32], mut parts: Vec<f64>) -> Vec<((u32, u32), f64)> {
        (0..hosts.len()).for_each(|host| parts[host * (hosts.len() + 1)] = 0.0);
        let whole = pairwise_sum(&parts);
        let total = matrix.total.map_or(0.0, |total: Rate| total.as_bps() as f64);
        if whole <= 0.0 || matrix.total.is_none() {
            return Vec::new();
        }
        let pairs = hosts.iter().flat_map(|&from| hosts.iter().map(move |&to| (from, to)));
        let rates = pairs.zip(parts).filter(|(_, part)| *part != 0.0);
        rates.map(|(pair, part)| (pair, part * (total / whole))).collect()
    }

    fn within_bounds(&self, bounds: &DemandBounds, scale: f64) -> Vec<((u32, u32), f64)> {
        let routers = &bounds.routers;
        let count = routers.len() * routers.len();
        if count == 0 {
            return Vec::new();
        }
        let uniforms =
            |sweep: usize| self.draws.uniforms(self.name, &format!("matrix {sweep}")).take(count).collect();
        let matrix = sampled(bounds, uniforms);
        let pairs = routers.iter().flat_map(|&from| routers.iter().map(move |&to| (from, to)));
        pairs.zip(matrix.into_iter().map(|bps| bps * scale)).filter(|(_, bps)| *bps != 0.0).collect()
    }
}

/// Rates as the scenario wants their sum to be.
fn scaled(rates: PairMap, matrix: &Matrix) -> Vec<((u32, u32), f64)> {
    let mut rates: Vec<_> = rates.into_iter().collect();
    let whole = pairwise_sum(&rates.iter().map(|(_, bps)| *bps).collect::<Vec<_>>());
    if let Some(total) = matrix.total.filter(|_| whole > 0.0) {
        let factor = total.as_bps() as f64 / whole;
        rates.iter_mut().for_each(|(_, bps)| *bps *= factor);
    }
    rates
}

fn of_pairs(rates: Vec<((u32, u32), f64)>, window: Window) -> MatrixRates {
    let (pairs, bps) = rates.into_iter().filter(|(_, bps)| *bps >= LEAST_BPS).unzip();
    MatrixRates { pairs, bps, window }
}
