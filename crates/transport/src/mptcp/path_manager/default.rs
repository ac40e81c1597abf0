use super::{Interfaces, PathManager, SubflowAddresses};

anabranch_units::parameters! {
    /// The first subflow and no other, as the path manager of that name in the kernel of multipath-tcp.org.
    pub struct DefaultParameters {}
}

impl PathManager for DefaultParameters {
    fn subflows(&self, _: &Interfaces) -> Vec<SubflowAddresses> {
        vec![SubflowAddresses::default()]
    }
}
