//! From the flows of each file to the flows of the experiment: which are the same, and which files are read together.

use crate::flow::FlowKey;
use crate::networks::{self, Entry, Repeated};
use crate::packet::Encapsulation;
use crate::places::{Choice, Seen, choose};
use crate::survey::{FileFlow, FileSurvey, Multipath, NEVER, Sighting};

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
    /// Bytes of the other direction that it acknowledges, more or less.
    pub acknowledges: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    pub isn: Option<u32>,
    pub syn_ns: u64,
    pub syns: u32,
    pub established_ns: u64,
    pub fin_ns: u64,
    pub fin_end: Option<u32>,
    pub rst_ns: u64,
    /// Copies of its packets, which are left out.
    pub copies: u64,
    /// What is around its packets, if anything.
    pub encapsulation: Option<Box<Encapsulation>>,
}

impl Direction {
    /// One that is read nowhere.
    pub(crate) fn nowhere() -> Self {
        Self {
            points: Vec::new(),
            seen_at: 0,
            packets: 0,
            payload: 0,
            acknowledges: 0,
            first_ns: NEVER,
            last_ns: 0,
            isn: None,
            syn_ns: NEVER,
            syns: 0,
            established_ns: NEVER,
            fin_ns: NEVER,
            fin_end: None,
            rst_ns: NEVER,
            copies: 0,
            encapsulation: None,
        }
    }
}

/// Both directions of a flow at another place, where its round-trip times are measured as well.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    pub directions: [Direction; 2],
    /// What is added to a time there, in ns, to have one of the place where the flow is read.
    pub later_ns: i64,
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
    /// Other places that saw both directions.
    pub elsewhere: Vec<Elsewhere>,
    /// Whether ACKs that another place saw are left out, since its clock is not that of the data's place.
    pub has_other_clock: bool,
    /// As that of a [`Choice`].
    pub apart_ns: Option<i64>,
}

impl Flow {
    /// Whether any of its packets are read.
    pub(crate) fn is_read(&self) -> bool {
        self.directions.iter().any(|direction| !direction.points.is_empty())
    }

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
    /// What is not read, being in copies what another flow of the same file has.
    pub repeated: Repeated,
    /// How many flows have the ends of others and are told apart by the networks that they are in.
    pub told_apart: usize,
    /// Files that have to be read together, in the order of time, because a direction goes on from one
    /// to another; the others are alone.
    pub groups: Vec<Vec<usize>>,
}

/// Joins the flows of all files. With `disjoint` no packet passes two capture points, and all are read; `is_aligned` is as
/// that of [`choose`].
pub(crate) fn select(files: &[FileSurvey], disjoint: bool, is_aligned: bool) -> Selection {
    let mut entries: Vec<Entry> = Vec::new();
    for (file, survey) in files.iter().enumerate() {
        for (index, flow) in survey.flows.iter().enumerate() {
            entries.push((flow.identity.key, survey.span(flow).0, file, index));
        }
    }
    entries.sort_unstable();
    let mut parts: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut repeated = Repeated::new();
    let mut told_apart = 0;
    for same_ends in entries.chunk_by(|a, b| a.0.ends() == b.0.ends()) {
        told_apart += networks::connections(files, same_ends, &mut parts, &mut repeated);
    }
    let how = (disjoint, is_aligned);
    let mut flows: Vec<(Flow, Vec<(usize, usize)>)> =
        parts.into_iter().map(|members| (join(files, &members, &repeated, how), members)).collect();
    flows.sort_by_key(|(flow, _)| (flow.first_ns(), flow.key));

    let mut of_file: Vec<Vec<u32>> = files.iter().map(|file| vec![0; file.flows.len()]).collect();
    for (number, (_, members)) in flows.iter().enumerate() {
        for &(file, index) in members {
            of_file[file][index] = number as u32;
        }
    }
    let selection = Selection::new(flows.into_iter().map(|(flow, _)| flow).collect(), of_file);
    Selection { repeated, told_apart, ..selection }
}

impl Selection {
    fn new(flows: Vec<Flow>, of_file: Vec<Vec<u32>>) -> Self {
        let mut groups = Groups::new(of_file.len());
        for points in flows.iter().flat_map(|flow| &flow.directions).map(|direction| &direction.points) {
            points.iter().for_each(|point| groups.is_read[point.file as usize] = true);
            for pair in points.windows(2) {
                groups.join(pair[0].file as usize, pair[1].file as usize);
            }
        }
        Self { flows, of_file, repeated: Repeated::new(), told_apart: 0, groups: groups.all() }
    }

    /// The same flows at the other places with this number; None if no flow has so many.
    pub(crate) fn elsewhere(&self, number: usize) -> Option<Self> {
        self.flows.iter().find(|flow| flow.elsewhere.len() > number)?;
        let there = |flow: &Flow| {
            let place = flow.elsewhere.get(number).map(|place| place.directions.clone());
            let directions = place.unwrap_or_else(|| [Direction::nowhere(), Direction::nowhere()]);
            Flow { directions, multipath: None, elsewhere: Vec::new(), ..*flow }
        };
        let selection = Self::new(self.flows.iter().map(there).collect(), self.of_file.clone());
        Some(Self { repeated: self.repeated.clone(), ..selection })
    }
}

/// The flow that parts of several files make.
fn join(
    files: &[FileSurvey],
    members: &[(usize, usize)],
    repeated: &Repeated,
    (disjoint, is_aligned): (bool, bool),
) -> Flow {
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
    let is_read = |member: &(usize, usize), direction: usize| {
        repeated.is_empty() || !repeated.contains(&(member.0, member.1, direction))
    };
    let seen = [0, 1].map(|direction| {
        let read = members.iter().zip(&parts).filter(|(member, _)| is_read(member, direction));
        let seen = read.flat_map(|(_, (file, part))| {
            let file = *file;
            let at = move |seen: &Sighting| PointId { file: file as u32, point: seen.point };
            files[file].sightings(part, direction).map(move |seen| (at(seen.0), seen))
        });
        let mut seen: Vec<Seen<'_>> = seen.collect();
        seen.sort_by_key(|(point, (sighting, _))| (sighting.first_ns, *point));
        seen
    });
    let opening = parts.iter().find(|(_, part)| part.identity.client == Some(client as u8));
    let client_isn = opening.map(|(_, part)| part.identity.client_isn);
    let Choice { mut directions, elsewhere, has_other_clock, apart_ns } =
        choose(&seen, client, client_isn, disjoint, is_aligned);
    for (number, direction) in directions.iter_mut().enumerate() {
        let (read, left): (Vec<_>, Vec<_>) =
            members.iter().zip(&parts).partition(|(member, _)| is_read(member, number));
        direction.encapsulation = read
            .iter()
            .find_map(|(_, (file, part))| encapsulation(&files[*file], *file, part, number, direction));
        let sightings = left.into_iter().flat_map(|(_, (file, part))| files[*file].sightings(part, number));
        direction.copies += sightings.map(|(seen, marks)| seen.packets + marks.copies).sum::<u64>();
    }
    let multipath = parts.iter().filter_map(|(_, part)| part.state.multipath.as_deref()).fold(None, merge);
    Flow {
        key,
        client,
        opened: opened.is_some(),
        directions,
        multipath,
        elsewhere,
        has_other_clock,
        apart_ns,
    }
}

/// What is around a flow's direction with this number in a file, where it is read.
fn encapsulation(
    file: &FileSurvey,
    number_of_file: usize,
    flow: &FileFlow,
    number: usize,
    direction: &Direction,
) -> Option<Box<Encapsulation>> {
    let is_here = |point: u32| direction.points.contains(&PointId { file: number_of_file as u32, point });
    let mut seen = file.sightings(flow, number).filter(|(seen, _)| is_here(seen.point));
    seen.find_map(|(_, marks)| file.encapsulation(marks).map(|around| Box::new(*around)))
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

/// Files that are to be read together.
struct Groups {
    parent: Vec<usize>,
    /// By file, whether anything is read in it.
    is_read: Vec<bool>,
}

impl Groups {
    fn new(files: usize) -> Self {
        Self { parent: (0..files).collect(), is_read: vec![false; files] }
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
        for file in (0..self.parent.len()).filter(|&file| self.is_read[file]).collect::<Vec<_>>() {
            groups[self.root(file)].push(file);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }
}
