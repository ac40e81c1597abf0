use super::{Interfaces, PathManager, SubflowAddresses};
use anabranch_units::declaration::at_least;

anabranch_units::parameters! {
    /// Subflows between the same two addresses that differ in their source ports.
    pub struct NdiffportsParameters {
        /// How many; 2 are what ndiffports of the kernel of multipath-tcp.org opens unless told otherwise (num_subflows).
        subflows: u16 = 2, at_least(1).at_most(255);
    }
}

impl PathManager for NdiffportsParameters {
    fn subflows(&self, _: &Interfaces) -> Vec<SubflowAddresses> {
        vec![SubflowAddresses::default(); usize::from(self.subflows.max(1))]
    }
}
