use super::{Interfaces, SubflowAddresses};

/// Each local interface with each remote one; the first pair carries the first subflow.
pub(super) fn subflows(interfaces: Interfaces) -> Vec<SubflowAddresses> {
    let remotes = interfaces.remote.max(1);
    let pairs =
        (0..interfaces.local.max(1)).flat_map(|local| (0..remotes).map(move |remote| (local, remote)));
    pairs.map(|(local, remote)| SubflowAddresses { local, remote }).collect()
}
