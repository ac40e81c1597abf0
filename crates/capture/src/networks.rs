//! Connections between the same ends in several networks: in tunnels and virtual networks the same addresses may be in use
//! more than once, and one connection may pass several of them.
//!
//! A file's flows are told apart by their networks (`flow.rs`). Here those are put together that are one connection: its
//! directions may have different numbers (GTP-U, MPLS), one of them no tunnel at all (load balancers that answer directly),
//! a path may change, and places may be inside and outside of a tunnel. Two flows that both have packets of a direction at
//! one capture point, side by side, are two connections.

use crate::flow::{FlowKey, is_same_isn};
use crate::packet::Network;
use crate::survey::{FileFlow, FileSurvey, MOST_POINTS};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A flow of a file: its key, its first packet, the file and its number there.
pub(crate) type Entry = (FlowKey, u64, usize, usize);

/// File, number of a flow in it, and a direction, of which another flow of the file has the originals.
pub(crate) type Repeated = BTreeSet<(usize, usize, usize)>;

/// Flows with the same ends that are compared with each other. Of more, each network is by itself: a bound on the work.
const MOST_COMPARED: usize = 1024;

/// One direction of a file's flow.
#[derive(Clone, Copy)]
struct Trace {
    packets: u64,
    copies: u64,
    first_ns: u64,
    last_ns: u64,
    first_seq: u32,
    max_seq: u32,
    /// The last acknowledgment, if there was one.
    max_ack: Option<u32>,
    /// A bit for each capture point of the file that saw it.
    points: [u64; MOST_POINTS / 64],
}

impl Trace {
    fn of(file: &FileSurvey, flow: &FileFlow, direction: usize) -> Option<Self> {
        let bits = |point: u32| {
            let mut points = [0; MOST_POINTS / 64];
            points[point as usize / 64] = 1 << (point % 64);
            points
        };
        let seen = file.sightings(flow, direction).map(|(sighting, marks)| Self {
            points: bits(sighting.point),
            packets: sighting.packets,
            copies: marks.copies,
            first_ns: sighting.first_ns,
            last_ns: sighting.last_ns,
            first_seq: marks.first_seq,
            max_seq: sighting.max_seq,
            max_ack: sighting.has_ack.then_some(sighting.max_ack),
        });
        seen.reduce(Self::and)
    }

    /// Of two capture points of a file.
    fn and(self, other: Self) -> Self {
        let first = if self.first_ns <= other.first_ns { self } else { other };
        let last = if self.last_ns >= other.last_ns { self } else { other };
        Self {
            packets: self.packets + other.packets,
            copies: self.copies + other.copies,
            first_ns: first.first_ns,
            first_seq: first.first_seq,
            points: std::array::from_fn(|word| self.points[word] | other.points[word]),
            ..last
        }
    }

    /// Whether a capture point saw both.
    fn is_beside(&self, other: &Self) -> bool {
        self.points.iter().zip(&other.points).any(|(one, other)| one & other != 0)
    }

    /// Whether this goes on where the other one ends, in time and in its numbers.
    fn follows(&self, other: &Self) -> bool {
        self.first_ns > other.last_ns && distance(self.first_seq, other.max_seq) < 1 << 24
    }
}

/// How far apart two numbers of 32 bits are.
fn distance(one: u32, other: u32) -> u32 {
    one.wrapping_sub(other).cast_signed().unsigned_abs()
}

/// A file's flow.
struct Part {
    member: (usize, usize),
    network: Network,
    /// The client's direction, its initial sequence number and the data in its SYN, if they were seen.
    opening: Option<(u8, (u32, u16))>,
    /// By direction; None of those that are not there or are copies of another flow's.
    traces: [Option<Trace>; 2],
}

impl Part {
    fn of(files: &[FileSurvey], entry: &Entry) -> Self {
        let (key, _, file, index) = *entry;
        let flow = &files[file].flows[index];
        let identity = &flow.identity;
        Self {
            member: (file, index),
            network: key.network,
            opening: identity.client.map(|client| (client, (identity.client_isn, identity.syn_payload))),
            traces: [0, 1].map(|direction| Trace::of(&files[file], flow, direction)),
        }
    }

    fn last_ns(&self) -> u64 {
        self.traces.iter().flatten().map(|trace| trace.last_ns).max().unwrap_or(0)
    }

    /// Whether both may be of one connection, by their openings.
    fn may_be_of(&self, other: &Self) -> bool {
        match (self.opening, other.opening) {
            (Some(one), Some(other)) => one.0 == other.0 && is_same_isn(one.1, other.1),
            _ => true,
        }
    }

    /// Whether the two, of which this one is not the earlier, are of two connections, since they are beside each other at
    /// one capture point.
    fn contradicts(&self, earlier: &Self) -> bool {
        // Tunnels of a host that moves have other numbers from then on; a handshake is of another connection.
        let may_go_on = self.opening.is_none() && (self.network.changes() || earlier.network.changes());
        let both = self
            .traces
            .iter()
            .zip(&earlier.traces)
            .filter_map(|(one, other)| one.as_ref().zip(other.as_ref()));
        self.member.0 == earlier.member.0
            && self.network != earlier.network
            && both.into_iter().any(|(one, other)| one.is_beside(other) && !(may_go_on && one.follows(other)))
    }

    /// How far the numbers of two parts are apart: those of one direction, or what one acknowledges from what the other sends.
    fn distance(&self, other: &Self) -> u32 {
        let traces = |part: &Self, direction: usize| part.traces[direction];
        let between = (0..2).flat_map(|direction| {
            let same = traces(self, direction).zip(traces(other, direction));
            let opposite = traces(self, direction).zip(traces(other, 1 - direction));
            let acked = opposite.into_iter().flat_map(|(one, other)| {
                let acked = one.max_ack.map(|ack| distance(ack, other.max_seq));
                acked.into_iter().chain(other.max_ack.map(|ack| distance(ack, one.max_seq)))
            });
            same.map(|(one, other)| distance(one.max_seq, other.max_seq)).into_iter().chain(acked)
        });
        between.min().unwrap_or(u32::MAX)
    }
}

/// Parts of one connection.
struct Cluster {
    /// Numbers of its parts, in the order of time.
    parts: Vec<usize>,
    first_ns: u64,
}

/// Tells connections between the same ends apart; gives how many are beside another one in another network. What is there
/// in copies is noted in `repeated`.
pub(crate) fn connections(
    files: &[FileSurvey],
    entries: &[Entry],
    connections: &mut Vec<Vec<(usize, usize)>>,
    repeated: &mut Repeated,
) -> usize {
    if entries.iter().all(|entry| entry.0 == entries[0].0) {
        of_one_network(files, entries, connections);
        return 0;
    }
    if entries.len() > MOST_COMPARED {
        let before = connections.len();
        for one_network in entries.chunk_by(|a, b| a.0 == b.0) {
            of_one_network(files, one_network, connections);
        }
        return connections.len() - before;
    }
    let mut entries = entries.to_vec();
    entries.sort_by_key(|entry| (entry.1, entry.2, entry.3));
    let mut parts: Vec<Part> = entries.iter().map(|entry| Part::of(files, entry)).collect();
    leave_out_copies(&mut parts, repeated);
    let mut clusters: Vec<Cluster> = Vec::new();
    let (opened, others): (Vec<usize>, Vec<usize>) =
        (0..parts.len()).partition(|&number| parts[number].opening.is_some());
    for number in opened.into_iter().chain(others) {
        match best(&parts, &clusters, number) {
            Some(cluster) => clusters[cluster].parts.push(number),
            None => clusters.push(Cluster { parts: vec![number], first_ns: entries[number].1 }),
        }
    }
    let networks: Vec<BTreeSet<Network>> = clusters
        .iter()
        .map(|cluster| cluster.parts.iter().map(|&number| parts[number].network).collect())
        .collect();
    let is_beside_another = |own: &&BTreeSet<Network>| networks.iter().any(|other| own.is_disjoint(other));
    let told_apart = networks.iter().filter(is_beside_another).count();
    connections.extend(clusters.into_iter().map(|mut cluster| {
        cluster.parts.sort_unstable();
        cluster.parts.into_iter().map(|number| parts[number].member).collect()
    }));
    told_apart
}

/// Tells connections between the same ends of one network apart. Those whose opening was seen have its number; a part
/// without an opening belongs to the last connection that began before it ended.
fn of_one_network(files: &[FileSurvey], entries: &[Entry], parts: &mut Vec<Vec<(usize, usize)>>) {
    let at = |entry: &Entry| &files[entry.2].flows[entry.3];
    // Client's direction, its number and the data in its SYN, time, file and number in it.
    type Opening = ((u8, u32, u16), u64, (usize, usize));
    let mut openings: Vec<Opening> = entries
        .iter()
        .filter_map(|entry| {
            let identity = at(entry).identity;
            let number = (identity.client?, identity.client_isn, identity.syn_payload);
            Some((number, entry.1, (entry.2, entry.3)))
        })
        .collect();
    openings.sort_unstable();
    // Each with its beginning, and in that order.
    let mut joined: Vec<(u64, Vec<(usize, usize)>)> = Vec::new();
    let mut last: Option<(u8, u32, u16)> = None;
    for ((client, isn, syn_payload), first_ns, member) in openings {
        let same = last.filter(|last| last.0 == client && is_same_isn((last.1, last.2), (isn, syn_payload)));
        match joined.last_mut().filter(|_| same.is_some()) {
            Some((begin_ns, members)) => {
                *begin_ns = first_ns.min(*begin_ns);
                members.push(member);
            }
            None => {
                joined.push((first_ns, vec![member]));
                last = Some((client, isn, syn_payload));
            }
        }
        last = last.map(|last| if last.1 == isn { (last.0, last.1, last.2.max(syn_payload)) } else { last });
    }
    joined.sort_unstable();
    let mut first_without = None;
    for entry in entries.iter().filter(|entry| at(entry).identity.client.is_none()) {
        let end = files[entry.2].span(at(entry)).1;
        let begun = joined.partition_point(|connection| connection.0 <= end);
        if begun > 0 {
            joined[begun - 1].1.push((entry.2, entry.3));
        } else {
            // What was there before any opening is one connection.
            first_without.get_or_insert_with(Vec::new).push((entry.2, entry.3));
        }
    }
    parts.extend(first_without);
    parts.extend(joined.into_iter().map(|connection| connection.1));
}

/// The cluster that a part belongs to; None if it is the first of another connection.
fn best(parts: &[Part], clusters: &[Cluster], number: usize) -> Option<usize> {
    let part = &parts[number];
    let is_of = |cluster: &Cluster| {
        cluster.parts.iter().all(|&member| {
            let other = &parts[member];
            let (earlier, later) = if member < number { (other, part) } else { (part, other) };
            part.may_be_of(other) && !later.contradicts(earlier)
        })
    };
    let is_in = |cluster: &Cluster| cluster.parts.iter().any(|&member| parts[member].network == part.network);
    let possible = clusters.iter().enumerate().filter(|(_, cluster)| is_of(cluster));
    if part.opening.is_some() {
        // In the same network, or else the first that lacks it: answers come in the order of what they answer.
        return possible.min_by_key(|(place, cluster)| (!is_in(cluster), *place)).map(|(place, _)| place);
    }
    let begun = possible.filter(|(_, cluster)| cluster.first_ns <= part.last_ns());
    let apart = |cluster: &Cluster| cluster.parts.iter().map(|&member| part.distance(&parts[member])).min();
    let nearest = begun.min_by_key(|(_, cluster)| {
        let is_in = is_in(cluster);
        (!is_in, if is_in { None } else { apart(cluster) }, Reverse(cluster.first_ns))
    });
    nearest.map(|(place, _)| place)
}

/// Takes out directions that are copies of another flow's of the same file, in another network.
fn leave_out_copies(parts: &mut [Part], repeated: &mut Repeated) {
    for direction in 0..2 {
        let is_copy = |part: &Part| {
            part.traces[direction].is_some_and(|trace| {
                let has_original = |other: &Part| {
                    other.member.0 == part.member.0
                        && other.network != part.network
                        && other.may_be_of(part)
                        && other.traces[direction].is_some_and(|other| other.packets > trace.packets)
                };
                trace.copies > 0 && trace.copies >= trace.packets && parts.iter().any(has_original)
            })
        };
        let copies: Vec<usize> = (0..parts.len()).filter(|&number| is_copy(&parts[number])).collect();
        for number in copies {
            let (file, index) = parts[number].member;
            repeated.insert((file, index, direction));
            parts[number].traces[direction] = None;
        }
    }
}
