/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a fixed sequence that depends on the seed alone.
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs of SplitMix64 for seed 1234567, as Rosetta Code lists them for checking.
    #[test]
    fn the_sequence_is_splitmix64() {
        let mut draws = Draws::new(1_234_567);
        let drawn = [draws.next(), draws.next(), draws.next()];
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
