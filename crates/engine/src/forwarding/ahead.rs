//! Where routes begin, as who sends on them has noted it; and where packets will go on, for what is fetched ahead.

use super::{Forwarding, PathChoice, PathStart, RouteIndex};
use crate::balancer::FlowKey;
use crate::packet::{Packet, Steering};
use anabranch_units::{Instant, LinkId, rarely};

/// A route as one of its senders knows it. Where it begins alike for all packets this is noted here: among many flows the
/// list of all routes is far away.
#[derive(Clone, Copy, Debug)]
pub struct KnownRoute {
    index: RouteIndex,
    /// Plans that had been installed when its beginning was noted; [`NEVER`] before.
    noted_at: u32,
    start: PathStart,
}

const NEVER: u32 = u32::MAX;

impl From<RouteIndex> for KnownRoute {
    fn from(index: RouteIndex) -> Self {
        Self { index, noted_at: NEVER, start: PathStart::NextHops(0) }
    }
}

impl KnownRoute {
    /// Its index.
    #[must_use]
    pub const fn index(&self) -> RouteIndex {
        self.index
    }
}

impl Forwarding {
    /// Where a new packet of a sender sets out; `None` where there is no route.
    #[inline]
    pub fn set_out(&mut self, now: Instant, route: &mut KnownRoute, key: &FlowKey) -> Option<PathStart> {
        if rarely(route.noted_at != self.generation) {
            return self.set_out_by_list(now, route, key);
        }
        Some(route.start)
    }

    #[inline(never)]
    fn set_out_by_list(&mut self, now: Instant, route: &mut KnownRoute, key: &FlowKey) -> Option<PathStart> {
        let start = self.start(now, route.index, key)?;
        if matches!(self.routes[route.index.0 as usize], PathChoice::Only(_) | PathChoice::HopByHop(_)) {
            (route.noted_at, route.start) = (self.generation, start);
        }
        Some(start)
    }

    /// The next link of a packet that goes along a path, without a step on it.
    #[inline]
    #[must_use]
    pub fn look_ahead(&self, packet: &Packet) -> Option<LinkId> {
        (matches!(packet.steering, Steering::Path | Steering::SprayPath))
            .then(|| self.path_links.get(packet.cursor as usize).copied())?
    }

    /// The first link of a route, if it is noted.
    #[inline]
    #[must_use]
    pub fn first_link(&self, route: &KnownRoute) -> Option<LinkId> {
        match route.start {
            PathStart::Path(start) if route.noted_at == self.generation => {
                self.path_links.get(start as usize).copied()
            }
            _ => None,
        }
    }
}
