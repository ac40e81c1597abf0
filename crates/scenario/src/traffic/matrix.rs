//! Rates between pairs of nodes: bounds of traffic, and traffic matrices.

use crate::network::names_file;
use crate::read::Reading;
use crate::words::{all_quoted, quoted, short};
use anabranch_units::declaration::{above, at_least};
use anabranch_units::{Rate, Span};

crate::choices! {
    /// Which pairs a rate holds for.
    pub enum MatrixDirection {
        /// The pair that is named.
        "forward" => Forward,
        /// The opposite pair as well.
        "both" => Both,
    }
}

crate::choices! {
    /// What a gravity matrix is in proportion to.
    pub enum GravityWeights {
        /// The capacity of a node's links.
        "capacity" => Capacity,
        /// Weights that are drawn, for each end by itself (Roughan 2005).
        "exponential" => Exponential,
    }
}

/// Words for rates that are neither in a file nor the topology's.
const MADE: [&str; 3] = ["gravity", "uniform", "bounds"];
/// The word for the matrix that a topology has.
const TOPOLOGY: &str = "topology";

/// Where rates come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RatesSource<'s> {
    /// The topology's own matrix.
    Topology,
    /// The file of this name.
    File(&'s str),
    /// They are made.
    Made(MatrixSource),
}

/// How a matrix is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatrixSource {
    /// In proportion to the weights of both ends.
    Gravity,
    /// Equal rates of all pairs.
    Uniform,
    /// One of the matrices that bounds allow.
    Bounds,
}

crate::table! {
    /// Rates of single pairs, from a file or from the topology's own traffic matrix.
    pub struct PairRates {
        /// Where they are: `"topology"`, the matrix of a network that has one, or `"file:demands.csv"`, a file of any format
        /// of docs/traffic_files.md. A traffic matrix may also be `"gravity"`, `"uniform"`, or `"bounds"`: one of the
        /// matrices that `routing.demand` allows, drawn anew for each replication.
        source as "from": String;
        /// Of a file with several matrices, which one, counted from 1.
        number: Option<u64>, at_least(1);
        /// What 1 means where neither the file nor its format says so, such as `"1 Mbps"`.
        unit: Option<Rate>, above(Rate::from_bps(0));
        /// Factor on every rate.
        scale: f64 = 1.0, above(0.0).at_most(1e9);
        /// `both`: each rate holds for the opposite pair as well, and adds to a rate that is given for that.
        direction: MatrixDirection = MatrixDirection::Forward;
    }
    together |read, table| come_from(read, &[], table);
}

impl PairRates {
    /// Where they come from.
    #[must_use]
    pub fn origin(&self) -> RatesSource<'_> {
        match self.source.as_str() {
            TOPOLOGY => RatesSource::Topology,
            "gravity" => RatesSource::Made(MatrixSource::Gravity),
            "uniform" => RatesSource::Made(MatrixSource::Uniform),
            "bounds" => RatesSource::Made(MatrixSource::Bounds),
            file => RatesSource::File(file),
        }
    }
}

fn come_from(read: &PairRates, made: &[&str], table: &mut Reading<'_, '_>) -> Option<()> {
    let source = read.source.as_str();
    if made.contains(&source) {
        let is_given = [
            ("unit", read.unit.is_some()),
            ("number", read.number.is_some()),
            ("direction", read.direction != MatrixDirection::Forward),
        ];
        let given = is_given.iter().find(|(_, is_given)| *is_given);
        return given.map_or(Some(()), |(key, _)| {
            table.refuse(key, format!("is for matrices that are read; {} makes one", quoted(source)))
        });
    }
    if source != TOPOLOGY && !names_file(source) {
        let sources = all_quoted(std::iter::once(TOPOLOGY).chain(made.iter().copied()));
        let message = format!("{} is neither {sources} nor like \"file:demands.csv\"", quoted(source));
        return table.refuse("from", message);
    }
    Some(())
}

crate::table! {
    /// A traffic matrix, of whose rates an entry's flows are made.
    pub struct Matrix: rates: PairRates {
        /// Sum of all rates, for `"gravity"` and `"uniform"`, whose pairs are those of all hosts (of all
        /// nodes, where none is marked a host); a matrix that is read is scaled to it.
        total: Option<Rate>, above(Rate::from_bps(0));
        /// For `"gravity"`, where a rate is in proportion to the weights of both ends. `capacity` (where it is
        /// left out): that of a node's links; `exponential`: drawn, for each end by itself (Roughan 2005).
        weights: Option<GravityWeights>;
        /// Of a file with several matrices, how long each of them holds in the run, one after the other; left out, as long as
        /// the file says.
        interval: Option<Span>, above(Span::ZERO);
        /// How much of a rate makes one flow, the rest of it one more; in place of `flows`.
        rate_per_flow: Option<Rate>, above(Rate::from_bps(0));
    }
    together |read, table| {
        let source = read.rates.source.as_str();
        come_from(&read.rates, &MADE, table)?;
        if ["gravity", "uniform"].contains(&source) && read.total.is_none() {
            let message = format!("is missing; say what all rates of {} add up to, \"1 Gbps\"", quoted(source));
            return table.refuse("total", message);
        }
        if source == "bounds" && read.total.is_some() {
            return table.refuse("total", "a matrix within bounds has a total of its own; leave it out");
        }
        if source == "bounds" && read.rates.scale > 1.0 {
            let scale = short(read.rates.scale);
            return table.refuse("scale", format!("{scale} is above 1, so that the matrix would leave the bounds"));
        }
        if read.total.is_some() && read.rates.scale != 1.0 {
            return table.refuse("scale", "total says how large the rates are; leave out one of the two");
        }
        if read.interval.is_some() && (read.rates.number.is_some() || MADE.contains(&source)) {
            let message = "is for a file whose matrices hold one after the other; leave it out";
            return table.refuse("interval", message);
        }
        if read.weights.is_some() && source != "gravity" {
            return table.refuse("weights", format!("is for \"gravity\"; {} has none", quoted(source)));
        }
        Some(())
    };
}
