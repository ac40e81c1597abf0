//! Flows as columns: a scenario may have a million of them, each of which would be a line of JSON.

use crate::error::{parse, setup_error};
use anabranch_engine::setup::FlowSetup;
use anabranch_scenario::setup::{EntrySetup, FlowColumns, FlowSlices};
use numpy::{Element, IntoPyArray, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The columns of all flows, each with one value for each of them.
#[derive(FromPyObject)]
pub(crate) struct FlowArrays<'py> {
    /// Place in the entries.
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

impl FlowArrays<'_> {
    /// The columns beside their entries.
    ///
    /// # Errors
    /// SetupError where they differ in length.
    pub(crate) fn slices<'c>(&'c self, entries: &'c [EntrySetup]) -> PyResult<FlowSlices<'c>> {
        let count = self.entry.len();
        Ok(FlowSlices {
            entries,
            entry: slice("entry", &self.entry, count)?,
            number: slice("number", &self.number, count)?,
            from: slice("from", &self.from, count)?,
            to: slice("to", &self.to, count)?,
            bytes: slice("bytes", &self.bytes, count)?,
            start: slice("start", &self.start, count)?,
            stop: slice("stop", &self.stop, count)?,
        })
    }
}

fn slice<'a, T: Element>(name: &str, column: &'a PyReadonlyArray1<'_, T>, count: usize) -> PyResult<&'a [T]> {
    let values = column.as_slice().map_err(|error| setup_error("flows", format!("{name}: {error}")))?;
    if values.len() == count {
        return Ok(values);
    }
    Err(setup_error("flows", format!("{name} has {} entries in place of {count}", values.len())))
}

/// The flows of these columns, in the order of their ids.
///
/// # Errors
/// SetupError where a column names an entry that is not there.
pub(crate) fn single(columns: FlowSlices<'_>) -> PyResult<Vec<FlowSetup>> {
    let missing = |flow| setup_error("flows.entry", format!("that of number {flow} is not there"));
    columns.setups().map_err(missing)
}

/// The flows of columns that Python has made: a dict of the columns, and of `entries` as JSON.
///
/// # Errors
/// SetupError where they do not go together.
pub(crate) fn from_python(columns: &Bound<'_, PyDict>) -> PyResult<Vec<FlowSetup>> {
    let entries = columns.get_item("entries")?.ok_or_else(|| PyKeyError::new_err("entries"))?;
    let entries: Vec<EntrySetup> = parse("flows.entries", &entries.extract::<String>()?)?;
    single(columns.extract::<FlowArrays<'_>>()?.slices(&entries)?)
}

/// The columns as numpy arrays, which take them as they are, and their entries.
pub(crate) fn into_python(py: Python<'_>, columns: FlowColumns) -> PyResult<(Vec<EntrySetup>, Py<PyDict>)> {
    let arrays = PyDict::new(py);
    let of_ids =
        [("entry", columns.entry), ("number", columns.number), ("from", columns.from), ("to", columns.to)];
    for (name, column) in of_ids {
        arrays.set_item(name, column.into_pyarray(py))?;
    }
    for (name, column) in [("bytes", columns.bytes), ("start", columns.start), ("stop", columns.stop)] {
        arrays.set_item(name, column.into_pyarray(py))?;
    }
    Ok((columns.entries, arrays.unbind()))
}
