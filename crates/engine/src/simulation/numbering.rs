//! Numbers of the event sources.
//!
//! Sources are numbered by class, and at one instant the lower number goes first: changes of the network, new
//! routes, arrivals by link, nodes that look at a packet, timers of senders, timers of receivers, applications, hosts that turn to the
//! next of their flows, flows of datagrams, the control plane, the probe, which so sees the instant complete, and last the end of a run that ends when
//! all flows are done.

use super::nic::Nics;
use super::processing::Processing;
use super::share::Share;
use crate::packet::Direction;
use crate::schedule::Source;
use crate::setup::Setup;
use anabranch_units::{FlowId, LinkId, NodeId};

/// How many sources of each class there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbering {
    links: u32,
    /// Hosts, then routers, then the controller, as far as they have a processing delay.
    processors: u32,
    flows: u32,
    /// Hosts that turn to their flows one after another.
    nics: u32,
    datagrams: u32,
    /// Sources of the control plane: the switches, by node, and the controller. A network without a controller has
    /// no number for it.
    control: u32,
}

/// Who an event is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    Changes,
    Routes,
    Link(LinkId),
    /// By the number among those with a processing delay.
    Processor(u32),
    Sender(FlowId),
    Receiver(FlowId),
    Application(FlowId),
    /// The line of a host is free for the next of its flows; by the number among those hosts.
    Nic(u32),
    /// By the number among the flows of datagrams.
    Datagrams(u32),
    Switch(NodeId),
    Controller,
    Probe,
    /// All flows are done.
    End,
}

impl Numbering {
    pub(super) const CHANGES: Source = Source(0);
    pub(super) const ROUTES: Source = Source(1);
    const FIRST_LINK: u32 = 2;

    pub(super) fn new(setup: &Setup, share: &Share<'_>) -> Self {
        let control = if setup.controller.is_some() { setup.nodes.len() as u32 + 1 } else { 0 };
        Self {
            links: setup.links.len() as u32,
            processors: Processing::count(setup) as u32,
            flows: share.flows.len() as u32,
            nics: Nics::count(setup) as u32,
            datagrams: share.datagrams.len() as u32,
            control,
        }
    }

    /// One more than the last link's source.
    pub(super) const fn behind_links(self) -> u32 {
        Self::FIRST_LINK + self.links
    }

    pub(super) const fn link(self, link: LinkId) -> Source {
        Source(Self::FIRST_LINK + link.0)
    }

    pub(super) const fn processor(self, number: u32) -> Source {
        Source(self.behind_links() + number)
    }

    pub(super) const fn sender(self, flow: FlowId) -> Source {
        Source(self.processor(self.processors).0 + flow.0)
    }

    pub(super) const fn receiver(self, flow: FlowId) -> Source {
        Source(self.processor(self.processors).0 + self.flows + flow.0)
    }

    /// The timer of the end of a flow to which packets of this direction come.
    pub(super) const fn timer(self, flow: FlowId, direction: Direction) -> Source {
        match direction {
            Direction::Forward => self.receiver(flow),
            Direction::Backward => self.sender(flow),
        }
    }

    pub(super) const fn application(self, flow: FlowId) -> Source {
        Source(self.processor(self.processors).0 + 2 * self.flows + flow.0)
    }

    pub(super) const fn nic(self, number: u32) -> Source {
        Source(self.processor(self.processors).0 + 3 * self.flows + number)
    }

    pub(super) const fn datagrams(self, number: u32) -> Source {
        Source(self.nic(self.nics).0 + number)
    }

    pub(super) const fn switch(self, node: NodeId) -> Source {
        Source(self.datagrams(self.datagrams).0 + node.0)
    }

    pub(super) const fn controller(self) -> Source {
        Source(self.datagrams(self.datagrams).0 + self.control - 1)
    }

    pub(super) const fn probe(self) -> Source {
        Source(self.datagrams(self.datagrams).0 + self.control)
    }

    /// Behind the probe, so that the last instant is whole.
    pub(super) const fn end(self) -> Source {
        Source(self.probe().0 + 1)
    }

    pub(super) const fn count(self) -> usize {
        self.end().0 as usize + 1
    }

    /// Who the event of a source is for.
    #[inline]
    pub(super) fn event(self, source: Source) -> Event {
        let Some(number) = source.0.checked_sub(Self::FIRST_LINK) else {
            return if source == Self::ROUTES { Event::Routes } else { Event::Changes };
        };
        if number < self.links {
            return Event::Link(LinkId(number));
        }
        let number = number - self.links;
        if number < self.processors {
            return Event::Processor(number);
        }
        let number = number - self.processors;
        match number.checked_div(self.flows) {
            Some(0) => Event::Sender(FlowId(number)),
            Some(1) => Event::Receiver(FlowId(number - self.flows)),
            Some(2) => Event::Application(FlowId(number - 2 * self.flows)),
            _ => {
                let number = number - 3 * self.flows;
                let Some(number) = number.checked_sub(self.nics) else { return Event::Nic(number) };
                let Some(number) = number.checked_sub(self.datagrams) else {
                    return Event::Datagrams(number);
                };
                if number == self.control {
                    Event::Probe
                } else if number > self.control {
                    Event::End
                } else if number + 1 == self.control {
                    Event::Controller
                } else {
                    Event::Switch(NodeId(number))
                }
            }
        }
    }
}
