//! Metrics of whole paths: functions of a path's delay, loss and bottleneck capacity that are no sums over its
//! links.
//!
//! All of them are **monotone**: a path that is no worse in delay, loss and capacity is no worse by the metric,
//! and a link more makes nothing better. None is **isotonic**: of two ways to a node the better may become the
//! worse when both go on over the same link ([`crate::tcpbp`] has an example). So best paths need not consist
//! of best paths, Dijkstra's algorithm misses some, and forwarding hop by hop can disagree
//! ([`crate::hop_by_hop`]). Searches that keep every way that no other beats in all criteria are exact
//! ([`mod@crate::exact`]).

use crate::quality::{LinkQuality, PathQuality, UNBOUNDED};
use anabranch_units::Span;
use std::cmp::Ordering;

/// A metric of whole paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathMetric {
    /// Bottleneck capacity in bits per second, largest first: the widest path (M. Pollack, "The maximum
    /// capacity through a network", Operations Research 8, 1960). It would be isotonic but for its ties, which
    /// are many: among the widest the path of fewest hops is taken, and that may share nothing with the widest
    /// paths of the nodes on its way.
    Capacity,
    /// `d sqrt(p)` in seconds, least first (Vilela 2022, section 3.1), with the sum `d` of the delays and the
    /// loss `p = 1 - prod(1 - p_link)`. TCP's throughput falls in proportion (M. Mathis et al., 1997).
    Tcpbp,
    /// `sum DT / prod TSR` in seconds, least first: the delay times over the transmission success rates, 1 -
    /// loss, of the links (L. Barolli et al., "ARGAQ", 2003, as Vilela 2022, section 5.4.1, gives it).
    Argaq,
    /// `b / (d l)` in bits per second squared, largest first: bottleneck capacity over delay and loss
    /// (S. Tantisarkhornkhet, W. Werapun, 2016, as Vilela 2022, section 5.4.1, gives it).
    BOverDl,
}

/// What paths are ordered by before the numbers of their nodes and links. The first is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank {
    /// The metric, least first, as an integer; the largest one for a path that delivers nothing.
    value: u64,
    /// Where the metric says nothing, the delay; zero elsewhere.
    delay: Span,
    hops: u32,
}

impl PathMetric {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Capacity, Self::Tcpbp, Self::Argaq, Self::BOverDl];

    /// The metric of a path of this quality, in its unit. A path that delivers nothing is the worst there is:
    /// infinite for `tcpbp` and `argaq`, 0 for `b-over-dl`. Without delay or loss `b-over-dl` is infinite.
    #[must_use]
    pub fn value(self, path: PathQuality) -> f64 {
        match self {
            Self::Capacity => path.capacity.as_bps() as f64,
            Self::Tcpbp | Self::Argaq => self.cost(path),
            Self::BOverDl => 1.0 / self.cost(path),
        }
    }

    /// The order of paths: by the metric to nine digits; where it says nothing, because it is 0 (`tcpbp`) or
    /// infinite (`b-over-dl`) or nothing arrives, by delay; then by hops. Then come node numbers and link ids,
    /// as [`crate::dijkstra`] says.
    #[must_use]
    pub fn rank(self, path: PathQuality) -> Rank {
        let hops = path.hops;
        if self == Self::Capacity {
            return Rank { value: u64::MAX - path.capacity.as_bps(), delay: Span::ZERO, hops };
        }
        let value = if path.delivers_nothing() { u64::MAX } else { rounded(self.cost(path)) };
        let says_nothing = value == 0 || value == u64::MAX;
        Rank { value, delay: if says_nothing { path.delay } else { Span::ZERO }, hops }
    }

    /// The better of two paths comes first; equal only where node numbers and link ids decide.
    #[must_use]
    pub fn compare(self, left: PathQuality, right: PathQuality) -> Ordering {
        self.rank(left).cmp(&self.rank(right))
    }

    /// Delay in seconds times weight: what the metrics of delay order by, least first.
    pub(crate) fn cost(self, path: PathQuality) -> f64 {
        if path.delivers_nothing() {
            return f64::INFINITY;
        }
        let delay_s = path.delay.as_secs_f64();
        // Not by the weight, which can be too large for a number where this is not.
        if self == Self::Argaq { delay_s / path.delivery } else { delay_s * self.weight(path) }
    }

    /// What a second of delay costs on a path of this loss and capacity. It grows as these get worse. 0 for
    /// the capacity, to which delay does not matter.
    pub(crate) fn weight(self, path: PathQuality) -> f64 {
        match self {
            Self::Capacity => 0.0,
            Self::Tcpbp => path.loss().sqrt(),
            Self::Argaq => 1.0 / path.delivery,
            Self::BOverDl => path.loss() / path.capacity.as_bps().max(1) as f64,
        }
    }

    /// A link as the metric sees it: what does not matter to it is perfect, so that no search tells ways apart
    /// by it.
    pub(crate) const fn seen(self, link: LinkQuality) -> LinkQuality {
        match self {
            Self::Capacity => LinkQuality { delay: Span::ZERO, loss: 0.0, ..link },
            Self::Tcpbp | Self::Argaq => LinkQuality { capacity: UNBOUNDED, ..link },
            Self::BOverDl => link,
        }
    }

    /// The same where paths have limits, for which delay and loss matter to every metric.
    pub(crate) const fn seen_within(self, link: LinkQuality) -> LinkQuality {
        match self {
            Self::Capacity => link,
            Self::Tcpbp | Self::Argaq | Self::BOverDl => self.seen(link),
        }
    }

    /// Whether it looks at the bottleneck.
    pub(crate) const fn looks_at_capacity(self) -> bool {
        matches!(self, Self::Capacity | Self::BOverDl)
    }

    /// Whether it says nothing where no packet is lost.
    pub(crate) const fn needs_loss(self) -> bool {
        matches!(self, Self::Tcpbp | Self::BOverDl)
    }
}

/// A number from zero up as an integer in the same order, to 9 decimal digits: links with the same losses in
/// another order multiply to another last bit, and shall be equal for all that.
const fn rounded(metric: f64) -> u64 {
    const DROPPED_BITS: u32 = 22;
    (metric.to_bits() + (1 << (DROPPED_BITS - 1))) >> DROPPED_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Rate;

    fn path(ms: u64, loss: f64, mbps: u64) -> PathQuality {
        let link = LinkQuality::new(Span::from_ms(ms), loss).with_capacity(Rate::from_bps(mbps * 1_000_000));
        PathQuality::of([link])
    }

    /// By the definitions: 40 ms, 4 %, 100 Mbps.
    #[test]
    fn values_are_those_of_the_definitions() {
        let path = path(40, 0.04, 100);
        let close = |ours: f64, theirs: f64| assert!((ours / theirs - 1.0).abs() < 1e-12, "{ours} {theirs}");
        close(PathMetric::Capacity.value(path), 1e8);
        close(PathMetric::Tcpbp.value(path), 0.04 * 0.2);
        close(PathMetric::Argaq.value(path), 0.04 / 0.96);
        close(PathMetric::BOverDl.value(path), 1e8 / (0.04 * 0.04));
    }

    #[test]
    fn a_path_that_delivers_nothing_is_the_last_by_every_metric_that_looks_at_loss() {
        for metric in [PathMetric::Tcpbp, PathMetric::Argaq, PathMetric::BOverDl] {
            for dead in [path(0, 1.0, 1_000), path(1, 1.0, 1_000), path(1, 1.0 - f64::EPSILON, 1_000)] {
                assert_eq!(metric.compare(path(9_000, 0.999_999, 1), dead), Ordering::Less, "{metric:?}");
                assert!(!metric.value(dead).is_nan());
            }
            // Among these the delay decides.
            assert_eq!(metric.compare(path(1, 1.0, 1), path(2, 1.0, 5)), Ordering::Less);
        }
    }

    #[test]
    fn where_a_metric_says_nothing_the_delay_decides() {
        for metric in [PathMetric::Tcpbp, PathMetric::BOverDl] {
            assert_eq!(metric.compare(path(1, 0.0, 1), path(2, 0.0, 100)), Ordering::Less, "{metric:?}");
            // Any loss is worse than none.
            assert_eq!(metric.compare(path(900, 0.0, 1), path(1, 0.01, 100)), Ordering::Less, "{metric:?}");
        }
        assert_eq!(PathMetric::Argaq.compare(path(1, 0.0, 1), path(2, 0.0, 100)), Ordering::Less);
    }
}
