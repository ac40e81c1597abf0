//! Ways between the controller and its switches.

use anabranch_network::Network;
use anabranch_routing::ShortestScheme;
use anabranch_routing::{LinkMask, Metric, Scheme};
use anabranch_units::{Bytes, LinkId, NodeId, Span};

anabranch_units::choice! {
    /// Where control messages travel.
    pub enum Channel {
        /// Over a link of its own between each switch and the controller, which carries nothing else.
        "apart" => Apart,
        /// Over the links of the network, on the way of least delay, beside the data.
        "in-band" => InBand,
    }
}

/// The ways between the controller and its switches, and from each host to its switch.
#[derive(Clone, Debug)]
pub struct Channels {
    controller: NodeId,
    kind: Channel,
    is_switch: Vec<bool>,
    switches: Vec<NodeId>,
    /// By node: links from the controller to the switch; `None` where there is no way, and for other nodes.
    down: Vec<Option<Vec<LinkId>>>,
    up: Vec<Option<Vec<LinkId>>>,
    /// By node: the link over which a host sends all it has.
    gateways: Vec<Option<LinkId>>,
}

impl Channels {
    /// The channels of a network in which everything is up.
    #[must_use]
    pub fn new(network: &Network, controller: NodeId, switches: &[NodeId], kind: Channel) -> Self {
        let nodes = network.nodes().len();
        let mut is_switch = vec![false; nodes];
        for switch in switches {
            is_switch[switch.index()] = true;
        }
        let gateway = |node: NodeId| {
            let host = !is_switch[node.index()] && node != controller;
            let out = network.links_out(node).iter().copied();
            out.filter(|&link| host && is_switch[network.link(link).to.index()]).min()
        };
        let gateways = network.node_ids().map(gateway).collect();
        let (down, up) = (vec![None; nodes], vec![None; nodes]);
        let mut channels =
            Self { controller, kind, is_switch, switches: switches.to_vec(), down, up, gateways };
        channels.follow(network, &LinkMask::all_up(network));
        channels
    }

    /// Finds the ways anew where they share the network's links, which may have gone down.
    pub fn follow(&mut self, network: &Network, mask: &LinkMask) {
        match self.kind {
            Channel::Apart => self.lay_apart(network),
            Channel::InBand => self.lay_in_band(network, mask),
        }
    }

    fn lay_apart(&mut self, network: &Network) {
        let link = |from: NodeId, to: NodeId| {
            let mut links = network.links_out(from).iter().copied();
            links.find(|&link| network.link(link).to == to).map(|link| vec![link])
        };
        for &switch in &self.switches {
            self.down[switch.index()] = link(self.controller, switch);
            self.up[switch.index()] = link(switch, self.controller);
        }
    }

    fn lay_in_band(&mut self, network: &Network, mask: &LinkMask) {
        let controller = self.controller;
        // Hosts do not forward.
        let mut mask = mask.clone();
        for node in network.node_ids().filter(|&node| node != controller && !self.is_switch(node)) {
            mask.set_node(node, false);
        }
        let mut pairs: Vec<_> =
            self.switches.iter().flat_map(|&switch| [(controller, switch), (switch, controller)]).collect();
        pairs.sort_unstable();
        let plan = Scheme::Shortest(ShortestScheme { metric: Metric::Delay, limits: None })
            .plan(network, &mask, &pairs);
        let links_between =
            |from, to| plan.route(from, to).map(|route| route.paths[0].links.links().to_vec());
        for &switch in &self.switches {
            self.down[switch.index()] = links_between(controller, switch);
            self.up[switch.index()] = links_between(switch, controller);
        }
    }

    /// The switches.
    #[must_use]
    pub fn switches(&self) -> &[NodeId] {
        &self.switches
    }

    /// Whether a node is a switch of this controller.
    #[must_use]
    pub fn is_switch(&self, node: NodeId) -> bool {
        self.is_switch[node.index()]
    }

    /// Links from the controller to a switch.
    #[must_use]
    pub fn down(&self, switch: NodeId) -> Option<&[LinkId]> {
        self.down[switch.index()].as_deref()
    }

    /// Links from a switch to the controller.
    #[must_use]
    pub fn up(&self, switch: NodeId) -> Option<&[LinkId]> {
        self.up[switch.index()].as_deref()
    }

    /// The link over which a host sends all it has; `None` for a switch and for a host without one.
    #[must_use]
    pub fn gateway(&self, host: NodeId) -> Option<LinkId> {
        self.gateways[host.index()]
    }

    /// Whether data share links with the messages.
    #[must_use]
    pub fn is_in_band(&self) -> bool {
        self.kind == Channel::InBand
    }

    /// Delay of a message of `bytes` from the controller to a switch without any queue.
    #[must_use]
    pub fn delay_down(&self, network: &Network, switch: NodeId, bytes: u32) -> Span {
        links_delay(network, self.down(switch).unwrap_or_default(), bytes)
    }

    /// Delay of a message of `bytes` from a switch to the controller without any queue.
    #[must_use]
    pub fn delay_up(&self, network: &Network, switch: NodeId, bytes: u32) -> Span {
        links_delay(network, self.up(switch).unwrap_or_default(), bytes)
    }

    /// Time that a message of `bytes` takes up the slowest link on the way to a switch.
    #[must_use]
    pub fn transmission_down(&self, network: &Network, switch: NodeId, bytes: u32) -> Span {
        let links = self.down(switch).unwrap_or_default().iter();
        links.map(|&link| transmission(network, link, bytes)).max().unwrap_or(Span::ZERO)
    }
}

/// Time to send `bytes` over a link.
#[must_use]
pub fn transmission(network: &Network, link: LinkId, bytes: u32) -> Span {
    network.link(link).capacity.time_for(Bytes(u64::from(bytes)))
}

/// Transmission and propagation of a packet over links one after the other, without any queue.
#[must_use]
pub fn links_delay(network: &Network, links: &[LinkId], bytes: u32) -> Span {
    links.iter().fold(Span::ZERO, |sum, &link| {
        sum.saturating_add(network.link(link).delay).saturating_add(transmission(network, link, bytes))
    })
}
