//! Addresses that come and go during a connection (RFC 8684 sections 3.3.8 and 3.4), as both ends keep them, and what
//! they tell each other about them.

use super::keys;
use super::option::MptcpOption;
use anabranch_units::{Instant, Span};
use std::collections::VecDeque;

/// An ADD_ADDR without an echo is sent so often again, as in Linux (ADD_ADDR_RETRANS_MAX).
const MOST_REPETITIONS: u32 = 3;

/// What becomes of an address of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressChange {
    /// The host has it.
    Up {
        /// The address, for ADD_ADDR.
        address: [u8; 4],
    },
    /// The host has it no more.
    Down,
    /// Subflows of it are backups, or regular ones again.
    Backup(bool),
}

/// The address of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Address {
    pub(super) up: bool,
    pub(super) backup: bool,
    /// Its identifier: at first the number of its interface.
    pub(super) id: u8,
}

/// The addresses of an end, by interface. Those of which nothing was said are up and no backups.
#[derive(Default, Debug)]
pub(super) struct Addresses {
    announced: Vec<Address>,
}

impl Addresses {
    pub(super) fn get(&self, interface: u8) -> Address {
        let address = self.announced.get(usize::from(interface)).copied();
        address.unwrap_or(Address { up: true, backup: false, id: interface })
    }

    /// The address of an interface has this identifier from now on.
    pub(super) fn rename(&mut self, interface: u8, id: u8) {
        if let Some(address) = self.announced.get_mut(usize::from(interface)) {
            address.id = id;
        }
    }

    /// Notes a change; returns whether it is one.
    pub(super) fn apply(&mut self, interface: u8, change: AddressChange) -> bool {
        let before = self.get(interface);
        let after = match change {
            AddressChange::Up { .. } => Address { up: true, ..before },
            AddressChange::Down => Address { up: false, ..before },
            AddressChange::Backup(backup) => Address { backup, ..before },
        };
        for missing in self.announced.len()..=usize::from(interface) {
            self.announced.push(self.get(missing as u8));
        }
        self.announced[usize::from(interface)] = after;
        before != after
    }
}

/// An option that waits for an ACK to carry it.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    option: MptcpOption,
    /// The subflow that must carry it, if it must be that one.
    only_on: Option<u8>,
    /// The subflow that was asked for an ACK.
    asked: Option<u8>,
}

/// An ADD_ADDR whose echo has not come.
#[derive(Clone, Copy, Debug)]
struct Unanswered {
    address_id: u8,
    address: [u8; 4],
    again_at: Instant,
    repetitions: u32,
}

/// What an end has to tell the other about its addresses. Options go on ACKs without data, one on each.
#[derive(Default, Debug)]
pub(super) struct Announcements {
    waiting: VecDeque<Waiting>,
    unanswered: Vec<Unanswered>,
}

impl Announcements {
    /// Has an option sent on whichever subflow works.
    pub(super) fn add(&mut self, option: MptcpOption) {
        self.waiting.push_back(Waiting { option, only_on: None, asked: None });
    }

    /// Has an option sent on this subflow, or not at all.
    pub(super) fn add_on(&mut self, subflow: u8, option: MptcpOption) {
        self.waiting.push_back(Waiting { option, only_on: Some(subflow), asked: None });
    }

    /// Announces an address, and again after `wait`, doubled each time, until its echo comes (RFC 8684 section 3.4.1).
    /// `keys` are the own one and the other end's.
    pub(super) fn announce(
        &mut self,
        now: Instant,
        (address_id, address): (u8, [u8; 4]),
        keys: (u64, u64),
        wait: Span,
    ) {
        self.withdraw(address_id);
        self.add(add_addr(address_id, address, keys));
        let again_at = now.saturating_add(wait);
        self.unanswered.push(Unanswered { address_id, address, again_at, repetitions: 0 });
    }

    /// Says no more of an address: neither that it is there nor that it is gone.
    pub(super) fn withdraw(&mut self, id: u8) {
        self.unanswered.retain(|entry| entry.address_id != id);
        self.waiting.retain(|entry| match entry.option {
            MptcpOption::AddAddr { address_id, hmac, .. } => hmac.is_none() || address_id != id,
            MptcpOption::RemoveAddr { address_id } => address_id != id,
            _ => true,
        });
    }

    /// The echo of an ADD_ADDR has come.
    pub(super) fn on_echo(&mut self, id: u8) {
        self.unanswered.retain(|entry| entry.address_id != id);
    }

    /// A subflow is closed: what it alone must carry is forgotten. What it was asked for has left, for polling follows
    /// each input.
    pub(super) fn on_closed(&mut self, subflow: u8) {
        self.waiting.retain(|entry| entry.only_on != Some(subflow));
    }

    /// Whether an option waits for a subflow that is asked for an ACK.
    #[inline]
    pub(super) fn are_to_be_placed(&self) -> bool {
        !self.waiting.is_empty() && self.waiting.iter().any(|entry| entry.asked.is_none())
    }

    /// Chooses the subflow of the next option that has none: `any` unless it must be another; that one is to be asked
    /// for an ACK.
    pub(super) fn place(&mut self, any: Option<u8>) -> Option<u8> {
        let entry = self
            .waiting
            .iter_mut()
            .find(|entry| entry.asked.is_none() && (entry.only_on.is_some() || any.is_some()))?;
        entry.asked = entry.only_on.or(any);
        entry.asked
    }

    /// The option of an ACK without data that leaves on a subflow, and whether another ACK must follow for the next.
    pub(super) fn take(&mut self, subflow: u8) -> Option<(MptcpOption, bool)> {
        let asked = |entry: &Waiting| entry.asked == Some(subflow);
        let place = self.waiting.iter().position(asked)?;
        let taken = self.waiting.remove(place)?;
        Some((taken.option, self.waiting.iter().any(asked)))
    }

    /// When an ADD_ADDR is to be sent again.
    #[inline]
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.unanswered.iter().map(|entry| entry.again_at).min()
    }

    /// Sends ADD_ADDRs again whose time has come.
    pub(super) fn on_timeout(&mut self, now: Instant, keys: (u64, u64), wait: Span) {
        let Self { waiting, unanswered } = self;
        for entry in unanswered.iter_mut().filter(|entry| entry.again_at <= now) {
            entry.repetitions += 1;
            entry.again_at = now.saturating_add(wait.saturating_mul(1 << entry.repetitions));
            let option = add_addr(entry.address_id, entry.address, keys);
            waiting.retain(|waiting| waiting.option != option);
            waiting.push_back(Waiting { option, only_on: None, asked: None });
        }
        unanswered.retain(|entry| entry.repetitions < MOST_REPETITIONS);
    }
}

fn add_addr(address_id: u8, address: [u8; 4], (mine, other): (u64, u64)) -> MptcpOption {
    let hmac = Some(keys::address_hmac(mine, other, address_id, address));
    MptcpOption::AddAddr { address_id, address, hmac }
}
