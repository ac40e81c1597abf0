//! What the packets of a file are: how many of each protocol in each kind of tunnel.

use crate::packet::{Encapsulation, Protocol};

/// Most kinds that are told apart; those beyond count as the last one.
const MOST_KINDS: usize = 256;

/// Packets of a protocol in the same headers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ProtocolCount {
    /// The names of the headers around it, the outermost first; empty if there are none.
    pub encapsulation: String,
    pub protocol: Protocol,
    pub packets: u64,
}

/// Counts of everything but TCP outside of tunnels, which nearly all packets are.
#[derive(Clone, Default, Debug)]
pub(crate) struct Protocols {
    counts: Vec<(Protocol, Encapsulation, u64)>,
    /// The one that was counted last.
    last: usize,
}

impl Protocols {
    #[cold]
    pub(crate) fn note(&mut self, protocol: Protocol, encapsulation: &Encapsulation) {
        let is_same = |(seen, around, _): &(Protocol, Encapsulation, u64)| {
            *seen == protocol && around.has_same_kinds(encapsulation)
        };
        if !self.counts.get(self.last).is_some_and(is_same) {
            self.last = self.counts.iter().position(is_same).unwrap_or_else(|| {
                if self.counts.len() < MOST_KINDS {
                    self.counts.push((protocol, *encapsulation, 0));
                }
                self.counts.len() - 1
            });
        }
        self.counts[self.last].2 += 1;
    }

    /// Of all files together, with `tcp` packets of TCP in all: TCP first, then by the headers.
    pub(crate) fn together<'a>(files: impl Iterator<Item = &'a Self>, tcp: u64) -> Vec<ProtocolCount> {
        let mut all: Vec<ProtocolCount> = Vec::new();
        for (protocol, encapsulation, packets) in files.flat_map(|file| &file.counts) {
            let encapsulation = encapsulation.kinds();
            let is_same =
                |sum: &&mut ProtocolCount| sum.protocol == *protocol && sum.encapsulation == encapsulation;
            match all.iter_mut().find(is_same) {
                Some(sum) => sum.packets += packets,
                None => all.push(ProtocolCount { encapsulation, protocol: *protocol, packets: *packets }),
            }
        }
        let in_tunnels: u64 =
            all.iter().filter(|count| count.protocol == Protocol::Tcp).map(|count| count.packets).sum();
        if tcp > in_tunnels {
            let (encapsulation, packets) = (String::new(), tcp - in_tunnels);
            all.push(ProtocolCount { encapsulation, protocol: Protocol::Tcp, packets });
        }
        all.sort_unstable_by(|one, other| {
            (one.protocol != Protocol::Tcp, one).cmp(&(other.protocol != Protocol::Tcp, other))
        });
        all
    }

    /// By protocol, packets in which TCP may be that cannot be read.
    pub(crate) fn hidden(&self) -> Vec<(Protocol, u64)> {
        let mut hidden: Vec<(Protocol, u64)> = Vec::new();
        for (protocol, _, packets) in self.counts.iter().filter(|count| count.0.hides_tcp().is_some()) {
            match hidden.iter_mut().find(|sum| sum.0 == *protocol) {
                Some(sum) => sum.1 += packets,
                None => hidden.push((*protocol, *packets)),
            }
        }
        hidden.sort_unstable();
        hidden
    }
}
