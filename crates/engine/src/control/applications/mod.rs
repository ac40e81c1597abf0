//! Applications of the controller: one file each, and one line each in [`Applications::new`].

mod forwarding;
mod paced;
mod router;
mod tcpbp;
mod window_clamp;

use super::table::Removal;
use super::{Application, LinkProbe, Order, PacketIn, Statistics, View};
use crate::control::ControllerSetup;
use crate::records::Table;
use anabranch_units::{FlowId, Instant, NodeId};
use forwarding::Forwarding;
use paced::Paced;
pub use paced::PacedSchedule;
use serde::{Deserialize, Serialize};
use tcpbp::Tcpbp;
pub use tcpbp::{DelaySource, TcpbpSearch, TcpbpSetup};
use window_clamp::WindowClamp;

/// An application of the controller by name, with its parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ApplicationSetup {
    /// Entries for each new flow along the best path by the metric.
    Forwarding {},
    /// The same, and the senders are paced (Gholizadeh 2019, chapter 4).
    SdnPaced {
        /// Share of the bottleneck that may be used, 0..=1 ("alpha").
        alpha: f64,
        /// Overestimation of the handshake's delay, at least 1 ("beta").
        beta: f64,
        /// Overestimation of the round-trip time, at least 1 ("gamma").
        gamma: f64,
        /// Which schedule.
        schedule: PacedSchedule,
    },
    /// The same, and the advertised window of each flow is kept to its share of the bandwidth-delay product
    /// (Hwang et al., SCCP; Lu et al., SDTCP).
    WindowClamp {
        /// Share of the bandwidth-delay product that all flows of a link get together.
        share: f64,
    },
    /// Entries along the path of most predicted TCP throughput over links that are measured, to which open
    /// flows move (Vilela 2022). The metric of the setup gives the initial paths.
    Tcpbp(TcpbpSetup),
}

/// The application of a run.
#[derive(Debug)]
pub enum Applications {
    /// Entries along the best path.
    Forwarding(Forwarding),
    /// Paced senders.
    Paced(Box<Paced>),
    /// Clamped windows.
    WindowClamp(WindowClamp),
    /// Paths by predicted TCP throughput.
    Tcpbp(Box<Tcpbp>),
}

macro_rules! each {
    ($applications:expr, $inner:ident => $call:expr) => {
        match $applications {
            Applications::Forwarding($inner) => $call,
            Applications::Paced($inner) => $call,
            Applications::WindowClamp($inner) => $call,
            Applications::Tcpbp($inner) => $call,
        }
    };
}

impl Applications {
    /// The application that a setup names. `segment_bytes` is the size of paced senders' data packets.
    #[must_use]
    pub fn new(setup: &ControllerSetup, segment_bytes: u32) -> Self {
        match &setup.application {
            ApplicationSetup::Forwarding {} => Self::Forwarding(Forwarding::new(setup)),
            ApplicationSetup::SdnPaced { alpha, beta, gamma, schedule } => {
                let factors = paced::Factors { alpha: *alpha, beta: *beta, gamma: *gamma };
                Self::Paced(Box::new(Paced::new(setup, factors, *schedule, segment_bytes)))
            }
            ApplicationSetup::WindowClamp { share } => Self::WindowClamp(WindowClamp::new(setup, *share)),
            ApplicationSetup::Tcpbp(parameters) => Self::Tcpbp(Box::new(Tcpbp::new(setup, parameters))),
        }
    }
}

impl Application for Applications {
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_packet(view, packet, out));
    }

    fn on_notice(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_notice(view, packet, out));
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_removed(view, removal, out));
    }

    fn on_refused(&mut self, view: &View<'_>, switch: NodeId, flow: FlowId, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_refused(view, switch, flow, out));
    }

    fn on_confirmation(&mut self, view: &View<'_>, flow: FlowId, epoch: u32, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_confirmation(view, flow, epoch, out));
    }

    fn on_statistics(&mut self, view: &View<'_>, statistics: &Statistics, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_statistics(view, statistics, out));
    }

    fn on_request(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_request(view, out));
    }

    fn on_probe(&mut self, view: &View<'_>, probe: &LinkProbe, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_probe(view, probe, out));
    }

    fn on_network_change(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_network_change(view, out));
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        each!(self, inner => inner.on_timer(view, out));
    }

    fn next_timer(&self) -> Option<Instant> {
        each!(self, inner => inner.next_timer())
    }

    fn tables(&self) -> Vec<Table> {
        each!(self, inner => inner.tables())
    }
}
