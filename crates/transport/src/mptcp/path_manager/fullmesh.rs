use super::{Interfaces, Limits, PathManager, SubflowAddresses};
use anabranch_units::declaration::at_least;

anabranch_units::parameters! {
    /// One subflow for each pair of a local and a remote interface; the first pair carries the first subflow.
    pub struct FullmeshParameters {
        /// Most subflows. The path manager in Linux's kernel has two beside the first, unless it is told otherwise.
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

    fn subflows(&self, interfaces: Interfaces) -> Vec<SubflowAddresses> {
        let remotes = interfaces.remote.max(1);
        let pairs =
            (0..interfaces.local.max(1)).flat_map(|local| (0..remotes).map(move |remote| (local, remote)));
        pairs
            .take(usize::from(self.limit))
            .map(|(local, remote)| SubflowAddresses { local, remote })
            .collect()
    }
}
