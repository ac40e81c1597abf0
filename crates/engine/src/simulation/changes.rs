//! Changes of the network, and routing's reaction to them.

use super::taps::TapAt;
use super::{Numbering, Progress, Simulation};
use crate::link::SimulatedLink;
use crate::loss::mean_loss;
use crate::packet::PacketPool;
use crate::records::Table;
use crate::setup::Change;
use anabranch_network::Network;
use anabranch_routing::{LinkMask, Plan, prune};
use anabranch_units::{Instant, LinkId, NodeId};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What has changed so far.
pub(super) struct Changes {
    /// What is up.
    mask: LinkMask,
    /// Place of the setup's next change.
    next: usize,
    /// Times at which routing will have reacted to a change.
    reactions: VecDeque<Instant>,
    log: Log,
}

impl Changes {
    pub(super) fn new(network: &Network) -> Self {
        let mask = LinkMask::all_up(network);
        Self { mask, next: 0, reactions: VecDeque::new(), log: Log::default() }
    }

    /// What happened to the network.
    pub(super) fn table(&self) -> Table {
        self.log.table()
    }
}

/// What happened to the network.
#[derive(Default)]
struct Log {
    entries: Vec<(Instant, &'static str, String)>,
}

impl Log {
    fn note(&mut self, at: Instant, kind: &'static str, subject: &str) {
        self.entries.push((at, kind, subject.to_owned()));
    }

    fn table(&self) -> Table {
        let mut table = Table::new("events");
        table.numbers("time_s", self.entries.iter().map(|entry| entry.0.as_secs_f64()));
        table.texts("kind", self.entries.iter().map(|entry| &entry.1));
        table.texts("subject", self.entries.iter().map(|entry| &entry.2));
        table
    }
}

impl Simulation {
    /// Makes every change that is due; they are in order of time.
    pub(super) fn on_changes(&mut self) {
        let setup = Arc::clone(&self.setup);
        let due = |next: usize| setup.events.get(next);
        while let Some(event) = due(self.changes.next).filter(|event| event.at <= self.data.now) {
            self.changes.next += 1;
            self.apply(&event.change);
        }
        self.data.schedule.put(Numbering::CHANGES, due(self.changes.next).map(|event| event.at));
    }

    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::Links { links, up } => {
                for &link in links {
                    if *up {
                        self.set_silent(link, false);
                    }
                    self.changes.mask.set_link(link, *up);
                    self.note(if *up { "link up" } else { "link down" }, link);
                }
                self.follow_mask();
            }
            Change::Silent { links } => {
                for &link in links {
                    self.set_silent(link, true);
                    self.note("link silent", link);
                }
                // Nobody hears of it.
                return;
            }
            Change::Node { node, up } => self.set_node(*node, *up),
            Change::Capacity { links, capacity } => {
                for &link in links {
                    *self.data.network.link_attributes(link).0 = *capacity;
                    self.data.change_link(link, |link, now, pool, taps| {
                        link.set_capacity(now, *capacity, pool, taps);
                    });
                    self.note("capacity", link);
                }
            }
            Change::Delay { links, delay } => {
                for &link in links {
                    *self.data.network.link_attributes(link).1 = *delay;
                    self.data
                        .change_link(link, |link, now, pool, taps| link.set_delay(now, *delay, pool, taps));
                    self.note("delay", link);
                }
            }
            Change::Loss { links, loss } => {
                for &link in links {
                    *self.data.network.link_attributes(link).2 = mean_loss(loss);
                    if self.begins_here(link) {
                        self.set_loss(link, loss);
                    }
                    self.note("loss", link);
                }
            }
            Change::Queue { links, queue } => {
                for &link in links {
                    if self.begins_here(link) {
                        self.set_queue(link, queue);
                    }
                    self.note("queue", link);
                }
                // No route depends on queues.
                return;
            }
            Change::Address { link, up } => {
                self.note(if *up { "address up" } else { "address down" }, *link);
                self.change_address(*link, Some(*up), None);
                return;
            }
            Change::Backup { link, backup } => {
                self.note(if *backup { "backup" } else { "regular" }, *link);
                self.change_address(*link, None, Some(*backup));
                return;
            }
        }
        self.expect_reaction();
    }

    /// Whether a link leaves a node of this part of the run, so that packets wait in front of it here.
    fn begins_here(&self, link: LinkId) -> bool {
        self.data.forwarding.is_here(self.data.network.link(link).from)
    }

    fn set_silent(&mut self, link: LinkId, silent: bool) {
        let change = |link: &mut SimulatedLink, now, pool: &mut PacketPool, taps: &mut TapAt<'_>| {
            link.set_silent(now, silent, pool, taps);
        };
        self.data.change_link(link, change);
    }

    fn set_node(&mut self, node: NodeId, up: bool) {
        self.changes.mask.set_node(node, up);
        let name = &self.data.network.node(node).name;
        self.changes.log.note(self.data.now, if up { "node up" } else { "node down" }, name);
        self.follow_mask();
    }

    fn note(&mut self, kind: &'static str, link: LinkId) {
        self.changes.log.note(self.data.now, kind, &self.setup.links[link.index()].name);
    }

    /// Brings every link to the state that the mask gives it.
    fn follow_mask(&mut self) {
        for link in self.data.network.link_ids() {
            let up = self.changes.mask.usable(&self.data.network, link);
            if up != self.data.links[link.index()].is_up() {
                self.data.change_link(link, |link, now, pool, taps| link.set_up(now, up, pool, taps));
            }
        }
        self.tell_planes();
    }

    fn expect_reaction(&mut self) {
        if let Some(reaction) = self.setup.routing.reaction {
            let due = self.data.now.saturating_add(reaction);
            let reactions = &mut self.changes.reactions;
            if reactions.back() != Some(&due) {
                reactions.push_back(due);
            }
            self.data.schedule.put(Numbering::ROUTES, reactions.front().copied());
        }
    }

    /// Links that may carry data now.
    fn data_mask(&self) -> LinkMask {
        let mut mask = self.changes.mask.clone();
        if let Some(controller) = &self.setup.controller {
            mask.set_node(controller.node, false);
        }
        mask
    }

    /// Routing has noticed: new routes are in force. A scheme computes them anew; a plan from
    /// elsewhere loses its dead paths. Where `report` breaks, nothing has happened yet.
    pub(super) fn on_routes(
        &mut self,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let plan = self.new_plan(report)?;
        self.follow_plan(&plan);
        ControlFlow::Continue(())
    }

    /// The routes of all schemes in the network as it is now. Where `report` breaks, so does the answer.
    pub(super) fn new_plan(
        &self,
        report: &mut impl FnMut(Progress) -> ControlFlow<()>,
    ) -> ControlFlow<(), Plan> {
        let (network, for_data) = (&self.data.network, self.data_mask());
        let mut plans = Vec::new();
        for (place, (scheme, plan)) in self.setup.routing.schemes().zip(self.plan.all()).enumerate() {
            let plan = match scheme {
                Some(scheme) => {
                    let (progress, pairs) = (self.progress(), self.setup.pairs_of(place));
                    scheme.plan_watched(network, &for_data, &pairs, &mut |_| match report(progress) {
                        ControlFlow::Continue(()) => Ok(()),
                        ControlFlow::Break(()) => Err(()),
                    })
                }
                None => Ok(prune(plan, network, &self.changes.mask)),
            };
            match plan {
                Ok(plan) => plans.push(plan),
                Err(()) => return ControlFlow::Break(()),
            }
        }
        let mut plan = plans.remove(0);
        plan.others = plans;
        ControlFlow::Continue(plan)
    }

    /// These routes are in force from now on.
    pub(super) fn follow_plan(&mut self, plan: &Plan) {
        let for_data = self.data_mask();
        self.changes.reactions.pop_front();
        self.data.schedule.put(Numbering::ROUTES, self.changes.reactions.front().copied());
        self.data.forwarding.install(&self.data.network, plan);
        self.join_interfaces(plan);
        if let Some(control) = &mut self.control {
            control.on_network_change(&mut self.data, &self.flows, &self.changes.mask, for_data);
        }
        self.changes.log.note(self.data.now, "new routes", "");
    }
}
