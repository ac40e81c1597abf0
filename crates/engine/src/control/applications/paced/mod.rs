//! Centralised congestion control: the controller tells each sender when to send how much (Gholizadeh 2019,
//! chapter 4).
//!
//! Two schedules: [`published`], the thesis's equations, and [`stretched`], which keeps the data of any
//! number of flows apart on every link they share.

mod placement;
mod published;
mod stretched;
mod timing;

use super::router::{KnownFlow, Router, from_sender};
use super::{ConfiguredApplication, LARGEST_FACTOR};
use crate::control::ControllerSetup;
use crate::control::table::Removal;
use crate::control::{Application, Breach, Order, PacketIn, View};
use anabranch_units::declaration::{above, at_least};
use anabranch_units::{FlowId, Instant, NodeId};
use published::Published;
use stretched::Stretched;

anabranch_units::choice! {
    /// How the paced application spreads senders over an interval.
    pub enum PacedSchedule {
        /// With intervals long enough to give each sender that shares a link its own part.
        "stretched" => Stretched,
        /// As published: an interval for each access switch, at least one segment for each sender.
        "published" => Published,
    }
}

anabranch_units::parameters! {
    /// Entries for each flow, and senders that are paced (Gholizadeh 2019, chapter 4).
    #[derive(Copy)]
    pub struct PacedParameters {
        /// Share of the bottleneck that may be used (section 4.2).
        alpha: f64 = 1.0, above(0.0).at_most(1.0);
        /// Overestimation of the handshake's delay (section 4.2).
        beta: f64 = 1.0, at_least(1.0).at_most(LARGEST_FACTOR);
        /// Overestimation of the round-trip time (section 4.2).
        gamma: f64 = 1.5, at_least(1.0).at_most(LARGEST_FACTOR);
        /// How senders share an interval.
        schedule: PacedSchedule = PacedSchedule::Stretched;
    }
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

impl ConfiguredApplication for Paced {
    type Parameters = PacedParameters;

    fn configured(parameters: &PacedParameters, setup: &ControllerSetup, segment_bytes: u32) -> Self {
        let schedule = match parameters.schedule {
            PacedSchedule::Published => Schedule::Published(Published::new(*parameters, segment_bytes)),
            PacedSchedule::Stretched => Schedule::Stretched(Stretched::new(*parameters, segment_bytes)),
        };
        let router = Router::new(setup);
        // Behind the CTRLs of a cycle, FINs would come back from the controller in a row.
        let router = match &schedule {
            Schedule::Published(_) => router,
            Schedule::Stretched(_) => router.without_detour(),
        };
        Self { router, schedule }
    }
}

impl Paced {
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
        let Some(flow) = self.router.flow(header.flow).cloned() else {
            self.on_unknown(view, packet, out);
            return;
        };
        let open = flow.open;
        if open && header.fin && from_sender(packet) {
            // The parameters of the next cycle go out ahead of the FIN.
            self.on_close(view, header.flow, &flow, out);
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
        let Some(flow_state) = self.router.flow(header.flow).filter(|flow| flow.open).cloned() else {
            return;
        };
        if header.fin {
            self.on_close(view, header.flow, &flow_state, out);
            self.router.close(view, header.flow, out);
        } else {
            self.on_repeated_open(view, header.flow, out);
        }
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, out: &mut Vec<Order>) {
        let flow_state = self.router.flow(removal.flow).cloned();
        if self.router.on_removed(view, removal)
            && let Some(gone) = flow_state
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

    fn breaches(&self) -> Vec<Breach> {
        match &self.schedule {
            Schedule::Published(schedule) => schedule.breaches(),
            Schedule::Stretched(_) => Vec::new(),
        }
    }
}
