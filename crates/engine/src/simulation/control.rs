//! The control plane at work: messages travel as packets, tables forward, the application answers.

mod link_probes;
mod tables;

use super::{MAX_HOPS, Numbering, Simulation};
use crate::control::applications::Applications;
use crate::control::channel::Channels;
use crate::control::table::{Action, FlowTable, Removal, Rule};
use crate::control::{
    Application, Header, Ingress, KINDS, LinkCounters, Message, Order, PacketIn, Statistics, View,
};
use crate::link::{DropCause, LinkObserver};
use crate::packet::{Direction, Packet, PacketId};
use crate::setup::{ControllerSetup, Setup};
use anabranch_network::Network;
use anabranch_routing::LinkMask;
use anabranch_transport::{Flags, Segment, TransportConfig};
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use std::collections::{BTreeMap, VecDeque};

/// Cursor of a packet that switches forward by their flow tables.
pub(super) const BY_FLOW_TABLE: u32 = u32::MAX - 1;

/// Flow number of packets that belong to no flow.
pub(super) const NO_FLOW: FlowId = FlowId(u32::MAX);

/// Bytes of a paced data packet where no transport says otherwise.
const DEFAULT_SEGMENT: u16 = 1000;

/// Packets for a switch that the controller spaces out.
struct Kept {
    /// When the next may go.
    next: Instant,
    /// With the link that the switch sends each over, its window, and the gap behind it.
    packets: VecDeque<(PacketId, (LinkId, Option<u64>), Span)>,
}

/// The control plane of a run.
pub(super) struct Control {
    setup: ControllerSetup,
    application: Applications,
    channels: Channels,
    /// By node: the table of a switch.
    tables: Vec<Option<FlowTable>>,
    /// What the controller takes to be usable for data.
    mask: LinkMask,
    /// By packet: the message it carries. A dropped packet leaves its message, until its place is used again.
    messages: Vec<Option<Message>>,
    /// Messages and bytes sent, by kind.
    sent: [(u64, u64); KINDS.len()],
    /// Packets that the controller keeps, by the switch they go to.
    kept: BTreeMap<NodeId, Kept>,
    next_question: Option<Instant>,
    statistics: Vec<(Instant, LinkCounters, f64)>,
    last_bytes: Vec<(Instant, u64)>,
    orders: Vec<Order>,
}

impl Control {
    pub(super) fn new(setup: &Setup, network: &Network) -> Option<Self> {
        let controller = setup.controller.clone()?;
        let channels = Channels::new(network, controller.node, &controller.switches, controller.channel);
        let table = |node| channels.is_switch(node).then(|| FlowTable::new(node, controller.table));
        let segment = setup.transports.iter().filter_map(|transport| match &transport.config {
            TransportConfig::SdnPaced(config) => Some(config.segment),
            _ => None,
        });
        let segment = segment.max().unwrap_or(DEFAULT_SEGMENT);
        Some(Self {
            application: Applications::new(&controller, u32::from(segment)),
            tables: network.node_ids().map(table).collect(),
            channels,
            mask: setup.data_mask(network),
            messages: Vec::new(),
            sent: [(0, 0); KINDS.len()],
            next_question: controller.statistics_interval.map(|interval| Instant::ZERO + interval),
            kept: BTreeMap::new(),
            statistics: Vec::new(),
            last_bytes: vec![(Instant::ZERO, 0); network.links().len()],
            orders: Vec::new(),
            setup: controller,
        })
    }

    /// When the controller wants to do something of its own accord.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        let kept = self.kept.values().map(|kept| kept.next).min();
        [self.next_question, self.application.next_timer(), kept].into_iter().flatten().min()
    }

    /// Packets that the controller keeps.
    pub(super) fn kept(&self) -> impl Iterator<Item = PacketId> {
        self.kept.values().flat_map(|kept| kept.packets.iter().map(|entry| entry.0))
    }

    fn put(&mut self, packet: PacketId, message: Message, bytes: u32) {
        let count = &mut self.sent[message.kind()];
        count.0 += 1;
        count.1 += u64::from(bytes);
        let index = packet as usize;
        if self.messages.len() <= index {
            self.messages.resize(index + 1, None);
        }
        self.messages[index] = Some(message);
    }

    fn take(&mut self, packet: PacketId) -> Option<Message> {
        self.messages.get_mut(packet as usize).and_then(Option::take)
    }
}

impl Setup {
    /// Links that may carry data while everything is up: all but those at the controller, which does not forward.
    #[must_use]
    pub fn data_mask(&self, network: &Network) -> LinkMask {
        let mut mask = LinkMask::all_up(network);
        if let Some(controller) = &self.controller {
            mask.set_node(controller.node, false);
        }
        mask
    }
}

impl Simulation {
    /// Links that may carry data now.
    pub(super) fn data_mask(&self) -> LinkMask {
        let mut mask = self.mask.clone();
        if let Some(controller) = &self.setup.controller {
            mask.set_node(controller.node, false);
        }
        mask
    }

    /// A packet of a flow is at a node that is not its destination, in a network with a controller.
    ///
    /// Apart from the path of networks without one, which stays small.
    #[inline(never)]
    pub(super) fn forward_by_table(&mut self, node: NodeId, id: PacketId, over: Option<LinkId>) {
        let Some(control) = &mut self.control else { return };
        let Some(table) = &mut control.tables[node.index()] else {
            // A host sends all it has to its switch.
            match control.channels.gateway(node).filter(|_| over.is_none()) {
                Some(link) => self.offer(link, id),
                None => self.drop_unreachable(id),
            }
            return;
        };
        let header = header(&self.flows, *self.pool.get(id), self.pool.segment(id));
        let from_switch = |link: LinkId| control.channels.is_switch(self.network.link(link).from);
        let ingress = if over.is_some_and(from_switch) { Ingress::Switch } else { Ingress::Host };
        note_window_scale(table, &header, self.pool.segment(id));
        match table.look_up(self.now, &header, ingress) {
            Some(Action::Output(link)) => self.offer(link, id),
            Some(Action::OutputAndTell(link)) => {
                self.offer(link, id);
                self.send_up(
                    node,
                    Message::Notice(PacketIn { switch: node, ingress, header, missed: false }),
                );
            }
            Some(Action::OutputClamped(link, bytes)) => {
                clamp(table, &header, self.pool.segment_mut(id), bytes);
                self.offer(link, id);
            }
            to_controller @ (Some(Action::Controller) | None) => {
                let missed = to_controller.is_none();
                self.hand_to_controller(node, id, PacketIn { switch: node, ingress, header, missed });
            }
        }
    }

    fn offer(&mut self, link: LinkId, id: PacketId) {
        let packet = self.pool.get_mut(id);
        if packet.hops_left == 0 {
            self.drop_unreachable(id);
            return;
        }
        packet.hops_left -= 1;
        let mut observer = self.taps.at(link);
        if self.links[link.index()].offer(self.now, id, &mut self.pool, &mut observer) {
            let next = self.links[link.index()].next_event();
            self.schedule.put(self.numbering.link(link), next);
        }
    }

    /// A packet goes from a switch to the controller, whole.
    fn hand_to_controller(&mut self, switch: NodeId, id: PacketId, packet_in: PacketIn) {
        let Some(control) = &mut self.control else { return };
        let Some(up) = control.channels.up(switch) else {
            self.pool.get_mut(id).channel = true;
            self.drop_unreachable(id);
            return;
        };
        let cursor = self.forwarding.lay(up);
        let packet = self.pool.get_mut(id);
        packet.destination = control.setup.node;
        packet.cursor = cursor;
        packet.channel = true;
        let bytes = packet.bytes;
        control.put(id, Message::PacketIn(packet_in), bytes);
        self.forward(switch, id, None);
    }

    /// A packet of a channel has come to its end.
    #[inline(never)]
    pub(super) fn on_channel_end(&mut self, node: NodeId, id: PacketId) {
        let Some(control) = &mut self.control else { return };
        let Some(message) = control.take(id) else { return };
        match message {
            Message::PacketIn(packet) => {
                self.ask(Some(id), |application, view, out| application.on_packet(view, &packet, out));
                return;
            }
            Message::PacketOut(link, window) => {
                self.back_to_flow(id);
                let header = header(&self.flows, *self.pool.get(id), self.pool.segment(id));
                if let Some(table) = self.control.as_mut().and_then(|c| c.tables[node.index()].as_mut()) {
                    note_window_scale(table, &header, self.pool.segment(id));
                    if let Some(bytes) = window {
                        clamp(table, &header, self.pool.segment_mut(id), bytes);
                    }
                }
                self.offer(link, id);
                return;
            }
            Message::ProbeOut(link, round) => {
                self.send_probe(link, round, id);
                return;
            }
            Message::Probe(link, round, queued_at) => {
                self.receive_probe(link, round, queued_at, id);
                return;
            }
            _ => self.pool.remove(id),
        }
        self.on_message(node, message);
    }

    fn on_message(&mut self, node: NodeId, message: Message) {
        match message {
            Message::PacketIn(_) | Message::PacketOut(..) | Message::ProbeOut(..) | Message::Probe(..) => {}
            Message::SetUp(rules) => self.set_up(node, &rules),
            Message::Remove(flow) => {
                if let Some(table) = self.table(node) {
                    table.remove(flow);
                }
            }
            Message::Control(flow, parameters) => {
                let now = self.now;
                let sender = &mut self.flows[flow.index()].sender;
                sender.on_control(now, &parameters);
                while let Some(epoch) = self.flows[flow.index()].sender.poll_confirmation() {
                    self.confirm(node, flow, epoch);
                }
                self.sequences.control(now, flow);
                self.flush_sender(flow);
            }
            Message::StatisticsRequest => self.answer_with_statistics(node),
            Message::Notice(packet) => self.ask(None, |a, view, out| a.on_notice(view, &packet, out)),
            Message::Removed(removal) => self.ask(None, |a, view, out| a.on_removed(view, &removal, out)),
            Message::Refused(switch, flow) => {
                self.ask(None, |a, view, out| a.on_refused(view, switch, flow, out));
            }
            Message::Confirmation(flow, epoch) => {
                self.ask(None, |a, view, out| a.on_confirmation(view, flow, epoch, out));
            }
            Message::ProbeIn(probe) => self.ask(None, |a, view, out| a.on_probe(view, &probe, out)),
            Message::Statistics(statistics) => {
                let now = self.now;
                if let Some(control) = &mut self.control {
                    control.note_statistics(now, &statistics);
                }
                self.ask(None, |a, view, out| a.on_statistics(view, &statistics, out));
            }
        }
    }

    fn table(&mut self, switch: NodeId) -> Option<&mut FlowTable> {
        self.control.as_mut().and_then(|control| control.tables[switch.index()].as_mut())
    }

    fn set_up(&mut self, switch: NodeId, rules: &[Rule]) {
        let now = self.now;
        let mut removed = Vec::new();
        let Some(table) = self.table(switch) else { return };
        let refused = table.insert(now, rules, &mut removed).is_err();
        let next = table.next_expiry();
        self.schedule.put(self.numbering.switch(switch), next);
        self.report_removals(switch, removed);
        if let Some(rule) = rules.first().filter(|_| refused) {
            self.send_up(switch, Message::Refused(switch, rule.flow));
        }
    }

    /// Entries of a switch's table may have expired.
    pub(super) fn on_switch(&mut self, switch: NodeId) {
        let now = self.now;
        let mut removed = Vec::new();
        let Some(table) = self.table(switch) else { return };
        table.expire(now, &mut removed);
        let next = table.next_expiry();
        self.schedule.put(self.numbering.switch(switch), next);
        self.report_removals(switch, removed);
    }

    fn report_removals(&mut self, switch: NodeId, removed: Vec<Removal>) {
        for removal in removed {
            self.send_up(switch, Message::Removed(removal));
        }
    }

    /// The controller's timer: questions for statistics, and the application's own.
    pub(super) fn on_controller(&mut self) {
        let now = self.now;
        let Some(control) = &mut self.control else { return };
        if control.next_question.is_some_and(|at| at <= now) {
            control.next_question =
                control.setup.statistics_interval.map(|interval| now.saturating_add(interval));
            for switch in control.channels.switches().to_vec() {
                self.send_down(switch, Message::StatisticsRequest);
            }
            self.ask(None, |application, view, out| application.on_request(view, out));
        }
        self.release_kept();
        let due = self.control.as_ref().and_then(|control| control.application.next_timer());
        if due.is_some_and(|at| at <= now) {
            self.ask(None, |application, view, out| application.on_timer(view, out));
        } else {
            self.set_controller_timer();
        }
    }

    /// Routing has noticed a change of the network.
    pub(super) fn tell_controller_of_change(&mut self) {
        let mask = self.data_mask();
        let Some(control) = &mut self.control else { return };
        control.mask = mask;
        control.channels.follow(&self.network, &self.mask);
        self.ask(None, |application, view, out| application.on_network_change(view, out));
    }

    /// Calls the application and carries out its orders; a packet at hand that it does not release is dropped.
    fn ask(
        &mut self,
        packet: Option<PacketId>,
        call: impl FnOnce(&mut Applications, &View<'_>, &mut Vec<Order>),
    ) {
        let Some(control) = &mut self.control else { return };
        let mut orders = std::mem::take(&mut control.orders);
        let Control { application, channels, mask, .. } = control.as_mut();
        let view = View { now: self.now, network: &self.network, mask, channels };
        call(application, &view, &mut orders);
        let mut packet = packet;
        for order in orders.drain(..) {
            match order {
                Order::SetUp { switch, rules } => self.send_down(switch, Message::SetUp(rules)),
                Order::Remove { switch, flow } => self.send_down(switch, Message::Remove(flow)),
                Order::Control { flow, switch, parameters } => {
                    self.send_to_sender(switch, flow, Message::Control(flow, parameters));
                }
                Order::Probe { link, round } => {
                    self.send_down(self.network.link(link).from, Message::ProbeOut(link, round));
                }
                Order::Release { switch, link, window, gap } => {
                    if let Some(id) = packet.take() {
                        self.release_apart(switch, (link, window), id, gap);
                    }
                }
            }
        }
        if let Some(id) = packet {
            self.back_to_flow(id);
            self.drop_unreachable(id);
        }
        if let Some(control) = &mut self.control {
            control.orders = orders;
        }
        self.set_controller_timer();
    }

    fn set_controller_timer(&mut self) {
        let next = self.control.as_ref().and_then(|control| control.next_timer()).map(|at| at.max(self.now));
        self.schedule.put(self.numbering.controller(), next);
    }

    fn release_apart(&mut self, switch: NodeId, out: (LinkId, Option<u64>), id: PacketId, gap: Span) {
        if gap == Span::ZERO {
            self.release(switch, out, id);
            return;
        }
        let now = self.now;
        if let Some(control) = &mut self.control {
            let kept = control.kept.entry(switch).or_insert(Kept { next: now, packets: VecDeque::new() });
            kept.packets.push_back((id, out, gap));
        }
    }

    /// Sends on the packets that the controller has kept, one for each switch whose channel is free.
    fn release_kept(&mut self) {
        let now = self.now;
        let Some(control) = &mut self.control else { return };
        let mut due = Vec::new();
        for (&switch, kept) in control.kept.iter_mut().filter(|(_, kept)| kept.next <= now) {
            let first = control.channels.down(switch).and_then(|down| down.first());
            let free = first.map_or(now, |link| self.links[link.index()].free_at());
            if free > now {
                kept.next = free;
            } else if let Some((id, out, gap)) = kept.packets.pop_front() {
                kept.next = now.saturating_add(gap);
                due.push((switch, out, id));
            }
        }
        control.kept.retain(|_, kept| !kept.packets.is_empty() || kept.next > now);
        for (switch, out, id) in due {
            self.release(switch, out, id);
        }
    }

    /// The controller sends a packet back to a switch, which sends it over a link.
    fn release(&mut self, switch: NodeId, (link, window): (LinkId, Option<u64>), id: PacketId) {
        let Some(control) = &mut self.control else { return };
        let Some(down) = control.channels.down(switch) else {
            self.drop_unreachable(id);
            return;
        };
        let cursor = self.forwarding.lay(down);
        let packet = self.pool.get_mut(id);
        packet.destination = switch;
        packet.cursor = cursor;
        packet.hops_left = MAX_HOPS;
        let bytes = packet.bytes;
        control.put(id, Message::PacketOut(link, window), bytes);
        let controller = control.setup.node;
        self.forward(controller, id, None);
    }

    /// A packet leaves the control plane and is again one of its flow's.
    fn back_to_flow(&mut self, id: PacketId) {
        let packet = self.pool.get_mut(id);
        let flow = &self.flows[packet.flow.index()];
        packet.destination = match packet.direction {
            Direction::Forward => flow.forward.to,
            Direction::Backward => flow.backward.to,
        };
        packet.cursor = BY_FLOW_TABLE;
        packet.channel = false;
    }

    fn send_down(&mut self, switch: NodeId, message: Message) {
        let Some(control) = &self.control else { return };
        let way = control.channels.down(switch).map(<[LinkId]>::to_vec);
        self.send(control.setup.node, switch, way, message);
    }

    fn send_up(&mut self, switch: NodeId, message: Message) {
        let Some(control) = &self.control else { return };
        let way = control.channels.up(switch).map(<[LinkId]>::to_vec);
        self.send(switch, control.setup.node, way, message);
    }

    /// From the controller over a channel to a switch, and over the link of the sender's host.
    fn send_to_sender(&mut self, switch: NodeId, flow: FlowId, message: Message) {
        let Some(control) = &self.control else { return };
        let host = self.flows[flow.index()].forward.from;
        let mut way = control.channels.down(switch).map(<[LinkId]>::to_vec);
        if host != switch {
            let mut leaving = self.network.links_out(switch).iter().copied();
            let last = leaving.find(|&link| self.network.link(link).to == host);
            way = way.zip(last).map(|(mut way, last)| {
                way.push(last);
                way
            });
        }
        self.send(control.setup.node, host, way, message);
    }

    fn confirm(&mut self, host: NodeId, flow: FlowId, epoch: u32) {
        let Some(control) = &self.control else { return };
        let gateway = control.channels.gateway(host);
        let switch = gateway.map_or(host, |link| self.network.link(link).to);
        let way =
            control.channels.up(switch).map(|up| gateway.into_iter().chain(up.iter().copied()).collect());
        self.send(host, control.setup.node, way, Message::Confirmation(flow, epoch));
    }

    /// Sends a message of the control plane along links; without a way it is lost.
    fn send(&mut self, from: NodeId, to: NodeId, way: Option<Vec<LinkId>>, message: Message) {
        let Some(control) = &mut self.control else { return };
        let bytes = message.bytes();
        let cursor = way.as_ref().map(|way| self.forwarding.lay(way));
        let packet = Packet {
            bytes,
            flow: NO_FLOW,
            direction: Direction::Forward,
            subflow: 0,
            destination: to,
            cursor: cursor.unwrap_or(0),
            hops_left: MAX_HOPS,
            order: 0,
            channel: true,
        };
        let id = self.pool.insert(packet, Segment::default());
        control.put(id, message, bytes);
        if way.is_none() {
            self.drop_unreachable(id);
        } else if from == to {
            self.on_channel_end(to, id);
        } else {
            self.forward(from, id, None);
        }
    }

    fn answer_with_statistics(&mut self, switch: NodeId) {
        let now = self.now;
        let mut statistics = Statistics { switch, at: now, sent: Vec::new(), received: Vec::new() };
        for &link in self.network.links_out(switch) {
            let mut observer = self.taps.at(link);
            self.links[link.index()].advance(now, &mut self.pool, &mut observer);
            let stats = self.links[link.index()].stats();
            statistics.sent.push(LinkCounters {
                link,
                sent_bytes: stats.sent_bytes,
                sent: stats.sent,
                dropped: stats.drops_queue + stats.drops_codel,
                queue_packets: self.links[link.index()].backlog().0,
            });
        }
        for &link in self.network.links_into(switch) {
            statistics.received.push((link, self.links[link.index()].stats().delivered));
        }
        self.send_up(switch, Message::Statistics(Box::new(statistics)));
    }

    pub(super) fn drop_unreachable(&mut self, id: PacketId) {
        self.taps.at(LinkId(0)).dropped(id, &self.pool, DropCause::Unreachable);
        self.pool.remove(id);
    }
}

/// Lowers the window of an ACK. That of a SYN is never scaled (RFC 7323 section 2.2); a switch that has not seen the
/// SYN-ACK cannot say what a window means, and leaves it alone.
fn clamp(table: &FlowTable, header: &Header, segment: &mut Segment, bytes: u64) {
    let scale = if header.syn { Some(0) } else { table.window_scale(header) };
    if let Some(scale) = scale {
        segment.window = clamped(segment.window, bytes, scale);
    }
}

/// A window field that says at most `bytes`, rounded up to what the scale can say.
fn clamped(window: u16, bytes: u64, scale: u8) -> u16 {
    let most = bytes.div_ceil(1 << scale).min(u64::from(u16::MAX)) as u16;
    window.min(most)
}

/// Reads the window scale off a SYN-ACK.
fn note_window_scale(table: &mut FlowTable, header: &Header, segment: &Segment) {
    if header.syn && header.direction == Direction::Backward {
        table.note_window_scale(header, segment.window_scale_plus_one.saturating_sub(1));
    }
}

fn header(flows: &[super::flow::Flow], packet: Packet, segment: &Segment) -> Header {
    let flow = &flows[packet.flow.index()];
    let way = match packet.direction {
        Direction::Forward => &flow.forward,
        Direction::Backward => &flow.backward,
    };
    Header {
        flow: packet.flow,
        direction: packet.direction,
        from: way.from,
        to: way.to,
        syn: segment.flags.has(Flags::SYN),
        fin: segment.flags.has(Flags::FIN),
        mss: segment.mss,
    }
}

impl Numbering {
    /// Sources of a network without a controller have no number for it.
    pub(super) fn controller_sources(setup: &Setup) -> u32 {
        if setup.controller.is_some() { setup.nodes.len() as u32 + 1 } else { 0 }
    }
}
