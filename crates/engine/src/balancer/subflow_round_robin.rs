//! `subflow-round-robin`: the stateful balancer that SEMPER is measured against (Garcia-Aviles 2017, section
//! IV, "Benchmark: a stateful solution"): the first subflow of a host is hashed as with `hash`, the next ones
//! take the paths in turn, and an entry for each subflow keeps it where it is.
//!
//! What the thesis leaves open: a host is a pair of addresses, which is all that both ends see alike. A
//! subflow whose path is gone takes the next path in its host's turn, and returns when its own path does. A
//! balancer sees no FIN; entries of subflows go when they have been idle for long enough, or stay. A host's
//! turn stays, so that its next subflow goes on where the last one was sent. Packets without ports, such as those of a
//! ping, are of no subflow: they go by the hash, and take no turn from those that are.

use super::entries::Entries;
use super::{Choices, FlowKey, Spread, State, mix};
use anabranch_units::declaration::above;
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// The first subflow of a host goes by a hash, the next ones over the paths in turn, with an entry for each
    /// (Garcia-Aviles 2017, the stateful benchmark).
    #[derive(Copy, Eq)]
    pub struct SubflowRoundRobinParameters {
        /// An entry that no packet has matched for so long is forgotten; left out: never.
        idle_timeout: Option<Span> = None, above(Span::ZERO).at_most(Span::LONGEST_INPUT);
    }
}

#[derive(Clone, Debug)]
pub struct SubflowRoundRobin {
    subflows: Entries<Seat>,
    /// The choice that a host's next subflow takes, before it is taken modulo the number of choices.
    hosts: Entries<u32>,
    /// Every path that has ever been a choice.
    paths: Vec<PathChoice>,
    /// The place in `paths` of each choice.
    choices: Vec<u32>,
    salt: u64,
}

/// Where a subflow is, as places in `paths`.
#[derive(Clone, Copy, Default, Debug)]
struct Seat {
    home: u32,
    /// Where it goes while its home is gone.
    stand_in: u32,
}

#[derive(Clone, Copy, Debug)]
struct PathChoice {
    identity: u64,
    /// [`GONE`] if it is none now.
    choice: u32,
}

const GONE: u32 = u32::MAX;

impl Spread for SubflowRoundRobin {
    type Parameters = SubflowRoundRobinParameters;
    const SYMMETRIC: bool = true;
    const KEEPS_ENTRIES: bool = true;

    fn configured(parameters: &SubflowRoundRobinParameters, choices: Choices<'_>) -> Self {
        let mut balancer = Self {
            subflows: Entries::new(parameters.idle_timeout),
            hosts: Entries::new(None),
            paths: Vec::new(),
            choices: Vec::new(),
            salt: choices.salt,
        };
        balancer.set_choices(choices.identities);
        balancer
    }

    #[inline]
    fn choose(&mut self, now: Instant, key: FlowKey) -> usize {
        if key.source.port == 0 && key.destination.port == 0 {
            return (mix(key.symmetric() ^ self.salt) % self.choices.len() as u64) as usize;
        }
        if let Some(seat) = self.subflows.touch(now, key.symmetric()) {
            for place in [seat.home, seat.stand_in] {
                let choice = self.paths[place as usize].choice;
                if choice != GONE {
                    return choice as usize;
                }
            }
            let home = seat.home;
            return self.take_turn(now, key, Some(home));
        }
        self.take_turn(now, key, None)
    }

    fn follow(&mut self, identities: &[u64]) -> bool {
        self.set_choices(identities);
        true
    }

    fn state(&self) -> State {
        State {
            entries: self.subflows.len() + self.hosts.len(),
            bytes: self.subflows.bytes() + self.hosts.bytes(),
        }
    }
}

impl SubflowRoundRobin {
    /// These are the choices from now on; known paths keep their subflows.
    fn set_choices(&mut self, identities: &[u64]) {
        self.paths.iter_mut().for_each(|path| path.choice = GONE);
        self.choices.clear();
        for (choice, &identity) in identities.iter().enumerate() {
            let place = self.paths.iter().position(|path| path.identity == identity);
            let place = place.unwrap_or_else(|| {
                self.paths.push(PathChoice { identity, choice: GONE });
                self.paths.len() - 1
            });
            self.paths[place].choice = choice as u32;
            self.choices.push(place as u32);
        }
    }

    /// Gives a subflow the next path in its host's turn, as its own or in place of its own.
    fn take_turn(&mut self, now: Instant, key: FlowKey, home: Option<u32>) -> usize {
        let count = self.choices.len() as u64;
        let turn = match self.hosts.touch(now, key.host()) {
            Some(turn) => u64::from(*turn) % count,
            None => mix(key.symmetric() ^ self.salt) % count,
        };
        self.hosts.insert(now, key.host(), turn as u32 + 1);
        let place = self.choices[turn as usize];
        let seat = Seat { home: home.unwrap_or(place), stand_in: place };
        self.subflows.insert(now, key.symmetric(), seat);
        turn as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::Balancer;
    use super::super::test_support::{balancer, balancer_of, subflow_keys};
    use crate::balancer::{FlowKey, HashParameters, LoadBalancing, SubflowRoundRobinParameters};
    use anabranch_transport::wire::Endpoint;
    use anabranch_units::{Instant, Span};
    use proptest::prelude::*;

    const FOREVER: LoadBalancing =
        LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None });

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    fn follow(balancer: &mut Balancer, paths: &[(u64, f64)]) -> bool {
        let (identities, weights): (Vec<u64>, Vec<f64>) = paths.iter().copied().unzip();
        balancer.follow(&weights, &identities)
    }

    /// A ping between two subflows leaves the second one the next path, and goes one way itself.
    #[test]
    fn a_ping_takes_no_turn() {
        let without_ports = |end: Endpoint| Endpoint { port: 0, ..end };
        for draw in 0..20 {
            let keys = subflow_keys(draw, 1, 2);
            let ping = FlowKey::new(without_ports(keys[0].source), without_ports(keys[0].destination), 7);
            let mut balancer = balancer(FOREVER, &[1.0; 3]);
            let first = balancer.choose(at(0), keys[0]);
            let path = balancer.choose(at(1), ping);
            assert_eq!(balancer.choose(at(2), keys[1]), (first + 1) % 3);
            assert_eq!(balancer.choose(at(3), ping), path);
            assert_eq!(balancer.choose(at(4), keys[0]), first);
        }
    }

    proptest! {
        /// The promise of the benchmark: the first subflow as with `hash`, the next ones one path further each,
        /// for each host apart, however their packets interleave; and no subflow ever moves.
        #[test]
        fn subflows_of_a_host_take_the_paths_in_turn(paths in 1usize..10, draw in any::<u64>(), subflows in 1usize..40) {
            let weights = vec![1.0; paths];
            let (mut stateful, mut hash) = (balancer(FOREVER, &weights), balancer(LoadBalancing::Hash(HashParameters {}), &weights));
            let hosts: Vec<Vec<_>> = subflow_keys(draw, 3, subflows).chunks(subflows).map(<[_]>::to_vec).collect();
            for number in 0..subflows {
                for host in &hosts {
                    let first = hash.choose(Instant::ZERO, host[0]);
                    for (place, &key) in host[..=number].iter().enumerate() {
                        prop_assert_eq!(stateful.choose(Instant::ZERO, key), (first + place) % paths);
                    }
                }
            }
            prop_assert_eq!(stateful.state().entries, 3 * subflows + 3);
        }

        /// A path that goes moves its own subflows and no other, and they come back with it. Identities decide,
        /// and not the order in which a plan lists the paths.
        #[test]
        fn a_path_moves_only_its_own_subflows(
            paths in 2usize..10,
            draw in any::<u64>(),
            gone in any::<prop::sample::Index>(),
            turn in any::<prop::sample::Index>(),
        ) {
            let gone = gone.index(paths);
            let all: Vec<(u64, f64)> = (0..paths as u64).map(|id| (id + 100, 1.0)).collect();
            let mut left = all.clone();
            left.remove(gone);
            left.rotate_left(turn.index(paths - 1));
            let mut back = all.clone();
            back.rotate_left(turn.index(paths));
            let keys = subflow_keys(draw, 2, 32);
            let mut balancer = balancer_of(FOREVER, &all);
            let path_of = |choices: &[(u64, f64)], choice: usize| choices[choice].0;
            let before: Vec<u64> =
                keys.iter().map(|&key| path_of(&all, balancer.choose(at(0), key))).collect();
            prop_assert!(follow(&mut balancer, &left));
            let mut turned: Vec<u64> = Vec::new();
            for (key, &old) in keys.iter().zip(&before) {
                let new = path_of(&left, balancer.choose(at(1), *key));
                prop_assert_eq!(new != old, old == all[gone].0);
                if old != new && turned.len() < 32 / paths {
                    turned.push(new);
                }
            }
            // Those of a host that must move are spread over what is left.
            let distinct: std::collections::BTreeSet<u64> = turned.iter().copied().collect();
            prop_assert_eq!(distinct.len(), turned.len().min(left.len()));
            prop_assert!(follow(&mut balancer, &back));
            for (key, &old) in keys.iter().zip(&before) {
                prop_assert_eq!(path_of(&back, balancer.choose(at(2), *key)), old);
            }
        }
    }

    /// After the timeout a subflow is a new one, and its host's turn has gone on.
    #[test]
    fn an_idle_entry_is_forgotten() {
        let spread = LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters {
            idle_timeout: Some(Span::from_ms(100)),
        });
        let mut balancer = balancer(spread, &[1.0; 8]);
        let keys = subflow_keys(7, 1, 3);
        let first = balancer.choose(at(0), keys[0]);
        assert_eq!(balancer.choose(at(0), keys[1]), (first + 1) % 8);
        assert_eq!(balancer.choose(at(90), keys[2]), (first + 2) % 8);
        assert_eq!(balancer.choose(at(101), keys[0]), (first + 3) % 8);
        assert_eq!(balancer.choose(at(190), keys[2]), (first + 2) % 8);
        assert_eq!(balancer.choose(at(1_000), keys[1]), (first + 4) % 8);
    }
}
