//! Devices that are ports of switches, which are not ours: each end of a link has one.
//!
//! A switch sends whole Ethernet frames, and so they are kept on their way; a host has a device of IP. Links count the
//! bytes of IP packets, as everywhere; a frame of another protocol counts without its header.

use anabranch_engine::packet::Direction;
use anabranch_units::{FlowId, LinkId};
use std::borrow::Cow;

/// Bytes of an Ethernet header.
pub(crate) const HEADER: usize = 14;
/// Of IPv4 (IEEE 802, Ethernet numbers).
const IPV4: [u8; 2] = [0x08, 0x00];
/// A host behind a switch sends and receives under this address, as all of them do: switches look at IP addresses.
const HOST: [u8; 6] = [0x02, 0, 0, 0, 0, 1];

/// A way over a link: the flow that stands for the nodes at its ends, and the direction.
pub(crate) type Lane = (FlowId, Direction, LinkId);

/// Where frames go that come in at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Over a link of the engine.
    Link(Lane),
    /// To another port, at once: from a host to the switch that it stands at, and back.
    Port(usize),
}

/// A device that is a port.
#[derive(Clone, Copy, Debug)]
struct Port {
    /// Whether it speaks frames; else it speaks IP.
    ethernet: bool,
    end: Option<Way>,
}

/// The ports of a network of switches, by the numbers of their devices.
#[derive(Default, Debug)]
pub(crate) struct Ports {
    ports: Vec<Port>,
    /// Where packets come out, by link.
    out: Vec<Option<usize>>,
}

impl Ports {
    /// The next device is a port.
    pub(crate) fn add(&mut self, ethernet: bool) -> usize {
        self.ports.push(Port { ethernet, end: None });
        self.ports.len() - 1
    }

    /// Whether there are any.
    pub(crate) const fn any(&self) -> bool {
        !self.ports.is_empty()
    }

    /// What comes in at a port goes over a link to another one. Whether there are such ports.
    pub(crate) fn lay(&mut self, (from, to): (usize, usize), lane: Lane) -> bool {
        let index = lane.2.index();
        if from.max(to) >= self.ports.len() {
            return false;
        }
        self.ports[from].end = Some(Way::Link(lane));
        self.out.resize(self.out.len().max(index + 1), None);
        self.out[index] = Some(to);
        true
    }

    /// What comes in at one of two ports goes out at the other. Whether there are such ports.
    pub(crate) fn join(&mut self, a: usize, b: usize) -> bool {
        if a.max(b) >= self.ports.len() {
            return false;
        }
        self.ports[a].end = Some(Way::Port(b));
        self.ports[b].end = Some(Way::Port(a));
        true
    }

    /// Where a frame goes that has come in at a port, and the frame; `None` where it goes nowhere.
    pub(crate) fn way<'a>(&self, port: usize, bytes: &'a [u8]) -> Option<(Way, Cow<'a, [u8]>)> {
        let Port { ethernet, end } = *self.ports.get(port)?;
        let frame = if ethernet { Cow::Borrowed(bytes) } else { Cow::Owned(framed(bytes)) };
        end.filter(|_| frame.len() >= HEADER).map(|end| (end, frame))
    }

    /// The port at the end of a link.
    pub(crate) fn end(&self, link: LinkId) -> Option<usize> {
        self.out.get(link.index()).copied().flatten()
    }

    /// What is to be written to a port; `None` for a frame that a host would not understand.
    pub(crate) fn spoken<'a>(&self, port: usize, frame: &'a [u8]) -> Option<&'a [u8]> {
        if self.ports[port].ethernet { Some(frame) } else { packet(frame) }
    }
}

/// The IP packet of a frame, if it has one.
pub(crate) fn packet(frame: &[u8]) -> Option<&[u8]> {
    (frame.get(12..HEADER)? == IPV4).then(|| &frame[HEADER..])
}

fn framed(packet: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER + packet.len());
    frame.extend_from_slice(&HOST);
    frame.extend_from_slice(&HOST);
    frame.extend_from_slice(&IPV4);
    frame.extend_from_slice(packet);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    const LLDP: [u8; 20] = [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 0x88, 0xcc, 0, 0, 0, 0, 0, 0];

    /// A host, its switch, and a second switch behind a link: what a host sends is framed, and what it gets is not.
    #[test]
    fn frames_go_where_their_port_leads() {
        let mut ports = Ports::default();
        let [host, inner, outer, far] = [false, true, true, true].map(|ethernet| ports.add(ethernet));
        assert!(ports.join(host, inner));
        let lane = (FlowId(4), Direction::Forward, LinkId(2));
        assert!(ports.lay((outer, far), lane));
        let (leads, frame) = ports.way(host, &[0x45, 1, 2]).expect("a way");
        assert_eq!((leads, frame.len(), packet(&frame)), (Way::Port(inner), 17, Some(&[0x45, 1, 2][..])));
        assert_eq!(ports.spoken(inner, &frame), Some(&frame[..]));
        assert_eq!(ports.spoken(host, &frame), Some(&[0x45, 1, 2][..]));
        assert_eq!(ports.spoken(host, &LLDP), None);
        let (leads, frame) = ports.way(outer, &LLDP).expect("a way");
        assert_eq!((leads, &frame[..]), (Way::Link(lane), &LLDP[..]));
        assert_eq!(
            (ports.end(LinkId(2)), ports.end(LinkId(0)), ports.end(LinkId(9))),
            (Some(far), None, None)
        );
    }

    #[test]
    fn what_leads_nowhere_goes_nowhere() {
        let mut ports = Ports::default();
        let port = ports.add(true);
        assert_eq!(ports.way(port, &LLDP), None);
        assert!(!ports.join(port, 1));
        assert!(!ports.lay((port, 1), (FlowId(0), Direction::Forward, LinkId(0))));
        assert_eq!(ports.way(7, &LLDP), None);
        let other = ports.add(true);
        ports.join(port, other);
        assert_eq!(ports.way(port, &LLDP[..13]), None, "too short for a header");
    }
}
