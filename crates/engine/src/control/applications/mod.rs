//! Applications of the controller: one file each with its parameters, and one line each in the list below.

mod external;
mod forwarding;
mod paced;
mod router;
mod subflow_round_robin;
mod tcpbp;
mod window_clamp;

use super::table::Removal;
use super::{Application, Breach, LinkProbe, Order, PacketIn, Statistics, View};
use crate::control::ControllerSetup;
use crate::records::Table;
use anabranch_units::declaration::Parameters;
use anabranch_units::{FlowId, Instant, NodeId};
pub use external::{ApplicationMaker, ExternalApplication, ExternalApplicationSetup};
use forwarding::ForwardingApplication;
pub use forwarding::ForwardingParameters;
use paced::Paced;
pub use paced::{PacedParameters, PacedSchedule};
use subflow_round_robin::SubflowRoundRobinApplication;
pub use subflow_round_robin::{GivenPaths, SubflowRoundRobinApplicationParameters};
use tcpbp::Tcpbp;
pub use tcpbp::{DelaySource, TcpbpSetup};
use window_clamp::WindowClamp;
pub use window_clamp::WindowClampParameters;

/// Largest factor that a parameter may be. A thousandfold overestimation is beyond any use, and keeps every time
/// that follows from it in range.
const LARGEST_FACTOR: f64 = 1000.0;

/// An application that a scenario can name.
pub trait ConfiguredApplication {
    /// What it lets a user choose.
    type Parameters: Parameters;
    /// Whether it measures links by probes and counters, so that it needs both.
    const MEASURES_LINKS: bool = false;
    /// Whether it gives entries to the subflows of multipath flows.
    const KNOWS_SUBFLOWS: bool = false;

    /// The application at the start of a run; the parameters are within their bounds. `segment_bytes` is the size
    /// of paced senders' data packets.
    fn configured(parameters: &Self::Parameters, setup: &ControllerSetup, segment_bytes: u32) -> Self;

    /// The same with a seed of what it draws; most draw nothing.
    #[must_use]
    fn with_seed(self, _seed: u64) -> Self
    where
        Self: Sized,
    {
        self
    }
}

/// Makes the configuration and the enumeration of one list of applications.
macro_rules! applications {
    ($( $name:literal => $variant:ident($application:ty) ),+ $(,)?; $external:literal) => {
        anabranch_units::registry! {
            /// What the SDN controller does.
            pub enum ApplicationSetup: "application" {
                $( $name => $variant(<$application as ConfiguredApplication>::Parameters), )+
                ; $external => External(ExternalApplicationSetup)
            }
        }

        impl ApplicationSetup {
            /// Whether it measures links by probes and counters, so that it needs both.
            #[must_use]
            pub const fn measures_links(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$application as ConfiguredApplication>::MEASURES_LINKS, )+
                    Self::External(_) => false,
                }
            }
        }

        impl ApplicationSetup {
            /// Whether it gives entries to the subflows of multipath flows.
            #[must_use]
            pub const fn knows_subflows(&self) -> bool {
                match self {
                    $( Self::$variant(_) => <$application as ConfiguredApplication>::KNOWS_SUBFLOWS, )+
                    Self::External(_) => false,
                }
            }
        }

        impl ApplicationSetup {
            /// Whether its probes are to find out what was before them on a link.
            #[must_use]
            pub const fn probes_links(&self) -> bool {
                match self {
                    Self::External(external) => external.probes_links,
                    _ => self.measures_links(),
                }
            }
        }

        /// The application of a run.
        #[derive(Debug)]
        pub enum Applications {
            $( #[doc = concat!("`", $name, "`.")] $variant(Box<$application>), )+
            /// One that the caller has brought along.
            External(Box<dyn ExternalApplication>),
        }

        impl Applications {
            /// The application that a setup names, in the network of `view`. `segment_bytes` is the size of paced
            /// senders' data packets, `seed` that of what an application draws.
            #[must_use]
            pub fn new(setup: &ControllerSetup, segment_bytes: u32, view: &View<'_>, seed: u64) -> Self {
                match &setup.application {
                    $( ApplicationSetup::$variant(parameters) => {
                        let configured: $application =
                            ConfiguredApplication::configured(parameters, setup, segment_bytes);
                        Self::$variant(Box::new(configured.with_seed(seed)))
                    } )+
                    ApplicationSetup::External(external) => {
                        Self::External(external.maker.get().application(view, seed))
                    }
                }
            }

            fn inner(&self) -> &dyn Application {
                match self {
                    $( Self::$variant(application) => &**application, )+
                    Self::External(application) => &**application,
                }
            }

            fn inner_mut(&mut self) -> &mut dyn Application {
                match self {
                    $( Self::$variant(application) => &mut **application, )+
                    Self::External(application) => &mut **application,
                }
            }
        }
    };
}

applications! {
    "forwarding" => Forwarding(ForwardingApplication),
    "sdn-paced" => SdnPaced(Paced),
    "window-clamp" => WindowClamp(WindowClamp),
    "tcpbp" => Tcpbp(Tcpbp),
    "subflow-round-robin" => SubflowRoundRobin(SubflowRoundRobinApplication),
    // What the caller brings along has no line here, but a name (`external.rs`).
    ; "python"
}

impl Applications {
    /// Gives subflows these paths in turn; whether the application has turns.
    pub fn keep_to(&mut self, paths: GivenPaths) -> bool {
        match self {
            Self::SubflowRoundRobin(application) => {
                application.keep_to(paths);
                true
            }
            _ => false,
        }
    }
}

impl Application for Applications {
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        self.inner_mut().on_packet(view, packet, out);
    }

    fn on_notice(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        self.inner_mut().on_notice(view, packet, out);
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, out: &mut Vec<Order>) {
        self.inner_mut().on_removed(view, removal, out);
    }

    fn on_refused(&mut self, view: &View<'_>, switch: NodeId, flow: FlowId, out: &mut Vec<Order>) {
        self.inner_mut().on_refused(view, switch, flow, out);
    }

    fn on_confirmation(&mut self, view: &View<'_>, flow: FlowId, epoch: u32, out: &mut Vec<Order>) {
        self.inner_mut().on_confirmation(view, flow, epoch, out);
    }

    fn on_statistics(&mut self, view: &View<'_>, statistics: &Statistics, out: &mut Vec<Order>) {
        self.inner_mut().on_statistics(view, statistics, out);
    }

    fn on_request(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.inner_mut().on_request(view, out);
    }

    fn on_probe(&mut self, view: &View<'_>, probe: &LinkProbe, out: &mut Vec<Order>) {
        self.inner_mut().on_probe(view, probe, out);
    }

    fn on_network_change(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.inner_mut().on_network_change(view, out);
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.inner_mut().on_timer(view, out);
    }

    fn next_timer(&self) -> Option<Instant> {
        self.inner().next_timer()
    }

    fn tables(&self) -> Vec<Table> {
        self.inner().tables()
    }

    fn breaches(&self) -> Vec<Breach> {
        self.inner().breaches()
    }
}
