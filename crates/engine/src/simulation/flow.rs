use super::application::Application;
use crate::balancer::FlowKey;
use crate::capture::host_address;
use crate::error::{EngineError, SetupError};
use crate::forwarding::{Forwarding, RouteIndex};
use crate::ports::{SERVER_PORT, draw_source_port};
use crate::random::Streams;
use crate::reordering::Reordering;
use crate::setup::{FlowSetup, Setup};
use anabranch_transport::wire::Endpoint;
use anabranch_transport::{ReceiverAgent, SenderAgent};
use anabranch_units::{Instant, NodeId};

/// One connection: both ends, the application, the way there and back.
pub(super) struct Flow {
    pub(super) sender: SenderAgent,
    pub(super) receiver: ReceiverAgent,
    pub(super) application: Application,
    pub(super) forward: Way,
    pub(super) backward: Way,
    pub(super) reordering: Reordering,
    /// When the first data segment left, and the first FIN.
    pub(super) first_data_at: Option<Instant>,
    pub(super) fin_at: Option<Instant>,
    pub(super) completed_at: Option<Instant>,
}

/// One direction of a flow.
pub(super) struct Way {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) source: Endpoint,
    pub(super) destination: Endpoint,
    pub(super) route: RouteIndex,
    pub(super) key: FlowKey,
    /// Packets handed to the network, and what became of them.
    pub(super) injected: u64,
    pub(super) delivered: u64,
    /// Data packets handed to the network: the next one's place in the order of sending.
    pub(super) data_packets: u32,
}

impl Flow {
    /// The flows of a setup that has been checked.
    pub(super) fn all(
        setup: &Setup,
        forwarding: &Forwarding,
        streams: Streams,
    ) -> Result<Vec<Self>, EngineError> {
        let flows = setup.flows.iter().enumerate();
        flows.map(|(index, flow)| Self::new(setup, index, flow, forwarding, streams)).collect()
    }

    fn new(
        setup: &Setup,
        index: usize,
        flow: &FlowSetup,
        forwarding: &Forwarding,
        streams: Streams,
    ) -> Result<Self, EngineError> {
        let config = &setup.transports[flow.transport].config;
        let mut stream = streams.stream(&flow.name, "connection");
        let port = draw_source_port(&mut stream);
        let (sequence, peer_sequence) = (stream.next_u64() as u32, stream.next_u64() as u32);
        let source = Endpoint { addr: host_address(flow.from), port };
        let destination = Endpoint { addr: host_address(flow.to), port: SERVER_PORT };
        let route = |from, to| {
            let place = || format!("flows[{index}]");
            forwarding.index(from, to).ok_or_else(|| SetupError::new(place(), "its pair has no route index"))
        };
        let way = |from, to, source, destination, number| {
            let key = FlowKey::new(source, destination, number);
            let route = route(from, to)?;
            let (injected, delivered, data_packets) = (0, 0, 0);
            Ok::<_, SetupError>(Way {
                from,
                to,
                source,
                destination,
                route,
                key,
                injected,
                delivered,
                data_packets,
            })
        };
        let number = index as u32 * 2;
        Ok(Self {
            sender: SenderAgent::new(config, sequence, stream.next_u64()),
            receiver: ReceiverAgent::new(config, peer_sequence),
            application: Application::new(flow, streams)?,
            forward: way(flow.from, flow.to, source, destination, number)?,
            backward: way(flow.to, flow.from, destination, source, number + 1)?,
            reordering: Reordering::new(),
            first_data_at: None,
            fin_at: None,
            completed_at: None,
        })
    }

    /// Whether the receiver has all that the sender will ever send. TCP's FIN comes with the last byte; a paced
    /// sender's follows it a round trip later, and does not count.
    pub(super) fn is_complete(&self) -> bool {
        match &self.receiver {
            ReceiverAgent::Tcp(receiver) => receiver.is_finished(),
            other => self.sender.stream_length() == Some(other.stats().delivered),
        }
    }

    pub(super) fn next_application_event(&self) -> Option<Instant> {
        self.application.next_event()
    }
}
