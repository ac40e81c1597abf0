//! The two parts of a run that is divided between two cores.
//!
//! Each part is a whole [`Simulation`] of the setup, of which it uses what belongs to its nodes: the links that leave
//! them, and the ends of flows at them. A link between the parts exists in both: where it begins, packets wait and are
//! sent; where it ends, they arrive. At the end both parts become one again.

use super::Simulation;
use super::flow::Flow;
use super::taps::Carried;
use crate::packet::Unpooled;
use anabranch_units::{FlowId, Instant, LinkId};
use std::mem::swap;

/// A packet on its way from one part to the other.
#[derive(Debug)]
pub(super) struct Crossing {
    link: LinkId,
    arrival: Instant,
    packet: Unpooled,
}

/// What the parts held when they became one: packets stay in two pools, of which one is gone.
pub(super) struct Joined {
    /// As [`Simulation::held`] has it.
    pub(super) held: Vec<(Carried, u64)>,
    /// As [`Simulation::queue_integrals`] has them.
    pub(super) queue_integrals: Vec<u128>,
    /// Packets in the pools.
    pub(super) live: usize,
}

impl Simulation {
    /// Leaves out what the other part does: the applications at its nodes, and the probe, which sees both.
    pub(super) fn keep(&mut self, sides: &[bool], side: bool) {
        let (schedule, numbering) = (&mut self.data.schedule, self.data.numbering);
        for (index, flow) in self.flows.iter().enumerate() {
            if sides[flow.forward.from.index()] != side {
                schedule.clear(numbering.application(FlowId::from_index(index)));
            }
        }
        schedule.clear(numbering.probe());
    }

    /// Brings the links to the other part forward to now, and hands over what they have sent.
    pub(super) fn hand_over(&mut self, links: &[LinkId], out: &mut Vec<Crossing>) {
        for &id in links {
            self.data.change_link(id, |link, now, pool, taps| {
                link.hand_over(now, pool, taps, |packet, arrival| {
                    out.push(Crossing { link: id, arrival, packet });
                });
            });
        }
    }

    /// Takes what the other part has sent.
    pub(super) fn take_in(&mut self, crossings: &mut Vec<Crossing>) {
        for Crossing { link: id, arrival, packet } in crossings.drain(..) {
            let link = &mut self.data.links[id.index()];
            if link.take_in(packet, arrival, &mut self.data.pool) {
                self.data.schedule.set(self.data.numbering.link(id), arrival);
            }
        }
    }

    /// Both parts become this one, to be finished.
    pub(super) fn join(&mut self, mut other: Self, sides: &[bool]) {
        self.settle_links();
        other.settle_links();
        let mut held = self.held();
        for ((forward, backward), (others, answers)) in held.iter_mut().zip(other.held()) {
            forward.add(others);
            *backward += answers;
        }
        let (mut queue_integrals, others) = (self.queue_integrals(), other.queue_integrals());
        let ends = self.data.network.links().iter();
        let links = self.data.links.iter_mut().zip(&mut other.data.links);
        for (index, (ends, (here, there))) in ends.zip(links).enumerate() {
            let (from, to) = (sides[ends.from.index()], sides[ends.to.index()]);
            if from {
                swap(here, there);
                queue_integrals[index] = others[index];
            }
            if from != to {
                here.rejoin(there);
            }
        }
        let live = self.data.pool.live() + other.data.pool.live();
        self.joined = Some(Box::new(Joined { held, queue_integrals, live }));
        for (here, there) in self.flows.iter_mut().zip(&mut other.flows) {
            let (from, to) = (sides[here.forward.from.index()], sides[here.forward.to.index()]);
            if from {
                swap(here, there);
            }
            if from != to {
                here.join_receiver(there);
            }
        }
        for (here, there) in self.data.taps.drops.iter_mut().zip(&other.data.taps.drops) {
            here.add(there);
        }
        self.data.packet_hops += other.data.packet_hops;
        self.events += other.events;
    }
}

impl Flow {
    /// Takes the receiving end of a flow from the part where that is.
    fn join_receiver(&mut self, far: &mut Self) {
        swap(&mut self.receiver, &mut far.receiver);
        swap(&mut self.reader, &mut far.reader);
        swap(&mut self.reordering, &mut far.reordering);
        swap(&mut self.backward.lanes, &mut far.backward.lanes);
        self.completed_at = far.completed_at;
        self.received = far.received;
        self.backward.injected = far.backward.injected;
    }
}
