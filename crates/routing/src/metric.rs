use crate::LinkMask;
use crate::path_metric::PathMetric;
use crate::quality::LinkQuality;
use anabranch_network::Network;
use anabranch_units::LinkId;

/// Capacity whose inverse costs one, in bits per second: 1000 Tbps. It leaves a link of 100 Gbps
/// a cost of 10,000, so that rounding to an integer stays below 0.01 %.
pub const REFERENCE_CAPACITY_BPS: u64 = 1_000_000_000_000_000;

/// Steps of the cost of loss in a neper: a loss of 1e-15 costs one.
pub(crate) const STEPS_PER_NEPER: f64 = 1e15;
/// The same for `smm`, whose step of delay is the picosecond.
const PICOSECONDS_PER_SECOND: f64 = 1e12;

/// Steps of `hops-then-delay` that a hop costs, and the most that its delay can: as many hops as the one is times
/// the other cannot change places with a hop less.
const STEPS_PER_HOP: u64 = 1 << 53;
/// See [`STEPS_PER_HOP`]: 8.8 s in picoseconds.
const MOST_DELAY_STEPS: u64 = (1 << 43) - 1;

anabranch_units::choice! {
    /// What a short path is short in, by its name in plans and scenarios.
    pub enum Metric {
        /// One per link.
        "hops" => Hops,
        /// One per link, and of paths with as many links the one of least propagation delay.
        "hops-then-delay" => HopsThenDelay,
        /// Propagation delay.
        "delay" => Delay,
        /// 1000 Tbps by capacity, as an OSPF interface cost.
        "inverse-capacity" => InverseCapacity,
        /// -ln(1 - p), whose sum is that of the path's loss.
        "loss" => Loss,
        /// The weight of each link, as the operator sets it (RFC 2328, C.3).
        "weight" => Weight,
        /// Capacity of the narrowest link.
        "capacity" => Capacity,
        /// Predicted TCP throughput, by delay and the root of loss (Vilela 2022).
        "tcpbp" => Tcpbp,
        /// Single mixed metric: logarithmic loss plus delay in seconds (Costa 2000).
        "smm" => Smm,
        /// Delay by the share of packets that arrives, d / (1 - p) (Barolli 2003).
        "argaq" => Argaq,
        /// Capacity by delay and loss, b / (d p).
        "b-over-dl" => BOverDl,
    }
}

anabranch_units::choice! {
    /// A cost per link. The cost of a path is the sum over its links, so these metrics are monotone and isotonic:
    /// Dijkstra's algorithm is exact, and forwarding hop by hop agrees.
    pub enum AdditiveMetric {
        /// One per link.
        "hops" => Hops,
        /// One per link, and of paths with as many links the one of least propagation delay comes first: a tie of
        /// hops is no accident of node numbers. Of a delay beyond 8.8 s on a link 8.8 s count; the rule holds up to
        /// 1024 hops.
        "hops-then-delay" => HopsThenDelay,
        /// Propagation delay, in picoseconds.
        "delay" => Delay,
        /// [`REFERENCE_CAPACITY_BPS`] / capacity, to the nearest integer and at least one: the usual
        /// choice of an OSPF interface cost, which RFC 2328 (C.3, "Interface output cost") leaves to
        /// the operator.
        "inverse-capacity" => InverseCapacity,
        /// `-ln(1 - p)` in nepers, whose sum is that of the path's loss 1 - prod(1 - p); in steps of 1e-15, to the
        /// nearest. The first path is the one that loses least.
        "loss" => Loss,
        /// The weight that the operator gives each link: an OSPF interface cost (RFC 2328, C.3), an IS-IS metric.
        "weight" => Weight,
        /// Single mixed metric: `slog + d`, the logarithmic transmission success `-ln(1 - p)` plus the propagation
        /// delay (L. H. M. K. Costa, S. Fdida, O. C. M. B. Duarte, "Developing scalable protocols for three-metric
        /// QoS routing", 2000, as Vilela 2022, section 5.4.1, gives it). The sum has no unit there: here it is that
        /// of seconds and nepers, so that 10 ms weigh as much as a loss of 1 %; in steps of 1e-12, to the nearest.
        "smm" => Smm,
    }
}

/// A metric by what can be done with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricKind {
    /// A sum over links.
    Additive(AdditiveMetric),
    /// A function of whole paths.
    Path(PathMetric),
}

/// Why a metric says nothing in a network, so that the next in the order of paths decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// No usable link loses packets: all paths are equal by a metric of loss, and the one of least delay is
    /// taken.
    Delay,
    /// The same for `loss`, which does not look at delay: the path of fewest hops is taken.
    Hops,
}

impl Metric {
    /// Whether it is a sum over links, and which, or a function of whole paths.
    #[must_use]
    pub const fn kind(self) -> MetricKind {
        match self {
            Self::Hops => MetricKind::Additive(AdditiveMetric::Hops),
            Self::HopsThenDelay => MetricKind::Additive(AdditiveMetric::HopsThenDelay),
            Self::Delay => MetricKind::Additive(AdditiveMetric::Delay),
            Self::InverseCapacity => MetricKind::Additive(AdditiveMetric::InverseCapacity),
            Self::Loss => MetricKind::Additive(AdditiveMetric::Loss),
            Self::Weight => MetricKind::Additive(AdditiveMetric::Weight),
            Self::Smm => MetricKind::Additive(AdditiveMetric::Smm),
            Self::Capacity => MetricKind::Path(PathMetric::Capacity),
            Self::Tcpbp => MetricKind::Path(PathMetric::Tcpbp),
            Self::Argaq => MetricKind::Path(PathMetric::Argaq),
            Self::BOverDl => MetricKind::Path(PathMetric::BOverDl),
        }
    }

    /// What decides in place of the metric where it says nothing: where no usable link of the network loses
    /// packets, or so few of them that the metric has no digit for it, for `tcpbp`, `b-over-dl` and `loss`. `None`
    /// where the metric tells paths apart.
    #[must_use]
    pub fn fallback(self, network: &Network, mask: &LinkMask) -> Option<Fallback> {
        let (fallback, loses): (_, fn(&Network, LinkId) -> bool) = match self.kind() {
            MetricKind::Path(metric) if metric.needs_loss() => {
                (Fallback::Delay, |network, link| LinkQuality::of(network.link(link)).delivery() < 1.0)
            }
            MetricKind::Additive(AdditiveMetric::Loss) => {
                (Fallback::Hops, |network, link| AdditiveMetric::Loss.cost(network, link) > 0)
            }
            MetricKind::Path(_) | MetricKind::Additive(_) => return None,
        };
        let mut usable = network.link_ids().filter(|&link| mask.usable(network, link));
        (!usable.any(|link| loses(network, link))).then_some(fallback)
    }
}

impl From<AdditiveMetric> for Metric {
    fn from(metric: AdditiveMetric) -> Self {
        match metric {
            AdditiveMetric::Hops => Self::Hops,
            AdditiveMetric::HopsThenDelay => Self::HopsThenDelay,
            AdditiveMetric::Delay => Self::Delay,
            AdditiveMetric::InverseCapacity => Self::InverseCapacity,
            AdditiveMetric::Loss => Self::Loss,
            AdditiveMetric::Weight => Self::Weight,
            AdditiveMetric::Smm => Self::Smm,
        }
    }
}

impl AdditiveMetric {
    /// The cost of one link, in the unit of the metric.
    #[must_use]
    pub fn cost(self, network: &Network, link: LinkId) -> u64 {
        let link = network.link(link);
        match self {
            Self::Hops => 1,
            Self::HopsThenDelay => STEPS_PER_HOP + link.delay.as_ps().min(MOST_DELAY_STEPS),
            Self::Delay => link.delay.as_ps(),
            Self::InverseCapacity => {
                let bps = link.capacity.as_bps().max(1);
                ((REFERENCE_CAPACITY_BPS + bps / 2) / bps).max(1)
            }
            Self::Loss => (nepers(link.loss) * STEPS_PER_NEPER).round() as u64,
            Self::Weight => u64::from(link.weight),
            Self::Smm => {
                let slog = (nepers(link.loss) * PICOSECONDS_PER_SECOND).round() as u64;
                link.delay.as_ps().saturating_add(slog)
            }
        }
    }
}

/// `-ln(1 - p)`. From `libm`, which gives the same bits on every machine.
pub(crate) fn nepers(loss: f64) -> f64 {
    -libm::log1p(-loss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_network::{Link, Node};
    use anabranch_units::{NodeId, Rate, Span};

    fn network(links: &[(u64, f64)]) -> Network {
        let nodes = ["a", "b"].map(|name| Node { name: name.into(), place: None }).to_vec();
        let link = |&(bps, loss): &(u64, f64)| Link {
            from: NodeId(0),
            to: NodeId(1),
            capacity: Rate::from_bps(bps),
            delay: Span::from_ms(5),
            loss,
            weight: 7,
        };
        Network::new(nodes, links.iter().map(link).collect()).unwrap()
    }

    fn costs(metric: AdditiveMetric, network: &Network) -> Vec<u64> {
        network.link_ids().map(|id| metric.cost(network, id)).collect()
    }

    #[test]
    fn a_link_costs_what_its_metric_says() {
        let network = network(&[1, 10_000_000, 3_000_000_000, u64::MAX].map(|bps| (bps, 0.0)));
        assert_eq!(costs(AdditiveMetric::Hops, &network), [1; 4]);
        assert_eq!(costs(AdditiveMetric::Delay, &network), [5_000_000_000; 4]);
        assert_eq!(costs(AdditiveMetric::Weight, &network), [7; 4]);
        assert_eq!(costs(AdditiveMetric::HopsThenDelay, &network), [(1 << 53) + 5_000_000_000; 4]);
        let inverse = costs(AdditiveMetric::InverseCapacity, &network);
        assert_eq!(inverse, [1_000_000_000_000_000, 100_000_000, 333_333, 1]);
    }

    /// ln 2 = 0.693 147 180 559 945 3; for small p, -ln(1 - p) = p + p^2/2 + ...
    #[test]
    fn loss_costs_nepers() {
        let network = network(&[(1, 0.0), (1, 1e-15), (1, 0.5), (1, 1e-6), (1, 1.0 - f64::EPSILON / 2.0)]);
        let loss = costs(AdditiveMetric::Loss, &network);
        assert_eq!(loss[..4], [0, 1, 693_147_180_559_945, 1_000_000_500]);
        // 53 ln 2: the largest loss below 1 that there is.
        assert_eq!(loss[4] / 1_000_000_000_000, 36_736);
        let smm = costs(AdditiveMetric::Smm, &network);
        assert_eq!(smm[..4], [5_000_000_000, 5_000_000_000, 698_147_180_560, 5_001_000_001]);
    }

    #[test]
    fn a_metric_of_loss_says_where_it_says_nothing() {
        let (lossless, lossy) = (network(&[(1, 0.0), (2, 0.0)]), network(&[(1, 0.0), (2, 0.01)]));
        let mut without_the_lossy = LinkMask::all_up(&lossy);
        without_the_lossy.set_link(LinkId(1), false);
        for (name, metric) in Metric::NAMES {
            let expected = match name {
                "tcpbp" | "b-over-dl" => Some(Fallback::Delay),
                "loss" => Some(Fallback::Hops),
                _ => None,
            };
            assert_eq!(metric.fallback(&lossless, &LinkMask::all_up(&lossless)), expected, "{name}");
            assert_eq!(metric.fallback(&lossy, &LinkMask::all_up(&lossy)), None, "{name}");
            assert_eq!(metric.fallback(&lossy, &without_the_lossy), expected, "{name}");
        }
    }

    /// 1 - 1e-17 is 1 in double precision, and 1e-17 nepers are no step of 1e-15: every path is as good as another.
    #[test]
    fn a_loss_without_a_digit_is_none() {
        let (none, some) = (network(&[(1, 1e-17), (2, 1e-17)]), network(&[(1, 1e-17), (2, 1e-14)]));
        for metric in [Metric::Tcpbp, Metric::BOverDl, Metric::Loss] {
            assert!(metric.fallback(&none, &LinkMask::all_up(&none)).is_some(), "{metric:?}");
            assert_eq!(metric.fallback(&some, &LinkMask::all_up(&some)), None, "{metric:?}");
        }
    }

    #[test]
    fn names_are_those_of_the_text_form() {
        for (name, metric) in Metric::NAMES {
            assert_eq!(serde_json::to_string(&metric).unwrap(), format!("{name:?}"));
        }
        for metric in AdditiveMetric::NAMES.map(|(_, metric)| metric) {
            let text = serde_json::to_string(&metric).unwrap();
            assert_eq!(serde_json::to_string(&Metric::from(metric)).unwrap(), text);
            assert_eq!(Metric::from(metric).kind(), MetricKind::Additive(metric));
        }
    }
}
