//! Random draws before a run: what shapes the network and the traffic.

use crate::variate::{Drawn, Unit};
use anabranch_engine::random::Streams;
use anabranch_engine::variate::{Sampler, Variate};
use std::fmt::Write;

/// Bytes or picoseconds (13 days): a heavy tail may reach beyond any run, and must fit 64 bits there.
pub const LARGEST_DRAW: f64 = (1u64 << 60) as f64;

/// Draws by name: each stream hangs on the seed, the replication, a stable name and a purpose.
#[derive(Clone, Copy, Debug)]
pub struct Draws(Streams);

impl Draws {
    /// Those of a replication under a seed.
    #[must_use]
    pub const fn new(seed: u64, replication: u64) -> Self {
        Self(Streams::new(seed, replication))
    }

    /// The first draws of a stream, in base units.
    pub(super) fn many(
        &self,
        variate: &Variate,
        name: &str,
        purpose: &str,
    ) -> impl Iterator<Item = f64> + use<> {
        let sampler = sampler(variate);
        let mut stream = self.0.stream(name, purpose);
        std::iter::repeat_with(move || sampler.sample(&mut stream))
    }

    /// Numbers between 0 and 1, from the beginning of a stream.
    pub(super) fn uniforms(&self, name: &str, purpose: &str) -> impl Iterator<Item = f64> + use<> {
        self.many(&Variate::Uniform { low: 0.0, high: 1.0 }, name, purpose)
    }

    /// A fixed quantity itself, or the one draw of a stream, to the nearest base unit.
    pub(super) fn one<Q: Unit>(&self, value: &Drawn<Q>, name: &str, purpose: &str) -> u64 {
        match value.fixed() {
            Some(fixed) => fixed.base_units(),
            None => rounded(self.many(&value.variate(), name, purpose).next().unwrap_or(0.0)),
        }
    }

    /// What [`Draws::one`] gives for each of the flows of an entry, by their numbers.
    pub(super) fn each<Q: Unit>(
        &self,
        value: &Drawn<Q>,
        entry: &str,
        purpose: &str,
        numbers: &[u32],
    ) -> Vec<u64> {
        if let Some(fixed) = value.fixed() {
            return vec![fixed.base_units(); numbers.len()];
        }
        let sampler = sampler(&value.variate());
        // One text for all names: there may be a million.
        let mut name = format!("{entry}.");
        let stem = name.len();
        let draw = |number: &u32| {
            name.truncate(stem);
            write!(name, "{number}").expect("a text takes all that is written");
            rounded(sampler.sample(&mut self.0.stream(&name, purpose)))
        };
        numbers.iter().map(draw).collect()
    }
}

/// A draw to the nearest base unit; halves go to the even number.
pub(super) fn rounded(drawn: f64) -> u64 {
    drawn.min(LARGEST_DRAW).round_ties_even() as u64
}

/// The quotient of two whole numbers, to the nearest double, as Python divides them.
pub(crate) fn quotient(dividend: u128, divisor: u128) -> f64 {
    // As many bits as there are, and whether any is left: more than twice what a double keeps.
    let shift = dividend.leading_zeros().min(127);
    let (bits, rest) = ((dividend << shift) / divisor, (dividend << shift) % divisor);
    (bits | u128::from(rest != 0)) as f64 * 2f64.powi(-(shift as i32))
}

fn sampler(variate: &Variate) -> Sampler {
    Sampler::new(variate).expect("a variate is checked when it is read")
}

#[cfg(test)]
mod tests {
    use super::quotient;

    /// What CPython 3.11 gives for the quotients of these whole numbers.
    #[test]
    fn quotients_are_rounded_once() {
        assert_eq!(quotient(1, 3), 1.0 / 3.0);
        assert_eq!(quotient(0, 7), 0.0);
        assert_eq!(quotient(9_007_199_254_740_993, 1), 9_007_199_254_740_992.0);
        assert_eq!(quotient(27_021_597_764_222_979, 3), 9_007_199_254_740_992.0);
        assert_eq!(quotient(123_456_789_012_345_678_901, 8_000_000_000_000), 15_432_098.626_543_209);
    }
}
