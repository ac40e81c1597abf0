//! The traffic matrix of an entry: read, made by a rule, or drawn from those that bounds allow.

use super::pair_rates::RateReader;
use super::pairs::{Entry, NodePairs};
use super::plain::Files;
use super::sampled::{pairwise_sum, sampled};
use crate::problem::{Place, Problems};
use crate::traffic::{GravityWeights, Matrix, MatrixSource, RatesSource};
use anabranch_engine::variate::Variate;
use anabranch_units::Rate;

/// Entries below count as none: a flow of that rate sends nothing in any run.
const LEAST_BPS: f64 = 1.0;

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
}

impl Entry<'_> {
    /// The rates of the entry's matrix; what is wrong is noted.
    pub(super) fn rates(
        &self,
        matrix: &Matrix,
        demand: Option<&DemandBounds>,
        files: &dyn Files,
        problems: &mut Problems,
    ) -> MatrixRates {
        let before = problems.count();
        let at = self.at.key("matrix");
        let rates = match matrix.rates.origin() {
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
                let network = self.network;
                let node =
                    |name: &str, at: &Place<'_>, problems: &mut Problems| network.find(name, at, problems);
                let reader = RateReader { network, files, at: &at, node: &node };
                let mut rates: Vec<_> = reader.rates_bps(&matrix.rates, problems).into_iter().collect();
                let whole = pairwise_sum(&rates.iter().map(|(_, bps)| *bps).collect::<Vec<_>>());
                if let Some(total) = matrix.total.filter(|_| whole > 0.0) {
                    let factor = total.as_bps() as f64 / whole;
                    rates.iter_mut().for_each(|(_, bps)| *bps *= factor);
                }
                rates
            }
        };
        let (pairs, bps): (NodePairs, Vec<f64>) =
            rates.into_iter().filter(|(_, bps)| *bps >= LEAST_BPS).unzip();
        if pairs.is_empty() && problems.count() == before {
            problems.add(&at, "has no entry above zero, so that nobody sends");
        }
        MatrixRates { pairs, bps }
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
