//! Ends of flows: packets in, packets out, timers.

use super::external::Entry;
use super::measure::unbalanced;
use super::nic::BY_TURNS;
use super::share::Share;
use super::{MAX_HOPS, Simulation};
use crate::error::{EngineError, SetupError};
use crate::forwarding::PathStart;
use crate::link::impairments::Impairments;
use crate::link::{Randomness, SimulatedLink};
use crate::loss::Loss;
use crate::loss::NoLoss;
use crate::packet::{Direction, Packet, PacketId, PacketPool, Steering};
use crate::queues::{DropCause, Queue, QueueContext};
use crate::random::Streams;
use crate::setup::{LinkSetup, LossSetup, QueueSetup, Setup};
use crate::variate::Sampler;
use anabranch_transport::Segment;
use anabranch_units::{FlowId, LinkId, Rate, rarely};

/// The links of a checked setup. Of those that leave nodes of other parts of the run only the other end is here.
pub(super) fn links(
    setup: &Setup,
    share: &Share<'_>,
    streams: Streams,
) -> Result<Vec<SimulatedLink>, EngineError> {
    let links = setup.links.iter();
    links
        .map(|setup| if share.has(setup.from) { link(setup, streams) } else { Ok(SimulatedLink::far(setup)) })
        .collect()
}

/// A link of a checked setup.
fn link(setup: &LinkSetup, streams: Streams) -> Result<SimulatedLink, EngineError> {
    let randomness = randomness(setup, &setup.loss, streams)?;
    let queue = queue(&setup.queue, setup.queue_rate(), streams, &setup.name, "queue");
    Ok(SimulatedLink::new(setup, queue, randomness))
}

/// An empty queue of a link; `draws` names its random stream.
fn queue(setup: &QueueSetup, rate: Rate, streams: Streams, link: &str, draws: &str) -> Queue {
    Queue::new(&setup.discipline, &QueueContext { limit: setup.limit, rate, streams, link, draws })
}

fn randomness(
    setup: &LinkSetup,
    loss: &LossSetup,
    streams: Streams,
) -> Result<Option<Randomness>, EngineError> {
    let impairments = Impairments::new(setup.impairments(), streams, &setup.name).map(Box::new);
    if setup.jitter.is_none() && impairments.is_none() && *loss == (LossSetup::None(NoLoss {})) {
        return Ok(None);
    }
    let loss = Loss::new(loss);
    let jitter = match &setup.jitter {
        Some(variate) => {
            let sampler = Sampler::new(variate).map_err(|error| {
                SetupError::new(format!("link {}: jitter", setup.name), error.to_string())
            })?;
            Some((sampler, streams.stream(&setup.name, "jitter")))
        }
        None => None,
    };
    Ok(Some(Randomness { loss, loss_stream: streams.stream(&setup.name, "loss"), jitter, impairments }))
}

impl Simulation {
    /// A packet has reached its destination. A train is one packet to the receiving host, too (receive offload): it
    /// looks at every segment, and answers when it has seen the last.
    #[inline]
    pub(super) fn deliver(&mut self, id: PacketId) {
        let packet = *self.data.pool.get(id);
        if rarely(self.data.looks_ahead) {
            self.look_ahead_of_answers(packet);
        }
        let is_ours = if rarely(self.data.pool.has_some_apart()) {
            self.receive_apart(id, packet)
        } else {
            self.receive(id, (&packet, |pool: &PacketPool| Some(pool.order(id))), None)
        };
        self.data.pool.remove(id);
        match packet.direction {
            _ if !is_ours => {}
            direction if rarely(packet.steering.is_spray()) => self.answer_spray(packet.flow, direction),
            Direction::Forward => {
                self.flush_receiver(packet.flow);
                // The last packet of most flows is an ACK to the receiver.
                if rarely(self.flows.turn_over()) {
                    self.let_go(packet.flow);
                }
            }
            Direction::Backward => self.flush_sender(packet.flow),
        }
    }

    /// Where flows come and go, one goes of which nothing is under way. Of a divided run no part knows that alone.
    #[inline(never)]
    pub(super) fn let_go(&mut self, id: FlowId) {
        if self.data.passage.is_some() {
            return;
        }
        let is_over = self.flows.ends(id.index()).is_some_and(|ends @ (flow, receiving)| {
            let drops = &self.data.taps.drops.at(id.index());
            flow.is_at_rest(receiving) && unbalanced(ends, drops, &Default::default()).is_none()
        });
        if is_over && !self.probe.waits_for(id) {
            self.flows.go(id);
        }
    }

    /// Begins to fetch the link on which a host will answer to a packet, and what its end keeps of segments.
    #[inline(never)]
    fn look_ahead_of_answers(&self, packet: Packet) {
        let flow = packet.flow.index();
        let lanes = match packet.direction {
            Direction::Forward => self.flows.receiving(flow).map(|receiving| &receiving.backward.lanes),
            Direction::Backward => self.flows.get(flow).map(|flow| {
                flow.sender.prefetch_segments();
                &flow.forward.lanes
            }),
        };
        if let Some(lanes) = lanes {
            self.data.look_ahead_from(lanes.get(packet.subflow));
        }
    }

    /// A host takes what may be a train, a packet of which there are copies, or a damaged one. Whether the host is a simulated
    /// one, to which something has come.
    #[inline(never)]
    fn receive_apart(&mut self, id: PacketId, train: Packet) -> bool {
        if self.data.pool.is_corrupted(id) {
            // Its checksum fails (RFC 9293 section 3.1), and nobody hears of it.
            self.data.taps.note_drop(id, &self.data.pool, DropCause::Corrupted);
            return false;
        }
        let is_repeat = self.data.taps.is_repeat(self.data.pool.family(id));
        let (rest, first) = (self.data.pool.uncouple(id), self.data.pool.order(id));
        if rest.is_empty() {
            return self.receive(id, (&train, |_: &PacketPool| (!is_repeat).then_some(first)), None);
        }
        let mut is_ours = false;
        for (order, segment) in (first..).zip(std::iter::once(None).chain(rest.iter().map(Some))) {
            let bytes = segment.unwrap_or(self.data.pool.segment(id)).packet_len();
            let order = (!is_repeat).then_some(order);
            is_ours = self.receive(id, (&Packet { bytes, ..train }, |_: &PacketPool| order), segment);
        }
        is_ours
    }

    /// A host takes a segment: that which the packet carries first, or another one of its train; or a datagram. Whether
    /// there is an end of a connection that may have to answer. `order` gives its place in order of sending, if it is asked, and
    /// none where a copy of it has come before.
    #[inline]
    fn receive(
        &mut self,
        id: PacketId,
        (packet, order): (&Packet, impl Fn(&PacketPool) -> Option<u32>),
        other: Option<&Segment>,
    ) -> bool {
        // Where it is: a copy would cost each packet a line of the cache.
        let segment = other.unwrap_or(self.data.pool.segment(id));
        let Packet { flow: flow_id, direction, .. } = *packet;
        let now = self.data.now;
        if rarely(self.data.taps.watches_hosts())
            && let Some(key) = self.flows.key(packet)
        {
            self.data.taps.received(now, (id, packet), segment, &key);
        }
        let external = self.data.taps.external.as_mut();
        let is_ours = !external.is_some_and(|external| external.on_arrival(now, id, packet, segment));
        // The bounds are looked at anyway.
        match direction {
            Direction::Forward => {
                let of = (segment, || order(&self.data.pool));
                match self.flows.on_data(now, flow_id.index(), of, is_ours) {
                    Some(false) => {}
                    Some(true) => self.on_completion(flow_id),
                    None => {
                        self.receive_datagram(id, packet, order(&self.data.pool).is_none());
                        return false;
                    }
                }
            }
            Direction::Backward => {
                let Some(flow) = self.flows.get_mut(flow_id.index()) else {
                    self.receive_datagram(id, packet, order(&self.data.pool).is_none());
                    return false;
                };
                flow.answered += 1;
                if is_ours {
                    if let Some(sequences) = &mut self.sequences {
                        sequences.received(now, flow_id, segment);
                    }
                    flow.sender.on_segment(now, segment);
                }
            }
        }
        is_ours
    }

    pub(super) fn on_sender_timer(&mut self, id: FlowId) {
        // The timer of a flow that has gone is one that was called off.
        let Some(flow) = self.flows.get_mut(id.index()) else { return };
        flow.sender.on_timeout(self.data.now);
        self.flush_sender(id);
    }

    pub(super) fn on_receiver_timer(&mut self, id: FlowId) {
        let now = self.data.now;
        let is_done = self.flows.read(now, id.index());
        let Some(receiving) = self.flows.receiving_mut(id.index()) else { return };
        receiving.agent.on_timeout(now);
        if is_done {
            self.on_completion(id);
        }
        self.flush_receiver(id);
    }

    /// A flow is done. After the last one that the end waits for, the run ends with this instant.
    #[cold]
    fn on_completion(&mut self, id: FlowId) {
        self.begin_waiting(id);
        // Nothing waits for a flow whose sender is in another part of the run.
        if self.flows.get(id.index()).is_some_and(|flow| flow.offload != BY_TURNS) {
            self.count_done(id);
        }
    }

    /// The end of the run need not wait for a flow any more. One of `spray` is done when its sender has heard of it.
    pub(super) fn count_done(&mut self, id: FlowId) {
        let ends = self.flows[id.index()].application.ends();
        let Some(awaited) = self.awaited.as_mut().filter(|_| ends) else { return };
        *awaited -= 1;
        if *awaited == 0 {
            self.data.schedule.set(self.data.numbering.end(), self.data.now);
        }
    }

    #[inline(never)]
    pub(super) fn flush_sender(&mut self, id: FlowId) {
        let flow = &self.flows[id.index()];
        if rarely(flow.multipath.is_some()) {
            self.place_subflows_added(id);
        }
        if rarely(self.flows[id.index()].offload != 1) {
            self.flush_apart(id);
        } else {
            // By reference, which saves a copy of each.
            while let Some(segment) = &self.flows[id.index()].sender.poll_transmit(self.data.now) {
                self.send_data(id, segment);
            }
        }
        let next = self.flows[id.index()].sender.next_timeout();
        self.data.set_timer(self.data.numbering.sender(id), next);
    }

    /// Places subflows that a multipath connection has added.
    #[inline(never)]
    fn place_subflows_added(&mut self, id: FlowId) {
        let flow = &self.flows[id.index()];
        if let Some(multipath) = &flow.multipath
            && multipath.count() < usize::from(flow.sender.subflow_count())
        {
            self.place_subflows(id);
        }
    }

    /// Flows of `spray` wait until their host turns to them; others send trains.
    #[inline(never)]
    fn flush_apart(&mut self, id: FlowId) {
        if self.flows[id.index()].offload == BY_TURNS { self.ask_nic(id) } else { self.flush_trains(id) }
    }

    /// Sends what the sender has at once, in trains as long as may be.
    fn flush_trains(&mut self, id: FlowId) {
        let (now, flow) = (self.data.now, id.index());
        let mut next = self.flows[flow].sender.poll_transmit(now);
        while let Some(head) = next {
            let (mut last, mut rest) = (head, Vec::new());
            next = self.flows[flow].sender.poll_transmit(now);
            while let Some(segment) = next
                && rest.len() + 1 < self.flows[flow].offload
                && last.payload == head.payload
                && last.goes_on_with(&segment)
            {
                rest.push(segment);
                last = segment;
                next = self.flows[flow].sender.poll_transmit(now);
            }
            let bytes = head.packet_len() + rest.iter().map(Segment::packet_len).sum::<u32>();
            self.put_in(id, Direction::Forward, (&head, &rest), bytes, None);
        }
    }

    #[inline(never)]
    pub(super) fn flush_receiver(&mut self, id: FlowId) {
        while let Some(segment) = &self.flows.end(id).agent.poll_transmit(self.data.now) {
            self.send_ack(id, segment);
        }
        let next = self.flows.end(id).next_timeout(self.data.now);
        self.data.set_timer(self.data.numbering.receiver(id), next);
    }

    /// The simulated source hands a segment to the network.
    fn send_data(&mut self, id: FlowId, segment: &Segment) {
        self.put_in(id, Direction::Forward, (segment, &[]), segment.packet_len(), None);
    }

    /// The simulated destination hands a segment to the network.
    fn send_ack(&mut self, id: FlowId, segment: &Segment) {
        self.put_in(id, Direction::Backward, (segment, &[]), segment.packet_len(), None);
    }

    /// A packet of so many bytes enters the network, alone or with the `rest` of a train; what has an entry is
    /// external, and followed.
    // Its few callers know most of its arguments, and each packet comes by.
    #[inline(always)]
    pub(super) fn put_in(
        &mut self,
        id: FlowId,
        direction: Direction,
        (segment, rest): (&Segment, &[Segment]),
        bytes: u32,
        entry: Option<Entry>,
    ) {
        let (ends, multipath) = match direction {
            Direction::Forward => {
                let flow = &mut self.flows[id.index()];
                flow.note_sent(self.data.now, segment, rest.last().unwrap_or(segment));
                if let Some(sequences) = &mut self.sequences {
                    for segment in std::iter::once(segment).chain(rest) {
                        sequences.sent(self.data.now, id, segment);
                    }
                }
                (&mut flow.forward, flow.multipath.as_mut())
            }
            Direction::Backward => (&mut self.flows.end(id).backward, None),
        };
        ends.injected += 1 + rest.len() as u64;
        let lane = ends.lanes.get_mut(segment.subflow);
        let order = lane.data_packets;
        lane.data_packets += u32::from(segment.payload > 0) + rest.len() as u32;
        let start = match self.control {
            Some(_) => None,
            None => self.data.forwarding.set_out(self.data.now, &mut lane.route, &lane.key),
        };
        let (steering, cursor) = start.map_or((Steering::FlowTables, 0), PathStart::steering);
        if let Some(multipath) = multipath {
            let is_same = |before, after| {
                self.data.forwarding.is_same_path(&self.data.network, (before, after), ends.to)
            };
            multipath.on_sent(self.data.now, segment, start, is_same);
        }
        let packet = Packet {
            bytes,
            flow: id,
            direction,
            subflow: segment.subflow,
            destination: ends.to,
            steering,
            cursor,
            hops_left: MAX_HOPS,
        };
        let node = ends.from;
        if rarely(self.data.taps.watches_hosts())
            // A copy, or each packet would be put together in memory before it is written to its place.
            && let Some(key) = self.flows.key(&{ packet })
        {
            for segment in std::iter::once(segment).chain(rest) {
                self.data.taps.sent(self.data.now, (node, &{ packet }), segment, &key);
            }
        }
        let packet = self.data.pool.insert(packet, order, segment);
        if rarely(!rest.is_empty()) {
            self.data.pool.couple(packet, rest.to_vec());
        }
        if let (Some(entry), Some(external)) = (entry, &mut self.data.taps.external) {
            external.follow(packet, entry.token);
        }
        if let Some(link) = entry.and_then(|entry| entry.link) {
            return self.data.send(link, packet);
        }
        if rarely(start.is_none()) && self.control.is_none() {
            return self.data.drop_unreachable(packet);
        }
        self.forward(node, packet, None);
    }

    /// Replaces the loss process of a link; its draws go on where they were.
    pub(super) fn set_loss(&mut self, id: LinkId, loss: &LossSetup) {
        let setup = &self.setup.links[id.index()];
        let checked = "Setup::check has accepted the losses of all events, and every link's jitter";
        let process = Loss::new(loss);
        let fresh = randomness(setup, loss, self.setup.streams()).expect(checked);
        // A link that loses nothing for a while keeps its stream: beginning it again would lose the same
        // packets again.
        let change = |current: &mut Option<Randomness>| match current {
            Some(current) => current.loss = process,
            None => *current = fresh,
        };
        self.data.change_link(id, |link, now, pool, taps| link.set_randomness(now, change, pool, taps));
    }

    /// A link has another queue from now on, with draws of its own: those of the first queue would come again.
    pub(super) fn set_queue(&mut self, id: LinkId, setup: &QueueSetup) {
        let capacity = self.data.network.links()[id.index()].capacity;
        let link = &self.setup.links[id.index()];
        let (rate, name) = (LinkSetup { capacity, ..link.clone() }.queue_rate(), &link.name);
        let draws = format!("queue from {}", self.data.now.as_ps());
        let queue = queue(setup, rate, self.setup.streams(), name, &draws);
        self.data.change_link(id, |link, now, pool, taps| link.set_queue(now, queue, pool, taps));
    }
}
