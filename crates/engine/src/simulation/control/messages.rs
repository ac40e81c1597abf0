//! Messages between the controller, its switches and the senders: packets along paths that are laid for them.

use super::{ControlPlane, Kept};
use crate::control::Message;
use crate::packet::{Direction, NO_FLOW, Packet, PacketId, Steering};
use crate::simulation::MAX_HOPS;
use crate::simulation::data_plane::DataPlane;
use anabranch_transport::Segment;
use anabranch_units::{FlowId, LinkId, NodeId, Span};
use std::collections::VecDeque;

impl ControlPlane {
    /// A packet carries a message from here on.
    pub(super) fn put(&mut self, packet: PacketId, message: Message, bytes: u32) {
        let count = &mut self.sent[message.kind()];
        count.0 += 1;
        count.1 += u64::from(bytes);
        let index = packet as usize;
        if self.messages.len() <= index {
            self.messages.resize(index + 1, None);
        }
        self.messages[index] = Some(message);
    }

    /// The message that a packet carries.
    pub(super) fn take(&mut self, packet: PacketId) -> Option<Message> {
        self.messages.get_mut(packet as usize).and_then(Option::take)
    }

    /// From the controller to a switch.
    pub(super) fn send_down(&mut self, data: &mut DataPlane, switch: NodeId, message: Message) {
        let path = self.channels.down(switch).map(<[LinkId]>::to_vec);
        self.send(data, switch, path, message);
    }

    /// From a switch to the controller.
    pub(super) fn send_up(&mut self, data: &mut DataPlane, switch: NodeId, message: Message) {
        let path = self.channels.up(switch).map(<[LinkId]>::to_vec);
        self.send(data, self.setup.node, path, message);
    }

    /// From the controller over a channel to a switch, and over the link of the sender's host.
    pub(super) fn send_to_sender(
        &mut self,
        data: &mut DataPlane,
        switch: NodeId,
        host: NodeId,
        message: Message,
    ) {
        let mut path = self.channels.down(switch).map(<[LinkId]>::to_vec);
        if host != switch {
            let mut leaving = data.network.links_out(switch).iter().copied();
            let last = leaving.find(|&link| data.network.link(link).to == host);
            path = path.zip(last).map(|(mut path, last)| {
                path.push(last);
                path
            });
        }
        self.send(data, host, path, message);
    }

    /// A sender tells the controller that its parameters have arrived.
    pub(super) fn confirm(&mut self, data: &mut DataPlane, host: NodeId, flow: FlowId, epoch: u32) {
        let gateway = self.channels.gateway(host);
        let switch = gateway.map_or(host, |link| data.network.link(link).to);
        let path = self.channels.up(switch).map(|up| gateway.into_iter().chain(up.iter().copied()).collect());
        self.send(data, self.setup.node, path, Message::Confirmation(flow, epoch));
    }

    /// Sends a message of the control plane along links to `to`; without a path it is lost.
    fn send(&mut self, data: &mut DataPlane, to: NodeId, path: Option<Vec<LinkId>>, message: Message) {
        let bytes = message.bytes();
        let cursor = path.as_ref().map(|path| data.forwarding.lay(path));
        let packet = Packet {
            bytes,
            flow: NO_FLOW,
            direction: Direction::Forward,
            subflow: 0,
            destination: to,
            steering: Steering::Channel,
            cursor: cursor.unwrap_or(0),
            hops_left: MAX_HOPS,
        };
        let id = data.pool.insert(packet, 0, &Segment::default());
        self.put(id, message, bytes);
        match cursor {
            Some(_) => data.follow_path(id),
            None => data.drop_unreachable(id),
        }
    }

    /// The controller sends a packet back to a switch: at once, or when those before it have left it room.
    pub(super) fn release_apart(
        &mut self,
        data: &mut DataPlane,
        switch: NodeId,
        out: (LinkId, Option<u64>),
        id: PacketId,
        gap: Span,
    ) {
        if gap == Span::ZERO {
            self.release(data, switch, out, id);
            return;
        }
        let kept = self.kept.entry(switch).or_insert(Kept { next: data.now, packets: VecDeque::new() });
        kept.packets.push_back((id, out, gap));
    }

    /// Sends on the packets that the controller has kept, one for each switch whose channel is free.
    pub(super) fn release_kept(&mut self, data: &mut DataPlane) {
        let now = data.now;
        let mut due = Vec::new();
        for (&switch, kept) in self.kept.iter_mut().filter(|(_, kept)| kept.next <= now) {
            let first = self.channels.down(switch).and_then(|down| down.first());
            let free = first.map_or(now, |link| data.links[link.index()].free_at());
            if free > now {
                kept.next = free;
            } else if let Some((id, out, gap)) = kept.packets.pop_front() {
                kept.next = now.saturating_add(gap);
                due.push((switch, out, id));
            }
        }
        self.kept.retain(|_, kept| !kept.packets.is_empty() || kept.next > now);
        for (switch, out, id) in due {
            self.release(data, switch, out, id);
        }
    }

    /// The controller sends a packet back to a switch, which sends it over a link.
    fn release(
        &mut self,
        data: &mut DataPlane,
        switch: NodeId,
        (link, window): (LinkId, Option<u64>),
        id: PacketId,
    ) {
        let Some(down) = self.channels.down(switch) else {
            data.drop_unreachable(id);
            return;
        };
        let packet = data.pool.get_mut(id);
        packet.destination = switch;
        packet.cursor = data.forwarding.lay(down);
        packet.hops_left = MAX_HOPS;
        let bytes = packet.bytes;
        self.put(id, Message::PacketOut(link, window), bytes);
        data.follow_path(id);
    }
}
