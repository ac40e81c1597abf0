use serde::{Deserialize, Serialize};

/// Defines an id: an index into one table, without arithmetic.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the entry at `index`. Panics if the table has more than 2^32 entries.
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("a table of this kind has fewer than 2^32 entries"))
            }

            /// The index into the table.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A node of the network: a host, a switch or both.
    NodeId
);
id!(
    /// A directed link of the network.
    LinkId
);
id!(
    /// A flow: one connection from a source host to a destination host.
    FlowId
);
id!(
    /// A path in the engine's table of source routes.
    PathId
);
