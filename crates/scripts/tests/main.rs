//! The interpreter and its scripts, in one program.

mod command;
mod constructs;
mod language;
mod mutants;
mod scripts;
