//! Random numbers in named streams.
//!
//! A stream belongs to (seed, replication, component, purpose) and to nothing else, so a new host or
//! loss on another link changes no draw elsewhere. The generator (ChaCha8) and the hash that keys it
//! (SHA-256) are frozen: the same names give the same numbers in every version.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

/// First field of every key; a new tag would be another family of streams.
const TAG: &[u8] = b"anabranch stream 1";

/// All streams of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streams {
    seed: u64,
    replication: u64,
}

/// A stream of random numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream(ChaCha8Rng);

/// A probability as an integer, in units of 2^-63: exact at 0 and 1, and no float in a draw.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChanceThreshold(u64);

impl Streams {
    /// The streams of replication `replication` under `seed`.
    #[must_use]
    pub const fn new(seed: u64, replication: u64) -> Self {
        Self { seed, replication }
    }

    /// The stream of a component, by its stable name, for one purpose, from its beginning.
    #[must_use]
    pub fn stream(&self, component_name: &str, purpose: &str) -> Stream {
        Stream(ChaCha8Rng::from_seed(self.key(component_name, purpose)))
    }

    /// SHA-256 of the tag, seed, replication, component and purpose, each behind its length in bytes:
    /// with lengths, no two lists of fields give the same text. Numbers are little-endian, 64 bits.
    fn key(&self, component_name: &str, purpose: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        let (seed, replication) = (self.seed.to_le_bytes(), self.replication.to_le_bytes());
        for field in [TAG, &seed, &replication, component_name.as_bytes(), purpose.as_bytes()] {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field);
        }
        hash.finalize().into()
    }
}

impl ChanceThreshold {
    /// The multiple of 2^-63 nearest to `probability`; below 0 and NaN count as 0, above 1 as 1.
    #[must_use]
    pub fn new(probability: f64) -> Self {
        // 2^63 is a power of two: the product is exact, and `as` saturates.
        Self((probability.min(1.0) * (1u64 << 63) as f64).round() as u64)
    }
}

impl Stream {
    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A multiple of 2^-53, uniform in [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number below `n`, each equally likely (Lemire 2019, "Fast random integer generation in
    /// an interval", algorithm 5). Draws again with a probability below n / 2^64. Panics if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "no number is below zero");
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            // 2^64 mod n products share the low end; without them each value has as many.
            let excess = n.wrapping_neg() % n;
            while (product as u64) < excess {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// True with the probability of `threshold`. Takes one draw, whatever the probability.
    #[inline]
    pub fn chance(&mut self, threshold: ChanceThreshold) -> bool {
        (self.next_u64() >> 1) < threshold.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// FIPS 180-2 appendix B.1: SHA-256 of "abc".
    #[test]
    fn the_hash_is_sha_256() {
        let digest: [u8; 32] = Sha256::digest(b"abc").into();
        assert_eq!(digest[..8], [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]);
        assert_eq!(digest[24..], [0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad]);
    }

    /// draft-strombergson-chacha-test-vectors-01, TC1 (all-zero key and IV), 256 bits, 8 rounds:
    /// keystream 3e00ef2f895f40d6 7f5bb8e81f09a5a1 2c840ec3ce9a7f3b 181be188ef711a1e ...
    #[test]
    fn the_generator_is_chacha8() {
        let mut stream = Stream(ChaCha8Rng::from_seed([0; 32]));
        let keystream: Vec<u64> = (0..4).map(|_| stream.next_u64().swap_bytes()).collect();
        assert_eq!(
            keystream,
            [0x3e00_ef2f_895f_40d6, 0x7f5b_b8e8_1f09_a5a1, 0x2c84_0ec3_ce9a_7f3b, 0x181b_e188_ef71_1a1e]
        );
    }

    /// Pins the way from names to numbers. The values come from Python's hashlib and a ChaCha8 written
    /// from the ChaCha paper, not from this code; they must never change.
    #[test]
    fn a_named_stream_is_frozen() {
        let mut stream = Streams::new(1, 0).stream("Denver->Kansas City", "loss");
        let first: Vec<u64> = (0..4).map(|_| stream.next_u64()).collect();
        assert_eq!(
            first,
            [0x168e_9811_fa8a_f065, 0xbc9d_b520_a672_efde, 0xc80b_095d_c463_6eaf, 0x51e6_74f2_e0df_9bd4]
        );
        // The ninth comes from the second block.
        assert_eq!(stream.clone().nth_u64(4), 0x96c2_de74_ae82_3a0d);
    }

    impl Stream {
        fn nth_u64(&mut self, skip: usize) -> u64 {
            for _ in 0..skip {
                let _ = self.next_u64();
            }
            self.next_u64()
        }
    }

    #[test]
    fn every_part_of_the_name_counts() {
        let streams = Streams::new(1, 0);
        let first = |streams: Streams, component, purpose| streams.stream(component, purpose).next_u64();
        let mut draws = vec![
            first(streams, "a", "loss"),
            first(streams, "b", "loss"),
            first(streams, "a", "jitter"),
            // The same characters, cut elsewhere.
            first(streams, "al", "oss"),
            first(streams, "", "aloss"),
            first(Streams::new(2, 0), "a", "loss"),
            first(Streams::new(1, 1), "a", "loss"),
            first(Streams::new(0, 1), "a", "loss"),
        ];
        let all = draws.len();
        draws.sort_unstable();
        draws.dedup();
        assert_eq!(draws.len(), all);
    }

    #[test]
    fn another_stream_changes_nothing() {
        let streams = Streams::new(7, 3);
        let mut alone = streams.stream("a", "loss");
        let expected: Vec<u64> = (0..100).map(|_| alone.next_u64()).collect();
        let (mut first, mut other) = (streams.stream("a", "loss"), streams.stream("b", "loss"));
        let mixed: Vec<u64> = (0..100).map(|_| (other.next_u64(), first.next_u64()).1).collect();
        assert_eq!(mixed, expected);
    }

    #[test]
    fn thresholds_are_exact_at_the_ends() {
        assert_eq!(ChanceThreshold::new(1.0), ChanceThreshold(1 << 63));
        assert_eq!(ChanceThreshold::new(0.25), ChanceThreshold(1 << 61));
        assert_eq!(ChanceThreshold::new(7.0), ChanceThreshold::new(1.0));
        assert_eq!(ChanceThreshold::new(-1.0), ChanceThreshold(0));
        assert_eq!(ChanceThreshold::new(0.0), ChanceThreshold(0));
        let mut stream = Streams::new(1, 0).stream("x", "chance");
        assert!((0..1000).all(|_| stream.chance(ChanceThreshold::new(1.0))));
        assert!((0..1000).all(|_| !stream.chance(ChanceThreshold::new(0.0))));
    }

    /// Pearson's chi-square over 10 cells, 9 degrees of freedom: 27.9 is exceeded once in 1000.
    #[test]
    fn draws_are_uniform() {
        let mut stream = Streams::new(1, 0).stream("x", "uniform");
        let draws = 100_000u32;
        let mut cells = [[0u32; 10]; 2];
        for _ in 0..draws {
            cells[0][(stream.uniform() * 10.0) as usize] += 1;
            cells[1][stream.below(10) as usize] += 1;
        }
        let expected = f64::from(draws) / 10.0;
        for counts in cells {
            let chi_square: f64 = counts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
            assert!(chi_square < 27.9, "{counts:?}");
        }
    }

    /// 3 x 2^62: without the second draw, one value in three would come up twice as often.
    #[test]
    fn a_range_that_does_not_divide_the_bits_is_unbiased() {
        let mut stream = Streams::new(1, 0).stream("x", "below");
        let third = 1u64 << 62;
        let mut cells = [0u32; 3];
        for _ in 0..30_000 {
            cells[(stream.below(3 * third) / third) as usize] += 1;
        }
        // Standard deviation of a cell: sqrt(30000 x 1/3 x 2/3) = 82.
        assert!(cells.iter().all(|n| n.abs_diff(10_000) < 4 * 82), "{cells:?}");
    }

    proptest! {
        #[test]
        fn draws_stay_in_range(seed in any::<u64>(), n in 1..=u64::MAX) {
            let mut stream = Streams::new(seed, 0).stream("x", "range");
            for _ in 0..20 {
                prop_assert!(stream.below(n) < n);
                let uniform = stream.uniform();
                prop_assert!((0.0..1.0).contains(&uniform));
            }
        }
    }
}
