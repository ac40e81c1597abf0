//! Centralised congestion control: the controller tells each sender when to send how much (Gholizadeh 2019,
//! chapter 4).
//!
//! Two schedules: [`published`], the thesis's equations, and [`stretched`], which keeps the data of any
//! number of flows apart on every link they share.

mod published;
mod stretched;
mod timing;

use super::router::{KnownFlow, Router, from_sender};
use crate::control::ControllerSetup;
use crate::control::table::Removal;
use crate::control::{Application, Order, PacketIn, View};
use anabranch_units::{FlowId, Instant, NodeId};
use published::Published;
use serde::{Deserialize, Serialize};
use stretched::Stretched;

/// How the paced application spreads senders over an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacedSchedule {
    /// As published: an interval for each access switch, parts of equal length, at least one segment each.
    Published,
    /// Over all flows that share a link, with intervals as long as it takes to give each its own part.
    Stretched,
}

/// Factors of the protocol (Gholizadeh 2019, section 4.2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Factors {
    /// Share of the bottleneck that may be used.
    pub alpha: f64,
    /// Overestimation of the handshake's delay.
    pub beta: f64,
    /// Overestimation of the round-trip time.
    pub gamma: f64,
}

/// Paces senders.
#[derive(Debug)]
pub struct Paced {
    router: Router,
    schedule: Schedule,
}

#[derive(Debug)]
enum Schedule {
    Published(Published),
    Stretched(Stretched),
}

impl Paced {
    pub(super) fn new(
        setup: &ControllerSetup,
        factors: Factors,
        schedule: PacedSchedule,
        segment_bytes: u32,
    ) -> Self {
        let schedule = match schedule {
            PacedSchedule::Published => Schedule::Published(Published::new(factors, segment_bytes)),
            PacedSchedule::Stretched => Schedule::Stretched(Stretched::new(factors, segment_bytes)),
        };
        let router = Router::new(setup);
        // Behind the CTRLs of a cycle, FINs would come back from the controller in a row.
        let router = match &schedule {
            Schedule::Published(_) => router,
            Schedule::Stretched(_) => router.without_detour(),
        };
        Self { router, schedule }
    }

    fn on_open(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        let flow = packet.header.flow;
        if !self.router.admit(view, &packet.header, out) {
            return;
        }
        match &mut self.schedule {
            Schedule::Published(schedule) => {
                schedule.on_open(view, &self.router, flow, out);
                self.router.release(view, packet, out);
            }
            Schedule::Stretched(schedule) => {
                let gap = schedule.gap(view, &self.router, flow);
                self.router.release_apart(view, packet, gap, out);
                schedule.on_open(view, &self.router, flow, out);
            }
        }
    }

    /// A packet of a flow that is not known. A FIN is all that is left of one that was forgotten in a pause.
    fn on_unknown(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        if !(packet.header.fin && from_sender(packet)) {
            self.on_open(view, packet, out);
        } else if self.router.admit(view, &packet.header, out) {
            self.router.release(view, packet, out);
            self.router.close(view, packet.header.flow, out);
        }
    }

    /// A sender has sent its SYN again: its CTRL may be lost.
    fn on_repeated_open(&mut self, view: &View<'_>, flow: FlowId, out: &mut Vec<Order>) {
        match &mut self.schedule {
            Schedule::Published(schedule) => schedule.on_repeated_open(view, &self.router, flow, out),
            Schedule::Stretched(schedule) => schedule.on_repeated_open(view, flow),
        }
    }

    fn on_close(&mut self, view: &View<'_>, id: FlowId, flow: &KnownFlow, out: &mut Vec<Order>) {
        match &mut self.schedule {
            Schedule::Published(schedule) => schedule.on_close(view, &self.router, (id, flow), out),
            Schedule::Stretched(schedule) => schedule.on_close(view, &self.router, (id, flow), out),
        }
    }
}

impl Application for Paced {
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        let header = &packet.header;
        let Some(known) = self.router.flow(header.flow).cloned() else {
            self.on_unknown(view, packet, out);
            return;
        };
        let open = known.open;
        if open && header.fin && from_sender(packet) {
            // The parameters of the next cycle go out ahead of the FIN.
            self.on_close(view, header.flow, &known, out);
            self.router.release(view, packet, out);
            self.router.close(view, header.flow, out);
            return;
        }
        self.router.repeat(view, packet, out);
        if open && header.syn && from_sender(packet) {
            self.on_repeated_open(view, header.flow, out);
        }
        self.router.release(view, packet, out);
    }

    fn on_notice(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        let header = &packet.header;
        let Some(known) = self.router.flow(header.flow).filter(|flow| flow.open).cloned() else { return };
        if header.fin {
            self.on_close(view, header.flow, &known, out);
            self.router.close(view, header.flow, out);
        } else {
            self.on_repeated_open(view, header.flow, out);
        }
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, out: &mut Vec<Order>) {
        let known = self.router.flow(removal.flow).cloned();
        if self.router.on_removed(view, removal)
            && let Some(gone) = known
        {
            self.on_close(view, removal.flow, &gone, out);
        }
    }

    fn on_refused(&mut self, _view: &View<'_>, switch: NodeId, flow: FlowId, _out: &mut Vec<Order>) {
        self.router.on_refused(switch, flow);
    }

    fn on_confirmation(&mut self, _view: &View<'_>, flow: FlowId, epoch: u32, _out: &mut Vec<Order>) {
        if let Schedule::Stretched(schedule) = &mut self.schedule {
            schedule.on_confirmation(flow, epoch);
        }
    }

    fn on_network_change(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.router.reroute(view, out);
        match &mut self.schedule {
            Schedule::Published(schedule) => schedule.on_network_change(view, &self.router, out),
            Schedule::Stretched(schedule) => schedule.on_network_change(view, &self.router, out),
        }
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.router.on_timer(view, out);
        if let Schedule::Stretched(schedule) = &mut self.schedule {
            schedule.on_timer(view, &self.router, out);
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        let schedule = match &self.schedule {
            Schedule::Published(_) => None,
            Schedule::Stretched(schedule) => schedule.next_timer(),
        };
        [self.router.next_timer(), schedule].into_iter().flatten().min()
    }
}
