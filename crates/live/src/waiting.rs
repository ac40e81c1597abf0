//! Waiting for frames, or for what is due next.
//!
//! A timer wakes its thread late, by some 20 us on a virtual machine, and a packet that waits for it comes late over
//! each of its links. So the timer is set earlier by as much as it has been late before, and what is left is spent
//! looking for frames again and again. Only a share of a core may go there: a small machine needs its cores for hosts
//! and switches.

use crate::clock::{NS_PER_SECOND, now_ns};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{ClockId, Timespec};

/// Events that are taken at once; the others are there the next time.
const EVENTS: usize = 64;
/// Below this it is not worth while to sleep.
const SHORTEST_SLEEP_NS: u64 = 8_000;
/// A timer that is later than this was not late by itself: its thread had to wait for the processor.
const LATEST_NS: u64 = 100_000;
/// One part in so many of a core may be spent looking.
const LOOKING_PART: u64 = 5;
/// What of this share may be saved up for later.
const MOST_CREDIT_NS: u64 = 10_000_000;

/// How late timers are, and how long may be looked instead.
#[derive(Debug)]
struct Alarm {
    /// Smoothed as round-trip times are (RFC 6298 section 2), in nanoseconds.
    late_ns: u64,
    deviation_ns: u64,
    credit_ns: u64,
    credited_at_ns: u64,
}

impl Alarm {
    const fn new(now_ns: u64) -> Self {
        Self { late_ns: 0, deviation_ns: 0, credit_ns: MOST_CREDIT_NS, credited_at_ns: now_ns }
    }

    /// How much earlier a timer is to be set.
    fn early_ns(&mut self, now_ns: u64) -> u64 {
        let passed = now_ns.saturating_sub(self.credited_at_ns);
        // What division leaves over counts the next time.
        self.credited_at_ns += passed - passed % LOOKING_PART;
        self.credit_ns = (self.credit_ns + passed / LOOKING_PART).min(MOST_CREDIT_NS);
        let wanted = (self.late_ns + 2 * self.deviation_ns).min(LATEST_NS);
        if wanted > self.credit_ns { 0 } else { wanted }
    }

    /// A timer was so much late.
    fn rang(&mut self, late_ns: u64) {
        let late = late_ns.min(LATEST_NS);
        self.deviation_ns = (3 * self.deviation_ns + late.abs_diff(self.late_ns)) / 4;
        self.late_ns = (7 * self.late_ns + late).div_ceil(8);
    }

    /// So long was looked.
    fn looked(&mut self, ns: u64) {
        self.credit_ns = self.credit_ns.saturating_sub(ns);
    }
}

/// The devices that are waited for.
pub(crate) struct Waiting {
    epoll: OwnedFd,
    events: Vec<Event>,
    alarm: Alarm,
}

impl Waiting {
    /// For none so far.
    pub(crate) fn new() -> Result<Self, Errno> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS), alarm: Alarm::new(now_ns(ClockId::Monotonic)) })
    }

    /// A device is waited for, too, under a number.
    pub(crate) fn add(&self, file: impl AsFd, number: usize) -> Result<(), Errno> {
        epoll::add(&self.epoll, file, EventData::new_u64(number as u64), EventFlags::IN)
    }

    /// Waits until a device has frames or the monotonic clock is at `until_ns`. How many have.
    pub(crate) fn wait(&mut self, until_ns: u64) -> Result<usize, Errno> {
        let mut now = now_ns(ClockId::Monotonic);
        let early = self.alarm.early_ns(now);
        if until_ns > now + early.max(SHORTEST_SLEEP_NS) {
            let set_ns = until_ns - early;
            self.look(set_ns - now)?;
            if !self.events.is_empty() {
                return Ok(self.events.len());
            }
            now = now_ns(ClockId::Monotonic);
            self.alarm.rang(now.saturating_sub(set_ns));
        }
        let begun = now;
        loop {
            self.look(0)?;
            now = now_ns(ClockId::Monotonic);
            if !self.events.is_empty() || now >= until_ns {
                break;
            }
        }
        self.alarm.looked(now.saturating_sub(begun));
        Ok(self.events.len())
    }

    /// The number of a device that had frames when it was waited last.
    pub(crate) fn ready(&self, place: usize) -> usize {
        self.events[place].data.u64() as usize
    }

    /// Notes which devices have frames; waits for one so long at most.
    fn look(&mut self, ns: u64) -> Result<(), Errno> {
        self.events.clear();
        if ns > 0 {
            // The time-out of epoll itself is in milliseconds on older kernels.
            let timeout = Timespec { tv_sec: (ns / NS_PER_SECOND) as _, tv_nsec: (ns % NS_PER_SECOND) as _ };
            match poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&Timespec::default())) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::pipe;

    fn now() -> u64 {
        now_ns(ClockId::Monotonic)
    }

    #[test]
    fn a_timer_is_set_earlier_by_what_it_was_late() {
        let mut alarm = Alarm::new(0);
        assert_eq!(alarm.early_ns(0), 0);
        for _ in 0..100 {
            alarm.rang(20_000);
        }
        assert_eq!(alarm.early_ns(0), 20_000);
        alarm.rang(28_000);
        // (7 x 20 + 28) / 8 = 21 us, and a quarter of 8 us twice.
        assert_eq!(alarm.early_ns(0), 25_000);
        for _ in 0..100 {
            alarm.rang(50_000_000);
        }
        assert_eq!(alarm.early_ns(0), LATEST_NS);
    }

    /// 10 ms at the beginning, and then 200 ms of each second.
    #[test]
    fn looking_takes_a_fifth_of_a_core_at_most() {
        let mut alarm = Alarm::new(0);
        for _ in 0..100 {
            alarm.rang(20_000);
        }
        let mut looked = 0;
        for now in (0..1_000_000_000).step_by(25_000) {
            let early = alarm.early_ns(now);
            alarm.looked(early);
            looked += early;
        }
        assert!((200_000_000..=210_000_000).contains(&looked), "{looked}");
    }

    #[test]
    fn a_device_that_has_something_is_told_by_its_number() {
        let mut waiting = Waiting::new().expect("an epoll");
        let (first, _silent) = pipe().expect("a pipe");
        let (second, into) = pipe().expect("a pipe");
        waiting.add(&first, 7).expect("added");
        waiting.add(&second, 9).expect("added");
        rustix::io::write(&into, b"frame").expect("written");
        assert_eq!(waiting.wait(now() + 10_000_000_000), Ok(1));
        assert_eq!(waiting.ready(0), 9);
        assert_eq!(waiting.wait(0), Ok(1), "it is still there");
    }

    #[test]
    fn nothing_is_told_before_the_time() {
        let mut waiting = Waiting::new().expect("an epoll");
        for wait_ns in [0, 5_000, 50_000, 2_000_000, 2_000_000] {
            let until = now() + wait_ns;
            assert_eq!(waiting.wait(until), Ok(0));
            assert!(now() >= until);
        }
    }
}
