//! Flows one by one, and distributions of sizes, as files list them.

use super::arrivals::Starts;
use super::flows::{Maker, Part};
use super::network::number;
use super::pairs::{Entry, NodePairs};
use super::plain::{Files, PlainTraffic};
use super::traffic_nodes::NodesOfFile;
use crate::network::FILE;
use crate::problem::{Place, Problems};
use crate::traffic::{Size, Traffic};
use crate::variate::{Cumulative, Drawn};
use crate::words::quoted;
use std::borrow::Cow;

/// Flows that lead from a node to itself are told one by one until there are so many.
const TOLD: usize = 5;

/// The flows of a file; all columns have the same length.
pub(super) struct Listed {
    /// What each sends.
    pub bytes: Vec<u64>,
    /// When it begins, in picoseconds.
    pub start: Vec<u64>,
}

impl Listed {
    /// The flows that begin before the run is over.
    pub(super) fn starts(&self, duration: u64) -> Starts {
        let begun = (0..self.start.len()).filter(|&flow| self.start[flow] < duration);
        let pair: Vec<u32> = begun.map(|flow| flow as u32).collect();
        Starts {
            start: pair.iter().map(|&flow| self.start[flow as usize]).collect(),
            never_begun: (self.start.len() - pair.len()) as u64,
            pair,
        }
    }
}

impl Maker<'_> {
    /// The flows of an entry's list; what is wrong is noted.
    pub(super) fn listed(&mut self, entry: &Entry<'_>) -> Option<Part> {
        let file = entry.table.flow_list.as_deref().unwrap_or_default();
        let name = file.strip_prefix(FILE).unwrap_or(file);
        let at = entry.at.key("flow_list");
        let wanted = |traffic: &PlainTraffic| !traffic.flows.from.is_empty();
        let traffic = traffic_of(name, "list of flows", wanted, &at, self.given.files, self.problems)?;
        let network = entry.network;
        let node = |name: &str, at: &Place<'_>, problems: &mut Problems| network.find(name, at, problems);
        let nodes = NodesOfFile { network, node: &node }.found(name, &traffic, self.problems)?;
        let ends = traffic.flows.from.iter().zip(&traffic.flows.to);
        let pairs: NodePairs = ends.map(|(&from, &to)| (nodes[from as usize], nodes[to as usize])).collect();
        let loops: Vec<_> = (1..).zip(&pairs).filter(|(_, (from, to))| from == to).collect();
        for (place, (node, _)) in loops.iter().take(TOLD) {
            let message =
                format!("flow {} leads from {} to itself", number(*place), quoted(network.name(*node)));
            self.problems.add(&Place::Told(name), message);
        }
        if loops.len() > TOLD {
            let message = format!("and so do {} other flows", number(loops.len() - TOLD));
            self.problems.add(&Place::Told(name), message);
        }
        Some(Part::of_list(pairs, Listed { bytes: traffic.flows.bytes, start: traffic.flows.start_ps }))
    }
}

/// An entry with the distribution in place of the file that has it; what is wrong is noted.
pub(super) fn with_sizes<'t>(
    table: &'t Traffic,
    at: &Place<'_>,
    files: &dyn Files,
    problems: &mut Problems,
) -> Cow<'t, Traffic> {
    let Some(Size::File(file)) = &table.size else { return Cow::Borrowed(table) };
    let (at, name) = (at.key("size"), file.strip_prefix(FILE).unwrap_or(file));
    let wanted = |traffic: &PlainTraffic| !traffic.sizes.is_empty();
    let mut sized = table.clone();
    if let Some(traffic) = traffic_of(name, "distribution of sizes", wanted, &at, files, problems) {
        let points: Vec<_> = traffic.sizes.iter().map(|point| (point.bytes, point.probability)).collect();
        let size = Drawn::Cumulative(Cumulative::of_points(&points));
        if size.mean() <= 0.0 {
            problems.add(&at, format!("the mean of {} is zero", quoted(name)));
        }
        sized.size = Some(Size::Drawn(size));
    }
    Cow::Owned(sized)
}

/// The traffic in a file that has what is wanted; what is wrong is noted.
fn traffic_of(
    name: &str,
    what: &str,
    wanted: impl Fn(&PlainTraffic) -> bool,
    at: &Place<'_>,
    files: &dyn Files,
    problems: &mut Problems,
) -> Option<PlainTraffic> {
    let message = match files.traffic(name) {
        Err(message) => message,
        Ok(None) => format!("{} is a CSV of rates, and no {what}", quoted(name)),
        Ok(Some(traffic)) if wanted(&traffic) => return Some(traffic),
        Ok(Some(traffic)) => format!("{} ({}) is no {what}", quoted(name), traffic.format),
    };
    problems.add(at, message);
    None
}
