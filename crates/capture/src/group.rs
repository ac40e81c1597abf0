//! Ties subflows to MPTCP connections.

use crate::select::Flow;
use crate::survey::{DataSpace, Multipath};
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// Data sequence numbers of two subflows within this distance are of one connection, where the same two
/// hosts speak: 64 MiB is more than most windows, and a foreign initial number, which is random in 64 bits,
/// comes so close once in 2^37 cases (once in 32 where only 4 bytes are sent).
const NEAR_BYTES: u64 = 1 << 26;

/// Subflows between two hosts with which another one is compared: a bound on the work.
const MOST_COMPARED: usize = 4096;

/// How a subflow came to its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tie {
    /// Single-path TCP: a connection of its own.
    Single,
    /// It opened the connection (MP_CAPABLE).
    Capable,
    /// The token of its MP_JOIN is that of the connection's key.
    Key,
    /// The token of its MP_JOIN is that of the other subflows; their connection's key was not seen.
    Token,
    /// Guessed: same hosts, and data sequence numbers close to the connection's.
    DataSequence,
    /// It carries MPTCP options, and nothing ties it to another subflow.
    Unknown,
}

impl Tie {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "tcp",
            Self::Capable => "capable",
            Self::Key => "key",
            Self::Token => "token",
            Self::DataSequence => "data sequence",
            Self::Unknown => "unknown",
        }
    }
}

/// A connection: its flows, the one that opened it or was seen first in front.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub multipath: bool,
    pub flows: Vec<usize>,
}

/// The token of a key (RFC 6824 section 3.2, RFC 8684 section 3.2): the first 32 bits of its hash.
pub(crate) fn token(version: u8, key: u64) -> u32 {
    let key = key.to_be_bytes();
    if version == 0 { first_bits(&Sha1::digest(key)) } else { first_bits(&Sha256::digest(key)) }
}

fn first_bits(hash: &[u8]) -> u32 {
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

/// Groups flows, which are sorted by their first packets, into connections in the same order.
pub(crate) fn group(flows: &[Flow]) -> (Vec<Connection>, Vec<Tie>) {
    let mut ties: Vec<Tie> = flows.iter().map(first_tie).collect();
    let mut owners: Vec<usize> = (0..flows.len()).collect();
    tie_by_token(flows, &mut ties, &mut owners);
    tie_by_data_sequence(flows, &mut ties, &mut owners);
    let mut number = vec![usize::MAX; flows.len()];
    let mut connections: Vec<Connection> = Vec::new();
    for flow in 0..flows.len() {
        let owner = owners[flow];
        if number[owner] == usize::MAX {
            number[owner] = connections.len();
            connections.push(Connection { multipath: ties[flow] != Tie::Single, flows: Vec::new() });
        }
        connections[number[owner]].flows.push(flow);
    }
    for connection in &mut connections {
        connection.flows.sort_by_key(|&flow| (ties[flow] != Tie::Capable, flow));
    }
    (connections, ties)
}

/// What a flow says of itself.
fn first_tie(flow: &Flow) -> Tie {
    let Some(multipath) = &flow.multipath else { return Tie::Single };
    let answered = flow.directions[1 - flow.client].isn.is_some();
    // A server that does not answer with the option speaks plain TCP (RFC 8684 section 3.7).
    let refused = answered && !multipath.capable[1] && !multipath.join[1] && !multipath.dss;
    if multipath.capable[0] || multipath.capable[1] || multipath.keys.iter().all(Option::is_some) {
        if refused { Tie::Single } else { Tie::Capable }
    } else if multipath.join[0] || multipath.join[1] || multipath.dss {
        Tie::Unknown
    } else {
        Tie::Single
    }
}

/// MP_JOIN names the connection by a token of the receiver's key.
fn tie_by_token(flows: &[Flow], ties: &mut [Tie], owners: &mut [usize]) {
    // (token, flow), sorted: what a joining flow may mean, the latest connection that had begun.
    let mut tokens: Vec<(u32, usize)> = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        if ties[index] == Tie::Capable
            && let Some(multipath) = &flow.multipath
        {
            tokens.extend(multipath.keys.iter().flatten().map(|key| (token(multipath.version, *key), index)));
        }
    }
    tokens.sort_unstable();
    let mut unowned: Vec<(u32, usize)> = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        let Some(wanted) = flow.multipath.as_ref().and_then(|multipath| multipath.join_token) else {
            continue;
        };
        if ties[index] != Tie::Unknown {
            continue;
        }
        let meant = &tokens[tokens.partition_point(|entry| entry.0 < wanted)..];
        let meant = meant.iter().take_while(|entry| entry.0 == wanted);
        // A little later is possible: paths differ in delay, and capture points in their clocks.
        let begun = meant.filter(|entry| flows[entry.1].first_ns() <= flow.last_ns());
        if let Some((_, owner)) = begun.last() {
            owners[index] = *owner;
            ties[index] = Tie::Key;
        } else {
            unowned.push((wanted, index));
        }
    }
    unowned.sort_unstable();
    for same in unowned.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
        for (_, index) in same {
            owners[*index] = same[0].1;
            ties[*index] = Tie::Token;
        }
    }
}

/// Subflows of which no handshake was seen: close data sequence numbers between the same two hosts.
fn tie_by_data_sequence(flows: &[Flow], ties: &mut [Tie], owners: &mut [usize]) {
    let mut by_hosts: Vec<(u128, u128, usize)> = (0..flows.len())
        .filter(|&index| ties[index] != Tie::Single && flows[index].multipath.is_some())
        .map(|index| {
            let [a, b] = flows[index].key.ends();
            (a.address.min(b.address), a.address.max(b.address), index)
        })
        .collect();
    by_hosts.sort_unstable();
    for same in by_hosts.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        // Those that may own others: each connection so far, by its flows between these hosts.
        let mut members: Vec<usize> =
            same.iter().map(|entry| entry.2).filter(|&index| ties[index] != Tie::Unknown).collect();
        for index in same.iter().map(|entry| entry.2) {
            if ties[index] != Tie::Unknown {
                continue;
            }
            let near = members.iter().take(MOST_COMPARED).find(|&&other| close(&flows[index], &flows[other]));
            if let Some(&other) = near {
                owners[index] = owners[other];
                ties[index] = Tie::DataSequence;
                if ties[other] == Tie::Unknown {
                    ties[other] = Tie::DataSequence;
                }
            }
            members.push(index);
        }
    }
}

/// Whether two flows were there at the same time, with data sequence numbers near one another.
fn close(a: &Flow, b: &Flow) -> bool {
    let overlap = a.first_ns() <= b.last_ns() && b.first_ns() <= a.last_ns();
    let (Some(first), Some(second)) = (&a.multipath, &b.multipath) else { return false };
    // Both directions have to agree, where both subflows show them.
    let mut shown =
        [0, 1].into_iter().filter_map(|host| Some(near(space(a, first, host)?, space(b, second, host)?)));
    overlap && shown.next().is_some_and(|near| near) && shown.all(|near| near)
}

/// The data sequence space of one host's data: by host, because directions are by address and port.
fn space(flow: &Flow, multipath: &Multipath, host: usize) -> Option<DataSpace> {
    let [a, b] = flow.key.ends();
    let swapped = a.address > b.address;
    multipath.spaces[if swapped { 1 - host } else { host }]
}

fn near(a: DataSpace, b: DataSpace) -> bool {
    // Only lower halves can be compared where one side sends no more.
    let whole = a.whole && b.whole;
    let distance = |to: u64, from: u64| {
        if whole {
            to.wrapping_sub(from).cast_signed()
        } else {
            i64::from((to as u32).wrapping_sub(from as u32).cast_signed())
        }
    };
    let near = i64::try_from(NEAR_BYTES).expect("far below 2^63");
    // The ranges overlap, or leave a gap that a window spans.
    distance(b.first, a.last) <= near && distance(a.first, b.last) <= near
}
