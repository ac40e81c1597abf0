//! A congestion control that is no part of this crate: the caller brings it along, as Python does.

use super::{CongestionControl, Start};
use crate::brought::Brought;
use std::fmt::Debug;

/// A control of the caller's own. It may do whatever it likes within its calls, which all come from the thread that
/// runs the simulation; its window is never below one segment.
pub trait ExternalControl: CongestionControl + Debug + Send {}

/// Makes the control of each connection.
pub trait ExternalMaker: Debug + Send + Sync {
    /// The control at the start of a connection, and once more when the handshake has told its segment size.
    fn control(&self, choice: &External, start: Start) -> Box<dyn ExternalControl>;
}

anabranch_units::leaf! {
    /// The choice of such a control: which, and what it asks of the connection.
    pub struct External: "congestion_control" by "algorithm" = "python" {
        /// Its number among those that the caller brings along.
        pub code: usize,
        /// It looks at delivery rates.
        #[serde(default)]
        pub measures_rate: bool,
        /// It hears of each lost segment.
        #[serde(default)]
        pub judges_losses: bool,
        /// It counts ECN marks: the receiver echoes each of them, and ECN has to be on.
        #[serde(default)]
        pub counts_marks: bool,
        ;
        /// What makes it.
        pub maker: Brought<dyn ExternalMaker>,
    }
}
