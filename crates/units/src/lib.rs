//! Quantities of the simulator: instants, spans, rates, byte counts and ids; histograms, and the tables of its results.
//!
//! Arithmetic is exact integer arithmetic: time in picoseconds, rates in bits per second.
//! An [`Instant`] and a [`Span`] are different types, so two instants cannot be added.
//! Overflow is a bug in the caller and panics; nothing wraps silently.

mod branch;
mod bytes;
pub mod declaration;
mod fairness;
mod histogram;
mod ids;
mod prefetch;
mod rate;
pub mod records;
mod shared;
pub mod text;
mod texts;
mod time;

pub use branch::rarely;
pub use bytes::Bytes;
pub use fairness::jain_index;
pub use histogram::Histogram;
pub use ids::{FlowId, LinkId, NodeId, PathId};
pub use prefetch::{prefetch, prefetch_lines};
pub use rate::{Rate, Serializer};
pub use shared::{Recent, Shared};
pub use text::{
    ParseError, Quantity, parse_bytes, parse_count, parse_rate, parse_segments, parse_span, parse_speed,
};
pub use texts::{Texts, all_differ};
pub use time::{Instant, MaybeInstant, Span};
