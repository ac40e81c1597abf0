//! Quantities with units, parsed in one place for Rust and Python.

use anabranch_units as units;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn checked<T>(parsed: Result<T, units::ParseError>) -> PyResult<T> {
    parsed.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Picoseconds from text such as `"2.5 ms"`. Raises ValueError with what would be right.
#[pyfunction]
pub fn parse_span(text: &str) -> PyResult<u64> {
    checked(units::parse_span(text)).map(units::Span::as_ps)
}

/// Bits per second from text such as `"10 Mbps"`. Raises ValueError with what would be right.
#[pyfunction]
pub fn parse_rate(text: &str) -> PyResult<u64> {
    checked(units::parse_rate(text)).map(units::Rate::as_bps)
}

/// Bytes from text such as `"64 kB"`. Raises ValueError with what would be right.
#[pyfunction]
pub fn parse_bytes(text: &str) -> PyResult<u64> {
    checked(units::parse_bytes(text)).map(|bytes| bytes.0)
}

/// Packets from text such as `"100 packets"`. Raises ValueError with what would be right.
#[pyfunction]
pub fn parse_packets(text: &str) -> PyResult<u64> {
    checked(units::parse_count(text))
}

/// Segments from text such as `"44 segments"`. Raises ValueError with what would be right.
#[pyfunction]
pub fn parse_segments(text: &str) -> PyResult<u64> {
    checked(units::parse_segments(text))
}

/// Metres per second from text such as `"200 km/ms"`. Raises ValueError with what would be right.
#[pyfunction]
pub fn parse_speed(text: &str) -> PyResult<u64> {
    checked(units::parse_speed(text))
}
