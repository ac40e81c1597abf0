//! Path managers: which subflows a connection has, by the interfaces of its ends.
//!
//! The registry is [`PathManagerConfig`]: a name, and the type that has its parameters and its code.

mod default;
mod fullmesh;
mod ndiffports;

pub use default::DefaultParameters;
pub use fullmesh::FullmeshParameters;
pub use ndiffports::NdiffportsParameters;

/// Interfaces of the two ends, and between which of them there is a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interfaces {
    /// How many the end that opens has.
    pub(super) local: u8,
    /// How many the end that listens has.
    pub(super) remote: u8,
    /// The pairs that a path joins, in the order in which a full mesh opens their subflows.
    pub(super) joined: Vec<SubflowAddresses>,
}

impl Interfaces {
    /// So many at each end, at least one, each joined with each.
    #[must_use]
    pub fn all_joined(local: u8, remote: u8) -> Self {
        let (local, remote) = (local.max(1), remote.max(1));
        let all =
            (0..local).flat_map(|local| (0..remote).map(move |remote| SubflowAddresses { local, remote }));
        Self::joined_by(local, remote, all.collect())
    }

    /// So many at each end, at least one, of which paths join these pairs.
    #[must_use]
    pub fn joined_by(local: u8, remote: u8, pairs: Vec<SubflowAddresses>) -> Self {
        Self { local: local.max(1), remote: remote.max(1), joined: in_turn(pairs) }
    }

    /// Whether paths join more than one pair.
    #[must_use]
    pub fn have_several_joined(&self) -> bool {
        self.joined.len() > 1
    }
}

/// Pairs in the order in which Linux joins them: each interface of the end that opens reaches one of the other end
/// before any of them reaches a second.
fn in_turn(mut pairs: Vec<SubflowAddresses>) -> Vec<SubflowAddresses> {
    pairs.sort_unstable_by_key(|pair| (pair.local, pair.remote));
    pairs.dedup();
    let place_of = |index: usize| {
        let before = pairs[..index].iter().rev();
        before.take_while(|other| other.local == pairs[index].local).count()
    };
    let mut placed: Vec<_> = (0..pairs.len()).map(|index| (place_of(index), pairs[index])).collect();
    placed.sort_by_key(|&(place, _)| place);
    placed.into_iter().map(|(_, pair)| pair).collect()
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
    /// The subflows of a connection, the first one first.
    fn subflows(&self, interfaces: &Interfaces) -> Vec<SubflowAddresses>;

    /// Whether the subflows that it opens hang on the interfaces of the ends.
    fn looks_at_interfaces(&self) -> bool {
        false
    }

    /// How far it follows addresses that come and go; none if it does not look at them.
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
        pub(super) fn subflows(config: &PathManagerConfig, interfaces: &Interfaces) -> Vec<SubflowAddresses> {
            let mut all = match config {
                $( PathManagerConfig::$variant(manager) => manager.subflows(interfaces), )+
            };
            all.truncate(MOST_SUBFLOWS);
            if all.is_empty() {
                all.push(SubflowAddresses::default());
            }
            all
        }

        impl PathManagerConfig {
            /// How far it follows addresses; none if it does not look at them.
            pub(super) fn limits(&self) -> Option<Limits> {
                match self {
                    $( Self::$variant(manager) => manager.limits(), )+
                }
            }

            /// Whether the subflows that it opens hang on the interfaces of the ends.
            #[must_use]
            pub fn looks_at_interfaces(&self) -> bool {
                match self {
                    $( Self::$variant(manager) => manager.looks_at_interfaces(), )+
                }
            }

            /// Whether it follows addresses of the hosts that come and go.
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
        let all = subflows(config, &Interfaces::all_joined(local, remote));
        assert_eq!(all[0], SubflowAddresses::default(), "the first subflow joins the first interfaces");
        assert!(all.iter().all(|subflow| subflow.local < local && subflow.remote < remote));
        all.len()
    }

    #[test]
    fn each_manager_opens_what_its_name_says() {
        assert_eq!(count(&PathManagerConfig::Default(Default::default()), 3, 2), 1);
        for subflows in [1, 2, 32, 255] {
            let ports = NdiffportsParameters { subflows, ..NdiffportsParameters::default() };
            let manager = PathManagerConfig::Ndiffports(ports);
            assert_eq!((manager.check(), count(&manager, 3, 2)), (Ok(()), usize::from(subflows)));
        }
        assert_eq!(count(&PathManagerConfig::Fullmesh(Default::default()), 1, 1), 1);
        assert_eq!(count(&PathManagerConfig::Fullmesh(Default::default()), 3, 2), 6);
        assert_eq!(count(&PathManagerConfig::Fullmesh(Default::default()), 16, 16), 255);
        let all = Interfaces::all_joined(3, 2);
        assert_eq!(mesh(255, &all), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]);
    }

    fn mesh(limit: u16, interfaces: &Interfaces) -> Vec<(u8, u8)> {
        let mesh = FullmeshParameters { limit, ..FullmeshParameters::default() };
        let all = subflows(&PathManagerConfig::Fullmesh(mesh), interfaces);
        all.iter().map(|subflow| (subflow.local, subflow.remote)).collect()
    }

    /// What no path joins takes no place of the limit, and each local interface has its subflow before one has a second;
    /// where no path joins anything, the first subflow waits for one.
    #[test]
    fn a_full_mesh_opens_what_a_path_joins() {
        let joined = |pairs: &[(u8, u8)]| {
            let pairs = pairs.iter().map(|&(local, remote)| SubflowAddresses { local, remote });
            Interfaces::joined_by(4, 4, pairs.collect())
        };
        let disjoint = joined(&[(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!(mesh(3, &disjoint), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(mesh(255, &disjoint).len(), 4);
        let uneven = joined(&[(2, 3), (0, 2), (0, 1), (0, 0), (2, 3), (1, 1)]);
        assert_eq!(mesh(3, &uneven), [(0, 0), (1, 1), (2, 3)]);
        assert_eq!(mesh(255, &uneven), [(0, 0), (1, 1), (2, 3), (0, 1), (0, 2)]);
        assert_eq!(mesh(3, &joined(&[])), [(0, 0)]);
    }

    /// The default of the presets: every pair of interfaces that a path joins; two ports where there is one.
    #[test]
    fn ports_give_way_to_several_pairs_of_interfaces() {
        let ports = NdiffportsParameters { by_interfaces: true, ..NdiffportsParameters::default() };
        let opened = |pairs: &[(u8, u8)]| {
            let pairs = pairs.iter().map(|&(local, remote)| SubflowAddresses { local, remote });
            let interfaces = Interfaces::joined_by(4, 4, pairs.collect());
            let all = subflows(&PathManagerConfig::Ndiffports(ports.clone()), &interfaces);
            all.iter().map(|subflow| (subflow.local, subflow.remote)).collect::<Vec<_>>()
        };
        assert_eq!(opened(&[(0, 0), (1, 1), (2, 2)]), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(opened(&[(0, 0)]), [(0, 0), (0, 0)]);
        assert_eq!(opened(&[]), [(0, 0), (0, 0)]);
    }

    #[test]
    fn no_subflow_and_more_than_255_are_refused() {
        for subflows in [0, 256, 1000] {
            let ports = NdiffportsParameters { subflows, ..NdiffportsParameters::default() };
            let message = PathManagerConfig::Ndiffports(ports).check().unwrap_err();
            assert_eq!(
                message.to_string(),
                format!("subflows is {subflows}; it must be at least 1 and at most 255")
            );
        }
    }
}
