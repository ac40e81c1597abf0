//! Copies of one packet at one capture point, as a mirror port, a bridge under Linux' `any` or a repeated frame of a
//! wireless network gives them. They are no retransmissions.
//!
//! What is repeated has the same ends, numbers, flags, window, options and length as a packet shortly before. A
//! retransmission may have all that, too, and is told from a copy by the identification of IPv4, which hosts count up
//! from packet to packet (RFC 6864 section 4 wants it to be unique within the lifetime of a packet where it may be
//! fragmented). Where it is 0, always the same or, with IPv6, not there, time tells: nothing is sent again before a round
//! trip has passed (RFC 6298, RFC 8985).
//!
//! A copy may be in another network than its original: a router between two virtual networks of a mirrored link, the end of
//! a tunnel, a switch of labels. Two tenants of a cloud may be alike in everything, though, as machines made from one image
//! are; their packets differ in the network and not in the hop limit.

use crate::batch::Held;
use crate::packet::{FIN, Network, SYN};

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

/// In which network a packet was, and its hop limit then.
#[derive(Clone, Copy, Default)]
struct Place {
    network: Network,
    hops: u8,
}

/// A packet before another one that is like it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    pub time_ns: u64,
    pub network: Network,
    /// Whether it is in another network.
    pub is_elsewhere: bool,
    /// Whether nothing but their identifications says that the two are one packet, since numbers that differ are of two
    /// networks as well as of a way through several.
    pub only_by_identification: bool,
}

/// The last packets of a file.
pub(crate) struct Recent {
    sets: Box<[Set; SETS]>,
    /// Where they were, by the same places; of no network until [`Self::has_networks`].
    places: Box<[[Place; WAYS]; SETS]>,
    /// Whether there was a packet in a network.
    has_networks: bool,
}

impl Default for Recent {
    fn default() -> Self {
        let places = Box::new([[Place::default(); WAYS]; SETS]);
        Self { sets: Box::new([Set::default(); SETS]), places, has_networks: false }
    }
}

impl Recent {
    /// What is known of a packet with the same fingerprint, if it was among the last; this one is remembered if none was.
    #[inline]
    pub(crate) fn before(&mut self, fingerprint: u64, segment: &Held) -> Option<Earlier> {
        if self.has_networks || !segment.key.network.is_outside() {
            return self.before_in_networks(fingerprint, segment);
        }
        let (set, way) = self.look(fingerprint, segment.time_ns)?;
        let time_ns = self.sets[set].times_ns[way];
        Some(Earlier {
            time_ns,
            network: Network::default(),
            is_elsewhere: false,
            only_by_identification: false,
        })
    }

    /// The same where tunnels or virtual networks are: first in the same network, then in others. Two networks behind headers
    /// of the same kinds have different packets, however alike, unless a router between them has taken one off the hop
    /// limit.
    #[cold]
    #[inline(never)]
    fn before_in_networks(&mut self, fingerprint: u64, segment: &Held) -> Option<Earlier> {
        self.has_networks = true;
        let network = segment.key.network;
        if !network.is_outside()
            && let Some((time_ns, _)) = self.placed(fingerprint ^ segment.key.network_part(), segment)
        {
            return Some(Earlier { time_ns, network, is_elsewhere: false, only_by_identification: false });
        }
        let (time_ns, place) = self.placed(fingerprint, segment)?;
        let is_beside = network.is_beside(place.network);
        if is_beside && !network.changes() && place.hops == segment.hops {
            return None;
        }
        let only_by_identification = is_beside && network.changes();
        Some(Earlier {
            time_ns,
            network: place.network,
            is_elsewhere: network != place.network,
            only_by_identification,
        })
    }

    /// When and where a packet with this fingerprint was seen.
    fn placed(&mut self, fingerprint: u64, segment: &Held) -> Option<(u64, Place)> {
        if let Some((set, way)) = self.look(fingerprint, segment.time_ns) {
            return Some((self.sets[set].times_ns[way], self.places[set][way]));
        }
        let places = &mut self.places[fingerprint as usize & (SETS - 1)];
        places.rotate_right(1);
        places[0] = Place { network: segment.key.network, hops: segment.hops };
        None
    }

    /// Where a fingerprint is; it becomes the first of its set if it was not there.
    #[inline]
    fn look(&mut self, fingerprint: u64, time_ns: u64) -> Option<(usize, usize)> {
        let number = fingerprint as usize & (SETS - 1);
        let Set { fingerprints, times_ns } = &mut self.sets[number];
        if fingerprints.contains(&fingerprint) {
            let way = fingerprints.iter().position(|earlier| *earlier == fingerprint)?;
            return Some((number, way));
        }
        let [a, b, c, _] = *fingerprints;
        *fingerprints = [fingerprint, a, b, c];
        let [a, b, c, _] = *times_ns;
        *times_ns = [time_ns, a, b, c];
        None
    }

    /// Has a packet take the place of an earlier one with the same fingerprint.
    #[cold]
    pub(crate) fn renew(&mut self, fingerprint: u64, segment: &Held) {
        let here = Place { network: segment.key.network, hops: segment.hops };
        for fingerprint in [fingerprint, fingerprint ^ segment.key.network_part()] {
            let number = fingerprint as usize & (SETS - 1);
            let set = &mut self.sets[number];
            if let Some(way) = set.fingerprints.iter().position(|earlier| *earlier == fingerprint) {
                set.times_ns[way] = segment.time_ns;
                if self.has_networks {
                    self.places[number][way] = here;
                }
            }
        }
    }
}

/// Whether a packet that is as one before is a copy of it, by what is known of its direction.
///
/// `ids_vary`: packets of this direction have had different identifications. `round_trip_ns`: what the handshake showed.
#[cold]
pub(crate) fn is_copy(
    segment: &Held,
    earlier: &Earlier,
    ids_vary: bool,
    round_trip_ns: impl FnOnce() -> Option<u64>,
) -> bool {
    let apart_ns = segment.time_ns.abs_diff(earlier.time_ns);
    let has_own_id = ids_vary && segment.identification != 0;
    if has_own_id || earlier.only_by_identification || segment.flags & SYN != 0 {
        return apart_ns <= MOST_APART_NS && (has_own_id || !earlier.only_by_identification);
    }
    // ACKs without data are repeated by right, one for each segment that came out of order (RFC 5681 section 4.2), and so
    // are resets, one for each that comes to a connection that is closed (RFC 9293 section 3.10.7.1).
    let is_repeated_by_right = segment.payload == 0 && segment.flags & FIN == 0;
    let most_ns = || round_trip_ns().map_or(MOST_APART_BY_TIME_NS, |ns| ns / PART_OF_A_ROUND_TRIP);
    (!is_repeated_by_right || earlier.is_elsewhere) && apart_ns <= most_ns().min(MOST_APART_NS)
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
