//! Packets read some at a time, so that what they need of memory can be asked for together.

use crate::flow::FlowKey;
use crate::format::{End, Next, Reader, Record};
use crate::options::{self, Options, Timestamps};
use crate::packet::{self, Dissected, Segment};
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
    #[inline]
    fn new(
        record: &Record<'_>,
        segment: &Segment<'_>,
        timestamps: Option<Timestamps>,
        multipath: u32,
    ) -> Self {
        let (key, direction) = FlowKey::of(segment);
        Self {
            time_ns: record.time_ns,
            key,
            hash: key.hash(),
            direction,
            flags: segment.flags,
            seq: segment.seq,
            ack: segment.ack,
            payload: segment.payload,
            interface: record.interface,
            view: segment.view,
            timestamps,
            multipath,
            guess: u32::MAX,
        }
    }
}

/// Segments of a file, in its order.
pub(crate) struct Batch {
    pub segments: Vec<Held>,
    multipath: Vec<Options>,
    most: usize,
}

impl Batch {
    /// Of this many packets at most, at least one.
    pub(crate) fn new(most: usize) -> Self {
        Self { segments: Vec::with_capacity(most), multipath: Vec::new(), most: most.max(1) }
    }

    /// Reads the next packets, `most` or a batch of them, and holds the TCP segments that `keep` wants. Gives
    /// how many packets there were, and why there are no more, if so.
    ///
    /// # Errors
    /// If the file cannot be read.
    #[inline]
    pub(crate) fn fill<R: Read>(
        &mut self,
        reader: &mut Reader<R>,
        most: u64,
        mut keep: impl FnMut(&Record<'_>, &Dissected<'_>) -> bool,
    ) -> io::Result<(u64, Option<End>)> {
        self.segments.clear();
        self.multipath.clear();
        let most = most.min(self.most as u64);
        for read in 0..most {
            let record = match reader.next()? {
                Next::Record(record) => record,
                Next::End(end) => return Ok((read, Some(end))),
            };
            let packet = packet::parse(record.link_type, record.data, record.original_len);
            if keep(&record, &packet)
                && let Dissected::Tcp(segment) = &packet
            {
                self.hold(&record, segment);
            }
        }
        Ok((most, None))
    }

    #[inline]
    fn hold(&mut self, record: &Record<'_>, segment: &Segment<'_>) {
        let (timestamps, multipath) = match options::only_timestamps(segment.options) {
            Some(timestamps) => (timestamps, NO_OPTIONS),
            None => self.read_options(segment.options),
        };
        self.segments.push(Held::new(record, segment, timestamps, multipath));
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
}

/// Has these values read, each of another line of the cache. Nothing is done with them.
#[inline]
pub(crate) fn touch(values: impl Iterator<Item = u64>) {
    black_box(values.fold(0, |all, value| all ^ value));
}

#[cfg(test)]
mod tests;
