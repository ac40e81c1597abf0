//! The end of a connection that receives.

use super::reader::Reader;
use super::way::{PerSubflow, Way};
use crate::reordering::Reordering;
use anabranch_transport::{ReceiverAgent, Segment};
use anabranch_units::{Instant, MaybeInstant, prefetch_lines};
use std::mem::offset_of;
use std::ops::Range;

/// An end that receives, and the way back from it.
#[repr(C)]
pub(super) struct Receiving {
    pub(super) agent: ReceiverAgent,
    /// Packets that have reached it.
    pub(super) received: u64,
    pub(super) completed_at: MaybeInstant,
    /// The application, if it does not read at once.
    pub(super) reader: Option<Box<Reader>>,
    /// Reordering of the data of each subflow.
    pub(super) reordering: PerSubflow<Reordering>,
    pub(super) backward: Way,
}

/// Its lines of the cache, counted from that of [`Receiving::received`].
const LINES: Range<isize> = {
    let before = offset_of!(Receiving, received).div_ceil(64) as isize;
    -before..(size_of::<Receiving>() as isize / 64 - before + 1)
};

impl Receiving {
    /// Begins to fetch it.
    pub(super) fn prefetch(&self) {
        prefetch_lines(&self.received, LINES);
    }

    /// A segment is here. `order` gives its place in order of sending, if it is asked, and none where a copy of it has come
    /// before.
    #[inline]
    pub(super) fn note_arrival(&mut self, segment: &Segment, order: impl FnOnce() -> Option<u32>) {
        self.received += 1;
        if segment.payload > 0 {
            let reordering = self.reordering.get_mut(segment.subflow);
            match order() {
                Some(order) => reordering.on_arrival(order),
                None => reordering.on_repeat(),
            }
        }
    }

    /// The application reads, and is done if nothing more will come. Whether that is so from now on. `length` is that of the
    /// stream, if the sender knows it.
    #[inline]
    pub(super) fn read(&mut self, now: Instant, length: impl FnOnce() -> Option<u64>) -> bool {
        if let Some(reader) = &mut self.reader {
            reader.read(now, &mut self.agent);
        }
        let is_done = !self.completed_at.is_some() && self.is_complete(length);
        if is_done {
            self.completed_at = now.into();
        }
        is_done
    }

    /// Whether the application has read all that the sender will ever send. TCP's FIN and MPTCP's DATA_FIN come with the
    /// last byte; a paced sender's follows it a round trip later, and does not count.
    #[inline]
    fn is_complete(&self, length: impl FnOnce() -> Option<u64>) -> bool {
        match &self.agent {
            ReceiverAgent::Tcp(receiver) => receiver.is_finished() && receiver.unread() == 0,
            ReceiverAgent::Mptcp(receiver) => receiver.is_finished() && receiver.unread() == 0,
            other => length() == Some(other.stats().delivered),
        }
    }

    /// When its timer expires, or what waits in it is read.
    #[inline]
    pub(super) fn next_timeout(&self, now: Instant) -> Option<Instant> {
        let next = self.agent.next_timeout();
        match &self.reader {
            Some(reader) if self.agent.unread() > 0 => next.into_iter().chain(reader.next(now)).min(),
            _ => next,
        }
    }
}
