//! The control plane at work: messages travel as packets, tables forward, the application answers.
//!
//! It acts on the data plane and on senders, which its methods are given; nothing of it is reached otherwise.

mod link_probes;
mod messages;
mod switches;
mod tables;

use super::data_plane::DataPlane;
use super::flows::Flows;
use crate::control::applications::Applications;
use crate::control::channel::Channels;
use crate::control::table::FlowTable;
use crate::control::{
    Application, ControllerSetup, KINDS, LinkCounters, Message, Order, StartedController, View,
};
use crate::packet::{PacketId, Steering};
use crate::setup::Setup;
use anabranch_network::Network;
use anabranch_routing::LinkMask;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use std::collections::{BTreeMap, VecDeque};

/// Packets for a switch that the controller spaces out.
struct Kept {
    /// When the next may go.
    next: Instant,
    /// With the link that the switch sends each over, its window, and the gap behind it.
    packets: VecDeque<(PacketId, (LinkId, Option<u64>), Span)>,
}

/// Times of packets by way of the controller.
#[derive(Clone, Copy, Default)]
struct Detours {
    count: u64,
    /// In picoseconds.
    sum: u128,
    longest: Span,
}

impl Detours {
    fn note(&mut self, took: Span) {
        self.count += 1;
        self.sum += u128::from(took.as_ps());
        self.longest = self.longest.max(took);
    }

    /// Mean and longest in milliseconds; NaN for none.
    fn milliseconds(self) -> (f64, f64) {
        if self.count == 0 {
            return (f64::NAN, f64::NAN);
        }
        (self.sum as f64 / self.count as f64 / 1e9, self.longest.as_secs_f64() * 1e3)
    }
}

/// The control plane of a run: the controller with its application, its switches' tables, and the messages between
/// them.
pub(super) struct ControlPlane {
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
    /// When packets went up to the controller, and from where. A dropped one leaves its entry, until its place is used
    /// again.
    gone_up: BTreeMap<PacketId, (Instant, NodeId)>,
    /// By node: how long packets that it sent up took until a switch had them back.
    detours: Vec<Detours>,
    /// Entries of each switch's table at the samples.
    table_series: Vec<(f64, NodeId, u64)>,
    next_question: Option<Instant>,
    statistics: Vec<(Instant, LinkCounters, f64)>,
    last_bytes: Vec<(Instant, u64)>,
    orders: Vec<Order>,
}

impl ControlPlane {
    /// That of a setup, if it has one.
    pub(super) fn new(setup: &Setup, network: &Network) -> Option<Self> {
        let controller = setup.controller.clone()?;
        let StartedController { application, channels, mask } =
            StartedController::new(setup, network, setup.data_mask(network))?;
        let table = |node| channels.is_switch(node).then(|| FlowTable::new(node, controller.table));
        Some(Self {
            application,
            tables: network.node_ids().map(table).collect(),
            channels,
            mask,
            messages: Vec::new(),
            gone_up: BTreeMap::new(),
            detours: vec![Detours::default(); network.nodes().len()],
            table_series: Vec::new(),
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

    /// A message that is no packet of a flow has come to `node`. The answer is the flow whose sender it was for:
    /// that may send now.
    fn on_message(
        &mut self,
        data: &mut DataPlane,
        flows: &mut Flows,
        node: NodeId,
        message: Message,
    ) -> Option<FlowId> {
        match message {
            Message::PacketIn(_) | Message::PacketOut(..) | Message::ProbeOut(..) | Message::Probe(..) => {}
            Message::SetUp(rules) => self.set_up(data, node, &rules),
            Message::Remove(flow) => {
                if let Some(table) = &mut self.tables[node.index()] {
                    table.remove(flow);
                }
            }
            Message::Control(flow, parameters) => {
                let sender = &mut flows[flow.index()].sender;
                sender.on_control(data.now, &parameters);
                while let Some(epoch) = sender.poll_confirmation() {
                    self.confirm(data, node, flow, epoch);
                }
                return Some(flow);
            }
            Message::StatisticsRequest => self.answer_with_statistics(data, node),
            Message::Notice(packet) => {
                self.ask(data, flows, None, |a, view, out| a.on_notice(view, &packet, out));
            }
            Message::Removed(removal) => {
                self.ask(data, flows, None, |a, view, out| a.on_removed(view, &removal, out));
            }
            Message::Refused(switch, flow) => {
                self.ask(data, flows, None, |a, view, out| a.on_refused(view, switch, flow, out));
            }
            Message::Confirmation(flow, epoch) => {
                self.ask(data, flows, None, |a, view, out| a.on_confirmation(view, flow, epoch, out));
            }
            Message::ProbeIn(probe) => {
                self.ask(data, flows, None, |a, view, out| a.on_probe(view, &probe, out));
            }
            Message::Statistics(statistics) => {
                self.note_statistics(data.now, &statistics);
                self.ask(data, flows, None, |a, view, out| a.on_statistics(view, &statistics, out));
            }
        }
        None
    }

    /// The controller's timer: questions for statistics, and the application's own.
    pub(super) fn on_timer(&mut self, data: &mut DataPlane, flows: &Flows) {
        let now = data.now;
        if self.next_question.is_some_and(|at| at <= now) {
            self.next_question = self.setup.statistics_interval.map(|interval| now.saturating_add(interval));
            for switch in self.channels.switches().to_vec() {
                self.send_down(data, switch, Message::StatisticsRequest);
            }
            self.ask(data, flows, None, |application, view, out| application.on_request(view, out));
        }
        self.release_kept(data);
        if self.application.next_timer().is_some_and(|at| at <= now) {
            self.ask(data, flows, None, |application, view, out| application.on_timer(view, out));
        } else {
            self.set_timer(data);
        }
    }

    /// Routing has noticed a change of the network: what is up now, and what of it may carry data.
    pub(super) fn on_network_change(
        &mut self,
        data: &mut DataPlane,
        flows: &Flows,
        up: &LinkMask,
        for_data: LinkMask,
    ) {
        self.mask = for_data;
        self.channels.follow(&data.network, up);
        self.ask(data, flows, None, |application, view, out| application.on_network_change(view, out));
    }

    /// Calls the application and carries out its orders; a packet at hand that it does not release is dropped.
    fn ask(
        &mut self,
        data: &mut DataPlane,
        flows: &Flows,
        mut packet: Option<PacketId>,
        call: impl FnOnce(&mut Applications, &View<'_>, &mut Vec<Order>),
    ) {
        let mut orders = std::mem::take(&mut self.orders);
        let view = View { now: data.now, network: &data.network, mask: &self.mask, channels: &self.channels };
        call(&mut self.application, &view, &mut orders);
        for order in orders.drain(..) {
            match order {
                Order::SetUp { switch, rules } => self.send_down(data, switch, Message::SetUp(rules)),
                Order::Remove { switch, flow } => self.send_down(data, switch, Message::Remove(flow)),
                Order::Control { flow, switch, parameters } => {
                    let host = flows[flow.index()].forward.from;
                    self.send_to_sender(data, switch, host, Message::Control(flow, parameters));
                }
                Order::Probe { link, round } => {
                    let switch = data.network.link(link).from;
                    self.send_down(data, switch, Message::ProbeOut(link, round));
                }
                Order::Release { switch, link, window, gap } => {
                    if let Some(id) = packet.take() {
                        self.release_apart(data, switch, (link, window), id, gap);
                    }
                }
            }
        }
        if let Some(id) = packet {
            back_to_flow(data, flows, id);
            data.drop_unreachable(id);
        }
        self.orders = orders;
        self.set_timer(data);
    }

    fn set_timer(&self, data: &mut DataPlane) {
        let next = self.next_timer().map(|at| at.max(data.now));
        data.schedule.put(data.numbering.controller(), next);
    }
}

/// A packet leaves the control plane and is again one of its flow's.
fn back_to_flow(data: &mut DataPlane, flows: &Flows, id: PacketId) {
    let packet = data.pool.get_mut(id);
    let flow = &flows[packet.flow.index()];
    packet.destination = flow.between(packet.direction).1;
    packet.steering = Steering::FlowTables;
}
