//! Token buckets: what a shaper holds back, and what a policer drops.
//!
//! Both are those of RFC 2475 section 2.3.3, with the bucket of RFC 2697 (one rate, one burst): in any span `t` no more than
//! `burst + rate * t` passes. A shaper with a peak rate has a second bucket of one packet, as the kernel's `tbf` has it, so that
//! what has been saved does not leave at the rate of the line.

use anabranch_units::{Instant, Rate, Span};

anabranch_units::leaf! {
    /// A shaper: packets wait in the queue of the link until the bucket has their bytes.
    #[derive(Copy, Eq)]
    pub struct ShaperSetup: "shaper" {
        /// Rate at which the bucket fills.
        pub rate: Rate,
        /// Bytes that the bucket holds; it is full at the beginning.
        pub burst: u64,
        /// A second bucket, if there is one.
        pub peak: Option<PeakSetup>,
    }
}

anabranch_units::leaf! {
    /// The second bucket of a shaper: how fast what has been saved in the first may leave.
    #[derive(Copy, Eq)]
    pub struct PeakSetup: "peak" {
        /// Rate at which it fills.
        pub rate: Rate,
        /// Bytes that it holds.
        pub mtu: u64,
    }
}

anabranch_units::leaf! {
    /// A policer: packets whose bytes the bucket has not are dropped.
    #[derive(Copy, Eq)]
    pub struct PolicerSetup: "policer" {
        /// Rate at which the bucket fills.
        pub rate: Rate,
        /// Bytes that the bucket holds; it is full at the beginning.
        pub burst: u64,
    }
}

impl ShaperSetup {
    /// The longest packet that it lets through.
    #[must_use]
    pub fn longest_packet(&self) -> u64 {
        self.peak.map_or(self.burst, |peak| self.burst.min(peak.mtu))
    }
}

/// Picoseconds times bits per second in a byte: what a bucket holds is whole in parts of that size.
const PARTS_OF_A_BYTE: u128 = 8_000_000_000_000;

/// Bytes that have been saved, to the part that a picosecond brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TokenBucket {
    rate: Rate,
    size: u128,
    level: u128,
    /// When it held that.
    noted: Instant,
}

impl TokenBucket {
    /// A full one.
    pub(super) fn new(rate: Rate, burst: u64) -> Self {
        let size = u128::from(burst) * PARTS_OF_A_BYTE;
        Self { rate, size, level: size, noted: Instant::ZERO }
    }

    fn level_at(&self, now: Instant) -> u128 {
        let saved = u128::from(self.rate.as_bps()) * u128::from(now.saturating_since(self.noted).as_ps());
        self.size.min(self.level + saved)
    }

    /// When it will hold so many bytes, at `now` or later; none if it never does.
    pub(super) fn holds_at(&self, now: Instant, bytes: u32) -> Option<Instant> {
        let wanted = u128::from(bytes) * PARTS_OF_A_BYTE;
        if wanted > self.size {
            return None;
        }
        let missing = wanted.saturating_sub(self.level_at(now));
        let wait = missing.div_ceil(u128::from(self.rate.as_bps().max(1)));
        Some(now.saturating_add(Span::from_ps(u64::try_from(wait).unwrap_or(u64::MAX))))
    }

    /// Takes bytes that it holds at `now`.
    pub(super) fn take(&mut self, now: Instant, bytes: u32) {
        self.level = self.level_at(now) - u128::from(bytes) * PARTS_OF_A_BYTE;
        self.noted = self.noted.max(now);
    }

    /// Takes so many bytes if it holds them at `now`; whether it did.
    pub(super) fn takes(&mut self, now: Instant, bytes: u32) -> bool {
        let holds = self.level_at(now) >= u128::from(bytes) * PARTS_OF_A_BYTE;
        if holds {
            self.take(now, bytes);
        }
        holds
    }
}

/// The buckets of a shaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Buckets {
    long: TokenBucket,
    peak: Option<TokenBucket>,
}

impl Buckets {
    pub(super) fn new(setup: &ShaperSetup) -> Self {
        let peak = setup.peak.map(|peak| TokenBucket::new(peak.rate, peak.mtu));
        Self { long: TokenBucket::new(setup.rate, setup.burst), peak }
    }

    /// The rate at which it lets a backlog through.
    pub(super) const fn rate(&self) -> Rate {
        self.long.rate
    }

    /// When a packet may leave, at `now` or later; none for one that is longer than a bucket.
    pub(super) fn holds_at(&self, now: Instant, bytes: u32) -> Option<Instant> {
        let long = self.long.holds_at(now, bytes)?;
        let peak = self.peak.map_or(Some(now), |peak| peak.holds_at(now, bytes))?;
        Some(long.max(peak))
    }

    /// A packet leaves that may.
    pub(super) fn take(&mut self, now: Instant, bytes: u32) {
        self.long.take(now, bytes);
        if let Some(peak) = &mut self.peak {
            peak.take(now, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ps: u64) -> Instant {
        Instant::from_ps(ps)
    }

    proptest! {
        /// Packets that leave as soon as they may take no more than burst + rate t of any span t from the beginning, and the next
        /// one would take more a picosecond earlier: with a backlog both are equal.
        #[test]
        fn a_backlog_takes_all_that_the_bucket_gives(
            bps in 1_000u64..100_000_000_000,
            burst in 1_500u64..1_000_000,
            sizes in prop::collection::vec(40u32..1_501, 1..400),
        ) {
            let mut bucket = TokenBucket::new(Rate::from_bps(bps), burst);
            let (mut now, mut sent) = (Instant::ZERO, 0u128);
            for bytes in sizes {
                let leaves = bucket.holds_at(now, bytes).expect("it is shorter than the burst");
                bucket.take(leaves, bytes);
                sent += u128::from(bytes);
                let most = |ps: u64| u128::from(burst) * PARTS_OF_A_BYTE + u128::from(bps) * u128::from(ps);
                prop_assert!(sent * PARTS_OF_A_BYTE <= most(leaves.as_ps()));
                if leaves > now {
                    prop_assert!(sent * PARTS_OF_A_BYTE > most(leaves.as_ps() - 1), "it left later than it might");
                }
                now = leaves;
            }
        }

        /// Over any span of any arrivals a policer lets no more than burst + rate t through, and drops nothing that it had
        /// tokens for.
        #[test]
        fn a_policer_keeps_to_burst_and_rate(
            bps in 1_000_000u64..1_000_000_000,
            gaps in prop::collection::vec(0u64..30_000_000, 2..200),
        ) {
            let burst = 6_000;
            let mut bucket = TokenBucket::new(Rate::from_bps(bps), burst);
            let (mut now, mut passed) = (0u64, Vec::new());
            for gap in gaps {
                now += gap;
                let before = bucket;
                let passes = bucket.takes(at(now), 1_500);
                prop_assert_eq!(passes, before.holds_at(at(now), 1_500) == Some(at(now)));
                if passes {
                    passed.push(now);
                } else {
                    prop_assert_eq!(before.level_at(at(now)), bucket.level_at(at(now)));
                }
            }
            for (first, from) in passed.iter().enumerate() {
                for (last, to) in passed.iter().enumerate().skip(first) {
                    let bytes = (last - first + 1) as u128 * 1_500;
                    let most = u128::from(burst) * PARTS_OF_A_BYTE + u128::from(bps) * u128::from(to - from);
                    prop_assert!(bytes * PARTS_OF_A_BYTE <= most);
                }
            }
        }
    }

    /// 1 Mbps and 3,000 B: two packets of 1,500 B at once, and then one each 12 ms.
    #[test]
    fn what_has_been_saved_leaves_at_once_and_the_rest_at_the_rate() {
        let mut bucket = TokenBucket::new(Rate::from_bps(1_000_000), 3_000);
        let leaves: Vec<u64> = std::iter::repeat_with(|| {
            let at = bucket.holds_at(bucket.noted, 1_500).expect("it fits");
            bucket.take(at, 1_500);
            at.as_ps() / 1_000_000_000
        })
        .take(5)
        .collect();
        assert_eq!(leaves, [0, 0, 12, 24, 36]);
        assert_eq!(bucket.holds_at(at(0), 3_001), None);
        // It never holds more than the burst, however long nothing comes.
        assert_eq!(bucket.level_at(Instant::MAX), 3_000 * PARTS_OF_A_BYTE);
    }

    /// With a peak of 10 Mbps the same two packets leave 1.2 ms apart.
    #[test]
    fn a_peak_rate_spaces_what_has_been_saved() {
        let peak = PeakSetup { rate: Rate::from_bps(10_000_000), mtu: 1_500 };
        let setup = ShaperSetup { rate: Rate::from_bps(1_000_000), burst: 3_000, peak: Some(peak) };
        let mut buckets = Buckets::new(&setup);
        let mut now = Instant::ZERO;
        let mut next = || {
            now = buckets.holds_at(now, 1_500).expect("it fits");
            buckets.take(now, 1_500);
            now.as_ps() / 100_000_000
        };
        assert_eq!([next(), next(), next(), next()], [0, 12, 120, 240]);
        assert_eq!(setup.longest_packet(), 1_500);
        assert_eq!(buckets.holds_at(now, 1_501), None);
    }
}
