//! The scenario file: from text to what the engine runs.
//!
//! | module | holds |
//! |---|---|
//! | [`node`] | plain data as a text has them, each value with its place |
//! | [`read`] | from plain data to typed values: declarations of tables, and every mistake noted |
//! | [`algorithm`], [`variate`] | what many tables have: algorithms by name or with parameters, random variates |
//! | [`network`] | the tables of the network |
//! | [`problem`], [`words`] | mistakes with their places, and the words for them |

pub mod algorithm;
pub mod controller;
pub mod demand;
pub mod described;
pub mod event;
pub mod field_path;
pub mod network;
pub mod node;
pub mod plan_file;
pub mod problem;
pub mod read;
pub mod routing;
pub mod run;
pub mod scenario;
pub mod setup;
pub mod study;
pub mod toml_edits;
pub mod toml_text;
pub mod traffic;
pub mod transport;
pub mod variate;
pub mod words;

pub use scenario::Scenario;
