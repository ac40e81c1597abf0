//! One direction's data beside the acknowledgments that come back: round-trip times, delivery, losses.

use super::gather::{Flow, Seen};
use super::{Exchange, SentSegments};
use crate::packet::{ACK, FIN, SYN};

/// Bytes of a segment where neither SYN nor data say it: an Ethernet's packet less the headers of IPv4 and TCP with timestamps.
const USUAL_MSS: i64 = 1448;
/// More data than this in one packet is a segment that a card was to cut.
const LARGEST_PACKET: i64 = 9000;

/// A segment that was sent.
struct Sent {
    start: i64,
    end: i64,
    last_ns: u64,
    transmissions: u32,
    is_delivered: bool,
    /// Reported as a duplicate: what was sent again had arrived before.
    is_duplicate: bool,
    /// Number of the first transmission among the segments.
    first: usize,
}

struct Follower {
    begin_ns: u64,
    begin_seq: u32,
    mss: i64,
    sent: Vec<Sent>,
    /// The first of them that is not acknowledged cumulatively.
    first_unacked: usize,
    next: i64,
    highest_sacked: i64,
    outstanding: i64,
    window_scale: u8,
    out: Exchange,
}

/// The exchange of the direction's data; `ends` are for the caller to fill in.
pub(super) fn follow(flow: &Flow, direction: usize) -> Exchange {
    let mut follower = Follower::new(flow, direction);
    for seen in &flow.seen {
        if usize::from(seen.direction) == direction {
            follower.on_data(seen);
        } else if seen.flags & (ACK | SYN) == ACK {
            follower.on_ack(seen);
        }
    }
    follower.finish(flow, direction)
}

impl Follower {
    fn new(flow: &Flow, direction: usize) -> Self {
        let of_data = |seen: &&Seen| usize::from(seen.direction) == direction;
        let first = flow.seen.iter().find(of_data);
        let begin_seq = first.map_or(0, |seen| seen.seq.wrapping_add(u32::from(seen.flags & SYN != 0)));
        let scales = flow.openings.map(|opening| opening.window_scale);
        // Both ends must have offered it (RFC 7323 section 2.2).
        let window_scale = if scales[direction].is_some() { scales[1 - direction].unwrap_or(0) } else { 0 };
        Self {
            begin_ns: flow.seen.first().map_or(0, |seen| seen.time_ns),
            begin_seq,
            mss: mss(flow, direction),
            sent: Vec::new(),
            first_unacked: 0,
            next: 0,
            highest_sacked: 0,
            outstanding: 0,
            window_scale,
            out: Exchange::default(),
        }
    }

    fn seconds(&self, time_ns: u64) -> f64 {
        (time_ns as i64 - self.begin_ns as i64) as f64 / 1e9
    }

    /// The position of a number near those that were sent last.
    fn position(&self, seq: u32) -> i64 {
        let near = self.begin_seq.wrapping_add(self.next as u32);
        self.next + i64::from(seq.wrapping_sub(near).cast_signed())
    }

    fn on_data(&mut self, seen: &Seen) {
        if seen.payload == 0 {
            return;
        }
        let start = self.position(seen.seq.wrapping_add(u32::from(seen.flags & SYN != 0)));
        let end = start + i64::from(seen.payload);
        if end - start > self.mss {
            self.out.offloaded += 1;
        }
        let mut at = start;
        while at < end {
            let until = end.min(at + self.mss);
            self.on_segment(at, until, seen);
            at = until;
        }
    }

    fn on_segment(&mut self, start: i64, end: i64, seen: &Seen) {
        let number = self.out.segments.time_s.len();
        let is_repeated = start < self.next;
        if is_repeated {
            let from = self.sent.partition_point(|sent| sent.end <= start);
            for sent in self.sent[from..].iter_mut().take_while(|sent| sent.start < end) {
                sent.last_ns = seen.time_ns;
                sent.transmissions += 1;
            }
        }
        if end > self.next {
            let start = start.max(self.next);
            self.sent.push(Sent {
                start,
                end,
                last_ns: seen.time_ns,
                transmissions: 1,
                is_delivered: false,
                is_duplicate: false,
                first: number,
            });
            self.outstanding += end - start;
            self.next = end;
        }
        let time_s = self.seconds(seen.time_ns);
        let SentSegments { time_s: times, position, bytes, is_repeated: repeated, timestamp, is_lost } =
            &mut self.out.segments;
        times.push(time_s);
        position.push(start);
        bytes.push(end - start);
        repeated.push(i64::from(is_repeated));
        timestamp.push(seen.timestamp);
        is_lost.push(0);
    }

    fn on_ack(&mut self, seen: &Seen) {
        let ack = self.position(seen.ack).min(self.next.max(0) + 1);
        let blocks = &seen.blocks[..usize::from(seen.block_count)];
        let duplicate = self.duplicate(ack, blocks);
        let mut news = News::default();
        let first = self.first_unacked;
        let behind = first + self.sent[first..].partition_point(|sent| sent.end <= ack);
        self.deliver(first..behind, &mut news);
        self.first_unacked = behind;
        for (number, &(left, right)) in blocks.iter().enumerate() {
            let (left, right) = (self.position(left), self.position(right));
            if right <= ack || (number == 0 && duplicate) {
                continue;
            }
            let from = self.sent.partition_point(|sent| sent.start < left).max(behind);
            let until = self.sent.partition_point(|sent| sent.end <= right).max(from);
            self.deliver(from..until, &mut news);
        }
        self.highest_sacked = self.highest_sacked.max(news.highest);
        self.outstanding -= news.bytes;
        let sent_s = news.latest_ns.map_or(f64::NAN, |sent_ns| self.seconds(sent_ns));
        let time_s = self.seconds(seen.time_ns);
        let acks = &mut self.out.acknowledgments;
        acks.time_s.push(time_s);
        acks.position.push(ack);
        acks.delivered_bytes.push(news.bytes);
        acks.sent_s.push(sent_s);
        acks.rtt_s.push(time_s - sent_s);
        acks.in_flight_bytes.push(self.outstanding);
        acks.window_bytes.push(i64::from(seen.window) << self.window_scale);
        acks.timestamp.push(seen.timestamp);
    }

    /// Whether the first block reports a duplicate (RFC 2883 section 4); its segments are marked.
    fn duplicate(&mut self, ack: i64, blocks: &[(u32, u32)]) -> bool {
        let Some(&(left, right)) = blocks.first() else { return false };
        let (left, right) = (self.position(left), self.position(right));
        let lies_inside = |&(outer_left, outer_right): &(u32, u32)| {
            self.position(outer_left) <= left && right <= self.position(outer_right)
        };
        let is_duplicate = right <= ack || blocks.get(1).is_some_and(lies_inside);
        if is_duplicate {
            self.out.duplicates += 1;
            let from = self.sent.partition_point(|sent| sent.end <= left);
            for sent in self.sent[from..].iter_mut().take_while(|sent| sent.start < right) {
                sent.is_duplicate = true;
            }
        }
        is_duplicate
    }

    fn deliver(&mut self, numbers: std::ops::Range<usize>, news: &mut News) {
        for sent in self.sent[numbers].iter_mut().filter(|sent| !sent.is_delivered) {
            sent.is_delivered = true;
            news.bytes += sent.end - sent.start;
            news.highest = news.highest.max(sent.end);
            if sent.transmissions == 1 {
                // Karn's rule: of what was sent twice nobody knows which one was answered (RFC 6298 section 3).
                news.latest_ns = news.latest_ns.max(Some(sent.last_ns));
                if sent.end < self.highest_sacked {
                    self.out.reordered += 1;
                }
            }
        }
    }

    fn finish(mut self, flow: &Flow, direction: usize) -> Exchange {
        for sent in self.sent.iter().filter(|sent| sent.transmissions > 1 && !sent.is_duplicate) {
            self.out.segments.is_lost[sent.first] = 1;
        }
        let syn = |is_answer: bool, direction: usize| {
            let wanted = if is_answer { SYN | ACK } else { SYN };
            let mut syns = flow.seen.iter().filter(move |seen| {
                seen.flags & (SYN | ACK) == wanted && usize::from(seen.direction) == direction
            });
            let only = syns.next();
            only.filter(|_| syns.next().is_none())
        };
        let client = flow.client.map_or(direction, usize::from);
        let (syn, answer) = (syn(false, client), syn(true, 1 - client));
        let completion = answer.and_then(|answer| {
            let is_behind = |seen: &&Seen| seen.time_ns >= answer.time_ns && seen.flags & (SYN | ACK) == ACK;
            flow.seen.iter().filter(|seen| usize::from(seen.direction) == client).find(is_behind)
        });
        let between = |first: Option<&Seen>, then: Option<&Seen>| match (first, then) {
            (Some(first), Some(then)) => (then.time_ns as i64 - first.time_ns as i64) as f64 / 1e9,
            _ => f64::NAN,
        };
        Exchange {
            began_unix_s: self.begin_ns as f64 / 1e9,
            mss_bytes: self.mss,
            option_bytes: i64::from(flow.option_bytes[direction]),
            handshake_s: between(syn, answer),
            completion_s: between(answer, completion),
            is_from_client: client == direction,
            is_finished: flow
                .seen
                .iter()
                .any(|seen| usize::from(seen.direction) == direction && seen.flags & FIN != 0),
            is_multipath: flow.is_multipath,
            clock_steps: flow.clock_steps,
            ..self.out
        }
    }
}

/// What one acknowledgment is the first to say.
#[derive(Default)]
struct News {
    bytes: i64,
    highest: i64,
    /// When the segment left that was sent last, of those sent once.
    latest_ns: Option<u64>,
}

/// Bytes of a full segment: what the other end takes, less options; else the most frequent length of one packet.
fn mss(flow: &Flow, direction: usize) -> i64 {
    let options = i64::from(flow.option_bytes[direction]);
    let offered = flow.openings.iter().filter_map(|opening| opening.mss).min();
    if let (Some(mss), true) = (offered, flow.openings.iter().all(|opening| opening.mss.is_some())) {
        return (i64::from(mss) - options).max(1);
    }
    let mut counts = std::collections::BTreeMap::<i64, u64>::new();
    for seen in flow.seen.iter().filter(|seen| usize::from(seen.direction) == direction && seen.payload > 0) {
        *counts.entry(i64::from(seen.payload)).or_default() += 1;
    }
    let frequent = counts.iter().max_by_key(|(_, count)| **count).map_or(USUAL_MSS, |(bytes, _)| *bytes);
    // Multiples of the same segment are what a card was to cut.
    let is_cut = |bytes: i64| bytes > USUAL_MSS + 12 && bytes % USUAL_MSS == 0;
    if frequent > LARGEST_PACKET || is_cut(frequent) { USUAL_MSS } else { frequent }
}
