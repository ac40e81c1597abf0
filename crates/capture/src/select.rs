//! From the flows of each file to the flows of the experiment: which are the same, and at which capture
//! points each direction is read, so that no packet counts twice.

use crate::flow::FlowKey;
use crate::survey::{FileFlow, FileSurvey, Marks, Multipath, NEVER, Sighting};

/// How many sightings before it may be what another goes on from. They are sorted by their beginnings, so
/// that only captures of more than this many points at once are beyond it.
const LOOK_BACK: usize = 256;

/// A capture point of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct PointId {
    pub file: u32,
    pub point: u32,
}

/// One direction of a flow, over the capture points at which it is read.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    /// In the order of time.
    pub points: Vec<PointId>,
    /// All points that saw it.
    pub seen_at: usize,
    pub packets: u64,
    pub payload: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    pub isn: Option<u32>,
    pub syn_ns: u64,
    pub syns: u32,
    pub established_ns: u64,
    pub fin_ns: u64,
    pub fin_end: Option<u32>,
    pub rst_ns: u64,
}

/// A TCP flow of the experiment.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub key: FlowKey,
    /// Direction in which the client sends, from the handshake or else from the ports.
    pub client: usize,
    /// Whether a SYN or SYN/ACK said so.
    pub opened: bool,
    pub directions: [Direction; 2],
    pub multipath: Option<Multipath>,
}

impl Flow {
    /// Time of the first packet.
    pub(crate) fn first_ns(&self) -> u64 {
        self.directions.iter().map(|direction| direction.first_ns).min().unwrap_or(NEVER)
    }

    /// Time of the last packet.
    pub(crate) fn last_ns(&self) -> u64 {
        self.directions.iter().map(|direction| direction.last_ns).max().unwrap_or(0)
    }

    /// The ACK that completes the handshake; [`NEVER`] if it was not seen.
    pub(crate) fn established_ns(&self) -> u64 {
        self.directions[self.client].established_ns
    }

    /// The first FIN of either side; [`NEVER`] if there was none.
    pub(crate) fn fin_ns(&self) -> u64 {
        self.directions[0].fin_ns.min(self.directions[1].fin_ns)
    }

    /// The first RST of either side.
    pub(crate) fn rst_ns(&self) -> u64 {
        self.directions[0].rst_ns.min(self.directions[1].rst_ns)
    }
}

/// What is to be read.
pub(crate) struct Selection {
    /// Sorted by first packet.
    pub flows: Vec<Flow>,
    /// By file and number of the flow in it: number of the flow in `flows`.
    pub of_file: Vec<Vec<u32>>,
    /// Files that have to be read together, in the order of time, because a direction goes on from one
    /// to another; the others are alone.
    pub groups: Vec<Vec<usize>>,
}

/// Joins the flows of all files. With `disjoint` no packet passes two capture points, and all are read.
pub(crate) fn select(files: &[FileSurvey], disjoint: bool) -> Selection {
    let mut entries: Vec<(FlowKey, u64, usize, usize)> = Vec::new();
    for (file, survey) in files.iter().enumerate() {
        for (index, flow) in survey.flows.iter().enumerate() {
            entries.push((flow.identity.key, survey.span(flow).0, file, index));
        }
    }
    entries.sort_unstable();
    let mut parts: Vec<Vec<(usize, usize)>> = Vec::new();
    for same_ends in entries.chunk_by(|a, b| a.0 == b.0) {
        connections(files, same_ends, &mut parts);
    }
    let mut flows: Vec<(Flow, Vec<(usize, usize)>)> =
        parts.into_iter().map(|members| (join(files, &members, disjoint), members)).collect();
    flows.sort_by_key(|(flow, _)| (flow.first_ns(), flow.key));

    let mut of_file: Vec<Vec<u32>> = files.iter().map(|file| vec![0; file.flows.len()]).collect();
    let mut groups = Groups::new(files.len());
    for (number, (flow, members)) in flows.iter().enumerate() {
        for &(file, index) in members {
            of_file[file][index] = number as u32;
        }
        for direction in &flow.directions {
            for pair in direction.points.windows(2) {
                groups.join(pair[0].file as usize, pair[1].file as usize);
            }
        }
    }
    Selection { flows: flows.into_iter().map(|(flow, _)| flow).collect(), of_file, groups: groups.all() }
}

/// Tells connections between the same ends apart. Those whose opening was seen have its number; a part
/// without an opening belongs to the last connection that began before it ended.
fn connections(
    files: &[FileSurvey],
    entries: &[(FlowKey, u64, usize, usize)],
    parts: &mut Vec<Vec<(usize, usize)>>,
) {
    let at = |entry: &(FlowKey, u64, usize, usize)| &files[entry.2].flows[entry.3];
    // Client's direction and number, time, file and number in it.
    type Opening = ((u8, u32), u64, (usize, usize));
    let mut openings: Vec<Opening> = entries
        .iter()
        .filter_map(|entry| {
            let identity = at(entry).identity;
            Some(((identity.client?, identity.client_isn), entry.1, (entry.2, entry.3)))
        })
        .collect();
    openings.sort_unstable();
    // Each with its beginning, and in that order.
    let mut found: Vec<(u64, Vec<(usize, usize)>)> = openings
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| (same[0].1, same.iter().map(|opening| opening.2).collect()))
        .collect();
    found.sort_unstable();
    let mut first_without = None;
    for entry in entries.iter().filter(|entry| at(entry).identity.client.is_none()) {
        let end = files[entry.2].span(at(entry)).1;
        let begun = found.partition_point(|connection| connection.0 <= end);
        if begun > 0 {
            found[begun - 1].1.push((entry.2, entry.3));
        } else {
            // What was there before any opening is one connection.
            first_without.get_or_insert_with(Vec::new).push((entry.2, entry.3));
        }
    }
    parts.extend(first_without);
    parts.extend(found.into_iter().map(|connection| connection.1));
}

/// The flow that parts of several files make.
fn join(files: &[FileSurvey], members: &[(usize, usize)], disjoint: bool) -> Flow {
    let parts: Vec<(usize, &FileFlow)> =
        members.iter().map(|&(file, index)| (file, &files[file].flows[index])).collect();
    let opened = parts.iter().find_map(|(_, part)| part.identity.client);
    let key = parts[0].1.identity.key;
    let client = match opened {
        Some(client) => usize::from(client),
        // Servers have the smaller port, as a rule.
        None => {
            let [first, second] = key.ends();
            usize::from(first.port < second.port)
        }
    };
    let directions = [0, 1].map(|direction| {
        let seen = parts.iter().flat_map(|(file, part)| {
            let file = *file;
            let at = move |seen: &Sighting| PointId { file: file as u32, point: seen.point };
            files[file].sightings(part, direction).map(move |seen| (at(seen.0), seen))
        });
        let opening = parts.iter().find(|(_, part)| part.identity.client == Some(direction as u8));
        let isn = opening.map(|(_, part)| part.identity.client_isn);
        read_at(seen.collect(), disjoint, isn)
    });
    let multipath = parts.iter().filter_map(|(_, part)| part.state.multipath.as_deref()).fold(None, merge);
    Flow { key, client, opened: opened.is_some(), directions, multipath }
}

fn merge(sum: Option<Multipath>, part: &Multipath) -> Option<Multipath> {
    let Some(mut sum) = sum else { return Some(part.clone()) };
    for i in 0..2 {
        sum.keys[i] = sum.keys[i].or(part.keys[i]);
        sum.capable[i] |= part.capable[i];
        sum.join[i] |= part.join[i];
        sum.spaces[i] = sum.spaces[i].or(part.spaces[i]);
    }
    sum.join_token = sum.join_token.or(part.join_token);
    sum.dss |= part.dss;
    Some(sum)
}

/// What a capture point saw of a direction.
type Seen<'a> = (PointId, (&'a Sighting, &'a Marks));

/// Chooses the capture points at which a direction is read. `isn`: the client's initial sequence number, if
/// this is its direction and it is known.
fn read_at(mut seen: Vec<Seen<'_>>, disjoint: bool, isn: Option<u32>) -> Direction {
    seen.sort_by_key(|(point, (sighting, _))| (sighting.first_ns, *point));
    let chosen = if disjoint || seen.len() < 2 { (0..seen.len()).collect() } else { longest_chain(&seen) };
    let mut sum = Direction {
        points: Vec::with_capacity(chosen.len()),
        seen_at: seen.len(),
        packets: 0,
        payload: 0,
        first_ns: NEVER,
        last_ns: 0,
        isn: None,
        syn_ns: NEVER,
        syns: 0,
        established_ns: NEVER,
        fin_ns: NEVER,
        fin_end: None,
        rst_ns: NEVER,
    };
    for (point, (sighting, marks)) in chosen.into_iter().map(|index| seen[index]) {
        sum.points.push(point);
        sum.packets += sighting.packets;
        sum.payload += sighting.payload;
        sum.first_ns = sum.first_ns.min(sighting.first_ns);
        sum.last_ns = sum.last_ns.max(sighting.last_ns);
        if marks.syns > 0 {
            sum.isn = sum.isn.or(Some(marks.isn));
            sum.syns += marks.syns;
            sum.syn_ns = marks.syn_ns;
        }
        let mut established_ns = marks.established_ns;
        if marks.syns == 0 && sighting.has_ack && isn == Some(marks.first_seq.wrapping_sub(1)) {
            // The SYN went by elsewhere, and its number was not known here.
            established_ns = sighting.first_ns;
        }
        sum.established_ns = sum.established_ns.min(established_ns);
        if marks.fin_ns < sum.fin_ns {
            sum.fin_ns = marks.fin_ns;
            sum.fin_end = Some(marks.fin_end);
        }
        sum.rst_ns = sum.rst_ns.min(marks.rst_ns);
    }
    sum
}

/// The sightings that go on from one another and together have most packets, by index. `seen` is sorted by
/// beginning. The earlier capture point wins where there is nothing between them.
fn longest_chain(seen: &[Seen<'_>]) -> Vec<usize> {
    let mut best: Vec<(u64, Option<usize>)> = Vec::with_capacity(seen.len());
    for (index, (_, (sighting, marks))) in seen.iter().enumerate() {
        let mut longest = (0, None);
        for before in index.saturating_sub(LOOK_BACK)..index {
            if best[before].0 > longest.0 && goes_on(seen[before].1, (sighting, marks)) {
                longest = (best[before].0, Some(before));
            }
        }
        best.push((longest.0 + sighting.packets, longest.1));
    }
    let most = best.iter().map(|entry| entry.0).max().unwrap_or(0);
    let mut at = (0..seen.len()).filter(|&index| best[index].0 == most).min_by_key(|&index| seen[index].0);
    let mut chain = Vec::new();
    while let Some(index) = at {
        chain.push(index);
        at = best[index].1;
    }
    chain.reverse();
    chain
}

/// Whether `later` carries on where `earlier` ends, as the next file of a rotated capture does, rather than
/// showing the same packets again: it begins after the other ended, in time and in the numbers of TCP.
fn goes_on((earlier, _): (&Sighting, &Marks), (later, marks): (&Sighting, &Marks)) -> bool {
    if later.first_ns <= earlier.last_ns {
        return false;
    }
    let step = |to: u32, from: u32| i64::from(to.wrapping_sub(from).cast_signed());
    let mut ahead = step(marks.first_seq, earlier.max_seq);
    if earlier.has_ack && later.has_ack {
        ahead += step(marks.first_ack, earlier.max_ack);
    }
    if earlier.progress == 0 {
        // A single packet, or the same one again and again.
        return ahead.saturating_add_unsigned(later.progress) > 0;
    }
    // The same packets seen elsewhere, by another clock, begin where the others began.
    ahead > -i64::try_from(earlier.progress / 2).unwrap_or(i64::MAX)
}

/// Files that are to be read together.
struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    fn new(files: usize) -> Self {
        Self { parent: (0..files).collect() }
    }

    fn root(&mut self, mut file: usize) -> usize {
        while self.parent[file] != file {
            self.parent[file] = self.parent[self.parent[file]];
            file = self.parent[file];
        }
        file
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    fn all(mut self) -> Vec<Vec<usize>> {
        let mut groups = vec![Vec::new(); self.parent.len()];
        for file in 0..self.parent.len() {
            groups[self.root(file)].push(file);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }
}
