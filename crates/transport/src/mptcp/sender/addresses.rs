//! Addresses that come and go at the sending end, and what the other end says of its own (RFC 8684 sections 3.3.8 and
//! 3.4).

use super::MptcpSender;
use super::subflow::{Join, Subflow};
use crate::log::{Decision, Origin};
use crate::mptcp::addresses::{AddressChange, Addresses, Announcements};
use crate::mptcp::keys;
use crate::mptcp::option::MptcpOption;
use crate::mptcp::path_manager::{Interfaces, Limits, MOST_SUBFLOWS, SubflowAddresses};
use crate::mptcp::scheduler::SubflowScheduler;
use crate::tcp::Sender;
use anabranch_units::Instant;

/// The addresses of both ends, as the sender knows them.
#[derive(Debug)]
pub(super) struct Ends {
    interfaces: Interfaces,
    pub(super) local: Addresses,
    remote: Addresses,
    /// How far the path manager follows them; none if it does not look at addresses.
    limits: Option<Limits>,
    /// The next identifier of an address that comes back (as in Linux): under its old one a REMOVE_ADDR that comes late
    /// would close its new subflows.
    next_id: u8,
    /// Addresses of the other end that were accepted by ADD_ADDR.
    accepted: u16,
    /// It was told to open and has no address.
    waits: bool,
    pub(super) announcements: Announcements,
}

impl Ends {
    pub(super) fn new(interfaces: Interfaces, limits: Option<Limits>) -> Self {
        let (local, remote) = (Addresses::default(), Addresses::default());
        let announcements = Announcements::default();
        let next_id = interfaces.local;
        Self { interfaces, local, remote, limits, next_id, accepted: 0, waits: false, announcements }
    }

    fn are_up(&self, pair: SubflowAddresses) -> bool {
        self.local.get(pair.local).up && self.remote.get(pair.remote).up
    }

    /// The pairs between which a subflow may run now, in the order of the full mesh.
    fn pairs(&self) -> Vec<SubflowAddresses> {
        self.interfaces.joined.iter().copied().filter(|&pair| self.are_up(pair)).collect()
    }
}

impl MptcpSender {
    /// Starts the handshake of the first subflow; the others follow once the other end has confirmed. Without an
    /// address it waits for one.
    pub fn open(&mut self) {
        if self.follows_addresses() && !self.ends.are_up(self.subflows[0].addresses) {
            let Some(&pair) = self.ends.pairs().first() else {
                self.ends.waits = true;
                return;
            };
            // Each pair stays that of one subflow.
            let before = std::mem::replace(&mut self.subflows[0].addresses, pair);
            if let Some(other) = self.subflows[1..].iter_mut().find(|subflow| subflow.addresses == pair) {
                other.addresses = before;
            }
        }
        self.ends.waits = false;
        self.open_subflow(0);
    }

    /// What becomes of the address of an interface of this host. Poll afterwards, as after a segment. Path managers that
    /// do not look at addresses ignore it.
    pub fn on_address(&mut self, now: Instant, interface: u8, change: AddressChange) {
        if !self.follows_addresses() || !self.ends.local.apply(interface, change) {
            return;
        }
        match change {
            AddressChange::Up { .. } => {
                if self.ends.next_id < u8::MAX {
                    self.ends.local.rename(interface, self.ends.next_id);
                    self.ends.next_id += 1;
                }
                if self.ends.waits {
                    self.open();
                }
                self.open_missing();
            }
            AddressChange::Down => {
                self.close_subflows(now, Origin::Own, |addresses| addresses.local == interface);
                if self.peer_key.is_some() && !self.is_finished() {
                    let address_id = self.ends.local.get(interface).id;
                    self.ends.announcements.add(MptcpOption::RemoveAddr { address_id });
                }
                self.open_missing();
            }
            AddressChange::Backup(backup) => {
                for index in 0..self.subflow_count() {
                    if self.subflows[usize::from(index)].addresses.local == interface {
                        self.tell_priority(index);
                        self.on_priority(now, index, backup, Origin::Own);
                    }
                }
            }
        }
    }

    /// Whether the path manager looks at addresses.
    pub(super) fn follows_addresses(&self) -> bool {
        self.ends.limits.is_some()
    }

    /// Which interfaces paths join from now on; returns whether these are others than before, after which it is to be polled,
    /// as after a segment. Subflows that are there stay.
    pub fn on_interfaces(&mut self, interfaces: Interfaces) -> bool {
        let changed = self.follows_addresses() && self.ends.interfaces != interfaces;
        if changed {
            self.ends.interfaces = interfaces;
            if self.ends.waits {
                self.open();
            }
            self.open_missing();
        }
        changed
    }

    /// Which addresses the other end has when the connection opens; later it says so itself.
    pub fn know_remote(&mut self, interface: u8, change: AddressChange) {
        self.ends.remote.apply(interface, change);
    }

    /// An option that speaks of addresses (RFC 8684 sections 3.3.8 and 3.4).
    pub(super) fn take_address_option(&mut self, now: Instant, index: u8, option: MptcpOption) {
        match option {
            MptcpOption::AddAddr { address_id, address, hmac: Some(hmac) } => {
                let Some(peer_key) = self.peer_key else { return };
                // RFC 8684 section 3.4.1: what is not authentic is ignored, and not echoed.
                if hmac == keys::address_hmac(peer_key, self.key, address_id, address) {
                    let echo = MptcpOption::AddAddr { address_id, address, hmac: None };
                    self.ends.announcements.add_on(index, echo);
                    self.accept_address(now, address_id);
                }
            }
            MptcpOption::RemoveAddr { address_id } => self.lose_remote(now, address_id),
            MptcpOption::Priority { backup } => {
                self.subflows[usize::from(index)].peer_backup = backup;
                self.on_priority(now, index, backup, Origin::Peer);
            }
            _ => {}
        }
    }

    fn lose_remote(&mut self, now: Instant, id: u8) {
        if id < self.ends.interfaces.remote && self.ends.remote.apply(id, AddressChange::Down) {
            self.ends.accepted = self.ends.accepted.saturating_sub(1);
            self.close_subflows(now, Origin::Peer, |addresses| addresses.remote == id);
            self.open_missing();
        }
    }

    fn accept_address(&mut self, now: Instant, id: u8) {
        let Some(limits) = self.ends.limits else { return };
        // An address that it knows, sent again; or one to which no route is known.
        if id >= self.ends.interfaces.remote || self.ends.remote.get(id).up {
            return;
        }
        let accepted = self.ends.accepted < limits.add_addr_accepted;
        self.record_of_connection(now, Decision::AddressAnnounced { accepted });
        if accepted {
            self.ends.accepted += 1;
            self.ends.remote.apply(id, AddressChange::Up { address: [0; 4] });
            self.open_missing();
        }
    }

    /// Opens a subflow for each pair of addresses that has none, as far as the path manager goes.
    pub(super) fn open_missing(&mut self) {
        let Some(limits) = self.ends.limits.filter(|_| self.confirmed && !self.is_finished()) else { return };
        for pair in self.ends.pairs() {
            if self.subflows.iter().filter(|subflow| subflow.is_live()).count() >= limits.subflows {
                return;
            }
            if self.subflows.iter().any(|subflow| subflow.is_live() && subflow.addresses == pair) {
                continue;
            }
            let unused = |subflow: &Subflow| !subflow.opened && subflow.addresses == pair;
            let Some(index) = self.subflows.iter().position(unused).or_else(|| self.add_subflow(pair)) else {
                return;
            };
            self.open_subflow(index as u8);
        }
    }

    /// A further subflow, unless there are as many as can be numbered.
    fn add_subflow(&mut self, addresses: SubflowAddresses) -> Option<usize> {
        let place = self.subflows.len();
        let index = u8::try_from(place).ok().filter(|_| place < MOST_SUBFLOWS)?;
        let sequence = keys::derive(self.seed, "sequence", index) as u32;
        let mut sender =
            Sender::for_subflow(&self.config, sequence, keys::derive(self.seed, "subflow", index));
        sender.set_offload(self.offload);
        if let Some(log) = &self.log {
            sender.keep_log(log.share);
        }
        let nonce = keys::derive(self.seed, "nonce", index) as u32;
        self.subflows.push(Subflow::new(sender, addresses, Join::Waiting, nonce));
        self.paths.add();
        self.scheduler.add_subflow();
        self.deadlines.push(Instant::MAX);
        Some(place)
    }

    /// Closes every subflow of these addresses: what it has not delivered goes on the others.
    fn close_subflows(&mut self, now: Instant, by: Origin, of: impl Fn(SubflowAddresses) -> bool) {
        for index in 0..self.subflow_count() {
            let subflow = &mut self.subflows[usize::from(index)];
            if !of(subflow.addresses) || !subflow.is_live() {
                continue;
            }
            subflow.removed = true;
            subflow.sender.abandon(now);
            self.record(now, index, Decision::Removed { by });
            self.ends.announcements.on_closed(index);
            self.settle(now, index);
            if !self.is_finished() {
                self.give_back(now, index);
            }
        }
    }

    /// Tells the other end the priority of a subflow, if it was told another one.
    pub(super) fn tell_priority(&mut self, index: u8) {
        let subflow = &mut self.subflows[usize::from(index)];
        let backup = self.ends.local.get(subflow.addresses.local).backup;
        let joined = match subflow.join {
            Join::First => self.confirmed,
            Join::Done => true,
            Join::Waiting | Join::Acknowledged { .. } => false,
        };
        if joined && subflow.is_live() && subflow.told_backup != backup {
            subflow.told_backup = backup;
            self.ends.announcements.add_on(index, MptcpOption::Priority { backup });
        }
    }

    fn on_priority(&mut self, now: Instant, index: u8, backup: bool, by: Origin) {
        if self.subflows[usize::from(index)].is_live() {
            self.record(now, index, Decision::Prioritised { backup, by });
            // Polling brings the paths up to date.
            self.wake(index);
        }
    }

    /// Whether a subflow is a backup: either end may ask for it (RFC 8684 section 3.3.8).
    pub(super) fn is_backup(&self, index: u8) -> bool {
        let subflow = &self.subflows[usize::from(index)];
        subflow.peer_backup || self.ends.local.get(subflow.addresses.local).backup
    }

    /// Asks subflows for the ACKs that are to carry options.
    pub(super) fn place_announcements(&mut self) {
        let any = self.paths.usable().next();
        while let Some(index) = self.ends.announcements.place(any) {
            self.subflows[usize::from(index)].sender.repeat_ack();
            self.wake(index);
        }
    }
}
