//! Changes of the network at given times, and routing's reaction to them.

use super::{Numbering, Simulation};
use crate::loss::mean_loss;
use crate::records::Table;
use crate::setup::{Change, EventSetup};
use anabranch_routing::prune;
use anabranch_units::{Instant, LinkId};
use std::collections::VecDeque;

/// Times at which routing will have reacted to a change.
#[derive(Default)]
pub(super) struct Reactions {
    due: VecDeque<Instant>,
}

/// What happened to the network.
#[derive(Default)]
pub(super) struct Log {
    entries: Vec<(Instant, &'static str, String)>,
}

impl Log {
    fn note(&mut self, at: Instant, kind: &'static str, subject: &str) {
        self.entries.push((at, kind, subject.to_owned()));
    }

    pub(super) fn table(&self) -> Table {
        let mut table = Table::new("events");
        table.numbers("time_s", self.entries.iter().map(|entry| entry.0.as_secs_f64()));
        table.texts("kind", self.entries.iter().map(|entry| entry.1.to_owned()));
        table.texts("subject", self.entries.iter().map(|entry| entry.2.clone()));
        table
    }
}

impl Simulation {
    /// Makes every change that is due; they are in order of time.
    pub(super) fn on_changes(&mut self) {
        while let Some(event) = self.setup.events.get(self.next_change).filter(|event| event.at <= self.now) {
            let EventSetup { change, .. } = event.clone();
            self.next_change += 1;
            self.apply(&change);
        }
        let next = self.setup.events.get(self.next_change).map(|event| event.at);
        self.schedule.put(Numbering::CHANGES, next);
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Links { links, up } => {
                for &link in links {
                    self.mask.set_link(link, *up);
                    self.note(if *up { "link up" } else { "link down" }, link);
                }
                self.follow_mask();
            }
            Change::Node { node, up } => {
                self.mask.set_node(*node, *up);
                let name = self.network.node(*node).name.clone();
                self.events_log.note(self.now, if *up { "node up" } else { "node down" }, &name);
                self.follow_mask();
            }
            Change::Capacity { links, capacity } => {
                for &link in links {
                    *self.network.link_attributes(link).0 = *capacity;
                    let mut observer = self.taps.at(link);
                    self.links[link.index()].set_capacity(self.now, *capacity, &mut self.pool, &mut observer);
                    self.refresh(link);
                    self.note("capacity", link);
                }
            }
            Change::Delay { links, delay } => {
                for &link in links {
                    *self.network.link_attributes(link).1 = *delay;
                    let mut observer = self.taps.at(link);
                    self.links[link.index()].set_delay(self.now, *delay, &mut self.pool, &mut observer);
                    self.refresh(link);
                    self.note("delay", link);
                }
            }
            Change::Loss { links, loss } => {
                for &link in links {
                    *self.network.link_attributes(link).2 = mean_loss(loss);
                    self.set_loss(link, loss);
                    self.refresh(link);
                    self.note("loss", link);
                }
            }
        }
        self.expect_reaction();
    }

    fn note(&mut self, kind: &'static str, link: LinkId) {
        let name = &self.setup.links[link.index()].name;
        self.events_log.note(self.now, kind, name);
    }

    /// Brings every link to the state that the mask gives it.
    fn follow_mask(&mut self) {
        for link in self.network.link_ids() {
            let up = self.mask.usable(&self.network, link);
            if up != self.links[link.index()].is_up() {
                let mut observer = self.taps.at(link);
                self.links[link.index()].set_up(self.now, up, &mut self.pool, &mut observer);
                self.refresh(link);
            }
        }
    }

    fn refresh(&mut self, link: LinkId) {
        let next = self.links[link.index()].next_event();
        self.schedule.put(self.numbering.link(link), next);
    }

    fn expect_reaction(&mut self) {
        if let Some(reaction) = self.setup.routing.reaction {
            let due = self.now.saturating_add(reaction);
            if self.reactions.due.back() != Some(&due) {
                self.reactions.due.push_back(due);
            }
            self.schedule.put(Numbering::ROUTES, self.reactions.due.front().copied());
        }
    }

    /// Routing has noticed: new routes are in force. A scheme computes them anew; a plan from
    /// elsewhere loses its dead paths.
    pub(super) fn on_routes(&mut self) {
        self.reactions.due.pop_front();
        self.schedule.put(Numbering::ROUTES, self.reactions.due.front().copied());
        let plan = match &self.setup.routing.scheme {
            Some(scheme) => scheme.plan(&self.network, &self.data_mask(), &self.setup.pairs()),
            None => prune(&self.plan, &self.network, &self.mask),
        };
        self.forwarding.install(&self.network, &plan);
        self.tell_controller_of_change();
        self.events_log.note(self.now, "new routes", "");
    }
}
