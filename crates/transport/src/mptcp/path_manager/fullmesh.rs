use super::{Interfaces, PathManager, SubflowAddresses};

anabranch_units::parameters! {
    /// One subflow for each pair of a local and a remote interface; the first pair carries the first subflow.
    pub struct FullmeshParameters {}
}

impl PathManager for FullmeshParameters {
    fn subflows(&self, interfaces: Interfaces) -> Vec<SubflowAddresses> {
        let remotes = interfaces.remote.max(1);
        let pairs =
            (0..interfaces.local.max(1)).flat_map(|local| (0..remotes).map(move |remote| (local, remote)));
        pairs.map(|(local, remote)| SubflowAddresses { local, remote }).collect()
    }
}
