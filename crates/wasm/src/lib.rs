//! Scenarios in a browser: text and a network in, tables out, step by step.
//!
//! | module | holds |
//! |---|---|
//! | [`scenario`] | a scenario as a page gives it, from text to a run that is ready |
//! | [`network_file`] | the network of its topology, which a page fetches |
//! | [`lacks`] | what a scenario may need and a page has not |
//! | [`plan`] | its routes |
//! | [`routes`] | its routes for people |
//! | [`run`] | the run: steps, progress, tables |
//! | [`text`] | its text: plain data, and changes in place |
//! | [`problem`] | mistakes, each with its line and column |
//! | [`page`] | all that as classes of JavaScript |
//!
//! Everything but [`page`] runs anywhere, and its tests do.

pub mod lacks;
pub mod network_file;
pub mod page;
pub mod plan;
pub mod problem;
pub mod routes;
pub mod run;
pub mod scenario;
pub mod text;

#[cfg(test)]
mod tests;
