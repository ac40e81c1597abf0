//! Scripts in the packetdrill language, played against the TCP of [`anabranch_transport`].
//!
//! A script injects segments, expects segments at given times, makes the calls of an application and asserts the
//! state of the sender. [`Script::parse`] reads it, [`Script::play`] plays it: in simulated time, without sockets, so
//! that the outcome is the same everywhere. docs/scripts.md has the language.

mod cursor;
mod files;
mod kernel;
mod options;
mod parse;
mod play;
mod report;
mod script;

pub use files::{FileError, ScriptFile, collect, read};
pub use options::{ScriptChoices, default_transport};
pub use report::{Played, json, json_summary, table, table_summary};
pub use script::{Ending, Script, ScriptError};
