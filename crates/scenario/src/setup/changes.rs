//! Changes of the network at their times.

use super::addresses::Addresses;
use super::flows::FlowSlices;
use super::lay::is_usable;
use super::network::Network;
use crate::event::{Event, State};
use crate::network::{Direction, LinkSelector, Loss, Queue, with_rtt};
use crate::problem::{Place, Problems};
use crate::words::quoted;
use anabranch_engine::setup::{Change, EventSetup, LinkSetup, TransportSetup};
use anabranch_units::{Instant, LinkId, NodeId, Rate, Span};

/// The changes of an event; what is wrong is noted.
pub(super) fn event_setups(
    event: &Event,
    at: &Place<'_>,
    network: &Network,
    problems: &mut Problems,
) -> Vec<EventSetup> {
    let time = Instant::from_ps(event.at.as_ps());
    let changes = changes(event, at, network, problems);
    changes.into_iter().map(|change| EventSetup { at: time, change }).collect()
}

/// What changes with an event that is given while a run stands still, whatever its time; what is wrong is noted.
#[must_use]
pub fn changes_of(
    event: &Event,
    at: &Place<'_>,
    network: &Network,
    (flows, transports): (FlowSlices<'_>, &[TransportSetup]),
    problems: &mut Problems,
) -> Vec<Change> {
    let changes = changes(event, at, network, problems);
    Addresses::new(network, flows, transports).check(event, at, problems);
    changes
}

/// What changes with an event, whenever it is; what is wrong is noted.
fn changes(event: &Event, at: &Place<'_>, network: &Network, problems: &mut Problems) -> Vec<Change> {
    let up = event.state == Some(State::Up);
    if let Some(node) = &event.node {
        let node = network.find(node, &at.key("node"), problems);
        return node.map(|node| Change::Node { node: NodeId(node), up }).into_iter().collect();
    }
    if event.address.is_some() {
        let mut changes = Vec::new();
        for link in address_links(event, at, network, problems) {
            let link = LinkId(link as u32);
            changes.extend(event.backup.map(|backup| Change::Backup { link, backup }));
            // Last: an address that comes up comes up with its new priority.
            changes.extend(event.state.map(|_| Change::Address { link, up }));
        }
        return changes;
    }
    let Some(ends) = &event.link else { return Vec::new() };
    let ids = network.links_between(ends, &event.selector, &at.key("link"), problems);
    let links: Vec<_> = ids.iter().map(|&link| LinkId(link as u32)).collect();
    let mut changes = Vec::new();
    if let Some(capacity) = event.capacity {
        check_capacity(capacity, &at.key("capacity"), problems);
        changes.push(Change::Capacity { links: links.clone(), capacity });
    }
    changes.extend(event.delay.map(|delay| Change::Delay { links: links.clone(), delay }));
    changes.extend(
        event.loss.as_ref().map(|Loss(loss)| Change::Loss { links: links.clone(), loss: loss.clone() }),
    );
    if let Some(queue) = &event.queue {
        changes.extend(queue_changes(&ids, queue, event.capacity, &at.key("queue"), network, problems));
    }
    // Last: a link that comes up comes up with its new capacity.
    changes.extend(event.state.map(|state| match state {
        State::Silent => Change::Silent { links },
        State::Up | State::Down => Change::Links { links, up },
    }));
    changes
}

/// The links by which packets leave the host from the address of an event.
pub(super) fn address_links(
    event: &Event,
    at: &Place<'_>,
    network: &Network,
    problems: &mut Problems,
) -> Vec<usize> {
    let Some(ends) = &event.address else { return Vec::new() };
    let selector = LinkSelector { index: event.selector.index, direction: Direction::Forward };
    network.links_between(ends, &selector, &at.key("address"), problems)
}

pub(super) fn check_capacity(capacity: Rate, at: &Place<'_>, problems: &mut Problems) {
    if !is_usable(capacity) {
        problems.add(at, format!("{} bps is not between 100 bps and 1000 Tbps", capacity.as_bps()));
    }
}

/// Changes of links to a queue, each at its capacity or at a new one; room without a size is noted.
fn queue_changes(
    links: &[usize],
    queue: &Queue,
    capacity: Option<Rate>,
    at: &Place<'_>,
    network: &Network,
    problems: &mut Problems,
) -> Vec<Change> {
    if let Some((products, text)) = queue.products() {
        let message = format!("{} needs a round-trip time here; {}", quoted(text), with_rtt(products));
        problems.add(at, message);
        return Vec::new();
    }
    let change = |&link: &usize| {
        let link_then = capacity.map(|capacity| LinkSetup { capacity, ..network.links[link].clone() });
        let rate = link_then.as_ref().unwrap_or(&network.links[link]).queue_rate();
        Change::Queue { links: vec![LinkId(link as u32)], queue: queue.setup(rate, Span::ZERO) }
    };
    links.iter().map(change).collect()
}
