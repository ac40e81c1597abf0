//! Packets read some at a time, so that what they need of memory can be asked for together.

use crate::flow::FlowKey;
use crate::format::{End, Next, Reader, Record};
use crate::options::{self, Options, Timestamps};
use crate::packet::{self, Dissected, Encapsulation, Network, Segment, Subframes, Tags};
use std::hint::black_box;
use std::io::{self, Read};

/// Packets of a batch: more waits for memory than a core has under way at once, and little enough that all
/// they need stays in the nearest cache.
pub(crate) const PACKETS: usize = 64;

const NO_OPTIONS: u32 = u32::MAX;

/// A TCP segment of which nothing is in the file's buffer any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    pub time_ns: u64,
    pub key: FlowKey,
    /// Of the key.
    pub hash: u64,
    /// 0 if the key's first end sent it, else 1.
    pub direction: u8,
    pub flags: u8,
    pub seq: u32,
    pub ack: u32,
    /// As the header has it, not scaled.
    pub window: u16,
    /// Of IPv4; 0 of IPv6.
    pub identification: u16,
    /// The hop limit.
    pub hops: u8,
    pub tags: Tags,
    /// Bytes of payload on the wire, kept or not.
    pub payload: u32,
    pub interface: u32,
    pub view: u64,
    pub timestamps: Option<Timestamps>,
    /// Where its MPTCP options are in the batch; [`NO_OPTIONS`] without.
    multipath: u32,
    /// The flow that it seems to be of: see [`crate::flow::FlowTable::look_ahead`].
    pub guess: u32,
}

impl Held {
    #[inline(always)]
    fn new(
        record: &Record<'_>,
        segment: &Segment<'_>,
        network: Network,
        (timestamps, multipath): (Option<Timestamps>, u32),
    ) -> Self {
        let (key, direction) = FlowKey::of(segment, network);
        Self {
            time_ns: record.time_ns,
            key,
            hash: key.hash(),
            direction,
            flags: segment.flags,
            seq: segment.seq,
            ack: segment.ack,
            window: segment.window,
            identification: segment.identification.unwrap_or(0),
            hops: segment.hops,
            tags: segment.tags,
            payload: segment.payload,
            interface: record.interface,
            view: segment.view,
            timestamps,
            multipath,
            guess: u32::MAX,
        }
    }

    /// Spreads what copies have in common over 64 bits, in whatever networks they are; `options`: those that are no timestamps.
    #[inline]
    fn fingerprint(&self, options: &[u8]) -> u64 {
        const C: u64 = 0xA076_1D64_78BD_642F;
        const D: u64 = 0xE703_7ED1_A0B4_28DB;
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let numbers = pair(self.seq, self.ack);
        // Each in bits of its own: no payload has 2^24 bytes.
        let sizes = pair(self.payload << 8 | u32::from(self.flags), u32::from(self.window) << 16)
            | u64::from(self.identification);
        let place = self.view << 1 ^ u64::from(self.interface).rotate_right(24) ^ u64::from(self.direction);
        let Timestamps { value, echo } = self.timestamps.unwrap_or(Timestamps { value: 0, echo: 0 });
        // Side by side, since one after the other multiplications take as long as all of them.
        let mut mixed = mix(self.hash ^ self.key.network_part() ^ numbers, sizes)
            ^ pair(value, echo).wrapping_mul(C)
            ^ place.wrapping_mul(D);
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let (pairs, rest) = options.as_chunks::<16>();
        for pair in pairs {
            let (first, second) = pair.split_at(8);
            mixed = mix(mixed ^ word(first), word(second));
        }
        if !rest.is_empty() {
            let (first, second) = rest.split_at(rest.len().min(8));
            mixed = mix(mixed ^ word(first), word(second));
        }
        mixed
    }
}

/// Multiplies and folds.
#[inline]
fn mix(number: u64, other: u64) -> u64 {
    const A: u64 = 0x9E37_79B9_7F4A_7C15;
    const B: u64 = 0xD6E8_FEB8_6659_FD93;
    let product = u128::from(number ^ A) * u128::from(other ^ B);
    (product as u64) ^ (product >> 64) as u64
}

/// Segments of a file, in its order.
pub(crate) struct Batch {
    pub segments: Vec<Held>,
    multipath: Vec<Options>,
    /// Of everything that copies of a packet have in common, by segment, if they were asked for.
    fingerprints: Vec<u64>,
    has_fingerprints: bool,
    /// What is around those segments that are in tunnels, by their places here.
    encapsulations: Vec<(usize, Encapsulation)>,
    /// What is around the packet that is read.
    around: Encapsulation,
    /// The tags that came last, and their network.
    tagged: (Tags, Network),
    most: usize,
    /// Segments of the file before the first one.
    before: u64,
}

impl Batch {
    /// Of this many packets at most, at least one.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            segments: Vec::with_capacity(most),
            multipath: Vec::new(),
            fingerprints: Vec::new(),
            has_fingerprints: false,
            encapsulations: Vec::new(),
            around: Encapsulation::default(),
            tagged: (Tags::default(), Network::default()),
            most: most.max(1),
            before: 0,
        }
    }

    /// The same, with fingerprints, by which copies are known.
    pub(crate) fn with_fingerprints(most: usize) -> Self {
        Self { has_fingerprints: true, ..Self::new(most) }
    }

    /// Reads the next packets, `most` or a batch of them, and holds the TCP segments that `keep` wants. Gives
    /// how many packets there were, and why there are no more, if so. A frame of several packets is one, and `keep` is
    /// asked for each that is in it.
    ///
    /// # Errors
    /// If the file cannot be read.
    #[inline]
    pub(crate) fn fill<R: Read>(
        &mut self,
        reader: &mut Reader<R>,
        most: u64,
        mut keep: impl FnMut(&Record<'_>, &Dissected<'_>, &Encapsulation) -> bool,
    ) -> io::Result<(u64, Option<End>)> {
        self.before += self.segments.len() as u64;
        self.segments.clear();
        self.multipath.clear();
        self.fingerprints.clear();
        self.encapsulations.clear();
        let most = most.min(self.most as u64);
        for read in 0..most {
            let record = match reader.ready() {
                Some(record) => record,
                None => match reader.next()? {
                    Next::Record(record) => record,
                    Next::End(end) => return Ok((read, Some(end))),
                },
            };
            let Some(segment) = packet::plain_segment(record.link_type, record.data, record.original_len)
            else {
                self.read_layers(&record, &mut keep);
                continue;
            };
            if keep(&record, &Dissected::Tcp(segment), &self.around) {
                self.hold(&record, &segment);
            }
        }
        Ok((most, None))
    }

    /// Holds what is in a packet that is no plain segment.
    #[cold]
    #[inline(never)]
    fn read_layers(
        &mut self,
        record: &Record<'_>,
        keep: &mut impl FnMut(&Record<'_>, &Dissected<'_>, &Encapsulation) -> bool,
    ) {
        let mut packet = packet::read(record.link_type, record.data, record.original_len, &mut self.around);
        let mut subframes = None;
        loop {
            if keep(record, &packet, &self.around)
                && let Dissected::Tcp(segment) = &packet
            {
                self.hold(record, segment);
            }
            if let Dissected::Aggregate(aggregate) = packet {
                subframes = Some(Subframes::new(aggregate, record.data, record.original_len));
            }
            let Some(subframes) = &mut subframes else { break };
            let Some(next) = subframes.next(&mut self.around) else { break };
            packet = next;
        }
    }

    #[inline(always)]
    fn hold(&mut self, record: &Record<'_>, segment: &Segment<'_>) {
        let only_timestamps = options::only_timestamps(segment.options);
        let (timestamps, multipath) = match only_timestamps {
            Some(timestamps) => (timestamps, NO_OPTIONS),
            None => self.read_options(segment.options),
        };
        let network = if segment.is_encapsulated {
            self.around.network()
        } else if segment.tags == self.tagged.0 {
            self.tagged.1
        } else {
            self.network_of(segment.tags)
        };
        let held = Held::new(record, segment, network, (timestamps, multipath));
        if self.has_fingerprints {
            let options = if only_timestamps.is_some() { &[] } else { segment.options };
            self.fingerprints.push(held.fingerprint(options));
        }
        if segment.is_encapsulated {
            self.encapsulations.push((self.segments.len(), self.around));
        }
        self.segments.push(held);
    }

    #[cold]
    fn network_of(&mut self, tags: Tags) -> Network {
        self.tagged = (tags, tags.encapsulation().network());
        self.tagged.1
    }

    /// Puts MPTCP options aside; few segments have them, and they are larger than the rest.
    fn read_options(&mut self, options: &[u8]) -> (Option<Timestamps>, u32) {
        let options = options::read(options);
        if options.capable.is_none() && !options.join && !options.dss {
            return (options.timestamps, NO_OPTIONS);
        }
        self.multipath.push(options);
        (options.timestamps, self.multipath.len() as u32 - 1)
    }

    /// A segment's MPTCP options, if it has any.
    #[inline]
    pub(crate) fn multipath(&self, segment: &Held) -> Option<&Options> {
        self.multipath.get(segment.multipath as usize)
    }

    /// The number of the segment at this place among the file's segments that are held.
    #[inline]
    pub(crate) fn number(&self, place: usize) -> u64 {
        self.before + place as u64
    }

    /// What copies of the segment at this place have in common with it.
    #[inline]
    pub(crate) fn fingerprint(&self, place: usize) -> u64 {
        self.fingerprints[place]
    }

    /// Whether something may be around the segment at this place; false if nothing is.
    #[inline]
    pub(crate) fn may_be_enclosed(&self, place: usize) -> bool {
        !self.encapsulations.is_empty() || !self.segments[place].tags.is_empty()
    }

    /// What is around the segment at this place, if anything.
    pub(crate) fn encapsulation(&self, place: usize) -> Option<Encapsulation> {
        let tags = self.segments[place].tags;
        if !tags.is_empty() {
            return Some(tags.encapsulation());
        }
        let number = self.encapsulations.binary_search_by_key(&place, |(place, _)| *place).ok()?;
        Some(self.encapsulations[number].1)
    }
}

/// Has these values read, each of another line of the cache. Nothing is done with them.
#[inline]
pub(crate) fn touch(values: impl Iterator<Item = u64>) {
    black_box(values.fold(0, |all, value| all ^ value));
}

#[cfg(test)]
mod tests;
