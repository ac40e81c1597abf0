use super::{Interfaces, Limits, PathManager, SubflowAddresses};
use anabranch_units::declaration::at_least;

anabranch_units::parameters! {
    /// One subflow for each pair of a local and a remote interface that a path joins; the first pair carries the first
    /// subflow, and each local interface has one before any has a second.
    pub struct FullmeshParameters {
        /// Most subflows. The path manager in Linux's kernel has two beside the first unless it is told otherwise, and eight
        /// at most (`ip mptcp limits`).
        limit: u16 = 255, at_least(1).at_most(255);
        /// Most addresses that it accepts by ADD_ADDR during a connection (`ip mptcp limits` has the same name, and 0
        /// unless told otherwise; the kernel of multipath-tcp.org knows up to 8 of the other end).
        add_addr_accepted: u16 = 8, at_least(0).at_most(255);
    }
}

impl PathManager for FullmeshParameters {
    fn limits(&self) -> Option<Limits> {
        Some(Limits { subflows: usize::from(self.limit), add_addr_accepted: self.add_addr_accepted })
    }

    fn looks_at_interfaces(&self) -> bool {
        true
    }

    fn subflows(&self, interfaces: &Interfaces) -> Vec<SubflowAddresses> {
        interfaces.joined.iter().copied().take(usize::from(self.limit)).collect()
    }
}
