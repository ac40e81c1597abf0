//! A congestion control that is no part of this crate: the caller brings it along, as Python does.

use super::{CongestionControl, Start};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::Arc;

/// A control of the caller's own. It may do whatever it likes within its calls, which all come from the thread that
/// runs the simulation; its window is never below one segment.
pub trait ExternalControl: CongestionControl + Debug + Send {}

/// Makes the control of each connection.
pub trait ExternalMaker: Debug + Send + Sync {
    /// The control at the start of a connection, and once more when the handshake has told its segment size.
    fn control(&self, choice: &External, start: Start) -> Box<dyn ExternalControl>;
}

/// The choice of such a control: which, and what it asks of the connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct External {
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
    /// What makes it. The caller puts it here once it has read the rest.
    #[serde(skip)]
    pub maker: Option<Arc<dyn ExternalMaker>>,
}

impl External {
    /// # Panics
    /// Without a maker, which the check of a setup refuses.
    pub(super) fn control(&self, start: Start) -> Box<dyn ExternalControl> {
        self.maker.as_ref().expect("a setup without its code is refused").control(self, start)
    }
}

impl PartialEq for External {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &Arc<dyn ExternalMaker>, other: &Arc<dyn ExternalMaker>| Arc::ptr_eq(one, other);
        let makers = match (&self.maker, &other.maker) {
            (None, None) => true,
            (Some(one), Some(other)) => same(one, other),
            _ => false,
        };
        makers
            && (self.code, self.measures_rate, self.judges_losses, self.counts_marks)
                == (other.code, other.measures_rate, other.judges_losses, other.counts_marks)
    }
}
