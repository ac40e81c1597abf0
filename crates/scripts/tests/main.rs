//! The interpreter and its scripts, in one program.

mod application;
mod command;
mod constructs;
mod language;
mod mutants;
mod playing;
mod scripts;
