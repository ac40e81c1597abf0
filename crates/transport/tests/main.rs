//! The transport from outside, in one program.

mod mptcp_capture;
mod wire;
