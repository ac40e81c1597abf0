//! Flows as columns: a scenario may have a million of them, each of which would be a line of JSON.

use crate::error::{parse, setup_error};
use anabranch_engine::setup::{FlowSetup, ReadingSetup, SourceSetup};
use anabranch_units::{Instant, NodeId};
use numpy::{Element, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde::Deserialize;

/// In the place of a stop that never comes.
const NEVER: u64 = u64::MAX;

/// What all flows of an entry of the scenario have in common.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntrySetup {
    /// A flow has this name, a dot, and its number.
    name: String,
    transport: usize,
    routing: usize,
    /// What its application sends; of a size only that there is one.
    source: SourceSetup,
    /// How its receiving application reads.
    reads: Option<ReadingSetup>,
}

/// The columns of all flows, each with one value for each of them.
#[derive(FromPyObject)]
pub(crate) struct FlowColumns<'py> {
    /// The entries, as JSON.
    #[pyo3(item)]
    entries: String,
    /// Place in `entries`.
    #[pyo3(item)]
    entry: PyReadonlyArray1<'py, u32>,
    #[pyo3(item)]
    number: PyReadonlyArray1<'py, u32>,
    #[pyo3(item)]
    from: PyReadonlyArray1<'py, u32>,
    #[pyo3(item)]
    to: PyReadonlyArray1<'py, u32>,
    /// The size, where the source is one.
    #[pyo3(item)]
    bytes: PyReadonlyArray1<'py, u64>,
    #[pyo3(item)]
    start: PyReadonlyArray1<'py, u64>,
    #[pyo3(item)]
    stop: PyReadonlyArray1<'py, u64>,
}

impl FlowColumns<'_> {
    /// The flows, in the order of their ids.
    ///
    /// # Errors
    /// SetupError where columns differ in length, or name an entry that is not there.
    pub(crate) fn flows(&self) -> PyResult<Vec<FlowSetup>> {
        let entries: Vec<EntrySetup> = parse("flows.entries", &self.entries)?;
        let count = self.entry.len();
        let (entry, number) = (slice("entry", &self.entry, count)?, slice("number", &self.number, count)?);
        let (from, to) = (slice("from", &self.from, count)?, slice("to", &self.to, count)?);
        let (bytes, start) = (slice("bytes", &self.bytes, count)?, slice("start", &self.start, count)?);
        let stop = slice("stop", &self.stop, count)?;
        let flow = |index: usize| {
            let missing = || setup_error("flows.entry", format!("that of number {index} is not there"));
            let EntrySetup { name, transport, routing, source, reads } =
                entries.get(entry[index] as usize).ok_or_else(missing)?;
            let mut source = source.clone();
            if let SourceSetup::Sized { bytes: size } = &mut source {
                *size = bytes[index];
            }
            Ok(FlowSetup {
                name: format!("{name}.{}", number[index]),
                from: NodeId(from[index]),
                to: NodeId(to[index]),
                transport: *transport,
                routing: *routing,
                source,
                start: Instant::from_ps(start[index]),
                stop: (stop[index] != NEVER).then(|| Instant::from_ps(stop[index])),
                reads: reads.map(Box::new),
            })
        };
        (0..count).map(flow).collect()
    }
}

fn slice<'a, T: Element>(name: &str, column: &'a PyReadonlyArray1<'_, T>, count: usize) -> PyResult<&'a [T]> {
    let values = column.as_slice().map_err(|error| setup_error("flows", format!("{name}: {error}")))?;
    if values.len() == count {
        return Ok(values);
    }
    Err(setup_error("flows", format!("{name} has {} entries in place of {count}", values.len())))
}
