//! Captures read and measured, in one program.

mod both_ends;
mod common;
mod copies;
mod exchange;
mod formats;
mod multipath;
mod networks;
mod packed;
mod points;
mod round_trips;
mod spans;
mod trouble;
mod tunnels;
