//! A link as plain data, and what its values may be.

use crate::loss::LossSetup;
use crate::queues::{Discipline, Limit};
use crate::variate::{Sampler, Variate};
use anabranch_units::declaration::{OutOfRange, at_least, at_most, check};
use anabranch_units::{NodeId, Rate, Recent, Share, Shared, Span};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

thread_local! {
    /// Of thousands of links most have the same queue and the same losses.
    static RECENT_LOSSES: RefCell<Recent<LossSetup>> = const { RefCell::new(Recent::new()) };
    static RECENT_QUEUES: RefCell<Recent<QueueSetup>> = const { RefCell::new(Recent::new()) };
}

impl Share for LossSetup {
    fn share(self) -> Shared<Self> {
        RECENT_LOSSES.with_borrow_mut(|recent| recent.share(self))
    }
}

impl Share for QueueSetup {
    fn share(self) -> Shared<Self> {
        RECENT_QUEUES.with_borrow_mut(|recent| recent.share(self))
    }
}

/// A directed link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSetup {
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// Unique name, such as `Denver->Kansas City` or `a->b#2`; random streams hang on it.
    pub name: Box<str>,
    /// Rate of serialisation.
    pub capacity: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Added to the delay of each packet, in picoseconds; packets stay in order. In a box, because few links have one.
    pub jitter: Option<Box<Variate>>,
    /// Random loss.
    pub loss: Shared<LossSetup>,
    /// The queue in front of the link.
    pub queue: Shared<QueueSetup>,
    /// Cost of the link where routes go by `weight`, at least 1; None counts as 1.
    #[serde(default)]
    pub weight: Option<u32>,
}

/// The queue in front of a link: waiting packets, not the one being sent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSetup {
    /// Room for waiting packets.
    pub limit: Limit,
    /// Which wait, in which order they leave, and which are dropped or marked.
    pub discipline: Discipline,
}

impl LinkSetup {
    /// A link without jitter and random loss.
    #[must_use]
    pub fn plain(
        ends: (NodeId, NodeId),
        name: String,
        capacity: Rate,
        delay: Span,
        queue: QueueSetup,
    ) -> Self {
        let loss = LossSetup::named("none").expect("a name of the registry");
        Self {
            from: ends.0,
            to: ends.1,
            name: name.into(),
            capacity,
            delay,
            jitter: None,
            loss: loss.into(),
            queue: queue.into(),
            weight: None,
        }
    }

    /// Checks the values against their bounds.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn check(&self) -> Result<(), OutOfRange> {
        check_capacity(self.capacity)?;
        check_delay(self.delay)?;
        self.loss.check().map_err(|problem| problem.within("loss"))?;
        self.queue.check()?;
        let jitter = self.jitter.as_ref().map_or(Ok(()), |jitter| Sampler::new(jitter).map(|_| ()));
        jitter.map_err(|problem| OutOfRange::new("jitter", problem.to_string()))
    }
}

impl QueueSetup {
    /// Checks the discipline.
    ///
    /// # Errors
    /// The first parameter that does not hold.
    pub fn check(&self) -> Result<(), OutOfRange> {
        self.discipline.verify().map_err(|problem| problem.within("queue"))
    }
}

/// Checks the capacity of a link.
///
/// # Errors
/// If one packet would outlast every run.
pub fn check_capacity(capacity: Rate) -> Result<(), OutOfRange> {
    check("capacity", &capacity, &at_least(Rate::from_bps(100)))
}

/// Checks the delay of a link.
///
/// # Errors
/// If it is longer than the longest run.
pub fn check_delay(delay: Span) -> Result<(), OutOfRange> {
    check("delay", &delay, &at_most(Span::LONGEST_INPUT))
}
