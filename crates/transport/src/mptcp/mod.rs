//! Multipath TCP (RFC 8684): one stream over several TCP subflows.
//!
//! An [`MptcpSender`] and an [`MptcpReceiver`] are the ends of a connection; each subflow is a
//! [`crate::tcp::Sender`] and a [`crate::tcp::Receiver`] with sequence numbers, loss detection, timers and
//! congestion control of its own. A [`Segment`](crate::Segment) says by its `subflow` which of them it belongs
//! to. Four choices are independent of the subflows' own:
//! - which subflows there are: `path_manager`;
//! - which of them takes the next segment: `scheduler`;
//! - whether their windows grow together: congestion control `lia`, `olia` or `balia`, any other is uncoupled;
//! - what happens when one holds up the others: reinjection after a timeout always, opportunistic
//!   retransmission and penalisation (Raiciu et al., NSDI 2012, section 4.2) where chosen.
//!
//! Left out, and why:
//! - data from receiver to sender: as for TCP here, a flow has one direction; the receiver still closes its
//!   own with a DATA_FIN;
//! - ADD_ADDR of the addresses that an end has from the beginning: the ends are told each other's interfaces when they
//!   are made. Only the end that sends data opens subflows, so that only the other one announces addresses;
//! - fallback to TCP, MP_FAIL and data-level checksums: nothing on the way changes segments;
//! - the keepalive before a subflow is closed for REMOVE_ADDR (RFC 8684 section 3.4.2), and the RST after: as in Linux,
//!   it is closed at once;
//! - MP_FASTCLOSE and MP_TCPRST: a subflow without an answer backs off and comes back.

mod addresses;
mod data_sequence;
mod keys;
mod option;
mod path_manager;
mod paths;
mod receiver;
mod scheduler;
mod sender;

use crate::config::MptcpConfig;
pub use addresses::AddressChange;
pub(crate) use option::SPRAY_HEADER;
pub use option::{DataNumber, Dss, DssMapping, MptcpOption};
pub use path_manager::{
    DefaultParameters, FullmeshParameters, Interfaces, NdiffportsParameters, PathManagerConfig,
    SubflowAddresses,
};
pub use receiver::{MptcpReceiver, MptcpReceiverStats};
pub use scheduler::{
    BlestParameters, EcfParameters, ExternalScheduler, ExternalScheduling, LinuxParameters,
    LowestRttParameters, ReadySubflow, RedundantParameters, RoundRobinParameters, SchedulerConfig,
    SchedulerMaker, WaitingData,
};
pub use sender::{MptcpSender, MptcpSenderStats, SubflowState, SubflowSummary};

/// Bytes of a data segment's DSS option with data ACK and mapping (RFC 8684 section 3.3), padded: its data ACK has 4
/// octets, its data sequence number 4 or 8.
pub(crate) const fn signal_bytes(config: &MptcpConfig) -> u8 {
    if config.long_data_sequence { 24 } else { 20 }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_addresses;
#[cfg(test)]
mod tests_announcements;
#[cfg(test)]
mod tests_buffers;
#[cfg(test)]
mod tests_data_sequence;
#[cfg(test)]
mod tests_fairness;
#[cfg(test)]
mod tests_log;
#[cfg(test)]
mod tests_reading;
#[cfg(test)]
mod tests_reinjection;
#[cfg(test)]
mod tests_silence;
