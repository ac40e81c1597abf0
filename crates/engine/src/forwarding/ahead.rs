//! Where packets will go on, for what is fetched ahead: nothing is chosen, and nothing changes.

use super::{Forwarding, PathChoice, RouteIndex};
use crate::packet::{Packet, Steering};
use anabranch_units::LinkId;

impl Forwarding {
    /// The next link of a packet that goes along a path, without a step on it.
    #[inline]
    #[must_use]
    pub fn look_ahead(&self, packet: &Packet) -> Option<LinkId> {
        (matches!(packet.steering, Steering::Path | Steering::SprayPath))
            .then(|| self.path_links.get(packet.cursor as usize).copied())?
    }

    /// The first link of the only path of a route.
    #[inline]
    #[must_use]
    pub fn first_link(&self, route: RouteIndex) -> Option<LinkId> {
        match self.routes[route.0 as usize] {
            PathChoice::Only(start) => self.path_links.get(start as usize).copied(),
            _ => None,
        }
    }
}
