//! A scenario as a page gives it: from text to a run that is ready.

use crate::lacks::{self, PageFiles};
use crate::network_file::{file_name, network_of};
use crate::plan::plan;
use crate::problem::{Document, LocatedProblem};
use crate::routes::Routes;
use crate::run::Run;
use anabranch_engine::Simulation;
use anabranch_scenario as core;
use anabranch_scenario::node::{Node, Value};
use anabranch_scenario::problem::{Place, Problem, Problems};
use anabranch_scenario::read::Read;
use anabranch_scenario::routing::RouteChoice;
use anabranch_scenario::setup::{Network, NoOwnCode, Resolved, World, resolve};
use anabranch_scenario::toml_text::parse_with_positions;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a text at most, as of files.
const LARGEST_TEXT_BYTES: usize = 10_000_000;

/// What stands beside a scenario.
#[derive(Clone, Copy)]
pub struct Beside<'b> {
    /// The file of its topology's network, if it has one.
    pub network: Option<&'b str>,
    /// Texts of the files that it names, by name.
    pub files: &'b BTreeMap<String, String>,
}

/// A network as a page draws it.
#[derive(Serialize, PartialEq, Debug)]
pub struct DrawnNetwork {
    /// Name of each node, and degrees north and east where they are known.
    pub nodes: Vec<(String, Option<(f64, f64)>)>,
    /// Name, from, to, bit/s and picoseconds of each directed link.
    pub links: Vec<(String, u32, u32, u64, u64)>,
}

impl DrawnNetwork {
    fn of(network: &Network) -> Self {
        let place = |node: anabranch_engine::network::Node| {
            (node.name, node.place.map(|place| (place.latitude, place.longitude)))
        };
        let links = network.links.iter().map(|link| {
            let (capacity, delay) = (link.capacity.as_bps(), link.delay.as_ps());
            (link.name.to_string(), link.from.0, link.to.0, capacity, delay)
        });
        Self { nodes: network.nodes().into_iter().map(place).collect(), links: links.collect() }
    }
}

/// A scenario that is read.
#[derive(Debug)]
pub struct PageScenario {
    text: String,
    read: Result<(Node, core::Scenario), Vec<LocatedProblem>>,
}

impl PageScenario {
    /// Reads a text; what is wrong is noted.
    #[must_use]
    pub fn read(text: &str) -> Self {
        // Editors on Windows begin a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { text: text.to_owned(), read: read(text) }
    }

    /// Reads the network in a text, and nothing of the rest, whatever is wrong with that.
    #[must_use]
    pub fn of_network(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let read =
            parse_with_positions(text).map_err(|mistakes| mistakes.into_iter().map(Into::into).collect());
        let network = |mut root: Node| {
            if let Value::Table(entries) = &mut root.value {
                entries.retain(|(key, _)| key == "network");
            }
            of_root(text, root)
        };
        Self { text: text.to_owned(), read: read.and_then(network) }
    }

    /// Reads the bytes of a file, which are UTF-8; what is wrong is noted.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::read(text),
            Err(error) => {
                let at = error.valid_up_to();
                let line = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
                let message =
                    format!("line {line}: not UTF-8 text (byte 0x{:02x}){}", bytes[at], utf16(bytes));
                Self { text: String::new(), read: Err(vec![of_whole(message)]) }
            }
        }
    }

    /// What is wrong with it, as far as it is seen without a network.
    #[must_use]
    pub fn problems(&self) -> &[LocatedProblem] {
        self.read.as_ref().err().map_or(&[], Vec::as_slice)
    }

    /// What it writes as `network.topology`, if it does and could be read.
    #[must_use]
    pub fn topology(&self) -> Option<&str> {
        self.read.as_ref().ok()?.1.network.topology.as_deref()
    }

    /// The name of the file that has the network of this topology, for its parameters.
    #[must_use]
    pub fn network_file(&self) -> Option<String> {
        file_name(&self.read.as_ref().ok()?.1)
    }

    /// Its title; empty without one.
    #[must_use]
    pub fn title(&self) -> &str {
        self.read.as_ref().map_or("", |(_, scenario)| &scenario.title.0)
    }

    /// Makes the routes and a run that stands before its first event.
    ///
    /// # Errors
    /// Everything that is wrong with it, and everything that it needs and a page has not.
    pub fn start(&self, beside: Beside<'_>) -> Result<Run, Vec<LocatedProblem>> {
        let (root, scenario) = self.read.as_ref().map_err(Vec::clone)?;
        let document = Document { text: &self.text, root };
        let located = |problems| document.locate(problems);
        let mut resolved = resolved(scenario, beside).map_err(located)?;
        resolved.setup.flows = resolved.flows.slices().setups().expect("every entry is there");
        let refused = |error| vec![document.refused(&error, &resolved.flows)];
        let network = resolved.setup.check().map_err(refused)?;
        let choice = scenario.routing.as_ref().map(|routing| routing.routing.choice.clone());
        let choice = choice.unwrap_or_else(RouteChoice::usual);
        let plan = plan(&resolved, &choice, &network).map_err(located)?;
        let Resolved { setup, flows, never_begun, .. } = resolved;
        let setup = Arc::new(setup);
        let routes = Routes::new(network, plan.clone());
        let simulation = Simulation::new(Arc::clone(&setup), plan);
        let simulation = simulation.map_err(|error| vec![document.refused(&error, &flows)])?;
        Ok(Run::new(setup, simulation, never_begun, routes))
    }

    /// Its network, as far as it goes, whether the rest can run or not.
    ///
    /// # Errors
    /// If its network cannot be read, or is not there.
    pub fn network(&self, beside: Beside<'_>) -> Result<DrawnNetwork, Vec<LocatedProblem>> {
        let (root, scenario) = self.read.as_ref().map_err(Vec::clone)?;
        let located = |problem| Document { text: &self.text, root }.locate(vec![problem]);
        let plain = network_of(scenario, beside.network).map_err(located)?;
        let files = PageFiles(beside.files);
        let mut world = World { network: &plain, files: &files, own_code: &mut NoOwnCode };
        let (mut network, resolved) = resolve(scenario, &mut world);
        // What can run has its links in the setup.
        if let Ok(resolved) = resolved {
            network.links = resolved.setup.links;
        }
        Ok(DrawnNetwork::of(&network))
    }
}

fn read(text: &str) -> Result<(Node, core::Scenario), Vec<LocatedProblem>> {
    if text.len() > LARGEST_TEXT_BYTES {
        let most = LARGEST_TEXT_BYTES / 1_000_000;
        return Err(vec![of_whole(format!("larger than {most} MB, so it is not a scenario"))]);
    }
    if text.contains('\0') {
        // What a page makes of a file in UTF-16.
        return Err(vec![of_whole(format!("not UTF-8 text{}", utf16(text.as_bytes())))]);
    }
    let root = parse_with_positions(text)
        .map_err(|mistakes| mistakes.into_iter().map(LocatedProblem::from).collect::<Vec<_>>())?;
    of_root(text, root)
}

fn of_root(text: &str, root: Node) -> Result<(Node, core::Scenario), Vec<LocatedProblem>> {
    let mut problems = Problems::default();
    let scenario = core::Scenario::read(&root, &Place::Top, &mut problems);
    match scenario {
        Some(scenario) if problems.is_empty() => Ok((root, scenario)),
        _ => Err(Document { text, root: &root }.locate(problems.into_told())),
    }
}

const fn of_whole(message: String) -> LocatedProblem {
    LocatedProblem { place: String::new(), message, position: None }
}

/// A remedy for bytes that look like UTF-16: its byte order mark, or every second byte zero.
fn utf16(bytes: &[u8]) -> &'static str {
    let zeros = bytes.iter().filter(|&&byte| byte == 0).count();
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) || zeros > bytes.len() / 4 {
        "; it looks like UTF-16, save it as UTF-8"
    } else {
        "; save it as UTF-8"
    }
}

fn resolved(scenario: &core::Scenario, beside: Beside<'_>) -> Result<Resolved, Vec<Problem>> {
    let mut problems = lacks::of_scenario(scenario);
    let network = match network_of(scenario, beside.network) {
        Ok(network) => network,
        Err(problem) => {
            problems.push(problem);
            return Err(problems);
        }
    };
    let files = PageFiles(beside.files);
    let mut world = World { network: &network, files: &files, own_code: &mut NoOwnCode };
    let resolved = match resolve(scenario, &mut world).1 {
        Ok(resolved) => resolved,
        Err(more) => {
            problems.extend(more);
            return Err(problems);
        }
    };
    problems.extend(lacks::of_plans(&resolved));
    problems.extend(lacks::of_memory(&resolved));
    if problems.is_empty() { Ok(resolved) } else { Err(problems) }
}
