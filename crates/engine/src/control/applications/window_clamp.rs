//! Advertised windows kept to each flow's share of its bandwidth-delay product, as SCCP (Hwang et al.) and
//! SDTCP (Lu et al.) do: the controller counts the flows of each link, and the access switch of a sender
//! lowers the window field of the ACKs that pass.

use super::router::{KnownFlow, Router, from_sender};
use super::{ConfiguredApplication, LARGEST_FACTOR};
use crate::control::ControllerSetup;
use crate::control::channel::links_delay;
use crate::control::table::{Action, Removal, Rule};
use crate::control::{Application, Header, MESSAGE_BYTES, Order, PacketIn, View};
use crate::packet::Direction;
use anabranch_units::declaration::above;
use anabranch_units::{FlowId, Instant, LinkId, NodeId};
use std::collections::BTreeMap;

/// Payload of a full segment where no SYN has said so.
const USUAL_MSS: u64 = 1460;

/// Headers of IPv4 and TCP.
const HEADERS: u64 = 40;

/// The least window in segments: a receiver acknowledges every second segment at once and a single one only when
/// its delayed-ACK timer expires (RFC 5681 section 4.2), so that a window of one would send one segment in each
/// 40 ms or more. Where the shares of all flows are below it, their product is what waits.
const LEAST_SEGMENTS: u64 = 2;

anabranch_units::parameters! {
    /// Entries for each flow, and its advertised window kept to its share of the bandwidth-delay product (SCCP,
    /// Hwang et al.; SDTCP, Lu et al.).
    #[derive(Copy)]
    pub struct WindowClampParameters {
        /// Share of the bandwidth-delay product that all flows of a link get together.
        share: f64 = 1.0, above(0.0).at_most(LARGEST_FACTOR);
    }
}

/// A flow that is open.
#[derive(Clone, Copy, Debug)]
struct Clamped {
    /// Window in force, in bytes; 0 for none yet.
    window: u64,
    /// Payload of a full segment in bytes.
    mss: u64,
}

/// Clamps windows.
#[derive(Debug)]
pub struct WindowClamp {
    router: Router,
    share: f64,
    windows: BTreeMap<FlowId, Clamped>,
}

impl ConfiguredApplication for WindowClamp {
    type Parameters = WindowClampParameters;

    fn configured(parameters: &WindowClampParameters, setup: &ControllerSetup, _: u32) -> Self {
        Self { router: Router::new(setup), share: parameters.share, windows: BTreeMap::new() }
    }
}

impl WindowClamp {
    /// Orders new windows where the number of flows on a link has changed them.
    fn adjust(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        let mut flows_on: BTreeMap<LinkId, u64> = BTreeMap::new();
        let open: Vec<FlowId> = self.windows.keys().copied().collect();
        let state_of = |id: &FlowId| self.router.flow(*id).cloned();
        let flows: Vec<(FlowId, KnownFlow)> =
            open.iter().filter_map(|id| state_of(id).map(|flow| (*id, flow))).collect();
        for (_, flow) in &flows {
            for &link in &flow.forward {
                *flows_on.entry(link).or_default() += 1;
            }
        }
        for (id, flow) in flows {
            let Some(&before) = self.windows.get(&id) else { continue };
            let window = self.window(view, &flow, before.mss, &flows_on);
            if before.window != window {
                self.windows.insert(id, Clamped { window, ..before });
                out.extend(clamp(view, id, &flow, window));
            }
        }
    }

    /// One ACK with the receiver's own window would undo the clamp, for a sender may use all that it was ever offered
    /// (RFC 9293 section 3.8.6): entries are clamped from the first, and ACKs that the controller sends on as well.
    fn clamp_orders(&self, view: &View<'_>, header: &Header, out: &mut [Order]) {
        self.clamp_set_ups(view, out);
        let clamped = self.windows.get(&header.flow).filter(|_| header.direction == Direction::Backward);
        for order in out {
            if let Order::Release { window, .. } = order {
                *window = clamped.map(|clamped| clamped.window);
            }
        }
    }

    fn clamp_set_ups(&self, view: &View<'_>, out: &mut [Order]) {
        for order in out {
            let Order::SetUp { switch, rules } = order else { continue };
            for rule in rules.iter_mut().filter(|rule| rule.direction == Direction::Backward) {
                let flow_and_windows = self.router.flow(rule.flow).zip(self.windows.get(&rule.flow));
                if let (Some((flow, clamped)), Action::Output(link)) = (flow_and_windows, rule.action)
                    && last_switch(view, flow) == Some(*switch)
                    && clamped.window > 0
                {
                    rule.action = Action::OutputClamped(link, clamped.window);
                }
            }
        }
    }

    /// The least of (capacity / flows) over the links of a flow, times its round-trip time without queues.
    fn window(&self, view: &View<'_>, flow: &KnownFlow, mss: u64, flows_on: &BTreeMap<LinkId, u64>) -> u64 {
        let rtt = links_delay(view.network, &flow.forward, (mss + HEADERS) as u32)
            .saturating_add(links_delay(view.network, &flow.backward, MESSAGE_BYTES));
        let rate = |link: &LinkId| {
            let flows = flows_on.get(link).copied().unwrap_or(1).max(1);
            view.network.link(*link).capacity.as_bps() as f64 / flows as f64
        };
        let least = flow.forward.iter().map(rate).fold(f64::INFINITY, f64::min);
        let bytes = self.share * least * rtt.as_secs_f64() / 8.0;
        (bytes as u64).max(LEAST_SEGMENTS * mss)
    }
}

/// The entry that clamps the ACKs of a flow, at the last switch before the sender.
fn clamp(view: &View<'_>, id: FlowId, flow: &KnownFlow, window: u64) -> Option<Order> {
    let leaving = |switch| flow.backward.iter().copied().find(|&l| view.network.link(l).from == switch);
    let switch = last_switch(view, flow)?;
    let link = leaving(switch)?;
    let action = Action::OutputClamped(link, window);
    let rule = Rule { action, ..Rule::output(id, Direction::Backward, link) };
    Some(Order::SetUp { switch, rules: vec![rule] })
}

/// The last switch before the sender.
fn last_switch(view: &View<'_>, flow: &KnownFlow) -> Option<NodeId> {
    let mut switches = flow.backward.iter().rev().map(|&link| view.network.link(link).from);
    switches.find(|&node| view.is_switch(node))
}

impl Application for WindowClamp {
    fn on_packet(&mut self, view: &View<'_>, packet: &PacketIn, out: &mut Vec<Order>) {
        let header = &packet.header;
        let has_opened = self.router.flow(header.flow).is_some();
        if has_opened {
            self.router.repeat(view, packet, out);
        } else {
            if !self.router.admit(view, header, out) {
                return;
            }
            let mss = if header.mss > 0 { u64::from(header.mss) } else { USUAL_MSS };
            self.windows.insert(header.flow, Clamped { window: 0, mss });
            self.adjust(view, out);
        }
        self.router.release(view, packet, out);
        if header.fin && from_sender(packet) {
            self.router.close(view, header.flow, out);
            self.windows.remove(&header.flow);
            self.adjust(view, out);
        }
        self.clamp_orders(view, header, out);
    }

    fn on_removed(&mut self, view: &View<'_>, removal: &Removal, out: &mut Vec<Order>) {
        if self.router.on_removed(view, removal) && self.windows.remove(&removal.flow).is_some() {
            self.adjust(view, out);
        }
    }

    /// Where the entry that clamps is refused, the flow's window stays as its receiver says.
    fn on_refused(&mut self, _view: &View<'_>, switch: NodeId, flow: FlowId, _out: &mut Vec<Order>) {
        self.router.on_refused(switch, flow);
    }

    fn on_network_change(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        for id in self.router.reroute(view, out) {
            // New entries have no window until one is ordered.
            self.windows.entry(id).and_modify(|clamped| clamped.window = 0);
        }
        self.adjust(view, out);
        self.clamp_set_ups(view, out);
    }

    fn on_timer(&mut self, view: &View<'_>, out: &mut Vec<Order>) {
        self.router.on_timer(view, out);
    }

    fn next_timer(&self) -> Option<Instant> {
        self.router.next_timer()
    }
}
