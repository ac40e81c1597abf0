//! Data that wait for an application which does not read at once, and the window that they leave open.
//!
//! The right edge of the window never moves back (RFC 9293 section 3.8.6), also where a window in units of its scale would
//! tell less than is left (RFC 7323 section 2.4): it is rounded up then, by less than a unit for each ACK.

use super::sender::full_payload;
use crate::config::TcpConfig;

/// The smallest part of the buffer that Linux opens a window for, as a divisor.
const LINUX_WORTH_OPENING: u64 = 16;

/// Where a window may end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Position of the next byte expected.
    pub(crate) next: u64,
    /// The window that is wanted where nothing waits, in bytes.
    pub(crate) window: u64,
    /// What the buffer holds, in bytes of payload.
    pub(crate) buffer: u64,
}

/// Whether the sender is told of a window that reading has opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Update {
    /// Not for this.
    No,
    /// With the next ACK, or when a delayed one is due.
    Delayed,
    /// Now.
    AtOnce,
}

/// What has come in order and was not read.
#[derive(Debug)]
pub(crate) struct Held {
    unread: u64,
    /// Right edge of the window that was announced.
    edge: u64,
    segment: u64,
    /// So many segments are worth an ACK of their own.
    worth_an_ack: u64,
    doubles: bool,
}

impl Held {
    pub(crate) fn new(config: &TcpConfig) -> Self {
        Self {
            unread: 0,
            edge: 0,
            segment: full_payload(config.mss, config.timestamps, 0),
            worth_an_ack: u64::from(config.delayed_ack_segments.max(1)),
            doubles: config.window_updates_double,
        }
    }

    /// What both ends have agreed on: segments have timestamps, or none.
    pub(crate) fn agree(&mut self, mss: u16, timestamps: bool) {
        self.segment = full_payload(mss, timestamps, 0);
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        self.unread += bytes;
    }

    pub(crate) const fn unread(&self) -> u64 {
        self.unread
    }

    /// Takes up to `most` bytes; returns how many there were.
    pub(crate) fn take(&mut self, most: u64) -> u64 {
        let taken = most.min(self.unread);
        self.unread -= taken;
        taken
    }

    /// Bytes behind the next one expected that were announced.
    pub(crate) const fn announced(&self, next: u64) -> u64 {
        self.edge.saturating_sub(next)
    }

    /// The window to announce in bytes, in units of 1 << `scale`.
    pub(crate) fn announce(&mut self, room: Room, scale: u8) -> u64 {
        let unit = 1 << scale;
        let left = self.announced(room.next);
        let possible = self.possible(room) / unit * unit;
        let window = possible.max(left.div_ceil(unit) * unit).min(u64::from(u16::MAX) * unit);
        self.edge = room.next + window;
        window
    }

    /// The window that could be announced: what was announced, or so much more that it is worth it.
    fn possible(&self, room: Room) -> u64 {
        let (window, left) = (self.open(room), self.announced(room.next));
        let worth_it = if self.doubles {
            window > left
        } else {
            // RFC 9293 section 3.8.6.2.2, with Fr = 1/2: RCV.BUFF - RCV.USER - RCV.WND >= min(Fr RCV.BUFF, Eff.snd.MSS).
            window >= left + self.segment.min(room.buffer / 2)
        };
        if worth_it { window } else { left }
    }

    /// The window that what is free would make. Linux opens none for little.
    fn open(&self, room: Room) -> u64 {
        let free = room.buffer.saturating_sub(self.unread);
        let little = self.doubles && free < self.segment.max(room.buffer / LINUX_WORTH_OPENING);
        if little { 0 } else { room.window.min(free) }
    }

    /// Whether an ACK of full segments is due though it may say no more than that the sender must wait. In Linux it is not if
    /// its window would be smaller than the one told by the last ACK, of `acknowledged`: it leaves when the application has
    /// read.
    pub(crate) fn keeps_up(&self, room: Room, acknowledged: u64) -> bool {
        !self.doubles || self.open(room) >= self.edge.saturating_sub(acknowledged)
    }

    /// Whether ACKs that are not delayed are out of place, as Linux has it: less than half of the buffer is free.
    pub(crate) const fn is_half_full(&self, room: Room) -> bool {
        self.doubles && 2 * room.buffer.saturating_sub(self.unread) < room.buffer
    }

    /// What to do when the application has read. RFC 9293 leaves it to the delayed ACKs; a sender that has less than a
    /// segment left waits for it. Linux: half of the buffer is not announced, and twice as much could be.
    pub(crate) fn update(&self, room: Room) -> Update {
        let (left, possible) = (self.announced(room.next), self.possible(room));
        if possible <= left {
            return Update::No;
        }
        if self.doubles {
            let halved = 2 * left <= room.buffer && possible >= 2 * left;
            return if halved { Update::AtOnce } else { Update::No };
        }
        let much = (self.worth_an_ack * self.segment).min(room.buffer / 2);
        if left < self.segment || possible - left >= much { Update::AtOnce } else { Update::Delayed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 1460 bytes, without timestamps.
    fn held(doubles: bool) -> Held {
        let config = TcpConfig { timestamps: false, window_updates_double: doubles, ..TcpConfig::default() };
        Held::new(&config)
    }

    const fn room(next: u64, buffer: u64) -> Room {
        Room { next, window: buffer, buffer }
    }

    /// RFC 9293 section 3.8.6.2.2: the edge stands still until it can move by a segment, or by half of a small buffer.
    #[test]
    fn the_edge_moves_by_whole_segments_or_half_the_buffer() {
        for (buffer, step) in [(10_000, 1460), (2000, 1000)] {
            let mut held = held(false);
            assert_eq!(held.announce(room(0, buffer), 0), buffer);
            held.add(buffer);
            assert_eq!(held.announce(room(buffer, buffer), 0), 0, "it is full, and shut");
            assert_eq!(held.take(step - 1), step - 1);
            assert_eq!(held.update(room(buffer, buffer)), Update::No);
            assert_eq!(held.announce(room(buffer, buffer), 0), 0, "one byte too little");
            assert_eq!(held.take(1), 1);
            assert_eq!(held.update(room(buffer, buffer)), Update::AtOnce, "the sender waits");
            assert_eq!(held.announce(room(buffer, buffer), 0), step);
        }
    }

    /// RFC 1122 section 4.2.3.2: an ACK for two segments; less waits for the timer of delayed ACKs.
    #[test]
    fn an_update_is_worth_as_much_as_an_ack() {
        let mut held = held(false);
        assert_eq!(held.announce(room(0, 100_000), 2), 100_000);
        held.add(50_000);
        assert_eq!(held.announce(room(50_000, 100_000), 2), 50_000);
        held.take(1460);
        assert_eq!(held.update(room(50_000, 100_000)), Update::Delayed);
        held.take(1459);
        assert_eq!(held.update(room(50_000, 100_000)), Update::Delayed);
        held.take(1);
        assert_eq!(held.update(room(50_000, 100_000)), Update::AtOnce);
    }

    /// Linux: less than a sixteenth of the buffer stays shut, and a window is told where it doubles.
    #[test]
    fn linux_opens_by_a_sixteenth_and_tells_what_doubles() {
        let (mut held, buffer) = (held(true), 160_000);
        assert_eq!(held.announce(room(0, buffer), 2), buffer);
        held.add(buffer);
        assert_eq!(held.announce(room(buffer, buffer), 2), 0);
        held.take(9_999);
        assert_eq!(held.update(room(buffer, buffer)), Update::No);
        held.take(1);
        assert_eq!(held.update(room(buffer, buffer)), Update::AtOnce);
        assert_eq!(held.announce(room(buffer, buffer), 2), 10_000);
        held.take(9_999);
        assert_eq!(held.update(room(buffer, buffer)), Update::No);
        held.take(1);
        assert_eq!(held.update(room(buffer, buffer)), Update::AtOnce);
        held.take(buffer);
        assert_eq!(held.announce(room(buffer, buffer), 2), buffer);
        held.add(40_000);
        held.take(40_000);
        let next = room(buffer + 40_000, buffer);
        assert_eq!(held.update(next), Update::No, "three quarters are announced still");
    }

    /// RFC 7323 section 2.4: what is left of a window is no multiple of the unit, and the edge stays where it was.
    #[test]
    fn the_edge_never_moves_back_for_the_scale() {
        let (mut held, buffer) = (held(false), 1 << 20);
        let (mut next, mut edge) = (0, 0);
        for _ in 0..1000 {
            let window = held.announce(room(next, buffer), 7);
            assert_eq!(window % 128, 0);
            assert!(next + window >= edge, "at {next}");
            edge = next + window;
            if window < 1448 {
                break;
            }
            held.add(1448);
            next += 1448;
        }
        // Less than a unit for each segment, beyond the buffer.
        assert!(
            (buffer..buffer + next / 1448 * 128).contains(&edge) && next > buffer - 1448,
            "{next} {edge}"
        );
    }

    /// A window without scale is announced by 16 bits, and nothing beyond them.
    #[test]
    fn what_cannot_be_told_is_not_announced() {
        let mut held = held(false);
        assert_eq!(held.announce(room(1000, 1 << 20), 0), 65_535);
        assert_eq!(held.announced(1000), 65_535);
    }

    /// Linux's __tcp_select_window(): less than half of the space is free.
    #[test]
    fn a_buffer_is_half_full_beyond_its_half() {
        let mut held = held(true);
        held.add(5000);
        assert!(!held.is_half_full(room(5000, 10_000)));
        held.add(1);
        assert!(held.is_half_full(room(5001, 10_000)));
    }
}
