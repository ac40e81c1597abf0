use super::SubflowAddresses;

/// `count` subflows, at least one, between the first interfaces: what differs is the source port, by which
/// switches hash them to paths (Raiciu et al., SIGCOMM 2011; Garcia-Aviles 2017).
pub(super) fn subflows(count: u16) -> Vec<SubflowAddresses> {
    vec![SubflowAddresses::default(); usize::from(count.max(1))]
}
