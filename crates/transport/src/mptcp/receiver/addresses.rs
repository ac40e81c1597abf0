//! Addresses that come and go at the receiving end (RFC 8684 sections 3.3.8 and 3.4).

use super::MptcpReceiver;
use super::held_back::HeldBack;
use crate::mptcp::addresses::AddressChange;
use crate::mptcp::option::MptcpOption;
use anabranch_units::Instant;

impl MptcpReceiver {
    /// A subflow arrives at this interface of the host.
    pub fn place_subflow(&mut self, index: u8, interface: u8) {
        if self.interfaces.len() <= usize::from(index) {
            self.interfaces.resize(usize::from(index) + 1, 0);
        }
        self.interfaces[usize::from(index)] = interface;
    }

    pub(super) fn interface_of(&self, index: u8) -> u8 {
        self.interfaces.get(usize::from(index)).copied().unwrap_or(0)
    }

    /// What becomes of an address of this host; `id` is the number of its interface. Poll afterwards, as after a
    /// segment.
    pub fn on_address(&mut self, now: Instant, id: u8, change: AddressChange) {
        if !self.addresses.apply(id, change) {
            return;
        }
        // Before the handshake and after the end the other one is told nothing.
        let open = self.peer_key.filter(|_| !self.is_finished());
        match change {
            AddressChange::Up { address } => {
                self.announcements.withdraw(id);
                if let Some(peer_key) = open {
                    let wait = self.config.tcp.initial_rto;
                    self.announcements.announce(now, (id, address), (self.key, peer_key), wait);
                }
            }
            AddressChange::Down => {
                self.announcements.withdraw(id);
                self.close_subflows(|receiver, index| receiver.interface_of(index) == id);
                if open.is_some() {
                    self.announcements.add(MptcpOption::RemoveAddr { address_id: id });
                }
            }
            AddressChange::Backup(_) => {
                for index in 0..self.subflows.len() as u8 {
                    if self.interface_of(index) == id {
                        self.tell_priority(index);
                    }
                }
            }
        }
    }

    /// Tells the other end the priority of a subflow, if it was told another one.
    pub(super) fn tell_priority(&mut self, index: u8) {
        let backup = self.addresses.get(self.interface_of(index)).backup;
        if let Some(subflow) = self.subflows[usize::from(index)].as_mut()
            && subflow.admitted
            && !subflow.removed
            && subflow.told_backup != backup
        {
            subflow.told_backup = backup;
            self.announcements.add_on(index, MptcpOption::Priority { backup });
        }
    }

    /// An option that speaks of addresses. The end that sends no data heeds no priority, and opens no subflows.
    pub(super) fn take_address_option(&mut self, option: MptcpOption) {
        match option {
            MptcpOption::AddAddr { address_id, hmac: None, .. } => self.announcements.on_echo(address_id),
            MptcpOption::RemoveAddr { address_id } => {
                self.close_subflows(|receiver, index| {
                    receiver.subflows[usize::from(index)]
                        .as_ref()
                        .is_some_and(|s| s.peer_address == address_id)
                });
            }
            _ => {}
        }
    }

    /// Closes subflows: nothing more is heard or said on them.
    fn close_subflows(&mut self, of: impl Fn(&Self, u8) -> bool) {
        for index in 0..self.subflows.len() as u8 {
            if of(self, index)
                && let Some(subflow) = self.subflows[usize::from(index)].as_mut()
                && !subflow.removed
            {
                subflow.removed = true;
                subflow.held_back = HeldBack::default();
                self.deadlines[usize::from(index)] = Instant::MAX;
                self.announcements.on_closed(index);
            }
        }
    }

    /// Sends ADD_ADDRs again whose echo has not come.
    pub(super) fn repeat_announcements(&mut self, now: Instant) {
        if let Some(peer_key) = self.peer_key {
            self.announcements.on_timeout(now, (self.key, peer_key), self.config.tcp.initial_rto);
        }
    }

    /// Asks subflows for the ACKs that are to carry options: the one that was heard last, for its path works.
    pub(super) fn place_announcements(&mut self) {
        let works = |index: &u8| {
            let subflow = self.subflows.get(usize::from(*index)).and_then(Option::as_ref);
            subflow.is_some_and(|subflow| subflow.admitted && !subflow.removed)
        };
        let any =
            Some(self.last_subflow).filter(works).or_else(|| (0..self.subflows.len() as u8).find(works));
        while let Some(index) = self.announcements.place(any) {
            self.acknowledge_on(index);
            self.wake(index);
        }
    }
}
