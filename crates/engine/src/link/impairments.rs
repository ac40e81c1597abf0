//! What a link does to single packets besides losing them: it lets some overtake others, duplicates some, and damages some.
//!
//! The parameters are those of the kernel's `netem` (tc-netem(8)), and so is its law of correlation, with a mean that is not
//! the probability where there is one ([`Chance`]).

use crate::random::{Stream, Streams};
use anabranch_units::Span;
use anabranch_units::declaration::{OutOfRange, at_least, check};

anabranch_units::leaf! {
    /// Packets that overtake others.
    #[derive(Copy)]
    pub struct ReorderSetup: "reorder" {
        /// Probability for each packet that may be chosen.
        pub probability: f64,
        /// How much each draw has of the one before.
        pub correlation: f64,
        /// The least distance from one chosen packet to the next, in packets.
        pub gap: u32,
        /// How much of the link's delay a chosen packet is spared; `None` for all of it.
        pub spared: Option<Span>,
    }
}

anabranch_units::leaf! {
    /// A probability, and how much each draw has of the one before.
    #[derive(Copy)]
    pub struct ChanceSetup: "chance" {
        /// Probability for each packet.
        pub probability: f64,
        /// How much each draw has of the one before.
        pub correlation: f64,
    }
}

fn check_chance(probability: f64, correlation: f64) -> Result<(), OutOfRange> {
    check("probability", &probability, &at_least(0.0).at_most(1.0))?;
    check("correlation", &correlation, &at_least(0.0).at_most(1.0))
}

impl ChanceSetup {
    /// Checks the values against their bounds.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn check(&self) -> Result<(), OutOfRange> {
        check_chance(self.probability, self.correlation)
    }
}

impl ReorderSetup {
    /// Checks the values against their bounds, on a link of this delay.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn check(&self, delay: Span) -> Result<(), OutOfRange> {
        check_chance(self.probability, self.correlation)?;
        check("gap", &self.gap, &at_least(1))?;
        if self.spared.unwrap_or(delay) == Span::ZERO {
            return Err(OutOfRange::new("spared", "is zero: no packet would overtake another".to_owned()));
        }
        if self.spared.is_some_and(|spared| spared > delay) {
            return Err(OutOfRange::new("spared", "is more than the delay of the link".to_owned()));
        }
        Ok(())
    }
}

/// A draw for each packet, alike to the one before: `x' = (1 - c) u + c x` with a uniform `u`, and the packet is chosen if
/// `x' < p`. It is netem's law. With a correlation `c` the draws keep to their mean of 1/2 more than `u` does, so that a
/// probability below 1/2 chooses fewer packets than it says: of 25 % with a correlation of 50 %, 5/72 are left.
#[derive(Clone, PartialEq, Debug)]
struct Chance {
    probability: f64,
    correlation: f64,
    latest: f64,
    stream: Stream,
}

impl Chance {
    fn new(ChanceSetup { probability, correlation }: ChanceSetup, mut stream: Stream) -> Self {
        let latest = stream.uniform();
        Self { probability, correlation, latest, stream }
    }

    /// Whether the next packet is chosen. Each takes one draw; only those that may be chosen leave a trace in the next ones.
    fn chooses(&mut self, may: bool) -> bool {
        let draw = self.stream.uniform();
        if may {
            self.latest = (1.0 - self.correlation) * draw + self.correlation * self.latest;
        }
        may && self.latest < self.probability
    }
}

#[derive(Clone, PartialEq, Debug)]
struct Reorder {
    chance: Chance,
    gap: u32,
    /// Packets since the last chosen one.
    since: u32,
    spared: Option<Span>,
}

/// What a link does to single packets, from its setup. All of it may be left out.
#[derive(Clone, Copy, Debug)]
pub struct ImpairmentSetup<'l> {
    /// Packets that overtake others.
    pub reorder: Option<&'l ReorderSetup>,
    /// Packets that arrive twice.
    pub duplicate: Option<&'l ChanceSetup>,
    /// Packets that are damaged.
    pub corrupt: Option<&'l ChanceSetup>,
}

/// The same at work, with its counts.
#[derive(Clone, PartialEq, Debug)]
pub struct Impairments {
    reorder: Option<Reorder>,
    duplicate: Option<Chance>,
    corrupt: Option<Chance>,
}

impl Impairments {
    /// Those of a link of this name, each with its own draws; none where nothing is set.
    #[must_use]
    pub fn new(setup: ImpairmentSetup<'_>, streams: Streams, link: &str) -> Option<Self> {
        let ImpairmentSetup { reorder, duplicate, corrupt } = setup;
        let chance = |setup: &ChanceSetup, purpose| Chance::new(*setup, streams.stream(link, purpose));
        let reorder = reorder.map(|setup| {
            let ReorderSetup { probability, correlation, gap, spared } = *setup;
            Reorder {
                chance: chance(&ChanceSetup { probability, correlation }, "reorder"),
                gap,
                since: 0,
                spared,
            }
        });
        let duplicate = duplicate.map(|setup| chance(setup, "duplicate"));
        let corrupt = corrupt.map(|setup| chance(setup, "corrupt"));
        let any = reorder.is_some() || duplicate.is_some() || corrupt.is_some();
        any.then_some(Self { reorder, duplicate, corrupt })
    }

    /// Whether packets may overtake others.
    pub(super) const fn reorders(&self) -> bool {
        self.reorder.is_some()
    }

    /// How much of a delay the next packet is spared, if it is chosen to overtake others. As in netem, all but each `gap`-th
    /// packet since the last chosen one go the usual way.
    pub(super) fn spares(&mut self, delay: Span) -> Option<Span> {
        let reorder = self.reorder.as_mut()?;
        let may = reorder.since + 1 >= reorder.gap;
        if reorder.chance.chooses(may) {
            reorder.since = 0;
            return Some(reorder.spared.unwrap_or(delay).min(delay));
        }
        reorder.since = reorder.since.saturating_add(1);
        None
    }

    /// Whether the next packet arrives twice.
    pub(super) fn duplicates(&mut self) -> bool {
        self.duplicate.as_mut().is_some_and(|chance| chance.chooses(true))
    }

    /// Whether the next packet is damaged.
    pub(super) fn corrupts(&mut self) -> bool {
        self.corrupt.as_mut().is_some_and(|chance| chance.chooses(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 1_000_000;

    fn chosen(probability: f64, correlation: f64) -> Vec<bool> {
        let stream = Streams::new(1, 0).stream("a->b", "duplicate");
        let mut chance = Chance::new(ChanceSetup { probability, correlation }, stream);
        (0..PACKETS).map(|_| chance.chooses(true)).collect()
    }

    fn share(chosen: &[bool]) -> f64 {
        chosen.iter().filter(|chosen| **chosen).count() as f64 / chosen.len() as f64
    }

    #[test]
    fn without_a_correlation_the_share_is_the_probability() {
        for probability in [1e-4, 0.01, 0.5] {
            let error = (probability * (1.0 - probability) / PACKETS as f64).sqrt();
            let share = share(&chosen(probability, 0.0));
            assert!((share - probability).abs() < 4.0 * error, "{share}, not {probability}");
        }
        assert_eq!((share(&chosen(0.0, 0.0)), share(&chosen(1.0, 0.0))), (0.0, 1.0));
    }

    /// With a correlation of 1/2 the draw is the sum of 2^-k u_k, whose distribution is the function of Fabius (1966): 1/2 at
    /// 1/2, 5/72 at 1/4 and 1/288 at 1/8. Neighbours are alike, so that the mean of n draws deviates by less than
    /// sqrt(3 p / n): (1 + c) / (1 - c) = 3.
    #[test]
    fn a_correlation_of_one_half_has_the_distribution_of_fabius() {
        for (probability, expected) in [(0.5, 0.5), (0.25, 5.0 / 72.0), (0.125, 1.0 / 288.0)] {
            let share = share(&chosen(probability, 0.5));
            let error = (3.0 * expected / PACKETS as f64).sqrt();
            assert!((share - expected).abs() < 4.0 * error, "{share}, not {expected}");
        }
    }

    /// With a probability of 1 and a gap of 5 each fifth packet is chosen, and no other.
    #[test]
    fn a_gap_is_kept() {
        let setup = ReorderSetup { probability: 1.0, correlation: 0.0, gap: 5, spared: None };
        let setup = ImpairmentSetup { reorder: Some(&setup), duplicate: None, corrupt: None };
        let mut impairments = Impairments::new(setup, Streams::new(1, 0), "a->b").expect("one is set");
        let delay = Span::from_ms(10);
        let chosen: Vec<usize> = (1..=20).filter(|_| impairments.spares(delay) == Some(delay)).collect();
        assert_eq!(chosen, [5, 10, 15, 20]);
    }

    /// Each has draws of its own: another one beside it changes nothing.
    #[test]
    fn one_kind_leaves_the_draws_of_another_unchanged() {
        let (half, reorder) = (
            ChanceSetup { probability: 0.5, correlation: 0.0 },
            ReorderSetup { probability: 0.5, correlation: 0.0, gap: 1, spared: None },
        );
        let duplicated = |reorder, corrupt| {
            let setup = ImpairmentSetup { reorder, duplicate: Some(&half), corrupt };
            let mut all = Impairments::new(setup, Streams::new(1, 0), "a->b").expect("one is set");
            (0..100)
                .map(|_| (all.spares(Span::from_ms(1)), all.corrupts(), all.duplicates()).2)
                .collect::<Vec<_>>()
        };
        assert_eq!(duplicated(None, None), duplicated(Some(&reorder), Some(&half)));
    }
}
