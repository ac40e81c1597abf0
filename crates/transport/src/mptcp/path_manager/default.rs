use super::{Interfaces, PathManager, SubflowAddresses};

anabranch_units::parameters! {
    /// The first subflow and no other, as Linux's path manager of that name.
    pub struct DefaultParameters {}
}

impl PathManager for DefaultParameters {
    fn subflows(&self, _: Interfaces) -> Vec<SubflowAddresses> {
        vec![SubflowAddresses::default()]
    }
}
