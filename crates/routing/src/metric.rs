use anabranch_network::Network;
use anabranch_units::LinkId;
use serde::{Deserialize, Serialize};

/// Capacity whose inverse costs one, in bits per second: 1000 Tbps. It leaves a link of 100 Gbps
/// a cost of 10,000, so that rounding to an integer stays below 0.01 %.
pub const REFERENCE_CAPACITY_BPS: u64 = 1_000_000_000_000_000;

/// An additive cost per link. The cost of a path is the sum over its links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// One per link.
    Hops,
    /// Propagation delay, in picoseconds.
    Delay,
    /// [`REFERENCE_CAPACITY_BPS`] / capacity, to the nearest integer and at least one: the usual
    /// choice of an OSPF interface cost, which RFC 2328 (C.3, "Interface output cost") leaves to
    /// the operator.
    InverseCapacity,
}

impl Metric {
    /// Every metric by its name in plans and scenarios.
    pub const NAMES: [(&'static str, Self); 3] =
        [("hops", Self::Hops), ("delay", Self::Delay), ("inverse-capacity", Self::InverseCapacity)];

    /// The cost of one link, in the unit of the metric.
    #[must_use]
    pub fn cost(self, network: &Network, link: LinkId) -> u64 {
        match self {
            Self::Hops => 1,
            Self::Delay => network.link(link).delay.as_ps(),
            Self::InverseCapacity => {
                let bps = network.link(link).capacity.as_bps().max(1);
                ((REFERENCE_CAPACITY_BPS + bps / 2) / bps).max(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_network::{Link, Node};
    use anabranch_units::{NodeId, Rate, Span};

    #[test]
    fn a_link_costs_what_its_metric_says() {
        let nodes = ["a", "b"].map(|name| Node { name: name.into(), place: None }).to_vec();
        let link = |bps| Link {
            from: NodeId(0),
            to: NodeId(1),
            capacity: Rate::from_bps(bps),
            delay: Span::from_ms(5),
            loss: 0.0,
        };
        let network =
            Network::new(nodes, [1, 10_000_000, 3_000_000_000, u64::MAX].map(link).to_vec()).unwrap();
        let costs =
            |metric: Metric| network.link_ids().map(|id| metric.cost(&network, id)).collect::<Vec<_>>();
        assert_eq!(costs(Metric::Hops), [1; 4]);
        assert_eq!(costs(Metric::Delay), [5_000_000_000; 4]);
        assert_eq!(costs(Metric::InverseCapacity), [1_000_000_000_000_000, 100_000_000, 333_333, 1]);
    }

    #[test]
    fn names_are_those_of_the_text_form() {
        for (name, metric) in Metric::NAMES {
            assert_eq!(serde_json::to_string(&metric).unwrap(), format!("{name:?}"));
        }
    }
}
