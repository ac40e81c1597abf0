use super::{Interfaces, PathManager, SubflowAddresses};
use anabranch_units::declaration::at_least;

anabranch_units::parameters! {
    /// Subflows between the same two addresses that differ in their source ports.
    pub struct NdiffportsParameters {
        /// How many; 2 are what ndiffports of the kernel of multipath-tcp.org opens unless told otherwise (num_subflows).
        subflows: u16 = 2, at_least(1).at_most(255);
        /// Where paths of the routes join several pairs of interfaces, one subflow for each of these pairs in their place:
        /// ports alone leave it to the hash of a router whether two of them share a path.
        by_interfaces: bool = false;
    }
}

impl PathManager for NdiffportsParameters {
    fn looks_at_interfaces(&self) -> bool {
        self.by_interfaces
    }

    fn subflows(&self, interfaces: &Interfaces) -> Vec<SubflowAddresses> {
        if self.by_interfaces && interfaces.have_several_joined() {
            return interfaces.joined.clone();
        }
        vec![SubflowAddresses::default(); usize::from(self.subflows.max(1))]
    }
}
