//! Path managers: which subflows a connection has, by the interfaces of its ends.
//!
//! The registry is [`PathManagerConfig`]: a name, and the type that has its parameters and its code.

mod default;
mod fullmesh;
mod ndiffports;

pub use default::DefaultParameters;
pub use fullmesh::FullmeshParameters;
pub use ndiffports::NdiffportsParameters;

/// Interfaces of the two ends, each at least one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interfaces {
    /// Of the end that opens.
    pub local: u8,
    /// Of the end that listens.
    pub remote: u8,
}

impl Interfaces {
    /// One at each end.
    pub const SINGLE: Self = Self { local: 1, remote: 1 };
}

/// Which interfaces a subflow runs between, counted from 0. Subflows of the same pair differ in their source
/// ports.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct SubflowAddresses {
    /// Interface of the end that opens; its address identifier too (RFC 8684 section 3.2).
    pub local: u8,
    /// Interface of the end that listens.
    pub remote: u8,
}

/// Most subflows of a connection: [`crate::Segment`] numbers them in a byte.
pub(super) const MOST_SUBFLOWS: usize = 255;

/// How far a path manager follows addresses that come up during a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Limits {
    /// Most subflows at a time.
    pub(super) subflows: usize,
    /// Most addresses that are accepted by ADD_ADDR.
    pub(super) add_addr_accepted: u16,
}

/// A path manager.
trait PathManager {
    /// The subflows of a connection, the first one first; at least 1.
    fn subflows(&self, interfaces: Interfaces) -> Vec<SubflowAddresses>;

    /// How far it follows addresses; none if it does not look at them.
    fn limits(&self) -> Option<Limits> {
        None
    }
}

macro_rules! path_managers {
    ($( $name:literal => $variant:ident($manager:ty) ),+ $(,)?) => {
        anabranch_units::registry! {
            /// Which subflows there are.
            pub enum PathManagerConfig: "path_manager" {
                $( $name => $variant($manager), )+
            }
        }

        /// The subflows of a connection, the first one first, as `config` chooses them; at least 1, at most 255.
        pub(super) fn subflows(config: &PathManagerConfig, interfaces: Interfaces) -> Vec<SubflowAddresses> {
            let mut all = match config {
                $( PathManagerConfig::$variant(manager) => manager.subflows(interfaces), )+
            };
            all.truncate(MOST_SUBFLOWS);
            all
        }

        impl PathManagerConfig {
            /// How far it follows addresses; none if it does not look at them.
            pub(super) fn limits(&self) -> Option<Limits> {
                match self {
                    $( Self::$variant(manager) => manager.limits(), )+
                }
            }

            /// Whether it looks at the addresses of the hosts.
            #[must_use]
            pub fn follows_addresses(&self) -> bool {
                self.limits().is_some()
            }
        }
    };
}

path_managers! {
    "default" => Default(DefaultParameters),
    "ndiffports" => Ndiffports(NdiffportsParameters),
    "fullmesh" => Fullmesh(FullmeshParameters),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(config: &PathManagerConfig, local: u8, remote: u8) -> usize {
        let all = subflows(config, Interfaces { local, remote });
        assert_eq!(all[0], SubflowAddresses::default(), "the first subflow joins the first interfaces");
        assert!(all.iter().all(|subflow| subflow.local < local && subflow.remote < remote));
        all.len()
    }

    #[test]
    fn each_manager_opens_what_its_name_says() {
        assert_eq!(count(&PathManagerConfig::Default(Default::default()), 3, 2), 1);
        for subflows in [1, 2, 32, 255] {
            let manager = PathManagerConfig::Ndiffports(NdiffportsParameters { subflows });
            assert_eq!((manager.check(), count(&manager, 3, 2)), (Ok(()), usize::from(subflows)));
        }
        assert_eq!(count(&PathManagerConfig::Fullmesh(Default::default()), 1, 1), 1);
        assert_eq!(count(&PathManagerConfig::Fullmesh(Default::default()), 3, 2), 6);
        assert_eq!(count(&PathManagerConfig::Fullmesh(Default::default()), 16, 16), 255);
        let mesh =
            subflows(&PathManagerConfig::Fullmesh(Default::default()), Interfaces { local: 3, remote: 2 });
        let mut pairs: Vec<(u8, u8)> = mesh.iter().map(|subflow| (subflow.local, subflow.remote)).collect();
        pairs.sort_unstable();
        assert_eq!(pairs, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
    }

    #[test]
    fn no_subflow_and_more_than_255_are_refused() {
        for subflows in [0, 256, 1000] {
            let message =
                PathManagerConfig::Ndiffports(NdiffportsParameters { subflows }).check().unwrap_err();
            assert_eq!(
                message.to_string(),
                format!("subflows is {subflows}; it must be at least 1 and at most 255")
            );
        }
    }
}
