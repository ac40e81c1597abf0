//! Segments that a host hands over together, and takes together.
//!
//! A network card with segmentation offload gets one IP packet with the data of several segments, and cuts it. One with
//! receive offload joins segments that follow each other, and hands them on as one. Both are done here, so that a
//! system call moves many segments, and each of them is still a packet of its own in the network.

use anabranch_engine::transport::wire;
use anabranch_units::Instant;

const IP_HEADER: usize = 20;
const TCP: u8 = 6;
/// Where the checksum stands in a TCP header.
const TCP_CHECKSUM: usize = 16;
/// Bits of the TCP header.
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const CWR: u8 = 0x80;
/// Longest packet that a train may be.
const LONGEST: usize = 65_535;
/// Flows of one host whose segments wait for more at once.
const MOST_TRAINS: usize = 16;

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The bytes of both headers of a TCP packet without options of IP that is no fragment; `None` for any other.
fn headers(packet: &[u8]) -> Option<usize> {
    let plain = packet.len() >= IP_HEADER + 20 && packet[0] == 0x45 && packet[9] == TCP;
    if !plain || packet[6] & 0x3F != 0 || packet[7] != 0 {
        return None;
    }
    let headers = IP_HEADER + usize::from(packet[IP_HEADER + 12] >> 4) * 4;
    (headers <= packet.len() && usize::from(be16(packet, 2)) == packet.len()).then_some(headers)
}

/// Cuts an IP packet with the data of several segments into packets, as the host would have sent them: numbers go on,
/// the first one has CWR, the last one FIN and PSH (RFC 3168 section 6.1.2, RFC 9293 section 3.8).
pub(crate) struct Cut<'t> {
    train: &'t [u8],
    headers: usize,
    payload: usize,
    /// Data bytes and segments that have been cut off.
    at: usize,
    count: u16,
}

impl<'t> Cut<'t> {
    /// Into segments of so many bytes of data; `None` for what is no such packet.
    pub(crate) fn new(train: &'t [u8], payload: u16) -> Option<Self> {
        let headers = headers(train).filter(|headers| payload > 0 && train.len() > *headers)?;
        Some(Self { train, headers, payload: usize::from(payload), at: 0, count: 0 })
    }

    /// Puts the next segment in place of what is in `packet`; whether there was one. `complete` says whether its TCP
    /// checksum is to be right: who takes it may have no need.
    pub(crate) fn next(&mut self, packet: &mut Vec<u8>, complete: bool) -> bool {
        let data = &self.train[self.headers..];
        let end = (self.at + self.payload).min(data.len());
        if self.at == end {
            return false;
        }
        packet.clear();
        packet.extend_from_slice(&self.train[..self.headers]);
        packet.extend_from_slice(&data[self.at..end]);
        let total = packet.len() as u16;
        let identification = be16(packet, 4).wrapping_add(self.count);
        let sequence = be32(packet, IP_HEADER + 4).wrapping_add(self.at as u32);
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet[4..6].copy_from_slice(&identification.to_be_bytes());
        packet[IP_HEADER + 4..IP_HEADER + 8].copy_from_slice(&sequence.to_be_bytes());
        if self.at > 0 {
            packet[IP_HEADER + 13] &= !CWR;
        }
        if end < data.len() {
            packet[IP_HEADER + 13] &= !(FIN | PSH);
        }
        wire::set_ip_checksum(packet);
        if complete {
            wire::set_checksum(packet, TCP_CHECKSUM);
        }
        (self.at, self.count) = (end, self.count + 1);
        true
    }
}

/// Segments of one flow that follow each other, as one packet.
#[derive(Default, Debug)]
pub(crate) struct Train {
    pub(crate) bytes: Vec<u8>,
    headers: usize,
    /// Data bytes of each segment but the last.
    pub(crate) payload: u16,
    /// When each was due.
    pub(crate) due: Vec<Instant>,
}

impl Train {
    fn begin(&mut self, packet: &[u8], headers: usize, due: Instant) {
        self.bytes.clear();
        self.bytes.extend_from_slice(packet);
        (self.headers, self.payload) = (headers, (packet.len() - headers) as u16);
        self.due.clear();
        self.due.push(due);
    }

    /// Whether both are of one flow, by addresses and ports.
    fn is_of(&self, packet: &[u8]) -> bool {
        self.bytes[12..24] == packet[12..24]
    }

    /// Whether a packet of the same flow carries on: what receive offload may join without loss. All of its headers are
    /// the same, but for lengths, numbers, checksums and PSH; an ECN mark is among them.
    fn carries_on(&self, packet: &[u8], headers: usize) -> bool {
        let (first, tcp) = (&self.bytes[..self.headers], IP_HEADER);
        let data = packet.len() - headers;
        let next = be32(first, tcp + 4).wrapping_add((self.bytes.len() - self.headers) as u32);
        headers == self.headers
            && (1..=usize::from(self.payload)).contains(&data)
            && self.bytes.len() + data <= LONGEST
            && first[..2] == packet[..2]
            && first[6..10] == packet[6..10]
            && be32(packet, tcp + 4) == next
            && first[tcp + 8..tcp + 13] == packet[tcp + 8..tcp + 13]
            && packet[tcp + 13] & !PSH == ACK
            && first[tcp + 14..tcp + 16] == packet[tcp + 14..tcp + 16]
            && first[tcp + 18..] == packet[tcp + 18..headers]
    }

    fn push(&mut self, packet: &[u8], due: Instant) {
        self.bytes.extend_from_slice(&packet[self.headers..]);
        self.bytes[IP_HEADER + 13] |= packet[IP_HEADER + 13] & PSH;
        self.due.push(due);
    }

    /// Whether no other segment may follow: an urgent end, or a short one.
    fn is_complete(&self) -> bool {
        let data = self.bytes.len() - self.headers;
        self.bytes[IP_HEADER + 13] & PSH != 0
            || !data.is_multiple_of(usize::from(self.payload))
            || self.bytes.len() + usize::from(self.payload) > LONGEST
    }

    /// Makes lengths and the checksum of IP right. That of TCP is the device's: it is told that there is none.
    fn finish(&mut self) {
        if self.due.len() > 1 {
            let total = self.bytes.len() as u16;
            self.bytes[2..4].copy_from_slice(&total.to_be_bytes());
            wire::set_ip_checksum(&mut self.bytes);
        }
    }
}

/// What has become of a packet.
pub(crate) enum Taken {
    /// It waits for others.
    Waits,
    /// It ends a train, which is to be handed over.
    Ends(Train),
    /// This train is to be handed over before it; it has not been taken yet.
    After(Train),
    /// It is to be handed over by itself.
    Alone,
}

/// The segments that wait at a host for others of their flows.
#[derive(Default, Debug)]
pub(crate) struct Joiner {
    /// In the order in which they began.
    waiting: Vec<Train>,
    spare: Vec<Train>,
}

impl Joiner {
    /// A packet that was due at this time is at the host.
    pub(crate) fn take(&mut self, packet: &[u8], due: Instant) -> Taken {
        let headers = headers(packet);
        let same = |train: &Train| packet.len() >= IP_HEADER + 4 && train.is_of(packet);
        let Some(place) = self.waiting.iter().position(same) else {
            let begins = |headers: &usize| packet.len() > *headers && packet[IP_HEADER + 13] == ACK;
            let Some(headers) = headers.filter(begins) else { return Taken::Alone };
            if self.waiting.len() == MOST_TRAINS {
                return Taken::After(self.remove(0));
            }
            let mut train = self.spare.pop().unwrap_or_default();
            train.begin(packet, headers, due);
            self.waiting.push(train);
            return Taken::Waits;
        };
        let train = &mut self.waiting[place];
        if !headers.is_some_and(|headers| train.carries_on(packet, headers)) {
            return Taken::After(self.remove(place));
        }
        train.push(packet, due);
        if train.is_complete() { Taken::Ends(self.remove(place)) } else { Taken::Waits }
    }

    fn remove(&mut self, place: usize) -> Train {
        let mut train = self.waiting.remove(place);
        train.finish();
        train
    }

    /// Whether any segments wait.
    pub(crate) fn holds(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The train that has waited longest.
    pub(crate) fn next(&mut self) -> Option<Train> {
        self.holds().then(|| self.remove(0))
    }

    /// The room of a train that has been handed over is for the next one.
    pub(crate) fn recycle(&mut self, train: Train) {
        self.spare.push(train);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_engine::transport::wire::{Endpoint, decode, encode};
    use anabranch_engine::transport::{Flags, Segment};

    const MSS: u16 = 1448;

    fn at(us: u64) -> Instant {
        Instant::from_ps(us * 1_000_000)
    }

    fn packet(change: impl FnOnce(&mut Segment)) -> Vec<u8> {
        let [a, b] = [1, 2].map(|host| Endpoint { addr: [10, 0, 0, host], port: 5001 });
        let flags = Flags::ACK.with(Flags::TIMESTAMPS);
        let mut segment = Segment { seq: 1000, payload: MSS, flags, timestamp: 7, ..Segment::default() };
        change(&mut segment);
        let mut bytes = Vec::new();
        encode(&segment, a, b, 65_535, 64, &mut bytes).expect("a segment");
        bytes
    }

    fn segment(number: u32) -> Vec<u8> {
        packet(|segment| segment.seq += number * u32::from(MSS))
    }

    /// Joins them all, and gives what is handed over, in order, with its segments.
    fn joined(packets: &[Vec<u8>]) -> Vec<(Vec<u8>, usize)> {
        let mut joiner = Joiner::default();
        let mut out = Vec::new();
        for packet in packets {
            loop {
                match joiner.take(packet, at(0)) {
                    Taken::Waits => break,
                    Taken::Ends(train) => {
                        out.push((train.bytes, train.due.len()));
                        break;
                    }
                    Taken::After(train) => out.push((train.bytes, train.due.len())),
                    Taken::Alone => {
                        out.push((packet.clone(), 1));
                        break;
                    }
                }
            }
        }
        out.extend(std::iter::from_fn(|| joiner.next()).map(|train| (train.bytes, train.due.len())));
        out
    }

    fn counts(packets: &[Vec<u8>]) -> Vec<usize> {
        joined(packets).into_iter().map(|(_, count)| count).collect()
    }

    /// Three whole segments and a short one: each has a number of its own, right checksums, and its part of the data.
    #[test]
    fn a_train_is_cut_into_the_segments_of_a_host() {
        let flags = Flags::ACK.with(Flags::TIMESTAMPS).with(Flags::FIN).with(Flags::CWR);
        let mut train = packet(|segment| {
            (segment.payload, segment.flags, segment.seq) = (3 * MSS + 10, flags, u32::MAX - 9);
        });
        let length = train.len();
        train[length - 1] = 0xAB;
        let mut cut = Cut::new(&train, MSS).expect("a train");
        let (mut packet, mut packets) = (Vec::new(), Vec::new());
        while cut.next(&mut packet, true) {
            let decoded = decode(&packet).expect("whole, with right checksums");
            let flags = decoded.segment.flags;
            let identification = be16(&packet, 4);
            packets.push((identification, decoded.segment.seq, decoded.segment.payload));
            assert_eq!(flags.has(Flags::CWR), packets.len() == 1, "the first one");
            assert_eq!(flags.has(Flags::FIN), packets.len() == 4, "the last one");
            assert_eq!(decoded.segment.timestamp, 7);
        }
        let first = u32::MAX - 9;
        let sequence = |n: u32| first.wrapping_add(n * u32::from(MSS));
        assert_eq!(
            packets,
            [(65_535, sequence(0), MSS), (0, sequence(1), MSS), (1, sequence(2), MSS), (2, sequence(3), 10)]
        );
        assert_eq!(packet.last(), Some(&0xAB), "the data's own last byte");
        assert!(Cut::new(&train, 0).is_none() && Cut::new(&train[..30], MSS).is_none());
    }

    /// What was cut and is joined again is what it was.
    #[test]
    fn what_is_cut_is_joined_again() {
        let mut train = packet(|segment| segment.payload = 3 * MSS + 10);
        for (number, byte) in train[52..].iter_mut().enumerate() {
            *byte = number as u8;
        }
        wire::set_checksum(&mut train, TCP_CHECKSUM);
        let mut cut = Cut::new(&train, MSS).expect("a train");
        let mut packet = Vec::new();
        let each = || cut.next(&mut packet, false).then(|| packet.clone());
        let packets: Vec<_> = std::iter::from_fn(each).collect();
        assert_eq!(joined(&packets), [(train, 4)]);
    }

    #[test]
    fn what_differs_is_not_joined() {
        let next = |change: fn(&mut Segment)| {
            packet(|segment| {
                segment.seq += u32::from(MSS);
                change(segment);
            })
        };
        assert_eq!(counts(&[segment(0), segment(1), segment(2)]), [3]);
        assert_eq!(counts(&[segment(0), segment(2)]), [1, 1], "a hole");
        assert_eq!(counts(&[segment(1), segment(0)]), [1, 1], "out of order");
        let each: [fn(&mut Segment); 6] = [
            |segment| segment.timestamp = 8,
            |segment| segment.window = 9,
            |segment| segment.ack = 1,
            |segment| segment.flags = segment.flags.with(Flags::FIN),
            |segment| segment.flags = segment.flags.with(Flags::ECT).with(Flags::CE),
            |segment| segment.payload = MSS + 1,
        ];
        for change in each {
            assert_eq!(counts(&[segment(0), next(change)]), [1, 1]);
        }
        let mut elsewhere = segment(1);
        elsewhere[19] = 3;
        assert_eq!(counts(&[segment(0), elsewhere]), [1, 1]);
    }

    /// A short segment or PSH ends a train, and so does its length: 45 whole segments fit into 65,535 bytes.
    #[test]
    fn trains_end() {
        let short = packet(|segment| (segment.seq, segment.payload) = (1000 + u32::from(MSS), 10));
        assert_eq!(counts(&[segment(0), short, segment(2)]), [2, 1]);
        let mut urgent = segment(1);
        urgent[IP_HEADER + 13] |= PSH;
        let trains = joined(&[segment(0), urgent, segment(2)]);
        assert_eq!(trains.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(trains[0].0[IP_HEADER + 13], ACK | PSH);
        assert_eq!(counts(&(0..50).map(segment).collect::<Vec<_>>()), [45, 5]);
    }

    /// An ACK without data goes at once, behind what its flow has waiting; a ping passes.
    #[test]
    fn what_carries_no_data_does_not_wait() {
        let bare = packet(|segment| segment.payload = 0);
        assert_eq!(joined(&[segment(0), bare.clone()]), [(segment(0), 1), (bare.clone(), 1)]);
        let mut joiner = Joiner::default();
        assert!(matches!(joiner.take(&bare, at(0)), Taken::Alone));
        assert!(matches!(joiner.take(&[0x45; 20], at(0)), Taken::Alone));
    }

    #[test]
    fn a_train_knows_when_its_segments_were_due() {
        let mut joiner = Joiner::default();
        assert!(!joiner.holds() && joiner.next().is_none());
        for (number, us) in [(0, 10), (1, 30)] {
            assert!(matches!(joiner.take(&segment(number), at(us)), Taken::Waits));
        }
        let train = joiner.next().expect("two segments");
        assert_eq!((train.due.clone(), train.payload), (vec![at(10), at(30)], MSS));
        joiner.recycle(train);
        assert!(!joiner.holds());
    }
}
