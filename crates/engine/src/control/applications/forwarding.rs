//! ForwardingApplication by flow along the best path (Gholizadeh 2019, figure 3.6).

use super::ConfiguredApplication;
use super::router::{ByMetric, PathFinder, Router, from_sender};
use crate::control::ControllerSetup;
use crate::control::table::Removal;
use crate::control::{Application, Order, PacketIn, View};
use anabranch_units::{FlowId, Instant, NodeId};

anabranch_units::parameters! {
    /// Entries for each flow along the best path (Gholizadeh 2019, figure 3.6).
    #[derive(Copy, Eq)]
    pub struct ForwardingParameters {}
}

/// Entries for each new flow along the best path; they go when the flow ends.
#[derive(Debug)]
pub struct ForwardingApplication<F = ByMetric> {
    pub(super) router: Router<F>,
}

impl ConfiguredApplication for ForwardingApplication {
    type Parameters = ForwardingParameters;

    fn configured(_: &ForwardingParameters, setup: &ControllerSetup, _: u32) -> Self {
        Self { router: Router::new(setup) }
    }
}

impl<F: PathFinder> Application for ForwardingApplication<F> {
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        let header = &packet.header;
        let has_opened = self.router.flow(header.flow).is_some();
        if has_opened {
            self.router.repeat(view, packet, out);
        } else if !self.router.admit(view, header, out) {
            return;
        }
        self.router.release(view, packet, out);
        if header.fin && from_sender(packet) {
            self.router.close(view, header.flow, out);
        }
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, _out: &mut Vec<Order>) {
        self.router.on_removed(view, removal);
    }

    fn on_refused(&mut self, _view: &View<'_>, switch: NodeId, flow: FlowId, _out: &mut Vec<Order>) {
        self.router.on_refused(switch, flow);
    }

    fn on_network_change(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.router.reroute(view, out);
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.router.on_timer(view, out);
    }

    fn next_timer(&self) -> Option<Instant> {
        self.router.next_timer()
    }
}
