//! Switches: they forward by their flow tables, and hand the controller what these do not know.

use super::{ControlPlane, back_to_flow};
use crate::control::table::{Action, FlowTable, Removal, Rule};
use crate::control::{
    Application, Header, Ingress, LinkCounters, Message, PacketIn, Statistics, clamped_window, tuple,
};
use crate::packet::{Direction, Packet, PacketId, Steering};
use crate::simulation::data_plane::DataPlane;
use crate::simulation::flows::Flows;
use anabranch_transport::{Flags, Segment};
use anabranch_units::{FlowId, LinkId, NodeId};

impl ControlPlane {
    /// A packet of a flow is at a node that is not its destination.
    pub(in crate::simulation) fn forward(
        &mut self,
        data: &mut DataPlane,
        flows: &Flows,
        node: NodeId,
        id: PacketId,
        over: Option<LinkId>,
    ) {
        let Some(table) = &mut self.tables[node.index()] else {
            // A host sends all it has to its switch.
            match self.channels.gateway(node).filter(|_| over.is_none()) {
                Some(link) => data.send(link, id),
                None => data.drop_unreachable(id),
            }
            return;
        };
        let header = header(flows, *data.pool.get(id), data.pool.segment(id));
        let from_switch = |link: LinkId| self.channels.is_switch(data.network.link(link).from);
        let ingress = if over.is_some_and(from_switch) { Ingress::Switch } else { Ingress::Host };
        note_window_scale(table, &header, data.pool.segment(id));
        match table.look_up(data.now, &header, ingress) {
            Some(Action::Output(link)) => data.send(link, id),
            Some(Action::OutputAndTell(link)) => {
                data.send(link, id);
                let seen = PacketIn { switch: node, ingress, header, missed: false };
                self.send_up(data, node, Message::Notice(seen));
            }
            Some(Action::OutputClamped(link, bytes)) => {
                clamp(table, &header, data.pool.segment_mut(id), bytes);
                data.send(link, id);
            }
            to_controller @ (Some(Action::Controller) | None) => {
                let missed = to_controller.is_none();
                self.hand_to_controller(data, node, id, PacketIn { switch: node, ingress, header, missed });
            }
        }
    }

    /// A packet goes from a switch to the controller, whole.
    fn hand_to_controller(&mut self, data: &mut DataPlane, switch: NodeId, id: PacketId, seen: PacketIn) {
        let packet = data.pool.get_mut(id);
        packet.steering = Steering::Channel;
        let Some(up) = self.channels.up(switch) else {
            data.drop_unreachable(id);
            return;
        };
        packet.destination = self.setup.node;
        packet.cursor = data.forwarding.lay(up);
        let bytes = packet.bytes;
        self.put(id, Message::PacketIn(seen), bytes);
        self.gone_up.insert(id, (data.now, switch));
        data.follow_path(id);
    }

    /// A packet of a channel has come to its end. The answer is the flow whose sender may send now, if it was for
    /// one.
    pub(in crate::simulation) fn on_channel_end(
        &mut self,
        data: &mut DataPlane,
        flows: &mut Flows,
        node: NodeId,
        id: PacketId,
    ) -> Option<FlowId> {
        match self.take(id)? {
            Message::PacketIn(packet) => {
                self.ask(data, flows, Some(id), |application, view, out| {
                    application.on_packet(view, &packet, out);
                });
                None
            }
            Message::PacketOut(link, window) => {
                self.send_out(data, flows, node, id, (link, window));
                None
            }
            Message::ProbeOut(link, round) => {
                self.send_probe(data, link, round, id);
                None
            }
            Message::Probe(link, round, queued_at) => {
                self.receive_probe(data, link, round, queued_at, id);
                None
            }
            message => {
                data.pool.remove(id);
                self.on_message(data, flows, node, message)
            }
        }
    }

    /// A switch sends a packet over a link, as the controller has told it to.
    fn send_out(
        &mut self,
        data: &mut DataPlane,
        flows: &Flows,
        switch: NodeId,
        id: PacketId,
        (link, window): (LinkId, Option<u64>),
    ) {
        back_to_flow(data, flows, id);
        if let Some((left, from)) = self.gone_up.remove(&id) {
            self.detours[from.index()].note(data.now.since(left));
        }
        let header = header(flows, *data.pool.get(id), data.pool.segment(id));
        if let Some(table) = &mut self.tables[switch.index()] {
            note_window_scale(table, &header, data.pool.segment(id));
            if let Some(bytes) = window {
                clamp(table, &header, data.pool.segment_mut(id), bytes);
            }
        }
        data.send(link, id);
    }

    pub(super) fn set_up(&mut self, data: &mut DataPlane, switch: NodeId, rules: &[Rule]) {
        let mut removed = Vec::new();
        let Some(table) = &mut self.tables[switch.index()] else { return };
        let refused = table.insert(data.now, rules, &mut removed).is_err();
        data.schedule.put(data.numbering.switch(switch), table.next_expiry());
        self.report_removals(data, switch, removed);
        if let Some(rule) = rules.first().filter(|_| refused) {
            self.send_up(data, switch, Message::Refused(switch, rule.flow));
        }
    }

    /// Entries of a switch's table may have expired.
    pub(in crate::simulation) fn on_switch(&mut self, data: &mut DataPlane, switch: NodeId) {
        let mut removed = Vec::new();
        let Some(table) = &mut self.tables[switch.index()] else { return };
        table.expire(data.now, &mut removed);
        data.schedule.put(data.numbering.switch(switch), table.next_expiry());
        self.report_removals(data, switch, removed);
    }

    fn report_removals(&mut self, data: &mut DataPlane, switch: NodeId, removed: Vec<Removal>) {
        for removal in removed {
            self.send_up(data, switch, Message::Removed(removal));
        }
    }

    pub(super) fn answer_with_statistics(&mut self, data: &mut DataPlane, switch: NodeId) {
        let mut statistics = Statistics { switch, at: data.now, sent: Vec::new(), received: Vec::new() };
        let DataPlane { network, links, pool, taps, now, .. } = &mut *data;
        for &link in network.links_out(switch) {
            let leaving = &mut links[link.index()];
            leaving.advance(*now, pool, &mut taps.at(link));
            let stats = leaving.stats();
            statistics.sent.push(LinkCounters {
                link,
                sent_bytes: stats.sent_bytes,
                sent: stats.sent,
                dropped: Some(stats.drops.by_queues()),
                queue_packets: Some(leaving.backlog().0),
            });
        }
        for &link in network.links_into(switch) {
            statistics.received.push((link, links[link.index()].stats().delivered));
        }
        self.send_up(data, switch, Message::Statistics(Box::new(statistics)));
    }
}

/// Lowers the window of an ACK. That of a SYN is never scaled (RFC 7323 section 2.2); a switch that has not seen the
/// SYN-ACK cannot say what a window means, and leaves it alone.
fn clamp(table: &FlowTable, header: &Header, segment: &mut Segment, bytes: u64) {
    let scale = if header.syn { Some(0) } else { table.window_scale(header) };
    if let Some(scale) = scale {
        segment.window = clamped_window(segment.window, bytes, scale);
    }
}

/// Reads the window scale off a SYN-ACK.
fn note_window_scale(table: &mut FlowTable, header: &Header, segment: &Segment) {
    if header.syn && header.direction == Direction::Backward {
        table.note_window_scale(header, segment.window_scale_plus_one.saturating_sub(1));
    }
}

fn header(flows: &Flows, packet: Packet, segment: &Segment) -> Header {
    let flow = &flows[packet.flow.index()];
    let (from, to) = flow.between(packet.direction);
    Header {
        flow: tuple(flows.len(), packet.flow, packet.subflow),
        direction: packet.direction,
        from,
        to,
        syn: segment.flags.has(Flags::SYN),
        fin: segment.flags.has(Flags::FIN),
        mss: segment.mss,
    }
}
