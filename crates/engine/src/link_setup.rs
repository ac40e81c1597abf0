//! A link as plain data, and what its values may be.

use crate::link::impairments::{ChanceSetup, ImpairmentSetup, ReorderSetup};
use crate::link::token_bucket::{PolicerSetup, ShaperSetup};
use crate::loss::LossSetup;
use crate::queues::{Discipline, Limit};
use crate::variate::{Sampler, Variate};
use anabranch_units::declaration::{OutOfRange, at_least, at_most, check};
use anabranch_units::{NodeId, Rate, Recent, Shared, Span};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::{self, Formatter};

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
    /// Token bucket for which what waits has to wait. Each of these is in a box, because few links have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper: Option<Box<ShaperSetup>>,
    /// Token bucket without which what has been sent is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<Box<PolicerSetup>>,
    /// Packets that overtake others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Box<ReorderSetup>>,
    /// Packets that arrive twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Box<ChanceSetup>>,
    /// Packets that are damaged, so that their checksum fails where they go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Box<ChanceSetup>>,
}

anabranch_units::leaf! {
    /// The queue in front of a link: waiting packets, not the one being sent.
    pub struct QueueSetup: "queue" {
        /// Room for waiting packets.
        pub limit: Limit,
        /// Which wait, in which order they leave, and which are dropped or marked.
        pub discipline: Discipline,
    }
}

/// The smallest packet of IPv4 has its header alone.
const SMALLEST_BUCKET: u64 = 20;
/// A terabyte: what a bucket has saved then outlasts any run.
const LARGEST_BUCKET: u64 = 1 << 40;

/// Of thousands of links most have the same queue and the same losses: equal ones have one place.
#[derive(Debug, Default)]
pub struct LinkKinds {
    losses: Recent<LossSetup>,
    queues: Recent<QueueSetup>,
}

impl LinkKinds {
    /// Gives a link the queue and the losses of one of the last, if they are equal.
    pub fn share(&mut self, link: &mut LinkSetup) {
        self.losses.share(&mut link.loss);
        self.queues.share(&mut link.queue);
    }
}

/// The links of a document, which share what is equal as they come.
pub(crate) fn links<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<LinkSetup>, D::Error> {
    struct Links;

    impl<'de> Visitor<'de> for Links {
        type Value = Vec<LinkSetup>;

        fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
            f.write_str("a list of links")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let (mut links, mut kinds) = (Vec::new(), LinkKinds::default());
            while let Some(mut link) = list.next_element()? {
                kinds.share(&mut link);
                links.push(link);
            }
            Ok(links)
        }
    }

    deserializer.deserialize_seq(Links)
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
            shaper: None,
            policer: None,
            reorder: None,
            duplicate: None,
            corrupt: None,
        }
    }

    /// What happens to single packets besides loss and jitter.
    #[must_use]
    pub fn impairments(&self) -> ImpairmentSetup<'_> {
        ImpairmentSetup {
            reorder: self.reorder.as_deref(),
            duplicate: self.duplicate.as_deref(),
            corrupt: self.corrupt.as_deref(),
        }
    }

    /// What no packet takes less than from one end to the other.
    #[must_use]
    pub fn least_delay(&self) -> Span {
        let spared = self.reorder.as_ref().map(|reorder| reorder.spared.unwrap_or(self.delay));
        self.delay.saturating_sub(spared.unwrap_or(Span::ZERO))
    }

    /// The rate at which its queue empties: that of its shaper, or of the line if that is lower.
    #[must_use]
    pub fn queue_rate(&self) -> Rate {
        self.shaper.as_ref().map_or(self.capacity, |shaper| self.capacity.min(shaper.rate))
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
        jitter.map_err(|problem| OutOfRange::new("jitter", problem.to_string()))?;
        self.check_buckets()?;
        let of = |chance: &Option<Box<ChanceSetup>>, name| {
            chance
                .as_ref()
                .map_or(Ok(()), |chance| chance.check())
                .map_err(|problem: OutOfRange| problem.within(name))
        };
        of(&self.duplicate, "duplicate")?;
        of(&self.corrupt, "corrupt")?;
        let reorder = self.reorder.as_ref().map_or(Ok(()), |reorder| reorder.check(self.delay));
        reorder.map_err(|problem| problem.within("reorder"))
    }

    fn check_buckets(&self) -> Result<(), OutOfRange> {
        let bucket = |rate: Rate, bytes: u64| {
            check("rate", &rate, &at_least(Rate::from_bps(100)))?;
            check("burst", &bytes, &at_least(SMALLEST_BUCKET).at_most(LARGEST_BUCKET))
        };
        if let Some(shaper) = &self.shaper {
            bucket(shaper.rate, shaper.burst).map_err(|problem| problem.within("shaper"))?;
            let peak = shaper.peak.map_or(Ok(()), |peak| bucket(peak.rate, peak.mtu));
            peak.map_err(|problem| problem.within("shaper.peak"))?;
        }
        let policer = self.policer.as_ref().map_or(Ok(()), |policer| bucket(policer.rate, policer.burst));
        policer.map_err(|problem| problem.within("policer"))
    }
}

impl QueueSetup {
    /// Checks the discipline, and what it makes of the limit.
    ///
    /// # Errors
    /// The first parameter that does not hold.
    pub fn check(&self) -> Result<(), OutOfRange> {
        let rooms = || match &self.discipline {
            Discipline::Trim(parameters) => parameters.check_rooms(self.limit),
            _ => Ok(()),
        };
        self.discipline.verify().and_then(|()| rooms()).map_err(|problem| problem.within("queue"))
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
