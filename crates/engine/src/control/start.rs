//! A controller at the start of a run, simulated or beside real switches.

use super::View;
use super::applications::Applications;
use super::channel::Channels;
use crate::setup::Setup;
use anabranch_network::Network;
use anabranch_routing::LinkMask;
use anabranch_transport::TransportConfig;
use anabranch_units::Instant;

/// Bytes of a paced data packet where no transport says otherwise.
const DEFAULT_SEGMENT: u16 = 1000;

/// What a controller is made of when a run begins.
#[derive(Debug)]
pub struct StartedController {
    /// What it does.
    pub application: Applications,
    /// Ways to its switches.
    pub channels: Channels,
    /// Links that may carry data, as far as it knows.
    pub mask: LinkMask,
}

impl StartedController {
    /// The controller of a setup, if it has one, over the links that are up in `mask`.
    #[must_use]
    pub fn new(setup: &Setup, network: &Network, mask: LinkMask) -> Option<Self> {
        let controller = setup.controller.as_ref()?;
        let channels = Channels::new(network, controller.node, &controller.switches, controller.channel);
        let segment = setup.transports.iter().filter_map(|transport| match &transport.config {
            TransportConfig::SdnPaced(config) => Some(config.segment),
            _ => None,
        });
        let segment = segment.max().unwrap_or(DEFAULT_SEGMENT);
        let view = View { now: Instant::ZERO, network, mask: &mask, channels: &channels };
        let seed = setup.streams().stream("controller", "application").next_u64();
        let application = Applications::new(controller, u32::from(segment), &view, seed);
        Some(Self { application, channels, mask })
    }
}
