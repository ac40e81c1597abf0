//! Live runs: the engine on the wall clock, with real hosts at its ends.
//!
//! A host is a network namespace of Linux with a TUN device. What it sends is read from the device and put into the
//! [`Simulation`](anabranch_engine::Simulation); what comes out at its node is written to the device. Queues, links,
//! loss, balancers and failures are the engine's own. [`Relay`] is the one loop; it needs a thread of its own, and
//! nothing else in the process may make it wait.
//!
//! Where routers are real switches, each end of a link has a device of its own, and the engine has the links alone.
//!
//! Linux only: elsewhere the crate is empty.
#![cfg(target_os = "linux")]

mod check;
mod clock;
mod conversations;
mod device;
mod packet;
mod ports;
mod relay;
mod train;
mod waiting;

pub use check::{Lateness, SelfCheck};
pub use conversations::{Conversation, Volume};
pub use device::Framing;
pub use relay::{LiveError, LiveOutcome, Relay, Watched};
