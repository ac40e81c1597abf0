//! Clocks of two files of which one saw the data of a flow and the other one its ACKs.
//!
//! A SYN/ACK is sent after the SYN, and before the ACK that completes the handshake. By one clock its time lies between
//! theirs, whatever point saw which of them. Where it does not, the clocks differ; put in the middle, it is wrong by
//! half a round trip at most.

use crate::places::SAME_CLOCK_NS;
use crate::select::{Direction, Flow};
use crate::survey::{FileSurvey, NEVER};

/// Data and ACKs are hardly ever farther apart.
const MOST_WAITED_NS: u64 = 1_000_000_000;

/// How the clocks of the places of both directions of a flow, which have none in common, are to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clocks {
    /// Nothing speaks against one clock.
    One,
    /// What is added to the times of the listener's direction, in ns, to have those of the client's.
    Apart(i64),
    /// They differ, and nothing says by how much.
    Unlike,
}

/// Compares the clocks by the handshake of a flow; without one, by whether its directions were seen at about one time.
pub(crate) fn compare(directions: &[Direction; 2], client: usize) -> Clocks {
    let (there, back) = (&directions[client], &directions[1 - client]);
    // One that was sent again may be of before or after the other's answer.
    let is_known = there.established_ns != NEVER && [there.syns, back.syns] == [1, 1];
    if !is_known {
        let gap_ns =
            there.first_ns.saturating_sub(back.last_ns).max(back.first_ns.saturating_sub(there.last_ns));
        return if gap_ns <= MOST_WAITED_NS { Clocks::One } else { Clocks::Unlike };
    }
    let later = |ns: u64, than_ns: u64| ns.wrapping_sub(than_ns).cast_signed();
    let after_syn = later(back.syn_ns, there.syn_ns);
    if after_syn >= -SAME_CLOCK_NS && later(there.established_ns, back.syn_ns) >= -SAME_CLOCK_NS {
        return Clocks::One;
    }
    let round_trip_ns = later(there.established_ns, there.syn_ns).max(0);
    Clocks::Apart((round_trip_ns / 2).saturating_sub(after_syn))
}

/// Moves the times of files to the clock of those before them, where flows tell how far they are apart; returns what was
/// added to each, in ns.
pub(crate) fn align(files: &mut [FileSurvey], flows: &[Flow]) -> Vec<i64> {
    let mut apart: Vec<Vec<i64>> = vec![Vec::new(); files.len()];
    for flow in flows {
        let Some(later_ns) = flow.apart_ns else { continue };
        let file =
            |direction: usize| flow.directions[direction].points.first().map(|point| point.file as usize);
        let Some((there, back)) = file(flow.client).zip(file(1 - flow.client)) else { continue };
        // The later file is moved, so that two files that are each other's do not both move.
        if there < back {
            apart[back].push(later_ns);
        } else {
            apart[there].push(-later_ns);
        }
    }
    let later_ns: Vec<i64> = apart.into_iter().map(median).collect();
    for (file, &later_ns) in files.iter_mut().zip(&later_ns) {
        if later_ns != 0 {
            file.shift(later_ns);
        }
    }
    later_ns
}

/// 0 of none.
fn median(mut numbers: Vec<i64>) -> i64 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
