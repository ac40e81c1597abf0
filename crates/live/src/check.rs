//! How well the network keeps to the clock.

use anabranch_units::{Histogram, Instant};
use rustix::io::Errno;

const PS_PER_NS: u64 = 1_000;

/// How well the network kept to the clock.
#[derive(Clone, Debug)]
pub struct SelfCheck {
    /// How much later than due packets were handed to their hosts, in nanoseconds; the quantiles by nearest rank.
    pub lateness_ns: Option<Lateness>,
    /// Packets handed to hosts.
    pub delivered: u64,
    /// Packets read from hosts.
    pub read: u64,
    /// Packets that a host could not take when they were due.
    pub refused: u64,
    /// Packets of hosts that lead to no other host, or are not IPv4.
    pub astray: u64,
    /// CPU time of the network's thread over the time of the run.
    pub cpu_share: f64,
    /// The same in the busiest second.
    pub cpu_share_max: f64,
}

/// Quantiles of lateness, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Lateness {
    /// Half of all.
    pub p50: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p99_9: u64,
    /// The largest.
    pub max: u64,
}

/// What is counted on the way to the self-check.
#[derive(Default)]
pub(crate) struct Counts {
    lateness: Histogram<8>,
    delivered: u64,
    refused: u64,
    /// From hosts.
    pub(crate) read: u64,
    /// That lead to no host.
    pub(crate) astray: u64,
}

impl Counts {
    /// A packet that was due at this time is handed over now.
    pub(crate) fn note_lateness(&mut self, now: Instant, due: Instant) {
        self.lateness.record(now.saturating_since(due).as_ps() / PS_PER_NS);
    }

    /// So many packets were handed to a host together.
    ///
    /// # Errors
    /// What the system says, if it is not that the host cannot take them.
    pub(crate) fn note_delivery(&mut self, packets: u64, result: Result<usize, Errno>) -> Result<(), Errno> {
        match result {
            Ok(_) => self.delivered += packets,
            // The device is down, or its host has no memory left: as a host that loses a packet.
            Err(Errno::IO | Errno::NOBUFS | Errno::NOMEM | Errno::AGAIN) => self.refused += packets,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The self-check, with the CPU share in the mean and in the busiest second.
    pub(crate) fn finish(&self, (cpu_share, cpu_share_max): (f64, f64)) -> SelfCheck {
        let lateness = self.lateness.quantiles([500, 990, 999, 1000]);
        SelfCheck {
            lateness_ns: lateness.map(|[p50, p99, p99_9, max]| Lateness { p50, p99, p99_9, max }),
            delivered: self.delivered,
            read: self.read,
            refused: self.refused,
            astray: self.astray,
            cpu_share,
            cpu_share_max,
        }
    }
}
