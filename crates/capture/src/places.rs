//! Where each direction of a flow is read, so that no packet counts twice, and where else its round-trip times are
//! measured.

use crate::align::{self, Clocks};
use crate::select::{Direction, Elsewhere, PointId};
use crate::survey::{Marks, NEVER, Sighting};

/// How many sightings before it may be what another goes on from. They are sorted by their beginnings, so
/// that only captures of more than this many points at once are beyond it.
const LOOK_BACK: usize = 256;

/// Other places of a flow that are looked at, and those of them that are read: each is another reading of its files.
const MOST_OTHERS: usize = 8;
const MOST_READ: usize = 3;

/// Clocks that differ by less count as one: windows and intervals are of seconds, and points of one machine have
/// times some microseconds apart.
pub(crate) const SAME_CLOCK_NS: i64 = 1_000_000;

/// What a capture point saw of a direction.
pub(crate) type Seen<'a> = (PointId, (&'a Sighting, &'a Marks));

/// What is read of a flow.
pub(crate) struct Choice {
    pub directions: [Direction; 2],
    pub elsewhere: Vec<Elsewhere>,
    /// Whether ACKs that another place saw are left out, because its clock is another.
    pub has_other_clock: bool,
    /// What is added to times of the listener's direction, in ns, to have those of the client's clock; None where one
    /// clock has both.
    pub apart_ns: Option<i64>,
}

/// Chooses the capture points at which a flow is read, from what each saw of its two directions, sorted by beginning.
///
/// Data are read where most of their packets are. ACKs are read there as well, because one clock times both, unless
/// another place with the same clock saw more of them. `client_isn`: the client's initial sequence number, if it is
/// known. With `disjoint` no packet passes two capture points, and all are read. `is_aligned`: the clocks of files have been
/// compared, and where they are still apart, nothing can be done about it.
pub(crate) fn choose(
    seen: &[Vec<Seen<'_>>; 2],
    client: usize,
    client_isn: Option<u32>,
    disjoint: bool,
    is_aligned: bool,
) -> Choice {
    let isn = |direction: usize| client_isn.filter(|_| direction == client);
    let sum = |direction: usize, chain: &[Seen<'_>]| sum_up(chain, seen[direction].len(), isn(direction));
    let payload = |direction: usize| seen[direction].iter().map(|seen| seen.1.0.payload).max();
    let data = usize::from(payload(1) > payload(0));
    if disjoint || seen.iter().all(|seen| seen.len() < 2) {
        let directions = [0, 1].map(|direction| sum(direction, &seen[direction]));
        let choice = Choice { directions, elsewhere: Vec::new(), has_other_clock: false, apart_ns: None };
        return if disjoint { choice } else { by_one_clock(choice, data, client, is_aligned) };
    }
    let at = |points: &[PointId]| {
        [0, 1].map(|direction| sum(direction, &only(&seen[direction], |point| points.contains(point))))
    };
    let chain = longest_chain(&seen[data]);
    let points: Vec<PointId> = chain.iter().map(|seen| seen.0).collect();
    let here = longest_chain(&only(&seen[1 - data], |point| points.contains(point)));
    let best = longest_chain(&seen[1 - data]);
    let misses_some = !here.is_empty() && !reaches_as_far(&here, &best);
    let best_points: Vec<PointId> = best.iter().map(|seen| seen.0).collect();
    let has_other_clock = misses_some && !have_one_clock(&at(&points), &at(&best_points), client);
    let acks = if here.is_empty() || (misses_some && !has_other_clock) { best } else { here };
    let mut directions = [sum(data, &chain), sum(1 - data, &acks)];
    if data == 1 {
        directions.reverse();
    }
    let elsewhere = others(seen, &directions, data, client, isn);
    for (direction, read) in directions.iter_mut().enumerate() {
        let rest = only(&seen[direction], |point| !read.points.contains(point));
        complete(read, &rest, |point| have_one_clock(&at(&points), &at(&[point]), client));
    }
    by_one_clock(Choice { directions, elsewhere, has_other_clock, apart_ns: None }, data, client, is_aligned)
}

/// Leaves out the ACKs of a flow whose data no point with the same clock has seen, unless its clock can be told.
fn by_one_clock(mut choice: Choice, data: usize, client: usize, is_aligned: bool) -> Choice {
    let [first, second] = &choice.directions;
    let is_in = |file: u32| move |point: &PointId| point.file == file;
    // Within a file there is one clock, unless somebody has put two together.
    let is_split = !first.points.is_empty()
        && !second.points.is_empty()
        && !first.points.iter().any(|point| second.points.iter().any(is_in(point.file)));
    match is_split.then(|| align::compare(&choice.directions, client)) {
        None | Some(Clocks::One) => {}
        Some(Clocks::Apart(later_ns)) if !is_aligned => choice.apart_ns = Some(later_ns),
        Some(_) => {
            let seen_at = choice.directions[1 - data].seen_at;
            choice.directions[1 - data] = Direction { seen_at, ..Direction::nowhere() };
            choice.has_other_clock = true;
        }
    }
    choice
}

fn only<'a>(seen: &[Seen<'a>], is_one: impl Fn(&PointId) -> bool) -> Vec<Seen<'a>> {
    seen.iter().filter(|seen| is_one(&seen.0)).copied().collect()
}

/// Other places that saw both directions: those that are farthest from the receiver by the handshake, whose round-trip
/// times are the longest; unless the handshake does not tell, those with most packets.
fn others(
    seen: &[Vec<Seen<'_>>; 2],
    read: &[Direction; 2],
    data: usize,
    client: usize,
    isn: impl Fn(usize) -> Option<u32>,
) -> Vec<Elsewhere> {
    let is_other = |point: &PointId| {
        seen.iter().all(|seen| seen.iter().any(|seen| seen.0 == *point))
            && !read.iter().all(|direction| direction.points.contains(point))
    };
    let mut left = only(&seen[data], is_other);
    let mut elsewhere = Vec::new();
    while !left.is_empty() && elsewhere.len() < MOST_OTHERS {
        let points: Vec<PointId> = longest_chain(&left).iter().map(|seen| seen.0).collect();
        left.retain(|seen| !points.contains(&seen.0));
        let directions = [0, 1].map(|direction| {
            let there = only(&seen[direction], |point| points.contains(point));
            sum_up(&there, there.len(), isn(direction))
        });
        let later_ns = if have_one_clock(read, &directions, client) {
            0
        } else {
            read[data].first_ns.wrapping_sub(directions[data].first_ns).cast_signed()
        };
        elsewhere.push(Elsewhere { directions, later_ns });
    }
    elsewhere.sort_by_key(|other| std::cmp::Reverse(way_to_receiver_ns(&other.directions, data, client)));
    elsewhere.truncate(MOST_READ);
    elsewhere
}

/// How long the handshake took from a place to the receiver of the data and back; [`NEVER`] if it was not seen.
fn way_to_receiver_ns(directions: &[Direction; 2], data: usize, client: usize) -> u64 {
    let answer_ns = directions[1 - client].syn_ns;
    let (from_ns, to_ns) = if data == client {
        (directions[client].syn_ns, answer_ns)
    } else {
        (answer_ns, directions[client].established_ns)
    };
    if from_ns == NEVER || to_ns == NEVER { NEVER } else { to_ns.saturating_sub(from_ns) }
}

/// Whether times of two places may be of one clock. A SYN passes one of them first, and its answer the other one: by
/// one clock the differences of their times have unlike signs. Without a handshake at both, whether packets were
/// captured at the same time.
fn have_one_clock(here: &[Direction; 2], there: &[Direction; 2], client: usize) -> bool {
    let later_ns = |direction: usize| {
        let (here, there) = (here[direction].syn_ns, there[direction].syn_ns);
        (here != NEVER && there != NEVER).then(|| there.wrapping_sub(here).cast_signed())
    };
    if let Some((syn, answer)) = later_ns(client).zip(later_ns(1 - client)) {
        let offset = syn.saturating_add(answer);
        return offset.saturating_abs() <= syn.saturating_sub(answer).saturating_abs().max(2 * SAME_CLOCK_NS);
    }
    let span = |place: &[Direction; 2]| {
        let first = place.iter().map(|direction| direction.first_ns).min();
        first.zip(place.iter().map(|direction| direction.last_ns).max()).unwrap_or((NEVER, 0))
    };
    let (here, there) = (span(here), span(there));
    here.0 <= there.1 && there.0 <= here.1
}

/// Whether a chain begins and ends as far as another in the numbers of TCP.
fn reaches_as_far(chain: &[Seen<'_>], other: &[Seen<'_>]) -> bool {
    let ends = |chain: &[Seen<'_>]| {
        chain.first().zip(chain.last()).map(|((_, (_, first)), (_, (last, _)))| {
            let acks = last.has_ack.then_some((first.first_ack, last.max_ack));
            ((first.first_seq, last.max_seq), acks)
        })
    };
    let Some(((data, acks), (other_data, other_acks))) = ends(chain).zip(ends(other)) else { return false };
    let is_before = |number: u32, other: u32| number.wrapping_sub(other).cast_signed() < 0;
    let covers = |(first, last): (u32, u32), (other_first, other_last): (u32, u32)| {
        !is_before(other_first, first) && !is_before(last, other_last)
    };
    covers(data, other_data) && other_acks.is_none_or(|other| acks.is_some_and(|acks| covers(acks, other)))
}

/// What a direction is over the capture points at which it is read, of so many that saw it. `isn`: the client's initial
/// sequence number, if this is its direction and it is known.
fn sum_up(chain: &[Seen<'_>], seen_at: usize, isn: Option<u32>) -> Direction {
    let mut sum = Direction { points: Vec::with_capacity(chain.len()), seen_at, ..Direction::nowhere() };
    for (point, (sighting, marks)) in chain {
        sum.points.push(*point);
        sum.packets += sighting.packets;
        sum.payload += sighting.payload;
        // Numbers went on by new data, and by what was acknowledged.
        sum.acknowledges += sighting.progress.saturating_sub(sighting.payload);
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
        sum.copies += marks.copies;
    }
    sum
}

/// Adds what only other points saw of a direction's opening and end: numbers, and times of the same clock.
fn complete(read: &mut Direction, others: &[Seen<'_>], has_same_clock: impl Fn(PointId) -> bool) {
    for (point, (_, marks)) in others {
        if read.isn.is_none() && marks.syns > 0 {
            read.isn = Some(marks.isn);
        }
        if read.fin_end.is_none() && marks.fin_ns != NEVER {
            read.fin_end = Some(marks.fin_end);
        }
        let times = [
            (&mut read.established_ns, marks.established_ns),
            (&mut read.fin_ns, marks.fin_ns),
            (&mut read.rst_ns, marks.rst_ns),
        ];
        for (known_ns, there_ns) in times {
            if *known_ns == NEVER && there_ns != NEVER && has_same_clock(*point) {
                *known_ns = there_ns;
            }
        }
    }
}

/// The sightings that go on from one another and together have most packets. `seen` is sorted by
/// beginning. The earlier capture point wins where there is nothing between them.
fn longest_chain<'a>(seen: &[Seen<'a>]) -> Vec<Seen<'a>> {
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
        chain.push(seen[index]);
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
