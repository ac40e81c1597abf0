//! Algorithms and their parameters as they are read from JSON.
//!
//! A derived reader is made anew for each source of JSON and in each crate that has one, and those of some seventy tables
//! were a fifth of what the compiler had to do for a crate that reads them. Here a source gives its table as plain values,
//! and one function of each table, compiled once and in its own crate, takes its parameters out of them.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
pub use serde_json::Error;
use serde_json::{Map, Value};

/// The fields of a table that are not yet read.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Takes a field, and leaves the value that is there where the table has none.
    ///
    /// # Errors
    /// The field holds something else.
    pub fn read<T: DeserializeOwned>(&mut self, name: &str, value: &mut T) -> Result<(), Error> {
        if let Some(given) = self.0.remove(name) {
            *value = serde_json::from_value(given)?;
        }
        Ok(())
    }

    /// Makes sure that every field was read.
    ///
    /// # Errors
    /// The first that no parameter has as its name.
    pub fn end(self, names: &'static [&'static str]) -> Result<(), Error> {
        self.0.keys().next().map_or(Ok(()), |name| Err(Error::unknown_field(name, names)))
    }

    /// Takes the name of the algorithm.
    ///
    /// # Errors
    /// There is none, or no text.
    pub fn name(&mut self) -> Result<String, Error> {
        serde_json::from_value(self.0.remove("algorithm").ok_or_else(|| Error::missing_field("algorithm"))?)
    }

    /// The parameters that these fields are.
    ///
    /// # Errors
    /// A field holds something else, or is of none of them.
    pub fn parameters<T: DeserializeOwned>(self) -> Result<T, Error> {
        serde_json::from_value(Value::Object(self.0))
    }
}

/// Reads a table by the function that takes its fields.
///
/// # Errors
/// The source has no table, or the function refuses it.
pub fn read<'de, D: Deserializer<'de>, T>(
    source: D,
    table: fn(Fields) -> Result<T, Error>,
) -> Result<T, D::Error> {
    table(Fields::deserialize(source)?).map_err(D::Error::custom)
}
