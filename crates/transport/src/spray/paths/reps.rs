//! `reps`: recycled entropies (arXiv 2407.21625): a value that came back unmarked is used once more, and others are drawn.

use super::{ConfiguredSelector, Feedback, PathSelector, Start, uniform};
use crate::congestion::Draws;
use anabranch_units::declaration::{above, at_least};
use anabranch_units::{Instant, Span};

anabranch_units::parameters! {
    /// Entropy values that came back unmarked are used again, and others are drawn (REPS).
    #[derive(Copy)]
    pub struct RepsParameters {
        /// Values to draw from.
        values: u16 = 64, at_least(1);
        /// Values that are kept.
        buffer: u8 = 8, at_least(1);
        /// How long no value is drawn after a loss, but those that were kept are used in turn.
        freeze: Span = Span::from_ms(10), above(Span::ZERO).at_most(Span::LONGEST_INPUT);
        /// Packets whose values are drawn, whatever is kept, after that time.
        explore: u16 = 16, at_least(0);
    }
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    value: u16,
    is_fresh: bool,
}

/// The ring of values.
#[derive(Debug)]
pub struct Reps {
    parameters: RepsParameters,
    ring: Vec<Kept>,
    /// Where the next value goes, and which of the ring is used next while frozen.
    head: usize,
    turn: usize,
    fresh: usize,
    frozen_until: Option<Instant>,
    explores: u16,
}

impl ConfiguredSelector for Reps {
    type Parameters = RepsParameters;

    fn configured(parameters: &RepsParameters, _: Start, _: &mut Draws) -> Self {
        Self {
            parameters: *parameters,
            ring: Vec::new(),
            head: 0,
            turn: 0,
            fresh: 0,
            frozen_until: None,
            explores: 0,
        }
    }

    fn values(parameters: &RepsParameters) -> Option<u16> {
        Some(parameters.values)
    }
}

impl Reps {
    /// The oldest fresh value, which is fresh no more.
    fn oldest_fresh(&mut self) -> Option<u16> {
        if self.fresh == 0 {
            return None;
        }
        let oldest = (self.head + self.ring.len() - self.fresh) % self.ring.len();
        self.fresh -= 1;
        let kept = self.ring.get_mut(oldest)?;
        kept.is_fresh = false;
        Some(kept.value)
    }

    fn thaw(&mut self) {
        self.frozen_until = None;
        self.ring.clear();
        (self.head, self.turn, self.fresh) = (0, 0, 0);
        self.explores = self.parameters.explore;
    }
}

impl PathSelector for Reps {
    fn next(&mut self, now: Instant, draws: &mut Draws) -> u16 {
        match self.frozen_until {
            Some(until) if now >= until => self.thaw(),
            Some(_) if !self.ring.is_empty() => {
                self.turn %= self.ring.len();
                let value = self.ring[self.turn].value;
                self.turn += 1;
                return value;
            }
            _ => {}
        }
        if self.explores > 0 {
            self.explores -= 1;
            return uniform(self.parameters.values, draws);
        }
        self.oldest_fresh().unwrap_or_else(|| uniform(self.parameters.values, draws))
    }

    fn on_feedback(&mut self, now: Instant, value: u16, feedback: Feedback) {
        match feedback {
            // All ways lead over the last link: cut off there, a packet came unmarked as far as its value decides.
            Feedback::Clean | Feedback::TrimmedAtLastHop => {
                let kept = Kept { value, is_fresh: true };
                if self.ring.len() < usize::from(self.parameters.buffer) {
                    // The head is behind the last one until the ring is full.
                    self.ring.push(kept);
                } else {
                    self.ring[self.head] = kept;
                }
                self.head = (self.head + 1) % usize::from(self.parameters.buffer);
                self.fresh = (self.fresh + 1).min(self.ring.len());
            }
            Feedback::Lost if self.frozen_until.is_none() => {
                self.frozen_until = Some(now.saturating_add(self.parameters.freeze));
            }
            _ => {}
        }
    }
}
