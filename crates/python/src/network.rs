//! The network of a scenario, whose nodes and links Python finds by name.

use crate::error::value_error;
use crate::scenario::told;
use anabranch_scenario::network::{Direction, LinkSelector};
use anabranch_scenario::problem::{Place, Problems};
use anabranch_scenario::setup;
use pyo3::prelude::*;
use std::collections::HashMap;

/// A link: from, to, name, capacity, delay; places of its jitter, loss and queue among all; weight.
type Row<'a> = (u32, u32, &'a str, u64, u64, Option<usize>, usize, usize, Option<u32>);

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

    /// The links in the order of their ids, and as JSON each jitter, loss and queue that one of them has.
    #[expect(clippy::type_complexity, reason = "a tuple of Python's")]
    fn links(&self) -> PyResult<(Vec<Row<'_>>, Vec<String>, Vec<String>, Vec<String>)> {
        let (mut jitters, mut losses, mut queues) = (Kinds::default(), Kinds::default(), Kinds::default());
        let mut rows = Vec::with_capacity(self.0.links.len());
        for link in &self.0.links {
            let jitter = link.jitter.as_deref().map(|jitter| jitters.place(jitter)).transpose()?;
            let (loss, queue) = (losses.place(&*link.loss)?, queues.place(&*link.queue)?);
            let (capacity, delay) = (link.capacity.as_bps(), link.delay.as_ps());
            rows.push((
                link.from.0,
                link.to.0,
                &*link.name,
                capacity,
                delay,
                jitter,
                loss,
                queue,
                link.weight,
            ));
        }
        Ok((rows, jitters.texts, losses.texts, queues.texts))
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

/// Values as JSON, each once: of thousands of links most have the same queue.
#[derive(Default)]
struct Kinds {
    places: HashMap<String, usize>,
    texts: Vec<String>,
}

impl Kinds {
    /// The place of a value among all.
    fn place(&mut self, value: &impl serde::Serialize) -> PyResult<usize> {
        let text = serde_json::to_string(value).map_err(value_error)?;
        if let Some(&place) = self.places.get(&text) {
            return Ok(place);
        }
        self.places.insert(text.clone(), self.texts.len());
        self.texts.push(text);
        Ok(self.texts.len() - 1)
    }
}
