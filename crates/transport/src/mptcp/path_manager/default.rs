use super::SubflowAddresses;

/// The first subflow and no other, as Linux's path manager of that name.
pub(super) fn subflows() -> Vec<SubflowAddresses> {
    vec![SubflowAddresses::default()]
}
