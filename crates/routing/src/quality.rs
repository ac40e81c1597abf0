//! What metrics look at: the delay, loss and capacity of a link and of a path.

use anabranch_network::Link;
use anabranch_units::{Rate, Span};

/// A link that lets fewer packets through than this delivers nothing: at 100 Gbps it would be a packet a day.
const LEAST_DELIVERY: f64 = 1e-12;

/// What the metrics of paths look at in a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkQuality {
    pub(crate) delay: Span,
    pub(crate) loss: f64,
    pub(crate) capacity: Rate,
}

impl LinkQuality {
    /// A link of this one-way delay that loses a packet with this probability, and whose capacity bounds
    /// nothing.
    ///
    /// # Panics
    /// If `loss` is not a number from 0 to 1.
    #[must_use]
    pub fn new(delay: Span, loss: f64) -> Self {
        assert!((0.0..=1.0).contains(&loss), "a link's loss of {loss} is no probability");
        Self { delay, loss, capacity: UNBOUNDED }
    }

    /// The same with a capacity.
    #[must_use]
    pub const fn with_capacity(self, capacity: Rate) -> Self {
        Self { capacity, ..self }
    }

    /// That of a link of a network.
    #[must_use]
    pub fn of(link: &Link) -> Self {
        Self::new(link.delay, link.loss).with_capacity(link.capacity)
    }

    /// One-way delay.
    #[must_use]
    pub const fn delay(self) -> Span {
        self.delay
    }

    /// Probability that a packet is lost, 0..=1.
    #[must_use]
    pub const fn loss(self) -> f64 {
        self.loss
    }

    /// Probability that a packet arrives; 0 for a link that as good as never delivers.
    pub(crate) fn delivery(self) -> f64 {
        let delivery = 1.0 - self.loss;
        if delivery < LEAST_DELIVERY { 0.0 } else { delivery }
    }
}

/// The capacity of a path without links.
pub(crate) const UNBOUNDED: Rate = Rate::from_bps(u64::MAX);

/// Delay, loss, bottleneck capacity and number of links of a path: the label of a node in searches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathQuality {
    pub(crate) delay: Span,
    /// Probability that a packet arrives.
    pub(crate) delivery: f64,
    pub(crate) capacity: Rate,
    pub(crate) hops: u32,
}

impl PathQuality {
    /// That of no links at all.
    pub const EMPTY: Self = Self { delay: Span::ZERO, delivery: 1.0, capacity: UNBOUNDED, hops: 0 };

    /// That of a path over links of these qualities, first link first.
    #[must_use]
    pub fn of(links: impl IntoIterator<Item = LinkQuality>) -> Self {
        links.into_iter().fold(Self::EMPTY, Self::then)
    }

    /// The same with one link more at its end. Each of the four moves one way only, whatever the link, and two
    /// paths never change places in one of them; all searches rest on that.
    #[must_use]
    pub fn then(self, link: LinkQuality) -> Self {
        Self {
            delay: self.delay.saturating_add(link.delay),
            delivery: self.delivery * link.delivery(),
            capacity: self.capacity.min(link.capacity),
            hops: self.hops + 1,
        }
    }

    /// Sum of one-way delays.
    #[must_use]
    pub const fn delay(self) -> Span {
        self.delay
    }

    /// Probability that a packet is lost on the way, 0..=1.
    #[must_use]
    pub fn loss(self) -> f64 {
        1.0 - self.delivery
    }

    /// Whether no packet arrives.
    #[must_use]
    pub(crate) fn delivers_nothing(self) -> bool {
        self.delivery <= 0.0
    }

    /// The least capacity of a link on it; [`u64::MAX`] bits per second where none bounds it.
    #[must_use]
    pub const fn capacity(self) -> Rate {
        self.capacity
    }

    /// Number of links.
    #[must_use]
    pub const fn hops(self) -> u32 {
        self.hops
    }

    /// Whether this is no worse than the other in delay, loss and capacity.
    #[inline]
    pub(crate) fn is_no_worse(self, other: Self) -> bool {
        self.delay <= other.delay && self.delivery >= other.delivery && self.capacity >= other.capacity
    }
}
