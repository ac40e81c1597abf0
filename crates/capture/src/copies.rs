//! Copies of one packet at one capture point, as a mirror port, a bridge under Linux' `any` or a repeated frame of a
//! wireless network gives them. They are no retransmissions.
//!
//! What is repeated has the same ends, numbers, flags, window, options and length as a packet shortly before. A
//! retransmission may have all that, too, and is told from a copy by the identification of IPv4, which hosts count up
//! from packet to packet (RFC 6864 section 4 wants it to be unique within the lifetime of a packet where it may be
//! fragmented). Where it is 0, always the same or, with IPv6, not there, time tells: nothing is sent again before a round
//! trip has passed (RFC 6298, RFC 8985).

use crate::batch::Held;
use crate::packet::{ACK, FIN, RST, SYN};

/// How far apart copies with the same identification, and copies of a SYN, may be: what a full queue between two mirrored
/// ports takes. The least time-out of a SYN is a second (RFC 6298 section 2).
const MOST_APART_NS: u64 = 100_000_000;
/// How far apart they may be without any evidence but time, where no handshake showed the round-trip time.
const MOST_APART_BY_TIME_NS: u64 = 100_000;
/// The part of a round-trip time by which copies are apart at most, where only time tells.
const PART_OF_A_ROUND_TRIP: u64 = 4;

/// Packets that are remembered, in sets that are a line of the cache each.
const SETS: usize = 512;
const WAYS: usize = 4;

/// The latest first.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Set {
    fingerprints: [u64; WAYS],
    times_ns: [u64; WAYS],
}

/// The last packets of a file.
pub(crate) struct Recent(Box<[Set; SETS]>);

impl Default for Recent {
    fn default() -> Self {
        Self(Box::new([Set::default(); SETS]))
    }
}

impl Recent {
    /// When a packet with the same fingerprint was seen, if it was among the last; this one is remembered if none was.
    #[inline]
    pub(crate) fn before(&mut self, fingerprint: u64, time_ns: u64) -> Option<u64> {
        let Set { fingerprints, times_ns } = &mut self.0[fingerprint as usize & (SETS - 1)];
        if fingerprints.contains(&fingerprint) {
            let slot = fingerprints.iter().position(|earlier| *earlier == fingerprint)?;
            return Some(times_ns[slot]);
        }
        let [a, b, c, _] = *fingerprints;
        *fingerprints = [fingerprint, a, b, c];
        let [a, b, c, _] = *times_ns;
        *times_ns = [time_ns, a, b, c];
        None
    }

    /// Has a packet take the place of an earlier one with the same fingerprint.
    #[cold]
    pub(crate) fn renew(&mut self, fingerprint: u64, time_ns: u64) {
        let Set { fingerprints, times_ns } = &mut self.0[fingerprint as usize & (SETS - 1)];
        if let Some(slot) = fingerprints.iter().position(|earlier| *earlier == fingerprint) {
            times_ns[slot] = time_ns;
        }
    }
}

/// Whether a packet that is as one before is a copy of it, by what is known of its direction.
///
/// `apart_ns`: time between the two. `ids_vary`: packets of this direction have had different identifications.
/// `round_trip_ns`: what the handshake showed.
#[cold]
pub(crate) fn is_copy(
    segment: &Held,
    apart_ns: u64,
    ids_vary: bool,
    round_trip_ns: impl FnOnce() -> Option<u64>,
) -> bool {
    let has_own_id = ids_vary && segment.identification != 0;
    if has_own_id || segment.flags & SYN != 0 {
        return apart_ns <= MOST_APART_NS;
    }
    // ACKs without data are repeated by right, one for each segment that came out of order (RFC 5681 section 4.2).
    let is_bare_ack = segment.payload == 0 && segment.flags & (FIN | RST | ACK) == ACK;
    let most_ns = || round_trip_ns().map_or(MOST_APART_BY_TIME_NS, |ns| ns / PART_OF_A_ROUND_TRIP);
    !is_bare_ack && apart_ns <= most_ns().min(MOST_APART_NS)
}

/// Which segments of a file are copies, by their numbers.
#[derive(Default)]
pub(crate) struct Copies {
    words: Vec<u64>,
    count: u64,
}

impl Copies {
    pub(crate) fn add(&mut self, segment: u64) {
        let word = (segment / 64) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (segment % 64);
        self.count += 1;
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    #[inline]
    pub(crate) fn contains(&self, segment: u64) -> bool {
        self.words.get((segment / 64) as usize).is_some_and(|word| word >> (segment % 64) & 1 == 1)
    }
}
