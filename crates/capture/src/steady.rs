//! The steady-state window: T1, T2 and [T2 - TM, T2] (Garcia-Aviles 2017, section IV-C), over the flows that last.

use crate::measure::Times;
use crate::select::{Direction, Flow};
use crate::survey::NEVER;

/// When all subflows were connected, and what is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steady {
    /// First and last packet of all flows.
    pub origin_ns: u64,
    pub last_ns: u64,
    /// T1: the last ACK of a handshake; None if no handshake was seen.
    pub t1_ns: Option<u64>,
    /// T2: the first end of data; None if there was none.
    pub t2_ns: Option<u64>,
    pub start_ns: u64,
    pub end_ns: u64,
    /// Flows whose handshake was seen to its end, and those with a FIN.
    pub established: usize,
    pub finished: usize,
    /// Flows whose SYN was never answered: they take no part.
    pub unanswered: usize,
    /// Flows that lasted: T1 and T2 are theirs.
    pub lasting: usize,
}

impl Steady {
    /// The window, and intervals of this length from the first packet on.
    pub(crate) fn times(&self, interval_ns: u64) -> Times {
        let Self { origin_ns, start_ns, end_ns, .. } = *self;
        Times { origin_ns, start_ns, end_ns, interval_ns }
    }
}

/// Whether a flow never came to be: a SYN and no ACK of the client's, nor data, nor ACKs of any.
pub(crate) fn is_unanswered(flow: &Flow) -> bool {
    // Numbers go on by the SYN and the FIN as well.
    let has_data = |direction: &Direction| direction.payload > 0 || direction.acknowledges > 2;
    flow.opened && flow.established_ns() == NEVER && !flow.directions.iter().any(has_data)
}

/// When the data of a flow ended: with the FIN of their sender, or with a reset before it; [`NEVER`] without. A FIN of the
/// other end is no end of them (RFC 9293 section 3.6).
pub(crate) fn end_ns(flow: &Flow, data_direction: usize) -> u64 {
    flow.directions[data_direction].fin_ns.min(flow.rst_ns())
}

/// How long a flow was there, until its data ended.
fn duration_ns(flow: &Flow, data_direction: usize) -> u64 {
    end_ns(flow, data_direction).min(flow.last_ns()).saturating_sub(flow.first_ns())
}

/// Finds the window, and what there is to say about it. `data_direction`: of each flow.
///
/// Flows that were there for less than half as long as the longest one are beside the experiment: one connection for
/// control, or a short transfer, does not move the window.
pub(crate) fn find(
    flows: &[Flow],
    data_direction: &[usize],
    window_ns: Option<u64>,
    warnings: &mut Vec<String>,
) -> Steady {
    let answered = || flows.iter().zip(data_direction).filter(|(flow, _)| !is_unanswered(flow));
    let longest_ns = answered().map(|(flow, &data)| duration_ns(flow, data)).max().unwrap_or(0);
    let lasting = || answered().filter(|(flow, data)| duration_ns(flow, **data) >= longest_ns / 2);
    let origin_ns = flows.iter().map(Flow::first_ns).min().unwrap_or(0);
    let last_ns = flows.iter().map(Flow::last_ns).max().unwrap_or(0);
    let time_of = |ns: u64| (ns != NEVER).then_some(ns);
    let t1_ns = lasting().filter_map(|(flow, _)| time_of(flow.established_ns())).max();
    let t2_ns = lasting().filter_map(|(flow, &data)| time_of(end_ns(flow, data))).min();
    let end_ns = t2_ns.unwrap_or_else(|| lasting().map(|(flow, _)| flow.last_ns()).max().unwrap_or(last_ns));
    let mut steady = Steady {
        origin_ns,
        last_ns,
        t1_ns,
        t2_ns,
        start_ns: origin_ns,
        end_ns,
        established: answered().filter(|(flow, _)| flow.established_ns() != NEVER).count(),
        finished: answered().filter(|(flow, _)| flow.fin_ns() != NEVER).count(),
        unanswered: flows.iter().filter(|flow| is_unanswered(flow)).count(),
        lasting: lasting().count(),
    };
    place(&mut steady, window_ns, warnings);
    let connected = lasting().filter(|(flow, _)| flow.established_ns() != NEVER).count();
    let ended = lasting().filter(|(flow, data)| self::end_ns(flow, **data) != NEVER).count();
    describe(&steady, connected, ended, warnings);
    steady
}

fn place(steady: &mut Steady, window_ns: Option<u64>, warnings: &mut Vec<String>) {
    let since = |ns: u64| ns.saturating_sub(steady.origin_ns) as f64 / 1e9;
    let connected_ns = steady.t1_ns.unwrap_or(steady.origin_ns);
    match window_ns {
        Some(length) => {
            steady.start_ns = steady.end_ns.saturating_sub(length);
            if steady.start_ns < steady.origin_ns {
                warnings.push(format!(
                    "the window of {} s is longer than what was captured before T2, {:.6} s; it begins with \
                     the first packet",
                    length as f64 / 1e9,
                    since(steady.end_ns)
                ));
                steady.start_ns = steady.origin_ns;
            }
            if steady.start_ns < connected_ns {
                warnings.push(format!(
                    "the window begins at {:.6} s, before T1 = {:.6} s, when the last subflow connected: what \
                     it shows is no steady state; a shorter --window, or a longer experiment, would",
                    since(steady.start_ns),
                    since(connected_ns)
                ));
            }
        }
        None if connected_ns < steady.end_ns => steady.start_ns = connected_ns,
        None => {
            warnings.push(format!(
                "T1 = {:.6} s, when the last subflow connected, is not before T2 = {:.6} s, the first end of data: \
                 there is no steady state, and the whole capture is the window",
                since(connected_ns),
                since(steady.end_ns)
            ));
            (steady.start_ns, steady.end_ns) = (steady.origin_ns, steady.last_ns);
        }
    }
}

/// `connected`, `ended`: how many of the flows that lasted have a handshake, and an end of their data.
fn describe(steady: &Steady, connected: usize, ended: usize, warnings: &mut Vec<String>) {
    let Steady { unanswered, lasting, .. } = *steady;
    if connected < lasting {
        let missing = lasting - connected;
        warnings.push(format!(
            "{missing} of {lasting} TCP flows without the ACK of a handshake: the capture began later, or lost \
             it; T1 is {}",
            if connected == 0 { "unknown" } else { "that of the others" }
        ));
    }
    if ended == 0 {
        warnings.push(
            "no FIN of a sender of data was captured: the window ends with the last packet in place of T2"
                .to_owned(),
        );
    } else if ended < lasting {
        warnings
            .push(format!("{ended} of {lasting} TCP flows with a FIN or a reset: T2 is the first of these"));
    }
    if unanswered > 0 {
        warnings.push(format!("connection attempts without an answer, left out of T1 and T2: {unanswered}"));
    }
}
