//! A schedule for any topology and any number of flows.
//!
//! Flows that share a link, directly or through others, form a group with one cycle. Each flow has a slot of the same
//! length in every interval of the cycle, and starts at a time from which on its slot meets no other on any link of its
//! path: [`placement`](super::placement) finds it.
//!
//! What it guarantees, with links in order and CTRLs on time: on every link at most one flow's data arrive at any
//! instant, at most as fast as the link sends them beside the ACKs that pass; a data packet waits for control packets
//! and ACKs, and at a change of cycles for one data packet of the old. A SYN or FIN in a slot delays what is behind it
//! in the slot by its own 40 bytes, and the guard makes up for two of them in each slot. In packets: two at the most
//! where data go one way and all flows begin at once; three or four, all but two of them SYNs and FINs, where flows
//! come and go; where data go both ways also an ACK for each flow that sends the other way at that instant; and
//! in-band the CTRLs of a cycle, one for each sender, in a row.
//!
//! Interval = max(gamma rtt, slots of the link with most flows), and longer where slots do not fill every link: it is
//! stretched where the thesis would send more than the bottleneck carries. A lost CTRL leaves its sender in the old cycle until the repetition arrives, so
//! that queues of a few packets may come up meanwhile; nothing is lost by it. A FIN that the controller never hears
//! of leaves its flow's slot unused; an idle time-out of the switches clears it away.
//!
//! Unlike the published schedule, SYNs that arrive while CTRLs are still being sent are answered together, the
//! start of a cycle is reckoned from what the controller has sent over each channel, and CTRLs are repeated
//! until they are confirmed.

use super::super::router::{KnownFlow, Router};
use super::PacedParameters;
use super::placement::{Placement, Ways};
use super::timing::Timing;
use crate::control::channel::transmission;
use crate::control::{MESSAGE_BYTES, Order, View};
use anabranch_transport::CycleParameters;
use anabranch_units::{FlowId, Instant, LinkId, NodeId, Span};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Confirmations may take so much longer than their way without queues before a CTRL is repeated.
const CONFIRMATION_SLACK: u64 = 4;

/// A switch whose channel is cut has no way whose delay could be counted, and a sender may be at the switch
/// itself: what is repeated is repeated after this time at least.
const LEAST_CONFIRMATION: Span = Span::from_us(1);

/// Most of a link's time that is left to ACKs.
const MOST_ACKS: f64 = 0.9;

/// The schedule.
#[derive(Debug)]
pub struct Stretched {
    factors: PacedParameters,
    data: u32,
    epoch: u32,
    /// Open flows in the order of their arrival.
    senders: Vec<FlowId>,
    /// The cycle that each sender has been told of.
    orders: BTreeMap<FlowId, Told>,
    /// Flows whose groups need new parameters.
    dirty: BTreeSet<FlowId>,
    /// Since when there are such flows, and when their groups are told.
    dirty_since: Option<Instant>,
    tell_at: Option<Instant>,
    /// Until when the controller's messages take up the channel of each switch.
    busy: BTreeMap<NodeId, Instant>,
    /// CTRLs to be repeated, by the time of the repetition.
    repeat: BTreeSet<(Instant, FlowId)>,
    /// Links that carry data in a cycle.
    carrying: BTreeSet<LinkId>,
    /// Share of each link's time that ACKs take at most.
    acks: BTreeMap<LinkId, f64>,
}

/// A cycle as a sender has been told of it.
#[derive(Clone, Copy, Debug)]
struct Told {
    epoch: u32,
    starts: Instant,
    parameters: CycleParameters,
    confirmed: bool,
    attempts: u32,
    /// When it is repeated.
    repeat_at: Instant,
}

/// What a flow gets in its group.
#[derive(Clone, Copy, Debug)]
struct Share {
    flow: FlowId,
    initial_delay: Span,
    spacing: Span,
    window_segments: u32,
}

impl Stretched {
    pub fn new(factors: PacedParameters, data: u32) -> Self {
        Self {
            factors,
            data,
            epoch: 0,
            senders: Vec::new(),
            orders: BTreeMap::new(),
            dirty: BTreeSet::new(),
            dirty_since: None,
            tell_at: None,
            busy: BTreeMap::new(),
            repeat: BTreeSet::new(),
            carrying: BTreeSet::new(),
            acks: BTreeMap::new(),
        }
    }

    /// A flow has opened, and its set-up and SYN have been ordered.
    pub fn on_open(&mut self, view: &View<'_>, router: &Router, flow: FlowId, out: &[Order]) {
        self.senders.push(flow);
        self.dirty.insert(flow);
        self.account(view, out);
        self.schedule(view, router);
    }

    /// A flow has closed.
    pub fn on_close(
        &mut self,
        view: &View<'_>,
        router: &Router,
        (flow, gone): (FlowId, &KnownFlow),
        out: &[Order],
    ) {
        self.senders.retain(|&sender| sender != flow);
        if let Some(telling) = self.orders.remove(&flow) {
            self.repeat.remove(&(telling.repeat_at, flow));
        }
        self.dirty.remove(&flow);
        let shares = |id: &&FlowId| router.flow(**id).is_some_and(|other| share_link(gone, other));
        self.dirty.extend(self.senders.iter().filter(shares));
        self.account(view, out);
        self.schedule(view, router);
    }

    /// Time between the SYN of a flow and the next one. Where data are on their way, there is room for a data
    /// segment: behind a data packet SYNs would wait in a row otherwise.
    pub fn gap(&self, view: &View<'_>, router: &Router, flow: FlowId) -> Span {
        let Some(flow_state) = router.flow(flow) else { return Span::ZERO };
        let carrying = flow_state.forward.iter().filter(|link| self.carrying.contains(link));
        let room = carrying.map(|&link| {
            let control = transmission(view.network, link, MESSAGE_BYTES).saturating_mul(2);
            transmission(view.network, link, self.data).saturating_add(control)
        });
        room.max().unwrap_or_default()
    }

    /// A SYN came again: the sender may have missed its CTRL.
    pub fn on_repeated_open(&mut self, view: &View<'_>, flow: FlowId) {
        if let Some(telling) = self.orders.get_mut(&flow) {
            telling.confirmed = false;
            self.repeat.remove(&(telling.repeat_at, flow));
            telling.repeat_at = view.now;
            self.repeat.insert((view.now, flow));
        }
    }

    /// A CTRL has arrived.
    pub fn on_confirmation(&mut self, flow: FlowId, epoch: u32) {
        if let Some(telling) = self.orders.get_mut(&flow)
            && telling.epoch == epoch
        {
            telling.confirmed = true;
            self.repeat.remove(&(telling.repeat_at, flow));
        }
    }

    /// Paths or links have changed.
    pub fn on_network_change(&mut self, view: &View<'_>, router: &Router, out: &[Order]) {
        self.dirty.extend(&self.senders);
        self.account(view, out);
        self.schedule(view, router);
    }

    /// When [`Stretched::on_timer`] is to be called.
    pub fn next_timer(&self) -> Option<Instant> {
        let repeat = self.repeat.first().map(|entry| entry.0);
        [self.tell_at, repeat].into_iter().flatten().min()
    }

    /// Tells groups, and repeats what has not been confirmed.
    pub fn on_timer(&mut self, view: &View<'_>, router: &Router, out: &mut Vec<Order>) {
        if self.tell_at.is_some_and(|at| at <= view.now) {
            (self.tell_at, self.dirty_since) = (None, None);
            self.follow_acks(view, router);
            for group in groups(&self.senders, router, &std::mem::take(&mut self.dirty)) {
                match self.pending_start(view, &group) {
                    Some(at) => {
                        self.dirty.extend(&group);
                        self.dirty_since = Some(view.now);
                        self.tell_at = Some(self.tell_at.map_or(at, |other| other.min(at)));
                    }
                    None => self.tell(view, router, &group, out),
                }
            }
        }
        while let Some(&(at, flow)) = self.repeat.first() {
            if at > view.now {
                break;
            }
            self.repeat.pop_first();
            self.repeat_ctrl(view, router, flow, out);
        }
    }

    /// Finds what ACKs take up of each link, and marks the flows whose data share a link where that has changed.
    fn follow_acks(&mut self, view: &View<'_>, router: &Router) {
        let acks = ack_shares(view, self.senders.iter().filter_map(|&id| router.flow(id)), self.data);
        let changed = |link: &LinkId| acks.get(link) != self.acks.get(link);
        let concerned = |id: &&FlowId| router.flow(**id).is_some_and(|flow| flow.forward.iter().any(changed));
        self.dirty.extend(self.senders.iter().filter(concerned));
        self.acks = acks;
    }

    /// Time between segments of a flow: on each link a data segment, and the ACKs that pass meanwhile.
    fn spacing(&self, view: &View<'_>, flow: &KnownFlow) -> Span {
        let time = |link: &LinkId| {
            let data = transmission(view.network, *link, self.data);
            match self.acks.get(link) {
                Some(acks) => data.scaled(1.0 / (1.0 - acks)),
                None => data,
            }
        };
        flow.forward.iter().map(time).max().unwrap_or_default()
    }

    /// When a cycle begins that some of a group have been told of. Until then they are told of no other: a CTRL
    /// replaces the cycle that is pending (section 4.3.2), and those that it reaches before that cycle begins would
    /// go on in the old one beside those that it reaches later.
    fn pending_start(&self, view: &View<'_>, group: &[FlowId]) -> Option<Instant> {
        let starts = group.iter().filter_map(|id| self.orders.get(id)).map(|telling| telling.starts);
        starts.filter(|&at| at > view.now).max()
    }

    /// Notes what the orders so far take up of each channel.
    fn account(&mut self, view: &View<'_>, out: &[Order]) {
        for order in out {
            let switch = match *order {
                Order::SetUp { switch, .. } | Order::Release { switch, .. } => switch,
                Order::Remove { .. } | Order::Control { .. } | Order::Probe { .. } => continue,
            };
            self.take(view, switch);
        }
    }

    /// Notes one more message on a channel; returns when its sending ends.
    fn take(&mut self, view: &View<'_>, switch: NodeId) -> Instant {
        let time = view.channels.transmission_down(view.network, switch, MESSAGE_BYTES);
        let busy = self.busy.entry(switch).or_insert(view.now);
        *busy = (*busy).max(view.now).saturating_add(time);
        *busy
    }

    /// Groups are told as soon as the channels of their access switches are free: what comes in until then
    /// is answered with it.
    fn schedule(&mut self, view: &View<'_>, router: &Router) {
        if self.dirty.is_empty() {
            self.tell_at = None;
            return;
        }
        let since = *self.dirty_since.get_or_insert(view.now);
        let flows = || self.dirty.iter().filter_map(|&id| router.flow(id));
        let free = flows().filter_map(|flow| self.busy.get(&flow.access)).max().copied();
        // A channel that is never free must not keep everyone waiting.
        let rtt = flows().map(|flow| Timing::new(view, flow, self.data).data_rtt()).max();
        let latest = since.saturating_add(rtt.unwrap_or_default());
        self.tell_at = Some(free.unwrap_or(view.now).min(latest).max(view.now));
    }

    fn tell(&mut self, view: &View<'_>, router: &Router, group: &[FlowId], out: &mut Vec<Order>) {
        let flows: Vec<(FlowId, &KnownFlow)> =
            group.iter().filter_map(|&id| router.flow(id).map(|flow| (id, flow))).collect();
        let Some((interval, shares)) = self.share(view, &flows) else { return };
        self.epoch += 1;
        let arrivals: Vec<Instant> = flows
            .iter()
            .map(|(_, flow)| {
                let sent = self.take(view, flow.access);
                let transmission = view.channels.transmission_down(view.network, flow.access, MESSAGE_BYTES);
                let delay = view.channels.delay_down(view.network, flow.access, MESSAGE_BYTES);
                let behind = Timing::new(view, flow, self.data).behind_an_ack();
                sent.saturating_add(delay.saturating_sub(transmission).saturating_add(behind))
            })
            .collect();
        let starts = self.start(view, &flows, &arrivals);
        for ((share, (id, flow)), arrival) in shares.into_iter().zip(flows).zip(arrivals) {
            let parameters = CycleParameters {
                epoch: self.epoch,
                delay_to_next_cycle: starts.saturating_since(arrival),
                initial_delay: share.initial_delay,
                interval,
                window_segments: share.window_segments,
                inter_segment_delay: share.spacing,
            };
            debug_assert_eq!(share.flow, id);
            out.push(Order::Control { flow: id, switch: flow.access, parameters });
            self.carrying.extend(&flow.forward);
            let repeat_at = arrival.saturating_add(self.confirmation_time(view, flow, 0));
            let epoch = self.epoch;
            self.watch(id, Told { epoch, starts, parameters, confirmed: false, attempts: 0, repeat_at });
        }
    }

    /// When a cycle starts: once every sender knows of it, the newest have had time for their handshake, and
    /// not before a start that was announced already.
    fn start(&self, view: &View<'_>, flows: &[(FlowId, &KnownFlow)], arrivals: &[Instant]) -> Instant {
        let latest = arrivals.iter().copied().max().unwrap_or(view.now);
        let announced =
            flows.iter().filter_map(|(id, _)| self.orders.get(id)).map(|telling| telling.starts).max();
        let fresh = flows.iter().filter(|(id, _)| !self.orders.contains_key(id));
        let handshake = fresh.map(|(_, flow)| {
            let timing = Timing::new(view, flow, self.data);
            timing
                .rtt(MESSAGE_BYTES, MESSAGE_BYTES)
                .saturating_add(timing.most_queueing())
                .scaled(self.factors.beta)
        });
        let established = view.now.saturating_add(handshake.max().unwrap_or_default());
        latest.max(established).max(announced.unwrap_or(view.now))
    }

    fn confirmation_time(&self, view: &View<'_>, flow: &KnownFlow, attempts: u32) -> Span {
        let timing = Timing::new(view, flow, self.data);
        let up = view.channels.delay_up(view.network, flow.access, MESSAGE_BYTES);
        let delay = timing.access(MESSAGE_BYTES).saturating_add(up);
        let queue = transmission_of_all(view, flow.access, self.senders.len() as u64);
        let once = delay.saturating_add(queue).max(LEAST_CONFIRMATION);
        once.saturating_mul(CONFIRMATION_SLACK << attempts.min(10))
    }

    /// Sends a CTRL again that has not been confirmed. Its sender joins the cycle under way at the start of an
    /// interval.
    fn repeat_ctrl(&mut self, view: &View<'_>, router: &Router, id: FlowId, out: &mut Vec<Order>) {
        let (Some(telling), Some(flow)) = (self.orders.get(&id).copied(), router.flow(id)) else { return };
        if telling.confirmed {
            return;
        }
        let sent = self.take(view, flow.access);
        let transmission = view.channels.transmission_down(view.network, flow.access, MESSAGE_BYTES);
        let delay = view.channels.delay_down(view.network, flow.access, MESSAGE_BYTES);
        let timing = Timing::new(view, flow, self.data);
        let arrival =
            sent.saturating_add(delay.saturating_sub(transmission).saturating_add(timing.behind_an_ack()));
        let late = arrival.saturating_since(telling.starts).as_ps();
        let interval = telling.parameters.interval.as_ps().max(1);
        let joins =
            telling.starts.saturating_add(Span::from_ps(late.div_ceil(interval).saturating_mul(interval)));
        let delay_to_next_cycle = joins.saturating_since(arrival);
        let parameters = CycleParameters { delay_to_next_cycle, ..telling.parameters };
        out.push(Order::Control { flow: id, switch: flow.access, parameters });
        let attempts = telling.attempts.saturating_add(1);
        let repeat_at = arrival.saturating_add(self.confirmation_time(view, flow, attempts));
        self.watch(id, Told { attempts, repeat_at, ..telling });
    }

    /// Notes what a sender has been told, to be repeated at its time: once for each flow, however often its
    /// cycle changes meanwhile.
    fn watch(&mut self, id: FlowId, telling: Told) {
        self.repeat.insert((telling.repeat_at, id));
        if let Some(old) = self.orders.insert(id, telling).filter(|old| old.repeat_at != telling.repeat_at) {
            self.repeat.remove(&(old.repeat_at, id));
        }
    }

    /// The interval of a group, and what each of its flows gets.
    fn share(&self, view: &View<'_>, flows: &[(FlowId, &KnownFlow)]) -> Option<(Span, Vec<Share>)> {
        let timings: Vec<Timing<'_>> =
            flows.iter().map(|(_, flow)| Timing::new(view, flow, self.data)).collect();
        let longest = timings.iter().map(Timing::data_rtt).max()?.scaled(self.factors.gamma);
        let ways = Ways::new(view, flows, self.data);
        let spacings: Vec<Span> = flows.iter().map(|(_, flow)| self.spacing(view, flow)).collect();
        let widest = spacings.iter().copied().max()?;
        let guard = self.guard(view, flows, &timings);
        // Whole segments in every slot, so that none of it is wasted.
        let share = longest.as_ps().div_ceil(ways.most()).saturating_sub(guard.as_ps());
        let segments = share.div_ceil(widest.as_ps().max(1)).max(1);
        let wanted = (segments as f64 * widest.as_ps() as f64 / self.factors.alpha) as u64;
        let Placement { interval, starts } = ways.place(Span::from_ps(wanted).saturating_add(guard));
        let room = widest.saturating_mul(segments);
        let shares = flows.iter().zip(spacings).zip(starts).map(|(((flow, _), spacing), start)| Share {
            flow: *flow,
            initial_delay: start,
            spacing,
            window_segments: (room.as_ps() / spacing.as_ps().max(1)).clamp(1, u64::from(u32::MAX)) as u32,
        });
        Some((interval, shares.collect()))
    }

    /// Time between slots: what the arrival of a CTRL may be misjudged by (equation 4.7; in-band also a data
    /// packet ahead of it on each link), and a SYN or FIN on its way through.
    fn guard(&self, view: &View<'_>, flows: &[(FlowId, &KnownFlow)], timings: &[Timing<'_>]) -> Span {
        let error = timings.iter().map(Timing::error).max().unwrap_or_default();
        let in_band = flows.iter().map(|(_, flow)| {
            let links = view.channels.down(flow.access).unwrap_or_default();
            let data = links.iter().map(|&link| transmission(view.network, link, self.data));
            data.fold(Span::ZERO, Span::saturating_add)
        });
        let in_band = if view.channels.is_in_band() { in_band.max().unwrap_or_default() } else { Span::ZERO };
        let slowest = flows.iter().flat_map(|(_, flow)| &flow.forward);
        let control = slowest.map(|&link| transmission(view.network, link, MESSAGE_BYTES)).max();
        error.saturating_add(in_band).saturating_add(control.unwrap_or_default().saturating_mul(2))
    }
}

fn transmission_of_all(view: &View<'_>, switch: NodeId, messages: u64) -> Span {
    view.channels.transmission_down(view.network, switch, MESSAGE_BYTES).saturating_mul(messages)
}

fn share_link(a: &KnownFlow, b: &KnownFlow) -> bool {
    a.forward.iter().any(|link| b.forward.contains(link))
}

/// The groups that hold a dirty flow, each in the order of arrival.
fn groups(senders: &[FlowId], router: &Router, dirty: &BTreeSet<FlowId>) -> Vec<Vec<FlowId>> {
    let users = users(senders.iter().filter_map(|&id| router.flow(id).map(|flow| (id, flow))));
    let mut group_of: BTreeMap<FlowId, usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for &start in dirty {
        if group_of.contains_key(&start) {
            continue;
        }
        let mut queue = VecDeque::from([start]);
        group_of.insert(start, count);
        while let Some(id) = queue.pop_front() {
            let links = router.flow(id).into_iter().flat_map(|flow| &flow.forward);
            for link in links.filter(|&&link| seen.insert(link)) {
                let others = users.get(link).into_iter().flatten().copied();
                let fresh: Vec<FlowId> = others.filter(|other| !group_of.contains_key(other)).collect();
                group_of.extend(fresh.iter().map(|&other| (other, count)));
                queue.extend(fresh);
            }
        }
        count += 1;
    }
    let mut groups = vec![Vec::new(); count];
    for id in senders {
        if let Some(&group) = group_of.get(id) {
            groups[group].push(*id);
        }
    }
    groups
}

/// Flows by link.
fn users<'f>(flows: impl Iterator<Item = (FlowId, &'f KnownFlow)>) -> BTreeMap<LinkId, Vec<FlowId>> {
    let mut users: BTreeMap<LinkId, Vec<FlowId>> = BTreeMap::new();
    for (id, flow) in flows {
        for &link in &flow.forward {
            users.entry(link).or_default().push(id);
        }
    }
    users
}

/// The greatest share of each link's time that ACKs may take: one for every data segment of the flows whose way
/// back it is. Flows whose data come over the same link the other way do not send at the same time.
fn ack_shares<'f>(
    view: &View<'_>,
    flows: impl Iterator<Item = &'f KnownFlow>,
    data: u32,
) -> BTreeMap<LinkId, f64> {
    let mut streams: BTreeMap<(LinkId, LinkId), f64> = BTreeMap::new();
    for flow in flows {
        let spacing = Timing::new(view, flow, data).spacing().as_ps().max(1) as f64;
        // Where the data come this way, too, it is by the reverse of the link as a rule.
        let mut ways: BTreeMap<(NodeId, NodeId), LinkId> = BTreeMap::new();
        for &link in &flow.forward {
            let ends = view.network.link(link);
            ways.insert((ends.to, ends.from), link);
        }
        for &link in &flow.backward {
            let ends = view.network.link(link);
            let over = ways.get(&(ends.from, ends.to)).or(flow.forward.first());
            let share = transmission(view.network, link, MESSAGE_BYTES).as_ps() as f64 / spacing;
            let most = streams.entry((link, over.copied().unwrap_or(link))).or_default();
            *most = most.max(share);
        }
    }
    let mut shares: BTreeMap<LinkId, f64> = BTreeMap::new();
    for ((link, _), share) in streams {
        let sum = shares.entry(link).or_default();
        *sum = (*sum + share).min(MOST_ACKS);
    }
    shares
}
