//! What a flow and a link are like now, for those who look between two steps.

use super::Simulation;
use super::columns::milliseconds;
use super::flow::Flow;
use super::receiving::Receiving;
use crate::error::{EngineError, SetupError};
use crate::link::{LinkStats, SimulatedLink};
use crate::records::Table;
use anabranch_transport::SenderAgent;
use anabranch_transport::tcp::RttSummary;
use anabranch_units::{FlowId, LinkId, Rate, Span};

/// A flow between two events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowState {
    /// How far its connection is.
    pub phase: Phase,
    /// Bytes handed to the application at the receiving end.
    pub delivered_bytes: u64,
    /// Congestion window; the sum of the subflows' where there are several.
    pub cwnd_bytes: u64,
    /// Slow start threshold; `None` before the first loss.
    pub ssthresh_bytes: Option<u64>,
    /// Bytes sent and not acknowledged, as the sender takes them to be in the network.
    pub in_flight_bytes: u64,
    /// Smoothed round-trip time (RFC 6298); zero before the first sample.
    pub smoothed_rtt: Span,
    /// The latest sample of the round-trip time; zero before the first.
    pub latest_rtt: Span,
    /// Segments sent again.
    pub retransmissions: u64,
}

/// How far a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// It has not begun.
    Waiting,
    /// It has sent a SYN, and has no answer.
    Opening,
    /// It carries data.
    Open,
    /// All that its application will ever send has been delivered.
    Complete,
    /// It was given up.
    Failed,
}

impl Phase {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Opening => "opening",
            Self::Open => "open",
            Self::Complete => "complete",
            Self::Failed => "failed",
        }
    }
}

impl FlowState {
    /// Of the end that sends, and of the other if it is there.
    pub(super) fn of(flow: &Flow, receiving: Option<&Receiving>) -> Self {
        let (sender, rtt, ssthresh) = (&flow.sender, flow.sender.rtt(), flow.sender.ssthresh());
        let phase = if receiving.is_some_and(|receiving| receiving.completed_at.is_some()) {
            Phase::Complete
        } else if sender.failure().is_some() {
            Phase::Failed
        } else if sender.established_at().is_some() {
            Phase::Open
        } else if flow.application.opened() {
            Phase::Opening
        } else {
            Phase::Waiting
        };
        Self {
            phase,
            delivered_bytes: receiving.map_or(0, |receiving| receiving.agent.stats().delivered),
            cwnd_bytes: sender.cwnd(),
            ssthresh_bytes: (ssthresh != u64::MAX).then_some(ssthresh),
            in_flight_bytes: sender.in_flight(),
            smoothed_rtt: rtt.smoothed,
            latest_rtt: rtt.latest,
            retransmissions: sender.stats().retransmissions,
        }
    }
}

/// A flow whose window is set between steps (`held`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldState {
    /// How far its connection is.
    pub phase: Phase,
    /// Payload of a full segment.
    pub mss: u64,
    /// Bytes acknowledged, cumulatively or selectively.
    pub delivered_bytes: u64,
    /// Bytes judged lost.
    pub lost_bytes: u64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Bytes sent and not acknowledged, as the sender takes them to be in the network.
    pub in_flight_bytes: u64,
    /// Smoothed, latest and smallest round-trip time; zero before the first sample.
    pub rtt: RttSummary,
}

/// A directed link between two events.
#[derive(Clone, Copy, Debug)]
pub struct LinkState {
    /// Whether it carries packets.
    pub up: bool,
    /// Rate of serialisation.
    pub capacity: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Packets that wait, without the one being sent.
    pub queue_packets: u64,
    /// Their bytes.
    pub queue_bytes: u64,
    /// What it has done since the start.
    pub stats: LinkStats,
}

const NOT_HELD: &str = "its congestion control does not take a window; give its transport \"held\"";

fn refused(problem: &str) -> EngineError {
    SetupError::new("hold", problem).into()
}

impl Simulation {
    /// What a flow is like now.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn flow(&self, id: FlowId) -> FlowState {
        let (flow, receiving) = self.flows.ends(id.index()).expect("there is such a flow");
        FlowState::of(flow, Some(receiving))
    }

    /// What a flow whose window is set between steps is like now.
    ///
    /// # Errors
    /// If there is no such flow, or its congestion control is another one.
    pub fn held_flow(&self, id: FlowId) -> Result<HeldState, EngineError> {
        let (flow, receiving) =
            self.flows.ends(id.index()).ok_or_else(|| refused("there is no such flow"))?;
        let SenderAgent::Tcp(sender) = &flow.sender else { return Err(refused(NOT_HELD)) };
        let held = sender.held().ok_or_else(|| refused(NOT_HELD))?;
        Ok(HeldState {
            phase: FlowState::of(flow, Some(receiving)).phase,
            mss: held.mss(),
            delivered_bytes: held.delivered(),
            lost_bytes: sender.lost_total(),
            cwnd_bytes: sender.cwnd(),
            in_flight_bytes: sender.in_flight(),
            rtt: sender.rtt(),
        })
    }

    /// Sets the window of a flow now, after what has happened at this instant, and the rate at which its segments
    /// leave, or leaves the rate to the window. The sender sends at once what the new window allows.
    ///
    /// # Errors
    /// If there is no such flow, its congestion control is not `held`, or its connection is not open.
    pub fn hold(&mut self, id: FlowId, window: u64, rate: Option<Rate>) -> Result<(), EngineError> {
        if self.held_flow(id)?.phase != Phase::Open {
            return Err(refused("its connection is not open now"));
        }
        if let SenderAgent::Tcp(sender) = &mut self.flows[id.index()].sender
            && let Some(held) = sender.held_mut()
        {
            held.set(window, rate);
        }
        self.flush_sender(id);
        Ok(())
    }

    /// What a link is like now.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn link(&mut self, id: LinkId) -> LinkState {
        self.data.change_link(id, |link, now, pool, taps| link.advance(now, pool, taps));
        let (link, attributes) = (&self.data.links[id.index()], self.data.network.link(id));
        let (queue_packets, queue_bytes) = link.backlog();
        LinkState {
            up: link.is_up(),
            capacity: attributes.capacity,
            delay: attributes.delay,
            queue_packets,
            queue_bytes,
            stats: link.stats(),
        }
    }

    /// All flows: the table `flows` of the run up to now, and what is known of a flow only while it runs.
    #[must_use]
    pub fn flow_states(&self) -> Table {
        let ends = self.flows.iter_ends();
        let states: Vec<FlowState> =
            ends.map(|(_, flow, receiving)| FlowState::of(flow, Some(receiving))).collect();
        let mut table = self.flow_table();
        table.texts("state", states.iter().map(|state| state.phase.name()));
        table.integers("cwnd_bytes", states.iter().map(|state| state.cwnd_bytes));
        let ssthresh = |state: &FlowState| state.ssthresh_bytes.map_or(f64::NAN, |bytes| bytes as f64);
        table.numbers("ssthresh_bytes", states.iter().map(ssthresh));
        table.numbers("srtt_ms", states.iter().map(|state| milliseconds(state.smoothed_rtt)));
        table.numbers("rtt_ms", states.iter().map(|state| milliseconds(state.latest_rtt)));
        table.integers("in_flight_bytes", states.iter().map(|state| state.in_flight_bytes));
        table
    }

    /// All flows of datagrams: the table `datagram_flows` of the run up to now.
    #[must_use]
    pub fn datagram_states(&self) -> Table {
        self.datagram_table()
    }

    /// All links: the table `links` of the run up to now, and what is known of a link only while it runs.
    pub fn link_states(&mut self) -> Table {
        self.settle_links();
        let links = &self.data.links;
        let mut table = self.link_table();
        let state = |link: &SimulatedLink| if link.is_up() { "up" } else { "down" };
        table.texts("state", links.iter().map(state));
        table.integers("queue_packets", links.iter().map(|link| link.backlog().0));
        table.integers("queue_bytes", links.iter().map(|link| link.backlog().1));
        table.integers("in_flight_packets", links.iter().map(SimulatedLink::in_flight));
        table
    }
}
