//! The network of a scenario, whose nodes and links Python finds by name.

use crate::error::value_error;
use crate::scenario::told;
use anabranch_scenario::network::{Direction, LinkSelector};
use anabranch_scenario::problem::{Place, Problems};
use anabranch_scenario::setup;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// A link: from, to, name, capacity, delay, weight, and the place of what else it has.
type Row<'a> = (u32, u32, &'a str, u64, u64, Option<u32>, usize);
/// What has a place in a [`Row`]; all else of a link is one text, which most have in common.
const OF_ROW: [&str; 6] = ["from", "to", "name", "capacity", "delay", "weight"];

/// The network of a scenario by names: all settings applied, all delays drawn.
///
/// It is there also where the scenario cannot run, as far as it goes.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Network(pub(crate) setup::Network);

/// Notes problems by a function of (place, message).
fn note(problems: Problems, with: &Bound<'_, PyAny>) -> PyResult<()> {
    told(problems.into_told()).into_iter().try_for_each(|problem| with.call1(problem).map(drop))
}

#[pymethods]
impl Network {
    /// What messages call it.
    #[getter]
    fn label(&self) -> &str {
        &self.0.label
    }

    /// The nodes in the order of their ids: name, and degrees north and east, where they are known.
    fn nodes(&self) -> Vec<(String, Option<(f64, f64)>)> {
        let place = |node: anabranch_engine::network::Node| {
            (node.name, node.place.map(|place| (place.latitude, place.longitude)))
        };
        self.0.nodes().into_iter().map(place).collect()
    }

    /// The links in the order of their ids, and as JSON each set of other values that one of them has, such as its queue.
    fn links(&self) -> PyResult<(Vec<Row<'_>>, Vec<String>)> {
        let (mut rows, mut texts) = (Vec::with_capacity(self.0.links.len()), Vec::new());
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for link in &self.0.links {
            let mut others = serde_json::to_value(link).map_err(value_error)?;
            if let Some(others) = others.as_object_mut() {
                OF_ROW.iter().for_each(|name| drop(others.remove(*name)));
            }
            let text = others.to_string();
            let place = places.get(&text).copied().unwrap_or_else(|| {
                places.insert(text.clone(), texts.len());
                texts.push(text);
                texts.len() - 1
            });
            let (capacity, delay) = (link.capacity.as_bps(), link.delay.as_ps());
            rows.push((link.from.0, link.to.0, &*link.name, capacity, delay, link.weight, place));
        }
        Ok((rows, texts))
    }

    /// Whether a node is marked a host.
    fn is_host(&self, node: u32) -> bool {
        self.0.is_host(node)
    }

    /// Whether there is a node of a name.
    fn knows(&self, name: &str) -> bool {
        self.0.id(name).is_some()
    }

    /// The id of a node by name or alias; where there is none, `note` is called with the place and a message.
    fn node(&self, name: &str, place: &str, note: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        let mut problems = Problems::default();
        let id = self.0.find(name, &Place::Told(place), &mut problems);
        self::note(problems, note)?;
        Ok(id)
    }

    /// The id of the link of a number, from 1 on, from one node to another, by their names; where there is none, `note` is
    /// called as by `node`.
    fn link(
        &self,
        ends: [String; 2],
        index: u32,
        place: &str,
        note: &Bound<'_, PyAny>,
    ) -> PyResult<Option<usize>> {
        let mut problems = Problems::default();
        let selector = LinkSelector { index: Some(index), direction: Direction::Forward };
        let links = self.0.links_between(&ends, &selector, &Place::Told(place), &mut problems);
        self::note(problems, note)?;
        Ok(links.first().copied())
    }
}
